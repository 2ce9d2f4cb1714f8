"""Lists and dicts of which the items stay known since loops over known numbers and items are written out."""

from __future__ import annotations

import bisect
from collections import defaultdict, deque, namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.oracle import numeric_gradient

X = np.array([0.5, 1.3, 0.9, 0.2])
WEIGHTS = [3, 1, 2]
EDGES = [("a", "b", 0), ("b", "c", 1), ("a", "c", 2), ("c", "a", 3)]
NEXT: dict[int, list[int]] = {0: [1, 2], 1: [3], 2: [3], 3: []}
State = namedtuple("State", "s i")


def pascal(x: Any) -> Any:
    rows = [[1.0]]
    for _ in range(4):
        row = list(rows[-1])
        row.append(0.0)
        for k in range(len(rows[-1])):
            row[k + 1] += rows[-1][k] * x[0]
        rows.append(row)
    return sum(c * x[1] ** i for i, c in enumerate(rows[-1]))


def rows_under_two_names(x: Any) -> Any:
    table: list[list[Any]] = []
    for i in range(3):
        row: list[Any] = []
        table.append(row)
        for j in range(3):
            row.append(x[0] * (i + 1) + x[1] * j if i * j == 0 else table[i - 1][j] + row[j - 1] * x[2])
    for row in table:
        row.append(np.sin(row[-1]))
    return table[-1][-1] ** 2 + table[1][3]


def bubble(values: Any) -> Any:
    v = list(values)
    for i in range(len(v)):
        for j in range(len(v) - 1 - i):
            if v[j] > v[j + 1]:
                v[j], v[j + 1] = v[j + 1], v[j]
    return v


def exchanged_in_a_callee(x: Any) -> Any:
    return sum((k + 1) * e for k, e in enumerate(bubble(x * x)))


def slices(x: Any) -> Any:
    u = [0.0] * 7
    u[2:5] = list(x[:3])
    for _ in range(3):
        u[1:-1] = [x[3] * (u[i - 1] + u[i + 1]) for i in range(1, 6)]
    return sum(v * v for v in u)


def computed_keys(x: Any) -> Any:
    out: dict[str, Any] = defaultdict(float)
    for u, _, k in EDGES:
        out[u] += np.exp(x[k])
    rank = {n: x[k] for k, n in enumerate("abc")}
    for _ in range(3):
        new: dict[str, Any] = defaultdict(float)
        for u, v, k in EDGES:
            new[v] += rank[u] * np.exp(x[k]) / out[u]
        rank = {n: 0.05 + 0.85 * new[n] for n in rank}
    return rank["a"] ** 2 + 2 * rank["b"]


def full_queue(x: Any) -> Any:
    window: Any = deque([0.0], maxlen=2)
    total = 0.0
    for k, v in enumerate(x):
        window.append(v * v)
        if k == 2:
            window.appendleft(x[0] * 3.0)
        total = total + sum(window) * window[0] * (k + 1) / len(window)
    return total


def breadth_first(x: Any) -> Any:
    found = {0: x[0]}
    queue = deque([0])
    while queue:
        u = queue.popleft()
        for v in NEXT[u]:
            if v in found:
                found[v] = found[v] + found[u] * x[v]
            else:
                found[v] = np.exp(-x[v]) * found[u]
                queue.append(v)
    return found[3]


def best_way(x: Any) -> Any:
    best = [{s: (np.log(x[s]), None) for s in range(2)}]
    for t in range(1, len(WEIGHTS)):
        best.append({})
        for s in range(2):
            score, before = max((best[t - 1][p][0] + x[2] * p * s, p) for p in range(2))
            best[t][s] = (score + WEIGHTS[t] * x[3] * s, before)
    return max(best[-1][s][0] for s in range(2)) + min(best[0][s][0] for s in range(2))


