"""Rules of the helpers that keep adjoints of arrays that are written in place, and of their checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.spec import Sample, constant, sample
from s2sad.runtime.copies import laid_out_like
from s2sad.runtime.items import (
    require_arithmetic,
    require_array,
    require_ndarray,
    require_real,
    require_real_operand,
    require_same_numbers,
    require_unswallowed,
)
from s2sad.runtime.shadows import part_shadow, require_floats, shadow
from s2sad.runtime.sharing import apart, in_one_place, sole, unshared
from s2sad.runtime.tangents import same_value
from s2sad.runtime.zero_tangents import zero_tangent


def _arrays() -> Sequence[Sample]:
    return [sample(np.array([2.5, -1.0])), sample(np.ones((3, 2)).T), sample(np.array([1.0 + 2.0j]))]


def _like(x: Any) -> None: ...


constant(
    shadow, part_shadow, laid_out_like, zero_tangent, signature=_like, infer=infer.creation.filled_like, dtype="array",
    leading=1, samples=_arrays, zeros=True,
)  # fmt: skip
# Checks, which may raise.
constant(apart, unshared, sole, in_one_place, special=frozenset(), ordered=True)
constant(
    require_arithmetic, require_array, require_floats, require_ndarray, require_real, require_real_operand,
    require_same_numbers, require_unswallowed, same_value, ordered=True,
)  # fmt: skip
