"""Arguments of a call: what tells their kinds apart, which may have a gradient, and in what form it is given."""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from s2sad import ops
from s2sad.errors import ArgumentError, UnsupportedError
from s2sad.frontend.emitted import DERIVED_FROM
from s2sad.ir.sizes import LiteralNumbers, Sizes
from s2sad.ir.types import Fact, describe
from s2sad.load import origin
from s2sad.pipeline import Together
from s2sad.runtime import SharedArgumentsError, conform
from s2sad.runtime.contents import items_of
from s2sad.runtime.sharing import groups, named
from s2sad.runtime.trees import is_constant_field, sequence_like

ARRAY = np.ndarray

#: What adds to the type of an argument, by parameter and value.
Refine = Callable[[str, Any, Fact], Fact]


def facts(
    names: Sequence[str],
    values: Sequence[Any],
    label: str,
    refined: Refine | None = None,
    literal: bool = False,
    related: bool = False,
) -> dict[str, Fact]:
    """The types of parameters by their arguments; ``refined`` adds what the function asks of the values.

    Of ``literal`` ones the sizes are numbers; of ``related`` ones it is known how they compare.

    Raises:
        ArgumentError: for a list, tuple, dict or dataclass that holds itself.
    """
    sizes: Sizes = LiteralNumbers() if literal else Sizes()
    found: dict[str, Fact] = {}
    for last in (False, True) if related and not literal else (True,):
        for name, value in zip(names, values, strict=True):
            try:
                fact = describe(value, name, sizes)
                found[name] = fact if refined is None or not last else refined(name, value, fact)
            except RecursionError:
                what = f"{label}: {name} holds itself, or containers in containers without end"
                raise ArgumentError(f"{what}\nPass a container that is a tree.") from None
        # Which symbols say the most is known as soon as all sizes are.
        sizes = sizes if last else sizes.related()
    return found


def check(value: Any, where: str, label: str) -> None:
    """Raise unless every leaf of an argument can have a gradient.

    Args:
        value: The argument.
        where: How to name it, as ``params['w'][0]``.
        label: What it is an argument of.

    Raises:
        ArgumentError: for integers other than Python's own, booleans, and objects that hold no numbers.
    """
    if isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{label}: {where} is a boolean, which has no gradient\nPass a float.")
    if isinstance(value, (float, int, complex)) or value is None:
        return
    if isinstance(value, (ARRAY, np.generic)):
        if value.dtype.kind in "fc":
            return
        what = {"i": "integers", "u": "integers", "b": "booleans"}.get(value.dtype.kind)
        what = f"{what} (dtype {value.dtype})" if what else f"dtype {value.dtype}"
        raise ArgumentError(
            f"{label}: {where} is an array of {what}, which has no gradient\nConvert it: {where}.astype(float)."
        )
    fields = getattr(type(value), "_fields", None) if isinstance(value, tuple) else None
    if fields is None:
        fields = getattr(type(value), "__dataclass_fields__", None)
    if fields is not None or isinstance(value, (list, tuple, dict)):
        _check_names(value, where, label)
    if fields is not None:
        for field in fields:
            held = getattr(value, field)
            if not is_constant_field(held):
                check(held, f"{where}.{field}", label)
        return
    if isinstance(value, (list, tuple)):
        for i, item in enumerate(items_of(value)):
            check(item, f"{where}[{i}]", label)
        return
    if isinstance(value, dict):
        for key, item in dict.items(value):
            check(item, f"{where}[{key!r}]", label)
        return
    if hasattr(value, "__array_function__"):
        return
    raise ArgumentError(
        f"{label}: {where} is of type {type(value).__name__}, which has no gradient\n"
        "Pass floats, arrays, or tuples, lists and dicts of them."
    )


#: What tells a container from an object with operators of its own.
_OPERATORS = [f"__{name}__" for name in "add mul matmul sub truediv neg getitem setitem iter len".split()]


def _check_names(value: Any, where: str, label: str) -> None:
    """Raise if a container has attributes of its own that are called as those of arrays."""
    t = type(value)
    if t in (list, tuple, dict):
        return
    plain = next((base for base in (list, tuple, dict) if isinstance(value, base)), object)
    for name in _OPERATORS if plain is not object else ():
        if getattr(t, name, None) is not getattr(plain, name, None):
            raise ArgumentError(
                f"{label}: {where} is of class {t.__qualname__}, which has {name} of its own\n"
                "Pass a plain container of its values."
            )
    for name in sorted(ops.names_of_arrays()):
        if plain is object and name[:2] == "__":
            continue
        own = getattr(t, name, None) is not getattr(plain, name, None)
        if own or name in getattr(t, "__dataclass_fields__", ()):
            raise ArgumentError(
                f"{label}: {where} has {name!r}, which reads like that attribute or method of an array\n"
                f"Give it another name in {t.__qualname__}, or pass its values as arguments of their own."
            )


