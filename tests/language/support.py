"""One case of the language tables, and the whole of what is checked of it.

Every case is a plain function with arguments. Checked are: the value bit for bit, the gradient against central
differences, structure, shape and dtype of the gradient, that arguments come out unchanged, and that what is returned
shares no memory with arguments, with other gradients, or with anything that the function reads again.
"""

# What is refused has to say why: the assertion is on the exception that may or may not come.
# ruff: noqa: PT017

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from s2sad import grad
from tests.oracle import numeric_gradient
from tests.trees import arrays, fresh, leaves, same_bits, same_structure, tree_map


@dataclass(frozen=True)
class Case:
    """A function, its arguments and the positions to differentiate.

    `expected` replaces central differences where these do not apply (kinks, single precision, conventions).
    """

    f: Callable[..., Any]
    args: tuple[Any, ...]
    argnums: tuple[int, ...] = ()
    expected: tuple[Any, ...] | None = None
    rtol: float = 1e-6
    name: str = ""
    kwargs: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name or self.f.__name__


def case(
    f: Callable[..., Any],
    *args: Any,
    wrt: int | tuple[int, ...] | None = None,
    expected: tuple[Any, ...] | None = None,
    rtol: float = 1e-6,
    name: str = "",
    **kwargs: Any,
) -> Case:
    """A case; without `wrt` every positional argument is differentiated."""
    if wrt is None:
        wrt = tuple(range(len(args)))
    if isinstance(wrt, int):
        wrt = (wrt,)
    return Case(f, args, wrt, expected, rtol, name, kwargs)


