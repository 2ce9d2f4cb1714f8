"""Branches that arguments rule out: source and types in, source out; and what a call then does, beside Python."""

from __future__ import annotations

import ast
import itertools
import linecache
import textwrap
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np
import pytest

from s2sad import grad, jvp, stop_gradient, value_and_grad, vjp
from s2sad.errors import UnsupportedError
from s2sad.frontend.source import MADE, read_source
from s2sad.ir.types import FLOAT, NONE, OPEN, Fact, constant
from s2sad.pipeline.untaken import decisions, without_untaken
from tests.oracle import numeric_gradient

ON, OFF, FAST = constant(True), constant(False), constant("fast")
ARRAY = Fact("array")


def defined(text: str) -> Any:
    """The function ``f`` of a text."""
    filename = f"<untaken {hash(text)}>"
    space: dict[str, Any] = {"__name__": "untaken"}
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), space)
    return space["f"]


def taken(body: str, **facts: Fact) -> str:
    """The body of a function of these parameters, without the branches that their types rule out."""
    f = defined(f"def f({', '.join(facts)}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n")
    source = read_source(f, generators=True)
    classes = {"float": (float,), "list": (list,), "np.ndarray": (np.ndarray,)}
    decided = decisions(source, facts, lambda text: classes.get(text, ()))
    made = without_untaken(source, decided) if decided else f
    if made is None:
        return "as it is"
    node = gast.gast_to_ast((made.__dict__.get(MADE) or source).node)
    return "\n".join(ast.unparse(statement) for statement in node.body)


@pytest.mark.parametrize(
    ("body", "facts", "expected"),
    [
        ("if a:\n    return 1\nreturn 2", {"a": ON}, "return 1"),
        ("if a:\n    return 1\nreturn 2", {"a": OFF}, "return 2"),
        ("if a:\n    return 1\nreturn 2", {"a": OPEN}, "if a:\n    return 1\nreturn 2"),
        ("if not a and b:\n    return 1\nreturn 2", {"a": ON, "b": OPEN}, "return 2"),
        ("if b and a:\n    return 1\nreturn 2", {"a": OFF, "b": OPEN}, "if b and a:\n    return 1\nreturn 2"),
        ("if a is None:\n    a = 1\nif a is None:\n    a = 2\nreturn a", {"a": NONE},
         "a = 1\nif a is None:\n    a = 2\nreturn a"),
        ("if a is None:\n    a = 1\nif a is None:\n    a = 2\nreturn a", {"a": ARRAY}, "return a"),
        ("return 1 if a == 'fast' else 2", {"a": FAST}, "return 1"),
        ("return 1 if a in ('slow', 'safe') else 2", {"a": FAST}, "return 2"),
        ("a = 1 if a is None else a\nreturn a", {"a": NONE}, "a = 1\nreturn a"),
        ("if isinstance(a, float):\n    return 1\nreturn 2", {"a": ARRAY}, "return 2"),
        ("if isinstance(a, (float, np.ndarray)):\n    return 1\nreturn 2", {"a": ARRAY}, "return 1"),
        ("if isinstance(a, Strange):\n    return 1\nreturn 2", {"a": ARRAY},
         "if isinstance(a, Strange):\n    return 1\nreturn 2"),
        ("while b:\n    if a:\n        break\n    b = b - 1\nreturn b", {"a": OFF, "b": FLOAT},
         "while b:\n    b = b - 1\nreturn b"),
        ("for i in b:\n    if a:\n        return i\n    a = True\nreturn b", {"a": OFF, "b": OPEN},
         "for i in b:\n    if a:\n        return i\n    a = True\nreturn b"),
        ("if a:\n    pass\nelse:\n    while b:\n        if a:\n            b = 1\nreturn b", {"a": OFF, "b": FLOAT},
         "while b:\n    pass\nreturn b"),
        ("g = lambda a: 1 if a else 2\nreturn g(b)", {"a": OFF, "b": FLOAT},
         "g = lambda a: 1 if a else 2\nreturn g(b)"),
        ("g = lambda b: 1 if a else b\nreturn g(b)", {"a": OFF, "b": FLOAT}, "g = lambda b: b\nreturn g(b)"),
        ("g = lambda: 1 if a else b\na = True\nreturn g()", {"a": OFF, "b": FLOAT},
         "g = lambda: 1 if a else b\na = True\nreturn g()"),
        ("if (a := b) and a:\n    return 1\nreturn 2", {"a": OFF, "b": ON},
         "if (a := b) and a:\n    return 1\nreturn 2"),
        ("del a\nif a:\n    return 1\nreturn 2", {"a": ON}, "del a\nif a:\n    return 1\nreturn 2"),
        ("if a:\n    c = 1\nreturn c", {"a": OFF}, "as it is"),
        ("if a:\n    yield 1\nyield 2", {"a": OFF}, "if a:\n    yield 1\nyield 2"),
        ("if a:\n    return 1\nreturn f(True)", {"a": OFF}, "if a:\n    return 1\nreturn f(True)"),
        ("try:\n    if a:\n        raise ValueError\nfinally:\n    b = 1\nreturn b", {"a": ON, "b": OPEN},
         "try:\n    raise ValueError\nfinally:\n    b = 1\nreturn b"),
        ("try:\n    b = 1\nfinally:\n    if a:\n        b = 2\nreturn b", {"a": OFF, "b": OPEN},
         "try:\n    b = 1\nfinally:\n    pass\nreturn b"),
    ],
)  # fmt: skip
def test_source(body: str, facts: dict[str, Fact], expected: str) -> None:
    assert taken(body, **facts) == expected


