"""Rules of ``scipy.ndimage``: measurements of labelled elements, and filters of spectra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import ndimage

from s2sad.ops import infer
from s2sad.ops.points import complexes, numbers
from s2sad.ops.sampling import spread
from s2sad.ops.scipy.ndimage import OUTPUT
from s2sad.ops.spec import Function, Sample, constant, linear, rule, sample
from s2sad.runtime.edges import quotient_or_zero
from s2sad.runtime.scipy.entries import fitted
from s2sad.runtime.scipy.resampling import picked_values, put_back
from s2sad.runtime.scipy.selections import (
    centre_adjoint,
    centre_tangent,
    extreme_places,
    label_numbers,
    labelled_counts,
    labelled_sums,
    spread_by_labels,
)

Array = Any

constant(label_numbers, signature=lambda x, labels, index: None)
constant(labelled_counts, signature=lambda numbers, like: None)
constant(extreme_places, signature=lambda x, labels, index, name: None)

# --- measurements

_LABELS = np.array([[1, 1, 0, 2], [3, 2, 2, 0], [3, 3, 1, 2]])


def _labelled() -> Sequence[Sample]:
    x = spread((3, 4))
    points = [sample(x), sample(x, _LABELS), sample(x, _LABELS, 2), sample(x, _LABELS, [1, 3])]
    return [*points, sample(x, _LABELS, index=np.array([3, 0, 2]))]


def _sum_jvp(input_dot: Array, z: Array, input: Array, labels: Any = None, index: Any = None) -> Array:
    return labelled_sums(input_dot, label_numbers(input, labels, index), z)


def _summed(function: Function) -> None:
    @rule(function, wrt=["input"], jvp=_sum_jvp, samples=_labelled, dtype="unknown", real_only=True)
    def summed(z_bar: Array, input: Array, labels: Any = None, index: Any = None) -> Array:
        return spread_by_labels(z_bar, label_numbers(input, labels, index), input)


for _function in (ndimage.sum_labels, ndimage.sum):
    _summed(_function)


def _mean_jvp(input_dot: Array, z: Array, input: Array, labels: Any = None, index: Any = None) -> Array:
    places = label_numbers(input, labels, index)
    return labelled_sums(input_dot, places, z) / labelled_counts(places, z)


@rule(
    ndimage.mean,
    wrt=["input"],
    jvp=_mean_jvp,
    samples=_labelled,
    dtype="unknown",
    real_only=True,
)
def mean(z: Array, z_bar: Array, input: Array, labels: Any = None, index: Any = None) -> Array:
    places = label_numbers(input, labels, index)
    return spread_by_labels(z_bar / labelled_counts(places, z), places, input)


def _variance_jvp(input_dot: Array, z: Array, input: Array, labels: Any = None, index: Any = None) -> Array:
    places = label_numbers(input, labels, index)
    moved = input - spread_by_labels(ndimage.mean(input, labels, index), places, input)
    return labelled_sums(2 * moved * input_dot, places, z) / labelled_counts(places, z)


@rule(
    ndimage.variance,
    wrt=["input"],
    jvp=_variance_jvp,
    samples=_labelled,
    dtype="unknown",
    real_only=True,
)
def variance(z: Array, z_bar: Array, input: Array, labels: Any = None, index: Any = None) -> Array:
    places = label_numbers(input, labels, index)
    moved = input - spread_by_labels(ndimage.mean(input, labels, index), places, input)
    return 2 * moved * spread_by_labels(z_bar / labelled_counts(places, z), places, input)


def _deviation_jvp(input_dot: Array, z: Array, input: Array, labels: Any = None, index: Any = None) -> Array:
    places = label_numbers(input, labels, index)
    moved = input - spread_by_labels(ndimage.mean(input, labels, index), places, input)
    return quotient_or_zero(labelled_sums(moved * input_dot, places, z), labelled_counts(places, z) * z)


@rule(
    ndimage.standard_deviation,
    wrt=["input"],
    jvp=_deviation_jvp,
    samples=_labelled,
    dtype="unknown",
    real_only=True,
)
def standard_deviation(z: Array, z_bar: Array, input: Array, labels: Any = None, index: Any = None) -> Array:
    places = label_numbers(input, labels, index)
    moved = input - spread_by_labels(ndimage.mean(input, labels, index), places, input)
    return moved * spread_by_labels(quotient_or_zero(z_bar, labelled_counts(places, z) * z), places, input)


@linear(
    labelled_sums,
    wrt=["x"],
    steps={"like"},
    samples=lambda: [
        sample(numbers(2, 3), np.array([[0, 1, 2], [1, 1, 0]]), numbers(2)),
        sample(numbers(2), np.array([0, 1]), 0.5),
    ],
    dtype="unknown",
)
def labelled_sums_rule(z_bar: Array, x: Array, numbers: Array, like: Array) -> Array:
    return spread_by_labels(z_bar, numbers, x)


@linear(
    spread_by_labels,
    wrt=["g"],
    steps={"x"},
    samples=lambda: [
        sample(numbers(2), np.array([[0, 1, 2], [1, 1, 0]]), numbers(2, 3)),
        sample(0.3, np.array([0, 1]), numbers(2)),
    ],
    dtype="unknown",
)
def spread_by_labels_rule(z_bar: Array, g: Array, numbers: Array, x: Array) -> Array:
    return labelled_sums(z_bar, numbers, g)


def _extreme(function: Function) -> None:
    name = function.__name__

    def jvp(input_dot: Array, input: Array, labels: Any, index: Any) -> Array:
        return picked_values(input_dot, extreme_places(input, labels, index, name))

    @rule(function, wrt=["input"], jvp=jvp, samples=_labelled, dtype="unknown", real_only=True)
    def extreme(z_bar: Array, input: Array, labels: Any = None, index: Any = None) -> Array:
        return put_back(z_bar, extreme_places(input, labels, index, name), np.shape(input))


for _name in ("maximum", "minimum"):
    _extreme(getattr(ndimage, _name))


def _centred() -> Sequence[Sample]:
    x = np.abs(spread((3, 4))) + 0.1
    return [sample(x), sample(x, _LABELS), sample(x, _LABELS, 2), sample(x[0])]


def _centre_jvp(input_dot: Array, z: Any, input: Array, labels: Any = None, index: Any = None) -> Any:
    return centre_tangent(input_dot, z, input, labels, index)


@rule(
    ndimage.center_of_mass,
    wrt=["input"],
    jvp=_centre_jvp,
    samples=_centred,
    dtype="unknown",
    real_only=True,
    gives=(tuple,),
)
def center_of_mass(z: Any, z_bar: Any, input: Array, labels: Any = None, index: Any = None) -> Array:
    return centre_adjoint(z_bar, z, input, labels, index)


# --- filters of spectra, which multiply


def _spectra() -> Sequence[Sample]:
    x = complexes(4, 3)
    return [sample(x, 0.8), sample(x, (0.5, 1.2)), sample(numbers(4, 3), 0.7), sample(x, 1.3, 6, 0)]


@linear(ndimage.fourier_gaussian, wrt=["input"], samples=_spectra, dtype="unknown", aliases=OUTPUT)
def fourier_gaussian(z_bar: Array, input: Array, sigma: Any, n: int = -1, axis: int = -1) -> Array:
    return fitted(ndimage.fourier_gaussian(z_bar, sigma, n, axis), input)


@linear(ndimage.fourier_uniform, wrt=["input"], samples=_spectra, dtype="unknown", aliases=OUTPUT)
def fourier_uniform(z_bar: Array, input: Array, size: Any, n: int = -1, axis: int = -1) -> Array:
    return fitted(ndimage.fourier_uniform(z_bar, size, n, axis), input)


@linear(ndimage.fourier_ellipsoid, wrt=["input"], samples=_spectra, dtype="unknown", aliases=OUTPUT)
def fourier_ellipsoid(z_bar: Array, input: Array, size: Any, n: int = -1, axis: int = -1) -> Array:
    return fitted(ndimage.fourier_ellipsoid(z_bar, size, n, axis), input)


@linear(
    ndimage.fourier_shift,
    wrt=["input"],
    samples=_spectra,
    infer=infer.scipy.complex_numbers,
    dtype="unknown",
    aliases=OUTPUT,
    complex_adjoints=True,
)
def fourier_shift(z_bar: Array, input: Array, shift: Any, n: int = -1, axis: int = -1) -> Array:
    return fitted(ndimage.fourier_shift(z_bar, shift, n, axis), input)
