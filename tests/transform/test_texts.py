"""Methods of texts that are known, and what any and all ask of known items: what they decide is decided before."""

# The texts and calls are made as programs make them.
# ruff: noqa: FLY002, UP031, UP032, C417

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from tests.language.support import case, check_gradient

X = np.array([0.3, 0.7, 0.5])


class Activation:
    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __call__(self, x: Any) -> Any:
        if self.kind.lower() == "square":
            return x * x
        if self.kind.upper().startswith("CUB"):
            return x**3
        raise NotImplementedError(f"activation {self.kind.title()}")


class Asked:
    def __init__(self, value: Any) -> None:
        self.value = value

    def exceeds(self, bound: Any) -> Any:
        print("asked", round(float(self.value), 3))
        return self.value > bound


def solved(f: Any, y: Any, method: str = " Newton ") -> Any:
    method = method.strip().lower()
    if method == "brent":
        of_all = np.vectorize(f)
        return of_all(y, *[1, 2])
    if method == "newton":
        return f(y)
    raise ValueError(method)


def by_method(x: Any) -> Any:
    return solved(lambda y: y * x[0], x[1]) + solved(lambda y: y - x[2], x[0], method="NEWTON")


def of_objects(x: Any) -> Any:
    layers = [Activation("Square"), Activation("cubic")]
    for layer in layers:
        x = layer(x) + 1.0
    return np.sum(x)


def keys(x: Any) -> Any:
    name = "_".join(["a", "b"])
    table = {"a_b": x[0], "c": x[1], "n=3": x[2]}
    print("{} {}".format(name, "x").upper(), x[0])
    return table[name] * table["C".lower()] + table[f"n={3}"] * "abca".count("a")


def of_what_varies(x: Any) -> Any:
    text = "{:.2f}".format(x[0]) + " %s" % "y".upper()
    return x[1] * len(text.replace("0.", "")) if text.startswith("0.3") else x[2] * 1.0


def that_raise(x: Any) -> Any:
    try:
        n = "abc".index("z")
    except ValueError:
        n = 4
    return x[0] * n


def all_of_objects(x: Any) -> Any:
    found = [Asked(x[0]), Asked(x[1]), Asked(x[2])]
    s = x[0] * 0.0
    if all(map(lambda p: p.exceeds(0.1), found)):
        s = s + x[0] ** 2
    if any(map(lambda p: p.exceeds(0.6), found)):
        s = s + x[1] ** 3
    if any(p.exceeds(5.0) for p in found) or not all(p.exceeds(0.4) for p in found):
        s = s + x[2] * x[0]
    return s


def summed(x: Any, *args: Any) -> Any:
    if not (np.isscalar(x) and all(map(np.isscalar, args))):
        return np.sum(x) * (np.sum(args[0]) if args else 2.0)
    return x


def all_of_arguments(x: Any) -> Any:
    def squared(v: Any) -> Any:
        return v * v * x[0]

    return summed(x[1], squared(x), 2.0) + summed(x[0], squared(x[2])) * summed(squared(x))


PROGRAMS = [by_method, of_objects, keys, of_what_varies, that_raise, all_of_objects, all_of_arguments]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[..., Any]) -> None:
    check_gradient(case(f, X))
    with contextlib.redirect_stdout(io.StringIO()):
        _, gradient = value_and_grad(f)(X)
        for direction in np.eye(3):
            assert abs(jvp(f, (X,), (direction,))[1] - gradient @ direction) < 1e-9
