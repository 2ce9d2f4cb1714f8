"""Functions of SciPy that have models, and methods of arrays that are called as functions of their class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, ndimage, stats
from scipy.spatial import distance

from s2sad import grad, jvp
from s2sad.errors import S2SADError
from tests.ops.test_as_a_user import M, X, agrees
from tests.oracle import numeric_gradient, richardson_jvp

Function = Callable[[Any], Any]
POINTS = np.array([0.0, 0.3, 1.1, 1.6])


def total(f: Function) -> Function:
    def program(x: Any) -> Any:
        z = f(x)
        return np.sum(z**2 * np.arange(1.0, np.size(z) + 1).reshape(np.shape(z)))

    return program


def as_scipy_has_it(f: Function, x: Any) -> None:
    """The value is SciPy's own, and both modes agree with differences of that."""
    direction = np.cos(np.arange(1.0 * np.size(x))).reshape(np.shape(x))
    value, dot = jvp(total(f), (x,), (direction,))
    np.testing.assert_allclose(value, total(f)(x), rtol=1e-12)
    np.testing.assert_allclose(grad(total(f))(x), numeric_gradient(total(f), (x,)), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(dot, richardson_jvp(total(f), (x,), (direction,)), rtol=1e-6)


STUDENT: dict[str, Function] = {
    "standard": lambda x: stats.multivariate_t.logpdf(x),
    "location": lambda x: stats.multivariate_t.logpdf(M, x[:4], np.eye(4) + np.outer(x[:4], x[:4]), 4.0),
    "lower triangle": lambda x: stats.multivariate_t.logpdf(M[0], M[1], 3 * np.eye(4) + M.T @ M + x[:4], 2.5),
    "freedom": lambda x: stats.multivariate_t.pdf(M[:, :2], x[:2], 1.3, x[0] ** 2 + 2),
    "normal": lambda x: stats.multivariate_t.logpdf(x[:3], x[:3] ** 2, [1.0, 2.0, 0.5], np.inf),
    "one number": lambda x: stats.multivariate_t.logpdf(x[0], 0.3, x[1] ** 2, 3),
    "one row": lambda x: stats.multivariate_t.logpdf(M[:1, :3], x[:3], np.eye(3), 3),
}


@pytest.mark.parametrize("name", STUDENT)
def test_multivariate_t(name: str) -> None:
    as_scipy_has_it(STUDENT[name], X)


INTEGRALS: dict[str, Function] = {
    "two": lambda x: integrate.cumulative_simpson(x[:, :2]),
    "three": lambda x: integrate.cumulative_simpson(x[:, :3], dx=0.3),
    "four": lambda x: integrate.cumulative_simpson(x),
    "axis": lambda x: integrate.cumulative_simpson(x, axis=0, initial=x[0, 1], dx=x[0, 0]),
    "points": lambda x: integrate.cumulative_simpson(x, x=POINTS, initial=0),
    "moved": lambda x: integrate.cumulative_simpson(x, x=np.cumsum(np.exp(x), axis=0), axis=0),
    "steps": lambda x: integrate.cumulative_simpson(x, dx=np.abs(x[:, :1]), initial=x[:, 1:2]),
}


@pytest.mark.parametrize("name", INTEGRALS)
def test_running_integrals_by_simpsons_rule(name: str) -> None:
    as_scipy_has_it(INTEGRALS[name], M)


def test_running_integrals_need_points_in_order() -> None:
    with pytest.raises(ValueError, match="strictly increasing"):
        grad(total(lambda x: integrate.cumulative_simpson(x, x=POINTS[::-1])))(M)


def test_intervals_of_distributions() -> None:
    as_scipy_has_it(lambda x: stats.norm.interval(0.9, x, 2)[0], X)
    as_scipy_has_it(lambda x: stats.gamma.interval(0.5, x**2 + 1, scale=x[0] ** 2)[1], X)
    as_scipy_has_it(lambda x: np.array(stats.logistic.interval(confidence=0.1 + 0.1 * np.tanh(x) ** 2, loc=x)), X)


UNBOUND: dict[str, Function] = {
    "sum": lambda x: np.ndarray.sum(x * x, 0),
    "mean": lambda x: np.ndarray.mean(x, axis=1, keepdims=True),
    "clip": lambda x: np.ndarray.clip(x, -0.3, 0.5),
    "dot": lambda x: np.ndarray.dot(x, x.T),
    "reshape": lambda x: np.ndarray.reshape(x, (4, 3)),
    "transpose": lambda x: np.ndarray.transpose(x),
    "max": lambda x: np.ndarray.max(x, 1),
    "take": lambda x: np.ndarray.take(x, [0, 1]),
    "var": lambda x: np.ndarray.var(x, 0),
    "argmax": lambda x: np.ndarray.argmax(x) * x,
}


@pytest.mark.parametrize("name", UNBOUND)
def test_methods_of_arrays_as_functions_of_their_class(name: str) -> None:
    as_scipy_has_it(UNBOUND[name], M)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "correlation", "canberra", "minkowski"])
def test_distances_with_weights(metric: str) -> None:
    function, w = getattr(distance, metric), np.array([0.7, 0.0, 1.9, 0.3])
    as_scipy_has_it(lambda x: function(x[0], x[1], w=w), M)
    with pytest.raises(S2SADError, match="'w'"):
        grad(lambda w: function(M[0], M[1], w=w))(w)


@pytest.mark.filterwarnings("ignore:Mean of empty")
def test_options_that_are_given_by_name() -> None:
    as_scipy_has_it(lambda x: ndimage.laplace(x, axes=(1,)), M)
    as_scipy_has_it(lambda x: np.broadcast_to(x[0], (2, 4), subok=True), M)
    assert jvp(lambda x: np.nanpercentile(x, np.zeros(0)), (M[:0],), (M[:0],))[1] == pytest.approx(0, nan_ok=True)
    agrees(lambda x: np.nanpercentile(x, [20, 70], axis=0).sum(), M)
