"""Linear algebra in functions that people write, against differences; repeated values, ties, cut values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

from s2sad import check_grads, grad, jvp
from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.decompositions import cholesky_adjoint, cholesky_tangent, eig_adjoint, eigvals_adjoint
from s2sad.runtime.matrices import solve_triangular
from s2sad.runtime.norms import cond_gradient, norm_gradient
from tests.oracle import numeric_gradient, pairing, richardson_jvp

RANDOM = np.random.default_rng(0)
A, TALL, WIDE, W = (RANDOM.normal(size=shape) for shape in ((4, 4), (5, 3), (2, 4), (4, 4)))
Y, YS, LOW, LEFT = (RANDOM.normal(size=shape) for shape in (5, (5, 2), (5, 2), (2, 4)))
C = A + 1j * RANDOM.normal(size=(4, 4))
STACK = RANDOM.normal(size=(2, 3, 3)) + 2 * np.eye(3)

# --- eigenvalues ---


def spectral_radius(a):
    return np.max(np.abs(np.linalg.eigvals(a)))


def sizes_of_parts(a):
    w, v = np.linalg.eig(a)
    return np.sum(np.abs(w) ** 2) + np.sum(np.abs(v) ** 4)


def by_attributes(a):
    return np.sum(np.linalg.eig(a).eigenvalues.real ** 3) + np.sum(np.abs(np.linalg.eig(a).eigenvectors[0]) ** 2)


def exponential(a):
    w, v = np.linalg.eig(a)
    return np.sum(((v * np.exp(w)) @ np.linalg.inv(v)).real * W)


def parts_of_vectors(a):
    v = np.linalg.eig(a)[1]
    return np.sum(v.real * W) + np.sum(v.imag * W.T)


def complex_hermitian(c):
    w, v = np.linalg.eigh(c + np.conj(c.T))
    return np.sum(w**3) + np.sum(np.abs(v) ** 2 * W)


@pytest.mark.parametrize("uplo", ["L", "U"])
@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_complex_eigenvectors_turn_as_those_of_lapack(uplo: str, mode: str) -> None:
    for c in C, STACK + 1j * np.cos(STACK):
        w = np.cos(np.arange(c.size).reshape(c.shape)) + 1j

        def f(a, uplo, w=w):
            return np.sum(np.real(np.linalg.eigh(a, uplo)[1] * w))

        check_grads(lambda a, f=f: f(a, uplo), (c,), modes=(mode,))


@pytest.mark.parametrize("shape", [(4, 4), (4, 3), (3, 4), (2, 9), (9, 2)])
@pytest.mark.parametrize("mode", ["fwd", "rev"])
def test_complex_singular_vectors_turn_as_those_of_lapack(shape: tuple[int, int], mode: str) -> None:
    draw = np.random.default_rng(5)
    c = draw.normal(size=shape) + 1j * draw.normal(size=shape)
    left, right = np.cos(np.arange(2.0 * shape[0])) + 1j, np.sin(np.arange(2.0 * shape[1])) - 0.5j

    def f(a, left, right):
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        return np.sum(np.real(u[:, :2] * left)) + np.sum(np.real(vh[:2] * right)) + s[0]

    check_grads(lambda a: f(a, left.reshape(-1, 2), right.reshape(2, -1)), (c,), modes=(mode,))


def components(x):
    xc = x - x.mean(axis=0)
    _, v = np.linalg.eigh(xc.T @ xc / len(x))
    return np.sum((xc @ v[:, -2:] @ v[:, -2:].T) ** 4)


# --- singular values ---


def reconstruction(x):
    xc = x - np.mean(x, axis=0)
    _, s, vt = np.linalg.svd(xc, full_matrices=False)
    return np.sum((xc @ vt[:2].T @ vt[:2] - xc) ** 2) + s[0]


def with_all_vectors(x):
    u, s, vh = np.linalg.svd(x)
    return np.sum(s**2 * np.arange(1.0, 4)) + np.sum(vh**4) + np.sum(u[:, 0] ** 4)


def values_alone(x):
    return np.linalg.svd(x)[1][0] + np.linalg.svd(x, compute_uv=False)[-1] + np.sum(np.linalg.svd(x).S ** 3)


def null_space(a):
    n = np.linalg.svd(a)[2][2:]
    return np.sum(n.T @ n * W)


def low_rank(c):
    u, s, vh = np.linalg.svd(c)
    m = (u[:, :2] * s[:2]) @ vh[:2]
    return np.sum(np.abs(m) ** 2 * W) + np.sum(m.real * W)


def thin_complex(c):
    u, s, vh = np.linalg.svd(c[:, :2], False)
    return np.sum(np.abs(u) ** 4) + np.sum(np.abs(vh) ** 4) + np.sum((u @ vh).imag ** 3) + s[1] ** 2


def hermitian_values(a):
    u, s, vh = np.linalg.svd(a, hermitian=True)
    return np.sum(s**2 * np.arange(4.0)) + np.sum(u**2 * W) + np.sum((u[:, :2] * s[:2]) @ vh[:2] * W)


# --- QR ---


def triangles_alone(a):
    r = np.linalg.qr(a, mode="r")
    return np.sum(np.log(np.abs(np.diag(r)))) + np.sum(r**2 * np.arange(3.0))


def both_factors(a):
    q, r = np.linalg.qr(a)
    return np.sum(q.real**3) + np.sum(r.real**3) + np.sum(r.imag * np.arange(4.0))


def complement(a):
    q, r = np.linalg.qr(a, "complete")
    return np.sum((q[:, 3:] @ q[:, 3:].T)[:4, :4] * W) + np.sum(q[:, :3] ** 3) + np.sum(r**3)


# --- systems ---


def least_squares(a, y):
    x, *_ = np.linalg.lstsq(a, y, rcond=None)
    return np.sum(x**3)


def all_of_least_squares(a, y):
    x, residuals, rank, s = np.linalg.lstsq(a, y)
    return np.sum(x**3) + np.sum(residuals**2) + rank * np.sum(s**2)


def of_low_rank(b, c, y):
    return np.sum(np.linalg.lstsq(b @ c, y, rcond=1e-10)[0] ** 3) + np.sum((np.linalg.pinv(b @ c, 1e-10) @ y) ** 3)


def kalman(p, h, r, y):
    gain = np.linalg.solve(h @ p @ h.T + r @ r.T, h @ p).T
    return np.sum((gain @ y[:2]) ** 2) + np.trace((np.eye(4) - gain @ h) @ p)


def marginal(length, x, y):
    k = np.exp(-0.5 * (x[:, None] - x[None, :]) ** 2 / length**2) + 0.1 * np.eye(len(x))
    low = np.linalg.cholesky(k)
    return 0.5 * y @ np.linalg.solve(low.T, np.linalg.solve(low, y)) + np.sum(np.log(np.diag(low)))


def conditions(a):
    return np.linalg.cond(a) + np.linalg.cond(a, "fro") + np.linalg.cond(a, 1) + np.linalg.cond(a, -2)


def tensors(a, b):
    a = a.reshape(2, 2, 2, 2)
    return np.sum(np.linalg.tensorsolve(a, b[:2, :2]) ** 2) + np.sum(np.linalg.tensorinv(a)[0] ** 2)


def stacks(t):
    values = np.sum(np.linalg.eigvals(t) ** 2).real + np.sum(np.linalg.cond(t))
    factors = np.sum(np.linalg.svd(t)[1] ** 3) + np.sum(np.linalg.qr(t)[1] ** 2) + np.sum(np.linalg.qr(t, "r") ** 3)
    return values + factors + np.sum(np.linalg.slogdet(t)[1]) + np.sum(np.linalg.pinv(t) ** 2)


def powers(a):
    return np.sum(np.linalg.matrix_power(a / 3, 7) ** 2) + np.sum(np.linalg.matrix_power(a, -3))


def of_lists(a, b):
    m = [[a, b], [0.3, 2.0]]
    values = np.sum(np.linalg.eigvals(m) ** 3).real + np.linalg.svd(m)[1][0] + np.linalg.cond(m, 1) + np.linalg.norm(m)
    factors = np.sum(np.linalg.qr(m)[1] ** 3) + np.sum(np.linalg.qr(m, "r") ** 3) + np.sum(np.linalg.svd(m)[0][0])
    systems = np.sum(np.linalg.lstsq([[a, 1.0], [2.0, b], [1.0, 1.0]], [1.0, b, a])[0] ** 2)
    inverses = np.sum(np.linalg.pinv(m) ** 2) + np.sum(np.linalg.pinv(m, 0.01) ** 2)
    tensor = np.sum(np.linalg.tensorsolve(m, [a, 1.0]) ** 2) + np.sum(np.linalg.tensorinv(m, 1) ** 2)
    return values + factors + systems + inverses + tensor + np.sum(np.linalg.matrix_power(m, 3))


@pytest.mark.parametrize(
    ("f", "args"),
    [
        *((f, (A,)) for f in (spectral_radius, sizes_of_parts, by_attributes, exponential, powers, conditions)),
        *((f, (C,)) for f in (spectral_radius, sizes_of_parts, parts_of_vectors, complex_hermitian, low_rank)),
        *((f, (TALL,)) for f in (components, reconstruction, with_all_vectors, values_alone, triangles_alone)),
        (both_factors, (WIDE,)),
        (both_factors, (C,)),
        (both_factors, (C[:3],)),
        (complement, (TALL,)),
        (null_space, (WIDE,)),
        (low_rank, (A,)),
        (thin_complex, (C,)),
        (hermitian_values, (A,)),
        (least_squares, (TALL, Y)),
        (least_squares, (TALL, YS)),
        (least_squares, (WIDE, Y[:2])),
        (all_of_least_squares, (TALL, Y)),
        (all_of_least_squares, (TALL, YS)),
        (of_low_rank, (LOW, LEFT, Y)),
        (of_low_rank, (LEFT.T, LOW.T, Y[:4])),
        (kalman, (A @ A.T, WIDE, A[:2, :2], Y)),
        (marginal, (0.7, Y, Y**2)),
        (tensors, (A, W)),
        (stacks, (STACK,)),
        (of_lists, (0.7, 1.2)),
    ],
)
def test_functions_that_people_write(f: Callable[..., Any], args: Any) -> None:
    assert check_grads(f, args)


def test_the_derivative_of_the_cut_pseudoinverse_is_exact() -> None:
    """Where a value is left out that is not zero, that of constant rank would be wrong by a third."""
    a = np.diag([1.0, 0.4, 0.1]) + 0.05 * A[:3, :3]

    def solution(a: Any) -> Any:
        return np.sum(np.linalg.pinv(a, 0.6) * W[:3, :3])

    np.testing.assert_allclose(grad(solution)(a), numeric_gradient(solution, (a,)), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("a", [np.eye(3), A[:3, :3] @ np.diag([2.0, 2.0, -1.0]) @ np.linalg.inv(A[:3, :3])])
def test_symmetric_functions_of_repeated_eigenvalues(a: Any) -> None:
    """The trace, that of the third power, and the determinant."""
    w = np.linalg.eigvals(a)
    for w_bar, expected in (
        (np.ones(3), np.eye(3)),
        (3 * w**2, 3 * (a @ a).T),
        (np.prod(w) / w, np.linalg.det(a) * np.linalg.inv(a).T),
    ):
        np.testing.assert_allclose(eigvals_adjoint(w_bar, w, a), expected, atol=1e-10)


def test_vectors_that_the_loss_does_not_see_may_be_repeated() -> None:
    a_bar = eig_adjoint(np.ones(3), np.zeros((3, 3)), np.ones(3), np.eye(3))
    np.testing.assert_array_equal(a_bar, np.eye(3))


def test_eigenvalues_in_another_order_keep_their_adjoints() -> None:
    w = np.linalg.eigvals(A)
    w_bar = np.arange(4.0)
    np.testing.assert_allclose(eigvals_adjoint(w_bar[::-1], w[::-1], A), eigvals_adjoint(w_bar, w, A), rtol=1e-9)


def exponential_of_symmetric(a):
    w, v = np.linalg.eigh(a)
    return ((v * np.exp(w)) @ v.T)[1, 0]


def rotation(a):
    u, _, vh = np.linalg.svd(a)
    return np.sum((u @ vh) * W[:3, :3])


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e12])
def test_functions_of_matrices_with_equal_values_are_refused(scale: float) -> None:
    """The derivative of the exponential at the unit matrix is not zero, as one by values and vectors would have it."""

    def loss(a: Any) -> Any:
        return scale * exponential_of_symmetric(a)

    with pytest.raises(UndefinedDerivativeError, match="repeated"):
        grad(loss)(np.eye(2))
    a = np.diag([1.0, 1.001])
    np.testing.assert_allclose(grad(loss)(a), numeric_gradient(loss, (a,)), rtol=1e-6)


@pytest.mark.parametrize("gap", [1e-3, 1e-9])
def test_the_nearest_rotation_does_not_feel_close_singular_values(gap: float) -> None:
    """The derivative of the polar factor ``q`` along ``t`` solves a Sylvester equation (Higham 2008, section 8.1)."""
    q = np.linalg.qr(A[:3, :3])[0]
    a = q @ np.diag([1.0, 1.0 + gap, 2.0])
    t = np.array([[0.3, -0.2, 0.5], [0.7, 0.1, -0.4], [0.2, 0.6, -0.1]])
    h = np.diag([1.0, 1.0 + gap, 2.0])
    skew = (q.T @ t - t.T @ q) / (np.diag(h)[:, None] + np.diag(h))
    np.testing.assert_allclose(np.sum(grad(rotation)(a) * t), np.sum(q @ skew * W[:3, :3]), rtol=1e-5)


def test_equal_singular_values_share() -> None:
    np.testing.assert_array_equal(cond_gradient(1.0, np.eye(3)), np.zeros((3, 3)))
    np.testing.assert_allclose(cond_gradient(2.0, np.diag([2.0, 2.0, 1.0])), np.diag([0.5, 0.5, -2.0]))


@pytest.mark.parametrize("ord", ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_the_norm_of_a_matrix_of_zeros_has_gradient_zero(ord: Any) -> None:
    np.testing.assert_array_equal(norm_gradient(0.0, np.zeros((3, 2)), ord), np.zeros((3, 2)))


def test_norms_of_a_matrix_of_low_rank_have_the_least_subgradient() -> None:
    a = np.outer([3.0, 4.0, 0.0], [0.0, 1.0])
    np.testing.assert_allclose(norm_gradient(5.0, a, "nuc"), a / 5, atol=1e-12)
    rounded = np.cos(np.arange(12.0) * 1.3).reshape(3, 4)
    np.testing.assert_array_equal(norm_gradient(0.0, rounded, -2), np.zeros((3, 4)))


@pytest.mark.parametrize(("ord", "axis"), [(None, None), (3, 0), (np.inf, 1), (1, None), (-np.inf, None)])
def test_norms_keep_single_precision(ord: Any, axis: Any) -> None:
    for x in (A.astype(np.float32), C.astype(np.complex64)):
        assert norm_gradient(np.linalg.norm(x, ord, axis), x, ord, axis).dtype == x.dtype
        for p in ("fro", "nuc", 2, -2):
            assert norm_gradient(np.linalg.norm(x, p), x, p).dtype == x.dtype


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (200, 200), (2, 150, 150)])
def test_triangular_systems(shape: tuple[int, ...], lower: bool) -> None:
    generator = np.random.default_rng(1)
    t = generator.normal(size=shape) + 20 * np.eye(shape[-1])
    t = np.tril(t) if lower else np.triu(t)
    b = generator.normal(size=(*shape[:-1], 7))
    np.testing.assert_allclose(t @ solve_triangular(t, b, lower), b, atol=1e-10)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("turn", [0.0, 0.3j])
@pytest.mark.parametrize("shape", [(49, 49), (150, 150), (2, 100, 100)])
def test_factors_of_large_matrices_by_halves(shape: tuple[int, ...], turn: complex, upper: bool) -> None:
    b, d, g = (RANDOM.normal(size=shape) + turn * RANDOM.normal(size=shape) for _ in range(3))
    a = b @ np.conj(np.swapaxes(b, -1, -2)) + shape[-1] * np.eye(shape[-1])
    z = np.linalg.cholesky(a, upper=upper)
    a_bar = cholesky_adjoint(g, z, upper)
    # Of an array that is no triangle, only the triangle of the factor counts; of the matrix only that which is read.
    inside = (np.triu if upper else np.tril)(np.ones(shape[-2:]))
    z_dot = richardson_jvp(lambda a: np.linalg.cholesky(a, upper=upper), [a], [d])
    assert np.all(a_bar[..., inside == 0] == 0)
    np.testing.assert_allclose(pairing(a_bar, d), pairing(g * inside, z_dot), rtol=1e-8)
    np.testing.assert_allclose(cholesky_tangent(d, z, upper) * inside, z_dot, atol=1e-9)


def test_repeated_eigenvalues_have_tangents() -> None:
    def f(a: Any) -> Any:
        return np.sum(np.sin(np.linalg.eigvalsh(a)))

    a = np.diag([2.0, 2.0, 3.0])
    dot = np.array([[0.3, 0.2, -0.4], [0.2, 1.1, 0.6], [-0.4, 0.6, -0.5]])
    expected = numeric_gradient(f, (a,))
    np.testing.assert_allclose(jvp(f, (a,), (dot,))[1], np.sum(expected * dot), rtol=1e-6)
    np.testing.assert_allclose(grad(f)(a), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", [np.linalg.eigh, np.linalg.svd, np.linalg.eig])
def test_repeated_values_have_tangents_and_their_vectors_none(f: Any) -> None:
    a, dot = 2 * np.eye(3), np.diag([0.4, 0.0, -0.4]) + 0.1
    at = 1 if f is np.linalg.svd else 0
    value, tangent = jvp(lambda x: np.sum(f(x)[at] ** 2), (a,), (dot,))
    assert (value, tangent) == pytest.approx((12.0, 1.2))
    with pytest.raises(UndefinedDerivativeError, match="repeated"):
        jvp(lambda x: np.sum(f(x)[1 - at]), (a,), (dot,))


@pytest.mark.parametrize("shape", [(5, 2), (2, 5), (3, 1), (6, 3), (2, 4, 2)])
@pytest.mark.parametrize("kind", [float, complex])
def test_forward_mode_has_the_vectors_that_lapack_completes_a_basis_with(shape: Any, kind: type) -> None:
    generator = np.random.default_rng(sum(shape))
    a, a_dot = (generator.normal(size=shape) + (kind is complex) * 1j * generator.normal(size=shape) for _ in "ab")
    a = a + np.eye(*shape[-2:]) * [3.0, 4.0, 5.0, 6.0, 7.0][: shape[-1]]
    for part in (0, 2):
        numeric = richardson_jvp(lambda x, part=part: np.linalg.svd(x)[part], [a], [a_dot], step=1e-3)
        np.testing.assert_allclose(jvp(svd_part, (a, part), (a_dot, None))[1], numeric, rtol=1e-6, atol=1e-7)


def svd_part(a, part):
    return np.linalg.svd(a)[part]


@pytest.mark.parametrize(("shape", "kind"), [((5, 3), float), ((3, 5), float), ((4, 3), complex), ((6, 4), float)])
def test_forward_mode_refuses_a_choice_that_lapack_alone_knows(shape: Any, kind: type) -> None:
    a = np.random.default_rng(3).normal(size=shape) * kind(1)
    part = 0 if shape[0] > shape[1] else 2
    with pytest.raises(UndefinedDerivativeError, match="complete a basis"):
        jvp(lambda x: np.sum(np.abs(np.linalg.svd(x)[part])), (a,), (np.ones(shape) * kind(1),))
    assert np.isfinite(jvp(lambda x: np.sum(np.linalg.svd(x)[1]), (a,), (np.ones(shape) * kind(1),))[1])


def test_the_space_that_completes_a_basis_has_a_gradient() -> None:
    def loss(a):
        rest = np.linalg.svd(a)[0][:, 3:]
        return np.sum((rest @ rest.T)[:4, :4] * W)

    np.testing.assert_allclose(grad(loss)(TALL), numeric_gradient(loss, (TALL,)), rtol=1e-6, atol=1e-8)


def _complexes(*shape: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def _hermitian(n: int, seed: int) -> Any:
    a = _complexes(n, n, seed=seed)
    return a + a.conj().T


def _of_eigenvectors(a: Any) -> Any:
    return np.sum(_WEIGHTS * np.abs(np.linalg.eigh(a)[1]) ** 2)


def _of_upper_eigenvectors(a: Any) -> Any:
    return np.sum(_WEIGHTS * np.abs(np.linalg.eigh(a, UPLO="U")[1]) ** 2)


def _of_singular_vectors(a: Any) -> Any:
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.sum(_WEIGHTS * np.abs(u) ** 2) + np.sum(_WEIGHTS * np.abs(vh) ** 3)


def _of_vectors_of_two_matrices(a: Any) -> Any:
    b = a @ a.conj().T + np.eye(5)
    return np.sum(_WEIGHTS * np.abs(scipy.linalg.eigh(a, b)[1]) ** 2)


_WEIGHTS = np.random.default_rng(5).normal(size=(5, 5))


@pytest.mark.parametrize(
    # What is divided by a component of 1e-9 has rounding errors of that order.
    ("size", "atol"),
    [(0.0, 1e-7), (1e-17, 1e-7), (1e-16, 1e-7), (1e-14, 1e-7), (1e-12, 1e-7), (1e-9, 1e-6)],
)
@pytest.mark.parametrize(
    "f", [_of_eigenvectors, _of_upper_eigenvectors, _of_singular_vectors, _of_vectors_of_two_matrices]
)
def test_components_that_keep_vectors_real_and_vanish(f: Any, size: float, atol: float) -> None:
    """Parts of a matrix that have nothing to do with one another have vectors that vanish in each other's rows."""
    a = np.zeros((5, 5), complex)
    a[:2, :2], a[2:, 2:] = _hermitian(2, 1), _hermitian(3, 2)
    order = [0, 3, 1, 4, 2]
    a = a[np.ix_(order, order)] + size * _hermitian(5, 3)
    for seed in range(4, 8):
        a_dot = _hermitian(5, seed)
        expected = richardson_jvp(f, (a,), (a_dot,))
        np.testing.assert_allclose(jvp(f, (a,), (a_dot,))[1], expected, rtol=1e-6, atol=atol)
        np.testing.assert_allclose(np.sum((grad(f)(a) * a_dot).real), expected, rtol=1e-6, atol=atol)


