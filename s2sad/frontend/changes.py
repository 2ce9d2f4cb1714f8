"""Lower the statements that change a list or dict: to a new version of the variable that holds it.

    h.append(v)         h.2 = h.1 after append(v)
    h[i] = v            h.2 = h.1 after [i] = v               (where h is known to be a list or dict)
    x = h.pop()         x = h.1[-1]; h.2 = h.1 after pop()
    heappush(h, v)      h.2 = h.1 after append(v); m = heap_pushed(h.2); h.3 = h.2 after moved(m)
    h.sort()            m = in_order(h.1); h.2 = h.1 after moved(m)      (where h is known to be a list)

So a container is a value like any other.  What runs is the statement itself, in place: for that nobody else may hold
the container, which :mod:`s2sad.analysis.containers` sees to.
"""

from __future__ import annotations

import heapq
import types
from collections.abc import Callable, Iterator
from typing import Any

import gast

from s2sad import ops
from s2sad.frontend.expressions import Expressions
from s2sad.frontend.given import is_built_in, is_none
from s2sad.frontend.trees import nodes_of
from s2sad.ir.nodes import MOVED, Build, Call, Const, Expr, Op, Store
from s2sad.runtime.moves import (
    heap_made,
    heap_popped,
    heap_pushed,
    heap_pushpopped,
    heap_replaced,
    in_order,
    moved,
    put_last,
    turned_round,
)

Node = Any

_INDEX = Op("index", "[]")
_NEW = "Make a new object instead."


