"""A callee with two results: the half is written for a number as the adjoint of one, and that of the other is any."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient


def by_item(u, x):
    for i in range(len(u)):
        u[i] = x * i


def all_of_it(u, x):
    u[...] = x * x


ADJOINTS = {
    "one": lambda u, x: np.sum(u),
    "a number": lambda u, x: np.sum(u) * x[1],
    "a number by items": lambda u, x: np.sum(u * x[1]),
    "an array": lambda u, x: np.sum(u * u),
    "nothing": lambda u, x: x[1],
}
WRITES = [by_item, all_of_it]


def calls(first, second, write):
    """A function of two results, and one that takes these sums of them."""

    def both(n, x):
        u = np.zeros(n)
        v = np.zeros(n)
        write(u, x)
        for i in range(n):
            v[i] = u[i] ** 2
        return u, v

    def loss(x):
        u, v = both(4, x[0])
        return first(u, x) + second(v, x)

    return loss


@pytest.mark.parametrize("write", WRITES, ids=lambda w: w.__name__)
@pytest.mark.parametrize("second", ADJOINTS)
@pytest.mark.parametrize("first", ADJOINTS)
def test_two_results(first, second, write):
    x = np.array([0.7, 1.2])
    f = calls(ADJOINTS[first], ADJOINTS[second], write)
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, (x,)), rtol=1e-7, atol=1e-9)


def filled(n, x):
    u = np.zeros(n)
    v = np.zeros(n)
    u[...] = x * x
    for i in range(n):
        v[i] = x * i
    return u, v


def of_products_and_a_sum(x):
    u, v = filled(4, x[0])
    return np.sum(u * x[1] + v)


def test_a_number_for_one_result_is_no_array():
    x = np.array([0.7, 1.2])
    np.testing.assert_allclose(grad(of_products_and_a_sum)(x), numeric_gradient(of_products_and_a_sum, (x,)), rtol=1e-7)
