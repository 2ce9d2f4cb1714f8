"""Arguments that the function changes, and that are read otherwise than as an argument.

By functions of any module, closures, classes or objects: the function works on a copy, which they would not see.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad
from tests.language import other_module
from tests.language.other_module import SCALER, Scale, weighted
from tests.oracle import numeric_gradient

OWN = [np.array([1.0, 2.0, 3.0])]
NAMED = {"w": np.array([1.0, 2.0, 3.0])}
X = np.array([0.5, 1.0, 1.5])


def by_name(a: Any, x: Any) -> Any:
    a[0] = 5.0
    return np.sum(weighted(x) * x)


def by_module(a: Any, x: Any) -> Any:
    a[0] = 5.0
    return np.sum(other_module.weighted(x) * x)


def by_a_name_of_the_module(a: Any, x: Any) -> Any:
    a[0] = 5.0
    there = other_module
    return np.sum(there.weighted(x) * x)


def by_a_callee(a: Any, x: Any) -> Any:
    a[0] = 5.0
    return np.sum(other_module.weighted_by_a_callee(x) * x)


def by_what_is_held(a: Any, x: Any) -> Any:
    a[0] = 5.0
    return np.sum(other_module.weighted_by_what_is_held(x) * x)


def by_a_constant_call(a: Any, x: Any) -> Any:
    a[0] = 5.0
    return np.sum(other_module.first_weight() * x * x)


def by_an_object(a: Any, x: Any) -> Any:
    a[0] = 5.0
    return np.sum(SCALER.weigh(x) * x)


def by_a_property(a: Any, x: Any) -> Any:
    a[0] = 5.0
    return np.sum(SCALER.first * x * x)


def by_a_new_object(a: Any, x: Any) -> Any:
    a[0] = 5.0
    return np.sum(Scale()(x) * x)


def by_a_class(a: Any, x: Any) -> Any:
    a[0] = 5.0
    return np.sum(Scale.by_its_own(x) * x)


def by_a_lambda(a: Any, x: Any) -> Any:
    a[0] = 5.0
    f = lambda t: weighted(t)  # noqa: E731
    return np.sum(f(x) * x)


def by_map(a: Any, x: Any) -> Any:
    a[0] = 5.0
    return np.sum(sum(map(weighted, [x])) * x)


def by_a_default(a: Any, x: Any, f: Any = weighted) -> Any:
    a[0] = 5.0
    return np.sum(f(x) * x)


def by_an_argument(a: Any, x: Any, f: Any) -> Any:
    a[0] = 5.0
    return np.sum(f(x) * x)


def with_an_attribute(x: Any) -> Any:
    return x * with_an_attribute.w  # type: ignore[attr-defined]


with_an_attribute.w = np.array([1.0, 2.0, 3.0])  # type: ignore[attr-defined]


def by_an_attribute(a: Any, x: Any) -> Any:
    a[0] = 5.0
    return np.sum(with_an_attribute(x) * x)


def by_a_list(a: Any, x: Any) -> Any:
    a[0] = 5.0
    return np.sum(OWN[0] * x * x)


def by_a_dict(a: Any, x: Any) -> Any:
    a[0] = 5.0
    return np.sum(NAMED["w"] * x * x)


OUTER, CAPTURED = other_module.make()
WEIGHTS = other_module.WEIGHTS

CASES = [
    *((f, WEIGHTS, ()) for f in (by_name, by_module, by_a_name_of_the_module, by_a_callee, by_a_constant_call)),
    *((f, WEIGHTS, ()) for f in (by_an_object, by_a_property, by_a_new_object, by_a_lambda, by_map, by_a_default)),
    *((by_an_argument, WEIGHTS, (f,)) for f in (weighted, SCALER.weigh, SCALER, lambda t: weighted(t))),
    *((by_an_argument, WEIGHTS, (f,)) for f in (functools.partial(weighted), np.vectorize(weighted).pyfunc)),
    (by_what_is_held, other_module.HELD[0], ()),
    (by_a_class, Scale.OWN, ()),
    (by_an_attribute, with_an_attribute.w, ()),  # type: ignore[attr-defined]
    (by_a_list, OWN[0], ()),
    (by_a_dict, NAMED["w"], ()),
    (OUTER, CAPTURED, ()),
]


@pytest.mark.parametrize(("f", "shared", "rest"), CASES)
def test_what_is_changed_is_not_read_elsewhere(f: Callable[..., Any], shared: Any, rest: tuple[Any, ...]) -> None:
    before = shared.copy()
    expected = numeric_gradient(lambda x: f(shared.copy(), x, *rest), (X,))
    np.testing.assert_allclose(grad(f, 1)(shared.copy(), X, *rest), expected, rtol=1e-6)
    for argument in (shared, shared[:], shared[::-1]):
        with pytest.raises(S2SADError, match="argument a and .* share memory that the function may change"):
            grad(f, 1)(argument, X, *rest)
    np.testing.assert_array_equal(shared, before)


def item_of_the_list() -> Any:
    return OWN[0]


def changes_a_list(items: Any, x: Any) -> Any:
    items[0] = 5.0
    return np.sum(item_of_the_list() * x)


def changes_two(a: Any, b: Any, x: Any) -> Any:
    a[0] = 5.0
    return np.sum(b[0] * weighted(x))


def test_a_list_that_is_changed_and_read_elsewhere() -> None:
    np.testing.assert_allclose(grad(changes_a_list, 1)(list(OWN), X), OWN[0])
    with pytest.raises(S2SADError, match="argument items and what item_of_the_list reads share a list"):
        grad(changes_a_list, 1)(OWN, X)


def test_what_is_copied_together_is_not_read_elsewhere() -> None:
    a = WEIGHTS.copy()
    np.testing.assert_allclose(grad(changes_two, 2)(a, a, X), 5.0 * WEIGHTS)
    with pytest.raises(S2SADError, match="what weighted reads share memory"):
        grad(changes_two, 2)(WEIGHTS, WEIGHTS, X)


class Held:
    v = np.array([0.9, 0.3, -0.6])


def first_of_class() -> Any:
    return Held.v[0]


def changes_what_the_class_has(s: Any, x: Any) -> Any:
    s.v[0] = 5.0
    return np.sum(Held.v * x)


def changes_what_a_callee_reads_of_the_class(s: Any, x: Any) -> Any:
    s.v[0] = 5.0
    return first_of_class() * np.sum(x)


@pytest.mark.parametrize("f", [changes_what_the_class_has, changes_what_a_callee_reads_of_the_class])
def test_an_array_of_the_class_of_an_argument(f: Callable[..., Any]) -> None:
    with pytest.raises(S2SADError, match="an argument has an array of its class, which the function may change"):
        grad(f, 1)(Held(), X)
    np.testing.assert_array_equal(Held.v, [0.9, 0.3, -0.6])
