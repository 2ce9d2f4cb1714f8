"""Sets of arguments at which the rules of SciPy's functions are tested."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops.sampling import spread
from s2sad.ops.spec import Sample, Samples, sample

Interval = tuple[float, float]


def between(*intervals: Interval) -> Samples:
    """Operands in these intervals that are broadcast in every way: arrays, numbers, empty, in single precision."""

    def points() -> Sequence[Sample]:
        def drawn(shapes: Sequence[tuple[int, ...]], dtype: type = np.float64) -> Sample:
            numbers = [
                spread(shape, *interval, seed=i).astype(dtype)
                for i, (shape, interval) in enumerate(zip(shapes, intervals, strict=True))
            ]
            return sample(*numbers)

        count = len(intervals)
        some: list[tuple[int, ...]] = [(3,), (2, 3), (), (1,), (2, 1)]
        found = [drawn([shape] * count) for shape in (*some, (0,), (2, 0, 3))]
        if count > 1:
            found += [drawn(shapes) for shapes in itertools.islice(itertools.permutations(some, count), 0, 60, 7)]
        found += [drawn([shape] * count, np.float32) for shape in ((4,), (2, 3))]
        if count > 1:
            mixed = drawn([(4,)] * count, np.float32).args
            found += [sample(0.5 * sum(intervals[0]), *mixed[1:]), sample(*mixed[:-1], 0.5 * sum(intervals[-1]))]
        low = [a + 0.3 * (b - a) for a, b in intervals]
        return [*found, sample(*low), sample(*map(np.float64, low)), sample(*map(np.float32, low))]

    return points


def of(orders: Sequence[Any], inside: Samples) -> Samples:
    """The samples of ``inside``, each with one of ``orders`` in front: a number, or a tuple of them."""

    def points() -> Sequence[Sample]:
        found = []
        for order, s in zip(itertools.cycle(orders), [*inside(), *inside()], strict=False):
            first = order if isinstance(order, tuple) else (order,)
            found.append(Sample((*first, *s.args), s.kwargs))
        return found

    return points


def both(*several: Samples) -> Samples:
    """All samples of several sets."""
    return lambda: [s for points in several for s in points()]


def at(*calls: tuple[Any, ...]) -> Samples:
    """These arguments, of which lists of numbers are arrays."""

    def points() -> Sequence[Sample]:
        return [sample(*(np.array(x) if isinstance(x, list) else x for x in args)) for args in calls]

    return points
