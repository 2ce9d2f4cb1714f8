"""Small neural networks: matrix products with elementwise functions between them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from s2sad import stop_gradient

from .case import Case


def mlp(W1, b1, W2, b2, X, Y):
    h = np.tanh(X @ W1 + b1)
    r = h @ W2 + b2 - Y
    return 0.5 * np.mean(np.sum(r * r, axis=1))


def mlp_hand(W1, b1, W2, b2, X, Y):
    h = np.tanh(X @ W1 + b1)
    z_bar = (h @ W2 + b2 - Y) / len(X)
    a_bar = (z_bar @ W2.T) * (1.0 - h * h)
    return X.T @ a_bar, np.sum(a_bar, axis=0), h.T @ z_bar, np.sum(z_bar, axis=0)


def mlp_softmax(W1, b1, W2, b2, W3, b3, X, Y):
    h1 = np.maximum(X @ W1 + b1, 0.0)
    h2 = np.maximum(h1 @ W2 + b2, 0.0)
    z = h2 @ W3 + b3
    z = z - stop_gradient(np.max(z, axis=1, keepdims=True))
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.sum(Y * log_p) / len(X)


def mlp_softmax_hand(W1, b1, W2, b2, W3, b3, X, Y):
    h1 = np.maximum(X @ W1 + b1, 0.0)
    h2 = np.maximum(h1 @ W2 + b2, 0.0)
    z = h2 @ W3 + b3
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    # every row of Y sums to one: a person uses that
    z_bar = (e / np.sum(e, axis=1, keepdims=True) - Y) / len(X)
    a2_bar = (z_bar @ W3.T) * (h2 > 0.0)
    a1_bar = (a2_bar @ W2.T) * (h1 > 0.0)
    return (
        X.T @ a1_bar,
        np.sum(a1_bar, axis=0),
        h1.T @ a2_bar,
        np.sum(a2_bar, axis=0),
        h2.T @ z_bar,
        np.sum(z_bar, axis=0),
    )


def rnn(W, U, b, xs):
    h = np.zeros(len(b))
    for x in xs:
        h = np.tanh(W @ h + U @ x + b)
    return np.sum(h * h)


def rnn_hand(W, U, b, xs):
    saved = []
    h = np.zeros(len(b))
    for x in xs:
        saved.append(h)
        h = np.tanh(W @ h + U @ x + b)
    W_bar = np.zeros_like(W)
    U_bar = np.zeros_like(U)
    b_bar = np.zeros_like(b)
    h_bar = 2.0 * h
    for x, h_old in zip(reversed(xs), reversed(saved), strict=True):
        a_bar = h_bar * (1.0 - h * h)
        W_bar += np.outer(a_bar, h_old)
        U_bar += np.outer(a_bar, x)
        b_bar += a_bar
        h_bar = W.T @ a_bar
        h = h_old
    return W_bar, U_bar, b_bar


def rnn_expert(W, U, b, xs):
    """One matrix product over all steps in place of one outer product a step."""
    steps = len(xs)
    drive = xs @ U.T + b
    hs = np.zeros((steps + 1, len(b)))
    for t in range(steps):
        hs[t + 1] = np.tanh(W @ hs[t] + drive[t])
    a_bars = np.empty_like(drive)
    h_bar = 2.0 * hs[steps]
    for t in reversed(range(steps)):
        a_bars[t] = h_bar * (1.0 - hs[t + 1] ** 2)
        h_bar = W.T @ a_bars[t]
    return a_bars.T @ hs[:steps], a_bars.T @ xs, np.sum(a_bars, axis=0)


def rnn_for_jax() -> Callable[..., Any]:
    """With `lax.scan`: unrolled, twenty steps compile for seconds and run no faster."""
    import jax
    import jax.numpy as jnp

    def rnn_scan(W, U, b, xs):
        h, _ = jax.lax.scan(lambda h, x: (jnp.tanh(W @ h + U @ x + b), None), jnp.zeros(len(b)), xs)
        return jnp.sum(h * h)

    return rnn_scan


def _layers(*widths: int, batch: int) -> tuple[np.ndarray, ...]:
    """Weights and biases of every layer, inputs, and one-hot targets."""
    rng = np.random.default_rng(5)
    weights: list[np.ndarray] = []
    for fan_in, fan_out in pairwise(widths):
        weights += [rng.standard_normal((fan_in, fan_out)) / np.sqrt(fan_in), 0.1 * rng.standard_normal(fan_out)]
    targets = np.eye(widths[-1])[rng.integers(0, widths[-1], batch)]
    return *weights, rng.standard_normal((batch, widths[0])), targets


def _recurrent(steps: int, n: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(6)
    W, U = rng.standard_normal((2, n, n)) / np.sqrt(n)
    return W, U, 0.1 * rng.standard_normal(n), rng.standard_normal((steps, n))


CASES = [
    Case("mlp_32x64-128-10", mlp, mlp_hand, lambda: _layers(64, 128, 10, batch=32), (0, 1, 2, 3)),
    Case("mlp3_softmax", mlp_softmax, mlp_softmax_hand, lambda: _layers(64, 128, 64, 10, batch=32), tuple(range(6))),
    Case("rnn_20x64", rnn, rnn_hand, lambda: _recurrent(20, 64), (0, 1, 2), expert=rnn_expert, jax_primal=rnn_for_jax),
]
