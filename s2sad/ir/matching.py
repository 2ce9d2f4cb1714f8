"""What the patterns of ``match`` mean (PEP 634)."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Sequence
from typing import Any

from s2sad.ir.code import Pattern, Variable

#: What a pattern binds: each variable with its object.
Bound = list[tuple[Variable | str, Any]]
Dotted = Callable[[Sequence[Any]], Any]
_MISSING = object()
#: The classes whose one positional pattern is matched with the object itself.
_SELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def matches(pattern: Pattern, subject: Any, dotted: Dotted) -> Bound | None:
    """What a pattern binds if it matches, else None; ``dotted`` gives the object of a dotted name or literal.

    Example:
        >>> rest = Variable("rest")
        >>> pattern = Pattern("sequence", (Pattern("as"), Pattern("star", target=rest)))
        >>> found = matches(pattern, [1, 2, 3], lambda data: None)
        >>> [(variable.name, value) for variable, value in found]
        [('rest', [2, 3])]
    """
    match pattern.kind:
        case "value":
            return [] if subject == dotted(pattern.data) else None
        case "singleton":
            return [] if subject is pattern.data else None
        case "as":
            found = matches(pattern.parts[0], subject, dotted) if pattern.parts else []
            return None if found is None else found + _binding(pattern, subject)
        case "or":
            return next((f for part in pattern.parts if (f := matches(part, subject, dotted)) is not None), None)
        case "sequence":
            return _sequence(pattern, subject, dotted)
        case "mapping":
            return _mapping(pattern, subject, dotted)
        case "class":
            return _class(pattern, subject, dotted)
    raise AssertionError(pattern.kind)


def _binding(pattern: Pattern, value: Any) -> Bound:
    return [] if pattern.target is None else [(pattern.target, value)]


def _all(parts: Sequence[Pattern], values: Sequence[Any], dotted: Dotted) -> Bound | None:
    found: Bound = []
    for part, value in zip(parts, values, strict=True):
        more = matches(part, value, dotted)
        if more is None:
            return None
        found += more
    return found


def _sequence(pattern: Pattern, subject: Any, dotted: Dotted) -> Bound | None:
    if not isinstance(subject, collections.abc.Sequence) or isinstance(subject, (str, bytes, bytearray)):
        return None
    parts = pattern.parts
    star = next((i for i, part in enumerate(parts) if part.kind == "star"), None)
    if star is None:
        return _all(parts, list(subject), dotted) if len(subject) == len(parts) else None
    after = len(parts) - star - 1
    if len(subject) < star + after:
        return None
    items = list(subject)
    end = len(items) - after
    found = _all([*parts[:star], *parts[star + 1 :]], [*items[:star], *items[end:]], dotted)
    return None if found is None else found + _binding(parts[star], items[star:end])


def _mapping(pattern: Pattern, subject: Any, dotted: Dotted) -> Bound | None:
    if not isinstance(subject, collections.abc.Mapping):
        return None
    keys = [dotted(key) for key in pattern.data]
    values = [subject.get(key, _MISSING) for key in keys]
    if any(value is _MISSING for value in values):
        return None
    found = _all(pattern.parts, values, dotted)
    rest = {key: value for key, value in subject.items() if key not in keys}
    return None if found is None else found + _binding(pattern, rest)


def _class(pattern: Pattern, subject: Any, dotted: Dotted) -> Bound | None:
    data, attributes = pattern.data
    cls = dotted(data)
    if not isinstance(subject, cls):
        return None
    count = len(pattern.parts) - len(attributes)
    if count and cls in _SELF:
        values = [subject]
    else:
        names = cls.__match_args__[:count] if count else ()
        values = [getattr(subject, name, _MISSING) for name in names]
    values += [getattr(subject, name, _MISSING) for name in attributes]
    return None if any(value is _MISSING for value in values) else _all(pattern.parts, values, dotted)
