"""Kernels that write in place, called for their result: `result = kernel(...)`, of which a loss takes the sum.

Of what the forward sweep of a linear kernel computes nothing is read, since the loss is linear too: the adjoints
written by hand do without one, and begin with ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .case import Case


def average_1d(u, steps):
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = 0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
        u[1:-1] = 0.25 * v[:-2] + 0.5 * v[1:-1] + 0.25 * v[2:]
    return u


def average_1d_hand(u, steps):
    u_bar = np.ones_like(u)
    v_bar = np.zeros_like(u)
    for _ in range(steps):
        for new_bar, old_bar in ((u_bar, v_bar), (v_bar, u_bar)):
            g = 0.25 * new_bar[1:-1]
            new_bar[1:-1] = 0.0
            old_bar[:-2] += g
            old_bar[1:-1] += 2.0 * g
            old_bar[2:] += g
    u_bar += v_bar
    return u_bar


def average_2d(u, steps):
    v = u.copy()
    for _ in range(steps):
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u[1:-1, 1:-1] = 0.25 * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:])
    return u


def average_2d_hand(u, steps):
    u_bar = np.ones_like(u)
    v_bar = np.zeros_like(u)
    for _ in range(steps):
        for new_bar, old_bar in ((u_bar, v_bar), (v_bar, u_bar)):
            g = 0.25 * new_bar[1:-1, 1:-1]
            new_bar[1:-1, 1:-1] = 0.0
            old_bar[:-2, 1:-1] += g
            old_bar[2:, 1:-1] += g
            old_bar[1:-1, :-2] += g
            old_bar[1:-1, 2:] += g
    u_bar += v_bar
    return u_bar


def upwind(u, c, steps):
    for _ in range(steps):
        u[1:] -= c * (u[1:] - u[:-1])
    return u


def upwind_hand(u, c, steps):
    u_bar = np.ones_like(u)
    for _ in range(steps):
        g = c * u_bar[1:]
        u_bar[1:] -= g
        u_bar[:-1] += g
    return u_bar


def burgers(u, c, steps):
    for _ in range(steps):
        u[1:-1] -= c * u[1:-1] * (u[2:] - u[:-2])
    return u


def burgers_hand(u, c, steps):
    u = u.copy()
    saved = []
    for _ in range(steps):
        saved.append(u.copy())
        u[1:-1] -= c * u[1:-1] * (u[2:] - u[:-2])
    u_bar = np.ones_like(u)
    for old in reversed(saved):
        inner_bar = c * u_bar[1:-1]
        d_bar = inner_bar * old[1:-1]
        u_bar[1:-1] -= inner_bar * (old[2:] - old[:-2])
        u_bar[2:] -= d_bar
        u_bar[:-2] += d_bar
    return u_bar


def wave(u, v, c, steps):
    for _ in range(steps):
        v[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u += v
    return u


def wave_hand(u, v, c, steps):
    u_bar = np.ones_like(u)
    v_bar = np.zeros_like(v)
    for _ in range(steps):
        v_bar += u_bar
        g = c * v_bar[1:-1]
        u_bar[2:] += g
        u_bar[1:-1] -= 2.0 * g
        u_bar[:-2] += g
    return u_bar, v_bar


def conduction(u, k, steps):
    for _ in range(steps):
        flux = k * (u[1:] - u[:-1])
        u[1:-1] += flux[1:] - flux[:-1]
    return u


def conduction_hand(u, k, steps):
    u = u.copy()
    saved = []
    for _ in range(steps):
        d = u[1:] - u[:-1]
        saved.append(d)
        flux = k * d
        u[1:-1] += flux[1:] - flux[:-1]
    u_bar = np.ones_like(u)
    k_bar = np.zeros_like(k)
    for d in reversed(saved):
        flux_bar = np.zeros_like(k)
        flux_bar[1:] = u_bar[1:-1]
        flux_bar[:-1] -= u_bar[1:-1]
        k_bar += flux_bar * d
        flux_bar *= k
        u_bar[1:] += flux_bar
        u_bar[:-1] -= flux_bar
    return u_bar, k_bar


def running_product(x):
    for i in range(1, len(x)):
        x[i] = x[i] * x[i - 1]
    return x


def running_product_hand(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] = y[i] * y[i - 1]
    x_bar = np.ones_like(x)
    for i in reversed(range(1, len(y))):
        g = x_bar[i]
        x_bar[i - 1] += g * x[i]
        x_bar[i] = g * y[i - 1]
    return x_bar


def relaxed(u, sweeps):
    for _ in range(sweeps):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1])
    return u


def relaxed_hand(u, sweeps):
    u_bar = np.ones_like(u)
    for _ in range(sweeps):
        for i in reversed(range(1, len(u) - 1)):
            g = 0.5 * u_bar[i]
            u_bar[i] = 0.0
            u_bar[i - 1] += g
            u_bar[i + 1] += g
    return u_bar


def tridiagonal(a, b, d):
    """The solution for the diagonal `b`, with `a` on both sides of it."""
    n = len(b)
    for i in range(1, n):
        w = a[i - 1] / b[i - 1]
        b[i] = b[i] - w * a[i - 1]
        d[i] = d[i] - w * d[i - 1]
    d[n - 1] = d[n - 1] / b[n - 1]
    for i in range(n - 2, -1, -1):
        d[i] = (d[i] - a[i] * d[i + 1]) / b[i]
    return d


def tridiagonal_hand(a, b, d):
    """What each sweep reads is final when it reads it: the pivots, and the solution of the sweep."""
    n = len(b)
    p, y = b.copy(), d.copy()
    for i in range(1, n):
        w = a[i - 1] / p[i - 1]
        p[i] = p[i] - w * a[i - 1]
        y[i] = y[i] - w * y[i - 1]
    x = y.copy()
    x[n - 1] = x[n - 1] / p[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = (x[i] - a[i] * x[i + 1]) / p[i]
    a_bar, p_bar, x_bar = np.zeros_like(a), np.zeros_like(b), np.ones_like(d)
    for i in range(n - 1):
        g = x_bar[i] / p[i]
        x_bar[i] = g
        p_bar[i] = -g * x[i]
        a_bar[i] = -g * x[i + 1]
        x_bar[i + 1] -= g * a[i]
    x_bar[n - 1] = x_bar[n - 1] / p[n - 1]
    p_bar[n - 1] = -x_bar[n - 1] * x[n - 1]
    for i in range(n - 1, 0, -1):
        w = a[i - 1] / p[i - 1]
        w_bar = -x_bar[i] * y[i - 1] - p_bar[i] * a[i - 1]
        x_bar[i - 1] -= x_bar[i] * w
        a_bar[i - 1] += w_bar / p[i - 1] - p_bar[i] * w
        p_bar[i - 1] -= w_bar * w / p[i - 1]
    return a_bar, p_bar, x_bar


def horner(c, x):
    result = np.zeros_like(x)
    for i in range(len(c)):
        result *= x
        result += c[i]
    return result


def horner_hand(c, x):
    r = np.zeros_like(x)
    saved = []
    for i in range(len(c)):
        saved.append(r.copy())
        r *= x
        r += c[i]
    r_bar = np.ones_like(x)
    c_bar, x_bar = np.zeros_like(c), np.zeros_like(x)
    for i in reversed(range(len(c))):
        c_bar[i] = np.sum(r_bar)
        x_bar += r_bar * saved.pop()
        r_bar *= x
    return c_bar, x_bar


def orthogonal(A):
    """Columns made orthonormal, each against those before it."""
    for j in range(A.shape[1]):
        A[:, j] -= A[:, :j] @ (A[:, :j].T @ A[:, j])
        A[:, j] /= np.sqrt(np.sum(A[:, j] ** 2))
    return A


def orthogonal_hand(A):
    Q = A.copy()
    norms, products = [], []
    for j in range(A.shape[1]):
        s = Q[:, :j].T @ Q[:, j]
        Q[:, j] -= Q[:, :j] @ s
        norm = np.sqrt(np.sum(Q[:, j] ** 2))
        Q[:, j] /= norm
        products.append(s)
        norms.append(norm)
    Q_bar = np.ones_like(A)
    for j in reversed(range(A.shape[1])):
        v_bar = (Q_bar[:, j] - Q[:, j] * (Q[:, j] @ Q_bar[:, j])) / norms.pop()
        s_bar = v_bar @ Q[:, :j]
        Q_bar[:, :j] -= np.outer(v_bar, products.pop()) + np.outer(A[:, j], s_bar)
        Q_bar[:, j] = v_bar - Q[:, :j] @ s_bar
    return Q_bar


def logistic_map(u, r, steps):
    """`r` is small enough for what it does not to be chaotic."""
    for _ in range(steps):
        u *= r * (1.0 - u)
    return u


def logistic_map_hand(u, r, steps):
    u = u.copy()
    saved = []
    for _ in range(steps):
        saved.append(u.copy())
        u *= r * (1.0 - u)
    u_bar = np.ones_like(u)
    r_bar = 0.0
    for old in reversed(saved):
        r_bar += np.sum(u_bar * old * (1.0 - old))
        u_bar *= r * (1.0 - 2.0 * old)
    return u_bar, r_bar


def gram(A):
    C = np.zeros((len(A), len(A)))
    for i in range(len(A)):
        for k in range(i + 1):
            C[i, k] += A[i] @ A[k]
    return C


def gram_hand(A):
    A_bar = np.zeros_like(A)
    for i in range(len(A)):
        for k in range(i + 1):
            A_bar[i] += A[k]
            A_bar[k] += A[i]
    return A_bar


def cheapest(cost):
    """What the softly cheapest way down a grid has cost, at every place."""
    for i in range(1, len(cost)):
        cost[i, 1:-1] -= np.log(np.exp(-cost[i - 1, :-2]) + np.exp(-cost[i - 1, 1:-1]) + np.exp(-cost[i - 1, 2:]))
    return cost


def cheapest_hand(cost):
    total = cost.copy()
    saved = []
    for i in range(1, len(cost)):
        e = np.exp(-total[i - 1])
        s = e[:-2] + e[1:-1] + e[2:]
        saved.append((e, s))
        total[i, 1:-1] -= np.log(s)
    cost_bar = np.ones_like(cost)
    for i in reversed(range(1, len(cost))):
        e, s = saved.pop()
        g = cost_bar[i, 1:-1] / s
        cost_bar[i - 1, :-2] += g * e[:-2]
        cost_bar[i - 1, 1:-1] += g * e[1:-1]
        cost_bar[i - 1, 2:] += g * e[2:]
    return cost_bar


def average_1d_loss(u, steps):
    result = average_1d(u, steps)
    return np.sum(result)


def average_2d_loss(u, steps):
    result = average_2d(u, steps)
    return np.sum(result)


def upwind_loss(u, c, steps):
    result = upwind(u, c, steps)
    return np.sum(result)


def burgers_loss(u, c, steps):
    result = burgers(u, c, steps)
    return np.sum(result)


def wave_loss(u, v, c, steps):
    result = wave(u, v, c, steps)
    return np.sum(result)


def conduction_loss(u, k, steps):
    result = conduction(u, k, steps)
    return np.sum(result)


def running_product_loss(x):
    result = running_product(x)
    return np.sum(result)


def relaxed_loss(u, sweeps):
    result = relaxed(u, sweeps)
    return np.sum(result)


def tridiagonal_loss(a, b, d):
    result = tridiagonal(a, b, d)
    return np.sum(result)


def horner_loss(c, x):
    result = horner(c, x)
    return np.sum(result)


def orthogonal_loss(A):
    result = orthogonal(A)
    return np.sum(result)


def logistic_map_loss(u, r, steps):
    result = logistic_map(u, r, steps)
    return np.sum(result)


def gram_loss(A):
    result = gram(A)
    return np.sum(result)


def cheapest_loss(cost):
    result = cheapest(cost)
    return np.sum(result)


def _uniform(*shapes: Any) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(8)
    return tuple(rng.uniform(0.5, 1.0, shape) for shape in shapes)


def _case(loss: Callable[..., Any], hand: Callable[..., Any], count: int, *args: Any) -> Case:
    """`args` are shapes of arrays, in tuples, and numbers."""
    made = [_uniform(a)[0] + 0.1 * i if isinstance(a, tuple) else a for i, a in enumerate(args)]
    argnums = 0 if count == 1 else tuple(range(count))
    return Case(loss.__name__.removesuffix("_loss"), loss, hand, lambda: tuple(made), argnums, in_place=True)


CALLED = {
    case.name: case
    for case in (
        _case(average_1d_loss, average_1d_hand, 1, (400,), 50),
        _case(average_2d_loss, average_2d_hand, 1, (60, 60), 20),
        _case(upwind_loss, upwind_hand, 1, (400,), 0.3, 50),
        _case(burgers_loss, burgers_hand, 1, (400,), 0.1, 50),
        _case(wave_loss, wave_hand, 2, (400,), (400,), 0.2, 50),
        _case(conduction_loss, conduction_hand, 2, (400,), (399,), 10),
        _case(running_product_loss, running_product_hand, 1, (300,)),
        _case(relaxed_loss, relaxed_hand, 1, (60,), 10),
        Case(
            "tridiagonal",
            tridiagonal_loss,
            tridiagonal_hand,
            lambda: (_uniform(199)[0], _uniform(200)[0] + 3.0, _uniform(200)[0] + 0.2),
            (0, 1, 2),
            in_place=True,
        ),
        _case(horner_loss, horner_hand, 2, (30,), (400,)),
        _case(orthogonal_loss, orthogonal_hand, 1, (60, 20)),
        _case(logistic_map_loss, logistic_map_hand, 2, (400,), 1.5, 10),
        _case(gram_loss, gram_hand, 1, (20, 50)),
        _case(cheapest_loss, cheapest_hand, 1, (40, 200)),
    )
}
