"""Calls with arguments of other kinds than the last one, in every form: the entry of the last call serves no other."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from s2sad.entries import MISSED, entry
from s2sad.errors import ArgumentError

SCALE = 2.0


def scaled(x, y):
    return np.sum(SCALE * x * x * y)


def with_aux(x, y):
    return scaled(x, y), {"y": y}


def of_pair(pair):
    x, y = pair
    return np.sum(x * y)


A, B = np.array([1.0, 2.0]), np.array([[1.0, 3.0, 5.0]])
#: Arguments of many kinds, with what the type of the gradient by the first is.
KINDS = [
    (1.5, 2.0), (A, 2.0), (B, 2.0), (A, A), (A.astype(np.float32), np.float32(2.0)), (np.float64(1.5), 2.0), (3, 2.0),
    (1.5, 2), (A + 1j * A, 2.0), (np.asfortranarray(np.ones((2, 2))), 1.0), (np.array(1.5), 2.0),
]  # fmt: skip


def expected(x, y):
    return 2 * SCALE * np.asarray(x) * y


@pytest.mark.parametrize("turn", range(len(KINDS)))
def test_kinds_of_arguments_take_turns(turn):
    df = grad(lambda x, y: np.real(scaled(x, y)))
    for x, y in [*KINDS[turn:], *KINDS[:turn], *KINDS[::-1], KINDS[turn], KINDS[turn]]:
        g = df(x, y)
        np.testing.assert_allclose(g, expected(x, y), rtol=1e-6)
        assert type(g) is (float if isinstance(x, int) else type(x)), type(x)
        assert np.shape(g) == np.shape(x)
        if isinstance(x, np.ndarray):
            assert g.dtype == x.dtype


@pytest.mark.parametrize("times", [1, 3])
def test_forms_of_results(times):
    for _ in range(times):
        np.testing.assert_allclose(grad(scaled)(A, 2.0), expected(A, 2.0))
        (g,) = grad(scaled, (0,))(A, 2.0)
        np.testing.assert_allclose(g, expected(A, 2.0))
        g, h = grad(scaled, (0, 1))(A, 2.0)
        np.testing.assert_allclose(g, expected(A, 2.0))
        assert h == 10.0
        assert type(h) is float
        h, g = grad(scaled, (1, 0))(A, 2.0)
        assert h == 10.0
        np.testing.assert_allclose(g, expected(A, 2.0))
        value, (g, h) = value_and_grad(scaled, (0, 1))(A, 2.0)
        assert value == 20.0
        assert h == 10.0
        g, aux = grad(with_aux, has_aux=True)(A, 2.0)
        assert aux == {"y": 2.0}
        (value, aux), (g,) = value_and_grad(with_aux, (1,), has_aux=True)(A, 2.0)
        assert value == 20.0
        assert g == 10.0


def test_the_last_entry_is_not_used_where_a_module_has_changed(monkeypatch):
    df = grad(scaled)
    assert [df(1.5, 2.0), df(1.5, 2.0)] == [12.0, 12.0]
    monkeypatch.setitem(globals(), "SCALE", np.array([1.0, 3.0]))
    assert df(1.5, 2.0) == 24.0
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert df(1.5, 2.0) == 18.0


def test_containers_are_told_apart_by_what_they_hold():
    df = grad(of_pair)
    for _ in range(3):
        assert df((2.0, 3.0)) == (3.0, 2.0)
        g, h = df((A, 3.0))
        np.testing.assert_allclose(g, [3.0, 3.0])
        assert h == 3.0
        g, h = df([A, A])
        np.testing.assert_allclose(h, A)


def test_one_that_holds_itself_is_refused_after_calls_too():
    df = grad(of_pair)
    df([1.0, 2.0])
    held = [1.0, 2.0]
    held[1] = held
    for _ in range(2):
        with pytest.raises(ArgumentError, match="holds itself"):
            df(held)


def test_arguments_by_name_and_too_few():
    df = grad(scaled)
    for _ in range(2):
        assert df(1.5, y=2.0) == 12.0
        assert df(y=2.0, x=1.5) == 12.0
        with pytest.raises(ArgumentError, match="missing a required argument"):
            df(1.5)
        with pytest.raises(ArgumentError, match="too many"):
            df(1.5, 2.0, 3.0)


def test_an_entry_is_for_arguments_of_its_kinds():
    call, exact = entry(lambda x, y: (x, y), (), (1.0, np.ones(2)), (0, 1), "{}")
    assert exact
    assert call((2.0, np.ones(2))) is not MISSED
    others = [(1, A), (np.float64(1), A), (1.0, 1.0), (1.0, np.ones(3)), (1.0, A.astype(np.float32)), (1.0,), ()]
    assert all(call(args) is MISSED for args in others)
    assert not entry(lambda x: x, (), ([1.0],), (0,), "{}")[1]
