"""What a value and its tangent compute several times is computed once, and nothing else is taken for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from s2sad.pushforwards import pushforward
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.4, -0.8, 1.3, 0.2])
D = np.array([1.0, -0.5, 0.3, 2.0])


def read_again(x: Any) -> Any:
    return np.sum(np.sin(x) * np.cos(x))


def of_parts(x: Any) -> Any:
    return np.sum((1.0 - np.tanh(x[:-1]) ** 2) * x[:-1])


def written_between(x: Any) -> Any:
    y = x * 1.0
    a = np.cos(y) * y
    y[0] = x[1] * 2.0
    return np.sum(a * np.cos(y))


def written_through_a_view(x: Any) -> Any:
    y = x * 1.0
    v = y[:2]
    a = np.cos(v)
    y[0] = x[1] * 2.0
    return np.sum(a * np.cos(v))


def halve(y: Any) -> None:
    y *= 0.5


def written_by_a_call(x: Any) -> Any:
    y = np.ones(4)
    a = x * np.cos(y)
    halve(y)
    return np.sum(a * np.cos(y))


def in_turns(x: Any) -> Any:
    y = x
    for _ in range(3):
        y = np.sin(y) + np.cos(y)
    return np.sum(y * np.sin(y))


def in_arms(x: Any) -> Any:
    if x[0] > 0.0:
        y = np.sin(x) * np.cos(x)
    else:
        y = np.cos(x)
    return np.sum(y * np.cos(x))


def under_a_condition(x: Any) -> Any:
    r = x[0] - 0.7
    return np.sqrt(np.sum(x * x)) + (np.log(r) * np.log(r) if r > 0.0 else 0.0)


def bound_again(x: Any) -> Any:
    t = np.exp(x)
    s = np.sum(t * np.cos(x))
    x = x * 2.0
    return s + np.sum(t * np.cos(x))


PROGRAMS: dict[Callable[..., Any], tuple[str, int]] = {
    read_again: ("np.cos(x)", 1),
    of_parts: ("np.tanh", 1),
    written_between: ("np.cos(y)", 2),
    written_through_a_view: ("np.cos(", 2),
    written_by_a_call: ("np.cos(y)", 2),
    in_turns: ("np.cos(y)", 2),
    in_arms: ("np.cos(x)", 3),
    under_a_condition: ("np.log(r)", 1),
    bound_again: ("np.cos(", 2),
}


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_text_and_tangents(f: Callable[..., Any]) -> None:
    value, tangent = jvp(f, (X,), (D,))
    assert value == f(X)
    np.testing.assert_allclose(tangent, richardson_jvp(f, [X], [D]), rtol=1e-8)
    along = numeric_gradient(lambda x: grad(f)(x) @ D, (X,))
    np.testing.assert_allclose(hvp(f, (X,), (D,)), along, rtol=1e-6, atol=1e-8)
    text = pushforward(f, 1).compiled((X,), (0,)).compiled.text
    part, count = PROGRAMS[f]
    assert text.count(part) == count, text


def test_results_are_objects_of_their_own() -> None:
    def f(x: Any) -> Any:
        y = np.cos(x)
        z = np.cos(x)
        return y, z

    values, tangents = jvp(f, (X,), (D,))
    assert values[0] is not values[1]
    assert tangents[0] is not tangents[1]
    assert not np.shares_memory(tangents[0], tangents[1])


def test_what_is_tried_is_computed_where_it_is() -> None:
    def f(x: Any, k: int) -> Any:
        try:
            y = [np.sin(x)][k] * np.cos(x)
        except IndexError:
            y = x
        return np.sum(y * np.cos(x))

    for k in (0, 3):
        assert jvp(f, (X, k), (D, None))[1] == pytest.approx(richardson_jvp(lambda x, k=k: f(x, k), [X], [D]))


def _in_a_dict(x: Any, k: Any) -> Any:
    held = {"a": np.zeros(3), "b": np.zeros(3)}
    held["b"][:-1] = k[0]
    return np.sum(held["a"] * x) + np.sum(held["b"] * x)


def _in_dicts(x: Any, k: Any) -> Any:
    moments = {"m": {"w": np.zeros(3), "b": np.zeros(3)}, "v": {"w": np.zeros(3), "b": np.zeros(3)}}
    for _ in range(2):
        for n in ("w", "b"):
            moments["m"][n][:] = 0.9 * moments["m"][n] + x
            moments["v"][n][:] = 0.9 * moments["v"][n] + x * k
    return np.sum(moments["m"]["w"] * moments["v"]["b"])


def _viewed(x: Any, k: Any) -> Any:
    a, b = np.zeros(3)[:], np.zeros(3)[:]
    b[0] = k[0]
    return np.sum(a * x) + np.sum(b * x)


def _viewed_in_turn(x: Any, k: Any) -> Any:
    a = np.zeros((3, 1)).T
    b = np.zeros((3, 1)).T
    b[0, 1:] = x[:2] * k[0]
    return np.sum(a * x) + np.sum(b * x)


@pytest.mark.parametrize("f", [_in_a_dict, _in_dicts, _viewed, _viewed_in_turn])
def test_equal_arrays_that_are_held_or_viewed_and_written_are_not_one(f: Any) -> None:
    x, k, d = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.6, 0.7]), np.array([0.3, -0.8, 0.5])
    value, tangent = jvp(f, (x, k), (d, None))
    assert value == f(x.copy(), k)
    np.testing.assert_allclose(tangent, richardson_jvp(f, (x, k), (d, None)), rtol=1e-8)


def test_equal_arrays_that_are_returned_in_a_list_are_not_one() -> None:
    made, _ = jvp(lambda x: [x * 2.0, [x * 2.0]], (np.ones(2),), (np.ones(2),))
    assert not np.shares_memory(made[0], made[1][0])
