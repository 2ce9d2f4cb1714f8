"""Greeks of options: closed form, binomial tree and Monte Carlo behind one interface."""

from __future__ import annotations

from dataclasses import dataclass
from math import erf, exp, log, sqrt

import numpy as np


def norm_cdf(x):
    return 0.5 * (1.0 + erf(x / sqrt(2.0)))


@dataclass(frozen=True)
class Market:
    spot: float
    rate: float
    volatility: float

    def forward(self, maturity):
        return self.spot * exp(self.rate * maturity)


@dataclass(frozen=True)
class Option:
    strike: float
    maturity: float
    kind: str = "call"

    def payoff(self, s):
        if self.kind == "call":
            return np.maximum(s - self.strike, 0.0)
        elif self.kind == "put":
            return np.maximum(self.strike - s, 0.0)
        raise ValueError(f"unknown kind {self.kind!r}")


class BlackScholes:
    def __init__(self, market):
        self.market = market

    def _d(self, option):
        m = self.market
        total = m.volatility * sqrt(option.maturity)
        d1 = (log(m.spot / option.strike) + (m.rate + 0.5 * m.volatility**2) * option.maturity) / total
        return d1, d1 - total

    def price(self, option):
        d1, d2 = self._d(option)
        discount = exp(-self.market.rate * option.maturity)
        if option.kind == "call":
            return self.market.spot * norm_cdf(d1) - option.strike * discount * norm_cdf(d2)
        return option.strike * discount * norm_cdf(-d2) - self.market.spot * norm_cdf(-d1)


class BinomialTree:
    def __init__(self, market, steps=20):
        self.market = market
        self.steps = steps

    def price(self, option, american=False):
        m, n = self.market, self.steps
        dt = option.maturity / n
        up = exp(m.volatility * sqrt(dt))
        p = (exp(m.rate * dt) - 1.0 / up) / (up - 1.0 / up)
        s = m.spot * up ** np.arange(n, -n - 1, -2)
        v = option.payoff(s)
        for _ in range(n):
            s = s[:-1] / up
            v = exp(-m.rate * dt) * (p * v[:-1] + (1.0 - p) * v[1:])
            if american:
                v = np.maximum(v, option.payoff(s))
        return v[0]


class MonteCarlo:
    def __init__(self, market, draws):
        self.market, self.draws = market, draws

    def price(self, option):
        m = self.market
        drift = (m.rate - 0.5 * m.volatility**2) * option.maturity
        end = m.spot * np.exp(drift + m.volatility * sqrt(option.maturity) * self.draws)
        return exp(-m.rate * option.maturity) * np.mean(option.payoff(end))


DRAWS = np.random.default_rng(7).normal(size=50)
BOOK = [(2.0, Option(95.0, 0.5)), (-1.0, Option(105.0, 1.0, "put"))]


def loss(spot, rate, volatility):
    market = Market(spot, rate, volatility)
    total = 0.0
    for amount, option in BOOK:
        for model in (BlackScholes(market), BinomialTree(market, 12), MonteCarlo(market, DRAWS)):
            total += amount * model.price(option)
    return total + BinomialTree(market).price(Option(100.0, 0.7, "put"), american=True)


# Beside the strikes, where the price of the tree has kinks.
ARGUMENTS = (101.3, 0.03, 0.2)
STEP = 1e-4
