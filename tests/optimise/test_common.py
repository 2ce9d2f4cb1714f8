"""What is computed once for several names is no object that one of them changes, or that is returned twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, vjp
from s2sad.ir import algebra
from s2sad.ir.nodes import Assign, Build, Call, Const, Expr, Function, Param, Stmt, Store, Var
from s2sad.ir.show import show
from s2sad.ir.types import Fact
from s2sad.optimise import Memory, share
from tests.oracle import richardson_jvp

X = np.array([0.3, 0.4, 0.9])


def added_to(x: Any) -> Any:
    s = np.sin(x)
    t = np.cos(x)
    q = np.exp(s * x)
    z = x * x - s - t
    return np.sum(z * z) + np.sum(q)


def added_to_in_a_loop(x: Any) -> Any:
    s, t = np.sin(x), np.cos(x)
    for i in range(3):
        q = np.exp(s * x)
        z = i * x - s - t
        x = np.sin(z) + q
    return np.sum(x)


def added_to_in_a_branch(x: Any) -> Any:
    s, t = np.sin(x), np.cos(x)
    q = np.exp(s * x) if x[0] < 1.0 else s
    z = x * x - s - t
    return np.sum(z * z) + np.sum(q)


def subtracted_from_rows(x: Any) -> Any:
    a = np.outer(x, x)
    s, t = np.sin(a), np.cos(a)
    q = s[1] * x
    z = a * a - s - t
    return np.sum(z * z) + np.sum(q)


def zero_difference(x: Any) -> Any:
    a = np.sin(x)
    s = x - x
    b = a + s
    c = b - s
    d = c - x * x / (1.0 + a)
    return np.sum(d * d * x)


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(
    "f", [added_to, added_to_in_a_loop, added_to_in_a_branch, subtracted_from_rows, zero_difference]
)
def test_what_is_added_to_is_an_array_of_its_own(f: Callable[..., Any], single: bool) -> None:
    x = X.astype(np.float32) if single else X
    for way in np.eye(3):
        slope = richardson_jvp(f, (X,), (way,))
        assert grad(f)(x) @ way == pytest.approx(slope, rel=1e-4 if single else 1e-8)


def test_second_derivatives() -> None:
    way, df = np.array([1.0, -2.0, 0.7]), grad(zero_difference)
    assert np.allclose(vjp(df, X)[1](way)[0], richardson_jvp(df, (X,), (way,)), atol=1e-8)


def test_equal_gradients_are_two_arrays() -> None:
    def f(a: Any, b: Any, c: Any) -> Any:
        z = c - a - b
        return np.sum(z * z)

    a_bar, b_bar = grad(f, (0, 1))(X, 2 * X, X * X)
    assert not np.shares_memory(a_bar, b_bar)
    assert np.array_equal(a_bar, b_bar)


def of_itself(x: Any) -> Any:
    y = np.exp(x)
    y -= np.sum(y * x)
    y *= y[::-1]
    for _ in range(2):
        y -= np.mean(y) * y / (1.0 + x * x)
    return np.sum(np.sin(y))


def softmax(x: Any) -> Any:
    e = np.exp(x)
    p = e / np.sum(e, keepdims=True)
    return np.sum(np.log(p) * p)


@pytest.mark.parametrize("f", [of_itself, softmax])
def test_what_is_written_later_is_read_before(f: Callable[..., Any]) -> None:
    for way in np.eye(3):
        assert grad(f)(X) @ way == pytest.approx(richardson_jvp(f, (X,), (way,)), rel=1e-8)


def test_both_adjoints_of_a_quotient_are_made_of_one() -> None:
    """Also if one of them is added to, which is no second name for it."""
    assert "e_bar -= np.sum(e_bar * p, axis=0, keepdims=True)" in grad(softmax).source_for(X)


def _shared(between: tuple[Stmt, ...], last: Callable[[Expr], Expr]) -> str:
    """The reverse part of a function after ``share``: a quotient has a name, and is computed again."""
    quotient = Call(algebra.DIVIDE, (Var("g.1"), Var("t.1")))
    names = ("g.1", "t.1", "p.1")
    first = Assign("e_bar.1", quotient)
    added = Store(Var("e_bar.1"), Const(Ellipsis), Var("p.1"), "+")
    reverse = (first, *between, Assign("y_bar.1", last(quotient)), added)
    result = Build("tuple", (Var("e_bar.1"), Var("y_bar.1")))
    function = Function("f", tuple([Param(n, n[0]) for n in names]), (), result, reverse=reverse)
    facts = dict.fromkeys((*names, "e_bar.1", "y_bar.1"), Fact("array", None, 1, True, precision="double"))
    return show(share(function, Memory(function, facts, {}, ())))


def _product(quotient: Expr) -> Expr:
    return Call(algebra.MULTIPLY, (quotient, Var("p.1")))


@pytest.mark.parametrize(
    ("between", "last", "found"),
    [
        ((), _product, True),
        ((Store(Var("e_bar.1"), Const(0), Const(0.0)),), _product, False),
        ((Assign("v_bar.1", Var("e_bar.1")), Store(Var("v_bar.1"), Const(0), Const(0.0))), _product, False),
        ((), lambda quotient: quotient, False),
        ((), lambda quotient: Build("tuple", (quotient, quotient)), False),
    ],
)
def test_what_is_written_later_is_found_only_until_then(
    between: tuple[Stmt, ...], last: Callable[[Expr], Expr], found: bool
) -> None:
    text = _shared(between, last)
    again = text.partition("y_bar.1 = ")[2]
    assert (again.startswith("(e_bar.1 * p.1)"), "g.1 / t.1" in again) == (found, not found)


@pytest.mark.parametrize(("boolean", "apart"), [(False, True), (True, False), ("mask", False)])
def test_truth_values_are_no_places(boolean: Any, apart: bool) -> None:
    """``A[flag, 1]`` is of another axis than ``A[i, 1]``: nothing is known of where it is."""
    function = Function("f", (Param("A.1", "A"), Param("flag.1", "flag")), (), Var("A.1"))
    facts = {"A.1": Fact("array", None, 2, True), "flag.1": Fact("scalar", boolean=boolean)}
    memory = Memory(function, facts, {}, ())
    first, second = (Build("tuple", (Var("flag.1"), Const(k))) for k in (1, 2))
    assert memory.are_disjoint(first, second) is apart
