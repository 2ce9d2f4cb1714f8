"""Sparse matrices whose entries carry derivatives: the entries in a row, and a pattern that says where they stand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.scipy.solvers import found, relative_tolerance

Array = Any


class Pattern:
    """Where the entries of a sparse matrix stand, of which values each is made, and the matrix that they make.

    What stands at one place is added up, and one value may stand at several.
    """

    def __init__(
        self, rows: Array, columns: Array, shape: Any, source: Array, count: int, make: Callable[[Array], Any]
    ) -> None:
        self.rows, self.columns, self.shape = rows, columns, shape
        self.source, self.count, self.make = source, count, make
        #: The values of the last matrix, and that matrix.
        self.made: tuple[Array, Any] | None = None
        #: Another pattern, and that of the product of both matrices.
        self.product: tuple[Pattern, Pattern] | None = None

    def matrix(self, values: Array) -> Any:
        """The matrix that has these values."""
        last = None if self.made is None else self.made[0]
        if last is None or last.dtype != np.result_type(values) or not np.array_equal(last, values):
            own = np.array(values)
            self.made = own, self.make(own)
        assert self.made is not None
        return self.made[1]

    def adjoint(self, left: Array, right: Array, values: Array) -> Array:
        """The adjoint of the values, where that of the matrix is the outer product of two vectors, or the sum of those
        of the columns of two matrices."""
        products = left[self.rows] * right[self.columns]
        return self.collected(products if products.ndim == 1 else np.sum(products, axis=1), values)

    def collected(self, g: Array, values: Array) -> Array:
        """The adjoint of the values, in those of the entries."""
        size = len(values)
        if np.iscomplexobj(g) and np.iscomplexobj(values):
            found = np.bincount(self.source, g.real, size) + 1j * np.bincount(self.source, g.imag, size)
        else:
            found = np.bincount(self.source, np.real(g), size)
        return found.astype(values.dtype) if values.dtype in (np.float32, np.complex64) else found


# --- patterns


def placed(cls: Any, values: Array, places: Any, shape: Any = None) -> Pattern:
    """The pattern of ``cls((values, places), shape)``, with the row and the column of each entry."""
    rows, columns = (np.array(p, int) for p in places)
    shape = cls((np.asarray(values), (rows, columns)), shape).shape
    return _each(rows, columns, shape, lambda v: cls((v, (rows, columns)), shape))


def _each(rows: Array, columns: Array, shape: Any, make: Callable[[Array], Any]) -> Pattern:
    """The pattern in which each value is an entry."""
    return Pattern(rows, columns, shape, np.arange(len(rows)), len(rows), make)


def compressed(cls: Any, values: Array, indices: Array, starts: Array, shape: Any = None) -> Pattern:
    """The pattern of ``cls((values, indices, starts), shape)``, with the entries by rows or columns."""
    made = cls((np.asarray(values), indices, starts), shape)
    # SciPy sorts what is not in order, in place.
    copied = not made.has_canonical_format
    shape, indices, starts = made.shape, np.array(indices, int), np.array(starts, int)
    lines = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    rows, columns = (indices, lines) if made.format == "csc" else (lines, indices)
    return _each(rows, columns, shape, lambda v: cls((v, indices.copy(), starts.copy()), shape, copy=copied))


def of_whole(cls: Any, a: Array) -> Pattern:
    """The pattern of ``cls(a)`` for an array, of which each element is an entry, zeros too."""
    shape = np.shape(a)
    rows, columns = np.indices(shape).reshape(2, -1)
    return _each(rows, columns, shape, lambda v: cls(v.reshape(shape)))


def of_constant(a: Any) -> Pattern:
    """The pattern of a sparse matrix that exists, or of an array in its place, with the values of `entries`."""
    if isinstance(a, np.ndarray):
        return of_whole(sparse.csc_array, a)
    places = a.tocoo()

    def make(values: Array) -> Any:
        if np.array_equal(values, places.data):
            return a
        return sparse.coo_array((values, (places.row, places.col)), a.shape).asformat(a.format)

    return _each(places.row, places.col, a.shape, make)


class Operator(Pattern):
    """A linear operator: it is constant, and has no entries that could carry derivatives."""

    def __init__(self, operator: Any) -> None:
        nowhere = np.zeros(0, int)
        super().__init__(nowhere, nowhere, operator.shape, nowhere, 0, lambda values: operator)
        self.operator = operator


def system_entries(a: Any) -> Array:
    """The entries of the matrix of a system: a sparse matrix, an array or a linear operator."""
    return np.zeros(0) if isinstance(a, linalg.LinearOperator) else entries(a)


def system_pattern(a: Any) -> Pattern:
    """The pattern with these entries; an array stays one."""
    if isinstance(a, np.ndarray):
        return of_whole(np.asarray, a)
    return Operator(a) if isinstance(a, linalg.LinearOperator) else of_constant(a)


def moved_side(values_dot: Array, values: Array, pattern: Pattern, z: Array) -> Any:
    """The tangent of the matrix of a system times its solution."""
    return 0.0 if isinstance(pattern, Operator) else product(values_dot + np.zeros_like(values), pattern, z)


def entries(a: Any) -> Array:
    """The entries of a sparse matrix in the order of `of_constant`; of an array all elements."""
    return np.array(a).ravel() if isinstance(a, np.ndarray) else a.tocoo().data


def turned(pattern: Pattern) -> Pattern:
    """The pattern of the transpose."""
    p = pattern
    if isinstance(p, Operator):
        return Operator(p.operator.T)
    return Pattern(p.columns, p.rows, p.shape[::-1], p.source, p.count, lambda v: p.matrix(v).T)


def as_format(pattern: Pattern, name: str) -> Pattern:
    """The pattern of the matrix in another format of SciPy's."""
    p = pattern
    return Pattern(p.rows, p.columns, p.shape, p.source, p.count, lambda v: p.matrix(v).asformat(name))


