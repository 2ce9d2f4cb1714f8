"""Deques and dicts with default values that loops change, and of which the items are not known.

Of such an object the new program has a list or dict that stands for it, and what it does beyond these is written out:

    d = deque(maxlen=3)                d = []
    d.append(v)                        d.append(v)
                                       if len(d) > 3:
                                           d.pop(0)
    total = defaultdict(float)         total = {}
    total[k] += v                      if k not in total:
                                           total[k] = 0.0
                                       total[k] += v

That is another object than the program's own, which nothing but these operations may see (`Specialiser.dynamic`).
"""

from __future__ import annotations

import functools
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

from s2sad.ir.code import NONE, Constant, Operand, Operation, Value
from s2sad.runtime.objects import longest
from s2sad.transform.branches import fork
from s2sad.transform.containers import called, items_of
from s2sad.transform.known import Abstract, Items, Known, Late, Method
from s2sad.transform.specialiser import Done, End, Frame, Specialiser
from s2sad.transform.standing import OF_DICTS, Table

Args = Sequence[tuple[str, Abstract]]


def bounded(s: Specialiser, most: Value) -> Done:
    """``deque(maxlen=n)`` of a number that is not known: a list stands for it from the start."""
    found = s.emit("call", s.operands([s.outside(longest, "longest"), most], None), ("",))
    made = items_of(s, [], None, deque, found)
    s.freeze(made, changes=True)
    return (made,)


def stand_in(s: Specialiser, items: Items) -> Value | None:
    """The list or dict that stands for a deque or dict of another class; None if there is none."""
    held = s.state.get(items.cell)
    return held if isinstance(held, Value) and held in s.stand_ins else None


def attribute(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A method of what has a stand-in."""
    items = s.get(op.operands[0], frame)
    whole = stand_in(s, items) if isinstance(items, Items) else None
    if not isinstance(items, Items) or whole is None:
        return None
    if op.result not in s.called and op.data == "get" and not isinstance(s.stand_ins[whole], Table):
        # As the key of `max` and the like: no default value is put there.
        with s.stand_ins.reading():
            return (s.emit("attribute", (whole,), op.data, place=frame.place or op.place),)
    if op.result not in s.called:
        return None
    if isinstance(s.stand_ins[whole], Table):
        return (Late(whole, op.data),)
    if (items.cls is deque and hasattr(deque, op.data)) or op.data == "get":
        return (Method(Known(getattr(items.cls, op.data)), items),)
    return (Late(whole, op.data),) if op.data in OF_DICTS else None


def item(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """``d[key]`` of a ``defaultdict``, which puts an item there if there is none."""
    items, key = [s.get(o, frame) for o in op.operands]
    whole = stand_in(s, items) if isinstance(items, Items) else None
    factory = None if whole is None else s.stand_ins[whole]
    if not isinstance(items, Items) or whole is None or items.cls is not defaultdict:
        return None
    if factory is None or isinstance(factory, Table):
        return None
    place = frame.place or op.place
    index = s.dynamic(key)
    with s.stand_ins.reading():
        test = s.emit("compare", (index, whole), "not in", place=place)

    def fill() -> End:
        made = s.dynamic(called(s, factory, [], op, frame))
        with s.stand_ins.reading():
            s.write(Operation("set_item", (whole, index, made), (), None, (), place))
        return End("yield", ())

    fork(s, test, [fill, lambda: End("yield", ())], [], place)
    with s.stand_ins.reading():
        return (s.emit("item", (whole, index), name=op.result.name, place=place),)


def method(s: Specialiser, method: Method, args: Args, op: Operation, frame: Frame) -> Done:
    """A method of a ``deque``, and ``get`` of a dict."""
    items, function = method.receiver, method.function
    whole = stand_in(s, items) if isinstance(items, Items) else None
    if (
        not isinstance(items, Items)
        or whole is None
        or not isinstance(function, Known)
        or any(kind for kind, _ in args)
    ):
        return None
    given = [s.dynamic(value) for _, value in args]
    most, run = s.stand_ins[whole], functools.partial(_run, s, whole, op, frame)
    if items.cls is not deque:
        return _got(s, whole, given, op, frame) if 1 <= len(given) <= 2 else None
    with s.stand_ins.reading():
        match function.value.__name__, given:
            case "append", [value]:
                run("append", value)
                _bound_length(s, whole, most, run, 0, op, frame)
                return (NONE,)
            case "appendleft", [value]:
                run("insert", Constant(0), value)
                _bound_length(s, whole, most, run, -1, op, frame)
                return (NONE,)
            case "popleft", []:
                return (run("pop", Constant(0)),)
            case "pop", []:
                return (run("pop"),)
            case "clear", []:
                return (run("clear"),)
    return None


def _got(s: Specialiser, whole: Value, given: Sequence[Operand], op: Operation, frame: Frame) -> Done:
    """``d.get(key, default)``."""
    place = frame.place or op.place
    key, default = (*given, NONE)[:2]
    with s.stand_ins.reading():
        test = s.emit("compare", (key, whole), "in", place=place)

    def held() -> End:
        with s.stand_ins.reading():
            return End("yield", (s.emit("item", (whole, key), place=place),))

    return fork(s, test, [held, lambda: End("yield", (default,))], [op.result.name], place, "choose")


def _run(s: Specialiser, whole: Value, op: Operation, frame: Frame, name: str, *args: Operand) -> Value:
    """Write a call of a method of a list."""
    place = frame.place or op.place
    return s.emit("call", s.operands([Late(whole, name), *args], place), ("",) * len(args), place=place)


def _bound_length(
    s: Specialiser, whole: Value, most: Abstract | Table | None, run: Any, pushed: int, op: Operation, frame: Frame
) -> None:
    """Let a list have so many items at most, of which one end is ``pushed`` out."""
    if not isinstance(most, (Constant, Value)):
        return
    place = frame.place or op.place
    length = s.emit("call", s.operands([s.outside(len, "len"), whole], place), ("",), place=place)
    test = s.emit("compare", (length, most), ">", place=place)

    def shorten() -> End:
        run("pop", *([Constant(pushed)] if pushed == 0 else []))
        return End("yield", ())

    fork(s, test, [shorten, lambda: End("yield", ())], [], place)
