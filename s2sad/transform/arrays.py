"""Objects of the user's subclasses of ``numpy.ndarray``: arrays with attributes and methods of their own.

    class Signal(np.ndarray):            is, to the specialiser, an object with one attribute more, its ``elements``: an
        def __new__(cls, x, rate): ...   array of NumPy's own class.  What NumPy does to the object is done to that;
                                         where it makes another object of the class, ``__array_finalize__`` gets it.

`s2sad.ops.subclasses` says which functions do.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.ir.code import NONE, UNSET, Constant, Operation, Place, Value
from s2sad.ops.subclasses import (
    KEEPING,
    OPERATOR_METHODS,
    PARTS,
    REDUCTIONS,
    RUNNING,
    UNSEEN,
    WRAPPING_OTHERWISE,
    Outcome,
    outcome_of,
)
from s2sad.runtime.classes import static_member
from s2sad.runtime.items import require_layout, require_ndarray
from s2sad.runtime.objects import object_of, sole_number
from s2sad.transform import ranks, sizes
from s2sad.transform.array_objects import (
    ELEMENTS,
    axes,
    axes_left,
    broadcast_axes,
    elements,
    holds_array,
    is_array,
    known_axes,
    multiplied_axes,
    noted_number,
    users,
)
from s2sad.transform.classes import is_array_class
from s2sad.transform.containers import MOST_ITEMS, called, computed, performed
from s2sad.transform.existing import guard_class, guard_member, owner
from s2sad.transform.known import (
    Abstract,
    Cell,
    Items,
    Kept,
    Known,
    Late,
    Method,
    NotSpecialisedError,
    Record,
    Row,
    Unsure,
)
from s2sad.transform.specialiser import Done, End, Frame, Specialiser
from s2sad.transform.wrapping import FINALIZE, MODELS, WRAP, sees_nothing, ufunc_of, wrapped, wrapped_alone

Args = Sequence[tuple[str, Abstract]]

#: The attributes of an array that are no arrays.
_PLAIN = frozenset({"shape", "ndim", "size", "dtype", "itemsize", "nbytes"})


def _is_told(s: Specialiser, value: Abstract, name: str) -> bool:
    """Whether a method of the class of a value, or of what is in a list or tuple, gets each object that is made.

    One that nobody can notice to have been called does not count.
    """
    row = s.row(value) if isinstance(value, (Row, Items)) else None
    if row is not None:
        return any(_is_told(s, item, name) for item in row)
    return users(value, name) and not (name == FINALIZE and isinstance(value, Record) and sees_nothing(s, value.cls))


# --- making objects


def construct(s: Specialiser, cls: type, args: Args, op: Operation, frame: Frame) -> Done:
    """``cls(...)``: what its ``__new__`` makes."""
    guard_class(s, cls)
    new = static_member(cls, "__new__")
    known = s.outside(cls, cls.__name__)
    if not isinstance(new, staticmethod):
        return made_of_buffer(s, [("", known), *args], op, frame)
    guard_member(s, cls, "__new__")
    of_class = owner(cls, "__new__"), known
    done = s.call_function(s, new.__func__, [("", known), *args], op, frame, of_class)
    made = done[0] if isinstance(done, tuple) else None
    begin = static_member(cls, "__init__")
    if begin is object.__init__ or not (isinstance(made, Record) and issubclass(made.cls, cls)):
        return done
    raise NotSpecialisedError("__init__")


def made_of_buffer(s: Specialiser, args: Args, op: Operation, frame: Frame) -> Done:
    """``numpy.ndarray.__new__(cls, shape, dtype, buffer)``: an object that is an array, of the memory of another."""
    names = ("cls", "shape", "dtype", "buffer")
    given = dict(zip(names, [value for kind, value in args if not kind], strict=False))
    given |= {kind: value for kind, value in args if kind}
    cls, dtype = given.get("cls"), given.get("dtype", Known(float))
    is_float = isinstance(dtype, Known) and (dtype.value is float or dtype.value is np.float64)
    if len(given) != len(args) or not {*names} >= {*given} >= {"cls", "shape"} or not is_float:
        raise NotSpecialisedError("subclass")
    if not isinstance(cls, Known) or not is_array_class(cls.value):
        raise NotSpecialisedError("subclass")
    shape, buffer = elements(s, given["shape"]), given.get("buffer", NONE)
    if buffer is NONE:
        array = _called(s, np.empty, [shape], op, frame)
    else:
        array = elements(s, buffer)
        _require(s, require_layout, [array, Constant("d")], op, frame)
        if not _is_shape_of(s, shape, buffer):
            array = _called(s, np.reshape, [array, shape], op, frame)
    return made(s, cls.value, array, NONE, op, frame)


def _is_shape_of(s: Specialiser, shape: Abstract, array: Abstract) -> bool:
    """Whether a value is the shape of an array."""
    wrote = next((o for o in reversed(s.out) if shape in o.results), None)
    is_shape = wrote is not None and wrote.kind == "attribute" and wrote.data == "shape" and wrote.operands == (array,)
    if wrote is not None and is_shape:
        s.needless.add(wrote.result)
    return is_shape


def _called(s: Specialiser, function: Any, args: Sequence[Abstract], op: Operation, frame: Frame) -> Abstract:
    """What a function of NumPy or ours gives."""
    return called(s, s.outside(function, function.__name__), args, op, frame)


def _require(s: Specialiser, check: Any, args: Sequence[Abstract], op: Operation, frame: Frame) -> None:
    """Let a check run of what was not known to be an array of NumPy's own class, or how its elements stand."""
    if args[0] not in s.arrays:
        _called(s, require_ndarray, args[:1], op, frame)
        s.arrays.add(args[0])  # type: ignore[arg-type]
    if check is not require_ndarray:
        _called(s, check, args, op, frame)


