"""Smooth functions of what is not smooth, which are differentiated as one operation.

    p = np.abs(z) ** 2              z_bar = p_bar * (2 * np.conj(z))
    d = np.sqrt(s)                  s_bar = -k * k_bar
    k = np.exp(-d**2)

The derivative of a root, norm or absolute value is not finite, or jumps, where it vanishes, and is taken for zero
there.  Its square is smooth: as one operation that has derivatives of every order.  So has ``log1p(exp(-abs(x)))``, by
which the positive part of ``x`` is less than ``log(1 + exp(x))``: what jumps in the derivatives of both is left out,
and the rest is that of the sum.

    t = np.exp(-np.abs(x))                                      x_bar = np.where(x >= 0, t_bar, -t_bar)
    s = np.where(x >= 0, 1 / (1 + t), t / (1 + t))

Where a choice between two formulas says on which side of zero ``x`` is, an absolute value of ``x`` has the derivative
of that side at 0, too: the formulas are those of one smooth function.
"""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from s2sad.differentiate.builder import Builder
from s2sad.ir import algebra
from s2sad.ir.nodes import Block, Call, Const, Expr, If, Op, Store, Var
from s2sad.ir.traverse import expressions, names_in, subexpressions, walk
from s2sad.ir.types import Fact
from s2sad.ops.binding import given
from s2sad.runtime.classes import module_of
from s2sad.runtime.smooth import (
    modulus_from_left,
    modulus_from_right,
    number_from_left,
    number_from_right,
    softplus_rest,
    squared_hypot,
    squared_modulus,
    squared_norm,
)

_SAME = Op("operator", "+", np.positive)
_SQUARED_MODULUS = Op("runtime", "squared_modulus", squared_modulus)
_SQUARED_HYPOT = Op("runtime", "squared_hypot", squared_hypot)
_SQUARED_NORM = Op("runtime", "squared_norm", squared_norm)
_SOFTPLUS_REST = Op("runtime", "softplus_rest", softplus_rest)
#: Absolute values with their derivatives at 0 from one side.
_FROM = {
    (side, is_number): Op("runtime", function.__name__, function)
    for side, is_number, function in (
        ("right", False, modulus_from_right),
        ("left", False, modulus_from_left),
        ("right", True, number_from_right),
        ("left", True, number_from_left),
    )
}
#: These are equal to the same numbers as floats.
_ZERO, _ONE, _TWO = Const(0), Const(1), Const(2)
_VARIANCE = Op("function", "var", np.var)
_NONE, _EUCLIDEAN = Const(None), Const("euclidean")
_DISTANCES = "scipy.spatial.distance"
_LOGARITHMS = (np.log1p, math.log1p, np.log, math.log)

Look = Callable[[Expr], Fact]
Given = Mapping[str, Expr]


def smoothed(call: Call, make: Builder, is_active: Callable[[Expr], bool]) -> tuple[Call, Expr | None]:
    """The operation as which ``call`` is differentiated, and the constant number that it is multiplied by, or None.

    A smooth function of what is not is one operation on what that is of, where all that lies between still has the
    value that it had.
    """
    scaled = _scaled_square(call, make, is_active)
    whole, factor = (call, None) if scaled is None else scaled
    return _as_smooth(whole, make), factor


def _as_smooth(call: Call, make: Builder) -> Call:
    """A smooth function of what is not, as one operation, where ``call`` is one; else ``call``."""
    if call.op.function in _MODULI:
        return _of_side(call, make)
    root = _made(_squared(call), make)
    found = None if root is None else _square_of(root, make.fact)
    if found is None and make.again:
        # Its first derivative, in full, is shorter to read.
        found = _rest_of_softplus(call, make)
    return call if found is None else Call(found.op, found.args, found.kwargs, call.node)


def _scaled_square(call: Call, make: Builder, is_active: Callable[[Expr], bool]) -> tuple[Call, Expr] | None:
    """The square of a root or the like, and the constant number that ``call``, ``c * d * d``, multiplies it by."""
    if call.op != algebra.MULTIPLY:
        return None
    for product, root in (call.args, call.args[::-1]):
        inner = _made(product, make) if isinstance(product, Var) else None
        if inner is None or inner.op != algebra.MULTIPLY or root not in inner.args or inner.args[0] == inner.args[1]:
            continue
        factor = inner.args[inner.args[0] == root]
        made = _made(root, make)
        if make.fact(factor).kind == "scalar" and not is_active(factor) and made is not None:
            return (Call(algebra.MULTIPLY, (root, root)), factor) if _square_of(made, make.fact) else None
    return None


def _made(expr: Expr | None, make: Builder) -> Call | None:
    """What makes the value of an expression, if nothing of that has changed since.

    Join names, which are assigned again, have no definition, and what a turn of a loop assigns is read after the turn
    by a join name.
    """
    made = expr
    while isinstance(made, Var):
        made = make.unchanged.get(made.name)
    return made if isinstance(made, Call) and make.changing.isdisjoint(names_in(made)) else None


def _of_side(call: Call, make: Builder) -> Call:
    """An absolute value as that from one side, if choices by the sign of the same number agree on which side 0 is."""
    x = call.args[0] if len(call.args) == 1 and not call.kwargs else None
    if not isinstance(x, Var) or x.name in make.changing:
        return call
    known = make.fact(x)
    if known.kind not in ("scalar", "array") or not known.real:
        return call
    sides = {side for condition in _conditions(make.function.body) if (side := _side(_made(condition, make), x))}
    return Call(_FROM[sides.pop(), known.kind == "scalar"], (x,), node=call.node) if len(sides) == 1 else call


