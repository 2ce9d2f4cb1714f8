"""Names that no import gives, where one text has several functions that read them: closures of one definition."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def told_apart(
    texts: Sequence[str], unknown: Sequence[Mapping[str, Any]], imported: Iterable[str] = ()
) -> list[dict[str, str]]:
    """The names that the unknown names of some functions get, so that each means one variable in the whole text.

    ``unknown`` has for each of the ``texts`` the names, each with its holder: the cell, or the namespace, that has the
    variable. The first holder keeps the name, unless it is one that is ``imported``.

    Example:
        >>> cells = [(lambda k: lambda: k)(k).__closure__[0] for k in (2.0, 3.0)]
        >>> told_apart(["k * x", "k * x"], [{"k": cells[0]}, {"k": cells[1]}])
        [{'k': 'k'}, {'k': 'k_2'}]
    """
    holders: dict[str, list[tuple[Any, str]]] = {name: [(None, name)] for name in imported}
    whole = "\n".join(texts)
    found = []
    for names in unknown:
        given = {}
        for name, holder in names.items():
            known = holders.setdefault(name, [])
            new = next((new for held, new in known if held is holder), None)
            if new is None:
                new = name if not known else _unused(name, whole, len(known) + 1)
                whole += f"\n{new}"
                known.append((holder, new))
            given[name] = new
        found.append(given)
    return found


def _unused(name: str, text: str, number: int) -> str:
    while re.search(rf"\b{name}_{number}\b", text):
        number += 1
    return f"{name}_{number}"


def renamed(text: str, names: Mapping[str, str]) -> str:
    """A text in which variables that it does not bind have other names.

    Example:
        >>> print(renamed("def f(x):\\n    return k * x.k  # of k", {"k": "k_2"}))
        def f(x):
            return k_2 * x.k  # of k
    """
    if all(name == new for name, new in names.items()):
        return text
    lines = [line.encode() for line in text.split("\n")]
    read = _free(ast.parse(text), frozenset(names))
    for node in sorted(read, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        line, start = lines[node.lineno - 1], node.col_offset
        lines[node.lineno - 1] = line[:start] + names[node.id].encode() + line[start + len(node.id.encode()) :]
    return "\n".join(line.decode() for line in lines)


def _free(tree: ast.AST, names: frozenset[str]) -> Iterator[ast.Name]:
    """The places at which variables with some names are read that no function or comprehension around them binds."""
    if isinstance(tree, _SCOPES):
        names -= set(_bound(tree))
    if isinstance(tree, ast.Name) and tree.id in names:
        yield tree
    for child in ast.iter_child_nodes(tree):
        yield from _free(child, names)


def _bound(scope: ast.AST) -> Iterator[str]:
    """The names that a function or comprehension binds, without those that others inside it do."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        if not isinstance(node, _SCOPES):
            yield from _bound(node)
