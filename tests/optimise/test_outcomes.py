"""Tests that the kinds of values decide, and texts and truth values that are known: what runs is what Python would."""

from __future__ import annotations

import abc
import collections.abc
import numbers
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, value_and_grad
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7, -0.4])
CLASSES: Any = (list, tuple)


class Meta(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return True


class Anything(metaclass=Meta):
    pass


class Seen(abc.ABC):  # noqa: B024
    pass


class Number(float):
    pass


def kind_of(v: Any) -> float:
    """Which class a value has, of those that somebody asks for."""
    if isinstance(v, bool):
        return 1.0
    if isinstance(v, (float, complex)):
        return 2.0
    if isinstance(v, np.memmap):
        return 3.0
    if isinstance(v, np.ndarray):
        return 4.0
    if isinstance(v, numbers.Integral):
        return 5.0
    if isinstance(v, numbers.Number):
        return 6.0
    if isinstance(v, collections.abc.Mapping):
        return 7.0
    if isinstance(v, collections.abc.Sequence) and not isinstance(v, str):
        return 8.0
    return 9.0 if v is None else 10.0


def vector(v: Any, out: str = "array", flag: bool = True, factor: Any = None) -> Any:
    """A function with switches, as libraries have them."""
    if isinstance(v, CLASSES) and flag:
        if out == "list":
            return list(v)
        return np.array(v)
    if isinstance(v, np.ndarray) and out in ("array", "row"):
        if factor is not None:
            v = v * factor
        return v if not flag else v * 2.0
    if isinstance(v, float):
        return v * 7.0 if flag and out != "list" else v * 9.0
    if isinstance(v, np.ndarray):
        return v * v
    raise ValueError(out)


# --- programs


def kinds(x: Any) -> Any:
    values = [x, x[0], float(x[0]), 1, True, None, [x], (x, x), {"a": x}, "text", x > 0.0, x[0] > 0.0, np.float32(2.0)]
    return sum([kind_of(v) * x[0] * (k + 1) for k, v in enumerate(values)])


def kinds_one_by_one(x: Any) -> Any:
    total = kind_of(x) * x[0] + kind_of(x[0]) * x[1] + kind_of([x]) * x[2] + kind_of((x, x)) * x[0] ** 2
    total += kind_of({"a": x}) * x[1] ** 2 + kind_of("text") * x[2] ** 2 + kind_of(None) * x[0] ** 3
    total += kind_of(True) * x[1] ** 3 + kind_of(1) * x[2] ** 3 + kind_of(2.0) * x[0] ** 4
    return total + kind_of(np.sum(x)) * x[1] ** 4 + kind_of(np.asarray(1.0)) * x[2] ** 4 + kind_of(1j) * x[0] ** 5


def switches(x: Any) -> Any:
    total = np.sum(vector(x)) + np.sum(vector(x, "square")) + np.sum(vector(x, flag=False)) + vector(x[0])
    total += vector(x[1], flag=False) + np.sum(vector([x[1], x[2]])) + vector([x[0]], "list")[0]
    return total + np.sum(vector(x, "row", factor=x[0])) + vector(x[2], "list")


def changing_switch(x: Any) -> Any:
    mode, y = "a", x
    for k in range(3):
        if mode == "a":
            y = y * x
        elif mode == "b":
            y = y * 2.0
        if k == 1:
            mode = "b" if mode == "a" else "c"
    return np.sum(y) if mode == "c" else np.sum(y) * 3.0


def switch_of_a_branch(x: Any) -> Any:
    flag, text = True, "same"
    if x[0] > 0.0:
        flag, text = False, "same"
    y = x * 2.0 if flag else x * 3.0
    return np.sum(y * y) if text == "same" else np.sum(y)


def switch_of_a_while(x: Any) -> Any:
    going, y = True, x[0]
    while going:
        y = y * x[1]
        going = 0.01 < abs(y) < 10.0
    return y if not going else x[0]


def switches_in_containers(x: Any) -> Any:
    options = {"square": True, "name": "a"}
    y = x * x if options["square"] else x
    options["square"] = False
    z = x * x if options["square"] else x
    held = [True, "b"]
    held[0] = x[0] < -5.0
    return np.sum(y) + 2.0 * np.sum(z) + (x[0] if held[0] else x[1])


def negated_switch(x: Any) -> Any:
    flag = True
    other = not flag
    number = flag + flag
    return (x[0] if other else x[1]) + (x[1] if number == 2 else x[2]) + (x[2] if ~flag else x[0])


def made_of_a_switch(x: Any) -> Any:
    flag = True
    empty, copied = np.zeros_like(flag), np.copy(flag)
    return (x[0] if empty else x[1]) * (x[1] if copied else x[2]) + (x[2] if np.roll(flag, flag) else x[0])


def recursive(x: Any, flag: bool = True, deep: int = 3) -> Any:
    if deep == 0:
        return np.sum(x * x) if flag else np.sum(x)
    return recursive(x * 1.5, not flag, deep - 1) + recursive(x, True, deep - 1)


def recursion(x: Any) -> Any:
    return recursive(x) + recursive(x, False)


def odd_classes(x: Any) -> Any:
    y = x[0] if isinstance(x, Anything) else x[1]
    z = x[1] if isinstance(x, Seen) else x[2]
    return y * z


def of_python(x: Any) -> Any:
    half = Fraction(1, 2)
    y = x[0] if isinstance(half, (list, tuple)) else x[1]
    number = Number(2.0)
    return y * (x[1] if isinstance(number, Number) else x[2])


PROGRAMS = (
    kinds, kinds_one_by_one, switches, changing_switch, switch_of_a_branch, switch_of_a_while, switches_in_containers,
    negated_switch, made_of_a_switch, recursion, odd_classes, of_python,
)  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [X, -X, X + 1.0], ids=["mixed", "negated", "positive"])
@pytest.mark.filterwarnings("ignore:Bitwise inversion:DeprecationWarning")
def test_what_runs_is_what_python_runs(f: Callable[..., Any], x: Any) -> None:
    value, got = value_and_grad(f)(x.copy())
    assert value == f(x)
    np.testing.assert_allclose(got, numeric_gradient(f, [x]), rtol=1e-6, atol=1e-7)


