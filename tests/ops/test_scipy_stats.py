"""Distributions of ``scipy.stats``: under every form of a call, outside of the support, in the tails, and refused."""

from __future__ import annotations

import math
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats as ss
from scipy import special, stats
from scipy.stats import norm

import s2sad
from s2sad import grad, jvp, ops, value_and_grad
from s2sad.errors import S2SADError
from s2sad.ops.scipy.distributions import CONTINUOUS
from tests.oracle import numeric_gradient, richardson_jvp

ROOT = str(pathlib.Path(s2sad.__file__).parents[1])
X = np.array([0.4, 1.3, 0.9, 2.1])
P = np.array([0.4, 1.3])


def test_a_method_is_known_by_its_object_and_function() -> None:
    assert stats.norm.logpdf is not stats.norm.logpdf
    found = ops.find(stats.norm.logpdf)
    assert found is not None
    assert found is ops.find(norm.logpdf)
    assert found.name == "scipy.stats.norm.logpdf"
    assert ops.find(stats.expon.logpdf) is not found
    assert ops.find(stats.norm.fit) is None


def normal(p: Any, x: Any) -> Any:
    return -np.sum(stats.norm.logpdf(x, loc=p[0], scale=np.exp(p[1])))


def by_position(p: Any, x: Any) -> Any:
    return -np.sum(norm.logpdf(x, p[0], p[1]))


def by_shape_name(p: Any, x: Any) -> Any:
    return np.sum(ss.gamma.logpdf(x, a=p[0], scale=p[1]))


def alias(p: Any, x: Any) -> Any:
    density = norm.pdf
    return np.sum(density(x, p[0], p[1]))


def mixture(p: Any, x: Any) -> Any:
    log_density = norm.logpdf(x[:, None], loc=p, scale=0.7)
    return -np.sum(special.logsumexp(log_density + special.log_softmax(p), axis=1))


def censored(p: Any, x: Any) -> Any:
    return np.sum(stats.weibull_min.logsf(x, p[0], scale=p[1])) + np.sum(stats.lognorm.logcdf(x, p[1], 0, p[0]))


def robust(p: Any, x: Any) -> Any:
    return np.sum(stats.t.logpdf(x - p[0], np.exp(p[1]))) + stats.norm.logsf(p[0])


def quantiles(p: Any, x: Any) -> Any:
    return np.sum(stats.norm.ppf(0.2 * x, p[0], p[1]) + stats.weibull_min.isf(0.2 * x, p[1]))


def poisson(p: Any, x: Any) -> Any:
    k = np.arange(4)
    return -np.sum(stats.poisson.logpmf(k, np.exp(p[0] * k + p[1])))


def counts(p: Any, x: Any) -> Any:
    rate = special.expit(p)
    whole = stats.binom.logpmf(2, 5, rate[0]) + stats.bernoulli.pmf(1, rate[1]) + stats.geom.logpmf(3, rate[0])
    return whole + stats.nbinom.logpmf(3, p[1], rate[0])


def multivariate(p: Any, x: Any) -> Any:
    factor = np.array([[1.0, 0.0], [p[0], p[1]]])
    return stats.multivariate_normal.logpdf(x[:2], mean=p, cov=factor @ factor.T)


def dirichlet(p: Any, x: Any) -> Any:
    return stats.dirichlet.logpdf(special.softmax(p), p + 1) + stats.dirichlet.logpdf(np.array([0.3]), p)


def frozen(p: Any, x: Any) -> Any:
    return np.sum(norm(p[0], scale=np.exp(p[1])).logpdf(x - 1)) + stats.gamma(p[0], 0, 2.0).logpdf(x[0])


def frozen_variable(p: Any, x: Any) -> Any:
    d = stats.norm(loc=p[0], scale=p[1])
    p = p * 3
    total = 0.0
    for i in range(2):
        total = total + d.logpdf(x[i]) * d.cdf(p[0])
    return total


def frozen_constants(p: Any, x: Any) -> Any:
    prior = stats.norm(0.0, 2.5)
    d_1 = np.sum(prior.logpdf(p))
    return d_1 + np.sum(stats.halfnorm(scale=1.5).logpdf(p))


