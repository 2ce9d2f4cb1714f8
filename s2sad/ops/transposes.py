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
from s2sad.ops.spec import Sample, constant, elementwise, linear, rule, sample
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
    unsplit,
    unstack,
    untake,
    untake_along_axis,
    untile,
    untrace,
    unvstack,
)
from s2sad.runtime.matrices import ratio
from s2sad.runtime.padding import unpad
from s2sad.runtime.systems import cofactor, cofactor_derivative, regular_inverse

Array = Any

constant(layout_order)

# --- structure and dtype ---


@linear(
    like,
    steps=["structure"],
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 2), [[1.0, 2.0], (3.0, 4.0)]), sample(numbers(2), numbers(2))],
    infer=infer.adjoints.in_the_form_of("structure"),
    closer=infer.memory.of_numbers(1),
    result="unknown",
)
def like_rule(z_bar: Any, g: Array, structure: Any) -> Array:
    return np.array(z_bar)


@linear(cast, wrt=["t"], samples=lambda: [sample(numbers(2), float), sample(complexes(2), complex)], result="unknown")
def cast_rule(z_bar: Array, t: Array, dtype: Any) -> Array:
    return uncast(z_bar, dtype, t)


@linear(
    uncast,
    steps=["a", "dtype"],
    casts=True,
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


@linear(untake, wrt=["g"], samples=_untakes, infer=infer.adjoints.into_shape, steps=["indices", "shape"])
def untake_rule(
    z_bar: Array, g: Array, shape: Shape, indices: Any, axis: int | None = None, mode: Any = "raise"
) -> Array:
    return np.take(z_bar, indices, axis, mode=mode)


@linear(
    untake_along_axis,
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 3), (2, 4), np.array([[1, 1, 0], [3, 2, 3]]), 1)],
    infer=infer.adjoints.into_shape,
    steps=["indices", "shape"],
)
def untake_along_axis_rule(z_bar: Array, g: Array, shape: Shape, indices: Any, axis: int | None) -> Array:
    return np.take_along_axis(z_bar, indices, axis)


@linear(
    undelete,
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 3), (2, 4), 1, 1), sample(numbers(3), (2, 2), 0, None)],
    infer=infer.adjoints.into_shape,
    steps=["obj", "shape"],
)
def undelete_rule(z_bar: Array, g: Array, shape: Shape, obj: Any, axis: int | None) -> Array:
    return np.delete(z_bar, obj, axis)


@linear(
    undiagonal,
    wrt=["g"],
    samples=lambda: [sample(numbers(2), (2, 3), 1), sample(numbers(4, 2), (2, 4, 3), 0, 2, 0)],
    infer=infer.adjoints.into_shape,
    steps=["shape"],
)
def undiagonal_rule(z_bar: Array, g: Array, shape: Shape, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    return np.diagonal(z_bar, offset, axis1, axis2)


@linear(
    untrace,
    wrt=["g"],
    samples=lambda: [sample(1.5, (2, 3), 1), sample(numbers(4), (2, 4, 3), 0, 2, 0)],
    infer=infer.adjoints.into_shape,
    steps=["shape"],
)
def untrace_rule(z_bar: Array, g: Array, shape: Shape, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    return np.trace(z_bar, offset, axis1, axis2)


@linear(
    undiag,
    wrt=["g"],
    samples=lambda: [sample(numbers(3, 3), (3,)), sample(numbers(2), (2, 3), 1)],
    infer=infer.adjoints.into_shape,
    result="unknown",
    steps=["k", "shape"],
)
def undiag_rule(z_bar: Array, g: Array, shape: Shape, k: int = 0) -> Array:
    return np.diag(z_bar, k)


@linear(
    unrepeat,
    wrt=["g"],
    samples=lambda: [sample(numbers(4), (2,), 2), sample(numbers(2, 3), (2, 2), [1, 2], 1)],
    infer=infer.adjoints.into_shape,
    steps=["repeats", "shape"],
)
def unrepeat_rule(z_bar: Array, g: Array, shape: Shape, repeats: Any, axis: int | None = None) -> Array:
    return np.repeat(z_bar, repeats, axis)


@linear(
    untile,
    wrt=["g"],
    samples=lambda: [sample(numbers(4), (2,), 2), sample(numbers(2, 6), (3,), (2, 2))],
    infer=infer.adjoints.into_shape,
    steps=["reps", "shape"],
)
def untile_rule(z_bar: Array, g: Array, shape: Shape, reps: Any) -> Array:
    return np.tile(z_bar, reps)


@linear(
    unpad,
    wrt=["g"],
    samples=lambda: [sample(numbers(5), (2,), (1, 2)), sample(numbers(6), (3,), (1, 2), "reflect")],
    infer=infer.adjoints.into_shape,
    result="unknown",
    steps=["shape"],
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
    steps=["shape"],
)
def unmeshgrid_rule(z_bar: Array, g: Array, index: int, shape: Shape, indexing: str = "xy") -> Array:
    return spread_vector(z_bar, np.shape(g), index, indexing)


# --- joining ---


def _two(*shapes: tuple[int, ...]) -> list[Any]:
    return [numbers(*shape) for shape in shapes]


@linear(
    unconcatenate,
    steps=["arrays"],
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 3), _two((2, 1), (2, 2)), 1), sample(numbers(2, 3), numbers(2, 1, 3))],
    closer=infer.memory.of_pieces,
    infer=infer.adjoints.adjoints_of_items("arrays"),
)
def unconcatenate_rule(z_bar: Any, g: Array, arrays: Any, axis: int | None = 0) -> Array:
    return np.concatenate(z_bar, axis)


