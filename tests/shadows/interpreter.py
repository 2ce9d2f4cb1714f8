"""The forward part: control flow, variables, functions, classes, generators and exceptions, on references."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from s2sad.ir import interpret
from s2sad.ir.apply import imported, unpacked
from s2sad.ir.code import UNSET, Code, Constant, Definition, Exit, Handlers, Operand, Operation, Region, Value, Variable
from s2sad.ir.code import inner as operations_in
from s2sad.ir.driving import StoppedError, driven, returning, signature_of
from s2sad.ir.matching import matches
from tests.shadows import calls, containers, operators
from tests.shadows.cells import MISSING, Cell, RealCell
from tests.shadows.refs import NotSupported, Ref, isa
from tests.shadows.run import Made, Run

Ended = tuple[Exit, list[Ref]]
Steps = Generator[Any, Any, Any]


@dataclass
class Tracer(interpret.Activation):
    """One activation; its values are references."""

    run_: Run = None  # type: ignore[assignment]
    #: The cells of a function that Python made, by name.
    free: dict[str, RealCell] = field(default_factory=dict)
    #: The references in the names of a class body.
    named: dict[str, Ref] = field(default_factory=dict)

    # --- operands and regions

    def of(self, operand: Operand) -> Any:
        (found,) = self.handed([operand])
        if found.object is UNSET.value:
            name = operand.name if isa(operand, Value) else ""
            raise UnboundLocalError(f"cannot access local variable {name!r} where it is not associated with a value")
        return found

    def handed(self, operands: Sequence[Operand]) -> list[Any]:
        return [Ref(o.value) if isa(o, Constant) else self.values[o] for o in operands]

    def region(self, region: Region) -> Generator[Any, Any, Any]:
        for operation in region.operations:
            ended = yield from self.run(operation)
            if ended is not None:
                return ended
        end = region.exit
        if end.kind == "raise":
            if not end.operands:
                raise
            exception, *cause = [self.of(o) for o in end.operands]
            made = exception.object
            if isa(made, type):
                made = calls.call(self.run_, exception, [], {}).object
            try:
                if cause:
                    raise made from cause[0].object
                raise made
            except StopIteration as stopped:
                raise StoppedError(stopped) from None
        return end, [self.of(o) for o in end.operands] if end.kind == "return" else self.handed(end.operands)

    def run(self, op: Operation) -> Generator[Any, Any, Any]:
        control = getattr(self, f"_{op.kind}", None)
        if control is not None:
            return (yield from control(op))
        try:
            found = self.simple(op, [self.of(o) for o in op.operands])
        except StopIteration as end:
            raise StoppedError(end) from None
        if len(op.results) == 1 and op.kind not in ("unpack", "import"):
            assert isa(found, Ref), op.kind
            self.values[op.results[0]] = found
        return None

    def truth(self, ref: Ref) -> bool:
        return operators.truth(self.run_, ref)

    def simple(self, op: Operation, given: list[Any]) -> Any:
        run = self.run_
        match op.kind:
            case "global":
                return self.global_(op.data)
            case "load":
                return self.load(op.data)
            case "store":
                self.store(op.data, given[0])
                return given[0]
            case "delete":
                self.delete(op.data)
            case "store_global":
                self.module[op.data] = given[0].object
                run.slots.store(self.module, op.data, given[0])
                return given[0]
            case "delete_global":
                if op.data not in self.module:
                    raise NameError(f"name {op.data!r} is not defined")
                del self.module[op.data]
                run.slots.store(self.module, op.data, Ref(None))
            case "copy":
                return given[0]
            case "unpack":
                self.give(op.results, unpacked(containers.iterate(run, given[0]), *op.data[:1], None)
                          if op.data[1] is None else self._starred(given[0], *op.data))  # fmt: skip
            case "function" | "lambda":
                return self.defined(op.data, given)
            case "generator":
                return self.generator(op.data, given[0])
            case "class":
                return self.class_(op.data, given)
            case "import":
                package = self.module.get("__package__") or self.module.get("__name__", "").rpartition(".")[0]
                self.give(op.results, [Ref(x) for x in imported(op.data, package)])
            case "annotate":
                pass
            case "call":
                return self.called(op, given)
            case _:
                return operators.applied(run, op, given)
        return None

    def _starred(self, ref: Ref, count: int, star: int) -> list[Ref]:
        found = unpacked(list(containers.iterate(self.run_, ref)), count, star)
        found[star] = containers.pack(self.run_, list, found[star])
        return found

    def called(self, op: Operation, given: list[Ref]) -> Ref:
        function, *rest = given
        if function.object is globals:
            return Ref(self.module)
        if function.object in (locals, vars, dir, eval, exec) and not rest:
            raise NotSupported(f"{function.object.__name__}() of the frame")
        args: list[Ref] = []
        kwargs: dict[str, Ref] = {}
        for ref, kind in zip(rest, op.data, strict=True):
            if kind in ("", "*"):
                args += containers.iterate(self.run_, ref) if kind else [ref]
                continue
            more = containers.items(self.run_, ref) if kind == "**" else {kind: ref}
            if kwargs.keys() & more.keys():
                raise TypeError(f"{function.object!r} got multiple values for a keyword argument")
            kwargs.update(more)
        if function.object is builtins.super and not args:
            args = self.super_arguments()
        return calls.call(self.run_, function, args, kwargs)

    def super_arguments(self) -> list[Ref]:
        assert self.code is not None
        target = self.code.params[0].target
        first = self.values[target] if isa(target, Value) else self.load(target)
        if "__class__" in self.free:
            return [Ref(self.free["__class__"].value), first]
        raise NotSupported("super() in a class that the program makes as it runs")

    # --- names

    def global_(self, name: str) -> Any:
        if name in self.free:
            value = self.free[name].value
            if value is MISSING:
                raise NameError(f"cannot access free variable {name!r}")
            return self.run_.slots.load(self.free[name].cell, None, value)
        if name in self.module:
            return self.run_.slots.load(self.module, name, self.module[name])
        if hasattr(builtins, name):
            return Ref(getattr(builtins, name))
        raise NameError(f"name {name!r} is not defined")

    def load(self, variable: Variable) -> Any:
        if self.names is not None and variable not in self.cells:
            found = self.named.get(variable.name, MISSING)
            return self.global_(variable.name) if found is MISSING else found
        if variable.name in self.free and variable not in self.own:
            return self.global_(variable.name)
        cell = self.cells[variable]
        if cell.value is MISSING:
            kind, words = (UnboundLocalError, "local") if variable in self.own else (NameError, "free")
            raise kind(f"cannot access {words} variable {variable.name!r} where it is not associated with a value")
        return self.run_.slots.load(cell, None, cell.value)

    def store(self, variable: Variable, value: Any) -> None:
        if self.names is not None and variable not in self.cells:
            self.names[variable.name] = value.object
            self.named[variable.name] = value
            return
        if variable.name in self.free and variable not in self.own:
            cell: Any = self.free[variable.name]
            cell.value = value.object
            self.run_.slots.store(cell.cell, None, value)
            return
        cell = self.cells.setdefault(variable, Cell())  # type: ignore[arg-type]
        cell.value = value.object
        self.run_.slots.store(cell, None, value)

    def delete(self, variable: Variable) -> None:
        self.load(variable)
        if self.names is not None and variable not in self.cells:
            del self.names[variable.name], self.named[variable.name]
        else:
            self.cells[variable].value = MISSING
            self.run_.slots.store(self.cells[variable], None, Ref(None))

    # --- functions and classes

    def activation(self, code: Code, seen: Any, cells: Any) -> Tracer:
        own = frozenset(code.variables) - frozenset(code.captures)
        inner = Tracer(self.module, dict(seen), dict(cells), own, code=code, run_=self.run_, free=self.free)
        inner.cells.update({variable: Cell() for variable in own})  # type: ignore[misc]
        return inner

    def function(self, code: Code, defaults: Any) -> Callable[..., Any]:
        if code.awaits:
            raise NotSupported("coroutines")
        run = self.run_
        seen = {value: self.values[value] for value in code.seen if value in self.values}
        cells = {variable: self.cells.setdefault(variable, Cell()) for variable in code.captures}  # type: ignore[arg-type]
        signature = signature_of(code, defaults)

        def begin(args: list[Ref], kwargs: dict[str, Ref]) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            inner = self.activation(code, seen, cells)
            for param in code.params:
                ref = bound.arguments[param.name]
                if param.kind == "star":
                    ref = containers.pack(run, tuple, ref)
                elif param.kind == "double star":
                    ref = containers.pack_dict(run, {k: (Ref(k), v) for k, v in ref.items()})
                if isa(param.target, Value):
                    inner.values[param.target] = ref
                else:
                    inner.store(param.target, ref)

            def result(ended: Ended) -> Ref:
                return ended[1][0] if ended[1] else Ref(None)

            if code.generates:
                run.used.add("generators")
                made = containers.stands_for(run, returning(inner.region(code.body), result), code.name)
                if any(op.kind in ("try", "with") for op in operations_in(code.body)):
                    run.guarded.append(made.object)
                return made
            return result(driven(inner.region(code.body)))

        def function(*args: Any, **kwargs: Any) -> Any:
            return run.out_of_program(
                begin([run.arrived(a) for a in args], {k: run.arrived(v) for k, v in kwargs.items()})
            )

        function.__name__ = function.__qualname__ = code.name
        function.__doc__ = code.doc
        function.__module__ = self.module.get("__name__", "")
        run.functions[id(function)] = Made(function, begin, code)
        return function

    def defined(self, made: Definition, given: list[Any]) -> Any:
        rest = given[made.decorators :]
        found = Ref(self.function(made.code, dict(zip(made.defaults, rest[: len(made.defaults)], strict=True))))
        for decorator in reversed(given[: made.decorators]):
            found = calls.call(self.run_, decorator, [found], {})
        return found

    def class_(self, made: Definition, given: list[Any]) -> Any:
        args: list[Any] = []
        keywords: dict[str, Any] = {}
        for ref, kind in zip(given[made.decorators :], made.arguments, strict=True):
            if kind in ("", "*"):
                args += [r.object for r in containers.iterate(self.run_, ref)] if kind else [ref.object]
            else:
                keywords.update(ref.object if kind == "**" else {kind: ref.object})
        named: dict[str, Ref] = {}

        def body(names: Any) -> None:
            names.update({"__module__": self.module.get("__name__", "builtins"), "__qualname__": made.code.name})
            captured = {v: self.cells.setdefault(v, Cell()) for v in made.code.captures}  # type: ignore[arg-type]
            inner = Tracer(self.module, dict(self.values), captured, names=names, run_=self.run_, free=self.free)
            inner.named = named
            driven(inner.region(made.code.body))

        cls: Any = types.new_class(made.code.name, tuple(args), keywords, body)
        for name, ref in named.items():
            if vars(cls).get(name) is ref.object:
                self.run_.slots.store(cls, name, ref)
        found = Ref(cls)
        for decorator in reversed(given[: made.decorators]):
            found = calls.call(self.run_, decorator, [found], {})
        return found

    # --- comprehensions and generators

    def elements(self, region: Region, iterable: Any) -> Iterator[list[Any]]:
        for item in iterable:
            self.values[region.params[0]] = item
            yield from self.round(region)

    def round(self, region: Region) -> Iterator[list[Any]]:
        for op in region.operations:
            if op.kind == "only":
                if self.truth(self.of(op.operands[0])):
                    yield from self.round(op.regions[0])
            elif op.kind == "each":
                yield from self.elements(op.regions[0], containers.iterate(self.run_, self.of(op.operands[0])))
            else:
                driven(self.run(op))
        if region.exit.operands:
            yield [self.of(o) for o in region.exit.operands]

    def generator(self, code: Code, iterable: Any) -> Any:
        captured = {v: self.cells.setdefault(v, Cell()) for v in code.captures}  # type: ignore[arg-type]
        inner = self.activation(code, {v: self.values[v] for v in code.seen}, captured)
        rounds = containers.iterate(self.run_, iterable)
        made = (found[0] for found in inner.elements(code.body.operations[0].regions[0], rounds))
        return containers.stands_for(self.run_, made, "<genexpr>")

    def _comprehension(self, op: Operation) -> Steps:
        inner = replace(self, cells=dict(self.cells))
        made = list(inner.elements(op.regions[0], containers.iterate(self.run_, self.of(op.operands[0]))))
        if op.data == "dict":
            self.values[op.result] = containers.pack_dict(self.run_, {k.object: (k, v) for k, v in made})
        else:
            kind = list if op.data == "list" else set
            self.values[op.result] = containers.pack(self.run_, kind, [items[0] for items in made])
        yield from ()

    def _yield(self, op: Operation) -> Steps:
        self.values[op.result] = (yield (self.of(op.operands[0]) if op.operands else Ref(None))) or Ref(None)

    def _yield_from(self, op: Operation) -> Steps:
        ref = self.of(op.operands[0])
        running = self.run_.running.get(id(ref.object))
        if running is not None:
            self.values[op.result] = (yield from running[1]) or Ref(None)
            return
        yield from containers.iterate(self.run_, ref)
        self.values[op.result] = Ref(None)

    # --- control flow

    def value(self, region: Region) -> Steps:
        yield from self.region(Region((), region.operations, Exit("yield")))
        return self.of(region.exit.operands[0])

    def _and(self, op: Operation) -> Steps:
        found = self.of(op.operands[0])
        for region in op.regions:
            if self.truth(found) is (op.kind == "or"):
                break
            found = yield from self.value(region)
        self.values[op.result] = found

    _or = _and

    def _choose(self, op: Operation) -> Steps:
        region = op.regions[0] if self.truth(self.of(op.operands[0])) else op.regions[1]
        self.values[op.result] = yield from self.value(region)

    def _chain(self, op: Operation) -> Steps:
        left, right = [self.of(o) for o in op.operands]
        found = operators.compare(self.run_, op.data[0], left, right)
        for sign, region in zip(op.data[1:], op.regions, strict=True):
            if not self.truth(found):
                break
            left, right = right, (yield from self.value(region))
            found = operators.compare(self.run_, sign, left, right)
        self.values[op.result] = found

    def _assert(self, op: Operation) -> Steps:
        if not self.truth(self.of(op.operands[0])):
            if op.regions:
                raise AssertionError((yield from self.value(op.regions[0])).object)
            raise AssertionError

    def _if(self, op: Operation) -> Steps:
        return (yield from self._taken(op, op.regions[0] if self.truth(self.of(op.operands[0])) else op.regions[1]))

    def _for(self, op: Operation) -> Steps:
        body, rest = op.regions
        carried = self.handed(op.operands[1:])
        for item in containers.iterate(self.run_, self.of(op.operands[0])):
            self.give(body.params, [item, *carried])
            end, handed = yield from self.region(body)
            if end.kind == "break":
                self.give(op.results, handed)
                return None
            if end.kind != "continue":
                return end, handed
            carried = handed
        self.give(rest.params, carried)
        return (yield from self._taken(op, rest))

    def _while(self, op: Operation) -> Steps:
        test, body, rest = op.regions
        self.give(test.params, self.handed(op.operands))
        while self.truth((yield from self.value(test))):
            end, handed = yield from self.region(body)
            if end.kind == "break":
                self.give(op.results, handed)
                return None
            if end.kind != "continue":
                return end, handed
            self.give(test.params, handed)
        return (yield from self._taken(op, rest))

    def _with(self, op: Operation) -> Steps:
        manager = calls.Manager(self.run_, self.of(op.operands[0]))
        ended: Any = None
        with manager as entered:
            self.give(op.regions[0].params, [entered])
            end, handed = yield from self.region(op.regions[0])
            ended = None if end.kind == "yield" else (end, handed)
        return ended

    def _handled(self, op: Operation, data: Handlers) -> Steps:
        regions = list(op.regions)
        body = regions.pop(0)
        try:
            end, handed = yield from self.region(body)
        except (NotSupported, GeneratorExit):
            raise
        except BaseException as raised:
            self.run_.used.add("exceptions that are caught")
            error = raised.error if isa(raised, StoppedError) else raised
            for has_class, name in zip(data.classes, data.names, strict=True):
                kind = (yield from self.value(regions.pop(0))).object if has_class else BaseException
                handler = regions.pop(0)
                if isa(error, kind):
                    return (yield from self._with_name(name, error, handler))
            raise
        if end.kind == "yield" and data.has_else:
            end, handed = yield from self.region(op.regions[-2 if data.has_finally else -1])
        return None if end.kind == "yield" else (end, handed)

    def _with_name(self, name: Any, error: BaseException, handler: Region) -> Steps:
        if isa(name, Variable):
            self.store(name, Ref(error))
        elif name is not None:
            self.module[name] = error
        try:
            end, handed = yield from self.region(handler)
        finally:
            if isa(name, Variable):
                self.cells[name].value = MISSING
            elif name is not None:
                self.module.pop(name, None)
        return None if end.kind == "yield" else (end, handed)

    def _match(self, op: Operation) -> Steps:
        subject = self.of(op.operands[0])
        regions = list(op.regions)
        for pattern, guarded in zip(op.data.patterns, op.data.guards, strict=True):
            guard = regions.pop(0) if guarded else None
            region = regions.pop(0)
            found = matches(pattern, subject.object, self.dotted)
            if found is None:
                continue
            for target, value in found:
                if self.run_.is_active(subject) and value is not subject.object:
                    raise NotSupported("a pattern that takes an active object apart")
                ref = subject if value is subject.object else Ref(value, subject.stop)
                if isa(target, Variable):
                    self.store(target, ref)
                else:
                    self.module[target] = value
                    self.run_.slots.store(self.module, target, ref)
            if guard is None or self.truth((yield from self.value(guard))):
                return (yield from self._taken(op, region))
        return (yield from self._taken(op, regions[0])) if regions else None

    def dotted(self, data: Sequence[Any]) -> Any:
        first, *rest = data
        if isa(first, (Constant, Value)):
            found = self.of(first)
        else:
            found = self.load(first) if isa(first, Variable) else self.global_(first)
        x = found.object
        for name in rest:
            x = getattr(x, name)
        return x
