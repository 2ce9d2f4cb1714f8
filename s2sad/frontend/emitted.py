"""Emitted derivatives as functions to differentiate again.

A reverse half pops what it takes off the tapes that its forward half has made.  They are of nobody else's use, and to
differentiate the reverse half they have to be its own:

    def f_reverse(saved, x, x_bar):             def f_reverse(saved, x, x_bar):
        y, saved_2 = saved                          y, saved_2 = saved
        ...                                         saved_2 = saved_2.copy()
        t = saved_2.pop()                           ...
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gast

from s2sad.frontend.source import Source
from s2sad.frontend.trees import nodes_of

Node = Any
#: The attribute of emitted functions, of derivatives for arguments of any kind, in which is what gives others.
DERIVATIVE = "__s2sad_derivative__"
#: The attribute of a function that stands for a derivative with what it is derived from, whose default values it has.
DERIVED_FROM = "s2sad_derived_from"
#: How the file name of every emitted text begins.
EMITTED = "<s2sad "


def tapes(source: Source) -> frozenset[str]:
    """The tapes of an emitted function, which are lowered whatever they hold: what comes off them has its type.

    A tape has its values put on it in this function, or taken off it.
    """
    return frozenset(_changed(source.node, "append", "pop")) if source.file.startswith(EMITTED) else frozenset()


def with_own_tapes(source: Source) -> Source:
    """An emitted function with copies of the lists that it pops from and has been given; any other as it is."""
    if not source.file.startswith(EMITTED):
        return source
    popped = set(_changed(source.node, "pop"))
    params = {a.id for a in (*source.node.args.args, *source.node.args.kwonlyargs)}
    body = [_copied(name, source.node) for name in sorted(popped & params)]
    for stmt in source.node.body:
        body.append(stmt)
        if isinstance(stmt, gast.Assign) and isinstance(stmt.value, gast.Name) and stmt.value.id in params:
            (target,) = stmt.targets
            parts = target.elts if isinstance(target, gast.Tuple) else [target]
            body += [_copied(p.id, stmt) for p in parts if isinstance(p, gast.Name) and p.id in popped]
    if len(body) == len(source.node.body):
        return source
    node = copy.copy(source.node)
    node.body = body
    return replace(source, node=node)


def _changed(node: Node, *methods: str) -> Iterator[str]:
    """The variables of whose lists these methods are called."""
    for inner in nodes_of(node):
        if isinstance(inner, gast.Call) and isinstance(inner.func, gast.Attribute) and inner.func.attr in methods:
            if isinstance(inner.func.value, gast.Name):
                yield inner.func.value.id


def _copied(name: str, at: Node) -> Node:
    """``name = name.copy()``."""
    made = gast.parse(f"{name} = {name}.copy()").body[0]
    for inner in gast.walk(made):
        gast.copy_location(inner, at)
    return made
