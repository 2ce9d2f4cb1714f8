"""Write statements as simpler ones, before anything else is asked of a function's syntax tree.

    with a as x, b as y: body       with a as x:
                                        with b as y: body

    with suppress(E): body          try: body
                                    except E: pass

    del xs[i], ys[1:]               xs.__delitem__(i)
                                    ys.__delitem__(slice(1, None, None))

    line += " %d" % i               line = line + " %d" % i     (where line holds texts alone)

    o[i] = v                        value = v
                                    o.__setitem__(i, value)     (where o may be of a class that has its own)

    with m as x: body               manager = m
                                    x = manager.__enter__()
                                    try: body
                                    except BaseException as error:
                                        manager.__exit__(type(error), error, error.__traceback__)    (Unswallowed)
                                        raise
                                    manager.__exit__(None, None, None)

The last of them is for managers of which nothing is known.  That none keeps the exception back is checked at run time,
since what comes after the ``with`` would be differentiated as if its body had come to its end.  The methods of ``del``
and of stores are called by attributes in the context of ``del`` and of a store, and written as statements again where
they stay (`syntax.unmade`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from typing import Any

import gast

from s2sad.frontend.dependence import assigned
from s2sad.frontend.managers import bound_value, is_known, suppressed
from s2sad.frontend.special import stored_by_functions
from s2sad.frontend.texts import added, text_names
from s2sad.frontend.trees import nodes_of, object_of_slices

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]
_BLOCKS = ("body", "handlers", "orelse", "finalbody")
_DESUGARED = (gast.With, gast.Global, gast.Delete, gast.Subscript, gast.AugAssign)
#: The parts of an index that may be evaluated twice.
_SIMPLE = (gast.Name, gast.Constant, gast.Slice, gast.Tuple, gast.UnaryOp, gast.USub, gast.Load)


def desugared(function: Node, body: list[Node], lookup: Lookup, fresh: Callable[[str], str]) -> list[Node]:
    """The body of a function as simpler statements; ``fresh`` makes a name that the function does not use."""
    nodes = [node for s in body for node in nodes_of(s)]
    if not any(isinstance(node, _DESUGARED) for node in nodes):
        return body
    return _Desugaring(lookup, fresh, assigned(body), text_names(function, body, lookup)).block(body)


class Unswallowed(gast.Expr):  # type: ignore[misc]
    """A call of ``__exit__`` that has to let the exception pass."""


class Managed(gast.Try):  # type: ignore[misc]
    """A ``try`` whose ``finalbody`` runs where its body comes to its end or is left, and not where it raises."""


class _Desugaring:
    def __init__(
        self, lookup: Lookup, fresh: Callable[[str], str], bound: Collection[str], texts: Collection[str]
    ) -> None:
        self.bound = bound
        self.texts = texts
        self.lookup = lookup
        self.fresh = fresh

    def block(self, body: list[Node]) -> list[Node]:
        return [new for s in body for new in self.statement(s)]

    def statement(self, s: Node) -> list[Node]:
        if isinstance(s, gast.With):
            return self.with_statement(s)
        if isinstance(s, gast.Global):
            return self.global_statement(s)
        if isinstance(s, gast.Assign) and self.is_stored_by_functions(s.targets[-1]):
            return self.stored(s)
        if isinstance(s, gast.AugAssign) and self.is_stored_by_functions(s.target):
            return self.stored_again(s)
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name) and s.target.id in self.texts:
            return [added(s)]
        if isinstance(s, gast.Delete):
            return [new for target in s.targets for new in self.deleted(target, s)]
        if any(getattr(s, name, None) for name in _BLOCKS) and not hasattr(s, "args"):
            s = copy.copy(s)
            for name in _BLOCKS:
                if getattr(s, name, None):
                    setattr(s, name, self.block(getattr(s, name)) or [gast.copy_location(gast.Pass(), s)])
        return [s]

    def global_statement(self, s: Node) -> list[Node]:
        """The declaration of variables of the module, without those that are no more than read."""
        names = [name for name in s.names if name in self.bound]
        return [gast.copy_location(gast.Global(names=names), s)] if names else []

    def deleted(self, target: Node, s: Node) -> list[Node]:
        """``del`` of one target."""
        if isinstance(target, (gast.Tuple, gast.List)):
            return [new for element in target.elts for new in self.deleted(element, s)]
        if not isinstance(target, gast.Subscript):
            return [gast.copy_location(gast.Delete(targets=[target]), s)]
        return [self.special("__delitem__", gast.Del(), target, [target.slice], s)]

    def is_stored_by_functions(self, target: Node) -> bool:
        """Whether a store may run a method of a class of the user's."""
        return isinstance(target, gast.Subscript) and bool(stored_by_functions(target, self.lookup))

    def stored(self, s: Node) -> list[Node]:
        """An assignment of which the last target is an item of an object of a class of the user's."""
        *others, target = s.targets
        made, value = [], s.value
        if others or not isinstance(value, (gast.Name, gast.Constant)):
            held, value = self.held("value", value)
            made = [held]
        if others:
            made += self.statement(gast.copy_location(gast.Assign(others, value, None), s))
        return [*made, self.special("__setitem__", gast.Store(), target, [target.slice, value], s)]

    def stored_again(self, s: Node) -> list[Node]:
        """``o[i] op= v``."""
        target, made = s.target, []
        index = target.slice
        if not all(isinstance(n, _SIMPLE) for n in nodes_of(index)):
            held, index = self.held("index", index)
            made = [held]
        item = gast.copy_location(gast.Subscript(target.value, index, gast.Load()), target)
        held, value = self.held("value", item)
        name = gast.copy_location(gast.Name(value.id, gast.Store(), None, None), target)
        change = gast.copy_location(gast.AugAssign(name, s.op, s.value), s)
        return [*made, held, change, self.special("__setitem__", gast.Store(), target, [index, value], s)]

    def special(self, name: str, context: Node, target: Node, args: list[Node], s: Node) -> Node:
        """The statement that calls the special method of a subscript that is a target."""
        index, *rest = args
        made = object_of_slices(index)
        if made is not index and self.lookup(gast.Name("slice", gast.Load(), None, None))[1] is not slice:
            # The name is another's here, so that this stays as it is, and is refused.
            return gast.copy_location(gast.Delete([target]), s)
        method = gast.copy_location(gast.Attribute(target.value, name, context), target)
        return gast.copy_location(gast.Expr(gast.copy_location(gast.Call(method, [made, *rest], []), target)), s)

    def held(self, hint: str, value: Node) -> tuple[Node, Node]:
        """The assignment of a value to a new name, and that name."""
        name = self.fresh(hint)
        target, read = (gast.Name(name, context, None, None) for context in (gast.Store(), gast.Load()))
        assignment = gast.copy_location(gast.Assign([gast.copy_location(target, value)], value, None), value)
        return assignment, gast.copy_location(read, value)

    def with_statement(self, s: Node) -> list[Node]:
        first, *others = s.items
        if others:
            inner = gast.copy_location(gast.With(items=others, body=s.body, type_comment=None), s)
            return self.with_statement(gast.copy_location(gast.With([first], [inner], None), s))
        body, manager = self.block(s.body), first.context_expr
        classes = suppressed(manager, self.lookup)
        if classes is not None and first.optional_vars is None:
            kind = classes[0] if len(classes) == 1 else None
            if kind is None or isinstance(kind, gast.Starred):
                kind = gast.copy_location(gast.Tuple(elts=classes, ctx=gast.Load()), manager)
            handler = gast.ExceptHandler(kind, None, [gast.copy_location(gast.Pass(), s)])
            return [gast.copy_location(gast.Try(body, [gast.copy_location(handler, s)], [], []), s)]
        if is_known(manager, self.lookup) or bound_value(manager, self.lookup) is not None:
            new = copy.copy(s)
            new.body = body
            return [new]
        # What the module has is called by its own name, so that its methods are known.
        is_outside = isinstance(manager, gast.Name) and manager.id not in self.bound and self.lookup(manager)[0]
        held, error = manager.id if is_outside else self.fresh("manager"), self.fresh("error")
        text = (
            f"{held} = 0\n{held}.__enter__()\n"
            f"try:\n pass\nexcept BaseException as {error}:\n"
            f" {held}.__exit__(type({error}), {error}, {error}.__traceback__)\n raise\n"
            f"{held}.__exit__(None, None, None)"
        )
        made, entered, around, left = gast.parse(text).body
        for statement in (made, entered, around, left):
            for node in nodes_of(statement):
                gast.copy_location(node, manager)
        made.value = manager
        (handler,) = around.handlers
        leaving, raised = handler.body
        handler.body = [gast.copy_location(Unswallowed(leaving.value), manager), raised]
        if first.optional_vars is not None:
            entered = gast.copy_location(gast.Assign([first.optional_vars], entered.value, None), manager)
        inside = gast.copy_location(Managed(body, [handler], [], [left]), s)
        return [entered, inside] if is_outside else [made, entered, inside]
