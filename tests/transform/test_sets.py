"""Operators and methods of sets and views of keys, and dicts that can only be read."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad
from tests.transform.remaining import check_every_way

X = np.array([0.3, 0.7, -0.4])
DEFAULTS = {"a": 2.0, "b": 3.0}
FIXED = MappingProxyType({"a": 2.0, "b": 3.0})
ALLOWED = {"a", "b", "c"}
MODES: dict[str, Any] = {"mode": "a", "k": 2.0}
SHOWN = MappingProxyType(MODES)


def parameters(**given: Any) -> dict[str, Any]:
    unknown = given.keys() - DEFAULTS.keys()
    if unknown:
        raise TypeError(f"unknown: {sorted(unknown)}")
    return {**DEFAULTS, **given}


def checked_against_the_module(x: Any) -> Any:
    p = parameters(a=x[0])
    return p["a"] * p["b"]


def among_those_allowed(x: Any) -> Any:
    p = {"a": x[0], "b": x[1]}
    if not p.keys() <= ALLOWED:
        raise KeyError("no")
    return p["a"] * p["b"]


def left_over(x: Any) -> Any:
    p = {"a": x[0], "b": x[1], "c": x[2]}
    rest = set(p) - {"a"}
    return sum(p[k] ** 2 for k in sorted(rest))


def collected(x: Any) -> Any:
    names: set[str] = set()
    for row in ({"a": 1}, {"b": 2, "a": 1}):
        names |= set(row)
    c = dict(zip(sorted(names), x, strict=False))
    return c["a"] * c["b"]


def common(x: Any) -> Any:
    p, q = {"a": x[0], "b": x[1]}, {"b": x[2], "c": x[0]}
    return sum(p[k] * q[k] for k in p.keys() & q.keys()) + len(p.keys() | q.keys()) * x[0]


def by_methods(x: Any) -> Any:
    p = {"a": x[0], "b": x[1]}
    for name in sorted({"a", "b", "c"}.difference(p)):
        p[name] = x[2]
    y = p["a"] * p["c"] if {"a"}.issubset(p) and not {"z"}.intersection(p) else x[0]
    return y + x[1] * len({"a"}.union(["b"], p)) + x[2] * len({"a", "d"}.symmetric_difference(p))


def compared(x: Any) -> Any:
    p = {"a": x[0], "b": x[1]}
    if set(p) == {"b", "a"} and not set(p) ^ {"a", "b"} and set(p) > {"a"} and set(p) != {"a"}:
        return p["a"] * p["b"]
    return x[2]


def spread_of_what_is_only_read(x: Any) -> Any:
    p = {**FIXED, "a": x[0]}
    p["b"] *= x[1]
    return p["a"] * p["b"]


def run_through_what_is_only_read(x: Any) -> Any:
    total = 0.0
    for name, value in FIXED.items():
        total = total + value * {"a": x[0], "b": x[1]}[name]
    for name in FIXED:
        total = total + len(name) * x[2]
    return total * FIXED.get("b", 1.0) + FIXED.get("z", 1.0) * x[0]


def updated_copy(x: Any) -> Any:
    p = dict(FIXED)
    p.update(a=x[0])
    if p.keys() - ALLOWED:
        raise KeyError("no")
    return p["a"] * FIXED["b"]


def changed_beneath(x: Any) -> Any:
    MODES["mode"] = "a"
    y = x[0] if SHOWN["mode"] == "a" else x[1]
    MODES["mode"] = "b"
    return y * (x[2] if SHOWN["mode"] == "a" else x[1] ** 2)


PROGRAMS = [
    checked_against_the_module,
    among_those_allowed,
    left_over,
    collected,
    common,
    by_methods,
    compared,
    spread_of_what_is_only_read,
    run_through_what_is_only_read,
    updated_copy,
    changed_beneath,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f: Callable[..., Any]) -> None:
    check_every_way(f, X)


def test_a_view_shows_what_is_put_into_the_dict_later() -> None:
    def f(x: Any) -> Any:
        p = {"a": x[0]}
        keys = p.keys()
        p["b"] = x[1]
        return x[2] * len(keys - {"a"}) + p["b"]

    try:
        got = grad(f)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(got, [0.0, 1.0, 1.0])


def test_what_a_check_raises() -> None:
    with pytest.raises(TypeError, match=r"unknown: \['z'\]"):
        grad(lambda x: parameters(z=x[0])["a"])(X)


def test_keys_of_the_module_that_change() -> None:
    df = grad(checked_against_the_module)
    np.testing.assert_allclose(df(X), [3.0, 0.0, 0.0])
    del DEFAULTS["a"]
    try:
        with pytest.raises(TypeError, match="unknown"):
            df(X)
    finally:
        DEFAULTS.clear()
        DEFAULTS.update(a=2.0, b=3.0)
    np.testing.assert_allclose(df(X), [3.0, 0.0, 0.0])
