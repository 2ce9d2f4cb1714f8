"""Parts of sparse matrices whose entries carry derivatives, and matrices that are put together of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.scipy.entries import Pattern

Array = Any


def part(pattern: Pattern, index: Any) -> Pattern:
    """The pattern of ``A[index]``: of some rows, some columns, or both.

    Example:
        >>> from s2sad.runtime.scipy.entries import of_constant
        >>> lower = part(of_constant(sparse.csr_array(np.eye(3))), (slice(1, None), slice(None)))
        >>> lower.rows, lower.columns, lower.source, lower.shape
        (array([0, 1]), array([1, 2]), array([1, 2]), (2, 3))
    """
    parts = index if isinstance(index, tuple) else (index, slice(None))
    # The matrix is made later, when the arrays of the index may have other contents.
    parts = tuple([np.array(i) if isinstance(i, (list, np.ndarray)) else i for i in parts])
    index = parts if isinstance(index, tuple) else parts[0]
    found = pattern.matrix(np.ones(pattern.count))[index]
    if not (sparse.issparse(found) and found.ndim == 2 and _is_grid(parts)):
        raise UndefinedDerivativeError(
            "of a sparse matrix with entries that are differentiated rows, columns and elements A[i, j] are taken here",
            "Take A[rows][:, columns], A[i:i + 1] for one row, A[int(i), int(j)], or elements of A.toarray().",
        )
    return _taken(pattern, parts, lambda v: pattern.matrix(v)[index])


def place(pattern: Pattern, index: Any) -> Pattern:
    """The pattern of a matrix that has the element ``A[index]`` alone."""
    return _taken(pattern, index, lambda v: sparse.csr_array([[pattern.matrix(v)[index]]]))


def _taken(p: Pattern, index: tuple[Any, ...], make: Callable[[Array], Any]) -> Pattern:
    """The pattern of some rows and columns."""
    places, places_2 = (np.ravel(np.arange(n)[i]) for n, i in zip(p.shape, index, strict=True))
    entry, rows = _chosen(p.rows, places)
    entry_2, columns = _chosen(p.columns[entry], places_2)
    return Pattern(rows[entry_2], columns, (len(places), len(places_2)), p.source[entry][entry_2], p.count, make)


def _is_grid(index: tuple[Any, ...]) -> bool:
    """Whether an index takes each of some rows at each of some columns, and not elements one by one."""
    arrays = [np.shape(i) for i in index if not isinstance(i, slice) and np.ndim(i)]
    if len(arrays) < 2:
        return True
    rows, columns = arrays
    return len(rows) == 2 and rows[1] == 1 and (len(columns) == 1 or columns[0] == 1)


def _chosen(lines: Array, places: Array) -> tuple[Array, Array]:
    """Which entries are in the chosen lines, a line that is chosen twice twice, and where their line is then."""
    order = np.argsort(places, kind="stable")
    start: Array = np.searchsorted(places[order], lines, "left")
    count = np.searchsorted(places[order], lines, "right") - start
    entry = np.repeat(np.arange(len(lines)), count)
    within = np.arange(len(entry)) - np.repeat(np.cumsum(count) - count, count)
    return entry, order[start[entry] + within]


def blocks(make: Callable[..., Any], patterns: Any, format: Any) -> Pattern:
    """The pattern of ``make(matrices, format)``, with the values of all the matrices, one after the other.

    The patterns are a list, or a list of rows, where None is a matrix of zeros.

    Example:
        >>> from s2sad.runtime.scipy.entries import of_constant
        >>> eye = of_constant(sparse.csr_array(np.eye(2)))
        >>> both = blocks(sparse.hstack, [eye, eye], "csr")
        >>> both.columns.tolist(), both.shape
        ([0, 1, 2, 3], (2, 4))
    """
    given = [p for row in patterns for p in (row if isinstance(row, (list, tuple)) else [row]) if p is not None]
    ends = np.cumsum([p.count for p in given])

    def made(matrices: Sequence[Any], format: Any) -> Any:
        left = iter(matrices)

        def filled(part: Any) -> Any:
            if isinstance(part, (list, tuple)):
                return [filled(p) for p in part]
            return None if part is None else next(left)

        return make(filled(patterns), format=format)

    def matrix(values: Array) -> Any:
        return made([p.matrix(v) for p, v in zip(given, np.split(values, ends[:-1]), strict=True)], format)

    # Numbers of values, from one on, in place of the values.
    numbers = [_coordinates(1 + end - p.count + p.source, p) for end, p in zip(ends, given, strict=True)]
    places = made(numbers, "coo")
    return Pattern(places.row, places.col, places.shape, places.data.astype(int) - 1, int(ends[-1]), matrix)


def _coordinates(values: Array, p: Pattern) -> Any:
    return sparse.coo_array((values.astype(float), (p.rows, p.columns)), p.shape)


def kronecker(first: Pattern, second: Pattern, format: Any) -> Pattern:
    """The pattern of ``sparse.kron(A, B, format)``, with the products of each value of both."""
    a, b = first, second
    like = sparse.kron(a.matrix(np.ones(a.count)), b.matrix(np.ones(b.count)), format)
    rows = np.add.outer(a.rows * b.shape[0], b.rows).ravel()
    columns = np.add.outer(a.columns * b.shape[1], b.columns).ravel()
    source = np.add.outer(a.source * b.count, b.source).ravel()
    return Pattern(rows, columns, like.shape, source, a.count * b.count, lambda v: _as(like, v[source], rows, columns))


def _as(like: Any, entries: Array, rows: Array, columns: Array) -> Any:
    """A matrix of the class of another, of entries at some places."""
    return type(like)(sparse.coo_array((entries, (rows, columns)), like.shape))


def triangle(make: Any, pattern: Pattern, k: Any, format: Any) -> Pattern:
    """The pattern of ``sparse.tril(A, k, format)``, or ``triu``."""
    kept = make(sparse.coo_array((np.arange(1, len(pattern.rows) + 1), (pattern.rows, pattern.columns))), k).data - 1
    return Pattern(
        pattern.rows[kept], pattern.columns[kept], pattern.shape, pattern.source[kept], pattern.count,
        lambda values: make(pattern.matrix(values), k, format),
    )  # fmt: skip
