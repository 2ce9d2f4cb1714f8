"""What a call runs whose arguments are of kinds that were met before: functions written as text, and compiled.

A call of a derivative of a few floats takes a microsecond or two, so each test that it makes counts. Text that names
the very tests that one kind of arguments and one set of guards need makes no other.
"""

from __future__ import annotations

import builtins
import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2sad.frontend.resolve import Guard
from s2sad.runtime import conform
from s2sad.runtime.classes import LEAVES

_MISSING = object()
_IMMUTABLE = frozenset({float, int, bool, str, complex, type(None)})
#: What an entry returns for arguments, or in a state of the module, that it was not made for.
MISSED = object()

Entry = Callable[[tuple[Any, ...]], Any]


def entry(
    run: Callable[..., Any], guards: Sequence[Guard], args: tuple[Any, ...], positions: Sequence[int], result: str
) -> tuple[Entry, bool]:
    """The function that runs a derivative for arguments such as ``args``, and whether it tests all of them by itself.

    It takes the arguments as a tuple, and returns what the derivative returns, or `MISSED`.  Containers and objects are
    tested by their types alone: of these the caller compares the kinds (see :func:`s2sad.arguments.kind`).

    Args:
        run: The emitted function.
        guards: What it rests on.
        args: The arguments, all by position.
        positions: Those of the arguments whose gradients ``run`` returns.
        result: What ``run`` returns, as a tuple display with ``{}`` for the gradient, or the tuple of the gradients.

    Example:
        >>> call, exact = entry(lambda x: 2 * x, (), (1.0,), (0,), "{}")
        >>> call((3.0,)), exact, call((np.ones(2),)) is MISSED
        (6.0, True, True)
    """
    values: dict[str, Any] = {"missing": _MISSING, "missed": MISSED, "run": run, "conform": conform}
    values |= {"array": np.ndarray, "float64": np.float64}
    tests, exact = [], True
    for n, x in enumerate(args):
        if type(x) is np.ndarray and not x.dtype.hasobject:
            values[f"s{n}"], values[f"d{n}"] = x.shape, x.dtype
            tests.append(f"type(a{n}) is array and a{n}.shape == s{n} and a{n}.dtype is d{n}")
        else:
            values[f"t{n}"] = type(x)
            tests.append(f"type(a{n}) is t{n}")
            exact = exact and (type(x) in LEAVES or isinstance(x, np.generic))
    tests += conditions(guards, values)
    names = "".join([f"a{n}, " for n in range(len(args))])
    gradients = ", ".join([f"g{n}" for n in positions])
    returned = result.format(f"({gradients})")
    lines = [f"def call(args):\n if len(args) == {len(args)}:", f"  {names}= args" if names else "  pass"]
    lines += [f"  if {' and '.join(tests) or 'True'}:", f"   {returned} = run({names})"]
    for n in positions:
        if type(args[n]) is float:
            lines.append(f"   if type(g{n}) is not float: g{n} = float(g{n}) if type(g{n}) is float64 else")
            lines[-1] += f" conform(g{n}, a{n})"
        elif f"s{n}" in values:
            lines.append(f"   if type(g{n}) is not array or g{n}.dtype is not d{n} or g{n}.shape != s{n}:")
            lines[-1] += f" g{n} = conform(g{n}, a{n})"
        else:
            lines.append(f"   g{n} = conform(g{n}, a{n})")
    lines += [f"   return {returned}", " return missed"]
    code = _compiled("\n".join(lines))
    return types.FunctionType(code, values), exact


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

    for guard in guards:
        space, name, expected = guard.space, guard.name, guard.expected
        if guard.probe is not None:
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

    It does so for an array, if it is of the same shape and dtype, which ``last`` is given too.
    """

    def holds() -> bool:
        value = guard.current()
        good = guard.holds_for(value)
        if good and type(value) in _IMMUTABLE:
            last[:] = value, None, None
        elif good and guard.by_kind and type(value) is np.ndarray and not value.dtype.hasobject:
            last[:] = value, value.shape, value.dtype
        return good

    return holds