# --- what calls do


def model(x: Any, offset: Any = None, scaled: bool = False, mode: str = "sum", shown: bool = False) -> Any:
    if offset is None:
        offset = 0.5
    y = x - offset
    if shown:
        Unknown.plot(y)  # type: ignore[name-defined]  # noqa: F821
    if scaled and mode != "raw":
        y = y * 3.0
    if mode not in ("sum", "raw", "norm"):
        raise ValueError(mode)
    if mode == "norm":
        return np.sqrt(np.sum(y**2))
    return np.sum(y**3) if scaled else np.sum(y**2)


X = np.array([0.3, -0.7, 2.1])
CHOICES = list(
    itertools.product(
        (None, 0.25, np.array([0.1, 0.2, -0.3])), (False, True), ("sum", "raw", "norm"), (False, np.False_)
    )
)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_each_choice_of_branches(choice: tuple[Any, ...]) -> None:
    expected = numeric_gradient(lambda x: model(x, *choice), (X,))
    value, gradient = value_and_grad(model)(X, *choice)
    assert value == model(X, *choice)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)
    if choice[-1] is False:
        _, tangent = jvp(lambda x: model(x, *choice), (X,), (np.ones(3),))
        np.testing.assert_allclose(tangent, np.sum(expected), rtol=1e-7)
        _, pullback = vjp(model, X, *choice, argnums=0)
        np.testing.assert_allclose(pullback(1.0)[0], expected, rtol=1e-7)


def test_another_value_takes_another_branch() -> None:
    derivative = grad(model)
    for scaled in (False, True, False):
        expected = numeric_gradient(lambda x, s=scaled: model(x, scaled=s), (X,))
        np.testing.assert_allclose(derivative(X, scaled=scaled), expected, rtol=1e-7)
    with pytest.raises(ValueError, match="other"):
        derivative(X, mode="other")
    with pytest.raises((UnsupportedError, NameError)):
        derivative(X, shown=True)


def test_many_texts_share_a_variant() -> None:
    derivative = grad(model)
    for number in range(20):
        with pytest.raises(ValueError, match=f"mode {number}"):
            derivative(X, mode=f"mode {number}")
    np.testing.assert_allclose(derivative(X, mode="norm"), (X - 0.5) / np.linalg.norm(X - 0.5), rtol=1e-12)


def test_the_text_says_for_which_values_it_is() -> None:
    # Of one parameter the first few texts count: other tests have met more.
    fresh = types.FunctionType(model.__code__, model.__globals__, "model", model.__defaults__)
    text = grad(fresh).source_for(X, None, True, "norm")
    assert "# for offset=None, scaled=True, mode='norm', shown=False" in text
    assert "plot" not in text
    assert "if scaled" in grad(model).source


def with_default(x: Any, power: Any = None) -> Any:
    return x if power is None else x**power


def calls(x: Any) -> Any:
    return np.sum(with_default(x) * with_default(x, 3) * with_default(x, power=stop_gradient(2.0)))


def by_turns(x: Any, n: int, flag: bool = True) -> Any:
    if n == 0:
        return x
    return other_turn(x * 2.0, n, not flag) if flag else other_turn(x * x, n - 1, not flag)


def other_turn(x: Any, n: int, flag: bool) -> Any:
    if flag:
        return by_turns(np.sin(x), n, False)
    return by_turns(x + 1.0, n - 1, n % 2 == 0)


def turning(x: Any) -> Any:
    return np.sum(by_turns(x, 3))


class Layer:
    def __init__(self, w: Any) -> None:
        self.w = w

    def __call__(self, x: Any, training: bool = False, activation: str | None = None) -> Any:
        y = self.w * x
        if training:
            y = Unknown.drop(y)  # type: ignore[name-defined]  # noqa: F821
        return np.tanh(y) if activation == "tanh" else y


LAYER = Layer(np.array([0.4, 0.5, -0.6]))


def layered(x: Any) -> Any:
    return np.sum(LAYER(x) * LAYER(x, activation="tanh") + LAYER(x, False, "none"))


def met(x: Any, f: Any) -> Any:
    return np.sum(f(x, None) + f(x, 2.0))


@pytest.mark.parametrize("f", [calls, turning, layered, lambda x: met(x, with_default)])
def test_callees(f: Callable[[Any], Any]) -> None:
    expected = numeric_gradient(f, (np.abs(X),))
    np.testing.assert_allclose(grad(f)(np.abs(X)), expected, rtol=1e-6)


def test_a_default_that_is_replaced() -> None:
    def f(x: Any, twice: bool = False) -> Any:
        if twice:
            x = x * 2.0
        return np.sum(x)

    def g(x: Any) -> Any:
        return f(x)

    derivative = grad(g)
    assert list(derivative(X)) == [1.0, 1.0, 1.0]
    f.__defaults__ = (True,)
    assert list(derivative(X)) == [2.0, 2.0, 2.0]