def holds_entries(values: Array, pattern: Pattern, name: str) -> bool:
    """Whether the matrix in another format holds the same array of entries."""
    made = pattern.matrix(values)
    return np.shares_memory(made.asformat(name).data, made.data)


def joined(first: Pattern, second: Pattern) -> Pattern:
    """The pattern of a sum of two matrices: the values of both, one after the other."""
    count = first.count

    def make(values: Array) -> Any:
        return first.matrix(values[:count]) + second.matrix(values[count:])

    rows, columns = np.append(first.rows, second.rows), np.append(first.columns, second.columns)
    source = np.append(first.source, count + second.source)
    return Pattern(rows, columns, first.shape, source, count + second.count, make)


def shape_of(pattern: Pattern) -> Any:
    """The shape of the matrix."""
    return pattern.shape


def factor_of(x: Any) -> Any:
    """A number by which a sparse matrix is multiplied, as it is."""
    if np.ndim(x) or sparse.issparse(x):
        raise UndefinedDerivativeError(
            "a sparse matrix with entries that are differentiated is multiplied by * with numbers alone here",
            "For the product of matrices write A @ x; for that of entries, multiply them before the matrix is made.",
        )
    return x


# --- diagonals


def diagonal_pattern(make: Callable[..., Any], diagonals: Any, offsets: Any, shape: Any, name: Any) -> Pattern:
    """The pattern of ``make(diagonals, offsets=offsets, shape=shape, format=name)``, by the diagonals in a row."""
    several = isinstance(diagonals, (list, tuple))
    sizes = [np.shape(d) for d in (diagonals if several else [diagonals])]
    ends = np.cumsum([math.prod(size) for size in sizes])

    def made(values: Array) -> Any:
        parts = [v.reshape(size) for v, size in zip(np.split(values, ends[:-1]), sizes, strict=True)]
        return make(parts if several else parts[0], offsets=offsets, shape=shape, format=name)

    count = int(ends[-1])
    places = made(np.arange(1.0, 1.0 + count)).tocoo()
    return Pattern(places.row, places.col, places.shape, places.data.astype(int) - 1, count, made)


def spread_diagonals(data: Array, offsets: Any, shape: Any = None, format: Any = None) -> Any:
    """``sparse.spdiags``, or ``dia_matrix``, by the options of ``sparse.diags``."""
    return sparse.dia_matrix((data, offsets), shape).asformat(format)


