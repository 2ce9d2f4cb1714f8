"""Rules of functions of ``math`` and Python that take a number apart: quotient and remainder, mantissa and exponent."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.spec import Sample, constant, elementwise, rule, sample
from s2sad.runtime.arrays import unbroadcast

Number = Any


def _numbers() -> Sequence[Sample]:
    return [sample(0.7), sample(-1.3), sample(2.4), sample(np.float64(0.7))]


def _pairs() -> Sequence[Sample]:
    return [sample(0.7, 1.9), sample(2.3, 0.4), sample(-1.2, 0.7), sample(1.1, -2.1), sample(-0.3, -0.8)]


def _remainders() -> Sequence[Sample]:
    a = np.array([0.7, -1.3, 2.4])
    return [*_pairs(), sample(a, 0.43), sample(np.float64(0.7), 0.3)]


@elementwise(math.nextafter, wrt=["x"], samples=_pairs, steps=frozenset({"y", "steps"}))
def nextafter(x: Number, y: Number) -> Number:
    return 1


def _divmod_jvp(x_dot: Number, y_dot: Number, z: Number) -> Number:
    return 0.0, x_dot - z[0] * y_dot


@rule(
    builtins.divmod,
    jvp=_divmod_jvp,
    samples=_remainders,
    infer=infer.python.two_numbers,
    dtype="unknown",
    gives=(tuple,),
)
def python_divmod(z: Number, z_bar: Number, x: Number, y: Number) -> Number:
    return unbroadcast(z_bar[1], np.shape(x)), unbroadcast(-z_bar[1] * z[0], np.shape(y))


def _modf_jvp(x_dot: Number) -> Number:
    return x_dot, 0.0


@rule(math.modf, jvp=_modf_jvp, samples=_numbers, infer=infer.python.two_numbers, dtype="unknown", gives=(tuple,))
def modf(z_bar: Number, x: Number) -> Number:
    return z_bar[0]


def _frexp_jvp(x_dot: Number, z: Number) -> Number:
    return math.ldexp(x_dot, -z[1]), 0.0


@rule(
    math.frexp,
    jvp=_frexp_jvp,
    samples=_numbers,
    infer=infer.python.two_numbers,
    dtype="unknown",
    gives=(tuple,),
    integers=(1,),
)
def frexp(z: Number, z_bar: Number, x: Number) -> Number:
    return z_bar[0] * math.ldexp(1.0, -z[1])


constant(math.ulp, dtype="float")
