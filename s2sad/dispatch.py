"""Calls that are met at run time: what they run is found, differentiated and called (see `s2sad.runtime.calls`).

What a derivative was compiled for is found again by the kinds of the arguments, in the ``__dict__`` of the function
that runs, beside its other derivatives.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from s2sad import arguments, ops
from s2sad.arguments import Binder
from s2sad.callables import find, keeps_text, may_keep
from s2sad.errors import Place, S2SADError, SourceError, UndefinedDerivativeError, UnsupportedError, Violation
from s2sad.frontend.called import is_of_python
from s2sad.frontend.source import refuse
from s2sad.frontend.unfollowed import inside_library, of_library
from s2sad.frontend.writing import may_write
from s2sad.kinds import kind, literals
from s2sad.load import place_of_frame
from s2sad.pipeline import Compiled, Doings
from s2sad.pipeline.refused import of_call
from s2sad.rebinding import holds, note_compiled, rebound, relative_of
from s2sad.runtime import plain, zeros
from s2sad.runtime.calls import adjoint_like, again
from s2sad.runtime.classes import own_class
from s2sad.runtime.copies import contents, copy_arrays, have_changed
from s2sad.runtime.sharing import arrays_in, shares
from s2sad.runtime.trees import dataclass_fields
from s2sad.runtime.zero_tangents import zero_tangent
from s2sad.variants import Options, Variants, variants

CallGoal = Literal["call", "copied_call", "effects", "tangent_call"]
#: What is checked of a result: that it shares nothing with the arguments, nothing at all, or nothing is.
Check = Literal["", "apart", "fresh", "known"]
_ARRAY = np.ndarray
#: What was compiled for so many kinds of arguments is kept.
_MANY = 1024
_NUMBERS = frozenset({float, np.float64, complex, int, bool, type(None)})
#: What a function does that cannot be read as a whole, and writes nothing.
_UNKNOWN = Doings(outside=True)
_CHECKED = frozenset({*_NUMBERS, np.ndarray})


class Entry(NamedTuple):
    """What a call runs that is given arguments of some kinds.

    ``wanted`` are the positions of the arguments that the caller takes for active, ``places`` say for each of them
    which of the adjoints that the reverse half returns is its own; -1 for one that has none.  ``shared`` are the
    positions of the arguments that the result may share with.  A pair with several ``items`` for its result
    ``displays`` them as a tuple; without any the result may be None.  Without a derivative the function runs as it is.
    """

    holds: Callable[[], bool]
    forward: Callable[..., Any] | None
    reverse: Callable[..., Any] | None
    compiled: Compiled
    wanted: tuple[int, ...]
    places: tuple[int, ...]
    shared: tuple[int, ...]
    items: int
    displays: bool


class Reverse:
    """From the adjoint of the value of a call to those of its active arguments: the one, or a tuple of them."""

    __slots__ = ("entry", "given", "saved", "value")

    def __init__(self, entry: Entry, saved: Any, value: Any, given: list[Any]) -> None:
        self.entry, self.saved = entry, saved
        self.value, self.given = value, given

    def __call__(self, value_bar: Any) -> Any:
        entry = self.entry
        pair = entry.compiled.pair
        if pair is None or entry.reverse is None:
            bars: tuple[Any, ...] = ()
        else:
            g = adjoint_like(value_bar, self.value)
            seeds = [g][: len(pair.seeded)] if pair.count is None else [g[i] for i in pair.seeded]
            saved = copy_arrays(self.saved) if entry.compiled.once else self.saved
            found = entry.reverse(again(saved), *seeds)
            bars = (found,) if len(pair.wrt) == 1 else found
        given = self.given
        if len(given) == 1 and len(bars) == 1:
            return adjoint_like(bars[0], given[0])
        out = [adjoint_like(bars[p] if p >= 0 else 0.0, x) for p, x in zip(entry.places, given, strict=True)]
        return out[0] if len(out) == 1 else tuple(out)


def enter(
    function: Any,
    active: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    goal: CallGoal,
    check: Check,
    dots: tuple[Any, ...] = (),
) -> Any:
    """The value of a call with its reverse function; the value alone where the ``goal`` are the effects of the call.

    In forward mode it is the value with its tangent, for the tangents ``dots`` of the active arguments. ``check`` says
    what the result has to be; of a ``known`` call the caller knows what it does to what it is given.

    Raises:
        UnsupportedError: at the call, if it cannot be differentiated, or may do what the caller did not reckon with.
    """
    try:
        kind = type(function)
        if not kwargs:
            plain_function, values = function, args
            if kind is types.MethodType:
                plain_function, values = function.__func__, (function.__self__, *args)
            elif kind is not types.FunctionType:
                plain_function = _of_table(function, len(args)) if kind in _OF_TABLE else None
            if type(plain_function) is types.FunctionType:
                cache = variants(plain_function)
                entry = cache.met.get((goal, check, active, *_kinds(cache, values)))
                if entry is not None and entry.holds():
                    return _run(function, entry, args, kwargs, values, goal, check, dots)
        return _entered(function, active, args, kwargs, goal, check, dots)
    except UnsupportedError as error:
        here = _place_above(sys._getframe(2))
        if here is None:
            raise
        if any(here in (v.place, *v.calls) for v in error.violations):
            raise _as_of_library(error, here, sys._getframe(2)) from None
        found = [replace(v, calls=(*v.calls, here)) if v.place else replace(v, place=here) for v in error.violations]
        raise _as_of_library(UnsupportedError(found, error.obscure), here, sys._getframe(2)) from None
    except SourceError as error:
        here = _place_above(sys._getframe(2))
        what, _, remedy = str(error).removeprefix("error: ").partition("\n")
        raise _as_of_library(UnsupportedError([Violation(here, what, remedy)]), here, sys._getframe(2)) from None
    except UndefinedDerivativeError as error:
        error.place = error.place or _place_above(sys._getframe(2))
        raise


def _place_above(frame: types.FrameType | None) -> Place | None:
    """The place in the user's file of a frame, or of the first one above it that has one.

    A function of SciPy that calls others, and its derivative, stand between.
    """
    while frame is not None:
        place = place_of_frame(frame)
        if place is not None:
            return place
        frame = frame.f_back
    return None


def _as_of_library(error: UnsupportedError, here: Place | None, frame: types.FrameType | None) -> UnsupportedError:
    """What is refused in a library's function, said of the user's call of it: no more than the first place."""
    package = inside_library(here.file).partition("/")[0] if here is not None else ""
    name = ""
    while package and frame is not None:
        place = place_of_frame(frame)
        if place is not None and inside_library(place.file).partition("/")[0] != package:
            return UnsupportedError([Violation(place, *of_library(name, None, error.violations[0].place))])
        name = frame.f_code.co_name.removesuffix("_forward") if place is not None else name
        frame = frame.f_back
    return error


def _entered(
    function: Any,
    active: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    goal: CallGoal,
    check: Check,
    dots: tuple[Any, ...],
) -> Any:
    if goal == "effects" and type(function).__module__ == "s2sad.api":
        # A gradient leaves its arguments as they are.
        return function(*args, **kwargs)
    target = find(function)
    if target is None and not callable(function):
        return function(*args, **kwargs)
    if target is None:
        return _unread(function, active, args, kwargs, goal, check)
    target.check(args, kwargs)
    # Of one with stars through which nothing passes it is asked what it has changed when it has run.
    found = target.function
    is_itself = found is not None and (not active or target.forms is not None or is_of_python(found))
    plain_function = (found if is_itself else None) or target.function_for(len(args), tuple(kwargs))
    binder, shift = _binder(plain_function), len(target.leading)
    if shift or target.given or kwargs or len(args) != binder.complete:
        try:
            values = binder.bound((*target.leading, *args), {**target.given, **kwargs}, "")
        except S2SADError:
            # Python says what is wrong.
            return function(*args, **kwargs)
    else:
        values = args
    # What has no parameter of its own is gathered by the last one.
    last = len(binder.names) - 1
    places = dict(zip(binder.names, range(last + 1), strict=True))
    wanted = tuple([places.get(a, last) if isinstance(a, str) else min(a + shift, last) for a in active])
    cache = variants(plain_function)
    key = (goal, check, wanted, shift, *_kinds(cache, values))
    entry = cache.met.get(key)
    if entry is None or not entry.holds():
        entry = _of_relative(plain_function, key) or _compiled(
            function, cache, binder, wanted, values, goal, check == "known"
        )
        if len(cache.met) >= _MANY:
            cache.met.clear()
        cache.met[goal, check, wanted, shift, *_kinds(cache, values)] = entry
        note_compiled(plain_function)
    direct = shift == isinstance(function, types.MethodType) and target.cached < 0
    if direct and not (kwargs or target.given) and len(args) + shift == len(values):
        # Next time this is found without asking what the callable is.
        cache.met[goal, check, active, *_kinds(cache, values)] = entry
    return _run(function, entry, args, kwargs, values, goal, check, dots)


def _kinds(cache: Variants, values: Sequence[Any]) -> Iterator[Any]:
    """What tells the arguments of a call from those of which another derivative is right."""
    yield from map(kind, values)
    if cache.literal:
        yield from literals(values)


def _of_relative(function: types.FunctionType, key: Any) -> Entry | None:
    """What was compiled for another function of the same code, if it serves for this one."""
    other = relative_of(function)
    entry: Entry | None = None if other is None else variants(other).met.get(key)
    if other is None or entry is None or _binder(function).complete < 0:
        return None
    if function.__closure__ is None:
        return entry if entry.holds() else None
    compiled = rebound(entry.compiled, other, function)
    if compiled is None:
        return None
    forward, reverse = (*(compiled.functions[n] for n in compiled.names), None, None)[:2]
    return entry._replace(compiled=compiled, holds=holds(compiled.guards), forward=forward, reverse=reverse)


def _run(
    function: Any,
    entry: Entry,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    values: Sequence[Any],
    goal: CallGoal,
    check: Check,
    dots: tuple[Any, ...],
) -> Any:
    """A call whose derivative is known; ``values`` are those of all parameters."""
    if goal == "tangent_call":
        value, value_dot = _pushed(function, entry, args, kwargs, values, dots)
        if type(value) not in _NUMBERS:
            _check_value(function, value, entry, values, check)
        return value, value_dot
    if entry.forward is None:
        value, saved = function(*args, **kwargs), None
    elif entry.items < 0:
        value, saved = entry.forward(*values)
    elif not entry.items:
        # Without results, it returns no more than what it saves.
        value, saved = () if entry.displays else None, entry.forward(*values)
    else:
        *items, saved = entry.forward(*values)
        value = tuple(items)
    if type(value) not in _NUMBERS and check != "known":
        _check_value(function, value, entry, values, check)
    if goal == "effects":
        return value
    return value, Reverse(entry, saved, value, [values[i] for i in entry.wanted])


def _pushed(
    function: Any,
    entry: Entry,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    values: Sequence[Any],
    dots: tuple[Any, ...],
) -> tuple[Any, Any]:
    """The value and the tangent of a call whose tangent is known."""
    made = entry.compiled.tangent
    if entry.forward is None or made is None:
        value = function(*args, **kwargs)
        return value, zero_tangent(value)
    given = {made.params[place][1]: dot for place, dot in zip(entry.places, dots, strict=True) if place >= 0}
    out = entry.forward(*values, **given)
    return made.split(out)


#: The classes of functions of the operation table.
_OF_TABLE = frozenset({np.ufunc, types.BuiltinFunctionType, type(np.sum)})


@functools.lru_cache(maxsize=4096)
def _of_table(function: Any, count: int) -> types.FunctionType | None:
    """The function that stands for one of the operation table in a call with ``count`` arguments."""
    target = find(function)
    plain_function = target is not None and target.function is None and not (target.leading or target.given)
    return target.function_for(count) if target is not None and plain_function else None


def _compiled(
    function: Any,
    cache: Variants,
    binder: Binder,
    wanted: tuple[int, ...],
    values: Sequence[Any],
    goal: CallGoal,
    known: bool,
) -> Entry:
    """The derivative for arguments of which the same is known as of ``values``.

    Raises:
        UnsupportedError: for what may write into its arguments, keep them, or change objects that are not known.
    """
    names = binder.names
    wrt = tuple([names[i] for i in wanted if known or has_floats(values[i], names[i])])
    facts = functools.partial(arguments.facts, names, values, called(function), cache.refined)
    goal = goal if wrt else "effects"
    try:
        found = cache.for_arguments(Options(goal, wrt), facts)
    except (SourceError, UnsupportedError) as error:
        if goal != "effects" or may_write(cache.function) or (wrt and _is_method_of_python(cache.function, values)):
            here = place_of_frame(sys._getframe(4))
            if here is None:
                raise
            raise UnsupportedError(of_call(called(function), cache.function, error, here)) from None
        # Whatever it does, it writes nothing.
        compiled = Compiled("", {}, (), doings=_UNKNOWN)
        return Entry(lambda: True, None, None, compiled, wanted, (-1,) * len(wanted), (), -1, True)
    compiled, doings = found.compiled, found.compiled.doings
    assert doings is not None
    why = ""
    if known:
        pass
    elif doings.written:
        why = f"may write into {doings.written[0]}"
    elif doings.kept:
        why = f"may keep {doings.kept[0]}"
    elif doings.alters:
        why = "may change objects of which it is not known which they are"
    if why:
        what = f"{called(function)}(...) {why}, and is known only at run time"
        raise UnsupportedError([Violation(None, what, "Call it by its own name, or return what it makes.")])
    forward = reverse = None
    pair = compiled.pair
    tangent = compiled.tangent
    if tangent is not None:
        ahead = compiled.functions[compiled.names[0]]
        forward = ahead if binder.complete >= 0 else binder.positional(ahead, (), tuple(values))
    if pair is not None:
        ahead, reverse = (compiled.functions[name] for name in compiled.names)
        forward = ahead if binder.complete >= 0 else binder.positional(ahead, (), tuple(values))
    made = pair.wrt if pair is not None else tuple([p for p, _ in tangent.params]) if tangent is not None else ()
    places = tuple([made.index(names[i]) if names[i] in made else -1 for i in wanted])
    shared = tuple([names.index(name) for name in doings.shared])
    items = -1 if pair is None or pair.count is None else pair.count
    return Entry(found.holds, forward, reverse, compiled, wanted, places, shared, items, not doings.nothing)


def _check_value(function: Any, value: Any, entry: Entry, values: Sequence[Any], check: Check) -> None:
    """Raise for a result whose operators are a class of the user's, or that shares what the caller writes."""
    if type(value) is not _ARRAY:
        _check_class(value)
    doings = entry.compiled.doings
    assert doings is not None
    if check and ((check == "fresh" and doings.outside) or shares(value, *(values[i] for i in entry.shared))):
        raise _shared(function)