# --- what is made of them

_OTHER = {"N": "T", "T": "N", "H": "N"}


def product(values: Array, pattern: Pattern, x: Array) -> Array:
    """``A @ x``."""
    if sparse.issparse(x):
        raise UndefinedDerivativeError(
            "the product of two sparse matrices has no derivative rule if the entries of one alone are differentiated",
            "Multiply an array: by one matrix, and then by the other.",
        )
    return pattern.matrix(values) @ np.asarray(x)


def outer_entries(left: Array, right: Array, pattern: Pattern, values: Array) -> Array:
    """The adjoint of the values where that of the matrix is ``left @ right.T``; it is of the dtype of the values."""
    return pattern.adjoint(np.asarray(left), np.asarray(right), values)


def chained(first: Pattern, second: Pattern) -> Pattern:
    """The pattern of the product of two matrices: the places to which some entries of both lead."""
    if first.product is None or first.product[0] is not second:
        places = (_ones(first) @ _ones(second)).tocoo()
        made = first.matrix(np.ones(first.count))
        # A matrix with diagonals is not made of places.
        cls: Any = type(made.tocsr() if made.format == "dia" else made)
        pattern = placed(cls, np.ones(places.nnz), (places.row, places.col), places.shape)
        first.product = second, pattern
    return first.product[1]


def _ones(pattern: Pattern) -> Any:
    """A matrix with ones, or counts, where there are entries."""
    return sparse.csr_array((np.ones(len(pattern.rows)), (pattern.rows, pattern.columns)), pattern.shape)


def entries_of_product(values: Array, pattern: Pattern, others: Array, other: Pattern) -> Array:
    """The entries of ``A @ B``, in the pattern that `chained` makes."""
    return _at(pattern.matrix(values) @ other.matrix(others), chained(pattern, other))


def chain_entries(
    values: Array, pattern: Pattern, others: Array, other: Pattern, target: Pattern, like: Array
) -> Array:
    """The adjoint of the values ``like`` of a matrix where that of the matrix is ``A @ B``."""
    return target.collected(_at(pattern.matrix(values) @ other.matrix(others), target), like)


def _at(matrix: Any, pattern: Pattern) -> Array:
    """What a sparse matrix has at the places of a pattern."""
    return np.ravel(np.asarray(matrix.tocsr()[pattern.rows, pattern.columns]))


def fitted(g: Array, x: Array) -> Array:
    """The adjoint ``g`` of an operand ``x``, in its shape, and real if that is."""
    return np.reshape(g if np.iscomplexobj(x) else np.real(g), np.shape(x))


def whole(values: Array, pattern: Pattern) -> Array:
    """``A.toarray()``."""
    return pattern.matrix(values).toarray()


def picked(g: Array, pattern: Pattern, values: Array) -> Array:
    """The adjoint of the values in `whole`."""
    return pattern.collected(g[pattern.rows, pattern.columns], values)


def total(values: Array, pattern: Pattern) -> Array:
    """``A.sum()``."""
    return pattern.matrix(values).sum()


def total_adjoint(g: Array, values: Array, pattern: Pattern) -> Array:
    """The adjoint of the values in `total`."""
    return pattern.collected(np.broadcast_to(g, pattern.rows.shape), values)


def diagonal(values: Array, pattern: Pattern, k: int = 0) -> Array:
    """``A.diagonal(k)``."""
    return pattern.matrix(values).diagonal(k)


def diagonal_adjoint(g: Array, values: Array, pattern: Pattern, k: int = 0) -> Array:
    """The adjoint of the values in `diagonal`."""
    there = pattern.columns - pattern.rows == k
    found = np.zeros(pattern.rows.shape, np.result_type(g))
    found[there] = g[np.minimum(pattern.rows, pattern.columns)[there]]
    return pattern.collected(found, values)


def solution(values: Array, pattern: Pattern, b: Array, permc_spec: Any = None, use_umfpack: Any = True) -> Array:
    """``spsolve(A, b, permc_spec, use_umfpack)``."""
    return linalg.spsolve(pattern.matrix(values), np.asarray(b), permc_spec, use_umfpack)


