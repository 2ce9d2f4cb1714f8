"""Programs that write in place whose gradient or value was once wrong, or raised, by what they have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, stop_gradient, value_and_grad
from s2sad.errors import S2SADError, UndefinedDerivativeError, UnsupportedError
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.4, 0.5, 0.6, 0.7])


def _flattened(w: Any) -> Any:
    b = w.reshape(-1)
    b[1] *= 2.0
    return np.mean(b * w.ravel())


def reshaped_by_a_callee(y: Any) -> Any:
    """The copy of an argument and its shadow have its layout, so that a reshape views or copies all three alike."""
    y[0] = y[1] ** 2
    return _flattened(y) + np.sum(y**2)


def reshaped_here(y: Any) -> Any:
    """Whether ``b`` is a view depends on the layout of the caller's array."""
    y[0] = y[1] ** 2
    b = y.reshape(-1)
    b[1] *= 2.0
    return np.sum(y * y) + b[1]


def reshaped_in_fortran_order(y: Any) -> Any:
    """``np.zeros(..., order="F")`` has a shadow in that order."""
    a = np.zeros((3, 4), order="F")
    a[...] = y
    b = a.reshape(-1)
    b[1] *= 3.0
    return np.sum(a * a) + b[1]


def _of_a_transpose(w: Any) -> Any:
    w[0] = 0.3
    return np.mean(w.T.reshape(3, 4))


def copied_shadow_in_a_pair(y: Any) -> Any:
    """What a callee copies of a shadow is zeros, whatever the caller has in it by the time of the reverse part."""
    total = 0.0
    for _ in range(2):
        total = _of_a_transpose(y)
    return total + np.sum(y)


MATRIX = np.linspace(-1.0, 1.3, 12).reshape(3, 4)


