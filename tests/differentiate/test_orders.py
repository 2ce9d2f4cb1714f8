"""Derivatives of derivatives: closed forms, differences of gradients, and programs that call derivatives themselves."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from s2sad import grad, hessian, jvp, stop_gradient, value_and_grad, vjp
from s2sad.errors import ArgumentError, UnsupportedError
from s2sad.pushforwards import TangentOf
from tests.differentiate.higher_orders import judge
from tests.kernels.catalogue import KERNELS
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([0.3, 0.4, 0.5, 0.6])


@pytest.mark.parametrize("level", [1, 2])
@settings(max_examples=2, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(size=st.sampled_from(range(2, 11)), seed=st.integers(0, 2**32 - 1))
def test_second_derivatives_of_random_programs(level: int, size: int, seed: int) -> None:
    size = size if level == 1 else (size + 1) // 2
    for mode, verdict in judge(seed, level, size).items():
        assert verdict.kind != "failed", (seed, level, size, mode, verdict.message)


@pytest.mark.parametrize("name", sorted(KERNELS)[::4])
def test_hessians_of_every_fourth_kernel(name: str) -> None:
    """Forward over reverse through loops that write in place, with the tapes and shadows of their gradients."""
    kernel = KERNELS[name]
    args = kernel.make_args(*kernel.small)
    place = kernel.argnums[0]
    df = grad(kernel.loss, place)
    way = np.random.default_rng(0).standard_normal(np.shape(args[place]))
    tangents: list[Any] = [None] * len(args)
    tangents[place] = way if np.ndim(args[place]) else float(way)

    def gradient(x: Any) -> Any:
        return df(*args[:place], x, *args[place + 1 :])

    found = jvp(df, args, tangents)[1]
    expected = richardson_jvp(gradient, [args[place]], [tangents[place]])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * max(1.0, np.max(np.abs(expected))))


def powers(x: Any) -> Any:
    return x**5


def branches(x: Any) -> Any:
    y = x
    for _ in range(3):
        y = y * x if y > 1 else y + x * x
    return y


def written(x: Any) -> Any:
    a = np.zeros(4)
    a[0] = x[0]
    for i in range(1, 4):
        a[i] = a[i - 1] * x[i] + np.sin(a[i - 1])
    return a[3]


def root(x: Any) -> Any:
    return math.sqrt(1.0 + x**2)


def scaled_root(x: float, y: float) -> Any:
    return x * y**0.5


def scaled_arcsine(x: float, y: float) -> Any:
    return x * np.arcsin(y)


def scaled_square_root(x: Any, y: Any) -> Any:
    return np.sum(x * np.sqrt(1.0 + y**2))


def along(x: float, y: float, d: float) -> Any:
    """A tangent with a direction that may be zero."""
    return jvp(scaled_root, (x, y), (0.0, d))[1]


def numbers_and_a_part(x: Any) -> Any:
    y = np.stack([x[0], x[1]]) - x[0]
    return y[-2] + np.sum(y**3)


def rows_and_a_part(x: Any) -> Any:
    y = np.stack([x[:2], x[1:3]]) - x[0]
    return y[-2, 0] + np.sum(y**3)


def ends_and_a_part(x: Any) -> Any:
    y = np.concatenate([x[:2], x[1:]]) - x[0]
    return y[-2] + np.sum(y**3)


def stopped(x: Any) -> Any:
    return x**2 * stop_gradient(x)


class TestOrders:
    def test_powers(self) -> None:
        orders = [grad(powers)]
        for _ in range(4):
            orders.append(grad(orders[-1]))
        assert [round(df(2.0), 9) for df in orders] == [80.0, 160.0, 240.0, 240.0, 120.0]

    @pytest.mark.parametrize(
        ("f", "found"),
        [
            (scaled_root, 0.5 * 0.5**-0.5),
            (scaled_arcsine, 1.0 / math.sqrt(0.75)),
            (scaled_square_root, 0.5 / math.sqrt(1.25)),
        ],
    )
    def test_adjoints_that_are_zero_at_a_point(self, f: Any, found: float) -> None:
        """The quotient that is zero where both operands are has a derivative by the first one."""
        df = grad(f, 1)
        for second in (
            grad(df)(0.0, 0.5),
            jvp(df, (0.0, 0.5), (1.0, None))[1],
            vjp(df, 0.0, 0.5)[1](1.0)[0],
            hessian(f, (0, 1))(0.0, 0.5)[0][1],
            hessian(f, (0, 1))(0.0, 0.5)[1][0],
        ):
            assert second == pytest.approx(found)

    def test_tangents_that_are_zero_at_a_point(self) -> None:
        assert grad(along, 2)(1.0, 0.5, 0.0) == pytest.approx(0.5 * 0.5**-0.5)
        assert vjp(functools.partial(TangentOf(root, (0,), False), x_dot=1.0), 0.0)[1]((0.0, 1.0)) == (1.0,)

    @pytest.mark.parametrize("f", [numbers_and_a_part, rows_and_a_part, ends_and_a_part])
    def test_pieces_of_adjoints_that_are_written(self, f: Any) -> None:
        """Pieces are views of an adjoint, but numbers are not."""
        way, df = np.array([1.0, -2.0, 0.7, 0.2]), grad(f)
        expected = richardson_jvp(df, (X,), (way,))
        assert np.allclose(jvp(df, (X,), (way,))[1], expected, atol=1e-8)
        assert np.allclose(vjp(df, X)[1](way)[0], expected, atol=1e-8)

    def test_values(self) -> None:
        assert value_and_grad(grad(powers))(2.0) == (80.0, 160.0)
        assert jvp(grad(powers), (2.0,), (0.5,)) == (80.0, 80.0)
        value, pullback = vjp(grad(powers), 2.0)
        assert (value, pullback(0.5)) == (80.0, (80.0,))
        assert jvp(grad(grad(powers)), (2.0,), (1.0,)) == (160.0, 240.0)

    @pytest.mark.parametrize("x", [1.2, 0.3])
    def test_branches(self, x: float) -> None:
        np.testing.assert_allclose(grad(grad(branches))(x), richardson_jvp(grad(branches), [x], [1.0]), rtol=1e-7)

    def test_arrays_written_in_place(self) -> None:
        rows = [jvp(grad(written), (X,), (e,))[1] for e in np.eye(4)]
        np.testing.assert_allclose(rows, np.transpose(rows), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(rows[1], vjp(grad(written), X)[1](np.eye(4)[1])[0], rtol=1e-12)

    def test_stopped_values_are_constant_at_every_order(self) -> None:
        assert [grad(stopped)(3.0), grad(grad(stopped))(3.0), grad(grad(grad(stopped)))(3.0)] == [18.0, 6.0, 0.0]

    def test_more_than_one_argument(self) -> None:
        def f(a: Any, b: Any) -> Any:
            return a**2 * np.sin(b)

        assert grad(grad(f, 0), 1)(2.0, 0.5) == pytest.approx(4 * np.cos(0.5))
        assert grad(grad(f, argnames="b"), argnames="a")(2.0, 0.5) == pytest.approx(4 * np.cos(0.5))

    def test_methods_and_defaults(self) -> None:
        class Spring:
            def __init__(self, k: float) -> None:
                self.k = k

            def energy(self, x: Any, scale: float = 2.0) -> Any:
                return scale * self.k * x**3

        spring = Spring(0.5)
        assert grad(grad(spring.energy))(3.0) == pytest.approx(18.0)
        assert grad(grad(spring.energy))(3.0, 4.0) == pytest.approx(36.0)

    def test_parameters_of_any_name(self) -> None:
        def f(run: Any, grad_f: Any) -> Any:
            return run**3 * grad_f

        def outer(x: Any) -> Any:
            return x * functools.partial(grad(f), 2.0)(1.5)

        assert grad(grad(f))(2.0, 1.5) == 18.0
        assert grad(outer)(1.0) == 18.0

    def test_what_has_changed_is_compiled_again(self) -> None:
        global SCALE
        SCALE = 2.0
        df = grad(grad(scaled))
        assert df(3.0) == pytest.approx(4.0)
        SCALE = np.array(5.0)
        assert df(3.0) == pytest.approx(10.0)

    def test_the_gradient_of_a_vector_is_refused(self) -> None:
        with pytest.raises(ArgumentError, match="scalar"):
            grad(grad(written))(X)


SCALE: Any = 2.0


def scaled(x: Any) -> Any:
    return SCALE * x**2


def misfit(w: Any, x: Any, y: Any) -> Any:
    return np.sum((x @ w - y) ** 2)


misfit_gradient = grad(misfit)


def cubic(z: Any, a: Any) -> Any:
    return z**3 - a


cubic_slope = grad(cubic)


WAVES = np.array([1.0 + 2.0j, 0.5 - 1.0j])


def power(z: Any) -> Any:
    return np.sum(np.abs(z) ** 4)


def interference(x: Any) -> Any:
    return np.abs(np.sum(x * WAVES)) ** 2


def squared(x: Any, c: Any) -> Any:
    return np.real(np.sum((x * c) ** 2))


def hinted(x: float) -> Any:
    return np.sum(x**3)


power_gradient, interference_gradient, squared_gradient = grad(power), grad(interference), grad(squared)
hinted_gradient = grad(hinted)


class TestCalled:
    """Derivatives that are called by what is differentiated."""

    @staticmethod
    def of_complex_arguments(x: Any) -> Any:
        return np.sum(np.real(power_gradient(x * (1.0 + 2.0j)) * (0.3 - 0.7j)))

    @staticmethod
    def real_of_complex_values(x: Any) -> Any:
        return np.real(np.sum(interference_gradient(x) * (0.3 - 0.7j)))

    @staticmethod
    def real_beside_complex_arguments(x: Any) -> Any:
        return np.real(np.sum(squared_gradient(x, WAVES) * (0.3 - 0.7j)))

    @staticmethod
    def of_other_kinds_than_annotated(x: Any) -> Any:
        return np.sum(hinted_gradient(x) * x)

    @pytest.mark.parametrize(
        "name",
        [
            "of_complex_arguments", "real_of_complex_values", "real_beside_complex_arguments",
            "of_other_kinds_than_annotated",
        ],
    )  # fmt: skip
    def test_gradients_have_the_form_of_their_arguments(self, name: str) -> None:
        f, x = getattr(TestCalled, name), np.array([0.3, -0.8])
        value, gradient = value_and_grad(f)(x)
        assert value == pytest.approx(f(x))
        expected = [richardson_jvp(f, [x], [e]) for e in np.eye(2)]
        np.testing.assert_allclose(gradient, expected, rtol=1e-8)
        np.testing.assert_allclose([jvp(f, (x,), (e,))[1] for e in np.eye(2)], expected, rtol=1e-8)

    @pytest.mark.parametrize("df", [interference_gradient, grad(lambda x: squared(x, WAVES))])
    def test_a_gradient_by_real_arguments_has_real_derivatives(self, df: Any) -> None:
        x, d = np.array([0.3, -0.8]), np.array([1.0, 0.5])
        value, tangent = jvp(df, (x,), (d,))
        np.testing.assert_array_equal(value, df(x))
        np.testing.assert_allclose(tangent, richardson_jvp(df, [x], [d]), rtol=1e-8)
        assert tangent.dtype == float

    def test_a_gradient_penalty(self) -> None:
        def penalty(w: Any, x: Any, y: Any) -> Any:
            g = grad(misfit)(w, x, y)
            return np.sum(g * g)

        rng = np.random.default_rng(0)
        w, x, y = rng.normal(size=3), rng.normal(size=(4, 3)), rng.normal(size=4)
        g, hessian = 2 * x.T @ (x @ w - y), 2 * x.T @ x
        np.testing.assert_allclose(grad(penalty)(w, x, y), 2 * hessian @ g, rtol=1e-12)

    def test_an_inner_step(self) -> None:
        def after(w: Any, x: Any, y: Any) -> Any:
            return misfit(w - 0.1 * misfit_gradient(w, x, y), x, y)

        rng = np.random.default_rng(0)
        w, x, y = rng.normal(size=3), rng.normal(size=(4, 3)), rng.normal(size=4)
        step = np.eye(3) - 0.1 * 2 * x.T @ x
        stepped = w - 0.1 * 2 * x.T @ (x @ w - y)
        np.testing.assert_allclose(grad(after)(w, x, y), step @ (2 * x.T @ (x @ stepped - y)), rtol=1e-10)

    def test_newtons_method(self) -> None:
        def root(a: Any) -> Any:
            z = 1.0
            for _ in range(20):
                z = z - cubic(z, a) / cubic_slope(z, a)
            return z

        assert grad(root)(2.0) == pytest.approx(2 ** (-2 / 3) / 3)
        assert grad(grad(root))(2.0) == pytest.approx(-2 / 9 * 2 ** (-5 / 3))


class TestReverseOverReverse:
    """Pullbacks of gradients that save on tapes, and fill the adjoints of containers."""

    @staticmethod
    def check(f: Any, x: Any) -> None:
        df = grad(f)
        way = np.random.default_rng(0).normal(size=np.shape(x))

        def along(x: Any) -> Any:
            return np.sum(df(x) * way)

        wanted = richardson_jvp(along, [x], [way])
        assert np.sum(grad(along)(x) * way) == pytest.approx(wanted, rel=1e-7)
        assert np.sum(jvp(df, (x,), (way,))[1] * way) == pytest.approx(wanted, rel=1e-7)

    def test_a_loop_in_a_branch(self) -> None:
        def f(x: Any) -> Any:
            y = x
            if np.sum(x) > 0.0:
                k = 0
                while k < 3:
                    k += 1
                    if y[0] >= 0.4:
                        y = np.tanh(y * y + x)
                    else:
                        y = np.sin(y) * x
            return np.sum(np.cos(y))

        self.check(f, X)
        self.check(f, -X)

    def test_items_of_tuples_and_lists(self) -> None:
        def f(x: Any) -> Any:
            a, *rest = np.sin(x), x * x, np.sum(x)
            pair = (rest[1], [a, rest[0]])
            return np.sum(pair[1][0] * pair[1][1]) * pair[0]

        self.check(f, X)

    def test_lists_that_grow(self) -> None:
        def f(x: Any) -> Any:
            rows = []
            for i in range(3):
                rows.append(np.sin(x) * i * x)  # noqa: PERF401 - the point of the test
            return np.sum(np.stack(rows, axis=-1) ** 2)

        self.check(f, X)
        # What is taken off the adjoint of the list is taken off one list.
        assert "list(" not in grad(f).source_for(X)

    def test_hessians_by_dicts(self) -> None:
        def f(p: Any) -> Any:
            return np.sum(np.sin(p["w"] * p["b"])) * p["b"]

        w, b = np.array([0.7, 1.3]), 1.5
        found = hessian(f)({"w": w, "b": b})
        np.testing.assert_allclose(found["w"]["w"], np.diag(-(b**3) * np.sin(w * b)), rtol=1e-12)
        mixed = 2 * b * np.cos(w * b) - w * b * b * np.sin(w * b)
        np.testing.assert_allclose(found["w"]["b"], mixed, rtol=1e-12)
        np.testing.assert_allclose(found["b"]["w"], mixed, rtol=1e-12)
        both = np.sum(2 * w * np.cos(w * b) - b * w * w * np.sin(w * b))
        np.testing.assert_allclose(found["b"]["b"], both, rtol=1e-12)

    def test_numbers_of_python_for_parts_of_arrays(self) -> None:
        """The seed of a result is a float, also where all that is known is that it may be an array."""

        def f(x: Any) -> Any:
            for k in range(3):
                a = np.sin((np.ones((3, 4)) if x.mean() > 9 else (0.2 * np.arange(12.0).reshape((3, 4)))) - x)
                if k == 1:
                    return math.log(2.0 + np.sin(x.mean())) - a[2, (k + 1) % 4]
            return np.mean(x)

        x, way = np.array([[-0.9], [-0.7], [0.7]]), np.array([[1.0], [-0.5], [2.0]])
        tangent = TangentOf(f, (0,), has_aux=False)
        pullback = vjp(functools.partial(tangent, x_dot=way), x)[1]
        wanted = richardson_jvp(grad(f), [x], [way])
        np.testing.assert_allclose(pullback((0.0, 1.0))[0], wanted, rtol=1e-7, atol=1e-9)


@dataclasses.dataclass
class Weights:
    v: Any
    n: float


def test_pullbacks_of_gradients_take_dataclasses() -> None:
    def f(x: Any, s: Any) -> Any:
        return np.sum(s.v * x * x * s.v) * s.n

    x, s, seed = X, Weights(X * 2, 0.5), (X + 1.0, Weights(X - 1.0, 0.25))
    _, pullback = vjp(grad(f, (0, 1)), x, s)

    def paired(x: Any, v: Any, n: Any) -> Any:
        x_bar, s_bar = grad(f, (0, 1))(x, Weights(v, n))
        return np.sum(seed[0] * x_bar) + np.sum(seed[1].v * s_bar.v) + seed[1].n * s_bar.n

    x_bar, s_bar = pullback(seed)
    for found, place in ((x_bar, 0), (s_bar.v, 1), (s_bar.n, 2)):
        np.testing.assert_allclose(found, numeric_gradient(paired, (x, s.v, s.n), place), rtol=1e-7)


class Holder:
    def __init__(self, v: Any) -> None:
        self.v = v


def weighted(x: Any, k: Any) -> Any:
    a = Holder(x * 1.0).v
    b = a if x[0] > 0.0 else k
    b[[0, 2]] += x[2]
    r = np.cumsum(b)[-1] * x[0]
    return np.sum(b * x) + r


def test_the_halves_of_a_call_share_what_a_gradient_keeps_for_a_pullback() -> None:
    """The forward half of `weighted` reads what its reverse half has added to the adjoint of a number."""

    def f(x: Any, k: Any) -> Any:
        return weighted(x, k)

    x, k = X[:3], X[1:].copy()
    way, seed = np.array([1.0, -0.5, 0.25]), np.array([0.3, 2.0, -1.0])
    x_bar, k_bar = vjp(grad(f, (0, 1)), x, k)[1]((seed, np.zeros(3)))
    expected = richardson_jvp(lambda x: seed @ grad(f)(x, k), (x,), (way,))
    assert x_bar @ way == pytest.approx(expected, rel=1e-8)
    assert not k_bar.any()


def lowered(a: Any, fuel: int) -> Any:
    if fuel <= 0:
        return np.sum(a * a)
    a[0] = math.tanh(abs(1.7 + math.cos(a.mean())))
    return lowered(a, fuel - 1)


def test_signs_of_what_may_be_complex_are_real_where_it_is_real() -> None:
    """A recursion saves numbers of which the types are not known where its reverse half is differentiated."""
    first = grad(lambda x: lowered(x * 1.0, 2) + np.sum(x**3))
    x, d = np.array([0.4, 0.2, -0.7]), np.array([1.0, 0.5, -0.3])
    expected = numeric_gradient(lambda v: float(first(v) @ d), (x,))
    np.testing.assert_allclose(jvp(first, (x,), (d,))[1], expected, rtol=1e-6)


def product_of_what_is_set_at_last(x: Any) -> Any:
    h = [x[0], x[1] * 2.0]
    try:
        return functools.reduce(lambda p, q: p * q, h)
    finally:
        h[0] = x[1]


def test_a_handler_that_sets_an_item_of_what_has_no_value_there() -> None:
    """The gradient has a handler that runs before its list has a value: it is no text that Python takes."""
    first, x = grad(product_of_what_is_set_at_last), X[:2]
    np.testing.assert_allclose(first(x), [2.0 * x[1], 2.0 * x[0]])
    try:
        found = jvp(first, (x,), (x,))[1]
    except UnsupportedError:
        return
    np.testing.assert_allclose(found, [2.0 * x[1], 2.0 * x[0]])


def differences_with_an_end(x: Any) -> Any:
    for i in range(2):
        x = x - 0.1 * np.diff(x, append=x[:1], prepend=x[i])[1:] * x
    return np.sum(x**3)


def test_the_ends_of_differences_say_where_parts_of_an_adjoint_are() -> None:
    """And no more: a part of an array that is changed elsewhere may stand there."""
    expected = richardson_jvp(grad(differences_with_an_end), (X,), (X,))
    np.testing.assert_allclose(jvp(grad(differences_with_an_end), (X,), (X,))[1], expected, rtol=1e-6)
    _, pullback = vjp(grad(differences_with_an_end), X)
    np.testing.assert_allclose(pullback(X)[0], expected, rtol=1e-6)
