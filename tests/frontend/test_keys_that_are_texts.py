"""Texts that say what is differentiated, as keys of dicts: they carry no derivative when they are read again."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient
from tests.random_objects import load

X = np.array([0.5, 1.2, -0.7])
#: What is done with a dict, and whether a key is read as a number.
USES = {
    "d = {f'{x[0]:.3f}': 1.0}\nfor t in d:\n    y = y * float(t)": True,
    "d = {}\nd[f'{x[0]:.3f}'] = 1.0\nfor t, v in d.items():\n    y = y * float(t) * v": True,
    "d = {f'{x[0]:.3f}': x[1]}\nt = list(d)[0]\ny = float(t) * d[t]": True,
    "d = {f'{v:.3f}': v for v in x}\ny = sum(float(t) * v for t, v in d.items())": True,
    "d = {f'{i}{x.shape}': x[i] for i in range(3)}\nfor t in d:\n    y = y + d[t] * t.count('0')": False,
    "print(f'{x}')\ny = y * len([f'{v}' for v in x])": False,
}


@pytest.mark.parametrize("number", range(len(USES)))
def test_right_or_refused(number: int) -> None:
    use, is_read = list(USES.items())[number]
    body = textwrap.indent(f"y = x[1]\n{use}\nreturn y * x[0]", "    ")
    f = load(f"texts_as_keys_{number}", f"def f(x):\n{body}\n")["f"]
    if not is_read:
        expected = numeric_gradient(f, (X,))
        np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-7)
        np.testing.assert_allclose(jvp(f, (X,), (X,))[1], expected @ X, rtol=1e-7)
        return
    for derivative in (grad(f), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(UnsupportedError):
            derivative(X)
