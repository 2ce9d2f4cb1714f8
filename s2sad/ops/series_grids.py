"""Models of functions of ``numpy.polynomial``: series in three variables and on grids, all their terms, and weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.ops.models import model
from s2sad.runtime.series import KINDS


def _declare(stem: str, kind: str) -> None:
    module = getattr(np.polynomial, kind)
    value, terms = getattr(module, f"{stem}val"), getattr(module, f"{stem}vander")

    @model(getattr(module, f"{stem}val3d"))
    def val3d(x: Any, y: Any, z: Any, c: Any) -> Any:
        x, y, z = np.asarray(x), np.asarray(y), np.asarray(z)
        if not np.shape(x) == np.shape(y) == np.shape(z):
            raise ValueError("x, y, z are incompatible")
        return value(z, value(y, value(x, c), tensor=False), tensor=False)

    @model(getattr(module, f"{stem}grid3d"))
    def grid3d(x: Any, y: Any, z: Any, c: Any) -> Any:
        return value(z, value(y, value(x, c)))

    @model(getattr(module, f"{stem}vander2d"))
    def vander2d(x: Any, y: Any, deg: Any) -> Any:
        first, second = terms(x, deg[0]), terms(y, deg[1])
        found = first[..., :, np.newaxis] * second[..., np.newaxis, :]
        return np.reshape(found, (*np.shape(first)[:-1], -1))

    @model(getattr(module, f"{stem}vander3d"))
    def vander3d(x: Any, y: Any, z: Any, deg: Any) -> Any:
        first, second, third = terms(x, deg[0]), terms(y, deg[1]), terms(z, deg[2])
        pairs = first[..., :, np.newaxis] * second[..., np.newaxis, :]
        found = pairs[..., np.newaxis] * third[..., np.newaxis, np.newaxis, :]
        return np.reshape(found, (*np.shape(first)[:-1], -1))


for _stem, _kind in KINDS.items():
    _declare(_stem, _kind)


@model(np.polynomial.polynomial.polyvalfromroots)
def polyvalfromroots(x: Any, r: Any, tensor: Any = True) -> Any:
    x, r = np.asarray(x), np.atleast_1d(r) * 1.0
    if tensor:
        r = np.reshape(r, np.shape(r) + (1,) * np.ndim(x))
    elif np.ndim(x) >= np.ndim(r):
        raise ValueError("x.ndim must be < r.ndim when tensor == False")
    return np.prod(x - r, axis=0)


@model(np.polynomial.chebyshev.chebweight)
def chebweight(x: Any) -> Any:
    return 1.0 / (np.sqrt(1.0 + x) * np.sqrt(1.0 - x))


@model(np.polynomial.legendre.legweight)
def legweight(x: Any) -> Any:
    return x * 0.0 + 1.0


@model(np.polynomial.hermite.hermweight)
def hermweight(x: Any) -> Any:
    return np.exp(-(x**2))


@model(np.polynomial.hermite_e.hermeweight)
def hermeweight(x: Any) -> Any:
    return np.exp(-0.5 * x**2)


@model(np.polynomial.laguerre.lagweight)
def lagweight(x: Any) -> Any:
    return np.exp(-x)
