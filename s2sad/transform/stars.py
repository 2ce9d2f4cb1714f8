"""Arguments behind stars of which nobody knows how many or which: the function that is called says what they may be.

def f(a, b, c=0.0): ...         f(x, *y)    ->    if len(y) == 1: (b,) = y; f(x, b)
                                                  else:           b, c = y; f(x, b, c)
                                f(*y, x)    ->    if len(y) == 1: (b,) = y; f(b, x)
                                                  else:           b, c = y; f(b, c, x)

def f(a, *rest): ...            f(x, *y)    ->    rest = tuple(y)
                                f(*y)       ->    a, rest = tuple(y)[0], tuple(y)[1:]

def f(a, w, c=0.0): ...         f(x, **d)   ->    named_only(d, ("w",), ("c",))
                                                  f(x, d["w"], d["c"] if "c" in d else 0.0)

f(x, **d) of what is met at run time        ->    with_keywords(f, d)(x)

for a, b in zip(*rows): ...                 ->    r, s = as_many_rows(rows, 2)
                                                  for a, b in zip(r, s): ...
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad.ir.code import NONE, Constant, Operation, Place, Value
from s2sad.runtime.classes import own_class
from s2sad.runtime.items import with_keywords
from s2sad.runtime.objects import as_many_rows, at_least, named_only
from s2sad.transform.branches import fork
from s2sad.transform.containers import asked, is_counted, places
from s2sad.transform.existing import DICTS, is_constant
from s2sad.transform.held import held_items, is_held
from s2sad.transform.known import Abstract, Closure, Items, Known, Method, NotSpecialisedError, Row
from s2sad.transform.members import existing_value
from s2sad.transform.regions import parts_taken
from s2sad.transform.simple import has_rule
from s2sad.transform.specialiser import Done, End, Specialiser

Args = Sequence[tuple[str, Abstract]]
#: The kind of an argument that is a tuple of all that a parameter with a star takes.
REST = "*rest"
#: The classes of NumPy's functions.
_OF_TABLE = (np.ufunc, types.BuiltinFunctionType, type(np.sum))
#: How many parameters with default values there are at most among those that a star may give.
MOST_OPTIONAL = 6


@dataclass(frozen=True)
class Left:
    """The parameters that one argument with a star has to give, and those that it may give as well.

    Where a parameter with a star of its own takes whatever else is given, ``rest`` says so.
    """

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()
    rest: bool = False


def named(s: Specialiser, value: Abstract) -> list[tuple[str, Abstract]] | None:
    """The arguments that a dict of known keys gives behind two stars; None if it is another."""
    found: dict[Any, Abstract] | None = None
    if isinstance(value, Items) and (content := s.content(value)) is not None and content.keys is not None:
        found = dict(zip(content.keys, [s.state[slot] for slot in content.slots], strict=True))
    elif is_held(value) and isinstance(value, Known) and type(value.value) in DICTS:
        found = held_items(s, value)
    if found is not None and not all(isinstance(key, str) for key in found):
        raise NotSpecialisedError("star")
    return None if found is None else list(found.items())


def by_name(
    s: Specialiser, function: Abstract, args: Args, op: Operation, value: Abstract, place: Place | None
) -> list[tuple[str, Abstract]] | None:
    """The arguments that a dict gives behind two stars, of whose keys nobody knows which they are; None if nothing says
    which they may be."""
    params = _parameters(function)
    called = function.value if isinstance(function, Known) else None
    varies = not all(is_constant(s, given) for given in (value, *(v for _, v in args)))
    if params is None or not varies or has_rule(called) or any(kind in ("*", REST) for kind, _ in args):
        return None
    before, kinds = sum(kind == "" for kind, _ in args), {kind for _, kind, _ in params}
    if op.data.count("**") != 1 or "double star" in kinds or "star" in kinds:
        return None
    named = [p for p in params if p[1] in ("positional", "named")][before:]
    free = [(name, has_default) for name, _, has_default in named if name not in op.data]
    optional = tuple([name for name, has_default in free if has_default])
    required = tuple([name for name, has_default in free if not has_default])
    if len(optional) > MOST_OPTIONAL:
        return None
    whole = s.dynamic(value)
    check = s.operands(
        [s.outside(named_only, "named_only"), whole, Row(_names(required)), Row(_names(optional))], place
    )
    s.write(Operation("call", check, (Value(""),), ("", "", ""), (), place))
    found: list[tuple[str, Abstract]] = [
        (name, s.emit("item", (whole, Constant(name)), name=name, place=place)) for name in required
    ]
    for name in optional:
        test = s.emit("compare", (Constant(name), whole), "in", place=place)
        ways = [
            lambda name=name: s.emit("item", (whole, Constant(name)), name=name, place=place),
            lambda name=name: default_of(s, function, name),
        ]
        arms = [lambda way=way: End("yield", (way(),)) for way in ways]
        done = fork(s, test, arms, [name], place)
        assert not isinstance(done, End)
        found.append((name, done[0]))
    return found


def _names(names: Sequence[str]) -> tuple[Abstract, ...]:
    return tuple(map(Constant, names))


def default_of(s: Specialiser, function: Abstract, name: str) -> Abstract:
    """The default value of a parameter of what is called."""
    if isinstance(function, Method):
        return default_of(s, function.function, name)
    if isinstance(function, Closure):
        return function.defaults[name]
    assert isinstance(function, Known)
    return existing_value(s, inspect.signature(function.value, follow_wrapped=False).parameters[name].default, name)


def columns(
    s: Specialiser, function: Abstract, args: Args, op: Operation, place: Place | None
) -> list[tuple[str, Abstract]] | None:
    """The rows of ``for a, b in zip(*rows)``, which are as many as the parts; None for another call."""
    if not (isinstance(function, Known) and function.value is zip and len(args) == 1 and op.results):
        return None
    ((kind, rows),) = args
    if kind != "*" or not isinstance(rows, Value) or is_constant(s, rows):
        return None
    count = parts_taken(s.active[-1], op.result)
    if not count:
        return None
    if any(made.kind in ("generator", "call") and rows in made.results for made in s.out):
        # What gives its items once: they are put into a list where the loop begins, as `zip` does.
        rows = s.emit("call", s.operands([s.outside(list, "list"), rows], place), ("",), place=place)
    asked = s.operands([s.outside(as_many_rows, "as_many_rows"), rows, Constant(count)], place)
    whole = s.emit("call", asked, ("", ""), place=place)
    return [("", row) for row in spread(s, whole, ["row"] * count, place)]


def left(function: Abstract, args: Args, op: Operation) -> Left | None:
    """What one argument with a star may give, where that is known from the function; None otherwise."""
    params = _parameters(function)
    if params is None or op.data.count("*") != 1 or "**" in op.data:
        return None
    after = sum(kind == "" for kind in op.data[op.data.index("*") + 1 :])
    before = sum(kind == "" for kind, _ in args)
    named = {kind for kind in op.data if kind not in ("", "*")}
    own = [(name, has_default) for name, kind, has_default in params if kind.startswith("positional")]
    if any(kind == "star" for _, kind, _ in params):
        missing = tuple([name for name, has_default in own[before:] if not has_default])
        whole = len(missing) == len(own) - before and named.isdisjoint(n for n, _ in own)
        return Left(missing, (), True) if whole and not after else None
    # No position is that of a parameter that is given by name.
    own = own[: next((i for i, (name, _) in enumerate(own) if name in named), len(own))]
    least = sum(not has_default for _, has_default in own) - before - after
    free = [name for name, _ in own[before : len(own) - after]]
    required, optional = tuple(free[: max(least, 0)]), tuple(free[max(least, 0) :])
    return Left(required, optional) if free and len(optional) <= MOST_OPTIONAL else None


def has_parameters(function: Abstract) -> bool:
    """Whether it is known what a function or class of the user's takes."""
    return _parameters(function) is not None


