"""Specialisation of calls: inlined, or calls of functions of the new program."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import types
from collections.abc import Sequence
from dataclasses import replace

from s2sad import ops
from s2sad.errors import S2SADError
from s2sad.frontend.called import is_followed
from s2sad.frontend.source import name_of
from s2sad.ir.code import NONE, Constant, Operation, Value, codes
from s2sad.ops.models import is_of_model
from s2sad.runtime import stop_gradient
from s2sad.runtime.classes import own_class, package_of
from s2sad.runtime.managed import managed
from s2sad.transform import (
    attribute_dicts,
    branches,
    choices,
    constructing,
    each,
    existing,
    generators,
    growing,
    managers,
    modelled,
    objects,
    sizes,
    stand_ins,
    stars,
    supers,
    tables,
)
from s2sad.transform.arrays import of_arrays, viewed
from s2sad.transform.binding import bind, defaults_of
from s2sad.transform.builtin import built_in
from s2sad.transform.containers import run_through, view, view_of_operand
from s2sad.transform.derivatives import Calls, derived
from s2sad.transform.dict_defaults import takes_default, with_default
from s2sad.transform.functionals import (
    BY_KEYS,
    REMEMBERING,
    SORT_BY,
    dispatched,
    functional_call,
    is_by_key,
    is_caching,
    is_functional,
)
from s2sad.transform.held import held_pairs
from s2sad.transform.inlining import enter, inlined
from s2sad.transform.iteration import iterated
from s2sad.transform.known import (
    Abstract,
    Choice,
    Closure,
    Generator,
    Items,
    Known,
    Late,
    Lazy,
    Method,
    NotSpecialisedError,
    Partial,
    Record,
    Row,
    Stream,
    Typed,
    is_callable,
    is_static,
)
from s2sad.transform.lifting import Start, lift
from s2sad.transform.members import existing_partial
from s2sad.transform.methods import method_of_items
from s2sad.transform.passing import passed
from s2sad.transform.reasons import unread
from s2sad.transform.regions import (
    changes_items,
    fills_containers,
    is_inlined_easily,
    is_inlined_where_known,
    is_merged,
    names_read,
    size,
)
from s2sad.transform.selected import got_of_known
from s2sad.transform.shapes import leads_to_number
from s2sad.transform.simple import has_rule, is_structure, is_text, leaves_functions
from s2sad.transform.specialiser import Done, End, Frame, Specialiser

#: How many operations a function and a lambda have at most that are inlined wherever they are called.
SMALL, SMALL_LAMBDA = 12, 24
#: How many a function has at most that is inlined because it can be no function of its own.
MOST_OF_LARGE = 300
#: What makes an object, and sets its attributes.
_OF_MAKING = ("__init__", "__post_init__", "__new__", "__array_finalize__", "__setattr__")
#: How deep calls are inlined, and how many in all.
DEEPEST, MOST_INLINED = 40, 400

Args = Sequence[tuple[str, Abstract]]


def call(s: Specialiser, op: Operation, frame: Frame) -> Done:
    """A call, where the function or an argument is static."""
    function, *values = [s.get(o, frame) for o in op.operands]
    args: list[tuple[str, Abstract]] = []
    spread, counted = False, None
    for kind, value in attribute_dicts.given(s, function, zip(op.data, values, strict=True)):
        named = stars.named(s, value) if kind == "**" else None
        if kind == "**" and named is None:
            named = stars.by_name(s, function, args, op, value, frame.place or op.place)
        if kind == "*" and isinstance(value, Record):
            value = iterated(s, value, op, frame)
        if kind == "*" and isinstance(value, Generator):
            value = generators.listed(s, value, op, frame)
        row = run_through(s, value) if kind == "*" else None
        spread = spread or row is not None or named is not None
        if kind == "*" and row is None and isinstance(value, Items):
            value = s.dynamic(value)
        if kind == "*" and row is None and isinstance(value, Value):
            left = stars.left(function, args, op)
            if isinstance(function, Value) or (left is None and stars.has_parameters(function)):
                row = stars.counted(s, value)
            elif left is not None and left.rest:
                # What becomes of them may depend on how many there are.
                s.relied.asks_kinds = True
                row = stars.items_of(s, value)
            if row is None and left is not None and left.rest:
                args += stars.gathered(s, value, left.required, frame.place or op.place)
                spread = True
                continue
            if row is None and left is not None and left.optional:
                counted = value, left, len(args)
            elif row is None and left is not None:
                row = stars.spread(s, value, left.required, frame.place or op.place)
            spread = spread or row is not None
        if row is not None:
            args += [("", item) for item in row]
        elif named is not None:
            args += named
        else:
            args.append((kind, value))
    if (rows := stars.columns(s, function, args, op, frame.place or op.place)) is not None:
        args, spread = rows, True
    if isinstance(function, Known) and package_of(function.value) == "numpy":
        # They read the items of a tuple, of whatever class it is.
        plain = [(kind, Row(v.items) if isinstance(v, Row) else v) for kind, v in args]
        spread, args = spread or any(isinstance(v, Row) and v.cls is not tuple for _, v in args), plain
    if counted is not None:
        value, left, at = counted

        def run(given: tuple[Value, ...]) -> Done:
            return _applied(s, function, [*args[:at], *(("", v) for v in given), *args[at + 1 :]], op, frame)

        done: Done = stars.by_number(s, value, left, op.result.name if op.results else "", run, frame.place or op.place)
    else:
        done = apply(s, function, args, op, frame)
    if done is None:
        done = stars.with_dict(s, function, args, frame.place or op.place)
    if done is None and spread:
        done = _written(s, function, args, op, frame)
    if isinstance(done, tuple) and op.results and op.result.name:
        if isinstance(done[0], Items):
            done[0].cell.name = done[0].cell.name or op.result.name
        return (s.named(done[0], op.result.name, frame.place or op.place),)
    return done


def apply(s: Specialiser, function: Abstract, args: Args, op: Operation, frame: Frame) -> Done:
    """Call an abstract value; None where the call is to be written as it is."""
    match function:
        case Closure():
            start = _starting(s, function, args)
            assert start is not None
            return invoke(s, start[0], args, op, frame)
        case Method():
            if isinstance(function.receiver, Items):
                done = method_of_items(s, function, args, op, frame) or stand_ins.method(s, function, args, op, frame)
                is_sorting = isinstance(function.function, Known) and function.function.value is list.sort
                if done is None and is_sorting and any(kind == "key" and is_callable(v) for kind, v in args):
                    if tables.freeze_objects(s, function.receiver):
                        return tables.sorted_in_place(s, function.receiver, dict(args), op, frame)
                    return call_function(s, SORT_BY, [("", function.receiver), *args], op, frame, None)
                return _with_default(s, function, args, op, frame) if done is None else done
            if isinstance(function.receiver, Row) and function.owner is None:
                return objects.named_tuple_method(s, function, args)
            if not args and (pairs := held_pairs(s, function)) is not None:
                return (view(s, function, pairs, frame.place or op.place),)
            if (found := got_of_known(s, function, args, op, frame.place or op.place)) is not None:
                return found
            if existing.is_existing(function.receiver) and not any(is_structure(v) for _, v in args):
                return existing.method_call(s, function, args, op, frame)
            return apply_method(s, function, args, op, frame)
        case Partial():
            given = [("", value) for value in function.args]
            named = dict(function.keywords)
            more = [(kind, value) for kind, value in args if kind in ("", "*")]
            if any(kind == "**" for kind, _ in args):
                raise NotSpecialisedError("star")
            named.update((kind, value) for kind, value in args if kind not in ("", "*"))
            whole = [*given, *more, *named.items()]
            return _applied(s, function.function, whole, op, frame)
        case Choice(then=then, orelse=orelse):
            arms = [functools.partial(_arm, s, side, args, op, frame) for side in (then, orelse)]
            return branches.fork(s, function.test, arms, [""], frame.place or op.place)
        case Record() | Row() | Typed():
            return objects.member_call(s, function, "__call__", args, op, frame)
        case Known():
            return known_call(s, function, args, op, frame)
        case Late(name="view") if args:
            return viewed(s, function.receiver, args, op, frame)
        case Late(name="pop" | "setdefault") if args:
            return _with_default(s, function, args, op, frame)
        case Late() if not args and (seen := view_of_operand(s, function, frame.place or op.place)) is not None:
            return (seen,)
    return None


def _with_default(s: Specialiser, method: Late | Method, args: Args, op: Operation, frame: Frame) -> Done:
    """A call of a method of a dict of unknown keys that gives or puts a default value; None of any other."""
    name = method.name if isinstance(method, Late) else method.function.value.__name__  # type: ignore[union-attr]
    if not takes_default(name, [kind for kind, _ in args]):
        return None
    late = method if isinstance(method, Late) else Late(s.dynamic(method.receiver), name)
    return with_default(s, late, args, op.result.name if op.results else "", frame.place or op.place)


def _starting(s: Specialiser, function: Abstract, args: Args) -> tuple[Start, Args] | None:
    """A function that a call runs, with what it sees, and all its arguments; None for what is not known."""
    match function:
        case Closure():
            code = function.definition.code
            name = "lambda_" if function.is_lambda else code.name
            defaults = {**function.defaults}
            return Start(code, defaults, function.env, function.home, function.owner, name, function.place), args
        case Known() if isinstance(function.value, types.FunctionType):
            if (text := s.local.get(function.value)) is not None:
                return _starting(s, text, args)
            code = s.code(function.value)
            return Start(code, defaults_of(s, function.value), {}, s.home(function.value), None, code.name), args
        case Method(function=Known() as inner) if function.owner is not None:
            start = _starting(s, inner, [("", function.receiver), *args])
            owner = (function.owner, function.receiver)
            return None if start is None else (replace(start[0], owner=owner), start[1])
        case Partial():
            whole = [*(("", value) for value in function.args), *args, *function.keywords]
            return _starting(s, function.function, whole)
    return None


def _arm(s: Specialiser, function: Abstract, args: Args, op: Operation, frame: Frame) -> End:
    if choices.is_none(function):
        return End("raise", (choices.none_called(s, frame.place or op.place),), frame.place or op.place)
    done = _applied(s, function, args, op, frame)
    return done if isinstance(done, End) else End("yield", done)


def _applied(s: Specialiser, function: Abstract, args: Args, op: Operation, frame: Frame) -> tuple[Abstract, ...] | End:
    """Call an abstract value, or write the call as it is."""
    done = apply(s, function, args, op, frame)
    return _written(s, function, args, op, frame) if done is None else done


def _written(s: Specialiser, function: Abstract, args: Args, op: Operation, frame: Frame) -> tuple[Abstract, ...]:
    """A call of what is known to be called."""
    s.used = True
    place = frame.place or op.place
    operands = s.operands([function, *(v for _, v in args)], place)
    return (s.emit("call", operands, tuple(["*" if kind == stars.REST else kind for kind, _ in args]), place=place),)


def apply_method(s: Specialiser, method: Method, args: Args, op: Operation, frame: Frame) -> Done:
    """A call of a method: of its function with the object before the arguments."""
    function, receiver = method.function, method.receiver
    if isinstance(function, Known) and isinstance(function.value, functools.singledispatchmethod):
        chosen = dispatched(s, Known(function.value.dispatcher), args)
        if not isinstance(chosen, Known):
            raise NotSpecialisedError("dispatch")
        function = chosen
    if isinstance(function, Known) and isinstance(function.value, types.FunctionType) and method.owner is not None:
        if (done := constructing.of_dataclass(s, function.value, [("", receiver), *args], op, frame)) is not None:
            return done
        return call_function(
            s, function.value, [("", method.receiver), *args], op, frame, (method.owner, method.receiver)
        )
    return apply(s, function, [("", method.receiver), *args], op, frame)


def known_call(s: Specialiser, known: Known, args: Args, op: Operation, frame: Frame) -> Done:
    """A call of a function or class that exists."""
    value = known.value
    if value is super:
        return supers.super_of(s, args, frame)
    if (done := each.of_arrays(s, known, args, op, frame) or of_arrays(s, known, args, op, frame)) is not None:
        return done
    if value is object.__init__:
        return (NONE,)
    if value is object.__new__:
        return constructing.without_attributes(s, args)
    if (done := constructing.of_dataclass(s, value, args, op, frame)) is not None:
        return done
    if (done := derived(s, known, args, op, frame, Calls(_applied, bind, _starting, enter))) is not None:
        return done
    if value is contextlib.contextmanager and len(args) == 1 and isinstance(args[0][1], Closure):
        return (Partial(Known(managers.around), (args[0][1],), ()),)
    if value is managers.around:
        done = _applied(s, args[0][1], args[1:], op, frame)
        return (managers.of_generator(s, done[0]),) if isinstance(done, tuple) else done
    if (generating := managed(value)) is not None:
        is_needless = not (s.relied.taken or s.relied.follows(generating))
        if is_needless and all(existing.is_constant(s, v) for _, v in args):
            return None
        return call_function(s, value, args, op, frame, None)
    if type(value) is functools.partial and isinstance(value.func, type) and own_class(value.func) is not None:
        return _applied(s, existing_partial(s, value), args, op, frame)
    if is_functional(value):
        return functional_call(s, known, args, lambda f, given: call_function(s, f, given, op, frame, None))
    if (function := dispatched(s, known, args)) is not None:
        return _applied(s, function, args, op, frame)
    if (done := built_in(s, value, args, op, frame)) is not None:
        return done
    is_stream = bool(args) and isinstance(args[0][1], (Lazy, Stream))
    if is_by_key(value, args) and not is_stream:
        return call_function(s, BY_KEYS[value], args, op, frame, None)
    if (made := ops.model_of(value)) is not None and modelled.stands(s, made, args, frame):
        if isinstance(made, type):
            return constructing.construct(s, made, args, op, frame)
        return call_function(s, made, modelled.parts(s, made, args), op, frame, None)
    if value is functools.cache and len(args) == 1 and isinstance(args[0][1], Closure):
        return call_function(s, REMEMBERING, args, op, frame, None)
    if value is functools.lru_cache and is_caching(args):
        return (Known(functools.cache),)
    if value is dataclasses.dataclass and all(kind and isinstance(v, Constant) for kind, v in args):
        return (Partial(known, (), (*args,)),)
    if (done := constructing.exception(s, known, args, op, frame)) is not None:
        return done
    if isinstance(value, type):
        return constructing.construct(s, value, args, op, frame) if own_class(value) is not None else None
    if (done := passed(s, known, args, op, frame, bind, _starting, enter)) is not None:
        return done
    if existing.is_object(value):
        return existing.call(s, known, args, op, frame)
    if not isinstance(value, types.FunctionType) or value is stop_gradient or has_rule(value) or not is_followed(value):
        return None
    if existing.is_foreign(s, value) and all(existing.holds_constants(s, v) for _, v in args):
        # What it does with constants is not for this program to know, unless it hands a function on.
        hands_on = any(isinstance(v, Known) and callable(v.value) for _, v in args) and size(s.code(value)) <= SMALL
        return call_function(s, value, args, op, frame, None) if hands_on else None
    if value.__code__.co_flags & inspect.CO_GENERATOR and not all(existing.is_constant(s, v) for _, v in args):
        return call_function(s, value, args, op, frame, None)
    # A static method has no name of its own.
    if any(is_structure(v) for _, v in args) or not (known.path or known.operand):
        return call_function(s, value, args, op, frame, None)
    if s.relied.follows(value) or (s.relied.keeping and any(existing.may_be_taken(v) for _, v in args)):
        return existing.followed(s, lambda: call_function(s, value, args, op, frame, None), may_change=True)
    varies = not all(existing.is_constant(s, v) for _, v in args)
    if varies and leaves_functions(value, [kind for kind, _ in args]):
        return call_function(s, value, args, op, frame, None)
    if varies and any(existing.is_existing(v) or v in s.foreign for _, v in args):
        done = existing.followed(s, lambda: call_function(s, value, args, op, frame, None))
        if done is not None:
            return done
    return factory_call(s, value, args, op, frame)


def factory_call(s: Specialiser, function: types.FunctionType, args: Args, op: Operation, frame: Frame) -> Done:
    """A call of a function that may return a function or an object that it makes, or has a parameter with ``*``.

    One that may make objects by the sizes of what it is given is followed as well.
    """
    try:
        code = s.code(function)
    except S2SADError:
        return None
    given = [v for _, v in args]
    sized = any(sizes.is_sized(s, value) for value in given)
    follows = s.relied.writes_out and (sized or growing.is_followed_for_containers(s, function))
    follows = not all(existing.is_constant(s, v) for v in given) and (follows or growing.is_inlined(s, function, given))
    # What is made of texts may be keys.
    follows = follows or (s.relied.writes_out and any(map(is_text, given)))
    s.relied.recurs = s.relied.recurs or code in s.active
    makes = objects.makes_something(function) or (op.results and is_merged(s.active[-1], op.result))
    if not (follows or (makes and code not in s.active)) or code in s.endless:
        return None
    before, used, lifted, done = s.mark(), s.used, dict(s.lifted), None
    try:
        done = call_function(s, function, args, op, frame, None)
    except NotSpecialisedError as error:
        s.relied.unfollowed.append(error)
    stars = objects.has_stars(function) and not all(existing.is_constant(s, v) for _, v in args)
    followed = follows or stars or any(v in s.types for _, v in args)
    if code in s.endless:
        done = None
    if isinstance(done, (End, tuple)) and (followed or (isinstance(done, tuple) and any(map(is_static, done)))):
        return done
    s.back(before)
    s.used, s.lifted = used, lifted
    return None


def call_function(
    s: Specialiser,
    function: types.FunctionType,
    args: Args,
    op: Operation,
    frame: Frame,
    owner: tuple[type, Abstract] | None,
) -> Done:
    """A call of a function that exists, with something static."""
    if (text := s.local.get(function)) is not None:
        start = _starting(s, text, args)
        assert start is not None
        return invoke(s, replace(start[0], owner=owner), args, op, frame)
    if (generating := managed(function)) is not None:
        done = call_function(s, generating, args, op, frame, owner)
        return (managers.of_generator(s, done[0]),) if isinstance(done, tuple) else done
    try:
        code = s.code(function)
    except S2SADError as error:
        raise NotSpecialisedError(unread(function, error)) from error
    home = s.home(function)
    given = [value for _, value in args if isinstance(value, Closure) and not value.is_lambda]
    name = name_of(function, code.name)
    if owner is not None and name[:2] == "__":
        name = f"{owner[0].__name__}_{name.strip('_')}"
    elif owner is None and given:
        name = f"{name}_{given[0].definition.code.name}"
    return invoke(s, Start(code, defaults_of(s, function), {}, home, owner, name), args, op, frame)


def invoke(s: Specialiser, start: Start, args: Args, op: Operation, frame: Frame) -> Done:
    """Run a function with arguments: inlined where it is short, else as a function of the new program."""
    code = start.code
    bound = bind(s, code, start.defaults, args)
    if code.generates:
        return (generators.started(s, start, bound, op, frame, enter),)
    s.used = True
    small = size(code) <= (SMALL_LAMBDA if code.kind == "lambda" else SMALL) or code.name in _OF_MAKING
    names = start.home.resolver.globals
    small = small or (size(code) <= growing.MOST and growing.grows_a_list(code, bound, s.state, names))
    of_containers = s.relied.writes_out and (
        fills_containers(code)
        or changes_items(code)
        or any(growing.leads_to_items(s, value) or sizes.is_sized(s, value) for value in bound.values())
    )
    function = start.home.source.function
    of_containers = of_containers or growing.is_inlined(s, function, bound.values())
    small = small or (of_containers and size(code) <= MOST_OF_LARGE)
    alike = all(s.making.reads_alike(read, start.home) for read in names_read(codes(code))) or is_of_model(function)
    few = len(s.active) < DEEPEST and s.inlined < MOST_INLINED
    recurs = code in s.active
    s.relied.recurs = s.relied.recurs or recurs
    if recurs and len(s.active) >= DEEPEST:
        s.endless.add(code)
    if code in s.endless:
        raise NotSpecialisedError("recursion")
    small = small and (not recurs or s.relied.writes_out)
    is_easy = is_inlined_easily(code)
    may_be_inlined = alike and few and (not recurs or s.relied.writes_out) and is_easy
    before, used, lifted = s.mark(), s.used, dict(s.lifted)
    if small and may_be_inlined:
        done, is_done = inlined(s, start, bound, op, frame)
        if is_done:
            return done
    elif small and s.relied.writes_out and alike and few and is_inlined_where_known(code):
        try:
            done, is_done = inlined(s, start, bound, op, frame)
            if is_done:
                return done
        except NotSpecialisedError:
            s.back(before)
            s.used, s.lifted = used, lifted
    before, used, lifted = s.mark(), s.used, dict(s.lifted)
    try:
        return lift(s, start, bound, op, frame, enter)
    except NotSpecialisedError:
        numbers = not alike and not s.relied.fixes
        numbers = numbers and any(leads_to_number(value, s.state) for value in bound.values())
        if not numbers and (small or not may_be_inlined or size(code) > MOST_OF_LARGE):
            raise
    # What it does may follow from numbers that a function of its own would be given.
    s.back(before)
    s.used, s.lifted = used, lifted
    if numbers:
        with s.relied.fixing():
            return lift(s, start, bound, op, frame, enter)
    done, is_done = inlined(s, start, bound, op, frame)
    if not is_done:
        raise NotSpecialisedError("expression")
    return done
