"""Methods of arrays that NumPy has no function for."""

from __future__ import annotations

import math
import types
from collections import OrderedDict, defaultdict, deque
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.classes import BUILT_IN_NAMES, INDEX_MAKERS, differs, is_changing_class, own_class, own_members
from s2sad.runtime.contents import attributes_of
from s2sad.runtime.copies import laid_out_like

_PLAIN = frozenset({np.ndarray, np.float64, float, int, bool, complex, str, list, tuple, dict, set, type(None)})


def plain(x: Any, name: str | None = None) -> Any:
    """``x`` itself, if its methods and operators are those of Python's and NumPy's own classes, or the one of a name.

    With ``name="*"`` it is an operand beside one that is differentiated, with ``"@"`` one of the product of matrices,
    or the object of a method: then the operators must be those of numbers and arrays, also if it is of NumPy or SciPy.

    Raises:
        UndefinedDerivativeError: if the class of ``x`` has methods or operators of its own under their names.

    Example:
        >>> plain([1.0, 2.0])
        [1.0, 2.0]
    """
    cls: type = type(x)
    if cls in _PLAIN:
        return x
    if name == "__getitem__" and issubclass(cls, INDEX_MAKERS):
        raise UndefinedDerivativeError(
            "np.r_, or an object like it, is known at run time only: it makes something of what is differentiated",
            "Subscript np.r_ by its own name, or call np.concatenate.",
        )
    is_operand = name in ("*", "@")
    if is_operand:
        if differs(cls) and (name == "*" or issubclass(cls, np.ndarray)):
            raise UndefinedDerivativeError(
                f"an operand is of class {cls.__qualname__}, whose operators are not those of arrays",
                "Use an array: np.asarray(...) of it, or .toarray(); what may stay is a sparse matrix in A @ x.",
            )
        name = None
    if name is None and is_changing_class(x):
        raise UndefinedDerivativeError(
            f"a method of the class {x.__qualname__} is called by itself, which may change what it is given",
            "Call it as a method of the object: a.fill(x) for type(a).fill(a, x).",
        )
    if own_class(x) is None:
        return x
    own = sorted(own_members(cls)) or sorted(BUILT_IN_NAMES.intersection(attributes_of(x)))
    own = own if name is None else [name] if name in own_members(cls) else []
    if is_operand and own == ["__array__"]:
        # It stands for the array that this gives.
        return x
    if own:
        raise UndefinedDerivativeError(
            f"an object is of class {cls.__qualname__}, which has {own[0]} of its own: what that does is not known",
            "Write it as a function of the values that it reads, and call that.",
        )
    return x


def require_dict(x: Any, method: str) -> None:
    """Refuse an object whose method of the name of one of dicts may be another one.

    Raises:
        UndefinedDerivativeError: if it is no dict, or of a class with such a method of its own.

    Example:
        >>> require_dict({}, "setdefault")
    """
    if not isinstance(x, dict):
        what = x if isinstance(x, type) else type(x)
        raise UndefinedDerivativeError(
            f"the method {method} of {what.__qualname__} is called, which is no dict: what it does is not known",
            "Write it as a function of the values that it reads, and call that.",
        )
    plain(x, method)


def remember(thing: Any, name: str, value: Any) -> None:
    """Set an attribute of an object that outlives the function: what is read of it later is a constant.

    Example:
        >>> import types
        >>> thing = types.SimpleNamespace(x=1.0)
        >>> remember(thing, "x", 2.0)
        >>> thing.x
        2.0
    """
    setattr(thing, name, value)


def record(container: Any, method: str, *values: Any) -> None:
    """Put something into a container that outlives the function: what is read of it later is a constant.

    Example:
        >>> losses = []
        >>> record(losses, "append", 1.0)
        >>> losses
        [1.0]
    """
    getattr(container, method)(*values)


def still(x: Any, known: Any) -> Any:
    """The list or dict ``x`` itself, if it holds the objects that it did when the program was compiled.

    Raises:
        UndefinedDerivativeError: if it has other items now.

    Example:
        >>> still([1.0, "a"], [2.0, "a"])
        [1.0, 'a']
    """
    same = type(x) is type(known) and len(x) == len(known)
    if same and isinstance(x, (dict, types.MappingProxyType)):
        same = list(x) == list(known)
        x_items, items = x.values(), known.values()
    else:
        x_items, items = x, known
    plain = (int, float, complex, np.generic, np.ndarray, list, tuple, dict)
    if not same or not all(
        a is b or isinstance(b, plain) or (type(a) is type(b) is str and a == b)
        for a, b in zip(x_items, items, strict=True)
    ):
        raise UndefinedDerivativeError(
            f"this {type(x).__name__} was changed while a function that goes through it ran",
            "Make a new one instead.",
        )
    return x


