"""Questions about regions of `Code`, and small changes of them."""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from s2sad.ir.code import (
    Cases,
    Code,
    Constant,
    Definition,
    Exit,
    Handlers,
    Operand,
    Operation,
    Region,
    Value,
    Variable,
    codes,
    inner,
    regions_in,
)
from s2sad.runtime.classes import is_of_library, module_of

#: Operations whose regions are the rounds of comprehensions, and stand in expressions.
ROUNDS = frozenset({"comprehension", "each", "only"})
#: Operations that are statements of their own.
STATEMENTS = frozenset(
    "copy set_attribute set_item delete delete_global delete_attribute delete_item unpack function class import assert "
    "if for while try with match annotate inplace store store_global".split()
)

#: Operations that make lists, dicts and sets, and those that run what is in them again and again.
DISPLAYS = ("list", "dict", "set", "comprehension")
_LOOPS = ("for", "while", "comprehension", "generator")
#: Functions that make lists and the like.
MAKING = frozenset({"list", "dict", "set", "sorted", "deque", "defaultdict", "OrderedDict", "Counter", "fromkeys"})
#: The methods that change which items an object has, or the size of an array.
CHANGING = frozenset("append extend insert remove pop clear sort reverse update setdefault popitem resize".split())


def returns(region: Region) -> bool:
    """Whether something in a region returns from the function."""
    return any(part.exit.kind == "return" for part in regions_in(region))


def breaks(region: Region, kinds: Collection[str] = ("break",)) -> bool:
    """Whether something in the body of a loop leaves that loop."""
    if region.exit.kind in kinds:
        return True
    for operation in region.operations:
        # What leaves a loop inside leaves no more than that, but for its ``else``.
        inside = operation.regions[-1:] if operation.kind in ("for", "while") else operation.regions
        if any(breaks(part, kinds) for part in inside):
            return True
    return False


def leaves(region: Region) -> bool:
    """Whether the function, or a loop around a region, is left in it."""
    return returns(region) or breaks(region, ("break", "continue"))


def is_inlined_easily(code: Code) -> bool:
    """Whether a function returns at its end, or in branches of which no more than one goes on."""

    branches = _returning_branches(code)
    return branches is not None and not any(map(both_go_on, branches))


def is_inlined_where_known(code: Code) -> bool:
    """Whether a function that returns returns at its end or in branches: it can be inlined where these are known."""
    return _returning_branches(code) is not None


def both_go_on(branch: Operation) -> bool:
    """Whether both arms of a branch go on: what comes after it would be written twice where one of them returns."""
    return all(region.exit.kind == "yield" for region in branch.regions)


def _returning_branches(code: Code) -> list[Operation] | None:
    """The branches in which something returns; None if something returns in a loop or the like."""
    found: list[Operation] = []

    def is_plain(region: Region) -> bool:
        inside = [operation for operation in region.operations if any(map(returns, operation.regions))]
        found.extend(inside)
        return all(op.kind == "if" and all(map(is_plain, op.regions)) for op in inside)

    return found if not (code.generates or code.awaits) and is_plain(code.body) else None


def is_part_of_expression(operation: Operation) -> bool:
    """Whether an operation can stand in an expression."""
    return operation.kind not in STATEMENTS and len(operation.results) == 1 and not operation.result.name


def is_expression(operations: Sequence[Operation], end: Exit) -> bool:
    """Whether operations can be written as one expression."""
    uses = Counter(o for operation in operations for o in operation.operands if isinstance(o, Value))
    uses.update(o for o in end.operands if isinstance(o, Value))
    for operation in operations:
        if not is_part_of_expression(operation):
            return False
        if uses[operation.result] != 1:
            return False
    return True


def is_plain_class(code: Code) -> bool:
    """Whether the body of a class does no more than give names to methods and constants."""
    kept: set[Operand] = set()
    for op in code.body.operations:
        match op.kind:
            case "function" if not op.data.code.awaits:
                count, operands = op.data.decorators, op.operands
                if not all(isinstance(o, Constant) for o in operands[count : count + len(op.data.defaults)]):
                    return False
                kept.update(op.results)
            case "tuple" if all(isinstance(o, Constant) for o in op.operands):
                kept.update(op.results)
            case "store" if isinstance(op.operands[0], Constant) or op.operands[0] in kept:
                pass
            case "load" if op.data in code.variables:
                pass
            case "global" | "attribute" | "item" | "annotate" | "tuple":
                pass
            case _:
                return False
    return True


