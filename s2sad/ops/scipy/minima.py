"""Rules of ``scipy.optimize``: minima of functions, in the further arguments of the function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import optimize

from s2sad.ops import infer
from s2sad.ops.models import model_of
from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, constant, operation, rule, sample, spec_of
from s2sad.runtime.linear import like
from s2sad.runtime.scipy.minima import (
    alone,
    found_least_squares,
    found_leastsq,
    found_minimum,
    found_minimum_scalar,
    least_adjoints,
    least_tangent,
    rosen_slope,
)

Array = Any
Function = Callable[..., Any]


def _rosen_jvp(x_dot: Any, x: Any) -> Array:
    return np.sum(rosen_slope(np.asarray(x)) * np.asarray(x_dot), axis=0)


@rule(
    optimize.rosen,
    wrt=["x"],
    jvp=_rosen_jvp,
    samples=lambda: [sample(numbers(4)), sample(numbers(3, 2)), sample([0.5, 1.5, 0.7])],
    dtype="unknown",
)
def rosen(z_bar: Array, x: Any) -> Any:
    return like(z_bar * rosen_slope(np.asarray(x)), x)


constant(
    optimize.linear_sum_assignment,
    signature=lambda cost_matrix, maximize=False: None,
    samples=lambda: [sample(numbers(3, 3)), sample(numbers(2, 4), True)],
    infer=infer.positions.of_matrix,
    gives=(tuple,),
)


def valley(x: Any, centre: Any, steepness: Any) -> Any:
    """A function with one minimum, for samples."""
    return np.sum((x - centre) ** 2) + steepness**3 * np.sum(x**2)


def valley_slope(x: Any, centre: Any, steepness: Any) -> Any:
    """The derivative of `valley`."""
    return 2 * (x - centre) + 2 * steepness**3 * x


def bowl(x: Any, side: Any, steepness: Any) -> Any:
    """A function that is zero where it is least, so that its place is found to the last digits, for samples."""
    return (x * steepness - side) ** 2


def line(x: Any, times: Any, values: Any) -> Any:
    """The residuals of a fit, for samples."""
    return x[0] + x[1] * times - values


def line_slopes(x: Any, times: Any, values: Any) -> Any:
    """The derivatives of `line`, one column for each parameter."""
    return np.stack([0.0 * times + 1.0, times], axis=1)


def _minima() -> Sequence[Sample]:
    centre = numbers(3)
    return [
        sample(valley, np.zeros(3), (centre, 0.7), "BFGS", valley_slope, None, {"gtol": 1e-13}),
        sample(valley, np.zeros(2), args=(0.4, 0.7), jac=valley_slope, tol=1e-13),
    ]


def _minimum_jvp(args_dot: Any, z: Any, fun: Function, args: Any = (), jac: Any = None, bounds: Any = None) -> Any:
    return least_tangent(args_dot, z[0], z[2], fun, args, "minimum", jac, bounds)


@rule(
    found_minimum,
    wrt=["args"],
    steps=frozenset({"x0", "tol", "options"}),
    jvp=_minimum_jvp,
    samples=_minima,
    infer=infer.several.place_and_more,
    dtype="unknown",
    calls=("fun", "jac"),
    passes=("args", 1),
    without=(2,),
    gives=(tuple,),
)
def found_minimum_rule(
    z: Any,
    z_bar: Any,
    fun: Function,
    x0: Array,
    args: Any = (),
    method: Any = None,
    jac: Any = None,
    tol: Any = None,
    options: Any = None,
    bounds: Any = None,
) -> Any:
    return least_adjoints(z_bar[0], z_bar[1], z[0], z[2], fun, args, "minimum", jac, bounds)


def _lowest() -> Sequence[Sample]:
    return [
        sample(bowl, None, None, (0.4, 0.7), "brent", 1e-14),
        sample(bowl, bounds=(-1.0, 3.0), args=(0.4, 0.7), options={"xatol": 1e-14}),
    ]


def _lowest_jvp(args_dot: Any, z: Any, fun: Function, bounds: Any = None, args: Any = ()) -> Any:
    return least_tangent(args_dot, z[0], z[2], fun, args, "minimum", None, bounds)


@rule(
    found_minimum_scalar,
    wrt=["args"],
    steps=frozenset({"bracket", "tol", "options"}),
    jvp=_lowest_jvp,
    samples=_lowest,
    infer=infer.several.place_and_more,
    dtype="unknown",
    calls=("fun",),
    passes=("args", 1),
    without=(2,),
    gives=(tuple,),
)
def found_minimum_scalar_rule(
    z: Any,
    z_bar: Any,
    fun: Function,
    bracket: Any = None,
    bounds: Any = None,
    args: Any = (),
    method: Any = None,
    tol: Any = None,
    options: Any = None,
) -> Any:
    return least_adjoints(z_bar[0], z_bar[1], z[0], z[2], fun, args, "minimum", None, bounds)


def _fits() -> Sequence[Sample]:
    times = np.linspace(0.0, 2.0, 6)
    values = 1.3 - 0.8 * times + 0.3 * numbers(6)
    tight = (1e-15, 1e-15, 1e-15)
    return [
        sample(line, np.array([1.0, 1.0]), line_slopes, "lm", *tight, (times, values)),
        sample(line, np.array([1.0, 1.0]), line_slopes, "lm", *tight, args=(times, values)),
    ]


def _fit_jvp(
    args_dot: Any,
    z: Any,
    fun: Function,
    jac: Any = None,
    args: Any = (),
    bounds: Any = None,
    loss: Any = None,
    f_scale: Any = None,
) -> Any:
    return least_tangent(args_dot, z[0], z[2], fun, args, "squares", jac, bounds, loss, f_scale)


@rule(
    found_least_squares,
    wrt=["args"],
    steps=frozenset({"x0"}),
    jvp=_fit_jvp,
    samples=_fits,
    infer=infer.several.place_and_more,
    dtype="unknown",
    calls=("fun", "jac"),
    passes=("args", 1),
    without=(2,),
    gives=(tuple,),
)
def found_least_squares_rule(
    z: Any,
    z_bar: Any,
    fun: Function,
    x0: Array,
    jac: Any,
    method: str,
    ftol: Any,
    xtol: Any,
    gtol: Any,
    args: Any = (),
    bounds: Any = None,
    loss: Any = None,
    f_scale: Any = None,
    x_scale: Any = None,
    diff_step: Any = None,
    max_nfev: Any = None,
) -> Any:
    return least_adjoints(z_bar[0], z_bar[1], z[0], z[2], fun, args, "squares", jac, bounds, loss, f_scale)


def _older_fits() -> Sequence[Sample]:
    times = np.linspace(0.0, 2.0, 6)
    values = 1.3 - 0.8 * times + 0.3 * numbers(6)
    start, tight = np.array([1.0, 1.0]), (1e-15, 1e-15, 0.0)
    return [sample(line, start, (times, values), line_slopes, False, *tight)]


def _leastsq_jvp(args_dot: Any, z: Any, fun: Function, args: Any = (), jac: Any = None) -> Any:
    return least_tangent(args_dot, z[0], z[2], fun, args, "squares", jac)


@rule(
    found_leastsq,
    wrt=["args"],
    steps=frozenset({"x0"}),
    jvp=_leastsq_jvp,
    samples=_older_fits,
    infer=infer.several.place_and_more,
    dtype="unknown",
    calls=("fun", "jac"),
    passes=("args", 1),
    without=(2,),
    gives=(tuple,),
)
def found_leastsq_rule(
    z: Any,
    z_bar: Any,
    fun: Function,
    x0: Array,
    args: Any,
    jac: Any,
    full_output: Any,
    ftol: Any,
    xtol: Any,
    gtol: Any,
) -> Any:
    return least_adjoints(z_bar[0], z_bar[1], z[0], z[2], fun, args, "squares", jac)


constant(alone, signature=lambda x0, full_output: None, calls=(), result="element")

_MINIMUM = (
    "derivatives pass through .x and .fun of minimize(fun, x0, args, method, jac, bounds=..., tol=..., options=...) "
    "and minimize_scalar, .x and .cost of least_squares(fun, x0, jac, bounds, method=..., loss=..., f_scale=..., "
    "args=...), by args and by what the functions capture"
)

for _function in (optimize.minimize, optimize.minimize_scalar, optimize.least_squares):
    operation(_function, signature=lambda fun: None, calls=("fun",), remedy=_MINIMUM)


# --- minimisers that are refused as they stand: they are long Python

_SLOPES = "use s2sad.grad"
_MINIMA = "use scipy.optimize.minimize"
_LONG = {
    **dict.fromkeys(("approx_fprime", "check_grad"), _SLOPES),
    **dict.fromkeys(("fmin_ncg", "fmin_cobyla", "fmin_l_bfgs_b", "fmin_slsqp", "fmin_tnc"), _MINIMA),
    **dict.fromkeys(("basinhopping", "brute", "differential_evolution", "dual_annealing", "shgo", "direct"), _MINIMA),
}
for _name, _remedy in _LONG.items():
    _function = getattr(optimize, _name)
    if spec_of(_function) is None and model_of(_function) is None:
        operation(_function, remedy=_remedy)
