"""Values with their tangents: forward mode for functions of any result."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from s2sad import arguments
from s2sad.arguments import Binder
from s2sad.callables import Target, resolve
from s2sad.entries import MISSED, tangent_entry
from s2sad.errors import ArgumentError, S2SADError, UndefinedDerivativeError
from s2sad.frontend.resolve import Emitting
from s2sad.ir.types import Fact
from s2sad.kinds import kinds_of
from s2sad.load import origin
from s2sad.pipeline import Compiled, Together
from s2sad.pipeline.compiled import tangent_names
from s2sad.pipeline.imports import outer_names
from s2sad.pullbacks import placed
from s2sad.runtime import SharedArgumentsError, as_pair
from s2sad.runtime.items import TakenOtherwiseError
from s2sad.runtime.tangents import fitting
from s2sad.transform.derivatives import makes_tangents
from s2sad.variants import Emitted, Options, Variant, emitted, standing_for, variants

#: What takes arguments and tangents, and returns what a call returns, or `MISSED`.
Entry = Callable[[Sequence[Any], Sequence[Any]], Any]
#: How many kinds of arguments one function remembers.
_MANY = 4096
_FUNCTION = types.FunctionType
_SEQUENCES = (tuple, list)


class Pushforward:
    """A function together with its derivative along a direction, compiled for each kind of arguments."""

    def __init__(self, target: Target, count: int, alone: bool = False) -> None:
        #: Whether it gives the tangent without the value.
        self.alone = alone
        self.function = target.function_for(count)
        self.label = f"jvp of {self.function.__qualname__}"
        self._target = target
        self._binder = Binder(self.function, target.leading, target.given)
        if count > len(self._binder.open):
            raise ArgumentError(f"{self.label}: {count} arguments were given")
        #: By the positions and kinds of arguments: what a call runs.
        self._ready: dict[Any, tuple[Variant, Entry | None]] = {}
        #: What the next call tries first: what the last one ran.
        self._entry: Entry | None = None

    def again(self, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        """The value and its tangent, or the tangent alone, of a call like the last one; `MISSED` of any other."""
        if self._entry is None:
            return MISSED
        try:
            return self._entry(primals, tangents)
        except SharedArgumentsError:
            return MISSED
        except UndefinedDerivativeError as error:
            error.place = error.place or origin(error.__traceback__)
            raise

    def compiled(self, primals: Sequence[Any], positions: Sequence[int], together: Together = ()) -> Variant:
        """The tangent with respect to the arguments at some positions."""
        values = self._bound(primals, positions)
        names = self._binder.names
        wrt = tuple([names[i + len(self._target.leading)] for i in positions])
        for i, name in zip(positions, wrt, strict=True):
            arguments.check(values[i + len(self._target.leading)], name, self.label)
        cache = variants(self.function)
        facts = functools.partial(arguments.facts, names, values, self.label, cache.refined)
        options = Options("tangent_alone" if self.alone else "tangent", wrt)
        return cache.for_arguments(options, facts, together)

    def __call__(
        self, primals: Sequence[Any], tangents: Sequence[Any], positions: Sequence[int], is_decided: bool = False
    ) -> tuple[Any, Any]:
        """The value and its tangent, for the tangents of the arguments at some positions.

        With ``is_decided`` numbers that were taken for arrays have been met, and the call begins again.
        """
        self._target.check(tuple(primals), {})
        values = self._bound(primals, positions)
        shift = len(self._target.leading)
        names = self._binder.names
        kinds = kinds_of(values, variants(self.function).literal)
        key = (*positions, kinds)
        found, entry = self._ready.get(key, (None, None))
        known = found is not None and found.holds()
        dots = []
        for i in positions:
            if not known:
                arguments.check(values[i + shift], names[i + shift], self.label)
            dots.append(fitting(tangents[i], values[i + shift], names[i + shift], self.label))
        with placed():
            try:
                if found is None or not known:
                    found = self.compiled(primals, positions)
                    entry = self._entry_for(found, tuple(primals), positions)
                    if len(self._ready) >= _MANY:
                        self._ready.clear()
                    if kinds is not None:
                        self._ready[key] = found, entry
                self._entry = entry
                return self._run(found.compiled, values, dots)
            except SharedArgumentsError as error:
                by_name = dict(zip(names, values, strict=True))
                wrt = tuple([names[i + shift] for i in positions])
                with arguments.naming(error, by_name):
                    together = arguments.sharing(by_name, wrt)
                    return self._run(self.compiled(primals, positions, together).compiled, values, dots)
            except TakenOtherwiseError as error:
                if is_decided or found is None or not variants(self.function).take_otherwise(found.compiled, error):
                    raise
                self._ready.clear()
                return self(primals, tangents, positions, True)

    def _entry_for(self, found: Variant, primals: tuple[Any, ...], positions: Sequence[int]) -> Entry | None:
        """What runs a tangent for arguments of the same kinds, where they need no more than the compiled function."""
        made, run = found.compiled.tangent, found.compiled.functions[found.compiled.names[0]]
        if (
            variants(self.function).literal
            or made is None
            or not self._target.plain
            or len(primals) != self._binder.complete
        ):
            return None
        if self._binder.positional(run, positions, primals) is not run:
            return None
        dots = {n: public for n, (_, public) in zip(positions, made.params, strict=True)}
        split = None if self.alone or (made.count is None and made.active) else made.split
        written = [n for n, name in enumerate(self._binder.names) if name in found.compiled.written]
        return tangent_entry(run, found.compiled.guards, primals, dots, split, written)

    def is_current(self) -> bool:
        """Whether the function has the code that it had."""
        return self.function.__code__ is self._binder.code

    def _bound(self, primals: Sequence[Any], positions: Sequence[int]) -> tuple[Any, ...]:
        return self._binder.bound(arguments.floats_at(positions, tuple(primals)), {}, self.label)

    def _run(self, compiled: Compiled, values: Sequence[Any], dots: Sequence[Any]) -> tuple[Any, Any]:
        variants(self.function).check_defaults(self._binder.names, values)
        found = compiled.tangent
        assert found is not None
        run = self._binder.positional(compiled.functions[compiled.names[0]], (), tuple(values))
        given = {public: dot for (_, public), dot in zip(found.params, dots, strict=True)}
        out = run(*values, **given)
        return (None, out) if self.alone else found.split(out)


def pushforward(f: Callable[..., Any], count: int, alone: bool = False) -> Pushforward:
    """What computes the tangents of a function for calls with ``count`` arguments; ``alone`` without the values."""
    target = resolve(f)
    if not target.plain or target.function is None:
        return Pushforward(target, count, alone)
    kept = variants(target.function).pushforwards[alone]
    if count not in kept or not kept[count].is_current():
        kept[count] = Pushforward(target, count, alone)
    found: Pushforward = kept[count]
    return found


def are_sequences(primals: Any, tangents: Any) -> bool:
    """Whether arguments and tangents are given as they should be: in tuples or lists."""
    return isinstance(primals, _SEQUENCES) and isinstance(tangents, _SEQUENCES)


def varying(verb: str, f: Callable[..., Any], primals: Any, tangents: Any) -> list[int]:
    """The positions of the arguments that have tangents.

    Raises:
        ArgumentError: if they do not belong to each other.
    """
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not are_sequences(given, given):
            raise ArgumentError(f"{verb}: {what} must be a tuple or list, not {type(given).__name__}\nPass ({what},).")
    if len(tangents) != len(primals):
        raise ArgumentError(f"{verb} of {_called(f)}: {len(tangents)} tangents for {len(primals)} arguments")
    positions = [i for i, tangent in enumerate(tangents) if tangent is not None]
    if not positions:
        what = f"{verb} of {_called(f)}: every tangent is None"
        raise ArgumentError(f"{what}\nGive a tangent for an argument that varies.")
    return positions


def _called(f: Callable[..., Any]) -> str:
    return str(getattr(f, "__qualname__", None) or repr(f))


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, has_aux: bool = False) -> Any:
    """The value of ``f`` at ``primals`` and its derivative along ``tangents``, in forward mode.

    Args:
        f: A callable whose code can be found, as for :func:`grad`.
        primals: Its positional arguments, a tuple or list.
        tangents: For each argument a tangent of its structure and shape; None for an argument that does not vary, which
            may then be of any type.
        has_aux: ``f`` returns ``(value, aux)``; the result is then ``(value, tangent, aux)``.

    Returns:
        ``(value, tangent)``; the tangent has the structure of the value, with None for what is no number.

    Raises:
        ArgumentError: if an argument cannot have a tangent, or a tangent does not fit its argument.
        UnsupportedError: with every place through which no derivative can pass.

    Example:
        >>> import numpy as np
        >>> from s2sad import jvp
        >>> def area(w, h):
        ...     return w * h
        >>> jvp(area, (2.0, 3.0), (1.0, 0.5))
        (6.0, 4.0)

    Reference: Griewank and Walther, Evaluating Derivatives, 2008, section 3.1.
    """
    # A call that is like the last one takes less than a microsecond.
    if not has_aux and type(f) is _FUNCTION and isinstance(primals, _SEQUENCES) and isinstance(tangents, _SEQUENCES):
        known = variants(f).pushforwards[False].get(len(primals))
        if known is not None and (out := known.again(primals, tangents)) is not MISSED:
            return out
    positions = varying("jvp", f, primals, tangents)
    push = pushforward(f, len(primals))
    value, tangent = push(primals, tangents, positions)
    if has_aux:
        value, aux = as_pair(value)
        return value, as_pair(tangent)[0], aux
    return value, tangent


class TangentOf(Emitting):
    """The value and tangent of a function, as a function of its arguments and of the tangents ``x_dot`` of some."""

    def __init__(self, function: Callable[..., Any], positions: Sequence[int], has_aux: bool) -> None:
        self.function, self.positions, self.has_aux = function, positions, has_aux
        self.__name__ = "jvp"
        self.__wrapped__ = function
        self._target = resolve(function)
        count = max(len(inspect.signature(function).parameters), *(n + 1 for n in positions))
        self._plain = self._target.function_for(count)
        binder = Binder(self._plain, self._target.leading, self._target.given)
        self._wrt = tuple([binder.open[n] for n in positions])
        code = self._plain.__code__
        self.dots = tangent_names(binder.names, self._wrt, {*outer_names(code), *code.co_freevars})
        own = inspect.signature(self._plain).parameters.values()
        dots = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in self.dots]
        self.__signature__ = inspect.Signature([p for p in own if p.name in binder.open] + dots)
        self._options = Options("tangent", self._wrt, has_aux, conformed=True)

    def __call__(self, *args: Any, **dots: Any) -> Any:
        tangents: list[Any] = [None] * len(args)
        for n, name in zip(self.positions, self.dots, strict=True):
            tangents[n] = dots[name]
        return jvp(self.function, args, tangents, has_aux=self.has_aux)

    def _compiled(self, facts: Mapping[str, Fact]) -> Variant:
        return variants(self._plain).get(self._options, {k: f for k, f in facts.items() if k not in self.dots})

    def _run(self, values: tuple[Any, ...]) -> Any:
        shift = len(self._target.leading)
        split = len(values) - len(self.dots)
        return self(*values[shift:split], **dict(zip(self.dots, values[split:], strict=True)))

    def stand_in(self) -> Target:
        kept = variants(self._plain)
        found = kept.stand_ins.get(self._options)
        if found is None:
            found = kept.stand_ins[self._options] = standing_for(self._plain, "jvp", self._run, self.dots)
            made = variants(found)
            made.derivative, made.read = self._compiled, kept.read
        return Target(found, self._target.leading, self._target.given)

    def emitted(self) -> Emitted | None:
        if not self._target.plain:
            return None
        try:
            made = variants(self._plain).get(self._options, {}, "called")
        except S2SADError:
            return None
        return emitted(made, self._compiled)


makes_tangents(jvp, TangentOf)
