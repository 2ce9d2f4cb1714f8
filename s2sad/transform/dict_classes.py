"""Classes of dicts whose attributes are their items: ``class Bunch(dict)`` with ``__getattr__ = dict.__getitem__``."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
import types
from typing import Any

from s2sad.runtime.classes import own_class

#: What the class may say of reading and setting an attribute, as text: the item of that name.
_READING = (
    "return self[k]",
    "try:\n    return self[k]\nexcept KeyError:\n    raise AttributeError(k)",
    "try:\n    return self[k]\nexcept KeyError as e:\n    raise AttributeError(k) from e",
    "if k in self:\n    return self[k]\nraise AttributeError(k)",
)
_SETTING = ("self[k] = v", "self.__setitem__(k, v)", "dict.__setitem__(self, k, v)")
_BEGINNING = tuple(
    f"{made}\nself.__dict__ = self"
    for given in ("*a, **k", "**k", "k")
    for made in (f"super().__init__({given})", f"super(C, self).__init__({given})", f"dict.__init__(self, {given})")
)
_MAY_DEFINE = {"__module__", "__qualname__", "__doc__", "__dict__", "__weakref__", "__repr__", "__delattr__"}


@functools.cache
def is_attribute_dict(cls: Any) -> bool:
    """Whether a class is such a one, of functions besides that are no special methods."""
    if not isinstance(cls, type) or cls.__bases__ != (dict,) or type(cls) is not type or own_class(cls) is None:
        return False
    own = vars(cls)
    others = own.keys() - _MAY_DEFINE - {"__getattr__", "__setattr__", "__init__"}
    if any(n[:2] == "__" or hasattr(dict, n) or not isinstance(own[n], types.FunctionType) for n in others):
        return False
    if "__init__" in own:
        return _says(own["__init__"], _BEGINNING, cls) and own.keys().isdisjoint(("__getattr__", "__setattr__"))
    reads, sets = own.get("__getattr__"), own.get("__setattr__")
    reads_items = reads in (dict.__getitem__, dict.get) or _says(reads, _READING, cls)
    return reads_items and (sets is None or sets is dict.__setitem__ or _says(sets, _SETTING, cls))


def _says(function: Any, texts: tuple[str, ...], cls: type) -> bool:
    """Whether the body of a function is one of some, with other names for its parameters."""
    if not isinstance(function, types.FunctionType):
        return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError):
        return False
    if not isinstance(tree, ast.FunctionDef):
        return False
    args = tree.args
    plain = [a.arg for a in args.args] + [a.arg for a in (args.vararg, args.kwarg) if a is not None]
    letters = ["self", *("a" if args.vararg else "").strip(), *("k" if args.kwarg else "").strip()]
    letters = letters if len(args.args) == 1 else ["self", "k", "v"][: len(plain)]
    if len(letters) != len(plain) or args.defaults or args.kwonlyargs:
        return False
    named = {**dict(zip(plain, letters, strict=True)), cls.__name__: "C"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = named.get(node.id, node.id)
        if isinstance(node, ast.ExceptHandler) and node.name is not None:
            named[node.name], node.name = "e", "e"
    body = [s for s in tree.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return any(ast.dump(ast.Module(body, [])) == ast.dump(ast.parse(text)) for text in texts)
