"""Rules of ``scipy.special``: gamma and beta functions, error functions, logistic functions, entropies and losses.

The other functions are in `special_incomplete`, `special_bessel` and `special_orthogonal` of this package.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special

from s2sad.ir.types import OPEN, Fact
from s2sad.ops import infer, sampling
from s2sad.ops.infer.common import Bound, Types, literal, ndim_of
from s2sad.ops.scipy.points import at, between, both, of
from s2sad.ops.spec import Sample, constant, elementwise, rule, sample
from s2sad.runtime.arrays import unreduce
from s2sad.runtime.edges import quotient
from s2sad.runtime.scipy_special import (
    binom_dk,
    binom_dn,
    binom_second,
    boxcox1p_dlmbda,
    boxcox_dlmbda,
    dawsn_derivative,
    erfcx_derivative,
    exp_shares,
    exprel_derivative,
    inv_boxcox_dlmbda,
    logsumexp_adjoints,
    logsumexp_tangent,
    mills,
    mills_derivative,
    multigammaln_derivative,
    poch_dz,
    poch_second,
    rgamma_derivative,
)

Array = Any
Axis = Any

_SHARE = (0.03, 0.97)
_UNITS = between(_SHARE)
_SHAPES = (0.7, 3.2)
_SMALL_COMPLEX = at((0.4 + 0.7j,), ([0.5 + 0.2j, -0.3 + 0.9j],), (np.array([1.2 - 0.4j], np.complex64),))
_REAL_OR_SMALL_COMPLEX = both(sampling.REAL, _SMALL_COMPLEX)

# --- gamma functions ---

_OFF_POLES = both(sampling.POSITIVE, at((-0.6,), ([-1.3, -2.7],), (25.0,)))


@elementwise(special.gamma, samples=both(_OFF_POLES, _SMALL_COMPLEX))
def gamma(z: Array, x: Array) -> Array:
    return z * special.digamma(x)


@elementwise(special.gammaln, samples=_OFF_POLES)
def gammaln(x: Array) -> Array:
    return special.digamma(x)


@elementwise(special.loggamma, samples=both(sampling.POSITIVE, _SMALL_COMPLEX))
def loggamma(x: Array) -> Array:
    return special.digamma(x)


@elementwise(special.rgamma, samples=both(_OFF_POLES, _SMALL_COMPLEX, at(([0.0, -1.0, -2.0, -3.0],), (-4.0,))))
def rgamma(x: Array) -> Array:
    return rgamma_derivative(x)


@elementwise(special.digamma, samples=_OFF_POLES, real_only=True)
def digamma(x: Array) -> Array:
    return special.zeta(2, x)


@elementwise(
    special.polygamma,
    wrt=["x"],
    samples=of([0, 1, 2, 4], sampling.POSITIVE),
    dtype="double",
    infer=infer.common.chosen,
)
def polygamma(n: Array, x: Array) -> Array:
    return special.polygamma(n + 1, x)


def _multigammaln_samples() -> Sequence[Sample]:
    return [sample(2.3, 1), sample(3.7, 3), sample(np.array([2.3, 4.1]), 2), sample(np.float64(3.3), 4)]


@elementwise(special.multigammaln, wrt=["a"], samples=_multigammaln_samples, steps=frozenset("d"), dtype="unknown")
def multigammaln(a: Array, d: int) -> Array:
    return multigammaln_derivative(a, d)


# --- beta functions ---


@elementwise(special.beta, samples=between(_SHAPES, (0.5, 2.9)))
def beta(z: Array, a: Array, b: Array) -> Array:
    common = special.digamma(a + b)
    return z * (special.digamma(a) - common), z * (special.digamma(b) - common)


@elementwise(special.betaln, samples=between(_SHAPES, (0.5, 2.9)))
def betaln(a: Array, b: Array) -> Array:
    common = special.digamma(a + b)
    return special.digamma(a) - common, special.digamma(b) - common


# --- binomials and factorials ---

#: By a real number of which the other argument makes a polynomial, also at its zeros.
_WHOLE = at((1.0, 3), (4.0, 2), ([0.0, 2.0, 5.0], 4), (2.0, 4), (-1.5, 3), (0.0, 1))


@elementwise(special.binom, samples=both(between((3.1, 6.2), (0.4, 2.6)), _WHOLE))
def binom(n: Array, k: Array) -> Array:
    return binom_dn(n, k), binom_dk(n, k)


@elementwise(binom_dn, samples=between((3.1, 6.2), (0.4, 2.6)))
def binom_dn_rule(n: Array, k: Array) -> Array:
    return binom_second(n, k)[0], binom_second(n, k)[1]


@elementwise(binom_dk, samples=between((3.1, 6.2), (0.4, 2.6)))
def binom_dk_rule(n: Array, k: Array) -> Array:
    return binom_second(n, k)[1], binom_second(n, k)[2]


@elementwise(special.comb, samples=both(between((3.1, 6.2), (0.4, 2.6)), at((1.2, 3.5), (-1.5, 0.5))), dtype="unknown")
def comb(z: Array, N: Array, k: Array) -> Array:
    return np.where(z == 0, 0, binom_dn(N, k)), np.where(z == 0, 0, binom_dk(N, k))


@elementwise(special.poch, samples=both(between((0.5, 2.5), (0.6, 2.4)), _WHOLE, at((-2.0, 3), (-2.0, 2))))
def poch(z: Array, x: Array, m: Array) -> Array:
    return poch_dz(x, m), z * special.digamma(x + m)


@elementwise(poch_dz, samples=between((0.5, 2.5), (0.6, 2.4)))
def poch_dz_rule(x: Array, m: Array) -> Array:
    return poch_second(x, m)[0], poch_second(x, m)[1]


@elementwise(
    special.factorial,
    samples=sampling.POSITIVE,
    dtype="unknown",
    result="unknown",
    infer=infer.common.number_or_array,
)
def factorial(z: Array, n: Array) -> Array:
    return np.where(z == 0, 0, z * special.digamma(n + 1))


# --- error functions ---


@elementwise(special.erf, samples=_REAL_OR_SMALL_COMPLEX)
def erf(x: Array) -> Array:
    return 2 / math.sqrt(math.pi) * np.exp(-(x**2))


@elementwise(special.erfc, samples=_REAL_OR_SMALL_COMPLEX)
def erfc(x: Array) -> Array:
    return -2 / math.sqrt(math.pi) * np.exp(-(x**2))


@elementwise(special.erfcx, samples=both(_REAL_OR_SMALL_COMPLEX, at(([40.0, 60.0],))))
def erfcx(z: Array, x: Array) -> Array:
    return erfcx_derivative(z, x)


@elementwise(special.erfi, samples=_REAL_OR_SMALL_COMPLEX)
def erfi(x: Array) -> Array:
    return 2 / math.sqrt(math.pi) * np.exp(x**2)


@elementwise(special.erfinv, samples=sampling.UNIT)
def erfinv(z: Array, y: Array) -> Array:
    return 0.5 * math.sqrt(math.pi) * np.exp(z**2)


@elementwise(special.erfcinv, samples=between((0.1, 1.9)))
def erfcinv(z: Array, y: Array) -> Array:
    return -0.5 * math.sqrt(math.pi) * np.exp(z**2)


@elementwise(special.dawsn, samples=both(_REAL_OR_SMALL_COMPLEX, at(([40.0, 60.0, -70.0],))))
def dawsn(z: Array, x: Array) -> Array:
    return dawsn_derivative(z, x)


@elementwise(special.wofz, samples=_REAL_OR_SMALL_COMPLEX, complex_adjoints=True)
def wofz(z: Array, x: Array) -> Array:
    return 2j / math.sqrt(math.pi) - 2 * x * z


@elementwise(special.ndtr, samples=_REAL_OR_SMALL_COMPLEX)
def ndtr(x: Array) -> Array:
    return np.exp(-0.5 * x**2) / math.sqrt(2 * math.pi)


@elementwise(special.log_ndtr, samples=both(_REAL_OR_SMALL_COMPLEX, at(([-30.0, 12.0],))))
def log_ndtr(x: Array) -> Array:
    return mills(x)


@elementwise(mills, samples=both(_REAL_OR_SMALL_COMPLEX, at(([-90.0, 12.0, -50.0, 800.0, 0.0],), (0.0,))))
def mills_rule(z: Array, x: Array) -> Array:
    return mills_derivative(z, x)


@elementwise(special.ndtri, samples=_UNITS)
def ndtri(z: Array, y: Array) -> Array:
    return math.sqrt(2 * math.pi) * np.exp(0.5 * z**2)


@elementwise(special.ndtri_exp, samples=both(between((-5.0, -0.05)), at(([-200.0, -0.05],))))
def ndtri_exp(z: Array, y: Array) -> Array:
    return math.sqrt(math.pi / 2) * special.erfcx(z / -math.sqrt(2))


@elementwise(special.owens_t, samples=between((-1.5, 1.7), (-1.2, 1.4)))
def owens_t(h: Array, a: Array) -> Array:
    h_partial = -np.exp(-0.5 * h**2) * special.erf(a * h / math.sqrt(2)) / math.sqrt(8 * math.pi)
    return h_partial, np.exp(-0.5 * h**2 * (1 + a**2)) / (2 * math.pi * (1 + a**2))


# --- logistic functions and sums of exponentials ---


@elementwise(special.expit, samples=sampling.REAL)
def expit(z: Array, x: Array) -> Array:
    return z * (1 - z)


@elementwise(special.logit, samples=_UNITS)
def logit(x: Array) -> Array:
    return 1 / (x * (1 - x))


@elementwise(special.log_expit, samples=sampling.REAL)
def log_expit(x: Array) -> Array:
    return special.expit(-x)


if hasattr(special, "softplus"):

    @elementwise(special.softplus, samples=sampling.REAL)
    def softplus(x: Array) -> Array:
        return special.expit(x)


def _axes() -> Sequence[Sample]:
    a = sampling.spread((2, 3, 4))
    forms: list[dict[str, Any]] = [{}, {"axis": None}, {"axis": 0}, {"axis": -1}, {"axis": (0, 2)}, {"axis": (1, -3)}]
    return [
        *(Sample((a,), form) for form in forms),
        *(Sample((a.astype(np.float32),), form) for form in forms),
        sample(a, 1),
        sample(sampling.spread((5,))),
        sample(np.array([800.0, 799.0, -900.0])),
        sample(np.array([[0.5]]), 1),
        sample(np.array(0.7)),
    ]


def _masked_axes() -> Sequence[Sample]:
    """The same, with numbers that do not count."""
    masked = np.where(sampling.spread((2, 3, 4)) < -1.2, -np.inf, sampling.spread((2, 3, 4)))
    return [*_axes(), sample(masked), sample(masked, axis=1), sample(masked, axis=(0, 2))]


def _softmax_jvp(x_dot: Array, z: Array, axis: Axis) -> Array:
    return z * (x_dot - np.sum(z * x_dot, axis=axis, keepdims=True))


@rule(special.softmax, wrt=["x"], jvp=_softmax_jvp, samples=_masked_axes, infer=infer.common.same_as_first)
def softmax(z: Array, z_bar: Array, x: Array, axis: Axis = None) -> Array:
    if axis is None:
        return z * (z_bar - np.sum(z * z_bar))
    return z * (z_bar - np.sum(z * z_bar, axis=axis, keepdims=True))


def _log_softmax_jvp(x_dot: Array, z: Array, axis: Axis) -> Array:
    return x_dot - np.sum(np.exp(z) * x_dot, axis=axis, keepdims=True)


@rule(special.log_softmax, wrt=["x"], jvp=_log_softmax_jvp, samples=_axes, infer=infer.common.same_as_first)
def log_softmax(z: Array, z_bar: Array, x: Array, axis: Axis = None) -> Array:
    if axis is None:
        return z_bar - np.exp(z) * np.sum(z_bar)
    return z_bar - np.exp(z) * np.sum(z_bar, axis=axis, keepdims=True)


def _logsumexp_type(b: Bound, types: Types) -> Fact | None:
    """As a reduction, where there are no factors; with the sign a tuple."""
    if literal(b["return_sign"]) is not False:
        return Fact("tuple") if literal(b["return_sign"]) is True else OPEN
    # Of a number it keeps one axis.
    kept = literal(b["keepdims"]) is not False and literal(b["axis"]) is None and not ndim_of(types(b["a"]))
    return None if literal(b["b"]) is not None or kept else infer.axes.reduced(b, types)


def _logsumexp_samples() -> Sequence[Sample]:
    a, b = sampling.spread((2, 3)), sampling.spread((2, 3), 0.3, 1.5, seed=1)
    signed = b * np.array([1.0, -0.5, 2.0])
    keeping = [Sample(s.args, {**s.kwargs, "keepdims": True}) for s in _axes()]
    return [
        *_masked_axes(),
        *keeping,
        sample(a, b=b),
        sample(a, 1, b),
        sample(a, axis=0, b=b[0], keepdims=True),
        sample(a[0], b=b, axis=1),
        sample(a, b=signed, return_sign=True),
        sample(a, 1, -b, True, True),
        sample(a, axis=0, return_sign=True),
        sample(a, b=2.5),
        sample(a.astype(np.float32), 1, b.astype(np.float32)),
        sample(np.array(0.7), keepdims=True),
        sample(a + 0.3j * b, axis=1),
    ]


@rule(
    special.logsumexp,
    wrt=["a", "b"],
    jvp=logsumexp_tangent,
    samples=_logsumexp_samples,
    infer=_logsumexp_type,
    gives=(tuple, np.ndarray),
)
def logsumexp(
    z: Any,
    z_bar: Any,
    a: Array,
    axis: Axis = None,
    b: Array = None,
    keepdims: bool = False,
    return_sign: bool = False,
) -> Array:
    if b is None and axis is None and not keepdims and not return_sign:
        return z_bar * exp_shares(a, z), 0.0
    if b is None and axis is not None and not return_sign:
        shares = exp_shares(a, unreduce(z, np.shape(a), axis, keepdims), axis)
        return unreduce(z_bar, np.shape(a), axis, keepdims) * shares, 0.0
    a_bar, b_bar = logsumexp_adjoints(z_bar, z, a, axis, b, keepdims, return_sign)
    return a_bar, b_bar


# --- products with logarithms, entropies and losses ---


@elementwise(special.xlogy, samples=between((-1.5, 2.0), (0.3, 2.5)))
def xlogy(z_bar: Array, x: Array, y: Array) -> Array:
    return special.xlogy(z_bar, y), quotient(z_bar * x, y)


@elementwise(special.xlog1py, samples=between((-1.5, 2.0), (-0.6, 2.5)))
def xlog1py(z_bar: Array, x: Array, y: Array) -> Array:
    return special.xlog1py(z_bar, y), quotient(z_bar * x, 1 + y)


@elementwise(special.entr, samples=sampling.POSITIVE)
def entr(z_bar: Array, x: Array) -> Array:
    return -z_bar - special.xlogy(z_bar, x)


@elementwise(special.rel_entr, samples=between((0.3, 2.2), (0.4, 2.5)))
def rel_entr(z_bar: Array, x: Array, y: Array) -> Array:
    return z_bar + special.xlogy(z_bar, quotient(x, y)), -quotient(z_bar * x, y)


@elementwise(special.kl_div, samples=between((0.3, 2.2), (0.4, 2.5)))
def kl_div(z_bar: Array, x: Array, y: Array) -> Array:
    return special.xlogy(z_bar, quotient(x, y)), z_bar - quotient(z_bar * x, y)


@elementwise(special.huber, samples=both(between((0.6, 0.9), (-2.0, 2.1)), between((2.5, 2.9), (-2.0, 2.1))))
def huber(delta: Array, r: Array) -> Array:
    return np.maximum(abs(r) - delta, 0), np.clip(r, -delta, delta)


@elementwise(special.pseudo_huber, samples=between((0.5, 1.9), (-2.0, 2.1)))
def pseudo_huber(delta: Array, r: Array) -> Array:
    root = np.hypot(delta, r)
    return quotient((root - delta) ** 2, root), quotient(delta * r, root)


# --- powers and exponentials ---

_POWERS_OF_BOX = between((0.4, 2.5), (-1.3, 1.6))


@elementwise(special.boxcox, samples=both(_POWERS_OF_BOX, at((1.7, 1e-9), (1.0, 0.7), ([0.3, 2.0], 0.0))))
def boxcox(z: Array, x: Array, lmbda: Array) -> Array:
    return np.power(x, lmbda - 1), boxcox_dlmbda(z, x, lmbda)


@elementwise(special.boxcox1p, samples=both(between((-0.6, 2.5), (-1.3, 1.6)), at((0.7, 0.0))))
def boxcox1p(x: Array, lmbda: Array) -> Array:
    return np.power(1 + x, lmbda - 1), boxcox1p_dlmbda(x, lmbda)


@elementwise(special.inv_boxcox, samples=both(between((-0.5, 1.5), (-0.6, 1.2)), at((0.7, 1e-9), (0.7, 0.0))))
def inv_boxcox(z: Array, y: Array, lmbda: Array) -> Array:
    return np.power(z, 1 - lmbda), inv_boxcox_dlmbda(z, y, lmbda)


@elementwise(special.inv_boxcox1p, samples=both(between((-0.5, 1.5), (-0.6, 1.2)), at((0.7, 0.0))))
def inv_boxcox1p(z: Array, y: Array, lmbda: Array) -> Array:
    return np.power(1 + z, 1 - lmbda), inv_boxcox_dlmbda(1 + z, y, lmbda)


@elementwise(special.exprel, samples=both(sampling.REAL, at(([0.0, 1e-8, 20.0, -30.0],))))
def exprel(x: Array) -> Array:
    return exprel_derivative(x)


@elementwise(special.expm1, samples=_REAL_OR_SMALL_COMPLEX)
def expm1(z: Array, x: Array) -> Array:
    return z + 1


@elementwise(special.log1p, samples=both(sampling.POSITIVE, _SMALL_COMPLEX))
def log1p(x: Array) -> Array:
    return 1 / (1 + x)


@elementwise(special.exp2, samples=sampling.REAL)
def exp2(z: Array, x: Array) -> Array:
    return math.log(2) * z


@elementwise(special.exp10, samples=sampling.REAL)
def exp10(z: Array, x: Array) -> Array:
    return math.log(10) * z


@elementwise(special.cbrt, samples=sampling.REAL)
def cbrt(z: Array, x: Array) -> Array:
    return 1 / (3 * z**2)


@elementwise(special.cosm1, samples=sampling.REAL)
def cosm1(x: Array) -> Array:
    return -np.sin(x)


constant(special.gammasgn, special.round)
