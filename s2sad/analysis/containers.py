"""Which names hold a list or dict that is changed, and whether anybody else may hold it as well.

A change of a container makes a new version of its variable (:mod:`s2sad.frontend.changes`), and runs in place.  These
are the same as long as only versions of that one variable hold the container, and none is read once it is changed:

    h = []                    g = h                  (g is another name)
    h.append(x)               h.append(x)
    s = np.sum(np.array(h))   s = g[0]
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Set

import gast

from s2sad import ops
from s2sad.analysis.infer import Facts
from s2sad.analysis.sharing import sharing
from s2sad.analysis.summaries import CallEffects, user_calls
from s2sad.analysis.versions import changes, is_change, versions
from s2sad.ir.needed import Liveness
from s2sad.ir.nodes import (
    UNSET,
    Assign,
    Block,
    Build,
    Call,
    Const,
    Copy,
    Expr,
    For,
    Function,
    If,
    Op,
    Opaque,
    Push,
    Stmt,
    Store,
    Unpack,
    Var,
    While,
)
from s2sad.ir.traverse import base, children, names_in, reads, walk, writes
from s2sad.ir.types import some_item
from s2sad.runtime import copy_arrays, copy_reachable, own, stop_gradient

#: A change that may not run in place: the operation, and why.
Fault = tuple[Call, str]

_KINDS = ("list", "dict")
_INDEX = Op("index", "[]")


def faults(function: Function, facts: Facts, calls: Mapping[Call, CallEffects], ends: str) -> Iterator[Fault]:
    """The changes of containers that others may hold, or of what may be none.

    ``ends`` is the variable of the result: nothing runs once it is set.
    """
    groups = versions(function)
    if not groups:
        return
    holders = _Holders(function, groups, facts, calls, ends)
    params = {p.name for p in function.params}
    reported: set[frozenset[str]] = set()
    stale = dict(_stale(function.body, groups, set(), {p.name for p in function.params}))
    held = holders.changed_later(function.body)
    for target, call in changes(function.body):
        group = groups[target]
        if group in reported:
            continue
        (whole,) = names_in(call.args[0]) or ("",)
        why = None
        if group & params:
            why = f"{base(whole)} is the caller's, and this changes it"
        elif call.op.name.startswith("."):
            known = facts.get(call.args[0])
            if known.kind != "dataclass" or all(name != call.op.name[1:] for name, _ in known.items or ()):
                why = "this changes an attribute of what is not surely a dataclass with such a field"
        elif facts.get(call.args[0]).kind not in _KINDS or facts.of[target].kind not in _KINDS:
            why = "this changes an object that is not surely a list or dict"
        if why is not None:
            pass
        elif call.op.name == "[]" and facts.get(call.args[0]).kind == "list" and not _is_position(call.args[1], facts):
            why = "this changes a list at a place that is not surely an integer"
        elif any(not holders.is_fresh(value, group) for n in group for value in holders.definitions.get(n, ())):
            why = f"another name may hold the container {base(whole)}, which this changes"
        elif group & held.keys():
            why = held[min(group & held.keys())].format(base(whole))
        elif group & stale.keys():
            why = f"{base(whole)} is read as it was before this changes it"
        if why is not None:
            reported.add(group)
            yield call, why


def taken(function: Function, facts: Facts, calls: Mapping[Call, CallEffects]) -> set[str]:
    """The names of lists and dicts that are changed, and may be such as others hold: the items of an argument."""
    groups = versions(function)
    if not groups:
        return set()
    holders = _Holders(function, groups, facts, calls, "")
    items = {name for stmt in walk(function.body) if isinstance(stmt, For) for name in stmt.targets}
    found: set[str] = set()
    for group in set(groups.values()):
        values = [value for name in group for value in holders.definitions.get(name, ())]
        if group & items or not all(holders.is_fresh(value, group) for value in values):
            found |= group
    return found


def misplaced(function: Function, facts: Facts) -> Iterator[Fault]:
    """The assignments of a part, as that of ``z.imag``, of what is not surely an array: they write into it."""
    for stmt in walk(function.body):
        part = stmt.value if isinstance(stmt, Assign) else None
        if isinstance(part, Call) and isinstance(getattr(part.node, "ctx", None), gast.Store):
            if (
                part.op.kind == "attribute"
                and ops.is_assigned(part.op.name)
                and facts.get(part.args[0]).kind not in ("array", "numeric")
            ):
                yield part, f"{part.op.name} of what is not surely an array is assigned"


def _of_first(spec: ops.OpSpec) -> bool:
    """Whether the result of an operation holds nothing of its operands but what is in the first one."""
    return isinstance(spec, ops.Rule) and spec.wrt == spec.parameters[:1]


def _is_position(index: Expr, facts: Facts) -> bool:
    return facts.get(index).kind == "scalar"


def _definitions(function: Function) -> Iterator[tuple[str, list[Expr]]]:
    """The expressions that make the object of each name, as far as they are known."""
    found: dict[str, list[Expr]] = {}
    for stmt in walk(function.body):
        match stmt:
            case Assign(target=target, value=value):
                found.setdefault(target, []).append(value)
            case Copy(targets=targets, sources=sources):
                for target, source in zip(targets, sources, strict=True):
                    found.setdefault(target, []).append(source)
            case Unpack(targets=targets, value=value, star=star):
                for i, target in enumerate(targets):
                    # A starred target gets a new list; of the others two may be one object.
                    item: Expr = Build("list", ()) if i == star else Var("")
                    if star is None and is_user_call(value):
                        item = Call(_INDEX, (value, Const(i)))
                    found.setdefault(target, []).append(item)
            case For(targets=targets):
                for target in targets:
                    # An item of what the loop runs through, which holds it as well.
                    found.setdefault(target, []).append(Var(""))
            case _:
                pass
    yield from found.items()


class _Holders:
    """Finds who else may hold a container that is changed."""

    def __init__(
        self,
        function: Function,
        groups: Mapping[str, frozenset[str]],
        facts: Facts,
        calls: Mapping[Call, CallEffects],
        ends: str,
    ) -> None:
        self.groups = groups
        self.definitions = dict(_definitions(function))
        self.uses = Counter(n for stmt in walk(function.body) for n in reads(stmt))
        #: The names of containers that other variables get where nothing needs them under their own names any more.
        self.moved = self._moved(function)
        self.facts = facts
        self.calls = calls
        self.ends = ends

    def is_fresh(self, value: Expr, group: frozenset[str]) -> bool:
        """Whether an expression makes a new container, or is another version of the same variable."""
        match value:
            case Var(name=name):
                if name.startswith("~t.") and self.uses[name] == 1:
                    return all(self.is_fresh(v, group) for v in self.definitions.get(name, ()))
                return name in group or (name in self.moved and self.made_as(name, True) is not None)
            case Build() | Const() | Opaque(node=ast.ListComp()):
                return True
            case Call(op=op, args=args):
                if op.kind == "change":
                    return True
                if op.kind == "operator" or op.function in (own, copy_arrays, copy_reachable):
                    return True
                if op.kind == "method" and op.name == "copy":
                    return True
                if (spec := ops.spec_of(op.function)) is not None:
                    # A list is no view of an array, although what it holds may be.
                    of_array = bool(args) and self.facts.get(args[0]).kind == "array"
                    of_array &= spec.result == "view" or (spec.result == "unknown" and _of_first(spec))
                    is_own = spec.result == "fresh" or sharing(value, self.facts.get) == "fresh"
                    kind = self.facts.get(value).kind
                    new = spec.makes in (list, dict) or (kind == "list" and list in spec.gives)
                    return spec.zeros or is_own or new or of_array
                if op.kind == "index":
                    made = self.made_item(args[0], args[1])
                    return made or (self.facts.get(value).kind == "list" and _is_slice(args[1]))
                if op.kind == "user":
                    known = self.calls.get(value)
                    if known is not None and 0 in known.makes:
                        return True
                    # A list is no array, although it may hold one.
                    given = [] if known is None else [known.bound[p] for p in known.shared]
                    arrays = all(self.facts.get(e).kind in ("array", "numeric", "scalar") for e in given)
                    return known is not None and arrays and not known.module
        return False

    def made_item(self, whole: Expr, place: Expr) -> bool:
        """Whether an item of what a call gives, which is unpacked at once, is a container that it makes."""
        known = self.calls.get(whole) if isinstance(whole, Call) and is_user_call(whole) else None
        return known is not None and isinstance(place, Const) and place.value in known.makes

    def _moved(self, function: Function) -> frozenset[str]:
        moved, kept = set[str](), set[str]()

        def defined(target: str, live: Set[str], stmt: Stmt) -> None:
            sources = [stmt.value] if isinstance(stmt, Assign) else stmt.sources if isinstance(stmt, Copy) else []
            for source in sources:
                if isinstance(source, Var) and source.name not in self.groups.get(target, ()):
                    names = self.groups.get(source.name, {source.name})
                    (moved if isinstance(stmt, Assign) and live.isdisjoint(names) else kept).add(source.name)

        Liveness(defined).block(function.body, set(names_in(function.result)))
        return frozenset(moved - kept)

    def made_as(self, name: str, moves: bool = False) -> frozenset[str] | None:
        """The names of a container on the way from where it is made to ``name``; None if it may be made elsewhere.

        With ``moves`` it is one variable's at a time: each gets it where the one before is not needed any more.
        """
        found: set[str] = set()
        pending = [name]
        while pending:
            name = pending.pop()
            if name in found:
                continue
            found.add(name)
            for value in self.definitions.get(name, ()):
                if isinstance(value, Call) and value.op.kind == "change":
                    value = value.args[0]
                if isinstance(value, Var):
                    is_version = base(value.name) == base(name) and not name.startswith("~")
                    if moves and not is_version and value.name not in self.moved:
                        return None
                    pending.append(value.name)
                elif value != UNSET and not self.is_fresh(value, frozenset()):
                    return None
            if name not in self.definitions:
                return None
        return frozenset(found)

    def gives_no_other(self, stmt: Stmt, known: CallEffects) -> bool:
        """Whether a statement names what a call gives, and that is no container that it is given, nor holds one."""
        match stmt:
            case Assign(target=target, value=value) if is_user_call(value):
                parts = [(0, self.facts.of[target])]
            case Unpack(targets=targets, value=value, star=None) if is_user_call(value):
                parts = [(i, self.facts.of[target]) for i, target in enumerate(targets)]
            case _:
                return False
        plain = ("scalar", "array", "numeric", "none")
        for place, part in parts:
            item = some_item(part) if part.kind in _KINDS and place in known.makes else part
            if item is None or item.kind not in plain:
                return False
        return True

    def handed_on(self, stmt: Stmt) -> Iterator[tuple[str, str]]:
        """The names whose containers somebody else holds once a statement has run, and why not."""
        for call in user_calls(stmt):
            known = self.calls.get(call)
            if known is not None and not known.written and self.gives_no_other(stmt, known):
                continue
            for param, operand in known.bound.items() if known is not None else enumerate(call.args):
                if known is None or param in known.written or param in known.shared:
                    for name in set(names_in(operand)) & self.groups.keys():
                        yield name, f"{{}} is changed here, and {call.op.name}(...) may change or return it"
        match stmt:
            case Assign(target=target, value=value):
                if base(target) != self.ends or not isinstance(value, (Var, Build)):
                    yield from self.aliased(value, self.groups.get(target, frozenset()))
            case Copy(targets=targets, sources=sources):
                for target, source in zip(targets, sources, strict=True):
                    if base(target) != self.ends:
                        yield from self.aliased(source, self.groups.get(target, frozenset()))
            case Store(value=value):
                yield from self.aliased(value, frozenset())
            case _:
                pass

    def changed_later(self, block: Block) -> dict[str, str]:
        """The names of containers that are changed while somebody else holds them, and who that is."""
        found: dict[str, str] = {}
        self._follow(block, {}, found)
        return found

    def _follow(self, block: Block, held: dict[str, str], found: dict[str, str]) -> None:
        """Go through a block; ``held`` are the names of containers that somebody else holds by now."""
        for stmt in block:
            if isinstance(stmt, If):
                other = dict(held)
                self._follow(stmt.then, held, found)
                self._follow(stmt.orelse, other, found)
                held.update(other)
                continue
            if isinstance(stmt, (For, While)):
                iters = stmt.iters if isinstance(stmt, For) else ()
                run_over = {n for e in iters for n in names_in(e)} & self.groups.keys()
                why = "{} is changed here, while a loop runs over it"
                while True:
                    before = set(held)
                    inner = {**held, **dict.fromkeys(run_over, why)}
                    self._follow(stmt.body, inner, found)
                    held.update({n: w for n, w in inner.items() if w != why})
                    if set(held) == before:
                        break
                continue
            moved: dict[str, str] = {}
            match stmt:
                case Assign(target=target, value=Call(op=op, args=(Var(name=name), *_))) if op.kind == "change":
                    if name in held:
                        moved[target] = found[name] = held[name]
                case Assign(target=target, value=Var(name=name)) if name in held:
                    moved[target] = held[name]
                case Copy(targets=targets, sources=sources):
                    for target, source in zip(targets, sources, strict=True):
                        if isinstance(source, Var) and source.name in held:
                            moved[target] = held[source.name]
                case _:
                    pass
            held.update(self.handed_on(stmt))
            for name in writes(stmt):
                held.pop(name, None)
            held.update(moved)

    def is_item(self, value: Call) -> bool:
        """Whether an attribute is a field of a dataclass or named tuple."""
        return any(name == value.op.name for name, _ in self.facts.get(value.args[0]).items or ())

    def aliased(self, value: Expr, own_group: frozenset[str]) -> Iterator[tuple[str, str]]:
        """The names whose containers ``value`` is or holds."""
        why = "{} is changed here, and another name or container may hold it"
        match value:
            case Var(name=name) if name in self.groups and name not in own_group:
                yield name, why
            case Build(items=items):
                for item in items:
                    yield from self.aliased(item, frozenset())
            case Opaque(names=names):
                yield from ((n, why) for _, n in names if n in self.groups)
            case Call(op=op, args=args):
                if op.kind == "change":
                    yield from (pair for a in args[1:] for pair in self.aliased(a, frozenset()))
                elif (
                    (op.kind == "attribute" and self.is_item(value))
                    or op.kind in ("user", "met", "compare")
                    or (op.kind == "index" and args[:1] and isinstance(args[0], Var))
                ):
                    return
                elif op.kind in ("function", "method", "runtime", "attribute", "operator", "inplace"):
                    # NumPy's functions and operators make arrays, or new lists, of lists.
                    known = ops.find(op.function) is not None or ops.is_constant(op.function)
                    spec = ops.spec_of(op.function)
                    # What runs through a container does not hold it, though maybe its items.
                    plain = op.kind == "operator" or op.name == "copy" or (spec is not None and bool(spec.consumes))
                    if op.function is stop_gradient or not (known or plain):
                        yield from ((n, why) for n in names_in(value) if n in self.groups)
                else:
                    for child in children(value):
                        yield from self.aliased(child, frozenset())


def is_user_call(value: Expr) -> bool:
    """Whether an expression is a call of a function that has source."""
    return isinstance(value, Call) and value.op.kind == "user"


def made(function: Function, facts: Facts, calls: Mapping[Call, CallEffects]) -> frozenset[int]:
    """The places of lists and dicts in a result that the function makes, and that nothing else holds; 0 of a single."""
    holders = _Holders(function, {}, facts, calls, "")
    result = function.result
    while isinstance(result, Var) and len(values := holders.definitions.get(result.name, [])) == 1:
        if not isinstance(values[0], (Var, Build)) or (isinstance(values[0], Build) and values[0].kind != "tuple"):
            break
        result = values[0]
    parts = result.items if isinstance(result, Build) and result.kind == "tuple" else (result,)
    found: set[int] = set()
    for place, part in enumerate(parts):
        if not isinstance(part, Var) or facts.get(part).kind not in _KINDS:
            continue
        names = holders.made_as(part.name)
        others = {n for i, other in enumerate(parts) if i != place for n in names_in(other)}
        if names is None or not names.isdisjoint(others):
            continue
        own = _Holders(function, dict.fromkeys(names, names), facts, calls, "")
        if not any(True for stmt in walk(function.body) for _ in own.handed_on(stmt)):
            found.add(place)
    return frozenset(found)


class _Kept(_Holders):
    """Finds the containers that are changed although a tape has kept them."""

    def handed_on(self, stmt: Stmt) -> Iterator[tuple[str, str]]:
        """The names whose containers a tape or another name holds once a statement has run."""
        if isinstance(stmt, Assign) and isinstance(stmt.value, Var) and stmt.value.name in self.groups:
            if stmt.target not in self.groups[stmt.value.name]:
                yield stmt.value.name, ""
        if isinstance(stmt, Push):
            yield from ((n, "") for e in stmt.values for n in names_in(e) if n in self.groups)


def _is_slice(index: Expr) -> bool:
    return not isinstance(index, (Const, Var, Build, Call, Opaque))


def unsafe(function: Function) -> Iterator[tuple[str, Stmt]]:
    """The names, in a function with its adjoint, of containers that are read or kept as they were before a change.

    There are none, if whoever wrote the adjoint has taken copies where they are needed.
    """
    groups = versions(function)
    if not groups:
        return
    kept = _Kept(function, groups, Facts({}, {}), {}, "").changed_later(function.body)
    yield from ((name, stmt) for stmt in walk(function.body) for name in writes(stmt) if name in kept)
    gone: set[str] = set()
    there = {p.name for p in function.params}
    yield from _stale(function.body, groups, gone, there)
    yield from _stale(function.reverse or (), groups, gone, there)


def _stale(
    block: Block, groups: Mapping[str, frozenset[str]], gone: set[str], there: set[str]
) -> Iterator[tuple[str, Stmt]]:
    """The names that are read although what they hold has been changed since.

    ``gone`` are those that were before, ``there`` all that may have a value by now.
    """
    for stmt in block:
        for name in reads(stmt):
            if name in gone:
                yield name, stmt
        if isinstance(stmt, If):
            other = set(gone)
            yield from _stale(stmt.then, groups, gone, there)
            yield from _stale(stmt.orelse, groups, other, there)
            gone |= other
        elif isinstance(stmt, (For, While)):
            while True:
                before = set(gone), set(there)
                there.update(writes(stmt))
                yield from _stale(stmt.body, groups, gone, there)
                gone |= before[0]
                if (gone, there) == before:
                    break
        else:
            if isinstance(stmt, Assign) and is_change(stmt.value):
                gone |= groups[stmt.target] & there
            # A name holds what has just moved into it.
            gone.difference_update(writes(stmt))
            there.update(writes(stmt))
