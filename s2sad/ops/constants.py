"""The functions whose result has no derivative: positions, counts, comparisons, shapes, dtypes.

A function stands here only if its derivative is zero almost everywhere whatever
its arguments are.  The universal functions among them stand with their family.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from s2sad.ops import infer
from s2sad.ops.forms import ATTRIBUTE, METHOD
from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, constant, operation, sample
from s2sad.runtime import positions


def _arrays() -> Sequence[Sample]:
    return [sample(numbers(2, 3)), sample(numbers(3)), sample(numbers()), sample([1.5, 2.5]), sample(1.5)]


def _along() -> Sequence[Sample]:
    a = numbers(2, 3)
    return [sample(a), sample(a, None), sample(a, 1), sample(a, axis=0), sample(numbers(3)), sample(numbers(3), 0)]


def _shapes() -> Sequence[Sample]:
    return [
        *(sample(shape) for shape in (3, (3,), (2, 1), (), (0, 2), [2, 3])),
        *(sample(3, dtype) for dtype in (float, int, bool, complex, np.float32, "float32")),
        sample((2, 3), dtype=np.float32),
    ]


def _models() -> Sequence[Sample]:
    a = numbers(2, 3)
    return [*_arrays(), sample(a, np.float32), sample(a, dtype=bool), sample(a, shape=(4,)), sample(a, order="C")]


def _sizes() -> Sequence[Sample]:
    return [sample(3), sample(1), sample(3, dtype=np.float32), sample(0)]


def _windows() -> Sequence[Sample]:
    return [sample(3), sample(1), sample(4)]


def _copies() -> Sequence[Sample]:
    return [sample(numbers(2, 3), numbers(3, seed=1)), sample(numbers(3), 1.5)]


def _diagonals() -> Sequence[Sample]:
    return [sample(numbers(3, 3), 1.5), sample(numbers(3, 3), numbers(3, seed=1))]


def _masked() -> Sequence[Sample]:
    return [sample(numbers(3), np.array([True, False, True]), numbers(2, seed=1))]


def _places() -> Sequence[Sample]:
    return [sample(numbers(3), [0, 2], numbers(2, seed=1)), sample(numbers(2, 3), 4, 1.5)]


def _places_along() -> Sequence[Sample]:
    return [sample(numbers(2, 3), np.array([[1], [2]]), 1.5, 1)]


# Positions and counts.
constant(
    np.nanargmax, np.nanargmin, np.ravel_multi_index,
)  # fmt: skip
constant(
    np.flatnonzero, signature=lambda a: None, infer=infer.positions.found(1), samples=_arrays, dtype="inferred",
)  # fmt: skip
constant(
    np.argwhere, signature=lambda a: None, infer=infer.positions.found(2), samples=_arrays, dtype="inferred",
)  # fmt: skip
constant(
    np.lexsort, signature=lambda keys, axis=-1: None, infer=infer.positions.of_sorted, dtype="inferred",
    samples=lambda: [sample((numbers(3), numbers(3, seed=1))), sample(numbers(2, 3)), sample((numbers(2, 3),))],
)  # fmt: skip
constant(
    np.count_nonzero, signature=lambda a, axis=None, keepdims=False: None, infer=infer.positions.count,
    samples=lambda: [*_arrays(), sample(np.eye(2)), sample(numbers(2, 3), 1), sample(numbers(2, 3), keepdims=True)],
    dtype="inferred",
)  # fmt: skip
constant(
    np.linalg.matrix_rank, signature=lambda A: None, infer=infer.positions.rank, dtype="inferred",
    samples=lambda: [sample(numbers(2, 2)), sample(numbers(3, 2, 2)), sample(numbers(3))],
)  # fmt: skip
constant(
    np.digitize, signature=lambda x, bins, right=False: None, infer=infer.positions.among("x"),
    samples=lambda: [sample(numbers(3), np.arange(4.0)), sample(0.5, np.arange(4.0)), sample([0.5], np.arange(4.0))],
)  # fmt: skip
constant(
    np.unravel_index, signature=lambda indices, shape, order="C": None, infer=infer.positions.in_several,
    samples=lambda: [sample(3, (2, 3)), sample(np.array([1, 4]), (2, 3)), sample([1, 4], (2, 3)), sample(1, 4)],
    dtype="inferred", gives=(tuple,),
)  # fmt: skip
constant(
    np.tril_indices, np.triu_indices, signature=lambda n, k=0, m=None: None, infer=infer.positions.of_matrix,
    samples=lambda: [sample(3), sample(3, 1, 2)], dtype="inferred", gives=(tuple,),
)  # fmt: skip
constant(
    np.tril_indices_from, np.triu_indices_from, signature=lambda arr, k=0: None, infer=infer.positions.of_matrix,
    samples=lambda: [sample(numbers(3, 3)), sample(numbers(2, 3), 1)], dtype="inferred", gives=(tuple,),
)  # fmt: skip
constant(
    np.indices, signature=lambda dimensions, dtype=int, sparse=False: None, infer=infer.positions.in_grid,
    samples=lambda: [sample((2, 3)), sample([2]), sample((2, 3), sparse=True), sample((2, 3), float)],
    dtype="unknown", gives=(tuple, np.ndarray),
)  # fmt: skip
constant(
    np.nonzero, forms=METHOD, signature=lambda a: None, infer=infer.positions.along_each_axis,
    samples=lambda: [sample(numbers(3)), sample(numbers(2, 3) > 0), sample([0.5, 0.0])], dtype="inferred",
    gives=(tuple,),
)  # fmt: skip
constant(
    np.argpartition, signature=lambda a, kth, axis=-1: None, infer=infer.axes.order, forms=METHOD,
    samples=lambda: [sample(numbers(3), 1), sample(numbers(2, 3), 1, axis=0), sample(numbers(2, 3), 1, None)],
)  # fmt: skip
constant(
    np.searchsorted, forms=METHOD, signature=lambda a, v, side="left", sorter=None: None,
    infer=infer.positions.among("v"),
    samples=lambda: [sample(np.arange(4.0), numbers(3)), sample(np.arange(4.0), 0.5), sample([0.5, 1.5], [0.7])],
)  # fmt: skip
constant(np.ndindex, signature=lambda *shape: None, infer=infer.python.places, dtype="inferred")

# One array, as often as there are axes.
constant(
    np.diag_indices, signature=lambda n, ndim=2: None, infer=infer.positions.of_diagonal, dtype="inferred",
    samples=lambda: [sample(3), sample(3, 1), sample(3, ndim=3)], result="repeated", gives=(tuple,),
)  # fmt: skip
constant(np.diag_indices_from, result="repeated", gives=(tuple,))

# Functions that write into their first argument.
operation(np.copyto, signature=lambda dst, src: None, writes=("dst",), mask="where", samples=_copies, reads_first=True)
operation(np.fill_diagonal, signature=lambda a, val, wrap=False: None, writes=("a",), samples=_diagonals)
operation(np.place, signature=lambda arr, mask, vals: None, writes=("arr",), samples=_masked)
operation(
    np.putmask, signature=lambda a, mask, values: None, writes=("a",), mask="mask", samples=_masked, reads_first=True,
)  # fmt: skip
operation(
    np.put, signature=lambda a, ind, v, mode="raise": None, writes=("a",), samples=_places, reads_first=True,
    aliases={"indices": "ind", "values": "v"}, forms=METHOD,
)  # fmt: skip
operation(np.put_along_axis, signature=lambda arr, indices, values, axis: None, writes=("arr",), samples=_places_along)

# Where such functions write.
constant(
    positions.flat_places,
    positions.flat_index,
    positions.diagonal_places,
    positions.along_places,
    positions.mask_places,
)

# Truth values.
constant(np.all, np.any, forms=METHOD)
constant(
    np.array_equiv,
    np.iscomplex, np.iscomplexobj, np.isreal, np.isrealobj, np.isneginf, np.isposinf, np.isnat, np.isscalar,
    np.isfortran, np.iterable, np.may_share_memory, np.shares_memory, np.is_busday,
    dtype="truth",
)  # fmt: skip
constant(
    np.isin, signature=lambda element, test_elements: None, infer=infer.positions.members, dtype="truth",
    samples=lambda: [sample(numbers(3), numbers(2)), sample(numbers(2, 3), [0.5]), sample(0.5, numbers(2))],
)  # fmt: skip

# Integers and bits.
constant(
    np.bitwise_count, np.packbits, np.unpackbits, np.spacing, np.busday_count, np.busday_offset,
)  # fmt: skip

# Shapes and dtypes.
constant(
    np.ndarray.dtype, np.ndarray.itemsize, np.ndarray.nbytes, np.ndarray.strides, np.ndarray.flags, forms=ATTRIBUTE
)
constant(
    np.broadcast_shapes,
    np.result_type, np.promote_types, np.can_cast, np.common_type, np.min_scalar_type, np.mintypecode,
    np.isdtype, np.issubdtype, np.typename,
)  # fmt: skip
constant(np.einsum_path, gives=(tuple,))

constant(
    np.shape,
    signature=lambda a: None,
    infer=infer.creation.shape,
    samples=_arrays,
    forms=ATTRIBUTE,
    measures=True,
    gives=(tuple,),
)
constant(
    np.ndim, np.size, signature=lambda a: None, infer=infer.common.a_number, samples=_arrays, forms=ATTRIBUTE,
    measures=True,
)  # fmt: skip
constant(
    np.argmax, np.argmin, signature=lambda a, axis=None: None, infer=infer.axes.position, samples=_along, forms=METHOD
)
constant(np.argsort, signature=lambda a, axis=None: None, infer=infer.axes.order, samples=_along, forms=METHOD)

# Arrays that depend on a shape alone.
constant(
    np.zeros, signature=lambda shape, dtype=None, order="C": None, infer=infer.creation.filled,
    dtype="double", leading=1, samples=_shapes, zeros=True,
)  # fmt: skip
constant(
    np.ones, np.empty, signature=lambda shape, dtype=None, order="C": None, infer=infer.creation.filled,
    dtype="double", leading=1, samples=_shapes,
)  # fmt: skip
constant(
    np.zeros_like,
    signature=lambda a, dtype=None, order="K", subok=True, shape=None: None, infer=infer.creation.filled_like,
    dtype="array", leading=1, samples=_models, casts=True, zeros=True,
)  # fmt: skip
constant(
    np.ones_like,
    signature=lambda a, dtype=None, order="K", subok=True, shape=None: None, infer=infer.creation.filled_like,
    dtype="array", leading=1, samples=_models, casts=True,
)  # fmt: skip
constant(
    np.empty_like,
    signature=lambda prototype, dtype=None, order="K", subok=True, shape=None: None, infer=infer.creation.filled_like,
    dtype="array", leading=1, samples=_models,
)  # fmt: skip
constant(
    np.eye, signature=lambda N, M=None, k=0, dtype=float: None, infer=infer.creation.eye, dtype="double",
    samples=_sizes,
)  # fmt: skip
constant(np.identity, signature=lambda n, dtype=None: None, infer=infer.creation.eye, dtype="double", samples=_sizes)
constant(
    np.tri, signature=lambda N, M=None, k=0, dtype=float: None, infer=infer.creation.eye, dtype="double",
    samples=_sizes,
)  # fmt: skip
constant(
    np.bartlett, np.blackman, np.hamming, np.hanning, signature=lambda M: None, dtype="double", samples=_windows,
    infer=lambda b, fact: infer.creation.filled({"shape": b["M"]}, fact),
)  # fmt: skip
