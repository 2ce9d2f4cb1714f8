"""Functions among the arguments that may write what they are given: they are known when a derivative is compiled.

def march(u, update, n):            march(x * x, smooth, 3) is compiled with ``smooth`` for ``update``
    for i in range(n):
        update(u)

Others are met when the program runs, and one derivative serves all of them.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from s2sad.frontend.called import is_followed
from s2sad.frontend.resolve import Resolver
from s2sad.frontend.writing import may_write
from s2sad.ir.code import Value
from s2sad.ir.types import OPEN, Fact, describe
from s2sad.runtime.classes import LEAVES, functions_in, own_class
from s2sad.runtime.contents import attributes_of
from s2sad.transform.classes import name_of
from s2sad.transform.composites import leads_to_objects
from s2sad.transform.existing import is_container
from s2sad.transform.instances import is_simple_class
from s2sad.transform.known import Abstract, Home, Known
from s2sad.transform.specialiser import Frame, Specialiser

#: The classes of functions some of which are known.
FUNCTIONS = (types.FunctionType, types.MethodType, np.ufunc)


def is_known(value: Any) -> bool:
    """Whether an argument is a function that is known when a derivative is compiled.

    Universal functions write into their last argument or ``out``, if they are given one.  Of a method it is known which
    function it runs, and the class of its object.

    Example:
        >>> def clear(u): u[0] = 0.0
        >>> is_known(clear), is_known(lambda u: 2 * u), is_known(np.add), is_known(len)
        (True, False, True, False)
    """
    if type(value) is np.ufunc:
        return True
    if type(value) is types.MethodType:
        cls: Any = type(value.__self__)
        return is_simple_class(cls) and _holds_no_objects(value.__self__) and is_known(value.__func__)
    return type(value) is types.FunctionType and _writes(value)


#: Whether functions of some codes may write: to ask each closure that a program makes would take a millisecond.
_asked: dict[types.CodeType, bool] = {}
_MOST_ASKED = 4096


def _writes(function: types.FunctionType) -> bool:
    """Whether a function may write, or did another one of its code: of closures that is no more than likely."""
    found = _asked.get(function.__code__)
    if found is None:
        if len(_asked) >= _MOST_ASKED:
            _asked.clear()
        found = _asked[function.__code__] = is_followed(function) and may_write(function)
    return found


def with_functions(name: str, value: Any, fact: Fact) -> Fact:
    """The type of an argument, or of what it leads to, with the functions in it that are known."""
    if type(value) in FUNCTIONS and is_known(value):
        if type(value) is not types.MethodType:
            return fact.but(function=value)
        receiver = _described(f"{name}.__self__", value.__self__)
        return fact.but(function=value.__func__, items=(("__self__", receiver),), each=None)
    if fact.instance is not None:
        return _with_attributes(name, value, fact)
    if fact.items is None or type(value) not in (tuple, list, dict):
        return fact
    return _with_items(fact, [(k, with_functions(f"{name}[{k!r}]", value[k], item)) for k, item in fact.items])


def _described(name: str, value: Any) -> Fact:
    return with_functions(name, value, describe(value, name))


def _with_attributes(name: str, value: Any, fact: Fact) -> Fact:
    """The type of an object of the user's with the functions among its attributes."""
    held = dict(attributes_with_functions(value))
    if not held or fact.instance is None:
        return fact
    if fact.kind == "dataclass":
        items = [(k, with_functions(f"{name}.{k}", held[k], f) if k in held else f) for k, f in fact.items or ()]
        return _with_items(fact, items)
    before, each = dict(fact.items or ()), fact.each or OPEN
    names = dict.fromkeys((*fact.instance[1], *before))
    known = {k: _described(f"{name}.{k}", part) for k, part in held.items()}
    return fact.but(items=tuple([(k, known.get(k, before.get(k, each))) for k in names]), each=None)


def _with_items(fact: Fact, items: Sequence[tuple[Any, Fact]]) -> Fact:
    is_same = all(a is b for (_, a), (_, b) in zip(items, fact.items or (), strict=True))
    return fact if is_same else fact.but(items=tuple(items))


