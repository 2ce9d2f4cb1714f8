"""Transposes of what is known by its action on vectors: factors, linear operators, least squares."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import linalg

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.scipy.callables import no_report
from s2sad.runtime.undefined import Undefined

Array = Any

#: The option of ``SuperLU.solve`` by which the transpose of a solution is found; that of ``"H"`` is conjugated.
_TURNED = {"N": "T", "T": "N", "H": "N"}


def _fitted(found: Array, x: Array) -> Array:
    """An adjoint in the shape of an operand ``x``, and real if that is."""
    found = np.reshape(found, np.shape(x))
    return found if np.iscomplexobj(x) else np.real(found)


def factors_adjoint(g: Array, lu: Any, rhs: Array, trans: str = "N") -> Array:
    """Adjoint of ``rhs`` in ``lu.solve(rhs, trans)``."""
    g = np.ascontiguousarray(np.conj(g) if trans == "H" else g)
    if np.iscomplexobj(g) and not np.iscomplexobj(lu.L.data):
        found = lu.solve(np.ascontiguousarray(g.real), _TURNED[trans]) + 1j * lu.solve(
            np.ascontiguousarray(g.imag), _TURNED[trans]
        )
    else:
        found = lu.solve(g, _TURNED[trans])
    return _fitted(np.conj(found) if trans == "H" else found, rhs)


def _applied(operator: Any, name: str, x: Array) -> Array:
    try:
        return getattr(operator, name)(x)
    except (NotImplementedError, TypeError) as error:
        raise UndefinedDerivativeError(
            "a linear operator that does not know its adjoint has no derivative",
            "Give it rmatvec (and rmatmat): LinearOperator(shape, matvec=..., rmatvec=...).",
        ) from error


def operator_adjoint(g: Array, operator: Any, name: str, x: Array) -> Array:
    """Adjoint of ``x`` in a method of a linear operator: ``operator.matvec(x)``."""
    other = name[1:] if name.startswith("r") else f"r{name}"
    # What the operator calls its adjoint is conjugated, and adjoints here are not.
    return _fitted(np.conj(_applied(operator, other, np.conj(g))), x)


def applied(operator: Any, name: str, x: Array) -> Array:
    """A method of a linear operator: ``operator.matvec(x)``."""
    return getattr(operator, name)(x)


def product_adjoint(g: Array, operator: Any, x: Array) -> Array:
    """Adjoint of ``x`` in ``operator.dot(x)``."""
    return operator_adjoint(g, operator, "matmat" if np.ndim(x) == 2 else "matvec", x)


def least_adjoint(g: Array, a: Any, b: Array, name: str, *options: Any) -> Array:
    """Adjoint of ``b`` in ``linalg.lsqr(a, b, *options)[0]``: the solution with the transpose, of the same options."""
    if np.size(b) != a.shape[0]:
        raise UndefinedDerivativeError(
            f"a right-hand side of {np.size(b)} numbers for {a.shape[0]} equations has no derivative rule",
            "Give one number for each row of the matrix.",
        )
    return _fitted(getattr(linalg, name)(a.T, np.ravel(g), *options)[0], b)


def least_solution(a: Any, b: Array, name: str, *options: Any) -> Array:
    """``linalg.lsqr(a, b, *options)[0]``."""
    return getattr(linalg, name)(a, b, *options)[0]


def solution_bar(z_bar: Any) -> Array:
    """The adjoint of the solution, in that of what a least-squares solver returns."""
    if any(np.any(g) for g in z_bar[1:]):
        raise no_report()
    return z_bar[0]


def with_reports(x: Array, count: int) -> tuple[Any, ...]:
    """The tangent of what a least-squares solver returns: of the solution, two integers, and so many norms."""
    return (x, 0, 0, *[Undefined(no_report()) for _ in range(count)])


def exponential_adjoint(
    g: Array, a: Any, b: Array, start: Any, stop: Any, num: Any, endpoint: Any, trace: Any
) -> Array:
    """Adjoint of ``b`` in ``linalg.expm_multiply(a, b, start, stop, num, endpoint)``."""
    if start is None and stop is None and num is None and endpoint is None:
        return _fitted(linalg.expm_multiply(a.T, g, traceA=trace), b)
    options = {} if num is None else {"num": num}
    times = np.linspace(start, stop, endpoint=True if endpoint is None else endpoint, **options)
    return _fitted(sum([linalg.expm_multiply(t * a.T, row) for t, row in zip(times, g, strict=True)]), b)
