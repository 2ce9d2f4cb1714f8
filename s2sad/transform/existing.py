"""Specialisation of objects of the user's that exist at compile time.

Their classes, those of the objects that they hold, and functions, switches and texts that they hold, are known behind
guards; whatever else they hold is read at run time.  A call of a method is taken apart where it gets something that
may vary, and changes nothing.
"""

from __future__ import annotations

import enum
import types
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from s2sad import ops
from s2sad.frontend.resolve import Guard
from s2sad.ir.code import Constant, Operand, Operation, Place, Value
from s2sad.ir.sizes import LiteralSizes
from s2sad.ir.types import describe
from s2sad.ops.models import is_of_model
from s2sad.runtime.classes import does_as, is_of_library, module_of, own_class, package_of, static_member
from s2sad.runtime.contents import attributes_of, is_disguised, shown_by
from s2sad.runtime.objects import array_of
from s2sad.transform import presence, sizes, state
from s2sad.transform.classes import behaviour_of, is_simple, name_of, static_function
from s2sad.transform.found import (
    ArrayHeld,
    ClassHeld,
    Held,
    Identity,
    InClass,
    Key,
    Same,
    ShapeHeld,
    StaticMember,
    TypeHeld,
    found_at,
    kind_of,
    shape_of,
)
from s2sad.transform.known import (
    Abstract,
    Container,
    Items,
    Known,
    Method,
    NotSpecialisedError,
    Record,
    Row,
    is_static,
)
from s2sad.transform.specialiser import Done, End, Frame, Specialiser

Args = Sequence[tuple[str, Abstract]]


#: What finds the attributes of such objects.
_FINDING = (object.__getattribute__, types.SimpleNamespace.__getattribute__)


def is_object(value: Any) -> bool:
    """Whether something is an object of a class of the user's whose attributes are what its ``__dict__`` says."""
    if (
        is_disguised(value)
        or isinstance(value, (type, types.ModuleType))
        or own_class(value) is None
        or ops.has_methods(value)
    ):
        return False
    plain = static_member(type(value), "__getattribute__") in _FINDING
    return plain and isinstance(attributes_of(value), dict)


def is_existing(value: Abstract) -> bool:
    """Whether an abstract value is an object of a class of the user's that exists."""
    return isinstance(value, Known) and is_object(value.value)


#: How many items a list, tuple or dict that exists has at most, of which these are known.
MOST_HELD = 32
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, np.ufunc)
DICTS = (dict, OrderedDict, types.MappingProxyType)


def is_container(value: Any) -> bool:
    """Whether an object is a list, tuple or dict of which the items are known one by one."""
    if type(value) not in (list, tuple, *DICTS) or len(value) > MOST_HELD:
        return False
    return type(value) not in DICTS or all(map(_is_key, value))


def _is_key(key: Any) -> bool:
    """Whether a key can be written down: it is a text or whole number, or a tuple of such."""
    return type(key) in (str, int) or (type(key) is tuple and all(type(part) in (str, int) for part in key))


def holds_objects(value: Any) -> bool:
    """Whether a list, tuple or dict has functions, classes or objects of the user's among its items, or in these."""
    members = () if not is_container(value) else value.values() if type(value) in DICTS else value
    return any(is_object(m) or is_function_or_class(m) or holds_objects(m) for m in members)


def is_function_or_class(value: Any) -> bool:
    """Whether something is a function, or a class of the user's."""
    return issubclass(type(value), FUNCTIONS) or (issubclass(type(value), type) and own_class(value) is not None)


def use_known(s: Specialiser, known: Known) -> Any:
    """The object that a name means, on which the new program rests from now on."""
    if known.read is not None:
        home, name, path = known.read
        space = home.resolver.cells.get(name, home.resolver.globals)
        if not path and not isinstance(known.value, types.ModuleType):
            s.guard(Guard(space, name, type(known.value), type))
    return known.value


def guard_class(s: Specialiser, cls: type) -> None:
    """Let the new program rest on what objects of a class of the user's do."""
    if own_class(cls) is not None:
        s.guard(behaviour_of(cls))


def owner(cls: type, name: str) -> type:
    """The class in which a member is defined."""
    return next(base for base in cls.__mro__ if name in vars(base))


def guard_member(s: Specialiser, cls: type, name: str) -> None:
    """Let the new program rest on a member of a class."""
    s.guard(Guard(owner(cls, name), name, static_member(cls, name), StaticMember(cls, name)))


def rest_on(s: Specialiser, base: Known, path: tuple[str | Key, ...], make: type[Held], expected: Any) -> bool:
    """Let the new program rest on what is found under some attributes of a variable; False where it can't."""
    if base.read is None:
        return False
    home, name, before = base.read
    space = home.resolver.cells.get(name, home.resolver.globals)
    guard_class(s, type(base.value))
    s.guard(Guard(space, name, expected, make((*before, *path))))
    return True


