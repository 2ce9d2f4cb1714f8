"""Partial derivatives of functions of ``scipy.special`` that take more than a formula: limits, series, cases.

Imported only where SciPy is.  Each computes in the precision of its operands.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.arrays import unbroadcast, unreduce

Array = Any

_PHASE = "the sign of a sum of complex exponentials has no complex derivative"
_quiet = np.errstate(all="ignore")


def narrowed(value: Array, *operands: Array) -> Array:
    """In single precision what is computed from operands of that, and from Python's numbers, which SciPy widens."""
    return (value.astype(np.float32) if np.result_type(*operands) == np.float32 else value)[()]


def real_sign(x: Array) -> Array:
    """The sign of a real number; of a complex one there is none that has a derivative.

    Raises:
        UndefinedDerivativeError: for complex numbers.
    """
    if np.iscomplexobj(x):
        message = "a Bessel function scaled by the exponential of a real part has no complex derivative"
        raise UndefinedDerivativeError(message, "Use the function without scaling (iv, jv, yv).")
    return np.sign(x)


# --- the gamma function and its quotients ---


def is_pole(x: Array) -> Array:
    """Where the gamma function has its poles: at 0, -1, -2 and so on."""
    return (x <= 0) & (x == np.floor(x))


@_quiet
def rgamma_derivative(x: Array) -> Array:
    """The derivative of 1 / gamma(x), an entire function; at the pole -n it is (-1)^n n!, by reflection.

    >>> float(rgamma_derivative(-3.0))
    -6.0
    """
    if np.iscomplexobj(x):
        return -special.rgamma(x) * special.digamma(x)
    low = x < 0.5
    a, b = np.where(low, x, 0), np.where(low, 1, x)
    whole = np.round(a)
    turn = math.pi * (a - whole)
    by_reflection = np.cos(turn) - special.digamma(1 - a) * np.sin(turn) / math.pi
    by_reflection = (1 - 2 * (whole % 2)) * special.gamma(1 - a) * by_reflection
    return np.where(low, by_reflection, -special.rgamma(b) * special.digamma(b))


@_quiet
def digamma_difference(a: Array, b: Array) -> Array:
    """digamma(a) - digamma(b); where both are poles, the limit with a - b held fixed (by reflection)."""
    both = is_pole(a) & is_pole(b)
    a, b = np.where(both, 1 - a, a), np.where(both, 1 - b, b)
    return special.digamma(a) - special.digamma(b)


@_quiet
def trigamma_difference(a: Array, b: Array) -> Array:
    """The derivative of `digamma_difference` where both move alike."""
    both = is_pole(a) & is_pole(b)
    a, b = np.where(both, 1 - a, a), np.where(both, 1 - b, b)
    return np.where(both, -1, 1) * (special.polygamma(1, a) - special.polygamma(1, b))


@_quiet
def binom_dn(n: Array, k: Array) -> Array:
    """The derivative of binom(n, k) by n: of a polynomial in n where k is a whole number."""
    z, m = special.binom(n, k), n - k + 1
    vanishes = is_pole(m) & ~is_pole(n + 1)
    limit = special.gamma(n + 1) * special.rgamma(k + 1) * rgamma_derivative(m)
    return narrowed(np.where(vanishes, limit, np.where(z == 0, 0, z * digamma_difference(n + 1, m))), n, k)


@_quiet
def binom_dk(n: Array, k: Array) -> Array:
    """The derivative of binom(n, k) by k."""
    z, m = special.binom(n, k), n - k + 1
    above = -special.gamma(n + 1) * special.rgamma(k + 1) * rgamma_derivative(m)
    below = special.gamma(n + 1) * special.rgamma(m) * rgamma_derivative(k + 1)
    inside = z * (special.digamma(m) - special.digamma(k + 1))
    return narrowed(np.where(is_pole(m), above, np.where(is_pole(k + 1), below, inside)), n, k)


