"""Functions that write what they are given, and are reached by arguments, tables, branches and other names."""

from __future__ import annotations

import dataclasses
import functools
import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.5, 1.2, -0.7, 0.9])
D = np.array([0.3, -1.0, 0.8, 0.4])


def periodic(u: Any, v: float = 0.35) -> None:
    u[0] = u[-2]
    u[-1] = u[1] * v


def neumann(u: Any, v: float = 0.5) -> None:
    u[0] = u[1]
    u[-1] = u[-2] + v


def squared(u: Any) -> Any:
    return u * u


def bound(v: float) -> Callable[[Any], None]:
    def condition(u: Any) -> None:
        u[0] = v * u[1]

    return condition


class Boundary:
    def __init__(self, v: float, at: int) -> None:
        self.v, self.at = v, at

    def apply(self, u: Any) -> None:
        u[self.at] = self.v * u[1]


WALL, OPEN = Boundary(0.3, 0), Boundary(0.6, -1)
BOUNDARIES = {"first": WALL, "second": OPEN}
MODELS = {"first": (periodic, 0.4, 1), "second": (neumann, 0.6, 2)}
CONDITIONS = {"periodic": periodic, "neumann": neumann}
STEPS = [periodic, neumann]
SUMS = {"add": np.add, "multiply": np.multiply}


def stepped(u: Any) -> Any:
    u[1:-1] = np.sin(u[2:] - u[:-2])
    return np.sum(u * u)


def by_a_table_of_its_own(x: Any, kind: str = "periodic") -> Any:
    condition = {"periodic": periodic, "neumann": neumann}[kind]
    u = x * x
    for _ in range(2):
        condition(u)
        s = stepped(u)
    return s


def by_a_table(x: Any, kind: str = "neumann") -> Any:
    u = x * x
    CONDITIONS[kind](u, x[1])
    return stepped(u)


def by_a_number(x: Any) -> Any:
    u, s = x * x, 0.0
    for i in range(3):
        STEPS[i % 2 - 2](u)
        s += stepped(u)
    return s


def by_a_number_computed(x: Any) -> Any:
    u = x * x
    (periodic, neumann, functools.partial(neumann, v=0.1))[int(np.sum(x > 0.0)) - 1](u)
    return stepped(u)


def by_lambdas(x: Any, kind: str = "b") -> Any:
    u = x * x
    {"a": lambda w: periodic(w, x[0]), "b": lambda w: neumann(w, x[1])}[kind](u)
    return stepped(u)


def by_a_condition(x: Any) -> Any:
    u = x * x
    condition = periodic if x[0] > 0.1 else neumann
    condition(u)
    (neumann if x[0] > 0.1 else periodic)(u, x[2])
    return stepped(u)


def by_a_branch(x: Any) -> Any:
    u = x * x
    if x[0] > 0.1:
        condition = periodic
    else:
        condition = neumann
    condition(u, x[2])
    return stepped(u)


def by_another_name(x: Any) -> Any:
    u = x * x
    for _ in range(2):
        condition = periodic
        condition(u)
    return stepped(u)


def into_out(x: Any, op: str = "multiply") -> Any:
    out = np.zeros(4)
    SUMS[op](x, np.sin(x), out=out)
    return np.sum(out * x)


def by_a_key_that_may_be_missing(x: Any, kind: str = "neumann") -> Any:
    condition = CONDITIONS.get(kind)
    if condition is None:
        raise ValueError(kind)
    u = x * x
    condition(u, x[2])
    {"periodic": periodic}.get(kind, neumann)(u)
    return stepped(u)


def with_numbers_beside(x: Any, kind: str = "second") -> Any:
    condition, v, n = MODELS[kind]
    u = x * x
    for _ in range(n):
        condition(u, v * x[0])
    return stepped(u) * v


def of_objects(x: Any, kind: str = "second") -> Any:
    u = x * x
    BOUNDARIES[kind].apply(u)
    for i in range(2):
        (WALL if x[i] > 0.6 else OPEN).apply(u)
    return stepped(u)


WITHIN = [
    by_a_table_of_its_own, by_a_table, by_a_number, by_a_number_computed, by_lambdas, by_a_condition, by_a_branch,
    by_another_name, into_out, by_a_key_that_may_be_missing, with_numbers_beside, of_objects,
]  # fmt: skip


@pytest.mark.parametrize("f", WITHIN, ids=lambda f: f.__name__)
def test_functions_that_are_chosen_when_the_program_runs(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (D,))[1], richardson_jvp(f, (X,), (D,)), rtol=1e-7)


def test_a_function_that_is_none_is_not_called() -> None:
    with pytest.raises(ValueError, match="elsewhere"):
        grad(by_a_key_that_may_be_missing)(X, "elsewhere")


@pytest.mark.parametrize("kind", ["neumann", "elsewhere"])
def test_a_key_decides_at_each_call(kind: str) -> None:
    derivative = grad(by_a_table_of_its_own)
    derivative(X)
    if kind in CONDITIONS:
        np.testing.assert_allclose(derivative(X, kind), numeric_gradient(by_a_table_of_its_own, (X, kind)), rtol=1e-7)
    else:
        with pytest.raises(KeyError, match=kind):
            derivative(X, kind)


