"""Interpolants of radial basis functions, and polynomials through all points, whose data carry derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from s2sad.ops.models import model
from s2sad.runtime.scipy.kernels import distinct_places, radial, rbf_frame, rbf_powers


def squares(a: Any, b: Any) -> Any:
    """The squares of the distances between two sets of points."""
    return np.sum((np.expand_dims(a, 1) - np.expand_dims(b, 0)) ** 2, axis=-1)


def monomials(x: Any, powers: Any) -> Any:
    """The monomials of some exponents at points."""
    return np.prod(np.where(powers > 0, np.expand_dims(x, 1) ** np.maximum(powers, 1), 1.0), axis=-1)


@model(interpolate.RBFInterpolator)
class RBFInterpolator:
    def __init__(
        self,
        y: Any,
        d: Any,
        neighbors: Any = None,
        smoothing: Any = 0.0,
        kernel: Any = "thin_plate_spline",
        epsilon: Any = None,
        degree: Any = None,
    ) -> None:
        places = np.asarray(y) * 1.0
        values = np.asarray(d) * 1.0
        self.powers = rbf_powers(places, kernel, epsilon, degree, neighbors)
        self.places = places
        self.kernel = kernel
        self.scale = 1.0 if epsilon is None else epsilon**2
        self.shift, self.extent = rbf_frame(places)
        self.shape = np.shape(values)[1:]
        count = len(places)
        k = radial(self.scale * squares(places, places), kernel) + np.diag(np.zeros(count) + smoothing)
        p = monomials((places - self.shift) / self.extent, self.powers)
        lhs = np.block([[k, p], [np.transpose(p), np.zeros((len(self.powers), len(self.powers)))]])
        rows = np.reshape(values, (count, -1))
        rhs = np.concatenate((rows, np.zeros((len(self.powers), np.shape(rows)[1]))))
        self.coefficients = np.linalg.solve(lhs, rhs)

    def __call__(self, x: Any) -> Any:
        at = np.asarray(x) * 1.0
        k = radial(self.scale * squares(at, self.places), self.kernel)
        p = monomials((at - self.shift) / self.extent, self.powers)
        return np.reshape(np.concatenate((k, p), axis=1) @ self.coefficients, np.shape(at)[:1] + self.shape)


# --- polynomials


def lagrange_basis(xi: Any, x: Any) -> Any:
    """The polynomials that are 1 at one of some places and 0 at the others, at points in a row."""
    same = np.eye(len(xi)) > 0.5
    above = np.where(same, 1.0, np.expand_dims(x, (1, 2)) - xi)
    below = np.where(same, 1.0, np.expand_dims(xi, 1) - xi)
    return np.prod(above / below, axis=-1)


def through_all(xi: Any, yi: Any, x: Any) -> Any:
    """The polynomial through all points, whose values stand along the first axis."""
    places, values, at = distinct_places(np.asarray(xi)) * 1.0, np.asarray(yi) * 1.0, np.asarray(x) * 1.0
    rows = lagrange_basis(places, np.ravel(at)) @ np.reshape(values, (len(places), -1))
    return np.reshape(rows, np.shape(at) + np.shape(values)[1:])


class ThroughAll:
    def __init__(self, xi: Any, yi: Any) -> None:
        self.xi = xi
        self.yi = yi

    def __call__(self, x: Any) -> Any:
        return through_all(self.xi, self.yi, x)


@model(interpolate.BarycentricInterpolator)
class BarycentricInterpolator(ThroughAll):
    pass


@model(interpolate.KroghInterpolator)
class KroghInterpolator(ThroughAll):
    pass


@model(interpolate.lagrange)
def lagrange(x: Any, w: Any) -> Any:
    return ThroughAll(x, w)


@model(interpolate.barycentric_interpolate)
def barycentric_interpolate(xi: Any, yi: Any, x: Any) -> Any:
    return through_all(xi, yi, x)


@model(interpolate.krogh_interpolate)
def krogh_interpolate(xi: Any, yi: Any, x: Any) -> Any:
    return through_all(xi, yi, x)