def plain(x: Any) -> Any:
    return vector(x)


def test_what_is_decided_does_not_stand_there() -> None:
    text = grad(plain).source_for(X)
    assert not {"if", "elif", "raise"} & {line.split()[0] for line in text.splitlines() if line.strip()}, text


def test_arguments_are_not_taken_for_their_default_values() -> None:
    def f(x: Any, mode: str = "a", flag: bool = True) -> Any:
        y = x * x if mode == "a" else x
        return np.sum(y) if flag else 2.0 * np.sum(y)

    df = grad(f)
    for args in ((), ("b",), ("b", False), ("a", False), ("a", 0), ("a", 1)):
        np.testing.assert_allclose(df(X, *args), numeric_gradient(lambda x, args=args: f(x, *args), [X]), rtol=1e-6)
    assert "mode == 'a'" in df.source


def test_classes_of_the_module_may_be_exchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        return x[0] if isinstance(x, CLASSES) else x[1]

    np.testing.assert_array_equal(grad(f)(X), [0.0, 1.0, 0.0])
    monkeypatch.setitem(globals(), "CLASSES", (list, np.ndarray))
    np.testing.assert_array_equal(grad(f)(X), [1.0, 0.0, 0.0])


def test_arrays_of_other_classes(tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        return kind_of(x) * np.sum(x * x)

    mapped = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=(3,))
    mapped[:] = X
    np.testing.assert_allclose(grad(f)(mapped), 6.0 * X)
    np.testing.assert_allclose(grad(f)(X), 8.0 * X)
    np.testing.assert_allclose(grad(f)(np.float32(0.5)), 2.0 * kind_of(np.float32(0.5)) * 0.5)
    np.testing.assert_allclose(grad(f)(np.asarray(0.5)), 4.0)
    np.testing.assert_allclose(grad(f)(Number(0.5)), 2.0)


def rows_or_one(x):
    """Branches by how many axes an array has, which a callee and a copy ask as well."""
    if x.ndim == 1:
        x = x[None]
    total = powers(x[0]) * powers(x) if len(x.shape) == 2 else 0.0
    while np.ndim(x) > 2:
        x = x[0]
    return total + np.sum(x[:, 0] ** 2)


