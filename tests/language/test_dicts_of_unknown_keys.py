"""Dicts of what is differentiated, whose keys are arguments: what they hold as a list, and their keys in order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp, value_and_grad
from tests.oracle import numeric_gradient

X = np.array([0.7, 1.2])
WAY = np.array([1.0, -0.4])
NAMES = ["a", "b", "a", "c"]


def totals(x: Any, names: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for i, name in enumerate(names):
        found[name] = found.get(name, 0.0) + x[i % 2] * (i + 1)
    return found


def sum_of_values(x: Any, names: Any) -> Any:
    return sum(totals(x, names).values())


def values_in_arrays_and_in_order(x: Any, names: Any) -> Any:
    t = totals(x, names)
    row = np.array(list(t.values()))
    listed = [*t.values()]
    return np.sum(row**2) + sorted(t.values())[0] * listed[-1] + max(t.values()) + np.prod(list(t.values()))


def shares(x: Any, names: Any) -> Any:
    t = totals(x, names)
    whole = sum(t.values())
    return -sum(p * np.log(p) for p in {k: v / whole for k, v in t.items()}.values())


def values_that_change(x: Any, names: Any) -> Any:
    t = totals(x, names)
    before = sum(t.values())
    for k in t:
        t[k] = t[k] * x[0]
    t["z"] = x[1]
    return before * sum(t.values())


def of_lists(x: Any, names: Any) -> Any:
    groups: dict[str, list[Any]] = defaultdict(list)
    for i, name in enumerate(names):
        groups[name].append(x[i % 2])
    means = {k: np.mean(v) for k, v in groups.items()}
    return means[min(means, key=means.get)] + sum(means[k] for k in sorted(means))


def with_default_values(x: Any, names: Any) -> Any:
    t: Any = defaultdict(float)
    for i, name in enumerate(names):
        t[name] += x[i % 2] * (i + 1)
    return 2 * t[max(t, key=t.get)] + t["none"]


def keys_in_order(x: Any, names: Any) -> Any:
    t = totals(x, names)
    for k in list(t):
        if k == "b":
            t.pop(k)
        else:
            t[k] *= 2
    return np.sum(np.array([t[k] for k in sorted(t, reverse=True)]) * np.arange(len(t)))


def smallest_first(x: Any, names: Any) -> Any:
    t, out = totals(x, names), 0.0
    while len(t) > 1:
        k = min(t, key=t.get)
        out = out * x[0] + t.pop(k)
    return out + sum(t.values())


def counted(x: Any, names: Any) -> Any:
    numbers = Counter(names)
    return sum(numbers[name] * x[i % 2] for i, name in enumerate(numbers)) + x[0] * max(numbers.values())


def arrays(x: Any, names: Any) -> Any:
    found: dict[str, Any] = {}
    for name in names:
        if name not in found:
            found[name] = np.zeros(2)
        found[name] += x
    return sum(np.sum(v**2) for v in found.values())


def with_defaults_of_methods(x: Any, names: Any) -> Any:
    t = totals(x, names)
    t.pop("none", None)
    taken = t.pop("none", 0.5) + t.pop("b", x[0])
    rows: dict[str, list[Any]] = {}
    for i, name in enumerate(names):
        rows.setdefault(name, []).append(x[i % 2] * taken)
    t.setdefault("a", 0.0)
    t.setdefault("more", x[1] * x[1])
    return sum(t.values()) + sum(len(row) * sum(row) for row in rows.values())


class Sparse:
    def __init__(self, n: int) -> None:
        self.n, self.data = n, {}  # type: ignore[var-annotated]

    def __setitem__(self, place: Any, value: Any) -> None:
        if value == 0:
            self.data.pop(place, None)
        else:
            self.data[place] = value

    def __matmul__(self, x: Any) -> Any:
        y = np.zeros(self.n)
        for (i, j), value in self.data.items():
            y[i] += value * x[j]
        return y


def sparse(x: Any, names: Any) -> Any:
    a = Sparse(len(names))
    for i in range(len(names)):
        a[i, i] = x[i % 2] + 2.0
        if i:
            a[i, i - 1] = a[i - 1, i] = -0.5 * x[0]
    a[0, 1] = 0.0
    y = np.ones(len(names))
    for _ in range(2):
        y = a @ y
    return np.sum(y * y)


CASES = [
    with_defaults_of_methods, sparse, sum_of_values, values_in_arrays_and_in_order, shares, values_that_change,
    of_lists, with_default_values, keys_in_order, smallest_first, counted, arrays,
]  # fmt: skip


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, (X, NAMES), 0)
    np.testing.assert_allclose(grad(f)(X, NAMES), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X, NAMES), (WAY, None))[1], expected @ WAY, rtol=1e-7, atol=1e-9)


def listed_keys(x: Any) -> Any:
    t = {}
    for v in x:
        t[v] = v * v
    keys = sorted(t, reverse=True)
    return keys[0] + t[keys[1]]


def run_through(x: Any) -> Any:
    t = {x[0]: x[1]}
    return sum([k for k in list(t)])


def largest(x: Any) -> Any:
    return 2.0 * max({x[0]: 1.0, x[1]: 2.0})


@pytest.mark.parametrize("f", [listed_keys, run_through, largest], ids=lambda f: f.__name__)
def test_keys_that_depend_are_refused_where_they_are_read(f: Callable[..., Any]) -> None:
    for derivative in (lambda: grad(f)(X), lambda: jvp(f, (X,), (WAY,))):
        with pytest.raises(S2SADError, match="keys carry no derivative"):
            derivative()


def changed(values: Any, d: dict[str, Any], v: Any) -> Any:
    d["added"] = v
    return sum(list(values))


def a_view_that_sees_a_change(x: Any, names: Any) -> Any:
    t = totals(x, names)
    return changed(t.values(), t, x[0])


def a_view_beside_a_change(x: Any, names: Any) -> Any:
    t = totals(x, names)
    return np.sum([np.sum(list(v)) if not np.isscalar(v) else v for v in (t.values(), t.pop("a"))])


@pytest.mark.parametrize("f", [a_view_that_sees_a_change, a_view_beside_a_change], ids=lambda f: f.__name__)
def test_a_view_is_no_list(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, (X, NAMES), 0)
    try:
        value, found = value_and_grad(f)(X, NAMES)
    except S2SADError:
        return
    assert value == f(X, NAMES)
    np.testing.assert_allclose(found, expected, rtol=1e-7)
