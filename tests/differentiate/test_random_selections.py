"""Gradients of random programs that leave elements out, beside differences."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest

from s2sad import value_and_grad
from tests.oracle import richardson_jvp
from tests.random_selections import program

COUNT = 80


@pytest.mark.parametrize("seed", range(COUNT))
def test_random_programs(seed: int) -> None:
    text, name = program(seed), f"<random selections {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"np": np, "__name__": __name__}
    exec(compile(text, name, "exec"), namespace)
    f, rng = namespace["f"], np.random.default_rng(seed)
    masks = np.array([1, 0, 1, 0]), np.array([0, 0, 1, 1])
    args = [rng.normal(size=4), rng.normal(size=4), float(rng.normal()), *masks]
    value, gradients = value_and_grad(f, argnums=(0, 1, 2))(*args)
    assert value == f(*args)
    ways = [rng.normal(size=4), rng.normal(size=4), float(rng.normal()), None, None]
    fine, coarse = (richardson_jvp(f, args, ways, step) for step in (1e-3, 2e-3))
    if abs(fine - coarse) > 1e-7 * max(1.0, abs(fine)):
        pytest.skip("a kink is near")
    along = sum(float(np.sum(g * way)) for g, way in zip(gradients, ways, strict=False))
    assert along == pytest.approx(fine, rel=1e-6, abs=1e-7), text
