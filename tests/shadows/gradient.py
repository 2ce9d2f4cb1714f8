"""The value of a function and its gradient, by the interpreter."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from s2sad.runtime.copies import copy_together
from tests.shadows.calls import call
from tests.shadows.refs import Node, NotSupported, Ref, is_number
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
        if x is None or isinstance(x, (str, bytes, int, type)) or id(x) in self.seen:
            return
        self.seen.add(id(x))
        if isinstance(x, np.ndarray):
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
        if isinstance(x, np.ndarray):
            if x.dtype.kind not in "fc":
                zeros = np.zeros(x.shape)
                return lambda: zeros
            return self.run.memory.token(x).read
        if isinstance(x, (list, tuple)):
            parts = [self._slot(x, i, item) for i, item in enumerate(x)]
            kind = type(x)
            if hasattr(kind, "_fields"):
                return lambda: kind(*[part() for part in parts])
            return lambda: tuple.__new__(tuple, [part() for part in parts]) if kind is tuple else [p() for p in parts]
        if isinstance(x, dict):
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
    if isinstance(x, dict):
        found += [(x, k, v) for k, v in dict.items(x)]
    elif isinstance(x, (list, tuple)):
        found += [(x, i, v) for i, v in enumerate(x)]
    held = holder(x)
    if isinstance(held, dict) and held is not x:
        found += [(held, k, v) for k, v in held.items()]
    found += [(x, name, getattr(x, name)) for name in members(type(x)) if hasattr(x, name)]
    return found


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
        args = copy_together(*args)
        refs = [Ref(a) for a in args]
        readers = []
        for i in argnums:
            entry = Entry(run)
            if is_number(args[i]):
                refs[i] = Ref(args[i], node := Node())
                readers.append(lambda node=node, x=args[i]: type(x)(0.0 if node.bar is None else node.bar))
            else:
                entry.activate(args[i])
                readers.append(entry.reader(args[i]))
        value = call(run, Ref(f), list(refs), {})
        if isinstance(value.mark, Node):
            value.mark.add(np.float64(1.0))
        elif isinstance(value.object, np.ndarray) and value.object.size == 1:
            if not value.is_stopped and run.memory.extent(value.object).is_active:
                run.memory.token(value.object).add(np.ones(value.object.shape))
        elif run.is_active(value):
            raise NotSupported("a result that is no number")
        result = value.object
        kept = result.copy() if isinstance(result, np.ndarray) else result
        outcome: list[Any] = []
        run.reverse(lambda: outcome.extend([read() for read in readers]))
        return kept if isinstance(result, np.ndarray) else result, tuple(outcome)

    return found
