"""Functions of ``numpy.polynomial`` that are taken apart: three variables, grids, all terms, roots and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad
from s2sad.runtime.series import KINDS
from tests.oracle import numeric_gradient, richardson_jvp

X, Y, Z = np.array([0.3, -0.4, 0.5]), np.array([0.1, 0.7, -0.2]), np.array([0.6, 0.2, 0.4])
C = np.cos(np.arange(24.0)).reshape(2, 3, 4)


@pytest.mark.parametrize("stem", KINDS)
def test_values_and_terms(stem: str) -> None:
    module = getattr(np.polynomial, KINDS[stem])
    value, grid = getattr(module, f"{stem}val3d"), getattr(module, f"{stem}grid3d")
    pairs, triples = getattr(module, f"{stem}vander2d"), getattr(module, f"{stem}vander3d")

    def f(x: Any, y: Any, c: Any) -> Any:
        total = np.sum(value(x, y, Z, c) ** 2) + np.sum(grid(x, y[:2], 0.3, c) ** 3) + value(0.2, y[0], x[1], c)
        total = total + np.sum(pairs(x, y, [2, 1]) * np.arange(6.0)) + np.sum(pairs(x[0], y[1], (1, 2)) ** 2)
        return total + np.sum(triples(x, y, Z, (1, 2, 1)) ** 2)

    found, slopes = value_and_grad(f, (0, 1, 2))(X, Y, C)
    assert found == f(X, Y, C)
    for i, slope in enumerate(slopes):
        np.testing.assert_allclose(slope, numeric_gradient(f, (X, Y, C), i), rtol=1e-7, atol=1e-8)
    dots = (Y, Z, C**2)
    np.testing.assert_allclose(jvp(f, (X, Y, C), dots)[1], richardson_jvp(f, (X, Y, C), dots), rtol=1e-8)


@pytest.mark.parametrize(("roots", "tensor"), [(X, True), (C[0], True), (C[0][:, :3], False), ([1.2, 0.3], True)])
def test_values_from_roots(roots: Any, tensor: bool) -> None:
    def f(x: Any, r: Any) -> Any:
        return np.sum(np.polynomial.polynomial.polyvalfromroots(x, r, tensor) ** 2)

    for x in (X, 0.7) if tensor else (X,):
        assert value_and_grad(f)(x, roots)[0] == f(x, roots)
        np.testing.assert_allclose(grad(f)(x, roots), numeric_gradient(f, (x, roots)), rtol=1e-7, atol=1e-8)
        if isinstance(roots, np.ndarray):
            np.testing.assert_allclose(grad(f, 1)(x, roots), numeric_gradient(f, (x, roots), 1), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("stem", [stem for stem in KINDS if stem != "poly"])
def test_weights(stem: str) -> None:
    weight = getattr(getattr(np.polynomial, KINDS[stem]), f"{stem}weight")
    f = lambda x: np.sum(weight(x) ** 2 * x)  # noqa: E731
    assert value_and_grad(f)(X)[0] == f(X)
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7, atol=1e-8)


def test_points_of_several_shapes_are_no_points_of_a_series() -> None:
    with pytest.raises(ValueError, match="incompatible"):
        grad(lambda x: np.sum(np.polynomial.polynomial.polyval3d(x, Y[:2], Z, C)))(X)
