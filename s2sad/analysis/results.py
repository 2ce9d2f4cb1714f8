"""What the results of a function share with each other, with its arguments and with the module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import replace

from s2sad.analysis.effects import Effects, held_by_module
from s2sad.analysis.infer import Facts
from s2sad.analysis.sharers import sharers
from s2sad.analysis.summaries import Part
from s2sad.ir.nodes import Build, Expr


def parts_of(
    result: Expr,
    params: Mapping[str, str],
    facts: Facts,
    found: Effects,
    through: Callable[[Expr], frozenset[str]],
) -> tuple[Part, ...] | None:
    """What each item of a result may share, where that is a tuple of known items; None otherwise.

    Args:
        result: The result of a function.
        params: The public names of parameters that are no numbers, by their names in its body.
        facts: The types of its names.
        found: Its effects.
        through: The public names of the parameters from which an expression may take a derivative.
    """
    if not (isinstance(result, Build) and result.kind == "tuple"):
        return None
    names = [_names(item, facts, found) for item in result.items]
    kin = list(range(len(names)))
    for number, own in enumerate(names):
        near = {number, *(kin[other] for other in range(number) if own & names[other])}
        kin = [min(near) if k in near else k for k in kin]
    return tuple(
        Part(frozenset(params[n] for n in own if n in params), held_by_module(item, facts, found), k, through(item))
        for item, own, k in zip(result.items, names, kin, strict=True)
    )


def bound_part(part: Part, called: str, given: frozenset[str], plain: Set[str]) -> Part:
    """An item of a result, as a caller sees it: the module holds default values of parameters that are not given, but
    those that are ``plain``."""
    defaults = {f"{called}.{p}" for p in part.shared - given - plain}
    return replace(part, shared=part.shared & given, module=part.module | defaults)


def are_entangled(result: Expr, facts: Facts, found: Effects) -> bool:
    """Whether two results of a function, or two parts of one, may share an object that it has made."""
    seen: set[str] = set()
    for item in result.items if isinstance(result, Build) and result.kind == "tuple" else (result,):
        if facts.get(item).kind not in ("scalar", "array", "numeric", "none"):
            return True
        names = _names(item, facts, found)
        if names & seen:
            return True
        seen |= names
    return False


def held_together(result: Expr, facts: Facts, found: Effects) -> frozenset[str]:
    """The names of objects that a result has in several places: a caller that writes into one writes into all.

    These are arrays that may be one, or views of one, and containers with all that may be in them.
    """
    seen: set[str] = set()
    twice: set[str] = set()
    for item in _leaves(result):
        if facts.get(item).kind in ("scalar", "none"):
            continue
        names = _names(item, facts, found)
        alone = facts.get(item).kind in ("array", "numeric")
        twice |= names & seen if alone else names
        seen |= names
    return frozenset(n for n in twice if n in facts.of and facts.of[n].kind not in ("scalar", "none"))


def _leaves(result: Expr) -> Iterator[Expr]:
    """The parts of displays in each other."""
    if not isinstance(result, Build):
        yield result
        return
    for item in result.items:
        yield from _leaves(item)


def _names(item: Expr, facts: Facts, found: Effects) -> set[str]:
    """The names whose objects a result may be, view or hold, and all that may share an object with one."""
    return {m for n in sharers(item, facts, found.calls) for m in found.group.get(n, frozenset({n}))}
