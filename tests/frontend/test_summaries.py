"""What calls of functions with source may write: what runs changes no more, and what changes nothing is known to."""

from __future__ import annotations

import contextlib
import copy
import functools
import types
from typing import Any

import numpy as np
import pytest

from s2sad.frontend import summaries, writing
from s2sad.frontend.summaries import Writes, writes_of
from s2sad.frontend.writing import member_may_write

TABLE = np.array([0.5, -0.25])


class Mesh:
    def __init__(self, n: int) -> None:
        self.nodes = np.linspace(0.0, 1.0, n)
        self.cache: dict[int, Any] = {}

    def lengths(self) -> Any:
        return np.diff(self.nodes)

    def stiffness(self) -> Any:
        out = np.zeros((len(self.nodes), len(self.nodes)))
        for i in range(len(self.nodes) - 1):
            out[i : i + 2, i : i + 2] += np.array([[1.0, -1.0], [-1.0, 1.0]]) / self.lengths()[i]
        return out

    def cached(self, n: int) -> Any:
        if n not in self.cache:
            self.cache[n] = np.linspace(0.0, 1.0, n)
        return self.cache[n]

    def moved(self) -> None:
        self.nodes = self.nodes + 1.0

    def move(self) -> None:
        self.nodes[0] = 2.0


MESH = Mesh(3)


# --- what writes nothing


def sums(k: Any, v: Any) -> Any:
    return k.sum() * np.mean(v) + len(k)


def rows(k: Any, v: Any) -> Any:
    out = []
    for i in range(2):
        row = []
        for j in range(2):
            row.append(k[j] * v[i])  # noqa: PERF401
        out.append(row)
    return np.array(out)


def held_in_a_list(k: Any, v: Any) -> Any:
    items = []
    items.append(k)
    items.append(v)
    return np.stack(items)


def copied(k: Any, v: Any) -> Any:
    out = k.copy()
    out[0] = v[1]
    held = {"x": out}
    held["x"][1] = 3.0
    return held["x"]


def by_key(k: Any, v: Any) -> Any:
    found: dict[int, list[float]] = {}
    for i in k:
        found.setdefault(int(i), []).append(v[0])
    return found


def with_a_manager(k: Any, v: Any) -> Any:
    with np.errstate(all="ignore"):
        return k / v


def tried(k: Any, v: Any) -> Any:
    try:
        return np.linalg.cholesky(k)
    except np.linalg.LinAlgError:
        return v


def by_a_lambda(k: Any, v: Any) -> Any:
    return (lambda a: a + v)(k)


def sorted_by(k: Any, v: Any) -> Any:
    return sorted(k, key=lambda a: a * v[0])


def of_a_module(k: Any, v: Any) -> Any:
    return MESH.stiffness()[0, 0] + TABLE[0] + k[0]


def comprehended(k: Any, v: Any) -> Any:
    return [a * 2.0 for a in k if a > v[0]]


def given_a_copy(k: Any, v: Any) -> Any:
    first(np.copy(k), v)
    return k


# --- what writes


def first(k: Any, v: Any) -> None:
    k[0] = v[0]


def view(k: Any, v: Any) -> None:
    part = v[1:]
    part += 1.0


def added(k: Any, v: Any) -> None:
    k += v


def out(k: Any, v: Any) -> None:
    np.add(k, v, out=v)


def transposed(k: Any, v: Any) -> None:
    k.T[0] = 2.0


def flat(k: Any, v: Any) -> None:
    k.flat[0] = 7.0


def in_a_list(k: Any, v: Any) -> None:
    items = [v]
    items[0][0] = 9.0


def by_a_loop(k: Any, v: Any) -> None:
    for a in (k, v):
        a[0] = 5.0


def unpacked(k: Any, v: Any) -> None:
    a, _ = (v, k)
    a.fill(1.0)


def by_a_callee(k: Any, v: Any) -> None:
    first(v, k)


