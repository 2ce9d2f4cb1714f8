"""Find the type of an expression from the types of its names."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from s2sad import ops
from s2sad.analysis.dtypes import is_mask, may_be_boolean, precision_of
from s2sad.analysis.indexing import AtomMaker, indexing, shapeless
from s2sad.analysis.whole import taken_apart
from s2sad.frontend.sketches import COUNTING, VIEWS
from s2sad.ir.nodes import (
    Build,
    Call,
    Const,
    Expr,
    Global,
    Op,
    Opaque,
    Unset,
    Var,
)
from s2sad.ir.sizes import computed
from s2sad.ir.sums import literal_size
from s2sad.ir.types import (
    ARRAY_OF_OBJECTS,
    COMPLEX,
    FLOAT,
    NONE,
    OPEN,
    OTHER,
    SCALAR,
    SCALAR_SHAPE,
    TEXT,
    UNSET_FACT,
    Atom,
    Fact,
    constant,
    either,
    has_objects,
    is_no_number,
    item_of,
    key_of,
    leading_to,
    made_of,
    scalar,
    some_item,
    timeless,
)
from s2sad.ops.binding import bind, dtype_of
from s2sad.ops.infer import moments
from s2sad.ops.infer.common import Types, elementwise, shape_of, unknown
from s2sad.ops.infer.dtypes import is_of_objects, is_real, joined
from s2sad.ops.infer.joining import AsArrays
from s2sad.ops.infer.python import row

#: How many items of a container are told apart when it changes.
_LONGEST = 16
UserCall = Callable[[Call, Callable[[Expr], Fact]], Fact]


def evaluate(
    expr: Expr,
    of: Mapping[str, Fact],
    global_facts: Mapping[str, Fact],
    user_call: UserCall | None = None,
    atom: AtomMaker = Atom,
) -> Fact:
    """The type of an expression, from the types of its names."""
    if isinstance(expr, Var):
        return of.get(expr.name, OPEN)
    return Evaluator(of, global_facts, user_call, atom)(expr)


class Evaluator:
    """Finds the types of expressions from those of their names; the type of each part is found once.

    ``known`` has to be cleared where the type of a name in ``of`` changes.
    """

    __slots__ = ("atom", "global_facts", "known", "of", "user_call")

    def __init__(
        self,
        of: Mapping[str, Fact],
        global_facts: Mapping[str, Fact],
        user_call: UserCall | None = None,
        atom: AtomMaker = Atom,
    ) -> None:
        self.of = of
        self.global_facts = global_facts
        self.user_call = user_call
        self.atom = atom
        # An expression is kept, so that no other comes to be where it was.
        self.known: dict[int, tuple[Expr, Fact]] = {}

    def __call__(self, expr: Expr, /) -> Fact:
        if isinstance(expr, Var):
            return self.of.get(expr.name, OPEN)
        found = self.known.get(id(expr))
        if found is None:
            found = self.known[id(expr)] = (expr, self.find(expr))
        return found[1]

    def find(self, expr: Expr) -> Fact:
        match expr:
            case Call():
                return self.result(expr)
            case Const(value=value):
                if isinstance(value, Unset):
                    return UNSET_FACT
                if isinstance(value, int) and not isinstance(value, bool):
                    return scalar(True, literal_size(value) if value >= 0 else str(value))
                if isinstance(value, (bool, str)):
                    return constant(value)
                if isinstance(value, float):
                    return FLOAT
                return COMPLEX if isinstance(value, complex) else NONE if value is None else OTHER
            case Global(text=text):
                return self.global_facts[text]
            case Build(kind="dict", items=items):
                pairs = [
                    (k.value, self(v)) for k, v in zip(items[::2], items[1::2], strict=True) if isinstance(k, Const)
                ]
                # Of equal keys there is the first one, with the last value.
                return Fact("dict", items=tuple(dict(pairs).items()) if 2 * len(pairs) == len(items) else None)
            case Build(kind=kind, items=items):
                return Fact(kind, items=tuple((i, self(item)) for i, item in enumerate(items)))
            case Opaque(call=Call() as call):
                return self(call)
            case Opaque(node=ast.JoinedStr(), refusal=None):
                return TEXT
            case Opaque(sketch=Call(op=Op(kind="comprehension", name=name)) as made, reach=classes) if (
                name == "list" or not classes
            ):
                return self.comprehension(made)
            case Opaque(sketch=Call(op=Op(kind="method")) as made, reach=classes) if not classes:
                return self(made)
            case Opaque(made=type() as cls, inner=inner):
                return replace(OPEN, owners=frozenset({cls}), each=leading_to(inner))
            case Opaque(reach=classes) if classes:
                return leading_to(classes)
            case Opaque() if (apart := taken_apart(expr)) is not None:
                return self(apart)
            case _:
                return OPEN

    def comprehension(self, made: Call) -> Fact:
        """The type of what a comprehension gives, of which each item is like every other."""
        of = dict(self.of)
        inner = Evaluator(of, self.global_facts, self.user_call, self.atom)
        count = 2 if made.op.name == "dict" else 1
        for loop in made.args[:-count]:
            assert isinstance(loop, Build)
            target, runs = loop.items
            _bind(target, SCALAR if _is_range(runs) else row(inner(runs)), of)
        *keys, each = [timeless(inner(part)) for part in made.args[-count:]]
        if made.op.name == "generator":
            return OPEN if each.kind == "open" else replace(OPEN, each=each)
        known = None if each.kind == "open" and each == OPEN else each
        return Fact(made.op.name, each=known, keys=keys[0] if keys else None)  # type: ignore[arg-type]

    def result(self, call: Call) -> Fact:
        """The type of the result of an operation."""
        if given := self.surely_given(call):
            return Evaluator({**self.of, **given}, self.global_facts, self.user_call, self.atom).result(call)
        spec = ops.spec_of(call.op.function)
        bound: Mapping[str, Expr] | None = None
        if spec is not None and (spec.parameters or spec.infer):
            try:
                bound = bind(call)
            except TypeError:
                bound = None
        found = self.shape(call, spec, bound)
        if found.value is not None and call.op.kind not in ("user", "index"):
            found = found.but(value=None)
        if not found.numeric and found.kind != "open":
            return found
        dtype = dtype_of(call)
        if dtype is not None and found.numeric and is_of_objects(dtype, self):
            return ARRAY_OF_OBJECTS
        if dtype is None and found.numeric and call.op.kind in ("function", "method", "operator", "attribute"):
            of_objects = next(filter(has_objects, map(self, call.args)), None)
            if of_objects is not None:
                # What an operation gives of such an array has another shape.
                return shapeless(of_objects) if of_objects.kind == "open" else ARRAY_OF_OBJECTS
            names = ("x", "y") if call.op.function is np.where else _OPERANDS
            if any(is_no_number(self(bound[name])) for name in names if bound and name in bound):
                return ARRAY_OF_OBJECTS
        if found.numeric and is_mask(call, self):
            found = found.but(boolean="mask")
        elif found.boolean == "mask":
            # Of a sum, or of a conversion, the operand has told no more than the shape.
            found = found.but(boolean=True)
        elif found.numeric and not found.boolean and may_be_boolean(call, spec, bound, self):
            found = found.but(boolean=True)
        precision = precision_of(call, found, spec, bound, self)
        if precision != found.precision:
            found = found.but(precision=precision)
        if found.numeric and any(self(a).boxed for a in call.args) and _keeps_boxes(call, found, spec):
            # What seems a number may be an array without axes, which is changed in place by ``+=``.
            found = found.but(boxed=True, kind="numeric" if found.kind == "scalar" else found.kind)
        return found

    def surely_given(self, call: Call) -> dict[str, Fact]:
        """The types of operands that may be None where an operation is one that raises then."""
        if call.op.kind == "index" or (call.op.kind in ("attribute", "method") and not call.op.name.startswith("__")):
            whole = call.args[0]
            given = self(whole).given if isinstance(whole, Var) else None
            return {whole.name: given} if isinstance(whole, Var) and given is not None else {}
        if call.op.kind not in ("operator", "inplace") and call.op.name not in _ORDERS:
            return {}
        operands = {a.name: self(a) for a in call.args if isinstance(a, Var)}
        return {n: f.given or SCALAR for n, f in operands.items() if f.kind == "none" or f.given is not None}

    def shape(self, call: Call, spec: ops.OpSpec | None, bound: Mapping[str, Expr] | None) -> Fact:
        """The type of a result but for its dtype."""
        op, args = call.op, call.args
        match op.kind:
            case "index":
                return indexing(self(args[0]), args[1], self, self.atom)
            case "compare" | "bool":
                facts = [self(a) for a in args]
                if op.name == "not" or " " in op.name or op.name in ("is", "is not", "in", "not in"):
                    return SCALAR
                if op.kind == "bool":
                    return either(facts) or OPEN if all(f.kind == "scalar" for f in facts) else OPEN
                return elementwise(facts)
            case "ifexp":
                first, second = self(args[1]), self(args[2])
                if first.kind == second.kind == "scalar":
                    return scalar(first.real and second.real)
                if first.numeric and second.numeric and first != second:
                    return Fact("numeric")
                both_other = first.kind == second.kind == "other"
                return first if first == second else (both_other and either([first, second])) or OPEN
            case "attribute" | "field":
                path = _path(call)
                held = self.global_facts[path] if path is not None else OPEN
                return _attribute(op.name, self(args[0]), op.function) if held.kind == "open" else held
            case "met":
                return OPEN
            case "user":
                return self.user_call(call, self) if self.user_call is not None else OPEN
            case "operator" | "inplace" if len(args) == 2:
                if any(self(a).plain is not None for a in args):
                    return moments.of_operator(op.name, self(args[0]), self(args[1])) or OPEN
                # What is written ``+=`` makes a new tuple or number.
                if op.kind == "operator" or self(args[0]).kind in ("tuple", "scalar"):
                    found = _of_containers(op.name, self(args[0]), self(args[1]))
                    if found is not None:
                        return found
                if not op.checked and may_be_container(op.name, self(args[0]), self(args[1])):
                    return OPEN
        if op.kind == "method" and op.name in COUNTING and len(args) == 1 and op.function is None:
            whole = self(args[0])
            return SCALAR if (whole.kind in ("list", "tuple") or whole.text) and not whole.owners else OPEN
        if op.kind == "method" and op.name in moments.METHODS:
            return moments.of_method(op.name, self(args[0]))
        if op.kind == "method" and op.name == "copy" and self(args[0]).kind in _CONTAINERS:
            return self(args[0])
        if op.kind == "method" and op.name in ("get", *VIEWS) and is_plain_dict(self(args[0])):
            whole = self(args[0])
            if op.name in VIEWS:
                return _shown(op.name, whole)
            if len(args) == 3:
                default = self(args[2])
                held = indexing(whole, args[1], self, self.atom)
                return default if whole.items == () else either([held, default]) or OPEN
        if op.kind == "change":
            return changed(op.name, [self(a) for a in args], args[1] if len(args) > 1 else None)
        if op.kind == "inplace":
            return _inplace([self(a) for a in args], op.name)
        if isinstance(op.function, np.ufunc) and op.function.signature is None and not call.kwargs:
            look = AsArrays(self, args) if op.kind == "function" else self
            whole = elementwise([look(a) for a in args])
            if op.function.nout > 1:
                # Of arrays of a class without axes they are arrays.
                kind = "numeric" if whole.kind == "scalar" else whole.kind
                return Fact("tuple", each=replace(whole, kind=kind, boolean=True, precision=""))
            if op.kind == "method" and whole.kind == "scalar" and self(args[0]).kind == "array":
                # The method gives the array itself where there is nothing to do.
                whole = replace(whole, kind="numeric")
            return _with_reality(whole, op.function)
        if (joint := joined(call, self)) is not None:
            return joint
        if spec is None or bound is None:
            return OPEN
        known = spec.infer(bound, _as_taken(spec, bound, self)) if spec.infer is not None else None
        if known is None:
            known = unknown(bound, self) if isinstance(spec, ops.Rule) else OPEN
        if op.kind == "method" and known.kind in ("array", "numeric") and not known.has_axes:
            known = _as_of(self(args[0]), known)
        if isinstance(op.function, np.ufunc) and op.function.nout == 1:
            known = _with_reality(known, op.function)
        dtype = dtype_of(call) if known.numeric or known.kind == "open" else None
        return known if dtype is None or known.real == is_real(dtype, self) else replace(known, real=not known.real)


def _as_taken(spec: ops.OpSpec, bound: Mapping[str, Expr], types: Evaluator) -> Types:
    """The types of operands, those of lists that an operation takes for arrays as of arrays."""
    lists = [name for name, v in bound.items() if types(v).kind in ("list", "tuple")]
    if not lists or not isinstance(spec, ops.Rule) or not spec.name.startswith(("numpy.", "scipy.")):
        return types
    others = [bound[name] for name in lists if not spec.takes_array(name)]
    return AsArrays(types, [bound[name] for name in lists if bound[name] not in others])


def _as_of(whole: Fact, known: Fact) -> Fact:
    """What a method gives, by what it gives of an array, perhaps without axes: those of numbers give numbers then."""
    if whole.kind == "scalar" and known.ndim == 0:
        return known.but(kind="scalar", shape=SCALAR_SHAPE, dims=())
    return known if whole.kind == "array" else known.but(kind="numeric")


def is_plain_dict(whole: Fact) -> bool:
    """Whether a value surely is a dict whose methods are those of the built-in class."""
    return whole.kind == "dict" and not whole.owners


def _is_range(runs: Expr) -> bool:
    return isinstance(runs, Call) and runs.op.function is range


def _bind(target: Expr, fact: Fact, of: dict[str, Fact]) -> None:
    """Give the names of a loop's target their types."""
    if isinstance(target, Var):
        of[target.name] = fact
    elif isinstance(target, Build):
        for position, part in enumerate(target.items):
            _bind(part, timeless(item_of(fact, position)), of)


