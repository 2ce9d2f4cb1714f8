"""The numbers that sparse matrices store whose entries carry derivatives, and sums of them along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.scipy.entries import Pattern

Array = Any


def is_stored(values: Array, pattern: Pattern) -> bool:
    """Whether the values are what the matrix stores, in that order: then ``A.data`` is the array of values itself."""
    made = pattern.matrix(values)
    if made.format not in ("csr", "csc", "coo") or not np.array_equal(pattern.source, np.arange(made.data.size)):
        return False
    places = made.tocoo()
    return np.array_equal(places.row, pattern.rows) and np.array_equal(places.col, pattern.columns)


def is_apart(pattern: Pattern) -> bool:
    """Whether each value is an entry, and alone at its place."""
    places = pattern.rows * pattern.shape[1] + pattern.columns
    return np.array_equal(pattern.source, np.arange(pattern.count)) and len(np.unique(places)) == pattern.count


def stored(values: Array, pattern: Pattern) -> Array:
    """What the matrix stores, ``A.data``, as a copy that is not to be written.

    Example:
        >>> from s2sad.runtime.scipy.entries import of_whole
        >>> a = np.array([[1.0, 0.0], [2.0, 3.0]])
        >>> stored(a.ravel(), of_whole(sparse.csr_array, a))
        array([1., 2., 3.])
    """
    made = pattern.matrix(values)
    if made.format not in ("csr", "csc", "coo"):
        raise UndefinedDerivativeError(
            f"the data of a sparse matrix of the format {made.format!r} have no derivative rule", "Take A.tocsr().data."
        )
    found = np.array(made.data)
    found.setflags(write=False)
    return found


def _places(values: Array, pattern: Pattern) -> Array:
    """For each entry the place of what is stored of it, -1 where nothing is."""
    made = pattern.matrix(values).tocoo()
    count = made.data.size
    numbers = sparse.csr_array((np.arange(1, count + 1), (made.row, made.col)), made.shape)
    if numbers.nnz != count:
        raise UndefinedDerivativeError(
            "the data of a sparse matrix that stores several numbers for one place have no derivative rule",
            "Take A.tocsr().data.",
        )
    return np.ravel(np.asarray(numbers[pattern.rows, pattern.columns])).astype(int) - 1


def stored_adjoint(g: Array, values: Array, pattern: Pattern) -> Array:
    """The adjoint of the values in `stored`."""
    places = _places(values, pattern)
    return pattern.collected(np.where(places >= 0, np.append(g, 0.0)[places], 0.0), values)


def stored_tangent(values_dot: Array, values: Array, pattern: Pattern) -> Array:
    """The tangent of `stored`."""
    places = _places(values, pattern)
    found = np.zeros(pattern.matrix(values).data.shape, np.result_type(values_dot))
    there = places >= 0
    np.add.at(found, places[there], values_dot[pattern.source[there]])
    return found


def stored_pattern(values: Array, pattern: Pattern) -> Pattern:
    """The pattern in which each number that the matrix stores is a value."""
    like = pattern.matrix(values).copy()
    places = like.tocoo()

    def make(data: Array) -> Any:
        made = like.copy()
        made.data = np.array(data)
        return made

    return Pattern(places.row, places.col, like.shape, np.arange(places.data.size), places.data.size, make)


def of_arrays(pattern: Pattern, what: str, instead: str) -> Pattern:
    """The pattern of a matrix of the array classes, of which ``what`` is an array."""
    if isinstance(pattern.matrix(np.ones(pattern.count)), sparse.spmatrix):
        raise UndefinedDerivativeError(
            f"{what} of a class that gives np.matrix has no derivative rule",
            f"Use {instead}, or csr_array and the like in place of csr_matrix.",
        )
    return pattern


def of_matrices(pattern: Pattern) -> Pattern:
    """The pattern of a matrix of the matrix classes, of which ``*`` is the product of matrices."""
    if not isinstance(pattern.matrix(np.ones(pattern.count)), sparse.spmatrix):
        raise UndefinedDerivativeError(
            "A * x of a sparse array with entries that are differentiated has no derivative rule",
            "Use A @ x for the product, and A.multiply(x) for that of elements.",
        )
    return pattern


def along(values: Array, pattern: Pattern, axis: int) -> Array:
    """``A.sum(axis)`` of a sparse array."""
    return pattern.matrix(values).sum(axis)


def along_adjoint(g: Array, values: Array, pattern: Pattern, axis: int) -> Array:
    """The adjoint of the values in `along`."""
    return pattern.collected(g[pattern.columns if axis in (0, -2) else pattern.rows], values)


def factors_at(other: Array, pattern: Pattern) -> Array:
    """By what each entry is multiplied in ``A.multiply(other)``: an array, or a number."""
    if sparse.issparse(other):
        raise UndefinedDerivativeError(
            "the product of the entries of two sparse matrices has no derivative rule", "Multiply by B.toarray()."
        )
    if np.ndim(other) == 0:
        return other
    return np.broadcast_to(other, pattern.shape)[pattern.rows, pattern.columns]


def factors_adjoint(g: Array, other: Array, pattern: Pattern) -> Array:
    """The adjoint of ``other`` in `factors_at`."""
    if np.ndim(other) == 0:
        return np.sum(g)
    found = np.zeros(pattern.shape, np.result_type(g))
    np.add.at(found, (pattern.rows, pattern.columns), g)
    return unbroadcast(found, np.shape(other))


def require_frobenius(order: Any, axis: Any) -> None:
    """Raise unless a norm is that of all entries, the only one of sparse matrices that has a derivative rule."""
    if axis is not None or order not in (None, "fro", "f"):
        raise UndefinedDerivativeError(
            f"the norm {order!r} of a sparse matrix, or one along an axis, has no derivative rule",
            "Use np.linalg.norm of A.toarray().",
        )
