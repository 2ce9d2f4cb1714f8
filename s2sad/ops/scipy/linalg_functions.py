"""Rules of ``scipy.linalg``: functions of matrices, matrix equations, and matrices with constant diagonals.

What is in no rule is refused, with what to do instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import linalg

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers, singles
from s2sad.ops.scipy.linalg import regular, regular_complex
from s2sad.ops.spec import Sample, constant, linear, ndim, operation, rule, sample
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.matrices import transposed
from s2sad.runtime.scipy.functions import (
    beside,
    doubled,
    expm_derivative,
    expm_frechet_adjoint,
    expm_frechet_tangent,
    hermitian,
    in_shape,
    lyapunov_matrix,
    product,
    rooted,
    sqrtm_adjoint,
    sqrtm_tangent,
    stein_matrix,
    sylvester_adjoint,
    sylvester_tangent,
)
from s2sad.runtime.scipy.signs import column_signs, row_signs
from s2sad.runtime.scipy.structured import (
    block_diag_adjoint,
    circulant_adjoint,
    hankel_adjoint,
    hankel_tangent,
    solve_toeplitz_adjoint,
    solve_toeplitz_tangent,
    toeplitz_adjoint,
    toeplitz_tangent,
)

Array = Any

# --- functions of matrices


def _exponents() -> Sequence[Sample]:
    points = [numbers(3, 3), numbers(1, 1), 3 * numbers(4, 4), numbers(2, 3, 3), complexes(3, 3), singles(2, 2)]
    return [*(sample(a) for a in points), sample(np.diag([1.0, 2.0])), sample(np.triu(numbers(3, 3))), sample(0.7)]


def _expm_jvp(A_dot: Array, A: Array) -> Array:
    if ndim(A) == 2:
        return expm_derivative(A, A_dot)
    return expm_derivative(np.atleast_2d(A), np.atleast_2d(A_dot))


@rule(linalg.expm, wrt=["A"], jvp=_expm_jvp, samples=_exponents, infer=infer.scipy.matrix)
def expm(z_bar: Array, A: Array) -> Array:
    if ndim(A) == 2:
        return expm_derivative(A.T, z_bar)
    return in_shape(expm_derivative(transposed(np.atleast_2d(A)), z_bar), A)


def _directions() -> Sequence[Sample]:
    a, e = numbers(3, 3), numbers(3, 3, seed=1)
    return [
        sample(a, e),
        sample(a, e, compute_expm=False),
        sample(complexes(2, 2), complexes(2, 2, seed=1), None, False),
        sample(a, numbers(2, 3, 3)),
        sample(numbers(2, 3, 3), e, compute_expm=False),
    ]


def _expm_frechet_jvp(
    A_dot: Array, E_dot: Array, A: Array, E: Array, method: str | None = None, compute_expm: bool = True
) -> Array:
    return expm_frechet_tangent(A_dot, E_dot, A, E, compute_expm)


@rule(
    linalg.expm_frechet,
    wrt=["A", "E"],
    jvp=_expm_frechet_jvp,
    samples=_directions,
    infer=infer.scipy.derivative,
    gives=(tuple, list, np.ndarray),
)
def expm_frechet(
    z_bar: Array, A: Array, E: Array, method: str | None = None, compute_expm: bool = True, check_finite: bool = True
) -> tuple[Array, Array]:
    A_bar, E_bar = expm_frechet_adjoint(z_bar, A, E, compute_expm)
    return A_bar, E_bar


def _analytic() -> Sequence[Sample]:
    points = [regular(3, 3), regular_complex(3, 3), np.array([[2.0, 1.0], [0.5, -1.0]]), regular(1, 1)]
    turning = np.array([[1.0, -2.0, 0.0], [2.0, 1.5, 0.3], [0.1, 0.0, 2.0]])  # real, of complex eigenvalues
    return [sample(a) for a in (*points, turning)]


def _logm_jvp(A_dot: Array, A: Array) -> Array:
    return beside(linalg.logm(doubled(A, A_dot)), A, A_dot)


@rule(
    linalg.logm,
    wrt=["A"],
    jvp=_logm_jvp,
    samples=_analytic,
    infer=infer.scipy.complex_or_real,
    dtype="unknown",
    complex_adjoints=True,
)
def logm(z_bar: Array, A: Array) -> Array:
    return beside(linalg.logm(doubled(transposed(A), z_bar)), A, z_bar)


def _sqrtm_jvp(A_dot: Array, z: Array, A: Array) -> Array:
    return sqrtm_tangent(A_dot, rooted(z, A))


@rule(
    linalg.sqrtm,
    wrt=["A"],
    jvp=_sqrtm_jvp,
    samples=_analytic,
    infer=infer.scipy.complex_or_real,
    dtype="unknown",
    complex_adjoints=True,
)
def sqrtm(z: Array, z_bar: Array, A: Array) -> Array:
    return in_shape(sqrtm_adjoint(z_bar, rooted(z, A)), A)


def _powers() -> Sequence[Sample]:
    return [sample(regular(3, 3), t) for t in (0.5, -1.3, 2.5)] + [sample(regular_complex(2, 2), 0.4)]


def _power_jvp(A_dot: Array, A: Array, t: float) -> Array:
    return beside(linalg.fractional_matrix_power(doubled(A, A_dot), t), A, A_dot)


@rule(
    linalg.fractional_matrix_power,
    wrt=["A"],
    jvp=_power_jvp,
    samples=_powers,
    infer=infer.scipy.complex_or_real,
    dtype="unknown",
    complex_adjoints=True,
)
def fractional_matrix_power(z_bar: Array, A: Array, t: float) -> Array:
    return beside(linalg.fractional_matrix_power(doubled(transposed(A), z_bar), t), A, z_bar)


def _entire() -> Sequence[Sample]:
    return [sample(a) for a in (numbers(3, 3), numbers(1, 1), complexes(2, 2), numbers(2, 3, 3) / 2, singles(2, 2))]


def _declare(function: Callable[..., Any], jvp: Callable[..., Any]) -> Callable[..., Any]:
    return rule(function, wrt=["A"], jvp=jvp, samples=_entire, infer=infer.scipy.matrix)


def _cosm_jvp(A_dot: Array, A: Array) -> Array:
    return beside(linalg.cosm(doubled(A, A_dot)), A, A_dot)


@_declare(linalg.cosm, _cosm_jvp)
def cosm(z_bar: Array, A: Array) -> Array:
    return beside(linalg.cosm(doubled(transposed(A), z_bar)), A, z_bar)


def _sinm_jvp(A_dot: Array, A: Array) -> Array:
    return beside(linalg.sinm(doubled(A, A_dot)), A, A_dot)


@_declare(linalg.sinm, _sinm_jvp)
def sinm(z_bar: Array, A: Array) -> Array:
    return beside(linalg.sinm(doubled(transposed(A), z_bar)), A, z_bar)


def _tanm_jvp(A_dot: Array, A: Array) -> Array:
    return beside(linalg.tanm(doubled(A, A_dot)), A, A_dot)


@_declare(linalg.tanm, _tanm_jvp)
def tanm(z_bar: Array, A: Array) -> Array:
    return beside(linalg.tanm(doubled(transposed(A), z_bar)), A, z_bar)


def _coshm_jvp(A_dot: Array, A: Array) -> Array:
    return beside(linalg.coshm(doubled(A, A_dot)), A, A_dot)


@_declare(linalg.coshm, _coshm_jvp)
def coshm(z_bar: Array, A: Array) -> Array:
    return beside(linalg.coshm(doubled(transposed(A), z_bar)), A, z_bar)


def _sinhm_jvp(A_dot: Array, A: Array) -> Array:
    return beside(linalg.sinhm(doubled(A, A_dot)), A, A_dot)


@_declare(linalg.sinhm, _sinhm_jvp)
def sinhm(z_bar: Array, A: Array) -> Array:
    return beside(linalg.sinhm(doubled(transposed(A), z_bar)), A, z_bar)


def _tanhm_jvp(A_dot: Array, A: Array) -> Array:
    return beside(linalg.tanhm(doubled(A, A_dot)), A, A_dot)


@_declare(linalg.tanhm, _tanhm_jvp)
def tanhm(z_bar: Array, A: Array) -> Array:
    return beside(linalg.tanhm(doubled(transposed(A), z_bar)), A, z_bar)


# --- matrix equations


def _sylvesters() -> Sequence[Sample]:
    return [
        sample(regular(3, 3), regular(2, 2), numbers(3, 2)),
        sample(regular(1, 1), regular(3, 3), numbers(1, 3)),
        sample(regular_complex(2, 2), regular_complex(3, 3), complexes(2, 3)),
        sample(regular(2, 2).astype(np.float32), regular(2, 2).astype(np.float32), singles(2, 2)),
        sample(np.stack([regular(3, 3), 2 * regular(3, 3)]), regular(2, 2), numbers(3, 2)),
    ]


def _sylvester_jvp(a_dot: Array, b_dot: Array, q_dot: Array, z: Array, a: Array, b: Array, q: Array) -> Array:
    return sylvester_tangent(a_dot, b_dot, q_dot, z, a, b, q)


@rule(linalg.solve_sylvester, jvp=_sylvester_jvp, samples=_sylvesters, infer=infer.scipy.of_matrix("q", "a", "b"))
def solve_sylvester(z: Array, z_bar: Array, a: Array, b: Array, q: Array) -> tuple[Array, Array, Array]:
    q_bar = sylvester_adjoint(z_bar, z, a, b, q)
    return (
        unbroadcast(-q_bar @ transposed(z), np.shape(a)),
        unbroadcast(-transposed(z) @ q_bar, np.shape(b)),
        unbroadcast(q_bar, np.shape(q)),
    )


def _lyapunovs() -> Sequence[Sample]:
    points = [(regular(3, 3), numbers(3, 3)), (regular_complex(3, 3), complexes(3, 3)), (regular(1, 1), numbers(1, 1))]
    points += [(np.stack([regular(3, 3), 2 * regular(3, 3)]), numbers(3, 3)), (1.7, 0.3)]
    return [sample(*pair) for pair in points]


def _lyapunov_jvp(a_dot: Array, q_dot: Array, z: Array, a: Array, q: Array) -> Array:
    half = product(a_dot, z)
    other = product(z, hermitian(a_dot))
    return linalg.solve_continuous_lyapunov(a, q_dot - half - other)


@rule(
    linalg.solve_continuous_lyapunov,
    jvp=_lyapunov_jvp,
    samples=_lyapunovs,
    infer=infer.scipy.of_matrix("q", "a"),
)
def solve_continuous_lyapunov(z: Array, z_bar: Array, a: Array, q: Array) -> tuple[Array, Array]:
    q_bar = linalg.solve_continuous_lyapunov(transposed(np.atleast_2d(a)), z_bar)
    return unbroadcast(lyapunov_matrix(q_bar, z), np.shape(a)), unbroadcast(q_bar, np.shape(q))


def _steins() -> Sequence[Sample]:
    pairs = [(numbers(3, 3) / 4, numbers(3, 3)), (complexes(3, 3) / 5, complexes(3, 3)), (numbers(1, 1), numbers(1, 1))]
    pairs.append((numbers(3, 3) / 4, numbers(2, 3, 3)))
    return [sample(*pair, *method) for pair in pairs for method in ((), ("bilinear",), ("direct",))]


def _stein_jvp(a_dot: Array, q_dot: Array, z: Array, a: Array, q: Array, method: str | None = None) -> Array:
    half = product(a_dot, product(z, hermitian(a)))
    other = product(product(a, z), hermitian(a_dot))
    return linalg.solve_discrete_lyapunov(a, q_dot + half + other, method)


@rule(
    linalg.solve_discrete_lyapunov,
    wrt=["a", "q"],
    jvp=_stein_jvp,
    samples=_steins,
    infer=infer.scipy.of_matrix("q", "a"),
    wide_only=("a",),
)
def solve_discrete_lyapunov(
    z: Array, z_bar: Array, a: Array, q: Array, method: str | None = None
) -> tuple[Array, Array]:
    matrix = np.atleast_2d(a)
    q_bar = linalg.solve_discrete_lyapunov(transposed(matrix), z_bar, method)
    return unbroadcast(stein_matrix(q_bar, z, matrix), np.shape(a)), unbroadcast(q_bar, np.shape(q))


# --- matrices with constant diagonals, and with blocks


def _diagonals() -> Sequence[Sample]:
    return [
        sample(numbers(4)),
        sample(numbers(4), numbers(3)),
        sample(numbers(2), numbers(5)),
        sample(numbers(1)),
        sample(complexes(3)),
        sample(complexes(3), complexes(2)),
        sample(numbers(3), complexes(3)),
        sample(singles(3)),
        sample(numbers(2, 3)),
        sample(numbers(2, 3), numbers(2, 4)),
    ]


def _toeplitz_jvp(c_dot: Array, r_dot: Array, c: Array, r: Array | None = None) -> Array:
    return toeplitz_tangent(c_dot, r_dot, c, r)


@rule(linalg.toeplitz, wrt=["c", "r"], jvp=_toeplitz_jvp, samples=_diagonals, infer=infer.scipy.from_vectors("c", "r"))
def toeplitz(z_bar: Array, c: Array, r: Array | None = None) -> tuple[Array, Array | None]:
    c_bar, r_bar = toeplitz_adjoint(z_bar, c, r)
    return c_bar, r_bar


def _hankel_jvp(c_dot: Array, r_dot: Array, c: Array, r: Array | None = None) -> Array:
    return hankel_tangent(c_dot, r_dot, c, r)


@rule(
    linalg.hankel,
    wrt=["c", "r"],
    jvp=_hankel_jvp,
    samples=lambda: _diagonals()[:-2],
    infer=infer.scipy.from_vectors("c", "r"),
)
def hankel(z_bar: Array, c: Array, r: Array | None = None) -> tuple[Array, Array | None]:
    c_bar, r_bar = hankel_adjoint(z_bar, c, r)
    return c_bar, r_bar


def _columns() -> Sequence[Sample]:
    return [sample(numbers(4)), sample(numbers(1)), sample(complexes(3)), sample(singles(3)), sample(numbers(2, 3))]


@linear(linalg.circulant, wrt=["c"], samples=_columns, infer=infer.scipy.from_vectors("c"))
def circulant(z_bar: Array, c: Array) -> Array:
    return circulant_adjoint(z_bar, c)


def _blocks() -> Sequence[Sample]:
    return [
        sample(numbers(2, 3), numbers(1, 1), numbers(2, 2)),
        sample(numbers(2, 2)),
        sample(numbers(3), numbers(2, 2)),
        sample(2.5, numbers(2, 2)),
        sample(complexes(2, 2), numbers(1, 2)),
        sample(singles(2, 2), singles(2, 1)),
        sample(numbers(2, 2, 2), numbers(2, 1, 3)),
    ]


@linear(linalg.block_diag, wrt=["arrs"], samples=_blocks, infer=infer.scipy.blocks)
def block_diag(z_bar: Array, *arrs: Array) -> list[Array]:
    return block_diag_adjoint(z_bar, arrs)


def _toeplitz_systems() -> Sequence[Sample]:
    c, r = numbers(4) / 3, numbers(4, seed=1) / 3
    c[0] = 3.0
    z = complexes(3) / 3 + np.array([3.0, 0.0, 0.0])
    return [
        sample(c, numbers(4)),
        sample(c, numbers(4, 2)),
        sample(np.stack([c, c + 0.1]), numbers(4)),
        sample((np.stack([c, c + 0.1]), r), numbers(4, 2)),
        sample(c, numbers(2, 4, 2)),
        sample((c, r), numbers(4)),
        sample((c, r), numbers(4, 2)),
        sample(z, complexes(3)),
        sample((z, complexes(3, seed=4) / 3), complexes(3)),
    ]


def _solve_toeplitz_jvp(c_or_cr_dot: Any, b_dot: Array, z: Array, c_or_cr: Any, b: Array) -> Array:
    return solve_toeplitz_tangent(c_or_cr_dot, b_dot, z, c_or_cr, b)


@rule(
    linalg.solve_toeplitz,
    wrt=["c_or_cr", "b"],
    jvp=_solve_toeplitz_jvp,
    samples=_toeplitz_systems,
    dtype="unknown",
)
def solve_toeplitz(z: Array, z_bar: Array, c_or_cr: Any, b: Array, check_finite: bool = True) -> tuple[Any, Array]:
    c_bar, b_bar = solve_toeplitz_adjoint(z_bar, z, c_or_cr, b)
    return c_bar, b_bar


# --- the others

_STOP = "wrap the argument in stop_gradient(...) if no derivative should pass"
_BASIS = "how a basis is turned has no derivative; use the projector a @ np.linalg.pinv(a), or " + _STOP
_NUMPY = "write it with operations of NumPy, or " + _STOP

#: What to do instead of differentiating a function of ``scipy.linalg``.
REFUSED = {
    "null_space": _BASIS,
    "orth": _BASIS,
    "subspace_angles": "use np.arccos of the singular values of q1.T @ q2, with q1 and q2 of np.linalg.qr",
    "funm": "use expm, logm, sqrtm, sinm, cosm or fractional_matrix_power, or the eigenvectors of np.linalg.eigh",
    "expm_cond": _STOP,
    "signm": "use a @ inv(sqrtm(a @ a))",
    "pinvh": "use np.linalg.pinv",
    "schur": "use np.linalg.eig or eigh",
    "rsf2csf": "use np.linalg.eig or eigh",
    "qz": "use scipy.linalg.eigh(a, b) or np.linalg.eig(np.linalg.solve(b, a))",
    "ordqz": "use scipy.linalg.eigh(a, b) or np.linalg.eig(np.linalg.solve(b, a))",
    "hessenberg": "use np.linalg.eig or eigh",
    "ldl": "use cholesky or lu",
    "rq": "use np.linalg.qr of the reversed transpose",
    "cdf2rdf": _NUMPY,
    "qr_multiply": "use scipy.linalg.qr(a, mode='economic') and @",
    "qr_update": "use np.linalg.qr of the new matrix",
    "qr_insert": "use np.linalg.qr of the new matrix",
    "qr_delete": "use np.linalg.qr of the new matrix",
    "cossin": "use np.linalg.svd of the blocks",
    "interpolative": _NUMPY,
    "eig_banded": "use scipy.linalg.eigh of the whole matrix",
    "eigvals_banded": "use scipy.linalg.eigvalsh of the whole matrix",
    "cholesky_banded": "use scipy.linalg.solveh_banded for a system, or cholesky of the whole matrix",
    "cho_solve_banded": "use scipy.linalg.solveh_banded",
    "solve_circulant": "use np.fft.ifft(np.fft.fft(b) / np.fft.fft(c))",
    "matmul_toeplitz": "use scipy.linalg.toeplitz(c, r) @ x, or scipy.signal.fftconvolve",
    "matrix_balance": _STOP,
    "leslie": "write it with np.concatenate and np.diag",
    "convolution_matrix": "use scipy.signal.convolve, or scipy.linalg.toeplitz",
    "fiedler": "use np.abs(a[:, None] - a)",
    "fiedler_companion": _NUMPY,
    "diagsvd": "use np.diag(s)",
    "clarkson_woodruff_transform": _NUMPY,
}  # fmt: skip

for _name, _text in REFUSED.items():
    if hasattr(linalg, _name) and callable(getattr(linalg, _name)):
        operation(getattr(linalg, _name), remedy=_text)

constant(row_signs, column_signs)
constant(linalg.bandwidth, linalg.issymmetric, linalg.ishermitian)
