"""Dicts whose keys are integers, which loops run over: keys are numbers, and no derivative passes through them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.language.support import Case, case, check_gradient

X = np.array([0.7, 1.3, 0.4])


def keys(x: Any) -> Any:
    d = {0: x[0], 1: x[1]}
    s = 0.0
    for k in d:
        s = s + d[k] * k
    return s


def keys_of_the_argument(d: Any) -> Any:
    s = 0.0
    for k in d:
        s = s + d[k] * k
    return s


def keys_and_values(d: Any) -> Any:
    s = 0.0
    for k, v in d.items():
        s = s + np.sum(v) * k
    return s


def keys_counted(x: Any) -> Any:
    d = {}
    for i in range(3):
        d[i] = x * i
    s = 0.0
    for i, k in enumerate(d):
        s = s + np.sum(d[k] ** 2) * k * i
    return s


def keys_beside_values(x: Any) -> Any:
    d = {5: x[0], 7: x[1]}
    s = 0.0
    for k, v in zip(d, x):  # noqa: B905
        s = s + d[k] * k * v
    return s


CASES = [
    *[case(f, X) for f in (keys, keys_counted, keys_beside_values)],
    *[case(keys_of_the_argument, d, name=f"keys_{min(d)}") for d in ({0: 0.3, 1: 0.5}, {5: 0.3, 7: 0.5})],
    case(keys_and_values, {0: 0.3, 1: 0.5}),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)
