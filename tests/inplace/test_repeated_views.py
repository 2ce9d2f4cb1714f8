"""Views that have an element of an array several times, of arrays that are written in place."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient
from tests.sources import function_of

_X = np.array([0.7, -0.4, 0.9])
_VIEWS = {
    "rows": "np.broadcast_to(a, (2, 3))",
    "columns": "np.broadcast_to(a[:, None], (3, 2))",
    "windows": "np.lib.stride_tricks.sliding_window_view(a, 2)",
}
_WRITES = {
    "scaled": "a *= 1.5",
    "items": "for i in range(2):\n        a[i] = a[i + 1] * a[i]",
    "callee": "put(a)",
}
_USES = {
    "read": "t = np.sum(np.sin(v) * np.arange(1.0, 1.0 + v.size).reshape(v.shape))",
    "callee": "t = use(v) * 0.5",
    "twice": "t = np.sum(np.cos(v))\n    for k in range(2):\n        t = t + v[k, 1] * v[0, 0]",
    "kept": "t = np.sum([np.sum(r * r) for r in held(v)])",
}
_TEXT = """
def put(a):
    a[0] = a[1] * a[2]
    a *= a

def use(v):
    s = np.exp(0.3 * v)
    return np.sum(s * v)

def held(v):
    return [v, v]

def f(x):
    a = x * 1.1
    {steps}
    return t + np.sum(a * a)
"""


def _function(*steps: str) -> object:
    return function_of(_TEXT.format(steps="\n    ".join(steps)))


@pytest.mark.parametrize(("view", "write", "use"), list(itertools.product(_VIEWS, _WRITES, ("read", "callee"))))
def test_one_is_read_before_the_array_is_written_again(view: str, write: str, use: str) -> None:
    f = _function(_WRITES[write], f"v = {_VIEWS[view]}", _USES[use], "a += x")
    np.testing.assert_allclose(grad(f)(_X), numeric_gradient(f, (_X,)), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("view", "write", "use"), list(itertools.product(_VIEWS, _WRITES, _USES)))
def test_one_that_is_read_after_a_write_is_followed_or_refused(view: str, write: str, use: str) -> None:
    f = _function(f"v = {_VIEWS[view]}", "w = np.sum(v)", _WRITES[write], _USES[use], "t = t * w")
    try:
        found = grad(f)(_X)
    except UnsupportedError:
        return
    np.testing.assert_allclose(found, numeric_gradient(f, (_X,)), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("view", _VIEWS)
def test_one_of_each_iteration(view: str) -> None:
    body = f"v = {_VIEWS[view]}\n        t = t + np.sum(v * v)\n        a *= x"
    f = _function("t = 0.0", "for k in range(2):\n        " + body)
    np.testing.assert_allclose(grad(f)(_X), numeric_gradient(f, (_X,)), rtol=1e-6, atol=1e-8)
