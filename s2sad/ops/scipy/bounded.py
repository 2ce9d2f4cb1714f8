"""Rules of ``scipy.optimize.nnls`` and ``lsq_linear``: linear least squares with bounds, by the system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import optimize

from s2sad.ops import infer
from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, constant, operation, rule, sample
from s2sad.runtime.scipy.bounded import (
    bounded_adjoints,
    bounded_tangent,
    found_bounded,
    free_of,
    free_of_report,
    must_be_one,
    nnls_adjoints,
    nnls_tangent,
)
from s2sad.runtime.scipy.callables import no_report
from s2sad.runtime.undefined import Undefined

Array = Any

constant(free_of, signature=lambda x: None)
constant(free_of_report, signature=lambda report: None)
constant(must_be_one, signature=lambda a, free: None)


def _systems() -> Sequence[Sample]:
    a = numbers(6, 3)
    return [
        sample(a, a @ np.array([0.5, -1.0, 0.7]) + 0.1 * numbers(6)),
        sample(a, a @ np.array([0.5, 1.0, 0.7]) + 0.1 * numbers(6)),
        sample(numbers(3, 2), np.abs(numbers(3, seed=4))),
    ]


def _nnls_jvp(A_dot: Array, b_dot: Array, z: Any, A: Array, b: Array) -> tuple[Array, Array]:
    x_dot, norm_dot = nnls_tangent(A_dot, b_dot, z, A, b)
    return x_dot, norm_dot


@rule(
    optimize.nnls,
    wrt=["A", "b"],
    jvp=_nnls_jvp,
    samples=_systems,
    infer=infer.scipy.of_least_squares,
    dtype="unknown",
    gives=(tuple,),
    real_only=True,
)
def nnls(z: Any, z_bar: Any, A: Array, b: Array, maxiter: Any = None) -> tuple[Array, Array]:
    A_bar, b_bar = nnls_adjoints(z_bar, z, A, b)
    return A_bar, b_bar


def _bounded() -> Sequence[Sample]:
    a, b = numbers(6, 3), numbers(6, seed=1)
    given = "trf", 1e-14, None, 400
    return [
        sample(a, b, (-np.inf, np.inf), *given),
        sample(a, 3 * b, (-0.2, 0.3), "bvls", *given[1:]),
        sample(a, b, ([-9.0, 0.1, -9.0], [9.0, 9.0, 9.0]), "bvls", *given[1:]),
    ]


def _found_jvp(a_dot: Array, b_dot: Array, z: Any, a: Array, b: Array) -> Any:
    x_dot, cost_dot = bounded_tangent(a_dot, b_dot, z, a, b)
    return x_dot, cost_dot, Undefined(no_report())


@rule(
    found_bounded,
    wrt=["a", "b"],
    jvp=_found_jvp,
    samples=_bounded,
    infer=infer.scipy.of_least_squares_with_report,
    dtype="unknown",
    without=(2,),
    gives=(tuple,),
    real_only=True,
)
def found_bounded_rule(
    z: Any, z_bar: Any, a: Array, b: Array, bounds: Any, method: str, tol: float, lsq_solver: Any, max_iter: Any
) -> tuple[Array, Array]:
    a_bar, b_bar = bounded_adjoints(z_bar, z, a, b)
    return a_bar, b_bar


operation(
    optimize.lsq_linear,
    remedy=(
        "derivatives pass through .x and .cost of lsq_linear(A, b, bounds, method, tol, lsq_solver, max_iter=...) "
        "by A, an array, and b"
    ),
)
