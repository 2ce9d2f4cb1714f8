"""Random statements on rarer arrays: complex, integer, boolean and without axes, and rarer ways to write and view."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.program_buffers import BufferWriter
from tests.program_expressions import SCALAR, SHAPES, Scope, Shape

#: An object of the module with arrays that its methods change.
STATE = """class State:
    def begin(self):
        self.a = np.array([0.7, -0.4, 1.2])
        self.held = self.a[1:]
        self.k = 0.9

    def step(self):
        self.a *= -1.1
        self.k += 0.1

    def renew(self):
        self.a = self.a + 0.2
        return self.k


STATE = State()"""


class RareWriter(BufferWriter):
    """Writes statements that few programs have."""

    def rare(self, scope: Scope) -> None:
        """One statement, or a few that belong together."""
        arrays = self.arrays(scope)
        if not arrays:
            self.make(scope)
            return
        forms: list[Callable[[Scope, str, Shape], None]] = [
            self.complex_parts,
            self.positions,
            self.mask,
            self.without_axes,
            self.power,
            self.product_in_place,
            self.new_axis,
            self.made_by_class,
            self.held_diagonal,
            self.three_parts,
            self.comprehension,
            self.narrow,
            self.last_turn,
            self.by_name,
            self.by_name,
            self.rarely_made,
            self.assigned_inside,
            self.assigned_inside,
            self.taken,
            self.taken,
            self.state,
            self.state,
            self.piled,
        ]
        self.pick(forms)(scope, *self.pick(arrays))

    def modest(self, scope: Scope) -> str:
        return self.bounded(self.leaf(scope, SCALAR), SCALAR)

    def complex_parts(self, scope: Scope, name: str, shape: Shape) -> None:
        """A complex array, written through its parts or as it is."""
        self.counter += 1
        z = f"z{self.counter}"
        part = self.pick((".real", ".imag"))
        self.emit(f"{z} = {name} {self.pick(('* (0.5 + 0.3j)', '+ 0.4j', '* 1j + 0.2'))}")
        self.emit(
            self.pick(
                (
                    f"{z}{part}[...] = {self.value(scope, shape)}",
                    f"{z}{part}[0] *= {self.modest(scope)}",
                    f"{z}[0] = {self.modest(scope)} + 0.3j",
                    f"{z} *= 0.5 - 0.2j",
                    f"{z}[...] = np.conj({z})",
                    f"{z}{part}[{z}{part} > 0.2] = 0.1",
                )
            )
        )
        other = self.unused(scope)
        self.emit(
            f"{other} = " + self.pick(("{z}.real - {z}.imag", "abs({z} + 2.0)", "np.imag({z} * {z})")).format(z=z)
        )
        self.bind(scope, other, shape)
        if self.chance(0.3):
            self.emit(f"{z}.imag[-1] = 0.7")
            self.emit(f"{other} *= {z}.real")

    def positions(self, scope: Scope, name: str, shape: Shape) -> None:
        """An integer array that is written, and then used as an index."""
        self.counter += 1
        index = f"idx{self.counter}"
        n = shape[0]
        self.emit(f"{index} = np.{self.pick(('arange', 'arange', 'zeros'))}({n}, dtype=int)")
        self.emit(self.pick((f"{index}[0] = {n - 1}", f"{index}[-1:] += 1", f"{index}[...] = {index}[::-1]")))
        self.emit(
            self.pick(
                (
                    f"{name}[{index} % {n}] {self.pick(('=', '*=', '+='))} {self.modest(scope)}",
                    f"np.add.at({name}, {index} % {n}, {self.modest(scope)})",
                    f"{name}[...] = {name}[{index} % {n}] * {self.modest(scope)}",
                )
            )
        )

    def mask(self, scope: Scope, name: str, shape: Shape) -> None:
        """A boolean array that is written, and then used as an index or condition."""
        self.counter += 1
        mask = f"mask{self.counter}"
        self.emit(f"{mask} = {name} > 0.1")
        self.emit(self.pick((f"{mask}[0] = True", f"{mask}[-1] = ~{mask}[-1]", f"{mask} |= {name} < -0.4")))
        self.emit(
            self.pick(
                (
                    f"{name}[{mask}] {self.pick(('=', '*=', '-='))} {self.modest(scope)}",
                    f"np.copyto({name}, {self.value(scope, shape)}, where={mask})",
                    f"{name}[...] = np.where({mask}, {name}, {self.modest(scope)})",
                    f"{name}[{mask}] *= {name}[{mask}]",
                )
            )
        )

    def narrow(self, scope: Scope, name: str, shape: Shape) -> None:
        """A constant of booleans, integers or short floats, as a factor."""
        self.counter += 1
        factor = f"factor{self.counter}"
        count = int(np.prod(shape))
        numbers = f"np.arange({count}, dtype=np.{self.pick(('int8', 'uint8', 'int32', 'float32'))}).reshape({shape!r})"
        self.emit(f"{factor} = {self.pick((f'{name} > 0.1', numbers))}")
        self.emit(
            self.pick(
                (
                    f"{name}[...] = np.tanh({name} * {factor})",
                    f"{name}[0] -= np.sum({name} * {factor}) * 0.01",
                    f"{name}[...] = {name} * {factor} + 0.1 * np.sum({factor} * {name} * {name}[0]) / {count}",
                    f"{name} *= 0.1 * np.arctan2({factor}, 1.5 + {name} ** 2)",
                )
            )
        )

    def last_turn(self, scope: Scope, name: str, shape: Shape) -> None:
        """A variable that only an inner loop sets, and that is read after it."""
        self.counter += 1
        outer, inner, last = (f"{stem}{self.counter}" for stem in ("turn", "step", "last"))
        self.emit(f"for {outer} in range(3):")
        with self.indented():
            self.emit(f"for {inner} in range({self.pick(('2', f'2 - {outer}', f'1 - {outer} % 2'))}):")
            with self.indented():
                value = self.pick((f"np.mean({name})", f"{name}[{outer} % {shape[0]}]", f"{name}[0] * 1.0"))
                self.emit(f"{last} = {value} * (0.3 + {inner})")
            self.emit(f"{name}[-1] {self.pick(('+=', '-='))} 0.2 * {last}")

    def by_name(self, scope: Scope, name: str, shape: Shape) -> None:
        """An array made by a function whose arguments are named, and then often written."""
        other = self.unused(scope)
        forms = (
            "np.full({s!r}, fill_value={e})",
            "np.full_like(a={n}, fill_value={e})",
            "np.sort(a={v}, axis=-1)",
            "np.clip(a={v}, a_min=-0.9, a_max=1.2 + {e})",
            "np.clip(a_max={e} + 1.5, a={n}, a_min={e} - 1.5)",
            "np.roll(a={v}, shift=1, axis=0)",
            "np.cumsum(a={v}, axis=0) * 0.3",
            "np.multiply({n}, {e}, out=np.ones(shape={s!r}), where={n} > 0.1)",
            "np.take(a={v}, indices=[*range({k})], axis=0)",
            "np.average(np.stack([{n}, {v}]), axis=0, weights=[1.5, 2.0 + {e}])",
            "np.linspace(start={e}, stop={n}[0], num={k}) * np.ones(shape={s!r}).T if {s!r}[1:] == () else {n} * 1.0",
            "np.tile(reps=1, A={v})",
            "np.add({n}, {v}, out=np.empty_like(prototype={n}))",
        )
        text = self.pick(forms).format(n=name, s=shape, k=shape[0], e=self.modest(scope), v=self.value(scope, shape))
        self.emit(f"{other} = {text}")
        self.bind(scope, other, shape)
        self.write_after(scope, other, shape)

    def rarely_made(self, scope: Scope, name: str, shape: Shape) -> None:
        """An array that some rarer function makes, written, and its mean put into an item."""
        self.counter += 1
        made = f"made{self.counter}"
        flat = f"np.ravel({name})"
        forms = (
            f"np.kron({flat}, [0.5, {self.modest(scope)}])",
            f"np.append({name}, {self.modest(scope)})",
            f"np.meshgrid({flat}, {flat}[:2])[{self.pick((0, 1))}]",
            f"np.delete({flat}, 1)",
            f"np.linalg.multi_dot([{flat}, np.outer({flat}, {flat}), np.outer({flat}, {flat})])",
            f"np.linalg.qr(np.outer({flat}, {flat}) + np.diag(np.arange(1.0, 1.0 + np.size({name})))).R",
            f"np.column_stack([{flat}, np.sin({flat})])",
            f"np.resize({name}, (2, 3))",
            f"np.tensordot({flat}, np.outer({flat}, {flat}), 1)",
            f"np.extract({name} > -0.3, {name}) * 1.0 if {name}[0].sum() > 9.0 else np.concatenate([{flat}, {flat}])",
            f"sum([{name}, {name} * {self.modest(scope)}])",
        )
        self.emit(f"{made} = {self.pick(forms)}")
        self.emit(self.pick((f"{made}[0] *= {self.modest(scope)}", f"{made} *= 0.5 + {made}", f"{made}[-1:] = 0.3")))
        self.emit(f"{name}[-1] {self.pick(('+=', '-='))} 0.2 * np.tanh(np.mean({made}))")

    def assigned_inside(self, scope: Scope, name: str, shape: Shape) -> None:
        """An assignment expression, in a condition, one arm of a choice, an operand or the test of a loop."""
        self.counter += 1
        got, tally = f"got{self.counter}", f"n{self.counter}"
        mean = f"np.mean({name})"
        way = self.random.randrange(5)
        if way == 0:
            self.emit(f"if ({got} := {mean}) > {self.literal()} {self.pick(('and', 'or'))} {self.condition(scope, 1)}:")
            with self.indented():
                self.emit(f"{name}[0] *= {got}")
        elif way == 1:
            self.emit(f"{got} = {self.modest(scope)}")
            choice = f"({got} := {mean}) if {self.condition(scope, 1)} else {self.modest(scope)}"
            self.emit(f"{name}[-1] = {self.pick((choice, f'({choice}) * {got}'))}")
        elif way == 2:
            self.emit(f"{name}[0] = ({got} := {mean}) * {got} + {self.modest(scope)}")
        elif way == 3:
            self.emit(f"{tally} = 0")
            self.emit(f"while ({tally} := {tally} + 1) < 3 and ({got} := {mean}) < 5.0:")
            with self.indented():
                self.emit(f"{self.whole(name)} {self.pick(('*=', '+=', '-='))} 0.5 * {got}")
        else:
            self.emit(f"{got} = {self.condition(scope, 1)} and ({got} := {mean}) or {self.modest(scope)}")
        self.emit(f"{name}[0] += 0.1 * {got}")

    def taken(self, scope: Scope, name: str, shape: Shape) -> None:
        """Numbers that are taken, or an array that is written, where a loop, index or display reads them."""
        self.counter += 1
        left, weight, turn, got = (f"{stem}{self.counter}" for stem in ("left", "weight", "turn", "got"))
        numbers = [self.random.randrange(3) for _ in range(24)]
        by_list = self.chance(0.5)
        self.emit(f"{left} = {numbers}" if by_list else f"{left} = iter({numbers})")
        self.emit(f"{weight} = np.array([0.4, -0.7, 0.9])")
        take = f"{left}.pop()" if by_list else f"next({left})"
        write = self.pick((f"np.add({weight}, 0.3, out={weight})[0]", f"np.multiply({weight}, -1.1, {weight})[1]"))
        item = f"{name}[{take} % {shape[0]}]"
        way = self.random.randrange(6)
        if way == 0:
            self.emit(f"for {turn} in range({self.pick((take, f'{take} + 1', f'{take}, {take} + 2'))}):")
            with self.indented():
                self.emit(f"{name}[{turn} % {shape[0]}] *= {self.modest(scope)} + {weight}[{turn} % 3]")
        elif way == 1:
            self.emit(f"while {self.pick((take, f'{write} < 0.8 and {take} > 0'))}:")
            with self.indented():
                self.emit(f"{self.whole(name)} *= {self.modest(scope)} + {weight}[1]")
        elif way == 2:
            items = self.pick(((take, take), (f"{weight}[0]", write), (write, f"{weight}[0]")))
            self.emit(f"({got}, {turn}), {left} = ({items[0]}, {self.modest(scope)}), {items[1]}")
            self.emit(f"{name}[0] += 0.1 * {got} * {turn} * {left}")
        elif way == 3:
            self.emit(f"{item} {self.pick(('=', '*='))} {item} * {self.modest(scope)} + 0.1 * {take}")
        elif way == 4:
            self.emit(f"{got} = [{weight}[0], {write}, {weight}[0] * {self.modest(scope)}, {take}]")
            self.emit(f"{name}[-1] -= 0.2 * {got}[0] * {got}[2] + 0.1 * {got}[3]")
        else:
            self.emit(f"{got} = {weight}[0] * {write} * {item} + {weight}[0] * {item}")
            self.emit(f"{name}[0] *= np.mean({got}) + 0.1 * {take}")

    def state(self, scope: Scope, name: str, shape: Shape) -> None:
        """Arrays of an object of the module, read before and after one of its methods changes them."""
        self.counter += 1
        kept, turn = f"kept{self.counter}", f"turn{self.counter}"
        reads = ("STATE.a", "STATE.a[1:]", "STATE.held", "STATE.k", kept, f"{kept}[-1]")
        item = f"{name}[{self.random.randrange(shape[0])}]"

        def read() -> None:
            product = f"np.sum({self.pick(reads)} * np.mean({name}))"
            target = self.pick((self.whole(name), item, f"{name}[-1]"))
            self.emit(f"{target} {self.pick(('*=', '*=', '+='))} 0.3 * {self.modest(scope)} * {product} + 0.4")

        self.emit("STATE.begin()")
        self.emit(f"{kept} = {self.pick(('STATE.a', 'STATE.held', 'STATE.a[1:]', 'STATE.a * 0.5'))}")
        if self.chance(0.4):
            self.emit(f"for {turn} in range({self.pick(('2', '3'))}):")
            with self.indented():
                read()
                self.emit(self.pick(("STATE.step()", "STATE.renew()")))
                read()
            return
        for _ in range(self.pick((1, 2, 3))):
            read()
            self.emit(
                self.pick(("STATE.step()", "STATE.renew()", f"{item} *= STATE.renew()", f"{kept} = {kept} * STATE.k"))
            )
        read()

    def piled(self, scope: Scope, name: str, shape: Shape) -> None:
        """A constant array that is put into a container, read there, and written."""
        self.counter += 1
        weight, pile, turn = (f"{stem}{self.counter}" for stem in ("weight", "pile", "turn"))
        in_dict = self.chance(0.4)
        forms = ["{p}.append({w})", "{p}.insert(0, {w})", "{p} += [{w}]", "{p}.extend([{w}, {w}[::-1]])"]
        if in_dict:
            forms = ['{p}["k"] = {w}', '{p}.setdefault("k", {w})', "{p}.update(k={w})", '{p} |= {{"k": {w}}}']
        item = f'{pile}["k"]' if in_dict else f"{pile}[{self.pick((0, -1))}]"
        writes = (f"{weight}[0] = 0.6", f"{weight} *= -1.1", f"{item}[1] += 0.3", f"{weight}[1:] = {weight}[:-1]")

        def read() -> None:
            product = f"np.sum({item} * np.mean({name}))"
            self.emit(f"{name}[-1] {self.pick(('*=', '+='))} 0.3 * {self.modest(scope)} * {product} + 0.4")

        self.emit(f"{weight} = np.array([0.4, -0.7, 0.9])")
        self.emit(f"{pile} = {'{}' if in_dict else '[]'}")
        self.emit(self.pick(forms).format(p=pile, w=weight))
        if self.chance(0.4):
            self.emit(f"for {turn} in range(2):")
            with self.indented():
                read()
                self.emit(self.pick((*writes, self.pick(forms).format(p=pile, w=f"({weight} * 0.5)"))))
            return
        read()
        self.emit(self.pick(writes))
        read()

    def without_axes(self, scope: Scope, name: str, shape: Shape) -> None:
        """An array without axes."""
        self.counter += 1
        zero = f"zero{self.counter}"
        self.emit(f"{zero} = np.array({self.modest(scope)})")
        self.emit(
            self.pick(
                (
                    f"{zero}[...] = np.mean({name})",
                    f"{zero}[()] *= {self.modest(scope)}",
                    f"np.add({zero}, 0.3, out={zero})",
                    f"{zero} += np.mean({name})",
                )
            )
        )
        self.emit(self.pick((f"{self.whole(name)} *= {zero}", f"{name}[-1] = {zero}", f"{name}[0] -= np.sin({zero})")))

    def power(self, scope: Scope, name: str, shape: Shape) -> None:
        """Powers in place."""
        self.emit(f"{self.pick((self.whole(name), f'{name}[0]', f'{name}[1:]'))} **= {self.pick((2, 2, 3))}")

    def product_in_place(self, scope: Scope, name: str, shape: Shape) -> None:
        """A matrix product in place."""
        if len(shape) != 2 or shape[1] != 3:
            self.power(scope, name, shape)
            return
        self.emit(f"{self.whole(name)} @= 0.3 * {self.bounded(self.expression(scope, (3, 3), 1), (3, 3))}")

    def new_axis(self, scope: Scope, name: str, shape: Shape) -> None:
        """A store through an index with a new axis."""
        operator = self.pick(("=", "+=", "*="))
        self.emit(f"{name}[None] {operator} {self.value(scope, shape)}")

    def made_by_class(self, scope: Scope, name: str, shape: Shape) -> None:
        """An array made by the class itself."""
        other = self.unused(scope)
        value = self.value(scope, shape)
        self.emit(f"{other} = np.ndarray({shape!r})")
        self.emit(f"{self.whole(other)} = {value}")
        self.bind(scope, other, shape)

    def held_diagonal(self, scope: Scope, name: str, shape: Shape) -> None:
        """A diagonal that is held, and read once the matrix has been written."""
        if len(shape) != 2:
            self.new_axis(scope, name, shape)
            return
        self.counter += 1
        held = f"held{self.counter}"
        self.emit(f"{held} = {self.pick(('np.diagonal({0})', '{0}.diagonal()', 'np.diag({0})')).format(name)}")
        self.write_part(scope, name, shape)
        self.emit(f"{name}[0] {self.pick(('*=', '+='))} np.mean({held})")

    def three_parts(self, scope: Scope, name: str, shape: Shape) -> None:
        """Parts of an array by ``np.split`` or by unpacking it."""
        self.counter += 1
        parts = [f"part{self.counter}{c}" for c in "abc"]
        if shape[0] != 3:
            self.mask(scope, name, shape)
            return
        rest = shape[1:]
        if rest and self.chance(0.4):
            self.emit(f"{', '.join(parts)} = {name}")
            of = rest
        else:
            self.emit(f"{', '.join(parts)} = np.split({name}, {self.pick(('3', '[1, 2]'))})")
            of = (1, *rest)
        self.write_part(scope, parts[0], of)
        self.emit(f"{parts[1]}[...] {self.pick(('=', '+=', '*='))} {self.pick((parts[0], parts[2]))}")

    def comprehension(self, scope: Scope, name: str, shape: Shape) -> None:
        """A list of fresh arrays."""
        if shape not in SHAPES:
            self.power(scope, name, shape)
            return
        self.counter += 1
        made = f"bufs{self.counter}"
        self.emit(f"{made} = [{self.pick((f'np.zeros({shape!r})', f'{name}.copy()'))} for _ in range(2)]")
        for i in range(2):
            scope.read_only[f"{made}[{i}]"] = shape
        self.emit(f"{made}[{self.random.randrange(2)}][...] = {self.value(scope, shape)}")
