"""Second derivatives of programs with lists that grow and change: their adjoints are lists that shrink."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp, vjp
from s2sad.ir.nodes import Call, Const, Expr, Op, Var
from s2sad.ir.types import SCALAR, Fact, sized
from s2sad.ops.infer import memory
from s2sad.ops.infer.adjoints import in_the_form_of
from tests.oracle import richardson_jvp

X = np.array([0.5, 1.2, -0.7, 0.9])
DOT = np.array([0.3, -0.8, 0.55, 0.2])


def windows(x: Any) -> Any:
    out = []
    for i in range(len(x) - 1):
        out.append(x[i : i + 2].mean())  # noqa: PERF401
    return np.array(out) @ np.array(out)


def running(x: Any) -> Any:
    m = [0.0] * 4
    m[0] = x[0]
    for i in range(1, 4):
        m[i] = 0.9 * m[i - 1] + 0.1 * x[i] ** 2
    return sum(v * v for v in m)


def powers(x: Any) -> Any:
    found = [x[0]]
    while len(found) < 4:
        found.append(found[-1] * x[len(found)])
    return sum(found) * found[2]


def swapped(x: Any) -> Any:
    buffers = [x.copy(), 2.0 * x]
    for i in range(3):
        source, into = buffers[i % 2], buffers[(i + 1) % 2]
        into[...] = np.sin(source) * source.mean()
        into[0] -= source[1] * source[2]
    return np.sum(buffers[0] * buffers[1])


def in_another_order(x: Any) -> Any:
    whole = np.outer(x, x)
    flat = whole.T.ravel()
    flat[3] = np.sin(x[0] * x[1])
    return np.sum(flat**2) + np.sum(whole**3)


def largest(x: Any) -> Any:
    found = []
    for i in range(3):
        x = x * x[i]
        found.append(x[0] + x[1])
    return max(found) * min(found) + np.sum(np.array(found) ** 2)


def doubled(row: Any) -> None:
    row *= row[0]


def row_by_row(x: Any) -> Any:
    whole = np.outer(x, np.cos(x))
    for row in whole:
        doubled(row)
    doubled(x)
    return np.sum(whole**2) * np.sum(x**3)


@pytest.mark.parametrize(
    "f", [windows, running, powers, swapped, in_another_order, largest, row_by_row], ids=lambda f: f.__name__
)
def test_second_order(f: Any) -> None:
    expected = richardson_jvp(grad(f), (X,), (DOT,))
    np.testing.assert_allclose(hvp(f, (X,), (DOT,)), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(jvp(grad(f), (X,), (DOT,))[1], expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(grad(lambda x: grad(f)(x) @ DOT)(X), expected, rtol=1e-6, atol=1e-9)


def sums_that_are_written(x: Any) -> Any:
    sums = np.apply_over_axes(np.sum, np.outer(x, x * x), [0])
    sums *= x
    return np.sum(sums[0] * x)


def test_adjoints_added_into_items_of_containers_are_followed() -> None:
    """The helpers that add call each other: each way that they might do so took half a minute, or all of the stack."""
    expected = richardson_jvp(grad(sums_that_are_written), (X,), (DOT,))
    np.testing.assert_allclose(hvp(sums_that_are_written, (X,), (DOT,)), expected, rtol=1e-6, atol=1e-9)


C = np.array([1.0, 2.0, 3.0, 4.0, 5.0])


def in_a_loop(x: Any) -> Any:
    s = 0.0
    for k in range(5):
        s += C[k] * x**k
    return s


def nested(x: Any) -> Any:
    s = 0.0
    for c in C[::-1]:
        s = s * x + c
    return s


def summed(x: Any) -> Any:
    return sum(C[k] * x**k for k in range(5))


def of_a_list(x: Any) -> Any:
    return np.dot(C, [x**k for k in range(5)])


def of_an_array(x: Any) -> Any:
    return np.sum(np.array([c * x**k for k, c in enumerate(C)]))


def in_place(x: Any) -> Any:
    t = np.ones(5)
    t *= x
    t **= np.arange(5)
    return t @ C


def off_a_stack(x: Any) -> Any:
    terms = [(c, 1.0 * x) for c in C]
    s = 0.0
    while terms:
        c, y = terms.pop()
        s = s * y + c
    return s


def pushed(f: Any) -> Any:
    return lambda x: jvp(f, (x,), (1.0,))[1]


@pytest.mark.parametrize("derivative", [grad, pushed], ids=lambda d: d.__name__)
@pytest.mark.parametrize(
    "f", [in_a_loop, nested, summed, of_a_list, of_an_array, in_place, off_a_stack], ids=lambda f: f.__name__
)
def test_the_derivatives_of_a_polynomial(f: Any, derivative: Any) -> None:
    d, coefficients = f, np.polynomial.Polynomial(C)
    for _ in range(4 if derivative is grad else 3):
        d, coefficients = derivative(d), coefficients.deriv()
        for x in (0.0, 0.5):
            np.testing.assert_allclose(d(x), coefficients(x), rtol=1e-12, atol=1e-12)


def test_constants_on_a_tape_have_no_adjoints() -> None:
    second = grad(grad(in_a_loop))
    second(0.5)
    assert "saved_bar" not in second.source_for(0.5)


def in_arrays_of_a_tuple(x: Any, p: Any) -> Any:
    p[0][0] -= np.sin(x[0]) * p[0][1] ** 2
    return np.sum(np.mean(p[0]) * p[0] ** 2 + np.cos(p[1]) * x[1])


def test_a_shadow_of_a_tuple_is_a_list() -> None:
    p, way = (X[:3].copy(), X[1:].copy()), (DOT[:3], DOT[1:])
    df = grad(in_arrays_of_a_tuple, argnums=1)
    expected = richardson_jvp(df, (X, p), (np.zeros(4), way))
    for got in (jvp(df, (X, p), (np.zeros(4), way))[1], vjp(df, X, p, argnums=1)[1](way)[0]):
        for one, two in zip(got, expected, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-9)


NUMBERS, ARRAYS = Fact("list", each=SCALAR), Fact("tuple", items=((0, SCALAR), (1, sized((3,), True))))
FACTS = {"a": NUMBERS, "b": ARRAYS, "c": sized((2,), True), "g": SCALAR}


def fact(expr: Expr) -> Fact:
    return FACTS[expr.name] if isinstance(expr, Var) else SCALAR


@pytest.mark.parametrize(
    ("names", "answer"),
    [(("a", "a"), "fresh"), (("a", "b"), None), (("a", "c"), None), (("b", "b"), None), (("a",), None)],
)
def test_what_is_made_in_the_form_of_numbers_is_new(names: tuple[str, ...], answer: str | None) -> None:
    call = Call(Op("runtime", "add"), tuple(map(Var, names)))
    assert memory.of_numbers(0, 1)(call, fact) == answer
    assert memory.of_numbers(0, 1)(call, None) is None


def test_the_type_of_an_adjoint_in_the_form_of_an_argument() -> None:
    infer = in_the_form_of("xs")
    made = infer({"g": Const(1.0), "xs": Var("b")}, fact)
    assert made is not None
    assert made.kind == "tuple"
    assert [item.kind for _, item in made.items or ()] == ["scalar", "array"]
    assert infer({"g": Const(1.0), "xs": Var("c")}, fact) is None
