"""The adjoints of lists and dicts that are changed: lists and dicts of adjoints, which change the other way round.

    h.append(v)             v_bar += h_bar.pop()

    h[i] = v                v_bar += h_bar[i]
                            h_bar[i] = 0.0

    v = h.pop()             h_bar.append(v_bar)

A container of which the reverse part reads what it holds is copied (not what is in it) where it changes later.
"""

from __future__ import annotations

from s2sad.differentiate.adjoints import When
from s2sad.differentiate.builder import ADD, COPY, INDEX, ZEROS, ZEROS_LIKE
from s2sad.differentiate.known import Known
from s2sad.differentiate.operations import Operations
from s2sad.ir.nodes import Assign, Build, Call, Const, Copy, Expr, If, Op, Stmt, Var
from s2sad.ir.traverse import names_in
from s2sad.ir.types import Fact, Kind, same_shape
from s2sad.runtime import joined
from s2sad.runtime.items import repeat_items, unrepeated
from s2sad.runtime.linear import like, unconcatenate, unstack

_LIST = Op("runtime", "list", list)
_BOOL = Op("runtime", "bool", bool)
_IN = Op("compare", "in")
_GET = Op("method", "get")
_KINDS = ("list", "dict", "dataclass")
#: The helpers that return a new list for a list.
_MAKE_LISTS = (like, unstack, unconcatenate, repeat_items, unrepeated, joined, list)


