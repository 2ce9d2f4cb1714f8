"""Which values of a code may depend on some of its parameters: where it is worth rewriting it.

The analysis is by data flow alone and without types, and nothing needs it to be right.  A value depends on the operands
of its operation.  A write into an object (an item, an attribute, a method that gets something) makes all that
may be the same object, or hold it, depend on what is written; what may be so are values that are linked by copies,
items, attributes, displays, branches and loops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from s2sad.ir.code import Code, Definition, Operand, Operation, Region, Value, Variable, codes, inner
from s2sad.ir.live import handed

Node = Value | Variable
#: Results and items that have no derivative.
_CONSTANT_KINDS = frozenset(("compare", "chain", "text", "global", "import"))
_CONSTANT_ATTRIBUTES = frozenset(("shape", "ndim", "dtype", "size", "nbytes", "itemsize", "strides", "__class__"))
_CONSTANT_FUNCTIONS = frozenset(
    "len isinstance issubclass type range id hasattr callable repr str format print hash bool".split()
)
#: Builtins and methods whose result holds, or is, what they are given.
_HOLDING_FUNCTIONS = frozenset("zip enumerate reversed iter list tuple sorted map filter dict set next".split())
_HOLDING_METHODS = frozenset(
    "items values get setdefault pop popleft popitem copy ravel reshape transpose squeeze view flatten asarray "
    "asanyarray array atleast_1d atleast_2d atleast_3d broadcast_to swapaxes moveaxis split stack".split()
)
_HOLDING_KINDS = frozenset(
    "copy attribute item unpack tuple list set dict choose and or inplace store comprehension generator await".split()
)
#: Builtins that write into nothing.
_READING_FUNCTIONS = frozenset("sum min max abs any all pow round divmod float int complex slice".split())
_MADE_HERE = frozenset(("list", "dict", "set", "comprehension", "call"))


def varied(
    code: Code, params: Collection[str], is_stop: Callable[[Operation], bool] = lambda call: False
) -> frozenset[Node]:
    """The values and variables of a code, and of all that it makes, that may depend on its parameters.

    The parameters of inner functions count as dependent.

    Args:
        code: The code.
        params: The names of the parameters.
        is_stop: Whether a call is one of `stop_gradient`.

    Example:
        >>> import gast
        >>> from s2sad.frontend.lower_statements import lower_function
        >>> source = "def f(x, n):\\n    a = n + 1\\n    b = [a]\\n    b.append(x)\\n    c = b[0]\\n    return len(b)"
        >>> code = lower_function(gast.parse(source).body[0])
        >>> sorted(value.name for value in varied(code, ["x"]) if value.name)
        ['a', 'b', 'c', 'x']
    """
    flow = _Flow(code, is_stop)
    start: list[Node] = [p.target for p in code.params if p.name in params]
    if start:
        start += [p.target for made in codes(code) if made is not code for p in made.params if made.kind != "generator"]
    return flow.reached(start)


class _Flow:
    """What depends on what."""

    def __init__(self, code: Code, is_stop: Callable[[Operation], bool]) -> None:
        self.is_stop = is_stop
        self.made: dict[Node, Operation] = {}
        self.next: dict[Node, list[Node]] = {}
        self.linked: dict[Node, Node] = {}
        #: What is written, and into what.
        self.writes: list[tuple[Node, Node]] = []
        for made in codes(code):
            for op in inner(made.body):
                self.made.update(dict.fromkeys(op.results, op))
        for made in codes(code):
            for op in inner(made.body):
                self.operation(op)
        for target, operands in handed(code).items():
            self.flow(operands, [target], holding=True)

    # --- dependence

    def flow(self, sources: Iterable[Operand | Variable], targets: Iterable[Node], holding: bool = False) -> None:
        """Each target depends on each source; it may be the same object where it is ``holding``."""
        targets = list(targets)
        for source in sources:
            if isinstance(source, (Value, Variable)):
                self.next.setdefault(source, []).extend(targets)
                if holding:
                    for target in targets:
                        self.linked[self.root(source)] = self.root(target)

    def root(self, node: Node) -> Node:
        while (above := self.linked.get(node, node)) is not node:
            self.linked[node] = self.linked.get(above, above)
            node = above
        return node

    def reached(self, start: Iterable[Node]) -> frozenset[Node]:
        members: dict[Node, list[Node]] = {}
        for node in {*self.made, *self.next, *self.linked}:
            members.setdefault(self.root(node), []).append(node)
        written: dict[Node, list[Node]] = {}
        for source, base in self.writes:
            written.setdefault(source, []).append(self.root(base))
        found = dict.fromkeys(start)
        pending = list(found)
        for node in pending:
            new = [*self.next.get(node, ())]
            for root in written.get(node, ()):
                new += members.get(root, [root])
            for other in new:
                if other not in found and not self.is_constant(other):
                    found[other] = None
                    pending.append(other)
        return frozenset(found)

    def is_constant(self, node: Node) -> bool:
        """Whether a value has no derivative, whatever it is made of."""
        op = self.made.get(node)
        if op is None:
            return False
        if op.kind == "call":
            return self.is_stop(op) or self.function(op) in _CONSTANT_FUNCTIONS
        if op.kind == "attribute":
            return op.data in _CONSTANT_ATTRIBUTES
        return op.kind in _CONSTANT_KINDS or (op.kind == "unary" and op.data == "not")

    def function(self, call: Operation) -> str:
        """The name of the global function that is called."""
        made = self.made.get(call.operands[0]) if isinstance(call.operands[0], Value) else None
        return made.data if made is not None and made.kind == "global" else ""

    # --- operations

    def operation(self, op: Operation) -> None:
        operands = [o for o in op.operands if isinstance(o, Value)]
        match op.kind:
            case "load":
                self.flow([op.data], op.results, holding=True)
            case "store":
                self.flow(operands, [op.data, *op.results], holding=True)
            case "set_item" | "set_attribute":
                self.write(op.operands[0], op.operands[1:])
                self.flow(op.operands[-1:], [o for o in op.operands[:1] if isinstance(o, Value)], holding=True)
            case "inplace":
                self.write(op.operands[0], op.operands[1:])
                self.flow(operands, op.results)
                self.flow(op.operands[:1], op.results, holding=True)
            case "call":
                self.call(op)
            case "for" | "comprehension" | "each" | "with":
                self.flow(operands[:1], op.regions[0].params[:1], holding=True)
            case "function" | "lambda" | "class":
                assert isinstance(op.data, Definition)
                self.flow([*operands, *op.data.code.seen, *op.data.code.captures], op.results)
            case "generator":
                (param,) = op.data.params
                self.flow(operands, [param.target], holding=True)
                self.flow([*operands, *op.data.seen, *op.data.captures], op.results)
                self.flow(_elements(op.data.body), op.results, holding=True)
            case "if" | "while" | "try" | "match" | "global":
                pass
            case _:
                self.flow(operands, op.results, op.kind in _HOLDING_KINDS)
        if op.kind in ("choose", "and", "or"):
            self.flow([o for region in op.regions for o in region.exit.operands], op.results, holding=True)
        elif op.kind == "comprehension":
            self.flow(_elements(op.regions[0]), op.results, holding=True)

    def write(self, base: Operand, operands: Iterable[Operand]) -> None:
        if isinstance(base, Value):
            self.writes += [(o, base) for o in operands if isinstance(o, Value)]

    def call(self, op: Operation) -> None:
        called, *given = op.operands
        made = self.made.get(called) if isinstance(called, Value) else None
        self.flow(op.operands, op.results)
        for kind, operand in zip(op.data, given, strict=True):
            if kind == "out":
                self.write(operand, given)
        if made is not None and made.kind == "attribute":
            self.write(made.operands[0], given)
            if made.data in _HOLDING_METHODS:
                self.flow([made.operands[0], *given[:1]], op.results, holding=True)
            return
        if self.function(op) in _HOLDING_FUNCTIONS:
            self.flow(given, op.results, holding=True)
        elif self.function(op) not in _CONSTANT_FUNCTIONS | _READING_FUNCTIONS:
            # A function may write into the objects that it is given.
            for operand in given:
                maker = self.made.get(operand) if isinstance(operand, Value) else None
                if maker is not None and maker.kind in _MADE_HERE:
                    self.write(operand, [o for o in given if o is not operand])


def _elements(region: Region) -> Iterator[Operand]:
    """What a comprehension makes in each round."""
    yield from region.exit.operands
    for op in region.operations:
        if op.kind in ("each", "only"):
            yield from _elements(op.regions[0])
