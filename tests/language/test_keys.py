"""Keys of dicts, and elements of sets, that depend on what is differentiated: those that are read again are refused."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import S2SADError, UnsupportedError
from tests.oracle import numeric_gradient

X = np.array([1.3, -0.7])


def by_a_number(x: Any) -> Any:
    table = {x[0]: x[1] ** 2}
    return table[x[0]] * x[0]


def remembered(x: Any) -> Any:
    table: dict[Any, Any] = {}
    total = 0.0
    for k in (0, 1, 0):
        key = x[k]
        if key not in table:
            table[key] = np.sin(x[k])
        total = total + table[key] * x[k]
    return total + len(table)


def rounded(x: Any) -> Any:
    table = {round(float(v), 1): v for v in x}
    return sum(v**2 for k, v in table.items())


def by_items(x: Any) -> Any:
    table = {(x[0], 1): x[1]}
    total = 0.0
    for key, value in table.items():
        total = total + key[0] * value
    return total


def by_a_loop(x: Any) -> Any:
    table = {}
    table[x[0]] = x[1]
    total = 0.0
    for key in table:
        total = total + key * x[1]
    return total


def by_a_comprehension(x: Any) -> Any:
    table = {v: 1.0 for v in (x[0], x[1])}
    return sum(key**2 for key in table)


def by_a_list(x: Any) -> Any:
    table = {x[0]: 0.0, x[1]: 1.0}
    return list(table)[0] * 2.0  # noqa: RUF015


def by_another_name(x: Any) -> Any:
    table = {x[0]: 0.0}
    other = table
    return sum(key for key in other)


def _sum(table: Any) -> Any:
    return sum(key for key in table)


def by_a_callee(x: Any) -> Any:
    table = {x[0]: 0.0}
    return _sum(table) * x[1]


def by_items_side_by_side(x: Any) -> Any:
    table = {}
    for key, value in zip([x[0], x[1]], [1.0, 2.0], strict=True):
        table[key] = value
    total = 0.0
    for key, value in table.items():
        total = total + key * value
    return total


def by_a_given_dict(x: Any) -> Any:
    return _into({3.0: 1.0}, x)


def _into(table: Any, x: Any) -> Any:
    table = dict(table)
    table[x[0]] = 2.0
    total = 0.0
    for key in table:
        total = total + key * x[1]
    return total


def by_another_dict(x: Any) -> Any:
    first: dict[Any, Any] = {}
    second: dict[Any, Any] = {}
    first[x[0]] = 1.0
    for key in first:
        second[key] = 2.0
    total = 0.0
    for key in second:
        total = total + key
    return total


def by_the_largest(x: Any) -> Any:
    table = {x[0]: 0.0, x[1]: 1.0}
    return max(table) * x[1]


def in_order(x: Any) -> Any:
    """Keys that are constants are read again, in an expression."""
    table: Any = {}
    for i in range(len(x)):
        table[1.5 - i] = x[i] ** 2
    return sum(table[k] * k for k in sorted(table)) * table[max(table)] + min(table) * table[min(table)] * sum(table)


@pytest.mark.parametrize("f", [by_a_number, remembered, rounded, in_order], ids=lambda f: f.__name__)
def test_values_are_right(f: Callable[[Any], Any]) -> None:
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (X,), (np.ones(2),))[1], np.sum(expected), rtol=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        by_items,
        by_a_loop,
        by_a_comprehension,
        by_a_list,
        by_another_name,
        by_a_callee,
        by_the_largest,
        by_items_side_by_side,
        by_a_given_dict,
        by_another_dict,
    ],
    ids=lambda f: f.__name__,
)
def test_keys_are_right_or_refused(f: Callable[[Any], Any]) -> None:
    expected = numeric_gradient(f, (X,))
    try:
        np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6)
    except S2SADError:
        pass
    try:
        np.testing.assert_allclose(jvp(f, (X,), (np.ones(2),))[1], np.sum(expected), rtol=1e-6)
    except S2SADError:
        pass


def paired(x: Any) -> Any:
    table = {(0, 1): x[0] ** 2}
    table[1, 2] = x[0] * x[1]
    total = 0.0
    for (i, j), value in table.items():
        total = total + (i + 10 * j) * value
    return total


def given_pairs(x: Any, weights: Any) -> Any:
    total = 0.0
    for (i, j), weight in weights.items():
        total = total + weight * x[i] * x[j]
    return total + sum(w * x[i] for (i, _), w in weights.items())


def test_pairs_for_keys() -> None:
    np.testing.assert_allclose(grad(paired)(X), numeric_gradient(paired, (X,)), rtol=1e-6)
    weights = {(0, 1): 2.0, (1, 1): 0.5}
    expected = numeric_gradient(lambda x: given_pairs(x, weights), (X,))
    np.testing.assert_allclose(grad(given_pairs)(X, weights), expected, rtol=1e-6)
    found = grad(given_pairs, argnums=1)(X, weights)
    expected = {(i, j): X[i] * X[j] + X[i] for i, j in weights}
    assert found.keys() == expected.keys()
    np.testing.assert_allclose(list(found.values()), list(expected.values()))


COSTS = np.abs(np.random.default_rng(0).normal(size=(4, 4))) + 0.1


def spanning_tree(costs: Any) -> Any:
    """Prim's algorithm: places come out of a queue of pairs with costs that vary, and go into a set."""
    visited, total = set(), 0.0
    queue = [(0.0, 0)]
    while queue:
        cost, place = heapq.heappop(queue)
        if place in visited:
            continue
        visited.add(place)
        total += cost**2
        for other in range(len(costs)):
            if other not in visited:
                heapq.heappush(queue, (costs[place, other], other))
    return total


