"""What users hold: derivatives as callable objects that carry their own source.

An object compiles when it is first called with arguments of new kinds (float, array of so
many dimensions, container), with everything that is known of them as facts to the one compiler;
afterwards a call is a look-up.  Names that were resolved are guarded: when a helper
function or a constant's kind has changed, the next call compiles again.
"""

from __future__ import annotations

import functools
import inspect
import threading
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from s2sad.analysis.facts import Fact, Sizes, describe
from s2sad.errors import ArgumentError
from s2sad.analysis.hints import hinted_facts
from s2sad.pipeline import Compiled, Goal, compile_gradient
from s2sad.runtime import conform, zeros

Function = Callable[..., Any]


def _kind(value: Any) -> Any:
    """A key that is equal only for values of which :func:`describe` says the same."""
    t = type(value)
    if t is np.ndarray:
        return value.shape, value.dtype.char
    if t is float or t is int or t is str:
        return t
    if isinstance(value, (list, tuple)):
        return (t, *map(_kind, value)) if len(value) <= 64 else (t, len(value) > 64)
    if isinstance(value, dict):
        return (t, *((k, _kind(v)) for k, v in value.items())) if len(value) <= 64 else (t,)
    if isinstance(value, np.generic):
        return value.dtype.kind
    fields = getattr(t, "__dataclass_fields__", None)
    if fields is not None:
        return (t, *(_kind(getattr(value, name)) for name in fields))
    return t


def _checked(value: Any, where: str, name: str) -> None:
    """Raise unless every leaf of an argument can have a gradient."""
    if isinstance(value, bool) or isinstance(value, np.bool_):
        raise ArgumentError(f"{name}: {where} is a boolean, which has no gradient\nPass a float.")
    if isinstance(value, (float, int, complex)) or value is None:
        return
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind in "fc":
            return
        what = {"i": "integers", "u": "integers", "b": "booleans"}.get(value.dtype.kind)
        what = f"{what} (dtype {value.dtype})" if what else f"dtype {value.dtype}"
        raise ArgumentError(
            f"{name}: {where} is an array of {what}, which has no gradient\nConvert it: {where}.astype(float)."
        )
    if isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            _checked(item, f"{where}[{i}]", name)
        return
    if isinstance(value, dict):
        for key, item in value.items():
            _checked(item, f"{where}[{key!r}]", name)
        return
    fields = getattr(type(value), "__dataclass_fields__", None)
    if fields is not None:
        for field in fields:
            _checked(getattr(value, field), f"{where}.{field}", name)
        return
    if hasattr(value, "__array_function__"):
        return
    raise ArgumentError(
        f"{name}: {where} is of type {type(value).__name__}, which has no gradient\n"
        "Pass floats, arrays, or tuples, lists and dicts of them."
    )


def _floats(value: Any) -> Any:
    """``value`` with Python ints as floats."""
    if type(value) is int:
        return float(value)
    if isinstance(value, (list, tuple)):
        items = [_floats(v) for v in value]
        if all(a is b for a, b in zip(items, value, strict=True)):
            return value
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {k: _floats(v) for k, v in value.items()}
    return value


