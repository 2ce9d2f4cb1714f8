"""Tangents over their functions, products with Hessians over gradients, and Hessians beside other libraries."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from . import array_cases, network_cases, scalar_cases
from .array_cases import logistic_regression, rosenbrock
from .case import Case, autograd_primal, jax_primal
from .tables import number, progress, summary, table
from .timing import Thunk, WrongGradientError, assert_same, interleave, primal_thunk, s2sad_thunk

AIMS = {"jvp/primal": 2.2, "jvp/hand": 1.15, "hvp/gradient": 2.5}


def logsumexp_jvp(x, x_dot):
    m = np.max(x)
    e = np.exp(x - m)
    s = np.sum(e)
    return m + np.log(s), e @ x_dot / s


def rosenbrock_jvp(x, x_dot):
    head, head_dot = x[:-1], x_dot[:-1]
    r = x[1:] - head**2
    r_dot = x_dot[1:] - 2.0 * head * head_dot
    q = 1.0 - head
    return np.sum(100.0 * r**2 + q**2), np.sum(200.0 * r * r_dot - 2.0 * q * head_dot)


def elementwise_jvp(x, x_dot):
    s = np.sin(x)
    a = x * s
    a_dot = (s + x * np.cos(x)) * x_dot
    b = np.exp(-0.5 * a**2)
    c = np.tanh(a + b)
    c_dot = (1.0 - c**2) * (a_dot - b * a * a_dot)
    q = 1.0 + x**2
    y = c / q
    return np.sum(y), np.sum((c_dot - y * 2.0 * x * x_dot) / q)


def scalar_loop_jvp(x, x_dot):
    y, y_dot = x, x_dot
    for _ in range(50):
        y_dot = math.cos(y) * y_dot + 0.5 * x_dot
        y = math.sin(y) + 0.5 * x
    return y * y, 2.0 * y * y_dot


def logistic_jvp(w, b, X, y, w_dot, b_dot):
    margin = y * (X @ w + b)
    e = np.exp(-margin)
    margin_dot = y * (X @ w_dot + b_dot)
    return np.mean(np.log1p(e)), np.sum(e / (1.0 + e) * margin_dot) / -len(y)


def mlp_jvp(W1, b1, W2, b2, X, Y, W1_dot, b1_dot, W2_dot, b2_dot):
    h = np.tanh(X @ W1 + b1)
    h_dot = (1.0 - h * h) * (X @ W1_dot + b1_dot)
    r = h @ W2 + b2 - Y
    r_dot = h_dot @ W2 + h @ W2_dot + b2_dot
    return 0.5 * np.mean(np.sum(r * r, axis=1)), np.sum(r * r_dot) / len(X)


def rnn_jvp(W, U, b, xs, W_dot, U_dot, b_dot):
    h = np.zeros(len(b))
    h_dot = np.zeros(len(b))
    for x in xs:
        a_dot = W_dot @ h + W @ h_dot + U_dot @ x + b_dot
        h = np.tanh(W @ h + U @ x + b)
        h_dot = (1.0 - h * h) * a_dot
    return np.sum(h * h), 2.0 * (h @ h_dot)


def pendulum_jvp(theta, omega, damping, theta_dot, omega_dot, damping_dot):
    dt = 0.01
    for _ in range(1000):
        force = -math.sin(theta) - damping * omega
        force_dot = -math.cos(theta) * theta_dot - damping_dot * omega - damping * omega_dot
        theta, theta_dot = theta + dt * omega, theta_dot + dt * omega_dot
        omega, omega_dot = omega + dt * force, omega_dot + dt * force_dot
    return theta * theta + omega * omega, 2.0 * (theta * theta_dot + omega * omega_dot)


HAND: dict[Callable[..., Any], Callable[..., Any]] = {
    array_cases.logsumexp: logsumexp_jvp,
    rosenbrock: rosenbrock_jvp,
    array_cases.elementwise: elementwise_jvp,
    logistic_regression: logistic_jvp,
    network_cases.mlp: mlp_jvp,
    network_cases.rnn: rnn_jvp,
    scalar_cases.scalar_loop: scalar_loop_jvp,
    scalar_cases.pendulum: pendulum_jvp,
}


def _regression_200() -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(4)
    return 0.1 * rng.standard_normal(200), rng.standard_normal((500, 200)), rng.choice([-1.0, 1.0], 500)


def _logistic_200(w, X, y):
    return np.mean(np.log1p(np.exp(-(y * (X @ w)))))


HESSIANS = (
    Case("rosenbrock_100", rosenbrock, None, lambda: (np.random.default_rng(3).standard_normal(100),)),
    Case("logistic_500x200", _logistic_200, None, _regression_200),
)


def directions(case: Case, args: tuple[Any, ...]) -> list[Any]:
    """A tangent for each argument that is differentiated, None for the others."""
    argnums = (case.argnums,) if isinstance(case.argnums, int) else case.argnums
    rng = np.random.default_rng(9)
    return [
        None if i not in argnums else rng.standard_normal(np.shape(a)) if np.shape(a) else 0.7
        for i, a in enumerate(args)
    ]


def _parts(case: Case, values: Any) -> tuple[Any, ...]:
    return (values,) if isinstance(case.argnums, int) else values


def run_case(case: Case, rounds: int) -> dict[str, float]:
    """Ratios of the best times, after each derivative was found right by the one of the order below."""
    from s2sad import hvp, jvp

    args = case.make_args()
    dots = directions(case, args)
    gradient = s2sad_thunk(case, args)
    thunks: dict[str, Thunk] = {"primal": primal_thunk(case, args), "gradient": gradient}
    thunks["jvp"] = partial(jvp, case.primal, args, dots)
    given = [d for d in dots if d is not None]
    slope = sum(float(np.sum(g * d)) for g, d in zip(_parts(case, gradient()), given, strict=True))
    assert_same("jvp", thunks["jvp"](), (case.primal(*copy.deepcopy(args)), np.asarray(slope)[()]))
    if case.primal in HAND:
        thunks["hand"] = partial(HAND[case.primal], *args, *given)
        assert_same("hand", thunks["hand"](), thunks["jvp"]())
    h = 1e-6
    moved = [[a if d is None else a + s * h * d for a, d in zip(args, dots, strict=True)] for s in (1.0, -1.0)]
    ahead, behind = [_parts(case, s2sad_thunk(case, tuple(at))()) for at in moved]
    thunks["hvp"] = partial(hvp, case.primal, args, dots)
    product = thunks["hvp"]()
    products = [p for p in (product if isinstance(product, tuple) else (product,)) if p is not None]
    for p, a, b in zip(products, ahead, behind, strict=True):
        expected = (a - b) / (2.0 * h)
        if not np.allclose(p, expected, rtol=1e-4, atol=1e-5 * (1e-3 + float(np.max(np.abs(expected))))):
            raise WrongGradientError("hvp is not the difference of gradients")
    times = {name: min(seconds) for name, seconds in interleave(thunks, rounds).items()}
    pairs = (("jvp", "primal"), ("jvp", "hand"), ("hvp", "gradient"))
    return {f"{over}/{under}": times[over] / times[under] for over, under in pairs if under in times}


def run_hessian(case: Case, rounds: int, others: list[str]) -> dict[str, float]:
    """Milliseconds of the Hessian by each library, best of the rounds."""
    from s2sad import hessian

    args = case.make_args()
    thunks: dict[str, Thunk] = {"s2sad": partial(hessian(case.primal), *args)}
    expected = thunks["s2sad"]()
    if "autograd" in others:
        import autograd

        thunks["autograd"] = partial(autograd.hessian(autograd_primal(case)), *args)
    if "jax" in others:
        import jax

        primal = jax_primal(case)
        compiled, on_jax = jax.jit(jax.hessian(primal)), tuple(map(jax.numpy.asarray, args))
        thunks["jax"] = lambda: compiled(*on_jax).block_until_ready()
    for name, thunk in thunks.items():
        assert_same(name, thunk(), expected)
    return {name: 1e3 * min(seconds) for name, seconds in interleave(thunks, min(rounds, 7)).items()}


def orders(cases: dict[str, Case], rounds: int, others: list[str]) -> dict[str, Any]:
    """Print both tables, and return the figures."""
    rows = [["case", *AIMS]]
    figures: dict[str, Any] = {}
    for name, case in cases.items():
        progress(name)
        found = figures[name] = run_case(case, rounds)
        rows.append([name, *(number(found.get(column)) for column in AIMS)])
    lines = []
    for column, aim in AIMS.items():
        s = summary({name: f[column] for name, f in figures.items() if column in f})
        mean, worst = number(s["geometric_mean"]), number(s["worst"])
        lines.append(f"{column}: geometric mean {mean}, worst {worst} ({s['worst_case']}); aim: {aim}")
    hessians = [["Hessian, ms", "s2sad", *others]]
    for case in HESSIANS:
        progress(case.name)
        ms = figures[f"hessian {case.name}"] = run_hessian(case, rounds, others)
        hessians.append([case.name, *(number(ms[name]) for name in ("s2sad", *others))])
    progress("")
    print("\n".join([table(rows), *lines, "", table(hessians)]))
    return figures
