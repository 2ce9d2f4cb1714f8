"""Types of expressions, found once where those of names are final."""

from __future__ import annotations

from dataclasses import replace

from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import Build, Var
from s2sad.ir.types import SCALAR, Fact

WHOLE = Build("tuple", (Var("x.1"), Var("y.1")))


def kinds(known: Facts) -> list[str]:
    return [fact.kind for _, fact in known.get(WHOLE).items or ()]


def test_types_with_other_names_are_found_anew() -> None:
    known = Facts({"x.1": Fact("array"), "y.1": SCALAR}, {}).settled()
    assert kinds(known) == ["array", "scalar"]
    assert known.get(WHOLE) is known.get(WHOLE)
    assert kinds(replace(known, of={"x.1": SCALAR, "y.1": SCALAR})) == ["scalar", "scalar"]


def test_types_that_may_change_still_are_found_each_time() -> None:
    of = {"x.1": SCALAR, "y.1": SCALAR}
    known = Facts(of, {})
    assert kinds(known) == ["scalar", "scalar"]
    of["x.1"] = Fact("array")
    assert kinds(known) == ["array", "scalar"]
