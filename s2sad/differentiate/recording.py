"""Save what the reverse part reads and the forward part overwrites.

Outside loops nothing is overwritten: every version of a variable has a name of its
own.  In a loop a name holds another value in each iteration, so the body of the
loop, and of each branch in it, saves one tuple of exactly the names that its
reverse reads:

    for i in range(n):                       for i in reversed(range(n)):
        saved.append(y)                          y = saved.pop()
        y = np.sin(y) * x                        ...

What can be rebuilt at no cost is not saved: loop indices, views and items of what is
there anyway, shapes (to-be-recorded analysis: Hascoët, Naumann and Pascual 2005);
nor what has the same value in every turn of all loops, nor what the next turn saves:

    for x in xs:                             for x in reversed(xs):
        saved.append(h)                          h_2 = h
        h = np.tanh(W @ h + x)                   h = saved.pop()
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from s2sad.differentiate.remake import Remaker
from s2sad.ir.nodes import (
    Assign,
    Block,
    Break,
    Build,
    Call,
    Const,
    Copy,
    Exit,
    Expr,
    For,
    If,
    Op,
    Pop,
    Push,
    Stmt,
    Unpack,
    Var,
    While,
)
from s2sad.ir.traverse import (
    base,
    expressions,
    is_attempt,
    loop_heads,
    map_stmt,
    names_in,
    reads,
    rename,
    subexpressions,
    walk,
    writes,
)
from s2sad.ir.unset import set_first
from s2sad.runtime.objects import copy_if_set
from s2sad.runtime.trees import zeros

_INDEX = Op("index", "[]")


@dataclass
class Recorder:
    """Puts tapes into the forward and the reverse part of a function.

    ``rebuildable`` says of a definition whether its value can be made again for nothing once its operands are there;
    ``stored`` has where in an array the value of a name is, and ``remaker`` decides what is computed again.
    ``unbound`` are names that may have no value when they are saved.  The halves of what is ``split`` become functions.

    Of what is differentiated ``again`` all tapes are there from the beginning, so that none of them may have no value.
    ``constant`` names have tapes of their own then, so that these carry no derivatives, and so have others unless they
    surely are numbers (``is_number``), since an array may have a shadow.
    """

    fresh: Callable[[str], str]
    rebuildable: Callable[[str, Expr], bool]
    stored: Mapping[str, Expr]
    remaker: Remaker
    unbound: frozenset[str]
    constant: frozenset[str]
    is_number: Callable[[str], bool]
    again: bool = False
    split: bool = False
    tapes: list[str] = field(default_factory=list)
    #: The names that may have no value when they are saved.
    unset: set[str] = field(default_factory=set)
    #: The names that have the same value in every turn of the outermost loop.
    lasting: frozenset[str] = frozenset()

    def record(self, body: Block, reverse: Block) -> tuple[Block, Block]:
        """Return the forward and the reverse part with the tapes put in."""
        forward, back = self.block(body, reverse, frozenset(), False)
        forward = (*[Assign(t, Build("list", ())) for t in self.tapes], *forward)
        return set_first(forward, self.unset | set(self.copied((*forward, *back))), self.unbound), back

    def copied(self, block: Block) -> Iterator[str]:
        """The names of containers that may have no value where they are copied, or an adjoint is made for them."""
        for stmt in walk(block):
            for expr in (e for part in expressions(stmt) for e in subexpressions(part)):
                if isinstance(expr, Call) and expr.op.function in (copy_if_set, zeros):
                    yield from (a.name for a in expr.args if isinstance(a, Var) and a.name in self.unbound)

    def block(self, body: Block, reverse: Block, heads: frozenset[str], in_loop: bool) -> tuple[Block, Block]:
        """Treat the blocks inside a block and its reverse; ``heads`` are the innermost loop's join names."""
        twins = {s.key: s for s in reverse if isinstance(s, (If, For)) and s.key}
        done: dict[int, Block] = {}
        forward: list[Stmt] = []
        for stmt in body:
            twin = twins.get(stmt.key) if isinstance(stmt, (If, For, While)) else None
            if isinstance(stmt, If) and isinstance(twin, If):
                then, then_back = self.arm(stmt.then, twin.then, heads, in_loop, is_attempt(stmt))
                orelse, else_back = self.arm(stmt.orelse, twin.orelse, heads, in_loop)
                forward.append(replace(stmt, then=then, orelse=orelse))
                done[stmt.key] = (replace(twin, then=then_back, orelse=else_back),)
            elif isinstance(stmt, (For, While)) and isinstance(twin, For):
                if not in_loop and not self.again:
                    self.lasting = self.remaker.lasting(stmt, self.unbound, self.split)
                new, done[stmt.key] = self.loop(stmt, twin)
                if not in_loop and not self.again:
                    forward += [Assign(t, Build("list", ())) for t in self.tapes]
                    self.tapes = []
                forward.append(new)
            else:
                forward.append(stmt)
        back = [done.get(s.key, (s,)) if isinstance(s, (If, For)) and s.key else (s,) for s in reverse]
        return tuple(forward), tuple(itertools.chain.from_iterable(back))

    def arm(
        self, body: Block, reverse: Block, heads: frozenset[str], in_loop: bool, tried: bool = False
    ) -> tuple[Block, Block]:
        """Treat an arm of a branch; in a loop it saves what it defines itself.

        What is ``tried`` has tapes of its own, which it leaves behind where it raises.
        """
        outer = self.tapes
        self.tapes = [] if tried else outer
        body, back = self.block(body, reverse, heads, in_loop)
        if tried:
            body = (*[Assign(t, Build("list", ())) for t in self.tapes], *body)
            self.tapes = outer
        if not in_loop:
            return body, back
        # What the arm moves into join names at its end is not its own to save.
        defined = {n for s in body for n in defines(s)} - heads - set(loop_heads(body))
        return self.save(body, back, defined, frozenset())[:2]

    def loop(self, stmt: For | While, twin: For) -> tuple[For | While, Block]:
        heads = frozenset(loop_heads(stmt.body)) | frozenset(writes(stmt))
        own = frozenset(writes(twin))
        again = [s for s in self.elements(stmt, own) if s.target in _needed(twin.body)]
        back = (*again, *twin.body)
        body, back = self.block(stmt.body, back, heads, True)
        defined = ({n for s in body for n in defines(s)} | heads) - own - {s.target for s in again}
        body, back, moved = self.save(body, back, defined, heads, len(again), {} if self.again else self.carried(body))
        begun = (Copy(tuple(moved), tuple(map(Var, moved.values()))),) if moved else ()
        return replace(stmt, body=body), (*begun, replace(twin, body=back))

    def carried(self, body: Block) -> dict[str, str]:
        """The values with which each iteration of a loop ends, and the join names with which the next one begins."""
        if not body or not isinstance(body[-1], Copy) or any(isinstance(s, Break) for s in walk(body)):
            return {}
        pairs = zip(body[-1].targets, body[-1].sources, strict=True)
        return {
            source.name: target for target, source in pairs if isinstance(source, Var) and target not in self.unbound
        }

    def elements(self, stmt: For | While, own: frozenset[str]) -> Iterable[Assign]:
        """The items that a loop runs over, read again by index."""
        if isinstance(stmt, For) and stmt.counter is not None and stmt.counter in own:
            for target, iterable in zip(stmt.targets, stmt.iters, strict=True):
                item = Call(_INDEX, (iterable, Var(stmt.counter)))
                is_dict = isinstance(iterable, Var) and self.remaker.fact(iterable.name).kind == "dict"
                if isinstance(iterable, Var) and not is_dict and self.rebuildable(target, item):
                    yield Assign(target, item, stmt.origin)

    def definitions(self, body: Block, defined: set[str]) -> Iterator[tuple[str, Expr]]:
        """What makes the values of names that a block defines again."""
        for stmt in body:
            for name, item in _parts(stmt):
                there = defined.union(self.unbound).isdisjoint(names_in(item))
                if there and self.rebuildable(name, item):
                    yield name, item
            if not isinstance(stmt, Assign):
                continue
            value, stored = stmt.value, self.stored.get(stmt.target)
            if stored is not None and isinstance(value, Call) and value.op.kind == "operator":
                value = stored
            elif not self.rebuildable(stmt.target, value):
                # A number that rests on what is outside alone needs no place on the tape either.
                if not (defined.isdisjoint(names_in(value)) and self.remaker.is_arithmetic(value)):
                    if stored is None:
                        continue
                    value = stored
            if self.unbound.isdisjoint(names_in(value)):
                yield stmt.target, value

    def chosen(self, body: Block, back: Block, defined: set[str]) -> tuple[list[str], dict[str, Expr]]:
        """What is saved of that which ``back`` reads of ``defined``, and what the rest is rebuilt by."""
        needed = [n for n in _needed(back) if n in defined]
        definitions = dict(self.definitions(body, defined))
        saved = [n for n in needed if n not in definitions]
        rebuilt: dict[str, Expr] = {}

        def roots(name: str) -> set[str]:
            """What must be there, of what is overwritten, for ``name`` to be rebuilt; itself where it cannot be."""
            value = definitions.get(name)
            if value is None:
                return {name}
            return {r for n in names_in(value) if n in defined for r in roots(n)}

        # One array is saved rather than several views of it.
        counts = Counter(next(iter(found)) for n in needed if len(found := roots(n)) == 1 and found != {n})
        saved += [root for root, count in counts.items() if count > 1 and root not in saved]

        def rebuild(name: str) -> bool:
            if name not in defined or name in saved or name in rebuilt:
                return True
            value = definitions.get(name)
            if value is None:
                return False
            # Each of them, so that what can be rebuilt is noted.
            outcomes = [rebuild(n) for n in names_in(value)]
            if not all(outcomes):
                return False
            rebuilt[name] = value
            return True

        for name in needed:
            if not rebuild(name):
                saved.append(name)
        return saved, rebuilt

    def grouped(self, saved: list[str]) -> list[list[str]]:
        """What is saved on one tape each: of what is differentiated again constants, numbers, and each other value."""
        groups: dict[str, list[str]] = {}
        for name in saved:
            sort = "constants" if name in self.constant else "numbers" if self.is_number(name) else name
            groups.setdefault(sort if self.again else "", []).append(name)
        return list(groups.values())

    def save(
        self,
        body: Block,
        back: Block,
        defined: set[str],
        heads: frozenset[str],
        items_first: int = 0,
        carried: Mapping[str, str] | None = None,
    ) -> tuple[Block, Block, dict[str, str]]:
        """Save what ``back`` reads of ``defined``; ``heads`` of these have a value when ``body`` begins.

        The first ``items_first`` statements of ``back`` read the loop's items again, on which what is rebuilt may rest.
        What is ``carried`` into the next iteration, with the name that it has there, is not saved twice.  Returns the
        names that ``back`` begins with then, each with the one whose value it has at first.
        """
        defined = defined - self.lasting
        saved, rebuilt = self.chosen(body, back, defined)

        def is_there(name: str) -> bool:
            return name not in defined or name in saved or name in rebuilt

        plan = self.remaker.plan(body, saved, is_there, self.unbound)
        saved = [*(n for n in saved if n not in plan.dropped), *plan.added, *(copy for copy, _, _ in plan.copies)]
        for copy, array, position in sorted(plan.copies, key=lambda c: -c[2]):
            body = (*body[:position], Assign(copy, Call(self.remaker.copying, (Var(array),))), *body[position:])
        saved = as_written(saved, body, heads)
        later = {n: head for n, head in (carried or {}).items() if n in saved and head in saved}
        saved = [n for n in saved if n not in later]
        rebuilt |= plan.made
        start: list[Stmt] = []
        names: dict[str, Expr] = {}

        def renewed(name: str) -> str:
            new = f"{name}'" if name.startswith("~t.") else self.fresh(name.partition(".")[0])
            names[name] = Var(new)
            return new

        current = {self.fresh(base(head)): n for n, head in later.items()}
        start += [Copy((renewed(n),), (Var(name),)) for name, n in current.items()]
        self.unset.update(n for n in saved if n in self.unbound)
        for together in self.grouped(saved):
            tape = self.fresh("~saved")
            self.tapes.append(tape)
            body = _pushed(body, tape, together, set(saved) - heads)
            start.append(Pop(tuple([renewed(n) for n in together]), tape))
        if current:
            back = _ending(back, Copy(tuple(current), tuple([Var(later[n]) for n in current.values()])))
        pops, first = len(start), list[Stmt]()
        made: dict[tuple[Expr, str], Expr] = {}
        tuples = [s for s in body if isinstance(s, Unpack) and all(rebuilt.get(p) == item for p, item in _parts(s))]
        apart = {name: stmt for stmt in tuples for name, _ in _parts(stmt)}
        for name in in_order(rebuilt):
            if name in names:
                continue
            if name in apart:
                # Its header takes apart what a loop runs over, if that is the first thing done.
                whole = apart[name]
                first.append(Unpack(tuple(map(renewed, whole.targets)), whole.value))
                continue
            value = rename(rebuilt[name], names)
            if isinstance(value, Var):
                names[name] = value
                continue
            # Literals may be equal (2, 2.0) and not the same.
            key = (value, repr(value))
            if key in made:
                names[name] = made[key]
            else:
                start.append(Assign(renewed(name), value))
                made[key] = names[name]
        items, rest = back[:items_first], back[items_first:]
        taken = (*start[:pops], *_renamed(items, names))
        begun = (*taken, *first) if items else (*first, *taken)
        back = (*begun, *start[pops:], *_renamed(rest, names))
        return body, back, {name: later[n] for name, n in current.items()}


