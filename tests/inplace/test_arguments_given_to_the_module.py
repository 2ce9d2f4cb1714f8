"""Arguments that the program puts into lists and dicts of its module, and writes there: those of the caller stay."""

from __future__ import annotations

import copy
import itertools

import numpy as np
import pytest

from s2sad import S2SADError, value_and_grad
from tests.oracle import numeric_gradient
from tests.sources import function_of

GIVEN = {
    "argument": ("s", "s"),
    "item": ('{"q": [s]}', 's["q"][0]'),
    "copy": ("s", "s * 2.0"),
}
KEPT = {
    "appended": "STORE.append({a})",
    "by a callee": "keep({a})",
    "under a key": 'TABLE["a"] = {a}',
    "in a pair": "STORE.append(({a}, 1.0))",
}
WRITTEN = {
    "appended": ("STORE[-1][0] = 0.35", "later()"),
    "by a callee": ("STORE[-1][0] = 0.35", "later()"),
    "under a key": ('TABLE["a"][0] = 0.35', 'TABLE["a"] *= 2.0'),
    "in a pair": ("STORE[-1][0][0] = 0.35", "STORE[-1][0].fill(0.5)"),
}
TEXT = """
import numpy as np

STORE = []
TABLE = {{}}

def keep(q):
    STORE.append(q)

def later():
    STORE[-1][0] = 0.35

def f(x, s):
    a = {read}
    r = np.sum(a * a * x)
    {kept}
    {written}
    return r + np.sum(np.sin(a) * x)
"""
CASES = [(g, k, w) for g, k in itertools.product(GIVEN, KEPT) for w in WRITTEN[k]]
X = np.array([0.5, 1.2, -0.7])


@pytest.mark.parametrize(("given", "kept", "written"), CASES)
def test_what_the_module_keeps_is_written(given, kept, written):
    made, read = GIVEN[given]
    f = function_of(TEXT.format(read=read, kept=KEPT[kept].format(a="a"), written=written))
    s = eval(made, {"s": np.array([0.8, -0.4, 1.5])})
    value = f(X, copy.deepcopy(s))
    f.__globals__["STORE"].clear()
    f.__globals__["TABLE"].clear()
    for _ in range(2):
        own = copy.deepcopy(s)
        try:
            found, gradient = value_and_grad(f)(X, own)
        except S2SADError:
            found, gradient = value, None
        assert repr(own) == repr(s)
        assert found == value
        if gradient is not None:
            expected = numeric_gradient(lambda x: f(x, copy.deepcopy(s)), (X,))
            np.testing.assert_allclose(gradient, expected, rtol=1e-7)
