"""Views by strides of the program's own, `np.lib.stride_tricks.as_strided`: in one function, in callees, written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from s2sad import grad, jvp
from s2sad.errors import S2SADError, UndefinedDerivativeError
from tests.oracle import numeric_gradient
from tests.sources import function_of
from tests.transform.remaining import check_every_way

X = np.array([0.7, 0.4, 0.9, 1.2, -0.3, 0.1])
WEIGHTS = np.arange(1.0, 9.0).reshape(4, 2)


def windows(x: Any) -> Any:
    v = as_strided(x, (4, 2), (8, 8))
    return np.sum(np.sin(v) * WEIGHTS)


def frames(signal: Any, length: int, step: int) -> Any:
    signal = np.array(signal)
    count = (signal.size - length) // step + 1
    stride = signal.strides[0]
    return as_strided(signal, shape=(count, length), strides=(step * stride, stride))


def energy_of_frames(x: Any) -> Any:
    found = frames(2.0 * x, 4, 2) * np.hanning(6)[1:-1]
    return np.sum(np.sum(found**2, axis=1) ** 1.5)


def repeated(x: Any) -> Any:
    v = as_strided(x, (6, 3), (8, 0))
    return np.sum(v * v * np.arange(18.0).reshape(6, 3))


def patches(x: Any) -> Any:
    a = np.outer(x[:3], x)
    rows, columns = a.strides
    v = as_strided(a, (2, 3, 2, 2), (rows, 2 * columns, rows, columns))
    return np.sum(np.prod(v, axis=(2, 3)))


def of_every_other(x: Any) -> Any:
    a = (x * x)[::2]
    return np.sum(as_strided(a, (2, 2), (a.strides[0], a.strides[0])) ** 2)


def of_what_is_reversed(x: Any) -> Any:
    a = (x * x)[::-1]
    return np.sum(as_strided(a, (3, 2), (2 * a.strides[0], a.strides[0])) * WEIGHTS[:3])


def of_columns(x: Any) -> Any:
    a = np.outer(x, x[:2]).T
    return np.sum(as_strided(a, (2, 2, 2), (*a.strides, a.strides[1])) ** 3)


def complex_windows(x: Any) -> Any:
    v = as_strided(np.exp(1j * x), (4, 3), (16, 16))
    return np.sum(np.abs(np.sum(v * (1.0 + 0.5j), axis=1)) ** 3)


def completed_where_it_is_short(x: Any) -> Any:
    v = as_strided(x * 2.0, (2, 2), (16, 8))
    if len(v[-1]) < 2:
        v[-1] = np.append(v[-1], [0.0])
    return np.sum(v**2)


READ = [windows, energy_of_frames, repeated, patches, of_every_other, of_what_is_reversed, of_columns, complex_windows]


@pytest.mark.parametrize("f", [*READ, completed_where_it_is_short], ids=lambda f: f.__name__)
def test_elements_are_those_of_the_array(f: Callable[..., Any]) -> None:
    check_every_way(f, X)


def test_in_single_precision() -> None:
    def f(x: Any) -> Any:
        return np.sum(as_strided(x, (5, 2), (4, 4)) ** 2 * np.float32(0.5))

    found = grad(f)(X.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, X * [1, 2, 2, 2, 2, 1], rtol=1e-6)


WRITTEN = {
    "view": "v[0] = v[1] * 2.0",
    "view whole": "v *= 2.0",
    "view by weights": "v *= WEIGHTS[: len(v)]",
    "array": "y[0] = y[1] * y[2]",
    "array whole": "y *= x",
}
_TEXT = """
def f(x):
    y = x * 1.5
    v = as_strided(y, {strides})
    {write}
    return np.sum(np.sin(v)) + np.sum(y ** 2)
"""


@pytest.mark.parametrize("strides", ["(4, 2), (8, 8)", "(2, 2), (16, 8)"], ids=["overlapping", "apart"])
@pytest.mark.parametrize("write", WRITTEN)
def test_written_ones_are_right_or_refused(write: str, strides: str) -> None:
    f = function_of(_TEXT.format(strides=strides, write=WRITTEN[write]), {"as_strided": as_strided, "WEIGHTS": WEIGHTS})
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(jvp(f, (X.copy(),), (X,))[1], expected @ X, rtol=1e-6)
    try:
        found = grad(f)(X.copy())
    except S2SADError:
        return
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("strides", [(8, 4), (8, 16)], ids=["between elements", "beyond the array"])
def test_what_is_no_element_of_the_array_is_an_error(strides: tuple[int, int]) -> None:
    memory = X.copy()

    def f(x: Any) -> Any:
        return np.sum(as_strided(x[:3], (2, 3), strides) * 0.5)

    with pytest.raises(UndefinedDerivativeError, match="not an element"):
        grad(f)(memory)
    with pytest.raises(UndefinedDerivativeError, match="not an element"):
        jvp(f, (memory,), (X,))


def test_single_precision() -> None:
    x = X.astype(np.float32)
    found = grad(lambda x: np.sum(as_strided(x, (4, 2), (4, 4)) ** 2 * WEIGHTS))(x)
    expected = np.zeros(6)
    for row in range(4):
        expected[row : row + 2] += 2 * WEIGHTS[row] * X[row : row + 2]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)
