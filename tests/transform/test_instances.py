"""Objects given as arguments, whose attributes the function sets: right, or refused, and left as they were."""

from __future__ import annotations

import copy
import dataclasses
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jacfwd, jvp, value_and_grad, vjp
from s2sad.errors import S2SADError
from s2sad.transform.instances import Changed, changed_by
from tests.oracle import numeric_gradient

X = np.array([0.3, -0.7, 1.2])


class Layer:
    """A layer that remembers, counts and records."""

    scale = 2.0
    bias = 1.0

    def __init__(self, n: int = 0) -> None:
        self.w = np.array([0.5, -0.4, 0.8])
        self.n, self.rate, self.last = n, 0.25, None
        self.v = np.array([1.0, 2.0, 3.0])
        self.log: list[Any] = [0.5]
        self.table: dict[str, Any] = {"a": 1.5}
        self.own_scale, self.bias = self.scale, 4.0

    @property
    def doubled(self) -> Any:
        return self.last * 2.0

    @property
    def level(self) -> Any:
        return self.rate

    @level.setter
    def level(self, value: Any) -> None:
        self.rate = value * 0.5

    def __call__(self, x: Any) -> Any:
        self.last = self.w * x
        self.n += 1
        return self.last

    def note(self, value: Any) -> None:
        self.log.append(value)


class Deep(Layer):
    def __call__(self, x: Any) -> Any:
        self.first = np.sin(x)
        return super().__call__(self.first) * self.scale


def remembers(o: Any, x: Any) -> Any:
    o(x)
    return np.sum(o.last**2) * o.n


def reads_before(o: Any, x: Any) -> Any:
    y = np.sum(o.v * x)
    o.v = x * o.rate
    return y + np.sum(o.v * o.w)


def counts(o: Any, x: Any) -> Any:
    for k in range(3):
        o.n += k
        o.rate *= 1.5
        x = x * o.rate
    return np.sum(x) * o.n


def sets_in_a_branch(o: Any, x: Any) -> Any:
    if x[0] > 0.0:
        o.v = x * x
    return np.sum(o.v * x)


def sets_a_new_one(o: Any, x: Any) -> Any:
    o.fresh = x * 2.0
    o.fresh = o.fresh * x
    return np.sum(o.fresh)


def by_a_property(o: Any, x: Any) -> Any:
    o.last = x
    o.level = np.sum(x)
    return np.sum(o.doubled * o.level)


def by_a_helper(o: Any, x: Any) -> Any:
    _advance(o, x)
    _advance(o, o.v)
    return np.sum(o.v)


def _advance(o: Any, x: Any) -> None:
    o.v = o.v * x + o.w


def by_setattr(o: Any, x: Any) -> Any:
    setattr(o, "v", x * o.v)  # noqa: B010
    return np.sum(getattr(o, "v") ** 2)  # noqa: B009


def records(o: Any, x: Any) -> Any:
    for _ in range(2):
        x = x * 1.5
        o.note(np.sum(x))
        o.log.append(float(x[0]))
    return np.sum(x)


def reads_its_records(o: Any, x: Any) -> Any:
    o.note(np.sum(x**2))
    return o.log[-1] * 2.0 + o.log[0] + len(o.log)


def sets_items(o: Any, x: Any) -> Any:
    o.table["b"] = np.sum(x * x)
    return o.table["b"] * o.table["a"]


def class_constant(o: Any, x: Any) -> Any:
    o.scale = o.scale * np.sum(x)
    return o.scale * np.sum(x) + o.own_scale


def subtracts(o: Any, x: Any) -> Any:
    o.v -= x * o.rate
    return np.sum(o.v**2)


def writes_items(o: Any, x: Any) -> Any:
    o.n += 1
    o.v[0] = x[0] * x[1]
    return np.sum(o.v * x)


def keeps_an_array(o: Any, x: Any) -> Any:
    y = x * 2.0
    o.v = y
    y[0] = x[1]
    return np.sum(o.v * x)


def in_a_closure(o: Any, x: Any) -> Any:
    def step(y: Any) -> Any:
        o.v = o.v * y
        return np.sum(o.v)

    return step(x) + step(x * x)


def tried(o: Any, x: Any) -> Any:
    try:
        o.v = x * 2.0
        if x[0] > 0.0:
            raise ValueError
    except ValueError:
        o.v = o.v * x
    return np.sum(o.v)


RIGHT = [
    remembers, reads_before, counts, sets_in_a_branch, sets_a_new_one, by_a_property, by_a_helper, by_setattr, records,
    reads_its_records, class_constant, keeps_an_array, in_a_closure,
]  # fmt: skip


