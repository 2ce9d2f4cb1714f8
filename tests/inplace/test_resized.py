"""Arrays that change their size in place are refused, and what is said to do instead is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient

X = np.array([0.7, -1.2, 1.9, 0.4])


def in_place(x: Any) -> Any:
    a = x * x
    a.resize((2, 2), refcheck=False)
    return np.sum(a[0] * a[1])


def grown(x: Any) -> Any:
    a = x * x
    a.resize(6, refcheck=False)
    return np.sum(a[1:] * a[:-1])


def in_place_instead(x: Any) -> Any:
    a = x * x
    a = np.resize(a, (2, 2))
    return np.sum(a[0] * a[1])


def grown_instead(x: Any) -> Any:
    a = x * x
    a = np.append(a, np.zeros(2))
    return np.sum(a[1:] * a[:-1])


@pytest.mark.parametrize(("f", "instead"), [(in_place, in_place_instead), (grown, grown_instead)])
def test_resize(f: Any, instead: Any) -> None:
    with pytest.raises(UnsupportedError, match=r"a\.resize\(\.\.\.\) changes the size of an array") as caught:
        grad(f)(X)
    assert "Write a = np.resize(a, shape), or np.append(a, np.zeros(n))" in str(caught.value)
    np.testing.assert_allclose(instead(X), f(X))
    np.testing.assert_allclose(grad(instead)(X), numeric_gradient(f, (X,)), rtol=1e-6)
