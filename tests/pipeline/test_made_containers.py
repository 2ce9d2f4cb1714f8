"""Which lists and dicts in the result of a function are its own, and nothing else's."""

from dataclasses import replace

import pytest

from s2sad.ir.sizes import Sizes
from s2sad.ir.types import describe
from s2sad.pipeline.program import Program
from tests.sources import function_of

HEAD = """
def one(x, n):
    c = []
    for k in range(n):
        c.append(x * k)
    return c

def same(c):
    return c

def again(x, n, c):
    c = c.copy()
    if n <= 0:
        return c
    c.append(x)
    c = again(x, n - 1, c)
    return c

def f(x, n):
    {body}
"""


def makes(body):
    f = function_of(HEAD.format(body=body.replace("\n", "\n    ")))
    program, sizes = Program(), Sizes()
    facts = {"x": describe(0.3, "x", sizes), "n": describe(2, "n", sizes)}
    lowered, ir, known = program.types.typed(f, ("x",), facts, True)
    return set(program.effects.summary(replace(lowered, function=ir), known, None).makes)


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ("c = [x]\nc.append(x)\nreturn c", {0}),
        ("c = {}\nfor k in range(n):\n    c[k] = x\nreturn c", {0}),
        ("c = [x]\nif n > 1:\n    c = [x, x]\n    c.append(x)\nreturn c", {0}),
        ("c = [x]\nc.append(x)\nreturn c[0], c", {1}),
        ("c = [x]\nc.append(x)\nreturn c, c", set()),
        ("c = [x]\nc.append(x)\nreturn [c], c", {0}),
        ("c = [x]\nc.append(x)\nreturn c, (c, x)", set()),
        ("c = [x]\nd = {0: c}\nc.append(x)\nreturn d, c", {0}),
        ("c = [x]\nc.append(x)\nd = c\nreturn d", set()),
        ("c = one(x, n)\nc.append(x)\nreturn c", {0}),
        ("c = again(x, n, [x])\nreturn x, c", {1}),
        ("t = (one(x, n), x)\nc = t[0]\nreturn c", set()),
        ("return x", set()),
    ],
)
def test_what_a_function_makes(body, places):
    assert makes(body) == places