def _conditions(block: Block) -> Iterator[Expr]:
    """The conditions by which branches, `np.where`, masks and products with truth values choose, among others."""
    for stmt in walk(block):
        if isinstance(stmt, If):
            yield stmt.test
        elif isinstance(stmt, Store):
            yield stmt.index
        for part in (part for whole in expressions(stmt) for part in subexpressions(whole)):
            if isinstance(part, Call) and (part.op.function is np.where or part.op.kind in ("ifexp", "index")):
                yield from part.args[:2]
            elif isinstance(part, Call) and part.op == algebra.MULTIPLY:
                yield from part.args


def _side(condition: Call | None, x: Var) -> str:
    """The side on which a comparison of ``x`` with 0 puts 0; empty of other conditions."""
    if condition is None or condition.op.kind != "compare" or len(condition.args) != 2:
        return ""
    first, second = condition.args
    name = condition.op.name
    if first == _ZERO and second == x:
        name = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(name, "")
    elif first != x or second != _ZERO:
        return ""
    return {"<": "right", ">=": "right", ">": "left", "<=": "left"}.get(name, "")


def _rest_of_softplus(call: Call, make: Builder) -> Call | None:
    """``log1p(exp(-abs(x)))``, or the logarithm of 1 and such a number."""
    if call.kwargs or call.op.function not in _LOGARITHMS:
        return None
    inner = call.args[0]
    if call.op.function in (np.log, math.log):
        total = _made(inner, make)
        if len(call.args) != 1 or total is None or total.op != algebra.ADD or _ONE not in total.args:
            return None
        inner = total.args[total.args[0] == _ONE]
    for functions in ((np.exp, math.exp), (np.negative,), (np.absolute, builtins.abs)):
        made = _made(inner, make)
        if made is None or made.op.function not in functions or len(made.args) != 1 or made.kwargs:
            return None
        inner = made.args[0]
    known = make.fact(inner)
    return Call(_SOFTPLUS_REST, (inner,)) if isinstance(inner, Var) and known.numeric and known.real else None


def _squared(call: Call) -> Expr | None:
    """What an operation multiplies by itself."""
    if call.kwargs or call.op.kind == "inplace":
        return None
    if call.op.function is np.square and len(call.args) == 1:
        return call.args[0]
    if len(call.args) != 2:
        return None
    base, other = call.args
    if call.op == algebra.POWER or call.op.function is np.power:
        return base if other == _TWO else None
    return base if call.op.function is np.multiply and base == other else None


def _square_of(made: Call, fact: Look) -> Call | None:
    """The square of the result of an operation, as an operation on its operands; None of what has no such square."""
    for functions, square in _SQUARES:
        if any(made.op.function is function for function in functions):
            operands = dict(given(made))
            numbers = [v for v in operands.values() if not isinstance(v, Const)]
            return square(operands, fact) if all(isinstance(v, Var) and fact(v).numeric for v in numbers) else None
    if made.op == algebra.POWER and made.args[1] == Const(0.5):
        return _of_root({"x": made.args[0]}, fact) if fact(made.args[0]).numeric else None
    return _of_distance(made) if module_of(made.op.function) == _DISTANCES else None


def _of_modulus(operands: Given, fact: Look) -> Call | None:
    if operands.keys() != {"x"}:
        return None
    real = fact(operands["x"]).real
    return Call(algebra.POWER, (operands["x"], _TWO)) if real else Call(_SQUARED_MODULUS, (operands["x"],))


def _of_root(operands: Given, fact: Look) -> Call | None:
    return Call(_SAME, (operands["x"],)) if operands.keys() == {"x"} else None


def _of_hypot(operands: Given, fact: Look) -> Call | None:
    return Call(_SQUARED_HYPOT, tuple(operands.values())) if operands.keys() == {"x", "y"} else None


def _of_deviation(operands: Given, fact: Look) -> Call | None:
    options = tuple([(name, value) for name, value in operands.items() if name != "a"])
    return Call(_VARIANCE, (operands["a"],), options) if "out" not in operands else None


def _of_norm(operands: Given, fact: Look) -> Call | None:
    order, axis = operands.get("ord", _NONE), operands.get("axis", _NONE)
    of_vectors = fact(operands["x"]).ndim == 1 or (isinstance(axis, Const) and type(axis.value) is int)
    if order not in (_NONE, Const("fro")) and not (order == _TWO and of_vectors):
        return None
    options = tuple([(name, value) for name, value in operands.items() if name in ("axis", "keepdims")])
    return Call(_SQUARED_NORM, (operands["x"],), options)


def _of_distance(made: Call) -> Call | None:
    """A function of SciPy's, of the metric of which there is one for the square."""
    operands, name = given(made), getattr(made.op.function, "__name__", "")
    if operands.keys() == {"u", "v"} and name == "euclidean":
        square = getattr(sys.modules[_DISTANCES], "sqeuclidean")  # noqa: B009
        return Call(Op("function", "sqeuclidean", square), made.args, made.kwargs)
    metric = operands.get("metric", _EUCLIDEAN)
    if name in ("cdist", "pdist") and operands.keys() <= {"XA", "XB", "X", "metric"} and metric == _EUCLIDEAN:
        points = tuple([operands[name] for name in ("XA", "XB", "X") if name in operands])
        return Call(made.op, (*points, Const("sqeuclidean")))
    return None


_MODULI = (np.absolute, np.fabs, builtins.abs, math.fabs)
_SQUARES: tuple[tuple[tuple[object, ...], Callable[[Given, Look], Call | None]], ...] = (
    (_MODULI, _of_modulus),
    ((np.sqrt, math.sqrt), _of_root),
    ((np.hypot,), _of_hypot),
    ((np.std,), _of_deviation),
    ((np.linalg.norm,), _of_norm),
)
