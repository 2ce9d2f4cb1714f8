"""Interpolants of ``scipy.interpolate`` in programs of a user's: gradients against differences."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import interpolate
from scipy.integrate import odeint
from scipy.interpolate import (
    Akima1DInterpolator,
    BSpline,
    CubicSpline,
    InterpolatedUnivariateSpline,
    PchipInterpolator,
    PPoly,
    RegularGridInterpolator,
    UnivariateSpline,
    interp1d,
    interpn,
    make_interp_spline,
    splev,
    splrep,
)

from s2sad import grad, hvp, jvp, value_and_grad
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.0, 0.5, 1.1, 1.9, 2.7, 3.3])
Y = np.array([1.0, 2.0, 0.5, -0.3, 0.8, 1.7])
T = np.array([0.3, 1.4, 2.9])
P = np.array([0.7, 1.3, 2.2])
CUBIC = CubicSpline(X, Y)
LINE = interp1d(X, Y)
TCK = splrep(X, Y)
SMOOTH = UnivariateSpline(X, Y, s=0.1)
GRID = RegularGridInterpolator((X, X), np.outer(Y, Y))


def agrees(f: Callable[..., Any], *args: Any) -> None:
    value, found = value_and_grad(f)(*args)
    assert value == f(*args)
    np.testing.assert_allclose(found, numeric_gradient(f, args), rtol=1e-7, atol=1e-8)
    dot = np.array([0.7, -0.3, 0.4, 1.1, -0.8, 0.5])[: len(args[0])]
    _, tangent = jvp(f, args, (dot, *[None] * (len(args) - 1)))
    np.testing.assert_allclose(tangent, np.sum(found * dot), rtol=1e-7, atol=1e-8)


# --- constant interpolants at points


def of_the_module(p: Any) -> Any:
    return np.sum(CUBIC(p) ** 2) + CUBIC(p[0]) * p[1]


def made_of_constants(p: Any) -> Any:
    spline = CubicSpline(X, Y)
    return np.sum(spline(p)) + np.sum(spline(p, 1) ** 2)


def lines(p: Any) -> Any:
    return np.sum(LINE(p) ** 2)


def by_tuple(p: Any) -> Any:
    return np.sum(splev(p, TCK)) + splev(p[0], TCK, der=1)


def smooth(p: Any) -> Any:
    return np.sum(SMOOTH(p) ** 2) + np.sum(UnivariateSpline(X, Y)(p))


def on_a_grid(p: Any) -> Any:
    return GRID(p[:2])[0] + np.sum(GRID(np.stack([p, p * 0.9], axis=1)))


def in_a_loop(p: Any) -> Any:
    total = 0.0
    for i in range(3):
        total = total + CUBIC(p[i])
    return total


class Table:
    def __init__(self) -> None:
        self.spline = CubicSpline(X, Y)

    def lookup(self, x: Any) -> Any:
        return self.spline(x)


TABLE = Table()


def in_an_object(p: Any) -> Any:
    return np.sum(TABLE.lookup(p) * p)


def derivative_of_a_constant(p: Any) -> Any:
    return np.sum(CUBIC.derivative()(p) * p)


AT_POINTS = [
    of_the_module, made_of_constants, lines, by_tuple, smooth, on_a_grid, in_a_loop, in_an_object,
    derivative_of_a_constant,
]  # fmt: skip


@pytest.mark.parametrize("f", AT_POINTS, ids=lambda f: f.__name__)
def test_constant_interpolants_at_points(f: Callable[..., Any]) -> None:
    agrees(f, P)


def test_an_interpolant_may_be_an_argument() -> None:
    def f(p: Any, spline: Any) -> Any:
        return np.sum(spline(p))

    for spline in (CUBIC, LINE, SMOOTH, make_interp_spline(X, Y), interpolate.BarycentricInterpolator(X, Y)):
        agrees(f, P, spline)


# --- interpolants whose data carry derivatives


def values(y: Any) -> Any:
    return np.sum(CubicSpline(X, y)(T) ** 2)


def by_methods(y: Any) -> Any:
    cs = CubicSpline(X, y, bc_type="natural")
    return cs(y[0] * 0.5) + cs(1.0, 1) + cs.derivative()(0.7) + cs.integrate(0.2, y[1])


def by_places(x: Any) -> Any:
    return np.sum(PchipInterpolator(x + X, np.sin(X))(T + 1.0))


def knots_by_places(x: Any) -> Any:
    s = interpolate.make_interp_spline(x + X, Y)
    return np.sum(s(T) ** 2) + s(x[0] + 1.1, 1) + np.sum(interpolate.make_interp_spline(x + X, Y, k=2)(T))


def natural_by_places(x: Any) -> Any:
    return np.sum(interpolate.make_interp_spline(x + X, Y, bc_type="natural")(T))


def akima(y: Any) -> Any:
    return np.sum(Akima1DInterpolator(X, y)(T))


def cubic_lines(y: Any) -> Any:
    f = interp1d(X, y, kind="cubic")
    return np.sum(f(T)) + f(y[0] * 0.5)


def filled(y: Any) -> Any:
    f = interp1d(X, y, bounds_error=False, fill_value=(y[0], y[-1]))
    return f(-1.0) * 2 + f(5.0) + np.sum(f(T) ** 2)


def tuples(y: Any) -> Any:
    tck = splrep(X, y)
    return np.sum(splev(T, tck) ** 2) + splev(y[0], tck, der=1)


def b_spline(y: Any) -> Any:
    s = make_interp_spline(X, y, k=3)
    return np.sum(s(T) ** 2) + s(y[0])


def grid_values(y: Any) -> Any:
    g = RegularGridInterpolator((X, X), np.outer(y, y))
    return np.sum(g(np.stack([T, T[::-1]], axis=1)))


def values_in_a_loop(y: Any) -> Any:
    total = 0.0
    cs = CubicSpline(X, y)
    for t in T:
        total = total + cs(t) * t
    return total


def build(y: Any) -> Any:
    return CubicSpline(X, y)


def made_elsewhere(y: Any) -> Any:
    return np.sum(build(y)(T))


class Curve:
    def __init__(self, y: Any) -> None:
        self.cs = CubicSpline(X, y)

    def area(self) -> Any:
        return self.cs.integrate(0.0, 3.0)

    def at(self, t: Any) -> Any:
        return self.cs(t)


def in_an_object_that_is_made(y: Any) -> Any:
    c = Curve(y)
    return c.area() + np.sum(c.at(T))


def through_all(y: Any) -> Any:
    s = InterpolatedUnivariateSpline(X, y)
    return np.sum(s(T))


def polynomials(y: Any) -> Any:
    p = PPoly(y.reshape(2, 3), np.array([0.0, 1.0, 2.0, 3.0]))
    return np.sum(p(T) ** 2) + p.antiderivative()(2.5)


def one_of_two(y: Any) -> Any:
    if y[0] > 0.5:
        cs = CubicSpline(X, y)
    else:
        cs = CubicSpline(X, -y)
    return np.sum(cs(T))


def by_coefficients(y: Any) -> Any:
    return np.sum(BSpline(np.array([0, 0, 0, 0, 1.0, 2, 3.5, 3.5, 3.5, 3.5]), y, 3)(T))


def smoothing(y: Any) -> Any:
    s = UnivariateSpline(X, y)
    return np.sum(s(T))


def roots(y: Any) -> Any:
    cs = CubicSpline(X, y)
    return np.sum(cs.roots())


def two_curves(y: Any) -> Any:
    return np.sum(CubicSpline(X, np.stack([y, y**2], axis=1))(T)[:, 1])


def forced(y: Any) -> Any:
    force = CubicSpline(X, y)
    return odeint(lambda u, t: -u + force(t), 1.0, [0.0, 1.0, 2.0], rtol=1e-10, atol=1e-10)[-1, 0]


WITH_DATA = [
    values, by_methods, akima, cubic_lines, filled, tuples, b_spline, grid_values, values_in_a_loop,
    made_elsewhere, in_an_object_that_is_made, through_all, polynomials, one_of_two, by_coefficients, two_curves,
    forced,
]  # fmt: skip


@pytest.mark.parametrize("f", WITH_DATA, ids=lambda f: f.__name__)
def test_data(f: Callable[..., Any]) -> None:
    if f is forced:
        np.testing.assert_allclose(grad(f)(Y), numeric_gradient(f, [Y]), rtol=1e-5, atol=1e-5)
    else:
        agrees(f, Y)


def test_places_of_data() -> None:
    agrees(by_places, X)
    agrees(knots_by_places, X)
    agrees(natural_by_places, X)
    agrees(lambda x: np.sum(CubicSpline(x, np.cos(X))(T) ** 2), X)
    agrees(lambda x: np.sum(interp1d(x, Y)(T) ** 2), X)
    agrees(lambda x: CubicSpline(x, np.append(Y[:5], Y[0]), bc_type="periodic")(17.0), X)


@pytest.mark.parametrize("method", ["linear", "nearest", "slinear"])
def test_grids_in_one_call(method: str) -> None:
    places = np.stack([T, T[::-1]], axis=1)
    agrees(lambda y: np.sum(interpn((X, -X), np.outer(y, y), places * [1.0, -1.0], method) ** 2), Y)
    agrees(lambda p: np.sum(interpn((X, X), np.outer(Y, Y), (p, p[::-1]), method, bounds_error=False) ** 2), P)


@pytest.mark.parametrize("method", ["cubic", "quintic"])
def test_values_that_a_product_of_splines_goes_through(method: str) -> None:
    """SciPy solves for the coefficients to about six digits; the splines of one axis are exact."""
    weights = [make_interp_spline(X, np.eye(6), {"cubic": 3, "quintic": 5}[method])(at) for at in (T, T[::-1])]
    expected = np.einsum("p,pi,pj->ij", [1.0, 2.0, 3.0], *weights)
    places = np.stack([T, T[::-1]], axis=1)
    found = grad(lambda v: interpn((X, X), v, places, method) @ np.array([1.0, 2.0, 3.0]))(np.outer(Y, Y))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_a_saved_text_runs(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    for f in (by_methods, forced, of_the_module):
        grad(f).save(tmp_path / f"saved_{f.__name__}.py")
        saved = importlib.import_module(f"saved_{f.__name__}")
        name = "p" if f is of_the_module else "y"
        np.testing.assert_allclose(
            getattr(saved, f"{f.__name__}_grad_{name}")(Y[:3] + 0.5 if name == "p" else Y),
            grad(f)(Y[:3] + 0.5 if name == "p" else Y),
        )


def test_what_is_refused() -> None:
    with pytest.raises(UndefinedDerivativeError, match=r"(?s)smoothing spline.*make_interp_spline"):
        grad(smoothing)(Y)
    with pytest.raises(UnsupportedError, match=r"(?s)CubicSpline has no derivative rule.*antiderivative\(\)"):
        grad(roots)(Y)
    with pytest.raises(UnsupportedError, match="no derivative with respect to its argument 'bc_type'"):
        grad(lambda y: CubicSpline(X, Y, bc_type=((1, y[0]), (1, 0.0)))(0.3))(Y)
    with pytest.raises(UnsupportedError, match="no derivative with respect to its argument 'points'"):
        grad(lambda x: RegularGridInterpolator((x, X), np.outer(Y, Y))(T[:2])[0])(X)
    with pytest.raises(UndefinedDerivativeError, match="splinef2d"):
        grad(lambda p: interpn((X, X), np.outer(Y, Y), p[:2], "splinef2d")[0])(P)
    with pytest.raises(UndefinedDerivativeError, match="kind='linear' alone"):
        grad(lambda x: interp1d(x, Y, kind="cubic")(0.3))(X)


def test_single_precision() -> None:
    y = Y.astype(np.float32)
    found = grad(lambda y: np.sum(CubicSpline(X, y)(T) ** 2))(y)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, grad(values)(Y), rtol=1e-5, atol=1e-5)


# --- data that are written after


def written_values(p: Any) -> Any:
    y = p * 1.0
    spline, line = CubicSpline(X[:3], y), interp1d(X[:3], y)
    y[0] = 7 * p[1]
    return np.sum(spline(T[:2] / 2) ** 2) + np.sum(line(T[:2] / 2) ** 3) * y[0]


def written_points(p: Any) -> Any:
    x = X[:3] + 0.01 * p
    spline, line = PchipInterpolator(x, p), interp1d(x, p)
    x[1] = 7 * p[1]
    return np.sum(spline(T[:2] / 3 + 0.1) ** 2) * x[0] + np.sum(line(T[:2] / 3 + 0.1) ** 3)


@pytest.mark.parametrize("f", [written_values, written_points])
def test_interpolants_have_the_data_of_their_time(f: Callable[..., Any]) -> None:
    agrees(f, P)


def test_splines_by_places_in_forward_mode() -> None:
    dots = np.linspace(0.3, -0.7, len(X))
    _, found = jvp(knots_by_places, (X,), (dots,))
    np.testing.assert_allclose(found, numeric_gradient(knots_by_places, (X,)) @ dots, rtol=1e-7)


def test_periodic_splines_have_no_derivative_by_places() -> None:
    y = np.append(Y[:-1], Y[0])
    with pytest.raises(UndefinedDerivativeError, match="periodic"):
        grad(lambda x: interpolate.make_interp_spline(x, y, bc_type="periodic")(0.7))(X)


# --- second derivatives by values and points


def by_values_and_points(p: Any) -> Any:
    x = np.arange(7.0)
    values = np.concatenate([p[:4], p[:3] ** 2])
    ends = interpolate.CubicSpline(x, values, bc_type=((1, 0.3), (2, 0.0)))
    wide = interpolate.CubicSpline(x, np.stack([values, values**2], axis=1), bc_type="natural")
    return np.sum(ends(p[:2] + 2.0) ** 3) + np.sum(wide(p[1:3] * 2, 1) ** 2) + ends.derivative()(p[3])


def by_coefficients(p: Any) -> Any:
    curve = interpolate.PPoly(np.reshape(p[:4], (2, 2)), np.array([0.0, 1.5, 3.0]))
    return np.sum(curve(p[:3]) ** 3) + curve(0.3, 1) ** 2


@pytest.mark.parametrize("f", [by_values_and_points, by_coefficients])
def test_second_derivatives_by_values_and_points(f: Callable[..., Any]) -> None:
    point, dot = np.array([0.3, 1.2, 0.7, 1.9]), np.array([0.4, -0.3, 0.8, 0.5])
    second = richardson_jvp(grad(f), (point,), (dot,))
    np.testing.assert_allclose(hvp(f, (point,), (dot,)), second, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(grad(lambda p: grad(f)(p) @ dot)(point), second, rtol=1e-6, atol=1e-7)


def test_the_knots_of_a_spline_have_no_second_derivatives() -> None:
    f = lambda p: interpolate.CubicSpline(np.cumsum(np.exp(p)), p**2)(1.3)  # noqa: E731
    with pytest.raises(UnsupportedError, match="not through its knots"):
        hvp(f, (P,), (P,))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_derivatives_of_surfaces_of_any_degree(k: int) -> None:
    """Of a surface of degree k FITPACK gives derivatives of lower order than k alone."""
    grid = np.linspace(0.0, 1.0, 5)
    surface = interpolate.RectBivariateSpline(grid, grid, np.outer(grid**2, 1 + grid), kx=k, ky=k)
    p, v = np.array([0.3, 0.6]), np.array([0.7, -0.4])

    def at(p: Any) -> Any:
        return surface.ev(p[0], p[1]) ** 2

    def over(p: Any) -> Any:
        return np.sum(surface(p, p[:1]) ** 2)

    for f in (at, over):
        np.testing.assert_allclose(grad(f)(p), numeric_gradient(f, (p,)), rtol=1e-6)
    np.testing.assert_allclose(hvp(at, (p,), (v,)), richardson_jvp(grad(at), (p,), (v,)), rtol=1e-6)


@pytest.mark.parametrize("p", [(-0.3, 0.6), (0.3, 1.4), (1.2, -0.1), (0.3, 0.6)])
def test_surfaces_have_the_values_of_their_edges_outside(p: Any) -> None:
    grid = np.linspace(0.0, 1.0, 5)
    surface = interpolate.RectBivariateSpline(grid, grid, np.outer(grid**2, np.exp(grid)))

    def at(p: Any) -> Any:
        return surface.ev(p[0], p[1]) ** 2 + surface.ev(p[0], p[1], 1, 0)

    def over(p: Any) -> Any:
        return np.sum(surface(p[:1], p[1:]) ** 2)

    x, v = np.array(p), np.array([0.7, -0.4])
    for f in (at, over):
        np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(jvp(f, (x,), (v,))[1], numeric_gradient(f, (x,)) @ v, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(hvp(at, (x,), (v,)), richardson_jvp(grad(at), (x,), (v,)), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", [interpolate.PchipInterpolator, interpolate.Akima1DInterpolator])
def test_interpolants_that_keep_shapes_have_second_derivatives_by_values(kind: Any) -> None:
    x, y = np.array([0.0, 0.7, 1.1, 1.9, 2.5]), np.array([0.3, 1.2, -0.4, 0.8, 0.5])
    d = np.cos(np.arange(5.0))

    def f(y: Any) -> Any:
        return np.sum(kind(x, y)(np.array([1.2, 0.3, 2.2])) ** 3)

    expected = numeric_gradient(lambda y: np.sum(grad(f)(y) * d), (y,))
    for found in (
        hvp(f, (y,), (d,)),
        grad(lambda y: np.sum(grad(f)(y) * d))(y),
        grad(lambda y: jvp(f, (y,), (d,))[1])(y),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


AXIS, SPOTS = np.linspace(0.0, 3.0, 5), np.array([[0.3, 0.4], [1.1, 2.2], [2.5, 0.1]])


@pytest.mark.parametrize("method", ["linear", "cubic"])
def test_grids_have_second_derivatives_by_their_values(method: str) -> None:
    def several(x: Any) -> Any:
        plane = interpolate.RegularGridInterpolator((AXIS, AXIS[::-1]), np.outer(x**2, x), method=method)
        line = interpolate.interpn((AXIS,), x**2, [[-1.0], [2.0]], method, bounds_error=False, fill_value=0.3)
        return np.sum(plane(SPOTS) ** 3) + np.sum(line**3)

    x, way = np.array([0.4, 1.2, -0.7, 0.9, 0.3]), np.array([0.3, -0.2, 0.5, 0.1, 1.0])
    np.testing.assert_allclose(hvp(several, (x,), (way,)), richardson_jvp(grad(several), (x,), (way,)), rtol=1e-7)