def own_variables(code: Code, regions: Iterable[Region]) -> frozenset[Variable]:
    """The variables of a comprehension of a function that functions inside of it read: each evaluation has its own."""
    stored = {op.data for region in regions for op in inner(region) if op.kind == "store"}
    return frozenset(stored.difference(code.variables, code.captures))


def managers_of_library(code: Code, lookup: Callable[[str], object]) -> set[Operand]:
    """The managers of ``with`` that are objects of a library: they do nothing to what the program makes."""
    known: dict[Operand, object] = {}
    found: set[Operand] = set()
    for op in inner(code.body):
        base = known.get(op.operands[0]) if op.operands else None
        if op.kind == "global":
            known[op.result] = lookup(op.data)
        elif op.kind == "attribute" and isinstance(base, types.ModuleType):
            known[op.result] = getattr(base, op.data, None)
        elif op.kind == "call" and is_of_library(module_of(base)):
            found.add(op.result)
    found.update(value for value, given in known.items() if is_of_library(module_of(type(given))))
    return found


def shared_variables(code: Code, lookup: Callable[[str], object], generators: bool = False) -> frozenset[Variable]:
    """The variables of a function that can be values: they are no more than read and stored, by functions alone.

    ``lookup`` gives the values of global names.  Those that ``generators`` read are such variables where these are
    known to run in the function itself.
    """
    found, staying = set(code.variables), managers_of_library(code, lookup)
    stored = set()
    functions = defined_once(code)
    for made in codes(code):
        if made.kind == "class" and is_plain_class(made):
            continue
        if made is not code and (made.kind == "class" or (made.kind == "generator" and not generators)):
            found -= set(made.captures) - (functions if made.kind == "generator" else set())
        for operation in inner(made.body):
            if operation.kind == "store":
                stored.add(operation.data)
            elif operation.kind == "delete":
                found.discard(operation.data)
            elif isinstance(operation.data, (Handlers, Cases)):
                found -= set(_bound_by(operation.data))
            elif operation.kind in ("try", "comprehension", "match", "with"):
                if operation.kind == "with" and operation.operands[0] not in staying:
                    continue
                found -= {o.data for part in operation.regions for o in _inside(part) if o.kind == "store"}
    params = {param.target for param in code.params}
    return frozenset(v for v in found if v in stored or v in params)


def is_spread(code: Code, value: Value, star: str = "*") -> bool:
    """Whether a call gets a value behind a star, so that its items have to be known."""
    calls = (o for o in inner(code.body) if o.kind == "call")
    return any(kind == star and o is value for c in calls for kind, o in zip(c.data, c.operands[1:], strict=True))


def is_put_into(code: Code, value: Value) -> bool:
    """Whether a dict gets the items of a value: ``d.update(value)``."""
    updates = {o.results[0] for o in inner(code.body) if o.kind == "attribute" and o.data == "update"}
    return any(o.kind == "call" and o.operands[0] in updates and value in o.operands[1:] for o in inner(code.body))


def is_merged(code: Code, value: Value) -> bool:
    """Whether a dict gets the items of a value, or is made of them: ``dict(value, k=v)``, ``{**value, "k": v}``.

    So it is with a value that gets the items of others: ``value.update(k=v)``.
    """
    classes = {o.results[0] for o in inner(code.body) if o.kind == "global" and o.data == "dict"}
    for op in inner(code.body):
        if op.kind == "call" and op.operands[0] in classes and value in op.operands[1:]:
            return True
        if op.kind == "dict" and any(star and o is value for star, o in zip(op.data, op.operands[1::2], strict=True)):
            return True
        if op.kind == "attribute" and op.data == "update" and op.operands[0] is value:
            return True
    return is_spread(code, value, "**") or is_put_into(code, value)


def parts_taken(code: Code, value: Value) -> int | None:
    """Into how many parts the one loop that goes through a value takes each item apart at once; None for no such."""
    users = [o for o in inner(code.body) if value in o.operands]
    if len(users) != 1 or users[0].kind not in ("for", "comprehension", "generator", "each") or users[0].awaits:
        return None
    body = users[0].data.body if isinstance(users[0].data, Code) else users[0].regions[0]
    if isinstance(users[0].data, Code) and body.operations and body.operations[0].kind == "each":
        body = body.operations[0].regions[0]
    first = body.operations[0] if body.operations else None
    if first is None or first.kind != "unpack" or first.operands != body.params[:1]:
        return None
    count, star = first.data
    return count if star is None else None


