"""The syntax tree of a function in IR.

The forward part keeps the user's text, operation by operation, and each of its lines ends in the
number of the line that it comes from.  In the reverse part each group of lines
is headed by the statement that it is the adjoint of.
"""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import gast

from s2sad.attempts import attempted, handlers
from s2sad.ir.nodes import (
    MOVED,
    PLAIN_NAME,
    Assign,
    Block,
    Break,
    Build,
    Call,
    Const,
    Copy,
    Effect,
    Enter,
    Evaluate,
    Exit,
    Expr,
    For,
    Function,
    Global,
    If,
    Op,
    Opaque,
    Origin,
    Param,
    Pop,
    Push,
    Slice,
    Stmt,
    Store,
    Unpack,
    Unset,
    Var,
    While,
)
from s2sad.ir.traverse import expressions, names_in, reads, subexpressions, walk
from s2sad.printer import Note
from s2sad.runtime import stop_gradient
from s2sad.syntax import (
    COMPARE,
    OPERATORS,
    POP,
    UNARY,
    dotted,
    is_sliced,
    joined,
    renamed,
    shortened,
    taken_by_header,
    unmade,
    without_minus,
)

_Node = TypeVar("_Node", bound=ast.AST)


def all_statements(function: Function) -> Iterable[Stmt]:
    """The statements of both parts of a function, those in blocks included."""
    return walk((*function.body, *(function.reverse or ())))


