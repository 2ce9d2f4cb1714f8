"""Models of ``cdist`` and ``pdist`` with a function of the program's as metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import distance

from s2sad.ops.models import model
from s2sad.runtime.items import is_function


@model(distance.cdist, given="structured")
def cdist(XA: Any, XB: Any, metric: Any = "euclidean") -> Any:
    if not is_function(metric):
        return distance.cdist(np.asarray(XA), np.asarray(XB), metric)
    first, second = np.asarray(XA), np.asarray(XB)
    found = np.zeros((len(first), len(second)))
    for i in range(len(first)):
        for j in range(len(second)):
            found[i, j] = metric(first[i], second[j])
    return found


@model(distance.pdist, given="structured")
def pdist(X: Any, metric: Any = "euclidean") -> Any:
    if not is_function(metric):
        return distance.pdist(np.asarray(X), metric)
    points, k = np.asarray(X), 0
    found = np.zeros(len(points) * (len(points) - 1) // 2)
    for i in range(len(points)):
        for j in range(i + 1, len(points)):
            found[k] = metric(points[i], points[j])
            k += 1
    return found
