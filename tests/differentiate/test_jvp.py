"""``jvp`` as a user calls it: structures of arguments and results, and what is refused."""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp, stop_gradient, vjp
from s2sad.api import Tangent
from tests.oracle import pairing, richardson_jvp

X = np.array([0.3, -0.8, 1.2])
D = np.array([1.0, 0.5, -0.25])
Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class Model:
    w: Any
    b: float


def agrees(f: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...], tolerance: float = 1e-9) -> None:
    """Compare value and tangent with the function itself and with differences."""
    moved = [i for i, t in enumerate(tangents) if t is not None]
    value, tangent = jvp(f, primals, tangents)

    def along(*values: Any) -> Any:
        args = list(primals)
        for i, v in zip(moved, values, strict=True):
            args[i] = v
        return f(*copy.deepcopy(args))

    expected = richardson_jvp(along, [primals[i] for i in moved], [tangents[i] for i in moved])
    np.testing.assert_equal(value, f(*copy.deepcopy(primals)))
    for got, wanted in zip(_leaves(tangent), _leaves(expected), strict=True):
        assert np.shape(got) == np.shape(wanted)
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def _leaves(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return [x for item in tree.values() for x in _leaves(item)]
    if isinstance(tree, (list, tuple)):
        return [x for item in tree for x in _leaves(item)]
    return [tree]


class TestStructures:
    def test_the_result_may_be_anything(self) -> None:
        def f(x: Any) -> Any:
            return {"a": np.sin(x), "b": [x[0] * x[1], (x @ x, x[None] * 2)]}

        agrees(f, (X,), (D,))
        assert list(jvp(f, (X,), (D,))[1]) == ["a", "b"]

    def test_what_is_constant_has_zeros(self) -> None:
        def f(x: Any) -> Any:
            return np.sum(x), np.ones(2), 3, "name", None

        value, tangent = jvp(f, (X,), (D,))
        assert value[0] == np.sum(X)
        assert value[2:] == (3, "name", None)
        assert tangent[0] == np.sum(D)
        np.testing.assert_array_equal(tangent[1], np.zeros(2))
        assert tangent[2:] == (0.0, None, None)

    def test_a_constant_result(self) -> None:
        assert jvp(lambda x: 2.0, (X,), (D,)) == (2.0, 0.0)
        assert jvp(lambda x: None, (X,), (D,)) == (None, None)

    def test_arguments_may_be_trees(self) -> None:
        def f(p: Any, q: Any) -> Any:
            return p["w"] * q[0] + np.sum(q[1]) * p["b"]

        agrees(f, ({"w": X, "b": 2.0}, [1.5, X]), ({"w": D, "b": 0.5}, [1.0, 2 * D]))

    def test_named_tuples_and_dataclasses(self) -> None:
        assert jvp(lambda p: p.x * p[1], (Point(2.0, 3.0),), (Point(1.0, 0.5),)) == (6.0, 4.0)
        assert jvp(lambda p: (p, 1.0), (Point(2.0, 3.0),), (Point(1.0, 0.5),))[1] == (Point(1.0, 0.5), 0.0)
        value, tangent = jvp(lambda m, x: m.w @ x + m.b, (Model(X, 1.0), X), (Model(D, 2.0), None))
        np.testing.assert_allclose([value, tangent], [X @ X + 1, D @ X + 2])

    def test_some_arguments_do_not_vary(self) -> None:
        agrees(lambda x, n, s: x**n if s == "power" else x, (X, 3, "power"), (D, None, None))

    def test_integers_of_python_are_floats(self) -> None:
        assert jvp(lambda x: x * x, (3,), (1,)) == (9.0, 6.0)

    def test_single_precision_stays(self) -> None:
        x = X.astype(np.float32)
        value, tangent = jvp(lambda x: np.exp(x) * 2, (x,), (D,))
        assert value.dtype == tangent.dtype == np.float32

    def test_aux(self) -> None:
        value, tangent, aux = jvp(lambda x: (x @ x, x), (X,), (D,), has_aux=True)
        assert (value, tangent) == (X @ X, 2 * X @ D)
        np.testing.assert_array_equal(aux, X)

    def test_functions_of_every_sort(self) -> None:
        class Scale:
            def __init__(self, k: float) -> None:
                self.k = k

            def __call__(self, x: Any) -> Any:
                return self.k * x

        assert jvp(Scale(2.0), (3.0,), (1.0,)) == (6.0, 2.0)
        assert jvp(functools.partial(lambda k, x: k * x, 4.0), (3.0,), (1.0,)) == (12.0, 4.0)
        value, tangent = jvp(np.linalg.norm, (X,), (D,))
        np.testing.assert_allclose([value, tangent], [np.linalg.norm(X), X @ D / np.linalg.norm(X)])


def runs_never(x: float, n: int) -> Any:
    for v in range(n):
        x = np.sin(x) + v
    y = np.cos(x)
    for _ in range(n):
        x = x * v
        for v in range(2):
            y = y * x + v
    return x + y


class TestPrograms:
    @pytest.mark.parametrize("n", [0, 1, 3])
    def test_variables_of_loops_that_never_run(self, n: int) -> None:
        """Between two names of one variable, it may be moved without having a value."""
        agrees(functools.partial(runs_never, n=n), (0.3,), (1.0,))

    def test_loops_and_branches(self) -> None:
        def f(x: Any, n: int) -> Any:
            s = 0.0
            for i in range(n):
                if i % 2:
                    s += np.sum(x) / (i + 1)
                else:
                    x = x * np.cos(s)
                while s > 2:
                    s = s / 2
            return s, x

        agrees(f, (X + 1, 5), (D, None))

    def test_arrays_written_in_place(self) -> None:
        def f(x: Any) -> Any:
            a = np.zeros(5)
            a[:3] = x
            a[3] = x[0] * x[1]
            for i in range(1, 5):
                a[i] += a[i - 1] ** 2
            row = a[1:4]
            row *= x
            np.exp(a, out=a)
            np.add.at(a, [0, 0, 1], x)
            x[0] = 7.0
            return a, x

        before = X.copy()
        agrees(f, (X,), (D,))
        np.testing.assert_array_equal(X, before)
        np.testing.assert_array_equal(D, [1.0, 0.5, -0.25])

    def test_results_share_nothing_with_what_was_given(self) -> None:
        d = D.copy()
        _, tangent = jvp(lambda x: x + 1.0, (X,), (d,))
        tangent[:] = 9.0
        np.testing.assert_array_equal(d, D)

    def test_a_callee_may_write(self) -> None:
        def halve(a: Any, k: Any) -> Any:
            a *= k
            return a[1:]

        def f(x: Any) -> Any:
            y = x * 1.0
            tail = halve(y, x[0])
            tail += 1.0
            return y, tail

        agrees(f, (X,), (D,))

    def test_lists_and_dicts_that_change(self) -> None:
        def f(x: Any) -> Any:
            h, d = [], {}
            for i in range(3):
                h.append(x[i] * i)
                d[i] = np.sin(x) * i
            h[0] = x[2]
            last = h.pop()
            return np.array(h), last, d

        agrees(f, (X,), (D,))

    def test_stopped_values_are_constant(self) -> None:
        value, tangent = jvp(lambda x: x * stop_gradient(x), (3.0,), (1.0,))
        assert (value, tangent) == (9.0, 3.0)

    def test_complex_values(self) -> None:
        def f(x: Any) -> Any:
            z = x * np.exp(1j * x)
            return np.abs(np.fft.fft(z)) ** 2, z

        agrees(f, (X,), (D,))

    def test_what_is_tried(self) -> None:
        def f(x: Any) -> Any:
            try:
                y = 1.0 / x
            except ZeroDivisionError:
                y = 5.0 * x
            return y * x + y

        assert jvp(f, (0.0,), (1.0,)) == (0.0, 5.0)
        agrees(f, (2.0,), (1.0,))

    def test_the_tangent_does_not_raise_into_a_handler(self) -> None:
        def f(x: Any) -> Any:
            try:
                y = x**0.5
            except ZeroDivisionError:
                y = 100.0
            return y + 1.0

        with pytest.raises(ZeroDivisionError):
            jvp(f, (0.0,), (1.0,))

    def test_both_modes_are_adjoint(self) -> None:
        def f(x: Any, w: Any) -> Any:
            h = np.tanh(w @ x)
            return np.maximum(h, 0.1), np.sum(h**2)

        w = np.outer(X, D)
        value, tangent = jvp(f, (X, w), (D, w * 2))
        bars = (np.array([1.0, -2.0, 0.5]), 0.3)
        back = vjp(f, X, w)[1](bars)
        assert abs(pairing(bars, tangent) - pairing(back, (D, w * 2))) < 1e-13
        assert np.isfinite(value[1])

    def test_domains_end_quietly(self) -> None:
        def f(x: Any) -> Any:
            r = np.sqrt((x[:, None] - x[None]) ** 2)
            return np.sum(np.exp(-(r**2)))

        agrees(f, (X,), (D,))


class TestCalls:
    def test_what_is_met_at_run_time(self) -> None:
        class Layer:
            def __init__(self, w: Any) -> None:
                self.w = w

            def forward(self, x: Any) -> Any:
                return np.tanh(self.w @ x)

        def f(x: Any, layers: Any, act: Any) -> Any:
            for layer in layers:
                x = act(layer.forward(x))
            return np.sum(x)

        layers = [Layer(np.outer(X, D)), Layer(np.eye(3) * 0.5)]
        agrees(f, (X, layers, np.sin), (D, None, None))
        assert abs(jvp(f, (X, layers, np.sin), (D, None, None))[1] - grad(f)(X, layers, np.sin) @ D) < 1e-13

    def test_recursion(self) -> None:
        def power(x: Any, n: int) -> Any:
            return 1.0 if n == 0 else x * power(x, n - 1)

        assert jvp(power, (2.0, 5), (1.0, None)) == (32.0, 80.0)


class TestRefused:
    @pytest.mark.parametrize(
        ("primals", "tangents", "message"),
        [
            ((X,), (D[:2],), r"jvp of .*f: the tangent of x has the shape \(2,\), not \(3,\)"),
            ((X,), (D, D), "2 tangents for 1 arguments"),
            ((X,), (None,), "every tangent is None"),
            ((X,), (1j * D,), "is an array of complex128"),
            ((1.0,), (D,), "not a number"),
            (({"a": 1.0},), ({"b": 1.0},), "has other keys"),
            (([1.0],), ((1.0, 2.0),), "not a list of 1 items"),
            ((np.arange(3),), (D,), "integers"),
            (("name",), (1.0,), "str"),
            ((X, 2.0, 3.0), (D, None, None), "3 arguments were given"),
        ],
    )
    def test_tangents_that_do_not_fit(self, primals: Any, tangents: Any, message: str) -> None:
        def f(x: Any) -> Any:
            return x

        with pytest.raises(S2SADError, match=message):
            jvp(f, primals, tangents)

    def test_primals_must_be_a_tuple(self) -> None:
        with pytest.raises(S2SADError, match=r"primals must be a tuple or list"):
            jvp(np.sin, X, D)  # type: ignore[arg-type]

    def test_operations_without_a_rule(self) -> None:
        def f(x: Any) -> Any:
            return float(np.format_float_positional(x[0], 3))

        with pytest.raises(
            S2SADError, match=r"test_jvp.py:\d+:\d+: error: np.format_float_positional has no derivative"
        ):
            jvp(f, (X,), (D,))

    def test_writes_into_the_module(self) -> None:
        arrays = [np.zeros(3), np.zeros(3)]

        def f(x: Any) -> Any:
            arrays[len(x) % 2][:] = x[:3]
            return np.sum(arrays[0])

        with pytest.raises(S2SADError, match="arrays is"):
            jvp(f, (X,), (D,))


def test_the_text_is_as_one_would_write_it() -> None:
    def sweep(a: np.ndarray, c: float) -> Any:
        for i in range(1, len(a)):
            a[i] = a[i - 1] * a[i] + c
        return np.sum(np.sin(a) * c)

    text = Tangent(sweep).source
    assert text.endswith(
        """\
def sweep_jvp(a, c, *, a_dot):
    a_dot = np.copy(a_dot)
    a = np.copy(a)
    for i in range(1, len(a)):                             # L{0}
        t_dot = a_dot[i - 1] * a[i] + a_dot[i] * a[i - 1]  # L{1}
        a[i] = a[i - 1] * a[i] + c                         # L{1}
        a_dot[i] = t_dot                                   # L{1}
    result = np.sum(np.sin(a) * c)                         # L{2}
    result_dot = np.sum(np.cos(a) * a_dot * c)             # L{2}
    return result, result_dot
""".format(*(sweep.__code__.co_firstlineno + i for i in (1, 2, 3)))
    )
