"""What may be a number or a part of an array that is written, in all orders of reads and writes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient, richardson_jvp
from tests.sources import function_of

#: Of rank 1 and 2 once the axes of length 1 are gone: an item is a number, or a row.
ARRAYS = (np.array([[0.3, -0.7, 0.9]]), np.array([[0.3, -0.7, 0.9], [1.1, 0.4, 0.2]]))
PARTS = {
    "item": ["j = r[0]"],
    "two names": ["i = r[-1]", "j = i"],
    "whole or item": ["if c > 0:", "    j = r", "else:", "    j = r[1]"],
    "item or whole": ["j = r[0] if c > 0 else r"],
    "whole or number": ["j = r if c > 0 else float(np.sum(r[0]))"],
    "number or item": ["j = np.sum(r) if c > 0 else r[0]"],
    "item of a view": ["j = r.T[0]"],
    "all or item": ["j = r[...] if c > 0 else r[0]"],
}
READ, WRITE = "total = total + np.sum(j * j * x[0, 0])", "r[0] = r[0] * x[0, 1]"
WRITES = {"store": WRITE, "augmented": "r *= x[0, 1]", "callee": "changed(r, x)", "item": "r[0] += x[0, 1]"}
#: Of a number, the first makes another one, and the second raises.
THROUGH = {"name": "j *= x[0, 1]", "item of name": "j[0] = j[1] * x[0, 1]"}
#: What comes after the name is bound: `0` reads it, `1` writes; in brackets as often as a loop runs.
ORDERS = ("01", "0", "10", "010", "(01)", "(10)", "1(0)", "0(1)")

PROGRAM = """
def changed(r, x):
    r[1] = r[0] * x[0, 0]

def f(x, c):
    r = np.squeeze(x * 1.5)
    total = np.sum(r)
{body}
    return total + np.sum(r * r)
"""
RETURNED = """
def part(x, c):
    r = np.squeeze(x * 1.5)
    r[0] = r[1] * r[1]
{body}
    return j

def f(x, c):
    j = part(x, c)
    return np.sum(j * j)
"""


def ordered(part: list[str], order: str, writer: str) -> str:
    lines, indent = [*part], ""
    for mark in order:
        if mark == "(":
            lines.append("for k in range(2):")
            indent = "    "
        elif mark != ")":
            lines.append(indent + (READ, writer)[int(mark)])
    return "\n".join("    " + line for line in lines)


def within_loop(part: list[str], writer: str) -> str:
    lines = ["for k in range(2):", *("    " + line for line in (*part, READ, writer))]
    return "\n".join("    " + line for line in lines)


def compared(f: Any, x: np.ndarray, c: float, required: bool) -> None:
    """Gradient and tangent against differences; unless it is ``required``, a program may be refused."""
    way = np.cos(np.arange(x.size)).reshape(x.shape)
    for mode in ("reverse", "forward"):
        try:
            if mode == "reverse":
                np.testing.assert_allclose(grad(f)(x, c), numeric_gradient(f, (x, c), 0), rtol=1e-6, atol=1e-9)
            else:
                expected = richardson_jvp(lambda x: f(x, c), (x,), (way,))
                np.testing.assert_allclose(jvp(f, (x, c), (way, None))[1], expected, rtol=1e-6, atol=1e-9)
        except S2SADError:
            if required:
                raise


@pytest.mark.parametrize("writer", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("part", PARTS)
def test_orders(part: str, writer: str) -> None:
    for order in ORDERS:
        f = function_of(PROGRAM.format(body=ordered(PARTS[part], order, writer)))
        for x, c in itertools.product(ARRAYS, (1.0, -1.0)):
            # Every read before the first write: then it does not matter whether it is a number.
            compared(f, x, c, required=order in ("0", "01", "0(1)"))
    f = function_of(PROGRAM.format(body=within_loop(PARTS[part], writer)))
    for x, c in itertools.product(ARRAYS, (1.0, -1.0)):
        compared(f, x, c, required=True)


@pytest.mark.parametrize("writer", THROUGH.values(), ids=THROUGH)
@pytest.mark.parametrize("part", PARTS)
def test_writes_through_the_name(part: str, writer: str) -> None:
    for body in (*(ordered(PARTS[part], order, writer) for order in ("01", "(10)")), within_loop(PARTS[part], writer)):
        f = function_of(PROGRAM.format(body=body))
        for x, c in itertools.product(ARRAYS, (1.0, -1.0)):
            try:
                f(x, c)
            except (TypeError, IndexError):
                continue
            compared(f, x, c, required=len(x) > 1)


@pytest.mark.parametrize("part", PARTS)
def test_what_a_function_returns(part: str) -> None:
    f = function_of(RETURNED.format(body="\n".join("    " + line for line in PARTS[part])))
    for x, c in itertools.product(ARRAYS, (1.0, -1.0)):
        compared(f, x, c, required=True)
