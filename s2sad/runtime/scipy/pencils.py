"""Derivatives of eigenvalues and eigenvectors of two matrices, ``a @ v = w * b @ v``: those of ``inv(b) @ a``."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.decompositions import eig_adjoint, eig_tangent, eigvals_adjoint, eigvals_tangent

Array = Any
_REMEDY = "Take scipy.linalg.eigvals(a, b), or what is the same for all phases: np.abs(v)."


def pencil(a: Array, b: Array) -> Array:
    """The matrix that has the same eigenvalues and vectors as both.

    Raises:
        UndefinedDerivativeError: if the second is singular, so that an eigenvalue is infinite.
    """
    try:
        return np.linalg.solve(b, a)
    except np.linalg.LinAlgError:
        what = "eigenvalues with a singular second matrix, some of which are infinite, have no derivative here"
        raise UndefinedDerivativeError(what, "Exchange both matrices: the eigenvalues are then 1 / w.") from None


def _to_both(c_bar: Array, c: Array, b: Array) -> tuple[Array, Array]:
    a_bar = np.linalg.solve(np.swapaxes(b, -1, -2), c_bar)
    return a_bar, -a_bar @ np.swapaxes(c, -1, -2)


def pencil_adjoint(w_bar: Array, v_bar: Array, w: Array, v: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Return the adjoints of ``a`` and ``b`` in ``w, v = scipy.linalg.eig(a, b)``.

    The vectors have length one; by which phase a complex one is multiplied is a matter of the algorithm.

    Raises:
        UndefinedDerivativeError: if the loss depends on these phases.
    """
    if np.iscomplexobj(v) and np.any(v_bar != 0):
        turned = np.imag(np.sum(v_bar * v, axis=-2))
        if np.any(np.abs(turned) > 1e-8 * np.max(np.abs(v_bar), initial=0.0)):
            raise UndefinedDerivativeError("the loss depends on the phases of complex eigenvectors", _REMEDY)
    c = pencil(a, b)
    return _to_both(eig_adjoint(w_bar, v_bar, w, v), c, b)


def pencil_tangent(a_dot: Array, b_dot: Array, w: Array, v: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Return the tangents of ``w, v = scipy.linalg.eig(a, b)``.

    Raises:
        UndefinedDerivativeError: if vectors are complex, of which the phases are a matter of the algorithm.
    """
    if np.iscomplexobj(v):
        raise UndefinedDerivativeError("complex eigenvectors have phases that have no derivative", _REMEDY)
    return eig_tangent(_motion(a_dot, b_dot, a, b), w, v)


def pencil_values_adjoint(w_bar: Array, w: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """Return the adjoints of ``a`` and ``b`` in ``w = scipy.linalg.eigvals(a, b)``."""
    c = pencil(a, b)
    return _to_both(eigvals_adjoint(w_bar, w, c), c, b)


def pencil_values_tangent(a_dot: Array, b_dot: Array, w: Array, a: Array, b: Array) -> Array:
    """Return the tangent of ``w = scipy.linalg.eigvals(a, b)``."""
    return eigvals_tangent(_motion(a_dot, b_dot, a, b), w, pencil(a, b))


def _motion(a_dot: Array, b_dot: Array, a: Array, b: Array) -> Array:
    return np.linalg.solve(b, a_dot - b_dot @ pencil(a, b))
