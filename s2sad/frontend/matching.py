"""``match`` as branches.

match point:                    subject = point
    case [x, 0.0]: a            if isinstance(subject, Sequence) and len(subject) == 2 and subject[1] == 0.0:
    case "origin": b                x = subject[0]
    case _: c                       a
                                elif subject == "origin": b
                                else: c
"""

from __future__ import annotations

import copy
import itertools
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import gast

from s2sad.frontend.recompile import function_of
from s2sad.frontend.resolve import Resolver
from s2sad.frontend.source import Source
from s2sad.frontend.trees import new_name, nodes_of

Node = Any
_BLOCKS = ("body", "handlers", "orelse", "finalbody")
_FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)
#: The classes of which an object itself matches the one pattern by position.
_ITSELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
#: What a pattern asks, as text, and the names that it binds with their texts.
_Way = tuple[list[str], list[tuple[str, str]]]


def without_match(source: Source) -> Source:
    """A function with branches for its ``match`` statements."""
    if not any(isinstance(node, gast.Match) for node in nodes_of(source.node)):
        return source
    names = {n.id for n in nodes_of(source.node) if isinstance(n, gast.Name)}
    cells: dict[str, Any] = {}
    node = copy.copy(source.node)
    node.body = _Matching(source, names, cells).block(node.body)
    function = source.function
    if cells:
        made = {name: types.CellType(value) for name, value in cells.items()}
        function = function_of(gast.gast_to_ast(node), function, made)
    return replace(source, function=function, node=node)


