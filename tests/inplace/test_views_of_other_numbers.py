"""Views of an array as numbers of another dtype: parts of complex numbers, bytes, halves. They are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from s2sad.errors import UndefinedDerivativeError

X = 0.5


def parts_of_a_complex_array(x: Any) -> Any:
    z = np.array([x, x * x], dtype=complex)
    parts = z.view(float)
    parts[1] = 2.0 * x
    return np.sum(z.imag) + np.sum(z.real)


def pairs_as_complex_numbers(x: Any) -> Any:
    return np.sum(np.array([x, x * x]).view(complex)).real


def bytes_of_numbers(x: Any) -> Any:
    a = np.array([x, x * x])
    a.view("u1")[7] = 64
    return np.sum(a)


def halves_of_numbers(x: Any) -> Any:
    return np.sum(np.array([x, x * x]).view("f4")[1::2])


@pytest.mark.parametrize("f", [parts_of_a_complex_array, pairs_as_complex_numbers, bytes_of_numbers, halves_of_numbers])
def test_view_of_other_numbers(f: Callable[..., Any]) -> None:
    for derivative in (lambda: value_and_grad(f)(X), lambda: jvp(f, (X,), (1.0,))):
        with pytest.raises(UndefinedDerivativeError, match="a view of numbers of dtype"):
            derivative()
