"""The surface: what `grad`, `value_and_grad`, `vjp` and `check_grads` take, give, and look like."""

# What is refused has to say why: the assertion is on the exception that may or may not come.
# ruff: noqa: PT017

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import linecache
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import time
import traceback
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad import check_grads, grad, stop_gradient, value_and_grad, variants, vjp
from s2sad.errors import ArgumentError, GradientMismatch, S2SADError, UndefinedDerivativeError
from s2sad.ops import spec
from tests.oracle import leaves, numeric_gradient, pairing, richardson_jvp, tree_map

V = np.array([0.3, -1.2, 2.5])
W = np.array([1.5, 0.25, -0.75])


def loss(x: Any, w: Any = 2.0, *, shift: float = 0.5) -> Any:
    """The loss's own docstring."""
    return np.sum(np.sin(x) * w + shift * x)


def three(a: Any, b: Any, c: Any) -> Any:
    return a * b * b + c * a


def keywords(x: Any, *, scale: Any, bias: Any = 1.0) -> Any:
    return x * scale * scale + bias * x


# -- which arguments -------------------------------------------------------------------------------------------------


def test_argnums() -> None:
    assert grad(three)(2.0, 3.0, 5.0) == 9.0 + 5.0
    assert grad(three, 1)(2.0, 3.0, 5.0) == 12.0
    assert grad(three, argnums=2)(2.0, 3.0, 5.0) == 2.0
    assert grad(three, -1)(2.0, 3.0, 5.0) == 2.0
    assert grad(three, (0,))(2.0, 3.0, 5.0) == (14.0,)
    assert grad(three, (0, 2))(2.0, 3.0, 5.0) == (14.0, 2.0)
    assert grad(three, (2, 0))(2.0, 3.0, 5.0) == (2.0, 14.0)
    assert grad(three, (-1, 0, 1))(2.0, 3.0, 5.0) == (2.0, 14.0, 12.0)
    assert type(grad(three, (0, 1))(2.0, 3.0, 5.0)) is tuple
    assert grad(three, np.int64(1))(2.0, 3.0, 5.0) == 12.0


def test_argnames() -> None:
    assert grad(three, argnames="b")(2.0, 3.0, 5.0) == 12.0
    assert grad(keywords, argnames="scale")(2.0, scale=3.0) == 12.0
    assert grad(keywords, argnames=("scale",))(2.0, scale=3.0) == (12.0,)
    assert grad(keywords, argnames=("bias", "x"))(2.0, scale=3.0, bias=4.0) == (2.0, 13.0)


def test_arguments_by_name_and_by_default() -> None:
    assert grad(three)(2.0, c=5.0, b=3.0) == 14.0
    assert grad(three)(c=5.0, b=3.0, a=2.0) == 14.0
    assert grad(three, 1)(a=2.0, b=3.0, c=5.0) == 12.0
    assert grad(loss, argnums=1)(V) == pytest.approx(np.sum(np.sin(V)))
    assert grad(keywords, argnames="bias")(2.0, scale=3.0) == 2.0
    np.testing.assert_allclose(grad(loss)(V, shift=0.0), 2.0 * np.cos(V))


def test_value_and_grad() -> None:
    value, gradient = value_and_grad(three)(2.0, 3.0, 5.0)
    assert (value, gradient) == (28.0, 14.0)
    value, gradients = value_and_grad(three, argnums=(0, 1))(2.0, 3.0, 5.0)
    assert (value, gradients) == (28.0, (14.0, 12.0))
    assert value_and_grad(keywords, argnames="scale")(2.0, scale=3.0) == (20.0, 12.0)


def with_aux(x: Any, w: Any) -> Any:
    y = x * w
    return np.sum(y), (y, "info")


