"""What the caller gives stays as it was: {kind of object x what is written x shared with what}, generated.

The oracles are Python itself for values, and differences on arguments made anew for gradients: exact but for rounding,
as the functions are cubic in `x`.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import itertools
import linecache
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad, vjp
from s2sad.errors import ArgumentError, S2SADError


class Plain:
    def __init__(self, v: Any, w: Any, n: float) -> None:
        self.v, self.w, self.n = v, w, n

    def touch(self) -> None:
        self.v[0] = 3.0
        self.w.append(4.0)
        self.n += 1.0


class Slotted:
    __slots__ = ("n", "v", "w")

    def __init__(self, v: Any, w: Any, n: float) -> None:
        self.v, self.w, self.n = v, w, n

    touch = Plain.touch


@dataclasses.dataclass
class Data:
    v: Any
    w: Any
    n: float

    touch = Plain.touch


class Hidden:
    def __init__(self, v: Any, w: Any, n: float) -> None:
        self._held = {"v": v, "w": w, "n": n}

    v = property(lambda self: self._held["v"])
    w = property(lambda self: self._held["w"])
    n = property(lambda self: self._held["n"])

    def touch(self) -> None:
        self._held["v"][0] = 3.0
        self._held["n"] += 1.0


class Table(dict):  # type: ignore[type-arg]
    def touch(self) -> None:
        self["v"][0] = 3.0


Triple = collections.namedtuple("Triple", "v w n")  # noqa: PYI024


def poke(a: Any) -> None:
    a[0] = 3.0


def poke_object(o: Any) -> None:
    o.v[0] = 3.0
    o.w.append(1.0)


@dataclasses.dataclass(frozen=True)
class Kind:
    """How an object is made of an array, a list and a number, and how these are read from it."""

    make: Callable[[Any, Any, float], Any]
    array: str
    items: str


def _in_objects(v: Any, w: Any, n: float) -> Any:
    made = np.empty(1, object)
    made[0] = Plain(v, w, n)
    return made


KINDS = {
    "plain": Kind(Plain, "o.v", "o.w"),
    "slots": Kind(Slotted, "o.v", "o.w"),
    "dataclass": Kind(Data, "o.v", "o.w"),
    "properties": Kind(Hidden, "o.v", "o.w"),
    "namespace": Kind(lambda v, w, n: types.SimpleNamespace(v=v, w=w, n=n), "o.v", "o.w"),
    "nested": Kind(lambda v, w, n: Plain(Data(v, w, n), [], n), "o.v.v", "o.v.w"),
    "dict": Kind(lambda v, w, n: {"v": v, "w": w, "n": n}, "o['v']", "o['w']"),
    "table": Kind(lambda v, w, n: Table(v=v, w=w, n=n), "o['v']", "o['w']"),
    "default": Kind(lambda v, w, n: collections.defaultdict(list, v=v, w=w), "o['v']", "o['w']"),
    "ordered": Kind(lambda v, w, n: collections.OrderedDict(v=v, w=w), "o['v']", "o['w']"),
    "list": Kind(lambda v, w, n: [v, w, n], "o[0]", "o[1]"),
    "tuple": Kind(lambda v, w, n: (v, w, n), "o[0]", "o[1]"),
    "record": Kind(Triple, "o.v", "o.w"),
    "deque": Kind(lambda v, w, n: collections.deque([v, w]), "o[0]", "o[1]"),
    "plains": Kind(lambda v, w, n: [Plain(v, w, n), Plain(v, w, n)], "o[1].v", "o[0].w"),
    "objects": Kind(_in_objects, "o[0].v", "o[0].w"),
}

#: What is written, into an array ``V`` and a list ``L`` of the object ``o``.
WRITES = {
    "item": "V[0] = 3.0",
    "part": "V[1:] = 2.0 * V[1:]",
    "alias": "a = V; a[1] = 0.5",
    "augmented": "a = V; a *= 2.0",
    "out": "np.multiply(V, 2.0, out=V)",
    "fill": "V.fill(0.25)",
    "callee": "poke(V)",
    "loop": "for a in (V, V): a[2] += 1.0",
    "append": "L.append(2.0)",
    "list item": "L[0] = 5.0",
    "list alias": "b = L; b.extend([1.0, 2.0])",
    "pop": "L.pop()",
    "method": "o.touch()",
    "object callee": "poke_object(o)",
    "attribute": "setattr(o, 'n', 7.0)",
    "active": "V[0] = x[1]",
}


#: What the second argument is, and how an array and a list are read from it.
SHARED = {
    "nothing": lambda o, v, w: np.array([1.5, -0.5, 2.5]),
    "the array": lambda o, v, w: v,
    "a view": lambda o, v, w: v[::-1],
    "its memory": lambda o, v, w: v.base[1:4],
    "the list": lambda o, v, w: [w],
    "both": lambda o, v, w: {"v": v, "w": w},
    "an object": lambda o, v, w: Plain(v, [], 1.0),
    "the object": lambda o, v, w: o,
    "a holder": lambda o, v, w: [[o]],
}
_READS = {
    "the list": ("np.ones(3)", "q[0]"),
    "both": ("q['v']", "q['w']"),
    "an object": ("q.v", "q.w"),
}


@dataclasses.dataclass(frozen=True)
class Program:
    kind: str
    write: str
    shared: str

    def __str__(self) -> str:
        return f"{self.kind}-{self.write}-{self.shared}"

    def arguments(self) -> tuple[Any, Any, Any]:
        memory, w = np.array([0.5, 1.5, 2.5, 3.5]), [1.0, 2.0]
        v = memory[:3]
        o = KINDS[self.kind].make(v, w, 1.0)
        return np.array([1.0, 2.0, -1.0]), o, SHARED[self.shared](o, v, w)

    def text(self) -> str:
        kind = KINDS[self.kind]
        if self.shared == "the object":
            array, w = kind.array.replace("o", "q", 1), kind.items.replace("o", "q", 1)
        elif self.shared == "a holder":
            array, w = kind.array.replace("o", "q[0][0]", 1), kind.items.replace("o", "q[0][0]", 1)
        else:
            array, w = _READS.get(self.shared, ("q", "[1.0]"))
        lines = [
            f"early = {array}",
            f"first = np.sum(x * {kind.array}) + len({w})",
            WRITES[self.write].replace("V", kind.array).replace("L", kind.items),
            f"last = np.sum(x * x * {array}) + 2.0 * len({w}) + sum({w})",
            f"same = 3.0 if {array} is {kind.array} else 5.0",
            f"return first * last + np.sum(x * early) + same * np.sum(x * {kind.array}) + len({kind.items})",
        ]
        return "def f(x, o, q):\n" + "".join(f"    {line}\n" for line in lines)

    def function(self) -> Callable[..., Any]:
        text, name = self.text(), f"<arguments {self}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        space: dict[str, Any] = {"np": np, "poke": poke, "poke_object": poke_object}
        exec(compile(text, name, "exec"), space)
        return space["f"]  # type: ignore[no-any-return]


def runs(program: Program) -> bool:
    """Whether Python runs a program."""
    try:
        program.function()(*program.arguments())
    except (AttributeError, TypeError, KeyError):
        return False
    return True


EVERY = [Program(*cell) for cell in itertools.product(KINDS, WRITES, SHARED)]
#: A part of the table in which each kind of object meets half of the writes; all of it takes minutes.
SOME = [p for i, p in enumerate(EVERY) if (i + i // len(SHARED)) % (3 * len(SHARED)) == 0]


def state(*arguments: Any) -> list[Any]:
    """All that is to be seen of some arguments: which objects they reach, and what these are."""
    numbers: dict[int, int] = {}

    def seen(x: Any) -> Iterator[Any]:
        if isinstance(x, (float, int, str, type(None))):
            yield x
            return
        yield numbers.setdefault(id(x), len(numbers)), id(x)
        if isinstance(x, np.ndarray) and x.dtype != object:
            yield x.tobytes(), x.strides, x.flags.writeable
        elif isinstance(x, dict):
            yield from (part for pair in x.items() for item in pair for part in seen(item))
        elif isinstance(x, (list, tuple, collections.deque, np.ndarray)):
            yield from (part for item in x for part in seen(item))
        for name in [*getattr(x, "__dict__", ()), *getattr(type(x), "__slots__", ())]:
            yield name
            yield from seen(getattr(x, name))

    return list(seen(list(arguments)))[1:]


def differences(f: Callable[..., Any], arguments: Callable[[], tuple[Any, ...]]) -> Any:
    x = arguments()[0]
    found = np.zeros_like(x)
    for i in range(x.size):
        for step, weight in ((1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)):
            moved, *rest = arguments()
            moved[i] += 0.01 * step
            found[i] += weight * f(moved, *rest) / 0.12
    return found


def outcome(program: Program) -> str:
    f = program.function()
    arguments = program.arguments()
    try:
        f(*program.arguments())
    except (AttributeError, TypeError, KeyError):
        return "an error in Python"
    before = state(*arguments)
    try:
        value, gradient = value_and_grad(f)(*arguments)
    except S2SADError as error:
        assert state(*arguments) == before
        return f"refused: {str(error).splitlines()[0].partition('error: ')[2]}"
    assert state(*arguments) == before, "an argument was changed"
    assert value == f(*program.arguments()), "the value is not Python's"
    np.testing.assert_allclose(gradient, differences(f, program.arguments), rtol=1e-8, atol=1e-8)
    return "right"


@pytest.mark.parametrize("program", SOME, ids=str)
def test_arguments_stay_as_they_were(program: Program) -> None:
    found = outcome(program)
    assert not found.startswith("refused") or program.write == "active"


X = np.array([1.0, 2.0, -1.0])


class Node:
    def __init__(self, value: float) -> None:
        self.value, self.next = value, self


class Mark(enum.Enum):
    OLD = 1
    NEW = 2


class Unmarked:
    pass


NOTHING = Unmarked()


def through_a_cycle(x: Any, node: Any) -> Any:
    setattr(node.next.next, "value", 3.0)  # noqa: B010
    return np.sum(x) * node.value + (1.0 if node.next.next is node else 2.0)


def test_a_cycle_survives() -> None:
    node = Node(1.0)
    value, gradient = value_and_grad(through_a_cycle)(X, node)
    assert (value, node.value, node.next is node) == (7.0, 1.0, True)
    np.testing.assert_array_equal(gradient, np.full(3, 3.0))


def marked(x: Any, o: Any) -> Any:
    o.v[0] = 4.0
    return np.sum(x * o.v) * (2.0 if o.w is Mark.NEW else 3.0) * (5.0 if o.n is NOTHING else 7.0)


def test_what_is_there_to_be_recognised_is_not_copied() -> None:
    value, gradient = value_and_grad(marked)(X, Plain(np.ones(3), Mark.NEW, NOTHING))
    assert value == 10.0 * (4.0 + 2.0 - 1.0)
    np.testing.assert_array_equal(gradient, [40.0, 10.0, 10.0])


def draws(x: Any, o: Any) -> Any:
    o.v[0] = 1.5
    return np.sum(x * o.v) * o.n.normal() * next(o.w)


def test_generators_and_iterators_go_on_once() -> None:
    rng, same = np.random.default_rng(3), np.random.default_rng(3)
    numbers = iter([2.0, 4.0, 8.0])
    grad(draws)(X, Plain(np.ones(3), numbers, rng))
    same.normal()
    assert rng.normal() == same.normal()
    assert next(numbers) == 4.0


def test_an_iterator_over_a_list_that_changes_is_refused() -> None:
    items = [1.0, 2.0]
    with pytest.raises(S2SADError, match="list_iterator among the arguments holds an object of type list"):
        grad(held_by_an_iterator)(X, Plain(np.ones(3), items, iter(items)))
    assert items == [1.0, 2.0]


def held_by_an_iterator(x: Any, o: Any) -> Any:
    o.w.append(3.0)
    return np.sum(x) * sum(o.n)


def test_a_read_only_array_of_an_object_stays_read_only() -> None:
    fixed = np.ones(3)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        grad(marked)(X, Plain(fixed, Mark.NEW, 1.0))


MODULE_ITEMS = [1.0]


def writes_the_module(x: Any, items: Any) -> Any:
    items.append(2.0)
    return np.sum(x) * len(MODULE_ITEMS)


def test_an_argument_that_is_state_of_the_module_and_changes_is_refused() -> None:
    with pytest.raises(S2SADError, match="argument items and the module share a list"):
        grad(writes_the_module)(X, MODULE_ITEMS)
    assert MODULE_ITEMS == [1.0]
    np.testing.assert_array_equal(grad(writes_the_module)(X, [1.0]), np.ones(3))


def grows(x: Any, k: Any, d: Any) -> Any:
    before = np.sum(x * x) * len(d["l"])
    k.append(2.0)
    return before + np.sum(x) * len(d["l"]) * sum(k)


def test_a_pullback_of_arguments_that_share_a_list() -> None:
    k = [1.0]
    value, pullback = vjp(grows, X, k, {"l": k}, argnums=[0])
    assert (value, k) == (6.0 + 2.0 * 2.0 * 3.0, [1.0])
    for factor in (1.0, 2.0):
        np.testing.assert_array_equal(pullback(factor)[0], factor * (2.0 * X + 6.0))
    np.testing.assert_array_equal(grad(grows)(X, k, {"l": [1.0]}), 2.0 * X + 3.0)
    assert k == [1.0]


def shares_what_is_differentiated(x: Any, o: Any) -> Any:
    o.v[1:] = 2.0 * x[:-1]
    return np.sum(x * o.v)


def test_an_object_that_shares_memory_with_what_is_differentiated_is_refused_by_name() -> None:
    x = X.copy()
    with pytest.raises(S2SADError, match=r"arguments o.v and x share memory that the function may change"):
        grad(shares_what_is_differentiated)(x, Data(x[::-1], [], 1.0))
    np.testing.assert_array_equal(x, X)


def swaps(x: Any, a: Any, b: Any) -> Any:
    keep = a.copy()
    a[:] = 2.0 * b
    b[0] = keep[-1]
    return np.sum(x * a) + np.sum(x * x * b)


@pytest.mark.parametrize("views", [(slice(0, 3), slice(2, 5)), (slice(0, 6, 2), slice(1, 4)), (slice(3, 0, -1),) * 2])
def test_views_of_one_array_stay_views_of_one(views: tuple[slice, slice]) -> None:
    def arguments() -> tuple[Any, ...]:
        memory = np.arange(1.0, 7.0)
        return X.copy(), memory[views[0]], memory[views[1]]

    given = arguments()
    before = state(*given)
    value, gradient = value_and_grad(swaps)(*given)
    assert state(*given) == before
    assert value == swaps(*arguments())
    np.testing.assert_allclose(gradient, differences(swaps, arguments), rtol=1e-9)


def reads(x: Any, o: Any) -> Any:
    return np.sum(x * o.v) * o.w[0]


def test_nothing_is_copied_where_nothing_is_written() -> None:
    text = grad(reads).source_for(X, Plain(np.ones(3), [2.0], 1.0))
    assert not any(name in text for name in ("copy_reachable", "unshared", "apart", "own"))


def test_an_array_alone_is_copied_as_ever() -> None:
    text = grad(poked).source_for(X, np.ones(3))
    assert "k = np.copy(k)" in text


def poked(x: Any, k: Any) -> Any:
    k[0] = 2.0
    return np.sum(x * k)


def test_slots_properties_and_dictionaries_of_any_class_are_copied_without_running_their_code() -> None:
    table = collections.defaultdict(list, {"v": np.ones(3), "w": [1.0]})
    assert grad(in_a_table)(X, table).tolist() == [3.0, 1.0, 1.0]
    assert list(table) == ["v", "w"]
    assert table["v"].tolist() == [1.0, 1.0, 1.0]


def in_a_table(x: Any, table: Any) -> Any:
    table["v"][0] = 3.0
    table["new"].append(1.0)
    return np.sum(x * table["v"]) * len(table["new"])


def gets_an_array(x: Any, k: Any, s: Any) -> Any:
    s["q"] = k * 2.0
    a = s["q"]
    a[0], a[1] = 0.35, 0.1
    return np.sum(np.sin(a) * x)


@pytest.mark.parametrize("held", [{}, {"q": 1.0}, {"q": np.ones(3)}])
def test_a_dict_that_gets_an_array_which_is_then_written_stays_as_it_was(held: dict[str, Any]) -> None:
    x, k, s = np.array([0.5, 1.2, -0.7]), np.array([1.0, 2.0, 3.0]), dict(held)
    value, gradient = value_and_grad(gets_an_array)(x, k, s)
    assert s.keys() == held.keys()
    assert all(s[key] is item for key, item in held.items())
    assert value == gets_an_array(x, k, dict(held))
    np.testing.assert_allclose(gradient, np.sin([0.35, 0.1, 6.0]))


@dataclasses.dataclass
class Holding:
    v: Any


def replaces_a_field(x: Any, k: Any, s: Any) -> Any:
    s.v = k.copy()
    a = s.v
    a[0] = 0.35
    return np.sum(s.v * x)


def test_a_field_that_is_replaced_and_then_written() -> None:
    x, k, s = np.array([0.5, 1.2, -0.7]), np.array([1.0, 2.0, 3.0]), Holding(np.ones(3))
    np.testing.assert_allclose(grad(replaces_a_field)(x, k, s), [0.35, 2.0, 3.0])
    np.testing.assert_array_equal(s.v, np.ones(3))


DEFAULT = np.array([1.0, 2.0, 3.0])


def writes_a_default(x: Any, a: Any = DEFAULT, *, b: Any = (), c: Any = {"n": DEFAULT}) -> Any:  # noqa: B006
    a[0] = x[0]
    return np.sum(a * x * x)


def test_a_default_that_the_function_changes_is_refused() -> None:
    """Python's later calls see the change; a copy would lose it."""
    what = "writes_a_default may change the default value of a"
    with pytest.raises(ArgumentError, match=what):
        grad(writes_a_default)(X)
    x, a = np.array([0.5, -1.0, 2.0]), np.array([3.0, 4.0, 5.0])
    expected = [3 * x[0] ** 2, 2 * a[1] * x[1], 2 * a[2] * x[2]]
    np.testing.assert_allclose(grad(writes_a_default)(x, a), expected)
    np.testing.assert_allclose(value_and_grad(writes_a_default)(x, a=a)[1], expected)
    # What was compiled for an argument is not run for the default.
    with pytest.raises(ArgumentError, match=what):
        value_and_grad(writes_a_default)(x)
    with pytest.raises(ArgumentError, match=what):
        vjp(writes_a_default, x)
    np.testing.assert_array_equal(DEFAULT, [1.0, 2.0, 3.0])


