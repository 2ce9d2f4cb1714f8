"""Lists and dicts that exist, and that a program reads and changes at places which only the run knows.

    STACK.append(x[0])               t = list(STACK)
    STACK.append(x[1])       ->      t.append(x[0]); STACK.append(x[0])
    return STACK.pop() * x[2]        t.append(x[1]); STACK.append(x[1])
                                     left = t.pop(); STACK.pop()
                                     return left * x[2]

Each is copied at the start, as arrays of the state are read there (`s2sad.transform.entered`).  The copy is what the
new program reads and changes, so that derivatives pass through it as through a list of its own; what changes it is
done to the list itself as well, which nothing else may read.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator, Mapping
from typing import Any

import gast

from s2sad import ops
from s2sad.ir.code import Code, Constant, Definition, Operand, Operation, Region, Value, regions_in
from s2sad.runtime.objects import record as put_into
from s2sad.transform.known import NotSpecialisedError
from s2sad.transform.regions import free_values
from s2sad.transform.relied import Reached
from s2sad.transform.specialiser import Specialiser
from s2sad.transform.state import read_along

#: The methods that change a list or dict as much as their arguments say, and those after which it is another one.
_CHANGING = ("append", "insert", "pop", "clear", "reverse", "popitem", "setdefault")
_ANEW = ("extend", "remove", "sort", "update")
_READING = ("index", "count", "copy", "get", "keys", "values", "items")
#: What is called with a list or dict, and only reads it.
_READERS = (
    len, list, tuple, dict, set, sum, min, max, any, all, sorted, enumerate, zip, reversed, bool, print, str,
)  # fmt: skip
#: Operations that only read, or change, the list or dict that is their first operand.
_OF_FIRST = ("item", "set_item", "delete_item", "for", "comprehension", "each", "generator", "if", "choose", "unary")


def is_held(reached: Reached) -> bool:
    """Whether something of the state is a list or dict."""
    return type(reached.array) in (list, dict)


def with_changes(s: Specialiser, region: Region) -> Region:
    """The body of a function of the new program, which makes each change in what exists as well.

    Raises:
        NotSpecialisedError: where something else is done with one than to read or change it.
    """
    found = [
        (reached, record) for reached in s.relied.state.values() if is_held(reached) for record in reached.record.kin
    ]
    held = {s.state[record.fields[""]]: reached for reached, record in found if record.identity in s.state}
    return _Changes(s, held, region).inside(region) if held else region  # type: ignore[arg-type]


class _Changes:
    """The changes of some operands in the regions of a function."""

    def __init__(self, s: Specialiser, held: Mapping[Operand, Reached], region: Region) -> None:
        self.s, self.held = s, held
        parts = regions_in(region)
        self.made: dict[Operand, Operation] = {r: op for part in parts for op in part.operations for r in op.results}

    def inside(self, region: Region) -> Region:
        out: list[Operation] = []
        for op in region.operations:
            self.check(op)
            regions = tuple([self.inside(part) for part in op.regions])
            out.append(Operation(op.kind, op.operands, op.results, op.data, regions, op.place, op.awaits))
            out += self.also(op)
        if any(self.leads(operand) for operand in region.exit.operands):
            raise NotSpecialisedError("held")
        return Region(region.params, tuple(out), region.exit)

    def leads(self, operand: Operand) -> bool:
        """Whether an operand is a list or dict, or a method of one that may change it."""
        return operand in self.held or self.method(operand) is not None

    def method(self, operand: Operand) -> tuple[Operand, str] | None:
        """The list or dict of which an operand is a method, and its name."""
        op = self.made.get(operand)
        is_one = op is not None and op.kind == "attribute" and op.operands[0] in self.held
        return (op.operands[0], op.data) if op is not None and is_one else None

    def check(self, op: Operation) -> None:
        """Look whether an operation only reads or changes lists and dicts."""
        code = op.data.code if isinstance(op.data, Definition) else op.data
        seen = free_values(code) if isinstance(code, Code) else ()
        used = [n for n, operand in enumerate(op.operands) if self.leads(operand)]
        first = bool(used) and op.operands[0] in self.held
        match op.kind:
            case "attribute":
                known = op.data in (*_CHANGING, *_ANEW, *_READING)
            case "call" if used and used[0] == 0:
                known = len(used) == 1
            case "call":
                known = not used or self.reads(op.operands[0])
            case kind if kind in _OF_FIRST:
                known = used == [0] and first
            case "compare":
                by_identity = op.data in ("is", "is not") and not any(isinstance(o, Constant) for o in op.operands)
                known = not by_identity and not any(map(self.method, op.operands))
            case "binary":
                known = op.data in ("+", "*") and not any(map(self.method, op.operands))
            case _:
                known = False
        if (used and not known) or any(map(self.leads, seen)):
            raise NotSpecialisedError("held")

    def reads(self, called: Operand) -> bool:
        """Whether what is called only reads what it is given, or is a function of the new program."""
        found, value = self.found(called)
        if any(value is known for known in (None, *self.s.sources, *_READERS)):
            return found
        spec = ops.spec_of(value)
        return found and spec is not None and spec.result == "fresh" and not spec.writes

    def found(self, operand: Operand) -> tuple[bool, Any]:
        """Whether it is known what an operand is, read from a variable or module, and that.

        A function that is being made is None.
        """
        op, making = self.made.get(operand), self.s.making
        if op is not None and op.kind == "attribute":
            known, module = self.found(op.operands[0])
            return known and isinstance(module, types.ModuleType), inspect.getattr_static(module, op.data, None)
        if op is None or op.kind != "global":
            return False, None
        if op.data not in making.cells:
            return making.home.resolver.lookup(gast.Name(op.data, gast.Load(), None, None))
        try:
            return True, making.cells[op.data].cell_contents
        except ValueError:
            return True, None

    def also(self, op: Operation) -> Iterator[Operation]:
        """What is done to the list or dict itself where an operation changes the copy."""
        if not op.operands:
            return
        base = op.operands[0]
        index = self.made.get(op.operands[1]) if op.kind == "set_item" else None
        if index is not None and index.kind == "slice" and base in self.held:
            yield from self.anew(base, op)
        elif op.kind == "set_item" and base in self.held:
            yield from self.change(base, "__setitem__", op.operands[1:], op)
        elif op.kind == "delete_item" and base in self.held:
            yield from self.change(base, "__delitem__", op.operands[1:], op)
        elif op.kind == "call" and (method := self.method(base)) is not None:
            whole, name = method
            if name in _CHANGING and not any(op.data):
                yield from self.change(whole, name, op.operands[1:], op)
            elif name not in _READING:
                yield from self.anew(whole, op)

    def anew(self, base: Operand, op: Operation) -> Iterator[Operation]:
        """Let the list or dict hold what its copy holds."""
        yield from self.change(base, "clear", (), op)
        yield from self.change(base, "update" if type(self.held[base].array) is dict else "extend", (base,), op)

    def change(self, base: Operand, method: str, args: tuple[Operand, ...], op: Operation) -> list[Operation]:
        """Call a method of the list or dict itself."""
        s, reached = self.s, self.held[base]
        ways = [way for way in reached.ways.values() if s.making.reads_alike(way.root, way.home)]
        if not ways:
            raise NotSpecialisedError("elsewhere")
        with s.apart() as out:
            found = read_along(s, ways[0], op.place)
            operands = s.operands([s.outside(put_into, "record"), found, Constant(method), *args], op.place)
            s.write(Operation("call", operands, (Value(),), ("",) * (len(operands) - 1), (), op.place))
        return out
