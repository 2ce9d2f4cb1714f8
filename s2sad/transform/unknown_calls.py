"""Whether a function calls something of which it is not known what it is."""

from __future__ import annotations

import gast

from s2sad.frontend.given import given
from s2sad.frontend.resolve import Resolver
from s2sad.frontend.source import Source
from s2sad.frontend.trees import nodes_of
from s2sad.runtime.classes import MEMBERS
from s2sad.transform import existing


def calls_unknown(source: Source) -> bool:
    """Whether a function calls something of which it is not known what it is, which may be an object of any class."""
    resolver = Resolver(source.function, frozenset(source.function.__code__.co_varnames))
    for node in nodes_of(source.node):
        if isinstance(node, gast.Call) and not (isinstance(node.func, gast.Attribute) and node.func.attr in MEMBERS):
            found, value = resolver.lookup(node.func)
            known = given(node, resolver.lookup)
            called = known.of(known.spec.calls) if known.spec is not None and known.spec.calls else ()
            named = [part for part in called if isinstance(part, gast.Name) and not resolver.lookup(part)[0]]
            if not found or existing.is_object(value) or named:
                return True
    return False
