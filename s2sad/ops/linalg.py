"""Rules of `numpy.linalg`: norms, inverses, linear systems and determinants.

Where a gradient is not unique the convention is JAX's; where JAX gives NaN (the
norm of a zero vector) it is zero, the subgradient of least norm.  A derivative
that does not exist raises ``UndefinedDerivativeError``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, constant, literal, ndim, real, rule, sample
from s2sad.runtime.arrays import unbroadcast, unreduce
from s2sad.runtime.matrices import ratio
from s2sad.runtime.norms import cond_gradient, matrix_norm_gradient, norm_gradient, vector_norm_gradient
from s2sad.runtime.systems import (
    UNSET,
    cofactor,
    lstsq_adjoint,
    lstsq_tangent,
    matrix_power_adjoint,
    matrix_power_tangent,
    pinv_adjoint,
    pinv_tangent,
    regular_inverse,
    solve_matrix,
    solve_tangent,
    solve_transposed,
    tensorsolve_adjoint,
    tensorsolve_order,
    tensorsolve_tangent,
    truncated_pinv_adjoint,
    truncated_pinv_tangent,
)

Array = Any

constant(tensorsolve_order, signature=lambda a, axes=None: None, gives=(list,))

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


@rule(
    np.linalg.norm, only_arrays=True, wrt=["x"], jvp=_norm_jvp, samples=_norms, infer=infer.axes.reduced,
    lower_bound=infer.bounds.not_negative,
)  # fmt: skip
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
    if real(x) and literal(ord) and ord == 2:
        return x * unreduce(ratio(z_bar, z), np.shape(x), axis, keepdims)
    return vector_norm_gradient(z, x, ord, axis, keepdims) * unreduce(np.real(z_bar), np.shape(x), axis, keepdims)


def _matrix_norms() -> Sequence[Sample]:
    t = _apart(2, 3, 4)
    points = [sample(t, ord=p) for p in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)]
    return [*points, sample(t), sample(t, keepdims=True), sample(t, ord=2, keepdims=True), sample(complexes(2, 2))]


def _matrix_norm_jvp(x_dot: Array, z: Array, x: Array, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    gradient = matrix_norm_gradient(z, x, ord, (-2, -1), keepdims)
    return np.sum(np.real(gradient * x_dot), axis=(-2, -1), keepdims=keepdims)


@rule(np.linalg.matrix_norm, wrt=["x"], jvp=_matrix_norm_jvp, samples=_matrix_norms, infer=infer.linalg.of_matrices)
def matrix_norm(z: Array, z_bar: Array, x: Array, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    return matrix_norm_gradient(z, x, ord, (-2, -1), keepdims) * unreduce(
        np.real(z_bar), np.shape(x), (-2, -1), keepdims
    )


def _conditions() -> Sequence[Sample]:
    a = _regular(3, 3)
    points = [sample(a, p) for p in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc")]
    points += [sample(complexes(3, 3), p) for p in (None, -2, 1, np.inf, "fro", "nuc")]
    points += [sample(_regular(2, 3, 3), p) for p in (None, 1, "fro")]
    points += [sample(numbers(4, 2)), sample(numbers(2, 2, 3), -2), sample(_regular(2, 2).astype(np.float32), p=1)]
    return [*points, sample(_regular(2, 2).astype(np.float32)), sample(_regular(1, 1))]


def _cond_jvp(x_dot: Array, z: Array, x: Array, p: Any = None) -> Array:
    return np.sum(np.real(cond_gradient(z, x, p) * x_dot), axis=(-2, -1))


@rule(np.linalg.cond, wrt=["x"], jvp=_cond_jvp, samples=_conditions, infer=infer.linalg.condition)
def cond(z: Array, z_bar: Array, x: Array, p: Any = None) -> Array:
    if ndim(x) == 2:
        return np.real(z_bar) * cond_gradient(z, x, p)
    return np.expand_dims(np.real(z_bar), (-2, -1)) * cond_gradient(z, x, p)


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
    a, small = numbers(4, 3), np.diag([2.0, -1.5, 0.3]) + 0.01 * numbers(3, 3)
    return [
        sample(numbers(3, 3)),
        sample(numbers(4, 2)),
        sample(numbers(2, 4)),
        sample(numbers(2, 3, 2)),
        sample(numbers(2, 2, 4)),
        sample(complexes(3, 2)),
        sample(complexes(2, 3)),
        sample(singles(3, 2)),
        sample(np.zeros((0, 2))),
        sample(a, 0.5),
        sample(a, rcond=1e-3),
        sample(complexes(2, 4), rtol=0.6),
        sample(a.T, rtol=None),
        sample(numbers(2, 4, 3), np.array([0.5, 1e-10])),
        sample(small, hermitian=True),
        sample(small, 0.4, True),
        sample(small + 1j * numbers(3, 3), hermitian=True, rtol=0.4),
        sample(small.astype(np.float32), 0.4),
    ]


def _pinv_jvp(
    a_dot: Array, z: Array, a: Array, rcond: Any = None, hermitian: bool = False, *, rtol: Any = UNSET
) -> Array:
    if rcond is None and not hermitian and rtol == UNSET:
        return pinv_tangent(a_dot, z, a)
    return truncated_pinv_tangent(a_dot, a, rcond, hermitian, rtol)


@rule(
    np.linalg.pinv, wrt=["a"], jvp=_pinv_jvp, samples=_rectangles, infer=infer.axes.with_axes(infer.axes.same("a", 2))
)
def pinv(z: Array, z_bar: Array, a: Array, rcond: Any = None, hermitian: bool = False, *, rtol: Any = UNSET) -> Array:
    if rcond is None and not hermitian and rtol == "unset":
        return pinv_adjoint(z_bar, z, a)
    return truncated_pinv_adjoint(z_bar, a, rcond, hermitian, rtol)


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


@rule(np.linalg.solve, jvp=_solve_jvp, samples=_systems, infer=infer.linalg.solved)
def solve(z: Array, z_bar: Array, a: Array, b: Array) -> tuple[Array, Array]:
    if ndim(a) == 2 and ndim(b) == 1:
        b_bar = np.linalg.solve(a.T, z_bar)
        return -np.outer(b_bar, z), b_bar
    if ndim(a) == 2 and ndim(b) == 2:
        b_bar = np.linalg.solve(a.T, z_bar)
        return -b_bar @ z.T, b_bar
    solved = solve_transposed(z_bar, a, b)
    return solve_matrix(solved, z, a, b), unbroadcast(solved, np.shape(b))


def _tensor_inverses() -> Sequence[Sample]:
    a = np.reshape(_regular(6, 6), (2, 3, 6))
    return [
        sample(a),
        sample(np.reshape(a, (6, 3, 2)), 1),
        sample(np.reshape(a, (2, 3, 3, 2)), ind=2),
        sample(np.reshape(complexes(4, 4), (4, 2, 2)), 1),
        sample(_regular(4, 4).astype(np.float32).reshape(2, 2, 2, 2)),
    ]


def _tensorinv_jvp(a_dot: Array, z: Array, ind: int = 2) -> Array:
    return -np.tensordot(np.tensordot(z, a_dot, ind), z, np.ndim(z) - ind)


@rule(
    np.linalg.tensorinv,
    wrt=["a"],
    jvp=_tensorinv_jvp,
    samples=_tensor_inverses,
    infer=infer.axes.with_known_axes(infer.axes.same("a")),
)
def tensorinv(z: Array, z_bar: Array, a: Array, ind: int = 2) -> Array:
    inverse = np.reshape(z, (-1, math.prod(np.shape(a)[:ind])))
    return np.reshape(-inverse.T @ np.reshape(z_bar, np.shape(inverse)) @ inverse.T, np.shape(a))


def _tensor_systems() -> Sequence[Sample]:
    a, t = np.reshape(_regular(6, 6), (2, 3, 6)), np.reshape(_regular(6, 6), (2, 3, 3, 2))
    return [
        sample(a, numbers(2, 3)),
        sample(np.reshape(a, (6, 3, 2)), numbers(6)),
        sample(t, numbers(2, 3)),
        sample(t, numbers(3, 2), (0, 1)),
        sample(t, numbers(2, 3), axes=(1, 3)),
        sample(complexes(3, 3), complexes(3)),
        sample(_regular(4, 4).astype(np.float32).reshape(2, 2, 4), singles(2, 2)),
    ]


def _tensorsolve_jvp(a_dot: Array, b_dot: Array, z: Array, a: Array, b: Array, axes: Any = None) -> Array:
    return tensorsolve_tangent(a_dot, b_dot, z, a, b, axes)


@rule(
    np.linalg.tensorsolve,
    wrt=["a", "b"],
    jvp=_tensorsolve_jvp,
    samples=_tensor_systems,
    infer=infer.linalg.tensor_solution,
)
def tensorsolve(z: Array, z_bar: Array, a: Array, b: Array, axes: Any = None) -> tuple[Array, Array]:
    a_bar, b_bar = tensorsolve_adjoint(z_bar, z, a, b, axes)
    return a_bar, b_bar


def _overdetermined() -> Sequence[Sample]:
    # Of those of deficient rank the derivative exists only along directions that keep the rank: see the tests.
    a, b = numbers(5, 3), numbers(5, 2)
    return [
        sample(a, b),
        sample(a, numbers(5)),
        sample(numbers(3, 3), numbers(3, 2)),
        sample(numbers(2, 4), numbers(2, 3)),
        sample(numbers(2, 4), numbers(2)),
        sample(numbers(4, 1), numbers(4)),
        sample(a, numbers(5, 0)),
        sample(a, b, rcond=1e-10),
        sample(a, b, -1),
        sample(complexes(4, 2), complexes(4, 3)),
        sample(complexes(2, 3), complexes(2)),
        sample(complexes(4, 2), numbers(4)),
        sample(numbers(4, 2), complexes(4)),
        sample(singles(4, 2), singles(4)),
        sample(singles(2, 3), singles(2, 2)),
    ]


def _lstsq_jvp(a_dot: Array, b_dot: Array, z: Any, a: Array, b: Array) -> tuple[Array, Array, int, Array]:
    return lstsq_tangent(a_dot, b_dot, z, a, b)


@rule(
    np.linalg.lstsq,
    jvp=_lstsq_jvp,
    wrt=["a", "b"],
    samples=_overdetermined,
    infer=infer.linalg.least_squares,
    gives=(tuple,),
    integers=(2,),
)
def lstsq(z: Any, z_bar: Any, a: Array, b: Array, rcond: Any = None) -> tuple[Array, Array]:
    a_bar, b_bar = lstsq_adjoint(z_bar, z, a, b)
    return a_bar, b_bar


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
    steps=frozenset({"n"}),
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


@rule(np.linalg.det, wrt=["a"], jvp=_det_jvp, samples=_determinants, infer=infer.linalg.determinant)
def det(z_bar: Array, a: Array) -> Array:
    if ndim(a) == 2:
        return z_bar * cofactor(a)
    return np.expand_dims(z_bar, (-2, -1)) * cofactor(a)


def _slogdet_jvp(a_dot: Array, z: Any, a: Array) -> tuple[Array, Array]:
    inverse = regular_inverse(a, np.any(a_dot, axis=(-2, -1)))
    rate = np.sum(np.matrix_transpose(inverse) * a_dot, axis=(-2, -1))
    if real(a):
        return np.zeros_like(z[0]), rate
    return 1j * np.imag(rate) * z[0], np.real(rate)


@rule(
    np.linalg.slogdet,
    wrt=["a"],
    jvp=_slogdet_jvp,
    samples=_squares,
    infer=infer.linalg.sign_and_logarithm,
    gives=(tuple,),
    complex_adjoints=True,
)
def slogdet(z: Any, z_bar: Any, a: Array) -> Array:
    if real(a) and ndim(a) == 2:
        return z_bar[1] * regular_inverse(a, z_bar[1]).T
    if real(a):
        return np.expand_dims(z_bar[1], (-2, -1)) * np.matrix_transpose(regular_inverse(a, z_bar[1]))
    # The sign turns with the imaginary part of the rate, the logarithm grows with the real part.
    rate_bar = np.real(z_bar[1]) + 1j * np.imag(z_bar[0] * z[0])
    return np.expand_dims(rate_bar, (-2, -1)) * np.matrix_transpose(regular_inverse(a, rate_bar))
