"""Rules of choices, bounds, sizes and signs: what NumPy does element by element with a kink or a step.

``maximum`` and its like share the adjoint equally at ties, and so does ``clip``
at a bound, being ``minimum(maximum(a, a_min), a_max)``; ``abs`` has derivative 0
at 0, ``sign`` and ``heaviside`` are steps (all as in JAX).  What is not chosen
gets 0 by a choice and never by a product, since 0 times NaN is NaN.  A
real-valued function of a complex argument takes the real part of its adjoint,
since that of a real variable may carry an imaginary part of no meaning until
the end, where it is dropped.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2sad.ops import infer, sampling
from s2sad.ops.forms import METHOD, Form
from s2sad.ops.spec import elementwise, linear, literal, real, rule, sample
from s2sad.runtime.arrays import chosen_part, clip_share, finite_part, high_share, low_share, unbroadcast
from s2sad.runtime.edges import quotient

Array = Any


# --- choices ---


def _chosen_samples() -> Any:
    x, g = np.array([1.0, 2.0, 3.0]), np.cos(np.arange(6.0)).reshape(2, 3)
    found = [sample(g, x > y, x == y) for y in (2.0, 1.5, g, x)]
    return [*found, sample(1.5, x > 2.0, x == 2.0), sample(1.5, True, False)]


@linear(
    chosen_part,
    steps=frozenset({"is_chosen", "is_tie"}),
    wrt=["g"],
    samples=_chosen_samples,
    broadcasts=True,
    infer=infer.common.chosen,
    result="fresh",
)
def chosen_part_rule(z_bar: Array, g: Array, is_chosen: Array, is_tie: Array) -> Array:
    return unbroadcast(np.where(is_chosen, z_bar, np.where(is_tie, z_bar / 2, 0)), np.shape(g))


def _maximum_jvp(x_dot: Array, y_dot: Array, x: Array, y: Array) -> Array:
    x_part = np.where(x > y, x_dot, np.where(x == y, x_dot / 2, 0))
    y_part = np.where(y > x, y_dot, np.where(x == y, y_dot / 2, 0))
    return x_part + y_part


@rule(
    np.maximum, jvp=_maximum_jvp, samples=sampling.PAIRS_OR_COMPLEX, broadcasts=True,
    lower_bound=infer.bounds.larger,
)  # fmt: skip
def maximum(z_bar: Array, x: Array, y: Array) -> Array:
    x_bar = np.where(x > y, z_bar, np.where(x == y, z_bar / 2, 0))
    y_bar = np.where(y > x, z_bar, np.where(x == y, z_bar / 2, 0))
    return unbroadcast(x_bar, np.shape(x)), unbroadcast(y_bar, np.shape(y))


def _minimum_jvp(x_dot: Array, y_dot: Array, x: Array, y: Array) -> Array:
    x_part = np.where(x < y, x_dot, np.where(x == y, x_dot / 2, 0))
    y_part = np.where(y < x, y_dot, np.where(x == y, y_dot / 2, 0))
    return x_part + y_part


@rule(np.minimum, jvp=_minimum_jvp, samples=sampling.PAIRS_OR_COMPLEX, broadcasts=True)
def minimum(z_bar: Array, x: Array, y: Array) -> Array:
    x_bar = np.where(x < y, z_bar, np.where(x == y, z_bar / 2, 0))
    y_bar = np.where(y < x, z_bar, np.where(x == y, z_bar / 2, 0))
    return unbroadcast(x_bar, np.shape(x)), unbroadcast(y_bar, np.shape(y))


def _fmax_jvp(x_dot: Array, y_dot: Array, z: Array, x: Array, y: Array) -> Array:
    x_part = np.where(x == z, np.where(y == z, x_dot / 2, x_dot), 0)
    y_part = np.where(y == z, np.where(x == z, y_dot / 2, y_dot), 0)
    return x_part + y_part


def _fmax_samples() -> Any:
    nan = np.array([np.nan, 1.0, np.nan])
    return [*sampling.PAIRS_OR_COMPLEX(), sample(nan, 2.0), sample(np.array([1.5, 2.0, 2.5]), nan)]


@rule(np.fmax, jvp=_fmax_jvp, samples=_fmax_samples, broadcasts=True)
def fmax(z: Array, z_bar: Array, x: Array, y: Array) -> Array:
    x_bar = np.where(x == z, np.where(y == z, z_bar / 2, z_bar), 0)
    y_bar = np.where(y == z, np.where(x == z, z_bar / 2, z_bar), 0)
    return unbroadcast(x_bar, np.shape(x)), unbroadcast(y_bar, np.shape(y))


@rule(np.fmin, jvp=_fmax_jvp, samples=_fmax_samples, broadcasts=True)
def fmin(z: Array, z_bar: Array, x: Array, y: Array) -> Array:
    x_bar = np.where(x == z, np.where(y == z, z_bar / 2, z_bar), 0)
    y_bar = np.where(y == z, np.where(x == z, z_bar / 2, z_bar), 0)
    return unbroadcast(x_bar, np.shape(x)), unbroadcast(y_bar, np.shape(y))


@linear(
    np.where,
    only_arrays=True,
    wrt=["x", "y"],
    samples=sampling.CHOICES,
    broadcasts=True,
    infer=infer.positions.chosen,
    steps=frozenset({"condition"}),
    gives=(tuple, np.ndarray),
)
def where(z_bar: Array, condition: Array, x: Any = None, y: Any = None) -> Array:
    x_bar = np.where(condition, z_bar, 0)
    y_bar = np.where(condition, 0, z_bar)
    return unbroadcast(x_bar, np.shape(x)), unbroadcast(y_bar, np.shape(y))


def _clip_jvp(a_dot: Array, a_min_dot: Array, a_max_dot: Array, a: Array, a_min: Array, a_max: Array) -> Array:
    return (
        clip_share(a_dot, a, a_min, a_max)
        + low_share(a_min_dot, a, a_min, a_max)
        + high_share(a_max_dot, a, a_min, a_max)
    )


@rule(
    np.clip,
    wrt=["a", "a_min", "a_max"],
    jvp=_clip_jvp,
    samples=sampling.CLIPS,
    broadcasts=True,
    aliases={"min": "a_min", "max": "a_max"},
    forms=METHOD,
    reads_first=True,
)
def clip(z_bar: Array, a: Array, a_min: Array = None, a_max: Array = None) -> Array:
    if literal(a_min) and literal(a_max) and a_min < a_max:
        return (
            np.where((a > a_min) & (a < a_max), z_bar, np.where((a == a_min) | (a == a_max), z_bar / 2, 0)),
            unbroadcast(low_share(z_bar, a, a_min, a_max), np.shape(a_min)),
            unbroadcast(high_share(z_bar, a, a_min, a_max), np.shape(a_max)),
        )
    return (
        unbroadcast(clip_share(z_bar, a, a_min, a_max), np.shape(a)),
        unbroadcast(low_share(z_bar, a, a_min, a_max), np.shape(a_min)),
        unbroadcast(high_share(z_bar, a, a_min, a_max), np.shape(a_max)),
    )


def _finite_jvp(x_dot: Array, x: Array) -> Array:
    return finite_part(x_dot, x)


def _finite_samples() -> Any:
    x = np.array([1.5, np.nan, -np.inf, 0.5, np.inf])
    return [
        *sampling.REAL_OR_COMPLEX(),
        sample(x),
        sample(x, nan=2.0, posinf=3.0, neginf=4.0),
        sample(np.array([complex(1.5, np.nan), complex(np.inf, 2.0), 1 + 1j])),
    ]


# `copy` is not taken: with False the function writes into its argument.
@rule(
    np.nan_to_num,
    wrt=["x"],
    jvp=_finite_jvp,
    samples=_finite_samples,
    infer=infer.common.same_as_first,
    overwrites=("copy", True),
)
def nan_to_num(
    z_bar: Array, x: Array, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Array:
    if real(x):
        return np.where(np.isfinite(x), z_bar, 0)
    return finite_part(z_bar, x)


@elementwise(np.copysign, wrt=["x"], samples=sampling.PAIRS, steps=frozenset({"y"}))
def copysign(x: Array, y: Array) -> Array:
    return np.copysign(np.sign(x), x * y)


def _ldexp_samples() -> Any:
    x = np.array([[0.5, -1.5, 2.5]])
    i = np.array([[1], [-2]])
    return [sample(x, 3), sample(x, i), sample(0.5, i), sample(x.astype("f4"), 2)]


@linear(np.ldexp, wrt=["x"], samples=_ldexp_samples, broadcasts=True, steps=frozenset({"i"}))
def ldexp(z_bar: Array, x: Array, i: Array) -> Array:
    return unbroadcast(np.ldexp(z_bar, i), np.shape(x))


def _heaviside_samples() -> Any:
    x = np.array([-1.0, 0.0, 2.0, 0.0])
    return [sample(x, 0.5), sample(x, np.ones((2, 4))), sample(0, np.array([2.0, 3.0]))]


# The step itself has derivative 0; its value at 0 is the second argument.
@elementwise(np.heaviside, wrt=["y"], samples=_heaviside_samples, steps=frozenset({"x1", "x"}))
def heaviside(x: Array, y: Array) -> Array:
    return x == 0


# --- size and sign ---


def _absolute_jvp(x_dot: Array, x: Array) -> Array:
    if real(x):
        return np.sign(x) * x_dot
    return np.real(np.conj(np.sign(x)) * x_dot)


@rule(
    np.absolute, jvp=_absolute_jvp, samples=sampling.REAL_OR_COMPLEX, infer=infer.common.modulus,
    lower_bound=infer.bounds.not_negative,
)  # fmt: skip
def absolute(z_bar: Array, x: Array) -> Array:
    if real(x):
        return z_bar * np.sign(x)
    return np.real(z_bar) * np.conj(np.sign(x))


@elementwise(np.fabs, samples=sampling.REAL, lower_bound=infer.bounds.not_negative)
def fabs(x: Array) -> Array:
    return np.sign(x)


def _sign_jvp(x_dot: Array, z: Array, x: Array) -> Array:
    if real(x):
        return np.zeros_like(x)
    turned = np.conj(z) * x_dot
    return z * (turned - np.real(turned)) / (np.abs(x) + (x == 0))


# Of a real number, a step; of a complex one, x / abs(x), which turns with it.
@rule(np.sign, jvp=_sign_jvp, samples=sampling.REAL_OR_COMPLEX, infer=infer.common.same_as_first, complex_adjoints=True)
def sign(z: Array, z_bar: Array, x: Array) -> Array:
    if real(x):
        return np.zeros_like(x)
    turned = z_bar * z  # less its real part it is imaginary, or a zero that is real
    return np.conj(z) * (turned - np.real(turned)) / (np.abs(x) + (x == 0))


@linear(
    np.conjugate,
    wrt=["x"],
    samples=sampling.REAL_OR_COMPLEX,
    infer=infer.common.same_as_first,
    forms=(Form("conj", result="unknown"), Form("conjugate", result="unknown")),
)
def conjugate(z_bar: Array, x: Array) -> Array:
    return np.conj(z_bar)


@linear(
    np.real,
    wrt=["val"],
    samples=sampling.REAL_OR_COMPLEX,
    result="view",
    infer=infer.common.real_part,
    mirrors=False,
    dtype="python",
    forms=(Form("real", "attribute", assigned=True),),
)
def real_part(z_bar: Array, val: Array) -> Array:
    return np.real(z_bar)


@linear(
    np.imag,
    wrt=["val"],
    samples=sampling.REAL_OR_COMPLEX,
    result="unknown",  # of real numbers it is new zeros
    infer=infer.common.real_part,
    mirrors=False,
    dtype="python",
    complex_adjoints=True,
    forms=(Form("imag", "attribute", assigned=True),),
)
def imaginary_part(z_bar: Array, val: Array) -> Array:
    if real(val):
        return np.zeros_like(val)
    return -1j * np.real(z_bar)


def _angle_jvp(x_dot: Array, x: Array, deg: bool) -> Array:
    return np.imag(x_dot / x) * (180 / math.pi if deg else 1)


def _angle_samples() -> Any:
    return [*sampling.REAL_OR_COMPLEX(), sample(np.array([1 + 1j, 2 - 1j]), deg=True)]


@rule(np.angle, wrt=["x"], jvp=_angle_jvp, samples=_angle_samples, infer=infer.common.modulus, complex_adjoints=True)
def angle(z_bar: Array, x: Array, deg: bool = False) -> Array:
    if real(x):
        return np.zeros_like(x)
    return -1j * quotient(np.real(z_bar), x) * (180 / math.pi if deg else 1)
