"""Rules of ``lsqr`` and ``lsmr`` by the entries of a sparse matrix, in terms of its normal equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops.points import numbers
from s2sad.ops.scipy.sparse_models import ROW
from s2sad.ops.spec import Sample, constant, linear, rule, sample
from s2sad.runtime.scipy.entries import fitted, of_whole, outer_entries, product, turned
from s2sad.runtime.scipy.operators import solution_bar, with_reports
from s2sad.runtime.scipy.sparse_least import least, matrix_tangent, normal, require_real, require_solved

Array = Any
Pattern = Any

_EXACT = {"atol": 1e-15, "btol": 1e-15}


def _matrices() -> list[tuple[Array, Pattern]]:
    tall = np.vstack([np.diag([2.0, 3.0, 2.5]), 0.3 * numbers(2, 3)])
    return [(np.ravel(a), of_whole(np.asarray, a)) for a in (tall, tall.T)]


def _fits() -> Sequence[Sample]:
    (tall, over), (wide, under) = _matrices()
    return [
        sample(tall, over, numbers(5), "lsqr", 0.0, _EXACT),
        sample(wide, under, numbers(3), "lsqr", 0.0, _EXACT),
        sample(wide, under, numbers(3), "lsmr", 0.7, _EXACT),
        sample(tall, over, numbers(5, 1), "lsmr", 0.4, _EXACT),
    ]


def _least_jvp(
    values_dot: Array,
    b_dot: Array,
    z: Any,
    values: Array,
    pattern: Pattern,
    b: Array,
    name: str,
    damp: Any,
    options: Any,
) -> Any:
    dot = values_dot + np.zeros_like(values)
    rest = np.ravel(b) - product(values, pattern, z[0])
    change = np.ravel(b_dot + np.zeros(np.shape(b))) - product(dot, pattern, z[0])
    moved = product(values, turned(pattern), change) + product(dot, turned(pattern), rest)
    # What no residual sees moves with the rows of the matrix.
    free = product(dot, turned(pattern), product(values, pattern, normal(values, pattern, z[0], damp, options)))
    held = product(values, turned(pattern), product(values, pattern, free)) + damp**2 * free
    return with_reports(free + normal(values, pattern, moved - held, damp, options), len(z) - 3)


@rule(
    least,
    wrt=["values", "b"],
    jvp=_least_jvp,
    samples=_fits,
    dtype="unknown",
    calls=(),
    gives=(tuple,),
    integers=(1, 2),
    without=(3, 4, 5, 6, 7, 8, 9),
)
def least_rule(
    z: Any, z_bar: Any, values: Array, pattern: Pattern, b: Array, name: str, damp: Any, options: Any
) -> tuple[Array, Array]:
    g = solution_bar(z_bar)
    y = normal(values, pattern, g, damp, options)
    u = product(values, pattern, y)
    rest = np.ravel(b) - product(values, pattern, z[0])
    lever = product(values, pattern, normal(values, pattern, z[0], damp, options))
    free = g - product(values, turned(pattern), u) - damp**2 * y
    values_bar = (
        outer_entries(rest, y, pattern, values)
        - outer_entries(u, z[0], pattern, values)
        + outer_entries(lever, free, pattern, values)
    )
    return values_bar, fitted(u, b)


def _sides() -> Sequence[Sample]:
    (tall, over), (wide, under) = _matrices()
    return [sample(tall, over, numbers(3), 0.0, _EXACT), sample(wide, under, numbers(5), 0.7, _EXACT)]


def _normal_jvp(
    values_dot: Array, g_dot: Array, z: Array, values: Array, pattern: Pattern, g: Array, damp: Any, options: Any
) -> Array:
    w = z + require_solved(z, values, pattern, g, damp)
    dot = values_dot + np.zeros_like(values)
    again = normal(values, pattern, w, damp, options)
    change = g_dot + np.zeros_like(g) - matrix_tangent(dot, values, pattern, w)
    free = matrix_tangent(dot, values, pattern, again)
    held = product(values, turned(pattern), product(values, pattern, free)) + damp**2 * free
    return free + normal(values, pattern, change - held, damp, options)


@rule(normal, wrt=["values", "g"], jvp=_normal_jvp, samples=_sides, infer=ROW, dtype="unknown", calls=())
def normal_rule(
    z: Array, z_bar: Array, values: Array, pattern: Pattern, g: Array, damp: Any, options: Any
) -> tuple[Array, Array]:
    w = z + require_solved(z, values, pattern, g, damp)
    s = normal(values, pattern, z_bar, damp, options)
    u = product(values, pattern, s)
    free = z_bar - product(values, turned(pattern), u) - damp**2 * s
    lever = product(values, pattern, normal(values, pattern, w, damp, options))
    values_bar = (
        outer_entries(lever, free, pattern, values)
        - outer_entries(product(values, pattern, w), s, pattern, values)
        - outer_entries(u, w, pattern, values)
    )
    return values_bar, s


constant(require_solved, signature=lambda w, values, pattern, g, damp: None, calls=())


@linear(
    require_real,
    wrt=["b"],
    steps={"values"},
    result="maybe_view",
    samples=lambda: [sample(numbers(3), numbers(4))],
    dtype="unknown",
)
def require_real_rule(z_bar: Array, values: Array, b: Array) -> Array:
    return fitted(z_bar, b)
