"""Objects that exist when a function is compiled: what remains does the same, and its gradients are right."""

from __future__ import annotations

import contextlib
import dataclasses
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import gast
import numpy as np
import pytest

from s2sad import S2SADError, grad
from s2sad.frontend.source import read_source
from s2sad.transform.specialise import specialised
from tests.oracle import numeric_gradient
from tests.transform import elsewhere

X = np.array([0.3, 0.7, -0.4])
LOG: list[Any] = []


def noted(value: Any) -> Any:
    LOG.append(value)
    return value


def act(v: Any) -> Any:
    return v * v + 1.0


class Shape:
    def __init__(self, power: int, bias: Any = 0.5) -> None:
        self.power = power
        self.bias = bias

    def value(self, x: Any) -> Any:
        return self.raised(x) + self.bias

    def raised(self, x: Any) -> Any:
        return x**self.power

    @property
    def twice(self) -> Any:
        return 2.0 * self.power

    @staticmethod
    def half(x: Any) -> Any:
        return 0.5 * x


class Wide(Shape):
    factor = 3.0

    def __init__(self, power: int, activation: Any = np.tanh) -> None:
        super().__init__(power, bias=0.25)
        self.activation = activation
        self.other = Shape(3)

    def raised(self, x: Any) -> Any:
        return super().raised(x) * self.factor + self.activation(x) * self.other.value(x)

    def __call__(self, x: Any) -> Any:
        noted("called")
        total = 0.0
        for i in range(3):
            total = total + self.value(x[i]) * self.half(x[i]) * self.twice
            if total > 4.0:
                break
        return total


class Counter:
    def __init__(self) -> None:
        self.count = 0
        self.seen: list[Any] = []

    def next(self) -> int:
        self.count += 1
        return self.count

    def scaled(self, x: Any) -> Any:
        return self.next() * x


SHAPE = Shape(2)
WIDE = Wide(2)
SCALE = elsewhere.Scale(1.3, elsewhere.Scale(0.7))
COUNTER = Counter()


def method(x: Any) -> Any:
    return np.sum(SHAPE.value(x))


def inherited(x: Any) -> Any:
    return np.sum(WIDE.value(x)) + WIDE.value(x[0])


def called(x: Any) -> Any:
    return WIDE(x) * x[1]


def of_another_module(x: Any) -> Any:
    return np.sum(SCALE(x) * SCALE.apply(x))


def function_of_another_module(x: Any) -> Any:
    return np.sum(elsewhere.thrice(act, x) + elsewhere.thrice(np.sin, x))


def as_an_argument(x: Any) -> Any:
    return np.sum(through(SHAPE, x) * through(WIDE, x))


def through(shape: Any, x: Any) -> Any:
    return shape.value(x) * shape.twice


def bound(x: Any) -> Any:
    f = WIDE.value
    g = WIDE.activation
    return np.sum(f(x) * g(x))


def in_order(x: Any) -> Any:
    return WIDE(noted(x)) + noted(SHAPE.value(noted(x[0])))


def unbound(x: Any) -> Any:
    return np.sum(Shape.value(WIDE, x) * Shape.half(x))


PROGRAMS = [
    method, inherited, called, of_another_module, function_of_another_module, as_an_argument, bound, in_order, unbound,
]  # fmt: skip


def remains(f: Callable[..., Any]) -> tuple[str, types.FunctionType]:
    """The text of what remains of a function, and that as a function."""
    made = specialised(read_source(f), read_source)
    assert made is not None, "nothing was specialised"
    texts = [gast.unparse(source.node).strip() for source in [*made.sources.values(), made.source]]
    return "\n\n".join(texts), made.source.function


def alike(a: Any, b: Any) -> bool:
    return len(a) == len(b) and all(np.array_equal(v, w) for v, w in zip(a, b, strict=True))


