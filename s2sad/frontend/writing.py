"""Which calls may write into what they are given.

A function with source is read; one without is taken at its word, with the exception of what is
known to write: ``out=``, ``np.copyto``, ``ufunc.at``, list methods, shuffles.  See `s2sad.frontend.summaries` for
the first.
"""

from __future__ import annotations

import functools
import inspect
import operator
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gast
import numpy as np

from s2sad import ops
from s2sad.frontend.called import is_followed
from s2sad.frontend.dependence import stored_base
from s2sad.frontend.given import given, is_class, is_member, is_numpy
from s2sad.frontend.holding import names_held, variables_held
from s2sad.frontend.outs import is_writing
from s2sad.frontend.parameters import default_values
from s2sad.frontend.resolve import Member
from s2sad.frontend.scopes import bound_names
from s2sad.frontend.special import classes_within, special_members
from s2sad.frontend.summaries import Writes, writes_of
from s2sad.frontend.trees import is_starred, nodes_of
from s2sad.runtime.classes import does_as, functions_in, initialises, members_that_vary, own_members, static_member

Node = Any
Lookup = Callable[[Node], tuple[bool, Any]]
#: What has a function in it, and under which name.
_AROUND = (
    ((types.MethodType, staticmethod, classmethod), "__func__"),
    (functools.partial, "func"),
    (type(functools.cache(len)), "__wrapped__"),
    (np.vectorize, "pyfunc"),
)


#: What cannot be called, nor written into.
_NUMBERS = (types.NoneType, bool, int, float, complex)
#: The special methods that change an object as a whole, or an attribute of what they are given.
_OF_OBJECTS = ("__init__", "__setstate__", "__set__", "__delete__")
#: What a ``with`` runs of its manager, and the methods by which that is asked for.
_MANAGING = ("__enter__", "__exit__", "enter_context", "push")
_WRAPPERS = (types.WrapperDescriptorType, types.MethodDescriptorType, types.MethodWrapperType)


def written_in(node: Node, lookup: Lookup, surely: bool = False) -> Iterator[str]:
    """The local names whose objects the calls inside ``node`` may write; ``surely`` those of which it is known."""
    nodes = nodes_of(node)
    written = [name for call in nodes if isinstance(call, gast.Call) for name in written_by(call, lookup, surely)]
    written += [name for part in nodes if special_writing(part, lookup) for name in names_held(part, lookup)]
    if written:
        yield from _with_iterated(written, nodes, lookup)


def _with_iterated(found: Iterable[str], nodes: list[Node], lookup: Lookup) -> Iterator[str]:
    """Names, and where one is that of an item in a comprehension, those of what the items are taken from."""
    names = dict.fromkeys(found)
    inner = [n for n in nodes if isinstance(n, gast.comprehension)]
    for generator in inner * len(inner):
        if not names.keys().isdisjoint(bound_names(generator.target)):
            names.update(dict.fromkeys(names_held(generator.iter, lookup)))
    yield from names


def is_fresh(function: Node, lookup: Lookup) -> bool:
    """Whether the result of a called expression is known to be a new object, and the call to write nothing."""
    spec = ops.spec_of(lookup(function)[1])
    return spec is not None and spec.result == "fresh" and not spec.writes


def written_by(call: Node, lookup: Lookup, surely: bool = False) -> Iterator[str]:
    """The local names whose objects a call itself may write; ``surely`` those of which it is known."""
    arguments = _arguments(call)
    known = given(call, lookup)
    for part in known.written():
        base = stored_base(part)
        yield from names_held(part, lookup) if base is None else [base]
    found, _ = lookup(call.func)
    method = call.func.value if not found and isinstance(call.func, gast.Attribute) else None
    if calls_writing(call, lookup) or (not surely and _calls_unknown(call, lookup)):
        for part in [*arguments, *([method] if method is not None else [])]:
            yield from names_held(part, lookup)
    functions = [] if known.changed() else _called(call.func, lookup)
    if functions is None and not surely:
        for part in [*arguments, *([] if isinstance(call.func, gast.Lambda) else [call.func])]:
            yield from _bases(part, lookup)
    for part in _written_parts(call, functions or (), lookup):
        yield from _bases(part, lookup)