def by_value(x: Any) -> Any:
    corners = [x[:2], x[2:] + 0.1, np.array([0.3, 0.4]) * x[1]]
    for _ in range(3):
        corners.sort(key=lambda p: np.sum((p - 0.7) ** 2))
        corners[-1] = 0.6 * corners[0] + 0.5 * corners[-1]
    return np.sum(corners[0] * corners[1]) + corners[2][0]


def largest_state(x: Any) -> Any:
    parameters = dict(zip(["beta", "gamma"], x, strict=False))
    state, peak, past = State(0.9, 0.1), None, []
    for _ in range(5):
        new = parameters["beta"] * state.s * state.i
        state = State(state.s - new, state.i + new - parameters["gamma"] * state.i)
        past.append(state)
        if peak is None or state.i > peak.i:
            peak = state
    return peak.i + past[-1].s ** 2  # type: ignore[union-attr]


class Node:
    def __init__(self, value: Any = None, left: Any = None, right: Any = None) -> None:
        self.value, self.left, self.right = value, left, right


def built(values: Any) -> Node:
    if len(values) == 1:
        return Node(values[0])
    half = len(values) // 2
    return Node(left=built(values[:half]), right=built(values[half:]))


def evaluated(node: Node, w: Any) -> Any:
    if node.left is None:
        return node.value
    return np.tanh(w * evaluated(node.left, w) + evaluated(node.right, w))


def tree(x: Any) -> Any:
    return evaluated(built(x), x[1]) ** 2


def option(x: Any) -> Any:
    """Values that are remembered: each is computed once, and found again by its key."""
    up = np.exp(x[0])
    q = (1.02 - 1 / up) / (up - 1 / up)
    memo: dict[Any, Any] = {}

    def value(i: int, j: int) -> Any:
        key = (i, j)
        if key not in memo:
            exercise = max(1.1 - x[1] * up ** (2 * j - i), 0.0)
            held = (q * value(i + 1, j + 1) + (1 - q) * value(i + 1, j)) / 1.02 if i < 3 else 0.0
            memo[key] = max(exercise, held)
        return memo[key]

    return value(0, 0) * x[2] + len(memo) * x[3]


def way(i: int, j: int, x: Any, found: dict[Any, Any]) -> Any:
    if (i, j) in found:
        return found[i, j]
    if i == 0 or j == 0:
        length = x[0] * (i + j)
    else:
        length = x[(i + j) % 4] + min(way(i - 1, j, x, found), way(i, j - 1, x, found))
    found[i, j] = length
    return length


def shortest_way(x: Any) -> Any:
    return way(2, 3, x, {}) ** 2


class Curve:
    """Discount factors, each of which is computed when it is first asked for."""

    def __init__(self, times: list[float], rates: Any) -> None:
        self.times, self.rates = times, rates
        self.known: dict[float, Any] = {}

    def factor(self, t: float) -> Any:
        if t not in self.known:
            i = bisect.bisect_left(self.times, t)
            self.known[t] = np.exp(-t * (self.rates[i] if i < len(self.times) else self.rates[-1]))
        return self.known[t]

    def swap_rate(self, times: list[float]) -> Any:
        annuity, before = 0.0, 0.0
        for t in times:
            annuity += (t - before) * self.factor(t)
            before = t
        return (1 - self.factor(times[-1])) / annuity


def swaps(x: Any) -> Any:
    curve = Curve([1.0, 2.0, 5.0], x)
    return curve.swap_rate([0.5, 1.5, 3.0]) + curve.swap_rate([1.0, 1.5, 6.0])


COUNT = 2


class Series:
    """A series whose callers make the lists that its methods fill."""

    order = 2
    scale = 1.5

    def __init__(self, terms: int, flags: int) -> None:
        self.terms, self.flags = terms, flags

    @staticmethod
    def fill(eps: Any, c: list[Any]) -> None:
        d = eps * 1.0
        for k in range(1, Series.order + COUNT):
            c[k] = d * k
            d = d * eps

    def clenshaw(self, odd: bool, u: Any, c: list[Any]) -> Any:
        k = len(c)
        n = k - odd
        y, z = 0.0, 0.0
        while n:
            n -= 1
            k -= 1
            y, z = u * y - z + c[k], y
        return y if self.flags & 6 else z

    def value(self, eps: Any, u: Any) -> Any:
        c = list(range(Series.order + COUNT))
        d = [0.0] * (self.terms + 2)
        total = u
        while total < 3.0:
            self.fill(eps / (1.0 + total), c)
            self.fill(eps * u, d)
            total = total + np.sin(self.clenshaw(True, u, c) * d[self.terms]) ** 2 + 0.5
        return total * c[1] * Series.scale


