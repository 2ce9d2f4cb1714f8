"""Random programs over lists and dicts that change."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.program_containers import ContainerWriter
from tests.random_programs import judge, report


@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(size=st.sampled_from(range(3, 13)), seed=st.integers(0, 2**32 - 1))
def test_gradients_of_random_programs(size: int, seed: int) -> None:
    program = ContainerWriter(seed).program(size)
    verdict = judge(program)
    assert verdict.kind != "failed", report(program, verdict)
