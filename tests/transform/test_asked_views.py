"""What is asked of views of dicts that the program makes: whether a key is in them, as they are then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient
from tests.sources import function_of

QUESTIONS = {
    "key": "'rate' in options.keys()",
    "no key": "'rates' not in options.keys()",
    "late": "'late' in options.keys()",
    "list": "'rate' in list(options.keys())",
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_views_are_asked(question: str) -> None:
    f = function_of(f"""
        class Filter:
            def __init__(self, size, **options):
                self.size, self.options = size, options
                if len(options) > 2:
                    options["late"] = 2.0
                    del options["kind"]
                self.power = 1.0
                if {QUESTIONS[question]}:
                    self.power = 2.0

            def __call__(self, x):
                return self.size * x**self.power

        def f(x):
            first, second = Filter(x[0], rate=x[1], kind="linear"), Filter(x[1], kind="linear", rate=x[2], order=3)
            return np.sum(first(x) * second(x) * Filter(2.0)(x))
    """)
    x = np.array([0.4, 0.7, 1.1])
    expected: Any = numeric_gradient(f, (x,))
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (x,), (np.cos(x),))[1], expected @ np.cos(x), rtol=1e-7)
