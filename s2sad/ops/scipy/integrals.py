"""Rules of ``scipy.integrate``: integrals of functions, in bounds and in further arguments of the function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import integrate

from s2sad.ops import infer
from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, operation, rule, sample
from s2sad.runtime.scipy.integrals import (
    arguments_adjoint,
    bound_slope,
    integral_tangent,
    of_value,
    with_errors,
)

Array = Any
Function = Callable[..., Any]

_NODES = (
    "sum over fixed nodes instead: t, w = np.polynomial.legendre.leggauss(20), then "
    "0.5 * (b - a) * np.sum(w * f(0.5 * (a + b) + 0.5 * (b - a) * t))"
)


_NESTED = (
    "write it as an integral of integrals: quad(lambda x: quad(lambda y: f(y, x), g(x), h(x))[0], a, b)[0], which has "
    "derivatives by all that the functions capture and by the bounds"
)


def bell(t: Any, width: Any, centre: Any = 0.3) -> Any:
    """An integrand for samples."""
    return np.exp(-width * (t - centre) ** 2)


def wave(t: Any, coefficients: Any, phase: Any) -> Any:
    """An integrand with an array as argument, for samples."""
    powers = np.array([0.0, 1.0, 2.0])
    return np.sum(coefficients * np.cos(powers * t)) + phase[0] * np.sin(phase[1] * t)


def waves(t: Any, width: Any, shift: Any) -> Any:
    """Integrands that are evaluated at several points at once, for samples."""
    return np.sin(np.outer(width, t)) + shift


def _integrals() -> Sequence[Sample]:
    many = np.linspace(0.5, 1.5, 12)
    return [
        sample(np.exp, 0.2, 1.4),
        sample(bell, -0.5, 1.2, (0.7, 0.4)),
        sample(bell, 1.2, -0.5, args=(0.7,), epsabs=1e-12),
        sample(bell, -np.inf, 0.7, args=(0.9, 0.1)),
        sample(bell, 0.1, 0.8, 1.7),
        sample(bell, 0.1, 0.8, (1.7,), weight="cos", wvar=3.0),
        sample(wave, 0.3, 2.0, (numbers(3), [0.5, 1.2])),
        sample(bell, 0.3, 2.0, (0.5, 0.2), points=[1.0]),
        sample(bell, 0.0, 0.4, (0.7, 0.4), limit=60),
        sample(many_bells, 0.0, 1.0, (many,)),
        sample(turning, 0.2, 1.1, (0.7,), complex_func=True),
    ]


def many_bells(t: Any, widths: Any) -> Any:
    """An integrand with more numbers than are integrated one by one, for samples."""
    return np.sum(np.exp(-widths * t**2))


def turning(t: Any, rate: Any) -> Any:
    """A complex integrand for samples."""
    return np.exp(1j * rate * t) + t


def _quad_jvp(
    a_dot: Array,
    b_dot: Array,
    args_dot: Any,
    z: Any,
    func: Function,
    a: Array,
    b: Array,
    args: Any = (),
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    points: Any = None,
    weight: Any = None,
    wvar: Any = None,
) -> Any:
    slope = integral_tangent(
        a_dot, b_dot, args_dot, z[0], func, a, b, args,
        epsabs=epsabs, epsrel=epsrel, limit=limit, points=points, weight=weight, wvar=wvar,
    )  # fmt: skip
    return with_errors(slope, z)


@rule(
    integrate.quad,
    wrt=["a", "b", "args"],
    steps=frozenset({"epsabs", "epsrel", "limit", "points"}),
    jvp=_quad_jvp,
    samples=_integrals,
    infer=infer.scipy.integral,
    dtype="float",
    calls=("func",),
    passes=("args", 1),
    without=(1,),
    gives=(tuple,),
)
def quad(
    z_bar: Any,
    func: Function,
    a: Array,
    b: Array,
    args: Any = (),
    full_output: int = 0,
    epsabs: float = 1.49e-8,
    epsrel: float = 1.49e-8,
    limit: int = 50,
    points: Any = None,
    weight: Any = None,
    wvar: Any = None,
    wopts: Any = None,
    maxp1: int = 50,
    limlst: int = 50,
    complex_func: bool = False,
) -> tuple[Any, Any, Any]:
    return (
        -of_value(z_bar) * bound_slope(func, a, args, weight, wvar),
        of_value(z_bar) * bound_slope(func, b, args, weight, wvar),
        arguments_adjoint(
            of_value(z_bar), func, a, b, args,
            epsabs=epsabs, epsrel=epsrel, limit=limit, points=points, weight=weight, wvar=wvar,
        ),
    )  # fmt: skip


# --- several functions at once


def _vectors() -> Sequence[Sample]:
    return [
        # In single precision it does not come as close as it is asked to.
        sample(waves_at, 0.1, 0.8, args=(numbers(3), 0.2), limit=50),
        sample(waves_at, 0.1, 0.8, 1e-12, args=(numbers(3), 0.2), limit=500),
        sample(bell, -np.inf, 0.4, args=(0.9,)),
        sample(np.exp, 0.1, 0.9),
    ]


def waves_at(t: Any, width: Any, shift: Any) -> Any:
    """Several integrands for samples."""
    return np.sin(width * t) + shift * t


def _quad_vec_jvp(
    a_dot: Array,
    b_dot: Array,
    args_dot: Any,
    z: Any,
    f: Function,
    a: Array,
    b: Array,
    epsabs: float = 1e-200,
    epsrel: float = 1e-8,
    norm: str = "2",
    limit: float = 10000,
    points: Any = None,
    quadrature: Any = None,
    args: Any = (),
) -> Any:
    slope = integral_tangent(
        a_dot, b_dot, args_dot, z[0], f, a, b, args,
        epsabs=epsabs, epsrel=epsrel, limit=limit, points=points, norm=norm, quadrature=quadrature,
    )  # fmt: skip
    return with_errors(slope, z)


@rule(
    integrate.quad_vec,
    wrt=["a", "b", "args"],
    jvp=_quad_vec_jvp,
    samples=_vectors,
    infer=infer.scipy.solution_with(1),
    dtype="unknown",
    calls=("f",),
    passes=("args", 1),
    without=(1,),
    gives=(tuple,),
)
def quad_vec(
    z_bar: Any,
    f: Function,
    a: Array,
    b: Array,
    epsabs: float = 1e-200,
    epsrel: float = 1e-8,
    norm: str = "2",
    cache_size: float = 100e6,
    limit: float = 10000,
    workers: int = 1,
    points: Any = None,
    quadrature: Any = None,
    full_output: bool = False,
    *,
    args: Any = (),
) -> tuple[Any, Any, Any]:
    return (
        -np.sum(of_value(z_bar) * bound_slope(f, a, args, norm=norm)),
        np.sum(of_value(z_bar) * bound_slope(f, b, args, norm=norm)),
        arguments_adjoint(
            of_value(z_bar), f, a, b, args,
            epsabs=epsabs, epsrel=epsrel, limit=limit, points=points, norm=norm, quadrature=quadrature,
        ),
    )  # fmt: skip


for _name in ("dblquad", "tplquad", "nquad", "fixed_quad", "cubature", "tanhsinh", "nsum"):
    if hasattr(integrate, _name):
        _remedy = _NESTED if _name in ("dblquad", "tplquad", "nquad") else _NODES
        operation(getattr(integrate, _name), signature=lambda func: None, calls=("func",), remedy=_remedy)