def test_has_aux() -> None:
    gradient, (y, info) = grad(with_aux, has_aux=True)(V, W)
    np.testing.assert_array_equal(gradient, W)
    np.testing.assert_array_equal(y, V * W)
    assert info == "info"
    (value, aux), gradients = value_and_grad(with_aux, (0, 1), has_aux=True)(V, W)
    assert value == np.sum(V * W)
    assert aux[1] == "info"
    np.testing.assert_array_equal(gradients[1], V)


@grad
def decorated(x: Any) -> Any:
    """Squares."""
    return x * x


@grad(argnums=(0, 1))
def decorated_with_options(x: Any, y: Any) -> Any:
    return x * x * y


@value_and_grad(argnums=1)
def decorated_value(x: Any, y: Any) -> Any:
    return x * y * y


@grad(has_aux=True)
def decorated_aux(x: Any) -> Any:
    return x * x, "aux"


def test_decorator_forms() -> None:
    assert decorated(3.0) == 6.0
    assert decorated_with_options(3.0, 2.0) == (12.0, 9.0)
    assert decorated_value(3.0, 2.0) == (12.0, 12.0)
    assert decorated_aux(3.0) == (6.0, "aux")


def test_empty_decorator_form() -> None:
    @grad()
    def empty(x: Any) -> Any:
        return x * x

    assert empty(3.0) == 6.0


def test_lambdas_on_one_line_are_told_apart() -> None:
    one, two, three_ = grad(lambda x: x * x), grad(lambda x: x * x * x), grad(lambda x: 5.0 * x)
    assert (one(2.0), two(2.0), three_(2.0)) == (4.0, 12.0, 5.0)
    pair = [lambda x: x * x, lambda x: x + x]
    assert [grad(f)(3.0) for f in pair] == [6.0, 2.0]
    nested = grad(lambda x: (lambda y: y)(3) * x)
    assert nested(1.0) == 3.0


def test_methods() -> None:
    class Model:
        scale = 3.0

        def loss(self, x: Any) -> Any:
            return x * x * self.scale

        @staticmethod
        def plain(x: Any) -> Any:
            return x * x

        @classmethod
        def of_class(cls, x: Any) -> Any:
            return x * x * cls.scale

    model = Model()
    for f, expected in ((model.loss, 12.0), (Model.plain, 4.0), (Model.of_class, 12.0)):
        try:
            assert grad(f)(2.0) == expected
        except S2SADError as error:
            assert f.__name__ in str(error)


# -- vjp -------------------------------------------------------------------------------------------------------------


def vector(x: Any, w: Any) -> Any:
    return np.sin(x) * w


def test_pullback_is_callable_repeatedly() -> None:
    value, pullback = vjp(vector, V, W)
    np.testing.assert_array_equal(value, np.sin(V) * W)
    for seed in (np.ones(3), np.array([1.0, 0.0, -2.0]), np.ones(3), np.zeros(3)):
        x_bar, w_bar = pullback(seed)
        np.testing.assert_allclose(x_bar, seed * np.cos(V) * W, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(w_bar, seed * np.sin(V), rtol=1e-12, atol=1e-15)
        x_bar[...] = 55.0
        w_bar[...] = 55.0


def loopy(x: Any) -> Any:
    y = x
    for i in range(3):
        if np.sum(y) > 0.0:
            y = y * x
        else:
            y = np.sin(y) + i
    return y


def test_pullback_of_a_loop_is_callable_repeatedly() -> None:
    _, pullback = vjp(loopy, V)
    first = [copy.deepcopy(pullback(row)) for row in np.eye(3)]
    second = [pullback(row) for row in np.eye(3)]
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one[0], two[0])


def test_pullback_leaves_its_seed_alone() -> None:
    seed = np.ones(3)
    _, pullback = vjp(lambda x: x, V)
    (x_bar,) = pullback(seed)
    x_bar[...] = 9.0
    np.testing.assert_array_equal(seed, np.ones(3))
    _, pullback = vjp(lambda x, y: x + y, V, W)
    x_bar, y_bar = pullback(seed)
    assert not np.shares_memory(x_bar, y_bar)
    assert not np.shares_memory(x_bar, seed)


