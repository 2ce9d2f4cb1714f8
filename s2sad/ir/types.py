"""What is known of every value before the run: scalar or array, shape, reality.

A *fact* gives the kind of a value, its number of axes where known, and its symbolic shape: a set of *atoms* that stands
for the broadcast shape of all, empty for a scalar.  Values of equal sets have provably equal shapes, and all that
is claimed is this: ``unbroadcast`` is dropped where an operand has the set of the result.  An atom is the shape of a
value whose shape is not known otherwise.  Where the sizes of all axes are known by symbols (:mod:`s2sad.ir.sizes`), the
set has a single atom that is named after them.  What a symbol stands for is fixed by the arguments of a call.
"""

from __future__ import annotations

import dataclasses
import functools
import numbers
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from s2sad.errors import ArgumentError
from s2sad.ir.attributes import AttributeType
from s2sad.ir.sizes import Dims, LiteralNumbers, Sizes, is_of_arguments
from s2sad.ir.sums import Dim, literal_size
from s2sad.runtime.classes import (
    ARRAY_MAKERS,
    has_array_operators,
    is_changing_class,
    is_unchanging_member,
    names_of_own,
    own_class,
    own_members,
)
from s2sad.runtime.contents import is_disguised, items_of, tuple_fields
from s2sad.runtime.copies import Layout, layout_of
from s2sad.runtime.moments import MOMENTS, is_moment
from s2sad.runtime.reached import classes_held, classes_of_attributes, classes_reached

Kind = Literal[
    "scalar", "array", "numeric", "tuple", "list", "dict", "record", "dataclass", "slice", "none", "other", "open"
]


@dataclass(frozen=True, slots=True)
class Atom:
    """A symbolic shape; ``below`` are atoms whose broadcast shape it never exceeds."""

    name: str
    below: frozenset[Atom] = frozenset()


Shape = frozenset[Atom]
SCALAR_SHAPE: Shape = frozenset()


#: In what precision NumPy surely computes with a value.  ``weak`` is any number of Python's, which gives way to NumPy's
#: own, ``float`` one that is no integer; ``single`` and ``double`` are floating-point or complex numbers of NumPy's, of
#: at least that precision.  Of integers and booleans of NumPy's, short floats, and what is not known it is empty.
Precision = Literal["", "weak", "float", "single", "double"]
_PRECISIONS: dict[str, Precision] = {**dict.fromkeys("dDgG", "double"), **dict.fromkeys("fF", "single")}


