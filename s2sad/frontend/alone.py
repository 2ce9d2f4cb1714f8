"""Which variables hold a list or dict that nothing else holds."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

import gast

from s2sad import ops
from s2sad.errors import S2SADError
from s2sad.frontend.resolve import Resolver
from s2sad.frontend.source import Source
from s2sad.frontend.trees import is_starred, nodes_of

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]
#: By function, the parameters for lists and dicts that it changes and hands back, so that nothing else holds them.
Known = Callable[[Any], tuple[str, ...]]
_SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda)
_DISPLAYS = (gast.List, gast.ListComp, gast.Dict, gast.DictComp)
_LISTS = (gast.List, gast.ListComp)
#: The methods of lists and dicts that hand out neither these, nor what runs over them.
_METHODS = frozenset(
    "append extend insert pop remove reverse sort clear copy index count get update setdefault popitem".split()
)
#: Those of dicts that give a loop something to run over.
_VIEWS = frozenset("keys values items".split())
#: The functions that read what they are given, and give something else.
_READING = (len, sorted, list, tuple, dict, set, frozenset, any, all, repr, str, bool, print)
#: Those that give a loop something to run over.
_ITERATING = (enumerate, zip, reversed)
#: Those that make a list or dict.
_MAKING = (list, dict, sorted)


class Alone:
    """Finds which variables of one function surely hold a list or dict, and alone.

    ``known`` are the parameters of functions for lists and dicts that these hand back, ``read`` gives the source of
    one.  What a function that ``hands_back`` returns of its parameters is its caller's from then on.
    """

    def __init__(
        self,
        function: Node,
        lookup: Lookup,
        known: Known,
        read: Callable[[types.FunctionType], Source],
        hands_back: bool = False,
        asked: dict[tuple[types.FunctionType, str], bool] | None = None,
    ) -> None:
        self.function, self.lookup, self.known, self.read = function, lookup, known, read
        self.params = frozenset(parameters_of(function))
        self.kept = frozenset() if hands_back else self.params
        nodes = nodes_of(function)
        self.parents = {id(c): p for p in nodes for c in gast.iter_child_nodes(p)}
        self.uses: dict[str, list[Node]] = {}
        for node in nodes:
            if isinstance(node, gast.Name):
                self.uses.setdefault(node.id, []).append(node)
        declared = [n for n in nodes if isinstance(n, (gast.Global, gast.Nonlocal))]
        #: The variables that other functions have as well.
        self.others = frozenset(name for node in declared for name in node.names)
        self.asked = {} if asked is None else asked
        self.found: dict[str, bool] = {}

    def is_alone(self, name: str) -> bool:
        """Whether a variable always holds a list or dict, which nothing else holds.

        A parameter is taken to be given one that the caller's variable alone holds.
        """
        if name not in self.found:
            uses = self.uses.get(name, [])
            bound = name in self.params or any(isinstance(n.ctx, gast.Store) for n in uses)
            self.found[name] = bound and name not in self.others and all(self._is_plain(n) for n in uses)
        return self.found[name]

    def _is_plain(self, use: Node) -> bool:
        """Whether a use of a variable lets nothing else hold its list or dict, nor the variable anything else."""
        parent, above = self.parents[id(use)], self._above(use)
        if any(isinstance(p, _SCOPES) for p in above if p is not self.function):
            return False
        if isinstance(use.ctx, gast.Param):
            return True
        if isinstance(use.ctx, gast.Store):
            # A parameter that gets another list no longer has the caller's.
            is_other = use.id in self.kept and not isinstance(parent, gast.AugAssign)
            return not is_other and self._is_made(use, parent)
        match parent:
            case gast.Subscript(value=value):
                return value is use
            case gast.Attribute(value=value, attr=attr):
                call = self.parents[id(parent)]
                is_call = isinstance(call, gast.Call) and call.func is parent
                return is_call and (attr in _METHODS or (attr in _VIEWS and self._is_read(call)))
            case gast.Compare() | gast.BinOp() | gast.Delete():
                return not isinstance(parent, gast.Delete)
            case gast.UnaryOp(op=op):
                return isinstance(op, gast.Not)
            case gast.If(test=test) | gast.While(test=test) | gast.IfExp(test=test) | gast.Assert(test=test):
                return test is use
            case gast.Starred():
                return isinstance(self.parents[id(parent)], gast.Call)
            case gast.Return() | gast.Tuple():
                returned = parent if isinstance(parent, gast.Return) else self.parents[id(parent)]
                return isinstance(returned, gast.Return) and use.id not in self.kept
            case gast.Call() | gast.keyword():
                call = parent if isinstance(parent, gast.Call) else self.parents[id(parent)]
                return self._is_given(use, call)
        return self._is_read(use)

    def _above(self, node: Node) -> Iterator[Node]:
        while (node := self.parents.get(id(node))) is not None:
            yield node

    def _is_made(self, use: Node, parent: Node) -> bool:
        """Whether an assignment gives the variable a new list or dict."""
        match parent:
            case gast.Assign(targets=[gast.Name()], value=value) | gast.AnnAssign(target=gast.Name(), value=value):
                return self._is_new(value, use.id)
            case gast.AugAssign(op=op):
                return isinstance(op, (gast.Add, gast.Mult))
            case gast.Tuple(elts=targets):
                match self.parents[id(parent)]:
                    case gast.Assign(targets=[_], value=gast.Tuple(elts=values)) if len(values) == len(targets):
                        places = [n for n, target in enumerate(targets) if target is use]
                        return all(self._is_new(values[n], use.id) for n in places)
        return False

    def _is_new(self, value: Node, name: str) -> bool:
        if isinstance(value, _DISPLAYS):
            return True
        if isinstance(value, gast.BinOp):
            # A list and an array make an array.
            sides = value.left, value.right
            lists = [s for s in sides if isinstance(s, _LISTS) or (isinstance(s, gast.Name) and s.id == name)]
            if isinstance(value.op, gast.Add):
                return len(lists) == 2
            return isinstance(value.op, gast.Mult) and len(lists) == 1 and any(map(self._is_count, sides))
        if isinstance(value, gast.Call):
            return self._calls(value, _MAKING) or (
                isinstance(value.func, gast.Attribute)
                and value.func.attr == "copy"
                and isinstance(value.func.value, gast.Name)
                and value.func.value.id == name
            )
        return False

    def _is_count(self, value: Node) -> bool:
        """Whether a value surely is a whole number of Python's."""
        match value:
            case gast.Constant(value=number):
                return type(number) is int
            case gast.Call():
                return self._calls(value, (len,))
            case gast.BinOp(left=left, right=right, op=gast.Add() | gast.Sub() | gast.Mult() | gast.FloorDiv()):
                return self._is_count(left) and self._is_count(right)
            case gast.Name(id=name):
                found, held = self.lookup(value)
                calls = [self.parents[id(use)] for use in self.uses.get(name, ()) if isinstance(use.ctx, gast.Load)]
                counted = any(isinstance(c, gast.Call) and self._calls(c, (range,)) for c in calls)
                return counted or (found and type(held) is int)
        return False

    def _calls(self, call: Node, functions: tuple[Any, ...]) -> bool:
        """Whether a call is of one of some functions."""
        found, function = self.lookup(call.func)
        return found and any(function is one for one in functions)

    def _is_read(self, value: Node) -> bool:
        """Whether what a name, or a call of such a method, gives is run over by a loop or read by a function."""
        parent = self.parents[id(value)]
        if isinstance(parent, (gast.For, gast.comprehension)):
            generator = self.parents[id(parent)]
            is_lazy = isinstance(parent, gast.comprehension) and isinstance(generator, gast.GeneratorExp)
            return parent.iter is value and (not is_lazy or self._is_consumed(generator))
        if not isinstance(parent, gast.Call) or value is parent.func:
            return False
        return self._is_read(parent) if self._calls(parent, _ITERATING) else self._is_consumed(value)

    def _is_consumed(self, value: Node) -> bool:
        """Whether a value is the argument of a function that reads it, and gives something else."""
        parent = self.parents[id(value)]
        if not isinstance(parent, gast.Call) or value is parent.func:
            return False
        if self._calls(parent, (max, min)):
            return len(parent.args) == 1
        if self._calls(parent, (sum,)):
            # What it starts with may be what it gives.
            return bool(parent.args) and parent.args[0] is value
        found, function = self.lookup(parent.func)
        of_arrays = getattr(function, "__module__", None) in ("numpy", "math", "cmath", "numpy.linalg")
        return self._calls(parent, _READING) or (found and of_arrays and ops.spec_of(function) is not None)

    def _is_given(self, use: Node, call: Node) -> bool:
        """Whether the function that is called with a list or dict keeps nothing of it."""
        if self._is_read(use):
            return True
        found, function = self.lookup(call.func)
        if not found or not isinstance(function, types.FunctionType):
            return False
        try:
            node = self.read(function).node
        except S2SADError:
            return False
        given = None if is_starred(call) else bound_arguments(node, call)
        params = [name for name, value in (given or {}).items() if value is use]
        if len(params) != 1:
            return False
        return params[0] in self.known(function) or self._keeps_nothing(function, node, params[0])

    def _keeps_nothing(self, function: types.FunctionType, node: Node, param: str) -> bool:
        """Whether a function lets nothing else hold the list or dict that it is given for a parameter."""
        key = function, param
        if key not in self.asked:
            self.asked[key] = True
            lookup = Resolver(function, bound_in(node)).lookup
            generates = any(isinstance(n, (gast.Yield, gast.YieldFrom, gast.Await)) for n in nodes_of(node))
            inner = Alone(node, lookup, self.known, self.read, asked=self.asked)
            if generates or not inner.is_alone(param):
                # What was taken for granted meanwhile is asked again.
                for other in [k for k, kept in self.asked.items() if kept]:
                    del self.asked[other]
                self.asked[key] = False
        return self.asked[key]

    def is_run_over(self, use: Node) -> bool:
        """Whether a loop over an expression in which a variable is used runs over its list or dict."""
        parent = self.parents[id(use)]
        return not self._is_consumed(use) and not (isinstance(parent, gast.Subscript) and parent.value is use)


def parameters_of(definition: Node) -> Iterator[str]:
    """The names of the parameters of a function."""
    arguments = definition.args
    yield from (p.id for p in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))


def bound_arguments(definition: Node, call: Node) -> dict[str, Node] | None:
    """The arguments of a call by the parameters of the function; None where they do not fit."""
    arguments = definition.args
    positional = [p.id for p in (*arguments.posonlyargs, *arguments.args)]
    if len(call.args) > len(positional) or arguments.vararg is not None or arguments.kwarg is not None:
        return None
    found = dict(zip(positional, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg in found:
            return None
        found[keyword.arg] = keyword.value
    return found


def bound_in(function: Node) -> frozenset[str]:
    """Every name that is bound in a function, or in one that it makes."""
    nodes = nodes_of(function)
    made = [node.name for node in nodes if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef))]
    return frozenset(
        (*made[1:], *(n.id for n in nodes if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)))
    )
