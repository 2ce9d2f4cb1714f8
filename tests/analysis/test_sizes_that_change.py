"""Sizes and shapes of names, items and arguments that are others in another iteration, call or function."""

# ruff: noqa: F841 (a variable that is read in the next iteration)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import value_and_grad
from tests.language.support import Case, case, check_gradient
from tests.oracle import numeric_gradient

X = np.array([0.7, 1.3, 0.4])


W = np.arange(6.0).reshape(2, 3) + 0.5


def size_of_the_iteration_before(x: Any) -> Any:
    s = 0.0
    for i in range(1, 4):
        if i > 1:
            a = np.ones((m, 3)) * x  # type: ignore[has-type]  # noqa: F821
            c = np.concatenate([a, a + np.ones((i, 3))]) if i == 2 else a
            z = np.exp(x * np.ones(m))  # type: ignore[has-type]  # noqa: F821
            s = s + np.sum(c) + np.sum(np.outer(z + np.arange(m), z))  # type: ignore[has-type]  # noqa: F821
        m = i
    return s


def grown_if_a_number(w: Any, v: Any, flag: Any) -> Any:
    y = w * v[0] if flag else w * v
    y = y * 2.0
    y += v
    return np.sum(y * y)


def reduced_along(x: Any, v: Any, axis: Any) -> Any:
    y = np.sum(x, axis=axis)
    y += v
    return np.sum(y * y)


def shaped_by_a_variable(x: Any, y: Any) -> Any:
    m = -1
    return np.sum(x.reshape(m, 3) * y.reshape(m, 3))


CASES = [
    case(size_of_the_iteration_before, 0.7),
    *[case(grown_if_a_number, 0.5, X, flag, wrt=(0, 1), name=f"grown_if_{flag}") for flag in (True, False)],
    case(reduced_along, X, 2.0 * X, 0, wrt=(0, 1)),
    case(reduced_along, W, 2.0 * X, 0, wrt=(0, 1), name="reduced_along_rows"),
    case(shaped_by_a_variable, X, W.ravel()),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


# --- sizes in callees, of items that are replaced, of lists and slices


def _made(n: Any) -> Any:
    m = round(n)
    return np.ones(m) + n


def local_size_of_a_callee(x: Any) -> Any:
    """A callee's ``m`` is another number than its caller's, and so is the size of what it makes."""
    m = round(x[0] * 0 + 5)
    a = np.zeros(m) + x[0]
    b = _made(x[1] * 0 + 1.0) * x[1]
    return np.sum(a * b)


def _one(x: Any, n: int = 1) -> Any:
    return np.ones(n) * x[0]


def default_of_a_callee(x: Any, n: int = 5) -> Any:
    """The parameter of a callee that has its default is not the caller's parameter of that name."""
    return np.sum((np.zeros(n) + x[1]) * _one(x))


def _adder(count: int) -> Callable[[Any], Any]:
    def inner(x: Any) -> Any:
        return np.zeros(count) + x[0]

    return inner


_five, _single = _adder(5), _adder(1)


def cells_of_two_closures(x: Any) -> Any:
    """Two functions from one text read different numbers under one name."""
    return np.sum(_five(x) * _single(x))


WIDE = np.array([[1.0, 2.0, 3.0, 4.0, 5.0], [0.5, 0.3, 0.1, 0.2, 0.4]])


def item_replaced_by_another_shape(x: Any) -> Any:
    """What is known of an item ends where it is replaced."""
    s = [np.ones_like(x), 2.0]
    s[0] = WIDE
    return np.sum(np.sin(x) * s[0])


def _replace(s: Any) -> None:
    s["w"] = WIDE


def item_replaced_by_a_callee(x: Any) -> Any:
    """The same where a callee replaces it."""
    s: dict[str, Any] = {"w": 1.0}
    _replace(s)
    return np.sum(np.sin(x) * s["w"])


def length_of_a_list_that_shrinks(x: Any) -> Any:
    """``len(left)`` is another number each time."""
    a = np.sin(x)
    total = 0.0
    left = [0, 0, 0]
    for _ in range(3):
        t = a[len(left)]
        total = total + t * t
        left.pop()
        a[len(left) + 1] = 5.0 * total
    return total + np.sum(a)


def length_of_a_slice_in_a_loop(x: Any) -> Any:
    """The length of a slice changes with the variable of the loop."""
    a = np.sin(x)
    a[0] = 0.5
    total = 0.0
    for k in range(2, -1, -1):
        v = x[: k + 1]
        t = a[len(v)]
        total = total + t * t
        a[len(v) + 1] = 0.3 * total
    return total + np.sum(a)


FIVE = np.array([0.3, 0.4, 0.5, 0.6, 0.7])


@pytest.mark.parametrize(
    "f",
    [
        local_size_of_a_callee,
        default_of_a_callee,
        cells_of_two_closures,
        item_replaced_by_another_shape,
        item_replaced_by_a_callee,
        length_of_a_list_that_shrinks,
        length_of_a_slice_in_a_loop,
    ],
    ids=lambda f: f.__name__,
)
def test_value_and_gradient(f: Callable[[Any], Any]) -> None:
    value, gradient = value_and_grad(f)(FIVE)
    assert value == f(FIVE.copy())
    np.testing.assert_allclose(gradient, numeric_gradient(lambda a: f(a.copy()), (FIVE,), 0), rtol=1e-7, atol=1e-9)
