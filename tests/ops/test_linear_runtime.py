"""The transposes of shaping, joining and products in cases that the samples of the rules leave out."""

from __future__ import annotations

import doctest
import importlib
import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest

from s2sad import ops
from s2sad.errors import UndefinedDerivativeError
from s2sad.ops import spec
from s2sad.runtime import linear, padding
from s2sad.runtime.contractions import convolve_left, cross_left
from s2sad.runtime.einsum import einsum_adjoint, parse_einsum
from s2sad.runtime.interpolation import interp_slope, interp_values
from tests.oracle import leaves


@pytest.mark.parametrize(
    "name",
    [
        "runtime.linear",
        "runtime.contractions",
        "runtime.einsum",
        "runtime.matrices",
        "runtime.systems",
        "runtime.fourier",
        "runtime.padding",
        "runtime.series",
        "ops",
        "ops.points",
        "ops.classification",
    ],
)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"s2sad.{name}")).failed == 0


class Pair(NamedTuple):
    left: Any
    right: Any


def test_like_keeps_the_structure_and_the_kind_of_every_leaf() -> None:
    g = np.array([[1.0 + 2j, 3.0], [5.0, 7.0 + 1j]])
    out = linear.like(g, [Pair(0.5, 1j), (np.float64(1.0), 2.0)])
    assert out == [Pair(1.0, 3.0 + 0j), (5.0, 7.0)]
    assert isinstance(out[0], Pair)
    assert not np.iscomplexobj(out[0].left)
    assert not isinstance(out[1][1], np.ndarray)
    assert linear.like(np.array(1.5), 2.0) == 1.5


def test_conversions_to_integers_have_no_derivative() -> None:
    x, g = np.array([0.5, 1.5]), np.ones(2)
    for dtype in (int, bool, np.int8):
        np.testing.assert_array_equal(linear.cast(x, dtype), np.zeros(2))
        np.testing.assert_array_equal(linear.uncast(g, dtype, x), np.zeros(2))
    found = ops.find(np.full_like)
    assert found is not None
    assert found.vjp(np.ones(3), np.arange(3), 1.5) == 0.0
    assert found.vjp(np.ones(3), np.zeros(3), 1.5) == 3.0


def test_conversions_between_real_and_complex() -> None:
    z = np.array([1.0 + 2j])
    np.testing.assert_array_equal(linear.cast(z, float), [1.0])
    assert linear.uncast(np.ones(1), float, z).dtype == complex
    assert linear.uncast(z, complex, np.ones(1, np.float32)).dtype == np.float32


def test_scatter_adds_what_is_taken_repeatedly() -> None:
    np.testing.assert_array_equal(linear.untake(np.ones(4), (3,), [1, 1, 1, -1]), [0.0, 3.0, 1.0])
    np.testing.assert_array_equal(linear.untake(np.ones((2, 3)), (2, 2), [0, 0, 1], 1), [[2.0, 1.0], [2.0, 1.0]])


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_reading_order_follows_the_layout(order: Any) -> None:
    """Positions that went through the primal must come back to where they were."""
    found = ops.find(np.ravel)
    assert found is not None
    for a in (np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(3.0)):
        back = found.vjp(np.ravel(a, order), a, order)
        np.testing.assert_array_equal(back, a)
        assert found.jvp is not None
        np.testing.assert_array_equal(found.jvp(np.array(a, order="C"), a, order), np.ravel(a, order))


def test_a_layout_that_is_neither_is_refused() -> None:
    with pytest.raises(UndefinedDerivativeError, match="order='K'"):
        linear.layout_order("K", np.zeros((2, 3, 4)).transpose(1, 0, 2))


def test_padding_by_a_function_is_refused() -> None:
    with pytest.raises(UndefinedDerivativeError, match="mode=<function"):
        padding.pad_adjoint(np.ones(5), np.ones(3), 1, lambda vector, widths, axis, options: None)  # type: ignore[arg-type]


def test_pad_widths_by_axis() -> None:
    g = np.arange(20.0).reshape(4, 5)
    np.testing.assert_array_equal(padding.unpad(g, (4, 2), {1: (1, 2)}), g[:, 1:3])


