"""Rules of the factorisations in `numpy.linalg`.

Where a gradient is not unique the convention is JAX's.  Functions that take a
matrix to be Hermitian and read one triangle of it (``cholesky``, ``eigh``,
``eigvalsh``, ``svd`` with ``hermitian=True``) have derivative zero by the other, and by the
imaginary part of the diagonal.  A derivative that does not exist raises
``UndefinedDerivativeError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, linear, rule, sample
from s2sad.runtime.decompositions import (
    cholesky_adjoint,
    cholesky_tangent,
    eig_adjoint,
    eig_tangent,
    eigh_adjoint,
    eigh_tangent,
    eigvals_adjoint,
    eigvals_tangent,
    eigvalsh_tangent,
    lower_blocks,
    svd_adjoint,
    svd_or_values_adjoint,
    svd_tangent,
    svdvals_adjoint,
)
from s2sad.runtime.matrices import halved_triangle
from s2sad.runtime.qr import qr_adjoint, qr_adjoint_of, qr_tangent_of

Array = Any


def _read_in_part() -> list[Array]:
    """Matrices of which one triangle is read and makes a positive definite one; the other may be anything."""
    return [
        numbers(1, 1) ** 2,
        numbers(3, 3) / 2 + 3 * np.eye(3),
        numbers(2, 3, 3) / 2 + 3 * np.diag([1.0, 2.0, 4.0]),
        (numbers(3, 3) / 2 + 3 * np.diag([1.0, 2.0, 4.0])).astype(np.float32),
        np.zeros((0, 0)),
    ]


def _read_in_part_complex() -> list[Array]:
    return [complexes(1, 1) + 2, complexes(3, 3) / 2 + 4 * np.eye(3), complexes(2, 2, 2) / 2 + 4 * np.eye(2)]


def _choleskys() -> Sequence[Sample]:
    points = [*_read_in_part(), *_read_in_part_complex()]
    return [sample(a, **options) for a in points for options in ({}, {"upper": True})]


# The factor of modulus one that each complex vector is free up to has no derivative: complex ones have their own tests.
def _eighs() -> Sequence[Sample]:
    return [sample(a, *triangle) for a in _read_in_part() for triangle in ((), ("L",), ("U",), ("u",))]


def _eigvalshs() -> Sequence[Sample]:
    points = [*_read_in_part(), *_read_in_part_complex()]
    return [sample(a, *triangle) for a in points for triangle in ((), ("L",), ("U",))]


def _cholesky_jvp(a_dot: Array, z: Array, a: Array, *, upper: bool = False) -> Array:
    return cholesky_tangent(a_dot, z, upper)


@rule(np.linalg.cholesky, wrt=["a"], jvp=_cholesky_jvp, samples=_choleskys, infer=infer.common.same_as_first)
def cholesky(z: Array, z_bar: Array, a: Array, *, upper: bool = False) -> Array:
    return cholesky_adjoint(z_bar, z, upper)


def _blocks() -> Sequence[Sample]:
    return [
        sample(numbers(2, 2), numbers(3, 2), numbers(3, 3)),
        sample(numbers(2, 1, 1), numbers(2, 2, 1), numbers(2, 2, 2)),
        sample(complexes(1, 1), complexes(2, 1), complexes(2, 2)),
    ]


@linear(lower_blocks, wrt=["start", "below", "rest"], samples=_blocks)
def lower_blocks_rule(z_bar: Array, start: Array, below: Array, rest: Array) -> tuple[Array, Array, Array]:
    k = start.shape[-1]
    return z_bar[..., :k, :k], z_bar[..., k:, :k], z_bar[..., k:, k:]


def _eigh_jvp(a_dot: Array, z: Any, UPLO: Any = "L") -> tuple[Array, Array]:
    return eigh_tangent(a_dot, z[0], z[1], UPLO)


@rule(np.linalg.eigh, wrt=["a"], jvp=_eigh_jvp, samples=_eighs, infer=infer.linalg.eigensystem, gives=(tuple,))
def eigh(z: Any, z_bar: Any, a: Array, UPLO: Any = "L") -> Array:
    if UPLO == "L":
        return eigh_adjoint(z_bar[0], z_bar[1], z[0], z[1])
    return eigh_adjoint(z_bar[0], z_bar[1], z[0], z[1], UPLO)


def _eigvalsh_jvp(a_dot: Array, a: Array, UPLO: Any = "L") -> Array:
    return eigvalsh_tangent(a_dot, np.linalg.eigh(a, UPLO)[1], UPLO)


@rule(np.linalg.eigvalsh, wrt=["a"], jvp=_eigvalsh_jvp, samples=_eigvalshs, infer=infer.linalg.eigenvalues)
def eigvalsh(z: Array, z_bar: Array, a: Array, UPLO: Any = "L") -> Array:
    v = np.linalg.eigh(a, UPLO)[1]
    if UPLO == "L":
        return eigh_adjoint(z_bar, np.zeros_like(v), z, v)
    return eigh_adjoint(z_bar, np.zeros_like(v), z, v, UPLO)


def _eigs() -> Sequence[Sample]:
    turned = np.array([[0.3, -2.0, 0.1], [1.5, 0.4, 0.7], [0.2, 0.5, 1.9]])
    spread = numbers(3, 3) / 4 + np.diag([1.0, 2.5, -2.0])
    points = [turned, spread, _stack(turned, spread), _stack(spread, spread.T), complexes(3, 3), complexes(2, 2, 2)]
    points += [numbers(1, 1), complexes(1, 1), np.zeros((0, 0)), np.zeros((0, 2, 2))]
    return [sample(a) for a in (*points, spread.astype(np.float32), complexes(2, 2).astype(np.complex64))]


def _stack(*matrices: Array) -> Array:
    return np.stack(matrices)


def _eig_jvp(a_dot: Array, z: Any) -> tuple[Array, Array]:
    return eig_tangent(a_dot, z[0], z[1])


@rule(
    np.linalg.eig,
    wrt=["a"],
    jvp=_eig_jvp,
    samples=_eigs,
    infer=infer.linalg.general_eigensystem,
    complex_adjoints=True,
    gives=(tuple,),
)
def eig(z: Any, z_bar: Any, a: Array) -> Array:
    return eig_adjoint(z_bar[0], z_bar[1], z[0], z[1])


def _eigvals_jvp(a_dot: Array, z: Array, a: Array) -> Array:
    return eigvals_tangent(a_dot, z, a)


@rule(
    np.linalg.eigvals,
    wrt=["a"],
    jvp=_eigvals_jvp,
    samples=_eigs,
    infer=infer.linalg.general_eigenvalues,
    complex_adjoints=True,
)
def eigvals(z: Array, z_bar: Array, a: Array) -> Array:
    return eigvals_adjoint(z_bar, z, a)


def _factored() -> Sequence[Sample]:
    hermitian = numbers(3, 3) / 4 + np.diag([1.0, -2.0, 3.0])
    return [
        sample(numbers(3, 3)),
        sample(numbers(2, 3, 3)),
        sample(numbers(3, 3), True),
        sample(numbers(1, 1)),
        sample(numbers(4, 2), False),
        sample(numbers(2, 4), full_matrices=False),
        sample(numbers(2, 3, 2), full_matrices=False),
        sample(numbers(4, 2), compute_uv=False),
        sample(numbers(2, 2, 3), True, False),
        sample(complexes(3, 2), compute_uv=False),
        sample(singles(3, 3)),
        sample(singles(3, 2), full_matrices=False),
        sample(singles(3, 2), compute_uv=False),
        sample(numbers(3, 2)),  # one vector more, unique but for its sign
        sample(numbers(2, 2, 3)),
        sample(hermitian, hermitian=True),
        sample(np.stack([hermitian, -hermitian.T]), True, True, True),
        sample(hermitian, compute_uv=False, hermitian=True),
        sample(hermitian + 1j * numbers(3, 3), compute_uv=False, hermitian=True),
        sample(np.zeros((0, 2)), full_matrices=False),
    ]


def _svd_jvp(
    a_dot: Array, z: Any, a: Array, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    return svd_tangent(a_dot, z, a, compute_uv, hermitian)


@rule(np.linalg.svd, wrt=["a"], jvp=_svd_jvp, samples=_factored, infer=infer.linalg.svd, gives=(tuple, np.ndarray))
def svd(
    z: Any,
    z_bar: Any,
    a: Array,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
) -> Array:
    if compute_uv and not hermitian:
        return svd_adjoint(z_bar, z, a)
    if not compute_uv and not hermitian:
        return svdvals_adjoint(z_bar, a)
    return svd_or_values_adjoint(z_bar, z, a, compute_uv, hermitian)


def _svdvals_jvp(x_dot: Array, z: Array, x: Array) -> Array:
    return svd_tangent(x_dot, z, x, compute_uv=False)


def _valued() -> Sequence[Sample]:
    return [sample(numbers(3, 2)), sample(numbers(2, 2, 3)), sample(complexes(2, 2)), sample(singles(2, 3))]


@rule(np.linalg.svdvals, wrt=["x"], jvp=_svdvals_jvp, samples=_valued, infer=infer.linalg.singular_values)
def svdvals(z_bar: Array, x: Array) -> Array:
    return svdvals_adjoint(z_bar, x)


def _orthogonalised() -> Sequence[Sample]:
    shapes = [(3, 3), (4, 2), (2, 3, 2), (2, 4), (2, 2, 3), (1, 1), (3, 1), (1, 3)]
    points = [sample(numbers(*shape), *mode) for shape in shapes for mode in ((), ("r",))]
    # How two further columns turn into each other has no derivative: see the tests.
    points += [sample(numbers(*shape), "complete") for shape in ((3, 2), *shapes[2:6])]
    points += [sample(complexes(*shape), mode=mode) for shape in shapes[:5] for mode in ("reduced", "r")]
    points += [sample(singles(3, 2)), sample(singles(2, 3), "r"), sample(numbers(0, 2)), sample(numbers(2, 0))]
    return points


def _qr_jvp(a_dot: Array, z: Any, a: Array, mode: str = "reduced") -> Any:
    return qr_tangent_of(mode, a_dot, z, a)


@rule(
    np.linalg.qr,
    wrt=["a"],
    jvp=_qr_jvp,
    samples=_orthogonalised,
    infer=infer.linalg.qr_parts,
    gives=(tuple, np.ndarray),
)
def qr(z: Any, z_bar: Any, a: Array, mode: str = "reduced") -> Array:
    if mode in ("reduced", "complete"):
        return qr_adjoint(z_bar[0], z_bar[1], z[0], z[1], a)
    return qr_adjoint_of(mode, z_bar, z, a)


# --- what the rules call


def _halves() -> Sequence[Sample]:
    return [sample(a, upper) for a in (numbers(3, 3), complexes(2, 2, 2), singles(2, 2)) for upper in (False, True)]


@linear(halved_triangle, wrt=["a"], samples=_halves, infer=infer.common.same_as_first)
def halved_triangle_rule(z_bar: Array, a: Array, upper: bool) -> Array:
    return halved_triangle(z_bar, upper)
