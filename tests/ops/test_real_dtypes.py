"""Complex numbers that are converted to real ones: by ``astype``, and by the dtype in which a function computes.

The imaginary part is dropped, with a warning, and gets no adjoint.  So do values that an array of integers takes in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient

Z = np.array([0.7 + 0.2j, 0.1 + 0.5j, 0.3 - 0.1j])
WAY = np.array([0.3 - 0.4j, 1.0 + 0.2j, 0.5j])

CONVERTED: dict[str, Callable[[Any], Any]] = {
    "astype": lambda z: z.astype(float),
    "single": lambda z: z.astype(np.float32).astype(float),
    "asarray": lambda z: np.asarray(z, dtype=float),
    "array": lambda z: np.array([z, z], float)[1],
    "contiguous": lambda z: np.ascontiguousarray(z, "f8"),
    "full": lambda z: np.full((2, 3), z, dtype=float)[0],
    "full_like": lambda z: np.full_like(np.zeros(3), z),
    "fromiter": lambda z: np.fromiter(z, float),
    "sum": lambda z: np.sum(z, dtype=float),
    "mean": lambda z: z.mean(dtype=float),
    "cumsum": lambda z: np.cumsum(z, dtype=float),
    "trace": lambda z: np.trace(np.outer(z, z), dtype=float),
    "linspace": lambda z: np.linspace(0.0, z[0], 3, dtype=float),
    "dtype of an array": lambda z: np.sum(z, dtype=z.real.dtype),
    "ufunc": lambda z: np.multiply(z, z, dtype=float, casting="unsafe"),
}
REFUSED: dict[str, Callable[[Any], Any]] = {
    "prod": lambda z: np.prod(z, dtype=float),
    "cumprod": lambda z: np.cumprod(z, dtype=float),
    "reduce": lambda z: np.multiply.reduce(z, dtype=float),
    "einsum": lambda z: np.einsum("i,i->i", z, z, dtype=float, casting="unsafe"),
}


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("name", CONVERTED)
def test_the_imaginary_part_is_dropped(name: str) -> None:
    convert = CONVERTED[name]

    def f(z: Any) -> Any:
        return np.real(np.sum(z * convert(z)))

    exact = name != "single"
    expected = numeric_gradient(f if exact else lambda z: np.real(np.sum(z * z.real)), (Z,))
    near = {"rtol": 1e-7, "atol": 1e-9} if exact else {"rtol": 1e-6}
    np.testing.assert_allclose(grad(f)(Z), expected, **near)
    np.testing.assert_allclose(jvp(f, (Z,), (WAY,))[1], np.real(np.sum(expected * WAY)), **near)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_products_of_real_parts_are_refused(name: str) -> None:
    convert = REFUSED[name]

    def f(z: Any) -> Any:
        return np.real(np.sum(z * convert(z)))

    with pytest.raises(UndefinedDerivativeError):
        grad(f)(Z)
    with pytest.raises(UndefinedDerivativeError):
        jvp(f, (Z,), (WAY,))
    # Real numbers have no imaginary part to drop.
    np.testing.assert_allclose(grad(f)(Z.real), numeric_gradient(f, (Z.real,)), rtol=1e-7)


PUT_IN: dict[str, Callable[[Any, Any], Any]] = {
    "insert": lambda a, x: np.insert(a, 1, x),
    "insert several": lambda a, x: np.insert(a, [0, 2], x[:2]),
    "pad": lambda a, x: np.pad(a, 1, constant_values=x[0]),
    "pad by two": lambda a, x: np.pad(a, 1, constant_values=(x[0], x[1])),
    "ramp": lambda a, x: np.pad(a, 2, mode="linear_ramp", end_values=x[0]),
}


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(
    ("a", "x"), [(np.arange(3), Z.real), (np.arange(3.0), Z), (np.arange(3) > 0, Z.real)], ids=["int", "float", "bool"]
)
@pytest.mark.parametrize("name", PUT_IN)
def test_values_are_converted_to_the_dtype_of_an_array(name: str, a: Any, x: Any) -> None:
    put_in = PUT_IN[name]

    def f(x: Any) -> Any:
        return np.real(np.sum(x[0] * put_in(a, x)))

    expected = numeric_gradient(f, (x,))
    way = WAY if np.iscomplexobj(x) else WAY.real
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (x,), (way,))[1], np.real(np.sum(expected * way)), rtol=1e-7)


@pytest.mark.parametrize("mask", [[True, True, True], [True, False, True], [False, False, False]])
def test_truth_values_are_places_for_take(mask: list[bool]) -> None:
    def f(x: Any, places: Any) -> Any:
        return np.sum(np.take(x, places) * np.arange(1.0, 4.0))

    x, places = Z.real, np.array(mask)
    np.testing.assert_allclose(grad(f)(x, places), numeric_gradient(f, (x, places)), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["insert", "pad"])
def test_second_derivatives_of_values_that_are_put_in(name: str) -> None:
    put_in = PUT_IN[name]

    def f(x: Any) -> Any:
        return np.sum(put_in(x, x * x) ** 3)

    x, way = Z.real, WAY.real
    slope = grad(f)
    expected = (slope(x + 1e-5 * way) - slope(x - 1e-5 * way)) / 2e-5
    np.testing.assert_allclose(hvp(f, (x,), (way,)), expected, rtol=1e-7)


def test_second_derivatives_of_ends_of_an_array_of_integers() -> None:
    def f(x: Any) -> Any:
        return np.sum(x[0] ** 2 * np.pad(np.array([1, 2, 3]), 1, constant_values=x[0] * x[1]))

    x, way = Z.real, WAY.real
    slope = grad(f)
    expected = (slope(x + 1e-6 * way) - slope(x - 1e-6 * way)) / 2e-6
    np.testing.assert_allclose(hvp(f, (x,), (way,)), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(grad(lambda x: grad(f)(x) @ way)(x), expected, rtol=1e-7, atol=1e-9)
