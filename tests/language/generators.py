"""Programs with generators, each of one number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def steps(x, n) -> Iterator[Any]:
    for _ in range(n):
        x = x + 0.1 * np.sin(x)
        yield x


def forever(x) -> Iterator[Any]:
    while True:
        yield x
        x = x * 0.9


def pairs(x) -> Iterator[Any]:
    yield x, 2 * x
    yield x * x, 3 * x


def grid(x, n) -> Iterator[Any]:
    for i in range(n):
        for j in range(2):
            yield x * (i + j)


def with_rest(x, n) -> Iterator[Any]:
    for i in range(n):
        yield x * i
    yield x**3


def chained(x) -> Iterator[Any]:
    yield from steps(x, 2)
    yield from [x, x * x]


def alternating(x, n) -> Iterator[Any]:
    for i in range(n):
        if i % 2:
            yield x * i
        else:
            yield -x * x


def doubled(a) -> Iterator[Any]:
    for i in range(len(a)):
        a[i] = a[i] * 2
        yield a[i]


def closing(x, n) -> Iterator[Any]:
    for _ in range(n):
        try:
            yield x
        finally:
            x = x * 2


def answering(x) -> Iterator[Any]:
    y = yield x
    yield y or 2 * x


def returning(x) -> Iterator[Any]:
    yield x
    return x * x


def delegating(x) -> Iterator[Any]:
    yield (yield from returning(x))


class Tree:
    def __init__(self, value, children=()) -> None:
        self.value, self.children = value, children

    def walk(self) -> Iterator[Any]:
        yield self.value
        for child in self.children:
            yield from child.walk()

    def __iter__(self) -> Iterator[Any]:
        yield self.value
        for child in self.children:
            yield child.value


def total(items) -> Any:
    return sum(items)


def weighted(a, b) -> Any:
    return a + 2 * b


# --- right


def in_a_loop(x) -> Any:
    t = 0.0
    for y in steps(x, 3):
        t += y * y
    return t


def left_early(x) -> Any:
    t = 0.0
    for i, y in enumerate(forever(x)):
        if i == 5:
            break
        t += y * i
    return t


def left_by_its_values(x) -> Any:
    t = 0.0
    for y in forever(x):
        for z in steps(y, 2):
            t += z
        if t > 4:
            break
    return t


def left_inside(x) -> Any:
    t = 0.0
    for y in steps(x, 3):
        for z in steps(y, 2):
            if z > 1.1:
                break
            t += z
    return t


def skipped(x) -> Any:
    t = 0.0
    for y in steps(x, 5):
        if y > 1.2:
            continue
        if y < 0.9:
            t += 2 * y
        else:
            if y > 1.0:
                continue
            t += 3 * y
        t += y
    return t


def returned_from(x) -> Any:
    for y in forever(x):
        if y < 0.5:
            return y * y
    return 0.0


def of_tuples(x) -> Any:
    t = 0.0
    for a, b in pairs(x):
        t += a * b
    return t


def summed(x) -> Any:
    return sum(grid(x, 3)) + sum(with_rest(x, 3)) + sum(alternating(x, 4))


def extremes(x) -> Any:
    return max(chained(x)) + min(steps(x, 2)) + sorted(chained(x))[1]


def in_comprehensions(x) -> Any:
    return (
        sum(y * y for y in steps(x, 4) if y > 0.9) + sum([y for y in steps(x, 3)]) + total(v * x for v in steps(x, 2))
    )


def unpacked(x) -> Any:
    first, *rest = steps(x, 4)
    a, b = pairs(x)
    return first * rest[-1] + a[0] * b[1] + weighted(*steps(x, 2))


def listed(x) -> Any:
    found = list(map(lambda v: v * v, steps(x, 3)))
    return found[0] + sum(found) + tuple(chained(x))[-1]


def with_else(x) -> Any:
    t = 0.0
    for y in steps(x, 3):
        t += y
    else:
        t = t * 2
    return t


def last_one(x) -> Any:
    last = None
    for last in steps(x, 4):
        pass
    return last


def written(x) -> Any:
    a = np.array([x, 2 * x, 3 * x])
    t = 0.0
    for y in doubled(a):
        t += y * a[0]
    return t + a[2]


def of_methods(x) -> Any:
    tree = Tree(x, (Tree(x * x), Tree(2 * x, (Tree(x**3),))))
    return sum(tree.walk()) + sum(v * v for v in tree)


def with_shared_variables(x) -> Any:
    def growing(n):
        nonlocal x
        for i in range(n):
            x = x * 1.1
            yield x * i

    t = 0.0
    for y in growing(3):
        t += y * x
    return t + x


def read_late(x) -> Any:
    g = (y * x for y in steps(x, 3))
    x = 5.0
    return total(g)


def collected(x) -> Any:
    items = []
    for y in steps(x, 3):
        items.append(y)
    return items[0] * items[-1]


RIGHT = (
    in_a_loop, left_early, left_by_its_values, left_inside, skipped, returned_from, of_tuples, summed, extremes,
    in_comprehensions, unpacked, listed, with_else, last_one, written, of_methods, with_shared_variables, read_late,
    collected,
)  # fmt: skip


# --- refused, since the generator runs later, is left, or hears more than that it is asked


def run_twice(x) -> Any:
    g = steps(x, 3)
    t = 0.0
    for y in g:
        t += y
    for y in g:
        t += 100 * y
    return t


def run_in_rounds(x) -> Any:
    g = steps(x, 3)
    t = 0.0
    for _ in range(2):
        for y in g:
            t += y
    return t


def asked(x) -> Any:
    g = forever(x)
    return next(g) * next(g)


def closed(x) -> Any:
    t = 0.0
    for y in closing(x, 3):
        t += y
    return t


def delegated(x) -> Any:
    return sum(delegating(x))


def left_between(x) -> Any:
    t = 0.0
    for y in with_rest(x, 3):
        if y > 1:
            break
        t += y
    return t


REFUSED = (run_twice, run_in_rounds, asked, closed, delegated, left_between)


SCALE, OFFSETS = 3.0, np.array([0.5, 1.5])


def scaled(x, n) -> Iterator[Any]:
    """What the variables of this module say, of which the module of the consumer has others."""
    for k in range(n):
        yield SCALE * x * k + OFFSETS[0], x + OFFSETS[1] * SCALE


def inner_and_outer(x, n) -> Iterator[Any]:
    both = scaled(x * SCALE, n)
    for a, b in both:
        yield a * b, SCALE * x