def _parts(stmt: Stmt) -> list[tuple[str, Expr]]:
    """The names that a statement takes a tuple apart into, each with the item that it is."""
    if not isinstance(stmt, Unpack) or stmt.star is not None or not isinstance(stmt.value, Var):
        return []
    return [(name, Call(_INDEX, (stmt.value, Const(i)))) for i, name in enumerate(stmt.targets)]


def as_written(names: Iterable[str], body: Block, there: Iterable[str] = ()) -> list[str]:
    """Names in the order in which a body gives them values, first those that are ``there`` before it."""
    places = dict.fromkeys(there, 0)
    for stmt in walk(body):
        for name in writes(stmt):
            places.setdefault(name, len(places) + 1)
    return sorted(names, key=lambda name: places.get(name, 0))


def in_order(made: Mapping[str, Expr]) -> Iterable[str]:
    """Names, each after those on which its value rests."""
    done: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in made and name not in done:
            for other in names_in(made[name]):
                visit(other)
            done[name] = None

    for name in made:
        visit(name)
    return done


def defines(stmt: Stmt) -> Iterable[str]:
    """The names that have got a value once a statement of a block has run, inner blocks included."""
    yield from writes(stmt)
    if isinstance(stmt, If):
        for arm in (stmt.then, stmt.orelse):
            if arm and isinstance(arm[-1], (Copy, If)):
                yield from defines(arm[-1])
    elif isinstance(stmt, (For, While)):
        yield from loop_heads(stmt.body)
        for inner in stmt.body:
            if isinstance(inner, Copy):
                yield from inner.targets


