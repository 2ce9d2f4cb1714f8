"""Sparse matrices of SciPy whose entries carry derivatives: the entries are values of their own, in a fixed pattern."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from s2sad.ops.models import ObjectModel, model, object_model
from s2sad.runtime.items import is_array, is_place
from s2sad.runtime.scipy.entries import (
    as_format,
    chained,
    compressed,
    diagonal,
    diagonal_pattern,
    entries,
    entries_of_product,
    factor_of,
    holds_entries,
    joined,
    of_constant,
    of_whole,
    placed,
    product,
    shape_of,
    spread_diagonals,
    system_entries,
    system_pattern,
    total,
    turned,
    whole,
)
from s2sad.runtime.scipy.sparse_data import (
    along,
    factors_at,
    is_apart,
    is_stored,
    of_arrays,
    of_matrices,
    stored,
    stored_pattern,
)
from s2sad.runtime.scipy.sparse_parts import blocks, kronecker, part, place, triangle


class Sparse:
    """A sparse matrix."""

    def __init__(self, values: Any, pattern: Any) -> None:
        self.values = values
        self.pattern = pattern

    @property
    def shape(self) -> Any:
        return shape_of(self.pattern)

    @property
    def T(self) -> Any:
        return Sparse(self.values, turned(self.pattern))

    def transpose(self) -> Any:
        return Sparse(self.values, turned(self.pattern))

    def toarray(self) -> Any:
        return whole(self.values, self.pattern)

    @property
    def data(self) -> Any:
        return self.values if is_stored(self.values, self.pattern) else stored(self.values, self.pattern)

    @data.setter
    def data(self, numbers: Any) -> None:
        self.pattern = stored_pattern(self.values, self.pattern)
        self.values = np.asarray(numbers)

    def todense(self) -> Any:
        return whole(self.values, of_arrays(self.pattern, "todense()", "toarray()"))

    def sum(self, axis: Any = None) -> Any:
        if axis is None:
            return total(self.values, self.pattern)
        return along(self.values, of_arrays(self.pattern, "sum(axis)", "np.sum(A.toarray(), axis)"), axis)

    def mean(self, axis: Any = None) -> Any:
        if axis is None:
            return total(self.values * (1.0 / (self.shape[0] * self.shape[1])), self.pattern)
        pattern = of_arrays(self.pattern, "mean(axis)", "np.mean(A.toarray(), axis)")
        return along(self.values * (1.0 / self.shape[axis]), pattern, axis)

    def diagonal(self, k: Any = 0) -> Any:
        return diagonal(self.values, self.pattern, k)

    def trace(self, offset: Any = 0) -> Any:
        return np.sum(diagonal(self.values, self.pattern, offset))

    def asformat(self, format: Any) -> Any:
        return Sparse(entries_in(self, format), as_format(self.pattern, format))

    def tocsr(self) -> Any:
        return self.asformat("csr")

    def tocsc(self) -> Any:
        return self.asformat("csc")

    def tocoo(self) -> Any:
        return self.asformat("coo")

    def copy(self) -> Any:
        return Sparse(np.array(self.values), self.pattern)

    def multiply(self, other: Any) -> Any:
        a = self if is_apart(self.pattern) else Sparse(self.data, stored_pattern(self.values, self.pattern))
        return Sparse(a.values * factors_at(other, a.pattern), a.pattern)

    def power(self, n: Any, dtype: Any = None) -> Any:
        return Sparse(np.power(self.data, n, dtype=dtype), stored_pattern(self.values, self.pattern))

    def sqrt(self) -> Any:
        return Sparse(np.sqrt(self.data), stored_pattern(self.values, self.pattern))

    def __abs__(self) -> Any:
        return Sparse(np.abs(self.data), stored_pattern(self.values, self.pattern))

    def __pow__(self, n: Any) -> Any:
        pattern = of_arrays(self.pattern, "a power", "A @ A, or A.power(n) of the entries,")
        return Sparse(self.data**n, stored_pattern(self.values, pattern))

    def __getitem__(self, index: Any) -> Any:
        if is_place(index):
            return total(self.values, place(self.pattern, index))
        return Sparse(self.values, part(self.pattern, index))

    def dot(self, other: Any) -> Any:
        return self @ other

    def __matmul__(self, other: Any) -> Any:
        return chain(self, other) if isinstance(other, Sparse) else product(self.values, self.pattern, other)

    def __rmatmul__(self, other: Any) -> Any:
        return np.transpose(product(self.values, turned(self.pattern), np.transpose(other)))

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Sparse):
            return chain(self, Sparse(other.values, of_matrices(other.pattern)))
        if is_array(other):
            return product(self.values, of_matrices(self.pattern), other)
        return Sparse(self.values * factor_of(other), self.pattern)

    def __rmul__(self, other: Any) -> Any:
        if is_array(other):
            return Sparse(self.values, of_matrices(self.pattern)).__rmatmul__(other)
        return Sparse(self.values * factor_of(other), self.pattern)

    def __truediv__(self, other: Any) -> Any:
        return Sparse(self.values / factor_of(other), self.pattern)

    def __neg__(self) -> Any:
        return Sparse(-self.values, self.pattern)

    def __add__(self, other: Any) -> Any:
        other = sparse_of(other)
        return Sparse(np.hstack((self.values, other.values)), joined(self.pattern, other.pattern))

    def __radd__(self, other: Any) -> Any:
        return sparse_of(other) + self

    def __sub__(self, other: Any) -> Any:
        return self + -sparse_of(other)

    def __rsub__(self, other: Any) -> Any:
        return sparse_of(other) + -self


def entries_in(a: Any, format: Any) -> Any:
    """The entries of a matrix in a format: the array itself where SciPy holds it there too."""
    return a.values if holds_entries(a.values, a.pattern, format) else np.array(a.values)


def chain(a: Any, b: Any) -> Any:
    """The product of two sparse matrices."""
    return Sparse(entries_of_product(a.values, a.pattern, b.values, b.pattern), chained(a.pattern, b.pattern))


def sparse_of(a: Any) -> Any:
    """A sparse matrix, or one whose entries are constant."""
    return a if isinstance(a, Sparse) else Sparse(entries(a), of_constant(a))


def system_of(a: Any) -> Any:
    """A sparse matrix, or one or a linear operator that is constant."""
    return a if isinstance(a, Sparse) else Sparse(system_entries(a), system_pattern(a))


object_model(
    ObjectModel(
        classes=(sparse.spmatrix, sparse.sparray),
        make=sparse_of,
        makers=(
            sparse.eye, sparse.eye_array, sparse.identity, sparse.diags, sparse.diags_array, sparse.spdiags,
            sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array, sparse.coo_matrix,
            sparse.coo_array, sparse.dia_matrix, sparse.dia_array, sparse.lil_matrix, sparse.lil_array, sparse.kron,
            sparse.kronsum, sparse.hstack, sparse.vstack, sparse.block_diag, sparse.bmat, sparse.block_array,
            sparse.tril, sparse.triu, sparse.random, sparse.random_array,
        ),
        keeping=frozenset(("T", "transpose", "tocsr", "tocsc", "tocoo", "asformat", "copy", "astype", "real", "imag")),
        joining=frozenset("+-@*"),
        scaling=frozenset("*/"),
        methods=frozenset(("multiply",)),
        reading=frozenset((
            *(f"__{side}{name}__" for side in ("", "r") for name in ("add", "sub", "mul", "matmul", "truediv")),
            "__neg__", "__pow__", "__abs__", "__getitem__", "T", "transpose", "dot", "multiply", "power", "diagonal",
            "trace", "sum", "mean", "toarray", "todense", "tocsr", "tocsc", "tocoo", "asformat", "copy", "conj",
        )),
    )
)  # fmt: skip


class Made(Sparse):
    """A matrix of one of SciPy's classes, of what these are made of."""

    def __init__(self, cls: Any, format: Any, of: Any, shape: Any, dtype: Any, copy: Any) -> None:
        if isinstance(of, Sparse):
            self.values = np.array(of.values) if copy else entries_in(of, format)
            self.pattern = as_format(of.pattern, format)
        elif isinstance(of, tuple):
            # Of places the other formats are made by a conversion.
            held = not copy and (len(of) == 3 or format == "coo")
            self.values = np.asarray(of[0], dtype) if held else np.array(of[0], dtype)
            if len(of) == 3:
                self.pattern = compressed(cls, of[0], of[1], of[2], shape)
            else:
                self.pattern = placed(cls, of[0], of[1], shape)
        else:
            self.values = np.array(np.ravel(of), dtype)
            self.pattern = of_whole(cls, of)


