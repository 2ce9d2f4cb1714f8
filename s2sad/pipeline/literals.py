"""Integer literals in calls that decide branches of the callee."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from s2sad.errors import S2SADError
from s2sad.frontend.source import Source
from s2sad.frontend.trees import names_tested
from s2sad.ir.nodes import Const, Expr
from s2sad.ir.types import Fact

#: How many integers for one parameter have variants of their own; the others share one.
_VARIANTS = 8


class Literals:
    """The integers that calls pass to parameters that are tested; ``source`` is that of a function."""

    def __init__(self, source: Callable[[Any], Source]) -> None:
        self.source = source
        #: The names that each function tests.
        self.names: dict[Any, frozenset[str]] = {}
        self.met: dict[tuple[Any, str], set[int]] = {}

    def add_to(self, facts: dict[str, Fact], function: Any, bound: Mapping[str, Expr]) -> None:
        """Add to what is known of the arguments of a call which integers they are."""
        for name, value in bound.items():
            if isinstance(value, Const) and type(value.value) is int and name in self._tested(function):
                met = self.met.setdefault((function, name), set())
                if len(met) < _VARIANTS:
                    met.add(value.value)
                if value.value in met:
                    facts[name] = replace(facts[name], value=value.value)

    def _tested(self, function: Any) -> frozenset[str]:
        if function not in self.names:
            try:
                self.names[function] = names_tested(self.source(function).node)
            except S2SADError:
                return frozenset()
        return self.names[function]
