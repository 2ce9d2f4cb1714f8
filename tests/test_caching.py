"""One compilation for many calls, and never the answer of a function that has been replaced."""

from __future__ import annotations

import contextlib
import importlib
import linecache
import operator
import sys
import textwrap
import threading
import types
from typing import Any

import numpy as np
import pytest

import s2sad.variants as caches
from s2sad import grad, value_and_grad
from s2sad.errors import UnsupportedError
from s2sad.variants import variants
from tests.oracle import numeric_gradient

V = np.array([0.3, -1.2, 2.5])
cells = iter(range(10**6))


def run_cell(space: dict[str, Any], text: str) -> None:
    """Executes a notebook cell: a pseudo file of its own, in one namespace."""
    name = f"<cell {next(cells)}>"
    text = textwrap.dedent(text)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), space)


@pytest.fixture
def space() -> dict[str, Any]:
    return {"__name__": "__notebook__", "np": np}


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A record of every text that is turned into functions, which no compilation can do without."""
    original = importlib.import_module("s2sad.load").load
    seen: list[str] = []

    def counted(text: str, *args: Any, **kwargs: Any) -> Any:
        seen.append(text)
        return original(text, *args, **kwargs)

    for module in [m for name, m in sys.modules.items() if name == "s2sad" or name.startswith("s2sad.")]:
        for key, held in list(vars(module).items()):
            if held is original:
                monkeypatch.setattr(module, key, counted)
    return seen


def test_one_compilation_for_many_calls(space: dict[str, Any], compilations: list[str]) -> None:
    run_cell(space, "def f(x, n=3):\n    for i in range(n):\n        x = np.sin(x) * x\n    return np.sum(x)\n")
    df = grad(space["f"])
    df(V)
    first = len(compilations)
    assert first > 0
    for k in range(5):
        df(V * k, n=k)
        df(np.ones((2, 2)))
        df(1.5)
    repeated = len(compilations)
    assert repeated - first <= 2 * first, "values and shapes of arguments lead to compilation after compilation"
    for k in range(5):
        df(V * k, n=k)
        df(1.5)
    assert len(compilations) == repeated


def test_one_compilation_for_equal_derivatives(space: dict[str, Any], compilations: list[str]) -> None:
    run_cell(space, "def f(x):\n    return np.sum(np.sin(x) * x)\n")
    grad(space["f"])(V)
    first = len(compilations)
    for _ in range(4):
        grad(space["f"])(V)
    assert len(compilations) == first


def test_nothing_is_compiled_before_it_is_needed(space: dict[str, Any], compilations: list[str]) -> None:
    run_cell(space, "def f(x):\n    return undefined_yet(x) * x\n")
    df = grad(space["f"])
    assert not compilations
    run_cell(space, "def undefined_yet(x):\n    return x * x\n")
    assert df(2.0) == 12.0


def test_a_redefined_callee_is_noticed(space: dict[str, Any]) -> None:
    run_cell(space, "def g(x):\n    return x * x\n")
    run_cell(space, "def f(x):\n    return g(x) * 2.0\n")
    df = grad(space["f"])
    assert df(3.0) == 12.0
    run_cell(space, "def g(x):\n    return x * x * x\n")
    assert df(3.0) == 54.0
    run_cell(space, "def g(x):\n    return x * x\n")
    assert df(3.0) == 12.0


def test_a_redefined_callee_of_a_callee_is_noticed(space: dict[str, Any]) -> None:
    run_cell(space, "def h(x):\n    return x * x\n")
    run_cell(space, "def g(x):\n    return h(x)\n")
    run_cell(space, "def f(x):\n    return g(x)\n")
    df = value_and_grad(space["f"])
    assert df(3.0) == (9.0, 6.0)
    run_cell(space, "def h(x):\n    return x * 5.0\n")
    assert df(3.0) == (15.0, 5.0)


def test_a_redefined_callee_is_noticed_by_a_recursive_function(space: dict[str, Any]) -> None:
    run_cell(space, "def h(x):\n    return x * 2.0\n")
    run_cell(space, "def f(x, n=3):\n    return x if n == 0 else h(f(x, n - 1))\n")
    df = grad(space["f"])
    assert df(1.0) == 8.0
    run_cell(space, "def h(x):\n    return x * 3.0\n")
    assert df(1.0) == 27.0


def test_a_redefined_function_itself_is_not_mixed_up(space: dict[str, Any]) -> None:
    run_cell(space, "def f(x):\n    return x * x\n")
    old = grad(space["f"])
    run_cell(space, "def f(x):\n    return x * 7.0\n")
    new = grad(space["f"])
    assert old(3.0) == 6.0
    assert new(3.0) == 7.0
    assert old(3.0) == 6.0


def test_a_callee_that_becomes_a_numpy_function_and_back(space: dict[str, Any]) -> None:
    run_cell(space, "def act(x):\n    return x * x\n")
    run_cell(space, "def f(x):\n    return np.sum(act(x))\n")
    df = grad(space["f"])
    np.testing.assert_allclose(df(V), 2.0 * V)
    space["act"] = np.sin
    np.testing.assert_allclose(df(V), np.cos(V))
    space["act"] = np.tanh
    np.testing.assert_allclose(df(V), 1.0 - np.tanh(V) ** 2)
    run_cell(space, "def act(x):\n    return x * 3.0\n")
    np.testing.assert_allclose(df(V), np.full(3, 3.0))


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        (operator.mul, "it(x[0], x[1]) * x[2]", operator.add),
        (max, "it([v * v for v in x], key=lambda v: v) * x[2]", min),
    ],
    ids=["operator", "max"],
)
def test_what_is_written_out_replaced(space: dict[str, Any], before: Any, text: str, after: Any) -> None:
    space["it"] = before
    run_cell(space, f"def f(x):\n    return {text}\n")
    df = grad(space["f"])
    np.testing.assert_allclose(df(V), numeric_gradient(space["f"], [V]), rtol=1e-6)
    space["it"] = after
    np.testing.assert_allclose(df(V), numeric_gradient(space["f"], [V]), rtol=1e-6)


def test_numpy_itself_replaced(space: dict[str, Any]) -> None:
    run_cell(space, "def f(x):\n    return np.square(x)\n")
    df = grad(space["f"])
    assert df(3.0) == 6.0

    def square(x: Any) -> Any:
        return x * x * x

    # A namespace of another kind may be refused; what it held before may not be used.
    space["np"] = types.SimpleNamespace(square=square)
    with contextlib.suppress(UnsupportedError):
        assert df(3.0) == 27.0
    space["np"] = np
    assert df(3.0) == 6.0


def test_a_builtin_shadowed_later(space: dict[str, Any]) -> None:
    run_cell(space, "def f(x):\n    return abs(x) * 2.0\n")
    df = grad(space["f"])
    assert df(-3.0) == -2.0
    run_cell(space, "def abs(x):\n    return x * x\n")
    assert df(-3.0) == -12.0
    del space["abs"]
    assert df(-3.0) == -2.0


def test_a_class_registered_later(space: dict[str, Any]) -> None:
    run_cell(
        space,
        """
        import abc
        class Product(abc.ABC): pass
        class Box:
            def __init__(self, v): self.v = v
        def f(x):
            box = Box(x[0])
            first = x[1] if isinstance(box, Product) else x[2]
            return box.v * first * (x[1] if isinstance(x, Product) else x[2])
        """,
    )
    df = grad(space["f"])
    np.testing.assert_allclose(df(V), [V[2] ** 2, 0.0, 2 * V[0] * V[2]])
    space["Product"].register(space["Box"])
    np.testing.assert_allclose(df(V), [V[1] * V[2], V[0] * V[2], V[0] * V[1]])
    space["Product"].register(np.ndarray)
    np.testing.assert_allclose(df(V), [V[1] ** 2, 2 * V[0] * V[1], 0.0])


def test_constants_are_read_live(space: dict[str, Any], compilations: list[str]) -> None:
    run_cell(space, "scale = 2.0\ndef f(x):\n    return np.sum(x * scale)\n")
    df = grad(space["f"])
    np.testing.assert_array_equal(df(V), np.full(3, 2.0))
    first = len(compilations)
    for number in (3.0, 0.5, -1.0):
        space["scale"] = number
        np.testing.assert_array_equal(df(V), np.full(3, number))
    assert len(compilations) == first, "another number must not lead to another compilation"
    # Another type may.
    for value in (4, np.float64(0.5), np.array([1.0, 2.0, 3.0]), 2.0):
        space["scale"] = value
        np.testing.assert_array_equal(df(V), np.broadcast_to(value, 3))


def test_a_constant_that_becomes_a_function_is_noticed(space: dict[str, Any]) -> None:
    run_cell(
        space, "def g(x):\n    return x * x\nmode = None\ndef f(x):\n    return g(x) if mode is None else mode(x)\n"
    )
    df = grad(space["f"])
    with contextlib.suppress(UnsupportedError):
        assert df(3.0) == 6.0
    run_cell(space, "def mode(x):\n    return x * 5.0\n")
    assert df(3.0) == 5.0


def test_a_callee_of_another_module_replaced(monkeypatch: pytest.MonkeyPatch, space: dict[str, Any]) -> None:
    from tests.language import other_module

    space["other_module"] = other_module
    run_cell(space, "def f(x):\n    return other_module.helper_of_helper(x)\n")
    df = grad(space["f"])
    assert df(0.5) == pytest.approx(5.0 * (np.cos(0.5) - 0.5 * np.sin(0.5)))
    replacement: dict[str, Any] = {}
    run_cell(replacement, "def helper(x):\n    return x * x\n")
    monkeypatch.setattr(other_module, "helper", replacement["helper"])
    assert df(0.5) == pytest.approx(3 * 0.25)
    monkeypatch.setattr(other_module, "helper_of_helper", replacement["helper"])
    assert df(0.5) == pytest.approx(1.0)


def test_a_changed_closure_cell_is_noticed() -> None:
    def square(x: Any) -> Any:
        return x * x

    def cube(x: Any) -> Any:
        return x * x * x

    inner = square
    scale = 1.0

    def f(x: Any) -> Any:
        return inner(x) * scale

    def switch(to: Any, factor: float) -> None:
        nonlocal inner, scale
        inner, scale = to, factor

    df = grad(f)
    assert df(2.0) == 4.0
    switch(square, 10.0)
    assert df(2.0) == 40.0
    switch(cube, 1.0)
    assert df(2.0) == 12.0
    switch(square, 1.0)
    assert df(2.0) == 4.0


def test_closures_of_one_factory_do_not_share_constants() -> None:
    def make(scale: float, inner: Any) -> Any:
        def f(x: Any) -> Any:
            return inner(x) * scale

        return f

    functions = [make(2.0, lambda x: x * x), make(3.0, lambda x: x * x), make(1.0, lambda x: x + x)]
    derivatives = [grad(f) for f in functions]
    for _ in range(2):
        assert [df(1.0) for df in derivatives] == [4.0, 6.0, 2.0]


def test_changed_defaults_are_seen(space: dict[str, Any]) -> None:
    run_cell(space, "def g(x, k=2.0):\n    return x * k\ndef f(x, n=1.0):\n    return g(x) * n\n")
    df = grad(space["f"])
    assert df(1.0) == 2.0
    space["g"].__defaults__ = (5.0,)
    assert df(1.0) == 5.0
    space["f"].__defaults__ = (3.0,)
    assert df(1.0) == 15.0


def test_replaced_code_object_is_seen(space: dict[str, Any]) -> None:
    """What `importlib.reload` helpers and IPython's autoreload do."""
    run_cell(space, "def f(x):\n    return x * x\n")
    other: dict[str, Any] = dict(space)
    run_cell(other, "def f(x):\n    return x * 3.0\n")
    df = grad(space["f"])
    assert df(2.0) == 4.0
    space["f"].__code__ = other["f"].__code__
    assert df(2.0) == 3.0