@dataclass(frozen=True)
class Fact:
    """What is known of a value.

    ``shape`` is None where even an atom would say too much.  ``dims`` are the symbolic sizes of the axes (1, a symbol,
    or an expression of one such as ``n0-2``), and ``size`` is that of an integer which is one. A record is a named
    tuple.  ``items`` are those of a container by key, all of them; where they are not known, ``each`` holds for every
    one.  What may be ``boolean`` indexes otherwise, a ``"mask"`` surely is of NumPy's.  In ``precision`` NumPy surely
    computes with the value.  An ``extended`` array of unknown ``ndim`` has one axis or more. ``owners`` are the
    classes of the user's which the value may be of, if they have methods or operators of their own. The ``items`` of
    an object of another class are its attributes, if such classes can be reached from one; ``each`` is what holds for
    all.  ``reach`` are classes whose objects it may be, or lead to, and nobody knows more. Of an array of a ``boxed``
    class operations make arrays without axes where NumPy's own make numbers. ``value`` is the text, truth value or
    whole number that it surely is.  ``attributes`` are those of an argument of which the function may set some, with
    their types (see `s2sad.transform.instances`).  What is ``open`` with ``given`` is None, or else a number or an
    array of that type.  What is ``other`` may surely be a ``text`` or enumeration's member; ``keys`` holds for every
    key of a dict.  Of an argument and its attributes, those for which a model stands (see `s2sad.ops.models`) are in
    ``library`` with their classes.  The ``layout`` of an argument says what copies it, a ``frozen`` one is
    read-only.  One that is a ``function`` which may write is known.  An ``instance`` is an object of this very class
    of the user's, whose own attributes have these names.  What is ``fixed`` carries no derivative, whatever it is
    made of.  A ``plain`` value is of this class of Python's library, whose objects never change: a date or time.
    """

    kind: Kind
    shape: Shape | None = None
    ndim: int | None = None
    real: bool = False
    items: tuple[tuple[Any, Fact], ...] | None = None
    dims: Dims | None = None
    size: Dim | None = None
    each: Fact | None = None
    boolean: bool | Literal["mask"] = False
    precision: Precision = ""
    extended: bool = False
    owners: frozenset[type] = frozenset()
    boxed: bool = False
    value: str | int | None = None
    reach: frozenset[type] = frozenset()
    attributes: tuple[tuple[str, AttributeType], ...] | None = None
    given: Fact | None = None
    text: bool = False
    keys: Fact | None = None
    library: tuple[tuple[str, type], ...] = ()
    layout: Layout = ""
    frozen: bool = False
    function: Callable[..., Any] | None = None
    instance: tuple[type, tuple[str, ...]] | None = None
    fixed: bool = False
    plain: type | None = None

    def but(self, **changes: Any) -> Fact:
        """The fact with other values of some fields, six times as fast as by `dataclasses.replace`."""
        assert changes.keys() <= self.__dict__.keys()
        made = object.__new__(Fact)
        made.__dict__.update(self.__dict__, **changes)
        return made

    @property
    def immutable(self) -> bool:
        """Whether the value surely is a number, text, date or member of an enumeration, which nothing writes into."""
        return self.kind == "scalar" or self.text

    @property
    def has_axes(self) -> bool:
        """Whether the value surely is an array of one axis or more."""
        return self.kind == "array" and (self.extended if self.ndim is None else self.ndim > 0)

    @property
    def numeric(self) -> bool:
        """Whether the value is a number or an array of them."""
        return self.kind in ("scalar", "array", "numeric")


OPEN = Fact("open")
OTHER = Fact("other")
TEXT = Fact("other", text=True)
#: A date, time or span of time, by its class.
MOMENT = {cls: TEXT.but(plain=cls) for cls in MOMENTS}
#: The dtype of arrays that hold objects, or records.
OBJECTS = Fact("other", each=OPEN)
#: Such an array: its items are no numbers, but objects that others may hold.
ARRAY_OF_OBJECTS = Fact("open", each=OPEN)
#: A function, or what makes arrays by being indexed: nothing is written into it.
_CALLED = Fact("other", real=True)
NONE = Fact("none")
UNSET_FACT = Fact("other", items=())
SCALAR = Fact("scalar", SCALAR_SHAPE, 0, True, dims=(), precision="weak")
TRUTH = SCALAR.but(boolean=True)
FLOAT = SCALAR.but(precision="float")
COMPLEX = FLOAT.but(real=False)


def constant(value: str | bool) -> Fact:
    """A text or truth value that is known."""
    return TEXT.but(value=value) if isinstance(value, str) else TRUTH.but(value=value)


@functools.lru_cache(maxsize=4096)
def scalar(real: bool, size: Dim | None = None) -> Fact:
    """A number; with ``size`` an integer that is the size of an axis."""
    return SCALAR.but(real=real, size=size)


@functools.lru_cache(maxsize=4096)
def sized(dims: Dims, real: bool, kind: Kind = "array") -> Fact:
    """An array whose axes have these sizes."""
    shape = frozenset({Atom(f"({','.join(map(str, dims))})")}) if dims else SCALAR_SHAPE
    return Fact(kind, shape, len(dims), real, dims=dims)


def resized(fact: Fact, dims: Dims) -> Fact:
    """``fact`` with other symbols for the sizes of its axes."""
    return fact.but(shape=sized(dims, fact.real).shape, ndim=len(dims), dims=dims)


