"""Arrays that are written through one name and returned by another, in every order of the two."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from s2sad import S2SADError, grad, jvp, vjp
from tests.oracle import numeric_gradient
from tests.random_objects import load

X = np.array([0.5, 1.0, 2.0, 3.0])
WEIGHTS = np.array([1.0, -2.0, 0.5, 3.0])
#: How the array comes about, how the other name does, what is written through that, and what is returned.
MADE = ["u = t * 2.0", "u = np.sin(t)", "u = t", "u = t[::-1]"]
NAMED = ["w = u", "w = u[1:]", "w = u.reshape(2, 2)", "[w] = [u]", "w, r = u, t * 1.0"]
WRITTEN = [
    "w *= 3.0",
    "w += w * w",
    "for i in range(2):\n    w *= 1.5",
    "if t[0] > 0.0:\n    w *= 3.0",
    "w *= 3.0\nw = w * 2.0\nw += 1.0",
]
RETURNED = ["u", "w", "(u, w)", "[u]", "u[1:]"]
#: Statements between, and whether what is returned is named before or after what is written.
ORDERS = ["{made}\n{named}\n{written}\nreturn {returned}", "{made}\n{named}\nr = {returned}\n{written}\nreturn r"]
PARTS = list(itertools.product(ORDERS, MADE, NAMED, WRITTEN, RETURNED))


def _callee(number: int) -> Callable[[Any], Any]:
    order, made, named, written, returned = PARTS[number]
    body = order.format(made=made, named=named, written=written, returned=returned)
    text = "import numpy as np\ndef callee(t):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return load(f"returned_{number}", text)["callee"]  # type: ignore[no-any-return]


def _all(value: Any) -> Any:
    """What is returned as one array."""
    return np.concatenate([np.ravel(v) for v in value]) if isinstance(value, (list, tuple)) else np.ravel(value)


def _weighted(value: Any) -> Any:
    flat = _all(value)
    return np.sum(np.resize(WEIGHTS, flat.shape) * flat**2)


def _verdicts(number: int) -> list[str]:
    """What became of the gradient, the tangent and the pullback of a callee."""
    callee = _callee(number)

    def f(x):
        return _weighted(callee(x * 1.0))

    expected = numeric_gradient(f, (X,))

    def pulled() -> Any:
        value, pullback = vjp(callee, X.copy())
        flat = 2.0 * np.resize(WEIGHTS, _all(value).shape) * _all(value)
        if not isinstance(value, (list, tuple)):
            return pullback(flat.reshape(value.shape))[0]
        ends = np.cumsum([v.size for v in value])[:-1]
        parts = [p.reshape(v.shape) for p, v in zip(np.split(flat, ends), value, strict=True)]
        return pullback(type(value)(parts))[0]

    found = []
    for run, wanted in (
        (lambda: grad(f)(X), expected),
        (lambda: jvp(f, (X,), (WEIGHTS,))[1], expected @ WEIGHTS),
        (pulled, expected),
    ):
        try:
            is_right = np.allclose(run(), wanted, rtol=1e-7, atol=1e-8)
            found.append("right" if is_right else "wrong")
        except S2SADError:
            found.append("refused")
    return found


def test_returned_by_another_name() -> None:
    numbers = range(0, len(PARTS), 42)
    found = {number: _verdicts(number) for number in numbers}
    assert not {number: v for number, v in found.items() if "wrong" in v}
    assert sum(v.count("right") for v in found.values()) > 2.5 * len(found)


def test_what_is_written_in_the_next_turn() -> None:
    def f(x):
        a, kept = x * 1.0, x
        for i in range(3):
            a *= x[::-1]
            if i == 1:
                kept = a
        return kept

    def total(x):
        return np.sum(f(x) * WEIGHTS)

    np.testing.assert_allclose(grad(total)(X), numeric_gradient(total, (X,)), rtol=1e-7)
    np.testing.assert_allclose(vjp(f, X)[1](WEIGHTS)[0], numeric_gradient(total, (X,)), rtol=1e-7)
