"""Functions of ``statistics``: they go through whatever they are given, and compute with the numbers in it."""

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy as np

from s2sad.ops.models import model


@model(statistics.mean)
def mean(data: Any) -> Any:
    values = list(data)
    return sum(values) / len(values)


@model(statistics.fmean)
def fmean(data: Any, weights: Any = None) -> Any:
    values = list(data)
    if weights is None:
        return math.fsum(values) / len(values)
    return math.fsum([v * w for v, w in zip(values, weights, strict=True)]) / math.fsum(weights)


@model(statistics.geometric_mean)
def geometric_mean(data: Any) -> Any:
    return np.exp(np.mean(np.log(list(data))))


@model(statistics.harmonic_mean)
def harmonic_mean(data: Any, weights: Any = None) -> Any:
    values = list(data)
    if weights is None:
        return len(values) / sum([1 / v for v in values])
    return sum(weights) / sum([w / v for v, w in zip(values, weights, strict=True)])


@model(statistics.median)
def median(data: Any) -> Any:
    return np.median(list(data))


def _squares(values: Any, centre: Any) -> Any:
    around = sum(values) / len(values) if centre is None else centre
    return sum([(v - around) ** 2 for v in values])


@model(statistics.variance)
def variance(data: Any, xbar: Any = None) -> Any:
    values = list(data)
    return _squares(values, xbar) / (len(values) - 1)


@model(statistics.pvariance)
def pvariance(data: Any, mu: Any = None) -> Any:
    values = list(data)
    return _squares(values, mu) / len(values)


@model(statistics.stdev)
def stdev(data: Any, xbar: Any = None) -> Any:
    values = list(data)
    return (_squares(values, xbar) / (len(values) - 1)) ** 0.5


@model(statistics.pstdev)
def pstdev(data: Any, mu: Any = None) -> Any:
    values = list(data)
    return (_squares(values, mu) / len(values)) ** 0.5


@model(statistics.covariance)
def covariance(x: Any, y: Any, /) -> Any:
    a, b = sum(x) / len(x), sum(y) / len(y)
    return sum([(v - a) * (w - b) for v, w in zip(x, y, strict=True)]) / (len(x) - 1)


@model(statistics.correlation)
def correlation(x: Any, y: Any, /) -> Any:
    a, b = sum(x) / len(x), sum(y) / len(y)
    both = sum([(v - a) * (w - b) for v, w in zip(x, y, strict=True)])
    return both / (sum([(v - a) ** 2 for v in x]) * sum([(w - b) ** 2 for w in y])) ** 0.5
