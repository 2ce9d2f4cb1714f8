"""Dicts among the arguments that the function copies, with other items or more: ``dict(p)``, ``{**p, "w": w}``."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient
from tests.sources import function_of

W, P = np.array([0.3, 0.7]), {"w1": np.ones(2), "b": np.array([2.0, 3.0]), "w2": np.array([0.5, 0.6])}
COPIES = {
    "dict": "q = dict(p)\n    q['w1'] = w",
    "method": "q = p.copy()\n    q['w1'] = w",
    "named": "q = dict(p, w1=w)",
    "star": "q = {**p, 'w1': w}",
    "two stars": "q = {**p, **{'w1': w}}",
    "comprehension": "q = {k: v for k, v in p.items()}\n    q['w1'] = w",
    "in a callee": "q = changed(p, w)",
    "again": "q = dict(dict(p))\n    q['w1'] = w",
}
TEXT = """
def changed(p, w):
    q = dict(p)
    q["w1"] = w
    return q

def f(w, p):
    {copy}
    a = q["b"]
    for k in range(1, len(q)):
        a = np.sin(a * q["w" + str(k)])
    return np.sum(a) + np.sum(p["w1"] * q["w1"])
"""


@pytest.mark.parametrize("name", COPIES)
def test_copies(name: str) -> None:
    f, p = function_of(TEXT.format(copy=COPIES[name])), copy.deepcopy(P)
    expected = numeric_gradient(lambda w: f(w, p), (W,))
    np.testing.assert_allclose(grad(f)(W, p), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (W, p), (np.ones(2), None))[1], expected.sum(), rtol=1e-7)
    of_both = grad(f, (0, 1))(W, p)
    np.testing.assert_allclose(of_both[0], expected, rtol=1e-7)
    for key in P:

        def of_one(v: Any, key: str = key) -> Any:
            return f(W, {**p, key: v})

        np.testing.assert_allclose(of_both[1][key], numeric_gradient(of_one, (p[key],)), rtol=1e-6, atol=1e-9)
    assert all(np.array_equal(p[key], P[key]) for key in P)


def test_pairs_are_refused_or_right() -> None:
    f = function_of("def f(w, p):\n    q = dict(p)\n    q['a'] = w\n    return np.sum(q['a'] * q['b'])\n")
    pairs = [("b", np.array([2.0, 3.0]))]
    try:
        found = grad(f)(W, pairs)
    except S2SADError:
        return
    np.testing.assert_allclose(found, [2.0, 3.0])
