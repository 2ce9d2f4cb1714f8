"""Statements that are others by the types of their operands.

q /= n                  ->  q = q / n           of lists and tuples, which the operator does not change
b = copy.copy(a)        ->  b = np.copy(a)      of arrays, whose layout both keep
                            b = list(a)         of lists
                            b = a               of numbers
b = a[()]               ->  b = a               of NumPy's numbers
a[i] = v                ->  store_item(a, i, v)  of numbers, which raises
a.flat[:] = v           ->  a[...] = v          of arrays without axes
a.flat[0] = v           ->  a.flat, v           of numbers, of which ``flat`` is another array
b = d.get(k, c)         ->  b = d[k] if k in d else c                of dicts
list(d), sorted(d), max(d)                      of dicts: the same, of keys, which carry no derivative
... d.values()           ->  ... values_of(d)    of dicts, where no loop runs over them as they change
b = flat_values(a, ...) ->  b = a               of numbers
b = np.einsum(text, a)  ->  b = einsum_view(a, text)                of one array, where something is written
b = sorted(a)           ->  b = list(a)         of tuples and the like
                            b = b after moved(in_order(b))
"""

from __future__ import annotations

import copy
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Set
from dataclasses import replace

import numpy as np

from s2sad import ops
from s2sad.analysis.evaluate import is_plain_dict
from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import (
    MOVED,
    Assign,
    Block,
    Build,
    Call,
    Const,
    Copy,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    Op,
    Opaque,
    Slice,
    Stmt,
    Store,
    Var,
)
from s2sad.ir.traverse import base, blocks, is_atom, map_stmt, names_in, reads, walk, writes
from s2sad.ir.types import same_shape, some_item
from s2sad.ops.infer.memory import sums_indices
from s2sad.optimise.computing import is_number
from s2sad.runtime.dicts import keys_of, largest_key, smallest_key, sorted_keys, values_of
from s2sad.runtime.einsum import einsum_view
from s2sad.runtime.items import require_as_long, store_item
from s2sad.runtime.moves import in_order
from s2sad.runtime.positions import flat_index, flat_values

#: The operators by which ``q += v`` changes a list.
_CHANGING = ("+", "*")
_COPY = Op("runtime", "np.copy", np.copy)
_LIST = Op("runtime", "list", list)
_COPY_OF_DICT = Op("method", "copy", np.copy)
_INDEX = Op("index", "[]")
_FLAT = Op("attribute", "flat", pure=False)
_IN = Op("compare", "in")
_VALUES_OF = Op("runtime", "values_of", values_of)
#: What functions that run through a dict do with its keys.
_OF_KEYS = {list: keys_of, sorted: sorted_keys, max: largest_key, min: smallest_key}
_EINSUM_VIEW = Op("runtime", "einsum_view", einsum_view)
_STORE_ITEM = Op("runtime", "store_item", store_item, pure=False)
_IN_ORDER = Op("runtime", "in_order", in_order)


def rewritten(function: Function, facts: Facts) -> Function:
    """``function`` with such statements as what they do; itself where there is none."""
    taken = {name for stmt in walk(function.body) for name in writes(stmt)}

    def version(variable: str) -> str:
        """A name for a further version of a variable."""
        name = next(name for n in itertools.count(1) if (name := f"{variable}.{n}") not in taken)
        taken.add(name)
        return name

    writes_something = any(isinstance(stmt, Store) or _is_inplace(stmt) for stmt in walk(function.body))
    opaque = any(isinstance(stmt, Assign) and isinstance(stmt.value, Opaque) for stmt in walk(function.body))
    consumed = frozenset(_consumed(function)) if opaque else frozenset()

    def others_for(stmt: Stmt) -> tuple[Stmt, ...]:
        if writes_something and isinstance(stmt, Assign) and isinstance(stmt.value, Call):
            stmt = replace(stmt, value=_as_view(stmt.value, facts))
        return _of_types(stmt, facts, version, consumed)

    if all(others_for(stmt) == (stmt,) for stmt in walk(function.body)):
        return function

    def in_block(block: Block) -> Block:
        made: list[Stmt] = []
        for stmt in block:
            others = others_for(stmt)
            made += [map_stmt(stmt, lambda e: e, in_block)] if others == (stmt,) else others
        return tuple(made)

    return replace(function, body=in_block(function.body))


def _is_inplace(stmt: Stmt) -> bool:
    return isinstance(stmt, Assign) and isinstance(stmt.value, Call) and stmt.value.op.kind == "inplace"