@_quiet
def binom_second(n: Array, k: Array) -> tuple[Array, Array, Array]:
    """The second derivatives of binom(n, k): by n twice, by both, and by k twice; NaN by k where that is a pole."""
    z, m = special.binom(n, k), n - k + 1
    vanishes = is_pole(m) & ~is_pole(n + 1)
    limit = special.gamma(n + 1) * special.rgamma(k + 1) * rgamma_derivative(m)
    # Near its zeros rgamma(m) is rgamma_derivative(m) times t - digamma(1 - m) t^2.
    log_n, log_k, turned = special.digamma(n + 1), special.digamma(k + 1), special.digamma(np.where(vanishes, 1 - m, 1))
    by_n, by_k = digamma_difference(n + 1, m), special.digamma(m) - log_k
    curved, curved_k = special.polygamma(1, m), special.polygamma(1, k + 1)
    twice_n = np.where(vanishes, 2 * limit * (log_n - turned), z * (by_n**2 + trigamma_difference(n + 1, m)))
    mixed = np.where(vanishes, -limit * (log_n + log_k - 2 * turned), z * (by_n * by_k + curved))
    twice_k = np.where(vanishes, 2 * limit * (log_k - turned), z * (by_k**2 - curved - curved_k))
    return narrowed(twice_n, n, k), narrowed(mixed, n, k), narrowed(twice_k, n, k)


@_quiet
def poch_dz(x: Array, m: Array) -> Array:
    """The derivative of poch(x, m) by x: of a polynomial in x where m is a whole number."""
    vanishes = is_pole(x) & ~is_pole(x + m)
    limit = special.gamma(x + m) * rgamma_derivative(x)
    return narrowed(np.where(vanishes, limit, special.poch(x, m) * digamma_difference(x + m, x)), x, m)


@_quiet
def poch_second(x: Array, m: Array) -> tuple[Array, Array]:
    """The second derivatives of poch(x, m): by x twice, and by both."""
    p, vanishes = special.poch(x, m), is_pole(x) & ~is_pole(x + m)
    limit, log = special.gamma(x + m) * rgamma_derivative(x), special.digamma(x + m)
    by_x, turned = digamma_difference(x + m, x), special.digamma(np.where(vanishes, 1 - x, 1))
    twice = np.where(vanishes, 2 * limit * (log - turned), p * (by_x**2 + trigamma_difference(x + m, x)))
    mixed = np.where(vanishes, limit * log, p * (by_x * log + special.polygamma(1, x + m)))
    return narrowed(twice, x, m), narrowed(mixed, x, m)


def gamma_density(a: Array, x: Array) -> Array:
    """x^(a - 1) exp(-x) / gamma(a)."""
    return narrowed(np.exp(special.xlogy(a - 1, x) - x - special.gammaln(a)), a, x)


def beta_density(a: Array, b: Array, x: Array) -> Array:
    """x^(a - 1) (1 - x)^(b - 1) / beta(a, b)."""
    log_density = special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b)
    return narrowed(np.exp(log_density), a, b, x)


def t_density(df: Array, t: Array) -> Array:
    """The density of Student's distribution."""
    log_density = -special.betaln(0.5, 0.5 * df) - 0.5 * np.log(df) - 0.5 * (df + 1) * np.log1p(t * t / df)
    return narrowed(np.exp(log_density), df, t)


def f_density(dfn: Array, dfd: Array, x: Array) -> Array:
    """The density of the quotient of two mean squares."""
    whole = dfd + dfn * x
    return beta_density(0.5 * dfn, 0.5 * dfd, dfn * x / whole) * (dfn * dfd / whole**2)


def multigammaln_derivative(a: Array, d: int) -> Array:
    """The derivative of multigammaln(a, d) by a: the sum of digamma(a - i / 2) for i below d."""
    return sum(special.digamma(a - 0.5 * i) for i in range(int(d)))


# --- functions near the error function ---


def _tail(u: Array) -> Array:
    """The divergent series u + 3 u^2 + 15 u^3 + 105 u^4 + ..., cut off where u is below 2e-4."""
    return u * (1 + 3 * u * (1 + 5 * u * (1 + 7 * u * (1 + 9 * u))))


@_quiet
def dawsn_derivative(z: Array, x: Array) -> Array:
    """1 - 2 x z for z = dawsn(x); by its asymptotic series where that would cancel."""
    plain = 1 - 2 * x * z
    if np.iscomplexobj(x):
        return plain
    far = np.abs(x) > 50
    return np.where(far, -_tail(0.5 / np.where(far, x, 50.0) ** 2), plain)


