"""Loops over ``map``, ``itertools.product`` and the like, as statements."""

from __future__ import annotations

import dataclasses

from s2sad.ir.code import Exit, Operation, Region, Value, inner
from s2sad.transform.iterables import Nest, given, is_pairs, nest_of, skipped, takes_apart
from s2sad.transform.unfolding import NotUnfoldedError, Writer


def for_loop(writer: Writer, op: Operation, out: list[Operation], loops: int) -> bool:
    """Write a loop over something lazy as one over what that is made of, or as several."""
    body, _ = op.regions
    iterable = op.operands[0]
    if op.awaits or (takes_apart(body) and is_pairs(writer, iterable)):
        return False
    nest = nest_of(writer, iterable, out)
    if nest is None:
        return False
    if any(level.test is not None for level in nest.levels) or (len(nest.levels) > 1 and _leaves(body)):
        raise NotUnfoldedError("break")
    if len(nest.levels) > 1 and op.regions[1].operations:
        raise NotUnfoldedError("else")
    if any(inside.kind in ("set_item", "delete_item") for inside in inner(body)) and _is_copied(nest):
        raise NotUnfoldedError("written")
    for made in nest.levels[0].before:
        writer.operation(made, out, loops)
    out.append(writer.with_regions(_nested(writer, op, nest), loops))
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


def _nested(writer: Writer, op: Operation, nest: Nest) -> Operation:
    """The loops of a nest around the body of a loop; what that carries, all of them carry."""
    body, rest = op.regions
    first = given(writer, nest, body)
    region = Region(body.params[1:], (*first, *body.operations[skipped(nest, body) :]), body.exit)
    for at, level in reversed(list(enumerate(nest.levels))):
        region = dataclasses.replace(
            region, params=(level.item, *region.params), operations=(*level.inside, *region.operations)
        )
        if not at:
            break
        carried = tuple([Value(value.name) for value in body.params[1:]])
        last = tuple([Value(value.name) for value in carried])
        results = tuple([Value(value.name) for value in carried])
        regions = region, Region(last, (), Exit("yield", last))
        loop = Operation("for", (level.iterable, *carried), results, None, regions, op.place)
        region = Region(carried, (*level.before, loop), Exit("continue", results))
    return dataclasses.replace(op, operands=(nest.levels[0].iterable, *op.operands[1:]), regions=(region, rest))
