"""Variables of comprehensions: which name is read in which round, beside names of the same text around them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad
from tests.sources import function_of
from tests.transform.remaining import check_both_modes, check_right_or_refused

X = np.array([0.3, 0.7, -0.4])
WAY = np.array([1.0, -2.0, 0.5])

#: What is read before a round binds it is what an earlier round has bound, and nothing around the comprehension.
EARLIER = {
    "iterable": """
        def f(x):
            r = [t for i in range(3) for t in ([x[0]] if i == 0 else [t * 2])]
            return sum(r) * x[1]
    """,
    "local of that name": """
        def f(x):
            t = x[1]
            r = [t for i in range(3) for t in ([x[0]] if i == 0 else [t * 2])]
            return sum(r) * t
    """,
    "global of that name": """
        t = 5.0
        def f(x):
            r = [t for i in range(3) for t in ([x[0]] if i == 0 else [t * 2])]
            return sum(r) * x[1]
    """,
    "condition": """
        t = -1.0
        def f(x):
            return sum([t for i in range(3) if i == 0 or t > 0 for t in [x[i]]])
    """,
    "generator expression": """
        t = 5.0
        def f(x):
            return sum(t for i in range(3) for t in ([x[0]] if i == 0 else [t * 2])) * x[1]
    """,
    "dict": """
        t = 5.0
        def f(x):
            r = {i: t for i in range(3) for t in ([x[0]] if i == 0 else [t * 2])}
            return r[0] * r[2] * x[1]
    """,
    "function that sees it": """
        t = 5.0
        def f(x):
            r = [t for i in range(3) for t in ([x[0]] if i == 0 else [(lambda: t * 2)()])]
            return sum(r) * x[1]
    """,
}


@pytest.mark.parametrize("text", EARLIER.values(), ids=EARLIER)
def test_what_an_earlier_round_has_bound(text: str) -> None:
    check_right_or_refused(function_of(text), X, WAY)
    if "lambda" not in text:
        check_both_modes(function_of(text), X, WAY)


@pytest.mark.parametrize("around", ["", "t = x[1]"])
def test_what_no_round_has_bound_is_an_error(around: str) -> None:
    f: Any = function_of(f"""
        t = 5.0
        def f(x):
            {around}
            g = lambda v: v * x[0]
            return sum([g(t) for i in range(3) for t in [t * 2]])
    """)
    with pytest.raises(UnboundLocalError):
        f(X)
    with pytest.raises((UnboundLocalError, S2SADError)):
        grad(f)(X)


def test_an_item_that_is_bound_again_and_read() -> None:
    text = """
        y = 5.0
        def f(x):
            def g():
                return [(last := y) for y in (x[0], x[1])]
            r = g()
            return r[0] * r[1]
    """
    check_right_or_refused(function_of(text), X, WAY)


def test_an_item_that_two_functions_read() -> None:
    text = """
        def f(x):
            g = lambda v, a=x[0]: v * a
            if x[1] > 0:
                g = lambda v, a=x[1]: v + a
            return [(lambda k: g(z))(2.0) for z in x][-1]
    """
    for x in (X, -X):
        check_both_modes(function_of(text), x, WAY)


#: What a comprehension binds is its own, though the function declares the name to be another's.
DECLARED = {
    "nonlocal": """
        def f(x):
            y = x[0]
            o = Sum(x[1])
            def h():
                nonlocal y
                y = y * 2
                return [o.up(y) * i for y, i in [(x[1], x[2])]][-1]
            return h() * y
    """,
    "nonlocal, seen by functions": """
        def f(x):
            y = x[0]
            def h():
                nonlocal y
                y = y * 2
                fs = [lambda v, y=y, i=i: v * y * i for y, i in [(x[1], x[2]), (x[0], x[1])]]
                return fs[0](y) + fs[1](1.0)
            return h() * y
    """,
    "nonlocal, of rounds": """
        def f(x):
            y = x[0]
            o = Sum(x[1])
            def h():
                nonlocal y
                y = y * 2
                return [o.up(y) * i for i, y in enumerate(x)][-1] * sum([o.up(y) for y in [x[0], x[1]]])
            return h() * y
    """,
    "global": """
        y = 3.0
        def f(x):
            global y
            o = Sum(x[1])
            return [o.up(y) * i for y, i in [(x[1], x[2])]][-1] * y
    """,
}


class Sum:
    """A sum that forgets."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def up(self, k: Any) -> Any:
        self.v = self.v * 0.5 + k
        return self.v


@pytest.mark.parametrize("text", DECLARED.values(), ids=DECLARED)
def test_what_is_declared_to_be_of_others(text: str) -> None:
    check_both_modes(function_of(text, {"Sum": Sum}), X, WAY)


#: What ``:=`` binds in a comprehension is a variable of the function around.
BOUND_INSIDE = {
    "element": "[h(k := t) for t in x]",
    "tuple": "[((k := t), x[1])[1] for t in x]",
    "condition": "[t for t in x if h(k := t) > 0]",
    "generator expression": "list(h(k := t) for t in x)",
    "dict": "list({i: h(k := t) for i, t in enumerate(x)}.values())",
}


@pytest.mark.parametrize("made", BOUND_INSIDE.values(), ids=BOUND_INSIDE)
def test_what_is_bound_inside_and_read_after_it(made: str) -> None:
    text = f"""
        def f(x):
            k = x[0]
            h = lambda i: x[1]
            return sum({made}) * k
    """
    check_right_or_refused(function_of(text), X, WAY)
    if made.endswith("for t in x]"):
        check_both_modes(function_of(text), X, WAY)
