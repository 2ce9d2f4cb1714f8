"""A few hundred random programs in every run; `python -m tests.random_programs` runs as many as one likes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.random_programs import Kink, Program, directional, generate, judge, load, random_direction, report, run_one
from tests.trees import fresh


@settings(max_examples=14, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(size=st.sampled_from(range(3, 15)), seed=st.integers(0, 2**32 - 1))
def test_gradients_of_random_programs(size: int, seed: int) -> None:
    program, verdict = run_one((seed, 1, size))
    assert verdict.kind != "failed", report(program, verdict)


@pytest.mark.parametrize(("seed", "level", "size"), [(9600276, 2, 12)])
def test_programs_that_have_found_something(seed: int, level: int, size: int) -> None:
    program, verdict = run_one((seed, level, size))
    assert verdict.kind == "compared", report(program, verdict)


@pytest.mark.parametrize("level", [1, 2])
def test_programs_are_reproducible_and_mostly_run(level: int) -> None:
    decided = raised = 0
    for seed in range(60):
        program = generate(seed, level)
        assert program == program
        assert generate(seed, level).source == program.source
        try:
            assert math.isfinite(load(program)(*fresh(program.args)))
        except Exception:
            raised += 1
            continue
        chosen = [program.args[position] for position in program.argnums]
        try:
            directional(program, [random_direction(np.random.default_rng(seed), chosen)])
        except Kink:
            continue
        decided += 1
    assert decided >= 50
    assert raised <= 6


def handmade(body: str) -> Program:
    source = f"import numpy as np\n\nfrom s2sad import stop_gradient\n\ndef f(x, v):\n{body}"
    return Program(0, source, ("f",), (0.7, np.array([0.5, -1.0])), (0, 1))


def test_the_oracle_keeps_stopped_values_constant() -> None:
    program = handmade("    for i in range(2):\n        x = x * stop_gradient(x + i)\n    return x * np.sum(v)\n")
    ((derivative, _),) = directional(program, [[1.0, np.zeros(2)]])
    # Both factors are constants: 0.7, and 0.7 * 0.7 + 1.
    assert derivative == pytest.approx(-0.5 * 0.7 * 1.49, rel=1e-9)


def test_the_oracle_sees_kinks_and_jumps() -> None:
    for body in (
        "    return x if x > 0.7001 else 2.0 * x\n",
        "    return 1.0 if x > 0.7 else 0.0\n",
        "    return abs(x - 0.70001)\n",
        "    return np.max(np.stack([0.0 * v, np.zeros(2)]) + (x - 0.7) * np.array([1.0, -2.0]))\n",
        "    return np.sum(np.maximum(0.0, v - np.array([0.5, -1.0])))\n",
    ):
        with pytest.raises(Kink):
            directional(handmade(body), [[1.0, np.array([1.0, 0.5])]])


def test_the_oracle_knows_what_is_rounded_away() -> None:
    assert judge(handmade("    y = x + 1e17\n    return y - 1e17 + 0.0 * np.sum(v)\n")).kind == "undecided"


def test_a_wrong_gradient_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    import s2sad

    right = s2sad.value_and_grad
    program = handmade("    y = stop_gradient(2.0) * x\n    return y * y + np.sum(np.sin(v))\n")
    assert judge(program).kind == "compared"

    def slightly_wrong(f, argnums):  # type: ignore[no-untyped-def]
        def df(*args):  # type: ignore[no-untyped-def]
            value, (first, second) = right(f, argnums)(*args)
            return value, (first * 1.0001, second)

        return df

    monkeypatch.setattr(s2sad, "value_and_grad", slightly_wrong)
    assert judge(program).kind == "failed"
