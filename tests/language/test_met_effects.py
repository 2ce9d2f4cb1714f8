"""Calls met at run time that write, keep or share: they are right, or refused where they stand, never wrong in silence.

A callee that does something of the kind is called wherever a program does something with the same memory.  What is not
refused has Python's own value, leaves what Python leaves, and has the gradient of differences.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, stop_gradient, value_and_grad
from s2sad.errors import S2SADError, UnsupportedError
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7, 1.1])
G = np.array([1.0, 2.0, 3.0])
KEPT: list[Any] = []
LOG: list[float] = [1.0]


class Model:
    def __init__(self) -> None:
        self.w = np.array([1.0, 2.0, 3.0])
        self.last: Any = None

    def product(self, t: Any) -> Any:
        return t * self.w

    def view(self, t: Any) -> Any:
        return self.w[:]

    def writes(self, t: Any) -> Any:
        self.w[0] = 7.0
        return t * self.w

    def advance(self) -> None:
        self.w[:] = 2.0 * self.w

    def keeps(self, t: Any) -> Any:
        self.last = t
        return t * 2.0


def clean(t: Any) -> Any:
    return t * t


def identity(t: Any) -> Any:
    return t


def reversed_view(t: Any) -> Any:
    return t[::-1]


def holder(t: Any) -> Any:
    return [t, 2.0 * t]


def writes(t: Any) -> Any:
    t[0] = 2.0
    return t * 1.0


def doubles(t: Any) -> Any:
    t *= 2.0
    return t


def keeps(t: Any) -> Any:
    KEPT.append(t)
    return t * 2.0


def of_module(t: Any) -> Any:
    return G


def reads_module(t: Any) -> Any:
    return t * G


def writes_module(t: Any) -> Any:
    G[0] = 5.0
    return t * G


def logs(t: Any) -> Any:
    LOG.append(2.0)
    return t * t


def replaces(t: Any) -> Any:
    LOG[0] = LOG[0] + 1.0
    return t * t


def one(t: Any) -> Any:
    return 1.0


def indirect(t: Any) -> Any:
    return helper(doubles, t)


def helper(f: Callable[[Any], Any], t: Any) -> Any:
    return f(t)


def advances(t: Any) -> Any:
    MODEL.advance()
    return t * t


MODEL = Model()
CALLEES = [
    clean,
    identity,
    reversed_view,
    writes,
    doubles,
    keeps,
    of_module,
    reads_module,
    writes_module,
    logs,
    replaces,
    advances,
]
CALLEES += [one, indirect, MODEL.product, MODEL.view, MODEL.writes, MODEL.keeps, np.sin, np.asarray, KEPT.append]
#: What may not run, wherever it is called with what is differentiated.
NEVER = [writes_module, MODEL.writes, MODEL.keeps, KEPT.append]


def straight(f: Any, x: Any) -> Any:
    u = x * x
    y = f(u)
    return np.sum(u * x) + np.sum(y)


def unused(f: Any, x: Any) -> Any:
    u = x * x
    f(u)
    return np.sum(u * x)


def unused_in_a_loop(f: Any, x: Any) -> Any:
    u = x * x
    for _ in range(2):
        w = f(u)  # noqa: F841
    return np.sum(u * x)


def in_a_condition(f: Any, x: Any) -> Any:
    u = x * x
    if np.sum(f(u)) > 1e6:
        u = u * 2.0
    return np.sum(u * x)


def by_a_helper(f: Any, x: Any) -> Any:
    u = x * x
    w = helper(f, u)  # noqa: F841
    return np.sum(u * x)


def by_a_helper_for_its_effect(f: Any, x: Any) -> Any:
    u = x * x
    helper(f, u)
    return np.sum(u * x)


def by_a_helper_with_a_derivative(f: Any, x: Any) -> Any:
    u = x * x
    y = helper(f, u)
    return np.sum(u * x) + np.sum(y)


def stopped(f: Any, x: Any) -> Any:
    u = x * x
    return np.sum(u * stop_gradient(f(u)))


def with_a_constant(f: Any, x: Any) -> Any:
    b = np.array([1.0, 2.0, 3.0])
    y = x * b
    w = helper(f, b)  # noqa: F841
    return np.sum(y * y * b)


def written_before_and_after(f: Any, x: Any) -> Any:
    u = x * 1.0
    u[1] = x[0] * 3.0
    y = f(u) + 0.0
    u[0] = 5.0
    return np.sum(y * y * u)


def written_in_a_loop(f: Any, x: Any) -> Any:
    u = x * 1.0
    s = 0.0
    for i in range(3):
        s = s + np.sum(f(u))
        u[i] = s
    return s


def with_constant(f: Any, b: Any, x: Any) -> Any:
    f(b)
    return b * x


def constant_of_a_helper(f: Any, x: Any) -> Any:
    b = np.array([1.0, 2.0, 3.0])
    y = x * b
    z = with_constant(f, b, x)
    return np.sum(y * y * b) + np.sum(z)


def whole_numbers_of_a_helper(f: Any, x: Any) -> Any:
    b = np.array([1, 2, 3])
    y = x * b
    w = helper(f, b)  # noqa: F841
    return np.sum(y * y * b)


def written_after_a_helper(f: Any, x: Any) -> Any:
    u = x * 1.0
    u[1] = x[0] * 3.0
    y = helper(f, u)
    u[0] = 5.0
    return np.sum(y) * np.sum(u)


def model_read(f: Any, x: Any) -> Any:
    a = x * MODEL.w
    return np.sum(f(a) * MODEL.w) + np.sum(a)


def log_read(f: Any, x: Any) -> Any:
    a = x * LOG[0]
    b = np.sum(f(a))
    return b * LOG[0] + np.sum(a)


PROGRAMS = [straight, unused, unused_in_a_loop, in_a_condition, by_a_helper, by_a_helper_for_its_effect]
PROGRAMS += [by_a_helper_with_a_derivative, with_a_constant, written_before_and_after, written_in_a_loop, log_read]


CONSTANT = (with_a_constant, constant_of_a_helper, whole_numbers_of_a_helper)
PROGRAMS += [*CONSTANT[1:], written_after_a_helper, model_read]


def state() -> list[Any]:
    return [G.tolist(), len(KEPT), list(LOG), MODEL.w.tolist(), MODEL.last is None]


def reset() -> None:
    G[:] = [1.0, 2.0, 3.0]
    MODEL.w[:] = [1.0, 2.0, 3.0]
    KEPT.clear()
    LOG[:] = [1.0]
    MODEL.last = None


@pytest.fixture(autouse=True)
def _fresh() -> Any:
    reset()
    yield
    reset()


def name_of(f: Any) -> str:
    return getattr(f, "__qualname__", None) or f.__name__  # type: ignore[no-any-return]


@pytest.mark.parametrize(("program", "callee"), list(itertools.product(PROGRAMS, CALLEES)), ids=name_of)
def test_right_or_refused(program: Callable[..., Any], callee: Any) -> None:
    refusal: S2SADError | None = None
    try:
        value, gradient = value_and_grad(program, 1)(callee, X)
    except S2SADError as error:
        refusal = error
    except TypeError as error:
        with pytest.raises(type(error)):
            program(callee, X.copy())
        return
    if refusal is not None:
        assert isinstance(refusal, UnsupportedError)
        assert all(v.place is not None for v in refusal.violations)
        # Whether what a known function returns is what it was given is not checked at run time, nor what is done with
        # constants in there.
        assert callee is not clean or program in (written_after_a_helper, constant_of_a_helper)
        return
    after = state()
    given_constants = program in CONSTANT
    assert given_constants or callee not in NEVER
    reset()
    try:
        expected = program(callee, X.copy())
    except TypeError:
        pytest.fail("the gradient came, and Python raises")
    np.testing.assert_array_equal(value, expected)
    # Arguments that may be written are copied first, and the object of a method is one that the argument reaches.
    assert given_constants or after == state()

    def again(x: Any) -> Any:
        reset()
        return program(callee, x)

    np.testing.assert_allclose(gradient, numeric_gradient(again, (X,)), rtol=1e-6, atol=1e-8)


def keeps_a_constant(b: Any, t: Any) -> Any:
    KEPT.append(b)
    return b * t


def test_constants_that_are_recorded_are_the_very_objects() -> None:
    b = np.ones(3)
    np.testing.assert_array_equal(grad(lambda f, b, x: np.sum(f(b, x)), 2)(keeps_a_constant, b, X), b)
    assert len(KEPT) == 1
    assert KEPT[0] is b


def test_what_is_stopped_may_be_anything_that_keeps_nothing() -> None:
    for callee in (clean, np.sin, with_try, MODEL.product):
        expected = 2.0 * X * callee(X * X)
        np.testing.assert_allclose(grad(stopped, 1)(callee, X), expected)
    np.testing.assert_allclose(grad(stopped, 1)(writes, X), [0.0, *(2.0 * X**3)[1:]])
    np.testing.assert_allclose(grad(stopped, 1)(doubles, X), 8.0 * X**3)
    for callee in (MODEL.writes, MODEL.keeps):
        with pytest.raises(UnsupportedError):
            grad(stopped, 1)(callee, X)


def with_try(t: Any) -> Any:
    try:
        return t * 2.0
    except ValueError:
        return t


# --- what is captured -------------------------------------------------------------------------------------------------


def product_with(a: Any) -> Callable[[Any], Any]:
    return lambda t: t * a


def captured_is_written(f: Any, a: Any, x: Any) -> Any:
    s = 0.0
    for i in range(3):
        s = s + np.sum(f(x) * x)
        a[i] = 5.0
    return s


def test_an_argument_that_is_written_may_not_be_captured() -> None:
    a = np.array([1.0, 2.0, 3.0])
    for f in (product_with(a), [product_with(a[1:])][0], product_with({"a": [a]})):
        with pytest.raises(S2SADError, match="argument a and what .* reads share memory"):
            grad(captured_is_written, 2)(f, a, X)
    found = grad(captured_is_written, 2)(product_with(a.copy()), a, X)
    np.testing.assert_allclose(found, 6.0 * X * a)
    np.testing.assert_array_equal(a, [1.0, 2.0, 3.0])


def test_the_object_of_a_method_and_its_arrays_are_one() -> None:
    expected = numeric_gradient(lambda x: _with_model(x, captured_is_written), (X,))
    np.testing.assert_allclose(grad(captured_is_written, 2)(MODEL.product, MODEL.w, X), expected)
    np.testing.assert_array_equal(MODEL.w, [1.0, 2.0, 3.0])


def _with_model(x: Any, program: Callable[..., Any]) -> Any:
    model = Model()
    return program(model.product, model.w, x)


def local_capture(x: Any) -> Any:
    buffer = np.zeros(3)
    g = lambda t: t * t * buffer  # noqa: E731
    s = 0.0
    for i in range(3):
        buffer[i] = i + 1.0
        s = s + np.sum(g(x))
    return s


def test_a_local_array_that_a_lambda_reads_and_a_loop_writes() -> None:
    np.testing.assert_allclose(grad(local_capture)(X), numeric_gradient(local_capture, (X,)), rtol=1e-8)


# --- what is active itself --------------------------------------------------------------------------------------------


def calls(f: Any, t: Any) -> Any:
    return f(t)


ACTIVE: list[Callable[..., Any]] = [
    lambda f, x: np.sum((lambda t: t * x)(x)),
    lambda f, x: calls(lambda t: np.sum(x * t), 2.0),
    lambda f, x: f(lambda t: np.sum(x * t), 2.0),
    lambda f, x: np.sum({"a": lambda t: t * x}["a"](x)),
    lambda f, x: np.sum([lambda t: t * x][0](x)),
    lambda f, x: np.sum(product_with(x)(x)),
]


@pytest.mark.parametrize("f", ACTIVE)
def test_a_callee_that_depends_on_what_is_differentiated_is_no_constant(f: Callable[..., Any]) -> None:
    try:
        gradient = grad(f, 1)(calls, X)
    except S2SADError:
        return
    np.testing.assert_allclose(gradient, numeric_gradient(lambda x: f(calls, x), (X,)), rtol=1e-6)


def in_variables(x: Any) -> Any:
    g = lambda t: t * x  # noqa: E731
    return np.sum(g(x))


def in_a_list(x: Any) -> Any:
    fs = []
    fs.append(lambda t: t * x)
    return np.sum(fs[0](x))


def in_an_object(x: Any) -> Any:
    model = Model()
    model.w = x
    return np.sum(model.product(x))


@pytest.mark.parametrize("f", [in_variables, in_a_list, in_an_object])
def test_variables_that_hold_what_is_differentiated_are_no_constants(f: Callable[..., Any]) -> None:
    try:
        gradient = grad(f)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(gradient, numeric_gradient(f, (X,)), rtol=1e-6)


# --- what Python raises, and what has no meaning here -----------------------------------------------------------------


def applied(f: Any, x: Any) -> Any:
    return np.sum(f(x) * x)


def raising(t: Any) -> Any:
    raise KeyError("mine")


class Money:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __mul__(self, other: Any) -> Any:
        return 7.0

    __rmul__ = __mul__


def test_exceptions_are_the_users() -> None:
    with pytest.raises(KeyError, match="mine"):
        grad(applied, 1)(raising, X)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        grad(applied, 1)(lambda a, b: a, X)
    with pytest.raises(TypeError, match="not callable"):
        grad(applied, 1)(3.0, X)


def test_results_with_operators_of_their_own_are_refused() -> None:
    for f in (lambda t: Money(1.0), lambda t: [Money(2.0)][0], Money):
        with pytest.raises(S2SADError):
            grad(lambda g, x: np.sum(x) + g(x) * x[0], 1)(f, X)


ORDER: list[str] = []


def noted(name: str, value: Any) -> Any:
    ORDER.append(name)
    return value


def in_order(fs: Any, x: Any) -> Any:
    return np.sum(noted("callee", fs)[0](noted("argument", x), k=noted("keyword", 2.0)))


def test_the_callee_is_evaluated_first_and_everything_once() -> None:
    ORDER.clear()
    np.testing.assert_allclose(grad(in_order, 1)([lambda t, k: t * k], X), 2.0 * np.ones(3))
    assert ORDER == ["callee", "argument", "keyword"]
