"""Some eigenvalues and singular values of large matrices, and their derivatives by the entries.

The derivative of an eigenvalue is the product of its eigenvectors with the tangent of the matrix.  That of an
eigenvector solves the system of the matrix less the eigenvalue, bordered by the eigenvector, to which it is normal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.scipy.entries import Pattern
from s2sad.runtime.undefined import Undefined

Array = Any


def eigenvalues(values: Array, pattern: Pattern, options: Any) -> Array:
    """``linalg.eigsh(A, return_eigenvectors=False, **options)``."""
    return linalg.eigsh(pattern.matrix(values), return_eigenvectors=False, **options)


def eigenpairs(values: Array, pattern: Pattern, options: Any) -> tuple[Array, Array]:
    """``linalg.eigsh(A, **options)``."""
    found = linalg.eigsh(pattern.matrix(values), **options)
    return found[0], found[1]


def in_order(values: Array, pattern: Pattern, options: Any, found: Array) -> Array:
    """The eigenvectors of the eigenvalues ``found``, in their order."""
    numbers, vectors = eigenpairs(values, pattern, options)
    return vectors[:, np.argsort(numbers)[np.argsort(np.argsort(found))]]


def _bordered(matrix: Any, scale: Any, number: Any, vector: Array, side: Array) -> Array:
    """The vector normal to an eigenvector that solves the system of the matrix less its eigenvalue."""
    mass = np.conj(vector) if scale is None else np.conj(vector) @ scale
    column = vector if scale is None else scale @ vector
    if isinstance(matrix, np.ndarray):
        shifted = matrix - number * (np.eye(len(vector)) if scale is None else np.asarray(scale))
        system = np.block([[shifted, column[:, np.newaxis]], [mass[np.newaxis], np.zeros((1, 1))]])
        return np.linalg.solve(system, np.append(side, 0.0))[:-1]
    shifted = matrix - number * (sparse.eye_array(len(vector)) if scale is None else scale)
    parts = [[shifted, sparse.csr_array(column[:, np.newaxis])], [sparse.csr_array(mass[np.newaxis]), None]]
    return linalg.spsolve(sparse.block_array(parts, format="csc"), np.append(side, 0.0))[:-1]


def eigenvectors_sides(z_bar: Any, z: Any, values: Array, pattern: Pattern, options: Any) -> Array:
    """The columns of which the adjoint of the matrix in `eigenpairs` is the sum of products with the eigenvectors."""
    numbers, vectors = z
    by_numbers, by_vectors = z_bar
    sides = vectors * (by_numbers + np.zeros(np.shape(numbers)))
    if not np.any(by_vectors):
        return sides
    matrix, scale = pattern.matrix(values), options["M"]
    found = []
    for number, vector, g in zip(numbers, vectors.T, np.transpose(by_vectors), strict=True):
        # A change of the matrix changes the length of an eigenvector by none of it, if there is no other product.
        column = vector if scale is None else scale @ vector
        side = g - column * (vector @ g)
        found.append(-_bordered(matrix, scale, number, vector, side))
    return sides + np.transpose(found)


def eigenpairs_tangent(values_dot: Array, z: Any, values: Array, pattern: Pattern, options: Any) -> tuple[Array, Array]:
    """The tangents of `eigenpairs`."""
    numbers, vectors = z
    matrix, moved, scale = pattern.matrix(values), pattern.make(values_dot), options["M"]
    pushed = moved @ vectors
    rising = np.sum(np.conj(vectors) * pushed, axis=0)
    turned = []
    for number, slope, vector, side in zip(numbers, rising, vectors.T, pushed.T, strict=True):
        column = vector if scale is None else scale @ vector
        turned.append(-_bordered(matrix, scale, number, vector, side - slope * column))
    return rising, np.transpose(turned)


def singular_values(values: Array, pattern: Pattern, options: Any) -> Array:
    """``linalg.svds(A, return_singular_vectors=False, **options)``."""
    return linalg.svds(pattern.matrix(values), return_singular_vectors=False, **options)


def singular_triplets(values: Array, pattern: Pattern, options: Any, kept: Any = True) -> tuple[Array, Array, Array]:
    """``linalg.svds(A, **options)``."""
    if kept is not True:
        raise UndefinedDerivativeError(
            f"svds with return_singular_vectors={kept!r} has no derivative rule", "Use True or False."
        )
    u, s, v = linalg.svds(pattern.matrix(values), **options)
    return u, s, v


def triplets(values: Array, pattern: Pattern, options: Any) -> tuple[Array, Array]:
    """The singular vectors on both sides, as columns, in the order of `singular_values`."""
    u, _, v = linalg.svds(pattern.matrix(values), **options)
    return u, np.transpose(v)


def singular_bar(z_bar: Any) -> Array:
    """The adjoint of the singular values, in that of what ``svds`` returns."""
    if np.any(z_bar[0]) or np.any(z_bar[2]):
        raise _no_vectors()
    return z_bar[1]


def with_singular(moved: Array) -> tuple[Any, Array, Any]:
    """The tangent of what ``svds`` returns, of that of the singular values."""
    return Undefined(_no_vectors()), moved, Undefined(_no_vectors())


def _no_vectors() -> UndefinedDerivativeError:
    return UndefinedDerivativeError(
        "the singular vectors of svds have no derivative rule",
        "Use np.linalg.svd of the whole matrix, or the singular values alone.",
    )
