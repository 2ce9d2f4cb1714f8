"""Rules of what models of sparse matrices compute with: products, solutions and whole matrices, by the entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from s2sad.ir.types import Fact
from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, bilinear, constant, linear, rule, sample
from s2sad.runtime.scipy.entries import (
    as_format,
    chain_entries,
    chained,
    compressed,
    diagonal,
    diagonal_adjoint,
    diagonal_pattern,
    entries,
    entries_of_product,
    factor_of,
    factors,
    fitted,
    holds_entries,
    iterated,
    iterated_tangent,
    joined,
    moved_side,
    of_constant,
    of_whole,
    options_again,
    other_side,
    outer_entries,
    picked,
    placed,
    product,
    shape_of,
    side_of,
    solution,
    solved,
    solved_again,
    system_entries,
    system_pattern,
    total,
    total_adjoint,
    triangular,
    turned,
    whole,
)
from s2sad.runtime.scipy.solvers import turned_preconditioner
from s2sad.runtime.scipy.sparse_parts import blocks, kronecker, part, place, triangle

Array = Any
Pattern = Any


# Where the entries stand has no derivative; nor have the factors of a matrix, of which solutions are found.
def pattern_made(bound: Any, fact: Any) -> Fact:
    return Fact("other", fixed=True)


constant(placed, signature=lambda cls, values, places, shape=None: None, calls=(), infer=pattern_made)
constant(compressed, signature=lambda cls, values, indices, starts, shape=None: None, calls=(), infer=pattern_made)
constant(of_whole, signature=lambda cls, a: None, calls=(), infer=pattern_made)
constant(diagonal_pattern, signature=lambda make, diagonals, offsets, shape, name: None, calls=(), infer=pattern_made)
constant(factors, signature=lambda values, pattern, *options: None, calls=(), infer=pattern_made)
constant(of_constant, turned, system_pattern, signature=lambda pattern: None, infer=pattern_made)
constant(as_format, signature=lambda pattern, name: None, infer=pattern_made)
constant(joined, chained, signature=lambda first, second: None, infer=pattern_made)
constant(triangle, signature=lambda make, pattern, k, format: None, calls=(), infer=pattern_made)
constant(part, place, signature=lambda pattern, index: None, infer=pattern_made)
constant(blocks, signature=lambda make, patterns, format: None, calls=(), infer=pattern_made)
constant(kronecker, signature=lambda first, second, format: None, infer=pattern_made)
constant(side_of, signature=lambda pattern, trans: None, infer=pattern_made)
constant(shape_of, signature=lambda pattern: None)
constant(holds_entries, signature=lambda values, pattern, name: None, calls=())
constant(other_side, signature=lambda given: None)
constant(options_again, signature=lambda options, z, values, pattern, b: None)


#: A row of numbers.
ROW = infer.axes.with_axes(infer.axes.always(1))


def some_pattern(symmetric: bool = False) -> tuple[Array, Pattern]:
    """The entries of a matrix of four rows, some of them at one place, and where they are."""
    rows, columns = np.array([0, 1, 2, 3, 0, 2, 1, 0]), np.array([0, 1, 2, 3, 1, 0, 3, 0])
    values = np.array([4.0, 5.0, 6.0, 7.0, 1.0, -0.5, 0.7, 0.3])
    if symmetric:
        rows, columns, values = np.append(rows, columns), np.append(columns, rows), np.append(values, values)
    return values, placed(sparse.csr_array, values, (rows, columns))


def _arrays() -> Sequence[Sample]:
    return [sample(numbers(3, 3)), sample(numbers(2, 3)), sample(complexes(2, 2)), sample(singles(2, 2))]


# A sparse matrix or an operator that exists is constant: what has a derivative is an array in its place.
@linear(entries, wrt=["a"], samples=_arrays, infer=ROW)
def entries_rule(z_bar: Array, a: Array) -> Array:
    return np.reshape(z_bar, np.shape(a))


@linear(system_entries, wrt=["a"], samples=_arrays, infer=ROW)
def system_entries_rule(z_bar: Array, a: Array) -> Array:
    return np.reshape(z_bar, np.shape(a))


def _products() -> Sequence[Sample]:
    values, pattern = some_pattern()
    points = [sample(values, pattern, x) for x in (numbers(4), numbers(4, 2), complexes(4))]
    points += [sample(values + 0.3j, turned(pattern), numbers(4)), sample(singles(8), pattern, singles(4))]
    diagonals = [numbers(3), numbers(1), numbers(4)]
    spread = diagonal_pattern(sparse.diags_array, diagonals, [-1, 1, 0], (4, 4), "csr")
    return [*points, sample(np.concatenate(diagonals), spread, numbers(4))]


@bilinear(product, wrt=["values", "x"], samples=_products, infer=infer.scipy.of_vector, dtype="unknown")
def product_rule(z_bar: Array, values: Array, pattern: Pattern, x: Array) -> tuple[Array, Array]:
    return outer_entries(z_bar, x, pattern, values), fitted(product(values, turned(pattern), z_bar), x)


def _outer() -> Sequence[Sample]:
    values, pattern = some_pattern()
    pairs = [(numbers(4), numbers(4, seed=1)), (numbers(4, 2), numbers(4, 2, seed=1)), (singles(4), singles(4))]
    points = [sample(left, right, pattern, values.astype(left.dtype)) for left, right in pairs]
    return [*points, sample(complexes(4), numbers(4), turned(pattern), values + 0.1j)]


@bilinear(outer_entries, wrt=["left", "right"], steps={"values"}, samples=_outer, dtype="unknown", infer=ROW)
def outer_entries_rule(z_bar: Array, left: Array, right: Array, pattern: Pattern, values: Array) -> tuple[Array, Array]:
    left_bar = fitted(product(z_bar, pattern, right), left)
    return left_bar, fitted(product(z_bar, turned(pattern), left), right)


@linear(
    fitted,
    wrt=["g"],
    result="maybe_view",
    steps={"x"},
    samples=lambda: [sample(numbers(4), numbers(4, 1)), sample(complexes(3), numbers(3))],
)
def fitted_rule(z_bar: Array, g: Array, x: Array) -> Array:
    return np.reshape(z_bar, np.shape(g))


def _chains() -> Sequence[Sample]:
    values, pattern = some_pattern()
    others, other = values[::-1] * 0.3, as_format(turned(pattern), "csc")
    return [
        sample(values, pattern, others, other),
        sample(complexes(8), pattern, others, other),
        sample(singles(8), pattern, singles(8), other),
    ]


@bilinear(entries_of_product, wrt=["values", "others"], samples=_chains, dtype="unknown", infer=ROW)
def entries_of_product_rule(
    z_bar: Array, values: Array, pattern: Pattern, others: Array, other: Pattern
) -> tuple[Array, Array]:
    target = chained(pattern, other)
    values_bar = chain_entries(z_bar, target, others, turned(other), pattern, values)
    return values_bar, chain_entries(values, turned(pattern), z_bar, target, other, others)


def _chains_at() -> Sequence[Sample]:
    values, pattern = some_pattern()
    others, other = values[::-1] * 0.3, as_format(turned(pattern), "csc")
    return [
        sample(values, pattern, others, other, turned(pattern), values),
        sample(complexes(8), pattern, others, other, pattern, complexes(8)),
    ]


@bilinear(chain_entries, wrt=["values", "others"], steps={"like"}, samples=_chains_at, dtype="unknown", infer=ROW)
def chain_entries_rule(
    z_bar: Array, values: Array, pattern: Pattern, others: Array, other: Pattern, target: Pattern, like: Array
) -> tuple[Array, Array]:
    values_bar = chain_entries(z_bar, target, others, turned(other), pattern, values)
    return values_bar, chain_entries(values, turned(pattern), z_bar, target, other, others)


def _wholes() -> Sequence[Sample]:
    values, pattern = some_pattern()
    return [sample(values, pattern), sample(complexes(8), pattern), sample(singles(8), turned(pattern))]


@linear(total, wrt=["values"], samples=_wholes, dtype="unknown")
def total_rule(z_bar: Array, values: Array, pattern: Pattern) -> Array:
    return total_adjoint(z_bar, values, pattern)


@linear(
    total_adjoint,
    wrt=["g"],
    steps={"values"},
    samples=lambda: [sample(1.3, *some_pattern()), sample(np.float64(0.7), *some_pattern())],
    dtype="unknown",
)
def total_adjoint_rule(z_bar: Array, g: Array, values: Array, pattern: Pattern) -> Array:
    return total(z_bar, pattern)


def _diagonals() -> Sequence[Sample]:
    values, pattern = some_pattern()
    return [sample(values, pattern), sample(values, pattern, 1), sample(singles(8), turned(pattern), -1)]


@linear(diagonal, wrt=["values"], samples=_diagonals, dtype="unknown", infer=ROW)
def diagonal_rule(z_bar: Array, values: Array, pattern: Pattern, k: int = 0) -> Array:
    return diagonal_adjoint(z_bar, values, pattern, k)


@linear(
    diagonal_adjoint,
    wrt=["g"],
    steps={"values"},
    samples=lambda: [sample(numbers(4), *some_pattern())],
    dtype="unknown",
)
def diagonal_adjoint_rule(z_bar: Array, g: Array, values: Array, pattern: Pattern, k: int = 0) -> Array:
    return diagonal(z_bar, pattern, k)


@linear(whole, wrt=["values"], samples=_wholes, infer=infer.scipy.whole, dtype="unknown")
def whole_rule(z_bar: Array, values: Array, pattern: Pattern) -> Array:
    return picked(z_bar, pattern, values)


@linear(
    picked,
    wrt=["g"],
    steps={"values"},
    samples=lambda: [
        sample(numbers(4, 4), *some_pattern()[::-1]),
        sample(complexes(4, 4), some_pattern()[1], complexes(8)),
    ],
    dtype="unknown",
)
def picked_rule(z_bar: Array, g: Array, pattern: Pattern, values: Array) -> Array:
    return whole(z_bar, pattern)


@linear(factor_of, wrt=["x"], samples=lambda: [sample(1.3), sample(np.float64(0.7))], dtype="operands")
def factor_rule(z_bar: Array, x: Array) -> Array:
    return z_bar


# --- systems


def _systems() -> Sequence[Sample]:
    values, pattern = some_pattern()
    points = [sample(values, pattern, numbers(4)), sample(values, as_format(pattern, "csc"), numbers(4, 2))]
    return [*points, sample(values + 0.2j, as_format(pattern, "csc"), complexes(4))]


def _solution_jvp(values_dot: Array, b_dot: Array, z: Array, values: Array, pattern: Pattern) -> Array:
    b_dot = b_dot + np.zeros_like(z)
    return solution(values, pattern, b_dot - product(values_dot + np.zeros_like(values), pattern, z))


@rule(
    solution,
    wrt=["values", "b"],
    jvp=_solution_jvp,
    samples=_systems,
    infer=infer.scipy.sparse_solution,
    dtype="unknown",
)
def solution_rule(
    z: Array,
    z_bar: Array,
    values: Array,
    pattern: Pattern,
    b: Array,
    permc_spec: Any = None,
    use_umfpack: Any = True,
) -> tuple[Array, Array]:
    b_bar = solution(values, as_format(turned(pattern), "csc"), z_bar)
    return outer_entries(-b_bar, z, pattern, values), fitted(b_bar, b)


def _triangles() -> Sequence[Sample]:
    rows, columns = np.array([0, 1, 2, 2, 1]), np.array([0, 1, 2, 0, 0])
    values = np.array([2.0, 3.0, 2.5, 0.3, -0.6])
    low, high = (placed(sparse.csr_array, values, places) for places in ((rows, columns), (columns, rows)))
    return [sample(values, low, numbers(3)), sample(values, high, numbers(3, 2), False)]


def _triangular_jvp(
    values_dot: Array, b_dot: Array, z: Array, values: Array, pattern: Pattern, b: Array, lower: bool = True
) -> Array:
    moved = product(values_dot + np.zeros_like(values), pattern, z)
    return triangular(values, pattern, b_dot + np.zeros_like(z) - moved, lower)


@rule(
    triangular,
    wrt=["values", "b"],
    jvp=_triangular_jvp,
    samples=_triangles,
    infer=infer.scipy.of_vector,
    dtype="unknown",
)
def triangular_rule(
    z: Array, z_bar: Array, values: Array, pattern: Pattern, b: Array, lower: bool = True, unit: bool = False
) -> tuple[Array, Array]:
    b_bar = triangular(values, as_format(turned(pattern), "csr"), z_bar, not lower)
    return outer_entries(-b_bar, z, pattern, values), fitted(b_bar, b)


def _factored() -> Sequence[Sample]:
    values, pattern = some_pattern()
    pattern = as_format(pattern, "csc")
    lu = factors(values, pattern)
    return [sample(lu, values, pattern, numbers(4), "N"), sample(lu, values, pattern, numbers(4, 2), "T")]


def _solved_jvp(
    values_dot: Array, b_dot: Array, z: Array, factored: Any, values: Array, pattern: Pattern, trans: str
) -> Array:
    moved = product(values_dot + np.zeros_like(values), side_of(pattern, trans), z)
    return solved_again(factored, values, pattern, b_dot + np.zeros_like(z) - moved, trans)


for _function in (solved, solved_again):

    @rule(
        _function,
        wrt=["values", "b"],
        jvp=_solved_jvp,
        samples=_factored,
        infer=infer.scipy.of_vector,
        dtype="unknown",
    )
    def solved_rule(
        z: Array, z_bar: Array, factored: Any, values: Array, pattern: Pattern, b: Array, trans: str = "N"
    ) -> tuple[Array, Array]:
        b_bar = solved_again(factored, values, pattern, z_bar, other_side(trans))
        return outer_entries(-b_bar, z, side_of(pattern, trans), values), fitted(b_bar, b)


def _iterated() -> Sequence[Sample]:
    values, pattern = some_pattern(symmetric=True)
    options = {"rtol": 1e-13}
    return [
        sample("cg", values, pattern, numbers(4), None, options),
        sample("gmres", *some_pattern(), numbers(4), None, {**options, "restart": 4}),
        sample("bicgstab", *some_pattern(), numbers(4), None, options),
    ]


def _iterated_jvp(
    values_dot: Array,
    b_dot: Array,
    z: Any,
    name: str,
    values: Array,
    pattern: Pattern,
    b: Array,
    m: Any = None,
    options: Any = (),
) -> Any:
    moved = moved_side(values_dot, values, pattern, z[0])
    return iterated_tangent(b_dot - moved, name, values, pattern, m, options_again(options, z, values, pattern, b)), 0


@rule(
    iterated,
    wrt=["values", "b"],
    jvp=_iterated_jvp,
    samples=_iterated,
    dtype="unknown",
    calls=(),
    without=(1,),
    gives=(tuple,),
)
def iterated_rule(
    z: Any, z_bar: Any, name: str, values: Array, pattern: Pattern, b: Array, m: Any = None, options: Any = ()
) -> tuple[Array, Array]:
    again = options_again(options, z, values, pattern, b)
    b_bar = iterated(name, values, turned(pattern), z_bar[0], turned_preconditioner(m), again)[0]
    return outer_entries(-b_bar, z[0], pattern, values), fitted(b_bar, b)
