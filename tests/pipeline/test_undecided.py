"""What is written in place where the types do not say whether it is an array, is required to be one at run time."""

# ruff: noqa: NPY002

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from s2sad.analysis.infer import Facts
from s2sad.errors import UndefinedDerivativeError
from s2sad.frontend.lower import lower
from s2sad.frontend.source import read_source
from s2sad.ir.show import show
from s2sad.pipeline.undecided import with_required
from tests.language.support import from_file
from tests.oracle import numeric_gradient, richardson_jvp

X = np.array([1.5, 0.2, -0.7, 2.1])
#: A tuple of which the text for any arguments does not know whether it gives a number, a view or a copy.
PLACES = (np.array([0, 3]),)


def picked(x: Any, places: Any) -> Any:
    return x[places]


def clipped(u: Any, limit: float) -> Any:
    u[u > limit] = limit
    return np.sum(u * u)


def stored_into(x: Any, places: Any) -> Any:
    u = np.exp(picked(x, places))
    u[u > 5.0] = 1.0
    return np.sum(u * u)


def stored_into_by_a_callee(x: Any, places: Any) -> Any:
    u = np.exp(picked(x, places))
    return clipped(u, 5.0) + np.sum(u)


def augmented_under_two_names(x: Any, places: Any) -> Any:
    u = np.exp(picked(x, places))
    v = u
    u += 1.0
    u *= x[0]
    return np.sum(u * v)


def read_by_operators(x: Any, places: Any) -> Any:
    np.random.seed(0)
    b = np.random.randn(2)
    c = x[0] * b * b
    b -= x[1] * c + b
    return np.sum(b * c) + np.sum(picked(x, places))


def read_in_expressions(x: Any, places: Any) -> Any:
    np.random.seed(0)
    b, w = np.random.randn(2), np.random.randn(2, 2)
    for _ in range(2):
        y = 2 * (w @ picked(x, places) + b)
        p = b
        p -= x[0] * np.sum(y * w, axis=0)
        b *= y - w[0]
    return np.sum(b)


def augmented_in_a_loop(x: Any, places: Any) -> Any:
    u = np.exp(picked(x, places))
    v = u
    for i in range(3):
        if i > 0:
            u *= x[i]
    return np.sum(v)


def rows_of_unknown_number(x: Any, places: Any) -> Any:
    rows = np.exp(picked(np.outer(x, x), places))
    for row in rows:
        row *= x
    return np.sum(rows)


def first_and_second(x: Any, places: Any) -> Any:
    rows = np.exp(picked(np.outer(x, x), places))
    a, b = rows
    a += b * x
    return np.sum(a * x)


def replaced_in_a_loop(x: Any, places: Any) -> Any:
    u = np.exp(picked(x, places))
    for _ in range(2):
        u = np.full(2, 0.7) @ [u.copy(), u.copy()]
    v = u
    u += 0.2 * x[0]
    return np.sum(v * v)


def replaced_while_its_rows_are_written(x: Any, places: Any) -> Any:
    r = np.exp(picked(np.outer(x, x), places))
    u = r**2
    for _ in range(2):
        for row in u:
            row -= np.mean(r)
            u = 4.0 * x + r
    return np.sum(u * u)


def descended(x: Any, u: Any, places: Any) -> Any:
    last = np.inf
    for _ in range(4):
        e = np.sum((x[1] * u - picked(x, places)) ** 2) + x[0] * np.sum(u**2)
        if last - e < 1e-9:
            return u
        last = e
        u -= 0.1 * (x[1] * u + x[0] * picked(x, places))
    return u


def returned_in_a_loop(x: Any, places: Any) -> Any:
    # What is returned has no value, and is no array, where the loop goes on.
    np.random.seed(0)
    u = np.random.randn(2)
    return np.sum(descended(x, u, places) ** 2)


