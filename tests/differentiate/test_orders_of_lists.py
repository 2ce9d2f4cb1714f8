"""Second derivatives of programs with lists that grow and change: their adjoints are lists that shrink."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
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


@pytest.mark.parametrize("f", [windows, running, powers], ids=lambda f: f.__name__)
def test_second_order(f: Any) -> None:
    expected = richardson_jvp(grad(f), (X,), (DOT,))
    np.testing.assert_allclose(hvp(f, (X,), (DOT,)), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(jvp(grad(f), (X,), (DOT,))[1], expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(grad(lambda x: grad(f)(x) @ DOT)(X), expected, rtol=1e-6, atol=1e-9)


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
