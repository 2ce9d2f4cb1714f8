"""Random programs of operations that work element by element and of those that leave elements out.

Each is a function of two arrays and a number that are differentiated, and of two arrays of numbers that say where the
masks ``c`` and ``d`` are true.
"""

from __future__ import annotations

from random import Random

HEAD = """def f(x, w, s, first, second):
    c, d = first > 0, second > 0
    x, w, total = x * 1.0, w * 1.0, 0.0
"""


class Writer:
    """Writes a program; ``pool`` are the names of its arrays so far."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.pool = ["x", "w"]
        self.lines: list[str] = []
        self.made = 0

    def program(self) -> str:
        """The text of the function."""
        for _ in range(self.random.randrange(3, 10)):
            self.statement("    ")
        a, b = self.random.choice(self.pool), self.random.choice(self.pool)
        result = f"    return total + np.sum({self.pool[-1]} * np.cos({a})) + np.sum({b})\n"
        return HEAD + "".join(self.lines) + result

    def name(self) -> str:
        return self.random.choice([*self.pool[-5:], *self.pool[:2]])

    def mask(self) -> str:
        return self.random.choice(["c", "d", "~c", "c & d"])

    def value(self, depth: int = 0) -> str:
        """An operation that works element by element."""
        a, b = self.name(), self.name()
        if depth < 2 and self.random.random() < 0.4:
            a = f"({self.value(depth + 1)})"
        return self.random.choice([
            f"{a} + {b}", f"{a} - {b}", f"{a} * {b}", f"{a} / (1.5 + {b}**2)", f"{a} - 2 * {b}", f"s * {a}", f"-{a}",
            f"2 * {a}", f"np.sin({a})", f"np.exp(-({a} ** 2))", f"np.abs({a})", f"np.sqrt(1 + {a}**2)",
        ])  # fmt: skip

    def selected(self) -> str:
        """An operation that leaves elements out."""
        a, b, e = (self.name() if self.random.random() < 0.5 else f"({self.value(1)})" for _ in range(3))
        m, n = self.mask(), self.mask()
        return self.random.choice([
            f"np.where({m}, {a}, {b})", f"np.where({m}, 0.0, {a})", f"np.where({m}, {a}, 0.5)", f"np.fmax({a}, {b})",
            f"np.where({m}, {a}, {a} - {b})", f"np.where({m}, np.where({n}, {a}, {b}), {e})", f"np.maximum({a}, {b})",
            f"np.minimum({a}, 0.3)", f"np.clip({a}, -0.5, 0.5)", f"np.select([{m}, {n}], [{a}, {b}], {e})",
            f"np.nan_to_num({a})",
        ])  # fmt: skip

    def summed(self) -> str:
        """A sum of some elements."""
        a = self.name()
        return self.random.choice([
            f"np.sum({a}[c] ** 2)", f"np.sum({a}[d] * {self.name()}[d])", f"np.nansum({a} * {self.name()})",
            f"np.sum({a}, where={self.mask()})", f"np.mean({a}, where=c | d)", f"np.sum({a} * {self.name()})",
        ])  # fmt: skip

    def write(self, indent: str, text: str) -> None:
        self.lines.append(f"{indent}{text}\n")

    def let(self, indent: str, value: str) -> str:
        """Give a value a new name."""
        self.made += 1
        name = f"v{self.made}"
        self.write(indent, f"{name} = {value}")
        self.pool.append(name)
        return name

    def statement(self, indent: str) -> None:
        kind = self.random.choices(["value", "selected", "stored", "summed", "loop", "branch"], [6, 7, 3, 3, 1, 1])[0]
        nested = len(indent) > 4
        if kind == "value":
            self.let(indent, self.value())
        elif kind == "stored":
            self.stored(indent)
        elif kind == "summed":
            self.write(indent, f"total = total + {self.summed()}")
        elif kind == "loop" and not nested:
            last = self.random.choice(self.pool)
            self.write(indent, "for _ in range(2):")
            self.block(indent, last)
        elif kind == "branch" and not nested:
            before = list(self.pool)
            self.write(indent, f"if s {self.random.choice('<>')} 0.0:")
            self.block(indent, self.random.choice(before))
            self.pool = before
        else:
            self.let(indent, self.selected())

    def block(self, indent: str, last: str) -> None:
        """Some statements within another, of which the last changes an array from before."""
        for _ in range(self.random.randrange(1, 4)):
            self.statement(indent + "    ")
        self.write(indent, f"    {last} = {self.pool[-1]} * 0.5 + {last}")

    def stored(self, indent: str) -> None:
        """A new array of which some elements are replaced, and perhaps read before."""
        name = self.let(indent, f"({self.value()}) * 1.0" if self.random.random() < 0.5 else f"{self.name()}.copy()")
        for _ in range(self.random.randrange(1, 3)):
            if self.random.random() < 0.25:
                self.write(indent, f"total = total + np.sum({name} * {self.name()})")
            stores = ["[c] = 0.3", f"[d] = {self.name()}[d]", f"[0] = {self.name()}[1]", "[-1] = 0.0", "[1:3] *= 2.0"]
            self.write(indent, name + self.random.choice(stores))


def program(seed: int) -> str:
    """The text of the function ``f`` of a seed."""
    return Writer(seed).program()
