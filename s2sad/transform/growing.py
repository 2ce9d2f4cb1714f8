"""Which functions are inlined for what they do to lists and dicts.

Some change the length of lists of their callers, of which the items are not known one by one:

    class Smoother:
        def step(self, z):
            self.past.append(self.x)          # the list is one of the caller's variables
            self.x = self.x + z

Such a list is a variable of the function that made it.  A change by a function of the new program, which would have the
list for an argument, is one that its caller does not see as a change of that variable; where the function is inlined,
it is.  Others exchange or replace items of such a list: they are inlined once that is what was refused.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from typing import Any

from s2sad.errors import S2SADError
from s2sad.frontend.called import is_followed
from s2sad.frontend.changes import is_moving
from s2sad.ir.code import Code, Operand, Operation, Value, codes, inner
from s2sad.transform import objects
from s2sad.transform.cells import State
from s2sad.transform.held import is_held
from s2sad.transform.known import Abstract, Content, Generator, Items, Lazy, Record, Stream, cell_of, is_static
from s2sad.transform.regions import fills_containers
from s2sad.transform.shapes import things_of
from s2sad.transform.specialiser import Specialiser

#: How many operations a function has at most that is inlined for what it does to a list.
MOST = 100
#: The methods that change the length of a list, and that the frontend takes for changes of a variable.
_METHODS = frozenset({"append", "insert", "extend", "pop"})


def grows_a_list(code: Code, bound: Mapping[str, Abstract], state: State, names: Mapping[str, Any]) -> bool:
    """Whether a function calls such a method of an argument, or of an attribute of an object among its arguments, or
    gives it to a function that orders a list.

    Args:
        code: The function.
        bound: Its arguments, by parameter.
        state: What cells hold as it is called.
        names: What its global names mean.
    """
    params: dict[Operand, Abstract] = {p.target: bound[p.name] for p in code.params if isinstance(p.target, Value)}
    read: dict[Operand, Operation] = {op.result: op for op in inner(code.body) if op.kind == "attribute"}
    named: dict[Operand, Any] = {op.result: names.get(op.data) for op in inner(code.body) if op.kind == "global"}

    def is_of_caller(whole: Operand) -> bool:
        """Whether an operand is an argument, or an attribute of one, that may be such a list."""
        if whole not in read:
            return _is_unknown(params.get(whole), state)
        record = params.get(read[whole].operands[0])
        cell = record.fields.get(read[whole].data) if isinstance(record, Record) else None
        return cell is not None and _is_unknown(state.get(cell), state)

    def changed(callee: Operand, whole: Operand | None) -> Operand | None:
        """What a call changes of which ``whole`` is the first argument."""
        function = named.get(callee)
        if callee in read:
            if read[callee].data in _METHODS:
                return read[callee].operands[0]
            function = getattr(named.get(read[callee].operands[0]), read[callee].data, None)
        return whole if is_moving(function) else None

    calls = [op.operands for op in inner(code.body) if op.kind == "call"]
    wholes = [changed(callee, args[0] if args else None) for callee, *args in calls]
    return any(whole is not None and is_of_caller(whole) for whole in wholes)


def _is_unknown(value: Abstract | None, state: State) -> bool:
    """Whether a value is an object of the new program of which no items are known."""
    if isinstance(value, Items):
        return not isinstance(state.get(value.cell), Content)
    return isinstance(value, Value)


def is_followed_for_containers(s: Specialiser, function: types.FunctionType) -> bool:
    """Whether a function, or one that it calls by a global name, changes lists and dicts of its callers; or makes
    objects, or lists and dicts with loops, where these are written out."""
    pending, seen = [function], {function}
    while pending:
        value = pending.pop()
        try:
            code = s.code(value)
        except S2SADError:
            continue
        if value in s.relied.inlines:
            return True
        if s.relied.writes_out and (any(map(fills_containers, codes(code))) or objects.makes_something(value)):
            return True
        for other in objects.mentioned(value.__code__.co_names, value.__globals__):
            if isinstance(other, types.FunctionType) and other not in seen and is_followed(other):
                seen.add(other)
                pending.append(other)
    return False


def is_inlined(s: Specialiser, function: types.FunctionType, given: Iterable[Abstract]) -> bool:
    """Whether a function, or one that it calls, changes lists and dicts that are its caller's, and none that exist."""
    return bool(s.relied.inlines) and not any(map(is_held, given)) and is_followed_for_containers(s, function)


def leads_to_items(s: Specialiser, value: Abstract) -> bool:
    """Whether a value is, or leads to, a list or dict of known items, or goes through known ones."""
    if isinstance(value, (Generator, Lazy, Stream)):
        return True
    things = things_of(value, s.state) if is_static(value) else ()
    return any(isinstance(s.state.get(cell_of(thing)), Content) for thing in things)