def _shown(name: str, whole: Fact) -> Fact:
    """What a view of a dict is, which may carry derivatives, and what it gives."""
    key, value = key_of(whole) or OPEN, some_item(whole) or OPEN
    each = {"keys": key, "values": value, "items": Fact("tuple", items=((0, key), (1, value)))}[name]
    return OPEN if each.kind == "open" else replace(OPEN, each=each)


@functools.cache
def _reality(function: np.ufunc) -> bool | None:
    """Whether a ufunc gives real numbers, or complex ones, whatever its operands; None where it depends on them.

    Example:
        >>> _reality(np.absolute), _reality(np.add)
        (True, None)
    """
    # What functions of Python made universal give is not known.
    found = {signature[-1] in "FDG" for signature in function.types if signature[-1] != "O"}
    return None if len(found) != 1 else found == {False}


def _with_reality(result: Fact, function: np.ufunc) -> Fact:
    """The type of the result of a ufunc, real or complex if that does not depend on the operands."""
    real = _reality(function)
    return result if real is None or real == result.real else replace(result, real=real)


def _keeps_boxes(call: Call, found: Fact, spec: ops.OpSpec | None) -> bool:
    """Whether an operation on arrays of a class may give an array of that class, without axes too."""
    if call.op.kind in ("index", "attribute"):
        return found.kind != "scalar"
    if call.op.kind in ("function", "method", "runtime"):
        return spec is None or spec.dtype not in ("item", "float", "whole", "inferred")
    return call.op.kind in ("operator", "inplace")


