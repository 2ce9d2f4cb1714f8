"""What is tried in loops, branches, managers and callees: in both modes, where nothing is raised and where it is."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, value_and_grad
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.7, 1.3, 0.4])
D = np.array([1.0, -2.0, 0.5])


def shares(x: Any) -> Any:
    """A result that is made in a loop, and two handlers, one in the other."""
    try:
        scale = 1.0 / sum(x)
        return [v * scale for v in x]
    except ZeroDivisionError:
        try:
            return [1.0 / len(x)] * len(x)
        except ZeroDivisionError:
            return []


def shared(x: Any) -> Any:
    first, second, third = shares([x[0].item(), x[1].item(), x[2].item() * x[0].item()])
    return first * second + third**2


def series(x: Any) -> Any:
    """Numbers that what is tried adds to, as formulas do that may overflow."""
    d = x[0] * 2.0
    try:
        d -= 17.0 * math.exp(x[1]) / (math.exp(x[1]) + 0.66)
    except OverflowError:
        d -= 17.0 * x[2]
    try:
        d += 3.5 / (math.exp(900.0 * x[0]) - 1.0)
    except OverflowError:
        pass
    return d * d


def guarded(x: Any) -> Any:
    """A manager in what is tried, and a variable that is assigned twice."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            beta = np.arctan(x[0] / x[1])
            beta += 0.1 * np.sin(beta) / x[2]
    except (ArithmeticError, RuntimeWarning):
        beta = 0.5 * np.pi * x[2]
    return beta * x[0]


class Filter:
    """An object whose attributes are assigned in branches of what is tried."""

    def __init__(self, matrix: Any) -> None:
        self.matrix, self.state, self.lost = matrix, np.ones(2), True

    def predict(self) -> None:
        try:
            inverse = np.linalg.inv(self.matrix)
            known = True
            if self.lost:
                try:
                    self.state = inverse @ self.state
                except ValueError:
                    self.state = 0.0 * self.state
                self.lost = False
        except np.linalg.LinAlgError:
            known = False
            self.lost = True
        if known:
            self.state = inverse @ self.state
        else:
            self.state = self.matrix @ self.state


def filtered(x: Any) -> Any:
    f = Filter(np.array([[x[0], 0.1], [x[2], x[1]]]))
    f.predict()
    return np.sum(f.state**2)


def scaled_in_place(x: Any) -> Any:
    """Writes whose tangents read what is there before, in a loop and one after the other."""
    y = x * 1.0
    try:
        for i in range(2):
            y[i] *= y[i + 1]
        y *= x
        y /= y[0] + 2.0
    except IndexError:
        y[0] = 1.0
    return np.sum(y * y)


def left_early(x: Any) -> Any:
    """A loop in what is tried that ends in the middle of a manager: what the handler reads is as of then."""
    y, s = x[0], 0.0
    try:
        for i in range(3):
            with np.errstate(all="ignore"):
                s = s + y * y
                if y > 1.5:
                    break
                y = y * x[i] + 0.5
            s = s * math.log(y)
        y = math.log(x[2] - 0.5)
    except ValueError:
        s = y
    return s * y


#: Where nothing is raised, and where handlers run; where they run at one point alone there is no difference.
POINTS = [
    (shared, X, True),
    (shared, [0.0, 0.0, 0.3], False),
    (series, X, True),
    (series, [0.8, 1.3, 0.4], True),
    (series, [0.7, 800.0, 0.4], True),
    (guarded, X, True),
    (guarded, [0.7, 0.0, 0.4], False),
    (filtered, X, True),
    (filtered, [0.7, 0.0, 0.0], False),
    (scaled_in_place, X, True),
    (left_early, np.array([0.7, 1.3, 0.9]), True),
    (left_early, np.array([1.6, 1.3, 0.9]), True),
]


@pytest.mark.parametrize(("f", "x", "smooth"), POINTS)
def test_in_parts(f: Callable[[Any], Any], x: Any, smooth: bool) -> None:
    x = np.array(x)
    value, gradient = value_and_grad(f)(x)
    value_too, tangent = jvp(f, (x,), (D,))
    assert value == value_too == f(x)
    assert np.isclose(tangent, np.sum(gradient * D), rtol=1e-12)
    if smooth:
        assert np.allclose(gradient, numeric_gradient(f, (x,)), rtol=1e-6, atol=1e-8)


def _root(x: Any) -> Any:
    return math.sqrt(x)


def rooted(x: Any) -> Any:
    try:
        y = _root(x)
    except ZeroDivisionError:
        y = 5.0
    return y


def rooted_when_met(x: Any, root: Any) -> Any:
    try:
        y = root(x)
    except (ArithmeticError, ValueError):
        y = 5.0
    return y


def test_what_the_tangent_of_a_callee_raises() -> None:
    """It is none of the function's own exceptions: its handler would give the value of another branch."""
    assert jvp(rooted, (4.0,), (1.0,)) == (2.0, 0.25)
    assert jvp(rooted_when_met, (4.0, _root), (1.0, None)) == (2.0, 0.25)
    assert jvp(rooted_when_met, (-4.0, _root), (1.0, None)) == (5.0, 0.0)
    with pytest.raises(UndefinedDerivativeError, match="raises a ZeroDivisionError"):
        jvp(rooted, (0.0,), (1.0,))
    with pytest.raises(UndefinedDerivativeError, match="raises a ZeroDivisionError"):
        jvp(rooted_when_met, (0.0, _root), (1.0, None))


def _halved(a: Any, i: Any) -> None:
    a[0] = a[0] / 2.0
    a[i] = 1.0


def test_what_has_been_done_when_it_raises() -> None:
    """Whether a part has been done is known as it runs: the whole is followed, and a part refused."""

    def f(x: Any, i: Any) -> Any:
        y = x * 2.0
        try:
            for k in range(2):
                _halved(y, i)
                y[k] *= x[k]
        except IndexError:
            y[1] = x[2]
        return np.sum(y * y)

    assert np.allclose(grad(f)(X, 1), numeric_gradient(f, (X, 1)), rtol=1e-7)
    assert np.isclose(jvp(f, (X, 1), (D, None))[1], richardson_jvp(f, (X, 1), (D, 0.0)), rtol=1e-7)
    for derivative in (lambda: grad(f)(X, 7), lambda: jvp(f, (X, 7), (D, None))):
        with pytest.raises(UndefinedDerivativeError, match="y may have been assigned or written already"):
            derivative()
