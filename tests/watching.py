"""The watching interpreter: runs `Code` on real objects and compares what happens with what the analysis allows.

At each step it is asked of every function that runs:

- whether each object is of a class that its value may have, and two values that are one object, or arrays of the same
  memory, or of which one can be reached from the other, may be that;
- whether each object that changed may be written by the operation that runs, in each function that has not returned;
- at the end of a function, whether objects that have not escaped can not be reached from the module;
- whether a function that runs is one that its caller was known to call.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2sad.effects.heap import Heap
from s2sad.effects.mod_ref import Context, Program
from s2sad.effects.objects import (
    ANY,
    ARRAY,
    IMMUTABLE,
    ITEMS,
    ITERATORS,
    KEYS,
    NOTHING,
    SLICE,
    UNKNOWN,
    Location,
    Objects,
    Plain,
    Shape,
    is_a,
    is_immutable,
)
from s2sad.effects.points_to import Activation as Analysis
from s2sad.effects.points_to import Function
from s2sad.ir.code import UNSET, Code, Operation, Value, Variable
from s2sad.ir.interpret import Activation, Cell, Event

_MOST = 400


class NotAllowed(AssertionError):
    """Something happened that the analysis did not allow."""


_METHODS = (slice, types.MethodType, types.MethodWrapperType)


def memory_of(array: np.ndarray) -> Any:
    """The owner of an array's memory."""
    owner: Any = array
    while is_a(owner, np.ndarray) and owner.base is not None:
        owner = owner.base
    return owner


def key_of(value: Any) -> int | None:
    """What two objects have in common that are one, or share memory; None for immutables."""
    if value is UNSET.value:
        return None
    if is_a(value, np.ndarray, np.void):
        return id(memory_of(value))  # type: ignore[arg-type]
    is_module = is_a(value, types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, np.ufunc)
    return None if is_immutable(value) or is_module or is_a(value, *_METHODS) else id(value)


def items_of(value: Any) -> list[object]:
    """The items of a sequence or set; nothing of its own is run."""
    return next(list(cls.__iter__(value)) for cls in (list, tuple, set, frozenset) if is_a(value, cls))


def parts_of(value: Any) -> Iterator[object]:
    """What an object holds."""
    if is_a(value, dict):
        yield from dict.keys(value)
        yield from dict.values(value)
    elif is_a(value, list, tuple, set, frozenset):
        yield from items_of(value)
    elif is_a(value, np.ndarray):
        if value.dtype.hasobject and value.dtype.names is None:
            yield from value.ravel().tolist()
        return
    elif is_a(value, types.MethodType):
        yield value.__self__
    elif is_a(value, Cell):
        yield value.value
    elif is_a(value, types.FunctionType):
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
        yield from seen_by(value)
    elif is_a(value, types.BuiltinFunctionType):
        yield value.__self__
    elif is_a(value, functools.partial):
        yield from (value.func, value.args, value.keywords)
    if not is_a(value, types.ModuleType):
        yield from attributes_of(value).values()


