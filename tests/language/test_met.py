"""Calls of which it is known at run time only what they run, wherever that comes from and wherever they stand.

Each program is run as Python runs it, and must give the same value after the same calls; its gradient is that of
differences.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import itertools
import math
import operator
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, value_and_grad, vjp
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7, 1.1])
CALLS: list[str] = []


def square(t: Any) -> Any:
    CALLS.append("square")
    return t * t


def scaled(k: Any, t: Any) -> Any:
    return k * np.sin(t)


def closed(k: float) -> Callable[[Any], Any]:
    def inner(t: Any) -> Any:
        CALLS.append("closed")
        return k * t * np.cos(t)

    return inner


def decorated(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(function)
    def wrapper(t: Any) -> Any:
        return 2.0 * function(t) + t

    return wrapper


class Layer:
    weight = 0.5

    def __init__(self, k: float, act: Callable[[Any], Any]) -> None:
        self.k = k
        self.act = act

    def __call__(self, t: Any) -> Any:
        return self.act(self.k * t)

    def forward(self, t: Any) -> Any:
        return self(t) + self.shifted(t)

    @staticmethod
    def shifted(t: Any) -> Any:
        return t * t + 1.0

    @classmethod
    def weighted(cls, t: Any) -> Any:
        return cls.weight * t * t


def looping(t: Any) -> Any:
    y = t
    for i in range(3):
        if i % 2 == 0:
            y = np.tanh(y) * t
        else:
            y = y + i
    return y


CALLEES: dict[str, Any] = {
    "function": square,
    "lambda": lambda t: t * np.exp(-t),
    "closure": closed(1.5),
    "method": Layer(1.2, np.sin).forward,
    "object": Layer(0.7, square),
    "classmethod": Layer(1.0, np.sin).weighted,
    "staticmethod": Layer.shifted,
    "partial": functools.partial(scaled, 2.5),
    "decorated": decorated(square),
    "loop": looping,
    "identity": lambda t: t,
    "view": lambda t: t[...],
    "constant": lambda t: 2.0,
    "ufunc": np.tanh,
    "numpy": np.cumsum,
    "operator": operator.neg,
}
#: How the callee is written in a program, by where it comes from.
ORIGINS = {
    "parameter": "f",
    "attribute": "box.act",
    "item of a dict": "table['k']",
    "item of a list": "box.items[0]",
    "result": "chosen(f)",
    "local": "g",
    "conditional": "(f if len(table) else None)",
}
PROGRAMS = {
    "straight": """
    y = CALL(x)
    return np.sum(y * x)
""",
    "twice": """
    return np.sum(CALL(CALL(x) * 0.5) + x)
""",
    "loop": """
    y = x
    for i in range(3):
        y = 0.3 * CALL(y) + x * i
    return np.sum(y)
""",
    "branch": """
    if np.sum(x) > 0.0:
        y = CALL(x)
    else:
        y = x
    return np.sum(y * y)
""",
    "branch of a loop": """
    s = 0.0
    for i in range(4):
        if i % 2:
            s = s + np.sum(CALL(x * i))
        else:
            s = s * 2.0
    return s
""",
    "condition": """
    if np.sum(CALL(x)) > 1e6:
        return np.sum(x)
    return np.sum(x * x)
""",
    "while": """
    n = 0
    y = x
    while np.sum(CALL(y)) < 1e3 and n < 3:
        y = y * 1.5
        n += 1
    return np.sum(y)
""",
    "known function": """
    return np.sum(applied(f, x) * x)
""",
    "statement": """
    y = x * x
    CALL(y)
    return np.sum(y * x)
""",
    "unused": """
    y = x * x
    for i in range(2):
        w = CALL(y)
    return np.sum(y * x)
""",
    "stores": """
    u = np.zeros(3)
    for i in range(3):
        u[i] = np.sum(CALL(x)) * i
    u *= x
    return np.sum(u)
""",
    "overwritten": """
    u = x * 1.0
    y = CALL(u) + 0.0
    u[0] = 5.0
    return np.sum(y * y * u)
""",
}
HEAD = """
import numpy as np


def chosen(f):
    return f


