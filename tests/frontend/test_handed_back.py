"""Functions that hand back the lists and dicts of their callers: text in, text out."""

import ast
import textwrap

import gast
import pytest

from s2sad.frontend.handed_back import Handing
from s2sad.frontend.source import read_source
from tests.sources import names_of

FILL = """
def fill(c, x):
    for k in range(2):
        c[k] = x ** k

def step(c, x):
    c[0] = x
    if x > 1.0:
        return 1.0
    return c[1]

def keep(c, x):
    c[0] = x
    return c

G = 2.0

def f(x, n):
    {body}
"""


def texts(body, changed=("c",), name="f"):
    """The text of ``f`` with calls that hand back, and of the function ``name`` that does; None where it stays."""
    names = names_of(FILL.replace("{body}", body.replace("\n", "\n    ")))
    called = {names[n]: frozenset(changed) for n in ("fill", "step", "keep")}
    handing = Handing(called, read_source, lambda function: function)
    source, _ = handing.rewritten(read_source(names["f"]), names["f"])
    own = None if name == "f" else handing.version(names[name])
    made = None if own is None else read_source(own.cell_contents)
    return tuple(None if s is None else _text(s.node) for s in (source, made))


def _text(node):
    return ast.unparse(gast.gast_to_ast(node))


def same(got, wanted):
    assert got == textwrap.dedent(wanted).strip()


def test_a_function_without_result():
    caller, callee = texts("c = [x, x]\nfill(c, x)\nreturn c[1]", name="fill")
    same(
        caller,
        """
        def f(x, n):
            c = [x, x]
            c = fill_2(c, x)
            return c[1]
        """,
    )
    same(
        callee,
        """
        def fill(c, x):
            c = c.copy()
            for k in range(2):
                c[k] = x ** k
            return c
        """,
    )


def test_a_function_with_a_result():
    caller, callee = texts("c = [x, x]\ny = c[0] * step(c, x)\nreturn c[1] + y", name="step")
    same(
        caller,
        """
        def f(x, n):
            c = [x, x]
            left = c[0]
            left_2, c = step_2(c, x)
            y = left * left_2
            return c[1] + y
        """,
    )
    same(
        callee,
        """
        def step(c, x):
            c = c.copy()
            c[0] = x
            if x > 1.0:
                return (1.0, c)
            return (c[1], c)
        """,
    )


def test_what_the_call_may_change_is_read_before():
    caller, _ = texts("c = [x, x]\nd = lambda: n\ny = G * n + step(c, x)\nreturn y + d()")
    same(
        caller,
        """
        def f(x, n):
            c = [x, x]
            d = lambda: n
            left = G * n
            left_2, c = step_2(c, x)
            y = left + left_2
            return y + d()
        """,
    )
    caller, _ = texts("c = [x, x]\nreturn G + step(c, x)")
    same(
        caller,
        """
        def f(x, n):
            c = [x, x]
            left = G
            left_2, c = step_2(c, x)
            return left + left_2
        """,
    )


def test_a_loop_that_asks():
    caller, _ = texts("c = [x, x]\nwhile step(c, x) < 1.0 and n > 0:\n    n = n - 1\nreturn c[1]")
    same(
        caller,
        """
        def f(x, n):
            c = [x, x]
            while True:
                left, c = step_2(c, x)
                if not (left < 1.0 and n > 0):
                    break
                n = n - 1
            return c[1]
        """,
    )


@pytest.mark.parametrize(
    "body",
    [
        "c = [x, x]\nd = c\nfill(c, x)\nreturn d[1]",
        "c = [x, x]\nd = (c, 1.0)\nfill(c, x)\nreturn d[0][1]",
        "c = [x, x]\nd = lambda: c[1]\nfill(c, x)\nreturn d()",
        "c = n\nfill(c, x)\nreturn c[1]",
        "c = [x, x]\ntry:\n    fill(c, x)\nexcept ValueError:\n    pass\nreturn c[1]",
        "c = [x, x]\nfor v in c:\n    fill(c, v)\nreturn c[1]",
        "c = [x, x]\nd = reversed(c)\nfill(c, x)\nreturn next(d)",
        "c = [x, x]\nd = [fill(c, x) for k in range(n)]\nreturn c[1]",
        "c = [x, x]\nd = n > 1 and step(c, x)\nreturn c[1]",
        "c = [x, x]\nn.c = c\nfill(c, x)\nreturn n.c[1]",
        "c = [x, x]\nfill(*[c, x])\nreturn c[1]",
        "c = [x, x]\nn.keep(c)\nfill(c, x)\nreturn c[1]",
        "c = d = [x, x]\nfill(c, x)\nreturn d[1]",
        "c = [x, x]\nc[0] += step(c, x)\nreturn c[1]",
        "c = [x, x]\nd = keep(c, x)\nfill(c, x)\nreturn d[1]",
        "c = [x, x] + n\nd = c[:1]\nfill(c, x)\nreturn d[0]",
        "c = [x, x] * n\nd = c[:1]\nfill(c, x)\nreturn d[0]",
        "c = [x, x]\nd = sum((), c)\nfill(c, x)\nreturn d[0]",
        "c = [x, x]\nreturn n + step(c, (n := 2.0))",
        "global G\nG = [x, x]\nfill(G, x)\nreturn G[1]",
        "global G\nc = [x, x]\nG += step(c, x)\nreturn c[1]",
    ],
)
def test_what_others_may_hold_stays(body):
    caller, _ = texts(body)
    assert "fill_2" not in caller
    assert "step_2" not in caller


def test_a_parameter_of_the_caller_is_wanted_back():
    names = names_of(FILL.replace("{body}", "fill(n, x)\n    return n[0]"))
    handing = Handing({names["fill"]: frozenset({"c"})}, read_source, lambda function: function)
    source, _ = handing.rewritten(read_source(names["f"]), names["f"])
    assert "fill_2" not in _text(source.node)
    assert handing.wanted == {names["f"]: frozenset({"n"})}
