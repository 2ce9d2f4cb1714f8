"""The compiled derivatives of each function: made once, shared by all who ask, guarded by what they rest on.

They are kept in the function's own ``__dict__``, so that they live exactly as long as it does.  (A table
with weak keys would not do: a compiled derivative refers to its function, and would keep its own key
alive.)
"""

from __future__ import annotations

import contextlib
import functools
import gc
import inspect
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from s2sad import ops
from s2sad.entries import Entry, checker
from s2sad.errors import ArgumentError, S2SADError, UnsupportedError
from s2sad.frontend.emitted import DERIVATIVE, DERIVED_FROM
from s2sad.frontend.resolve import Guard
from s2sad.frontend.source import read_source
from s2sad.frontend.trees import names_tested
from s2sad.ir.types import Fact, constant
from s2sad.pipeline import Attempts, Compiled, Goal, Sizes, Together, compile_gradient
from s2sad.pipeline.refused import further
from s2sad.runtime.contents import Aside
from s2sad.runtime.copies import hold_mutable
from s2sad.runtime.items import ContainerMetError, TakenOtherwiseError
from s2sad.transform.foreign import attributes_among
from s2sad.transform.given_functions import with_functions
from s2sad.transform.instances import is_simple_class, with_attributes

#: So many texts of one parameter have variants of their own.
_TEXTS = 8
#: What was compiled for so many functions for one parameter is kept.
_FUNCTIONS = 8
#: So many derivatives of one function are compiled with what is known of the relations between sizes.
_RELATED = 12
#: The ways that are tried last: a program that raises at run time is asked for only where no other is left.
_RAISED: tuple[Sizes, ...] = ("raised", "raised rounds")
_SLOT = "__s2sad_variants__"
_attaching = threading.Lock()
#: Held by who compiles: Python 3.11 counts the depth of the trees that all threads parse together (gh-106905), and what
#: is known of functions that call each other is noted while they are read (`frontend.writing`).
_compiling = threading.RLock()
#: What has been refused since the outermost compilation began, by function and key.  A derivative that a program calls
#: is asked for wherever its name is looked up, and nothing changes meanwhile that could make it accepted.
_refused: dict[Any, S2SADError] = {}
#: For each compilation that has begun and not ended, whether the garbage collector was on.
_underway: list[bool] = []


#: A function, and on what it rests.
Emitted = tuple[types.FunctionType, Sequence[Guard]]


class Variant(NamedTuple):
    """One compiled derivative: its functions in order, its test, and all else about it."""

    run: types.FunctionType
    holds: Callable[[], bool]
    compiled: Compiled


class Options(NamedTuple):
    """What is asked of a function, whatever the arguments."""

    goal: Goal
    wrt: tuple[str, ...]
    has_aux: bool = False
    single: bool = True
    #: Whether it is to be differentiated itself.
    conformed: bool = False


