"""Piecewise polynomials of ``scipy.interpolate``: values by coefficients and breakpoints, coefficients by data.

Values and coefficients are those of SciPy's objects, which are made for each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate, linalg

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.scipy.callables import pulled, pulled_again, tangent_by_adjoints

Array = Any


def piecewise_polynomial(c: Array, breaks: Array, axis: int = 0, extrapolate: Any = True) -> Any:
    """A piecewise polynomial of SciPy's."""
    c, breaks = in_double(c), np.asarray(breaks, np.float64)
    return interpolate.PPoly.construct_fast(c, breaks, extrapolate, axis)


def in_double(c: Array) -> Array:
    """Coefficients in double precision, in which SciPy keeps them."""
    return np.asarray(c, np.result_type(c, np.float64))


def extrapolation(extrapolate: Any, bc_type: Any = None) -> Any:
    """How a cubic spline goes on outside of its knots."""
    return (
        ("periodic" if isinstance(bc_type, str) and bc_type == "periodic" else True)
        if extrapolate is None
        else extrapolate
    )


# --- values


def zeros_kept(slope: Array, z_bar: Array) -> Array:
    """The product of a slope, which is NaN outside of a domain, and an adjoint, which may be zero there."""
    with np.errstate(invalid="ignore"):
        found = slope * z_bar
    return np.where(np.isnan(found) & (np.asarray(z_bar) == 0.0), 0.0, found) if np.any(np.isnan(found)) else found


def along(product: Array, x: Array, axis: int, spare: int = 0) -> Array:
    """The adjoint of points, of the products for each result: summed over what is there for each point."""
    ndim = np.ndim(x)
    moved = np.moveaxis(product, range(axis, axis + ndim), range(ndim))
    return np.sum(moved, axis=tuple(range(ndim, moved.ndim)))


def _intervals(breaks: Array, x: Array, extrapolate: Any) -> tuple[Array, Array, Array]:
    """For each point the interval that holds it, the distance to its start, and whether it is inside."""
    x = np.asarray(x, float).ravel()
    if isinstance(extrapolate, str):
        x = breaks[0] + (x - breaks[0]) % (breaks[-1] - breaks[0])
        inside = np.ones(x.shape, bool)
    else:
        inside = np.ones(x.shape, bool) if extrapolate else (x >= breaks[0]) & (x <= breaks[-1])
    i = np.clip(np.searchsorted(breaks, x, "right") - 1, 0, len(breaks) - 2)
    return i, x - breaks[i], inside & ~np.isnan(x)


def _falling(power: int, nu: int) -> float:
    """The factor of the derivative of order ``nu`` of a power."""
    found = 1.0
    for i in range(nu):
        found *= power - i
    return found


def piecewise(c: Array, breaks: Array, x: Array, nu: int = 0, axis: int = 0, extrapolate: Any = True) -> Array:
    """``PPoly(c, breaks, extrapolate, axis)(x, nu)``."""
    return piecewise_polynomial(c, breaks, axis, extrapolate)(x, nu)


def piecewise_points_adjoint(
    g: Array, c: Array, breaks: Array, x: Array, nu: int, axis: int, extrapolate: Any
) -> Array:
    """The adjoint of the points in `piecewise`."""
    return along(zeros_kept(piecewise(c, breaks, x, nu + 1, axis, extrapolate), g), x, axis)


def piecewise_coefficients_adjoint(
    g: Array, c: Array, breaks: Array, x: Array, nu: int, axis: int, extrapolate: Any
) -> Array:
    """The adjoint of the coefficients in `piecewise`."""
    breaks = np.asarray(breaks, float)
    i, t, inside = _intervals(breaks, x, extrapolate)
    front = np.moveaxis(g, range(axis, axis + np.ndim(x)), range(np.ndim(x)))
    front = np.where(inside.reshape((-1,) + (1,) * (c.ndim - 2)), front.reshape(t.shape + c.shape[2:]), 0.0)
    c_bar = np.zeros(c.shape, np.result_type(c, g))
    for k in range(c.shape[0] - nu):
        power = c.shape[0] - 1 - k
        weight = _falling(power, nu) * t ** (power - nu)
        np.add.at(c_bar[k], i, weight.reshape((-1,) + (1,) * (c.ndim - 2)) * front)
    return c_bar


