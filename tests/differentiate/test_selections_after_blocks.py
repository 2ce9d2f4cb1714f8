"""Elements left out behind a ``with`` or ``try`` in which their array was made: they give no NaN there either."""

from __future__ import annotations

import itertools

import pytest

from tests.differentiate.test_selections import HEAD, INNER, SELECTED, TAKEN, W, X, beside_differences, made

#: What stands around the statement that makes the array.
BLOCKS = {
    "errors ignored": '    with np.errstate(all="ignore"):\n        y = {}\n',
    "two": '    with np.errstate(divide="ignore"):\n        with np.errstate(invalid="ignore"):\n            y = {}\n',
    "raised again": "    try:\n        y = {}\n    except ZeroDivisionError:\n        raise ValueError(w)\n",
    "finally": "    try:\n        y = {}\n    finally:\n        w = w * 1.0\n",
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("block", "selected"), list(itertools.product(BLOCKS, SELECTED)))
@pytest.mark.parametrize("inner", ["root", "quotient"])
def test_elements_left_out_after_a_block_give_no_nan(block: str, selected: str, inner: str) -> None:
    body = BLOCKS[block].format(INNER[inner])
    f = made(f"{HEAD}{body}{SELECTED[selected]}    return np.sum(z * np.cos(z))\n")
    beside_differences(f, (X, W, TAKEN))
