"""The helpers that emitted code calls, and what the rules do at kinks, at ties and on empty arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from s2sad import ops
from s2sad.errors import UndefinedDerivativeError
from s2sad.ops import spec
from s2sad.runtime.arrays import count, count_ties, mean_ties, power_dx, power_dy, share_ties, unbroadcast, unreduce
from s2sad.runtime.items import items_like, repeat_items
from s2sad.runtime.scans import other_products
from s2sad.runtime.special import polygamma, sinc_derivative
from tests.oracle import complex_step_jvp, numeric_gradient, richardson_jvp

ops.load_all()

shapes = st.lists(st.integers(0, 3), max_size=3).map(tuple)


def vjp(function: Any, *args: Any, **kwargs: Any) -> Any:
    """The text of a rule, called at ``args``."""
    rule = spec.find(function)
    assert rule is not None
    values = rule.vjp(*args, **kwargs)
    # That of what is reduced, without those of a first value or a mean that are not given.
    return values[0] if rule.wrt[1:] in (("initial",), ("mean",)) else values


# --- unbroadcast and unreduce ---


def test_unbroadcast_returns_the_very_object_where_shapes_agree() -> None:
    g = np.ones((2, 3))
    assert unbroadcast(g, (2, 3)) is g
    x = 1.5
    assert unbroadcast(x, ()) is x


def test_unbroadcast_to_a_number_is_a_number() -> None:
    g = unbroadcast(np.ones((2, 3)), ())
    assert isinstance(g, float)
    assert g == 6.0


@given(shapes, st.data())
def test_unbroadcast_is_the_transpose_of_broadcasting(shape: tuple[int, ...], data: st.DataObject) -> None:
    kept = [data.draw(st.sampled_from([n, 1])) for n in shape]
    small = tuple(kept[data.draw(st.integers(0, len(kept))) :])
    g = np.random.default_rng(0).normal(size=shape)
    x = np.random.default_rng(1).normal(size=small)
    result = unbroadcast(g, small)
    assert np.shape(result) == small
    assert_allclose(np.sum(result * x), np.sum(g * np.broadcast_to(x, shape)), atol=1e-12)


def test_unbroadcast_repeats_an_adjoint_that_is_constant_along_an_axis() -> None:
    assert_array_equal(unbroadcast(2.0, (2, 3)), np.full((2, 3), 2.0))
    assert_array_equal(unbroadcast(np.array([1.0, 2.0]), (2, 2)), [[1.0, 2.0], [1.0, 2.0]])
    assert_array_equal(unbroadcast(np.array([[1.0], [2.0]]), (1, 3)), [[3.0, 3.0, 3.0]])


def test_single_precision_stays() -> None:
    g = np.ones((2, 3), np.float32)
    assert unbroadcast(g, (3,)).dtype == unbroadcast(g, ()).dtype == unreduce(g, (4, 2, 3), 0).dtype == np.float32


@given(shapes, st.data())
def test_unreduce_is_the_transpose_of_a_sum(shape: tuple[int, ...], data: st.DataObject) -> None:
    axes: set[int] = data.draw(st.sets(st.sampled_from(range(len(shape))))) if shape else set()
    signed = tuple(i - len(shape) if data.draw(st.booleans()) else i for i in axes)
    axis: Any = data.draw(st.sampled_from([None, signed, *signed]))
    keepdims = data.draw(st.booleans())
    a = np.random.default_rng(0).normal(size=shape)
    z = np.sum(a, axis=axis, keepdims=keepdims)
    g = np.random.default_rng(1).normal(size=np.shape(z))
    result = unreduce(g, shape, axis, keepdims)
    assert result.shape == shape
    assert_allclose(np.sum(result * a), np.sum(g * z), atol=1e-12)


@pytest.mark.parametrize("axis", [0, -1, None])
def test_a_number_may_be_reduced(axis: int | None) -> None:
    assert unreduce(2.0, np.shape(3.0), axis) == 2.0
    assert count((), axis) == 1


def test_count_is_positive() -> None:
    assert [count((0, 3)), count((0, 3), 1), count((0, 3), (0, -1)), count((4, 3), (0, -1))] == [1, 3, 1, 12]


# --- kinks, by the field's convention ---

TIED = np.array([1.0, 3.0, 3.0, 3.0])


def test_ties_share_equally() -> None:
    assert_allclose(vjp(np.max, 3.0, 1.5, TIED), [0, 0.5, 0.5, 0.5])
    assert_allclose(vjp(np.min, -3.0, 1.5, -TIED), [0, 0.5, 0.5, 0.5])
    rows = np.array([[2.0, 2.0], [1.0, 4.0]])
    assert_allclose(vjp(np.max, np.array([2.0, 4.0]), np.array([1.0, 3.0]), rows, 1), [[0.5, 0.5], [0.0, 3.0]])
    assert [float(g) for g in vjp(np.maximum, 3.0, 2.0, 2.0)] == [1.5, 1.5]
    assert [float(g) for g in vjp(np.minimum, 3.0, 2.0, 2.0)] == [1.5, 1.5]
    assert [float(g) for g in vjp(np.fmax, 2.0, 3.0, 2.0, 2.0)] == [1.5, 1.5]
    assert [float(g) for g in vjp(np.fmin, 2.0, 3.0, 2.0, 2.0)] == [1.5, 1.5]
    assert vjp(max, 2.0, 3.0, 2.0, 1.0, 2.0, 2.0) == (1.0, 0.0, 1.0, 1.0)
    assert vjp(min, 2.0, 3.0, [2.0, 2.0]) == ([1.5, 1.5],)


def test_a_bound_shares_with_what_it_clips() -> None:
    a = np.array([-1.0, 0.0, 1.0, 2.0, 3.0])
    for low, high in ((0.0, 2.0), (np.array(0.0), np.array(2.0))):
        a_bar, low_bar, high_bar = vjp(np.clip, np.ones(5), a, low, high)
        assert_array_equal(a_bar, [0, 0.5, 1, 0.5, 0])
        assert (float(low_bar), float(high_bar)) == (1.5, 1.5)
    # minimum(maximum(a, low), high): the two ties halve twice
    a_bar, low_bar, high_bar = vjp(np.clip, 1.0, 1.0, np.array(1.0), np.array(1.0))
    assert (float(a_bar), float(low_bar), float(high_bar)) == (0.25, 0.25, 0.5)


def test_derivatives_at_zero() -> None:
    assert vjp(np.absolute, 2.0, np.array(0.0)) == 0
    assert vjp(np.absolute, 2.0, np.array(0j)) == 0
    assert vjp(abs, 2.0, 0.0) == 0
    assert vjp(math.fabs, 0.0) == 0
    assert vjp(np.sign, 0.0, 2.0, np.array(0.0)) == 0
    assert vjp(np.sign, 0j, 2.0, np.array(0j)) == 0
    assert vjp(np.hypot, np.hypot(0.0, 0.0), 0.0, 0.0) == (0, 0)
    assert vjp(math.hypot, 0.0, 1.0, 0.0, 0.0) == (0, 0)
    assert vjp(math.dist, 0.0, 1.0, [1.0], [1.0]) == ([0.0], [0.0])
    assert sinc_derivative(np.array(0.0), 1) == 0


@pytest.mark.parametrize("zero", [0.0, np.float64(0), np.array(0.0)])
def test_powers_of_zero(zero: Any) -> None:
    assert power_dx(zero, 0.0) == power_dx(zero, np.array(0.0)) == 0
    assert power_dx(zero, 1.0) == power_dx(zero, np.array(1.0)) == 1
    assert power_dx(zero, 2.0) == power_dx(zero, np.array(2.0)) == 0
    assert power_dy(zero, 2.0, zero**2.0) == power_dy(zero, 0.0, zero**0.0) == 0


def test_a_negative_base_has_no_derivative_by_its_exponent() -> None:
    assert power_dx(-2.0, 3.0) == 12.0
    assert math.isnan(power_dy(-2.0, 3.0, -8.0))
    with pytest.warns(RuntimeWarning, match="invalid value"):
        assert np.isnan(power_dy(np.array(-2.0), 3.0, -8.0))
    assert_allclose(power_dy(-2.0, 2j, (-2.0 + 0j) ** 2j), (-2.0 + 0j) ** 2j * np.log(-2.0 + 0j))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_was_not_chosen_gets_nothing(bad: float) -> None:
    """Zero times NaN is NaN: an untaken branch must be left out, not multiplied by 0."""
    g = np.array([1.0, bad])
    first = np.array([True, False])
    assert_array_equal(vjp(np.where, g, first, np.ones(2), np.ones(2))[0], [1, 0])
    assert vjp(np.maximum, bad, np.array(1.0), np.array(2.0))[0] == 0
    assert vjp(np.minimum, bad, np.array(3.0), np.array(2.0))[0] == 0
    assert_array_equal(vjp(np.clip, g, np.array([0.0, 9.0]), -1.0, 1.0)[0], [1, 0])
    assert_array_equal(vjp(np.max, 3.0, bad, np.array([1.0, 3.0])), [0, bad])
    assert_array_equal(vjp(np.nansum, bad, np.array([1.0, np.nan])), [bad, 0])
    assert_array_equal(vjp(np.nan_to_num, g, np.array([1.0, np.nan])), [1, 0])


@pytest.mark.skipif(not hasattr(np, "unique_values"), reason="it came with NumPy 2.0")
def test_values_of_which_some_are_nan_get_what_is_theirs() -> None:
    x = np.array([3.0, np.nan, 1.0, 3.0, np.nan])
    values = np.unique_values(x)
    assert np.isnan(values).sum() == 2
    z_bar = np.where(values == 3, 2.0, np.where(values == 1, 5.0, 0.0))
    assert_array_equal(vjp(np.unique_values, values, z_bar, x), [1, 0, 5, 1, 0])


def test_no_spread_has_derivative_zero() -> None:
    assert_array_equal(vjp(np.std, np.float64(0), np.float64(1), np.ones(3))[0], np.zeros(3))


def test_python_max_of_nan_follows_python() -> None:
    x = math.nan
    assert vjp(max, max(x, 1.0), 1.0, x, 1.0) == (1.0, 0.0)


# --- products ---


def test_products_with_zeros_and_underflow() -> None:
    assert_array_equal(other_products(np.array([2.0, 0.0, 5.0])), [0, 10, 0])
    assert_array_equal(other_products(np.array([2.0, 0.0, 0.0])), [0, 0, 0])
    tiny = np.array([1e-200, 1e-200, 1e200])
    assert_allclose(other_products(tiny), [1.0, 1.0, 0.0], atol=1e-300)


def test_cumulative_product_with_zeros() -> None:
    a = np.array([2.0, 0.0, 3.0, 0.0, 4.0])
    jacobian = np.zeros((5, 5))
    for i in range(5):
        for j in range(i + 1):
            jacobian[i, j] = np.prod([a[k] for k in range(i + 1) if k != j])
    for i in range(5):
        assert_array_equal(vjp(np.cumprod, np.eye(5)[i], a), jacobian[i])


# --- empty arrays ---


@pytest.mark.parametrize("function", [np.sum, np.mean, np.prod, np.cumsum, np.cumprod, np.nansum])
def test_empty_arrays_have_empty_adjoints(function: Any) -> None:
    z_bar = np.zeros(0) if function in (np.cumsum, np.cumprod) else 1.0
    assert vjp(function, z_bar, np.ones(0)).shape == (0,)


# --- sequences ---


def test_adjoints_have_the_kind_of_their_sequence() -> None:
    assert repeat_items(1.0, (1.0, 2.0)) == (1.0, 1.0)
    assert_array_equal(repeat_items(np.ones(2), np.zeros((3, 2))), np.ones((3, 2)))
    assert items_like({2: 1.5, 1: 0.5}, [3.0, 4.0]) == {2: 0.0, 1: 0.0}
    with pytest.raises(UndefinedDerivativeError, match="set"):
        items_like({1.0}, [2.0])


# --- special functions, against what others publish ---


def test_polygamma() -> None:
    euler = 0.5772156649015329
    assert polygamma(0, 1.0) == pytest.approx(-euler, rel=1e-14)
    assert polygamma(0, 0.5) == pytest.approx(-euler - 2 * math.log(2), rel=1e-14)
    assert polygamma(1, 1.0) == pytest.approx(math.pi**2 / 6, rel=1e-14)
    assert polygamma(1, 0.5) == pytest.approx(math.pi**2 / 2, rel=1e-14)
    assert polygamma(2, 1.0) == pytest.approx(-2.4041138063191886, rel=1e-14)  # -2 zeta(3)
    assert polygamma(0, -0.5) == pytest.approx(polygamma(0, 1.5), rel=1e-14)  # reflection: they differ by pi tan(pi)
    with pytest.raises(ZeroDivisionError):
        polygamma(0, -2.0)


# --- the oracle itself, on closed forms ---


def test_oracle() -> None:
    x = np.array([0.4, 1.3])
    assert_allclose(numeric_gradient(lambda v: np.sum(np.exp(v)), [x]), np.exp(x), rtol=1e-11)
    assert numeric_gradient(lambda a, b: a * b**2, [2.0, 3.0], 1) == pytest.approx(12.0, rel=1e-11)
    tree = {"w": [np.array([1.0, 2.0]), 3.0], "k": (4,)}
    g = numeric_gradient(lambda t: np.sum(t["w"][0] ** 2) * t["w"][1] * t["k"][0], [tree])
    assert_allclose(g["w"][0], [24.0, 48.0], rtol=1e-10)
    assert g["w"][1] == pytest.approx(20.0)
    assert g["k"] == (0.0,)
    assert_allclose(richardson_jvp(np.sin, [x], [np.ones(2)]), np.cos(x), rtol=1e-11)
    assert_allclose(complex_step_jvp(np.sin, [x], [np.ones(2)]), np.cos(x), rtol=1e-15)


def test_oracle_follows_the_convention_for_complex_numbers() -> None:
    z = 0.3 + 0.7j
    assert numeric_gradient(lambda v: np.abs(v) ** 2, [z]) == pytest.approx(2 * np.conj(z))
    assert numeric_gradient(lambda v: np.real(v * v), [z]) == pytest.approx(2 * z)


@pytest.mark.parametrize("a", [[1.0, 3.0, 3.0], (1.0, 3.0, 3.0), np.array([1.0, 3.0, 3.0])])
def test_the_largest_of_what_is_no_array_is_found_as_in_one(a: Any) -> None:
    """A list and a number of Python's are never equal."""
    assert np.array_equal(share_ties(1.0, a, 3.0), [0.0, 0.5, 0.5])
    assert mean_ties([5.0, 1.0, 2.0], a, 3.0) == 1.5
    assert count_ties(a, 3.0) == 2
