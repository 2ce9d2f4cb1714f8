"""Distances between distributions of ``scipy.spatial.distance``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special
from scipy.spatial import distance

from s2sad.ops.models import model


@model(distance.jensenshannon)
def jensenshannon(p: Any, q: Any, base: Any = None, *, axis: Any = 0, keepdims: Any = False) -> Any:
    a = np.asarray(p) / np.sum(p, axis=axis, keepdims=True)
    b = np.asarray(q) / np.sum(q, axis=axis, keepdims=True)
    middle = (a + b) / 2
    left = np.sum(special.rel_entr(a, middle), axis=axis, keepdims=keepdims)
    whole = left + np.sum(special.rel_entr(b, middle), axis=axis, keepdims=keepdims)
    return np.sqrt((whole if base is None else whole / np.log(base)) / 2)
