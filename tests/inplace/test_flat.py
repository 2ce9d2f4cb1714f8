"""Items of `a.flat`: of any layout, by integers, slices, lists and masks, read and written."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from s2sad.errors import S2SADError, UndefinedDerivativeError
from s2sad.runtime.positions import flat_index, flat_places
from tests.oracle import numeric_gradient, richardson_jvp
from tests.sources import function_of

X = np.array([0.5, 1.2, -0.7])
DOT = np.array([0.3, -0.8, 0.55])

ARRAYS = {
    "np.outer(x, x)": "outer",
    "np.outer(x, x).T": "transposed",
    "np.zeros((3, 3))": "zeros",
    "np.ones((4, 2)).T * x[0]": "by_columns",
    "np.ones((4, 6))[1:, ::2]": "part",
    "x * 1.0": "vector",
}
WRITTEN = {
    "K.flat[::2] += x[0] ** 2": "added_to_a_slice",
    "K.flat[1:3] = x[1:]": "slice",
    "K.flat[0] = x[1] * x[2]": "first",
    "K.flat[-1] *= x[0]": "last_multiplied",
    "K.flat[[2, 0]] = x[:2]": "list",
    "K.flat[[1, 1]] += x[:2]": "list_that_repeats",
    "K.flat[np.arange(K.size) % 2 == 0] -= x[2]": "mask",
    "K.flat[::2] = 1.5\n    K.flat[:2] /= x[:2]": "constant_then_divided",
    "for i in range(2):\n        K.flat[i] = x[i] * K.flat[i + 1]": "in_a_loop",
    "n = K.shape[-1]\n    K.flat[:: n + 1] += x[1]": "jitter",
    "K.flat = x[0] * K": "whole",
    "K.flat = x[:2] ** 2": "whole_repeated",
    "K.flat = [x[1], 2.0]": "whole_list",
    "K.flat = x[1]": "whole_number",
    "K.flat[1:3] = x": "too_many",
    "K.flat[[0, 2, 1]] = x[1:]": "too_few",
    "K[:2].flat = x * x": "part_whole",
}
BY_ROWS = {
    "K.T.flat = x * x": "transposed_whole",
}
PROGRAM = """def {name}(x):
    K = {array}
    y = K.flat[1] * x[0]
    {written}
    return y * np.sum(K.flat[::3]) + np.sum(K * K) + np.sum(K.flat[[0, 2]] * x[:2])
