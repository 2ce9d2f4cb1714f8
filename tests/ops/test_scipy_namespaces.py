"""Functions of SciPy that are no operations, and begin with `array_namespace`: followed as those of NumPy's arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize, signal, stats
from scipy.cluster import hierarchy, vq

from s2sad import grad, jvp, value_and_grad
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient, richardson_jvp

X, DOT = np.array([1.2, 0.4, 2.1, 0.9, 1.7]), np.array([0.3, -0.5, 0.8, 0.2, -1.1])


def bilinear(x: Any) -> Any:
    z, p, k = signal.bilinear_zpk(x[:2], x + 1, 2.0, 3.0)
    return np.sum(z**2) + np.sum(np.sin(p)) * k


def analogue_filter(x: Any) -> Any:
    w, h = signal.freqs(x[:2], x[2:], [1.0, 2.0])
    return np.sum(h.real * w) + np.sum(np.abs(h))


def poles_and_zeros(x: Any) -> Any:
    z, p, k = signal.lp2hp_zpk(x[:2], x, 1.3, x[4])
    return np.sum(z * z) * k + np.sum(p)


def splines(x: Any) -> Any:
    return np.sum(signal.gauss_spline(x, 2) ** 2)


_PROGRAMS: list[Callable[[Any], Any]] = [bilinear, analogue_filter, poles_and_zeros, splines]


@pytest.mark.parametrize("f", _PROGRAMS)
def test_derivatives(f: Callable[[Any], Any]) -> None:
    value, found = value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-13)
    np.testing.assert_allclose(found, numeric_gradient(f, (X,)), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (X,), (DOT,))[1], richardson_jvp(f, (X,), (DOT,)), rtol=1e-6)


@pytest.mark.parametrize("kind", [np.float32, int])
def test_other_dtypes(kind: type) -> None:
    poles = np.array([2, 3, 5, 7, 4], kind)
    f = lambda x: np.sum(signal.bilinear_zpk(x, poles, 2.0, 3.0)[0] ** 2)  # noqa: E731
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-6)


def test_unions_of_classes() -> None:
    def f(x: Any, kept: Any) -> Any:
        factor = 2.0 if isinstance(x, list | tuple) else 3.0
        return factor * np.sum(x) * (1.0 if isinstance(kept, str | float | int) else 5.0)

    np.testing.assert_allclose(grad(f)(X, 1.0), 3.0)
    np.testing.assert_allclose(grad(f)(X, None), 15.0)


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x: signal.cont2discrete(([x[0]], [1.0, x[1]]), 0.1)[0][0, 0], "signal.cont2discrete"),
        (lambda x: signal.bode(([x[0]], [1.0, x[1]]), [0.1])[1][0], "signal.bode"),
        (lambda x: signal.step(([x[0]], [1.0, x[1]]))[1][3], "signal.step"),
        (lambda x: stats.kruskal(x, x[:3] + 1)[0], "stats.kruskal"),
        (lambda x: stats.lmoment(x)[0], "stats.lmoment"),
        (lambda x: hierarchy.linkage(x.reshape(5, 1))[0, 2], "hierarchy.linkage"),
        (lambda x: vq.kmeans2(x.reshape(5, 1), 2)[0][0, 0], "vq.kmeans2"),
        (lambda x: stats.wilcoxon(x).statistic, "stats.wilcoxon"),
        (lambda x: optimize.approx_fprime(x, lambda t: np.sum(t**2))[0], "optimize.approx_fprime"),
        (lambda x: optimize.fmin_l_bfgs_b(lambda t: np.sum((t - x) ** 2), X)[0][0], "optimize.fmin_l_bfgs_b"),
        (lambda x: stats.binned_statistic(X, x)[0][0], "stats.binned_statistic"),
    ],
)
def test_what_is_long_is_refused_at_once(f: Callable[[Any], Any], name: str) -> None:
    with pytest.raises(
        S2SADError, match=rf"{name}(\(\.\.\.\) that calls a function)? has no derivative rule"
    ) as caught:
        grad(f)(X)
    assert str(caught.value).count("error: ") == 1
