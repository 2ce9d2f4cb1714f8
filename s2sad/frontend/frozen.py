"""Distributions of ``scipy.stats`` with fixed parameters: ``norm(m, s).logpdf(x)`` is ``norm.logpdf(x, m, s)``.

The same for a variable that is set once to such an object, at the top of the function, and of which nothing else is
used than methods that are operations.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import gast

from s2sad import ops
from s2sad.frontend.given import is_built_in, is_numpy
from s2sad.frontend.outs import is_writing
from s2sad.frontend.trees import is_starred, nodes_of

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]


def unfrozen(function: Node, lookup: Lookup, unused: Callable[[str], str]) -> Node:
    """A function in which methods of distributions with fixed parameters are those of the distributions.

    ``unused`` gives names for variables that hold the parameters.  What ``lookup`` finds is looked up again where the
    new calls are lowered, so that they rest on guards.
    """
    made = [n for n in nodes_of(function) if isinstance(n, gast.Call) and _is_frozen(n, lookup)]
    if not made:
        return function
    function = copy.deepcopy(function)
    variables: dict[str, Node] = {}
    body: list[Node] = []
    for s in function.body:
        held = _held(s, function, lookup)
        body += [s] if held is None else _parameters_set(s, held, unused, variables)
    function.body = body
    return _Methods(variables, lookup).visit(function)


def _is_frozen(call: Node, lookup: Lookup) -> bool:
    """Whether a call makes such an object."""
    if is_starred(call) or not isinstance(call.func, (gast.Name, gast.Attribute)):
        return False
    found, owner = lookup(call.func)
    return found and ops.has_methods(owner) and callable(owner)


def _held(s: Node, function: Node, lookup: Lookup) -> str | None:
    """The variable that a statement of a function sets to such an object, if only methods of it are used."""
    if not (isinstance(s, gast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], gast.Name)):
        return None
    if not (isinstance(s.value, gast.Call) and _is_frozen(s.value, lookup)):
        return None
    name, owner = str(s.targets[0].id), lookup(s.value.func)[1]
    nodes = nodes_of(function)
    used = {id(n.func.value) for n in nodes if isinstance(n, gast.Call) and _is_method(n, name, owner)}
    for n in nodes:
        # A function inside, or a branch taken later, may see another value.
        if isinstance(n, (gast.Global, gast.Nonlocal)) and name in n.names:
            return None
        if isinstance(n, gast.Name) and n.id == name and n is not s.targets[0]:
            after = (n.lineno, n.col_offset) > (s.end_lineno, s.end_col_offset)
            if id(n) not in used or not after:
                return None
    return name


def _is_method(call: Node, name: str, owner: Any) -> bool:
    """Whether a call is ``name.logpdf(x)``, for a method that is an operation."""
    func = call.func
    if not (isinstance(func, gast.Attribute) and isinstance(func.value, gast.Name) and func.value.id == name):
        return False
    return _fits(call, owner)


#: The arguments of the method that draws, in order.
_DRAWN = ("size", "random_state")


def _quantiles(call: Node, owner: Any) -> list[float]:
    """The probabilities of the quantiles that a method gives: of the median one, of an interval those of its ends."""
    name = call.func.attr
    function = getattr(type(owner), name, None)
    if getattr(function, "__qualname__", "") != f"rv_generic.{name}" or ops.find(getattr(owner, "ppf", None)) is None:
        return []
    given = [*call.args, *(k.value for k in call.keywords if k.arg == "confidence")]
    if name == "median" and not (call.args or call.keywords):
        return [0.5]
    if name != "interval" or len(given) != 1 or len(call.args) + len(call.keywords) != 1:
        return []
    confidence = given[0].value if isinstance(given[0], gast.Constant) else None
    if not isinstance(confidence, float) or not 0.0 <= confidence <= 1.0:
        return []
    return [(1.0 - confidence) / 2, (1.0 + confidence) / 2]


def _fits(call: Node, owner: Any) -> bool:
    """Whether a method of an object with fixed parameters is an operation of the distribution.

    It has the point alone as argument, or none, or draws, or gives quantiles.
    """
    if _quantiles(call, owner):
        return True
    known = ops.spec_of(getattr(owner, call.func.attr, None))
    if known is None or is_starred(call):
        return False
    if call.func.attr == "rvs":
        names = [*_DRAWN[: len(call.args)], *(k.arg for k in call.keywords)]
        return len(call.args) <= len(_DRAWN) and set(names) <= {*_DRAWN} and len({*names}) == len(names)
    if known.parameters[:1] in (("x",), ("q",)):
        return len(call.args) == 1 and not call.keywords
    return bool(known.parameters) and not call.args and not call.keywords


def _parameters_set(s: Node, name: str, unused: Callable[[str], str], variables: dict[str, Node]) -> list[Node]:
    """The statements that set variables to the parameters, instead of one to the object."""
    made, out = s.value, []

    def variable(value: Node, hint: str) -> Node:
        held = unused(f"{name}_{hint}")
        out.append(gast.copy_location(gast.Assign(targets=[_name(held, gast.Store(), s)], value=value), s))
        return _name(held, gast.Load(), value)

    args = [variable(a, f"{i}") for i, a in enumerate(made.args, start=1)]
    keywords = [gast.keyword(arg=k.arg, value=variable(k.value, k.arg)) for k in made.keywords]
    variables[name] = gast.copy_location(gast.Call(func=made.func, args=args, keywords=keywords), made)
    return out


def _name(name: str, context: Node, place: Node) -> Node:
    return gast.copy_location(gast.Name(id=name, ctx=context, annotation=None, type_comment=None), place)


def _quantile(call: Node, made: Node, point: float) -> Node:
    """The quantile of a distribution with the parameters of an object, in the place of a ``call``."""
    made = copy.deepcopy(made)
    func = gast.copy_location(gast.Attribute(value=made.func, attr="ppf", ctx=gast.Load()), call.func)
    probability = gast.copy_location(gast.Constant(value=point, kind=None), call)
    return gast.copy_location(gast.Call(func=func, args=[probability, *made.args], keywords=made.keywords), call)


class _Methods(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, variables: dict[str, Node], lookup: Lookup) -> None:
        self.variables = variables
        self.lookup = lookup

    def visit_Call(self, node: Node) -> Node:
        node = self.generic_visit(node)
        if not isinstance(node.func, gast.Attribute):
            return node
        made = node.func.value
        if isinstance(made, gast.Name) and made.id in self.variables:
            made = copy.deepcopy(self.variables[made.id])
        elif not (isinstance(made, gast.Call) and self.is_taken_apart(node, made)):
            return node
        if points := _quantiles(node, self.lookup(made.func)[1]):
            parts = [_quantile(node, made, point) for point in points]
            whole = parts[0] if len(parts) == 1 else gast.Tuple(elts=parts, ctx=gast.Load())
            return gast.copy_location(whole, node)
        func = gast.copy_location(gast.Attribute(value=made.func, attr=node.func.attr, ctx=gast.Load()), node.func)
        if node.func.attr == "rvs":
            drawn = [gast.keyword(arg=n, value=a) for n, a in zip(_DRAWN, node.args, strict=False)]
            keywords = [*made.keywords, *drawn, *node.keywords]
            return gast.copy_location(gast.Call(func=func, args=made.args, keywords=keywords), node)
        return gast.copy_location(gast.Call(func=func, args=[*node.args, *made.args], keywords=made.keywords), node)

    def is_taken_apart(self, node: Node, made: Node) -> bool:
        """Whether a call is of a method of an object that is made there, and may be one of the distribution's."""
        if not _is_frozen(made, self.lookup) or not _fits(node, self.lookup(made.func)[1]):
            return False
        points = _quantiles(node, self.lookup(made.func)[1])
        if len(points) > 1:
            # The parameters are computed for each.
            return all(map(self.is_pure, nodes_of(made)[1:]))
        if node.func.attr == "rvs" or points or not node.args:
            return True
        return self.may_swap(made, node.args[0])

    def may_swap(self, made: Node, argument: Node) -> bool:
        """Whether the argument of a method may be evaluated before the parameters of its object."""
        parameters = [*made.args, *(k.value for k in made.keywords)]
        if isinstance(argument, gast.Constant) or all(isinstance(p, gast.Constant) for p in parameters):
            return True
        return all(self.is_pure(n) for part in (argument, *parameters) for n in nodes_of(part))

    def is_pure(self, node: Node) -> bool:
        """Whether an expression has no effect of its own, as far as functions are known."""
        if isinstance(node, gast.Call):
            if is_built_in(node.func, self.lookup):
                return ops.function_of("method", node.func.attr) is not None
            return is_numpy(self.lookup(node.func)[1]) and not is_writing(node, self.lookup)
        return not isinstance(node, (gast.NamedExpr, gast.Await, gast.Yield, gast.YieldFrom))
