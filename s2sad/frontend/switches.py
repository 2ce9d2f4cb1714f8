"""Truth values of the module that say whether a program also draws or shows something.

    if show_animation:
        plt.plot(x, y)

Where a branch that is not taken calls functions of a package that no derivative could pass through, the variable is
taken for what it is now, behind a guard, and the branch is gone.  All other variables are read when the program runs.
"""

from __future__ import annotations

import copy
import sys
import types
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import gast

from s2sad.frontend.resolve import Guard, is_rebound
from s2sad.frontend.source import Source
from s2sad.frontend.trees import nodes_of
from s2sad.runtime.classes import is_of_library, module_of

Node = Any
#: Packages whose functions have rules, and functions that do not matter.
_KNOWN = ("numpy", "scipy", "s2sad")


def with_switches(source: Source) -> tuple[Source, tuple[Guard, ...]]:
    """A function without branches that are switched off and call what is foreign, and on what that rests."""
    space = source.function.__globals__
    code = source.function.__code__
    own = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    found: dict[str, bool] = {}
    for node in nodes_of(source.node):
        switch = _switch(node, space, own) if isinstance(node, gast.If) else None
        if switch is None or not any(_is_foreign(n, space, own) for s in _untaken(node, *switch) for n in nodes_of(s)):
            continue
        name, _ = switch
        if not is_rebound(name, space[name], space):
            found[name] = space[name]
    if not found:
        return source, ()
    made = copy.deepcopy(source.node)
    for node in nodes_of(made):
        switch = _switch(node, space, own) if isinstance(node, gast.If) else None
        if switch is not None and switch[0] in found:
            body = node.orelse if _untaken(node, *switch) is node.body else node.body
            node.test = gast.copy_location(gast.Constant(value=True, kind=None), node.test)
            node.body, node.orelse = body or [gast.copy_location(gast.Pass(), node)], []
    guards = tuple([Guard(space, name, value) for name, value in found.items()])
    return replace(source, node=made), guards


def _switch(node: Node, space: Mapping[str, Any], own: set[str]) -> tuple[str, bool] | None:
    """The variable of the module that an ``if`` tests, and whether it holds where that is true."""
    test, holds = node.test, True
    while isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        test, holds = test.operand, not holds
    if isinstance(test, gast.Name) and test.id not in own and type(space.get(test.id)) is bool:
        return test.id, holds == space[test.id]
    return None


def _untaken(node: Node, name: str, is_taken: bool) -> list[Node]:
    """The branch of an ``if`` that does not run."""
    branch: list[Node] = node.orelse if is_taken else node.body
    return branch


def _is_foreign(node: Node, space: Mapping[str, Any], own: set[str]) -> bool:
    """Whether a node calls a function of an installed package of which nothing is known."""
    if not isinstance(node, gast.Call):
        return False
    called = node.func
    while isinstance(called, gast.Attribute):
        called = called.value
    if not isinstance(called, gast.Name) or called.id in own or called.id not in space:
        return False
    value = space[called.id]
    name = value.__name__ if isinstance(value, types.ModuleType) else module_of(value)
    package = name.partition(".")[0]
    return is_of_library(name) and package not in (*_KNOWN, *sys.stdlib_module_names)
