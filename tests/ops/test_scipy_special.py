"""Derivatives of ``scipy.special`` where the textbook formula has no value, what is refused, and whole programs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

from s2sad import grad, hvp, jvp, vjp
from s2sad.errors import S2SADError, UndefinedDerivativeError
from tests.oracle import numeric_gradient, richardson_jvp
from tests.transform.remaining import check_both_modes

GAMMA = 0.57721566490153286
INF = math.inf


def slope(f: Callable[..., Any], *args: float, argnums: int = 0) -> float:
    """The derivative of a function of numbers, through an array, so that a zero adjoint is seen too."""

    first = np.array([args[argnums]])
    if len(args) == 1:
        gradient = grad(lambda x: np.sum(f(x)))(first)
    elif argnums == 0:
        gradient = grad(lambda x, y: np.sum(f(x, y)))(first, args[1])
    else:
        gradient = grad(lambda x, y: np.sum(f(y, x)))(first, args[0])
    assert gradient.shape == (1,)
    return float(gradient[0])


CLOSED: list[tuple[Callable[..., Any], tuple[float, ...], int, float]] = [
    # The reciprocal gamma function is entire: (-1)^n n! at -n.
    (lambda x: special.rgamma(x), (0.0,), 0, 1.0),
    (lambda x: special.rgamma(x), (-4.0,), 0, 24.0),
    (lambda x: special.gammaln(x), (1.0,), 0, -GAMMA),
    (lambda x: special.digamma(x), (1.0,), 0, math.pi**2 / 6),
    (lambda x: special.zeta(2, x), (1.0,), 0, -2 * 1.2020569031595942),
    # Polynomials at their zeros: x (x + 1) (x + 2) and n (n - 1) (n - 2) / 6.
    (lambda x: special.poch(x, 3), (0.0,), 0, 2.0),
    (lambda x: special.poch(x, 3), (-1.0,), 0, -1.0),
    (lambda x: special.binom(x, 3), (1.0,), 0, -1 / 6),
    (lambda x: special.comb(x, 3), (1.0,), 0, 0.0),
    # Limits at 0.
    (lambda x: special.j1(x), (0.0,), 0, 0.5),
    (lambda x: special.i1(x), (0.0,), 0, 0.5),
    (lambda x: special.jv(2, x), (0.0,), 0, 0.0),
    (lambda x: special.ellipk(x), (0.0,), 0, math.pi / 8),
    (lambda x: special.ellipe(x), (0.0,), 0, -math.pi / 8),
    (lambda x: special.exprel(x), (0.0,), 0, 0.5),
    (lambda x: special.lambertw(x).real, (0.0,), 0, 1.0),
    (lambda x: special.spence(x), (1.0,), 0, -1.0),
    (lambda x: special.sici(x)[0], (0.0,), 0, 1.0),
    (lambda x: special.shichi(x)[0], (0.0,), 0, 1.0),
    (lambda x, lam: special.boxcox(x, lam), (2.0, 0.0), 1, math.log(2) ** 2 / 2),
    (lambda x, lam: special.boxcox(x, lam), (0.0, 1.5), 1, 1 / 1.5**2),
    (lambda y, lam: special.inv_boxcox(y, lam), (0.7, 0.0), 1, -0.5 * 0.49 * math.exp(0.7)),
    (lambda n, x: special.eval_legendre(n, x), (4, 1.0), 1, 10.0),
    (lambda n, x: special.eval_chebyt(n, x), (4, -1.0), 1, -16.0),
    (lambda n, x: special.eval_hermite(n, x), (0, 0.3), 1, 0.0),
    # At the edge of the domain a zero adjoint contributes zero.
    (lambda x, y: special.xlogy(x, y), (0.0, 0.0), 1, 0.0),
    (lambda x, y: special.xlogy(x, y), (0.0, 3.0), 0, math.log(3)),
    (lambda x: special.xlogy(0.0, x) * 2, (0.0,), 0, 0.0),
    (lambda x: special.xlogy(2.0, x) * 0.0, (1.0,), 0, 0.0),
    (lambda x: special.entr(x) ** 2, (0.0,), 0, 0.0),
    (lambda x: special.entr(x), (0.0,), 0, INF),
    (lambda x, y: special.rel_entr(x, y), (0.0, 0.5), 1, 0.0),
    (lambda x, y: special.kl_div(x, y), (0.0, 0.0), 1, 1.0),
    (lambda x: special.xlog1py(0.0, x), (-1.0,), 0, 0.0),
    # Large arguments.
    (lambda x: special.expit(x), (800.0,), 0, 0.0),
    (lambda x: special.expit(x), (-800.0,), 0, 0.0),
    (lambda x: special.log_expit(x), (-800.0,), 0, 1.0),
    (lambda x: special.log_expit(x), (800.0,), 0, 0.0),
    (lambda x: special.log_ndtr(x), (-1e6,), 0, 1e6),
    (lambda x: special.log_ndtr(x), (50.0,), 0, 0.0),
    (lambda x: special.ndtr(x), (-60.0,), 0, 0.0),
    (lambda x: special.dawsn(x), (1e7,), 0, -0.5e-14),
    (lambda x: special.erfcx(x), (1e7,), 0, -1e-14 / math.sqrt(math.pi)),
    (lambda x: special.ndtri_exp(x), (-1e14,), 0, 1 / math.sqrt(2e14)),
    (lambda d, r: special.huber(d, r), (1.0, 5.0), 0, 4.0),
    (lambda d, r: special.pseudo_huber(d, r), (1.0, 0.0), 0, 0.0),
]


@pytest.mark.parametrize(("f", "args", "argnums", "expected"), CLOSED)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_where_the_formula_has_no_value_the_limit_is_right(
    f: Callable[..., Any], args: tuple[float, ...], argnums: int, expected: float
) -> None:
    np.testing.assert_allclose(slope(f, *args, argnums=argnums), expected, rtol=2e-6 if abs(expected) > 1e5 else 1e-9)


# --- sums of exponentials ---


def lse(x: Any) -> Any:
    return special.logsumexp(x)


def lse_rows(x: Any) -> Any:
    return np.sum(special.logsumexp(x, axis=1))


def lse_weighed(x: Any, b: Any) -> Any:
    return special.logsumexp(x, b=b)


def log_soft(x: Any) -> Any:
    return special.log_softmax(x)[0]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_infinities_in_sums_of_exponentials() -> None:
    np.testing.assert_array_equal(grad(lse)(np.array([0.0, -INF, 0.0])), [0.5, 0.0, 0.5])
    np.testing.assert_array_equal(grad(lse)(np.array([-INF, -INF])), [0.5, 0.5])
    np.testing.assert_array_equal(grad(lse)(np.array([1.0, INF])), [0.0, 1.0])
    np.testing.assert_allclose(grad(lse_rows)(np.array([[-INF, -INF], [1.0, 1.0]])), np.full((2, 2), 0.5))
    np.testing.assert_allclose(grad(lse_weighed)(np.array([INF, 0.3]), np.array([0.0, 2.0])), [0.0, 1.0])
    np.testing.assert_array_equal(grad(log_soft)(np.array([0.0, -INF, 0.0])), [0.5, 0.0, -0.5])
    np.testing.assert_array_equal(grad(log_soft)(np.array([900.0, -900.0])), [0.0, 0.0])


def test_the_sign_of_a_complex_sum_is_refused() -> None:
    def f(x: Any) -> Any:
        size, sign = special.logsumexp(x + 1j, return_sign=True)
        return size + np.real(sign)

    with pytest.raises(UndefinedDerivativeError, match="sign of a sum of complex"):
        grad(f)(np.array([0.3, 0.7]))


# --- refusals ---

REFUSED: list[tuple[Callable[..., Any], str]] = [
    (lambda x: np.sum(special.jv(x, 1.5)), "special.jv has no derivative with respect to its argument 'v'"),
    (lambda x: np.sum(special.kv(x, 1.5)), "special.kv has no derivative with respect to its argument 'v'"),
    (lambda x: np.sum(special.expn(x, 1.5)), "special.expn has no derivative with respect to its argument 'order'"),
    (lambda x: np.sum(special.hyp0f1(x, 1.5)), "special.hyp0f1 has no derivative with respect to its argument 'v'"),
    (lambda x: np.sum(special.eval_legendre(x, 0.5)), "with respect to its argument 'degree'"),
    (lambda x: np.sum(special.hyp2f1(x, 1.0, 2.0, 0.5)), "with respect to its argument 'a'"),
    (lambda x: special.legendre(x[0])(0.5), "use special.eval_legendre"),
    (lambda x: special.smirnov(3, x[0]), "special.smirnov has no derivative rule"),
]


@pytest.mark.parametrize(("f", "message"), REFUSED)
def test_what_has_no_closed_form_is_refused_by_name(f: Callable[..., Any], message: str) -> None:
    with pytest.raises(S2SADError) as caught:
        grad(f)(np.array([0.5, 0.7]))
    assert message in str(caught.value)


# --- programs ---

RANDOM = np.random.default_rng(7)
X = RANDOM.normal(size=(6, 3))
W = RANDOM.normal(size=3)
Y = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0])


def logistic(w: Any, x: Any, y: Any) -> Any:
    z = x @ w
    return -np.mean(y * special.log_expit(z) + (1 - y) * special.log_expit(-z))


def poisson(w: Any, x: Any, counts: Any) -> Any:
    eta = x @ w
    return -np.sum(counts * eta - np.exp(eta) - special.gammaln(counts + 1))


def beta_binomial(w: Any, k: Any, n: Any) -> Any:
    a, b = np.exp(w[0]), np.exp(w[1])
    return -np.sum(special.betaln(k + a, n - k + b) - special.betaln(a, b))


def matern(w: Any, x: Any, y: Any) -> Any:
    nu = 1.5
    d = x[:, None, :] - x[None, :, :]
    r = np.sqrt(np.sum(d**2, axis=-1) + 1e-6) * np.sqrt(2 * nu) / np.exp(w[0])
    k = np.exp(w[1]) * 2 ** (1 - nu) / special.gamma(nu) * r**nu * special.kv(nu, r) + 0.1 * np.eye(len(y))
    return 0.5 * y @ np.linalg.solve(k, y) + 0.5 * np.linalg.slogdet(k)[1]


def mixture(w: Any, means: Any, x: Any) -> Any:
    log_density = -0.5 * (x[:, None] - means) ** 2
    return -np.sum(special.logsumexp(log_density + special.log_softmax(w), axis=1))


def mixture_of_shares(w: Any, means: Any, x: Any) -> Any:
    return -np.sum(special.logsumexp(-0.5 * (x[:, None] - means) ** 2, axis=1, b=special.softmax(w)))


def written(w: Any) -> Any:
    out = np.zeros_like(w)
    special.expit(w, out=out)
    return np.sum(out * special.erf(w, where=w > 0, out=np.zeros_like(w)))


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (logistic, (X, Y)),
    (poisson, (X, np.arange(6.0))),
    (beta_binomial, (np.arange(5.0), 10)),
    (matern, (X, Y - 0.5)),
    (mixture, (np.array([-1.0, 0.0, 2.0]), X[:, 0])),
    (mixture_of_shares, (np.array([-1.0, 0.0, 2.0]), X[:, 0])),
    (written, ()),
]


@pytest.mark.parametrize(("f", "more"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_losses(f: Callable[..., Any], more: tuple[Any, ...]) -> None:
    gradient = grad(f)(W, *more)
    for i, unit in enumerate(np.eye(3)):
        expected = richardson_jvp(lambda w: f(w, *more), [W], [unit])
        np.testing.assert_allclose(gradient[i], expected, rtol=1e-8, atol=1e-10)


def test_complex_results_of_real_arguments() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.abs(special.hankel1(1, x)) ** 2 + special.wofz(x).imag + special.lambertw(x).real)

    x = np.array([0.5, 1.5])
    for i, unit in enumerate(np.eye(2)):
        np.testing.assert_allclose(grad(f)(x)[i], richardson_jvp(f, [x], [unit]), rtol=1e-9)


def test_single_precision_stays() -> None:
    def f(x: Any) -> Any:
        return np.sum(special.xlogy(x, x + 1) + special.logsumexp(x) + special.expit(x) + special.kv(1, x))

    x = np.array([0.5, 1.5], np.float32)
    gradient = grad(f)(x)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, grad(f)(x.astype(np.float64)), rtol=1e-5)


# --- incomplete functions by their shape parameters ---

#: Central differences in 40 digits (mpmath).
FAR: list[tuple[Callable[..., Any], tuple[float, ...], float]] = [
    (lambda a, x: special.gammainc(a, x), (0.02, 0.01), -3.7529984494853),
    (lambda a, x: special.gammainc(a, x), (300.0, 420.0), -1.0243097672187e-10),
    (lambda a, x: special.gammaincc(a, x), (50.0, 9.0), 4.3864857787024e-21),
    (lambda a, x: special.betainc(a, 0.05, x), (120.0, 0.97), -1.2025319533321e-5),
    (lambda b, x: special.betainc(40.0, b, x), (3.0, 0.35), 5.2099781262857e-16),
]


@pytest.mark.parametrize(("f", "args", "expected"), FAR)
def test_incomplete_functions_have_derivatives_by_shapes_in_tails(
    f: Callable[..., Any], args: tuple[float, ...], expected: float
) -> None:
    assert grad(f)(*args) == pytest.approx(expected, rel=1e-11)


# --- distribution functions, and functions by their derivatives

Q = np.array([0.3, 0.7])


def by_distributions(x: Any) -> Any:
    tails = np.sum(special.stdtr(3, x) * special.fdtr(2, 5, x)) + np.sum(special.chdtrc(x + 2, x) * special.pdtr(2, x))
    places = np.sum(special.stdtrit(4, x)) + np.sum(special.bdtri(2, 6, x)) + np.sum(special.gdtrix(x, 2.0, 0.4))
    return tails + places * np.sum(special.bdtr(2, 5, x) * special.nbdtr(1, 3, x))


def by_profile(x: Any) -> Any:
    return np.sum(special.voigt_profile(np.linspace(-1, 2, 5), x[0], x[1]) ** 2)


def by_slopes(x: Any) -> Any:
    real = np.sum(special.jvp(1, x) * special.kvp(2, x, 2)) + np.sum(special.spherical_jn(2, x, True) ** 2)
    turned = np.abs(special.h1vp(1, x)) ** 2 + np.imag(special.hankel1e(1, x))
    return real + np.sum(turned) + np.sum(special.ber(x) * special.kei(x)) + np.sum(special.lpmv(1, 3, x / 2))


def in_degrees(x: Any) -> Any:
    return np.sum(special.sindg(70 * x) * special.tandg(30 * x)) + special.elliprf(x[0], x[1], 1.2) * x[0]


@pytest.mark.parametrize("f", [by_distributions, by_profile, by_slopes, in_degrees])
def test_functions_by_their_derivatives(f: Callable[..., Any]) -> None:
    found, dot = grad(f)(Q), np.array([0.4, -0.9])
    np.testing.assert_allclose(found, numeric_gradient(f, (Q,)), rtol=1e-7, atol=1e-8)
    assert jvp(f, (Q,), (dot,))[1] == pytest.approx(found @ dot, rel=1e-9)


#: Smooth functions where their derivatives are written with a pole, or with another formula: 0, 1 and others.
SMOOTH: list[tuple[Callable[[Any], Any], list[float]]] = [
    (special.dawsn, [0.0, 0.4]),
    (special.erfcx, [0.0, 60.0]),
    (special.spence, [1.0, 1.05, 0.95, 3.0]),
    (special.rgamma, [0.0, -1.0, -2.0, 0.5, 0.49]),
    (special.ber, [0.0, 0.7]),
    (special.bei, [0.0, 0.7]),
    (lambda x: special.sici(x)[0], [0.0, 0.7]),
    (lambda x: special.shichi(x)[0], [0.0, 0.7]),
    (lambda x: special.struve(0, x), [0.0, 0.7]),
    (lambda x: special.modstruve(0, x), [0.0, 0.7]),
    (lambda x: special.spherical_jn(1, x), [0.0, 0.7]),
    (lambda x: special.spherical_jn(2, x), [0.0, 1e-6]),
    (lambda x: special.spherical_in(1, x), [0.0, 0.7]),
    (lambda x: np.real(special.lambertw(x)), [0.0, 0.7]),
]


@pytest.mark.parametrize("case", SMOOTH, ids=range(len(SMOOTH)))
def test_second_derivatives_where_functions_are_smooth(case: tuple[Callable[[Any], Any], list[float]]) -> None:
    f, points = case
    x, dot = np.array(points), np.linspace(1.0, 2.0, len(points))

    def total(x: Any) -> Any:
        return np.sum(f(x) * np.linspace(0.5, 1.0, len(points)))

    slope = grad(total)
    expected = richardson_jvp(slope, (x,), (dot,))
    np.testing.assert_allclose(slope(x), numeric_gradient(total, (x,)), rtol=1e-7, atol=1e-10)
    with np.errstate(divide="ignore", invalid="ignore"):
        # The other result of sici and shichi is infinite at 0.
        np.testing.assert_allclose(jvp(slope, (x,), (dot,))[1], expected, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(vjp(slope, x)[1](dot)[0], expected, rtol=1e-7, atol=1e-10)


def polynomials(x: Any) -> Any:
    return np.sum(special.binom(x, 3.0) * special.poch(x - 3.0, 2.0)) + np.sum(special.binom(x, 2.0))


def of_both(x: Any) -> Any:
    y = x + 0.4
    return np.sum(special.binom(y + 4.0, y) * special.comb(y + 5.0, 0.3 * y)) + np.sum(special.poch(y, 2.0 * y))


@pytest.mark.parametrize("f", [polynomials, of_both, lambda x: np.sum(special.log_ndtr(70.0 * x))])
def test_second_derivatives_also_at_poles_and_zeros(f: Callable[..., Any]) -> None:
    x, v = np.array([1.0, 2.5, 0.0]), np.array([0.3, -0.8, 1.1])
    expected = richardson_jvp(grad(f), (x,), (v,))
    np.testing.assert_allclose(hvp(f, (x,), (v,)), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("x", "expected"), [(0.0, -2 / np.pi), (800.0, 0.0), (-1e6, -1.0)])
def test_curvature_of_the_logarithm_of_a_probability(x: float, expected: float) -> None:
    assert hvp(lambda t: 1.0 * special.log_ndtr(t), (x,), (1.0,)) == pytest.approx(expected)


@pytest.mark.parametrize("sigma", [0.0, 1e-9, 1e-5, 0.02, 0.3])
def test_narrow_lines(sigma: float) -> None:
    def line(x: Any, sigma: Any, gamma: Any) -> Any:
        return special.voigt_profile(x, sigma, gamma)

    point = 0.9, sigma, 0.4
    slopes = grad(line, (0, 1, 2))(*point)
    for i in 0, 2:
        np.testing.assert_allclose(slopes[i], numeric_gradient(line, point, i), rtol=1e-9)

    def slope(x: Any) -> Any:
        return grad(line)(x, sigma, 0.4)

    # It solves the equation of heat in the square of its width.
    np.testing.assert_allclose(slopes[1], sigma * richardson_jvp(slope, [0.9], [1.0]), rtol=1e-7)


@pytest.mark.parametrize(
    "f",
    [
        lambda v: special.jv(v, 1.3),
        lambda v: special.kv(v, 1.3),
        lambda v: special.hyp2f1(1.0, v, 2.5, 0.4),
        lambda v: special.hyp0f1(v + 2.0, 1.5),
        lambda v: special.eval_gegenbauer(3, v, 0.4),
    ],
)
def test_parameters_without_a_closed_form_are_refused_with_the_reason(f: Callable[..., Any]) -> None:
    with pytest.raises(S2SADError, match="there is no closed form of it") as caught:
        grad(f)(0.7)
    assert "(f(v + h, x) - f(v - h, x)) / (2 * h)" in str(caught.value)


def test_parameters_that_count_are_refused_with_the_reason() -> None:
    with pytest.raises(S2SADError, match="argument 'n': it counts, and is a whole number"):
        grad(lambda n: special.bdtr(1.0, n, 0.3))(4.0)


def test_elliptic_functions_by_the_parameter() -> None:
    def pendulum(m: Any) -> Any:
        sn, cn, dn, phi = special.ellipj(np.array([0.4, 1.3, 2.2]), m)
        return np.sum(sn * cn + dn * phi)

    for m in 0.4, np.array([0.1, 0.5, 0.95]):
        np.testing.assert_allclose(grad(pendulum)(m), numeric_gradient(pendulum, (m,)), rtol=1e-7)
    np.testing.assert_allclose(grad(pendulum)(0.0), (pendulum(1e-6) - pendulum(0.0)) / 1e-6, rtol=1e-4)


def test_quantiles_by_degrees_of_freedom() -> None:
    def width(d: Any) -> Any:
        return special.stdtrit(d, 0.9) * special.fdtri(d, 2.0 * d, 0.3) + special.fdtrc(3.0, d, 1.2)

    np.testing.assert_allclose(grad(width)(3.3), numeric_gradient(width, (3.3,)), rtol=1e-7)


def pendulum(k: Any) -> Any:
    return np.sum(special.ellipk(k**2) ** 2) + np.sum(special.ellipe(k) * special.elliprf(k, 1.0, k**2))


def incomplete(k: Any) -> Any:
    return np.sum(special.ellipkinc(3 * k, k) ** 2) + np.sum(special.ellipeinc(k, 0.3 * k) * special.ellipj(k, 0.4)[0])


def mean(k: Any) -> Any:
    return np.sum(special.agm(k, 1 - k) ** 2) + np.sum(special.elliprc(k, 2 * k)) + np.sum(special.powm1(k, k**2))


@pytest.mark.parametrize("f", [pendulum, incomplete, mean], ids=lambda f: f.__name__)
def test_elliptic_integrals_twice(f: Callable[..., Any]) -> None:
    k, way = np.array([0.2, 0.45, 0.7]), np.array([0.5, -1.0, 0.3])
    expected = numeric_gradient(lambda t: np.sum(grad(f)(t) * way), [k])
    np.testing.assert_allclose(grad(f)(k), numeric_gradient(f, [k]), rtol=1e-8)
    np.testing.assert_allclose(hvp(f, (k,), (way,)), expected, rtol=1e-8)


TRUNCATED: dict[str, Callable[[Any], Any]] = {
    "kn": lambda x: special.kn(2.6, x),
    "yn": lambda x: special.yn(2.6, x),
    "expn": lambda x: special.expn(2.4, x),
    "expn below one": lambda x: special.expn(0.4, x),
    "bdtr": lambda x: special.bdtr(1.4, 3.6, 0.3 * x),
    "bdtrc": lambda x: special.bdtrc(1.4, 3.6, 0.3 * x),
    "bdtri": lambda x: special.bdtri(1.4, 3.6, 0.3 * x),
    "nbdtr": lambda x: special.nbdtr(1.4, 3.6, 0.3 * x),
    "nbdtrc": lambda x: special.nbdtrc(1.4, 3.6, 0.3 * x),
    "nbdtri": lambda x: special.nbdtri(1.4, 3.6, 0.3 * x),
    "spherical": lambda x: special.spherical_jn(1.4, x),
}


@pytest.mark.filterwarnings("ignore:floating point number truncated", "ignore:non-integer arg n")
@pytest.mark.parametrize("name", TRUNCATED)
def test_orders_that_are_no_whole_numbers(name: str) -> None:
    """SciPy truncates them where it counts by them."""
    x = np.array([0.8, 1.7])
    f = lambda x: np.sum(TRUNCATED[name](x) * np.array([1.0, 0.7]))  # noqa: E731
    check_both_modes(f, x, np.array([0.6, -0.8]))


def test_exponents_of_the_zeta_function() -> None:
    x = np.array([-2.0, -6.3, 0.4, 1.2, 2.7, 30.0])
    slope = richardson_jvp(special.zetac, (x,), (np.ones(6),))
    np.testing.assert_allclose(grad(lambda x: np.sum(special.zetac(x)))(x), slope, rtol=1e-8)
    np.testing.assert_allclose(grad(lambda x: np.sum(special.zeta(x)))(x), slope, rtol=1e-8)
    with pytest.raises(S2SADError, match="second order below"):
        jvp(grad(lambda x: np.sum(special.zeta(x))), (x,), (x,))