class Variants(Aside):
    """The compiled derivatives of one function; one thread at a time compiles."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function
        self._made: dict[Any, Variant] = {}
        #: Of a function that stands for a derivative: that, for arguments of which some facts are known.
        self.derivative: Callable[[Mapping[str, Fact]], Variant] | None = None
        #: The functions that stand for its derivatives.
        self.stand_ins: dict[Options, types.FunctionType] = {}
        #: By positions: the gradients that products with Hessians are made of.
        self.gradients: dict[Any, Any] = {}
        #: For each number of arguments: what computes the product with the Hessian that was asked for last.
        self.products: dict[int, Any] = {}
        #: What computes tangents with the value, and alone, each by the number of arguments.
        self.pushforwards: tuple[dict[int, Any], dict[int, Any]] = {}, {}
        #: The function whose text says what the parameters are.
        self.read = function
        #: The parameters whose arguments some derivative copies, since the function may write them.
        self.written: frozenset[str] = frozenset()
        #: What has helped to compile it for arguments of the very sizes, and small whole numbers, that are given.
        self.met_sizes: tuple[Sizes, ...] = ()
        #: What may help for the arguments that are met next.
        self._wanted: tuple[Sizes, ...] = ()
        #: What is said of a function for which no way is left.
        self._refused = UnsupportedError(())
        #: Whether what is changed, and may be a number or an array, is taken for a number.
        self.numbers = False
        #: The derivatives that took arrays for numbers, which a run has met: there is none for arrays of any sizes.
        self._met_arrays: dict[Any, Variant] = {}
        #: The truth values and texts that parameters had.
        self._met_values: dict[str, set[bool | str]] = {}
        #: The types of parameters with the functions in them that are known.
        self._met_functions: dict[str, dict[Fact, None]] = {}
        #: For each set of options, by the kinds of the arguments: what a call runs.
        self.ready: dict[Options, dict[Any, tuple[Entry, bool]]] = {}
        #: What calls that are met at run time run.
        self.met: dict[Any, Any] = {}

    def get(
        self,
        options: Options,
        facts: Mapping[str, Fact],
        about: str = "",
        together: Together = (),
        literal: Callable[[], Mapping[str, Fact]] | None = None,
    ) -> Variant:
        """The derivative for arguments of which ``facts`` are known, compiled if it is not there or out of date.

        ``about`` keeps apart what is compiled for looking at from what runs; ``together`` are sets of parameters whose
        arguments share objects that the function changes.  Where the sizes of arguments decide which objects the
        function makes, the facts are those that ``literal`` gives, if it is there.
        """

        def of_sizes(known: Sizes) -> Variant | None:
            given = facts if literal is None or known == "held" else literal()
            return None if about else self._of_sizes(options, given, together, known)

        wanted, self._wanted = self._wanted, ()
        for known in dict.fromkeys((*wanted, *(way for way in self.met_sizes if way not in _RAISED))):
            if (sized := of_sizes(known)) is not None:
                self.met_sizes = tuple(dict.fromkeys((*wanted, *self.met_sizes)))
                return sized
        attempts, asked = Attempts(), (options, tuple(facts.items()), about, together)
        met = self._met_arrays.get(asked)
        refused = met.compiled.not_for_arrays if met is not None and met.holds() else None
        may_be_numbers = refused is None
        if refused is None:
            try:
                found = self._got(options, facts, about, together, "", attempts)
                return (of_sizes("sizes") if found.compiled.of_sizes else None) or found
            except UnsupportedError as error:
                if self.numbers:
                    # What has no derivative for a number has one for an array, if any.
                    self.numbers = False
                    return self.get(options, facts, about, together, literal)
                refused, may_be_numbers = error, error.of_numbers
        by_numbers = functools.partial(self._of_numbers, options, facts, about, together, refused, attempts)
        is_first = may_be_numbers and not any(map(_has_arrays, facts.values()))
        number = by_numbers() if is_first else None
        if number is not None and number.compiled.repeats:
            # A run that meets an array begins again.
            return number
        self.numbers, sized = False, None
        self._refused = refused
        ways: tuple[tuple[Sizes, bool], ...] = (
            ("held", refused.of_held),
            ("sizes", refused.of_sizes),
            ("handed", refused.of_handing),
            ("rounds", refused.of_rounds),
            ("inlined", refused.of_inlining),
        )
        for way, may_help in ways:
            sized = of_sizes(way) if sized is None and may_help else sized
        if sized is None and may_be_numbers:
            sized = number if is_first else by_numbers()
            self.numbers = sized is not None
        for way, may_help in zip(_RAISED, (True, refused.of_rounds), strict=True):
            sized = of_sizes(way) if sized is None and may_help and self._refused.of_arms else sized
        if sized is None:
            raise self._refused
        return sized

    def for_arguments(
        self, options: Options, facts: Callable[..., Mapping[str, Fact]], together: Together = ()
    ) -> Variant:
        """The derivative for arguments of which ``facts`` says what is known.

        How their sizes compare counts for the first few that are compiled.
        """
        related = sum(made[0] == options for made in list(self._made)) < _RELATED
        return self.get(options, facts(related=related), "", together, lambda: facts(literal=True))

    def _of_sizes(
        self, options: Options, facts: Mapping[str, Fact], together: Together, known: Sizes
    ) -> Variant | None:
        """The derivative for arguments of the very sizes in their types, which may decide which objects are made."""
        try:
            found = self._got(options, facts, "", together, known)
        except UnsupportedError as error:
            self._refused = further(self._refused, error)
            return None
        except RecursionError:
            return None
        if known not in self.met_sizes:
            self.met_sizes += (known,)
        return found

    def _of_numbers(
        self,
        options: Options,
        facts: Mapping[str, Fact],
        about: str,
        together: Together,
        error: UnsupportedError,
        attempts: Attempts,
    ) -> Variant | None:
        """The derivative for a number of what may be one or an array, where there is none for an array; None if none.

        The ``error`` says why there is none for an array, which the ``attempts`` before have found.
        """
        self.numbers = True
        try:
            found = self._got(options, facts, about, together, "", attempts)
        except UnsupportedError:
            self.numbers = False
            return None
        if found.compiled.not_for_arrays is None:
            found = found._replace(compiled=replace(found.compiled, not_for_arrays=error))
            self._made[self._key(options, facts, about, together, "")] = found
        return found

    @property
    def literal(self) -> bool:
        """Whether what is compiled is for arguments of the very sizes, and small whole numbers, that are given."""
        return bool(self.met_sizes)

    def _got(
        self,
        options: Options,
        facts: Mapping[str, Fact],
        about: str,
        together: Together,
        sizes: Sizes,
        attempts: Attempts | None = None,
    ) -> Variant:
        key = self._key(options, facts, about, together, sizes)
        found = self._made.get(key)
        if found is None or not found.holds():
            with _compiling:
                found = self._made.get(key)  # another thread may have been here
                if found is None or not found.holds():
                    goal, wrt, has_aux, single, conformed = options
                    inner = None if self.derivative is None else self.derivative(facts)
                    function = self.function if inner is None else inner.compiled.functions[inner.compiled.names[0]]
                    # What was out of date once is compiled for arrays of modules of any sizes.
                    exact = not about and found is None
                    with _compilation((function, key)):
                        how = conformed, exact, sizes, key[-1], attempts
                        compiled = compile_gradient(function, wrt, facts, goal, has_aux, single, together, *how)
                    if inner is not None:
                        # The inner derivative has copied what the function changes.
                        written = compiled.written | inner.compiled.written
                        guards = (*inner.compiled.guards, *compiled.guards)
                        compiled = replace(compiled, guards=guards, written=written)
                    run = compiled.functions[compiled.names[0]] if compiled.names else self.function
                    found = Variant(run, checker(compiled.guards), compiled)
                    self._made[key] = found
                    self.written |= compiled.written
        return found

    def _key(
        self, options: Options, facts: Mapping[str, Fact], about: str, together: Together, sizes: Sizes
    ) -> tuple[Any, ...]:
        """What tells the compiled derivatives apart."""
        return options, tuple(facts.items()), about, together, sizes, self.numbers

    def take_otherwise(self, failed: Compiled, error: TakenOtherwiseError) -> bool:
        """Take what was taken for an array for a number, or the other way round; whether a run may begin again.

        Where that was a list or an object, loops may be written out.

        Raises:
            UnsupportedError: if it is an array, for which there is no derivative.
        """
        if isinstance(error, ContainerMetError):
            self._wanted = ("rounds",) if failed.repeats and failed.of_rounds else ()
            self._forget()
            return bool(self._wanted)
        if failed.not_for_arrays is not None:
            if not failed.repeats:
                raise failed.not_for_arrays
            self._met_arrays.update({key[:4]: made for key, made in self._made.items() if made.compiled is failed})
        if not failed.repeats:
            return False
        self.numbers = not self.numbers
        if self.read is not self.function:
            variants(self.read).numbers = self.numbers
        self._forget()
        return True

    def _forget(self) -> None:
        """Forget what calls run."""
        for found in (*self.ready.values(), *self.pushforwards, self.met):
            found.clear()

    def refined(self, name: str, value: Any, fact: Fact) -> Fact:
        """The type of an argument with what the function asks of its value.

        That is which truth value or text it is, if the function branches by it, and the attributes of an object, if the
        function may set some, and functions that may write.  Of one parameter the first few texts count.
        """
        cls: Any = type(value)
        if cls is bool or cls is str:
            met = self._met_values.setdefault(name, set())
            if name in self.tested and (cls is bool or value in met or len(met) < _TEXTS):
                met.add(value)
                return constant(value)
        elif (known := with_functions(name, value, fact)) is not fact:
            self._note_functions(name, known)
            return known
        elif fact.kind in ("other", "dataclass") and is_simple_class(cls):
            return replace(with_attributes(name, value, fact, self.read), library=attributes_among(value, self.read))
        elif fact.kind == "other" and ops.object_model_of(cls) is not None:
            return replace(fact, library=(("", cls),))
        return fact

    def _note_functions(self, name: str, known: Fact) -> None:
        """Forget what was compiled for those functions for a parameter that were met first, if there are too many."""
        met = self._met_functions.setdefault(name, {})
        met[known] = None
        if len(met) > _FUNCTIONS:
            first = (name, next(iter(met)))
            del met[first[1]]
            self._made = {key: made for key, made in list(self._made.items()) if first not in key[1]}
            self._forget()

    @functools.cached_property
    def tested(self) -> frozenset[str]:
        """The names in the conditions of the function."""
        try:
            return names_tested(read_source(self.read).node)
        except S2SADError:
            return frozenset()

    def check_defaults(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Raise for a default value that the function may change: later calls would see that, so no copy serves.

        Raises:
            ArgumentError: with the parameter.
        """
        if not self.written:
            return
        function = self.function
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        for name, value in zip(names, values, strict=True):
            if name in self.written and any(value is default for default in defaults) and hold_mutable([value]):
                what = f"{function.__qualname__} may change the default value of {name}, which its later calls see"
                raise ArgumentError(f"{what}\nPass {name} in the call, or make it in the function.")

    def __reduce__(self) -> Any:
        # Whoever pickles or copies the function with its __dict__ gets an empty slot.
        return _nothing, ()