def touched(call: Node, lookup: Lookup) -> Iterator[Node]:
    """What a call is given, but for keys, and called on, and the names in it whose objects it may write, or is given to
    keep."""
    keys = given(call, lookup).as_keys()
    parts = [part for part in _arguments(call) if all(part is not key for key in keys)]
    yield from parts
    if isinstance(call.func, gast.Attribute):
        yield call.func.value
    names = {*written_in(call, lookup), *(n for part in parts for n in names_held(part, lookup))}
    yield from (n for n in nodes_of(call) if isinstance(n, gast.Name) and n.id in names)


def _written_parts(call: Node, functions: Iterable[types.FunctionType], lookup: Lookup) -> list[Node]:
    """What a call is given or called on that one of the functions which it may run may write."""
    found, function = lookup(call.func)
    own = [call.func.value] if not found and isinstance(call.func, gast.Attribute) else []
    every = [*own, *_arguments(call)]
    parts: list[Node] = []
    objects = [part for part in every if not is_class(part, lookup)]
    if functions and len(objects) < len(every):
        # Methods of the class may be called with what else is given.
        return objects
    for runs in functions:
        if by_method(call, runs, lookup):
            return every
        writes = _writes_of_call(call, runs, function).params
        if isinstance(function, type):
            # The first argument is the new object, or the class.
            writes = writes.difference(runs.__code__.co_varnames[:1])
        if not writes:
            continue
        bound = _bound(call, runs) if runs is function else None
        if bound is None:
            return every
        parts += [part for name, part in bound if name in writes]
    return parts


def _writes_of_call(call: Node, runs: types.FunctionType, function: Any) -> Writes:
    """What a call of ``function`` may write if it runs ``runs``, which calls no parameter that is a number, or None."""
    writes = writes_of(runs)
    bound = _bound(call, runs) if writes and runs is function else None
    if bound is None:
        return writes
    named = dict(bound)
    left = {p: d.value for p, d in default_values(runs).items() if p not in named}
    given_as = left | {p: part.value for p, part in bound if isinstance(part, gast.Constant)}
    numbers = frozenset(p for p, value in given_as.items() if type(value) in _NUMBERS)
    return writes_of(runs, numbers=numbers) if numbers else writes


def _bound(call: Node, function: types.FunctionType) -> list[tuple[str, Node]] | None:
    """The arguments of a call of a function with source by the names of its parameters; None if that is not known."""
    code = function.__code__
    named = {k.arg: k.value for k in call.keywords}
    plain = not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    if is_starred(call) or not plain or len(call.args) > code.co_argcount or None in named:
        return None
    return [*zip(code.co_varnames, call.args, strict=False), *named.items()]


def by_method(node: Node, function: types.FunctionType, lookup: Lookup) -> bool:
    """Whether a function may write through a method of what stands in a call or name.

    Of an operation it is known which special methods it runs.
    """
    spec = ops.spec_of(function)
    if spec is not None and spec.special is not None and not spec.calls:
        return False
    return writes_by_method(function, classes_within(node, lookup))


def _any_may_write(node: Node, functions: Iterable[types.FunctionType], lookup: Lookup) -> bool:
    """Whether a function that a call or a name runs may write, of itself or through a method of what stands there."""
    return any(may_write(f) or by_method(node, f, lookup) for f in functions)


def harmless_lambdas(nodes: Iterable[Node], lookup: Lookup) -> Iterator[str]:
    """The names that a function gives to lambdas which write nothing, among its ``nodes``."""
    for node in nodes:
        if isinstance(node, gast.Assign) and isinstance(node.value, gast.Lambda):
            if not any(written_in(node.value.body, lookup)):
                yield from (name for target in node.targets for name in bound_names(target))


def alters(node: Node, lookup: Lookup) -> bool:
    """Whether a call inside ``node`` may write into objects of the module, of which it is not known which they are."""
    nodes = nodes_of(node)
    calls = [n for n in nodes if isinstance(n, gast.Call)]
    if any(_may_alter(call, lookup) or any(map(may_write, _factories(call, lookup))) for call in calls):
        return True
    return any(special_writing(part, lookup) for part in nodes)


