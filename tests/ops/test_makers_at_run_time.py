"""``np.r_`` and the like where only the run says that they are subscripted: they are no arrays of items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.5])


class Tools:
    def __init__(self, maker: Any) -> None:
        self.maker, self.makers, self.by_name = maker, [maker], {"rows": maker}


TOOLS = Tools(np.r_)


def of_an_argument(x: Any, maker: Any) -> Any:
    return np.sum(maker[x * 2, x] ** 2)


def of_an_attribute(x: Any, maker: Any) -> Any:
    return np.sum(TOOLS.maker[x * 2, x] ** 2)


def of_an_item(x: Any, maker: Any) -> Any:
    return np.sum(TOOLS.makers[0][x * 2, x] ** 2)


def of_an_object(x: Any, maker: Any) -> Any:
    tools = Tools(maker)
    return np.sum(tools.by_name["rows"][x * 2, x] ** 2)


def in_a_loop(x: Any, maker: Any) -> Any:
    total = 0.0
    for each in [maker, maker]:
        total = total + np.sum(each[x * 2, x] ** 2)
    return total


@pytest.mark.parametrize("maker", [np.r_, np.c_], ids=["r_", "c_"])
@pytest.mark.parametrize("f", [of_an_argument, of_an_attribute, of_an_item, of_an_object, in_a_loop])
def test_right_or_refused(f: Callable[..., Any], maker: Any) -> None:
    expected = numeric_gradient(f, (X, maker))
    for way in (lambda: grad(f)(X, maker), lambda: jvp(f, (X, maker), (np.ones(2), None))[1]):
        try:
            found = way()
        except S2SADError:
            continue
        np.testing.assert_allclose(found, expected if np.ndim(found) else np.sum(expected), rtol=1e-7)


def over_a_range(x: Any, maker: Any) -> Any:
    return np.sum(maker[0.0 : x[0] * 10.0 : x[1]] ** 2)


@pytest.mark.parametrize("maker", [np.r_, np.mgrid, np.ogrid], ids=["r_", "mgrid", "ogrid"])
def test_ranges_by_what_is_differentiated(maker: Any) -> None:
    try:
        found = grad(over_a_range)(X, maker)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(over_a_range, (X, maker)), rtol=1e-7)


def by_a_position(x: Any, items: Any) -> Any:
    return np.sum(items[int(x[0] > 0.1)] * x) + np.sum(items[np.argsort(x)[0]] * x[1])


@pytest.mark.parametrize(
    "items", [[1.5, 2.5], (0.5, 1.0), {0: 3.0, 1: 4.0}, np.array([0.2, 0.4])], ids=lambda x: type(x).__name__
)
def test_items_are_picked_by_positions_that_depend_on_the_argument(items: Any) -> None:
    np.testing.assert_allclose(grad(by_a_position)(X, items), numeric_gradient(by_a_position, (X, items)), rtol=1e-7)
