"""Intervals of univariate distributions of ``scipy.stats``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from s2sad.ops.models import model
from s2sad.ops.scipy.distributions import CONTINUOUS


def _declare(name: str) -> None:
    distribution = getattr(stats, name)

    @model(distribution.interval)
    def interval(confidence: Any, *args: Any, **kwds: Any) -> Any:
        low, high = (1.0 - np.asarray(confidence)) / 2, (1.0 + np.asarray(confidence)) / 2
        return distribution.ppf(low, *args, **kwds), distribution.ppf(high, *args, **kwds)


for _name in CONTINUOUS:
    _declare(_name)
