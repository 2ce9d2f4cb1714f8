"""Calls, met as the program runs: functions of the program, classes, bound methods, operations of the table."""

from __future__ import annotations

import functools
import linecache
import types
from typing import Any

import numpy as np

from s2sad.ops.spec import OpSpec, Rule, callee, form_of, spec_of
from tests.shadows import arrays, classes, container_methods, containers, copies, library, objects
from tests.shadows.containers import SEQUENCES, iterate, method, special
from tests.shadows.refs import NotSupported, Ref, is_number, isa
from tests.shadows.rules import bind, bound, into, result
from tests.shadows.run import Codes, Made, Run, fields_of, is_generated

_BUILTIN = (types.BuiltinMethodType, types.MethodWrapperType)
_UNBOUND = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)


def call(run: Run, function: Ref, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    """``function(*args, **kwargs)``"""
    f = function.object
    made = run.functions.get(id(f))
    if made is not None:
        found: Ref = made.begin(args, kwargs)
        return found
    handler = library.handler(f)
    if handler is not None:
        return handler(run, *args, **kwargs)
    if isa(f, types.MethodType):
        if isa(f.__self__, (np.random.Generator, np.random.RandomState)):
            return _of_random(run, f, Ref(f.__self__), f.__name__, args, kwargs)
        return call(run, Ref(f.__func__), [Ref(f.__self__, function.mark), *args], kwargs)
    if isa(f, library.PICKING):
        return library.picking(run, f, *args, **kwargs)
    if isa(f, functools.partial):
        args = [*[run.slots.load(f.args, i, a) for i, a in enumerate(f.args)], *args]
        named = {k: run.slots.load(f.keywords, k, v) for k, v in f.keywords.items()}
        return call(run, Ref(f.func), args, {**named, **kwargs})
    if isa(f, type):
        return classes.construct(run, f, args, kwargs)
    if isa(f, _UNBOUND) and args and isa(args[0].object, f.__objclass__):
        return built_in(run, f, args[0], f.__name__, args[1:], kwargs)
    spec = spec_of(f)
    if spec is not None:
        return operation(run, spec, f, args, kwargs)
    if isa(f, types.FunctionType):
        return _of_python(run, f, args, kwargs)
    if isa(f, _BUILTIN) and f.__self__ is not None and not isa(f.__self__, types.ModuleType):
        if f.__name__ == "__new__":
            return classes.new(run, f.__self__, args, kwargs)
        if isa(f.__self__, (types.FunctionType, types.MethodType)) and f.__name__ == "__call__":
            return call(run, Ref(f.__self__), args, kwargs)
        return built_in(run, f, Ref(f.__self__, function.mark), f.__name__, args, kwargs)
    if special(run, f, "__call__") is not None:
        return method(run, function, "__call__", *args) if not kwargs else call(
            run, Ref(special(run, f, "__call__")), [function, *args], kwargs
        )  # fmt: skip
    return native(run, f, args, kwargs)


def _of_python(run: Run, f: types.FunctionType, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    """A function that Python made: its code is found and interpreted."""
    if is_generated(f) and f.__name__ == "__init__" and fields_of(type(args[0].object)):
        return classes.dataclass_init(run, f, args, kwargs)
    made = made_of(run, f)
    if made is None:
        return native(run, f, args, kwargs)
    found: Ref = made.begin(args, kwargs)
    return found


def elsewhere(run: Run, f: Any) -> Made | None:
    """A function of another module, by its source, or None."""
    f = getattr(f, "_implementation", f)  # of a function of NumPy that dispatches
    if not isa(f, types.FunctionType):
        return None
    known = run.others.get(f.__code__.co_filename)
    if known is None:
        lines = linecache.getlines(f.__code__.co_filename)
        known = run.others[f.__code__.co_filename] = Codes("".join(lines), f.__code__.co_filename)
    return made_of(run, f, known)


def made_of(run: Run, f: types.FunctionType, codes: Codes | None = None) -> Made | None:
    """A function that Python made, as one that is interpreted, or None if it has no source here."""
    from tests.shadows.cells import RealCell
    from tests.shadows.interpreter import Tracer

    code = (codes or run.codes).find(f)
    if code is None:
        return None
    names = f.__code__.co_varnames[: f.__code__.co_argcount]
    values = f.__defaults__ or ()
    defaults = {n: run.slots.load(f, n, v) for n, v in zip(names[len(names) - len(values) :], values, strict=True)}
    defaults.update({n: run.slots.load(f, n, v) for n, v in (f.__kwdefaults__ or {}).items()})
    free = {n: RealCell(c) for n, c in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True)}
    tracer = Tracer(f.__globals__, run_=run, free=free, code=code)
    made = run.functions[id(tracer.function(code, defaults))]
    run.functions[id(f)] = Made(f, made.begin, code)
    run.kept.append(f)
    return made


# --- what has no source ---


def is_program(run: Run, x: Any) -> bool:
    """Whether code that is not interpreted would run code of the program through an object."""
    if isa(x, types.MethodType):
        x = x.__func__
    return id(x) in run.functions or (isa(x, types.FunctionType) and run.codes.find(x) is not None)


def native(run: Run, f: Any, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    """A call of what has no source and no entry in the table; nothing active may reach it, nothing may be written."""
    name = getattr(f, "__name__", type(f).__name__)
    refs = [*args, *kwargs.values()]
    wraps = isa(f, types.FunctionType) and (f.__module__ == "contextlib" or _wraps_program(run, f))
    if wraps or any(run.is_active(r) or is_program(run, r.object) for r in refs):
        made = elsewhere(run, f)
        if made is not None:
            run.used.add("source elsewhere")
            return made.begin(args, kwargs)  # type: ignore[no-any-return]
    if any(run.is_active(r) for r in refs):
        raise NotSupported(f"a call of {name}, which is not known, with something active")
    if run.is_active(Ref(f)):
        raise NotSupported(f"a call of an active object of class {type(f).__name__}")
    if any(is_program(run, r.object) for r in refs):
        args = [Ref(interpreted(run, a.object)) for a in args]
        kwargs = {k: Ref(interpreted(run, v.object)) for k, v in kwargs.items()}
    undos = [run.undo(r.object.view(np.ndarray)) for r in refs if isa(r.object, np.ndarray)]
    found = f(*[a.object for a in args], **{k: v.object for k, v in kwargs.items()})
    for undo in undos:
        if undo.held.tobytes() != undo.target.tobytes():
            run.wrote(undo)
            run.log(undo.swap)
    return Ref(found)


def _wraps_program(run: Run, f: types.FunctionType) -> bool:
    return any(_is_full(cell) and is_program(run, cell.cell_contents) for cell in f.__closure__ or ())


def _is_full(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def interpreted(run: Run, x: Any) -> Any:
    """A function of the program as code that is not interpreted may call it."""
    if isa(x, types.FunctionType) and id(x) not in run.functions and run.codes.find(x) is not None:
        return installed(run, x)
    return x


def installed(run: Run, f: types.FunctionType) -> Any:
    made = made_of(run, f)
    assert made is not None

    def function(*args: Any, **kwargs: Any) -> Any:
        run.used.add("methods that Python calls")
        return run.out_of_program(
            made.begin([run.arrived(a) for a in args], {k: run.arrived(v) for k, v in kwargs.items()})
        )

    functools.update_wrapper(function, f)
    del function.__wrapped__  # type: ignore[attr-defined]
    run.functions[id(function)] = Made(function, made.begin, made.code)
    return function


def operation(run: Run, spec: OpSpec, f: Any, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    """A call of an operation of the table."""

    def run_it() -> Any:
        return f(*[a.object for a in args], **{k: v.object for k, v in kwargs.items()})

    if spec.writes and args and isa(args[0].object, np.ndarray):
        found = arrays.written(run, f.__name__, args, kwargs, f)
        if found is not None:
            return found
    if not isa(spec, Rule) and not spec.writes and any(is_program(run, r.object) for r in args):
        made = elsewhere(run, f)
        if made is not None:
            run.used.add("source elsewhere")
            return made.begin(args, kwargs)  # type: ignore[no-any-return]
    if isa(spec, Rule) and any(id(r.object) in run.running for r in args):
        # It runs through them to the end.
        args = [containers.pack(run, list, iterate(run, r)) if id(r.object) in run.running else r for r in args]
    if spec.constant and not spec.writes and "out" not in kwargs and not any(is_program(run, r.object) for r in args):
        return Ref(run_it())
    if len(args) > 1 and f in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
        return containers.pack(run, tuple, [operation(run, spec, f, [a], {}) for a in args])
    given = bind(run, spec, args, kwargs)
    return performed(run, spec, given, [*args, *kwargs.values()], run_it)


def performed(run: Run, spec: OpSpec, given: dict[str, Any], refs: list[Ref], run_it: Any) -> Ref:
    """An operation whose arguments have names."""
    given = {k: _memory(v) if isa(v, Ref) else v for k, v in given.items()}
    refs = [_memory(r) for r in refs]
    out = given.pop("out", None)
    if out is not None and isa(out.object, tuple):
        if len(out.object) != 1:
            raise NotSupported("several results into arrays")
        out = Ref(out.object[0])
    if spec.overwrites is not None and spec.overwrites[0] in given:
        name, harmless = spec.overwrites
        if given.pop(name).object != harmless:
            first = given[spec.parameters[0]]
            if spec.parameters[0] != "x":
                return scrambled(run, spec, given, refs, run_it, first)
            out = first
    if out is not None and out.object is not None:
        if not spec.reads_first and not isa(spec.function, np.ufunc):
            for ref in refs:
                for operand in [ref, *(run.parts(ref) if isa(ref.object, (list, tuple)) else ())]:
                    x = operand.object
                    if isa(x, np.ndarray) and x is not out.object and np.may_share_memory(x, out.object):
                        raise NotSupported(f"{spec.name} into an array that shares memory with an operand")
        where = given.pop("where").object if "where" in given and "where" not in spec.parameters else True
        if isa(where, bool) and where:
            where = True
        return into(run, spec, given, out, run_it, where)
    if isa(spec, Rule):
        operation = bound(run, spec, given)
        return result(run, run_it(), operation, refs)
    harmless = spec.constant or spec.function in (id, repr, str, print)
    if not harmless and any(run.is_active(r) for r in refs):
        if spec.name.endswith("as_strided"):
            return result(run, run_it(), None, refs)
        raise NotSupported(f"{spec.name} has no rule")
    if any(is_program(run, r.object) for r in refs):
        raise NotSupported(f"{spec.name} calls functions of the program")
    undos = [run.undo(r.object.view(np.ndarray)) for r in refs if isa(r.object, np.ndarray)] if spec.writes else []
    found = run_it()
    for undo in undos:
        run.wrote(undo)
        run.log(undo.swap)
    if isa(found, np.ndarray):
        return result(run, found, None, refs)
    return Ref(found)


def scrambled(run: Run, spec: OpSpec, given: dict[str, Any], refs: list[Ref], run_it: Any, first: Ref) -> Ref:
    """An operation that takes its first operand for working space: it leaves the elements there in another order."""
    operation = bound(run, spec, given) if isa(spec, Rule) else None
    if operation is not None:
        operation.values[spec.parameters[0]] = np.array(first.object)
    after: list[Any] = []

    def run_and_keep(x: Any) -> Ref:
        # What it reads is read before it is written, so it is logged first.
        found = result(run, run_it(), operation, [])
        after.append(np.array(x))
        return found

    def replay(codes: Any, rest: Any) -> Any:
        made = np.empty(codes.size, codes.dtype)
        made[np.argsort(after[0], axis=None, kind="stable")] = codes.ravel()[
            np.argsort(rest[-1], axis=None, kind="stable")
        ]
        return made.reshape(codes.shape)

    if not isa(first.object, np.ndarray):
        return result(run, run_it(), operation, refs)
    found: Ref = arrays.moved(run, first, run_and_keep, replay, [])
    return found


def _memory(ref: Ref) -> Ref:
    return Ref(np.asarray(ref.object), ref.mark) if isa(ref.object, memoryview) else ref


def built_in(run: Run, f: Any, ref: Ref, name: str, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    """A method of a built-in class."""
    x = ref.object
    if isa(x, np.ufunc) and name == "at":
        return arrays.ufunc_at(run, x, args)
    if name in ("__setattr__", "__getattribute__", "__delattr__") and not isa(x, type):
        if name == "__setattr__":
            objects.set_raw(run, ref, args[0].object, args[1])
            return Ref(None)
        if name == "__getattribute__":
            return objects.plain(run, ref, args[0].object)
        object.__delattr__(x, args[0].object)
        from tests.shadows.run import holder

        run.slots.store(holder(x), args[0].object, Ref(None))
        return Ref(None)
    if name == "__init__":
        return classes.init(run, ref, args, kwargs)
    if name in ("__init_subclass__", "__subclasshook__", "__dir__", "__repr__", "__str__", "__format__", "__reduce__"):
        return Ref(f(*[a.object for a in args]))
    if id(x) in run.running and run.running[id(x)][0] is x:
        return library.of_generator(run, ref, name, args)
    if isa(x, np.ndarray):
        return of_array(run, ref, name, args, kwargs)
    if isa(x, (*SEQUENCES, dict, set, frozenset)):
        if isa(x, tuple) and hasattr(x, "_fields") and name.startswith("_"):
            return native(run, f, [ref, *args] if isa(f, _UNBOUND) else args, kwargs)
        return container_methods.call_method(run, ref, name, args, kwargs)
    if is_number(x) and (form_of("method", name) is not None or isa(x, np.generic)):
        return of_array(run, ref, name, args, kwargs)
    if isa(x, str):
        if name == "join":
            return Ref(x.join([r.object for r in containers.iterate(run, args[0])]))
        return native(run, f, args, kwargs)
    if isa(x, np.random.Generator) or type(x).__module__ in ("random", "numpy.random.mtrand"):
        return _of_random(run, f, ref, name, args, kwargs)
    spec = callee(f)
    if spec is not None:
        if spec.constant and not spec.writes:
            return Ref(f(*[a.object for a in args], **{k: v.object for k, v in kwargs.items()}))
        return operation(run, spec, f, args if spec.parameters[:1] != ("self",) else [ref, *args], kwargs)
    if is_number(x) and run.is_active(ref):
        raise NotSupported(f"{type(x).__name__}.{name}")
    return native(run, f, [ref, *args] if isa(f, _UNBOUND) else args, kwargs)


def _of_random(run: Run, f: Any, ref: Ref, name: str, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    raw, named = [a.object for a in args], {k: v.object for k, v in kwargs.items()}
    if name == "shuffle":
        import copy

        x = args[0].object
        if isa(x, np.ndarray):
            other = copy.deepcopy(ref.object)

            def replay(codes: Any, rest: Any) -> Any:
                getattr(other, name)(codes, **named)
                return codes

            arrays.moved(run, args[0], lambda a: f(a, **named), replay, [])
            return Ref(None)
        codes = list(range(len(x)))
        getattr(copy.deepcopy(ref.object), name)(codes)
        f(x)
        run.slots.rename(x, {old: new for new, old in enumerate(codes)})
        return Ref(None)
    refs = [*args, *kwargs.values()]
    if not any(run.is_active(r) for r in refs):
        return Ref(f(*raw, **named))
    known = callee(f) or (form_of("method", name) or (None,))[0]
    if isa(known, Rule):
        given = bind(run, known, [ref, *args] if "self" in known.parameters else args, kwargs)
        return result(run, f(*raw, **named), bound(run, known, given), refs)
    raise NotSupported(f"a random draw by {name} of something active")


_DUNDER = {f"__{name}__": sign for sign, name in {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
}.items()}  # fmt: skip


def of_array(run: Run, ref: Ref, name: str, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    """A method of arrays, or of NumPy's numbers."""
    from tests.shadows.operators import by_ufunc

    x = ref.object
    raw, named = [a.object for a in args], {k: v.object for k, v in kwargs.items()}
    if name == "__getitem__":
        return arrays.load(run, ref, raw[0])
    if name == "__setitem__":
        arrays.store(run, ref, raw[0], args[1])
        return Ref(None)
    if name in _DUNDER or name.replace("__r", "__") in _DUNDER:
        is_right = name not in _DUNDER
        sign = _DUNDER[name.replace("__r", "__") if is_right else name]
        left, right = (args[0], ref) if is_right else (ref, args[0])
        return by_ufunc(run, sign, getattr(np.ndarray if isa(x, np.ndarray) else type(x), name)(x, raw[0]), left, right)
    if name.replace("__i", "__") in _DUNDER and isa(x, np.ndarray):
        return arrays.inplace(run, _DUNDER[name.replace("__i", "__")], ref, args[0])
    if name == "__iter__":
        return containers.stands_for(run, containers.iterate(run, ref))
    if name in ("__array_finalize__", "setflags", "tobytes", "__len__", "__bool__", "__float__", "__contains__",
                "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__int__", "__index__"):  # fmt: skip
        if name == "__float__" and run.is_active(ref):
            raise NotSupported("ndarray.__float__")
        return Ref(getattr(x, name)(*raw, **named))
    found = arrays.written(
        run, name, [ref, *args], kwargs, lambda a, *rest, **kw: getattr(np.ndarray, name)(a, *rest, **kw)
    )
    if found is not None:
        return found
    known = form_of("method", name)
    if known is None or name in ("resize", "byteswap", "setfield"):
        if run.is_active(ref) or any(run.is_active(a) for a in args):
            raise NotSupported(f"ndarray.{name}")
        if name in ("resize", "byteswap", "setfield"):
            raise NotSupported(f"ndarray.{name}")
        return Ref(getattr(x, name)(*raw, **named))
    spec, form = known
    if name == "compress":
        given: dict[str, Any] = {**bind(run, spec, [args[0], ref, *args[1:]], kwargs)}
    elif form.gathers is not None and (len(args) > 1 or (len(args) == 1 and isa(raw[0], (int, np.integer)))):
        given = bind(run, spec, [ref], kwargs)
        given[form.gathers] = Ref(tuple(raw))
    else:
        given = bind(run, spec, [ref, *args], kwargs)
    member = getattr(np.ndarray, name) if isa(x, np.ndarray) and hasattr(np.ndarray, name) else getattr(type(x), name)
    return performed(run, spec, given, [ref, *args, *kwargs.values()], lambda: member(x, *raw, **named))


# --- managers of `with` ---


class Manager:
    """Enters and leaves a context of the program."""

    def __init__(self, run: Run, ref: Ref) -> None:
        self.run, self.ref = run, ref
        self.is_own = special(run, ref.object, "__enter__") is not None
        if not self.is_own and run.is_active(ref):
            raise NotSupported(f"a context of class {type(ref.object).__name__}")

    def __enter__(self) -> Ref:
        if self.is_own:
            return method(self.run, self.ref, "__enter__")
        return Ref(self.ref.object.__enter__())

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        if isa(error, (NotSupported, GeneratorExit)):
            return False
        if self.is_own:
            from tests.shadows.operators import truth

            found = method(self.run, self.ref, "__exit__", Ref(kind), Ref(error), Ref(traceback))
            return truth(self.run, found)
        return bool(self.ref.object.__exit__(kind, error, traceback))


__all__ = ["Manager", "call", "copies", "native", "operation"]