class Changes(Expressions):
    """The part of the lowering that knows the methods and stores that change containers."""

    #: The stores that are into lists or dicts: line and variable.
    containers: frozenset[tuple[int, str]]

    def unsupported(self, node: Node, what: str, remedy: str = _NEW) -> None:
        """Note a call that writes in a way that has no adjoint."""
        raise NotImplementedError

    def is_container(self, target: Node) -> bool:
        """Whether a target ``name[index]`` or ``name`` is of a variable that holds a container there."""
        name = target.value if isinstance(target, gast.Subscript) else target
        return isinstance(name, gast.Name) and (self.origin.line, name.id) in self.containers

    def is_extended(self, s: Node) -> bool:
        """Whether an augmented assignment appends the items of a display to a list."""
        shown = isinstance(s.value, (gast.List, gast.Tuple)) and not any(
            isinstance(e, gast.Starred) for e in s.value.elts
        )
        return isinstance(s.target, gast.Name) and isinstance(s.op, gast.Add) and shown and self.is_container(s.target)

    def change(self, variable: Node, how: str | Op, operands: tuple[Expr, ...], node: Node) -> None:
        """Emit the change of the container that a variable holds."""
        op = Op("change", how) if isinstance(how, str) else how
        self.env[variable.id] = self.assign(variable.id, Call(op, (self.name(variable), *operands), (), node)).name

    def bind(self, target: Node, value: Expr) -> None:
        """Assign a value to a target."""
        raise NotImplementedError

    def changed_in(self, loop: Node) -> Iterator[str]:
        """The variables whose containers a loop changes."""
        for name, node in self.changes_in([loop]):
            if isinstance(node, gast.Call) and not self.depends(self.changed_by(node)):
                continue
            if not (isinstance(node, gast.Attribute) and self.is_part(node)):
                yield name

    def changes_in(self, body: list[Node]) -> Iterator[tuple[str, Node]]:
        """The variables whose containers statements may change, and the expressions that do it."""
        for node in (n for s in body for n in nodes_of(s)):
            if (variable := self.changed_by(node)) is not None:
                yield variable.id, node
            elif isinstance(node, gast.Attribute) and isinstance(node.ctx, gast.Store):
                if isinstance(node.value, gast.Name):
                    yield node.value.id, node
            elif isinstance(node, gast.Subscript) and self.is_changed(node):
                yield node.value.id, node

    def is_changed(self, target: Node) -> bool:
        """Whether a subscript is a store into a variable that holds a container somewhere."""
        stored = isinstance(target.ctx, gast.Store) and isinstance(target.value, gast.Name)
        return stored and any(target.value.id == name for _, name in self.containers)

    def moved_in(self, loop: Node) -> Iterator[str]:
        """The variables of containers in which a loop replaces or moves items, rather than add some at the end."""
        for node in nodes_of(loop):
            variable = self.changed_by(node)
            if variable is not None and getattr(node.func, "attr", "") not in ("append", "extend"):
                yield variable.id
            elif isinstance(node, gast.Subscript) and self.is_changed(node):
                yield node.value.id

    def change_call(self, node: Node, hint: str) -> Expr | None:
        """Lower a method call that changes a container; None for what is none, or is not understood."""
        if _appends_inside(node):
            return self.append_inside(node)
        variable = self.changed_by(node)
        if variable is None or variable.id not in self.env or node.keywords:
            return None
        if any(isinstance(a, gast.Starred) for a in node.args):
            return None
        if _is_change(node):
            return _METHODS[node.func.attr](self, node, variable, hint)
        return _FUNCTIONS[self.resolver.lookup(node.func)[1]](self, node, variable, hint)

    def changed_by(self, node: Node) -> Node:
        """The variable whose container an expression changes by itself; None if it is no such call."""
        if _is_change(node):
            return node.func.value
        if not isinstance(node, gast.Call) or not node.args or not isinstance(node.args[0], gast.Name):
            return None
        found, function = self.resolver.lookup(node.func)
        return node.args[0] if found and is_moving(function) else None

    def append_inside(self, node: Node) -> Expr:
        """``container[key].append(value)``: a store after the last item of a list that something else holds."""
        whole, value = self.operand(node.func.value), self.element(node.args[0])
        call = Call(Op("method", "append", list.append), (whole, value), (), node)
        self.emit(Store(whole, Const(-1), value, None, self.origin, call))
        return Const(None)

    def append(self, node: Node, variable: Node, hint: str) -> Expr | None:
        if len(node.args) != 1:
            return None
        value = self.element(node.args[0])
        self.change(variable, "append", (value,), node)
        return Const(None)

    def insert(self, node: Node, variable: Node, hint: str) -> Expr | None:
        if len(node.args) != 2 or not (isinstance(node.args[0], gast.Constant) and node.args[0].value == 0):
            return None
        value = self.element(node.args[1])
        self.change(variable, "insert", (Const(0), value), node)
        return Const(None)

    def extend(self, node: Node, variable: Node, hint: str) -> Expr | None:
        if len(node.args) != 1 or not isinstance(node.args[0], (gast.List, gast.Tuple)):
            return None
        if any(isinstance(e, gast.Starred) for e in node.args[0].elts):
            return None
        self.appended(variable, node.args[0], node)
        return Const(None)

    def appended(self, variable: Node, display: Node, node: Node) -> None:
        """Append the items of a display, all of which are computed before."""
        for value in [self.element(e) for e in display.elts]:
            self.change(variable, "append", (value,), node)

    def pop(self, node: Node, variable: Node, hint: str) -> Expr | None:
        if len(node.args) > 1:
            return None
        key = tuple([self.hoisted(self.constant(a)) for a in node.args])
        item = self.assign(hint, Call(_INDEX, (self.name(variable), *(key or (Const(-1),))), (), node))
        self.change(variable, "pop", key, node)
        return item

    def reverse(self, node: Node, variable: Node, hint: str) -> Expr | None:
        if node.args:
            return None
        self.reorder(variable, turned_round, (), node)
        return Const(None)

    def remove(self, node: Node, variable: Node, hint: str) -> Expr | None:
        if len(node.args) != 1:
            return None
        self.reorder(variable, put_last, (self.hoisted(self.constant(node.args[0])),), node)
        self.change(variable, "pop", (), node)
        return Const(None)

    def sort_list(self, node: Node) -> Expr:
        """``h.sort()``, where ``h`` surely is a list."""
        options = {k.arg: k.value for k in node.keywords}
        key = options.pop("key", None)
        if node.args or not options.keys() <= {"reverse"} or not (key is None or is_none(key)):
            self.unsupported(node, "by these arguments has no derivative rule", "Make a new list: sorted(...).")
            return Const(None)
        given = [self.hoisted(self.constant(v)) for v in options.values()]
        self.reorder(node.func.value, in_order, tuple(given), node)
        return Const(None)

    def reorder(self, variable: Node, moves: Callable[..., Any], operands: tuple[Expr, ...], node: Node) -> None:
        """Let the items of the list that a variable holds change places, as a function says."""
        op = Op("runtime", moves.__name__, moves)
        found = self.assign("moves", Call(op, (self.name(variable), *operands), (), node))
        self.change(variable, MOVED, (found,), node)

    def moved(self, node: Node, variable: Node, hint: str) -> Expr | None:
        """``moved(list, moves)``, as emitted text has it."""
        if len(node.args) != 2:
            return None
        self.change(variable, MOVED, (self.hoisted(self.constant(node.args[1])),), node)
        return Const(None)

    def delete(self, node: Node, variable: Node, hint: str) -> Expr | None:
        """``del container[index]``."""
        if len(node.args) != 1:
            return None
        (index,) = node.args
        if not (isinstance(index, gast.Call) and self.resolver.lookup(index.func)[1] is slice):
            self.pop(node, variable, hint)
            return Const(None)
        if len(index.args) != 3:
            return None
        bounds = [None if isinstance(b, gast.Constant) and b.value is None else b for b in index.args]
        index = gast.copy_location(gast.Slice(*bounds), index)
        place = gast.copy_location(gast.Subscript(variable, index, gast.Store()), node)
        self.bind(place, Build("list", ()))
        return Const(None)

    def store_item(self, target: Node, value: Expr) -> None:
        """``container[index] = value``."""
        index = self.index_of(target.slice)
        self.change(target.value, "[]", (index, value), target)

    def store_field(self, target: Node, value: Expr) -> None:
        """``variable.name = value``."""
        self.change(target.value, f".{target.attr}", (value,), target)

    def augment_field(self, s: Node, op: Op) -> None:
        """``variable.name op= value``: the field is taken, changed or replaced, and put back."""
        old = self.assign("~t", Call(Op("attribute", s.target.attr), (self.name(s.target.value),), (), s.target))
        new = self.assign("~t", Call(op, (old, self.operand(s.value)), (), s))
        self.store_field(s.target, new)

    def is_part(self, target: Node) -> bool:
        """Whether a target is a part of an array that is written whole: ``z.imag`` is ``z.imag[...]``."""
        part = isinstance(target, gast.Attribute) and (ops.is_assigned(target.attr) or target.attr == "flat")
        return part and is_built_in(target, self.resolver.lookup)

    def is_place(self, target: Node) -> bool:
        """Whether a target is elements of an array, or such a part of one."""
        return isinstance(target, gast.Subscript) or self.is_part(target)

    def is_field(self, target: Node) -> bool:
        """Whether a target is an attribute of what a variable holds."""
        field = isinstance(target, gast.Attribute) and not self.is_part(target)
        return field and isinstance(target.value, gast.Name) and target.value.id in self.env

    def augment_item(self, s: Node, op: Op) -> None:
        """``container[index] op= value``: the item is taken, changed or replaced, and put back."""
        index = self.index_of(s.target.slice)
        old = self.assign("~t", Call(_INDEX, (self.name(s.target.value), index), (), s.target))
        new = self.assign("~t", Call(op, (old, self.operand(s.value)), (), s))
        self.change(s.target.value, "[]", (index, new), s.target)


