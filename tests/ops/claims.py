"""What the compiler claims of an operation's result, compared with what NumPy gives.

`wrong_claims` runs one call and compares: the inferred type (kind, axes, sizes, reality, booleans, precision), whether
the result shares memory with an operand, and which operands were written. To know nothing is allowed; a claim must
hold. `layouts` are variations of a sample: the same numbers, or fewer, in arrays of other layouts and dtypes.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from s2sad import ops
from s2sad.analysis.bounds import lower_bound
from s2sad.analysis.evaluate import evaluate
from s2sad.analysis.sharing import sharing
from s2sad.errors import S2SADError
from s2sad.ir.nodes import Build, Call, Const, Expr, Op, OpKind, Slice, Var
from s2sad.ir.sizes import Sizes
from s2sad.ir.types import Fact, describe
from tests.oracle import is_inexact, tree_map
from tests.size_texts import value_of


class Labelled(np.ndarray):
    """A subclass of arrays without operators of its own."""


# --- layouts ---


def _fortran(x: np.ndarray) -> np.ndarray:
    return np.asfortranarray(x) if x.ndim else x.copy()


def _reversed(x: np.ndarray) -> np.ndarray:
    """The same numbers with negative strides."""
    return x[(slice(None, None, -1),) * x.ndim].copy()[(slice(None, None, -1),) * x.ndim]


def _read_only(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


def _repeated(x: np.ndarray) -> np.ndarray:
    """Rows that are one row: a stride of zero."""
    return np.broadcast_to(x[:1], x.shape) if x.ndim and x.size else x


def _apart(x: np.ndarray) -> np.ndarray:
    """The same numbers, every other element of a larger array."""
    return np.repeat(x, 2, axis=-1)[..., ::2] if x.ndim else x


def _mapped(x: np.ndarray) -> np.ndarray:
    """The same numbers as a subclass of NumPy's own."""
    return x.copy().view(np.memmap)


def _cut(size: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: x[(slice(0, size),) * x.ndim].copy()


def _cast(real: Any, complex_: Any) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: x.astype(complex_ if np.iscomplexobj(x) else real) if is_inexact(x) else x


def _real_part_as(dtype: Any) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: np.nan_to_num(10 * x.real, posinf=9, neginf=-9).astype(dtype) if is_inexact(x) else x


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "fortran": _fortran,
    "negative strides": _reversed,
    "read-only": _read_only,
    "broadcast": _repeated,
    "strided": _apart,
    "subclass": lambda x: x.copy().view(Labelled),
    "memory map": _mapped,
    "record array": lambda x: x.copy().view(np.recarray),
    "size 0": _cut(0),
    "size 1": _cut(1),
    "another axis": lambda x: x[None].copy(),
    "0-d": lambda x: x.reshape(-1)[:1].reshape(()) if x.size else x,
    "number": lambda x: x.reshape(-1)[0] if x.size else x,
    "float32": _cast(np.float32, np.complex64),
    "float16": _cast(np.float16, np.complex64),
    "longdouble": _cast(np.longdouble, np.clongdouble),
    "complex": lambda x: x + 0j if is_inexact(x) else x,
    "integers": _real_part_as(int),
    "short integers": _real_part_as(np.int8),
    "booleans": _real_part_as(bool),
}


#: Layouts that one operand alone need not have: what it then has in common with the others, others show too.
ALIKE = ("negative strides", "read-only", "strided", "memory map", "record array", "float16", "longdouble", "booleans")


