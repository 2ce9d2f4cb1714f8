"""Arrays whose elements are one in memory, beside arrays that are written in place under the same name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, vjp
from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.copies import is_repeated
from s2sad.runtime.trees import own
from tests.oracle import numeric_gradient

K = np.array([1.0, 2.0, 3.0])
ROW = np.broadcast_to(2.0, (3,))


def given(x, c):
    if c > 0:
        w = np.zeros(3)
        w[0] = x[1]
    else:
        w = x
    return np.sum(w * w * K)


def given_to_a_loop(x, c):
    w = x
    for i in range(2):
        if c > i:
            w = w.copy()
            w[i] *= x[2]
    return np.sum(w * w * K)


def made_of_a_number(x, c):
    if c > 0:
        w = np.zeros(3)
        w[0] = x[1] * c
    else:
        w = np.broadcast_to(x[0] * x[1], x.shape)
    return np.sum(w * x * K)


def made_of_a_mean(x, c):
    w = np.broadcast_to(np.mean(x), (2, 3))
    if c > 0:
        w = w * np.ones((2, 3))
        w[1] = np.sin(x)
    return np.sum(w * w * K)


FUNCTIONS = [given, given_to_a_loop, made_of_a_number, made_of_a_mean]


@pytest.mark.parametrize("c", [1.5, -0.5])
@pytest.mark.parametrize("x", [ROW, ROW.copy()], ids=["repeated", "apart"])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[..., Any], x: Any, c: float) -> None:
    expected = numeric_gradient(f, (x.copy(), c), 0)
    np.testing.assert_allclose(grad(f)(x, c), expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(vjp(f, x, c)[1](2.0)[0], 2 * expected, rtol=1e-7, atol=1e-8)
    along = np.array([0.3, -1.0, 0.7])
    np.testing.assert_allclose(jvp(f, (x, c), (along, None))[1], expected @ along, rtol=1e-7, atol=1e-8)


def test_memory_that_elements_share_and_that_may_be_written_is_refused() -> None:
    x = np.lib.stride_tricks.as_strided(np.full(3, 2.0), (3,), (0,))
    with pytest.raises(UndefinedDerivativeError, match="are one in memory"):
        grad(given)(x, -0.5)


def item_written(x, c):
    x[0] = c
    return np.sum(x * x[::-1])


def view_written(x, c):
    flat = x.reshape(-1)
    flat[1] *= c
    return np.sum(x * K)


def some_rebound(x, c):
    for _ in range(int(c)):
        x = x * c
    x[0] = c
    return np.sum(x * K)


def held_in_a_list(xs, c):
    xs[0][0] = c
    return np.sum(xs[0] * K)


@dataclass
class Held:
    """An object with an array that a function writes."""

    x: np.ndarray


def held_by_an_object(held, c):
    held.x[0] = c
    return np.sum(held.x * K)


HOLDERS: dict[Callable[..., Any], Callable[[Any], Any]] = {
    item_written: np.asarray,
    view_written: np.asarray,
    some_rebound: np.asarray,
    held_in_a_list: lambda x: [x],
    held_by_an_object: Held,
}


@pytest.mark.parametrize("f", HOLDERS, ids=lambda f: f.__name__)
def test_arguments_whose_elements_are_one_are_written_by_no_derivative(f: Callable[..., Any]) -> None:
    """Also not by one that was compiled for an array of the same shape, whose elements are apart."""
    hold, c = HOLDERS[f], 0.7
    apart, along = np.array([1.0, 2.0, 0.5]), (None, 1.0)
    expected = numeric_gradient(lambda x, c: f(hold(x.copy()), c), (apart, c), 1)
    gradient = grad(f, argnums=1)
    for _ in range(2):
        np.testing.assert_allclose(gradient(hold(apart.copy()), c), expected, rtol=1e-7)
        np.testing.assert_allclose(jvp(f, (hold(apart.copy()), c), along)[1], expected, rtol=1e-7)
        one = np.lib.stride_tricks.as_strided(np.full(3, 2.0), (3,), (0,))
        with pytest.raises(UndefinedDerivativeError, match="are one in memory"):
            gradient(hold(one), c)
        with pytest.raises(UndefinedDerivativeError, match="are one in memory"):
            jvp(f, (hold(one), c), along)
        np.testing.assert_array_equal(one, 2.0)


def test_copies_of_repeated_elements_are_apart() -> None:
    for x in (ROW, np.broadcast_to(K, (2, 3)).T, np.lib.stride_tricks.sliding_window_view(np.arange(5.0), 3)):
        assert is_repeated(x)
        copy = own(x)
        assert not is_repeated(copy)
        np.testing.assert_array_equal(copy, x)
    for x in (K, np.ones((2, 3)).T[::2], np.ones((3, 0)), np.ones((4, 4)).diagonal()):
        assert not is_repeated(x)
        assert own(x).strides == x.strides or not x.size
    assert not is_repeated(np.broadcast_to(1.0, (1, 1)))
