"""Joins that hold one value only, in IR, and what that makes of the adjoints of sums that loops add up."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad
from s2sad.ir.nodes import Assign, Call, Const, Copy, Expr, For, Function, Op, Stmt, Var
from s2sad.ir.show import show
from s2sad.optimise.joins import remove_trivial_joins
from tests.oracle import numeric_gradient

TIMES = Op("operator", "*", np.multiply)


def loop(*body: Stmt) -> For:
    return For(("i.1",), (Call(Op("function", "range", range), (Const(3),)),), body)


def moved(target: str, source: Expr) -> Copy:
    return Copy((target,), (source,))


def shown(*reverse: Stmt, result: str) -> str:
    body = (Assign("x.1", Call(TIMES, (Const(2), Const(3)))),)
    return show(remove_trivial_joins(Function("f", (), body, Var(result), reverse=reverse)))


def test_numbers_go_through_the_joins_of_nested_loops() -> None:
    use = Assign("y_bar.1", Call(TIMES, (Call(TIMES, (Const(4), Var("e_bar.2"))), Var("x.1"))))
    inner = loop(use, moved("e_bar.2", Var("e_bar.2")))
    text = shown(
        moved("e_bar.1", Const(1.0)),
        loop(moved("e_bar.2", Var("e_bar.1")), inner, moved("e_bar.1", Var("e_bar.2"))),
        result="e_bar.1",
    )
    assert "e_bar" not in text
    assert "y_bar.1 = (4.0 * x.1)" in text
    assert "return 1.0" in text


def test_joins_that_get_another_value_stay() -> None:
    change = Assign("e_bar.3", Call(TIMES, (Const(2), Var("e_bar.2"))))
    inner = loop(change, moved("e_bar.2", Var("e_bar.3")))
    text = shown(
        moved("e_bar.1", Const(1.0)),
        loop(moved("e_bar.2", Var("e_bar.1")), inner, moved("e_bar.1", Var("e_bar.2"))),
        result="e_bar.1",
    )
    assert "e_bar.2 <- e_bar.3" in text
    assert "e_bar.3 = (2 * e_bar.2)" in text


def test_numbers_of_other_signs_are_other_values() -> None:
    text = shown(moved("e_bar.1", Const(0.0)), loop(moved("e_bar.1", Const(-0.0))), result="e_bar.1")
    assert "e_bar.1 <- -0.0" in text


def test_names_go_through_joins_too() -> None:
    text = shown(moved("e_bar.1", Var("x.1")), loop(moved("e_bar.1", Var("e_bar.1"))), result="e_bar.1")
    assert "return x.1" in text


def test_sums_of_nested_loops() -> None:
    def f(x):
        total, scaled = 0.0, 1.0
        for i in range(3):
            for j in range(i):
                total += x[i] * x[j] ** 2
                scaled = scaled * x[j]
            total -= 2.0 * np.sin(x[i]) * scaled
        return total + scaled

    x = np.array([0.5, 1.5, -0.7])
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-8)
    assert "total_bar" not in grad(f).source_for(x)


def an_adjoint_that_is_another_name(x):
    total, b = np.zeros(5), x * 1.0
    for i in range(3):
        total -= x
        b[i] = b[i + 1] * 2.0
    total = total - b
    return np.sum(total * b)


def test_a_join_of_a_name_for_another_value_has_that_value() -> None:
    """Both names went at once, and what stood for the join was assigned nowhere."""
    x = np.array([0.4, -0.8, 1.3, 0.2, 0.7])
    found = grad(an_adjoint_that_is_another_name)(x)
    np.testing.assert_allclose(found, numeric_gradient(an_adjoint_that_is_another_name, (x,)), rtol=1e-8)


PLACES = np.array([0, 2, 2])
READERS = {
    "sum": np.sum,
    "places": lambda a: np.sum(a[PLACES]),
    "item": lambda a: a[1],
    "slice": lambda a: np.sum(a[1:]),
    "mask": lambda a: np.sum(a[a > 0]),
    "view": lambda a: np.sum(a.reshape(3, 1)[0]),
    "scan": lambda a: np.cumsum(a)[1],
}


def weighted_by_itself(x, n, read):
    c, total = 0.5, 0.0
    for _ in range(n):
        a = np.sin(x) * c
        c = c + read(a)
        total = total + np.sum(a * x)
    return total + c * x[1]


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_an_adjoint_that_is_written_in_place_is_no_argument(read):
    """``a_bar = total_bar * x`` became ``x``, where ``total_bar`` is 1.0, and what was added to that changed it."""
    x = np.array([1.5, 2.0, -0.3])
    before = x.copy()
    found = grad(weighted_by_itself)(x, 3, read)
    np.testing.assert_array_equal(x, before)
    np.testing.assert_allclose(found, numeric_gradient(weighted_by_itself, (x, 3, read), 0), rtol=1e-6)
