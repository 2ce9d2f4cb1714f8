"""Loops that hand on arrays of their turns: `s2sad.optimise.handed`."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp
from tests.oracle import numeric_gradient
from tests.sources import names_of

X, C = np.array([0.6, 0.9, 0.4, 0.8, 0.7]), 0.37
WEIGHTS = np.array([0.3, -0.2, 0.5, 0.7, 0.1])


def diffusion(u, c):
    for _ in range(4):
        new = u.copy()
        new[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = new
    return np.sum(u**2)


def wave(u, c):
    past = u.copy()
    for _ in range(4):
        new = np.zeros_like(u)
        new[1:-1] = 2.0 * u[1:-1] - past[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        past, u = u, new
    return np.sum(u**2) + np.sum(past * WEIGHTS)


REVERSE = """\
    # L26: return np.sum(u**2)
    u_bar = 2 * u
    # L22: for _ in range(4)
    for _ in reversed(range(4)):
        t = saved.pop()
        # L23: new = u.copy()
        new_bar = u_bar
        # L24: new[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        t_bar_2 = new_bar[1:-1].copy()
        new_bar[1:-1] = 0.0
        t_bar = unbroadcast(t_bar_2 * c, t.shape)
        new_bar[:-2] += t_bar
        new_bar[2:] += t_bar
        new_bar[1:-1] += t_bar_2 - 2.0 * t_bar
        # L22: for _ in range(4)
        u_bar = new_bar
    return u_bar
