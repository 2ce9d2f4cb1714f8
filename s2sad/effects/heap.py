"""What the fields of abstract objects hold, which of them have escaped, and which may be the same."""

from __future__ import annotations

import itertools
import sys
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad.effects.objects import (
    ALIKE,
    ANY,
    ANYTHING,
    ARRAY,
    CONSTANT,
    CONTAINERS,
    DEPTH,
    FOREIGN,
    ITEMS,
    KEYS,
    NOTHING,
    PLAIN,
    SINGLE,
    UNKNOWN,
    Fields,
    Object,
    Objects,
    Plain,
    Shape,
    is_a,
    is_immutable,
    merged_fields,
)
from s2sad.ir.code import Operation
from s2sad.runtime.contents import DICTS, attributes_of, contents_of, holds_constants, is_disguised, items_of


class TooMuch(Exception):
    """The analysis takes too long."""


@dataclass
class Effort:
    """How much is done in an analysis, and may be."""

    most: int = sys.maxsize
    done: int = 0

    def spend(self, work: int) -> None:
        """Count what is done.

        Raises:
            TooMuch: if that is more than may be.
        """
        self.done += work
        if self.done > self.most:
            raise TooMuch


class Settled:
    """Lists and dicts of modules that hold numbers and texts alone, and are taken to do so while a program runs.

    That is an assumption: of what they hold nothing can be written then, and whether it `stays` true is seen when all
    effects are known.  ``looked_up`` are the variables that the program reads; those that matter are in ``roots``.
    """

    def __init__(self, looked_up: Mapping[tuple[int, str], Any]) -> None:
        self.looked_up = looked_up
        self.roots: dict[tuple[int, str], Any] = {}
        self._inside: dict[int, Any] = {}

    def holds(self, value: Any) -> bool:
        """Whether a value of a module is such a container."""
        if type(value) in (list, *DICTS) and id(value) not in self._inside:
            roots = {key: root for key, root in self.looked_up.items() if root is value}
            if roots and (found := contents_of(value)) is not None and holds_constants(found):
                self.roots |= roots
                pending = [value]
                while pending:
                    held = pending.pop()
                    self._inside[id(held)] = held
                    pending += [item for item in items_of(held) if isinstance(item, (list, tuple, dict))]
        return id(value) in self._inside

    def stays(self, written: Iterable[Object]) -> bool:
        """Whether none of some objects may be one of the containers."""
        return all(o.kind != "unknown" and id(o.value) not in self._inside for o in written)


