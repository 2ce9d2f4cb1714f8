"""Stores into items that are tried of what may be a number: that raises a TypeError, which a handler catches."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad
from tests.transform.remaining import check_every_way

X = np.array([0.3, 0.4])


def read_where_written(x):
    y = np.sin(x[0])
    try:
        y[x[0] > 0] = -y[x[0] > 0] * x[1]
    except TypeError:
        y = -y * x[1]
    return y


def asked_before(x):
    a = np.where(x[0] > 0, x[0], 0.0)
    y = np.sin(a)
    try:
        if np.any(a > 0):
            y[a > 0] = -y[a > 0] * x[1]
    except TypeError:
        if a > 0:
            y = -y * x[1]
    return y


def augmented(x):
    y = np.sin(x[0])
    try:
        y[()] *= x[1]
    except TypeError:
        y = y * x[1] ** 2
    return y


def by_slices(x):
    y = x[0] * x[1]
    low = 0
    try:
        y[low : int(2 * x[0])] = y * 3.0
    except (TypeError, IndexError):
        y = y**2
    return y


def beside_what_is_done(x):
    seen = []
    y = np.sin(x[0])
    try:
        seen.append(y * x[1])
        y[x > 0] = 2.0 * y
    except TypeError:
        seen.append(y)
    return seen[0] * seen[1]


@pytest.mark.parametrize("f", [read_where_written, asked_before, augmented, by_slices, beside_what_is_done])
def test_what_the_handler_does_of_a_number(f):
    check_every_way(f, X)


def isometric(latitude):
    y = np.arcsinh(np.tan(latitude))
    pole = abs(np.cos(latitude)) <= 1e-12
    try:
        y[pole] = np.sign(latitude[pole]) * np.inf
    except TypeError:
        if pole:
            y = np.sign(latitude) * np.inf
    try:
        return y.squeeze()[()]
    except AttributeError:
        return y


class Ellipsoid:
    def __init__(self, name):
        self.f = {"sphere": 0.0, "earth": 0.1}[name]


def of_an_unknown_class(x, ell=None):
    if ell is None:
        ell = Ellipsoid("earth")
    try:
        a, b = np.broadcast_arrays(x[0], x[1])
        flat = np.empty_like(a)
        near = np.isclose(a, 0) | np.isclose(b, 0)
        flat[~near] = np.arctan(a[~near] * b[~near])
        flat[near] = 0.0
    except NameError:
        flat = 0.0
    return isometric(flat + ell.f) * isometric(a * ell.f)


def test_numbers_and_arrays_whose_stores_are_tried():
    """An array without axes is written where only a NameError is caught, numbers where a TypeError is."""
    check_every_way(of_an_unknown_class, X)


def items_by_no_place(x):
    y = x[0] * x[1]
    return x[0][()] * x[1][...] + (y[None] ** 2).sum() + y[y > 0].sum() + 3.0 * y[y < 0].sum()


def items_of_what_may_be_a_number(x):
    y = np.cos(np.where(x[0] > 0, x[0], 0.0)) * x[1]
    return (y[None] * y[...] * y[()]).sum()


@pytest.mark.parametrize("f", [items_by_no_place, items_of_what_may_be_a_number])
def test_items_of_numbers_by_what_is_no_place(f):
    check_every_way(f, X)


def test_a_store_into_a_number_raises_as_in_python():
    def f(x):
        y = x[0] * x[1]
        y[0] = 2.0
        return y

    with pytest.raises(TypeError, match="does not support item assignment"):
        f(X)
    with pytest.raises(TypeError, match="does not support item assignment"):
        grad(f)(X)


def truths(x):
    near = np.isclose(x, x[1]) | np.isneginf(x) | np.isin(x, [5.0])
    twice = near + near
    return np.sum(twice * x) + np.sum(x[~near] ** 2)


def test_truth_values_that_are_added():
    check_every_way(truths, X)
