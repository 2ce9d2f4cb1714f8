"""Methods of dicts of unknown keys that take a default value, as branches.

v = d.pop(k, 0.0)                v = d.pop(k) if k in d else 0.0
row = d.setdefault(k, e)         if k not in d:
                                     d[k] = e
                                 row = d[k]
"""

from __future__ import annotations

from collections.abc import Sequence

from s2sad.ir.code import NONE, Constant, Operation, Place
from s2sad.runtime.objects import require_dict
from s2sad.transform.branches import fork
from s2sad.transform.known import Abstract, Late
from s2sad.transform.specialiser import Done, End, Specialiser


def with_default(
    s: Specialiser, method: Late, args: Sequence[tuple[str, Abstract]], name: str, place: Place | None
) -> Done:
    """A call of such a method; None of any other call."""
    if s.expression or not takes_default(method.name, [kind for kind, _ in args]):
        return None
    if method.made_of is None and method.receiver not in s.relied.new:
        # Neither branch says of itself whose method it stands for.
        check = s.outside(require_dict, require_dict.__name__)
        given = s.operands([check, method.receiver, Constant(method.name)], place)
        s.emit("call", given, ("", ""), place=place)
    return (_popped if method.name == "pop" else _set)(s, method, args, name, place)


def takes_default(name: str, kinds: Sequence[str]) -> bool:
    """Whether a call of the method of a name, with arguments of some kinds, gives or puts a default value.

    Example:
        >>> takes_default("pop", ("", "")), takes_default("pop", ("",)), takes_default("setdefault", ("",))
        (True, False, True)
    """
    if any(kinds):
        return False
    return (name == "pop" and len(kinds) == 2) or (name == "setdefault" and 1 <= len(kinds) <= 2)


def _popped(s: Specialiser, method: Late, args: Sequence[tuple[str, Abstract]], name: str, place: Place | None) -> Done:
    key, default = s.operands([value for _, value in args], place)
    with s.stand_ins.reading():
        test = s.emit("compare", (key, method.receiver), "in", place=place)

    def taken() -> End:
        with s.stand_ins.reading():
            return End("yield", (s.emit("call", s.operands([method, key], place), ("",), place=place),))

    s.used = True
    return fork(s, test, [taken, lambda: End("yield", (default,))], [name], place)


def _set(s: Specialiser, method: Late, args: Sequence[tuple[str, Abstract]], name: str, place: Place | None) -> Done:
    key, default = s.operands([value for _, value in (*args, ("", NONE))][:2], place)
    whole = method.receiver
    with s.stand_ins.reading():
        test = s.emit("compare", (key, whole), "not in", place=place)

    def put() -> End:
        with s.stand_ins.reading():
            s.write(Operation("set_item", (whole, key, default), (), None, (), place))
        return End("yield", ())

    s.used = True
    fork(s, test, [put, lambda: End("yield", ())], [], place)
    with s.stand_ins.reading():
        return (s.emit("item", (whole, key), name=name, place=place),)