@linear(
    unsplit,
    steps=["ary", "cuts"],
    wrt=["g"],
    samples=lambda: [
        sample(_two((2, 1), (2, 2)), numbers(2, 3), [1], 1),
        sample(_two((2,), (0,), (2,)), numbers(3), [2, 1]),
    ],
    infer=infer.adjoints.adjoint_of("ary"),
)
def unsplit_rule(z_bar: Array, g: Any, ary: Array, cuts: Any, axis: int = 0) -> Any:
    return np.array_split(like(z_bar, ary), cuts, axis)


@linear(
    unstack,
    steps=["arrays"],
    wrt=["g"],
    samples=lambda: [sample(numbers(3, 2), _two((3,), (3,)), 1), sample(numbers(2), [0.5, 1.5])],
    closer=infer.memory.of_layers,
    infer=infer.adjoints.adjoints_of_items("arrays"),
)
def unstack_rule(z_bar: Any, g: Array, arrays: Any, axis: int = 0) -> Array:
    return np.stack(z_bar, axis)


@linear(
    unvstack,
    steps=["tup"],
    wrt=["g"],
    samples=lambda: [sample(numbers(3, 2), _two((2,), (2, 2))), sample(numbers(2, 1), [0.5, 1.5])],
    closer=infer.memory.of_pieces,
)
def unvstack_rule(z_bar: Any, g: Array, tup: Any) -> Array:
    return np.vstack(z_bar)


@linear(
    unhstack,
    steps=["tup"],
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 3), _two((2, 1), (2, 2))), sample(numbers(2), [0.5, 1.5])],
    closer=infer.memory.of_pieces,
)
def unhstack_rule(z_bar: Any, g: Array, tup: Any) -> Array:
    return np.hstack(z_bar)


@linear(
    undstack,
    steps=["tup"],
    wrt=["g"],
    samples=lambda: [sample(numbers(1, 2, 2), _two((2,), (2,))), sample(numbers(1, 1, 2), [0.5, 1.5])],
    closer=infer.memory.of_pieces,
)
def undstack_rule(z_bar: Any, g: Array, tup: Any) -> Array:
    return np.dstack(z_bar)


@linear(
    uncolumn_stack,
    steps=["tup"],
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 3), _two((2,), (2, 2))), sample(numbers(1, 2), [0.5, 1.5])],
    closer=infer.memory.of_pieces,
)
def uncolumn_stack_rule(z_bar: Any, g: Array, tup: Any) -> Array:
    return np.column_stack(z_bar)


@linear(
    unblock,
    steps=["arrays"],
    wrt=["g"],
    samples=lambda: [sample(numbers(2, 3), [_two((1, 1), (1, 2)), _two((1, 3))])],
    result="unknown",
)
def unblock_rule(z_bar: Any, g: Array, arrays: Any) -> Array:
    return np.block(z_bar)


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


def _inverses() -> Sequence[Sample]:
    stack = numbers(3, 2, 2) + 3 * np.eye(2)
    return [sample(stack[0], 0.7), sample(stack, np.array([1.0, 0.0, 2.0])), sample(stack * (1 + 2j), 1.0)]


def _regular_inverse_jvp(a_dot: Array, z: Array, a: Array, used: Array) -> Array:
    return -z @ a_dot @ z


@rule(
    regular_inverse,
    wrt=["a"],
    jvp=_regular_inverse_jvp,
    samples=_inverses,
    steps=frozenset({"used"}),
    infer=infer.common.same_as_first,
)
def regular_inverse_rule(z: Array, z_bar: Array, a: Array, used: Array) -> Array:
    return -np.matrix_transpose(z) @ z_bar @ np.matrix_transpose(z)