def dijkstra(x: Any, graph: Any) -> Any:
    distances, queue, done = {0: 0.0}, [(0.0, 0)], set()
    while queue:
        d, u = heapq.heappop(queue)
        if u in done:
            continue
        done.add(u)
        for v, edge in graph[u]:
            new = d + x[edge]
            if v not in distances or new < distances[v]:
                distances[v] = new
                heapq.heappush(queue, (new, v))
    return distances[3] ** 2 * len(done)


def each_once(x: Any) -> Any:
    seen: set[Any] = set()
    total = 0.0
    for v in (*x, x[0]):
        if v in seen:
            continue
        seen.add(v)
        total += v**3
    seen.discard(x[1])
    return total * len(seen)


def test_sets_that_are_only_asked() -> None:
    graph = {0: [(1, 0), (2, 1)], 1: [(2, 2), (3, 3)], 2: [(3, 4)], 3: []}
    lengths = np.array([1.0, 4.0, 2.0, 6.0, 3.0])
    for f, args in ((spanning_tree, (COSTS,)), (dijkstra, (lengths, graph)), (each_once, (X,))):
        expected = numeric_gradient(f, args)
        np.testing.assert_allclose(grad(f)(*args), expected, rtol=1e-6, atol=1e-9)
        ways = (np.ones_like(args[0]), *(None for _ in args[1:]))
        np.testing.assert_allclose(jvp(f, args, ways)[1], np.sum(expected), rtol=1e-6)


def keys_with_others(x: Any) -> Any:
    table = {x[0]: 1}
    total = 0.0
    for key in table.keys() | {3.0}:
        total = total + key
    return total


def elements(x: Any) -> Any:
    seen = set()
    seen.add(x[0])
    total = 0.0
    for element in seen:
        total = total + element
    return total


def elements_of_two(x: Any) -> Any:
    seen = set()
    seen.add(x[0])
    total = 0.0
    for element in seen | {3.0}:
        total = total + element
    return total


def added_within(x: Any) -> Any:
    seen: set[Any] = set()
    first = [v for v in x if not (v in seen or seen.add(v))]  # type: ignore[func-returns-value]
    total = first[0]
    for element in seen:
        total = total + element
    return total


def taken_out(x: Any) -> Any:
    seen = set()
    seen.add(x[0] * 2)
    return seen.pop() * x[1]


@pytest.mark.parametrize(
    "f", [keys_with_others, elements, elements_of_two, added_within, taken_out], ids=lambda f: f.__name__
)
def test_keys_and_elements_that_are_read_again(f: Callable[[Any], Any]) -> None:
    for derivative in (lambda: grad(f)(X), lambda: jvp(f, (X,), (np.ones(2),))):
        with pytest.raises(UnsupportedError, match="a key that depends on what is differentiated is read again"):
            derivative()
