"""Images that ``scipy.ndimage`` reads between their elements, in programs of a user's: against differences."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

from s2sad import grad, jvp, ops
from s2sad.errors import UnsupportedError
from s2sad.ops.binding import spelled
from tests.ops.test_as_a_user import agrees
from tests.oracle import numeric_gradient, richardson_jvp

RNG = np.random.default_rng(11)
IMAGE = RNG.normal(size=(5, 6))
PLACES = np.array([[0.3, 1.2, 2.6, 9.0], [1.7, 3.3, 0.4, -4.3]])


def listed_coordinates(p: Any) -> Any:
    return np.sum(ndimage.map_coordinates(IMAGE, [p[0], 1.1 * p[1]], order=2, mode="mirror") ** 2)


def read_at_its_own_values(x: Any) -> Any:
    return np.sum(ndimage.map_coordinates(x, np.stack([x[0] + 2, x[1] + 2]), mode="nearest") ** 2)


def moved(v: Any) -> Any:
    return np.sum(ndimage.shift(IMAGE, (v[0], 2 * v[1])) ** 2) + np.sum(ndimage.shift(IMAGE, [v[0], 1.0], mode="wrap"))


def moved_alike(v: Any) -> Any:
    return np.sum(ndimage.shift(IMAGE, 0.1 + v[0], None, 1, "reflect") ** 2)


def turned(v: Any) -> Any:
    c, s = np.cos(v[0]), np.sin(v[0])
    return np.sum(ndimage.affine_transform(IMAGE, [[c, s], [-s, c]], offset=(v[1], 0.5)) ** 2)


def rotated(v: Any) -> Any:
    return np.sum(ndimage.rotate(IMAGE, 90 * v[0], reshape=False, order=3, mode="nearest") ** 2)


def halves(x: Any) -> Any:
    return np.sum(ndimage.zoom(x, 0.5) ** 2) + np.sum(ndimage.zoom(x, (1.5, 2), order=1) ** 3)


def registered(x: Any) -> Any:
    y = ndimage.rotate(ndimage.shift(x, (0.4, -0.7)), 20.0)
    return np.sum(ndimage.spline_filter(y) ** 2) + np.sum(ndimage.spline_filter1d(x, axis=0) ** 2)


def corners(image: Any) -> Any:
    across, down = np.zeros(image.shape), np.zeros(image.shape)
    ndimage.gaussian_filter(image, (1.0, 1.0), (0, 1), across)
    ndimage.gaussian_filter(image, (1.0, 1.0), (1, 0), output=down)
    return np.sum(ndimage.gaussian_filter(across * down, 1.0) * image)


def slopes(x: Any) -> Any:
    d = np.zeros((2, 5, 6))
    for axis in range(2):
        ndimage.sobel(x, axis, output=d[axis])
    d[1, 0] *= 3
    return np.sum(np.hypot(d[0], d[1] + 0.1))


def used_and_written(x: Any) -> Any:
    rows = np.empty(x.shape)
    same = ndimage.correlate1d(x, x[0, :3], 1, rows, "nearest")
    same[0] *= x[1]
    return np.sum(rows * rows * x)


def labels_over(x: Any) -> Any:
    y = x * x
    ndimage.label(IMAGE > 0, output=y)
    return np.sum(y * x)


def of_a_class(x: Any) -> Any:
    return np.sum(ndimage.uniform_filter(IMAGE, 2, np.float32) * x) * ndimage.label(IMAGE > 0, output="int16")[1]


POINT = np.array([0.31, 0.7])
CASES: list[tuple[Callable[..., Any], Any]] = [
    (listed_coordinates, PLACES), (read_at_its_own_values, IMAGE), (moved, POINT), (moved_alike, POINT),
    (turned, POINT), (rotated, POINT), (halves, IMAGE), (registered, IMAGE),
    (corners, IMAGE), (slopes, IMAGE), (used_and_written, IMAGE), (labels_over, IMAGE), (of_a_class, IMAGE),
]  # fmt: skip


@pytest.mark.parametrize(("f", "x"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_images_and_points(f: Callable[..., Any], x: Any) -> None:
    agrees(f, x)
    dot = RNG.normal(size=x.shape)
    _, tangent = jvp(f, (x,), (dot,))
    np.testing.assert_allclose(tangent, richardson_jvp(f, [x], [dot]), rtol=1e-7)


def test_images_of_whole_numbers_are_rounded() -> None:
    whole = np.arange(30).reshape(5, 6)
    for f in (
        lambda p: np.sum(ndimage.map_coordinates(whole, p[:, :4], order=1)) * 1.0,
        lambda p: np.sum(ndimage.shift(whole, p[:, 0])) * 1.0,
        lambda p: np.sum(ndimage.affine_transform(whole, p[:, :2], p[:, 0])) * 1.0,
        lambda p: np.sum(ndimage.rotate(whole, p[0, 0])) * 1.0,
    ):
        np.testing.assert_array_equal(grad(f)(PLACES), np.zeros(PLACES.shape))
    assert jvp(lambda p: ndimage.map_coordinates(whole, p), (PLACES,), (PLACES,))[1] == pytest.approx(0.0)


def test_points_that_are_not_numbers_are_outside() -> None:
    def f(x: Any) -> Any:
        return np.sum(ndimage.map_coordinates(x, [[0.5, np.nan], [1.5, 2.0]], cval=2.0))

    assert f(IMAGE) == ndimage.map_coordinates(IMAGE, [[0.5], [1.5]])[0] + 2.0
    agrees(f, IMAGE)


def test_short_images_have_short_gradients() -> None:
    image, places = IMAGE.astype(np.float32), PLACES.astype(np.float32)
    f = lambda x, p: np.sum(ndimage.map_coordinates(x, p) ** 2)  # noqa: E731
    for i, gradient in enumerate(grad(f, argnums=(0, 1))(image, places)):
        assert gradient.dtype == np.float32
        np.testing.assert_allclose(gradient, numeric_gradient(f, (image, places), i), rtol=1e-3, atol=1e-3)


def test_a_transformation_by_a_function_is_written_with_its_points() -> None:
    def bent(x: Any) -> Any:
        rows, columns = np.indices(x.shape)
        return np.sum(ndimage.map_coordinates(x, np.stack([rows * 0.5, columns + 0.1 * rows])) ** 2)

    def by_function(x: Any) -> Any:
        return np.sum(ndimage.geometric_transform(x, lambda at: (at[0] * 0.5, at[1] + 0.1 * at[0])) ** 2)

    np.testing.assert_allclose(grad(bent)(IMAGE), numeric_gradient(by_function, (IMAGE,)), rtol=1e-7, atol=1e-7)


def averaged_in_place(x: Any) -> Any:
    y = x * 2.0
    ndimage.uniform_filter(y, 3, y)
    return np.sum(y * x)


def ranked(x: Any) -> Any:
    y = np.zeros(x.shape)
    ndimage.median_filter(x, 3, output=y)
    return np.sum(y * x)


def lifted(x: Any) -> Any:
    y = np.zeros(x.shape)
    ndimage.white_tophat(x, 3, output=y)
    return np.sum(y * x)


def test_a_median_in_an_array_that_is_given() -> None:
    np.testing.assert_allclose(grad(ranked)(IMAGE), numeric_gradient(ranked, (IMAGE,)), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(("f", "why"), [(averaged_in_place, "reads"), (lifted, "white_tophat")])
def test_results_in_arrays_that_are_refused(f: Callable[..., Any], why: str) -> None:
    with pytest.raises(UnsupportedError, match=why):
        grad(f)(IMAGE)


def test_the_table_knows_which_functions_write_their_output() -> None:
    functions = [f for name in ndimage.__all__ if callable(f := getattr(ndimage, name))]
    writing = [f for f in functions if "output" in inspect.signature(f).parameters]
    assert len(writing) >= 40
    for f in writing:
        known = ops.spec_of(f)
        assert known is not None, f.__name__
        assert spelled(known, "out") == "output", f.__name__


def test_the_width_of_a_gaussian_filter() -> None:
    def blurred(sigma: Any) -> Any:
        return np.sum(ndimage.gaussian_filter(IMAGE, sigma, order=(0, 1), mode="nearest") ** 3)

    def by_axes(sigma: Any) -> Any:
        image = ndimage.gaussian_filter(IMAGE, [sigma[0], sigma[1] ** 2], mode="constant", cval=0.7)
        return np.sum(ndimage.gaussian_filter1d(image, sigma[0], order=2) ** 2)

    assert grad(blurred)(0.9) == pytest.approx(numeric_gradient(blurred, (0.9,)), rel=1e-7)
    widths = np.array([0.8, 1.1])
    np.testing.assert_allclose(grad(by_axes)(widths), numeric_gradient(by_axes, (widths,)), rtol=1e-7)
    way = np.array([0.3, -0.4])
    np.testing.assert_allclose(
        jvp(by_axes, (widths,), (way,))[1], numeric_gradient(by_axes, (widths,)) @ way, rtol=1e-7
    )


def test_deviations_of_regions_of_one_value_contribute_nothing() -> None:
    """Where all elements of a region are the same, their deviation is at its least, as that of a constant column."""
    labels, x = np.array([0, 0, 0, 1, 1, 1]), np.array([1.0, 1.0, 1.0, 0.5, 0.7, 0.2])

    def f(x):
        return np.sum(ndimage.standard_deviation(x, labels, [0, 1]) * np.array([1.0, 2.0]))

    second = x[3:] - np.mean(x[3:])
    expected = np.concatenate([np.zeros(3), 2.0 * second / (3.0 * np.std(x[3:]))])
    np.testing.assert_allclose(grad(f)(x), expected)
    np.testing.assert_allclose(jvp(f, (x,), (np.arange(6.0),))[1], expected @ np.arange(6.0))