def _shared(function: Any) -> UnsupportedError:
    what = f"the result of {called(function)}(...), or what it is given, is written, and may be known elsewhere"
    return UnsupportedError([Violation(None, what, "Take a copy: np.copy(...).")])


def _check_class(value: Any) -> None:
    if type(value) in (list, tuple):
        for item in value:
            if type(item) not in _CHECKED:
                _check_class(item)
    elif type(value) is dict:
        _check_class(list(value.values()))
    else:
        plain(value)


def _unread(
    function: Any,
    active: tuple[Any, ...],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    goal: CallGoal,
    check: Check,
) -> Any:
    """A call of what has no source; it is taken at its word to keep nothing, and checked not to write into arrays."""
    given = [kwargs[a] if isinstance(a, str) else args[a] for a in active]
    if isinstance(function, type) and own_class(function) is not None:
        what = f"{called(function)}(...) makes an object of a class, through which no derivative passes"
        raise UnsupportedError([Violation(None, what, "Keep the values in variables of their own.")])
    if goal != "effects" and any(has_floats(x, "an argument") for x in given):
        refuse(function)
    run, bound = function, list[Any]()
    while isinstance(run, functools.partial):
        bound += [*run.args, *run.keywords.values()]
        run = run.func
    spec = ops.callee(run)
    if spec is not None and (spec.writes or spec.stores):
        what = f"{called(run)}(...) writes, or keeps what is differentiated, and is known only at run time"
        raise UnsupportedError([Violation(None, what, "Give it a constant: stop_gradient(np.copy(...)).")])
    if spec is None and may_keep(run) and any(has_floats(x, "an argument") or keeps_text(run, x) for x in given):
        what = f"{called(run)}(...) may keep what is differentiated, and has no source"
        raise UnsupportedError([Violation(None, what, "Give it a constant: stop_gradient(np.copy(...)).")])
    arrays = [(a, a.copy()) for x in (*bound, *args, *kwargs.values()) for a in arrays_in(x)]
    held = contents([*bound, *args, *kwargs.values()])
    try:
        value = function(*args, **kwargs)
    finally:
        written = [(a, old) for a, old in arrays if not np.array_equal(a, old, equal_nan=a.dtype.kind in "fc")]
        for a, old in written:
            if a.shape == old.shape:
                a[...] = old
    if written or have_changed(held):
        what = f"{called(function)}(...) has written into what it was given, and has no source"
        raise UnsupportedError([Violation(None, what, "Give it a copy: np.copy(...).")])
    if type(value) not in _CHECKED:
        _check_class(value)
    if (check and shares(value, *bound, *args, *kwargs.values())) or (check == "fresh" and type(value) not in _NUMBERS):
        raise _shared(function)
    if goal == "effects":
        return value
    if goal == "tangent_call":
        return value, zero_tangent(value)
    return value, lambda value_bar: zeros(given[0]) if len(given) == 1 else tuple(map(zeros, given))


