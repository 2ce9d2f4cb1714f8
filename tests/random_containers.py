"""Random programs with lists, dicts and other containers beside functions and objects (see `tests.random_objects`).

    python -m tests.random_containers --count 5000 --seed 0 [--out /some/folder] [--show]

Lists and dicts have several names, are passed to functions that change them, held by objects and closures, changed in
branches and loops, gone through while they change.
"""

from __future__ import annotations

import sys

import numpy as np

from tests.random_objects import Scope, Writer, main

KEYS = ("p", "q", "r")


class ContainerWriter(Writer):
    """Writes one program."""

    def number(self, s: Scope, depth: int = 2) -> str:
        if depth and (s.rows or s.dicts) and self.chance(0.4):
            return self.of_container(s, depth)
        return super().number(s, depth)

    def of_container(self, s: Scope, depth: int) -> str:
        """A number out of a list or dict."""
        row, table = self.pick(s.rows or [""]), self.pick(s.dicts or [""])
        inner = s.inside(numbers=[*s.numbers, "e"])
        kinds = ["item", "item", "sum", "comprehension", "size", "pairs", "reduce", "map", "next", "sorted", "pop"]
        of_dicts = ["key", "key", "get", "values", "items", "setdefault", "pop_key", "in", "made"]
        kind = self.pick(kinds if row and (not table or self.chance(0.5)) else of_dicts)
        match kind:
            case "item":
                return f"{row}[{self.pick([0, 0, -1, 1])}]"
            case "sum":
                return f"0.2 * sum({row})"
            case "comprehension":
                return f"0.2 * sum([{self.number(inner, depth - 1)} for e in {row}])"
            case "size":
                return f"0.1 * len({self.pick([row, f'{row}[1:]', f'[e for e in {row}]'])})"
            case "pairs":
                return f"0.1 * sum(a * b for a, b in zip({row}, {self.pick([f'reversed({row})', f'{row}[1:]', 'x'])}))"
            case "reduce":
                return f"np.tanh(functools.reduce(lambda a, b: a * 0.5 + b, {row}))"
            case "map" if s.functions:
                return f"0.2 * sum(map({self.pick(s.functions)}, {row}))"
            case "next":
                return f"next(iter({row}), 0.5)"
            case "sorted":
                return f"[e for e, _ in sorted(zip({row}, [3, 1, 2]), key=lambda p: p[1])][0]"
            case "pop":
                return f"{row}.pop({self.pick(['', '0', '-1'])})"
            case "key":
                return f"{table}[{self.pick(KEYS)!r}]"
            case "get":
                return f"{table}.get({self.pick([*KEYS, 's'])!r}, {self.number(s, 0)})"
            case "values":
                return f"0.2 * sum({table}.values())"
            case "items":
                return f"0.2 * sum(v * len(k) for k, v in {table}.items())"
            case "setdefault":
                return f"{table}.setdefault({self.pick([*KEYS, 's'])!r}, {self.number(s, 0)})"
            case "pop_key":
                return f"{table}.pop('s', {self.number(s, 0)})"
            case "in":
                return f"({self.number(s, 0)} if 's' in {table} else {self.number(s, 0)})"
            case "made":
                return f"{{**{table}, 'p': {self.number(s, 0)}}}[{self.pick(KEYS)!r}]"
        return str(self.pick(s.numbers))

    def statement(self, s: Scope) -> None:
        if not self.chance(0.45):
            super().statement(s)
            return
        kinds = ["row", "dict"] + ["row_alias", "row_change", "row_change", "row_loop", "row_copy"] * bool(s.rows)
        kinds += ["dict_alias", "dict_change", "dict_change", "dict_loop", "dict_copy"] * bool(s.dicts)
        kinds += ["held"] * bool(s.rows and s.objects) + ["passed"] * bool(s.rows and s.dicts)
        match self.pick(kinds):
            case "row":
                items = [self.number(s, 1) for _ in range(self.random.randint(1, 3))]
                value = self.pick([f"[{', '.join(items)}]", f"list(({', '.join(items)},))", f"[*{(items[0],)!s}]"])
                if value.startswith("[*"):
                    value = f"[{items[0]}] * 2"
                self.line(f"{(name := self.fresh('r'))} = {value}")
                s.rows.append(name)
            case "dict":
                pairs = ", ".join(f"{key!r}: {self.number(s, 1)}" for key in KEYS)
                made = f"dict(p={self.number(s, 1)}, q={self.number(s, 0)}, r=0.5)"
                self.line(f"{(name := self.fresh('d'))} = {self.pick([f'{{{pairs}}}', made])}")
                s.dicts.append(name)
            case "row_alias":
                self.line(f"{(name := self.fresh('r'))} = {self.pick(s.rows)}")
                s.rows.append(name)
            case "dict_alias":
                self.line(f"{(name := self.fresh('d'))} = {self.pick(s.dicts)}")
                s.dicts.append(name)
            case "row_copy":
                row = self.pick(s.rows)
                copies = [f"{row}[:]", f"{row}.copy()", f"list({row})", f"{row} + [0.25]", f"[e * 0.5 for e in {row}]"]
                copies += [f"[e for e in {row} if e > 0.1] or [0.5]", f"sorted({row}, key=lambda e: 1)"]
                self.line(f"{(name := self.fresh('r'))} = {self.pick(copies)}")
                s.rows.append(name)
            case "dict_copy":
                table = self.pick(s.dicts)
                copies = [f"dict({table})", f"{table}.copy()", f"{{k: v * 0.5 for k, v in {table}.items()}}"]
                copies += [f"{{**{table}, 'q': {self.number(s, 0)}}}", f"dict(zip({table}, {table}.values()))"]
                self.line(f"{(name := self.fresh('d'))} = {self.pick(copies)}")
                s.dicts.append(name)
            case "row_change":
                self.row_change(s, self.pick(s.rows))
            case "dict_change":
                self.dict_change(s, self.pick(s.dicts))
            case "row_loop" if s.depth < 4:
                row, name = self.pick(s.rows), self.fresh("e")
                heads = [f"for {name} in {row}:", f"for _, {name} in enumerate({row}):"]
                heads += [f"for {name}, _ in zip({row}, list({row})):", f"for {name} in list({row}):"]
                with self.block(self.pick(heads)):
                    inner = s.inside(loop=self.chance(0.3))
                    inner.numbers.append(name)
                    # A list that grows in a loop over itself might do so for ever.
                    with self.block(f"if len({row}) > 8:"):
                        self.line("break")
                    self.body(inner, self.random.randint(1, 2))
            case "dict_loop" if s.depth < 4:
                table, key, name = self.pick(s.dicts), self.fresh("k"), self.fresh("e")
                with self.block(f"for {key}, {name} in {self.pick(['', 'list'])}({table}.items()):"):
                    inner = s.inside(loop=self.chance(0.3))
                    inner.numbers.append(name)
                    if self.chance(0.5):
                        self.line(f"{table}[{key}] = 0.5 * {self.number(inner, 1)}")
                    self.body(inner, 1)
            case "held":
                one, row = self.pick(s.objects), self.pick(s.rows)
                self.line(f"{one}.held = {row}")
                self.line(f"{one}.held.append({self.number(s, 0)})")
            case "passed":
                self.line(f"changes({self.pick(s.rows)}, {self.pick(s.dicts)}, {self.number(s, 0)})")
            case _:
                self.line("pass")

    def row_change(self, s: Scope, row: str) -> None:
        value = self.number(s, 1)
        changes = [f"{row}.append({value})", f"{row}[0] = {value}", f"{row}[-1] = {value}", f"{row}[0] += {value}"]
        changes += [f"{row}.insert({self.random.randint(-1, 2)}, {value})", f"{row}.extend([{value}, 0.5])"]
        changes += [f"{row}.reverse()", f"{row} += [{value}]", f"{row}[1:] = [{value}]", f"{row}.append({row}[0])"]
        changes += [f"del {row}[0]", f"{row}[:1] = [{value}, 0.25]"]
        self.line(self.pick(changes))

    def dict_change(self, s: Scope, table: str) -> None:
        value, key = self.number(s, 1), self.pick([*KEYS, "s"])
        changes = [f"{table}[{key!r}] = {value}", f"{table}['q'] = {value}", f"{table}['r'] += {value}"]
        changes += [
            f"{table}.update({{{key!r}: {value}}})",
            f"{table}.update(p={value})",
            f"{table} |= {{'s': {value}}}",
        ]
        changes += [f"{table}.pop({key!r}, None)", f"{table}['p'], {table}['q'] = {table}['q'], {table}['p']"]
        self.line(self.pick(changes))

    def module(self) -> str:
        text = super().module()
        helper = Writer(self.random.randint(0, 10**9))
        value = helper.number(Scope(["t", "d['p']", "r[0]"]), 2)
        lines = [
            "def changes(r, d, t, seen=()):",
            f"    r.append({value})",
            f"    d['q'] = {helper.number(Scope(['t', 'r[-1]']), 2)}",
            *(["    if t > 0.1:", "        d['s'] = t", "        return r[0]"] if self.chance(0.5) else []),
            "    return d['q']",
        ]
        return text.replace("def f(x):", "\n".join([*lines, "", "def f(x):"]), 1)


def generate(seed: int) -> str:
    """The text of a program."""
    return ContainerWriter(seed).module()


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main(write=generate))
