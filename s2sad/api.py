"""What users hold: derivatives as callable objects that carry their own source.

An object compiles when it is first called with arguments of new kinds (float, array of so
many dimensions, container), with everything that is known of them as facts to the one compiler;
afterwards a call is a look-up.  Names that were resolved are guarded: when a helper
function or a constant's kind has changed, the next call compiles again.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np

from s2sad import arguments
from s2sad.analysis.hints import hinted_facts
from s2sad.arguments import Binder, fitted
from s2sad.callables import Target, required, resolve, signature_of
from s2sad.entries import MISSED, Entry, entry
from s2sad.errors import S2SADError, UndefinedDerivativeError, UnsupportedError
from s2sad.frontend.resolve import Emitting
from s2sad.ir.types import Fact
from s2sad.kinds import kinds_of
from s2sad.load import origin
from s2sad.pipeline import Compiled, Goal, Together
from s2sad.pullbacks import placed, vjp
from s2sad.runtime import SharedArgumentsError
from s2sad.runtime.items import TakenOtherwiseError
from s2sad.runtime.tangents import same_value
from s2sad.transform.derivatives import makes_derivatives, makes_pullbacks
from s2sad.variants import Emitted, Options, Variant, emitted, standing_for, variants

__all__ = ["Derivative", "ValueAndGradient", "grad", "value_and_grad", "vjp"]

Function = Callable[..., Any]

#: How many kinds of arguments one set of options remembers.
_MANY = 4096


class Derivative(Emitting):
    """The derivative of a function: callable, with the source that it runs.

    Objects are made by :func:`grad` and :func:`value_and_grad`.  They are safe to call from several threads,
    and share what is compiled with all others of the same function and options.
    """

    _goal: Goal = "gradient"
    _verb = "grad"

    def __init__(
        self,
        function: Function,
        argnums: int | Sequence[int],
        argnames: str | Sequence[str] | None,
        has_aux: bool,
    ) -> None:
        target = resolve(function)
        plain = _first_form(target, argnums, argnames)
        functools.update_wrapper(self, function if target.plain else plain, updated=("__dict__",) * target.plain)
        self.__wrapped__ = function
        self._target = target
        self._function = plain
        self._given = (argnums, argnames, has_aux)
        self._binder = Binder(plain, target.leading, target.given)
        self._names = self._binder.names
        self._complete = self._binder.complete if target.plain else -1
        self._wrt, self.single = arguments.wanted(plain, self._binder.open, argnums, argnames)
        self._positions = tuple(self._names.index(w) for w in self._wrt)
        outer = tuple(map(self._binder.open.index, self._wrt))
        self.argnums: int | tuple[int, ...] = outer[0] if self.single else outer
        #: The derivatives of a function of the operation table, by the form of a call; by None that of another target.
        self._forms: dict[Any, Derivative] = {}
        self._has_aux = bool(has_aux)
        # What the emitted function returns, with {} for the gradients.
        self._form = "value, {}" if self._goal == "value_and_gradient" else "{}, aux" if self._has_aux else "{}"
        if not self.single and len(self._positions) == 1:
            self._form = self._form.replace("{}", "({},)")
        self._variants = variants(plain)
        self._options = Options(self._goal, self._wrt, self._has_aux, self.single)
        self._ready = self._variants.ready.setdefault(self._options, {})
        #: What the next call tries first: what the last one ran.
        self._entry: Entry = _missed

    # --- calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if not kwargs:
                out = self._entry(args)
                if out is not MISSED:
                    return out
            return self._called(args, kwargs)
        except SharedArgumentsError as error:
            return self._shared_call(self._all_of(args, kwargs), error)
        except TakenOtherwiseError as error:
            return self._decided_call(args, kwargs, error)
        except UndefinedDerivativeError as error:
            error.place = error.place or origin(error.__traceback__)
            raise

    def _decided_call(self, args: tuple[Any, ...], kwargs: dict[str, Any], error: TakenOtherwiseError) -> Any:
        """A call in which a number was taken for an array, or the other way round, with the other derivative."""
        self._entry = _missed
        with placed():
            failed = self._variant(arguments.floats_at(self._positions, self._all_of(args, kwargs))).compiled
            if not self._variants.take_otherwise(failed, error):
                raise error
            try:
                return self._called(args, kwargs)
            except UnsupportedError as refused:
                raise (refused if failed.not_for_arrays is not None else error) from None
            except TakenOtherwiseError:
                raise error from None

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call with arguments of other kinds than those of the last one."""
        formed = self._formed(args, kwargs)
        if formed is not self:
            return formed(*args, **kwargs)
        values = self._all_of(args, kwargs)
        kinds = kinds_of(values, self._variants.literal)
        found = self._ready.get(kinds)
        if found is not None:
            entry, exact = found
            out = entry(values)
            if out is not MISSED:
                if exact and self._complete == len(values):
                    self._entry = entry
                return out
        return self._first_call(values)

    def _all_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The values of all parameters, in order; the very arguments where those are all."""
        return self._bound(args, kwargs) if kwargs or len(args) != self._complete else args

    def _shared_call(self, args: tuple[Any, ...], error: SharedArgumentsError) -> Any:
        """A call with arguments that share what the function changes, which it has not begun to do."""
        values = dict(zip(self._names, args, strict=True))
        with placed(), arguments.naming(error, values):
            run = self._found(args, arguments.sharing(values, self._wrt)).run
            out = self._binder.positional(run, self._positions, args)(*args)
        return self._finished(out, args)

    def _first_call(self, args: tuple[Any, ...]) -> Any:
        """A call with arguments of a new kind."""
        found = self._variant(arguments.floats_at(self._positions, args))
        self._variants.check_defaults(self._names, args)
        run = self._binder.positional(found.run, self._positions, args)
        out = run(*args)
        literal = self._variants.literal
        kinds = kinds_of(args, literal)
        if kinds is not None:
            if len(self._ready) >= _MANY:
                self._ready.clear()
            written = [n for n, name in enumerate(self._names) if name in found.compiled.written]
            call, exact = entry(run, found.compiled.guards, args, self._positions, self._form, written)
            self._ready[kinds] = call, exact and not literal
        return self._finished(out, args)

    def _finished(self, out: Any, values: Sequence[Any]) -> Any:
        """What a call returns: the gradients in the form of their arguments."""
        if self._goal == "value_and_gradient":
            return out[0], self._conformed(out[1], values)
        if self._has_aux:
            return self._conformed(out[0], values), out[1]
        return self._conformed(out, values)

    def _conformed(self, gradients: Any, values: Sequence[Any]) -> Any:
        if self.single:
            return fitted(gradients, values[self._positions[0]])
        return tuple([fitted(g, values[p]) for g, p in zip(gradients, self._positions, strict=True)])

    def _formed(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Derivative:
        """The derivative for a call with these arguments: another one for a function of the operation table."""
        now = self._renewed()
        if now is not self:
            return now._formed(args, kwargs)
        if not self._target.varies or not (args or kwargs):
            return self
        return self._form_for(len(args), tuple(kwargs))

    def _form_for(self, count: int, names: Sequence[str]) -> Derivative:
        """The derivative for a call with so many positional arguments, and others by name."""
        function = self._target.function_for(count, names)
        if function is self._function:
            return self
        found = self._forms.get(function)
        if found is None:
            bare: Function = function
            if self._target.leading or self._target.given:
                bare = functools.partial(function, *self._target.leading, **self._target.given)
            found = self._forms[function] = type(self)(bare, *self._given)
        return found

    def _renewed(self) -> Derivative:
        """The derivative of what the callable runs now: a partial may hold something else, a class another method."""
        if self._target.plain:
            return self
        target = resolve(self.__wrapped__)
        if target.is_like(self._target):
            return self
        found = self._forms.get(None)
        if found is None or not target.is_like(found._target):
            found = self._forms[None] = type(self)(self.__wrapped__, *self._given)
        return found

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The values of all parameters, in order."""
        if self._function.__code__ is not self._binder.code:
            self._binder = Binder(self._function, self._target.leading, self._target.given)
            self._complete = self._binder.complete if self._target.plain else -1
        self._target.check(args, kwargs)
        values = self._binder.bound(args, kwargs, self._label())
        self._variants.check_defaults(self._names, values)
        return values

    def _variant(self, values: Sequence[Any]) -> Variant:
        """The derivative for arguments of which the same is known as of ``values``."""
        for position in self._positions:
            arguments.check(values[position], self._names[position], self._label())
        return self._found(values)

    def _found(self, values: Sequence[Any], together: Together = ()) -> Variant:
        facts = functools.partial(arguments.facts, self._names, values, self._label(), self._variants.refined)
        return self._variants.for_arguments(self._options, facts, together)

    # --- looking

    def _shown(self, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None) -> Compiled:
        formed = self._formed(args, kwargs or {})
        if formed is not self:
            return formed._shown(args, kwargs)
        if args or kwargs:
            bound = self._bound(args, dict(kwargs or {}))
            return self._variant(arguments.floats_at(self._positions, bound)).compiled
        fixed = self._binder.fixed()
        known = arguments.facts(tuple(fixed), tuple(fixed.values()), self._label(), self._variants.refined)
        facts = {**hinted_facts(self._variants.read), **known}
        return self._variants.get(self._options, facts, "shown").compiled

    @property
    def source(self) -> str:
        """The emitted text for arguments of any kind; annotations (``x: float``) make it more direct."""
        return self._shown().text

    def source_for(self, *args: Any, **kwargs: Any) -> str:
        """The emitted text that a call with these arguments runs."""
        formed = self._formed(args, kwargs)
        if formed is not self:
            return formed.source_for(*args, **kwargs)
        bound = self._bound(args, kwargs)
        return self._variant(arguments.floats_at(self._positions, bound)).compiled.text

    def stages(self, *args: Any, **kwargs: Any) -> dict[str, str]:
        """The text of each stage, ``ir``, ``activity``, ``adjoint`` and ``source``; with arguments, for that call."""
        return {name: text() for name, text in self._shown(args, kwargs).stages.items()}

    def show(self, *args: Any, **kwargs: Any) -> None:
        """Print the function and its derivative side by side; with arguments, what a call with them runs."""
        from s2sad.show import side_by_side

        print(side_by_side(self._variants.read, self._shown(args, kwargs).text))

    def save(self, path: Any) -> None:
        """Write the emitted text to a file, which may not be that of a module that is loaded (``ArgumentError``)."""
        from s2sad.show import write

        write(self.source, path)

    def explain(self) -> str:
        """A table of the function's variables: active or not, and which are kept for the reverse part."""
        from s2sad.show import table

        return table(self._variants.read, self._wrt, self.stages())

    @property
    def __signature__(self) -> inspect.Signature:
        return signature_of(self._target, self._function)

    def _label(self) -> str:
        return f"{self._verb} of {self._function.__qualname__}"

    def __repr__(self) -> str:
        f = self._function
        names = ", ".join(self._wrt)
        try:
            lines = f", {len(self.source.splitlines())} lines"
        except Exception:  # a repr never fails: what is refused says so when it is called
            lines = ""
        return f"<s2sad.{self._verb} of {f.__module__}.{f.__qualname__} wrt {names} (reverse){lines}>"

    def stand_in(self) -> Target:
        """A function of the same parameters that stands for this derivative where it is differentiated itself.

        Raises:
            ArgumentError: for a function of any number of arguments.
        """
        now = self._renewed()
        if now is not self:
            return now.stand_in()
        found = self._variants.stand_ins.get(self._options)
        if found is None:
            found = standing_for(self._function, self._verb, self._first_call)
            made = variants(found)
            made.derivative = self._differentiable
            made.read = self._variants.read
            self._variants.stand_ins[self._options] = found
        forms = self._stand_in_for if self._target.varies else None
        return Target(found, self._target.leading, self._target.given, forms=forms)

    def _stand_in_for(self, count: int, names: Sequence[str]) -> types.FunctionType:
        function = self._form_for(count, names).stand_in().function
        assert function is not None
        return function

    def emitted(self) -> Emitted | None:
        """The function that runs for arguments of any kind, and on what it rests; None if there is no one function."""
        if not self._target.plain:
            return None
        try:
            # Not the text to look at, which is for real numbers and arrays, and believes annotations.
            made = self._variants.get(self._options._replace(conformed=True), {}, "called")
        except S2SADError:
            return None
        return emitted(made, self._differentiable)

    def _differentiable(self, facts: Mapping[str, Fact]) -> Variant:
        """The derivative as a function to differentiate, for arguments of which some facts are known."""
        return self._variants.get(self._options._replace(conformed=True), facts)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> Any:
        name = getattr(self, "__qualname__", "")
        if name and "<" not in name:
            found: Any = sys.modules.get(self.__module__)
            for part in name.split("."):
                found = getattr(found, part, None)
            if found is self:
                return name
        return _rebuild, (type(self), self.__wrapped__, *self._given)


