"""Random statements that write into arrays: stores, aliases, views, containers and NumPy's writing functions."""

from __future__ import annotations

from collections.abc import Callable

from tests.program_expressions import SCALAR, SHAPES, ExpressionWriter, Scope, Shape

#: Forms that read a name as it may stand in an expression or on the left of a store, and the shape that they have.
Forms = list[tuple[str, Shape]]


def views(shape: Shape) -> Forms:
    """Views of an array of this shape (a few are copies where NumPy cannot view)."""
    if len(shape) == 1:
        (n,) = shape
        return [
            ("{0}[::-1]", (n,)),
            ("{0}[:, None]", (n, 1)),
            ("{0}[None]", (1, n)),
            ("{0}.reshape(-1, 1)", (n, 1)),
            (f"np.reshape({{0}}, (1, {n}))", (1, n)),
            ("np.asarray({0})", (n,)),
            ("{0}[:]", (n,)),
            ("{0}[::2]", ((n + 1) // 2,)),
            *([("{0}[1:]", (n - 1,)), ("{0}[:-1]", (n - 1,))] if n > 1 else []),
        ]
    n, m = shape
    return [
        ("{0}.T", (m, n)),
        ("np.transpose({0})", (m, n)),
        ("{0}.swapaxes(0, 1)", (m, n)),
        ("{0}[0]", (m,)),
        ("{0}[-1]", (m,)),
        ("{0}[:, 0]", (n,)),
        ("{0}[:, -1]", (n,)),
        ("{0}[::-1]", (n, m)),
        ("{0}[:1]", (1, m)),
        ("{0}[:, :1]", (n, 1)),
        ("{0}.ravel()", (n * m,)),
        ("np.ravel({0})", (n * m,)),
        ("{0}.reshape(-1)", (n * m,)),
        (f"{{0}}.reshape({m}, {n})", (m, n)),
        ("{0}.T.ravel()", (n * m,)),
        (f"{{0}}.T.reshape({n}, {m})", (n, m)),
        *([("{0}[:, 1:]", (n, m - 1)), ("{0}[:, :-1]", (n, m - 1))] if m > 1 else []),
        *([("{0}[1:]", (n - 1, m))] if n > 1 else []),
    ]


class BufferWriter(ExpressionWriter):
    """Writes statements that write into arrays, or make other names for arrays that are written."""

    def store(self, scope: Scope) -> None:
        """One statement, or a few that belong together."""
        arrays = self.arrays(scope)
        if not arrays:
            self.make(scope)
            return
        forms: list[tuple[int, Callable[[Scope, str, Shape], None]]] = [
            (2, lambda scope, name, shape: self.make(scope)),
            (3, self.alias),
            (5, self.view),
            (2, self.conditional_alias),
            (1, self.end_alias),
            (3, self.augment),
            (9, self.write_part),
            (2, self.write_overlap),
            (2, self.write_places),
            (6, self.writing_function),
            (3, self.container),
            (5, self.use_container),
            (3, self.split),
        ]
        chosen = self.random.choices([f for _, f in forms], [w for w, _ in forms])[0]
        chosen(scope, *self.pick(arrays))

    def arrays(self, scope: Scope) -> Forms:
        """What names an array that may be written."""
        return [(n, s) for n, s in {**scope.shapes, **scope.read_only}.items() if s]

    # -- places and values ----------------------------------------------------------------------------------------

    def row(self, scope: Scope, length: int) -> str:
        fitting = [i for i, bound in scope.indices.items() if bound <= length]
        return str(self.pick(fitting)) if fitting and self.chance(0.6) else str(self.random.randrange(-length, length))

    def part(self, scope: Scope, name: str, shape: Shape) -> tuple[str, Shape]:
        """A part of an array by basic indices: one element, a slice, a row, a column, a block."""
        if self.chance(0.35):
            return self.element(scope, name, shape), SCALAR
        if len(shape) == 1:
            n = shape[0]
            forms = [("1:", n - 1), (":-1", n - 1), ("::2", (n + 1) // 2), ("::-1", n), (":", n), ("1:-1", n - 2)]
            text, length = self.pick([f for f in forms if f[1] > 0])
            return f"{name}[{text}]", (length,)
        n, m = shape
        i, j = self.row(scope, n), self.row(scope, m)
        parts: Forms = [
            (f"{name}[{i}]", (m,)),
            (f"{name}[{i}, :]", (m,)),
            (f"{name}[:, {j}]", (n,)),
            (f"{name}[..., {j}]", (n,)),
            (f"{name}[{i}][::-1]", (m,)),
            (f"{name}.T[{j}]", (n,)),
            (f"{name}[:, ::2]", (n, (m + 1) // 2)),
        ]
        if n > 1 and m > 1:
            parts += [(f"{name}[1:, :-1]", (n - 1, m - 1)), (f"{name}[:-1, 1:]", (n - 1, m - 1))]
        if m > 2:
            parts += [(f"{name}[{i}, 1:-1]", (m - 2,))]
        text, result = self.pick(parts)
        return text, result

    def value(self, scope: Scope, shape: Shape) -> str:
        """A bounded expression that may be stored into a place of this shape."""
        if shape in SHAPES or shape == SCALAR:
            return self.bounded(self.expression(scope, self.narrower(shape), 2), shape)
        arrays = self.arrays(scope)
        tried = [self.part(scope, *self.pick(arrays)) for _ in range(8)] if arrays else []
        found = [text for text, s in tried if s == shape]
        scalar = self.leaf(scope, SCALAR)
        if not found:
            return self.bounded(scalar, SCALAR)
        one, two = self.pick(found), self.pick(found)
        form = self.pick(("{0}", "{2} * {0}", "{0} + {1}", "{0} * {1} + {2}", "0.5 * ({0} - {1})"))
        return self.bounded(form.format(one, two, scalar), shape)

    def whole(self, name: str) -> str:
        """The place that is all of an array."""
        return f"{name}[{self.pick((':', '...'))}]"

    def named(self, name: str) -> bool:
        """Whether augmented assignment may be to the name: a tuple's item cannot be assigned to."""
        return "[" not in name or name.startswith(("bufs", "state"))

    # -- stores ---------------------------------------------------------------------------------------------------

    def make(self, scope: Scope) -> None:
        name, shape = self.unused(scope), self.pick(self.common)
        like = self.names_of(scope, shape)
        forms = ["np.zeros({0})", "np.ones({0})", "np.empty({0})", "np.full({0}, 0.2)"]
        if like:
            forms += [
                "np.zeros_like({1})",
                "np.empty_like({1})",
                "{1}.copy()",
                "np.array({1})",
                "np.full_like({1}, 0.1)",
            ]
        made = self.pick(forms)
        text = made.format(repr(shape), self.pick(like) if like else "")
        if "empty" not in made:
            self.emit(f"{name} = {text}")
        elif self.chance(0.5):
            value = self.value(scope, shape)
            self.emit(f"{name} = {text}")
            self.emit(f"{self.whole(name)} = {value}")
        else:
            self.fill(scope, name, shape, text)
        self.bind(scope, name, shape)

    def fill(self, scope: Scope, name: str, shape: Shape, made: str) -> None:
        """Fill an empty array element by element, or row by row."""
        inner = scope.copy()
        inner.in_loop = True
        inner.shapes.pop(name, None)
        i, j = self.index(inner, shape[0]), ""
        rows = len(shape) == 1 or self.chance(0.4)
        if not rows:
            j = self.index(inner, shape[1])
        first = self.bounded(self.expression(inner, SCALAR if len(shape) == 1 or j else shape[1:], 2), shape[1:])
        self.emit(f"{name} = {made}")
        self.emit(f"for {i} in range({shape[0]}):")
        with self.indented():
            if rows:
                self.emit(f"{name}[{i}] = {first}")
                if self.chance(0.4):
                    self.emit(f"if {i} > 0:")
                    with self.indented():
                        self.emit(f"{name}[{i}] += 0.5 * {name}[{i} - 1]")
            else:
                self.emit(f"for {j} in range({shape[1]}):")
                with self.indented():
                    self.emit(f"{name}[{i}, {j}] = {first}")

    def index(self, scope: Scope, length: int) -> str:
        """A name for an integer loop variable below `length`."""
        taken = {*scope.shapes, *scope.read_only, *scope.indices}
        free = [n for n in ("i", "j", "k", "row") if n not in taken]
        self.counter += 1
        name = free[0] if free else f"i{self.counter}"
        scope.indices[name] = length
        return name

    def augment(self, scope: Scope, name: str, shape: Shape) -> None:
        operator = self.pick(("+=", "-=", "*=", "/="))
        value = self.bounded(self.expression(scope, self.narrower(shape), 2), shape)
        if operator == "/=":
            value = f"(1.5 + {value} ** 2)"
        self.emit(f"{name if self.named(name) else self.whole(name)} {operator} {value}")

    def write_part(self, scope: Scope, name: str, shape: Shape) -> None:
        text, result = self.part(scope, name, shape)
        operator = self.pick(("=", "=", "=", "+=", "-=", "*="))
        value = self.value(scope, result)
        self.emit(f"{text} {operator} {value}")

    def write_overlap(self, scope: Scope, name: str, shape: Shape) -> None:
        left, right = self.pick((("1:", ":-1"), (":-1", "1:"), ("::-1", ":"), ("1:-1", "2:"), ("-1", "0")))
        operator = self.pick(("=", "=", "+=", "*="))
        if len(shape) == 1:
            self.emit(f"{name}[{left}] {operator} np.tanh({name}[{left}] + {name}[{right}])")
        elif shape[0] > 2:
            self.emit(f"{name}[{left}] {operator} np.sin({name}[{right}] - 0.3 * {name}[{left}])")
        else:
            self.emit(
                f"{name}[:, {left}] {operator} np.sin({name}[:, {right}])" if shape[1] > 2 else f"{name}[:] *= 0.5"
            )

    def write_places(self, scope: Scope, name: str, shape: Shape) -> None:
        operator = self.pick(("=", "*=", "+="))
        if self.chance(0.5) or shape[0] < 3:
            value = self.bounded(self.leaf(scope, SCALAR), SCALAR)
            self.emit(f"{name}[{name} {self.pick('<>')} 0.2] {operator} {value}")
            return
        places = self.pick(("[0, 0, 2]", "[1, 2, 1]", "PERM", "np.array([2, 0, 0])"))
        if len(shape) == 1:
            self.emit(f"{name}[{places}] {operator} {self.value(scope, (3,))}")
        elif self.chance(0.5):
            self.emit(f"{name}[{places}] {operator} {self.value(scope, (3, *shape[1:]))}")
        else:
            self.emit(f"{name}[{places}, {self.row(scope, shape[1])}] {operator} {self.value(scope, (3,))}")

    # -- other names for an array ---------------------------------------------------------------------------------

    def alias_target(self, scope: Scope, shape: Shape) -> str:
        same = [n for n, s in scope.shapes.items() if s == shape and not n.startswith("p[")]
        return str(self.pick(same)) if same and self.chance(0.4) else self.unused(scope)

    def alias(self, scope: Scope, name: str, shape: Shape) -> None:
        other = self.alias_target(scope, shape)
        self.emit(f"{other} = {name}")
        self.bind(scope, other, shape)
        self.write_after(scope, other, shape)

    def end_alias(self, scope: Scope, name: str, shape: Shape) -> None:
        if name in scope.shapes:
            self.emit(f"{name} = {name}.copy()")
        else:
            self.write_part(scope, name, shape)

    def write_after(self, scope: Scope, name: str, shape: Shape) -> None:
        """Often write through a name that was just made."""
        if self.chance(0.5):
            self.pick((self.write_part, self.augment, self.write_part, self.writing_function))(scope, name, shape)

    def conditional_alias(self, scope: Scope, name: str, shape: Shape) -> None:
        choices = [t.format(n) for n, s in self.arrays(scope) for t, r in [("{0}", s), *views(s)] if r == shape]
        other = self.alias_target(scope, shape)
        one, two, condition = self.pick(choices), self.pick(choices), self.condition(scope, 1)
        if self.chance(0.5):
            self.emit(f"{other} = {one} if {condition} else {two}")
        else:
            self.emit(f"if {condition}:")
            with self.indented():
                self.emit(f"{other} = {one}")
            self.emit("else:")
            with self.indented():
                self.emit(f"{other} = {two}")
        self.bind(scope, other, shape)
        self.write_after(scope, other, shape)

    def view(self, scope: Scope, name: str, shape: Shape) -> None:
        forms = views(shape)
        usual = [f for f in forms if f[1] in SHAPES]
        text, result = self.pick(usual if usual and self.chance(0.8) else forms)
        other = self.alias_target(scope, result)
        self.emit(f"{other} = {text.format(name)}")
        self.bind(scope, other, result)
        self.write_after(scope, other, result)

    def split(self, scope: Scope, name: str, shape: Shape) -> None:
        """Two names for two parts, which may overlap."""
        one, two = self.unused(scope), self.unused(scope)
        if one == two:
            two = f"{two}2"
        if len(shape) == 1 and shape[0] in (3, 4):
            n = shape[0]
            text, first, second = self.pick(
                (
                    (f"np.split({name}, [1])", (1,), (n - 1,)),
                    (f"{name}[:-1], {name}[1:]", (n - 1,), (n - 1,)),
                    (f"{name}[:2], {name}[2:]", (2,), (n - 2,)),
                )
            )
        elif len(shape) == 2 and shape[0] > 1:
            m = shape[1]
            text, first, second = self.pick(
                ((f"{name}[0], {name}[-1]", (m,), (m,)), (f"{name}[1:], {name}[0]", (shape[0] - 1, m), (m,)))
            )
        else:
            self.view(scope, name, shape)
            return
        self.emit(f"{one}, {two} = {text}")
        self.bind(scope, one, first)
        self.bind(scope, two, second)
        self.write_after(scope, *self.pick(((one, first), (two, second))))

    # -- containers -----------------------------------------------------------------------------------------------

    def container(self, scope: Scope, name: str, shape: Shape) -> None:
        """A list, dict or tuple of arrays, some of which have other names."""
        self.counter += 1
        count = self.random.randrange(2, 4)
        same = self.chance(0.6)
        shapes = [shape if same or i == 0 else self.pick(self.common) for i in range(count)]
        items = []
        for i, wanted in enumerate(shapes):
            text = name if i == 0 else self.argument_for(scope, wanted)
            items.append(text)
        kind = self.pick(("bufs", "bufs", "state", "pair"))
        made = f"{kind}{self.counter}"
        if kind == "bufs":
            if len(set(shapes)) == 1 and self.chance(0.25):
                self.emit(f"{made} = [{name}.copy() for _ in range({count})]")
            else:
                self.emit(f"{made} = [{', '.join(items)}]")
            keys = [str(i) for i in range(count)]
        elif kind == "pair":
            self.emit(f"{made} = ({', '.join(items)})")
            keys = [str(i) for i in range(count)]
        else:
            keys = ['"u"', '"v"', '"w"'][:count]
            if self.chance(0.3):
                words = ", ".join(f"{k[1:-1]}={t}" for k, t in zip(keys, items, strict=True))
                self.emit(f"{made} = dict({words})")
            else:
                self.emit(f"{made} = {{{', '.join(f'{k}: {t}' for k, t in zip(keys, items, strict=True))}}}")
        for key, wanted in zip(keys, shapes, strict=True):
            scope.read_only[f"{made}[{key}]"] = wanted

    def containers(self, scope: Scope) -> dict[str, Forms]:
        """The containers that are surely bound, with their items."""
        found: dict[str, Forms] = {}
        for item, shape in scope.read_only.items():
            base, bracket, _ = item.partition("[")
            if bracket and base != "p" and shape:
                found.setdefault(base, []).append((item, shape))
        return found

    def use_container(self, scope: Scope, name: str, shape: Shape) -> None:
        """Write through the items of a container, exchange them, or put another array in."""
        found = self.containers(scope)
        if not found:
            self.container(scope, name, shape)
            return
        base = self.pick(found)
        items = found[base]
        item, wanted = self.pick(items)
        same = all(s == wanted for _, s in items)
        kind = self.random.randrange(8)
        if kind == 0 and same and self.depth < 5:
            each = self.unused(scope)
            over = f"{base}.values()" if base.startswith("state") else base
            self.emit(f"for {each} in {over}:")
            inner = scope.copy()
            inner.in_loop = True
            inner.shapes.pop(each, None)
            with self.indented():
                self.write_part(inner, each, wanted) if self.chance(0.5) else self.augment(inner, each, wanted)
            self.forget(scope, each)
        elif kind == 1 and same and self.depth < 5 and not base.startswith("state"):
            inner = scope.copy()
            inner.in_loop = True
            i = self.index(inner, len(items))
            self.emit(f"for {i} in range({len(items)}):")
            with self.indented():
                pick = self.pick((f"{base}[{i}]", f"{base}[{i}]", f"{base}[({i} + 1) % {len(items)}]"))
                self.write_part(inner, pick, wanted)
                if self.chance(0.4):
                    self.emit(f"{base}[{i}][...] = np.tanh({base}[{i}] + 0.5 * {base}[{i} - 1])")
        elif kind == 2 and not base.startswith("pair"):
            self.emit(f"{item} = {self.argument_for(scope, wanted)}")
        elif kind == 3 and same and not base.startswith("pair"):
            other = self.pick(items)[0]
            self.emit(f"{item}, {other} = {other}, {item}")
        elif kind == 4 and base.startswith(("bufs", "pair")) and self.chance(0.6):
            names = [f"{'abcd'[i]}{base}" for i in range(len(items))]
            self.emit(f"{', '.join(names)} = {base}")
            for n, (_, s) in zip(names, items, strict=True):
                self.bind(scope, n, s)
            self.write_after(scope, *self.pick(list(zip(names, (s for _, s in items), strict=True))))
        elif kind == 5:
            self.alias(scope, item, wanted)
        else:
            self.pick((self.write_part, self.augment, self.write_part, self.writing_function))(scope, item, wanted)

    def forget(self, scope: Scope, name: str) -> None:
        scope.shapes.pop(name, None)
        scope.read_only.pop(name, None)
        scope.indices.pop(name, None)

    def argument_for(self, scope: Scope, shape: Shape, near: str = "") -> str:
        """An array of this shape to be held or written by something else: a name, a view, or a new one."""
        arrays = [(n, s) for n, s in self.arrays(scope) if not near or n == near] or self.arrays(scope)
        names = [n for n, s in arrays if s == shape]
        if names and self.chance(0.6):
            return str(self.pick(names))
        seen = [t.format(n) for n, s in arrays for t, r in views(s) if r == shape]
        if seen and self.chance(0.7):
            return str(self.pick(seen))
        if self.chance(0.3):
            return f"np.zeros({shape!r})"
        names = self.names_of(scope, shape)
        return (
            f"{self.pick(names)}.copy()"
            if names and self.chance(0.5)
            else self.bounded(self.expression(scope, shape, 1), shape)
        )

    # -- NumPy's writing functions --------------------------------------------------------------------------------

    def writing_function(self, scope: Scope, name: str, shape: Shape) -> None:
        value = self.value(scope, shape)
        known = self.value(scope, shape) if self.chance(0.5) else name
        scalar = self.bounded(self.leaf(scope, SCALAR), SCALAR)
        ufunc = self.pick(("np.sin", "np.tanh", "np.cos", "np.arctan"))
        binary = self.pick(("np.add", "np.multiply", "np.subtract", "np.maximum"))
        forms = [
            f"np.copyto({name}, {value})",
            f"np.copyto({name}, {value}, where={name} > 0.1)",
            f"{ufunc}({value}, out={name})",
            f"{ufunc}({name}, out={name})",
            f"{binary}({known}, {value}, out={name})",
            f"np.add({name}, {value}, {name})",
            f"np.sqrt(1.0 + {name} ** 2, out={name}, where={name} > 0.0)",
            f"np.clip({name}, -0.9, 0.9, out={name})",
            f"{name}.fill({scalar})",
            f"np.putmask({name}, {name} > 0.2, {scalar})",
            f"np.place({name}, {name} < 0.1, [{scalar}])",
        ]
        if shape[0] > 2 or shape[-1] > 2:
            forms += [f"np.put({name}, [0, 2], [{scalar}, 0.3])"]
        if len(shape) == 1 and shape[0] > 2:
            forms += [
                f"np.add.at({name}, [0, 2, 0], {self.value(scope, (3,))})",
                f"np.subtract.at({name}, PERM, {scalar})",
                f"np.cumsum({self.expression(scope, shape, 1)}, out={name})",
                f"{name}.sort()",
                f"{binary}({name}[1:], {name}[:-1], out={name}[1:])",
                f"{ufunc}({name}[1:], out={name}[:-1])",
            ]
        elif len(shape) == 2 and shape[0] > 2:
            forms += [
                f"np.add.at({name}, [0, 2, 0], {scalar})",
                f"np.add.at({name}, ([0, 2, 0], [0, 0, 0]), {self.value(scope, (3,))})",
                f"{name}.sort(axis=0)",
                f"np.put_along_axis({name}, np.argsort({name}, axis=0)[:1], {scalar}, axis=0)",
                f"{ufunc}({name}[0], out={name}[{self.row(scope, shape[0])}])",
                f"np.mean({self.expression(scope, shape, 1)}, axis=1, out={name}[:, 0])",
            ]
            if shape[1] > 2:
                forms += [f"np.fill_diagonal({name}, {scalar})"]
        text = str(self.pick(forms))
        if "out=" in text and self.chance(0.2):
            target = self.unused(scope)
            self.emit(f"{target} = {text}")
            part = text.rpartition("out=")[2].removesuffix(")")
            if part == name:
                self.bind(scope, target, shape)
            else:
                self.forget(scope, target)
        else:
            self.emit(text)