_Lowering = Callable[[Changes, Node, Node, str], Expr | None]
_METHODS: dict[str, _Lowering] = {
    "append": Changes.append,
    "insert": Changes.insert,
    "extend": Changes.extend,
    "pop": Changes.pop,
    "reverse": Changes.reverse,
    "remove": Changes.remove,
    "__delitem__": Changes.delete,
}


def _moving(moves: Callable[..., Any], number: int, then_pops: bool) -> _Lowering:
    """The lowering of a function of a list: of two arguments it puts the second behind the last item, lets the items
    change places by ``moves``, and if it ``then_pops`` takes out and gives back the last one."""

    def lowering(self: Changes, node: Node, variable: Node, hint: str) -> Expr | None:
        if len(node.args) != number:
            return None
        if number == 2:
            self.change(variable, "append", (self.element(node.args[1]),), node)
        self.reorder(variable, moves, (), node)
        if not then_pops:
            return Const(None)
        item = self.assign(hint, Call(_INDEX, (self.name(variable), Const(-1)), (), node))
        self.change(variable, "pop", (), node)
        return item

    return lowering


_FUNCTIONS: dict[Any, _Lowering] = {
    heapq.heappush: _moving(heap_pushed, 2, False),
    heapq.heappop: _moving(heap_popped, 1, True),
    heapq.heapify: _moving(heap_made, 1, False),
    heapq.heapreplace: _moving(heap_replaced, 2, True),
    heapq.heappushpop: _moving(heap_pushpopped, 2, True),
    moved: Changes.moved,
}


def is_moving(function: Any) -> bool:
    """Whether a function moves the items of the list that is its first argument."""
    return isinstance(function, (types.BuiltinFunctionType, types.FunctionType)) and function in _FUNCTIONS


def _appends_inside(node: Node) -> bool:
    """Whether a call is ``x.append(value)`` of what has no name."""
    func = node.func if isinstance(node, gast.Call) else None
    if not isinstance(func, gast.Attribute) or not isinstance(func.value, (gast.Subscript, gast.Attribute)):
        return False
    return (
        func.attr == "append"
        and len(node.args) == 1
        and not node.keywords
        and not isinstance(node.args[0], gast.Starred)
    )


def _is_change(node: Node) -> bool:
    func = node.func if isinstance(node, gast.Call) else None
    return isinstance(func, gast.Attribute) and isinstance(func.value, gast.Name) and func.attr in _METHODS