#: The classes of the objects of NumPy that make arrays by being indexed.
_CALLED_CLASSES = types.FunctionType, types.BuiltinFunctionType, np.ufunc, *ARRAY_MAKERS
#: What some of them make, whatever the index.
_MADE = {type(np.mgrid): Fact("array"), type(np.r_): Fact("numeric"), type(np.c_): Fact("numeric")}
#: The classes of arrays that compute as arrays do.
_ARRAYS = (np.ndarray, np.memmap, np.recarray)
_LONGEST = 4096  # so many items of a list are looked at
#: The special methods that say what the items of a container are.
_ITEMS = ("__getitem__", "__iter__", "__len__", "__getattr__", "__contains__")


def describe(value: Any, name: str, sizes: Sizes | None = None) -> Fact:
    """The fact about an argument or global; its atoms are named after ``name``, its sizes by ``sizes``."""
    if is_disguised(value):
        return OPEN
    cls = own_class(value)
    if cls is None or cls in _ARRAYS:
        return _reaching(_described(value, name, sizes), value)
    own = own_members(cls)
    if isinstance(value, np.ndarray) and own and not has_array_operators(cls):
        what = f"{name} is of class {cls.__name__}, which has {min(own)} of its own"
        raise ArgumentError(f"{what}\nPass an array: np.asarray({name}).")
    is_number = isinstance(value, (int, float, complex, np.generic))
    if is_unchanging_member(value) and (own or not is_number):
        return OTHER.but(text=True, owners=frozenset({cls}), instance=(cls, names_of_own(value)))
    if own and is_number:
        return Fact("other", owners=frozenset({cls}))
    fact = _described(value, name, sizes)
    # What its items are is for its class to say, but not what its fields are.
    if any(n in own for n in _ITEMS) and fact.kind != "dataclass":
        fact = OTHER
    fact = _reaching(fact, value)
    if fact.kind == "scalar":
        return fact
    return fact.but(owners=frozenset({cls}), instance=None if isinstance(value, type) else (cls, names_of_own(value)))


def _reaching(fact: Fact, value: Any) -> Fact:
    """A fact about an object or container of which nothing more is known, with the user's classes that it leads to."""
    if fact.kind not in ("other", "list", "tuple", "dict") or fact.items is not None or fact.each is not None:
        return fact
    held = classes_held(value)
    if fact.kind == "other" and (attributes := classes_of_attributes(value, held)):
        items = [(k, leading_to(held).but(owners=own)) for k, (own, held) in attributes.items()]
        return fact.but(items=tuple(items))
    return fact.but(each=leading_to(held)) if held or own_class(value) is not None else fact


def leading_to(classes: frozenset[type]) -> Fact:
    """What is known of a value that may be, or hold, an object of some classes of the user's, and of no others."""
    return OPEN.but(reach=classes)


def owners_of(fact: Fact) -> frozenset[type]:
    """The classes of the user's of which a value, or what it holds, may be."""
    inner = [owners_of(f) for _, f in fact.items or ()]
    return fact.owners.union(*inner, owners_of(fact.each) if fact.each is not None else ())


def reach_of(fact: Fact) -> frozenset[type]:
    """The classes of the user's of which a value, or anything that it leads to, may be."""
    inner = [reach_of(f) for _, f in fact.items or ()]
    return (fact.owners | fact.reach).union(*inner, reach_of(fact.each) if fact.each is not None else ())


