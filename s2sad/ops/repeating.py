"""Rules of the functions that repeat elements, add a border, or keep a diagonal or triangle.

What was repeated is summed, what was dropped is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.forms import METHOD
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, linear, ndim, rule, sample
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.linear import (
    cast,
    undiag,
    undiagonal,
    unmeshgrid,
    unrepeat,
    untile,
    untrace,
)
from s2sad.runtime.padding import pad_adjoint, pad_ends, pad_tangent, padded_ends, unpad
from s2sad.runtime.trees import diagonal_view as diagonal_view_

Array = Any

# --- elements repeated ---


def _broadcasts() -> Sequence[Sample]:
    return [
        sample(numbers(3), (2, 3)),
        sample(numbers(2, 1), (2, 3)),
        sample(numbers(1, 3), (4, 2, 3)),
        sample(numbers(), (2, 2)),
        sample(1.5, 3),
        sample(numbers(2), 2),
        sample(numbers(1), (0,)),
        sample(numbers(2, 3), shape=(2, 3)),
        sample(numbers(3), (2, 3), subok=True),
        sample(complexes(2, 1), (2, 2)),
        sample(singles(1), (3,)),
    ]


@linear(
    np.broadcast_to,
    wrt=["array"],
    samples=_broadcasts,
    result="view",
    mirrors=False,
    infer=infer.adjoints.of_shape,
    dtype="operands",
    steps=frozenset({"shape"}),
)
def broadcast_to(z_bar: Array, array: Array, shape: Any, subok: bool = False) -> Array:
    return unbroadcast(z_bar, np.shape(array))


def _repeats() -> Sequence[Sample]:
    a = numbers(2, 3)
    return [
        sample(a, 2),
        sample(a, 2, 0),
        sample(a, 3, axis=-1),
        sample(a, [1, 0, 2], axis=1),
        sample(a, np.array([2]), axis=0),
        sample(a, [0, 1, 2, 3, 0, 1]),
        sample(a, 0),
        sample(numbers(3), 2),
        sample(numbers(), 3),
        sample(1.5, 3),
        sample(numbers(0, 2), 2, axis=0),
        sample(numbers(1, 3), 4, axis=0),
        sample(complexes(2), 2),
        sample(singles(2), [1, 2]),
    ]


@linear(np.repeat, wrt=["a"], samples=_repeats, infer=infer.axes.repeated, forms=METHOD, steps=frozenset({"repeats"}))
def repeat(z_bar: Array, a: Array, repeats: Any, axis: int | None = None) -> Array:
    return unrepeat(z_bar, np.shape(a), repeats, axis)


def _tiles() -> Sequence[Sample]:
    a = numbers(2, 3)
    return [
        sample(a, 2),
        sample(a, (2, 1)),
        sample(a, (2, 1, 3)),
        sample(a, (3,)),
        sample(a, [2, 2]),
        sample(a, (0, 2)),
        sample(a, 1),
        sample(numbers(3), (2, 2)),
        sample(numbers(), 3),
        sample(1.5, (2, 2)),
        sample(numbers(0), 2),
        sample(complexes(2), 2),
        sample(singles(2), 2),
    ]


@linear(np.tile, wrt=["A"], samples=_tiles, infer=infer.axes.tiled_in_a_row, steps=frozenset({"reps"}))
def tile(z_bar: Array, A: Array, reps: Any) -> Array:
    return untile(z_bar, np.shape(A), reps)


def _pads() -> Sequence[Sample]:
    a = numbers(3, 4)
    widths: list[Any] = [1, (1, 2), ((1, 0), (2, 1)), ((2,), (1,)), 0, [[1, 2]]]
    forms = [sample(a, width) for width in widths]
    modes = [sample(a, ((2, 1), (0, 7)), mode=mode) for mode in ("constant", "edge", "reflect", "symmetric", "wrap")]
    return [
        *forms,
        *modes,
        sample(a, 1, "constant", constant_values=3.0),
        sample(a, 1, constant_values=((1.0, 2.0), (3.0, 4.0))),
        sample(numbers(3), (2, 0), "edge"),
        sample(numbers(1), 2, "wrap"),
        sample(numbers(0), 2),
        sample(numbers(2, 1, 2), 1, "symmetric"),
        sample(complexes(3), 2, "reflect"),
        sample(singles(3), 1),
        sample(singles(3), 1, "edge"),
    ]


def _computing_pads() -> Sequence[Sample]:
    """Modes that compute what they put at the ends."""
    a, widths = numbers(3, 4), ((2, 1), (0, 3))
    ties = np.array([[2.0, 1.0, 2.0], [0.5, 0.5, -1.0]])
    points = [sample(a, widths, mode) for mode in ("mean", "maximum", "minimum", "median", "linear_ramp")]
    points += [sample(a, 1, mode, stat_length=2) for mode in ("mean", "maximum", "minimum", "median")]
    points += [sample(ties, 1, mode) for mode in ("maximum", "minimum")]
    points += [sample(a, widths, mode, reflect_type="odd") for mode in ("reflect", "symmetric")]
    return [
        *points,
        sample(numbers(4), (2, 0), "maximum"),
        sample(numbers(2, 3, 2), 1, "median"),
        sample(a, 1, "mean", stat_length=((1, 2), (3, 9))),
        sample(a, {1: (1, 2)}, "mean"),
        sample(a, 0, "mean"),
        sample(complexes(3), 1, "mean"),
        sample(complexes(3), 2, "linear_ramp"),
        sample(singles(3), 1, "median"),
        sample(singles(3), 2, "linear_ramp"),
        sample(a, 2, "linear_ramp", end_values=1.5),
        sample(a, widths, "linear_ramp", end_values=((1.5, 2.5), (0.5, -1.0))),
        sample(a, 1, constant_values=(0.5, numbers())),
        sample(numbers(2), 1, constant_values=[[0.5, 1.5]]),
        sample(a, 1, constant_values=np.array([[0.5], [1.5]])),
        sample(complexes(2), 1, constant_values=0.5j),
        sample(singles(2), 1, constant_values=np.float32(0.5)),
    ]


def _all_pads() -> Sequence[Sample]:
    return [*_pads(), *_computing_pads()]


def _pad_jvp(
    array_dot: Array,
    constant_values_dot: Any,
    end_values_dot: Any,
    z: Array,
    array: Array,
    pad_width: Any,
    mode: Any = "constant",
    stat_length: Any = None,
    reflect_type: str = "even",
) -> Array:
    if mode == "constant":
        return cast(np.pad(array_dot, pad_width, constant_values=constant_values_dot), np.result_type(z))
    if mode == "linear_ramp":
        return cast(np.pad(array_dot, pad_width, "linear_ramp", end_values=end_values_dot), np.result_type(z))
    ends = (constant_values_dot, end_values_dot)
    return cast(pad_tangent(array_dot, array, pad_width, mode, stat_length, reflect_type, ends), np.result_type(z))


@rule(
    np.pad,
    wrt=["array", "constant_values", "end_values"],
    steps=frozenset({"pad_width", "stat_length"}),
    jvp=_pad_jvp,
    samples=_all_pads,
    infer=infer.axes.padded,
)
def pad(
    z: Array,
    z_bar: Array,
    array: Array,
    pad_width: Any,
    mode: str = "constant",
    *,
    stat_length: Any = None,
    constant_values: Any = 0,
    end_values: Any = 0,
    reflect_type: str = "even",
) -> tuple[Array, Any, Any]:
    if mode == "constant":
        return (
            unpad(z_bar, np.shape(array), pad_width, mode),
            pad_ends(z_bar, z.dtype, pad_width, mode, constant_values),
            0.0,
        )
    if mode in ("edge", "wrap") or (mode in ("reflect", "symmetric") and reflect_type == "even"):
        return unpad(z_bar, np.shape(array), pad_width, mode), 0.0, 0.0
    array_bar = pad_adjoint(z_bar, array, pad_width, mode, stat_length, reflect_type)
    values_bar = pad_ends(z_bar, z.dtype, pad_width, mode, constant_values)
    return array_bar, values_bar, pad_ends(z_bar, z.dtype, pad_width, mode, end_values)


def _pad_adjoints() -> Sequence[Sample]:
    a, modes = numbers(4, 3), ("linear_ramp", "mean", "maximum", "minimum", "median", "edge")
    points = [sample(np.pad(a, 2, m), a, 2, m) for m in modes]  # type: ignore[call-overload]
    odd = sample(numbers(7), numbers(4), (1, 2), "reflect", None, "odd")
    return [*points, odd, sample(numbers(8), numbers(4), 2, "mean", 2)]


@linear(pad_adjoint, wrt=["g"], steps=frozenset({"a"}), samples=_pad_adjoints, infer=infer.adjoints.adjoint_of("a"))
def pad_adjoint_rule(
    z_bar: Array, g: Array, a: Array, pad_width: Any, mode: str, stat_length: Any = None, reflect_type: str = "even"
) -> Array:
    return pad_tangent(z_bar, a, pad_width, mode, stat_length, reflect_type)


@linear(
    pad_tangent,
    wrt=["t"],
    steps=frozenset({"a"}),
    samples=lambda: [sample(s.args[1] * 2, *s.args[1:]) for s in _pad_adjoints()],
    infer=infer.axes.with_axes(infer.axes.same("a")),
)
def pad_tangent_rule(
    z_bar: Array,
    t: Array,
    a: Array,
    pad_width: Any,
    mode: str = "constant",
    stat_length: Any = None,
    reflect_type: str = "even",
    ends: Any = (0.0, 0.0),
) -> Array:
    return pad_adjoint(z_bar, a, pad_width, mode, stat_length, reflect_type)


def _ends() -> Sequence[Sample]:
    return [
        sample(numbers(7), float, 2, mode, ends)
        for mode in ("constant", "linear_ramp")
        for ends in (1.5, (0.5, 2.0), [[1.0, 3.0]], np.array([0.5, 1.0]))
    ] + [sample(numbers(5, 6), float, ((1, 2), (2, 1)), "linear_ramp", ((0.5, 1.0), (2.0, 3.0)))]


@linear(pad_ends, wrt=["g"], steps=frozenset({"values"}), samples=_ends, dtype="unknown", casts=True)
def pad_ends_rule(z_bar: Any, g: Array, dtype: Any, pad_width: Any, mode: str = "constant", values: Any = 0) -> Array:
    return padded_ends(z_bar, g, dtype, pad_width, mode)


# --- diagonals and triangles ---


def _diags() -> Sequence[Sample]:
    return [
        sample(a, k)
        for a in (numbers(3), numbers(3, 3), numbers(2, 4), numbers(4, 2), complexes(2, 2), singles(2), numbers(0, 2))
        for k in (0, 1, -1, 2)
    ] + [sample(numbers(2, 3)), sample(numbers(2), k=-1), sample(numbers(0))]


@linear(
    np.diag,
    wrt=["v"],
    samples=_diags,
    result="unknown",
    infer=infer.shaping.to_or_from_diagonal,
    closer=infer.memory.of_diagonal,
    mirrors=False,
    steps=frozenset({"k"}),
)
def diag(z_bar: Array, v: Array, k: int = 0) -> Array:
    if ndim(v) == 1:
        return np.diag(z_bar, k)
    return undiag(z_bar, np.shape(v), k)


def _flat_diags() -> Sequence[Sample]:
    return [
        sample(numbers(3)),
        sample(numbers(2, 2), 1),
        sample(numbers(2), k=-2),
        sample(numbers()),
        sample(complexes(2)),
    ]


@linear(
    np.diagflat,
    wrt=["v"],
    samples=_flat_diags,
    infer=infer.axes.with_axes(infer.axes.always(2)),
    steps=frozenset({"k"}),
)
def diagflat(z_bar: Array, v: Array, k: int = 0) -> Array:
    return np.reshape(np.diagonal(z_bar, k), np.shape(v))


def _diagonals() -> Sequence[Sample]:
    a = numbers(2, 3, 4)
    return [
        sample(numbers(3, 3)),
        sample(numbers(2, 4), 1),
        sample(numbers(4, 2), -1),
        sample(numbers(2, 3), 5),
        sample(a),
        sample(a, 1, 0, 2),
        sample(a, -1, 2, 1),
        sample(a, offset=1, axis1=-1, axis2=0),
        sample(numbers(0, 2)),
        sample(complexes(2, 2)),
        sample(singles(2, 2)),
    ]


@linear(
    np.diagonal, wrt=["a"], samples=_diagonals, result="view", infer=infer.shaping.diagonal, mirrors=False, forms=METHOD
)
def diagonal(z_bar: Array, a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    return undiagonal(z_bar, np.shape(a), offset, axis1, axis2)


@linear(diagonal_view_, wrt=["a"], samples=_diagonals, result="view", infer=infer.shaping.diagonal)
def diagonal_view(z_bar: Array, a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    return undiagonal(z_bar, np.shape(a), offset, axis1, axis2)


def _traces() -> Sequence[Sample]:
    return [*_diagonals(), sample(singles(2, 3), dtype=float), sample(numbers(3, 3), 1, 0, 1, np.float32)]


@linear(
    np.trace,
    wrt=["a"],
    samples=_traces,
    infer=infer.axes.with_known_axes(infer.axes.fewer("a", 2)),
    forms=METHOD,
    reads_first=True,
)
def trace(z_bar: Array, a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Array:
    return untrace(z_bar, np.shape(a), offset, axis1, axis2)


def _last_diagonals() -> Sequence[Sample]:
    a = numbers(2, 3, 4)
    return [sample(a), sample(a, offset=1), sample(a, offset=-1), sample(numbers(3, 3)), sample(complexes(2, 2))]


@linear(
    np.linalg.diagonal,
    wrt=["x"],
    samples=_last_diagonals,
    infer=infer.axes.with_axes(infer.axes.fewer("x", 1)),
    result="view",
    mirrors=False,
)
def linalg_diagonal(z_bar: Array, x: Array, *, offset: int = 0) -> Array:
    return undiagonal(z_bar, np.shape(x), offset, -2, -1)


def _last_traces() -> Sequence[Sample]:
    return [*_last_diagonals(), sample(singles(2, 2), dtype=float)]


@linear(np.linalg.trace, wrt=["x"], samples=_last_traces, infer=infer.axes.with_known_axes(infer.axes.fewer("x", 2)))
def linalg_trace(z_bar: Array, x: Array, *, offset: int = 0, dtype: Any = None) -> Array:
    return untrace(z_bar, np.shape(x), offset, -2, -1)


def _triangles() -> Sequence[Sample]:
    return [
        sample(numbers(3, 3)),
        sample(numbers(2, 4), 1),
        sample(numbers(4, 2), k=-1),
        sample(numbers(2, 3, 3), -1),
        sample(numbers(3)),
        sample(numbers(3), 1),
        sample(numbers(0, 2)),
        sample(complexes(2, 2)),
        sample(singles(2, 2)),
    ]


@linear(np.tril, wrt=["m"], samples=_triangles, infer=infer.shaping.triangle, steps=frozenset({"k"}))
def tril(z_bar: Array, m: Array, k: int = 0) -> Array:
    if ndim(m) == 2:
        return np.tril(z_bar, k)
    return unbroadcast(np.tril(z_bar, k), np.shape(m))


@linear(np.triu, wrt=["m"], samples=_triangles, infer=infer.shaping.triangle, steps=frozenset({"k"}))
def triu(z_bar: Array, m: Array, k: int = 0) -> Array:
    if ndim(m) == 2:
        return np.triu(z_bar, k)
    return unbroadcast(np.triu(z_bar, k), np.shape(m))


# --- several arrays at once ---


def _vectors() -> Sequence[Sample]:
    x, y, w = numbers(2), numbers(3, seed=1), numbers(4, seed=2)
    return [
        sample(x, y),
        sample(x, y, w),
        sample(x, y, w, indexing="ij"),
        sample(x, y, sparse=True),
        sample(x, y, sparse=True, indexing="ij"),
        sample(x),
        sample(x, numbers()),
        sample(complexes(2), y),
        sample(x, y, copy=False),
    ]


@linear(
    np.meshgrid,
    wrt=["xi"],
    samples=_vectors,
    infer=infer.several.grids,
    result="unknown",
    closer=infer.memory.of_grids,
    gives=(tuple,),
)
def meshgrid(z_bar: Any, *xi: Array, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Array]:
    return [unmeshgrid(z_bar[i], i, np.shape(xi[i]), indexing) for i in range(len(xi))]