def _may_alter(call: Node, lookup: Lookup) -> bool:
    known = given(call, lookup)
    if any(lookup(part)[0] or any(True for _ in variables_held(part, lookup)) for part in known.written()):
        return True
    functions = [] if known.changed() else _called(call.func, lookup)
    if functions is None or calls_writing(call, lookup) or _calls_unknown(call, lookup):
        return True
    function = lookup(call.func)[1]
    if any(_writes_of_call(call, f, function).outside or by_method(call, f, lookup) for f in functions):
        return True
    return any(any(True for _ in variables_held(p, lookup)) for p in _written_parts(call, functions, lookup))


def kept(node: Node, lookup: Lookup) -> Iterator[str]:
    """The local names whose objects the calls inside ``node`` may put into what they write.

    The functions of NumPy and Python that write take numbers from what they are given, or change its order.
    """
    found = [name for part in kept_parts(node, lookup) for name in _bases(part, lookup)]
    yield from _with_iterated(found, nodes_of(node), lookup)


def kept_parts(node: Node, lookup: Lookup) -> Iterator[Node]:
    """The arguments of calls inside ``node`` which these may put into what they write."""
    for call in nodes_of(node):
        if isinstance(call, gast.Call) and (_may_alter(call, lookup) or any(written_by(call, lookup, False))):
            yield from _arguments(call) if _may_keep(call, lookup) else ()


def keeping_calls(
    node: Node, lookup: Lookup, depends: Callable[[Node], bool], followed: bool = False
) -> Iterator[Node]:
    """The calls inside ``node`` that may put what ``depends`` on the inputs into objects of the module.

    If the whole is a call of a function that is read, and is ``followed``, more is known of it.
    """
    for call in nodes_of(node):
        # What is called may hold some, too: ``methodcaller("fill", x)(a)``.
        if isinstance(call, gast.Call) and any(map(depends, [call.func, *_arguments(call)])):
            if followed and call is node and is_read(call, lookup):
                continue
            if _may_keep(call, lookup) and _may_alter(call, lookup):
                yield call


def is_read(call: Node, lookup: Lookup) -> bool:
    """Whether a call is of a function with source that is followed, so that what it does is known."""
    function = lookup(call.func)[1]
    plain = not is_starred(call) and not is_writing(call, lookup)
    is_of_users = isinstance(function, types.FunctionType) and ops.spec_of(function) is None
    return plain and is_of_users and is_followed(function)


def _may_keep(call: Node, lookup: Lookup) -> bool:
    """Whether a call that writes may put there what it is given, and not only numbers that it takes from that."""
    known = given(call, lookup)
    plain = is_numpy(known.function) if known.spec is None else not (known.spec.stores or known.spec.calls)
    return not plain or calls_writing(call, lookup)


def _arguments(call: Node) -> list[Node]:
    return [*call.args, *(k.value for k in call.keywords)]


def runs(call: Node, lookup: Lookup) -> bool:
    """Whether a call may call something that it is given: its effects are effects of the call, and it may have any."""
    return bool(_run_unseen(call, lookup)) or any(_runs_code(a, lookup) for a in _given(call, lookup))


def runs_writing(call: Node, lookup: Lookup) -> bool:
    """Whether a call may call something that it is given which writes, or of which it is not known what it is."""
    bodies = [a.body for a in _given(call, lookup) if isinstance(a, gast.Lambda)]
    return calls_writing(call, lookup) or _calls_unknown(call, lookup) or any(alters(b, lookup) for b in bodies)


def _given(call: Node, lookup: Lookup) -> list[Node]:
    """The arguments that a call might call, displays item by item."""
    known = given(call, lookup)
    calls = known.spec.calls if known.spec is not None else None
    found = _arguments(call) if calls is None else [*known.of(calls), *(known.starred if calls else ())]
    for argument in found:
        found += argument.elts if isinstance(argument, (gast.List, gast.Tuple)) else []
    return found