"""


def function(array: str, written: str) -> Any:
    name = f"{ARRAYS[array]}_{(WRITTEN | BY_ROWS)[written]}"
    text = PROGRAM.format(name=name, array=array, written=written)
    file = f"<flat {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), space)
    return space[name]


PROGRAMS = list(itertools.starmap(function, itertools.product(ARRAYS, WRITTEN)))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f: Any) -> None:
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (DOT,))[1], np.sum(expected * DOT), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("f", PROGRAMS[:: len(WRITTEN) + 1], ids=lambda f: f.__name__)
def test_product_with_the_hessian(f: Any) -> None:
    np.testing.assert_allclose(hvp(f, (X,), (DOT,)), richardson_jvp(grad(f), (X,), (DOT,)), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("shape", [(6,), (2, 3), (3, 2, 4), (0, 3), (1,)])
@pytest.mark.parametrize(
    "index", [0, -1, 7, slice(None), slice(4, None, -2), [0, 0], [-1], np.array([], dtype=int), ...]
)
def test_the_index_is_that_of_the_items(shape: tuple[int, ...], index: Any) -> None:
    a = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    try:
        expected = a.flat[index]
    except IndexError:
        with pytest.raises(IndexError):
            flat_index(shape, index)
        return
    np.testing.assert_array_equal(a[flat_index(shape, index)], expected)


def test_an_index_of_several_axes() -> None:
    with pytest.raises(UndefinedDerivativeError, match="several axes"):
        flat_index((2, 3), np.zeros((2, 2), dtype=int))


class Kept:
    def __init__(self) -> None:
        self.flat = np.ones(2)


KEPT = Kept()


def of_a_kept_object(x: Any) -> Any:
    KEPT.flat = x * x
    return np.sum(KEPT.flat * x)


def of_a_set_argument(x: Any, held: Any) -> Any:
    held.flat = x * x
    return np.sum(held.flat * x)


def test_attributes_of_this_name() -> None:
    np.testing.assert_allclose(grad(of_a_kept_object)(X), 3 * X**2, rtol=1e-12)
    np.testing.assert_allclose(grad(of_a_set_argument)(X, Kept()), 3 * X**2, rtol=1e-12)


class Held:
    """An object that has a list of its own under the name."""

    def __init__(self, v: Any) -> None:
        self.flat = [v, 2.0]


def of_an_object(x: Any) -> Any:
    held = Held(x[0])
    held.flat[1] = x[1] ** 2
    return held.flat[0] * held.flat[1]


def of_an_argument(x: Any, held: Any) -> Any:
    return x[0] * held.flat[1]


def test_what_is_no_array() -> None:
    np.testing.assert_allclose(grad(of_an_object)(X), numeric_gradient(of_an_object, (X,)), rtol=1e-6)
    try:
        found = grad(of_an_argument)(X, Held(3.0))
    except S2SADError:
        return
    np.testing.assert_allclose(found, [2.0, 0.0, 0.0])


def cycled(x: Any) -> Any:
    K = np.zeros((2, 3))
    K.flat[::2] = x[:2]
    return np.sum(K * K)


def test_values_that_are_repeated() -> None:
    np.testing.assert_allclose(grad(cycled)(X), numeric_gradient(cycled, (X,)), rtol=1e-6)


@pytest.mark.parametrize("array", list(ARRAYS)[:5])
def test_views_of_other_orders(array: str) -> None:
    f = function(array, *BY_ROWS)
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-6, atol=1e-9)


def test_several_values_for_one_item() -> None:
    def f(x: Any) -> Any:
        K = np.zeros(3)
        K.flat[1] = x
        return np.sum(K)

    with pytest.raises(ValueError, match="single item"):
        grad(f)(X)


def test_no_values_are_refused() -> None:
    def f(x: Any) -> Any:
        K = x * x
        K.flat = x[:0]
        return np.sum(K)

    with pytest.raises(UndefinedDerivativeError, match="no values"):
        grad(f)(X)


WITHOUT_AXES = (
    "z.flat = x[0] * x[1]", "z.flat = x[:1]", "z.flat = z * x[1]", "z.flat[:1] = x[0]",
    "z.flat[:] *= x[1]", "z.flat[:0] = x[0]", "z.flat[[0]] = x[:1]", "z.flat[0] -= x[2]",
    "np.put(z, [0], x[0])", "z.put(0, x[1:2])", "np.put(z, [], x)",
)  # fmt: skip


@pytest.mark.parametrize("written", WITHOUT_AXES)
def test_an_array_without_axes(written: str) -> None:
    f = function_of(
        f"def f(x):\n    z = np.array(x[2] * 2.0)\n    {written}\n    return z * x[0] + np.sum(z.flat[:])\n"
    )
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (DOT,))[1], np.sum(expected * DOT), rtol=1e-6, atol=1e-9)


def test_one_element_that_is_written_twice_is_refused() -> None:
    for shape_of_index in (flat_index, flat_places):
        with pytest.raises(UndefinedDerivativeError, match="several times at once"):
            shape_of_index((), np.array([0, 0]))


NUMBERS = {"product": "x[0] * 2", "sum": "np.sum(x)", "array": "np.array(x[0])", "Python's": "float(x[0])"}
INTO_NUMBERS = ["y.flat[0] = x[1]", "y.flat[-1] = x[1] * y", "y.flat[0] += x[1]"]


@pytest.mark.parametrize("made", NUMBERS)
@pytest.mark.parametrize("write", INTO_NUMBERS)
def test_a_number_of_numpy_stays_what_it_is(made: str, write: str) -> None:
    f = function_of(f"def f(x):\n    y = {NUMBERS[made]}\n    {write}\n    return y * x[2] + x[1]\n")
    if made == "Python's":
        for derivative in (lambda: grad(f)(X), lambda: jvp(f, (X,), (DOT,))):
            with pytest.raises(AttributeError, match="flat"):
                derivative()
        return
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (DOT,))[1], np.sum(expected * DOT), rtol=1e-6, atol=1e-9)
