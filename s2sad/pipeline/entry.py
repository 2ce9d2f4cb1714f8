"""Where arguments come in: copies of what the function writes, and checks that what is written is not shared.

    f(x, k, s)                            f_grad_x(x, k, s)
        k[0] = 1.0                            unshared((k, s), x)
        s.count += 1                          k = np.copy(k)
                                              s = copy_reachable(s)

The analyses take arguments to be distinct objects.  Those that turned out to share are copied together, and are one
group to the analyses from then on.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from s2sad.analysis.effects import Effects
from s2sad.analysis.infer import Facts
from s2sad.frontend.source import Source
from s2sad.ir.nodes import (
    Assign,
    Block,
    Build,
    Call,
    Const,
    Evaluate,
    Expr,
    Function,
    Global,
    Op,
    Origin,
    Param,
    Stmt,
    Store,
    Unpack,
    Var,
)
from s2sad.ir.traverse import base, map_stmt, rename, walk
from s2sad.ir.types import Fact
from s2sad.runtime import alone, apart, copy_arrays, copy_reachable, copy_together, in_one_place, own, sole, unshared
from s2sad.runtime.copies import hold_mutable
from s2sad.runtime.parts import ATOMS
from s2sad.runtime.reading import can_change, mentioned, read_of, variables_of
from s2sad.transform.found import Key
from s2sad.transform.relied import Recorded

_APART = Op("runtime", "apart", apart, pure=False)
_SOLE = Op("runtime", "sole", sole, pure=False)
_ALONE = Op("runtime", "alone", alone, pure=False)
_IN_ONE_PLACE = Op("runtime", "in_one_place", in_one_place, pure=False)
_UNSHARED = Op("runtime", "unshared", unshared, pure=False)
#: A copy with the layout of the original, unless that is spaced, since NumPy adds up in the order of memory.
COPY = Op("runtime", "np.copy", np.copy)
OWN = Op("runtime", "own", own)
COPY_ARRAYS = Op("runtime", "copy_arrays", copy_arrays)
COPY_REACHABLE = Op("runtime", "copy_reachable", copy_reachable)
COPY_TOGETHER = Op("runtime", "copy_together", copy_together)
COPIES = (COPY, OWN, COPY_ARRAYS, COPY_REACHABLE)

#: Sets of parameters whose arguments share what the function writes.
Together = tuple[frozenset[str], ...]


def copied_together(function: Function, together: Together, facts: Mapping[str, Fact], source: Source) -> Function:
    """``function`` working on copies of arguments that share objects, made in one go."""
    for names in together:
        params = [p for p in function.params if p.public in names]
        rest = [p for p in function.params if p not in params and not _is_number(facts.get(p.public))]
        changed = Build("tuple", tuple(Var(p.name) for p in params))
        others = (*(Var(p.name) for p in rest), *_read_elsewhere(source))
        test = Call(_UNSHARED, (changed, *others), (("together", Const(True)),))
        copies = {p.name: f"{base(p.name)}.0" for p in params}
        made = Unpack(tuple(copies.values()), Call(COPY_TOGETHER, changed.items), None, _start(source))
        function = _renamed(function, {name: Var(copy) for name, copy in copies.items()}, [_check(test, source), made])
    return function


def are_together(function: Function, names: Collection[str]) -> bool:
    """Whether one of the ``names`` may be a copy that was made together with others."""
    for stmt in function.body:
        if isinstance(stmt, Unpack) and isinstance(stmt.value, Call) and stmt.value.op == COPY_TOGETHER:
            if not set(stmt.targets).isdisjoint(names):
                return True
    return False


def with_objects_alone(
    function: Function, parted: Mapping[str, Sequence[str]], facts: Mapping[str, Fact], source: Source
) -> Function:
    """``function`` after checks that objects which are taken apart are reached in no other way.

    Args:
        function: The function.
        parted: The parameters for such objects, each with the names of the attributes of which a copy is made.
        facts: The types of the arguments.
        source: The source of the function.
    """
    start: list[Stmt] = []
    for param in function.params:
        if param.public not in parted:
            continue
        rest = [p for p in function.params if p is not param and _may_lead(facts.get(p.public))]
        is_closed = all(kind.cls in ATOMS or kind.dtype for _, kind in facts[param.public].attributes or ())
        if rest or not is_closed:
            start.append(_check(Call(_ALONE, (Var(param.name), *(Var(p.name) for p in rest))), source))
        types_of = dict(facts[param.public].attributes or ())
        copied = {name: Call(Op("attribute", name), (Var(param.name),)) for name in parted[param.public]}
        arrays = [read for name, read in copied.items() if types_of[name].dtype]
        others = [read for name, read in copied.items() if not types_of[name].dtype]
        if arrays:
            roots = [Var(p.name) for p in function.params if p is not param and not _is_number(facts.get(p.public))]
            made = Build("tuple", tuple(arrays))
            given = (made, Var(param.name), *roots, *_read_elsewhere(source))
            check = Call(_IN_ONE_PLACE, given, (("copied", Const(True)),) if len(arrays) > 1 else ())
            start.append(_check(check, source))
        if others:
            arguments = [Var(param.name), *(Var(p.name) for p in rest), *_read_elsewhere(source)]
            start.append(_check(Call(_SOLE, (Build("tuple", tuple(others)), *arguments)), source))
    return replace(function, body=(*start, *function.body))


def with_records_alone(function: Function, recorded: Collection[str], facts: Facts, source: Source) -> Function:
    """``function`` after a check that nothing which it reads leads to what is recorded in.

    Args:
        function: The function.
        recorded: The variables of the module that have the lists in which it records.
        facts: The types of its variables.
        source: Its source.
    """
    changed = [Global(name) for name in sorted(recorded)]
    # A function among the arguments that is known is read by another name.
    leading = [p for p in function.params if _may_lead(facts.of[p.name]) and facts.of[p.name].function is None]
    params = [Var(p.name) for p in leading]
    others = [*params, *(other for other in _read_elsewhere(source) if other not in changed)]
    if not others and len(changed) == 1:
        return function
    check = _check(Call(_UNSHARED, (Build("tuple", tuple(changed)), *others)), source)
    return replace(function, body=(check, *function.body))


def with_written_alone(
    function: Function, recorded: Collection[Recorded], state: Collection[Recorded], facts: Facts, source: Source
) -> Function:
    """``function`` after a check that what exists and is written is reached in one way.

    Args:
        function: The function.
        recorded: The containers in which it records.
        state: The arrays that it writes.
        facts: The types of its variables.
        source: Its source.
    """
    params = [p for p in function.params if not _is_number(facts.of[p.name])]
    leading = [Var(p.name) for p in params if state or _may_lead(facts.of[p.name])]
    roots = dict.fromkeys([*leading, *_read_elsewhere(source), *(Global(r.root) for r in (*recorded, *state))])
    written = Build("tuple", tuple(map(_at, (*recorded, *state))))
    return replace(function, body=(_check(Call(_IN_ONE_PLACE, (written, *roots)), source), *function.body))


def _at(recorded: Recorded) -> Expr:
    """A container, as it is read."""
    found: Expr = Global(recorded.root)
    for step in recorded.path:
        if isinstance(step, Key):
            found = Call(Op("index", "[]"), (found, Const(step.key)))
        else:
            found = Call(Op("attribute", step), (found,))
    return found


def _may_lead(fact: Fact | None) -> bool:
    """Whether an argument may lead to an object of the user's."""
    return fact is None or not (fact.numeric or fact.kind == "none" or fact.value is not None)


