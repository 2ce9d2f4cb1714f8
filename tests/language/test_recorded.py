"""What is differentiated and recorded in lists and dicts of the module: as Python does, or refused where it is read."""

from __future__ import annotations

import collections
import copy
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad, vjp
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient

X = np.array([0.3, -0.7, 1.2])
LOSSES: list[Any] = []
HISTORY: dict[str, list[Any]] = {"loss": [], "w": []}
LATEST: dict[str, Any] = {}
TRACE = types.SimpleNamespace(values=[], rows=collections.deque())
SEEN: set[Any] = set()
ALIAS = LOSSES
BOX = [LOSSES]
RECORDS = (LOSSES, HISTORY, LATEST, TRACE.values, TRACE.rows, SEEN)


@pytest.fixture(autouse=True)
def _empty() -> None:
    for part in (LOSSES, HISTORY["loss"], HISTORY["w"], LATEST, TRACE.values, TRACE.rows, SEEN):
        part.clear()


def number(x: Any) -> Any:
    loss = np.sum(x**2)
    HISTORY["loss"].append(float(loss))
    return loss


def arrays_in_a_loop(x: Any) -> Any:
    for k in range(3):
        x = x - 0.1 * x**2
        LOSSES.append((k, np.sum(x)))
        HISTORY["w"].append(x)
    return np.sum(x)


def in_a_branch(x: Any) -> Any:
    y = x * 2.0
    if x[0] > 0.0:
        LOSSES.insert(0, y)
    else:
        LOSSES.extend([y, y])
    return np.sum(y * x)


def items(x: Any) -> Any:
    LATEST["x"] = x
    LATEST["loss"] = np.sum(x**2)
    return np.sum(x**3)


def of_an_object(x: Any) -> Any:
    TRACE.rows.appendleft(np.sum(x))
    SEEN.add(float(x[0]))
    return np.sum(x * x)


def counted(x: Any) -> Any:
    LOSSES.append(0.5)
    LOSSES.append(np.max(x))
    return np.sum(x * x)


RIGHT = [number, arrays_in_a_loop, in_a_branch, items, of_an_object, counted]


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
@pytest.mark.parametrize("mode", ["grad", "value", "vjp", "jvp"])
def test_right_and_recorded_once(f: Callable[[Any], Any], mode: str) -> None:
    expected = numeric_gradient(f, (X,))
    _clear()
    value = f(X)
    wanted = copy.deepcopy(RECORDS)
    _clear()
    if mode == "jvp":
        result, found = jvp(f, (X,), (np.ones(3),))
        expected = np.sum(expected)
    elif mode == "vjp":
        result, pullback = vjp(f, X)
        (found,) = pullback(1.0)
    elif mode == "value":
        result, found = value_and_grad(f)(X)
    else:
        result, found = value, grad(f)(X)
    assert result == value
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_equal(_plain(RECORDS), _plain(wanted))


def _clear() -> None:
    for part in (LOSSES, HISTORY["loss"], HISTORY["w"], LATEST, TRACE.values, TRACE.rows, SEEN):
        part.clear()


def _plain(records: Any) -> Any:
    return [sorted(r) if isinstance(r, set) else list(r) if isinstance(r, collections.deque) else r for r in records]


# --- what is read again


def read(x: Any) -> Any:
    LOSSES.append(np.sum(x**2))
    return LOSSES[-1] * 2.0


def read_by_another_name(x: Any) -> Any:
    LOSSES.append(np.sum(x**2))
    return ALIAS[-1] * 2.0


def read_in_a_box(x: Any) -> Any:
    LOSSES.append(np.sum(x**2))
    return BOX[0][-1] * 2.0


def _last() -> Any:
    return LOSSES[-1]


def read_by_a_function(x: Any) -> Any:
    LOSSES.append(np.sum(x**2))
    return _last() * 2.0


def read_by_a_default(x: Any, read: Any = lambda: LOSSES[-1]) -> Any:
    LOSSES.append(np.sum(x**2))
    return read() * 2.0


class Reader:
    def last(self) -> Any:
        return LOSSES[-1]


READER = Reader()


def read_by_a_method(x: Any) -> Any:
    LOSSES.append(np.sum(x**2))
    return READER.last() * 2.0


def read_in_a_comprehension(x: Any) -> Any:
    LOSSES.append(np.sum(x**2))
    return sum(v * 2.0 for v in LOSSES)


def read_of_the_module(x: Any) -> Any:
    LOSSES.append(np.sum(x**2))
    return globals()["LOSSES"][-1] * 2.0


def item_read(x: Any) -> Any:
    LATEST["x"] = x * 2.0
    return np.sum(LATEST["x"] * x)


def written_later(x: Any) -> Any:
    y = x * 2.0
    LOSSES.append(y)
    y[0] = x[1] * x[2]
    return np.sum(y * x)


def recorded_twice(x: Any) -> Any:
    y = x * 2.0
    LOSSES.append(y)
    HISTORY["w"].append(y)
    return np.sum(y * HISTORY["w"][0])


def in_a_function(x: Any) -> Any:
    _record(np.sum(x))
    return np.sum(x**2) * len(LOSSES)


def _record(value: Any) -> None:
    LOSSES.append(value)


ODD = [
    read, read_by_another_name, read_in_a_box, read_by_a_function, read_by_a_default, read_by_a_method,
    read_in_a_comprehension, read_of_the_module, item_read, written_later, recorded_twice, in_a_function,
]  # fmt: skip


def _fresh(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        _clear()
        return f(x)

    return run


@pytest.mark.parametrize("f", ODD, ids=lambda f: f.__name__)
def test_right_or_refused(f: Callable[[Any], Any]) -> None:
    expected = numeric_gradient(_fresh(f), (X,))
    _clear()
    f(X.copy())
    wanted = copy.deepcopy(RECORDS)
    for derivative in (grad(f), lambda x: vjp(f, x)[1](1.0)[0]):
        _clear()
        try:
            found = derivative(X.copy())
        except S2SADError:
            continue
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        np.testing.assert_equal(_plain(RECORDS), _plain(wanted))
    _clear()
    try:
        _, tangent = jvp(f, (X.copy(),), (np.ones(3),))
    except S2SADError:
        return
    np.testing.assert_allclose(tangent, np.sum(expected), rtol=1e-6)


def with_a_list(x: Any, seen: Any) -> Any:
    LOSSES.append(np.sum(x))
    return np.sum(x**2) * seen[-1]


def test_an_argument_may_be_the_list() -> None:
    np.testing.assert_allclose(grad(with_a_list)(X, [3.0]), 6.0 * X)
    with pytest.raises(S2SADError):
        grad(with_a_list)(X, LOSSES)


class Overwriting(list[Any]):
    def append(self, value: Any) -> None:
        value[:] = 7.0


def into_a_list(x: Any) -> Any:
    y = x * 2.0
    LOSSES.append(y)
    return np.sum(y * x)


def test_a_variable_may_have_an_object_of_another_class_later(monkeypatch: pytest.MonkeyPatch) -> None:
    derivative = grad(into_a_list)
    np.testing.assert_allclose(derivative(X), 4.0 * X)
    monkeypatch.setitem(globals(), "LOSSES", Overwriting())
    with pytest.raises(S2SADError):
        derivative(X)
