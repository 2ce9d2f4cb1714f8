"""Adjoints: of the shapes of the operands that they belong to."""

from __future__ import annotations

from dataclasses import replace

from s2sad.ir.nodes import Build
from s2sad.ir.types import OPEN, SCALAR, Fact, Kind, either
from s2sad.ops.infer.common import Bound, Infer, Look, items_of, like, literal, ndim_of, operands_real, shaped


def adjoint_of(name: str) -> Infer:
    """The adjoint of the argument called ``name``, an array where that is a list of numbers too."""

    def infer(b: Bound, fact: Look) -> Fact | None:
        whole, real = fact(b[name]), operands_real(b, fact)
        if whole.kind in ("list", "tuple") and (ndim := ndim_of(whole)):
            return Fact("array", None, ndim, real)
        return like(whole, real)

    return infer


def into_shape(b: Bound, fact: Look) -> Fact | None:
    return shaped(fact(b["g"]), b["shape"], fact)


def adjoint_of_operand(b: Bound, fact: Look) -> Fact | None:
    index, operands = literal(b["index"]), b["operands"]
    if not isinstance(operands, Build) or type(index) is not int:
        return None
    return like(fact(operands.items[index]), operands_real(b, fact))


def adjoints_of_items(name: str) -> Infer:
    """The adjoints of a sequence of arrays."""

    def infer(b: Bound, fact: Look) -> Fact | None:
        whole = fact(b[name])
        items = [like(f, operands_real(b, fact)) or OPEN for f in items_of(whole) or ()]
        if whole.kind not in ("list", "tuple"):
            return None
        return Fact(whole.kind, items=tuple(enumerate(items)) if items else None)

    return infer


def in_the_form_of(name: str) -> Infer:
    """The adjoint of the argument called ``name`` as a list or tuple, if it is one."""

    def infer(b: Bound, fact: Look) -> Fact | None:
        whole = fact(b[name])
        return _formed(whole, operands_real(b, fact)) if whole.kind in ("list", "tuple") else None

    return infer


def _formed(whole: Fact, real: bool) -> Fact:
    if whole.kind == "scalar":
        return replace(SCALAR, real=real, precision="")
    if whole.kind not in ("list", "tuple"):
        return like(whole, real) or OPEN
    items = None if whole.items is None else tuple([(key, _formed(item, real)) for key, item in whole.items])
    return Fact(whole.kind, items=items, each=None if whole.each is None else _formed(whole.each, real))


def of_shape(b: Bound, fact: Look) -> Fact:
    """The first operand in the shape that the second says."""
    g, shape, *_ = b.values()
    return shaped(fact(g), shape, fact)


def zeros(b: Bound, fact: Look) -> Fact | None:
    """Zeros in the structure of a value: lists for its tuples, dicts for the fields of its dataclasses."""
    return _zeros(fact(next(iter(b.values()))))


def _zeros(fact: Fact) -> Fact:
    kind = _SHADOWS.get(fact.kind)
    if kind is None:
        return fact if fact.numeric else OPEN
    items = None if fact.items is None else tuple([(key, _zeros(item)) for key, item in fact.items])
    return Fact(kind, items=items, each=None if fact.each is None else _zeros(fact.each))


#: The kinds of the adjoints of containers.
_SHADOWS: dict[str, Kind] = {"tuple": "list", "list": "list", "dict": "dict", "dataclass": "dict"}


def total(b: Bound, fact: Look) -> Fact | None:
    """The sum of two adjoints of one value: a list for lists and tuples, of the sums of their items."""
    first, second = map(fact, b.values())
    return _total(first, second)


def _total(first: Fact, second: Fact) -> Fact | None:
    if first.kind not in ("list", "tuple") or second.kind not in ("list", "tuple"):
        return either([first, second]) if first.kind == second.kind else None
    each = None if first.each is None or second.each is None else _total(first.each, second.each)
    if first.items is None or second.items is None or len(first.items) != len(second.items):
        return Fact("list", each=each)
    pairs = zip(first.items, second.items, strict=True)
    return Fact("list", items=tuple([(key, _total(p, q) or OPEN) for (key, p), (_, q) in pairs]), each=each)


def tangent(b: Bound, fact: Look) -> Fact:
    """The tangent of a value, in its structure."""
    return tangent_fact(fact(next(iter(b.values()))))


def tangent_of(name: str) -> Infer:
    """The tangent of the argument called ``name``; that of a number may be one of any precision."""

    def infer(b: Bound, fact: Look) -> Fact | None:
        found = tangent_fact(fact(b[name]))
        return replace(found, precision="") if found.kind == "scalar" else found

    return infer


def tangent_fact(fact: Fact) -> Fact:
    """What is known of a tangent of a value."""
    if fact.numeric:
        return replace(fact, items=None, each=None, size=None, boolean=False, owners=frozenset())
    if fact.kind in (*_SHADOWS, "record"):
        items = None if fact.items is None else tuple([(k, tangent_fact(f)) for k, f in fact.items])
        return replace(fact, items=items, each=None if fact.each is None else tangent_fact(fact.each))
    return OPEN