@_quiet
def erfcx_derivative(z: Array, x: Array) -> Array:
    """2 x z - 2 / sqrt(pi) for z = erfcx(x); by its asymptotic series where that would cancel."""
    c, far = 2 / math.sqrt(math.pi), np.real(x) > 50
    return np.where(far, c * _tail(-0.5 / np.where(far, x, 50.0) ** 2), 2 * x * z - c)


@_quiet
def mills(x: Array) -> Array:
    """The density of the normal distribution over its distribution function, at any ``x`` without underflow."""
    return math.sqrt(2 / math.pi) / special.erfcx(x / -math.sqrt(2))


@_quiet
def mills_derivative(z: Array, x: Array) -> Array:
    """-z (x + z) for z = mills(x); by its asymptotic series where that would cancel."""
    far = np.real(x) < -60
    u = 1 / np.where(far, x, -60.0) ** 2
    return np.where(far, -1 + u * (1 - u * (6 - 50 * u)), -z * (x + z))


def struve_term(v: Array, x: Array) -> Array:
    """(x / 2)^v / (2 sqrt(pi) gamma(v + 3 / 2)), in the recurrence of Struve functions (DLMF 11.4.27)."""
    return narrowed((0.5 * x) ** v * special.rgamma(v + 1.5) / math.sqrt(4 * math.pi), v, x)


def divisor(x: Array, part: Array) -> Array:
    """``x``, by which ``part`` is divided; 1 where both are zero."""
    return np.where(np.equal(x, 0) & np.equal(part, 0), 1, x)


def spherical(name: str, n: int, x: Array, order: int) -> Array:
    """The derivative of an order of a spherical Bessel function, by those of the degrees around (DLMF 10.51).

    (2 n + 1) f_n' = n f_(n - 1) - (n + 1) f_(n + 1), with other signs for the modified ones.
    """
    function, n = getattr(special, name), np.trunc(n) if np.ndim(n) else int(n)
    below, above = {"spherical_in": (1, 1), "spherical_kn": (-1, -1)}.get(name, (1, -1))
    factors: dict[int, Any] = {0: 1.0}
    for _ in range(order):
        found: dict[int, Any] = {}
        for offset, factor in factors.items():
            m = n + offset
            found[offset - 1] = found.get(offset - 1, 0.0) + below * factor * m / (2 * m + 1)
            found[offset + 1] = found.get(offset + 1, 0.0) + above * factor * (m + 1) / (2 * m + 1)
        factors = found
    # What a degree below 0 would have is taken times 0.
    return sum(factor * function(np.maximum(n + offset, 0), x) for offset, factor in factors.items())


# --- exponentials ---


@_quiet
def exprel_derivative(x: Array) -> Array:
    """The derivative of exprel(x) = (exp(x) - 1) / x; near 0 by its power series, the sum of k x^(k-1) / (k + 1)!.

    >>> float(exprel_derivative(0.0))
    0.5
    """
    near = np.abs(x) < 1
    u = np.where(near, x, 0)
    series = 0 * u
    for k in range(18, 0, -1):
        series = series * u + k / math.factorial(k + 1)
    far = np.where(near, 1, x)
    return np.where(near, series, (np.exp(far) - special.exprel(far)) / far)


@_quiet
def sinhc(x: Array) -> Array:
    """sinh(x) / x, and 1 at 0."""
    near = np.abs(x) < 1
    u = np.where(near, x, 0) ** 2
    series = 0 * u
    for k in range(9, -1, -1):
        series = series * u + 1 / math.factorial(2 * k + 1)
    far = np.where(near, 1, x)
    return np.where(near, series, np.sinh(far) / far)


@_quiet
def boxcox_dlmbda(z: Array, x: Array, lmbda: Array) -> Array:
    """The derivative of z = boxcox(x, lmbda) by lmbda."""
    log_x = np.log(x)
    u = lmbda * log_x
    near = np.abs(u) < 1
    far = np.where(near, 1, lmbda)
    by_series = log_x**2 * exprel_derivative(np.where(near, u, 0))
    return narrowed(np.where(near, by_series, (special.xlogy(x**far, x) - z) / far), x, lmbda)


@_quiet
def boxcox1p_dlmbda(x: Array, lmbda: Array) -> Array:
    """The derivative of boxcox1p(x, lmbda) by lmbda."""
    log_x = np.log1p(x)
    return narrowed(log_x**2 * exprel_derivative(lmbda * log_x), x, lmbda)


