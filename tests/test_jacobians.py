"""Jacobians, Hessians, products with vectors: blocks, modes, complex numbers, and bad input."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from s2sad import check_grads, elementwise_grad, grad, hessian, hvp, jacfwd, jacobian, jacrev
from s2sad.errors import ArgumentError, GradientMismatch, S2SADError
from tests.oracle import richardson_jvp

X = np.array([0.5, -1.0, 2.0])


def rosenbrock(x: Any) -> Any:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_hessian(x: Any) -> Any:
    n = len(x)
    h = np.zeros((n, n))
    for i in range(n - 1):
        h[i, i] += 1200.0 * x[i] ** 2 - 400.0 * x[i + 1] + 2.0
        h[i + 1, i + 1] += 200.0
        h[i, i + 1] = h[i + 1, i] = -400.0 * x[i]
    return h


def many(x: Any) -> Any:
    return np.outer(x, np.sin(x))


def few(x: Any) -> Any:
    return np.array([np.sum(x**2), np.prod(x)])


@dataclasses.dataclass
class Pair:
    a: Any
    b: Any


@pytest.mark.parametrize("make", [jacfwd, jacrev, jacobian])
class TestJacobians:
    @pytest.mark.parametrize("f", [many, few, np.sum])
    def test_columns_are_tangents(self, make: Any, f: Any) -> None:
        found = make(f)(X)
        assert found.shape == (*np.shape(f(X)), 3)
        for k, e in enumerate(np.eye(3)):
            np.testing.assert_allclose(found[..., k], richardson_jvp(f, [X], [e]), rtol=1e-8, atol=1e-10)

    def test_numbers(self, make: Any) -> None:
        assert make(lambda x: x**3)(2.0) == pytest.approx(12.0)
        np.testing.assert_allclose(make(lambda x: np.array([x, x**2]))(3.0), [1.0, 6.0])

    def test_blocks(self, make: Any) -> None:
        def f(p: Any, q: Any) -> Any:
            return {"u": p["w"] * q[0], "v": (np.sum(p["w"]) * p["b"], 1.5)}

        p, q = {"w": X, "b": 2.0}, [3.0, np.ones(2)]
        found = make(f, argnums=(0, 1))(p, q)
        np.testing.assert_allclose(found["u"][0]["w"], 3.0 * np.eye(3))
        np.testing.assert_allclose(found["u"][0]["b"], np.zeros(3))
        np.testing.assert_allclose(found["u"][1][0], X)
        assert found["u"][1][1].shape == (3, 2)
        np.testing.assert_allclose(found["v"][0][0]["w"], 2.0 * np.ones(3))
        assert found["v"][0][0]["b"] == np.sum(X)
        np.testing.assert_allclose(found["v"][1][0]["w"], np.zeros(3))
        np.testing.assert_allclose(make(f)(p, q)["u"]["w"], 3.0 * np.eye(3))

    def test_dataclasses(self, make: Any) -> None:
        found = make(lambda p: p.a * p.b)(Pair(2.0, X))
        np.testing.assert_allclose(found.a, X)
        np.testing.assert_allclose(found.b, 2.0 * np.eye(3))

    def test_single_precision(self, make: Any) -> None:
        assert make(many)(X.astype(np.float32)).dtype == np.float32

    def test_holomorphic(self, make: Any) -> None:
        z = np.array([1.0 + 2.0j, 0.5j])
        np.testing.assert_allclose(make(lambda z: z**2 * 1j, holomorphic=True)(z), np.diag(2j * z))

    def test_bad_input(self, make: Any) -> None:
        with pytest.raises(ArgumentError, match="holomorphic"):
            make(lambda z: z**2)(np.array([1.0j]))
        with pytest.raises(ArgumentError, match="real"):
            make(lambda z: z**2, holomorphic=True)(X)
        with pytest.raises(ArgumentError, match="complex"):
            make(lambda x: x * 1j)(X)
        with pytest.raises(ArgumentError, match="argnums"):
            make(many, argnums=1)(X)
        with pytest.raises(S2SADError):
            make(3.0)


class TestHessians:
    def test_rosenbrock(self) -> None:
        x = np.linspace(-1.0, 1.5, 7)
        np.testing.assert_allclose(hessian(rosenbrock)(x), rosenbrock_hessian(x), rtol=1e-12, atol=1e-12)
        v = np.cos(np.arange(7.0))
        np.testing.assert_allclose(hvp(rosenbrock, (x,), (v,)), rosenbrock_hessian(x) @ v, rtol=1e-12)

    def test_blocks(self) -> None:
        found = hessian(lambda a, b: a**2 * np.sum(b), (0, 1))(2.0, X)
        assert found[0][0] == pytest.approx(2.0 * np.sum(X))
        np.testing.assert_allclose(found[0][1], 4.0 * np.ones(3))
        np.testing.assert_allclose(found[1][0], 4.0 * np.ones(3))
        np.testing.assert_allclose(found[1][1], np.zeros((3, 3)))

    def test_products_of_several_arguments(self) -> None:
        def f(a: Any, b: Any, c: Any) -> Any:
            return a**2 * np.sum(b * c)

        a, b = hvp(f, (2.0, X, np.ones(3)), (1.0, X, None))
        assert a == pytest.approx(2.0 * np.sum(X) + 4.0 * np.sum(X))
        np.testing.assert_allclose(b, 4.0 * np.ones(3))

    def test_the_hessian_of_a_vector_is_an_error(self) -> None:
        with pytest.raises(ArgumentError, match="scalar"):
            hessian(many)(X)

    def test_tangents_have_to_fit(self) -> None:
        with pytest.raises(ArgumentError, match="shape"):
            hvp(rosenbrock, (X,), (np.ones(2),))
        with pytest.raises(ArgumentError, match="primals must be a tuple"):
            hvp(rosenbrock, X, X)
        with pytest.raises(ArgumentError, match="2 tangents for 1"):
            hvp(rosenbrock, (X,), (X, X))
        with pytest.raises(ArgumentError, match="every tangent is None"):
            hvp(rosenbrock, (X,), (None,))


class TestElementwise:
    def test_each_element(self) -> None:
        np.testing.assert_allclose(elementwise_grad(lambda x: x**3)(X), 3 * X**2)
        np.testing.assert_allclose(elementwise_grad(np.sin)(X), np.cos(X))
        a, b = elementwise_grad(lambda a, b: a * b, (0, 1))(X, X + 1.0)
        np.testing.assert_allclose(a, X + 1.0)
        np.testing.assert_allclose(b, X)
        assert elementwise_grad(lambda x: x**3)(2.0) == pytest.approx(12.0)


class TestCheckGrads:
    @pytest.mark.parametrize("modes", ["rev", "fwd", ("fwd", "rev")])
    def test_both_modes_and_orders(self, modes: Any) -> None:
        report = check_grads(rosenbrock, (X,), order=2, modes=modes)
        assert len(report.entries) == 2 * (2 if len(modes) == 2 else 1)
        assert check_grads(few, (X,), modes=modes)
        assert check_grads(lambda x: np.sin(x) * x, (0.7,), order=3, modes=modes)

    def test_complex_arguments(self) -> None:
        assert check_grads(lambda z: np.sum(np.abs(z) ** 2 * np.real(z)), (X + 0.5j,), modes=("fwd", "rev"))

    def test_a_wrong_tangent_is_found(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from s2sad import checking

        right = checking.jvp
        monkeypatch.setattr(checking, "jvp", lambda *given: (right(*given)[0], 1.01 * right(*given)[1]))
        with pytest.raises(GradientMismatch, match="WRONG"):
            check_grads(rosenbrock, (X,), modes=("fwd",))
        assert check_grads(rosenbrock, (X,), modes=("rev",))


def test_a_hessian_is_that_of_a_method_too() -> None:
    class Model:
        k = 3.0

        def loss(self, x: Any) -> Any:
            return self.k * np.sum(x**2)

    np.testing.assert_allclose(hessian(Model().loss)(X), 6.0 * np.eye(3))
    np.testing.assert_allclose(jacfwd(grad(Model().loss))(X), 6.0 * np.eye(3))
