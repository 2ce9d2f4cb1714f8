"""Random statements and functions: the upper half of the writer of random programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.program_callees import CalleeWriter
from tests.program_expressions import SCALAR, Scope, Shape
from tests.program_rarities import STATE


@dataclass(frozen=True)
class Program:
    """A generated module, the function to differentiate and where."""

    seed: int
    source: str
    functions: tuple[str, ...]
    args: tuple[Any, ...]
    argnums: tuple[int, ...]
    level: int = 1
    size: int = 10

    @property
    def filename(self) -> str:
        return f"<random program {self.level}.{self.seed}.{self.size}>"


class Writer(CalleeWriter):
    """Writes one program, of values at level 1, with writes into arrays at level 2."""

    # -- statements -----------------------------------------------------------------------------------------------

    def block(self, scope: Scope, statements: int) -> None:
        """At least one statement."""
        wrote = False
        for _ in range(statements):
            if self.budget <= 0:
                break
            self.budget -= 1
            if self.statement(scope):
                wrote = True
                break
            wrote = True
        if not wrote:
            self.assign(scope)

    def target(self, scope: Scope) -> tuple[str, Shape]:
        """A name to bind, and the shape of what it gets."""
        free = [name for name in scope.shapes if not name.startswith("p[")]
        if free and self.chance(0.55):
            name = str(self.pick(free))
            if name in scope.fixed or self.chance(0.7):
                return name, scope.shapes[name]
            return name, self.pick((SCALAR, SCALAR, *self.common))
        return self.unused(scope), self.pick((SCALAR, SCALAR, *self.common))

    def assign(self, scope: Scope) -> None:
        name, shape = self.target(scope)
        annotation = ": float" if shape == SCALAR and self.chance(0.05) else ""
        self.emit(f"{name}{annotation} = {self.right(scope, shape)}")
        self.bind(scope, name, shape)

    def statement(self, scope: Scope) -> bool:
        """Writes one statement; True if nothing after it in this block is reached."""
        kind = self.random.randrange(33)
        nested = self.depth < 5
        if self.level >= 2 and self.chance(0.55):
            way = self.random.random()
            if way < 0.2 and self.helpers:
                self.call_statement(scope)
            elif way < 0.35 and self.depth < 4 and self.loops < self.loops_allowed:
                self.kernel(scope)
            elif way < 0.45:
                self.rare(scope)
            else:
                self.store(scope)
        elif kind < 9:
            self.assign(scope)
        elif kind < 11:
            self.augmented(scope)
        elif kind < 13:
            self.unpack(scope)
        elif kind < 14:
            self.chained(scope)
        elif kind < 16:
            self.swap(scope)
        elif kind < 20 and nested:
            return self.branch(scope)
        elif kind < 27 and nested and self.loops < self.loops_allowed:
            self.loops += 1
            if kind < 25:
                self.for_loop(scope)
            else:
                self.while_loop(scope)
            self.loops -= 1
        elif kind == 27:
            self.emit(
                self.pick(("pass", "assert True, 'never'", "0.5", "'a string'", f"assert {self.literal()} != 99.0"))
            )
        elif kind == 28 and nested:
            self.emit(f"if {self.condition(scope, 2)}:")
            with self.indented():
                self.give_back(scope)
        elif kind == 29 and nested and self.loops < self.loops_allowed:
            self.grow(scope)
        elif kind >= 30:
            self.terms(scope)
        else:
            self.assign(scope)
        return False

    def terms(self, scope: Scope) -> None:
        """A sum of variables that have other uses: the adjoints of several are one expression, or one object."""
        shape = self.pick(self.common)
        operands = [self.unused(scope)]
        self.emit(f"{operands[0]} = {self.right(scope, shape)}")
        self.bind(scope, operands[0], shape)
        for _ in range(self.random.randrange(1, 3)):
            name = self.unused(scope)
            self.emit(f"{name} = {self.pick(('np.sin', 'np.cos', '-', ''))}({self.leaf(scope, shape)})")
            self.bind(scope, name, shape)
            operands.append(name)
        if self.chance(0.7):
            self.assign(scope)
        text = self.leaf(scope, shape)
        for operand in operands:
            text = f"{text} {self.pick('+-')} {operand}"
        text = self.pick((text, text, f"-({text})", f"{text} - {self.literal()}"))
        target, kept = self.target(scope)
        if kept != shape:
            target = self.unused(scope)
        self.emit(f"{target} = {f'np.tanh({text})' if scope.in_loop else text}")
        self.bind(scope, target, shape)

    def grow(self, scope: Scope) -> None:
        """A number, or a row, that becomes an array by broadcasting inside of a loop."""
        arrays = [(n, s) for n, s in {**scope.shapes, **scope.read_only}.items() if s]
        if not arrays:
            self.assign(scope)
            return
        name, shape = self.pick(arrays)
        grown = self.unused(scope)
        start = self.pick(("np.mean({0})", "0.3 * np.sum({0})", "0.4", "np.mean({0}, axis=0, keepdims=True)"))
        self.emit(f"{grown} = {start.format(name)}")
        self.emit(f"for _ in range({self.random.randrange(1, 4)}):")
        with self.indented():
            forms = ("{0} + {1}", "{1} - {0}", "np.sin({0}) * {1}", "0.5 * {0} - {1}", "{1} / (1.5 + {0} ** 2)")
            text = self.pick(forms).format(grown, name)
            self.emit(f"{grown} = {self.pick((text, text, f'np.tanh({text})'))}")
        self.bind(scope, grown, shape)

    def augmented(self, scope: Scope) -> None:
        scalars = [n for n, s in scope.shapes.items() if s == SCALAR]
        if not scalars:
            self.assign(scope)
            return
        name = self.pick(scalars)
        if scope.in_loop:
            self.emit(f"{name} {self.pick(('+=', '-='))} 0.3 * {self.right(scope, SCALAR)}")
        else:
            self.emit(f"{name} {self.pick(('+=', '-=', '*='))} {self.right(scope, SCALAR)}")

    def unpack(self, scope: Scope) -> None:
        targets = [self.target(scope), self.target(scope)]
        if targets[0][0] == targets[1][0]:
            self.assign(scope)
            return
        (one, first), (two, second) = targets
        left, right = self.right(scope, first), self.right(scope, second)
        form = self.random.randrange(5)
        if form == 0:
            self.emit(f"[{one}, {two}] = [{left}, {right}]")
        elif form == 1:
            extra = self.right(scope, SCALAR)
            third = self.unused(scope)
            if third in (one, two):
                third = f"{third}3"
            self.emit(f"({one}, {third}), {two} = ({left}, {extra}), {right}")
            self.bind(scope, third, SCALAR)
        elif form == 2:
            self.emit(f"{one}, *rest = {left}, {right}, {right}")
            self.emit(f"{two} = rest[{self.pick((0, 1, -1))}]")
            scope.shapes.pop("rest", None)
        else:
            self.emit(f"{one}, {two} = {left}, {right}")
        self.bind(scope, one, first)
        self.bind(scope, two, second)

    def chained(self, scope: Scope) -> None:
        name, shape = self.target(scope)
        other = self.unused(scope)
        self.emit(f"{name} = {other} = {self.right(scope, shape)}")
        self.bind(scope, name, shape)
        if other != name:
            self.bind(scope, other, shape)

    def swap(self, scope: Scope) -> None:
        by_shape: dict[Shape, list[str]] = {}
        for name, shape in scope.shapes.items():
            if not name.startswith("p["):
                by_shape.setdefault(shape, []).append(name)
        pairs = [names for names in by_shape.values() if len(names) > 1]
        if not pairs:
            self.assign(scope)
            return
        one, two = self.random.sample(self.pick(pairs), 2)
        self.emit(f"{one}, {two} = {two}, {one}")

    def branch(self, scope: Scope) -> bool:
        arms: list[Scope] = []
        count = self.random.randrange(1, 4)
        has_else = count > 1 or self.chance(0.5)
        for i in range(count):
            self.emit(f"{'if' if i == 0 else 'elif'} {self.condition(scope, 2)}:")
            arm = scope.copy()
            with self.indented():
                self.block(arm, self.random.randrange(1, 4))
            arms.append(arm)
        if has_else:
            self.emit("else:")
            arm = scope.copy()
            with self.indented():
                self.block(arm, self.random.randrange(1, 4))
            arms.append(arm)
        else:
            arms.append(scope.copy())
        # Only what every arm leaves bound, with the same shape, may be read afterwards.
        self.meet(scope, arms)
        return False

    def meet(self, scope: Scope, arms: list[Scope]) -> None:
        first, rest = arms[0], arms[1:]
        scope.shapes = {n: s for n, s in first.shapes.items() if all(arm.shapes.get(n) == s for arm in rest)}
        scope.read_only = {n: s for n, s in scope.read_only.items() if all(arm.read_only.get(n) == s for arm in arms)}
        scope.indices = {n: s for n, s in scope.indices.items() if all(arm.indices.get(n) == s for arm in arms)}

    def loop_scope(self, scope: Scope) -> Scope:
        inner = scope.copy()
        inner.in_loop = True
        inner.fixed = {*scope.fixed, *scope.shapes}
        return inner

    def loop_body(self, scope: Scope, inner: Scope) -> None:
        with self.indented():
            self.block(inner, self.random.randrange(1, 4))
            if self.chance(0.25):
                self.emit(f"if {self.condition(inner, 2)}:")
                with self.indented():
                    way = self.random.randrange(3)
                    if way == 0:
                        self.emit("continue")
                    elif way == 1:
                        self.emit("break")
                    else:
                        self.give_back(inner)
                self.block(inner, self.random.randrange(1, 3))

    def for_loop(self, scope: Scope) -> None:
        inner = self.loop_scope(scope)
        kind = self.random.randrange(8)
        one = self.unused(scope)
        two = self.unused(scope)
        if two == one:
            two = f"{one}2"
        vectors = [(n, s) for n, s in {**scope.shapes, **scope.read_only}.items() if s]
        bound: list[tuple[str, Shape]] = []

        def free(name: str) -> None:
            inner.shapes.pop(name, None)

        free(one)
        if kind <= 2 or not vectors:
            count = self.random.choice((0, 1, 2, 3, 3, 3))
            header = self.pick((f"range({count})", f"range(0, {count}, 1)", f"reversed(range({count}))"))
            if self.chance(0.2) and count == 3:
                header = self.pick(("range(2, -1, -1)", "[0, 2, 1]", "(1, 1, 0)", "range(0, 3, 2)"))
            self.emit(f"for {one} in {header}:")
            inner.indices[one] = max(count, 1)
        elif kind == 3:
            name, shape = self.pick(vectors)
            self.emit(f"for {one} in {name}:")
            bound = [(one, shape[1:])]
        elif kind == 4:
            name, shape = self.pick(vectors)
            self.emit(f"for {one}, {two} in enumerate({name}):")
            free(two)
            inner.indices[one] = shape[0]
            bound = [(two, shape[1:])]
        elif kind == 5:
            (left, first), (right, second) = self.pick(vectors), self.pick(vectors)
            strict = ", strict=True" if self.chance(0.3) else ""
            self.emit(f"for {one}, {two} in zip({left}, {right}{strict}):")
            free(two)
            bound = [(one, first[1:]), (two, second[1:])]
        elif kind == 6:
            name, shape = self.pick(vectors)
            self.emit(f"for {one} in {name}[::-1]:" if self.chance(0.5) else f"for {one} in reversed({name}):")
            bound = [(one, shape[1:])]
        else:
            items = ", ".join(self.expression(scope, SCALAR, 1) for _ in range(self.random.randrange(1, 4)))
            self.emit(f"for {one} in [{items}]:" if self.chance(0.5) else f"for {one} in ({items},):")
            bound = [(one, SCALAR)]
        for name, shape in bound:
            inner.read_only[name] = shape
        if self.level >= 2 and bound and bound[-1][1] and self.chance(0.6):
            with self.indented():
                row, shape = self.pick([b for b in bound if b[1]])
                self.pick((self.augment, self.write_part, self.writing_function))(inner, row, shape)
        # The loop may not run, so nothing that it binds is surely there afterwards; what was there keeps its shape.
        self.loop_body(scope, inner)
        for name in (one, two):
            scope.shapes.pop(name, None)
            scope.read_only.pop(name, None)
            scope.indices.pop(name, None)
        if self.chance(0.15):
            self.emit("else:")
            with self.indented():
                orelse = scope.copy()
                orelse.fixed |= set(scope.shapes)
                self.block(orelse, 1)

    def while_loop(self, scope: Scope) -> None:
        self.counter += 1
        tally = f"k{self.counter}"
        limit = self.random.randrange(0, 4)
        self.emit(f"{tally} = 0")
        inner = self.loop_scope(scope)
        inner.indices[tally] = limit + 1
        condition = f"{tally} < {limit}"
        if self.chance(0.5):
            condition += f" and ({self.condition(scope, 1)})"
        self.emit(f"while {condition}:")
        with self.indented():
            self.emit(f"{tally} += 1")
        self.loop_body(scope, inner)

    # -- functions ------------------------------------------------------------------------------------------------

    def argument(self, shape: Shape) -> Any:
        values = [round(self.random.uniform(-1.2, 1.2), 3) for _ in range(int(np.prod(shape)))]
        return values[0] if shape == SCALAR else np.array(values).reshape(shape)

    def program(self, seed: int) -> Program:
        self.emit("import math")
        self.emit("")
        self.emit("import numpy as np")
        self.emit("")
        if self.uses_stop:
            self.emit("from s2sad import stop_gradient")
            self.emit("")
        self.emit("PERM = np.array([2, 0, 1])")
        self.emit("C0 = 0.8")
        self.emit("K3 = np.array([0.5, -0.3, 1.1])")
        self.emit("K34 = np.linspace(-1.0, 1.0, 12).reshape(3, 4)")
        self.constants = {"C0": SCALAR, "K3": (3,), "K34": (3, 4)}
        self.emit("")
        self.emit("")
        if self.level >= 2:
            for line in STATE.splitlines():
                self.emit(line)
            self.emit("")
            self.emit("")
        for index in range(self.pick((0, 1, 1, 2, 3)) if self.size > 3 else self.pick((0, 0, 1))):
            self.helper(index, writes=self.level >= 2 and self.chance(0.65))

        params: list[tuple[str, Shape]] = [
            (name, self.pick((SCALAR, *self.common))) for name in ("x", "y", "s")[: self.random.randrange(1, 4)]
        ]
        scope = Scope(shapes=dict(params))
        args: list[Any] = [self.argument(shape) for _, shape in params]
        names = [name for name, _ in params]
        container = self.random.randrange(8)
        if container < 2:
            first, second = self.pick((SCALAR, *self.common)), self.pick((SCALAR, *self.common))
            names.append("p")
            items = (self.argument(first), self.argument(second))
            if container == 0:
                args.append(items)
                scope.read_only |= {"p[0]": first, "p[-1]": second}
            else:
                args.append({"w": items[0], "b": items[1]})
                scope.read_only |= {'p["w"]': first, 'p["b"]': second}
        self.emit(f"def f({', '.join(names)}):")
        self.results = [SCALAR]
        with self.indented():
            self.budget = self.size
            self.loops_allowed = 2
            self.block(scope, self.size)
            results = [n for n in scope.shapes if n not in names] or list(scope.shapes)
            terms = [self.expression(scope, SCALAR, 2)]
            for name in self.random.sample(results, min(len(results), 3)):
                shape = scope.shapes[name]
                terms.append(self.pick((name, f"np.sin({name})")) if shape == SCALAR else f"np.mean(np.cos({name}))")
            if not self.uses_stop and "x" in scope.shapes:
                terms.append("0.2 * x" if scope.shapes["x"] == SCALAR else "0.2 * np.sum(x)")
            self.emit(f"return {' + '.join(terms)}")
        wanted = tuple(sorted(self.random.sample(range(len(args)), self.random.randrange(1, len(args) + 1))))
        functions = (*(helper.name for helper in self.helpers), "f")
        return Program(seed, "\n".join(self.lines) + "\n", functions, tuple(args), wanted, self.level, self.size)


def generate(seed: int, level: int = 1, size: int = 10) -> Program:
    """The program of a seed: the same text for the same seed, level and size on every run."""
    return Writer(seed, level, size).program(seed)
