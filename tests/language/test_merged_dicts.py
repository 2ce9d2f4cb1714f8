"""``|`` and ``|=`` of dicts, and lists that are repeated by NumPy's integers, against differences in both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient

X = np.array([0.7, 1.3, -0.4])


def merged(x: Any) -> Any:
    d = {"a": x[0]}
    e = d | {"k": x[1] * x[2], "a": x[2]}
    return e["k"] * d["a"] + e["a"] ** 2


def merged_in_place(x: Any) -> Any:
    d = {"a": x[0]}
    e = d
    d |= {"k": x[1] * x[2]}
    return e["k"] * d["a"]


def merged_with_pairs(x: Any) -> Any:
    d = {"a": x[0]}
    d |= [("k", x[1] * x[2]), ("a", x[0] * x[1])]
    return d["k"] * d["a"]


def merged_with_variables(x: Any) -> Any:
    d = {"a": x[0], "b": x}
    pairs = [("k", x[1] * x[2]), ("b", x * x)]
    d |= pairs
    return d["k"] * d["a"] + np.sum(d["b"])


def merged_with_zipped(x: Any) -> Any:
    d = {"a": x[0]}
    d |= zip(["k", "l"], [x[1] * x[2], 3.0], strict=True)
    return d["k"] * d["a"] * d["l"]


@pytest.mark.parametrize("f", [merged, merged_in_place, merged_with_pairs, merged_with_variables, merged_with_zipped])
def test_dicts(f: Callable[..., Any]) -> None:
    wanted = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), wanted, rtol=1e-6)
    np.testing.assert_allclose([jvp(f, (X,), (d,))[1] for d in np.eye(3)], wanted, rtol=1e-6)


def repeated(x: Any, n: Any) -> Any:
    many = [x[0], x[1] * 2] * np.int64(n)
    return many[0] * many[3]


def repeated_on_the_right(x: Any, n: Any) -> Any:
    many = np.int64(n) * (x[0], x[1] * 2)
    return many[0] * many[3]


def repeated_by_int(x: Any, n: Any) -> Any:
    many = [x[0], x[1] * 2] * int(np.int64(n))
    return many[0] * many[3]


@pytest.mark.parametrize("f", [repeated, repeated_on_the_right, repeated_by_int])
def test_lists_that_are_repeated(f: Callable[..., Any]) -> None:
    wanted = numeric_gradient(f, (X, 2))
    np.testing.assert_allclose([jvp(f, (X, 2), (d, None))[1] for d in np.eye(3)], wanted, rtol=1e-6, atol=1e-10)
    if f is repeated_by_int:
        np.testing.assert_allclose(grad(f)(X, 2), wanted, rtol=1e-6, atol=1e-10)
        return
    with pytest.raises(UndefinedDerivativeError, match=r"write \* int\(n\)"):
        grad(f)(X, 2)
