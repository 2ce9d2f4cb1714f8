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
        places = np.ascontiguousarray(y, float)
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


def by_basis(basis: Any, values: Any, at: Any, shape: Any) -> Any:
    """Polynomials of values of a shape at points, by others and the coefficients along the first axis."""
    return np.reshape(basis @ np.reshape(values, (np.shape(basis)[1], -1)), np.shape(at) + shape)


class ThroughAll:
    """The polynomial through all points as they are now."""

    def __init__(self, xi: Any, yi: Any) -> None:
        self.places = distinct_places(np.asarray(xi)) * 1.0
        self.values = np.asarray(yi) * 1.0

    def __call__(self, x: Any) -> Any:
        at = np.asarray(x) * 1.0
        return by_basis(lagrange_basis(self.places, np.ravel(at)), self.values, at, np.shape(self.values)[1:])


@model(interpolate.KroghInterpolator)
class KroghInterpolator:
    """In Newton's form: coefficients of the points as they are now, at places that may change."""

    def __init__(self, xi: Any, yi: Any) -> None:
        self.xi = np.asarray(xi)
        places = distinct_places(self.xi) * 1.0
        count = len(places)
        apart = np.expand_dims(places, 1) - places + np.eye(count)
        self.values = np.asarray(yi) * 1.0
        self.coefficients = np.tril(1.0 / np.transpose(np.cumprod(apart, axis=1))) @ np.reshape(
            self.values, (count, -1)
        )

    def __call__(self, x: Any) -> Any:
        at = np.asarray(x) * 1.0
        apart = np.expand_dims(np.ravel(at), 1) - self.xi[:-1]
        basis = np.cumprod(np.concatenate((np.ones((len(apart), 1)), apart), axis=1), axis=1)
        return by_basis(basis, self.coefficients, at, np.shape(self.values)[1:])


@model(interpolate.BarycentricInterpolator)
class BarycentricInterpolator:
    """That holds the arrays that it is given, of which weights are computed at once."""

    def __init__(self, xi: Any, yi: Any) -> None:
        self.xi = np.ascontiguousarray(xi, float)
        self.values = np.asarray(yi)
        places = distinct_places(self.xi) * 1.0
        self.below = np.prod(np.where(np.eye(len(places)) > 0.5, 1.0, np.expand_dims(places, 1) - places), axis=-1)

    def __call__(self, x: Any) -> Any:
        at = np.asarray(x) * 1.0
        above = np.where(np.eye(len(self.xi)) > 0.5, 1.0, np.expand_dims(np.ravel(at), (1, 2)) - self.xi)
        basis = np.prod(above, axis=-1) / self.below
        return by_basis(basis / np.sum(basis, axis=1, keepdims=True), self.values, at, np.shape(self.values)[1:])


@model(interpolate.lagrange)
def lagrange(x: Any, w: Any) -> Any:
    return ThroughAll(x, w)


@model(interpolate.barycentric_interpolate)
def barycentric_interpolate(xi: Any, yi: Any, x: Any) -> Any:
    return ThroughAll(xi, yi)(x)


@model(interpolate.krogh_interpolate)
def krogh_interpolate(xi: Any, yi: Any, x: Any) -> Any:
    return ThroughAll(xi, yi)(x)
