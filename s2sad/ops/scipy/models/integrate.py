"""Solutions of differential equations as ``scipy.integrate`` gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

from s2sad.ops.models import model
from s2sad.runtime.scipy.odes import trajectory


class OdeResult:
    """Times and states, and how they were found."""

    def __init__(self, t: Any, y: Any, report: Any) -> None:
        self.t = t
        self.y = y
        self.success = report.success
        self.status = report.status
        self.message = report.message
        self.nfev = report.nfev


@model(integrate.solve_ivp)
def solve_ivp(
    fun: Any,
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    *,
    vectorized: Any = False,
    args: Any = None,
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    max_step: Any = np.inf,
    first_step: Any = None,
    jac: Any = None,
) -> Any:
    t, y, report = trajectory(
        fun,
        t_span,
        y0,
        args,
        t_eval,
        method,
        rtol,
        atol,
        max_step,
        jac=jac,
        first_step=first_step,
        vectorized=vectorized,
    )
    return OdeResult(t, y, report)