def _described(value: Any, name: str, sizes: Sizes | None = None) -> Fact:
    """The fact about a value but for its class."""
    if value is None:
        return NONE
    if type(value) is str:
        return constant(value) if isinstance(sizes, LiteralNumbers) else TEXT
    if isinstance(value, np.generic) and value.dtype.kind in "biufc":
        # A number of more than double precision is none of Python's.
        number = complex(value) if value.dtype.kind == "c" else value.item()
        plain = FLOAT if isinstance(number, np.floating) else describe(number, name)
        return _of_dtype(plain, value.dtype)
    if isinstance(value, int):
        if isinstance(sizes, LiteralNumbers) and type(value) is int and 0 <= value < sizes.END:
            return scalar(True, literal_size(value))
        return TRUTH if isinstance(value, bool) else scalar(True, f"{name}.")
    if isinstance(value, (float, complex)):
        return FLOAT if isinstance(value, float) else COMPLEX
    if isinstance(value, np.ndarray) and type(value) not in _ARRAYS and has_array_operators(type(value)):
        array = f"{name}.filled(0.0)" if isinstance(value, np.ma.MaskedArray) else f"np.asarray({name})"
        what = f"{name} is of class {type(value).__name__}, whose operators are not those of arrays"
        raise ArgumentError(f"{what}\nPass an array: {array}.")
    if isinstance(value, np.ndarray) and holds_objects(value.dtype):
        item = leading_to(classes_reached(value))
        return item.but(each=item)
    if isinstance(value, np.ndarray):
        if sizes is not None or not value.ndim:
            known = sized(tuple([sizes[n] for n in value.shape]) if sizes is not None else (), True)
        else:
            known = Fact("array", frozenset({Atom(name)}), value.ndim)
        frozen = not value.flags.writeable
        known = _of_dtype(known, value.dtype).but(layout=layout_of(value), frozen=frozen)
        return known if type(value) in (np.ndarray, np.memmap) else known.but(boxed=True)
    if isinstance(value, (tuple, list)):
        fields = tuple_fields(type(value))
        kind: Kind = "record" if fields is not None else "tuple" if isinstance(value, tuple) else "list"
        held = items_of(value)
        if len(held) > 64:
            # Of objects of one class it is known what each of them is.
            alike = len(held) <= _LONGEST and own_class(held[0]) is not None and len(set(map(type, held))) == 1
            return Fact(kind, each=either([describe(v, f"{name}[]", sizes) for v in held]) if alike else None)
        keys = range(len(held)) if fields is None else fields
        return Fact(
            kind, items=tuple([(k, describe(v, f"{name}[{k}]", sizes)) for k, v in zip(keys, held, strict=True)])
        )
    if isinstance(value, dict):
        if dict.__len__(value) > 64 or not all(isinstance(k, (str, int)) for k in dict.keys(value)):
            return Fact("dict")
        return Fact("dict", items=tuple((k, describe(v, f"{name}[{k!r}]", sizes)) for k, v in dict.items(value)))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value)]
        return Fact("dataclass", items=tuple((k, describe(getattr(value, k), f"{name}.{k}", sizes)) for k in names))
    if isinstance(value, numbers.Real):
        return SCALAR.but(precision="")
    if is_moment(value):
        return MOMENT[type(value)]
    if is_changing_class(value):
        return OPEN
    if value is object or value is np.object_ or (isinstance(value, np.dtype) and holds_objects(value)):
        return OBJECTS
    of_numbers = isinstance(value, type) and issubclass(value, (float, int, complex, np.number, np.bool_))
    if isinstance(value, np.dtype) or of_numbers:
        try:
            return _of_dtype(OTHER, np.dtype(value))
        except TypeError:
            return OTHER
    return _CALLED.but(each=_MADE.get(type(value))) if isinstance(value, _CALLED_CLASSES) else OTHER


def _of_dtype(fact: Fact, dtype: np.dtype[Any]) -> Fact:
    """What is known of a value of a dtype, or of the dtype itself."""
    return fact.but(real=dtype.kind in "fiub", boolean=dtype.kind == "b", precision=precision_of_dtype(dtype))


def holds_objects(dtype: np.dtype[Any]) -> bool:
    """Whether the items of arrays of a dtype are objects, or records, which are views of the array."""
    return dtype.hasobject or dtype.kind == "V"