#: The comparisons that None does not have.
#: The parameters of which NumPy's functions make arrays, or fill them.
_OPERANDS = ("object", "a", "A", "arr", "array", "arrays", "values", "fill_value")
_ORDERS = ("<", "<=", ">", ">=")
_CONTAINERS = ("list", "dict", "tuple", "record", "dataclass")


def _of_containers(symbol: str, left: Fact, right: Fact) -> Fact | None:
    """What ``+`` and ``*`` make of two lists or tuples, or of one and a number, and of the sizes of axes."""
    if symbol == "+" and left.kind == right.kind and left.kind in ("tuple", "list"):
        if left.items is None or right.items is None:
            known = [f for f in map(some_item, (left, right)) if f is not None]
            return Fact(left.kind, each=either(known) if len(known) == 2 or () in (left.items, right.items) else None)
        both = [f for _, f in (*left.items, *right.items)]
        return Fact(left.kind, items=tuple(enumerate(both)))
    repeated = left if right.kind == "scalar" else right if left.kind == "scalar" else OPEN
    if symbol == "*" and repeated.kind in ("tuple", "list"):
        return Fact(repeated.kind, each=some_item(repeated))
    if left.kind == right.kind == "scalar":
        return scalar(left.real and right.real, computed(symbol, left.size, right.size))
    return None


