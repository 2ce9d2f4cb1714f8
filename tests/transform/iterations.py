"""Programs that run through items that are known when they are compiled: ``zip``, ``map``, ``sorted``, `itertools`.

Each is a function of an array of three numbers; `TAKEN` are all of them.
"""

# ruff: noqa: B905, C417, E731, RUF017

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np


def with_sorted(x: Any) -> Any:
    fs = [(2, lambda v: v * x[0]), (1, np.sin)]
    fs = sorted(fs, key=lambda p: p[0])
    y = x[1]
    for _, f in fs:
        y = f(y)
    return y


def with_reduce(x: Any) -> Any:
    fs = [np.sin, lambda v: v * x[0], np.cos]
    h = reduce(lambda f, g: lambda v: g(f(v)), fs)
    return np.sum(h(x))


def with_map_filter(x: Any) -> Any:
    fs = [np.sin, lambda v: v * x[0], None]
    return sum(map(lambda f: f(x[1]), filter(None, fs)))


def with_product(x: Any) -> Any:
    fs = [np.sin, lambda v: v * x[0]]
    y = 0.0
    for f, g in itertools.product(fs, fs):
        y = y + f(g(x[1]))
    return y


def with_chain(x: Any) -> Any:
    fs = [np.sin, lambda v: v * x[0]]
    y = x[1]
    for f in itertools.chain(fs, [np.cos], reversed(fs)):
        y = f(y)
    return y


def with_pairs(x: Any) -> Any:
    ls = [(lambda v: v * x[0]), np.sin, np.cos]
    y = 0.0
    for f, g in itertools.combinations(ls, 2):
        y += f(g(x[1]))
    for f, g in itertools.pairwise(ls):
        y += f(g(x[2]))
    return y


def with_star(x: Any) -> Any:
    fs = (np.sin, np.cos, lambda v: v * x[0])
    a, *rest = fs
    gs = [*rest, a]
    return gs[1](gs[2](x[1]))


def with_any_all(x: Any) -> Any:
    fs = [np.sin, lambda v: v * x[0], None]
    if any(f is None for f in fs) and all(f is not None for f in fs[:2]):
        return fs[1](x[1])
    return x[0]


def with_accumulate(x: Any) -> Any:
    fs = [np.sin, lambda v: v * x[0], np.cos]
    y = 0.0
    for h in itertools.accumulate(fs, lambda f, g: lambda v: f(g(v))):
        y += h(x[1])
    return y


def with_cycle(x: Any) -> Any:
    fs = [np.sin, lambda v: v * x[0]]
    y = x[1]
    for f in itertools.islice(itertools.cycle(fs), 5):
        y = f(y)
    return y


def with_repeat(x: Any) -> Any:
    f = lambda v: v * x[0] + 1
    y = x[1]
    for g in itertools.repeat(f, 3):
        y = g(y)
    return y


def with_zip_longest(x: Any) -> Any:
    fs = [np.sin, lambda v: v * x[0]]
    y = 0.0
    for f, v in itertools.zip_longest(fs, [x[1]], fillvalue=x[2]):
        y += f(v)
    return y


def with_starmap(x: Any) -> Any:
    ps = [(np.sin, x[0]), (lambda v: v * x[2], x[1])]
    return sum(itertools.starmap(lambda f, v: f(v), ps))


def with_groupby(x: Any) -> Any:
    items = [("a", x[0]), ("a", x[1]), ("b", x[2])]
    y = 0.0
    for k, g in itertools.groupby(items, key=lambda p: p[0]):
        y += sum(v for _, v in g) * (2 if k == "a" else 3)
    return y


def with_iter_next(x: Any) -> Any:
    it = iter([np.sin, lambda v: v * x[0], np.cos])
    f = next(it)
    y = f(x[1])
    for g in it:
        y = g(y)
    return y + (next(it, None) is None)


def with_sum_start(x: Any) -> Any:
    rows = [[x[0], np.sin], [x[1], np.cos]]
    flat = sum(rows, [])
    return flat[1](flat[0]) + flat[3](flat[2])


def with_unzip(x: Any) -> Any:
    fs, vs = zip(*[(np.sin, x[0]), (lambda v: v * x[1], x[2])])
    return fs[0](vs[0]) + fs[1](vs[1])


def with_while_pop(x: Any) -> Any:
    q = [lambda v: v * x[0], np.sin, np.cos]
    y = x[1]
    while q:
        f = q.pop()
        y = f(y)
    return y


def with_operator(x: Any) -> Any:
    ps = [(np.sin, 2), (lambda v: v * x[0], 1)]
    ps.sort(key=operator.itemgetter(1))
    return ps[0][0](ps[1][0](x[1]))


class _Scaled:
    def __init__(self, factor: Any) -> None:
        self.factor = factor

    def of(self, v: Any) -> Any:
        return self.factor * v


def with_objects_of_a_tuple(x: Any) -> Any:
    a, b, _ = x
    made = [_Scaled(k * a) for k in (0.1, 0.2)] + [_Scaled(k) for k in (a, b, a * b)]
    table = {k: _Scaled(k * b) for k in (1.0, 2.0)}
    return sum(m.of(x[2]) ** 2 for m in (*made, *table.values()))


TAKEN: list[Callable[[Any], Any]] = [f for name, f in list(globals().items()) if name[:5] == "with_"]