class Heap:
    """What the fields of abstract objects hold; it only grows.

    ``apart`` says that objects of different parameters share nothing with one another and with what is known or
    unknown outside, ``plain`` that objects of which nothing is known are of built-in classes.
    """

    def __init__(
        self,
        known: dict[int, Object],
        effort: Effort,
        apart: bool = False,
        plain: bool = False,
        settled: Settled | None = None,
    ) -> None:
        self.apart, self.plain, self.effort, self.settled = apart, plain, effort, settled
        self.fields: dict[Object, dict[str, set[Object]]] = {}
        self.escaped: set[Object] = set()
        #: What objects that parameters hold now may hold, which code that is not known may reach by another way.
        self.exposed: set[Object] = set()
        #: The parameters from which anything has escaped.
        self.escaped_params: set[Any] = set()
        #: Whether code ran that is not known, which may have changed all that has escaped.
        self.is_open = False
        #: Parameters, and objects of modules, that something was stored into.
        self.stored_inputs: dict[Object, None] = {}
        self._stored_of: dict[type | None, list[Object]] = {}
        #: Whether something grew after it had been read, so that what was read is to be read again.
        self.grown = False
        self._read: set[str] = set()
        #: How often anything has grown, and what was reached from some objects when it had that often.
        self._growth = 0
        self._reached: dict[Objects, tuple[int, Objects]] = {}
        self._children: dict[tuple[Object, str, type | None], Object] = {}
        #: Objects that stand for all that lies beyond them, each with those of other classes that do.
        self._twins: dict[Object, Objects] = {}
        self._sites: dict[tuple[Any, type | None, int, Any], Object] = {}
        self._methods: dict[tuple[Object | None, str], Object] = {}
        #: The objects of modules, which are those of the whole program.
        self._values = known

    def start(self) -> None:
        """Begin another round over the operations."""
        self.grown = False
        self._read.clear()

    def _changed(self, field: str) -> None:
        self._growth += 1
        if field in self._read or ANY in self._read:
            self.grown = True

    # --- objects

    def site(
        self,
        operation: Operation | None,
        cls: type | None,
        value: Any = None,
        name: str = "",
        inside: Operation | None = None,
    ) -> Object:
        """What an operation makes of a class; ``value`` is the code or known function that it calls.

        Of several that a call makes one can be told apart by the operation ``inside`` of the callee.
        """
        cls = Plain if cls is None and self.plain else cls
        key = operation, cls, id(value), inside
        found = self._sites.get(key)
        if found is None:
            line = "" if operation is None or operation.place is None else f"@{operation.place.line}"
            label = name or ("object" if cls is None else cls.__name__)
            found = self._sites[key] = Object("site", f"{label}{line}", cls, value=value, operation=operation)
        return found

    def method(self, o: Object | None, name: str, value: Any, cls: type = types.MethodType) -> Objects:
        """A method that is bound to an object, or to an immutable: its name in a built-in class, or its function."""
        found = self._methods.get((o, name))
        if found is None:
            label = f"{'value' if o is None else o.name}.{name}"
            found = self._methods[o, name] = Object("site", label, cls, value=value)
            self.store(found, "__self__", [] if o is None else [o])
        return frozenset((found,))

    def known(self, value: Any, name: str = "") -> Objects:
        """The object that a value of a module is; nothing if it is immutable."""
        if is_immutable(value):
            return NOTHING
        if is_disguised(value):
            return frozenset((UNKNOWN,))
        found = self._values.get(id(value))
        if found is None:
            cls: type | None = type(value)
            if cls is ARRAY and value.dtype.hasobject:
                cls = None
            if self.plain and cls in ALIKE:
                cls = Plain
            label = name or (getattr(value, "__name__", "") if is_a(value, *CONSTANT) else "") or type(value).__name__
            found = self._values[id(value)] = Object("global", label, cls, value=value)
        return frozenset((found,))

    def param(self, index: Any, name: str, shape: Shape | None) -> Objects:
        """The object that a parameter is at the call."""
        if shape is None:
            return NOTHING
        if is_a(shape.value, *CONSTANT) and shape.cls is not types.MethodType:
            return self.known(shape.value)
        if type(shape.value) is str and shape.value in SINGLE:
            return frozenset((SINGLE[shape.value],))
        if isinstance(shape.value, Object):
            return frozenset((shape.value,))
        return self._given(UNKNOWN, str(index), (index,), name, shape)

    def _given(self, o: Object, field: str, path: tuple[Any, ...], name: str, shape: Shape) -> Objects:
        """What was there at the call: of a plain shape an array, or something else."""
        if shape.cls is None and self.plain:
            shape = PLAIN
        shapes = (Shape(ARRAY, None, ()), PLAIN) if shape.cls is Plain else (shape,)
        for one in shapes:
            if (o, field, one.cls) not in self._children:
                made = Object("param", name, one.cls, value=one.value, path=path, shape=one)
                self._children[o, field, one.cls] = made
        return frozenset(self._children[o, field, one.cls] for one in shapes)

    def _child(self, o: Object, field: str) -> Objects:
        """What a field of an object held when the call began."""
        if o.kind == "global":
            return self._of_known(o, field)
        if o.path[-1] == ANY and len(o.path) > 1:
            return self._twins.get(o, frozenset((o,)))
        has, shape = o.shape.field(field)
        if field.startswith("[") and field != ITEMS and not has:
            has, shape = o.shape.field(ITEMS)
        if not has or shape is None:
            return NOTHING
        if is_a(shape.value, *CONSTANT) and shape.cls is not types.MethodType:
            return self.known(shape.value)
        if type(shape.value) is str and shape.value in SINGLE:
            return frozenset((SINGLE[shape.value],))
        if isinstance(shape.value, Object):
            return frozenset((shape.value,))
        if len(o.path) > DEPTH or o.cls in (None, Plain):
            # Of what nothing is known all fields are one object.
            field, shape = ANY, ANYTHING
        name = f"{o.name}{field}" if field.startswith("[") else f"{o.name}.{field}"
        found = self._given(o, field, (*o.path, field), name, shape)
        if field == ANY:
            self._twins.update(dict.fromkeys(found, found))
        return found

    def _of_known(self, o: Object, field: str) -> Objects:
        value, name = o.value, f"{o.name}{field}" if field.startswith("[") else f"{o.name}.{field}"
        if type(value) is tuple:
            if field.startswith("[") and field != ITEMS:
                index = int(field[1:-1])
                return self.known(value[index], name) if index < len(value) else NOTHING
            if len(value) <= 64:
                return NOTHING.union(*(self.known(item) for item in value))
        elif self.settled is not None and field != KEYS and self.settled.holds(value):
            return NOTHING.union(*map(self.known, items_of(value)))
        elif self.plain and type(value) in (list, dict, *ALIKE) and len(value) <= 64:
            # What is there now tells of classes that what is there later may have as well.
            items = [*value.values(), *value] if isinstance(value, dict) else value
            return frozenset((FOREIGN,)).union(*(self.known(item) for item in items))
        elif type(value) is dict and field.startswith("['"):
            if (key := field[2:-2]) in value:
                return self.known(value[key], name)
        elif field in (own := attributes_of(value)):
            return self.known(own[field], name)
        return frozenset((FOREIGN if self.plain else UNKNOWN,))

    # --- fields

    def load(self, o: Object, field: str) -> Objects:
        """What a field of an object may hold."""
        self.effort.spend(1 + (len(self.stored_inputs) if o.is_input else 0))
        self._read.add(field)
        if o.kind == "unknown":
            return frozenset((o,))
        if field == ANY:
            return self.load_all(o)
        own = self.fields.get(o, {})
        found: set[Object] = set(own.get(field, ()))
        if field.startswith("[") and field != ITEMS:
            found |= own.get(ITEMS, set())
        elif field == ITEMS:
            found.update(*(held for name, held in own.items() if name.startswith("[")))
        found.update(own.get(ANY, ()))
        if o.is_input:
            found |= self._child(o, field)
            if field == ITEMS and o.kind == "param" and o.shape.fields is not None:
                found.update(*(self._child(o, n) for n, _ in o.shape.fields if n.startswith("[")))
            for other in self._stored_alike(o):
                if other is not o and self.may_be_same(o, other):
                    found.update(self.fields[other].get(field, ()), self.fields[other].get(ANY, ()))
                    if field.startswith("["):
                        found.update(*(held for n, held in self.fields[other].items() if n.startswith("[")))
        if self.is_open and o.cls is not ARRAY and self.has_escaped(o):
            found.add(UNKNOWN)
        return frozenset(found)

    def _stored_alike(self, o: Object) -> Iterable[Object]:
        """The parameters and objects of modules that something was stored into and whose class may be that of one."""
        if o.cls in (None, Plain):
            return self.stored_inputs
        of = self._stored_of
        return itertools.chain(of.get(o.cls, ()), of.get(None, ()), of.get(Plain, ()))

    def stored(self, o: Object, field: str) -> Objects:
        """What this program has stored into a field."""
        self._read.add(field)
        return frozenset(self.fields.get(o, {}).get(field, ()))

    def is_stored(self, value: object, field: str) -> bool:
        """Whether this program has stored anything into a field of an object of a module."""
        self._read.add(field)
        return field in self.fields.get(self._values.get(id(value), UNKNOWN), ())

    def names(self, o: Object) -> set[str]:
        """The fields of an object that may hold one."""
        found = set(self.fields.get(o, ()))
        if o.kind == "param":
            found.update([ANY] if o.shape.fields is None and o.cls is not ARRAY else [])
            found.update(name for name, _ in o.shape.fields or ())
            for other in self._stored_alike(o):
                if self.may_be_same(o, other):
                    found.update(self.fields[other])
        elif o.is_input and o.cls in (*CONTAINERS, Plain):
            found.update((ITEMS, KEYS) if o.cls in (dict, Plain) else (ITEMS,))
        return found

    def load_all(self, o: Object) -> Objects:
        """What any field of an object may hold."""
        self._read.add(ANY)
        if o.kind in ("unknown", "global"):
            holds = o.cls not in (ARRAY, slice, np.dtype, range) and not isinstance(o.value, CONSTANT)
            unseen = FOREIGN if self.plain and o is not UNKNOWN else UNKNOWN
            return frozenset((unseen,)) if holds else NOTHING
        found: set[Object] = set()
        for name in self.names(o):
            found |= self._child(o, ANY) if name == ANY and o.is_input else self.load(o, name)
            found.update(self.fields.get(o, {}).get(name, ()))
        if self.is_open and o.cls is not ARRAY and self.has_escaped(o):
            found.add(UNKNOWN)
        return frozenset(found)

    def reach(self, objects: Iterable[Object]) -> Objects:
        """The objects themselves, and all that can be reached from them."""
        self._read.add(ANY)
        start = frozenset(objects)
        growth, whole = self._reached.get(start, (-1, NOTHING))
        if growth != self._growth:
            found: set[Object] = set()
            pending = list(start)
            while pending:
                o = pending.pop()
                if o not in found:
                    found.add(o)
                    pending += self.load_all(o)
            whole = frozenset(found)
            self._reached[start] = self._growth, whole
        return whole

    def store(self, o: Object, field: str, objects: Iterable[Object]) -> None:
        """A field of an object may hold these as well."""
        if o.kind == "unknown":
            self.escape(objects)
            return
        if o.cls is ARRAY:
            objects = [x for x in objects if x is not o]
        if not objects:
            return
        if o.is_input and o not in self.stored_inputs:
            self.stored_inputs[o] = None
            self._stored_of.setdefault(o.cls, []).append(o)
        held = self.fields.setdefault(o, {}).setdefault(field, set())
        before = len(held)
        held.update(objects)
        if len(held) > before:
            self._changed(field)
            if field.startswith("["):
                self._changed(ITEMS)
        elif o.kind == "global" or o in self.escaped or o in self.exposed:
            return  # what it held was reached with it
        if o.kind == "global" or o in self.escaped or (o.kind == "param" and o.path[0] in self.escaped_params):
            self.escape(objects)
        elif self.has_escaped(o):
            self._expose(objects)

    # --- escape

    def has_escaped(self, o: Object) -> bool:
        """Whether code that is not known may reach an object."""
        if o.kind == "param":
            return not self.apart or o.path[0] in self.escaped_params
        return o.kind in ("global", "unknown") or o in self.escaped or o in self.exposed

    def escape(self, objects: Iterable[Object]) -> None:
        """Code that is not known may reach these objects from now on."""
        pending = [o for o in objects if o not in self.escaped]
        while pending:
            o = pending.pop()
            if o in self.escaped or o.kind in ("global", "unknown"):
                continue
            self.escaped.add(o)
            self._growth += 1
            if o.kind == "param":
                self.escaped_params.add(o.path[0])
            self.grown = self.grown or bool(self._read)
            pending += [x for held in self.fields.get(o, {}).values() for x in held]

    def _expose(self, objects: Iterable[Object]) -> None:
        """These objects are held by what the caller has given, of which it is not known who else reaches it."""
        pending = list(objects)
        while pending:
            o = pending.pop()
            if o.kind == "site" and o not in self.exposed:
                self.exposed.add(o)
                self._growth += 1
                self.grown = self.grown or bool(self._read)
                pending += [x for held in self.fields.get(o, {}).values() for x in held]

    def open(self) -> None:
        """Code that is not known runs."""
        if not self.is_open:
            self.is_open = True
            self._growth += 1
            self.grown = self.grown or bool(self._read)

    # --- questions

    def may_be_same(self, a: Object, b: Object) -> bool:
        """Whether two abstract objects may stand for the same object, or for arrays that share memory."""
        if a is b:
            return True
        if "unknown" in (a.kind, b.kind):
            return self.has_escaped(b if a.kind == "unknown" else a)
        if "site" in (a.kind, b.kind):
            return False
        if a.cls is not b.cls and not {a.cls, b.cls} & {None, Plain}:
            return False
        if a.kind == "param" and b.kind == "param":
            return a.path[0] == b.path[0] or self.has_escaped(a) or self.has_escaped(b)
        if a.kind == b.kind == "global":
            both = isinstance(a.value, np.ndarray) and isinstance(b.value, np.ndarray)
            return both and bool(np.may_share_memory(a.value, b.value))
        return not self.apart

    def may_share(self, a: Objects, b: Objects) -> bool:
        """Whether values with these points-to sets may be one object, or arrays that share memory."""
        if not a.isdisjoint(b):
            return True
        return any(self.may_be_same(p, q) for p in a for q in b)

    # --- shapes

    def shape(self, objects: Objects, depth: int = 3) -> Shape | None:
        """The shape of an argument with this points-to set; None for immutables."""
        if not objects:
            return None
        first, *others = objects
        cls, value = self._class_and_value(first)
        for other in others:
            # Sets of hundreds of objects are frequent; their fields are looked at only where they are all alike.
            other_cls, other_value = self._class_and_value(other)
            if other_cls is None or other_cls is not cls or other_value is not value:
                return PLAIN if all(o.cls in (ARRAY, Plain) for o in objects) else ANYTHING
        fields = self._fields(first, depth)
        for other in others:
            if cls in (ARRAY, Plain) or fields is None:
                break
            fields = merged_fields(fields, self._fields(other, depth))
        return Shape(cls, value, fields)

    def _class_and_value(self, o: Object) -> tuple[type | None, Any]:
        """The class of an object, and what it is where that is fixed."""
        if o.cls in (None, Plain):
            return o.cls, None
        if o.kind == "global":
            if isinstance(o.value, CONSTANT):
                return o.cls, o.value
            single = next((name for name, made in SINGLE.items() if made is o), None)
            return o.cls, o if self.plain and not single and o.cls is not ARRAY else single
        return o.cls, None if o.cls is ARRAY else o.value

    def _fields(self, o: Object, depth: int) -> Fields | None:
        """The shapes of what the fields of an object hold; None where that is not known."""
        if o.cls is ARRAY:
            return ()
        if o.cls in (None, Plain) or o.kind == "global" or depth == 0:
            return None
        if (o.kind == "param" and o.shape.fields is None) or (self.is_open and self.has_escaped(o)):
            return None
        return tuple((name, self.shape(self.load(o, name), depth - 1)) for name in sorted(self.names(o)))
