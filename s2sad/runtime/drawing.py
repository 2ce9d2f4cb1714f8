"""Numbers drawn by a random generator from distributions whose parameters are given."""

from __future__ import annotations

from typing import Any


def normal(generator: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """``generator.normal(loc, scale, size)``"""
    return generator.normal(loc, scale, size)


def laplace(generator: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """``generator.laplace(loc, scale, size)``"""
    return generator.laplace(loc, scale, size)


def logistic(generator: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """``generator.logistic(loc, scale, size)``"""
    return generator.logistic(loc, scale, size)


def gumbel(generator: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """``generator.gumbel(loc, scale, size)``"""
    return generator.gumbel(loc, scale, size)


def uniform(generator: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    """``generator.uniform(low, high, size)``"""
    # A generator of Python's draws one number, and takes no size.
    return generator.uniform(low, high) if size is None else generator.uniform(low, high, size)


def exponential(generator: Any, scale: Any = 1.0, size: Any = None) -> Any:
    """``generator.exponential(scale, size)``"""
    return generator.exponential(scale, size)


def rayleigh(generator: Any, scale: Any = 1.0, size: Any = None) -> Any:
    """``generator.rayleigh(scale, size)``"""
    return generator.rayleigh(scale, size)


def lognormal(generator: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
    """``generator.lognormal(mean, sigma, size)``"""
    return generator.lognormal(mean, sigma, size)


def weibull(generator: Any, a: Any, size: Any = None) -> Any:
    """``generator.weibull(a, size)``"""
    return generator.weibull(a, size)


def pareto(generator: Any, a: Any, size: Any = None) -> Any:
    """``generator.pareto(a, size)``"""
    return generator.pareto(a, size)


def power(generator: Any, a: Any, size: Any = None) -> Any:
    """``generator.power(a, size)``"""
    return generator.power(a, size)