@dataclass(frozen=True)
class Point:
    """One call: its arguments, and how they are laid out."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    layout: str = "as given"


def _with_arrays(tree: Any, change: Callable[[np.ndarray], np.ndarray]) -> Any:
    """A tree of arguments with all arrays in it changed, and numbers of NumPy's too."""

    def changed(x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return change(x)
        return change(np.asarray(x))[()] if isinstance(x, np.generic) else x

    return tree_map(changed, tree)


def layouts(args: tuple[Any, ...], kwargs: dict[str, Any], only: Collection[str] | None = None) -> Iterator[Point]:
    """The call as it is, with all its arrays in each layout, or only some, and the first or the others alone."""
    yield Point(args, kwargs)
    for name, change in LAYOUTS.items():
        if only is not None and name not in only:
            continue
        yield Point(_with_arrays(args, change), _with_arrays(kwargs, change), name)
        if only is None and args and len(args) + len(kwargs) > 1 and name not in ALIKE:
            yield Point((_with_arrays(args[0], change), *args[1:]), kwargs, f"first {name}")
            yield Point((args[0], *_with_arrays(args[1:], change)), _with_arrays(kwargs, change), f"others {name}")


# --- a call as an expression ---


class Operands:
    """Turns arguments into expressions: literals as such, arrays and numbers of NumPy's as names with known types."""

    def __init__(self, literals: bool = True) -> None:
        self.sizes = Sizes()
        self.of: dict[str, Fact] = {}
        self.values: dict[str, Any] = {}
        self.names: dict[int, str] = {}
        self.literals = literals

    def __call__(self, value: Any) -> Expr:
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            return Build("list" if isinstance(value, list) else "tuple", tuple([self(v) for v in value]))
        if isinstance(value, slice):
            parts = (value.start, value.stop, value.step)
            return Slice(*(None if p is None else self(p) for p in parts))
        plain = value is None or value is Ellipsis or isinstance(value, (str, bool))
        if plain or (self.literals and isinstance(value, (int, float)) and not isinstance(value, np.generic)):
            return Const(value)
        if isinstance(value, np.ndarray) and id(value) in self.names:
            return Var(self.names[id(value)])
        name = self.names[id(value)] = f"x{len(self.of)}.1"
        self.of[name] = describe(value, name, self.sizes)
        self.values[name] = value
        return Var(name)

    def size(self, dim: Any) -> int:
        """The number that a size stands for."""
        symbols = {str(symbol): size for size, symbol in self.sizes.items()}
        return value_of(dim, {**symbols, **{f"{name}.": value for name, value in self.values.items()}})


@dataclass(frozen=True)
class Form:
    """One way to write an operation: how the call stands in the IR, and how it runs."""

    kind: OpKind
    name: str
    function: Callable[..., Any] | None
    run: Callable[..., Any]

    def call(self, args: tuple[Expr, ...], kwargs: tuple[tuple[str, Expr], ...]) -> Call:
        return Call(Op(self.kind, self.name, self.function), args, kwargs)


def function_form(function: Callable[..., Any]) -> Form:
    """``name(args)``."""
    return Form("function", getattr(function, "__name__", "f"), function, function)


def method_form(name: str, function: Callable[..., Any]) -> Form:
    """``x.name(args)``."""
    return Form("method", name, function, lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs))


def attribute_form(name: str, function: Callable[..., Any] | None) -> Form:
    """``x.name``."""
    return Form("attribute", name, function, lambda x: getattr(x, name))


INDEX = Form("index", "[]", None, operator.getitem)


# --- the comparison ---


