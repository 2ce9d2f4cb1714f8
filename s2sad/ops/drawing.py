"""The methods of random generators: what they draw depends on what was drawn before, and on their parameters."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.forms import MEMBER, Form
from s2sad.ops.spec import Sample, operation, rule, sample
from s2sad.runtime import drawing
from s2sad.runtime.arrays import unbroadcast
from s2sad.runtime.classes import DRAWING_METHODS

Array = Any

#: The classes of generators; of a name that several have, the first has the most parameters.
_CLASSES = (np.random.Generator, np.random.RandomState, random.Random)

_STANDARD = "draw standard numbers, and write what is drawn as a function of them: loc + scale * rng.normal(size=n)"
_INDICES = "draw indices: x[rng.permutation(len(x))], x[rng.choice(len(x), n)]"

for _cls in _CLASSES:
    for _name in sorted(DRAWING_METHODS & vars(_cls).keys()):
        operation(getattr(_cls, _name), ordered=True, result="fresh", forms=MEMBER, remedy=_STANDARD)
    for _name in ("choice", "permutation", "permuted"):
        if hasattr(_cls, _name):
            operation(getattr(_cls, _name), ordered=True, forms=MEMBER, remedy=_INDICES)
    operation(_cls.shuffle, signature=lambda self, x, axis=0: None, writes=("self", "x"), ordered=True, forms=MEMBER)
operation(random.Random.random, ordered=True, result="fresh", forms=MEMBER)

# --- what is drawn, by the parameters of its distribution ---

# Each number is a function of the parameters and of what the generator gives, which does not depend on them.


class _Again:
    """A generator that begins anew with each call."""

    def __getattr__(self, name: str) -> Any:
        def draw(*args: Any) -> Any:
            return getattr(np.random.default_rng(7), name)(*args)

        return draw


def _places() -> Sequence[Sample]:
    again, places, scales = _Again(), np.array([0.3, -1.2, 2.0]), np.array([0.5, 1.5, 2.5])
    return [
        sample(again, 0.5, 2.0),
        sample(again, 0.5, 2.0, 4),
        sample(again, places, 2.5, 3),
        sample(again, places, scales + 2),
        sample(again, -1.5, np.array([[2.5], [3.5]]), (2, 3)),
    ]


def _scales() -> Sequence[Sample]:
    again = _Again()
    return [sample(again, 1.5), sample(again, 1.5, 4), sample(again, np.array([0.5, 1.5])), sample(again, 2.5, (2, 2))]


def _normal_jvp(loc_dot: Array, scale_dot: Array, z: Array, loc: Array, scale: Array) -> Array:
    return np.broadcast_to(loc_dot + (z - loc) / scale * scale_dot, np.shape(z))


@rule(
    drawing.normal,
    wrt=["loc", "scale"],
    jvp=_normal_jvp,
    samples=_places,
    ordered=True,
    infer=infer.creation.drawn,
    dtype="double",
    forms=(Form("normal"),),
)
def normal(z: Array, z_bar: Array, generator: Any, loc: Array = 0.0, scale: Array = 1.0, size: Any = None) -> Any:
    return unbroadcast(z_bar, np.shape(loc)), unbroadcast(z_bar * (z - loc) / scale, np.shape(scale))


def _laplace_jvp(loc_dot: Array, scale_dot: Array, z: Array, loc: Array, scale: Array) -> Array:
    return np.broadcast_to(loc_dot + (z - loc) / scale * scale_dot, np.shape(z))


@rule(
    drawing.laplace,
    wrt=["loc", "scale"],
    jvp=_laplace_jvp,
    samples=_places,
    ordered=True,
    infer=infer.creation.drawn,
    dtype="double",
    forms=(Form("laplace"),),
)
def laplace(z: Array, z_bar: Array, generator: Any, loc: Array = 0.0, scale: Array = 1.0, size: Any = None) -> Any:
    return unbroadcast(z_bar, np.shape(loc)), unbroadcast(z_bar * (z - loc) / scale, np.shape(scale))


def _logistic_jvp(loc_dot: Array, scale_dot: Array, z: Array, loc: Array, scale: Array) -> Array:
    return np.broadcast_to(loc_dot + (z - loc) / scale * scale_dot, np.shape(z))


@rule(
    drawing.logistic,
    wrt=["loc", "scale"],
    jvp=_logistic_jvp,
    samples=_places,
    ordered=True,
    infer=infer.creation.drawn,
    dtype="double",
    forms=(Form("logistic"),),
)
def logistic(z: Array, z_bar: Array, generator: Any, loc: Array = 0.0, scale: Array = 1.0, size: Any = None) -> Any:
    return unbroadcast(z_bar, np.shape(loc)), unbroadcast(z_bar * (z - loc) / scale, np.shape(scale))


def _gumbel_jvp(loc_dot: Array, scale_dot: Array, z: Array, loc: Array, scale: Array) -> Array:
    return np.broadcast_to(loc_dot + (z - loc) / scale * scale_dot, np.shape(z))


@rule(
    drawing.gumbel,
    wrt=["loc", "scale"],
    jvp=_gumbel_jvp,
    samples=_places,
    ordered=True,
    infer=infer.creation.drawn,
    dtype="double",
    forms=(Form("gumbel"),),
)
def gumbel(z: Array, z_bar: Array, generator: Any, loc: Array = 0.0, scale: Array = 1.0, size: Any = None) -> Any:
    return unbroadcast(z_bar, np.shape(loc)), unbroadcast(z_bar * (z - loc) / scale, np.shape(scale))


def _uniform_jvp(low_dot: Array, high_dot: Array, z: Array, low: Array, high: Array) -> Array:
    return np.broadcast_to((high - z) / (high - low) * low_dot + (z - low) / (high - low) * high_dot, np.shape(z))


@rule(
    drawing.uniform,
    wrt=["low", "high"],
    jvp=_uniform_jvp,
    samples=_places,
    ordered=True,
    infer=infer.creation.drawn,
    dtype="double",
    forms=(Form("uniform"),),
)
def uniform(z: Array, z_bar: Array, generator: Any, low: Array = 0.0, high: Array = 1.0, size: Any = None) -> Any:
    return unbroadcast(z_bar * (high - z) / (high - low), np.shape(low)), unbroadcast(
        z_bar * (z - low) / (high - low), np.shape(high)
    )


def _exponential_jvp(scale_dot: Array, z: Array, scale: Array) -> Array:
    return np.broadcast_to(z / scale * scale_dot, np.shape(z))


@rule(
    drawing.exponential,
    wrt=["scale"],
    jvp=_exponential_jvp,
    samples=_scales,
    ordered=True,
    infer=infer.creation.drawn,
    dtype="double",
    forms=(Form("exponential"),),
)
def exponential(z: Array, z_bar: Array, generator: Any, scale: Array = 1.0, size: Any = None) -> Array:
    return unbroadcast(z_bar * z / scale, np.shape(scale))


def _rayleigh_jvp(scale_dot: Array, z: Array, scale: Array) -> Array:
    return np.broadcast_to(z / scale * scale_dot, np.shape(z))


@rule(
    drawing.rayleigh,
    wrt=["scale"],
    jvp=_rayleigh_jvp,
    samples=_scales,
    ordered=True,
    infer=infer.creation.drawn,
    dtype="double",
    forms=(Form("rayleigh"),),
)
def rayleigh(z: Array, z_bar: Array, generator: Any, scale: Array = 1.0, size: Any = None) -> Array:
    return unbroadcast(z_bar * z / scale, np.shape(scale))


def _lognormal_jvp(mean_dot: Array, sigma_dot: Array, z: Array, mean: Array, sigma: Array) -> Array:
    return np.broadcast_to(z * mean_dot + z * (np.log(z) - mean) / sigma * sigma_dot, np.shape(z))


@rule(
    drawing.lognormal,
    wrt=["mean", "sigma"],
    jvp=_lognormal_jvp,
    samples=_places,
    ordered=True,
    infer=infer.creation.drawn,
    dtype="double",
    forms=(Form("lognormal"),),
)
def lognormal(z: Array, z_bar: Array, generator: Any, mean: Array = 0.0, sigma: Array = 1.0, size: Any = None) -> Any:
    return unbroadcast(z_bar * z, np.shape(mean)), unbroadcast(z_bar * z * (np.log(z) - mean) / sigma, np.shape(sigma))


def _weibull_jvp(a_dot: Array, z: Array, a: Array) -> Array:
    return np.broadcast_to(-z * np.log(z) / a * a_dot, np.shape(z))


@rule(
    drawing.weibull,
    wrt=["a"],
    jvp=_weibull_jvp,
    samples=_scales,
    ordered=True,
    infer=infer.creation.drawn,
    dtype="double",
    forms=(Form("weibull"),),
)
def weibull(z: Array, z_bar: Array, generator: Any, a: Array, size: Any = None) -> Array:
    return unbroadcast(z_bar * -z * np.log(z) / a, np.shape(a))


def _pareto_jvp(a_dot: Array, z: Array, a: Array) -> Array:
    return np.broadcast_to(-(1 + z) * np.log1p(z) / a * a_dot, np.shape(z))


@rule(
    drawing.pareto,
    wrt=["a"],
    jvp=_pareto_jvp,
    samples=_scales,
    ordered=True,
    infer=infer.creation.drawn,
    dtype="double",
    forms=(Form("pareto"),),
)
def pareto(z: Array, z_bar: Array, generator: Any, a: Array, size: Any = None) -> Array:
    return unbroadcast(z_bar * -(1 + z) * np.log1p(z) / a, np.shape(a))


def _power_jvp(a_dot: Array, z: Array, a: Array) -> Array:
    return np.broadcast_to(-z * np.log(z) / a * a_dot, np.shape(z))


@rule(
    drawing.power,
    wrt=["a"],
    jvp=_power_jvp,
    samples=_scales,
    ordered=True,
    infer=infer.creation.drawn,
    dtype="double",
    forms=(Form("power"),),
)
def power(z: Array, z_bar: Array, generator: Any, a: Array, size: Any = None) -> Array:
    return unbroadcast(z_bar * -z * np.log(z) / a, np.shape(a))
