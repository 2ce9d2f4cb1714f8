"""Linear systems whose matrix is a function: ``cg(LinearOperator(shape, matvec=lambda v: x * v), b)``.

A solution is one of the equations ``A @ x - b = 0``, so that all derivatives are those of `root_adjoints` and
`root_tangent`; these solve a system with the matrix, or its transpose, in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, constant, rule, sample
from s2sad.runtime.scipy.matrix_free import free_solution, iteration
from s2sad.runtime.scipy.roots import root_adjoints, root_tangent

Array = Any
Function = Callable[..., Any]


def stencil(v: Any, b: Any, weights: Any) -> Any:
    """The product of a symmetric matrix, for samples."""
    return 4.0 * v + weights * v + np.sum(v)


def scaled(v: Any, b: Any, weights: Any) -> Any:
    """That of a preconditioner, for samples."""
    return v / (5.0 + weights)


def _systems() -> Sequence[Sample]:
    args, shape, exact = (numbers(4), np.abs(numbers(4, seed=1))), (4, 4), {"rtol": 1e-13}
    return [
        sample(stencil, args, "cg", shape, None, exact),
        sample(stencil, args, "gmres", shape, float, {**exact, "restart": 4}, None, scaled),
        sample(stencil, args, "minres", shape, float, {**exact, "shift": 0.3}),
        sample(stencil, args, "bicg", shape, float, exact, stencil),
    ]


def _free_jvp(
    args_dot: Any, z: Any, matvec: Function, args: Any, name: str, options: Any, precondition: Any = None
) -> Any:
    return root_tangent(args_dot, z[0], matvec, args, iteration(z, matvec, args, name, precondition, options)), 0


@rule(
    free_solution,
    wrt=["args"],
    jvp=_free_jvp,
    samples=_systems,
    infer=infer.scipy.iterated_solution,
    dtype="unknown",
    calls=("matvec", "rmatvec", "precondition"),
    passes=("args", 1),
    without=(1,),
    gives=(tuple,),
    integers=(1,),
)
def free_solution_rule(
    z: Any,
    z_bar: Any,
    matvec: Function,
    args: Any,
    name: str,
    shape: Any,
    dtype: Any,
    options: Any,
    rmatvec: Any = None,
    precondition: Any = None,
) -> Any:
    return root_adjoints(z_bar[0], z[0], matvec, args, iteration(z, matvec, args, name, precondition, options))


constant(
    iteration,
    signature=lambda z, matvec, args, name, precondition, options: None,
    calls=(),
)