def by_a_key(k: Any, v: Any) -> None:
    max([k], key=lambda a: first(a, v) or 0.0)


def by_a_map(k: Any, v: Any) -> None:
    for _ in map(first, [v], [k]):
        pass


def by_a_closure(k: Any, v: Any) -> None:
    def inner() -> None:
        k[1] = 4.0

    inner()


def returned(k: Any, v: Any) -> Any:
    def same(a: Any) -> Any:
        return a

    same(v)[0] = 3.0


def by_its_method(k: Any, v: Any) -> None:
    for method in (v.fill, k.sum):
        method(2.0) if method == v.fill else None


@functools.singledispatch
def put(k: Any, v: Any) -> None:
    pass


@put.register
def _(k: np.ndarray, v: Any) -> None:
    k[0] = v[0]


def by_its_class(k: Any, v: Any) -> None:
    put(k, v)


def of_the_module(k: Any, v: Any) -> None:
    TABLE[0] += 1.0


def of_its_object(k: Any, v: Any) -> None:
    MESH.move()


def as_integers(k: Any, v: Any) -> Any:
    c = k.copy().astype(int)
    c[0] = v[0]
    return c


def as_it_is(k: Any, v: Any) -> Any:
    k.astype(float, copy=False)[0] = v[0]


NOTHING = (
    as_integers, sums, rows, held_in_a_list, copied, by_key, with_a_manager, tried, by_a_lambda, sorted_by, of_a_module,
    comprehended, given_a_copy,
)  # fmt: skip
WRITING = (
    as_it_is, first, view, added, out, transposed, flat, in_a_list, by_a_loop, unpacked, by_a_callee, by_a_key,
    by_a_map, by_a_closure, returned, by_its_method, by_its_class, of_the_module, of_its_object,
)  # fmt: skip


@pytest.mark.parametrize("f", NOTHING, ids=lambda f: f.__name__)
def test_nothing_is_written(f: types.FunctionType) -> None:
    assert not writes_of(f)


@pytest.mark.parametrize("f", NOTHING + WRITING, ids=lambda f: f.__name__)
def test_no_more_changes(f: types.FunctionType) -> None:
    found = writes_of(f)
    given = {"k": np.array([1.5, 2.5]), "v": np.array([0.5, 3.5])}
    outside = copy.deepcopy((TABLE, vars(MESH)))
    before = copy.deepcopy(given)
    with contextlib.suppress(np.linalg.LinAlgError):
        f(*given.values())
    changed = {name for name, value in given.items() if not np.array_equal(value, before[name])}
    assert changed <= found.params
    assert bool(changed) == (f in WRITING[:-2])
    is_outside = not np.array_equal(TABLE, outside[0]) or not np.array_equal(MESH.nodes, outside[1]["nodes"])
    assert is_outside <= found.outside
    assert is_outside == (f in WRITING[-2:])


def one_of_two(k: Any, v: Any) -> Any:
    k[0] = v[0]
    return v


def unknown_method(k: Any, v: Any) -> Any:
    return k.step(v)


def unknown_function(k: Any, v: Any) -> Any:
    return k(1.0) + v


def one_of_two_attributes(k: Any, v: Any) -> Any:
    return (k.copy if v else k.step)()


def test_each_parameter_is_known() -> None:
    assert writes_of(one_of_two) == Writes(frozenset({"k"}), False)
    assert writes_of(unknown_method) == Writes(frozenset({"k", "v"}), True)
    assert writes_of(unknown_function) == Writes(frozenset({"k"}), True)
    assert writes_of(one_of_two_attributes) == Writes(frozenset({"k"}), True)


def with_a_rule(k: Any, v: Any, rule: Any = None) -> Any:
    return np.sum(k) if rule is None else rule(k)


def test_a_parameter_that_is_none_is_not_called() -> None:
    assert writes_of(with_a_rule) == Writes(frozenset({"k", "rule"}), True)
    assert writes_of(with_a_rule, numbers=frozenset({"rule"})) == Writes(makes=True)


