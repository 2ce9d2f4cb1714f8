"""Calls that are written as other expressions or statements before a function is lowered.

y = cast(Array, x)               ->  y = x
a, b = np.atleast_2d(a, b)       ->  a, b = np.atleast_2d(a), np.atleast_2d(b)
np.array(a, copy=False)          ->  np.asarray(a, copy=False)
isinstance(x, list | tuple)      ->  isinstance(x, (list, tuple))
operator.setitem(a, i, v)        ->  a[i] = v
np.nan_to_num(a, copy=False)     ->  a[...] = np.nan_to_num(a)
check(locals(), "x")             ->  check({"x": x, "n": n}, "x")
list(zip(a, b))                  ->  [item for item in zip(a, b)]
dict(zip(a, b))                  ->  {key: value for key, value in zip(a, b)}
dict.fromkeys(a, 0.0)            ->  {key: 0.0 for key in a}
a, b = (f(x) for x in rows)      ->  a, b = [f(x) for x in rows]
d[k] = d.get(k, 0.0) + v         ->  d[k] = (d[k] if k in d else 0.0) + v        of a dict that the function makes
"""

from __future__ import annotations

import copy
import inspect
import itertools
import operator
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2sad.frontend.alone import bound_in
from s2sad.frontend.local_names import names_at_calls
from s2sad.frontend.resolve import Guard, Resolver
from s2sad.frontend.source import Source
from s2sad.frontend.spelled import Spelled, Test
from s2sad.frontend.trees import nodes_of

Node = Any
_BY_ARGUMENT = (np.atleast_1d, np.atleast_2d, np.atleast_3d)
#: In what these give several results, which the versions of NumPy do not agree on.
_DISPLAY = gast.Tuple if isinstance(np.atleast_1d(0, 0), tuple) else gast.List
_SPELLED = Spelled(
    (
        locals, typing.cast, isinstance, operator.setitem, operator.delitem, np.array, np.nan_to_num, dict.get,
        dict.fromkeys, list, dict, *_BY_ARGUMENT,
    )
)  # fmt: skip
_INNER = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda)
#: What may be evaluated again.
_REPEATED = (
    gast.Name, gast.Constant, gast.Tuple, gast.BinOp, gast.UnaryOp, gast.Load, gast.operator, gast.unaryop,
)  # fmt: skip
#: What an array is written with that is changed.
_PLACES = (gast.Name, gast.Attribute, gast.Subscript, gast.Slice, *_REPEATED)
#: What may change an argument that is evaluated before.
_CHANGING = (gast.Call, gast.NamedExpr, gast.Await, gast.Yield, gast.YieldFrom, *_INNER)
#: What runs through what it is given.
_PAIRING = (enumerate, filter, map, zip)
#: What types are written with.
_TYPES = (gast.Name, gast.Attribute, gast.Subscript, gast.Tuple, gast.Constant, gast.Load)


def with_respelled_calls(source: Source, code: types.CodeType) -> tuple[Source, tuple[Guard, ...]]:
    """A function, that of a ``code``, in which such calls stand as what they are, and on what that rests."""
    nodes = list(nodes_of(source.node))
    may_be_one = _SPELLED.test_in(source.function)
    calls = [node for node in nodes if isinstance(node, gast.Call) and may_be_one(node.func)]
    unpacked = any(map(_is_unpacked_generator, nodes))
    if not calls and not unpacked:
        return source, ()
    resolver = Resolver(source.function, bound_in(source.node))
    lookup = resolver.lookup
    made = copy.deepcopy(source.node)
    # What is imported inside stands for itself by now.
    local = names_at_calls(made, code) if _variables(code) == _variables(source.function.__code__) else {}
    is_shared = any(isinstance(node, gast.Nonlocal) for node in nodes)
    dicts = _filled_dicts(source.node, lookup)
    found = (
        _respelled(c, lookup) or _got(c, dicts) or _changed_item(c, lookup, is_shared) or _changed(c, lookup)
        for c in calls
    )
    if not local and not any(found) and not unpacked:
        return source, ()
    made = _Respelling(may_be_one, lookup, is_shared, local, dicts).visit(made)
    return replace(source, node=made), tuple(resolver.guards.values())


def _variables(code: types.CodeType) -> tuple[tuple[str, ...], ...]:
    return code.co_varnames, code.co_cellvars, code.co_freevars


