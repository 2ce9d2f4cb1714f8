"""The values that may be of a class with operators of its own because what they are computed from may be.

    a = CONFIG.table              may be a matrix
    b = np.exp(a)                 so may this
    c = np.asarray(b)             this is an array

The types do not say this: they are those of arrays wherever NumPy computes with something.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from s2sad import ops
from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import Assign, Build, Call, Const, Copy, Expr, For, Function, Store, Unpack, Var
from s2sad.ir.traverse import names_in, walk, writes
from s2sad.ir.types import OBJECTS
from s2sad.ops.binding import given

#: The operands whose class the result may have, for kinds of operations.
_KEEPING: dict[str, Callable[[Sequence[Expr]], Sequence[Expr]]] = {
    **dict.fromkeys(("operator", "inplace", "compare", "bool", "change", "user"), lambda args: args),
    **dict.fromkeys(("index", "attribute", "field"), lambda args: args[:1]),
    "ifexp": lambda args: args[1:],
}
#: The kinds of values that may be such arrays, or hold some.
_CONTAINERS = ("tuple", "list", "dict", "record", "dataclass")
_MAYBE = ("open", "other", "array", "numeric", *_CONTAINERS)
_ATTRIBUTES = ("T", "mT", "real", "imag")
#: The kinds of operations whose operands are checked beside one that varies.
_MAKING = ("operator", "inplace", "compare", "function", "method", "runtime")


class Subclasses:
    """Tells of which values of a function the class is not known, since that of an operand is not.

    Args:
        function: The function.
        facts: The types of its names.
        varied: The names of what is computed from active parameters: what rules make is of NumPy's own classes.
    """

    def __init__(self, function: Function, facts: Facts, varied: set[str]) -> None:
        self.facts = facts
        self.varied = varied
        self.names: set[str] = set()
        edges: list[tuple[Expr, str]] = []
        for stmt in walk(function.body):
            match stmt:
                case Assign(value=value) | Unpack(value=value):
                    edges += [(value, name) for name in writes(stmt)]
                case Copy(targets=targets, sources=sources):
                    edges += zip(sources, targets, strict=True)
                case Store(base=Var(name=name), value=value) if facts.of[name].kind in _CONTAINERS:
                    edges.append((value, name))
                case For(iters=iters):
                    edges += [(i, name) for i in iters for name in writes(stmt)]
        before = -1
        while len(self.names) > before:
            before = len(self.names)
            self.names.update(name for value, name in edges if self.may_be(value, facts.of[name].kind))

    def may_be(self, expr: Expr, kind: str = "") -> bool:
        """Whether a value may be of such a class; its ``kind`` may be known better than from the expression."""
        known = self.facts.get(expr)
        kind = kind or known.kind
        is_dtype = known.kind == "other" and (known.real or known.precision or known == OBJECTS)
        if kind not in _MAYBE or isinstance(expr, Const) or is_dtype:
            return False
        varies = not self.varied.isdisjoint(names_in(expr))
        match expr:
            case Var(name=name) if name in self.names:
                return True
            case Build(items=items):
                return any(map(self.may_be, items))
            case Call(op=op):
                if varies and op.kind in _MAKING:
                    # Its operands are checked, and what a rule makes of arrays are arrays.
                    return False
                if any(map(self.may_be, _kept(expr))):
                    # Of a container each item is known by itself, and what a callee computes is checked there.
                    return kind == "open" or not (varies and op.kind in {"index", "user"})
        return kind in ("open", "other") and not varies


def _kept(call: Call) -> list[Expr]:
    """The operands of an operation whose class the result may have."""
    if call.op.kind == "attribute" and call.op.name not in _ATTRIBUTES:
        return []
    if call.op.kind in _KEEPING:
        return [*_KEEPING[call.op.kind](call.args), *(value for _, value in call.kwargs)]
    function = call.op.function
    spec = ops.spec_of(function)
    if spec is None or spec.makes is not None or (spec.only_arrays and "subok" not in given(call)):
        return []
    if isinstance(function, np.ufunc) or spec.name.endswith("_like"):
        return list(call.args)
    return [operand for name, operand in given(call).items() if isinstance(spec, ops.Rule) and name in spec.wrt]
