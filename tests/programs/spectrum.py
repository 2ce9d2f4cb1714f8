"""A spectrum composed of callables: lines over a continuum, seen through an instrument."""

from __future__ import annotations

import functools

import numpy as np


def gaussian(x, centre, width):
    return np.exp(-0.5 * ((x - centre) / width) ** 2)


def lorentzian(x, centre, width):
    return width**2 / ((x - centre) ** 2 + width**2)


def line(profile, centre, width, strength):
    return lambda x: strength * profile(x, centre, width)


def continuum(*coefficients):
    def evaluate(x):
        total = 0.0
        for c in reversed(coefficients):
            total = total * x + c
        return total

    return evaluate


def total(*parts):
    return lambda x: sum(part(x) for part in parts)


def absorbed(emission, depth):
    return lambda x: emission(x) * np.exp(-depth(x))


def through(instrument, model):
    @functools.wraps(model)
    def seen(x):
        return instrument(model(x))

    return seen


def blurred(values, kernel=np.array([0.25, 0.5, 0.25])):
    return np.convolve(values, kernel, mode="same")


WAVELENGTH = np.linspace(-2.0, 2.0, 25)
SEEN = 1.0 + 0.5 * np.exp(-(WAVELENGTH**2)) + 0.05 * np.cos(7 * WAVELENGTH)


def loss(p, slope):
    emission = total(
        continuum(p[0], slope, 0.05),
        line(gaussian, p[1], 0.3, p[2]),
        line(lorentzian, 0.8, p[3], 0.2),
    )
    model = through(blurred, absorbed(emission, line(gaussian, -0.6, 0.2, p[4] ** 2)))
    residual = (model(WAVELENGTH) - SEEN) / 0.1
    return 0.5 * np.sum(residual**2)


ARGUMENTS = (np.array([0.9, 0.1, 0.4, 0.25, 0.3]), 0.02)