def test_what_depends_on_the_factor_of_a_vector_whose_component_vanishes_is_refused() -> None:
    a = np.zeros((4, 4), complex)
    a[:2, :2], a[2:, 2:] = _hermitian(2, 1), _hermitian(2, 2)
    with pytest.raises(UndefinedDerivativeError, match="factor of modulus one"):
        grad(lambda a: np.sum(np.linalg.eigh(a)[1].imag[2:]))(a)


def test_the_factor_of_a_vector_whose_component_is_small_has_its_derivative() -> None:
    a = np.zeros((4, 4), complex)
    a[:2, :2], a[2:, 2:] = _hermitian(2, 1), _hermitian(2, 2)
    a, a_dot = a + 1e-4 * _hermitian(4, 3), 1e-4 * _hermitian(4, 4)

    def f(a: Any) -> Any:
        return np.sum(np.linalg.eigh(a)[1].imag * _WEIGHTS[:4, :4])

    expected = richardson_jvp(f, (a,), (a_dot,))
    np.testing.assert_allclose(jvp(f, (a,), (a_dot,))[1], expected, rtol=1e-6)
    np.testing.assert_allclose(np.sum((grad(f)(a) * a_dot).real), expected, rtol=1e-6)


@pytest.mark.parametrize("f", [lambda a: np.linalg.eigh(a)[1], lambda a: np.linalg.eig(a)[1], np.linalg.eigvals])
def test_matrices_without_rows(f: Callable[..., Any]) -> None:
    a = np.zeros((0, 0), complex)
    loss = lambda a: np.sum(np.real(f(a)))  # noqa: E731
    assert grad(loss)(a).shape == (0, 0)
    assert jvp(loss, (a,), (a,))[1] == 0.0
