"""Rules of the operation table in forward mode: compiled, and called at a sample."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

import pytest

from s2sad import jvp
from s2sad.differentiate.splice import _template
from s2sad.ops import spec
from s2sad.ops.spec import Rule, Sample
from s2sad.runtime.undefined import Undefined
from tests.ops.test_registry import (
    active,
    bind,
    close,
    direction,
    evaluate,
    identity,
    quiet,
    richardson_jvp,
    single,
)
from tests.oracle import is_inexact
from tests.oracle import leaves as flat
from tests.trees import leaves


def first_sample(rule: Rule) -> Sample | None:
    """The first sample in which all that has a derivative is given by position."""
    for point in rule.samples():
        bound = bind(rule, point)
        names = active(rule, bound, point)
        whole = all(is_inexact(x) for name in names for x in flat(bound[name]))
        if names and whole and not any(name in point.kwargs for name in names) and rule.variadic not in names:
            return point
    return None


def caller(rule: Rule, point: Sample) -> Callable[..., Any]:
    """A function that calls an operation as a sample does, with its arguments by position as parameters."""
    operands = [f"p{i}" for i in range(len(point.args))]
    named = [f"{k}={v!r}" if _is_literal(v) else f"{k}=OPTIONS[{k!r}]" for k, v in point.kwargs.items()]
    text = f"def f({', '.join(operands)}):\n    return OPERATION({', '.join([*operands, *named])})\n"
    file = f"<sample of {rule.name} {id(point)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": __name__, "OPERATION": rule.function, "OPTIONS": point.kwargs}
    exec(compile(text, file, "exec"), names)
    made: Callable[..., Any] = names["f"]
    return made


def _is_literal(value: Any) -> bool:
    return value is None or type(value) in (int, float, str, bool)


#: One in four, another mixture whenever a rule is added; all of them take a minute.
RULES = [r for r in spec.specs() if isinstance(r, Rule) and not r.name.startswith("s2sad.")][::4]


@pytest.mark.parametrize("rule", RULES, ids=identity)
def test_the_tangent_of_a_rule(rule: Rule) -> None:
    point = first_sample(rule)
    if point is None:
        pytest.skip("no sample has an active operand that is given by position")
    bound = bind(rule, point)
    names = active(rule, bound, point)
    dots = {name: direction(bound[name], i) for i, name in enumerate(names)}
    places = dict(zip(rule.parameters, range(len(point.args)), strict=False))
    tangents: list[Any] = [None] * len(point.args)
    for name in names:
        tangents[places[name]] = dots[name]
    with quiet():
        value, tangent = jvp(caller(rule, point), point.args, tangents)
        expected = richardson_jvp(
            lambda *xs: evaluate(rule, point, {**bound, **dict(zip(names, xs, strict=True))}),
            [bound[name] for name in names],
            [dots[name] for name in names],
        )
    low = any(single(x) for tree in (value, *map(bound.__getitem__, names)) for _, x in leaves(tree))
    if isinstance(tangent, tuple):
        # Of some results it is an error to use the tangent.
        defined = [not isinstance(t, Undefined) for t in tangent]
        assert any(defined)
        tangent, expected = [list(itertools.compress(parts, defined)) for parts in (tangent, expected)]
    close(tangent, expected, 2e-3 if low else 2e-8, "jvp")


def test_the_texts_of_all_tangents_can_be_spliced() -> None:
    wrong = []
    for rule in spec.rules():
        try:
            if rule.jvp is not None:
                _template(rule.jvp)
        except TypeError as error:
            wrong.append((rule.name, str(error)))
    # This one raises in a branch that is decided before.
    assert [name for name, _ in wrong] in ([], ["scipy.special.logsumexp"])