def has_objects(fact: Fact) -> bool:
    """Whether a value is an array of objects, or holds one of which NumPy would make one."""
    if fact.kind in ("list", "tuple"):
        held = [item for item in (*(f for _, f in fact.items or ()), fact.each) if item is not None]
        return any(has_objects(item) or is_no_number(item) for item in held)
    return fact.kind == "open" and fact.each is not None and fact.each.kind == "open"


def is_no_number(fact: Fact) -> bool:
    """Whether a value surely is what an array of numbers cannot have for an element."""
    return fact.kind in ("none", "dict")


def precision_of_dtype(dtype: np.dtype[Any]) -> Precision:
    """The precision of what has a dtype."""
    return _PRECISIONS.get(dtype.char, "")


def either(facts: Iterable[Fact]) -> Fact | None:
    """What holds for every one of some values, whenever they were made; None if there are none."""
    found: Fact | None = None
    for fact in facts:
        fact = timeless(fact)
        if found is None or found == fact:
            found = fact
            continue
        kind: Kind = found.kind if found.kind == fact.kind else "open"
        if kind == "open" and found.numeric and fact.numeric:
            kind = "numeric"
        ndim = found.ndim if found.ndim == fact.ndim else None
        held = [some_item(f) for f in (found, fact) if f.items != ()]
        each = either([f for f in held if f is not None]) if None not in held else None
        items = _both_items(found, fact) if kind == found.kind else None
        truth = found.boolean if found.boolean == fact.boolean else True
        axes, boxed = found.has_axes and fact.has_axes, found.boxed or fact.boxed
        owners, real = found.owners | fact.owners, found.real and fact.real
        reach, given = found.reach | fact.reach, given_of_both(found, fact)
        shape, dims = (SCALAR_SHAPE, ()) if kind == "scalar" else (None, None)
        found = Fact(
            kind, shape, ndim, real, items, dims, None, each, truth, common(found.precision, fact.precision), axes,
            owners, boxed, reach=reach, given=given, text=found.text and fact.text, keys=either_key(found, fact),
            instance=found.instance if found.instance == fact.instance else None, fixed=found.fixed and fact.fixed,
            plain=found.plain if found.plain is fact.plain else None,
        )  # fmt: skip
    return found


def key_of(whole: Fact) -> Fact | None:
    """What holds for every key of a dict; None where that is not known, or there is none."""
    if whole.items is None:
        return whole.keys
    return key_among([key for key, _ in whole.items])


def key_among(keys: Iterable[Any]) -> Fact | None:
    """What holds for every one of some keys."""
    return either([TEXT if type(key) is str else SCALAR if type(key) is int else OPEN for key in keys])


def has_constant_keys(fact: Fact) -> bool:
    """Whether a value surely is a dict whose keys nothing writes into: what has a hash and is of a built-in class."""
    if fact.kind != "dict" or fact.items is not None:
        return fact.kind == "dict"
    return not (reach_of(fact) if fact.keys is None else reach_of(fact.keys))


def either_key(a: Fact, b: Fact) -> Fact | None:
    """What holds for every key of one of two dicts."""
    known = [key_of(f) for f in (a, b) if f.items != ()]
    return None if a.kind != b.kind or None in known else either([f for f in known if f is not None])


def given_of_both(a: Fact, b: Fact) -> Fact | None:
    """What holds of one of two values where it is not None; None where neither is, or they may be no numbers.

    Example:
        >>> given_of_both(NONE, FLOAT) == FLOAT, given_of_both(FLOAT, FLOAT)
        (True, None)
    """
    if "none" not in (a.kind, b.kind) and a.given is None and b.given is None:
        return None
    numbers_ = [f.given or f for f in (a, b) if f.kind != "none"]
    # Of floating-point dtypes likewise.
    dtypes = all(f.kind == "other" and f.precision for f in numbers_)
    if not (dtypes or all(f.numeric for f in numbers_)) or any(f.owners or f.reach for f in numbers_):
        return None
    return either([f if f.kind == "scalar" else f.but(shape=None, dims=None, size=None) for f in numbers_])


