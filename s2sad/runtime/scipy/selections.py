"""Filters and measurements of images that select elements, and what comes of elements with labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from s2sad.errors import UndefinedDerivativeError

Array = Any


def filter_places(
    x: Any,
    name: str,
    rank: Any = None,
    size: Any = None,
    footprint: Any = None,
    mode: Any = "reflect",
    cval: float = 0.0,
    origin: Any = 0,
    axes: Any = None,
    structure: Any = None,
) -> Array:
    """Where in ``x``, flat and with a zero behind, the values of a filter that selects elements come from.

    The filter is applied to the ranks of the elements, of which it selects those that it selects of the elements.
    """
    if structure is not None:
        raise UndefinedDerivativeError(
            f"{name} with a structure has no derivative rule", "Give it a size or a footprint, which are flat."
        )
    x = np.asarray(x)
    order = np.argsort(x, axis=None, kind="stable")
    ranks = np.empty(x.size)
    ranks[order] = np.arange(x.size)
    # What is beyond the edges stands between two ranks.
    beyond = float(np.searchsorted(np.ravel(x)[order], cval)) - 0.5
    before = () if rank is None else (rank,)
    options = {"mode": mode, "cval": beyond, "origin": origin}
    options.update({"axes": axes, "footprint": footprint} if not name.endswith("1d") else {"axis": axes})
    found = getattr(ndimage, name)(ranks.reshape(x.shape), *before, size=size, **options)
    inside = found == np.floor(found)
    return np.where(inside, order[np.where(inside, found, 0).astype(int)] if x.size else 0, x.size)


# --- elements with labels


def label_numbers(x: Any, labels: Any, index: Any) -> Array:
    """Of each element of ``x``, the place of its label in ``index``; the number of these where it is not there."""
    x = np.asarray(x)
    if labels is None:
        return np.zeros(x.shape, int)
    labels = _labels_of(x, labels)
    if index is None:
        return np.where(labels > 0, 0, 1)
    wanted = np.ravel(index)
    if len(np.unique(wanted)) < len(wanted):
        raise UndefinedDerivativeError(
            "an index that has a label twice has no derivative rule", "Give each label once."
        )
    order = np.argsort(wanted)
    places = np.minimum(np.searchsorted(wanted[order], labels), len(wanted) - 1)
    return np.where(wanted[order][places] == labels, order[places], len(wanted))


def _labels_of(x: Any, labels: Any) -> Array:
    """Labels as an array, one for each element."""
    if np.ndim(labels) and np.shape(labels) != np.shape(x):
        raise UndefinedDerivativeError(
            f"labels of the shape {np.shape(labels)} for an image of the shape {np.shape(x)} have no derivative rule",
            "Give a label for each element: np.broadcast_to(labels, image.shape).",
        )
    return np.broadcast_to(labels, np.shape(x))


def labelled_sums(x: Any, numbers: Any, like: Any) -> Array:
    """The sums of the elements of each label, in the form of a result."""
    count = max(np.size(like), 1)
    found = np.bincount(np.ravel(numbers), np.ravel(np.broadcast_to(x, np.shape(numbers))), count + 1)[:count]
    return np.reshape(found, np.shape(like)) if np.ndim(like) else found[0]


def spread_by_labels(g: Any, numbers: Any, x: Any) -> Array:
    """To each element of ``x`` what stands for its label, and zero to those of others."""
    found = np.append(np.ravel(g), 0.0)[numbers]
    return np.asarray(found, np.float32) if np.asarray(x).dtype == np.float32 else found


def labelled_counts(numbers: Any, like: Any) -> Array:
    """The numbers of elements of each label."""
    return labelled_sums(np.ones(np.shape(numbers)), numbers, like)


def extreme_places(x: Any, labels: Any, index: Any, name: str) -> Array:
    """Where in ``x``, flat and with a zero behind, the extremes are: ``ndimage.maximum_position``, as places."""
    x = np.asarray(x)
    if not x.ndim:
        return np.zeros(np.shape(index), int) if index is not None and np.ndim(index) else np.intp(0)
    if labels is not None:
        labels = _labels_of(x, labels)
    found = getattr(ndimage, f"{name}_position")(x, labels, index)
    several = index is not None and np.ndim(index) > 0
    places = np.array(found, int).reshape(-1, x.ndim)
    flat = np.ravel_multi_index(tuple(places.T), x.shape)
    return flat.reshape(np.shape(index)) if several else flat[0]


def _moments(x: Any, labels: Any, index: Any) -> tuple[Array, Array]:
    if np.ndim(index):
        raise UndefinedDerivativeError(
            "center_of_mass with several labels has no derivative rule", "Call it for each label: index=1."
        )
    inside = label_numbers(x, labels, index) == 0
    return inside, np.sum(np.where(inside, x, 0))


def centre_adjoint(g: Any, z: Any, x: Any, labels: Any = None, index: Any = None) -> Array:
    """Adjoint of ``input`` in ``z = ndimage.center_of_mass(input, labels, index)``."""
    inside, mass = _moments(x, labels, index)
    arms = sum([g_i * (grid - z_i) for g_i, z_i, grid in zip(g, z, np.indices(np.shape(x)), strict=True)])
    found = np.where(inside, arms, 0) / mass
    return found.astype(np.float32) if np.asarray(x).dtype == np.float32 else found


def centre_tangent(x_dot: Any, z: Any, x: Any, labels: Any = None, index: Any = None) -> tuple[Any, ...]:
    """Tangent of ``z = ndimage.center_of_mass(input, labels, index)``."""
    inside, mass = _moments(x, labels, index)
    moved = np.where(inside, x_dot, 0) / mass
    return tuple([np.sum(moved * (grid - z_i)) for z_i, grid in zip(z, np.indices(np.shape(x)), strict=True)])
