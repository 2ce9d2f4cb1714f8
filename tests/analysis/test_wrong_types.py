"""Programs in which a wrong belief about a type once crashed the compiler or gave a wrong gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient

X = np.array([1.0, 2.0, 0.5])


def test_an_argument_of_more_than_double_precision() -> None:
    assert grad(lambda x: x * x)(np.longdouble(3.0)) == 6.0


# --- truth values as indices: ``x[True]`` has an axis more than ``x``, not one less


def item_by_a_part_of_a_mask(x: Any, w: Any, mask: Any) -> Any:
    chosen = np.split(mask, 2)[0][0]
    return np.sum(x[chosen] * w)


def item_by_a_nested_truth_value(x: Any, w: Any, mask: Any) -> Any:
    chosen = np.array([[mask[0]], [mask[0]]])[0][0]
    return np.sum(x[chosen] * w)


def item_by_an_array_like_a_mask(x: Any, w: Any, mask: Any) -> Any:
    chosen = np.full_like(mask, 1.0)[0]
    return np.sum(x[chosen] * w)


@pytest.mark.parametrize("f", [item_by_a_part_of_a_mask, item_by_a_nested_truth_value, item_by_an_array_like_a_mask])
def test_a_truth_value_out_of_an_array_is_no_position(f: Callable[..., Any]) -> None:
    w, mask = np.array([[0.5], [2.0]]), np.array([True, False])
    x_bar, w_bar = grad(f, (0, 1))(X, w, mask)
    np.testing.assert_allclose(x_bar, np.full(3, 2.5), rtol=1e-14)
    np.testing.assert_allclose(w_bar, np.full((2, 1), X.sum()), rtol=1e-14)


# --- objects that NumPy makes arrays of


class Box:
    """An array by another class."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(X, dtype)


BOX = Box()


def chosen_beside_an_object(x: Any, c: Any) -> Any:
    return np.sum(np.where(c, BOX, x))


def test_an_object_may_have_axes() -> None:
    assert grad(chosen_beside_an_object)(0.5, False) == 3.0


# --- sizes


def shape_by_an_imaginary_part(x: Any, n: Any) -> Any:
    return np.sum(np.zeros(np.imag(n) + 3) + x) + np.sum(np.ones(n) * x[0])


def test_the_imaginary_part_of_a_size_is_no_size() -> None:
    np.testing.assert_allclose(grad(shape_by_an_imaginary_part)(X, 4), [5.0, 1.0, 1.0], rtol=1e-14)


def rows_of_a_matrix_transposed(x: Any, w: Any) -> Any:
    return np.sum((x.mT + w) ** 2)


def test_a_matrix_transposed_has_other_sizes() -> None:
    x, w = np.array([[1.0], [2.0]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    x_bar, w_bar = grad(rows_of_a_matrix_transposed, (0, 1))(x, w)
    np.testing.assert_allclose(w_bar, 2 * (x.T + w), rtol=1e-14)
    np.testing.assert_allclose(x_bar, np.sum(2 * (x.T + w), axis=0)[:, None], rtol=1e-14)


# --- subclasses of arrays, whose sums are arrays without axes that ``+=`` changes in place


class Labelled(np.ndarray):
    pass


CLASSES: list[type[np.ndarray]] = [Labelled, np.recarray]


def total_changed_beside_a_name(x: Any) -> Any:
    s = x.sum()
    t = s
    for _ in range(3):
        s += np.sin(t)
    return t * s


def total_changed_in_a_tuple(x: Any) -> Any:
    s = np.max(x * x)
    t = (s, s * s)
    s *= s
    return t[0] * s * t[1]


def _changed(v: Any) -> Any:
    v += 1.0
    return v


def total_changed_by_a_callee(x: Any) -> Any:
    s = np.sum(x * x)
    t = _changed(s)
    return s * t


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("f", [total_changed_beside_a_name, total_changed_in_a_tuple, total_changed_by_a_callee])
def test_a_number_that_is_an_array_is_not_changed_as_a_number(f: Callable[..., Any], cls: type[np.ndarray]) -> None:
    with pytest.raises(UndefinedDerivativeError, match="types do not say whether it is an array"):
        grad(f)(X.copy().view(cls))
    assert np.isfinite(grad(f)(X)).all()


def total_of_new_values(x: Any) -> Any:
    y = x.copy()
    y[1:] = y[1:] * y[:-1]
    n = np.sqrt(np.sum(y**2))
    s = 0.0
    for i in range(3):
        s += x[i] * y[i]
    return n * s + np.mean(x) * (y / n)[0]


@pytest.mark.parametrize("cls", CLASSES)
def test_other_programs_take_arrays_of_a_subclass(cls: type[np.ndarray]) -> None:
    value, gradient = value_and_grad(total_of_new_values)(X.copy().view(cls))
    expected, plain = value_and_grad(total_of_new_values)(X)
    assert float(value) == float(total_of_new_values(X.copy().view(cls))) == expected
    np.testing.assert_array_equal(np.asarray(gradient), plain)


# --- a loop inside another runs over nothing in the first round, and over what that leaves in the others


def scores_of_a_history(x: Any) -> Any:
    history: list[Any] = []
    q = x * 1.0
    for k in range(70):
        scores = []
        for s, r in reversed(history):
            scores.append(r * np.dot(s, x))
        q = q + 0.001 * sum(scores)
        history.append((q, 0.01 * k))
    return q @ x


def test_what_a_later_round_runs_over() -> None:
    assert np.allclose(grad(scores_of_a_history)(X), numeric_gradient(scores_of_a_history, (X,)))
