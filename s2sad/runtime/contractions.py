"""Adjoints of the operands of NumPy's products, in full generality.

``dot_left(g, a, b)`` is the adjoint of ``a`` where ``g`` is that of ``np.dot(a, b)``,
``dot_right(g, a, b)`` that of ``b``; the other names follow.  The operand whose
adjoint it is lends only its shape.  Nothing is conjugated: these are transposes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.classes import module_of


def is_sparse(x: Any) -> bool:
    """Whether an operand of a product is a sparse matrix or linear operator of SciPy, which is not imported for that.

    Raises:
        UndefinedDerivativeError: it is no array either, so that nobody knows what the product is.
    """
    cls = type(x)
    if module_of(cls).startswith("scipy.sparse"):
        return True
    if not (hasattr(cls, "__array_function__") or isinstance(x, (list, tuple, int, float, complex))):
        raise UndefinedDerivativeError(
            f"a product with an object of the class {cls.__name__} has no derivative rule",
            "Use an array (np.asarray of it) or a sparse matrix of SciPy.",
        )
    return False


def _by_sparse(product: Any, operand: Any) -> Any:
    """The adjoint of an array in a product with a sparse matrix: real if the array is."""
    return product if np.iscomplexobj(operand) else np.real(product)


def dot_left(g: Any, a: Any, b: Any) -> Any:
    """Adjoint of the first operand of ``np.dot``, whatever the dimensions."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(g * b, np.shape(a))
    return tensordot_left(g, a, b, (-1, max(np.ndim(b) - 2, 0)))


def dot_right(g: Any, a: Any, b: Any) -> Any:
    """Adjoint of the second operand of ``np.dot``, whatever the dimensions; ``a.dot(b)`` of a sparse matrix too."""
    if is_sparse(a):
        return _by_sparse(a.T @ g, b)
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(g * a, np.shape(b))
    return tensordot_right(g, a, b, (-1, max(np.ndim(b) - 2, 0)))


def inner_left(g: Any, a: Any, b: Any) -> Any:
    """Adjoint of the first operand of ``np.inner``, whatever the dimensions."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(g * b, np.shape(a))
    return tensordot_left(g, a, b, (-1, -1))


def inner_right(g: Any, a: Any, b: Any) -> Any:
    """Adjoint of the second operand of ``np.inner``, whatever the dimensions."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return unbroadcast(g * a, np.shape(b))
    return tensordot_right(g, a, b, (-1, -1))


def matmul_left(g: Any, x1: Any, x2: Any) -> Any:
    """Adjoint of the first operand of ``np.matmul``: vectors, matrices and broadcast stacks of them.

    The second operand may be a sparse matrix.
    """
    if is_sparse(x2):
        return _by_sparse(_product(g, x2.T), x1)
    columns = np.expand_dims(x2, -1) if np.ndim(x2) == 1 else x2
    rows_shape = (1, *np.shape(x1)) if np.ndim(x1) == 1 else np.shape(x1)
    product = np.matmul(_as_matrices(g, x1, x2), np.swapaxes(columns, -1, -2))
    return np.reshape(unbroadcast(product, rows_shape), np.shape(x1))


def matmul_right(g: Any, x1: Any, x2: Any) -> Any:
    """Adjoint of the second operand of ``np.matmul``: vectors, matrices and broadcast stacks of them.

    The first operand may be a sparse matrix.
    """
    if is_sparse(x1):
        return _by_sparse(_product(x1.T, g), x2)
    if np.ndim(x1) > 2 and np.ndim(x2) == 2:
        # One product of two matrices instead of the sum of many.
        shape, rows = np.shape(x2), math.prod(np.shape(x1)[:-1])
        return np.transpose(np.reshape(x1, (rows, shape[0]))) @ np.reshape(g, (rows, shape[1]))
    rows = np.expand_dims(x1, 0) if np.ndim(x1) == 1 else x1
    columns_shape = (*np.shape(x2), 1) if np.ndim(x2) == 1 else np.shape(x2)
    product = np.matmul(np.swapaxes(rows, -1, -2), _as_matrices(g, x1, x2))
    return np.reshape(unbroadcast(product, columns_shape), np.shape(x2))


def _product(a: Any, b: Any) -> Any:
    """A product with the transpose of a sparse matrix, or of a linear operator, which may not know its own."""
    try:
        return a @ b
    except NotImplementedError as error:
        raise UndefinedDerivativeError(
            "a linear operator that does not know its adjoint has no derivative",
            "Give it rmatvec (and rmatmat): LinearOperator(shape, matvec=..., rmatvec=...).",
        ) from error


def _as_matrices(g: Any, x1: Any, x2: Any) -> Any:
    """Give ``g`` back the axes that ``np.matmul`` dropped for vector operands."""
    if np.ndim(x2) == 1:
        g = np.expand_dims(g, -1)
    return np.expand_dims(g, -2) if np.ndim(x1) == 1 else g