LOSSES = [
    frozen, frozen_variable, frozen_constants,
    normal, by_position, by_shape_name, alias, mixture, censored, robust, quantiles, poisson, counts, multivariate,
    dirichlet,
]  # fmt: skip


@pytest.mark.parametrize("f", LOSSES, ids=lambda f: f.__name__)
def test_losses(f: Callable[..., Any]) -> None:
    gradient = grad(f)(P, X)
    for i, unit in enumerate(np.eye(2)):
        np.testing.assert_allclose(gradient[i], richardson_jvp(lambda p: f(p, X), [P], [unit]), rtol=1e-8, atol=1e-9)


def test_a_saved_gradient_stands_alone(tmp_path: pathlib.Path) -> None:
    df = grad(mixture)
    gradient = df(P, X)
    df.save(tmp_path / "derivative.py")
    assert "from scipy.stats import norm\n" in (tmp_path / "derivative.py").read_text()
    code = (
        "import numpy as np\nfrom derivative import mixture_grad_p\n"
        "print(mixture_grad_p(np.array([0.4, 1.3]), np.array([0.4, 1.3, 0.9, 2.1])).tolist())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env={"PYTHONPATH": ROOT}
    )
    assert run.returncode == 0, run.stderr
    np.testing.assert_array_equal(eval(run.stdout), gradient)


OUTSIDE: list[Callable[[Any], Any]] = [
    lambda x: np.sum(stats.expon.logpdf(x)),
    lambda x: np.sum(stats.gamma.logpdf(x, 1.5, scale=2.0)),
    lambda x: np.sum(stats.beta.logpdf(x, 1.5, 2.5)),
    lambda x: np.sum(stats.uniform.logpdf(x)),
    lambda x: np.sum(stats.lognorm.pdf(x, 0.7)),
    lambda x: np.sum(stats.weibull_min.cdf(x, 0.7)),
    lambda x: np.sum(stats.pareto.sf(x, 0.7)),
    lambda x: np.sum(stats.truncnorm.logpdf(x, -0.5, 2.0)),
]


@pytest.mark.parametrize("f", OUTSIDE)
def test_outside_of_the_support_the_derivative_is_zero(f: Callable[[Any], Any]) -> None:
    np.testing.assert_array_equal(grad(f)(np.array([-0.7, -3.0])), [0.0, 0.0])


@pytest.mark.filterwarnings("ignore:The shape parameter of the erlang")
@pytest.mark.parametrize("name", list(CONTINUOUS)[::24])
def test_quantiles_of_some_distributions(name: str) -> None:
    """On both sides of zero where the support has both, by the point, the shapes, location and scale."""
    law, d = getattr(stats, name), CONTINUOUS[name]
    shapes = [0.3 * low + 0.7 * high for low, high in d.shapes]
    x = law.ppf(np.array([0.08, 0.21, 0.55, 0.8, 0.94]), *shapes, -0.2, 1.3)

    def densities(x: Any, p: Any) -> Any:
        return np.sum(law.logpdf(x, p[0], p[1]))

    def of_shape(x: Any, p: Any) -> Any:
        return np.sum(law.logpdf(x, p[0], p[1], p[2]))

    def of_shapes(x: Any, p: Any) -> Any:
        return np.sum(law.logpdf(x, p[0], p[1], p[2], p[3]))

    def probabilities(x: Any, p: Any) -> Any:
        found = law(p[0], p[1])
        return np.sum(found.cdf(x) + found.logsf(x) + found.logcdf(x)) + found.ppf(0.3)

    def by_shape(x: Any, p: Any) -> Any:
        found = law(p[0], p[1], p[2])
        return np.sum(found.cdf(x) + found.logsf(x) + found.logcdf(x)) + found.ppf(0.3)

    def by_shapes(x: Any, p: Any) -> Any:
        found = law(p[0], p[1], p[2], p[3])
        return np.sum(found.cdf(x) + found.logsf(x) + found.logcdf(x)) + found.ppf(0.3)

    args = (x, np.array([*shapes, -0.2, 1.3]))
    for f in ((densities, probabilities), (of_shape, by_shape), (of_shapes, by_shapes))[len(shapes)]:
        for i in range(2):
            np.testing.assert_allclose(grad(f, i)(*args), numeric_gradient(f, args, i), rtol=1e-6, atol=1e-7)


