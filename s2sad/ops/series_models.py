"""Models of the classes of ``numpy.polynomial``: the coefficients of a series, and the map of its domain."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial
from numpy.polynomial import chebyshev as cheb
from numpy.polynomial import hermite as herm
from numpy.polynomial import hermite_e as herme
from numpy.polynomial import laguerre as lag
from numpy.polynomial import legendre as leg
from numpy.polynomial import polynomial as poly

from s2sad.ops.models import class_method_model, model


class Series:
    """A series, with the functions of its kind; its points ``x`` are ``offset + scale * x`` in its window.

    Domain and window are arrays of its own, or None for those of all series of its kind.
    """

    def __init__(self, coef: Any, domain: Any, window: Any, usual: Any, functions: Any, is_fitted: Any = False) -> None:
        self.coef = np.atleast_1d(coef) * 1.0
        self.functions = functions
        self.usual = usual
        self.from_points = None if domain is None else np.array(domain) * 1.0
        self.to_window = None if window is None else np.array(window) * 1.0

    @property
    def domain(self) -> Any:
        return np.array(self.usual) if self.from_points is None else self.from_points

    @property
    def window(self) -> Any:
        return np.array(self.usual) if self.to_window is None else self.to_window

    @property
    def offset(self) -> Any:
        if self.from_points is None and self.to_window is None:
            return 0.0
        old, new = self.ends()
        return (old[1] * new[0] - old[0] * new[1]) / (old[1] - old[0])

    @property
    def scale(self) -> Any:
        if self.from_points is None and self.to_window is None:
            return 1.0
        old, new = self.ends()
        return (new[1] - new[0]) / (old[1] - old[0])

    def ends(self) -> Any:
        """The ends of domain and window."""
        old = self.usual if self.from_points is None else self.from_points
        return old, self.usual if self.to_window is None else self.to_window

    def alike(self, coef: Any) -> Any:
        return Series(coef, self.from_points, self.to_window, self.usual, self.functions)

    def __call__(self, arg: Any) -> Any:
        return self.functions[0](self.offset + self.scale * np.asanyarray(arg), self.coef)

    def deriv(self, m: Any = 1) -> Any:
        return self.alike(self.functions[1](self.coef, m, self.scale))

    def integ(self, m: Any = 1, k: Any = (), lbnd: Any = None) -> Any:
        return self.alike(self.functions[2](self.coef, m, k, self.start(lbnd), 1.0 / self.scale))

    def start(self, lbnd: Any) -> Any:
        return 0 if lbnd is None else self.offset + self.scale * lbnd

    def roots(self) -> Any:
        return (self.functions[3](self.coef) - self.offset) / self.scale

    def degree(self) -> Any:
        return len(self.coef) - 1

    def copy(self) -> Any:
        return self.alike(np.array(self.coef))

    def __neg__(self) -> Any:
        return self.alike(-self.coef)

    def __add__(self, other: Any) -> Any:
        return self.alike(self.functions[4](self.coef, coefficients(other)))

    def __radd__(self, other: Any) -> Any:
        return self.alike(self.functions[4](coefficients(other), self.coef))

    def __sub__(self, other: Any) -> Any:
        return self.alike(self.functions[5](self.coef, coefficients(other)))

    def __rsub__(self, other: Any) -> Any:
        return self.alike(self.functions[5](coefficients(other), self.coef))

    def __mul__(self, other: Any) -> Any:
        return self.alike(self.functions[6](self.coef, coefficients(other)))

    def __rmul__(self, other: Any) -> Any:
        return self.alike(self.functions[6](coefficients(other), self.coef))

    def __truediv__(self, other: Any) -> Any:
        return self.alike(self.coef / other)

    def __pow__(self, other: Any) -> Any:
        return self.alike(self.functions[7](self.coef, other))


def coefficients(other: Any) -> Any:
    """The coefficients of another series, or of a number."""
    return other.coef if isinstance(other, Series) else other


@model(Polynomial, given="anything")
def power(coef: Any, domain: Any = None, window: Any = None) -> Any:
    functions = (
        poly.polyval, poly.polyder, poly.polyint, poly.polyroots, poly.polyadd, poly.polysub, poly.polymul,
        poly.polypow,
    )  # fmt: skip
    return Series(coef, domain, window, (-1.0, 1.0), functions)


@model(Chebyshev, given="anything")
def chebyshev(coef: Any, domain: Any = None, window: Any = None) -> Any:
    functions = (
        cheb.chebval, cheb.chebder, cheb.chebint, cheb.chebroots, cheb.chebadd, cheb.chebsub, cheb.chebmul,
        cheb.chebpow,
    )  # fmt: skip
    return Series(coef, domain, window, (-1.0, 1.0), functions)


@model(Legendre, given="anything")
def legendre(coef: Any, domain: Any = None, window: Any = None) -> Any:
    functions = (
        leg.legval, leg.legder, leg.legint, leg.legroots, leg.legadd, leg.legsub, leg.legmul, leg.legpow,
    )  # fmt: skip
    return Series(coef, domain, window, (-1.0, 1.0), functions)


@model(Hermite, given="anything")
def hermite(coef: Any, domain: Any = None, window: Any = None) -> Any:
    functions = (
        herm.hermval, herm.hermder, herm.hermint, herm.hermroots, herm.hermadd, herm.hermsub, herm.hermmul,
        herm.hermpow,
    )  # fmt: skip
    return Series(coef, domain, window, (-1.0, 1.0), functions)


@model(HermiteE, given="anything")
def hermite_e(coef: Any, domain: Any = None, window: Any = None) -> Any:
    functions = (
        herme.hermeval, herme.hermeder, herme.hermeint, herme.hermeroots, herme.hermeadd, herme.hermesub,
        herme.hermemul, herme.hermepow,
    )  # fmt: skip
    return Series(coef, domain, window, (-1.0, 1.0), functions)


@model(Laguerre, given="anything")
def laguerre(coef: Any, domain: Any = None, window: Any = None) -> Any:
    functions = (
        lag.lagval, lag.lagder, lag.lagint, lag.lagroots, lag.lagadd, lag.lagsub, lag.lagmul, lag.lagpow,
    )  # fmt: skip
    return Series(coef, domain, window, (0.0, 1.0), functions)


# --- fits


class Fit(Series):
    """A series that was fitted to data, on which the map of its domain may depend as well."""

    def alike(self, coef: Any) -> Any:
        return Fit(coef, self.from_points, self.to_window, self.usual, self.functions)

    def deriv(self, m: Any = 1) -> Any:
        return self.alike(self.functions[1](self.coef, m) * self.scale**m)

    def integ(self, m: Any = 1, k: Any = (), lbnd: Any = None) -> Any:
        if m == 1:
            return self.alike(self.functions[2](self.coef / self.scale, 1, k, self.start(lbnd)))
        return self.alike(self.functions[2](self.coef, m, k, self.start(lbnd), 1.0 / self.scale))


def fitted(fitting: Any, x: Any, y: Any, deg: Any, domain: Any, w: Any, window: Any, usual: Any, functions: Any) -> Any:
    """The series of a degree that is closest to data, with places that are mapped from a domain to a window."""
    places = np.asarray(x) * 1.0
    old = (np.min(places), np.max(places)) if domain is None else domain
    new = usual if window is None else window
    offset = (old[1] * new[0] - old[0] * new[1]) / (old[1] - old[0])
    scale = (new[1] - new[0]) / (old[1] - old[0])
    return Fit(fitting(offset + scale * places, y, deg, w=w), old, new, usual, functions)


@class_method_model(Polynomial, "fit")
def fit_power(x: Any, y: Any, deg: Any, domain: Any = None, *, w: Any = None, window: Any = None) -> Any:
    functions = (
        poly.polyval, poly.polyder, poly.polyint, poly.polyroots, poly.polyadd,
        poly.polysub, poly.polymul, poly.polypow,
    )  # fmt: skip
    return fitted(poly.polyfit, x, y, deg, domain, w, window, (-1.0, 1.0), functions)


@class_method_model(Chebyshev, "fit")
def fit_chebyshev(x: Any, y: Any, deg: Any, domain: Any = None, *, w: Any = None, window: Any = None) -> Any:
    functions = (
        cheb.chebval, cheb.chebder, cheb.chebint, cheb.chebroots, cheb.chebadd,
        cheb.chebsub, cheb.chebmul, cheb.chebpow,
    )  # fmt: skip
    return fitted(cheb.chebfit, x, y, deg, domain, w, window, (-1.0, 1.0), functions)


@class_method_model(Legendre, "fit")
def fit_legendre(x: Any, y: Any, deg: Any, domain: Any = None, *, w: Any = None, window: Any = None) -> Any:
    functions = (
        leg.legval, leg.legder, leg.legint, leg.legroots, leg.legadd,
        leg.legsub, leg.legmul, leg.legpow,
    )  # fmt: skip
    return fitted(leg.legfit, x, y, deg, domain, w, window, (-1.0, 1.0), functions)


@class_method_model(Hermite, "fit")
def fit_hermite(x: Any, y: Any, deg: Any, domain: Any = None, *, w: Any = None, window: Any = None) -> Any:
    functions = (
        herm.hermval, herm.hermder, herm.hermint, herm.hermroots, herm.hermadd,
        herm.hermsub, herm.hermmul, herm.hermpow,
    )  # fmt: skip
    return fitted(herm.hermfit, x, y, deg, domain, w, window, (-1.0, 1.0), functions)


@class_method_model(HermiteE, "fit")
def fit_hermite_e(x: Any, y: Any, deg: Any, domain: Any = None, *, w: Any = None, window: Any = None) -> Any:
    functions = (
        herme.hermeval, herme.hermeder, herme.hermeint, herme.hermeroots, herme.hermeadd,
        herme.hermesub, herme.hermemul, herme.hermepow,
    )  # fmt: skip
    return fitted(herme.hermefit, x, y, deg, domain, w, window, (-1.0, 1.0), functions)


@class_method_model(Laguerre, "fit")
def fit_laguerre(x: Any, y: Any, deg: Any, domain: Any = None, *, w: Any = None, window: Any = None) -> Any:
    functions = (
        lag.lagval, lag.lagder, lag.lagint, lag.lagroots, lag.lagadd,
        lag.lagsub, lag.lagmul, lag.lagpow,
    )  # fmt: skip
    return fitted(lag.lagfit, x, y, deg, domain, w, window, (0.0, 1.0), functions)
