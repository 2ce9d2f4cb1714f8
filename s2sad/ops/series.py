"""Rules of the functions of series in `numpy.polynomial`, one text for all six kinds.

The derivative of a series by its points is the series of its derivative; by its coefficients, the sums of the adjoint
times the values of the basis.  The transposes of linear functions of the coefficients are products with their matrices,
which are those of unit coefficients.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, bilinear, constant, elementwise, linear, operation, rule, sample, spec_of
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.linear import like
from s2sad.runtime.polynomials import series_coefficients
from s2sad.runtime.series import (
    KINDS,
    along,
    basis_slopes,
    coefficient_adjoint,
    first_items,
    fit_adjoints,
    fit_tangent,
    of_roots_adjoint,
    of_roots_tangent,
    padded_to,
    point_adjoint,
    product_of,
    root_adjoint,
    series_product,
    several_tangent,
    several_values,
    slope_at,
    unapplied,
    unvander,
)

Array = Any
Samples = Callable[[], Sequence[Sample]]

_NAMES: dict[str, Any] = {
    f.__name__: f
    for f in (
        along, basis_slopes, coefficient_adjoint, first_items, fit_adjoints, fit_tangent, of_roots_adjoint,
        of_roots_tangent, padded_to, point_adjoint, root_adjoint, series_product, several_tangent, unapplied,
        unvander, like, series_coefficients, unbroadcast,
    )
} | {"np": np, "__name__": __name__}  # fmt: skip


def _function(name: str, text: str) -> Callable[..., Any]:
    """The function that a text defines; `inspect.getsource` finds the text, as that of a rule written here."""
    filename = f"<s2sad rule of numpy.polynomial.{name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    found: dict[str, Any] = {}
    exec(compile(text, filename, "exec"), _NAMES, found)
    body: Callable[..., Any] = found["body"]
    return body


# --- samples ---


def _pairs() -> Sequence[Sample]:
    a, b = numbers(3), numbers(2, seed=1)
    return [
        sample(a, b),
        sample(b, a),
        sample(a, numbers(3, seed=2)),
        sample([0.5, 1.5], a),
        sample(singles(2), singles(3)),
    ]


def _powers() -> Sequence[Sample]:
    return [sample(numbers(3), 2), sample(numbers(2), 3), sample(numbers(2), 0), sample(numbers(2), 1)]


def _single() -> Sequence[Sample]:
    return [sample(numbers(4)), sample(numbers(1)), sample([0.5, 1.5, 2.5]), sample(singles(3))]


def _derived() -> Sequence[Sample]:
    return [
        sample(numbers(4)),
        sample(numbers(5), 2),
        sample(numbers(4), m=1, scl=2.0),
        sample(numbers(4, 2)),
        sample(numbers(2, 4), axis=1),
        sample(numbers(2), 3),
        sample(singles(4)),
    ]


def _integrated() -> Sequence[Sample]:
    return [
        *_derived()[:5],
        sample(numbers(3), 1, [2.0]),
        sample(numbers(3), 2, [2.0, 1.0], 0.5),
        sample(numbers(3), lbnd=-1),
        sample(singles(3)),
    ]


def _points() -> Sequence[Sample]:
    x = numbers(3)
    return [sample(x, 3), sample(x, 0), sample(x, 1), sample(0.7, 2), sample(numbers(2, 2), 2), sample(singles(2), 2)]


def _surfaces() -> Sequence[Sample]:
    c = numbers(3, 2)
    points = [(numbers(4), numbers(4, seed=1)), (0.5, 1.5), (numbers(2, 2), numbers(2, 2, seed=1))]
    return [*[sample(*p, c) for p in points], sample(numbers(3), numbers(3), numbers(1, 2))]


def _grids() -> Sequence[Sample]:
    c = numbers(3, 2)
    return [sample(numbers(3), numbers(4, seed=1), c), sample(0.5, numbers(2), c), sample(numbers(2, 2), numbers(3), c)]


def _fitted() -> Sequence[Sample]:
    x, y = np.array([0.0, 0.7, 1.1, 2.3, 2.9]), numbers(5)
    w = np.array([0.5, 1.5, 1.0, 0.7, 2.0])
    points = [sample(x, y, 1), sample(x, y, 2), sample(x, y, 2, w=w), sample(x, numbers(5, 2), 1, w=w), sample(x, y, 0)]
    return [*points, sample(x, numbers(5, 2), [2, 0], w=w)]


def _rooted() -> Sequence[Sample]:
    real = [sample(np.array([-6.0, 11.3, -6.1, 1.0])), sample(np.array([3.0, 2.0])), sample(np.array([-2.0, 0.3, 0.7]))]
    return [*real, sample(np.array([2.0, 0.3, 3.7]))]


def _roots() -> Sequence[Sample]:
    return [sample(np.array([0.5, -1.2, 2.0])), sample([0.5, 1.5]), sample(numbers(1)), sample(singles(2))]


def _series() -> Sequence[Sample]:
    x, c = numbers(3), numbers(4, seed=1)
    return [
        sample(x, c),
        sample(0.7, c),
        sample(numbers(2, 3), c),
        sample(x, numbers(4, 2, seed=1)),
        sample(numbers(2, 3), numbers(4, 2, 2, seed=1)),
        sample(x, numbers(4, 3, seed=1), False),
        sample(x, numbers(4, 2, 3, seed=1), tensor=False),
        sample(x, [0.5, 1.5]),
        sample(x, numbers(1)),
        sample(x, 1.5),
        sample(complexes(2), c),
        sample(singles(3), singles(3, seed=1)),
    ]


# --- texts ---

_ROW = infer.axes.with_axes(infer.axes.always(1))


def _declare(kind: str, stem: str) -> None:
    module = getattr(np.polynomial, kind)
    home = f"np.polynomial.{kind}.{stem}"

    def text(name: str, arguments: str, result: str, before: str = "") -> Callable[..., Any]:
        return _function(f"{kind}.{name}", f"def body({arguments}):\n{before}    return {result}\n")

    def f(name: str) -> Any:
        return getattr(module, stem + name)

    def add(name: str, wrt: Sequence[str], samples: Samples, vjp: tuple[str, str], jvp: tuple[str, str]) -> None:
        function = f(name)
        body, tangent = text(f"{name}", *vjp), text(f"{name} tangent", *jvp)
        rule(function, wrt=wrt, jvp=tangent, samples=samples, dtype="unknown")(body)

    for name, sign in (("add", ""), ("sub", "-")):
        body = text(name, "z_bar, c1, c2", f"first_items(z_bar, c1), first_items({sign}z_bar, c2)")
        tangent = text(
            f"{name} tangent", "c1_dot, c2_dot, z", f"padded_to(np.atleast_1d({home}{name}(c1_dot, c2_dot)), z)"
        )
        rule(f(name), wrt=["c1", "c2"], jvp=tangent, samples=_pairs, infer=_ROW, dtype="unknown")(body)
    add(
        "mul", ["c1", "c2"], _pairs,
        (
            "z_bar, c1, c2",
            f"like(series_product(z_bar, '{stem}', c1, c2), c1), like(series_product(z_bar, '{stem}', c2, c1), c2)",
        ),
        ("c1_dot, c2_dot, z, c1, c2", f"padded_to({home}add({home}mul(c1_dot, c2), {home}mul(c1, c2_dot)), z)"),
    )  # fmt: skip
    add(
        "pow", ["c"], _powers,
        (
            "z_bar, c, pow, maxpower=16",
            f"like(series_product(pow * z_bar, '{stem}', c, {home}pow(c, pow - (pow > 0))), c)",
        ),
        ("c_dot, z, c, pow", f"padded_to(pow * {home}mul({home}pow(c, pow - (pow > 0)), c_dot), z)"),
    )  # fmt: skip
    linear(f("mulx"), wrt=["c"], samples=_single, dtype="unknown")(
        text("mulx", "z_bar, c", f"unapplied(z_bar, '{stem}', '{stem}mulx', c)")
    )
    options = "m=1, scl=1, axis=0"
    size = "np.shape(np.atleast_1d(c))[axis]"
    linear(f("der"), wrt=["c"], samples=_derived, dtype="unknown", result="unknown", steps=frozenset({"m"}))(
        text("der", f"z_bar, c, {options}", f"like(along(z_bar, {home}der(np.eye({size}), m, scl), axis), c)")
    )
    options = "m=1, k=(), lbnd=0, scl=1, axis=0"
    add(
        "int", ["c"], _integrated,
        (f"z_bar, c, {options}", f"like(along(z_bar, {home}int(np.eye({size}), m, [], lbnd, scl), axis), c)"),
        (f"c_dot, c, {options}", f"{home}int(c_dot, m, [], lbnd, scl, axis)"),
    )  # fmt: skip
    add(
        "vander", ["x"], _points,
        ("z_bar, x, deg", f"unvander(z_bar, '{stem}', x, deg)"),
        ("x_dot, x, deg", f"basis_slopes('{stem}', x, deg) * np.expand_dims(x_dot, -1)"),
    )  # fmt: skip
    rise = f"    rise = {home}val(x, {home}der(c), tensor)\n"
    basis = f"    basis = {home}vander(x, len(np.atleast_1d(c)) - 1)\n"
    bars = "unbroadcast(z_bar * rise, np.shape(x)), like(series_coefficients(z_bar, basis, x, c, tensor), c)"
    body = text("val", "z_bar, x, c, tensor=True", bars, rise + basis)
    slope = f"{home}val(x, {home}der(c), tensor) * x_dot + {home}val(x, c_dot, tensor)"
    tangent = text("val tangent", "x_dot, c_dot, x, c, tensor=True", slope)
    rule(f("val"), wrt=["x", "c"], jvp=tangent, samples=_series, infer=infer.axes.series)(body)
    _declare_surfaces(f, stem, text)
    bars = f"    bars = fit_adjoints(z_bar, z, '{stem}', x, y, deg, w)\n"
    body = text("fit", "z, z_bar, x, y, deg, *, w=None", "bars[0], bars[1], bars[2]", bars)
    given = "x_dot, y_dot, w_dot, z, x, y, deg, w=None"
    tangent = text("fit tangent", given, f"fit_tangent(x_dot, y_dot, w_dot, z, '{stem}', x, y, deg, w)")
    rule(f("fit"), wrt=["x", "y", "w"], jvp=tangent, samples=_fitted, dtype="unknown", steps=frozenset({"deg"}))(body)
    add(
        "fromroots", ["roots"], _roots,
        ("z_bar, roots", f"of_roots_adjoint(z_bar, '{stem}', roots)"),
        ("roots_dot, roots", f"of_roots_tangent(roots_dot, '{stem}', roots)"),
    )  # fmt: skip
    body = text("roots", "z, z_bar, c", f"root_adjoint(z_bar, z, '{stem}', c)")
    slope = f"-{home}val(z, np.asarray(c_dot)) / {home}val(z, {home}der(np.asarray(c)))"
    tangent = text("roots tangent", "c_dot, z, c", slope)
    rule(f("roots"), wrt=["c"], jvp=tangent, samples=_rooted, infer=infer.axes.complex_row, dtype="unknown")(body)
    for name in () if kind == "polynomial" else (f"poly2{stem}", f"{stem}2poly"):
        parameter = "pol" if name[:5] == "poly2" else "c"
        body = text(name, f"z_bar, {parameter}", f"unapplied(z_bar, '{stem}', '{name}', {parameter})")
        linear(getattr(module, name), wrt=[parameter], samples=_single, infer=_ROW, dtype="unknown")(body)


def _declare_surfaces(f: Callable[[str], Any], stem: str, text: Callable[[str, str, str], Any]) -> None:
    # The third variable of val3d and grid3d has the name that the result has in rules.
    for name, samples in (("val2d", _surfaces), ("grid2d", _grids)):
        bars = [f"point_adjoint(z_bar, {k}, '{stem}', '{name}', c, (x, y))" for k in range(2)]
        bars.append(f"coefficient_adjoint(z_bar, '{stem}', c, (x, y))")
        body = text(name, "z_bar, x, y, c", ", ".join(bars))
        tangent = text(
            f"{name} tangent", "x_dot, y_dot, c_dot, x, y, c",
            f"several_tangent((x_dot, y_dot), c_dot, '{stem}', '{name}', c, (x, y))",
        )  # fmt: skip
        rule(f(name), wrt=["x", "y", "c"], jvp=tangent, samples=samples, dtype="unknown")(body)


for _stem, _kind in KINDS.items():
    _declare(_kind, _stem)

# --- adjoints of products, and objects ---


def _factors() -> Sequence[Sample]:
    return [sample(numbers(4), kind, numbers(3), numbers(2, seed=1)) for kind in KINDS]


@bilinear(
    series_product,
    wrt=["g", "other"],
    steps={"c"},
    samples=_factors,
    infer=infer.axes.with_axes(infer.axes.always(1)),
    dtype="unknown",
)
def series_product_rule(z_bar: Array, g: Array, kind: str, c: Array, other: Array) -> tuple[Array, Array]:
    return first_items(product_of(kind, z_bar, other), g), series_product(g, kind, other, z_bar)


@bilinear(
    product_of,
    wrt=["c", "other"],
    samples=lambda: [sample(kind, numbers(3), numbers(2, seed=1)) for kind in KINDS],
    infer=infer.axes.with_axes(infer.axes.always(1)),
    dtype="unknown",
)
def product_of_rule(z_bar: Array, kind: str, c: Array, other: Array) -> tuple[Array, Array]:
    return series_product(z_bar, kind, c, other), series_product(z_bar, kind, other, c)


def _arguments() -> Sequence[Sample]:
    made = [getattr(np.polynomial, name)(numbers(4)) for name in ("Polynomial", "Legendre", "HermiteE", "Laguerre")]
    points = [sample(series, numbers(3)) for series in made]
    return [*points, sample(np.polynomial.Chebyshev(numbers(3), [0.0, 3.0]), 0.7), sample(made[0], numbers(2, 2))]


# A series that exists is constant; all classes have this method.
@elementwise(
    np.polynomial.Polynomial.__call__,
    name="numpy.polynomial.Polynomial.__call__",
    wrt=["arg"],
    samples=_arguments,
    dtype="unknown",
    broadcasts=False,
)
def value(self: Any, arg: Array) -> Array:
    return slope_at(self, arg, 1)


@elementwise(
    slope_at,
    wrt=["x"],
    samples=lambda: [sample(p.args[0], p.args[1], 1) for p in _arguments()],
    dtype="unknown",
    broadcasts=False,
)
def slope(series: Any, x: Array, m: int) -> Array:
    return slope_at(series, x, m + 1)


# --- what has no rule ---

#: What to do instead of the others, by what follows the stem in their names.
_REMEDIES = {
    "div": "solve for the coefficients of the quotient: np.linalg.lstsq of the matrix of the columns {0}mul(c2, unit)",
    "line": "use {1}",
    "companion": "use {0}roots",
    "vander2d": "use np.einsum('pi,pj->pij', {0}vander(x, m), {0}vander(y, n)).reshape(len(x), -1)",
    "vander3d": "use np.einsum of the matrices of {0}vander, as 'pi,pj,pk->pijk', and reshape(len(x), -1)",
    "val3d": "use np.einsum('pi,pj,pk,ijk->p', {0}vander(x, l), {0}vander(y, m), {0}vander(z, n), c)",
    "grid3d": "use np.einsum('pi,qj,rk,ijk->pqr', {0}vander(x, l), {0}vander(y, m), {0}vander(z, n), c)",
    "valfromroots": "use np.prod(x[..., np.newaxis] - r, axis=-1)",
    "interpolate": "use {0}fit(t, f(t), n) with t = {0}pts1(n + 1)",
}
_WEIGHTS = {
    "cheb": "1 / np.sqrt(1 - x**2)",
    "leg": "np.ones_like(x)",
    "herm": "np.exp(-(x**2))",
    "herme": "np.exp(-(x**2) / 2)",
    "lag": "np.exp(-x)",
}

for _stem, _kind in KINDS.items():
    _module = getattr(np.polynomial, _kind)
    for _name in _module.__all__:
        _entry = getattr(_module, _name)
        _own = not isinstance(_entry, type) and callable(_entry) and _entry.__module__ == _module.__name__
        if not _own or spec_of(_entry) is not None:
            continue
        _rest = _name.removeprefix(_stem)
        if _rest in ("gauss", "pts1", "pts2"):
            constant(_entry)
            continue
        _line = "np.array([off, scl])" if _stem == "poly" else f"poly2{_stem}([off, scl])"
        _text = f"write {_WEIGHTS[_stem]}" if _rest == "weight" else _REMEDIES[_rest].format(_stem, _line)
        operation(_entry, remedy=_text)


# --- their adjoints, differentiated again


def _bases() -> Sequence[Sample]:
    return [sample(stem, numbers(3), 3, order) for stem, order in (("poly", 1), ("cheb", 1), ("lag", 2))]


def _basis_jvp(x_dot: Array, kind: str, x: Array, deg: Any, order: int = 1) -> Array:
    return np.expand_dims(x_dot, -1) * basis_slopes(kind, x, deg, order + 1)


@rule(basis_slopes, wrt=["x"], jvp=_basis_jvp, samples=_bases)
def basis_slopes_rule(z_bar: Array, kind: str, x: Array, deg: Any, order: int = 1) -> Array:
    return np.reshape(np.sum(z_bar * basis_slopes(kind, x, deg, order + 1), axis=-1), np.shape(x))


def _at_points() -> Sequence[Sample]:
    c, x, y = numbers(2, 3), numbers(4), numbers(4, seed=1)
    return [
        sample(numbers(4), "poly", c, (x, y)),
        sample(numbers(4, 2), "cheb", c, (x, y[:2])),
        sample(np.float64(1.5), "leg", c, (0.3, 0.4)),
    ]


@linear(
    coefficient_adjoint,
    wrt=["g"],
    steps=frozenset({"c"}),
    samples=_at_points,
    infer=infer.adjoints.adjoint_of("c"),
)
def coefficient_adjoint_rule(z_bar: Array, g: Array, kind: str, c: Array, points: Any) -> Array:
    return several_values(z_bar, kind, g, points)


@linear(several_values, wrt=["c"], steps=frozenset({"g"}), samples=lambda: [_values_of(s) for s in _at_points()])
def several_values_rule(z_bar: Array, c: Array, kind: str, g: Array, points: Any) -> Array:
    return coefficient_adjoint(z_bar, kind, c, points)


def _values_of(one: Sample) -> Sample:
    g, kind, c, points = one.args
    return sample(c, kind, g, points)
