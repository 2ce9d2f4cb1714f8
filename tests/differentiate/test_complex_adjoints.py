"""Complex numbers between real ones: adjoints of real values are real, those of complex values are complex."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UndefinedDerivativeError
from tests.language.support import case, check_gradient
from tests.oracle import numeric_gradient


def _stacked(z: Any) -> Any:
    return np.sum(np.abs(np.vstack([z, 2 * z]) * np.array([1j, 2.0])) ** 2)


def _in_columns(z: Any) -> Any:
    return np.abs(np.vdot(np.column_stack([z, z * 1j]), np.column_stack([z, z]))) ** 2


@pytest.mark.parametrize("f", [_stacked, _in_columns])
def test_a_list_of_complex_arrays_is_not_real(f: Callable[..., Any]) -> None:
    z = np.array([1.0 + 2.0j, 0.5 - 1.0j])
    np.testing.assert_allclose(grad(f)(z), numeric_gradient(f, (z,), 0), rtol=1e-6)


X = np.array([0.7, 1.3, 0.4])


def sum_from_a_complex_number(x: Any) -> Any:
    q = sum([x, 2.0 * x], 1j)
    return abs(q * q * x)


def root(x: Any) -> Any:
    return abs(x**0.5 + 1.0)


@pytest.mark.parametrize("f", [sum_from_a_complex_number, root], ids=lambda f: f.__name__)
def test_gradient(f: Callable[[Any], Any]) -> None:
    check_gradient(case(f, 0.7))


def power_of_two(x: Any, y: Any) -> Any:
    return abs(x**y)


def test_a_power_that_turns_complex_is_refused() -> None:
    with pytest.raises(UndefinedDerivativeError, match=r":\d+:\d+: error: .* is complex here"):
        grad(root)(-2.0)
    with pytest.raises(UndefinedDerivativeError, match="is complex here"):
        grad(power_of_two, (0, 1))(-2.0, 1.5)
    with pytest.raises(UndefinedDerivativeError, match="is complex here"):
        grad(lambda x: abs(pow(x, 0.5)))(-2.0)
    assert grad(root)(-2.0 + 0j).real == pytest.approx(-0.28867513459, rel=1e-8)


def oscillating(x: float) -> Any:
    return abs(np.exp(1j * x) + x)


def complex_power(x: Any) -> Any:
    return np.sum(np.abs((x + 1j) ** (2 + 1j)))


@pytest.mark.parametrize(("f", "x"), [(oscillating, 0.3), (complex_power, X)])
def test_texts_give_real_gradients_of_real_arguments(f: Callable[[Any], Any], x: Any) -> None:
    for text in (grad(f).source, grad(f).source_for(x)):
        space: dict[str, Any] = {}
        exec(text, space)
        gradient = space[f"{f.__name__}_grad_x"](x)
        assert not np.iscomplexobj(gradient)
        np.testing.assert_allclose(gradient, grad(f)(x), rtol=1e-13)
