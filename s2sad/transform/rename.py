"""Other names for values whose names clash in the text of a code.

In the text each value is a Python variable that has its name.  A pass that moves, inlines or duplicates operations can
leave two values of one name that are used at the same time, or a value whose name an inner function, a comprehension or
a global variable has too.
"""

from __future__ import annotations

import builtins
import dataclasses
import re
from collections.abc import Sequence

from s2sad.ir.code import UNSET, Code, Operand, Operation, Region, Value, Variable, codes, inner
from s2sad.transform.clashes import Clash, clashes, effort_of_one_code
from s2sad.transform.replace import replaced_in_code, with_codes, with_regions
from s2sad.transform.text_scopes import TextScopes, spelled


class NameClashError(Exception):
    """Two things have one name and both must keep it: a parameter, and a global variable that is read besides."""


def renamed(code: Code) -> Code:
    """A code in whose text each name holds, wherever it is read, the value that is meant.

    Parameters keep their names.  Values that branches and loops hand on to one another under one name get one new name
    together where that is enough.  An inner function must not outlive a round of the loop that makes a value it sees.

    Returns:
        The same object if nothing clashes.

    Raises:
        NameClashError: if a parameter has the name of a global variable that is read besides.
        TooMuch: if that takes too long.

    Example:
        >>> import ast
        >>> from s2sad.backend.python.fold import function
        >>> x, y, other = Value("x"), Value("y"), Value("y")
        >>> from s2sad.ir.code import Exit, Parameter
        >>> operations = Operation("binary", (x, x), (y,), "+"), Operation("binary", (y, x), (other,), "*")
        >>> body = Region((), operations, Exit("return", (y,)))
        >>> code = Code("f", "function", (Parameter("x", "positional", x),), body)
        >>> print(ast.unparse(function(renamed(code))))
        def f(x):
            y_2 = x + x
            y = y_2 * x
            return y_2
    """
    moved: frozenset[Value | Variable] = frozenset()
    alone: frozenset[Value | Variable] = frozenset()
    effort = effort_of_one_code()
    while found := clashes(code, alone, effort):
        step = _Step(code, moved, alone)
        for clash in found:
            step.resolve(clash)
        code, moved, alone = step.done()
    return code


class _Step:
    """New names that resolve some of the clashes: for each name the first one, and those that stay there without it.

    ``moved`` has what got a new name together with others, ``alone`` what has a name that nothing else has.
    """

    def __init__(self, code: Code, moved: frozenset[Value | Variable], alone: frozenset[Value | Variable]) -> None:
        self.code = code
        self.moved = set(moved)
        self.alone = set(alone)
        self.scopes = TextScopes(code)
        self.taken = set(dir(builtins)) | set(spelled(code))
        self.webs = Webs(self.scopes, code)
        #: Functions and classes: their names are seen when the program runs.
        self.definitions: set[Value | Variable] = set()
        for made in codes(code):
            defined = [op for op in inner(made.body) if op.kind in ("function", "class")]
            self.definitions.update(result for op in defined for result in op.results)
        #: What stands for what.
        self.by: dict[Value | Variable | str, Value | Variable] = {}
        #: The names that are left for the next step.
        self.done_with: set[str] = set()
        self.copied: set[Value | Variable] = set()

    def resolve(self, clash: Clash) -> None:
        used = clash.used
        name = used if isinstance(used, str) else used.name
        if name in self.done_with or used in self.by:
            return
        if not self.by.keys().isdisjoint(clash.instead):
            # It may be resolved.
            self.done_with.add(name)
            return
        if not isinstance(used, str) and self.is_free(used) and used not in self.definitions:
            self.rename(used)
            return
        free = [o for o in clash.instead if not isinstance(o, str) and self.is_free(o)]
        for other in free:
            self.rename(other)
        if not free:
            if isinstance(used, str) or used in self.alone:
                raise NameClashError(f"{name} is the name of a parameter, and of something else that is used besides")
            if used in self.scopes.fixed:
                self.copied.add(used)
                self.done_with.add(name)
            else:
                self.rename(used)

    def is_free(self, one: Value | Variable) -> bool:
        """Whether something may have another name."""
        return one not in self.scopes.fixed and one not in self.alone

    def rename(self, one: Value | Variable) -> None:
        """Another name for a value, and for those that it is handed on to under its name."""
        if one in self.by:
            return
        # Where the names of all do not suffice, each one gets a name.
        web = [v for v in self.webs.of(one, one not in self.moved) if v not in self.scopes.fixed]
        is_alone = one in self.moved or len(web) == 1
        name = self.fresh(one.name)
        for value in web:
            new = dataclasses.replace(value, name=name)
            self.by[value] = new
            self.moved.add(new)
            if is_alone:
                self.alone.add(new)

    def fresh(self, name: str) -> str:
        base, number = re.sub(r"_\d+$", "", name), 2
        while (made := f"{base}_{number}") in self.taken:
            number += 1
        self.taken.add(made)
        return made

    def done(self) -> tuple[Code, frozenset[Value | Variable], frozenset[Value | Variable]]:
        code = with_regions(self.code, self.annotations)
        code = replaced_in_code(code, self.by)
        if self.copied:
            code = with_codes(code, lambda made: _copying(made, self.copied))
        return code, frozenset(self.moved), frozenset(self.alone)

    def annotations(self, region: Region) -> Region:
        """Annotations name what they did: they stand right after what binds it."""
        if not any(op.kind == "annotate" for op in region.operations):
            return region
        operations: list[Operation] = []
        for op in region.operations:
            if op.kind == "annotate" and operations:
                before = operations[-1]
                binder = before.data if before.kind == "store" else before.results[-1] if before.results else None
                if binder in self.by and binder.name == op.data[0]:
                    op = dataclasses.replace(op, data=(self.by[binder].name, op.data[1]))
            operations.append(op)
        return dataclasses.replace(region, operations=tuple(operations))