def applied(f, x):
    return f(x)
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    text = [HEAD]
    for (i, origin), (j, program) in itertools.product(enumerate(ORIGINS), enumerate(PROGRAMS)):
        start = "    g = box.act\n" if origin == "local" else ""
        body = PROGRAMS[program].lstrip("\n").replace("CALL", ORIGINS[origin])
        text.append(f"\n\ndef program_{i}_{j}(f, box, table, x):\n{start}{body}")
    path: Path = tmp_path_factory.mktemp("met") / "met_programs.py"
    path.write_text("".join(text))
    spec = importlib.util.spec_from_file_location("met_programs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(f: Callable[..., Any], *args: Any) -> tuple[Any, list[str]]:
    CALLS.clear()
    return f(*args), list(CALLS)


#: What is refused since the result, that may be the argument, is written or that is.
REFUSED = {("overwritten", "identity"), ("overwritten", "view")}


#: Half of the cells, in which each origin meets every other place.
CELLS = [(o, p) for i, o in enumerate(ORIGINS) for j, p in enumerate(PROGRAMS) if (i + j) % 2 == 0]


@pytest.mark.parametrize(("origin", "program"), CELLS)
def test_calls_by_origin_and_place(programs: ModuleType, origin: str, program: str) -> None:
    f = getattr(programs, f"program_{list(ORIGINS).index(origin)}_{list(PROGRAMS).index(program)}")
    for name, callee in CALLEES.items():
        box = SimpleNamespace(act=callee, items=[callee])
        args = (callee, box, {"k": callee})
        value, calls = run(f, *args, X.copy())
        if (program, name) in REFUSED:
            with pytest.raises(Exception, match="may be known elsewhere"):
                grad(f, 3)(*args, X)
            continue
        (again, gradient), seen = run(value_and_grad(f, 3), *args, X)
        assert np.array_equal(value, again), name
        assert calls == seen, name
        expected = numeric_gradient(lambda x, a=args: f(*a, x), (X,))  # type: ignore[misc]
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8, err_msg=name)


def test_a_pullback_runs_again_and_again() -> None:
    def f(g: Callable[[Any], Any], x: Any) -> Any:
        y = x
        for _ in range(2):
            y = g(y)
        return y

    _, pullback = vjp(f, looping, X, argnums=1)
    first = pullback(np.ones(3))[0]
    np.testing.assert_array_equal(pullback(np.ones(3))[0], first)
    np.testing.assert_allclose(pullback(2.0 * np.ones(3))[0], 2.0 * first)


# --- as people write it -----------------------------------------------------------------------------------------------