class Writer:
    """Makes the syntax tree of a function; ``notes`` are the comments of its statements."""

    def __init__(
        self,
        names: Mapping[str, str],
        roots: Mapping[str, str],
        qualified: Mapping[str, str],
        defaults: Mapping[str, str],
    ) -> None:
        self.names = names
        self.roots = roots
        self.qualified = qualified
        self.defaults = defaults
        self.notes: dict[int, Note] = {}
        self.uses: Counter[str] = Counter()
        #: How often names that loops set are read in these.
        self.inside: Counter[str] = Counter()

    def function(self, function: Function) -> ast.FunctionDef:
        positional = [ast.arg(p.public) for p in function.params if not p.keyword_only]
        keyword = [ast.arg(p.public) for p in function.params if p.keyword_only]
        defaults: list[ast.expr] = []
        for p in function.params:
            if not p.keyword_only:
                default = self.default(p)
                defaults += [] if default is None else [default]
        own = [self.default(p) for p in function.params if p.keyword_only]
        self.uses = Counter(n for stmt in all_statements(function) for n in reads(stmt))
        self.uses.update(names_in(function.result))
        for loop in all_statements(function):
            if isinstance(loop, For):
                bound = {*loop.targets, *(n for s in loop.body if isinstance(s, Unpack) for n in s.targets)}
                self.inside.update(n for s in walk(loop.body) for n in reads(s) if n in bound)
        arguments = ast.arguments([], positional, None, keyword, own, None, defaults)
        body = self.block(function.body, forward=True)
        if function.reverse is not None:
            reverse = self.block(function.reverse, forward=False)
            if body and reverse:
                self.before(body[0], ("# --- forward ---",), first=True)
                self.before(reverse[0], ("# --- reverse ---",), first=True)
            body += reverse
        if function.result != Const(None) or not body:
            body.append(ast.Return(self.expr(function.result)))
        definition = ast.FunctionDef(function.name, arguments, body, [], None, None)
        if hasattr(ast, "TypeVar"):
            definition.type_params = []  # type: ignore[attr-defined,unused-ignore]
        self.notes[id(definition)] = Note(tuple(f"# {line}" for line in function.title))
        return definition

    def default(self, param: Param) -> ast.expr | None:
        """The default value of a parameter; None where there is none."""
        if param.default is None:
            return None
        return renamed(ast.parse(self.defaults[param.public], mode="eval").body, self.qualified)

    def before(self, stmt: ast.stmt, lines: tuple[str, ...], first: bool = False) -> None:
        old = self.notes.get(id(stmt), Note())
        merged = (*lines, *old.before) if first else (*old.before, *lines)
        self.notes[id(stmt)] = Note(merged, old.after)

    def block(self, block: Block, forward: bool, last: Origin | None = None) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        around: list[tuple[Enter, list[ast.stmt]]] = []
        for stmt in joined(block, self.uses):
            if isinstance(stmt, Enter):
                around.append((stmt, out))
                out = []
                continue
            if isinstance(stmt, Exit):
                enter, outer = around.pop()
                made, out = self.protected(enter, stmt, out, forward), outer
            else:
                made = self.statement(stmt, forward)
            origin = stmt.origin
            if made and (origin.line or isinstance(stmt, Push)):
                if forward and not isinstance(stmt, Copy):
                    for node in made:
                        self.notes.setdefault(id(node), Note((), self.trailing(stmt)))
                elif not forward and origin != last:
                    mark = shortened(f"# L{origin.line}: {origin.text}")
                    self.before(made[0], (mark,), first=True)
                    last = origin
            out += made
        return out

    def trailing(self, stmt: Stmt) -> str:
        stopped = [
            e
            for x in expressions(stmt)
            for e in subexpressions(x)
            if isinstance(e, Call) and e.op.function is stop_gradient
        ]
        text = f"# L{stmt.origin.line}"
        if isinstance(stmt, Push):
            return "# for the reverse part"
        if stopped:
            label = next((v.value for e in stopped for k, v in e.kwargs if k == "name" and isinstance(v, Const)), None)
            if label is None and len(stopped[0].args) > 1 and isinstance(stopped[0].args[1], Const):
                label = stopped[0].args[1].value
            text += f" (stop_gradient{f' {label!r}' if label else ''}: constant)"
        return text

    # --- statements

    def statement(self, stmt: Stmt, forward: bool) -> list[ast.stmt]:
        match stmt:
            case Assign(target=target, value=value):
                if isinstance(value, Var) and self.names[value.name] == self.names[target]:
                    return []
                if isinstance(value, Call) and value.op.kind == "inplace":
                    return self.inplace(target, value)
                if isinstance(value, Call) and value.op.kind == "change":
                    return self.changed(target, value)
                if isinstance(value, Call) and isinstance(value.node, gast.AugAssign) and value.op.kind == "operator":
                    left, right = value.args
                    if isinstance(left, Var) and self.names[left.name] == self.names[target]:
                        return [ast.AugAssign(self.store(target), OPERATORS[value.op.name], self.expr(right))]
                return [ast.Assign([self.store(target)], self.expr(value), lineno=0)]
            case Copy(targets=targets, sources=sources):
                return self.moves(targets, sources)
            case Unpack(targets=(*items, rest), value=Call(op=op_, args=(Var(name=whole), *place_))) if op_ == POP:
                taken = self.expr(Call(Op("method", "pop"), (Var(whole), *place_)))
                parts: list[ast.expr] = [self.store(item) for item in items]
                item = parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Store())
                if self.names[rest] == self.names[whole]:
                    return [ast.Assign([item], taken, lineno=0)]
                copied = ast.Call(ast.Attribute(self.expr(Var(whole)), "copy"), [], [])
                popped = self.expr(Call(Op("method", "pop"), (Var(rest), *place_)))
                return [ast.Assign([self.store(rest)], copied, lineno=0), ast.Assign([item], popped, lineno=0)]
            case Unpack(value=value):
                return [ast.Assign([self.elements(stmt, {})], self.expr(value), lineno=0)]
            case Store(call=Call() as call):
                return [ast.Expr(self.expr(call))]
            case Store(base=base, index=index, value=value, op=op):
                place: ast.Name | ast.Subscript = ast.Subscript(self.expr(base), self.expr(index), ast.Store())
                if index == _WHOLE and op is not None and isinstance(base, Var) and not forward:
                    place = self.store(base.name)
                elif index == _WHOLE and not forward and is_sliced(base):
                    assert isinstance(base, Call)
                    place = ast.Subscript(self.expr(base.args[0]), self.expr(base.args[1]), ast.Store())
                if op is None:
                    return [ast.Assign([place], self.expr(value), lineno=0)]
                return [self.augmented(place, op, value, not forward)]
            case Effect(node=node, names=names):
                return [unmade(self.opaque(node, names))]
            case Evaluate(value=value):
                return [ast.Expr(self.expr(value))]
            case Push(tape=tape, values=values):
                entry = self.expr(values[0]) if len(values) == 1 else ast.Tuple([self.expr(v) for v in values])
                append = ast.Attribute(ast.Name(self.names[tape]), "append")
                return [ast.Expr(ast.Call(append, [entry], []))]
            case Pop(targets=targets, tape=tape):
                pop = ast.Call(ast.Attribute(ast.Name(self.names[tape]), "pop"), [], [])
                target_: ast.expr = self.store(targets[0])
                if len(targets) > 1:
                    target_ = ast.Tuple([self.store(t) for t in targets], ast.Store())
                return [ast.Assign([target_], pop, lineno=0)]
            case If(test=Call(op=op_, args=classes), then=then, orelse=orelse) if op_.kind == "attempt":
                made = self.block(then, forward, stmt.origin)
                return attempted(made, self.handlers(classes, orelse, forward))
            case If(test=test, then=then, orelse=orelse):
                return self.branch(
                    test, self.block(then, forward, stmt.origin), self.block(orelse, forward, stmt.origin)
                )
            case For():
                return [self.loop(stmt, forward)]
            case While(test=test, body=body):
                return [ast.While(self.expr(test), self.block(body, forward) or [ast.Pass()], [])]
            case Break():
                return [ast.Break()]
        raise TypeError(stmt)

    def protected(self, enter: Enter, exit_: Exit, body: list[ast.stmt], forward: bool) -> list[ast.stmt]:
        """A ``with``, or a ``try`` whose handlers raise; of an attempt without its handlers."""
        if enter.manager is not None:
            target = None if enter.bound is None else self.store(enter.bound)
            return [ast.With([ast.withitem(self.expr(enter.manager), target)], body or [ast.Pass()], None)]
        if not (exit_.attempt or exit_.handler):
            # What is tried, is tried by the caller.
            return body
        return [ast.Try(body or [ast.Pass()], self.handlers(exit_.classes, exit_.handler, forward), [], [])]

    def handlers(self, classes: tuple[Expr, ...], block: Block, forward: bool) -> list[ast.ExceptHandler]:
        return list(handlers(classes, block, self.expr, self.names.__getitem__, lambda b: self.block(b, forward)))

    def store(self, name: str) -> ast.Name:
        return ast.Name(self.names[name], ast.Store())

    def inplace(self, target: str, value: Call) -> list[ast.stmt]:
        left, right = value.args
        augmented = self.augmented(self.store(target), value.op.name, right, value.node is None)
        if isinstance(left, Var) and self.names[left.name] == self.names[target]:
            return [augmented]
        return [ast.Assign([self.store(target)], self.expr(left), lineno=0), augmented]

    def changed(self, target: str, value: Call) -> list[ast.stmt]:
        """The change of a container: in place, of a copy where the container itself is still needed as it was."""
        whole, *operands = value.args
        out: list[ast.stmt] = []
        if not (isinstance(whole, Var) and self.names[whole.name] == self.names[target]):
            held = self.expr(whole)
            if not (isinstance(whole, Call) and whole.op.kind == "runtime"):  # which makes a new container
                held = ast.Call(ast.Attribute(held, "copy"), [], [])
            out.append(ast.Assign([self.store(target)], held, lineno=0))
        if value.op == MOVED:
            return [*out, ast.Expr(self.expr(Call(Op("runtime", "moved", MOVED.function), (Var(target), *operands))))]
        whole_now, args = self.expr(Var(target)), [self.expr(e) for e in operands]
        how, _, symbol = value.op.name.partition(" ")
        place: ast.Attribute | ast.Subscript
        if how.startswith("."):
            place = ast.Attribute(whole_now, how[1:], ast.Store())
        elif how == "[]":
            place = ast.Subscript(whole_now, args[0], ast.Store())
        else:
            return [*out, ast.Expr(ast.Call(ast.Attribute(whole_now, how), args, []))]
        if symbol:
            return [*out, ast.AugAssign(place, OPERATORS[symbol], args[-1])]
        return [*out, ast.Assign([place], args[-1], lineno=0)]

    def augmented(self, place: ast.Name | ast.Subscript, symbol: str, value: Expr, ours: bool) -> ast.AugAssign:
        """``place += value``, and ``place -= value`` for a ``place += -value`` of ours."""
        positive = without_minus(value) if ours and symbol == "+" else None
        if positive is not None:
            symbol, value = "-", positive
        return ast.AugAssign(place, OPERATORS[symbol], self.expr(value))

    def moves(self, targets: tuple[str, ...], sources: tuple[Expr, ...]) -> list[ast.stmt]:
        """Moves as single assignments where no one destroys what a later one reads."""
        pending = [
            (self.names[t], s)
            for t, s in zip(targets, sources, strict=True)
            if not (isinstance(s, Var) and self.names[s.name] == self.names[t])
        ]
        out: list[ast.stmt] = []
        while pending:
            for i, (target, source) in enumerate(pending):
                others = pending[:i] + pending[i + 1 :]
                if not any(target in (self.names[n] for n in names_in(s)) for _, s in others):
                    out.append(ast.Assign([ast.Name(target, ast.Store())], self.expr(source), lineno=0))
                    pending = others
                    break
            else:
                left = ast.Tuple([ast.Name(t, ast.Store()) for t, _ in pending], ast.Store())
                right = ast.Tuple([self.expr(s) for _, s in pending], ast.Load())
                out.append(ast.Assign([left], right, lineno=0))
                break
        return out

    def branch(self, test: Expr, then: list[ast.stmt], orelse: list[ast.stmt]) -> list[ast.stmt]:
        if not then and orelse:
            negated = Call(_NOT, (test,))
            if isinstance(test, Call) and test.op == _NOT:
                return [ast.If(self.expr(test.args[0]), orelse, [])]
            return [ast.If(self.expr(negated), orelse, [])]
        return [ast.If(self.expr(test), then or [ast.Pass()], orelse)]

    def loop(self, stmt: For, forward: bool) -> ast.stmt:
        apart, body = taken_by_header(stmt, self.is_lone)
        targets = [self.target(name, apart) for name in stmt.targets]
        iters = [self.expr(i) for i in stmt.iters]
        target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
        strict = [ast.keyword("strict", ast.Constant(True))] if stmt.strict else []
        iterable = iters[0] if len(iters) == 1 else ast.Call(ast.Name("zip"), iters, strict)
        if stmt.counter is not None:
            target = ast.Tuple([self.store(stmt.counter), target], ast.Store())
            iterable = ast.Call(ast.Name("enumerate"), [iterable], [])
        return ast.For(target, iterable, self.block(body, forward, stmt.origin) or [ast.Pass()], [])

    def is_lone(self, name: str, body: Block) -> bool:
        """Whether a name that a loop sets is read once in its body, and nowhere but in such loops."""
        return self.uses[name] == self.inside[name] and sum(reads(s).count(name) for s in walk(body)) == 1

    def target(self, name: str, apart: Mapping[str, Unpack]) -> ast.expr:
        """The target of a loop, taken apart if it is ``apart``."""
        whole = apart.get(name)
        return self.store(name) if whole is None else self.elements(whole, apart)

    def elements(self, whole: Unpack, apart: Mapping[str, Unpack]) -> ast.Tuple:
        """The targets of an unpacking."""
        elements = [self.target(t, apart) for t in whole.targets]
        if whole.star is not None:
            elements[whole.star] = ast.Starred(elements[whole.star], ast.Store())
        return ast.Tuple(elements, ast.Store())

    # --- expressions

    def expr(self, expr: Expr) -> ast.expr:
        match expr:
            case Const(value=value):
                return self.const(value)
            case Var(name=name):
                return ast.Name(self.names[name], ast.Load())
            case Global(text=text):
                return self.of_module(text)
            case Build(kind="dict", items=items):
                return ast.Dict([self.expr(i) for i in items[::2]], [self.expr(i) for i in items[1::2]])
            case Build(kind="list", items=items):
                return ast.List([self.expr(i) for i in items], ast.Load())
            case Build(items=items):
                return ast.Tuple([self.expr(i) for i in items], ast.Load())
            case Slice(lower=lower, upper=upper, step=step):
                return ast.Slice(*(None if p is None else self.expr(p) for p in (lower, upper, step)))
            case Opaque(node=node, names=names):
                return self.opaque(node, names)
            case Call():
                return self.call(expr)
        raise TypeError(expr)

    def const(self, value: Any) -> ast.expr:
        if isinstance(value, Unset):
            return ast.Constant(0.0)
        if isinstance(value, float) and math.isnan(value):
            return ast.Attribute(ast.Name(self.roots["np"]), "nan")
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.copysign(1.0, value) < 0:
            return ast.UnaryOp(ast.USub(), ast.Constant(-value))
        if isinstance(value, complex) and (value.real or math.copysign(1.0, value.imag) < 0):
            parts = [ast.Constant(value.real), ast.Constant(complex(0, abs(value.imag)))]
            sign = ast.Sub() if math.copysign(1.0, value.imag) < 0 else ast.Add()
            if not value.real:
                return ast.UnaryOp(ast.USub(), parts[1])
            return ast.BinOp(self.const(value.real), sign, parts[1])
        if isinstance(value, tuple):
            return ast.Tuple([self.const(v) for v in value], ast.Load())
        return ast.Constant(value)

    def call(self, expr: Call) -> ast.expr:
        op = expr.op
        args = [self.expr(a) for a in expr.args]
        keywords = [ast.keyword(k, self.expr(v)) for k, v in expr.kwargs]
        match op.kind:
            case "operator" | "inplace":
                if len(args) == 1:
                    return ast.UnaryOp(UNARY[op.name], args[0])
                return ast.BinOp(args[0], OPERATORS[op.name], args[1])
            case "compare":
                symbols = op.name.replace("is not", "is_not").replace("not in", "not_in").split()
                return ast.Compare(args[0], [COMPARE[s] for s in symbols], args[1:])
            case "bool":
                if op.name == "not":
                    return ast.UnaryOp(ast.Not(), args[0])
                return ast.BoolOp(ast.And() if op.name == "and" else ast.Or(), args)
            case "ifexp":
                return ast.IfExp(*args)
            case "met":
                return ast.Call(args[0], args[1:], keywords)
            case "method" if op.name == "__call__":
                return ast.Call(args[0], args[1:], keywords)
            case "method":
                return ast.Call(ast.Attribute(args[0], op.name), args[1:], keywords)
            case "attribute" | "field":
                return ast.Attribute(args[0], op.name)
            case "index":
                return ast.Subscript(args[0], args[1])
            case "runtime":
                root, dot, rest = op.name.partition(".")
                text = dotted(self.roots[root] + dot + rest)
                return ast.Call(text, args, keywords)
        return ast.Call(self.of_module(op.name), args, keywords)

    def of_module(self, text: str) -> ast.expr:
        """A global name, or an attribute of one."""
        first, dot, rest = text.partition(".")
        return dotted(self.qualified.get(first, first) + dot + rest)

    def opaque(self, node: _Node, names: Iterable[tuple[str, str]]) -> _Node:
        """The user's own text with local names as they are called here."""
        local = {user: self.names[name] for user, name in names}
        return renamed(node, {**self.qualified, PLAIN_NAME: self.roots.get("plain", ""), **local})


_WHOLE = Const(...)
_NOT = Op("bool", "not")
