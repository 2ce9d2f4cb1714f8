"""Forward mode through calls that write: copies of parts, outputs that are read meanwhile, lists that are sorted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp, stop_gradient
from s2sad.errors import S2SADError, UndefinedDerivativeError
from tests.oracle import richardson_jvp

X = np.array([0.5, 1.2, -0.7])
D = np.array([1.0, -0.5, 0.25])
K = np.array([0.8, -0.4, 1.5])
INDICES = {
    "list": [0, 1],
    "array": np.array([0, 1]),
    "mask": np.array([True, False, True]),
    "slice": slice(0, 2),
    "number": 1,
}
WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "sort": lambda m, x, i: m[i, :].sort(),
    "sort of columns": lambda m, x, i: m[..., i].sort(),
    "fill": lambda m, x, i: m[i, :].fill(x[0]),
    "copyto": lambda m, x, i: np.copyto(m[i, :], x[0]),
    "out": lambda m, x, i: np.multiply(m[i, :], 2.0, m[i, :]),
    "out by name": lambda m, x, i: np.add(m[:, i], x[0], out=m[:, i]),
}


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("write", WRITES)
def test_a_call_that_is_given_a_copy_of_a_part_leaves_the_array_as_it_is(write: str, index: str) -> None:
    put, i = WRITES[write], INDICES[index]

    def f(x: Any) -> Any:
        m = np.outer(x, K)
        put(m, x, i)
        return np.sum(np.sin(m) * K * x[0])

    if write == "sort of columns" and index == "number":
        pytest.skip("one column is sorted, which is a view like any other")
    np.testing.assert_allclose(jvp(f, (X,), (D,))[1], richardson_jvp(f, (X,), (D,)), rtol=1e-8)


@pytest.mark.parametrize("index", INDICES)
def test_the_value_of_such_a_call_is_the_copy(index: str) -> None:
    class Held:
        pass

    held = Held()
    held.i = INDICES[index]  # type: ignore[attr-defined]

    def f(x: Any, s: Any) -> Any:
        m = np.outer(x, K)
        i = s.i
        w = np.add(m[:, i], x[0], out=m[:, i])
        return np.sum(np.sin(w) * x[1]) + np.sum(m * m)

    def of_x(x: Any) -> Any:
        return f(x, held)

    expected = richardson_jvp(of_x, (X,), (D,))
    np.testing.assert_allclose(jvp(f, (X, held), (D, None))[1], expected, rtol=1e-8)
    np.testing.assert_allclose(jvp(of_x, (X,), (D,))[1], expected, rtol=1e-8)


def rotated(x: Any) -> Any:
    b = np.sin(x) * x
    np.concatenate([b[1:], b[:1]], out=b)
    return np.sum(np.sin(b) * K)


def rotated_copy(x: Any) -> Any:
    b = np.sin(x) * x
    np.concatenate([b[1:].copy(), b[:1].copy()], out=b)
    return np.sum(np.sin(b) * K)


def test_what_numpy_reads_while_it_writes_there_is_refused_in_both_modes() -> None:
    with pytest.raises(S2SADError, match=r"np.concatenate may read from the array that it writes into.*\n.*\n.*\nCopy"):
        jvp(rotated, (X,), (D,))
    with pytest.raises(S2SADError, match=r"np.concatenate may read from the array that it writes into"):
        grad(rotated)(X)


def test_what_is_copied_before_is_not_read_while_it_is_written() -> None:
    expected = richardson_jvp(rotated_copy, (X,), (D,))
    np.testing.assert_allclose(jvp(rotated_copy, (X,), (D,))[1], expected, rtol=1e-8)
    np.testing.assert_allclose(grad(rotated_copy)(X) @ D, expected, rtol=1e-8)


def smallest(x: Any) -> Any:
    h = list(x)
    h.sort()
    return h[0] * h[2]


def smallest_of_new(x: Any) -> Any:
    h = list(x)
    h = sorted(h)
    return h[0] * h[2]


@pytest.mark.parametrize("f", [smallest, smallest_of_new])
def test_a_list_that_is_sorted_has_its_tangents_in_order(f: Any) -> None:
    np.testing.assert_allclose(jvp(f, (X,), (D,))[1], richardson_jvp(f, (X,), (D,)), rtol=1e-8)


def scaled(q: Any, t: Any) -> Any:
    return np.multiply(q, t, out=q)


def part_of_what_may_be_a_view(x: Any) -> Any:
    m = np.full(3, 0.3)
    a = np.real_if_close(m)
    scaled(a, x[1])
    w = a[1:]
    w *= stop_gradient(a)[0]
    return np.sum(a * K)


def constant_factor(x: Any) -> Any:
    m = np.full(3, 0.3)
    a = np.real_if_close(m)
    scaled(a, x[1])
    w = a
    w *= K
    return np.sum(a * x) + np.sum(m * x)


def test_the_class_of_what_is_written_is_checked_by_its_name() -> None:
    np.testing.assert_allclose(jvp(constant_factor, (X,), (D,))[1], richardson_jvp(constant_factor, (X,), (D,)))
    # The factor is 0.3 times x[1], and constant.
    expected = K @ (D[1] * np.array([0.3, 0.3 * 0.36, 0.3 * 0.36]))
    np.testing.assert_allclose(jvp(part_of_what_may_be_a_view, (X,), (D,))[1], expected)


def of_an_item(d: Any) -> Any:
    d["q"].sort()
    return 2.0 * d["q"][0] + d["q"][1] ** 2


def test_an_item_that_is_sorted_is_an_array_or_no_derivative_passes() -> None:
    value, tangent = jvp(of_an_item, ({"q": np.array([3.0, 1.0])},), ({"q": np.array([1.0, 2.0])},))
    np.testing.assert_allclose((value, tangent), (11.0, 10.0))
    for run in (
        lambda: grad(of_an_item)({"q": [3.0, 1.0]}),
        lambda: jvp(of_an_item, ({"q": [3.0, 1.0]},), ({"q": [1.0, 2.0]},)),
    ):
        with pytest.raises(UndefinedDerivativeError, match=r"a list is changed here(.|\n)*sort\(\)"):
            run()
