"""Integers that are written in a call, which decide the branches of what is called."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

W = np.array([[1.0, 2.0], [0.5, -1.0]])


def advance(s: Any, order: int, dt: float = 0.1) -> Any:
    if order == 0:
        y = s[0]
        s += y * dt
    elif order in (1, 2):
        v = s[1]
        s[0] = s[0] + dt * v
        s[1] = s[1] * order
    else:
        s = None
    return s


def filtered(x: Any) -> Any:
    s = np.copy(x.astype(float))
    for _ in range(2):
        s = advance(s, 1)
    return np.sum(advance(s, 2) ** 2)


def several(x: Any) -> Any:
    s = advance(advance(np.sin(x), 0), 2, dt=x[1])
    return np.sum(s * s)


def raised(x: Any, n: int = 3) -> Any:
    if n == 0:
        return x
    n -= 1
    y = x * x if n else x
    while n > 1:
        n -= 1
        y = y * x
    return y if n == 1 else y * 100.0


def powers(x: Any) -> Any:
    return np.sum(raised(x, 1) + 2 * raised(x, 0) + 3 * raised(x, 5) + 4 * raised(x) + raised(x, True))


def falling(x: Any, n: int) -> Any:
    return x if n == 0 else np.sin(falling(x, n - 1)) * n


def deep(x: Any) -> Any:
    return np.sum(falling(x, 3) + falling(x, 0))


def bump(counts: Any) -> None:
    counts[0] += 1


def counted(x: Any, n: int) -> Any:
    counts = [n]
    bump(counts)
    if n == 1 and counts[0] == 1:
        return x
    return x * counts[0] if counts[0] == 2 else x**3


def counting(x: Any) -> Any:
    return np.sum(counted(x, 1) * counted(x, 7))


def signed(x: Any, n: int) -> Any:
    return x * 2 if n > 0 else x**2 if n == -1 else x**3


def signs(x: Any) -> Any:
    return np.sum(signed(x, -1) + 3 * signed(x, 1) + 5 * signed(x, 0))


@pytest.mark.parametrize("f", [filtered, several, powers, deep, counting, signs])
def test_each_call_takes_its_own_branch(f: Any) -> None:
    x = np.array([0.7, -0.4])
    wanted = numeric_gradient(f, [x])
    np.testing.assert_allclose(grad(f)(x.copy()), wanted, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (x,), (np.ones(2),))[1], np.sum(wanted), rtol=1e-7)


def test_only_the_branch_that_is_taken_is_written() -> None:
    text = grad(filtered).source_for(np.ones(2))
    assert "None" not in text
    assert "order ==" not in text


def term(y: Any, k: int) -> Any:
    return y * k if k % 2 == 0 else np.sin(y) if k > 10 else y - 0.1 * k


def many(x: Any) -> Any:
    y = term(term(term(term(x, 1), 2), 3), 4) + term(term(term(term(x, 5), 6), 7), 8)
    return np.sum(y * term(term(term(term(x, 9), 10), 11), 12) + term(term(x, 13), 14) * term(term(x, 15), 16))


def test_many_integers_share_what_is_compiled() -> None:
    x = np.array([0.7, -0.4])
    df = grad(many)
    np.testing.assert_allclose(df(x), numeric_gradient(many, [x]), rtol=1e-7)
    assert df.source_for(x).count("def term") < 24
