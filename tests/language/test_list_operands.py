"""Lists and tuples where NumPy's functions take an array: constants and arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp
from tests.language.support import Case, case, check_gradient, check_primal
from tests.oracle import numeric_gradient

V = np.array([0.5, 1.2, 2.0])
P = [0.5, 1.2, 2.0]
CONSTANT = [
    case(f, V)
    for f in (
        lambda v: np.sum(np.sort(v) * [1.0, 2.0, 3.0]),
        lambda v: np.sum(v * (1.0, 2.0, 3.0) * v),
        lambda v: np.sum([1.0, 2.0, 3.0] / v) + np.sum(v - [0.5, 1.0, 2.0]),
        lambda v: np.sum(v ** [1.0, 2.0, 3.0]),
        lambda v: np.sum(np.multiply([1.0, 2.0, 3.0], np.sin(v))),
        lambda v: np.sum(np.maximum(v, [0.0, 1.5, 0.5])),
        lambda v: np.sum(np.where([True, False, True], v, [1.0, 2.0, 3.0])),
    )
]
ACTIVE = [
    case(f, P)
    for f in (
        lambda p: np.sum(np.multiply(p, p)),
        lambda p: np.sum(np.multiply(p, 2.0)) * p[0],
        lambda p: np.sum(np.sin(p)) + np.sum(np.hypot(p, 1.0)),
        lambda p: np.sum(np.array(p) * p),
        lambda p: np.sum(np.clip(p, 0.6, 1.5)) + np.sum(np.add(p, [1.0, 2.0, 3.0])),
    )
]


@pytest.mark.parametrize("c", [*CONSTANT, *ACTIVE], ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", [*CONSTANT, *ACTIVE], ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def divided(v: Any) -> Any:
    q = [v[0], *(v[1:] * 2.0)]
    q /= np.linalg.norm(q)
    return q[0] + q[1] * q[2]


def subtracted_from_a_tuple(v: Any) -> Any:
    t = v[0], v[1]
    t -= v[1:]
    return np.sum(t * v[:2])


def in_a_loop(v: Any) -> Any:
    q = [v[0], 2.0, v[2]]
    for i in range(3):
        q = [q[1], q[0], q[2]]
        q **= v + i
    return q[0] * q[1] + q[2]


@pytest.mark.parametrize("f", [divided, subtracted_from_a_tuple, in_a_loop])
def test_assignments_that_make_arrays_of_lists(f: Callable[..., Any]) -> None:
    check_gradient(case(f, V))
    way = np.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(jvp(f, (V,), (way,))[1], numeric_gradient(f, (V,)) @ way, rtol=1e-7)
