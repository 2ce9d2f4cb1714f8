"""A posterior: a likelihood class with priors in a dict."""

from __future__ import annotations

import math

import numpy as np


class Prior:
    def logpdf(self, value):
        raise NotImplementedError


class Normal(Prior):
    def __init__(self, mean, sigma):
        self.mean, self.sigma = mean, sigma

    def logpdf(self, value):
        z = (value - self.mean) / self.sigma
        return -0.5 * z * z - math.log(self.sigma) - 0.5 * math.log(2 * math.pi)


class LogNormal(Normal):
    def logpdf(self, value):
        return super().logpdf(math.log(value)) - math.log(value)


class Uniform(Prior):
    def __init__(self, low, high):
        self.low, self.high = low, high

    def logpdf(self, value):
        if self.low <= value <= self.high:
            return -math.log(self.high - self.low)
        return -math.inf


class Posterior:
    names = ("slope", "offset", "scatter")

    def __init__(self, x, y, priors):
        missing = [name for name in self.names if name not in priors]
        if missing:
            raise KeyError(missing)
        self.x, self.y = np.asarray(x), np.asarray(y)
        self.priors = priors

    def unpack(self, theta):
        return dict(zip(self.names, theta))

    def log_prior(self, params):
        return sum(self.priors[name].logpdf(params[name]) for name in self.names)

    def log_likelihood(self, params):
        model = params["slope"] * self.x + params["offset"]
        r = (self.y - model) / params["scatter"]
        return -0.5 * np.sum(r**2) - len(self.x) * np.log(params["scatter"])

    def __call__(self, theta):
        params = self.unpack(theta)
        lp = self.log_prior(params)
        if not np.isfinite(lp):
            return -np.inf
        return lp + self.log_likelihood(params)


POSTERIOR = Posterior(
    [0.0, 1.0, 2.0, 3.0],
    [0.1, 0.9, 2.2, 2.8],
    {"slope": Normal(1.0, 0.5), "offset": Uniform(-1.0, 1.0), "scatter": LogNormal(-1.0, 0.7)},
)


def loss(theta):
    return -POSTERIOR(theta)


ARGUMENTS = (np.array([0.8, 0.1, 0.4]),)