def triangular(values: Array, pattern: Pattern, b: Array, lower: bool = True, unit: bool = False) -> Array:
    """``spsolve_triangular(A, b, lower, unit_diagonal=unit)``."""
    if unit:
        raise UndefinedDerivativeError(
            "spsolve_triangular with unit_diagonal has no derivative rule by the entries of the matrix",
            "Set the diagonal to one instead.",
        )
    found: Array = linalg.spsolve_triangular(pattern.matrix(values), np.asarray(b), lower)
    return found


class Factors:
    """The factors of a matrix, and the values of which they were made."""

    def __init__(self, values: Array, pattern: Pattern, *options: Any) -> None:
        self.values, self.options = values, options
        self.lu = linalg.splu(pattern.matrix(values), *options)

    def of(self, values: Array, pattern: Pattern) -> Any:
        """The factors for these values."""
        if values is self.values or np.array_equal(values, self.values):
            return self.lu
        return linalg.splu(pattern.matrix(values), *self.options)


def factors(values: Array, pattern: Pattern, *options: Any) -> Factors:
    """``splu(A, *options)``, as a constant."""
    return Factors(values, pattern, *options)


def solved(factored: Factors, values: Array, pattern: Pattern, b: Array, trans: str = "N") -> Array:
    """``splu(A).solve(b, trans)``, of factors that were made of these values."""
    if trans == "H" and np.iscomplexobj(values):
        raise UndefinedDerivativeError(
            f"solve(b, {trans!r}) has no derivative rule", "Use 'T', and conjugate the right-hand side and the result."
        )
    return factored.of(values, pattern).solve(np.asarray(b), trans)


def solved_again(factored: Factors, values: Array, pattern: Pattern, b: Array, trans: str) -> Array:
    """The same for a right-hand side that is an adjoint: it may be complex where the matrix is not, or wider."""
    lu, b = factored.of(values, pattern), np.ascontiguousarray(b)
    if lu is factored.lu and np.asarray(factored.values).dtype in (np.float32, np.complex64):
        b = b.astype(np.complex64 if np.iscomplexobj(b) else np.float32)
    if np.iscomplexobj(b) and not np.iscomplexobj(lu.L.data):
        return lu.solve(np.ascontiguousarray(b.real), trans) + 1j * lu.solve(np.ascontiguousarray(b.imag), trans)
    return lu.solve(b, trans)


def other_side(trans: str) -> str:
    """The option for the system with the transpose."""
    return _OTHER[trans]


def side_of(pattern: Pattern, trans: str) -> Pattern:
    """The pattern of the matrix with which a system is solved."""
    return pattern if trans == "N" else turned(pattern)


def iterated(name: str, values: Array, pattern: Pattern, b: Array, m: Any, options: Any) -> Any:
    """``linalg.name(A, b, M=m, **options)``: the solution, and whether it was found; an error if it ``must`` be."""
    given = {key: value for key, value in options.items() if key != "must"}
    matrix, b = pattern.matrix(values), np.asarray(b)
    result = getattr(linalg, name)(matrix, b, **given if m is None else {**given, "M": m})
    if "must" in options:
        found(result, matrix, b)
    return result


def options_again(options: Any, z: Any, values: Array, pattern: Pattern, b: Array) -> dict[str, Any]:
    """The options for another right-hand side than ``b``, for which ``z`` was found, and is a solution.

    That is found from zero, and to the same relative tolerance.
    """
    found(z, pattern.matrix(values) if z[1] else None, b)
    kept = {key: value for key, value in options.items() if key not in ("x0", "atol")}
    tolerance = relative_tolerance(options.get("rtol", 1e-5), options.get("atol", 0.0), b)
    return {**kept, "rtol": tolerance, "must": True}


def iterated_tangent(b_dot: Array, name: str, values: Array, pattern: Pattern, m: Any, options: Any) -> Array:
    """The tangent of the solution, whose right-hand side is ``b_dot``."""
    return iterated(name, values, pattern, b_dot, m, options)[0]