def defined_once(code: Code) -> frozenset[Variable]:
    """The variables that are the names of functions, and of nothing else: it does not matter when they are read."""
    made: set[Value] = set()
    stores: list[Operation] = []
    for part in codes(code):
        for op in inner(part.body):
            made.update(op.results if op.kind == "function" and not op.data.decorators else ())
            stores += [op] if op.kind in ("store", "delete") else []
    counts = Counter(op.data for op in stores)
    params = {p.target for part in codes(code) for p in part.params}
    return frozenset(
        op.data for op in stores if op.kind == "store" and op.operands[0] in made and counts[op.data] == 1
    ) - frozenset(p for p in params if isinstance(p, Variable))


def caught_variables(code: Code) -> set[Variable]:
    """The variables that are the names of exceptions in handlers, and nothing else."""
    found = {v for o in inner(code.body) if isinstance(o.data, Handlers) for v in _bound_by(o.data)}
    return found - {o.data for o in inner(code.body) if o.kind in ("store", "delete")} - {p.target for p in code.params}


def _inside(region: Region) -> Iterator[Operation]:
    yield from inner(region)


def _bound_by(data: Handlers | Cases) -> Iterator[Variable]:
    if isinstance(data, Handlers):
        yield from (name for name in data.names if isinstance(name, Variable))
        return
    pending = list(data.patterns)
    for pattern in pending:
        pending += pattern.parts
        if isinstance(pattern.target, Variable):
            yield pattern.target


def settled(region: Region, returned: Mapping[Value, tuple[Sequence[Operation], tuple[Operand, ...]]]) -> Region:
    """A region in which each exit that returns a key of a mapping does what stands there, and returns that."""
    operations = tuple(
        [
            replace(o, regions=tuple([settled(part, returned) for part in o.regions])) if o.regions else o
            for o in region.operations
        ]
    )
    end = region.exit
    if end.kind == "return" and end.operands and end.operands[0] in returned:
        more, operands = returned[end.operands[0]]  # type: ignore[index]
        operations = (*operations, *more)
        end = replace(end, operands=operands)
    return replace(region, operations=operations, exit=end)


def free_values(code: Code) -> list[Value]:
    """The values that a function uses and does not make, in order of their first use."""
    made: set[Value] = {p.target for p in code.params if isinstance(p.target, Value)}
    found: dict[Value, None] = {}
    _free(code.body, made, found)
    return [value for value in found if value not in made]


def _free(region: Region, made: set[Value], found: dict[Value, None]) -> None:
    made.update(region.params)
    for operation in region.operations:
        found.update(dict.fromkeys(o for o in operation.operands if isinstance(o, Value)))
        data = operation.data.code if isinstance(operation.data, Definition) else operation.data
        if isinstance(data, Code):
            found.update(dict.fromkeys(free_values(data)))
        for part in operation.regions:
            _free(part, made, found)
        made.update(operation.results)
    found.update(dict.fromkeys(o for o in region.exit.operands if isinstance(o, Value)))


def pruned(code: Code, needless: Collection[Value]) -> Code:
    """A function without the operations of which nobody uses the result, if they may be left out.

    These are reads of global names, copies, functions and displays, and what makes one of the ``needless`` values.
    """
    while True:
        uses: Counter[Operand] = Counter()
        for made in codes(code):
            for part in regions_in(made.body):
                uses.update(part.exit.operands)
                for operation in part.operations:
                    uses.update(operation.operands)
        body = _pruned(code.body, uses, needless)
        if body is code.body:
            return code
        code = replace(code, body=body)


def _pruned(region: Region, uses: Counter[Operand], needless: Collection[Value]) -> Region:
    out: list[Operation] = []
    for operation in region.operations:
        if len(operation.results) == 1 and not uses[operation.result]:
            if operation.kind in ("copy", "lambda", "tuple", "list") or operation.result in needless:
                continue
            if operation.kind == "function" and not operation.data.decorators:
                continue
        regions = tuple([_pruned(part, uses, needless) for part in operation.regions])
        if operation.kind == "generator":
            body = _pruned(operation.data.body, uses, needless)
            if body is not operation.data.body:
                made = replace(operation.data, body=body)
                operation = replace(operation, data=replace(made, seen=tuple(free_values(made))))
        if any(a is not b for a, b in zip(regions, operation.regions, strict=True)):
            operation = replace(operation, regions=regions)
        out.append(operation)
    if len(out) == len(region.operations) and all(a is b for a, b in zip(out, region.operations, strict=True)):
        return region
    return replace(region, operations=tuple(out))


