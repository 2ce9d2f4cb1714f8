"""Rules of ``scipy.sparse.linalg``: what factors, linear operators and solvers that are constants make of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg as solvers

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers
from s2sad.ops.spec import Function, Sample, linear, rule, sample
from s2sad.runtime.scipy.operators import (
    applied,
    exponential_adjoint,
    factors_adjoint,
    least_adjoint,
    least_solution,
    operator_adjoint,
    product_adjoint,
    solution_bar,
    with_reports,
)

Array = Any


def _matrix(is_complex: bool = False) -> Any:
    a = np.diag([4.0, 5.0, 6.0, 7.0]) + np.diag([1.0, -0.5, 0.7], 1) + np.diag([0.2, 0.3], -2)
    return sparse.csc_matrix(a + 0.3j * np.eye(4) if is_complex else a)


# --- factors


def _factored() -> Sequence[Sample]:
    real, other = solvers.splu(_matrix()), solvers.splu(_matrix(True))
    points = [sample(real, numbers(4)), sample(real, numbers(4, 2), "T"), sample(real, numbers(4), trans="H")]
    return [*points, *(sample(other, complexes(4), trans) for trans in "NTH")]


@linear(
    solvers.SuperLU.solve,
    name="scipy.sparse.linalg.SuperLU.solve",
    wrt=["rhs"],
    samples=_factored,
    dtype="unknown",
    calls=(),
)
def solve(z_bar: Array, self: Any, rhs: Array, trans: str = "N") -> Array:
    return factors_adjoint(z_bar, self, rhs, trans)


def _factors_jvp(g_dot: Array, lu: Any, rhs: Array, trans: str = "N") -> Array:
    return factors_adjoint(g_dot, lu, rhs, trans)


@rule(
    factors_adjoint,
    wrt=["g"],
    jvp=_factors_jvp,
    steps={"rhs"},
    samples=lambda: [sample(numbers(4), solvers.splu(_matrix()), numbers(4), "T")],
    dtype="unknown",
    calls=(),
)
def factors_adjoint_rule(z_bar: Array, g: Array, lu: Any, rhs: Array, trans: str = "N") -> Array:
    return lu.solve(np.ascontiguousarray(z_bar), trans)


# --- linear operators


def _operator(count: int = 4) -> Any:
    return solvers.aslinearoperator(_matrix().toarray()[:count] + 0.2)


def _vectors() -> Sequence[Sample]:
    return [sample(_operator(), numbers(4)), sample(_operator(3), numbers(4)), sample(_operator(3), numbers(4, 1))]


def _of_operator(name: str, samples: Any) -> None:
    method: Function = getattr(solvers.LinearOperator, name)

    @linear(
        method,
        name=f"scipy.sparse.linalg.LinearOperator.{name}",
        wrt=["x"],
        samples=samples,
        dtype="unknown",
        calls=(),
        aliases={"X": "x"},
    )
    def method_rule(z_bar: Array, self: Any, x: Array) -> Array:
        return operator_adjoint(z_bar, self, name, x)


_of_operator("matvec", _vectors)
_of_operator("rmatvec", lambda: [sample(_operator(), numbers(4)), sample(_operator(3), numbers(3))])
_of_operator("matmat", lambda: [sample(_operator(3), numbers(4, 2)), sample(_operator(), numbers(4, 1))])
_of_operator("rmatmat", lambda: [sample(_operator(3), numbers(3, 2))])


def _product(method: Function, name: str) -> None:
    @linear(
        method,
        name=f"scipy.sparse.linalg.LinearOperator.{name}",
        wrt=["x"],
        samples=lambda: [*_vectors(), sample(_operator(3), numbers(4, 2))],
        dtype="unknown",
        calls=(),
    )
    def product(z_bar: Array, self: Any, x: Array) -> Array:
        return product_adjoint(z_bar, self, x)


for _name in ("dot", "__call__"):
    _product(getattr(solvers.LinearOperator, _name), _name)


@linear(
    operator_adjoint,
    wrt=["g"],
    steps={"x"},
    samples=lambda: [sample(numbers(3), _operator(3), "matvec", numbers(4))],
    dtype="unknown",
    calls=(),
)
def operator_adjoint_rule(z_bar: Array, g: Array, operator: Any, name: str, x: Array) -> Array:
    return applied(operator, name, z_bar)


@linear(
    product_adjoint,
    wrt=["g"],
    steps={"x"},
    samples=lambda: [sample(numbers(3), _operator(3), numbers(4)), sample(numbers(3, 2), _operator(3), numbers(4, 2))],
    dtype="unknown",
    calls=(),
)
def product_adjoint_rule(z_bar: Array, g: Array, operator: Any, x: Array) -> Array:
    return operator.dot(z_bar)


# --- least squares


def _tall() -> Any:
    return sparse.csr_matrix(np.vstack([_matrix().toarray(), numbers(2, 4)]))


def _fits() -> Sequence[Sample]:
    exact = {"atol": 1e-15, "btol": 1e-15}
    points = [sample(_tall(), numbers(6), **exact), sample(_tall(), numbers(6), 0.7, **exact)]
    return [*points, sample(_tall().toarray(), numbers(6), **exact), sample(_tall().T.tocsr(), numbers(4), **exact)]


def _lsqr_jvp(
    b_dot: Array, A: Any, b: Array, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6, conlim: float = 1e8
) -> Any:
    return with_reports(solvers.lsqr(A, b_dot, damp, atol, btol, conlim)[0], 7)


@rule(
    solvers.lsqr,
    wrt=["b"],
    jvp=_lsqr_jvp,
    samples=_fits,
    infer=infer.scipy.solution_with(9),
    dtype="unknown",
    result="unknown",
    calls=(),
    gives=(tuple,),
    integers=(1, 2),
    without=(3, 4, 5, 6, 7, 8, 9),
)
def lsqr(
    z_bar: Any,
    A: Any,
    b: Array,
    damp: float = 0.0,
    atol: float = 1e-6,
    btol: float = 1e-6,
    conlim: float = 1e8,
    iter_lim: int | None = None,
    show: bool = False,
    calc_var: bool = False,
    x0: Any = None,
) -> Array:
    return least_adjoint(solution_bar(z_bar), A, b, "lsqr", damp, atol, btol, conlim, iter_lim)


def _lsmr_jvp(
    b_dot: Array, A: Any, b: Array, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6, conlim: float = 1e8
) -> Any:
    return with_reports(solvers.lsmr(A, b_dot, damp, atol, btol, conlim)[0], 5)


@rule(
    solvers.lsmr,
    wrt=["b"],
    jvp=_lsmr_jvp,
    samples=_fits,
    infer=infer.scipy.solution_with(7),
    dtype="unknown",
    result="unknown",
    calls=(),
    gives=(tuple,),
    integers=(1, 2),
    without=(3, 4, 5, 6, 7),
)
def lsmr(
    z_bar: Any,
    A: Any,
    b: Array,
    damp: float = 0.0,
    atol: float = 1e-6,
    btol: float = 1e-6,
    conlim: float = 1e8,
    maxiter: int | None = None,
    show: bool = False,
    x0: Any = None,
) -> Array:
    return least_adjoint(solution_bar(z_bar), A, b, "lsmr", damp, atol, btol, conlim, maxiter)


def _least_jvp(g_dot: Array, a: Any, b: Array, name: str, *options: Any) -> Array:
    return least_adjoint(g_dot, a, b, name, *options)


@rule(
    least_adjoint,
    wrt=["g"],
    steps={"b"},
    jvp=_least_jvp,
    samples=lambda: [sample(numbers(4), _tall(), numbers(6), "lsqr", 0.3, 1e-15, 1e-15)],
    dtype="unknown",
    calls=(),
)
def least_adjoint_rule(z_bar: Array, g: Array, a: Any, b: Array, name: str, *options: Any) -> Array:
    return least_solution(a, z_bar, name, *options)


# --- exponentials


def _grown() -> Sequence[Sample]:
    a = 0.2 * _matrix()
    points = [sample(a, numbers(4)), sample(a, numbers(4, 2)), sample(a.toarray(), numbers(4)), sample(a, complexes(4))]
    return [*points, sample(a, numbers(4), 0.1, 0.9, 3), sample(a, numbers(4, 2), start=0.0, stop=0.8, num=2)]


@linear(solvers.expm_multiply, wrt=["B"], samples=_grown, dtype="unknown", calls=())
def expm_multiply(
    z_bar: Array,
    A: Any,
    B: Array,
    start: Any = None,
    stop: Any = None,
    num: Any = None,
    endpoint: Any = None,
    traceA: Any = None,
) -> Array:
    return exponential_adjoint(z_bar, A, B, start, stop, num, endpoint, traceA)


@linear(
    exponential_adjoint,
    wrt=["g"],
    steps={"b"},
    samples=lambda: [sample(numbers(4), 0.2 * _matrix(), numbers(4), None, None, None, None, None)],
    dtype="unknown",
    calls=(),
)
def exponential_adjoint_rule(
    z_bar: Array, g: Array, a: Any, b: Array, start: Any, stop: Any, num: Any, endpoint: Any, trace: Any
) -> Array:
    return solvers.expm_multiply(a, z_bar, start, stop, num, endpoint)
