"""From any callable to the function that it runs, and what that is given beside the arguments of a call.

    model.loss                       loss, with model before the arguments
    functools.partial(f, 2.0, k=1)   f, with 2.0 before them and k=1 after
    kernel                           the __call__ of its class, with kernel before the arguments
    np.linalg.norm                   def norm(x): return np.linalg.norm(x)

A decorated function is the wrapper that runs: its closure has the function inside.  What `functools.cache` and Numba
have made of a function computes what that function does, which is read in its place.
"""

from __future__ import annotations

import functools
import inspect
import keyword
import linecache
import operator
import re
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from s2sad import ops
from s2sad.errors import SourceError
from s2sad.frontend.peeking import may_give_back
from s2sad.frontend.resolve import Emitting, is_jitted
from s2sad.frontend.source import refuse
from s2sad.frontend.unstarred import has_stars, unstarred
from s2sad.ops.binding import places
from s2sad.ops.spec import OpSpec, Rule
from s2sad.runtime.classes import static_member

_CACHED = type(functools.cache(len))
#: The functions of `operator` that have a derivative, as expressions.
_OPERATORS = {
    operator.add: "{} + {}",
    operator.sub: "{} - {}",
    operator.mul: "{} * {}",
    operator.truediv: "{} / {}",
    operator.pow: "{} ** {}",
    operator.mod: "{} % {}",
    operator.floordiv: "{} // {}",
    operator.matmul: "{} @ {}",
    operator.neg: "-{}",
    operator.pos: "+{}",
    operator.getitem: "{}[{}]",
}
#: How many objects may be around a function.
_DEEPEST = 64


