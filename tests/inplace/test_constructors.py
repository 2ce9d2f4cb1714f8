"""Classes that write into what they are called with, or keep it, and functions that have state as attributes.

Each program is right, or refused: the measure is Python itself for value and state, differences for the gradient.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from s2sad import value_and_grad
from s2sad.errors import S2SADError, UnsupportedError
from tests.language.support import Case, case, check_gradient, check_primal
from tests.oracle import numeric_gradient

X = np.array([0.71, 1.32, 0.57])
K = np.array([0.4, 0.8, 1.6])
COUNT = np.zeros(1)


class ByNew:
    def __new__(cls, v: Any) -> Any:
        v[0] = 0.35
        return super().__new__(cls)


class ByInit:
    def __init__(self, v: Any) -> None:
        v[0] = 0.35


class Inherited(ByInit):
    pass


class Meta(type):
    def __call__(cls, v: Any) -> Any:
        v[0] = 0.35
        return super().__call__()


class ByItsMetaclass(metaclass=Meta):
    pass


@dataclasses.dataclass
class AfterInit:
    v: Any

    def __post_init__(self) -> None:
        self.v[0] = 0.35


class Setting:
    def __set__(self, owner: Any, v: Any) -> None:
        v[0] = 0.35


@dataclasses.dataclass
class ByItsDescriptor:
    v: Any = Setting()  # noqa: RUF009


@dataclasses.dataclass
class BySetattr:
    v: Any

    def __setattr__(self, name: str, v: Any) -> None:
        v[0] = 0.35


def counted() -> float:
    COUNT[0] += 1.0
    return 0.0


@dataclasses.dataclass
class ByItsFactory:
    v: Any
    n: float = dataclasses.field(default_factory=counted)


class Keeps:
    def __init__(self, v: Any) -> None:
        self.v = v


class KeepsByNew:
    def __new__(cls, v: Any) -> Any:
        self = super().__new__(cls)
        self.v = v
        return self


@dataclasses.dataclass
class Plain:
    v: Any


class Named(NamedTuple):
    v: Any


Pair = collections.namedtuple("Pair", "v")


def kept_space(v: Any) -> Any:
    return types.SimpleNamespace(v=v)


WRITING = (ByNew, ByInit, Inherited, ByItsMetaclass, AfterInit, ByItsDescriptor, BySetattr, ByItsFactory)
KEEPING = (Keeps, KeepsByNew, Plain, AfterInit, ByItsFactory, Named, Pair, kept_space)


def stored(a: Any) -> None:
    stored.last[0] = a[0]


def logged(a: Any) -> None:
    logged.log.append(a)


def called(a: Any) -> float:
    called.count += 1.0
    return called.count


stored.last = np.zeros(1)  # type: ignore[attr-defined]
logged.log = []  # type: ignore[attr-defined]
called.count = 0.0  # type: ignore[attr-defined]


def state() -> list[Any]:
    return [*COUNT, *stored.last, len(logged.log), called.count]  # type: ignore[attr-defined]


def reset() -> None:
    COUNT[:] = 0.0
    stored.last[:] = 0.0  # type: ignore[attr-defined]
    logged.log.clear()  # type: ignore[attr-defined]
    called.count = 0.0  # type: ignore[attr-defined]


def outcome(f: Callable[..., Any]) -> str:
    """What becomes of a program: right or refused; nothing else passes."""

    def run(x: Any) -> Any:
        reset()
        return f(x.copy(), K.copy())

    value, after = run(X), state()
    reset()
    x, k = X.copy(), K.copy()
    try:
        found, gradient = value_and_grad(f)(x, k)
    except S2SADError:
        return "refused"
    assert state() == after
    assert found == value
    np.testing.assert_array_equal((x, k), (X, K))
    np.testing.assert_allclose(gradient, numeric_gradient(run, (X,)), rtol=1e-6, atol=1e-7)
    return "right"


def programs_of_writing(kind: Any) -> list[Callable[..., Any]]:
    """What is run for its effect: constants and what is differentiated, of which nobody reads the object made."""

    def unused(x: Any, k: Any) -> Any:
        m = kind(k)  # noqa: F841
        return np.sum(x * k)

    def alone(x: Any, k: Any) -> Any:
        kind(k)
        return np.sum(x * k)

    def compared(x: Any, k: Any) -> Any:
        c = k * 2.0
        first = np.sum(x * c)
        if kind(c) is None:
            first = 2.0 * first
        return first * np.sum(x * c)

    def repeated(x: Any, k: Any) -> Any:
        for _ in [kind(k) for _ in range(2)]:
            pass
        return np.sum(x * k)

    def differentiated(x: Any, k: Any) -> Any:
        y = x * k
        isinstance(kind(y), object)
        return np.sum(x * y)

    def given(x: Any, k: Any) -> Any:
        kind(x)
        return np.sum(x * x)

    return [unused, alone, compared, repeated, differentiated, given]


def programs_of_keeping(kind: Any) -> list[Callable[..., Any]]:
    """What the object keeps is written through it, or under its own name."""

    def through_it(x: Any, k: Any) -> Any:
        c = k * 2.0
        m = kind(c)
        m.v[0] = 0.35
        return np.sum(x * c)

    def under_its_name(x: Any, k: Any) -> Any:
        m = kind(k)
        k[1] = 0.35
        return np.sum(x * m.v)

    def between(x: Any, k: Any) -> Any:
        m = kind(k)
        first = np.sum(x * m.v)
        m.v[:] *= 2.0
        return first * np.sum(x * k)

    def by_another(x: Any, k: Any) -> Any:
        c = k * 2.0
        m = [kind(c)][0]
        b = m.v
        b[2] = 0.35
        return np.sum(x * c)

    def differentiated(x: Any, k: Any) -> Any:
        y = x * k
        m = kind(y)
        m.v[0] = 0.35
        return np.sum(x * y)

    def written_after(x: Any, k: Any) -> Any:
        y = x * k
        m = kind(y)
        y[0] = 0.35
        return np.sum(x * m.v)

    return [through_it, under_its_name, between, by_another, differentiated, written_after]


@pytest.mark.parametrize("kind", WRITING, ids=lambda k: k.__name__)
def test_what_writes_as_it_is_made(kind: Any) -> None:
    found = {f.__name__: outcome(f) for f in programs_of_writing(kind)}
    assert found["unused"] == found["alone"] == found["compared"] == "right"


@pytest.mark.parametrize("kind", KEEPING, ids=lambda k: k.__name__)
def test_what_keeps_what_it_is_given(kind: Any) -> None:
    assert set(map(outcome, programs_of_keeping(kind))) <= {"right", "refused"}


def store_through_a_function(x: Any, k: Any) -> Any:
    stored.last[0] = 0.35  # type: ignore[attr-defined]
    return x[0] * stored.last[0]  # type: ignore[attr-defined]


def store_in_a_function(x: Any, k: Any) -> Any:
    stored(x * x)
    return x[0] * stored.last[0]  # type: ignore[attr-defined]


def store_twice_in_a_function(x: Any, k: Any) -> Any:
    stored(x)
    w = stored.last[0] * x  # type: ignore[attr-defined]
    stored(2.0 * x)
    return np.sum(w * stored.last[0])  # type: ignore[attr-defined]


def store_seen_by_another_name(x: Any, k: Any) -> Any:
    w = stored.last  # type: ignore[attr-defined]
    stored(x * x)
    return x[0] * w[0]


def list_in_a_function(x: Any, k: Any) -> Any:
    y = x * k
    logged(y)
    logged.log[-1][0] = 0.35  # type: ignore[attr-defined]
    return np.sum(x * y)


def constant_in_a_list_of_a_function(x: Any, k: Any) -> Any:
    c = k * 1.0
    logged(c)
    logged.log[-1][0] = 0.35  # type: ignore[attr-defined]
    return np.sum(x * c)


STATE = (
    store_through_a_function,
    store_in_a_function,
    store_twice_in_a_function,
    store_seen_by_another_name,
    list_in_a_function,
    constant_in_a_list_of_a_function,
)


@pytest.mark.parametrize("f", STATE, ids=lambda f: f.__name__)
def test_state_of_functions_is_the_modules(f: Any) -> None:
    assert outcome(f) == "refused"


def test_the_attribute_of_a_function_is_named_by_the_function() -> None:
    with pytest.raises(UnsupportedError, match="stored is the module's, and is written in place"):
        value_and_grad(store_through_a_function)(X, K)


def count_of_calls(x: Any, k: Any) -> Any:
    return np.sum(x) * called(k) * called(k)


def test_a_counter_of_a_function_counts_once() -> None:
    assert outcome(count_of_calls) == "right"
    assert called.count == 2.0  # type: ignore[attr-defined]


NUMBERS = itertools.count()


class Numbered:
    def __init__(self, w: Any) -> None:
        self.w = w
        self.number = next(NUMBERS)


@dataclasses.dataclass
class Weights:
    w: Any
    names: list[str] = dataclasses.field(default_factory=list)


class Checked:
    """A setter that replaces an attribute writes into nothing that it is given."""

    def __init__(self, w: Any) -> None:
        self.w = w

    @property
    def w(self) -> Any:
        return self._w

    @w.setter
    def w(self, w: Any) -> None:
        self._w = w


def object_that_is_numbered(x: Any, k: Any) -> Any:
    return np.sum(x * Numbered(k).w)


def dataclass_with_a_factory(x: Any, k: Any) -> Any:
    weights = Weights(k)
    return np.sum(x * weights.w) * (1.0 + len(weights.names))


def object_with_a_property(x: Any, k: Any) -> Any:
    weights = Checked(k)
    return np.sum(x * weights.w)


CASES = [case(f, X, K, wrt=0) for f in (object_that_is_numbered, dataclass_with_a_factory, object_with_a_property)]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)