SERIES = Series(3, 2)


def lists_that_methods_fill(x: Any) -> Any:
    return SERIES.value(x[0], x[2])


PROGRAMS = [
    lists_that_methods_fill,
    pascal, rows_under_two_names, exchanged_in_a_callee, slices, computed_keys, full_queue, breadth_first, best_way,
    by_value, largest_state, tree, option, shortest_way, swaps,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, (X,))
    value, found = value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-13)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    way = np.array([0.3, -0.5, 0.8, 1.1])
    np.testing.assert_allclose(jvp(f, (X,), (way,))[1], expected @ way, rtol=1e-6, atol=1e-8)


def test_each_order_is_found_when_the_function_runs() -> None:
    derivative = grad(exchanged_in_a_callee)
    for x in (X, X[::-1].copy(), X[[2, 0, 3, 1]]):
        np.testing.assert_allclose(derivative(x), numeric_gradient(exchanged_in_a_callee, (x,)), rtol=1e-7)


def test_whole_numbers_of_the_module_are_read_again() -> None:
    derivative = grad(best_way)
    before = derivative(X)
    WEIGHTS[1] = 5
    try:
        changed = derivative(X)
        np.testing.assert_allclose(changed, numeric_gradient(best_way, (X,)), rtol=1e-7)
        assert not np.allclose(changed, before)
    finally:
        WEIGHTS[1] = 1


