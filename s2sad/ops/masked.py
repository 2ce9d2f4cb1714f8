"""Sets of arguments of reductions that mask elements out: ``where``, and what goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import sampling
from s2sad.ops.spec import Sample, sample


def _masked(samples: Sequence[Sample], initial: Any = None, mean: bool = False) -> Sequence[Sample]:
    """Add samples with ``where``, ``initial`` and ``mean``."""
    a, t = sampling.spread((3, 4)), sampling.spread((2, 3, 4))
    mask = np.arange(12).reshape(3, 4) % 3 != 1
    one: dict[str, Any] = {} if initial is None else {"initial": initial}
    points = [
        sample(a, where=mask, **one),
        sample(a, axis=0, where=mask, **one),
        sample(a, axis=1, where=mask[0], keepdims=True, **one),
        sample(t, axis=(0, -1), where=mask, **one),
        sample(a.astype(np.float32), axis=1, where=mask, **one),
    ]
    if initial is not None:
        points += [sample(a, initial=initial), sample(a, axis=1, initial=initial, keepdims=True)]
    if mean:
        centre = sampling.spread((3, 1), -0.3, 0.4, seed=5)
        points += [
            sample(a, axis=1, mean=centre),
            sample(a, axis=1, mean=centre, where=mask, keepdims=True, ddof=1),
            sample(a, mean=np.array([[0.3]])),
            sample(a, ddof=0.7),
            sample(a, axis=1, where=mask, ddof=0.3),
        ]
    return [*samples, *points]


def _holes(samples: Sequence[Sample]) -> Sequence[Sample]:
    """The last, masked ones, of some samples, with NaN where they are masked and where they are not."""
    points = []
    for s in samples:
        a = np.array(s.args[0])
        if a.shape[-2:] == (3, 4):
            a[..., 0, 1] = a[..., 2, 2] = np.nan
        points.append(Sample((a, *s.args[1:]), s.kwargs))
    return points


def MASKED_SUMS() -> Sequence[Sample]:
    """As `sampling.SUMS`, with ``where`` and ``initial``."""
    return _masked(sampling.SUMS(), 1.5)


def MASKED_MEANS() -> Sequence[Sample]:
    """As `sampling.MEANS`, with ``where``."""
    return _masked(sampling.MEANS())


def MASKED_VARIANCES() -> Sequence[Sample]:
    """As `sampling.VARIANCES`, with ``where`` and ``mean``."""
    return _masked(sampling.VARIANCES(), mean=True)


def MASKED_DEVIATIONS() -> Sequence[Sample]:
    """As `sampling.DEVIATIONS`, with ``where`` and ``mean``."""
    return _masked(sampling.DEVIATIONS(), mean=True)


def MASKED_EXTREMES() -> Sequence[Sample]:
    """As `sampling.REDUCTIONS`, with ``where`` and with an ``initial`` that is neither below nor above all elements."""
    return _masked(sampling.REDUCTIONS(), 0.123)


def MASKED_PRODUCTS() -> Sequence[Sample]:
    """As `sampling.PRODUCTS`, with ``where`` and ``initial``."""
    return _masked(sampling.PRODUCTS(), 1.5)


def MASKED_NAN_SUMS() -> Sequence[Sample]:
    """As `sampling.NAN_REDUCTIONS`, with ``where`` and ``initial``."""
    return [*sampling.NAN_REDUCTIONS(), *_holes(_masked([], 1.5))]


def MASKED_NAN_MEANS() -> Sequence[Sample]:
    """As `sampling.NAN_REDUCTIONS`, with ``where``."""
    return [*sampling.NAN_REDUCTIONS(), *_holes(_masked([]))]


def MASKED_NAN_EXTREMES() -> Sequence[Sample]:
    """As `sampling.NAN_REDUCTIONS`, with ``where`` and ``initial``."""
    return [*sampling.NAN_REDUCTIONS(), *_holes(_masked([], 0.123))]


def MASKED_NAN_VARIANCES() -> Sequence[Sample]:
    """As `sampling.NAN_VARIANCES`, with ``where`` and ``mean``."""
    return [*sampling.NAN_VARIANCES(), *_holes(_masked([], mean=True))]


def MASKED_NAN_DEVIATIONS() -> Sequence[Sample]:
    """As `sampling.NAN_DEVIATIONS`, with ``where`` and ``mean``."""
    return [*sampling.NAN_DEVIATIONS(), *_holes(_masked([], mean=True))]


def MASKED_NAN_PRODUCTS() -> Sequence[Sample]:
    """As `sampling.NAN_REDUCTIONS`, with ``where`` and ``initial``."""
    return [*sampling.NAN_REDUCTIONS(), *_holes(_masked([], 1.5))]