def attributes_with_functions(value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an object of the user's that are such functions, or hold some; all fields of a dataclass.

    Those that are objects of classes with methods that may write, and hold no objects of the user's, are among them.
    Universal functions are not: as activations and the like they are given no array to write into.

    Example:
        >>> def clear(u): u[0] = 0.0
        >>> [name for name, _ in attributes_with_functions(types.SimpleNamespace(f=np.add, x=1.0, steps=[clear]))]
        ['steps']
    """
    fields = getattr(type(value), "__dataclass_fields__", ())
    for name, held in attributes_of(value).items():
        items = held.values() if type(held) is dict else held if type(held) in (tuple, list) else (held,)
        known = (type(i) is not np.ufunc and type(i) in FUNCTIONS and is_known(i) for i in items)
        if type(held) is not np.ufunc and (name in fields or any(known) or any(map(_is_writing_object, items))):
            yield name, held


def _is_writing_object(value: Any) -> bool:
    """Whether something is an object whose methods may write, and which holds no others."""
    cls: Any = type(value)
    return cls not in LEAVES and is_simple_class(cls) and has_writing_methods(cls) and _holds_no_objects(value)


def _holds_no_objects(value: Any) -> bool:
    """Whether the attributes of an object are numbers, arrays, texts and functions."""
    parts = attributes_of(value).values()
    return all(type(part) in LEAVES or isinstance(part, (np.ndarray, np.generic)) for part in parts)


@functools.lru_cache(maxsize=1024)
def has_writing_methods(cls: Any) -> bool:
    """Whether a class of the user's has methods that may write into what they are given."""
    members = [(n, m) for base in cls.__mro__ if own_class(base) is not None for n, m in vars(base).items()]
    return any(n != "__init__" and is_writing_member(m) for n, m in members)


def is_writing_member(member: Any) -> bool:
    """Whether a function that runs when a member of a class is called or read may write into what it is given."""
    return any(map(may_write, functions_in(member) or ()))


def functions_among(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    """The types of those arguments that are such functions, or containers of some, by parameter."""
    return {name: fact for name, fact in facts.items() if any(known_functions(fact)) and not leads_to_objects(fact)}


def known_functions(fact: Fact) -> Iterator[Callable[..., Any]]:
    """The functions that are known of an argument, those of methods among them."""
    if fact.function is not None:
        yield fact.function
    for _, item in fact.items or ():
        yield from known_functions(item)


def begin(s: Specialiser, frame: Frame, home: Home, given: Mapping[Value, tuple[str, Fact]]) -> None:
    """Let the values of parameters be the functions that are known of them."""
    for operand, (name, fact) in given.items():
        found = _known(s, home, name, operand, fact)
        if found is None:
            continue
        s.used = True
        frame.env.update({target: found for target, value in frame.env.items() if value is operand})
        for cell, value in list(s.state.items()):
            if value is operand:
                s.state[cell] = found


def _known(s: Specialiser, home: Home, name: str, operand: Value, fact: Fact) -> Abstract | None:
    """What a value is of which the type is known; None where too little is."""
    if fact.function is not None and fact.items is None:
        return s.outside(fact.function, name_of(fact.function, name))
    held = _skeleton(fact)
    if not is_container(held):
        return None
    # What is known of its items is that of a variable of a module, where the type has said it already.
    space = types.FunctionType(_nothing.__code__, {name: held})
    return Known(held, (), operand, (Home(home.source, Resolver(space, frozenset())), name, ()))


def _skeleton(fact: Fact) -> Any:
    """A container of some type with the functions that are known, and numbers for all else, methods among that."""
    if fact.items is None:
        return fact.function or 0.0
    if fact.function is not None or not any(known_functions(fact)):
        return 0.0
    items = {key: _skeleton(item) for key, item in fact.items}
    return items if fact.kind == "dict" else tuple(items.values()) if fact.kind == "tuple" else list(items.values())


def _nothing() -> None: ...
