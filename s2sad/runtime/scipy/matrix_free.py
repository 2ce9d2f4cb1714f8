"""Linear systems whose matrix is a function, of which only products with vectors are known."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import linalg

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.scipy.callables import made, pulled
from s2sad.runtime.scipy.solvers import found, relative_tolerance, turned_preconditioner

Array = Any
Function = Callable[..., Any]


def free_solution(
    matvec: Function,
    args: Any,
    name: str,
    shape: Any,
    dtype: Any,
    options: Any,
    rmatvec: Any = None,
    precondition: Any = None,
) -> Any:
    """``linalg.name(A, b, **options)`` of an operator, where ``args`` are ``b`` and what the functions capture.

    ``matvec`` gives a product ``A @ v``, of ``v`` and these, ``rmatvec`` one with the adjoint, and ``precondition``
    one with ``M``, where that is not among the options.
    """
    adjoint = None if rmatvec is None else lambda v: rmatvec(v, *args)
    a = linalg.LinearOperator(shape, lambda v: matvec(v, *args), adjoint, dtype=dtype)
    if precondition is not None:
        options = {**options, "M": linalg.LinearOperator(shape, lambda v: precondition(v, *args), dtype=a.dtype)}
    return getattr(linalg, name)(a, args[0], **options)


class Iteration:
    """How the solution of a linear system was found; that of another right-hand side is found in the same way.

    It is found from zero, and to the same relative tolerance.
    """

    def __init__(self, z: Any, matvec: Function, args: Any, name: str, precondition: Any, options: Any) -> None:
        self.name, self.args, self.precondition, self.shift = name, args, precondition, options.get("shift", 0.0)
        self.options = {key: value for key, value in options.items() if key not in ("x0", "atol", "shift")}
        self.options["rtol"] = relative_tolerance(options.get("rtol", 1e-5), options.get("atol", 0.0), args[0])
        self.matvec, self.size, self.dtype = matvec, len(z[0]), z[0].dtype
        if z[1]:
            found(z, self.operator(), np.ravel(args[0]))

    def operator(self) -> Any:
        """The matrix of the system."""
        shift, args = self.shift, self.args

        def product(v: Array) -> Array:
            made = np.ravel(self.matvec(v, *args))
            return made - shift * v if shift else made

        def adjoint(w: Array) -> Array:
            return np.conj(self.pull(np.conj(w)))

        return self._operator(product, adjoint)

    @functools.cached_property
    def pull(self) -> Function:
        """The products of the transpose with vectors."""
        start = np.zeros(self.size, self.dtype)
        pull = pulled(rest_of(self.matvec, len(self.args), self.shift), (start, *self.args), (0,))[1]
        return lambda y: np.ravel(pull(y)[0])

    def moved(self, change: Array) -> Array:
        """The solution for another right-hand side."""
        m = self.options.get("M")
        if self.precondition is not None:
            m = self._operator(lambda v: self.precondition(v, *self.args))
        return self._solved(self.operator(), change, m)

    def turned(self, x_bar: Array) -> Array:
        """The solution of a system with the transpose."""
        m = turned_preconditioner(self.options.get("M"))
        if self.precondition is not None:
            pull = pulled(self.precondition, (np.zeros(self.size, self.dtype), *self.args), (0,))[1]
            m = self._operator(lambda y: np.ravel(pull(y)[0]))
        return self._solved(self.operator().T, x_bar, m)

    def _operator(self, matvec: Function, rmatvec: Any = None) -> Any:
        return linalg.LinearOperator((self.size, self.size), matvec, rmatvec, dtype=self.dtype)

    def _solved(self, a: Any, b: Array, m: Any) -> Array:
        b = np.ravel(b).astype(np.result_type(b, self.dtype), copy=False)
        options = self.options if m is None else {**self.options, "M": m}
        return found(getattr(linalg, self.name)(a, b, **options), a, b)

    def require_solution(self, rest: Array) -> None:
        """Raise if ``rest``, ``A @ x - b``, is not small where a method has found ``x``: ``A`` is not linear, say."""
        b = np.linalg.norm(np.ravel(self.args[0]))
        if not np.linalg.norm(rest) <= 1e-2 * b:
            raise UndefinedDerivativeError(
                f"what {self.name} gives does not solve the system: the derivative of a solution does not apply",
                "Let matvec(v) be linear in v, and give a smaller rtol.",
            )


def iteration(z: Any, matvec: Function, args: Any, name: str, precondition: Any, options: Any) -> Iteration:
    """How a solution was found."""
    return Iteration(z, matvec, args, name, precondition, options)


@functools.lru_cache(maxsize=64)
def rest_of(matvec: Function, count: int, shift: float) -> Function:
    """What is zero at the solution of a system, of which the right-hand side is the first of ``count`` arguments."""
    names = ", ".join(["x", *(f"a{i}" for i in range(count))])
    text = f"def rest({names}):\n    return np.ravel(matvec({names})) - shift * x - np.ravel(a0)\n"
    file = f"<a system of {count}, {'with' if shift else 'without'} shift>"
    text = text if shift else text.replace(" - shift * x", "")
    return made("rest", text, file, matvec=matvec, shift=shift, np=np)


def require_columns(x: Any, size: int) -> Array:
    """A vector that a linear operator is multiplied by, or a matrix of one column."""
    x = np.asanyarray(x)
    if x.shape not in ((size,), (size, 1)):
        raise ValueError("dimension mismatch")
    return x


def require_rows(x: Any, size: int) -> Array:
    """A matrix that a linear operator is multiplied by."""
    x = np.asanyarray(x)
    if x.ndim != 2 or len(x) != size:
        raise ValueError("dimension mismatch")
    return x
