"""Jacobians, Hessians and their products with vectors, from tangents and pullbacks.

Blocks are those of JAX: the structure of the result, in place of each array there that of the arguments, in place of
each array of these an array of the shapes of both, one after the other.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from s2sad.api import Derivative, grad, gradient_within, vjp
from s2sad.callables import resolve, signature_of
from s2sad.entries import MISSED
from s2sad.errors import ArgumentError
from s2sad.pushforwards import TangentOf, are_sequences, jvp, pushforward, varying
from s2sad.runtime.tangents import real_array
from s2sad.structures import leaves_of, with_leaves
from s2sad.transform.derivatives import is_modelled, makes_tangents
from s2sad.variants import variants

Function = Callable[..., Any]
#: What to do about complex numbers.
_HOLOMORPHIC = "If it is complex differentiable, pass holomorphic=True; else take real and imaginary parts."
Argnums = int | Sequence[int]


def jacfwd(f: Function, argnums: Argnums = 0, *, holomorphic: bool = False) -> Function:
    """The Jacobian of ``f``, a column for each tangent of the arguments: for few inputs and many outputs.

    Args:
        f: A callable whose code can be found, as for :func:`grad`; its result may be any structure of numbers.
        argnums: The position of the argument, or a tuple of positions (each block is then a tuple).
        holomorphic: ``f`` is complex differentiable, and its arguments and result are complex.

    Returns:
        A function of the same positional arguments.  For a result of shape ``m`` and an argument of shape ``n`` it
        gives an array of shape ``m + n``.

    Raises:
        ArgumentError: for complex arguments without ``holomorphic``, real ones with it, or unknown arguments.

    Example:
        >>> import numpy as np
        >>> from s2sad import jacfwd
        >>> def powers(x):
        ...     return np.array([x, x**2, x**3])
        >>> jacfwd(powers)(2.0)
        array([ 1.,  4., 12.])

    Reference: Griewank and Walther, Evaluating Derivatives, 2008, section 3.1.
    """

    def jacobian_at(*args: Any) -> Any:
        chosen = _chosen(f, argnums, args)
        inputs = [_leaves(args[i], holomorphic, f) for i in chosen]
        value: Any = None
        columns: list[list[list[Any]]] = []
        for place, i in enumerate(chosen):
            for leaf in range(len(inputs[place])):
                columns.append([])
                for direction in _basis(inputs[place], leaf):
                    tangents = [None] * len(args)
                    tangents[i] = with_leaves(args[i], direction)
                    value, tangent = jvp(f, args, tangents)
                    columns[-1].append([dot for _, dot in leaves_of(tangent)])
        if value is None:
            value = f(*args)
        outputs = [out for _, out in leaves_of(value)]
        _check_outputs(outputs, holomorphic, f)
        shapes = [np.shape(x) for leaves in inputs for x in leaves]
        rows = [
            [
                np.stack([np.asarray(c[k]) for c in column], axis=-1).reshape(np.shape(out) + shape)
                if column
                else np.zeros(np.shape(out) + shape)
                for column, shape in zip(columns, shapes, strict=True)
            ]
            for k, out in enumerate(outputs)
        ]
        return _blocks(value, rows, [args[i] for i in chosen], isinstance(argnums, (int, np.integer)))

    return _named("jacfwd", f, jacobian_at)


def jacrev(f: Function, argnums: Argnums = 0, *, holomorphic: bool = False) -> Function:
    """The Jacobian of ``f``, a row for each adjoint of the result: for many inputs and few outputs.

    The arguments, the result and the errors are those of :func:`jacfwd`.  ``f`` runs once for all rows.

    Example:
        >>> import numpy as np
        >>> from s2sad import jacrev
        >>> def powers(x):
        ...     return np.array([np.sum(x), np.sum(x**2)])
        >>> jacrev(powers)(np.array([1.0, 3.0]))
        array([[1., 1.],
               [2., 6.]])
    """

    def jacobian_at(*args: Any) -> Any:
        chosen = _chosen(f, argnums, args)
        inputs = [_leaves(args[i], holomorphic, f) for i in chosen]
        value, pullback = vjp(f, *args, argnums=chosen)
        return _pulled_rows(f, argnums, args, chosen, inputs, value, pullback, holomorphic)

    return _named("jacrev", f, jacobian_at)


def jacobian(f: Function, argnums: Argnums = 0, *, holomorphic: bool = False) -> Function:
    """The Jacobian of ``f`` in the cheaper mode: :func:`jacrev` if the arguments have more numbers than the result.

    The arguments, the result and the errors are those of :func:`jacfwd`.

    Example:
        >>> import numpy as np
        >>> from s2sad import jacobian
        >>> jacobian(lambda x: np.outer(x, x))(np.ones(2)).shape
        (2, 2, 2)
    """
    forward = jacfwd(f, argnums, holomorphic=holomorphic)

    def jacobian_at(*args: Any) -> Any:
        chosen = _chosen(f, argnums, args)
        inputs = [_leaves(args[i], holomorphic, f) for i in chosen]
        value, pullback = vjp(f, *args, argnums=chosen)
        if _count(x for _, x in leaves_of(value)) > _count(x for leaves in inputs for x in leaves):
            return forward(*args)
        return _pulled_rows(f, argnums, args, chosen, inputs, value, pullback, holomorphic)

    return _named("jacobian", f, jacobian_at)


def hessian(f: Function, argnums: Argnums = 0, *, holomorphic: bool = False) -> Function:
    """The matrix of second derivatives of a scalar function: the tangents of its gradient, forward over reverse.

    Args:
        f: A function of a real scalar result, as for :func:`grad`.
        argnums: The position of the argument, or a tuple of positions (the blocks are then tuples of tuples).
        holomorphic: As for :func:`jacfwd`.

    Returns:
        A function of the same positional arguments: for an argument of shape ``n``, an array of shape ``n + n``.

    Raises:
        ArgumentError: as :func:`jacfwd`, or if the result is not a real scalar.

    Example:
        >>> import numpy as np
        >>> from s2sad import hessian
        >>> def f(x):
        ...     return x[0] ** 2 * x[1]
        >>> hessian(f)(np.array([1.0, 3.0]))
        array([[6., 2.],
               [2., 0.]])

    Reference: Griewank and Walther, Evaluating Derivatives, 2008, chapter 5.
    """
    return _named("hessian", f, jacfwd(grad(f, argnums), argnums, holomorphic=holomorphic))


def hvp(f: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The product of the Hessian of a scalar function and a vector, without the Hessian.

    Args:
        f: A function of a real scalar result, as for :func:`grad`.
        primals: Its positional arguments, a tuple or list.
        tangents: The vector, a tangent for each argument; None for one that does not vary.

    Returns:
        The derivative along ``tangents`` of the gradient by the arguments that have one: of the structure of the
        argument, or a tuple if there are several.

    Raises:
        ArgumentError: if a tangent does not fit its argument, or the result is not a real scalar.

    Example:
        >>> import numpy as np
        >>> from s2sad import hvp
        >>> def f(x):
        ...     return np.sum(x**3)
        >>> hvp(f, (np.array([1.0, 2.0]),), (np.array([1.0, 0.5]),))
        array([6., 6.])

    Reference: Pearlmutter, Fast exact multiplication by the Hessian, 1994.
    """
    if type(f) is types.FunctionType and are_sequences(primals, tangents):
        known = variants(f).products.get(len(primals))
        if known is not None and (out := known.again(primals, tangents)) is not MISSED:
            return out
    positions = varying("hvp", f, primals, tangents)
    argnums = positions[0] if len(positions) == 1 else tuple(positions)
    push = pushforward(_gradient(f, argnums), len(primals), alone=True)
    if type(f) is types.FunctionType:
        variants(f).products[len(primals)] = push
    return push(primals, tangents, positions)[1]


