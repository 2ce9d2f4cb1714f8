"""Functions that are refused where some argument carries a derivative, called where it carries none."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient


def rounded(number: Any) -> int:
    return int(decimal.Decimal(number).quantize(decimal.Decimal(1), rounding=decimal.ROUND_HALF_UP))


def frames(signal: Any, length: Any, step: Any) -> Any:
    length, step = rounded(length), rounded(step)
    count = 1 if len(signal) <= length else 1 + int(np.ceil((len(signal) - length) / step))
    padded = np.concatenate((signal, np.zeros((count - 1) * step + length - len(signal))))
    return padded[np.arange(length) + step * np.arange(count)[:, None]]


def framed(x: Any) -> Any:
    return np.sum(frames(x, 2.4, 1.5) ** 2) + np.sum(frames(x, 3.0, 1) ** 3)


def windowed(signal: Any, width: Any, out: Any) -> Any:
    width = rounded(width)
    for i in range(len(signal) - width + 1):
        out[i] = np.sum(signal[i : i + width]) * out[i - 1]
    return out


def written(x: Any) -> Any:
    out = x * 0.5
    windowed(x, 2.2, out)
    return np.sum(windowed(x**2, 1.6, out) * x)


def deeper(signal: Any, seconds: Any, rate: Any) -> Any:
    return frames(signal, seconds * rate, seconds * rate / 2)


def through_another(x: Any, rate: int = 160) -> Any:
    return np.sum(np.sin(deeper(x, 0.025, rate)))


X = np.array([0.3, -0.7, 1.1, 0.4, 0.9])


@pytest.mark.parametrize("f", [framed, written, through_another], ids=lambda f: f.__name__)
def test_where_it_carries_none(f: Callable[[Any], Any]) -> None:
    expected = numeric_gradient(f, (X,), 0)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (X**2,))[1], expected @ X**2, rtol=1e-6, atol=1e-9)


def test_where_it_carries_one() -> None:
    def f(x: Any) -> Any:
        return np.sum(windowed(x, x[2], np.ones(5)))

    with pytest.raises(UnsupportedError, match="quantize"):
        grad(f)(X)