def test_different_options_do_not_mix(space: dict[str, Any]) -> None:
    run_cell(space, "def f(x, y):\n    return x * y * y\n")
    f = space["f"]
    assert grad(f)(2.0, 3.0) == 9.0
    assert grad(f, 1)(2.0, 3.0) == 12.0
    assert grad(f, (1, 0))(2.0, 3.0) == (12.0, 9.0)
    assert value_and_grad(f)(2.0, 3.0) == (18.0, 9.0)
    assert grad(f)(2.0, 3.0) == 9.0


def test_different_kinds_of_arguments_do_not_mix(space: dict[str, Any]) -> None:
    run_cell(space, "def f(x, w):\n    return np.sum(x * w)\n")
    df = grad(space["f"], (0, 1))
    for _ in range(2):
        assert df(2.0, 3.0) == (3.0, 2.0)
        x_bar, w_bar = df(V, 3.0)
        np.testing.assert_array_equal(x_bar, np.full(3, 3.0))
        assert w_bar == pytest.approx(V.sum())
        x_bar, w_bar = df(2.0, V)
        assert x_bar == pytest.approx(V.sum())
        np.testing.assert_array_equal(w_bar, np.full(3, 2.0))
        x_bar, w_bar = df(np.ones((2, 1)), V)
        assert x_bar.shape == (2, 1)
        np.testing.assert_array_equal(w_bar, np.full(3, 2.0))
        assert df(V.astype(np.float32), V)[0].dtype == np.float32


