"""Rules of ``expm_multiply`` by the entries of a sparse matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from s2sad.ops import infer
from s2sad.ops.points import numbers
from s2sad.ops.scipy.sparse_models import ROW, some_pattern
from s2sad.ops.spec import Sample, constant, operation, rule, sample
from s2sad.runtime.scipy.entries import fitted, turned
from s2sad.runtime.scipy.sparse_exponentials import (
    entries_adjoint,
    entries_adjoint_tangent,
    exponential,
    exponential_tangent,
    whole_step,
)

Array = Any
Pattern = Any


def _grown() -> Sequence[Sample]:
    values, pattern = some_pattern()
    return [sample(0.2 * values, pattern, numbers(4)), sample(0.1 * values, turned(pattern), numbers(4, 2))]


def _exponential_jvp(
    values_dot: Array, b_dot: Array, values: Array, pattern: Pattern, b: Array, trace: Any = None
) -> Array:
    return exponential_tangent(values_dot, b_dot, values, pattern, b)


@rule(
    exponential,
    wrt=["values", "b"],
    steps={"trace"},
    jvp=_exponential_jvp,
    samples=_grown,
    infer=infer.scipy.of_vector,
    dtype="unknown",
    real_only=True,
)
def exponential_rule(z_bar: Array, values: Array, pattern: Pattern, b: Array, trace: Any = None) -> tuple[Array, Array]:
    return entries_adjoint(z_bar, values, pattern, b), fitted(exponential(values, turned(pattern), z_bar), b)


def _adjoints() -> Sequence[Sample]:
    values, pattern = some_pattern()
    return [
        sample(numbers(4), 0.2 * values, pattern, numbers(4, seed=1)),
        sample(numbers(4, 2), 0.1 * values, turned(pattern), numbers(4, 2, seed=1)),
    ]


def _entries_adjoint_jvp(
    g_dot: Array, values_dot: Array, b_dot: Array, g: Array, values: Array, pattern: Pattern, b: Array
) -> Array:
    return entries_adjoint_tangent(g_dot, values_dot, b_dot, g, values, pattern, b)


@rule(
    entries_adjoint,
    wrt=["g", "values", "b"],
    jvp=_entries_adjoint_jvp,
    samples=_adjoints,
    infer=ROW,
    dtype="unknown",
    real_only=True,
)
def entries_adjoint_rule(
    z_bar: Array, g: Array, values: Array, pattern: Pattern, b: Array
) -> tuple[Array, Array, Array]:
    g_bar = exponential_tangent(z_bar, 0.0, values, pattern, b)
    b_bar = exponential_tangent(z_bar, 0.0, values, turned(pattern), g)
    return g_bar, entries_adjoint_tangent(0.0, z_bar, 0.0, g, values, pattern, b), b_bar


operation(
    entries_adjoint_tangent, exponential_tangent, remedy="take differences of the second derivative for a third one"
)
constant(whole_step, signature=lambda start, stop, num, endpoint: None)
