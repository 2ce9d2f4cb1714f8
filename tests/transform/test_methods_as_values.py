"""Methods of arrays that are passed and kept as functions: ``cg(A.dot, b)``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp
from tests.oracle import numeric_gradient, richardson_jvp

A, B = np.array([0.3, 0.5, 0.2, 0.7]), np.array([1.0, -0.5, 0.3, 0.8])


class Identity:
    def apply(self, r):
        return r


class Smoother:
    def __init__(self, matrix):
        self.matvec = matrix.dot

    def solve(self, b):
        x = b
        for _ in range(3):
            x = x + 0.1 * (b - self.matvec(x))
        return x


class Model:
    def __init__(self, number):
        self.dot, self.take = number, 2.0 * number


def iterated(matvec, b, preconditioner=None, n=4):
    preconditioner = preconditioner or Identity()
    r = b - matvec(b)
    for _ in range(n):
        b = b + 0.1 * preconditioner.apply(r)
        r = r - matvec(r) * 0.1
        if np.sqrt(r @ r) < 1e-12:
            return b
    return b


def power(f, v, n):
    for _ in range(n):
        v = f(v)
        v = v / np.linalg.norm(v)
    return v


def passed(a, b):
    return np.sum(iterated(np.diag(2.0 + a).dot, b) ** 2)


def passed_to_others_alike(a, b):
    matrix = np.diag(2.0 + a)
    return np.sum(iterated(lambda v: matrix @ v, b) * iterated(matrix.dot, b))


def in_an_attribute(a, b):
    return np.sum(Smoother(np.diag(a)).solve(b) ** 2)


def in_a_variable(a, b):
    matvec = (np.outer(a, a) + np.diag(b)).dot
    v = power(matvec, np.ones(4), 3)
    return v @ matvec(power(matvec, v, 2))


def in_a_list(a, b):
    x = b
    for f in [np.diag(a).dot, np.outer(a, b).dot, lambda v: v * 2]:
        x = f(x)
    return np.sum(x**2)


def by_recursion(a, b):
    def applied(f, k):
        return f(b) if k == 0 else f(applied(f, k - 1))

    return np.sum(applied(np.diag(a).dot, 2))


def mapped(a, b):
    return sum(map(a.take, [0, 2, 1])) * b[0] + np.sum(list(map(np.diag(a).dot, [b, b * 2])))


def of_an_array_that_is_written_then(a, b):
    matrix = np.diag(a) * 1.0
    f = matrix.dot
    matrix[0] = b
    return np.sum(f(b) ** 2)


def attributes_of_such_names(a, b):
    model = Model(a[0])

    def twice(v):
        return v * 2

    return twice(model.dot) + twice(model.take) * b[0]


EVERY = [
    passed, passed_to_others_alike, in_an_attribute, in_a_variable, in_a_list, by_recursion, mapped,
    of_an_array_that_is_written_then, attributes_of_such_names,
]  # fmt: skip


@pytest.mark.parametrize("f", EVERY)
def test_the_gradient_is_right(f: Any) -> None:
    for argnum in (0, 1):
        expected = numeric_gradient(f, (A, B), argnum)
        np.testing.assert_allclose(grad(f, argnum)(A, B), expected, rtol=1e-7, atol=1e-9)
    product = hvp(f, (A, B), (B, A))
    expected = richardson_jvp(lambda a, b: np.array(grad(f, (0, 1))(a, b)), (A, B), (B, A))
    np.testing.assert_allclose(product, expected, rtol=1e-6, atol=1e-8)


def test_it_is_called_as_a_method() -> None:
    text = grad(passed).source_for(A, B)
    assert "r = b - t.dot(b)" in text
