"""Calls with an argument behind a star of which the number of items is known only at run time."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import leaves, numeric_gradient

GRID = np.linspace(0.0, 1.0, 4)


def weighted(a: Any, b: Any, c: Any = 2.0, d: Any = 3.0) -> Any:
    return a * b + c**2 * d


def peaks(at: Any, *params: Any) -> Any:
    total = np.zeros_like(at)
    for i in range(0, len(params), 2):
        height, width = params[i : i + 2]
        total = total + height * np.exp(-at * width)
    return total


def scaled(a: Any, *others: Any, k: Any = 2.0) -> Any:
    return a * k + others[0] * len(others)


class Rotation:
    def __init__(self, w: Any = 1.0, i: Any = 0.0, j: Any = 0.0, k: Any = 0.5) -> None:
        self.parts = np.array([w, i, j, k])

    def turned(self, a: Any, b: Any = 1.0) -> Any:
        return np.sum(self.parts**2) * a + b


def handed_on(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def wrapper(first: Any, *args: Any) -> Any:
        return f(first * 2.0, *args)

    return wrapper


@handed_on
def product(a: Any, b: Any) -> Any:
    return a * b**2


def some_defaults(x: Any) -> Any:
    return weighted(2.0, *x)


def all_required(x: Any) -> Any:
    return weighted(*x[:2])


def one_by_name(x: Any) -> Any:
    return weighted(*x[:2], d=x[0])


def into_a_star(x: Any) -> Any:
    return np.sum(peaks(GRID, *x) ** 2)


def into_names_and_a_star(x: Any) -> Any:
    return scaled(*x, k=x[0]) + scaled(x[1], *x)


def into_a_class(x: Any) -> Any:
    return np.sum(Rotation(*x).parts ** 3)


def into_a_method(x: Any) -> Any:
    return Rotation(*x).turned(*x[:2]) + Rotation(*x[:1]).turned(*x[:1])


def into_a_lambda(x: Any) -> Any:
    return (lambda a, b, c=1.0: a * b * c)(*x[:2])


def through_a_wrapper(x: Any) -> Any:
    return product(*x[:2])


def area(state: Any) -> Any:
    return np.sqrt(np.sum(np.cross(*state) ** 2))


def turned(k: Any, state: Any, **options: Any) -> Any:
    return k * area(state) + np.dot(*state, **options)


def tuple_into_a_function_of_numpy(x: Any) -> Any:
    state = (np.array([x[0], 1.0, x[1]]), np.array([2.0, x[1], 0.5]))
    return area(state) + turned(x[0], (state[1], state[0] * 2.0))


# --- arguments behind two stars


def dense(x: Any, w: Any, b: Any, scale: Any = 1.0, mask: Any = None) -> Any:
    if mask is not None:
        x = x * mask
    return x @ (scale * w) + b


def block(x: Any, first: Any, last: Any, *, power: int = 1) -> Any:
    return dense(np.tanh(dense(x, **first)) ** power, **last)


def network(x: Any, blocks: Any) -> Any:
    for parameters in blocks:
        x = block(x, **parameters)
    return np.sum(x**2)


class Layer:
    def __init__(self, w: Any, b: Any = 0.5) -> None:
        self.w, self.b = w, b

    def __call__(self, x: Any, gain: Any, shift: Any = 0.0) -> Any:
        return np.sin(x @ self.w + self.b) * gain + shift


def layers(x: Any, configs: Any, options: Any) -> Any:
    for config in configs:
        x = Layer(**config)(x, **options)
    return np.sum(x)


EYE = np.array([[0.7, -0.2], [0.3, 1.1]])
BLOCKS: list[dict[str, Any]] = [
    {"first": {"w": EYE, "b": np.ones(2)}, "last": {"w": EYE * 2, "b": np.zeros(2), "scale": 0.3}},
    {"first": {"b": np.ones(2), "w": EYE, "mask": np.array([0.5, 2.0])}, "last": {"w": EYE, "b": EYE[0]}, "power": 2},
]
OPTIONS: dict[str, Any] = {"gain": 0.4}


def of_the_module(x: Any) -> Any:
    return network(x, BLOCKS)


def of_an_item(x: Any) -> Any:
    return np.sum(dense(x, scale=x[0, 0], **BLOCKS[0]["first"]) ** 2)


def of_a_display(x: Any) -> Any:
    return np.sum(block(x, {"w": x[:2, :2], "b": np.zeros(2)}, {"b": x[0], "w": EYE}) ** 2)


def of_classes(x: Any) -> Any:
    return layers(x, [{"w": EYE, "b": x[0, 1]}, {"w": x[:2] * 2}], OPTIONS)


X = np.array([[0.3, -0.4], [0.7, 1.2], [0.1, 0.9]])


@pytest.mark.parametrize("f", [of_the_module, of_an_item, of_a_display, of_classes], ids=lambda f: f.__name__)
def test_keys_are_names_of_parameters(f: Callable[[Any], Any]) -> None:
    expected = numeric_gradient(f, (X,), 0)
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (X[::-1],))[1], np.sum(expected * X[::-1]), rtol=1e-6, atol=1e-9)


def test_gradients_of_what_is_behind_two_stars() -> None:
    found = grad(network, argnums=1)(X, BLOCKS)
    expected = numeric_gradient(network, (X, BLOCKS), 1)
    for block_bar, known in zip(found, expected, strict=True):
        assert block_bar.keys() == known.keys()
        for part in ("first", "last"):
            assert block_bar[part].keys() == known[part].keys()
            for name, value in known[part].items():
                np.testing.assert_allclose(block_bar[part][name], value, rtol=1e-6, atol=1e-8)


def test_other_keys_raise() -> None:
    first, last = BLOCKS[0]["first"], BLOCKS[0]["last"]
    missing, unexpected = {"first": first}, {"first": first, "last": last, "x": 1.0}
    for wrong in (missing, unexpected, {"first": first, "last": last | {"bias": 1.0}}):
        for f in (network, grad(network)):
            with pytest.raises(TypeError, match="argument"):
                f(X, [wrong])
    with pytest.raises(UndefinedDerivativeError, match="two stars"):
        grad(network)(X, [types.MappingProxyType(BLOCKS[0])])


# --- rows behind one


def heads(x: Any) -> Any:
    parts = list(map(lambda p: np.split(p, 2, axis=-1), np.split(x, 3, axis=-1)))
    return np.sum(np.hstack([np.tanh(q @ k.T) @ v for q, k, v in zip(*parts)]) ** 2)


def columns_of_an_array(x: Any) -> Any:
    total = 0.0
    for a, b, c in zip(*x[:, :3].T):
        total += np.sin(a) * b + c * total
    return total + sum(a * b**2 for a, b, c in zip(*x[:, 3:].T))


def rows_of_lists(x: Any) -> Any:
    rows = [[x[0, 0], x[0, 1]], [x[1, 2], x[1, 1], x[0, 2]]]  # the last one of which has no partner
    products = []
    for a, b in zip(*rows):
        products.append(a * b)
    return products[0] * 2 + products[1] ** 2


def rows_of_an_iterator(x: Any) -> Any:
    return sum(a * b for a, b in zip(*(row * 2 for row in x)))


def columns_by_name(x: Any) -> Any:
    points = [(x[0], x[1, 1]), (x[1], x[0, 2])]
    rows, numbers = zip(*points)
    return np.sum(rows[0] * rows[1]) * numbers[0] + sum(numbers) ** 2


WIDE = np.array([[0.3, -0.4, 0.7, 1.2, 0.1, 0.9], [1.1, 0.2, -0.6, 0.4, 0.8, -0.5]])


@pytest.mark.parametrize(
    "f", [heads, columns_of_an_array, rows_of_lists, rows_of_an_iterator, columns_by_name], ids=lambda f: f.__name__
)
def test_as_many_rows_as_parts(f: Callable[[Any], Any]) -> None:
    expected = numeric_gradient(f, (WIDE,), 0)
    np.testing.assert_allclose(grad(f)(WIDE), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (WIDE,), (WIDE**2,))[1], np.sum(expected * WIDE**2), rtol=1e-6, atol=1e-9)


def pairs(x: Any, rows: Any) -> Any:
    return x * sum(a * b for a, b in zip(*rows))


def test_rows_of_another_number() -> None:
    for rows, message in (([[1.0], [2.0], [3.0]], "too many values"), ([[1.0]], "not enough values")):
        for f in (pairs, grad(pairs), grad(pairs, argnums=1)):
            with pytest.raises(ValueError, match=message):
                f(2.0, rows)
    for empty in ([], [[]], [[1.0], [], [2.0]]):
        assert grad(pairs)(2.0, empty) == pairs(2.0, empty) == 0.0
        assert grad(pairs, argnums=1)(2.0, empty) == [[0.0] * len(row) for row in empty]


def weights_and_offsets(p: Any) -> Any:
    ws, bs = zip(*p)
    h = 1.0
    for w, b in zip(ws, bs):
        h = h * np.sum(w**2) + b * bs[0]
    return h * len(ws)


def columns_one_by_one(p: Any) -> Any:
    out = []
    for c in zip(*p):
        out.append(np.sum(c[0]) * np.sum(c[1]))
    first = list(zip(*p))[0]
    ws, bs = map(list, zip(*p))
    return sum(out) * np.sum([np.sum(w**2) for w in first]) + np.sum(ws[0]) * bs[1]


@pytest.mark.parametrize("f", [weights_and_offsets, columns_one_by_one], ids=lambda f: f.__name__)
def test_columns_of_an_argument(f: Callable[[Any], Any]) -> None:
    p = [(np.array([0.3, 0.7]), 0.5), (np.array([1.1]), -0.4)]
    for found, expected in zip(leaves(grad(f)(p)), leaves(numeric_gradient(f, (p,))), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_columns_that_are_too_many_or_too_few() -> None:
    for wrong in ([], [(1.0, 2.0, 3.0)]):
        with pytest.raises(ValueError, match="unpack"):
            grad(weights_and_offsets)(wrong)


# --- arguments behind one


PROGRAMS: list[Callable[[Any], Any]] = [
    some_defaults, all_required, one_by_name, into_a_star, into_names_and_a_star, into_a_class, into_a_method,
    into_a_lambda, through_a_wrapper, tuple_into_a_function_of_numpy,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_each_item_is_an_argument(f: Callable[[Any], Any]) -> None:
    for count in (2, 4) if f is not some_defaults else (1, 2, 3):
        x = np.array([0.3, -0.4, 0.7, 1.2])[:count]
        expected = numeric_gradient(f, (x,), 0)
        np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6, atol=1e-9)
        direction = np.array([1.0, 0.5, -2.0, 0.3])[:count]
        np.testing.assert_allclose(jvp(f, (x,), (direction,))[1], expected @ direction, rtol=1e-6, atol=1e-9)


def test_too_few_or_too_many_raise() -> None:
    with pytest.raises(ValueError, match="too many"):
        grad(some_defaults)(np.ones(4))
    with pytest.raises(UndefinedDerivativeError, match="as many"):
        grad(some_defaults)(np.ones(0))
