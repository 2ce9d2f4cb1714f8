"""Rules of `numpy.linalg`.

Where a gradient is not unique the convention is JAX's; where JAX gives NaN (the
norm of a zero vector) it is zero, the subgradient of least norm.  Functions that
take a matrix to be Hermitian and read one triangle of it (``cholesky``,
``eigh``, ``eigvalsh``) have derivative zero by the other, and by the imaginary
part of the diagonal.  A derivative that does not exist raises
``UndefinedDerivativeError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, ndim, real, rule, sample
from s2sad.runtime.arrays import unbroadcast, unreduce
from s2sad.runtime.decompositions import (
    cholesky_adjoint,
    cholesky_tangent,
    cofactor,
    eigh_adjoint,
    eigh_tangent,
    matrix_norm_gradient,
    matrix_power_adjoint,
    matrix_power_tangent,
    norm_gradient,
    pinv_adjoint,
    pinv_tangent,
    qr_adjoint,
    qr_tangent,
    ratio,
    solve_matrix,
    solve_tangent,
    solve_transposed,
    svd_adjoint,
    svd_tangent,
    vector_norm_gradient,
)

Array = Any

# --- norms ---


def _apart(*shape: int) -> Any:
    """Return numbers of both signs whose absolute values are far from zero and from each other."""
    generator = np.random.default_rng([7, *shape])
    size = int(np.prod(shape))
    sizes = 0.4 + 0.2 * generator.permutation(size)
    return (sizes * generator.choice([-1.0, 1.0], size)).reshape(shape)


def _norms() -> Sequence[Sample]:
    x, a, t = _apart(4), _apart(3, 4), _apart(2, 3, 4)
    points = [sample(x), sample(a), sample(t), sample(numbers(1)), sample(numbers()), sample(t, keepdims=True)]
    points += [sample(x, p) for p in (1, 2, 3, 1.5, 0.5, -1, -2, np.inf, -np.inf, 0)]
    points += [sample(a, p, axis) for p in (None, 1, 2, 2.5, np.inf, -np.inf) for axis in (0, -1, (1,))]
    points += [sample(a, p) for p in (1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc")]
    points += [sample(t, p, (0, 2)) for p in (None, 1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc")]
    points += [sample(t, p, axis=(-1, 0), keepdims=True) for p in (None, 1, 2, np.inf, "fro", "nuc")]
    points += [sample(a, p, axis=1, keepdims=True) for p in (None, 3, np.inf)]
    points += [sample(complexes(3), p) for p in (None, 1, 2, 3, np.inf)]
    points += [sample(complexes(2, 3), p) for p in (None, 1, 2, np.inf, "fro", "nuc")]
    points += [sample(complexes(2, 3), axis=1), sample(singles(3)), sample(singles(3), 3), sample(singles(2, 2), "nuc")]
    return points


def _norm_jvp(x_dot: Array, z: Array, x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    return np.sum(np.real(norm_gradient(z, x, ord, axis, keepdims) * x_dot), axis=axis, keepdims=keepdims)


@rule(np.linalg.norm, wrt=["x"], jvp=_norm_jvp, samples=_norms, infer=infer.axes.reduced)
def norm(z: Array, z_bar: Array, x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    if ord is None and axis is None and real(x):
        return x * ratio(z_bar, z)
    if ord is None and real(x):
        return x * unreduce(ratio(z_bar, z), np.shape(x), axis, keepdims)
    return norm_gradient(z, x, ord, axis, keepdims) * unreduce(np.real(z_bar), np.shape(x), axis, keepdims)


def _vector_norms() -> Sequence[Sample]:
    t = _apart(2, 3, 4)
    points = [
        sample(t, ord=p, axis=axis) for p in (1, 2, 3, np.inf, -np.inf) for axis in (None, 0, -1, (0, 2), (0, 1, 2))
    ]
    return [*points, sample(t), sample(t, axis=1, keepdims=True), sample(t, keepdims=True, ord=3), sample(complexes(3))]


def _vector_norm_jvp(
    x_dot: Array, z: Array, x: Array, *, axis: Any = None, keepdims: bool = False, ord: Any = 2
) -> Array:
    return np.sum(np.real(vector_norm_gradient(z, x, ord, axis, keepdims) * x_dot), axis=axis, keepdims=keepdims)


@rule(np.linalg.vector_norm, wrt=["x"], jvp=_vector_norm_jvp, samples=_vector_norms, infer=infer.axes.reduced)
def vector_norm(z: Array, z_bar: Array, x: Array, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    return vector_norm_gradient(z, x, ord, axis, keepdims) * unreduce(np.real(z_bar), np.shape(x), axis, keepdims)


def _matrix_norms() -> Sequence[Sample]:
    t = _apart(2, 3, 4)
    points = [sample(t, ord=p) for p in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)]
    return [*points, sample(t), sample(t, keepdims=True), sample(t, ord=2, keepdims=True), sample(complexes(2, 2))]


def _matrix_norm_jvp(x_dot: Array, z: Array, x: Array, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    gradient = matrix_norm_gradient(z, x, ord, (-2, -1), keepdims)
    return np.sum(np.real(gradient * x_dot), axis=(-2, -1), keepdims=keepdims)


@rule(np.linalg.matrix_norm, wrt=["x"], jvp=_matrix_norm_jvp, samples=_matrix_norms)
def matrix_norm(z: Array, z_bar: Array, x: Array, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    return matrix_norm_gradient(z, x, ord, (-2, -1), keepdims) * unreduce(
        np.real(z_bar), np.shape(x), (-2, -1), keepdims
    )


# --- inverses and linear systems ---


def _regular(*shape: int, seed: int = 0) -> Any:
    """Return well-conditioned square matrices."""
    return numbers(*shape, seed=seed) + 3.0 * np.eye(shape[-1])


def _squares() -> Sequence[Sample]:
    return [
        sample(_regular(3, 3)),
        sample(-_regular(2, 2)),
        sample(_regular(1, 1)),
        sample(_regular(2, 3, 3)),
        sample(_regular(2, 1, 2, 2)),
        sample(np.zeros((0, 0))),
        sample(np.zeros((0, 2, 2))),
        sample(complexes(3, 3) + 3 * np.eye(3)),
        sample(_regular(3, 3).astype(np.float32)),
    ]


def _inv_jvp(a_dot: Array, z: Array) -> Array:
    return -z @ a_dot @ z


@rule(np.linalg.inv, wrt=["a"], jvp=_inv_jvp, samples=_squares, infer=infer.common.same_as_first)
def inv(z: Array, z_bar: Array, a: Array) -> Array:
    if ndim(a) == 2:
        return -z.T @ z_bar @ z.T
    return -np.matrix_transpose(z) @ z_bar @ np.matrix_transpose(z)


def _rectangles() -> Sequence[Sample]:
    # One of deficient rank, whose derivative exists only along directions that keep the rank, has its own test.
    return [
        sample(numbers(3, 3)),
        sample(numbers(4, 2)),
        sample(numbers(2, 4)),
        sample(numbers(2, 3, 2)),
        sample(complexes(3, 2)),
        sample(singles(3, 2)),
    ]


def _pinv_jvp(a_dot: Array, z: Array, a: Array) -> Array:
    return pinv_tangent(a_dot, z, a)


@rule(
    np.linalg.pinv, wrt=["a"], jvp=_pinv_jvp, samples=_rectangles, infer=infer.axes.with_axes(infer.axes.same("a", 2))
)
def pinv(z: Array, z_bar: Array, a: Array) -> Array:
    return pinv_adjoint(z_bar, z, a)


def _systems() -> Sequence[Sample]:
    a = _regular(3, 3)
    stack = _regular(2, 3, 3)
    return [
        sample(a, numbers(3)),
        sample(a, numbers(3, 2)),
        sample(stack, numbers(3)),
        sample(stack, numbers(3, 4)),
        sample(stack, numbers(2, 3, 4)),
        sample(a, numbers(2, 3, 4)),
        sample(_regular(5, 1, 2, 2), numbers(3, 2, 1)),
        sample(_regular(1, 1), numbers(1)),
        sample(a, numbers(3, 0)),
        sample(complexes(2, 2) + 2 * np.eye(2), complexes(2)),
        sample(complexes(2, 2) + 2 * np.eye(2), complexes(2, 2)),
        sample(a.astype(np.float32), singles(3)),
        sample(stack.astype(np.float32), singles(3, 2)),
    ]


def _solve_jvp(a_dot: Array, b_dot: Array, z: Array, a: Array, b: Array) -> Array:
    if ndim(a) == 2 and ndim(b) <= 2:
        return np.linalg.solve(a, b_dot - a_dot @ z)
    return solve_tangent(a_dot, b_dot, z, a, b)


@rule(np.linalg.solve, jvp=_solve_jvp, samples=_systems, infer=infer.products.solved)
def solve(z: Array, z_bar: Array, a: Array, b: Array) -> tuple[Array, Array]:
    if ndim(a) == 2 and ndim(b) == 1:
        b_bar = np.linalg.solve(a.T, z_bar)
        return -np.outer(b_bar, z), b_bar
    if ndim(a) == 2 and ndim(b) == 2:
        b_bar = np.linalg.solve(a.T, z_bar)
        return -b_bar @ z.T, b_bar
    solved = solve_transposed(z_bar, a, b)
    return solve_matrix(solved, z, a, b), unbroadcast(solved, np.shape(b))


def _powers() -> Sequence[Sample]:
    a = _regular(3, 3) / 2
    return [
        *[sample(a, n) for n in (0, 1, 2, 3, 4, 7, -1, -2, -3)],
        sample(_regular(2, 2, 2), 3),
        sample(_regular(2, 2, 2), -2),
        sample(complexes(2, 2), 3),
        sample(singles(2, 2), 2),
    ]


def _matrix_power_jvp(a_dot: Array, a: Array, n: int) -> Array:
    return matrix_power_tangent(a_dot, a, n)


@rule(
    np.linalg.matrix_power,
    wrt=["a"],
    jvp=_matrix_power_jvp,
    samples=_powers,
    result="unknown",
    infer=infer.common.same_as_first,
)
def matrix_power(z: Array, z_bar: Array, a: Array, n: int) -> Array:
    return matrix_power_adjoint(z_bar, z, a, n)


# --- determinants ---


def _determinants() -> Sequence[Sample]:
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    return [
        *_squares(),
        sample(numbers(4, 4)),
        sample(singular),
        sample(np.zeros((2, 2))),
        sample(np.diag([1.5, 0.0, 2.0])),
        sample(np.stack([singular, np.eye(2)])),
    ]


def _det_jvp(a_dot: Array, a: Array) -> Array:
    return np.sum(cofactor(a) * a_dot, axis=(-2, -1))


@rule(np.linalg.det, wrt=["a"], jvp=_det_jvp, samples=_determinants, infer=infer.products.determinant)
def det(z_bar: Array, a: Array) -> Array:
    if ndim(a) == 2:
        return z_bar * cofactor(a)
    return np.expand_dims(z_bar, (-2, -1)) * cofactor(a)


def _slogdet_jvp(a_dot: Array, z: Any, a: Array) -> tuple[Array, Array]:
    rate = np.trace(np.linalg.solve(a, a_dot), axis1=-2, axis2=-1)
    if real(a):
        return np.zeros_like(z[0]), rate
    return 1j * np.imag(rate) * z[0], np.real(rate)


@rule(np.linalg.slogdet, wrt=["a"], jvp=_slogdet_jvp, samples=_squares, infer=infer.products.sign_and_logarithm)
def slogdet(z: Any, z_bar: Any, a: Array) -> Array:
    if real(a) and ndim(a) == 2:
        return z_bar[1] * np.linalg.inv(a).T
    if real(a):
        return np.expand_dims(z_bar[1], (-2, -1)) * np.matrix_transpose(np.linalg.inv(a))
    # The sign turns with the imaginary part of the rate, the logarithm grows with the real part.
    rate_bar = np.real(z_bar[1]) + 1j * np.imag(z_bar[0] * z[0])
    return np.expand_dims(rate_bar, (-2, -1)) * np.matrix_transpose(np.linalg.inv(a))


# --- factorisations ---


def _read_in_part() -> list[Array]:
    """Matrices of which one triangle is read and makes a positive definite one; the other may be anything."""
    return [
        numbers(1, 1) ** 2,
        numbers(3, 3) / 2 + 3 * np.eye(3),
        numbers(2, 3, 3) / 2 + 3 * np.diag([1.0, 2.0, 4.0]),
        (numbers(3, 3) / 2 + 3 * np.diag([1.0, 2.0, 4.0])).astype(np.float32),
        np.zeros((0, 0)),
    ]


def _read_in_part_complex() -> list[Array]:
    return [complexes(1, 1) + 2, complexes(3, 3) / 2 + 4 * np.eye(3), complexes(2, 2, 2) / 2 + 4 * np.eye(2)]


def _choleskys() -> Sequence[Sample]:
    points = [*_read_in_part(), *_read_in_part_complex()]
    return [sample(a, **options) for a in points for options in ({}, {"upper": True})]


# The factor of modulus one that each complex vector is free up to has no derivative: complex ones have their own tests.
def _eighs() -> Sequence[Sample]:
    return [sample(a, *triangle) for a in _read_in_part() for triangle in ((), ("L",), ("U",), ("u",))]


def _eigvalshs() -> Sequence[Sample]:
    points = [*_read_in_part(), *_read_in_part_complex()]
    return [sample(a, *triangle) for a in points for triangle in ((), ("L",), ("U",))]


def _cholesky_jvp(a_dot: Array, z: Array, a: Array, *, upper: bool = False) -> Array:
    return cholesky_tangent(a_dot, z, upper)


@rule(np.linalg.cholesky, wrt=["a"], jvp=_cholesky_jvp, samples=_choleskys, infer=infer.common.same_as_first)
def cholesky(z: Array, z_bar: Array, a: Array, *, upper: bool = False) -> Array:
    return cholesky_adjoint(z_bar, z, upper)


def _eigh_jvp(a_dot: Array, z: Any, UPLO: Any = "L") -> tuple[Array, Array]:
    return eigh_tangent(a_dot, z[0], z[1], UPLO)


@rule(np.linalg.eigh, wrt=["a"], jvp=_eigh_jvp, samples=_eighs, infer=infer.products.eigensystem)
def eigh(z: Any, z_bar: Any, a: Array, UPLO: Any = "L") -> Array:
    if UPLO == "L":
        return eigh_adjoint(z_bar[0], z_bar[1], z[0], z[1])
    return eigh_adjoint(z_bar[0], z_bar[1], z[0], z[1], UPLO)


def _eigvalsh_jvp(a_dot: Array, a: Array, UPLO: Any = "L") -> Array:
    w, v = np.linalg.eigh(a, UPLO)
    return eigh_tangent(a_dot, w, v, UPLO)[0]


@rule(np.linalg.eigvalsh, wrt=["a"], jvp=_eigvalsh_jvp, samples=_eigvalshs, infer=infer.products.eigenvalues)
def eigvalsh(z: Array, z_bar: Array, a: Array, UPLO: Any = "L") -> Array:
    v = np.linalg.eigh(a, UPLO)[1]
    if UPLO == "L":
        return eigh_adjoint(z_bar, np.zeros_like(v), z, v)
    return eigh_adjoint(z_bar, np.zeros_like(v), z, v, UPLO)


def _factored() -> Sequence[Sample]:
    return [
        sample(numbers(3, 3)),
        sample(numbers(2, 3, 3)),
        sample(numbers(3, 3), True),
        sample(numbers(1, 1)),
        sample(numbers(4, 2), False),
        sample(numbers(2, 4), full_matrices=False),
        sample(numbers(2, 3, 2), full_matrices=False),
        sample(numbers(4, 2), compute_uv=False),
        sample(numbers(2, 2, 3), True, False),
        sample(complexes(3, 2), compute_uv=False),
        sample(singles(3, 3)),
    ]


def _svd_jvp(a_dot: Array, a: Array, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    return svd_tangent(a_dot, a, full_matrices, compute_uv)


@rule(np.linalg.svd, wrt=["a"], jvp=_svd_jvp, samples=_factored, infer=infer.products.svd)
def svd(z_bar: Any, a: Array, full_matrices: bool = True, compute_uv: bool = True) -> Array:
    return svd_adjoint(z_bar, a, full_matrices, compute_uv)


def _svdvals_jvp(x_dot: Array, x: Array) -> Array:
    return svd_tangent(x_dot, x, False, False)


def _valued() -> Sequence[Sample]:
    return [sample(numbers(3, 2)), sample(numbers(2, 2, 3)), sample(complexes(2, 2)), sample(singles(2, 3))]


@rule(np.linalg.svdvals, wrt=["x"], jvp=_svdvals_jvp, samples=_valued, infer=infer.products.singular_values)
def svdvals(z_bar: Array, x: Array) -> Array:
    return svd_adjoint(z_bar, x, False, False)


def _tall() -> Sequence[Sample]:
    return [sample(numbers(3, 3)), sample(numbers(4, 2)), sample(numbers(2, 3, 2)), sample(singles(3, 2))]


def _qr_jvp(a_dot: Array, z: Any) -> tuple[Array, Array]:
    return qr_tangent(a_dot, z[0], z[1])


@rule(np.linalg.qr, wrt=["a"], jvp=_qr_jvp, samples=_tall, infer=infer.products.qr)
def qr(z: Any, z_bar: Any, a: Array) -> Array:
    return qr_adjoint(z_bar[0], z_bar[1], z[0], z[1])
