"""``d.get(key, default)`` of dicts that are arguments, given to functions, and filled on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient
from tests.transform.remaining import check_both_modes

PRICES = {"a": [10.0, 10.4, 10.1], "b": [20.0, 19.7, 20.3]}
X = np.array([0.7, 0.4, 1.2])


def with_defaults(d: Any, x: Any) -> Any:
    return d.get("a", 0.0) * x[0] + d.get("z", 1.5) * x[1]


def by_a_callee(d: Any, x: Any) -> Any:
    def doubled(d, key):
        return d.get(key, 0.25) * 2.0

    return sum(doubled(d, k) for k in ["a", "q"]) * x[0]


def by_keys_of_a_loop(d: Any, x: Any) -> Any:
    s = 0.0
    for k in ["a", "c", "b"]:
        s = s + d.get(k, 0.5) ** 2 * x[0]
    return s


def active_defaults(d: Any, x: Any) -> Any:
    y = x[0] * x[1]
    return d.get("a", y) * d.get("c", y)


def or_none(d: Any, x: Any) -> Any:
    w = d.get("w")
    if w is None:
        w = x * x
    v = d.get("a")
    if v is None:
        v = x[2]
    return np.sum(w * x) * v


def counted(d: Any, x: Any) -> Any:
    found: dict[int, Any] = {}
    fill(found, x)
    return found[0] * found[1] * d["a"]


def fill(found: Any, x: Any) -> Any:
    for i in range(3):
        found[i % 2] = found.get(i % 2, 0.0) + x[i]


def by_keys_of_the_module(d: Any, x: Any) -> Any:
    held: dict[str, Any] = {}
    for t in range(3):
        add(held, {name: x[t] * p[t] for name, p in PRICES.items()})
    s = 0.0
    for q in held.values():
        s += q * q
    return s * d["a"]


def add(held: Any, amounts: Any) -> Any:
    for name, amount in amounts.items():
        held[name] = held.get(name, 0.0) + amount


def of_numbers(d: Any, x: Any) -> Any:
    factors = {"a": 2.0, "b": 3.0}
    return sum(d[k] * factors.get(k, 1.0) for k in d)


EVERY = [
    with_defaults, by_a_callee, by_keys_of_a_loop, active_defaults, or_none, counted, by_keys_of_the_module, of_numbers,
]  # fmt: skip


@pytest.mark.parametrize("f", EVERY)
def test_the_gradient_is_right(f: Any) -> None:
    def of_numbers_alone(v: Any) -> Any:
        return f({"a": v[0], "b": v[1]}, v[2:])

    v = np.concatenate([[1.3, 0.6], X])
    expected = numeric_gradient(of_numbers_alone, (v,))
    d_bar, x_bar = grad(f, (0, 1))({"a": v[0], "b": v[1]}, X)
    np.testing.assert_allclose([d_bar["a"], d_bar["b"], *x_bar], expected, rtol=1e-8, atol=1e-10)
    dot = jvp(f, ({"a": v[0], "b": v[1]}, X), ({"a": 0.3, "b": -0.2}, np.array([0.1, 0.5, -0.4])))[1]
    np.testing.assert_allclose(dot, expected @ [0.3, -0.2, 0.1, 0.5, -0.4], rtol=1e-8, atol=1e-10)


def test_a_method_of_that_name_of_another_class_is_not_meant() -> None:
    class Store:
        def get(self, key, default):
            return default * 2.0

    def f(x):
        return Store().get("a", x[0]) * x[1]

    np.testing.assert_allclose(grad(f)(X), [2 * X[1], 2 * X[0], 0.0])


class Tripled(dict):
    """A dict whose methods give other values than its items."""

    def get(self, key, default=None):
        return 3.0 * dict.get(self, key, default)

    def items(self):
        return [(k, np.ones(2) * v) for k, v in dict.items(self)]


def test_dicts_with_methods_of_their_own_are_refused() -> None:
    def f(d, x):
        return d.get("a", 1.0) * x[0]

    with pytest.raises(UnsupportedError, match="is a method of the class Tripled"):
        grad(f)(Tripled(a=2.0), X)


def test_constants_with_methods_of_their_own_have_the_values_that_these_give() -> None:
    def f(x, d):
        s = 0.0
        for _, v in d.items():
            s = s + np.sum(v * x[0])
        return s + d.get("a", 1.0) * x[1]

    np.testing.assert_allclose(grad(f)(X, Tripled(a=2.0)), [4.0, 6.0, 0.0])


def default_that_raises(x: Any) -> Any:
    d = {}
    d["a"] = x[0]
    zero = 0.0
    try:
        return x[1] * d.get("a", 1.0 / zero)
    except ZeroDivisionError:
        return x[2] ** 2


def names_of_keys_and_values(x: Any) -> Any:
    key, key_2 = x[0], x[1]
    d = dict.fromkeys(("a", "b"), (key, key_2))
    return d["a"][0] * d["b"][1] + d["b"][0]


def test_the_default_is_evaluated_whether_or_not_it_is_needed() -> None:
    check_both_modes(default_that_raises, X, np.array([0.3, -1.0, 0.5]))


def test_the_variable_of_keys_is_none_that_the_value_reads() -> None:
    check_both_modes(names_of_keys_and_values, X, np.array([0.3, -1.0, 0.5]))
