"""A view of a new result that may be a number, or copied, is written in place: only the view has a shadow.

Where the result is read after the write, or has two views, the view's shadow is the result's.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.sources import function_of
from tests.transform.remaining import check_both_modes, check_right_or_refused

NEW = {
    "sum": "np.sum(v * v, axis=v.ndim - 1)",
    "norm": "np.linalg.norm(v, axis=v.ndim - 1)",
    "largest": "np.max(v, axis=v.ndim - 1)",
    "product": "v @ w",
    "elements": "np.sin(v)",
}
VIEW = {
    "1d": "np.atleast_1d(t)",
    "2d": "np.atleast_2d(t)",
    "array": "np.asarray(t)",
    "flat": "np.ravel(t)",
    "reshaped": "np.reshape(t, (1, -1))",
}
WRITE = {
    "masked": "n[n > 0.9] = 0.5",
    "scaled": "n *= w[0]",
    "callee": "double(n)",
    "loop": "for k in range(2):\n        n[...] = n * w[k]",
    "arm": "if w[0] > 0:\n        n[n > 0] *= w[1]",
}
#: What else refers to the result, or reads it, before and after the write.
BESIDE = {
    "before": ("s = np.sum(t)", ""),
    "after": ("", "s = s + np.sum(t) * w[1]"),
    "second view": ("m = np.atleast_1d(t)", "s = s + np.sum(m * m)"),
    "held": ("rows = [t]", "s = s + np.sum(rows[0]) * w[2]"),
    "by the view": ("m = n.T", "s = s + np.sum(m * m)"),
    "returned": ("", "t = n\n    s = s + np.sum(t) * w[0]"),
}
HEAD = """
import numpy as np
def double(a):
    a *= 2.0

def part(v, w):
    s = 0.0
    t = {new}
    n = {view}
    {before}
    {write}
    s = s + np.sum(n * n)
    {after}
    return s

def f(w):
    rows = [list(w), [list(w), list(w * w)]]
    return part(np.asarray(rows[0]), w) + part(np.asarray(rows[1]), w) * w[0]
"""
X = np.array([0.7, 0.4, 1.2])
WAY = np.array([0.3, -0.8, 0.5])


def program(new, view, write, before="", after=""):
    return function_of(HEAD.format(new=NEW[new], view=VIEW[view], write=WRITE[write], before=before, after=after))


@pytest.mark.parametrize(("new", "view", "write"), list(itertools.product(NEW, VIEW, ("masked", "callee", "loop"))))
def test_the_view_is_written(new, view, write):
    check_right_or_refused(program(new, view, write), X, WAY)


@pytest.mark.parametrize(("new", "view"), list(itertools.product(NEW, ("1d", "flat"))))
def test_a_number_and_an_array_in_one_call(new, view):
    check_both_modes(program(new, view, "scaled"), X, WAY)


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize(
    ("new", "view", "write"),
    list(itertools.product(("sum", "elements"), ("1d", "reshaped"), ("scaled", "callee", "arm"))),
)
def test_the_result_is_read_or_has_another_name(new, view, write, beside):
    check_right_or_refused(program(new, view, write, *BESIDE[beside]), X, WAY)
