"""Derivatives that call functions of ours which have one name, from several modules: each is called by its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import integrate, linalg, optimize

from s2sad import grad, hvp, jvp
from tests.oracle import numeric_gradient, richardson_jvp

X, WAY = np.array([1.2, 0.7, 1.4, 2.1, 0.4, 1.9]), np.array([0.3, -0.2, 0.5, 0.1, -0.7, 0.4])


def joined(x: Any) -> Any:
    return np.sum(np.r_[x, x[0]] ** 2) + np.sum(np.c_[x, x] ** 3)


def eigenvectors(x: Any) -> Any:
    s = np.outer(x, x) + np.diag(x)
    return np.sum(np.linalg.eigh(s)[1][:, 0] ** 4) + np.sum(linalg.eigh(s)[1][:, 1] ** 4)


def systems(x: Any) -> Any:
    s = np.outer(x, x) + np.eye(6)
    return np.sum(np.linalg.solve(s, x) ** 2) + np.sum(linalg.solve(s, x) ** 3)


def least_squares(x: Any) -> Any:
    a = x.reshape(3, 2)
    return np.sum(np.linalg.lstsq(a, x[:3], rcond=None)[0] ** 2) + np.sum(linalg.lstsq(a, x[:3])[0] ** 3)


def callbacks(x: Any) -> Any:
    root = optimize.brentq(lambda z: z**3 + z - x[0], 0, 3)
    path = integrate.solve_ivp(lambda t, y: -x[1] * y, (0, 1), [x[2]], t_eval=[1.0], rtol=1e-10, atol=1e-10)
    return root**2 * path.y[0, 0]


@pytest.mark.parametrize("f", [joined, eigenvectors, systems, least_squares, callbacks], ids=lambda f: f.__name__)
def test_against_differences(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, [X])
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(jvp(f, (X,), (WAY,))[1], expected @ WAY, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(hvp(f, (X,), (WAY,)), richardson_jvp(grad(f), [X], [WAY]), rtol=1e-5, atol=1e-6)


def test_a_saved_text_imports_both(tmp_path: Any) -> None:
    path = tmp_path / "both.py"
    grad(eigenvectors).save(path)
    text = path.read_text()
    assert "import eigh_adjoint as eigh_adjoint_2" in text
    names: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), names)
    np.testing.assert_allclose(names["eigenvectors_grad_x"](X), numeric_gradient(eigenvectors, [X]), rtol=1e-6)
