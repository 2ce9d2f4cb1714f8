"""None in place of a key or function, by a name: ``max(items, key=key)``, ``filter(function, items)``."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.transform.remaining import check_both_modes

X = np.array([0.7, 1.3, -0.4])
WAY = np.array([0.3, -1.1, 0.8])
KEY = None
KEYS = {"none": None, "down": lambda pair: -pair[0]}


def best(items: Any, key: Any = None) -> Any:
    return max(items, key=key)


def totals(items: Any, function: Any = None) -> Any:
    return list(itertools.accumulate(items, function))


class Settings:
    """What stands for no function in an attribute."""

    key = None


SETTINGS = Settings()


def variable_of_the_module(x: Any) -> Any:
    return max(x, key=KEY) * x[0] + min([v * v for v in x], key=KEY)


def default_value(x: Any) -> Any:
    return best(x) * best(x, lambda v: v * v) * best(list(x))


def local_variable(x: Any) -> Any:
    key = None
    return max([x[0], x[1]], key=key) * min([v * v for v in x], key=key)


def attribute(x: Any) -> Any:
    return max([x[0], x[2]], key=SETTINGS.key) * x[1]


def of_pairs(x: Any) -> Any:
    return max(((v, 1) for v in x), key=KEY)[0] * x[1]


def default_value_of_pairs(x: Any) -> Any:
    pairs = [(x[0], 1), (x[1], 2)]
    return best(pairs)[0] * best(pairs, lambda pair: -pair[1])[0] ** 2


def items_of_a_dict(x: Any) -> Any:
    total = 0.0
    for name in ("none", "down"):
        pairs = [(x[0], 1), (x[1], 2)]
        total = total + sorted(pairs, key=KEYS[name])[0][0] ** 2 * min(pairs, key=KEYS[name])[0]
    return total


def accumulated(x: Any) -> Any:
    return totals(x)[2] * totals([x[0], x[1]], lambda a, b: a * b)[1] * totals(list(x))[1]


def filtered(x: Any) -> Any:
    return next(filter(KEY, [x[0] - x[0], x[1], x[2]])) * sum(filter(KEY, [x[0], x[1]]))


@pytest.mark.parametrize(
    "f",
    [
        variable_of_the_module,
        default_value,
        local_variable,
        attribute,
        of_pairs,
        default_value_of_pairs,
        items_of_a_dict,
        accumulated,
        filtered,
    ],
    ids=lambda f: f.__name__,
)
def test_none_stands_for_no_function(f: Callable[..., Any]) -> None:
    check_both_modes(f, X, WAY)
