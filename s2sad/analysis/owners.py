"""The user's classes of which the objects of variables may be, or which they hold: what operators on them run.

Classes begin where facts tell of them: arguments, variables of the module, objects that are made.  From there they
follow every value that is not known to be a number, an array, None or text; once an object of such a class is stored
somewhere, everything else may hold it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import (
    Assign,
    Block,
    Call,
    Copy,
    Effect,
    Evaluate,
    Expr,
    Function,
    Global,
    Op,
    Opaque,
    Stmt,
    Store,
    Var,
)
from s2sad.ir.traverse import base, children, expressions, reads, walk, writes
from s2sad.ir.types import OPEN, Fact, owners_of, reach_of
from s2sad.runtime.classes import makes_attribute

Owners = Mapping[str, frozenset[type]]
NO_CLASSES: frozenset[type] = frozenset()
_CONTAINERS = ("list", "tuple", "dict")


def owners_of_params(facts: Mapping[str, Fact]) -> dict[str, frozenset[type]]:
    """The classes of parameters and of their attributes, from the facts about them.

    Those of the attribute ``v`` of ``s`` are at ``s.v``, those of what that attribute holds at ``s.v.``, and those of
    all that ``s`` holds at ``s.``.  Those of the attribute ``v`` of any item of a list ``s`` are at ``s.[].v``.
    """
    found: dict[str, frozenset[type]] = {}
    for name, fact in facts.items():
        _note(found, name, fact)
    return found


def with_owners(owners: Owners, function: Function, known: Facts) -> tuple[dict[str, frozenset[type]], Facts]:
    """``owners`` and the facts with the classes that get into variables of ``function`` from others."""
    found = dict(owners)
    for name, fact in known.of.items():
        _note(found, _key(name), fact)
    flow = _Flow(found, known)
    flow.run(function.body)
    of = dict(known.of)
    for name, fact in known.of.items():
        if reached := flow.found.get(f"{_key(name)}.", NO_CLASSES):
            of[name] = _with_reached(fact, reached)
    # Lowered again, a function has other temporaries.
    named = {path: classes for path, classes in flow.found.items() if path[0] != "~"}
    return named | _containers(known, named), replace(known, of=of).settled()


def _containers(known: Facts, found: Owners) -> dict[str, frozenset[type]]:
    """The variables that surely have a list, tuple or dict, which hold objects of some classes but are of none."""
    facts: dict[str, list[Fact]] = {}
    for name, fact in known.of.items():
        facts.setdefault(_key(name), []).append(fact)
    plain = [n for n, all_of in facts.items() if all(f.kind in _CONTAINERS and not f.owners for f in all_of)]
    return {name: NO_CLASSES for name in plain if name[0] != "~" and not found.get(name) and found.get(f"{name}.")}


def _with_reached(fact: Fact, classes: frozenset[type]) -> Fact:
    """A fact with the classes of what the value, or each item of a container of which no more is known, leads to."""
    if fact.kind == "open" and not classes <= fact.reach:
        return replace(fact, reach=fact.reach | classes)
    each = OPEN if fact.each is None else fact.each
    if fact.kind in _CONTAINERS and fact.items is None and each.kind == "open" and not classes <= each.reach:
        return replace(fact, each=replace(each, reach=each.reach | classes))
    return fact


def _note(found: dict[str, frozenset[type]], name: str, fact: Fact) -> None:
    """Add what a fact tells of the classes of a variable and of what it holds."""
    is_container = fact.kind in _CONTAINERS and not fact.owners
    if classes := fact.owners if is_container or _has_attributes(fact) else owners_of(fact):
        found[name] = found.get(name, NO_CLASSES) | classes
    if _has_attributes(fact):
        items = fact.items or ()
        others = NO_CLASSES if fact.each is None else reach_of(fact.each)
        inside = {"": others.union(fact.reach, *(reach_of(item) for _, item in items))}
        inside |= {key: owners_of(item) for key, item in items}
        inside |= {f"{key}.": reach_of(item) - owners_of(item) for key, item in items}
        for key, reached in inside.items():
            found[f"{name}.{key}"] = found.get(f"{name}.{key}", NO_CLASSES) | reached
    elif reached := reach_of(fact) - classes:
        found[f"{name}."] = found.get(f"{name}.", classes) | reached
        for _, item in (fact.items or ()) if is_container else ():
            for key, held in (item.items or ()) if _has_attributes(item) else ():
                path = f"{name}.[].{key}"
                found[path] = found.get(path, NO_CLASSES) | reach_of(held)


def _has_attributes(fact: Fact) -> bool:
    """Whether a fact says what the attributes of an object of the user's lead to."""
    known = fact.items is not None or fact.each is not None
    return known and bool(fact.owners) and fact.kind in ("other", "dataclass", "record", "open")


def _key(name: str) -> str:
    """The variable of a name; a temporary is one by itself."""
    return name.replace(".", ":") if name.startswith("~") else base(name)


def _is_built_in(fact: Fact) -> bool:
    """Whether a value surely is a number, an array, None or a text."""
    return (fact.numeric and not fact.owners) or fact.kind in ("none", "slice") or fact.value is not None


