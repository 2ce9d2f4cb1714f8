"""The adjoints of names: contributions to them, and who owns the objects that they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from s2sad import ops
from s2sad.analysis.activity import carriers
from s2sad.differentiate.builder import ADD, COPY, INDEX, ZEROS, Builder
from s2sad.differentiate.cuts import by_place, cut
from s2sad.differentiate.known import Known
from s2sad.differentiate.later import Later
from s2sad.differentiate.refusals import Refusals
from s2sad.differentiate.selections import Selection, of_sum
from s2sad.differentiate.shadows import Shadows
from s2sad.differentiate.storage import Storage
from s2sad.differentiate.stores import ELLIPSIS, makes_fresh, zeros_of
from s2sad.ir import algebra
from s2sad.ir.nodes import Assign, Build, Call, Const, Evaluate, Expr, Global, Op, Stmt, Store, Var
from s2sad.ir.traverse import expressions, names_in, subexpressions, walk, writes
from s2sad.ir.types import SCALAR_SHAPE, Fact, Kind, same_dtype
from s2sad.ir.unset import given_at_exits
from s2sad.ops.binding import dtype_of
from s2sad.runtime import add_into, fresh, in_dtype, joined, real_like
from s2sad.runtime.items import repeat_items, unrepeated
from s2sad.runtime.linear import like, unconcatenate, unstack
from s2sad.runtime.objects import copy_if_set

#: Before or after a statement, or at the beginning of each iteration of a loop.
When = Literal["before", "after"]
_ADD_IN_PLACE = Op("inplace", "+", np.add)
_SUBTRACT_IN_PLACE = Op("inplace", "-", np.subtract)
_REAL = Op("runtime", "np.real", np.real)
_REAL_LIKE = Op("runtime", "real_like", real_like)
_ADD_INTO = Op("runtime", "add_into", add_into, pure=False)
_ARRAY = Op("runtime", "np.array", np.array)
_AS_TYPE = Op("method", "astype", np.ndarray.astype)
_DTYPE = Op("attribute", "dtype")
_IN_DTYPE = Op("runtime", "in_dtype", in_dtype)
_FRESH = Op("runtime", "fresh", fresh)
_ONES_LIKE = Op("runtime", "np.ones_like", np.ones_like)
_COPY_IF_SET = Op("runtime", "copy_if_set", copy_if_set)
_FLOAT = Op("runtime", "float", float)
_FULL = Op("runtime", "np.full", np.full)
_FULL_LIKE = Op("runtime", "np.full_like", np.full_like)
LIST = Op("runtime", "list", list)
#: The helpers that return a new list for a list.
_MAKE_LISTS = (like, unstack, unconcatenate, repeat_items, unrepeated, joined, list)


class Adjoints:
    """The adjoint of each name so far, as an expression: ``of``.

    ``owned`` are the names of adjoints that nothing else refers to, which may be written in place; ``loose`` those of
    adjoints of arrays that may be the number 0.0, since the array may have no value.  ``active`` are the names through
    which a derivative passes.  With ``complex`` the adjoint of what is not known to be real may be complex.
    """

    def __init__(
        self, known: Known, make: Builder, storage: Storage, later: Later, refusals: Refusals, shadows: Shadows
    ) -> None:
        self.make, self.storage, self.later, self.refusals, self.shadows = make, storage, later, refusals, shadows
        self.unbound = known.unbound
        self.exposed = known.effects.exposed
        self.active = set(known.activity.active)
        self.at_exits = given_at_exits(known.function.body, self.active)
        self.of: dict[str, Expr] = {}
        self.owned: set[str] = set()
        self.loose: set[str] = set()
        #: The names of adjoints that may be integers, and those of the function itself.
        self.whole: set[str] = set()
        self.forward = {p.name for p in known.function.params}.union(*map(writes, walk(known.function.body)))
        self.complex = any(
            (isinstance(part, Const) and isinstance(part.value, complex))
            or (isinstance(part, Call) and (part.op.kind == "met" or self.has_complex_adjoints(part)))
            or (isinstance(part, (Var, Global)) and self._is_complex(make.fact(part)))
            for stmt in walk(known.function.body)
            for expr in expressions(stmt)
            for part in subexpressions(expr)
        )

    def has_complex_adjoints(self, call: Call) -> bool:
        """Whether the adjoints of real operands may be complex."""
        spec, casts = ops.spec_of(call.op.function), dtype_of(call) is not None and not self.make.fact(call).real
        return casts or (spec is not None and spec.complex_adjoints)

    def _is_complex(self, known: Fact) -> bool:
        """Whether a number or array is complex, as far as is known."""
        return known.kind in ("scalar", "array") and not known.real

    def is_active(self, expr: Expr) -> bool:
        """Whether a derivative passes through an operand."""
        return any(name in self.active for name in carriers(expr))

    def is_owned(self, bar: Expr) -> bool:
        """Whether nothing else refers to the object of an adjoint."""
        return isinstance(bar, Var) and bar.name in self.owned

    def is_loose(self, g: Expr) -> bool:
        """Whether the adjoint of an array may be the number 0.0."""
        return isinstance(g, Var) and g.name in self.loose

    def is_firm(self, g: Expr, like: Fact) -> bool:
        """Whether an adjoint is no number 0.0 that stands for an array, as far as is known."""
        return not self.is_loose(g) and (like.kind == "scalar" or not isinstance(g, Const))

    def take(self, name: str) -> Expr | None:
        """The adjoint of a name at its definition, after which the name has none."""
        return self.of.pop(name, None)

    def let_owned(self, name: str, value: Expr, fact: Fact | None = None) -> Var:
        """``name = value``, an object that nothing else refers to."""
        self.owned.add(name)
        return self.make.let(name, value, fact)

    # --- contributions

    def contribute(
        self, x: Expr, g: Expr, owned: bool = False, moved: bool = False, selection: Selection | None = None
    ) -> None:
        """Add ``g`` to the adjoint of the operand ``x``.

        ``owned`` says that nothing else refers to the object ``g``, ``moved`` that its only other
        holder is the name whose adjoint it was until now; ``g`` may be a ``selection``.
        """
        if isinstance(x, Build):
            self.to_items(x, g)
        elif not isinstance(x, Var):
            if self.is_active(x):
                # It was taken for a constant while its names were not known to share what is written.
                self.refusals.refuse_buffer(self.make.origin.line)
        elif x.name in self.active and x.name in self.storage.changed:
            self.to_container(x, self.make.lowered(g))
        elif x.name in self.storage.stopped:
            pass
        elif x.name in self.storage.buffers:
            self.to_buffer(x, self.make.lowered(g))
        elif x.name in self.active and self.make.of[x.name].kind not in ("none", "other"):
            self.to_value(x, self.make.lowered(g), owned, moved, selection)
        elif x.name in self.active and self.make.of[x.name].text:
            self.refusals.refuse_text()

    def to_items(self, x: Build, g: Expr) -> None:
        """Add the parts of ``g`` to the adjoints of the items of a display."""
        parts = cut(self.make, g)
        if parts is not None and len(parts) == len(x.items):
            g = Build("list", tuple(parts))
        if isinstance(g, Call):  # computed once for all items
            g = self.make.let(self.make.fresh("~t_bar"), g)
        whole, items = by_place(self.make, x, g, self.loose)
        for place, item in items:
            if self.is_active(item):
                self.contribute(item, self.item(whole, place))

    def to_buffer(self, x: Var, g: Expr) -> None:
        """Add ``g`` to the shadow of a buffer."""
        make, fact = self.make, self.make.of[x.name]
        if fact.kind == "array":
            g = make.narrow(g)
            bar = self.shadows.of(x.name)
            real = self.real_as(bar, self.realised(g, fact), fact)
            make.emit(Store(bar, ELLIPSIS, real, "-" if self.storage.is_turned(x) else "+", make.origin))
        elif self.storage.is_turned(x):
            self.refusals.refuse_buffer(make.origin.line)
        else:
            make.emit(Evaluate(Call(_ADD_INTO, (self.shadows.settled(x.name, make.before), g)), make.origin))

    def to_container(self, x: Var, g: Expr) -> None:
        """Add ``g`` to the adjoint of a container that changes."""
        old = self.of.get(x.name)
        if old is None:
            self.of[x.name] = self.of_own(g, x.name)
        else:
            self.of[x.name] = self.let_owned(self.make.bar(x.name), Call(ADD, (old, g)), self.container(x.name))

    def to_value(self, x: Var, g: Expr, owned: bool, moved: bool, selection: Selection | None) -> None:
        """Add ``g`` to an adjoint that is a value."""
        make, fact = self.make, self.make.of[x.name]
        old = self.of.get(x.name)
        if isinstance(g, Call) and g.op.function is np.zeros_like:
            return
        loose = False
        chosen = None if selection is None or old is None else self.chosen(old, selection, x)
        if chosen is not None:
            g, selection = chosen
            owned = True
        elif old is not None:
            selection = of_sum(self.make.selected.get(old.name) if isinstance(old, Var) else None, selection)
            loose = self.is_loose(old) and self.is_loose(g)
            g = self.added(old, g, x)
            owned = True
        whole = g
        if isinstance(g, Call):
            name = make.bar(x.name)
            g = self.of_floats(g)
            inner, known = g, make.fact(g)
            loose = loose or (old is None and self.may_be_number(g))
            if loose and fact.kind == "array":
                fact = replace(fact, kind="numeric")
            g = make.let(name, g, replace(fact, real=known.real) if fact.numeric else make.named(known, name))
            if inner.op.function is np.broadcast_to:
                make.lazy[name] = inner.args[0]
                make.broadcasts[name] = inner.args[1]
            elif owned or makes_fresh(inner):
                self.owned.add(name)
            if loose:
                self.loose.add(name)
        elif not moved:
            self.owned.difference_update(names_in(g))
        if self.is_whole(whole):
            self.whole.update(names_in(g)[:1])
        self.of[x.name] = g
        if selection is not None and isinstance(g, Var):
            make.selected[g.name] = selection.named(g)

    def may_be_number(self, g: Call) -> bool:
        """Whether an adjoint of an array is made of one that may be the number 0.0, and of numbers."""
        names = names_in(g)
        of_loose = not self.loose.isdisjoint(names)
        return of_loose and all(n in self.loose or self.make.of[n].kind == "scalar" for n in names)

    def chosen(self, old: Expr, new: Selection, x: Var) -> tuple[Expr, Selection | None] | None:
        """The sum of two selections as one, if they take the same elements, or each those that the other does not."""
        if not isinstance(old, Var) or (before := self.make.selected.get(old.name)) is None:
            return None
        found = None if new.is_own else before.plus(new, lambda a, b: self.plus(a, b, x))
        if found is None:
            return None
        form, whole = found
        both = Selection(form, whole, None, new.places, before.rarely and new.rarely)
        if both.is_all:
            return self.make.tidy(whole), None
        if isinstance(whole, Call):
            sure = self.make.fact(whole).shape in (self.make.of[old.name].shape, SCALAR_SHAPE)
            known = None if sure else self.make.of[old.name]
            whole = self.make.let(self.make.fresh("~t_bar"), self.make.tidy(whole), known)
        return self.make.tidy(both(whole)), replace(both, whole=whole)

    def of_floats(self, g: Call) -> Call:
        """An adjoint; one number for all elements as a float, since an array of integers has no room for others."""
        is_one = g.op.function is np.broadcast_to and self.is_whole(g.args[0])
        return replace(g, args=(Call(_FLOAT, (g.args[0],)), *g.args[1:])) if is_one else g

    def is_whole(self, expr: Expr) -> bool:
        """Whether an adjoint may be an integer: it is made of numbers of the forward part alone."""
        if isinstance(expr, Var) and expr.name in self.whole:
            return True
        known = self.make.fact(expr)
        if known.kind != "scalar" or not known.real or known.precision not in ("weak", ""):
            return False
        match expr:
            case Const(value=value):
                return type(value) in (bool, int)
            case Var(name=name):
                return name in self.forward
            case Call(op=Op(kind="operator", name="+" | "-" | "*"), args=args):
                return all(map(self.is_whole, args))
        return isinstance(expr, Call) and expr.op.kind not in ("operator", "runtime")

    def added(self, old: Expr, g: Expr, x: Var) -> Expr:
        """The sum of two adjoints of ``x``: in place where the first is an array that is ours alone."""
        fact = self.make.of[x.name]
        ours = self.is_owned(old) and not self.make.again
        if ours and fact.kind == "array" and fact.ndim != 0 and fact.real:
            g = self.make.plain(g, fact)
            if self.make.fact(g).real:
                if isinstance(g, Call) and g.op == algebra.NEGATE:
                    return Call(_SUBTRACT_IN_PLACE, (old, g.args[0]))
                return Call(_ADD_IN_PLACE, (old, g))
        return self.plus(old, g, x)

    def plus(self, a: Expr, b: Expr, x: Var) -> Expr:
        """The sum of two adjoints of ``x``, which has the shape of ``x`` where one of them surely has."""
        if (self.is_loose(a) or self.is_loose(b)) and self.make.of[x.name].numeric:
            return algebra.add(a, b)
        return self.make.plus(a, b, x)

    # --- an adjoint in another form

    def realised(self, g: Expr, like: Fact) -> Expr:
        """The adjoint of a real ``like``, which is real."""
        known = self.make.fact(g)
        if not like.real or known.real:
            return g
        # Where nothing is complex, what is not known to be real is so.
        is_complex = known.kind in ("scalar", "array") or (self.complex and like.numeric)
        return Call(_REAL, (g,)) if is_complex or self._has_complex_part(g, known) else g

    def _has_complex_part(self, g: Expr, known: Fact) -> bool:
        """Whether what is no more known than to be a number or array is computed with what is, or may be, complex."""
        parts = [self.make.of[n] for n in names_in(g)]
        if known.kind == "open":
            return any(p.kind in ("scalar", "array", "numeric") and not p.real for p in parts)
        return known.kind == "numeric" and any(map(self._is_complex, parts))

    def real_as(self, whole: Expr, g: Expr, like: Fact) -> Expr:
        """An adjoint that is real where ``whole``, of which that may not be known, is real."""
        unsure = self.complex and not like.real and not self.make.fact(g).real
        return Call(_REAL_LIKE, (g, whole)) if unsure else g

    def firm(self, name: str, g: Expr) -> Expr:
        """The adjoint of a name that has a value: an array where that is one."""
        fact = self.make.of[name]
        if not self.is_loose(g) or fact.kind == "scalar":
            return g
        zeros = self.make.zeros(Var(name))
        if fact.kind != "array":
            return self.make.let(self.make.bar(name), Call(ADD, (zeros, g)))
        real = self.make.fact(g).real
        return self.make.let(self.make.bar(name), algebra.add(zeros, g), replace(fact, real=real))

    def item(self, g: Expr, key: Expr) -> Expr:
        """The part ``g[key]`` of a container's adjoint."""
        if isinstance(g, Build) and isinstance(key, Const):
            if g.kind == "dict":
                for k, v in zip(g.items[::2], g.items[1::2], strict=True):
                    if k == key:
                        return v
            elif key.value < len(g.items):
                part: Expr = g.items[key.value]
                return part
        held = g if isinstance(g, Var) else self.make.let(self.make.fresh("~t_bar"), g)
        part_bar = self.make.let(self.make.fresh("~t_bar"), Call(INDEX, (held, key)))
        if self.is_loose(held):
            self.loose.add(part_bar.name)
        return part_bar

    def writable(self, x: Var) -> Var:
        """The adjoint of ``x`` as an object of its own, of the dtype of ``x``, that may be written in place."""
        old = self.of.get(x.name)
        fact = self.make.of[x.name]
        if x.name in self.storage.changed:
            new = self.zero(x.name, "before") if old is None else self.of_own(old, x.name, "before")
            assert isinstance(new, Var)
        elif fact.kind == "array" and fact.ndim == 0 and old is not None and x.name not in self.unbound:
            # Arithmetic with arrays without axes gives numbers.
            of_array = Call(_ARRAY, (self.realised(old, fact), Call(_DTYPE, (x,))))
            new = self.let_owned(self.make.bar(x.name), of_array, fact)
        elif isinstance(old, Var) and old.name in self.owned and (fact.real or not self.make.fact(old).real):
            # A complex array may have a real adjoint so far, which has no room for what comes.
            self.make.selected.pop(old.name, None)
            return old
        elif old is None:
            new = self.let_owned(self.make.bar(x.name), self.make.zeros(x), fact if fact.numeric else None)
        elif fact.kind == "array" and x.name not in self.unbound and not self.is_loose(old):
            new = self.let_owned(self.make.bar(x.name), self.copied(x, self.realised(old, fact)), fact)
        elif isinstance(old, Build) and (parts := self.as_list(old, fact)) is not None:
            new = self.let_owned(self.make.bar(x.name), parts)
        else:
            zeros, known = self.make.zeros(x), fact.kind == "array"
            total = algebra.add(zeros, old) if known else Call(ADD, (zeros, old))
            new = self.let_owned(self.make.bar(x.name), total, fact if known else None)
        self.of[x.name] = new
        return new

    def as_list(self, g: Expr, fact: Fact) -> Expr | None:
        """The adjoint of a tuple or list as a list of objects of its own; None where the types show no way to it."""
        return self._as_list(g, fact, set())

    def _as_list(self, g: Expr, fact: Fact, given: set[str]) -> Expr | None:
        known = self.make.fact(g)
        if fact.kind == "scalar":
            return g if known.kind == "scalar" else None
        if isinstance(g, Build):
            if g.kind == "dict" or fact.items is None or len(fact.items) != len(g.items):
                return None
            parts = [self._as_list(part, of, given) for part, (_, of) in zip(g.items, fact.items, strict=True)]
            return None if None in parts else Build("list", tuple(filter(None, parts)))
        if fact.kind != "array" or self.is_loose(g):
            return None
        if self.is_new(g, given):
            return g
        if not isinstance(g, Var) or fact.ndim == 0 or not same_dtype(known, fact):
            return None
        if g.name in self.make.lazy and self.make.fact(inner := self.make.lazy[g.name]).kind == "scalar":
            return Call(_FULL, (self.make.broadcasts[g.name], inner))
        return Call(COPY, (g,))

    def is_new(self, g: Expr, given: set[str]) -> bool:
        """Whether the adjoint of an array is nobody else's, nor one of those ``given``, to which its name is added."""
        if self.is_owned(g) and isinstance(g, Var) and g.name not in given:
            given.add(g.name)
            return True
        return isinstance(g, Call) and (makes_fresh(g) or g.op.function is np.zeros_like)

    def copied(self, x: Var, bar: Expr) -> Expr:
        """A copy of an adjoint of the array ``x``, in the dtype of that."""
        fact, known = self.make.of[x.name], self.make.fact(bar)
        held = bar if isinstance(bar, Var) else self.make.let(self.make.bar(x.name), bar, fact)
        if same_dtype(known, fact):
            return Call(COPY, (held,))
        real = self.real_as(x, held, fact)
        if fact.precision in ("single", "double"):
            return Call(_AS_TYPE, (real, Call(_DTYPE, (x,))))
        return Call(_IN_DTYPE, (real, x))

    def result(self, name: str, given: set[str]) -> Expr:
        """The adjoint of a parameter as an object that nothing else refers to; ``given`` are those given already."""
        g = self.of.get(name)
        fact = self.make.of[name]
        if g is None:
            return self.make.zeros(Var(name))
        if fact.kind == "scalar":
            return g
        if isinstance(g, Var) and g.name in self.make.lazy:
            inner = self.make.lazy[g.name]
            if self.make.fact(inner).kind == "scalar" and fact.kind == "array":
                if inner == Const(1.0):
                    return Call(_ONES_LIKE, (Var(name),))
                return Call(_FULL_LIKE, (Var(name), self.realised(inner, fact)))
        if self.is_new(g, given) or (isinstance(g, Build) and self._has_new_parts(g, fact, given)):
            return g
        if fact.kind == "array" and fact.ndim != 0 and isinstance(g, Var):
            return Call(COPY, (g,))
        return Call(_FRESH, (g,))

    def _has_new_parts(self, g: Expr, fact: Fact, given: set[str]) -> bool:
        """Whether the adjoint of a tuple holds but numbers and arrays that nothing else refers to."""
        if fact.kind == "scalar":
            return self.make.fact(g).kind == "scalar"
        if not isinstance(g, Build):
            return fact.kind == "array" and self.is_new(g, given)
        if g.kind != "tuple" or fact.items is None or len(fact.items) != len(g.items):
            return False
        return all(self._has_new_parts(part, of, given) for part, (_, of) in zip(g.items, fact.items, strict=True))

    # --- zeros and joins

    def zero(self, name: str, when: When = "after") -> Expr:
        """A zero adjoint of a name as it is ``when`` the statement at hand runs."""
        if name in self.storage.changed:
            return self.zero_container(name, when)
        if name in self.unbound:
            return self.zero_unset(name)
        value = self.make.zeros(Var(name))
        if isinstance(value, Const):
            return value
        return self.let_owned(self.make.bar(name), value, self.make.of[name] if self.make.of[name].numeric else None)

    def zero_unset(self, name: str) -> Expr:
        """A zero adjoint of a name that may have no value: the number 0.0, in a container for each of its items."""
        fact = self.make.of[name]
        # Nobody takes the adjoint of one apart that is given as a loop is left: in no other turn it had a value.
        known = zeros_of(fact, name in self.at_exits)
        return known if known is not None else self.let_owned(self.make.bar(name), Call(ZEROS, (Var(name),)))

    def zero_container(self, name: str, when: When) -> Expr:
        """A zero adjoint of a container that changes, as it is ``when`` the statement at hand runs."""
        changes = self.later.is_overwritten(name)
        at: list[Stmt] = self.make.before if when == "before" else self.make.after
        held = name
        if changes if when == "before" else name in self.later.beyond | self.exposed:
            held = self.make.fresh(name.partition(".")[0])
            self.make.of[held] = self.make.of[name]
            copy = _COPY_IF_SET if name in self.unbound else COPY
            at.append(Assign(held, Call(copy, (Var(name),)), self.make.origin))
        return self.let_owned(self.make.bar(name), Call(ZEROS, (Var(held),)), self.container(name))

    def joined(self, name: str, *bars: Expr) -> str:
        """A new name in which adjoints of ``name`` meet."""
        join, fact = self.make.bar(name), self.make.of[name]
        real = fact.real and all(self.make.fact(bar).real for bar in bars)
        kept = self.container(name) if name in self.storage.changed else None
        if kept is not None and all(self.make.fact(bar).kind == kept.kind for bar in bars):
            self.make.of[join] = kept
        else:
            self.make.of[join] = replace(fact, real=real) if fact.numeric else self.make.named(Fact("open"), join)
        if (name in self.unbound and name not in self.at_exits) or any(map(self.is_loose, bars)):
            self.loose.add(join)
        return join

    # --- containers that change

    def container(self, name: str) -> Fact:
        """The type of the adjoint of a container that changes."""
        kind: Kind = "list" if self.make.of[name].kind == "list" else "dict"
        return Fact(kind)

    def of_own(self, g: Expr, name: str, when: When = "after") -> Var:
        """The adjoint ``g`` of a container as a list or dict that nothing else refers to.

        One that may be the number 0.0 is added to zeros for the container as it is ``when`` the statement at hand runs.
        """
        fact = self.container(name)
        if isinstance(g, Var) and g.name in self.owned and self.make.fact(g).kind == fact.kind:
            return g
        if isinstance(g, Build) and (g.kind == "dict") == (fact.kind == "dict"):
            made: Expr = Build("dict" if fact.kind == "dict" else "list", g.items)
        elif isinstance(g, Call) and g.op.function in _MAKE_LISTS and fact.kind == "list":
            made = g
        elif self.is_loose(g) and name not in self.unbound:
            made = Call(ADD, (self.zero_container(name, when), g))
        else:
            copy = COPY if fact.kind == "dict" else LIST
            made = Call(_FRESH if name in self.unbound else copy, (g,))
        self.owned.difference_update(names_in(g))
        return self.let_owned(self.make.bar(name), made, fact)
