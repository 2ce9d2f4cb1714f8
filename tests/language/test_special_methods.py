"""What statements run of classes of the user's: ``o[i] = v``, ``del o[i]``, conditions, loops, arrays of subclasses.

As Python does it, or refused.
"""

from __future__ import annotations

import collections
import contextlib
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, value_and_grad
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


def deleted_slices(x: Any, items: Any) -> Any:
    start = 1
    del items[start:], items[::2]
    return np.sum(x * (1.0 + len(items)))


def stored_slice(x: Any, o: Any) -> Any:
    y = np.sum(x * x * TABLE)
    o[1:, ::2] = 3.0
    return y + np.sum(x * TABLE)


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
    "f",
    [stored, stored_between, stored_in_a_loop, stored_again, stored_twice, stored_slice, deleted],
    ids=lambda f: f.__name__,
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


def test_deletion_of_slices() -> None:
    check(deleted_slices, lambda: [1.0, 2.0, 3.0])


def test_of_what_a_variable_is_assigned() -> None:
    check(held_in_a_variable, lambda: SimpleNamespace(o=OfModule()))
    check(held_in_a_variable, lambda: SimpleNamespace(o=[1.0, 2.0]))


@pytest.mark.parametrize("f", [held, held_and_deleted, held_and_cut], ids=lambda f: f.__name__)
def test_classes_that_are_known_at_run_time(f: Callable[..., Any]) -> None:
    """Where nobody knows the class of an object, one that has methods of its own for it is refused as it runs."""
    with pytest.raises(S2SADError, match="an object is of class OfModule, which has __(set|del)item__ of its own"):
        value_and_grad(f)(X, SimpleNamespace(o=OfModule()))
    assert TABLE.tolist() == [1.0, 2.0, 3.0]
    check(f, lambda: SimpleNamespace(o=[1.0, 2.0]))


class Filling(np.ndarray):
    """NumPy runs a function of the class wherever it makes an array of it."""

    def __array_finalize__(self, other: Any) -> None:
        TABLE[0] = 3.0


class Named(np.ndarray):
    def __array_finalize__(self, other: Any) -> None:
        super().__array_finalize__(other)
        self.name = getattr(other, "name", "")


def viewed(x: Any, k: Any) -> Any:
    y = np.sum(x * x * TABLE)
    k.view(Filling)
    return y + np.sum(x * TABLE)


def viewed_by_name(x: Any, k: Any) -> Any:
    w = k.view(type=Filling)
    return np.sum(x * TABLE) + w.ndim


def viewed_as_what_is_given(x: Any, k: Any, kind: type) -> Any:
    y = np.sum(x * x * TABLE)
    w = k.view(kind)
    return y + np.sum(x * TABLE) + w.ndim


def viewed_with_a_name(x: Any, k: Any) -> Any:
    return np.sum(k.view(Named) * x)


def test_views_of_a_subclass() -> None:
    check(viewed, lambda: np.ones(3))
    check(viewed_by_name, lambda: np.ones(3))
    check(viewed_as_what_is_given, lambda: np.ones(3), lambda: Filling)
    check(viewed_with_a_name, lambda: np.arange(3.0))


def test_arrays_of_a_subclass_that_writes() -> None:
    """What is made of one is made by a function that writes, so it is no array to a gradient; another is."""

    def scaled(x: Any, k: Any) -> Any:
        return np.sum(x * k[1:] * k.T[0] * (k + 1.0)[1:])

    def alone(x: Any) -> Any:
        return scaled(x, np.arange(1.0, 5.0))

    x = X.copy()
    with pytest.raises(S2SADError, match="Filling, whose operators are not those of arrays"):
        value_and_grad(scaled)(x, np.arange(1.0, 5.0).view(Filling))
    _, gradient = value_and_grad(scaled)(x, np.arange(1.0, 5.0).view(Named))
    np.testing.assert_allclose(gradient, numeric_gradient(alone, (X,), 0), rtol=1e-7)


def put_three(q: Any) -> None:
    q[0] = 3.0


def is_table_long() -> bool:
    return len(TABLE) > 2


class Unsure:
    def __bool__(self) -> bool:
        put_three(TABLE)
        return True

    def __iter__(self) -> Any:
        put_three(TABLE)
        return iter([1.0, 2.0])


class Counting:
    """It changes itself alone."""

    def __init__(self) -> None:
        self.n = 0

    def __bool__(self) -> bool:
        return is_table_long()

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> float:
        self.n += 1
        if self.n > 2:
            raise StopIteration
        return 1.5 * self.n


