"""Rules of the runtime's transposes, so that emitted adjoints can be differentiated again.

The transpose of a transpose is the function itself; an operand's adjoint in a
product is again linear in each of what it is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers
from s2sad.ops.spec import Sample, bilinear, constant, elementwise, linear, rule, sample
from s2sad.runtime.contractions import (
    convolve_left,
    convolve_right,
    correlate_left,
    correlate_right,
    cross_left,
    cross_right,
    dot_left,
    dot_right,
    inner_left,
    inner_right,
    kron_left,
    kron_right,
    matmul_left,
    matmul_right,
    tensordot_left,
    tensordot_right,
)
from s2sad.runtime.einsum import einsum_adjoint, einsum_adjoint_adjoint, einsum_adjoint_tangent
from s2sad.runtime.linear import (
    Shape,
    cast,
    layout_order,
    like,
    spread_vector,
    unblock,
    uncast,
    uncolumn_stack,
    unconcatenate,
    undelete,
    undiag,
    undiagonal,
    undstack,
    unhstack,
    unmeshgrid,
    unrepeat,
    unrollaxis,
    unstack,
    untake,
    untake_along_axis,
    untile,
    untrace,
    unvstack,
)
from s2sad.runtime.matrices import ratio
from s2sad.runtime.padding import unpad
from s2sad.runtime.systems import cofactor, cofactor_derivative

Array = Any

constant(layout_order)

# --- structure and dtype ---


@linear(
    like,
    steps=frozenset({"structure"}),
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 2), [[1.0, 2.0], (3.0, 4.0)]), sample(numbers(2), numbers(2))],
    result="unknown",
)
def like_rule(z_bar: Any, g: Array, structure: Any) -> Array:
    return np.array(z_bar)


@linear(cast, wrt=["t"], samples=lambda: [sample(numbers(2), float), sample(complexes(2), complex)], result="unknown")
def cast_rule(z_bar: Array, t: Array, dtype: Any) -> Array:
    return uncast(z_bar, dtype, t)


@linear(
    uncast,
    steps=frozenset({"a"}),
    wrt=["g"],
    samples=lambda: [sample(numbers(2), float, numbers(2)), sample(numbers(2), int, numbers(2))],
    result="unknown",
)
def uncast_rule(z_bar: Array, g: Array, dtype: Any, a: Array) -> Array:
    return cast(z_bar, dtype)


# --- gathering and repeating ---


def _untakes() -> Sequence[Sample]:
    i = np.array([0, 2, 0])
    return [sample(numbers(3), (4,), i), sample(numbers(2, 3), (2, 4), i, 1), sample(numbers(3), (4,), i, 0, "wrap")]


@linear(untake, wrt=["g"], samples=_untakes, infer=infer.adjoints.into_shape, steps=frozenset({"indices", "shape"}))
def untake_rule(
    z_bar: Array, g: Array, shape: Shape, indices: Any, axis: int | None = None, mode: Any = "raise"
) -> Array:
    return np.take(z_bar, indices, axis, mode=mode)


@linear(
    untake_along_axis,
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 3), (2, 4), np.array([[1, 1, 0], [3, 2, 3]]), 1)],
    infer=infer.adjoints.into_shape,
    steps=frozenset({"indices", "shape"}),
)
def untake_along_axis_rule(z_bar: Array, g: Array, shape: Shape, indices: Any, axis: int | None) -> Array:
    return np.take_along_axis(z_bar, indices, axis)


@linear(
    undelete,
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 3), (2, 4), 1, 1), sample(numbers(3), (2, 2), 0, None)],
    infer=infer.adjoints.into_shape,
    steps=frozenset({"obj", "shape"}),
)
def undelete_rule(z_bar: Array, g: Array, shape: Shape, obj: Any, axis: int | None) -> Array:
    return np.delete(z_bar, obj, axis)


@linear(
    undiagonal,
    wrt=["g"],
    samples=lambda: [sample(numbers(2), (2, 3), 1), sample(numbers(4, 2), (2, 4, 3), 0, 2, 0)],
    infer=infer.adjoints.into_shape,
    steps=frozenset({"shape"}),
)
def undiagonal_rule(z_bar: Array, g: Array, shape: Shape, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    return np.diagonal(z_bar, offset, axis1, axis2)


@linear(
    untrace,
    wrt=["g"],
    samples=lambda: [sample(1.5, (2, 3), 1), sample(numbers(4), (2, 4, 3), 0, 2, 0)],
    infer=infer.adjoints.into_shape,
    steps=frozenset({"shape"}),
)
def untrace_rule(z_bar: Array, g: Array, shape: Shape, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    return np.trace(z_bar, offset, axis1, axis2)


@linear(
    undiag,
    wrt=["g"],
    samples=lambda: [sample(numbers(3, 3), (3,)), sample(numbers(2), (2, 3), 1)],
    infer=infer.adjoints.into_shape,
    result="unknown",
    steps=frozenset({"k", "shape"}),
)
def undiag_rule(z_bar: Array, g: Array, shape: Shape, k: int = 0) -> Array:
    return np.diag(z_bar, k)


@linear(
    unrepeat,
    wrt=["g"],
    samples=lambda: [sample(numbers(4), (2,), 2), sample(numbers(2, 3), (2, 2), [1, 2], 1)],
    infer=infer.adjoints.into_shape,
    steps=frozenset({"repeats", "shape"}),
)
def unrepeat_rule(z_bar: Array, g: Array, shape: Shape, repeats: Any, axis: int | None = None) -> Array:
    return np.repeat(z_bar, repeats, axis)


@linear(
    untile,
    wrt=["g"],
    samples=lambda: [sample(numbers(4), (2,), 2), sample(numbers(2, 6), (3,), (2, 2))],
    infer=infer.adjoints.into_shape,
    steps=frozenset({"reps", "shape"}),
)
def untile_rule(z_bar: Array, g: Array, shape: Shape, reps: Any) -> Array:
    return np.tile(z_bar, reps)


@linear(
    unpad,
    wrt=["g"],
    samples=lambda: [sample(numbers(5), (2,), (1, 2)), sample(numbers(6), (3,), (1, 2), "reflect")],
    infer=infer.adjoints.into_shape,
    result="unknown",
    steps=frozenset({"shape"}),
)
def unpad_rule(z_bar: Array, g: Array, shape: Shape, pad_width: Any, mode: Any = "constant") -> Array:
    return np.pad(z_bar, pad_width, mode)


@linear(
    unrollaxis, wrt=["g"], samples=lambda: [sample(numbers(2, 3, 4), 2), sample(numbers(2, 3, 4), 0, 2)], result="view"
)
def unrollaxis_rule(z_bar: Array, g: Array, axis: int, start: int = 0) -> Array:
    return np.rollaxis(z_bar, axis, start)


@linear(
    unmeshgrid,
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 3), i, (n,)) for i, n in ((0, 3), (1, 2))],
    steps=frozenset({"shape"}),
)
def unmeshgrid_rule(z_bar: Array, g: Array, index: int, shape: Shape, indexing: str = "xy") -> Array:
    return spread_vector(z_bar, np.shape(g), index, indexing)


# --- joining ---


def _two(*shapes: tuple[int, ...]) -> list[Any]:
    return [numbers(*shape) for shape in shapes]


@linear(
    unconcatenate,
    steps=frozenset({"arrays"}),
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 3), _two((2, 1), (2, 2)), 1)],
    result="view",
    infer=infer.adjoints.adjoints_of_items("arrays"),
)
def unconcatenate_rule(z_bar: Any, g: Array, arrays: Any, axis: int | None = 0) -> Array:
    return np.concatenate(z_bar, axis)


@linear(
    unstack,
    steps=frozenset({"arrays"}),
    wrt=["g"],
    samples=lambda: [sample(numbers(3, 2), _two((3,), (3,)), 1)],
    result="view",
    infer=infer.adjoints.adjoints_of_items("arrays"),
)
def unstack_rule(z_bar: Any, g: Array, arrays: Any, axis: int = 0) -> Array:
    return np.stack(z_bar, axis)


@linear(
    unvstack,
    steps=frozenset({"tup"}),
    wrt=["g"],
    samples=lambda: [sample(numbers(3, 2), _two((2,), (2, 2)))],
    result="view",
)
def unvstack_rule(z_bar: Any, g: Array, tup: Any) -> Array:
    return np.vstack(z_bar)


@linear(
    unhstack,
    steps=frozenset({"tup"}),
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 3), _two((2, 1), (2, 2)))],
    result="view",
)
def unhstack_rule(z_bar: Any, g: Array, tup: Any) -> Array:
    return np.hstack(z_bar)


@linear(
    undstack,
    steps=frozenset({"tup"}),
    wrt=["g"],
    samples=lambda: [sample(numbers(1, 2, 2), _two((2,), (2,)))],
    result="view",
)
def undstack_rule(z_bar: Any, g: Array, tup: Any) -> Array:
    return np.dstack(z_bar)


@linear(
    uncolumn_stack,
    steps=frozenset({"tup"}),
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 3), _two((2,), (2, 2)))],
    result="view",
)
def uncolumn_stack_rule(z_bar: Any, g: Array, tup: Any) -> Array:
    return np.column_stack(z_bar)


@linear(
    unblock,
    steps=frozenset({"arrays"}),
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 3), [_two((1, 1), (1, 2)), _two((1, 3))])],
    result="view",
)
def unblock_rule(z_bar: Any, g: Array, arrays: Any) -> Array:
    return np.block(z_bar)


# --- products: bilinear in the result's adjoint and the other operand ---


def _left(f: Any, *shapes: Any, **options: Any) -> Any:
    """Return samples ``(g, a, b)`` for operands ``a`` and ``b`` of each pair of shapes in the product ``f``."""

    def samples() -> Sequence[Sample]:
        points = []
        for shape_a, shape_b in shapes:
            a, b = numbers(*shape_a), numbers(*shape_b, seed=1)
            points.append(sample(numbers(*np.shape(f(a, b, **options)), seed=2), a, b, **options))
        return points

    return samples


_DOTS = (((2, 3), (3, 4)), ((3,), (3,)), ((2, 3, 4), (4,)), ((2, 4), (3, 4, 2)), ((), (2,)))
_MATMULS = (((2, 3), (3, 4)), ((3,), (3,)), ((5, 2, 3), (3,)), ((2, 3), (5, 3, 4)))
_INNERS = (((2, 3), (4, 3)), ((3,), (3,)), ((2, 3, 4), (4,)))
_KRONS = (((2, 3), (2,)), ((2,), (3,)))
_SLIDES = (((4,), (3,)), ((2,), (5,)))
_CROSSES = (((2, 3), (3,)), ((3,), (3,)))
_TENSORS = (((2, 3, 4), (3, 4, 5)), ((2, 3), (2, 3)))


@bilinear(
    dot_left,
    steps=frozenset({"a"}),
    wrt=["g", "b"],
    samples=_left(np.dot, *_DOTS),
    infer=infer.adjoints.adjoint_of("a"),
)
def dot_left_rule(z_bar: Array, g: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return np.dot(z_bar, b), dot_right(g, z_bar, b)


@bilinear(
    dot_right,
    steps=frozenset({"b"}),
    wrt=["g", "a"],
    samples=_left(np.dot, *_DOTS),
    infer=infer.adjoints.adjoint_of("b"),
)
def dot_right_rule(z_bar: Array, g: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return np.dot(a, z_bar), dot_left(g, a, z_bar)


@bilinear(
    matmul_left,
    steps=frozenset({"x1"}),
    wrt=["g", "x2"],
    samples=_left(np.matmul, *_MATMULS),
    infer=infer.adjoints.adjoint_of("x1"),
)
def matmul_left_rule(z_bar: Array, g: Array, x1: Array, x2: Array) -> tuple[Array, Array]:
    return np.matmul(z_bar, x2), matmul_right(g, z_bar, x2)


@bilinear(
    matmul_right,
    steps=frozenset({"x2"}),
    wrt=["g", "x1"],
    samples=_left(np.matmul, *_MATMULS),
    infer=infer.adjoints.adjoint_of("x2"),
)
def matmul_right_rule(z_bar: Array, g: Array, x1: Array, x2: Array) -> tuple[Array, Array]:
    return np.matmul(x1, z_bar), matmul_left(g, x1, z_bar)


@bilinear(
    inner_left,
    steps=frozenset({"a"}),
    wrt=["g", "b"],
    samples=_left(np.inner, *_INNERS),
    infer=infer.adjoints.adjoint_of("a"),
)
def inner_left_rule(z_bar: Array, g: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return np.inner(z_bar, b), inner_right(g, z_bar, b)


@bilinear(
    inner_right,
    steps=frozenset({"b"}),
    wrt=["g", "a"],
    samples=_left(np.inner, *_INNERS),
    infer=infer.adjoints.adjoint_of("b"),
)
def inner_right_rule(z_bar: Array, g: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return np.inner(a, z_bar), inner_left(g, a, z_bar)


@bilinear(
    tensordot_left,
    steps=frozenset({"a"}),
    wrt=["g", "b"],
    samples=_left(np.tensordot, *_TENSORS, axes=2),
    infer=infer.adjoints.adjoint_of("a"),
)
def tensordot_left_rule(z_bar: Array, g: Array, a: Array, b: Array, axes: Any = 2) -> tuple[Array, Array]:
    return np.tensordot(z_bar, b, axes), tensordot_right(g, z_bar, b, axes)


@bilinear(
    tensordot_right,
    steps=frozenset({"b"}),
    wrt=["g", "a"],
    samples=_left(np.tensordot, *_TENSORS, axes=2),
    infer=infer.adjoints.adjoint_of("b"),
)
def tensordot_right_rule(z_bar: Array, g: Array, a: Array, b: Array, axes: Any = 2) -> tuple[Array, Array]:
    return np.tensordot(a, z_bar, axes), tensordot_left(g, a, z_bar, axes)


@bilinear(
    kron_left,
    steps=frozenset({"a"}),
    wrt=["g", "b"],
    samples=_left(np.kron, *_KRONS),
    infer=infer.adjoints.adjoint_of("a"),
)
def kron_left_rule(z_bar: Array, g: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return np.kron(z_bar, b), kron_right(g, z_bar, b)


@bilinear(
    kron_right,
    steps=frozenset({"b"}),
    wrt=["g", "a"],
    samples=_left(np.kron, *_KRONS),
    infer=infer.adjoints.adjoint_of("b"),
)
def kron_right_rule(z_bar: Array, g: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return np.kron(a, z_bar), kron_left(g, a, z_bar)


@bilinear(
    cross_left,
    steps=frozenset({"a"}),
    wrt=["g", "b"],
    samples=_left(np.cross, *_CROSSES),
    infer=infer.adjoints.adjoint_of("a"),
)
def cross_left_rule(
    z_bar: Array,
    g: Array,
    a: Array,
    b: Array,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> tuple[Array, Array]:
    return np.cross(z_bar, b, axisa, axisb, axisc, axis), cross_right(g, z_bar, b, axisa, axisb, axisc, axis)


@bilinear(
    cross_right,
    steps=frozenset({"b"}),
    wrt=["g", "a"],
    samples=_left(np.cross, *_CROSSES),
    infer=infer.adjoints.adjoint_of("b"),
)
def cross_right_rule(
    z_bar: Array,
    g: Array,
    a: Array,
    b: Array,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> tuple[Array, Array]:
    return np.cross(a, z_bar, axisa, axisb, axisc, axis), cross_left(g, a, z_bar, axisa, axisb, axisc, axis)


@bilinear(
    convolve_left,
    steps=frozenset({"a"}),
    wrt=["g", "v"],
    samples=_left(np.convolve, *_SLIDES, mode="same"),
    infer=infer.adjoints.adjoint_of("a"),
)
def convolve_left_rule(z_bar: Array, g: Array, a: Array, v: Array, mode: Any = "full") -> tuple[Array, Array]:
    return np.convolve(z_bar, v, mode), convolve_right(g, z_bar, v, mode)


@bilinear(
    convolve_right,
    steps=frozenset({"v"}),
    wrt=["g", "a"],
    samples=_left(np.convolve, *_SLIDES, mode="valid"),
    infer=infer.adjoints.adjoint_of("v"),
)
def convolve_right_rule(z_bar: Array, g: Array, a: Array, v: Array, mode: Any = "full") -> tuple[Array, Array]:
    return np.convolve(a, z_bar, mode), convolve_left(g, a, z_bar, mode)


@bilinear(
    correlate_left,
    steps=frozenset({"a"}),
    wrt=["g", "v"],
    samples=_left(np.correlate, *_SLIDES, mode="same"),
    infer=infer.adjoints.adjoint_of("a"),
)
def correlate_left_rule(z_bar: Array, g: Array, a: Array, v: Array, mode: Any = "valid") -> tuple[Array, Array]:
    return np.correlate(z_bar, v, mode), correlate_right(g, z_bar, v, mode)


@bilinear(
    correlate_right,
    steps=frozenset({"v"}),
    wrt=["g", "a"],
    samples=_left(np.correlate, *_SLIDES, mode="full"),
    infer=infer.adjoints.adjoint_of("v"),
)
def correlate_right_rule(z_bar: Array, g: Array, a: Array, v: Array, mode: Any = "valid") -> tuple[Array, Array]:
    return np.correlate(a, z_bar, mode), correlate_left(g, a, z_bar, mode)


def _einsum_adjoints() -> Sequence[Sample]:
    a, b = numbers(2, 3), numbers(3, 4, seed=1)
    return [
        *[sample(numbers(2, 4), i, "ij,jk->ik", a, b) for i in (0, 1)],
        *[sample(1.5, i, "ij,jk,ki->", a, b, numbers(4, 2)) for i in (0, 1, 2)],
        sample(numbers(2), 0, "ij->i", a),
    ]


def _einsum_adjoint_jvp(
    g_dot: Array, operands_dot: Any, g: Array, index: int, subscripts: str, *operands: Array, optimize: Any = False
) -> Array:
    return einsum_adjoint_tangent(g_dot, operands_dot, g, index, subscripts, *operands, optimize=optimize)


@rule(
    einsum_adjoint,
    wrt=["g", "operands"],
    jvp=_einsum_adjoint_jvp,
    samples=_einsum_adjoints,
    infer=infer.adjoints.adjoint_of_operand,
    result="unknown",
)
def einsum_adjoint_rule(
    z_bar: Array, g: Array, index: int, subscripts: str, *operands: Array, optimize: Any = False
) -> tuple[Array, list[Array]]:
    return np.einsum(subscripts, *operands[:index], z_bar, *operands[index + 1 :], optimize=optimize), [
        einsum_adjoint_adjoint(z_bar, g, index, i, subscripts, *operands, optimize=optimize)
        for i in range(len(operands))
    ]


# --- linear algebra ---


@elementwise(ratio, samples=lambda: [sample(numbers(3), np.array([-1.5, 0.8, 2.0])), sample(1.5, np.full((2, 2), 0.7))])
def ratio_rule(a: Array, b: Array) -> tuple[Array, Array]:
    return ratio(1.0, b), -ratio(ratio(a, b), b)


def _cofactors() -> Sequence[Sample]:
    return [sample(numbers(3, 3) + 2 * np.eye(3)), sample(numbers(2, 2, 2)), sample(complexes(2, 2))]


def _cofactor_jvp(a_dot: Array, z: Array, a: Array) -> Array:
    return cofactor_derivative(a_dot, z, a)


@rule(cofactor, jvp=_cofactor_jvp, samples=_cofactors, infer=infer.common.same_as_first)
def cofactor_rule(z: Array, z_bar: Array, a: Array) -> Array:
    return cofactor_derivative(z_bar, z, a)
