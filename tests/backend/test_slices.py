"""Indices with slices that get a name."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import gast
import numpy as np
import pytest

from s2sad import grad
from s2sad.backend.python.expressions import UnfoldableError
from s2sad.backend.python.fold import function
from s2sad.frontend.lower_statements import lower_function
from s2sad.ir.code import Code, Operation, inner
from s2sad.transform.coalesce import coalesced
from tests.oracle import numeric_gradient


def twice(source: str) -> Code:
    """The code of a function, whose last operation that reads an item has the index of the one before."""
    code = lower_function(gast.parse(source).body[0])
    *_, first, last = [o for o in inner(code.body) if o.kind == "item"]

    def changed(operation: Operation) -> Operation:
        if operation is not last:
            return operation
        return Operation("item", (operation.operands[0], first.operands[1]), operation.results)

    return replace(code, body=replace(code.body, operations=tuple(map(changed, code.body.operations))))


@pytest.mark.parametrize(
    ("index", "text"),
    [
        ("1:n", "t = slice(1, n)"),
        ("1:n, 0", "t = (slice(1, n), 0)"),
        ("..., ::2", "t = (..., slice(None, None, 2))"),
        ("a[:n], :", "t = (a[:n], slice(None, None))"),
    ],
)
def test_an_index_that_is_used_twice_has_slice_objects(index: str, text: str) -> None:
    source = f"def f(a, n):\n    y = a[{index}]\n    z = a[0]\n    return y * z"
    made = ast.unparse(function(twice(source)))
    assert text in made.splitlines()[1]
    assert "t" in made.splitlines()[-2]
    compile(made, "made", "exec")


def test_where_slice_is_another_thing_the_index_is_not_written() -> None:
    source = "def f(a, n):\n    y = a[1:n]\n    z = a[0]\n    return y * z"
    with pytest.raises(UnfoldableError):
        function(twice(source), has_slice=False)
    with pytest.raises(UnfoldableError):
        function(twice(source.replace("(a, n)", "(a, slice)").replace(":n", ":slice")))


def test_an_index_that_a_branch_and_a_loop_share() -> None:
    def f(x: Any, n: Any) -> Any:
        total = 0.0
        for i in range(n):
            x[i, :2] = x[i, :2] * x[i, :2] if i else np.sin(x[i, :2])
            x[i, :2] += x[i, 1:]
            total = total + np.sum(x[i, :2] * x[i, :2])
        return total

    m = np.linspace(0.2, 1.3, 9).reshape(3, 3)

    def on_copy(m: Any) -> Any:
        return f(m.copy(), 3)

    np.testing.assert_allclose(grad(f)(m.copy(), 3), numeric_gradient(on_copy, (m,)), rtol=1e-7, atol=1e-8)


def test_coalesced_indices_are_left_between_brackets() -> None:
    source = "def f(a):\n    a[1:3, 0] += a[0:2, 1]\n    return a[1:3]"
    made = ast.unparse(function(coalesced(lower_function(gast.parse(source).body[0]))))
    assert made == "def f(a):\n    a[1:3, 0] += a[0:2, 1]\n    return a[1:3]"
