"""Write adjoints and tangents as short as they get, once temporaries are folded into them.

t_dot = 100.0 * (2 * (x_dot * y))      ->   t_dot = 200.0 * x_dot * y
a_dot = s * x_dot + c * x_dot * x      ->   a_dot = (s + c * x) * x_dot
y_dot = np.sum(e * x_dot)              ->   y_dot = e @ x_dot             (vectors)
y_dot = np.mean(e * x_dot)             ->   y_dot = e @ x_dot / len(e)
y_dot = np.sum(2 * x * x_dot, axis=0)  ->   y_dot = 2 * np.sum(x * x_dot, axis=0)
x_bar = t.T.T @ y_bar                  ->   x_bar = t @ y_bar
x_bar = np.where(x > y, z_bar, np.where(x == y, z_bar / 2, 0))
                                       ->   x_bar = chosen_part(z_bar, x > y, x == y)        (arrays)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from s2sad.ir import algebra
from s2sad.ir.nodes import Assign, Block, Call, Const, Expr, Op, Stmt, Store, Var
from s2sad.ir.traverse import base, is_tangent, map_children, map_stmt, names_in
from s2sad.ir.types import Fact
from s2sad.optimise.own import is_new
from s2sad.runtime.arrays import chosen_part

FactOf = Callable[[Expr], Fact]
_LEN = Op("runtime", "len", len)
_CHOSEN = Op("runtime", "chosen_part", chosen_part)


def finished(block: Block, fact: FactOf) -> Block:
    """A block whose adjoints and tangents are as short as they get; what is the user's stays as it is."""

    def shorter(stmt: Stmt) -> Stmt:
        value = stmt.value if isinstance(stmt, (Assign, Store)) else None
        if isinstance(value, Call) and value.node is not None:
            return stmt
        if isinstance(stmt, Assign) and isinstance(value, Call) and _is_ours(stmt.target):
            new = short(value, fact)
            # ``-(-x)`` is a new array and ``x`` is not.
            return replace(stmt, value=new) if is_new(new) else stmt
        if isinstance(stmt, Store) and stmt.call is None and any(map(_is_ours, names_in(stmt.base)[:1])):
            return replace(stmt, value=short(stmt.value, fact))
        return map_stmt(stmt, lambda e: e, lambda b: tuple(map(shorter, b)))

    return tuple(map(shorter, block))


def short(expr: Expr, fact: FactOf) -> Expr:
    """An expression of ours as short as it gets."""
    return _by_types(algebra.finished(_untwisted(expr, fact)), fact)


def as_dot(expr: Expr, fact: FactOf) -> Expr:
    """``a @ b`` for the sum of the products of an adjoint or tangent and a real vector of its size, also for a mean.

    Example:
        >>> known = Fact("array", ndim=1, real=True, dims=(3,), precision="double")
        >>> product = Call(algebra.MULTIPLY, (Var("x_dot.1"), Var("x.1")))
        >>> as_dot(Call(Op("function", "np.sum", np.sum), (product,)), lambda e: known).op.name
        '@'
    """
    if not (isinstance(expr, Call) and expr.op.function in (np.sum, np.mean)) or len(expr.args) != 1 or expr.kwargs:
        return expr
    factors = _factors(expr.args[0])
    facts = [fact(a) for a in factors]
    vectors = all(
        f.kind == "array" and f.real and f.precision and f.dims is not None and len(f.dims) == 1 for f in facts
    )
    ours = any(isinstance(a, Var) and (base(a.name) == "~t_bar" or _is_tangent(a)) for a in factors)
    if not (factors and vectors and ours and facts[0].dims == facts[1].dims):
        return expr
    dot = Call(algebra.MATMUL, factors)
    if expr.op.function is np.sum:
        return dot
    counted = next((a for a in factors if isinstance(a, Var)), None)
    return expr if counted is None else algebra.divide(dot, Call(_LEN, (counted,)))