def floats(value: Any) -> Any:
    """``value`` with Python ints as floats; the very object where there are none.

    Example:
        >>> floats([1, 2.0])
        [1.0, 2.0]
    """
    if type(value) is int:
        return float(value)
    if isinstance(value, (list, tuple)):
        held = items_of(value)
        items = [floats(v) for v in held]
        if all(a is b for a, b in zip(items, held, strict=True)):
            return value
        return sequence_like(value, items)
    if isinstance(value, dict):
        values = [floats(v) for v in dict.values(value)]
        if all(a is b for a, b in zip(values, dict.values(value), strict=True)):
            return value
        return dict(zip(value, values, strict=True))
    return value


def floats_at(positions: Sequence[int], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """``args`` with Python ints as floats at some positions; the very object where there are none."""
    values = list(args)
    for position in positions:
        try:
            values[position] = floats(values[position])
        except RecursionError:
            raise ArgumentError("an argument holds itself\nPass a container that is a tree.") from None
    return args if all(a is b for a, b in zip(args, values, strict=True)) else tuple(values)


def wanted(
    function: Callable[..., Any],
    names: tuple[str, ...],
    argnums: int | Sequence[int],
    argnames: str | Sequence[str] | None,
) -> tuple[tuple[str, ...], bool]:
    """The names of the parameters to differentiate with respect to, and whether there is just one."""
    label = getattr(function, "__name__", "the function")
    if argnames is not None:
        single = isinstance(argnames, str)
        chosen: list[Any] = [argnames] if single else list(argnames) if isinstance(argnames, (list, tuple)) else [None]
        if not all(isinstance(name, str) for name in chosen):
            raise ArgumentError(f"argnames must be a name or a tuple of names, not {argnames!r}")
        for name in chosen:
            if name not in names:
                raise ArgumentError(f"{label} has no parameter {name!r}\nIts parameters are: {', '.join(names)}.")
    else:
        numbers = [argnums] if isinstance(argnums, (int, np.integer)) else argnums
        single = isinstance(argnums, (int, np.integer))
        if isinstance(argnums, bool) or not isinstance(numbers, Iterable):
            raise ArgumentError(f"argnums must be an int or a tuple of ints, not {argnums!r}")
        chosen = []
        for number in numbers:
            if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
                raise ArgumentError(f"argnums must be an int or a tuple of ints, not {argnums!r}")
            if not -len(names) <= number < len(names):
                count = f"{len(names)} parameter{'s' if len(names) != 1 else ''}"
                raise ArgumentError(f"{label} has {count}, so argnums={number} is out of range")
            chosen.append(names[number])
    if not chosen:
        raise ArgumentError("no argument to differentiate with respect to")
    if len(set(chosen)) != len(chosen):
        raise ArgumentError(f"an argument is named twice: {', '.join(chosen)}")
    return tuple(chosen), single


class Binder:
    """Binds the arguments of calls to the parameters of a function, as ``inspect`` would in ten times the time.

    ``leading`` come before the arguments of a call, ``given`` by name: ``open`` are the names of the other parameters.
    """

    def __init__(
        self,
        function: types.FunctionType,
        leading: tuple[Any, ...] = (),
        given: Mapping[str, Any] | None = None,
    ) -> None:
        self.function, self.leading, self.given = function, leading, given or {}
        self.code = function.__code__
        #: The function whose default values, which may be others later, are those of this one.
        self.first = function
        while DERIVED_FROM in self.first.__dict__:
            self.first = self.first.__dict__[DERIVED_FROM]
        parameters = inspect.signature(function, follow_wrapped=False).parameters
        self.names = tuple(parameters)
        self._by_name = tuple([name for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY])
        #: How many positional arguments are all that there are; -1 where some go by name only.
        self.complete = -1 if self._by_name or self.leading or self.given else len(self.names)
        self.open = tuple([name for name in self.names[len(self.leading) :] if name not in self.given])
        # A function of the same parameters, so that Python itself binds them.
        bare = inspect.Signature([p.replace(default=p.empty, annotation=p.empty) for p in parameters.values()])
        values = "".join([f"{name}, " for name in self.names])
        self._bind: types.FunctionType = eval(f"lambda {str(bare)[1:-1]}: ({values})")

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any], label: str) -> tuple[Any, ...]:
        """The values of all parameters, in order, with the present defaults of the function.

        Raises:
            ArgumentError: for arguments that the function does not take.
        """
        f, bind = self.first, self._bind
        if self.leading or self.given:
            args, kwargs = (*self.leading, *args), {**self.given, **kwargs}
        if bind.__defaults__ is not f.__defaults__ or bind.__kwdefaults__ is not f.__kwdefaults__:
            bind.__defaults__, bind.__kwdefaults__ = f.__defaults__, f.__kwdefaults__
        try:
            values: tuple[Any, ...] = bind(*args, **kwargs)
        except TypeError:
            try:
                inspect.signature(f, follow_wrapped=False).bind(*args, **kwargs)
            except TypeError as error:
                raise ArgumentError(f"{label}: {error}") from None
            raise
        return values

    def fixed(self) -> dict[str, Any]:
        """The values of the parameters that the caller does not pass, by name."""
        return {**dict(zip(self.names, self.leading, strict=False)), **self.given}

    def positional(
        self, run: Callable[..., Any], positions: Sequence[int], args: tuple[Any, ...]
    ) -> Callable[..., Any]:
        """``run`` for arguments such as ``args``: all by position, and as they were given at ``positions``."""
        convert = floats_at(positions, args) is not args
        if not self._by_name and not convert:
            return run
        positional = len(self.names) - len(self._by_name)

        def adapted(*values: Any, **tangents: Any) -> Any:
            if convert:
                values = floats_at(positions, values)
            by_name = dict(zip(self._by_name, values[positional:], strict=True))
            return run(*values[:positional], **by_name, **tangents)

        return adapted


