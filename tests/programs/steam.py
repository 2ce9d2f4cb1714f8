"""Properties of steam by regions, with range checks that raise."""

from __future__ import annotations

import math


class OutOfRange(ValueError):
    pass


def check_range(name, value, low, high):
    if not low <= value <= high:
        raise OutOfRange(f"{name} = {value} is not in [{low}, {high}]")
    return value


COEFFICIENTS = {
    "liquid": [(0, -2, 0.146), (0, 1, -3.75), (1, 0, 0.06), (1, 3, -0.02), (2, -1, 0.004)],
    "vapour": [(0, 0, -0.0177), (0, 1, -0.0459), (1, 2, -0.0575), (2, 1, 0.0013)],
}


class Region:
    def __init__(self, name, p_star, t_star, shift=(0.0, 0.0)):
        self.name = name
        self.p_star, self.t_star = p_star, t_star
        self.shift = shift
        self.terms = COEFFICIENTS[name]

    def reduced(self, p, t):
        return p / self.p_star - self.shift[0], self.t_star / t - self.shift[1]

    def gibbs(self, p, t):
        pi, tau = self.reduced(p, t)
        total = 0.0
        for i, j, n in self.terms:
            total += n * pi**i * tau**j
        if self.name == "vapour":
            total += math.log(pi)
        return total

    def volume(self, p, t):
        h = 1e-4
        return (self.gibbs(p + h, t) - self.gibbs(p - h, t)) / (2 * h) * t * 0.461526

    def enthalpy(self, p, t):
        pi, tau = self.reduced(p, t)
        slope = 0.0
        for i, j, n in self.terms:
            if j != 0:
                slope += n * j * pi**i * tau ** (j - 1)
        return self.t_star * 0.461526 * slope


LIQUID = Region("liquid", 16.53, 1386.0, shift=(-7.1, 1.222))
VAPOUR = Region("vapour", 1.0, 540.0)


def saturation_pressure(t):
    check_range("temperature", t, 273.15, 647.096)
    theta = t / 647.096
    return 22.064 * math.exp((-7.86 * (1 - theta) + 1.84 * (1 - theta) ** 1.5) / theta)


def region_of(p, t):
    check_range("pressure", p, 0.0, 100.0)
    if t > 647.096 or p < saturation_pressure(t):
        return VAPOUR
    return LIQUID


def properties(p, t):
    region = region_of(p, t)
    return {"region": region.name, "v": region.volume(p, t), "h": region.enthalpy(p, t)}


def turbine_work(p_in, t_in, p_out, efficiency=0.85):
    inlet = properties(p_in, t_in)
    t_out = t_in * (p_out / p_in) ** 0.25
    outlet = properties(p_out, t_out)
    ideal = inlet["h"] - outlet["h"]
    return efficiency * ideal + 10.0 * inlet["v"]


def loss(p, t):
    return turbine_work(p, t, 0.05) + 0.01 * properties(20.0, 0.6 * t)["h"]


ARGUMENTS = (0.5, 700.0)
