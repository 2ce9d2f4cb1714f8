"""Tangents of constants: a write into a part of a value and the same write into its tangent go to the same places."""

from __future__ import annotations

import collections
import types
from typing import Any

import numpy as np
import pytest

from s2sad import jvp
from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.copies import laid_out_like
from s2sad.runtime.zero_tangents import viewed_tangent, viewed_tangent_source, zero_tangent
from tests.oracle import richardson_jvp

SOURCES = [
    np.zeros(7),
    np.zeros((3, 4)),
    np.zeros((3, 4), order="F"),
    np.zeros((4, 6))[::2, 1::2],
    np.zeros((2, 3, 4)).transpose(2, 0, 1),
    np.zeros(9)[::-2],
    np.zeros((3, 1, 2)),
    np.zeros(()),
]


def view(random: np.random.Generator, x: Any) -> Any:
    """A random part of an array."""
    for axis in range(x.ndim):
        kind = random.integers(5)
        if kind == 1:
            x = np.flip(x, axis)
        elif kind == 2:
            x = np.moveaxis(np.moveaxis(x, axis, 0)[:: random.integers(1, 3)], 0, axis)
        elif kind == 3 and x.shape[axis] > 1:
            x = np.moveaxis(np.moveaxis(x, axis, 0)[random.integers(0, 2) :], 0, axis)
    if random.integers(3) == 0:
        x = x.T
    if x.ndim and random.integers(3) == 0 and x.shape[0]:
        x = x[random.integers(x.shape[0]), ...]
    return x[None] if random.integers(4) == 0 else x


@pytest.mark.parametrize("place", range(len(SOURCES)))
def test_a_view_has_the_same_view_of_the_tangent(place: int) -> None:
    source = SOURCES[place]
    random = np.random.default_rng(place)
    for _ in range(200):
        part = view(random, source)
        dot, held = zero_tangent((source, [part]))
        assert dot.strides == source.strides
        source[...], part_dot = 0.0, held[0]
        marks = np.arange(1.0, part.size + 1).reshape(part.shape)
        part[...], part_dot[...] = marks, marks
        np.testing.assert_array_equal(dot, source)
        np.testing.assert_array_equal(viewed_tangent(part, source, dot, part * 0), marks)


def test_what_is_held_twice_has_one_tangent() -> None:
    a = np.ones((2, 3))
    held = [a]
    made = zero_tangent({"a": a[1], "b": held, "c": (held, a), "d": 1.5, "e": "name"})
    made["b"][0][1, 2] = 7.0
    assert made["a"][2] == made["c"][0][0][1, 2] == made["c"][1][1, 2] == 7.0
    assert made["b"] is made["c"][0]
    assert (made["d"], made["e"]) == (0.0, None)


def test_an_object_has_the_tangents_of_its_attributes() -> None:
    class Model:
        def __init__(self) -> None:
            self.w, self.me = np.ones(2), self

    made = zero_tangent(Model())
    np.testing.assert_array_equal(made.w, np.zeros(2))
    assert made.me is made


def test_namespaces_and_deques_have_those_of_what_they_hold() -> None:
    def into_a_namespace(x: Any, held: Any) -> Any:
        held.a[0] = x[0]
        held.b[0][...] = held.b[0] * x
        return np.sum(held.a * x)

    def into_a_deque(x: Any, held: Any) -> Any:
        held[0][0] = x[0]
        held[1] *= x
        return np.sum(held[0] * x) + np.sum(held[1])

    def namespace(a: Any) -> Any:
        return types.SimpleNamespace(a=a, b=[a[::-1]])

    def double_ended(a: Any) -> Any:
        return collections.deque([a, a * 2.0], 2)

    x, d, a = np.array([0.3, -0.7]), np.array([1.0, 0.4]), np.array([0.8, 0.2])
    for f, held in ((into_a_namespace, namespace), (into_a_deque, double_ended)):
        expected = richardson_jvp(lambda x, f=f, held=held: f(x, held(a.copy())), (x,), (d,))
        np.testing.assert_allclose(jvp(f, (x, held(a)), (d, None))[1], expected, rtol=1e-8)
    np.testing.assert_array_equal(a, [0.8, 0.2])


