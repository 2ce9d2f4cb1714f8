"""Context managers of the user's: what they do is done, and none keeps an exception back unseen."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UndefinedDerivativeError, UnsupportedError

X = np.array([0.5, 1.2, -0.7])
NOTES: list[Any] = []


class Watch:
    def __enter__(self):
        self.begun = time.perf_counter()
        return self

    def __exit__(self, kind, error, trace):
        NOTES.append((kind, time.perf_counter() - self.begun >= 0.0))


class Swallow:
    def __init__(self, kinds=(ValueError,)):
        self.kinds = kinds

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return kind is not None and issubclass(kind, self.kinds)


@contextlib.contextmanager
def swallowing():
    try:
        yield
    except ValueError:
        pass


WATCH, SWALLOW = Watch(), Swallow()


class Model:
    def __init__(self, manager):
        self.manager = manager

    def loss(self, x):
        y = x
        with self.manager:
            if x[0] > 1.0:
                raise ValueError("large")
            y = np.sin(x)
        return np.sum(y * x)


def of_the_module(x):
    y = x
    with WATCH:
        y = x * 3.0
    return np.sum(y**2)


def made_inside(x):
    y = x
    with Watch() as watch, Swallow():
        y = np.sin(x)
    return np.sum(y * x) if watch is not None else 0.0


def around_a_return(x):
    with WATCH:
        if x[0] > 0.0:
            return np.sum(x**3)
    return np.sum(x)


def left_in_many_ways(x):
    """By ``return``, ``break`` and ``continue``; each time the manager is left."""
    total = 0.0
    for i in range(5):
        with WATCH:
            if i == 1:
                continue
            for j in range(3):
                with Watch():
                    if j == 1:
                        break
                    total = total + x[0] * (i + j)
            if i == 3:
                return total * x[1]
        total = total + x[2]
    return total


def set_back_by_a_manager(x):
    """What comes later sees what the manager has set back."""
    total = 0.0
    for i in range(2):
        total = total + scaled(x) * SCALE[0]
    return total


SCALE = [2.0]


class Scaled:
    def __enter__(self):
        SCALE[0] *= 3.0

    def __exit__(self, kind, error, trace):
        SCALE[0] /= 3.0


SCALED = Scaled()


def scaled(x):
    with SCALED:
        return np.sum(x**2) * SCALE[0]


def caught_around(x):
    y = x
    try:
        with WATCH:
            if x[0] > 0.0:
                raise ValueError("large")
            y = x * 3.0
    except ValueError:
        y = x**2
    return np.sum(y * x)


def swallowed_by_one_made_inside(x):
    y = x
    try:
        with Swallow(), Watch():
            if x[0] > 0.0:
                raise ValueError("large")
            y = x * 3.0
    except Exception:
        y = x**2
    return np.sum(y)


GRADIENTS: list[tuple[Callable[..., Any], Any]] = [
    (of_the_module, 18.0 * X),
    (made_inside, np.sin(X) + X * np.cos(X)),
    (around_a_return, 3.0 * X**2),
    (left_in_many_ways, [5.0 * X[1], 5.0 * X[0] + 2.0 * X[2], 2.0 * X[1]]),
    (set_back_by_a_manager, 48.0 * X),
    (caught_around, 3.0 * X**2),
    (swallowed_by_one_made_inside, np.ones(3)),
    (Model(Watch()).loss, np.sin(X) + X * np.cos(X)),
    (Model(SWALLOW).loss, np.sin(X) + X * np.cos(X)),
]


@pytest.mark.parametrize(("f", "expected"), GRADIENTS, ids=[f.__name__ for f, _ in GRADIENTS])
def test_managers_that_let_pass(f: Callable[..., Any], expected: Any) -> None:
    f(X)
    seen = list(NOTES)
    NOTES.clear()
    np.testing.assert_allclose(grad(f)(X), expected)
    assert NOTES == seen
    NOTES.clear()
    with contextlib.suppress(UnsupportedError):
        np.testing.assert_allclose(jvp(f, (X,), (X,))[1], expected @ X)
        assert NOTES == seen
    NOTES.clear()


def swallowed_by_the_module(x):
    y = x
    try:
        with SWALLOW:
            if x[0] > 0.0:
                raise ValueError("large")
            y = x * 3.0
    except ValueError:
        y = x**2
    return np.sum(y)


def swallowed_by_a_generator(x):
    y = x
    try:
        with swallowing():
            if x[0] > 0.0:
                raise ValueError("large")
            y = x * 3.0
    except ValueError:
        y = x**2
    return np.sum(y)


def swallowed_by_a_stack(x):
    y = x
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(Swallow())
            if x[0] > 0.0:
                raise ValueError("large")
            y = x * 3.0
    except ValueError:
        y = x**2
    return np.sum(y)


SWALLOWED = [
    swallowed_by_the_module,
    swallowed_by_a_generator,
    swallowed_by_a_stack,
]


@pytest.mark.parametrize("f", SWALLOWED, ids=lambda f: f.__name__)
def test_an_exception_that_is_kept_back_is_no_other_way(f: Callable[..., Any]) -> None:
    """Python goes on behind the ``with``, where the derivative would go on at the handler around it."""
    with pytest.raises(UndefinedDerivativeError, match="keeps an exception back") as caught:
        grad(f)(X)
    assert caught.value.place is not None
    with pytest.raises((UndefinedDerivativeError, UnsupportedError)):
        jvp(f, (X,), (X,))
    NOTES.clear()
