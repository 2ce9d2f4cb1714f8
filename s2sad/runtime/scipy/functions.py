"""Derivatives of functions of matrices, and of the equations of Sylvester and Lyapunov.

The derivative of ``f`` at ``A`` along ``E`` is the upper right block of ``f([[A, E], [0, A]])``, and its transpose is
the derivative at ``A.T`` (N. J. Higham, "Functions of Matrices" (2008), section 3.2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from s2sad.runtime.matrices import transposed


def expm_derivative(a: Any, e: Any) -> Any:
    """Derivative of ``linalg.expm`` at ``a`` along ``e``: that of each of a stack of matrices."""
    if np.ndim(a) > 2:
        return _of_each(expm_derivative, a, e)
    # It computes in double precision, whatever it is given.
    return linalg.expm_frechet(a, e, compute_expm=False).astype(np.result_type(a, e), copy=False)


def block_derivative(name: str, a: Any, e: Any, *more: Any) -> Any:
    """Derivative along ``e`` of a function of matrices, ``linalg.name(a, *more)``."""
    if np.ndim(a) > 2:
        return _of_each(lambda x, y: block_derivative(name, x, y, *more), a, e)
    function = getattr(linalg, name)
    size = np.shape(a)[0]
    return function(np.block([[a, e], [np.zeros_like(a), a]]), *more)[:size, size:]


def expm_frechet_adjoint(z_bar: Any, a: Any, e: Any, compute_expm: bool = True) -> tuple[Any, Any]:
    """Adjoints of ``a`` and ``e`` in ``linalg.expm_frechet(a, e, compute_expm=compute_expm)``."""
    at = transposed(a)
    if not compute_expm:
        return second_derivative(at, transposed(e), z_bar), expm_derivative(at, z_bar)
    value_bar, slope_bar = z_bar
    a_bar = expm_derivative(at, value_bar) + second_derivative(at, transposed(e), slope_bar)
    return a_bar, expm_derivative(at, slope_bar)


def expm_frechet_tangent(a_dot: Any, e_dot: Any, a: Any, e: Any, compute_expm: bool = True) -> Any:
    """Tangent of ``linalg.expm_frechet(a, e, compute_expm=compute_expm)``."""
    a_dot, e_dot = a_dot + np.zeros_like(a), e_dot + np.zeros_like(e)
    slope_dot = second_derivative(a, e, a_dot) + expm_derivative(a, e_dot)
    return (expm_derivative(a, a_dot), slope_dot) if compute_expm else slope_dot


def second_derivative(a: Any, e: Any, d: Any) -> Any:
    """Second derivative of ``linalg.expm`` at ``a`` along ``e`` and ``d``."""
    none = np.zeros_like(a)
    blocks = [[a, e, d, none], [none, a, none, d], [none, none, a, e], [none, none, none, a]]
    size = np.shape(a)[0]
    return linalg.expm(np.block(blocks))[:size, 3 * size :]


def _of_each(function: Callable[..., Any], a: Any, e: Any) -> Any:
    shape = np.shape(a)
    parts = [function(x, y) for x, y in zip(a.reshape(-1, *shape[-2:]), e.reshape(-1, *shape[-2:]), strict=True)]
    return np.array(parts).reshape(shape)


def sqrtm_adjoint(z_bar: Any, z: Any) -> Any:
    """Adjoint of ``a`` in ``z = linalg.sqrtm(a)``."""
    if np.ndim(z) > 2:
        return _of_each(lambda root, g: sqrtm_adjoint(g, root), z, z_bar)
    return linalg.solve_sylvester(z.T, z.T, z_bar)


def sqrtm_tangent(a_dot: Any, z: Any) -> Any:
    """Tangent of ``z = linalg.sqrtm(a)``."""
    if np.ndim(z) > 2:
        return _of_each(lambda root, d: sqrtm_tangent(d, root), z, a_dot)
    return linalg.solve_sylvester(z, z, a_dot)


def lyapunov_matrix(q_bar: Any, z: Any) -> Any:
    """Adjoint of ``a`` in ``z = linalg.solve_continuous_lyapunov(a, q)``, given that of ``q``."""
    return -q_bar @ transposed(z) - np.conj(transposed(q_bar) @ z)


def stein_matrix(q_bar: Any, z: Any, a: Any) -> Any:
    """Adjoint of ``a`` in ``z = linalg.solve_discrete_lyapunov(a, q)``, given that of ``q``."""
    return q_bar @ np.conj(a) @ transposed(z) + np.conj(transposed(q_bar) @ a @ z)