@pytest.mark.parametrize(
    "f",
    [reshaped_by_a_callee, reshaped_here, reshaped_in_fortran_order, copied_shadow_in_a_pair],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize(
    "y",
    [MATRIX, np.asfortranarray(MATRIX), MATRIX[::-1], np.repeat(MATRIX, 2, axis=1)[:, ::2]],
    ids=["C", "F", "reversed", "strided"],
)
def test_layouts(f: Callable[[Any], Any], y: Any) -> None:
    def copied(change: float = 0.0, place: tuple[int, ...] = (0, 0)) -> Any:
        """A copy with the strides of ``y``."""
        memory = np.empty(y.size * 4)
        start = memory.size // 2 * 8
        copy = np.ndarray(y.shape, y.dtype, memory, start, y.strides)
        copy[...] = y
        copy[place] += change
        return copy

    assert copied().strides == y.strides
    value, gradient = value_and_grad(f)(y)
    assert value == f(copied())
    for place in np.ndindex(y.shape):
        slope = (f(copied(1e-5, place)) - f(copied(-1e-5, place))) / 2e-5
        assert gradient[place] == pytest.approx(slope, rel=1e-6, abs=1e-6), place


def item_of_a_list_of_buffers(x: Any) -> Any:
    """The adjoint of an item goes into the array that has other names, not into a new one."""
    b = np.full(5, 0.7)
    b[1:3] = x[::3]
    held = [b, b, 0.3]
    k = round(x[0] * 0 + 1)
    b[2] *= np.sum(held[k])
    return np.mean(b)


def item_of_a_display(x: Any) -> Any:
    """An item that is taken of a display at once."""
    p = [np.sin(x), np.cos(x)]
    p[0][0] *= 2.0
    q = (0.3, p)[1]
    q[1][1] = 0.5
    return np.sum(p[0]) * np.sum(p[1])


def _made(n: Any) -> Any:
    m = round(n)
    return np.ones(m) + n


def local_size_of_a_callee(x: Any) -> Any:
    """A callee's ``m`` is another number than its caller's, and so is the size of what it makes."""
    m = round(x[0] * 0 + 5)
    a = np.zeros(m) + x[0]
    b = _made(x[1] * 0 + 1.0) * x[1]
    return np.sum(a * b)


def _one(x: Any, n: int = 1) -> Any:
    return np.ones(n) * x[0]


def default_of_a_callee(x: Any, n: int = 5) -> Any:
    """The parameter of a callee that has its default is not the caller's parameter of that name."""
    return np.sum((np.zeros(n) + x[1]) * _one(x))


def _adder(count: int) -> Callable[[Any], Any]:
    def inner(x: Any) -> Any:
        return np.zeros(count) + x[0]

    return inner


_five, _single = _adder(5), _adder(1)


def cells_of_two_closures(x: Any) -> Any:
    """Two functions from one text read different numbers under one name."""
    return np.sum(_five(x) * _single(x))


WIDE = np.array([[1.0, 2.0, 3.0, 4.0, 5.0], [0.5, 0.3, 0.1, 0.2, 0.4]])


def item_replaced_by_another_shape(x: Any) -> Any:
    """What is known of an item ends where it is replaced."""
    s = [np.ones_like(x), 2.0]
    s[0] = WIDE
    return np.sum(np.sin(x) * s[0])


def _replace(s: Any) -> None:
    s["w"] = WIDE


def item_replaced_by_a_callee(x: Any) -> Any:
    """The same where a callee replaces it."""
    s: dict[str, Any] = {"w": 1.0}
    _replace(s)
    return np.sum(np.sin(x) * s["w"])


def length_of_a_list_that_shrinks(x: Any) -> Any:
    """``len(left)`` is another number each time."""
    a = np.sin(x)
    total = 0.0
    left = [0, 0, 0]
    for _ in range(3):
        t = a[len(left)]
        total = total + t * t
        left.pop()
        a[len(left) + 1] = 5.0 * total
    return total + np.sum(a)


def length_of_a_slice_in_a_loop(x: Any) -> Any:
    """The length of a slice changes with the variable of the loop."""
    a = np.sin(x)
    a[0] = 0.5
    total = 0.0
    for k in range(2, -1, -1):
        v = x[: k + 1]
        t = a[len(v)]
        total = total + t * t
        a[len(v) + 1] = 0.3 * total
    return total + np.sum(a)


def real_written_into_complex(x: Any) -> Any:
    """The adjoint of a real value that is written into a complex array is real."""
    z = x * 0.3j
    z[0] = x.mean() + 0.3j
    z[1] += x[0]
    return np.mean(z.real * z.imag) + np.sum(z.real**2)


def gathered_into_a_buffer(x: Any) -> Any:
    """Positions and masks copy, so that a write does not go back."""
    a = np.outer(x, x)
    a[0] = 2.0
    t = (a * np.mean(x))[[2, 0, 0]]
    t[0] = x
    d = a[a > 0.1]
    d[0] *= 3.0
    a[2] = 1.0
    return np.sum(t * t) + np.sum(d) + np.sum(a)


def diagonal_of_a_buffer(x: Any) -> Any:
    """``np.diag`` copies a vector and views a matrix."""
    a = np.outer(x, x)
    a[0] = 2.0
    d = np.diag(a)
    a[1] *= 3.0
    m = np.diag(x)
    m[0] += d
    return np.sum(np.sin(d)) + np.sum(m * m)


def comprehension_of_buffers(x: Any) -> Any:
    """A short list of new arrays."""
    bufs = [np.zeros(5) for _ in range(2)]
    for i in range(3):
        bufs[i % 2][...] = bufs[1 - i % 2] * x + i * x
    return np.sum(bufs[0] * bufs[1])


def made_by_the_class(x: Any) -> Any:
    """``np.ndarray(shape)`` is an empty array; ``np.arange`` may be reshaped and written."""
    a = np.ndarray((5, 5))
    a[...] = x
    b = np.arange(25.0).reshape(5, 5)
    b[1] = x * x
    c = np.ndarray(shape=(5, 5), dtype=float, order="F")
    c[...] = b * x
    d = np.ndarray((5,), np.float64)
    d[:] = x[0] ** 2
    return np.sum(a * b) + np.sum(c * d)


def starred(x: Any) -> Any:
    """A starred name is a list of what the display has there."""
    a, *rest, b = x * 2, x * 3, np.sin(x), x[0]
    rest[0][1] *= b
    return np.sum(a) * np.sum(rest[0]) + np.sum(rest[1])


def keywords_of_dict(x: Any) -> Any:
    """``dict(u=..., v=...)`` is a display."""
    s = dict(u=x * 2, v=np.sin(x))  # noqa: C408
    s["u"][0] = s["v"][1]
    return np.sum(s["u"] * s["v"])


def views_of_what_a_loop_overwrites(x: Any) -> Any:
    """A view of which only the shape is needed does not stand for the copy of its elements."""
    a = x * 1.0
    for _ in range(1, 4):
        a[:3] -= a[2:] * a[:3]
    return np.sum(a)


RIGHT = [
    views_of_what_a_loop_overwrites,
    item_of_a_list_of_buffers,
    item_of_a_display,
    local_size_of_a_callee,
    default_of_a_callee,
    cells_of_two_closures,
    item_replaced_by_another_shape,
    item_replaced_by_a_callee,
    length_of_a_list_that_shrinks,
    length_of_a_slice_in_a_loop,
    real_written_into_complex,
    gathered_into_a_buffer,
    diagonal_of_a_buffer,
    comprehension_of_buffers,
    made_by_the_class,
    starred,
    keywords_of_dict,
]


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_right(f: Callable[[Any], Any]) -> None:
    value, gradient = value_and_grad(f)(X)
    assert value == f(X.copy())
    np.testing.assert_allclose(gradient, numeric_gradient(lambda a: f(a.copy()), (X,), 0), rtol=1e-7, atol=1e-9)


def container_argument(p: Any) -> Any:
    """The items of a container argument are known once it is copied."""
    p["w"][0] *= p["b"]
    return np.sum(p["w"] ** 2)


def test_container_argument() -> None:
    w = np.array([1.0, 2.0, 3.0])
    gradient = grad(container_argument)({"w": w, "b": 2.0})
    np.testing.assert_allclose(gradient["w"], [8.0, 4.0, 6.0])
    assert gradient["b"] == pytest.approx(4.0)
    np.testing.assert_array_equal(w, [1.0, 2.0, 3.0])


def stopped_in_a_container(x: Any) -> Any:
    y = x * 2.0
    z = stop_gradient(y)
    held = [z, y]
    held[1][0] = 0.5
    return np.sum(held[0])


def _twice(x: Any) -> Any:
    y = x * 2.0
    return y.reshape(5, 1), y


def results_that_share_memory(x: Any) -> Any:
    w, t = _twice(x)
    w[::1] *= x[0]
    return np.mean(t)


def _listed(x: Any) -> Any:
    y = x * 2.0
    return [y, y]


def list_of_one_array_twice(x: Any) -> Any:
    w = _listed(x)
    w[1][0] *= x[0]
    return np.mean(w[0])


@pytest.mark.parametrize(
    "f",
    [
        stopped_in_a_container,
        results_that_share_memory,
        list_of_one_array_twice,
    ],
    ids=lambda f: f.__name__,
)
def test_refused_and_not_wrong(f: Callable[[Any], Any]) -> None:
    with pytest.raises((UnsupportedError, UndefinedDerivativeError), match=r":\d+:\d+: error") as refusal:
        grad(f)(X)
    assert isinstance(refusal.value, S2SADError)


def _both(p: Any) -> Any:
    p[0][0] = p[1][2] ** 2
    return np.sum(p[0] * p[1])


def test_one_array_twice_in_an_argument() -> None:
    a = np.array([1.0, 2.0, 3.0])
    with pytest.raises(UndefinedDerivativeError, match="share memory"):
        grad(_both)((a, a))
    first, second = grad(_both)((a, a.copy()))
    np.testing.assert_allclose(first, [0.0, 2.0, 3.0])
    np.testing.assert_allclose(second, [9.0, 2.0, 9.0])


def _tries(a: Any) -> None:
    class Unread: ...

    try:
        a[0] = 1.0
    finally:
        a[1] = 2.0


def _calls(b: Any) -> Any:
    b[::1] *= 4
    _tries(b)
    return b


def refused_twice(x: Any) -> Any:
    y = _calls(x)
    return np.sum(_calls(y))


def test_a_callee_that_is_refused_twice() -> None:
    with pytest.raises(UnsupportedError, match="a class defined inside"):
        grad(refused_twice)(X)


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


def written_in_columns(A: Any) -> Any:
    A[0] *= 0.1
    return np.sum(np.sin(A) * A)


def test_the_value_of_an_array_in_the_order_of_columns() -> None:
    """NumPy adds up in the order of memory: a copy that is laid out otherwise gives another last bit."""
    A = np.asfortranarray(np.random.default_rng(3).standard_normal((37, 23)))
    value, _ = value_and_grad(written_in_columns)(A)
    assert value == written_in_columns(A.copy(order="K"))


def _three(t: Any) -> Any:
    return t, t, t


def variable_called_as_an_adjoint(x: Any, y: Any) -> Any:
    for p in y:
        for q in x:
            q[:] = 0.3
            z, _, c = _three(np.zeros(4))
            np.add(c, 2.0, c)
        for _ in range(3):
            x = np.reshape(p * z[0], (3, 1))
            _, _, x_bar = _three((4,))
    return x[2, -1] * x_bar[0]


def test_a_variable_is_called_as_the_adjoint_of_another() -> None:
    x, y = np.ones((3, 1)), np.array([[-0.557, 0.473, 0.169], [0.548, 0.363, 0.498]])
    gradient = grad(variable_called_as_an_adjoint, 1)(x, y)
    np.testing.assert_allclose(gradient, numeric_gradient(variable_called_as_an_adjoint, (x, y), 1), rtol=1e-8)


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