def exponential(x: Any) -> Any:
    return np.exp(x)


def through_a_view(x: Any) -> Any:
    y = x[::-1]
    return y * np.sin(y)


def running_product(x: Any) -> Any:
    y = x.copy()
    for i in range(len(y) - 1):
        y[i + 1] = y[i] * y[i + 1]
    return y


def scaled_in_place(a: Any) -> Any:
    a[1:] *= 1.0 + a[:1]
    return a


def of_a_callee(x: Any) -> Any:
    y = x * 2.0
    return scaled_in_place(y), y[:2]


def iterated(x: Any) -> Any:
    y = x
    for _ in range(3):
        y = np.cos(y) * x
    return y


@pytest.mark.parametrize(
    "f", [exponential, through_a_view, running_product, of_a_callee, iterated], ids=lambda f: f.__name__
)
def test_pullback_is_of_the_values_at_the_call(f: Any) -> None:
    """What the user writes between the two calls, into arguments or results, changes nothing."""
    x = V.copy()
    value, pullback = vjp(f, x)
    seed = tree_map(np.ones_like, value)
    for array in (x, *leaves(value)):
        array[...] = 100.0
    (x_bar,) = pullback(seed)
    for i in range(3):
        dot = np.eye(3)[i]
        expected = pairing(seed, richardson_jvp(f, (V,), (dot,)))
        np.testing.assert_allclose(x_bar[i], expected, rtol=1e-7)


def containers(p: Any) -> Any:
    return {"sum": p["a"] + p["b"][0], "product": (p["a"] * p["b"][0],)}


def test_pullback_of_containers() -> None:
    value, pullback = vjp(containers, {"a": V, "b": [W, 2.0]})
    np.testing.assert_array_equal(value["product"][0], V * W)
    (p_bar,) = pullback({"sum": np.ones(3), "product": (np.full(3, 2.0),)})
    np.testing.assert_allclose(p_bar["a"], 1.0 + 2.0 * W)
    np.testing.assert_allclose(p_bar["b"][0], 1.0 + 2.0 * V)
    assert p_bar["b"][1] == 0.0


def test_vjp_of_a_scalar() -> None:
    value, pullback = vjp(lambda x, y: x * y, 2.0, 3.0)
    assert value == 6.0
    assert pullback(1.0) == (3.0, 2.0)
    assert pullback(2.0) == (6.0, 4.0)


# -- what the objects look like --------------------------------------------------------------------------------------


def test_metadata_of_the_function_is_kept() -> None:
    df = grad(loss)
    assert df.__name__ == "loss"
    assert df.__doc__ == loss.__doc__
    assert df.__wrapped__ is loss
    assert df.__module__ == loss.__module__
    assert df.__qualname__ == "loss"
    assert [p.name for p in inspect.signature(df).parameters.values()] == ["x", "w", "shift"]
    assert inspect.signature(df).parameters["w"].default == 2.0
    assert inspect.signature(df).parameters["shift"].kind is inspect.Parameter.KEYWORD_ONLY
    assert callable(df)


def test_repr() -> None:
    text = repr(grad(loss))
    assert text.startswith("<s2sad.grad of ")
    assert "loss" in text
    assert "wrt x" in text
    assert "reverse" in text
    text = repr(value_and_grad(three, (0, 2)))
    assert "value_and_grad" in text
    assert "a" in text.split("wrt")[1]
    assert "c" in text.split("wrt")[1]
    assert repr(grad(no_rule))


def no_rule(x: Any) -> Any:
    return np.sum(np.union1d(x, x))