def at_least(x: Any, count: int) -> Any:
    """The list, tuple or array ``x`` itself, if it has so many items.

    Raises:
        UndefinedDerivativeError: if it has fewer items, or is something else.

    Example:
        >>> at_least((1.0, 2.0), 2)
        (1.0, 2.0)
    """
    if not isinstance(x, (list, tuple, np.ndarray)) or len(x) < count:
        raise UndefinedDerivativeError(
            f"what is gone through beside {count} known items is no list, tuple or array of as many",
            "Give it as many items.",
        )
    return x


def longest(maxlen: Any) -> float:
    """How many items ``deque(maxlen=maxlen)`` has at most.

    Raises:
        TypeError, ValueError: as Python does where it is no whole number, or a negative one.

    Example:
        >>> longest(3), longest(None)
        (3, inf)
    """
    most = deque(maxlen=maxlen).maxlen
    return math.inf if most is None else most


def as_many_rows(rows: Any, count: int) -> Any:
    """The list, tuple or array ``rows`` itself, or a list of it, if it has ``count`` rows to go through together.

    If there are others, but nothing to go through, since one of them has no items, it is as many empty ones.

    Raises:
        ValueError: if there are others, as taking the first column apart would.

    Example:
        >>> as_many_rows([[1.0, 2.0], [3.0, 4.0]], 2)
        [[1.0, 2.0], [3.0, 4.0]]
        >>> as_many_rows([], 2)
        [(), ()]
    """
    if not isinstance(rows, (list, tuple, np.ndarray)):
        rows = list(rows)
    if len(rows) == count:
        return rows
    found = len(next(zip(*rows, strict=False), ()))
    if not found:
        return [()] * count
    wanted = f"too many values to unpack (expected {count})"
    raise ValueError(wanted if found > count else f"not enough values to unpack (expected {count}, got {found})")


def unless_empty(z_bar: Any, rows: Any, count: int) -> Any:
    """Adjoint of ``rows`` in ``as_many_rows``: none of what has no column."""
    return z_bar if len(rows) == count else 0.0


