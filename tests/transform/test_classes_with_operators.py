"""Quantities with units and polynomials: classes with operators over dicts and lists whose lengths change."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import value_and_grad
from tests.oracle import numeric_gradient
from tests.transform.remaining import check_both_modes

X = np.array([0.8, 1.3, 0.6, 1.7, 0.4])
WAY = np.array([0.3, -0.7, 0.2, 0.5, -0.1])


class Quantity:
    __slots__ = ("dims", "value")

    def __init__(self, value, **dims):
        self.value = value
        self.dims = {k: v for k, v in dims.items() if v}

    def _check(self, other):
        if self.dims != other.dims:
            raise TypeError(f"{self.dims} and {other.dims}")

    def __add__(self, other):
        self._check(other)
        return Quantity(self.value + other.value, **self.dims)

    def __mul__(self, other):
        if not isinstance(other, Quantity):
            return Quantity(self.value * other, **self.dims)
        dims = dict(self.dims)
        for k, v in other.dims.items():
            dims[k] = dims.get(k, 0) + v
        return Quantity(self.value * other.value, **dims)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self * other**-1 if isinstance(other, Quantity) else Quantity(self.value / other, **self.dims)

    def __pow__(self, n):
        return Quantity(self.value**n, **{k: v * n for k, v in self.dims.items()})


metres = functools.partial(Quantity, m=1)
seconds = functools.partial(Quantity, s=1)
kilograms = functools.partial(Quantity, kg=1)


def energy(x):
    mass, d, t = kilograms(x[0]), metres(x[1]), seconds(x[2])
    total = 0.5 * mass * (d / t) ** 2 + mass * Quantity(9.81, m=1, s=-2) * metres(x[3])
    assert total.dims == {"kg": 1, "m": 2, "s": -2}
    return total.value


class Scaled:
    def __init__(self, v, by=1.0):
        self.v, self.by = v, by

    def value(self):
        return self.v * self.by


class Poly:
    def __init__(self, *c):
        self.c = list(c)

    def __call__(self, t):
        r = 0
        for a in reversed(self.c):
            r = r * t + a
        return r

    def __add__(self, other):
        if not isinstance(other, Poly):
            other = Poly(other)
        return Poly(*[a + b for a, b in itertools.zip_longest(self.c, other.c, fillvalue=0)])

    def __mul__(self, other):
        if not isinstance(other, Poly):
            return Poly(*[other * a for a in self.c])
        c = [0] * (len(self.c) + len(other.c) - 1)
        for i, a in enumerate(self.c):
            for j, b in enumerate(other.c):
                c[i + j] += a * b
        return Poly(*c)

    __rmul__ = __mul__

    def deriv(self):
        return Poly(*[k * a for k, a in enumerate(self.c)][1:] or [0])

    def __neg__(self):
        return -1 * self

    def __sub__(self, other):
        return self + -other

    def __pow__(self, n):
        return functools.reduce(lambda p, _: p * self, range(n), Poly(1))

    def __iter__(self):
        return iter(self.c)

    def __len__(self):
        return len(self.c)

    def __getitem__(self, k):
        return self.c[k]


def roots(x):
    p, q = Poly(x[0], x[1], x[2]), Poly(0, 1) * x[3] - Poly(x[4])
    r = (p * q + 3) ** 2 + p.deriv() * 2
    t = x[0]
    for _ in range(4):
        t = t - 0.1 * r(t) / (1 + r.deriv()(t) ** 2)
    return t + sum(c * c for c in r) / len(r) + r[1]


def lists_of_unknown_lengths(x):
    a = [x[i] * i for i in range(int(abs(x[0]) * 4))]
    c = [u * 2 + v for u, v in itertools.zip_longest(a, list(x[:2]), fillvalue=1.0)]
    d = [u - v for u, v in itertools.zip_longest(list(x[:2]), a) if v is not None and u is not None]
    return sum(c) * c[0] + sum(d)


def compared(x):
    a, b = [x[0], 1.0], [x[0], 1.0]
    kept = {"p": a, "q": [x[1]]}
    other = {"q": kept["q"], "p": b}
    scale = 3.0 if kept == other and [1, 2] != [1, 3] and {1: 2} == {1: 2.0} and [x[0]] != [] else 2.0
    return scale * np.sum(x**2)


class Series:
    """A polynomial of as many coefficients as it is given."""

    def __init__(self, *c):
        self.c = list(c)

    def __call__(self, t):
        return functools.reduce(lambda acc, ci: acc * t + ci, reversed(self.c), 0.0)

    def __mul__(self, other):
        if not isinstance(other, Series):
            return Series(*(other * u for u in self.c))
        out = [0.0] * (len(self.c) + len(other.c) - 1)
        for i, u in enumerate(self.c):
            for j, v in enumerate(other.c):
                out[i + j] += u * v
        return Series(*out)

    __rmul__ = __mul__

    def integral(self, constant=0.0):
        return Series(constant, *[u / (i + 1) for i, u in enumerate(self.c)])


def made_of_an_array(x: Any) -> Any:
    p = Series(*x[:3])
    q = (2.0 * p * p).integral(1.0)
    return q(x[3]) - q(0.0) + sum(q.c) * p(x[4])


@pytest.mark.parametrize("f", [energy, roots, lists_of_unknown_lengths, compared, made_of_an_array])
def test_classes_with_operators(f: Callable[..., Any]) -> None:
    check_both_modes(f, X, WAY)


def test_named_arguments_of_a_partial_function_that_change() -> None:
    changing = functools.partial(Poly, 1.0)
    scaled = functools.partial(Scaled, by=2.0)

    def f(x):
        return scaled(x[0]).value() * changing(x[1])(x[2])

    def closed(x, by):
        return by * x[0] * (1.0 + x[1] * x[2])

    check_both_modes(f, X, WAY)
    scaled.keywords["by"] = 3.0
    value, gradient = value_and_grad(f)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, numeric_gradient(lambda x: closed(x, 3.0), [X]), rtol=1e-7, atol=1e-9)
