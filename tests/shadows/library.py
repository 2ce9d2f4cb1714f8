"""Built-in functions and classes that call, iterate or make containers, on references."""

from __future__ import annotations

import bisect
import builtins
import collections
import copy
import dataclasses
import functools
import heapq
import inspect
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sad.ir.apply import BINARY, INPLACE, UNARY
from s2sad.ops.spec import Rule, spec_of
from s2sad.runtime.copies import Reach
from s2sad.runtime.marks import stop_gradient
from tests.shadows import containers, objects
from tests.shadows.containers import iterate, method, pack, special, stands_for
from tests.shadows.refs import Node, NotSupported, Ref, is_number, isa
from tests.shadows.rules import bound, result
from tests.shadows.run import Run, holder, is_generated, members

Handler = Callable[..., Ref]
_handlers: dict[int, Handler] = {}


def handles(*functions: Any) -> Callable[[Handler], Handler]:
    def declare(handler: Handler) -> Handler:
        _handlers.update({id(f): handler for f in functions})
        return handler

    return declare


def handler(f: Any) -> Handler | None:
    """How a function of the library is called on references."""
    return _handlers.get(id(f))


def _call(run: Run, f: Ref, *args: Ref) -> Ref:
    from tests.shadows.calls import call

    return call(run, f, list(args), {})


def _by_rule(run: Run, f: Any, *args: Ref, **kwargs: Ref) -> Ref:
    from tests.shadows.calls import operation

    spec = spec_of(f)
    assert spec is not None
    return operation(run, spec, f, list(args), kwargs)


@handles(stop_gradient)
def _stop(run: Run, x: Ref, name: Any = None) -> Ref:
    run.used.add("stopped")
    return Ref(x.object, None if is_number(x.object) else run.stopped_now())


# --- operators as functions ---

for _sign, _f in BINARY.items():
    def _binary(run: Run, a: Ref, b: Ref, sign: str = _sign) -> Ref:
        from tests.shadows.operators import binary

        return binary(run, sign, a, b)

    handles(_f)(_binary)
for _sign, _f in INPLACE.items():
    def _inplace(run: Run, a: Ref, b: Ref, sign: str = _sign) -> Ref:
        from tests.shadows.operators import inplace

        return inplace(run, sign, a, b)

    handles(_f)(_inplace)
for _sign, _f in UNARY.items():
    def _unary(run: Run, a: Ref, sign: str = _sign) -> Ref:
        from tests.shadows.operators import unary

        return unary(run, sign, a)

    handles(_f)(_unary)


@handles(operator.setitem)
def _setitem(run: Run, a: Ref, b: Ref, c: Ref) -> Ref:
    from tests.shadows.operators import set_item

    set_item(run, a, b, c)
    return Ref(None)


@handles(operator.getitem)
def _getitem(run: Run, a: Ref, b: Ref) -> Ref:
    from tests.shadows.operators import item

    return item(run, a, b)


@handles(operator.delitem)
def _delitem(run: Run, a: Ref, b: Ref) -> Ref:
    containers.delete_item(run, a, b.object)
    return Ref(None)


# --- attributes ---


@handles(builtins.getattr)
def _getattr(run: Run, x: Ref, name: Ref, *default: Ref) -> Ref:
    try:
        return objects.get(run, x, name.object)
    except AttributeError:
        if default:
            return default[0]
        raise


@handles(builtins.hasattr)
def _hasattr(run: Run, x: Ref, name: Ref) -> Ref:
    try:
        objects.get(run, x, name.object)
    except AttributeError:
        return Ref(False)
    return Ref(True)


@handles(builtins.setattr)
def _setattr(run: Run, x: Ref, name: Ref, value: Ref) -> Ref:
    objects.set_(run, x, name.object, value)
    return Ref(None)


@handles(builtins.delattr)
def _delattr(run: Run, x: Ref, name: Ref) -> Ref:
    objects.delete(run, x, name.object)
    return Ref(None)