class _Respelling(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(
        self,
        may_be_one: Test,
        lookup: Callable[[Node], tuple[bool, Any]],
        is_shared: bool,
        local: Mapping[int, Sequence[str]],
        dicts: frozenset[str],
    ) -> None:
        self.may_be_one, self.lookup, self.is_shared = may_be_one, lookup, is_shared
        self.local, self.dicts = local, dicts

    def visit_Call(self, node: Node) -> Node:
        self.generic_visit(node)
        if not self.may_be_one(node.func):
            return node
        if id(node) in self.local and self.lookup(node.func)[1] is locals:
            return gast.copy_location(_dict_of(self.local[id(node)]), node)
        made = _respelled(node, self.lookup) or _got(node, self.dicts)
        return node if made is None else made

    def visit_Assign(self, node: Node) -> Node:
        self.generic_visit(node)
        if _is_unpacked_generator(node) and all(_ends(r.iter, self.lookup) for r in node.value.generators):
            value = gast.ListComp(elt=node.value.elt, generators=node.value.generators)
            node.value = gast.copy_location(value, node.value)
        return node

    def visit_Expr(self, node: Node) -> Node:
        self.generic_visit(node)
        is_call = isinstance(node.value, gast.Call) and self.may_be_one(node.value.func)
        made = _changed_item(node.value, self.lookup, self.is_shared) if is_call else None
        made = _changed(node.value, self.lookup) if is_call and made is None else made
        return node if made is None else gast.copy_location(made, node)


def _is_unpacked_generator(node: Node) -> bool:
    """Whether a generator expression is unpacked at once, by variables that say how many items it gives."""
    if not isinstance(node, gast.Assign) or not isinstance(node.value, gast.GeneratorExp):
        return False
    rounds = node.value.generators
    rows = all(isinstance(t, (gast.Tuple, gast.List)) for t in node.targets)
    stars = any(isinstance(e, gast.Starred) for t in node.targets for e in getattr(t, "elts", ()))
    return rows and not stars and not any(r.is_async for r in rounds)


def _ends(iterable: Node, lookup: Callable[[Node], tuple[bool, Any]]) -> bool:
    """Whether what a loop runs through surely has an end: Python asks for one item more than there are variables.

    An iterator may have none, and what a call makes may be one, but for that of a method (``d.items()``).
    """
    if not isinstance(iterable, gast.Call):
        return True
    found, function = lookup(iterable.func)
    if not found:
        return isinstance(iterable.func, gast.Attribute)
    is_generator = isinstance(function, types.FunctionType) and bool(function.__code__.co_flags & inspect.CO_GENERATOR)
    is_endless = function is iter or any(function is one for one in vars(itertools).values())
    inner = all(_ends(a, lookup) for a in iterable.args) if any(function is one for one in _PAIRING) else True
    return inner and not is_generator and not is_endless


def _filled_dicts(function: Node, lookup: Callable[[Node], tuple[bool, Any]]) -> frozenset[str]:
    """The variables that surely hold a dict which the function makes, and into which it puts items."""
    nodes = list(nodes_of(function))
    if any(isinstance(n, (*_INNER, gast.Global, gast.Nonlocal)) for n in nodes if n is not function):
        return frozenset()
    made = [n for n in nodes if isinstance(n, (gast.Assign, gast.AnnAssign)) and _is_new_dict(n.value, lookup)]
    targets = [t for n in made for t in (n.targets if isinstance(n, gast.Assign) else [n.target])]
    shown = [t.id for t in targets if isinstance(t, gast.Name)]
    bound = [n.id for n in nodes if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load)]
    stores = [n for n in nodes if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store)]
    filled = {n.value.id for n in stores if isinstance(n.value, gast.Name)}
    return frozenset(name for name in filled & set(shown) if bound.count(name) == shown.count(name))


def _is_new_dict(value: Node, lookup: Callable[[Node], tuple[bool, Any]]) -> bool:
    called = isinstance(value, gast.Call) and not value.args and lookup(value.func)[1] is dict
    return isinstance(value, gast.Dict) or called