def fitted(g: Any, x: Any) -> Any:
    """The gradient ``g`` in the structure, shape and dtype of its argument ``x``."""
    t = type(x)
    if t is float or t is int:
        if type(g) is float:
            return g
        if type(g) is np.float64:
            return float(g)
    elif t is ARRAY and type(g) is ARRAY and g.dtype is x.dtype and g.shape == x.shape:
        return g
    return conform(g, x)


def seed_for(g: Any, value: Any, label: str) -> Any:
    """The adjoint ``g`` of ``value`` in the precision of ``value``, with lists for tuples.

    Raises:
        ArgumentError: if it has another structure or shape, or is complex where the value is real.
    """
    if isinstance(value, (list, tuple)):
        if not isinstance(g, (list, tuple)) or len(g) != len(value):
            raise ArgumentError(f"{label}: the pullback takes {len(value)} adjoints in a {type(value).__name__}")
        return [seed_for(a, b, label) for a, b in zip(g, value, strict=True)]
    if isinstance(value, dict):
        if not isinstance(g, dict) or g.keys() != value.keys():
            raise ArgumentError(f"{label}: the pullback takes a dict with the keys {sorted(map(str, value))}")
        return {key: seed_for(g[key], value[key], label) for key in value}
    numeric = isinstance(value, (int, float, complex, np.number, np.ndarray)) and not isinstance(value, bool)
    if not numeric or np.asarray(value).dtype.kind not in "iufc":
        return g
    if np.asarray(g).dtype.kind not in "biufc":
        raise ArgumentError(f"{label}: an adjoint is a number or an array, and not {type(g).__name__}")
    if np.shape(g) != np.shape(value):
        raise ArgumentError(
            f"{label}: the value has shape {np.shape(value)}, its adjoint was given with shape {np.shape(g)}"
        )
    if np.iscomplexobj(g) and not np.iscomplexobj(value):
        raise ArgumentError(f"{label}: the value is real, its adjoint was given as complex numbers")
    if isinstance(value, np.ndarray):
        return np.asarray(g, np.result_type(value.dtype, np.float16))
    return complex(g) if np.iscomplexobj(g) else float(g)


def sharing(values: Mapping[str, Any], wrt: Sequence[str]) -> Together:
    """The sets of constant arguments that share what can change."""
    return tuple([group for group in groups(values) if group.isdisjoint(wrt)])


@contextlib.contextmanager
def naming(error: SharedArgumentsError, values: Mapping[str, Any]) -> Iterator[None]:
    """Say which arguments share what the function changes, where this cannot be followed."""
    try:
        yield
    except (SharedArgumentsError, UnsupportedError):
        found = named(error, values)
        found.place = origin(error.__traceback__)
        raise found from None
