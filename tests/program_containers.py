"""Random programs over lists and dicts that change, of numbers and of arrays that may be written in place."""

from __future__ import annotations

import random

import numpy as np

from tests.program_writer import Program


class ContainerWriter:
    """Writes one function of a vector of four elements.

    Inside of loops and branches nothing is made that is read outside, and no list gets shorter than it is known to be.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0
        self.depth = 0
        self.numbers = ["x[0]", "x[1]", "x[2]", "x[3]", "0.5"]
        self.arrays = ["x"]
        #: Lists of numbers, and lists of arrays, with how long they are at least.
        self.of_numbers: dict[str, int] = {}
        self.of_arrays: dict[str, int] = {}
        self.dicts: list[str] = []
        self.counters: list[str] = []

    def program(self, size: int) -> Program:
        """A program of about ``size`` statements."""
        for _ in range(size):
            self.statement()
        numbers = " + ".join(self.number() for _ in range(3))
        self.emit(f"return {numbers} + np.sum({self.array()} * {self.array()})")
        source = "\n".join(["import numpy as np", "", "", "def f(x):", *self.lines, ""])
        return Program(self.seed, source, (), (np.array([0.3, -0.6, 0.5, 0.7]),), (0,), 3, size)

    def emit(self, line: str) -> None:
        self.lines.append("    " * (self.depth + 1) + line)

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    # --- expressions

    def place(self, length: int) -> str:
        """An index into a list of at least this length."""
        here = [str(self.random.randrange(length)), str(-1 - self.random.randrange(length))]
        return self.random.choice([*here, *(f"{counter} % {length}" for counter in self.counters)])

    def item(self, lists: dict[str, int]) -> str:
        name = self.random.choice(list(lists))
        return f"{name}[{self.place(lists[name])}]"

    def number(self, depth: int = 0) -> str:
        forms = [lambda: self.random.choice(self.numbers)] * 2
        if depth < 2:
            forms.append(
                lambda: f"np.sin({self.number(depth + 1)} {self.random.choice('+-*')} {self.number(depth + 1)})"
            )
            if self.of_numbers:
                one = self.random.choice(list(self.of_numbers))
                forms += [lambda: self.item(self.of_numbers)] * 2
                forms += [lambda: f"np.sum(np.array({one}))", lambda: f"sum({one})"]
            if self.of_arrays:
                other = self.random.choice(list(self.of_arrays))
                forms.append(lambda: f"np.sum({self.item(self.of_arrays)} * {self.array(2)})")
                forms.append(lambda: f"np.sum(np.stack({other}) * {self.array(2)})")
            if self.dicts:
                forms.append(lambda: f'{self.random.choice(self.dicts)}["p"]')
        return self.random.choice(forms)()

    def array(self, depth: int = 0) -> str:
        forms = [lambda: self.random.choice(self.arrays)] * 2
        if depth < 2:
            forms.append(
                lambda: f"np.sin({self.array(depth + 1)} {self.random.choice('+-*')} {self.number(depth + 1)})"
            )
            forms.append(lambda: f"np.sin({self.array(depth + 1)} {self.random.choice('+-*')} {self.array(depth + 1)})")
            if self.of_arrays:
                forms += [lambda: self.item(self.of_arrays)] * 2
            if self.dicts:
                forms.append(lambda: f'{self.random.choice(self.dicts)}["q"]')
        return self.random.choice(forms)()

    # --- statements

    def statement(self) -> None:
        forms = [
            self.append,
            self.append,
            self.store,
            self.store,
            self.store,
            self.store,
            self.write,
            self.swap,
            self.pop,
        ]
        if self.depth == 0:
            forms += [self.name, self.name, self.make, self.make, self.make, self.another]
        if self.depth < 2:
            forms += [self.loop, self.branch]
        self.random.choice(forms)()

    def name(self) -> None:
        if self.chance(0.5):
            name = self.fresh("n")
            self.emit(f"{name} = {self.number()} * 1.0")
            self.numbers.append(name)
        else:
            name = self.fresh("a")
            self.emit(f"{name} = {self.array()}{' * 1.0' if self.chance(0.7) else ''}")
            self.arrays.append(name)

    def make(self) -> None:
        length = self.random.randrange(1, 4)
        kind = self.random.choice("hgd")
        name = self.fresh(kind)
        if kind == "h":
            self.emit(f"{name} = [{', '.join(self.number() for _ in range(length))}]")
            self.of_numbers[name] = length
        elif kind == "g":
            items = [self.array() + self.random.choice(["", " * 1.0"]) for _ in range(length)]
            self.emit(f"{name} = [{', '.join(items)}]")
            self.of_arrays[name] = length
        else:
            self.emit(f'{name} = {{"p": {self.number()}, "q": {self.array()} * 1.0}}')
            self.dicts.append(name)

    def another(self) -> None:
        """Another name, or a copy, of a list."""
        if self.of_numbers and self.chance(0.5):
            old, new = self.random.choice(list(self.of_numbers)), self.fresh("h")
            form = self.random.choice(["{}.copy()", "{} + [x[1]]", "{0} + {0}", "[x[0]] + {}[1:]", "{}"])
            self.emit(f"{new} = {form.format(old)}")
            self.of_numbers[new] = self.of_numbers[old]
        elif self.of_arrays:
            old, new = self.random.choice(list(self.of_arrays)), self.fresh("g")
            form = self.random.choice(["{}.copy()", "{}[::-1]", "{} + [x * 2.0]", "{0} * 2"])
            self.emit(f"{new} = {form.format(old)}")
            self.of_arrays[new] = self.of_arrays[old]

    def lists(self) -> tuple[dict[str, int], str] | None:
        """The lists of numbers or of arrays, and something to put into one."""
        found = [
            (lists, value) for lists, value in ((self.of_numbers, self.number), (self.of_arrays, self.array)) if lists
        ]
        if not found:
            return None
        lists, value = self.random.choice(found)
        return lists, value()

    def append(self) -> None:
        chosen = self.lists()
        if chosen is not None:
            lists, value = chosen
            name = self.random.choice(list(lists))
            self.emit(
                self.random.choice([f"{name}.append({value})", f"{name}.append({value})", f"{name} += [{value}]"])
            )
            lists[name] += self.depth == 0

    def store(self) -> None:
        """An item that is replaced, or changed in place."""
        symbol = self.random.choice(["", "", "+", "*", "-"])
        chosen = self.lists()
        if self.dicts and (chosen is None or self.chance(0.3)):
            key, value = self.random.choice([("p", self.number()), ("q", self.array())])
            self.emit(f'{self.random.choice(self.dicts)}["{key}"] {symbol}= {value}')
        elif chosen is not None:
            self.emit(f"{self.item(chosen[0])} {symbol}= {chosen[1]}")

    def write(self) -> None:
        """A store into an array."""
        wholes = self.arrays[1:]
        if self.of_arrays:
            wholes = [*wholes, self.item(self.of_arrays), self.item(self.of_arrays)]
        if wholes:
            index, symbol = self.random.choice(["1", ":2", "1:", "..."]), self.random.choice(["", "+", "*"])
            self.emit(f"{self.random.choice(wholes)}[{index}] {symbol}= {self.number()}")

    def swap(self) -> None:
        names = [n for lists in (self.of_numbers, self.of_arrays) for n, length in lists.items() if length > 1]
        if names:
            name = self.random.choice(names)
            self.emit(f"{name}[0], {name}[1] = {name}[1], {name}[0]")

    def pop(self) -> None:
        chosen = self.lists()
        if chosen is None:
            return
        lists, value = chosen
        name = self.random.choice(list(lists))
        item = self.fresh("n" if lists is self.of_numbers else "a")
        if self.depth:
            self.emit(f"{name}.append({value})")
            self.emit(f"{item} = {name}.pop()")
            self.emit(f"{name}[0] = {name}[0] + {item}")
        elif lists[name] > 1:
            self.emit(f"{item} = {name}.pop({self.random.choice(['', '0', '-1'])})")
            lists[name] -= 1
            (self.numbers if lists is self.of_numbers else self.arrays).append(item)

    def block(self) -> None:
        start = len(self.lines)
        self.depth += 1
        for _ in range(self.random.randrange(1, 4)):
            self.statement()
        if len(self.lines) == start:
            self.emit("pass")
        self.depth -= 1

    def loop(self) -> None:
        counter = self.fresh("i")
        self.emit(f"for {counter} in range({self.random.randrange(2, 4)}):")
        self.counters.append(counter)
        self.block()
        self.counters.pop()

    def branch(self) -> None:
        self.emit(f"if {self.number(2)} > 0.1:")
        self.block()
        if self.chance(0.5):
            self.emit("else:")
            self.block()