def test_a_place_beyond_the_end_is_an_error() -> None:
    def chosen(x: Any, i: int) -> Any:
        u = x * x
        STEPS[i](u)
        return stepped(u)

    np.testing.assert_allclose(grad(chosen)(X, -1), numeric_gradient(chosen, (X, -1)), rtol=1e-7)
    with pytest.raises(IndexError):
        grad(chosen)(X, 2)


def called(x: Any, condition: Any) -> Any:
    u = x * x
    condition(u)
    return stepped(u)


def called_elsewhere(x: Any, condition: Any) -> Any:
    return called(x, condition) * called(2.0 * x, condition)


def called_by_a_function(x: Any, condition: Any) -> Any:
    def inner(w: Any) -> Any:
        condition(w)
        return stepped(w)

    return inner(x * x)


def called_if_given(x: Any, condition: Any = None) -> Any:
    u = x * x
    if condition is not None:
        old, condition = condition, squared
        old(u)
    return stepped(u)


CALLING = [called, called_elsewhere, called_by_a_function, called_if_given]


@pytest.mark.parametrize("f", CALLING, ids=lambda f: f.__name__)
@pytest.mark.parametrize("condition", [periodic, neumann, bound(0.7)], ids=["periodic", "neumann", "bound"])
def test_functions_as_arguments(f: Callable[..., Any], condition: Any) -> None:
    np.testing.assert_allclose(grad(f)(X, condition), numeric_gradient(f, (X, condition)), rtol=1e-7, atol=1e-9)
    along = richardson_jvp(f, (X, condition), (D, None))
    np.testing.assert_allclose(jvp(f, (X, condition), (D, None))[1], along, rtol=1e-7)


def all_called(x: Any, conditions: Any) -> Any:
    u = x * x
    for condition in conditions:
        condition(u)
    conditions[-1](u)
    return stepped(u) * len(conditions)


def all_called_with_numbers(x: Any, steps: Any) -> Any:
    u = x * x
    for condition, v in steps:
        condition(u, v)
    return stepped(u)


def all_values_called(x: Any, table: Any, kind: str = "b") -> Any:
    u = x * x
    for condition in table.values():
        condition(u)
    table[kind](u)
    return stepped(u)


GIVEN: list[tuple[Callable[..., Any], Any]] = [
    (all_called, (periodic, neumann)),
    (all_called, [neumann, periodic]),
    (all_called, [neumann, squared, periodic]),
    (all_called, (bound(0.2), bound(0.3))),
    (all_called_with_numbers, ((periodic, 0.2), (neumann, 0.3))),
    (all_called_with_numbers, [(periodic, np.float64(0.2)), [neumann, 0.3]]),
    (all_values_called, {"a": periodic, "b": neumann}),
]


@pytest.mark.parametrize(("f", "given"), GIVEN, ids=range(len(GIVEN)))
def test_functions_in_arguments(f: Callable[..., Any], given: Any) -> None:
    np.testing.assert_allclose(grad(f)(X, given), numeric_gradient(f, (X, given)), rtol=1e-7, atol=1e-9)
    along = richardson_jvp(f, (X, given), (D, None))
    np.testing.assert_allclose(jvp(f, (X, given), (D, None))[1], along, rtol=1e-7)


def test_each_function_has_its_own_derivative() -> None:
    """Whatever was called before: functions that write, others, and more closures than are kept."""
    derivative = grad(called_elsewhere)
    conditions = [squared, periodic, squared, squared, neumann, *[bound(0.1 * n) for n in range(10)], periodic]
    for condition in conditions:
        expected = numeric_gradient(called_elsewhere, (X, condition))
        np.testing.assert_allclose(derivative(X, condition), expected, rtol=1e-7, atol=1e-9)
        along = jvp(called_elsewhere, (X, condition), (D, None))[1]
        np.testing.assert_allclose(along, expected @ D, rtol=1e-7)


def test_second_derivatives() -> None:
    def slope(x: Any) -> Any:
        return grad(called)(x, neumann) @ D

    np.testing.assert_allclose(hvp(called, (X, neumann), (D, None)), numeric_gradient(slope, (X,)), rtol=1e-6)


class Solver:
    """An object that holds what it calls."""

    def __init__(self, condition: Any) -> None:
        self.condition, self.w = condition, 0.7

    def run(self, x: Any) -> Any:
        u = x * x
        for _ in range(2):
            self.condition(u)
            s = stepped(u) * self.w
        return s

    def run_all(self, x: Any) -> Any:
        u = x * x
        for condition in self.condition:
            condition(u)
        return stepped(u) * self.w


@dataclasses.dataclass
class Settings:
    condition: Any
    w: float = 0.7

    def run(self, x: Any) -> Any:
        u = x * x
        self.condition(u)
        return stepped(u) * self.w


