"""Rules of differences along an axis, derivatives on a grid, the trapezoidal rule, and phases without jumps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer, sampling
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, constant, linear, ndim, rule, sample
from s2sad.runtime.arrays import unbroadcast, undiff
from s2sad.runtime.differences import (
    ediff_joints,
    gradient_adjoint,
    gradient_tangent,
    gradient_tangent_adjoints,
    gradient_tangent_tangent,
    joined_shape,
    joints,
    spacing_adjoint,
    spacing_adjoint_tangent,
    spacing_curvature,
    transposed_stretch,
    trapezoid_weights,
    untrapezoid,
    unwrap_period,
)
from s2sad.runtime.linear import like

Array = Any

constant(joined_shape, signature=lambda shape, n, axis, *ends: None, measures=True)
constant(joints, signature=lambda shape, n, axis, prepend: None, measures=True)
constant(ediff_joints)

# --- differences ---


def _differences() -> Sequence[Sample]:
    a = numbers(3, 4)
    return [
        *sampling.DIFFERENCES(),
        sample(a, prepend=0.5),
        sample(a, append=numbers(3, 2)),
        sample(a, 2, 0, prepend=numbers(1, 4), append=1.5),
        sample(a, 2, 0, numbers(2, 4), numbers(1, 4)),
        sample(a, 0, prepend=0.5),
        sample(numbers(3), prepend=[0.5, 1.5], append=2.5),
        sample(singles(3), prepend=singles(1), append=singles(2)),
        sample(complexes(3), prepend=0.5j),
    ]


# No difference at all (`n` 0) gives the argument itself.
@linear(
    np.diff,
    wrt=["a", "prepend", "append"],
    samples=_differences,
    result="unknown",
    infer=infer.axes.differences,
    closer=infer.memory.of_differences,
    steps=frozenset({"n"}),
)
def diff(
    z_bar: Array, a: Array, n: int = 1, axis: int = -1, prepend: Array = None, append: Array = None
) -> tuple[Array, Array, Array]:
    if prepend is None and append is None:
        return undiff(z_bar, np.shape(a), n, axis), 0.0, 0.0
    whole = undiff(z_bar, joined_shape(np.shape(a), n, axis, prepend, append), n, axis)
    parts = np.split(whole, joints(np.shape(a), n, axis, prepend), axis)
    return (
        parts[1],
        like(unbroadcast(parts[0], np.shape(prepend)), prepend),
        like(unbroadcast(parts[2], np.shape(append)), append),
    )


def _ediffs() -> Sequence[Sample]:
    return [
        sample(numbers(4)),
        sample(numbers(2, 3)),
        sample(numbers(4), 0.5, 1.5),
        sample(numbers(4), to_begin=numbers(2), to_end=numbers(3)),
        sample(numbers(4), to_begin=[0.5, 1.5]),
        sample(numbers(1), to_end=0.5),
        sample(np.zeros(0), to_end=0.5),
        sample(complexes(3)),
        sample(singles(3), singles(1)),
    ]


@linear(
    np.ediff1d,
    wrt=["ary", "to_end", "to_begin"],
    samples=_ediffs,
    infer=infer.axes.with_axes(infer.axes.always(1)),
    dtype="array",
)
def ediff1d(z_bar: Array, ary: Array, to_end: Array = None, to_begin: Array = None) -> tuple[Array, Array, Array]:
    if to_end is None and to_begin is None:
        return np.reshape(undiff(z_bar, (np.size(ary),)), np.shape(ary)), 0.0, 0.0
    parts = np.split(z_bar, ediff_joints(np.size(ary), to_begin))
    ary_bar = np.reshape(undiff(parts[1], (np.size(ary),)), np.shape(ary))
    if to_begin is None:
        return ary_bar, like(np.reshape(parts[2], np.shape(to_end)), to_end), 0.0
    if to_end is None:
        return ary_bar, 0.0, like(np.reshape(parts[0], np.shape(to_begin)), to_begin)
    return (
        ary_bar,
        like(np.reshape(parts[2], np.shape(to_end)), to_end),
        like(np.reshape(parts[0], np.shape(to_begin)), to_begin),
    )


# --- derivatives on a grid ---


def _grids() -> Sequence[Sample]:
    f, m, t = numbers(5), numbers(4, 5), numbers(3, 4, 3)
    x, y = np.array([0.0, 0.7, 1.1, 2.3, 2.9]), np.array([-1.0, 0.2, 0.9, 1.4])
    return [
        sample(f),
        sample(f, 0.5),
        sample(f, 0.5, edge_order=2),
        sample(f, x),
        sample(f, x, edge_order=2),
        sample(f, np.arange(5.0), edge_order=2),
        sample(m, y, x),
        sample(m, 0.5, edge_order=2),
        sample(m, 0.5, 2.0),
        sample(m),
        sample(m, y, 0.7, edge_order=2),
        sample(m, axis=0),
        sample(m, x, axis=-1),
        sample(m, y, x, axis=(0, 1), edge_order=2),
        sample(m, x, y, axis=(1, 0)),
        sample(t, 0.5, axis=(0, 2)),
        sample(t, axis=(1,)),
        sample(numbers(2), 1.5),
        sample(complexes(4), 0.5),
        sample(singles(4)),
    ]


def _gradient_jvp(
    f_dot: Array, varargs_dot: Any, f: Array, varargs: Any, axis: Any = None, edge_order: int = 1
) -> Array:
    return gradient_tangent(f_dot, varargs_dot, f, varargs, axis, edge_order)


@rule(
    np.gradient,
    wrt=["f", "varargs"],
    jvp=_gradient_jvp,
    samples=_grids,
    infer=infer.axes.gradients,
    dtype="array",
    gives=(tuple, np.ndarray),
)
def gradient(z_bar: Array, f: Array, *varargs: Any, axis: Any = None, edge_order: int = 1) -> tuple[Array, Any]:
    return (
        gradient_adjoint(z_bar, f, varargs, axis, edge_order),
        spacing_adjoint(z_bar, f, varargs, axis, edge_order),
    )


def _grid_adjoints() -> Sequence[Sample]:
    f, m = numbers(4), numbers(3, 4)
    x = np.array([0.0, 0.7, 1.1, 2.3])
    return [
        sample(f, f),
        sample(f, f, (x,), None, 2),
        sample((m, 2 * m), m, (0.5, x)),
        sample((m, 2 * m), m, (0.5,)),
        sample(m, m, (0.5,), 1),
        sample(complexes(4), f, (x,)),
    ]


def _gradient_adjoint_jvp(
    g_dot: Array, varargs_dot: Any, g: Any, f: Array, varargs: Any = (), axis: Any = None, edge_order: int = 1
) -> Array:
    moved = transposed_stretch(g, f, varargs, varargs_dot, axis, edge_order)
    return gradient_adjoint(g_dot, f, varargs, axis, edge_order) + moved


@rule(
    gradient_adjoint,
    wrt=["g", "varargs"],
    jvp=_gradient_adjoint_jvp,
    samples=_grid_adjoints,
    steps=frozenset({"f"}),
    infer=infer.adjoints.adjoint_of("f"),
)
def gradient_adjoint_rule(
    z_bar: Array, g: Any, f: Array, varargs: Any = (), axis: Any = None, edge_order: int = 1
) -> tuple[Array, Any]:
    return (
        gradient_tangent(z_bar, [0.0] * len(varargs), f, varargs, axis, edge_order),
        spacing_adjoint(g, z_bar, varargs, axis, edge_order),
    )


def _spacing_adjoint_jvp(
    g_dot: Array,
    f_dot: Array,
    varargs_dot: Any,
    g: Any,
    f: Array,
    varargs: Any,
    axis: Any = None,
    edge_order: int = 1,
) -> Any:
    return spacing_adjoint_tangent((g_dot, f_dot, varargs_dot), g, f, varargs, axis, edge_order)


@rule(
    spacing_adjoint,
    wrt=["g", "f", "varargs"],
    jvp=_spacing_adjoint_jvp,
    samples=lambda: _grid_adjoints()[1:],
    infer=infer.adjoints.in_the_form_of("varargs"),
    gives=(tuple,),
)
def spacing_adjoint_rule(
    z_bar: Any, g: Any, f: Array, varargs: Any, axis: Any = None, edge_order: int = 1
) -> tuple[Array, Array, Any]:
    return (
        gradient_tangent(0.0, z_bar, f, varargs, axis, edge_order),
        transposed_stretch(g, f, varargs, z_bar, axis, edge_order),
        spacing_curvature(g, f, varargs, z_bar, axis, edge_order),
    )


def _grid_tangents() -> Sequence[Sample]:
    f, m = numbers(4), numbers(3, 4)
    x, y = np.array([0.0, 0.7, 1.1, 2.3]), np.array([0.4, 1.3, -0.7, 0.2])
    return [
        sample(f, (y,), 2 * f, (x,), None, 2),
        sample(m, (0.3, y), 2 * m, (0.5, x)),
        sample(m, (0.3,), 2 * m, (0.5,)),
        sample(m, (0.3,), 2 * m, (0.5,), 1),
    ]


def _gradient_tangent_jvp(
    moves_dot: Array,
    stretch_dot: Any,
    f_dot: Array,
    varargs_dot: Any,
    moves: Array,
    stretch: Any,
    f: Array,
    varargs: Any,
    axis: Any = None,
    edge_order: int = 1,
) -> Any:
    ways = (moves_dot, stretch_dot, f_dot, varargs_dot)
    return gradient_tangent_tangent(ways, moves, stretch, f, varargs, axis, edge_order)


@rule(
    gradient_tangent,
    wrt=["moves", "stretch", "f", "varargs"],
    jvp=_gradient_tangent_jvp,
    samples=_grid_tangents,
    gives=(tuple, np.ndarray),
)
def gradient_tangent_rule(
    z_bar: Array, moves: Array, stretch: Any, f: Array, varargs: Any, axis: Any = None, edge_order: int = 1
) -> tuple[Array, Any, Array, Any]:
    moves_bar, stretch_bar, f_bar, varargs_bar = gradient_tangent_adjoints(
        z_bar, moves, stretch, f, varargs, axis, edge_order
    )
    return moves_bar, stretch_bar, f_bar, varargs_bar


# --- the trapezoidal rule ---


def _trapezoids() -> Sequence[Sample]:
    y, m = numbers(5), numbers(3, 4)
    x = np.array([0.0, 0.7, 1.1, 2.3, 2.9])
    return [
        sample(y),
        sample(y, dx=0.5),
        sample(y, x),
        sample(m),
        sample(m, axis=0),
        sample(m, x[:4]),
        sample(m, x=x[:3], axis=0),
        sample(m, np.cumsum(np.abs(m), axis=1)),
        sample(m, np.cumsum(np.abs(m), axis=0), axis=0),
        sample(numbers(2, 3, 4), dx=0.5, axis=1),
        sample(numbers(1)),
        sample(numbers(0)),
        sample(complexes(4), x[:4]),
        sample(singles(4), dx=0.5),
    ]


def _trapezoid_jvp(
    y_dot: Array, x_dot: Array, dx_dot: Array, y: Array, x: Array = None, dx: Array = 1.0, axis: int = -1
) -> Array:
    rising = trapezoid_weights(x if x is None else x_dot, dx_dot, y, axis)
    return np.sum(y_dot * trapezoid_weights(x, dx, y, axis) + y * rising, axis=axis)


def trapezoid(z_bar: Array, y: Array, x: Array = None, dx: Array = 1.0, axis: int = -1) -> tuple[Array, Array, Array]:
    y_bar = np.expand_dims(z_bar, axis) * trapezoid_weights(x, dx, y, axis)
    if x is None and ndim(dx) == 0:
        return y_bar, 0.0, np.sum(np.expand_dims(z_bar, axis) * y * trapezoid_weights(x, 1.0, y, axis))
    if x is None:
        dx_bar = np.sum(np.expand_dims(z_bar, axis) * y * trapezoid_weights(x, np.ones_like(dx), y, axis))
        return y_bar, 0.0, np.reshape(dx_bar, np.shape(dx))
    x_bar = untrapezoid(np.expand_dims(z_bar, axis) * y, x, y, axis)
    return y_bar if ndim(x) == 1 else unbroadcast(y_bar, np.shape(y)), x_bar, 0.0


# Programs for both NumPy 1 and 2 give one of the names the function of the other.
for _function in {getattr(np, name) for name in ("trapezoid", "trapz") if name in dir(np)}:
    rule(
        _function,
        wrt=["y", "x", "dx"],
        jvp=_trapezoid_jvp,
        samples=_trapezoids,
        infer=infer.axes.trapezoids,
        as_given=frozenset({"x"}),
    )(trapezoid)


def _weights() -> Sequence[Sample]:
    x = np.array([0.0, 0.7, 1.1])
    return [
        sample(x, 1.0, numbers(2, 3)),
        sample(x, 1.0, numbers(3, 2), 0),
        sample(numbers(2, 3), 1.0, numbers(2, 3)),
        sample(None, 0.5, numbers(2, 3)),
        sample(None, 0.5, numbers(3, 2), 0),
    ]


def _weights_jvp(x_dot: Array, dx_dot: Array, x: Array, dx: Array, y: Array, axis: int = -1) -> Array:
    return trapezoid_weights(x if x is None else x_dot, dx_dot, y, axis)


@rule(trapezoid_weights, wrt=["x", "dx"], jvp=_weights_jvp, samples=_weights, steps=frozenset({"y"}))
def trapezoid_weights_rule(z_bar: Array, x: Array, dx: Array, y: Array, axis: int = -1) -> tuple[Array, Array]:
    if x is None:
        return 0.0, np.sum(z_bar * trapezoid_weights(None, 1.0, y, axis))
    return untrapezoid(z_bar, x, y, axis), 0.0


def _unweights() -> Sequence[Sample]:
    x = np.array([0.0, 0.7, 1.1])
    return [
        sample(numbers(2, 3), x, numbers(2, 3)),
        sample(numbers(3, 2), x, numbers(3, 2), 0),
        sample(numbers(1, 3), x, numbers(2, 3)),
    ]


@linear(untrapezoid, wrt=["g"], samples=_unweights, steps=frozenset({"x", "y"}), result="unknown")
def untrapezoid_rule(z_bar: Array, g: Array, x: Array, y: Array, axis: int = -1) -> Array:
    return np.broadcast_to(trapezoid_weights(z_bar, 1.0, y, axis), np.shape(g))


# --- phases ---


def _phases() -> Sequence[Sample]:
    p = np.array([0.1, 3.0, -2.9, 0.4, 3.1, -3.0])
    m = np.array([[0.1, 3.0, -2.9], [1.2, -2.5, 2.7]])
    return [
        sample(p),
        sample(m),
        sample(m, axis=0),
        sample(p, 4.0),
        sample(p, period=3.0),
        sample(m, None, -1, period=5.0),
        sample(p.astype(np.float32)),
        sample(np.zeros(0)),
    ]


def _unwrap_jvp(p_dot: Array, period_dot: Array, z: Array, p: Array, period: Array) -> Array:
    return p_dot + (z - p) / period * period_dot


# What is added are whole numbers of periods.
@rule(np.unwrap, wrt=["p", "period"], jvp=_unwrap_jvp, samples=_phases, infer=infer.common.same_array)
def unwrap(
    z: Array, z_bar: Array, p: Array, discont: Any = None, axis: int = -1, *, period: Array = 2 * math.pi
) -> tuple[Array, Array]:
    return z_bar, unwrap_period(z_bar, z, p, axis, period)