def test_arrays_that_do_not_share_have_tangents_of_their_own() -> None:
    a = np.ones(8)
    even, odd = zero_tangent((a[::2], a[1::2]))
    even[:] = 1.0
    assert not odd.any()


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (lambda a: a[:4], lambda a: a[2:]),
        (lambda a: a[6::-2], lambda a: a[::3]),
        (lambda a: a.view(complex)[1:].imag, lambda a: a[::-1][:6]),
    ],
)
def test_parts_of_which_neither_is_one_of_the_other_have_tangents_that_share(x: Any, y: Any) -> None:
    a = np.zeros(8)
    parts = x(a), y(a)
    dots = zero_tangent(parts)
    for i, (part, dot) in enumerate(zip(parts, dots, strict=True)):
        part[...] = dot[...] = np.arange(i, i + part.size)
    np.testing.assert_array_equal(dots[0], parts[0])
    value, dot = jvp(lambda w, z: (x(z), y(z), w), (1.5, a), (2.0, None))
    np.testing.assert_array_equal(value[0], parts[0])
    assert (dot[0].any(), dot[1].any(), dot[2]) == (False, False, 2.0)


@pytest.mark.parametrize(
    ("x", "source"),
    [
        (lambda a: a[:4], lambda a: a[2:]),
        (lambda a: a, lambda a: a[::2]),
        (lambda a: a.view(complex)[1:], lambda a: a),
    ],
)
def test_what_overlaps_otherwise_is_an_error(x: Any, source: Any) -> None:
    a = np.zeros(8)
    with pytest.raises(UndefinedDerivativeError, match="overlap"):
        viewed_tangent(x(a), source(a), np.zeros_like(source(a)), x(a) * 0)


@pytest.mark.parametrize("part", [np.real, np.imag])
@pytest.mark.parametrize(
    "view",
    [
        lambda z: z, lambda z: z[::-1], lambda z: z[1:, ::2], lambda z: z.T, lambda z: z[2, 1:2], lambda z: z[..., 3:],
        lambda z: z[:, 1], lambda z: z[1:1], lambda z: z[2:3, ::-2],
    ],
)  # fmt: skip
@pytest.mark.parametrize("layout", [np.copy, np.asfortranarray, lambda z: np.repeat(z, 2, 1)[:, ::2], np.flipud])
def test_a_part_of_a_complex_array_has_that_part_of_its_tangent(layout: Any, view: Any, part: Any) -> None:
    codes = np.arange(12.0).reshape(3, 4)
    source = layout(codes + 1j * (codes + 20.0))
    dot = laid_out_like(source)
    dot[...] = 100.0 * source
    x = part(view(source))
    found = viewed_tangent(x, source, dot, 100.0 * x)
    np.testing.assert_array_equal(found, 100.0 * x)
    found[...] = -x
    np.testing.assert_array_equal(part(view(dot)), -x)


def test_whole_numbers_are_a_part_of_no_tangent() -> None:
    def point(lat: Any, lon: Any, z: Any) -> Any:
        return np.broadcast_arrays(np.asarray(lat), np.asarray(lon), np.asarray(z))

    def f(x: Any) -> Any:
        lat, lon, z = point(x, 10.0, 0)
        return np.sum(lat * lat * lon + z)

    assert jvp(f, (3.0,), (2.0,)) == (90.0, 120.0)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: np.broadcast_to(a[1], (2, 4)),
        lambda a: np.broadcast_to(a[:, :1], (3, 5)).T,
        lambda a: np.broadcast_arrays(a[0], np.zeros((2, 4)))[0][:, 1:],
        lambda a: np.lib.stride_tricks.sliding_window_view(a, (2, 2)),
        lambda a: a[::-1, 2:],
    ],
)
@pytest.mark.parametrize("layout", [np.copy, np.asfortranarray, lambda a: np.repeat(a, 2, 1)[:, ::2], np.flipud])
@pytest.mark.parametrize("part", [np.asarray, np.imag])
def test_the_adjoint_of_a_view_goes_to_all_that_it_repeats(view: Any, layout: Any, part: Any) -> None:
    codes = np.arange(12.0).reshape(3, 4)
    source = layout(codes if part is np.asarray else codes + 1j * codes)
    x, dot = part(view(source)), laid_out_like(source)
    dot[...] = np.cos(source)
    g = np.sin(np.arange(1.0, 1.0 + x.size)).reshape(x.shape)
    seen = viewed_tangent(x, source, dot, 0.0 * x)
    found = viewed_tangent_source(g, x, source, dot)
    components = (np.real, np.imag) if np.iscomplexobj(source) else (np.real,)
    np.testing.assert_allclose(np.sum(g * seen), sum(np.sum(c(found) * c(dot)) for c in components))