def is_of_this_class(s: Specialiser, known: Known) -> bool:
    """Whether a variable, or attribute, has an object of the class that it has now, on which the new program rests."""
    return is_existing(known) and rest_on(s, known, (), TypeHeld, type(known.value))


def is_this(s: Specialiser, known: Known) -> bool:
    """Whether a variable, or attribute, has the object that it has now, on which the new program rests."""
    return is_existing(known) and rest_on(s, known, (), Identity, Same(known.value))


def now(s: Specialiser, known: Known) -> Abstract:
    """What exists, or what is known of it where the function sets its attributes or items."""
    taken = s.relied.taken
    if not taken or known.read is None:
        return known
    found = taken.get(written_as(known.value))
    if found is None and not any(_is_alike(known.value, record) for record in taken.values()):
        return known
    # In another call it may be the same object as one that is taken apart, or no longer.
    rest_on(s, known, (), Identity, Same(known.value))
    if found is None:
        return known
    for record in found.kin:
        if record.identity in s.state:
            return presence.as_items(s.state, record) if record.cls is Container else record
    raise NotSpecialisedError("elsewhere")


def written_as(value: Any) -> int:
    """The identity of what is written where something changes: that of the dict under a read-only view."""
    return id(shown_by(value))


def _is_alike(value: Any, record: Record) -> bool:
    """Whether something that exists is of the class of an object that is taken apart, or may show a dict that is."""
    is_view = type(value) is types.MappingProxyType
    return is_view or (record.origin is not None and type(value) is type(record.origin.value))


def want(s: Specialiser, base: Abstract) -> None:
    """Ask for an object, list or dict that exists, and that the program changes, to be taken apart."""
    is_simple_object = is_existing(base) and isinstance(base, Known) and is_simple(type(base.value))
    if isinstance(base, Known) and base.read is not None and (is_simple_object or may_be_taken(base)):
        s.relied.wanted.setdefault(id(base.value), base)


def may_be_taken(value: Abstract) -> bool:
    """Whether a value is a list or dict that exists, and that can be taken apart."""
    return isinstance(value, Known) and type(value.value) in (list, dict) and is_container(value.value)


def known_array(s: Specialiser, value: Value, base: Known, name: str | Key, member: Any, place: Place | None) -> Value:
    """An attribute or item that is read, with what is known of it where it is an array of real numbers."""
    if type(member) is not np.ndarray or member.dtype.kind not in "fiub" or not member.ndim:
        return value
    rest_on(s, base, (name,), ArrayHeld, kind_of(member))
    known = [Constant(member.ndim), Constant(member.dtype.char)]
    operands = s.operands([s.outside(array_of, "array_of"), value, *known], place)
    made = s.emit("call", operands, ("", "", ""), place=place)
    s.needless.add(made)
    if isinstance(name, str):
        _note_sizes(s, made, base, name, member)
    return made


def _note_sizes(s: Specialiser, value: Value, base: Known, name: str, member: np.ndarray[Any, Any]) -> None:
    """Take notice of the sizes of an attribute, where those of arguments are known too."""
    if s.sized and is_steady(s, base, name) and rest_on(s, base, (name,), ShapeHeld, shape_of(member)):
        sizes.note(s, value, describe(member, name, LiteralSizes()))


def reread(s: Specialiser, value: Value, base: Known, name: str) -> None:
    """Let an attribute of an object that exists be read wherever it is used."""
    s.needless.add(value)
    s.relied.invariant.add(value)
    found = s.relied.rereads.get(base.operand) if isinstance(base.operand, Value) else None
    if found is not None:
        s.relied.rereads[value] = replace(found, path=(*found.path, name))


def is_steady(s: Specialiser, known: Known, name: str) -> bool:
    """Whether an attribute of this name is what it was at first, and the variable that has the object."""
    if name in s.relied.changing or (known.read is not None and known.read[0].resolver.is_rebound(known.read[1])):
        return False
    s.relied.attributes.add(name)
    s.relied.looked_up.add(name)
    return True


