"""Arrays of the module, of closures and of existing objects that a function writes: derivatives go through them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad import grad, stop_gradient
from s2sad.errors import S2SADError, UndefinedDerivativeError, UnsupportedError
from tests.inplace import state_of_another_module as elsewhere
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.5, 1.2, -0.7])
G = np.array([0.7, -0.3, 1.1])
WIDE = np.ones((3, 4))
COUNTS = np.zeros(2, dtype=int)
WAVE = np.zeros(3, dtype=complex)
SHORT = np.zeros(3, dtype=np.float32)
ROWS = [np.zeros(3), np.ones(3)]
LISTED = [G]
TABLE = {"in": np.ones(3), "out": np.zeros(3)}


class Grid:
    """Fields that its methods write."""

    def __init__(self, n: int) -> None:
        self.u, self.v, self.n = np.zeros(n), np.ones(n), n
        self.total = 0.0

    def reset(self) -> None:
        self.u[:] = 0.0
        self.v[:] = 1.0

    def step(self, c: Any) -> None:
        self.u[1:-1] += c * (self.v[2:] - self.v[:-2])
        self.v[1:-1] += c * (self.u[2:] - self.u[:-2]) + 0.1 * c

    def energy(self) -> Any:
        return np.sum(self.u**2 + self.v**2)

    @property
    def middle(self) -> Any:
        return self.u[self.n // 2]

    def renew(self, x: Any) -> None:
        self.u = self.u * x[0]
        self.v[0] = x[1]


GRID = Grid(6)
GRIDS = [Grid(4), Grid(5)]
HELD = np.array([0.3, 0.4])
BY_NAME, SAME = HELD, HELD
VIEWED = np.arange(4.0)
PART = VIEWED[1:3]


class Shared:
    """An array of a class."""

    buffer = np.zeros(3)

    def fill(self, x: Any) -> None:
        self.buffer[:] = x


ARRAYS = [
    *(G, WIDE, COUNTS, WAVE, SHORT, *ROWS, *TABLE.values(), HELD, VIEWED, Shared.buffer, elsewhere.BUFFER),
    *(a for grid in (GRID, *GRIDS) for a in (grid.u, grid.v)),
]
INITIAL = [a.copy() for a in ARRAYS]


def restore() -> None:
    for array, initial in zip(ARRAYS, INITIAL, strict=True):
        array[...] = initial


def item(x: Any) -> Any:
    G[0] = x[1] * x[0]
    return np.sum(G * x)


def item_by_a_callee(x: Any) -> Any:
    u = G * x
    put(x[0])
    return np.sum(u * G)


def put(v: Any) -> None:
    G[1] = v * v


def read_by_a_callee(x: Any) -> Any:
    G[:2] *= x[1:]
    return weighed(x)


def weighed(x: Any) -> Any:
    return np.sum(np.sin(G) * x)


def given_and_read_by_a_callee(x: Any) -> Any:
    G[2] = x[0]
    return np.sum(scaled(G, x[1]))


def scaled(a: Any, c: Any) -> Any:
    a *= c
    return G * a


def result_of_a_callee(x: Any) -> Any:
    buffer = the_array()
    buffer[0] = x[0] ** 2
    return np.sum(G * x)


def the_array() -> Any:
    return G


def under_another_name(x: Any) -> Any:
    a = G
    b = a[::-1]
    b[0] = x[0]
    return np.sum(a * x)


def in_a_loop(x: Any) -> Any:
    for i in range(3):
        G[i % 2] += x[i] * G[2]
        G[2] *= x[0]
    return np.sum(G**2)


def in_a_while_loop(x: Any) -> Any:
    n = 0
    while n < 4:
        WIDE[:, n] = WIDE[:, n - 1] * x
        n += 1
    return np.sum(WIDE * np.arange(4.0))


def under_a_condition(x: Any) -> Any:
    if x[0] > 0.0:
        G[0] = x[1]
    else:
        G[1] = x[2]
    return np.sum(G * x)


def recursive(x: Any) -> Any:
    powers(x, 3)
    return np.sum(G * x)


def powers(x: Any, n: int) -> None:
    if n > 0:
        G[0] *= x[1]
        G[n % 3] += x[0]
        powers(x, n - 1)


def by_a_lambda(x: Any) -> Any:
    G[:] = x * x
    weights = lambda i: G[i] * x[i]  # noqa: E731
    return weights(0) + weights(2)


def in_a_comprehension(x: Any) -> Any:
    G[0] = x[2]
    return sum(g * v for g, v in zip(G, x, strict=True))


def by_an_inner_function(x: Any) -> Any:
    def add(i: int, v: Any) -> None:
        G[i] += v

    add(0, x[1])
    add(1, x[0] * x[0])
    return np.prod(G)


def by_numpy(x: Any) -> Any:
    np.multiply(x, 2.0, out=G)
    G.sort()
    np.copyto(WIDE[0, :3], G)
    return G[0] * x[1] + np.sum(WIDE[0] ** 2)


def stopped(x: Any) -> Any:
    G[0] = x[0]
    G[1] = stop_gradient(x[1])
    return np.sum(G * x)


def counted(x: Any) -> Any:
    COUNTS[0] += 1
    return np.sum(x * x) * COUNTS[0]


def complex_numbers(x: Any) -> Any:
    WAVE[:] = np.exp(1j * x)
    WAVE[1] *= 2.0 + x[0]
    return np.sum(np.abs(WAVE) ** 2 + WAVE.real)


def items_of_a_list(x: Any) -> Any:
    ROWS[0][:] = ROWS[1] * x
    return np.sum(ROWS[0] ** 2)


def items_of_a_dict(x: Any) -> Any:
    TABLE["out"][...] = TABLE["in"] * x
    TABLE["out"][1] += x[0] ** 2
    return np.sum(TABLE["out"] ** 2)


def attributes(x: Any) -> Any:
    GRID.reset()
    for i in range(4):
        GRID.step(x[i % 3])
    return GRID.energy()


def attributes_without_a_reset(x: Any) -> Any:
    GRID.step(x[0])
    GRID.step(x[1])
    return GRID.energy() + GRID.middle * x[2]


def attributes_of_items(x: Any) -> Any:
    for i, grid in enumerate(GRIDS):
        grid.step(x[i])
        grid.step(x[2])
    total = x[0]
    for grid in GRIDS:
        total = total + grid.energy()
    return total


def set_and_written(x: Any) -> Any:
    GRID.renew(x)
    return GRID.energy()


def of_a_class(x: Any) -> Any:
    Shared.buffer[0] = x[0] ** 2
    return np.sum(Shared.buffer * x)


def of_another_module(x: Any) -> Any:
    elsewhere.BUFFER[1] = x[0]
    return np.sum(elsewhere.BUFFER * x) + elsewhere.weighed(x)


def closure() -> Callable[[Any], Any]:
    buffer = np.zeros(3)
    ARRAYS.append(buffer)
    INITIAL.append(buffer.copy())

    def of_a_closure(x: Any) -> Any:
        buffer[:] = np.sin(x)
        buffer[0] *= x[1]
        return np.sum(buffer**2)

    return of_a_closure


def in_a_list_too(x: Any) -> Any:
    G[1] = x[0]
    return np.sum(LISTED[0] * x)


def under_two_names(x: Any) -> Any:
    BY_NAME[0] = x[0]
    SAME[1] = x[1] * BY_NAME[0]
    return np.sum(BY_NAME) * np.sum(SAME)


FUNCTIONS = [
    item,
    item_by_a_callee,
    read_by_a_callee,
    given_and_read_by_a_callee,
    result_of_a_callee,
    under_another_name,
    in_a_loop,
    in_a_while_loop,
    under_a_condition,
    recursive,
    by_a_lambda,
    in_a_comprehension,
    by_an_inner_function,
    by_numpy,
    counted,
    complex_numbers,
    items_of_a_list,
    items_of_a_dict,
    attributes,
    attributes_without_a_reset,
    attributes_of_items,
    set_and_written,
    of_a_class,
    of_another_module,
    closure(),
    in_a_list_too,
    under_two_names,
]


def reset(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that begins with the arrays as they were at first."""

    @functools.wraps(f)
    def begun(x: Any) -> Any:
        restore()
        GRID.u, GRID.v = GRID_ARRAYS
        return f(x)

    return begun


