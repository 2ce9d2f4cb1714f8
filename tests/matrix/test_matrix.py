"""A fixed sample of the matrix in every run; `make matrix` runs all of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from tests.matrix.build import Program, program
from tests.matrix.judge import FAILURES, judge

_QUOTAS = {"methods": 11, "sharing": 6, "operators": 7, "positions": 18}
_OTHERS = 6


def _sample() -> dict[str, list[Program]]:
    found: dict[str, list[Program]] = defaultdict(list)
    for index in range(2400):
        made = program(index)
        if len(found[made.family]) < _QUOTAS.get(made.family.split()[0].strip(":"), _OTHERS):
            found[made.family].append(made)
    return dict(sorted(found.items()))


SAMPLE = _sample()


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("family", SAMPLE)
def test_family(family: str, mode: str) -> None:
    failures = []
    for made in SAMPLE[family][:: 1 if mode == "reverse" else 2]:
        verdict = judge(made, mode)
        if verdict.kind in FAILURES:
            failures.append(
                f"{made.source}\n# program {made.index} {dict(made.axes)}\n# {verdict.kind}: {verdict.message}"
            )
    assert not failures, f"{len(failures)} of {len(SAMPLE[family])}, the first is:\n{min(failures, key=len)}"


def test_programs_are_reproducible_and_run() -> None:
    programs = [program(index) for index in range(0, 20000, 300)]
    assert [made.source for made in programs] == [program(made.index).source for made in programs]
    verdicts = [judge(made).kind for made in programs]
    assert verdicts.count("raised") + verdicts.count("undecided") <= 3
    assert verdicts.count("right") >= 17


def handmade(body: str, top: str = "") -> Program:
    source = f"import numpy as np\n\nG = np.ones(3)\n{top}\ndef f(x, k):\n    {body}\n\n"
    source += "def arguments():\n    return np.array([0.5, 1.2, -0.7]), np.array([0.8, -0.4, 1.5])\n"
    return Program(10**6, "handmade", (), source, (0,))


def replaced(change: Callable[..., Any]) -> Callable[..., Any]:
    """`value_and_grad` with something wrong in what it does: `change(f, args, value, gradients)` gives the results."""
    from s2sad import value_and_grad

    def wrong(f: Any, argnums: Any) -> Any:
        def call(*args: Any) -> Any:
            return change(f, args, *value_and_grad(f, argnums)(*args))

        return call

    return wrong


def _raise(*_: object) -> None:
    raise KeyError("q")


def _write(f: Any, args: Any, value: Any, gradients: Any) -> Any:
    args[1][0] += 1.0
    return value, gradients


def _twice(f: Any, args: Any, value: Any, gradients: Any) -> Any:
    f.__globals__["G"][0] += 1.0
    return value, gradients


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("right", lambda f, args, value, gradients: (value, gradients)),
        ("value", lambda f, args, value, gradients: (value + 1e-15, gradients)),
        ("gradient", lambda f, args, value, gradients: (value, (gradients[0] * 1.00001,))),
        ("gradient", lambda f, args, value, gradients: (value, (gradients[0] * float("nan"),))),
        ("gradient", lambda f, args, value, gradients: (value, (gradients[0][:2],))),
        ("changed", _write),
        ("effects", _twice),
        ("crash", _raise),
    ],
)
def test_every_verdict_can_be_reached(kind: str, change: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    import s2sad

    monkeypatch.setattr(s2sad, "value_and_grad", replaced(change))
    assert judge(handmade("return np.sum(np.sin(x) * k)")).kind == kind


def test_a_kink_is_undecided() -> None:
    assert judge(handmade("return np.sum(np.maximum(x, np.array([0.5, 0.0, 0.0])) * k)")).kind == "undecided"


def test_refusals_have_a_place() -> None:
    assert judge(handmade("return np.sum(np.frombuffer(np.outer(x, k)))")).kind in ("refused", "undecided")


def test_a_compiler_that_trusts_every_function_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from s2sad.frontend import summaries, writing

    made = [made for made in SAMPLE["positions"][:25] if judge(made).kind not in FAILURES]
    monkeypatch.setattr(writing, "writes_of", lambda *function: summaries.NOTHING)
    assert [one for one in made if judge(one).kind in FAILURES]
