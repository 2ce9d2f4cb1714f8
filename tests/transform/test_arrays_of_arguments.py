"""Arrays that are attributes of an argument, an object of a class of the user's, and that the function writes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp, value_and_grad, vjp
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.5, 1.2, -0.7])
DOT = np.array([0.3, -0.8, 0.55])
G = np.ones(4)


class Grid:
    """Two fields that its methods write, a scratch array and a list."""

    def __init__(self) -> None:
        self.u, self.v = np.linspace(0.1, 0.5, 5), np.asfortranarray(np.arange(10.0).reshape(2, 5) / 10.0)
        self.scratch = np.zeros(3)
        self.steps = 0
        self.log: list[Any] = []

    def step(self, c: Any) -> None:
        self.u[1:-1] += c * (self.v[0, 2:] - self.v[1, :-2])
        self.v[:, 1:-1] += c * (self.u[2:] - self.u[:-2])

    def energy(self) -> Any:
        return np.sum(self.u**2) + np.sum(self.v**2)

    def residual(self, x: Any) -> Any:
        np.multiply(x, x, out=self.scratch)
        self.scratch -= 1.0
        return self.scratch

    def loss(self, x: Any) -> Any:
        r = self.residual(x)
        return np.sum(r * r * x)


def steps(x: Any, s: Any) -> Any:
    for i in range(3):
        s.step(x[i])
    return s.energy()


def items(x: Any, s: Any) -> Any:
    s.u[0] = x[0] * s.u[1]
    s.v[1, 1:4] *= x
    return np.sum(s.u**2) + np.sum(s.v[:, 1:4] * x)


def by_a_name(x: Any, s: Any) -> Any:
    u = s.u
    row = s.v[1]
    u[::2] = x
    row[0] = u[2] * x[1]
    return np.sum(s.u) * np.sum(s.v[:, :3] * x)


def by_a_function(x: Any, s: Any) -> Any:
    y = s.u * x[0]
    fill(s.u, x[1])
    return np.sum(y * s.u)


def fill(a: Any, v: Any) -> None:
    a[1:3] = v * a[0]


def written_and_set(x: Any, s: Any) -> Any:
    s.u[0] = x[1]
    s.u = s.u * x[0]
    s.u[1] = x[2]
    s.steps += 1
    return np.sum(s.u**2) * s.steps


def recorded(x: Any, s: Any) -> Any:
    for i in range(2):
        s.u[i] = x[i] ** 2
        s.log.append(np.sum(s.u) * x[2])
    return sum(s.log)


def under_a_condition(x: Any, s: Any) -> Any:
    if x[0] > 0.0:
        s.u[:3] = x
    return s.energy()


def scratch(x: Any, s: Any) -> Any:
    return s.loss(x) + np.sum(s.scratch)


def constants(x: Any, s: Any) -> Any:
    y = x * s.u[:3]
    s.u[:] = 2.0
    return np.sum(y * s.u[2:])


def with_an_array(x: Any, s: Any, k: Any = None) -> Any:
    s.u[0] = x[0]
    return np.sum(s.u[:3] * x) + (0.0 if k is None else np.sum(k[:3] * x))


FUNCTIONS = [
    steps, items, by_a_name, by_a_function, written_and_set, recorded, under_a_condition, scratch, constants,
    with_an_array,
]  # fmt: skip


def fresh(f: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda x: f(x, Grid())


def named(f: Any) -> str:
    return str(f.__name__)


@pytest.mark.parametrize("f", FUNCTIONS, ids=named)
def test_derivatives(f: Any) -> None:
    expected = numeric_gradient(fresh(f), (X,))
    found = grad(f)
    np.testing.assert_allclose(found(X, Grid()), expected, rtol=1e-6, atol=1e-9)
    assert jvp(lambda x: f(x, Grid()), (X,), (DOT,))[1] == pytest.approx(np.sum(expected * DOT), rel=1e-6)
    _, pullback = vjp(lambda x: f(x, Grid()), X)
    np.testing.assert_allclose(pullback(1.0)[0], expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("f", FUNCTIONS, ids=named)
def test_product_with_the_hessian(f: Any) -> None:
    expected = richardson_jvp(fresh(grad(f)), (X,), (DOT,))
    np.testing.assert_allclose(hvp(lambda x: f(x, Grid()), (X,), (DOT,)), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", FUNCTIONS, ids=named)
def test_the_argument_stays_as_it_was_and_the_value_is_the_same(f: Any) -> None:
    s = Grid()
    before = copy.deepcopy(s)
    value, _ = value_and_grad(f)(X, s)
    assert value == f(X, Grid())
    for name, held in vars(before).items():
        np.testing.assert_array_equal(getattr(s, name), held)


def test_a_scratch_array_of_a_bound_method() -> None:
    grid = Grid()
    for _ in range(2):
        np.testing.assert_allclose(grad(grid.loss)(X), numeric_gradient(lambda x: Grid().loss(x), (X,)), rtol=1e-6)
    assert not grid.scratch.any()


def test_another_array_under_the_attribute() -> None:
    found, s = grad(by_a_function), Grid()
    found(X, s)
    s.u = np.array([1.0, 2.0, 3.0])

    def other(x: Any) -> Any:
        t = Grid()
        t.u = np.array([1.0, 2.0, 3.0])
        return by_a_function(x, t)

    np.testing.assert_allclose(found(X, s), numeric_gradient(other, (X,)), rtol=1e-6)


def reads_the_scratch_array(x: Any, s: Any, k: Any) -> Any:
    s.u[2] = x[0]
    return np.sum(s.scratch * x)


def reads_an_argument(x: Any, s: Any, k: Any) -> Any:
    s.u[1] = x[0]
    return np.sum(s.u[:3] * x) + (x[1] if k is None else np.sum(k[:3] * x))


def reads_the_module(x: Any, s: Any, k: Any) -> Any:
    s.u[1] = x[0]
    return np.sum(G[:3] * x)


def in_the_same_place(s: Any) -> tuple[Any, Any]:
    s.scratch = s.u[1:4]
    return s, None


def in_an_argument(s: Any) -> tuple[Any, Any]:
    return s, s.u


def in_a_part_of_an_argument(s: Any) -> tuple[Any, Any]:
    return s, s.u[::-1]


def of_the_module(s: Any) -> tuple[Any, Any]:
    s.u = G
    return s, None


@pytest.mark.parametrize(
    "share", [in_the_same_place, in_an_argument, in_a_part_of_an_argument, of_the_module], ids=named
)
@pytest.mark.parametrize("f", [reads_the_scratch_array, reads_an_argument, reads_the_module], ids=named)
def test_an_array_in_two_places(f: Any, share: Any) -> None:
    """Right, or refused."""
    s, k = share(Grid())
    try:
        found = grad(f)(X, s, k)
    except S2SADError:
        return
    expected = numeric_gradient(lambda x: f(x, *copy.deepcopy((s, k))), (X,))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
