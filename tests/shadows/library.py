"""Built-in functions and classes that call, iterate or make containers, on references."""

from __future__ import annotations

import bisect
import builtins
import functools
import heapq
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from s2sad.ir.apply import BINARY, INPLACE, UNARY
from s2sad.ops.spec import Rule, spec_of
from s2sad.runtime.marks import stop_gradient
from tests.shadows import container_methods, containers, objects
from tests.shadows.containers import iterate, method, pack, special, stands_for
from tests.shadows.refs import NotSupported, Ref, is_number, isa
from tests.shadows.rules import bound, result
from tests.shadows.run import Run

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


def called(run: Run, f: Ref, *args: Ref) -> Ref:
    from tests.shadows.calls import call

    return call(run, f, list(args), {})


def by_rule(run: Run, f: Any, *args: Ref, **kwargs: Ref) -> Ref:
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

            while not compare(run, "==", found := called(run, x), sentinel[0]).object:
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


def enumerate_(run: Run, x: Ref, start: Ref = Ref(0)) -> Ref:  # noqa: B008
    return stands_for(run, (pack(run, tuple, [Ref(i), r]) for i, r in enumerate(iterate(run, x), start.object)))


def zip_(run: Run, *xs: Ref, strict: Ref = Ref(False)) -> Ref:  # noqa: B008
    rows = zip(*[iterate(run, x) for x in xs], strict=strict.object)
    return stands_for(run, (pack(run, tuple, row) for row in rows))


def map_(run: Run, f: Ref, *xs: Ref) -> Ref:
    return stands_for(run, (called(run, f, *row) for row in zip(*[iterate(run, x) for x in xs], strict=False)))


def filter_(run: Run, f: Ref, x: Ref) -> Ref:
    from tests.shadows.operators import truth

    kept = (r for r in iterate(run, x) if truth(run, r if f.object is None else called(run, f, r)))
    return stands_for(run, kept)


def reversed_(run: Run, x: Ref) -> Ref:
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
        return by_rule(run, sum, pack(run, list, refs), start)
    found = start
    for ref in refs:
        found = binary(run, "+", found, ref)
    return found


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
        keys = refs if key.object is None else [called(run, key, r) for r in refs]
        return f(zip(keys, refs, strict=True), key=lambda pair: container_methods.Key(run, pair[0]))[1]  # type: ignore[no-any-return]

    return found


_handlers[id(builtins.max)] = _extreme(max)
_handlers[id(builtins.min)] = _extreme(min)


@handles(builtins.sorted)
def _sorted(run: Run, x: Ref, key: Ref = Ref(None), reverse: Ref = Ref(False)) -> Ref:  # noqa: B008
    refs = list(iterate(run, x))
    return pack(run, list, [refs[i] for i in container_methods.sorting(run, refs, key, reverse.object)])


@handles(functools.reduce)
def _reduce(run: Run, f: Ref, x: Ref, *initial: Ref) -> Ref:
    rest = iterate(run, x)
    found = initial[0] if initial else next(rest, None)
    if found is None:
        raise TypeError("reduce() of empty iterable with no initial value")
    for ref in rest:
        found = called(run, f, found, ref)
    return found


def _with_special(f: Any, name: str) -> Handler:
    def found(run: Run, x: Ref, *rest: Ref) -> Ref:
        if special(run, x.object, name) is not None:
            return method(run, x, name, *rest)
        return by_rule(run, f, x, *rest)

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


def picking(run: Run, f: Any, x: Ref, *rest: Ref, **kwargs: Ref) -> Ref:
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


def methodcaller(run: Run, *args: Ref, **kwargs: Ref) -> Ref:
    made = operator.methodcaller(*[a.object for a in args], **{k: v.object for k, v in kwargs.items()})
    run.through[id(made)] = (made, Ref((list(args), kwargs)))
    return Ref(made)


PICKING = (operator.itemgetter, operator.attrgetter, operator.methodcaller)
