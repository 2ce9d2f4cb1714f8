"""Derivatives that a differentiated function makes of functions, which see what is differentiated."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import s2sad
from s2sad import elementwise_grad, grad, hessian, hvp, jacfwd, jacobian, jacrev, jvp, value_and_grad, vjp
from s2sad.errors import ArgumentError
from tests.oracle import richardson_jvp

POINTS = np.array([1.0, 2.0])
WEIGHTS = np.array([0.7, 1.3])
PROGRAMS: list[Callable[..., Any]] = []


def program(f: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS.append(f)
    return f


def height(t: Any, w: Any) -> Any:
    return np.sum(np.sin(t * w) * w)


def slope(f: Any, x: Any) -> Any:
    return jvp(f, (x,), (1.0,))[1]


class Model:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def energy(self, t: Any, w: Any) -> Any:
        return self.scale * np.sum(t**3 * w)


MODEL = Model(1.5)


@program
def by_lambda(w: Any) -> Any:
    g = grad(lambda t: height(t, w))
    return np.sum(g(POINTS) ** 2)


@program
def by_definition(w: Any) -> Any:
    def loss(t: Any) -> Any:
        return height(t, w)

    return np.sum(grad(loss)(POINTS) ** 2)


@program
def by_decorator(w: Any) -> Any:
    @grad
    def g(t: Any) -> Any:
        return height(t, w)

    return np.sum(g(POINTS) * w)


@program
def by_module(w: Any) -> Any:
    return np.sum(s2sad.grad(lambda t: height(t, w))(w * w) ** 2)


@program
def of_a_known_function(w: Any) -> Any:
    return np.sum(grad(height, 1)(POINTS, w) ** 2)


@program
def of_a_method(w: Any) -> Any:
    return np.sum(grad(MODEL.energy)(w, w) ** 2)


def wave(t: Any, layers: Any) -> Any:
    h = np.array([t])
    for i, (u, b) in enumerate(layers):
        h = h @ u + b
        if i < len(layers) - 1:
            h = np.tanh(h)
    return h[0]


@program
def of_a_network_twice(w: Any) -> Any:
    layers = [(w[None], w * 0.5), (np.cos(w)[:, None], w[:1])]
    return grad(grad(wave))(0.3, layers) ** 2 + grad(wave)(0.1, layers) * w[0]


@program
def of_several(w: Any) -> Any:
    a, b = grad(lambda t, s: height(t, w) * s, (0, 1))(POINTS, 2)
    return np.sum(a) * b


@program
def of_a_named_argument(w: Any) -> Any:
    return np.sum(grad(lambda t, s: height(t, w * s))(s=w, t=POINTS) ** 2)


@program
def with_value(w: Any) -> Any:
    value, g = value_and_grad(lambda t: height(t, w))(POINTS)
    return value + np.sum(g * w)


@program
def with_auxiliary(w: Any) -> Any:
    g, aux = grad(lambda t: (height(t, w), t * w), has_aux=True)(POINTS)
    return np.sum(g * aux)


@program
def of_a_dict(w: Any) -> Any:
    g = grad(lambda p: height(p["a"], p["b"] * w))({"a": w, "b": 2 * w})
    return np.sum(g["a"] * g["b"])


@program
def twice(w: Any) -> Any:
    total = 0.0
    for t in (0.1, 0.5):
        total = total + grad(grad(lambda s: np.sum(np.tanh(w * s))))(t) ** 2
    return total


@program
def three_levels(w: Any) -> Any:
    return np.sum(grad(lambda a: np.sum(grad(lambda b: height(a * b, w))(w) ** 2))(POINTS) ** 2)


@program
def inner_steps(w: Any) -> Any:
    def inner(p: Any) -> Any:
        return height(p, w)

    p = w
    for _ in range(3):
        p = p - 0.1 * grad(inner)(p)
    return inner(p)


@program
def residual(w: Any) -> Any:
    def u(t: Any) -> Any:
        return np.sum(np.tanh(w * t))

    found = [grad(grad(u))(t) + u(t) for t in np.linspace(0.0, 1.0, 3)]
    return np.sum(np.array(found) ** 2)


@program
def tangent(w: Any) -> Any:
    return np.sum(jvp(lambda t: np.sin(t * w) * w, (w,), (w * w,))[1])


@program
def tangents_of_one(w: Any) -> Any:
    value, dot = jvp(height, (POINTS, w), (w, None))
    return value * dot


@program
def tangent_with_auxiliary(w: Any) -> Any:
    value, dot, aux = jvp(lambda t: (t * w, t), (w,), (w * w,), has_aux=True)
    return np.sum(value * dot * aux)


@program
def tangent_of_gradient(w: Any) -> Any:
    return np.sum(jvp(grad(lambda t: height(t, w)), (POINTS,), (w,))[1])


@program
def pullback(w: Any) -> Any:
    value, pull = vjp(lambda t: np.sin(t * w) * w, w)
    return np.sum(pull(w * value)[0])


@program
def pullback_of_two(w: Any) -> Any:
    value, pull = vjp(height, POINTS, w)
    a, b = pull(value)
    return np.sum(a * b)


@program
def product(w: Any) -> Any:
    return np.sum(hvp(lambda t: height(t, w), (POINTS,), (w,)))


@program
def curvature(w: Any) -> Any:
    found = hessian(lambda t: height(t, w))(w)
    return np.sum(found * found)


@program
def columns(w: Any) -> Any:
    found = jacfwd(lambda a, t, b: a * np.sin(t * w) * w * b, 1)(w, w, 2.0)
    return np.sum(found * found)


@program
def rows(w: Any) -> Any:
    return np.sum(jacrev(lambda t: np.sin(t * w) * w)(w) ** 2) + np.sum(jacobian(lambda t: t * w)(w) ** 3)


@program
def elements(w: Any) -> Any:
    return np.sum(elementwise_grad(lambda t: np.sin(t * w) * w)(w) ** 2)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_both_modes_agree_with_differences(f: Any) -> None:
    way = np.array([0.3, -0.8])
    wanted = richardson_jvp(f, [WEIGHTS], [way])
    assert grad(f)(WEIGHTS) @ way == pytest.approx(wanted, rel=1e-8)
    value, dot = jvp(f, (WEIGHTS,), (way,))
    assert value == f(WEIGHTS)
    assert dot == pytest.approx(wanted, rel=1e-8)


#: What a program imports besides ``grad``, with its value and its gradient at [1, 2] for the sum of the cubes.
_ALONE = {
    "grad": ("np.sum(grad(cubes)(x))", [6.0, 12.0]),
    "value_and_grad": ("value_and_grad(cubes)(x)[0]", [3.0, 12.0]),
    "vjp": ("np.sum(vjp(cubes, x)[1](1.0)[0])", [6.0, 12.0]),
    "jvp": ("jvp(cubes, (x,), (np.ones(2),))[1]", [6.0, 12.0]),
    "hvp": ("np.sum(hvp(cubes, (x,), (np.ones(2),)))", [6.0, 6.0]),
    "hessian": ("np.sum(hessian(cubes)(x))", [6.0, 6.0]),
    "jacfwd": ("np.sum(jacfwd(cubes)(x))", [6.0, 12.0]),
    "jacrev": ("np.sum(jacrev(cubes)(x))", [6.0, 12.0]),
    "jacobian": ("np.sum(jacobian(cubes)(x))", [6.0, 12.0]),
    "elementwise_grad": ("np.sum(elementwise_grad(lambda t: t**3)(x))", [6.0, 12.0]),
}


@pytest.mark.parametrize("name", list(_ALONE)[::3])
def test_each_works_in_a_program_that_imports_no_other(name: str, tmp_path: Path) -> None:
    expression, wanted = _ALONE[name]
    script = tmp_path / "program.py"
    script.write_text(
        f"""import numpy as np
