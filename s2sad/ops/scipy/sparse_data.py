"""Rules of what sparse matrices store: their data, sums along an axis, and products of entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.scipy.sparse_models import ROW, pattern_made, some_pattern
from s2sad.ops.spec import Sample, constant, linear, rule, sample
from s2sad.runtime.scipy.entries import of_whole, placed
from s2sad.runtime.scipy.sparse_data import (
    along,
    along_adjoint,
    factors_adjoint,
    factors_at,
    is_apart,
    is_stored,
    of_arrays,
    of_matrices,
    require_frobenius,
    stored,
    stored_adjoint,
    stored_pattern,
    stored_tangent,
)

Array = Any
Pattern = Any

constant(is_stored, signature=lambda values, pattern: None, calls=())
constant(is_apart, signature=lambda pattern: None)
constant(stored_pattern, signature=lambda values, pattern: None, calls=(), infer=pattern_made)
constant(of_arrays, signature=lambda pattern, what, instead: None, calls=(), infer=pattern_made)
constant(of_matrices, signature=lambda pattern: None, calls=(), infer=pattern_made)
constant(require_frobenius, signature=lambda order, axis: None, ordered=True)


def _with_zeros() -> tuple[Array, Pattern]:
    a = np.array([[1.5, 0.0, -0.5], [0.0, 2.0, 0.7]])
    return np.ravel(a), of_whole(sparse.csr_array, a)


def _stored() -> Sequence[Sample]:
    values, pattern = some_pattern()
    return [sample(values, pattern), sample(complexes(8), pattern), sample(singles(8), pattern)]


def _stored_jvp(values_dot: Array, values: Array, pattern: Pattern) -> Array:
    return stored_tangent(values_dot, values, pattern)


@rule(stored, wrt=["values"], jvp=_stored_jvp, samples=_stored, dtype="unknown", infer=ROW)
def stored_rule(z_bar: Array, values: Array, pattern: Pattern) -> Array:
    return stored_adjoint(z_bar, values, pattern)


@linear(
    stored_adjoint,
    wrt=["g"],
    steps={"values"},
    samples=lambda: [sample(numbers(7), *some_pattern()), sample(numbers(4), *_with_zeros())],
    dtype="unknown",
    infer=ROW,
)
def stored_adjoint_rule(z_bar: Array, g: Array, values: Array, pattern: Pattern) -> Array:
    return stored_tangent(z_bar, values, pattern)


@linear(
    stored_tangent,
    wrt=["values_dot"],
    steps={"values"},
    samples=lambda: [sample(numbers(8), *some_pattern()), sample(numbers(6), *_with_zeros())],
    dtype="unknown",
    infer=ROW,
)
def stored_tangent_rule(z_bar: Array, values_dot: Array, values: Array, pattern: Pattern) -> Array:
    return stored_adjoint(z_bar, values, pattern)


def _axes() -> Sequence[Sample]:
    values, pattern = some_pattern()
    return [sample(values, pattern, 0), sample(complexes(8), pattern, 1), sample(singles(8), pattern, -1)]


@linear(along, wrt=["values"], samples=_axes, dtype="unknown", infer=ROW)
def along_rule(z_bar: Array, values: Array, pattern: Pattern, axis: int) -> Array:
    return along_adjoint(z_bar, values, pattern, axis)


@linear(
    along_adjoint,
    wrt=["g"],
    steps={"values"},
    samples=lambda: [sample(numbers(4), *some_pattern(), 0), sample(numbers(4), *some_pattern(), -1)],
    dtype="unknown",
    infer=ROW,
)
def along_adjoint_rule(z_bar: Array, g: Array, values: Array, pattern: Pattern, axis: int) -> Array:
    return along(z_bar, pattern, axis)


def _others() -> Sequence[Sample]:
    places = placed(sparse.csr_array, np.ones(3), (np.array([0, 1, 1]), np.array([2, 0, 1])), (2, 3))
    return [
        sample(numbers(2, 3), places),
        sample(numbers(3), places),
        sample(complexes(2, 1), places),
        sample(0.7, places),
    ]


@linear(factors_at, wrt=["other"], steps={"pattern"}, samples=_others, dtype="unknown")
def factors_rule(z_bar: Array, other: Array, pattern: Pattern) -> Array:
    return factors_adjoint(z_bar, other, pattern)


@linear(
    factors_adjoint,
    wrt=["g"],
    steps={"other", "pattern"},
    samples=lambda: [sample(numbers(3), *s.args) for s in _others()[:2]],
    dtype="unknown",
    infer=infer.adjoints.adjoint_of("other"),
)
def factors_adjoint_rule(z_bar: Array, g: Array, other: Array, pattern: Pattern) -> Array:
    return factors_at(z_bar, pattern)