def rk4(f: Any, y: Any, t: Any, dt: Any) -> Any:
    k1 = f(t, y)
    k2 = f(t + dt / 2, y + dt / 2 * k1)
    k3 = f(t + dt / 2, y + dt / 2 * k2)
    k4 = f(t + dt, y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def solved(f: Any, y0: Any, steps: int) -> Any:
    y, t = y0, 0.0
    for _ in range(steps):
        y = rk4(f, y, t, 0.1)
        t = t + 0.1
    return np.sum(y)


def newton(g: Any, dg: Any, x0: Any, a: Any) -> Any:
    x = x0
    for _ in range(50):
        if abs(g(x, a)) < 1e-14:
            break
        x = x - g(x, a) / dg(x, a)
    return x


def integrate(f: Any, a: Any, b: Any, n: int = 20) -> Any:
    h = (b - a) / n
    s = 0.5 * (f(a) + f(b))
    for i in range(1, n):
        s = s + f(a + i * h)
    return s * h


ACTIVATIONS = {"tanh": np.tanh, "relu": lambda t: np.maximum(t, 0.0), "square": square}


def activated(name: str, x: Any) -> Any:
    return np.sum(ACTIVATIONS[name](x) * x)


class Kernel:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __call__(self, a: Any, b: Any) -> Any:
        return np.exp(-np.sum((a - b) ** 2) / self.scale)


class Process:
    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.points = [np.array([0.0, 1.0, 2.0]), np.ones(3)]

    def loss(self, x: Any) -> Any:
        total = 0.0
        for point in self.points:
            total = total + self.kernel(x, point)
        return total


class Dense:
    def __init__(self, w: Any, act: Any) -> None:
        self.w = w
        self.act = act

    def forward(self, x: Any) -> Any:
        return self.act(x @ self.w)

    __call__ = forward


class Network:
    def __init__(self, layers: list[Any]) -> None:
        self.layers = layers

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer.forward(x)
        return np.sum(x * x)

    def called(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return np.sum(x * x)


class Tree:
    def __init__(self, *children: Any, f: Any = None) -> None:
        self.children = children
        self.f = f

    def value(self, x: Any) -> Any:
        if not self.children:
            return self.f(x)
        total = 1.0
        for child in self.children:
            total = total * child.value(x)
        return total


def watched(x: Any, callback: Any = None) -> Any:
    for _ in range(3):
        x = x * x + 0.1
        if callback is not None:
            callback(x)
    return np.sum(x)


def counted(_: Any) -> None:
    CALLS.append("callback")


def with_options(f: Any, x: Any) -> Any:
    return np.sum(f(b=x, k=2.0))


def options(a: float = 3.0, *, b: Any, k: float) -> Any:
    return a * b * b + k


def pairs(f: Any, x: Any) -> Any:
    a, b = f(x)
    return np.sum(a * b)


def fields(f: Any, x: Any) -> Any:
    found = f(x)
    return np.sum(found["a"] * x) + found["b"]


def several(f: Any, x: Any) -> Any:
    return np.sum(f([x, 2.0 * x]))


def nothing(f: Any, x: Any) -> Any:
    y = f(x)
    if y is None:
        return np.sum(x * x)
    return np.sum(y)


def of_complex(f: Any, x: Any) -> Any:
    return np.sum(np.abs(f(x)) ** 2)


def with_default(x: Any, f: Any = square) -> Any:
    return np.sum(f(x))


W = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.1, 0.2]])
NETWORK = Network([Dense(W, np.tanh), Dense(W.T, lambda t: 1.0 / (1.0 + np.exp(-t)))])
TREE = Tree(Tree(Tree(f=np.sin), Tree(f=square)), Tree(f=lambda t: t * 2.0))
EXAMPLES: dict[str, tuple[Any, tuple[Any, ...], int]] = {
    "rk4": (solved, (lambda t, y: t - y * y, X, 5), 1),
    "rk4 of a closure": (solved, ((lambda k: lambda t, y: -k * y)(2.0), X, 5), 1),
    "newton": (newton, (lambda t, a: t * t - a, lambda t, a: 2.0 * t, 1.5, 2.0), 3),
    "integral": (integrate, (lambda t: np.exp(-t * t), 0.0, 1.0), 2),
    "integral of math": (integrate, (math.sin, 0.1, 1.0), 1),
    **{f"activation {name}": (activated, (name, X), 1) for name in ACTIVATIONS},
    "kernel": (Process(Kernel(1.3)).loss, (X,), 0),
    "kernel that is a lambda": (Process(lambda a, b: np.sum(a * b * b)).loss, (X,), 0),
    "layers": (NETWORK.forward, (X,), 0),
    "layers that are called": (NETWORK.called, (X,), 0),
    "tree": (lambda tree, x: np.sum(tree.value(x)), (TREE, X), 1),
    "no callback": (watched, (X,), 0),
    "callback": (watched, (X, counted), 0),
    "options": (with_options, (options, X), 1),
    "tuple": (pairs, (lambda t: (t * t, np.sin(t)), X), 1),
    "list": (pairs, (lambda t: [t * t, np.sin(t)], X), 1),
    "rows": (pairs, (lambda t: np.stack([t * t, np.sin(t)]), X), 1),
    "dict": (fields, (lambda t: {"a": t * t, "b": np.sum(t)}, X), 1),
    "argument that is a list": (several, (lambda items: items[0] * items[1], X), 1),
    "argument that is a list, to NumPy": (several, (np.concatenate, X), 1),
    "None": (nothing, (lambda t: None, X), 1),
    "complex result": (of_complex, (lambda t: np.exp(1j * t) * t, X), 1),
    "complex argument": (of_complex, (lambda t: t * t, X * (1.0 + 2.0j)), 1),
    "default": (with_default, (X,), 0),
    "float": (lambda f, x: f(x) * x, (float, 0.7), 1),
    "index": (lambda f, a, x: np.sum(a[int(f(x)[0])] * x), (np.sin, np.ones(3), X), 2),
    "position": (lambda f, x: np.sum(x) * f(x), (np.argmax, X), 1),
    "length": (lambda f, x: np.sum(x) * f(x), (len, X), 1),
    "with a whole number": (lambda f, x: np.sum(f(len(x), x)), (operator.mul, X), 1),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_programs_as_people_write_them(name: str) -> None:
    f, args, at = EXAMPLES[name]
    value, calls = run(f, *args)
    (again, gradient), seen = run(value_and_grad(f, at), *args)
    assert np.array_equal(value, again)
    assert type(value) is type(again)
    assert calls == seen
    expected = numeric_gradient(lambda x: f(*args[:at], x, *args[at + 1 :]), (args[at],))
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)


def test_single_precision_stays() -> None:
    f: Any = lambda g, x: np.sum(g(x) ** 2)  # noqa: E731
    x = X.astype(np.float32)
    found = grad(f, 1)(lambda t: t * np.float32(2.0), x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, 8.0 * x, rtol=1e-6)


def test_what_is_called_is_found_anew_each_time() -> None:
    box = SimpleNamespace(act=np.sin)
    df = grad(lambda b, x: np.sum(b.act(x)), 1)
    np.testing.assert_allclose(df(box, X), np.cos(X))
    box.act = square
    np.testing.assert_allclose(df(box, X), 2.0 * X)


