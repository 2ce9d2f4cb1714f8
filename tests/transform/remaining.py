"""What remains of a program after specialisation, compared with the program; its gradient, with differences."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp, value_and_grad
from s2sad.frontend.source import read_source
from s2sad.transform.specialise import specialised
from tests.oracle import numeric_gradient

POINTS = [np.array([0.3, 0.7, -0.4]), np.array([-0.3, -0.7, 0.4]), np.array([1.2, 0.1, 0.6])]


def outcome(f: Callable[..., Any], x: Any) -> Any:
    """The result of a call, or the class and text of its exception, and the argument after it."""
    x = x.copy()
    try:
        result: Any = f(x)
    except Exception as error:
        result = type(error), str(error)
    return repr(result), x.tobytes()


def remaining(f: Callable[..., Any]) -> types.FunctionType | None:
    """What remains of a function; None if it stays as it is."""
    made = specialised(read_source(f), read_source)
    return None if made is None else made.source.function


def check_same(f: Callable[..., Any], is_taken: bool) -> None:
    """What remains does as the function does; ``is_taken`` if the specialiser must know what to do."""
    made = remaining(f)
    assert made is not None or not is_taken
    for x in POINTS:
        assert made is None or outcome(made, x) == outcome(f, x)


def check_gradient(f: Callable[..., Any], is_taken: bool) -> None:
    """The gradient is right, or refused unless ``is_taken``; it raises what the function raises."""
    for x in POINTS:
        try:
            wanted = numeric_gradient(f, [x])
        except Exception as error:
            with pytest.raises((type(error), S2SADError)):
                grad(f)(x.copy())
            continue
        try:
            got = grad(f)(x.copy())
        except S2SADError:
            assert not is_taken
            continue
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-7)


def check_both_modes(f: Callable[..., Any], x: Any, way: Any) -> None:
    """The value is the function's own; the gradient, and the derivative along a direction, agree with differences."""
    expected = numeric_gradient(f, [x])
    value, gradient = value_and_grad(f)(x)
    assert value == f(x)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (x,), (way,))[1], expected @ way, rtol=1e-7, atol=1e-8)


def check_every_way(f: Callable[..., Any], x: Any) -> None:
    """The same, of the derivatives along all axes."""
    expected = numeric_gradient(f, [x])
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6, atol=1e-9)
    found = [jvp(f, (x,), (way,)) for way in np.eye(len(x))]
    assert found[0][0] == f(x)
    np.testing.assert_allclose([dot for _, dot in found], expected, rtol=1e-6, atol=1e-9)


def check_right_or_refused(f: Callable[..., Any], x: Any, way: Any) -> None:
    """Each mode refuses the function, or its value is the function's own and its derivative agrees with differences."""
    expected = numeric_gradient(f, [x])
    try:
        value, gradient = value_and_grad(f)(x)
    except S2SADError:
        pass
    else:
        assert value == f(x)
        np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-8)
    try:
        tangent = jvp(f, (x,), (way,))[1]
    except S2SADError:
        return
    np.testing.assert_allclose(tangent, expected @ way, rtol=1e-7, atol=1e-8)
