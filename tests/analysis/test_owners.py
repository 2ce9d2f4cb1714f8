"""The user's classes of which variables may be, or which they hold: source in, classes out."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import arguments, grad
from s2sad.pipeline.program import Program
from s2sad.runtime.reached import classes_made, classes_of_attributes, classes_reached


class Table:
    """Its subscript runs Python."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def __getitem__(self, i: int) -> float:
        return 1.0


class Box:
    def __init__(self, v: Any, n: int = 3) -> None:
        self.v = v
        self.n = n


class Maker:
    def __init__(self) -> None:
        self.table = Table(1.0)


def identity(v: Any) -> Any:
    return v


def alias(x: Any, s: Any) -> Any:
    w = s
    return x, w


def attribute(x: Any, s: Any) -> Any:
    w = s.v
    return x, w


def number(x: Any, s: Any) -> Any:
    w = s.n + 1
    return x, w


def length(x: Any, s: Any) -> Any:
    w = len(s.v)
    return x, w


def item(x: Any, s: Any) -> Any:
    w = s.v[0]
    return x, w


def loop(x: Any, s: Any) -> Any:
    for w in s.v:
        x = x + w
    return x, w


def unpacked(x: Any, s: Any) -> Any:
    w, _ = s.v
    return x, w


def looked_up(x: Any, s: Any) -> Any:
    w = getattr(s, "v")  # noqa: B009
    return x, w


def handed_on(x: Any, s: Any) -> Any:
    w = identity(s.v)
    return x, w


def chosen(x: Any, s: Any) -> Any:
    w = 1.0
    if x > 0.0:
        w = s.v
    return x, w


def stored(x: Any, s: Any) -> Any:
    w = []
    w.append(s.v)
    return x, w


def stored_through_another_name(x: Any, s: Any) -> Any:
    w = []
    q = w
    q.append(s.v)
    return x, w


def owners(f: Callable[..., Any], *args: Any) -> dict[str, frozenset[type]]:
    facts = arguments.facts(["x", "s"], args, "f")
    lowered, _, _ = Program().types.typed(f, ("x",), facts, False)  # type: ignore[arg-type]
    return lowered.resolver.owners


def led_to(found: dict[str, frozenset[type]], name: str) -> frozenset[type]:
    return found.get(name, frozenset()) | found.get(f"{name}.", frozenset())


@pytest.mark.parametrize(
    ("f", "held"),
    [
        (alias, Table(1.0)),
        (attribute, Table(1.0)),
        (item, [Table(1.0)]),
        (item, {0: Table(1.0)}),
        (loop, (Table(1.0),)),
        (loop, deque([Table(1.0)])),
        (loop, np.array([Table(1.0), None])),
        (unpacked, (Table(1.0), 2.0)),
        (looked_up, Table(1.0)),
        (handed_on, Table(1.0)),
        (chosen, Table(1.0)),
        (stored, Table(1.0)),
        (stored_through_another_name, Table(1.0)),
        (attribute, types.SimpleNamespace(o=[Box(Table(1.0))])),
    ],
)
def test_a_class_follows_the_value(f: Callable[..., Any], held: Any) -> None:
    assert Table in led_to(owners(f, 1.0, Box(held)), "w")


@pytest.mark.parametrize(("f", "held"), [(number, Table(1.0)), (length, [Table(1.0)]), (attribute, [1.0])])
def test_other_values_lead_to_no_class(f: Callable[..., Any], held: Any) -> None:
    assert Table not in led_to(owners(f, 1.0, Box(held)), "w")


def test_attributes_are_told_apart() -> None:
    found = owners(attribute, 1.0, Box(Table(1.0)))
    nothing: frozenset[type] = frozenset()
    assert (found["s.v"], found["s.n"], found["s."], found["s"]) == ({Table}, nothing, {Table}, {Box})
    assert (found["s.v."], found["s.n."]) == (nothing, nothing)


def test_what_an_object_leads_to() -> None:
    assert classes_reached([{"a": Box(Table(1.0))}]) == {Table}
    assert classes_of_attributes(Box(Table(1.0))) == {"v": ({Table}, set()), "n": (set(), set())}
    assert classes_of_attributes(Box([Table(1.0)])) == {"v": (set(), {Table}), "n": (set(), set())}
    assert classes_of_attributes(Box(1.0)) == {}
    assert (classes_made(Maker), classes_made(Box)) == ({Table}, frozenset())


def test_looking_runs_nothing_of_the_users() -> None:
    class Odd(dict[str, Any]):
        def values(self) -> Any:
            raise AssertionError

        keys = items = __iter__ = values

        @property
        def other(self) -> Any:
            raise AssertionError

    assert Odd in classes_reached([Odd(a=1.0)])


def test_arguments_of_one_class_that_hold_others_are_compiled_anew() -> None:
    class Halving:
        def __init__(self, v: Any) -> None:
            self.v = v

        def __getitem__(self, i: int) -> float:
            self.v[0] *= 0.5
            return 1.0

    def f(x: Any, s: Any) -> Any:
        first = s.v[0]
        return x * first + s.w[0] * x

    df = grad(f)
    plain = types.SimpleNamespace(v=[3.0], w=[5.0])
    assert df(2.0, plain) == 8.0
    w = [4.0]
    assert df(2.0, types.SimpleNamespace(v=Halving(w), w=w)) == 3.0
    assert w == [4.0]
    assert df(2.0, plain) == 8.0


SHELF = Box(Table(1.0))
SHELF.n = np.array([2.0, 3.0])  # type: ignore[assignment]


def added(x: Any, w: Any) -> Any:
    try:
        y = w * x
    except ValueError:
        print(x)
        raise
    return y


def test_an_attribute_of_an_object_of_the_module_is_not_the_object() -> None:
    def f(x: Any) -> Any:
        return np.sum(added(np.sin(x), SHELF.n))

    np.testing.assert_allclose(grad(f)(np.array([1.0, 2.0])), [2 * np.cos(1.0), 3 * np.cos(2.0)])
