"""Calls of NumPy's functions of functions: in their place stands what they do, as :mod:`definitions` has it."""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad import ops
from s2sad.frontend.resolve import Guard
from s2sad.ir.code import NONE, Constant, Value
from s2sad.runtime.items import no_function
from s2sad.transform import definitions
from s2sad.transform.classes import name_of
from s2sad.transform.constants import class_of
from s2sad.transform.existing import guard_class, is_existing, use_known
from s2sad.transform.known import Abstract, Closure, Items, Known, NotSpecialisedError, Partial, Row, is_callable
from s2sad.transform.specialiser import Done, Specialiser

Args = Sequence[tuple[str, Abstract]]
#: Calls a function that exists with arguments.
Call = Callable[[Any, Args], Done]

_BY_NUMBER: dict[Any, tuple[Any, ...]] = {
    definitions.vectorized: (definitions.vectorized_1, definitions.vectorized_2, definitions.vectorized_3),
    definitions.typed: (definitions.typed_1, definitions.typed_2, definitions.typed_3),
    definitions.looped: (definitions.looped_1, definitions.looped_2),
    definitions.excluding: (),
}
_BY_AXES: tuple[Any, ...] = (definitions.fromfunction_1, definitions.fromfunction_2, definitions.fromfunction_3)
_ALIKE: dict[Any, Any] = {
    np.apply_along_axis: definitions.apply_along_axis,
    np.apply_over_axes: definitions.apply_over_axes,
    np.piecewise: definitions.piecewise,
}
#: What makes an object that is called, and may be known where it is.
_FUNCTIONALS = (*_ALIKE, *_BY_NUMBER, np.fromfunction, np.vectorize)
_METHODS = {
    "reduce": definitions.reduce, "accumulate": definitions.accumulate, "reduceat": definitions.reduceat,
    "outer": definitions.outer,
}  # fmt: skip
#: What all functions of ``functools.singledispatch`` run.
_DISPATCHING = functools.singledispatch(len).__code__  # type: ignore[attr-defined]
#: What ``sorted``, ``max`` and ``min`` do where the keys are not known.
BY_KEYS: dict[Any, Any] = {sorted: definitions.sorted_by, max: definitions.max_by, min: definitions.min_by}
#: What a list does where it is sorted by keys that are not known.
SORT_BY: Any = definitions.sort_by
#: What ``functools.cache`` does.
REMEMBERING: Any = definitions.remembering
_STORED = (np.add, np.subtract)
#: One argument in the signature of a general universal function.
_AXES = r"\((\w+(,\w+)*)?\)"


def is_caching(args: Args) -> bool:
    """Whether ``functools.lru_cache`` of these arguments is ``functools.cache``, which forgets nothing.

    Raises:
        NotSpecialisedError: if it may forget results of a function of the program, and call that again.
    """
    match list(args):
        case [("" | "maxsize", Constant(value=None))]:
            return True
        case [] | [("", Closure())] | [("" | "maxsize", Constant())]:
            raise NotSpecialisedError("forgets")
    return False


def is_by_key(value: Any, args: Args) -> bool:
    """Whether a call of ``sorted``, ``max`` or ``min`` compares what a function gives for each item."""
    if not (value is sorted or value is max or value is min):
        return False
    options = {kind for kind, _ in args[1:]}
    return any(kind == "key" and is_callable(v) for kind, v in args) and options <= {
        "key",
        *(["reverse"] if value is sorted else []),
    }


@dataclass(frozen=True)
class _Dispatched:
    """The function that is called for an object of a class."""

    cls: type

    def __call__(self, dispatch: Any) -> Any:
        return dispatch(self.cls)


def dispatched(s: Specialiser, known: Known, args: Args) -> Abstract | None:
    """The function that one of ``functools.singledispatch`` calls with such arguments; None if that is not known."""
    value: Any = known.value
    is_dispatching = isinstance(value, types.FunctionType) and value.__code__ is _DISPATCHING
    if not is_dispatching or not args or args[0][0]:
        return None
    first = args[0][1]
    if isinstance(first, Known) and is_existing(first):
        guard_class(s, type(use_known(s, first)))
        cls: type | None = type(first.value)
    else:
        cls = class_of(first)
    if cls is None:
        return None
    function = value.dispatch(cls)
    s.guard(Guard(value, "dispatch", function, _Dispatched(cls)))
    s.used = True
    return s.outside(function, name_of(function))


