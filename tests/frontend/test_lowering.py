"""Source in, operations out; and what the representation does not allow."""

from __future__ import annotations

import ast
import dataclasses
import textwrap
from collections.abc import Callable
from typing import Any

import gast
import pytest

from s2sad.backend.python.fold import function
from s2sad.frontend.lower_statements import lower_function
from s2sad.frontend.scopes import scope
from s2sad.ir.code import UNSET, Code, Exit, Operation, Region, Value, codes, inner
from s2sad.ir.interpret import interpreted
from s2sad.ir.show_code import show_code
from s2sad.ir.verify import MalformedError, verify


def lowered(source: str) -> Code:
    return verify(lower_function(gast.parse(textwrap.dedent(source)).body[0]))


CASES = {
    "a branch leaves a value": (
        """
        def f(x, c):
            if c:
                y = x + 1
            else:
                y = x
            return y
        """,
        """
        function f(x, c)
            y = if (c)
                y.2 = binary + (x, 1)
                yield y.2
                y.3 = copy (x)
                yield y.3
            return y
        """,
    ),
    "a loop carries values": (
        """
        def f(x, n):
            s = 0.0
            for i in range(n):
                if i > 3:
                    break
                s += x[i]
            return s
        """,
        """
        function f(x, n)
            s = copy (0.0)
            %1 = global range
            %2 = call (%1, n)
            i, s.2 = for (%2, unset, s)
                with i.2, i.3, s.3
                %3 = compare > (i.2, 3)
                if (%3)
                    break i.2, s.3
                    yield
                %4 = item (x, i.2)
                s.4 = inplace + (s.3, %4)
                continue i.2, s.4
                with i.4, s.5
                yield i.4, s.5
            return s.2
        """,
    ),
    "the value of an assignment comes first": (
        """
        def f(a, g):
            a[g()] = g(1)
        """,
        """
        function f(a, g)
            %1 = call (g, 1)
            %2 = call (g)
            set_item (a, %2, %1)
            return
        """,
    ),
    "an operation in place reads before": (
        """
        def f(a, g):
            a.b[g()] += g(1)
        """,
        """
        function f(a, g)
            %1 = attribute b (a)
            %2 = call (g)
            %3 = item (%1, %2)
            %4 = call (g, 1)
            %5 = inplace + (%3, %4)
            set_item (%1, %2, %5)
            return
        """,
    ),
    "what an inner function rebinds is memory": (
        """
        def f(x):
            n = 0
            def g():
                nonlocal n
                n += x
            g()
            return n
        """,
        """
        function f(x) memory n
            store [n] (0)
            g = function
                function g() captures n
                    %1 = load [n]
                    %2 = inplace + (%1, x)
                    store [n] (%2)
                    return
            %3 = call (g)
            %4 = load [n]
            return %4
        """,
    ),
    "what is evaluated only sometimes is a region": (
        """
        def f(x, y):
            return x and y.a < x < (2 if x else y)
        """,
        """
        function f(x, y)
            %1 = and (x)
                %2 = attribute a (y)
                %3 = chain ('<', '<') (%2, x)
                    %4 = choose (x)
                        yield 2
                        yield y
                    yield %4
                yield %3
            return %1
        """,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_operations(name: str) -> None:
    source, expected = CASES[name]
    assert show_code(lowered(source)) == textwrap.dedent(expected).strip()


@pytest.mark.parametrize(
    ("body", "memory"),
    [
        ("y = x\n    return lambda: y", ""),
        ("y = x\n    y = 2\n    return lambda: y", "y"),
        ("def g(): return g\n    return g", "g"),
        ("for i in x: x.append(lambda: i)", "i"),
        ("if x: y = 1\n    return (y for _ in x)", "y"),
        ("return (x for _ in x)", ""),
        ("y = 1\n    del y", "y"),
        ("return [y := v for v in x]", "y"),
        ("any((y := v) for v in x)\n    return y", "y"),
        ("try: y = x()\n    except E as e: y = 2\n    return y", "e y"),
        ("with x() as z: y = z\n    return y", "y"),
        ("with x() as z: y = z; return y", ""),
        ("for i in x:\n        with x() as z: y = z", "y z"),
        ("match x:\n        case [a, *b]: return a", "a b"),
        ("y = locals()", "x y"),
        ("class A:\n        z = x\n        def m(self):\n            nonlocal x\n            x = 1", "x"),
        ("x += 1\n    return [lambda: v for v in x]", ""),
    ],
)
def test_which_variables_are_memory(body: str, memory: str) -> None:
    node = gast.parse(f"def f(x):\n    {body}").body[0]
    assert sorted(scope(node).memory) == memory.split()


def test_values_that_are_not_there_raise_what_python_raises() -> None:
    source = "def f(c):\n    if c:\n        y = 1\n    return y"
    run = interpreted(lowered(source), {})
    assert run(True) == 1
    with pytest.raises(UnboundLocalError, match="'y'"):
        run(False)


def broken(code: Code, change: Callable[[Region], Region]) -> Code:
    return dataclasses.replace(code, body=change(code.body))


def test_the_verifier_sees_what_is_wrong() -> None:
    code = lowered("def f(x):\n    y = x + 1\n    for i in x:\n        y = y + i\n    return y")
    first, *rest = code.body.operations
    loop = rest[-1]
    stranger = Value("stranger")
    wrong: list[tuple[str, Any]] = [
        ("made twice", lambda r: dataclasses.replace(r, operations=(first, first, *rest))),
        ("used where it is not made", lambda r: dataclasses.replace(r, operations=tuple(rest))),
        ("used where it is not made", lambda r: dataclasses.replace(r, exit=Exit("return", (stranger,)))),
        ("break hands on", lambda r: dataclasses.replace(r, exit=Exit("break", (first.result,)))),
        ("yields 0 values", lambda r: with_loop(r, loop, 1, Exit("yield"))),
        ("continue hands on 1", lambda r: with_loop(r, loop, 0, Exit("continue", (UNSET,)))),
        ("has 1 regions", lambda r: replaced(r, loop, dataclasses.replace(loop, regions=loop.regions[:1]))),
    ]
    for message, change in wrong:
        with pytest.raises(MalformedError, match=message):
            verify(broken(code, change))


def replaced(region: Region, old: Operation, new: Operation) -> Region:
    return dataclasses.replace(region, operations=tuple([new if op is old else op for op in region.operations]))


def with_loop(region: Region, loop: Operation, at: int, end: Exit) -> Region:
    regions = list(loop.regions)
    regions[at] = dataclasses.replace(regions[at], exit=end)
    return replaced(region, loop, dataclasses.replace(loop, regions=tuple(regions)))


def test_what_has_no_name_and_cannot_be_folded_gets_one() -> None:
    """Two uses of a value, and an effect between a value and its use."""
    x = Value("x")
    call, other = Value(), Value()
    operations = (
        Operation("call", (x,), (call,), ()),
        Operation("call", (x,), (other,), ()),
        Operation("set_item", (x, call, call)),
    )
    code = lowered("def f(x):\n    return x")
    param = dataclasses.replace(code.params[0], target=x)
    made = dataclasses.replace(code, params=(param,), body=Region((), operations, Exit("return", (other,))))
    text = ast.unparse(function(verify(made)))
    assert text == "def f(x):\n    t_2 = x()\n    t = x()\n    x[t_2] = t_2\n    return t"


def test_codes_and_operations_are_found_in_all_regions() -> None:
    code = lowered("def f(x):\n    if x:\n        return lambda: (v for v in x)\n    return [g(v) for v in x]")
    assert [c.kind for c in codes(code)] == ["function", "lambda", "generator"]
    assert [o.kind for o in inner(code.body)] == ["if", "lambda", "comprehension", "global", "call"]