def _as_view(call: Call, facts: Facts) -> Call:
    """``np.einsum`` of one array that it surely gives a view of, as an operation on that array; else the call."""
    if call.op.function is not np.einsum or len(call.args) != 2 or call.kwargs:
        return call
    text, whole = call.args
    subscripts = text.value if isinstance(text, Const) else None
    if not isinstance(subscripts, str) or sums_indices(subscripts) or facts.get(whole).kind != "array":
        return call
    return Call(_EINSUM_VIEW, (whole, text), (), call.node)


def _consumed(function: Function) -> Iterator[str]:
    """The temporaries that nothing reads but a function of Python's own or NumPy's, in the statement behind."""
    uses = Counter(n for stmt in walk(function.body) for n in reads(stmt))
    uses.update(names_in(function.result))
    pending = [function.body]
    while pending:
        block = pending.pop()
        pending += [inner for stmt in block for inner in blocks(stmt)]
        for stmt, reader in itertools.pairwise(block):
            call = reader.value if isinstance(reader, Assign) else None
            if isinstance(stmt, Assign) and stmt.target.startswith("~") and isinstance(call, Call):
                spec = ops.spec_of(call.op.function) if call.op.kind == "function" else None
                if spec is not None and not spec.defers and uses[stmt.target] == 1 and Var(stmt.target) in call.args:
                    yield stmt.target


def _of_types(
    stmt: Stmt, facts: Facts, version: Callable[[str], str], consumed: Set[str] = frozenset()
) -> tuple[Stmt, ...]:
    """What a statement is by the types of its operands; itself alone if that is no other.

    The temporaries that are ``consumed`` are read by the statement behind, and by nothing else.
    """
    if isinstance(stmt, For):
        iters = tuple([_of_keys(iterable, facts) for iterable in stmt.iters])
        return (replace(stmt, iters=iters) if iters != stmt.iters else stmt,)
    if isinstance(stmt, Evaluate) and isinstance(stmt.value, Call) and stmt.value.op.function is require_as_long:
        return () if same_shape(*map(facts.get, stmt.value.args)) else (stmt,)
    if isinstance(stmt, Store) and stmt.call is None and is_number(facts.get(stmt.base)):
        if not (isinstance(stmt.index, Call) and stmt.index.op.function is flat_index):
            return tuple(_of_number(stmt, version))
        if stmt.index.args[1] not in (Const(0), Const(-1)) or not is_number(facts.get(stmt.value)):
            return (stmt,)
        # The array that ``a.flat`` runs through is another one than the number, if that is one of NumPy's.
        return tuple([Evaluate(e, stmt.origin) for e in (Call(_FLAT, (stmt.base,)), stmt.value)])
    if isinstance(stmt, Store) and _is_all_of_number(stmt, facts):
        return (replace(stmt, index=Const(...)),)
    value = stmt.value if isinstance(stmt, Assign) else None
    if isinstance(stmt, Assign) and isinstance(value, Opaque) and value.refusal is not None:
        return _of_dict(stmt, value.sketch, facts, version, consumed)
    if not isinstance(stmt, Assign) or not isinstance(value, Call):
        return (stmt,)
    if (of_keys := _of_keys(value, facts)) is not value:
        return (replace(stmt, value=of_keys),)
    if value.op.kind == "inplace" and value.op.name not in _CHANGING:
        of_items = facts.get(value.args[0]).kind in ("list", "tuple")
        return (replace(stmt, value=replace(value, op=replace(value.op, kind="operator"))) if of_items else stmt,)
    if value.op == _INDEX and value.args[1] == Build("tuple", ()):
        known = facts.get(value.args[0])
        is_numpys = known.kind == "scalar" and known.precision in ("single", "double")
        return (replace(stmt, value=value.args[0]) if is_numpys and not known.owners else stmt,)
    if value.op.function is flat_values and facts.get(value.args[0]).kind == "scalar":
        return (replace(stmt, value=value.args[0]),)
    if value.op.function is copy.copy and len(value.args) == 1 and not value.kwargs:
        known = facts.get(value.args[0])
        if known.owners or known.boxed:
            return (stmt,)
        match known.kind:
            case "array":
                return (replace(stmt, value=replace(value, op=_COPY)),)
            case "list":
                return (replace(stmt, value=replace(value, op=_LIST)),)
            case "scalar":
                return (replace(stmt, value=value.args[0]),)
        return (stmt,)
    if value.op.function is dict and len(value.args) == 1 and not value.kwargs:
        known = facts.get(value.args[0])
        is_dict = known.kind == "dict" and not known.owners and not known.boxed
        return (replace(stmt, value=replace(value, op=_COPY_OF_DICT)) if is_dict else stmt,)
    if value.op.function is sorted and len(value.args) == 1 and dict(value.kwargs).keys() <= {"reverse"}:
        known = facts.get(value.args[0])
        item = some_item(known) if known.kind in ("list", "tuple") else None
        if item is not None and item.kind in ("list", "tuple", "record"):
            listed, moves = version(base(stmt.target)), version("~moves")
            found = Call(_IN_ORDER, (Var(listed), *(v for _, v in value.kwargs)), (), value.node)
            return (
                replace(stmt, target=listed, value=Call(_LIST, value.args, (), value.node)),
                replace(stmt, target=moves, value=found),
                replace(stmt, value=Call(MOVED, (Var(listed), Var(moves)), (), value.node)),
            )
    return (stmt,)


