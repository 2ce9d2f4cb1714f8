"""Calls with arguments of other kinds than the last one, in every form: the entry of the last call serves no other."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad, hvp, jvp, value_and_grad
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


def of_tangents(x, y):
    return np.sum(x**3 * y)


TANGENTS = [
    ((A, 2.0), (A, None)), ((A, 2.0), (A, 1.0)), ((A, 2.0), (None, 1.0)), ((2.0, 3.0), (1.0, None)),
    ((A, A), (A, None)), ((A, A), (A, A[::-1])), ((B, 2.0), (B, 0.5)), ((3, 2.0), (1.0, None)),
    ((A.astype(np.float32), np.float32(2.0)), (A, None)), ([A, 2.0], [A, None]), ((A[::-1], 2.0), (A, None)),
]  # fmt: skip


@pytest.mark.parametrize("turn", range(len(TANGENTS)))
def test_tangents_of_kinds_that_take_turns(turn):
    for primals, dots in [*TANGENTS[turn:], *TANGENTS[:turn], TANGENTS[turn], TANGENTS[turn]]:
        x, y = primals
        x_dot, y_dot = (0.0 if dot is None else dot for dot in dots)
        value, tangent = jvp(of_tangents, primals, dots)
        np.testing.assert_allclose(value, np.sum(np.asarray(x) ** 3 * y), rtol=1e-6)
        x = np.asarray(x)
        np.testing.assert_allclose(tangent, np.sum(3 * x**2 * y * x_dot + x**3 * y_dot), rtol=1e-6)
        second = hvp(of_tangents, primals, dots)
        if dots[0] is not None:
            along_x = second if dots[1] is None else second[0]
            np.testing.assert_allclose(along_x, 6 * x * y * x_dot + 3 * x**2 * y_dot, rtol=1e-6)


def test_what_is_no_tuple_is_refused_after_calls_too():
    for _ in range(2):
        jvp(of_tangents, (A, 2.0), (A, None))
        hvp(of_tangents, (A, 2.0), (A, None))
        for refused in (jvp, hvp):
            with pytest.raises(ArgumentError, match="must be a tuple or list"):
                refused(lambda x: np.sum(x), A, A)
            with pytest.raises(ArgumentError, match="must be a tuple or list"):
                refused(of_tangents, np.stack([A, A]), np.stack([A, A]))
            with pytest.raises(ArgumentError, match="every tangent is None"):
                refused(of_tangents, (A, 2.0), (None, None))
            with pytest.raises(ArgumentError, match="1 tangents for 2 arguments"):
                refused(of_tangents, (A, 2.0), (A,))
            with pytest.raises(ArgumentError, match="shape"):
                refused(of_tangents, (A, 2.0), (B, None))


def test_code_that_is_replaced():
    def changing(x, y):
        return np.sum(x * x * y)

    for _ in range(2):
        assert jvp(changing, (1.5, 2.0), (1.0, None))[1] == 6.0
        assert hvp(changing, (1.5, 2.0), (1.0, None)) == 4.0
        assert grad(changing)(1.5, 2.0) == 6.0
    changing.__code__ = of_tangents.__code__
    for _ in range(2):
        assert jvp(changing, (1.5, 2.0), (1.0, None))[1] == 13.5
        assert hvp(changing, (1.5, 2.0), (1.0, None)) == 18.0
        assert grad(changing)(1.5, 2.0) == 13.5