def attribute(s: Specialiser, base: Known, name: str, op: Operation, frame: Frame) -> Done:
    """An attribute of an object that exists, if it is a method, property, function or another such object."""
    value = base.value
    cls = type(value)
    if base.read is None or not is_steady(s, base, name):
        return None
    own, member = found_at(value, name)
    if isinstance(value, enum.Enum) and member is vars(enum.Enum).get(name):
        # ``value`` and ``name`` of an enumeration's member.
        name = f"_{name}_"
        own, member = found_at(value, name)
    place = frame.place or op.place
    if is_disguised(member) or (own and _takes_precedence(static_member(cls, name))):
        return None
    written = state.part(s, member, base, name)
    if written is not None:
        return (written,)
    method = member.__func__ if does_as(member, classmethod) else member
    if isinstance(method, types.FunctionType) and not own:
        _rest_on_member(s, base, name)
        operand = s.emit("attribute", (s.dynamic(base),), name, place=place)
        reread(s, operand, base, name)
        first = base if method is member else s.outside(cls, cls.__name__)
        return (Method(Known(method), first, owner(cls, name), operand),)
    if does_as(member, property) and not own:
        _rest_on_member(s, base, name)
        getter = member.fget
        if not isinstance(getter, types.FunctionType):
            return None
        return followed(s, lambda: s.call_function(s, getter, [("", base)], op, frame, (owner(cls, name), base)))
    if not own and (static := static_function(member)) is not None:
        _rest_on_member(s, base, name)
        return (s.outside(static, name),)
    is_counted = type(member) is int and s.relied.writes_out
    if is_counted or (type(member) in (type(None), bool, str) and (own or member is not None)):
        use_known(s, base)
        rest_on(s, base, (name,), Held, (own, member))
        return (Constant(member),)
    if member is None and not own and isinstance(getter := static_member(cls, "__getattr__"), types.FunctionType):
        return _asked_for(s, base, name, getter, op, frame)
    function = member.__func__ if does_as(member, staticmethod) and not own else member
    is_known = isinstance(function, types.ModuleType) or is_function_or_class(function)
    if is_known or ops.spec_of(function) is not None:
        use_known(s, base)
        rest_on(s, base, (name,), Held, (own, member))
        s.used = True
        return (s.outside(function, name_of(function, name)),)
    if (is_object(member) and not hasattr(type(member), "__get__")) or is_container(member):
        rest_on(s, base, (name,), ClassHeld, (own, type(member)))
        operand = s.emit("attribute", (s.dynamic(base),), name, place=place)
        reread(s, operand, base, name)
        home, root, path = base.read
        return (now(s, Known(member, (), operand, (home, root, (*path, name)))),)
    if own and (model := ops.object_model_of(type(member))) is not None and base.operand is not None:
        rest_on(s, base, (name,), ClassHeld, (own, type(member)))
        operand = s.emit("attribute", s.operands([base], place), name, place=place)
        reread(s, operand, base, name)
        s.foreign[operand] = model
        return (operand,)
    by_name = base.operand in s.relied.rereads and base.read[0] is s.making.home
    if own and type(member) in (float, int) and (s.relied.writes_out or not by_name):
        rest_on(s, base, (name,), ClassHeld, (own, type(member)))
        operand = s.emit("attribute", s.operands([base], place), name, place=place)
        number = s.emit(
            "call", s.operands([s.outside(type(member), type(member).__name__), operand], place), ("",), place=place
        )
        s.needless.update((operand, number))
        s.numbers.add(number)
        return (number,)
    if own and type(member) is np.ndarray and isinstance(base.operand, Value):
        # Of what is read by a variable and attributes the type is known without, but for the sizes.
        if by_name and not (s.sized and kind_of(member) is not None):
            return None
        operand = s.emit("attribute", s.operands([base], place), name, place=place)
        s.needless.add(operand)
        if by_name:
            _note_sizes(s, operand, base, name, member)
            return (operand,)
        return (known_array(s, operand, base, name, member, place),)
    return None


def _asked_for(s: Specialiser, base: Known, name: str, getter: types.FunctionType, op: Operation, frame: Frame) -> Done:
    """An attribute that is given by the ``__getattr__`` of the class."""
    if not rest_on(s, base, (name,), Held, (False, None)):
        return None
    guard_member(s, type(base.value), "__getattr__")
    args = [("", base), ("", Constant(name))]
    done = followed(
        s, lambda: s.call_function(s, getter, args, op, frame, (owner(type(base.value), "__getattr__"), base))
    )
    if isinstance(done, tuple):
        s.used = True
    return done


def _rest_on_member(s: Specialiser, base: Known, name: str) -> None:
    use_known(s, base)
    guard_member(s, type(base.value), name)
    rest_on(s, base, (name,), InClass, True)


def _takes_precedence(member: Any) -> bool:
    return hasattr(type(member), "__set__") or hasattr(type(member), "__delete__")


# --- calls


def is_constant(s: Specialiser, value: Abstract) -> bool:
    """Whether a value depends on nothing that a function is given."""
    if not is_static(value):
        return isinstance(value, Constant) or value in s.relied.invariant
    return is_existing(value)