class _Flow:
    """Classes that follow the values of a function, whatever the order of its statements."""

    def __init__(self, found: dict[str, frozenset[type]], known: Facts) -> None:
        self.found = found
        #: The paths of attributes among them, by variable.
        self.paths: dict[str, dict[str, None]] = {}
        for path in self.found:
            self.note(path)
        self.known = known
        self.globals = {text: reach_of(fact) for text, fact in known.globals.items()}

    def note(self, path: str) -> None:
        """Take notice of the path of an attribute."""
        name, dot, _ = path.partition(".")
        if dot:
            self.paths.setdefault(name, {})[path] = None

    def run(self, block: Block) -> None:
        stmts = list(walk(block))
        stores = any(classes for _, classes in map(self.stored, stmts))
        if not (stores or any(self.found.values()) or any(self.globals.values())):
            return
        together = self.together(stmts)
        while True:
            before = dict(self.found)
            for stmt in stmts:
                self.assigned(stmt)
            for names, classes in map(self.stored, stmts):
                for name in {name for n in names for name in together.get(n, (n,))} if classes else ():
                    self.add(_key(name), classes)
            if self.found == before:
                return

    def stored(self, stmt: Stmt) -> tuple[Sequence[str], frozenset[type]]:
        """The names into whose objects a statement may store others, and the classes of these."""
        match stmt:
            case Store(base=Var(name=name), value=value):
                return (name,), self.classes(value)
            case Assign(value=Call(op=Op(kind="change"), args=(Var(name=name), *others))):
                return (name,), NO_CLASSES.union(*map(self.classes, others))
            case Effect(writes=written, stores=classes):
                return written or [name for _, name in stmt.names], classes
            case (
                Assign(value=Opaque(writes=written, stores=classes))
                | Evaluate(value=Opaque(writes=written, stores=classes))
            ):
                return written, classes
        return (), NO_CLASSES

    def together(self, stmts: list[Stmt]) -> dict[str, set[str]]:
        """For each name those that may share an object with it, or hold it, as they are assigned from each other."""
        found: dict[str, set[str]] = {}
        for stmt in stmts:
            for target in writes(stmt):
                for name in [target, *reads(stmt)]:
                    if not _is_built_in(self.known.of.get(name, OPEN)):
                        joined = found.setdefault(target, {target}) | found.get(name, {name})
                        found.update(dict.fromkeys(joined, joined))
        return found

    def assigned(self, stmt: Stmt) -> None:
        """Hand the classes of what a statement assigns on to its targets."""
        if isinstance(stmt, Copy):
            pairs = list(zip(stmt.targets, stmt.sources, strict=True))
        else:
            pairs = [(t, e) for t in writes(stmt) for e in expressions(stmt)]
        for target, value in pairs:
            fact = self.known.of.get(target, OPEN)
            # Of an object with known attributes the fact says more.
            if _is_built_in(fact) or _has_attributes(fact):
                continue
            if isinstance(value, Var) and isinstance(stmt, (Assign, Copy)):
                self.alias(_key(target), _key(value.name))
            else:
                self.add(_key(target), self.classes(value))

    def alias(self, target: str, source: str) -> None:
        """Let a variable have the object of another one as well."""
        paths = [path for n in (target, source) for path in self.paths.get(n, ())]
        for attribute in {path.partition(".")[2] for path in paths}:
            here = self.found.get(f"{target}.{attribute}", self.inside(target))
            there = self.found.get(f"{source}.{attribute}", self.inside(source))
            self.found[f"{target}.{attribute}"] = here | there
            self.note(f"{target}.{attribute}")
        self.add(target, self.found.get(source, NO_CLASSES), ("",))

    def add(self, name: str, classes: frozenset[type], attributes: Sequence[str] | None = None) -> None:
        """Add classes to what a variable may be or hold; ``attributes`` are those that change, if not all may."""
        if classes:
            self.found.setdefault(f"{name}.", self.inside(name))
            self.note(f"{name}.")
            for path in self.paths[name]:
                if attributes is None or path.partition(".")[2] in attributes:
                    self.found[path] |= classes

    def inside(self, name: str) -> frozenset[type]:
        """The classes of what the object of a variable holds."""
        return self.found.get(f"{name}.", self.found.get(name, NO_CLASSES))

    def all_of(self, name: str) -> frozenset[type]:
        """The classes of the object of a name and of what it holds."""
        return self.found.get(_key(name), NO_CLASSES) | self.inside(_key(name))

    def classes(self, expr: Expr) -> frozenset[type]:
        """The classes of which the value of an expression, or what it holds, may be."""
        match expr:
            case Var(name=name):
                return self.all_of(name)
            case Global(text=text):
                return self.globals.get(text, NO_CLASSES)
            case Opaque(reach=classes):
                return classes
            case Call(op=Op(kind="operator"), args=args) if any(self.known.get(a).numeric for a in args):
                # It is no list, and what makes something else of a number stays as it is written.
                return NO_CLASSES
            case Call(op=Op(kind="attribute", name=attribute), args=(Var(name=name),)):
                name = _key(name)
                path = f"{name}.{attribute}"
                if any(makes_attribute(cls, attribute, path in self.found) for cls in self.found.get(name, ())):
                    return self.all_of(name)
                return self.found.get(path, self.inside(name)) | self.found.get(f"{path}.", NO_CLASSES)
            case Call(op=Op(kind="attribute", name=attribute), args=(Global(text=text),)):
                fact = self.known.globals.get(text, OPEN)
                if _has_attributes(fact) and not any(makes_attribute(cls, attribute) for cls in fact.owners):
                    parts = [f for f in (fact.each, *(item for _, item in fact.items or ())) if f is not None]
                    return NO_CLASSES.union(*(owners_of(f) | reach_of(f) for f in parts))
        return NO_CLASSES.union(*map(self.classes, children(expr)))
