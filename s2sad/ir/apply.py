"""What the operations of `Code` do that need to know of nothing but their operands."""

from __future__ import annotations

import builtins
import importlib
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

from s2sad.ir import signs
from s2sad.ir.code import Operation

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow, "@": operator.matmul, "<<": operator.lshift, ">>": operator.rshift,
    "|": operator.or_, "^": operator.xor, "&": operator.and_,
}  # fmt: skip
INPLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv, "//": operator.ifloordiv,
    "%": operator.imod, "**": operator.ipow, "@": operator.imatmul, "<<": operator.ilshift, ">>": operator.irshift,
    "|": operator.ior, "^": operator.ixor, "&": operator.iand,
}  # fmt: skip
UNARY: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg, "+": operator.pos, "~": operator.invert, "not": operator.not_,
}  # fmt: skip
_CONVERSIONS: dict[int, Callable[[Any], Any]] = {-1: lambda x: x, 115: str, 114: repr, 97: ascii}
_MISSING = object()


def applied(op: Operation, given: list[Any]) -> Any:
    """The result of an operation on objects.

    Example:
        >>> applied(Operation("binary", data="-"), [5, 3])
        2
    """
    match op.kind:
        case "copy":
            return given[0]
        case "unary":
            return UNARY[op.data](given[0])
        case "binary":
            return BINARY[op.data](*given)
        case "inplace":
            return INPLACE[op.data](*given)
        case "compare":
            return signs.COMPARED[op.data](*given)
        case "attribute":
            return getattr(given[0], op.data)
        case "item":
            return given[0][given[1]]
        case "set_attribute":
            setattr(given[0], op.data, given[1])
        case "set_item":
            given[0][given[1]] = given[2]
        case "delete_attribute":
            delattr(given[0], op.data)
        case "delete_item":
            del given[0][given[1]]
        case "slice":
            return slice(*given)
        case "tuple" | "list" | "set":
            items = [x for item, star in zip(given, op.data, strict=True) for x in (item if star else [item])]
            return {"tuple": tuple, "list": list, "set": set}[op.kind](items)
        case "dict":
            found: dict[Any, Any] = {}
            for key, value, spread in zip(given[::2], given[1::2], op.data, strict=True):
                found.update(value if spread else {key: value})
            return found
        case "call":
            return _called(given[0], given[1:], op.data)
        case "text":
            return _text(op, given)
        case _:
            raise NotImplementedError(op.kind)
    return None


def _called(function: Any, given: Sequence[Any], kinds: Sequence[str]) -> Any:
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for value, kind in zip(given, kinds, strict=True):
        if kind in ("", "*"):
            args += value if kind else [value]
        else:
            more = dict(value) if kind == "**" else {kind: value}
            twice = kwargs.keys() & more.keys()
            if twice:
                raise TypeError(f"{function!r} got multiple values for keyword argument {min(twice)!r}")
            kwargs.update(more)
    if function is builtins.super and not args:
        raise NotImplementedError("super() without arguments is not interpreted")
    return function(*args, **kwargs)


def _text(op: Operation, given: list[Any]) -> str:
    rest = iter(given)
    parts = []
    for part in op.data:
        if isinstance(part, str):
            parts.append(part)
            continue
        conversion, has_format = part
        value = _CONVERSIONS[conversion](next(rest))
        parts.append(format(value, next(rest) if has_format else ""))
    return "".join(parts)


def unpacked(value: Any, count: int, star: int | None) -> list[Any]:
    """The items of a value, as Python unpacks it."""
    if star is None:
        items = []
        rest = iter(value)
        for _ in range(count):
            try:
                items.append(next(rest))
            except StopIteration:
                words = f"(expected {count}, got {len(items)})"
                raise ValueError(f"not enough values to unpack {words}") from None
        if next(rest, _MISSING) is not _MISSING:
            raise ValueError(f"too many values to unpack (expected {count})")
        return items
    found = list(value)
    if len(found) < count - 1:
        raise ValueError(f"not enough values to unpack (expected at least {count - 1}, got {len(found)})")
    end = len(found) - (count - 1 - star)
    return [*found[:star], found[star:end], *found[end:]]


def imported(data: tuple[str, tuple[str, ...] | None, int, bool], package: str) -> list[Any]:
    """The objects that an import statement in a module of a package names."""
    module, names, level, renamed = data
    name = "." * level + module
    found = importlib.import_module(name, package) if level else importlib.import_module(name)
    if names is None:
        return [found if renamed else sys.modules[module.partition(".")[0]]]
    for wanted in names:
        if not hasattr(found, wanted):
            try:
                importlib.import_module(f"{found.__name__}.{wanted}")
            except ImportError:
                raise ImportError(f"cannot import name {wanted!r} from {found.__name__!r}") from None
    return [getattr(found, wanted) for wanted in names]