def piecewise_breaks_adjoint(
    g: Array, c: Array, breaks: Array, x: Array, nu: int, axis: int, extrapolate: Any
) -> Array:
    """The adjoint of the breakpoints in `piecewise`."""
    breaks = np.asarray(breaks, float)
    x_bar = piecewise_points_adjoint(g, c, breaks, x, nu, axis, extrapolate)
    i, _, inside = _intervals(breaks, x, extrapolate)
    breaks_bar = np.zeros(breaks.shape)
    point_bars = np.ravel(np.where(inside, np.ravel(np.real(x_bar)), 0.0))
    np.add.at(breaks_bar, i, -point_bars)
    if isinstance(extrapolate, str):
        turns = np.floor((np.asarray(x, float).ravel() - breaks[0]) / (breaks[-1] - breaks[0]))
        breaks_bar[0] += np.sum(point_bars * turns)
        breaks_bar[-1] -= np.sum(point_bars * turns)
    return breaks_bar


def piecewise_adjoints(
    z_bar: Array, c: Array, breaks: Array, x: Array, nu: int, axis: int, extrapolate: Any
) -> tuple[Array, Array, Array]:
    """The adjoints of coefficients, breakpoints and points in `piecewise`."""
    return (
        piecewise_coefficients_adjoint(z_bar, c, breaks, x, nu, axis, extrapolate),
        piecewise_breaks_adjoint(z_bar, c, breaks, x, nu, axis, extrapolate),
        piecewise_points_adjoint(z_bar, c, breaks, x, nu, axis, extrapolate),
    )


def piecewise_breaks_tangent(
    moves: Array, values: Array, c: Array, breaks: Array, x: Array, nu: int, axis: int, extrapolate: Any
) -> Any:
    """The tangent of ``values = piecewise(c, breaks, x, ...)`` by the breakpoints."""
    if not np.any(moves):
        return 0.0
    adjoints = lambda g: (piecewise_breaks_adjoint(g, c, breaks, x, nu, axis, extrapolate),)  # noqa: E731
    return tangent_by_adjoints(values, adjoints, (moves,))


def derived_coefficients(c: Array, nu: int = 1) -> Array:
    """The coefficients of the derivative of a piecewise polynomial."""
    return piecewise_polynomial(c, np.arange(c.shape[1] + 1.0)).derivative(nu).c


def derived_adjoint(z_bar: Array, c: Array, nu: int) -> Array:
    """The adjoint of the coefficients in `derived_coefficients`."""
    c_bar = np.zeros(c.shape, z_bar.dtype)
    if nu < c.shape[0]:
        c_bar[: c.shape[0] - nu] = z_bar * derived_coefficients(np.ones_like(c), nu)
    return c_bar


def integrated_coefficients(c: Array, breaks: Array) -> Array:
    """The coefficients of the antiderivative of a piecewise polynomial."""
    return piecewise_polynomial(c, breaks).antiderivative().c


def _integrated(c: Array, breaks: Array) -> Array:
    """As `integrated_coefficients`, written out for two axes and a third."""
    powers = np.arange(c.shape[0], 0, -1).reshape(-1, 1, 1)
    h = np.diff(breaks).reshape(1, -1, 1)
    parts = c / powers
    whole = np.sum(parts * h**powers, axis=0)
    starts = np.concatenate([0.0 * whole[:1], np.cumsum(whole, axis=0)[:-1]])
    return np.concatenate([parts, starts[None]])


def integrated_adjoints(z_bar: Array, c: Array, breaks: Array) -> tuple[Array, Array]:
    """The adjoints of coefficients and breakpoints in `integrated_coefficients`."""
    flat = np.asarray(c, float).reshape(*c.shape[:2], -1)
    given = np.asarray(z_bar, float).reshape(c.shape[0] + 1, c.shape[1], -1)
    c_bar, breaks_bar = pulled(_integrated, (flat, np.asarray(breaks, float)), (0, 1))[1](given)
    return c_bar.reshape(c.shape), breaks_bar


def piecewise_integral(c: Array, breaks: Array, a: Array, b: Array, extrapolate: Any = True) -> Array:
    """``PPoly(c, breaks, extrapolate).integrate(a, b)``."""
    return piecewise_polynomial(c, breaks, 0, extrapolate).integrate(a, b)


