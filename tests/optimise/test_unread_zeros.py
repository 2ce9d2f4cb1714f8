"""Zeros in an adjoint that nobody reads are left out, and no others: every gradient against differences."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

from s2sad import grad, vjp
from s2sad.ir.nodes import Assign, Call, Const, Copy, For, Function, Op, Store, Var
from s2sad.ir.traverse import walk
from s2sad.ir.types import SCALAR, Fact
from s2sad.optimise import without_unread_zeros
from s2sad.optimise.memory import Memory
from tests.oracle import numeric_gradient
from tests.random_objects import load

X = np.array([0.5, 1.2, -0.7, 0.3])
#: What is done to an array ``y`` and a matrix ``m``.
UNREAD = {
    "each_item": "for i in range(4): y[i] = np.sin(x[i])",
    "from_one_on": "for i in range(1, 4): y[i] = x[i] * x[i - 1]",
    "in_steps": "for i in range(0, 4, 2): y[i] = x[i] ** 2",
    "each_row": "for i in range(4): m[i] = x * x[i]",
    "each_row_but_its_end": "for i in range(4): m[i, 1:] = x[1:] * x[i]",
    "each_column": "for j in range(4): m[:, j] = x * x[j]",
    "each_place": "for i in range(4):\n    for j in range(4): m[i, j] = x[i] * np.cos(x[j])",
    "below_the_diagonal": "for i in range(4):\n    for j in range(i): m[i, j] = x[i] * np.cos(x[j])",
    "by_either_arm": "for i in range(4):\n    if x[i] > 0: y[i] = x[i] ** 3\n    else: y[i] = -x[i]",
    "own_item_before": "for i in range(4): y[i] = y[i] * x[i]",
    "one_item": "y[1] = x[2] * x[0]",
    "in_a_branch": "if x[0] > 0: y[1:] = x[1:] ** 2\nelse: y[0] = x[1]",
    "made_in_each_turn": "for i in range(3):\n    t = np.ones(4)\n    t[i] = x[i] ** 2\n    x = x * t",
    "made_in_each_of_two": "for i in range(2):\n    t = np.ones(4)\n"
    "    for j in range(1, 4): t[j] = np.sin(x[j - 1] * i)\n    x = x + t",
}
#: What a later turn, or statement, has overwritten.
READ = {
    "items_twice": "for k in range(2):\n    for i in range(4): y[i] = x[i] * (k + 1.0)",
    "by_the_next": "for i in range(3):\n    y[i] = x[i]\n    y[i + 1] = x[i] ** 2",
    "by_the_next_through_a_view": "v = y[1:]\nfor i in range(3):\n    y[i] = x[i]\n    v[i] = x[i] ** 2",
    "in_the_same_turn": "for i in range(4):\n    y[i] = x[i] ** 2\n    y[i] = x[i] * x[0]",
    "from_the_end": "m = np.ones((2, 4))\nfor i in range(-2, 2): m[i] = x * x[i]",
    "rows_then_columns": "for i in range(4):\n    m[i] = x * x[i]\n    m[:, i] = x * x[0]",
    "row_in_each_turn": "for i in range(4):\n    for j in range(4): m[i] = x * x[j]",
    "one_item_always": "for i in range(4): y[2] = x[i] * x[1]",
    "places_of_another_order": "for i in range(4):\n    for j in range(4): m[j, i] = m[i, j] = x[i] * x[j] ** 2",
    "items_of_a_list": "for i in [0, 1, 1, 2]: y[i] = x[i] ** 2",
    "while_it_counts": "i = 0\nwhile i < 4:\n    y[i // 2] = x[i] ** 2\n    i = i + 1",
    "before_the_loop": "y[2] = x[0] ** 2\nfor i in range(4): y[i] = np.sin(x[i])",
    "item_before": "for i in range(1, 4): y[i] = y[i - 1] * x[i]",
    "item_behind": "for i in range(3): y[i] = y[i + 1] * x[i]",
    "transposed": "for i in range(4):\n    for j in range(4): m[i, j] = x[i] * m[j, i]",
    "made_before_the_loop": "t = np.ones(4)\nfor i in range(3):\n    t[1] = x[i] ** 2\n    x = x * t",
    "handed_to_the_next_turn": "u = np.ones(4)\nfor i in range(3):\n    t = np.ones(4)\n    t[i] = x[i] * u[0]\n"
    "    x = x + u\n    u = t\n    u[3] = x[1]",
    "twice_in_a_turn": "for i in range(3):\n    t = np.ones(4)\n    t[i] = x[i]\n    y[i] = t[i] * x[0]\n"
    "    t[i] = x[1]\n    x = x * t",
    "in_one_arm_before": "y[1] = x[0]\nif x[0] > 0: y[1] = x[2] ** 2",
    "read_before_too": "z = y[1] * x[1]\nfor i in range(4): y[i] = x[i] * z\ny[0] = y[0] * z",
}


CONSTANT = "np.ones(4), np.ones((4, 4))"
ACTIVE = "x * 1.0, np.outer(x, x)"


def program(name: str, text: str, begin: str) -> Any:
    body = textwrap.indent(text, "    ")
    head = f"import numpy as np\ndef f(x):\n    y, m = {begin}\n"
    return load(f"zeros_{name}", f"{head}{body}\n    return np.sum(np.sin(y) * x) + np.sum(np.cos(m))\n")["f"]


@pytest.mark.parametrize("name", UNREAD)
def test_left_out(name: str) -> None:
    f = program(name, UNREAD[name], CONSTANT)
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7)
    text = grad(f).source_for(X)
    assert "] = 0.0" not in text, text


@pytest.mark.parametrize("begin", [CONSTANT, ACTIVE])
@pytest.mark.parametrize("name", [*UNREAD, *READ])
def test_kept_where_they_are_read(name: str, begin: str) -> None:
    f = program(name, {**UNREAD, **READ}[name], begin)
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7)


def test_a_pullback_may_be_called_again() -> None:
    f = program("each_item", UNREAD["each_item"], CONSTANT)
    _, pullback = vjp(f, X)
    first, second = pullback(1.0), pullback(1.0)
    np.testing.assert_array_equal(first[0], second[0])


def squares(y: Any, x: Any) -> None:
    for i in range(len(y)):
        y[i] = x[i] ** 2


def test_zeros_in_what_a_caller_has_stay() -> None:
    """What a callee overwrites has no part in the result, whoever wrote it before."""

    def f(x: Any) -> Any:
        y = np.sin(x)
        squares(y, x)
        return np.sum(y * x)

    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7)


def test_what_the_turn_before_has_made_is_read() -> None:
    """``v`` is the array that the turn before has made, whichever of its names comes first in the text."""
    zeros = Call(Op("function", "np.zeros", np.zeros), (Const(4),))
    item = Call(Op("index", "[]", None), (Var("v"), Const(0)))
    zero = Store(Var("d"), Const(0), Const(0.0))
    add = Store(Var("x"), Const(0), item, "+")
    made, handed = Assign("d", zeros), Copy(("v",), (Var("d"),))
    facts = dict.fromkeys("dvx", Fact("array", ndim=1)) | {"k": SCALAR}

    def left(*body: Any) -> int:
        loop = For(("k",), (Call(Op("builtin", "range", range), (Const(3),)),), body)
        function = Function("f", (), (), Var("x"), reverse=(loop,))
        found = without_unread_zeros(function, Memory(function, facts, {}, ())).reverse
        return sum(s == zero for s in walk(found or ()))

    assert left(made, add, handed, zero) == 1
    assert left(made, zero, handed) == 1
    assert left(Store(Var("d"), Const(1), item), made, zero) == 1
    assert left(made, zero, Store(Var("x"), Const(0), Call(Op("index", "[]", None), (Var("d"), Const(0))))) == 1
    assert left(made, zero) == left(made, zero, add) == 0


#: What is done to the ``rows`` of an argument, of which one is another array in the end.
ROWS = {
    "a row": "rows[0][0] = 2.0",
    "in a branch": "if k[0] > 0.0:\n    rows[0][0] = k[1]\nelse:\n    rows[0] = rows[1] * k",
    "in a handler": "try:\n    rows[0][5]\nexcept IndexError:\n    rows[0][0] = 2.0",
    "through a copy": "held = rows.copy()\nheld[0][0] = 2.0",
    "through a sum": "held = rows + [k]\nheld[0][0] = 2.0",
    "through a name": "row = rows[0]\nrow[:2] = k[:2]",
    "in a loop": "for i in range(2):\n    rows[i][i] = k[i]",
}


@pytest.mark.parametrize("items", [0, "u"], ids=["list", "dict"])
@pytest.mark.parametrize("kind", ROWS)
def test_zeros_in_rows_of_which_one_is_replaced(kind: str, items: Any) -> None:
    """The adjoint that is returned has the shadow that a row had in the beginning."""
    body = textwrap.indent(ROWS[kind], "    ")
    text = f"def f(rows, k):\n{body}\n    rows[0] = rows[0] * k\n    return np.sum(rows[0] * rows[0] + rows[1])\n"
    if items == "u":
        if "+" in ROWS[kind]:
            return
        text = text.replace("def f(rows, k):", 'def f(rows, k):\n    rows["u"] = k')
    f = load(f"rows_{kind}_{items}", f"import numpy as np\n\n\n{text}")["f"]
    rows = [np.array([0.5, 1.2, -0.7]), np.array([0.3, 0.2, 0.7])]
    given = rows if items == 0 else {0: rows[0], 1: rows[1], "u": np.ones(3)}
    k = np.array([1.0, 2.0, 3.0])

    def at(first: Any, second: Any) -> Any:
        return f([first.copy(), second.copy()] if items == 0 else {0: first.copy(), 1: second.copy()}, k)

    found = grad(f)(given, k)
    for n in (0, 1):
        np.testing.assert_allclose(found[n], numeric_gradient(at, rows, n), rtol=1e-7, atol=1e-9)
