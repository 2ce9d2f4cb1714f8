"""How many items the values of a program have, where the sizes of its arguments are known.

Objects that a program makes in a loop are taken apart as the loop is written out, for which the number of rounds has to
be known.  Where it follows from the sizes of arguments, the types of these have numbers for sizes, and what is computed
from them has a type as well.  A list has its items as long as nothing may change it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from s2sad import ops
from s2sad.analysis.evaluate import evaluate
from s2sad.frontend import operators
from s2sad.ir.code import Constant, Operand, Operation, Value
from s2sad.ir.nodes import Build, Call, Const, Expr, Op, Slice, Var
from s2sad.ir.sizes import LiteralNumbers, number_of
from s2sad.ir.sums import literal_size
from s2sad.ir.types import OPEN, Fact, constant, scalar
from s2sad.runtime.classes import package_of
from s2sad.transform.known import Abstract, Items, Known, Late, Row

if TYPE_CHECKING:
    from s2sad.transform.specialiser import Specialiser

_INDEX = Op("index", "[]")
#: Operations and methods that leave a list as it is, and do not hand it on.
_READING = frozenset({"item", "unpack", "copy", "for", "comprehension", "generator", "compare"})
_METHODS = frozenset({"copy", "index", "count", "get", "items", "keys", "values"})
_CONTAINERS = ("list", "dict", "tuple")
_OPERATORS = dict(operators.BINARY.values())
_SIGNS = dict(operators.UNARY.values())


def count(s: Specialiser, value: Abstract) -> int | None:
    """How many items an operand of the new program gives when it is run through."""
    fact = s.types.get(value) if isinstance(value, Value) else None
    if fact is None:
        return None
    if fact.kind == "array" and fact.dims:
        return number_of(fact.dims[0])
    return len(fact.items) if fact.kind in _CONTAINERS and fact.items is not None else None


def is_sized(s: Specialiser, value: Abstract) -> bool:
    """Whether a value is an operand of the new program of which it is known how many items it has."""
    return isinstance(value, Value) and count(s, value) is not None


def keys(s: Specialiser, value: Value) -> tuple[Any, ...] | None:
    """The keys of a dict that is an operand of the new program."""
    fact = s.types.get(value, OPEN)
    return None if fact.kind != "dict" or fact.items is None else tuple([key for key, _ in fact.items])


def of(s: Specialiser, operand: Operand) -> Fact | None:
    """The type of an operand of the new program, where sizes are known."""
    if isinstance(operand, Value):
        if operand in s.ranks and operand in s.arrays and operand not in s.types and operand not in s.scalars:
            return Fact("array", ndim=s.ranks[operand])
        fact = s.types.get(operand) or s.scalars.get(operand)
        return fact if fact is not None and (operand in s.types or fact.kind != "scalar") else None
    if not s.sized:
        return None
    if type(operand.value) is str:
        return constant(operand.value)
    is_size = type(operand.value) is int and 0 <= operand.value < LiteralNumbers.END
    return scalar(True, literal_size(operand.value)) if is_size else None


def of_all(s: Specialiser, values: Sequence[Abstract]) -> Fact | None:
    """The type of an array, or of a tuple of known items, that is one of some values; None if it is not that of all."""
    first, *others = [_of_result(s, value) for value in values] or [None]
    return first if all(other == first for other in others) else None


def _of_result(s: Specialiser, value: Abstract) -> Fact | None:
    if not s.sized or not isinstance(value, Value):
        return None
    if value in s.rows:
        items = [_of_result(s, part) or OPEN for part in s.rows[value]]
        return Fact("tuple", items=tuple(enumerate(items)))
    fact = s.types.get(value)
    return fact if fact is not None and fact.kind in ("array", "tuple") else None


def of_leaf(s: Specialiser, values: Sequence[Abstract]) -> Fact | None:
    """The type of an array or number that is one of some values; None if it is not that of all."""
    number = scalar(False)
    if values and all(
        v in s.numbers or s.scalars.get(v) == number if isinstance(v, Value) else _is_real_constant(v) for v in values
    ):
        return number
    if not s.sized:
        return None
    found = [(s.types.get(v) or s.scalars.get(v)) if isinstance(v, Value) else None for v in values]
    first = found[0] if found else None
    is_one = first is not None and all(other == first for other in found)
    return first if is_one and first is not None and first.kind in ("array", "scalar") else None


def _is_real_constant(value: Abstract) -> bool:
    return isinstance(value, Constant) and type(value.value) in (int, float)


def item(s: Specialiser, whole: Value, at: Any) -> Value:
    """Write the reading of an item by its number or key."""
    made = s.emit("item", (whole, Constant(at)))
    note(s, made, _item(s.types[whole], at))
    return made


def note(s: Specialiser, value: Value, fact: Fact) -> None:
    """Take notice of the type of a value; one that is the number of some items is a constant."""
    if fact.kind == "array" and fact.dims is not None:
        known = [(number_of(size), size) for size in fact.dims]
        s.types[value] = replace(fact, dims=tuple([size if n is None else literal_size(n) for n, size in known]))
    elif fact.kind == "tuple" or (fact.kind in _CONTAINERS and s.relied.lists):
        s.types[value] = fact
    elif isinstance(fact.value, str):
        s.types[value], s.constants[value] = fact, Constant(fact.value)
    elif fact.kind == "scalar" and not fact.boolean and (number := number_of(fact.size)) is not None:
        s.types[value] = scalar(True, literal_size(number))
        s.constants[value] = Constant(number)
        s.needless.add(value)
    elif fact.kind == "scalar" or (fact.kind == "array" and fact.ndim is not None):
        s.scalars[value] = fact


def note_number(s: Specialiser, value: Value, number: float) -> None:
    """Take notice of a number that is known: where lists and dicts stay known, it may be a key or say which item."""
    if s.sized:
        s.scalars[value] = scalar(True)
    if s.relied.writes_out:
        s.constants[value] = Constant(number)
        s.needless.add(value)


def displayed(s: Specialiser, op: Operation, values: Sequence[Abstract]) -> list[Fact | None]:
    """The types of the operands of a call that are lists which the program makes; none where sizes are not known."""
    return [_displayed(s, value) for value in values] if s.sized and op.kind == "call" else []


def _displayed(s: Specialiser, value: Abstract) -> Fact | None:
    """The type of a list or tuple that the program makes of numbers, arrays and such lists, as it is now."""
    cls = value.cls if isinstance(value, (Items, Row)) else None
    row = s.row(value) if cls in (list, tuple) else None
    if row is None:
        return None
    items = {str(at): _displayed_item(s, item) for at, item in enumerate(row)}
    if not all(fact.kind in ("scalar", "array", "list", "tuple") for fact in items.values()):
        return None
    return evaluate(Build("tuple" if isinstance(value, Row) else "list", tuple(map(Var, items))), items, {})


def _displayed_item(s: Specialiser, value: Abstract) -> Fact:
    known = s.plain(value)
    if isinstance(known, Constant):
        return scalar(True) if type(known.value) in (int, float) else OPEN
    return _fact(s, value) if isinstance(value, Value) else _displayed(s, value) or OPEN


def _fact(s: Specialiser, value: Value) -> Fact:
    return s.types.get(value) or s.scalars.get(value, OPEN)


def wrote(
    s: Specialiser,
    op: Operation,
    called: Abstract | None,
    operands: Sequence[Operand],
    results: Sequence[Value],
    types: Sequence[Fact | None],
) -> None:
    """Take notice of what an operation of the new program gives, of which some operands have types.

    Those of displays that it is given are ``types``; what is made of constants alone has a type as well.
    """
    if not s.sized:
        return
    shown = {o: fact for o, fact in zip(operands, types, strict=bool(types)) if fact is not None}
    given = (called.receiver, *operands[1:]) if isinstance(called, Late) else tuple(operands)
    constant_made = op.kind in ("tuple", "binary", "unary") or isinstance(called, Known)
    constant_made = constant_made and all(_is_constant(s, o) for o in given[isinstance(called, Known) :])
    if not constant_made and not any(o in s.types or o in s.scalars or o in shown for o in given):
        return
    if op.kind == "unpack":
        whole = s.types.get(given[0], OPEN)  # type: ignore[arg-type]
        # Of a dict the keys are unpacked.
        for at, result in enumerate(results) if op.data[1] is None and whole.kind != "dict" else ():
            note(s, result, _item(whole, at))
    elif len(results) == 1:
        note(s, results[0], _Typing(s, shown).result(op, called, given))


def _is_constant(s: Specialiser, value: Abstract) -> bool:
    """Whether an operand is a number, or a tuple of such."""
    if isinstance(value, Value) and value in s.rows:
        return all(_is_constant(s, item) for item in s.rows[value])
    return isinstance(s.plain(value), Constant)


def may_change_list(s: Specialiser, op: Operation) -> bool:
    """Whether an operation may change a list or dict of known items, hand it on, or change the shape of an array."""
    for operand in op.operands:
        fact = s.types.get(operand) if isinstance(operand, Value) else None
        if fact is None:
            continue
        if fact.kind == "array":
            reshapes = op.kind == "set_attribute" or (op.kind == "attribute" and op.data == "resize")
            if reshapes and operand is op.operands[0]:
                return True
        elif fact.kind in ("list", "dict"):
            reads = op.kind in _READING or (op.kind == "attribute" and op.data in _METHODS)
            if not reads and not (op.kind == "call" and op.operands[0] in s.harmless):
                return True
    return False


def is_harmless(function: Any) -> bool:
    """Whether a function leaves lists that it is given as they are, and keeps none."""
    spec = ops.spec_of(function)
    return spec is not None and not (spec.writes or spec.stores or spec.calls)


def lent(s: Specialiser, called: Abstract | None, values: Sequence[Abstract]) -> Sequence[Abstract]:
    """The operands of an operation, where sizes are known: a function of NumPy that keeps and changes nothing gets the
    display of a list or tuple that stands there already, of which the items are known afterwards as before."""
    function = called.value if isinstance(called, Known) else None
    if not s.sized or package_of(function) != "numpy" or not is_harmless(function):
        return values
    ready = [s.ready(value) if isinstance(value, Items) and value.cls is list else None for value in values]
    return [value if operand is None else operand for value, operand in zip(values, ready, strict=True)]


def _item(whole: Fact, at: Any) -> Fact:
    return evaluate(Call(_INDEX, (Var("whole"), Const(at))), {"whole": whole}, {})


@dataclass
class _Typing:
    """Finds the type of what an operation gives; ``of`` are the types of its operands, under names of their own."""

    s: Specialiser
    shown: Mapping[Operand, Fact]
    of: dict[str, Fact] = field(default_factory=dict)

    def result(self, op: Operation, called: Abstract | None, operands: Sequence[Operand]) -> Fact:
        if op.kind == "item" and (span := self.s.slices.get(operands[1])) is not None:  # type: ignore[arg-type]
            whole = self.s.types.get(operands[0], OPEN)  # type: ignore[arg-type]
            if whole.items is not None:
                return replace(whole, items=tuple([(i, f) for i, (_, f) in enumerate(whole.items[span])]))
        if op.kind == "inplace" and isinstance(operands[0], Value):
            # What is changed in place has its shape still.
            whole = self.s.types.get(operands[0], OPEN)
            return whole if whole.kind == "array" else OPEN
        expr = self.expression(op, called, operands)
        return OPEN if expr is None else evaluate(expr, self.of, {})

    def expression(self, op: Operation, called: Abstract | None, operands: Sequence[Operand]) -> Expr | None:
        """An operation in the IR of derivatives; None for one that is not followed."""
        match op.kind:
            case "item":
                return Call(_INDEX, (self.operand(operands[0]), self.index(operands[1])))
            case "attribute":
                return Call(Op("attribute", op.data, ops.function_of("attribute", op.data)), self.all_of(operands))
            case "binary":
                return Call(Op("operator", op.data, _OPERATORS.get(op.data)), self.all_of(operands))
            case "unary":
                return Call(Op("operator", op.data, _SIGNS.get(op.data)), self.all_of(operands))
            case "tuple" if not any(op.data):
                return Build("tuple", self.all_of(operands))
            case "copy":
                return self.operand(operands[0])
            case "call" if not any("*" in kind for kind in op.data):
                return self.call(op, called, operands)
        return None

    def call(self, op: Operation, called: Abstract | None, operands: Sequence[Operand]) -> Expr | None:
        pairs = list(zip(op.data, self.all_of(operands[1:]), strict=True))
        args = tuple([value for kind, value in pairs if not kind])
        named = tuple([(kind, value) for kind, value in pairs if kind])
        if isinstance(called, Late):
            function = ops.function_of("method", called.name)
            whole = self.s.types.get(operands[0], OPEN)  # type: ignore[arg-type]
            if function is None or whole.kind != "array":
                return None
            return Call(Op("method", called.name, function), (self.operand(operands[0]), *args), named)
        if not isinstance(called, Known) or ops.spec_of(called.value) is None:
            return None
        if called.value is len and len(args) == 1:
            number = count(self.s, operands[1])
            return None if number is None else Const(number)
        return Call(Op("function", called.value.__name__, called.value), args, named)

    def index(self, index: Abstract) -> Expr:
        """An index, with slices."""
        span = self.s.slices.get(index) if isinstance(index, Value) else None
        if span is not None:
            return Slice(*[None if b is None else Const(b) for b in (span.start, span.stop, span.step)])
        if isinstance(index, Value) and index in self.s.rows:
            return Build("tuple", tuple(map(self.index, self.s.rows[index])))
        return self.operand(index)

    def all_of(self, operands: Sequence[Operand]) -> tuple[Expr, ...]:
        return tuple(map(self.operand, operands))

    def operand(self, operand: Abstract) -> Expr:
        known = self.s.plain(operand)
        if isinstance(known, Constant):
            return Const(known.value)
        if isinstance(operand, Value) and operand in self.s.rows:
            return Build("tuple", tuple(map(self.operand, self.s.rows[operand])))
        name = str(len(self.of))
        self.of[name] = (self.shown.get(operand) or _fact(self.s, operand)) if isinstance(operand, Value) else OPEN
        return Var(name)