"""


def parts(f: Callable[..., Any]) -> tuple[str, str]:
    """The forward and the reverse part of a gradient."""
    found = grad(f)
    found(X, C)
    forward, _, reverse = found.source.partition("    # --- reverse ---\n")
    return forward.partition("--- forward ---")[2], reverse


def test_text() -> None:
    """No shadow is kept, and none is made in the loop."""
    forward, reverse = parts(diffusion)
    assert reverse.strip() == REVERSE.strip()
    assert "_bar" not in forward


def test_what_two_turns_read_is_handed_on_twice() -> None:
    forward, reverse = parts(wave)
    assert "_bar" not in forward
    lines = [line.strip() for line in reverse.partition("reversed")[2].splitlines()]
    assert [line for line in lines if line.endswith(("= u_bar", "= past_bar"))][:2] == [
        "new_bar = u_bar",
        "u_bar = past_bar",
    ]
    assert sum(line.startswith("past_bar = np.zeros_like(") for line in lines) == 1


@pytest.mark.parametrize("f", [diffusion, wave])
def test_derivatives(f: Callable[..., Any]) -> None:
    for argnum in (0, 1):
        expected = numeric_gradient(f, (X, C), argnum)
        np.testing.assert_allclose(grad(f, argnum)(X, C), expected, rtol=1e-7, atol=1e-8)

    def along(u: Any) -> Any:
        return np.sum(grad(f)(u, C) * WEIGHTS)

    expected = numeric_gradient(along, (X,))
    np.testing.assert_allclose(hvp(f, (X, C), (WEIGHTS, None)), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(grad(along)(X), expected, rtol=1e-6, atol=1e-7)


#: What is there before the loop, what a turn does, and what follows.  Of ``n = 0`` and ``1`` turns, and more.
BEFORE = ["v = u", "v = 0.5 * u", "u = u * 1.0; v = u"]
TURNS = [
    "new[0] = c * u[1]; u = new",
    "x[1] = c; new[0] = u[1] * u[2]; u = new",
    "new[0] = u[1] * u[2]; x[1] = c; u = new",
    "w = u; w[1] = 0.2 * c; new[2] = u[1] * u[3]; v = u.copy(); u = new",
    "new = np.zeros_like(u); new[0] = c; new += u; u = new",
    "new[1:] *= u[:-1]; v, u = u, new; u[3] = c * v[0]",
    "new[1:] *= v[:-1]; v = u; u = new; total = total + np.sum(u * x)",
]
AFTER = ["np.sum(u**2) + np.sum(v * x) + total", "np.dot(u, u - x) + total"]


def made(before: str, turn: str, written: bool, result: str) -> Callable[..., Any]:
    lines = ["def f(x, c, n):", "    u = x", *(f"    {s}" for s in before.split("; ")), "    total = 0.0"]
    lines += ["    for t in range(n):", *(f"        {s}" for s in ("new = u.copy()", *turn.split("; ")))]
    text = "\n".join([*lines, *(["    u[1] = c"] if written else []), f"    return {result}"]) + "\n"
    name = f"<handed on: {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {"np": np, "__name__": __name__}
    exec(compile(text, name, "exec"), space)
    f: Callable[..., Any] = space["f"]
    return f


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("before", BEFORE)
def test_arrays_that_are_there_before_have_other_names(before: str, turn: str) -> None:
    for written, result in list(itertools.product([False, True], AFTER))[(len(before) + len(turn)) % 2 :: 2]:
        f = made(before, turn, written, result)

        def run(x: Any, c: Any, n: int, f: Callable[..., Any] = f) -> Any:
            return f(x.copy(), c, n)

        for n in (0, 1, 3):
            found = grad(f, argnums=(0, 1))(X.copy(), C, n)
            for argnum in (0, 1):
                expected = numeric_gradient(run, (X, C, n), argnum)
                np.testing.assert_allclose(found[argnum], expected, rtol=1e-7, atol=1e-8, err_msg=f"{n} turns")


def flattened(u, n):
    for _ in range(n):
        new = u.copy()
        new[0, 0] = u[1, 1] * u[0, 1]
        u = new
    flat = u.reshape(-1)
    flat[0] = 5.0
    return np.sum(u * np.arange(6.0).reshape(2, 3) ** 2) + np.sum(u) + np.sum(flat**2)


@pytest.mark.parametrize("place", [np.s_[:, :3], np.s_[:, ::2], np.s_[::-1, ::2], np.s_[::-1, ::-2]])
def test_shadows_have_the_layout_that_decides_what_is_a_view(place: Any) -> None:
    def laid_out(values: Any) -> Any:
        found = np.zeros((2, 6))[place]
        found[...] = values
        return found

    u = np.linspace(0.4, 1.3, 6).reshape(2, 3)
    for n in (0, 1, 2):
        expected = numeric_gradient(lambda v, n=n: flattened(laid_out(v), n), (u,))
        np.testing.assert_allclose(grad(flattened)(laid_out(u), n), expected, rtol=1e-7, atol=1e-8)


TURNS_OF_CALLEES = ["b = np.arctan(b * 1.5)", "b = b * x[0]; b[0] = x", "b = np.sin(b); v = b[1:]; v[0] += x"]
#: What a callee returns, and how its caller gets the view from that.
VIEWS = {
    "b[-1]": "",
    "b[:, :-1]": "",
    "b.T": "",
    "b": "",
    "b[1:][0]": "",
    "{'u': b[0]}": "['u']",
    "[x[0], b[1:]]": "[1]",
}
CALLERS = ["", "u[0] = x[1] * u[1]", "u *= x[2]; a[0, 0] = x[0]"]


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("turn", TURNS_OF_CALLEES)
def test_views_of_what_a_loop_leaves_are_returned(turn: str, view: str, caller: str) -> None:
    """The caller adds to their shadows before the callee's reverse part runs."""
    text = (
        f"def g(x, b, n):\n    for t in range(n):\n        {turn}\n    return {view}\n"
        f"def f(x, n):\n    a = np.outer(x, x)\n    u = g(x, a, n){VIEWS[view]}\n    {caller or 'pass'}\n"
        "    return np.sum(u**2) + np.sum(a * np.arange(3.0))\n"
    )
    f, x = names_of(text)["f"], np.array([0.5, 0.7, 0.9])
    for n in (0, 1, 3):
        expected = numeric_gradient(lambda x, n=n: f(x, n), (x,))
        np.testing.assert_allclose(grad(f)(x, n), expected, rtol=1e-7, atol=1e-8, err_msg=f"{n} turns")
