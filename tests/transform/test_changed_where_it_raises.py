"""What is changed before an exception is seen by handlers, and by what comes after them, whoever changes it."""

from __future__ import annotations

import contextlib
import io
import textwrap
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, jvp, value_and_grad
from tests.oracle import numeric_gradient
from tests.sources import function_of

CLASSES = """
class Holder:
    def __init__(self, n):
        self.n = n

class Counter:
    def __init__(self):
        self.n = 1.0

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.n = self.n + 1.0

class Loud:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        print("added")
        return Loud(self.v + other)

class Setter:
    def set(self, v):
        self.extra = v
        return v
"""
RIGHT = {
    "a manager in a try": """
        def f(x):
            m = Counter()
            try:
                with m:
                    if x[0] < 1.0:
                        raise ValueError("small")
            except ValueError:
                pass
            return x[1] * m.n
        """,
    "a manager in a function that is called in a try": """
        def entered(m, v):
            with m:
                if v < 1.0:
                    raise ValueError("small")

        def f(x):
            m = Counter()
            try:
                entered(m, x[0])
            except ValueError:
                return m.n * x[1]
            return x[1] * x[2] * m.n
        """,
    "a manager in a try with finally": """
        def f(x):
            m = Counter()
            try:
                with m:
                    if x[0] < 1.0:
                        raise ValueError("small")
            finally:
                print(m.n)
            return x[1] * m.n
        """,
    "an operator of a class as a manager is left": """
        def f(x):
            m = Counter()
            m.n = Loud(x[0])
            with m:
                if x[0] < 1.0:
                    raise ValueError("small")
            return x[1] * m.n.v
        """,
    "a function that always raises": """
        def raising(m, v, k):
            m.n = m.n * (1.0 + v)
            if k == 0:
                raise ValueError
            return raising(m, v, k - 1) + v

        def f(x):
            m, s = Holder(1.0), 0.0
            try:
                s += raising(m, x[0], 3)
            except ValueError:
                s += x[1]
            return s + x[2] * m.n
        """,
    "an attribute in a branch that raises": """
        def tried(m, v):
            try:
                if v < 1.0:
                    m.n = 5.0 * v
                    raise ValueError
                return v
            except ValueError:
                return m.n * v

        def f(x):
            m = Holder(x[2])
            return tried(m, x[0]) + tried(m, x[1]) * m.n
        """,
    "an attribute that is set back": """
        def small(v):
            if v < 1.0:
                raise ValueError
            return v * v

        def tried(m, v):
            try:
                m.n = 5.0 * v
                w = small(v)
                m.n = 1.0
                return w
            except ValueError:
                return m.n * v

        def f(x):
            m = Holder(x[2])
            return tried(m, x[0]) + tried(m, x[1]) * m.n
        """,
    "a variable of a function around": """
        def f(x):
            n = x[2]
            def small(v):
                nonlocal n
                if v < 1.0:
                    n = n * v * 3
                    raise ValueError
                return v * v
            def tried(v):
                try:
                    return small(v)
                except ValueError:
                    return n * v
            return tried(x[0]) + tried(x[1]) * n
        """,
    "an attribute that an operand of `and` in a lambda makes": """
        def f(x):
            m = Setter()
            g = lambda v: v > -5 and m.set(v)
            s = sum(map(g, x))
            return s * m.extra
        """,
}
REFUSED_OR_RIGHT = {
    "an item of a dict of objects": """
        def tried(d, v):
            try:
                if v < 1.0:
                    d["a"] = Holder(7.0 * v)
                    raise ValueError
                return v * d["a"].n
            except ValueError:
                return d["a"].n * v

        def f(x):
            d = {"a": Holder(x[2])}
            return tried(d, x[0]) + tried(d, x[1]) * d["a"].n
        """,
    "an item of a list of objects": """
        def tried(m, v):
            try:
                if v < 1.0:
                    m.n.pop()
                    raise ValueError
                return v * m.n[-1].n
            except ValueError:
                return m.n[-1].n * v

        def f(x):
            m = Holder([Holder(1.0), Holder(x[2]), Holder(x[0])])
            return tried(m, x[0]) + tried(m, x[1]) * len(m.n)
        """,
    "an attribute that the handler reads, made in a branch": """
        def f(x):
            m = Holder(1.0)
            try:
                if x[0] < 1.0:
                    m.extra = x[1]
                    raise ValueError
            except ValueError:
                raise KeyError(str(m.extra))
            return x[0] * m.n
        """,
}
POINTS = [np.array([0.3, 0.7, -0.4]), np.array([1.2, 0.6, 0.1]), np.array([1.2, 1.6, 0.1])]


def told(call: Any) -> Any:
    """What a call gives, the exception that it raises, and what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            result = call()
        except S2SADError:
            raise
        except Exception as error:
            return type(error), str(error), printed.getvalue()
    return result, printed.getvalue()


def check(text: str, x: Any) -> None:
    """Value, exceptions, output and derivatives in both modes."""
    f, way = function_of(CLASSES + textwrap.dedent(text)), np.array([0.4, -0.3, 0.9])
    found, along = told(lambda: value_and_grad(f)(x.copy())), told(lambda: jvp(f, (x.copy(),), (way,)))
    expected = told(lambda: f(x.copy()))
    if len(expected) == 3:
        assert found == along == expected
        return
    (value, gradient), (value_too, tangent) = found[0], along[0]
    assert (value, found[1]) == (value_too, along[1]) == expected
    with contextlib.redirect_stdout(io.StringIO()):
        numeric = numeric_gradient(f, [x])
    np.testing.assert_allclose(gradient, numeric, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(tangent, numeric @ way, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("x", POINTS, ids=["both raise", "one raises", "none raises"])
@pytest.mark.parametrize("name", RIGHT)
def test_what_an_exception_leaves(name: str, x: Any) -> None:
    check(RIGHT[name], x)


@pytest.mark.parametrize("x", POINTS, ids=["both raise", "one raises", "none raises"])
@pytest.mark.parametrize("name", REFUSED_OR_RIGHT)
def test_what_an_exception_leaves_or_refused(name: str, x: Any) -> None:
    with contextlib.suppress(S2SADError):
        check(REFUSED_OR_RIGHT[name], x)
