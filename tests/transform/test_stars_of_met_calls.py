"""Arguments behind stars of functions that are known at run time only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.5, 1.2, 0.7, 0.9])
D = np.array([0.3, -1.0, 0.8, 0.4])


def power(u: Any, k: float = 1.0, p: int = 2) -> Any:
    return np.sum(k * u**p)


def exponential(u: Any, k: float = 0.5) -> Any:
    return np.sum(np.exp(k * u))


def timed(t: float, u: Any, k: float, p: int = 2) -> Any:
    return np.sum(k * u**p) * t


MODELS = {"power": (power, {"k": 0.4, "p": 3}), "exponential": (exponential, {"k": 0.3})}


def options(x: Any, f: Any = power, given: Any = {"k": 2.0, "p": 3}) -> Any:  # noqa: B006
    return f(x, **given) + f(x * 2.0) * f(x, p=1, k=0.3)


def of_a_table(x: Any, name: str = "exponential") -> Any:
    f, given = MODELS[name]
    return f(x, **given) ** 2


def handed_on(x: Any, f: Any = power) -> Any:
    def outer(u: Any, g: Any, **more: Any) -> Any:
        return g(u, **more)

    return outer(x, f, k=3.0) + outer(x, f, k=x[1], p=3)


def that_vary(x: Any, f: Any = power, names: Any = ("k",)) -> Any:
    return f(x, **{name: x[i] for i, name in enumerate(names)})


def of_numpy(x: Any, given: Any = {"axis": 0, "keepdims": True}) -> Any:  # noqa: B006
    return np.sum(np.sum(x.reshape(2, 2), **given) ** 2)


def by_place(x: Any, f: Any = timed, given: Any = (0.3, 3)) -> Any:
    s = f(0.5, x, *given)
    for i in range(2):
        s = s + f(0.1 * i, x, *given)
    return s


def by_place_in_a_list(x: Any, f: Any = timed, given: Any = [0.7]) -> Any:  # noqa: B006
    return f(0.5, x, *given) * f(0.2, x, x[0], *[])


CASES = [options, of_a_table, handed_on, that_vary, of_numpy, by_place, by_place_in_a_list]


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_calls(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (D,))[1], richardson_jvp(f, (X,), (D,)), rtol=1e-7)


def test_what_varies_behind_stars_is_refused() -> None:
    def f(x: Any, g: Any, names: Any) -> Any:
        return g(x, **dict.fromkeys(names, x[0]))

    with pytest.raises(UnsupportedError, match=r"gets what is differentiated behind \*\*"):
        grad(f)(X, power, ("k",))


def test_an_argument_that_is_given_twice_is_an_error() -> None:
    def f(x: Any, g: Any, given: Any) -> Any:
        return g(x, k=2.0, **given)

    np.testing.assert_allclose(grad(f)(X, power, {"p": 3}), 6.0 * X**2, rtol=1e-12)
    with pytest.raises(TypeError, match="multiple values for keyword argument 'k'"):
        grad(f)(X, power, {"k": 3.0})