def test_tails() -> None:
    def lower(x: Any) -> Any:
        return np.sum(norm.logcdf(x))

    def upper(x: Any) -> Any:
        return np.sum(norm.logsf(x))

    def shape(s: Any) -> Any:
        return np.sum(stats.lognorm.logcdf(np.exp(-50.0), s))

    # The ratio of density and probability in a tail is x + 1 / x - ...
    np.testing.assert_allclose(grad(lower)(np.array([-1000.0])), [1000.000999998], rtol=1e-9)
    np.testing.assert_allclose(grad(upper)(np.array([1000.0])), [-1000.000999998], rtol=1e-9)
    s = np.array([0.9])
    np.testing.assert_allclose(grad(shape)(s), richardson_jvp(shape, [s], [np.ones(1)]), rtol=1e-7)


REFUSED: list[tuple[Callable[..., Any], str]] = [
    (lambda p: np.sum(stats.nct.cdf(X, p[0], 1.5)), "stats.nct.cdf(...) is a method of the class nct_gen"),
    (lambda p: stats.poisson.logpmf(p[0], 1.5), "has no derivative with respect to its argument 'x'"),
    (lambda p: stats.gamma.rvs(p[0]), "stats.gamma.rvs"),
    (lambda p: stats.norm.fit(p)[0], "stats.norm.fit"),
]


@pytest.mark.parametrize(("f", "message"), REFUSED)
def test_what_has_no_closed_form_is_refused_by_name(f: Callable[..., Any], message: str) -> None:
    with pytest.raises(S2SADError) as caught:
        grad(f)(P)
    assert message in str(caught.value)


SHAPES: list[Callable[..., Any]] = [
    lambda p: np.sum(np.sin(stats.gamma.cdf(X, p[0], scale=p[1]))),
    lambda p: np.sum(stats.gamma(p[0]).logsf(X)),
    lambda p: np.sum(stats.beta.ppf(X / 9, p[0], p[1])),
    lambda p: np.sum(stats.t.logcdf(X, 3 * p[0])),
    lambda p: np.sum(stats.f.sf(X, p[0], p[1])),
    lambda p: np.sum(stats.invgamma(p[0], loc=-p[1]).cdf(X)),
    lambda p: np.sum(stats.poisson.logcdf(np.array([0, 3, 5]), 2 * p[0])),
    lambda p: np.sum(stats.nbinom(p[0], 0.3 + 0.1 * p[1]).cdf(np.array([0, 3, 5]))),
    lambda p: np.sum(stats.binom.logsf(np.array([0, 3]), 5, 0.2 * p[0])),
]


@pytest.mark.parametrize("f", SHAPES)
def test_distribution_functions_have_derivatives_by_all_parameters(f: Callable[..., Any]) -> None:
    p = np.array([1.4, 0.8])
    np.testing.assert_allclose(grad(f)(p), numeric_gradient(f, (p,)), rtol=1e-7, atol=1e-9)


def swap(p: Any, log: list[str]) -> Any:
    log.append("called")
    return p


EVENTS: list[str] = []


def in_order(p: Any) -> Any:
    return np.sum(norm(swap(p, EVENTS)[0], 1.0).logpdf(p * 2))


def redefined(p: Any) -> Any:
    d = norm(p[0], 1.0)
    if p[1] > 5.0:
        d = norm(p[0], 2.0)
    return np.sum(d.logpdf(p))


def between(p: Any) -> Any:
    d = norm(p[0], 1.0)
    return np.sum(d.logpdf(p)) + d.support()[0]


@pytest.mark.parametrize("f", [in_order, redefined, between], ids=lambda f: f.__name__)
def test_objects_with_fixed_parameters_that_are_not_taken_apart(f: Callable[..., Any]) -> None:
    """The order of evaluation would change, or the object is used for more than its methods with derivatives."""
    with pytest.raises(S2SADError, match=r"norm\(|d\.logpdf"):
        grad(f)(P)


class Other:
    """Not a distribution of SciPy, with one of the same names."""

    def __init__(self, loc: Any) -> None:
        self.loc = loc

    def logpdf(self, x: Any) -> Any:
        return 3.0 * x * self.loc


