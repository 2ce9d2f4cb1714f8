"""Keys of dicts and items of sets that depend on what is differentiated: they carry no derivative when they are read.

table[x[0]] = y            # fine, as long as values alone are read: table[x[0]], table.get(k), k in table
for key in table:          # the key is x[0] again
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gast

from s2sad.frontend.trees import nodes_of

Node = Any
#: The methods of dicts by which no key is read.
_BY_KEY = frozenset(("get", "setdefault", "pop", "values", "__contains__", "__getitem__", "__len__"))
#: What is said of such a key.
MESSAGE = "a key that depends on what is differentiated is read again, and keys carry no derivative"
REMEDY = "Keep the number among the values, too, or make the key a constant: stop_gradient(...)."


def read_back(nodes: Sequence[Node], may_depend: Callable[[Node], bool]) -> Iterator[Node]:
    """The keys among the ``nodes`` of a function that depend on the active parameters and may be read as such.

    Args:
        nodes: All nodes of the function.
        may_depend: Whether an expression may depend on the active parameters.
    """
    named: list[tuple[str, Node]] = []
    held: set[int] = set()
    counted = _varying(nodes, may_depend)

    def depends(key: Node) -> bool:
        return may_depend(key) and any(isinstance(n, gast.Name) and n.id in counted for n in nodes_of(key))

    dicts = {
        t.id
        for n in nodes
        if isinstance(n, gast.Assign) and _is_dict(n.value)
        for t in n.targets
        if isinstance(t, gast.Name)
    }

    for node in nodes:
        if isinstance(node, gast.Assign) and isinstance(node.value, gast.Dict):
            held.add(id(node.value))
            names = [t.id for t in node.targets if isinstance(t, gast.Name)]
            keys = [key for key in node.value.keys if key is not None and depends(key)]
            if len(names) == len(node.targets):
                named += [(name, key) for name in names for key in keys]
            else:
                yield from keys
        elif isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Store) and _may_be_key(node.slice):
            if isinstance(node.value, gast.Name) and node.value.id in dicts and depends(node.slice):
                named.append((node.value.id, node.slice))
        elif isinstance(node, gast.DictComp) and depends(node.key):
            yield node.key
    for node in nodes:
        if isinstance(node, gast.Dict) and id(node) not in held:
            yield from (key for key in node.keys if key is not None and depends(key))
    if named:
        read = _read_otherwise(nodes)
        yield from (key for name, key in named if name in read)


def _is_dict(value: Node) -> bool:
    """Whether an expression makes a dict."""
    makers = ("dict", "defaultdict", "OrderedDict", "Counter")
    is_call = isinstance(value, gast.Call) and isinstance(value.func, (gast.Name, gast.Attribute))
    made = (value.func.id if isinstance(value.func, gast.Name) else value.func.attr) if is_call else ""
    return isinstance(value, (gast.Dict, gast.DictComp)) or made in makers


def _varying(nodes: Sequence[Node], may_depend: Callable[[Node], bool]) -> set[str]:
    """The variables that get a value which may depend: parameters, and those that are assigned or run through one.

    Of what is run through side by side, as by ``zip``, one may depend only because another does.
    """
    found: set[str] = set()
    bound: set[str] = set()
    for node in nodes:
        if isinstance(node, (gast.For, gast.comprehension)):
            if isinstance(node.target, gast.Name) and may_depend(node.iter):
                found.add(node.target.id)
        elif isinstance(node, gast.Assign) and may_depend(node.value):
            found.update(t.id for t in node.targets if isinstance(t, gast.Name))
        elif isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            bound.add(node.id)
    return found | {n.id for n in nodes if isinstance(n, gast.Name) and n.id not in bound and may_depend(n)}


def _may_be_key(index: Node) -> bool:
    """Whether what stands between the brackets may be a key."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return not any(isinstance(part, gast.Slice) for part in parts)


def _read_otherwise(nodes: Sequence[Node]) -> set[str]:
    """The variables that are read otherwise than by a key."""
    plain: set[int] = set()
    for node in nodes:
        if isinstance(node, gast.Subscript):
            plain.add(id(node.value))
        elif isinstance(node, gast.Compare):
            pairs = zip(node.ops, node.comparators, strict=True)
            plain.update(id(part) for op, part in pairs if isinstance(op, (gast.In, gast.NotIn)))
        elif isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr in _BY_KEY:
            plain.add(id(node.func.value))
        elif isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id == "len":
            plain.update(map(id, node.args))
    return {n.id for n in nodes if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load) and id(n) not in plain}
