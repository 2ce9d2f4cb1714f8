"""What is said where derivatives of integrals, roots, minima, fits and paths are to be differentiated again.

Their adjoints and tangents call derivatives of the functions that they are given, which are compiled as they run.
"""

from __future__ import annotations

from s2sad.ops.spec import operation
from s2sad.runtime.scipy import fits, integrals, minima, odes, roots

_AGAIN = (
    "second derivatives do not pass through functions that SciPy calls; take differences of the gradient, or write the "
    "steps of the method as a loop, which is differentiated as often as is asked for"
)

operation(
    integrals.arguments_adjoint,
    integrals.bound_slope,
    integrals.integral_tangent,
    integrals.fixed_adjoints,
    integrals.fixed_tangent,
    integrals.nested_adjoints,
    integrals.nested_tangent,
    integrals.vector_adjoints,
    integrals.vector_tangent,
    minima.minimum_adjoints,
    minima.minimum_tangent,
    minima.squares_adjoints,
    minima.squares_tangent,
    fits.fit_adjoints,
    fits.fit_tangent,
    odes.odeint_adjoints,
    odes.odeint_tangent,
    odes.trajectory_bars,
    odes.trajectory_tangent,
    odes.between_bars,
    odes.between_tangent,
    roots.root_adjoints,
    roots.root_tangent,
    roots.solution_adjoints,
    roots.solution_tangent,
    roots.found_adjoints,
    roots.found_tangent,
    roots.fixed_adjoints,
    roots.fixed_tangent,
    remedy=_AGAIN,
)
