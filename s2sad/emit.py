"""From IR to Python text: the names in it, and the objects that they stand for."""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from s2sad.as_syntax import Writer, all_statements
from s2sad.attempts import without_guards
from s2sad.ir.nodes import MOVED, Block, Call, Const, Effect, Expr, Function, Op, Opaque, Stmt
from s2sad.ir.traverse import expressions, map_children, map_stmt, subexpressions, writes
from s2sad.naming import name_all
from s2sad.ops.scipy import ROOTS
from s2sad.printer import to_text
from s2sad.runtime import plain
from s2sad.syntax import globals_read


@dataclass
class Emitted:
    """The text of a function, the objects and global names of the user in it, and the Python name of each of ours."""

    name: str
    text: str
    bindings: dict[str, Any] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    local: dict[str, str] = field(default_factory=dict)


def emit(
    function: Function,
    taken: Iterable[str],
    resolves: Callable[[str], Any],
    qualified: Mapping[str, types.ModuleType] | None = None,
    defaults: Mapping[str, str] | None = None,
    meanings: Mapping[str, Any] | None = None,
    other: Mapping[str, str] | None = None,
) -> Emitted:
    """Write ``function`` as text.

    ``taken`` are the global names that the user's program reads; ``resolves`` gives what a name means in the user's
    module (or a value that is nothing else), ``meanings`` what names mean in the functions before.  ``qualified`` are
    the global names to be read as attributes of a module, ``defaults`` the texts of default values, ``other`` the names
    in the other half.
    """
    function = _told_apart(without_guards(function))
    read = set(taken) | globals_read(function)
    bindings: dict[str, Any] = {}
    roots: dict[str, Any] = {}
    for whole in (*(x for s in all_statements(function) for x in expressions(s)), function.result):
        for e in subexpressions(whole):
            if isinstance(e, Call):
                if e.op.kind == "runtime" or e.op == MOVED:
                    root, inside, _ = e.op.name.partition(".")
                    roots[root] = sys.modules[ROOTS[root]] if inside else e.op.function
            elif isinstance(e, Opaque) and e.checks:
                roots["plain"] = plain
            elif isinstance(e, Const) and isinstance(e.value, float) and math.isnan(e.value):
                roots["np"] = np
    if any(isinstance(s, Effect) and s.checks for s in all_statements(function)):
        roots["plain"] = plain
    homes: dict[str, str] = {}
    for name, module in (qualified or {}).items():
        root = module.__name__.replace(".", "_")
        while roots.get(root, module) is not module:
            root += "_"
        roots[root], homes[name] = module, root
    local = {name.partition(".")[0] for s in all_statements(function) for name in _assigned(s)}
    local |= {p.public for p in function.params}
    texts: dict[str, str] = {}
    for root, value in roots.items():
        text = root
        known = {**(meanings or {}), **bindings}
        while text in local or (text in read and resolves(text) is not value) or known.get(text, value) is not value:
            text += "_"
        texts[root] = text
        bindings[text] = value
    names = name_all(function, read | set(bindings), other)
    writer = Writer(names, texts, {name: f"{texts[root]}.{name}" for name, root in homes.items()}, defaults or {})
    definition = writer.function(function)
    return Emitted(function.name, to_text([definition], writer.notes), bindings, read - set(qualified or ()), names)


def _told_apart(function: Function) -> Function:
    """The function with a name for each of our own functions that it calls: two modules may have one of one name."""
    named: dict[str, Any] = {}
    other: dict[int, str] = {}

    def note(op: Op) -> None:
        name, number = op.name, 2
        while named.setdefault(name, op.function) is not op.function:
            name, number = f"{op.name}_{number}", number + 1
        if name != op.name:
            other[id(op.function)] = name

    for whole in (*(x for s in all_statements(function) for x in expressions(s)), function.result):
        for e in subexpressions(whole):
            if isinstance(e, Call) and (e.op == MOVED or (e.op.kind == "runtime" and "." not in e.op.name)):
                note(e.op)
    if not other:
        return function

    def renamed(expr: Expr) -> Expr:
        made = map_children(expr, renamed)
        is_other = isinstance(made, Call) and made.op.kind == "runtime" and "." not in made.op.name
        if isinstance(made, Call) and is_other and id(made.op.function) in other:
            return replace(made, op=replace(made.op, name=other[id(made.op.function)]))
        return made

    def block(body: Block) -> Block:
        return tuple([map_stmt(stmt, renamed, block) for stmt in body])

    reverse = None if function.reverse is None else block(function.reverse)
    return replace(function, body=block(function.body), reverse=reverse, result=renamed(function.result))


def _assigned(stmt: Stmt) -> Iterable[str]:
    return (n for n in writes(stmt) if not n.startswith("~"))