def fills_containers(code: Code) -> bool:
    """Whether a function makes lists or dicts, and has loops."""
    return makes_containers(code) and any(op.kind in _LOOPS for op in inner(code.body))


def makes_containers(code: Code) -> bool:
    """Whether a function makes lists, dicts or sets: displays of them, or calls of what makes them."""
    made = any(op.kind in (*DISPLAYS, "generator") for op in inner(code.body))
    return made or not MAKING.isdisjoint(names_read([code]))


def changes_items(code: Code) -> bool:
    """Whether a function changes which items a list or dict has, or what is in them: ``l[i] = v``, ``l += [v]``."""
    displays = {value for op in inner(code.body) if op.kind in DISPLAYS for value in op.results}
    return any(
        op.kind in ("set_item", "delete_item")
        or (op.kind == "attribute" and op.data in CHANGING)
        or (op.kind == "inplace" and op.operands[1] in displays)
        for op in inner(code.body)
    )


def size(code: Code) -> int:
    """How many operations a function has."""
    return sum(1 for operation in inner(code.body) if operation.kind not in ("global", "load"))


def names_taken(function: types.FunctionType, code: Code) -> set[str]:
    """The names that mean something in a function, or may."""
    own = function.__code__
    return {*function.__globals__, *own.co_freevars, *own.co_varnames, *own.co_cellvars, *names_read(codes(code))}


def used_once(code: Code, kinds: Collection[str]) -> set[Value]:
    """The values in a function, and in those that it makes, that are the first operand of an operation or exit of some
    kinds, or the test of a ``while``, and used for nothing else."""
    uses: Counter[Operand] = Counter()
    found: set[Value] = set()
    for made in codes(code):
        for part in regions_in(made.body):
            ends: tuple[Operation | Exit, ...] = (*part.operations, part.exit)
            for one in ends:
                uses.update(one.operands)
                first = one.operands[:1] if one.kind in kinds else ()
                if isinstance(one, Operation) and one.kind == "while" and "while" in kinds:
                    first = one.regions[0].exit.operands[:1]
                found.update(value for value in first if isinstance(value, Value))
    return {value for value in found if uses[value] == 1}


def names_read(made: Iterable[Code]) -> set[str]:
    """The global names that functions read."""
    return {o.data for code in made for o in inner(code.body) if o.kind == "global"}


#: Functions that only make something to run through of what they are given.
_RUNNING = ("range", "zip", "enumerate", "reversed")


def with_iterable_behind(out: Sequence[Operation], iterable: Operand) -> list[Operation]:
    """Operations with ``range(...)``, ``zip(...)`` and the like, over which a loop behind them runs, after the displays
    that stand between."""
    at = next((i for i, op in enumerate(out) if iterable in op.results), -1)
    displays = all(op.kind in ("list", "dict", "tuple", "lambda") for op in out[at + 1 :])
    first, wanted = at, {iterable}
    while first >= 0 and not wanted.isdisjoint(out[first].results) and _makes_iterable(out[first]):
        # The functions, and what they are given that is made by such functions.
        wanted |= {o for o in out[first].operands if isinstance(o, Value) and not o.name}
        first -= 1
    made = out[first + 1 : at + 1]
    called = {op.operands[0] for op in made if op.kind == "call"}
    known = {op.result for op in made if op.kind == "global"}
    if not displays or not made or not called <= known:
        return list(out)
    given = {o for op in made for o in op.operands}
    names = {o.name for o in given if isinstance(o, Value)} - {""}
    if any(r in given or r.name in names for op in out[at + 1 :] for r in op.results):
        return list(out)
    return [*out[: first + 1], *out[at + 1 :], *made]


def _makes_iterable(op: Operation) -> bool:
    """Whether an operation is the name of such a function, or a call, which is known to be one of it then."""
    return op.kind == "call" or (op.kind == "global" and op.data in _RUNNING)