from s2sad import grad
from s2sad import {name}

def cubes(t):
    return np.sum(t**3)

def f(x):
    return {expression}

print(grad(f)(np.array([1.0, 2.0])).tolist())
"""
    )
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert ran.stdout.strip() == str(wanted), ran.stderr


#: The programs that are differentiated twice.
_TWICE = {"by_lambda", "twice", "inner_steps", "tangent", "product", "elements", "pullback"}


@pytest.mark.parametrize(
    "f",
    [f for f in PROGRAMS if f.__name__ in _TWICE],
    ids=lambda f: f.__name__,
)
def test_second_derivatives_agree_with_differences(f: Any) -> None:
    way = np.array([0.3, -0.8])

    def along(w: Any) -> Any:
        return np.sum(grad(f)(w) * way)

    wanted = richardson_jvp(along, [WEIGHTS], [way])
    assert grad(along)(WEIGHTS) @ way == pytest.approx(wanted, rel=1e-7)
    assert jvp(along, (WEIGHTS,), (way,))[1] == pytest.approx(wanted, rel=1e-7)


class TestPerturbations:
    """What one derivative perturbs is constant to the others (Siskind and Pearlmutter 2005)."""

    @pytest.mark.parametrize("outer", [lambda f, x: grad(f)(x), slope])
    @pytest.mark.parametrize(
        ("f", "wanted"),
        [
            (lambda x: x * slope(lambda y: x + y, 1.0), 1.0),
            (lambda x: x * grad(lambda y: x + y)(1.0), 1.0),
            (lambda x: x * slope(lambda y: x * y, 2.0), 6.0),
            (lambda x: x * grad(lambda y: x * y)(2), 6.0),
            (lambda x: x * slope(lambda y: x * y * y, x), 54.0),
            (lambda x: grad(lambda y: x * y * y)(x), 12.0),
            (lambda x: grad(lambda y: grad(lambda z: x * y * z * z)(y))(x), 24.0),
            (lambda x: grad(lambda y: slope(lambda z: x * y * z * z, y))(x), 24.0),
            (lambda x: slope(lambda y: slope(lambda x: x * y, x), 2.0), 0.0),
            (lambda x: slope(lambda y: x, 2.0), 0.0),
        ],
    )
    def test_they_are_not_confused(self, outer: Any, f: Any, wanted: float) -> None:
        assert outer(f, 3.0) == pytest.approx(wanted)

    def test_variables_that_change(self) -> None:
        def f(x: Any) -> Any:
            k = x
            g = grad(lambda y: k * y * y)
            k = 3.0 * k
            return g(x)

        # 6 x squared, as the function reads k when it is called.
        assert grad(f)(2.0) == pytest.approx(24.0)


class TestChecks:
    def test_tangents_of_another_shape_raise(self) -> None:
        def f(w: Any) -> Any:
            return np.sum(jvp(lambda t: t * w, (w,), (1.0,))[1])

        with pytest.raises(ArgumentError, match="shape"):
            f(WEIGHTS)
        with pytest.raises(ArgumentError, match="shape"):
            grad(f)(WEIGHTS)

    def test_jacobians_of_dicts_raise(self) -> None:
        def f(w: Any) -> Any:
            return np.sum(jacfwd(lambda p: p["a"] * w)({"a": w})["a"])

        with pytest.raises(ArgumentError):
            grad(f)(WEIGHTS)

    def test_a_pullback_of_what_draws_raises(self) -> None:
        rng = np.random.default_rng(0)

        def f(w: Any) -> Any:
            _, pull = vjp(lambda t: t * w * rng.normal(), w)
            return np.sum(pull(w)[0])

        with pytest.raises(ArgumentError, match="two values"):
            grad(f)(WEIGHTS)