@_quiet
def log_excess(u: Array) -> Array:
    """(u / (1 + u) - log(1 + u)) / u^2; near 0 the sum of (-1)^(k+1) (k - 1) / k u^(k-2) over k from 2.

    >>> float(log_excess(0.0))
    -0.5
    """
    near = np.abs(u) < 0.1
    v = np.where(near, u, 0)
    series = 0 * v
    for k in range(18, 1, -1):
        series = series * v + (-1) ** (k + 1) * (k - 1) / k
    far = np.where(near, 1, u)
    return np.where(near, series, (far / (1 + far) - np.log1p(far)) / far**2)


def inv_boxcox_dlmbda(x: Array, y: Array, lmbda: Array) -> Array:
    """The derivative of x = inv_boxcox(y, lmbda) by lmbda."""
    return x * y**2 * log_excess(lmbda * y)


@_quiet
def expn_derivative(z: Array, n: Array, x: Array) -> Array:
    """The derivative of z = expn(n, x) by x: -expn(n - 1, x), also for n = 0."""
    return np.where(np.equal(n, 0), -z * (1 + 1 / x), -special.expn(np.maximum(n - 1, 0), x))


# --- sums of exponentials ---


@_quiet
def exp_shares(a: Array, z: Array, axis: Any = None) -> Array:
    """exp(a - z): the share of each number in a sum of exponentials, of which ``z`` is the logarithm.

    ``z`` is of a shape that broadcasts against ``a``.  Where it is infinite the numbers that are equal to it share
    equally.

    >>> exp_shares(np.array([-np.inf, -np.inf]), -np.inf).tolist()
    [0.5, 0.5]
    """
    if np.all(np.isfinite(z)):
        return np.exp(a - z)
    tied = a == z
    count = np.sum(tied, axis=axis, keepdims=True)
    equal = np.where(tied, 1 / np.maximum(count, 1).astype(np.result_type(np.real(a))), 0)
    return np.where(np.isinf(z), equal, np.exp(a - z))


def logsumexp_adjoints(
    z_bar: Any, z: Any, a: Array, axis: Any, b: Array, keepdims: bool, return_sign: bool
) -> tuple[Array, Array]:
    """The adjoints of ``a`` and ``b`` in ``z = logsumexp(a, axis, b, keepdims, return_sign)``."""
    value, sign, g = (z[0], z[1], z_bar[0]) if return_sign else (z, 1, z_bar)
    if return_sign and np.iscomplexobj(sign):
        raise UndefinedDerivativeError(_PHASE, "Leave return_sign out: the logarithm is complex then.")
    shape = np.broadcast_shapes(np.shape(a), () if b is None else np.shape(b))
    g = unreduce(g * sign, shape, axis, keepdims)
    shares = g * exp_shares(np.broadcast_to(a, shape), unreduce(value, shape, axis, keepdims), axis)
    if b is None:
        return unbroadcast(shares, shape), 0.0
    # A number that counts zero times may be infinite.
    weighed = np.where(np.equal(b, 0), 0, b * shares)
    return unbroadcast(weighed, np.shape(a)), unbroadcast(shares, np.shape(b))


def logsumexp_tangent(
    a_dot: Array, b_dot: Array, z: Any, a: Array, axis: Any, b: Array, keepdims: bool, return_sign: bool
) -> Any:
    """The tangent of ``z = logsumexp(a, axis, b, keepdims, return_sign)``; that of the sign is zero."""
    value, sign = z if return_sign else (z, 1)
    if return_sign and np.iscomplexobj(sign):
        raise UndefinedDerivativeError(_PHASE, "Leave return_sign out: the logarithm is complex then.")
    shape = np.broadcast_shapes(np.shape(a), () if b is None else np.shape(b))
    shares = exp_shares(np.broadcast_to(a, shape), unreduce(value, shape, axis, keepdims), axis)
    rate = shares * a_dot if b is None else np.where(np.equal(b, 0), 0, b * shares * a_dot) + shares * b_dot
    z_dot = np.sum(rate, axis=axis, keepdims=keepdims) * sign
    return (z_dot, np.zeros_like(sign)) if return_sign else z_dot


# --- elliptic integrals ---