@contextlib.contextmanager
def _compilation(key: Any) -> Iterator[None]:
    """Around what compiles, which holds `_compiling`; what has been refused in the present one is refused at once.

    The garbage collector waits meanwhile: almost all that is made stays reachable until the end, and to look through it
    again and again would take a fifth of the time.
    """
    if key in _refused:
        raise _refused[key].with_traceback(None)
    _underway.append(gc.isenabled())
    gc.disable()
    try:
        yield
    except S2SADError as error:
        _refused[key] = error
        raise
    finally:
        collects = _underway.pop()
        if not _underway:
            _refused.clear()
            if collects:
                gc.enable()


def _has_arrays(fact: Fact) -> bool:
    """Whether an argument is an array, or a container of such."""
    held = [f for _, f in fact.items or ()] if fact.each is None else [fact.each]
    return fact.kind in ("array", "numeric") or any(map(_has_arrays, held))


def _nothing() -> None:
    return None


def variants(function: types.FunctionType) -> Variants:
    """The compiled derivatives of ``function``, the same object each time."""
    found = function.__dict__.get(_SLOT)
    # functools.wraps copies the __dict__ of one function into that of another.
    if found is None or found.function is not function:
        with _attaching:
            found = function.__dict__.get(_SLOT)
            if found is None or found.function is not function:
                found = function.__dict__[_SLOT] = Variants(function)
    return found


