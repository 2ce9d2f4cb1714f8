"""Random programs that make functions and objects, and the judgement of what the specialiser leaves of them.

    python -m tests.random_objects --count 5000 --seed 0 [--out /some/folder] [--show]

`generate(seed)` writes a small module: classes, functions that are given functions and objects, and `f` of an array of
three numbers.  What remains of `f` must do as Python does: the same result bit for bit, the same exception, the same
notes in the same order, the same contents of the argument afterwards.  Gradients are compared with differences where
those of two step sizes agree; what is refused by an `S2SADError` is left alone.
"""

from __future__ import annotations

import argparse
import linecache
import pathlib
import random
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from s2sad import S2SADError, grad
from s2sad.frontend.source import read_source
from s2sad.transform.specialise import specialised
from tests.oracle import numeric_gradient

POINTS = [np.array([0.3, 0.7, -0.4]), np.array([-0.6, -0.2, 0.5]), np.array([0.9, -0.35, 0.15])]
HEAD = """import functools

import numpy as np

NOTES = []


def note(v):
    NOTES.append(float(v))
    return v


"""
#: What the notes are where gradients are asked for: what is noted would be kept by the module.
SILENT = ("    NOTES.append(float(v))\n", "")


@dataclass
class Scope:
    """What can be used at a place: names of numbers, functions, objects, lists of functions and of objects."""

    numbers: list[str]
    own: list[str] = field(default_factory=list)
    outer: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    arrays: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    dicts: list[str] = field(default_factory=list)
    loop: bool = False
    returns: bool = False
    depth: int = 0

    def inside(self, **changes: Any) -> Scope:
        """A scope of a block in this one: what it binds is not seen outside."""
        lists = ("numbers", "own", "outer", "functions", "objects", "lists", "groups", "arrays", "rows", "dicts")
        copies = {name: list(getattr(self, name)) for name in lists}
        return replace(self, **{**copies, "depth": self.depth + 1, **changes})


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.indent = 0
        self.made = 0
        self.helpers: list[str] = []
        self.steppers: list[str] = []

    # --- texts

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.line(head)
        self.indent += 1
        yield
        self.indent -= 1

    def fresh(self, stem: str) -> str:
        self.made += 1
        return f"{stem}{self.made}"

    def pick(self, items: list[Any]) -> Any:
        return self.random.choice(items)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    # --- expressions

    def number(self, s: Scope, depth: int = 2) -> str:
        """An expression of a number between about -2 and 2."""
        kinds = ["leaf"] * 3 + (["sum", "product", "sine", "choose"] * 2 if depth else [])
        if depth:
            kinds += ["call"] * 3 * bool(s.functions) + ["object"] * 3 * bool(s.objects) + ["note", "helper", "element"]
            kinds += ["connected", "last", "size"]
        match self.pick(kinds):
            case "sum":
                return f"(0.5 * {self.number(s, depth - 1)} + {self.number(s, depth - 1)} * 0.4)"
            case "product":
                return f"np.tanh({self.number(s, depth - 1)} * {self.number(s, depth - 1)})"
            case "sine":
                return f"np.sin({self.number(s, depth - 1)} + {self.random.randint(1, 9) / 4})"
            case "choose":
                return f"({self.number(s, depth - 1)} if {self.condition(s)} else {self.number(s, 0)})"
            case "call":
                return f"{self.function(s)}({self.number(s, depth - 1)})"
            case "object":
                return self.of_object(s, depth - 1)
            case "note":
                return f"note({self.number(s, depth - 1)})"
            case "helper" if self.helpers:
                return f"{self.pick(self.helpers)}({self.function(s)}, {self.number(s, depth - 1)})"
            case "element" if s.arrays:
                return f"{self.pick(s.arrays)}[{self.random.randint(-3, 2)}]"
            case "connected" if s.functions:
                return f"({self.condition(s)} and {self.number(s, 0)} or {self.number(s, depth - 1)})"
            case "last" if s.lists:
                return f"{self.pick(s.lists)}[{self.pick([0, -1])}]({self.number(s, depth - 1)})"
            case "size" if s.lists:
                return f"len({self.pick(s.lists)}) * {self.number(s, 0)} * 0.25"
        return str(self.pick([*s.numbers, *s.numbers, self.random.randint(-6, 6) / 4]))

    def of_object(self, s: Scope, depth: int) -> str:
        one = self.pick(s.objects)
        match self.pick(["w", "b", "scale", "count", "call", "update", "size", "product"]):
            case "call":
                return f"{one}({self.number(s, depth)})"
            case "update":
                return f"{one}.update({self.number(s, depth)})"
            case "product":
                return f"({one} * {self.number(s, depth)}).w"
            case "count":
                return f"np.sin(1.0 * {one}.count)"
            case name:
                return f"{one}.{name}"

    def function(self, s: Scope) -> str:
        """An expression of a function of one number."""
        kinds = ["lambda", "sine", "maker"] + ["name"] * 5 * bool(s.functions) + ["object", "method"] * bool(s.objects)
        match self.pick(kinds):
            case "name":
                return str(self.pick(s.functions))
            case "object":
                return str(self.pick(s.objects))
            case "method":
                return f"{self.pick(s.objects)}.update"
            case "sine":
                return str(self.pick(["np.sin", "np.tanh"]))
            case "maker":
                return (
                    f"maker({self.number(s, 0)})"
                    if self.chance(0.6)
                    else f"functools.partial(pair, {self.number(s, 0)})"
                )
        name = self.fresh("t")
        inner = s.inside(numbers=[*s.numbers, name])
        return f"(lambda {name}: {self.number(inner, 1)})"

    def condition(self, s: Scope) -> str:
        kinds = ["less"] * 5 + ["is", "none", "truth", "not"] + ["isinstance", "same"] * bool(s.objects)
        match self.pick(kinds):
            case "isinstance":
                return f"isinstance({self.pick(s.objects)}, {self.pick(['Sub', 'Box'])})"
            case "same":
                return f"{self.pick(s.objects)} is {self.pick(s.objects)}"
            case "is" if len(s.functions) > 1:
                return f"{self.pick(s.functions)} {self.pick(['is', 'is not', '=='])} {self.pick(s.functions)}"
            case "none" if s.functions:
                return f"{self.pick(s.functions)} is not None"
            case "truth" if s.lists:
                return f"len({self.pick(s.lists)}) > {self.random.randint(0, 3)}"
            case "not" if s.depth < 4:
                return f"not {self.number(s, 0)} > 0.1"
        return f"{self.number(s, 0)} {self.pick(['<', '>'])} {self.random.randint(-3, 3) / 4 + 0.037}"

    # --- statements

    def body(self, s: Scope, count: int) -> None:
        before = len(self.lines)
        for _ in range(count):
            self.statement(s)
        if len(self.lines) == before:
            self.line("pass")

    def statement(self, s: Scope) -> None:
        kinds = ["number"] * 3 + ["function", "lambda", "object", "list", "note", "array"]
        kinds += ["change"] * 3 * bool(s.objects) + ["append"] * bool(s.lists) + ["store"] * 2 * bool(s.arrays)
        kinds += (
            ["alias"] * bool(s.objects)
            + ["step"] * 2 * bool(s.objects and self.steppers)
            + ["swap"] * bool(s.functions)
        )
        if s.depth < 4:
            kinds += ["if", "if", "for", "while"] + ["through"] * 2 * bool(s.lists) + ["group"] * bool(s.groups)
        if s.outer:
            kinds += ["outer"] * 2
        if s.loop:
            kinds += ["leave"]
        if s.returns and s.depth > 1:
            kinds += ["return"]
        match self.pick(kinds):
            case "number":
                value = self.number(s)
                if s.own and self.chance(0.5):
                    self.line(f"{self.pick(s.own)} {self.pick(['=', '='])} {value}")
                elif s.own and self.chance(0.3):
                    self.line(f"{self.pick(s.own)} += 0.3 * {value}")
                else:
                    self.line(f"{(name := self.fresh('v'))} = {value}")
                    s.numbers.append(name)
                    s.own.append(name)
            case "outer":
                self.line(f"{self.pick(s.outer)} = {self.number(s)}")
            case "note":
                self.line(f"note({self.number(s)})")
            case "function":
                self.definition(s)
            case "lambda":
                value = self.function(s)
                self.line(f"{(name := self.fresh('g'))} = {value}")
                s.functions.append(name)
            case "swap":
                self.line(f"{self.pick(s.functions)} = {self.function(s)}" if not s.outer else "pass")
            case "object":
                value = self.pick([f"Box({self.number(s, 1)})", f"Sub({self.number(s, 1)})"])
                if self.chance(0.3):
                    value = f"Box({self.number(s, 1)}, b={self.number(s, 1)})"
                self.line(f"{(name := self.fresh('o'))} = {value}")
                s.objects.append(name)
                if self.chance(0.3) and len(s.objects) > 1:
                    self.line(f"{(group := self.fresh('os'))} = [{', '.join(self.random.sample(s.objects, 2))}]")
                    s.groups.append(group)
            case "alias":
                self.line(f"{(name := self.fresh('o'))} = {self.pick(s.objects)}")
                s.objects.append(name)
            case "change":
                target = f"{self.pick(s.objects)}.{self.pick(['w', 'b', 'scale', 'size', 'w', 'extra'])}"
                sign = self.pick(["=", "=", "+="]) if "extra" not in target else "="
                self.line(f"{target} {sign} {self.number(s)}")
            case "step":
                self.line(
                    f"{self.pick(self.steppers)}({self.pick(s.objects)}, {self.pick(s.objects)}, {self.number(s, 1)})"
                )
            case "list":
                items = ", ".join(self.function(s) for _ in range(self.random.randint(1, 3)))
                self.line(f"{(name := self.fresh('fs'))} = [{items}]")
                s.lists.append(name)
            case "append":
                one = self.pick(s.lists)
                self.line(self.pick([f"{one}.append({self.function(s)})", f"{one} += [{self.function(s)}]"]))
            case "array":
                self.line(f"{(name := self.fresh('a'))} = {self.pick([*s.arrays, 'np.ones(3)'])} * {self.number(s, 1)}")
                s.arrays.append(name)
            case "store":
                self.line(
                    f"{self.pick(s.arrays)}[{self.random.randint(0, 2)}] {self.pick(['=', '+='])} {self.number(s)}"
                )
            case "leave":
                with self.block(f"if {self.condition(s)}:"):
                    self.line(self.pick(["break", "continue"]))
            case "return":
                self.line(f"return {self.number(s)}")
            case "if":
                with self.block(f"if {self.condition(s)}:"):
                    self.body(s.inside(), self.random.randint(1, 3))
                if self.chance(0.6):
                    with self.block("else:"):
                        self.body(s.inside(), self.random.randint(1, 3))
            case "for":
                name = self.fresh("i")
                with self.block(f"for {name} in range({self.random.randint(0, 4)}):"):
                    inner = s.inside(loop=True)
                    inner.numbers.append(name)
                    self.body(inner, self.random.randint(1, 3))
                self.otherwise(s)
            case "while":
                name = self.fresh("n")
                self.line(f"{name} = 0")
                with self.block(f"while {name} < {self.random.randint(1, 3)} and {self.condition(s)}:"):
                    self.line(f"{name} += 1")
                    self.body(s.inside(loop=True), self.random.randint(1, 3))
                self.otherwise(s)
            case "through":
                self.through(s)
            case "group":
                name = self.fresh("o")
                with self.block(f"for {name} in {self.pick(s.groups)}:"):
                    inner = s.inside(loop=True)
                    inner.objects += [name, name]
                    self.body(inner, self.random.randint(1, 3))

    def otherwise(self, s: Scope) -> None:
        if self.chance(0.2):
            with self.block("else:"):
                self.body(s.inside(), 1)

    def through(self, s: Scope) -> None:
        """A loop over a list of functions."""
        one, name = self.pick(s.lists), self.fresh("g")
        inner = s.inside(loop=self.chance(0.3))
        inner.functions += [name, name, name]
        match self.pick(["plain", "plain", "enumerate", "zip", "reversed", "twice"]):
            case "enumerate":
                number = self.fresh("i")
                inner.numbers.append(number)
                head = f"for {number}, {name} in enumerate({one}):"
            case "zip":
                other = self.fresh("g")
                inner.functions.append(other)
                head = f"for {name}, {other} in zip({one}, {self.pick(s.lists)}):"
            case "reversed":
                head = f"for {name} in reversed({one}):"
            case "twice":
                self.line(f"{(it := self.fresh('it'))} = iter_of({one})")
                head = f"for {name} in {it}:"
            case _:
                head = f"for {name} in {one}:"
        with self.block(head):
            if s.own:
                self.line(f"{self.pick(s.own)} = {name}({self.number(s, 0)})")
            # A list that grows in a loop over itself might do so for ever.
            if one in inner.lists:
                inner.lists = []
            self.body(inner, self.random.randint(1, 2))
        self.otherwise(s)

    def definition(self, s: Scope) -> None:
        """A function of a number, which may write to the variables around it."""
        name, param = self.fresh("f"), self.fresh("t")
        default = f", k={self.number(s, 0)}" if self.chance(0.3) else ""
        with self.block(f"def {name}({param}{default}):"):
            inner = s.inside(numbers=[*s.numbers, param], own=[], outer=[], loop=False, returns=True)
            inner.depth = max(2, s.depth)
            if default:
                inner.numbers.append("k")
            if s.own and self.chance(0.4):
                inner.outer = self.random.sample(s.own, 1)
                if inner.outer[0].isidentifier():
                    self.line(f"nonlocal {inner.outer[0]}")
            self.body(inner, self.pick([0, 0, 1, 2, 4]))
            self.line(f"return {self.number(inner)}")
        s.functions += [name, name]

    # --- the module

    def module(self) -> str:
        self.line(HEAD.rstrip())
        self.line("")
        for name, head in (("Box", "class Box:"), ("Sub", "class Sub(Box):")):
            with self.block(head):
                self.members(name)
            self.line("")
        with self.block("def maker(k):"):
            with self.block("def made(t):"):
                self.line(f"return {self.number(Scope(['k', 't']), 2)}")
            self.line("return made")
        with self.block("def pair(k, t):"):
            self.line(f"return {self.number(Scope(['k', 't']), 2)}")
        with self.block("def iter_of(fs):"):
            self.line("return reversed(fs)")
        for number in range(2):
            with self.block(f"def helper{number}(h, t):"):
                scope = Scope(["t"], functions=["h", "h"], returns=True, depth=2)
                self.body(scope, self.pick([0, 2, 4]))
                self.line(f"return {self.number(scope)}")
            with self.block(f"def step{number}(p, q, t):"):
                scope = Scope(["t"], objects=["p", "p", "q"], returns=True, depth=2)
                self.body(scope, self.pick([1, 3, 5]))
                self.line(f"return {self.number(scope)}")
        self.helpers, self.steppers = ["helper0", "helper1"], ["step0", "step1"]
        with self.block("def f(x):"):
            scope = Scope(["x[0]", "x[1]", "x[2]"], arrays=["x"] if self.chance(0.2) else [])
            self.line("y = x[0] * x[1]")
            scope.numbers.append("y")
            scope.own.append("y")
            self.body(scope, self.random.randint(3, 10))
            ends = [self.number(scope) for _ in range(2)]
            self.line(f"return {' + '.join(['y', *ends])}")
        return "\n".join(self.lines) + "\n"

    def members(self, name: str) -> None:
        attributes = ["self.w", "self.b", "self.scale"]
        if name == "Box":
            self.line("scale = 1.5")
            self.line("count = 0")
            with self.block("def __init__(self, w, b=0.25):"):
                self.line("self.w = w")
                self.line("self.b = b")
            self.line("@property")
            with self.block("def size(self):"):
                self.line(f"return {self.number(Scope(attributes), 2)}")
            self.line("@size.setter")
            with self.block("def size(self, v):"):
                self.line(
                    f"{self.pick(['self.w', 'self.scale', 'self.b'])} = {self.number(Scope(['v', *attributes]), 1)}"
                )
            with self.block("def __mul__(self, other):"):
                self.line("return Box(self.w * other, self.b)")
        else:
            self.line("pass")
            if self.chance(0.5):
                self.line(f"scale = {self.pick([0.5, 2])}")
            if self.chance(0.6):
                with self.block("def __init__(self, w):"):
                    self.line("super().__init__(w, 0.125)")
                    self.line(f"self.b = {self.number(Scope(['w', *attributes]), 1)}")
        if name == "Box" or self.chance(0.6):
            with self.block("def __call__(self, v):"):
                self.line("self.count += 1")
                scope = Scope(["v", *attributes], own=["self.w", "self.b"], returns=True, depth=2)
                self.body(scope, self.pick([0, 0, 1, 3]))
                more = " + 0.5 * super().__call__(v)" if name == "Sub" else ""
                self.line(f"return {self.number(scope)}{more}")
        if name == "Box" or self.chance(0.6):
            with self.block("def update(self, v):"):
                scope = Scope(["v", *attributes], own=["self.w", "self.scale"], objects=["self"], returns=True, depth=2)
                # What calls itself is left to other tests.
                scope.objects = []
                self.body(scope, self.pick([1, 2, 4]))
                more = " + super().update(v)" if name == "Sub" and self.chance(0.5) else ""
                self.line(f"return {self.number(scope)}{more}")


