"""Functions whose ``__defaults__``, which somebody has set, are more than there are parameters: the last ones count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.transform.remaining import check_both_modes


def power(a: Any, b: Any = 2.0) -> Any:
    return a**b


def wrapped(*args: Any, **kwargs: Any) -> Any:
    return power(*args, **kwargs)


wrapped.__defaults__ = power.__defaults__


def cubed(a: Any, b: Any) -> Any:
    return a**b


cubed.__defaults__ = (7.0, 1.5, 3.0)


class Scale:
    def __init__(self, k: Any) -> None:
        self.k = k

    def of(self, a: Any) -> Any:
        return wrapped(a) * cubed(a) * cubed() * self.k


@pytest.mark.parametrize(
    "f",
    [
        lambda x: wrapped(x[0]) * wrapped(x[1], 3.0),
        lambda x: cubed(x[0]) * cubed() * cubed(x[1], b=2.0),
        lambda x: Scale(x[0]).of(x[1]),
    ],
    ids=["stars", "parameters", "with an object"],
)
def test_their_default_values(f: Any) -> None:
    check_both_modes(f, np.array([0.7, 1.3]), np.array([1.0, -0.4]))