def test_source_is_the_python_that_runs() -> None:
    df = grad(loss)
    tree = ast.parse(df.source)
    assert any(isinstance(node, ast.FunctionDef) for node in tree.body)
    header = next(line for line in df.source.splitlines() if line.startswith("#"))
    assert header.startswith("# s2sad: gradient of loss (")
    assert "with respect to x" in header
    assert f"test_api.py:{loss.__code__.co_firstlineno}" in header
    assert "/root" not in df.source
    assert "x_bar" in df.source
    assert df.source == grad(loss).source


def with_loop(v: Any) -> Any:
    total = 0.0
    for item in v:
        if item > 0.0:
            total = total * item + np.exp(item)
    return total


def test_traceback_shows_the_emitted_line() -> None:
    df = grad(fails_late)
    with pytest.raises(ZeroDivisionError) as raised:
        df(0.0)
    text = "".join(traceback.format_exception(raised.value))
    assert "1.0 / x" in text
    assert linecache.getlines(traceback.extract_tb(raised.value.__traceback__)[-1].filename)


def fails_late(x: Any) -> Any:
    y = x * 2.0
    return y * (1.0 / x)


SCRIPT = """
import sys
sys.path.insert(0, {root!r})
from tests import test_api
from s2sad import grad, value_and_grad
for f in (test_api.loss, test_api.three, test_api.with_loop, test_api.loopy_loss, test_api.many):
    print(grad(f).source)
    print(value_and_grad(f).source)
"""


def loopy_loss(x: Any) -> Any:
    return np.sum(loopy(x)) + with_loop(x)


def many(x: Any) -> Any:
    a, b, c, d, e = x, x * x, x - 1.0, np.sin(x), np.cos(x)
    while np.sum(a) < 10.0:
        a, b, c, d, e = a * 1.5 + 1.0, c + a, d * b, e, b * 0.1
        if np.sum(b) > 100.0:
            break
    return np.sum(a + b + c + d + e)