def may_be_container(symbol: str, left: Fact, right: Fact) -> bool:
    """Whether an operator may make a list, tuple or dict of what may be one: ``+``, ``|``, and ``*`` by an integer."""
    if symbol in ("+", "|"):
        return left.kind == right.kind == "open"
    others = [other for one, other in ((left, right), (right, left)) if one.kind == "open"]
    return symbol == "*" and any(f.kind == "open" or _may_be_integer(f) for f in others)


def _may_be_integer(fact: Fact) -> bool:
    """Whether a number may be an integer."""
    return fact.kind == "scalar" and fact.precision in ("", "weak")


def changed(how: str, facts: list[Fact], key: Expr | None) -> Fact:
    """The fact about a container after a change."""
    whole = facts[0]
    if how.startswith(".") and whole.kind == "dataclass" and whole.items is not None:
        new = timeless(facts[1])
        return replace(whole, items=tuple([(k, new if k == how[1:] else f) for k, f in whole.items]))
    if whole.kind not in ("list", "dict"):
        return OPEN
    known = whole.items
    if how == "pop":
        last = known is not None and len(facts) == 1
        return replace(whole, items=known[:-1]) if known and last else Fact(whole.kind, each=some_item(whole))
    if how == "moved":
        return Fact(whole.kind, each=some_item(whole))
    new = timeless(facts[-1])
    if known is not None and len(known) < _LONGEST:
        if how == "append":
            return replace(whole, items=(*known, (len(known), new)))
        if how == "[]" and isinstance(key, Const):
            place = key.value
            if whole.kind == "list" and isinstance(place, int) and place < 0:
                place += len(known)
            if any(k == place for k, _ in known):
                return replace(whole, items=tuple([(k, new if k == place else f) for k, f in known]))
            if whole.kind == "dict":
                return replace(whole, items=(*known, (place, new)))
    others = some_item(whole)
    keys = _keys_with(whole, facts[1]) if how == "[]" and whole.kind == "dict" else None
    if others is None and known != ():
        return Fact(whole.kind, keys=keys)
    return Fact(whole.kind, each=either([new] if others is None else [others, new]), keys=keys)


