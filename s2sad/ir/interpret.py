"""Runs `Code` on real objects, operation by operation: what the representation means, and an oracle for what follows.

Not run are coroutines, ``except*``, and ``super()`` without arguments.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from s2sad.ir import signs
from s2sad.ir.apply import applied, imported, unpacked
from s2sad.ir.code import UNSET, Code, Constant, Definition, Exit, Handlers, Operand, Operation, Region, Value, Variable
from s2sad.ir.driving import StoppedError, driven, returning, signature_of
from s2sad.ir.matching import matches

_MISSING = object()
#: What is told before and after each operation (``raise`` after one that raised), and when a function returns.
Event = Literal["before", "after", "raise", "leave"]
Watch = Callable[[Event, "Activation", Operation | Code], None]
#: How a region ended, and with what.
Ended = tuple[Exit, list[Any]]


def interpreted(
    code: Code, module: dict[str, Any], defaults: Mapping[str, Any] | None = None, watch: Watch | None = None
) -> Callable[..., Any]:
    """A function that runs a code operation by operation.

    Args:
        code: The code of a function; it captures nothing.
        module: The global names that it sees.
        defaults: The default values of its parameters.
        watch: Is called as the code runs.

    Example:
        >>> import gast
        >>> from s2sad.frontend.lower_statements import lower_function
        >>> source = "def f(n):\\n    s = 0\\n    for i in range(n):\\n        s += i\\n    return s"
        >>> interpreted(lower_function(gast.parse(source).body[0]), {})(5)
        10
    """
    return Activation(module, watch=watch).function(code, defaults or {})


@dataclass
class Cell:
    """What a variable that is memory holds."""

    value: Any = _MISSING


@dataclass
class Activation:
    """One run of a code: what its values and variables hold."""

    module: dict[str, Any]
    values: dict[Value, Any] = field(default_factory=dict)
    cells: dict[Variable, Cell] = field(default_factory=dict)
    own: frozenset[Variable] = frozenset()
    #: The names of a class body; None in a function.
    names: Any = None
    watch: Watch | None = None
    #: What it runs.
    code: Code | None = None

    # --- operands

    def of(self, operand: Operand) -> Any:
        """The object that an operand is.

        Raises:
            UnboundLocalError: for a variable that has no value yet.
        """
        found = operand.value if isinstance(operand, Constant) else self.values[operand]
        if found is UNSET.value:
            name = operand.name if isinstance(operand, Value) else ""
            raise UnboundLocalError(f"cannot access local variable {name!r} where it is not associated with a value")
        return found

    def handed(self, operands: Sequence[Operand]) -> list[Any]:
        """What operands are where they are handed on, and not used."""
        return [o.value if isinstance(o, Constant) else self.values[o] for o in operands]

    def give(self, targets: Sequence[Value], objects: Sequence[Any]) -> None:
        self.values.update(zip(targets, objects, strict=True))

    # --- functions

    def function(self, code: Code, defaults: Mapping[str, Any]) -> Callable[..., Any]:
        """A Python function that runs a code with what it captures here."""
        if code.awaits:
            raise NotImplementedError("coroutines are not interpreted")
        seen = {value: self.values[value] for value in code.seen if value in self.values}
        cells = {variable: self.cells.setdefault(variable, Cell()) for variable in code.captures}
        signature = signature_of(code, defaults)

        def begun(args: Any, kwargs: Any) -> Activation:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            own = frozenset(code.variables)
            inner = Activation(self.module, dict(seen), dict(cells), own, watch=self.watch, code=code)
            inner.cells.update({variable: Cell() for variable in code.variables})
            for param in code.params:
                if isinstance(param.target, Value):
                    inner.values[param.target] = bound.arguments[param.name]
                else:
                    inner.cells[param.target].value = bound.arguments[param.name]
            return inner

        def result(ended: Ended) -> Any:
            return ended[1][0] if ended[1] else None

        if code.generates:

            def run(*args: Any, **kwargs: Any) -> Any:
                return (lambda inner: (yield from returning(inner.region(code.body), result)))(begun(args, kwargs))

        else:

            def run(*args: Any, **kwargs: Any) -> Any:
                inner = begun(args, kwargs)
                found = result(driven(inner.region(code.body)))
                if self.watch is not None:
                    self.watch("leave", inner, code)
                return found

        run.__name__ = run.__qualname__ = code.name
        run.__doc__ = code.doc
        return run

    # --- regions

    def region(self, region: Region) -> Generator[Any, Any, Ended]:
        """Run a region; how it ends."""
        for operation in region.operations:
            ended = yield from self.operation(operation)
            if ended is not None:
                return ended
        end = region.exit
        if end.kind == "raise":
            if not end.operands:
                raise
            exception, *cause = [self.of(o) for o in end.operands]
            try:
                if cause:
                    raise exception from cause[0]
                raise exception
            except StopIteration as stopped:
                raise StoppedError(stopped) from None
        used = end.kind == "return"
        return end, [self.of(o) for o in end.operands] if used else self.handed(end.operands)

    def value(self, region: Region) -> Generator[Any, Any, Any]:
        """The one object that a region yields."""
        yield from self.region(Region((), region.operations, Exit("yield")))
        return self.of(region.exit.operands[0])

    def operation(self, op: Operation) -> Generator[Any, Any, Ended | None]:
        """Run one operation; how the region ends with it, if it does."""
        if self.watch is None:
            return (yield from self.run(op))
        self.watch("before", self, op)
        try:
            ended = yield from self.run(op)
        except BaseException:
            self.watch("raise", self, op)
            raise
        self.watch("after", self, op)
        return ended

    def run(self, op: Operation) -> Generator[Any, Any, Ended | None]:
        control = getattr(self, f"_{op.kind}", None)
        if control is not None:
            ended: Ended | None = yield from control(op)
            return ended
        try:
            found = self.simple(op, [self.of(o) for o in op.operands])
        except StopIteration as end:
            raise StoppedError(end) from None
        if len(op.results) == 1 and op.kind not in ("unpack", "import"):
            self.values[op.results[0]] = found
        return None

    def simple(self, op: Operation, given: list[Any]) -> Any:
        """The result of an operation without regions."""
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
                self.module[op.data] = given[0]
                return given[0]
            case "delete_global":
                if op.data not in self.module:
                    raise NameError(f"name {op.data!r} is not defined")
                del self.module[op.data]
            case "unpack":
                self.give(op.results, unpacked(given[0], *op.data))
            case "function" | "lambda":
                return self.defined(op.data, given)
            case "generator":
                return self.generator(op.data, given[0])
            case "class":
                return self.class_(op.data, given)
            case "import":
                package = self.module.get("__package__") or self.module.get("__name__", "").rpartition(".")[0]
                self.give(op.results, imported(op.data, package))
            case "annotate":
                if given and self.names is not None:
                    self.names.setdefault("__annotations__", {})[op.data[0]] = given[0]
            case "call" if given[0] is locals or given[0] is globals:
                held = {v.name: cell.value for v, cell in self.cells.items() if cell.value is not _MISSING}
                return held if given[0] is locals else self.module
            case _:
                return applied(op, given)
        return None

    # --- names

    def global_(self, name: str) -> Any:
        if name in self.module:
            return self.module[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(f"name {name!r} is not defined")

    def load(self, variable: Variable) -> Any:
        if self.names is not None and variable not in self.cells:
            found = self.names.get(variable.name, _MISSING)
            return self.global_(variable.name) if found is _MISSING else found
        found = self.cells[variable].value
        if found is _MISSING:
            kind, words = (UnboundLocalError, "local") if variable in self.own else (NameError, "free")
            raise kind(f"cannot access {words} variable {variable.name!r} where it is not associated with a value")
        return found

    def store(self, variable: Variable, value: Any) -> None:
        if self.names is not None and variable not in self.cells:
            self.names[variable.name] = value
        else:
            self.cells.setdefault(variable, Cell()).value = value

    def delete(self, variable: Variable) -> None:
        self.load(variable)
        if self.names is not None and variable not in self.cells:
            del self.names[variable.name]
        else:
            self.cells[variable].value = _MISSING

    # --- functions and classes

    def defined(self, made: Definition, given: list[Any]) -> Any:
        rest = given[made.decorators :]
        count = len(made.defaults)
        function: Any = self.function(made.code, dict(zip(made.defaults, rest[:count], strict=True)))
        function.__annotations__ = dict(zip(made.annotations, rest[count:], strict=True))
        for decorator in reversed(given[: made.decorators]):
            function = decorator(function)
        return function

    def class_(self, made: Definition, given: list[Any]) -> Any:
        args: list[Any] = []
        keywords: dict[str, Any] = {}
        for value, kind in zip(given[made.decorators :], made.arguments, strict=True):
            if kind in ("", "*"):
                args += value if kind else [value]
            else:
                keywords.update(value if kind == "**" else {kind: value})

        def body(names: Any) -> None:
            names.update({"__module__": self.module.get("__name__", "builtins"), "__qualname__": made.code.name})
            if made.code.doc is not None:
                names["__doc__"] = made.code.doc
            captured = {v: self.cells.setdefault(v, Cell()) for v in made.code.captures}
            driven(Activation(self.module, dict(self.values), captured, names=names).region(made.code.body))

        cls: Any = types.new_class(made.code.name, tuple(args), keywords, body)
        for decorator in reversed(given[: made.decorators]):
            cls = decorator(cls)
        return cls

    # --- comprehensions

    def elements(self, region: Region, iterable: Any) -> Iterator[list[Any]]:
        """What a comprehension makes, round by round."""
        for item in iterable:
            self.values[region.params[0]] = item
            yield from self.round(region)

    def round(self, region: Region) -> Iterator[list[Any]]:
        """What one round of a comprehension makes."""
        for op in region.operations:
            if op.kind == "only":
                if self.of(op.operands[0]):
                    yield from self.round(op.regions[0])
            elif op.kind == "each":
                yield from self.elements(op.regions[0], iter(self.of(op.operands[0])))
            else:
                driven(self.operation(op))
        if region.exit.operands:
            yield [self.of(o) for o in region.exit.operands]

    def generator(self, code: Code, iterable: Any) -> Iterator[Any]:
        inner = Activation(
            self.module,
            {value: self.values[value] for value in code.seen},
            {variable: self.cells.setdefault(variable, Cell()) for variable in code.captures},
            watch=self.watch,
            code=code,
        )
        inner.cells.update({variable: Cell() for variable in code.variables})
        rounds = iter(iterable)
        return (made[0] for made in inner.elements(code.body.operations[0].regions[0], rounds))

    def _comprehension(self, op: Operation) -> Generator[Any, Any, None]:
        # Its variables are its own.
        inner = replace(self, cells=dict(self.cells))
        made = inner.elements(op.regions[0], iter(self.of(op.operands[0])))
        if op.data == "dict":
            self.values[op.result] = {key: value for key, value in made}  # noqa: C416
        else:
            self.values[op.result] = (list if op.data == "list" else set)(items[0] for items in made)
        yield from ()

    # --- control flow

    def _and(self, op: Operation) -> Generator[Any, Any, None]:
        found = self.of(op.operands[0])
        for region in op.regions:
            if bool(found) is (op.kind == "or"):
                break
            found = yield from self.value(region)
        self.values[op.result] = found

    _or = _and

    def _choose(self, op: Operation) -> Generator[Any, Any, None]:
        region = op.regions[0] if self.of(op.operands[0]) else op.regions[1]
        self.values[op.result] = yield from self.value(region)

    def _chain(self, op: Operation) -> Generator[Any, Any, None]:
        left, right = [self.of(o) for o in op.operands]
        found = signs.COMPARED[op.data[0]](left, right)
        for sign, region in zip(op.data[1:], op.regions, strict=True):
            if not found:
                break
            left, right = right, (yield from self.value(region))
            found = signs.COMPARED[sign](left, right)
        self.values[op.result] = found

    def _yield(self, op: Operation) -> Generator[Any, Any, None]:
        self.values[op.result] = yield (self.of(op.operands[0]) if op.operands else None)

    def _yield_from(self, op: Operation) -> Generator[Any, Any, None]:
        self.values[op.result] = yield from self.of(op.operands[0])

    def _assert(self, op: Operation) -> Generator[Any, Any, None]:
        if not self.of(op.operands[0]):
            if op.regions:
                raise AssertionError((yield from self.value(op.regions[0])))
            raise AssertionError

    def _taken(self, op: Operation, region: Region) -> Generator[Any, Any, Ended | None]:
        """Run the region that is taken; its operands are the results of the operation."""
        end, handed = yield from self.region(region)
        if end.kind != "yield":
            return end, handed
        self.give(op.results, handed)
        return None

    def _if(self, op: Operation) -> Generator[Any, Any, Ended | None]:
        return (yield from self._taken(op, op.regions[0] if self.of(op.operands[0]) else op.regions[1]))

    def _for(self, op: Operation) -> Generator[Any, Any, Ended | None]:
        body, rest = op.regions
        carried = self.handed(op.operands[1:])
        for item in self.of(op.operands[0]):
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

    def _while(self, op: Operation) -> Generator[Any, Any, Ended | None]:
        test, body, rest = op.regions
        self.give(test.params, self.handed(op.operands))
        while (yield from self.value(test)):
            end, handed = yield from self.region(body)
            if end.kind == "break":
                self.give(op.results, handed)
                return None
            if end.kind != "continue":
                return end, handed
            self.give(test.params, handed)
        return (yield from self._taken(op, rest))

    def _with(self, op: Operation) -> Generator[Any, Any, Ended | None]:
        ended: Ended | None = None
        with self.of(op.operands[0]) as entered:
            self.give(op.regions[0].params, [entered])
            end, handed = yield from self.region(op.regions[0])
            ended = None if end.kind == "yield" else (end, handed)
        return ended

    def _try(self, op: Operation) -> Generator[Any, Any, Ended | None]:
        data: Handlers = op.data
        if data.groups:
            raise NotImplementedError("except* is not interpreted")
        if not data.has_finally:
            return (yield from self._handled(op, data))
        final = op.regions[-1]
        try:
            ended = yield from self._handled(op, data)
        finally:
            end, handed = yield from self.region(final)
            if end.kind != "yield":
                return end, handed  # noqa: B012
        return ended

    def _handled(self, op: Operation, data: Handlers) -> Generator[Any, Any, Ended | None]:
        regions = list(op.regions)
        body = regions.pop(0)
        try:
            end, handed = yield from self.region(body)
        except BaseException as raised:
            error = raised.error if isinstance(raised, StoppedError) else raised
            for has_class, name in zip(data.classes, data.names, strict=True):
                kind = (yield from self.value(regions.pop(0))) if has_class else BaseException
                handler = regions.pop(0)
                if isinstance(error, kind):
                    return (yield from self._with_name(name, error, handler))
            raise
        if end.kind == "yield" and data.has_else:
            end, handed = yield from self.region(op.regions[-2 if data.has_finally else -1])
        return None if end.kind == "yield" else (end, handed)

    def _with_name(
        self, name: Variable | str | None, error: BaseException, handler: Region
    ) -> Generator[Any, Any, Ended | None]:
        """Run a handler, in which the exception has a name, and after which it has none."""
        if isinstance(name, Variable):
            self.store(name, error)
        elif name is not None:
            self.module[name] = error
        try:
            end, handed = yield from self.region(handler)
        finally:
            if isinstance(name, Variable):
                self.cells[name].value = _MISSING
            elif name is not None:
                self.module.pop(name, None)
        return None if end.kind == "yield" else (end, handed)

    def _match(self, op: Operation) -> Generator[Any, Any, Ended | None]:
        subject = self.of(op.operands[0])
        regions = list(op.regions)
        for pattern, guarded in zip(op.data.patterns, op.data.guards, strict=True):
            guard = regions.pop(0) if guarded else None
            region = regions.pop(0)
            found = matches(pattern, subject, self.dotted)
            if found is None:
                continue
            for target, value in found:
                if isinstance(target, Variable):
                    self.store(target, value)
                else:
                    self.module[target] = value
            if guard is None or (yield from self.value(guard)):
                return (yield from self._taken(op, region))
        return (yield from self._taken(op, regions[0])) if regions else None

    def dotted(self, data: Sequence[Any]) -> Any:
        """The object that a dotted name or literal of a pattern is."""
        first, *rest = data
        if isinstance(first, (Constant, Value)):
            found = self.of(first)
        else:
            found = self.load(first) if isinstance(first, Variable) else self.global_(first)
        for name in rest:
            found = getattr(found, name)
        return found
