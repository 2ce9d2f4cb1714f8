"""A sensor with properties and unit conversions, and its calibration."""

from __future__ import annotations

import numpy as np

KELVIN = 273.15


class Quantity:
    def __init__(self, value, unit):
        self._value = value
        self.unit = unit

    _to_kelvin = {"K": (1.0, 0.0), "C": (1.0, KELVIN), "F": (5 / 9, KELVIN - 160 / 9)}

    @property
    def kelvin(self):
        factor, shift = self._to_kelvin[self.unit]
        return self._value * factor + shift

    def to(self, unit):
        factor, shift = self._to_kelvin[unit]
        return Quantity((self.kelvin - shift) / factor, unit)

    @property
    def value(self):
        return self._value


class Thermistor:
    """Steinhart and Hart's equation."""

    def __init__(self, a, b, c, supply=3.3):
        self.a, self.b, self.c = a, b, c
        self.supply = supply
        self._series = 10.0

    @property
    def series(self):
        return self._series

    @series.setter
    def series(self, kilo_ohm):
        if kilo_ohm <= 0:
            raise ValueError("a resistance is positive")
        self._series = kilo_ohm

    def resistance(self, voltage):
        return self.series * voltage / (self.supply - voltage)

    def temperature(self, voltage):
        log_r = np.log(self.resistance(voltage) * 1000.0)
        return Quantity(1.0 / (self.a + self.b * log_r + self.c * log_r**3), "K")

    @classmethod
    def typical(cls, scale=1.0):
        return cls(1.1e-3 * scale, 2.4e-4, 7.5e-8)

    @staticmethod
    def noise(voltage):
        return 0.5 + 0.1 * voltage


VOLTS = np.array([1.1, 1.4, 1.7, 2.0])
FAHRENHEIT = np.array([95.0, 80.0, 68.0, 55.0])


def loss(p):
    sensor = Thermistor.typical(p[0])
    sensor.series = p[1]
    reading = sensor.temperature(VOLTS).to("F")
    residual = (reading.value - FAHRENHEIT) / Thermistor.noise(VOLTS)
    ambient = Quantity(p[2], "C")
    return np.sum(residual**2) * 1e-3 + (ambient.kelvin - 295.0) ** 2 + ambient.to("F").value


ARGUMENTS = (np.array([1.02, 9.5, 21.0]),)