class ValueAndGradient(Derivative):
    """A function that returns the value and the gradient."""

    _goal: Goal = "value_and_gradient"
    _verb = "value_and_grad"


class Tangent(Derivative):
    """The value and the tangent of a function, to look at: `s2sad.jvp` computes with it."""

    _goal: Goal = "tangent"
    _verb = "jvp"

    def __init__(
        self, function: Function, argnums: int | Sequence[int] = 0, argnames: str | Sequence[str] | None = None
    ) -> None:
        super().__init__(function, argnums, argnames, has_aux=False)


def _missed(args: tuple[Any, ...]) -> Any:
    """The entry of a derivative that was not called yet."""
    return MISSED


def _rebuild(made: type[Derivative], *options: Any) -> Derivative:
    return made(*options)


def _first_form(
    target: Target, argnums: int | Sequence[int], argnames: str | Sequence[str] | None
) -> types.FunctionType:
    """The function to differentiate; one that is another for other calls, for the fewest arguments."""
    if not target.varies:
        return target.function_for(0)
    numbers = argnums if isinstance(argnums, (tuple, list)) else [argnums]
    asked = [int(n) + 1 for n in numbers if isinstance(n, (int, np.integer))]
    count = max(required(target) if target.function is None else 0, *asked)
    code = target.function_for(count).__code__
    params = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    names = [argnames] if isinstance(argnames, str) else argnames or ()
    return target.function_for(count, [n for n in names if n not in params])