def _runs_code(argument: Node, lookup: Lookup) -> bool:
    """Whether an argument is a function of the user's."""
    if isinstance(argument, gast.Lambda):
        return True
    return _is_function(argument, lookup) and bool(_called(argument, lookup))


def _is_function(argument: Node, lookup: Lookup) -> bool:
    """Whether an argument is known to be something that can be called: a name, or an attribute of what a name means."""
    if isinstance(argument, gast.Attribute) and not lookup(argument)[0]:
        member = lookup(argument)[1]
        if isinstance(member, Member):
            return bool(member.functions)
        found, owner = lookup(argument.value)
        return found and callable(inspect.getattr_static(owner, argument.attr, None))
    found, value = lookup(argument)
    return found and callable(value)


def calls_writing(call: Node, lookup: Lookup) -> bool:
    """Whether a call is given a function that writes into what it is given, and may call it."""
    return any(_may_write_when_called(a, lookup) for a in _given(call, lookup))


def _may_write_when_called(argument: Node, lookup: Lookup) -> bool:
    """Whether an argument is a function that writes into what it is given."""
    if isinstance(argument, gast.Lambda):
        return any(True for _ in written_in(argument.body, lookup))
    if not _is_function(argument, lookup):
        return False
    functions = _called(argument, lookup)
    known = ops.callee(lookup(argument)[1])
    writes = known is not None and bool(known.writes)
    return functions is None or writes or _any_may_write(argument, functions, lookup)


def _run_unseen(call: Node, lookup: Lookup) -> list[Node]:
    """The arguments that a function of Python or NumPy calls, and of which it is not known what they are."""
    spec = given(call, lookup).spec
    called = _given(call, lookup) if spec is not None and spec.calls else []
    known = (gast.Lambda, gast.Constant, gast.List, gast.Tuple)
    return [f for f in called if not isinstance(f, known) and _called(f, lookup) is None]


def _calls_unknown(call: Node, lookup: Lookup) -> bool:
    """Whether a function of Python or NumPy calls what it is given, which writes or is not known."""
    spec = ops.spec_of(lookup(call.func)[1])
    applies = spec is not None and spec.calls is not None and spec.calls == spec.parameters[:1] and bool(call.args)
    if applies and is_writing(gast.Call(call.args[0], call.args[1:], []), lookup):
        return True
    return bool(_run_unseen(call, lookup))


def _called(func: Node, lookup: Lookup) -> list[types.FunctionType] | None:
    """The functions with source that a call may run; None where that is not known."""
    found, value = lookup(func)
    if found:
        return _functions_of(value)
    if not isinstance(func, gast.Attribute):
        return None
    if isinstance(value, Member):
        return None if value.functions is None or any(map(_runs_more, value.functions)) else list(value.functions)
    if func.attr in _OF_OBJECTS:
        return None
    found, owner = lookup(func.value)
    if found:
        return _functions_of(owner if func.attr == "__call__" else inspect.getattr_static(owner, func.attr, None))
    if _is_of_base(func, lookup):
        return None
    return [] if is_member(func.attr) else None


def _is_of_base(func: Node, lookup: Lookup) -> bool:
    """Whether a method is that of a class further up: ``super().__init__``."""
    return isinstance(func.value, gast.Call) and lookup(func.value.func)[1] is super


def _functions_of(value: Any) -> list[types.FunctionType] | None:
    """The functions with source that run when a value is called; None where that is not known."""
    spec = ops.spec_of(value) if isinstance(value, types.MethodType) else None
    if spec is not None and not spec.calls:
        # What a distribution keeps for itself (``norm.cdf``) is nothing that the program sees.
        return []
    value = _unwrapped(value)
    if isinstance(value, operator.methodcaller) or value is exec or value is eval:
        return None
    if isinstance(value, _WRAPPERS) and value.__name__ in _OF_OBJECTS and ops.spec_of(value) is None:
        return None
    if isinstance(value, type) and (spec := ops.spec_of(value)) is not None and not spec.calls:
        return []
    if isinstance(value, types.FunctionType):
        return None if _runs_more(value) else [value]
    members = _constructing(value) if isinstance(value, type) else [_member(type(value), "__call__")]
    return [m for m in map(_unwrapped, members) if isinstance(m, types.FunctionType)]


