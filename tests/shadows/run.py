"""One run: the log of its forward part, what its stores overwrote, and the shadows of what it meets."""

from __future__ import annotations

import ast
import dataclasses
import types
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from s2sad.frontend.lower_statements import lower_function
from s2sad.ir.code import Code
from tests.shadows.memory import Memory, Token
from tests.shadows.refs import Node, NotSupported, Ref, Stop, is_number, isa
from tests.shadows.slots import AllSlots


class Undo:
    """What a store overwrote; put back in the reverse part, and stored again at the end of it."""

    def __init__(self, target: Any) -> None:
        self.target, self.held = target, target.copy()
        self.is_undone = False

    def swap(self) -> None:
        now = self.target.copy()
        self.target[...] = self.held
        self.held, self.is_undone = now, not self.is_undone


@dataclass(eq=False)
class Made:
    """A function of the program that the interpreter made, or whose code it found."""

    function: Any
    begin: Callable[[list[Ref], dict[str, Ref]], Any]
    code: Code


class _Mangled(ast.NodeTransformer):
    """Writes out the names that are private to a class, since functions are read without it."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        self.names.append(node.name.lstrip("_"))
        self.generic_visit(node)
        self.names.pop()
        return node

    def _mangled(self, name: str) -> str:
        is_private = bool(self.names) and name.startswith("__") and not name.endswith("__")
        return f"_{self.names[-1]}{name}" if is_private else name

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        node.attr = self._mangled(node.attr)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        node.id = self._mangled(node.id)
        return node


class Codes:
    """The code of each function and lambda expression of a module, by name and line."""

    def __init__(self, source: str, filename: str) -> None:
        self.filename = filename
        self.nodes: dict[tuple[str, int], Any] = {}
        for node in ast.walk(_Mangled().visit(ast.parse(source))):
            if isa(node, (ast.FunctionDef, ast.Lambda)):
                first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
                name = node.name if isa(node, ast.FunctionDef) else "<lambda>"
                # Two lambda expressions of one line are not told apart.
                self.nodes[name, first] = None if (name, first) in self.nodes else node
        self.made: dict[tuple[str, int], Code] = {}

    def owns(self, filename: str) -> bool:
        """Whether the code of a file is to be interpreted."""
        return filename == self.filename

    def find(self, function: types.FunctionType) -> Code | None:
        key = function.__code__.co_name, function.__code__.co_firstlineno
        node = self.nodes.get(key)
        if function.__code__.co_filename != self.filename or node is None:
            return None
        if key not in self.made:
            if isa(node, ast.Lambda):
                node = ast.FunctionDef("lambda_", node.args, [ast.Return(node.body)], [], None, None)
                ast.fix_missing_locations(ast.copy_location(node, self.nodes[key]))
            node.decorator_list = []
            text = ast.unparse(node)
            self.made[key] = lower_function(gast.parse(text).body[0])
        return self.made[key]


class Run:
    """The table of shadows belongs to one run, and so does the log."""

    def __init__(self, codes: Codes) -> None:
        self.codes = codes
        self.others: dict[str, Codes] = {}
        self.tape: list[Callable[[], None]] = []
        self.undos: list[Undo] = []
        self.memory = Memory()
        #: Which mechanisms were needed, for the count.
        self.used: set[str] = set()
        self.slots = AllSlots(self.log, self.used)
        self.functions: dict[int, Made] = {}
        #: Generators of the program, and iterators of the interpreter, by the objects that stand for them.
        self.running: dict[int, tuple[Any, Generator[Any, Any, Any]]] = {}
        #: Objects that were made of others and read through to them: views of dicts, flat iterators, super objects.
        self.through: dict[int, tuple[Any, Ref]] = {}
        #: Numbers on their way through code that is not interpreted.
        self.flight: dict[int, Ref] = {}
        #: Objects that are known by their identity.
        self.kept: list[Any] = []
        self.adopted: set[type] = set()
        self.replaced: list[tuple[type, str, Any]] = []
        #: Generators with code that runs when they are given up.
        self.guarded: list[Any] = []
        #: The function of the program that ran without being interpreted, if one did.
        self.escaped = ""

    # --- the log

    def log(self, back: Callable[[], None]) -> None:
        """Log an effect or an operation, after it happened."""
        self.tape.append(back)

    def undo(self, target: Any) -> Undo:
        """Save what a store is about to overwrite."""
        if target.size and self.memory.token(target).overlaps_itself():
            raise NotSupported("a store into an array that overlaps itself")
        return Undo(target)

    def wrote(self, undo: Undo) -> None:
        self.undos.append(undo)

    def reverse(self, read: Callable[[], None]) -> None:
        """The reverse part, and then ``read``; the memory is as the program left it afterwards, whatever happens."""
        try:
            for back in reversed(self.tape):
                back()
            read()
        finally:
            for undo in self.undos:
                if undo.is_undone:
                    undo.swap()

    def forget_adjoints(self) -> None:
        """All shadows are zero: those of the arguments are not when the reverse part has run."""
        for slots in self.slots.known.values():
            slots.bars.clear()
        for extent in [*self.memory.foreign, *[known for _, known in self.memory.owners.values()]]:
            extent.bar = None

    # --- activity

    def stopped_now(self) -> Stop:
        """The mark of a reference that is stopped at this moment."""
        self.slots.clock += 1
        self.memory.clock = self.slots.clock
        return Stop(self.memory.clock)

    def is_active(self, ref: Ref, seen: set[int] | None = None) -> bool:
        """Whether something active is read through a reference."""
        x = ref.object
        if is_number(x):
            return isa(ref.mark, Node)
        if x is None or isa(x, (str, bytes, bool, int, type, np.dtype, types.ModuleType)):
            return False
        seen = set() if seen is None else seen
        if id(x) in seen:
            return False
        seen.add(id(x))
        if isa(x, np.ndarray) and x.dtype.kind in "fcV" and self.memory.reads(x, ref.stop) is not False:
            return True
        return any(self.is_active(part, seen) for part in self.parts(ref))

    def parts(self, ref: Ref) -> Iterable[Ref]:
        """What an object holds; nothing of it is read."""
        x = ref.object
        if id(x) in self.through:
            through = self.through[id(x)][1]
            yield through if ref.stop is None else Ref(through.object, through.stop or ref.stop)
        pairs: list[tuple[Any, Any, Any]] = []
        if isa(x, (list, tuple)):
            pairs += [(x, i, item) for i, item in enumerate(tuple.__iter__(x) if isa(x, tuple) else list(x))]
        elif isa(x, dict):
            pairs += [(x, key, item) for key, item in dict.items(x)]
        elif isa(x, (set, frozenset)):
            pairs += [(x, item, item) for item in x]
        elif isa(x, np.ndarray) and x.dtype == object:
            pairs += [(x, i, item) for i, item in enumerate(x.ravel().tolist())]
        elif isa(x, (types.MethodType, types.BuiltinMethodType)):
            pairs.append((x, "__self__", x.__self__))
        elif isa(x, types.FunctionType):
            pairs += [(None, None, v) for v in x.__defaults__ or ()]
            for cell in x.__closure__ or ():
                try:
                    pairs.append((None, None, cell.cell_contents))
                except ValueError:
                    continue
            return
        held = holder(x)
        if isa(held, dict) and held is not x:
            pairs += [(held, name, item) for name, item in held.items()]
        for name in members(type(x)):
            pairs += [(x, name, getattr(x, name))] if hasattr(x, name) else []
        for owner, key, item in pairs:
            yield self.slots.peek(owner, key, item, ref.stop)

    def activate(self, array: Any) -> Token:
        """Something active is in the memory of an array."""
        if not isa(array, np.ndarray) or array.dtype.kind not in "fc":
            raise NotSupported(f"something active in an array of {array.dtype}")
        token = self.memory.token(array)
        token.extent.is_active = True
        return token

    # --- classes

    def adopt(self, cls: type) -> None:
        """The methods of a class are interpreted wherever Python itself calls them."""
        from tests.shadows.calls import installed

        for base in cls.__mro__:
            if base in self.adopted or base.__module__ in ("builtins", "numpy"):
                continue
            self.adopted.add(base)
            for name, member in list(vars(base).items()):
                f = member.__func__ if isa(member, (classmethod, staticmethod)) else member
                if isa(f, types.FunctionType) and self.codes.find(f) is not None:
                    made = installed(self, f)
                    self.replaced.append((base, name, member))
                    type.__setattr__(base, name, made if f is member else type(member)(made))

    def give_back(self) -> None:
        """The classes have their own methods again."""
        for cls, name, member in self.replaced:
            type.__setattr__(cls, name, member)

    # --- the border to code that is not interpreted

    def out(self, ref: Ref) -> Any:
        """The object, which code that is not interpreted gets."""
        if isa(ref.mark, Node):
            self.flight[id(ref.object)] = ref
        return ref.object

    def out_of_program(self, ref: Ref) -> Any:
        """The object that code that is not interpreted gets of the program which it runs."""
        if self.is_active(ref):
            raise NotSupported("something active goes from the program to code that is not known")
        return ref.object

    def arrived(self, x: Any) -> Ref:
        """A reference to what code that is not interpreted gives."""
        return self.flight.get(id(x), Ref(x)) if is_number(x) else Ref(x)


def members(cls: type) -> list[str]:
    """The names in ``__slots__``."""
    found: list[str] = []
    for base in cls.__mro__:
        found += [n for n, v in vars(base).items() if isa(v, types.MemberDescriptorType) and _is_own(base)]
    return found


def _is_own(cls: type) -> bool:
    return cls.__module__ not in ("builtins", "functools", "types", "collections", "numpy", "datetime")


def holder(x: Any) -> Any:
    """What holds the attributes of an object: its dictionary where it has one."""
    if isa(x, type):
        return x
    if isa(x, (types.MethodType, types.BuiltinMethodType)):
        return x
    try:
        found = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return x
    return found if isa(found, dict) else x


def is_generated(function: Any) -> bool:
    """Whether `dataclasses` wrote a method."""
    return isa(function, types.FunctionType) and function.__code__.co_filename == "<string>"


def fields_of(cls: Any) -> list[Any]:
    return list(dataclasses.fields(cls)) if dataclasses.is_dataclass(cls) else []
