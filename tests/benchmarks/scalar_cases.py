"""Programs on Python floats: what a call and a loop cost when there is next to no arithmetic in them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .case import Case


def scalar_loop(x):
    y = x
    for _ in range(50):
        y = math.sin(y) + 0.5 * x
    return y * y


def scalar_loop_hand(x):
    saved = []
    y = x
    for _ in range(50):
        saved.append(y)
        y = math.sin(y) + 0.5 * x
    y_bar = 2.0 * y
    x_bar = 0.0
    for y in reversed(saved):
        x_bar += 0.5 * y_bar
        y_bar *= math.cos(y)
    return x_bar + y_bar


def scalar_chain(x, y):
    a = x * y
    b = np.sin(a)
    c = b + x
    d = np.exp(-c)
    e = d * a
    f = e / (1.0 + b * b)
    g = np.sqrt(f * f + 1.0)
    h = np.log(g) - y
    i = h * c
    j = np.tanh(i)
    k = j - d
    return k * g + 0.5 * x


def scalar_chain_hand(x, y):
    a = x * y
    b = np.sin(a)
    c = b + x
    d = np.exp(-c)
    e = d * a
    q = 1.0 + b * b
    f = e / q
    g = np.sqrt(f * f + 1.0)
    h = np.log(g) - y
    j = np.tanh(h * c)
    k = j - d
    # k * g, tanh(h * c)
    i_bar = g * (1.0 - j * j)
    h_bar = i_bar * c
    c_bar = i_bar * h
    # log(g) - y, sqrt(f * f + 1)
    g_bar = k + h_bar / g
    f_bar = g_bar * f / g
    # e / q, d * a, exp(-c)
    e_bar = f_bar / q
    c_bar -= (e_bar * a - g) * d
    # sin(x * y) + x
    b_bar = c_bar - 2.0 * e_bar * f * b
    a_bar = e_bar * d + b_bar * np.cos(a)
    return a_bar * y + c_bar + 0.5, a_bar * x - h_bar


def pendulum(theta, omega, damping):
    dt = 0.01
    for _ in range(1000):
        force = -math.sin(theta) - damping * omega
        theta = theta + dt * omega
        omega = omega + dt * force
    return theta * theta + omega * omega


def pendulum_hand(theta, omega, damping):
    dt = 0.01
    saved = []
    for _ in range(1000):
        saved.append((theta, omega))
        force = -math.sin(theta) - damping * omega
        theta = theta + dt * omega
        omega = omega + dt * force
    theta_bar = 2.0 * theta
    omega_bar = 2.0 * omega
    damping_bar = 0.0
    for theta, omega in reversed(saved):
        force_bar = dt * omega_bar
        omega_bar += dt * theta_bar - force_bar * damping
        theta_bar -= force_bar * math.cos(theta)
        damping_bar -= force_bar * omega
    return theta_bar, omega_bar, damping_bar


def pendulum_for_jax() -> Callable[..., Any]:
    """With `lax.scan`: unrolled, a thousand steps compile for seconds."""
    import jax
    import jax.numpy as jnp

    def pendulum_scan(theta, omega, damping):
        dt = 0.01

        def step(state, _):
            theta, omega = state
            force = -jnp.sin(theta) - damping * omega
            return (theta + dt * omega, omega + dt * force), None

        (theta, omega), _ = jax.lax.scan(step, (theta, omega), None, length=1000)
        return theta * theta + omega * omega

    return pendulum_scan


CASES = [
    Case("scalar_loop_50", scalar_loop, scalar_loop_hand, lambda: (0.7,)),
    Case("scalar_chain_20", scalar_chain, scalar_chain_hand, lambda: (0.7, 1.3), (0, 1)),
    Case("euler_1000", pendulum, pendulum_hand, lambda: (1.1, 0.2, 0.15), (0, 1, 2), jax_primal=pendulum_for_jax),
]