def made(
    s: Specialiser,
    cls: type,
    array: Abstract,
    source: Abstract,
    op: Operation,
    frame: Frame,
    number: int | None = None,
) -> Done:
    """A new object of a class, with a ``number`` of axes, that NumPy makes of a source, which may be None."""
    s.used = True
    record = Record(cls, axes=known_axes(s, array) if number is None else number)
    s.state[record.identity] = Constant(None)
    cell = record.fields[ELEMENTS] = Cell(ELEMENTS, None, record)
    s.state[cell] = array
    finalize = static_member(cls, FINALIZE)
    if isinstance(finalize, types.FunctionType):
        guard_member(s, cls, FINALIZE)
        of_class = owner(cls, FINALIZE), record
        done = s.call_function(s, finalize, [("", record), ("", source)], op, frame, of_class)
        if isinstance(done, End):
            return done
    return (record,)


def _made_like(
    s: Specialiser, like: Abstract, array: Abstract, op: Operation, frame: Frame, number: int | None = None
) -> Done:
    assert isinstance(like, Record)
    return made(s, like.cls, array, like, op, frame, number)


def viewed(s: Specialiser, receiver: Abstract, args: Args, op: Operation, frame: Frame) -> Done:
    """``x.view(cls)``: an array as an object of a subclass, or an object as one of another class."""
    cls = args[0][1] if len(args) == 1 and args[0][0] in ("", "type") else None
    if is_array(receiver):
        if not args:
            return _made_like(s, receiver, elements(s, receiver), op, frame)
        if isinstance(cls, Known) and cls.value is np.ndarray:
            return (elements(s, receiver),)
    if not isinstance(cls, Known) or not isinstance(cls.value, type) or not is_array_class(cls.value):
        if is_array(receiver):
            raise NotSpecialisedError("subclass")
        return None
    guard_class(s, cls.value)
    array, source = elements(s, receiver), receiver
    if not is_array(receiver):
        if array not in s.arrays:
            _require(s, require_ndarray, [array], op, frame)
        hint = s.ranks.get(ranks.source_of(s, array))  # type: ignore[arg-type]
        if isinstance(array, Value) and hint is not None and known_axes(s, array) is None:
            _require(s, require_layout, [array, Constant(""), Constant(hint)], op, frame)
            s.ranks[array] = hint
        source = Record(np.ndarray)
        s.state[source.identity] = Constant(None)
        cell = source.fields[ELEMENTS] = Cell(ELEMENTS, None, source)
        s.state[cell] = array
    return made(s, cls.value, array, source, op, frame)


