"""Adjoints that go on as others have one name, in IR."""

from __future__ import annotations

import itertools

import numpy as np

from s2sad.ir.nodes import Assign, Build, Call, Const, Expr, Function, Op, Stmt, Store, Unpack, Var
from s2sad.ir.show import show
from s2sad.optimise.aliases import with_one_name

ADD = Op("inplace", "+")
PAIR = Unpack(("v_bar.1", "w_bar.1"), Call(Op("runtime", "f_reverse"), (Const(1.0),)), None)
ZEROS = Assign("a_bar.1", Call(Op("runtime", "np.zeros_like", np.zeros_like), (Var("a.1"),)))


def shown(*reverse: Stmt, result: Expr) -> str:
    numbers = itertools.count(8)
    body = (Assign("a.1", Call(Op("runtime", "np.ones", np.ones), (Const(3),))),)
    return show(with_one_name(Function("f", (), body, result, reverse=reverse), lambda stem: f"{stem}.{next(numbers)}"))


def test_another_name_for_an_adjoint_goes() -> None:
    again = Assign("result_bar.1", Var("a_bar.1"))
    store = Store(Var("result_bar.1"), Const(Ellipsis), Const(1.0), "+")
    text = shown(ZEROS, again, store, result=Var("a_bar.1"))
    assert "result_bar" not in text
    assert "a_bar.1[Ellipsis] += 1.0" in text


def test_what_is_added_to_afterwards_is_called_so_from_the_beginning() -> None:
    add = Assign("u_bar.1", Call(ADD, (Var("v_bar.1"), Var("w_bar.1"))))
    text = shown(PAIR, add, result=Var("u_bar.1"))
    assert "u_bar.8, w_bar.1 = unpack" in text
    assert "v_bar" not in text


def test_a_name_that_is_read_elsewhere_stays() -> None:
    add = Assign("u_bar.1", Call(ADD, (Var("v_bar.1"), Var("w_bar.1"))))
    text = shown(PAIR, add, result=Build("tuple", (Var("u_bar.1"), Var("v_bar.1"))))
    assert "v_bar.1, w_bar.1 = unpack" in text


def test_a_name_of_the_function_itself_stays_what_it_is() -> None:
    text = shown(Assign("a_bar.2", Var("a.1")), result=Var("a_bar.2"))
    assert "a_bar.2 = a.1" in text


def test_a_name_with_several_values_stays() -> None:
    again = Assign("b_bar.1", Var("a_bar.1"))
    text = shown(ZEROS, again, Assign("a_bar.1", Const(2.0)), result=Var("b_bar.1"))
    assert "b_bar.1 = a_bar.1" in text
