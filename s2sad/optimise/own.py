"""Objects that are written in place, and so stay objects of their own however short what makes them gets."""

from __future__ import annotations

from s2sad.analysis.sharing import sharing
from s2sad.ir.nodes import Assign, Block, Call, Copy, Expr, Op, Store, Var
from s2sad.ir.traverse import walk


def written_into(block: Block) -> set[str]:
    """The names of objects that are written in place, or may be under other names to which they are handed on."""
    found: set[str] = set()
    handed: dict[str, list[str]] = {}
    for stmt in walk(block):
        match stmt:
            case Copy(targets=targets, sources=sources):
                for target, source in zip(targets, sources, strict=True):
                    if isinstance(source, Var):
                        handed.setdefault(target, []).append(source.name)
            case Assign(target=target, value=Var(name=source)):
                handed.setdefault(target, []).append(source)
            case Assign(value=Call(op=Op(kind="inplace" | "change"), args=(Var(name=name), *_))):
                found.add(name)
            case Store(base=Var(name=name)):
                found.add(name)
    waiting = list(found)
    while waiting:
        more = [source for source in handed.get(waiting.pop(), ()) if source not in found]
        found.update(more)
        waiting += more
    return found


def as_own(value: Expr, shorter: Expr) -> Expr:
    """What is shorter for a value, unless that is a new object and the other is none: ``x`` for ``1.0 * x``."""
    return value if is_new(value) and not is_new(shorter) else shorter


def is_new(value: Expr) -> bool:
    """Whether an expression surely makes a new object, as far as that shows without types."""
    return isinstance(value, Call) and (value.op.kind == "operator" or sharing(value) == "fresh")
