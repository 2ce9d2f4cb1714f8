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