@overload
def grad(
    f: Function, argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None, has_aux: bool = False
) -> Derivative: ...
@overload
def grad(
    f: None = None,
    argnums: int | Sequence[int] = 0,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
) -> Callable[[Function], Derivative]: ...
def grad(
    f: Function | None = None,
    argnums: int | Sequence[int] = 0,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
) -> Derivative | Callable[[Function], Derivative]:
    """The gradient of a function that returns a real scalar.

    Args:
        f: A callable whose code can be found: a function with source, a lambda, a bound method, a
            ``functools.partial``, an object with ``__call__``, a function of NumPy that has a derivative.  Without it,
            ``grad`` returns a decorator.
        argnums: The position of the argument, or a tuple of positions (the gradient is then a tuple).
        argnames: Names instead of positions.
        has_aux: The function returns a pair ``(loss, aux)``; the result is then ``(gradient, aux)``.

    Returns:
        A function of the same arguments.  The gradient has the structure, shape and dtype of the
        argument; the caller's objects are not changed, even if ``f`` writes into its arguments.

    Raises:
        ArgumentError: for an unknown argument, or a function that cannot be differentiated.

    Example:
        >>> import numpy as np
        >>> from s2sad import grad
        >>> def loss(x):
        ...     return np.sum(np.sin(x) ** 2)
        >>> grad(loss)(np.array([0.0, 0.5]))
        array([0.        , 0.84147098])
    """
    if f is None:
        return lambda function: Derivative(function, argnums, argnames, has_aux)
    return Derivative(f, argnums, argnames, has_aux)