def _gradient(f: Function, argnums: int | tuple[int, ...]) -> Derivative:
    """The gradient with respect to the arguments at some positions, made once for a plain function."""
    if type(f) is not types.FunctionType:
        return grad(f, argnums)
    kept = variants(f).gradients
    # What a function is made of may be replaced.
    key = f.__code__, argnums
    if key not in kept:
        kept[key] = grad(f, argnums)
    found: Derivative = kept[key]
    return found


def elementwise_grad(f: Function, argnums: Argnums = 0) -> Function:
    """The derivatives of a function whose results are, one by one, functions of the elements of an argument.

    Args:
        f: A function that returns an array (or number); each element depends on one element of the argument.
        argnums: The position of the argument, or a tuple of positions (the result is then a tuple).

    Returns:
        A function of the same positional arguments, the gradient of the sum of all results.

    Raises:
        ArgumentError: for complex results, or unknown arguments.

    Example:
        >>> import numpy as np
        >>> from s2sad import elementwise_grad
        >>> elementwise_grad(lambda x: x**2)(np.array([1.0, 3.0]))
        array([2., 6.])
    """

    def gradient_at(*args: Any) -> Any:
        chosen = _chosen(f, argnums, args)
        value, pullback = vjp(f, *args, argnums=chosen)
        outputs = [out for _, out in leaves_of(value)]
        _check_outputs(outputs, False, f)
        bars = pullback(with_leaves(value, [_like(np.ones(np.shape(x)), x) for x in outputs]))
        return bars[0] if isinstance(argnums, (int, np.integer)) else bars

    return _named("elementwise_grad", f, gradient_at)


# --- parts


def _pulled_rows(
    f: Function,
    argnums: Argnums,
    args: Sequence[Any],
    chosen: Sequence[int],
    inputs: Sequence[Sequence[Any]],
    value: Any,
    pullback: Function,
    holomorphic: bool,
) -> Any:
    """The blocks of a Jacobian from a pullback."""
    outputs = [out for _, out in leaves_of(value)]
    _check_outputs(outputs, holomorphic, f)
    shapes = [np.shape(x) for leaves in inputs for x in leaves]
    rows = []
    for k, out in enumerate(outputs):
        bars = []
        for direction in _basis(outputs, k):
            found = pullback(with_leaves(value, direction))
            bars.append([np.asarray(x) for bar in found for _, x in leaves_of(bar)])
        empty = [np.zeros((0, *shape)) for shape in shapes]
        stacked = [np.stack(part) for part in zip(*bars, strict=True)] if bars else empty
        rows.append([a.reshape(np.shape(out) + shape) for a, shape in zip(stacked, shapes, strict=True)])
    return _blocks(value, rows, [args[i] for i in chosen], isinstance(argnums, (int, np.integer)))


