"""Which callables are differentiated, beside plain functions: what they compute, and what their arguments are."""

from __future__ import annotations

import functools
import math
import operator
import pickle
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import check_grads, grad, jacobian, value_and_grad, vjp
from s2sad.callables import resolve
from s2sad.errors import ArgumentError, S2SADError, SourceError

X = np.array([0.5, 1.5, 2.5])


def weighted(a: Any, x: Any, b: float = 2.0, *, k: float = 1.0) -> Any:
    return np.sum(a * x**b) * k


class Model:
    scale = 2.0

    def __init__(self, k: float) -> None:
        self.k = k
        self.w = np.array([1.0, 2.0, 4.0])

    def loss(self, x: Any, p: float = 1.0) -> Any:
        return np.sum(self.w * x**2 * self.k) * p

    def __call__(self, x: Any) -> Any:
        return np.sum(self.w * np.sin(x)) / self.k

    @classmethod
    def scaled(cls, x: Any) -> Any:
        return cls.scale * np.sum(x * x)

    @staticmethod
    def cubes(x: Any) -> Any:
        return np.sum(x**3)

    def overwrite(self, x: Any) -> Any:
        self.w[0] = 5.0
        return np.sum(self.w * x)

    def mixed(self, y: Any, x: Any) -> Any:
        return np.sum(self.w * x**2) + np.sum(x * y)

    halved = functools.partialmethod(loss, p=0.5)


class Made:
    """An object whose ``__call__`` is made when it is called."""

    @property
    def __call__(self) -> Any:
        return lambda x: np.sum(x * x)


class Static:
    __call__ = staticmethod(weighted)


class Inner:
    call = Model(4.0)


class Around:
    """An object whose ``__call__`` is an object that is called."""

    __call__ = Model(4.0)


