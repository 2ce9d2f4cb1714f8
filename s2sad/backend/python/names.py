"""The names that values have in the text."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

from s2sad.ir.code import Code, Value, codes, inner


class Names:
    """A name for each value: the program's own, or one that is free."""

    def __init__(self, code: Code) -> None:
        #: The names that the program gives values.
        self.bound = frozenset(_bound(code))
        self.taken = {*dir(builtins), *self.bound, *_read(code)}
        self.made: dict[Value, str] = {}

    def of(self, value: Value) -> str:
        """The name of a value.

        Example:
            >>> from s2sad.ir.code import Exit, Region
            >>> names = Names(Code("f", "function", (), Region((), (), Exit("return"))))
            >>> first = Value()
            >>> names.of(first), names.of(Value()), names.of(first), names.of(Value("x"))
            ('t', 't_2', 't', 'x')
        """
        if value.name:
            return value.name
        if value not in self.made:
            number = 1
            while (name := f"t_{number}" if number > 1 else "t") in self.taken:
                number += 1
            self.taken.add(name)
            self.made[value] = name
        return self.made[value]


def _bound(code: Code) -> Iterator[str]:
    """All names that a code and what it makes give a value."""
    for made in codes(code):
        yield from (p.name for p in made.params)
        yield from (v.name for v in (*made.variables, *made.captures))
        yield from (p.name for p in made.body.params)
        for operation in inner(made.body):
            yield from (r.name for r in operation.results)
            yield from (p.name for part in operation.regions for p in part.params)
            if operation.kind in ("store_global", "delete_global"):
                yield operation.data


def _read(code: Code) -> Iterator[str]:
    """All names that a code and what it makes read where they are not local."""
    for made in codes(code):
        yield from (o.data for o in inner(made.body) if o.kind == "global")
