"""Questions about the syntax tree of a function."""

from __future__ import annotations

from typing import Any

import gast


def nodes_of(tree: Any) -> list[Any]:
    """A node and all nodes inside, breadth first, as ``ast.walk`` has them.

    Contexts (``Load``, ``Store``) are not among them.  A list, and no generator: lowering asks many questions of every
    node.
    """
    found = [tree]
    for node in found:
        parts = _PARTS.get(node.__class__)
        for name in _parts(node.__class__) if parts is None else parts:
            value = getattr(node, name, None)
            if value.__class__ is list:
                found += [v for v in value if isinstance(v, gast.AST)]
            elif value is not None and isinstance(value, gast.AST):
                found.append(value)
    return found


#: The fields that may hold nodes, by class of node.
_PARTS: dict[type, tuple[str, ...]] = {gast.Constant: ()}
_PLAIN = frozenset(("ctx", "id", "attr", "type_comment", "kind", "lineno", "is_async", "conversion"))


def _parts(cls: type) -> tuple[str, ...]:
    _PARTS[cls] = tuple([name for name in cls._fields if name not in _PLAIN])  # type: ignore[attr-defined]
    return _PARTS[cls]


def new_name(hint: str, used: set[str]) -> str:
    """A name that is not yet used: ``hint``, or that with a number; it is among the ``used`` ones from now on.

    Example:
        >>> used = {"t", "t_2"}
        >>> new_name("t", used), new_name("t", used)
        ('t_3', 't_4')
    """
    name, number = hint, 2
    while name in used:
        name, number = f"{hint}_{number}", number + 1
    used.add(name)
    return name


_BLOCKS = ("body", "handlers", "orelse", "finalbody")
#: The statements that have blocks.
COMPOUND = (gast.If, gast.For, gast.While, gast.With, gast.Try)


def head_of(s: Any) -> list[Any]:
    """The parts of a statement that are not blocks, the whole of one that has none."""
    if not isinstance(s, COMPOUND):
        return [s]
    fields = [value for name, value in gast.iter_fields(s) if name not in _BLOCKS]
    return [n for value in fields for n in (value if isinstance(value, list) else [value]) if isinstance(n, gast.AST)]


class Ids:
    """A set of nodes."""

    def __init__(self) -> None:
        self.nodes: dict[int, Any] = {}

    def add(self, node: Any) -> None:
        self.nodes[id(node)] = node

    def __contains__(self, node: Any) -> bool:
        return id(node) in self.nodes


def spread_in(starred: Any) -> Any:
    """What a starred item of a display runs through: ``h`` of ``*h`` and of ``*(*h,)``."""
    value = starred.value
    while isinstance(value, gast.Tuple) and len(value.elts) == 1 and isinstance(value.elts[0], gast.Starred):
        (only,) = value.elts
        value = only.value
    return value


def is_starred(call: Any) -> bool:
    """Whether a call has arguments behind ``*`` or ``**``."""
    return any(isinstance(a, gast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)


def object_of_slices(index: Any) -> Any:
    """An index with ``slice(a, b, c)`` for ``a:b:c``, so that it can stand in a call; itself if it has none."""
    if isinstance(index, gast.Slice):
        name = gast.Name("slice", gast.Load(), None, None)
        bounds = [gast.Constant(None, None) if b is None else b for b in (index.lower, index.upper, index.step)]
        made = gast.copy_location(gast.Call(name, bounds, []), index)
        return gast.fix_missing_locations(made)
    if isinstance(index, gast.Tuple) and any(isinstance(part, gast.Slice) for part in index.elts):
        return gast.copy_location(gast.Tuple([object_of_slices(part) for part in index.elts], index.ctx), index)
    return index


def one_shape(call: Any) -> Any:
    """``a.reshape((*shape, 2))`` for ``a.reshape(*shape, 2)``, the same of ``a.transpose(*axes)``; else the call."""
    if not isinstance(call.func, gast.Attribute) or not any(isinstance(a, gast.Starred) for a in call.args):
        return call
    is_axes = call.func.attr == "transpose" and len(call.args) == 1 and not call.keywords
    if not is_axes and (call.func.attr != "reshape" or any(k.arg != "order" for k in call.keywords)):
        return call
    whole = gast.copy_location(gast.Tuple(elts=call.args, ctx=gast.Load()), call.args[0])
    return gast.copy_location(gast.Call(func=call.func, args=[whole], keywords=call.keywords), call)


def names_tested(function: Any) -> frozenset[str]:
    """The names in the conditions of branches of a function; none if it calls itself."""
    inside = nodes_of(function)
    if any(isinstance(n, gast.Name) and n.id == function.name for n in inside):
        return frozenset()
    tests = [part.test for part in inside if isinstance(part, (gast.If, gast.IfExp))]
    return frozenset(n.id for test in tests for n in nodes_of(test) if isinstance(n, gast.Name))


def names_of_tested_axes(function: Any) -> frozenset[str]:
    """The names of which conditions in a function ask how many axes they have: ``x.ndim``, ``x.shape``, ``np.ndim(x)``.

    Example:
        >>> import gast
        >>> tree = gast.parse("def f(x, y): return 1 if x.ndim > 1 and np.ndim(y) == 0 and z else 2").body[0]
        >>> sorted(names_of_tested_axes(tree))
        ['x', 'y']
    """
    tests = [part.test for part in nodes_of(function) if isinstance(part, (gast.If, gast.IfExp))]
    nodes = [n for test in tests for n in nodes_of(test)]
    calls = [n for n in nodes if isinstance(n, gast.Call) and getattr(n.func, "attr", "") in ("ndim", "shape")]
    called = {id(call.func) for call in calls}
    asked = [n.value for n in nodes if getattr(n, "attr", "") in ("ndim", "shape") and id(n) not in called]
    asked += [call.args[0] for call in calls if call.args]
    return frozenset(node.id for node in asked if isinstance(node, gast.Name))