def generate(seed: int) -> str:
    """The text of a program."""
    return Writer(seed).module()


def load(title: str, text: str) -> dict[str, Any]:
    """The names of a program; its text is registered with `linecache`, so that `inspect` finds it without a file."""
    filename = f"<random_objects_{title}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": "tests.random_objects.generated"}
    exec(compile(text, filename, "exec"), namespace)
    return namespace


def outcome(f: Callable[..., Any], notes: list[float], x: Any) -> tuple[str, str, list[float], bytes]:
    """The result or the class of the exception of a call, the notes, and the argument after it."""
    x = x.copy()
    notes.clear()
    try:
        kind, result = "value", repr(f(x))
    except RecursionError:
        raise
    except Exception as error:
        kind, result = "raised", type(error).__name__
        # A name in the text of what remains may be another one.
        if isinstance(error, NameError):
            result = "NameError"
    return kind, result, list(notes), x.tobytes()


@dataclass(frozen=True)
class Verdict:
    """How a program was judged: ``same``, ``stays``, ``failed``; and what is said of it."""

    kind: str
    message: str = ""
    gradient: str = ""


def judge(seed: int, text: str) -> Verdict:
    """Compare what remains of a program with what Python does, and its gradient with differences."""
    names = load(f"{seed}", text)
    f, notes = names["f"], names["NOTES"]
    try:
        for x in POINTS:
            outcome(f, notes, x)
    except RecursionError:
        return Verdict("endless")
    made = specialised(read_source(f), read_source)
    if made is not None:
        for x in POINTS:
            wanted, got = outcome(f, notes, x), outcome(made.source.function, notes, x)
            if repr(wanted) != repr(got):
                return Verdict("failed", f"does {got[:3]}\n instead of {wanted[:3]}")
    gradient = "right"
    silent = load(f"{seed}_silent", text.replace(*SILENT))["f"]
    for x in POINTS:
        if outcome(f, notes, x)[0] == "raised":
            continue
        try:
            got = grad(silent)(x.copy())
        except S2SADError as error:
            gradient = "refused " + str(error).splitlines()[0].partition("error: ")[2][-60:]
            break
        try:
            wanted = [numeric_gradient(silent, [x], step=h) for h in (2e-3, 7e-4)]
        except Exception:
            continue
        if not np.allclose(*wanted, rtol=1e-6, atol=1e-7):
            gradient = "undecided"
        elif not np.allclose(got, wanted[0], rtol=1e-5, atol=1e-6):
            return Verdict("failed", f"gradient {got} instead of {wanted[0]} at {x}")
    return Verdict("stays" if made is None else "same", "", gradient)


