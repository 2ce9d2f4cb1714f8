"""The table of operations: what each function that the compiler knows is, one `OpSpec` for each.

An operation is declared once, beside its rule if it has one: its parameters, the type of its result, whether that
shares memory with an operand, what it writes, its derivative, and samples at which one test compares all this with
what NumPy does.

Every operation has a *signature*: that of the rule's body, or of a ``lambda`` with nothing in it
(``signature=lambda shape, dtype=None: ...``).  ``infer`` finds the type of the result from the arguments by name (see
:mod:`s2sad.ops.infer`); ``dtype`` says of what precision and class the numbers in the result are.  Methods whose
arguments differ from those of the function are `forms` of the same operation.

A rule is a short Python function.  It runs as it stands (so that a test can call it), and the compiler *splices* its
body into the adjoint, so the text of a rule is the text that a reader finds in an emitted gradient.

Four classes of rule, after ChainRules.jl and JAX:

``elementwise``
    The body returns the partial derivatives, one for each parameter in ``wrt``.  Both modes follow:
    ``x_bar = unbroadcast(z_bar * partial)`` and ``z_dot = sum(partial * x_dot)``.  A body that takes ``z_bar`` returns
    its products with them, since ``0 * inf`` is not what they are at the edge of a domain; in forward mode ``x_dot``
    takes its place.
``linear``
    The body is the transpose; forward mode is the function of the tangent, with ``offsets`` that are zero.
``bilinear``
    The body gives the adjoints of both operands; forward mode is ``f(x_dot, y) + f(x, y_dot)``.
``rule``
    An explicit ``vjp`` and ``jvp``.

Parameter names of a body: ``z`` is the result, ``z_bar`` its adjoint, every other name is a parameter of the function,
spelled as NumPy spells it.

A body is straight-line: assignments, then one ``return`` of an expression (or of a tuple, one item per name in ``wrt``,
when there are several).  It may begin with *static* branches ``if test: return ...``, where the test uses only
``literal(p)``, ``listed(p)``, ``ndim(p)``, ``length(p)``, ``real(p)``, ``p is None`` and comparisons of literal
parameters.  The compiler takes such a branch where it can prove the test and falls through where it cannot, so what
follows must be right in every case.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, TypeVar, Unpack

import numpy as np

from s2sad.ir.nodes import Call
from s2sad.ops.forms import Form
from s2sad.ops.infer.common import Infer, Look, LowerBound, broadcast_of_all, unknown
from s2sad.ops.names import key_of, operation_name
from s2sad.ops.results import DType, Result
from s2sad.ops.samples import Sample as Sample
from s2sad.ops.samples import Samples as Samples
from s2sad.ops.samples import sample as sample
from s2sad.runtime.classes import inside, module_of

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)
Kind = Literal["elementwise", "linear", "bilinear", "general"]


@dataclass(frozen=True, eq=False, kw_only=True)
class OpSpec:
    """What one operation is."""

    name: str
    function: Function
    parameters: tuple[str, ...] = ()
    variadic: str | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    #: The parameters that are given by name only.
    by_name: tuple[str, ...] = ()
    infer: Infer | None = None
    dtype: DType = "unknown"
    result: Result = "unknown"
    #: A closer answer than ``result`` for a call, by its arguments or their types as well; None where there is none.
    closer: Callable[[Call, Look | None], Result | None] | None = None
    #: A number that the result is never below, if it is real.
    lower_bound: LowerBound | None = None
    #: Whether all numbers in the result are zero.
    zeros: bool = False
    #: Whether the result is a matter of the shapes of the operands, whatever they hold.
    measures: bool = False
    #: The built-in class of which the result is, exactly.
    makes: type | None = None
    #: The classes of containers in which it gives several results; that of arrays too if it may give one result.
    gives: tuple[type, ...] = ()
    #: The parameters that it writes, beside ``out``.
    writes: tuple[str, ...] = ()
    #: The parameter that says, element by element, what it writes: the value at that place, or what was there.
    mask: str | None = None
    #: The option by which its first operand becomes its working space, and the value of that by which it does not.
    overwrites: tuple[str, bool] | None = None
    #: The parameters to which it stores references in those that it writes.
    stores: tuple[str, ...] = ()
    #: Those that are no more than keys in what it writes: found by their value, they carry no derivative there.
    keys: tuple[str, ...] = ()
    #: The parameters that it calls; None where any function that it is given may be called.
    calls: tuple[str, ...] | None = None
    #: The parameter that has further arguments of what it calls, and the number of those before (None: any).
    passes: tuple[str, int | None] | None = None
    #: The special methods of operands that it may run, beside those by which it changes what it writes; None for any.
    special: frozenset[str] | None = None
    #: The parameters that it runs through, as far as it does at all, before it returns.
    consumes: tuple[str, ...] = ()
    #: When it calls and runs through what it is given, if later: when its result is asked for an item, or called.
    defers: Literal["items", "call"] | None = None
    #: Whether it makes numbers of any dtype that it is asked for, integers too.
    casts: bool = False
    #: Whether it must happen in its place, and once: it draws random numbers, prints or the like.
    ordered: bool = False
    forms: tuple[Form, ...] = ()
    #: Whether the derivative of the result is zero wherever there is one.
    constant: bool = False
    #: Other names of parameters: those of the function, by the names that stand here for them.
    aliases: Mapping[str, str] = field(default_factory=dict)
    #: What to do instead where something active goes in.
    remedy: str | None = None
    #: Of how many leading operands it matters that they stand by position in the IR.
    leading: int = 0
    #: The numbers of leading operands with each of which the result changes its sign.
    odd: int = 0
    #: Whether the same call gives of a shadow the shadow of the result, if that is a view.
    mirrors: bool = True
    #: Whether it makes NumPy's own arrays and numbers of operands of other classes of arrays too.
    only_arrays: bool = False
    #: Whether the adjoints of real operands may be complex.
    complex_adjoints: bool = False
    #: Whether all operands are read before anything is written into ``out`` or the first of them.
    reads_first: bool = False
    #: Whether it takes ``out``, and writes nothing there: a defect of NumPy's.
    ignores_out: bool = False
    samples: Samples = tuple

    @property
    def own(self) -> bool:
        """Whether it is a method for which there is no function."""
        return any(form.own for form in self.forms)

    @property
    def pure(self) -> bool:
        """Whether it has no effect, other than those of what it calls."""
        return not (self.ordered or self.writes)


@dataclass(frozen=True, eq=False, kw_only=True)
class Rule(OpSpec):
    """An operation that has a derivative.

    ``vjp`` is the body as written: partials for an elementwise rule, or their products with ``z_bar`` where it is
    ``multiplied``, else the adjoints of ``wrt``. ``jvp`` is given for a general rule only. The result is a step
    function of the parameters in ``steps``. ``broadcasts`` says whether the operands are broadcast to one shape.
    """

    kind: Kind
    wrt: tuple[str, ...]
    vjp: Function
    jvp: Function | None = None
    steps: frozenset[str] = frozenset()
    broadcasts: bool = False
    multiplied: bool = False
    #: Whether it is a rule for real operands alone, of a function that may drop imaginary parts.
    real_only: bool = False
    #: The parameters that the rule has in their own dtype, in which the function subtracts them.
    as_given: frozenset[str] = frozenset()
    #: The parameters with which it computes in their own dtype, and which may not be integers that soon wrap around.
    wide_only: tuple[str, ...] = ()
    #: Two parameters of which it computes the difference in their own dtype, in which that of integers may wrap around.
    subtracted: tuple[str, ...] = ()
    #: The parameters of a linear rule by which the function is affine, and which are zero in forward mode.
    offsets: frozenset[str] = frozenset()
    #: The items of the result that have no derivative: to use one is an error as it runs.
    without: tuple[int, ...] = ()
    #: The items of the result that are integers, by their positions and by the names that they have.
    integers: tuple[int | str, ...] = ()
    #: Whether it picks elements of its first operand, and all others have an adjoint of zero: elements of any kind, or
    #: numbers alone, where there may be NaN.
    picks: Literal["elements", "numbers"] | None = None

    def takes_array(self, parameter: str) -> bool:
        """Whether the rule takes an operand for an array, where a list of numbers may be given as well."""
        if self.broadcasts:
            return True
        return parameter != self.variadic and self.vjp.__annotations__.get(parameter) in ("Array", "Array | None")


class Options(TypedDict, total=False):
    """What may be said of an operation where it is declared: fields of `OpSpec`."""

    infer: Infer
    dtype: DType
    result: Result
    closer: Callable[[Call, Look | None], Result | None]
    lower_bound: LowerBound
    zeros: bool
    measures: bool
    makes: type
    gives: tuple[type, ...]
    writes: tuple[str, ...]
    mask: str
    overwrites: tuple[str, bool]
    stores: tuple[str, ...]
    keys: tuple[str, ...]
    calls: tuple[str, ...]
    passes: tuple[str, int | None]
    special: frozenset[str]
    consumes: tuple[str, ...]
    defers: Literal["items", "call"]
    casts: bool
    ordered: bool
    forms: tuple[Form, ...]
    aliases: Mapping[str, str]
    leading: int
    odd: int
    mirrors: bool
    only_arrays: bool
    reads_first: bool
    ignores_out: bool
    complex_adjoints: bool
    remedy: str


class RuleOptions(Options, total=False):
    """What may be said of an operation with a rule beside that."""

    steps: Collection[str]
    broadcasts: bool
    real_only: bool
    as_given: frozenset[str]
    wide_only: tuple[str, ...]
    subtracted: tuple[str, ...]
    offsets: frozenset[str]
    without: tuple[int, ...]
    integers: tuple[int | str, ...]
    picks: Literal["elements", "numbers"]
    name: str


#: The operations by what `key_of` gives of their functions.
_specs: dict[int | tuple[int, int | str], OpSpec] = {}
#: The objects of which methods are operations, by their identity.
_owners: dict[int, object] = {}
_forms: dict[tuple[str, str], tuple[OpSpec, Form]] = {}


def _parameters(body: Function) -> tuple[tuple[str, ...], str | None, dict[str, Any], tuple[str, ...]]:
    """The names of all parameters of ``body`` in order, that of ``*args``, the default values, and which names are
    those of parameters that are given by name only."""
    # Hundreds of rules are declared at once, and inspect.signature takes longer than all the rest.
    code = body.__code__
    names, given = code.co_varnames, code.co_argcount
    by_name = names[given : given + code.co_kwonlyargcount]
    variadic = names[given + len(by_name)] if code.co_flags & inspect.CO_VARARGS else None
    values: tuple[Any, ...] = body.__defaults__ or ()
    defaults = dict(zip(names[given - len(values) : given], values, strict=True))
    defaults.update(body.__kwdefaults__ or {})
    return (*names[:given], *([] if variadic is None else [variadic]), *by_name), variadic, defaults, by_name


def _enter(spec: OpSpec) -> None:
    """Put an operation into the table."""
    key = key_of(spec.function)
    if key in _specs:
        raise ValueError(f"{spec.name} already has a rule, or is declared without one")
    _specs[key] = spec
    if isinstance(spec.function, types.MethodType):
        _owners[id(spec.function.__self__)] = spec.function.__self__
    for form in spec.forms:
        name = form.kind, form.name or spec.function.__name__
        if not form.own or name not in _forms:
            _forms[name] = spec, form
        unbound = getattr(np.ndarray, name[1], None) if form.kind == "method" and form.result is None else None
        if unbound is not None and not form.own:
            _specs[key_of(unbound)] = spec


def _add(
    function: Function,
    body: Function,
    kind: Kind,
    wrt: Sequence[str] | None,
    samples: Samples,
    jvp: Function | None = None,
    **options: Unpack[RuleOptions],
) -> None:
    names, variadic, defaults, by_name = _parameters(body)
    multiplied = kind == "elementwise" and "z_bar" in names
    names = tuple(n for n in names if n not in ("z", "z_bar"))
    if wrt is None:
        wrt = [n for n in names if n not in defaults]
    # The functions of ``math`` give numbers of Python's.
    precision, real_only = ("float", True) if module_of(function) == "math" else ("operands", False)
    said: dict[str, Any] = {"name": operation_name(function, body.__name__), "dtype": precision, "result": "fresh"}
    said.update({"real_only": real_only, **options})
    said.setdefault("infer", broadcast_of_all if said.get("broadcasts") else unknown)
    said["steps"] = frozenset(said.get("steps", ()))
    _enter(
        Rule(
            function=function,
            parameters=names,
            variadic=variadic,
            defaults=defaults,
            by_name=by_name,
            kind=kind,
            wrt=tuple(wrt),
            vjp=body,
            jvp=jvp,
            multiplied=multiplied,
            samples=samples,
            **said,
        )
    )


def elementwise(
    function: Function, *, samples: Samples, wrt: Sequence[str] | None = None, **options: Unpack[RuleOptions]
) -> Callable[[F], F]:
    """Declare the partial derivatives of a function that works element by element.

    The decorated body returns one partial for each name in ``wrt`` (by default
    each parameter without a default value), as a tuple when there are several.
    """

    def declare(body: F) -> F:
        _add(function, body, "elementwise", wrt, samples, **(RuleOptions(broadcasts=True) | options))
        return body

    return declare


def linear(
    function: Function, *, samples: Samples, wrt: Sequence[str], **options: Unpack[RuleOptions]
) -> Callable[[F], F]:
    """Declare the transpose of a function that is linear in ``wrt`` (all of them together)."""

    def declare(body: F) -> F:
        _add(function, body, "linear", wrt, samples, **options)
        return body

    return declare


def bilinear(
    function: Function, *, samples: Samples, wrt: Sequence[str] | None = None, **options: Unpack[RuleOptions]
) -> Callable[[F], F]:
    """Declare the adjoints of both operands of a function that is linear in each."""

    def declare(body: F) -> F:
        _add(function, body, "bilinear", wrt, samples, **options)
        return body

    return declare


def rule(
    function: Function,
    *,
    jvp: Function,
    samples: Samples,
    wrt: Sequence[str] | None = None,
    **options: Unpack[RuleOptions],
) -> Callable[[F], F]:
    """Declare a function by its ``vjp`` (the decorated body) and its ``jvp``.

    The ``jvp`` takes one tangent ``p_dot`` for each ``p`` in ``wrt`` and, by name, whichever of
    ``z`` and the parameters it needs.
    """

    def declare(body: F) -> F:
        _add(function, body, "general", wrt, samples, jvp, **options)
        return body

    return declare


def operation(
    *functions: Function, signature: Function | None = None, samples: Samples = tuple, **options: Unpack[Options]
) -> None:
    """Declare functions without a rule; where something active goes in they are refused, with ``remedy``."""
    _without_rule(functions, signature, samples, {**options})


def constant(
    *functions: Function, signature: Function | None = None, samples: Samples = tuple, **options: Unpack[Options]
) -> None:
    """Declare functions whose result has no derivative (integers, booleans, steps, shapes)."""
    _without_rule(functions, signature, samples, {"constant": True, "result": "fresh", **options})


def _without_rule(
    functions: Iterable[Function], signature: Function | None, samples: Samples, said: dict[str, Any]
) -> None:
    names, variadic, defaults, by_name = ((), None, {}, ()) if signature is None else _parameters(signature)
    for function in functions:
        _enter(
            OpSpec(
                name=operation_name(function),
                function=function,
                parameters=names,
                variadic=variadic,
                defaults=defaults,
                by_name=by_name,
                samples=samples,
                **said,
            )
        )


def spec_of(function: object) -> OpSpec | None:
    """Return what is known of ``function`` or None.  Functions are found by identity."""
    # The table holds what it knows, so nothing else has its identity.
    return _specs.get(key_of(function))


def has_methods(value: object) -> bool:
    """Return whether methods of this object are operations: ``norm.logpdf`` of ``scipy.stats``."""
    return id(value) in _owners


def callee(function: object) -> OpSpec | None:
    """Return what is known of ``function``, or of the method of a built-in class that is bound in it, or None."""
    entry = spec_of(function)
    if entry is not None or isinstance(function, (types.FunctionType, type)):
        return entry
    if isinstance(function, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        known = _forms.get(("method", function.__name__)) if issubclass(np.ndarray, function.__objclass__) else None
        return None if known is None else known[0]
    owner, name = inside(function, "__self__"), inside(function, "__name__")
    if isinstance(function, types.MethodType):
        name = function.__name__
    return None if owner is None or name is None else spec_of(getattr(type(owner), name, None))


def form_of(kind: str, name: str) -> tuple[OpSpec, Form] | None:
    """Return the operation that a method or attribute of this name is, with its form, or None."""
    return _forms.get((kind, name))


def named() -> Iterator[tuple[str, OpSpec]]:
    """The names of all methods and attributes, with the operations that they are."""
    return ((name, known) for (_, name), (known, _) in _forms.items())


def find(function: object) -> Rule | None:
    """Return the rule of ``function`` or None."""
    entry = spec_of(function)
    return entry if isinstance(entry, Rule) else None


def is_constant(function: object) -> bool:
    """Return whether ``function`` was declared to have no derivative."""
    entry = spec_of(function)
    return entry is not None and entry.constant


def specs() -> Iterable[OpSpec]:
    """Every operation, in order of declaration."""
    return tuple(_specs.values())


def rules() -> Iterable[Rule]:
    """Every rule, in order of declaration."""
    return tuple([s for s in _specs.values() if isinstance(s, Rule)])


def constants() -> Iterable[Function]:
    """Every function declared constant, in order of declaration."""
    return tuple([s.function for s in _specs.values() if s.constant])


def literal(value: object) -> bool:
    """Static test: ``value`` is a number written in the program, known when it is compiled."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def listed(value: object) -> bool:
    """Static test: ``value`` is a list or tuple whose items are written in the program."""
    return isinstance(value, (list, tuple))


def ndim(value: object) -> int:
    """Static test: the number of dimensions of ``value``."""
    return int(np.ndim(value))  # type: ignore[arg-type]


def length(value: object) -> int:
    """Static test: the number of items of ``value`` along its first axis, to be compared with another."""
    return len(value)  # type: ignore[arg-type]


def real(value: object) -> bool:
    """Static test: ``value`` is not complex."""
    return not np.iscomplexobj(value)  # type: ignore[arg-type]
