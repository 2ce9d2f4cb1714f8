"""Random programs with lists of numbers in lists and dicts, which several names hold, and into which numbers are put.

Each is a function ``f`` of an array of four numbers.
"""

from __future__ import annotations

from random import Random

HEAD = """def put(table, i, value):
    table[i][0] = value
    return table[i][-1]


def f(x):
    total = 0.0
"""


class Writer:
    """Writes a program; ``tables`` hold lists of three numbers or more, ``rows`` are such lists, ``groups`` dicts."""

    def __init__(self, seed: int, of_changes: bool = False) -> None:
        self.random, self.of_changes = Random(seed), of_changes
        self.tables: list[str] = []
        self.rows: list[str] = []
        self.groups: list[str] = []
        self.lines: list[str] = []
        self.made = 0

    def program(self) -> str:
        """The text of the function."""
        self.table("    ")
        for _ in range(self.random.randrange(3, 10)):
            self.statement("    ")
        last = self.random.choice(self.tables)
        reads = [f"sum({last}[0])", f"{last}[1][2] * {last}[-1][0]", f"np.sum(np.array({last}[2]) ** 2)"]
        return HEAD + "".join(self.lines) + f"    return total + {self.random.choice(reads)}\n"

    def write(self, indent: str, text: str) -> None:
        self.lines.append(f"{indent}{text}\n")

    def new(self, stem: str) -> str:
        self.made += 1
        return f"{stem}{self.made}"

    def number(self, indices: str = "") -> str:
        """A number."""
        at = self.random.choice([*"0123", *indices])
        other = self.random.choice([*"012", *indices])
        table, plain = (
            self.random.choice(self.tables or [""]),
            [f"x[{at}]", f"x[{at}] * x[{other}]", "0.5", f"x[{at}] ** 2"],
        )
        if not table:
            return self.random.choice(plain)
        held = [f"{table}[{other}][{self.index(indices)}]", f"{table}[{other}][0] * x[{at}]", f"np.sin({table}[-1][1])"]
        if self.rows:
            held.append(f"{self.random.choice(self.rows)}[{self.index(indices)}]")
        return self.random.choice([*plain, *held])

    def index(self, indices: str = "") -> str:
        return self.random.choice(["0", "1", "2", "-1", "-2", *indices])

    def row(self) -> str:
        """The text of a list of three numbers."""
        rows = [
            "[0.0] * 3", "[x[0], 0.0, x[1]]", "[v * v for v in x[:3]]", "list(x[1:])", "[1, 2, 3]", "[0.0, 1.0, 2.0]",
        ]  # fmt: skip
        if self.rows:
            name = self.random.choice(self.rows)
            rows += [name, f"list({name})", f"{name}[:3]", f"{name}.copy()"]
        if self.tables:
            rows += [f"{self.random.choice(self.tables)}[{self.index()}]"]
        return self.random.choice(rows)

    def table(self, indent: str) -> None:
        """A new list or tuple of lists."""
        name = self.new("t")
        made = [
            "[[0.0] * 3 for _ in range(3)]", "[[x[i] * x[j] for j in range(3)] for i in range(3)]",
            f"[{self.row()}, {self.row()}, {self.row()}]", f"({self.row()}, {self.row()}, {self.row()})",
            f"[{self.row()}] * 3", "[[0] * 3, [0.0] * 3, [x[0]] * 3]",
        ]  # fmt: skip
        if self.tables:
            old = self.random.choice(self.tables)
            made += [
                f"list({old})",
                f"{old}[:]",
                f"[r[:] for r in {old}]",
                f"[r for r in {old}]",
                old,
                f"copy.deepcopy({old})",
            ]
        if self.random.random() < 0.25:
            self.write(indent, f"{name} = []")
            self.write(indent, "for i in range(3):")
            self.write(indent, f"    row = {self.random.choice(['[]', '[x[i]]'])}")
            self.write(indent, "    for j in range(3):")
            self.write(indent, f"        row.append({self.number('ij')})")
            self.write(indent, f"    {name}.append(row)")
        else:
            self.write(indent, f"{name} = {self.random.choice(made)}")
        self.tables.append(name)

    def statement(self, indent: str, indices: str = "") -> None:
        kinds = ["put", "table", "row", "group", "read", "loop", "branch", "append", "call"]
        kind = self.random.choices(kinds, [8, 1, 3, 1, 5, 2, 1, 2, 1])[0]
        if self.of_changes and self.random.random() < 0.4:
            kind = "change"
        nested = len(indent) > 8
        if kind in ("loop", "branch") and nested:
            kind = "put"
        if kind in ("table", "row", "group") and len(indent) > 4:
            kind = "put"
        if kind == "put":
            self.put(indent, indices)
        elif kind == "table":
            self.table(indent)
        elif kind == "row":
            name = self.new("r")
            self.write(indent, f"{name} = {self.row()}")
            self.rows.append(name)
        elif kind == "group":
            name = self.new("d")
            self.write(indent, f'{name} = {{"a": {self.row()}, "b": [], "c": {self.row()}}}')
            self.groups.append(name)
        elif kind == "read":
            self.read(indent, indices)
        elif kind == "append":
            self.append(indent, indices)
        elif kind == "change":
            self.change(indent, indices)
        elif kind == "call":
            self.write(
                indent, f"total += put({self.random.choice(self.tables)}, {self.index()}, {self.number(indices)})"
            )
        elif kind == "loop":
            self.loop(indent, indices)
        else:
            self.write(indent, f"if x[{self.random.randrange(4)}] {self.random.choice('<>')} 0.6:")
            for _ in range(self.random.randrange(1, 3)):
                self.statement(indent + "    ", indices)

    def place(self, indices: str) -> str:
        """An item of a list that something holds."""
        places = [f"{self.random.choice(self.tables)}[{self.index(indices)}][{self.index(indices)}]"] * 3
        if self.rows:
            places += [f"{self.random.choice(self.rows)}[{self.index(indices)}]"] * 2
        if self.groups:
            places.append(f'{self.random.choice(self.groups)}["{self.random.choice("ac")}"][{self.index(indices)}]')
        return self.random.choice(places)

    def put(self, indent: str, indices: str) -> None:
        symbol = self.random.choice(["=", "=", "=", "+=", "-=", "*="])
        self.write(indent, f"{self.place(indices)} {symbol} {self.number(indices)}")

    def append(self, indent: str, indices: str) -> None:
        whole = f"{self.random.choice(self.tables)}[{self.index(indices)}]"
        if self.groups and self.random.random() < 0.6:
            whole = f'{self.random.choice(self.groups)}["{self.random.choice("abc")}"]'
        elif self.rows and self.random.random() < 0.4:
            whole = self.random.choice(self.rows)
        self.write(indent, f"{whole}.append({self.number(indices)})")

    def change(self, indent: str, indices: str) -> None:
        """Statements after which other items stand in a list, and what is made of items one by one."""
        table, value, i, j = self.random.choice(self.tables), self.number(indices), self.index(indices), self.index()
        row = self.random.choice(self.rows) if self.rows and self.random.random() < 0.5 else f"{table}[{i}]"
        texts = [
            f"{table}[{i}], {table}[{j}] = {table}[{j}], {table}[{i}]",
            f"{row}[{i}], {row}[{j}] = {row}[{j}], {row}[{i}]",
            f"{row}[1:3] = [{value}, total]",
            f"{row}[1:] = [v * x[2] for v in {row}[1:]]",
            f"{row}.insert(1, {value})\n{indent}del {row}[0]",
            f"{row}.{self.random.choice(['sort()', 'sort(reverse=True)', 'reverse()', 'sort(key=lambda v: -v)'])}",
            f"for r in {table}:\n{indent}    r.append({value})\n{indent}    r.pop(0)",
            (
                f"m, k = {self.random.choice(['min', 'max'])}((sum(r), k) for k, r in enumerate({table}))\n"
                f"{indent}total += m * (k + 1) * x[1]"
            ),
            f"w = list({table}[{j}])\n{indent}w.append({value})\n{indent}total += w[-1] * w[1]",
            (
                f"q = deque({row}, maxlen=3)\n{indent}q.append({value})\n{indent}q.append(x[0])\n"
                f"{indent}total += q[0] * q[1]"
            ),
            (
                f"c = defaultdict(float)\n{indent}for k, v in enumerate({row}):\n{indent}    c[k % 2] += v\n"
                f"{indent}total += c[0] * c[1]"
            ),
            (
                f"best = None\n{indent}for r in {table}:\n{indent}    if best is None or r[0] > best[0]:\n"
                f"{indent}        best = (r[0], r[-1])\n{indent}total += best[0] * best[1]"
            ),
        ]
        self.write(indent, self.random.choice(texts))

    def read(self, indent: str, indices: str) -> None:
        table = self.random.choice(self.tables)
        reads = [
            f"total += {self.number(indices)}", f"total += {self.place(indices)} * x[0]", f"total += sum({table}[1])",
            f"total = total * 0.5 + len({table}[0]) * {self.place(indices)}",
            f"for r in {table}:\n{indent}    total += r[0] * r[-1]",
            f"for r in {table}:\n{indent}    for v in r:\n{indent}        total += v * x[1]",
            f"for k, r in enumerate({table}):\n{indent}    r[k] = r[k] * 0.5 + total",
            f"total += np.sum(np.array({table}[0]) * 2)",
        ]  # fmt: skip
        self.write(indent, self.random.choice(reads))

    def loop(self, indent: str, indices: str) -> None:
        index = "i" if "i" not in indices else "j"
        self.write(indent, f"for {index} in range({self.random.choice(['3', 'len(x) - 1', '1, 3'])}):")
        for _ in range(self.random.randrange(1, 4)):
            self.statement(indent + "    ", indices + index)


def program(seed: int, of_changes: bool = False) -> str:
    """The text of the functions of a seed; some have further changes of lists."""
    return Writer(seed, of_changes).program()
