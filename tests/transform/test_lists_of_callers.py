"""Functions that exchange, replace and append items of lists of their callers: they are inlined."""

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient


def solve(A, b):
    """Gaussian elimination in place, by rows that are exchanged."""
    n = len(b)
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(A[r][i]))
        A[i], A[p] = A[p], A[i]
        b[i], b[p] = b[p], b[i]
        for j in range(i + 1, n):
            ratio = A[j][i] / A[i][i]
            A[j] = [A[j][k] - ratio * A[i][k] for k in range(n)]
            b[j] -= ratio * b[i]
    x = [0] * n
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - sum(A[i][j] * x[j] for j in range(i + 1, n))) / A[i][i]
    return x


def order(A, b):
    """Rows by their first items, without a result."""
    for i in range(len(A)):
        p = min(range(i, len(A)), key=lambda r: A[r][0])
        if p != i:
            A[i], A[p] = A[p], A[i]
    A.append([b[0] * v for v in A[0]])


def through(A, b):
    order(A, b)
    return A[-1]


def rows_of(v):
    return [[v[0], 5.0, 1.0], [6.0, v[1], 1.0], [1.4, 1.2, v[2]]]


def displayed(v):
    x = solve(rows_of(v), [v[0], 2.0, 3.0])
    return x[0] + 2 * x[1] + 3 * x[2]


def comprehended(v):
    x = solve([[v[i] * v[j] + (i == j) for j in range(3)] for i in range(3)], [3.0 * e for e in v])
    return x[0] + 2 * x[1] + 3 * x[2]


def filled(v):
    A = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            A[i][j] = v[i] * v[j] + (i == j)
    order(A, v)
    return A[0][0] * A[1][2] * A[3][1]


def read_by_the_caller(v):
    A = rows_of(v)
    first = A[0]
    last = through(A, v)
    return first[0] * A[0][1] * A[2][2] + last[0] * len(A)


def below(v, n):
    def inner(A):
        order(A, v)
        return A[0][0] * A[1][1]

    return sum(inner(rows_of(v * k)) for k in range(1, n))


@pytest.mark.parametrize(
    ("f", "further"),
    [(displayed, ()), (comprehended, ()), (filled, ()), (read_by_the_caller, ()), (below, (3,))],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_lists_that_the_caller_makes(f, further):
    v = np.array([2.1, 3.3, 0.7])
    expected = numeric_gradient(f, (v, *further))
    np.testing.assert_allclose(grad(f)(v, *further), expected, rtol=1e-6)
    direction = np.array([0.3, -1.0, 0.6])
    if f is displayed:
        np.testing.assert_allclose(jvp(f, (v,), (direction,))[1], expected @ direction, rtol=1e-6)


def of_arguments(A, b):
    x = solve(A, b)
    return x[0] + 2 * x[1] + 3 * x[2]


def test_lists_that_are_arguments_stay_as_they_are():
    A, b = rows_of([2.1, 3.3, 0.7]), [1.0, 2.0, 3.0]
    got = grad(of_arguments, argnums=(0, 1))(A, b)
    assert rows_of([2.1, 3.3, 0.7]) == A
    assert b == [1.0, 2.0, 3.0]
    expected = numeric_gradient(lambda a: of_arguments(a.tolist(), list(b)), (np.array(A),))
    np.testing.assert_allclose(got[0], expected, rtol=1e-6)
    expected = numeric_gradient(lambda a: of_arguments(rows_of([2.1, 3.3, 0.7]), a.tolist()), (np.array(b),))
    np.testing.assert_allclose(got[1], expected, rtol=1e-6)


def two_names(v):
    A = rows_of(v)
    B = A
    order(A, v)
    return B[0][0] * A[3][0]


def twice(v):
    A = rows_of(v)
    both(A, A, v)
    return A[0][0] * A[3][0]


def both(A, B, v):
    A[0], A[1] = B[1], B[0]
    B.append([v[0] * A[0][0]])


@pytest.mark.parametrize("f", [two_names, twice])
def test_lists_of_two_names_are_right_or_refused(f):
    v = np.array([7.1, 3.3, 0.7])
    expected = numeric_gradient(f, (v,))
    try:
        got = grad(f)(v)
    except S2SADError:
        return
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def counted_from_one(x):
    scale = lambda a: 2.0 * a  # noqa: E731
    return sum(k * scale(v) for k, v in enumerate(x, 1))


def test_enumerate_from_another_number_of_what_is_not_known():
    np.testing.assert_array_equal(grad(counted_from_one)(np.ones(3)), [2.0, 4.0, 6.0])
