"""What calls do that no text shows: deep copies, ``out`` of methods, states that are set, functions without source."""

from __future__ import annotations

import collections
import copy
import operator
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad
from s2sad.errors import UnsupportedError

V = np.array([0.7, 1.3, 0.4, 0.9])


class Changing:
    """An object that a deep copy changes."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def __deepcopy__(self, memo: Any) -> Any:
        self.v[0] = 7.0
        return Changing(self.v.copy())


class Around:
    def __init__(self) -> None:
        self.inner = [Changing(np.ones(3))]


def copied(x: Any, s: Any) -> Any:
    t = copy.deepcopy(s)
    return np.sum(x * s.inner[0].v) + 0.0 * len(t.inner)


def test_a_deep_copy_does_what_classes_say() -> None:
    np.testing.assert_array_equal(grad(copied)(np.ones(3), Around()), [7.0, 1.0, 1.0])


def summed_into(x: Any, k: Any, out: Any) -> Any:
    np.ndarray.sum(k, 0, None, out)
    return np.sum(x * out)


def test_the_place_of_out_in_a_method_that_is_taken_from_its_class() -> None:
    out = np.zeros(3)
    np.testing.assert_array_equal(grad(summed_into)(np.ones(3), np.ones((2, 3)), out), [2.0, 2.0, 2.0])
    assert not out.any()


def with_state(x: Any) -> Any:
    before = np.seterr(over="raise")  # noqa: F841
    return np.sum(x * x)


def test_what_sets_a_state_happens_whether_its_result_is_used_or_not() -> None:
    with np.errstate():
        np.seterr(over="warn")
        grad(with_state)(np.ones(3))
        assert np.geterr()["over"] == "raise"


SHARED = np.ones(3)


def in_a_deque(x: Any) -> Any:
    d = collections.deque()
    d.appendleft(SHARED)
    d[0][:] = 0.35
    return np.sum(x * SHARED)


def test_an_array_of_the_module_that_is_put_where_nobody_knows() -> None:
    with pytest.raises(UnsupportedError, match="SHARED is the module's"):
        grad(in_a_deque)(np.ones(3))


def test_what_has_no_source_and_writes_leaves_no_trace() -> None:
    """It is refused once it has written, and what it has written is undone; so it is if it raises."""

    def filled(x: Any) -> Any:
        a = np.split(x[...], 1)[0]
        operator.methodcaller("fill", 0.5)(a)
        return np.sum(x * x)

    def put_and_raised(x: Any) -> Any:
        a = np.split(x[...], 1)[0]
        operator.methodcaller("put", [0, 9], 0.5)(a)
        return np.sum(x * x)

    for f, error in ((filled, S2SADError), (put_and_raised, IndexError)):
        x = V.copy()
        with pytest.raises(error):
            grad(f)(x)
        np.testing.assert_array_equal(x, V)