def run_one(seed: int, write: Callable[[int], str] = generate) -> tuple[str, Verdict]:
    """A program and how it is judged."""
    text = write(seed)
    try:
        return text, judge(seed, text)
    except Exception:
        return text, Verdict("failed", traceback.format_exc())
    finally:
        for title in (f"{seed}", f"{seed}_silent"):
            linecache.cache.pop(f"<random_objects_{title}>", None)


def main(argv: list[str] | None = None, write: Callable[[int], str] = generate) -> int:
    """Runs many programs; the exit status is 1 if one failed."""
    parser = argparse.ArgumentParser(description="Compare what the specialiser leaves of random programs with Python.")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=pathlib.Path, help="folder for failing programs")
    parser.add_argument("--show", action="store_true", help="print the program of the seed and stop")
    options = parser.parse_args(argv)
    if options.show:
        print(write(options.seed))
        return 0
    tally: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.count):
        text, verdict = run_one(seed, write)
        tally[verdict.kind] += 1
        if verdict.gradient:
            tally[f"  {verdict.kind}, gradient {verdict.gradient}"] += 1
        if verdict.kind == "failed":
            print(seed, verdict.message.strip().splitlines()[-1][:160])
            if options.out:
                options.out.mkdir(parents=True, exist_ok=True)
                (options.out / f"failure_{seed}.py").write_text(text + f"\n'''{verdict.message}'''\n")
    for kind, count in tally.most_common(30):
        print(f"{count:6d} {kind}")
    return 1 if tally["failed"] else 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
