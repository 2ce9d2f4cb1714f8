"""Slices of an index that has a name: only between brackets can a slice be written with colons."""

from __future__ import annotations

import ast
from typing import Any

from s2sad.backend.python.expressions import UnfoldableError
from s2sad.ir.code import Code, codes, inner


def has_slices(code: Code) -> bool:
    """Whether a function, or one that it makes, has an index with a slice."""
    return any(o.kind == "slice" for made in codes(code) for o in inner(made.body))


def with_slice_objects(tree: Any, is_builtin: bool) -> Any:
    """A tree whose slices outside of brackets are calls of ``slice``.

    Args:
        tree: A statement, which is changed.
        is_builtin: Whether the name ``slice`` stands for the built-in class.

    Raises:
        UnfoldableError: if there is such a slice, and the name stands for something else.

    Example:
        >>> index = ast.Tuple([ast.Slice(None, ast.Constant(2)), ast.Constant(0)], ast.Load())
        >>> named = ast.Assign([ast.Name("t", ast.Store())], index, lineno=1)
        >>> ast.unparse(with_slice_objects(named, is_builtin=True))
        't = (slice(None, 2), 0)'
    """
    return ast.fix_missing_locations(_Outside(is_builtin).visit(tree))


class _Outside(ast.NodeTransformer):
    """Writes slices outside of brackets as objects."""

    def __init__(self, is_builtin: bool) -> None:
        self.is_builtin = is_builtin

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        node.value = self.visit(node.value)
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = [self.between(part) for part in node.slice.elts]
        else:
            node.slice = self.between(node.slice)
        return node

    def between(self, part: ast.expr) -> Any:
        """A part of an index that stands between brackets."""
        return self.generic_visit(part) if isinstance(part, ast.Slice) else self.visit(part)

    def visit_Slice(self, node: ast.Slice) -> Any:
        if not self.is_builtin:
            raise UnfoldableError("slice")
        bounds = [ast.Constant(None) if b is None else self.visit(b) for b in (node.lower, node.upper, node.step)]
        if node.step is None:
            bounds.pop()
        return ast.copy_location(ast.Call(ast.Name("slice", ast.Load()), bounds, []), node)