def _needed(back: Block) -> dict[str, None]:
    """The names that a reverse block reads but does not set, in order."""
    own = {n for s in walk(back) for n in writes(s)}
    return {n: None for s in walk(back) for n in reads(s) if n not in own}


def _pushed(body: Block, tape: str, saved: list[str], missing: set[str]) -> Block:
    """``body`` with the values put on the tape as soon as all that is ``missing`` at its beginning is known."""
    position = 0
    for i, stmt in enumerate(body):
        if not missing.isdisjoint(defines(stmt)) or (isinstance(stmt, Exit) and stmt.attempt):
            # What is tried and raises has put nothing on a tape.
            position = i + 1
    return (*body[:position], Push(tape, tuple(Var(n) for n in saved)), *body[position:])


def _ending(block: Block, moves: Copy) -> Block:
    """A block with more moves at its end."""
    last = block[-1] if block else None
    if not isinstance(last, Copy):
        return (*block, moves)
    both = replace(last, targets=(*last.targets, *moves.targets), sources=(*last.sources, *moves.sources))
    return (*block[:-1], both)


def _renamed(block: Block, names: dict[str, Expr]) -> Block:
    if not names:
        return block
    return tuple([map_stmt(s, lambda e: rename(e, names), lambda b: _renamed(b, names)) for s in block])
