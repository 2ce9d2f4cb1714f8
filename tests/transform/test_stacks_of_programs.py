"""Interpreters of small programs: stacks of lists in loops that end when the program does."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient
from tests.sources import function_of

X = np.array([[0.5, 1.5], [2.0, 0.3]])
PAIRS = """
def execute(program, x):
    stack = []
    for node in program:
        if isinstance(node, tuple):
            stack.append([node])
        else:
            stack[-1].append(node)
        while len(stack[-1]) == stack[-1][0][1] + 1:
            function = stack[-1][0][0]
            result = function(*[x[:, t] if isinstance(t, int) else t for t in stack[-1][1:]])
            if len(stack) != 1:
                stack.pop()
                stack[-1].append(result)
            else:
                return result

def f(x):
    return np.sum(execute([(np.multiply, 2), 0, (np.sin, 1), 1], x))
"""
OBJECTS = """
class Function:
    def __init__(self, function, arity):
        self.function, self.arity = function, arity

    def __call__(self, *args):
        return self.function(*args)

PROGRAM = [Function(np.multiply, 2), 0, Function(np.sin, 1), 1]

def execute(program, x):
    stack = []
    for node in program:
        if isinstance(node, Function):
            stack.append([node])
        else:
            stack[-1].append(node)
        while len(stack[-1]) == stack[-1][0].arity + 1:
            function = stack[-1][0]
            terminals = [x[:, t] if isinstance(t, int) else t for t in stack[-1][1:]]
            result = function(*terminals)
            if len(stack) != 1:
                stack.pop()
                stack[-1].append(result)
            else:
                return result

def f(x):
    return np.sum(execute(PROGRAM, x))
"""


@pytest.mark.parametrize("text", [PAIRS, OBJECTS], ids=["pairs", "objects of the module"])
def test_programs_that_are_executed(text: str) -> None:
    f = function_of(text)
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (X,), (np.ones_like(X),))[1], np.sum(expected), rtol=1e-6)


def test_the_class_of_an_object_of_the_module_is_looked_at_in_each_call() -> None:
    f = function_of("""
        class A:
            k = 2.0

        class B:
            k = 3.0

        HELD = [A()]

        def f(x):
            held = HELD[0]
            if isinstance(held, A):
                return x * held.k
            return x * x * held.k
        """)
    df = grad(f)
    assert df(2.0) == pytest.approx(2.0)
    f.__globals__["HELD"][0] = f.__globals__["B"]()
    assert df(2.0) == pytest.approx(12.0)
