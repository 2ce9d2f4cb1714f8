"""The imports of an emitted text: with them it runs from a file of its own.

Where it was compiled, the text reads the user's names live and needs none of them.
"""

from __future__ import annotations

import builtins
import collections
import os
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from s2sad import ops
from s2sad.runtime.classes import inside, module_of

_WIDTH = 100


class Import(NamedTuple):
    """``from home import name as alias``; without a name ``import home as alias``."""

    home: str
    name: str
    alias: str


def home_of(namespace: Mapping[str, Any]) -> types.ModuleType | None:
    """The module whose names these are, if it can be imported."""
    module = sys.modules.get(str(namespace.get("__name__")))
    return module if module is not None and vars(module) is namespace and _import_name(module) else None


def import_of(name: str, value: Any, namespace: Mapping[str, Any] | None = None) -> Import | None:
    """What gives ``name`` the ``value`` that it has in ``namespace``, or None if no import does.

    Example:
        >>> import_of("np", np)
        Import(home='numpy', name='', alias='np')
        >>> import_of("sine", np.sin)
        Import(home='numpy', name='sin', alias='sine')
    """
    if issubclass(type(value), types.ModuleType):
        home = _import_name(value)
        return Import(home, "", name) if home else None
    if namespace is not None and name not in namespace and hasattr(builtins, name):
        return Import("builtins", name, name)
    for own, defined in _public_names(value):
        parts = defined.split(".")
        for count in range(1, len(parts) + 1):
            module = sys.modules.get(".".join(parts[:count]))
            if module is not None and vars(module).get(own) is value and _import_name(module):
                return Import(_import_name(module), own, name)
    space = None if namespace is None else home_of(namespace)
    return None if space is None else Import(_import_name(space), name, name)


def _public_names(value: Any) -> Iterator[tuple[str, str]]:
    """The names that a callable may have in modules, each with the module that defines it."""
    if type(value) is np.ufunc:
        yield from ((value.__name__, module) for module in ("numpy", "scipy.special"))
    elif ops.has_methods(value):
        yield ops.owner_name(value), type(value).__module__
    elif callable(value):
        own, defined = inside(value, "__name__"), module_of(value)
        if isinstance(own, str) and defined:
            yield own, defined


def _import_name(module: types.ModuleType) -> str:
    """The name by which a module is imported, or ``""``; that of a script is the name of its file."""
    name = module.__name__
    if name == "__main__":
        spec = getattr(module, "__spec__", None)
        name = spec.name if spec is not None else os.path.basename(getattr(module, "__file__", None) or "")
        name = name.removesuffix(".py")
    elif sys.modules.get(name) is not module:
        return ""
    return name if all(part.isidentifier() for part in name.split(".")) else ""


def outer_names(code: types.CodeType) -> Iterator[str]:
    """The names that a function and those inside it do not bind: globals, and attributes too."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from outer_names(constant)


def head(imports: Iterable[Import], unknown: Iterable[str]) -> str:
    """The first lines of a text.  ``unknown`` are the names that whoever runs it elsewhere has to define.

    Example:
        >>> print(head({Import("numpy", "", "np"), Import("s2sad", "stop_gradient", "stop")}, {"scale"}))
        import numpy as np
        from s2sad import stop_gradient as stop
        # To be defined here, since no import gives it: scale
    """
    given = set(imports)
    meanings = collections.Counter(i.alias for i in given)
    # What would have to mean two things is left to the reader too.
    missing = sorted({*unknown, *(alias for alias, count in meanings.items() if count > 1)})
    needed = sorted(i for i in given if i != ("builtins", i.alias, i.alias) and i.alias not in missing)
    lines = [_of_module(i) for i in needed if not i.name]
    homes: dict[str, list[str]] = {}
    for i in needed:
        if i.name:
            homes.setdefault(i.home, []).append(_renamed(i.name, i.alias))
    for home, names in homes.items():
        line = f"from {home} import {', '.join(names)}"
        lines += [line] if len(line) <= _WIDTH else [f"from {home} import (", *(f"    {n}," for n in names), ")"]
    if missing:
        lines.append(
            f"# To be defined here, since no import gives {'it' if len(missing) == 1 else 'them'}: {', '.join(missing)}"
        )
    return "\n".join(lines)


def _of_module(i: Import) -> str:
    """The line that imports a module: ``from scipy import special``, ``import numpy as np``."""
    package, _, name = i.home.rpartition(".")
    return f"from {package} import {name}" if package and name == i.alias else f"import {_renamed(i.home, i.alias)}"


def _renamed(name: str, alias: str) -> str:
    return name if name == alias else f"{name} as {alias}"
