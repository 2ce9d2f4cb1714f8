"""Objects that are returned from inside of a ``try``, with the attributes that it has set by then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient
from tests.sources import function_of

MODEL = """
import warnings

class Model:
    def __init__(self, a):
        self.a, self.v, self.n, self.is_fitted = a, 0.0, a, False

    def scaled(self, factor):
        return self.v * factor + self.a

    def double(self):
        self.v = 2 * self.v

    def fit(self, y):
        {}

def f(x):
    m = Model(x).fit(np.arange(3.0))
    return m.v * m.n + m.is_fitted
"""
BODIES = {
    "handler returns": """
        try:
            self.v = np.sum(y) * self.a
            self.n = self.v * y[1]
            if self.v > 100:
                raise ValueError("large")
        except ValueError:
            self.n = self.n * 3
            return self
        self.is_fitted = True
        return self
""",
    "handler returns inside of with": """
        with warnings.catch_warnings():
            warnings.filterwarnings("error")
            try:
                for k in range(3):
                    self.v = self.v + y[k] * self.a
                    self.n = np.log(self.v + 1.0)
            except RuntimeWarning:
                self.n = self.n * 3
                return self
        self.is_fitted = True
        return self
""",
    "calls that read": """
        try:
            self.v = np.sum(y) * self.a
            self.n = self.scaled(2.0) * self.scaled(y[2])
            if self.n > 1000:
                return self
        except ValueError:
            self.n = 0.0
        self.n = self.n * self.v
        return self
""",
    "calls that change": """
        try:
            self.v = np.sum(y) * self.a
            if self.v > 100:
                raise ValueError("large")
            self.double()
        except ValueError:
            return self
        return self
""",
    "finally": """
        try:
            self.v = np.sum(y) * self.a
            if self.v > 100:
                return self
            self.v = self.v * self.a
        finally:
            self.v = self.v * 2
        return self
""",
}


@pytest.mark.parametrize("x", [2.0, 200.0])
@pytest.mark.parametrize("body", [*BODIES][:3])
def test_what_is_returned_has_what_was_set(body: str, x: float) -> None:
    f = function_of(MODEL.format(BODIES[body].lstrip()))
    expected = numeric_gradient(f, (x,))
    assert grad(f)(x) == pytest.approx(expected)
    assert jvp(f, (x,), (1.0,))[1] == pytest.approx(expected)


@pytest.mark.parametrize("x", [2.0, 200.0])
@pytest.mark.parametrize("body", [*BODIES][3:])
def test_what_is_changed_later_is_right_or_refused(body: str, x: float) -> None:
    f = function_of(MODEL.format(BODIES[body].lstrip()))
    found: Any = None
    try:
        found = grad(f)(x)
    except S2SADError:
        return
    assert found == pytest.approx(numeric_gradient(f, (x,)))
    assert np.isfinite(found)