def powers(v):
    if np.ndim(v) == 0:
        return v * 2.0
    if v.ndim not in (1, 3):
        return np.sum(v**2)
    return np.sum(v**3) if len(np.shape(v)) == 1 else np.sum(v)


@pytest.mark.parametrize("x", [X, np.stack([X, 2.0 * X]), np.ones((2, 2, 2)) * X[:2]], ids=["1", "2", "3"])
def test_axes_are_known(x: Any) -> None:
    for f in (rows_or_one, powers):
        np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-7, atol=1e-8)
    assert f"for v.ndim={x.ndim}" in grad(powers).source_for(x)
    assert not any(line.strip().startswith("if ") for line in grad(powers).source_for(x).splitlines())
    assert "if " in grad(powers).source


@pytest.mark.parametrize("x", [2.0, np.float64(2.0), np.array(2.0)], ids=["float", "numpy", "array"])
def test_what_has_no_axes_is_known(x: Any) -> None:
    np.testing.assert_allclose(grad(powers)(x), 2.0)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_rows_of_matrices_have_two_axes() -> None:
    def f(x):
        row = np.asmatrix([[1.0, 2.0], [3.0, 4.0]])[0]
        return np.sum(x**2) if row.ndim == 2 else np.sum(x**3)

    np.testing.assert_allclose(grad(f)(X), 2.0 * X)


class Counted:
    """An object that says of itself how many axes it has, ever another number."""

    def __init__(self) -> None:
        self.asked = 0

    @property
    def ndim(self) -> int:
        self.asked += 1
        return self.asked


def test_objects_are_asked_for_their_axes() -> None:
    def f(x, o):
        return np.sum(x**2) if o.ndim == 2 else np.sum(x**3)

    o = Counted()
    assert o.ndim == 1
    try:
        found = grad(f)(X, o)
    except S2SADError:
        return
    np.testing.assert_allclose(found, 2.0 * X)


def _by_attributes(t: Any, scale: Any) -> Any:
    """As it is written for numbers and arrays at once: what is written item by item would be no array else."""
    if not hasattr(t, "__iter__"):
        return scale * np.sin(t) if hasattr(t, "__float__") else None
    out = np.zeros(len(t))
    for i in range(len(t)):
        out[i] = _by_attributes(t[i], scale)
    return out if hasattr(out, "shape") and not hasattr(out, "keys") else 0.0


@pytest.mark.parametrize("t", [0.7, X])
def test_attributes_that_numbers_and_arrays_have_by_their_classes(t: Any) -> None:
    def f(t: Any, scale: float) -> Any:
        return np.sum(_by_attributes(t, scale) ** 2)

    for position, found in enumerate(grad(f, argnums=(0, 1))(t, 1.3)):
        np.testing.assert_allclose(found, numeric_gradient(f, (t, 1.3), position), rtol=1e-7)


def decided_in_a_loop(x: Any) -> Any:
    total = 0.0
    for i in range(3):
        if x.ndim == 1:
            t = x * x[i]
        else:
            t = x
        total = total + np.sum(t * t)
    return total


def decided_in_a_loop_after_another_value(x: Any) -> Any:
    t = np.cos(x)
    total = np.sum(t * t)
    for i in range(3):
        if x.ndim == 1:
            t, s = t * x[i], t
        else:
            t = s = x
        total = total + np.sum(t * s)
    return total


def tried_and_decided_in_a_loop(x: Any) -> Any:
    total = 0.0
    for i in range(3):
        try:
            n = len(x[i])
            t = n * x
        except TypeError:
            t = x * x[i]
        total = total + np.sum(t * t)
    return total


def decided_in_a_while(x: Any) -> Any:
    total, i = 0.0, 0
    while i < 3:
        if x.ndim == 1:
            t = x * x[i]
            i += 1
        else:
            t = x
            i += 2
        total = total + np.sum(t * t)
    return total


@pytest.mark.parametrize(
    "f",
    [
        decided_in_a_loop,
        decided_in_a_loop_after_another_value,
        tried_and_decided_in_a_loop,
        decided_in_a_while,
    ],
)
def test_what_a_branch_sets_that_is_decided_is_not_what_the_next_turn_begins_with(f: Callable[[Any], Any]) -> None:
    """The move into the name of both branches may be the last statement of the loop, once what is dead is gone."""
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7)