def rebound(p: Any) -> Any:
    return np.sum(family(p[0]).logpdf(p))


family: Any = norm


def test_what_a_distribution_is_is_looked_up_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    df = grad(rebound)
    np.testing.assert_allclose(df(P), richardson_of(rebound))
    monkeypatch.setitem(globals(), "family", stats.laplace)
    np.testing.assert_allclose(df(P), richardson_of(rebound))
    monkeypatch.setitem(globals(), "family", Other)
    np.testing.assert_allclose(df(P), richardson_of(rebound))


def richardson_of(f: Callable[..., Any]) -> list[Any]:
    return [richardson_jvp(f, [P], [unit]) for unit in np.eye(2)]


def test_a_singular_covariance_is_refused() -> None:
    def f(p: Any) -> Any:
        return stats.multivariate_normal.logpdf(p, cov=np.ones((2, 2)), allow_singular=True)

    with pytest.raises(S2SADError, match="singular covariance"):
        grad(f)(np.array([0.3, 0.3]))


def test_a_point_of_one_number_has_it_in_all_places() -> None:
    """SciPy takes it for that where the covariance is a matrix of more."""

    def f(x: Any, cov: Any) -> Any:
        return stats.multivariate_normal.logpdf(x, cov=cov)

    args = (np.array([0.4]), np.array([[1.0, 0.2], [0.2, 0.7]]))
    expected = numeric_gradient(f, args)
    assert np.allclose(grad(f)(*args), expected, rtol=1e-8)
    assert np.isclose(jvp(f, args, (np.ones(1), None))[1], expected[0], rtol=1e-8)


def unread(v: Any) -> Any:
    mean, width = v
    stats.norm.cdf(mean / width)
    return mean * width


def test_what_nobody_reads() -> None:
    """A method of a distribution writes nothing that the program sees."""
    value, slope = jvp(unread, (np.array([0.3, 0.4]),), (np.array([1.0, 2.0]),))
    assert (value, slope) == (pytest.approx(0.12), pytest.approx(1.0))
    np.testing.assert_allclose(grad(unread)(np.array([0.3, 0.4])), [0.4, 0.3])


def interval(p: Any, x: Any) -> Any:
    low, high = stats.norm(p[0], p[1]).interval(0.9)
    return low * high + np.sum(x)


def interval_of_variable(p: Any, x: Any) -> Any:
    law = stats.gamma(2.3, loc=p[0] * p[1], scale=p[1])
    low, high = law.interval(confidence=0.8)
    return np.sum(x) * low / high + law.median()


def median(p: Any, x: Any) -> Any:
    return stats.t(5.0, p[0], np.exp(p[1])).median() * np.sum(x) + stats.norm.interval(0.5, p[0], p[1])[0]


def student(p: Any, x: Any) -> Any:
    shape = np.array([[2.0, 0.3], [0.3, 1.0]]) * p[1]
    law = stats.multivariate_t(p * x[0], shape, df=2.5 + p[0])
    return law.logpdf(p) + np.sum(stats.multivariate_t(loc=p, shape=shape, df=4.0).pdf(np.outer(x, x)[:, :2]))


def counted(p: Any, x: Any) -> Any:
    rate = np.abs(p[0]) + 0.5
    total = stats.poisson.mean(rate) ** 2 * stats.poisson(rate).std() + stats.geom.var(0.3 * p[1], loc=2.0)
    return total * stats.nbinom.mean(rate, 0.4 * p[1]) * stats.binom(5, 0.3 * p[1], loc=p[0]).mean() + np.sum(x)


@pytest.mark.parametrize("f", [interval, interval_of_variable, median, student, counted])
def test_quantiles_and_moments_of_objects_with_fixed_parameters(f: Callable[..., Any]) -> None:
    args = (np.array([0.3, 1.2]), np.array([0.4, -0.7, 1.1]))
    assert value_and_grad(f)(*args)[0] == f(*args)
    for i in range(2):
        np.testing.assert_allclose(grad(f, i)(*args), numeric_gradient(f, args, i), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    "f",
    [
        lambda s: stats.zipf.mean(s),
        lambda s: stats.dlaplace.var(s) * s,
        lambda s: stats.dirichlet.mean(np.array([s, 1.0]))[0],
        lambda s: stats.dirichlet.var(np.array([s, 1.0]))[0],
        lambda s: stats.zipfian.mean(s, 5),
        lambda s: stats.skellam.std(s, 2.0),
    ],
)
def test_methods_under_the_names_of_those_of_arrays_are_not_taken_for_them(f: Callable[..., Any]) -> None:
    try:
        found = grad(f)(3.5)
    except S2SADError:
        return
    assert found == pytest.approx(numeric_gradient(f, (3.5,)), rel=1e-6)


