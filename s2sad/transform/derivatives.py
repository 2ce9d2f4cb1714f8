"""Derivatives that a program makes of functions, and calls.

What a function made by the program captures is passed to its derivative as further arguments, so that the outer
derivative goes through these, and the inner one is with respect to its own arguments alone:

    grad(lambda t: h(t, w))(x)    lambda_grad(x, w), the gradient with respect to t of lambda_(t, w), which is h(t, w)

So no perturbation of one is taken for one of the other (Siskind and Pearlmutter, Perturbation Confusion and
Referential Transparency, 2005).
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from s2sad.effects import built_in
from s2sad.frontend.resolve import Emitting
from s2sad.ir.code import Constant, Operand, Operation, Place, Value
from s2sad.transform.known import Abstract, Known, NotSpecialisedError, Partial, Row
from s2sad.transform.lifting import Enter
from s2sad.transform.passing import Args, Binding, Starting, shapes_of, standing
from s2sad.transform.simple import is_structure
from s2sad.transform.specialiser import Done, Frame, Specialiser

#: Makes a derivative of a function: with respect to which arguments, and whether the function has a second result.
Maker = Callable[[Any, Any, bool], Emitting]
#: Of what form a result is: a tuple of results of some forms, or None for any other.
Form = tuple[Any, ...] | None


@dataclass(frozen=True)
class Deriving:
    """What is called with a function and arguments where the derivative of that function is called with them."""

    make: Maker
    verb: str
    argnums: int | tuple[int, ...]
    has_aux: bool = False
    valued: bool = False

    @property
    def positions(self) -> tuple[int, ...]:
        return self.argnums if isinstance(self.argnums, tuple) else (self.argnums,)

    @property
    def form(self) -> Form:
        """Of what form the results are."""
        gradients: Form = (None,) * len(self.argnums) if isinstance(self.argnums, tuple) else None
        value = (None, None) if self.has_aux else None
        if self.valued:
            return value, gradients
        return (gradients, None) if self.has_aux else gradients


@dataclass(frozen=True)
class Placing:
    """What is called with a function, all its arguments but one, and that one, which stands at a position."""

    position: int


@dataclass(frozen=True)
class Modelled:
    """What is called with a function and its arguments, where a model is with a function of one of these, and that."""

    model: Callable[..., Any]
    position: int


@dataclass(frozen=True)
class Pulling:
    """What is called with a function, its value and arguments, and an adjoint of the value, and gives their adjoints.

    The model is called with the function, the value, the adjoint and the arguments, and has these adjoints for its
    gradient.
    """

    make: Maker
    model: Callable[..., Any]


class Calls(NamedTuple):
    """What the specialiser does with calls."""

    apply: Callable[[Specialiser, Abstract, Args, Operation, Frame], Done]
    bind: Binding
    starting: Starting
    enter: Enter


_makers: dict[int, tuple[Any, Maker, bool]] = {}
_tangents: dict[int, tuple[Any, Maker, Maker | None]] = {}
_models: dict[int, tuple[Any, Callable[..., Any]]] = {}
_pullbacks: dict[int, tuple[Any, Pulling]] = {}


def makes_derivatives(original: Any, make: Maker, valued: bool) -> None:
    """Declare a function of ``(f, argnums=0, *, has_aux=False)`` that makes gradients, with values where ``valued``."""
    _makers[id(original)] = original, make, valued


def makes_tangents(original: Any, make: Maker, gradient: Maker | None = None) -> None:
    """Declare a function of ``(f, primals, tangents, *, has_aux=False)`` that returns a value and a tangent.

    One that makes a ``gradient`` returns the tangent of that alone, with respect to the same arguments.
    """
    _tangents[id(original)] = original, make, gradient
    built_in.makes_tangents(original)


def makes_pullbacks(original: Any, make: Maker, model: Callable[..., Any]) -> None:
    """Declare a function of ``(f, *primals)`` that returns a value and its pullback; see `Pulling`."""
    _pullbacks[id(original)] = original, Pulling(make, model)


def is_modelled(original: Any, model: Callable[..., Any]) -> None:
    """Declare a function of ``(f, argnums=0)`` that returns a function of the arguments of ``f``; see `Modelled`."""
    _models[id(original)] = original, model


_marks: dict[Any, Known] = {}


def _mark(what: Any) -> Known:
    """The one object for what is called, since functions are told apart by which objects they see."""
    return _marks.setdefault(what, Known(what))


def derived(s: Specialiser, known: Known, args: Args, op: Operation, frame: Frame, calls: Calls) -> Done:
    """A call of what makes derivatives, or of a derivative that it has made; None for any other call."""
    value = known.value
    given = [v for _, v in args]
    match value:
        case Deriving():
            closed, operands = _closed(s, given[0], args[1:], value.positions, op, calls)
            return _called(s, _made(s, value, *closed), operands, value.form, op, frame)
        case Placing(position):
            return calls.apply(s, given[0], _placed(args[1:-1], position, args[-1]), op, frame)
        case Modelled(model, position):
            function, *others = given
            if position >= len(others) or any(kind for kind, _ in args):
                raise NotSpecialisedError("argument")
            x = others.pop(position)
            if others:
                function = Partial(_mark(Placing(position)), (function, *others), ())
            return s.call_function(s, model, [("", function), ("", x)], op, frame, None)
        case Pulling(make, model):
            function, result, *primals, bar = given
            how = Deriving(make, "grad", tuple(range(len(primals))))
            pairing = Partial(Known(model), (function, result, bar), ())
            return derived(s, _mark(how), [("", v) for v in (pairing, *primals)], op, frame, calls)
    if id(value) in _pullbacks:
        if not args or any(kind for kind, _ in args):
            return None
        done = calls.apply(s, given[0], args[1:], op, frame)
        if not isinstance(done, tuple):
            return None
        pullback = Partial(_mark(_pullbacks[id(value)][1]), (given[0], done[0], *given[1:]), ())
        s.used = True
        return (Row((done[0], pullback)),)
    if id(value) in _makers or id(value) in _models:
        return _maker(s, value, args)
    if id(value) in _tangents:
        return _tangent(s, value, args, op, frame, calls)
    return None


def _maker(s: Specialiser, value: Any, args: Args) -> Done:
    """A call that makes a function."""
    options = _options(s, args, ("f", "argnums"), ("has_aux",))
    if options is None or options["f"] is None:
        return None
    argnums, has_aux = _numbers(s, options["argnums"]), _truth(options["has_aux"])
    if argnums is None or has_aux is None:
        return None
    if id(value) in _makers:
        _, make, valued = _makers[id(value)]
        how: Any = Deriving(make, value.__name__, argnums, has_aux, valued)
    elif isinstance(argnums, int) and not has_aux:
        how = Modelled(_models[id(value)][1], argnums)
    else:
        return None
    s.used = True
    return (Partial(_mark(how), (options["f"],), ()),)


def _placed(args: Sequence[Any], position: int, other: Any) -> list[Any]:
    """Arguments with another one at a position."""
    return [*args[:position], other, *args[position:]]


def _tangent(
    s: Specialiser,
    value: Any,
    args: Args,
    op: Operation,
    frame: Frame,
    calls: Calls,
) -> Done:
    """A call of what gives the value and the tangent of a function."""
    options = _options(s, args, ("f", "primals", "tangents"), ("has_aux",))
    if options is None:
        return None
    function, primals, tangents = options["f"], options["primals"], options["tangents"]
    rows = [None if v is None else s.row(v) for v in (primals, tangents)]
    has_aux = _truth(options["has_aux"])
    if function is None or has_aux is None or rows[0] is None or rows[1] is None or len(rows[0]) != len(rows[1]):
        return None
    positions = tuple([n for n, v in enumerate(rows[1]) if not (isinstance(v, Constant) and v.value is None)])
    if not positions:
        return None
    _, make, gradient = _tangents[id(value)]
    if gradient is not None:
        argnums = positions if len(positions) > 1 else positions[0]
        function = Partial(_mark(Deriving(gradient, "grad", argnums)), (function,), ())
    how = Deriving(make, "jvp", positions, has_aux)
    given = [("", v) for v in rows[0]]
    (whole, where, name), operands = _closed(s, function, given, positions, op, calls)
    made = _made(s, how, whole, where, name)
    names = list(inspect.signature(made.value).parameters)
    dots = names[len(names) - len(positions) :]
    operands += [(dot, rows[1][n]) for dot, n in zip(dots, positions, strict=True)]
    if gradient is None:
        return _called(s, made, operands, (None,) * (3 if has_aux else 2), op, frame)
    (pair,) = _called(s, made, operands, (None, None), op, frame)
    row = s.row(pair)
    return (s.emit("item", (s.dynamic(pair), Constant(1)), place=frame.place or op.place) if row is None else row[1],)


#: A function, which of its arguments are those of some positions, and its name.
Closed = tuple[Any, dict[int, int], str]


def _closed(
    s: Specialiser,
    function: Abstract,
    args: Args,
    positions: Sequence[int],
    op: Operation,
    calls: Calls,
) -> tuple[Closed, list[tuple[str, Abstract]]]:
    """A function that exists and has all that it sees for arguments, and the arguments for a call of it.

    Raises:
        NotSpecialisedError: for a function of which it is not known what it sees.
    """
    if isinstance(function, Partial) and isinstance(function.function, Known):
        how = function.function.value
        if isinstance(how, Placing):
            others = _placed([("", v) for v in function.args[1:]], how.position, args[0])
            places = [how.position] * len(positions)
            (inner, where, name), given = _closed(s, function.args[0], others, places, op, calls)
            return (inner, dict.fromkeys(positions, where[how.position]), name), given
        if isinstance(how, Deriving):
            every = tuple(dict.fromkeys((*positions, *how.positions)))
            (inner, where, name), given = _closed(s, function.args[0], args, every, op, calls)
            made = _made(s, how, inner, where, name)
            return (made.value, where, made.path[0]), given
    args = [(kind, _as_float(v) if n in positions else v) for n, (kind, v) in enumerate(args)]
    if any(kind in ("*", "**") for kind, _ in args):
        raise NotSpecialisedError("star")
    if isinstance(function, Known) and not any(is_structure(v) for _, v in args):
        name = getattr(function.value, "__name__", "function")
        return (function.value, {n: n for n in positions}, name), list(args)
    found = calls.starting(s, function, args)
    if found is None:
        raise NotSpecialisedError("function")
    shift = sum(not kind for kind, _ in found[1]) - sum(not kind for kind, _ in args)
    names = [p.name for p in found[0].code.params if p.kind not in ("star", "double star")][shift:]
    places = [names.index(kind) if kind in names else n for n, (kind, _) in enumerate(args)]
    if not set(positions) <= set(places):
        raise NotSpecialisedError("argument")
    own: list[Value] = []
    operands: list[tuple[str, Abstract]] = []
    for position in positions:
        n = places.index(position)
        own.append(Value(names[position] if position < len(names) else "x"))
        operands.append(("", args[n][1]))
        args[n] = (args[n][0], own[-1])
    found = calls.starting(s, function, args)
    assert found is not None
    start, bound = found[0], calls.bind(s, found[0].code, found[0].defaults, found[1])
    seen = shapes_of(s, start, bound)[0].leaves
    layout: list[Operand] = [*own, *dict.fromkeys(leaf for leaf in seen if leaf not in own)]
    made = standing(s, start, bound, layout, op, calls.enter).cell_contents
    operands += [("", leaf) for leaf in layout[len(own) :]]
    return (made, {position: n for n, position in enumerate(positions)}, made.__name__), operands


def _made(s: Specialiser, how: Deriving, function: Any, where: dict[int, int], name: str) -> Known:
    """The derivative of a function that exists, made once."""
    argnums = tuple([where[n] for n in how.positions])
    key = (how, id(function), argnums)
    if key not in s.standing:
        wanted = argnums if isinstance(how.argnums, tuple) else argnums[0]
        s.standing[key] = types.CellType(how.make(function, wanted, how.has_aux))
    stem = name.strip("_") if name.isidentifier() else "function"
    return Known(s.standing[key].cell_contents, (f"{stem}_{how.verb}",), cell=s.standing[key])


def _called(s: Specialiser, made: Known, args: Args, form: Form, op: Operation, frame: Frame) -> tuple[Abstract, ...]:
    s.used = True
    place = frame.place or op.place
    operands = s.operands([made, *(v for _, v in args)], place)
    result = s.emit("call", operands, tuple([kind for kind, _ in args]), place=place)
    return (_taken_apart(s, result, form, place),)


def _taken_apart(s: Specialiser, value: Value, form: Form, place: Place | None) -> Abstract:
    """A tuple of some form by its items."""
    if form is None or s.expression:
        return value
    if len(form) == 1:
        items: tuple[Value, ...] = (s.emit("item", (value, Constant(0)), place=place),)
    else:
        items = tuple([Value("t") for _ in form])
        s.out.append(Operation("unpack", (value,), items, (len(items), None), (), place))
    return Row(tuple([_taken_apart(s, item, inner, place) for item, inner in zip(items, form, strict=True)]))


def _as_float(value: Abstract) -> Abstract:
    """An integer of the text as a float, as derivatives take it."""
    return Constant(float(value.value)) if isinstance(value, Constant) and type(value.value) is int else value


def _options(
    s: Specialiser, args: Args, names: Sequence[str], named: Sequence[str]
) -> dict[str, Abstract | None] | None:
    """Arguments by their names; None where there are others."""
    given = [v for kind, v in args if not kind]
    found = dict(zip(names, given, strict=False)) | {kind: v for kind, v in args if kind}
    if len(given) > len(names) or not found.keys() <= {*names, *named}:
        return None
    return {name: found.get(name) for name in (*names, *named)}


def _numbers(s: Specialiser, value: Abstract | None) -> int | tuple[int, ...] | None:
    """The positions of arguments; None where these are not known."""
    if value is None:
        return 0
    known = s.plain(value)
    if isinstance(known, Constant):
        return known.value if type(known.value) is int and known.value >= 0 else None
    items = [s.plain(v) for v in s.row(value) or ()]
    numbers = tuple([v.value for v in items if isinstance(v, Constant) and type(v.value) is int and v.value >= 0])
    return numbers if numbers and len(numbers) == len(items) else None


def _truth(value: Abstract | None) -> bool | None:
    """Whether an option is set; None where that is not known."""
    if value is None:
        return False
    return value.value if isinstance(value, Constant) and type(value.value) is bool else None