def _got(call: Node, dicts: frozenset[str]) -> Node | None:
    """What ``d.get(key, default)`` of one of some dicts is written as; None for any other call."""
    func = call.func
    if not (isinstance(func, gast.Attribute) and func.attr == "get" and isinstance(func.value, gast.Name)):
        return None
    plain = not call.keywords and len(call.args) in (1, 2)
    if func.value.id not in dicts or not plain or not _may_be_repeated(call.args[0]):
        return None
    key, *default = call.args
    if not all(_is_atom(v) or _is_signed(v) for v in default):
        # It is evaluated whether or not it is needed, and may raise.
        return None
    test = gast.Compare(left=copy.deepcopy(key), ops=[gast.In()], comparators=[copy.deepcopy(func.value)])
    item = gast.Subscript(value=copy.deepcopy(func.value), slice=copy.deepcopy(key), ctx=gast.Load())
    made = gast.IfExp(test=test, body=item, orelse=default[0] if default else gast.Constant(None, None))
    for node in (test, item, made):
        gast.copy_location(node, call)
    return made


def _may_be_repeated(value: Node) -> bool:
    """Whether an expression gives the same however often it is evaluated."""
    return all(isinstance(n, _REPEATED) for n in nodes_of(value))


def _dict_of(names: Sequence[str]) -> Node:
    """A dict of variables by name."""
    keys = [gast.Constant(name, None) for name in names]
    values = [gast.Name(id=name, ctx=gast.Load(), annotation=None, type_comment=None) for name in names]
    return gast.Dict(keys, values)


def _respelled(call: Node, lookup: Callable[[Node], tuple[bool, Any]]) -> Node | None:
    """What a call is written as; None if it stays."""
    if any(isinstance(a, gast.Starred) for a in call.args):
        return None
    function = lookup(call.func)[1]
    if function is np.array and isinstance(call.func, gast.Attribute):
        return _as_it_is(call, lookup)
    if call.keywords:
        return None
    if function is list and len(call.args) == 1 and isinstance(call.args[0], gast.Call):
        inner = lookup(call.args[0].func)[1]
        return _comprehension(call) if inner is zip or inner is enumerate else None
    if function is dict and len(call.args) == 1 and isinstance(call.args[0], gast.Call):
        return _dict_comprehension(call, None) if lookup(call.args[0].func)[1] is zip else None
    if isinstance(function, types.BuiltinMethodType) and function == dict.fromkeys and call.args:
        value = call.args[1] if len(call.args) > 1 else gast.Constant(None, None)
        return _dict_comprehension(call, value) if _is_atom(value) and len(call.args) < 3 else None
    if function is isinstance and len(call.args) == 2:
        return _among_classes(call, lookup)
    if function is typing.cast and len(call.args) == 2:
        return call.args[1] if _is_type(call.args[0], lookup) else None
    if len(call.args) > 1 and any(function is one for one in _BY_ARGUMENT):
        if any(isinstance(n, _CHANGING) for a in call.args[1:] for n in nodes_of(a)):
            return None
        parts = [gast.copy_location(gast.Call(copy.deepcopy(call.func), [a], []), call) for a in call.args]
        return gast.copy_location(_DISPLAY(parts, gast.Load()), call)
    return None


def _among_classes(call: Node, lookup: Callable[[Node], tuple[bool, Any]]) -> Node | None:
    """``isinstance(x, (A, B))`` for a test with a union of classes; None for any other."""
    parts: list[Node] = []
    union = call.args[1]
    while isinstance(union, gast.BinOp) and isinstance(union.op, gast.BitOr):
        parts.insert(0, union.right)
        union = union.left
    if not parts or not all(isinstance(lookup(part)[1], type) for part in (union, *parts)):
        return None
    classes = gast.Tuple([union, *parts], gast.Load())
    return _located(gast.Call(call.func, [call.args[0], classes], []), call)


def _comprehension(call: Node) -> Node:
    """``[item for item in zip(a, b)]`` for ``list(zip(a, b))``."""
    runs = gast.comprehension(target=_stored("item"), iter=call.args[0], ifs=[], is_async=0)
    return _located(gast.ListComp(elt=_read("item"), generators=[runs]), call)


def _dict_comprehension(call: Node, value: Node | None) -> Node:
    """``{key: value for key, value in a}``, or ``{key: v for key in a}`` if a value is given."""
    read = set() if value is None else {n.id for n in nodes_of(value) if isinstance(n, gast.Name)}
    key = next(name for name in ("key", *(f"key_{n}" for n in range(2, len(read) + 3))) if name not in read)
    target = _stored(key)
    if value is None:
        target, value = gast.Tuple([target, _stored("value")], gast.Store()), _read("value")
    runs = gast.comprehension(target=target, iter=call.args[0], ifs=[], is_async=0)
    return _located(gast.DictComp(key=_read(key), value=value, generators=[runs]), call)