class Webs:
    """Values that branches and loops hand on to one another, and ``+=`` too.

    ``named`` links those of one name.  ``unset`` links those that may have no value yet: such a one can't be handed on
    to another name, since to read it is an error.
    """

    def __init__(self, scopes: TextScopes, code: Code) -> None:
        self.scopes = scopes
        self.named: dict[Value, list[Value]] = {}
        self.unset: dict[Value, list[Value]] = {}
        self.handed: dict[Value, list[Value]] = {}
        self.without: dict[Value, None] = {}
        for made in codes(code):
            self.region(made.body, None, None)
        pending = list(self.without)
        for value in pending:
            for target in self.handed.get(value, ()):
                _link(self.unset, target, value)
                if target not in self.without:
                    self.without[target] = None
                    pending.append(target)

    def of(self, one: Value | Variable, by_name: bool = True) -> list[Value | Variable]:
        """All that is linked with a value, itself first."""
        found: dict[Value | Variable, None] = {one: None}
        pending = [one]
        for value in pending:
            if isinstance(value, Value):
                linked = [*self.unset.get(value, ()), *(self.named.get(value, ()) if by_name else ())]
                new = [v for v in linked if v not in found]
                found.update(dict.fromkeys(new))
                pending += new
        return list(found)

    def link(self, targets: Sequence[Value], operands: Sequence[Operand]) -> None:
        for target, operand in zip(targets, operands, strict=False):
            if operand is UNSET:
                self.without[target] = None
            elif isinstance(operand, Value):
                self.handed.setdefault(operand, []).append(target)
                if operand.name == target.name and self.scopes.of.get(operand) is self.scopes.of.get(target):
                    _link(self.named, target, operand)

    def region(self, region: Region, loop: Operation | None, around: Operation | None) -> None:
        """Link what stands in a region of the operation ``around``, in a ``loop``."""
        end = region.exit
        if end.kind == "yield" and around is not None and around.kind in ("if", "for", "while", "match"):
            self.link(around.results, end.operands)
        elif end.kind in ("continue", "break") and loop is not None:
            carried = loop.regions[0].params[1:] if loop.kind == "for" else loop.regions[0].params
            self.link(carried if end.kind == "continue" else loop.results, end.operands)
        for op in region.operations:
            if op.kind == "inplace":
                left = op.operands[0]
                if isinstance(left, Value) and left.name == op.result.name:
                    _link(self.named, op.result, left)
            elif op.kind == "for":
                self.link(op.regions[0].params[1:], op.operands[1:])
                self.link(op.regions[1].params, op.regions[0].params[1:])
                self.region(op.regions[0], op, None)
                self.region(op.regions[1], loop, op)
                continue
            elif op.kind == "while":
                self.link(op.regions[0].params, op.operands)
                self.region(op.regions[0], None, None)
                self.region(op.regions[1], op, None)
                self.region(op.regions[2], loop, op)
                continue
            for part in op.regions:
                self.region(part, loop, op)


def _copying(code: Code, copied: set[Value | Variable]) -> Code:
    """A code in which some parameters are copied at the beginning, so that in the body they may have another name."""
    params, operations = [], []
    for param in code.params:
        if param.target in copied:
            if code.kind != "function":
                raise NameClashError(f"{param.name} is the name of a parameter of a {code.kind}, and of another")
            given = Value(param.name)
            if isinstance(param.target, Value):
                operations.append(Operation("copy", (given,), (param.target,)))
            else:
                operations.append(Operation("store", (given,), (), param.target))
            param = dataclasses.replace(param, target=given)
        params.append(param)
    if not operations:
        return code
    body = dataclasses.replace(code.body, operations=(*operations, *code.body.operations))
    return dataclasses.replace(code, params=tuple(params), body=body)


def _link(links: dict[Value, list[Value]], a: Value, b: Value) -> None:
    links.setdefault(a, []).append(b)
    links.setdefault(b, []).append(a)
