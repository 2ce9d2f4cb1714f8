"""Operations as expressions and simple statements."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from s2sad.backend.python.names import Names
from s2sad.backend.python.tidy import tidied
from s2sad.ir import signs
from s2sad.ir.code import NONE, Code, Constant, Operand, Operation, Place, Region, Value, codes, inner, order
from s2sad.ir.live import live

BINARY = {sign: getattr(ast, name) for name, sign in signs.BINARY.items()}
UNARY = {sign: getattr(ast, name) for name, sign in signs.UNARY.items()}
COMPARE = {sign: getattr(ast, name) for name, sign in signs.COMPARE.items()}
#: Operations that are no parts of expressions; ``store`` is one where it has a result.
_STATEMENTS = frozenset(
    "delete delete_global copy set_attribute set_item delete_attribute delete_item unpack function class import assert "
    "if for while try with match annotate inplace each only".split()
)
#: What reads a place, for each operation that writes one.
_READING = {"store": "load", "store_global": "global", "set_attribute": "attribute", "set_item": "item"}
_LOAD, _STORE, _DELETE = ast.Load(), ast.Store(), ast.Del()


def placed(node: Any, place: Place | None) -> Any:
    """A node of the syntax tree with its place in the source."""
    if place is not None and "lineno" in node._attributes:
        node.lineno, node.col_offset = place.line, place.column
        node.end_lineno, node.end_col_offset = place.end_line, place.end_column
    return node


def _as_text(spec: ast.expr) -> ast.JoinedStr:
    """What stands for the format of a part of an f-string, as the f-string that has to stand there."""
    if isinstance(spec, ast.JoinedStr):
        return spec
    return ast.JoinedStr([spec if isinstance(spec, ast.Constant) else ast.FormattedValue(spec, -1)])


class UnfoldableError(Exception):
    """An operation stands in an expression, and is none: the expression has to be taken apart before."""


@dataclass(frozen=True)
class Folded:
    """What stands around the code of a function where it is made."""

    decorators: list[ast.expr]
    defaults: dict[str, ast.expr]
    annotations: dict[str, ast.expr]


class Trees:
    """Folds operations into trees; knows how often each value is used."""

    def __init__(self, names: Names, code: Code) -> None:
        self.names = names
        self.uses: Counter[Value] = Counter()
        self.live = live(code)
        for made in codes(code):
            self._count([made.body])
            for operation in inner(made.body):
                self.uses.update([o for o in operation.operands if isinstance(o, Value)])
                self._count(operation.regions)

    def _count(self, regions: Sequence[Region]) -> None:
        for region in regions:
            self.uses.update([o for o in region.exit.operands if isinstance(o, Value)])

    def count(self, name: str) -> int:
        """How often a name is used that the program does not have; 0 for others."""
        return next((self.uses[value] for value, made in self.names.made.items() if made == name), 0)

    def is_same(self, a: Value, b: Value) -> bool:
        """Whether two values have one name."""
        return self.names.of(a) == self.names.of(b)

    def read(self, operand: Operand) -> ast.expr:
        """An operand by its name."""
        if isinstance(operand, Constant):
            value = operand.value
            if type(value) is tuple:
                return ast.Tuple([self.read(Constant(part)) for part in value], _LOAD)
            if type(value) in (int, float) and math.copysign(1.0, value) < 0:
                # As the parser reads it: the sign is an operator.
                return ast.UnaryOp(ast.USub(), ast.Constant(-value))
            return ast.Constant(value)
        return ast.Name(self.names.of(operand), _LOAD)

    def is_read(self, name: str, tree: ast.expr) -> bool:
        """Whether an expression has a name in it."""
        return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(tree))

    # --- folding

    def fold(
        self, operands: Sequence[Operand], operations: Sequence[Operation], at: int, uses: int = 1
    ) -> tuple[list[ast.expr], int]:
        """Expressions for operands that are evaluated one after the other, and how many operations stand before them.

        They may fold the operations before the position ``at`` whose results have as many ``uses``.
        """
        found: list[ast.expr] = []
        for operand in reversed(operands):
            made, at = self.expression(operand, operations, at, uses)
            found.append(made)
        return found[::-1], at

    def expression(
        self, operand: Operand, operations: Sequence[Operation], at: int, uses: int = 1
    ) -> tuple[ast.expr, int]:
        """An expression for one operand; see `fold`."""
        last = operations[at - 1] if at else None
        if last is None or isinstance(operand, Constant) or last.results != (operand,) or operand.name:
            return self.read(operand), at
        if self.uses[operand] != uses or last.kind in _STATEMENTS:
            return self.read(operand), at
        return self.tree(operations, at - 1)

    def inside(self, region: Region) -> ast.expr:
        """The one expression that a region is.

        Raises:
            UnfoldableError: if it is none.
        """
        values, left = self.fold(region.exit.operands, region.operations, len(region.operations))
        if left:
            raise UnfoldableError(region.operations[left - 1].kind)
        return values[0]

    def tree(self, operations: Sequence[Operation], at: int) -> tuple[ast.expr, int]:
        """The expression of the operation at a position, and how many operations stand before what it folds in."""
        operation = operations[at]
        values, before = self.fold(operation.operands, operations, at)
        return self.made(operation, values), before

    def made(self, op: Operation, values: list[ast.expr]) -> ast.expr:
        """The expression of an operation, of those of its operands."""
        made: ast.expr = placed(self._made(op, values), op.place)
        return made

    def _made(self, op: Operation, values: list[ast.expr]) -> ast.expr:
        match op.kind:
            case "global":
                return ast.Name(op.data, _LOAD)
            case "load":
                return ast.Name(op.data.name, _LOAD)
            case "store" | "store_global":
                name = op.data if op.kind == "store_global" else op.data.name
                return ast.NamedExpr(ast.Name(name, _STORE), values[0])
            case "binary":
                return ast.BinOp(values[0], BINARY[op.data](), values[1])
            case "unary":
                return ast.UnaryOp(UNARY[op.data](), values[0])
            case "compare":
                return ast.Compare(values[0], [COMPARE[op.data]()], [values[1]])
            case "chain":
                later = [self.inside(region) for region in op.regions]
                return ast.Compare(values[0], [COMPARE[sign]() for sign in op.data], [values[1], *later])
            case "and" | "or":
                sign = ast.And() if op.kind == "and" else ast.Or()
                return ast.BoolOp(sign, [values[0], *(self.inside(region) for region in op.regions)])
            case "choose":
                then, other = [self.inside(region) for region in op.regions]
                return ast.IfExp(values[0], then, other)
            case "attribute":
                return ast.Attribute(values[0], op.data, _LOAD)
            case "item":
                return ast.Subscript(values[0], values[1], _LOAD)
            case "slice":
                given = [None if o == NONE else v for o, v in zip(op.operands, values, strict=True)]
                return ast.Slice(*given)
            case "tuple" | "list" | "set":
                items = [ast.Starred(v, _LOAD) if star else v for v, star in zip(values, op.data, strict=True)]
                if op.kind == "set":
                    return ast.Set(items)
                return ast.Tuple(items, _LOAD) if op.kind == "tuple" else ast.List(items, _LOAD)
            case "dict":
                keys = [None if spread else key for key, spread in zip(values[::2], op.data, strict=True)]
                return ast.Dict(keys, values[1::2])
            case "call":
                return ast.Call(values[0], *self.call_arguments(values[1:], op.data))
            case "text":
                return self.text(op, values)
            case "yield":
                return ast.Yield(*values)
            case "yield_from":
                return ast.YieldFrom(values[0])
            case "await":
                return ast.Await(values[0])
            case "lambda":
                around = Folded([], dict(zip(op.data.defaults, values, strict=True)), {})
                return ast.Lambda(self.arguments(op.data.code, around), self.inside(op.data.code.body))
            case "comprehension":
                rounds, elements = self.rounds(op.regions[0], values[0], op.awaits)
                if op.data == "dict":
                    return ast.DictComp(elements[0], elements[1], rounds)
                return (ast.ListComp if op.data == "list" else ast.SetComp)(elements[0], rounds)
            case "generator":
                (each,) = op.data.body.operations
                rounds, elements = self.rounds(each.regions[0], values[0], each.awaits)
                return ast.GeneratorExp(elements[0], rounds)
        raise UnfoldableError(op.kind)

    def call_arguments(
        self, values: Sequence[ast.expr], kinds: Sequence[str]
    ) -> tuple[list[ast.expr], list[ast.keyword]]:
        """The arguments of a call or class statement."""
        args: list[ast.expr] = []
        keywords: list[ast.keyword] = []
        for value, kind in zip(values, kinds, strict=True):
            if kind in ("", "*"):
                args.append(ast.Starred(value, _LOAD) if kind else value)
            else:
                keywords.append(ast.keyword(None if kind == "**" else kind, value))
        return args, keywords

    def text(self, op: Operation, values: list[ast.expr]) -> ast.JoinedStr:
        """An f-string."""
        given = iter(values)
        parts: list[ast.expr] = []
        for part in op.data:
            if isinstance(part, str):
                parts.append(ast.Constant(part))
            else:
                conversion, has_format = part
                value = next(given)
                parts.append(ast.FormattedValue(value, conversion, _as_text(next(given)) if has_format else None))
        return ast.JoinedStr(parts)

    def rounds(
        self, region: Region, iterable: ast.expr, awaits: bool
    ) -> tuple[list[ast.comprehension], list[ast.expr]]:
        """The ``for`` parts of a comprehension and what is made in each round."""
        tests, rounds, elements, left = self._tested(region)
        item = self.names.of(region.params[0])
        target: ast.expr = ast.Name(item, _STORE)
        if left:
            if any(op.kind in ("store", "store_global") and op.results for op in region.operations[:left]):
                # What ``:=`` binds is not the comprehension's own.
                raise UnfoldableError("comprehension")
            found: list[list[ast.stmt]] = []
            while left:
                made, left = self.statement(region.operations, left - 1)
                found.append(made)
            statements = tidied([s for made in reversed(found) for s in made], self.count)
            first, *more = statements
            if more or not isinstance(first, ast.Assign) or len(first.targets) > 1 or self.uses[region.params[0]] != 1:
                raise UnfoldableError("comprehension")
            if not (isinstance(first.value, ast.Name) and first.value.id == item):
                raise UnfoldableError("comprehension")
            target = first.targets[0]
        return [ast.comprehension(target, iterable, tests, int(awaits)), *rounds], elements

    def _tested(self, region: Region) -> tuple[list[ast.expr], list[ast.comprehension], list[ast.expr], int]:
        operations = region.operations
        if region.exit.operands:
            elements, left = self.fold(region.exit.operands, operations, len(operations))
            return [], [], elements, left
        last = operations[-1]
        (value,), left = self.fold(last.operands, operations, len(operations) - 1)
        if last.kind == "each":
            rounds, elements = self.rounds(last.regions[0], value, last.awaits)
            return [], rounds, elements, left
        tests, rounds, elements, inside = self._tested(last.regions[0])
        if inside:
            raise UnfoldableError("only")
        return [value, *tests], rounds, elements, left

    def arguments(self, code: Code, given: Folded) -> ast.arguments:
        """The parameters of a function."""
        of: dict[str, list[ast.arg]] = {}
        for param in code.params:
            name = self.names.of(param.target) if isinstance(param.target, Value) else param.target.name
            of.setdefault(param.kind, []).append(ast.arg(name, given.annotations.get(param.name)))
        positional = [p.name for p in code.params if p.kind in ("positional only", "positional")]
        by_name = [p.name for p in code.params if p.kind == "by name"]
        return ast.arguments(
            posonlyargs=of.get("positional only", []),
            args=of.get("positional", []),
            vararg=next(iter(of.get("star", [])), None),
            kwonlyargs=of.get("by name", []),
            kw_defaults=[given.defaults.get(name) for name in by_name],
            kwarg=next(iter(of.get("double star", [])), None),
            defaults=[given.defaults[name] for name in positional if name in given.defaults],
        )

    # --- statements

    def augmented(self, operations: Sequence[Operation], at: int) -> tuple[ast.stmt, int] | None:
        """``place op= value`` if the operation at a position writes what was read at that place just before."""
        write = operations[at]
        if write.kind not in _READING or write.results or not at:
            return None
        made = operations[at - 1]
        value = write.operands[-1]
        if made.kind != "inplace" or made.results != (value,) or self.uses[made.result] != 1 or made.result.name:
            return None
        left, right = made.operands
        new, before = self.expression(right, operations, at - 1)
        read = operations[before - 1] if before else None
        if read is None or read.kind != _READING[write.kind] or read.results != (left,) or read.data != write.data:
            return None
        if read.operands != write.operands[:-1] or not isinstance(left, Value) or self.uses[left] != 1 or left.name:
            return None
        parts, before = self.fold(read.operands, operations, before - 1, uses=2)
        return ast.AugAssign(self.place(write, parts), BINARY[made.data](), new), before

    def place(self, op: Operation, parts: list[ast.expr]) -> Any:
        """What an operation writes to or deletes, as a target."""
        return placed(self._place(op, parts), op.place)

    def _place(self, op: Operation, parts: list[ast.expr]) -> Any:
        context = _DELETE if op.kind.startswith("delete") else _STORE
        if op.kind in ("set_attribute", "delete_attribute"):
            return ast.Attribute(parts[0], op.data, context)
        if op.kind in ("set_item", "delete_item"):
            return ast.Subscript(parts[0], parts[1], context)
        return ast.Name(op.data if isinstance(op.data, str) else op.data.name, context)

    def statement(self, operations: Sequence[Operation], at: int) -> tuple[list[ast.stmt], int]:
        """The statements of a simple operation, and how many operations stand before what it folds in."""
        op = operations[at]
        if op.kind == "inplace" and isinstance(op.operands[0], Value) and self.is_same(op.operands[0], op.result):
            value, before = self.expression(op.operands[1], operations, at)
            return [ast.AugAssign(ast.Name(self.names.of(op.result), _STORE), BINARY[op.data](), value)], before
        values, before = self.fold(order(op), operations, at)
        if op.kind == "inplace" and self.is_read(self.names.of(op.result), values[1]):
            # ``x = left; x += right``, where the right side reads what ``x`` was before.
            values, before = [self.read(operand) for operand in op.operands], at
        made = self.simple(op, values)
        made[0].place = op.place  # type: ignore[attr-defined]
        return made, before

    def simple(self, op: Operation, values: list[ast.expr]) -> list[ast.stmt]:
        """The statements of a simple operation; ``values`` are in order of evaluation."""
        match op.kind:
            case "store" | "store_global" if not op.results or not self.uses[op.result]:
                return [ast.Assign([self.place(op, [])], values[0])]
            case "set_attribute" | "set_item":
                return [ast.Assign([self.place(op, values[1:])], values[0])]
            case "delete" | "delete_global" | "delete_attribute" | "delete_item":
                return [ast.Delete([self.place(op, values)])]
            case "unpack":
                _, star = op.data
                names: list[ast.expr] = [ast.Name(self.names.of(r), _STORE) for r in op.results]
                if star is not None:
                    names[star] = ast.Starred(names[star], _STORE)
                return [ast.Assign([ast.Tuple(names, _STORE)], values[0])]
            case "import":
                return [self.imported(op)]
            case "assert":
                return [ast.Assert(values[0], self.inside(op.regions[0]) if op.regions else None)]
            case "annotate":
                name, text = op.data
                return [ast.AnnAssign(ast.Name(name, _STORE), ast.parse(text, mode="eval").body, None, 1)]
            case "copy":
                return [ast.Assign([ast.Name(self.names.of(op.result), _STORE)], values[0])]
            case "inplace":
                target = ast.Name(self.names.of(op.result), _STORE)
                return [ast.Assign([target], values[0]), ast.AugAssign(target, BINARY[op.data](), values[1])]
        made = self.made(op, values)
        if not self.uses[op.result] and not op.result.name:
            return [ast.Expr(made)]
        return [ast.Assign([ast.Name(self.names.of(op.result), _STORE)], made)]

    def imported(self, op: Operation) -> ast.stmt:
        """An import statement."""
        module, names, level, renamed = op.data
        targets = [self.names.of(r) for r in op.results]
        if names is None:
            target = targets[0] if renamed or targets[0] != module.partition(".")[0] else None
            return ast.Import([ast.alias(module, target)])
        aliases = [ast.alias(n, None if n == t else t) for n, t in zip(names, targets, strict=True)]
        return ast.ImportFrom(module or None, aliases, level)