@_quiet
def ellipkinc_dm(phi: Array, m: Array) -> Array:
    """The derivative of ellipkinc(phi, m) by m, by Carlson's integral R_D, on the half period around 0 and beyond."""
    turns = np.round(phi / math.pi)
    s, c = np.sin(phi - math.pi * turns), np.cos(phi - math.pi * turns)
    part = s**3 * special.elliprd(c**2, 1, 1 - m * s**2) / 6
    return narrowed(part + np.where(turns == 0, 0, turns * special.elliprd(0, 1, 1 - m) / 3), phi, m)


@_quiet
def ellipeinc_dm(phi: Array, m: Array) -> Array:
    """The derivative of ellipeinc(phi, m) by m, by Carlson's integral R_D, on the half period around 0 and beyond."""
    turns = np.round(phi / math.pi)
    s, c = np.sin(phi - math.pi * turns), np.cos(phi - math.pi * turns)
    part = s**3 * special.elliprd(c**2, 1 - m * s**2, 1) / 6
    return narrowed(-part - np.where(turns == 0, 0, turns * special.elliprd(0, 1 - m, 1) / 3), phi, m)


# --- inverses, and the dilogarithm ---


@_quiet
def lambertw_derivative(z: Array, x: Array) -> Array:
    """The derivative of z = lambertw(x) on any branch: exp(-z) / (1 + z)."""
    return np.exp(-z) / (1 + z)


@_quiet
def spence_derivative(x: Array) -> Array:
    """The derivative of spence(x): log(x) / (1 - x); near 1 the sum of -(1 - x)^k / (k + 1).

    >>> float(spence_derivative(1.0))
    -1.0
    """
    near = np.abs(x - 1) < 0.1
    u = np.where(near, 1 - x, 0)
    series = 0 * u
    for k in range(16, -1, -1):
        series = series * u - 1 / (k + 1)
    far = np.where(near, 2, x)
    return np.where(near, series, np.log(far) / (1 - far))


@_quiet
def jacobi_derivative(degree: Array, alpha: Array, beta: Array, x: Array) -> Array:
    """The derivative of eval_jacobi(degree, alpha, beta, x) by x; zero for degree 0."""
    slope = 0.5 * (degree + alpha + beta + 1) * special.eval_jacobi(degree - 1, alpha + 1, beta + 1, x)
    return np.where(np.equal(degree, 0), np.zeros_like(slope), slope)


def harmonic_slope(n: Array, m: Array, theta: Array, phi: Array, order: int) -> Array:
    """The first or second derivative of ``special.sph_harm_y(n, m, theta, phi)`` by ``theta``."""
    if order > 2:
        raise UndefinedDerivativeError(
            "spherical harmonics have no derivative rule of the third order",
            "Write them with NumPy: powers of cos(theta) and sin(theta), and np.exp(1j * m * phi).",
        )
    values = special.sph_harm_y(n, m, theta, phi, diff_n=order)
    return values[1][..., 0] if order == 1 else values[2][..., 0, 0]


def line_slopes(x: Any, sigma: Any, gamma: Any) -> tuple[Any, Any]:
    """The derivatives of ``special.voigt_profile`` by ``x + 1j * gamma``, whose real part it is, and by ``sigma``.

    Far from a narrow line they are the asymptotic series of Faddeeva's function: what is near to it is a difference of
    what is nearly equal there, and undefined where ``sigma`` is zero.
    """
    q = x + 1j * gamma
    far = np.abs(q) ** 2 > 1500 * sigma**2
    width = np.where(far, 1.0, sigma)
    point = np.where(far, 0.0, q) / (math.sqrt(2) * width)
    value = special.wofz(point)
    near = (1j / math.sqrt(math.pi) - point * value) / (math.sqrt(math.pi) * width**2)
    across = -np.real(value / (math.sqrt(2 * math.pi) * width**2) + math.sqrt(2) * near * point)
    r = 1 / np.where(far, q, 1.0)
    t = np.where(far, sigma * r, 0.0) ** 2
    series = 1 + 3 * t * (1 + 5 * t * (1 + 7 * t * (1 + 9 * t * (1 + 11 * t))))
    other = 2 + 3 * t * (4 + 5 * t * (6 + 7 * t * (8 + 9 * t * (10 + 11 * t * 12))))
    slope = np.where(far, -1j / math.pi * r**2 * series, near)
    return slope, np.where(far, np.real(1j / math.pi * sigma * r**3 * other), across)