class Counting(Boundary):
    calls = 0

    def apply(self, u: Any) -> None:
        self.calls += 1
        super().apply(u)

    def into_its_own(self, u: Any) -> None:
        self.kept = u


def held(x: Any, solver: Any) -> Any:
    return solver.run(x)


def all_held(x: Any, solver: Any) -> Any:
    return solver.run_all(x)


OBJECTS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (called, (WALL.apply,)),
    (called_elsewhere, (OPEN.apply,)),
    (all_called, ([WALL.apply, neumann],)),
    (held, (Solver(periodic),)),
    (held, (Solver(WALL.apply),)),
    (held, (Settings(neumann),)),
    (held, (Settings(OPEN.apply, 0.4),)),
    (all_held, (Solver([periodic, neumann]),)),
    (all_held, (Solver((WALL.apply, periodic)),)),
    (Solver(neumann).run, ()),
    (Solver(WALL.apply).run, ()),
    (Settings(periodic).run, ()),
]


@pytest.mark.parametrize(("f", "given"), OBJECTS, ids=range(len(OBJECTS)))
def test_functions_that_objects_hold(f: Callable[..., Any], given: Any) -> None:
    np.testing.assert_allclose(grad(f)(X, *given), numeric_gradient(f, (X, *given)), rtol=1e-7, atol=1e-9)
    dots = (D, *[None] * len(given))
    np.testing.assert_allclose(jvp(f, (X, *given), dots)[1], richardson_jvp(f, (X, *given), dots), rtol=1e-7)


def test_objects_of_one_class_may_hold_other_functions() -> None:
    derivative = grad(held)
    for condition in (periodic, neumann, WALL.apply, OPEN.apply, bound(0.4), periodic):
        solver = Solver(condition)
        expected = numeric_gradient(held, (X, solver))
        np.testing.assert_allclose(derivative(X, solver), expected, rtol=1e-7, atol=1e-9)
        solver.condition = neumann
        np.testing.assert_allclose(derivative(X, solver), numeric_gradient(held, (X, solver)), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["apply", "into_its_own"])
def test_methods_that_change_their_objects_are_refused(name: str) -> None:
    counting = Counting(0.3, 0)
    with pytest.raises(UnsupportedError):
        grad(called)(X, getattr(counting, name))
    assert (counting.calls, hasattr(counting, "kept")) == (0, False)


class Layer:
    def __init__(self, w: float) -> None:
        self.w = w

    def forward(self, x: Any) -> Any:
        return np.tanh(x * self.w)

    def update(self, step: Any) -> None:
        step[:] = step - self.w


LAYERS = [Layer(0.4), Layer(0.7), Layer(1.2)]


def by_place(x: Any) -> Any:
    for i in range(len(LAYERS)):
        x = LAYERS[i].forward(x)
    return np.sum(x * x)


def test_methods_that_write_nothing_stay_calls_of_what_is_found() -> None:
    """Though the class has others: one call is shorter than one for each object."""
    derivative = grad(by_place)
    np.testing.assert_allclose(derivative(X), numeric_gradient(by_place, (X,)), rtol=1e-7)
    assert derivative.source_for(X).count("forward(LAYERS[i].forward, ") == 1


class Schemes:
    def __init__(self, table: Any) -> None:
        self.table = table

    def run(self, x: Any, name: Any) -> Any:
        u = x * x
        self.table[name](u)
        return stepped(u)


@pytest.mark.parametrize("table", [{"a": periodic, "b": neumann}, {"a": WALL.apply, "b": neumann}], ids=range(2))
@pytest.mark.parametrize("name", ["a", "b"])
def test_tables_that_objects_hold(table: Any, name: str) -> None:
    schemes = Schemes(table)
    expected = numeric_gradient(lambda x: schemes.run(x, name), (X,))
    np.testing.assert_allclose(grad(Schemes.run, 1)(schemes, X, name), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(grad(schemes.run)(X, name), expected, rtol=1e-7, atol=1e-9)


class Static:
    @staticmethod
    def apply(u: Any) -> None:
        u[0] = 0.4 * u[1]


KINDS = [Static(), WALL]


def by_a_static_method(x: Any, i: int) -> Any:
    u = x * x
    KINDS[i].apply(u)
    return stepped(u)


def test_static_methods_write_too() -> None:
    np.testing.assert_allclose(grad(by_a_static_method)(X, 0), numeric_gradient(by_a_static_method, (X, 0)), rtol=1e-7)


def test_what_was_compiled_for_functions_that_are_gone_is_forgotten() -> None:
    """Of closures that a loop makes, no more is kept than of the last few."""

    def f(x: Any, condition: Any) -> Any:
        u = x * x
        condition(u)
        return stepped(u)

    kept = [weakref.ref(bound(0.1 * n)) for n in range(3)]
    derivative = grad(f)
    for n in range(20):
        condition = bound(0.1 * n)
        kept.append(weakref.ref(condition))
        derivative(X, condition)
    del condition
    gc.collect()
    assert sum(ref() is not None for ref in kept) <= 12
