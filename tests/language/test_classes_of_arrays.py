"""Matrices and masked arrays that meet what is differentiated: their operators are not those of arrays."""

from __future__ import annotations

import linecache
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient

W = np.array([[0.7, 1.9, 0.4], [1.2, 0.5, 1.6], [0.9, 1.4, 0.8]])
X = np.array([[0.5, -0.3, 0.2], [0.4, 1.3, -0.6], [-0.1, 0.7, 0.8]])
WEIGHTS = np.array([[1.0, -0.5, 0.3], [0.2, 1.7, 0.6], [-0.8, 0.4, 1.1]])
pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
with warnings.catch_warnings():
    warnings.simplefilter("ignore", PendingDeprecationWarning)
    MATRIX = np.asmatrix(W)
HELD = types.SimpleNamespace(matrix=MATRIX, masked=np.ma.masked_array(W, W > 1.0))
MADE = {"matrix": "np.asmatrix(W)", "masked": "np.ma.masked_array(W, W > 1.0)"}


class Layer:
    """What a table is an attribute of."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __call__(self, x: Any) -> Any:
        return np.abs(self.table) * x


def product(a: Any, b: Any) -> Any:
    return a * b


def first(a: Any, b: Any) -> Any:
    return a


#: What is computed of ``A``, and may be of its class.
DERIVED = """
A | np.reshape(A, (3, 3)) | np.transpose(A) | np.linalg.inv(A) | np.copy(A) | A.copy() | A.T | A + 1.0 | 2 * A
np.asarray(A) | np.abs(A) | abs(A) | -A | np.exp(A) | A.reshape(3, 3) | np.sum(A, axis=0) | A[[0, 1, 2]] | A[:, :]
np.squeeze(A) | np.vstack([A]) | np.maximum(A, 0.5) | np.fliplr(A) | np.triu(A) | np.array(A, subok=True)
np.broadcast_to(A, (3, 3), subok=True) | np.asanyarray(A) | np.ones_like(A) | np.full_like(A, 2.0) | A.astype(float)
np.cumsum(A, axis=0) | np.sort(A) | A.real | np.roll(A, 1) | np.round(A, 1) | A @ A | np.dot(A, A) | A.dot(A) | A > 1.0
np.split(A, 1)[0] | [A][0] | (A if x[0, 0] > 0 else x) | np.atleast_2d(A) | np.take(A, [0, 1, 2], axis=0) | sum([A])
np.linalg.qr(A)[0] | next(iter([A])) | max([A], key=np.sum) | np.where(A > 1.0, A, 1.0) | np.clip(A, 0.0, 1.0)
np.sign(A) | first(A, x) | np.linalg.solve(A, A) | (None or A) | {"a": A}["a"] | (x, A)[1]
"""
MEETINGS = ["B * x", "x ** 2 * B", "np.multiply(B, x)", "np.dot(x, B)", "product(x, b=B)", "np.maximum(x, B)"]
FLOWS = {
    "both branches": "B = x\nif x[0, 0] > 0.0:\n    B = A\ny = B * x",
    "a loop": "y = A\nfor _ in range(2):\n    y = y * x",
    "a tuple that is unpacked": "B, C = (x, A)\ny = B ** 2 * C",
    "a list that is run through": "y = 1.0\nfor B in [x, A]:\n    y = B * y",
    "a dict that grows": "d = {'x': x}\nd['a'] = A\ny = d['a'] * d['x']",
    "a list that grows": "d = [x]\nd.append(A)\ny = d[1] * d[0]",
    "a function inside": "y = (lambda B: B * x)(A)",
    "an object": "y = Layer(A)(x)",
    "an attribute": "s = Layer(x)\ns.other = A\ny = s.other * s.table",
    "keywords": "y = product(b=x, a=np.abs(A))",
    "positions": "y = product(np.abs(A), x)",
    "what a callee hands through by name": "y = first(b=x, a=A) * x",
    "in place": "y = x * 1.0\ny *= A",
    "into its own place": "y = A * 1.0\ny *= x",
    "an item": "B = A * 1.0\nB[0] = x[1]\ny = B * B",
    "an item of zeros": "B = np.zeros_like(A)\nB[0] = x[1]\nC = B + 1.0\ny = C * C",
}


def function(text: str) -> Callable[[Any], Any]:
    """A function of ``x`` with these statements."""
    lines = ["def f(x):", *(f"    {line}" for line in text.splitlines()), "    return np.sum(WEIGHTS * np.asarray(y))"]
    file = f"<classes of arrays: {hash(text)}>"
    linecache.cache[file] = (1, None, [f"{line}\n" for line in lines], file)
    names = dict(globals())
    exec(compile("\n".join(lines), file, "exec"), names)
    made: Callable[[Any], Any] = names["f"]
    return made


def check(text: str) -> bool:
    """Whether the gradient is right; no error but ours is raised."""
    f = function(text)
    try:
        wanted = numeric_gradient(lambda x: float(f(x)), (X,))
    except (ValueError, TypeError, AttributeError):
        return False
    try:
        found = grad(f)(X)
    except S2SADError:
        return False
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-7, atol=1e-8)
    return True


EACH_OF_ONE_KIND = [
    (d.strip(), list(MADE)[i % 2])
    for i, d in enumerate(d for line in DERIVED.strip().splitlines() for d in line.split("|"))
]


@pytest.mark.parametrize(("derived", "kind"), EACH_OF_ONE_KIND)
def test_what_is_computed_of_it(derived: str, kind: str) -> None:
    origins = [MADE[kind], f"HELD.{kind}", f"first(HELD.{kind}, 1.0)"]
    for i, origin in enumerate(origins):
        # Every third meeting, in turns.
        for meeting in MEETINGS[(len(derived) + i) % 3 :: 3]:
            check(f"A = {origin}\nB = {derived}\ny = {meeting}")


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("flow", FLOWS)
def test_where_it_goes(flow: str, kind: str) -> None:
    for origin in (MADE[kind], f"HELD.{kind}"):
        check(f"A = {origin}\n{FLOWS[flow]}")


@pytest.mark.parametrize("derived", ["np.asarray(A)", "np.array(A)", "np.where(A > 1.0, A, 1.0)", "float(A[0, 0])"])
@pytest.mark.parametrize("kind", MADE)
def test_arrays_and_numbers_made_of_it_are_right(kind: str, derived: str) -> None:
    assert check(f"A = HELD.{kind}\nB = {derived}\ny = B * x ** 2")
