"""Lower the calls that write into arrays: to the store that does the same.

    np.multiply(x, y, out=c)      t = np.multiply(x, y); c[...] = t
    np.copyto(a, b, where=m)      a[...] = np.where(m, b, a)
    a.sort(axis=0)                a[...] = np.sort(a, axis=0)
    np.put(a, i, v)               a[places] = np.resize(v, np.size(i))
    np.add.at(a, i, v)            a[i] += v, an index that repeats counting each time

The store carries the call, which is what the emitted text runs: so the value is NumPy's own, in every dtype, and
so are its errors.  What stands beside the call is there for the adjoint alone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from s2sad import ops
from s2sad.frontend.changes import Changes, is_moving
from s2sad.frontend.given import Given, given, is_class, is_none, is_numpy
from s2sad.frontend.outs import is_writing, without_out
from s2sad.frontend.resolve import Member
from s2sad.frontend.source import Source
from s2sad.frontend.texts import names_that_hold
from s2sad.frontend.trees import nodes_of
from s2sad.ir import algebra
from s2sad.ir.nodes import Assign, Build, Call, Const, Evaluate, Expr, Op, Store, Var
from s2sad.ops.binding import spelled, takes
from s2sad.runtime import positions
from s2sad.runtime.items import require_as_long

Node = Any
#: The operands of a call that writes, in the order and under the names of the user.
Operands = dict[str, Expr]

#: The classes whose methods write as their names say.
_CHANGING = (np.ndarray, list, dict, set)
ELLIPSIS = Const(...)
_NONE = Const(None)
#: The methods by which arrays make others.
_MAKING = ("astype", "copy", "ravel", "reshape", "transpose", "view")
_INDEX = Op("index", "[]")
_WHERE = Op("runtime", "np.where", np.where)
_SORT = Op("runtime", "np.sort", np.sort)
_PARTITION = Op("runtime", "np.partition", np.partition)
_REMAINDER = Op("runtime", "np.remainder", np.remainder)
_CLIP = Op("runtime", "np.clip", np.clip)
_ARRAY = Op("runtime", "np.array", np.array)
_RESIZE = Op("runtime", "np.resize", np.resize)
_DTYPE = Op("attribute", "dtype")
_SHAPE = Op("runtime", "np.shape", np.shape)
_SIZE = Op("runtime", "np.size", np.size)
_COUNT = Op("runtime", "np.count_nonzero", np.count_nonzero)
_FLAT = Op("runtime", "flat_places", positions.flat_places)
_DIAGONAL = Op("runtime", "diagonal_places", positions.diagonal_places)
_ALONG = Op("runtime", "along_places", positions.along_places)
_MASK = Op("runtime", "mask_places", positions.mask_places)
_REQUIRE_AS_LONG = Op("runtime", "require_as_long", require_as_long, pure=False)
_ACCUMULATIONS = frozenset(("cumsum", "cumprod", "nancumsum", "nancumprod", "accumulate"))

_ONE_BY_ONE = "Write a loop over the indices, or a[index] = ... where no index repeats."
_IGNORED = "Leave out=... away and use the result."
_ASSIGN = "Assign the result to elements instead (a[index] = values)."


class Writers(Changes):
    """The part of the lowering that knows NumPy's writing functions."""

    #: The variables that surely hold arrays, once they are asked for.
    arrays: frozenset[str] | None = None
    source: Source

    def write(self, node: Node, hint: str = "~t", is_used: bool = False) -> Expr | None:
        """Lower a call that writes into an array that may carry a derivative; None for any other expression.

        Args:
            node: The expression.
            hint: The name of its value.
            is_used: Whether its value is used.
        """
        if not isinstance(node, gast.Call):
            return None
        found, function = self.resolver.lookup(node.func)
        if isinstance(function, Member):
            return None
        method = not found and isinstance(node.func, gast.Attribute)
        there, owner = self.resolver.lookup(node.func.value) if method else (False, None)
        if there and not isinstance(owner, _CHANGING):
            return None
        parts = [*([node.func.value] if method else []), *node.args, *(k.value for k in node.keywords)]
        if method and is_class(node.func.value, self.resolver.lookup) and any(self.depends(p) for p in parts):
            self.unsupported(node, "is a method of a class that is called by itself", "Call it as one of the object.")
            return _NONE
        known = given(node, self.resolver.lookup)
        lowering = _LOWERINGS.get(known.spec.function) if known.spec is not None else None
        by_itself = method and known.changed()
        keys = known.as_keys()
        carried = [p for p in parts if self.depends(p) and all(p is not key for key in keys)]
        if lowering is None and (by_itself or (found and is_moving(function))) and carried:
            return self.change_call(node, hint)
        if lowering is None:
            return self.write_out(node, known, method, parts, hint, is_used)
        if not any(self.depends(p) for p in parts):
            return None
        if any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            self.unsupported(node, "is called with * or **", "Write the arguments one by one.")
            return _NONE
        return lowering(self, node, function, parts[: len(parts) - len(node.keywords)])

    def unsupported(self, node: Node, what: str, remedy: str = _ASSIGN) -> None:
        """Note a call that writes in a way that has no adjoint."""
        self.violation(node, f"{gast.unparse(node.func).strip()}(...) {what}", remedy)

    def written(self, target: Node, is_used: bool = False) -> tuple[Expr, Expr, Expr]:
        """The array that an expression names, the index of it, and both as one expression.

        Where the array ``is_used`` afterwards, and the index may copy a part, it is that part.
        """
        parts = _parts(target.slice) if isinstance(target, gast.Subscript) else []
        if any(map(_spans, parts)) and not (is_used and not all(map(_surely_views, parts))):
            base, index = self.operand(target.value), self.index_of(target.slice)
            return base, index, Call(_INDEX, (base, index), (), target)
        base = self.operand(target)
        return base, ELLIPSIS, base

    def given(self, node: Node, args: list[Node], names: str, needed: int) -> dict[str, Node] | None:
        """The arguments of a call by the name of their parameter, in order; None if one is not among them.

        The first few are ``needed``.
        """
        parameters = names.split()
        bound = dict(zip(parameters, args, strict=False))
        for keyword in node.keywords:
            if keyword.arg not in parameters or keyword.arg in bound:
                self.unsupported(node, f"with the argument {keyword.arg!r} has no derivative rule")
                return None
            bound[keyword.arg] = keyword.value
        if len(args) > len(parameters):
            self.unsupported(node, f"has no derivative rule for its argument number {len(parameters) + 1}")
            return None
        missing = [name for name in parameters[:needed] if name not in bound]
        if missing:
            self.unsupported(node, f"lacks its argument {missing[0]!r}")
            return None
        return bound

    def store(self, node: Node, base: Expr, index: Expr, value: Expr, given: Operands, op: str | None = None) -> Expr:
        """Emit the store that a call does, with the call; ``given`` are its operands."""
        method = not self.resolver.lookup(node.func)[0]
        operands = list(given.items())
        count = len(node.args) + method
        args, kwargs = tuple([v for _, v in operands[:count]]), tuple(operands[count:])
        function = self.resolver.lookup(node.func)[1]
        made = Op("method", node.func.attr) if method else Op("function", self.resolver.text(node.func), function)
        self.emit(Store(base, index, value, op, self.origin, Call(made, args, kwargs, node)))
        return _NONE

    def carried(self, node: Node, whole: Expr | None = None) -> Expr:
        """An operand that may carry a derivative, as an atom: a display as an array, of the dtype of ``whole``."""
        value = self.value(node)
        if not isinstance(value, Build):
            return self.atom(value)
        options = () if whole is None else (("dtype", Call(_DTYPE, (whole,))),)
        return self.assign("~t", Call(_ARRAY, (value,), options))

    # --- out=

    def write_out(
        self,
        node: Node,
        called: Given,
        method: bool,
        parts: list[Node],
        hint: str,
        is_used: bool,
        is_there: bool = False,
    ) -> Expr | None:
        """Lower a call of a NumPy function that is given an array to write its result into, or None.

        With ``is_there`` it is no None.
        """
        function = called.function
        known = ops.find(function) is not None or ops.is_constant(function)
        if any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return None
        if not known and not (is_numpy(function) and any(k.arg == "out" for k in node.keywords)):
            return None
        outs = [out for out in called.of(("out",)) if not is_none(out)]
        if not outs or not any(self.depends(p) for p in parts):
            return None
        if isinstance(outs[0], gast.Tuple):
            outs = [e for e in outs[0].elts if not is_none(e)]
        if len(outs) != 1 or (isinstance(function, np.ufunc) and function.nout != 1):
            self.unsupported(node, "with several arrays in out has no derivative rule")
            return self.opaque(node)
        if called.spec is not None and called.spec.ignores_out:
            self.unsupported(node, "is given out, and leaves it as it is in this version of NumPy", _IGNORED)
            return self.opaque(node)
        rest = without_out(node, called)
        if not known:
            self.unsupported(node, "has no derivative rule", ops.remedy(function) or _ASSIGN)
            return self.opaque(node)
        if not is_there and isinstance(outs[0], gast.Name) and outs[0].id not in self.names_of_arrays():
            # What is given None makes a new array.
            asked = gast.Compare(outs[0], [gast.Is()], [gast.copy_location(gast.Constant(None, None), node)])
            return self.choose(
                self.test(gast.copy_location(asked, node)),
                lambda: self.value(rest, hint),
                lambda: self.write_out(node, called, method, parts, hint, True, is_there=True) or _NONE,
                hint,
            )
        if ops.is_constant(function):
            args, kwargs = self.arguments(rest)
            op = Op("method" if method else "function", self.resolver.text(node.func), function)
            if method:
                op, args = Op("method", node.func.attr, function), (self.operand(node.func.value), *args)
            self.assign(hint, Call(op, args, kwargs, rest))
        elif method:
            self.method_call(rest, hint)
        else:
            self.call(rest, hint)
        made = self.block.pop() if self.block else None
        if not (isinstance(made, Assign) and isinstance(made.value, Call) and made.value.op.function == function):
            reason = self.refusals[-1] if self.refusals else None
            what = reason.message if reason is not None else "this call has no derivative rule"
            self.violation(node, what, reason.remedy if reason is not None else _ASSIGN)
            return self.opaque(node)
        base, index, whole = self.written(outs[0], is_used)
        call = made.value
        options = dict(call.kwargs)
        if "where" in options and not (
            isinstance(function, np.ufunc) or (function is not None and takes(function, "where"))
        ):
            self.unsupported(node, "with the argument 'where' has no derivative rule")
        value: Expr = Var(made.target)
        if "where" in options and isinstance(function, np.ufunc):
            value = self.where(made, options["where"], whole)
        else:
            self.emit(made)
        by = Call(call.op, call.args, (*call.kwargs, (spelled(called.spec, "out"), whole)), node)
        self.emit(Store(base, index, value, None, self.origin, by))
        if getattr(function, "__name__", "") in _ACCUMULATIONS:
            self.emit(Evaluate(Call(_REQUIRE_AS_LONG, (value, whole)), self.origin))
        return whole

    def names_of_arrays(self) -> frozenset[str]:
        """The variables that only ever hold what functions and operators of arrays give, and parts of these."""
        if self.arrays is None:
            lookup = self.resolver.lookup

            def is_array(value: Node, names: Collection[str]) -> bool:
                match value:
                    case gast.Name(id=name):
                        return name in names
                    case gast.Call(func=gast.Attribute(attr=attr)) if not lookup(value.func)[0]:
                        return attr in _MAKING
                    case gast.Call():
                        return is_numpy(lookup(value.func)[1]) and not is_writing(value, lookup)
                    case gast.Subscript(slice=index):
                        return any(map(_spans, _parts(index)))
                return isinstance(value, gast.BinOp)

            self.arrays = names_that_hold(is_array, nodes_of(self.source.node))
        return self.arrays

    def where(self, made: Assign, mask: Expr, whole: Expr) -> Expr:
        """What ``whole`` is after ``made`` is done where ``mask`` is true.

        What is masked out may be beyond the domain of the function, where zero times its derivative is no zero
        (the double ``np.where`` of JAX's and TensorFlow's manuals): the function is taken at a harmless number there.
        """
        call = made.value
        assert isinstance(call, Call)
        mask = self.atom(mask)
        harmless = Const(1.5 if call.op.function is np.arccosh else 0.5)
        args = [a if isinstance(a, Const) else self.assign("~t", Call(_WHERE, (mask, a, harmless))) for a in call.args]
        options = tuple([(name, v) for name, v in call.kwargs if name != "where"])
        self.emit(replace(made, value=Call(call.op, tuple(args), options, call.node)))
        return self.assign("~t", Call(_WHERE, (mask, Var(made.target), self.atom(whole)), (), call.node))

    # --- functions

    def copyto(self, node: Node, function: Any, args: list[Node]) -> Expr:
        bound = self.given(node, args, "dst src casting where", 2)
        if bound is None:
            return _NONE
        base, index, whole = self.written(bound.pop("dst"))
        value = self.carried(bound.pop("src"))
        given: Operands = {"dst": whole, "src": value}
        for name, argument in bound.items():
            given[name] = self.argument(argument)
        if given.get("casting", Const("same_kind")) != Const("same_kind"):
            self.unsupported(node, "with the argument 'casting' has no derivative rule", "Leave it out.")
        if "where" in given:
            held = self.atom(whole)
            value = self.assign("~t", Call(_WHERE, (given["where"], value, held), (), node))
        return self.store(node, base, index, value, given)

    def fill(self, node: Node, function: Any, args: list[Node]) -> Expr:
        bound = self.given(node, args, "self value", 2)
        if bound is None:
            return _NONE
        base, index, whole = self.written(bound["self"])
        value = self.carried(bound["value"])
        return self.store(node, base, index, value, {"self": whole, "value": value})

    def sort(self, node: Node, function: Any, args: list[Node]) -> Expr:
        # Arrays have no such options.
        is_list = any(k.arg in ("key", "reverse") for k in node.keywords)
        if isinstance(node.func, gast.Attribute) and isinstance(node.func.value, gast.Name):
            if is_list or self.is_container(node.func.value):
                return self.sort_list(node)
        return self.ordered_by(node, args, "self axis kind order", _SORT)

    def partition(self, node: Node, function: Any, args: list[Node]) -> Expr:
        return self.ordered_by(node, args, "self kth axis kind order", _PARTITION)

    def ordered_by(self, node: Node, args: list[Node], names: str, op: Op) -> Expr:
        """Put elements of an array in the order in which a function gives them, which takes options beside it."""
        needed = 1 + (op is _PARTITION)
        bound = self.given(node, args, names, needed)
        if bound is None:
            return _NONE
        base, index, whole = self.written(bound.pop("self"))
        given: Operands = {"self": whole, **{name: self.argument(v) for name, v in bound.items()}}
        rest = [v for name, v in given.items() if name != "self"][: needed - 1]
        options = tuple([(name, v) for name, v in given.items() if name not in ("self", "kth")])
        value = self.assign("~t", Call(op, (self.atom(whole), *rest), options, node))
        return self.store(node, base, index, value, given)

    def elements(
        self, node: Node, args: list[Node], names: str, needed: int, *, is_safe: bool = False
    ) -> tuple[Expr, Operands] | None:
        """The operands of a call that writes some elements of its first argument; the first few are ``needed``.

        One that ``is_safe`` takes lists, but no array of another dtype that may lose digits.
        """
        bound = self.given(node, args, names, needed)
        if bound is None:
            return None
        array = names.split()[0]
        given: Operands = {}
        for name, argument in bound.items():
            carries = name in (array, "v", "val", "vals", "values")
            whole = given.get(array) if is_safe else None
            given[name] = self.carried(argument, whole) if carries else self.argument(argument)
        return given[array], given

    def put(self, node: Node, function: Any, args: list[Node]) -> Expr:
        function_form = function is np.put
        names = "a ind v mode" if function_form else "self indices values mode"
        made = self.elements(node, args, names, 3)
        if made is None:
            return _NONE
        base, given = made
        _, indices, values, *_ = names.split()
        mode, places, count = given.get("mode", Const("raise")), given[indices], Call(_SIZE, (base,))
        if mode == Const("wrap"):
            places = self.assign("~t", Call(_REMAINDER, (places, count)))
        elif mode == Const("clip"):
            last = Call(algebra.SUBTRACT, (count, Const(1)))
            places = self.assign("~t", Call(_CLIP, (places, Const(0), last)))
        elif mode != Const("raise"):
            what = "with the argument 'mode' has no derivative rule"
            self.unsupported(node, what, "Compute the indices (np.clip, %) before.")
        return self.put_flat(node, base, given, places, given[values])

    def put_flat(self, node: Node, base: Expr, given: Operands, indices: Expr, values: Expr) -> Expr:
        """Emit the store of values at places of an array seen as flat; they repeat, or some are left over."""
        places = Call(_FLAT, (_shape(base), indices, *_count(values)))
        return self.store(node, base, places, self.resized(values, Call(_SIZE, (indices,))), given)

    def resized(self, values: Expr, shape: Expr) -> Expr:
        """As many values as places, or one literal for all."""
        return values if isinstance(values, Const) else self.assign("~t", Call(_RESIZE, (values, shape)))

    def put_along_axis(self, node: Node, function: Any, args: list[Node]) -> Expr:
        made = self.elements(node, args, "arr indices values axis", 3)
        if made is None:
            return _NONE
        base, given = made
        axis = given.get("axis", Const(-1))
        if axis == _NONE:
            return self.put_flat(node, base, given, given["indices"], given["values"])
        places = Call(_ALONG, (_shape(base), given["indices"], axis))
        return self.store(node, base, places, given["values"], given)

    def fill_diagonal(self, node: Node, function: Any, args: list[Node]) -> Expr:
        made = self.elements(node, args, "a val wrap", 2)
        if made is None:
            return _NONE
        base, given = made
        value = given["val"]
        places = Call(_DIAGONAL, (_shape(base), given.get("wrap", Const(False)), *_count(value)))
        count = Call(_SIZE, (Call(_INDEX, (places, Const(0))),))
        return self.store(node, base, places, self.resized(value, count), given)

    def place(self, node: Node, function: Any, args: list[Node]) -> Expr:
        made = self.elements(node, args, "arr mask vals", 3, is_safe=True)
        if made is None:
            return _NONE
        base, given = made
        value = given["vals"]
        places = Call(_MASK, (_shape(base), given["mask"], *_count(value)))
        return self.store(node, base, places, self.resized(value, Call(_COUNT, (places,))), given)

    def putmask(self, node: Node, function: Any, args: list[Node]) -> Expr:
        made = self.elements(node, args, "a mask values", 3, is_safe=True)
        if made is None:
            return _NONE
        base, given = made
        value = given["values"]
        places = Call(_MASK, (_shape(base), given["mask"], *_count(value)))
        value = self.resized(value, _shape(base))
        value = self.assign("~t", Call(_WHERE, (places, value, base), (), node))
        return self.store(node, base, ELLIPSIS, value, given)

    def at(self, node: Node, function: Any, args: list[Node]) -> Expr:
        """``np.add.at`` and ``np.subtract.at``."""
        symbols: dict[Any, str] = {np.add: "+", np.subtract: "-"}
        symbol = symbols.get(getattr(function, "__self__", None))
        if symbol is None:
            self.unsupported(node, "has no derivative rule", _ONE_BY_ONE)
            return _NONE
        if node.keywords or len(args) != 3:
            self.unsupported(node, "takes an array, indices and values")
            return _NONE
        base = self.operand(args[0])
        index = self.hoisted(self.constant(args[1]))
        value = self.carried(args[2])
        return self.store(node, base, index, value, {"a": base, "indices": index, "b": value}, symbol)


