"""Dicts of parameters that are made of others: default values, and what varies in their place."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp

DEFAULTS: dict[str, Any] = {"a": 3.0, "b": 0.2, "name": "cubic"}
ORDERED = OrderedDict(a=2.0, b=0.5)


def start() -> dict[str, Any]:
    return {"a": 3.0, "b": 0.2}


def scaled(k: float) -> dict[str, Any]:
    return {"a": k, "b": 0.2 * k}


def model(s: dict[str, Any]) -> Any:
    return s["a"] * s["b"] ** (3 if s.get("name") == "cubic" else 2)


def dict_of_a_call(x: Any) -> Any:
    return model(dict(start(), b=x))


def display_of_a_call(x: Any) -> Any:
    return model({**start(), "b": x})


def named_first(x: Any) -> Any:
    state = scaled(2.0)
    state = dict(state, a=x * x, name="cubic")
    return model(state)


def updated(x: Any) -> Any:
    state = start()
    state.update(b=x)
    return model(state)


def copied(x: Any) -> Any:
    state = dict(start())
    state["b"] = x
    return model(state)


def of_the_module(x: Any) -> Any:
    return model(dict(DEFAULTS, b=x))


def display_of_the_module(x: Any) -> Any:
    return model({"c": 1.0, **DEFAULTS, "a": x}) + model({**DEFAULTS, **scaled(3.0), "b": x})


def of_an_ordered_one(x: Any) -> Any:
    return model({**ORDERED, "b": x}) + model(dict(ORDERED, a=x))


def merged_twice(x: Any) -> Any:
    params = dict(dict(DEFAULTS), b=x)
    return model({**params, "a": params["b"] * 2.0})


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for k in range(3):
        total = total + model({**DEFAULTS, "b": x * (k + 1)})
    return total


PROGRAMS = [
    dict_of_a_call, display_of_a_call, named_first, updated, copied, of_the_module, display_of_the_module,
    of_an_ordered_one, merged_twice, in_a_loop,
]  # fmt: skip


def check(f: Callable[..., Any]) -> None:
    h = 1e-5
    expected = (f(1.3 + h) - f(1.3 - h)) / (2 * h)
    np.testing.assert_allclose(grad(f)(1.3), expected, rtol=1e-8)
    value, tangent = jvp(f, (1.3,), (1.0,))
    assert value == f(1.3)
    np.testing.assert_allclose(tangent, expected, rtol=1e-8)


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f: Callable[..., Any]) -> None:
    check(f)


def test_default_values_may_change(monkeypatch: pytest.MonkeyPatch) -> None:
    check(of_the_module)
    monkeypatch.setitem(DEFAULTS, "a", 5.0)
    check(of_the_module)
    monkeypatch.setitem(DEFAULTS, "name", "square")
    check(of_the_module)
    monkeypatch.setitem(DEFAULTS, "more", [1.0, 2.0])
    check(of_the_module)
    monkeypatch.setitem(DEFAULTS, "a", np.array(2.0))
    check(of_the_module)


def test_the_defaults_are_left_alone() -> None:
    before = dict(DEFAULTS)
    grad(of_the_module)(2.0)
    grad(merged_twice)(2.0)
    assert before == DEFAULTS
