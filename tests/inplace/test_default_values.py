"""Results that may be a default value, where the caller writes them: nothing writes into numbers, texts and dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import jvp
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient
from tests.sources import function_of


class Settings:
    buffer = np.ones(3)


@pytest.mark.parametrize("default", ["np.float64", "float", "np.dtype(float)", "'d'", "None"])
def test_dtypes(default: str) -> None:
    f = function_of(f"""
        def vector(v, dtype={default}):
            if v.dtype.kind == "O":
                dtype = "O"
            return v.astype(dtype)

        def f(x):
            q = vector(x)
            q /= np.linalg.norm(q)
            q[1:] *= q[0]
            return np.sum(q * np.arange(3.0))
    """)
    x = np.array([0.4, 0.7, 1.1])
    np.testing.assert_allclose(jvp(f, (x,), (np.cos(x),))[1], numeric_gradient(f, (x,)) @ np.cos(x), rtol=1e-7)


@pytest.mark.parametrize("default", ["Settings", "Settings.buffer", "[Settings.buffer]"])
def test_what_default_values_lead_to(default: str) -> None:
    part: Any = {"Settings": "held.buffer", "Settings.buffer": "held"}.get(default, "held[0]")
    f = function_of(
        f"""
        def buffer(v, held={default}):
            return {part}

        def f(x):
            q = buffer(x)
            q[0] = x[0]
            return np.sum(q * x)
        """,
        {"Settings": Settings},
    )
    with pytest.raises(S2SADError):
        jvp(f, (np.array([0.4, 0.7, 1.1]),), (np.ones(3),))
