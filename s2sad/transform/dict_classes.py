"""Classes of dicts whose attributes are their items: ``class Bunch(dict)`` with ``__getattr__ = dict.__getitem__``."""

from __future__ import annotations

import ast
import functools
import types
from typing import Any

import gast

from s2sad.errors import SourceError
from s2sad.frontend.source import read_source
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
    """Whether the body of a function is one of some texts, in which ``C`` is the class.

    There ``self`` is the first parameter, ``k`` and ``v`` are the next, ``a`` is that with a star, ``k`` that with two.
    """
    if not isinstance(function, types.FunctionType):
        return False
    try:
        tree = gast.gast_to_ast(read_source(function).node)
    except SourceError:
        return False
    if not isinstance(tree, ast.FunctionDef) or tree.args.defaults or tree.args.kwonlyargs:
        return False
    args = tree.args
    plain = [a.arg for a in (*args.posonlyargs, *args.args)]
    if not 1 <= len(plain) <= 3 or (len(plain) > 1 and args.kwarg is not None):
        return False
    named = {cls.__name__: "C", **dict(zip(plain, ("self", "k", "v"), strict=False))}
    named |= {a.arg: name for a, name in ((args.vararg, "a"), (args.kwarg, "k")) if a is not None}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = named.get(node.id, node.id)
        if isinstance(node, ast.ExceptHandler) and node.name is not None:
            named[node.name], node.name = "e", "e"
    body = [s for s in tree.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    said = ast.unparse(ast.Module(body, []))
    return any(said == ast.unparse(ast.parse(text)) for text in texts)
