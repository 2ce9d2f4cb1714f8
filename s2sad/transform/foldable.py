"""Which regions can be written as one expression."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from s2sad.ir.code import Code, Definition, Operand, Operation, Region, Value, codes, inner

#: Operations that are no parts of expressions.
STATEMENTS = frozenset(
    "delete delete_global copy set_attribute set_item delete_attribute delete_item unpack function class import assert "
    "if for while try with match annotate inplace each only".split()
)
_EXPRESSIONS = frozenset(("chain", "and", "or", "choose"))
#: What assigns the item of a comprehension to a target of several parts; what ``:=`` binds is not its own.
_TARGETS = frozenset(("unpack", "copy", "store", "store_global", "set_item", "set_attribute"))
_STORES = frozenset(("store", "store_global"))


def is_expression(region: Region) -> bool:
    """Whether a region that yields one value can be written as an expression.

    Each operand must be what is computed directly before the operations that come after it, and used once.

    Example:
        >>> import gast
        >>> from s2sad.frontend.lower_statements import lower_function
        >>> code = lower_function(gast.parse("def f(x):\\n    return x if x else -x").body[0])
        >>> is_expression(code.body.operations[0].regions[1])
        True
    """
    uses = _uses(region)
    return region.exit.kind in ("yield", "return") and not _left(
        region.exit.operands, region.operations, len(region.operations), uses
    )


def is_comprehension(region: Region) -> bool:
    """Whether the rounds of a comprehension can be written as one."""
    operations, uses = region.operations, _uses(region)
    if region.exit.operands:
        left = _left(region.exit.operands, operations, len(operations), uses)
    elif (
        not operations or operations[-1].kind not in ("each", "only") or not is_comprehension(operations[-1].regions[0])
    ):
        return False
    else:
        left = _left(operations[-1].operands, operations, len(operations) - 1, uses)
    return not any(
        op.kind in STATEMENTS - _TARGETS
        or (op.kind in _STORES and op.results)
        or (op.kind not in _TARGETS and len(op.results) != 1)
        for op in operations[:left]
    )


def folded(operand: Operand, operations: Sequence[Operation], uses: Counter[Value]) -> int:
    """How many operations stand before those that are folded into the expression of an operand."""
    return _left((operand,), operations, len(operations), uses)


def _left(operands: Sequence[Operand], operations: Sequence[Operation], at: int, uses: Counter[Value]) -> int:
    """How many operations stand before those that are folded into the expressions of operands."""
    for operand in reversed(operands):
        last = operations[at - 1] if at else None
        if last is None or not isinstance(operand, Value) or last.results != (operand,) or operand.name:
            continue
        if uses[operand] != 1 or last.kind in STATEMENTS or not _is_folded(last):
            continue
        at = _left(last.operands, operations, at - 1, uses)
    return at


def _is_folded(op: Operation) -> bool:
    if op.kind in _EXPRESSIONS:
        return all(map(is_expression, op.regions))
    if op.kind == "comprehension":
        return is_comprehension(op.regions[0])
    if op.kind == "lambda":
        return is_expression(op.data.code.body)
    return True


def _uses(region: Region) -> Counter[Value]:
    """How often values are used in a region."""
    uses: Counter[Value] = Counter(o for o in region.exit.operands if isinstance(o, Value))
    for op in region.operations:
        uses.update(o for o in op.operands if isinstance(o, Value))
        data = op.data.code if isinstance(op.data, Definition) else op.data
        if isinstance(data, Code):
            uses.update(data.seen)
        for part in op.regions:
            uses.update(_uses(part))
    return uses


def captured(region: Region) -> set[object]:
    """The variables that the functions which are made in a region capture."""
    found: set[object] = set()
    for op in inner(region):
        data = op.data.code if isinstance(op.data, Definition) else op.data
        if isinstance(data, Code):
            found.update(v for made in codes(data) for v in made.captures)
    return found
