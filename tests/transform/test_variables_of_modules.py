"""Variables of modules that a program sets: derivatives through them, and what they are left as, against Python."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from s2sad import grad, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient

X = np.array([0.5, 1.5, 0.7])
HERE = sys.modules[__name__]
A: Any = 2.0
N = 0
LAST: Any = None


def scaled(v: Any) -> Any:
    return v * A


def grow(v: Any) -> Any:
    global A
    A = A * v
    return A


def grid(n: int) -> Any:
    global LAST
    if LAST is None or len(LAST) != n:
        LAST = np.linspace(0.0, 1.0, n)
    return LAST


class Counter:
    def __init__(self, k: Any) -> None:
        self.k = k

    def run(self, x: Any) -> Any:
        global N, A
        N += 1
        A = self.k * x
        return A * N


class Scaled:
    count = 0
    scale: Any = 2.0

    def __init__(self, k: Any) -> None:
        Scaled.count += 1
        self.k = k
        self.number = Scaled.count

    def run(self, x: Any) -> Any:
        return self.k * self.scale * x * self.number

    @classmethod
    def grow(cls, v: Any) -> None:
        cls.scale = cls.scale * v

    def keep(self, v: Any) -> Any:
        type(self).scale = v
        return v


class Special(Scaled):
    pass


ONE = Scaled(3.0)


# --- How a variable gets another value (first), and how it is read after that (second).


def by_name(x: Any) -> None:
    global A
    A = x[0] * x[1]


def in_a_branch(x: Any) -> None:
    global A, N
    if x[0] < N + 1:
        A = x[1] * 3


def in_a_loop(x: Any) -> None:
    global A, N
    for v in x:
        A = A * v + 1
        N += 1


def in_functions(x: Any) -> None:
    grow(x[0])
    HERE.A = grow(x[1]) * HERE.A  # type: ignore[attr-defined]


def in_methods(x: Any) -> None:
    counter = Counter(x[0])
    counter.run(x[1])
    counter.run(x[2])


def of_arrays(x: Any) -> None:
    global A
    A = np.zeros(3)
    A[1:] += x[1:]
    A[0] = x[0] * x[1]


def of_a_class(x: Any) -> None:
    Scaled.scale = x[0] * Scaled(x[1]).k
    Scaled.grow(x[2])


def itself(x: Any) -> Any:
    return np.sum(A * x) + N


def in_another(x: Any) -> Any:
    return np.sum(scaled(x[0]) + scaled(x[1]) * x[2])


def in_a_generator(x: Any) -> Any:
    return sum(np.sum(v * A) for v in x)


def by_its_module(x: Any) -> Any:
    return np.sum(HERE.A * getattr(HERE, "A")) * x[2]  # noqa: B009


def once_more(x: Any) -> Any:
    return np.sum(grow(x[0]) * grow(x[1]) + A) + np.sum(grid(3) * x)


def by_objects(x: Any) -> Any:
    first, second = Scaled(x[0]), Special(x[1])
    before = first.run(x[2]) + second.run(x[0]) * ONE.scale
    other = Special(x[2])
    other.scale = x[0]  # of this object alone
    return before * first.keep(A) * second.run(x[1]) + np.sum(getattr(ONE, "scale") * other.run(x[0]))  # noqa: B009


SETTING = (by_name, in_a_branch, in_a_loop, in_functions, in_methods, of_arrays, of_a_class)
READING = (itself, in_another, in_a_generator, by_its_module, once_more, by_objects)


def reset() -> None:
    global A, N, LAST
    A, N, LAST = 2.0, 0, None
    Scaled.count, Scaled.scale = 0, 2.0


def left() -> tuple[Any, ...]:
    return A, N, LAST, Scaled.count, Scaled.scale


def compare(program: Callable[[Any], Any]) -> None:
    """Value, gradient, tangent and what is left, in a first call and in one after it."""
    direction = np.array([0.3, -0.2, 0.9])
    for calls in (0, 1):

        def fresh(x: Any, calls: int = calls) -> Any:
            reset()
            for _ in range(calls):
                program(X)
            return program(x)

        expected, _, kept = numeric_gradient(fresh, (X,)), fresh(X), left()
        for derivative in (lambda: grad(program)(X), lambda: jvp(program, (X,), (direction,))[1]):
            reset()
            for _ in range(calls):
                program(X)
            found = derivative()
            np.testing.assert_allclose(found, expected if np.ndim(found) else direction @ expected, rtol=1e-7)
            assert all(np.array_equal(a, b) for a, b in zip(left(), kept, strict=True))


@pytest.mark.parametrize(("setting", "reading"), list(itertools.product(SETTING, READING))[::6])
def test_set_and_read(setting: Any, reading: Any) -> None:
    def program(x: Any) -> Any:
        before = np.sum(x * A)
        setting(x)
        return before + reading(x)

    compare(program)


class OutOfRange(ValueError):
    def __init__(self, quantity: str, value: Any) -> None:
        self.quantity, self.value = quantity, value
        super().__init__(f"{quantity}: {value:.2f}")


def beside_exceptions_of_ones_own(x: Any) -> Any:
    box = Scaled(x[0])
    if box.k > 1.0:
        raise OutOfRange("k", box.k)
    return box.run(x[2]) * x[1] * Scaled.count


def test_exceptions_with_attributes() -> None:
    """They are made, and keep what they are given: that reads and sets nothing else."""
    compare(beside_exceptions_of_ones_own)
    reset()
    with pytest.raises(OutOfRange, match=r"k: 3.00"):
        grad(beside_exceptions_of_ones_own)(np.array([3.0, 1.5, 0.7]))
    assert Scaled.count == 1


def by_dict(x: Any) -> Any:
    by_name(x)
    return globals()["A"] * x[1]


def by_dict_of_module(x: Any) -> Any:
    by_name(x)
    return vars(HERE)["A"] * x[1]


def by_table(x: Any) -> Any:
    by_name(x)
    return sys.modules[__name__].A * x[1]  # type: ignore[attr-defined]


def by_dict_of_class(x: Any) -> Any:
    Scaled.scale = x[0]
    return Scaled.__dict__["scale"] * x[1]


def set_on_a_class_below(x: Any) -> Any:
    Scaled.scale = x[0]
    Special.scale = x[1]
    return Special(x[0]).run(x[1])


def by_a_library(x: Any) -> Any:
    by_name(x)
    return quad(lambda t: scaled(t) * x[1], 0, 1)[0]


def unset(x: Any) -> Any:
    global A
    by_name(x)
    y = A * x[1]
    del A
    return y


@pytest.mark.parametrize(
    "program", [by_dict, by_dict_of_module, by_table, by_a_library, unset, by_dict_of_class, set_on_a_class_below]
)
def test_what_reads_it_otherwise_is_refused(program: Any) -> None:
    reset()
    with pytest.raises(
        UnsupportedError, match=r"global statement|may write into|not supported|not known|may read or set"
    ):
        grad(program)(X)