def with_copies(
    function: Function,
    written: list[Param],
    facts: Facts,
    shared: Effects,
    wrt: Collection[str],
    source: Source,
) -> Function:
    """``function`` working on copies of the arguments that it has ``written``, and the check that they are apart."""
    objects = [p for p in written if facts.of[p.name].kind not in ("array", "numeric") and p.public not in wrt]
    whole = bool(objects) and not _writes_arrays_only(function, facts, shared)
    rest = [p for p in function.params if p not in written and facts.of[p.name].kind != "scalar"]
    others = [*(Var(p.name) for p in rest), *_read_elsewhere(source)]
    start: list[Stmt] = []
    if whole:
        start.append(_check(Call(_UNSHARED, (Build("tuple", tuple(Var(p.name) for p in written)), *others)), source))
        written_containers = [p for p in written if p not in objects and facts.of[p.name].kind != "array"]
        start += [_check(Call(_APART, (Var(p.name),)), source) for p in written_containers]
    elif others or len(written) > 1 or _may_be_repeated(facts.of[written[0].name]):
        held = Build("tuple", tuple(Var(p.name) for p in written)) if len(written) > 1 else Var(written[0].name)
        start.append(_check(Call(_APART, (held, *others)), source))
    names: dict[str, Expr] = {}
    for param in written:
        if param.name in shared.private:
            continue
        if param in objects:
            # What a list or dict holds now need not be arrays, where it gets other items.
            op = COPY_REACHABLE if whole or param.name in shared.versions else COPY_ARRAYS
        else:
            op = _copy_of(facts.of[param.name], shared.reshapes)
        names[param.name] = Var(f"{base(param.name)}.0")
        start.append(Assign(f"{base(param.name)}.0", Call(op, (Var(param.name),))))
    return _renamed(function, names, start)


