"""Lists whose items change places: sorted ones, those out of whose middle items are taken, heaps."""

from __future__ import annotations

import heapq
import random
from heapq import heappop, heappush
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hessian, jvp
from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.moves import heap_made, heap_popped, heap_pushed, heap_pushpopped, heap_replaced, moved, moved_back
from tests.oracle import numeric_gradient

W = np.array([1.0, 4.0, 2.0, 6.0, 3.0, 9.0, 1.7])


def huffman(p: Any) -> Any:
    heap = [(weight, i) for i, weight in enumerate(p)]
    heapq.heapify(heap)
    total, name = 0.0, len(p)
    while len(heap) > 1:
        a, _ = heapq.heappop(heap)
        b, _ = heapq.heappop(heap)
        total += (a + b) ** 2
        name += 1
        heapq.heappush(heap, (a + b, name))
    return total


def replaced(w: Any) -> Any:
    heap = list(w * w)
    heapq.heapify(heap)
    total = 0.0
    for k in range(10):
        total += (k + 1) * heapq.heapreplace(heap, heap[0] * 2.3) * heapq.heappushpop(heap, heap[1] * 0.87)
    return total


COST = np.array([[1.0, 3.0, 1.0], [1.5, 9.0, 1.2], [1.1, 1.3, 1.7]])


def astar(cost: Any) -> Any:
    n, m = cost.shape
    start, goal = (0, 0), (2, 2)
    front = [(0.0, start)]
    g = {start: 0.0}
    while front:
        _, now = heappop(front)
        if now == goal:
            break
        i, j = now
        for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            a, b = i + di, j + dj
            if 0 <= a < n and 0 <= b < m:
                new = g[now] + cost[a, b] ** 2
                if (a, b) not in g or new < g[(a, b)]:
                    g[(a, b)] = new
                    heappush(front, (new + abs(goal[0] - a) + abs(goal[1] - b), (a, b)))
    return g[goal]


class Events:
    """Events in the order of their times, some of which lead to others."""

    def __init__(self) -> None:
        self.queue: list[Any] = []
        self.now = 0.0

    def schedule(self, after: Any, name: str) -> None:
        heapq.heappush(self.queue, (self.now + after, name))

    def run(self, until: float) -> Any:
        cost = 0.0
        while self.queue and self.now < until:
            self.now, name = heapq.heappop(self.queue)
            if name == "arrival":
                self.schedule(self.now * 0.3 + 0.1, "service")
                cost += self.now**2
            else:
                self.schedule(0.2, "arrival")
                cost += self.now
        return cost


def simulated(x: Any) -> Any:
    events = Events()
    events.schedule(x[0], "arrival")
    events.schedule(x[1], "service")
    return events.run(4.0)


def with_arrays(w: Any) -> Any:
    heap: list[Any] = []
    for i in range(len(w)):
        heappush(heap, (w[i], i, w[i:] * 2))
    total = 0.0
    while heap:
        first, i, rest = heappop(heap)
        total = 0.5 * total + first * (i + 1) + np.sum(rest**2)
    return total


def sorted_again(w: Any) -> Any:
    items = []
    for v in w:
        items.append(v * v)
    total = 0.0
    for k in range(4):
        items[k % 3] = items[k % 3] * (1.5 - 0.3 * k)
        items.sort(reverse=k % 2 == 0)
        total += items[0] + 2 * items[1] * items[-2]
        if k == 2:
            items.reverse()
    return total


def taken_out(w: Any) -> Any:
    """Places and items that are found as the function runs."""
    items = list(w * w)
    total, place = 0.0, -2
    while len(items) > 3:
        total = 0.5 * total + items.pop(place) * items[place]
        place = -1 - (place % 3)
        least = min(items)
        items.remove(least)
        total = total + least * items.pop(int(np.argmax(items)))
    return total + items[0]


def ranked(w: Any) -> Any:
    rows = [(w[i] * w[i], i, "abc"[i % 3]) for i in range(len(w))]
    best = sorted(rows, reverse=True)[:3]
    rows.append((w[0], 1, "d"))
    rows.sort(key=lambda row: -row[0])
    return sum(first * i + len(name) * rows[i][0] for first, i, name in best)


CASES = [
    (huffman, np.array([0.1, 0.35, 0.2, 0.25])),
    (replaced, W),
    (astar, COST),
    (simulated, np.array([0.3, 0.5])),
    (with_arrays, W),
    (sorted_again, W),
    (taken_out, W),
    (ranked, W),
]


@pytest.mark.parametrize(("f", "x"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_both_modes(f: Any, x: Any) -> None:
    expected = numeric_gradient(f, (x,))
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6, atol=1e-8)
    direction = np.cos(np.arange(x.size)).reshape(x.shape)
    value, dot = jvp(f, (x,), (direction,))
    assert value == f(x)
    np.testing.assert_allclose(dot, np.sum(direction * expected), rtol=1e-6)


def test_second_order() -> None:
    found = hessian(huffman)(CASES[0][1])
    expected = [numeric_gradient(lambda p, i=i: grad(huffman)(p)[i], (CASES[0][1],)) for i in range(4)]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_a_comparison_that_raises_half_way() -> None:
    """What `heapq` leaves then is not what was there before."""

    def tried(w: Any) -> Any:
        heap = [w[0], w[1]]
        try:
            heappush(heap, "a")
        except TypeError:
            heap.pop()
        return heap[0] * heap[-1]

    with pytest.raises(UndefinedDerivativeError, match="heap may have been assigned or written already"):
        grad(tried)(W)


@pytest.mark.parametrize("seed", range(5))
def test_moves_are_those_of_heapq(seed: int) -> None:
    draw = random.Random(seed)
    for size in range(30):
        items = [(draw.randrange(9), k) for k in range(size)] if seed % 2 else [draw.randrange(9) for _ in range(size)]
        new = (draw.randrange(9), -1) if seed % 2 else draw.randrange(9)
        heap, ours = list(items), list(items)
        heapq.heapify(heap)
        moves = heap_made(ours)
        moved(ours, moves)
        assert ours == heap
        moved(ours, moved_back(moves))
        assert ours == items
        for change, moves_of in (
            (lambda h: heapq.heappush(h, new), heap_pushed),
            (lambda h: h.append(heapq.heappop(h)), heap_popped),
            (lambda h: h.append(heapq.heapreplace(h, new)), heap_replaced),
            (lambda h: h.append(heapq.heappushpop(h, new)), heap_pushpopped),
        ):
            theirs = list(heap)
            ours = list(heap) if moves_of is heap_popped else [*heap, new]
            if not heap and moves_of in (heap_popped, heap_replaced):
                with pytest.raises(IndexError):
                    moves_of(ours)
                continue
            change(theirs)  # type: ignore[no-untyped-call]
            moved(ours, moves_of(ours))
            assert ours == theirs
