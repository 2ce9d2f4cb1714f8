"""Rules of eigenvalues and vectors of one general matrix in ``scipy.linalg``, or of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import linalg

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers
from s2sad.ops.spec import Sample, rule, sample
from s2sad.runtime.decompositions import eig_adjoint, eig_tangent, eigvals_adjoint, eigvals_tangent
from s2sad.runtime.scipy.pencils import (
    pencil_adjoint,
    pencil_tangent,
    pencil_values_adjoint,
    pencil_values_tangent,
)

Array = Any

_SECOND = np.array([[1.0, 0.2, 0.1], [0.3, 2.0, 0.1], [0.1, 0.2, 1.5]])


def _one() -> Sequence[Sample]:
    turned = np.array([[0.3, -2.0, 0.1], [1.5, 0.4, 0.7], [0.2, 0.5, 1.9]])
    spread = numbers(3, 3) / 4 + np.diag([1.0, 2.5, -2.0])
    several = np.stack([spread, 2 * turned])
    return [sample(a) for a in (turned, spread, complexes(3, 3), numbers(1, 1), turned.astype(np.float32), several)]


def _both() -> Sequence[Sample]:
    # Vectors of complex eigenvalues have phases of their own.
    spread = numbers(3, 3) / 4 + np.diag([1.0, 2.5, -2.0])
    return [*_one(), sample(spread, _SECOND), sample(spread.astype(np.float32), _SECOND.astype(np.float32))]


def _values_of_both() -> Sequence[Sample]:
    turned = np.array([[0.3, -2.0, 0.1], [1.5, 0.4, 0.7], [0.2, 0.5, 1.9]])
    return [*_both(), sample(turned, _SECOND), sample(complexes(3, 3), _SECOND)]


def _eig_jvp(a_dot: Array, b_dot: Array, z: Any, a: Array, b: Array | None = None) -> tuple[Array, Array]:
    if b is None:
        return eig_tangent(a_dot, z[0], z[1])
    return pencil_tangent(a_dot, b_dot, z[0], z[1], a, b)


@rule(
    linalg.eig,
    wrt=["a", "b"],
    jvp=_eig_jvp,
    samples=_both,
    infer=infer.scipy.eigensystem,
    dtype="unknown",
    complex_adjoints=True,
    gives=(tuple, list, np.ndarray),
)
def eig(
    z: Any, z_bar: Any, a: Array, b: Array | None = None, *, check_finite: bool = True
) -> tuple[Array, Array | float]:
    if b is None:
        return eig_adjoint(z_bar[0], z_bar[1], z[0], z[1]), 0.0
    bars = pencil_adjoint(z_bar[0], z_bar[1], z[0], z[1], a, b)
    return bars[0], bars[1]


def _eigvals_jvp(a_dot: Array, b_dot: Array, z: Array, a: Array, b: Array | None = None) -> Array:
    if b is None:
        return eigvals_tangent(a_dot, z, a)
    return pencil_values_tangent(a_dot, b_dot, z, a, b)


@rule(
    linalg.eigvals,
    wrt=["a", "b"],
    jvp=_eigvals_jvp,
    samples=_values_of_both,
    infer=infer.linalg.general_eigenvalues,
    dtype="unknown",
    complex_adjoints=True,
)
def eigvals(
    z: Array, z_bar: Array, a: Array, b: Array | None = None, *, check_finite: bool = True
) -> tuple[Array, Array | float]:
    if b is None:
        return eigvals_adjoint(z_bar, z, a), 0.0
    bars = pencil_values_adjoint(z_bar, z, a, b)
    return bars[0], bars[1]
