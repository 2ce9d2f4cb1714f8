"""Passes over functions of many statements look at each of them a few times, however many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, naming
from s2sad.optimise.memory import Memory
from tests.sources import function_of

X = np.array([0.5, 1.5, 0.7])


def chain(count: int) -> str:
    lines = [f"a{i + 1} = np.sin(a{i}) * a{max(0, i - 3)} + x[{i % 3}]" for i in range(count)]
    return "\n    ".join(["def f(x):", "a0 = x * 1.0", *lines, f"return np.sum(a{count})\n"])


def branches(count: int) -> str:
    lines = [f"if a[0] > {i}:\n        a = np.sin(a) + {i}\n    else:\n        a = a * x" for i in range(count)]
    return "\n    ".join(["def f(x):", "a = x * 1.0", *lines, "return np.sum(a)\n"])


@pytest.mark.parametrize(("text", "owner", "name"), [(chain, Memory, "touches"), (branches, naming, "_group")])
def test_twice_as_many_statements_take_twice_as_long(
    text: Callable[[int], str], owner: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: Counter[int] = Counter()
    original, count = getattr(owner, name), 0

    def counted(*given: Any) -> Any:
        asked[count] += 1
        return original(*given)

    monkeypatch.setattr(owner, name, counted)
    for count in (20, 40):
        grad(function_of(text(count)))(X)
    assert 0 < asked[40] < 2.5 * asked[20]
