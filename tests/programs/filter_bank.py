"""A bank of filters made by functools.partial, and the energy in each band."""

from __future__ import annotations

import functools
import operator

import numpy as np


def biquad(x, b, a):
    y = np.zeros_like(x)
    x1 = x2 = y1 = y2 = 0.0
    for n in range(len(x)):
        y[n] = b[0] * x[n] + b[1] * x1 + b[2] * x2 - a[1] * y1 - a[2] * y2
        x1, x2 = x[n], x1
        y1, y2 = y[n], y1
    return y


def peaking(frequency, q=1.0, gain=0.0, rate=48.0):
    w = 2 * np.pi * frequency / rate
    alpha = np.sin(w) / (2 * q)
    amplitude = 10 ** (gain / 40)
    b = [1 + alpha * amplitude, -2 * np.cos(w), 1 - alpha * amplitude]
    a = [1 + alpha / amplitude, -2 * np.cos(w), 1 - alpha / amplitude]
    return [bi / a[0] for bi in b], [ai / a[0] for ai in a]


def chain(*stages):
    return functools.partial(functools.reduce, lambda signal, stage: stage(signal), stages)


def gain(factor, x):
    return factor * x


def clip(x, limit):
    return limit * np.tanh(x / limit)


BANDS = [2.0, 6.0, 12.0]


def equaliser(gains, q):
    stages = []
    for frequency, g in zip(BANDS, gains):
        b, a = peaking(frequency, q=q, gain=g)
        stages.append(functools.partial(biquad, b=b, a=a))
    stages.append(functools.partial(gain, 0.5))
    stages.append(functools.partial(clip, limit=0.8))
    return stages


def energy(x):
    return functools.reduce(operator.add, map(lambda v: v * v, x)) / len(x)


SIGNAL = np.sin(0.3 * np.arange(16)) + 0.5 * np.cos(1.7 * np.arange(16))


def loss(gains, q):
    y = SIGNAL
    for stage in equaliser(gains, q):
        y = stage(y)
    return energy(y) + 0.1 * energy(np.diff(y))


ARGUMENTS = (np.array([1.5, -2.0, 3.0]), 0.9)
