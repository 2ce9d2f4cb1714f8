"""Random programs of both levels in forward mode."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.random_programs import report, run_one


@pytest.mark.parametrize("level", [1, 2])
@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(size=st.sampled_from(range(3, 15)), seed=st.integers(0, 2**32 - 1))
def test_tangents_of_random_programs(level: int, size: int, seed: int) -> None:
    program, verdict = run_one((seed, level, size), "forward")
    assert verdict.kind != "failed", report(program, verdict)
