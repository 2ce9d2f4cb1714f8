"""What numbers are never below: enough to see that a square root in a denominator is not zero."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from s2sad import ops
from s2sad.ir.nodes import Build, Call, Const, Expr, Var
from s2sad.ir.types import Fact
from s2sad.ops.binding import given

#: Smaller bounds may be rounded to zero in single precision.
SMALLEST = 1e-30
_DEEPEST = 12
#: The parameters that have no say in how small a number is.
_HARMLESS = ("axis", "keepdims", "ddof", "ord")


def lower_bound(
    expr: Expr, defined: Mapping[str, Expr], fact: Callable[[Expr], Fact], depth: int = _DEEPEST
) -> float | None:
    """A number, not negative and no greater than 1 or so, that ``expr`` is known never to be below; else None.

    ``defined`` has the values of the names that are assigned once and whose arrays nobody writes.
    """

    def bound(e: Expr) -> float | None:
        return lower_bound(e, defined, fact, depth - 1)

    if isinstance(expr, Const):
        return float(min(expr.value, 1.0)) if type(expr.value) in (int, float) and expr.value >= 0 else None
    if isinstance(expr, Var):
        return bound(defined[expr.name]) if expr.name in defined and depth else None
    spec = ops.spec_of(expr.op.function) if isinstance(expr, Call) else None
    if not isinstance(expr, Call) or spec is None or spec.lower_bound is None or not fact(expr).real:
        return None
    return spec.lower_bound(tuple(_operands(expr, spec)), fact, bound)


def _operands(call: Call, spec: ops.OpSpec) -> Iterator[Expr]:
    """What a call is given, but for the options."""
    for name, value in given(call).items():
        if name == spec.variadic and isinstance(value, Build):
            yield from value.items
        elif name not in _HARMLESS:
            yield value