def test_joined_arrays_come_back_in_a_container_of_the_same_type() -> None:
    g = np.arange(6.0)
    parts = [np.zeros(2), np.zeros(4)]
    assert isinstance(linear.unconcatenate(g, parts), list)
    assert isinstance(linear.unconcatenate(g, tuple(parts)), tuple)
    back = linear.unconcatenate(g, np.zeros((3, 2)))
    assert isinstance(back, np.ndarray)
    np.testing.assert_array_equal(back, g.reshape(3, 2))
    nested = linear.unconcatenate(g, [[0.5, 0.5], np.zeros(4)])
    assert nested[0] == [0.0, 1.0]


def test_einsum_with_lists_of_axes_is_refused() -> None:
    with pytest.raises(UndefinedDerivativeError, match="string"):
        parse_einsum(np.ones(2), [1])


@pytest.mark.parametrize(
    ("subscripts", "ndims", "expected"),
    [
        ("ij,jk", [2, 2], (["ij", "jk"], "ik")),
        ("ba", [2], (["ba"], "ab")),
        ("ii", [2], (["ii"], "")),
        ("...i,i", [3, 1], (["ABi", "i"], "AB")),
        ("...i,...j->i...j", [3, 2], (["ABi", "Bj"], "iABj")),
        ("i ,j -> i j", [1, 1], (["i", "j"], "ij")),
        ("A...,A", [2, 1], (["AB", "A"], "B")),
    ],
)
def test_einsum_subscripts_are_made_explicit(subscripts: str, ndims: list[int], expected: Any) -> None:
    assert parse_einsum(subscripts, ndims) == expected


def test_einsum_adjoint_is_the_textbook_one() -> None:
    a, b, g = np.ones((2, 3)), np.arange(12.0).reshape(3, 4), np.arange(8.0).reshape(2, 4)
    np.testing.assert_allclose(einsum_adjoint(g, 0, "ij,jk->ik", a, b), g @ b.T)
    np.testing.assert_allclose(einsum_adjoint(g, 1, "ij,jk->ik", a, b), a.T @ g)


def test_vectors_of_two_components_lie_in_a_plane() -> None:
    a, b = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    np.testing.assert_array_equal(cross_left(2.0, a, b), [10.0, -6.0])
    np.testing.assert_array_equal(cross_left(np.array([1.0, 2.0, 4.0]), a, np.array([3.0, 5.0, 0.0])), [20.0, -12.0])


def test_unknown_modes_are_refused() -> None:
    with pytest.raises(UndefinedDerivativeError, match="mode='other'"):
        convolve_left(np.ones(3), np.ones(2), np.ones(2), "other")


def test_interpolation_at_knots_and_outside() -> None:
    xp, fp = np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 3.0])
    np.testing.assert_array_equal(interp_slope(np.array([-1.0, 0.0, 1.0, 3.0, 4.0]), xp, fp), [0.0, 2.0, 0.5, 0.5, 0.0])
    np.testing.assert_array_equal(interp_values(np.ones(2), np.array([-5.0, 9.0]), xp, fp), [1.0, 0.0, 1.0])


def test_adjoints_never_write_into_the_adjoint_of_the_result() -> None:
    """Pieces may be views of it, so it is read only."""
    g = np.arange(6.0).reshape(2, 3)
    g.flags.writeable = False
    padding.unpad(g, (2, 2), ((0, 0), (1, 0)))
    linear.untake(g, (2, 4), [0, 1, 0], 1)
    linear.untile(g, (3,), (2, 1))
    linear.unstack(g, [np.zeros(3), np.zeros(3)])
    assert g.sum() == 15.0


def test_views_are_declared_as_views() -> None:
    """The alias analysis relies on these marks."""
    ops.load_all()
    undeclared = set()
    for rule in spec.rules():
        if rule.result != "fresh" or not rule.name.startswith("numpy.") or isinstance(rule.function, np.ufunc):
            continue
        for point in rule.samples():
            if point.kwargs.get("copy") is False:
                # Then a result is taken for a view whatever is declared.
                continue
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                z = rule.function(*point.args, **point.kwargs)
            results = [z] if isinstance(z, np.ndarray) else [r for r in leaves(z) if isinstance(r, np.ndarray)]
            arrays = [x for x in leaves(point.args) if isinstance(x, np.ndarray)]
            if any(np.shares_memory(r, x) for r in results for x in arrays):
                undeclared.add(rule.name)
    assert not undeclared