@handles(builtins.vars)
def _vars(run: Run, x: Ref) -> Ref:
    return Ref(vars(x.object), x.stop)


# --- iterators ---


@handles(builtins.iter)
def _iter(run: Run, x: Ref, *sentinel: Ref) -> Ref:
    if sentinel:
        def calls() -> Iterator[Ref]:
            from tests.shadows.operators import compare

            while not compare(run, "==", found := _call(run, x), sentinel[0]).object:
                yield found

        return stands_for(run, calls())
    if id(x.object) in run.running or special(run, x.object, "__next__") is not None:
        return x if special(run, x.object, "__iter__") is None else method(run, x, "__iter__")
    if special(run, x.object, "__iter__") is not None:
        return method(run, x, "__iter__")
    if isa(x.object, (Iterator, range, str)) and not isa(x.object, np.flatiter):
        return Ref(iter(x.object))
    return stands_for(run, iterate(run, x))


@handles(builtins.next)
def _next(run: Run, x: Ref, *default: Ref) -> Ref:
    found = run.running.get(id(x.object))
    try:
        if found is not None:
            return next(found[1])
        if special(run, x.object, "__next__") is not None:
            return method(run, x, "__next__")
        if run.is_active(x):
            raise NotSupported("next() of an iterator that is not known")
        return Ref(next(x.object))
    except StopIteration as end:
        if default:
            return default[0]
        raise StopIteration(end.value.object if isa(end.value, Ref) else end.value) from None


def of_generator(run: Run, ref: Ref, name: str, args: list[Ref]) -> Ref:
    """A method of a generator of the program."""
    running = run.running[id(ref.object)][1]
    if name == "__next__":
        return _next(run, ref)
    if name == "__iter__":
        return ref
    if name == "send":
        given = None if args[0].object is None else args[0]
        try:
            found: Ref = running.send(given)
        except StopIteration as end:
            raise StopIteration(end.value.object if isa(end.value, Ref) else end.value) from None
        return found
    if name == "throw":
        return running.throw(args[0].object)  # type: ignore[no-any-return]
    if name == "close":
        running.close()
        return Ref(None)
    raise NotSupported(f"generator.{name}")


def _enumerate(run: Run, x: Ref, start: Ref = Ref(0)) -> Ref:  # noqa: B008
    return stands_for(run, (pack(run, tuple, [Ref(i), r]) for i, r in enumerate(iterate(run, x), start.object)))


def _zip(run: Run, *xs: Ref, strict: Ref = Ref(False)) -> Ref:  # noqa: B008
    rows = zip(*[iterate(run, x) for x in xs], strict=strict.object)
    return stands_for(run, (pack(run, tuple, row) for row in rows))


def _map(run: Run, f: Ref, *xs: Ref) -> Ref:
    return stands_for(run, (_call(run, f, *row) for row in zip(*[iterate(run, x) for x in xs], strict=False)))


def _filter(run: Run, f: Ref, x: Ref) -> Ref:
    from tests.shadows.operators import truth

    kept = (r for r in iterate(run, x) if truth(run, r if f.object is None else _call(run, f, r)))
    return stands_for(run, kept)


def _reversed(run: Run, x: Ref) -> Ref:
    if special(run, x.object, "__reversed__") is not None:
        return method(run, x, "__reversed__")
    if isa(x.object, np.ndarray) or isa(x.object, containers.SEQUENCES):
        count = len(x.object)
        return stands_for(run, (containers.item(run, x, i) for i in range(count - 1, -1, -1)))
    if run.is_active(x):
        return stands_for(run, reversed(list(iterate(run, x))))
    return Ref(reversed(x.object))


# --- functions of iterables ---


@handles(builtins.len)
def _len(run: Run, x: Ref) -> Ref:
    return method(run, x, "__len__") if special(run, x.object, "__len__") is not None else Ref(len(x.object))


def _numbers(run: Run, refs: list[Ref]) -> bool:
    return all(isa(r.object, (int, float, complex, np.number)) for r in refs)