@overload
def value_and_grad(
    f: Function, argnums: int | Sequence[int] = 0, *, argnames: str | Sequence[str] | None = None, has_aux: bool = False
) -> ValueAndGradient: ...
@overload
def value_and_grad(
    f: None = None,
    argnums: int | Sequence[int] = 0,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
) -> Callable[[Function], ValueAndGradient]: ...
def value_and_grad(
    f: Function | None = None,
    argnums: int | Sequence[int] = 0,
    *,
    argnames: str | Sequence[str] | None = None,
    has_aux: bool = False,
) -> ValueAndGradient | Callable[[Function], ValueAndGradient]:
    """The value of a function, bit for bit, and its gradient.

    Takes the arguments of :func:`grad`.  With ``has_aux`` the result is ``((loss, aux), gradient)``.
    The caller's arrays are left as they are even if ``f`` writes into them; to get what
    ``f`` made of them, return them as ``aux``.

    Example:
        >>> from s2sad import value_and_grad
        >>> def square(x):
        ...     return x * x
        >>> value_and_grad(square)(3.0)
        (9.0, 6.0)
    """
    if f is None:
        return lambda function: ValueAndGradient(function, argnums, argnames, has_aux)
    return ValueAndGradient(f, argnums, argnames, has_aux)


# --- the same where a differentiated function calls them


def gradient_within(f: Function, argnums: int | Sequence[int], has_aux: bool) -> Derivative:
    """The gradient that a call within a differentiated function makes of a function."""
    return Derivative(f, argnums, None, has_aux)


def _valued_within(f: Function, argnums: int | Sequence[int], has_aux: bool) -> ValueAndGradient:
    return ValueAndGradient(f, argnums, None, has_aux)


def _pulled_within(f: Any, value: Any, value_bar: Any, *primals: Any) -> Any:
    again = f(*primals)
    same_value(again, value, value_bar)
    return np.sum(again * value_bar)


makes_derivatives(grad, gradient_within, valued=False)
makes_derivatives(value_and_grad, _valued_within, valued=True)
makes_pullbacks(vjp, gradient_within, _pulled_within)
