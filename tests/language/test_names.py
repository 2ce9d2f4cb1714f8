"""Names that the emitted code or the compiler could want for itself, used by the user's program."""

# The whole point is to shadow builtins and modules.
# ruff: noqa: A001, A002, E741, N802, N803, N806

from __future__ import annotations

from typing import Any

import numpy
import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UnsupportedError
from tests.language.support import Case, case, check_gradient, check_primal
from tests.oracle import numeric_gradient, richardson_jvp
from tests.sources import names_of

V = np.array([0.3, -1.2, 2.5])
W = np.array([1.5, 0.25, -0.75])


def local_np(np: Any) -> Any:
    return numpy.sum(np * np)


def local_np_assigned(x: Any) -> Any:
    np = x * 2.0
    return numpy.sum(numpy.sin(np) * x)


def local_sum(v: Any) -> Any:
    sum = np.sum(v * v)
    return sum * v[0]


def local_builtins(x: Any) -> Any:
    len = x * x
    range = len + x
    zip = range * len
    float = zip + 1.0
    isinstance = float * 2.0
    reversed = isinstance * x
    return reversed


def builtins_shadowed_before_loop(v: Any) -> Any:
    reversed = v * 2.0
    tuple = 0.0
    for i in range(3):
        tuple = tuple * reversed[i] + v[i]
    return tuple


def adjoint_names(x: Any, x_bar: Any) -> Any:
    y_bar = x * x_bar
    y = y_bar * y_bar
    return y * x


def adjoint_names_in_loop(x: Any) -> Any:
    x_bar = x
    for i_bar in range(3):
        x_bar = x_bar * x + i_bar
    return x_bar


def adjoint_of_adjoint(x: Any, x_bar: Any, x_bar_bar: Any) -> Any:
    return x * x_bar * x_bar_bar


def tangent_names(x: Any) -> Any:
    x_dot = x * x
    return x_dot * x


def saved_names(v: Any) -> Any:
    saved = 1.0
    saved_1 = 0.0
    for item in v:
        saved = saved * item + 1.0
        saved_1 = saved_1 + saved * saved
    return saved_1


def temporaries(t: Any) -> Any:
    t1 = t * t
    t2 = t1 + np.sin(t1 * t)
    t_bar = t2 * t1
    t1_bar = t_bar * t
    return t1_bar


def runtime_names(x: Any) -> Any:
    unbroadcast = x * 2.0
    unreduce = unbroadcast + x
    zeros_like = unreduce * unbroadcast
    result = zeros_like + 1.0
    return np.sum(result * np.ones(3))


def underscore(x: Any) -> Any:
    _ = x * x
    __ = _ * x
    _x = __ + _
    return _x


def underscore_in_loop(v: Any) -> Any:
    _ = 0.0
    for _i in range(3):
        _ = _ * 0.5 + v[_i]
    return _ * _


def function_own_name(function_own_name: Any) -> Any:
    function_own_name = function_own_name * function_own_name
    return function_own_name


def value_and_pullback(value: Any, pullback: Any) -> Any:
    gradient = value * pullback
    args = gradient * value
    kwargs = args + pullback
    return kwargs


def unicode_names(α: Any, β: Any) -> Any:
    Δ = α * β
    return Δ * Δ + α


def single_letters(l: Any, O: Any, I: Any) -> Any:
    return l * O + I * I * l


def case_differs(x: Any, X: Any) -> Any:
    X_bar = x * X
    return X_bar * x


def module_name(s2sad: Any, math: Any) -> Any:
    stop_gradient = s2sad * math
    return stop_gradient * stop_gradient


def same_as_helper(x: Any) -> Any:
    helper_forward = x * 2.0
    return helper(x) * helper_forward


def helper(x: Any) -> Any:
    return x * x


def helper_forward(x: Any) -> Any:
    return x * 100.0


def helper_reverse(x: Any) -> Any:
    return x * 1000.0


def calls_lookalikes(x: Any) -> Any:
    return helper(x) + helper_forward(x) * helper_reverse(x)


def local_shadows_helper_later(x: Any) -> Any:
    first = helper(x)
    second = helper(first)
    return second * first


def many_names(x: Any) -> Any:
    x0 = x
    x1 = x0 * x
    x_1 = x1 + x0
    x_2 = x_1 * x1
    x2 = x_2 - x_1
    return x2 * x_2


def keyword_like(match: Any, case: Any, type: Any) -> Any:
    return match * case + type * match


RATE = 1.5


def comprehension_scope(x: Any) -> Any:
    total = sum([RATE for RATE in (1.0, 2.0)])
    named = {RATE: i for i, RATE in enumerate((1.0, 2.0))}
    return x * total * RATE + x * named[2.0]


def comprehension_after_local(x: Any) -> Any:
    i = 2.0 * x
    squares = [i * i for i in range(3)]
    return x * i * squares[2]


def function_only_where_it_is_not_bound(x: Any) -> Any:
    y = x * 1.0
    if x[0] > 0:
        for _, total in enumerate(x):
            y = y * total
    elif x[1] > 0:
        y[0] = total(x)
    return np.sum(y)


def test_a_name_that_nothing_has_bound_where_it_is_called() -> None:
    with pytest.raises(UnsupportedError, match="total is a function that is known only at run time"):
        grad(function_only_where_it_is_not_bound)(V)


