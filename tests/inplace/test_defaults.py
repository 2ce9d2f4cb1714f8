"""Default values that the function changes: its later calls see that in Python, so that no copy serves."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp, vjp
from s2sad.errors import ArgumentError
from tests.oracle import numeric_gradient

X = np.array([0.5, -1.0, 2.0])
DEFAULT = np.array([1.0, 2.0, 3.0])


class Counting:
    def __init__(self) -> None:
        self.n = 0.0


def appends_to_a_default(x: Any, a: Any = []) -> Any:  # noqa: B006
    a.append(x)
    return np.sum(a[0] * x)


def extends_a_default(x: Any, a: Any = [1.0]) -> Any:  # noqa: B006
    a += [2.0]
    return np.sum(len(a) * x)


def sets_an_item_of_a_default(x: Any, *, a: Any = {}) -> Any:  # noqa: B006
    a["n"] = a.get("n", 0) + 1
    return np.sum(a["n"] * x)


def changes_what_a_default_holds(x: Any, a: Any = ([0.0],)) -> Any:
    a[0][0] += 1.0
    return np.sum(a[0][0] * x)


def sets_an_attribute_of_a_default(x: Any, a: Any = Counting()) -> Any:  # noqa: B008
    a.n = a.n + x[0]
    return np.sum(a.n * x)


def changes_a_default_that_two_share(x: Any, k: Any = DEFAULT, a: Any = DEFAULT) -> Any:
    k[0] += 1.0
    return np.sum(a * x)


@pytest.mark.parametrize(
    "f",
    [
        appends_to_a_default,
        extends_a_default,
        sets_an_item_of_a_default,
        changes_what_a_default_holds,
        sets_an_attribute_of_a_default,
        changes_a_default_that_two_share,
    ],
)
def test_a_default_that_changes_in_any_way_is_refused(f: Any) -> None:
    before = copy.deepcopy((f.__defaults__, f.__kwdefaults__))
    for derivative in (
        lambda: grad(f)(X),
        lambda: vjp(f, X),
        lambda: jvp(f, (X,), (X,)),
        lambda: hvp(f, (X,), (X,)),
    ):
        with pytest.raises(ArgumentError, match="may change the default value of"):
            derivative()
    assert repr((f.__defaults__, f.__kwdefaults__)).split(" at ")[0] == repr(before).split(" at ")[0]
    given = {"a": copy.deepcopy(f.__kwdefaults__["a"] if f.__kwdefaults__ else f.__defaults__[-1])}
    expected = numeric_gradient(lambda x: f(x, **copy.deepcopy(given)), (X,))
    if f is not changes_a_default_that_two_share:
        np.testing.assert_allclose(grad(f)(X, **given), expected, rtol=1e-7)
