"""Tangents of what shares memory share it too: results that are one object, what may be a view; dicts, ``try``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.zero_tangents import viewed_tangents
from tests.oracle import richardson_jvp

X = np.array([0.5, 1.2, -0.7])
D = np.array([0.3, -1.0, 0.8])


def slope(f: Callable[..., Any], x: Any, d: Any) -> Any:
    value, tangent = jvp(f, (x,), (d,))
    np.testing.assert_equal(value, f(x))
    return tangent


class TestNumbers:
    """A number to which an array without axes is added has a tangent of its own when that is written."""

    @staticmethod
    def added(x: Any) -> Any:
        z, s = x[0, ...], 2.0
        s += z
        z *= 3.0
        return s

    @staticmethod
    def subtracted(x: Any) -> Any:
        z, s = x[1:2].reshape(()), 2.0
        s -= z
        x[...] = 3.0
        return s * s

    @staticmethod
    def in_a_loop(x: Any) -> Any:
        z, s = x[0, ...], [1.0, 0.5]
        for i in range(3):
            s[1] += z if i else 1.0
            z *= 2.0
        return s[0] * s[1]

    @staticmethod
    def in_another_function(x: Any) -> Any:
        def sum_of(s: Any, z: Any) -> Any:
            s += z
            return s

        z = x[0, ...]
        s = sum_of(1.5, z)
        z *= z
        return s

    @pytest.mark.parametrize("name", ["added", "subtracted", "in_a_loop", "in_another_function"])
    def test_a_number_to_which_an_array_is_added(self, name: str) -> None:
        f = getattr(TestNumbers, name)
        assert jvp(f, (X,), (D,))[1] == pytest.approx(richardson_jvp(f, (X,), (D,)), abs=1e-10)


class TestDicts:
    """A loop over a dict has its keys, which are constants."""

    GIVEN, DIRECTION = {2.0: 1.5, 3.0: -0.5}, {2.0: 1.0, 3.0: 0.7}

    @staticmethod
    def keys(d: Any) -> Any:
        total = 0.0
        for k in d:
            total = total + d[k] * k
        return total

    @staticmethod
    def pairs(d: Any) -> Any:
        total = 0.0
        for k, v in d.items():
            total = total + v * v * k
        return total

    @staticmethod
    def unpacked(d: Any) -> Any:
        p, q = d
        return d[p] * q

    @staticmethod
    def consumed(d: Any) -> Any:
        return sum(d) * d[2.0] + max(d) * d[3.0] + max(d.values()) + sum([k * v for k, v in d.items()])

    @staticmethod
    def listed(d: Any) -> Any:
        ks, ts = list(d), tuple(d)
        return ks[0] * d[ks[0]] + sorted(d)[1] * d[ts[1]] ** 2

    @pytest.mark.parametrize("name", ["keys", "pairs", "unpacked", "consumed", "listed"])
    @pytest.mark.parametrize("known", [True, False])
    def test_keys_are_constant(self, name: str, known: bool) -> None:
        f = getattr(TestDicts, name)
        if known:
            tangent = jvp(f, (self.GIVEN,), (self.DIRECTION,))[1]
        else:
            tangent = jvp(lambda c: f(c["d"]), ({"d": self.GIVEN},), ({"d": self.DIRECTION},))[1]

        def along(*values: float) -> Any:
            return f(dict(zip(self.GIVEN, values, strict=True)))

        expected = richardson_jvp(along, list(self.GIVEN.values()), list(self.DIRECTION.values()))
        np.testing.assert_allclose(tangent, expected, rtol=1e-9)

    def test_merged(self) -> None:
        def f(x: Any, s: Any) -> Any:
            s |= {"n": x * x}
            return np.sum(s["n"] * x)

        tangent = jvp(f, (X, {"q": 1.0}), (D, None))[1]
        np.testing.assert_allclose(tangent, np.sum(3 * X**2 * D), rtol=1e-12)


def twice() -> Any:
    k = np.ones(3)
    return k, k


def views() -> Any:
    k = np.ones((2, 3))
    return k, k[1, ::-1]


class TestOneObject:
    @staticmethod
    def unpacked(x: Any) -> Any:
        u, v = twice()
        u[1] = x[0]
        return np.sum(v * v)

    @staticmethod
    def whole(x: Any) -> Any:
        p = twice()
        p[0][1] = x[0] * x[1]
        return np.sum(p[1] * x)

    @staticmethod
    def viewed(x: Any) -> Any:
        u, v = views()
        u[1, 0] = x[0]
        v[0] = x[1] ** 2
        return np.sum(u * u) + np.sum(v * x)

    @staticmethod
    def held(x: Any) -> Any:
        c = {"q": np.full(3, 0.6)}
        a = c["q"]
        q = [t for t in (a, np.ones(3)) if len(t) > 2]
        b = q[0]
        b[0] = x[2] * 1.5
        return np.sum(a * x)

    @pytest.mark.parametrize("name", ["unpacked", "whole", "viewed", "held"])
    def test_what_is_one_object_has_one_tangent(self, name: str) -> None:
        f = getattr(TestOneObject, name)
        np.testing.assert_allclose(slope(f, X, D), richardson_jvp(f, [X], [D]), rtol=1e-8)


class TestMaybeViews:
    """Whether these share memory with what they are given, only NumPy knows."""

    @pytest.mark.parametrize(
        "route",
        [
            lambda a: np.array(a, copy=None),
            np.asfortranarray,
            np.ascontiguousarray,
            lambda a: np.asarray(a, dtype=float),
            np.ravel,
            lambda a: a.T.reshape(-1),
            lambda a: np.atleast_3d(a),
            lambda a: np.broadcast_arrays(a, a[0])[0] * 1.0,
        ],
    )
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_a_write_goes_where_it_goes(self, route: Callable[[Any], Any], order: str) -> None:
        def f(x: Any) -> Any:
            a = np.copy(x, order="K")
            b = route(a)
            b[0] = 0.5 * np.sum(x)
            return np.sum(a * a * x) + np.sum(b**3)

        x = np.asarray(np.arange(6.0).reshape(2, 3) / 5, order=order)  # type: ignore[call-overload]
        d = np.cos(x)
        np.testing.assert_allclose(slope(f, x, d), richardson_jvp(f, [x], [d]), rtol=1e-8)
        # The direction need not be laid out as the argument is.
        np.testing.assert_allclose(slope(f, x, d.T.copy().T), richardson_jvp(f, [x], [d]), rtol=1e-8)


class TestPartsOfComplexArrays:
    """What may be the real or imaginary part of an array has that part of the tangent."""

    @staticmethod
    def read(x: Any) -> Any:
        def turned(a: Any) -> Any:
            return np.squeeze(np.atleast_1d(a * np.exp(1j * a)))

        return np.real(turned(x[0])) + np.imag(turned(x[1] * x[2])) ** 2

    @staticmethod
    def written(x: Any) -> Any:
        z = np.atleast_2d(x * np.exp(1j * x))
        u, v = np.real(np.squeeze(z)), np.imag(np.squeeze(z)[::-1])
        u[1] = x[0] * x[2]
        v[1:] *= u[:-1]
        z[0, 2] = z[0, 0] * 1j
        return np.sum(np.abs(z) ** 4) + np.sum(u * v)

    @staticmethod
    def columns(x: Any) -> Any:
        z = np.outer(x, x) * (1 + 2j)
        u = np.imag(np.squeeze(z.T)[1:])
        u[0] = np.sin(x)
        return np.sum(np.real(z**3))

    @pytest.mark.parametrize("name", ["read", "written", "columns"])
    def test_values_and_writes(self, name: str) -> None:
        f = getattr(self, name)
        np.testing.assert_allclose(slope(f, X, D), richardson_jvp(f, [X], [D]), rtol=1e-8)


class TestSeveralViews:
    """Each of several results may be a view of one of the operands, in whichever place that is."""

    @pytest.mark.parametrize(
        "route",
        [
            lambda a, x: np.broadcast_arrays(a)[0],
            lambda a, x: np.broadcast_arrays(x, a)[1],
            lambda a, x: np.broadcast_arrays(x[:, None], a)[1],
            lambda a, x: np.broadcast_arrays(*[a, x])[0],
            lambda a, x: np.meshgrid(x, a, copy=False)[1],
            lambda a, x: np.meshgrid(a, x)[0],
            lambda a, x: np.ix_(x, a)[1],
            lambda a, x: np.atleast_1d(x, a)[1],
            lambda a, x: np.atleast_2d(x, a)[1][0],
            lambda a, x: np.array_split(a, 2)[0],
            lambda a, x: (*a[None], x)[0],
        ],
    )
    def test_a_write_goes_where_it_goes(self, route: Callable[[Any, Any], Any]) -> None:
        def f(x: Any) -> Any:
            a = x * 1.0
            b = route(a, x)
            a[0] = x[1] ** 2
            return np.sum(b**2) + np.sum(a * x)

        np.testing.assert_allclose(slope(f, X, D), richardson_jvp(f, [X], [D]), rtol=1e-8)

    def test_what_overlaps_an_operand_only_in_part_is_an_error(self) -> None:
        a = np.arange(6.0)
        with pytest.raises(UndefinedDerivativeError, match="overlap"):
            viewed_tangents([a[1:]], (a[:3],), (np.ones(3),), [np.ones(5)])


class TestTries:
    def test_a_handler_reads_what_was_made_before_the_try(self) -> None:
        def f(x: Any) -> Any:
            y = x * x
            try:
                z = y * int("q")
            except ValueError:
                z = y * 3.0
            return z

        assert jvp(f, (2.0,), (1.0,)) == (12.0, 12.0)

    def test_a_handler_reads_what_was_tried_before_it_raised(self) -> None:
        def f(x: Any) -> Any:
            y = x
            try:
                y = x * x
                z = y * int("q")
            except ValueError:
                z = y * 3.0
            return z

        assert jvp(f, (2.0,), (1.0,)) == (12.0, 12.0)

    def test_what_is_tried_and_writes(self) -> None:
        def f(x: Any) -> Any:
            a = x * x
            try:
                r = np.sum(a * x)
                a[0] = 0.0
            except ValueError:
                r = 0.0
            return r + np.sum(a)

        np.testing.assert_allclose(slope(f, X, D), richardson_jvp(f, [X], [D]), rtol=1e-8)


class TestNumbersBefore:
    """A name that is a number, which shares nothing, where it is not the array that is written in place."""

    @staticmethod
    def returned(x: Any, most: float) -> Any:
        r, done, u = 0.0, False, np.ones(3)
        for _ in range(4):
            if np.sum(u) < most:
                r = u
                done = True
                break
            u -= 0.2 * x * u
        if not done:
            r = u
        return np.sum(r * r)

    @staticmethod
    def written(x: Any, most: float) -> Any:
        r, u = 0.0, np.ones(3)
        for _ in range(4):
            if np.sum(u) < most:
                r = u
            u -= 0.2 * x * u
        r = r + x
        return np.sum(r * u)

    @pytest.mark.parametrize("name", ["returned", "written"])
    @pytest.mark.parametrize("most", [0.0, 2.7, 5.0])
    def test_tangents(self, name: str, most: float) -> None:
        f = getattr(self, name)
        expected = richardson_jvp(lambda x: f(x, most), [X], [D])
        np.testing.assert_allclose(jvp(f, (X, most), (D, None))[1], expected, rtol=1e-9)


def smoothed(u, f, sweeps):
    for _ in range(sweeps):
        new = u.copy()
        new[1:-1] = 0.5 * u[1:-1] + 0.25 * (u[:-2] + u[2:] + f[1:-1])
        u = new
    return u


def added(u, f, sweeps):
    for k in range(sweeps):
        if k:
            u = u.copy()
        u[1:] += f[1:] * u[:-1]
    return u


def by_a_constant_start(f):
    return smoothed(np.linspace(1.0, 2.0, 5), f, 3)


def by_a_result_that_is_written(f):
    u = smoothed(np.linspace(1.0, 2.0, 5), f, 0)
    u[1] = f[0]
    return u * smoothed(u, f, 2)


def by_a_start_that_is_written(f):
    u = np.linspace(1.0, 2.0, 5)
    v = added(u, f, 2)
    return u * v


@pytest.mark.parametrize("h", [by_a_constant_start, by_a_result_that_is_written, by_a_start_that_is_written])
def test_arrays_that_begin_as_a_constant_argument(h):
    x, dot = np.array([0.3, -0.2, 0.5, 0.7, 1.1]), np.array([1.0, -0.4, 0.2, 0.6, -1.5])
    np.testing.assert_allclose(jvp(h, (x,), (dot,))[1], richardson_jvp(h, (x,), (dot,)), rtol=1e-8)


def last_of_copies(a: Any, depth: int) -> Any:
    if depth <= 0:
        return a
    copies = [a.copy() for _ in range(2)]
    copies[0][2] = 0.5
    return last_of_copies(copies[1], depth - 1)


def third_along(x: Any) -> Any:
    return jvp(grad(lambda v: np.mean(v**2) * np.sum(last_of_copies(v, 1))), (x,), (D,))[1] @ D


def test_zero_tangents_of_adjoints_that_are_one_object_are_one() -> None:
    """Those of the adjoints that a callee returns several times, when their tangents are differentiated once more."""
    np.testing.assert_allclose(jvp(third_along, (X,), (D,))[1], 6 / 3 * (D @ D) * np.sum(D), rtol=1e-12)


def item_of_an_imaginary_part(x: Any) -> Any:
    z = x + 0.4j
    part = np.imag(z * z)
    item = part[2]
    part -= 1.0
    return np.sin(item)


def third_of_an_imaginary_part(x: Any) -> Any:
    return jvp(grad(item_of_an_imaginary_part), (x,), (D,))[1] @ D


def test_tangents_of_tangents_of_views_are_views() -> None:
    expected = -(0.8**3) * np.cos(0.8 * X[2]) * D[2] ** 3
    np.testing.assert_allclose(jvp(third_of_an_imaginary_part, (X,), (D,))[1], expected, rtol=1e-12)


def copied_and_written(q: Any, b: Any, b_dot: Any) -> Any:
    old = b.copy()
    q[:1] = np.sum(b**2) * b_dot[0]
    return old


def of_a_variable_called_like_a_tangent(x: Any, x_dot: Any) -> Any:
    a = x * 1.0
    return np.sum(a * copied_and_written(a, a, x_dot))


def filled(t: Any, b: Any) -> None:
    t[:1] = np.sum(b**2)


def square_of_the_sum(x: Any) -> Any:
    filled(x, x)
    return x[0] * x[0]


def third_of_the_square(x: Any) -> Any:
    return jvp(grad(square_of_the_sum), (x,), (D,))[1] @ D


def test_tangents_share_memory_whatever_they_are_called() -> None:
    """Where names ending in ``_dot`` are taken, the tangents of parameters have others."""
    dots = D, np.array([1.0, -0.4, 0.2])
    found = jvp(of_a_variable_called_like_a_tangent, (X, D), dots)[1]
    np.testing.assert_allclose(found, richardson_jvp(of_a_variable_called_like_a_tangent, (X, D), dots), rtol=1e-8)
    np.testing.assert_allclose(jvp(third_of_the_square, (X,), (D,))[1], 24 * (X @ D) * (D @ D), rtol=1e-12)


class TestStoresIntoWhatIsNotKnown:
    """What is stored into a list in a tuple, of which the types say nothing, stays the object that it is."""

    @staticmethod
    def nested(a: Any, b: Any) -> Any:
        return (a, 1.0), [b, (a[::-1], 0.5)]

    @staticmethod
    def view_of_a_result(x: Any) -> Any:
        u = x * 1.0
        held = TestStoresIntoWhatIsNotKnown.nested(u, u)
        held[1][0] = held[1][1][0]
        held[0][0][1] = 2.0
        return np.sum(np.tanh(held[1][0]) * x)

    @staticmethod
    def view_in_a_display(x: Any) -> Any:
        u = x * 1.0
        held = [u, [u, (u[::-1], 1.0)]]
        held[1][0], v = held[1][1][0], held[0]
        v -= held[1][0] * held[1][1][0]
        return np.sum(np.tanh(held[1][0]))

    @staticmethod
    def multiplied_where_it_is_tried(x: Any) -> Any:
        v = np.zeros(3)
        held = {"b": [v, x[2]]}
        for _ in range(3):
            try:
                held["b"][0] *= held["b"][1]
                v += x
            except IndexError:
                v[0] = 1.0
        return np.sum(v)

    @staticmethod
    def stored_where_it_is_tried(x: Any) -> Any:
        u = x * 1.0
        held = [[x * 2, x[0]], 1.0]
        for _ in range(2):
            try:
                held[0][0] = u
                u[0] *= x[1]
                held[0][3][1] = 2.0
            except IndexError:
                u[1] = 0.5
        held[0][0][2] *= 2.0
        return np.sum(u * held[0][0])

    @pytest.mark.parametrize(
        "f",
        [view_of_a_result, view_in_a_display, multiplied_where_it_is_tried, stored_where_it_is_tried],
        ids=lambda f: f.__name__,
    )
    def test_tangents(self, f: Any) -> None:
        np.testing.assert_allclose(slope(f, X, D), richardson_jvp(f, (X,), (D,)), rtol=1e-8)


def scaled(h: Any, k: float, n: int) -> Any:
    h[0] *= k
    return h, n


def written_before_a_call_that_is_tried(x: Any) -> Any:
    u = x * 1.0
    v, n, k = u[::-1], 1.2, x[1]
    with contextlib.suppress(IndexError):
        for t in (v, v):
            t[1] = n
            n = scaled(v, k, 1)[0][0]
    return np.sum(v * x)


def written_under_another_name(x: Any) -> Any:
    u = x * 1.0
    v = u[::-1]
    with contextlib.suppress(IndexError):
        u[2] = x[0] * x[1]
        scaled(v, x[2], 1)
    return np.sum(u * x)


@pytest.mark.parametrize(
    "f", [written_before_a_call_that_is_tried, written_under_another_name], ids=lambda f: f.__name__
)
def test_writes_before_calls_that_are_tried(f: Any) -> None:
    """What a call is given under another name has been written."""
    np.testing.assert_allclose(slope(f, X, D), richardson_jvp(f, (X,), (D,)), rtol=1e-8)