def test_two_threads_meet_at_the_first_call(space: dict[str, Any], compilations: list[str]) -> None:
    run_cell(space, "def g(x):\n    return np.sin(x) * x\ndef f(x):\n    return np.sum(g(x) * x)\n")
    alone = dict(space)
    run_cell(alone, "def g(x):\n    return np.sin(x) * x\ndef f(x):\n    return np.sum(g(x) * x)\n")
    expected = grad(alone["f"])(V)
    once = len(compilations)
    compilations.clear()
    df = grad(space["f"])
    barrier = threading.Barrier(4)
    results: list[Any] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            barrier.wait()
            results.append(df(V))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(results) == 4
    for result in results:
        np.testing.assert_array_equal(result, expected)
    assert len(compilations) == once, "every thread compiled for itself"


def test_redefinition_while_another_thread_calls(space: dict[str, Any]) -> None:
    run_cell(space, "def g(x):\n    return x * 2.0\ndef f(x):\n    return g(x)\n")
    df = value_and_grad(space["f"])
    stop = threading.Event()
    wrong: list[Any] = []

    def work() -> None:
        while not stop.is_set():
            value, gradient = df(1.0)
            # A call sees one of the definitions, never the value of one with the gradient of the other.
            if (value, gradient) not in ((2.0, 2.0), (3.0, 3.0)):
                wrong.append((value, gradient))

    thread = threading.Thread(target=work)
    thread.start()
    for k in range(20):
        run_cell(space, f"def g(x):\n    return x * {2.0 + k % 2}\n")
        df(1.0)
    stop.set()
    thread.join()
    assert not wrong