def test_the_density_of_a_t_distribution_is_that_of_the_normal_one_in_the_limit() -> None:
    def f(x: Any, df: float) -> Any:
        # SciPy gives an array of one number for infinite degrees of freedom.
        return np.sum(stats.multivariate_t.logpdf(x, x[::-1] / 3, np.eye(2), df))

    x = np.array([0.3, -0.8])
    np.testing.assert_allclose(grad(f)(x, math.inf), grad(f)(x, 1e9), rtol=1e-7)
    assert grad(f, 1)(x, math.inf) == 0.0


NONCENTRAL: list[Callable[..., Any]] = [
    lambda x, c: np.sum(stats.nct.logpdf(x, 3.5, c, scale=1.0 + c**2)),
    lambda x, c: np.sum(stats.nct.cdf(x, 3.5, c)),
    lambda x, c: np.sum(stats.ncx2.logpdf(x, 3.5, c)),
    lambda x, c: np.sum(stats.ncx2.sf(x, 0.7, 40.0 * c)),
    lambda x, c: np.sum(stats.ncf.pdf(x, 3.5, 5.2, c)),
    lambda x, c: np.sum(stats.ncf.logcdf(x, 3.5, 5.2, c)),
    lambda x, c: np.sum(stats.pearson3.logpdf(x, c)),
    lambda x, c: np.sum(stats.norminvgauss.logpdf(x, 1.0 + c, 0.5 * c, loc=c)),
    lambda x, c: np.sum(stats.genhyperbolic.logpdf(x, 0.5, 1.0 + c, 0.5 * c)),
    lambda x, c: np.sum(stats.crystalball.logpdf(-4.0 * x, c + 0.5, 2.0 + c)),
    lambda x, c: np.sum(stats.trapezoid.logpdf(x / 3, 0.4 * c, 0.9) + stats.argus.logpdf(x / 3, c)),
    lambda x, c: np.sum(stats.skellam.logpmf([-2, 0, 3], c, 1.3) + stats.planck.logcdf(2.5, c)),
]


@pytest.mark.parametrize("f", NONCENTRAL)
def test_rarer_distributions(f: Callable[..., Any]) -> None:
    for i in 0, 1:
        np.testing.assert_allclose(grad(f, i)(X, 0.7), numeric_gradient(f, (X, 0.7), i), rtol=2e-6, atol=1e-8)


def test_skewness_near_zero() -> None:
    f = lambda s: np.sum(stats.pearson3.logpdf(X, s))  # noqa: E731
    np.testing.assert_allclose(grad(f)(0.0), np.sum(X**3 - 3 * X) / 6, rtol=1e-12)
    np.testing.assert_allclose(grad(f)(1e-4), np.sum(X**3 - 3 * X) / 6, rtol=1e-3)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda v: stats.nct.logpdf(0.4, v, 0.5), "stats.nct.logpdf has .* 'df': there is no closed form of it"),
        (lambda v: stats.pearson3.cdf(0.4, v), "stats.pearson3.cdf has .* 'skew': there is no closed form of it"),
        (lambda v: stats.levy_stable.pdf(0.4, v, 0.0), "stats.levy_stable.pdf has no derivative rule"),
        (lambda v: stats.zipf.logpmf(2, v), "stats.zipf.logpmf has no derivative rule"),
        (lambda v: stats.alpha.mean(v), "stats.alpha.mean has no derivative rule"),
    ],
)
def test_what_has_no_closed_form_is_one_refusal(f: Callable[..., Any], message: str) -> None:
    with pytest.raises(S2SADError, match=message) as caught:
        grad(f)(1.4)
    assert str(caught.value).count("error: ") == 1
