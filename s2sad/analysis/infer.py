"""Find the facts about every name of a function.

Facts flow along the statements.  At the head of a loop the fact of a join name is what holds for
all that moves into it.  An atom that is born inside a loop stands for another shape in each
iteration, so it never crosses the back edge: a join name that would carry one gets an atom of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from s2sad.analysis.evaluate import Evaluator, evaluate
from s2sad.ir.nodes import (
    UNSET,
    Assign,
    Block,
    Build,
    Call,
    Const,
    Copy,
    Enter,
    Evaluate,
    Exit,
    Expr,
    For,
    Function,
    If,
    Op,
    Pop,
    Unpack,
    Var,
    While,
)
from s2sad.ir.sizes import agreed, computed, number_of
from s2sad.ir.sums import Dim, literal_size, named, ranged
from s2sad.ir.traverse import base, names_in, reads, walk, writes
from s2sad.ir.types import (
    OPEN,
    SCALAR_SHAPE,
    UNSET_FACT,
    Atom,
    Fact,
    Kind,
    Shape,
    common,
    either,
    either_key,
    given_of_both,
    item_of,
    key_of,
    leading_to,
    reach_of,
    resized,
    row_of,
    scalar,
    some_item,
    timeless,
)
from s2sad.runtime.items import require_ndarray, require_number

_NAME = re.compile(r"~?\w+\.\d+")


@dataclass(frozen=True)
class Put:
    """What is put into a list: a number in the place of another, or if the list ``grows`` an item after the last.

    A ``key`` says by which item of a dict or list the list is reached, if that is known.  Of a name that stands for a
    list of lists, the list is ``inside``.
    """

    fact: Fact
    grows: bool
    key: str | int | None
    inside: bool

    def into(self, whole: Fact, key: str | int | None = None, is_item: bool = False) -> Fact:
        """The type of a value that may be the list or lead to it; of an item, by the key of what it is in."""
        if whole.kind == "list" and whole.items == () and self.inside and not is_item:
            return whole
        if are_alike(whole, self.fact):
            return self.grown(whole) if key is None or self.key in (None, key) else whole
        if whole.numeric:
            return whole
        items = whole.items and tuple(
            [(k, self.into(f, k if type(k) in (str, int) else None, True)) for k, f in whole.items]
        )
        return whole.but(items=items, each=None if whole.each is None else self.into(whole.each, None, True))

    def grown(self, whole: Fact) -> Fact:
        """The type of the list from then on."""
        if self.grows or whole.items is None:
            held = [whole.each] if whole.items is None else [item for _, item in whole.items]
            return Fact("list", each=either([*[item for item in held if item is not None], self.fact]))
        return whole.but(items=tuple([(k, either([f, self.fact]) or f) for k, f in whole.items]))


def are_alike(whole: Fact, new: Fact) -> bool:
    """Whether a list surely holds no more than numbers, or than arrays, as a value is one."""
    held = [whole.each] if whole.items is None else [item for _, item in whole.items]
    alike = all(item is not None and item.kind == new.kind for item in held)
    return whole.kind == "list" and new.kind in ("scalar", "array") and alike


@dataclass(frozen=True)
class Changing:
    """The names of containers whose contents may change: of ``unknown`` ones nothing is known of what they hold.

    ``put`` says what is put into lists that a name may hold.
    """

    unknown: frozenset[str] = frozenset()
    put: Mapping[str, frozenset[Put]] = field(default_factory=dict)

    def known_of(self, fact: Fact, name: str) -> Fact:
        """What is known of what has a name at all times."""
        name = name.rstrip("?*")
        if name in self.unknown:
            return _emptied(fact)
        puts = self.put.get(name, ())
        while puts:
            before = fact
            for put in puts:
                fact = put.into(fact)
            if fact == before:
                break
        return fact

    def with_more(self, unknown: frozenset[str], put: Mapping[str, frozenset[Put]]) -> Changing:
        """These, and others."""
        return Changing(
            self.unknown | unknown, {n: self.put.get(n, frozenset()) | puts for n, puts in {**self.put, **put}.items()}
        )


@dataclass(frozen=True)
class Facts:
    """The facts about every name of a function.

    Once they are ``settled``, that of each expression is found once.
    """

    of: Mapping[str, Fact]
    globals: Mapping[str, Fact]
    final: Evaluator | None = field(default=None, init=False, compare=False, repr=False)

    def settled(self) -> Facts:
        """These facts, which nobody changes any more."""
        object.__setattr__(self, "final", Evaluator(self.of, self.globals))
        return self

    def get(self, expr: Expr) -> Fact:
        """The fact about an expression whose names are all known."""
        return evaluate(expr, self.of, self.globals) if self.final is None else self.final(expr)


def infer(
    function: Function,
    params: Mapping[str, Fact],
    global_fact: Callable[[str], Fact],
    user_call: Callable[[Call, Callable[[Expr], Fact]], Fact] | None = None,
    changing: Changing | None = None,
) -> Facts:
    """Find the facts about every name of ``function``, given those of its parameters."""
    inference = _Inference(global_fact, user_call, changing or Changing())
    for param in function.params:
        inference.of[param.name] = inference.given(params.get(param.public, OPEN), param.name)
    inference.shown = _shown(function)
    inference.block(function.body)
    if function.reverse is not None:
        inference.block(function.reverse)
    for name in {n for stmt in walk(function.body) for n in reads(stmt)} - inference.of.keys():
        # Nothing assigns it: Python says so where it is read, if it ever is.
        inference.of[name] = OPEN
    return Facts(inference.of, inference.globals).settled()


def _shown(function: Function) -> frozenset[str]:
    """The variables that hold nothing but lists and dicts that displays make, or that it is given and fills."""
    shown, others, given = set[str](), set[str](), {base(p.name) for p in function.params}
    for stmt in walk(function.body):
        for number, target in enumerate(writes(stmt)):
            match stmt:
                case Assign(value=Build()):
                    shown.add(base(target))
                case Assign(value=Call(op=Op(kind="change"))):
                    shown.update(given & {base(target)})
                case Copy(sources=sources) if isinstance(moved := sources[number], Var) and base(moved.name) == base(
                    target
                ):
                    pass
                case _:
                    others.add(base(target))
    return frozenset(shown - others)


class _Globals(dict[str, Fact]):
    def __init__(self, look: Callable[[str], Fact]) -> None:
        self.look = look

    def __missing__(self, text: str) -> Fact:
        self[text] = fact = self.look(text)
        return fact


class _Inference:
    def __init__(
        self,
        global_fact: Callable[[str], Fact],
        user_call: Callable[[Call, Callable[[Expr], Fact]], Fact] | None,
        changing: Changing,
    ) -> None:
        self.of: dict[str, Fact] = {}
        self.globals = _Globals(global_fact)
        self.user_call = user_call
        self.changing = changing
        self.born: list[set[Atom]] = []
        self.joins: dict[str, Fact] = {}
        #: The variables that hold nothing but lists and dicts that displays make.
        self.shown: frozenset[str] = frozenset()
        #: The names of what a function that calls itself makes of its own result, of which nothing is known yet.
        self.pending: set[str] = set()

    def atom(self, name: str, below: Shape = frozenset()) -> Atom:
        atom = Atom(name, below)
        for level in self.born:
            level.add(atom)
        return atom

    def given(self, fact: Fact, name: str) -> Fact:
        """The fact about a parameter."""
        return self.changing.known_of(fact, name)

    def fresh(self, fact: Fact, name: str) -> Fact:
        """``fact`` with an atom of its own where its shape is not known."""
        if fact.shape is None and fact.kind in ("array", "numeric", "open"):
            return fact.but(shape=frozenset({self.atom(name)}))
        if fact.kind == "scalar" and fact.real and (fact.size is None) is not _is_floating(fact):
            # No number with a fraction is the size of an axis.
            return fact.but(size=None if _is_floating(fact) else named(name))
        return self.changing.known_of(fact, name)

    def value(self, expr: Expr, name: str) -> Fact:
        if self.pending and not self.pending.isdisjoint(names_in(expr)):
            return UNSET_FACT
        if isinstance(expr, Call) and expr.op.kind == "index" and self.is_empty(expr.args[0]):
            # Only a later iteration puts something there.
            return UNSET_FACT
        if isinstance(expr, Call) and expr.op.kind in ("inplace", "index") and self.is_none(expr.args[0]):
            # It raises, or only a later iteration has something to change.
            return UNSET_FACT
        return self.fresh(evaluate(expr, self.of, self.globals, self.user_call, self.atom), name)

    def is_none(self, expr: Expr) -> bool:
        """Whether a name has the value None, as far as is known by now."""
        return isinstance(expr, Var) and self.of.get(expr.name, OPEN).kind == "none"

    def is_empty(self, whole: Expr) -> bool:
        """Whether a list or dict that the function makes has no items, as far as is known by now."""
        if not isinstance(whole, Var) or base(whole.name) not in self.shown:
            return False
        known = self.of.get(whole.name, OPEN)
        return known.kind in ("list", "dict") and known.items == ()

    def moved(self, source: Expr, name: str) -> Fact:
        """The fact about what is moved into a join name: of what only a later iteration sets nothing is known yet."""
        if isinstance(source, Var) and source.name not in self.of:
            return UNSET_FACT
        return self.value(source, name)

    def block(self, block: Block) -> None:
        for stmt in block:
            match stmt:
                case Assign(target=target, value=value):
                    self.put(target, self.value(value, target), value)
                case Copy(targets=targets, sources=sources):
                    incoming = [self.moved(s, t) for t, s in zip(targets, sources, strict=True)]
                    for target, source, fact in zip(targets, sources, incoming, strict=True):
                        self.move(target, fact)
                        self.put(target, self.of[target], source)
                case Unpack(targets=targets, value=value, star=star):
                    whole = self.value(value, targets[0])
                    for position, target in enumerate(targets):
                        item = OPEN if star is not None else item_of(whole, position)
                        if item == OPEN:
                            item = OPEN.but(precision=whole.precision)
                        self.put(target, whole if whole == UNSET_FACT else self.fresh(item, target), value)
                case Pop(targets=targets):
                    for target in targets:
                        self.of[target] = self.fresh(self.of.get(target, OPEN), target)
                case If(then=then, orelse=orelse):
                    self.block(then)
                    self.block(orelse)
                case For() | While():
                    self.loop(stmt)
                case Enter(bound=str(target)):
                    self.put(target, self.fresh(OPEN, target), Const(None))
                case Exit(handler=handler):
                    self.block(handler)
                case Evaluate(value=Call(op=Op(function=check), args=(Var(name=name),))) if check is require_ndarray:
                    self.of[name] = self.fresh(_as_array(self.of.get(name, OPEN)), name)
                case Evaluate(value=Call(op=Op(function=check), args=(Var(name=name),))) if check is require_number:
                    old = self.of.get(name, OPEN)
                    self.of[name] = self.fresh(scalar(old.numeric and old.real).but(precision=old.precision), name)
                case _:
                    pass

    def put(self, target: str, fact: Fact, source: Expr) -> None:
        """Note the fact about a name, and whether there is one."""
        self.of[target] = fact
        if fact == UNSET_FACT and source != UNSET:
            self.pending.add(target)
        else:
            self.pending.discard(target)

    def move(self, target: str, fact: Fact) -> None:
        old = self.of.get(target)
        self.of[target] = fact if old is None else self.meet(old, fact, target)

    def meet(self, a: Fact, b: Fact, name: str) -> Fact:
        if a == b or b == UNSET_FACT:
            return a
        if a == UNSET_FACT:
            return b
        if a.dims != b.dims and (dims := agreed(a.dims, b.dims)) is not None:
            a, b = resized(a, dims), resized(b, dims)
        shape = a.shape if a.shape == b.shape else None
        ndim = a.ndim if a.ndim == b.ndim else None
        dims = a.dims if a.dims == b.dims else None
        if a.kind == b.kind:
            kind: Kind = a.kind
        else:
            kind = "numeric" if a.numeric and b.numeric else "open"
        items = None
        if a.kind == b.kind and a.items is not None and b.items is not None and len(a.items) == len(b.items):
            both = list(zip(a.items, b.items, strict=True))
            if all(k == j for (k, _), (j, _) in both):
                items = tuple((k, self.meet(f, g, f"{name}[{k!r}]")) for (k, f), (_, g) in both)
        each = None
        if items is None and a.kind == b.kind:
            known = [f for f in map(some_item, (a, b)) if f is not None]
            each = either(known) if len(known) == 2 or () in (a.items, b.items) else None
        truth, precision = a.boolean if a.boolean == b.boolean else True, common(a.precision, b.precision)
        real, owners = a.real and b.real, a.owners | b.owners
        met = Fact(kind, shape, ndim, real, items, dims, each=each, boolean=truth, precision=precision, owners=owners)
        value = a.value if type(a.value) is type(b.value) and a.value == b.value else None
        met = met.but(boxed=a.boxed or b.boxed, value=value, reach=a.reach | b.reach, given=given_of_both(a, b))
        plain = a.plain if a.plain is b.plain else None
        met = met.but(text=a.text and b.text, plain=plain, keys=either_key(a, b) if items is None else None)
        return self.fresh(met, f"{name}?")

    def loop(self, stmt: For | While) -> None:
        """Run the body until the facts of its join names hold at its head."""
        heads = [t for s in stmt.body for t in _joined(s)]
        inside = {n for s in walk((stmt,)) for n in writes(s)}
        # What has no value before the loop has one that the loop gives it wherever it is read.
        unset = [h for h in heads if h not in self.of]
        for head in unset:
            self.put(head, UNSET_FACT, Const(None))
        for _ in range(6):
            self.born.append(set())
            if isinstance(stmt, For):
                self.targets(stmt)
            before = {h: self.of.get(h) for h in heads}
            self.block(stmt.body)
            born = self.born.pop()
            stable = True
            for head in heads:
                fact = self.of.get(head)
                if fact is not None and (_changing(fact, inside) or any(_touches(a, born) for a in fact.shape or ())):
                    fact = self.fresh(_unsized(fact), f"{head}*")
                    self.of[head] = fact
                stable = stable and fact == before[head]
            settled = stable and self.pending <= inside
            never = [h for h in unset if settled and self.of[h] == UNSET_FACT]
            for head in never:
                # Nothing but itself gives it a value: whatever reads it raises.
                self.put(head, self.fresh(OPEN, f"{head}*"), Const(None))
                unset.remove(head)
            if stable and not never:
                return
        for head in heads:
            self.of[head] = self.fresh(OPEN, f"{head}*")
        self.block(stmt.body)

    def targets(self, stmt: For) -> None:
        for target, iterable in zip(stmt.targets, stmt.iters, strict=True):
            runs = iterable.args[0] if isinstance(iterable, Call) and iterable.op.function is reversed else iterable
            if isinstance(runs, Call) and runs.op.function is range:
                self.of[target] = scalar(True, self.in_range(target, runs))
                continue
            whole = self.value(iterable, target)
            if whole == UNSET_FACT:
                self.put(target, whole, iterable)
                continue
            if whole.kind == "dict":
                # A loop over a dict runs through its keys.
                self.put(target, self.fresh(key_of(whole) or OPEN, target), iterable)
                continue
            if whole.items is not None and whole.kind in ("tuple", "list"):
                facts = [f for _, f in whole.items]
                fact = facts[0] if facts else OPEN
                for other in facts[1:]:
                    fact = self.meet(fact, other, target)
                fact = _anonymous(fact)
            elif whole.each is not None:
                fact = whole.each
            elif whole.kind == "array":
                fact = row_of(whole)
            else:
                fact = OPEN.but(precision=whole.precision)
            self.put(target, self.fresh(fact, target), iterable)
        if stmt.counter is not None:
            self.of[stmt.counter] = scalar(True, stmt.counter)

    def in_range(self, target: str, runs: Call) -> Dim:
        """The size that a counter is, with the bounds that a range with a known direction gives it."""
        sizes = [self.value(arg, target).size for arg in runs.args]
        step = number_of(sizes[2]) if len(sizes) == 3 else 1
        start, stop = (literal_size(0), sizes[0]) if len(sizes) == 1 else sizes[:2]
        if not step or runs.kwargs:
            return named(target)
        if step > 0:
            return ranged(target, start, computed("-", stop, 1))
        return ranged(target, computed("+", stop, 1), start)


def _as_array(fact: Fact) -> Fact:
    """A fact about what surely is an array of NumPy's own class."""
    if fact.numeric:
        return fact.but(kind="array", owners=frozenset(), boxed=False)
    return Fact("array", precision=fact.precision)