@handles(builtins.sum)
def _sum(run: Run, x: Ref, start: Ref = Ref(0)) -> Ref:  # noqa: B008
    from tests.shadows.operators import binary

    refs = list(iterate(run, x))
    if _numbers(run, [*refs, start]):
        return _by_rule(run, sum, pack(run, list, refs), start)
    found = start
    for ref in refs:
        found = binary(run, "+", found, ref)
    return found


@handles(builtins.any, builtins.all)
def _never(run: Run, x: Ref) -> Ref:
    raise NotSupported("any/all by identity")


def _any_all(wanted: bool) -> Handler:
    def found(run: Run, x: Ref) -> Ref:
        from tests.shadows.operators import truth

        for ref in iterate(run, x):
            if truth(run, ref) is wanted:
                return Ref(wanted)
        return Ref(not wanted)

    return found


_handlers[id(builtins.any)] = _any_all(True)
_handlers[id(builtins.all)] = _any_all(False)


def _extreme(f: Any) -> Handler:
    def found(run: Run, *xs: Ref, key: Ref = Ref(None), default: Ref | None = None) -> Ref:  # noqa: B008
        refs = list(iterate(run, xs[0])) if len(xs) == 1 else list(xs)
        if not refs:
            if default is not None:
                return default
            raise ValueError(f"{f.__name__}() iterable argument is empty")
        if key.object is None and _numbers(run, refs):
            z = f([r.object for r in refs])
            rule = spec_of(f)
            assert isa(rule, Rule)
            if len(refs) == 1:
                return refs[0]
            made = result(run, z, bound(run, rule, {"args": refs}), [])
            return made
        # The key is called once for each item.
        keys = refs if key.object is None else [_call(run, key, r) for r in refs]
        return f(zip(keys, refs, strict=True), key=lambda pair: containers._Key(run, pair[0]))[1]  # type: ignore[no-any-return]

    return found


_handlers[id(builtins.max)] = _extreme(max)
_handlers[id(builtins.min)] = _extreme(min)


@handles(builtins.sorted)
def _sorted(run: Run, x: Ref, key: Ref = Ref(None), reverse: Ref = Ref(False)) -> Ref:  # noqa: B008
    refs = list(iterate(run, x))
    return pack(run, list, [refs[i] for i in containers.sorting(run, refs, key, reverse.object)])


@handles(functools.reduce)
def _reduce(run: Run, f: Ref, x: Ref, *initial: Ref) -> Ref:
    rest = iterate(run, x)
    found = initial[0] if initial else next(rest, None)
    if found is None:
        raise TypeError("reduce() of empty iterable with no initial value")
    for ref in rest:
        found = _call(run, f, found, ref)
    return found


def _with_special(f: Any, name: str) -> Handler:
    def found(run: Run, x: Ref, *rest: Ref) -> Ref:
        if special(run, x.object, name) is not None:
            return method(run, x, name, *rest)
        return _by_rule(run, f, x, *rest)

    return found


_handlers[id(builtins.abs)] = _with_special(abs, "__abs__")
_handlers[id(builtins.divmod)] = _with_special(divmod, "__divmod__")
_handlers[id(builtins.round)] = _with_special(round, "__round__")


class _Coded:
    """An item with the number of its slot, compared as the program compares items."""

    def __init__(self, run: Run, ref: Ref, code: int) -> None:
        self.run, self.ref, self.code = run, ref, code

    def __lt__(self, other: _Coded) -> bool:
        from tests.shadows.operators import compare, truth

        return truth(self.run, compare(self.run, "<", self.ref, other.ref))