def holds_constants(s: Specialiser, value: Abstract) -> bool:
    """Whether a value, and all that a list, dict or tuple of known items holds, depends on no argument."""
    if isinstance(value, Items):
        content = s.content(value)
        return content is not None and all(holds_constants(s, s.state[slot]) for slot in content.slots)
    if isinstance(value, Row):
        return all(holds_constants(s, item) for item in value.items)
    return is_constant(s, value)


def call(s: Specialiser, base: Known, args: Args, op: Operation, frame: Frame) -> Done:
    """A call of an object that exists."""
    cls = type(base.value)
    function = static_member(cls, "__call__")
    if not isinstance(function, types.FunctionType) or not is_steady(s, base, "__call__"):
        return None
    use_known(s, base)
    guard_member(s, cls, "__call__")
    return method_call(s, Method(Known(function), base, owner(cls, "__call__")), args, op, frame)


def asked(s: Specialiser, base: Known, name: str, args: Args, op: Operation, frame: Frame) -> Done:
    """What a special method of an object that exists gives, which must not change any that exists.

    Raises:
        NotSpecialisedError: where it has none that is known, and where that cannot be followed.
    """
    cls = type(base.value)
    function = static_member(cls, name)
    if not isinstance(function, types.FunctionType) or not is_steady(s, base, name):
        raise NotSpecialisedError("operator")
    use_known(s, base)
    guard_member(s, cls, name)
    s.relied.following += 1
    try:
        return s.call_function(s, function, [("", base), *args], op, frame, (owner(cls, name), base))
    finally:
        s.relied.following -= 1


def iterated(s: Specialiser, base: Known, op: Operation, frame: Frame) -> Abstract | None:
    """What the method of an object that exists gives a loop to run through; None if that is not known."""
    cls = type(base.value)
    function = static_member(cls, "__iter__")
    if not isinstance(function, types.FunctionType) or not is_steady(s, base, "__iter__"):
        return None
    use_known(s, base)
    guard_member(s, cls, "__iter__")
    known = owner(cls, "__iter__"), base
    done = followed(s, lambda: s.call_function(s, function, [("", base)], op, frame, known))
    return done[0] if isinstance(done, tuple) else None


def is_foreign(s: Specialiser, function: types.FunctionType) -> bool:
    """Whether a function is of an installed package that is not the program's own."""
    is_installed = is_of_library(module_of(function)) and not is_of_model(function)
    return is_installed and package_of(function) != s.package


def method_call(s: Specialiser, method: Method, args: Args, op: Operation, frame: Frame) -> Done:
    """A call of a method of an object that exists; None where it is to be written as it is."""
    assert isinstance(method.function, Known)
    is_needless = not s.relied.taken and all(is_constant(s, value) for _, value in args)
    is_needless = is_needless and not s.relied.follows(method.function.value)
    receiver: Any = method.receiver
    # Of what a function of the new program is given nothing is known to what reads that program.
    gives_objects = is_needless and (not isinstance(receiver.operand, Value) or receiver.operand in s.relied.rereads)
    if gives_objects and not s.relied.follows_makers:
        return None
    whole = [("", receiver), *args]
    known = None if method.owner is None else (method.owner, receiver)
    function: Any = method.function.value
    done = followed(s, lambda: s.call_function(s, function, whole, op, frame, known), is_needless, gives_objects)
    s.relied.followed_makers |= gives_objects and done is not None
    return done


def followed(
    s: Specialiser,
    call: Callable[[], Done],
    is_needless: bool = False,
    gives_objects: bool = False,
    may_change: bool = False,
) -> Done:
    """What a call gives that is taken apart; None, and nothing is written, if it cannot be, or changes objects.

    So it is with one that has to give objects, and does not; what is needless asks for no objects to be taken apart.
    """
    start, state, used, lifted = len(s.out), s.state.copied(), s.used, dict(s.lifted)
    wanted = dict(s.relied.wanted)
    s.relied.following += not may_change
    try:
        done = call()
    except NotSpecialisedError as error:
        s.relied.unfollowed += [] if is_needless else [error]
        done = None
    finally:
        s.relied.following -= not may_change
    if done is None or isinstance(done, End) or (gives_objects and not any(map(is_static, done))):
        del s.out[start:]
        s.state, s.used, s.lifted = state, used, lifted
        s.relied.wanted = wanted if is_needless else s.relied.wanted
        return None
    return done


def changes(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A write into an object that exists, which a function that is followed must not do."""
    if op.kind in ("set_item", "delete_item"):
        want(s, s.get(op.operands[0], frame))
    if not s.relied.following:
        return None
    base: Operand | None = op.operands[0] if op.kind in ("set_item", "delete_item") else None
    changed = None if base is None else s.get(base, frame)
    if changed is None or (is_constant(s, changed) and changed not in s.relied.new):
        raise NotSpecialisedError("changes")
    return None