def _emptied(fact: Fact) -> Fact:
    """A fact about a container, or what holds one, without what it holds."""
    if fact.items is None or fact.kind != "tuple":
        if fact.kind not in ("tuple", "list", "dict", "record", "dataclass"):
            return fact
        classes = reach_of(fact.but(owners=frozenset()))
        return fact.but(items=None, each=leading_to(classes) if classes else None, keys=None)
    return fact.but(items=tuple((k, _emptied(f)) for k, f in fact.items))


def _anonymous(fact: Fact) -> Fact:
    """A fact about some item: the shape of one item is not that of another."""
    shape = fact.shape if fact.shape == SCALAR_SHAPE else None
    items = None if fact.items is None else tuple((k, _anonymous(f)) for k, f in fact.items)
    return fact.but(shape=shape, items=items) if fact.dims is None else fact.but(items=items)


def _changing(fact: Fact, names: set[str]) -> bool:
    """Whether a size is an expression of a name that has another value in each iteration."""
    sizes = [*(fact.dims or ()), *(() if fact.size is None else (fact.size,))]
    if any(not names.isdisjoint(_NAME.findall(str(d))) for d in sizes):
        return True
    return any(_changing(item, names) for _, item in fact.items or ())


def _unsized(fact: Fact) -> Fact:
    """A fact without shapes and sizes that may be others in each iteration."""
    if fact.kind == "scalar":
        return timeless(fact)
    items = None if fact.items is None else tuple([(k, _unsized(f)) for k, f in fact.items])
    return fact.but(shape=None, dims=None, size=None, items=items)


def _touches(atom: Atom, born: set[Atom]) -> bool:
    return atom in born or any(_touches(a, born) for a in atom.below)


def _joined(stmt: Any) -> tuple[str, ...]:
    if isinstance(stmt, Copy):
        return stmt.targets
    if isinstance(stmt, If):
        return tuple(t for s in (*stmt.then, *stmt.orelse) for t in _joined(s))
    return ()


def _is_floating(fact: Fact) -> bool:
    """Whether a value surely is of a floating-point or complex type."""
    return fact.precision in ("float", "single", "double")