def test_functions_are_not_kept_alive_for_ever() -> None:
    """A loop that makes closures and differentiates them must not grow without bound."""
    import gc
    import weakref

    references = []
    for k in range(5):

        def f(x: Any, k: float = float(k)) -> Any:
            return x * k

        assert grad(f)(1.0) == k
        references.append(weakref.ref(f))
    del f
    gc.collect()
    dead = sum(reference() is None for reference in references)
    assert dead >= 3


def test_derivatives_made_by_many_threads_share_one_compilation(space: dict[str, Any], compilations: list[str]) -> None:
    run_cell(space, "def f(x):\n    return np.sum(np.sin(x) * x)\n")
    barrier = threading.Barrier(4)
    results: list[Any] = []

    def work() -> None:
        barrier.wait()
        results.append(grad(space["f"])(V))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len(compilations) == 1


def test_a_wrapper_does_not_get_the_derivatives_of_what_it_wraps(space: dict[str, Any]) -> None:
    import functools

    run_cell(space, "def f(x):\n    return x * x\n")
    assert grad(space["f"])(3.0) == 6.0

    @functools.wraps(space["f"])
    def g(x: Any) -> Any:
        return x * x * x

    assert grad(g)(3.0) == 27.0
    assert grad(space["f"])(3.0) == 6.0


