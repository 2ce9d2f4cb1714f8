"""Random programs with stores, views, aliases, swaps and callees that write."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.random_programs import report, run_one


@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(size=st.sampled_from(range(3, 15)), seed=st.integers(0, 2**32 - 1))
def test_gradients_of_random_programs(size: int, seed: int) -> None:
    program, verdict = run_one((seed, 2, size))
    assert verdict.kind != "failed", report(program, verdict)