class Containers(Operations):
    """The part of reverse mode that knows the adjoints of containers that are changed."""

    def __init__(self, known: Known) -> None:
        super().__init__(known)
        self.versions = known.effects.versions
        self.mutable = self.mutable | self.versions.keys()
        #: The names of containers that change once the statement at hand, with all inside it, is over.
        self.beyond: set[str] = set()

    def is_changed(self, name: str) -> bool:
        """Whether a name holds a container that is changed, whose adjoint is a container of its own."""
        return name in self.versions and self.of[name].kind in _KINDS and not self.is_buffer(Var(name))

    def is_overwritten(self, name: str) -> bool:
        """Whether the object of ``name`` may be written, or the container changed, after the statement at hand."""
        if name in self.changed_later:
            return True
        return super().is_overwritten(name)

    def outcome(self, test: Expr) -> Expr:
        """The outcome of a condition that is an object which changes later; any other condition as it is."""
        held = isinstance(test, Var) or (isinstance(test, Call) and test.op.kind in ("bool", "ifexp", "index"))
        if held and self.fact(test).kind != "scalar" and self.mutable & set(names_in(test)):
            return Call(_BOOL, (test,))
        return test

    # --- the adjoint of a container

    def contribute(self, x: Expr, g: Expr, owned: bool = False, moved: bool = False) -> None:
        """Add ``g`` to the adjoint of the operand ``x``."""
        if not (isinstance(x, Var) and x.name in self.active and self.is_changed(x.name)):
            super().contribute(x, g, owned, moved)
            return
        g = self.lowered(g)
        old = self.adj.get(x.name)
        if old is not None:
            new = self.let(self.bar(x.name), Call(ADD, (old, g)), Fact(_kind(self.of[x.name])))
            self.owned.add(new.name)
        else:
            new = self.of_own(g, x.name)
        self.adj[x.name] = new

    def of_own(self, g: Expr, name: str) -> Var:
        """The adjoint ``g`` of a container as a list or dict that nothing else refers to."""
        kind = _kind(self.of[name])
        if isinstance(g, Var) and g.name in self.owned and self.fact(g).kind == kind:
            return g
        if isinstance(g, Build) and (g.kind == "dict") == (kind == "dict"):
            made: Expr = Build("dict" if kind == "dict" else "list", g.items)
        elif isinstance(g, Call) and g.op.function in _MAKE_LISTS and kind == "list":
            made = g
        else:
            made = Call(COPY if kind == "dict" else _LIST, (g,))
        self.owned.difference_update(names_in(g))
        new = self.let(self.bar(name), made, Fact(kind))
        self.owned.add(new.name)
        return new

    def zero(self, name: str, when: When = "after") -> Expr:
        """A zero adjoint of a name as it is ``when`` the statement at hand runs."""
        if not self.is_changed(name):
            return super().zero(name, when)
        if when == "before":
            return self.zero_of(name, self.before, self.is_overwritten(name))
        if name in self.unbound or (when == "inside" and self.is_overwritten(name)):
            what = f"{name.partition('.')[0]} is changed, and its adjoint would begin inside of this loop"
            self.violation(self.origin.line, what, "Make the list before the loop.")
            return Const(0.0)
        return self.zero_of(name, self.after, name in self.beyond | self.effects.exposed)

    def zero_of(self, name: str, at: list[Stmt], changes: bool) -> Var:
        """A zero adjoint of a container as it is where ``at`` is put into the forward part, if it ``changes`` later."""
        held = name
        if changes:
            held = self.fresh(name.partition(".")[0])
            self.of[held] = self.of[name]
            at.append(Assign(held, Call(COPY, (Var(name),)), self.origin))
        new = self.let(self.bar(name), Call(ZEROS, (Var(held),)), Fact(_kind(self.of[name])))
        self.owned.add(new.name)
        return new

    def joined(self, name: str, *bars: Expr) -> str:
        """A new name in which adjoints of ``name`` meet."""
        join = super().joined(name, *bars)
        if self.is_changed(name) and all(self.fact(bar).kind == _kind(self.of[name]) for bar in bars):
            self.of[join] = Fact(_kind(self.of[name]))
        return join

    def writable(self, x: Var) -> Var:
        """The adjoint of ``x`` as an object of its own that may be written in place."""
        if not self.is_changed(x.name):
            return super().writable(x)
        old = self.adj.get(x.name)
        if old is not None:
            new = self.of_own(old, x.name)
        else:
            new = self.zero_of(x.name, self.before, self.is_overwritten(x.name))
        self.adj[x.name] = new
        return new

    # --- changes

    def changed(self, stmt: Assign, call: Call) -> None:
        """The adjoint of a change of a container."""
        z_bar = self.take(stmt.target)
        whole, *operands = call.args
        if stmt.target not in self.active or not isinstance(whole, Var):
            return
        if z_bar is None:
            return
        bar = self.of_own(z_bar, stmt.target)
        match call.op.name:
            case "append":
                rest = self.taken_item(bar, Const(-1), operands[0], ())
            case "insert":
                rest = self.taken_item(bar, operands[0], operands[1], (operands[0],))
            case "pop":
                rest = self.put_back(stmt, call, bar)
            case how if how.startswith("."):
                rest = self.replaced_field(stmt, call, bar)
            case _:
                rest = self.replaced(stmt, call, bar)
        if whole.name in self.active:
            self.adj[whole.name] = rest

    def change(self, bar: Var, how: str, *operands: Expr) -> Var:
        """``bar`` after a change."""
        new = self.let(self.fresh(bar.name.partition(".")[0]), Call(Op("change", how), (bar, *operands)))
        self.owned.add(new.name)
        return new

    def taken_item(self, bar: Var, place: Expr, value: Expr, key: tuple[Expr, ...]) -> Var:
        """Take an item out of an adjoint and hand it to ``value``; returns the rest."""
        g = self.item_bar(bar, place, value)
        rest = self.change(bar, "pop", *key)
        self.handed(value, g)
        return rest

    def item_bar(self, bar: Var, place: Expr, value: Expr) -> Var:
        """The adjoint of the item that is ``value``."""
        fact = self.fact(value)
        name = self.fresh("~t_bar")
        return self.let(name, Call(INDEX, (bar, place)), fact if fact.numeric else self.named(Fact("open"), name))

    def handed(self, value: Expr, g: Var) -> None:
        """Contribute the adjoint of an item that is nowhere else."""
        if self.is_active(value):
            self.contribute(value, g, moved=True)

    def replaced(self, stmt: Assign, call: Call, bar: Var) -> Var:
        """The adjoint of ``whole[place] = value``: what was there before is put back, as zero."""
        whole, index, value = call.args
        place = self.kept(index)
        g = self.item_bar(bar, place, value)
        known = self.fact(whole)
        if known.kind == "dict":
            there = None
            if known.items is not None and isinstance(index, Const):
                there = any(k == index.value for k, _ in known.items)
            if there is None:
                return self.replaced_or_new(stmt, call, bar, place, g)
            if not there:
                rest = self.change(bar, "pop", place)
                self.handed(value, g)
                return rest
        zero = self.zero_item(stmt, Call(INDEX, (whole, index)), value, g)
        rest = self.change(bar, "[]", place, zero)
        self.handed(value, g)
        return rest

    def replaced_field(self, stmt: Assign, call: Call, bar: Var) -> Var:
        """The adjoint of ``whole.name = value``: what was there before is put back, as zero."""
        whole, value = call.args
        name = call.op.name[1:]
        g = self.item_bar(bar, Const(name), value)
        zero = self.zero_item(stmt, Call(Op("attribute", name), (whole,)), value, g)
        rest = self.change(bar, "[]", Const(name), zero)
        self.handed(value, g)
        return rest

    def zero_item(self, stmt: Assign, item: Expr, value: Expr, g: Var) -> Expr:
        """A zero adjoint of what ``value``, whose adjoint is ``g``, takes the place of."""
        old, new = self.fact(item), self.fact(value)
        if old.kind == "scalar":
            return Const(0.0)
        if old.kind == "array" and same_shape(old, new) and old.real == new.real:
            return Call(ZEROS_LIKE, (g,))
        return Call(ZEROS, (self.held_item(stmt, item),))

    def held_item(self, stmt: Assign, item: Expr) -> Var:
        """A name for what an item is before a statement."""
        old = self.fresh("~t")
        self.of[old] = self.named(self.fact(item), old)
        self.before.append(Assign(old, item, stmt.origin))
        return Var(old)

    def replaced_or_new(self, stmt: Assign, call: Call, bar: Var, place: Expr, g: Var) -> Var:
        """The adjoint of a store into a dict of which only the run knows whether the key was there before."""
        whole, index, value = call.args
        had = self.held_item(stmt, Call(_IN, (index, whole)))
        old = self.held_item(stmt, Call(_GET, (whole, index)))
        outer = self.out
        arms: list[tuple[Stmt, ...]] = []
        rest = self.fresh(bar.name.partition(".")[0])
        for how, *operands in (("[]", place, Call(ZEROS, (old,))), ("pop", place)):
            self.out = []
            new = self.change(bar, how, *operands)
            self.owned.discard(new.name)
            arms.append((*self.out, Copy((rest,), (new,), self.origin)))
        self.out = outer
        self.of[rest] = Fact("dict")
        self.owned.add(rest)
        self.emit(If(had, arms[0], arms[1], self.origin))
        self.handed(value, g)
        return Var(rest)

    def put_back(self, stmt: Assign, call: Call, bar: Var) -> Var:
        """The adjoint of ``whole.pop()``: a zero goes back to where the item was."""
        whole, *key = call.args
        item = Call(INDEX, (whole, key[0] if key else Const(-1)))
        zero: Expr = Const(0.0)
        if self.fact(item).kind != "scalar":
            zero = Call(ZEROS, (self.held_item(stmt, item),))
        if self.fact(whole).kind == "dict":
            return self.change(bar, "[]", self.kept(key[0]), zero)
        if not key or key[0] == Const(-1):
            return self.change(bar, "append", zero)
        if key[0] != Const(0):
            what = "an item is taken out of the middle of a list that is differentiated"
            self.violation(call.node, what, "Take the first or last one, or make a new list.")
        return self.change(bar, "insert", key[0], zero)


def _kind(fact: Fact) -> Kind:
    """The kind of the adjoint of a container."""
    return "list" if fact.kind == "list" else "dict"