def piecewise_integral_adjoints(
    z_bar: Array, c: Array, breaks: Array, a: Array, b: Array, extrapolate: Any
) -> tuple[Array, Array, Array, Array]:
    """The adjoints of coefficients, breakpoints and bounds in `piecewise_integral`."""
    if isinstance(extrapolate, str):
        raise UndefinedDerivativeError(
            "the integral of a periodic spline has no derivative rule", "Take differences of its antiderivative."
        )
    whole, z_bar = integrated_coefficients(c, breaks), np.asarray(z_bar)
    high = piecewise_adjoints(z_bar, whole, breaks, b, 0, 0, extrapolate)
    low = piecewise_adjoints(-z_bar, whole, breaks, a, 0, 0, extrapolate)
    c_bar, breaks_bar = integrated_adjoints(high[0] + low[0], c, breaks)
    return c_bar, breaks_bar + high[1] + low[1], low[2], high[2]


# --- coefficients of cubic splines


def _moved(y: Array, axis: int) -> Array:
    return np.moveaxis(np.asarray(y, float), axis, 0)


def hermite_coefficients(s: Array, x: Array, y: Array) -> Array:
    """The coefficients of the cubics with values ``y`` and derivatives ``s`` at ``x``, one column for each curve."""
    h = np.diff(x).reshape(-1, 1)
    m = np.diff(y, axis=0) / h
    t = (s[:-1] + s[1:] - 2 * m) / h
    return np.stack([t / h, (m - s[:-1]) / h - t, s[:-1], y[:-1]])


def natural_residual(s: Array, x: Array, y: Array, start: Any, end: Any) -> Array:
    """What is zero for the derivatives ``s`` of a cubic spline at its knots.

    ``start`` and ``end`` are the conditions there: ``"not-a-knot"``, ``"periodic"``, or the order of a derivative with
    its value.
    """
    h = np.diff(x).reshape(-1, 1)
    m = np.diff(y, axis=0) / h
    inner = h[1:] * s[:-2] + 2 * (h[:-1] + h[1:]) * s[1:-1] + h[:-1] * s[2:]
    inner = inner - 3 * (h[1:] * m[:-1] + h[:-1] * m[1:])
    if start == "periodic":
        wrapped = h[0] * s[-2] + 2 * (h[0] + h[-1]) * s[0] + h[-1] * s[1] - 3 * (h[0] * m[-1] + h[-1] * m[0])
        return np.concatenate([wrapped.reshape(1, -1), inner, (s[-1] - s[0]).reshape(1, -1)])
    if start == "not-a-knot":
        d = h[0] + h[1]
        low = h[1] * s[0] + d * s[1] - ((h[0] + 2 * d) * h[1] * m[0] + h[0] ** 2 * m[1]) / d
    elif start[0] == 1:
        low = s[0] - start[1]
    else:
        low = 2 * h[0] * s[0] + h[0] * s[1] + 0.5 * start[1] * h[0] ** 2 - 3 * (y[1] - y[0])
    if end == "not-a-knot":
        d = h[-1] + h[-2]
        high = d * s[-2] + h[-2] * s[-1] - (h[-1] ** 2 * m[-2] + (2 * d + h[-1]) * h[-2] * m[-1]) / d
    elif end[0] == 1:
        high = s[-1] - end[1]
    else:
        high = h[-1] * s[-2] + 2 * h[-1] * s[-1] - 0.5 * end[1] * h[-1] ** 2 - 3 * (y[-1] - y[-2])
    return np.concatenate([low.reshape(1, -1), inner, high.reshape(1, -1)])


def _conditions(bc_type: Any, y: Array) -> list[Any]:
    """The conditions at both ends, the values for each curve."""
    both = [bc_type, bc_type] if isinstance(bc_type, str) else list(bc_type)
    named = {"clamped": (1, np.zeros(y[0].size)), "natural": (2, np.zeros(y[0].size))}
    found: list[Any] = []
    for condition in both:
        if isinstance(condition, str):
            found.append(named.get(condition, condition))
        else:
            found.append((condition[0], np.ravel(np.asarray(condition[1], float))))
    return found


