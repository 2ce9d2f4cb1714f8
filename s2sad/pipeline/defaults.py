"""How the default values of a function's parameters are written in a text that runs by itself.

Numbers, texts and tuples of them stand there as literals.  What the function's own text names (``table=TABLE``,
``g=np.sin``) is named again, and imported.  Anything else is taken from the function, ``f.__defaults__[0]``: the very
object that its calls see.  Where the function cannot be imported, whoever runs the text has to define it.
"""

from __future__ import annotations

import ast
import builtins
import math
import re
import types
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from s2sad.errors import S2SADError
from s2sad.frontend.source import read_source
from s2sad.frontend.writing import may_write
from s2sad.ir.nodes import Param
from s2sad.pipeline.imports import Import, home_of, import_of

_MISSING = object()
_NUMPY = Import("numpy", "", "np")
#: The types of NumPy's numbers whose value a literal of Python gives exactly.
_SCALARS = (np.float64, np.float32, np.float16, np.int64, np.int32, np.int16, np.int8, np.uint8, np.bool_)


@dataclass
class Defaults:
    """The default values of some parameters as text, by parameter, and the imports that these need.

    ``open`` are the names in them that no import gives.
    """

    texts: dict[str, str] = field(default_factory=dict)
    imports: set[Import] = field(default_factory=set)
    open: set[str] = field(default_factory=set)

    def names(self) -> set[str]:
        """The names that the texts read from their module."""
        return {i.alias for i in self.imports} | self.open


def defaults_of(params: Iterable[Param], original: types.FunctionType) -> Defaults:
    """The default values of ``params``, which are parameters of ``original``."""
    found = Defaults()
    odd: dict[str, Any] = {}
    for param in params:
        if param.default is not None:
            text = literal(param.default.value)
            if text is None:
                odd[param.public] = param.default.value
            else:
                found.texts[param.public] = text
    expressions = _expressions(original) if odd else {}
    for name, value in odd.items():
        found.texts[name] = (
            _named(expressions.get(name, ""), value, original, found.imports)
            or _number(value, original, found.imports)
            or _displayed(expressions.get(name, ""), value, original)
            or _of_function(name, original, found.imports)
            or _missing(name, original, found.open)
        )
    return found


def literal(value: object) -> str | None:
    """An immutable value as it is written; None where it cannot be.

    Example:
        >>> literal((1, -2.0, "a"))
        "(1, -2.0, 'a')"
    """
    if type(value) is tuple:
        items = [literal(item) for item in value]
        if None in items:
            return None
        return f"({', '.join(map(str, items))}{',' * (len(items) == 1)})"
    if value is None or value is ... or type(value) in (bool, str, bytes):
        return "..." if value is ... else repr(value)
    if type(value) is int:
        return repr(value) if abs(value) < 2**64 else hex(value)
    if type(value) is float:
        return repr(value) if math.isfinite(value) else None
    if type(value) is complex and math.isfinite(value.real) and math.isfinite(value.imag):
        # The signs of zeros get lost in some.
        texts = (repr(value), f"-{-value!r}")
        return next((text for text in texts if repr(ast.literal_eval(text)) == repr(value)), None)
    return None


def _expressions(function: types.FunctionType) -> dict[str, str]:
    """The default values of a function as its text has them, by parameter."""
    try:
        arguments = read_source(function).node.args
    except S2SADError:
        return {}
    plain = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return {parameter.id: str(gast.unparse(node)).strip() for parameter, node in pairs if node is not None}


def _named(text: str, value: Any, original: types.FunctionType, imports: set[Import]) -> str | None:
    """A value by the name or dotted name that its text has, if that gives this very object today."""
    root, *attributes = text.split(".")
    if not all(part.isidentifier() for part in (root, *attributes)) or root in original.__code__.co_freevars:
        return None
    namespace = original.__globals__
    first = named = namespace.get(root, getattr(builtins, root, _MISSING))
    for attribute in attributes:
        named = getattr(named, attribute, _MISSING)
    given = import_of(root, first, namespace) if named is value else None
    if given is None:
        return None
    imports.add(given)
    return text


def _number(value: Any, original: types.FunctionType, imports: set[Import]) -> str | None:
    """Infinity, NaN or a number of NumPy."""
    if type(value) is float:
        return f"float('{value}')"
    if type(value) in _SCALARS and original.__globals__.get("np", np) is np and np.isfinite(value):
        imports.add(_NUMPY)
        return f"np.{type(value).__name__}({value.item()!r})"
    return None


def _displayed(text: str, value: Any, original: types.FunctionType) -> str | None:
    """A list, dict or set as the function's text writes it, if it still is that and the function leaves it so."""
    if type(value) not in (list, dict, set) or may_write(original):
        return None
    try:
        return text if repr(ast.literal_eval(text)) == repr(value) else None
    except (ValueError, SyntaxError):
        return None


def _of_function(name: str, original: types.FunctionType, imports: set[Import]) -> str | None:
    """The default value as an attribute of the function, which is imported."""
    namespace = original.__globals__
    others = (n for n, value in namespace.items() if value is original)
    for path in (original.__qualname__, *others) if home_of(namespace) is not None else ():
        root, *attributes = path.split(".")
        first = found = namespace.get(root, _MISSING)
        for attribute in attributes:
            found = getattr(found, attribute, _MISSING)
        given = import_of(root, first, namespace) if found is original else None
        if given is not None:
            imports.add(given)
            return f"{path}.{_place(name, original)}"
    return None


def _place(name: str, function: types.FunctionType) -> str:
    """Where a function keeps the default value of a parameter."""
    if name in (function.__kwdefaults__ or {}):
        return f"__kwdefaults__[{name!r}]"
    first = function.__code__.co_argcount - len(function.__defaults__ or ())
    return f"__defaults__[{function.__code__.co_varnames.index(name) - first}]"


def _missing(name: str, original: types.FunctionType, open_names: set[str]) -> str:
    """A name for a default value that the text cannot reach."""
    stem = "lambda" if original.__name__ == "<lambda>" else re.sub(r"\W", "_", original.__name__)
    open_names.add(f"{stem}_{name}")
    return f"{stem}_{name}"
