"""Diagonals of arrays that are written: derivatives of both orders, in every combination of modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp, vjp
from tests.oracle import richardson_jvp
from tests.sources import function_of
from tests.transform.remaining import check_both_modes

X = np.array([[0.7, -0.3, 0.45], [1.1, 0.2, -0.8], [0.35, 0.6, 0.9]])
WAY = np.array([[0.2, -0.6, 1.1], [0.5, 0.3, -0.4], [-0.9, 0.8, 0.1]])

VIEWS = {
    "diagonal": "np.diagonal(u)",
    "a method": "u.diagonal()",
    "an offset": "np.diagonal(u, 1)",
    "below": "u.diagonal(offset=-1)",
    "diag": "np.diag(u)",
    "of linalg": "np.linalg.diagonal(u)",
    "of axes": "np.diagonal(u[None], 0, 1, 2)[0]",
    "of a part": "np.diagonal(u[1:, :2])",
}
BODIES = {
    "written after": "d = {view}; u[0] = u[1] * x[2]; return np.sum(np.sin(d) * d)",
    "written before": "u[1, 1] = x[0, 0] * x[0, 1]; d = {view}; return np.sum(d * d * d)",
    "written between": "d = {view}; a = np.sum(d ** 3); u *= x; return a + np.sum(np.cos(d))",
    "in a loop": "d = {view}\n    for i in range(2):\n        u[i] += d[i] * u[i + 1]\n    return np.sum(d * u[0, 0])",
}
CASES = [(view, body) for view in VIEWS for body in BODIES]


def function(view: str, body: str) -> Any:
    text = BODIES[body].format(view=VIEWS[view])
    return function_of(f"def f(x):\n    u = np.tanh(x)\n    {text}\n")


@pytest.mark.parametrize(("view", "body"), CASES)
def test_first_derivatives(view: str, body: str) -> None:
    f = function(view, body)
    check_both_modes(lambda v: f(v.reshape(3, 3)), X.ravel(), WAY.ravel())


@pytest.mark.parametrize(("view", "body"), CASES)
def test_second_derivatives(view: str, body: str) -> None:
    f = function(view, body)
    expected = richardson_jvp(grad(f), (X,), (WAY,))
    np.testing.assert_allclose(hvp(f, (X,), (WAY,)), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(vjp(grad(f), X)[1](WAY)[0], expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(grad(lambda x: jvp(f, (x,), (WAY,))[1])(X), expected, rtol=1e-6, atol=1e-8)
