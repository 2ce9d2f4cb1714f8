"""The value of a function and its gradient, by the interpreter."""

from __future__ import annotations

import contextlib
import copy
import inspect
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from s2sad.runtime.copies import Reach, copy_together, is_instance
from tests.shadows.calls import call
from tests.shadows.refs import Node, NotSupported, Ref, is_number, isa
from tests.shadows.run import Codes, Run, holder, members
from tests.shadows.slots import ACTIVE


class Entry:
    """The leaves of one argument that is differentiated: where their adjoints are."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.seen: set[int] = set()

    def activate(self, x: Any) -> None:
        """Everything in an argument is active."""
        run = self.run
        if x is None or isa(x, (str, bytes, int, type)) or id(x) in self.seen:
            return
        self.seen.add(id(x))
        if isa(x, np.ndarray):
            if x.dtype.kind in "fc":
                run.activate(x)
            elif x.dtype.kind == "O":
                for item in x.ravel().tolist():
                    if is_number(item):
                        raise NotSupported("an argument that is an array of objects")
                    self.activate(item)
            elif x.dtype.kind == "V":
                raise NotSupported("an argument that is a structured array")
        for owner, key, item in _slots(x):
            if is_number(item):
                run.slots.of(owner).marks[key] = ACTIVE
            else:
                self.activate(item)

    def reader(self, x: Any) -> Callable[[], Any]:
        """What reads the adjoint of an argument out of its shadow, in the structure that it has now."""
        if isa(x, np.ndarray):
            if x.dtype.kind not in "fc":
                zeros = np.zeros(x.shape)
                return lambda: zeros
            return self.run.memory.token(x).read
        if isa(x, (list, tuple)):
            parts = [self._slot(x, i, item) for i, item in enumerate(x)]
            kind = type(x)
            if hasattr(kind, "_fields"):
                return lambda: kind(*[part() for part in parts])
            return lambda: tuple.__new__(tuple, [part() for part in parts]) if kind is tuple else [p() for p in parts]
        if isa(x, dict):
            named = {k: self._slot(x, k, v) for k, v in dict.items(x)}
            return lambda: {k: part() for k, part in named.items()}
        if type(x).__module__ not in ("builtins", "numpy") and x is not None:
            made = copy.copy(x)
            slots = [(key, self._slot(owner, key, item)) for owner, key, item in _slots(x)]

            def read() -> Any:
                for key, part in slots:
                    object.__setattr__(made, key, part())
                return made

            return read
        return lambda: x

    def _slot(self, owner: Any, key: Any, item: Any) -> Callable[[], Any]:
        if is_number(item):
            return lambda: self.run.slots.of(owner).bars.get(key, 0.0)
        return self.reader(item)


def _slots(x: Any) -> list[tuple[Any, Any, Any]]:
    """The slots of an object: what holds them, their keys, and what is in them."""
    found: list[tuple[Any, Any, Any]] = []
    if isa(x, dict):
        found += [(x, k, v) for k, v in dict.items(x)]
    elif isa(x, (list, tuple)):
        found += [(x, i, v) for i, v in enumerate(x)]
    held = holder(x)
    if isa(held, dict) and held is not x:
        found += [(held, k, v) for k, v in held.items()]
    found += [(x, name, getattr(x, name)) for name in members(type(x)) if hasattr(x, name)]
    return found


def _identities(roots: Iterable[Any]) -> dict[int, Any]:
    """The objects that some roots reach and that may change: owners of memory, and what holds slots."""
    found = {}
    for x in Reach(roots).objects.values():
        if isa(x, np.ndarray):
            while isa(getattr(x, "base", None), np.ndarray):
                x = x.base
            found[id(x)] = x
        elif isa(x, (list, dict, set)) or is_instance(x):
            found[id(holder(x))] = holder(x)
    return found


def copied(run: Run, args: Sequence[Any], argnums: Sequence[int], module: Any) -> tuple[tuple[Any, ...], Any]:
    """Copies of the arguments, and a check for the end: that nothing was written which should be shared and is not.

    What is differentiated is copied apart from the constant arguments, and all arguments from the module.
    """
    active = [i for i in range(len(args)) if i in argnums]
    rest = [i for i in range(len(args)) if i not in argnums]
    ours, theirs = _identities([args[i] for i in active]), _identities([args[i] for i in rest])
    names = [v for k, v in module.items() if not k.startswith("__") and not isa(v, types.ModuleType)]
    known = _identities(names)
    is_split = bool(ours.keys() & theirs.keys())
    if is_split:
        copies = dict(zip(active, copy_together(*[args[i] for i in active]), strict=True))
        copies.update(zip(rest, copy_together(*[args[i] for i in rest]), strict=True))
        made = tuple(copies[i] for i in range(len(args)))
    else:
        made = copy_together(*args)
    shared = known.keys() & (ours.keys() | theirs.keys())
    watched = set(_identities(made)) if is_split or shared else set()
    watched |= shared

    def guard() -> None:
        written = {id(_owner(u.target)) for u in run.undos if hasattr(u, "target")} | run.slots.changed
        if written & known.keys():
            run.used.add("writes to the module")
        if watched & written:
            raise NotSupported("arguments share with others, or with the module, what is written")

    return made, guard


def _owner(x: Any) -> Any:
    while isa(getattr(x, "base", None), np.ndarray):
        x = x.base
    return x


@contextlib.contextmanager
def interpreting(run: Run, module: Any) -> Iterator[None]:
    """Methods of the module's classes are interpreted wherever Python itself calls them."""
    for cls in [v for v in module.values() if isa(v, type) and v.__module__ == module["__name__"]]:
        run.adopt(cls)
    before = sys.getprofile()

    def entered(frame: types.FrameType, event: str, _: Any) -> None:
        if event == "call" and run.codes.owns(frame.f_code.co_filename):
            run.escaped = frame.f_code.co_name
            raise NotSupported(f"{run.escaped} is run by code that is not known")

    sys.setprofile(entered)
    try:
        yield
    finally:
        sys.setprofile(before)
        run.give_back()


