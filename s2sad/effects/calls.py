"""Calls: which functions a value may be, the binding of arguments to parameters, and what instances begin with."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from s2sad import ops
from s2sad.effects import built_in, library, methods, operators
from s2sad.effects.library import Arguments
from s2sad.effects.objects import ANY, ARRAY, CONSTANT, CONTAINERS, ITEMS, NOTHING, UNKNOWN, Object, Objects, Plain
from s2sad.ir.code import Code, Definition, Operation
from s2sad.runtime.classes import initialises, initialises_exception, inside, is_of_library, module_of, static_member
from s2sad.runtime.managed import managed
from s2sad.runtime.objects import record, state_of

if TYPE_CHECKING:
    from s2sad.effects.points_to import Activation, Function

_HEAP_TYPE = 1 << 9
#: The attributes under which what is called has the function that runs.
_AROUND = ("__func__", "__wrapped__", "pyfunc")
_METHOD_DESCRIPTORS = (types.MethodDescriptorType, types.WrapperDescriptorType)
#: The field of a `functools.partial` for its function; its arguments are those of a row and ``=name``.
FUNCTION = "function"


def call(a: Activation, op: Operation) -> Objects:
    """``function(arguments...)``"""
    return called(a, op, a.of(op.operands[0]), library.arguments(a, op))


def called(a: Activation, op: Operation, functions: Objects, args: Arguments) -> Objects:
    """Call any of some functions."""
    return NOTHING.union(*(_called(a, op, o, args) for o in functions))


def _called(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    value = o.value
    if o.cls is types.FunctionType and isinstance(value, Definition):
        return run(a, op, a.program.inner(value.code), frozenset((o,)), args)
    if o.cls is types.MethodType and isinstance(value, (str, types.FunctionType, types.WrapperDescriptorType)):
        return _method(a, op, o, value, args)
    if o.cls is functools.partial and o.kind != "global":
        return _partial(a, op, o, args)
    if o.cls is types.BuiltinFunctionType and o.kind == "site":
        return _known(a, op, value, args)
    if o.kind == "global":
        return _known(a, op, value, args)
    if o.cls is not None and o.cls.__flags__ & _HEAP_TYPE:
        return _instance(a, op, o, args)
    if o.cls is ARRAY or o.cls in CONTAINERS:
        return NOTHING
    return a.unknown(op, [o], args.all())


def _instance(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    member = None if o.cls in (None, contextlib._GeneratorContextManager) else static_member(o.cls, "__call__")
    if isinstance(member, types.FunctionType):
        return _known(a, op, member, args.after(frozenset((o,))))
    return a.unknown(op, [o], args.all())


def _method(a: Activation, op: Operation, o: Object, value: Any, args: Arguments) -> Objects:
    owners = a.heap.load(o, "__self__")
    if isinstance(value, str):
        if not owners:
            return methods.of_immutable(a, op, value, args)
        return NOTHING.union(*(methods.called(a, op, owner, value, args) for owner in owners))
    for owner in owners:
        if owner.kind == "global":
            bound = ops.spec_of(types.MethodType(value, owner.value))
            if bound is not None:
                return library.applied(a, op, bound, args)
    return _known(a, op, value, args.after(owners))


def _partial(a: Activation, op: Operation, o: Object, args: Arguments) -> Objects:
    if o.kind == "param" and o.shape.fields is None:
        return a.unknown(op, [o], args.all())
    names = a.heap.names(o)
    first = [a.heap.load(o, f"[{i}]") for i in range(int(o.value or 0))]
    named = {name[1:]: a.heap.load(o, name) for name in names if name.startswith("=")}
    whole = args.after(*first)
    whole.named = {**named, **args.named}
    return called(a, op, a.heap.load(o, FUNCTION), whole)


def _known(a: Activation, op: Operation, value: Any, args: Arguments) -> Objects:
    """Call an object that is known."""
    if id(value) in a.program.silent:
        return NOTHING
    if value is state_of:
        # Nothing else leads to the array.
        return a.site(op, np.ndarray)
    special = methods.recorded if value is record else built_in.FUNCTIONS.get(id(value))
    if special is not None:
        return special(a, op, args)
    model = a.program.stands_for(value) if a.program.stands_for is not None else None
    is_read = not isinstance(model, types.FunctionType) or a.program.function(model) is not None
    # A function of ours is not read: where it stands for an operation, it does what that does.
    if model is not None and (is_read or ops.spec_of(value) is None):
        value = model
    if isinstance(value, type):
        return _made(a, op, value, args)
    spec = ops.spec_of(value)
    if spec is not None and not isinstance(value, _METHOD_DESCRIPTORS) and not _is_bound(value):
        return library.applied(a, op, spec, args)
    if isinstance(value, types.BuiltinFunctionType) and isinstance(value.__self__, np.ufunc):
        unbound = ops.spec_of(getattr(np.ufunc, value.__name__))
        if unbound is not None:
            return library.applied(a, op, unbound, args.after(a.heap.known(value.__self__)))
    if initialises_exception(value) and args.positional:
        # It keeps what it is given in `args`.
        a.store(args.positional[0], ITEMS, args.all())
        return NOTHING
    if initialises(value) and args.positional and not args.open:
        return _initialised(a, op, value, args)
    if (generating := managed(value)) is not None and (function := a.program.function(generating)) is not None:
        manager = a.site(op, contextlib._GeneratorContextManager)
        a.store(manager, "gen", _suspended(a, op, function, NOTHING, args))
        return manager
    if isinstance(value, types.FunctionType):
        if _is_reading(value, args):
            return library.trusted(a, op, args)
        function = a.program.function(value)
        return _without_code(a, op, value, args) if function is None else run(a, op, function, NOTHING, args)
    if isinstance(value, types.MethodType) and isinstance(value.__func__, types.FunctionType):
        return _known(a, op, value.__func__, args.after(a.heap.known(value.__self__)))
    if isinstance(value, _METHOD_DESCRIPTORS) and args.positional and not args.open:
        rest = Arguments(args.positional[1:], args.named)
        own = [o for o in args.positional[0] if o.cls in (value.__objclass__, Plain)]
        if own and (a.heap.plain or len(own) == len(args.positional[0])):
            return NOTHING.union(*(methods.called(a, op, o, value.__name__, rest) for o in own))
    if isinstance(value, functools.partial):
        found = args.after(*map(a.heap.known, value.args))
        found.named = {**{k: a.heap.known(v) for k, v in value.keywords.items()}, **args.named}
        return _known(a, op, value.func, found)
    if isinstance(value, types.BuiltinFunctionType) and value.__self__ is not None and _is_bound(value):
        owner = a.heap.known(value.__self__)
        return NOTHING.union(*(methods.called(a, op, o, value.__name__, args) for o in owner))
    if inside(value, "__qualname__") == "default_rng" and not args.all():
        return a.site(op, np.random.Generator)
    member = static_member(type(value), "__call__")
    # What a library puts around a function, as a derivative, calls that.
    is_around = a.heap.plain and any(inside(value, name) is not None for name in _AROUND)
    if isinstance(member, types.FunctionType) and not (is_around and a.program.function(member) is None):
        return _known(a, op, member, args.after(a.heap.known(value)))
    return _without_code(a, op, value, args)


def _is_reading(function: types.FunctionType, args: Arguments) -> bool:
    """Whether it is a method of objects of a library for which there is a model, and changes nothing."""
    owners = [o.cls for o in args.positional[0]] if args.positional and not args.open else []
    name = function.__name__

    def reads(cls: type | None) -> bool:
        model = None if cls is None else ops.object_model_of(cls)
        return cls is not None and model is not None and name in model.reading and static_member(cls, name) is function

    of_library = bool(owners) and is_of_library(module_of(function)) and "out" not in args.named
    return of_library and all(map(reads, owners))


def _without_code(a: Activation, op: Operation, value: Any, args: Arguments) -> Objects:
    """Call what has no code."""
    is_function = isinstance(value, types.FunctionType)
    for name in _AROUND if a.heap.plain and not is_function else ():
        if (inner := inside(value, name)) is not None:
            return called(a, op, a.heap.known(inner), args) | library.trusted(a, op, args)
    if a.trusts(value, a.uses(op)):
        return library.trusted(a, op, args)
    return a.unknown(op, args.all(), *([] if isinstance(value, CONSTANT) else [a.heap.known(value)]))


def _is_bound(value: object) -> bool:
    """Whether it is a method of a container, which is the receiver."""
    owner = getattr(value, "__self__", None)
    return isinstance(value, types.BuiltinFunctionType) and isinstance(owner, (list, dict, set, np.ndarray))


# --- classes


def _made(a: Activation, op: Operation, cls: type, args: Arguments) -> Objects:
    spec = ops.spec_of(cls)
    if spec is not None:
        return library.applied(a, op, spec, args)
    if cls is functools.partial:
        return _made_partial(a, op, args)
    if cls is np.errstate and not args.all():
        return a.site(op, np.errstate)
    if cls is object or issubclass(cls, (BaseException, np.number, np.bool_)):
        if not cls.__flags__ & _HEAP_TYPE:
            if not operators.is_plain(a, args.all()) and not issubclass(cls, BaseException):
                return _without_code(a, op, cls, args)
            made = a.site(op, cls)
            a.store(made, ITEMS, args.all())
            return made if not issubclass(cls, np.generic) else NOTHING
    maker = static_member(type(cls), "__call__")
    if a.heap.plain and isinstance(maker, types.FunctionType) and not a.trusts(cls):
        return _known(a, op, maker, args.after(a.heap.known(cls)))
    is_made = type(cls) is type or (a.heap.plain and maker is static_member(type, "__call__"))
    if not cls.__flags__ & _HEAP_TYPE or not is_made or module_of(cls) in ("functools", "enum"):
        return _without_code(a, op, cls, args)
    return _made_instance(a, op, cls, args)


def _made_partial(a: Activation, op: Operation, args: Arguments) -> Objects:
    if args.open or not args.positional:
        return a.unknown(op, args.all())
    count = len(args.positional) - 1
    made = a.site(op, functools.partial, count)
    a.store(made, FUNCTION, args.positional[0])
    for i, objects in enumerate(args.positional[1:]):
        a.store(made, f"[{i}]", objects)
    for name, objects in args.named.items():
        a.store(made, f"={name}", objects)
    return made


def _made_instance(a: Activation, op: Operation, cls: type, args: Arguments) -> Objects:
    new, init = static_member(cls, "__new__"), static_member(cls, "__init__")
    made = a.site(op, cls)
    (o,) = made
    if issubclass(cls, BaseException):
        # `BaseException.__new__` keeps what it is given, whatever `__init__` does.
        a.store(made, ITEMS, args.all())
    if o.is_row:
        names: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
        for i, name in enumerate(names):
            default = a.heap.known(cls._field_defaults[name]) if name in cls._field_defaults else NOTHING  # type: ignore[attr-defined]
            a.store(made, f"[{i}]", args.at(i, name) | default)
        return made
    if a.heap.plain and isinstance(new, staticmethod):
        # What has no source returns an instance, and never the class, which it is given.
        own = a.program.function(new.__func__) if isinstance(new.__func__, types.FunctionType) else None
        first = [a.heap.known(cls)] if own is not None else []
        made |= _known(a, op, new.__func__, args.after(*first))
    is_plain = a.heap.plain
    if new is not object.__new__ and not issubclass(cls, BaseException) and not is_plain:
        return a.unknown(op, args.all())
    if init is object.__init__ and new is object.__new__:
        return made
    if not isinstance(init, types.FunctionType):
        a.store(made, ITEMS, args.all())
        return made if issubclass(cls, BaseException) or is_plain else a.unknown(op, args.all())
    if "__dataclass_fields__" in vars(cls) and init.__code__.co_filename == "<string>":
        return _made_data(a, op, cls, init, made, args)
    _known(a, op, init, args.after(made))
    return made


def _initialised(a: Activation, op: Operation, init: Any, args: Arguments) -> Objects:
    """Call the generated ``__init__`` of a dataclass with an instance."""
    rest = Arguments(args.positional[1:], args.named, args.spread)
    for o in args.positional[0]:
        is_own = o.cls is not None and o.cls.__dict__.get("__init__") is init and "__dataclass_fields__" in vars(o.cls)
        if is_own and not o.is_row:
            _made_data(a, op, o.cls, init, frozenset((o,)), rest)
        else:
            a.unknown(op, args.all())
    return NOTHING


def _made_data(a: Activation, op: Operation, cls: Any, init: Any, made: Objects, args: Arguments) -> Objects:
    """An instance of a dataclass, whose ``__init__`` is generated."""
    fields = cls.__dataclass_fields__
    params = list(inspect.signature(init).parameters)[1:]
    if set(params) - fields.keys() or static_member(cls, "__setattr__") is not object.__setattr__:
        if not cls.__dataclass_params__.frozen or set(params) - fields.keys():
            return a.unknown(op, made, args.all())
    for name, info in fields.items():
        held = args.at(params.index(name), name) if name in params else NOTHING
        if callable(info.default_factory):
            held |= called(a, op, a.heap.known(info.default_factory), Arguments())
        else:
            held |= a.heap.known(info.default)
        a.mod(op, made, name)
        a.store(made, name, held)
    after = static_member(cls, "__post_init__")
    if isinstance(after, types.FunctionType):
        _known(a, op, after, Arguments([made]))
    return made


def entered(a: Activation, op: Operation, managers: Objects) -> Objects:
    """Run what a ``with`` runs of its manager; what that gives at the beginning."""
    found = NOTHING
    for o in managers:
        if o.cls is np.errstate and o.kind == "site":
            a.mod(op, [o], ANY)
            a.effect(op).ordered.add("errors of NumPy")
            continue
        if o.cls is contextlib._GeneratorContextManager and o.kind == "site":
            for generator in a.heap.load(o, "gen"):
                if generator.kind == "site" and not isinstance(generator.value, Code):
                    # It goes on after the body, and is sent nothing.
                    a.program.managing.add(generator.value.code)
                found |= resumed(a, op, generator)
            continue
        if o.cls is Plain and "__enter__" in a.program.doubtful:
            found |= operators.doubted(a, op, o, "__enter__")
            continue
        members = [None if o.cls is None else static_member(o.cls, n) for n in ("__enter__", "__exit__")]
        if not all(isinstance(m, types.FunctionType) for m in members):
            found |= frozenset((o,)) if a.trusts(o.cls) else a.unknown(op, [o])
            continue
        found |= _known(a, op, members[0], Arguments([frozenset((o,))]))
        _known(a, op, members[1], Arguments([frozenset((o,))], spread=frozenset((UNKNOWN,)), open=True))
    return found


# --- code


def run(a: Activation, op: Operation, function: Function, closure: Objects, args: Arguments) -> Objects:
    """Call a function whose code is known."""
    if function.code.generates and not function.code.awaits:
        return _suspended(a, op, function, closure, args)
    given = _bound(a, op, function, closure, args)
    if function.code.awaits:
        return a.unknown(op, closure, *given.values())
    return a.program.applied(a, op, function, {**given, "self": closure})[0]


def _suspended(a: Activation, op: Operation, function: Function, closure: Objects, args: Arguments) -> Objects:
    """The generator of a function."""
    made = a.site(op, types.GeneratorType, function, function.code.name)
    given = _bound(a, op, function, closure, args)
    a.store(made, "self", closure)
    for i, objects in given.items():
        a.store(made, f"parameter {i}", objects)
    return made


def resumed(a: Activation, op: Operation, o: Object) -> Objects:
    """Let a generator run; what it gives."""
    is_open = o.kind == "unknown" or (o.kind == "param" and o.shape.fields is None)
    if is_open or isinstance(o.value, types.GeneratorType):
        # Some function, or one that began before the program does.
        return a.unknown(op, [o])
    if isinstance(o.value, Code):
        function, closure = a.program.inner(o.value), frozenset((o,))
    else:
        function, closure = o.value, a.heap.load(o, "self")
    count = len(function.code.params)
    given: dict[Any, Objects] = {i: a.heap.load(o, f"parameter {i}") for i in range(count)}
    return a.program.applied(a, op, function, {**given, "self": closure})[1]


def _bound(
    a: Activation, op: Operation, function: Function, closure: Objects, args: Arguments
) -> Mapping[Any, Objects]:
    """The arguments of a call by the position of their parameter."""
    found: dict[Any, Objects] = {}
    named = dict(args.named)
    position = 0
    for i, param in enumerate(function.code.params):
        if param.kind == "star":
            made = a.site(op, tuple, param)
            for k, objects in enumerate(args.positional[position:]):
                a.store(made, f"[{k}]", objects)
            a.store(made, ITEMS, args.spread)
            found[i] = made if a.heap.fields.get(next(iter(made))) else NOTHING
            continue
        if param.kind == "double star":
            made = a.site(op, dict, param)
            for name, objects in named.items():
                a.store(made, f"[{name!r}]", objects)
            a.store(made, ITEMS, args.spread_named)
            found[i] = made
            continue
        by_position = param.kind != "by name" and position < len(args.positional)
        objects = NOTHING
        if by_position:
            objects = args.positional[position]
        elif param.name in named:
            objects = named.pop(param.name)
        else:
            if param.kind != "by name":
                objects |= args.spread
            objects |= args.spread_named
            if param.name in function.defaults:
                objects |= a.heap.known(function.defaults[param.name], param.name)
            objects |= a.load(closure, f"default {param.name}")
        position += param.kind != "by name"
        found[i] = objects
    return found