@model(sparse.csr_matrix, given="varied parts")
def csr_matrix(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    return Made(sparse.csr_matrix, "csr", arg1, shape, dtype, copy)


@model(sparse.csr_array, given="varied parts")
def csr_array(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    return Made(sparse.csr_array, "csr", arg1, shape, dtype, copy)


@model(sparse.csc_matrix, given="varied parts")
def csc_matrix(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    return Made(sparse.csc_matrix, "csc", arg1, shape, dtype, copy)


@model(sparse.csc_array, given="varied parts")
def csc_array(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    return Made(sparse.csc_array, "csc", arg1, shape, dtype, copy)


@model(sparse.coo_matrix, given="varied parts")
def coo_matrix(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    return Made(sparse.coo_matrix, "coo", arg1, shape, dtype, copy)


@model(sparse.coo_array, given="varied parts")
def coo_array(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    return Made(sparse.coo_array, "coo", arg1, shape, dtype, copy)


def banded(make: Any, diagonals: Any, offsets: Any, shape: Any, format: Any) -> Any:
    """A matrix with some diagonals."""
    return Sparse(np.hstack(diagonals), diagonal_pattern(make, diagonals, offsets, shape, format))


@model(sparse.diags)
def diags(diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None) -> Any:
    return banded(sparse.diags, diagonals, offsets, shape, format)


@model(sparse.diags_array)
def diags_array(diagonals: Any, *, offsets: Any = 0, shape: Any = None, format: Any = None) -> Any:
    return banded(sparse.diags_array, diagonals, offsets, shape, format)


class Diagonals(Sparse):
    """A matrix that holds the array of its diagonals."""

    def __init__(self, rows: Any, offsets: Any, shape: Any) -> None:
        self.rows = rows
        self.pattern = diagonal_pattern(spread_diagonals, rows, offsets, shape, "dia")

    @property
    def values(self) -> Any:
        return np.hstack(self.rows)


@model(sparse.spdiags)
def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: Any = None) -> Any:
    shape = m if n is None else (m, n)
    if format is None or format == "dia":
        return Diagonals(data, diags, shape)
    return banded(spread_diagonals, data, diags, shape, format)


@model(sparse.dia_matrix, given="varied parts")
def dia_matrix(arg1: Any, shape: Any = None) -> Any:
    return Diagonals(arg1[0], arg1[1], shape)


@model(sparse.issparse, given="structured")
def issparse(x: Any) -> Any:
    return isinstance(x, Sparse)


# --- blocks


def together(make: Any, matrices: Any, format: Any) -> Any:
    """A matrix of others in a list, each an array or a sparse matrix."""
    values, patterns = [], []
    for matrix in matrices:
        a = sparse_of(matrix)
        values.append(a.values)
        patterns.append(a.pattern)
    return Sparse(np.hstack(values), blocks(make, patterns, format))


@model(sparse.hstack, given="structured")
def hstack(blocks: Any, format: Any = None) -> Any:
    return together(sparse.hstack, blocks, format)


@model(sparse.vstack, given="structured")
def vstack(blocks: Any, format: Any = None) -> Any:
    return together(sparse.vstack, blocks, format)


@model(sparse.block_diag, given="structured")
def block_diag(mats: Any, format: Any = None) -> Any:
    return together(sparse.block_diag, mats, format)


def in_rows(make: Any, rows: Any, format: Any) -> Any:
    """A matrix of rows of others, of which None is zero."""
    values, patterns = [], []
    for row in rows:
        given: list[Any] = []
        for matrix in row:
            if matrix is None:
                given.append(None)
            else:
                a = sparse_of(matrix)
                values.append(a.values)
                given.append(a.pattern)
        patterns.append(given)
    return Sparse(np.hstack(values), blocks(make, patterns, format))


@model(sparse.bmat, given="structured")
def bmat(blocks: Any, format: Any = None) -> Any:
    return in_rows(sparse.bmat, blocks, format)


@model(sparse.block_array, given="structured")
def block_array(blocks: Any, *, format: Any = None) -> Any:
    return in_rows(sparse.block_array, blocks, format)


@model(sparse.kron, given="structured")
def kron(A: Any, B: Any, format: Any = None) -> Any:
    A, B = sparse_of(A), sparse_of(B)
    return Sparse(np.ravel(np.outer(A.values, B.values)), kronecker(A.pattern, B.pattern, format))


@model(sparse.tril, given="structured")
def tril(A: Any, k: Any = 0, format: Any = None) -> Any:
    A = sparse_of(A)
    return Sparse(A.values, triangle(sparse.tril, A.pattern, k, format))


@model(sparse.triu, given="structured")
def triu(A: Any, k: Any = 0, format: Any = None) -> Any:
    A = sparse_of(A)
    return Sparse(A.values, triangle(sparse.triu, A.pattern, k, format))