def _keys_with(whole: Fact, new: Fact) -> Fact | None:
    """What holds for every key of a dict that has got another one."""
    old = key_of(whole)
    return None if old is None and whole.items != () else either([new] if old is None else [old, new])


def _inplace(facts: list[Fact], symbol: str) -> Fact:
    left, right = facts
    if left.kind == "list" and symbol == "+" and not right.numeric and right.kind != "open":
        known = [f for f in map(some_item, facts) if f is not None]
        return Fact("list", each=either(known) if right.kind in ("list", "tuple") and len(known) == 2 else None)
    if left.kind == "array":
        return left
    if left.kind == "scalar" and right.kind == "scalar":
        return elementwise(facts)
    if left.kind == "scalar":
        return elementwise(facts) if symbol != "@" else OPEN
    # A number becomes what is added to it, an array stays what it is.
    return Fact("numeric", real=left.real and right.real) if left.kind == "numeric" else OPEN


def _path(expr: Expr) -> str | None:
    """The dotted name of an attribute of a variable of the module that is no array's."""
    if isinstance(expr, Global):
        return expr.text
    if not (isinstance(expr, Call) and expr.op.kind in ("attribute", "field") and expr.op.function is None):
        return None
    path = _path(expr.args[0])
    return None if path is None else f"{path}.{expr.op.name}"


def _attribute(name: str, whole: Fact, function: object) -> Fact:
    if whole.text and (whole.plain is not None or whole.each is not None):
        return moments.of_attribute(name, whole)
    if name in ("ndim", "size", "itemsize", "nbytes"):
        return OPEN if whole.kind == "other" else SCALAR
    if name == "dtype":
        precision = whole.precision if whole.precision in ("single", "double") else ""
        return Fact("other", real=whole.real, boolean=whole.boolean or not whole.numeric, precision=precision)
    if name == "shape":
        return shape_of(whole)
    if whole.items is not None:
        return item_of(whole, name)
    if name == "T" and whole.dims:
        return made_of(whole.dims[::-1], whole.real)
    if name == "mT" and whole.dims and len(whole.dims) > 1:
        return made_of((*whole.dims[:-2], whole.dims[-1], whole.dims[-2]), whole.real)
    if name in ("T", "mT") and whole.ndim is not None:
        return replace(whole, shape=whole.shape if whole.ndim < 2 else None)
    if name in ("T", "mT") and whole.kind == "array":
        return replace(whole, shape=None)
    if name in ("real", "imag") and whole.numeric:
        return replace(whole, real=True, size=whole.size if name == "real" else None)
    return Fact("numeric") if function is not None else OPEN