def is_functional(value: Any) -> bool:
    """Whether something is a function of functions that is written in Python here, or an object that one makes."""
    known = type(value) is np.vectorize or any(value is one for one in _FUNCTIONALS)
    return known or _method(value) is not None


def _method(value: Any) -> Any:
    """What a method of a universal function does that has no rule of its own; None of anything else."""
    function = getattr(value, "__self__", None) if isinstance(value, types.BuiltinMethodType) else None
    if not isinstance(function, np.ufunc) or function.nout != 1 or function.signature is not None:
        return None
    if value.__name__ == "at":
        # Sums and differences are stores of their own.
        return {1: definitions.at_1, 2: definitions.at_2}.get(function.nin) if function not in _STORED else None
    if function is np.multiply and value.__name__ == "reduceat":
        return definitions.products_between
    return _METHODS.get(value.__name__) if function.nin == 2 and ops.find(value) is None else None


def functional_call(s: Specialiser, known: Known, args: Args, call: Call) -> Done:
    """A call of one; None where it stays as it is."""
    makes = isinstance(known.value, type)
    if not makes and all(isinstance(v, Constant) or v in s.relied.invariant for _, v in args):
        return None
    before, used, lifted = s.mark(), s.used, dict(s.lifted)
    try:
        done = _called(s, known, args, call)
    except NotSpecialisedError:
        done = None
    if done is None:
        if known.value in _BY_NUMBER:
            raise NotSpecialisedError("vectorize")
        s.back(before)
        s.used, s.lifted = used, lifted
    return done


def _called(s: Specialiser, known: Known, args: Args, call: Call) -> Done:
    function = known.value
    given = [v for kind, v in args if not kind]
    named = {kind: v for kind, v in args if kind}
    if {"*", "**"} & named.keys():
        return None
    if type(function) is np.vectorize:
        for name in ("pyfunc", "otypes", "excluded", "signature"):
            s.guard(Guard(function, name, getattr(function, name)))
        otypes = None if function.otypes is None else "".join([np.dtype(t).char for t in function.otypes])
        options = {"otypes": otypes, "signature": function.signature}
        if not _is_simple(function.pyfunc):
            return None
        called = s.outside(function.pyfunc, name_of(function.pyfunc))
        constants: dict[str, Abstract] = {k: Constant(v) for k, v in options.items() if v is not None}
        if function.excluded:
            constants["excluded"] = Row(tuple(map(Constant, function.excluded)))
        made = _vectorized(s, [called], constants)
        return None if made is None else _by_number(s, made[0], [*made[1], *given], named, call)
    if function is np.vectorize:
        made = _vectorized(s, given, named)
        return None if made is None else (Partial(Known(made[0]), tuple(made[1]), ()),)
    if function in _BY_NUMBER:
        return _by_number(s, function, given, named, call)
    if function is np.fromfunction:
        return _fromfunction(s, given, named, call)
    if (written := _method(function)) is not None:
        called = s.outside(function.__self__, function.__self__.__name__)
        return call(written, [("", called), *args]) if ops.find(function.__self__) is not None else None
    if function is np.piecewise:
        return _by_pieces(s, given, named, call)
    return call(_ALIKE[function], args)


def _by_pieces(s: Specialiser, given: list[Abstract], named: dict[str, Abstract], call: Call) -> Done:
    """``np.piecewise``, where what is not known to be a function is taken for a number, with a check of that."""
    names = ("x", "condlist", "funclist")[len(given) :]
    if not set(names) <= named.keys():
        return None
    given = [*given, *[named.pop(name) for name in names]]
    row = s.row(given[2])
    if row is None:
        return None
    pieces = []
    for value in row:
        if not (isinstance(value, Constant) or value in s.numbers or is_callable(value)):
            done = call(no_function, [("", value)])
            if not (isinstance(done, tuple) and isinstance(done[0], Value)):
                return None
            s.numbers.add(done[0])
            value = done[0]
        pieces.append(value)
    args = [("", v) for v in (*given[:2], Row(tuple(pieces)), *given[3:])]
    return call(definitions.piecewise, [*args, *named.items()])


