"""A result that views an argument which its callee writes, where the caller takes it for an array of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.pipeline.call_effects import EffectsOfCalls
from tests.oracle import numeric_gradient

X = np.array([-0.33, 1.186, 0.531])


def doubled(a: Any) -> Any:
    a *= 2.0
    return a[:2]


def of_one_call(x: Any) -> Any:
    u = x * x
    v = doubled(u)
    return np.sum(v * v) + np.sum(u)


def halved(a: Any) -> Any:
    a *= 0.5
    return a[1:], np.sum(a)


def of_several_results(x: Any) -> Any:
    u = np.sin(x)
    v, s = halved(u)
    return np.sum(v * x[0]) * s


@pytest.mark.parametrize("f", [of_one_call, of_several_results])
@pytest.mark.parametrize("is_known", [True, False])
def test_its_adjoint_is_not_dropped(f: Any, is_known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    found = EffectsOfCalls.call_effects

    def without_sharing(self: EffectsOfCalls, *args: Any) -> Any:
        return replace(found(self, *args), shared=frozenset())

    if not is_known:
        monkeypatch.setattr(EffectsOfCalls, "call_effects", without_sharing)
    # A function of its own, that has no derivative from another test.
    fresh = type(f)(f.__code__, f.__globals__, f.__name__)
    np.testing.assert_allclose(grad(fresh)(X), numeric_gradient(f, (X,)), rtol=1e-6)
