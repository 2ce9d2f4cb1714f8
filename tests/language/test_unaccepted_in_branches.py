"""What is not accepted in branches that types decide, or in what is tried: it is refused only where it may run."""

from __future__ import annotations

import itertools
import re
from textwrap import indent
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient
from tests.sources import function_of


class Series:
    """A class of a library that does not say what it does."""

    def __init__(self, values: Any, index: Any = None) -> None:
        self.values, self.index = values, index

    def fillna(self, value: float, inplace: bool) -> None:
        self.values[np.isnan(self.values)] = value


STATEMENTS = {
    "object": "y = Series(y)",
    "several": "index = y.index\ny = Series(y, index=index)\ny.name = 'power'",
    "method": "y.fillna(0, inplace=True)",
    "attribute": "y.values.flags.mine = 'power'",
    "star": "y = Series(*make(y))",
    "loop": "for k in y.keys():\n    y.update(k)\n    y = Series(y[k])",
}
#: What stands around a statement that does not run, and one more that says it does.
FORMS = {
    "if": ("if isinstance(y, Series):\n    ...", "if not isinstance(y, Series):\n    ..."),
    "else": (
        "if isinstance(y, (np.ndarray, float)):\n    y = y * 2.0\nelse:\n    ...",
        "if isinstance(y, (int, str)):\n    y = y * 2.0\nelse:\n    ...",
    ),
    "attribute": ("if hasattr(y, 'fillna'):\n    ...", "if hasattr(y, 'dtype'):\n    ..."),
    "nested": (
        "if isinstance(y, Series):\n    if x[0] > 0.0:\n        ...\n    else:\n        y = y.values",
        "if isinstance(y, np.ndarray):\n    if x[0] > 0.0:\n        ...",
    ),
    "turns": (
        "for i in range(3):\n    y = y * x[i]\n    if isinstance(y, Series):\n        ...",
        "for i in range(3):\n    y = y * x[i]\n    if x[i] > 9.0:\n        ...",
    ),
}


def _function(text: str) -> Any:
    body = f"def f(x):\n    y = np.sin(x) * x\n{indent(text, '    ')}\n    return np.sum(y * x)\n"
    return function_of(body, {"Series": Series, "make": lambda y: (y, None)})


def _placed(form: str, statement: str) -> str:
    """A form with a statement in place of its dots."""
    return re.sub(r"( *)\.\.\.", lambda found: indent(statement, found[1]), form)


@pytest.mark.parametrize(("form", "statement"), [*itertools.product(FORMS, STATEMENTS)])
def test_branches(form: str, statement: str) -> None:
    x = np.array([0.3, 0.8, 1.7])
    never, maybe = (_function(_placed(t, STATEMENTS[statement])) for t in FORMS[form])
    expected = numeric_gradient(never, (x,))
    np.testing.assert_allclose(grad(never)(x), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(never, (x,), (np.cos(x),))[1], expected @ np.cos(x), rtol=1e-7)
    with pytest.raises(S2SADError):
        grad(maybe)(x)


HANDLED = {
    "method": "try:\n    y.fillna(0, inplace=True)\nexcept AttributeError:\n    y = np.where(np.isnan(y), 0, y) * 2.0",
    "result": "try:\n    z = y.interpolate(x)\nexcept AttributeError:\n    z = y * x\ny = z * y",
    "value": "try:\n    z = y.values\nexcept AttributeError:\n    z = y\ny = z * y",
    "name": "try:\n    y.name = 'power'\nexcept AttributeError:\n    pass",
    "number": "z = y[0] * 2.0\ntry:\n    z.name = 'power'\nexcept AttributeError:\n    z = z * x[1]\ny = z * y",
    "after": "try:\n    z = y * 2.0\n    z.name = 'power'\n    y = z\nexcept (AttributeError, OSError):\n    y = z * y",
    "others": "try:\n    y.name = 'p'\nexcept TypeError:\n    y = y * 3.0\nexcept AttributeError:\n    y = y * x",
    "kept": "out = {'a': y}\nif isinstance(y, Series):\n    out = Series(out)\nout['b'] = x * x\ny = out['a'] * x",
}


@pytest.mark.parametrize("name", HANDLED)
def test_attempts(name: str) -> None:
    x = np.array([0.3, 0.8, 1.7])
    f = _function(HANDLED[name])
    expected = numeric_gradient(f, (x,))
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (x,), (np.cos(x),))[1], expected @ np.cos(x), rtol=1e-7)


def test_attributes_that_arrays_may_have_are_not_decided(tmp_path: Any) -> None:
    """An array in a file has attributes of its own."""
    f = function_of("""
        def f(x):
            try:
                x.name = "power"
            except AttributeError:
                return np.sum(x * x * x)
            return np.sum(x * x)
    """)
    x = np.memmap(tmp_path / "numbers", dtype=float, mode="w+", shape=(3,))
    x[:] = 1.0, 2.0, 3.0
    try:
        found = grad(f)(x)
    except S2SADError:
        return
    np.testing.assert_allclose(found, 2.0 * np.asarray(x))