def decided(x: Any, o: Any) -> Any:
    y = np.sum(x * x * TABLE)
    if o:
        y = 2.0 * y
    return y + np.sum(x * TABLE)


def run_through(x: Any, o: Any) -> Any:
    y = np.sum(x * x * TABLE)
    for i in o:
        y = y * i
    return y + np.sum(x * TABLE)


def taken_apart(x: Any, o: Any) -> Any:
    y = np.sum(x * x * TABLE)
    a, b = o
    return y * a * b + np.sum(x * TABLE)


@pytest.mark.parametrize("f", [decided, run_through, taken_apart], ids=lambda f: f.__name__)
def test_special_methods_that_call_what_writes(f: Callable[..., Any]) -> None:
    with pytest.raises(S2SADError, match=r"Unsure.__(bool|iter)__ may write into an object|TABLE is the module's"):
        value_and_grad(f)(X, Unsure())
    check(f, Counting)


def entered_with_nothing(x: Any) -> Any:
    y = np.sum(x * x * TABLE)
    with contextlib.nullcontext(put_three(TABLE)):
        y = 2.0 * y
    return y + np.sum(x * TABLE)


def entered_and_left(x: Any, k: Any) -> Any:
    y = np.sum(x * x * k)
    with np.errstate(all=("ignore", put_three(k))[0]):
        pass
    with contextlib.nullcontext(put_three(k)), contextlib.nullcontext():
        pass
    return y + np.sum(x * k)


def test_what_is_given_to_context_managers() -> None:
    check(entered_and_left, lambda: np.array([1.0, 2.0, 3.0]))
    with pytest.raises(S2SADError, match=r"TABLE is the module's, and put_three\(...\) may write"):
        value_and_grad(entered_with_nothing)(X)


class Scaled:
    """Its rounding is none: what Python asks of the methods is no number of a class."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def __round__(self, digits: Any = None) -> Any:
        return self.v * 3.0

    def __floor__(self) -> Any:
        return self.v * 5.0

    __ceil__ = __trunc__ = __floor__


@pytest.mark.parametrize("f", [round, math.floor, math.ceil, math.trunc], ids=lambda f: f.__name__)
def test_rounding_that_a_class_defines(f: Callable[[Any], Any]) -> None:
    factor = 3.0 if f is round else 5.0
    np.testing.assert_allclose(grad(lambda x: f(Scaled(x[0])) * x[1])(X), [factor * X[1], factor * X[0], 0.0])
    held = [Scaled(2.0)]

    def of_one_that_is_given(x: Any, o: Any) -> Any:
        o.v = x[0]
        return f(o) * x[1]

    with contextlib.suppress(S2SADError):
        np.testing.assert_allclose(grad(of_one_that_is_given)(X, held[0]), [factor * X[1], factor * X[0], 0.0])


class Comparing:
    """A comparison writes into the array of the object."""

    def __init__(self, v: np.ndarray) -> None:
        self.v = v

    def __lt__(self, other: float) -> np.ndarray:
        self.v[0] = 0.35
        return self.v


class Holder:
    def __init__(self, items: list[Any]) -> None:
        self.items = items


def compared(items: Any, x: np.ndarray) -> Any:
    for o in items:
        w = o < 1.0  # noqa: F841
    return np.sum(x)


def of_a_list(x: np.ndarray, k: np.ndarray, s: Any) -> Any:
    items = list(s.items)
    r = compared(items, x)
    return r + np.sum(k * x)


def of_a_tuple(x: np.ndarray, k: np.ndarray, s: Any) -> Any:
    items = tuple(s.items)
    r = compared(items, x)
    return r + np.sum(k * x)


def of_a_copy(x: np.ndarray, k: np.ndarray, s: Any) -> Any:
    items = s.items.copy()
    r = compared(items, x)
    return r + np.sum(k * x)


def of_a_display(x: np.ndarray, k: np.ndarray, s: Any) -> Any:
    items = [*s.items]
    r = compared(items, x)
    return r + np.sum(k * x)


def of_a_sorted_list(x: np.ndarray, k: np.ndarray, s: Any) -> Any:
    items = sorted(s.items, key=id)
    r = compared(items, x)
    return r + np.sum(k * x)


@pytest.mark.parametrize(
    "f", [of_a_list, of_a_tuple, of_a_copy, of_a_display, of_a_sorted_list], ids=lambda f: f.__name__
)
def test_items_of_a_container_that_is_made_of_another(f: Callable[..., Any]) -> None:
    k = TABLE.copy()
    with contextlib.suppress(S2SADError):
        np.testing.assert_allclose(grad(f)(X, k, Holder([Comparing(k)])), [1.35, *TABLE[1:] + 1.0])
