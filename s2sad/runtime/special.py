"""Special functions that partial derivatives need and neither NumPy nor ``math`` has."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# B(2k) for k = 1, 2, ...
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def polygamma(n: int, x: float) -> float:
    """Return derivative ``n`` of the digamma function at the real number ``x``.

    The recurrence moves ``x`` up to where the asymptotic series is exact to
    rounding (Abramowitz and Stegun 6.4.6 and 6.4.11).  At a pole it raises
    `ZeroDivisionError`.

    >>> round(polygamma(0, 1.0), 12)
    -0.577215664902
    """
    sign = -1.0 if n % 2 == 0 else 1.0
    factorial = math.factorial(n)
    total = 0.0
    while x < 16 + n:
        total += factorial / x ** (n + 1)
        x += 1
    if n == 0:
        series = -math.log(x) + 0.5 / x
    else:
        series = math.factorial(n - 1) / x**n + factorial / (2 * x ** (n + 1))
    for k, b in enumerate(_BERNOULLI, start=1):
        series += b * math.factorial(2 * k + n - 1) / (math.factorial(2 * k) * x ** (2 * k + n))
    return sign * (total + series)


def sinc_derivative(x: Any, n: int) -> Any:
    """Return derivative ``n`` of ``np.sinc`` at each element of ``x``.

    Near 0 it sums the power series of sin(pi x) / (pi x); elsewhere it uses the
    recurrence that follows from differentiating pi x sinc(x) = sin(pi x) ``n``
    times: x s(n) + n s(n-1) = pi^(n-1) sin(pi x + n pi / 2).

    >>> float(sinc_derivative(np.array(0.0), 1))
    0.0
    """
    near = np.abs(x) < 1 + 0.5 * n
    u = np.where(near, x, 0)
    series = 0 * u
    for k in range(n // 2 + 30 + 2 * n, (n + 1) // 2 - 1, -1):
        falling = math.factorial(2 * k) // math.factorial(2 * k - n)
        series = series + (-1) ** k * (math.pi ** (2 * k) * falling / math.factorial(2 * k + 1)) * u ** (2 * k - n)
    far = np.where(near, 1, x)
    s = np.sinc(far)
    for i in range(1, n + 1):
        s = (math.pi ** (i - 1) * np.sin(math.pi * far + i * math.pi / 2) - i * s) / far
    return np.where(near, series, s)


def bessel_i1(x: Any) -> Any:
    """Return the modified Bessel function of the first kind of order one, the derivative of ``np.i0``.

    Up to 30 by its power series, whose terms have one sign, beyond by the asymptotic one
    (Abramowitz and Stegun 9.6.10 and 9.7.1).

    >>> round(float(bessel_i1(1.0)), 12)
    0.565159103992
    """
    size = np.abs(x)
    near = size <= 30
    half = np.where(near, size, 0) / 2
    term = half
    total = half
    for k in range(1, 75):
        term = term * half**2 / (k * (k + 1))
        total = total + term
    far = np.where(near, 31, size)
    part: Any = 1.0
    series = np.ones_like(far)
    for k in range(1, 25):
        part = part * ((2 * k - 1) ** 2 - 4) / (8 * k * far)
        series = series + part
    large = np.exp(far) / np.sqrt(2 * math.pi * far) * series
    return np.sign(x) * np.where(near, total, large)


def kaiser_slope(z: Any, beta: Any) -> Any:
    """Return the derivative of ``z = np.kaiser(len(z), beta)`` by ``beta``.

    >>> kaiser_slope(np.kaiser(3, 2.0), 2.0).round(6)
    array([-0.306097,  0.      , -0.306097])
    """
    n = len(z)
    if n < 2:
        return np.zeros(n)
    middle = (n - 1) / 2
    part = np.sqrt(1 - ((np.arange(n) - middle) / middle) ** 2)
    return (part * bessel_i1(beta * part) - z * bessel_i1(beta)) / np.i0(beta)
