"""What views and what copies depends on how an array lies in memory, and so does the order in which NumPy copies."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp, value_and_grad, vjp
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from s2sad.runtime import add_copy
from s2sad.runtime.copies import laid_out_like
from tests.oracle import numeric_gradient, richardson_jvp

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(3)
X, Y, D = RNG.uniform(-1, 1, (2, 4)), RNG.uniform(-1, 1, 4), RNG.uniform(-1, 1, (2, 4))


def laid_out(name: str, values: Array) -> Array:
    """An array of some values that lies in memory in the way that is named."""
    n, m = values.shape
    made = {
        "rows": lambda: np.zeros((n, m)),
        "columns": lambda: np.zeros((m, n)).T,
        "upwards": lambda: np.zeros((n, m))[::-1],
        "backwards": lambda: np.zeros((m, n))[::-1].T,
        "with gaps": lambda: np.zeros((n, 2 * m))[:, ::2],
    }[name]()
    made[...] = values
    return made


LAYOUTS = ("rows", "columns", "upwards", "backwards", "with gaps")


def reshaped(x: Array, y: Array) -> Any:
    x.reshape(-1)[1:5] = y * y[0]
    return np.sum(x * x)


def raveled(x: Array, y: Array) -> Any:
    z = x.ravel()
    z[2:6] = z[1:5] * y
    return np.sum(x**3) + np.sum(z * z[0])


def in_memory_order(x: Array, y: Array) -> Any:
    z = x.ravel("K")
    z[2:6] = z[1:5] * y
    return np.sum(x**3 * [[1.0], [2.0]]) + np.sum(z * z[0])


def copied(x: Array, y: Array) -> Any:
    z = copy.copy(x[:, ::-1])
    z.reshape(-1)[:4] *= y
    return np.sum(z**3)


def through_callee(x: Array, y: Array) -> Any:
    reshaped(x[:, 1:], y)
    return np.sum(x**3)


PROGRAMS = (reshaped, raveled, in_memory_order, copied, through_callee)


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_writes_through_what_may_be_a_view_or_a_copy(f: Callable[..., Any], layout: str) -> None:
    """Gradients, tangents of either argument alone, and second derivatives, with the argument's layout in each."""

    def of(x: Array, y: Array) -> Any:
        return f(laid_out(layout, x), y.copy())

    def slope(x: Array, y: Array) -> Any:
        return grad(f, 1)(laid_out(layout, x), y)

    x = laid_out(layout, X)
    assert np.allclose(grad(f)(x, Y), numeric_gradient(of, (X, Y)), atol=1e-9)
    assert np.allclose(jvp(f, (x, Y), (D, None))[1], richardson_jvp(of, (X, Y), (D, None)), atol=1e-9)
    assert np.allclose(jvp(f, (x, Y), (None, D[0]))[1], richardson_jvp(of, (X, Y), (None, D[0])), atol=1e-9)
    second = jvp(grad(f, 1), (x, Y), (D, D[0]))[1]
    assert np.allclose(second, richardson_jvp(slope, (X, Y), (D, D[0])), atol=1e-8)


def test_the_shadow_of_a_copy_in_memory_order_is_added_where_its_elements_were() -> None:
    for axes in ((0, 1, 2), (2, 0, 1), (1, 0, 2)):
        for steps in ((1, -1, 2), (-2, 1, 1), (1, 1, 2), (-1, -1, -1)):
            x = RNG.uniform(size=(4, 2, 6))[tuple(slice(None, None, step) for step in steps)].transpose(axes)
            z_bar, x_bar = x.ravel("K"), laid_out_like(x)
            assert not np.shares_memory(x, z_bar)
            add_copy(x_bar, z_bar, "K")
            assert np.array_equal(x_bar, x)


# --- elements that are read behind those that are written ---


def set_to(a: Array, i: Any, j: Any) -> None:
    a[slice(*i)] = a[slice(*j)]


def set_to_row(a: Array, i: Any, j: Any) -> None:
    a[i[0] : i[1] : i[2]] = a[None, j[0] : j[1] : j[2]]


def set_of_view(a: Array, i: Any, j: Any) -> None:
    b, c = a[i[0] : i[1] : i[2]], a[j[0] : j[1] : j[2]]
    b[...] = c


def set_by_mask(a: Array, i: Any, j: Any) -> None:
    b = a[i[0] : i[1] : i[2]]
    b[b > -2.0] = a[j[0] : j[1] : j[2]]


def set_flat(a: Array, i: Any, j: Any) -> None:
    a[i[0] : i[1] : i[2]].flat[:] = a[j[0] : j[1] : j[2]]


