"""Statistics of ``scipy.stats`` of numbers on a circle."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from s2sad.ops.models import model
from s2sad.runtime.undefined import require_rule

_TURN = 2 * np.pi


def moments(samples: Any, high: Any, low: Any, axis: Any, keepdims: Any) -> Any:
    """The means of the sines and cosines of numbers on a circle."""
    angles = (np.asarray(samples) - low) * (_TURN / (high - low))
    sines = np.mean(np.sin(angles), axis=axis, keepdims=keepdims)
    return sines, np.mean(np.cos(angles), axis=axis, keepdims=keepdims)


@model(stats.circmean)
def circmean(samples: Any, high: Any = _TURN, low: Any = 0, axis: Any = None, *, keepdims: Any = False) -> Any:
    sines, cosines = moments(samples, high, low, axis, keepdims)
    angle = np.arctan2(sines, cosines)
    return np.where(angle < 0, angle + _TURN, angle)[()] * ((high - low) / _TURN) + low


@model(stats.circvar)
def circvar(samples: Any, high: Any = _TURN, low: Any = 0, axis: Any = None, *, keepdims: Any = False) -> Any:
    sines, cosines = moments(samples, high, low, axis, keepdims)
    return 1.0 - np.hypot(sines, cosines)


@model(stats.circstd)
def circstd(
    samples: Any, high: Any = _TURN, low: Any = 0, axis: Any = None, *, normalize: Any = False, keepdims: Any = False
) -> Any:
    sines, cosines = moments(samples, high, low, axis, keepdims)
    found = np.sqrt(-2 * np.log(np.hypot(sines, cosines)))
    return found if normalize else found * ((high - low) / _TURN)


@model(stats.boxcox)
def boxcox(x: Any, lmbda: Any = None) -> Any:
    require_rule(lmbda is not None, "boxcox without lmbda, which then is fitted, has no rule", "Give it lmbda.")
    return special.boxcox(np.asarray(x), lmbda)


@model(stats.boxcox_llf)
def boxcox_llf(lmb: Any, data: Any, *, axis: Any = 0, keepdims: Any = False) -> Any:
    values = np.asarray(data)
    spread = np.var(stats.boxcox(values, lmb), axis=axis, keepdims=keepdims)
    count = np.shape(values)[axis]
    return (lmb - 1) * np.sum(np.log(values), axis=axis, keepdims=keepdims) - count / 2 * np.log(spread)