def named_only(x: Any, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> None:
    """Ask that the dict ``x``, of which the items are named arguments, has the required keys, and no others than these
    and the optional ones.

    Raises:
        TypeError: if it has not, as the call would.
        UndefinedDerivativeError: if it is something else than a dict.

    Example:
        >>> named_only({"w": 1.0, "b": 2.0}, ("w",), ("b", "c"))
    """
    if type(x) not in {dict, OrderedDict, defaultdict}:
        raise UndefinedDerivativeError(
            f"what is given behind two stars is of class {type(x).__qualname__}", "Give a dict: dict(...) of it."
        )
    missing = [name for name in required if name not in x]
    unexpected = [name for name in x if name not in required and name not in optional]
    if missing:
        raise TypeError(f"missing required argument: {missing[0]!r}")
    if unexpected:
        raise TypeError(f"got an unexpected or repeated argument: {unexpected[0]!r}")


def number(x: Any) -> Any:
    """``x`` itself, if it is a number: with an object beside it, an array would go through its items.

    Raises:
        UndefinedDerivativeError: if ``x`` is no number.

    Example:
        >>> number(2.5)
        2.5
    """
    if not (isinstance(x, (int, float, complex, np.generic)) or (type(x) is np.ndarray and x.ndim == 0)):
        raise UndefinedDerivativeError(
            f"what an operator does to a {type(x).__qualname__} and an object that the program makes is not known",
            "Write the object first, or call its method.",
        )
    return x


def sole_number(x: Any) -> Any:
    """``x`` itself, if it is a number: of an array, NumPy would make an object of the subclass that it was taken from.

    Raises:
        UndefinedDerivativeError: if ``x`` is no number.

    Example:
        >>> sole_number(2.5)
        2.5
    """
    if isinstance(x, np.ndarray):
        raise UndefinedDerivativeError(
            "a part of an object of a subclass of arrays is an object again, where the types do not say so",
            "Take the part from the array itself: np.asarray(x)[i].",
        )
    return x


def array_of(x: Any, ndim: int, dtype: str) -> Any:
    """``x`` itself, if it is what it was when the program was compiled: an array of a dtype with so many axes.

    Raises:
        UndefinedDerivativeError: if it is not.

    Example:
        >>> array_of(np.array([1.0, 2.0]), 1, "d")
        array([1., 2.])
    """
    if type(x) is not np.ndarray or x.dtype.char != dtype or x.ndim != ndim:
        raise UndefinedDerivativeError(
            "an attribute that was an array has become something else while a function ran that reads it",
            "Give it another name.",
        )
    return x


def object_of(x: Any, cls: Any, names: Any, *values: Any) -> Any:
    """An array as an object of a subclass, with attributes.

    Example:
        >>> object_of(np.array([1.0, 2.0]), np.ndarray, ())
        array([1., 2.])
    """
    made = np.asarray(x).view(cls)
    for name, value in zip(names, values, strict=True):
        setattr(made, name, value)
    return made


def object_with(cls: Any, names: Any, *values: Any) -> Any:
    """An object of a class with some attributes, for which nothing of the class runs.

    Example:
        >>> object_with(type("Disk", (), {}), ("radius",), 2.0).radius
        2.0
    """
    made = object.__new__(cls)
    for name, value in zip(names, values, strict=True):
        object.__setattr__(made, name, value)
    return made


def copy_of(x: Any, ndim: int, dtype: str) -> Any:
    """A copy of ``x``, laid out like it and read-only if it is, where `array_of` gives ``x`` itself.

    Example:
        >>> copy_of(np.array([1.0, 2.0]), 1, "d")
        array([1., 2.])
    """
    made = laid_out_like(array_of(x, ndim, dtype))
    made[...] = x
    made.flags.writeable = x.flags.writeable
    return made


def state_of(x: Any, ndim: int, dtype: str) -> Any:
    """``x`` itself, an array that exists and that the function writes, as `array_of`.

    Example:
        >>> state_of(np.array([1.0, 2.0]), 1, "d")
        array([1., 2.])
    """
    return array_of(x, ndim, dtype)


def item(a: Any, *args: Any) -> Any:
    """One element of ``a`` as a Python number, ``a.item(*args)``: the only one, or by its position."""
    return a.item(*args)


def unitem(g: Any, a: Any, args: tuple[Any, ...]) -> Any:
    """Transpose of ``a.item(*args)``: ``g`` in zeros like ``a``.

    Example:
        >>> unitem(2.0, np.ones((2, 2)), (-1,))
        array([[0., 0.],
               [0., 2.]])
    """
    a_bar = np.zeros_like(a)
    if len(args) == 1 and not isinstance(args[0], tuple):
        a_bar.flat[args[0]] = g
    else:
        a_bar[args[0] if len(args) == 1 else args or ...] = g
    return a_bar


class Unset:
    """What stands for a variable that has no value yet: whatever is done with it raises what Python would."""

    __slots__ = ("name",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str) -> None:
        self.name = name


def _unset(self: Unset, *args: Any, **kwargs: Any) -> Any:
    raise UnboundLocalError(f"cannot access local variable {self.name!r} where it is not associated with a value")


_BINARY = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor".split()
for _method in [
    *(f"__{side}{name}__" for name in _BINARY for side in ("", "r", "i")),
    *(f"__{name}__" for name in "neg pos abs invert bool int float complex index round len iter contains call".split()),
    *(f"__{name}__" for name in "getitem setitem getattr eq ne lt le gt ge".split()),
    *("__array__", "__array_ufunc__", "__array_function__"),
]:
    setattr(Unset, _method, _unset)


def unset(name: str) -> Any:
    """Stand for the variable called ``name``, which has no value yet."""
    return Unset(name)


def require_value(x: Any) -> None:
    """Do nothing with the value of a variable that must have one; Python, or what stands for none, raises otherwise."""
    if type(x) is Unset:
        _unset(x)


def copy_if_set(x: Any) -> Any:
    """A shallow copy of a list or dict; what stands for a variable without a value stays what it is."""
    return x if type(x) is Unset else x.copy()


def tolist(a: Any) -> Any:
    """The elements of ``a`` as Python numbers in nested lists: ``a.tolist()``."""
    return a.tolist()


def untolist(g: Any, a: Any) -> Any:
    """Return the adjoint of ``a``, given ``g``, that of the nested lists ``a.tolist()``.

    Example:
        >>> untolist([[1.0], [2.0]], np.zeros((2, 1)))
        array([[1.],
               [2.]])
    """
    whole = np.reshape(np.array(g, np.result_type(a)), np.shape(a))
    return whole if np.ndim(a) else whole[()]


def compressed(a: Any, condition: Any, axis: int | None = None) -> Any:
    """The elements or slices of ``a`` at which a condition holds: ``a.compress(condition, axis)``."""
    return a.compress(condition, axis)


def viewed(a: Any, kind: Any = None) -> Any:
    """``a.view(kind)``, with the same elements.

    Raises:
        UndefinedDerivativeError: if the elements of the view are other numbers.

    Example:
        >>> viewed(np.array([1.0, 2.0]), np.ndarray)
        array([1., 2.])
    """
    seen = a.view() if kind is None else a.view(kind)
    if seen.dtype != a.dtype or type(seen) is not type(a):
        raise UndefinedDerivativeError(
            f"a view of numbers of dtype {a.dtype} as {seen.dtype} has no derivative",
            "Convert them with astype; for the parts of complex numbers use .real and .imag.",
        )
    return seen