def _rearranging(f: Any) -> Handler:
    """A function of heapq or bisect: it runs on the items with the numbers of their slots."""

    def found(run: Run, heap: Ref, *rest: Ref, **kwargs: Ref) -> Ref:
        x = heap.object
        if kwargs or type(x) is not list:
            raise NotSupported(f"{f.__name__} with options")
        refs = list(iterate(run, heap))
        coded = [_Coded(run, ref, i) for i, ref in enumerate(refs)]
        given = [_Coded(run, ref, len(refs)) for ref in rest]
        z = f(coded, *given)
        x[:] = [c.ref.object for c in coded]
        containers.renamed(run, x, [c.code for c in coded], len(refs), list(rest))
        return z.ref if isa(z, _Coded) else Ref(z)

    return found


for _f in (heapq.heappush, heapq.heappop, heapq.heapify, heapq.heappushpop, heapq.heapreplace, bisect.insort_left,
           bisect.insort_right):  # fmt: skip
    _handlers[id(_f)] = _rearranging(_f)


def _picking(run: Run, f: Any, x: Ref, *rest: Ref, **kwargs: Ref) -> Ref:
    """Calls of ``itemgetter``, ``attrgetter`` and ``methodcaller`` objects."""
    from tests.shadows.calls import call
    from tests.shadows.operators import item

    if isa(f, operator.methodcaller):
        named = run.through[id(f)][1].object if id(f) in run.through else None
        if named is None:
            made, given = f.__reduce__()
            if made is not operator.methodcaller:
                raise NotSupported("methodcaller with names")
            named = ([Ref(g) for g in given], {})
        name, *args = named[0]
        return call(run, objects.get(run, x, name.object), args, named[1])
    keys = f.__reduce__()[1]
    found = []
    for key in keys:
        part = x
        if isa(f, operator.itemgetter):
            part = item(run, x, Ref(key))
        else:
            for name in key.split("."):
                part = objects.get(run, part, name)
        found.append(part)
    return found[0] if len(found) == 1 else pack(run, tuple, found)


def _methodcaller(run: Run, *args: Ref, **kwargs: Ref) -> Ref:
    made = operator.methodcaller(*[a.object for a in args], **{k: v.object for k, v in kwargs.items()})
    run.through[id(made)] = (made, Ref((list(args), kwargs)))
    return Ref(made)


PICKING = (operator.itemgetter, operator.attrgetter, operator.methodcaller)


# --- copies ---


@handles(copy.copy)
def _copy(run: Run, x: Ref) -> Ref:
    if special(run, x.object, "__copy__") is not None:
        return method(run, x, "__copy__")
    if isa(x.object, np.ndarray):
        return objects.called(run, np.ndarray.copy, x)
    if any(special(run, x.object, n) is not None for n in ("__reduce__", "__reduce_ex__", "__getstate__")):
        raise NotSupported("copy.copy of a class with methods of its own for it")
    made = copy.copy(x.object)
    if made is not x.object:
        _same_slots(run, x.object, made, {})
    return Ref(made, x.mark)


def _same_slots(run: Run, old: Any, new: Any, memo: dict[int, Any]) -> None:
    """The slots of a copy hold what those of the original hold."""
    for a, b in ((old, new), (holder(old), holder(new))):
        known = run.slots.known.get(id(a))
        if known is None or a is b:
            continue
        for key in list(known.marks):
            item = _held(a, key)
            run.slots.store(b, key, run.slots.load(a, key, item))


def _held(x: Any, key: Any) -> Any:
    if isa(x, (list, tuple, dict, collections.deque)):
        return x[key]
    return key if isa(x, (set, frozenset)) else getattr(x, key)


@handles(copy.deepcopy)
def _deepcopy(run: Run, x: Ref, memo: Any = None) -> Ref:
    if is_number(x.object):
        return x
    for part in Reach([x.object]).objects.values():
        if special(run, part, "__deepcopy__") is not None or special(run, part, "__reduce_ex__") is not None:
            raise NotSupported("copy.deepcopy of a class with methods of its own for it")
    known: dict[int, Any] = {}
    made = copy.deepcopy(x.object, known)
    for part in Reach([x.object]).objects.values():
        new = known.get(id(part))
        if new is None or new is part:
            continue
        if isa(part, np.ndarray):
            if run.memory.extent(part).is_active and part.dtype.kind in "fc":
                _copied(run, part, new)
        else:
            _same_slots(run, part, new, known)
    return Ref(made, x.mark)