def test_methods_of_a_known_class() -> None:
    assert not member_may_write(Mesh, "stiffness")
    assert member_may_write(Mesh, "cached")
    assert member_may_write(Mesh, "cached", beyond_itself=True)
    assert member_may_write(Mesh, "moved")
    assert not member_may_write(Mesh, "moved", beyond_itself=True)
    assert member_may_write(Mesh, "move", beyond_itself=True)


class Steps:
    def __init__(self, n: int, v: Any) -> None:
        self.i, self.n, self.v = 0, n, v

    def __next__(self) -> Any:
        self.i += 1
        return self.i

    def grow(self) -> None:
        self.v += self.n


def test_what_is_added_to_an_attribute_may_be_added_to_an_array() -> None:
    assert not member_may_write(Steps, "__next__", beyond_itself=True)
    assert member_may_write(Steps, "grow", beyond_itself=True)


def harmless(a: Any) -> Any:
    return a


def by_a_name(k: Any, v: Any) -> Any:
    return harmless(k)


def test_a_name_that_means_another_function(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not writes_of(by_a_name)
    monkeypatch.setitem(globals(), "harmless", lambda a: a.fill(0.0))
    assert writes_of(by_a_name).params == {"k"}
    monkeypatch.undo()
    assert not writes_of(by_a_name)


def nested_iterators(k: Any, v: Any) -> Any:
    items = iter(k)
    for _ in range(2):
        items = reversed(list(enumerate(items)))
        items = zip(items, items, strict=False)
    return list(items)


def test_iterators_through_iterators() -> None:
    assert not writes_of(nested_iterators)


# --- attributes of objects whose class is not known


class Holder:
    def total(self, v: Any) -> Any:
        return v.count(3.0)


def counted(v: Any) -> Any:
    return v.count(3.0)


HOLDER, COUNTED, BY_NAME = Holder(), functools.partial(counted), {"counted": counted}


def counted_by_a_class(v: Any) -> Any:
    return Holder.total(HOLDER, v)


def counted_by_a_method(v: Any) -> Any:
    return HOLDER.total(v)


def counted_by_a_partial(v: Any) -> Any:
    return COUNTED(v)


def counted_by_an_item(v: Any) -> Any:
    return BY_NAME["counted"](v)


def counted_in_a_list(v: Any) -> Any:
    return [w.count(3.0) for w in [v]]


def counted_of_a_new_list(v: Any) -> Any:
    items = [1.0, v]
    return items.count(3.0)


@pytest.mark.parametrize(
    "f", [counted, counted_by_a_class, counted_by_a_method, counted_by_a_partial, counted_by_an_item, counted_in_a_list]
)
def test_attribute_that_may_be_read(f: types.FunctionType) -> None:
    assert writes_of(f, doubtful=frozenset({"count"})).doubts
    assert not writes_of(f, doubtful=frozenset({"index"})).doubts


def test_attribute_of_a_list_is_known() -> None:
    assert not writes_of(counted_of_a_new_list, doubtful=frozenset({"count"})).doubts


class Column:
    """An object of which many special methods write."""

    def __init__(self, v: list[float]) -> None:
        self.v = v

    def __add__(self, other: Any) -> Column:
        self.v[0] = 2.0
        return self

    def __mul__(self, other: Any) -> Column:
        self.v[0] = 3.0
        return self

    def __sub__(self, other: Any) -> Column:
        self.v[0] = 4.0
        return self


def added(column: Column) -> Any:
    return column + column


def test_one_special_method_that_writes_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(function: types.FunctionType, *rest: Any, **named: Any) -> summaries.Writes:
        asked.append(function.__name__)
        return summaries.writes_of(function, *rest, **named)

    monkeypatch.setattr(writing, "writes_of", counted)
    assert writing.writes_by_method(added, [Column])
    assert len(asked) == 1