def _parts(value: Any) -> Iterator[np.ndarray]:
    """The arrays of a result or an argument."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _parts(item)


def _bytes(value: Any) -> list[bytes]:
    return [x.tobytes() for x in _parts(value)]


def _of_type(known: Fact, value: Any, operands: Operands, where: str) -> Iterator[str]:
    """In what the type that was inferred is not that of the value."""
    if isinstance(value, slice):
        if known.kind not in ("slice", "open"):
            yield f"{where} is a slice"
        return
    if known.items is not None:
        if known.kind in ("list", "tuple") and type(value) is not {"list": list, "tuple": tuple}[known.kind]:
            yield f"{where} is no {known.kind}"
        parts = [value[key] for key, _ in known.items] if isinstance(value, dict) else value
        for (_, item), part in zip(known.items, parts, strict=True):
            yield from _of_type(item, part, operands, f"{where} item")
        return
    if known.each is not None and isinstance(value, (list, tuple)):
        for part in value:
            yield from _of_type(known.each, part, operands, f"{where} item")
    if isinstance(value, (list, tuple, np.dtype)) or value is None:
        if known.numeric:
            yield f"{where} is no number or array"
        return
    if known.kind == "scalar" and isinstance(value, np.ndarray):
        yield f"{where} is an array"
    if known.kind == "array" and not isinstance(value, np.ndarray):
        yield f"{where} is no array"
    if known.has_axes and np.ndim(value) == 0:
        yield f"{where} has no axes"
    if known.ndim is not None and known.ndim != np.ndim(value):
        yield f"{where} has {np.ndim(value)} axes, not {known.ndim}"
    if known.dims is not None and tuple([max(0, operands.size(d)) for d in known.dims]) != np.shape(value):
        yield f"{where} has shape {np.shape(value)}, not {known.dims}"
    if known.size is not None and operands.size(known.size) != value:
        yield f"{where} is {value}, not {known.size}"
    if not known.numeric:
        return
    dtype = np.asarray(value).dtype
    if known.real and dtype.kind == "c":
        yield f"{where} is complex"
    if not known.boolean and dtype.kind == "b":
        yield f"{where} is boolean"
    python = type(value) in (int, float, complex, bool)
    # What is at least as precise as that of which it is said holds too; a number of Python's gives way to all others.
    wide = not python and dtype.char in "dDgG"
    held = {
        "": True,
        "weak": python or wide,
        "float": type(value) in (float, complex) or wide,
        "single": wide or (not python and dtype.char in "fF"),
        "double": wide,
    }[known.precision]
    if not held:
        yield f"{where} is {type(value).__name__} of {dtype}, not in precision {known.precision!r}"


def _shares(value: Any, argument: Any) -> bool:
    return any(np.shares_memory(x, y) for x in _parts(value) for y in _parts(argument))


def _of_memory(claim: str, value: Any, args: tuple[Any, ...]) -> Iterator[str]:
    """In what ``fresh`` and ``view`` (of the first argument) are not true of the result."""
    if claim == "fresh":
        mutable = [a for a in args if isinstance(a, (np.ndarray, list))]
        if any(_shares(value, a) for a in args) or any(value is a for a in mutable):
            yield "the result is not fresh"
    elif claim == "view" and isinstance(args[0], np.ndarray):
        for part in _parts(value):
            if part.size and not np.shares_memory(part, args[0]):
                yield "the result is no view of the first argument"
        if not isinstance(value, (np.ndarray, list, tuple)):
            yield "the result is a number, and no view"


def wrong_claims(form: Form, point: Point, literals: bool = True) -> list[str]:
    """What is claimed of the result of a call and not true; nothing where NumPy refuses it."""
    operands = Operands(literals)
    try:
        args = tuple([operands(a) for a in point.args])
        kwargs = tuple([(k, operands(v)) for k, v in point.kwargs.items()])
    except S2SADError:
        return []  # a class of arrays that is not accepted
    everything = (*point.args, *point.kwargs.values())
    before = [_bytes(a) for a in everything]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = form.run(*point.args, **point.kwargs)
        except Exception:
            return []
    call = form.call(args, kwargs)

    def fact(expr: Expr) -> Fact:
        return evaluate(expr, operands.of, {})

    found = list(_of_type(fact(call), value, operands, "the result"))
    if not (form.kind in ("operator", "attribute") and isinstance(value, (list, tuple))):
        # A list made of two is new; what stands in it is not.
        found += _of_memory(sharing(call, fact), value, everything)
        # Where no types are known, a view is what an operation gives of an array that has axes.
        if sharing(call) == "fresh":
            found += _of_memory("fresh", value, everything)
    spec = ops.spec_of(form.function)
    names = () if spec is None else (*spec.parameters[: len(point.args)], *point.kwargs)
    for i, (old, new) in enumerate(zip(before, map(_bytes, everything), strict=True)):
        if old != new and (spec is None or i >= len(names) or names[i] not in spec.writes):
            found.append("an operand was written")
    return list(dict.fromkeys(found))


def wrong_bounds(form: Form, point: Point, literals: bool = True) -> list[str]:
    """What lower bounds are claimed of the result of a call and are not true; nothing where NumPy refuses it.

    They are found from no bounds of the operands, and from those that these have.
    """
    operands = Operands(literals)
    try:
        args = tuple([operands(a) for a in point.args])
        kwargs = tuple([(k, operands(v)) for k, v in point.kwargs.items()])
    except S2SADError:
        return []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = form.run(*point.args, **point.kwargs)
        except Exception:
            return []
    least = {name: smallest(operand) for name, operand in operands.values.items()}
    found = []
    for known in ({}, {name: Const(float(x)) for name, x in least.items() if x is not None and x >= 0}):
        bound = lower_bound(form.call(args, kwargs), known, lambda e: evaluate(e, operands.of, {}))
        if bound is None:
            continue
        if np.iscomplexobj(value) or np.asarray(value).dtype.kind not in "fiub":
            found.append("a bound of what is not real")
        elif (x := smallest(value)) is not None and not x >= bound * (1 - 1e-2):
            found.append(f"the result is {x}, below {bound}")
    return found


def smallest(value: Any) -> float | None:
    """The smallest of the real numbers in an array, those that are none left out."""
    if not isinstance(value, (np.ndarray, np.generic, int, float)) or np.iscomplexobj(value):
        return None
    x = np.asarray(value)
    numbers = x[~np.isnan(x)] if x.dtype.kind == "f" else x
    return float(np.min(numbers)) if numbers.size and numbers.dtype.kind in "fiub" else None
