"""`stop_gradient`: the identity on any object, a constant to every derivative, and no adjoint statement."""

# Old random functions are what people call under a stop.
# ruff: noqa: NPY002

from __future__ import annotations

import ast
import bisect
import math
import random
import re
from typing import Any

import numpy as np
import pytest

import s2sad
import s2sad as tool
from s2sad import grad, stop_gradient, value_and_grad
from s2sad import stop_gradient as sg

V = np.array([0.3, -1.2, 2.5])
W = np.array([1.5, 0.25, -0.75])
rebound_name = s2sad.stop_gradient
table = {"stop": stop_gradient}


class Anything:
    """An object of no particular kind."""


@pytest.mark.parametrize(
    "thing",
    [
        None,
        3,
        2.5,
        "word",
        b"bytes",
        V,
        np.float32(1.0),
        np.array(["a"]),
        [V, W],
        (V, {"a": [W]}),
        {"k": V},
        {1, 2},
        Anything(),
        len,
        Anything,
        lambda x: x,
        iter([1]),
        object(),
        np,
        NotImplemented,
        np.array([None, V], dtype=object),
        range(3),
        math.nan,
        1j,
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_returns_the_very_object(thing: Any) -> None:
    assert stop_gradient(thing) is thing
    assert stop_gradient(thing, name="label") is thing
    assert stop_gradient(stop_gradient(thing)) is thing


def test_identity_keeps_flags_and_order() -> None:
    a = np.asfortranarray(np.ones((2, 3)))[:, ::2]
    a.flags.writeable = False
    b = stop_gradient(a)
    assert b is a
    assert not b.flags.writeable


def names_with_adjoint(source: str) -> set[str]:
    """The variables for which the emitted text has an adjoint, by its naming rule."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and (match := re.fullmatch(r"(\w+?)_bar\d*", node.id)):
            found.add(match[1])
    return found


def softmax(x: Any, w: Any) -> Any:
    m = np.max(x)
    shift = stop_gradient(m)
    e = np.exp(x - shift)
    return np.sum(e / np.sum(e) * w)


def test_what_feeds_only_a_stop_has_no_adjoint() -> None:
    df = grad(softmax)
    p = np.exp(V) / np.sum(np.exp(V))
    np.testing.assert_allclose(df(V, W), p * (W - p @ W), rtol=1e-12)
    assert not names_with_adjoint(df.source) & {"m", "shift"}
    assert "argmax" not in df.source
    assert df.source.count("np.max") == 1


def softmax_tie(x: Any) -> Any:
    e = np.exp(x - stop_gradient(np.max(x)))
    return np.sum(e * x) / np.sum(e)


def test_ties_do_not_matter_under_a_stop() -> None:
    x = np.array([2.0, 2.0, -1.0])
    p = np.exp(x) / np.sum(np.exp(x))
    np.testing.assert_allclose(grad(softmax_tie)(x), p * (1.0 + x - p @ x), rtol=1e-12)


def product(x: Any) -> Any:
    return x * stop_gradient(x)


def test_half_of_a_product() -> None:
    assert grad(product)(3.0) == 3.0


def whole(x: Any) -> Any:
    return np.sum(stop_gradient(x) * 3.0)


def test_everything_stopped_gives_zeros_of_the_right_kind() -> None:
    g = grad(whole)(V.astype(np.float32))
    assert g.dtype == np.float32
    np.testing.assert_array_equal(g, np.zeros(3, np.float32))
    assert grad(whole)(2.0) == 0.0
    assert not names_with_adjoint(grad(whole).source) - {"x"}


def by_attribute(x: Any) -> Any:
    return s2sad.stop_gradient(x) * x


def by_alias_of_module(x: Any) -> Any:
    return tool.stop_gradient(x) * x


def by_alias(x: Any) -> Any:
    return sg(x) * x


def by_other_global(x: Any) -> Any:
    return rebound_name(x) * x


def by_local_import(x: Any) -> Any:
    stop = stop_gradient
    return stop(x) * x


def by_keyword(x: Any) -> Any:
    return stop_gradient(x=x) * x


def by_name_argument(x: Any) -> Any:
    return stop_gradient(x, name="frozen factor") * x


def by_positional_name(x: Any) -> Any:
    return stop_gradient(x, "frozen factor") * x


def by_nesting(x: Any) -> Any:
    return sg(sg(sg(x))) * x


def by_alias_on_one_line(x: Any) -> Any:
    stop = s2sad.stop_gradient; return stop(x) * x  # noqa: E702 # fmt: skip


def by_comprehension(x: Any) -> Any:
    stopped = [stop_gradient(v) for v in (x, 1.0)]
    named = {str(i): stop_gradient(v) for i, v in enumerate((1.0, x))}
    return stopped[0] * x * named["0"] * named["1"] / stop_gradient(x)


def make_closure() -> Any:
    stopper = stop_gradient

    def inner(x: Any) -> Any:
        return stopper(x) * x

    return inner


by_closure = make_closure()


@pytest.mark.parametrize(
    "f",
    [
        *(by_attribute, by_alias_of_module, by_alias, by_other_global, by_local_import, by_keyword),
        *(by_name_argument, by_positional_name, by_nesting, by_closure),
        *(by_alias_on_one_line, by_comprehension),
    ],
    ids=lambda f: f.__qualname__,
)
def test_recognised_under_any_name(f: Any) -> None:
    value, gradient = value_and_grad(f)(3.0)
    assert (value, gradient) == (9.0, 3.0)


def test_name_shows_in_the_comment() -> None:
    for f in (by_name_argument, by_positional_name):
        comments = [line.split("#", 1)[1] for line in grad(f).source.splitlines() if "#" in line]
        assert any("frozen factor" in comment for comment in comments)


def make_shadow() -> Any:
    def stop_gradient(x: Any) -> Any:
        return x * 2.0

    def f(x: Any) -> Any:
        return stop_gradient(x) * x

    return f


def shadowed_by_local(x: Any) -> Any:
    stop_gradient = x * 2.0
    return stop_gradient * x


def test_another_function_of_that_name_is_not_ours() -> None:
    assert grad(make_shadow())(3.0) == 12.0
    assert grad(shadowed_by_local)(3.0) == 12.0


def opaque_sorted(x: Any) -> Any:
    order = stop_gradient(sorted(x, key=lambda item: -item))
    return x[0] * order[0] + x[1] * order[-1]


def opaque_random(x: Any) -> Any:
    rng = np.random.default_rng(3)
    noise = stop_gradient(rng.normal(size=x.shape) + x)
    return np.sum(noise * x)


def opaque_legacy_random(x: Any) -> Any:
    np.random.seed(3)
    return np.sum(stop_gradient(np.random.normal(x)) * x)


def opaque_extension(x: Any) -> Any:
    position = stop_gradient(bisect.bisect_left(np.sort(x).tolist(), 0.5))
    return np.sum(x * x) * position


def opaque_regular_expression(x: Any) -> Any:
    digits = stop_gradient(re.sub(r"[^0-9]", "", f"{x:.3f}"))
    return x * float(digits)


def opaque_eig(x: Any) -> Any:
    return np.sum(x * stop_gradient(np.linalg.eigvals(np.outer(x, x)).real.max()))


def opaque_comprehension(x: Any) -> Any:
    return np.sum(x * stop_gradient(sum([item * item for item in x if item > 0])))


def opaque_generator(x: Any) -> Any:
    generator = random.Random(5)
    return x * stop_gradient(generator.gauss(x, 1.0))


def opaque_integers(x: Any) -> Any:
    return x * stop_gradient(int(x) // 2 + hash(x) % 1 + len(str(x)))


@pytest.mark.parametrize(
    "f",
    [
        *(opaque_sorted, opaque_random, opaque_legacy_random, opaque_extension, opaque_eig, opaque_comprehension),
        *(opaque_regular_expression, opaque_generator, opaque_integers),
    ],
    ids=lambda f: f.__name__,
)
def test_argument_may_be_any_python(f: Any) -> None:
    scalar = f in (opaque_regular_expression, opaque_generator, opaque_integers)
    x: Any = 2.345 if scalar else V.copy()
    value, gradient = value_and_grad(f)(x)
    assert value == f(x)
    expected: Any
    if scalar:
        expected = value / x
    elif f is opaque_sorted:
        expected = [2.5, -1.2, 0.0]
    elif f is opaque_extension:
        expected = 2.0 * x * 2
    elif f is opaque_random:
        expected = np.random.default_rng(3).normal(size=3) + x
    elif f is opaque_legacy_random:
        np.random.seed(3)
        expected = np.random.normal(x)
    elif f is opaque_eig:
        expected = np.full(3, x @ x)
    else:
        expected = np.full(3, np.sum(x[x > 0] ** 2))
    np.testing.assert_allclose(gradient, expected, rtol=1e-9)


def inner_stop(x: Any) -> Any:
    y = x * x
    return stop_gradient(y) + x


def stop_in_callee(x: Any) -> Any:
    return inner_stop(x) * x


def callee_under_stop(x: Any) -> Any:
    return stop_gradient(has_no_derivative(x)) * x


def has_no_derivative(x: Any) -> Any:
    values = sorted([x, 2.0 * x])
    while len(values) < 4:
        values.append(values[-1] + 1.0)
    return max(value for value in values)


def stop_in_loop(x: Any) -> Any:
    total = 0.0
    for i in range(3):
        x = x * 1.5
        total = total + x * stop_gradient(x) * i
    return total


def stop_of_loop_carried(x: Any) -> Any:
    y = x
    for _ in range(3):
        y = stop_gradient(y) * x
    return y


def stop_in_condition(x: Any) -> Any:
    if stop_gradient(x * x) > 4.0:
        return x * 5.0
    while stop_gradient(x) < 1.0:
        x = x * 2.0
    return x


def stop_in_branch(x: Any) -> Any:
    y = x * x if x > 10.0 else stop_gradient(x * x)
    return y * x


def stop_container(x: Any) -> Any:
    pair = stop_gradient((x, [x * x, x]))
    return pair[0] * x + pair[1][0] * x


def stop_one_of_two(x: Any) -> Any:
    a, b = stop_gradient(x), x
    return a * a * b


def other_alias_stays_active(x: Any) -> Any:
    y = x
    stopped = stop_gradient(y)
    return y * y + stopped * 100.0 - stopped * 99.0


def stop_in_conditional_expression(x: Any) -> Any:
    return (stop_gradient(x) if x > 0.0 else x) * x


def stop_in_short_circuit(x: Any) -> Any:
    return (stop_gradient(x) or x) * x


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (stop_in_callee, 3.0, 9.0 + 6.0),
        (callee_under_stop, 3.0, 8.0),
        (stop_in_loop, 2.0, 1.5**2 * (1.5**2 * 2.0) + 2 * 1.5**3 * (1.5**3 * 2.0)),
        (stop_of_loop_carried, 2.0, 8.0),
        (stop_in_condition, 3.0, 5.0),
        (stop_in_condition, 0.3, 4.0),
        (stop_in_branch, 3.0, 9.0),
        (stop_in_branch, 11.0, 3 * 121.0),
        (stop_container, 3.0, 12.0),
        (stop_one_of_two, 3.0, 9.0),
        (other_alias_stays_active, 3.0, 6.0),
        (stop_in_conditional_expression, 3.0, 3.0),
        (stop_in_conditional_expression, -3.0, -6.0),
        (stop_in_short_circuit, 3.0, 3.0),
        (stop_in_short_circuit, 0.0, 0.0),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_stops_the_value_where_it_stands(f: Any, x: float, expected: float) -> None:
    value, gradient = value_and_grad(f)(x)
    assert value == f(x)
    assert gradient == pytest.approx(expected, rel=1e-12)


def chain_to_stop(x: Any) -> Any:
    a = np.sin(x)
    b = a * x
    c = np.exp(b)
    d = stop_gradient(c)
    return np.sum(x * d)


def test_a_whole_chain_to_a_stop_has_no_adjoint_statement() -> None:
    df = grad(chain_to_stop)
    np.testing.assert_allclose(df(V), np.exp(np.sin(V) * V))
    assert not names_with_adjoint(df.source) & {"a", "b", "c", "d"}
    assert "cos" not in df.source


def chain_inside_loop(x: Any) -> Any:
    total = 0.0
    for i in range(3):
        weight = np.cos(x * i)
        total = total + np.sum(stop_gradient(weight) * x)
    return total


def test_no_adjoint_in_a_loop_either() -> None:
    df = grad(chain_inside_loop)
    np.testing.assert_allclose(df(V), sum(np.cos(V * i) for i in range(3)))
    assert "weight" not in names_with_adjoint(df.source)
    assert "np.sin" not in df.source


def effects(x: Any) -> Any:
    return x * stop_gradient(shout(x))


def shout(x: Any) -> Any:
    print("once", x)
    return x


def test_effects_of_the_argument_happen_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert grad(effects)(2.0) == 2.0
    assert capsys.readouterr().out == "once 2.0\n"


def doubled(x: Any, by: Any = 1.0) -> Any:
    return 2.0 * x * by


def beside_a_callee(x: Any, w: Any) -> Any:
    s = stop_gradient(doubled(x, by=x))
    return np.sum((x - s) * w)


def reshaped_by_a_callee(x: Any, w: Any) -> Any:
    return np.sum(x * stop_gradient(doubled(x[:1], by=x)) * w)


def test_what_a_stopped_callee_returns_is_known() -> None:
    """Its shape is that of `x`, so that nothing has to be summed, or looked at while it runs."""
    df = grad(beside_a_callee)
    x, w = np.ones((3, 2)), np.array([1.0, 3.0])
    np.testing.assert_array_equal(df(x, w), np.ones((3, 1)) * w)
    assert not re.search("unbroadcast|scalar_seed", df.source_for(x, w))
    np.testing.assert_array_equal(df(x, 2.0), np.full((3, 2), 2.0))
    # What is computed on the way to a callee is not looked at.
    np.testing.assert_allclose(grad(reshaped_by_a_callee)(V, W), 2.0 * V[0] * V * W)


def failing(x: Any) -> Any:
    return x * stop_gradient(shout_and_fail())


def shout_and_fail() -> Any:
    raise KeyError("missing")


def test_exceptions_of_the_argument_come_through() -> None:
    with pytest.raises(KeyError, match="missing"):
        grad(failing)(2.0)


def test_value_is_bit_for_bit() -> None:
    value, _ = value_and_grad(softmax)(V, W)
    assert np.float64(value).tobytes() == np.float64(softmax(V, W)).tobytes()


def test_wrong_arguments_fail_as_for_any_function() -> None:
    with pytest.raises(TypeError):
        stop_gradient()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        stop_gradient(1, 2, 3)  # type: ignore[call-arg]