def returned(s: Specialiser, value: Abstract, place: Place | None) -> Abstract:
    """What the program returns: of such an object one that exists, with its attributes."""
    if not isinstance(value, Record) or not is_array(value):
        return value
    held = {name: s.state[cell] for name, cell in value.fields.items() if cell in s.state}
    array = held.pop(ELEMENTS)
    if any(v is UNSET or isinstance(v, (Kept, Unsure)) for v in held.values()):
        raise NotSpecialisedError("subclass")
    cls, names = s.outside(value.cls, value.cls.__name__), Row(tuple(map(Constant, held)))
    operands = s.operands([s.outside(object_of, "object_of"), array, cls, names, *held.values()], place)
    return s.emit("call", operands, ("",) * (len(operands) - 1), place=place)


# --- what NumPy does to them


def attribute(s: Specialiser, record: Record, name: str, op: Operation, frame: Frame) -> Done:
    """An attribute that arrays have, and the class of the object does not define."""
    member = static_member(np.ndarray, name)
    if name in _PLAIN:
        return (computed(s, "attribute", name, [elements(s, record)], op, frame),)
    if name == "T":
        turned = computed(s, "attribute", name, [elements(s, record)], op, frame)
        return _made_like(s, record, turned, op, frame, record.axes)
    if isinstance(member, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return (Method(Known(member), record),)
    raise NotSpecialisedError(name)


def of_arrays(s: Specialiser, known: Known, args: Args, op: Operation, frame: Frame) -> Done:
    """A call of a function, or of a method of arrays, with such objects among its arguments; None of any other."""
    function = known.value
    if function is np.ndarray.__new__:
        return made_of_buffer(s, args, op, frame)
    first = args[0][1] if args and not args[0][0] else None
    if function is vars(np.ndarray)[WRAP]:
        if len(args) < 2 or any(kind for kind, _ in args) or first is None or not is_array(first):
            raise NotSpecialisedError("subclass")
        _require(s, require_ndarray, [elements(s, args[1][1])], op, frame)
        return _made_like(s, first, elements(s, args[1][1]), op, frame)
    if function is np.ndarray.view and first is not None:
        return viewed(s, first, args[1:], op, frame)
    if not any(holds_array(s, value) for _, value in args):
        return None
    if any(function is one for one in RUNNING) and any(is_array(value) for _, value in args):
        run = [iterated(s, v, op, frame) if isinstance(v, Record) and is_array(v) else v for _, v in args]
        return (computed(s, "call", tuple([kind for kind, _ in args]), [known, *run], op, frame),)
    if isinstance(function, types.WrapperDescriptorType) and first is not None and is_array(first):
        return _of_super(s, function.__name__, [value for _, value in args], op, frame)
    if any(function is one for one in PARTS) and is_array(first or NONE):
        return _parts(s, known, args, op, frame)
    outcome = outcome_of(function, [kind for kind, _ in args if kind])
    if outcome is None or (function in UNSEEN and any(_is_told(s, v, FINALIZE) for _, v in args)):
        return None
    if not isinstance(function, types.MethodDescriptorType):
        name = getattr(function, "__name__", "")
        method = OPERATOR_METHODS.get(function, name)
        asks = not isinstance(function, np.ufunc) and hasattr(np.ndarray, method)
        if asks and any(users(value, method) for _, value in args):
            return None
    if function in WRAPPING_OTHERWISE and any(_is_told(s, v, WRAP) for _, v in args):
        return s.call_function(s, MODELS[function], args, op, frame, None) if function in MODELS else None
    given = [elements(s, value) for _, value in args]
    kinds = tuple([kind for kind, _ in args])
    if isinstance(function, types.MethodDescriptorType):
        if not is_array(first or NONE):
            # An array of NumPy's own class that is given an object.
            raise NotSpecialisedError("subclass")
        asked: Abstract = Late(s.dynamic(given[0]), function.__name__)
        given, kinds = given[1:], kinds[1:]
    else:
        asked = known if known.path else s.outside(function, function.__name__)
    values = [value for _, value in args]
    is_ufunc = isinstance(function, np.ufunc) and function.signature is None
    number = broadcast_axes(s, values) if is_ufunc else known_axes(s, values[0]) if function in KEEPING else None
    number = multiplied_axes(s, values) if function is np.matmul else number
    found = computed(s, "call", kinds, [asked, *given], op, frame)
    if function is np.linalg.norm and len(args) == 1:
        return (noted_number(s, found),)
    if outcome == "like" and (like := _wrapping(values)) is not None:
        if function is abs:
            return wrapped(s, like, found, (np.absolute, values), known_axes(s, like), op, frame)
        if isinstance(function, np.ufunc):
            return wrapped(s, like, found, (function, values), number, op, frame)
        if function in REDUCTIONS:
            left = axes_left(s, function, args)
            return wrapped(s, like, found, None, known_axes(s, found) if left is None else left, op, frame)
    return _outcome(s, outcome, found, values, op, frame, number)


def _parts(s: Specialiser, known: Known, args: Args, op: Operation, frame: Frame) -> Done:
    """The arrays that a decomposition gives, of which some are objects of the class of what is decomposed."""
    like = args[0][1]
    assert isinstance(like, Record)
    if not all(isinstance(value, Constant) and kind == "full_matrices" for kind, value in args[1:]):
        raise NotSpecialisedError("subclass")
    given = [elements(s, like), *(value for _, value in args[1:])]
    kinds = tuple([kind for kind, _ in args])
    found = computed(s, "call", kinds, [known, *given], op, frame)
    is_object = PARTS[known.value]
    results = tuple([Value() for _ in is_object])
    performed(s, "unpack", (len(results), None), [found], op, frame, results)
    parts: list[Abstract] = []
    number, wraps = known_axes(s, like), _wrapping([like]) is not None
    for result, is_made in zip(results, is_object, strict=True):
        part = s.get(result, frame)
        if not is_made:
            parts.append(part)
            continue
        done = (
            wrapped_alone(s, like, part, number, op, frame) if wraps else _made_like(s, like, part, op, frame, number)
        )
        if not isinstance(done, tuple):
            return done
        parts.append(done[0])
    return (Row(tuple(parts)),)


def _wrapping(values: Sequence[Abstract]) -> Record | None:
    """The object whose ``__array_wrap__`` gets what universal functions find, if its class defines that."""
    like = next(filter(is_array, values), None)
    return like if isinstance(like, Record) and users(like, WRAP) else None


def _outcome(
    s: Specialiser,
    outcome: Outcome,
    found: Abstract,
    values: Sequence[Abstract],
    op: Operation,
    frame: Frame,
    number: int | None = None,
) -> Done:
    """What NumPy makes of a result, which has a ``number`` of axes."""
    like = values[0] if outcome == "first" else next(filter(is_array, values), None)
    if outcome == "plain" or like is None or not is_array(like):
        return (found,)
    if outcome == "first":
        one, other = [known_axes(s, value) for value in (*values, NONE)[:2]]
        if one == other == 1:
            return (noted_number(s, found),)
        if (one or 0) < 2 and (other or 0) < 2:
            return (_number(s, found, op, frame),)
    return _made_like(s, like, found, op, frame, number)


def _of_super(s: Specialiser, name: str, values: Sequence[Abstract], op: Operation, frame: Frame) -> Done:
    """A special method of arrays that is called by its name: ``super().__getitem__(i)``."""
    if name == "__getitem__" and len(values) == 2:
        return item(s, values, op, frame)
    if name == "__setitem__" and len(values) == 3:
        performed(s, "set_item", None, [elements(s, v) for v in values], op, frame)
        return (NONE,)
    symbols = {method: symbol for symbol, method in OPERATOR_METHODS.items() if isinstance(symbol, str)}
    if name in symbols and len(values) == 2:
        return numpys(s, "binary", symbols[name], values, op, frame)
    raise NotSpecialisedError("subclass")


def numpys(s: Specialiser, kind: str, data: Any, values: Sequence[Abstract], op: Operation, frame: Frame) -> Done:
    """An operator as arrays define it, of such objects and other values: what a universal function does."""
    if kind == "inplace" and _wrapping(values) is not None:
        raise NotSpecialisedError("subclass")
    if kind == "inplace" and not is_array(values[0]):
        kind = "inplace" if axes(s, values[0]) else "binary"
        if kind == "inplace":
            return (computed(s, kind, data, [elements(s, v) for v in values], op, frame),)
    number = multiplied_axes(s, values) if data == "@" else broadcast_axes(s, values)
    found = computed(s, kind, data, [elements(s, v) for v in values], op, frame)
    if kind == "inplace":
        record = values[0]
        assert isinstance(record, Record)
        s.state[record.fields[ELEMENTS]] = found
        return (record,)
    if (like := _wrapping(values)) is not None:
        return wrapped(s, like, found, (ufunc_of(kind, data), values), number, op, frame)
    return _outcome(s, "like", found, values, op, frame, number)


def require_asked_first(s: Specialiser, left: Abstract) -> None:
    """Let an object on the right be asked for a reflected operator of its own.

    Python does where the operand on the left is an array or a number of its own, not of NumPy's.

    Raises:
        NotSpecialisedError: where it is not known what the operand is.
    """
    if not (isinstance(s.plain(left), Constant) or left in s.arrays or axes(s, left)):
        raise NotSpecialisedError("operator")


def item(s: Specialiser, values: Sequence[Abstract], op: Operation, frame: Frame) -> Done:
    """``x[i]``, as arrays define it: a number, or an object that is a part of the array."""
    base, index = values
    found = computed(s, "item", None, [elements(s, v) for v in values], op, frame)
    indices = s.row(index) or (index,)
    numbers = [i for i in indices if _is_number(s, i)]
    of_slices = [i for i in indices if i in s.slices]
    number = None
    if len(numbers) + len(of_slices) == len(indices):
        if of_slices and known_axes(s, base) is None:
            return _made_like(s, base, found, op, frame)
        known = known_axes(s, base)
        if known is None:
            return (_number(s, found, op, frame),)
        number = known - len(numbers)
        if number == 0 and not of_slices:
            return (noted_number(s, found),)
    elif not any(_is_array_index(s, i) for i in indices) and axes(s, found) == 0:
        raise NotSpecialisedError("axes")
    return _made_like(s, base, found, op, frame, number)


def _is_array_index(s: Specialiser, index: Abstract) -> bool:
    """Whether an index surely is an array with axes, or a list."""
    return isinstance(index, Items) or bool(known_axes(s, index) if is_array(index) else 0)


def _number(s: Specialiser, found: Abstract, op: Operation, frame: Frame) -> Abstract:
    """What is a number where arrays have as many axes as there are indices, which is checked when the program runs."""
    s.relied.asks_sizes = True
    return noted_number(s, _called(s, sole_number, [found], op, frame))


def _is_number(s: Specialiser, index: Abstract) -> bool:
    """Whether an index surely is a whole number."""
    known = s.plain(index)
    if isinstance(known, Constant):
        return type(known.value) is int
    fact = (s.types.get(known) or s.scalars.get(known)) if isinstance(known, Value) else None
    return fact is not None and fact.kind == "scalar" and not fact.boolean


def put_item(s: Specialiser, values: Sequence[Abstract], op: Operation, frame: Frame) -> Done:
    """``x[i] = value``, as arrays define it."""
    performed(s, "set_item", None, [elements(s, value) for value in values], op, frame)
    return ()


def iterated(s: Specialiser, record: Record, op: Operation, frame: Frame) -> Abstract:
    """What a loop over such an object runs through: the array, if it has one axis."""
    if any(users(record, name) for name in ("__iter__", "__getitem__", "__len__")):
        raise NotSpecialisedError("subclass")
    found, number = elements(s, record), known_axes(s, record)
    if number is None:
        s.relied.asks_sizes = True
        _require(s, require_layout, [found, Constant(""), Constant(1)], op, frame)
    elif number != 1:
        raise NotSpecialisedError("subclass")
    return found


def unpacked(s: Specialiser, record: Record, op: Operation, frame: Frame) -> Done:
    """``a, b = x``."""
    results = tuple([Value(r.name) for r in op.results])
    performed(s, "unpack", op.data, [iterated(s, record, op, frame)], op, frame, results)
    return tuple([s.get(result, frame) for result in results])


def items(s: Specialiser, record: Record, op: Operation, frame: Frame) -> tuple[Abstract, ...] | None:
    """The items of such an object, one by one, where it is known how many there are."""
    found = iterated(s, record, op, frame)
    number = sizes.count(s, found)
    if number is None or number > MOST_ITEMS:
        return None
    return tuple([computed(s, "item", None, [found, Constant(i)], op, frame) for i in range(number)])