def _not_a_knot_of_three(x: Array, y: Array) -> Array:
    """The derivatives of the parabola through three points."""
    h = np.diff(x).reshape(-1, 1)
    m = np.diff(y, axis=0) / h
    bend = (m[1] - m[0]) / (h[0] + h[1])
    return np.stack([m[0] - bend * h[0], m[0] + bend * h[0], m[1] + bend * h[1]])


def _periodic_of_three(x: Array, y: Array) -> Array:
    h = np.diff(x).reshape(-1, 1)
    m = np.diff(y, axis=0) / h
    t = np.sum(m / h, axis=0) / np.sum(1.0 / h, axis=0)
    return np.stack([t, t, t])


def _linear_slopes(x: Array, y: Array) -> Array:
    slope = (y[1] - y[0]) / (x[1] - x[0])
    return np.stack([slope, slope])


def cubic_coefficients(x: Array, y: Array, axis: int = 0, bc_type: Any = "not-a-knot") -> Array:
    """The coefficients of ``interpolate.CubicSpline(x, y, axis, bc_type)``."""
    return interpolate.CubicSpline(x, y, axis, bc_type).c


def cubic_adjoints(c_bar: Array, c: Array, x: Array, y: Array, axis: int, bc_type: Any) -> tuple[Array, Array]:
    """The adjoints of points and values in the coefficients of a cubic spline.

    The derivatives at the knots solve a tridiagonal system, which is solved with its transpose here.
    """
    front = _moved(y, axis)
    x, flat = np.asarray(x, float), front.reshape(len(x), -1)
    start, end = _conditions(bc_type, front)
    last = c[:, -1].reshape(4, -1)
    h = x[-1] - x[-2]
    s = np.concatenate([c[2].reshape(len(x) - 1, -1), (3 * last[0] * h**2 + 2 * last[1] * h + last[2])[None]])
    given = np.asarray(c_bar, float).reshape(4, len(x) - 1, -1)
    s_bar, x_bar, y_bar = pulled(hermite_coefficients, (s, x, flat), (0, 1, 2))[1](given)
    small = len(x) == 2 and start in ("not-a-knot", "periodic") and start == end
    direct = (
        _linear_slopes if small
        else _not_a_knot_of_three if len(x) == 3 and start == end == "not-a-knot"
        else _periodic_of_three if len(x) == 3 and start == "periodic"
        else None
    )  # fmt: skip
    if direct is not None:
        more = pulled(direct, (x, flat), (0, 1))[1](s_bar)
    else:
        if len(x) == 2 and (isinstance(start, str) or isinstance(end, str)):
            raise UndefinedDerivativeError(
                "a cubic spline of two points with these conditions has no derivative rule", "Give three points."
            )
        weights = _solve_transposed(x, start, end, s_bar)
        more = pulled(natural_residual, (s, x, flat, start, end), (1, 2))[1](-weights)
    y_bar = np.moveaxis((y_bar + more[1]).reshape(front.shape), 0, axis)
    return x_bar + more[0], y_bar


def _solve_transposed(x: Array, start: Any, end: Any, s_bar: Array) -> Array:
    n, h = len(x), np.diff(x)
    low, middle, high = np.zeros(n), np.zeros(n), np.zeros(n)  # what multiplies s[i - 1], s[i] and s[i + 1] in row i
    low[1:-1], middle[1:-1], high[1:-1] = h[1:], 2 * (h[:-1] + h[1:]), h[:-1]
    if isinstance(start, str) and start == "periodic":
        whole = np.diag(middle) + np.diag(low[1:], -1) + np.diag(high[:-1], 1)
        whole[0, [-2, 0, 1]] = h[0], 2 * (h[0] + h[-1]), h[-1]
        whole[-1] = 0.0
        whole[-1, [0, -1]] = -1.0, 1.0
        return np.linalg.solve(whole.T, s_bar)
    middle[0], high[0] = (
        (h[1], h[0] + h[1]) if isinstance(start, str) else (1.0, 0.0) if start[0] == 1 else (2 * h[0], h[0])
    )
    middle[-1], low[-1] = (
        (h[-2], h[-1] + h[-2]) if isinstance(end, str) else (1.0, 0.0) if end[0] == 1 else (2 * h[-1], h[-1])
    )
    bands = np.zeros((3, n))
    bands[0, 1:], bands[1], bands[2, :-1] = low[1:], middle, high[:-1]
    return linalg.solve_banded((1, 1), bands, s_bar)


