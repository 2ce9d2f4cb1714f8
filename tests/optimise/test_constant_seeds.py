"""The reverse half of a callee of whose result the caller takes the sum: it gets no array of ones."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad, hvp, value_and_grad
from tests.benchmarks.called import gram
from tests.oracle import numeric_gradient, richardson_jvp

A = np.linspace(0.3, 1.4, 12).reshape(4, 3)


def rows(A):
    y = np.zeros(len(A))
    for i in range(len(A)):
        y[i] += A[i] @ A[i - 1]
    y[1:] += A[1:, 0] ** 3
    return y


def written_again(A):
    y = np.zeros(len(A))
    for i in range(len(A)):
        y[i] = A[i] @ A[i]
        y[i] = y[i] * A[i, 0]
    return y


def by_rows(A):
    C = np.zeros((len(A), len(A)))
    for i in range(len(A)):
        C[i] += A @ A[i]
    return C


def by_parts(A):
    C = np.zeros((len(A), len(A)))
    for i in range(len(A)):
        C[i, : i + 1] += A[: i + 1] @ A[i]
    return C


def product(A):
    return A.T @ A


def around_a_product(A):
    return product(A * A)


def around(A):
    return gram(A * A)


def two(A):
    return gram(A), rows(A)


def repeated(A, depth):
    y = np.zeros(len(A))
    for i in range(len(A)):
        y[i] += A[i] @ A[i - 1]
    if depth > 0:
        y[0] += np.sum(repeated(A * 0.5, depth - 1))
    return y


def of_sum(A):
    return np.sum(gram(A))


def of_multiple(A):
    return -3.0 * np.sum(gram(A)) + np.sum(A)


def of_two_calls(A):
    return np.sum(gram(A)) + np.sum(gram(A * A) ** 2)


def of_a_call_beside_that_of_a_callee(A):
    return np.sum(around(A)) + np.sum(gram(A * A) ** 2)


def of_a_call_before_that_of_a_callee(A):
    return np.sum(gram(A * A) ** 2) + np.sum(around(A))


def of_calls_in_a_loop(A):
    total = 0.0
    for _ in range(3):
        A = A * 0.5
        total += np.sum(gram(A))
    return total


def of_a_callee_in_a_callee(A):
    return np.sum(around(A))


def of_slices(A):
    return np.sum(rows(A))


def of_two_results(A):
    a, b = two(A)
    return np.sum(a) + np.sum(b**2)


def of_values_written_again(A):
    return np.sum(written_again(A))


def of_rows(A):
    return np.sum(by_rows(A)) + np.sum(by_parts(A))


def of_a_product(A):
    return np.sum(around_a_product(A))


def of_recursion(A):
    return np.sum(repeated(A, 2))


def of_a_branch(A):
    y = gram(A)
    if A[0, 0] > 0.0:
        return np.sum(y)
    return np.sum(y) * 2.0


EVERY = [
    of_sum, of_multiple, of_two_calls, of_calls_in_a_loop, of_a_callee_in_a_callee, of_slices, of_two_results,
    of_values_written_again, of_recursion, of_a_branch,
    of_rows, of_a_product, of_a_call_beside_that_of_a_callee, of_a_call_before_that_of_a_callee,
]  # fmt: skip


@pytest.mark.parametrize("loss", EVERY)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_gradient_is_right(loss, dtype):
    expected, tolerance = numeric_gradient(loss, (A,)), 1e-7 if dtype is np.float64 else 1e-4
    np.testing.assert_allclose(grad(loss)(A.astype(dtype)), expected, rtol=tolerance)
    np.testing.assert_allclose(value_and_grad(loss)(A.astype(dtype))[1], expected, rtol=tolerance)


@pytest.mark.parametrize("loss", [of_sum, of_multiple, of_a_callee_in_a_callee, of_two_results, of_slices])
def test_so_is_that_of_the_gradient(loss):
    v = np.cos(np.arange(12.0)).reshape(4, 3)
    np.testing.assert_allclose(hvp(loss, (A,), (v,)), richardson_jvp(grad(loss), (A,), (v,)), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("loss", "line"),
    [
        (of_sum, "A_bar[k] += A[i]"),
        (of_multiple, "A_bar[k] -= 3.0 * A[i]"),
        (of_calls_in_a_loop, "A_bar[k] += A[i]"),
        (of_a_callee_in_a_callee, "A_bar[k] += A[i]"),
    ],
)
def test_elements_that_all_have_one_adjoint_are_not_looked_up(loss, line):
    text = grad(loss).source_for(A)
    assert line in text
    assert "C_bar" not in text
    assert "result_bar" not in text


@pytest.mark.parametrize("loss", [of_two_calls, of_two_results, of_values_written_again, of_recursion])
def test_other_adjoints_are(loss):
    assert "result_bar" in grad(loss).source_for(A) or "_bar[i]" in grad(loss).source_for(A)


def weighted(x, n):
    y = np.zeros(n)
    c = 0.5
    for k in range(n):
        a = np.sin(x) * c
        c = c + np.sum(a)
        y[k] = np.sum(a * x)
    return y


def around_weighted(x):
    return np.sum(weighted(x, 3))


def test_an_adjoint_that_is_written_in_place_is_no_argument() -> None:
    """``a_bar = y_bar[k] * x`` became ``x``, where ``y_bar`` has ones, and ``a_bar += c_bar`` changed that."""
    x = np.array([1.5, 2.0])
    before = x.copy()
    found = grad(around_weighted)(x)
    np.testing.assert_array_equal(x, before)
    np.testing.assert_allclose(found, numeric_gradient(around_weighted, (x,)), rtol=1e-6)