def _parameters(function: Abstract) -> list[tuple[str, str, bool]] | None:
    """The parameters of what is called: the name, the kind and whether it has a default value."""
    if isinstance(function, Method) and function.owner is not None and isinstance(function.function, Known):
        whole = _parameters(function.function)
        return whole[1:] if whole and whole[0][1].startswith("positional") else None
    if isinstance(function, Closure):
        code, defaults = function.definition.code, function.definition.defaults
        return [(p.name, _kind(p.kind), p.name in defaults) for p in code.params]
    value: Any = function.value if isinstance(function, Known) else None
    if isinstance(value, np.ufunc):
        # What stands behind its operands is written.
        return [(f"x{n}", "positional only", False) for n in range(1, value.nin + 1)]
    of_table = isinstance(value, types.BuiltinFunctionType) and has_rule(value)
    is_users = isinstance(value, types.FunctionType) or (isinstance(value, type) and own_class(value) is not None)
    if not (of_table or is_users):
        return None
    try:
        found = inspect.signature(value, follow_wrapped=False).parameters.values()
    except (TypeError, ValueError):
        return None
    return [(p.name, _KINDS[p.kind], p.default is not p.empty) for p in found]


_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional only",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional",
    inspect.Parameter.VAR_POSITIONAL: "star",
    inspect.Parameter.KEYWORD_ONLY: "named",
    inspect.Parameter.VAR_KEYWORD: "double star",
}


