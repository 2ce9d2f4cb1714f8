"""``o[i] = v`` and ``del o[i]`` where a class says what that does: as in Python, or refused at run time."""

from __future__ import annotations

import collections
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, value_and_grad
from tests.oracle import numeric_gradient
from tests.trees import same_bits

X = np.array([0.5, 1.2, -0.7])
TABLE = np.array([1.0, 2.0, 3.0])


class OfModule:
    """Stores and deletions go into an array of the module."""

    def __setitem__(self, i: Any, value: float) -> None:
        TABLE[0] = value

    def __delitem__(self, i: Any) -> None:
        TABLE[1] = 7.0

    def __getitem__(self, i: Any) -> float:
        return float(TABLE[2])


class Own:
    """Stores and deletions go into an array of the object, and so does ``pop``."""

    def __init__(self) -> None:
        self.v = np.array([1.0, 2.0, 4.0])

    def __setitem__(self, i: Any, value: float) -> None:
        self.v[0] = value

    def __delitem__(self, i: Any) -> None:
        self.v[1] = 0.35

    def pop(self, i: Any) -> None:
        self.v[2] = 5.0


class Refilled(list):
    def __delitem__(self, i: Any) -> None:
        super().__delitem__(i)
        self.append(7.0)


OF_MODULE = OfModule()


def stored(x: Any, o: Any) -> Any:
    o[0] = 3.0
    return np.sum(x * TABLE)


def stored_between(x: Any, o: Any) -> Any:
    y = np.sum(x * x * TABLE)
    o[0] = 3.0
    return y + np.sum(x * TABLE)


def stored_of_module(x: Any) -> Any:
    y = np.sum(x * x * TABLE)
    OF_MODULE[0] = 3.0
    del OF_MODULE[1]
    return y + np.sum(x * TABLE)


def stored_in_a_loop(x: Any, o: Any) -> Any:
    y = 0.0
    for i in range(3):
        y = y + np.sum(x**2 * TABLE)
        o[i, ...] = 2.0 * i
    return y


def stored_again(x: Any, o: Any) -> Any:
    y = np.sum(x * x * TABLE)
    o[len(x) - 1] += 2.0
    return y + np.sum(x * TABLE)


def stored_twice(x: Any, o: Any) -> Any:
    k = o[0] = len(x) + 1.0
    return k * np.sum(x * TABLE)


def deleted(x: Any, o: Any) -> Any:
    y = np.sum(x * x * TABLE)
    del o[0], o[1:]
    return y + np.sum(x * TABLE)


def deleted_own(x: Any, o: Any) -> Any:
    y = np.sum(x * o.v)
    del o[0]
    return y * np.sum(o.v * x)


def deleted_slice_own(x: Any, o: Any) -> Any:
    y = np.sum(x * o.v)
    del o[0:2]
    return y * np.sum(o.v * x)


def deleted_item(x: Any, items: Any) -> Any:
    del items[0]
    return np.sum(x * items[0]) * len(items)


def held(x: Any, s: Any) -> Any:
    y = np.sum(x * x * TABLE)
    s.o[0] = 3.0
    return y + np.sum(x * TABLE)


def held_in_a_variable(x: Any, s: Any) -> Any:
    o = s.o
    o[0] = 3.0
    return np.sum(x * TABLE)


def held_and_deleted(x: Any, s: Any) -> Any:
    del s.o[0]
    return np.sum(x * TABLE)


def held_and_cut(x: Any, s: Any) -> Any:
    y = np.sum(x * x * TABLE)
    del s.o[0:1]
    return y + np.sum(x * TABLE)


@pytest.fixture(autouse=True)
def _table() -> Any:
    TABLE[:] = [1.0, 2.0, 3.0]
    yield
    TABLE[:] = [1.0, 2.0, 3.0]


def outcome(f: Callable[..., Any], *make: Callable[[], Any]) -> tuple[Any, Any]:
    """The value and the table afterwards, or the error."""
    TABLE[:] = [1.0, 2.0, 3.0]
    try:
        found = f(X.copy(), *(m() for m in make))
    except S2SADError:
        raise
    except Exception as error:
        found = (type(error), str(error))
    return found, TABLE.copy()


def check(f: Callable[..., Any], *make: Callable[[], Any]) -> None:
    expected, table = outcome(f, *make)
    found, table_found = outcome(value_and_grad(f), *make)
    assert same_bits(table, table_found)
    if isinstance(expected, tuple):
        assert found == expected
        return
    assert same_bits(found[0], expected)

    def alone(x: Any) -> Any:
        TABLE[:] = [1.0, 2.0, 3.0]
        return f(x, *(m() for m in make))

    np.testing.assert_allclose(found[1], numeric_gradient(alone, (X,), 0), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(
    "f", [stored, stored_between, stored_in_a_loop, stored_again, stored_twice, deleted], ids=lambda f: f.__name__
)
def test_of_an_argument(f: Callable[..., Any]) -> None:
    check(f, OfModule)


def test_of_an_object_of_the_module() -> None:
    check(stored_of_module)


@pytest.mark.parametrize("f", [deleted_own, deleted_slice_own], ids=lambda f: f.__name__)
def test_deletion_is_no_pop(f: Callable[..., Any]) -> None:
    check(f, Own)


@pytest.mark.parametrize(
    "items",
    [
        [1.0, 2.0, 3.0], collections.deque([1.0, 2.0, 3.0]), Refilled([1.0, 2.0, 3.0]), bytearray(b"abc"), {0: 1.0},
        collections.Counter({5: 1}), (1.0, 2.0), np.ones(3),
    ],
    ids=lambda items: type(items).__name__,
)  # fmt: skip
def test_deletion_of_an_item(items: Any) -> None:
    """What a class has no deletion for raises what Python raises."""
    make = type(items) if not isinstance(items, np.ndarray) else np.array
    check(deleted_item, lambda: make(items))


@pytest.mark.parametrize("f", [held, held_in_a_variable, held_and_deleted, held_and_cut], ids=lambda f: f.__name__)
def test_classes_that_are_known_at_run_time(f: Callable[..., Any]) -> None:
    """Where nobody knows the class of an object, one that has methods of its own for it is refused as it runs."""
    with pytest.raises(S2SADError, match="an object is of class OfModule, which has __(set|del)item__ of its own"):
        value_and_grad(f)(X, SimpleNamespace(o=OfModule()))
    assert TABLE.tolist() == [1.0, 2.0, 3.0]
    check(f, lambda: SimpleNamespace(o=[1.0, 2.0]))