def _factors(product: Expr) -> tuple[Expr, ...]:
    """The two factors of a product, or of a quotient whose numerator is one; none of anything else."""
    if not isinstance(product, Call):
        return ()
    if product.op == algebra.MULTIPLY:
        return product.args
    if product.op == algebra.DIVIDE:
        numerator, denominator = product.args
        if isinstance(numerator, Call) and numerator.op == algebra.MULTIPLY:
            return numerator.args[0], algebra.divide(numerator.args[1], denominator)
    return ()


def _by_types(expr: Expr, fact: FactOf) -> Expr:
    """An expression with what is shorter for the types of its parts, and what follows from that."""
    expr = map_children(expr, lambda e: _by_types(e, fact))
    if isinstance(expr, Call) and expr.op.kind == "operator":
        expr = algebra.outermost(expr)
    if isinstance(expr, Call) and expr.op in (algebra.ADD, algebra.SUBTRACT) and len(expr.args) == 2:
        return _factored(expr)
    if isinstance(expr, Call) and expr.op.function is np.where:
        return _shared(expr, fact)
    return _of_product(expr, fact) if isinstance(expr, Call) and expr.op.function in (np.sum, np.mean) else expr


def _shared(choice: Call, fact: FactOf) -> Call:
    """What one of two arrays gets of an adjoint that both share where they are equal, in one call."""
    match choice.args:
        case (chosen, g, Call(args=(tie, half, Const(value=0))) as rest) if (
            rest.op.function is np.where and half == Call(algebra.DIVIDE, (g, Const(2))) and fact(chosen).has_axes
        ):
            return Call(_CHOSEN, (g, chosen, tie))
    return choice


def _of_product(total: Call, fact: FactOf) -> Expr:
    """A sum or mean of products with the number, or sign, in front of them all written once."""
    if len(total.args) == 1 and {name for name, _ in total.kwargs} <= {"axis", "keepdims"}:
        sign, terms = algebra.signed(total.args[0])
        number, terms = algebra.leading(terms)
        if fact(terms).kind == "array":
            return algebra.multiply(Const(sign * number), as_dot(replace(total, args=(terms,)), fact))
    return as_dot(total, fact)


def _factored(whole: Call) -> Expr:
    """A sum or difference with the tangent that both operands have for a factor written once."""
    a, b = whole.args
    for dot in _tangents(a):
        one, other = _without(a, dot), _without(b, dot)
        if one is not None and other is not None:
            inner = algebra.add(one, other) if whole.op == algebra.ADD else algebra.subtract(one, other)
            return Call(algebra.MULTIPLY, (inner, dot))
    return whole


def _tangents(product: Expr) -> list[Var]:
    """The tangents that are factors of a product."""
    if isinstance(product, Call) and product.op == algebra.MULTIPLY:
        return [dot for part in product.args for dot in _tangents(part)]
    return [product] if isinstance(product, Var) and _is_tangent(product) else []


def _without(product: Expr, dot: Var) -> Expr | None:
    """A product of several factors without one of them; None where that is none of them."""
    if not (isinstance(product, Call) and product.op == algebra.MULTIPLY):
        return None
    left, right = product.args
    if right == dot:
        return left
    if left == dot:
        return right
    for kept, part in ((right, left), (left, right)):
        rest = _without(part, dot)
        if rest is not None:
            return algebra.multiply(rest, kept) if part is left else algebra.multiply(kept, rest)
    return None


def _is_ours(name: str) -> bool:
    """Whether a name is that of an adjoint or tangent, or a variable of the user's that is called like one."""
    return is_tangent(name) or base(name).endswith("_bar")


def _is_tangent(expr: Expr) -> bool:
    return isinstance(expr, Var) and is_tangent(expr.name)


def _untwisted(expr: Expr, fact: FactOf) -> Expr:
    """An expression with arrays in place of the transposes of their transposes."""
    expr = map_children(expr, lambda e: _untwisted(e, fact))
    match expr:
        case Call(
            op=Op(kind="attribute", name="T"), args=(Call(op=Op(kind="attribute", name="T"), args=(whole,)),)
        ) if fact(whole).kind == "array":
            return whole
    return expr
