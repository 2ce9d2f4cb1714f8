"""Rules of NumPy's products: each linear in every operand.

The forms that people write (vectors and matrices) have their own text; behind
them stands a helper of `s2sad.runtime.contractions` that is right for all.
Nothing is conjugated but what the function itself conjugates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.forms import METHOD
from s2sad.ops.points import complexes, numbers, pairs, singles
from s2sad.ops.spec import Sample, bilinear, listed, ndim, real, rule, sample
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.contractions import (
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
    multi_dot_adjoint,
    multi_dot_adjoints,
    multi_dot_tangent,
    tensordot_left,
    tensordot_right,
    vecdot_left,
    vecdot_right,
)
from s2sad.runtime.einsum import einsum_adjoint, einsum_tangent

Array = Any


# --- matrix products ---


def _dots() -> Sequence[Sample]:
    return [
        *pairs(
            ((2, 3), (3, 4)),
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 4)),
            ((2, 3, 4), (4,)),
            ((4,), (2, 4, 3)),
            ((2, 3, 4), (4, 5)),
            ((2, 4), (3, 4, 2)),
            ((2, 3, 4), (2, 4, 3)),
            ((), (2, 3)),
            ((2, 3), ()),
            ((), ()),
            ((1, 1), (1, 3)),
            ((0, 3), (3, 2)),
            ((2, 0), (0, 2)),
            ((0,), (0,)),
        ),
        sample(2.5, numbers(3)),
        sample(numbers(3), 2.5),
        sample(1.5, 2.5),
    ]


@bilinear(
    np.dot, samples=_dots, infer=infer.products.product(stacked=False), odd=2, forms=METHOD, reads_first=True,
    lower_bound=infer.bounds.inner_product,
)  # fmt: skip
def dot(z_bar: Array, a: Array, b: Array) -> tuple[Array, Array]:
    if ndim(a) == 2 and ndim(b) == 2:
        return z_bar @ b.T, a.T @ z_bar
    if ndim(a) == 2 and ndim(b) == 1:
        return np.outer(z_bar, b), a.T @ z_bar
    if ndim(a) == 1 and ndim(b) == 2:
        return b @ z_bar, np.outer(a, z_bar)
    if ndim(a) == 1 and ndim(b) == 1:
        return z_bar * b, z_bar * a
    if ndim(a) > 2 and ndim(b) == 2:
        return z_bar @ b.T, matmul_right(z_bar, a, b)
    return dot_left(z_bar, a, b), dot_right(z_bar, a, b)


def _matmuls() -> Sequence[Sample]:
    return pairs(
        ((2, 3), (3, 4)),
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 4)),
        ((5, 2, 3), (5, 3, 4)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
        ((5, 2, 3), (3,)),
        ((3,), (5, 3, 4)),
        ((5, 1, 2, 3), (4, 3, 2)),
        ((1, 2, 3), (5, 3, 1)),
        ((0, 3), (3, 2)),
        ((2, 0), (0, 2)),
        ((0, 2, 3), (3, 2)),
        ((2, 3, 0), (0, 2)),
        ((2, 3, 2), (2, 0)),
    )


@bilinear(
    np.matmul, samples=_matmuls, infer=infer.products.product(stacked=True), lower_bound=infer.bounds.inner_product,
)  # fmt: skip
def matmul(z_bar: Array, x1: Array, x2: Array) -> tuple[Array, Array]:
    if ndim(x1) == 2 and ndim(x2) == 2:
        return z_bar @ x2.T, x1.T @ z_bar
    if ndim(x1) == 2 and ndim(x2) == 1:
        return np.outer(z_bar, x2), x1.T @ z_bar
    if ndim(x1) == 1 and ndim(x2) == 2:
        return x2 @ z_bar, np.outer(x1, z_bar)
    if ndim(x1) == 1 and ndim(x2) == 1:
        return z_bar * x2, z_bar * x1
    if ndim(x1) > 2 and ndim(x2) == 2:
        return z_bar @ x2.T, matmul_right(z_bar, x1, x2)
    return matmul_left(z_bar, x1, x2), matmul_right(z_bar, x1, x2)


bilinear(np.linalg.matmul, samples=_matmuls, infer=infer.products.product(stacked=True))(matmul)


def _vdots() -> Sequence[Sample]:
    return [
        *pairs(((3,), (3,)), ((2, 3), (2, 3)), ((2, 3), (6,)), ((0,), (0,)), ((), ()), ((1,), (1, 1))),
        sample(complexes(3), numbers(3)),
        sample(numbers(3), complexes(3)),
    ]


@bilinear(np.vdot, samples=_vdots, infer=infer.common.number_of_operands)
def vdot(z_bar: Array, a: Array, b: Array) -> tuple[Array, Array]:
    if ndim(a) == 1 and ndim(b) == 1 and real(a) and real(b):
        return z_bar * b, z_bar * a
    return np.reshape(np.conj(z_bar * np.ravel(b)), np.shape(a)), np.reshape(z_bar * np.conj(np.ravel(a)), np.shape(b))


def _inners() -> Sequence[Sample]:
    return [
        *pairs(
            ((3,), (3,)),
            ((2, 3), (4, 3)),
            ((2, 3), (3,)),
            ((3,), (4, 3)),
            ((2, 3, 4), (5, 4)),
            ((5, 4), (2, 3, 4)),
            ((), (2, 3)),
            ((2, 3), ()),
            ((0,), (0,)),
            ((2, 0), (3, 0)),
        ),
        sample(2.5, numbers(3)),
    ]


@bilinear(np.inner, samples=_inners, infer=infer.products.inner)
def inner(z_bar: Array, a: Array, b: Array) -> tuple[Array, Array]:
    if ndim(a) == 1 and ndim(b) == 1:
        return z_bar * b, z_bar * a
    if ndim(a) == 2 and ndim(b) == 2:
        return z_bar @ b, z_bar.T @ a
    return inner_left(z_bar, a, b), inner_right(z_bar, a, b)


def _outers() -> Sequence[Sample]:
    return [*pairs(((2,), (3,)), ((1,), (3,)), ((0,), (2,))), sample(numbers(3), numbers(3))]


def _outers_of_any_shape() -> Sequence[Sample]:
    return [*_outers(), *pairs(((2, 3), (4,)), ((2,), (2, 2)), ((), (3,)), ((), ())), sample(2.5, numbers(3))]


@bilinear(np.outer, samples=_outers_of_any_shape, infer=infer.products.outer, odd=2, reads_first=True)
def outer(z_bar: Array, a: Array, b: Array) -> tuple[Array, Array]:
    if ndim(a) == 1 and ndim(b) == 1:
        return z_bar @ b, a @ z_bar
    if ndim(a) == 1:
        return z_bar @ np.ravel(b), np.reshape(a @ z_bar, np.shape(b))
    if ndim(b) == 1:
        return np.reshape(z_bar @ b, np.shape(a)), np.ravel(a) @ z_bar
    return np.reshape(z_bar @ np.ravel(b), np.shape(a)), np.reshape(np.ravel(a) @ z_bar, np.shape(b))


@bilinear(np.linalg.outer, samples=_outers, infer=infer.axes.with_axes(infer.axes.always(2)))
def linalg_outer(z_bar: Array, x1: Array, x2: Array) -> tuple[Array, Array]:
    return z_bar @ x2, x1 @ z_bar


def _vector_pairs() -> Sequence[Sample]:
    return pairs(((3,), (3,)), ((2, 3), (2, 3)), ((2, 1, 3), (4, 3)), ((3,), (2, 3)), ((2, 0), (2, 0)))


def _vector_pairs_along() -> Sequence[Sample]:
    a, b = numbers(3, 4), numbers(3, 4, seed=1)
    points = [sample(a, b, axis=0), sample(a, b, axis=-2), sample(numbers(2, 3, 4), b, axis=-2)]
    points += [sample(a, numbers(3), axis=0), sample(numbers(3), complexes(3, 2), axis=0)]
    return [*_vector_pairs(), *points, sample(complexes(3, 4), complexes(2, 3, 4), axis=-1)]


@bilinear(np.vecdot, samples=_vector_pairs_along, infer=infer.axes.with_known_axes(infer.products.contracted(1, 1, 0)))
def vecdot(z_bar: Array, x1: Array, x2: Array, *, axis: int = -1) -> tuple[Array, Array]:
    if real(x1) and real(x2) and axis == -1:
        return (
            unbroadcast(np.expand_dims(z_bar, -1) * x2, np.shape(x1)),
            unbroadcast(np.expand_dims(z_bar, -1) * x1, np.shape(x2)),
        )
    if axis == -1:
        return (
            unbroadcast(np.conj(np.expand_dims(z_bar, -1) * x2), np.shape(x1)),
            unbroadcast(np.expand_dims(z_bar, -1) * np.conj(x1), np.shape(x2)),
        )
    return vecdot_left(z_bar, x1, x2, axis), vecdot_right(z_bar, x1, x2, axis)


@bilinear(
    np.linalg.vecdot, samples=_vector_pairs_along, infer=infer.axes.with_known_axes(infer.products.contracted(1, 1, 0))
)
def linalg_vecdot(z_bar: Array, x1: Array, x2: Array, *, axis: int = -1) -> tuple[Array, Array]:
    if real(x1) and real(x2) and axis == -1:
        return (
            unbroadcast(np.expand_dims(z_bar, -1) * x2, np.shape(x1)),
            unbroadcast(np.expand_dims(z_bar, -1) * x1, np.shape(x2)),
        )
    if axis == -1:
        return (
            unbroadcast(np.conj(np.expand_dims(z_bar, -1) * x2), np.shape(x1)),
            unbroadcast(np.expand_dims(z_bar, -1) * np.conj(x1), np.shape(x2)),
        )
    return vecdot_left(z_bar, x1, x2, axis), vecdot_right(z_bar, x1, x2, axis)


def _matvecs() -> Sequence[Sample]:
    return pairs(((2, 3), (3,)), ((5, 2, 3), (5, 3)), ((2, 3), (5, 3)), ((4, 1, 2, 3), (5, 3)), ((0, 3), (3,)))


def _vecmats() -> Sequence[Sample]:
    return pairs(((3,), (3, 2)), ((5, 3), (5, 3, 2)), ((5, 3), (3, 2)), ((5, 3), (4, 1, 3, 2)), ((3,), (3, 0)))


if hasattr(np, "matvec"):  # NumPy 2.2

    @bilinear(np.matvec, samples=_matvecs, infer=infer.axes.with_known_axes(infer.products.contracted(2, 1, 1)))
    def matvec(z_bar: Array, x1: Array, x2: Array) -> tuple[Array, Array]:
        return (
            unbroadcast(np.expand_dims(z_bar, -1) * np.expand_dims(x2, -2), np.shape(x1)),
            unbroadcast(np.matvec(np.matrix_transpose(x1), z_bar), np.shape(x2)),
        )

    @bilinear(np.vecmat, samples=_vecmats, infer=infer.axes.with_known_axes(infer.products.contracted(1, 2, 1)))
    def vecmat(z_bar: Array, x1: Array, x2: Array) -> tuple[Array, Array]:
        return (
            unbroadcast(np.conj(np.matvec(x2, z_bar)), np.shape(x1)),
            unbroadcast(np.conj(np.expand_dims(x1, -1)) * np.expand_dims(z_bar, -2), np.shape(x2)),
        )


def _chains() -> Sequence[Sample]:
    a, b, c = numbers(2, 3), numbers(3, 4), numbers(4, 5)
    return [
        sample([a, b]),
        sample([a, b, c]),
        sample((a, b, c, numbers(5, 2))),
        sample([numbers(3), b, c]),
        sample([a, b, numbers(4)]),
        sample([numbers(3), b, numbers(4)]),
        sample([numbers(3), numbers(3, seed=1)]),
        sample([complexes(2, 2), complexes(2, 2, seed=1), complexes(2, seed=2)]),
    ]


def _multi_dot_jvp(arrays_dot: Any, arrays: Any) -> Array:
    return multi_dot_tangent(arrays_dot, arrays)


@rule(
    np.linalg.multi_dot,
    wrt=["arrays"],
    jvp=_multi_dot_jvp,
    samples=_chains,
    infer=infer.axes.with_known_axes(infer.products.chained),
)
def multi_dot(z_bar: Array, arrays: Any) -> list[Array]:
    if listed(arrays):
        return [multi_dot_adjoint(z_bar, i, arrays) for i in range(len(arrays))]
    return multi_dot_adjoints(z_bar, arrays)


# --- products of tensors ---


def _contractions() -> Sequence[Sample]:
    a, b = numbers(2, 3, 4), numbers(4, 3, 5, seed=1)
    forms: list[Any] = [([1, 2], [1, 0]), ([2, 1], [0, 1]), ((-1, -2), (0, 1)), (2, 0), (-1, 0), ((2,), (0,))]
    return [
        *[sample(a, b, axes) for axes in forms],
        sample(numbers(2, 3, 4), numbers(3, 4, 5)),
        sample(numbers(2, 3), numbers(3, 4), axes=1),
        sample(numbers(2, 3), numbers(4), axes=0),
        sample(numbers(2, 3), numbers(2, 3), axes=2),
        sample(numbers(2, 3), numbers(2, 3), axes=[[1, 0], [1, 0]]),
        sample(numbers(), numbers(2), 0),
        sample(numbers(0, 3), numbers(3, 2), 1),
        sample(complexes(2, 3), complexes(3, 2), 1),
        sample(singles(2, 3), singles(3, 2), 1),
    ]


@bilinear(np.tensordot, wrt=["a", "b"], samples=_contractions, infer=infer.products.tensordot)
def tensordot(z_bar: Array, a: Array, b: Array, axes: Any = 2) -> tuple[Array, Array]:
    return tensordot_left(z_bar, a, b, axes), tensordot_right(z_bar, a, b, axes)


def _keyword_contractions() -> Sequence[Sample]:
    return [sample(numbers(2, 3, 4), numbers(3, 4)), sample(numbers(2, 3), numbers(4, 3), axes=([1], [1]))]


@bilinear(np.linalg.tensordot, wrt=["x1", "x2"], samples=_keyword_contractions)
def linalg_tensordot(z_bar: Array, x1: Array, x2: Array, *, axes: Any = 2) -> tuple[Array, Array]:
    return tensordot_left(z_bar, x1, x2, axes), tensordot_right(z_bar, x1, x2, axes)


def _einsums() -> Sequence[Sample]:
    a, b, c = numbers(2, 3), numbers(3, 4, seed=1), numbers(4, 2, seed=2)
    square = numbers(3, 3)
    batch, other = numbers(5, 2, 3), numbers(5, 3, 4, seed=1)
    return [
        sample("ij,jk->ik", a, b),
        sample("ij,jk", a, b),
        sample("ij, jk -> ki", a, b),
        sample("ij,jk,kl->il", a, b, c),
        sample("ij,jk,ki->", a, b, c),
        sample("ij,jk,ki", a, b, c, optimize=True),
        sample("ij,jk,kl->il", a, b, c, optimize="greedy"),
        sample("ij,jk,kl->il", a, b, c, optimize=["einsum_path", (0, 1), (0, 1)]),
        sample("ij->ji", a),
        sample("ij->", a),
        sample("ij->i", a),
        sample("ji", a),
        sample("ii", square),
        sample("ii->i", square),
        sample("ii->", square),
        sample("iji->j", numbers(2, 3, 2)),
        sample("iii->i", numbers(2, 2, 2)),
        sample("ii,i->i", square, numbers(3)),
        sample("ij,ij->i", a, numbers(2, 3, seed=1)),
        sample("ij,kl->ik", a, b),
        sample("i,j->ij", numbers(2), numbers(3)),
        sample("i,i", numbers(3), numbers(3, seed=1)),
        sample("i,->i", numbers(3), numbers()),
        sample(",", numbers(), 2.5),
        sample("...ij,...jk->...ik", batch, other),
        sample("...ij,...jk", batch, other),
        sample("...ij,jk->...ik", batch, b),
        sample("...ij,...jk", numbers(1, 2, 3), other),
        sample("i...,i...->...", batch, numbers(5, 2, 3, seed=1)),
        sample("...,...->...", numbers(2, 3), numbers(3)),
        sample("...ii->...i", numbers(2, 3, 3)),
        sample("ij,ij->ij", numbers(1, 3), a),
        sample("ij,ij->", numbers(1, 3), a),
        sample("ij,ij->ij", numbers(2, 1), numbers(1, 3)),
        sample("ij,jk->ik", numbers(0, 3), b),
        sample("ij,jk->ik", complexes(2, 3), complexes(3, 2)),
        sample("ij,jk->ik", singles(2, 3), singles(3, 2)),
        sample("ab,aC->bC", a, numbers(2, 2)),
        sample("ij,jk->ik", a, b, order="F", casting="same_kind"),
        sample("ij,jk->ik", singles(2, 3), singles(3, 2), dtype=float),
    ]


def _einsum_jvp(
    operands_dot: Any,
    subscripts: str,
    *operands: Array,
    dtype: Any = None,
    order: str = "K",
    casting: str = "safe",
    optimize: Any = False,
) -> Array:
    return einsum_tangent(operands_dot, subscripts, *operands, optimize=optimize)


@rule(
    np.einsum,
    wrt=["operands"],
    jvp=_einsum_jvp,
    samples=_einsums,
    result="unknown",
    infer=infer.products.einsum,
    closer=infer.memory.of_einsum,
    reads_first=True,
)
def einsum(
    z_bar: Array,
    subscripts: str,
    *operands: Array,
    dtype: Any = None,
    order: str = "K",
    casting: str = "safe",
    optimize: Any = False,
) -> list[Array]:
    return [einsum_adjoint(z_bar, i, subscripts, *operands, optimize=optimize) for i in range(len(operands))]


def _krons() -> Sequence[Sample]:
    return [
        *pairs(
            ((2,), (3,)), ((2, 3), (3, 2)), ((2, 3), (2,)), ((2,), (2, 3)), ((2, 1, 2), (2, 3)), ((), ()), ((0,), (2,))
        ),
        sample(2.5, numbers(2, 2)),
    ]


@bilinear(np.kron, samples=_krons, infer=infer.axes.with_known_axes(infer.axes.most("a", "b")))
def kron(z_bar: Array, a: Array, b: Array) -> tuple[Array, Array]:
    return kron_left(z_bar, a, b), kron_right(z_bar, a, b)


def _crosses() -> Sequence[Sample]:
    return pairs(((3,), (3,)), ((2, 3), (2, 3)), ((2, 3), (3,)), ((3,), (2, 3)), ((4, 1, 3), (2, 3)), ((0, 3), (3,)))


def _crosses_along() -> Sequence[Sample]:
    a, b = numbers(3, 2), numbers(3, 2, seed=1)
    return [
        *_crosses(),
        sample(a, b, axis=0),
        sample(a, b, 0, 0),
        sample(a, b, 0, 0, 0),
        sample(a, numbers(2, 3), axisa=0),
        sample(a, numbers(4, 2, 3), axisa=0, axisb=-1, axisc=1),
        sample(numbers(3, 4, 2), numbers(2, 3), axisa=0, axisb=1, axisc=0),
    ]


@bilinear(np.cross, wrt=["a", "b"], samples=_crosses_along, infer=infer.products.crossed)
def cross(
    z_bar: Array, a: Array, b: Array, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> tuple[Array, Array]:
    return cross_left(z_bar, a, b, axisa, axisb, axisc, axis), cross_right(z_bar, a, b, axisa, axisb, axisc, axis)


def _linalg_crosses() -> Sequence[Sample]:
    return [*_crosses(), sample(numbers(3, 2), numbers(3, 2, seed=1), axis=0)]


@bilinear(
    np.linalg.cross, wrt=["x1", "x2"], samples=_linalg_crosses, infer=infer.axes.with_axes(infer.axes.most("x1", "x2"))
)
def linalg_cross(z_bar: Array, x1: Array, x2: Array, *, axis: int = -1) -> tuple[Array, Array]:
    return cross_left(z_bar, x1, x2, axis, axis, axis), cross_right(z_bar, x1, x2, axis, axis, axis)