def _copied(run: Run, old: Any, new: Any) -> None:
    source, target = run.memory.token(old), run.activate(new)

    def back() -> None:
        if not target.is_zero:
            source.add(target.take())
            target.release()

    run.log(back)


# --- classes ---


def _container(kind: Any) -> Handler:
    return lambda run, *xs: pack(run, kind, iterate(run, xs[0]) if xs else [])


def _dict(run: Run, *others: Ref, **named: Ref) -> Ref:
    made = Ref({})
    containers.update(run, made, *others, **named)
    return made


def _float(run: Run, *x: Ref) -> Ref:
    if x and special(run, x[0].object, "__float__") is not None:
        return method(run, x[0], "__float__")
    if x and isa(x[0].object, str) or not x:
        return Ref(float(*[r.object for r in x]))
    return _by_rule(run, float, *x)


def _converted(cls: Any) -> Handler:
    """Whole numbers, truth values and strings: constants."""

    def found(run: Run, *xs: Ref, **kwargs: Ref) -> Ref:
        name = {int: "__int__", bool: "__bool__", str: "__str__"}.get(cls, "")
        if xs and special(run, xs[0].object, name) is not None:
            return method(run, xs[0], name)
        return Ref(cls(*[x.object for x in xs], **{k: v.object for k, v in kwargs.items()}))

    return found


def _truth(run: Run, *x: Ref) -> Ref:
    from tests.shadows.operators import truth

    return Ref(truth(run, x[0]) if x else False)


def _super(run: Run, cls: Ref, ref: Ref) -> Ref:
    made = super(cls.object, ref.object)
    run.through[id(made)] = (made, ref)
    return Ref(made)


def _partial(run: Run, f: Ref, *args: Ref, **kwargs: Ref) -> Ref:
    made = functools.partial(f.object, *[a.object for a in args], **{k: v.object for k, v in kwargs.items()})
    if not isa(f.object, functools.partial):
        for i, ref in enumerate(args):
            run.slots.store(made.args, i, ref)
        for name, ref in kwargs.items():
            run.slots.store(made.keywords, name, ref)
    elif any(run.is_active(r) for r in [f, *args, *kwargs.values()]):
        raise NotSupported("a partial of a partial")
    return Ref(made)


def _namespace(run: Run, **named: Ref) -> Ref:
    made = types.SimpleNamespace(**{k: v.object for k, v in named.items()})
    for name, ref in named.items():
        run.slots.store(vars(made), name, ref)
    return Ref(made)


def _deque(run: Run, *args: Ref, maxlen: Ref = Ref(None)) -> Ref:  # noqa: B008
    made = Ref(collections.deque(maxlen=args[1].object if len(args) > 1 else maxlen.object))
    if args:
        containers.call_method(run, made, "extend", [args[0]], {})
    return made


def _memoryview(run: Run, x: Ref) -> Ref:
    made = memoryview(x.object)
    run.through[id(made)] = (made, x)
    return Ref(made, x.mark)


def _numpy_number(cls: Any) -> Handler:
    def found(run: Run, *x: Ref) -> Ref:
        spec = spec_of(cls)
        if spec is not None:
            return _by_rule(run, cls, *x)
        if not x or not run.is_active(x[0]):
            return Ref(cls(*[r.object for r in x]))
        rule = spec_of(np.positive)
        assert isa(rule, Rule)
        if not is_number(x[0].object) or not issubclass(cls, np.inexact):
            raise NotSupported(f"{cls.__name__}(...) of an array")
        return result(run, cls(x[0].object), bound(run, rule, {"x": x[0]}), [])

    return found


