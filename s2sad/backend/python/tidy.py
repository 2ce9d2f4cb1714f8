"""Statements that belong together in one: ``t = f(); a, b = t`` is ``a, b = f()``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence

#: How often a name is used that the compiler has made; 0 for those of the program.
Count = Callable[[str], int]


def tidied(statements: Sequence[ast.stmt], count: Count) -> list[ast.stmt]:
    """Put targets where the values come from; ``count`` says how often a name of the compiler's is used.

    Example:
        >>> body = ast.parse("t, y = f()\\na.b = t").body
        >>> print(ast.unparse(tidied(body, lambda name: int(name == "t"))))
        a.b, y = f()
    """
    out: list[ast.stmt] = []
    for statement in statements:
        if not (out and _joined(out, statement, count)):
            out.append(statement)
    _chains(out, count)
    for statement in out:
        _targets_inside(statement, count)
    return out


def _joined(out: list[ast.stmt], statement: ast.stmt, count: Count) -> bool:
    """Put a statement into the one before it, if that gives its target a value."""
    before = out[-1]
    if isinstance(statement, ast.AnnAssign) and statement.value is None and isinstance(before, ast.Assign):
        target = before.targets[0]
        if len(before.targets) == 1 and isinstance(target, ast.Name) and target.id == ast.unparse(statement.target):
            out[-1] = ast.AnnAssign(statement.target, statement.annotation, before.value, 1)
            return True
    if isinstance(statement, ast.Assign) and isinstance(before, ast.Assign) and _is_repeated(before, statement, count):
        before.targets += statement.targets
        return True
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Name):
        return False
    name = statement.value.id
    if isinstance(before, (ast.Import, ast.ImportFrom)):
        return _renamed_import(before, statement, count)
    if not isinstance(before, ast.Assign):
        return False
    if not count(name) and _is_chained(before, statement, name):
        before.targets += statement.targets
        return True
    slot = _slot(before.targets[-1], name)
    if slot is not None and count(name) == 1 and len(statement.targets) == 1:
        holder, at, later = slot
        if not _are_names_apart(later, statement.targets[0]):
            return False
        holder.elts[at] = _as_target(holder.elts[at], statement.targets[0])
        return True
    return False


def _is_chained(before: ast.Assign, statement: ast.Assign, name: str) -> bool:
    """Whether two statements were one, with several targets: its value stands after all of them."""
    first = before.targets[0]
    if not isinstance(first, ast.Name) or first.id != name:
        return False
    ends, starts = getattr(before, "place", None), getattr(statement, "place", None)
    if ends is None or starts is None:
        return False
    return bool(starts.line == ends.line or (starts.line, starts.column) < (ends.line, ends.column))


def _is_repeated(before: ast.Assign, statement: ast.Assign, count: Count) -> bool:
    """Whether two statements on one line give the same constant, or variable of the program, to their targets."""
    ends, starts = getattr(before, "place", None), getattr(statement, "place", None)
    if ends is None or starts is None or ends.line != starts.line:
        return False
    if isinstance(before.targets[0], ast.Name) and not isinstance(before.value, ast.Constant):
        return False
    values = before.value, statement.value
    if not all(isinstance(value, (ast.Constant, ast.Name)) for value in values):
        return False
    if isinstance(before.value, ast.Name) and count(before.value.id):
        return False
    is_same = ast.dump(before.value) == ast.dump(statement.value)
    return is_same and _names(before.targets).isdisjoint(_names([before.value]))


def _chains(statements: list[ast.stmt], count: Count) -> None:
    """``t = f(); a.b = t; c = t`` is ``a.b = c = f()`` if these are all uses of ``t``."""
    at = 0
    while at < len(statements):
        first = statements[at]
        name = first.targets[0].id if isinstance(first, ast.Assign) and isinstance(first.targets[0], ast.Name) else ""
        end = at + 1
        targets: list[ast.expr] = []
        while end < len(statements) and _is_of(statements[end], name):
            targets += statements[end].targets  # type: ignore[attr-defined]
            end += 1
        if end - at - 1 == count(name) and len(targets) > 1:
            assert isinstance(first, ast.Assign)
            first.targets = targets
            del statements[at + 1 : end]
        at += 1


def _is_of(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name) and statement.value.id == name


def _slot(target: ast.expr, name: str) -> tuple[ast.Tuple | ast.List, int, list[ast.expr]] | None:
    """Where a name stands in a target with several parts, and the parts that are given values after it."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        return None
    for at, part in enumerate(target.elts):
        inside = part.value if isinstance(part, ast.Starred) else part
        rest = target.elts[at + 1 :]
        if isinstance(inside, ast.Name) and inside.id == name:
            return target, at, rest
        deeper = _slot(inside, name)
        if deeper is not None:
            return (*deeper[:2], [*deeper[2], *rest])
    return None


def _are_names_apart(parts: Sequence[ast.expr], target: ast.expr) -> bool:
    """Whether parts of a target are names, of which another target neither reads nor binds any."""
    plain = (ast.Name, ast.Tuple, ast.List, ast.Starred, ast.expr_context)
    if not all(isinstance(node, plain) for part in parts for node in ast.walk(part)):
        return False
    return _names(parts).isdisjoint(_names([target]))


def _names(parts: Iterable[ast.expr]) -> set[str]:
    """The names in expressions or targets."""
    return {node.id for part in parts for node in ast.walk(part) if isinstance(node, ast.Name)}


def _as_target(old: ast.expr, new: ast.expr) -> ast.expr:
    return ast.Starred(new, ast.Store()) if isinstance(old, ast.Starred) else new


def _renamed_import(before: ast.Import | ast.ImportFrom, statement: ast.Assign, count: Count) -> bool:
    """``import a as t; b = t`` is ``import a as b``."""
    target = statement.targets[0]
    assert isinstance(statement.value, ast.Name)
    if not isinstance(target, ast.Name) or count(statement.value.id) != 1:
        return False
    for alias in before.names:
        if alias.asname == statement.value.id:
            plain = alias.name if isinstance(before, ast.ImportFrom) else alias.name.partition(".")[0]
            alias.asname = None if target.id == plain else target.id
            return True
    return False


def _targets_inside(statement: ast.stmt, count: Count) -> None:
    """Put the target at the head of a body into the statement that has the body; join ``with`` in ``with``."""
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        statement.target = _from_body(statement.target, statement.body, count)
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        item = statement.items[-1]
        if item.optional_vars is not None:
            item.optional_vars = _from_body(item.optional_vars, statement.body, count)
        only = statement.body[0]
        if len(statement.body) == 1 and type(only) is type(statement):
            if getattr(only, "place", None) == getattr(statement, "place", None) is not None:
                statement.items += only.items
                statement.body = only.body


def _from_body(target: ast.expr, body: list[ast.stmt], count: Count) -> ast.expr:
    first = body[0]
    if isinstance(target, ast.Name) and isinstance(first, ast.Assign) and len(first.targets) == 1:
        if isinstance(first.value, ast.Name) and first.value.id == target.id and count(target.id) == 1:
            body[:] = body[1:] or [ast.Pass()]
            return first.targets[0]
    return target
