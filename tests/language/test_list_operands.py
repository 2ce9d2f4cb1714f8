"""Lists and tuples where NumPy's functions take an array: constants and arguments."""

from __future__ import annotations

import numpy as np
import pytest

from tests.language.support import Case, case, check_gradient, check_primal

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