def _both_items(a: Fact, b: Fact) -> tuple[tuple[Any, Fact], ...] | None:
    """What holds for the items of two containers of the same keys; None where these differ."""
    if a.items is None or b.items is None or [k for k, _ in a.items] != [k for k, _ in b.items]:
        return None
    pairs = zip(a.items, b.items, strict=True)
    return tuple([(k, either([f, g]) or OPEN) for (k, f), (_, g) in pairs])


def common(a: Precision, b: Precision) -> Precision:
    """The precision of what has one of two."""
    return a if a == b else "weak" if "" not in (a, b) and "single" not in (a, b) else ""


def timeless(fact: Fact) -> Fact:
    """A fact without the shapes and sizes that a later value of the same name may not have."""
    if fact.kind == "list" and fact.items == ():
        return fact
    if fact.kind == "scalar":
        return scalar(fact.real).but(boolean=fact.boolean, precision=fact.precision)
    if fact.dims is not None and all(is_of_arguments(d) for d in fact.dims):
        known = sized(fact.dims, fact.real, fact.kind)
        return known.but(boolean=fact.boolean, precision=fact.precision, boxed=fact.boxed)
    if fact.kind in ("tuple", "record", "dataclass") and fact.items is not None:
        items = tuple([(k, timeless(f)) for k, f in fact.items])
        return Fact(fact.kind, items=items, owners=fact.owners, instance=fact.instance)
    keys = key_of(fact) if fact.kind == "dict" else None
    return fact.but(shape=None, items=None, dims=None, size=None, each=some_item(fact), value=None, keys=keys)


def some_item(whole: Fact) -> Fact | None:
    """What holds for every item of a container; None where nothing is known, or there is none."""
    if whole.kind == "dataclass":
        return None
    return whole.each if whole.items is None else either([f for _, f in whole.items])


def item_of(whole: Fact, position: Any) -> Fact:
    """The fact about ``whole[position]``, or about a field of a record."""
    if whole.items is not None:
        for key, fact in whole.items:
            if key == position:
                return fact
        if whole.kind == "record" and isinstance(position, int) and position < len(whole.items):
            return whole.items[position][1]
        return OPEN
    return row_of(whole) if whole.kind == "array" else whole.each or OPEN


def row_of(whole: Fact) -> Fact:
    """The fact about an item of an array along its first axis."""
    if whole.dims:
        row = made_of(whole.dims[1:], whole.real)
    elif whole.ndim is None:
        row = Fact("numeric", None, None, whole.real)
    elif whole.ndim == 1:
        row = scalar(whole.real)
    else:
        row = Fact("array", None, whole.ndim - 1, whole.real)
    boxed = whole.boxed and row.kind != "scalar"
    return row.but(boolean=whole.boolean, precision=whole.precision, boxed=boxed)


def made_of(dims: Dims, real: bool) -> Fact:
    """The result of an operation that returns a number where no axis is left."""
    return sized(dims, real) if dims else scalar(real)


def normal(shape: frozenset[Atom]) -> Shape:
    """Leave out the atoms that the others cover."""
    if len(shape) < 2:
        return shape
    return frozenset(a for a in shape if not (a.below and a.below <= (shape - {a})))


def broadcast(shapes: list[Shape | None]) -> Shape | None:
    """The symbolic shape of an elementwise operation on operands of these shapes."""
    if any(s is None for s in shapes):
        return None
    return normal(frozenset[Atom]().union(*(s for s in shapes if s is not None)))


def same_dtype(a: Fact, b: Fact) -> bool:
    """Whether two values provably are real numbers of one dtype; what is not known to be real may still be."""
    return a.real and b.real and a.precision == b.precision != ""


def same_shape(a: Fact, b: Fact) -> bool:
    """Whether two values provably have one shape."""
    return a.shape is not None and b.shape is not None and a.shape == b.shape
