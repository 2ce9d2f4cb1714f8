"""Elements where a function has an infinite derivative, or none, and which the result does not read."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient
from tests.sources import function_of

#: Of an array whose first element is zero.
KERNELS = {
    "root": "np.sqrt(z)",
    "logarithm": "np.log(z)",
    "inverse": "1.0 / z",
    "quotient": "z / z",
    "power": "z**0.5",
    "float power": "np.float_power(z, 0.5)",
    "cube root": "np.cbrt(z)",
    "entropy": "z * np.log(z)",
    "arc sine": "np.arcsin(1.0 - z)",
    "arc cosine": "np.arccos(1.0 - z)",
    "area cosine": "np.arccosh(z + 1.0)",
    "area tangent": "np.arctanh(1.0 - z)",
    "angle of two": "np.arctan2(z * 0.0, z)",
    "angle": "np.angle(z + 0j)",
    "angle in degrees": "np.angle(z + 1j * z * z, deg=True)",
    "modulus": "np.abs(z + 1j * z)",
    "hypotenuse": "np.hypot(z, z)",
}
USES = {
    "slice": "    return np.sum(y[1:] * x[1:])\n",
    "where": "    return np.sum(np.where(z > 0.1, y, x) * x)\n",
    "mask": "    return np.sum(y[z > 0.1] * x[z > 0.1])\n",
    "store": "    y[z <= 0.1] = 1.0\n    return np.sum(y * x)\n",
    "items": "    return y[1] * y[2]\n",
    "range": "    s = 0.0\n    for i in range(1, 3):\n        s = s + y[i] * y[i]\n    return s\n",
    "range of two": "    s = 0.0\n    for i in (1, 2):\n        for k in range(1, i + 1):\n"
    "            s = s + y[i] * y[k]\n    return s\n",
    "branch": "    s = 0.0\n    for i in range(3):\n        if z[i] > 0.1:\n            s = s + y[i]\n    return s\n",
    "while": "    s, i = 0.0, 2\n    while i > 0:\n        s = s + y[i] * x[i]\n        i -= 1\n    return s\n",
    "after": "    s = y[2]\n    for i in range(1, 3):\n        s = s * y[i]\n    return s\n",
    "list": "    return sum([y[i] for i in range(1, 3)])\n",
}
TEXT = "def f(x):\n    z = x - x[0]\n    y = {kernel}\n{use}"
X, WAY = np.array([0.5, 0.9, 1.1]), np.array([1.0, 2.0, 3.0])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_right(kernel: str, use: str) -> None:
    f = function_of(TEXT.format(kernel=KERNELS[kernel], use=USES[use]))
    expected = numeric_gradient(f, (X,))
    assert np.all(np.isfinite(expected))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (X,), (WAY,))[1], expected @ WAY, rtol=1e-6, atol=1e-8)