@pytest.fixture(autouse=True)
def _clear() -> Iterator[None]:
    kept = [(thing, dict(vars(thing))) for thing in (SHAPE, WIDE, WIDE.other, SCALE, SCALE.inner, COUNTER)]
    yield
    for thing, held in kept:
        vars(thing).clear()
        vars(thing).update(held)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_remains_does_the_same(f: Callable[..., Any]) -> None:
    text, made = remains(f)
    assert ".value(" not in text
    assert ".apply(" not in text
    for x in (X, -X, np.array([1.2, 0.1, 0.6])):
        LOG.clear()
        wanted = f(x.copy())
        log = list(LOG)
        LOG.clear()
        assert np.array_equal(made(x.copy()), wanted), text
        assert alike(log, LOG)


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f not in (in_order, called)], ids=lambda f: f.__name__)
def test_gradient(f: Callable[..., Any]) -> None:
    for x in (X, -X, np.array([1.2, 0.1, 0.6])):
        np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, [x]), rtol=1e-6, atol=1e-7)


def right(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, [X]), rtol=1e-6, atol=1e-7)


# --- what may change between calls


def test_numbers_are_read_when_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    right(inherited)
    monkeypatch.setattr(WIDE, "power", 3)
    monkeypatch.setattr(Wide, "factor", -2.0)
    monkeypatch.setattr(WIDE.other, "bias", 4.0)
    right(inherited)


def test_objects_that_are_held_may_be_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    right(inherited)
    monkeypatch.setattr(WIDE, "other", Wide(3))
    right(inherited)
    monkeypatch.setattr(WIDE, "activation", np.exp)
    right(inherited)
    monkeypatch.setattr(WIDE, "activation", lambda v: v * v)
    right(inherited)


def test_the_object_may_be_another(monkeypatch: pytest.MonkeyPatch) -> None:
    right(method)
    monkeypatch.setitem(globals(), "SHAPE", Shape(4, 0.1))
    right(method)
    monkeypatch.setitem(globals(), "SHAPE", Wide(3))
    right(method)


def test_methods_may_be_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    right(inherited)
    monkeypatch.setattr(Shape, "raised", lambda self, x: 5.0 * x * x)
    right(inherited)
    monkeypatch.setattr(Wide, "value", lambda self, x: x * x, raising=False)
    right(inherited)


def test_an_object_may_have_a_function_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    right(method)
    monkeypatch.setattr(SHAPE, "raised", lambda x: 7.0 * x * x, raising=False)
    right(method)


def test_properties_may_be_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    right(as_an_argument)
    monkeypatch.setattr(Shape, "twice", property(lambda self: 9.0))
    right(as_an_argument)


# --- what changes while it runs


def exchanges(x: Any) -> Any:
    exchange()
    return np.sum(WIDE.other.value(x))


def exchange() -> None:
    WIDE.other = Wide(3)


def exchanges_by_name(x: Any) -> Any:
    setattr(WIDE, "other", Wide(3))  # noqa: B010
    return np.sum(WIDE.other.value(x))


def rebinds(x: Any) -> Any:
    rebind()
    return np.sum(OTHER.value(x))


OTHER = Shape(2)


def rebind() -> None:
    global OTHER
    OTHER = Wide(2)


@pytest.mark.parametrize("f", [exchanges, exchanges_by_name, rebinds], ids=lambda f: f.__name__)
def test_what_is_exchanged_while_it_runs_is_not_relied_on(
    f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "OTHER", Shape(2))
    wanted = numeric_gradient(f, [X])
    WIDE.other = Shape(3)
    globals()["OTHER"] = Shape(2)
    try:
        found = grad(f)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)


def counts(x: Any) -> Any:
    return np.sum(x * COUNTER.next())


def counts_inside(x: Any) -> Any:
    return np.sum(COUNTER.scaled(x))