def twice(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(x: Any) -> Any:
        return 2.0 * inner(x)

    inner = function
    return wrapper


@twice
def doubled(x: Any) -> Any:
    return np.sum(np.sin(x))


@functools.lru_cache
def cached(x: float) -> float:
    return x**3


class _Dispatcher:
    """What ``numba.njit`` returns, as far as it matters here."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)


Dispatcher = types.new_class("Dispatcher", (_Dispatcher,))
Dispatcher.__module__ = "numba.core.dispatcher"

MODEL = Model(3.0)
CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "method": (MODEL.loss, (X,)),
    "method with its option": (MODEL.loss, (X, 3.0)),
    "object": (MODEL, (X,)),
    "object with a static call": (Static(), (X, X)),
    "object whose call is an object": (Around(), (X,)),
    "object of a class": (Inner.call, (X,)),
    "classmethod of an object": (MODEL.scaled, (X,)),
    "classmethod": (Model.scaled, (X,)),
    "staticmethod of an object": (MODEL.cubes, (X,)),
    "staticmethod object": (vars(Model)["cubes"], (X,)),
    "partialmethod": (MODEL.halved, (X,)),
    "partial of method with an argument": (functools.partial(MODEL.mixed, X), (X,)),
    "object whose call is a property": (Made(), (X,)),
    "partial": (functools.partial(weighted, X, k=3.0), (X,)),
    "partial of partial": (functools.partial(functools.partial(weighted, X), b=3.0, k=0.5), (X,)),
    "partial of method": (functools.partial(MODEL.loss, p=2.0), (X,)),
    "wrapper": (doubled, (X,)),
    "cache": (cached, (2.0,)),
    "partial of cache": (functools.partial(cached), (2.0,)),
    "numba": (Dispatcher(weighted), (X, X)),
    "lambda": (lambda x: np.sum(x * X), (X,)),
    "norm": (np.linalg.norm, (X,)),
    "norm of order 3": (np.linalg.norm, (X, 3)),
    "sum": (np.sum, (X,)),
    "sum along an axis": (np.sum, (X, 0)),
    "sine of math": (math.sin, (0.3,)),
    "sine of numpy": (np.sin, (0.3,)),
    "hypot": (math.hypot, (3.0, 4.0)),
    "einsum": (functools.partial(np.einsum, "i,i->"), (X, X)),
    "reduce": (np.add.reduce, (X,)),
    "dot of an array": (X.dot, (X,)),
    "max": (max, (3.0, 4.0)),
    "sum of Python": (sum, ([1.0, 2.0],)),
    "abs": (abs, (-2.0,)),
    "operator": (operator.mul, (2.0, 3.0)),
    "negation": (operator.neg, (2.0,)),
    "item": (functools.partial(operator.getitem), (X, 1)),
}


@pytest.mark.parametrize("case", CASES)
def test_gradients_and_values_of_callables(case: str) -> None:
    function, args = CASES[case]
    check_grads(function, args, argnums=0)
    value, gradient = value_and_grad(function)(*args)
    assert np.array_equal(value, function(*args))
    again, pullback = vjp(function, *args, argnums=0)
    assert np.array_equal(again, value)
    np.testing.assert_array_equal(pullback(1.0)[0], gradient)
    df = grad(function)
    assert df.argnums == 0
    assert "def " in df.source
    assert df.source_for(*args).startswith(("import", "from", "\n", "#"))
    assert repr(df)


def test_what_the_caller_passes_is_counted() -> None:
    assert grad(MODEL.loss, 1)(X, 1.0) == pytest.approx(MODEL.loss(X))
    assert grad(MODEL.loss, argnames="p")(X, p=1.0) == pytest.approx(MODEL.loss(X))
    np.testing.assert_allclose(grad(functools.partial(weighted, X), 0)(X), 2.0 * X * X)
    assert list(grad(MODEL.loss).__signature__.parameters) == ["x", "p"]
    assert list(grad(functools.partial(weighted, X, k=2.0)).__signature__.parameters) == ["x", "b", "k"]
    for function, name in ((MODEL.loss, "self"), (functools.partial(weighted, X, k=2.0), "k")):
        with pytest.raises(ArgumentError, match="has no parameter"):
            grad(function, argnames=name)
    with pytest.raises(ArgumentError, match="2 parameters"):
        grad(MODEL.loss, 2)


def test_a_keyword_of_a_partial_may_be_given_again() -> None:
    function = functools.partial(weighted, X, k=3.0)
    np.testing.assert_allclose(grad(function)(X, k=5.0), 5.0 * 2.0 * X * X)
    np.testing.assert_allclose(grad(function)(X), 3.0 * 2.0 * X * X)


def test_objects_are_read_as_they_are_when_called() -> None:
    model = Model(3.0)
    df = grad(model.loss)
    first = df(X)
    model.k = 6.0
    np.testing.assert_allclose(df(X), 2.0 * first)
    model.w = np.ones(3, np.float32)
    np.testing.assert_allclose(df(X), 2.0 * X * 6.0)


class Powers:
    def __call__(self, x: Any) -> Any:
        return np.sum(x**2)


def test_what_a_callable_runs_is_seen_when_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """A partial that holds something else, and a class with another ``__call__``, have another derivative."""
    part = functools.partial(weighted, X, b=2.0)
    df, of_df = grad(part), grad(lambda x: np.sum(grad(part)(x)))
    assert np.allclose(df(X), 2 * X * X)
    part.keywords["b"] = 3.0
    assert np.allclose(df(X), 3 * X * X**2)
    assert np.allclose(of_df(X), 6 * X * X)
    part.keywords["k"] = 2.0
    assert np.allclose(df(X), 6 * X * X**2)
    del part.keywords["k"], part.keywords["b"]
    assert np.allclose(df(X), 2 * X * X)

    powers = Powers()
    dp, twice, all_of = value_and_grad(powers), grad(lambda x: np.sum(slope(x))), jacobian(powers)
    slope = grad(powers)
    assert np.allclose(dp(X)[1], 2 * X)
    assert np.allclose(all_of(X), 2 * X)
    monkeypatch.setattr(Powers, "__call__", lambda self, x: np.sum(x**4))
    value, gradient = dp(X)
    assert value == np.sum(X**4)
    assert np.allclose(gradient, 4 * X**3)
    assert np.allclose(all_of(X), 4 * X**3)
    assert np.allclose(twice(X), 12 * X**2)
    monkeypatch.setattr(Powers, "__call__", staticmethod(np.sum))
    assert np.allclose(dp(X)[1], 1.0)
    monkeypatch.undo()
    assert np.allclose(dp(X)[1], 2 * X)


def test_the_object_of_a_method_is_not_changed() -> None:
    model = Model(3.0)
    np.testing.assert_array_equal(grad(model.overwrite)(X), [5.0, 2.0, 4.0])
    np.testing.assert_array_equal(model.w, [1.0, 2.0, 4.0])
    value, _ = vjp(model.overwrite, X)
    np.testing.assert_array_equal(model.w, [1.0, 2.0, 4.0])
    assert value == Model(3.0).overwrite(X)


def test_the_text_of_a_method_takes_the_object_first() -> None:
    text = grad(MODEL.loss).source_for(X)
    assert "def loss_grad_x(self, x, p=1.0):" in text
    space: dict[str, Any] = {}
    exec(text, space)
    np.testing.assert_array_equal(space["loss_grad_x"](MODEL, X), grad(MODEL.loss)(X))


def test_the_text_of_a_function_of_the_table_runs_by_itself(tmp_path: Any) -> None:
    df = grad(np.linalg.norm)
    df.save(tmp_path / "norm_grad.py")
    space: dict[str, Any] = {}
    exec((tmp_path / "norm_grad.py").read_text(), space)
    np.testing.assert_allclose(space["norm_grad_x"](X), X / np.linalg.norm(X))


def test_functions_of_the_table_take_arguments_by_name() -> None:
    df = grad(np.linalg.norm)
    np.testing.assert_array_equal(df(X, ord=3), df(X, 3))
    np.testing.assert_allclose(df(X), grad(np.linalg.norm, argnames="x")(X))
    np.testing.assert_allclose(grad(np.dot, 1)(X, 2.0 * X), X)
    np.testing.assert_allclose(grad(np.dot)(a=X, b=2.0 * X), 2.0 * X)


def test_what_goes_into_a_cache_has_to_be_hashable() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        grad(cached)(X)
    inside = functools.lru_cache(functools.partial(weighted, X))
    assert grad(inside)(2.0) == pytest.approx(np.sum(X * 4.0))


def test_derivatives_of_methods_pickle() -> None:
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(grad(MODEL.loss)))(X), grad(MODEL.loss)(X))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (dict, ["a class"]),
        (vars(Model)["scaled"], ["classmethod", "__func__"]),
        (3, ["not callable"]),
        (np.random.default_rng, ["built-in"]),
        (np.setxor1d, []),
        (str.upper, ["built-in"]),
        (functools.partial(Model), ["partial"]),
    ],
    ids=lambda value: getattr(value, "__name__", None) or type(value).__name__,
)
def test_what_has_no_code_is_refused(function: Any, words: list[str]) -> None:
    with pytest.raises(S2SADError) as caught:
        grad(function)(X)
    for word in words:
        assert word in str(caught.value)


def test_cycles_of_objects_end() -> None:
    class Cycle:
        pass

    Cycle.__call__ = Cycle()  # type: ignore[attr-defined, method-assign]
    with pytest.raises(SourceError):
        resolve(Cycle())


def test_a_name_that_numba_gave_to_no_class_is_not_looked_through() -> None:
    class Other:
        def __init__(self, function: Callable[..., Any]) -> None:
            self.py_func = function

        def __call__(self, x: Any) -> Any:
            return 3.0 * self.py_func(x)

    assert resolve(Other(math.sin)).function is Other.__call__


class Counting:
    """An object that counts what it is asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.__dict__["asked"] += 1
        return 2.0

    def __call__(self, x: Any) -> Any:
        return 3.0 * x


COUNTING = Counting()


def test_nothing_of_an_object_runs_while_a_call_of_it_is_compiled() -> None:
    def f(x: Any) -> Any:
        return COUNTING(1.0) * np.sum(x) * COUNTING.asked

    COUNTING.asked = 0
    value, gradient = value_and_grad(f)(X)
    assert value == 0.0
    assert COUNTING.asked == 0
    np.testing.assert_array_equal(gradient, np.zeros_like(X))