def _fromfunction(s: Specialiser, given: list[Abstract], named: dict[str, Abstract], call: Call) -> Done:
    if len(given) != 2 or "like" in named:
        return None
    row = s.row(given[1])
    dtype = named.pop("dtype", s.outside(float, "float"))
    if row is None or not 0 < len(row) <= 3:
        return None
    args = [("", v) for v in (*given, dtype)]
    return call(_BY_AXES[len(row) - 1], [*args, *named.items()])


def _is_simple(function: Any) -> bool:
    """Whether a function is more than an object that is called."""
    return isinstance(function, (types.FunctionType, types.MethodType, types.BuiltinFunctionType, np.ufunc))


def _vectorized(s: Specialiser, given: list[Abstract], named: dict[str, Abstract]) -> tuple[Any, list[Abstract]] | None:
    """What is called where ``np.vectorize(pyfunc, ...)`` is, with its first arguments."""
    options = dict(zip(("pyfunc", "otypes"), given, strict=False)) | named
    if len(given) > 2 or not options.keys() <= {"pyfunc", "otypes", "signature", "excluded", "cache", "doc"}:
        return None
    function = options.get("pyfunc")
    is_alone = "signature" not in options or not {"otypes", "excluded"} & options.keys()
    if function is None or not is_callable(function) or not is_alone:
        return None
    if "excluded" in options:
        listed = options["excluded"]
        content = s.content(listed) if isinstance(listed, Items) else None
        keys = content.keys if content is not None else None
        excluded = s.row(listed) if keys is None else tuple(map(Constant, keys))
        if excluded is None or not all(isinstance(v, Constant) for v in excluded):
            return None
        return definitions.excluding, [function, options.get("otypes", NONE), Row(tuple(excluded))]
    for name, kind in (("otypes", definitions.typed), ("signature", definitions.looped)):
        if name in options:
            return kind, [function, options[name]]
    return definitions.vectorized, [function]


def _by_number(s: Specialiser, function: Any, given: list[Abstract], named: dict[str, Abstract], call: Call) -> Done:
    """A call of a function that is written for each number of arguments."""
    before = {definitions.vectorized: 1, definitions.excluding: 3}.get(function, 2)
    positions = _positions(given[0], len(given) - before, list(named))
    if positions is None:
        return None
    given = [*given, *(named[name] for name in positions)]
    number = len(given) - before
    written = _BY_NUMBER[function]
    if function is definitions.looped:
        cores = _cores(given[1], number)
        if cores is None or number > len(written):
            return None
        given = [given[0], *map(Constant, cores), *given[2:]]
    if function in (definitions.typed, definitions.excluding) and given[1] is not NONE:
        types_ = given[1].value if isinstance(given[1], Constant) else s.row(given[1])
        if types_ is None or len(types_) != 1:
            return None
    if 0 < number <= len(written):
        return call(written[number - 1], [("", value) for value in given])
    excluded = [v.value for v in given[2].items] if function is definitions.excluding else []  # type: ignore[union-attr]
    first = number - len(positions)
    is_excluded = [key in excluded for key in (*range(first), *positions)]
    if all(is_excluded):
        return None
    otypes = NONE if function is definitions.vectorized else given[1]
    values = [given[0], otypes, Row(tuple(map(Constant, is_excluded))), *given[before:]]
    return call(definitions.vectorized_any, [("", value) for value in values])


def _positions(function: Abstract, number: int, names: list[str]) -> list[str] | None:
    """Some named arguments in the order of the parameters, if they are those behind the first ``number``."""
    if not names:
        return names
    if isinstance(function, Closure):
        params = [p.name for p in function.definition.code.params]
    elif isinstance(function, Known) and isinstance(function.value, types.FunctionType):
        code = function.value.__code__
        params = list(code.co_varnames[: code.co_argcount])
    else:
        return None
    found = params[number : number + len(names)]
    return found if sorted(found) == sorted(names) else None


def _cores(signature: Abstract, number: int) -> list[int] | None:
    """How many axes of each argument go into one call, where one result comes out."""
    if not isinstance(signature, Constant) or not isinstance(signature.value, str):
        return None
    before, arrow, after = signature.value.replace(" ", "").partition("->")
    if not arrow or not re.fullmatch(_AXES, after) or not re.fullmatch(f"{_AXES}(,{_AXES})*", before):
        return None
    cores = [len([n for n in axes.split(",") if n]) for axes in re.findall(r"\(([^)]*)\)", before)]
    return cores if len(cores) == number else None