def _kind(kind: str) -> str:
    return kind if kind in ("positional", "positional only", "star", "double star") else "named"


def spread(s: Specialiser, value: Value, names: Sequence[str], place: Place | None) -> tuple[Value, ...]:
    """The items of a value, of which there have to be as many as names."""
    given = tuple([Value(name) for name in names])
    if given:
        s.write(Operation("unpack", (value,), given, (len(given), None), (), place))
    return given


def gathered(s: Specialiser, value: Value, names: Sequence[str], place: Place | None) -> list[tuple[str, Abstract]]:
    """The first items of a value, and a tuple of the others, as arguments."""
    whole = s.emit("call", s.operands([s.outside(tuple, "tuple"), value], place), ("",), place=place)
    first = [s.emit("item", (whole, Constant(n)), name=name, place=place) for n, name in enumerate(names)]
    if first:
        behind = s.emit("slice", (Constant(len(first)), NONE, NONE), place=place)
        whole = s.emit("item", (whole, behind), place=place)
    return [*(("", item) for item in first), (REST, whole)]


def by_number(
    s: Specialiser, value: Value, left: Left, name: str, call: Callable[[tuple[Value, ...]], Done], place: Place | None
) -> tuple[Abstract, ...] | End:
    """A call with each number of arguments that there may be, of which one runs."""
    least = Constant(len(left.required))
    whole = s.emit("call", s.operands([s.outside(at_least, "at_least"), value, least], place), ("", ""), place=place)
    number = s.emit("call", s.operands([s.outside(len, "len"), whole], place), ("",), place=place)
    names = (*left.required, *left.optional)

    def end(count: int) -> End:
        if count < len(names):
            test = s.emit("compare", (number, Constant(count)), "==", place=place)
            arms = [functools.partial(run, count), functools.partial(end, count + 1)]
            done = fork(s, test, arms, [name], place)
            return done if isinstance(done, End) else End("yield", done)
        return run(count)

    def run(count: int) -> End:
        done = call(spread(s, whole, names[:count], place))
        assert done is not None
        return done if isinstance(done, End) else End("yield", done)

    done = end(len(left.required))
    return done.values if done.kind == "yield" else done


def counted(s: Specialiser, value: Value) -> tuple[Abstract, ...] | None:
    """The items of a value of which it may be known how many it has: what is met at run time gets them one by one."""
    s.relied.asks_sizes = True
    return items_of(s, value)


def items_of(s: Specialiser, value: Value) -> tuple[Abstract, ...] | None:
    """The items of a value of which it is known how many it has."""
    found = places(s, value) if is_counted(s, value) else None
    return None if found is None else tuple([asked(s, item) for item in found])


def with_dict(s: Specialiser, function: Abstract, args: Sequence[tuple[str, Abstract]], place: Place | None) -> Done:
    """A call with arguments by name that a dict has which is not known; None of any other call.

    What is called then is met at run time.
    """
    spread = [value for kind, value in args if kind == "**"]
    is_one = len(spread) == 1 and not any(kind == "*" for kind, _ in args)
    # Those of a function with source are taken one by one.
    is_met = isinstance(function, Value) or (isinstance(function, Known) and isinstance(function.value, _OF_TABLE))
    if not (is_one and is_met and isinstance(spread[0], Value)):
        return None
    s.used = True
    others = [(kind, value) for kind, value in args if kind != "**"]
    names = tuple([kind for kind, _ in others if kind])
    given = [function, spread[0], *([Constant(names)] if names else [])]
    operands = s.operands([s.outside(with_keywords, "with_keywords"), *given], place)
    bound = s.emit("call", operands, ("",) * len(given), place=place)
    operands = s.operands([bound, *(value for _, value in others)], place)
    return (s.emit("call", operands, tuple([kind for kind, _ in others]), place=place),)