def test_changed_defaults_of_keywords_are_seen(space: dict[str, Any]) -> None:
    run_cell(space, "def f(x, *, n=1.0, m):\n    return x * n * m\n")
    df = grad(space["f"])
    assert df(1.0, m=2.0) == 2.0
    space["f"].__kwdefaults__ = {"n": 5.0}
    assert df(1.0, m=2.0) == 10.0
    space["f"].__kwdefaults__["n"] = 7.0
    assert df(1.0, m=2.0) == 14.0


def test_arguments_of_one_type_and_other_contents_do_not_mix(space: dict[str, Any]) -> None:
    run_cell(space, "def f(p):\n    return np.sum(p[0] * p[1])\n")
    df = grad(space["f"])
    for _ in range(2):
        assert df([2.0, 3.0]) == [3.0, 2.0]
        first, second = df([V, 2.0])
        np.testing.assert_array_equal(first, np.full(3, 2.0))
        assert second == pytest.approx(V.sum())
        first, second = df([np.ones((2, 3)), V])
        assert first.shape == (2, 3)
        np.testing.assert_array_equal(second, np.full(3, 2.0))


def test_arrays_that_classes_have(space: dict[str, Any], compilations: list[str]) -> None:
    """A guard on an attribute of a class that is an array holds as long as its numbers are the same."""
    run_cell(
        space,
        """
        class Holder:
            v = np.array([1.0, 2.0, 3.0])
            w = ("a", np.ones(3))
        def f(x):
            h = Holder()
            return np.sum(h.v * h.w[1] * x * x)
        """,
    )
    df = grad(space["f"])
    first = df(V)
    known = len(compilations)
    space["Holder"].v = np.array([1.0, 2.0, 3.0])
    space["Holder"].w = ("a", np.ones(3))
    np.testing.assert_array_equal(df(V), first)
    assert len(compilations) == known
    for v in (np.array([2.0, 4.0, 6.0]), np.float32(2.0)):
        space["Holder"].v = v
        np.testing.assert_allclose(df(V), 2.0 * v * V)


def test_what_is_known_of_sizes_is_compiled_for_a_few_times() -> None:
    """Arguments of ever other sizes do not compile for ever."""

    def f(x, y):
        return np.sum(x[2:5]) * np.sum(y**2)

    df = grad(f)
    for n in range(1, 12):
        for m in range(1, 12):
            x, y = np.arange(1.0, n + 1), np.full(m, 0.5)
            expected = np.where(np.isin(np.arange(n), (2, 3, 4)), m / 4.0, 0.0)
            np.testing.assert_allclose(df(x, y), expected)
    assert len(variants(f)._made) < 20


def moved(x: Any, n: Any) -> Any:
    y = x if n > 2 else x * 1.0
    y[0] = y[1] * 2.0
    return np.sum(y**3)


slope = grad(moved)


def slopes(x: Any) -> Any:
    a = slope(x, 3)
    return np.sum(a * slope(a, 1)) + np.sum(slope(x, 2))


def test_what_is_refused_is_compiled_once_in_a_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text for arguments of any kind, which may be no arrays, is asked for at each look at the name.

    It is compiled for what may be an array, and once more for a number.
    """
    original, asked = caches.compile_gradient, []

    def counted(function: Any, wrt: Any, facts: Any, *args: Any) -> Any:
        *_, numbers, _ = args
        asked.append((function, tuple(facts), numbers))
        return original(function, wrt, facts, *args)

    monkeypatch.setattr(caches, "compile_gradient", counted)
    got = grad(slopes)(V)
    assert asked.count((moved, (), False)) == asked.count((moved, (), True)) == 1
    np.testing.assert_allclose(got, numeric_gradient(slopes, [V]), rtol=1e-6, atol=1e-6)
    grad(lambda x: np.sum(slope(x, 3)))(V)
    assert asked.count((moved, (), False)) == 2, "something may have changed since"
