"""The adjoints of items, fields and unpacking: of what is taken out of arrays and containers."""

from __future__ import annotations

import numpy as np

from s2sad.analysis.indexing import index_parts
from s2sad.differentiate.applied import REMEDY
from s2sad.differentiate.builder import ADD, BROADCAST, INDEX, as_value
from s2sad.differentiate.distinct import is_distinct, is_mask_of
from s2sad.differentiate.reverse_state import State
from s2sad.differentiate.selections import taken
from s2sad.differentiate.stores import CONTAINERS, HOLDERS, field_key, gives_its_own
from s2sad.ir import algebra
from s2sad.ir.nodes import Build, Call, Const, Evaluate, Expr, Op, Slice, Store, Unpack, Var
from s2sad.ir.traverse import names_in
from s2sad.ir.types import Fact
from s2sad.ops.classification import remedy_of_member
from s2sad.runtime import add_at, add_field, add_into_item, packed, starred
from s2sad.runtime.items import add_row
from s2sad.runtime.trees import in_item, in_slice

_IN_SLICE = Op("runtime", "in_slice", in_slice)
ADD_AT = Op("runtime", "add_at", add_at, pure=False)
_ADD_INTO_ITEM = Op("runtime", "add_into_item", add_into_item, pure=False)
_IN_ITEM = Op("runtime", "in_item", in_item)
_ARRAY = Op("runtime", "np.array", np.array)
_ADD_FIELD = Op("runtime", "add_field", add_field, pure=False)
_ADD_ROW = Op("runtime", "add_row", add_row, pure=False)
PACKED = Op("runtime", "packed", packed)
_STARRED = Op("runtime", "starred", starred)


def writable(state: State, whole: Var) -> Var:
    """The adjoint of an array or container, to be added to in place."""
    if state.storage.is_buffer(whole):
        return state.shadows.of(whole.name)
    return state.adjoints.writable(whole)


def is_field(state: State, call: Call) -> bool:
    """Whether an attribute that arrays also have (``.T``) is that of a container here."""
    return call.op.kind == "attribute" and state.make.fact(call.args[0]).kind in CONTAINERS


def field(state: State, call: Call, z_bar: Expr) -> None:
    """The adjoint of ``z = whole.name``."""
    make = state.make
    whole = call.args[0]
    fact = make.fact(whole)
    key = field_key(fact, call.op.name) if fact.kind in ("record", "dataclass") else None
    if (key is None and fact.kind != "open") or not isinstance(whole, Var):
        what = f"the attribute .{call.op.name} of a value that is differentiated has no derivative rule"
        state.refusals.refuse(call.node, what, remedy_of_member(call.op.name) or REMEDY)
        return
    if key is not None and _to_part(state, whole, key, z_bar):
        return
    x_bar = writable(state, whole)
    if key is None:
        make.emit(Evaluate(Call(_ADD_FIELD, (x_bar, whole, Const(call.op.name), z_bar)), make.origin))
    elif make.fact(call).kind == make.fact(z_bar).kind == "scalar":
        make.emit(Store(x_bar, key, z_bar, "+", make.origin))
    else:
        _add_to_item(state, x_bar, key, z_bar, make.fact(call))


