"""Derivatives of random programs with lists in lists, in both modes, beside differences."""

from __future__ import annotations

import copy
import linecache
from collections import defaultdict, deque
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, jvp, value_and_grad
from tests.oracle import numeric_gradient
from tests.random_lists import program

COUNT = 28
NAMES = {"np": np, "copy": copy, "deque": deque, "defaultdict": defaultdict}


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_programs(seed: int) -> None:
    text, name = program(seed, seed % 2 > 0), f"<random lists {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {**NAMES, "__name__": __name__}
    exec(compile(text, name, "exec"), namespace)
    f, x = namespace["f"], np.random.default_rng(seed).uniform(0.2, 1.0, 4)
    try:
        want = f(x.copy())
    except (IndexError, AttributeError, TypeError):
        pytest.skip("Python raises")
    near = numeric_gradient(f, (x,))
    close = {"rtol": 1e-5, "atol": 1e-6 * max(1.0, abs(want), float(np.max(np.abs(near))))}
    refused = 0
    try:
        value, gradient = value_and_grad(f)(x.copy())
        assert value == pytest.approx(want, rel=1e-12)
        np.testing.assert_allclose(gradient, near, err_msg=text, **close)
    except S2SADError:
        refused += 1
    try:
        slopes = [jvp(f, (x.copy(),), (way,))[1] for way in np.eye(4)]
        np.testing.assert_allclose(slopes, near, err_msg=text, **close)
    except S2SADError:
        refused += 1
    if refused:
        pytest.skip("refused")


def test_most_are_accepted() -> None:
    """A change that refuses them would leave the comparison empty."""
    refused = 0
    for seed in range(200, 220):
        text, name = program(seed), f"<random lists {seed}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        namespace: dict[str, Any] = {**NAMES, "__name__": __name__}
        exec(compile(text, name, "exec"), namespace)
        x = np.random.default_rng(seed).uniform(0.2, 1.0, 4)
        try:
            value_and_grad(namespace["f"])(x)
        except S2SADError:
            refused += 1
        except (IndexError, AttributeError):
            pass
    assert refused <= 3