def tensordot_left(g: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """Adjoint of the first operand of ``np.tensordot``."""
    axes_a, axes_b = _contracted(axes, np.ndim(a), np.ndim(b))
    free_a, free_b = _others(axes_a, np.ndim(a)), _others(axes_b, np.ndim(b))
    last = tuple(range(len(free_a), len(free_a) + len(free_b)))
    partners = [axes_a[axes_b.index(axis)] for axis in sorted(axes_b)]
    return np.transpose(np.tensordot(g, b, (last, free_b)), np.argsort([*free_a, *partners]))


def tensordot_right(g: Any, a: Any, b: Any, axes: Any = 2) -> Any:
    """Adjoint of the second operand of ``np.tensordot``."""
    axes_a, axes_b = _contracted(axes, np.ndim(a), np.ndim(b))
    free_a, free_b = _others(axes_a, np.ndim(a)), _others(axes_b, np.ndim(b))
    first = tuple(range(len(free_a)))
    partners = [axes_b[axes_a.index(axis)] for axis in sorted(axes_a)]
    return np.transpose(np.tensordot(g, a, (first, free_a)), np.argsort([*free_b, *partners]))


def _contracted(axes: Any, ndim_a: int, ndim_b: int) -> tuple[list[int], list[int]]:
    """Return the paired axes of both operands, counted from the front."""
    if np.ndim(axes) == 0:
        return list(range(ndim_a - axes, ndim_a)), list(range(axes))
    axes_a, axes_b = (list(axis) if np.ndim(axis) else [axis] for axis in axes)
    return [int(axis) % ndim_a for axis in axes_a], [int(axis) % ndim_b for axis in axes_b]


def _others(axes: Sequence[int], ndim: int) -> tuple[int, ...]:
    return tuple(axis for axis in range(ndim) if axis not in axes)


def kron_left(g: Any, a: Any, b: Any) -> Any:
    """Adjoint of the first operand of ``np.kron``."""
    blocks, _, shape_b = _kron_blocks(g, a, b)
    ndim = len(shape_b)
    summed = np.tensordot(blocks, np.reshape(b, shape_b), (range(1, 2 * ndim, 2), range(ndim)))
    return np.reshape(summed, np.shape(a))


def kron_right(g: Any, a: Any, b: Any) -> Any:
    """Adjoint of the second operand of ``np.kron``."""
    blocks, shape_a, _ = _kron_blocks(g, a, b)
    ndim = len(shape_a)
    summed = np.tensordot(blocks, np.reshape(a, shape_a), (range(0, 2 * ndim, 2), range(ndim)))
    return np.reshape(summed, np.shape(b))


def _kron_blocks(g: Any, a: Any, b: Any) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """Return ``g`` with each axis split in two, that of ``a`` first, and both operands' shapes of that many axes."""
    ndim = max(np.ndim(a), np.ndim(b))
    shape_a = (1,) * (ndim - np.ndim(a)) + np.shape(a)
    shape_b = (1,) * (ndim - np.ndim(b)) + np.shape(b)
    return np.reshape(g, [n for pair in zip(shape_a, shape_b, strict=True) for n in pair]), shape_a, shape_b


def cross_left(
    g: Any, a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """Adjoint of the first operand of ``np.cross``."""
    if axis is not None:
        axisa, axisb, axisc = axis, axis, axis
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    a_bar = np.cross(_of_three(b), _cross_product(g, a, b, axisc))[..., : a.shape[-1]]
    return np.moveaxis(unbroadcast(a_bar, a.shape), -1, axisa)


def cross_right(
    g: Any, a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """Adjoint of the second operand of ``np.cross``."""
    if axis is not None:
        axisa, axisb, axisc = axis, axis, axis
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    b_bar = np.cross(_cross_product(g, a, b, axisc), _of_three(a))[..., : b.shape[-1]]
    return np.moveaxis(unbroadcast(b_bar, b.shape), -1, axisb)


def _of_three(a: Any) -> Any:
    """Vectors of three components: those of two have zero for the third."""
    return a if a.shape[-1] == 3 else np.concatenate([a, np.zeros_like(a[..., :1])], axis=-1)


def _cross_product(g: Any, a: Any, b: Any, axisc: int) -> Any:
    """The adjoint of a cross product with its vectors last; of two vectors in a plane it is a number, the third one."""
    if a.shape[-1] == 3 or b.shape[-1] == 3:
        return np.moveaxis(g, axisc, -1)
    return np.expand_dims(g, -1) * np.array([0, 0, 1], np.result_type(g))


def convolve_left(g: Any, a: Any, v: Any, mode: str = "full") -> Any:
    """Adjoint of the first operand of ``np.convolve``."""
    m, n = np.size(a), np.size(v)
    g = _as_full(g, m, n, mode, (min(m, n) - 1) // 2)
    return np.reshape(np.correlate(g, np.conj(np.ravel(v)), "valid"), np.shape(a))


def convolve_right(g: Any, a: Any, v: Any, mode: str = "full") -> Any:
    """Adjoint of the second operand of ``np.convolve``."""
    return convolve_left(g, v, a, mode)


def correlate_left(g: Any, a: Any, v: Any, mode: str = "valid") -> Any:
    """Adjoint of the first operand of ``np.correlate``."""
    g = _as_full(g, np.size(a), np.size(v), mode, _correlate_same(a, v))
    return np.reshape(np.convolve(g, np.conj(np.ravel(v)), "valid"), np.shape(a))


def correlate_right(g: Any, a: Any, v: Any, mode: str = "valid") -> Any:
    """Adjoint of the second operand of ``np.correlate``, which is conjugated there and so here."""
    g = _as_full(g, np.size(a), np.size(v), mode, _correlate_same(a, v))
    return np.reshape(np.conj(np.correlate(g, np.conj(np.ravel(a)), "valid")[::-1]), np.shape(v))


def _correlate_same(a: Any, v: Any) -> int:
    """Return where ``mode="same"`` starts in the full correlation: NumPy swaps the operands if the second is longer."""
    m, n = np.size(a), np.size(v)
    return m // 2 if m < n else (n - 1) // 2


def _as_full(g: Any, m: int, n: int, mode: str, same: int) -> Any:
    """Return ``g`` as the adjoint of the full result, zero in what ``mode`` left out."""
    if mode == "full":
        return g
    if mode not in ("same", "valid"):
        raise UndefinedDerivativeError(f"mode={mode!r} has no derivative", "Use 'full', 'same' or 'valid'.")
    start = same if mode == "same" else min(m, n) - 1
    return np.pad(g, (start, m + n - 1 - start - np.size(g)))


def multi_dot_adjoint(g: Any, index: int, arrays: Sequence[Any]) -> Any:
    """Adjoint of ``arrays[index]`` in ``np.linalg.multi_dot(arrays)``."""
    matrices = [np.asarray(a) for a in arrays]
    if any(m.ndim > 2 for m in matrices):
        # NumPy takes the product of two of them with np.dot, whatever they are.
        return dot_right(g, *matrices) if index else dot_left(g, *matrices)
    matrices[0] = np.atleast_2d(matrices[0])
    if np.ndim(arrays[-1]) == 1:
        matrices[-1] = np.expand_dims(matrices[-1], 1)
    product = np.reshape(g, (matrices[0].shape[0], matrices[-1].shape[1]))
    # In the order that is cheapest for the adjoint, which need not be that of the function.
    chain = [m.T for m in matrices[:index][::-1]] + [product] + [m.T for m in matrices[:index:-1]]
    return np.reshape(np.linalg.multi_dot(chain), np.shape(arrays[index]))


def multi_dot_adjoints(g: Any, arrays: Sequence[Any]) -> list[Any]:
    """Adjoints of all ``arrays`` in ``np.linalg.multi_dot(arrays)``."""
    return [multi_dot_adjoint(g, i, arrays) for i in range(len(arrays))]


def multi_dot_tangent(arrays_dot: Sequence[Any], arrays: Sequence[Any]) -> Any:
    """Tangent of ``np.linalg.multi_dot(arrays)``: the product rule."""
    terms = [np.linalg.multi_dot([*arrays[:i], arrays_dot[i], *arrays[i + 1 :]]) for i in range(len(arrays))]
    return sum(terms[1:], terms[0])


def vecdot_left(g: Any, a: Any, b: Any, axis: int = -1) -> Any:
    """Adjoint of ``a`` in ``np.linalg.vecdot(a, b, axis=axis)``, each of which has the axis at its own place."""
    a, b = np.moveaxis(a, axis, -1), np.moveaxis(b, axis, -1)
    return np.moveaxis(unbroadcast(np.conj(np.expand_dims(g, -1) * b), np.shape(a)), -1, axis)


def vecdot_right(g: Any, a: Any, b: Any, axis: int = -1) -> Any:
    """Adjoint of ``b`` in ``np.linalg.vecdot(a, b, axis=axis)``."""
    a, b = np.moveaxis(a, axis, -1), np.moveaxis(b, axis, -1)
    return np.moveaxis(unbroadcast(np.expand_dims(g, -1) * np.conj(a), np.shape(b)), -1, axis)


#: Adjoints of products, which take sparse matrices as the products do.
SPARSE_PRODUCTS = (dot_right, matmul_left, matmul_right)
