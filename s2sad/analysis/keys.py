"""Keys of dicts, elements of sets, that depend on what is differentiated: they carry no derivative when they are read.

table[x[0]] = y            # fine, as long as values alone are read: table[x[0]], table.get(k), k in table
for key in table:          # the key is x[0] again
    y += key
seen.add(x[0])             # fine, as long as the set is only asked: x[0] in seen, len(seen)
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from s2sad.analysis.activity import carriers, passes
from s2sad.analysis.infer import Facts
from s2sad.ir.nodes import (
    Assign,
    Build,
    Call,
    Copy,
    Effect,
    Evaluate,
    Expr,
    For,
    Function,
    Op,
    Opaque,
    Stmt,
    Store,
    Var,
)
from s2sad.ir.traverse import children, expressions, subexpressions, walk, writes
from s2sad.runtime.dicts import keys_of, largest_key, smallest_key, sorted_keys

#: What is said of such a key.
MESSAGE = "a key that depends on what is differentiated is read again, and keys carry no derivative"
REMEDY = "Keep the number among the values, too, or make the key a constant: stop_gradient(...)."
#: What has no keys, or numbers for keys.
_KEYLESS = ("array", "scalar", "numeric", "list", "tuple")
#: What gives the keys of a dict, or one of them.
OF_KEYS = (keys_of, sorted_keys, largest_key, smallest_key)
_METHODS = frozenset((*dir(dict), *dir(set)))


def read_back(function: Function, facts: Facts, varied: Collection[str]) -> Iterator[Stmt]:
    """The statements through which a derivative would pass from a key that is ``varied``."""
    stmts = list(walk(function.body))
    found = _Keys(facts, varied)
    if not any(found.puts(stmt) for stmt in stmts):
        return
    while True:
        before = len(found.dicts), len(found.keys)
        for stmt in stmts:
            found.follow(stmt)
        if before == (len(found.dicts), len(found.keys)):
            break
    yield from (stmt for stmt in stmts if found.is_read(stmt))
    if any(found.passing(function.result)):
        yield stmts[-1]


def _may_put(whole: Opaque) -> bool:
    """Whether an expression that is not taken apart calls a method of the name of one of a dict or set."""
    calls = [node.func for node in ast.walk(whole.node) if isinstance(node, ast.Call)]
    return any(isinstance(called, ast.Attribute) and called.attr in _METHODS for called in calls)


def _run_through(iterable: Expr) -> Expr:
    """What a loop over keys has its keys from."""
    of_keys = isinstance(iterable, Call) and iterable.op.function in OF_KEYS
    return iterable.args[0] if of_keys else iterable  # type: ignore[union-attr]


class _Keys:
    """The names of dicts and sets that have keys which are varied, and those of such keys."""

    def __init__(self, facts: Facts, varied: Collection[str]) -> None:
        self.facts = facts
        self.varied = varied
        self.dicts: set[str] = set()
        self.keys: set[str] = set()

    def depends(self, key: Expr) -> bool:
        return any(name in self.varied or name in self.keys for name in carriers(key))

    def puts(self, stmt: Stmt) -> list[str]:
        """The names of the dicts into which a statement puts a key that depends."""
        match stmt:
            case Assign(target=target, value=Call(op=Op(kind="change", name="[]"), args=(Var(), key, _))):
                return [target] if self.has_keys(target) and self.depends(key) else []
            case Store(base=Var(name=name), index=key):
                return [name] if self.has_keys(name) and self.depends(key) else []
            case Effect(keys=(_, *_) as keys, writes=written):
                depends = any(self.depends(Var(key)) for key in keys)
                return [name for name in written if self.has_keys(name)] if depends else []
        inside = [e for whole in expressions(stmt) for e in subexpressions(whole)]
        opaque = [e for e in inside if isinstance(e, Opaque) and any(self.depends(Var(name)) for _, name in e.names)]
        if found := [name for e in opaque if _may_put(e) for name in e.writes if self.has_keys(name)]:
            # Which of what it reads are keys is not known.
            return found
        displays = [e for e in inside if isinstance(e, Build)]
        if any(self.depends(key) for e in displays if e.kind == "dict" for key in e.items[::2]):
            return list(writes(stmt))
        return []

    def has_keys(self, name: str) -> bool:
        return self.facts.of[name].kind not in _KEYLESS

    def follow(self, stmt: Stmt) -> None:
        """Hand what is known of names on to those that a statement assigns."""
        self.dicts.update(self.puts(stmt))
        match stmt:
            case Assign(target=target, value=Var(name=name) | Call(op=Op(kind="change"), args=(Var(name=name), *_))):
                self.alias(target, name)
            case Assign(target=target, value=Call(op=Op(function=function), args=(Var(name=name), *_))):
                # A list of keys, or one of them.
                if function in OF_KEYS and name in self.dicts:
                    self.keys.add(target)
            case Copy(targets=targets, sources=sources):
                for target, source in zip(targets, sources, strict=True):
                    if isinstance(source, Var):
                        self.alias(target, source.name)
            case For(targets=targets, iters=iters) if len(targets) == len(iters):
                pairs = zip(targets, map(_run_through, iters), strict=True)
                self.keys.update(t for t, e in pairs if isinstance(e, Var) and e.name in self.dicts | self.keys)
            case _:
                pass

    def alias(self, target: str, source: str) -> None:
        """Take two names for one object."""
        if target in self.dicts or source in self.dicts:
            self.dicts |= {target, source}
        if source in self.keys:
            self.keys.add(target)

    def is_read(self, stmt: Stmt) -> bool:
        """Whether a statement takes a derivative from a key."""
        match stmt:
            case Assign(value=Var()) | Evaluate():
                return False
            case Assign(value=Call(op=Op(kind="change", name=name), args=(_, *others))):
                return any(True for e in others[name == "[]" :] for _ in self.passing(e))
            case Copy(sources=sources):
                return any(True for e in sources if not isinstance(e, Var) for _ in self.passing(e))
            case Effect(names=names, writes=written, keys=keys):
                inside = {name for _, name in names}.difference(keys)
                return bool(written) and not inside.isdisjoint(self.keys | self.dicts.difference(written))
            case Store(value=value):
                return any(self.passing(value))
            case For(iters=iters):
                return any(True for e in iters if not isinstance(e, Var) for _ in self.passing(e))
        return bool(writes(stmt)) and any(True for e in expressions(stmt) for _ in self.passing(e))

    def passing(self, expr: Expr) -> Iterator[str]:
        """The names in an expression of dicts or keys of which the value may be, hold or depend on a key."""
        match expr:
            case Var(name=name):
                yield from (name,) if name in self.dicts or name in self.keys else ()
            case Opaque(names=names):
                yield from (name for _, name in names if name in self.dicts or name in self.keys)
            case Call(op=Op(kind="index"), args=(Var(name=name), *_)) if name in self.dicts:
                pass
            case Call(op=Op(kind="index"), args=(whole, *_)):
                yield from self.passing(whole)
            case Build(kind="dict", items=items):
                yield from (name for e in items[1::2] for name in self.passing(e))
            case _ if passes(expr):
                yield from (name for e in children(expr) for name in self.passing(e))
            case Call(op=Op(kind="operator" | "inplace")):
                # Through operators of sets no derivative passes, but their elements do.
                yield from (name for e in children(expr) for name in self.passing(e) if name in self.dicts)