_CLASSES: dict[type, Handler] = {
    list: _container(list), tuple: _container(tuple), set: _container(set), frozenset: _container(frozenset),
    dict: _dict, float: _float, int: _converted(int), str: _converted(str), bool: _truth, enumerate: _enumerate,
    zip: _zip, map: _map, filter: _filter, reversed: _reversed, super: _super, functools.partial: _partial,
    memoryview: lambda run, x: _memoryview(run, x), operator.methodcaller: _methodcaller,
    types.SimpleNamespace: _namespace, collections.deque: _deque,
}  # fmt: skip


def construct(run: Run, cls: type, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    """``cls(*args, **kwargs)``"""
    from tests.shadows.calls import call, native

    if cls is type and len(args) == 1:
        return Ref(type(args[0].object))
    if special(run, cls, "__call__") is not None:
        return call(run, Ref(special(run, cls, "__call__")), [Ref(cls), *args], kwargs)
    if cls in _CLASSES:
        if cls is tuple and len(args) == 1 and type(args[0].object) is tuple:
            return args[0]
        return _CLASSES[cls](run, *args, **kwargs)
    if issubclass(cls, np.generic):
        return _numpy_number(cls)(run, *args, **kwargs)
    if spec_of(cls) is not None:
        return _by_rule(run, cls, *args, **kwargs)
    if issubclass(cls, BaseException) and not isa(_member(cls, "__init__"), types.FunctionType):
        made = cls(*[a.object for a in args], **{k: v.object for k, v in kwargs.items()})
        return _with_args(run, made, args)
    if issubclass(cls, tuple) and hasattr(cls, "_fields") and _is_written(cls, "__new__") is None:
        return _named_tuple(run, cls, args, kwargs)
    if cls.__module__.startswith("numpy.") or cls.__module__ in ("builtins", "numpy", "types", "collections", "functools", "operator", "itertools"):
        if cls is collections.defaultdict:
            made_dict = Ref(collections.defaultdict(*[a.object for a in args[:1]]))
            containers.update(run, made_dict, *args[1:], **kwargs)
            return made_dict
        if cls is collections.OrderedDict:
            made_dict = Ref(collections.OrderedDict())
            containers.update(run, made_dict, *args, **kwargs)
            return made_dict
        if cls is object:
            return Ref(object())
        return native(run, cls, args, kwargs)
    own_new = _is_written(cls, "__new__")
    if own_new is not None:
        made_ref = call(run, Ref(own_new), [Ref(cls), *args], kwargs)
    else:
        made_ref = new(run, _built_in_base(cls), [Ref(cls), *args], kwargs)
    if isa(made_ref.object, cls):
        initialiser = _member(cls, "__init__")
        if isa(initialiser, types.FunctionType):
            call(run, Ref(initialiser), [made_ref, *args], kwargs)
        elif not isa(made_ref.object, (tuple, np.ndarray, frozenset, type)):
            if type(made_ref.object).__init__ is object.__init__:
                if (args or kwargs) and own_new is None:
                    raise TypeError(f"{cls.__name__}() takes no arguments")
            else:
                init(run, made_ref, args, kwargs)
    return made_ref


def _member(cls: type, name: str) -> Any:
    found = objects.found_in(cls, name)
    return None if found is None else found[1]


def _is_written(cls: type, name: str) -> Any:
    """A ``__new__`` that the program wrote, or None."""
    found = _member(cls, name)
    f = found.__func__ if isa(found, staticmethod) else found
    return f if isa(f, types.FunctionType) and not is_generated(f) and "namedtuple" not in f.__code__.co_filename else None


def _built_in_base(cls: type) -> type:
    return next(base for base in cls.__mro__ if base.__module__ in ("builtins", "numpy", "collections") and base is not cls)


def _with_args(run: Run, made: BaseException, args: list[Ref]) -> Ref:
    for i, ref in enumerate(args):
        run.slots.store(made.args, i, ref)
    return Ref(made)


def _named_tuple(run: Run, cls: Any, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    made = cls(*[a.object for a in args], **{k: v.object for k, v in kwargs.items()})
    given = dict(zip(cls._fields, args, strict=False)) | kwargs
    for i, name in enumerate(cls._fields):
        if name in given:
            run.slots.store(made, i, given[name])
    return Ref(made)


def new(run: Run, base: Any, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    """``base.__new__(cls, *args)`` of a built-in class."""
    cls = args[0].object
    rest = args[1:]
    if issubclass(cls, tuple):
        if hasattr(cls, "_fields") and base is not tuple:
            return _named_tuple(run, cls, rest, kwargs)
        refs = list(iterate(run, rest[0])) if rest else []
        return containers.wired(run, tuple.__new__(cls, [r.object for r in refs]), refs)
    if issubclass(cls, (list, dict, set, collections.deque)):
        return Ref(cls.__new__(cls) if _is_written(cls, "__new__") is None else base.__new__(cls))
    if issubclass(cls, BaseException):
        return _with_args(run, base.__new__(cls, *[r.object for r in rest]), rest)
    if issubclass(cls, (np.ndarray, float, int, str, frozenset, complex)):
        if any(run.is_active(r) for r in [*rest, *kwargs.values()]):
            raise NotSupported(f"{base.__name__}.__new__ with something active")
        return Ref(base.__new__(cls, *[r.object for r in rest], **{k: v.object for k, v in kwargs.items()}))
    if issubclass(cls, type):
        if any(run.is_active(r) for r in [*rest, *kwargs.values()]):
            raise NotSupported("a metaclass with something active")
        return Ref(type.__new__(cls, *[r.object for r in rest], **{k: v.object for k, v in kwargs.items()}))
    return Ref(object.__new__(cls))


def init(run: Run, ref: Ref, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    """``__init__`` of a built-in class."""
    x = ref.object
    if isa(x, list):
        list.clear(x)
        run.slots.rename(x, {})
        if args:
            containers._extend(run, ref, args[0])
    elif isa(x, dict):
        if isa(x, collections.defaultdict):
            collections.defaultdict.__init__(x, *[a.object for a in args[:1]])
            args = args[1:]
        for other in args:
            # `dict.__init__` does not ask for a `__setitem__` of the class.
            containers.update(run, Ref(x), other)
        containers.update(run, Ref(x), **kwargs)
    elif isa(x, collections.deque):
        if args:
            containers._extend(run, ref, args[0])
    elif isa(x, set):
        for other in args:
            for item in iterate(run, other):
                containers._of_set(run, ref, "add", [item])
    elif isa(x, BaseException):
        x.args = tuple([a.object for a in args])
        _with_args(run, x, args)
    return Ref(None)


def dataclass_init(run: Run, f: Any, args: list[Ref], kwargs: dict[str, Ref]) -> Ref:
    """The ``__init__`` that `dataclasses` wrote."""
    ref = args[0]
    cls = type(ref.object)
    given = inspect.signature(f).bind(*args, **kwargs).arguments
    parameters = cls.__dataclass_fields__.values()
    if any(p._field_type is dataclasses._FIELD_INITVAR for p in parameters):  # type: ignore[attr-defined]
        raise NotSupported("a dataclass with variables that only its __init__ sees")
    is_frozen = cls.__dataclass_params__.frozen
    for item in dataclasses.fields(cls):
        if item.init and item.name in given:
            value = given[item.name]
        elif item.default_factory is not dataclasses.MISSING:
            value = _call(run, Ref(item.default_factory))
        elif item.init and item.default is not dataclasses.MISSING:
            value = Ref(item.default)
        else:
            continue
        if is_frozen:
            objects.set_raw(run, ref, item.name, value)
        else:
            objects.set_(run, ref, item.name, value)
    if special(run, ref.object, "__post_init__") is not None:
        method(run, ref, "__post_init__")
    return Ref(None)


__all__ = ["Node", "construct", "dataclass_init", "handler", "init", "members", "new", "of_generator"]