def seen_by(function: types.FunctionType) -> list[object]:
    """What a function sees of those around it; of one that the interpreter made, what its code does."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    held = {name: cell.cell_contents for name, cell in cells.items() if _is_set(cell)}
    if function.__globals__.get("__name__") != "s2sad.ir.interpret":
        return list(held.values())
    if "begun" in held:
        return seen_by(held["begun"])
    if "signature" not in held:
        return []
    given = [p.default for p in held["signature"].parameters.values() if p.default is not p.empty]
    return [*held["seen"].values(), *held["cells"].values(), *given]


def _is_set(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False


def attributes_of(value: Any) -> dict[str, Any]:
    """The attributes that an object has itself; nothing of its own is run."""
    if is_a(value, type):
        return {name: held for name, held in vars(value).items() if not name.startswith("__")}
    try:
        found = dict(object.__getattribute__(value, "__dict__"))
    except Exception:
        found = {}
    for cls in type(value).__mro__:
        for name in vars(cls).get("__slots__", ()):
            try:
                found[name] = object.__getattribute__(value, name)
            except Exception:
                continue
    return found


def reached(start: list[object], stop: int = _MOST) -> list[object]:
    """The objects that can be reached, immutables left out."""
    found: dict[int, object] = {}
    pending = list(start)
    while pending and len(found) < stop:
        value = pending.pop()
        if is_immutable(value) or id(value) in found:
            continue
        found[id(value)] = value
        pending += parts_of(value)
    return list(found.values())


def print_of(value: Any) -> dict[str, Any]:
    """What shows that an object has changed, by field."""
    if is_a(value, np.ndarray):
        data = np.ndarray.tobytes(value)
        return {ITEMS: (data if value.size < 5000 else hash(data), value.shape, value.strides)}
    if is_a(value, dict):
        items = {f"[{key!r}]" if isinstance(key, str) else f"[{id(key)}]": id(item) for key, item in dict.items(value)}
        return {**items, KEYS: tuple(items)}
    if is_a(value, list, tuple):
        return {ITEMS: tuple(map(id, items_of(value)))}
    if is_a(value, set, frozenset):
        return {ITEMS: frozenset(map(id, items_of(value)))}
    if is_a(value, Cell):
        return {"value": id(value.value)}
    if is_a(value, np.random.Generator):
        return {"state": str(value.bit_generator.state)}
    if is_a(value, types.ModuleType):
        return {}
    return {name: id(held) for name, held in attributes_of(value).items()}


@dataclass
class Frame:
    """A function that runs: the contexts that may be its analysis, and the objects that its values have been."""

    activation: Activation
    contexts: list[Context]
    operations: list[Operation] = field(default_factory=list)
    seen: dict[int, set[Value | Variable]] = field(default_factory=dict)
    last: dict[Value | Variable, object] = field(default_factory=dict)
    kept: list[object] = field(default_factory=list)
    #: The last operation that ran.
    done: Operation | None = None

    @property
    def name(self) -> str:
        return self.activation.code.name if self.activation.code is not None else "?"


class Watcher:
    """Is told what the interpreter runs.

    Args:
        program: The analysis.
        names: The module that runs.
        top: The context of the function that is called first.
        function: The analysis's form of a code that it has not met.
    """

    def __init__(
        self, program: Program, names: dict[str, Any], top: Context, function: Callable[[Code], Function]
    ) -> None:
        self.program, self.names, self.top, self.function = program, names, top, function
        self.frames: dict[int, Frame] = {}
        self.stack: list[Frame] = []
        self.prints: dict[int, tuple[object, dict[str, Any]]] = {}
        self.steps = 0
        #: What the program raised.
        self.error: Exception | None = None
        self._reach: dict[tuple[Heap, Objects], Objects] = {}

    # --- events

    def __call__(self, event: Event, activation: Activation, what: Operation | Code) -> None:
        if activation.names is not None:
            return
        if event == "before":
            assert isinstance(what, Operation)
            frame = self.enter(activation)
            if frame is not None:
                self.changes()
                frame.operations.append(what)
            return
        frame = self.frames.get(id(activation.values))
        if frame is None:
            return
        if frame not in self.stack:
            # A generator that is thrown away.
            return
        del self.stack[self.stack.index(frame) + 1 :]
        if event == "leave":
            self.changes()
            self.values(frame, [*frame.activation.values])
            self.escapes(frame)
            self.stack.pop()
            return
        assert isinstance(what, Operation)
        self.steps += 1
        self.changes()
        while frame.operations and frame.operations.pop() is not what:
            pass
        frame.done = what
        if event == "after":
            self.values(frame, [*what.results, *(o for o in what.operands if isinstance(o, Value))])
            self.register([frame.last.get(r) for r in what.results])

    def enter(self, activation: Activation) -> Frame | None:
        """The frame in which an operation is about to run."""
        frame = self.frames.get(id(activation.values))
        if frame is not None and frame in self.stack:
            del self.stack[self.stack.index(frame) + 1 :]
            return frame
        if frame is None and activation.code is None:
            return None
        contexts = self.found_contexts(activation)
        if frame is None:
            frame = self.frames[id(activation.values)] = Frame(activation, contexts)
            self.stack.append(frame)
            self.values(frame, [*activation.values])
            self.register([*activation.values.values(), *activation.cells.values()])
        else:
            frame.contexts = contexts
            self.stack.append(frame)
        return frame

    def found_contexts(self, activation: Activation) -> list[Context]:
        """The analyses that may be meant by a function that begins to run."""
        code = activation.code
        assert code is not None
        if not self.stack:
            return [self.top]
        caller = self.stack[-1]
        found, is_open = [], False
        for context in caller.contexts:
            for op in caller.operations[-1:]:
                part, opened = called_in(context.activation, op, code)
                found += part
                is_open = is_open or opened
        if not found:
            if not is_open:
                raise NotAllowed(f"{caller.name} runs {code.name}, which it does not call {where(caller)}")
            found = [self.generic(code)]
        return found

    def generic(self, code: Code) -> Context:
        """The analysis of a code that unknown code calls."""
        function = self.function(code)
        return self.program.context(function, {i: Shape() for i in (*range(len(code.params)), "self")})

    # --- what points where

    def allowed(self, frame: Frame, test: Callable[[Analysis], str]) -> None:
        """Leave out the contexts of a frame that a test fails in.

        Raises:
            NotAllowed: if none is left.
        """
        left, message = [], ""
        for context in frame.contexts:
            found = test(context.activation)
            message = message or found
            if not found:
                left.append(context)
        if not left:
            raise NotAllowed(f"{message} {where(frame)}, {frame.contexts}")
        frame.contexts = left

    def values(self, frame: Frame, names: list[Any]) -> None:
        """Compare the objects that values are now with what they may point to."""
        activation = frame.activation
        for name in names:
            if name not in activation.values:
                continue
            value = activation.values[name]
            if value is frame.last.get(name, _NONE) and is_a(value, np.ndarray, *IMMUTABLE):
                continue
            frame.last[name] = value
            self.allowed(frame, lambda a, name=name, value=value: _class_allowed(a, name, value))  # type: ignore[misc]
            key = key_of(value)
            if key is not None:
                self.one(frame, name, value, key)
        for variable, cell in activation.cells.items():
            frame.seen.setdefault(id(cell), set()).add(variable)
            frame.kept.append(cell)

    def one(self, frame: Frame, name: Value, value: object, key: int) -> None:
        """Compare one value with all others."""
        others = frame.seen.setdefault(key, set())
        frame.kept.append(value)
        if is_a(value, np.ndarray):
            frame.kept.append(memory_of(value))
        if name not in others:
            for other in others:
                self.allowed(frame, lambda a, other=other: _may_be_one(a, name, other))  # type: ignore[misc]
            others.add(name)
        for part in reached([value])[1:]:
            for other in frame.seen.get(key_of(part) or 0, ()):
                if isinstance(other, Value):
                    self.allowed(frame, lambda a, other=other: self._may_reach(a, name, other))  # type: ignore[misc]

    def reach(self, a: Analysis, objects: Objects) -> Objects:
        key = a.heap, objects
        if key not in self._reach:
            self._reach[key] = a.heap.reach(objects)
        return self._reach[key]

    def _may_reach(self, a: Analysis, name: Value, other: Value) -> str:
        if a.heap.may_share(self.reach(a, points_to(a, name)), points_to(a, other)):
            return ""
        return f"{text(name)} can reach {text(other)}"

    # --- what changes

    def register(self, values: list[object]) -> None:
        """Watch objects, and what can be reached from them, for changes."""
        for value in reached([v for v in values if key_of(v) is not None]):
            if id(value) not in self.prints:
                self.prints[id(value)] = value, print_of(value)

    def changes(self) -> None:
        """Find what changed since the last step, and whether all functions that run allowed it."""
        changed: list[tuple[object, set[str]]] = []
        for key, (value, before) in list(self.prints.items()):
            now = print_of(value)
            if now != before:
                names = {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}
                changed.append((value, names))
                self.prints[key] = value, now
        for value, names in changed:
            for frame in self.stack:
                if frame.operations:
                    self.allowed(frame, lambda a, f=frame, v=value, n=names: self._may_write(a, f, v, n))  # type: ignore[misc]
            self.register(list(parts_of(value)))

    def _may_write(self, a: Analysis, frame: Frame, value: object, names: set[str]) -> str:
        op = frame.operations[-1]
        mod = modified(a, op)
        key = id(value) if is_a(value, Cell) else key_of(value)
        direct = [points_to(a, name) for name in frame.seen.get(key or 0, ())]
        if not direct:
            for name, held in frame.last.items():
                if key_of(held) is not None and any(part is value for part in reached([held])):
                    direct.append(self.reach(a, points_to(a, name)))
        for objects in direct:
            for field_name in names:
                if not any(
                    (name in (field_name, ANY) or (name[0] == "[" == field_name[0]))
                    and any(a.heap.may_be_same(o, p) for p in objects)
                    for o, name in mod
                ):
                    return f"{field_name} of a {type(value).__name__} changed in {op.kind}"
        return ""

    # --- what escapes

    def escapes(self, frame: Frame) -> None:
        """Whether what has not escaped can not be reached from the module."""
        held = reached([v for k, v in self.names.items() if k != "__builtins__"], 10 * _MOST)
        keys = {key_of(value) for value in held} - {None}
        for name, value in frame.last.items():
            if isinstance(name, Value) and key_of(value) in keys:
                self.allowed(frame, lambda a, name=name: _has_escaped(a, name))  # type: ignore[misc]


_NONE = object()


def points_to(a: Analysis, name: Value | Variable) -> Objects:
    """What a value, or the memory of a variable, may point to."""
    return a.cells(name) if isinstance(name, Variable) else a.values.get(name, NOTHING)


def modified(a: Analysis, op: Operation) -> set[Location]:
    """What an operation may write; of a comprehension, in all its rounds."""
    found = set(a.effects[op].mod) if op in a.effects else set()
    for region in op.regions:
        for inner in region.operations:
            if inner.kind in ("each", "only"):
                found |= modified(a, inner)
    return found


def called_in(a: Analysis, op: Operation, code: Code) -> tuple[list[Context], bool]:
    """The contexts of a code that an operation runs, itself or by others; whether it may run unknown code."""
    found: list[Context] = []
    is_open = False
    seen: set[Context] = set()
    pending: list[Context] = []
    parts = [op, *(i for r in op.regions for i in r.operations if i.kind in ("each", "only"))]
    for part in parts:
        if part in a.effects:
            pending += a.effects[part].contexts
            is_open = is_open or "unknown" in a.effects[part].ordered
    while pending:
        context = pending.pop()
        if context in seen:
            continue
        seen.add(context)
        if context.function.code is code:
            found.append(context)
        for effect in context.activation.effects.values():
            pending += effect.contexts
    return found, is_open


def _class_allowed(a: Analysis, name: Value, value: object) -> str:
    if is_immutable(value) or is_a(value, slice) or value is UNSET.value:
        return ""
    objects = points_to(a, name)
    if is_a(value, np.void):
        return ""
    for o in objects:
        if o is UNKNOWN or o.cls in (None, Plain) or _same_class(o.cls, type(value)):
            return ""
        if o.cls is ARRAY and is_a(value, np.flatiter, type(np.zeros(1).flags)):
            return ""
        if o is SLICE and is_a(value, tuple):
            return ""
        if o.cls in ITERATORS and type(value).__name__.endswith("iterator"):
            return ""
        if o.cls is tuple and is_a(value, tuple) and type(value).__module__.startswith(("numpy", "scipy")):
            return ""
        if o.kind == "global" and is_a(value, type, types.ModuleType, types.BuiltinFunctionType):
            return ""
    if is_a(value, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType) and any(
        o.cls in (types.MethodType, types.BuiltinFunctionType, types.FunctionType) for o in objects
    ):
        return ""
    return f"{text(name)} is a {type(value).__name__}, not one of {sorted(o.name for o in objects)}"


def _same_class(a: type, b: type) -> bool:
    """Whether two classes are one, or the same in two copies of a module."""
    return a is b or (a.__module__, a.__qualname__) == (b.__module__, b.__qualname__)


def _may_be_one(a: Analysis, name: Value, other: Value | Variable) -> str:
    if isinstance(other, Variable) or a.heap.may_share(points_to(a, name), points_to(a, other)):
        return ""
    return f"{text(name)} and {text(other)} share memory"


def _has_escaped(a: Analysis, name: Value) -> str:
    objects = points_to(a, name)
    if not objects or any(o.kind != "site" or a.heap.has_escaped(o) for o in objects):
        return ""
    return f"{text(name)} can be reached from the module"


def text(name: Value | Variable) -> str:
    return name.name or "a value"


def where(frame: Frame) -> str:
    ops = frame.operations or ([frame.done] if frame.done is not None else [])
    return f"in {frame.name}" + (f", line {ops[-1].place.line} ({ops[-1].kind})" if ops and ops[-1].place else "")


sys.setrecursionlimit(max(sys.getrecursionlimit(), 5000))
