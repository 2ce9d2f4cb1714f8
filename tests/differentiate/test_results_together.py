"""What a callee gives in several places is one object, and so is its tangent, also where that is zero in the callee."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import richardson_jvp
from tests.sources import function_of

X = np.array([0.3, 0.5, -1.2])
DOT = np.array([1.0, 2.0, -0.5])

#: What gives `y`, which varies, and the objects `z` and `l`: one for the function beside it, the other for what reads.
CALLEES = {
    "both": "return x * 2, z, z",
    "views": "return x * 2, z[:2], z[::-1]",
    "through a call": "y, w = hand(x, z); return y, z, w",
    "through calls": "y, w = again(x, z, 2); return y, z, w",
    "through a constant call": "return x * 2, z, alone(z, 1)",
    "chosen": "y, w = hand(x, z); return y, z, w if x[0] > 0 else z",
    "in a loop": "y = x * 1\n    for _ in range(2):\n        y, w = hand(y, z)\n    return y, w, z",
}
HELPERS = """
def hand(x, z):
    return x * 2, z

def again(x, z, n):
    if n <= 0:
        return x * 2, z
    return again(x * 1.1, z, n - 1)

def alone(z, n):
    return z if n <= 0 else alone(z, n - 1)
"""
#: How the results stand in each other, and where `z` and `l` are there.
FORMS = {
    "tuple": ("{y}, {z}, {l}", "y, z, l = h(x)"),
    "pair": ("{y}, ({z}, {l})", "y, (z, l) = h(x)"),
    "beside": ("({y}, {z}), {l}", "(y, z), l = h(x)"),
    "dict": ("dict(y={y}, z={z}, l={l})", "d = h(x); y = d['y']; z = d['z']; l = d['l']"),
    "display": ("{{'y': {y}, 'z': {z}, 'l': {l}}}", "d = h(x); y, z, l = d['y'], d['z'], d['l']"),
}
WRITES = ("z += y[0]", "z[1:] = y[1] * l[0]", "np.multiply(y[0], 3.0, out=z)")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("callee", CALLEES)
def test_tangents(callee: str, form: str) -> None:
    given, taken = FORMS[form]
    lines, results = CALLEES[callee].rsplit("return ", 1)
    y, z, other = results.split(", ", 2)
    returned = given.format(y=y, z=z, l=f"({other})")
    head = f"{HELPERS}\ndef h(x):\n    z = np.zeros(3)\n    {lines.rstrip()}\n    return {returned}\n"
    for write in WRITES:
        f = function_of(f"{head}\ndef f(x):\n    {taken}\n    {write}\n    return np.sum(l) * x[2] + l[0] * l[1]")
        found = jvp(f, (X,), (DOT,))
        np.testing.assert_allclose(found[0], f(X))
        np.testing.assert_allclose(found[1], richardson_jvp(f, (X,), (DOT,)), rtol=1e-7, err_msg=write)


STEPS = ("a", "a * a", "np.sin(a)", "np.ones(3) * np.mean(a)", "a[::-1]")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("write", ["y[1] *= 2", "y[1] *= y[2]", "y *= y[0]", "y[:2] = 2 * a[1:]"])
@pytest.mark.parametrize("depth", [1, 2])
def test_second_derivatives_of_recursion(step: str, write: str, depth: int) -> None:
    # The forward half of `g` has the adjoint of its result in what it saves too.
    f = function_of(
        f"""
def g(a, n):
    if n <= 0:
        return a
    return g({step}, n - 1)

def f(a):
    y = g(a, {depth})
    {write}
    return np.mean(y * y)
"""
    )
    found = jvp(grad(f), (X,), (DOT,))[1]
    np.testing.assert_allclose(found, richardson_jvp(lambda x: grad(f)(x), (X,), (DOT,)), rtol=1e-6)
