"""Which rule an operation is differentiated by, and with which operands; what both modes refuse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from s2sad import ops
from s2sad.ir.nodes import Call, Const, Expr, Op, Var
from s2sad.ir.types import Fact
from s2sad.ops.binding import BindingError, bind
from s2sad.ops.infer.dtypes import is_real
from s2sad.ops.scipy.remedies import lacking
from s2sad.runtime import as_subtracted, in_full, signed, widened

_WIDENED = Op("runtime", "widened", widened)
_AS_SUBTRACTED = Op("runtime", "as_subtracted", as_subtracted)
_IN_FULL = Op("runtime", "in_full", in_full)
_SIGNED = Op("runtime", "signed", signed)
REMEDY = "Write it with supported operations, or wrap the argument in stop_gradient(...)."
_STOPPED = "Wrap it in stop_gradient(...) if it is meant as a constant."
_PLAIN_OPERAND = (
    "Use an array: np.asarray(...) of it, .toarray() of a sparse matrix, or the array that an object of yours holds; "
    "for c * A @ x with a sparse matrix A and a number, c * (A @ x); for c * A itself, "
    "sparse.csr_matrix((c * A.data, A.indices, A.indptr))."
)

#: Parameters that take integers and dtypes alone, whatever the operation is.
_NO_NUMBERS = ("axis", "dtype")


@dataclass(frozen=True)
class Applied:
    """A rule, and the arguments of a call by the names of its parameters."""

    rule: ops.Rule
    bound: Mapping[str, Expr]


class NotDifferentiableError(Exception):
    """An operation has no derivative where something active goes in: why, and what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message, self.remedy = message, remedy


def applied(call: Call, fact: Callable[[Expr], Fact], is_active: Callable[[Expr], bool]) -> Applied:
    """The rule of an operation and its operands.

    Raises:
        NotDifferentiableError: if there is no rule, or none for an operand that is active.
    """
    op = call.op
    others = [a for a in call.args if fact(a).kind == "other"] if op.kind == "operator" else []
    # A text of a class of the user's, a member of an enumeration or a date may have operators of its own.
    strange = [a for a in others if not fact(a).text or fact(a).owners or fact(a).plain is not None]
    # A product with a sparse matrix that is constant has a derivative by the array; what it is shows when it runs.
    if strange and (op.name != "@" or any(map(is_active, strange))):
        raise NotDifferentiableError(
            f"an operand of {op.name} is an object with operators of its own, as far as is known", _PLAIN_OPERAND
        )
    rule = ops.find(op.function)
    if rule is None:
        raise NotDifferentiableError(f"{op.name} has no derivative rule", ops.remedy(op.function) or REMEDY)
    try:
        bound = bind(call)
    except BindingError as error:
        what = f"the argument {error.argument!r} of {op.name} has no derivative rule"
        raise NotDifferentiableError(what, "Leave it out, or do the same with other operations.") from None
    for name, operand in bound.items():
        if name not in (*rule.wrt, *rule.steps, *_NO_NUMBERS) and is_active(operand):
            what = f"{op.name} has no derivative with respect to its argument {name!r}"
            why, remedy = lacking(rule.name, name) or ("", _STOPPED)
            raise NotDifferentiableError(f"{what}: {why}" if why else what, remedy)
    return Applied(rule, bound)


def drops_imaginary(made: Applied, fact: Callable[[Expr], Fact]) -> bool:
    """Whether an operation computes in a dtype of real numbers; a rule of what only converts to one sees to that."""
    return not made.rule.casts and is_real(made.bound.get("dtype", Const(None)), fact)


def maybe_complex(made: Applied, fact: Callable[[Expr], Fact]) -> list[str]:
    """The operands that have to be real, as the rule has it, and may be complex."""
    if not (made.rule.real_only or (made.rule.kind == "general" and drops_imaginary(made, fact))):
        return []
    known = {name: fact(made.bound.get(name, Const(None))) for name in made.rule.wrt}
    # Functions of Python's refuse complex numbers themselves, but for those of NumPy's, of arrays too.
    kinds = ("scalar", "array", "numeric") if made.rule.dtype == "float" else ("scalar", "array", "numeric", "open")
    parts = {
        name: [f, *(item for _, item in f.items or ()), *([f.each] if f.each else [])] for name, f in known.items()
    }
    return [name for name, of in parts.items() if any(not f.real and f.kind in kinds for f in of)]


def in_precision(
    rule: ops.Rule, operands: Mapping[str, Expr], call: Call, strong: bool, fact: Callable[[Expr], Fact]
) -> dict[str, Expr]:
    """The operands in the precision in which NumPy computes with them.

    A product with a ``strong`` derivative, an array, is computed so in any case.
    """
    found = dict(operands)
    if rule.kind == "linear" or (strong and (rule.kind == "bilinear" or call.op.function is np.multiply)):
        return found
    of_result = fact(call).precision
    for name, value in operands.items():
        known = fact(value)
        same = known.precision == of_result != "" or known.precision in ("weak", "float", "double")
        wide = _IN_FULL if name in rule.wide_only else _WIDENED if name in rule.wrt else None
        if wide and name not in rule.as_given and not same and (known.numeric or known.kind == "open"):
            found[name] = Call(wide, (value,))
        elif name not in rule.wrt and _is_order(rule, value, known):
            found[name] = Call(_SIGNED, (value,))
    if rule.subtracted:
        first, second = [operands[name] for name in rule.subtracted]
        if _may_be_integers(first, fact(first)) and _may_be_integers(second, fact(second)):
            found[rule.subtracted[0]] = Call(_AS_SUBTRACTED, (first, second))
    return found


def _is_order(rule: ops.Rule, value: Expr, known: Fact) -> bool:
    """Whether an operand may be NumPy's integers, with which an elementwise derivative computes."""
    return rule.broadcasts and _may_be_integers(value, known)


def _may_be_integers(value: Expr, known: Fact) -> bool:
    """Whether an operand may be NumPy's integers or booleans."""
    if isinstance(value, Const):
        return False
    return known.precision not in ("weak", "float", "double", "single") and (known.numeric or known.kind == "open")


def bound_twice(bound: Mapping[str, Expr]) -> bool:
    """Whether both operands of an operation are one name."""
    first, *rest = bound.values()
    return isinstance(first, Var) and rest == [first]