def standing_for(
    function: types.FunctionType, verb: str, run: Callable[[tuple[Any, ...]], Any], further: Sequence[str] = ()
) -> types.FunctionType:
    """A function of the parameters of another, and ``further`` ones, that runs something else with their values.

    Raises:
        ArgumentError: for a function of any number of arguments.
    """
    params = inspect.signature(function, follow_wrapped=False).parameters.values()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in params):
        what = f"{verb} of {function.__qualname__} takes any number of arguments, and cannot be differentiated itself"
        raise ArgumentError(f"{what}\nDifferentiate a function of a fixed number.")
    own = [p.replace(default=p.empty, annotation=p.empty) for p in params]
    bare = inspect.Signature([*own, *(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in further)])
    call = "run"
    while call in bare.parameters:
        call += "_"
    space: dict[str, Any] = {call: run}
    name = f"{verb}_{function.__name__}" if function.__name__.isidentifier() else verb
    exec(f"def {name}{bare}: return {call}(({''.join(f'{name}, ' for name in bare.parameters)}))", space)
    made: types.FunctionType = space[name]
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    made.__dict__[DERIVED_FROM] = function
    made.__module__, made.__qualname__ = function.__module__, f"{verb} of {function.__qualname__}"
    return made


def emitted(variant: Variant, derivative: Callable[[Mapping[str, Fact]], Variant]) -> Emitted | None:
    """The function that runs for arguments of any kind, of which other functions know what gives those for others.

    None where that takes something for a number which may be an array or an object: its text says nothing of these.
    """
    made = variant.compiled
    if made.not_for_arrays is not None:
        return None
    function = made.functions[made.names[0]]
    function.__dict__[DERIVATIVE] = derivative
    return function, made.guards
