"""The adjoints of statements that make, view or write arrays whose adjoints are shadows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from s2sad.analysis.sharing import copies, may_view, sharing
from s2sad.analysis.stopped import keeps_some
from s2sad.analysis.versions import is_change
from s2sad.differentiate.buffers import CONTAINERS, ELLIPSIS, HOLDERS
from s2sad.differentiate.builder import COPY, INDEX, SHAPE_ATTRIBUTE, as_value
from s2sad.differentiate.calls import Calls
from s2sad.differentiate.known import Known
from s2sad.differentiate.stores import READS_ITS_OUTPUT, reads_what_it_writes, takes_part
from s2sad.frontend import operators
from s2sad.ir import algebra
from s2sad.ir.nodes import (
    UNSET,
    Assign,
    Build,
    Call,
    Const,
    Copy,
    Evaluate,
    Expr,
    For,
    Op,
    Opaque,
    Slice,
    Stmt,
    Store,
    Unpack,
    Var,
)
from s2sad.ir.traverse import base, children, names_in, reads, walk, writes
from s2sad.ir.types import some_item
from s2sad.runtime import add_at, add_copy, orderly, own, require_floats, stop_gradient, unbroadcast
from s2sad.runtime.positions import along_places, diagonal_places, flat_places, mask_places

_ADD_AT = Op("runtime", "add_at", add_at, pure=False)
_OWN = Op("runtime", "own", own)
_ORDERLY = Op("runtime", "orderly", orderly, pure=False)
_REQUIRE_FLOATS = Op("runtime", "require_floats", require_floats, pure=False)
_ADD_COPY = Op("runtime", "add_copy", add_copy, pure=False)
#: The helpers that make an index from the shape of an array.
_PLACES = (along_places, diagonal_places, flat_places, mask_places)
_FUNCTIONS = dict(operators.BINARY.values())


class Writes(Calls):
    """The part of reverse mode that knows the adjoint of every write into an array."""

    def __init__(self, known: Known) -> None:
        super().__init__(known)
        copies = [s for s in walk(self.function.body) if isinstance(s, Copy)]
        moves = [move for s in copies for move in zip(s.targets, s.sources, strict=True)]
        for name, group in self.versions.items():
            if not all(self.is_kept(call) or self.is_number(call) for call in self.changes_of(name)):
                continue
            inner = [source for target, source in moves if target in group]
            made = [n for n in group if n in self.definitions and not is_change(self.definitions[n])]
            if len(made) == 1 and all(isinstance(s, Var) and s.name in group for s in inner):
                self.same[name] = group
        for group in self.array_versions(moves):
            self.same.update(dict.fromkeys(group, group))

    def array_versions(self, moves: list[tuple[str, Expr]]) -> Iterator[frozenset[str]]:
        """The names of one variable that surely refer to one array, made once: ``u += e`` in a loop hands it on."""
        linked: dict[str, set[str]] = {}

        def link(a: str, b: Expr) -> None:
            if isinstance(b, Var) and base(a) == base(b.name):
                joined = linked.get(a, {a}) | linked.get(b.name, {b.name})
                linked.update(dict.fromkeys(joined, joined))

        augmented = {n: v for n, v in self.definitions.items() if isinstance(v, Call) and v.op.kind == "inplace"}
        for target, value in augmented.items():
            link(target, value.args[0])
        if not linked:
            return
        for target, source in moves:
            link(target, source)
        moved = {target for target, _ in moves}
        once = {p.name for p in self.function.params}
        once.update(n for s in self.function.body if isinstance(s, (Assign, Unpack)) for n in writes(s))
        for group in {id(g): frozenset(g) for g in linked.values()}.values():
            made = [n for n in group if n not in augmented and n not in moved]
            inner = [source for target, source in moves if target in group]
            if (
                all(self.of[n].kind == "array" and self.is_buffer(Var(n)) for n in group)
                and len(made) == 1
                and made[0] in once
                and all(isinstance(s, Var) and s.name in group for s in inner)
            ):
                yield group

    def buffer_assign(self, stmt: Assign, target: str, value: Expr) -> Stmt:
        """The adjoint of a statement that makes, views or names a buffer."""
        made = target in self.shadows
        if value == UNSET:
            if made:
                self.define(target, UNSET)
            return stmt
        if self.of[target].kind not in HOLDERS:
            self.refuse_buffer(getattr(value, "node", None) or stmt.origin.line, target)
            return stmt
        if target in self.stopped:
            if isinstance(value, Call) and value.op.kind == "inplace":
                # The result is a constant to its own name, and was a derivative to the others.
                self.refuse_stopped(stmt.origin.line)
            elif made:
                self.define(target, self.stopped_shadow(value))
            return stmt
        match value:
            case Var() if self.is_buffer(value):
                if value.name in self.stopped:
                    self.refuse_stopped(stmt.origin.line)
                if made:
                    self.define(target, self.shadow(value.name))
            case Build():
                if made:
                    self.define(target, self.displayed_shadow(value, Var(target)))
                    self.undisplayed(value, self.shadow(target))
            case Call(op=op) if op.kind == "inplace":
                self.augmented(value, target)
            case Call(op=op) if op.kind == "change":
                self.changed_buffer(value, target, made)
            case Call(op=op) if op.kind == "operator" and self.of[target].kind in CONTAINERS:
                self.repeated_buffers(value, target, made)
            case Call(op=op, args=(Var() as first, *_)) if (
                op.name == "copy" and self.is_buffer(first) and (self.of[first.name].kind in CONTAINERS)
            ):
                # The copy holds the same arrays, and numbers of its own.
                if not self.holds_arrays(first):
                    self.refuse_buffer(value.node)
                elif made:
                    self.define(target, replace(value, args=(self.shadow(first.name),)))
            case Call(op=op, args=(Var() as whole, index)) if op.kind == "index" and self.is_buffer(whole):
                view = self.viewed(value)
                if view is not None and made:
                    self.define(target, view)
                elif view is None and not copies(index, self.fact):
                    self.refuse_buffer(value.node)
                elif view is None and made:
                    self.define(target, self.made_zero(target, value))
                    self.index(whole, index, self.shadow(target))
            case Call(op=op, args=(Var() as first, *_)) if self.is_buffer(first) and self.sharing(value) != "fresh":
                view = self.viewed(value)
                if view is None:
                    self.refuse_buffer(value.node)
                elif made:
                    self.define(target, view)
                    if may_view(op.function):
                        order = dict(value.kwargs).get("order")
                        if op.function is np.ravel and len(value.args) > 1:
                            order = value.args[1]
                        given = (self.shadow(first.name), self.shadow(target), *((order,) if order else ()))
                        self.emit(Evaluate(Call(_ADD_COPY, given), self.origin))
            case Call(op=op):
                alone = op.function is stop_gradient and target not in self.effects.stops
                near = self.effects.group.get(target, frozenset()) & set(names_in(value))
                if near and not alone and self.sharing(value) != "fresh":
                    self.refuse_buffer(value.node or self.origin.line)
                    return stmt
                if not made:
                    return stmt
                self.define(target, self.made_zero(target, value))
                bar = self.settled(target, self.after)
                if self.is_active(value):
                    if op.function is own or op.function is np.copy:
                        self.owned.add(bar.name)
                        self.contribute(value.args[0], bar, moved=True)
                    elif op.kind == "index":
                        self.index(value.args[0], value.args[1], bar)
                    else:
                        self.ruled(value, Var(target), bar)
            case Opaque() if self.gives_its_own(value, (target,)):
                if made:
                    self.define(target, self.made_zero(target, value))
            case _:
                self.refuse_buffer(stmt.origin.line)
        return stmt

    def sharing(self, value: Call) -> str:
        """What the result of an operation shares, for these operands."""
        return sharing(value, self.fact)

    def changed_buffer(self, value: Call, target: str, made: bool) -> None:
        """Change the shadow of a container that holds buffers as the container is changed."""
        whole, *operands = value.args
        if not (isinstance(whole, Var) and self.is_buffer(whole)):
            self.refuse_buffer(value.node)
            return
        if target in self.same and self.is_number(value):
            self.number_stored(value, self.shadow(target))
            return
        if value.op.name != "pop":
            *place, item = operands
            if self.is_active(item) and not self.is_buffer(item):
                what = "a number that is differentiated is put into a container of arrays that are written in place"
                self.violation(value.node, what, "Keep it in a variable or container of its own.")
                return
            operands = [*place, self.part_shadow(item, item)]
            if self.is_kept(value):
                # The array has changed, and is where it was.
                if made and target not in self.same:
                    self.define(target, self.shadow(whole.name))
                return
        if made:
            how = value.op
            if how.name.startswith("."):
                # The shadow of a dataclass is a dict.
                how, operands = Op("change", "[]"), [Const(how.name[1:]), *operands]
            self.define(target, Call(how, (self.shadow(whole.name), *operands)))

    def repeated_buffers(self, value: Call, target: str, made: bool) -> None:
        """The shadow of a sum of lists, or of a list times a number: the same, of the shadows."""
        lists = value.args if value.op.name == "+" else value.args[:1]
        if value.op.name not in ("+", "*") or not all(self.is_buffer(e) and self.holds_arrays(e) for e in lists):
            self.refuse_buffer(value.node)
        elif made:
            shadows = [self.shadow(e.name) if isinstance(e, Var) and e in lists else e for e in value.args]
            self.define(target, Call(value.op, tuple(shadows)))

    def changes_of(self, name: str) -> list[Call]:
        """The changes of the container that a name holds."""
        made = [self.definitions.get(n) for n in self.versions.get(name, ())]
        return [call for call in made if isinstance(call, Call) and call.op.kind == "change"]

    def is_kept(self, change: Call) -> bool:
        """Whether ``whole[index] = item`` puts an array back that was taken from there, and written since."""
        if change.op.name != "[]" and not change.op.name.startswith("."):
            return False
        *place, item = change.args
        new = self.definitions.get(item.name) if isinstance(item, Var) else None
        if not (isinstance(new, Call) and new.op.kind == "inplace" and isinstance(new.args[0], Var)):
            return False
        old = new.args[0].name
        taken = INDEX if change.op.name == "[]" else Op("attribute", change.op.name[1:])
        return self.of[old].kind == "array" and self.definitions.get(old) == Call(taken, tuple(place))

    def is_number(self, change: Call) -> bool:
        """Whether ``whole[index] = item`` surely puts a number in the place of another."""
        if self.fact(change.args[-1]).kind != "scalar":
            return False
        whole, *place = change.args[:-1]
        known = self.fact(whole)
        if change.op.name.startswith("."):
            return self.fact(Call(Op("attribute", change.op.name[1:]), (whole,))).kind == "scalar"
        if change.op.name != "[]" or self.fact(Call(INDEX, (whole, *place))).kind != "scalar":
            return False
        return known.kind == "list" or (isinstance(place[0], Const) and known.items is not None)

    def number_stored(self, change: Call, bar: Var) -> None:
        """The adjoint of a number that takes the place of another: of an element, as it were."""
        *place, item = change.args[1:]
        key = self.kept(place[0]) if place else Const(change.op.name[1:])
        g = self.let(self.fresh("~t_bar"), Call(INDEX, (bar, key)), self.fact(item))
        self.emit(Store(bar, key, Const(0.0), None, self.origin))
        if self.is_active(item):
            self.contribute(item, g)

    def settled(self, name: str, at: list[Stmt]) -> Var:
        """The shadow of a container as it is where ``at`` is put into the forward part, whatever it holds later."""
        bar = self.shadow(name)
        if name not in self.changed_later or name in self.same:
            return bar
        if not self.holds_arrays(Var(name)):
            self.refuse_buffer(self.origin.line)
        copy = self.bar(name)
        self.of[copy] = self.of[bar.name]
        self.shadows[copy] = copy
        made = Assign(copy, Call(COPY, (bar,)), self.origin)
        # What comes after a statement is noted from the last on: the shadow itself is made before its copy.
        at.insert(0 if at is self.after else len(at), made)
        return Var(copy)

    def holds_arrays(self, whole: Expr) -> bool:
        """Whether all items of a container are surely arrays, or containers of such."""
        each = some_item(self.fact(whole))
        return each is not None and each.kind == "array"

    def stopped_shadow(self, value: Expr) -> Expr:
        """The shadow of a name for an array that comes from ``stop_gradient``: that of the array."""
        if isinstance(value, Call) and value.op.function is stop_gradient:
            value = value.args[0] if value.args else dict(value.kwargs)["x"]
        if isinstance(value, Var) and self.is_buffer(value):
            return self.shadow(value.name)
        view = self.viewed(value) if isinstance(value, Call) else None
        if view is None:
            self.refuse_stopped(self.origin.line)
            return Const(0.0)
        return view

    def undisplayed(self, value: Build, bar: Expr) -> None:
        """Hand the parts of a display's shadow that are no shadows themselves to the items."""
        step = 2 if value.kind == "dict" else 1
        for i, item in enumerate(value.items[step - 1 :: step]):
            if self.is_buffer(item) or not self.is_active(item):
                continue
            part = self.item(bar, value.items[2 * i] if step == 2 else Const(i))
            if isinstance(item, Build):
                self.undisplayed(item, part)
            else:
                self.contribute(item, part)

    def augmented(self, value: Call, target: str) -> None:
        """The adjoint of ``a op= e`` for an array."""
        left, right = value.args
        if not self.is_buffer(left) or self.of[target].kind != "array":
            self.refuse_buffer(value.node, target)
            return
        assert isinstance(left, Var)
        bar = self.shadow(left.name)
        if target in self.shadows and self.shadow(target) != bar:
            self.define(target, bar)
        if value.op.name in ("+", "-"):
            g = self.unbroadcast(bar, right) if self.is_active(right) else None
            if g is not None:
                minus = (value.op.name == "-") != self.is_turned(left)
                self.give(right, algebra.negate(g) if minus else self.apart(g))
            return
        g = self.let(self.fresh("~t_bar"), self.taken_out(left, bar), self.of[bar.name])
        self.emit(Store(bar, ELLIPSIS, Const(0.0), None, self.origin))
        self.ruled(value, Var(target), g)

    def give(self, x: Expr, g: Expr, moved: bool = False) -> None:
        """Add ``g`` to the adjoint of what is written; that of a real one, written into a complex array, is real."""
        real = self.realised(g, self.fact(x))
        self.contribute(x, real, moved=moved and real is g)

    def apart(self, g: Expr) -> Expr:
        """``g`` as a value: a shadow goes on changing, and what fits comes back from ``unbroadcast`` as it is."""
        if isinstance(g, Call) and g.op.function is unbroadcast:
            return Call(_OWN, (g,))
        return Call(COPY, (g,)) if isinstance(g, Var) and g.name in self.shadows.values() else g

    def store(self, stmt: Store) -> None:
        """The adjoint of ``base[index] = value`` and ``base[index] op= value``."""
        base_ = stmt.base
        if stmt.call is not None and not self.is_store(stmt, stmt.call):
            what = "this call changes an object that is not surely an array, or a copy of part of one"
            self.violation(stmt.call.node, what, "Make a new object instead, or write to a slice of an array.")
            return
        stopped = isinstance(base_, Var) and base_.name in self.stopped
        minus = (stmt.op == "-") != self.is_turned(base_)
        if stopped and (self.is_active(stmt.value) or stmt.op is not None or keeps_some(stmt.call)):
            self.refuse_stopped(stmt.origin.line)
            return
        if not self.is_active(base_) and not stopped:
            if self.is_active(stmt.value):
                self.refuse_buffer(stmt.origin.line)
            return
        if not self.is_buffer(base_) or self.fact(base_).kind not in ("array", "numeric"):
            self.refuse_buffer(stmt.origin.line)
            return
        assert isinstance(base_, Var)
        if stmt.call is not None and reads_what_it_writes(stmt.call, base_, self.effects.group):
            self.violation(stmt.call.node, f"{stmt.call.op.name} {READS_ITS_OUTPUT}", "Copy what it reads: x.copy().")
            return
        if stmt.op is None and self.may_overlap(stmt, base_):
            place = Call(INDEX, (base_, stmt.index))
            self.before.append(Evaluate(Call(_ORDERLY, (place, stmt.value)), stmt.origin))
        if self.is_active(stmt.value) and self.of[base_.name].precision == "" and self.is_item(base_.name):
            self.before.append(Evaluate(Call(_REQUIRE_FLOATS, (base_,)), stmt.origin))
        bar = self.shadow(base_.name)
        index = self.kept(stmt.index)
        if isinstance(index, Call) and index.op.function in _PLACES:
            # The shadow has the shape of the array.
            index = replace(index, args=(Call(SHAPE_ATTRIBUTE, (bar,)), *index.args[1:]))
        if stmt.op is not None and stmt.call is not None:
            # Every position counts, and what was there stays.
            if self.is_active(stmt.value):
                g_at: Expr = self.let(self.fresh("~t_bar"), Call(_OWN, (Call(INDEX, (bar, index)),)))
                g_at = self.unbroadcast(g_at, stmt.value)
                self.give(stmt.value, algebra.negate(g_at) if minus else g_at)
            return
        if stmt.op in ("+", "-") and self.is_view_index(index) and self.fact(base_).kind == "array":
            if self.is_active(stmt.value):
                item = Call(INDEX, (bar, index))
                known = self.fact(item)
                scalar = known.kind == "scalar"
                g: Expr = self.let(self.fresh("~t_bar"), item if scalar else Call(COPY, (item,)))
                g = self.unbroadcast(g, stmt.value)
                self.give(stmt.value, algebra.negate(g) if minus else g)
            return
        g = self.taken(stmt, bar, index)
        if stmt.op is None:
            if self.is_active(stmt.value):
                self.give(stmt.value, g if _fits(stmt) else self.unbroadcast(g, stmt.value), moved=True)
            return
        self.store_operation(stmt, bar, index, g)

    def is_item(self, name: str) -> bool:
        """Whether an array may have been taken out of a container, where arrays of integers have shadows too."""
        made = self.definitions.get(name)
        if made is None:
            return name not in {p.name for p in self.function.params}
        if isinstance(made, Call) and made.op.kind in ("index", "attribute"):
            return self.fact(made.args[0]).kind != "array"
        return isinstance(made, Var) and self.is_item(made.name)

    def is_store(self, stmt: Store, call: Call) -> bool:
        """Whether a call surely does what the store says: to an array, and to a view where it is given one."""
        if takes_part(stmt, call):
            return self.is_view_index(stmt.index)
        kind = self.fact(stmt.base).kind
        # What other objects do when their method is called nobody knows.
        return kind in ("array", "numeric") or (call.op.kind == "function" and not self.is_active(stmt.base))

    def may_overlap(self, stmt: Store, base_: Var) -> bool:
        """Whether NumPy may read, in copying one row into another, what it has written already."""
        value = stmt.value
        if not isinstance(value, Var) or value.name not in self.effects.group.get(base_.name, ()):
            return False
        if not self.is_view_index(stmt.index) or self.fact(Call(INDEX, (base_, stmt.index))).ndim not in (None, 1):
            return False
        made = self.definitions.get(value.name)
        if isinstance(made, Call) and made.op.kind == "index" and isinstance(made.args[0], Var):
            alike = made.args[0] == base_ or not {made.args[0].name, base_.name} & self.maybe_views()
            return not alike or _pattern(made.args[1]) != _pattern(stmt.index)
        return isinstance(made, Call) or made is None

    def maybe_views(self) -> set[str]:
        """The names that may stand for a part of an array, or an array in another layout."""
        found = {p.name for p in self.function.params}
        grown = True
        while grown:
            before = len(found)
            for stmt in walk(self.function.body):
                match stmt:
                    case Assign(target=target, value=Var(name=name)) if name in found:
                        found.add(target)
                    case Assign(target=target, value=Call() as value) if sharing(value) != "fresh":
                        found.add(target)
                    case Copy(targets=targets, sources=sources):
                        found |= {t for t, s in zip(targets, sources, strict=True) if found & set(names_in(s))}
                    case Unpack(targets=targets) | For(targets=targets):
                        found |= set(targets)
            grown = len(found) > before
        return found

    def store_operation(self, stmt: Store, bar: Var, index: Expr, g: Expr) -> None:
        """The adjoint of ``base[index] op= value``: of the operation on the old elements."""
        old, new = self.fresh("~t"), self.fresh("~t")
        item = Call(INDEX, (stmt.base, stmt.index))
        self.of[old] = self.of[new] = self.named(self.fact(item), old)
        symbol = stmt.op
        assert symbol is not None
        call = Call(Op("operator", symbol, _FUNCTIONS[symbol]), (Var(old), stmt.value))
        start = len(self.out)
        self.active = self.active | {old}
        self.ruled(call, Var(new), g)
        read = {n for s in self.out[start:] for n in reads(s)} | set(names_in(self.adj.get(old, Const(0))))
        copied = Call(_OWN, (item,))
        if old in read:
            self.before.append(Assign(old, copied, stmt.origin))
        if new in read:
            stays = id(stmt) in self.sections.stores and self.is_view_index(stmt.index)
            self.after.append(Assign(new, item if stays else copied, stmt.origin))
            if stays:
                self.stable.add(new)
        bar_old = self.adj.pop(old, None)
        if bar_old is not None:
            if self.is_basic(index):
                self.emit(Store(bar, index, bar_old, "-" if self.is_turned(stmt.base) else "+", stmt.origin))
            else:
                given = self.adjoint_of(stmt.base, bar_old)
                self.emit(Evaluate(Call(_ADD_AT, (bar, as_value(index), given)), stmt.origin))


def _fits(stmt: Store) -> bool:
    """Whether the value of a store surely has the shape of what it is written into: it was made for it."""
    if stmt.call is None or stmt.value in children(stmt.call):
        return False
    options = dict(stmt.call.kwargs)
    return "out" not in options or "where" in options


def _pattern(index: Expr) -> tuple[object, ...]:
    """How an index goes through an array: which axes it keeps, and with what steps."""
    parts = index.items if isinstance(index, Build) else (index,)
    return tuple([("along", p.step) if isinstance(p, Slice) else p if p == ELLIPSIS else "at" for p in parts])