def _may_be_repeated(fact: Fact) -> bool:
    """Whether an argument may be other than an array of which each element has memory of its own."""
    return fact.kind != "array" or fact.layout == "repeated"


def _copy_of(fact: Fact, in_layout: bool = False) -> Op:
    """What copies an argument that is written: what is read-only stays so, and raises where it is written."""
    if _holds_frozen(fact):
        return COPY_REACHABLE
    # A copy by NumPy is of class ndarray.
    return COPY if fact.kind == "array" and not (in_layout or fact.layout or fact.owners) else OWN


def _holds_frozen(fact: Fact) -> bool:
    return fact.frozen or any(_holds_frozen(item) for _, item in fact.items or ())


def with_own_containers(
    function: Function, shared: Effects, facts: Facts, source: Source, checked: int = 0
) -> Function:
    """``function`` working on copies of the lists and dicts among its arguments that it changes.

    Its first ``checked`` statements check the arguments as they come, so the copies are made after them.
    """
    changed = [p for p in function.params if p.name in shared.versions]
    holders = [Var(p.name) for p in function.params if facts.of[p.name].kind not in ("scalar", "array", "none")]
    others = [*holders, *_read_elsewhere(source)]
    start: list[Stmt] = []
    if len(others) > 1:
        held = Build("tuple", tuple(Var(p.name) for p in changed))
        start.append(_check(Call(_SOLE, (held, *others)), source))
    copies = {p.name: f"{base(p.name)}.0" for p in changed}
    start += [Assign(copy, Call(_copy_of(facts.of[name]), (Var(name),))) for name, copy in copies.items()]
    start = [*function.body[:checked], *start]
    function = replace(function, body=function.body[checked:])
    return _renamed(function, {name: Var(copy) for name, copy in copies.items()}, start)


def _renamed(function: Function, names: dict[str, Expr], start: list[Stmt]) -> Function:
    """``function`` that runs ``start`` first, and has other names for some parameters after."""

    def renamed(block: Block) -> Block:
        return tuple([map_stmt(s, lambda e: rename(e, names), renamed) for s in block])

    return replace(function, body=(*start, *renamed(function.body)), result=rename(function.result, names))


def _check(test: Call, source: Source) -> Evaluate:
    return Evaluate(test, _start(source))


def _start(source: Source) -> Origin:
    line = source.node.lineno
    return Origin(line, source.line(line).strip())


def _is_number(fact: Fact | None) -> bool:
    return fact is not None and fact.kind == "scalar"


def _writes_arrays_only(function: Function, facts: Facts, shared: Effects) -> bool:
    """Whether all that a function writes is surely in arrays."""
    for stmt in walk(function.body):
        match stmt:
            case Store(base=whole):
                if facts.get(whole).kind != "array":
                    return False
            case Assign(value=Call(op=Op(kind="change"))):
                continue
            case _:
                if any(facts.of[n].kind not in ("scalar", "array") for n in shared.written_openly(stmt)):
                    return False
    return True


def _read_elsewhere(source: Source) -> list[Expr]:
    """The variables of the module that a function mentions which can change, or lead to what can by functions."""
    function = source.function
    names = mentioned(function.__code__)
    attributes = names.attributes
    found: dict[Expr, None] = {}
    pending = list(variables_of(function))
    if "globals" in names.variables:
        shown = [(name, value) for name, value in function.__globals__.items() if name.isidentifier()]
        pending += [(name, value) for name, value in shown if name[:2] != "__" and hold_mutable([value])]
    modules: list[types.ModuleType] = []
    for text, value in pending:
        if isinstance(value, types.ModuleType):
            if not any(module is value for module in modules):
                modules.append(value)
                pending += [(f"{text}.{name}", inner) for name, inner in read_of(value, attributes)]
        elif value is not function and can_change(value):
            found[Global(text)] = None
    return list(found)
