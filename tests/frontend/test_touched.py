"""Which attributes and arrays a program writes and reads: the program in, their names out."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from s2sad import grad
from s2sad.frontend.source import read_source
from s2sad.frontend.touched import Calls
from s2sad.runtime.objects import state_of
from tests.oracle import numeric_gradient

X = np.array([0.5, 1.2, -0.7])


class Layer:
    def __init__(self) -> None:
        self.w = np.array([1.0, 2.0, 3.0])
        self.count = 0
        self.seen: Any = None

    def forward(self, x: Any) -> Any:
        return np.tanh(self.w * x)

    def counted(self, x: Any) -> Any:
        self.count += 1
        return self.w * x

    def reset(self) -> None:
        self.w = np.zeros(3)


class Unrelated:
    """Its methods have the names of those of `Layer`."""

    def forward(self) -> None:
        self.w = 1.0
        self.forward = 2.0  # type: ignore[method-assign, assignment]

    def __add__(self, other: Any) -> Any:
        self.w = 5.0
        return self

    def __call__(self) -> None:
        self.seen = 3.0


LAYER = Layer()
UNRELATED = Unrelated()
LAYERS = [Layer(), Layer()]
CALLBACKS: list[Any] = [types.SimpleNamespace()]


def reset() -> None:
    LAYER.reset()


def reset_all() -> None:
    for layer in LAYERS:
        layer.reset()


def shown() -> str:
    return str(LAYER.count)


def forward(x: Any) -> Any:
    return np.sum(LAYER.forward(x))


def counted(x: Any) -> Any:
    return np.sum(LAYER.counted(x))


def by_a_helper(x: Any) -> Any:
    reset()
    return np.sum(x)


def by_what_a_list_holds(x: Any) -> Any:
    reset_all()
    return np.sum(x)


def by_name(x: Any) -> Any:
    setattr(LAYER, "seen", x[0])  # noqa: B010
    return np.sum(x)


def by_any_name(x: Any, name: str) -> Any:
    setattr(LAYER, name, x[0])
    return np.sum(x)


def by_a_callback(x: Any) -> Any:
    for callback in CALLBACKS:
        callback()
    return np.sum(x)


def made(x: Any) -> Any:
    layer = Layer()
    layer.w = x
    return np.sum(layer.w)


def in_a_try(x: Any) -> Any:
    try:
        LAYER.count = 1
    finally:
        del LAYER.seen
    return np.sum(x)


def program(f: Any, is_whole: bool = True) -> Calls:
    """The program that begins with a function, of whose arguments nothing is known."""
    return Calls(f, is_whole, {})


def touched(f: Callable[..., Any], own: tuple[types.FunctionType, ...] = ()) -> Any:
    assert isinstance(f, types.FunctionType)
    return program(f).touched(f, read_source(f), own)


@pytest.mark.parametrize(
    ("f", "written"),
    [
        (forward, set()),
        (counted, {"count"}),
        (by_a_helper, {"w"}),
        (by_name, {"seen"}),
        (made, set()),
        (in_a_try, {"count", "seen"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_attributes_that_are_set(f: Callable[..., Any], written: set[str]) -> None:
    assert touched(f).written == written


@pytest.mark.parametrize("f", [by_any_name, by_a_callback, by_what_a_list_holds], ids=lambda f: f.__name__)
def test_code_that_is_not_known_may_set_any(f: Callable[..., Any]) -> None:
    assert touched(f) is None


def reads_by_a_function(x: Any) -> Any:
    return np.sum(x) + float(shown())


def test_attributes_that_are_read_elsewhere() -> None:
    assert "count" in touched(reads_by_a_function).read
    assert "count" not in touched(reads_by_a_function, (shown,)).read
    assert touched(forward, (Layer.forward,)).read == set()


def test_a_callee_is_analysed_for_the_calls_of_the_program() -> None:
    calls = program(calls_it)
    assert calls.touched(begun, read_source(begun)).written == {"w"}
    assert program(forward).touched(begun, read_source(begun)) is None


def begun(layer: Any) -> None:
    layer.reset()


def calls_it(x: Any) -> Any:
    begun(LAYER)
    return np.sum(x)


def test_what_it_rests_on_is_guarded() -> None:
    guards = {guard.name: guard for guard in touched(reads_by_a_function).guards}
    assert guards["shown"].holds()


def test_methods_of_the_same_name_of_other_classes_do_not_count() -> None:
    np.testing.assert_allclose(grad(forward)(X), numeric_gradient(forward, (X,)), rtol=1e-6)
    tree = ast.parse(grad(forward).source_for(X))
    assert not [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == "forward"]


def test_an_object_that_is_reset_between_calls_is_read_again() -> None:
    df = grad(forward)
    df(X)
    LAYER.w = np.array([2.0, -1.0, 0.5])
    np.testing.assert_allclose(df(X), numeric_gradient(forward, (X,)), rtol=1e-6)


# --- arrays that exist and are written

BUFFER = np.zeros(3)
HOLDER = {"buffer": BUFFER}


def writes(x: Any) -> Any:
    BUFFER[:] = x
    LAYER.w[0] = x[1]
    return total() + reads_another()


def total() -> Any:
    return np.sum(BUFFER)


def reads_another() -> Any:
    return np.sum(UNRELATED.w)  # type: ignore[attr-defined]


def writes_nothing(x: Any) -> Any:
    return np.sum(BUFFER * x)


def counted(t: Any, y: Any) -> Any:
    BUFFER[0] += t
    return -y


def by_a_library(x: Any) -> Any:
    turned = Rotation.from_euler("xyz", x).apply(x)
    return np.sum(solve_ivp(counted, (0.0, 1.0), turned).y[:, -1])


def test_of_a_library_that_has_models_only_what_it_calls_is_followed() -> None:
    calls = program(by_a_library)
    assert list(calls.state.arrays.values()) == [("BUFFER", BUFFER)]
    made, _ = calls._program  # type: ignore[misc]
    assert {c.function.code.name for c in made.contexts.values()} == {"by_a_library", "counted"}


def test_arrays_that_are_written_and_who_reads_them() -> None:
    state = program(writes).state
    assert [(name, array) for name, array in state.arrays.values()] == [("BUFFER", BUFFER), ("w", LAYER.w)]
    assert state.is_read_by(total)
    assert not state.is_read_by(reads_another)
    assert program(writes_nothing).state.arrays == {}
    assert program(writes, is_whole=False).state.arrays == {}


def begun_with_state(x: Any) -> Any:
    buffer = state_of(BUFFER, 1, "d")
    buffer[:] = x
    return np.sum(buffer)


def read_by_a_list(x: Any) -> Any:
    buffer = state_of(BUFFER, 1, "d")
    buffer[:] = x
    return np.sum(np.concatenate(list(HOLDER.values())))


def read_by_a_function(x: Any) -> Any:
    buffer = state_of(BUFFER, 1, "d")
    buffer[:] = x
    return total()


@pytest.mark.parametrize(
    ("f", "is_read"),
    [(begun_with_state, False), (read_by_a_list, True), (read_by_a_function, True), (writes_nothing, True)],
)
def test_who_reads_the_arrays_but_the_program_at_its_start(f: Any, is_read: bool) -> None:
    assert program(f).touched(f, read_source(f), (), program(writes).state).state is is_read  # type: ignore[union-attr]
