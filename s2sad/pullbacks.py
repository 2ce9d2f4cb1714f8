"""Values with their pullbacks, for functions of any result."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from s2sad import arguments
from s2sad.arguments import Binder, fitted
from s2sad.callables import resolve
from s2sad.errors import ArgumentError, UndefinedDerivativeError
from s2sad.load import origin
from s2sad.pipeline import Compiled, Together
from s2sad.runtime import SharedArgumentsError, as_pair, zeros
from s2sad.runtime.calls import again
from s2sad.runtime.copies import copy_arrays
from s2sad.runtime.items import TakenOtherwiseError
from s2sad.runtime.trees import fields_apart
from s2sad.variants import Options, Variant, variants


def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False, argnums: int | Sequence[int] | None = None) -> Any:
    """The value of ``f`` at ``primals`` and its pullback.

    Args:
        f: A callable whose code can be found, as for :func:`grad`.
        primals: Its positional arguments.
        has_aux: ``f`` returns ``(value, aux)``; the result is then ``(value, pullback, aux)``.
        argnums: The positions of those that are differentiated, by default all; others may be of any type.

    Returns:
        ``(value, pullback)``; ``pullback(value_bar)`` gives a tuple with the adjoint of each of these, and may be
        called again and again.  ``value_bar`` has the structure of ``value``.

    Raises:
        ArgumentError: if an argument cannot have a gradient, or ``value_bar`` has the wrong shape.

    Example:
        >>> import numpy as np
        >>> from s2sad import vjp
        >>> def double(x):
        ...     return 2 * x
        >>> value, pullback = vjp(double, np.arange(2.0))
        >>> pullback(np.ones(2))
        (array([2., 2.]),)
    """
    target = resolve(f)
    function = target.function_for(len(primals))
    binder = Binder(function, target.leading, target.given)
    names = binder.names
    label = f"vjp of {function.__qualname__}"
    if not 0 < len(primals) <= len(binder.open):
        raise ArgumentError(f"{label}: {len(primals)} arguments were given")
    chosen = range(len(primals)) if argnums is None else [argnums] if isinstance(argnums, int) else list(argnums)
    if not chosen or any(not 0 <= i < len(primals) for i in chosen) or len(set(chosen)) < len(chosen):
        raise ArgumentError(f"{label}: argnums={argnums!r} does not fit {len(primals)} arguments")
    at = set(chosen)
    target.check(primals, {})
    given = binder.bound(tuple([arguments.floats(p) if i in at else p for i, p in enumerate(primals)]), {}, label)
    chosen = [i + len(target.leading) for i in chosen]
    values = [given[i] for i in chosen]
    for i, value in zip(chosen, values, strict=True):
        arguments.check(value, names[i], label)
    facts = functools.partial(arguments.facts, names, given, label, variants(function).refined)
    wrt = tuple([names[i] for i in chosen])

    def made(together: Together = ()) -> Variant:
        return variants(function).for_arguments(Options("pair", wrt), facts, together)

    def run(together: Together = ()) -> tuple[Compiled, list[Any]]:
        compiled = made(together).compiled
        variants(function).check_defaults(names, given)
        return compiled, binder.positional(compiled.functions[compiled.names[0]], (), given)(*given)

    with placed():
        try:
            compiled, (*results, saved) = run()
        except SharedArgumentsError as error:
            by_name = dict(zip(names, given, strict=True))
            with arguments.naming(error, by_name):
                compiled, (*results, saved) = run(arguments.sharing(by_name, wrt))
        except TakenOtherwiseError as error:
            if not variants(function).take_otherwise(made().compiled, error):
                raise
            compiled, (*results, saved) = run()
    reverse, pair = compiled.functions[compiled.names[1]], compiled.pair
    assert pair is not None
    result = results[0] if pair.count is None else tuple(results)
    value = as_pair(result)[0] if has_aux else result

    def pullback(value_bar: Any) -> tuple[Any, ...]:
        """The adjoints of the primals for the adjoint ``value_bar`` of the value."""
        value_bar = arguments.seed_for(value_bar, value, label)
        seed = [value_bar, zeros(result[1])] if has_aux else value_bar
        with placed():
            seeds = [fields_apart(s) for s in ([seed] if pair.count is None else [seed[i] for i in pair.seeded])]
            # The reverse part adds to the shadows that are saved: the next call needs them as they are.
            kept = copy_arrays(saved) if compiled.once else saved
            bars = reverse(again(kept), *seeds[: len(pair.seeded)])
        bars = (bars,) if len(values) == 1 else bars
        return tuple([fitted(g, x) for g, x in zip(bars, values, strict=True)])

    return (value, pullback, result[1]) if has_aux else (value, pullback)


@contextlib.contextmanager
def placed() -> Iterator[None]:
    """Give a refusal at run time its place in the user's program."""
    try:
        yield
    except UndefinedDerivativeError as error:
        error.place = error.place or origin(error.__traceback__)
        raise
