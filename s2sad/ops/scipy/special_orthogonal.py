"""Rules of ``scipy.special``: orthogonal polynomials, hypergeometric functions, elliptic integrals, and inverses.

Derivatives are by the argument; by degrees and parameters there is no closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from s2sad.ir.types import Fact
from s2sad.ops import sampling
from s2sad.ops.infer.common import Bound, Types, broadcast_of_all
from s2sad.ops.sampling import spread
from s2sad.ops.scipy.points import at, between, both, of
from s2sad.ops.spec import Sample, elementwise, operation, rule, sample
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.scipy_special import (
    ellipeinc_dm,
    ellipkinc_dm,
    harmonic_slope,
    jacobi_derivative,
    lambertw_derivative,
    spence_derivative,
)

Array = Any

_COMPLEX = at((0.7 + 0.4j,), ([1.5 + 0.2j, 0.3 - 0.9j],))
_EDGES = at(([1.0, -1.0, 0.0],))
_POLYNOMIALS = both(of([0, 1, 2, 5], both(sampling.REAL, _EDGES)), of([2.5], between((-0.8, 0.9))))
_WHOLE = of([0, 1, 2, 5], both(sampling.REAL, _EDGES))
_SHIFTED = both(of([0, 1, 2, 5], both(sampling.REAL, _EDGES)), of([2.5], between((0.1, 0.9))))

# --- orthogonal polynomials ---


@elementwise(special.eval_legendre, wrt=["x"], samples=_POLYNOMIALS)
def eval_legendre(degree: Array, x: Array) -> Array:
    return jacobi_derivative(degree, 0, 0, x)


@elementwise(special.eval_chebyt, wrt=["x"], samples=_POLYNOMIALS)
def eval_chebyt(degree: Array, x: Array) -> Array:
    return degree * special.eval_chebyu(degree - 1, x)


@elementwise(special.eval_chebyu, wrt=["x"], samples=_POLYNOMIALS)
def eval_chebyu(degree: Array, x: Array) -> Array:
    return 2 * special.eval_gegenbauer(degree - 1, 2, x)


@elementwise(special.eval_hermite, wrt=["x"], samples=_WHOLE)
def eval_hermite(degree: Array, x: Array) -> Array:
    return 2 * degree * special.eval_hermite(np.maximum(degree - 1, 0), x)


@elementwise(special.eval_hermitenorm, wrt=["x"], samples=_WHOLE)
def eval_hermitenorm(degree: Array, x: Array) -> Array:
    return degree * special.eval_hermitenorm(np.maximum(degree - 1, 0), x)


@elementwise(special.eval_laguerre, wrt=["x"], samples=_WHOLE)
def eval_laguerre(degree: Array, x: Array) -> Array:
    return -special.eval_genlaguerre(degree - 1, 1, x)


@elementwise(special.eval_genlaguerre, wrt=["x"], samples=of([(0, 0.5), (1, 1.5), (3, 0.5)], sampling.REAL))
def eval_genlaguerre(degree: Array, alpha: Array, x: Array) -> Array:
    return -special.eval_genlaguerre(degree - 1, alpha + 1, x)


@elementwise(special.eval_gegenbauer, wrt=["x"], samples=of([(0, 0.7), (1, 1.5), (3, 0.7)], sampling.REAL))
def eval_gegenbauer(degree: Array, alpha: Array, x: Array) -> Array:
    return 2 * alpha * special.eval_gegenbauer(degree - 1, alpha + 1, x)


@elementwise(special.eval_jacobi, wrt=["x"], samples=of([(0, 0.5, 1.5), (1, 0.5, 0.3), (3, 1.5, 0.5)], sampling.REAL))
def eval_jacobi(degree: Array, alpha: Array, beta: Array, x: Array) -> Array:
    return jacobi_derivative(degree, alpha, beta, x)


# C_n(x) = 2 T_n(x / 2) and S_n(x) = U_n(x / 2), and on the interval from 0 to 1.
@elementwise(special.eval_chebyc, wrt=["x"], samples=_POLYNOMIALS)
def eval_chebyc(degree: Array, x: Array) -> Array:
    return degree * special.eval_chebyu(degree - 1, 0.5 * x)


@elementwise(special.eval_chebys, wrt=["x"], samples=_POLYNOMIALS)
def eval_chebys(degree: Array, x: Array) -> Array:
    return special.eval_gegenbauer(degree - 1, 2, 0.5 * x)


@elementwise(special.eval_sh_legendre, wrt=["x"], samples=_SHIFTED)
def eval_sh_legendre(degree: Array, x: Array) -> Array:
    return 2 * jacobi_derivative(degree, 0, 0, 2 * x - 1)


@elementwise(special.eval_sh_chebyt, wrt=["x"], samples=_SHIFTED)
def eval_sh_chebyt(degree: Array, x: Array) -> Array:
    return 2 * degree * special.eval_chebyu(degree - 1, 2 * x - 1)


@elementwise(special.eval_sh_chebyu, wrt=["x"], samples=_SHIFTED)
def eval_sh_chebyu(degree: Array, x: Array) -> Array:
    return 4 * special.eval_gegenbauer(degree - 1, 2, 2 * x - 1)


# --- hypergeometric functions ---


@elementwise(
    special.hyp2f1,
    wrt=["x"],
    samples=of([(0.5, 1.2, 2.3), (-2.0, 0.7, 1.5)], both(between((-0.7, 0.6)), at((0.3 + 0.2j,)))),
)
def hyp2f1(a: Array, b: Array, c: Array, x: Array) -> Array:
    return a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, x)


@elementwise(special.hyp1f1, wrt=["x"], samples=of([(0.5, 1.2), (-1.3, 2.5)], both(sampling.REAL, _COMPLEX)))
def hyp1f1(a: Array, b: Array, x: Array) -> Array:
    return a / b * special.hyp1f1(a + 1, b + 1, x)


@elementwise(special.hyp0f1, wrt=["x"], samples=of([0.5, 1.7], both(sampling.REAL, _COMPLEX)))
def hyp0f1(v: Array, x: Array) -> Array:
    return special.hyp0f1(v + 1, x) / v


@elementwise(special.hyperu, wrt=["x"], samples=of([(0.5, 1.2), (1.3, 2.5)], sampling.POSITIVE))
def hyperu(a: Array, b: Array, x: Array) -> Array:
    return -a * special.hyperu(a + 1, b + 1, x)


# --- elliptic integrals ---

_MODULUS = both(between((-0.9, 0.9)), at((0.0,)))


@elementwise(special.ellipk, samples=_MODULUS)
def ellipk(m: Array) -> Array:
    return special.elliprd(0, 1, 1 - m) / 6


@elementwise(special.ellipkm1, samples=both(between((0.1, 1.9)), at((1.0,))))
def ellipkm1(p: Array) -> Array:
    return special.elliprd(0, 1, p) / -6


@elementwise(special.ellipe, samples=_MODULUS)
def ellipe(m: Array) -> Array:
    return special.elliprd(0, 1 - m, 1) / -6


_AMPLITUDES = both(between((-1.4, 1.5), (-0.8, 0.9)), between((2.0, 8.0), (0.1, 0.8)), at((0.0, 0.5), (0.9, 0.0)))


@elementwise(special.ellipkinc, samples=_AMPLITUDES)
def ellipkinc(phi: Array, m: Array) -> Array:
    return 1 / np.sqrt(1 - m * np.sin(phi) ** 2), ellipkinc_dm(phi, m)


@elementwise(special.ellipeinc, samples=_AMPLITUDES)
def ellipeinc(phi: Array, m: Array) -> Array:
    return np.sqrt(1 - m * np.sin(phi) ** 2), ellipeinc_dm(phi, m)


def _arguments() -> Sequence[Sample]:
    u = spread((2, 3))
    return [
        sample(u, 0.4),
        sample(u, np.array([0.2, 0.5, 0.9])),
        sample(u[:1], np.array([[0.3], [0.6]])),
        sample(0.7, 0.2),
    ]


def _ellipj_type(b: Bound, types: Types) -> Fact:
    return Fact("tuple")


def _ellipj_jvp(u_dot: Array, m_dot: Array, z: Any, m: Array) -> Any:
    phi_dot = z[2] * (u_dot - ellipkinc_dm(z[3], m) * m_dot)
    dn_dot = -z[0] * (m * z[1] * phi_dot + 0.5 * z[0] * m_dot) / z[2]
    return z[1] * phi_dot, -z[0] * phi_dot, dn_dot, phi_dot


# The amplitude is the inverse of the integral `ellipkinc` by that.
@rule(special.ellipj, jvp=_ellipj_jvp, samples=_arguments, infer=_ellipj_type, gives=(tuple,))
def ellipj(z: Any, z_bar: Any, u: Array, m: Array) -> tuple[Array, Array]:
    dn_bar = z_bar[2] * z[0] / z[2]
    rate = z[2] * (z_bar[0] * z[1] - z_bar[1] * z[0] - dn_bar * m * z[1] + z_bar[3])
    m_rate = -rate * ellipkinc_dm(z[3], m) - 0.5 * dn_bar * z[0]
    return unbroadcast(rate, np.shape(u)), unbroadcast(m_rate, np.shape(m))


# --- spherical harmonics ---


def _angles() -> Sequence[Sample]:
    theta, phi = spread((3,), 0.3, 2.8), spread((3,), -2.0, 2.5, seed=1)
    return [sample(2, 1, theta, phi), sample([[3], [1]], -1, theta, phi), sample(2, 0, 0.4, 1.3)]


def _harmonic(b: Bound, types: Types) -> Fact:
    return Fact("numeric", real=False)


if hasattr(special, "sph_harm_y"):  # SciPy 1.15

    @elementwise(
        special.sph_harm_y,
        name="scipy.special.sph_harm_y",
        wrt=["theta", "phi"],
        samples=_angles,
        infer=_harmonic,
        dtype="unknown",
        complex_adjoints=True,
    )
    def sph_harm_y(z: Array, n: Array, m: Array, theta: Array, phi: Array) -> tuple[Array, Array]:
        return harmonic_slope(n, m, theta, phi, 1), 1j * np.asarray(m) * z

    @elementwise(
        harmonic_slope,
        wrt=["theta", "phi"],
        samples=lambda: [sample(*point.args, 1) for point in _angles()],
        infer=_harmonic,
        dtype="unknown",
        complex_adjoints=True,
    )
    def harmonic_slope_rule(z: Array, n: Array, m: Array, theta: Array, phi: Array, order: int) -> tuple[Array, Array]:
        return harmonic_slope(n, m, theta, phi, order + 1), 1j * np.asarray(m) * z


# --- inverses, and the dilogarithm ---


def _complex(b: Bound, types: Types) -> Fact:
    """Complex numbers, of the shape to which all operands broadcast."""
    whole = broadcast_of_all({"x": b["x"]}, types)
    return Fact("open") if whole.kind == "open" else Fact("numeric", real=False)


@elementwise(
    special.lambertw,
    wrt=["x"],
    samples=both(sampling.POSITIVE, _COMPLEX, at((0.0,), ([-0.2, 1.3], 0), ([-0.2, -0.1], -1), (0.4 + 0.3j, 2))),
    infer=_complex,
    dtype="unknown",
    complex_adjoints=True,
    steps=frozenset({"k"}),
)
def lambertw(z: Array, x: Array, k: int = 0) -> Array:
    return lambertw_derivative(z, x)


@elementwise(special.wrightomega, samples=both(sampling.REAL, _COMPLEX))
def wrightomega(z: Array, x: Array) -> Array:
    return z / (1 + z)


@elementwise(special.spence, samples=both(sampling.POSITIVE, _COMPLEX, at((1.0,))))
def spence(x: Array) -> Array:
    return spence_derivative(x)


# --- what has no rule ---

_POLYNOMIALS_AS_OBJECTS = (
    "legendre", "chebyt", "chebyu", "chebyc", "chebys", "jacobi", "laguerre", "genlaguerre", "hermite", "hermitenorm",
    "gegenbauer",
)  # fmt: skip
for _name in _POLYNOMIALS_AS_OBJECTS:
    operation(getattr(special, _name), remedy=f"use special.eval_{_name}(..., x), which has the values at x")