def test_emitted_source_does_not_depend_on_the_hash_seed() -> None:
    root = str(pathlib.Path(s2sad.__file__).parents[1])
    texts = []
    for seed in ("0", "1", "4242"):
        result = subprocess.run(
            [sys.executable, "-c", SCRIPT.format(root=root)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            cwd=root,
        )
        texts.append(result.stdout)
    assert texts[0]
    assert texts[0] == texts[1] == texts[2]


def test_threads() -> None:
    df = value_and_grad(loopy_loss)
    expected = df(V)
    found: list[Any] = []
    errors: list[BaseException] = []

    def work(k: int) -> None:
        try:
            for _ in range(30):
                value, gradient = df(V)
                found.append(value == expected[0] and np.array_equal(gradient, expected[1]))
                fresh = grad(lambda x: np.sum(x * k))
                found.append(np.array_equal(fresh(V), np.full(3, float(k))))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(found) == 240
    assert all(found)


def test_one_thread_at_a_time_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    inside: list[int] = []
    together: list[int] = []
    compiling = variants.compile_gradient

    def watched(*args: Any) -> Any:
        inside.append(1)
        together.append(len(inside))
        time.sleep(0.01)
        try:
            return compiling(*args)
        finally:
            inside.pop()

    monkeypatch.setattr(variants, "compile_gradient", watched)
    functions = [grad(lambda x, k=k: np.sum(x * k)) for k in range(4)]
    threads = [threading.Thread(target=f, args=(V,)) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == [1, 1, 1, 1]


module_level_derivative = grad(loss)
of_two = value_and_grad(three, argnums=(0, 2))


def test_pickling() -> None:
    for df in (module_level_derivative, grad(loss, argnames="w")):
        again = pickle.loads(pickle.dumps(df))
        np.testing.assert_array_equal(again(V), df(V))
        assert again.source == df.source
    assert pickle.loads(pickle.dumps(of_two))(2.0, 3.0, 5.0) == of_two(2.0, 3.0, 5.0)
    assert pickle.loads(pickle.dumps(decorated))(3.0) == 6.0
    assert pickle.loads(pickle.dumps(decorated_with_options))(3.0, 2.0) == (12.0, 9.0)
    assert copy.deepcopy(module_level_derivative)(V).shape == (3,)


def test_pickling_into_another_process() -> None:
    root = str(pathlib.Path(s2sad.__file__).parents[1])
    code = (
        f"import sys, pickle; sys.path.insert(0, {root!r}); "
        "df = pickle.loads(sys.stdin.buffer.read()); print(df(2.0, 3.0, 5.0))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(of_two), capture_output=True, check=True, cwd=root
    )
    assert result.stdout.decode().strip() == str(of_two(2.0, 3.0, 5.0))


def test_derivatives_of_equal_calls_agree() -> None:
    x = V.copy()
    first, second = grad(loss)(x), grad(loss)(x)
    assert first is not second
    assert not np.shares_memory(first, second)
    np.testing.assert_array_equal(first, second)


def test_importing_loads_nothing_else() -> None:
    code = (
        "import sys, numpy; before = set(sys.modules); import s2sad; "
        "new = {m.split('.')[0] for m in set(sys.modules) - before}; "
        "print(sorted(m for m in new if m in ('scipy', 'numba', 'pytest', 'matplotlib', 'jax')))"
    )
    root = str(pathlib.Path(s2sad.__file__).parents[1])
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert result.stdout.strip() == "[]"


# -- check_grads -----------------------------------------------------------------------------------------------------


def test_check_grads_passes_on_what_is_right() -> None:
    check_grads(loss, (V,), order=1, modes=("rev",))
    check_grads(with_loop, (V,), order=1, modes=("rev",))
    check_grads(vector, (V, W), order=1, modes=("rev",))


def half_stopped(x: Any) -> Any:
    """Its derivative is, on purpose, not that of its value."""
    return np.sum(stop_gradient(x) * x * 1.0)


def test_check_grads_reports_what_differs() -> None:
    with pytest.raises(AssertionError) as raised:
        check_grads(half_stopped, (V,), order=1, modes=("rev",))
    message = str(raised.value)
    assert "half_stopped" in message
    assert "x" in message
    assert any(character.isdigit() for character in message)


TURNS = [0.0]


def of_a_turn(x: Any) -> Any:
    TURNS[0] += 1.0
    return np.sum(x * x) * TURNS[0]


def test_check_grads_says_that_a_function_does_not_repeat() -> None:
    with pytest.raises(GradientMismatch, match=r"of_a_turn gives .*, then .*: it draws numbers, or changes what it"):
        check_grads(of_a_turn, (V,))


def test_check_grads_leaves_arguments_alone() -> None:
    x = V.copy()
    check_grads(loss, (x,), order=1, modes=("rev",))
    np.testing.assert_array_equal(x, V)


def test_public_names() -> None:
    for name in ("grad", "value_and_grad", "vjp", "stop_gradient", "check_grads"):
        assert callable(getattr(s2sad, name))
        assert getattr(s2sad, name).__doc__


def test_check_grads_gives_a_report() -> None:
    report = check_grads(loss, (V, 2.0))
    assert report
    assert [entry.argument for entry in report.entries] == ["x", "w"]
    assert "abs error" in str(report)
    wrong = check_grads(half_stopped, (V,), raises=False)
    assert not wrong
    assert "WRONG" in str(wrong)
    assert "x[2]" in str(wrong)


def writes(x: Any) -> Any:
    x[0] = x[1] * x[2]
    return np.sum(x * x)


def of_complex(z: Any) -> Any:
    return np.sum(np.abs(z) ** 2 + np.real(z * z))


def near_the_edge(x: Any) -> Any:
    return np.sum(np.log(x))


def test_check_grads_of_what_is_hard_to_difference() -> None:
    x = V.copy()
    assert check_grads(writes, (x,))
    np.testing.assert_array_equal(x, V)
    assert check_grads(of_complex, (V + 1j * W,))
    assert check_grads(near_the_edge, (np.array([1e-4, 1.0]),))
    assert check_grads(loss, (V.astype(np.float32),))
    assert check_grads(with_loop, ([0.5, -1.0, 2.0],))
    assert check_grads(containers, ({"a": V, "b": [W, 2.0]},))
    assert check_grads(grad(three, argnums=1), (2.0, 3.0, 5.0)).entries[0].argument == "b"


@pytest.mark.parametrize(
    ("arguments", "options", "mention"),
    [
        ((V,), {"order": 0}, "order"),
        ((V,), {"order": 3}, "order"),
        ((V,), {"modes": ("rev", "sideways")}, "sideways"),
        ((np.arange(3),), {}, "floats"),
        (V, {}, "tuple"),
    ],
)
def test_check_grads_says_what_it_does_not_do(arguments: Any, options: Any, mention: str) -> None:
    with pytest.raises(ArgumentError, match=mention):
        check_grads(loss, arguments, **options)


def test_a_wrong_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = spec.find(np.tanh)
    assert right is not None

    def tanh(z: Any, x: Any) -> Any:
        return 1.01 - z * z

    monkeypatch.setitem(spec._specs, id(np.tanh), dataclasses.replace(right, vjp=tanh))
    with pytest.raises(GradientMismatch, match="with_tanh"):
        check_grads(with_tanh, (V,))


def with_tanh(x: Any) -> Any:
    return np.sum(np.tanh(x))


# -- what is not there yet, and what is no function -------------------------------------------------------------------


class Model:
    """A class with decorated methods."""

    scale = 3.0

    @grad(argnums=1)
    def slope(self, x: Any) -> Any:
        return x * x * 2.0

    @staticmethod
    @grad
    def plain(x: Any) -> Any:
        return x * x

    @value_and_grad(argnames="x")
    def both(self, x: Any, w: Any = 2.0) -> Any:
        return x * x * w * self.scale


def test_decorated_methods() -> None:
    model = Model()
    assert model.slope(3.0) == 12.0
    assert Model.slope(model, 3.0) == 12.0
    assert Model.plain(3.0) == model.plain(3.0) == 6.0
    assert model.both(1.0) == (6.0, 12.0)
    model.scale = 4.0
    assert model.both(1.0, w=1.0) == (4.0, 8.0)
    assert "Model.slope wrt x" in repr(Model.slope)
    assert pickle.loads(pickle.dumps(Model.plain))(3.0) == 6.0


def test_has_aux_takes_a_pair_and_nothing_else() -> None:
    def gives(result: Any) -> Any:
        def f(x: Any) -> Any:
            return result(x)

        return f

    for result in (lambda x: x, lambda x: (x, x, x), lambda x: np.array([x, x]), lambda x: None, lambda x: (x,)):
        for transform in (grad, value_and_grad):
            with pytest.raises(S2SADError):
                transform(gives(result), has_aux=True)(0.7)

    def two_elements(x: Any) -> Any:
        return x[:2]

    with pytest.raises(ArgumentError, match="pair"):
        grad(two_elements, has_aux=True)(V)
    with pytest.raises(ArgumentError, match="pair"):
        vjp(two_elements, V, has_aux=True)


def test_has_aux_where_an_array_that_is_written_is_returned() -> None:
    def three(x: Any) -> Any:
        w = x.copy()
        w[0] = 2.0
        return np.sum(w * x), w, x

    def three_early(x: Any) -> Any:
        for i in range(2):
            if i == 1:
                return np.sum(x * x), x[:1], x.sum()
        return np.sum(x * x), x[:1], x.sum()

    def two_in_a_list(x: Any) -> Any:
        w = x.copy()
        w[0] = 2.0
        return [np.sum(w * x), w]

    for f in (three, three_early):
        for transform in (grad, value_and_grad):
            with pytest.raises(ArgumentError, match="tuple of 3 items"):
                transform(f, has_aux=True)(V)
    gradient, w = grad(two_in_a_list, has_aux=True)(V)
    np.testing.assert_allclose(gradient, numeric_gradient(lambda x: two_in_a_list(x)[0], (V,)), rtol=1e-8)
    np.testing.assert_array_equal(w, two_in_a_list(V)[1])


@pytest.mark.parametrize(
    "f", [lambda x: 3, lambda x: x > 0.0, lambda x: int(x), lambda x: np.int64(3), lambda x: np.floor(x) > 1]
)
def test_a_loss_that_is_an_integer_is_a_type_error(f: Any) -> None:
    for transform in (grad, value_and_grad):
        with pytest.raises(TypeError, match="no derivative"):
            transform(f)(0.7)


def test_a_loss_that_is_a_constant_float_has_the_derivative_zero() -> None:
    assert grad(lambda x: 3.0)(0.7) == 0.0
    assert grad(lambda x: np.floor(x))(0.7) == 0.0
    np.testing.assert_array_equal(grad(lambda x: float(len(x)))(V), np.zeros(3))


def relu(x: Any) -> Any:
    return x if x > 0 else 0


def test_an_integer_on_one_way_is_the_number_that_it_is() -> None:
    assert grad(relu)(-0.5) == 0.0
    assert grad(relu)(0.5) == 1.0


# -- looking ---------------------------------------------------------------------------------------------------------


def accumulates(x: Any, n: Any) -> Any:
    y = x * x
    k = n + 1
    for _ in range(n):
        y = y * x * k
    return y


def test_explain_says_of_each_variable_what_became_of_it() -> None:
    head, *rows = grad(accumulates).explain().splitlines()
    assert head.split()[:2] == ["variable", "active"]
    cells = {row.split()[0]: row for row in rows}
    assert {name: cells[name].split()[1] for name in "xnyk"} == {"x": "yes", "n": "no", "y": "yes", "k": "no"}
    assert "each time" in cells["y"]
    assert "as it is" in cells["x"]


def test_show_and_save(capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path) -> None:
    df = grad(accumulates)
    df.show()
    shown = capsys.readouterr().out
    assert "def accumulates(x: Any, n: Any) -> Any:" in shown
    assert "def accumulates_grad_x(x, n):" in shown
    df.show(1.5, n=2)
    called = capsys.readouterr().out
    assert "def accumulates(x: Any, n: Any) -> Any:" in called
    assert all(line in called for line in df.source_for(1.5, 2).splitlines())
    assert df.stages(1.5, 2)["source"] == df.source_for(1.5, 2)
    assert df.stages()["source"] == df.source
    df.save(tmp_path / "out.py")
    text = (tmp_path / "out.py").read_text(encoding="utf-8")
    assert text == df.source
    space: dict[str, Any] = {}
    exec(compile(text, "out.py", "exec"), space)
    assert space["accumulates_grad_x"](1.5, 2) == pytest.approx(df(1.5, 2))


def test_records_with_names_of_arrays_are_refused() -> None:
    @dataclasses.dataclass
    class Sized:
        size: float

    with pytest.raises(ArgumentError, match="size"):
        grad(lambda p: p.size * 3.0)(Sized(0.7))


def test_long_containers_are_checked_at_every_call() -> None:
    df = grad(lambda p: p[0] * p[-1])
    assert df([1.0] * 70)[0] == 1.0
    with pytest.raises(ArgumentError, match=r"\[69\]"):
        df([1.0] * 69 + [np.arange(3)])


def _scaled(x: float, n: int = 2, *, by: float = 3.0) -> float:
    return x * n * by * x


def test_every_form_of_a_call_gives_the_same_and_compiles_once() -> None:
    df = grad(_scaled, argnames=("x", "by"))
    expected = (2 * 0.5 * 2 * 3.0, 0.25 * 2)
    for _ in range(3):  # at first and from the table
        for args, kwargs in (
            ((0.5,), {}),
            ((0.5, 2), {}),
            ((0.5,), {"by": 3.0}),
            ((0.5,), {"by": 3, "n": 2}),
            ((), {"x": 0.5}),
        ):
            assert df(*args, **kwargs) == expected
        assert grad(_scaled)(1) == 12.0
        assert type(grad(_scaled)(1)) is float
        assert value_and_grad(_scaled)(x=1) == (6.0, 12.0)
    assert grad(lambda xs: xs[0] * xs[1])([2, 3.0]) == [3.0, 2.0]
    for args, kwargs in (((), {}), ((1.0, 2, 3), {}), ((1.0,), {"x": 1.0}), ((1.0,), {"other": 1.0})):
        with pytest.raises(ArgumentError, match="_scaled"):
            df(*args, **kwargs)


def test_defaults_are_those_of_the_moment() -> None:
    def f(x, n=2.0, *, by=3.0):  # type: ignore[no-untyped-def]
        return x * n * by

    df = grad(f)
    assert df(1.0) == 6.0
    f.__defaults__ = (5.0,)
    assert df(1.0) == 15.0
    f.__kwdefaults__["by"] = 2.0
    assert df(1.0) == 10.0
    f.__kwdefaults__ = None  # type: ignore[assignment]
    with pytest.raises(ArgumentError, match="by"):
        df(1.0)
    assert df(1.0, by=1) == 5.0


def _summed(rest: Any) -> Any:
    p = rest[-1]
    for _ in range(2):
        y = sum(sum(p[0], ()))
    return y


def _calls_summed(rest: Any) -> Any:
    return 2.0 * _summed(
        rest,
    )


def test_a_refusal_at_run_time_says_where() -> None:
    rest = [0.3, [[(0.4,), (2.0,)], 1.0]]
    lines, start = inspect.getsourcelines(_summed)
    line = next(n for n, text in enumerate(lines) if "sum(" in text) + start
    calls = [
        lambda: grad(_summed)(rest),
        lambda: grad(_summed)(rest),
        lambda: grad(_calls_summed)(rest=rest),
        lambda: vjp(_summed, rest)[1](1.0),
    ]
    for call in calls:
        with pytest.raises(UndefinedDerivativeError) as caught:
            call()
        first, source, caret, remedy = str(caught.value).splitlines()
        assert first.endswith(f"test_api.py:{line}:9: error: sum(...) of lists or tuples has no derivative rule")
        assert source.strip() == "y = sum(sum(p[0], ()))"
        assert caret.strip() == "^" + "~" * (len(source.strip()) - 1)
        assert remedy == "Join them with +."
        other = pickle.loads(pickle.dumps(caught.value))
        assert (str(other), other.place) == (str(caught.value), caught.value.place)


def _repeated(a: Any) -> Any:
    w, v = np.linalg.eigh(a)
    return np.sum(w) + v[0, 1]


def test_what_has_no_derivative_at_this_argument_says_where() -> None:
    with pytest.raises(UndefinedDerivativeError, match=r"test_api\.py:\d+:5: error: the vectors of a repeated"):
        grad(_repeated)(np.eye(2))


@pytest.mark.parametrize("turns", [1, 2])
def test_a_pullback_after_a_loop_that_hands_a_shadow_on_can_be_called_again(turns: int) -> None:
    def f(a: Any) -> Any:
        w = np.empty_like(a)
        w[...] = np.sin(a)
        for _ in range(turns):
            w = w * 0.5
        z = w.ravel()
        return np.sum(z * z)

    _, pullback = vjp(f, V)
    expected = numeric_gradient(f, (V,))
    for seed in (1.0, -0.5, 1.0):
        np.testing.assert_allclose(pullback(seed)[0], seed * expected, rtol=1e-8)
