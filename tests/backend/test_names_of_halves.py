"""A value has one name in the forward and in the reverse part, and what is saved is read in the order of writing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from s2sad import value_and_grad
from tests.golden.cases import CASES

Entry = tuple[str, ...]


def entry(node: ast.expr) -> Entry:
    """The names in a display; another expression has none."""
    items = node.elts if isinstance(node, ast.Tuple) else [node]
    return tuple(item.id if isinstance(item, ast.Name) else "" for item in items)


def pushed_and_popped(text: str) -> Iterator[tuple[Entry, Entry]]:
    """What each loop of a text pushes, and what the loop of its reverse part pops, innermost and first ones last."""
    for function in (n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)):
        calls = [n for n in ast.walk(function) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
        pushed = {ast.unparse(n.func.value): entry(n.args[0]) for n in calls if n.func.attr == "append"}  # type: ignore[attr-defined]
        for node in ast.walk(function):
            value = node.value if isinstance(node, ast.Assign) else None
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "pop":
                tape = ast.unparse(value.func.value)
                if tape in pushed:
                    yield pushed[tape], entry(node.targets[0])  # type: ignore[union-attr]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_popped_is_called_as_it_was_pushed(case: Any) -> None:
    for pushed, popped in pushed_and_popped(case.path.read_text(encoding="utf-8")):
        assert len(pushed) == len(popped)
        assert all(name in ("", again) for name, again in zip(pushed, popped, strict=True))


def halves(text: str) -> Iterator[tuple[Entry, Entry]]:
    """What forward halves return to be saved, and what the reverse halves call it."""
    functions = {n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}
    for name, function in functions.items():
        reverse = functions.get(name.removesuffix("_forward") + "_reverse")
        last = function.body[-1]
        if name.endswith("_forward") and reverse is not None and isinstance(last, ast.Return) and last.value:
            unpacked = reverse.body[0]
            if isinstance(unpacked, ast.Assign) and ast.unparse(unpacked.value).startswith("saved"):
                saved = last.value
                if isinstance(saved, ast.Tuple) and isinstance(saved.elts[-1], ast.Tuple):
                    saved = saved.elts[-1]
                yield entry(saved), entry(unpacked.targets[0])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_reverse_half_calls_what_is_saved_as_the_forward_half_does(case: Any) -> None:
    for returned, unpacked in halves(case.path.read_text(encoding="utf-8")):
        pairs = list(zip(returned, unpacked, strict=True))
        # The parameter that has all of it is called as the list of a loop is elsewhere.
        assert all(name == again for name, again in pairs if name != "saved")


def squares(x: Any, y: Any) -> Any:
    return np.sum((x * y - 1.0) ** 2 * np.exp(x * y - 2.0))


def quotient(x: Any, y: Any) -> Any:
    t = np.sin(x) / (1.0 + y**2)
    return np.sum(np.sqrt(1.0 + t**2) / (2.0 + np.cos(t * x)) * t)


def rows(x: Any, y: Any) -> Any:
    e = np.exp(np.outer(x, y) - np.outer(y, x))
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2 * np.log(1.0 + e))


X, Y = np.array([0.3, 0.7, -0.2]), np.array([1.2, -0.4, 0.9])


def assigned(block: list[ast.stmt]) -> dict[str, int]:
    """The place of the last assignment of each name in a block."""
    found = {}
    for place, stmt in enumerate(block):
        target = (
            stmt.targets[0]
            if isinstance(stmt, ast.Assign)
            else stmt.target
            if isinstance(stmt, ast.AugAssign)
            else None
        )
        if isinstance(target, ast.Name):
            found[target.id] = place
    return found


@pytest.mark.parametrize("f", [squares, quotient, rows])
def test_an_adjoint_has_the_number_of_what_it_is_the_adjoint_of(f: Any) -> None:
    """``t_bar_2`` is the derivative of the result by ``t_2``, wherever both stand in the text: by differences."""
    tree = ast.parse(value_and_grad(f, (0, 1)).source_for(X, Y))
    function = tree.body[-1]
    assert isinstance(function, ast.FunctionDef)
    places = assigned(function.body)

    def run(place: int, extra: str, result: str) -> Any:
        """The value of an expression at the end, where a statement is put in behind one of the function's."""
        body = [*function.body[: place + 1], *ast.parse(extra).body, *function.body[place + 1 : -1]]
        body += ast.parse(f"def f():\n return {result}").body[0].body  # type: ignore[attr-defined]
        changed = ast.FunctionDef(function.name, function.args, body, [], lineno=1)
        module = ast.fix_missing_locations(ast.Module([*tree.body[:-1], changed], []))
        namespace: dict[str, Any] = {}
        exec(compile(module, "changed", "exec"), namespace)
        return namespace[function.name](X, Y)

    returned = function.body[-1]
    assert isinstance(returned, ast.Return)
    assert isinstance(returned.value, ast.Tuple)
    value = ast.unparse(returned.value.elts[0])
    pairs = [(name, name.replace("t", "t_bar", 1)) for name in places if name[0] == "t" and "bar" not in name]
    pairs = [(name, bar) for name, bar in pairs if bar in places]
    assert pairs
    for name, bar in pairs:
        place = places[name]
        one = run(place, "pass", f"np.ones(np.shape({name}))")
        slope = (run(place, f"{name} = {name} + 1e-6", value) - run(place, f"{name} = {name} - 1e-6", value)) / 2e-6
        assert np.sum(run(place, "pass", bar) * one) == pytest.approx(slope, rel=1e-6)
