"""Loops over generator expressions, ``map``, ``itertools.product`` and the like, as statements."""

from __future__ import annotations

import dataclasses

from s2sad.ir.code import Exit, Operation, Place, Region, Value, inner
from s2sad.transform.iterables import Nest, is_pairs, nest_of, takes_apart
from s2sad.transform.lazily import lazy
from s2sad.transform.unfolding import NotUnfoldedError, Writer


def for_loop(writer: Writer, op: Operation, out: list[Operation], loops: int) -> bool:
    """Write a loop over something lazy as one over what that is made of, or as several."""
    body, rest = op.regions
    iterable = op.operands[0]
    if op.awaits or (takes_apart(body) and is_pairs(writer, iterable)):
        return False
    innermost = Region(body.params[:1], body.operations, body.exit)
    nest = nest_of(writer, iterable, out)
    if nest is not None:
        if any(inside.kind in ("set_item", "delete_item") for inside in inner(body)) and _is_copied(nest):
            raise NotUnfoldedError("written")
        for before in nest.levels[0].before:
            writer.operation(before, out, loops)
        iterable, region = nest.levels[0].iterable, nest.region(writer, innermost)
    else:
        lazily = writer.whole.made.get(iterable) if isinstance(iterable, Value) else None
        if lazily is None or lazily.kind != "generator" or lazily.data.variables:
            return False
        rounds = lazy(writer, iterable, out)
        if rounds is None:
            return False
        iterable, region = rounds.iterable, _around(rounds.region, innermost)
    if _is_nested(region):
        if _leaves(body):
            raise NotUnfoldedError("break")
        if rest.operations:
            raise NotUnfoldedError("else")
    made = dataclasses.replace(
        op, operands=(iterable, *op.operands[1:]), regions=(_rounds(region, body.params[1:], op.place), rest)
    )
    out.append(writer.with_regions(made, loops))
    return True


def _is_copied(nest: Nest) -> bool:
    """Whether a loop goes over a copy of what it is given."""
    return not nest.is_live and any(made.kind == "call" for made in nest.levels[0].before)


def _leaves(region: Region) -> bool:
    """Whether something in the body of a loop leaves it by ``break``."""
    if region.exit.kind == "break":
        return True
    for op in region.operations:
        inside = op.regions[-1:] if op.kind in ("for", "while") else op.regions
        if any(map(_leaves, inside)):
            return True
    return False


def _inside(region: Region) -> Operation | None:
    """The ``for`` or ``if`` of a comprehension with which a region of its rounds ends; None in the innermost region."""
    last = region.operations[-1] if region.operations else None
    return last if last is not None and last.kind in ("each", "only") else None


def _is_nested(region: Region) -> bool:
    """Whether there is a loop inside of the rounds of a comprehension."""
    last = _inside(region)
    return last is not None and (last.kind == "each" or _is_nested(last.regions[0]))


def _around(region: Region, body: Region) -> Region:
    """The region of the rounds of a generator expression, with the body of a loop where an item is made."""
    last = _inside(region)
    if last is not None:
        last = dataclasses.replace(last, regions=(_around(last.regions[0], body),))
        return dataclasses.replace(region, operations=(*region.operations[:-1], last))
    given = Operation("copy", region.exit.operands, body.params)
    return Region(region.params, (*region.operations, given, *body.operations), body.exit)


def _rounds(region: Region, carried: tuple[Value, ...], place: Place | None) -> Region:
    """The body of a loop, of a region like that of a comprehension, in which is the body of the loop that it was.

    ``carried`` is what the loop carries, as the innermost body knows it; all loops carry that.
    """
    own = tuple([Value(value.name) for value in carried]) if _is_nested(region) else carried
    return dataclasses.replace(_statements(region, own, carried, place), params=(*region.params, *own))


def _statements(region: Region, own: tuple[Value, ...], carried: tuple[Value, ...], place: Place | None) -> Region:
    last = _inside(region)
    if last is None:
        return region
    results = tuple([Value(value.name) for value in carried])
    if last.kind == "only":
        then = _statements(last.regions[0], own, carried, place)
        if then.exit.kind == "continue":
            then = dataclasses.replace(then, exit=Exit("yield", then.exit.operands))
        regions = then, Region((), (), Exit("yield", own))
        made = Operation("if", last.operands, results, None, regions, place)
    else:
        left = tuple([Value(value.name) for value in carried])
        regions = _rounds(last.regions[0], carried, place), Region(left, (), Exit("yield", left))
        made = Operation("for", (*last.operands, *own), results, None, regions, place)
    return Region((), (*region.operations[:-1], made), Exit("continue", results))
