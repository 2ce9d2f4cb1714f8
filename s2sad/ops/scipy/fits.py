"""Rule of ``scipy.optimize.curve_fit``: fitted parameters, by the data and what the function captures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import optimize

from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, operation, rule, sample
from s2sad.runtime.scipy.fits import fit_adjoints, fit_tangent, found_fit, no_covariances
from s2sad.runtime.undefined import Undefined

Array = Any
Function = Callable[..., Any]


def curve(x: Any, a: Any, b: Any, c: Any = 0.3) -> Any:
    """A function to be fitted for samples, linear in its parameters, which are found to the last digits."""
    return a * np.exp(-c * x) + b * x**2 + c


def slopes(x: Any, a: Any, b: Any, c: Any = 0.3) -> Any:
    """The derivatives of `curve` by ``a`` and ``b``."""
    return np.stack([np.exp(-c * x), x**2], axis=1)


def bilinear(x: Any, a: Any, b: Any) -> Any:
    """A function of two variables to be fitted for samples."""
    return a * x[0] + b * x[0] * x[1]


def planes(x: Any, a: Any, b: Any) -> Any:
    """The derivatives of `bilinear`."""
    return np.stack([x[0], x[0] * x[1]], axis=1)


def _fits() -> Sequence[Sample]:
    x = np.linspace(0.0, 2.0, 7)
    y = 1.2 * np.exp(-0.7 * x) + 0.3 + 0.02 * numbers(7)
    tight = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15}
    return [
        sample(curve, x, y, [1.0, 1.0], jac=slopes, **tight),
        sample(curve, x, y, np.ones(2), 0.5 + np.abs(numbers(7)), args=(0.4,), jac=slopes, **tight),
        sample(
            curve, x, y, [1.0, -0.5], None, True, None, ([-9.0, -9.0], [2.0, -0.1]), args=(0.4,), jac=slopes, **tight
        ),
        sample(bilinear, [x, x**2], list(y), (1.0, 1.0), jac=planes, **tight),
    ]


def _fit_jvp(
    xdata_dot: Any,
    ydata_dot: Any,
    sigma_dot: Any,
    args_dot: Any,
    z: Any,
    f: Function,
    xdata: Any,
    ydata: Any,
    sigma: Any = None,
    bounds: Any = (-np.inf, np.inf),
    args: Any = (),
) -> Any:
    dots = xdata_dot, ydata_dot, sigma_dot, args_dot
    return fit_tangent(dots, z[0], f, xdata, ydata, sigma, bounds, args), Undefined(no_covariances())


@rule(
    found_fit,
    wrt=["xdata", "ydata", "sigma", "args"],
    steps=frozenset({"p0"}),
    jvp=_fit_jvp,
    samples=_fits,
    dtype="unknown",
    calls=("f", "jac"),
    passes=("args", None),
    without=(1,),
    gives=(tuple,),
)
def found_fit_rule(
    z: Any,
    z_bar: Any,
    f: Function,
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: Any = False,
    check_finite: Any = None,
    bounds: Any = (-np.inf, np.inf),
    method: Any = None,
    jac: Any = None,
    args: Any = (),
    maxfev: Any = None,
    max_nfev: Any = None,
    ftol: Any = None,
    xtol: Any = None,
    gtol: Any = None,
) -> tuple[Any, Any, Any, Any]:
    x_bar, y_bar, sigma_bar, args_bar = fit_adjoints(z_bar, z, f, xdata, ydata, sigma, bounds, args)
    return x_bar, y_bar, sigma_bar, args_bar


operation(
    optimize.curve_fit,
    signature=lambda f: None,
    calls=("f",),
    remedy=(
        "derivatives pass through the parameters that curve_fit(f, xdata, ydata, p0, sigma, ..., bounds, method, jac) "
        "returns first, by the data and by what f captures; f has a parameter of its own for each that is fitted"
    ),
)
