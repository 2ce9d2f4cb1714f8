"""Arrays of modules, closures and objects: their sizes are known to what runs, and may be others at the next call."""

from __future__ import annotations

import itertools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

D = np.ones(3)
BOX = types.SimpleNamespace(d=D)
W = np.array([[0.5, -0.2, 0.8], [0.1, 0.7, -0.4]])
Y = np.array([0.3, -0.6])


def weighted(x: Any) -> Any:
    return np.sum(np.sin(D * x) * x)


def squares(x: Any) -> Any:
    return np.mean((x - D) ** 2)


def of_object(x: Any) -> Any:
    return np.mean((x * BOX.d - 1.0) ** 2)


def after_a_reduction(x: Any) -> Any:
    return np.sum(D * np.mean(x * D) + x)


def by_a_callee(x: Any) -> Any:
    z = products(x)
    return np.sum(z * z)


def products(x: Any) -> Any:
    return x * D + D


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for i in range(3):
        total = total + np.sum(np.cos(x * D + i) * D)
    return total


def written(x: Any) -> Any:
    y = x * D
    y[...] = y * D + x
    return np.sum(y * y)


def sliced(x: Any) -> Any:
    return np.sum(np.sin(np.ravel(x)[1:] * D) * D)


SHAPES: list[tuple[int, ...]] = [(), (1,), (3,), (1, 3), (2, 1), (2, 3), (0,), (1, 1), (2,)]


def broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(a, b)
    except ValueError:
        return False
    return True


def array(shape: tuple[int, ...], start: float) -> Any:
    return np.linspace(start, start + 1.1, int(np.prod(shape))).reshape(shape)


