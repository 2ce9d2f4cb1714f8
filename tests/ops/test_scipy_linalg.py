"""``scipy.linalg`` in whole programs, against differences; what is not read, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from scipy import linalg, sparse
from scipy.linalg import cho_factor, cho_solve, cholesky, expm, lu_factor, lu_solve, solve, solve_triangular
from scipy.sparse.linalg import spsolve_triangular

from s2sad import grad, jvp, value_and_grad
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.oracle import numeric_gradient, richardson_jvp

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(6, 2)), RNG.normal(size=6)
A = RNG.normal(size=(4, 4)) / 3 + 3 * np.eye(4)


def kernel(ell: Any) -> Any:
    d = X[:, None, :] - X[None, :, :]
    return np.exp(-0.5 * np.sum(d**2, axis=-1) / ell**2) + 0.1 * np.eye(6)


def gaussian_process(ell: Any, y: Any) -> Any:
    low = cholesky(kernel(ell), lower=True)
    return 0.5 * y @ cho_solve((low, True), y) + np.sum(np.log(np.diag(low)))


def gaussian_process_by_factors(ell: Any, y: Any) -> Any:
    factor = cho_factor(kernel(ell))
    return 0.5 * y @ cho_solve(factor, y) + np.sum(np.log(np.diag(factor[0])))


def gaussian_process_by_triangles(ell: Any, y: Any) -> Any:
    low = cholesky(kernel(ell), lower=True)
    alpha = solve_triangular(low.T, solve_triangular(low, y, lower=True))
    half = solve_triangular(low, y, lower=True)
    return 0.5 * y @ alpha + half @ solve_triangular(low, alpha, trans="T", lower=True)


def kalman(q: Any, y: Any) -> Any:
    f, h = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 0.3], [0.1, 1.0]])
    m, p, total = np.zeros(2), np.eye(2), 0.0
    for k in range(3):
        m, p = f @ m, f @ p @ f.T + q * np.eye(2)
        s = h @ p @ h.T + 0.5 * np.eye(2)
        r = y[2 * k : 2 * k + 2] - h @ m
        gain = solve(s, h @ p, assume_a="pos").T
        total = total + r @ solve(s, r, assume_a="pos") + np.log(scipy.linalg.det(s))
        m, p = m + gain @ r, p - gain @ h @ p
    return total


def diffusion(k: Any, u: Any) -> Any:
    lap = scipy.linalg.toeplitz(np.array([-2.0, 1.0, 0.0, 0.0, 0.0, 0.0]))
    return np.sum(np.sin(expm(k * lap) @ u))


def newton(k: Any, y: Any) -> Any:
    lu = lu_factor(A + k * np.diag(y[:4]))
    x = lu_solve(lu, y[:4])
    return np.sum(lu_solve(lu, x, trans=1) ** 2)


def tridiagonal(k: Any, y: Any) -> Any:
    bands = np.stack([0.3 * k * y, 3.0 + y**2, -0.2 * y])
    return np.sum(np.cos(scipy.linalg.solve_banded((1, 1), bands, y)))


def vibration(k: Any, y: Any) -> Any:
    stiffness = scipy.linalg.block_diag(k * A @ A.T, np.diag(y[:2] ** 2))
    mass = np.diag(2.0 + np.abs(y))
    w, v = scipy.linalg.eigh(stiffness, mass)
    return np.sum(np.sqrt(w)) + np.sum(v[:, 0] ** 4)


def lyapunov(k: Any, y: Any) -> Any:
    x = scipy.linalg.solve_continuous_lyapunov(-k * A, np.outer(y[:4], y[:4]))
    return np.trace(x) + np.sum(scipy.linalg.sqrtm(A + k * np.eye(4)) ** 2)


def functions_of_matrices(k: Any, y: Any) -> Any:
    a = A @ A.T + k * np.diag(y[:4] ** 2)
    total = np.sum(scipy.linalg.logm(a) ** 2) + np.sum(scipy.linalg.fractional_matrix_power(a, 0.3))
    return total + np.sum(scipy.linalg.cosm(a / 9) ** 3) + np.sum(scipy.linalg.tanm(a / 20) @ y[:4])


def factored(k: Any, y: Any) -> Any:
    p, low, up = scipy.linalg.lu(A * k + np.outer(y[:4], y[2:]))
    q, r = scipy.linalg.qr(A + k * np.diag(y[:4]), mode="economic")
    u, s, vh = scipy.linalg.svd(np.outer(y, y[:3]) + k * np.eye(6, 3), full_matrices=False)
    x = scipy.linalg.lstsq(np.outer(y, y[:3]) + k * np.eye(6, 3), y)[0]
    return np.sum(p @ low * up) + np.sum(q**3) + np.sum(r) + np.sum((u * s**2) @ vh) + np.sum(x**2)


PROGRAMS: list[Callable[..., Any]] = [
    gaussian_process, gaussian_process_by_factors, gaussian_process_by_triangles, kalman, diffusion, newton,
    tridiagonal, vibration, lyapunov, functions_of_matrices, factored,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_of_programs_agree_with_differences(f: Callable[..., Any]) -> None:
    of_number, of_vector = grad(f)(1.3, Y), grad(f, 1)(1.3, Y)
    np.testing.assert_allclose(of_number, richardson_jvp(lambda k: f(k, Y), [1.3], [1.0]), rtol=1e-7)
    for i, unit in enumerate(np.eye(6)):
        expected = richardson_jvp(lambda y: f(1.3, y), [Y], [unit])
        np.testing.assert_allclose(of_vector[i], expected, rtol=1e-6, atol=1e-8)


def test_no_inverse_is_formed_and_a_factor_is_used_again() -> None:
    source = grad(gaussian_process).source_for(1.3, Y)
    assert "inv(" not in source
    lines = [line.partition("#")[0] for line in source.split("\n")]
    assert sum("= cholesky(" in line for line in lines) == 1
    assert sum(" cho_solve(" in line for line in lines) == 1


@pytest.mark.parametrize("lower", [True, False])
def test_the_triangle_that_is_not_read_has_derivative_zero(lower: bool) -> None:
    def by_solve(a: Any) -> Any:
        return np.sum(solve(a, Y[:4], lower=lower, assume_a="pos") ** 2)

    def by_cholesky(a: Any) -> Any:
        return np.sum(cholesky(a, lower=lower) ** 3)

    def by_triangle(a: Any) -> Any:
        return np.sum(solve_triangular(a, Y[:4], lower=lower) ** 3)

    for f in (by_solve, by_cholesky, by_triangle):
        gradient = grad(f)(A)
        assert np.all((np.triu(gradient, 1) if lower else np.tril(gradient, -1)) == 0)
        assert np.all((np.tril(gradient) if lower else np.triu(gradient))[np.tril_indices(1)] != 0)


def overwritten(a: Any) -> Any:
    return np.sum(solve(a, Y[:4], overwrite_a=True))


def turned(a: Any) -> Any:
    return np.sum(scipy.linalg.null_space(a))


@pytest.mark.parametrize(
    ("f", "what"),
    [(overwritten, "overwrite_a"), (turned, "scipy.linalg.null_space")],
)
def test_what_has_no_rule_is_refused_by_name(f: Callable[..., Any], what: str) -> None:
    with pytest.raises(UnsupportedError, match=what):
        grad(f)(A)


def test_vectors_of_a_repeated_eigenvalue_are_refused() -> None:
    def f(a: Any) -> Any:
        return np.sum(scipy.linalg.eigh(a)[1] * A[:3, :3])

    with pytest.raises(UndefinedDerivativeError, match="repeated"):
        grad(f)(np.eye(3))


def test_every_public_function_has_a_rule_is_constant_or_is_refused() -> None:
    from s2sad import ops

    # These make matrices of sizes, are classes or functions of SciPy itself.
    others = {
        "LinAlgError", "LinAlgWarning", "dft", "hadamard", "hilbert", "helmert", "invhilbert", "invpascal", "pascal",
        "bandwidth", "find_best_blas_type", "get_blas_funcs", "get_lapack_funcs", "test", "kron", "tri", "tril", "triu",
    }  # fmt: skip
    names = {n for n in scipy.linalg.__all__ if callable(getattr(scipy.linalg, n, None))} - others
    assert not [n for n in sorted(names) if ops.spec_of(getattr(scipy.linalg, n)) is None]


def test_what_may_be_overwritten_is_read_before() -> None:
    def f(x: Any, a: Any, b: Any) -> Any:
        y = x * b
        w = solve(a, b, overwrite_b=True)
        return np.sum(y * w)

    b = Y[:4].copy()
    np.testing.assert_allclose(grad(f)(np.ones(4), A, b), Y[:4] * solve(A, Y[:4]))
    np.testing.assert_array_equal(b, Y[:4])


def test_a_number_stands_for_a_matrix() -> None:
    np.testing.assert_allclose(grad(lambda x: np.sum(linalg.cholesky(np.array(x))))(2.0), 0.5 / np.sqrt(2.0))
    root = grad(lambda x: np.sum(linalg.sqrtm(np.array(x))))
    if np.allclose(linalg.sqrtm(np.array(2.0)), np.sqrt(2.0)):
        np.testing.assert_allclose(root(2.0), 0.5 / np.sqrt(2.0))
    else:
        with pytest.raises(UndefinedDerivativeError, match=r"np\.sqrt"):
            root(2.0)


def test_what_scipy_does_not_solve_has_no_derivative() -> None:
    turned = np.array([[0.5, 2.0], [-1.5, 0.7]])
    mixed = np.array([[1.0 + 0.3j, 0.2], [0.4j, 2.0]])
    right = np.array([[1.0, 2.0], [3.0, 4.0]])

    def f(q: Any, a: Any) -> Any:
        return np.sum(np.real(linalg.solve_sylvester(a, mixed, q)))

    with pytest.raises(UndefinedDerivativeError, match=r"(?s)has not solved.*complex matrices"):
        grad(f)(right, turned)
    assert grad(f)(right, turned + 0j).shape == (2, 2)

    def g(b: Any, matrix: Any) -> Any:
        return np.sum(spsolve_triangular(matrix, b))

    whole = sparse.csr_matrix(turned)
    with pytest.raises(UndefinedDerivativeError, match=r"(?s)not triangular.*tril"):
        grad(g)(np.ones(2), whole)
    assert grad(g)(np.ones(2), sparse.csr_matrix(sparse.tril(whole))).shape == (2,)


def blocks(step: float, variance: float = 1.0, count: int = 1, by_rows: bool = True) -> Any:
    rows = [[0.25 * step**4, 0.5 * step**3], [0.5 * step**3, step**2]]
    if by_rows:
        return linalg.block_diag(*[rows] * count) * variance
    return np.array(rows) * variance


def test_blocks_behind_a_star_are_not_written() -> None:
    def f(x: Any) -> Any:
        return np.sum(blocks(2.0, variance=x[0])) * x[1]

    x = np.array([0.5, 1.5])
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-7)


#: Matrices with a pivot that is exactly zero: the last one, that of a wide one, and one in the middle.
LAST = np.array([[4.0, 2.0, 8.0], [2.0, 3.0, 1.0], [1.0, -1.0, 4.25]])
WIDE = np.concatenate([LAST, [[1.0], [2.0], [-1.5]]], axis=1)
MIDDLE = np.array([[4.0, 1.0, 2.0, 1.0], [2.0, 0.5, 3.0, -1.0], [1.0, 0.25, 5.0, 2.0]])

# SciPy warns of such factors.
SINGULAR = pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning")


def by_lu(a: Any) -> Any:
    p, low, up = scipy.linalg.lu(a)
    return np.sum(np.sin(low)) + np.sum(up**2 + up) + np.sum(p @ low @ up)


def by_lu_factor(a: Any) -> Any:
    lu, piv = lu_factor(a)
    return np.sum(np.cos(lu[: len(piv)]) * (1 + piv[:, None])) + np.sum(lu**2)


def rows_above(a: Any) -> Any:
    lu, _ = lu_factor(a)
    return np.sum(lu[:1] ** 3)


def stationary(a: Any) -> Any:
    lu, _ = lu_factor(a)
    return np.sum(solve_triangular(lu[:-1, :-1], -lu[:-1, -1]) ** 2)


@SINGULAR
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(
    ("f", "a"),
    [
        (by_lu, LAST),
        (by_lu, WIDE),
        (by_lu_factor, LAST),
        (by_lu_factor, WIDE),
        (rows_above, MIDDLE),
        (stationary, LAST),
    ],
)
def test_factors_need_no_pivot_that_nothing_is_divided_by(f: Callable[..., Any], a: Any, dtype: Any) -> None:
    def real(a: Any) -> Any:
        return np.real(f(a))

    a = a.astype(dtype)
    assert 0 in np.diagonal(lu_factor(a)[0])
    expected = numeric_gradient(real, [a])
    np.testing.assert_allclose(grad(real)(a), expected, rtol=1e-7, atol=1e-7)
    if f is not rows_above:  # a tangent changes the rows below as well
        direction = RNG.normal(size=a.shape).astype(dtype)
        np.testing.assert_allclose(jvp(real, (a,), (direction,))[1], np.sum(np.real(expected * direction)), rtol=1e-7)


@SINGULAR
def test_each_matrix_of_a_stack_has_pivots_of_its_own() -> None:
    def f(a: Any) -> Any:
        _, low, up = scipy.linalg.lu(a)
        return np.sum(up[:, 0] ** 3) + np.sum(low[1:] ** 2 * 3) + np.sum(up[1:] ** 2)

    stack = np.stack([MIDDLE[:, :3], LAST, A[:3, :3]])
    np.testing.assert_allclose(grad(f)(stack), numeric_gradient(f, [stack]), rtol=1e-7, atol=1e-7)


@SINGULAR
@pytest.mark.parametrize("f", [by_lu, by_lu_factor])
def test_rows_from_a_zero_pivot_on_have_no_derivative(f: Callable[..., Any]) -> None:
    for a in (MIDDLE, MIDDLE.T @ np.diag([1.0, 0.0, 1.0])):
        with pytest.raises(UndefinedDerivativeError, match="without full rank"):
            grad(f)(a)
        with pytest.raises(UndefinedDerivativeError, match="without full rank"):
            jvp(f, (a,), (np.ones_like(a),))


def hermitian(a: Any) -> Any:
    return np.sum(scipy.linalg.pinvh(a @ a.T) * a) + np.sum(scipy.linalg.pinvh(a, lower=False) ** 2)


def of_large_singular_values(a: Any) -> Any:
    b = a * np.array([1.0, 0.5, 0.1, 0.1])
    return np.sum(scipy.linalg.pinv(b, rtol=0.2) ** 3) + np.sum(scipy.linalg.pinv(b, atol=0.5, rtol=0.1) * b.T)


def structured(a: Any) -> Any:
    whole = scipy.linalg.matmul_toeplitz((a[0], a[1]), a[2])
    return np.sum(whole**2) + np.sum(scipy.linalg.matmul_toeplitz(a[3], a) ** 2)


@pytest.mark.parametrize("f", [hermitian, of_large_singular_values, structured])
def test_functions_in_terms_of_others(f: Callable[..., Any]) -> None:
    value, found = value_and_grad(f)(A)
    assert value == pytest.approx(f(A), rel=1e-10)
    np.testing.assert_allclose(found, numeric_gradient(f, (A,)), rtol=1e-6, atol=1e-7)


def _stacked(*shape: int) -> Any:
    return np.random.default_rng(len(shape) + shape[-1]).normal(size=(2, *shape))


STACKS: list[tuple[Callable[..., Any], Any, Any]] = [
    (lambda a, b: scipy.linalg.companion(a) * b, _stacked(4), _stacked(3, 3)),
    (lambda a, b: scipy.linalg.orthogonal_procrustes(a, b)[0], _stacked(3, 3), _stacked(3, 3)),
    (lambda a, b: scipy.linalg.polar(a)[1] @ b, _stacked(3, 3), _stacked(3, 3)),
    (scipy.linalg.khatri_rao, _stacked(2, 3), _stacked(4, 3)),
    (lambda a, b: scipy.linalg.solve_toeplitz(a + 5 * np.eye(4)[0], b), _stacked(4), _stacked(4, 2)),
    (lambda a, b: scipy.linalg.solve_continuous_are(a, b, np.eye(3), np.eye(2)), _stacked(3, 3), _stacked(3, 2)),
    (lambda a, b: scipy.linalg.solve_discrete_are(a / 2, b, np.eye(3), np.eye(2)), _stacked(3, 3), _stacked(3, 2)),
    (scipy.linalg.eigvalsh_tridiagonal, _stacked(4), _stacked(3)),
    (lambda a, b: scipy.linalg.eigh_tridiagonal(a, b)[1] ** 2, _stacked(4), _stacked(3)),
    (lambda a, b: scipy.linalg.solve_banded((1, 1), a + 5 * np.eye(3)[:, 1:2], b), _stacked(3, 4), _stacked(4, 2)),
    (lambda a, b: scipy.linalg.eigh(a, np.eye(3) + b @ b.mT)[0], _stacked(3, 3), _stacked(3, 3)),
    (lambda a, b: scipy.linalg.expm_frechet(a, b)[1], _stacked(3, 3), _stacked(3, 3)),
]


@pytest.mark.skipif(not hasattr(scipy.linalg, "khatri_rao") or scipy.__version__ < "1.16", reason="no stacks")
@pytest.mark.parametrize("which", range(len(STACKS)))
def test_derivatives_of_stacks_are_those_of_each(which: int) -> None:
    f, a, b = STACKS[which]

    def total(a: Any, b: Any) -> Any:
        return np.sum(np.sin(f(a, b)))

    each = [grad(total, (0, 1))(*pair) for pair in zip(a, b, strict=True)]
    for found, of_each in zip(grad(total, (0, 1))(a, b), zip(*each, strict=True), strict=True):
        np.testing.assert_allclose(found, np.stack(of_each), rtol=1e-9, atol=1e-12)
    # One matrix beside a stack of the others gets the sum.
    dot = np.cos(np.arange(a[0].size)).reshape(a[0].shape)
    shared = grad(total, (0, 1))(a[0], b)
    of_shared = [grad(total, (0, 1))(a[0], right) for right in b]
    np.testing.assert_allclose(shared[0], sum(bars[0] for bars in of_shared), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(jvp(total, (a[0], b), (dot, b))[1], np.sum(shared[0] * dot) + np.sum(shared[1] * b))


@pytest.mark.parametrize("b", [1.5, Y[:3], X[:3]])
@pytest.mark.parametrize("a", [2.5, np.array([2.5]), 2.5 + 0.3j])
@pytest.mark.parametrize("structure", [None, "pos", "sym"])
def test_a_number_for_a_matrix_divides_all_of_the_right_hand_side(a: Any, b: Any, structure: Any) -> None:
    def total(a: Any) -> Any:
        return np.sum(np.abs(solve(a, b, assume_a=structure)) ** 2)

    size = np.sum(np.square(b))
    np.testing.assert_allclose(grad(total)(a), -2 * size / a / np.abs(a) ** 2)
    np.testing.assert_allclose(jvp(total, (a,), (a,))[1], -2 * size / np.abs(a) ** 2)


def test_matrix_of_one_number_inside_a_program() -> None:
    b = np.array([1.0, 2.0, 3.0])

    def f(w: Any) -> Any:
        return np.sum(linalg.solve(np.array([[w[0]]]), b) ** 2)

    w = np.array([2.0])
    np.testing.assert_allclose(grad(f)(w), numeric_gradient(f, (w,), 0), rtol=1e-8)


FUNCTIONS_OF_MATRICES = [
    scipy.linalg.sinhm, scipy.linalg.coshm, scipy.linalg.tanhm, scipy.linalg.sinm, scipy.linalg.cosm, scipy.linalg.tanm,
    scipy.linalg.logm, scipy.linalg.expm,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS_OF_MATRICES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", [2.0**40, 2.0**-40])
def test_derivatives_of_functions_of_matrices_are_linear_in_adjoints_of_any_size(function: Any, size: float) -> None:
    a = A / 3

    def f(a: Any, size: float) -> Any:
        return np.sum(size * function(a) * np.arange(1.0, 17.0).reshape(4, 4))

    np.testing.assert_allclose(grad(f)(a, size) / size, grad(f)(a, 1.0), rtol=1e-12, atol=1e-13)
    large = jvp(lambda a: function(a), (a,), (size * a,))[1]
    np.testing.assert_allclose(large / size, jvp(lambda a: function(a), (a,), (a,))[1], rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("size", [2.0**40, 2.0**-40])
def test_second_derivatives_of_exponentials_are_linear_in_directions_of_any_size(size: float) -> None:
    def f(a: Any, e: Any) -> Any:
        return np.sum(scipy.linalg.expm_frechet(a, e, compute_expm=False) * np.arange(16.0).reshape(4, 4))

    a, e = A / 3, np.cos(A)
    np.testing.assert_allclose(grad(f)(a, size * e) / size, grad(f)(a, e), rtol=1e-12)


PENCIL = np.array([[1.0, 0.2, 0.1], [0.3, 2.0, 0.1], [0.1, 0.2, 1.5]])


def test_eigenvalues_of_two_matrices() -> None:
    def f(a: Any, b: Any) -> Any:
        w, v = linalg.eig(a, b)
        return np.sum(np.abs(w - 0.3) ** 2) + np.sum(np.abs(v) ** 4)

    def g(a: Any, b: Any) -> Any:
        w = linalg.eigvals(a, b)
        return np.sum(w.real**2) - np.sum(np.abs(w.imag) ** 3)

    turned = np.array([[2.0, 0.3, 0.1], [0.2, 1.5, -0.9], [0.3, 0.8, 1.0]])
    for h in f, g:
        for i in 0, 1:
            expected = numeric_gradient(h, (turned, PENCIL), i)
            np.testing.assert_allclose(grad(h, i)(turned, PENCIL), expected, rtol=1e-6, atol=1e-8)


def test_phases_of_vectors_of_two_matrices_are_refused() -> None:
    turned = np.array([[2.0, 0.3, 0.1], [0.2, 1.5, -0.9], [0.3, 0.8, 1.0]])
    with pytest.raises(UndefinedDerivativeError, match="phases of complex eigenvectors"):
        grad(lambda a: np.sum(linalg.eig(a, PENCIL)[1].real))(turned)
    with pytest.raises(UndefinedDerivativeError, match="singular second matrix"):
        grad(lambda b: linalg.eigvals(PENCIL, b).real[0])(np.diag([1.0, 2.0, 0.0]))
