"""Subclasses of arrays with an ``__array_wrap__``: what becomes of what NumPy finds, and gradients."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad
from s2sad.errors import UndefinedDerivativeError
from s2sad.ops.subclasses import OUTCOMES, PARTS, REDUCTIONS, UNSEEN, WRAPPING_OTHERWISE, outcome_of
from tests.oracle import numeric_gradient, richardson_jvp
from tests.transform.test_array_subclasses import ARGUMENTS

X = np.array([0.3, -0.7, 1.2])


class Noted(np.ndarray):
    """Notes how its ``__array_wrap__`` is called."""

    calls: ClassVar[list[Any]] = []

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        self.calls.append((type(array), context is None, return_scalar == (array.ndim == 0)))
        return super().__array_wrap__(array, context, return_scalar)


@pytest.mark.parametrize("function", [*OUTCOMES, *PARTS], ids=lambda f: getattr(f, "__qualname__", str(f)))
def test_which_functions_hand_out_what_they_find(function: Any) -> None:
    a, b = np.array([0.5, 1.0, 2.0]).view(Noted), np.array([1.0, 2.0, 0.5]).view(Noted)
    args = eval(
        ARGUMENTS.get(function, "M" if function in PARTS else "a"), {"a": a, "b": b, "M": np.eye(3).view(Noted)}
    )
    Noted.calls.clear()
    function(*(args if isinstance(args, tuple) else (args,)))
    if function in REDUCTIONS:
        assert Noted.calls == [(np.ndarray, True, True)]
    elif function in PARTS:
        assert len(Noted.calls) == sum(PARTS[function])
    elif function is abs:
        assert Noted.calls == [(np.ndarray, False, True)]
    else:
        assert not Noted.calls or function in WRAPPING_OTHERWISE


def test_rows_of_an_array_that_are_sorted_out() -> None:
    points = np.array([[1.0, 2.0], [1.0, 2.0]]).view(Noted)
    Noted.calls.clear()
    assert outcome_of(np.unique, ["axis"]) == "plain"
    assert type(np.unique(points, axis=0)) is np.ndarray
    assert not Noted.calls
    assert np.unique in UNSEEN
    assert outcome_of(np.unique) is None


# --- classes as people write them


class Checked(np.ndarray):
    """Numbers that are finite; whatever NumPy finds is an object of the class if it can be."""

    def __new__(cls, numbers: Any) -> Any:
        if np.size(numbers) == 0:
            raise ValueError("no numbers")
        if not np.isfinite(numbers).all():
            raise ValueError("not finite")
        return np.asarray(numbers).view(cls)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        if return_scalar:
            return array[()]
        try:
            return type(self)(array)
        except ValueError:
            return array


class Arrow(Checked):
    def __new__(cls, numbers: Any) -> Any:
        array = np.array(numbers)
        if array.ndim != 1:
            raise ValueError("no vector")
        return super().__new__(cls, numbers)

    def __array_finalize__(self, _: Any) -> None:
        self.dimension = self.size

    def length(self, **kwargs: Any) -> Any:
        return float(np.linalg.norm(self, **kwargs))

    def unit(self) -> Any:
        return self / self.length()

    def across(self, other: Any) -> Any:
        return type(self)(np.cross(self, other))


class Cloud(Checked):
    def __new__(cls, numbers: Any) -> Any:
        array = np.array(numbers)
        if array.ndim != 2:
            raise ValueError("no rows")
        return super().__new__(cls, array)

    def __array_finalize__(self, _: Any) -> None:
        try:
            self.dimension = self.shape[1]
        except IndexError:
            self.dimension = self.size

    def centred(self) -> Any:
        return self - Arrow(self.mean(axis=0))


def length_of_arrow(x: Any) -> Any:
    return Arrow(x).length()


def arrows_of_lists(x: Any) -> Any:
    a = Arrow([1, x[0], x[1]]) * 2 + [1, 2, x[2]]
    return a.length() + a.dimension * a.unit()[1]


def sums_of_arrows(x: Any) -> Any:
    u = Arrow(x).unit()
    return np.sum(u**3) + u.dot(Arrow([1.0, 2.0, x[0]])) + abs(u)[2] + np.exp(u).max() + u.across(x * x)[0]


def arrows_of_points(x: Any) -> Any:
    return Arrow(np.subtract([1.0, 2.0, 3.0], Arrow(x))).unit()[0] + Arrow(x).cumsum().length()


def of_clouds(x: Any) -> Any:
    c = Cloud([[0, 0, x[0]], [1, 0, x[1]], [0, 1.5, x[2]], [1, 1.2, 0.3]])
    rows = Cloud(np.unique(c, axis=0)).centred()
    _, s, v = np.linalg.svd(rows)
    return c.mean() * c.dimension + np.sum((c**2).sum(axis=1) ** 2) + s[2] + np.sum(v[2] ** 4)


class Doubling(np.ndarray):
    """Each universal function gives twice what it finds, and says which one it was."""

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        made = super().__array_wrap__(np.asarray(2 * array), context, return_scalar)
        made.by = 0.5 if context is None else float(len(context[1]) + (context[0] is np.multiply))
        return made


def which_function_it_was(x: Any) -> Any:
    v = x.view(Doubling)
    a, b, c = v * x, np.sin(v), np.maximum(v + 1.0, v)
    return np.sum(np.asarray(a * a.by + b * b.by + c * c.by) * x)


def sum_that_is_doubled(x: Any) -> Any:
    s = x.view(Doubling).sum()
    return np.asarray(s)[()] * s.by


@pytest.mark.parametrize("x", [X, X + 0.5])
@pytest.mark.parametrize(
    "f",
    [
        length_of_arrow, arrows_of_lists, sums_of_arrows, arrows_of_points, of_clouds, which_function_it_was,
        sum_that_is_doubled,
    ],
)  # fmt: skip
def test_what_becomes_of_what_numpy_finds(f: Any, x: Any) -> None:
    value, gradient = value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, numeric_gradient(f, (x,)), rtol=1e-6, atol=1e-8)
    way = np.array([1.0, 0.5, -0.7])
    np.testing.assert_allclose(jvp(f, (x,), (way,))[1], richardson_jvp(f, [x], [way]), rtol=1e-6, atol=1e-8)


def quotient(x: Any) -> Any:
    return np.sum(np.asarray(Arrow(x) / x[0]) ** 2)


def test_another_class_because_of_an_exception_is_refused_as_it_runs() -> None:
    x = np.array([0.0, 1.0, 2.0])
    with np.errstate(all="ignore"):
        assert type(Arrow(x) / x[0]) is np.ndarray
        with pytest.raises(UndefinedDerivativeError, match="an exception is handled here"):
            grad(quotient)(x)
    np.testing.assert_allclose(grad(quotient)(X), numeric_gradient(quotient, (X,)), rtol=1e-6)


class Stacked(np.ndarray):
    """Its maker calls another one, which looks for a third by itself."""

    def __new__(cls, numbers: Any) -> Any:
        return make(cls, numbers)


class Outer(Stacked):
    def __new__(cls, numbers: Any) -> Any:
        return super().__new__(cls, np.asarray(numbers) * 3.0)


def make(cls: Any, numbers: Any) -> Any:
    return np.asarray(numbers).view(cls)


def made_by_others(x: Any) -> Any:
    return np.sum(np.asarray(Outer(x) * x) ** 2)


def test_makers_that_call_each_other() -> None:
    np.testing.assert_allclose(grad(made_by_others)(X), numeric_gradient(made_by_others, (X,)), rtol=1e-6)