@pytest.mark.parametrize(
    "f",
    [weighted, squares, of_object, after_a_reduction, by_a_callee, in_a_loop, sliced, written],
    ids=lambda f: f.__name__,
)
def test_any_size_after_any_other(f: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """One derivative is called while the array is of one size, then of another."""
    pairs = [(a, d) for a, d in itertools.product(SHAPES, SHAPES) if broadcasts(a, d)][::3]
    found = grad(f)
    # Each after its successor too.
    for shape, of_data in [*pairs, *pairs[::-1]]:
        x, data = array(shape, 0.4), array(of_data, -0.7)
        if f is sliced and not broadcasts((max(int(np.prod(shape)) - 1, 0),), of_data):
            continue
        if f is written and np.broadcast_shapes(shape, of_data) == ():
            continue
        if 0 in np.broadcast_shapes(shape, of_data) and f in (squares, of_object, after_a_reduction):
            continue  # There is no mean of nothing.
        monkeypatch.setitem(globals(), "D", data)
        BOX.d = data
        np.testing.assert_allclose(
            found(x), numeric_gradient(f, (x,), 0), rtol=1e-7, atol=1e-8, err_msg=f"{shape, of_data}"
        )
        seed = array(shape, 0.9)
        _, tangent = jvp(f, (x,), (seed,))
        np.testing.assert_allclose(tangent, np.sum(found(x) * seed), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("f", [weighted, by_a_callee, sliced, written], ids=lambda f: f.__name__)
def test_compiled_for_each_size(f: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for shape, of_data in itertools.product(SHAPES, SHAPES):
        if f is sliced and not broadcasts((max(int(np.prod(shape)) - 1, 0),), of_data):
            continue
        if broadcasts(shape, of_data) and (f is not written or np.broadcast_shapes(shape, of_data) != ()):
            x = array(shape, 0.4)
            monkeypatch.setitem(globals(), "D", array(of_data, -0.7))
            fresh = types.FunctionType(f.__code__, globals(), f.__name__)
            expected = numeric_gradient(f, (x,), 0)
            np.testing.assert_allclose(grad(fresh)(x), expected, rtol=1e-7, atol=1e-8, err_msg=f"{shape, of_data}")


def regression(w: Any) -> Any:
    p = 1.0 / (1.0 + np.exp(-(W @ w)))
    return -np.mean(Y * np.log(p) + (1 - Y) * np.log(1 - p))


def test_what_runs_is_as_written_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "Y", np.array([0.0, 1.0]))
    w = np.array([0.3, -0.2, 0.9])
    found = grad(regression)
    expected = (1.0 / (1.0 + np.exp(-(W @ w))) - Y) @ W / 2
    np.testing.assert_allclose(found(w), expected, rtol=1e-13)
    assert "unbroadcast" not in found.source_for(w)
    assert "W.T @" in found.source_for(w)


def test_an_array_that_gets_another_shape_in_place() -> None:
    data = np.array([[1.0, 2.0, 3.0, 4.0]])

    def f(x: Any) -> Any:
        return np.sum(np.sin(data * x))

    found = grad(f)
    x = np.array([0.1, 0.2, 0.3, 0.4])
    for shape in ((1, 4), (4,), (4, 1), (1, 4)):
        data.shape = shape
        for _ in range(3):  # Twice to be compiled and looked up, once more to be recognised.
            found(x)
        np.testing.assert_allclose(found(x), numeric_gradient(f, (x,), 0), rtol=1e-8)


def test_an_array_of_another_dtype() -> None:
    held = {"d": np.ones(3)}

    def make(data: Any) -> Callable[[Any], Any]:
        def f(x: Any) -> Any:
            return np.sum(np.abs(x * data) ** 2)

        def change(value: Any) -> None:
            nonlocal data
            data = value

        held["change"] = change
        return f

    f = make(np.ones(3))
    found = grad(f)
    x = np.array([0.1, -0.2, 0.3])
    for data in (np.ones(3), np.arange(3), 1j * np.ones(3), np.ones(3, np.float32), 2.0, np.ones((2, 1))):
        held["change"](data)
        np.testing.assert_allclose(found(x), numeric_gradient(f, (x,), 0), rtol=1e-6)


def test_the_text_to_keep_is_for_arrays_of_any_size() -> None:
    assert "unbroadcast" in grad(weighted).source


FIXED = np.array([[0, -1], [0, 0], [-1, 0]])
CORNERS = np.array([[0, 1], [1, 2], [2, 0]])


def numbered(fixed: Any, corners: Any, count: Any = None) -> Any:
    numbers = fixed.copy().astype(int)
    unknowns = 0
    for i in range(fixed.shape[0]):
        for j in range(2 if count is None else count(corners[i])):
            if numbers[i, j] == 0:
                numbers[i, j] = unknowns
                unknowns += 1
    return unknowns, numbers


def one_fixed(row: Any) -> Any:
    row[0] = 5
    return 1


def of_a_mesh(x: Any) -> Any:
    unknowns, numbers = numbered(FIXED, CORNERS)
    return np.sum(x[numbers[CORNERS[0]].flatten()] ** 2) * unknowns


def by_a_rule_that_is_none(x: Any) -> Any:
    return np.sum(x) * numbered(FIXED, CORNERS, None)[0]


def by_a_rule_that_writes(x: Any) -> Any:
    return np.sum(x) * numbered(FIXED, CORNERS, one_fixed)[0]


@pytest.mark.parametrize("f", [of_a_mesh, by_a_rule_that_is_none], ids=lambda f: f.__name__)
def test_a_function_that_copies_before_it_writes(f: Callable[[Any], Any]) -> None:
    """What it is given for an optional function is None: nothing is called."""
    x = np.array([0.4, -0.7, 1.2, 0.9])
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,), 0), rtol=1e-8)


def test_an_optional_function_that_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "CORNERS", CORNERS.copy())
    np.testing.assert_allclose(grad(by_a_rule_that_writes)(np.array([0.4, -0.7])), [2.0, 2.0])
    np.testing.assert_array_equal(CORNERS, [[5, 1], [5, 2], [5, 0]])
