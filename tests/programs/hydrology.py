"""A bucket model of a catchment: snow, soil and a unit hydrograph, and the fit of its runoff."""

from __future__ import annotations

import numpy as np

RAIN = np.array([0.0, 12.0, 30.0, 4.0, 0.0, 0.0, 18.0, 6.0, 0.0, 0.0])
TEMPERATURE = np.array([-4.0, -2.0, 1.5, 4.0, 6.0, 5.0, 3.0, 2.0, 4.0, 7.0])
OBSERVED = np.array([1.0, 1.1, 5.0, 7.5, 6.0, 4.2, 5.1, 6.4, 4.9, 3.6])


def saturation_pressure(temperature):
    """Magnus's formula in hPa, for one day or many."""
    scalar = np.isscalar(temperature)
    t = np.atleast_1d(temperature)
    pressure = np.empty_like(t)
    frozen = t < 0.0
    pressure[frozen] = 6.11 * np.exp(22.46 * t[frozen] / (272.6 + t[frozen]))
    pressure[~frozen] = 6.11 * np.exp(17.62 * t[~frozen] / (243.1 + t[~frozen]))
    if scalar:
        return pressure[0]
    return pressure


class Catchment:
    def __init__(self, capacity, shape, degree_day, days=4):
        self.capacity = capacity
        self.shape = shape
        self.degree_day = degree_day
        self.days = days
        self.snow = 0.0
        self.soil = 0.4 * capacity
        self.channel = None

    def melt(self, rain, temperature):
        if temperature < 0.0:
            self.snow += rain
            return 0.0
        melted = min(self.snow, self.degree_day * temperature)
        self.snow -= melted
        return rain + melted

    def route(self, excess):
        weights = np.exp(-np.arange(self.days) / self.shape)
        weights /= weights.sum()
        if self.channel is None:
            self.channel = excess * weights
        else:
            self.channel[:-1] = self.channel[1:]
            self.channel[-1] = 0.0
            self.channel += excess * weights
        return self.channel[0]

    def day(self, rain, temperature, demand):
        water = self.melt(rain, temperature)
        wetness = self.soil / self.capacity
        excess = water * wetness**2
        self.soil += water - excess
        self.soil -= demand * wetness
        return self.route(excess + 0.05 * self.soil)


def loss(p):
    catchment = Catchment(p[0], p[1], p[2])
    warmer = TEMPERATURE + p[3]
    demand = 0.15 * saturation_pressure(warmer) / saturation_pressure(10.0 + p[3])
    total, runoff = None, np.zeros(len(RAIN))
    for k, (rain, temperature) in enumerate(zip(RAIN, warmer)):
        runoff[k] = catchment.day(rain, temperature, demand[k])
        error = (runoff[k] - OBSERVED[k]) / (1.0 + OBSERVED[k])
        if total is None:
            total = error**2
        else:
            total += error**2
    return total / len(RAIN)


ARGUMENTS = (np.array([80.0, 1.7, 2.5, 0.3]),)
