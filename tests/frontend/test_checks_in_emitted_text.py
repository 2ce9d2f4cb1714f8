"""Emitted text that is differentiated itself: its checks are operations, and no functions of the user's to be read."""

from __future__ import annotations

import inspect
import types
from typing import Any

import numpy as np
import pytest

import tests.operations  # noqa: F401
from s2sad import grad, hvp, ops
from s2sad.ir.nodes import Call, Evaluate
from s2sad.ir.sizes import Sizes
from s2sad.ir.traverse import walk
from s2sad.ir.types import describe
from s2sad.ops.spec import constants
from s2sad.pipeline.analysed import Asked, analysed
from s2sad.pipeline.program import Program
from s2sad.runtime.objects import require_value
from tests.oracle import richardson_jvp
from tests.sources import function_of

X, WAY = np.array([0.7, -0.3, 0.45]), np.array([0.2, -0.6, 1.1])
# A parameter has a value, so that nothing is left of a check that it has one.
CHECKS = [f for f in constants() if ops.is_check(f) and f is not require_value]


def named(f: Any) -> str:
    return str(f.__name__)


@pytest.mark.parametrize("check", CHECKS, ids=named)
def test_a_check_is_an_operation(check: Any) -> None:
    count = sum(p.default is p.empty for p in inspect.signature(check).parameters.values())
    given = ", ".join(["x", *["2"] * (count - 1)])
    f = function_of(f"def f(x):\n    check({given})\n    return np.sum(x * x)\n", {"check": check})
    a = analysed(Program(), Asked(f, ("x",), {"x": describe(X, "x", Sizes())}))
    found = [s.value for s in walk(a.function.body) if isinstance(s, Evaluate)]
    assert [v.op.function for v in found if isinstance(v, Call)] == [check]
    assert not a.effects.calls
    assert not a.effects.written


def test_functions_of_users_are_no_checks() -> None:
    assert not any(
        map(ops.is_check, (function_of("def f(x):\n    return x\n"), np.sum, len, print, types.FunctionType))
    )


TEXT = """
def added(total, v):
    kept = total
    total += v
    total *= v
    return total, kept

def f(x, axis):
    total, kept = added(np.sum(np.outer(x, x), axis=axis), x[0])
    return np.sum(total * kept)
"""


@pytest.mark.parametrize("axes", [(None, 0), (0, None)])
def test_a_check_that_fails_begins_again(axes: tuple[Any, ...]) -> None:
    f = function_of(TEXT)
    for axis in axes:
        expected = richardson_jvp(lambda x, axis=axis: grad(f)(x, axis), (X,), (WAY,))
        np.testing.assert_allclose(hvp(lambda x, axis=axis: f(x, axis), (X,), (WAY,)), expected, rtol=1e-5)