def _is_method_of_python(function: types.FunctionType, values: Sequence[Any]) -> bool:
    """Whether a function of Python's library is a method of its first argument, which may keep what it is given.

    Those of loggers write text.
    """
    member = getattr(type(values[0]), function.__name__, None) if values else None
    return member is function and is_of_python(function) and function.__module__ != "logging"


def called(function: Any) -> str:
    """How a message calls a callable."""
    name = getattr(function, "__qualname__", None)
    return name if isinstance(name, str) else type(function).__qualname__


@functools.lru_cache(maxsize=4096)
def _binder(function: types.FunctionType) -> Binder:
    return Binder(function)


def has_floats(value: Any, name: str) -> bool:
    """Whether a value may have an adjoint other than zero.

    Raises:
        UnsupportedError: for an object of which that is not known.
    """
    if isinstance(value, (float, complex, np.inexact)):
        return True
    if isinstance(value, (int, str, bytes, np.generic, slice, type(...))) or value is None:
        return False
    if isinstance(value, _ARRAY):
        return value.dtype.kind in "fcO"
    if isinstance(value, (list, tuple)):
        return any(has_floats(item, name) for item in value)
    if isinstance(value, dict):
        return any(has_floats(item, name) for item in dict.values(value))
    fields = dataclass_fields(value)
    if fields is not None:
        return any(has_floats(getattr(value, field), name) for field in fields)
    if hasattr(value, "__array_function__"):
        return True
    what = f"{name} is an object of class {type(value).__qualname__}, through which no derivative passes"
    raise UnsupportedError([Violation(None, what, "Pass the values that it holds as arguments of their own.")])