def value_and_grad(
    f: Callable[..., Any], argnums: Sequence[int], codes: Codes, runs: list[Run] | None = None
) -> Callable[..., tuple[Any, tuple[Any, ...]]]:
    """A function that gives the value of ``f``, a function of a module, and its gradient by some arguments.

    Args:
        f: The function.
        argnums: The positions of the arguments.
        codes: The codes of its module.
        runs: Gets what each call used.

    Raises:
        NotSupported: if the interpreter has no adjoint for what is met.
    """

    def found(*args: Any) -> tuple[Any, tuple[Any, ...]]:
        run = Run(codes)
        if runs is not None:
            runs.append(run)
        value, pullback = forward(run, f, argnums, args)
        value = value.copy() if isa(value, np.ndarray) else value
        return value, pullback(1.0)

    return found


def forward(
    run: Run, f: Callable[..., Any], argnums: Sequence[int], args: Sequence[Any]
) -> tuple[Any, Callable[[float], tuple[Any, ...]]]:
    """The forward part: the value, and the reverse part as a function of the adjoint of the value.

    The reverse part leaves the log and the memory as they were, so that it may run often.
    """
    args, guard = copied(run, args, argnums, f.__globals__)
    refs = [Ref(a) for a in args]
    readers = []
    for i in argnums:
        entry = Entry(run)
        if is_number(args[i]):
            refs[i] = Ref(args[i], node := Node())
            readers.append(lambda node=node, x=args[i]: type(x)(node.take() or 0.0))
        else:
            entry.activate(args[i])
            readers.append(entry.reader(args[i]))
    with interpreting(run, f.__globals__):
        value = call(run, Ref(f), list(refs), {})
    for made in run.guarded:
        if inspect.getgeneratorstate(run.running[id(made)][1]) == inspect.GEN_SUSPENDED:
            raise NotSupported("a generator is given up: the log holds it longer than the program does")
    if run.escaped:
        raise NotSupported(f"{run.escaped} is run by code that is not known")
    guard()
    mask: Any = False
    if isa(value.object, np.ndarray) and value.object.size == 1:
        mask = np.array(run.memory.reads(value.object, value.stop))
    elif not isa(value.mark, Node) and run.is_active(value):
        raise NotSupported("a result that is no number")

    def pullback(seed: float) -> tuple[Any, ...]:
        run.forget_adjoints()
        if isa(value.mark, Node):
            value.mark.add(np.float64(seed))
        elif np.any(mask):
            run.memory.token(value.object).add(np.where(mask, np.full(value.object.shape, seed), 0.0))
        outcome: list[Any] = []
        run.reverse(lambda: outcome.extend([read() for read in readers]))
        return tuple(outcome)

    return value.object, pullback
