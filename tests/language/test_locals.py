"""``locals()``: a dict of the variables that have a value where it stands, in Python's order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.language.support import case, check_gradient

X = np.array([0.7, 1.3, 0.4])


def check(namespace: Any, name: str, shape: Any) -> Any:
    value = namespace[name]
    if len(value.shape) != len(shape) or any(a != b for a, b in zip(value.shape, shape, strict=True) if b != -1):
        raise ValueError(f"{name} must have shape {shape}")
    return value.shape[0]


def names_of(namespace: Any) -> Any:
    return ",".join(namespace)


def checked(x: Any, scale: float = 2.0, *, power: int = 2) -> Any:
    n = check(locals(), "x", (-1,))
    y = x * scale
    m = check(locals(), "y", (n,))
    return np.sum(y**power) * m


def item(x: Any) -> Any:
    y = x * x
    return np.sum(locals()["y"] * x)


def in_order(x: Any, *rest: Any, k: float = 1.0, **more: Any) -> Any:
    b = x[0]
    a = b * x[1]
    print(names_of(locals()))
    c = a * k
    print(names_of(locals()))
    return c * x[2]


def after_branches(x: Any) -> Any:
    if x[0] > 0.5:
        s, t = x[0], x[1]
    else:
        s = x[1]
        t = x[0]
    print(names_of(locals()))
    if s > 99:
        u = 1.0
        return u * x[0]
    return locals()["s"] * t


def in_a_branch(x: Any) -> Any:
    y = x * 2.0
    if x[0] > 0:
        z = y * x
        print(names_of(locals()))
        return np.sum(locals()["z"])
    return np.sum(y)


def before_and_after_a_loop(x: Any) -> Any:
    s = 0.0
    print(names_of(locals()))
    for v in x:
        s = s + v * v
    return s


def captured(x: Any) -> Any:
    k = x[0] * 2.0

    def inner(a: Any) -> Any:
        b = a * k
        print(names_of(locals()))
        return b + locals()["k"]

    return np.sum(inner(x))


def with_imports(x: Any) -> Any:
    import math

    y = math.sin(x[0])
    print(names_of(locals()))
    return y * x[1]


def in_a_comprehension(x: Any) -> Any:
    y = x * x
    return sum([locals()["v"] for v in y])


@pytest.mark.parametrize("f", [checked, item, in_order, after_branches, in_a_branch, before_and_after_a_loop])
def test_derivatives(f: Callable[..., Any]) -> None:
    check_gradient(case(f, X))
    dx = np.array([0.3, -0.7, 0.2])
    assert np.isclose(jvp(f, (X,), (dx,))[1], grad(f)(X) @ dx, rtol=1e-12)


def test_exceptions_are_the_programs() -> None:
    with pytest.raises(ValueError, match="x must have shape"):
        grad(checked)(np.ones((2, 2)))


def after_a_loop(x: Any) -> Any:
    for v in x:
        last = v * v
    return locals()["last"]


def deleted(x: Any) -> Any:
    y = x * x
    z = y
    del y
    return np.sum(locals()["z"])


def assigned_in_an_expression(x: Any) -> Any:
    return (y := x[0] * 2.0) * locals()["y"]


def tried(x: Any) -> Any:
    try:
        y = x[0] * 2.0
    except ValueError:
        return x[1]
    return locals()["y"] * y


def caught(x: Any) -> Any:
    y = x[0] * 2.0
    try:
        z = y * y
    except ValueError as y:
        print(y)
    return locals()["x"][0] * 2.0


@pytest.mark.parametrize(
    "f", [after_a_loop, deleted, assigned_in_an_expression, tried, caught, in_a_comprehension, captured]
)
def test_refused_where_it_is_not_known_what_has_a_value(f: Callable[..., Any]) -> None:
    with pytest.raises(S2SADError, match="locals"):
        grad(f)(X)