def test_methods_that_change_the_object_are_called() -> None:
    text, _ = remains(counts_inside)
    assert "COUNTER.next()" in text
    for f in (counts, counts_inside):
        COUNTER.count = 0
        np.testing.assert_allclose(grad(f)(X), np.ones(3))
        assert COUNTER.count == 1
        np.testing.assert_allclose(grad(f)(X), 2 * np.ones(3))


def remembers(x: Any) -> Any:
    return np.sum(SCALE.remembered(x))


def test_what_varies_is_recorded_in_a_list_of_an_object() -> None:
    SCALE.history.clear()
    np.testing.assert_allclose(grad(remembers)(X), SCALE.k * np.ones(3))
    assert len(SCALE.history) == 1
    assert SCALE.last is SCALE.history[0]


class Root:
    def __init__(self, a: Any) -> None:
        self.a = a

    def grown(self) -> Any:
        return self.a


class Stem(Root):
    pass


class Tip(Stem):
    def grown(self) -> Any:
        return super().grown() * 2.0


def squared(self: Any) -> Any:
    return self.a * self.a


def tripled(self: Any, a: Any) -> None:
    Root.__init__(self, a * 3.0)


def of_a_tip(x: Any) -> Any:
    return np.sum(Tip(x).grown())


def test_a_class_between_gets_the_method_that_super_looks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = grad(of_a_tip)
    np.testing.assert_allclose(gradient(X), 2.0 * np.ones_like(X))
    monkeypatch.setattr(Stem, "grown", squared, raising=False)
    np.testing.assert_allclose(gradient(X), 4.0 * X)
    monkeypatch.setattr(Stem, "__init__", tripled, raising=False)
    np.testing.assert_allclose(gradient(X), 36.0 * X)


@dataclasses.dataclass
class Field:
    a: Any
    k: float = 2.0

    def scaled(self) -> Any:
        return self.a * self.k


class Both(NamedTuple):
    a: Any
    k: float = 2.0


def of_a_field(x: Any) -> Any:
    return np.sum(Field(x).scaled())


def of_a_tuple(x: Any) -> Any:
    both = Both(x)
    return np.sum(both.a * both.k)


def kept_doubled(self: Any, name: str, value: Any) -> None:
    object.__setattr__(self, name, value * 2.0)


def looked_up(self: Any, name: str) -> Any:
    return 9.0 if name == "k" else object.__getattribute__(self, name)


def made_otherwise(self: Any, a: Any) -> None:
    self.a, self.k = a * 3.0, 1.0


def hidden(self: Any) -> float:
    return 7.0


def ignored(self: Any, value: Any) -> None:
    return None


@pytest.mark.parametrize(
    ("f", "cls", "name", "member", "expected"),
    [
        (of_a_field, Field, "__setattr__", kept_doubled, 8.0),
        (of_a_field, Field, "__getattribute__", looked_up, 9.0),
        (of_a_field, Field, "__init__", made_otherwise, 3.0),
        (of_a_field, Field, "k", property(hidden, ignored), 7.0),
        (of_a_field, Field.__init__, "__defaults__", (5.0,), 5.0),
        (of_a_tuple, Both, "k", 4.0, 4.0),
        (of_a_tuple, Both.__new__, "__defaults__", (5.0,), 5.0),
        (of_a_tip, Stem, "__setattr__", kept_doubled, 4.0),
    ],
)
def test_a_class_of_which_objects_are_made_changes(
    monkeypatch: pytest.MonkeyPatch, f: Any, cls: Any, name: str, member: Any, expected: float
) -> None:
    gradient = grad(f)
    np.testing.assert_allclose(gradient(X), 2.0 * np.ones_like(X))
    monkeypatch.setattr(cls, name, member, raising=False)
    assert f(X) == pytest.approx(expected * np.sum(X))
    with contextlib.suppress(S2SADError):
        np.testing.assert_allclose(gradient(X), expected * np.ones_like(X))
    monkeypatch.undo()
    np.testing.assert_allclose(gradient(X), 2.0 * np.ones_like(X))
