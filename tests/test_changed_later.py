"""Functions that classes have, and default values, are those of each call, in derivatives of all orders."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hessian, hvp, jacobian, jvp

X = np.array([0.7, 1.3])


class Backend:
    """Functions by names that may be given to others."""

    act: Any = np.sin

    class Inner:
        act: Any = np.sin

    @classmethod
    def through_class(cls, x: Any) -> Any:
        return cls.act(x)


ALIAS = Backend


def of_the_class(x: Any) -> Any:
    return np.sum(Backend.act(x))


def of_an_inner_class(x: Any) -> Any:
    return np.sum(Backend.Inner.act(x))


def of_another_name(x: Any) -> Any:
    return np.sum(ALIAS.act(x))


def by_a_class_method(x: Any) -> Any:
    return np.sum(Backend.through_class(x))


def in_a_callee(x: Any) -> Any:
    return of_the_class(x)


REPLACEMENTS = {
    "a ufunc": (np.exp, np.exp),
    "a function": (lambda v: v * v, lambda v: 2 * v),
    "a partial function": (functools.partial(np.multiply, 3.0), lambda v: 0 * v + 3.0),
    "the same": (np.sin, np.cos),
}


@pytest.mark.parametrize("replacement", REPLACEMENTS)
@pytest.mark.parametrize("f", [of_the_class, of_an_inner_class, of_another_name, by_a_class_method, in_a_callee])
def test_a_function_that_a_class_has_by_now(
    f: Callable[..., Any], replacement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reverse = grad(f)
    np.testing.assert_allclose(reverse(X), np.cos(X), rtol=1e-14)
    np.testing.assert_allclose(jvp(f, (X,), (np.ones(2),))[1], np.cos(X).sum(), rtol=1e-14)
    function, slope = REPLACEMENTS[replacement]
    monkeypatch.setattr(Backend, "act", function)
    monkeypatch.setattr(Backend.Inner, "act", function)
    np.testing.assert_allclose(reverse(X), slope(X), rtol=1e-14)
    np.testing.assert_allclose(jvp(f, (X,), (np.ones(2),))[1], slope(X).sum(), rtol=1e-14)


def test_a_class_method_is_the_same_each_time() -> None:
    """Python makes it anew whenever it is asked for."""
    df = grad(by_a_class_method)
    df(X)
    before = df.source_for(X)
    assert df.source_for(X) is before


def raised(x: float, k: float = 2.0) -> float:
    return math.exp(x) * x**k


def second(x: float, k: float) -> float:
    return math.exp(x) * (x**k + 2 * k * x ** (k - 1) + k * (k - 1) * x ** (k - 2))


SECOND: dict[str, Callable[[Any], Callable[[float], Any]]] = {
    "grad of grad": lambda f: grad(grad(f)),
    "jacobian of grad": lambda f: jacobian(grad(f)),
    "hessian": hessian,
    "hvp": lambda f: lambda x: hvp(f, (x,), (1.0,)),
    "jvp of grad": lambda f: lambda x: jvp(grad(f), (x,), (1.0,))[1],
}


@pytest.mark.parametrize("derivative", SECOND)
def test_default_values_of_second_derivatives(derivative: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raised, "__defaults__", (2.0,))
    df = SECOND[derivative](raised)
    np.testing.assert_allclose(df(0.7), second(0.7, 2.0), rtol=1e-13)
    monkeypatch.setattr(raised, "__defaults__", (3.5,))
    np.testing.assert_allclose(df(0.7), second(0.7, 3.5), rtol=1e-13)