def item(state: State, whole: Expr, index: Expr, z_bar: Expr) -> None:
    """The adjoint of ``z = whole[index]``."""
    make, adjoints, storage = state.make, state.adjoints, state.storage
    if isinstance(whole, Build):
        place = index.value if isinstance(index, Const) else None
        if whole.kind != "dict" and type(place) is int and -len(whole.items) <= place < len(whole.items):
            adjoints.contribute(whole.items[place], z_bar)
        else:
            state.refusals.refuse_buffer(make.origin.line)
        return
    if not isinstance(whole, Var) or whole.name in storage.stopped:
        return
    fact = make.of[whole.name]
    plain = fact.kind == "array" and not storage.is_buffer(whole) and not adjoints.is_loose(z_bar)
    back = _without_new_axes(index) if plain else None
    if back is not None:
        inner = make.lazy.get(z_bar.name, z_bar) if isinstance(z_bar, Var) else z_bar
        is_number = make.fact(inner).kind == "scalar"
        seen = Call(BROADCAST, (inner, make.shape_of(whole))) if is_number else Call(INDEX, (z_bar, back))
        adjoints.contribute(whole, adjoints.realised(seen, fact), owned=adjoints.is_owned(z_bar))
        return
    if isinstance(index, Const) and _to_part(state, whole, index, z_bar):
        return
    index = state.later.kept(index)
    if isinstance(index, Slice) and fact.kind in ("list", "tuple") and not storage.is_buffer(whole):
        made = Call(_IN_SLICE, (state.later.kept(whole), as_value(index), z_bar))
        adjoints.contribute(whole, made, owned=True)
        return
    if not storage.is_buffer(whole) and _may_be_of_number(state, fact, index):
        made = Call(_IN_ITEM, (state.later.kept(whole), as_value(index), z_bar))
        adjoints.contribute(whole, made, owned=fact.kind != "scalar")
        return
    before = adjoints.of.get(whole.name)
    selected = make.selected.get(before.name) if isinstance(before, Var) else None
    # All elements of a stencil have an adjoint.
    sliced = any(isinstance(part, Slice) for part in index_parts(index, make.fact))
    picks = before is None or (selected is not None and not sliced)
    given = make.selected.get(z_bar.name) if isinstance(z_bar, Var) else None
    rarely = all(chosen is None or not chosen.is_picked or chosen.rarely for chosen in (selected, given))
    x_bar = writable(state, whole)
    part = make.fact(Call(INDEX, (whole, index))) if fact.kind in CONTAINERS else fact
    g = adjoints.realised(make.lazy.get(z_bar.name, z_bar) if isinstance(z_bar, Var) else z_bar, part)
    number = fact.kind in ("list", "tuple", "dict") and part.kind == make.fact(g).kind == "scalar"
    if number or (fact.kind == "array" and is_distinct(make, index)):
        g = adjoints.real_as(x_bar if storage.is_buffer(whole) else whole, g, part)
        make.emit(Store(x_bar, index, g, "-" if storage.is_turned(whole) else "+", make.origin))
        chosen = taken(x_bar, index)
        alone = not storage.is_buffer(whole) and (
            before is None or (selected is not None and selected.form == chosen.form)
        )
        if alone and is_mask_of(make, index, whole, state.effects):
            # Nothing but what the mask takes has an adjoint.
            make.selected[x_bar.name] = chosen
        elif picks and not storage.is_buffer(whole):
            make.note_picked(x_bar, rarely)
    elif storage.is_buffer(whole) and fact.kind in CONTAINERS:
        if storage.is_turned(whole):
            state.refusals.refuse_buffer(make.origin.line)
        make.emit(Evaluate(Call(_ADD_INTO_ITEM, (x_bar, as_value(index), g)), make.origin))
    elif fact.kind in ("list", "tuple", "dict") and make.fact(index).kind in ("scalar", "other"):
        _add_to_item(state, x_bar, index, g, part)
    else:
        part_bar = state.shadows.adjoint_of(whole, g)
        make.emit(Evaluate(Call(ADD_AT, (x_bar, as_value(index), part_bar)), make.origin))
        if picks and not storage.is_buffer(whole):
            make.note_picked(x_bar, rarely)


def _may_be_of_number(state: State, fact: Fact, index: Expr) -> bool:
    """Whether an item may be one of a number: NumPy's have some by what is no place, ``a[()]`` or ``a[a > 0]``."""
    if fact.kind not in ("open", "numeric"):
        return fact.kind == "scalar"
    parts = [p for p in index_parts(index, state.make.fact) if p not in (Const(None), Const(...))]
    if any(isinstance(p, Slice) for p in parts):
        return False
    return all((p if isinstance(p, Fact) else state.make.fact(p)).boolean for p in parts)


def _to_part(state: State, whole: Var, key: Const, z_bar: Expr) -> bool:
    """Add to an item of the adjoint of a tuple, which is a display of its parts; whether that is possible."""
    make, adjoints = state.make, state.adjoints
    fact, old = make.of[whole.name], adjoints.of.get(whole.name)
    if fact.kind not in ("tuple", "record") or not fact.items:
        return False
    if state.storage.is_buffer(whole) or adjoints.is_loose(z_bar):
        return False
    place, count = key.value, len(fact.items)
    whole_is_free = whole.name not in state.storage.changed and whole.name not in adjoints.unbound
    if type(place) is not int or not -count <= place < count or not whole_is_free:
        return False
    items = [Call(INDEX, (whole, Const(i))) for i in range(count)]
    if old is None:
        parts: list[Expr] = [make.zeros(item) for item in items]
    elif isinstance(old, Build) and len(old.items) == count:
        parts = list(old.items)
    else:
        return False
    place %= count
    g = adjoints.realised(z_bar, make.fact(items[place]))
    is_zero = parts[place] == make.zeros(items[place])
    parts[place] = g if is_zero else make.let(make.fresh("~t_bar"), make.plus(parts[place], g, items[place]))
    adjoints.owned.difference_update(names_in(parts[place]))
    adjoints.of[whole.name] = Build("tuple", tuple(parts))
    return True


def _without_new_axes(index: Expr) -> Expr | None:
    """The index that takes out the axes which another put in, if it did nothing else: ``[:, 0]`` for ``[:, None]``."""
    if not algebra.adds_axes(index):
        return None
    parts = index.items if isinstance(index, Build) else (index,)
    found = tuple([Const(0) if p == Const(None) else p for p in parts])
    return Build("tuple", found) if isinstance(index, Build) else found[0]