@pytest.mark.parametrize(("space", "name", "value"), [(Series, "order", 3), (SERIES, "flags", 9), (SERIES, "terms", 2)])
def test_whole_numbers_of_classes_and_objects_are_read_again(
    space: Any, name: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    derivative = grad(lists_that_methods_fill)
    before = derivative(X)
    monkeypatch.setattr(space, name, value)
    changed = derivative(X)
    np.testing.assert_allclose(changed, numeric_gradient(lists_that_methods_fill, (X,)), rtol=1e-7)
    assert not np.allclose(changed, before)


def exchanged(x: Any, n: int) -> Any:
    row = [x[k % 4] for k in range(n)]
    for k in range(n - 1):
        row[k : k + 2] = [row[k + 1] * 1.01, row[k]]
    return row[-1] * row[0]


def test_many_rounds_are_refused_as_before() -> None:
    derivative = grad(exchanged)
    np.testing.assert_allclose(derivative(X, 5), numeric_gradient(exchanged, (X, 5)), rtol=1e-7)
    with pytest.raises(UnsupportedError, match=r"test_written_out\.py"):
        derivative(X, 100)


def writes_as_it_runs(a: Any) -> Any:
    a[0] = 0.35
    yield 1.0
    a[1] = 0.1
    yield 2.0


class WritesAsItRuns:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __iter__(self) -> Any:
        self.a[0] = 0.35
        return iter([1.0, 2.0])


def beside_a_generator(x: Any) -> Any:
    a, held = x * 1.0, [np.zeros(3), x]
    for _ in zip([1], writes_as_it_runs(a)):  # noqa: B905
        pass
    return np.sum(a**2) + np.sum(held[0]) * x[0]


def beside_a_generator_in_turns(x: Any) -> Any:
    held, r = [np.ones(4), x], 0.0
    a = held[0]
    for _ in range(2):
        r = r + np.sum(a * a * x)
        for _ in zip([1], writes_as_it_runs(a)):  # noqa: B905
            pass
    return r + np.sum(held[0] * x)


def beside_an_iterator_where_rows_are_swapped(x: Any) -> Any:
    a, row = x * 1.0, [x[0], x[1], x[2]]
    for i in range(3):
        row[i], row[2 - i] = row[2 - i], row[i] * 1.1
    for _ in zip([1, 2], WritesAsItRuns(a)):  # noqa: B905
        pass
    return np.sum(a**2) * row[0]


def beside_a_generator_where_rows_are_swapped(x: Any) -> Any:
    a, row = x * 1.0, [x[0], x[1], x[2]]
    for i in range(3):
        row[i], row[2 - i] = row[2 - i], row[i] * 1.1
    for _ in zip([1, 2], writes_as_it_runs(a)):  # noqa: B905
        pass
    return np.sum(a**2) * row[0]


def items_left_in_an_iterator(x: Any) -> Any:
    row, runs, s = [x[0], x[1], x[2]], iter(x), 0.0
    for i in range(3):
        row[i], row[2 - i] = row[2 - i], row[i] * 1.1
    for u, v in zip([1.0, 2.0], runs):  # noqa: B905
        s = s + u * v
    for v in runs:
        s = s + 10.0 * v
    return s * row[0]


@pytest.mark.parametrize(
    "f",
    [
        beside_a_generator,
        beside_a_generator_in_turns,
        beside_an_iterator_where_rows_are_swapped,
        beside_a_generator_where_rows_are_swapped,
        items_left_in_an_iterator,
    ],
    ids=lambda f: f.__name__,
)
def test_what_runs_beside_known_items_runs(f: Callable[[Any], Any]) -> None:
    """An iterator moves, and a generator writes, whether or not its items are read."""
    expected = numeric_gradient(f, (X,))
    for value, slope in (
        (lambda: value_and_grad(f)(X.copy()), expected),
        (lambda: jvp(f, (X.copy(),), (np.ones(4),)), np.sum(expected)),
    ):
        try:
            found = value()
        except (UnsupportedError, UndefinedDerivativeError):
            continue
        np.testing.assert_allclose(found[0], f(X.copy()))
        np.testing.assert_allclose(found[1], slope, rtol=1e-7)


def continued_after_a_loop(x: Any) -> Any:
    b, c = x * 1.0, x.copy()
    rows, factors = [x * 0.3, np.sin(x), x - 0.1], [0.3, 0.5, 0.9]
    for i, (y, z) in enumerate(zip(rows, factors, strict=True)):
        for _ in range(3):
            b = b * y
        else:
            b = b + i * z
            continue
    return np.sum(b**2 + c)


def continued_in_another_loop(x: Any) -> Any:
    b, c = x * 1.0, x.copy()
    rows, factors = [x * 0.3, np.sin(x), x - 0.1], [0.3, 0.5, 0.9]
    for y in x:
        for i, (y, z) in enumerate(zip(rows, factors, strict=True)):
            for _ in range(3):
                b = b * y
            else:
                b = b + i * z
                continue
        b = b * 2.0
    return np.sum(b**2 + c)


def _rows(x: Any) -> Any:
    for k in [1.0, 2.0, 3.0]:
        yield x * k


def continued_over_a_generator(x: Any) -> Any:
    b = x
    for _ in range(2):
        for z in _rows(x):
            for _ in range(2):
                b = np.sin(b * z)
            else:
                b = b + 1.0
                continue
        b = b * 2.0
    return np.sum(b)


def left_over_a_generator(x: Any) -> Any:
    b = x
    for _ in range(2):
        for z in _rows(x):
            for _ in range(2):
                b = np.sin(b * z)
            else:
                break
        b = b * 2.0
    return np.sum(b)


@pytest.mark.parametrize(
    "f", [continued_after_a_loop, continued_in_another_loop, continued_over_a_generator, left_over_a_generator]
)
def test_else_of_a_loop_leaves_one_that_is_written_out(f: Callable[[Any], Any]) -> None:
    value, found = value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(found, numeric_gradient(f, (X,)), rtol=1e-7)
