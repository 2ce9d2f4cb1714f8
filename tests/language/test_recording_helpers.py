"""Functions that record in a list of the module, which the one that is differentiated calls or is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.5, 1.2, -0.7])
D = np.array([0.3, -1.0, 0.8])
LOG: list[Any] = []


def number(i: int, u: Any) -> None:
    LOG.append((i, float(np.sum(u))))


def whole(i: int, u: Any) -> None:
    LOG.append(u.copy())


def place(i: int, u: Any) -> None:
    LOG.append(i)


def march(x: Any, tell: Any) -> Any:
    u = x * 1.0
    for i in range(3):
        u = u - 0.1 * np.sin(u)
        if tell is not None:
            tell(i, u)
    return np.sum(u * u)


def by_name(x: Any) -> Any:
    u = x * 1.0
    for i in range(2):
        u = u * 0.9
        number(i, u)
        whole(i, u)
    return np.sum(u * u)


def twice_removed(x: Any) -> Any:
    return march(x, number) * march(np.sin(x), place)


def of_a_lambda(x: Any) -> Any:
    return march(x, lambda i, u: LOG.append((i, u[0])))


def read_again(x: Any) -> Any:
    return by_name(x) + np.sum(LOG[1])


GIVEN = [(march, (tell,)) for tell in (number, whole, place, lambda i, u: LOG.append((i, u * 2.0)), None)]
CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    *GIVEN,
    (by_name, ()),
    (twice_removed, ()),
    (of_a_lambda, ()),
]


@pytest.mark.parametrize(("f", "given"), CASES, ids=range(len(CASES)))
def test_helpers(f: Callable[..., Any], given: tuple[Any, ...]) -> None:
    LOG.clear()
    f(X, *given)
    wanted = repr(LOG)
    expected, along = numeric_gradient(f, (X, *given)), richardson_jvp(f, (X, *given), (D, *[None] * len(given)))
    LOG.clear()
    np.testing.assert_allclose(grad(f)(X, *given), expected, rtol=1e-7)
    assert repr(LOG) == wanted
    LOG.clear()
    np.testing.assert_allclose(jvp(f, (X, *given), (D, *[None] * len(given)))[1], along, rtol=1e-7)
    assert repr(LOG) == wanted


def test_what_is_read_again() -> None:
    def anew(f: Callable[..., Any], x: Any) -> Any:
        LOG.clear()
        return f(x)

    expected = numeric_gradient(lambda x: anew(read_again, x), [X])
    np.testing.assert_allclose(anew(grad(read_again), X), expected, rtol=1e-7)