# --- coefficients of interpolants that keep shapes


def pchip_slopes(x: Array, y: Array) -> Array:
    """The derivatives of ``interpolate.PchipInterpolator`` at its knots, one column for each curve."""
    h = np.diff(x).reshape(-1, 1)
    m = np.diff(y, axis=0) / h
    if len(x) == 2:
        return np.concatenate([m, m])
    turning = (np.sign(m[1:]) != np.sign(m[:-1])) | (m[1:] == 0) | (m[:-1] == 0)
    before, after = np.where(turning, 1.0, m[:-1]), np.where(turning, 1.0, m[1:])
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    inner = np.where(turning, 0.0, (w1 + w2) / (w1 / before + w2 / after))
    return np.concatenate([_end(h[:1], h[1:2], m[:1], m[1:2]), inner, _end(h[-1:], h[-2:-1], m[-1:], m[-2:-1])])


def _end(h0: Array, h1: Array, m0: Array, m1: Array) -> Array:
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    flat = np.sign(d) != np.sign(m0)
    steep = (np.sign(m0) != np.sign(m1)) & (np.abs(d) > 3.0 * np.abs(m0))
    return np.where(flat, 0.0, np.where(steep, 3.0 * m0, d))


def akima_slopes(x: Array, y: Array, modified: bool) -> Array:
    """The derivatives of ``interpolate.Akima1DInterpolator`` at its knots, one column for each curve."""
    inner = np.diff(y, axis=0) / np.diff(x).reshape(-1, 1)
    if len(x) == 2:
        return np.concatenate([inner, inner])
    first = 2.0 * inner[:1] - inner[1:2]
    last = 2.0 * inner[-1:] - inner[-2:-1]
    m = np.concatenate([2.0 * first - inner[:1], first, inner, last, 2.0 * last - inner[-1:]])
    f = np.abs(m[1:] - m[:-1])
    if modified:
        f = f + 0.5 * np.abs(m[1:] + m[:-1])
    f1, f2 = f[2:], f[:-2]
    whole = f1 + f2
    known = whole > 1e-9 * np.max(whole)
    share = np.where(known, f2 / np.where(known, whole, 1.0), 0.0)
    return np.where(known, m[1:-2] + share * (m[2:-1] - m[1:-2]), 0.5 * (m[3:] + m[:-3]))


def _pchip(x: Array, y: Array) -> Array:
    return hermite_coefficients(pchip_slopes(x, y), x, y)


def _akima(x: Array, y: Array) -> Array:
    return hermite_coefficients(akima_slopes(x, y, False), x, y)


def _makima(x: Array, y: Array) -> Array:
    return hermite_coefficients(akima_slopes(x, y, True), x, y)


_LOCAL = {"pchip": _pchip, "akima": _akima, "makima": _makima}


def local_coefficients(x: Array, y: Array, axis: int, method: str) -> Array:
    """The coefficients of an interpolant whose derivatives at its knots are a matter of the points near."""
    if method == "pchip":
        return interpolate.PchipInterpolator(x, y, axis).c
    return interpolate.Akima1DInterpolator(x, y, axis, method=method).c


def local_adjoints(c_bar: Array, x: Array, y: Array, axis: int, method: str) -> tuple[Array, Array]:
    """The adjoints of points and values in `local_coefficients`."""
    front = _moved(y, axis)
    x = np.asarray(x, float)
    given = np.asarray(c_bar, float).reshape(4, len(x) - 1, -1)
    x_bar, y_bar = pulled(_LOCAL[method], (x, front.reshape(len(x), -1)), (0, 1))[1](given)
    return x_bar, np.moveaxis(y_bar.reshape(front.shape), 0, axis)


def local_again(
    c_bar: Array, x_dot: Any, y_dot: Any, x: Array, y: Array, axis: int, method: str
) -> tuple[Array, Array]:
    """The adjoints of points and values in the tangent of `local_coefficients`, of the adjoint of that."""
    front, x = _moved(y, axis), np.asarray(x, float)
    dots = x_dot + np.zeros(len(x)), _moved(y_dot + np.zeros(np.shape(y)), axis).reshape(len(x), -1)
    given = np.asarray(c_bar, float).reshape(4, len(x) - 1, -1)
    x_bar, y_bar = pulled_again(_LOCAL[method], (x, front.reshape(len(x), -1)), dots, (0, 1), given)
    return x_bar, np.moveaxis(y_bar.reshape(front.shape), 0, axis)