def test_a_function_that_is_given_other_code_is_differentiated_anew() -> None:
    def g(t: Any) -> Any:
        return t * t

    df = grad(lambda f, x: np.sum(f(x)), 1)
    np.testing.assert_allclose(df(g, X), 2.0 * X)
    g.__code__ = (lambda t: t * t * t).__code__
    np.testing.assert_allclose(df(g, X), 3.0 * X * X)


def test_the_saved_text_runs_by_itself(tmp_path: Path) -> None:
    text = grad(rk4, argnames="y").source
    space: dict[str, Any] = {}
    exec(text, space)
    found = space["rk4_grad_y"](lambda t, y: -y, 1.0, 0.0, 0.1)
    assert found == pytest.approx(numeric_gradient(lambda y: rk4(lambda t, v: -v, y, 0.0, 0.1), (1.0,)))


def product_with(k: Any) -> Callable[[Any], Any]:
    return lambda t: t * k * 2.0


def applied(f: Any, x: Any) -> Any:
    return np.sum(f(x))


def keyword_only(k: Any) -> Callable[..., Any]:
    return lambda *, t: t * k


def by_name(f: Any, x: Any) -> Any:
    return np.sum(f(t=x))


def recursive(k: float) -> Callable[..., Any]:
    def power(t: Any, n: int) -> Any:
        return t * k if n == 0 else power(t, n - 1) * t

    return power


def test_closures_of_one_code_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    df = grad(applied, 1)
    df(product_with(2.0), X)
    with monkeypatch.context() as patched:
        patched.setattr("s2sad.variants.compile_gradient", None)
        np.testing.assert_allclose(df(product_with(3.0), X), 6.0 * np.ones(3))
    # What is captured is of another kind.
    for k in (np.ones((2, 1)), 2.0, X, np.float32(2.0), 1.0j, 2.0):
        found = vjp(applied, product_with(k), X, argnums=1)[1](1.0)[0]
        np.testing.assert_allclose(found, np.real(np.broadcast_to(2.0 * np.sum(np.atleast_2d(k), axis=0), (3,))))
    for k in (2.0, 3.0):
        np.testing.assert_allclose(grad(by_name, 1)(keyword_only(k), X), k * np.ones(3))
        found = grad(lambda f, x: np.sum(f(x, 2)), 1)(recursive(k), X)
        np.testing.assert_allclose(found, 3.0 * k * X**2)


CURVES = {"sin": np.sin, "cos": np.cos}


def apart(t: Any, name: str, items: list[Any]) -> Any:
    """A function that calls itself with other shapes, and what it finds under a name."""
    if name == "sin":
        return np.concatenate((apart(t[:2], "cos", items), t))
    items[0] = 1.0
    return CURVES[name](t) * 2.0


def test_recursive_functions_with_calls_that_are_met_and_containers_that_change() -> None:
    def f(x: Any) -> Any:
        return np.sum(apart(x, "sin", [2.0]))

    # It may be refused, but the analysis has to end.
    with contextlib.suppress(S2SADError):
        np.testing.assert_allclose(grad(f)(X), [1.0, 1.0, 1.0] - 2.0 * np.sin(X) * [1.0, 1.0, 0.0])


# --- chosen by what is an argument as well, where the caller gives none

KINDS = np.array([[0, 1], [1, 0]])


def sum_of_squares(t: Any) -> Any:
    return np.sum(t**2)


def sum_of_sines(t: Any) -> Any:
    return np.sum(np.sin(t))


def chosen_by_kind(kind: Any) -> Callable[[Any], Any]:
    rules = {0: sum_of_squares, 1: sum_of_sines}
    return rules[kind]


def by_a_rule_or_its_kind(kinds: Any, x: Any, i: int, rule: Any = None) -> Any:
    if rule is None:
        rule = chosen_by_kind(kinds[i, 0])
    return rule(x)


def of_all_kinds(x: Any) -> Any:
    return sum(by_a_rule_or_its_kind(KINDS, x, i) for i in range(len(KINDS)))


def of_all_kinds_and_a_rule(x: Any) -> Any:
    total = by_a_rule_or_its_kind(KINDS, x, 1, np.linalg.norm)
    for i in range(len(KINDS)):
        total = total + by_a_rule_or_its_kind(KINDS, x * (i + 1), i)
    return total


@pytest.mark.parametrize("f", [of_all_kinds, of_all_kinds_and_a_rule], ids=lambda f: f.__name__)
def test_a_rule_that_is_chosen_where_none_is_given(f: Callable[[Any], Any]) -> None:
    assert value_and_grad(f)(X)[0] == f(X)
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,), 0), rtol=1e-8)