CASES = [
    *[
        case(f, V)
        for f in (
            local_np,
            local_np_assigned,
            local_sum,
            builtins_shadowed_before_loop,
            saved_names,
            underscore_in_loop,
        )
    ],
    *[
        case(f, 0.7)
        for f in (
            *(local_builtins, adjoint_names_in_loop, tangent_names, temporaries, runtime_names, underscore),
            *(function_own_name, same_as_helper, calls_lookalikes, local_shadows_helper_later, many_names),
            *(comprehension_scope, comprehension_after_local),
        )
    ],
    *[case(f, 0.7, 1.3) for f in (adjoint_names, value_and_pullback, unicode_names, case_differs, module_name)],
    *[case(f, 0.7, 1.3, -0.4) for f in (adjoint_of_adjoint, single_letters, keyword_like)],
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def calls_what_is_not_there(x: Any, how: int) -> Any:
    y = x * x
    if how == 1:
        y = np.no_such_function(x) * 2.0  # type: ignore[attr-defined]
    elif how == 2:
        y = no_such_name(x, x[0])  # type: ignore[name-defined]  # noqa: F821
    elif how == 3:
        no_such_name(x)  # type: ignore[name-defined]  # noqa: F821
    return np.sum(y)


def test_what_is_not_there_is_missed_where_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    x, df = np.array([0.3, 0.7]), grad(calls_what_is_not_there)
    np.testing.assert_allclose(df(x, 0), 2.0 * x)
    for how, error in ((1, AttributeError), (2, NameError), (3, NameError)):
        with pytest.raises(error, match="no_such_"):
            df(x, how)
    # It may come to be there.
    monkeypatch.setitem(globals(), "no_such_name", lambda v, w=0.0: v * 3.0 + w)
    np.testing.assert_allclose(df(x, 2), [5.0, 3.0])
    np.testing.assert_allclose(df(x, 3), 2.0 * x)
    monkeypatch.setattr(np, "no_such_function", np.sin, raising=False)
    np.testing.assert_allclose(df(x, 1), 2.0 * np.cos(x))


def _three(t: Any) -> Any:
    return t, t, t


def variable_called_as_an_adjoint(x: Any, y: Any) -> Any:
    for p in y:
        for q in x:
            q[:] = 0.3
            z, _, c = _three(np.zeros(4))
            np.add(c, 2.0, c)
        for _ in range(3):
            x = np.reshape(p * z[0], (3, 1))
            _, _, x_bar = _three((4,))
    return x[2, -1] * x_bar[0]


def test_a_variable_is_called_as_the_adjoint_of_another() -> None:
    x, y = np.ones((3, 1)), np.array([[-0.557, 0.473, 0.169], [0.548, 0.363, 0.498]])
    gradient = grad(variable_called_as_an_adjoint, 1)(x, y)
    np.testing.assert_allclose(gradient, numeric_gradient(variable_called_as_an_adjoint, (x, y), 1), rtol=1e-8)


@pytest.mark.parametrize("name", ["x_dot", "x_dot_", "y_bar", "result_bar", "saved", "saved_"])
def test_a_global_that_is_read_is_called_as_a_parameter_that_a_derivative_adds(name: str) -> None:
    text = f"""
        {name} = 3.0
        def growth(x):
            y = np.sin(x)
            if y > 100:
                return y
            for k in range(3):
                y = y + 0.01 * y * {name} * x
            for k in range(3):
                y = y + 0.1 * np.cos(y)
            return y
        def f(x):
            for k in range(2):
                x = x + growth(x * x)
            return x * {name} + growth(x)
    """
    f = names_of(text)["f"]
    expected = numeric_gradient(f, [0.3])
    np.testing.assert_allclose(grad(f)(0.3), expected, rtol=1e-8)
    assert jvp(f, (0.3,), (1.0,))[0] == f(0.3)
    np.testing.assert_allclose(jvp(f, (0.3,), (1.0,))[1], expected, rtol=1e-8)
    second = richardson_jvp(grad(f), [0.3], [1.0])
    np.testing.assert_allclose(jvp(grad(f), (0.3,), (1.0,))[1], second, rtol=1e-7)
    np.testing.assert_allclose(grad(lambda x: jvp(f, (x,), (1.0,))[1])(0.3), second, rtol=1e-7)


def test_a_variable_of_a_closure_is_called_as_a_tangent() -> None:
    x_dot = 3.0

    def f(x: Any) -> Any:
        return x * x_dot

    assert jvp(f, (2.0,), (1.0,)) == (6.0, 3.0)


WITHOUT_NUMPY = {
    "a copy of an array": """
        from copy import copy
        from numpy import sin, sum
        def f(x):
            y = copy(x)
            y[0] = 2.0 * y[1]
            return sum(sin(y))
    """,
    "a copy of a list, and another meaning of list": """
        from copy import copy
        from numpy import sin, sum
        def list(x):
            raise NotImplementedError
        def f(x):
            y = [x, 2 * x]
            z = copy(y)
            z[0] = z[1]
            return sum(sin(y[0])) + sum(z[0] * z[1])
    """,
    "a sum in single precision": """
        from numpy import add, sin, sum
        def f(x):
            return sum(sin(add(x, 2 * x, dtype="float32")))
    """,
}


@pytest.mark.parametrize("text", WITHOUT_NUMPY.values(), ids=WITHOUT_NUMPY)
def test_the_module_does_not_know_numpy_as_a_whole(text: str) -> None:
    module = names_of(text)
    del module["np"]
    x, f = np.array([0.5, 0.25]), module["f"]
    is_short = "float32" in text
    expected = numeric_gradient(lambda x: f(x) if not is_short else np.sum(np.sin(3 * x)), [x])
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (x,), (x,))[1], expected @ x, rtol=1e-6)
