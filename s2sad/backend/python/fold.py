"""`Code` as statements of Python: operations are folded into expressions where the order of evaluation stays.

A block is read from its end.  The operands of an operation are evaluated one after the other, so what is just before it
is its last operand, if nobody else uses that and the program has no name for it; before that stands the last but one,
and so on.  What is not found there gets a name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from s2sad.backend.python.expressions import Folded, Trees, placed
from s2sad.backend.python.names import Names
from s2sad.backend.python.patterns import pattern
from s2sad.backend.python.slices import has_slices, with_slice_objects
from s2sad.backend.python.tidy import tidied
from s2sad.ir.code import (
    UNSET,
    Cases,
    Code,
    Definition,
    Exit,
    Handlers,
    Operand,
    Operation,
    Place,
    Region,
    Value,
    Variable,
    inner,
)


def function(code: Code, has_slice: bool = True) -> Any:
    """A function as a ``def``, without decorators, default values and annotations.

    Args:
        code: What it does.
        has_slice: Whether ``slice`` is the built-in class where the function stands.

    Raises:
        UnfoldableError: if it cannot be written.

    Example:
        >>> import gast
        >>> from s2sad.frontend.lower_statements import lower_function
        >>> source = "def f(x):\\n    y = x + 1\\n    return y * (x - 2)"
        >>> print(ast.unparse(function(lower_function(gast.parse(source).body[0]))))
        def f(x):
            y = x + 1
            return y * (x - 2)
    """
    names = Names(code)
    made = _Statements(Trees(names, code)).definition(code, code.name, Folded([], {}, {}))
    _locate(made.body, next((_place_of(s) for s in made.body if _is_placed(s)), Place(1, 0, 1, 0)))
    if has_slices(code):
        made = with_slice_objects(made, has_slice and "slice" not in names.bound)
    return ast.fix_missing_locations(made)


def _locate(statements: list[ast.stmt], before: Place) -> None:
    """Give statements that have no place in the source that of the one before them."""
    for statement in statements:
        if not _is_placed(statement):
            placed(statement, before)
        before = _place_of(statement)
        inside = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        inside += [part.body for name in ("handlers", "cases") for part in getattr(statement, name, [])]
        for part in inside:
            _locate(part, before)


def _is_placed(statement: ast.stmt) -> bool:
    return getattr(statement, "lineno", None) is not None


def _place_of(statement: ast.stmt) -> Place:
    return Place(statement.lineno, statement.col_offset, statement.end_lineno or 1, statement.end_col_offset or 0)


@dataclass(frozen=True)
class _Around:
    """Where values go at the ends of a region: into the results of its operation, and of the loop around."""

    results: tuple[Value, ...] = ()
    carried: tuple[Value, ...] = ()
    left: tuple[Value, ...] = ()


@dataclass
class _Statements:
    """Regions as lists of statements."""

    trees: Trees

    def definition(self, code: Code, name: str, given: Folded) -> Any:
        """A ``def``."""
        body = self.declared(code, self.region(code.body, _Around()))
        kind = ast.AsyncFunctionDef if code.awaits else ast.FunctionDef
        args, returns = self.trees.arguments(code, given), given.annotations.get("return")
        return _made(kind, name=name, args=args, body=body, decorators=given.decorators, returns=returns)

    def declared(self, code: Code, body: list[ast.stmt]) -> list[ast.stmt]:
        """The body of a function or class with its docstring and declarations."""
        stored = [o for o in inner(code.body) if o.kind in ("store", "delete")]
        outer = sorted(
            {o.data.name for o in stored if o.data in code.captures}
            | {v.name for v in _bound_otherwise(code, Variable) if v in code.captures}
        )
        stores = [o for o in inner(code.body) if o.kind in ("store_global", "delete_global")]
        changed = [*_bound_otherwise(code, str), *(o.data for o in stores)]
        out: list[ast.stmt] = [] if code.doc is None else [ast.Expr(ast.Constant(code.doc))]
        if changed:
            out.append(placed(ast.Global(sorted(set(changed))), stores[0].place if stores else None))
        if outer:
            out.append(ast.Nonlocal(outer))
        if code.generates and not any(o.kind in ("yield", "yield_from") for o in inner(code.body)):
            # That a function is a generator does not depend on whether it comes so far.
            body = [*body, ast.Expr(ast.Yield())]
        return [*out, *body] or [ast.Pass()]

    def region(self, region: Region, around: _Around) -> list[ast.stmt]:
        """The statements of a region."""
        at = len(region.operations)
        found: list[list[ast.stmt]] = []
        end, at = self.exit(region, around)
        found.append(end)
        while at:
            place = region.operations[at - 1].place
            statements, at = self.statement(region.operations, at - 1, around)
            found.append([s if hasattr(s, "lineno") else placed(s, place) for s in statements])
        flat = [s for statements in reversed(found) for s in statements]
        return tidied(flat, self.trees.count)

    def exit(self, region: Region, around: _Around) -> tuple[list[ast.stmt], int]:
        """The end of a region, and how many operations stand before what is folded into it."""
        end, operations = region.exit, region.operations
        targets = {"yield": around.results, "continue": around.carried, "break": around.left}.get(end.kind)
        if targets is not None:
            moves = self.moves(targets, end.operands)
            if end.kind == "break":
                moves.append(ast.Break())
            elif end.kind == "continue" and end.place is not None:
                moves.append(ast.Continue())
            return moves, len(operations)
        values, at = self.trees.fold(end.operands, operations, len(operations))
        if end.kind == "raise":
            return [placed(ast.Raise(*values), end.place)], at
        if end.kind == "return" and (values or end.place is not None):
            return [placed(ast.Return(*values), end.place)], at
        return [], at

    def moves(self, targets: Sequence[Value], operands: Sequence[Operand]) -> list[ast.stmt]:
        """What gives ``targets`` their values, all at once."""
        pairs = [(self.trees.names.of(target), operand) for target, operand in self.moved(targets, operands)]
        if not pairs:
            return []
        names = [ast.Name(name, ast.Store()) for name, _ in pairs]
        values = [self.trees.read(operand) for _, operand in pairs]
        if len(pairs) == 1:
            return [ast.Assign([names[0]], values[0])]
        return [ast.Assign([ast.Tuple(list(names), ast.Store())], ast.Tuple(values, ast.Load()))]

    def moved(self, targets: Sequence[Value], operands: Sequence[Operand]) -> list[tuple[Value, Operand]]:
        """Those of ``targets`` that are used and don't have the name of what they get."""
        return [
            (target, operand)
            for target, operand in zip(targets, operands, strict=True)
            if operand is not UNSET and target in self.trees.live
            if not (isinstance(operand, Value) and self.trees.is_same(operand, target))
        ]

    # --- statements

    def statement(self, operations: Sequence[Operation], at: int, around: _Around) -> tuple[list[ast.stmt], int]:
        """The statements of the operation at a position, and how many operations stand before what it folds in."""
        operation = operations[at]
        augmented = self.trees.augmented(operations, at)
        if augmented is not None:
            return [augmented[0]], augmented[1]
        storing = operation.kind in ("store", "store_global") and not operation.results
        defined = operations[at - 1] if at and storing else None
        if defined is not None and defined.kind in ("function", "class"):
            if defined.results == operation.operands and self.trees.uses[defined.result] == 1:
                return self.made(operations, at - 1, getattr(operation.data, "name", operation.data))
        if operation.kind in ("function", "class"):
            name = operation.result
            return self.made(operations, at, self.trees.names.of(name))
        written = getattr(self, f"_{operation.kind}", None)
        if written is None:
            return self.trees.statement(operations, at)
        # What a ``while`` carries begins with values, of which none stands in its head.
        head = () if operation.kind == "while" else operation.operands[:1]
        values, before = self.trees.fold(head, operations, at)
        if operation.kind == "for" and before < at and self.is_moved(operation, values[0]):
            values, before = [self.trees.read(operation.operands[0])], at
        made: list[ast.stmt] = written(operation, values, around)
        return made, before

    def made(self, operations: Sequence[Operation], at: int, name: str) -> tuple[list[ast.stmt], int]:
        """A function or class definition."""
        operation = operations[at]
        data: Definition = operation.data
        values, before = self.trees.fold(operation.operands, operations, at)
        decorators = values[: data.decorators]
        rest = values[data.decorators :]
        if operation.kind == "class":
            bases, keywords = self.trees.call_arguments(rest, data.arguments)
            body = self.declared(data.code, self.region(data.code.body, _Around()))
            return [
                _made(ast.ClassDef, name=name, bases=bases, keywords=keywords, body=body, decorators=decorators)
            ], before
        count = len(data.defaults)
        defaults = dict(zip(data.defaults, rest[:count], strict=True))
        annotations = dict(zip(data.annotations, rest[count:], strict=True))
        return [self.definition(data.code, name, Folded(decorators, defaults, annotations))], before

    def _if(self, operation: Operation, values: list[ast.expr], around: _Around) -> list[ast.stmt]:
        inside = replace(around, results=operation.results)
        then, other = [self.region(part, inside) for part in operation.regions]
        return [ast.If(values[0], then or [ast.Pass()], other)]

    def _for(self, operation: Operation, values: list[ast.expr], around: _Around) -> list[ast.stmt]:
        body, rest = operation.regions
        item, *carried = body.params
        start = self.moves(carried, operation.operands[1:])
        inside = _Around((), tuple(carried), operation.results)
        statements = self.region(body, inside)
        # What stands after the loop has the values that the last round left.
        after = [*self.moves(rest.params, carried), *self.region(rest, replace(around, results=operation.results))]
        kind = ast.AsyncFor if operation.awaits else ast.For
        target = ast.Name(self.trees.names.of(item), ast.Store())
        return [*start, kind(target, values[0], statements or [ast.Pass()], after)]

    def is_moved(self, loop: Operation, iterable: ast.expr) -> bool:
        """Whether an iterable reads a name that gets another value before the loop begins."""
        moved = self.moved(loop.regions[0].params[1:], loop.operands[1:])
        return any(self.trees.is_read(self.trees.names.of(target), iterable) for target, _ in moved)

    def _while(self, operation: Operation, values: list[ast.expr], around: _Around) -> list[ast.stmt]:
        test, body, rest = operation.regions
        start = self.moves(test.params, operation.operands)
        inside = _Around((), test.params, operation.results)
        statements = self.region(body, inside)
        after = self.region(rest, replace(around, results=operation.results))
        folded, left = self.trees.fold(test.exit.operands, test.operations, len(test.operations))
        if left:
            head = self.region(Region((), test.operations[:left], Exit("never")), around)
            leave: list[ast.stmt] = [*after, ast.Break()]
            body_statements = [*head, ast.If(ast.UnaryOp(ast.Not(), folded[0]), leave, []), *statements]
            return [*start, ast.While(ast.Constant(True), body_statements, [])]
        return [*start, ast.While(folded[0], statements or [ast.Pass()], after)]

    def _with(self, operation: Operation, values: list[ast.expr], around: _Around) -> list[ast.stmt]:
        (region,) = operation.regions
        target = ast.Name(self.trees.names.of(region.params[0]), ast.Store()) if operation.data else None
        kind = ast.AsyncWith if operation.awaits else ast.With
        body = self.region(region, replace(around, results=operation.results)) or [ast.Pass()]
        made: Any = kind([ast.withitem(values[0], target)], body)
        made.place = operation.place
        return [made]

    def _try(self, operation: Operation, values: list[ast.expr], around: _Around) -> list[ast.stmt]:
        data: Handlers = operation.data
        inside = replace(around, results=())
        regions = list(operation.regions)
        body = self.region(regions.pop(0), inside)
        handlers = []
        for has_class, variable in zip(data.classes, data.names, strict=True):
            kind = self.trees.inside(regions.pop(0)) if has_class else None
            name = variable.name if isinstance(variable, Variable) else variable
            handlers.append(ast.ExceptHandler(kind, name, self.region(regions.pop(0), inside) or [ast.Pass()]))
        other = self.region(regions.pop(0), inside) if data.has_else else []
        final = self.region(regions.pop(0), inside) or [ast.Pass()] if data.has_finally else []
        made = ast.TryStar if data.groups else ast.Try
        return [made(body or [ast.Pass()], handlers, other, final)]

    def _match(self, operation: Operation, values: list[ast.expr], around: _Around) -> list[ast.stmt]:
        data: Cases = operation.data
        inside = replace(around, results=operation.results)
        regions, cases = list(operation.regions), []
        for case, guarded in zip(data.patterns, data.guards, strict=True):
            guard = self.trees.inside(regions.pop(0)) if guarded else None
            body = self.region(regions.pop(0), inside) or [ast.Pass()]
            cases.append(ast.match_case(pattern(case, self.trees.names), guard, body))
        otherwise = self.region(regions[0], inside) if regions else []
        if otherwise:
            cases.append(ast.match_case(ast.MatchAs(), None, otherwise))
        return [ast.Match(values[0], cases)]


def _made(kind: Any, decorators: list[ast.expr], **fields: Any) -> Any:
    """A definition, with the field that Python 3.12 has added."""
    more: dict[str, Any] = {"type_params": []} if "type_params" in kind._fields else {}
    return kind(decorator_list=decorators, **fields, **more)


def _bound_otherwise(code: Code, kind: type) -> Iterator[Any]:
    """The variables that patterns and handlers bind: those that are memory, or the names of global ones."""
    data = [o.data for o in inner(code.body)]
    pending = [p for d in data if isinstance(d, Cases) for p in d.patterns]
    for part in pending:
        pending += part.parts
    targets = [p.target for p in pending] + [n for d in data if isinstance(d, Handlers) for n in d.names]
    yield from (t for t in targets if isinstance(t, kind))
