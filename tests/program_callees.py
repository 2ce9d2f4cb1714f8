"""Random helper functions that write into their arguments, their calls, and small textbook kernels in place."""

from __future__ import annotations

from tests.program_buffers import views
from tests.program_expressions import SCALAR, Scope, Shape, Signature
from tests.program_rarities import RareWriter


class CalleeWriter(RareWriter):
    """Writes calls and helper functions, and kernels of a few lines."""

    def block(self, scope: Scope, statements: int) -> None:
        """At least one statement."""
        raise NotImplementedError

    # -- helper functions -----------------------------------------------------------------------------------------

    def helper(self, index: int, writes: bool) -> None:
        name = self.pick((f"h{index}", f"helper_{index}", f"g{index}"))
        params: list[tuple[str, Shape]] = [
            (n, self.pick((SCALAR, *self.common)))
            for n in self.random.sample(("a", "b", "x", "t", "w_bar"), self.random.randrange(1, 4))
        ]
        if writes and not any(shape for _, shape in params):
            params[0] = (params[0][0], self.pick(self.common))
        arrays = [n for n, shape in params if shape]
        written = set(self.random.sample(arrays, self.random.randrange(1, len(arrays) + 1))) if writes else set()
        keyword_only = {params[-1][0]} if len(params) > 1 and self.chance(0.3) else set()
        defaults = {params[-1][0]} if params[-1][1] == SCALAR and self.chance(0.5) else set()
        recursive = self.chance(0.2)
        results = [self.pick((SCALAR, *self.common))]
        if writes:
            count = self.random.choice((0, 0, 1, 1, 1, 2, 2, 3))
            likely = [s for n, s in params if n in written]
            results = [self.pick((SCALAR, *likely, *likely, *self.common)) for _ in range(count)]
        signature = Signature(name, params, keyword_only, defaults, results, recursive, written)
        heads = []
        for n, _ in params:
            if n in keyword_only:
                heads.append("*")
            heads.append(f"{n}=0.3" if n in defaults else n)
        if recursive:
            if not keyword_only:
                heads.append("*")
            heads.append("fuel=2")
        self.emit(f"def {name}({', '.join(heads)}):")
        self.loops_allowed = 1
        scope = Scope(shapes=dict(params))
        self.results = results
        with self.indented():
            if recursive:
                self.emit("if fuel <= 0:")
                with self.indented():
                    self.give_back(scope)
            self.budget = max(2, self.size // 3)
            for n in sorted(written):
                self.pick((self.write_part, self.augment, self.write_part, self.writing_function))(
                    scope, n, scope.shapes[n]
                )
            if not writes or self.chance(0.6):
                self.block(scope, self.random.randrange(1, 4))
            if recursive:
                self.again(scope, signature)
            elif results or self.chance(0.1):
                self.give_back(scope)
        self.emit("")
        self.emit("")
        self.helpers.append(signature)

    def again(self, scope: Scope, signature: Signature) -> None:
        """The recursive call at the end of a helper function."""
        bound = Signature(
            signature.name, signature.params, signature.keyword_only, set(), signature.results, False, signature.written
        )
        call = self.call(scope, bound, 2).removesuffix(")")
        back = [f"back{i}" if i else "back" for i in range(len(signature.results))]
        targets = f"{', '.join(back)} = " if back else ""
        self.emit(f"{targets}{call}, fuel=fuel - 1)")
        for name, shape in zip(back, signature.results, strict=True):
            self.bind(scope, name, shape)
        if len(back) == 1 and self.chance(0.7):
            (shape,) = signature.results
            self.emit(f"return {self.bounded('back', shape)} + 0.5 * {self.leaf(scope, shape)}")
        elif back:
            self.emit(f"return {', '.join(back)}")

    def give_back(self, scope: Scope) -> None:
        self.emit(f"return {self.returned(scope)}".rstrip())

    def returned(self, scope: Scope) -> str:
        """What the function that is being written returns: values, names of arrays, views of them."""
        items = []
        for shape in self.results:
            aliases = [t.format(n) for n, s in self.arrays(scope) for t, r in [("{0}", s), *views(s)] if r == shape]
            if shape and aliases and self.level >= 2 and self.chance(0.6):
                items.append(self.argument_for(scope, shape) if self.chance(0.3) else self.pick(aliases))
            else:
                items.append(self.expression(scope, shape, 2))
        return ", ".join(items)

    # -- calls ----------------------------------------------------------------------------------------------------

    def call(self, scope: Scope, helper: Signature, depth: int) -> str:
        written: list[str] = []
        named = False
        near = ""
        for name, shape in helper.params:
            if name in helper.defaults and self.chance(0.5):
                named = True
                continue
            keyword = named or name in helper.keyword_only or self.chance(0.15)
            named = named or keyword
            if shape and helper.written and (name in helper.written or self.chance(0.5)):
                argument = self.argument_for(scope, shape, near)
                near = argument.partition("[")[0].partition(".")[0] if self.chance(0.4) else ""
            else:
                argument = self.expression(scope, shape, min(depth - 1, 1))
            written.append(f"{name}={argument}" if keyword else argument)
        if helper.recursive:
            written.append(f"fuel={self.random.randrange(1, 4)}")
        return f"{helper.name}({', '.join(written)})"

    def call_statement(self, scope: Scope) -> None:
        """A call of a helper function as a statement, or with its results bound to names."""
        helper = max(
            self.random.sample(self.helpers, min(2, len(self.helpers))),
            key=lambda h: sum(bool(self.names_of(scope, s)) for n, s in h.params if n in h.written),
        )
        text = self.call(scope, helper, 2)
        if not helper.results or self.chance(0.25):
            self.emit(text)
            return
        names: list[str] = []
        for shape in helper.results:
            name = self.alias_target(scope, shape)
            names.append(name if name not in names else f"{name}{len(names) + 1}")
        if len(names) > 1 and self.chance(0.15):
            self.counter += 1
            self.emit(f"pair{self.counter} = {text}")
            for i, shape in enumerate(helper.results):
                scope.read_only[f"pair{self.counter}[{i}]"] = shape
            return
        self.emit(f"{', '.join(names)} = {text}")
        for name, shape in zip(names, helper.results, strict=True):
            self.bind(scope, name, shape)
        arrays = [(n, s) for n, s in zip(names, helper.results, strict=True) if s]
        if arrays:
            self.write_after(scope, *self.pick(arrays))

    # -- kernels --------------------------------------------------------------------------------------------------

    def kernel(self, scope: Scope) -> None:
        """A few lines as textbooks have them, on arrays that are there."""
        arrays = [(n, s) for n, s in scope.shapes.items() if s and "[" not in n]
        vectors = [n for n, s in arrays if len(s) == 1 and s[0] > 2]
        matrices = [n for n, s in arrays if len(s) == 2 and min(s) > 2]
        inner = scope.copy()
        inner.in_loop = True
        writers = []
        if vectors:
            writers += [self.stepper, self.recurrence, self.ring, self.history, self.leapfrog, self.round_robin]
        if matrices:
            writers += [self.grid, self.rows, self.elimination]
        if vectors and matrices:
            writers += [self.product, self.packed]
        if not writers:
            self.store(scope)
            return
        # Inside, every name that was there keeps its shape.
        vector = self.pick(vectors) if vectors else ""
        matrix = self.pick(matrices) if matrices else ""
        self.pick(writers)(scope, inner, vector, matrix)

    def fresh_name(self, scope: Scope, *names: str) -> str:
        """A name that nothing has."""
        for name in names:
            if name not in scope.shapes and name not in scope.read_only and name not in scope.indices:
                return name
        self.counter += 1
        return f"{names[0]}{self.counter}"

    def at(self, scope: Scope) -> str:
        """A scalar of modest size that a kernel may use anywhere."""
        return self.bounded(self.leaf(scope, SCALAR), SCALAR)

    def stepper(self, scope: Scope, inner: Scope, u: str, _: str) -> None:
        """An explicit scheme with two buffers that are exchanged, or copied back."""
        shape = scope.shapes[u]
        new = self.fresh_name(scope, "new", "u_new", "nxt")
        made = self.pick((f"{u}.copy()", f"np.zeros_like({u})", f"np.zeros({shape[0]})"))
        self.emit(f"{new} = {made}")
        step, i = self.index(inner, 3), self.index(inner, shape[0])
        self.emit(f"for {step} in range({self.pick((1, 2, 3))}):")
        rate = self.at(scope)
        with self.indented():
            if self.chance(0.5):
                self.emit(f"for {i} in range(1, {u}.shape[0] - 1):")
                with self.indented():
                    self.emit(f"{new}[{i}] = {u}[{i}] + 0.1 * ({u}[{i} - 1] - {rate} * {u}[{i}] + {u}[{i} + 1])")
            else:
                self.emit(
                    f"{new}[1:-1] = {u}[1:-1] + 0.1 * {rate} * ({u}[:-2] - 2.0 * {u}[1:-1] * {u}[1:-1] + {u}[2:])"
                )
            if self.chance(0.6):
                self.emit(f"{new}[0] = {self.pick((f'{u}[0]', self.at(scope)))}")
                self.emit(f"{new}[-1] = {self.pick((f'{new}[-2]', f'{u}[-1]', self.at(scope)))}")
            self.emit(
                self.pick(
                    (f"{u}, {new} = {new}, {u}", f"{u}, {new} = {new}, {u}", f"{u}[:] = {new}", f"{u} = {new}.copy()")
                )
            )
        self.bind(scope, u, shape)
        self.bind(scope, new, shape)

    def recurrence(self, scope: Scope, inner: Scope, u: str, _: str) -> None:
        """A sweep forwards or backwards."""
        n = scope.shapes[u][0]
        i = self.index(inner, n)
        header, near = self.pick(
            ((f"range(1, {n})", f"{i} - 1"), (f"range({n - 2}, -1, -1)", f"{i} + 1"), (f"range({n})", f"{i} - 1"))
        )
        self.emit(f"for {i} in {header}:")
        with self.indented():
            form = self.pick(
                (
                    "{u}[{i}] = np.tanh({u}[{k}] * {e} + {u}[{i}])",
                    "{u}[{i}] -= 0.4 * {e} * {u}[{k}]",
                    "{u}[{i}] /= 1.5 + {u}[{k}] ** 2",
                    "{u}[{i}], {u}[{k}] = {u}[{k}], {u}[{i}] * {e}",
                    "{u}[{i}] = {u}[{k}] if {u}[{k}] > {u}[{i}] else {u}[{i}]",
                    "{u}[{i}:] *= 0.5 + {u}[{k}] ** 2",
                )
            )
            self.emit(form.format(u=u, i=i, k=f"({near}) % {n}", e=self.at(inner)))
            if self.chance(0.4):
                self.write_part(inner, u, (n,))

    def ring(self, scope: Scope, inner: Scope, u: str, _: str) -> None:
        """A ring buffer of rows."""
        n = scope.shapes[u][0]
        ring = self.fresh_name(scope, "ring", "hist")
        self.emit(f"{ring} = np.zeros((3, {n}))")
        k = self.fresh_name(inner, "k", "step")
        self.emit(f"for {k} in range({self.pick((2, 3, 4))}):")
        with self.indented():
            self.emit(f"{ring}[{k} % 3] = np.tanh({self.at(scope)} * {ring}[({k} - 1) % 3] + {u})")
            if self.chance(0.5):
                self.emit(f"{u} {self.pick(('+=', '-='))} 0.2 * {ring}[{k} % 3]")
        self.bind(scope, ring, (3, n))

    def history(self, scope: Scope, inner: Scope, u: str, _: str) -> None:
        """A list that grows, of copies or of the array itself."""
        n = scope.shapes[u][0]
        hist = self.fresh_name(scope, "hist", "trace")
        result = self.fresh_name(scope, "path", "stack")
        self.emit(f"{hist} = []")
        k = self.index(inner, 3)
        self.emit(f"for {k} in range(3):")
        with self.indented():
            self.write_part(inner, u, (n,))
            self.emit(f"{hist}.append({self.pick((f'{u}.copy()', f'{u}.copy()', u, f'{u} * {self.at(scope)}'))})")
            if self.chance(0.3):
                self.emit(f"{hist}[-1][0] *= 0.5")
        self.emit(f"{result} = {self.pick(('np.stack', 'np.array', 'np.vstack'))}({hist})")
        self.bind(scope, result, (3, n))

    def leapfrog(self, scope: Scope, inner: Scope, u: str, _: str) -> None:
        """Kick and drift in place."""
        shape = scope.shapes[u]
        others = [n for n, s in scope.shapes.items() if s == shape and n != u and "[" not in n]
        vel = self.pick(others) if others else self.fresh_name(scope, "vel")
        if not others:
            self.emit(f"{vel} = np.full({shape!r}, 0.3)")
            self.bind(scope, vel, shape)
        k = self.index(inner, 3)
        self.emit(f"for {k} in range({self.pick((2, 3))}):")
        force = self.pick((f"np.sin({u})", f"{u} * {self.at(scope)}", f"({u} - np.mean({u}))"))
        with self.indented():
            kick = [f"{vel} -= 0.1 * {force}", f"{u} += 0.1 * {vel}"]
            if self.chance(0.4):
                kick = [f"{vel}[:] = {vel} - 0.1 * {force}", f"np.add({u}, 0.1 * {vel}, out={u})"]
            for line in kick if self.chance(0.5) else reversed(kick):
                self.emit(line)

    def round_robin(self, scope: Scope, inner: Scope, u: str, _: str) -> None:
        """Buffers in a list, used in turn."""
        shape = scope.shapes[u]
        self.counter += 1
        bufs = f"bufs{self.counter}"
        self.emit(f"{bufs} = [{u}, {self.argument_for(scope, shape)}]")
        k = self.index(inner, 3)
        self.emit(f"for {k} in range(3):")
        with self.indented():
            source, target = f"{bufs}[{k} % 2]", f"{bufs}[({k} + 1) % 2]"
            if self.chance(0.5):
                self.emit(f"src, dst = {source}, {target}")
                source, target = "src", "dst"
            form = self.pick(
                (
                    "{t}[...] = np.sin({s}) + {e}",
                    "{t}[1:] = {s}[:-1] * {e}",
                    "np.multiply({s}, {e}, out={t})",
                    "{t}[0] += {s}[-1] * {s}[1]",
                )
            )
            self.emit(form.format(s=source, t=target, e=self.at(scope)))
        for i in range(2):
            scope.read_only[f"{bufs}[{i}]"] = shape

    def grid(self, scope: Scope, inner: Scope, _: str, a: str) -> None:
        """A relaxation over the inside of a grid: Gauss-Seidel, or Jacobi with a second array."""
        n, m = scope.shapes[a]
        i, j = self.index(inner, n), self.index(inner, m)
        e = self.at(scope)
        if self.chance(0.5):
            self.emit(f"for {i} in range(1, {n}):")
            with self.indented():
                self.emit(f"for {j} in range(1, {m} - 1):")
                with self.indented():
                    self.emit(
                        f"{a}[{i}, {j}] = 0.3 * ({a}[{i} - 1, {j}] * {e} + {a}[{i}, {j} - 1] + {a}[{i}, {j} + 1])"
                        f" + np.sin({a}[{i}, {j}])"
                    )
            return
        b = self.fresh_name(scope, "grid", "b_new")
        self.emit(f"{b} = {self.pick((f'{a}.copy()', f'np.zeros_like({a})'))}")
        self.emit(f"for {i} in range({self.pick((1, 2))}):")
        with self.indented():
            self.emit(
                f"{b}[1:-1, 1:-1] = 0.2 * ({a}[:-2, 1:-1] + {a}[2:, 1:-1] * {e} + {a}[1:-1, :-2] + {a}[1:-1, 2:])"
            )
            self.emit(self.pick((f"{a}[:] = {b}", f"{a}, {b} = {b}, {a}", f"{a}[1:, 1:] *= {b}[1:, 1:]")))
        self.bind(scope, b, (n, m))

    def rows(self, scope: Scope, inner: Scope, _: str, a: str) -> None:
        """Rows taken by a loop over a matrix, and written."""
        n, m = scope.shapes[a]
        row = self.fresh_name(scope, "row", "line")
        inner.read_only[row] = (m,)
        way = self.random.randrange(4)
        i = self.index(inner, n) if way in (1, 3) else ""
        if way == 0:
            self.emit(f"for {row} in {a}:")
        elif way == 1:
            self.emit(f"for {i}, {row} in enumerate({a}):")
        elif way == 2:
            self.emit(f"for {row} in {a}{self.pick(('.T', '[::-1]'))}:")
            inner.read_only.pop(row)
        else:
            self.emit(f"for {i} in range({n}):")
            with self.indented():
                self.emit(f"{row} = {a}[{i}]")
        forms = [
            "{r} /= np.sqrt(1.0 + {r} @ {r})",
            "{r} -= np.mean({r})",
            "{r}[1:] += 0.5 * {r}[:-1]",
            "{r}[0] *= {e}",
            "{r}[:] = np.tanh({r}) * {e}",
        ]
        with self.indented():
            self.emit(self.pick(forms).format(r=row, e=self.at(inner)))
            if way in (1, 3) and self.chance(0.6):
                self.emit(f"{a}[{i} - 1] -= 0.3 * {row}")

    def elimination(self, scope: Scope, inner: Scope, _: str, a: str) -> None:
        """Elimination without pivoting, kept away from zero."""
        n, m = scope.shapes[a]
        i, j = self.index(inner, n), self.index(inner, n)
        self.emit(f"for {i} in range({n}):")
        with self.indented():
            self.emit(f"for {j} in range({i}):")
            with self.indented():
                self.emit(f"{a}[{i}, {j}] /= 1.5 + {a}[{j}, {j}] ** 2")
                if self.chance(0.5):
                    self.emit(f"{a}[{i}, {j} + 1:] -= {a}[{i}, {j}] * {a}[{j}, {j} + 1:]")
                else:
                    k = self.index(inner, m)
                    self.emit(f"for {k} in range({j} + 1, {m}):")
                    with self.indented():
                        self.emit(f"{a}[{i}, {k}] -= {a}[{i}, {j}] * {a}[{j}, {k}]")

    def product(self, scope: Scope, inner: Scope, _: str, a: str) -> None:
        """A matrix times a vector by loops."""
        n, m = scope.shapes[a]
        vectors = self.names_of(scope, (m,))
        v = self.pick(vectors) if vectors else f"{a}[0]"
        y = self.fresh_name(scope, "prod", "y_out")
        i, j = self.index(inner, n), self.index(inner, m)
        self.emit(f"{y} = np.{self.pick(('zeros', 'empty'))}({n})")
        self.emit(f"for {i} in range({n}):")
        with self.indented():
            self.emit(f"{y}[{i}] = {self.pick(('0.0', self.at(scope)))}")
            self.emit(f"for {j} in range({m}):")
            with self.indented():
                self.emit(f"{y}[{i}] += 0.4 * {a}[{i}, {j}] * {v}[{j}]")
        self.bind(scope, y, (n,))

    def packed(self, scope: Scope, inner: Scope, u: str, a: str) -> None:
        """State packed into one flat array, and taken out as views."""
        n, m = scope.shapes[a]
        (k,) = scope.shapes[u]
        flat = self.fresh_name(scope, "flat", "packed")
        one, two = self.unused(scope), self.alias_target(scope, (k,))
        self.emit(f"{flat} = np.empty({n * m + k})")
        self.emit(f"{flat}[: {n * m}] = {a}.{self.pick(('ravel()', 'reshape(-1)', 'flatten()'))}")
        self.emit(f"{flat}[{n * m} :] = {u}")
        if self.chance(0.3):
            self.emit(f"{flat} = np.concatenate([{a}.ravel(), {u}])")
        self.emit(f"{one} = {flat}[: {n * m}].reshape({n}, {m})")
        self.bind(scope, one, (n, m))
        if one != two:
            self.emit(f"{two} = {flat}[{n * m} :]")
            self.bind(scope, two, (k,))
        self.bind(scope, flat, (n * m + k,))
        self.write_after(scope, one, (n, m))
