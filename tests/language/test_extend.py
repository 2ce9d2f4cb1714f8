"""``list.extend`` of what is computed: as many items are added as there are then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad, vjp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient


def by_an_array(x: Any) -> Any:
    s = [0.0]
    s.extend(np.cumsum(np.array([x, x * x, 2.0])))
    return s[1] * s[3]


def by_a_list_in_a_loop(x: Any) -> Any:
    s = [x]
    for _ in range(3):
        t = [v * x for v in s]
        s.extend(t)
    return sum(s)


def by_a_list_that_changes_later(x: Any) -> Any:
    a = [x, x * x]
    s: list[Any] = []
    s.extend(a)
    s.extend(a)
    a[0] = 5.0
    return s[0] * s[3]


def by_itself(x: Any) -> Any:
    s = [x]
    s.extend(s)
    s.extend(s)
    return sum(s)


def by_a_map(x: Any) -> Any:
    s: list[Any] = []
    s.extend(map(lambda v: v * x, [1.0, 2.0]))
    s.extend({"a": x, "b": 2 * x}.values())
    return s[1] * s[3]


def by_rows(x: Any) -> Any:
    s: list[Any] = []
    for n in (2, 1, 3):
        s.extend(np.arange(n) * x)
    return np.sum(np.array(s) ** 2)


RIGHT = (by_an_array, by_a_list_in_a_loop, by_a_list_that_changes_later, by_itself, by_a_map, by_rows)


@pytest.mark.parametrize("program", RIGHT, ids=lambda p: p.__name__)
def test_right(program: Callable[[Any], Any]) -> None:
    value, gradient = value_and_grad(program)(0.8)
    expected = numeric_gradient(lambda x: float(program(x)), [0.8])
    assert value == program(0.8)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(program, (0.8,), (1.0,))[1], expected, rtol=1e-7)


def under_another_name(x: Any) -> Any:
    s = [x]
    t = s
    s.extend(np.array([x, 2 * x]))
    return sum(t)


def by_itself_from_an_argument(x: Any, k: Any) -> Any:
    s = [*k, x]
    s.extend(s)
    return s


def by_itself_from_a_comprehension(x: Any, k: Any) -> Any:
    s = [v * x for v in k]
    s.extend(s)
    return s


def by_itself_in_a_callee(x: Any, k: Any) -> Any:
    def extend(a: Any, b: Any) -> None:
        a.extend(b)

    s = [*k, x]
    extend(s, s)
    return s


@pytest.mark.parametrize("f", [by_itself_from_an_argument, by_itself_in_a_callee])
def test_a_list_of_which_the_length_is_not_known_does_not_run_after_itself(f: Callable[..., Any]) -> None:
    """It gets the items that it has at first; a loop that appends them would have no end."""
    made, tangents = jvp(by_itself_from_a_comprehension, (0.8, [1.0, 2.0]), (1.0, None))
    assert (made, tangents) == ([0.8, 1.6, 0.8, 1.6], [1.0, 2.0, 1.0, 2.0])
    for derivative in (jvp, lambda f, args, dots: vjp(f, *args, argnums=0)):
        with pytest.raises(UnsupportedError, match="changes an object|is changed while"):
            derivative(f, (0.8, [1.0, 2.0]), (1.0, None))


def test_another_name_of_the_list() -> None:
    np.testing.assert_allclose(grad(under_another_name)(0.8), 4.0)
