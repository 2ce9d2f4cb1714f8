"""Sets of arguments at which rules are tested.

Each set is a function without arguments, so that nothing is made before a test
asks for it, and gives the same numbers each time.  Points stay away from kinks
and poles; what a rule does there has its own tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops.spec import Sample, sample

Shape = tuple[int, ...]


def spread(shape: Shape, low: float = -2.0, high: float = 2.0, seed: int = 0) -> Any:
    """Return distinct numbers between ``low`` and ``high``, in no order."""
    generator = np.random.default_rng([seed, *shape])
    size = int(np.prod(shape))
    steps = np.linspace(0.05, 0.95, size) if size > 1 else np.array([0.3] * size)
    steps = steps + 0.02 * generator.random(size) / max(size, 1)
    return (low + (high - low) * generator.permutation(steps)).reshape(shape)


def _complex(shape: Shape, scale: float = 1.0, seed: int = 0) -> Any:
    """Return complex numbers away from 0 and from both axes, in all quadrants."""
    angles = np.resize([0.6, 2.3, -0.8, -2.2, 1.1, -1.2, 2.6, -2.7], shape) + 0.01 * seed
    return scale * spread(shape, 0.5, 1.8, seed=seed) * np.exp(1j * angles)


def _unary(low: float, high: float) -> Sequence[Sample]:
    shapes: list[Shape] = [(), (1,), (5,), (2, 3), (0,), (2, 0, 3)]
    points = [sample(spread(shape, low, high)) for shape in shapes]
    points.append(sample(low + 0.7 * (high - low)))
    points.append(sample(np.float64(low + 0.2 * (high - low))))
    points.append(sample(spread((4,), low, high).astype(np.float32)))
    points.append(sample(np.float32(low + 0.6 * (high - low))))
    return points


def REAL() -> Sequence[Sample]:
    """One real argument of any sign, not 0."""
    return _unary(-1.9, 2.0)


def POSITIVE() -> Sequence[Sample]:
    """One positive argument."""
    return _unary(0.2, 3.0)


def UNIT() -> Sequence[Sample]:
    """One argument between -1 and 1."""
    return _unary(-0.9, 0.93)


def ABOVE_ONE() -> Sequence[Sample]:
    """One argument above 1."""
    return _unary(1.2, 3.0)


def COMPLEX() -> Sequence[Sample]:
    """One complex argument, off the real axis."""
    return [
        sample(0.4 + 0.7j),
        sample(_complex((3,))),
        sample(_complex((2, 2), 0.4)),
        sample(_complex((3,)).astype(np.complex64)),
    ]


def REAL_OR_COMPLEX() -> Sequence[Sample]:
    """One argument, real of any sign or complex."""
    return [*REAL(), *COMPLEX()]


def POSITIVE_OR_COMPLEX() -> Sequence[Sample]:
    """One argument, positive or complex."""
    return [*POSITIVE(), *COMPLEX()]


def UNIT_OR_COMPLEX() -> Sequence[Sample]:
    """One argument, between -1 and 1 or complex."""
    return [*UNIT(), *COMPLEX()]


def ABOVE_ONE_OR_COMPLEX() -> Sequence[Sample]:
    """One argument, above 1 or complex."""
    return [*ABOVE_ONE(), *COMPLEX()]


def _binary(low: float, high: float) -> Sequence[Sample]:
    def one(shape: Shape) -> Any:
        return spread(shape, low, high)

    def other(shape: Shape) -> Any:
        return spread(shape, low + 0.06, high + 0.06, seed=1)

    shapes: list[tuple[Shape, Shape]] = [
        ((3,), (3,)),
        ((2, 3), (2, 3)),
        ((2, 3), (3,)),
        ((2, 3), ()),
        ((), (2, 3)),
        ((2, 1), (1, 3)),
        ((1,), (4,)),
        ((), ()),
        ((0, 3), (3,)),
        ((1, 3), (0, 3)),
    ]
    points = [sample(one(x), other(y)) for x, y in shapes]
    points += [
        sample(one((3,)), low + 0.3 * (high - low)),
        sample(high, other((2, 2))),
        sample(high, low + 0.4 * (high - low)),
        sample(one((3,)).astype(np.float32), other((2, 3)).astype(np.float32)),
        sample(one((3,)).astype(np.float32), high),
        sample(high, one((3,)).astype(np.float32)),
        sample(one((3,)), 2),
        sample(3, other((3,))),
    ]
    return points


def PAIRS() -> Sequence[Sample]:
    """Two real arguments that are broadcast in every way, of any sign and never equal."""
    return _binary(-1.9, 2.0)


def POSITIVE_PAIRS() -> Sequence[Sample]:
    """Two positive arguments."""
    return _binary(0.3, 2.5)


def REMAINDERS() -> Sequence[Sample]:
    """Dividend and divisor, of both signs; their quotient is no whole number."""
    x, y = spread((2, 3), -3.0, 3.0), spread((3,), 0.7, 1.3)
    pairs = [sample(x, y), sample(x, -y), sample(y, spread((2, 3), 0.2, 0.61)), sample(-2.5, 0.7), sample(2.5, -0.7)]
    return [*_binary(0.6, 2.5)[:-2], *pairs]


def COMPLEX_PAIRS() -> Sequence[Sample]:
    """Two arguments, one of them or both complex."""
    return [
        sample(_complex((3,)), _complex((2, 3), seed=2)),
        sample(spread((2, 3)), _complex((3,))),
        sample(_complex((2, 1)), spread((3,))),
        sample(1.5 + 0.5j, spread((3,))),
        sample(_complex((3,)).astype(np.complex64), spread((3,)).astype(np.float32)),
    ]


def PAIRS_OR_COMPLEX() -> Sequence[Sample]:
    """Two arguments, real or complex."""
    return [*PAIRS(), *COMPLEX_PAIRS()]


def POWERS() -> Sequence[Sample]:
    """Base and exponent: positive, negative with whole exponents, literal and complex."""
    x = spread((4,))
    return [
        *POSITIVE_PAIRS(),
        sample(x, 2),
        sample(x, 3),
        sample(x, -1),
        sample(x, 0),
        sample(-1.5, 3),
        sample(spread((4,), 0.2, 2.0), 0.5),
        sample(np.abs(x), -1.5),
        sample(x.astype(np.float32), 2),
        sample(x, np.array([2, 3, 0, 1])),
        sample(np.array([0.0, 0.0, 1.0]), np.array([2, 0, 1])),
        sample(2, x),
        sample(_complex((3,)), 2),
        sample(_complex((3,)), 1.5),
        sample(_complex((3,)), _complex((3,), seed=3)),
        sample(spread((3,), 0.5, 2.0), _complex((3,))),
    ]


def _axes(keepdims: bool = True) -> Sequence[Sample]:
    a = spread((2, 3, 4))
    forms: list[tuple[Any, dict[str, Any]]] = [
        (a, {}),
        (a, {"axis": None}),
        (a, {"axis": 0}),
        (a, {"axis": 1}),
        (a, {"axis": -1}),
        (a, {"axis": -3}),
        (spread((5,)), {}),
        (spread((5,)), {"axis": 0}),
        (spread((1,)), {}),
        (spread((3, 1)), {"axis": 1}),
        (spread((1, 3)), {"axis": 1}),
        (a.astype(np.float32), {"axis": 1}),
        (a.astype(np.float32), {}),
        (spread(()), {}),
    ]
    points = [Sample((x,), options) for x, options in forms]
    points.append(sample(a, 1))
    if keepdims:
        points += [Sample((x,), {**options, "keepdims": True}) for x, options in forms]
        points += [
            sample(a, axis=(0, 2)),
            sample(a, axis=(-1, 0)),
            sample(a, axis=(2, 1), keepdims=True),
            sample(a, axis=(0, 1, 2)),
            sample(a, (1,), keepdims=False),
            sample(a.astype(np.float32), axis=(0, 2)),
        ]
    return points


def REDUCTIONS() -> Sequence[Sample]:
    """An array with every form of ``axis`` and ``keepdims``."""
    return _axes()


def COMPLEX_REDUCTIONS() -> Sequence[Sample]:
    """A complex array with some forms of ``axis``."""
    a = _complex((2, 3))
    return [sample(a), sample(a, axis=0), sample(a, axis=1, keepdims=True), sample(a.astype(np.complex64), axis=-1)]


def EMPTY_REDUCTIONS() -> Sequence[Sample]:
    """Arrays without elements, for reductions that have a value there."""
    return [sample(np.ones((0,))), sample(np.ones((0, 3)), axis=0), sample(np.ones((0, 3)), axis=1, keepdims=True)]


def SUMS() -> Sequence[Sample]:
    """Arguments of reductions that also take ``dtype``, complex numbers and empty arrays."""
    a = spread((2, 3))
    return [
        *REDUCTIONS(),
        *COMPLEX_REDUCTIONS(),
        *EMPTY_REDUCTIONS(),
        sample(a, axis=0, dtype=np.float64),
        sample(a.astype(np.float32), dtype=np.float64),
        sample(a, 1, np.float64),
    ]


def MEANS() -> Sequence[Sample]:
    """Arguments of reductions that have no value on an empty array but may give one."""
    a = spread((2, 3))
    return [
        *REDUCTIONS(),
        *COMPLEX_REDUCTIONS(),
        sample(np.ones((0, 3)), axis=1),
        sample(a, axis=0, dtype=np.float64),
        sample(a.astype(np.float32), dtype=np.float64),
    ]


def _varied(samples: Sequence[Sample]) -> Sequence[Sample]:
    """Keep the samples in which at least three elements go into each result."""
    kept = []
    for s in samples:
        axis = s.kwargs.get("axis", s.args[1] if len(s.args) > 1 else None)
        if np.std(s.args[0], axis=axis).size and np.all(np.std(s.args[0], axis=axis) > 0):
            kept.append(s)
    return kept


def VARIANCES() -> Sequence[Sample]:
    """Arguments of ``var``: as for the mean, with ``ddof``."""
    a = spread((4, 3))
    return [
        *REDUCTIONS(),
        *COMPLEX_REDUCTIONS(),
        sample(a, axis=0, ddof=1),
        sample(a, axis=(0, 1), ddof=2, keepdims=True),
        sample(a, ddof=0.5),
    ]


def DEVIATIONS() -> Sequence[Sample]:
    """Arguments of ``std``: those of ``var`` at which it is not 0."""
    return _varied(VARIANCES())


def _with_nan(samples: Sequence[Sample]) -> Sequence[Sample]:
    points = []
    for s in samples:
        a = np.array(s.args[0])
        if np.ndim(a) > 1 and 1 not in a.shape:
            a[(0,) * a.ndim] = np.nan
            a[(1,) * a.ndim] = np.nan
        points.append(Sample((a, *s.args[1:]), s.kwargs))
    return points


def NAN_REDUCTIONS() -> Sequence[Sample]:
    """Arrays with some NaN and some without."""
    return [*REDUCTIONS()[:4], *_with_nan(REDUCTIONS())]


def NAN_VARIANCES() -> Sequence[Sample]:
    """Arrays with some NaN, for ``nanvar``."""
    a = spread((4, 3))
    more = [sample(a, axis=0, ddof=1), sample(a, axis=1, ddof=1, keepdims=True)]
    points = [s for s in NAN_REDUCTIONS() if s.args[0].dtype == np.float64]
    return [*points, *_with_nan(more)]


def NAN_DEVIATIONS() -> Sequence[Sample]:
    """Arrays with some NaN, for ``nanstd``, at which it is not 0."""
    kept = []
    for s in NAN_VARIANCES():
        axis = s.kwargs.get("axis", s.args[1] if len(s.args) > 1 else None)
        if np.all(np.nanstd(s.args[0], axis=axis) > 0):
            kept.append(s)
    return kept


def PRODUCTS() -> Sequence[Sample]:
    """As `SUMS`, with zero factors, one or several to a product."""
    a = spread((3, 4))
    a[1, 2] = 0.0
    b = a.copy()
    b[1, 0] = 0.0
    points = [sample(x, **options) for x in (a, b) for options in ({}, {"axis": 0}, {"axis": 1}, {"axis": (0, 1)})]
    return [*SUMS(), *points, sample(np.array([0.0, 0.0, 3.0]))]


def SCANS() -> Sequence[Sample]:
    """Arrays with every form of ``axis``, for cumulative functions."""
    a = spread((2, 3))
    zero = spread((3, 4))
    zero[1, 2] = zero[1, 0] = 0.0
    return [
        *_axes(keepdims=False),
        *COMPLEX_REDUCTIONS()[:2],
        sample(np.ones((0,))),
        sample(np.ones((2, 0)), axis=1),
        sample(a, axis=0, dtype=np.float64),
        sample(zero, axis=1),
        sample(zero, axis=0),
        sample(zero),
    ]


def NAN_SCANS() -> Sequence[Sample]:
    """Arrays with some NaN, for cumulative functions."""
    return _with_nan(_axes(keepdims=False))


def CHOICES() -> Sequence[Sample]:
    """Condition and two choices, broadcast in every way."""
    c = np.array([True, False, True])
    x, y = spread((2, 3)), spread((3,), seed=1)
    return [
        sample(c, x, y),
        sample(c, y, 0.5),
        sample(c, 0, y),
        sample(True, x, y),
        sample(x > 0, y, x),
        sample(np.array([[True], [False]]), 1.5, 2.5),
        sample(c, y.astype(np.float32), 0),
        sample(c, x.astype(np.float32), y.astype(np.float32)),
        sample(c, _complex((3,)), y),
        sample(np.zeros((0,), bool), 1.0, np.ones((0,))),
    ]


def CLIPS() -> Sequence[Sample]:
    """An array and its bounds: numbers, arrays, one of them missing."""
    a = spread((2, 5))
    low, high = spread((5,), -1.5, -0.5, seed=1), spread((2, 1), 0.4, 1.1, seed=1)
    return [
        sample(a, -1.01, 1.01),
        sample(a, low, high),
        sample(a, low, 1.01),
        sample(a, None, 1.01),
        sample(a, -1.01, None),
        sample(a, low, None),
        sample(a, None, high),
        sample(a, 1.01, -0.51),
        sample(a.astype(np.float32), -1, 1),
        sample(0.5, -1.0, 1.0),
        sample(1.5, -1.0, 1.0),
        sample(0.5, low, 1.01),
    ]


def DIFFERENCES() -> Sequence[Sample]:
    """Arrays for ``np.diff``, with orders up to and beyond their length."""
    a = spread((3, 4))
    return [
        sample(a),
        sample(a, 2),
        sample(a, 0),
        sample(a, 3, 0),
        sample(a, n=5),
        sample(a, 1, axis=-2),
        sample(a.astype(np.float32), 2),
        sample(spread((6,))),
        sample(spread((1,))),
        sample(_complex((4,))),
        sample(np.ones((0,))),
    ]


def AVERAGES() -> Sequence[Sample]:
    """Arrays and weights, of the same shape or along one axis."""
    a, w = spread((2, 3)), spread((2, 3), 0.2, 1.5, seed=1)
    return [
        sample(a),
        sample(a, 1, keepdims=True),
        sample(a, weights=w),
        sample(a, 0, w),
        sample(a, -1, w, keepdims=True),
        sample(a, axis=1, weights=w[0]),
        sample(a, axis=0, weights=w[:, 0], keepdims=True),
        sample(a, axis=-1, weights=w[0]),
        sample(a, axis=(0, 1), weights=w),
        sample(w[0], weights=w[1]),
        sample(a.astype(np.float32), axis=1, weights=w[0].astype(np.float32)),
        sample(_complex((3,)), weights=w[0]),
    ]


def SORTS() -> Sequence[Sample]:
    """Arrays for ``np.sort``."""
    a = spread((3, 4))
    return [
        sample(a),
        sample(a, 0),
        sample(a, axis=None),
        sample(a, -2, kind="stable"),
        sample(spread((5,))),
        sample(a.astype(np.float32)),
        sample(np.ones((0,))),
        sample(spread((1,))),
    ]