@pytest.mark.parametrize("made", [Layer, Deep], ids=lambda c: c.__name__)
@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_gradient(f: Callable[[Any, Any], Any], made: type) -> None:
    expected = numeric_gradient(lambda x: f(made(), x), (X,))
    o = made()
    before = copy.deepcopy(vars(o))
    value, found = value_and_grad(f, argnums=1)(o, X.copy())
    assert value == f(made(), X.copy())
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    _, pullback = vjp(f, o, X.copy(), argnums=1)
    np.testing.assert_allclose(pullback(1.0)[0], expected, rtol=1e-6, atol=1e-9)
    _, tangent = jvp(lambda x: f(made(), x), (X.copy(),), (np.ones(3),))
    np.testing.assert_allclose(tangent, np.sum(expected), rtol=1e-6, atol=1e-8)
    np.testing.assert_equal(vars(o), before)


def test_bound_methods() -> None:
    class Model(Layer):
        def loss(self, x: Any) -> Any:
            self.n += 1
            self.z = self(x)
            self.note(np.sum(self.z))
            return np.sum(self.z**2) * self.n

    expected = numeric_gradient(lambda x: Model().loss(x), (X,))
    for o in (Model(), Model()):
        np.testing.assert_allclose(grad(o.loss)(X), expected, rtol=1e-6)
    np.testing.assert_allclose(grad(Model(3).loss)(X), expected / 2 * 5, rtol=1e-6)
    text = grad(Model().loss).source
    assert "setattr" not in text
    assert "append" not in text


# --- objects that are reached in another way


class Node(Layer):
    def __init__(self) -> None:
        super().__init__()
        self.peer: Any = None
        self.same = self.log
        self.nested: list[Any] = [[0.0]]


REGISTRY: list[Any] = []
CURRENT = types.SimpleNamespace(node=None)


class Registered(Layer):
    members: list[Any] = []  # noqa: RUF012


def alone(make: Callable[[], Any] = Node) -> Any:
    return make()


def by_itself() -> Any:
    o = Node()
    o.peer = o
    return o


def by_its_list() -> Any:
    o = Node()
    o.nested = [o]
    return o


def by_the_module() -> Any:
    o = Node()
    REGISTRY[:] = [o]
    return o


def by_an_object_of_the_module() -> Any:
    CURRENT.node = Node()
    return CURRENT.node


def by_its_class() -> Any:
    o = Registered()
    Registered.members[:] = [o]
    return o


def with_a_method_of_its_own() -> Any:
    o = Node()
    o.note = lambda value: None  # type: ignore[method-assign]
    return o


def through_itself(o: Any, x: Any) -> Any:
    o.v = x * 2.0
    return np.sum(o.peer.v * x) if o.peer is not None else np.sum(o.v)


def through_its_list(o: Any, x: Any) -> Any:
    o.v = x * 2.0
    return np.sum(o.nested[0].v * x) if isinstance(o.nested[0], Node) else np.sum(o.v)


def through_the_module(o: Any, x: Any) -> Any:
    o.v = x * 2.0
    return np.sum(REGISTRY[0].v * x) if REGISTRY else np.sum(o.v * x)


def through_an_object_of_the_module(o: Any, x: Any) -> Any:
    o.v = x * 2.0
    return np.sum(CURRENT.node.v * x) if CURRENT.node is not None else np.sum(o.v * x)


def through_its_class(o: Any, x: Any) -> Any:
    o.v = x * 2.0
    return np.sum(Registered.members[0].v * x) if Registered.members else np.sum(o.v)


def one_list_under_two_names(o: Any, x: Any) -> Any:
    o.log.append(np.sum(x))
    return getattr(o, "same", o.log)[-1] * 3.0


def one_list_is_another(o: Any, x: Any) -> Any:
    o.log.append(np.sum(x))
    return o.same[-1] * 3.0


def copied(o: Any, x: Any) -> Any:
    o.v = x * 2.0
    other = copy.copy(o)
    return np.sum(other.w * other.v)


def under_a_name_in_a_branch(o: Any, x: Any) -> Any:
    _set_if(o, "bias", np.sum(x), x[0] > 1.0)
    return o.bias * np.sum(x)


def _set_if(o: Any, name: str, value: Any, condition: Any) -> None:
    if condition:
        setattr(o, name, value)


def a_list_in_a_list(o: Any, x: Any) -> Any:
    o.nested[0].append(np.sum(x))
    return o.nested[0][-1] * 3.0


def its_dictionary(o: Any, x: Any) -> Any:
    o.v = x * 2.0
    return np.sum(vars(o)["v"] * x)


def by_its_note(o: Any, x: Any) -> Any:
    o.n = np.sum(x)
    o.note(o.n)
    return o.log[-1]


def as_a_whole(o: Any, x: Any) -> Any:
    o.v = x * 2.0
    held = [o]
    return np.sum(held[0].v)


def deleted(o: Any, x: Any) -> Any:
    o.v = x * 2.0
    del o.v
    return np.sum(x) if hasattr(o, "v") else np.sum(x * x)


def asked(o: Any, x: Any) -> Any:
    had = hasattr(o, "later")
    o.later = x
    return np.sum(o.later) * (2.0 if had else 3.0) * (5.0 if hasattr(o, "later") else 7.0)