#: How the operations that write are lowered.
_LOWERINGS = {
    np.copyto: Writers.copyto,
    np.put: Writers.put,
    np.put_along_axis: Writers.put_along_axis,
    np.fill_diagonal: Writers.fill_diagonal,
    np.place: Writers.place,
    np.putmask: Writers.putmask,
    np.ndarray.fill: Writers.fill,
    np.ndarray.sort: Writers.sort,
    np.ndarray.partition: Writers.partition,
    np.ufunc.at: Writers.at,
}


def _parts(index: Node) -> list[Node]:
    return list(index.elts) if isinstance(index, gast.Tuple) else [index]


def _spans(part: Node) -> bool:
    """Whether a part of an index is a slice or ``...``, so that it cannot pick an item of a container."""
    return isinstance(part, gast.Slice) or (isinstance(part, gast.Constant) and part.value is ...)


def _surely_views(part: Node) -> bool:
    """Whether a part of an index is one by which no array is copied: a slice, or a literal number."""
    number = part.operand if isinstance(part, gast.UnaryOp) else part
    return _spans(part) or (isinstance(number, gast.Constant) and not isinstance(number.value, bool))


def _shape(array: Expr) -> Expr:
    return Call(_SHAPE, (array,))


def _count(values: Expr) -> tuple[Expr, ...]:
    """How many values there are, unless there is one."""
    return () if isinstance(values, Const) else (Call(_SIZE, (values,)),)
