"""Rules of the zeta function of Hurwitz and Riemann, by both of its arguments."""

from __future__ import annotations

from typing import Any

from scipy import special

from s2sad.ops import sampling
from s2sad.ops.scipy.points import between, both, of
from s2sad.ops.spec import elementwise
from s2sad.runtime.scipy.zeta import zeta_slope

Array = Any

_EXPONENTS = (1.3, 5.0)


@elementwise(
    special.zeta,
    wrt=["x", "q"],
    samples=both(of([2, 1.7, 4.5], sampling.POSITIVE), between(_EXPONENTS, (0.4, 3.0)), between(_EXPONENTS)),
    real_only=True,
)
def zeta(x: Array, q: Array = None) -> tuple[Array, Array]:
    start = 1.0 if q is None else q
    return zeta_slope(1, x, start), -x * special.zeta(x + 1, start)


@elementwise(special.zetac, samples=both(between(_EXPONENTS), between((-0.8, 0.6))), real_only=True)
def zetac(x: Array) -> Array:
    return zeta_slope(1, x, 1.0)


@elementwise(
    zeta_slope,
    wrt=["x", "q"],
    samples=of([1, 2], both(between(_EXPONENTS, (0.4, 3.0)), of([2, 3.5], sampling.POSITIVE))),
    steps=frozenset({"order"}),
    real_only=True,
)
def zeta_slope_rule(order: int, x: Array, q: Array) -> tuple[Array, Array]:
    higher = zeta_slope(order + 1, x, q)
    return higher, -x * zeta_slope(order, x + 1.0, q) - order * zeta_slope(order - 1, x + 1.0, q)
