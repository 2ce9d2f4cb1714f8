"""What `np.copyto`, `np.putmask`, `np.choose`, `np.compress` and `np.extract` leave out gives no NaN.

What is made of the elements that are left out has no finite derivative, or is NaN; which they are is a constant.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.sources import function_of
from tests.transform.remaining import check_both_modes

#: The first element is zero however the argument changes, the others lie on both sides of it.
X = np.array([0.31, 0.74, -0.43, 0.92])
#: What has no derivative, or no value, at elements that are left out.
MADE = ("np.sqrt(z)", "np.log(z)", "1 / z", "z ** 0.5", "z ** -1.0", "np.sin(z) / z", "np.arctan2(z, z)")
#: How they are left out.
LEFT_OUT = (
    "np.copyto(y, x, where=z <= 0)",
    "np.copyto(y, 0.5, where=z <= 0)",
    "np.putmask(y, z <= 0, 0.5)",
    "np.putmask(y, z <= 0, x)",
    "y = np.choose((z > 0).astype(int), [x, y])",
    "y = np.choose((z > 0).astype(int), [x[1], y])",
    "y = np.choose((z > 0) * 2, [x, x * x, y])",
    "y = np.compress(z > 0, y)",
    "y = np.extract(z > 0, y)",
)
#: What is made of the array before, or is not replaced, keeps its adjoint.
KEPT = (
    "np.copyto(y, y * x, where=x > 0)",
    "y *= x\n    np.copyto(y, x, where=x > 0)\n    y *= x",
    "v = y[1:]\n    np.copyto(y, x, where=x > 0)\n    v *= 2",
    "v = y * x\n    np.copyto(y, x, where=x > 0)\n    y += v",
    "np.putmask(y, x > 0, np.zeros(0))",
    "np.putmask(y, x > 0, x[:0])",
    "np.putmask(y, x > 0, x[:2])",
    "np.putmask(y, x > 0, y[::-1].copy())",
    "t = np.where(x > 0, x * x, y)\n    y[...] = t\n    y[1] += t[2] * t[1]",
    "t = np.where(x > 0, x * x, y)\n    y += t\n    y[...] = t * y",
    "y = np.choose(np.array([[1], [0]]), [y, x])",
    "y = np.choose(np.array([2, 1, 4, -1]), [y, x, x * y], mode='wrap')",
    "y = np.choose(np.array([1, 0, 1, 0]), [y, 3])",
    "y = np.choose(1, [x[0], y])",
    "y = np.compress([True, False, True], np.outer(y, x)[:3], axis=0)",
)


def _check(text: str) -> None:
    f: Any = function_of(f"def f(x):\n    {text}\n    return np.sum(np.sin(y))\n")
    with np.errstate(all="ignore"):
        check_both_modes(f, X, np.array([0.7, -1.1, 0.4, 0.9]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("left_out", LEFT_OUT)
@pytest.mark.parametrize("made", MADE)
def test_what_is_left_out_gives_no_nan(made: str, left_out: str) -> None:
    _check(f"z = x - x[0]\n    y = {made}\n    {left_out}")


@pytest.mark.parametrize("kept", KEPT)
def test_what_is_kept_has_an_adjoint(kept: str) -> None:
    _check(f"y = x * x\n    {kept}")


@pytest.mark.parametrize("number", ["0", "np.array([1, 0, 1, 0])"])
def test_choices_of_a_list_of_unknown_length(number: str) -> None:
    _check(f"c = [x[0] * 2.0 for i in range(int(x[3]) + 2)]\n    y = np.choose({number}, c)\n    y = y * 2 + y")
    _check(f"y = np.choose({number}, np.outer(x, x))")