MADE = [
    alone, by_itself, by_its_list, by_the_module, by_an_object_of_the_module, by_its_class, with_a_method_of_its_own,
]  # fmt: skip
ODD = [
    through_itself, through_its_list, through_the_module, through_an_object_of_the_module, through_its_class,
    one_list_under_two_names, one_list_is_another, copied, under_a_name_in_a_branch, a_list_in_a_list,
    its_dictionary, by_its_note, as_a_whole, deleted, asked, sets_items,
    subtracts, writes_items, tried, *RIGHT,
]  # fmt: skip


@pytest.fixture(autouse=True)
def _empty() -> None:
    REGISTRY.clear()
    Registered.members.clear()
    CURRENT.node = None


@pytest.mark.parametrize("make", MADE, ids=lambda f: f.__name__)
@pytest.mark.parametrize("f", ODD, ids=lambda f: f.__name__)
def test_right_or_refused(f: Callable[[Any, Any], Any], make: Callable[[], Any]) -> None:
    try:
        expected = numeric_gradient(lambda x: f(make(), x), (X,))
    except (AttributeError, KeyError):
        pytest.skip("the function raises for this object")
    o = make()
    before = {name: copy.copy(value) for name, value in vars(o).items()}
    items = [list(inner) for inner in getattr(o, "nested", []) if isinstance(inner, list)]
    try:
        found = grad(f, argnums=1)(o, X.copy())
    except S2SADError:
        return
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_equal(
        {n: v for n, v in vars(o).items() if not isinstance(v, Layer)},
        {n: v for n, v in before.items() if not isinstance(v, Layer)},
    )
    assert items == [list(inner) for inner in getattr(o, "nested", []) if isinstance(inner, list)]


def test_two_arguments_that_are_one_object() -> None:
    def f(a: Any, b: Any, x: Any) -> Any:
        a.v = x * 2.0
        return np.sum(b.v * x)

    a, b = Layer(), Layer()
    np.testing.assert_allclose(grad(f, argnums=2)(a, b, X), b.v)
    with pytest.raises(S2SADError):
        grad(f, argnums=2)(a, a, X)
    holder = {"layer": a}

    def g(held: Any, a: Any, x: Any) -> Any:
        a.v = x * 2.0
        return np.sum(held["layer"].v * x)

    np.testing.assert_allclose(grad(g, argnums=2)({"layer": b}, a, X), b.v)
    with pytest.raises(S2SADError):
        grad(g, argnums=2)(holder, a, X)


class TwoArrays:
    """Two arrays, which may be one, each written by a method of its own."""

    def __init__(self, v: Any, w: Any) -> None:
        self.v, self.w = v, w

    def first(self, x: Any) -> None:
        self.v[0] = x[0]

    def second(self, x: Any) -> Any:
        self.w[1] = x[1] * self.v[0]
        return np.sum(self.v * self.w)


@dataclasses.dataclass
class TwoFields(TwoArrays):
    v: Any
    w: Any


def by_methods(o: Any, x: Any) -> Any:
    o.first(x)
    return o.second(x)


def by_a_view_and_a_name(o: Any, x: Any) -> Any:
    part, whole = o.v[1:], o.w
    part[0] = x[0]
    whole[2] = x[1] * o.v[1]
    return np.sum(o.v * x * o.w)


@pytest.mark.parametrize("derivative", [grad, jacfwd], ids=["reverse", "forward"])
@pytest.mark.parametrize("made", [TwoArrays, TwoFields], ids=lambda made: made.__name__)
@pytest.mark.parametrize("f", [by_methods, by_a_view_and_a_name], ids=lambda f: f.__name__)
def test_two_attributes_that_are_one_array(f: Callable[[Any, Any], Any], made: type, derivative: Any) -> None:
    """Each that is written is copied by itself: one array under two names is refused, and so is a view of it."""
    apart = made(np.ones(3), np.full(3, 0.4))
    expected = numeric_gradient(lambda x: f(copy.deepcopy(apart), x), (X,))
    np.testing.assert_allclose(derivative(f, argnums=1)(apart, X), expected, rtol=1e-6, atol=1e-8)
    v = np.ones(3)
    for w in (v, v[::-1], v[:]):
        with pytest.raises(S2SADError, match=r"share memory|two places"):
            derivative(f, argnums=1)(made(v, w), X)
    np.testing.assert_array_equal(v, np.ones(3))


def test_a_variable_may_hold_the_object_later() -> None:
    derivative = grad(through_the_module, argnums=1)
    o = Node()
    np.testing.assert_allclose(derivative(o, X), 4.0 * X)
    REGISTRY[:] = [o]
    with pytest.raises(S2SADError):
        derivative(o, X)


def test_what_a_function_changes() -> None:
    assert changed_by(_advance, Layer) == Changed(frozenset({"v", "last", "n"}))
    assert "log" in changed_by(records, Layer).items
    assert not changed_by(functools.partial(lambda o, x: np.sum(o.v * x)).func, types.SimpleNamespace)