def puts(a: Any, v: float) -> None:
    a[0] = v


def calls_it(x: Any, k: Any, put: Any) -> Any:
    put(0.25)
    return np.sum(k * x * x)


def by_name(v: float, *, target: Any) -> None:
    target[0] = v


@pytest.mark.parametrize(
    "made",
    [lambda k: functools.partial(puts, k), lambda k: functools.partial(by_name, target=k)],
    ids=["args", "named"],
)
def test_a_partial_function_that_writes_an_argument(made: Callable[[Any], Any]) -> None:
    x, k = np.array([0.5, -1.0, 2.0]), np.array([3.0, 4.0, 5.0])
    put = made(k)
    value, gradient = value_and_grad(calls_it)(x, k, put)
    np.testing.assert_array_equal(k, [3.0, 4.0, 5.0])
    np.testing.assert_allclose(gradient, 2 * x * [0.25, 4.0, 5.0])
    assert value == np.sum([0.25, 4.0, 5.0] * x * x)
    put(7.0)
    assert k[0] == 7.0


SCALES = np.array([1.0, 2.0, 3.0])


def scaled_by_the_module(t: Any) -> Any:
    return t * SCALES


def writes_what_a_callee_reads(a: Any, x: Any) -> Any:
    a[0] = 5.0
    return np.sum(scaled_by_the_module(x) * x)


def test_an_argument_that_is_an_array_which_only_a_callee_reads() -> None:
    x = np.array([0.5, 1.0, 1.5])
    np.testing.assert_allclose(grad(writes_what_a_callee_reads, 1)(SCALES.copy(), x), 2.0 * SCALES * x)
    with pytest.raises(S2SADError, match="argument a and what scaled_by_the_module reads share memory"):
        grad(writes_what_a_callee_reads, 1)(SCALES, x)
    np.testing.assert_array_equal(SCALES, [1.0, 2.0, 3.0])