PROGRAMS = [
    stored_into, stored_into_by_a_callee, augmented_under_two_names, read_by_operators,
    read_in_expressions,
    augmented_in_a_loop, rows_of_unknown_number,
    first_and_second, replaced_in_a_loop, replaced_while_its_rows_are_written,
    returned_in_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f: Callable[..., Any]) -> None:
    way = np.array([0.3, -1.0, 0.5, 0.2])
    expected = numeric_gradient(f, (X, PLACES))
    np.testing.assert_allclose(grad(f)(X, PLACES), expected, rtol=1e-7)
    np.testing.assert_allclose(from_file(grad(f).source)(X, PLACES), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (X, PLACES), (way, None))[1], expected @ way, rtol=1e-7)
    second = richardson_jvp(lambda x: grad(f)(x, PLACES), [X], [way])
    np.testing.assert_allclose(hvp(f, (X, PLACES), (way, None)), second, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("f", PROGRAMS)
def test_a_check_stands_where_the_array_is_made(f: Callable[..., Any]) -> None:
    assert "require_ndarray(" in grad(f).source


def first_with_second(a: Any) -> Any:
    s = a[0]
    t = s
    s += a[1]
    return np.sum(s * t)


def test_numbers_and_other_classes_raise() -> None:
    general, rows = from_file(grad(first_with_second).source), np.arange(9.0).reshape(3, 3)
    np.testing.assert_allclose(general(rows.copy()), numeric_gradient(first_with_second, (rows,)), atol=1e-9)
    with pytest.raises(UndefinedDerivativeError, match="a float64 is changed here"):
        general(np.ones(3))
    with pytest.raises(UndefinedDerivativeError, match="a MaskedArray is changed here"):
        general(np.ma.masked_array(rows, rows > 3.0))


def stepped(f: Callable[..., Any], x: Any) -> Any:
    y = np.zeros_like(json.loads("[1, 2, 3]"), dtype=float)
    y[0] = x[1]
    for j in range(2):
        y[j + 1] = f(y[j]) + y[j]
    return np.sum(y**2)


def items_read(x: Any) -> Any:
    return stepped(lambda v: v * x[0], x)


def items_read_late(x: Any) -> Any:
    y = np.zeros_like(json.loads("[1, 2, 3]"), dtype=float)
    y[:2] = x[:2]
    first = y[0]
    y[0] = y[1]
    y[2] = first * x[0]
    return np.sum(y**2)


def numbers_read_late(x: Any) -> Any:
    y = np.zeros_like(json.loads("[1, 2, 3]"), dtype=float)
    y[:2] = x[:2]
    first = 1.0 * y[0]
    y[0] = y[1]
    y[2] = first * x[0]
    return np.sum(y**2)


def test_items_that_may_be_parts_of_what_is_changed() -> None:
    with pytest.raises(UndefinedDerivativeError, match=r"read from what is changed(?s:.*)1\.0 \* a\[i\] for a\[i\]"):
        grad(items_read_late)(X)
    for f in (items_read, numbers_read_late):
        np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), atol=1e-9)


def assigned(x: Any, n: int) -> Any:
    u, v = x
    if n > 1:
        v = u
    for w in v:
        w += u
    return v


def test_the_checks_in_a_function() -> None:
    function = lower(read_source(assigned), ("x",)).function
    wanted, facts = frozenset({"x.1", "u.1", "v.3", "w.1", "w.3"}), Facts({}, {})
    made = with_required(function, wanted, facts, lambda _: ())
    lines = [line.strip() for line in show(made).splitlines()]
    checks = [(lines[i - 1], line.split()[-1]) for i, line in enumerate(lines) if "require_ndarray" in line]
    # What is moved is checked before: nothing stands between a move and the end of its block.
    assert checks == [
        ("function assigned(x.1, n.1)", "require_ndarray(x.1)"),
        ("u.1, v.1 = unpack x.1", "require_ndarray(u.1)"),
        ("v.2 = u.1", "require_ndarray(v.2)"),
        ("else", "require_ndarray(v.1)"),
        ("w.3 = +(w.2, u.1)", "require_ndarray(w.3)"),
    ]
    assert with_required(made, wanted | {"elsewhere.1"}, facts, lambda _: ()) is made
