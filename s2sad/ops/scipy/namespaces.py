"""The rule of the conversion that SciPy's functions of arrays of several libraries begin with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from s2sad.ir.types import Fact
from s2sad.ops.infer.common import Bound, Look, all_real
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, linear, sample
from s2sad.runtime.linear import like
from s2sad.runtime.scipy.namespaces import promoted

Array = Any


def _promoted(b: Bound, fact: Look) -> Fact | None:
    """An array of the shape of the first operand."""
    x, operands = fact(b["x"]), fact(b["operands"])
    real = all_real(x, operands) and operands.items is not None
    return replace(x, kind="array", real=real, precision="", value=None) if x.kind == "array" else None


def _operands() -> Sequence[Sample]:
    x = numbers(2, 3)
    return [
        sample(x, (x, 2), True),
        sample(0.7, (0.7, x), False),
        sample(singles(3), (singles(3), x), False),
        sample([0.5, 1.5], ([0.5, 1.5], None), True),
        sample(complexes(2), (complexes(2), 1.0), False),
    ]


@linear(
    promoted,
    wrt=["x"],
    samples=_operands,
    infer=_promoted,
    dtype="unknown",
    result="maybe_view",
    steps={"operands"},
)
def promoted_rule(z_bar: Array, x: Array, operands: Any, floating: bool) -> Array:
    return like(np.reshape(z_bar, np.shape(x)), x)