def slopes_given(x: Array, y: Array, dydx: Array, axis: int = 0) -> Array:
    """The coefficients of ``interpolate.CubicHermiteSpline(x, y, dydx, axis)``."""
    return interpolate.CubicHermiteSpline(x, y, dydx, axis).c


def slopes_given_adjoints(c_bar: Array, x: Array, y: Array, dydx: Array, axis: int) -> tuple[Array, Array, Array]:
    """The adjoints of points, values and derivatives in `slopes_given`."""
    front = _moved(y, axis)
    x = np.asarray(x, float)
    parts = [part.reshape(len(x), -1) for part in (_moved(dydx, axis), front)]
    given = np.asarray(c_bar, float).reshape(4, len(x) - 1, -1)
    s_bar, x_bar, y_bar = pulled(hermite_coefficients, (parts[0], x, parts[1]), (0, 1, 2))[1](given)
    return x_bar, *(np.moveaxis(g.reshape(front.shape), 0, axis) for g in (y_bar, s_bar))


def integrated_tangent(z: Array, dots: Any, c: Any, breaks: Any) -> Array:
    """The tangent of `integrated_coefficients`, of those of the arguments that have adjoints."""
    return tangent_by_adjoints(z, lambda g: integrated_adjoints(g, c, breaks), dots)


def piecewise_integral_tangent(z: Array, dots: Any, c: Any, breaks: Any, a: Any, b: Any, extrapolate: Any) -> Array:
    """The tangent of `piecewise_integral`, of those of the arguments that have adjoints."""
    return tangent_by_adjoints(z, lambda g: piecewise_integral_adjoints(g, c, breaks, a, b, extrapolate), dots)


def cubic_places_adjoint(g: Array, c: Array, x: Array, y: Array, axis: int, bc_type: Any) -> Array:
    """The adjoint of the places in `cubic_coefficients`."""
    return cubic_adjoints(g, c, x, y, axis, bc_type)[0]


def cubic_values_adjoint(g: Array, x: Array, y: Array, axis: int, bc_type: Any) -> Array:
    """The adjoint of the values in `cubic_coefficients`, which are linear in these, beside given slopes."""
    return cubic_adjoints(g, cubic_coefficients(x, y, axis, bc_type), x, y, axis, bc_type)[1]


def cubic_places_tangent(x_dot: Array, z: Array, x: Array, y: Array, axis: int, bc_type: Any) -> Any:
    """The tangent of `cubic_coefficients` by the places."""
    if not np.any(x_dot):
        return 0.0
    return tangent_by_adjoints(z, lambda g: (cubic_places_adjoint(g, z, x, y, axis, bc_type),), (x_dot,))


def cubic_values_tangent(y_dot: Array, x: Array, y: Array, axis: int, bc_type: Any) -> Array:
    """The tangent of `cubic_coefficients` by the values: the coefficients for their tangents, without given slopes."""
    y_dot = np.broadcast_to(y_dot, np.shape(y))
    if isinstance(bc_type, str) and bc_type == "periodic":
        c = cubic_coefficients(x, y, axis, bc_type)
        return tangent_by_adjoints(c, lambda g: (cubic_values_adjoint(g, x, y, axis, bc_type),), (y_dot,))
    if not isinstance(bc_type, str):
        bc_type = tuple([c if isinstance(c, str) else (c[0], np.zeros(np.shape(c[1]))) for c in bc_type])
    return cubic_coefficients(x, y_dot, axis, bc_type)


def local_tangent(z: Array, dots: Any, x: Any, y: Any, axis: Any, method: Any) -> Array:
    """The tangent of `local_coefficients`, of those of the arguments that have adjoints."""
    return tangent_by_adjoints(z, lambda g: local_adjoints(g, x, y, axis, method), dots)


def slopes_given_tangent(z: Array, dots: Any, x: Any, y: Any, dydx: Any, axis: Any) -> Array:
    """The tangent of `slopes_given`, of those of the arguments that have adjoints."""
    return tangent_by_adjoints(z, lambda g: slopes_given_adjoints(g, x, y, dydx, axis), dots)
