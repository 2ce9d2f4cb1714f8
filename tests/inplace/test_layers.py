"""Layers of an array that is written: views, but of an array with one axis they are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient


def read_after(x: Any) -> Any:
    a = x * 1.5
    first = np.unstack(a)[0]
    a[0] = a[1] * a[2]
    return np.sum(first * a)


def unpacked(x: Any) -> Any:
    a = x * 1.5
    first, _, last = np.unstack(a)
    a[0] = last * a[1]
    return np.sum(first * a[0])


def of_the_last_axis(x: Any) -> Any:
    a = x * 1.5
    layers = np.unstack(a, axis=-1)
    a[..., 0] = layers[1] * a[..., 2]
    return np.sum(layers[0] * layers[2])


@pytest.mark.skipif(not hasattr(np, "unstack"), reason="new in NumPy 2.1")
@pytest.mark.parametrize("f", [read_after, unpacked, of_the_last_axis])
@pytest.mark.parametrize("shape", [(3,), (3, 3)])
def test_layers(f: Any, shape: tuple[int, ...]) -> None:
    x = np.cos(np.arange(np.prod(shape))).reshape(shape)
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-7)
