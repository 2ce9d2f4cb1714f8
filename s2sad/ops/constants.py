"""The functions whose result has no derivative: positions, counts, comparisons, shapes, dtypes.

A function stands here only if its derivative is zero almost everywhere whatever
its arguments are.  The universal functions among them stand with their family.
"""

from __future__ import annotations

import numpy as np

from s2sad.ops.spec import constant
from s2sad.runtime import positions

# Positions and counts.
constant(
    np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.argsort, np.argpartition, np.argwhere, np.lexsort,
    np.nonzero, np.flatnonzero, np.count_nonzero, np.searchsorted, np.digitize, np.linalg.matrix_rank,
    np.ravel_multi_index, np.unravel_index, np.indices, np.mask_indices,
    np.tril_indices, np.tril_indices_from, np.triu_indices, np.triu_indices_from,
)  # fmt: skip

# Where writing functions write.
constant(positions.flat_places, positions.diagonal_places, positions.along_places, positions.mask_places)

# Truth values.
constant(
    np.all, np.any, np.array_equiv, np.isin,
    np.iscomplex, np.iscomplexobj, np.isreal, np.isrealobj, np.isneginf, np.isposinf, np.isnat, np.isscalar,
    np.isfortran, np.iterable, np.may_share_memory, np.shares_memory, np.is_busday,
)  # fmt: skip

# Integers and bits.
constant(
    np.bitwise_count, np.packbits, np.unpackbits, np.spacing, np.busday_count, np.busday_offset,
)  # fmt: skip

# Shapes and dtypes.
constant(
    np.shape, np.ndim, np.size, np.broadcast_shapes, np.einsum_path,
    np.result_type, np.promote_types, np.can_cast, np.common_type, np.min_scalar_type, np.mintypecode,
    np.isdtype, np.issubdtype, np.typename,
)  # fmt: skip

# Arrays that depend on a shape alone.
constant(
    np.zeros, np.ones, np.empty, np.zeros_like, np.ones_like, np.empty_like, np.eye, np.identity, np.tri,
    np.bartlett, np.blackman, np.hamming, np.hanning,
)  # fmt: skip