def _runs_more(function: types.FunctionType) -> bool:
    """Whether a generated ``__init__`` that is called by itself runs functions: factories, and ``__post_init__``."""
    code = function.__code__
    runs_another = "__post_init__" in code.co_names or any("HAS_DEFAULT_FACTORY" in n for n in code.co_freevars)
    return initialises(function) and runs_another


def _unwrapped(value: Any) -> Any:
    """What is called in the end where a value is: the function of a method, what is cached or vectorized."""
    while (inside := next((name for t, name in _AROUND if isinstance(value, t)), None)) is not None:
        value = getattr(value, inside)
    return value


def _member(kind: type, name: str) -> Any:
    return inspect.getattr_static(kind, name, None)


def _constructing(kind: type) -> list[Any]:
    """What may run when a class is called."""
    found = [_member(type(kind), "__call__"), *(_member(kind, n) for n in ("__new__", "__init__", "__post_init__"))]
    fields = getattr(kind, "__dataclass_fields__", {})
    if fields:
        # The generated ``__init__`` has no source: it sets attributes.
        found.append(_member(kind, "__setattr__"))
        values = [_member(kind, name) for name in fields]
        found += [v.fset if does_as(v, property) else _member(type(v), "__set__") for v in values]
    return found


def _factories(call: Node, lookup: Lookup) -> list[types.FunctionType]:
    """The functions that make defaults where a dataclass is called; they get nothing of what it is given."""
    fields = getattr(lookup(call.func)[1], "__dataclass_fields__", {}).values()
    made = [_unwrapped(f.default_factory) for f in fields]
    return [m for m in made if isinstance(m, types.FunctionType)]


def _bases(node: Node, lookup: Lookup) -> Iterator[str]:
    """The names whose objects the value of an expression may be, view or hold; numbers are computed from others."""
    if not isinstance(node, (gast.BinOp, gast.UnaryOp, gast.Compare)) or any(
        isinstance(n, (gast.List, gast.Tuple, gast.Subscript, gast.ListComp, gast.Call)) for n in nodes_of(node)
    ):
        yield from names_held(node, lookup)


def writes_by_method(function: types.FunctionType, classes: Iterable[type]) -> bool:
    """Whether a function that is given objects of these classes may call, under a built-in name, what writes."""
    classes, own = list(classes), set[str]()
    for cls in classes:
        for name in _writing_members(cls):
            if (name[:2] == "__" and name not in _MANAGING) or not is_followed(function):
                return True
            own.add(name)
    # What an attribute of the object itself holds may be any function.
    doubtful = frozenset(own).union(*map(members_that_vary, classes))
    return bool(doubtful) and writes_of(function, doubtful=doubtful).doubts


def special_writing(node: Node, lookup: Lookup) -> bool:
    """Whether an operation may write by what it runs of classes of the user's."""
    return any(member_may_write(cls, name) for name, cls in special_members(node, lookup).items())


@functools.lru_cache(maxsize=4096)
def member_may_write(cls: type, name: str, beyond_itself: bool = False) -> bool:
    """Whether a member of a class may write; with ``beyond_itself`` what is not an attribute of the object."""
    member = static_member(cls, name)
    functions = functions_in(member)
    owner = None if does_as(member, staticmethod, classmethod) else cls
    return functions is None or any(bool(writes_of(f, owner, beyond_itself)) for f in functions)


def _writing_members(cls: type) -> Iterator[str]:
    """The members of a class of the user's under built-in names that may write, and what runs those of managers.

    Special methods come first: what they do may take long to find out, and one that writes is enough for most.
    """
    yield from (name for name in sorted(own_members(cls)) if member_may_write(cls, name))
    if any(static_member(cls, name) is not None and member_may_write(cls, name) for name in _MANAGING[:2]):
        yield from _MANAGING


def may_write(function: types.FunctionType) -> bool:
    """Whether a function with source may write into an object that it is given or of the module, or rebind a variable.

    What it writes there may be what it is given, or a number that it makes of that.
    """
    return bool(writes_of(function))
