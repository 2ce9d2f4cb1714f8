"""Derivatives of functions of matrices, and of the equations of Sylvester and Lyapunov.

The derivative of ``f`` at ``A`` along ``E`` is the upper right block of ``f([[A, E], [0, A]])``, and its transpose is
the derivative at ``A.T`` (N. J. Higham, "Functions of Matrices" (2008), section 3.2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.matrices import transposed


def expm_derivative(a: Any, e: Any) -> Any:
    """Derivative of ``linalg.expm`` at ``a`` along ``e``: that of each of a stack of matrices."""
    if np.ndim(a) > 2 or np.ndim(e) > 2:
        return _of_each(expm_derivative, a, e)
    # It computes in double precision, whatever it is given.
    return linalg.expm_frechet(a, e, compute_expm=False).astype(np.result_type(a, e), copy=False)


def doubled(a: Any, e: Any) -> Any:
    """The matrix ``[[a, e], [0, a]]``, or a stack of such, with ``e`` brought to the size of ``a``."""
    # Functions of a matrix scale it by its norm: of ``a`` beside a much larger ``e`` they would lose digits.
    e = (e + np.zeros_like(a)) / size_beside(e, a)
    above, below = np.concatenate([a, e], axis=-1), np.concatenate([np.zeros_like(a), a], axis=-1)
    return np.concatenate([above, below], axis=-2)


def beside(f: Any, a: Any, e: Any) -> Any:
    """Upper right block of a function of ``doubled(a, e)``, for ``e`` as it is: the derivative at ``a`` along it."""
    size = np.shape(f)[-1] // 2
    return size_beside(e, a) * f[..., :size, size:]


def size_beside(e: Any, a: Any) -> Any:
    """How much larger the elements of each matrix of ``e`` are than those of ``a``: a power of two."""
    large, unit = (np.max(np.abs(x), axis=(-2, -1), keepdims=True, initial=0.0) for x in (e, a))
    return np.ldexp(np.ones_like(unit), np.frexp(large)[1] - np.frexp(unit)[1])


def expm_frechet_adjoint(z_bar: Any, a: Any, e: Any, compute_expm: bool = True) -> tuple[Any, Any]:
    """Adjoints of ``a`` and ``e`` in ``linalg.expm_frechet(a, e, compute_expm=compute_expm)``."""
    at = transposed(a)
    slope_bar = z_bar[1] if compute_expm else z_bar
    a_bar = second_derivative(at, transposed(e), slope_bar)
    if compute_expm:
        a_bar = a_bar + expm_derivative(at, z_bar[0])
    return unbroadcast(a_bar, np.shape(a)), unbroadcast(expm_derivative(at, slope_bar), np.shape(e))


def expm_frechet_tangent(a_dot: Any, e_dot: Any, a: Any, e: Any, compute_expm: bool = True) -> Any:
    """Tangent of ``linalg.expm_frechet(a, e, compute_expm=compute_expm)``."""
    a_dot, e_dot = a_dot + np.zeros_like(a), e_dot + np.zeros_like(e)
    slope_dot = second_derivative(a, e, a_dot) + expm_derivative(a, e_dot)
    return (expm_derivative(a, a_dot), slope_dot) if compute_expm else slope_dot


def second_derivative(a: Any, e: Any, d: Any) -> Any:
    """Second derivative of ``linalg.expm`` at ``a`` along ``e`` and ``d``."""
    none = np.zeros_like(a + e)
    a, e, d = a + none, e + none, d + none
    by, to = size_beside(e, a), size_beside(d, a)
    e, d = e / by, d / to
    blocks = [[a, e, d, none], [none, a, none, d], [none, none, a, e], [none, none, none, a]]
    size = np.shape(a)[-1]
    return by * to * linalg.expm(np.block(blocks))[..., :size, 3 * size :]


def _of_each(function: Callable[..., Any], a: Any, e: Any) -> Any:
    a, e = np.broadcast_arrays(a, e)
    shape = np.shape(a)
    each = (int(np.prod(shape[:-2])), shape[-2], shape[-1])
    parts = [function(x, y) for x, y in zip(np.reshape(a, each), np.reshape(e, each), strict=True)]
    return np.array(parts).reshape(shape)


def in_shape(a_bar: Any, a: Any) -> Any:
    """The adjoint of a matrix; of a number, which SciPy takes for one, a number."""
    return a_bar if np.ndim(a) > 1 else np.reshape(a_bar, np.shape(a))


def rooted(z: Any, a: Any) -> Any:
    """The root ``z`` of a matrix; of a number some versions of SciPy give something else."""
    if np.ndim(a) == 0 and not np.allclose(np.square(z), a):
        raise UndefinedDerivativeError(
            "linalg.sqrtm of a number is not its root in this version of SciPy", "Use np.sqrt."
        )
    return z


def sylvester_adjoint(z_bar: Any, z: Any, a: Any, b: Any, q: Any) -> Any:
    """Adjoint of ``q`` in ``z = linalg.solve_sylvester(a, b, q)``."""
    _check_solved(z, a, b, q)
    return _sylvester(transposed(a), transposed(b), z_bar)


def sylvester_tangent(a_dot: Any, b_dot: Any, q_dot: Any, z: Any, a: Any, b: Any, q: Any) -> Any:
    """Tangent of ``z = linalg.solve_sylvester(a, b, q)``."""
    _check_solved(z, a, b, q)
    return _sylvester(np.asarray(a), np.asarray(b), q_dot - product(a_dot, z) - product(z, b_dot))


def product(a: Any, b: Any) -> Any:
    """The product of two matrices, or stacks of them, of which one may be a number: zero is a tangent of a constant."""
    return np.matmul(a, b) if np.ndim(a) and np.ndim(b) else np.multiply(a, b)


def hermitian(a: Any) -> Any:
    """The conjugate transpose of a matrix or each of a stack; the conjugate of a number."""
    return np.conj(transposed(a) if np.ndim(a) else a)


def _check_solved(z: Any, a: Any, b: Any, q: Any) -> None:
    missed = np.matmul(a, z) + np.matmul(z, b) - q
    if not np.allclose(missed, 0.0, atol=1e-6 * (1.0 + float(np.max(np.abs(z), initial=0.0)))):
        raise UndefinedDerivativeError(
            "linalg.solve_sylvester has not solved the equation: SciPy does not where one matrix is complex, and the "
            "other is real with complex eigenvalues",
            "Give it both as complex matrices.",
        )


def _sylvester(a: Any, b: Any, q: Any) -> Any:
    """The solution of ``a x + x b = q``; SciPy's is none where one of the three is complex, and others are real."""
    kind = np.result_type(np.asarray(a), np.asarray(b), np.asarray(q))
    return linalg.solve_sylvester(a.astype(kind), b.astype(kind), q)


def sqrtm_adjoint(z_bar: Any, z: Any) -> Any:
    """Adjoint of ``a`` in ``z = linalg.sqrtm(a)``."""
    if np.ndim(z) > 2:
        return _of_each(lambda root, g: sqrtm_adjoint(g, root), z, z_bar)
    return _sylvester(z.T, z.T, z_bar)


def sqrtm_tangent(a_dot: Any, z: Any) -> Any:
    """Tangent of ``z = linalg.sqrtm(a)``."""
    if np.ndim(z) > 2:
        return _of_each(lambda root, d: sqrtm_tangent(d, root), z, a_dot)
    return _sylvester(z, z, a_dot)


def lyapunov_matrix(q_bar: Any, z: Any) -> Any:
    """Adjoint of ``a`` in ``z = linalg.solve_continuous_lyapunov(a, q)``, given that of ``q``."""
    return -q_bar @ transposed(z) - np.conj(transposed(q_bar) @ z)


def stein_matrix(q_bar: Any, z: Any, a: Any) -> Any:
    """Adjoint of ``a`` in ``z = linalg.solve_discrete_lyapunov(a, q)``, given that of ``q``."""
    return q_bar @ np.conj(a) @ transposed(z) + np.conj(transposed(q_bar) @ a @ z)
