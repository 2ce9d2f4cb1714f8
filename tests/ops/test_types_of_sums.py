"""Sums of adjoints of which one is known: what is said of the sum is so whatever the other one is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad.ir.nodes import Var
from s2sad.ir.sizes import Sizes
from s2sad.ir.types import OPEN, describe
from s2sad.ops.infer.adjoints import total
from s2sad.runtime.trees import add, zeros

A = np.array([2.5, -1.0])
#: Adjoints of one value each.
ADJOINTS: dict[str, list[Any]] = {
    "a list": [[1.5, A], (0.5, A + 1.0), 0.0, zeros([1.5, A])],
    "a list of numbers": [[1.5, 0.5], A, (1.0, 2.0), 0.0],
    "an array": [A, 0.0, A + 1.0],
    "a number": [1.5, 0.0],
    "a list in a list": [[[1.5], A], ([0.5], A), 0.0],
}
PAIRS = [(a, b) for values in ADJOINTS.values() for a in values for b in values]


@pytest.mark.parametrize("known", [0, 1])
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{type(pair[0]).__name__}-{type(pair[1]).__name__}")
def test_sum_of_an_adjoint_and_one_that_is_not_known(pair: tuple[Any, Any], known: int) -> None:
    facts = {"a": OPEN, "b": OPEN, "ab"[known]: describe(pair[known], "ab"[known], Sizes())}
    bound = {"a": Var("a"), "b": Var("b")}
    fact = total(bound, lambda e: facts[e.name])
    value = add(*pair)
    if fact is not None and fact.kind != "open":
        assert (fact.kind == "list") == isinstance(value, list)
        assert fact.items is None or len(fact.items) == len(value)
    if known == 0 and isinstance(pair[0], list):
        assert fact is not None
        assert fact.kind == "list"