GRID_ARRAYS = GRID.u, GRID.v


@pytest.fixture(autouse=True)
def _as_at_first() -> Any:
    restore()
    yield
    restore()
    GRID.u, GRID.v = GRID_ARRAYS


def named(f: Any) -> str:
    return str(f.__name__)


@pytest.mark.parametrize("f", FUNCTIONS, ids=named)
def test_gradient(f: Any) -> None:
    found = grad(f)
    expected = numeric_gradient(reset(f), (X,))
    for _ in range(2):
        np.testing.assert_allclose(reset(found)(X), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("f", FUNCTIONS, ids=named)
def test_what_is_written_stays_written(f: Any) -> None:
    value = reset(f)(X)
    expected = [a.copy() for a in (*ARRAYS, GRID.u)]
    found, _ = reset(s2sad.value_and_grad(f))(X)
    assert found == value
    for array, wanted in zip((*ARRAYS, GRID.u), expected, strict=True):
        np.testing.assert_array_equal(array, wanted)


#: In forward mode the real part of a complex array and the array are two that overlap.
IN_FORWARD_MODE = [f for f in FUNCTIONS if f is not complex_numbers]
#: An object that the text of a gradient checks as a whole is not taken apart.
TWICE = [f for f in FUNCTIONS if f is not set_and_written]


@pytest.mark.parametrize("f", IN_FORWARD_MODE, ids=named)
def test_tangent(f: Any) -> None:
    dot = np.array([0.3, -0.8, 0.55])
    expected = richardson_jvp(reset(f), (X,), (dot,))
    restore()
    GRID.u, GRID.v = GRID_ARRAYS
    np.testing.assert_allclose(s2sad.jvp(f, (X,), (dot,))[1], expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("f", TWICE, ids=named)
def test_product_with_the_hessian(f: Any) -> None:
    dot = np.array([0.3, -0.8, 0.55])
    expected = richardson_jvp(reset(grad(f)), (X,), (dot,))
    restore()
    GRID.u, GRID.v = GRID_ARRAYS
    np.testing.assert_allclose(s2sad.hvp(f, (X,), (dot,)), expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("f", FUNCTIONS, ids=named)
def test_pullback_after_the_arrays_have_changed(f: Any) -> None:
    expected = numeric_gradient(reset(f), (X,))
    restore()
    GRID.u, GRID.v = GRID_ARRAYS
    _, pullback = s2sad.vjp(f, X)
    for array in ARRAYS:
        array[...] = 7.0
    np.testing.assert_allclose(pullback(1.0)[0], expected, rtol=1e-6, atol=1e-9)


def test_what_is_stopped_is_constant() -> None:
    np.testing.assert_allclose(reset(grad(stopped))(X), [2 * X[0], X[1], 1.1])


def test_one_that_nobody_reads_is_written() -> None:
    def f(x: Any) -> Any:
        G[:] = x * 2.0
        return np.sum(x)

    np.testing.assert_array_equal(grad(f)(X), np.ones(3))
    np.testing.assert_array_equal(G, X * 2.0)


def test_another_array_under_the_name() -> None:
    space: dict[str, Any] = {}
    holder = type("Holder", (), space)()
    holder.a = np.array([1.0, 2.0])

    def f(x: Any) -> Any:
        holder.a[0] = x * x
        return holder.a[0] * holder.a[1]

    found = grad(f)
    assert found(3.0) == 2 * 3.0 * 2.0
    holder.a = np.array([1.0, 5.0])
    assert found(3.0) == 2 * 3.0 * 5.0
    holder.a = np.array([1.0, 5.0, 2.0])
    assert found(3.0) == 2 * 3.0 * 5.0
    holder.a = np.array([[1.0, 5.0], [1.0, 1.0]])
    with pytest.raises((ValueError, TypeError, S2SADError)):
        found(3.0)


# --- what is refused, or raises


@pytest.mark.parametrize("make", [lambda: G, lambda: G[1:], lambda: [G], lambda: {"a": G[::-1]}])
def test_an_argument_that_is_the_array(make: Any) -> None:
    def f(x: Any, s: Any) -> Any:
        G[0] = np.sin(x[1])
        s = s[0] if isinstance(s, list) else s["a"] if isinstance(s, dict) else s
        return np.sum(s) * x[0]

    with pytest.raises(UndefinedDerivativeError):
        grad(f)(X, make())


def test_a_view_that_the_module_has() -> None:
    def f(x: Any) -> Any:
        VIEWED[1] = x[0]
        return np.sum(PART) * x[1]

    with pytest.raises((UndefinedDerivativeError, UnsupportedError)):
        grad(f)(X)


def test_a_list_that_holds_it_is_handed_on() -> None:
    held = [G]

    def f(x: Any) -> Any:
        G[1] = x[0]
        return np.sum(np.concatenate(held) * x)

    with pytest.raises((UndefinedDerivativeError, UnsupportedError)):
        grad(f)(X)


def test_an_object_that_is_copied_whole() -> None:
    import copy

    def f(x: Any) -> Any:
        GRID.u[1] = x[0]
        return np.sum(copy.deepcopy(GRID).u) * x[1]

    with pytest.raises(S2SADError):
        grad(f)(X)


def test_a_list_that_is_run_through() -> None:
    rows = [np.ones(3), np.zeros(3)]

    def f(x: Any) -> Any:
        rows[0][1] = x[0]
        total = 0.0
        for i in range(2):
            total = total + np.sum(rows[i] * x)
        return total

    try:
        found = grad(f)(X)
    except S2SADError:
        return
    rows[0][1] = 1.0
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_an_attribute_by_its_name() -> None:
    def f(x: Any, name: str) -> Any:
        GRID.u[1] = x[0]
        return np.sum(getattr(GRID, name)) * x[1]

    try:
        found = grad(f)(X, "u")
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(reset(lambda x: f(x, "u")), (X,)), rtol=1e-6)