class _Matching:
    def __init__(self, source: Source, names: set[str], cells: dict[str, Any]) -> None:
        self.names = names | source.function.__globals__.keys()
        self.cells = cells
        self.lookup = Resolver(source.function, frozenset()).lookup

    def known(self, value: type) -> str:
        """The name of a class that the function is given in a cell."""
        for name, held in self.cells.items():
            if held is value:
                return name
        name = new_name(value.__name__, self.names)
        self.cells[name] = value
        return name

    def block(self, body: list[Node]) -> list[Node]:
        out: list[Node] = []
        for s in body:
            if isinstance(s, gast.Match):
                out += self.statement(s)
                continue
            if any(getattr(s, name, None) for name in _BLOCKS) and not isinstance(s, _FUNCTIONS):
                s = copy.copy(s)
                for name in _BLOCKS:
                    if inner := getattr(s, name, None):
                        setattr(s, name, self.block(inner))
            out.append(s)
        return out

    def statement(self, s: Node) -> list[Node]:
        subject = new_name("subject", self.names)
        (first,) = gast.parse(f"{subject} = 0").body
        first.value = s.subject
        gast.copy_location(first.targets[0], s.subject)
        return [gast.copy_location(first, s), *self.cases(s.cases, subject, s)]

    def cases(self, cases: Sequence[Node], subject: str, s: Node) -> list[Node]:
        """The branches for some cases."""
        if not cases:
            return []
        case, *others = cases
        ways = list(self.ways(case.pattern, subject))
        if len(ways) > 1 and all(not names for _, names in ways):
            ways = [([" or ".join(f"({' and '.join(tests) or 'True'})" for tests, _ in ways)], [])]
        if case.guard is not None and any(names for _, names in ways):
            return self.guarded(ways, case, others, subject, s)
        rest = list(others)
        for tests, names in reversed(ways[1:]):
            rest.insert(0, (tests, names, case))
        tests, names = ways[0]
        return self.way(tests, names, case, rest, subject, s)

    def way(
        self, tests: list[str], names: list[tuple[str, str]], case: Node, others: list[Node], subject: str, s: Node
    ) -> list[Node]:
        """The branch for one way in which a case matches; ``others`` are ways and cases that come after it."""
        binds = [self.parsed(f"{name} = {text}", s) for name, text in names]
        body = self.block(case.body)
        at = case.body[0]
        if case.guard is not None:
            branch = self.branch([*tests, "0"], body, self.remaining(others, subject, s), s)[0]
            if tests:
                branch.test.values[-1] = case.guard
            else:
                branch.test = case.guard
            return [branch]
        if not tests:
            return [*binds, *body]
        return self.branch(tests, [*binds, *body], self.remaining(others, subject, s), at)

    def guarded(self, ways: Sequence[_Way], case: Node, others: list[Node], subject: str, s: Node) -> list[Node]:
        """The branches for a case that asks more of the names that it binds: in the first way in which it matches."""
        matched = new_name("matched", self.names)
        asked: list[Node] = []
        for tests, names in reversed(ways):
            done = self.parsed(f"{matched} = 0", s)
            done.value = case.guard
            inside = [*(self.parsed(f"{name} = {text}", s) for name, text in names), done]
            asked = self.branch(tests, inside, asked, s) if tests else inside
        body = self.branch([matched], self.block(case.body), self.remaining(others, subject, s), s)
        return [self.parsed(f"{matched} = False", s), *asked, *body]

    def remaining(self, others: list[Node], subject: str, s: Node) -> list[Node]:
        if others and isinstance(others[0], tuple):
            tests, names, case = others[0]
            return self.way(tests, names, case, others[1:], subject, s)
        return self.cases(others, subject, s)

    def branch(self, tests: list[str], body: list[Node], orelse: list[Node], at: Node) -> list[Node]:
        made = self.parsed(f"if {' and '.join(tests)}: pass", at)
        made.body, made.orelse = body or made.body, orelse
        return [made]

    def parsed(self, text: str, at: Node) -> Node:
        (made,) = gast.parse(text).body
        for node in nodes_of(made):
            gast.copy_location(node, at)
        return made

    # --- patterns

    def ways(self, pattern: Node, value: str) -> Iterator[_Way]:
        """The ways in which the value of an expression matches a pattern."""
        match pattern:
            case gast.MatchValue():
                yield [f"{value} == {_text(pattern.value)}"], []
            case gast.MatchSingleton():
                yield [f"{value} is {pattern.value}"], []
            case gast.MatchAs():
                names = [] if pattern.name is None else [(pattern.name, value)]
                inner = [([], [])] if pattern.pattern is None else self.ways(pattern.pattern, value)
                for tests, bound in inner:
                    yield tests, [*bound, *names]
            case gast.MatchOr():
                for part in pattern.patterns:
                    yield from self.ways(part, value)
            case gast.MatchSequence():
                yield from self.sequence(pattern, value)
            case gast.MatchMapping():
                keys = [_text(key) for key in pattern.keys]
                tests = [f"isinstance({value}, {self.known(Mapping)})", *(f"{key} in {value}" for key in keys)]
                parts = [(p, f"{value}[{key}]") for p, key in zip(pattern.patterns, keys, strict=True)]
                rest = f"{{k: {value}[k] for k in {value} if k not in ({''.join(f'{k}, ' for k in keys)})}}"
                names = [] if pattern.rest is None else [(pattern.rest, rest)]
                for more, bound in self.all_of(parts):
                    yield [*tests, *more], [*bound, *names]
            case gast.MatchClass():
                yield from self.instance(pattern, value)

    def sequence(self, pattern: Node, value: str) -> Iterator[_Way]:
        parts = pattern.patterns
        stars = [i for i, p in enumerate(parts) if isinstance(p, gast.MatchStar)]
        texts = "(str, bytes, bytearray)"
        tests = [f"isinstance({value}, {self.known(Sequence)})", f"not isinstance({value}, {texts})"]
        tests.append(f"len({value}) {'>=' if stars else '=='} {len(parts) - len(stars)}")
        star = stars[0] if stars else len(parts)
        after = len(parts) - star - 1
        items = [(p, f"{value}[{i}]") for i, p in enumerate(parts[:star])]
        items += [(p, f"{value}[{i - after}]") for i, p in enumerate(parts[star + 1 :])]
        end = f"len({value}) - {after}" if after > 0 else ""
        names = [(parts[s].name, f"list({value}[{s}:{end}])") for s in stars if parts[s].name is not None]
        for more, bound in self.all_of(items):
            yield [*tests, *more], [*bound, *names]

    def instance(self, pattern: Node, value: str) -> Iterator[_Way]:
        found, cls = self.lookup(pattern.cls)
        names = getattr(cls, "__match_args__", ()) if found else ()
        tests = [f"isinstance({value}, {_text(pattern.cls)})"]
        parts: list[tuple[Node, str]] = []
        if len(pattern.patterns) == 1 and cls in _ITSELF:
            parts.append((pattern.patterns[0], value))
        else:
            named = list(zip(names, pattern.patterns, strict=False))
            named += zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True)
            if len(names) < len(pattern.patterns):
                # Python says what is wrong.
                tests.append(f"{_text(pattern.cls)}.__match_args__[{len(pattern.patterns) - 1}]")
            tests += [f"hasattr({value}, {name!r})" for name, _ in named]
            parts += [(p, f"{value}.{name}") for name, p in named]
        for more, bound in self.all_of(parts):
            yield [*tests, *more], bound

    def all_of(self, parts: Sequence[tuple[Node, str]]) -> Iterator[_Way]:
        """The ways in which values match all of some patterns."""
        for chosen in itertools.product(*[list(self.ways(p, value)) for p, value in parts]):
            yield [t for tests, _ in chosen for t in tests], [n for _, names in chosen for n in names]


def _text(node: Node) -> str:
    return str(gast.unparse(node)).strip()
