"""Complex numbers between real ones: adjoints of real values are real, those of complex values are complex."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad, vjp
from s2sad.errors import UndefinedDerivativeError
from tests.language.support import case, check_gradient
from tests.oracle import numeric_gradient, richardson_jvp


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


# --- real values, and real arguments, on the other side of complex numbers


def real_written_into_complex(x: Any) -> Any:
    """The adjoint of a real value that is written into a complex array is real."""
    z = x * 0.3j
    z[0] = x.mean() + 0.3j
    z[1] += x[0]
    return np.mean(z.real * z.imag) + np.sum(z.real**2)


def test_a_real_value_that_is_written_into_a_complex_array() -> None:
    x, f = np.array([0.3, 0.4, 0.5, 0.6, 0.7]), real_written_into_complex
    value, gradient = value_and_grad(f)(x)
    assert value == f(x.copy())
    np.testing.assert_allclose(gradient, numeric_gradient(lambda a: f(a.copy()), (x,), 0), rtol=1e-7, atol=1e-9)


def _imaginary(b: Any, fuel: int = 2) -> Any:
    if fuel <= 0:
        return np.sum(b) * 0.3
    z = b + 0.4j
    return _imaginary(b + np.imag(z * z), fuel - 1)


def through_complex_numbers_in_a_callee(x: Any) -> Any:
    y = x * 1.0
    y[1] = np.sin(_imaginary(y))
    return np.sum(y * y)


def through_complex_numbers_in_a_loop(x: Any) -> Any:
    y, u = x * 1.0, x * 0.5
    for k in range(3):
        if k != 1:
            z = u + 0.4j
            u = u + np.imag(z * z)
        y[0] = y[1] + u[2]
    return np.sum(y * u)


def through_a_complex_array_that_is_written(x: Any) -> Any:
    s = x[1:]
    chosen = np.sum(s[s > 0.6])
    z = s + 0.4j
    z *= 0.5
    return np.sum(z.real) + chosen


@pytest.mark.parametrize(
    "f",
    [
        through_complex_numbers_in_a_callee,
        through_complex_numbers_in_a_loop,
        through_a_complex_array_that_is_written,
    ],
)
def test_what_a_real_value_gets_back_is_real(f: Any) -> None:
    x = np.array([0.3, 0.5, 0.7])
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,), 0), rtol=1e-8)


def complex_from_a_written_array_in_a_list(x: Any) -> Any:
    x[0] = x[1] * x[2]
    held = [x, x, x]
    z = held[2] * 1j + 0.2
    z[0] = 1.0 + 0.3j
    return np.sum(np.abs(z)) + np.sum(held[1])


def complex_on_the_way_to_a_real_argument(x: Any) -> Any:
    out = np.mean(np.full(3, 0.7) * x, axis=0, keepdims=True)
    return np.mean(x) - np.mean(np.abs(out * 0.3j)) + np.sum(x)


def test_an_adjoint_is_complex_on_the_way_to_a_real_argument() -> None:
    x = np.array([0.3, 0.5, 0.7])
    f = complex_on_the_way_to_a_real_argument
    gradient = grad(f)(x)
    assert gradient.dtype == float
    np.testing.assert_allclose(gradient, numeric_gradient(f, (x,), 0), rtol=1e-8)


def test_what_an_item_gets_back_is_real() -> None:
    x = np.array([0.3, 0.5, 0.7])
    f = complex_from_a_written_array_in_a_list
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(lambda x: f(x.copy()), (x,), 0), rtol=1e-8)


def _number_and_array(t: Any, fuel: int = 2) -> Any:
    if fuel:
        return (3, np.full((3, 4), 0.7) * t)
    return None


def imaginary_of_a_result(x: Any) -> Any:
    _, p = _number_and_array(x, fuel=1)
    z = p[0:1]
    return np.imag(z * (1.0 + 2j * z))[0, 2]


def test_what_a_result_of_several_gets_back_is_real() -> None:
    assert grad(imaginary_of_a_result)(0.4) == pytest.approx(numeric_gradient(imaginary_of_a_result, (0.4,), 0))


def _part_and_whole(m: Any, v: Any) -> Any:
    t = v[0] * m[0]
    return np.real(np.sum(m) + np.sum(t[:1]))


def _of_a_callee(m: Any, v: Any) -> Any:
    return np.exp(0.1 * _part_and_whole(m, v))


@pytest.mark.parametrize("f", [_part_and_whole, _of_a_callee])
def test_a_real_adjoint_of_what_may_be_complex_is_copied_as_complex(f: Any) -> None:
    """Nothing says of either that it is real: a copy of the one need not hold the other."""
    rng = np.random.default_rng(0)
    m, v = rng.normal(size=(3, 3)) + 1j, rng.normal(size=3) + 1j
    expected = numeric_gradient(f, (m, v))
    np.testing.assert_allclose(grad(f)(m, v), expected, rtol=1e-8)
    np.testing.assert_allclose(vjp(f, m, v)[1](2.0)[0], 2.0 * expected, rtol=1e-8)


def norms_in_a_loop(x: Any) -> Any:
    y, u = x * 1.0, x * 0.5
    for k in range(3):
        if k != 1:
            z = u + 0.4j
            u = u + np.linalg.norm(np.outer(z, z), axis=0)
        y[0] = y[1] + u[2]
    return np.sum(y * u)


@pytest.mark.filterwarnings("error")
def test_the_adjoint_of_what_is_real_as_it_turns_out_is_copied_without_its_imaginary_part_and_a_warning() -> None:
    x = np.array([0.3, 0.5, 0.7])
    np.testing.assert_allclose(grad(norms_in_a_loop)(x), numeric_gradient(norms_in_a_loop, (x,)), rtol=1e-8)


@pytest.mark.parametrize(
    "part", [np.sign, complex, cmath.sqrt, cmath.exp, lambda u: cmath.rect(u, u), lambda u: cmath.log(u + 2.0)]
)
def test_the_adjoint_of_an_item_is_real_though_the_operation_has_complex_ones(part: Callable[[Any], Any]) -> None:
    """Of a part of what `atleast_2d` returns nothing says that it is real."""

    def f(x: Any) -> Any:
        u = np.atleast_2d(x)[0, 1, ...]
        return np.sum(abs(part(u) + 0.3j) * u + np.sum(x))

    x = np.array([[0.3, 0.6], [1.2, 0.7]])
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-7)


def a_number(x: Any) -> Any:
    return float(x[0]) * x


def a_sum_of_numbers(x: Any) -> Any:
    total = 0.0
    for v in x:
        total = total + float(v)
    return total * x


def an_item(x: Any) -> Any:
    named = {}
    for i in range(2):
        named[str(i)] = x[i]
    return float(named["1"]) * x


def mapped(x: Any) -> Any:
    return sum(map(float, x)) * x


def an_array_in_full(x: Any) -> Any:
    return math.fsum(x) * x


def a_list_in_full(x: Any) -> Any:
    return math.fsum([x[0], x[1]]) * x


def a_distance(x: Any) -> Any:
    return math.dist(x, [0.0, 1.0]) * x


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(
    "f", [a_number, a_sum_of_numbers, an_item, mapped, an_array_in_full, a_list_in_full, a_distance]
)
def test_what_leaves_out_the_imaginary_parts_of_numbers_of_numpy_is_refused(f: Callable[..., Any]) -> None:
    """NumPy's complex numbers become real ones with a warning; the adjoint must not go to the imaginary parts."""
    z = np.array([0.5 + 1.0j, 1.5 - 0.5j])
    with pytest.raises(UndefinedDerivativeError, match=r"for real numbers alone.*\n[^\n]*\n.*\nTake the real part"):
        vjp(f, z)[1](z)
    _, pullback = vjp(f, z.real)
    np.testing.assert_allclose(pullback(np.ones(2))[0], numeric_gradient(lambda x: np.sum(f(x)), [z.real]), rtol=1e-8)


def test_the_adjoint_of_a_real_part_that_is_written_later_is_real() -> None:
    """The adjoint of the number that is returned may come as an array without axes."""

    def f(z: Any) -> Any:
        a = np.array(z)
        part = a.real
        a[0] = a[1] * 0.3
        return np.real(np.sum(part * np.sum(a))), part

    z, way = np.array([0.5 + 1.0j, 1.5 - 0.5j]), np.array([0.3 - 0.2j, 0.7 + 0.4j])
    seeds = 0.7, np.array([1.2, -0.4])
    _, pullback = vjp(f, z)
    expected = sum(np.sum(s * d) for s, d in zip(seeds, richardson_jvp(f, (z,), (way,)), strict=True))
    np.testing.assert_allclose(np.sum(pullback(seeds)[0] * way).real, expected, rtol=1e-8)