def copied_to(a: Array, i: Any, j: Any) -> None:
    np.copyto(a[i[0] : i[1] : i[2]], a[j[0] : j[1] : j[2]])


PARTS = [(1, 5, 1), (0, 8, 2), (0, 4, 1), (4, 8, 1), (7, 3, -1), (7, 0, -2)]


@pytest.mark.parametrize("write", [set_to, set_to_row, set_of_view, set_by_mask, set_flat, copied_to])
def test_what_overlaps_is_as_numpy_writes_it_or_an_error(write: Callable[..., None]) -> None:
    """NumPy reads some of what it has just written, where strides differ, and with masks and ``flat``."""

    def f(x: Array, i: tuple[int, int, int], j: tuple[int, int, int]) -> Any:
        a = np.tanh(x)
        write(a, i, j)
        return np.sum(a * np.arange(1, 9)) + a[2] * a[3]

    x, d = RNG.uniform(-1, 1, 8), RNG.uniform(-1, 1, 8)
    right = 0
    for i in PARTS:
        for j in PARTS:
            expected = f(x, i, j), richardson_jvp(lambda x, i=i, j=j: f(x, i, j), (x,), (d,))
            try:
                value, slope = value_and_grad(f)(x, i, j)
                assert (value, slope @ d) == pytest.approx(expected, abs=1e-9), (i, j)
                right += 1
            except UndefinedDerivativeError:
                pass
            except UnsupportedError:
                # What is stored in it may be a part of the array itself.
                assert write is set_flat
            try:
                assert jvp(f, (x, i, j), (d, None, None)) == pytest.approx(expected, abs=1e-9), (i, j)
            except UndefinedDerivativeError:
                assert write is set_flat
    assert right > 20 or write is set_flat


def test_elements_of_a_constant_that_flat_reads_behind_itself_are_an_error() -> None:
    def f(x: Array) -> Any:
        b = np.arange(8.0)
        b.flat[:] = b[::-1]
        return np.sum(x * b)

    for run in (lambda: grad(f)(np.ones(8)), lambda: jvp(f, (np.ones(8),), (np.ones(8),))):
        with pytest.raises(UndefinedDerivativeError, match="one by one"):
            run()


def in_a_loop(x: Array) -> Any:
    s = np.zeros(8)
    for i in range(2):
        a = x * (i + 1.0)
        b = a * a
        s = s + np.tanh(b.ravel("K")) * np.arange(8)
        x = np.sin(b + a)
    return s


@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_pullbacks_keep_the_layout_in_which_an_argument_was_read(layout: str) -> None:
    def raveled(x: Array) -> Any:
        return np.tanh(x.ravel("K")) * np.arange(8)

    for flat in (raveled, lambda x: np.sin(x.reshape(8, order="A")), in_a_loop):
        x = laid_out(layout, X)
        pull = vjp(flat, x)[1]
        x[...] = 5.0
        expected = numeric_gradient(lambda x, f=flat: np.sum(f(laid_out(layout, x)) * Y[0]), (X,))
        assert np.allclose(pull(np.full(8, Y[0]))[0], expected, atol=1e-9)


def of_neighbours(y: Any, d: Any) -> Any:
    steps = np.broadcast_to(d, 3)
    if len(y) < 3:
        return steps
    back = steps[::-1]
    return steps[:-1] * steps[1:] + back[:-1] ** 2 * back[1:]


def beside(x: Any, like: Any) -> Any:
    made = np.zeros_like(like)
    made[0] = x[0]
    made[1:] += x[1:] * x[0]
    return made


@pytest.mark.parametrize("x", [0.4, np.float64(0.7), np.array(1.3)])
def test_second_derivatives_by_what_is_one_in_memory(x: Any) -> None:
    """The adjoint of a broadcast number has elements of its own, and its tangent has, whatever is known of its type."""

    def f(d: Any) -> Any:
        return np.sum(of_neighbours(np.ones(4), d) ** 2)

    np.testing.assert_allclose(hvp(f, (x,), (1.0,)), richardson_jvp(grad(f), (x,), (1.0,)), rtol=1e-7)


@pytest.mark.parametrize("like", [np.ones(3), np.broadcast_to(1.0, 3), np.ones(6)[::2], np.ones(3)[::-1], [1.0] * 3])
def test_tangents_of_zeros_in_the_layout_of_an_array(like: Any) -> None:
    x, dot = np.array([0.3, 0.7, -0.4]), np.array([0.5, -0.2, 0.9])

    def f(x: Any, like: Any) -> Any:
        return np.sum(beside(x, like) ** 2)

    np.testing.assert_allclose(
        jvp(f, (x, like), (dot, None))[1], richardson_jvp(lambda x: f(x, like), (x,), (dot,)), rtol=1e-7
    )