def _add_to_item(state: State, x_bar: Var, key: Expr, g: Expr, part: Fact) -> None:
    """Add ``g`` to an item of the adjoint of a container, which gets another object there."""
    old = Call(INDEX, (x_bar, key))
    known = part.kind == state.make.fact(g).kind == "array"
    total = Call(algebra.ADD, (old, g)) if known else Call(ADD, (old, g))
    state.make.emit(Store(x_bar, key, total, None, state.make.origin))


def row(state: State, whole: Expr, counter: Var, bar: Expr) -> None:
    """The adjoint of what a loop over ``whole`` has reached: an item, but of a dict a key."""
    kind = state.make.fact(whole).kind
    if kind == "open" and isinstance(whole, Var) and not state.storage.is_buffer(whole):
        added = Call(_ADD_ROW, (state.adjoints.writable(whole), counter, bar))
        state.make.emit(Evaluate(added, state.make.origin))
    elif kind != "dict":
        item(state, whole, counter, bar)


def unpack(state: State, stmt: Unpack) -> None:
    """The adjoint of ``a, b = value``."""
    adjoints, make, value = state.adjoints, state.make, stmt.value
    if isinstance(value, Var) and state.storage.is_buffer(value):
        _unpack_buffer(state, stmt, value)
        return
    buffers = tuple([t for t in stmt.targets if t in state.storage.buffers])
    if buffers and not gives_its_own(value, buffers, state.effects, make.fact):
        state.refusals.refuse_buffer(stmt.origin.line)
        return
    for target in buffers:
        if target in state.shadows.names:
            state.shadows.define(target, state.shadows.made_zero(target, value))
    bars = [adjoints.take(t) for t in stmt.targets]
    if all(b is None for b in bars) or not adjoints.is_active(value):
        return
    parts = tuple(b if b is not None else adjoints.zero(t) for b, t in zip(bars, stmt.targets, strict=True))
    whole: Expr = Build("tuple", parts)
    if stmt.star is not None:
        whole = Call(_STARRED, (whole, Const(stmt.star), Const(len(stmt.targets))))
    if stmt.star is None and _is_row_of_numbers(state, value, parts):
        adjoints.contribute(value, Call(_ARRAY, (Build("list", parts),)), owned=True)
        return
    if stmt.star is not None or make.fact(value).kind not in ("tuple", "record", "list"):
        whole = Call(PACKED, (value, whole))
    if not isinstance(value, Var):
        adjoints.owned.difference_update(names_in(whole))
        adjoints.contribute(value, whole if isinstance(whole, Build) else make.let(make.fresh("~t_bar"), whole))
    elif not isinstance(whole, Build):
        adjoints.owned.difference_update(names_in(whole))
        adjoints.contribute(value, whole)
    elif value.name not in adjoints.of:
        adjoints.of[value.name] = whole
    elif (
        len(make.fact(value).items or ()) == len(parts)
        and not any(map(adjoints.is_loose, parts))
        and _to_part(state, value, Const(0), parts[0])
    ):
        for i, part in enumerate(parts[1:], 1):
            _to_part(state, value, Const(i), part)
    else:
        adjoints.owned.difference_update(names_in(whole))
        adjoints.contribute(value, Call(ADD, (adjoints.of.pop(value.name), whole)))


def _is_row_of_numbers(state: State, value: Expr, parts: tuple[Expr, ...]) -> bool:
    """Whether the adjoint of an array is that of its numbers in a row, in double precision as these are."""
    fact = state.make.fact
    row = fact(value)
    is_row = row.kind == "array" and row.ndim == 1 and row.real and row.precision == "double" and not row.boxed
    return is_row and all(fact(p).kind == "scalar" and fact(p).real for p in parts)


def _unpack_buffer(state: State, stmt: Unpack, value: Var) -> None:
    """The adjoint of ``a, b = value`` for an array or container whose adjoint is a shadow."""
    make, shadows = state.make, state.shadows
    rows = {t for t in stmt.targets if t in state.storage.buffers}
    unknown = [name for name in (value.name, *sorted(rows)) if make.of[name].kind not in HOLDERS]
    for name in unknown or ([""] if stmt.star is not None else []):
        state.refusals.refuse_buffer(stmt.origin.line, name)
    if unknown or stmt.star is not None:
        return
    if any(t in shadows.names for t in rows):
        names = tuple([shadows.names[t] if t in shadows.names else make.fresh("~t_bar") for t in stmt.targets])
        make.after.append(Unpack(names, shadows.of(value.name), None, stmt.origin))
    for i, target in enumerate(stmt.targets):
        bar = None if target in rows else state.adjoints.take(target)
        if bar is not None:
            item(state, value, Const(i), bar)
