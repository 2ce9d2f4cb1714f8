"""The class of what a library makes, for which a model stands where it meets what is differentiated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy.sparse import coo_matrix, csr_array, csr_matrix
from scipy.spatial.transform import Rotation

from tests.transform.remaining import check_both_modes, check_right_or_refused

X = np.array([0.7, 0.4, 0.9])
WAY = np.array([0.3, -0.7, 1.1])


def matrix(x: Any) -> Any:
    places = np.arange(3)
    return coo_matrix((x + 1.0, (places, places)), shape=(3, 3)).tocsr()


def product(m: Any, x: Any) -> Any:
    if type(m) is csr_matrix:
        return m @ x
    if type(m) is csr_array:
        return 3.0 * (m @ x)
    return np.dot(m.toarray(), 2.0 * x)


def named(x: Any) -> Any:
    m = matrix(x)
    return np.sum(m @ x) * len(type(m).__name__)


def chosen_by_class(x: Any) -> Any:
    m = matrix(x)
    return np.sum(m @ x) * {csr_matrix: 2.0, csr_array: 3.0}.get(type(m), 7.0)


def of_a_polynomial(x: Any) -> Any:
    p = Polynomial(x)
    return p(2.0) * (2.0 if type(p) is Polynomial else 5.0)


def attribute_of_a_polynomial(x: Any) -> Any:
    p = Polynomial(x)
    return p(2.0) * (2.0 if p.__class__ is Polynomial else 5.0)


def of_a_rotation(x: Any) -> Any:
    r = Rotation.from_rotvec(x)
    return np.sum(r.apply(2.0 * x + 1.0) * x) * (2.0 if type(r) is Rotation else 5.0)


def of_an_old_polynomial(x: Any) -> Any:
    p = np.poly1d(x)
    return p(2.0) * (2.0 if type(p) is np.poly1d else 5.0) * (3.0 if p.__class__ == np.poly1d else 7.0)


FUNCTIONS = [
    lambda x: np.sum(product(matrix(x), x)),
    lambda x: np.sum(matrix(x) @ x) * (2.0 if matrix(x).__class__ is csr_matrix else 5.0),
    lambda x: np.sum(matrix(x) @ x) * (2.0 if issubclass(type(matrix(x)), csr_matrix) else 5.0),
    *(named, chosen_by_class, of_a_polynomial, attribute_of_a_polynomial, of_a_rotation),
]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_it_is_that_of_the_library_or_refused(f: Callable[..., Any]) -> None:
    check_right_or_refused(f, X, WAY)


def test_one_class_that_has_a_model_is_known() -> None:
    check_both_modes(of_an_old_polynomial, X, WAY)