class Derivative:
    """The derivative of a function: callable, with the source that it runs.

    Objects are made by :func:`grad` and :func:`value_and_grad`.
    """

    _goal: Goal = "gradient"
    _verb = "grad"

    def __init__(
        self,
        function: Function,
        argnums: int | Sequence[int],
        argnames: str | Sequence[str] | None,
        has_aux: bool,
    ) -> None:
        self._function = _plain(function)
        self._options = (argnums, argnames, has_aux)
        functools.update_wrapper(self, function)
        self.__wrapped__ = function
        signature = _signature(self._function)
        self._signature = signature
        self._names = tuple(signature.parameters)
        self._wrt, self.single = _wanted(function, self._names, argnums, argnames)
        self.argnums: int | tuple[int, ...] = tuple(self._names.index(w) for w in self._wrt)
        if self.single:
            self.argnums = self.argnums[0]
        self._positions = tuple(self._names.index(w) for w in self._wrt)
        self._keyword = {n for n, p in signature.parameters.items() if p.kind is p.KEYWORD_ONLY}
        self._has_aux = has_aux
        self._whole = self.single and not has_aux and self._goal == "gradient"
        self._lock = threading.RLock()
        self._ready: dict[Any, tuple[Compiled, Function]] = {}
        self._by_facts: dict[tuple[Fact, ...], tuple[Compiled, Function]] = {}
        self._general: Compiled | None = None

    # --- calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        key = None
        if not kwargs:
            key = tuple(
                [
                    float if type(a) is float else (a.shape, a.dtype.char) if type(a) is _ARRAY else _kind(a)
                    for a in args
                ]
            )
            found = self._ready.get(key)
            if found is not None and found[0].holds():
                out = found[1](*args)
                if self._whole:
                    x = args[self._positions[0]]
                    if type(x) is _ARRAY and type(out) is _ARRAY and out.dtype is x.dtype and out.shape == x.shape:
                        return out
                return self._finished(out, args)
        values = self._bound(args, kwargs)
        floats = list(values)
        for position in self._positions:
            floats[position] = _floats(values[position])
        found = self._compiled(floats)
        keyword = {n: v for n, v in zip(self._names, floats, strict=True) if n in self._keyword}
        out = found[1](*floats[: len(floats) - len(keyword)], **keyword)
        if key is not None and len(args) == len(floats) and all(a is b for a, b in zip(args, floats, strict=True)):
            if len(self._ready) >= _MANY:
                self._ready.clear()
            self._ready[key] = found
        return self._finished(out, floats)

    def _finished(self, out: Any, values: Sequence[Any]) -> Any:
        if self._goal == "value_and_gradient":
            return out[0], self._conformed(out[1], values)
        if self._has_aux:
            return self._conformed(out[0], values), out[1]
        if self._whole:
            return _fitted(out, values[self._positions[0]])
        return self._conformed(out, values)

    def _conformed(self, gradients: Any, values: Sequence[Any]) -> Any:
        if self.single:
            return _fitted(gradients, values[self._positions[0]])
        return tuple([_fitted(g, values[p]) for g, p in zip(gradients, self._positions, strict=True)])

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentError(f"{self._label()}: {error}") from None
        bound.apply_defaults()
        return list(bound.arguments.values())

    def _compiled(self, values: list[Any]) -> tuple[Compiled, Function]:
        """The derivative for arguments of which the same is known as of ``values``."""
        with self._lock:
            for position in self._positions:
                _checked(values[position], self._names[position], self._label())
            sizes = Sizes()
            facts = {name: describe(v, name, sizes) for name, v in zip(self._names, values, strict=True)}
            known = tuple(facts.values())
            found = self._by_facts.get(known)
            if found is None or not found[0].holds():
                compiled = self._compile(facts)
                found = self._by_facts[known] = compiled, compiled.functions[compiled.names[0]]
            return found

    def _compile(self, facts: Mapping[str, Fact]) -> Compiled:
        return compile_gradient(
            self._function, tuple(self._wrt), facts, self._goal, self._has_aux, self.single
        )

    # --- looking

    def _shown(self) -> Compiled:
        with self._lock:
            if self._general is None or not self._general.holds():
                self._general = self._compile(hinted_facts(self._function))
            return self._general

    @property
    def source(self) -> str:
        """The emitted text for arguments of any kind; annotations (``x: float``) make it more direct."""
        return self._shown().text

    def source_for(self, *args: Any, **kwargs: Any) -> str:
        """The emitted text that a call with these arguments runs."""
        values = self._bound(args, kwargs)
        for position in self._positions:
            values[position] = _floats(values[position])
        return self._compiled(values)[0].text

    def stages(self) -> dict[str, str]:
        """The text of each stage: ``ir``, ``activity``, ``adjoint`` and ``source``."""
        return dict(self._shown().stages)

    def show(self) -> None:
        """Print the function and its derivative side by side."""
        from s2sad.show import side_by_side

        print(side_by_side(self._function, self.source))

    def save(self, path: Any) -> None:
        """Write the emitted text to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.source)

    def explain(self) -> str:
        """Each variable of the function: active or not, and what is saved for the reverse part."""
        return self._shown().stages["activity"]

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._function)

    def _label(self) -> str:
        return f"{self._verb} of {self._function.__qualname__}"

    def __repr__(self) -> str:
        f = self._function
        names = ", ".join(self._wrt)
        try:
            lines = f", {len(self.source.splitlines())} lines"
        except Exception:
            lines = ""
        return f"<s2sad.{self._verb} of {f.__module__}.{f.__qualname__} wrt {names} (reverse){lines}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> Any:
        name = getattr(self, "__qualname__", "")
        if "<" not in name:
            import sys

            found: Any = sys.modules.get(self.__module__)
            for part in name.split("."):
                found = getattr(found, part, None)
            if found is self:
                return name
        argnums, argnames, has_aux = self._options
        return _rebuild, (type(self), self.__wrapped__, argnums, argnames, has_aux)


class ValueAndGradient(Derivative):
    """A function that returns the value and the gradient."""

    _goal: Goal = "value_and_gradient"
    _verb = "value_and_grad"


_ARRAY = np.ndarray

#: How many shapes of arguments one object remembers.
_MANY = 4096


def _rebuild(kind: type[Derivative], *options: Any) -> Derivative:
    return kind(*options)


def _fitted(g: Any, x: Any) -> Any:
    """The gradient in the shape, dtype and structure of its argument."""
    t = type(x)
    if t is float:
        if type(g) is float:
            return g
    elif t is _ARRAY and type(g) is _ARRAY and g.dtype is x.dtype and g.shape == x.shape:
        return g
    return conform(g, x)


def _plain(function: Any) -> types.FunctionType:
    """The plain function to differentiate."""
    if isinstance(function, Derivative):
        raise ArgumentError("the derivative of a derivative is not supported yet\nDifferentiate the function itself.")
    if not isinstance(function, types.FunctionType):
        from s2sad.frontend.source import read_source

        read_source(function)
    return function  # type: ignore[no-any-return]


def _signature(function: types.FunctionType) -> inspect.Signature:
    return inspect.signature(function, follow_wrapped=False)


def _wanted(
    function: Function, names: tuple[str, ...], argnums: int | Sequence[int], argnames: str | Sequence[str] | None
) -> tuple[tuple[str, ...], bool]:
    """The names of the parameters to differentiate with respect to, and whether there is just one."""
    label = getattr(function, "__name__", "the function")
    if argnames is not None:
        chosen = [argnames] if isinstance(argnames, str) else list(argnames)
        for name in chosen:
            if name not in names:
                raise ArgumentError(f"{label} has no parameter {name!r}\nIts parameters are: {', '.join(names)}.")
        single = isinstance(argnames, str)
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


@overload
def grad(
    f: Function, argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None, has_aux: bool = False
) -> Derivative: ...
@overload
def grad(
    f: None = None,
    argnums: int | Sequence[int] = 0,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
) -> Callable[[Function], Derivative]: ...
def grad(
    f: Function | None = None,
    argnums: int | Sequence[int] = 0,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
) -> Derivative | Callable[[Function], Derivative]:
    """The gradient of a function that returns a real scalar.

    Args:
        f: A plain Python function with source; without it, ``grad`` returns a decorator.
        argnums: The position of the argument, or a tuple of positions (the gradient is then a tuple).
        argnames: Names instead of positions.
        has_aux: The function returns a pair ``(loss, aux)``; the result is then ``(gradient, aux)``.

    Returns:
        A function of the same arguments.  The gradient has the structure, shape and dtype of the
        argument; the caller's objects are not changed, even if ``f`` writes into its arguments.

    Raises:
        ArgumentError: for an unknown argument, or a function that cannot be differentiated.

    Example:
        >>> import numpy as np
        >>> from s2sad import grad
        >>> def loss(x):
        ...     return np.sum(np.sin(x) ** 2)
        >>> grad(loss)(np.array([0.0, 0.5]))
        array([0.        , 0.84147098])
    """
    if f is None:
        return lambda function: Derivative(function, argnums, argnames, has_aux)
    return Derivative(f, argnums, argnames, has_aux)


@overload
def value_and_grad(
    f: Function, argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None, has_aux: bool = False
) -> ValueAndGradient: ...
@overload
def value_and_grad(
    f: None = None,
    argnums: int | Sequence[int] = 0,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
) -> Callable[[Function], ValueAndGradient]: ...
def value_and_grad(
    f: Function | None = None,
    argnums: int | Sequence[int] = 0,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
) -> ValueAndGradient | Callable[[Function], ValueAndGradient]:
    """The value of a function, bit for bit, and its gradient.

    Takes the arguments of :func:`grad`.  With ``has_aux`` the result is ``((loss, aux), gradient)``.
    The caller's arrays are left as they are even if ``f`` writes into them; to get what
    ``f`` made of them, return them as ``aux``.

    Example:
        >>> from s2sad import value_and_grad
        >>> def square(x):
        ...     return x * x
        >>> value_and_grad(square)(3.0)
        (9.0, 6.0)
    """
    if f is None:
        return lambda function: ValueAndGradient(function, argnums, argnames, has_aux)
    return ValueAndGradient(f, argnums, argnames, has_aux)


def vjp(f: Function, *primals: Any, has_aux: bool = False) -> Any:
    """The value of ``f`` at ``primals`` and its pullback.

    Args:
        f: A plain Python function with source.
        primals: Its positional arguments; all of them are differentiated.
        has_aux: ``f`` returns ``(value, aux)``; the result is then ``(value, pullback, aux)``.

    Returns:
        ``(value, pullback)``; ``pullback(value_bar)`` gives a tuple with the adjoint of each primal, and may be
        called again and again.  ``value_bar`` has the structure of ``value``.

    Raises:
        ArgumentError: if an argument cannot have a gradient, or ``value_bar`` has the wrong shape.

    Example:
        >>> import numpy as np
        >>> from s2sad import vjp
        >>> def double(x):
        ...     return 2 * x
        >>> value, pullback = vjp(double, np.arange(2.0))
        >>> pullback(np.ones(2))
        (array([2., 2.]),)
    """
    function = _plain(f)
    names = tuple(_signature(function).parameters)
    if not 0 < len(primals) <= len(names):
        raise ArgumentError(f"vjp of {function.__qualname__}: {len(primals)} arguments were given")
    values = [_floats(p) for p in primals]
    label = f"vjp of {function.__qualname__}"
    key = (tuple(_kind(v) for v in values), has_aux)
    cache = _pullbacks.setdefault(function, {})
    compiled = cache.get(key)
    if compiled is None or not compiled.holds():
        for name, value in zip(names, values, strict=False):
            _checked(value, name, label)
        wrt = names[: len(primals)]
        bound = _signature(function).bind(*values)
        bound.apply_defaults()
        sizes = Sizes()
        facts = {name: describe(v, name, sizes) for name, v in bound.arguments.items()}
        compiled = cache[key] = compile_gradient(function, wrt, facts, "pair")
    forward, reverse = (compiled.functions[n] for n in compiled.names)
    bound = _signature(function).bind(*values)
    bound.apply_defaults()
    result, saved = forward(*bound.args, **bound.kwargs)
    value = result[0] if has_aux else result

    def pullback(value_bar: Any) -> tuple[Any, ...]:
        """The adjoints of the primals for the adjoint ``value_bar`` of the value."""
        _same_structure(value_bar, value, label)
        seed = [value_bar, zeros(result[1])] if has_aux else value_bar
        bars = reverse(_again(saved), seed)
        bars = (bars,) if len(values) == 1 else bars
        return tuple([_fitted(g, x) for g, x in zip(bars, values, strict=True)])

    return (value, pullback, result[1]) if has_aux else (value, pullback)


_pullbacks: Any = __import__("weakref").WeakKeyDictionary()


def _again(saved: Any) -> Any:
    """What a forward part saved, with tapes that may be consumed."""
    if isinstance(saved, list):
        return list(saved)
    return tuple([list(s) if isinstance(s, list) else s for s in saved]) if isinstance(saved, tuple) else saved


def _same_structure(g: Any, value: Any, label: str) -> None:
    if isinstance(value, (list, tuple)):
        if not isinstance(g, (list, tuple)) or len(g) != len(value):
            raise ArgumentError(f"{label}: the pullback takes {len(value)} adjoints in a {type(value).__name__}")
        for a, b in zip(g, value, strict=True):
            _same_structure(a, b, label)
    elif isinstance(value, dict):
        if not isinstance(g, dict) or g.keys() != value.keys():
            raise ArgumentError(f"{label}: the pullback takes a dict with the keys {sorted(map(str, value))}")
        for key in value:
            _same_structure(g[key], value[key], label)
    elif value is not None and np.shape(g) != np.shape(value):
        raise ArgumentError(
            f"{label}: the value has shape {np.shape(value)}, its adjoint was given with shape {np.shape(g)}"
        )