def quietly(f: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, str]:
    """The result of a call and what it printed."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        result = f(*args, **kwargs)
    return result, printed.getvalue()


def expected_gradients(c: Case) -> tuple[Any, ...]:
    """The gradients that the case must give, from its own table or from central differences."""
    if c.expected is not None:
        return c.expected

    return tuple(gradient_by_differences(c, position) for position in c.argnums)


def gradient_by_differences(c: Case, position: int) -> Any:
    """Central differences over the leaves of one argument, whatever containers hold them."""

    def plain(leaf: Any) -> Any:
        if isinstance(leaf, np.ndarray):
            return np.array(leaf, order="C")
        return float(leaf) if isinstance(leaf, int) else leaf

    flat = [plain(leaf) for _, leaf in leaves(c.args[position])]

    def refilled(moved: list[Any]) -> Any:
        values = iter(moved)
        return tree_map(lambda _: next(values), c.args[position])

    def primal(moved: list[Any]) -> Any:
        args = list(fresh(c.args))
        args[position] = refilled(moved)
        return quietly(c.f, *args, **c.kwargs)[0]

    return refilled(numeric_gradient(primal, (flat,), 0))


def assert_gradient_like(argument: Any, gradient: Any) -> None:
    """The gradient has the argument's structure, and each leaf the shape and dtype of the argument's leaf."""
    assert same_structure(argument, gradient), f"structure of {gradient!r} is not that of {argument!r}"
    for (path, a), (_, g) in zip(leaves(argument), leaves(gradient), strict=True):
        assert np.shape(g) == np.shape(a), f"shape of gradient{path}: {np.shape(g)}, of argument: {np.shape(a)}"
        if isinstance(a, (np.ndarray, np.generic)):
            assert np.asarray(g).dtype == a.dtype, f"dtype of gradient{path}: {np.asarray(g).dtype}, not {a.dtype}"
            if isinstance(a, np.ndarray) and a.ndim:
                assert isinstance(g, np.ndarray), f"gradient{path} is a {type(g).__name__}, not an array"
        elif isinstance(a, (int, float)):
            assert isinstance(g, float), f"gradient{path} of a Python number is a {type(g).__name__}"


def assert_close(actual: Any, expected: Any, rtol: float) -> None:
    """Leaves agree within `rtol` of the largest entry."""
    for (path, a), (_, e) in zip(leaves(actual), leaves(expected), strict=True):
        if np.size(e) == 0:
            continue
        scale = max(1.0, float(np.max(np.abs(np.where(np.isfinite(e), e, 0.0)))))
        np.testing.assert_allclose(a, e, rtol=rtol, atol=rtol * scale, err_msg=f"gradient{path}")


def assert_owned(args: tuple[Any, ...], gradients: tuple[Any, ...]) -> None:
    """Every returned array may be written by the caller and shares memory with nothing that they hold."""
    owned = [array for gradient in gradients for array in arrays(gradient)]
    for i, (path, g) in enumerate(owned):
        assert g.flags.writeable, f"gradient{path} is read-only"
        if g.ndim and g.size > 1:
            assert not any(stride == 0 and n > 1 for stride, n in zip(g.strides, g.shape, strict=True))
        for argument_path, a in arrays(args):
            assert not np.shares_memory(g, a), f"gradient{path} shares memory with argument{argument_path}"
        for other_path, other in owned[:i]:
            assert not np.shares_memory(g, other), f"gradient{path} shares memory with gradient{other_path}"


def check_primal(c: Case) -> None:
    """The case itself is sound: the function repeats, returns a scalar, and the oracle can differentiate it."""
    first, first_printed = quietly(c.f, *fresh(c.args), **c.kwargs)
    second, second_printed = quietly(c.f, *fresh(c.args), **c.kwargs)
    assert same_bits(first, second)
    assert first_printed == second_printed
    assert np.shape(first) == ()
    for gradient, position in zip(expected_gradients(c), c.argnums, strict=True):
        assert same_structure(gradient, c.args[position])
        for path, leaf in leaves(gradient):
            assert np.all(np.isfinite(leaf)), f"the oracle gives {leaf} at {path}"


PLACE = re.compile(r"^.+:\d+:\d+: error: .+\n.*\S.*\n\s*\^", re.MULTILINE)


def check_gradient(c: Case) -> None:
    """Everything that the contract says of a gradient, of this case: the value, the gradient, and who owns it."""
    from s2sad import grad, value_and_grad
    from s2sad.arguments import fitted, floats_at

    args = fresh(c.args)
    value, printed = quietly(c.f, *fresh(c.args), **c.kwargs)
    single = len(c.argnums) == 1
    argnums: Any = c.argnums[0] if single else c.argnums

    (got_value, got), got_printed = quietly(value_and_grad(c.f, argnums), *args, **c.kwargs)
    gradients = (got,) if single else got
    assert type(gradients) is tuple
    assert len(gradients) == len(c.argnums)
    assert same_bits(got_value, value), f"value {got_value!r} ({type(got_value)}), not {value!r} ({type(value)})"
    assert got_printed == printed, f"printed {got_printed!r}, not {printed!r}"
    assert same_bits(args, c.args), "the arguments were changed"
    for position, gradient in zip(c.argnums, gradients, strict=True):
        assert_gradient_like(args[position], gradient)
    assert_close(gradients, expected_gradients(c), c.rtol)
    assert_owned(args, gradients)

    # What the caller does to a returned gradient must not be seen by anyone.
    kept = fresh(gradients)
    for _, array in arrays(gradients):
        array[...] = 77.0
    assert same_bits(args, c.args), "writing into the gradient changed the arguments"
    assert same_bits(quietly(c.f, *fresh(c.args), **c.kwargs)[0], value), (
        "writing into the gradient changed the function"
    )
    again, _ = quietly(grad(c.f, argnums), *args, **c.kwargs)
    assert same_bits((again,) if single else again, kept), "grad and value_and_grad differ, or the second call does"

    text = grad(c.f, argnums).source_for(*args, **c.kwargs)
    if "# To be defined here" not in text:
        bound = inspect.signature(c.f).bind(*args, **c.kwargs)
        bound.apply_defaults()
        values = floats_at(c.argnums, bound.args)
        raw, _ = quietly(from_file(text), *values, **bound.kwargs)
        found = [fitted(g, values[i]) for i, g in zip(c.argnums, (raw,) if single else raw, strict=True)]
        assert_close(found, kept, 1e-12)


def check_with_state(f: Callable[[Any], Any], x: np.ndarray[Any, Any], state: Sequence[Any]) -> None:
    """The gradient of a function that writes arrays which exist, and what it leaves in these.

    Each evaluation begins with the arrays as they are now.
    """
    initial = [array.copy() for array in state]

    def begun(g: Callable[[Any], Any]) -> Any:
        for array, value in zip(state, initial, strict=True):
            array[...] = value
        return g(x.copy())

    begun(f)
    left = [array.copy() for array in state]
    gradient = begun(grad(f))
    for array, value in zip(state, left, strict=True):
        np.testing.assert_array_equal(array, value)
    expected = numeric_gradient(lambda y: begun(lambda _: f(y)), (x,))
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-9)
    begun(lambda _: None)


def from_file(text: str) -> Callable[..., Any]:
    """The last function of an emitted text, run as from a file of its own."""
    space: dict[str, Any] = {"__name__": "from_a_file"}
    exec(compile(text, "from_a_file.py", "exec"), space)
    (*_, last) = (node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    return cast("Callable[..., Any]", space[last])
