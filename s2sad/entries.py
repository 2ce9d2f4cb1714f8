"""What a call runs whose arguments are of kinds that were met before: functions written as text, and compiled.

A call of a derivative of a few floats takes a microsecond or two, so each test that it makes counts. Text that names
the very tests that one kind of arguments and one set of guards need makes no other.
"""

from __future__ import annotations

import builtins
import functools
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from s2sad.frontend.resolve import MISSING, Guard
from s2sad.kinds import kinds_of
from s2sad.runtime import conform
from s2sad.runtime.classes import LEAVES
from s2sad.runtime.copies import is_repeated, is_spaced
from s2sad.transform.found import Held, Walk
from s2sad.transform.given_functions import FUNCTIONS, is_known

_MISSING = object()
_IMMUTABLE = frozenset({float, int, bool, str, complex, type(None)})
#: What an entry returns for arguments, or in a state of the module, that it was not made for.
MISSED = object()

Entry = Callable[[tuple[Any, ...]], Any]


def entry(
    run: Callable[..., Any],
    guards: Sequence[Guard],
    args: tuple[Any, ...],
    positions: Sequence[int],
    result: str,
    written: Collection[int] = (),
) -> tuple[Entry, bool]:
    """The function that runs a derivative for arguments such as ``args``, and whether it tests all of them by itself.

    It takes the arguments as a tuple, and returns what the derivative returns, or `MISSED`.  Containers and objects are
    tested by their types alone: of these the caller compares the kinds (see :func:`s2sad.kinds.kind`).

    Args:
        run: The emitted function.
        guards: What it rests on.
        args: The arguments, all by position.
        positions: Those of the arguments whose gradients ``run`` returns.
        result: What ``run`` returns, as a tuple display with ``{}`` for the gradient, or the tuple of the gradients.
        written: The positions of the arguments that the function may write.

    Example:
        >>> call, exact = entry(lambda x: 2 * x, (), (1.0,), (0,), "{}")
        >>> call((3.0,)), exact, call((np.ones(2),)) is MISSED
        (6.0, True, True)
    """
    values: dict[str, Any] = {**_COMMON, "run": run}
    tests, exact = _tests(args, values, written)
    returned = result.format("(" + ", ".join([f"g{n}" for n in positions]) + ")")
    lines = [f"{returned} = run({_names(len(args))})"]
    for n in positions:
        if type(args[n]) is float:
            number = f"float(g{n}) if type(g{n}) is float64 else conform(g{n}, a{n})"
            lines.append(f"if type(g{n}) is not float: g{n} = {number}")
        elif f"s{n}" in values:
            other = f"type(g{n}) is not array or g{n}.dtype is not d{n} or g{n}.shape != s{n}"
            lines.append(f"if {other}: g{n} = conform(g{n}, a{n})")
        else:
            lines.append(f"g{n} = conform(g{n}, a{n})")
    tests += conditions(guards, values)
    return _made(("args",), len(args), tests, [*lines, f"return {returned}"], values), exact


def tangent_entry(
    run: Callable[..., Any],
    guards: Sequence[Guard],
    primals: tuple[Any, ...],
    dots: Mapping[int, str],
    split: Callable[[Any], Any] | None,
    written: Collection[int] = (),
) -> Callable[[Sequence[Any], Sequence[Any]], Any] | None:
    """As `entry` for a function that takes tangents as well, and a tuple or list of these beside that of the arguments.

    Tangents are to be of the very kinds of their arguments.  None for arguments of which that is not all that matters.

    Args:
        run: The emitted function.
        guards: What it rests on.
        primals: The arguments, all by position.
        dots: The positions of those that have tangents, with the names of these.
        split: What makes of the result of ``run`` what is returned.
        written: The positions of the arguments that the function may write.

    Example:
        >>> call = tangent_entry(lambda x, x_dot: (x * x, 2 * x * x_dot), (), (1.0,), {0: "x_dot"}, None)
        >>> call((3.0,), (0.5,)), call((3.0,), (None,)) is MISSED
        ((9.0, 3.0), True)
    """
    values: dict[str, Any] = {**_COMMON, "run": run, "split": split}
    tests, exact = _tests(primals, values, written)
    if not exact or any(type(primals[n]) is not float and not _is_of_floats(primals[n]) for n in dots):
        return None
    for n in range(len(primals)):
        if n not in dots:
            tests.append(f"b{n} is None")
        elif f"s{n}" in values:
            tests.append(f"type(b{n}) is array and b{n}.shape == s{n} and b{n}.dtype is d{n}")
            tests.append(f"b{n}.strides == a{n}.strides")
        else:
            tests.append(f"type(b{n}) is float")
    tests += conditions(guards, values)
    given = ", ".join([f"{name}=b{n}" for n, name in dots.items()])
    call = f"run({_names(len(primals))}{given})"
    return _made(("args", "dots"), len(primals), tests, [f"return {f'split({call})' if split else call}"], values)


