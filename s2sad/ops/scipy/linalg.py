"""Rules of ``scipy.linalg``: linear systems, by the factors and the structure that the function itself uses.

Functions that read a part of a matrix have derivative zero by the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import linalg

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.spec import Sample, constant, length, ndim, real, rule, sample
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.matrices import transposed as flip
from s2sad.runtime.scipy.bands import (
    hermitian_bands_adjoint,
    hermitian_bands_tangent,
    solve_banded_adjoint,
    solve_banded_tangent,
)
from s2sad.runtime.scipy.systems import (
    cho_factor_of_solve_adjoint,
    cho_side_adjoint,
    cho_solve_tangent,
    folded,
    like_side,
    lu_factors_of_solve_adjoint,
    lu_side_adjoint,
    lu_solve_tangent,
    rows,
    solve_adjoint,
    solve_tangent,
    solve_triangular_adjoint,
    solve_triangular_tangent,
    triangle,
)

Array = Any


def regular(*shape: int, seed: int = 0) -> Any:
    """Return well-conditioned square matrices, also if one triangle alone is read."""
    return numbers(*shape, seed=seed) / 2 + 3.0 * np.eye(shape[-1])


def regular_complex(*shape: int) -> Any:
    """Return well-conditioned square matrices with complex entries."""
    return complexes(*shape) / 3 + 3.0 * np.eye(shape[-1])


# --- general matrices


def _systems() -> Sequence[Sample]:
    a, stack = regular(3, 3), regular(2, 3, 3)
    structures = ("gen", "sym", "pos", "her", "general", "positive definite", "lower triangular", "upper triangular")
    points = [
        sample(a, numbers(3)),
        sample(a, numbers(3, 2)),
        sample(regular(1, 1), numbers(1)),
        *[sample(regular(1, 1), b) for b in (numbers(3), numbers(3, 2))],
        *[sample(0.7, b) for b in (numbers(1), numbers(3), numbers(3, 2), 0.4)],
    ]
    points += [sample(a, numbers(3), assume_a=s) for s in (*structures, "diagonal")]
    points += [sample(a, numbers(3, 2), True, assume_a=s) for s in ("sym", "pos", "symmetric")]
    points += [sample(a, numbers(3, 2), transposed=True), sample(a, numbers(3), transposed=True, assume_a="pos")]
    points += [sample(a, numbers(3), transposed=True, assume_a=s) for s in ("sym", "lower triangular")]
    points += [sample(regular(4, 4), numbers(4), assume_a="tridiagonal")]
    points += [sample(regular_complex(3, 3), complexes(3), assume_a=s) for s in (None, "gen", "sym", "her", "pos")]
    points += [sample(regular_complex(3, 3), complexes(3, 2), assume_a="pos", lower=True)]
    points += [sample(a.astype(np.float32), singles(3)), sample(a.astype(np.float32), singles(3, 2), assume_a="pos")]
    points += [sample(a, complexes(3)), sample(np.triu(a), numbers(3)), sample(np.diag([1.0, 2.0]), numbers(2))]
    return [*points, sample(stack, numbers(2, 3, 2)), sample(stack, numbers(3)), sample(a, numbers(2, 3, 2))]


def _solve_jvp(
    a_dot: Array,
    b_dot: Array,
    z: Array,
    a: Array,
    b: Array,
    lower: bool = False,
    assume_a: str | None = None,
    transposed: bool = False,
) -> Array:
    return solve_tangent(a_dot, b_dot, z, a, b, lower, assume_a, transposed)


@rule(linalg.solve, wrt=["a", "b"], jvp=_solve_jvp, samples=_systems, infer=infer.linalg.solved)
def solve(
    z: Array,
    z_bar: Array,
    a: Array,
    b: Array,
    lower: bool = False,
    check_finite: bool = True,
    assume_a: str | None = None,
    transposed: bool = False,
) -> tuple[Array, Array]:
    # A matrix of one number may come with a right-hand side of any length.
    if ndim(a) == 2 and ndim(b) == 1 and length(a) == length(b) and assume_a is None and not transposed:
        b_bar = linalg.solve(a.T, z_bar)
        return -np.outer(b_bar, z), b_bar
    if ndim(a) == 2 and ndim(b) == 2 and length(a) == length(b) and assume_a is None and not transposed:
        b_bar = linalg.solve(a.T, z_bar)
        return -b_bar @ z.T, b_bar
    if ndim(a) == 2 and ndim(b) == 1 and length(a) == length(b) and real(a) and assume_a == "pos" and not transposed:
        b_bar = linalg.solve(a, z_bar, lower=lower, assume_a="pos")
        return folded(-np.outer(b_bar, z), lower), b_bar
    a_bar, b_bar = solve_adjoint(z_bar, z, a, b, lower, assume_a, transposed)
    return a_bar, b_bar


def _inverses() -> Sequence[Sample]:
    a = regular(3, 3)
    points = [sample(x) for x in (a, regular(1, 1), regular(2, 3, 3), regular_complex(3, 3), a.astype(np.float32))]
    return [*points, sample(a, check_finite=False)]


def _inv_jvp(a_dot: Array, z: Array) -> Array:
    return -z @ a_dot @ z


@rule(linalg.inv, wrt=["a"], jvp=_inv_jvp, samples=_inverses, infer=infer.common.same_as_first)
def inv(z: Array, z_bar: Array, a: Array, check_finite: bool = True) -> Array:
    if ndim(a) == 2:
        return -z.T @ z_bar @ z.T
    return -flip(z) @ z_bar @ flip(z)


# --- triangular matrices


def _triangular_systems() -> Sequence[Sample]:
    a, b, matrix = regular(3, 3), numbers(3), numbers(3, 2)
    options: list[dict[str, Any]] = [{}, {"lower": True}, {"unit_diagonal": True}]
    options += [{"trans": t} for t in (1, "T", 2, "C", 0, "N")] + [{"trans": 1, "lower": True, "unit_diagonal": True}]
    points = [sample(a, right, **o) for o in options for right in (b, matrix)]
    points += [sample(regular_complex(3, 3), complexes(3, 2), t, low) for t in (0, 1, 2) for low in (False, True)]
    points += [sample(a.astype(np.float32), singles(3), lower=True), sample(a, complexes(3))]
    return [*points, sample(regular(2, 3, 3), numbers(2, 3, 2)), sample(regular(2, 3, 3), b, lower=True)]


def _solve_triangular_jvp(
    a_dot: Array,
    b_dot: Array,
    z: Array,
    a: Array,
    b: Array,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    return solve_triangular_tangent(a_dot, b_dot, z, a, b, trans, lower, unit_diagonal)


@rule(
    linalg.solve_triangular,
    wrt=["a", "b"],
    jvp=_solve_triangular_jvp,
    samples=_triangular_systems,
    infer=infer.linalg.solved,
)
def solve_triangular(
    z: Array,
    z_bar: Array,
    a: Array,
    b: Array,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    check_finite: bool = True,
) -> tuple[Array, Array]:
    if ndim(a) == 2 and ndim(b) == 1 and trans == 0 and not unit_diagonal:
        b_bar = linalg.solve_triangular(a, z_bar, 1, lower)
        return triangle(-np.outer(b_bar, z), lower), b_bar
    if ndim(a) == 2 and ndim(b) == 2 and trans == 0 and not unit_diagonal:
        b_bar = linalg.solve_triangular(a, z_bar, 1, lower)
        return triangle(-b_bar @ z.T, lower), b_bar
    a_bar, b_bar = solve_triangular_adjoint(z_bar, z, a, b, trans, lower, unit_diagonal)
    return a_bar, b_bar


# --- by factors that were computed before


def _cholesky_systems() -> Sequence[Sample]:
    points = []
    for a, b in (
        (regular(3, 3), numbers(3)),
        (regular(3, 3), numbers(3, 2)),
        (regular_complex(3, 3), complexes(3)),
        (regular_complex(3, 3), complexes(3, 2)),
        (regular(2, 2).astype(np.float32), singles(2)),
    ):
        points += [sample((a, lower), b) for lower in (True, False)]
    return points


def _cho_solve_jvp(c_and_lower_dot: Any, b_dot: Array, z: Array, c_and_lower: Any, b: Array) -> Array:
    return cho_solve_tangent(c_and_lower_dot[0], b_dot, z, c_and_lower, b)


@rule(
    linalg.cho_solve,
    wrt=["c_and_lower", "b"],
    jvp=_cho_solve_jvp,
    samples=_cholesky_systems,
    infer=infer.scipy.solved_by_factors,
)
def cho_solve(
    z: Array, z_bar: Array, c_and_lower: Any, b: Array, check_finite: bool = True
) -> tuple[tuple[Array, float], Array]:
    b_bar = cho_side_adjoint(z_bar, c_and_lower, b)
    return cho_factor_of_solve_adjoint(b_bar, z, c_and_lower, b), unbroadcast(like_side(b_bar, b), np.shape(b))


def _factored_systems() -> Sequence[Sample]:
    points = []
    piv = np.array([0, 2, 2])
    for a, b in (
        (regular(3, 3), numbers(3)),
        (regular(3, 3), numbers(3, 2)),
        (regular_complex(3, 3), complexes(3)),
        (regular_complex(3, 3), complexes(3, 2)),
        (regular(3, 3).astype(np.float32), singles(3)),
    ):
        points += [sample((a, piv), b, trans) for trans in (0, 1, 2)]
    return points


def _lu_solve_jvp(lu_and_piv_dot: Any, b_dot: Array, z: Array, lu_and_piv: Any, b: Array, trans: int = 0) -> Array:
    return lu_solve_tangent(lu_and_piv_dot[0], b_dot, z, lu_and_piv, b, trans)


@rule(
    linalg.lu_solve,
    wrt=["lu_and_piv", "b"],
    jvp=_lu_solve_jvp,
    samples=_factored_systems,
    infer=infer.scipy.solved_by_factors,
)
def lu_solve(
    z: Array, z_bar: Array, lu_and_piv: Any, b: Array, trans: int = 0, check_finite: bool = True
) -> tuple[tuple[Array, Array], Array]:
    b_bar = lu_side_adjoint(z_bar, lu_and_piv, b, trans)
    return lu_factors_of_solve_adjoint(b_bar, z, lu_and_piv, b, trans), unbroadcast(like_side(b_bar, b), np.shape(b))


# --- banded matrices


def _banded_systems() -> Sequence[Sample]:
    points = []
    for low, up in ((1, 1), (2, 1), (0, 1), (1, 0), (0, 0), (2, 2)):
        bands = numbers(low + up + 1, 5) / 2
        bands[up] += 3.0
        points += [sample((low, up), bands, right) for right in (numbers(5), numbers(5, 2))]
    points += [sample((2, 2), np.stack([bands, 2 * bands]), numbers(5)), sample((2, 2), bands, numbers(2, 5, 3))]
    bands = complexes(3, 4) / 3 + np.array([[0.0], [3.0], [0.0]])
    return [*points, sample((1, 1), bands, complexes(4)), sample((1, 1), np.real(bands).astype(np.float32), singles(4))]


def _solve_banded_jvp(ab_dot: Array, b_dot: Array, z: Array, l_and_u: Any, ab: Array, b: Array) -> Array:
    return solve_banded_tangent(ab_dot, b_dot, z, l_and_u, ab, b)


@rule(
    linalg.solve_banded,
    wrt=["ab", "b"],
    steps=frozenset({"l_and_u"}),
    jvp=_solve_banded_jvp,
    samples=_banded_systems,
    infer=infer.scipy.of_right_hand_side("ab"),
)
def solve_banded(
    z: Array, z_bar: Array, l_and_u: Any, ab: Array, b: Array, check_finite: bool = True
) -> tuple[Array, Array]:
    ab_bar, b_bar = solve_banded_adjoint(z_bar, z, l_and_u, ab, b)
    return ab_bar, b_bar


def _hermitian_banded_systems() -> Sequence[Sample]:
    points = []
    for count in (1, 2, 3):
        for lower in (False, True):
            bands = numbers(count, 5) / 2
            bands[0 if lower else -1] += 4.0
            points += [sample(bands, right, lower=lower) for right in (numbers(5), numbers(5, 2))]
            points += [sample(bands + 0.3j * numbers(count, 5), complexes(5), lower=lower)]
    points += [
        sample(np.stack([bands, 2 * bands]), numbers(5), lower=True),
        sample(bands, numbers(2, 5, 3), lower=True),
    ]
    return [*points, sample(bands.astype(np.float32), singles(5), lower=True)]


def _solveh_banded_jvp(ab_dot: Array, b_dot: Array, z: Array, ab: Array, b: Array, lower: bool = False) -> Array:
    return hermitian_bands_tangent(ab_dot, b_dot, z, ab, b, lower)


@rule(
    linalg.solveh_banded,
    wrt=["ab", "b"],
    jvp=_solveh_banded_jvp,
    samples=_hermitian_banded_systems,
    infer=infer.scipy.of_right_hand_side("ab"),
)
def solveh_banded(
    z: Array, z_bar: Array, ab: Array, b: Array, lower: bool = False, check_finite: bool = True
) -> tuple[Array, Array]:
    ab_bar, b_bar = hermitian_bands_adjoint(z_bar, z, ab, b, lower)
    return ab_bar, b_bar


# How rows were interchanged has no derivative.
constant(rows, signature=lambda piv, count=None: None, samples=lambda: [sample(np.array([2, 2, 2]))])
