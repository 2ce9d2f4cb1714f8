"""What the walk over all rules cannot see of linear algebra: triangles, phases, kinks, singular matrices."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import check_grads, grad, hessian, jvp, ops, vjp
from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.matrices import ratio
from s2sad.runtime.norms import norm_gradient
from s2sad.runtime.systems import cofactor, cofactor_derivative
from tests.oracle import leaves, numeric_gradient, pairing, richardson_jvp, tree_map


def body(f: Callable[..., Any], which: str, **names: Any) -> Any:
    """Call the ``vjp`` or ``jvp`` of the rule of ``f`` with those of ``names`` that it takes."""
    found = ops.find(f)
    assert found is not None
    text = getattr(found, which)
    return text(**{n: names[n] for n in inspect.signature(text).parameters if n in names})


def hermitian(*shape: int, seed: int = 0, complex_: bool = False) -> Any:
    generator = np.random.default_rng(seed)
    a = generator.normal(size=shape) + (1j * generator.normal(size=shape) if complex_ else 0)
    return (a + np.conj(np.swapaxes(a, -1, -2))) / 2


def definite(*shape: int, complex_: bool = False) -> Any:
    return hermitian(*shape, complex_=complex_) + 5 * np.eye(shape[-1])


def unread(a: Any, upper: bool) -> Any:
    """Other numbers in the triangle of ``a`` that is not read, and imaginary parts on a complex diagonal."""
    other = np.random.default_rng(4).normal(size=a.shape)
    low = np.tril(np.ones(a.shape[-2:], bool), -1)
    a = np.where(low if upper else low.T, other, a)
    return a + 1j * other * np.eye(a.shape[-1]) if np.iscomplexobj(a) else a


def check_triangle(
    f: Callable[..., Any],
    a: Any,
    reads_upper: bool,
    result: Callable[[Any], Any] = lambda z: z,
    **options: Any,
) -> None:
    """Compare both modes of a rule with differences along a direction without symmetry.

    ``result`` takes from the result of ``f`` what does not depend on the choice of phases.
    """
    a, generator = unread(a, reads_upper), np.random.default_rng(1)
    a_dot = generator.normal(size=a.shape) + (1j * generator.normal(size=a.shape) if np.iscomplexobj(a) else 0)
    z = f(a, **options)
    numeric = richardson_jvp(lambda x: result(f(x, **options)), [a], [a_dot], step=2e-3)
    z_dot = body(f, "jvp", z=z, a=a, a_dot=a_dot, **options)
    if result(z) is z:
        for x, y in zip(leaves(z_dot), leaves(numeric), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-8, atol=1e-9)
    z_bar = tree_map(lambda x: generator.normal(size=np.shape(x)) + 0j * x, z)
    if np.iscomplexobj(a):
        z_bar = tree_map(lambda x: x + 1j * generator.normal(size=np.shape(x)), z_bar)
    a_bar = body(f, "vjp", z=z, z_bar=z_bar, a=a, **options)
    assert a_bar.shape == a.shape
    assert not np.any(np.tril(a_bar, -1) if reads_upper else np.triu(a_bar, 1))
    assert not np.any(np.imag(np.diagonal(a_bar, axis1=-2, axis2=-1)))
    np.testing.assert_allclose(pairing(a_bar, a_dot), pairing(z_bar, z_dot), rtol=1e-10)


@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (2, 3, 3)])
def test_cholesky(shape: tuple[int, ...], upper: bool, complex_: bool) -> None:
    options = {"upper": True} if upper else {}
    check_triangle(np.linalg.cholesky, definite(*shape, complex_=complex_), upper, **options)


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (2, 3, 3)])
@pytest.mark.parametrize("triangle", ["L", "U", "l", "u"])
@pytest.mark.parametrize("complex_", [False, True])
def test_eigvalsh(shape: tuple[int, ...], triangle: str, complex_: bool) -> None:
    check_triangle(np.linalg.eigvalsh, hermitian(*shape, complex_=complex_), triangle in "uU", UPLO=triangle)


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (2, 3, 3)])
@pytest.mark.parametrize("triangle", ["L", "U", "l", "u"])
def test_eigh_of_real_matrices(shape: tuple[int, ...], triangle: str) -> None:
    check_triangle(np.linalg.eigh, hermitian(*shape), triangle in "uU", UPLO=triangle)


@pytest.mark.parametrize("triangle", ["L", "U"])
def test_eigh_of_complex_matrices_in_a_loss_without_phases(triangle: str) -> None:
    """``sum(|v|**2 * c)`` does not depend on the phases of the vectors."""
    generator = np.random.default_rng(3)
    a, c = unread(hermitian(3, 3, complex_=True), triangle == "U"), generator.normal(size=(3, 3))
    a_dot = generator.normal(size=(3, 3)) + 1j * generator.normal(size=(3, 3))
    w, v = np.linalg.eigh(a, triangle)
    a_bar = body(np.linalg.eigh, "vjp", z=(w, v), z_bar=(2 * w, 2 * c * np.conj(v)), a=a, UPLO=triangle)

    def loss(x: Any) -> Any:
        values, vectors = np.linalg.eigh(x, triangle)
        return np.sum(values**2) + np.sum(np.abs(vectors) ** 2 * c)

    np.testing.assert_allclose(pairing(a_bar, a_dot), richardson_jvp(loss, [a], [a_dot]), rtol=1e-8)


WEIGHTS = np.random.default_rng(5).normal(size=(3, 3))


def factor(a: Any) -> Any:
    return np.sum(np.linalg.cholesky(a) * WEIGHTS)


def upper_factor(a: Any) -> Any:
    return np.sum(np.linalg.cholesky(a, upper=True) * WEIGHTS)


def choice_of_factor(a: Any, upper: bool) -> Any:
    return np.sum(np.linalg.cholesky(a, upper=upper) * WEIGHTS)


def values_of_lower(a: Any) -> Any:
    return np.sum(np.linalg.eigvalsh(a) * WEIGHTS[0])


def values_of_upper(a: Any) -> Any:
    return np.sum(np.linalg.eigvalsh(a, UPLO="U") * WEIGHTS[0])


def spectrum(a: Any, triangle: str) -> Any:
    w, v = np.linalg.eigh(a, triangle)
    return np.sum(np.exp(w)) + np.sum(v**2 * WEIGHTS)


@pytest.mark.parametrize(
    ("f", "rest", "upper"),
    [
        (factor, (), False),
        (upper_factor, (), True),
        (choice_of_factor, (False,), False),
        (choice_of_factor, (True,), True),
        (values_of_lower, (), False),
        (values_of_upper, (), True),
        (spectrum, ("L",), False),
        (spectrum, ("U",), True),
    ],
)
def test_the_triangle_that_is_not_read_has_gradient_zero(f: Callable[..., Any], rest: Any, upper: bool) -> None:
    a = unread(definite(3, 3), upper)
    a_bar = grad(f)(a, *rest)
    np.testing.assert_allclose(a_bar, numeric_gradient(f, (a, *rest)), rtol=1e-7, atol=1e-9)
    assert not np.any(np.tril(a_bar, -1) if upper else np.triu(a_bar, 1))
    assert check_grads(f, (a, *rest))


def negative_log_likelihood(length: Any, noise: Any, x: Any, y: Any) -> Any:
    """Of observations of a Gaussian process (Rasmussen and Williams 2006, algorithm 2.1)."""
    k = np.exp(-0.5 * (x[:, None] - x[None, :]) ** 2 / length**2) + noise**2 * np.eye(len(x))
    low = np.linalg.cholesky(k)
    white = np.linalg.solve(low, y)
    return 0.5 * white @ white + np.sum(np.log(np.diag(low)))


def test_a_gaussian_process_has_its_textbook_gradient() -> None:
    """Rasmussen and Williams 2006, equation 5.9: a symmetric matrix passes on the sum of both triangles."""
    x = np.linspace(0.0, 3.0, 6)
    y, length, noise = np.sin(2 * x), 0.8, 0.3
    square = (x[:, None] - x[None, :]) ** 2
    smooth = np.exp(-0.5 * square / length**2)
    inverse = np.linalg.inv(smooth + noise**2 * np.eye(6))
    a = inverse @ y
    rate = inverse - np.outer(a, a)
    expected = 0.5 * np.sum(rate * smooth * square / length**3), noise * np.trace(rate)
    np.testing.assert_allclose(grad(negative_log_likelihood, (0, 1))(length, noise, x, y), expected, rtol=1e-10)


def test_vectors_of_repeated_values_are_refused_unless_the_loss_does_not_see_them() -> None:
    a = np.diag([1.0, 1.0, 2.0])
    w, v = np.linalg.eigh(a)
    a_bar = body(np.linalg.eigh, "vjp", z=(w, v), z_bar=(np.ones(3), np.zeros((3, 3))), a=a)
    np.testing.assert_allclose(a_bar, np.eye(3))
    with pytest.raises(UndefinedDerivativeError, match="repeated"):
        body(np.linalg.eigh, "vjp", z=(w, v), z_bar=(w, np.arange(9.0).reshape(3, 3)), a=a)
    _, v_dot = body(np.linalg.eigh, "jvp", z=(w, v), a=a, a_dot=np.ones((3, 3)))
    with pytest.raises(UndefinedDerivativeError, match="repeated"):
        np.sum(v_dot * v)
    z = np.linalg.svd(np.eye(2))
    with pytest.raises(UndefinedDerivativeError, match="repeated"):
        body(np.linalg.svd, "vjp", a=np.eye(2), z=z, z_bar=(np.array([[1.0, 2.0], [3.0, 4.0]]), z[1], z[2]))


@pytest.mark.parametrize("ord", [None, 1, 2, 3, 1.5, np.inf])
def test_the_norm_of_zero_has_gradient_zero(ord: Any) -> None:
    x = np.zeros(3)
    np.testing.assert_array_equal(body(np.linalg.norm, "vjp", z=0.0, z_bar=1.0, x=x, ord=ord, axis=None), np.zeros(3))


def test_tied_maxima_of_a_norm_share() -> None:
    x = np.array([3.0, -3.0, 1.0])
    np.testing.assert_allclose(norm_gradient(3.0, x, np.inf), [0.5, -0.5, 0.0])
    np.testing.assert_allclose(norm_gradient(2.0, 2 * np.eye(2), 2), np.eye(2) / 2)


def test_rows_of_zeros_do_not_spoil_the_other_rows() -> None:
    x = np.array([[3.0, 4.0], [0.0, 0.0]])
    z = np.linalg.norm(x, axis=1)
    x_bar = body(np.linalg.norm, "vjp", z=z, z_bar=np.ones(2), x=x, axis=1)
    np.testing.assert_allclose(x_bar, [[0.6, 0.8], [0.0, 0.0]])
    np.testing.assert_array_equal(ratio(z, z), [1.0, 0.0])


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_cofactors_of_matrices_of_any_rank(rank: int) -> None:
    """The cofactor (i, j) is the signed determinant of what is left without row i and column j."""
    generator = np.random.default_rng(rank)
    whole = generator.integers(-3, 4, (3, rank)) @ generator.integers(-3, 4, (rank, 3)).astype(float)
    expected = [
        [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(whole, i, 0), j, 1)) for j in range(3)] for i in range(3)
    ]
    np.testing.assert_allclose(cofactor(whole), expected, atol=1e-10 * (1 + np.abs(whole).max()) ** 2)


def test_the_second_derivative_at_a_singular_matrix_is_refused() -> None:
    a = np.diag([1.0, 0.0])
    with pytest.raises(UndefinedDerivativeError, match="singular"):
        cofactor_derivative(np.eye(2), cofactor(a), a)


def test_slogdet_has_a_derivative_where_a_matrix_is_regular() -> None:
    stack = np.random.default_rng(5).normal(size=(3, 2, 2))
    stack[1] = [[1.0, 2.0], [2.0, 4.0]]

    def finite(a: Any) -> Any:
        sign, logarithm = np.linalg.slogdet(a)
        return np.sum(np.where(sign == 0, 0.0, logarithm))

    found = grad(finite)(stack)
    np.testing.assert_allclose(found[[0, 2]], np.swapaxes(np.linalg.inv(stack[[0, 2]]), 1, 2), rtol=1e-12)
    np.testing.assert_array_equal(found[1], 0.0)
    for a in (stack, stack[1]):
        with pytest.raises(UndefinedDerivativeError, match="determinant of a singular matrix"):
            grad(lambda a: np.sum(np.linalg.slogdet(a)[1]))(a)
        with pytest.raises(UndefinedDerivativeError, match="determinant of a singular matrix"):
            jvp(lambda a: np.linalg.slogdet(a)[1], (a,), (np.ones_like(a),))


def test_slogdet_of_complex_matrices_turns_with_the_sign() -> None:
    generator = np.random.default_rng(0)
    a, a_dot = (generator.normal(size=(3, 3)) + 1j * generator.normal(size=(3, 3)) for _ in range(2))
    z = np.linalg.slogdet(a)
    z_bar = (0.3 - 0.7j, 1.3)
    a_bar = body(np.linalg.slogdet, "vjp", z=z, z_bar=z_bar, a=a)
    sign_dot, log_dot = richardson_jvp(lambda x: tuple(np.linalg.slogdet(x)), [a], [a_dot])
    np.testing.assert_allclose(pairing(a_bar, a_dot), np.real(z_bar[0] * sign_dot) + 1.3 * log_dot, rtol=1e-8)


def test_pinv_of_a_matrix_that_keeps_its_deficient_rank() -> None:
    generator = np.random.default_rng(1)
    b, c, b_dot = generator.normal(size=(4, 2)), generator.normal(size=(2, 3)), generator.normal(size=(4, 2))
    a, a_dot = b @ c, b_dot @ c
    z_bar = generator.normal(size=(3, 4))
    a_bar = body(np.linalg.pinv, "vjp", z=np.linalg.pinv(a), z_bar=z_bar, a=a)
    numeric = richardson_jvp(lambda x: np.linalg.pinv(x @ c), [b], [b_dot], step=1e-3)
    np.testing.assert_allclose(pairing(a_bar, a_dot), pairing(z_bar, numeric), rtol=1e-7)


@pytest.mark.filterwarnings("ignore:Polyfit may be poorly conditioned")
def test_a_fit_that_leaves_out_small_singular_values_is_differentiated_as_such() -> None:
    x, y = np.array([0.1, 0.5, 0.9, 1.4, 2.0]), np.array([1.0, 3.0, 2.0, 5.0, 4.0])

    def of_few(x: Any, y: Any) -> Any:
        return np.sum(np.polyfit(x, y, 3, 0.1) * np.arange(4))

    def of_equal_points(y: Any) -> Any:
        return np.sum(np.polyfit(np.ones(5), y, 2) * np.arange(3))

    def of_points_in_a_list(y: Any) -> Any:
        return np.sum(np.polyfit([0.1, 0.5, 0.9, 1.4, 2.0], y, 2) * np.arange(3))

    def of_more_coefficients_than_points(x: Any, y: Any) -> Any:
        return np.sum(np.polyfit(x[:2], y[:2], 3) * np.arange(4))

    check_grads(of_few, (x, y), 2, ("rev", "fwd"))
    check_grads(of_equal_points, (y,), 1, ("rev", "fwd"))
    check_grads(of_points_in_a_list, (y,), 1, ("rev", "fwd"))
    check_grads(of_more_coefficients_than_points, (x, y), 1, ("rev", "fwd"))


def test_forms_without_derivative_are_refused() -> None:
    generator = np.random.default_rng(2)
    tall = generator.normal(size=(4, 2))
    for f, a, text, options in (
        (np.linalg.svd, tall, "complete a basis", {}),
        (np.linalg.qr, tall, "complete a basis", {"mode": "complete"}),
        (np.linalg.qr, tall, "reflections", {"mode": "raw"}),
        (np.linalg.qr, np.ones((2, 3)), "linearly dependent", {}),
        (np.linalg.svd, np.diag([1.0, 0.0])[:, :1] @ np.ones((1, 3)), "deficient rank", {"full_matrices": False}),
        (np.linalg.eigvals, np.array([[1.0, 1.0], [0.0, 1.0]]), "defective", {}),
        (np.linalg.eigvals, np.array([[0.0, 1.0], [0.0, 0.0]]), "defective", {}),
        (np.linalg.eig, np.eye(2), "repeated", {}),
        (np.linalg.cond, np.ones((2, 2)) - np.eye(2) + np.eye(2), "singular", {"p": 1}),
    ):
        z = f(a, **options)
        z_bar = tree_map(lambda x: generator.normal(size=np.shape(x)) + 0 * np.where(np.isfinite(x), x, 0), z)
        with pytest.raises(UndefinedDerivativeError, match=text):
            body(f, "vjp", a=a, x=a, z=z, z_bar=z_bar, **options)


def squared(x: Any, weight: float = 1.0) -> Any:
    return weight * np.linalg.norm(x) ** 2


def regularised(x: Any, weight: float) -> Any:
    return np.sum(np.sin(x)) + 0.5 * weight * np.linalg.norm(x) ** 2 - np.linalg.norm(x) ** 4


@pytest.mark.parametrize("x", [np.zeros(2), np.array([0.3, 0.4])], ids=["zero", "other"])
def test_the_square_of_a_norm_is_smooth_where_it_vanishes(x: Any) -> None:
    np.testing.assert_allclose(hessian(squared)(x), 2.0 * np.eye(2), rtol=1e-12)
    for f, given in ((squared, (x, 0.3)), (regularised, (x, 0.3))):
        expected = [richardson_jvp(grad(f), given, (row, None)) for row in np.eye(2)]
        np.testing.assert_allclose(hessian(f)(*given), expected, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(vjp(lambda x, f=f: grad(f)(x, 0.3), x)[1](np.eye(2)[0])[0], expected[0], atol=1e-9)