def _of_number(stmt: Store, version: Callable[[str], str]) -> Iterator[Stmt]:
    """What a store into an item of a number does: it reads the item, if it is augmented, and raises."""
    value = stmt.value
    if stmt.op is not None:
        item, value = version("~t"), Var(version("~t"))
        yield Assign(item, Call(_INDEX, (stmt.base, stmt.index)), stmt.origin)
        yield Assign(value.name, Call(Op("operator", stmt.op), (Var(item), stmt.value)), stmt.origin)
    yield Evaluate(Call(_STORE_ITEM, (stmt.base, *_parts(stmt.index), value)), stmt.origin)


def _parts(index: Expr) -> Iterator[Expr]:
    """What is evaluated of an index."""
    match index:
        case Slice(lower=lower, upper=upper, step=step):
            yield from (part for part in (lower, upper, step) if part is not None)
        case Build(items=items):
            for item in items:
                yield from _parts(item)
        case _:
            yield index


def _is_all_of_number(stmt: Store, facts: Facts) -> bool:
    """Whether a store is into the one item of ``a.flat`` of an array without axes."""
    index = stmt.index
    if not (isinstance(index, Call) and index.op.function is flat_index and facts.get(stmt.base).ndim == 0):
        return False
    return index.args[1] in (Const(0), Const(-1)) or _is_every(index.args[1])


def _is_every(index: Expr) -> bool:
    """Whether an index is ``slice(None, None, None)``."""
    return isinstance(index, Call) and index.op.function is slice and set(index.args) == {Const(None)}


def _of_keys(value: Expr, facts: Facts) -> Expr:
    """A call of a function that runs through the keys of a dict as one that does no more; another one as it is."""
    if not isinstance(value, Call) or len(value.args) != 1 or not is_plain_dict(facts.get(value.args[0])):
        return value
    if not dict(value.kwargs).keys() <= {"key", "reverse"}:
        # The default value of `max` is no key.
        return value
    function = next((mine for theirs, mine in _OF_KEYS.items() if value.op.function is theirs), None)
    return value if function is None else replace(value, op=replace(value.op, function=function))


def _of_dict(
    stmt: Assign, sketch: Call | None, facts: Facts, version: Callable[[str], str], consumed: Set[str]
) -> tuple[Stmt, ...]:
    """``d.get(key, default)`` of a dict as a branch, ``d.values()`` as a list; any other statement as it is.

    A view that is not ``consumed`` at once may be read after the dict has changed.
    """
    if sketch is None or sketch.op.kind != "method" or not is_plain_dict(facts.get(sketch.args[0])):
        return (stmt,)
    if not all(map(is_atom, sketch.args)):
        return (stmt,)
    if sketch.op.name == "values" and stmt.target in consumed:
        return (replace(stmt, value=Call(_VALUES_OF, sketch.args, (), sketch.node)),)
    if sketch.op.name != "get":
        return (stmt,)
    whole, key, default = sketch.args
    item = version(base(stmt.target))
    then = (replace(stmt, target=item, value=Call(_INDEX, (whole, key))), _moved(stmt, Var(item)))
    return (If(Call(_IN, (key, whole)), then, (_moved(stmt, default),), stmt.origin),)


def _moved(stmt: Assign, value: Expr) -> Copy:
    return Copy((stmt.target,), (value,), stmt.origin)
