"""Functions that return the very array that they were given and wrote: the caller has it already, and its shadow."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from tests.oracle import numeric_gradient


def smooth(u, n):
    for _ in range(n):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
    return u


def damp(u, n):
    for _ in range(n):
        u *= 0.9
        u[0] += u[-1]
    return u


def chosen(u, v, n):
    """The result is one or the other."""
    u[0] = u[1] * u[2]
    v[0] = v[1] * 3.0
    return u if n > 2 else v


def renewed(u, n):
    if n > 2:
        u = u * 2.0
    u[0] = u[1] * u[2]
    return u


def both(u, v):
    u[0] = v[1] * u[2]
    s = np.sum(u * v)
    return v, s, u


def halved(u, depth):
    u[depth] = u[depth + 1] * u[0]
    if depth == 0:
        return u
    return halved(u, depth - 1)


def powers(u):
    u[1:] = u[1:] * u[:-1]
    return u


def linear(u):
    result = smooth(u, 3)
    return np.sum(result)


def augmented(u):
    result = damp(u, 3)
    return np.sum(result * u)


def nonlinear_in_result(u):
    result = smooth(u, 2)
    return np.sum(result**2) + result[1] * u[1]


def written_after(u):
    result = smooth(u, 2)
    result[0] = result[1] * result[2]
    return np.sum(u * result)


def one_of_two(u):
    v = u * 2.0
    w = u * u
    result = chosen(v, w, 3)
    other = chosen(v, w, 1)
    return np.sum(result * other) + np.sum(v)


def renewed_or_not(u):
    v = u * 2.0
    first = renewed(v, 3)
    second = renewed(v, 1)
    return np.sum(first * second) + np.sum(v)


def several(u):
    v = u + 1.0
    a, s, b = both(u, v)
    return np.sum(a * b) * s


def in_a_loop(u):
    v = u.copy()
    for k in range(3):
        v = smooth(v, k)
        v = powers(v)
    return np.sum(v * u)


def recursive(u):
    result = halved(u, 3)
    return np.sum(result * result)


def nested(u):
    result = smooth(damp(u, 2), 2)
    return np.sum(result)


def part(u):
    result = smooth(u[1:], 2)
    return np.sum(result * result) + u[0] * u[2]


def unread(u):
    result = smooth(u, 2)  # noqa: F841
    return np.sum(u * u)


LOSSES = [
    linear, augmented, nonlinear_in_result, written_after, one_of_two, renewed_or_not, several, in_a_loop, recursive,
    nested, part, unread,
]  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES, ids=lambda f: f.__name__)
def test_gradient(loss):
    u = np.linspace(0.3, 1.4, 7) ** 2
    before = u.copy()
    expected = numeric_gradient(lambda x: loss(x.copy()), (u,))
    np.testing.assert_allclose(grad(loss)(u), np.reshape(expected, u.shape), rtol=1e-6, atol=1e-8)
    value, gradient = value_and_grad(loss)(u)
    assert value == pytest.approx(loss(u.copy()), rel=1e-13)
    np.testing.assert_allclose(gradient, grad(loss)(u), rtol=1e-12)
    np.testing.assert_array_equal(u, before)


@pytest.mark.parametrize("loss", [linear, nested], ids=lambda f: f.__name__)
def test_values_that_nobody_reads_are_not_computed(loss):
    """A sum of a linear kernel has a constant gradient: there is nothing to compute ahead."""
    text = grad(loss).source_for(np.ones(7))
    assert "_forward" not in text
    assert "np.copy" not in text
