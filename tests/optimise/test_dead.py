"""What nobody reads goes, calls of functions too, and with it nothing that Python's own run does or raises."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient

U = np.array([0.3, 0.4, 0.5])
LOG: list[float] = []
RNG = np.random.default_rng(3)


def scaled(u: Any) -> Any:
    return 2.0 * u


def smoothed(u: Any, n: int) -> Any:
    u = u.copy()
    for _ in range(n):
        u[1:-1] = 0.25 * (u[:-2] + 2.0 * u[1:-1] + u[2:])
    return u


def loss_of_scaled(u: Any) -> Any:
    r = scaled(u)
    return np.sum(r)


def loss_of_smoothed(u: Any) -> Any:
    result = smoothed(u, 3)
    return np.sum(result)


def through_two(u: Any) -> Any:
    return scaled(smoothed(u, 2))


def loss_through_two(u: Any) -> Any:
    return np.sum(through_two(u))


@pytest.mark.parametrize(
    ("f", "names"),
    [
        (loss_of_scaled, ["scaled"]),
        (loss_of_smoothed, ["smoothed"]),
        (loss_through_two, ["through_two", "scaled", "smoothed"]),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_calls_whose_results_nobody_reads(f: Callable[..., Any], names: list[str]) -> None:
    found = grad(f)
    h = np.cbrt(np.finfo(float).eps)
    expected = [(f(U + e) - f(U - e)) / (2 * h) for e in h * np.eye(3)]
    np.testing.assert_allclose(found(U), expected, rtol=1e-8)
    assert not [name for name in names if f"{name}_forward" in found.source]


def logs(u: Any) -> Any:
    LOG.append(1.0)
    return u * 2.0


def prints(u: Any) -> Any:
    print("here")
    return u * 2.0


def draws(u: Any) -> Any:
    return u * 2.0 + RNG.normal(size=3)


def raises(u: Any) -> Any:
    if u[0] > 0.0:
        raise ValueError("positive")
    return u * 2.0


def asserts(u: Any) -> Any:
    assert u[0] < 0.0
    return u * 2.0


def calls_what_draws(u: Any) -> Any:
    return scaled(draws(u))


def run(call: Callable[[Any], Any]) -> Any:
    """What a call prints, raises, appends and draws."""
    LOG.clear()
    RNG.bit_generator.state = np.random.default_rng(3).bit_generator.state
    raised = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            call(U.copy())
        except (ValueError, AssertionError) as error:
            raised = type(error)
    return raised, printed.getvalue(), list(LOG), RNG.random()


def losses() -> list[Callable[[Any], Any]]:
    def loss_of_logs(u: Any) -> Any:
        r = logs(u)
        return np.sum(r)

    def loss_of_prints(u: Any) -> Any:
        r = prints(u)
        return np.sum(r)

    def loss_of_draws(u: Any) -> Any:
        r = draws(u)
        return np.sum(r)

    def loss_of_raises(u: Any) -> Any:
        r = raises(u)
        return np.sum(r)

    def loss_of_asserts(u: Any) -> Any:
        r = asserts(u)
        return np.sum(r)

    def loss_of_calls(u: Any) -> Any:
        r = calls_what_draws(u)
        return np.sum(r)

    def tried(u: Any) -> Any:
        try:
            r = raises(u)
        except ValueError:
            return np.sum(u)
        return np.sum(r)

    return [
        loss_of_logs, loss_of_prints, loss_of_draws, loss_of_raises, loss_of_asserts,
        loss_of_calls, tried,
    ]  # fmt: skip


@pytest.mark.parametrize("f", losses(), ids=lambda f: f.__name__)
def test_effects_stay(f: Callable[[Any], Any]) -> None:
    assert run(grad(f)) == run(f)


def first_raises(u: Any, i: int) -> Any:
    return u * 2.0 + u[i]


def caught(u: Any, i: int) -> Any:
    try:
        first_raises(u, i)
    except IndexError:
        return np.sum(u)
    return np.sum(u * u)


@pytest.mark.parametrize("i", [1, 7])
def test_a_tried_call_decides_by_what_it_raises(i: int) -> None:
    np.testing.assert_allclose(grad(caught)(U, i), 2.0 * U if i == 1 else np.ones(3))


def heights(slope, y, t, dt):
    for _ in range(3):
        y = y + dt * slope(t + dt / 2, y)
        t += dt
    return y


def test_what_an_inlined_function_does_not_read_is_not_computed() -> None:
    def f(x):
        return np.sum(heights(lambda t, y: np.sin(y) * x, x, 0.0, 0.1))

    x = np.array([0.3, -1.2])
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-7)
    assert not any("t + " in line.partition("#")[0] for line in grad(f).source_for(x).splitlines())


def test_what_an_expression_asks_for_stays() -> None:
    def f(x, n):
        n + 1
        x[n]
        return np.sum(x)

    assert "n + 1" not in grad(f).source_for(np.ones(3), 1)
    with pytest.raises(IndexError):
        grad(f)(np.ones(3), 7)