def _read(name: str) -> Node:
    return gast.Name(name, gast.Load(), None, None)


def _stored(name: str) -> Node:
    return gast.Name(name, gast.Store(), None, None)


def _located(made: Node, call: Node) -> Node:
    """What stands in the place of a call, with a place for each new part of it."""
    for node in nodes_of(made):
        if getattr(node, "lineno", None) is None:
            gast.copy_location(node, call)
    return made


def _as_it_is(call: Node, lookup: Callable[[Node], tuple[bool, Any]]) -> Node | None:
    """``np.asarray(...)`` for a call of ``np.array`` that copies nothing, or only what it has to."""
    names = {k.arg: k.value for k in call.keywords}
    kept = names.get("copy")
    if not isinstance(kept, gast.Constant) or kept.value or not names.keys() <= {"dtype", "order", "copy"}:
        return None
    function = copy.copy(call.func)
    function.attr = "asarray"
    if lookup(function)[1] is not np.asarray:
        return None
    return gast.copy_location(gast.Call(function, call.args, call.keywords), call)


def _changed_item(call: Node, lookup: Callable[[Node], tuple[bool, Any]], is_shared: bool) -> Node | None:
    """The statement that a call as a statement is: ``a[i] = v`` or ``del a[i]``; None if it is no such call.

    What has the item, and its index, are evaluated after the value there: they are names and constants, and the value
    gives no name another value, nor do functions that it calls, which might where variables are shared.
    """
    is_one = len(call.args) > 1 and not call.keywords
    if not is_one or not all(map(_is_atom, call.args[:2])):
        return None
    names = [n for part in call.args[:2] for n in nodes_of(part) if isinstance(n, gast.Name)]
    may_be_rebound = any(lookup(n)[0] for n in names) or is_shared
    rebinding = (gast.Call, gast.NamedExpr) if may_be_rebound else gast.NamedExpr
    if any(isinstance(n, rebinding) for n in nodes_of(call.args[-1])):
        return None
    function, count = lookup(call.func)[1], len(call.args)
    if (function is operator.setitem and count == 3) or (function is operator.delitem and count == 2):
        place = gast.Subscript(call.args[0], call.args[1], gast.Store() if count == 3 else gast.Del())
        gast.copy_location(place, call)
        return gast.Assign([place], call.args[2], None) if count == 3 else gast.Delete([place])
    return None


def _changed(call: Node, lookup: Callable[[Node], tuple[bool, Any]]) -> Node | None:
    """The statement that a call as a statement is that replaces what an array holds; None if it is no such call."""
    first, *rest = call.args or [None]
    named = {k.arg: k.value for k in call.keywords}
    is_one = lookup(call.func)[1] is np.nan_to_num
    if not is_one or first is None or not all(isinstance(n, _PLACES) for n in nodes_of(first)):
        return None
    kept = rest.pop(0) if rest else named.get("copy")
    if not isinstance(kept, gast.Constant) or kept.value or None in named or "x" in named:
        return None
    others = [k for k in call.keywords if k.arg != "copy"]
    value = gast.Call(call.func, [copy.deepcopy(first), gast.Constant(True, None), *rest], others)
    if not rest:
        del value.args[1]
    place = gast.Subscript(first, gast.Constant(..., None), gast.Store())
    return gast.Assign([_located(place, call)], _located(value, call), None)


def _is_atom(node: Node) -> bool:
    if isinstance(node, gast.Tuple):
        return all(map(_is_atom, node.elts))
    return isinstance(node, (gast.Name, gast.Constant))


def _is_signed(node: Node) -> bool:
    """Whether an expression is a number with its sign."""
    return isinstance(node, gast.UnaryOp) and isinstance(node.operand, gast.Constant)


def _is_type(node: Node, lookup: Callable[[Node], tuple[bool, Any]]) -> bool:
    """Whether an expression is made of names that exist and constants, so that nothing is missed without it."""
    nodes = list(nodes_of(node))
    exist = all(lookup(n)[0] for n in nodes if isinstance(n, gast.Name))
    return exist and all(isinstance(n, _TYPES) for n in nodes)
