"""Rules of the adjoints of products, bilinear in the adjoint of the result and the other operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers
from s2sad.ops.spec import Sample, bilinear, linear, rule, sample
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
from s2sad.runtime.einsum import (
    einsum_adjoint,
    einsum_adjoint_adjoint,
    einsum_adjoint_tangent,
    einsum_of_others,
    einsum_view,
)

Array = Any


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
    dot_left, steps=["a"], wrt=["g", "b"], samples=_left(np.dot, *_DOTS), infer=infer.adjoints.adjoint_of("a"), calls=()
)
def dot_left_rule(z_bar: Array, g: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return np.dot(z_bar, b), dot_right(g, z_bar, b)


@bilinear(
    dot_right,
    steps=["b"],
    wrt=["g", "a"],
    samples=_left(np.dot, *_DOTS),
    infer=infer.adjoints.adjoint_of("b"),
    calls=(),
)
def dot_right_rule(z_bar: Array, g: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return np.dot(a, z_bar), dot_left(g, a, z_bar)


@bilinear(
    matmul_left,
    steps=["x1"],
    wrt=["g", "x2"],
    samples=_left(np.matmul, *_MATMULS),
    infer=infer.adjoints.adjoint_of("x1"),
    calls=(),
)
def matmul_left_rule(z_bar: Array, g: Array, x1: Array, x2: Array) -> tuple[Array, Array]:
    return z_bar @ x2, matmul_right(g, z_bar, x2)


@bilinear(
    matmul_right,
    steps=["x2"],
    wrt=["g", "x1"],
    samples=_left(np.matmul, *_MATMULS),
    infer=infer.adjoints.adjoint_of("x2"),
    calls=(),
)
def matmul_right_rule(z_bar: Array, g: Array, x1: Array, x2: Array) -> tuple[Array, Array]:
    return x1 @ z_bar, matmul_left(g, x1, z_bar)


@bilinear(
    inner_left, steps=["a"], wrt=["g", "b"], samples=_left(np.inner, *_INNERS), infer=infer.adjoints.adjoint_of("a")
)
def inner_left_rule(z_bar: Array, g: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return np.inner(z_bar, b), inner_right(g, z_bar, b)


@bilinear(
    inner_right, steps=["b"], wrt=["g", "a"], samples=_left(np.inner, *_INNERS), infer=infer.adjoints.adjoint_of("b")
)
def inner_right_rule(z_bar: Array, g: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return np.inner(a, z_bar), inner_left(g, a, z_bar)


@bilinear(
    tensordot_left,
    steps=["a"],
    wrt=["g", "b"],
    samples=_left(np.tensordot, *_TENSORS, axes=2),
    infer=infer.adjoints.adjoint_of("a"),
)
def tensordot_left_rule(z_bar: Array, g: Array, a: Array, b: Array, axes: Any = 2) -> tuple[Array, Array]:
    return np.tensordot(z_bar, b, axes), tensordot_right(g, z_bar, b, axes)


@bilinear(
    tensordot_right,
    steps=["b"],
    wrt=["g", "a"],
    samples=_left(np.tensordot, *_TENSORS, axes=2),
    infer=infer.adjoints.adjoint_of("b"),
)
def tensordot_right_rule(z_bar: Array, g: Array, a: Array, b: Array, axes: Any = 2) -> tuple[Array, Array]:
    return np.tensordot(a, z_bar, axes), tensordot_left(g, a, z_bar, axes)


@bilinear(kron_left, steps=["a"], wrt=["g", "b"], samples=_left(np.kron, *_KRONS), infer=infer.adjoints.adjoint_of("a"))
def kron_left_rule(z_bar: Array, g: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return np.kron(z_bar, b), kron_right(g, z_bar, b)


@bilinear(
    kron_right, steps=["b"], wrt=["g", "a"], samples=_left(np.kron, *_KRONS), infer=infer.adjoints.adjoint_of("b")
)
def kron_right_rule(z_bar: Array, g: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return np.kron(a, z_bar), kron_left(g, a, z_bar)


@bilinear(
    cross_left, steps=["a"], wrt=["g", "b"], samples=_left(np.cross, *_CROSSES), infer=infer.adjoints.adjoint_of("a")
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
    cross_right, steps=["b"], wrt=["g", "a"], samples=_left(np.cross, *_CROSSES), infer=infer.adjoints.adjoint_of("b")
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
    steps=["a"],
    wrt=["g", "v"],
    samples=_left(np.convolve, *_SLIDES, mode="same"),
    infer=infer.adjoints.adjoint_of("a"),
)
def convolve_left_rule(z_bar: Array, g: Array, a: Array, v: Array, mode: Any = "full") -> tuple[Array, Array]:
    return np.convolve(z_bar, v, mode), convolve_right(g, z_bar, v, mode)


@bilinear(
    convolve_right,
    steps=["v"],
    wrt=["g", "a"],
    samples=_left(np.convolve, *_SLIDES, mode="valid"),
    infer=infer.adjoints.adjoint_of("v"),
)
def convolve_right_rule(z_bar: Array, g: Array, a: Array, v: Array, mode: Any = "full") -> tuple[Array, Array]:
    return np.convolve(a, z_bar, mode), convolve_left(g, a, z_bar, mode)


@bilinear(
    correlate_left,
    steps=["a"],
    wrt=["g", "v"],
    samples=_left(np.correlate, *_SLIDES, mode="same"),
    infer=infer.adjoints.adjoint_of("a"),
)
def correlate_left_rule(z_bar: Array, g: Array, a: Array, v: Array, mode: Any = "valid") -> tuple[Array, Array]:
    return np.correlate(z_bar, v, mode), correlate_right(g, z_bar, v, mode)


@bilinear(
    correlate_right,
    steps=["v"],
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
    return einsum_of_others(z_bar, index, subscripts, *operands, optimize=optimize), [
        einsum_adjoint_adjoint(z_bar, g, index, i, subscripts, *operands, optimize=optimize)
        for i in range(len(operands))
    ]


def _einsum_views() -> Sequence[Sample]:
    points = [
        (numbers(2, 3), "ij->ji"),
        (numbers(3, 3), "ii->i"),
        (numbers(2, 2, 3), "iij->ji"),
        (complexes(2, 2), "ii->i"),
    ]
    return [sample(a, subscripts) for a, subscripts in points]


@linear(einsum_view, wrt=["a"], samples=_einsum_views, result="view", infer=infer.products.einsum_of_one)
def einsum_view_rule(z_bar: Array, a: Array, subscripts: str) -> Array:
    return einsum_adjoint(z_bar, 0, subscripts, a)