@dataclass(frozen=True, eq=False)
class Target:
    """The function that a callable runs, with what comes before and after the arguments of a call.

    ``function`` is None for a function or method of the operation table, ``known``; `function_for` makes one for the
    arguments of a call.  ``cached`` is the number of leading arguments inside of a cache, -1 if there is no cache: the
    other arguments have to be hashable.  ``forms`` gives the function for so many arguments and others by name, where
    it is a derivative that is called in several forms.
    """

    function: types.FunctionType | None
    leading: tuple[Any, ...] = ()
    given: Mapping[str, Any] = field(default_factory=dict)
    known: Any = None
    cached: int = -1
    forms: Callable[[int, Sequence[str]], types.FunctionType] | None = None

    @property
    def plain(self) -> bool:
        """Whether the callable is the function itself."""
        return not (self.leading or self.given or self.function is None) and self.cached < 0

    @property
    def varies(self) -> bool:
        """Whether the function is another one for calls of another form."""
        return self.function is None or self.forms is not None or has_stars(self.function)

    def is_like(self, other: Target) -> bool:
        """Whether both run one function, and give it the same objects."""
        if self.function is not other.function or self.known != other.known or self.cached != other.cached:
            return False
        if len(self.leading) != len(other.leading) or self.given.keys() != other.given.keys():
            return False
        both = [*zip(self.leading, other.leading, strict=True)]
        return all(a is b for a, b in [*both, *((value, other.given[name]) for name, value in self.given.items())])

    def function_for(self, count: int, names: Sequence[str] = ()) -> types.FunctionType:
        """The function for a call with ``count`` positional arguments and keywords ``names``."""
        if self.forms is not None:
            return self.forms(count, names)
        if self.function is not None:
            return unstarred(self.function, len(self.leading) + count, (*self.given, *names))
        return _written(self.known, len(self.leading) + count, tuple(dict.fromkeys((*self.given, *names))))

    def check(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Raise as Python does where an argument goes into a cache and cannot: ``TypeError``."""
        if self.cached >= 0:
            for value in (*self.leading[self.cached :], *args, *kwargs.values()):
                hash(value)


def resolve(function: Any) -> Target:
    """The function that runs when ``function`` is called.

    Raises:
        SourceError: for what is no callable, has no code that can be read, or no derivative.

    Example:
        >>> target = resolve(functools.partial(sorted, [2.0, 1.0]))
        >>> target.known, target.leading
        (<built-in function sorted>, ([2.0, 1.0],))
    """
    found = None if isinstance(function, type) else find(function)
    if found is None:
        refuse(function)
    if found.known is not None and (spec := _spec(found.known)) is not None and spec.constant:
        remedy = ops.remedy(found.known) or "Differentiate a function that computes with its result."
        raise SourceError(f"error: the result of {spec.name} has no derivative\n{remedy}")
    return found


def find(function: Any) -> Target | None:
    """As `resolve`; None for what has no code."""
    return _resolve(function, 0)


def _resolve(function: Any, depth: int) -> Target | None:
    """As `resolve`; None for what has no code."""
    if isinstance(function, types.FunctionType):
        return Target(None, known=function) if ops.spec_of(function) is not None else Target(function)
    if depth > _DEEPEST:
        return None
    if isinstance(function, type):
        return None if ops.spec_of(function) is None else Target(None, known=function)
    if isinstance(function, Emitting):
        target: Target = function.stand_in()
        return target
    if isinstance(function, types.MethodType):
        if _has_rule_by_name(function):
            return Target(None, (function.__self__,), known=_Method(function.__name__))
        inner = _resolve(function.__func__, depth + 1)
        return None if inner is None else replace(inner, leading=(*inner.leading, function.__self__))
    if isinstance(function, staticmethod):
        return _resolve(function.__func__, depth + 1)
    if isinstance(function, functools.partial):
        inner = _resolve(function.func, depth + 1)
        if inner is None:
            return None
        return replace(inner, leading=(*inner.leading, *function.args), given={**inner.given, **function.keywords})
    if isinstance(function, _CACHED):
        inner = _resolve(function.__wrapped__, depth + 1)
        return None if inner is None else replace(inner, cached=len(inner.leading))
    if is_jitted(function):
        return _resolve(function.py_func, depth + 1)
    if ops.spec_of(function) is not None or _is_operator(function):
        return Target(None, known=function)
    if isinstance(function, types.BuiltinMethodType):
        owner = function.__self__
        member = None if owner is None else getattr(type(owner), function.__name__, None)
        if ops.find(member) is not None:
            return Target(None, (owner,), known=member)
        spec = ops.method(function.__name__)
        if owner is None or isinstance(owner, (types.ModuleType, type)) or spec is None or spec.writes:
            return None
        return Target(None, (owner,), known=_Method(function.__name__))
    return _of_object(function, depth)


def _of_object(function: Any, depth: int) -> Target | None:
    """The method that runs when an object is called."""
    method = static_member(type(function), "__call__")
    if isinstance(method, types.FunctionType):
        return Target(None, (function,), known=method) if ops.spec_of(method) else Target(method, (function,))
    if method is None or isinstance(method, (types.WrapperDescriptorType, types.MethodDescriptorType)):
        return None
    bind = getattr(type(method), "__get__", None)
    return _resolve(method if bind is None else bind(method, function, type(function)), depth + 1)


def _has_rule_by_name(method: types.MethodType) -> bool:
    """Whether a method of a compiled class, as of a random generator, has a rule that its function has not."""
    function, owner = method.__func__, type(method.__self__)
    if isinstance(function, types.FunctionType) or getattr(owner, method.__name__, None) is not function:
        return False
    return ops.find(function) is None and isinstance(ops.method(method.__name__), Rule)


def _is_operator(function: Any) -> bool:
    """Whether a function is one of `operator` that has a derivative."""
    return isinstance(function, types.BuiltinFunctionType) and function in _OPERATORS


# --- functions and methods of the operation table -----------------------------


@dataclass(frozen=True)
class _Method:
    """A method of an object of a built-in class."""

    name: str


@functools.lru_cache(maxsize=1024)
def _written(known: Any, count: int, names: tuple[str, ...]) -> types.FunctionType:
    """A function that calls ``known`` with ``count`` positional arguments, and others by name."""
    space: dict[str, Any] = {}
    if isinstance(known, _Method):
        spec, text, name = ops.method(known.name), f"self.{known.name}", known.name
    else:
        spec = ops.spec_of(known)
        space, text = _name_of(known)
        name = text.rpartition(".")[2]
    own = [] if spec is None else list(places(spec))
    if isinstance(known, _Method):
        own = ["self", *own[1:]]
    if len(own) < count or not all(map(_is_plain, own)) or not set(own[:count]).isdisjoint(names):
        first = ["self"] if isinstance(known, _Method) else []
        own = [*first, *(f"x{i}" for i in range(len(first), count))]
    params = own[:count]
    passed = [*params[isinstance(known, _Method) :], *(f"{n}={n}" for n in names)]
    signature = ", ".join([*params, *(("*", *names) if names else ())])
    label = name if _is_plain(name) else "function"
    value = f"{text}({', '.join(passed)})"
    if known in _OPERATORS and _OPERATORS[known].count("{}") == len(passed) == count:
        value = _OPERATORS[known].format(*passed)
    source = f"def {label}({signature}):\n    return {value}\n"
    file = f"<s2sad {text} {count} {' '.join(names)}>".replace(" >", ">")
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scratch: dict[str, Any] = {}
    exec(compile(source, file, "exec"), scratch)
    # In the namespace of the function itself its name may be that of what it calls.
    made = types.FunctionType(scratch[label].__code__, space, label)
    made.__module__ = getattr(known, "__module__", None) or "builtins"
    return made


def _is_plain(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _name_of(known: Any) -> tuple[dict[str, Any], str]:
    """A namespace in which an expression means a function, and the expression."""
    spec = ops.spec_of(known)
    dotted = spec.name if spec is not None else ""
    root, *rest = dotted.split(".")
    found: Any = sys.modules.get(root)
    for part in rest:
        found = getattr(found, part, None)
    if found is known and rest:
        if root == "builtins":
            return {}, rest[-1]
        alias = "np" if root == "numpy" else root
        return {alias: sys.modules[root]}, ".".join([alias, *rest])
    name = getattr(known, "__name__", "function")
    name = name if _is_plain(name) else "function"
    return {name: known}, name


def _spec(known: Any) -> OpSpec | None:
    """What is known of a function or method of the operation table."""
    return ops.method(known.name) if isinstance(known, _Method) else ops.spec_of(known)


def signature_of(target: Target, function: types.FunctionType) -> inspect.Signature:
    """What the caller of a callable may pass, which runs ``function``."""
    if not (target.leading or target.given):
        return inspect.signature(function, follow_wrapped=False)
    bare: Callable[..., Any] = functools.partial(_unwrapped(function), *target.leading, **target.given)
    return inspect.signature(bare, follow_wrapped=False)


def _unwrapped(function: types.FunctionType) -> types.FunctionType:
    """A function of the same parameters that says nothing of what it wraps."""
    if not hasattr(function, "__wrapped__"):
        return function
    copy = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def required(target: Target) -> int:
    """How many positional arguments a function of the operation table needs of its caller."""
    spec = _spec(target.known)
    if spec is None:
        return _OPERATORS.get(target.known, "{}").count("{}")
    try:
        params = list(inspect.signature(spec.function).parameters.values())
    except (TypeError, ValueError):
        params = []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    known = [p for p in params if p.kind in kinds and p.default is p.empty]
    count = len(known) or (spec.function.nin if isinstance(spec.function, np.ufunc) else 1)
    return max(count - len(target.leading), 1)


def may_keep(function: Any) -> bool:
    """Whether a callable without source is a method of an object that may hold what it is given."""
    plain = (type(None), type, types.ModuleType, str, bytes, int, float, complex, np.ufunc, re.Pattern)
    return not isinstance(getattr(function, "__self__", None), plain)


def keeps_text(method: Any, x: Any) -> bool:
    """Whether a text or bytes, or such in a list or tuple, may be read again from the object of a method."""
    if not may_give_back(method.__self__):
        return False
    parts = x if type(x) in (list, tuple) else (x,)
    return any(isinstance(part, (str, bytes, bytearray, memoryview)) for part in parts)
