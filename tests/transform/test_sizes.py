"""Objects that are made in loops whose number of rounds follows from the sizes of arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hessian, hvp, jvp, value_and_grad, vjp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient, richardson_jvp
from tests.random_sizes import generate, verdicts
from tests.trees import same_bits

RNG = np.random.default_rng(7)
X = RNG.normal(size=4) + 0.1
ROWS = RNG.normal(size=(3, 2))


class Part:
    def __init__(self, value: Any, weight: Any = 1.0) -> None:
        self.value, self.weight = value, weight

    def energy(self) -> Any:
        return self.weight * np.sum(self.value * self.value)


@dataclass
class Body:
    position: Any
    velocity: Any
    mass: float = 1.0


class Layer:
    def __init__(self, weights: Any) -> None:
        self.weights = weights
        self.activation = None

    def __call__(self, x: Any) -> Any:
        self.activation = np.tanh(self.weights @ x)
        return self.activation


class Network:
    def __init__(self, weights: Any) -> None:
        self.layers = [Layer(w) for w in weights]

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


def of_a_range(x: Any) -> Any:
    parts = [Part(x[i], 1.0 + i) for i in range(len(x))]
    return sum(p.energy() for p in parts)


def of_a_shape(x: Any) -> Any:
    parts = []
    for j in range(x.shape[1]):
        parts.append(Part(x[:, j]))  # noqa: PERF401
    return sum(p.energy() ** 2 for p in parts)


def of_items(x: Any) -> Any:
    parts = [Part(v) for v in x[1:]]
    return parts[0].energy() * parts[-1].energy() + len(parts)


def of_pairs(x: Any) -> Any:
    parts = [Part(a, b) for a, b in zip(x[:-1], x[1:], strict=True)]  # noqa: RUF007
    return sum((i + 1) * p.energy() for i, p in enumerate(parts))


def of_spaced_numbers(x: Any) -> Any:
    parts = [Part(x[i], t) for i, t in enumerate(np.linspace(0.5, 1.0, len(x)))]
    return sum(p.energy() for p in reversed(parts))


def of_a_whole_number(x: Any, n: int) -> Any:
    parts = [Part(x[i % 2], 1.0 + i) for i in range(n)]
    return sum(p.energy() for p in parts) + 0.0 * x[0]


def of_another_shape(x: Any) -> Any:
    return moved(x.reshape(-1, 2), 2)


def of_what_is_computed(x: Any) -> Any:
    y = np.exp(x) * 2.0
    return sum(p.energy() for p in [Part(v) for v in y])


def of_names(x: Any, names: Any) -> Any:
    parts = {name: Part(v) for name, v in zip(names, x, strict=False)}
    return sum(parts[name].energy() for name in names) * parts["a"].value


def while_there_are_more(x: Any) -> Any:
    parts, i = [], 0
    while i < len(x):
        parts.append(Part(x[i]))
        i += 1
    return sum(p.energy() for p in parts)


def in_a_callee(x: Any, n: int) -> Any:
    total = 0.0
    for _ in range(n):
        total = total + of_items(x) * of_a_whole_number(x, 3)
    return total


def of_rows_of_rows(x: Any) -> Any:
    grid = [[Part(v) for v in row] for row in x]
    total = 0.0
    for i in range(len(grid)):
        for j in range(len(grid[i])):
            total += grid[i][j].energy() * (i + 2 * j)
    return total


def of_a_class_that_is_mapped(x: Any) -> Any:
    return sum((i + 1) * p.energy() for i, p in enumerate(map(Part, x)))


def moved(x: Any, steps: int) -> Any:
    bodies = [Body(row, np.zeros(2), 1.0 + i) for i, row in enumerate(x)]
    for _ in range(steps):
        for a in bodies:
            force = np.zeros(2)
            for b in bodies:
                if a is not b:
                    force += b.mass * (b.position - a.position)
            a.velocity = a.velocity + 0.1 * force
        for body in bodies:
            body.position = body.position + 0.1 * body.velocity
    return sum(0.5 * b.mass * np.dot(b.velocity, b.velocity) for b in bodies)


def while_the_array_changes(x: Any) -> Any:
    y = x * 1.0
    parts = []
    for i, v in enumerate(y):
        if i + 1 < len(y):
            y[i + 1] = y[i + 1] + v * v
        parts.append(Part(v, 1.0 + i))
    return sum(p.energy() for p in parts)


def while_both_change(x: Any) -> Any:
    y = x * 1.0
    parts = []
    for a, b in zip(y, y[::-1], strict=True):
        y[:] = y * 1.5
        parts.append(Part(a * b))
    return sum(p.energy() for p in parts)


def of_weighted_items(x: Any) -> Any:
    parts = [Part(v) for v in x]
    total = sum(p.energy() for p in parts)
    for w, v in reversed(list(zip([1.0, 2.0, 3.0, 4.0], x, strict=False))):
        total = total + w * np.sin(v)
    return total * dict(zip(["a", "b"], x, strict=False))["b"]


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (of_a_range, (X,)),
    (of_a_shape, (ROWS,)),
    (of_items, (X,)),
    (of_pairs, (X,)),
    (of_spaced_numbers, (X,)),
    (of_a_whole_number, (X, 3)),
    (of_another_shape, (X,)),
    (of_what_is_computed, (X,)),
    (of_names, (X, ["a", "b"])),
    (while_there_are_more, (X,)),
    (in_a_callee, (X, 2)),
    (of_rows_of_rows, (ROWS,)),
    (of_a_class_that_is_mapped, (X,)),
    (moved, (ROWS, 2)),
    (while_the_array_changes, (X,)),
    (while_both_change, (X,)),
    (of_weighted_items, (X,)),
]


@pytest.mark.parametrize(("f", "args"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_derivatives(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    x, *rest = args
    way = np.cos(np.arange(x.size)).reshape(x.shape)
    expected = numeric_gradient(f, args)
    value, found = value_and_grad(f)(*args)
    np.testing.assert_allclose(value, f(*args), rtol=1e-14)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
    dots = (way, *[None] * len(rest))
    np.testing.assert_allclose(jvp(f, args, dots)[1], np.sum(expected * way), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(vjp(f, *args, argnums=(0,))[1](2.0)[0], 2.0 * expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("f", "args"), CASES[::3], ids=[f.__name__ for f, _ in CASES[::3]])
def test_second_derivatives(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    x, *rest = args
    way = np.cos(np.arange(x.size)).reshape(x.shape)
    dots = (way, *[None] * len(rest))
    second = richardson_jvp(lambda y: grad(f)(y, *rest), [x], [way])
    np.testing.assert_allclose(hvp(f, args, dots), second, rtol=1e-5, atol=1e-7)


def test_each_number_of_items_has_a_derivative() -> None:
    gradient = grad(of_a_range)
    for size in (3, 1, 2, 3, 60, 70):
        x = np.linspace(0.5, 1.0, size)
        np.testing.assert_allclose(gradient(x), 2.0 * x * (1.0 + np.arange(size)))


def test_each_whole_number_has_a_derivative() -> None:
    gradient, x = grad(of_a_whole_number), np.array([0.5, 2.0])
    for n in (3, 2, 3, 0, 1):
        np.testing.assert_allclose(gradient(x, n), numeric_gradient(of_a_whole_number, (x, n)), atol=1e-9)
    for n in (2, 3):
        expected = numeric_gradient(of_a_whole_number, (x, n))
        assert jvp(of_a_whole_number, (x, n), (np.ones(2), None))[1] == pytest.approx(expected.sum())


def network(weights: Any, x: Any) -> Any:
    return np.sum(Network(weights)(x) ** 2)


def by_name(params: Any) -> Any:
    parts = {name: Part(value) for name, value in params.items()}
    return sum(p.energy() for p in parts.values()) * parts["u"].value


def test_lists_and_dicts_of_parameters() -> None:
    weights, x = [RNG.normal(size=(2, 3)), RNG.normal(size=(4, 2))], RNG.normal(size=3)
    for number, found in enumerate(grad(network)(weights, x)):
        others = list(weights)

        def one(w: Any, number: int = number, others: list[Any] = others) -> Any:
            others[number] = w
            return network(others, x)

        np.testing.assert_allclose(found, numeric_gradient(one, (weights[number],)), rtol=1e-6, atol=1e-9)
    # The derivative of (u^2 + v^2) u.
    assert grad(by_name)({"u": 2.0, "v": 3.0}) == {"u": 3.0 * 4.0 + 9.0, "v": 12.0}
    assert grad(by_name)({"u": 2.0}) == {"u": 12.0}


def appended(x: Any, more: Any) -> Any:
    more.append(x[0])
    return sum(p.energy() for p in [Part(v * x[1]) for v in more])


def handed_on(x: Any, more: Any) -> Any:
    add_to(more, x[0])
    return sum(p.energy() for p in [Part(v * x[1]) for v in more])


def add_to(items: Any, value: Any) -> None:
    items.append(value)


def of_a_longer_list(x: Any, more: Any) -> Any:
    longer = list(more)
    longer.append(x[0])
    return sum(p.energy() for p in [Part(v * x[1]) for v in longer])


@pytest.mark.parametrize("f", [appended, handed_on, of_a_longer_list])
def test_a_list_that_changes_has_another_number_of_items(f: Callable[..., Any]) -> None:
    more = [1.0, 2.0]
    try:
        found = grad(f)(X, more)
    except UnsupportedError:
        assert f is not of_a_longer_list
        return
    np.testing.assert_allclose(found, numeric_gradient(lambda x: f(x, [1.0, 2.0]), (X,)), rtol=1e-6, atol=1e-9)
    assert same_bits(more, [1.0, 2.0])


def changed_shape(x: Any) -> Any:
    y = x.copy()
    y.shape = (2, 2)
    return sum(p.energy() for p in [Part(row) for row in y])


def test_an_array_that_gets_another_shape() -> None:
    try:
        found = grad(changed_shape)(X)
    except UnsupportedError:
        return
    np.testing.assert_allclose(found, 2.0 * X)


def of_numbers_alone(x: Any) -> Any:
    total = 0.0
    for v in x:
        total = total + v * v
    return total


def test_other_loops_stay() -> None:
    assert "for " in grad(of_numbers_alone).source_for(X)
    text = grad(of_a_range).source_for(np.ones(3))
    assert "x[2]" in text
    assert "len(" not in text


def test_second_derivatives_of_sizes() -> None:
    np.testing.assert_allclose(hessian(of_a_range)(X), np.diag(2.0 * (1.0 + np.arange(4))))
    np.testing.assert_allclose(grad(lambda x: np.sum(grad(of_a_range)(x) ** 2))(X), 8.0 * X * (1.0 + np.arange(4)) ** 2)


@pytest.mark.parametrize("seed", range(900, 907))
def test_random_programs(seed: int) -> None:
    found = list(verdicts(seed))
    assert set(found) <= {"right", "refused", "raised"}, generate(seed)


def test_most_random_programs_are_differentiated() -> None:
    found = [verdict for seed in range(912, 918) for verdict in verdicts(seed)]
    assert found.count("right") > len(found) / 2


class Count(IntEnum):
    TWO = 2
    THREE = 3


def of_unpacked_keys(x: Any, table: Any) -> Any:
    a, b = table
    parts = [Part(x[i], 1.0 + table[i]) for i in range(a + b + 1)]
    return sum(p.energy() for p in parts)


def test_whole_numbers_of_other_classes_and_keys_are_not_taken_for_sizes() -> None:
    gradient, x = grad(of_a_whole_number), np.array([0.5, 2.0])
    for n in (Count.TWO, Count.THREE, 2, Count.THREE):
        try:
            found = gradient(x, n)
        except UnsupportedError:
            continue
        np.testing.assert_allclose(found, numeric_gradient(of_a_whole_number, (x, n)), atol=1e-9)
    for table in ({0: 5, 1: 7}, {1: 1, 0: 0}):
        try:
            found = grad(of_unpacked_keys)(x, table)
        except UnsupportedError:
            continue
        np.testing.assert_allclose(found, numeric_gradient(of_unpacked_keys, (x, table)), atol=1e-9)


class Section:
    def __init__(self, row: Any) -> None:
        self.row, self.last = row, 0.0

    def step(self, v: Any) -> Any:
        out = self.row[0] * v + self.row[1] * self.last
        self.last = out * self.row[2]
        return out


class Chain:
    def __init__(self, rows: Any) -> None:
        self.sections = []
        for row in rows:
            self.sections.append(Section(row))

    def step(self, v: Any) -> Any:
        for section in self.sections:
            v = section.step(v)
        return v

    def energy(self, x: Any) -> Any:
        total = 0.0
        for v in x:
            total = total + self.step(v) ** 2
        return total


class Design:
    def __init__(self, rows: Any) -> None:
        self.rows = rows


COEFFICIENTS = np.array([[0.1, 0.2, 0.1], [1.0, 0.3, 0.4]])
DESIGN = Design(COEFFICIENTS)


def of_the_rows_of_a_module_array(x: Any) -> Any:
    return Chain(COEFFICIENTS).energy(x)


def of_the_shape_of_a_module_array(x: Any) -> Any:
    sections = [Section(COEFFICIENTS[k]) for k in range(COEFFICIENTS.shape[0])]
    return sum(section.step(x[0]) * section.step(x[1]) for section in sections)


def of_the_rows_of_an_attribute(x: Any) -> Any:
    return Chain(DESIGN.rows * 2.0).energy(x)


def of_the_rows_of_a_display(x: Any) -> Any:
    return Chain(np.array([[0.1, 0.2, x[0]], [x[1], 0.3, 0.4], [0.5, x[2], 0.1]])).energy(x)


def of_rows_that_are_stacked(x: Any) -> Any:
    return Chain(np.stack([x[:3], np.ones(3), np.linspace(0.0, 1.0, 3)])).energy(x)


def of_the_rows_of_zeros(x: Any) -> Any:
    rows = np.zeros((2, 3))
    rows += x[:3]
    return Chain(rows).energy(x)


def of_a_module_array_and_a_number(v: Any) -> Any:
    chain = Chain(COEFFICIENTS)
    return chain.step(v) * chain.step(v * v)


OF_OTHER_ARRAYS = [
    of_the_rows_of_a_module_array,
    of_the_shape_of_a_module_array,
    of_the_rows_of_an_attribute,
    of_the_rows_of_a_display,
    of_rows_that_are_stacked,
    of_the_rows_of_zeros,
]


@pytest.mark.parametrize("f", OF_OTHER_ARRAYS)
def test_sizes_of_arrays_that_are_no_arguments(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-6)
    np.testing.assert_allclose(hvp(f, (X,), (np.ones(4),)), richardson_jvp(grad(f), [X], [np.ones(4)]), rtol=1e-6)


def test_sizes_of_arrays_of_a_module_with_a_number() -> None:
    f = of_a_module_array_and_a_number
    np.testing.assert_allclose(grad(f)(0.7), numeric_gradient(f, (0.7,)), rtol=1e-7)


def test_sizes_of_arrays_of_a_closure() -> None:
    def chain(n: int) -> Callable[..., Any]:
        rows = np.linspace(0.1, 0.9, 3 * n).reshape(n, 3)
        return lambda x: Chain(rows).energy(x)

    for n in (1, 2, 4):
        np.testing.assert_allclose(grad(chain(n))(X), numeric_gradient(chain(n), (X,)), rtol=1e-6)


def test_arrays_that_have_other_sizes_in_another_call(monkeypatch: pytest.MonkeyPatch) -> None:
    derivatives = [(f, grad(f)) for f in OF_OTHER_ARRAYS]
    for rows in (COEFFICIENTS, np.array([[0.3, -0.2, 0.5]]), np.linspace(0.2, 0.8, 15).reshape(5, 3)):
        monkeypatch.setitem(globals(), "COEFFICIENTS", rows)
        monkeypatch.setattr(DESIGN, "rows", rows)
        for f, derivative in derivatives:
            np.testing.assert_allclose(derivative(X), numeric_gradient(f, (X,)), rtol=1e-6, err_msg=f.__name__)


def of_a_part_of_a_number(x: Any, n: int) -> Any:
    parts = [Part(x * i) for i in range(n)]
    return sum(p.energy() for p in parts) + np.sum(x[:2])


def test_a_slice_of_a_number_raises_as_in_python() -> None:
    np.testing.assert_allclose(grad(of_a_part_of_a_number)(X[:2], 2), 2.0 * X[:2] + 1.0)
    with pytest.raises(TypeError, match="not subscriptable"):
        grad(of_a_part_of_a_number)(0.5, 2)
