"""Managers that write into an array, and that callees enter: by ``with``, and on a stack."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.number_and_constants import MODES, check_as_python

RIGHT: list[Callable[..., Any]] = []


def right(f: Callable[..., Any]) -> Callable[..., Any]:
    RIGHT.append(f)
    return f


class Marking:
    """A manager that writes into its array."""

    def __init__(self, a: Any) -> None:
        self.a = a

    def __enter__(self) -> None:
        self.a[0] = 0.3

    def __exit__(self, *_: object) -> None:
        self.a[1] = 0.7


def enters(o: Any) -> None:
    with o:
        pass


def enters_on_a_stack(o: Any) -> None:
    with contextlib.ExitStack() as stack:
        stack.enter_context(o)


@right
def entered_by_a_callee(x: Any, k: Any, a: Any, *_: Any) -> Any:
    enters(Marking(a))
    return np.sum(a) * x


@right
def named_and_entered_by_callees(x: Any, k: Any, a: Any, *_: Any) -> Any:
    o = Marking(a)
    enters(o)
    a[0] += k
    enters_on_a_stack(o)
    return np.sum(a) * x


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_as_python(f: Callable[..., Any], mode: str) -> None:
    check_as_python(f, mode)
