"""Slices of lists and tuples of what is differentiated, to second order, against differences."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import leaves, numeric_gradient, richardson_jvp, tree_map
from tests.random_objects import load

A = np.array([0.5, -0.7, 1.2])
#: How the items of a list ``p`` are taken, each of which is a pair of an array and a number.
TAKEN = {
    "but_the_last": "for w, b in p[:-1]: h = np.tanh(h * w + b)\nh = h * p[-1][0] + p[-1][1]",
    "from_the_second_on": "h = h * p[0][0]\nfor k, (w, b) in enumerate(p[1:]): h = np.sin(h * w) + k * b",
    "each_second": "for w, b in p[::2]: h = np.tanh(h * w + b)",
    "backwards": "for w, b in p[::-1]: h = np.tanh(h * w + b)",
    "pairs_of_neighbours": "for (w, b), (v, c) in zip(p[:-1], p[1:]): h = np.tanh(h * w * v + b - c)",
    "of_a_slice": "for w, b in p[1:][:-1]: h = np.tanh(h * w + b)",
    "of_a_pair": "for q in p: h = h * sum(q[:1]) + q[1:][0]",
    "none": "for w, b in p[3:]: h = h * w\nh = h * p[0][0]",
    "places_that_are_computed": "n = len(p)\nfor w, b in p[n - 2 : n]: h = np.tanh(h * w + b)",
    "summed": "h = h * sum([w for w, b in p[1:]]) + sum(b for w, b in p[:2])",
    "overlapping": "l, m = p[:2], p[1:]\nfor w, b in l + m: h = np.tanh(h * w + b)",
}
HEAD = "import numpy as np\ndef f(p):\n    h = np.array([1.0, 0.3, -0.4])\n"


@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("name", TAKEN)
def test_slices(name: str, kind: type) -> None:
    f: Any = load(f"slices_{name}", f"{HEAD}{textwrap.indent(TAKEN[name], '    ')}\n    return np.sum(h * h)\n")["f"]
    p = kind([(A, 0.3), (2 * A, -0.6), (A[::-1].copy(), 0.2)])
    way = tree_map(lambda x: np.cos(x + 1.0), p)
    gradient = grad(f)(p)
    for got, expected in zip(leaves(gradient), leaves(numeric_gradient(f, (p,))), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (p,), (way,))[1], richardson_jvp(f, (p,), (way,)), rtol=1e-8)
    second = jvp(grad(f), (p,), (way,))[1]
    for got, expected in zip(leaves(second), leaves(richardson_jvp(grad(f), (p,), (way,))), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-7, atol=1e-9)


#: What NumPy's functions make of slices of a list of numbers, whose adjoints are arrays.
AS_ARRAYS = [
    "np.mean(p[1:]) ** 2",
    "np.dot(p[1:], [1.0, 3.0]) * p[1]",
    "np.linalg.norm(p[:2]) + max(p[1:])",
    "np.sum(np.sin(p[1:]))",
    "np.sum(np.cumsum(p[:2]) * np.asarray(p[1:]))",
    "np.sum(np.array(p[::2]) ** 3) + p[0] ** 2",
    "np.interp(0.5, [0.0, 1.0], p[1:]) ** 2",
]


@pytest.mark.parametrize("text", AS_ARRAYS)
def test_slices_that_numpy_takes_for_arrays(text: str) -> None:
    f: Any = load("slices_as_arrays", f"import numpy as np\ndef f(p):\n    return {text}\n")["f"]
    p, way = [0.3, -1.2, 0.8], [1.0, -0.5, 0.25]
    np.testing.assert_allclose(grad(f)(p), numeric_gradient(f, (p,)), rtol=1e-7, atol=1e-9)
    slopes = richardson_jvp(grad(f), (p,), (way,))
    np.testing.assert_allclose(jvp(grad(f), (p,), (way,))[1], slopes, rtol=1e-7, atol=1e-8)

    def along(p: Any) -> Any:
        return sum(g * w for g, w in zip(grad(f)(p), way, strict=True))

    np.testing.assert_allclose(grad(along)(p), slopes, rtol=1e-7, atol=1e-8)
