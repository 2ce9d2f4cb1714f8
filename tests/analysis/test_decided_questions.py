"""What the compiler decides by types: questions about parts of what is no number, and what may have no axes."""

from __future__ import annotations

import array
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, vjp

WHOLES: dict[str, Any] = {
    "text": "abc",
    "no text": "",
    "bytes": b"abc",
    "range": range(4),
    "no range": range(0),
    "memoryview": memoryview(b"abc"),
    "array of Python's": array.array("d", [1.0, 2.0]),
    "text of NumPy's": np.str_("ab"),
    "array of texts": np.array(["a"]),
    "array of dates": np.array(["2020"], "M8[D]"),
    "array": np.array([2.0]),
    "no array": np.array([]),
    "numbers of sizes": np.array([2, 3]),
    "a class": np.float64,
}
#: What makes something else by being indexed; NumPy would ask each for its items for ever.
MAKERS: dict[str, Any] = {
    "of slices": np.s_,
    "of tuples": np.index_exp,
    "of sparse grids": np.ogrid,
    "of grids": np.mgrid,
    "of rows": np.r_,
}
PARTS = (
    "v[0]",
    "v[1:]",
    "v[0:2, 0:1]",
    "v.item()",
    "v.ndim",
    "np.ones(v)",
    "np.zeros(v) * 1.0",
    "np.add(np.full(v, 3.0), 1.0)",
    "-np.ones(v)",
)
CLASSES = ("np.ndarray", "float", "str", "bytes", "tuple", "slice", "range", "memoryview", "array.array", "np.generic")


def asking(part: str) -> Callable[..., Any]:
    """A function that multiplies by the sum of the powers of two of the classes that the part is of."""
    tests = [f"    if isinstance(t, {c}):\n        total = total + {2.0**i}\n" for i, c in enumerate(CLASSES)]
    text = f"def f(x, v):\n    t = {part}\n    total = 1.0\n{''.join(tests)}    return x * total\n"
    name = f"<asking {part}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {"np": np, "array": array}
    exec(compile(text, name, "exec"), names)
    return names["f"]


def check(v: Any, part: str) -> None:
    f = asking(part)
    try:
        expected = f(1.0, v)
    except (TypeError, ValueError, IndexError, AttributeError, NotImplementedError):
        pytest.skip("Python raises")
    assert jvp(f, (1.0, v), (1.0, None))[1] == expected


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("whole", WHOLES)
def test_a_part_is_of_the_class_that_python_finds(whole: str, part: str) -> None:
    check(WHOLES[whole], part)


@pytest.mark.parametrize("part", [part for part in PARTS if part.startswith("v[")])
@pytest.mark.parametrize("maker", MAKERS)
def test_what_is_made_is_of_the_class_that_python_finds(maker: str, part: str) -> None:
    check(MAKERS[maker], part)


def test_a_slice_that_is_made_is_no_array_to_copy() -> None:
    def f(x: Any) -> Any:
        part = np.s_[1:2]
        return x * x[::-1] + x[part]

    x = np.array([0.5, 1.5, 2.5])
    _, pullback = vjp(f, x)
    np.testing.assert_allclose(pullback(np.ones(3))[0], 2 * x[::-1] + [0.0, 3.0, 0.0], rtol=1e-15)
