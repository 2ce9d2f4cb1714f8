"""Random expressions over NumPy: the lower half of the writer of random programs.

Every expression is asked for with a shape and is smooth or bounded, so that central differences of it mean something.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Shape = tuple[int, ...]
SCALAR: Shape = ()

VECTORS: tuple[Shape, ...] = ((3,), (4,))
MATRICES: tuple[Shape, ...] = ((3, 3), (3, 4), (1, 4), (3, 1))
SHAPES: tuple[Shape, ...] = VECTORS + MATRICES
# Names that emitted code may want for itself: the user's come first.
NAMES = (
    *("u", "v", "w", "a", "b", "c", "z", "p", "q", "r", "acc", "m", "left", "right"),
    *("t", "t1", "t2", "x_bar", "u_bar", "saved", "_", "unbroadcast", "result", "sum", "zeros_like", "v_dot", "out"),
)
SCALAR_FUNCTIONS = ("np.sin", "np.cos", "np.tanh", "math.sin", "math.tanh", "math.cos", "np.arctan")
ARRAY_FUNCTIONS = ("np.sin", "np.cos", "np.tanh", "np.arctan", "S")


def broadcast(one: Shape, two: Shape) -> Shape | None:
    try:
        return np.broadcast_shapes(one, two)
    except ValueError:
        return None


@dataclass
class Signature:
    """A helper function: parameter names and shapes, which are keyword-only or have defaults, and what it returns.

    `results` are the shapes of what it returns: none, one, or several in a tuple. `written` are the parameters
    that it writes into on purpose; others may be written as well.
    """

    name: str
    params: list[tuple[str, Shape]]
    keyword_only: set[str]
    defaults: set[str]
    results: list[Shape]
    recursive: bool = False
    written: set[str] = field(default_factory=set)


@dataclass
class Scope:
    """The names that are surely bound at this point, with their shapes."""

    shapes: dict[str, Shape] = field(default_factory=dict)
    read_only: dict[str, Shape] = field(default_factory=dict)  # loop variables, container items
    indices: dict[str, int] = field(default_factory=dict)  # integer loop variables and an upper bound
    fixed: set[str] = field(default_factory=set)  # must keep their shape: bound before the enclosing loop
    in_loop: bool = False
    in_nested_branch: bool = False

    def copy(self) -> Scope:
        return Scope(
            dict(self.shapes),
            dict(self.read_only),
            dict(self.indices),
            set(self.fixed),
            self.in_loop,
            self.in_nested_branch,
        )


class ExpressionWriter:
    """Writes expressions of a wanted shape; every choice comes from one `random.Random`."""

    def __init__(self, seed: int, level: int, size: int) -> None:
        self.random = random.Random(f"{level}/{size}/{seed}")
        self.level = level
        self.size = size
        self.helpers: list[Signature] = []
        self.lines: list[str] = []
        self.depth = 0
        self.budget = size
        self.results: list[Shape] = [SCALAR]
        self.counter = 0
        self.loops = 0
        self.loops_allowed = 2
        # A program has a few shapes that it uses most, so that its arrays fit each other.
        self.common: tuple[Shape, ...] = SHAPES
        if level >= 2:
            self.common = SHAPES + 3 * (self.random.choice(VECTORS), *self.random.sample(MATRICES, 2))
        self.uses_stop = self.random.random() < 0.3
        self.constants: dict[str, Shape] = {}

    def call(self, scope: Scope, helper: Signature, depth: int) -> str:
        """A call of a helper function, as an expression."""
        raise NotImplementedError

    # -- small things ---------------------------------------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, options: Any) -> Any:
        return self.random.choice(list(options))

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    @contextlib.contextmanager
    def indented(self) -> Iterator[None]:
        self.depth += 1
        yield
        self.depth -= 1

    def literal(self) -> str:
        return self.pick(("0.5", "0.3", "-0.7", "1.1", "2.0", "0.25", "-0.4", "1", "0.9"))

    def unused(self, scope: Scope) -> str:
        taken = {*scope.shapes, *(name.partition("[")[0] for name in scope.read_only), *scope.indices}
        free = [name for name in NAMES if name not in taken]
        if free and self.chance(0.95):
            return str(self.pick(free))
        self.counter += 1
        return f"n{self.counter}"

    # -- expressions ----------------------------------------------------------------------------------------------

    def names_of(self, scope: Scope, shape: Shape) -> list[str]:
        found = [n for n, s in scope.shapes.items() if s == shape] + [
            n for n, s in scope.read_only.items() if s == shape
        ]
        return found

    def condition(self, scope: Scope, depth: int) -> str:
        kind = self.random.random()
        if scope.indices and kind < 0.3:
            return f"{self.pick(scope.indices)} {self.pick(('<', '>=', '==', '!='))} {self.random.randrange(3)}"
        one = self.expression(scope, SCALAR, depth - 1)
        comparison = f"{one} {self.pick(('<', '>', '<=', '>='))} {self.literal()}"
        if kind < 0.45:
            return f"not {comparison}"
        if kind < 0.6:
            return (
                f"{comparison} {self.pick(('and', 'or'))} {self.condition(scope, depth - 1)}"
                if depth > 0
                else comparison
            )
        if kind < 0.66:
            return f"-0.5 < {one} <= {self.literal()}"
        return comparison

    def bounded(self, text: str, shape: Shape) -> str:
        """The expression, kept within about one."""
        if shape == SCALAR:
            return f"{self.pick(('np.tanh', 'np.sin', 'math.tanh', 'math.cos'))}({text})"
        return f"{self.pick(('np.tanh', 'np.sin', 'np.arctan'))}({text})"

    def leaf(self, scope: Scope, shape: Shape) -> str:
        names = self.names_of(scope, shape)
        if names and self.chance(0.9):
            return str(self.pick(names))
        others = {**scope.shapes, **scope.read_only}
        if others and self.chance(0.75):
            name, other = self.pick(others.items())
            if shape == SCALAR:
                return str(self.pick(("np.mean({0})", "{0}.mean()") if other else ("{0}",))).format(name)
            if broadcast(other, shape) == shape:
                return f"(np.full({shape!r}, 0.4) {self.pick('+*')} {name})"
            return f"(np.full({shape!r}, 0.7) * np.mean({name}))"
        if shape == SCALAR:
            if scope.indices and self.chance(0.3):
                return f"(0.3 * {self.pick(scope.indices)})"
            scalars = [name for name, s in self.constants.items() if s == SCALAR]
            return str(self.pick(scalars)) if scalars and self.chance(0.5) else self.literal()
        constants = [name for name, s in self.constants.items() if s == shape]
        if constants and self.chance(0.6):
            return f"(0.5 * {self.pick(constants)})"
        if shape == (3, 4) and self.names_of(scope, (4,)):
            return f"(np.ones((3, 4)) * {self.pick(self.names_of(scope, (4,)))})"
        made = self.pick(("np.full({0}, 0.4)", "np.ones({0})", "(0.2 * np.arange({1}.0).reshape({0}))"))
        return str(made).format(repr(shape), int(np.prod(shape)))

    def expression(self, scope: Scope, shape: Shape, depth: int) -> str:
        if depth <= 0:
            return self.leaf(scope, shape)
        if self.uses_stop and self.chance(0.06):
            return f"stop_gradient({self.expression(scope, shape, depth - 1)})"
        if self.chance(0.1) and not (scope.in_loop and self.loops_allowed == 1):
            fitting = [h for h in self.helpers if h.results == [shape]]
            if fitting:
                return self.call(scope, self.pick(fitting), depth)
        if self.chance(0.07):
            return (
                f"({self.expression(scope, shape, depth - 1)} if {self.condition(scope, depth - 1)} "
                f"else {self.expression(scope, shape, depth - 1)})"
            )
        return self.scalar(scope, depth) if shape == SCALAR else self.array(scope, shape, depth)

    def right(self, scope: Scope, shape: Shape) -> str:
        text = self.expression(scope, shape, self.random.randrange(1, 4))
        return self.bounded(text, shape) if scope.in_loop or self.chance(0.35) else text

    def bind(self, scope: Scope, name: str, shape: Shape) -> None:
        scope.shapes[name] = shape
        scope.read_only.pop(name, None)
        scope.indices.pop(name, None)
        for item in [key for key in scope.read_only if key.startswith(f"{name}[")]:
            del scope.read_only[item]

    def scalar(self, scope: Scope, depth: int) -> str:
        def sub(shape: Shape = SCALAR) -> str:
            return self.expression(scope, shape, depth - 1)

        kind = self.random.randrange(15)
        if kind <= 3:
            return f"({sub()} {self.pick('+-*')} {sub()})"
        if kind == 4:
            return f"{sub()} / (1.5 + {sub()} ** 2)"
        if kind == 5:
            return f"{self.pick(SCALAR_FUNCTIONS)}({sub()})"
        if kind == 6:
            return f"-{self.leaf(scope, SCALAR)}" if self.chance(0.5) else f"np.sqrt(1.0 + {sub()} ** 2)"
        if kind <= 10:
            arrays = [(n, s) for n, s in {**scope.shapes, **scope.read_only}.items() if s]
            if not arrays:
                return sub()
            name, shape = self.pick(arrays)
            if kind == 7:
                return self.element(scope, name, shape)
            if kind == 8:
                return str(self.pick(("np.mean({0})", "{0}.mean()", "np.sum({0}) * 0.2", "({0} * {0}).mean()"))).format(
                    name
                )
            if kind == 9 and len(shape) == 1:
                same = self.pick(self.names_of(scope, shape))
                return str(
                    self.pick(
                        (f"0.3 * ({name} @ {same})", f"0.3 * np.dot({name}, {same})", f"0.3 * {name}.dot({same})")
                    )
                )
            if kind == 10 and self.chance(0.5):
                return f"0.2 * np.sum({name}[{name} > 0.1])"
            return f"np.sum({self.expression(scope, shape, depth - 1)}) * 0.1"
        if kind == 11:
            forms = ("({0}, {1})", "({0}, {1})", "[*({0}, {1}), {0}]", "list(({0}, {1}))", "([{0}] * 2 + [{1}])")
            return f"{self.pick(forms).format(sub(), sub())}[{self.pick((0, 1, -1))}]"
        if kind == 12:
            return f"abs(1.7 + {self.bounded(sub(), SCALAR)})"
        if kind == 13:
            return f"np.exp(-{sub()} ** 2)"
        return f"math.log(2.0 + {self.bounded(sub(), SCALAR)})"

    def element(self, scope: Scope, name: str, shape: Shape) -> str:
        items = []
        for length in shape:
            fitting = [i for i, bound in scope.indices.items() if bound <= length]
            if fitting and self.chance(0.6):
                items.append(str(self.pick(fitting)))
            elif scope.indices and self.chance(0.3):
                items.append(f"({self.pick(scope.indices)} + {self.random.randrange(1, 3)}) % {length}")
            else:
                items.append(str(self.random.randrange(-length, length)))
        return f"{name}[{', '.join(items)}]"

    def array(self, scope: Scope, shape: Shape, depth: int) -> str:
        def sub(of: Shape = shape) -> str:
            return self.expression(scope, of, depth - 1)

        kind = self.random.randrange(16)
        if kind <= 3:
            return f"({sub()} {self.pick('+-*')} {sub(self.narrower(shape))})"
        if kind == 4:
            return f"{sub()} / (1.5 + {sub(self.narrower(shape))} ** 2)"
        if kind == 5:
            return f"{self.pick(ARRAY_FUNCTIONS[:-1])}({sub()})"
        if kind == 6:
            return f"np.where({sub()} > {self.literal()}, {sub()}, {sub(self.narrower(shape))})"
        if kind == 7:
            return f"np.maximum({sub()}, {self.literal()} + {sub(self.narrower(shape))})"
        if kind == 8:
            return f"-{self.leaf(scope, shape)}" if self.chance(0.5) else f"np.exp(-{sub()} ** 2)"
        if kind == 9:
            return f"({sub()} - np.mean({sub()}))"
        return self.shaped(scope, shape, depth)

    def narrower(self, shape: Shape) -> Shape:
        """A shape that broadcasts to this one."""
        fitting = [s for s in (*SHAPES, SCALAR) if broadcast(s, shape) == shape]
        return shape if self.chance(0.5) else self.pick(fitting)

    def shaped(self, scope: Scope, shape: Shape, depth: int) -> str:
        """An array of this shape out of arrays of other shapes."""

        def sub(of: Shape) -> str:
            return self.expression(scope, of, depth - 1)

        def name(of: Shape) -> str:
            return f"({sub(of)})"

        forms: list[Callable[[], str]] = []
        if shape == (3,):
            forms = [
                lambda: f"{name((4,))}[{self.pick(('1:', ':-1', ':3', '-3:'))}]",
                lambda: f"{name((3,))}[{self.pick(('::-1', '[0, 0, 2]', 'np.array([2, 1, 1])', 'PERM'))}]",
                lambda: f"np.sum({sub((3, 4))}, axis={self.pick((1, -1))}) * 0.3",
                lambda: f"{name((3, 3))}[{self.pick((0, 1, -1))}]",
                lambda: f"{name((3, 4))}[:, {self.pick((0, 2, -1))}]",
                lambda: f"np.array([{sub(())}, {sub(())}, {sub(())}])",
                lambda: f"0.3 * ({sub((3, 3))} @ {sub((3,))})",
                lambda: f"0.3 * np.dot({sub((3, 4))}, {sub((4,))})",
                lambda: f"{name((3, 1))}.ravel()",
                lambda: f"np.cumsum({sub((3,))}) * 0.4",
                lambda: f"np.concatenate([{name((4,))}[:2], {name((3,))}[1:2]])",
            ]
        elif shape == (4,):
            forms = [
                lambda: f"np.concatenate([{name((3,))}, {name((3,))}[:1]])",
                lambda: f"{name((3, 4))}.mean(axis=0)",
                lambda: f"{name((3, 4))}[{self.pick((0, 1, -1))}]",
                lambda: f"{name((1, 4))}[0]",
                lambda: f"0.3 * ({sub((3,))} @ {sub((3, 4))})",
                lambda: f"np.stack([{sub(())}, {sub(())}, {sub(())}, {sub(())}])",
                lambda: f"np.roll({sub((4,))}, {self.pick((1, -1, 2))})",
                lambda: f"{name((4,))}[{self.pick(('::-1', '[3, 0, 0, 1]', 'np.array([0, 1, 2, 3])'))}]",
                lambda: f"np.repeat({name((4,))}[::2], 2)",
            ]
        elif shape == (3, 3):
            forms = [
                lambda: f"np.outer({sub((3,))}, {sub((3,))})",
                lambda: f"{name((3, 3))}.T",
                lambda: f"{name((3, 4))}[:, {self.pick(('1:', ':-1'))}]",
                lambda: f"(0.3 * {name((3, 4))} @ {name((3, 4))}.T)",
                lambda: f"({name((3,))}[:, None] * {name((3,))})",
                lambda: f"np.diag({sub((3,))})",
                lambda: f"np.tril({sub((3, 3))})",
                lambda: f"{name((3, 3))}[[2, 0, 0]]",
            ]
        elif shape == (3, 4):
            forms = [
                lambda: f"({name((3, 1))} * {name((1, 4))})",
                lambda: f"({name((3,))}[:, None] + {name((4,))})",
                lambda: f"np.broadcast_to({sub((4,))}, (3, 4)) * 1.0",
                lambda: f"(0.3 * {name((3, 3))} @ {name((3, 4))})",
                lambda: f"np.stack([{sub((4,))}, {sub((4,))}, {sub((4,))}])",
                lambda: f"np.transpose({name((3, 4))}[::-1].T)",
                lambda: f"{name((3, 4))}.reshape(4, 3).reshape(3, 4)",
                lambda: f"({sub((3, 4))} - np.max({sub((3, 4))}, axis=1, keepdims=True))",
            ]
        elif shape == (1, 4):
            forms = [
                lambda: f"{name((3, 4))}[{self.pick(('0:1', '-1:', '1:2'))}]",
                lambda: f"{name((4,))}[None]",
                lambda: f"np.mean({sub((3, 4))}, axis=0, keepdims=True)",
                lambda: f"{name((4,))}.reshape(1, -1)",
            ]
        elif shape == (3, 1):
            forms = [
                lambda: f"{name((3,))}[:, None]",
                lambda: f"np.sum({sub((3, 4))}, axis=1, keepdims=True) * 0.3",
                lambda: f"{name((3, 3))}[:, :1]",
                lambda: f"np.reshape({sub((3,))}, (3, 1))",
            ]
        return str(self.pick(forms)()) if forms else self.leaf(scope, shape)
