"""Which names each function, class and comprehension binds in the text of a code, as Python sees it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from s2sad.ir.code import (
    Cases,
    Code,
    Definition,
    Handlers,
    Operation,
    Region,
    Value,
    Variable,
    codes,
    inner,
    regions_in,
)
from s2sad.ir.live import compared_with, patterns_of

#: What binds a name: a value, a variable, or what can't be renamed (the name that a statement spells out).
Binder = Value | Variable | str


@dataclass(eq=False)
class TextScope:
    """A function, class or comprehension: what binds each of its names, and which names are declared global."""

    is_class: bool
    outer: TextScope | None
    bound: dict[str, dict[Binder, None]] = field(default_factory=dict)
    declared: set[str] = field(default_factory=set)

    def bind(self, binder: Binder, name: str) -> None:
        if name:
            self.bound.setdefault(name, {})[binder] = None

    def resolve(self, name: str) -> TextScope | None:
        """The scope that a name belongs to where it stands in this one; None if it is global."""
        scope: TextScope | None = self
        while scope is not None:
            if scope is self or not scope.is_class:
                if name in scope.bound or name in scope.declared:
                    return scope
            scope = scope.outer
        return None


class TextScopes:
    """The scopes of a code and of all that it makes.

    ``of`` is the scope that each value and variable belongs to, ``of_code`` that of each code, ``of_rounds`` that of
    each comprehension, and ``fixed`` has what must keep its name: parameters, and the variables of classes.
    """

    def __init__(self, code: Code) -> None:
        self.of: dict[Value | Variable, TextScope] = {}
        self.of_code: dict[Code, TextScope] = {}
        self.of_rounds: dict[Operation, TextScope] = {}
        self.fixed: set[Value | Variable] = set()
        self.written = frozenset(v for made in codes(code) for op in inner(made.body) for v in variables_written(op))
        self._code(code, None)

    def _code(self, code: Code, outer: TextScope | None) -> None:
        scope = self.of_code[code] = TextScope(code.kind == "class", outer)
        for param in code.params:
            self._own(scope, param.target)
            self.fixed.add(param.target)
        for variable in code.variables:
            self.of[variable] = scope
            if variable in self.written:
                self._own(scope, variable)
            if scope.is_class:
                self.fixed.add(variable)
        self._region(code.body, scope, code)

    def _own(self, scope: TextScope, binder: Value | Variable) -> None:
        self.of[binder] = scope
        scope.bind(binder, binder.name)

    def _region(self, region: Region, scope: TextScope, code: Code) -> None:
        for value in region.params:
            self._own(scope, value)
        for op in region.operations:
            self._operation(op, scope, code)

    def _operation(self, op: Operation, scope: TextScope, code: Code) -> None:
        for value in op.results:
            self._own(scope, value)
        if op.kind in ("store_global", "delete_global"):
            scope.declared.add(op.data)
        elif op.kind == "annotate":
            scope.bind(op.data[0], op.data[0])
        elif op.kind == "store" and op.data not in code.variables and op.data not in code.captures:
            self._own(scope, op.data)
        elif isinstance(op.data, (Handlers, Cases)):
            scope.declared.update(t for t in targets_of(op.data) if isinstance(t, str))
        elif isinstance(op.data, Code):
            self._code(op.data, scope)
        elif isinstance(op.data, Definition):
            self._code(op.data.code, scope)
        inside = scope
        if op.kind == "comprehension":
            inside = self.of_rounds[op] = TextScope(False, scope)
        for region in op.regions:
            self._region(region, inside, code)


def variables_written(op: Operation) -> Iterator[Variable]:
    """The variables that an operation binds or deletes."""
    if op.kind in ("store", "delete"):
        yield op.data
    yield from (t for t in targets_of(op.data) if isinstance(t, Variable))


def targets_of(data: Any) -> Iterator[Variable | str]:
    """What handlers or patterns bind: variables, and names of global ones."""
    if isinstance(data, Handlers):
        yield from (name for name in data.names if name is not None)
    elif isinstance(data, Cases):
        yield from (p.target for p in patterns_of(data.patterns) if p.target is not None)


def spelled(code: Code) -> Iterator[str]:
    """All names that the text of a code has, but for those of attributes and modules."""
    for made in codes(code):
        yield made.name
        yield from (p.name for p in made.params)
        yield from (v.name for v in (*made.variables, *made.captures))
        yield from (v.name for v in made.seen)
        for region in regions_in(made.body):
            yield from (p.name for p in region.params)
            for op in region.operations:
                yield from (r.name for r in op.results)
                if op.kind in ("global", "store_global", "delete_global"):
                    yield op.data
                elif op.kind == "annotate":
                    yield op.data[0]
                elif isinstance(op.data, Variable):
                    yield op.data.name
                yield from (_name(target) for target in targets_of(op.data))
                if isinstance(op.data, Cases):
                    yield from (_name(first) for first in compared_with(op.data))


def _name(binder: Binder) -> str:
    return binder if isinstance(binder, str) else binder.name