#: What the text of every entry may name.
_COMMON = {
    "missing": _MISSING,
    "missed": MISSED,
    "conform": conform,
    "is_known": is_known,
    "is_repeated": is_repeated,
    "is_spaced": is_spaced,
    "array": np.ndarray,
    "float64": np.float64,
}


def _is_of_floats(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "fc"


def _names(count: int, letter: str = "a") -> str:
    return "".join([f"{letter}{n}, " for n in range(count)])


def _tests(args: tuple[Any, ...], values: dict[str, Any], written: Collection[int]) -> tuple[list[str], bool]:
    """The expressions that test arguments, and whether they test all that matters of them."""
    tests, exact = [], True
    for n, x in enumerate(args):
        if type(x) is np.ndarray and not x.dtype.hasobject:
            values[f"s{n}"], values[f"d{n}"] = x.shape, x.dtype
            tests.append(f"type(a{n}) is array and a{n}.shape == s{n} and a{n}.dtype is d{n}")
            if n in written:
                flag = "" if x.flags.writeable else "not "
                other = "is_repeated" if is_spaced(x) else "is_spaced"
                tests.append(f"{flag}a{n}.flags.writeable and (a{n}.flags.forc or not {other}(a{n}))")
        elif type(x) is bool or type(x) is str:
            # It may have decided which branches the derivative has.
            values[f"t{n}"], values[f"x{n}"] = type(x), x
            tests.append(f"type(a{n}) is t{n} and a{n} == x{n}")
        elif type(x) in FUNCTIONS and type(x) is not types.MethodType:
            values[f"x{n}"], values[f"t{n}"] = x, type(x)
            others = "" if is_known(x) else f" or (type(a{n}) is t{n} and not is_known(a{n}))"
            tests.append(f"(a{n} is x{n}{others})")
        else:
            values[f"t{n}"] = type(x)
            tests.append(f"type(a{n}) is t{n}")
            exact = exact and (type(x) in LEAVES or issubclass(type(x), np.generic))
    return tests, exact


def _made(
    params: tuple[str, ...], count: int, tests: Sequence[str], lines: Sequence[str], values: dict[str, Any]
) -> Callable[..., Any]:
    """The function that takes one or two sequences of ``count`` values apart, and runs ``lines`` if the tests hold."""
    head = [f"def call({', '.join(params)}):", f" if {' and '.join([f'len({p}) == {count}' for p in params])}:"]
    taken = [f"  {_names(count, letter)}= {p}" for p, letter in zip(params, "ab", strict=False)] if count else []
    body = [f"   {line}" for line in lines]
    text = "\n".join([*head, *taken, f"  if {' and '.join(tests) or 'True'}:", *body, " return missed"])
    return types.FunctionType(_compiled(text), values)


@functools.lru_cache(maxsize=1024)
def _compiled(text: str) -> types.CodeType:
    """The code of the function that a text defines."""
    module = compile(text, "<s2sad entry>", "exec")
    return next(c for c in module.co_consts if isinstance(c, types.CodeType))


def checker(guards: Sequence[Guard]) -> Callable[[], bool]:
    """One function that tests all guards, each in the quickest exact way.

    Example:
        >>> space = {"f": len}
        >>> holds = checker((Guard(space, "f", len),))
        >>> holds()
        True
        >>> space["f"] = abs
        >>> holds()
        False
    """
    values: dict[str, Any] = {"missing": _MISSING}
    test: Callable[[], bool] = eval("lambda: " + (" and ".join(conditions(guards, values)) or "True"), values)
    return test


def conditions(guards: Sequence[Guard], values: dict[str, Any]) -> list[str]:
    """The expressions that test guards, one after the other; the objects that they name are put into ``values``."""
    tests = []

    def held(value: Any) -> str:
        name = f"v{len(values)}"
        values[name] = value
        return name

    walks = {id(each[0]): each for each in _walks(guards)}
    walked = {id(guard) for each in walks.values() for guard in each}
    for guard in guards:
        space, name, expected = guard.space, guard.name, guard.expected
        if id(guard) in walks:
            tests.append(f"{held(_walked(walks[id(guard)]))}()")
        elif id(guard) in walked:
            continue
        elif guard.probe is not None:
            last: list[Any] = [object(), None, None]
            slow, known = f"{held(_probed(guard, last))}()", held(last)
            quick = f"(x := {held(_getter(space))}({name!r}, missing)) is {known}[0]"
            same = f"({known}[1] is None or (x.shape == {known}[1] and x.dtype is {known}[2]))"
            tests.append(f"(({quick} and {same}) or {slow})")
        elif isinstance(space, dict) and space.get(name, _MISSING) is expected:
            tests.append(f"{held(space.get)}({name!r}, missing) is {held(expected)}")
        elif isinstance(space, dict) and name not in space and getattr(builtins, name, _MISSING) is expected:
            tests.append(f"{held(space.get)}({name!r}, missing) is missing")
            tests.append(f"{held(vars(builtins).get)}({name!r}, missing) is {held(expected)}")
        elif isinstance(space, types.FunctionType) and name.isidentifier():
            tests.append(f"{held(space)}.{name} is {held(expected)}")
        elif isinstance(space, types.ModuleType) and vars(space).get(name, _MISSING) is expected:
            tests.append(f"{held(vars(space).get)}({name!r}, missing) is {held(expected)}")
        else:
            tests.append(f"{held(guard.holds)}()")
    return tests


def _walks(guards: Sequence[Guard]) -> list[list[Guard]]:
    """The guards that ask about what one variable leads to, if there are several."""
    found: dict[tuple[int, str], list[Guard]] = {}
    for guard in guards:
        if isinstance(guard.probe, Held):
            found.setdefault((id(guard.space), guard.name), []).append(guard)
    return [each for each in found.values() if len(each) > 1]


def _walked(guards: Sequence[Guard]) -> Callable[[], bool]:
    """The test of guards that ask about what one variable leads to."""
    first = guards[0]
    walk = Walk([(guard.probe, guard.expected) for guard in guards if isinstance(guard.probe, Held)])

    def holds() -> bool:
        value = first.current()
        return value is not MISSING and walk.holds(value)

    return holds


def _getter(space: Any) -> Callable[[str, Any], Any]:
    """What gives the value of a name in a namespace, or something else if it is missing."""
    if isinstance(space, dict):
        return space.get
    if not isinstance(space, types.CellType):
        return functools.partial(getattr, space)

    def contents(name: str, missing: Any) -> Any:
        try:
            return space.cell_contents
        except ValueError:
            return missing

    return contents


def _probed(guard: Guard, last: list[Any]) -> Callable[[], bool]:
    """The test of a guard on a fact; ``last`` is given the value, if the fact about that object stays true.

    It does so for an array, if it is of the same shape and dtype, which ``last`` is given too.  Of another object that
    can change the kind is compared first, as that of an argument is.
    """
    known: list[Any] = []

    def holds() -> bool:
        value = guard.current()
        is_other = guard.by_kind and type(value) not in _IMMUTABLE and type(value) is not np.ndarray
        own = kinds_of((value,)) if is_other and value is not MISSING else None
        if own is not None and own in known:
            return True
        good = guard.holds_for(value)
        if good and own is not None:
            known[:] = (own,)
        if good and type(value) in _IMMUTABLE:
            last[:] = value, None, None
        elif good and guard.by_kind and type(value) is np.ndarray and not value.dtype.hasobject:
            last[:] = value, value.shape, value.dtype
        return good

    return holds