def _blocks(value: Any, rows: Sequence[Sequence[Any]], given: Sequence[Any], single: bool) -> Any:
    """The blocks of each result, in the structure of the results and of the arguments."""
    made = []
    for row in rows:
        left = iter(row)
        blocks = tuple([with_leaves(x, [next(left) for _ in leaves_of(x)]) for x in given])
        made.append(blocks[0] if single else blocks)
    return with_leaves(value, made)


def _chosen(f: Function, argnums: Argnums, args: Sequence[Any]) -> list[int]:
    """The positions of arguments, from the front."""
    given = [argnums] if isinstance(argnums, (int, np.integer)) else list(argnums)
    if not given or any(not -len(args) <= i < len(args) for i in given):
        raise ArgumentError(f"{_label(f)}: argnums={argnums!r} does not fit {len(args)} arguments")
    return [int(i) % len(args) for i in given]


def _leaves(x: Any, holomorphic: bool, f: Function) -> list[Any]:
    """The numbers and arrays of an argument."""
    found = [leaf for _, leaf in leaves_of(x)]
    for leaf in found:
        if holomorphic and not np.iscomplexobj(leaf):
            raise ArgumentError(
                f"{_label(f)}: an argument is real\nLeave holomorphic=True out, or pass complex numbers."
            )
        if np.iscomplexobj(leaf) and not holomorphic:
            raise ArgumentError(f"{_label(f)}: an argument is complex\n{_HOLOMORPHIC}")
    return [float(leaf) if type(leaf) is int else leaf for leaf in found]


def _check_outputs(outputs: Sequence[Any], holomorphic: bool, f: Function) -> None:
    for out in outputs:
        if not isinstance(out, (int, float, complex, np.number, np.ndarray)):
            raise ArgumentError(f"{_label(f)}: the result holds an object of type {type(out).__name__}, no number")
    if any(np.iscomplexobj(out) for out in outputs) and not holomorphic:
        raise ArgumentError(f"{_label(f)}: the result is complex\n{_HOLOMORPHIC}")


def _basis(leaves: Sequence[Any], place: int) -> Iterator[list[Any]]:
    """Zeros in the form of some leaves, but for a one in each place of one of them in turn."""
    zeros = [_like(np.zeros(np.shape(x)), x) for x in leaves]
    for index in np.ndindex(np.shape(leaves[place])):
        one = np.zeros(np.shape(leaves[place]))
        one[index] = 1.0
        yield [_like(one, x) if k == place else zeros[k] for k, x in enumerate(leaves)]


def _like(made: Any, x: Any) -> Any:
    """An array as one of the dtype of ``x``, or a number if that is one."""
    if isinstance(x, (np.ndarray, np.generic)):
        cast = made.astype(x.dtype if x.dtype.kind in "fc" else float)
        return cast if isinstance(x, np.ndarray) else cast[()]
    return complex(made) if isinstance(x, complex) else float(made)


def _count(leaves: Iterator[Any]) -> int:
    return sum(int(np.size(x)) for x in leaves)


def _label(f: Function) -> str:
    return str(getattr(f, "__qualname__", repr(f)))


def _named(verb: str, f: Function, made: Function) -> Function:
    """A function with the parameters of ``f`` and a name that says what it is of it."""
    target = resolve(f)
    if target.function is not None:
        made.__signature__ = signature_of(target, target.function)  # type: ignore[attr-defined]
    made.__name__ = made.__qualname__ = f"{verb} of {_label(f)}"
    made.__doc__ = None
    return made


# --- the same where a differentiated function calls them, for arguments and results that are numbers or arrays


def _hessian_within(f: Any, x: Any) -> Any:
    return _columns_within(grad(f), x)


def _columns_within(f: Any, x: Any) -> Any:
    columns = []
    for direction in np.eye(np.size(x)):
        _, column = jvp(f, (x,), (np.reshape(direction, np.shape(x)),))
        columns.append(real_array(column))
    return np.reshape(np.stack(columns, axis=-1), np.shape(columns[0]) + np.shape(x))


def _rows_within(f: Any, x: Any) -> Any:
    value, pullback = vjp(f, x)
    rows = [pullback(np.reshape(direction, np.shape(value)))[0] for direction in np.eye(np.size(value))]
    return np.reshape(np.stack(rows), np.shape(value) + np.shape(x))


def _elementwise_within(f: Any, x: Any) -> Any:
    return grad(lambda t: np.sum(real_array(f(t))))(x)


makes_tangents(hvp, TangentOf, gradient_within)
is_modelled(hessian, _hessian_within)
is_modelled(jacfwd, _columns_within)
is_modelled(jacobian, _columns_within)
is_modelled(jacrev, _rows_within)
is_modelled(elementwise_grad, _elementwise_within)
