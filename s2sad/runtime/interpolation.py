"""Derivatives of ``np.interp``: the slope at each point, and the parts of the two values on its sides."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError


def interp_slope(x: Any, xp: Any, fp: Any, period: float | None = None) -> Any:
    """Slope of ``np.interp(x, xp, fp)`` at ``x``: zero outside, that of the segment to the right at a knot.

    >>> interp_slope(0.5, [0.0, 1.0], [2.0, 5.0])
    array(3.)
    """
    left, right, width, _, inside = _segments(x, xp, period)
    fp = np.asarray(fp)
    return np.where(inside, (fp[right] - fp[left]) / width, 0.0)


def slope_values(g: Any, x: Any, xp: Any, fp: Any, period: float | None = None) -> Any:
    """Adjoint of ``fp`` in `interp_slope`.

    >>> slope_values(2.0, 0.5, [0.0, 1.0], [2.0, 5.0])
    array([-2.,  2.])
    """
    left, right, width, _, inside = _segments(x, xp, period)
    rise = np.where(inside, g / width, 0.0)
    return _summed(right, rise, np.size(fp)) - _summed(left, rise, np.size(fp))


def interp_values(g: Any, x: Any, xp: Any, fp: Any, period: float | None = None) -> Any:
    """Adjoint of ``fp`` in ``np.interp(x, xp, fp)``: each entry of ``g`` split between its two neighbours.

    >>> interp_values(2.0, 0.25, [0.0, 1.0], [2.0, 5.0])
    array([1.5, 0.5])
    """
    left, right, _, t, _ = _segments(x, xp, period)
    return _summed(left, g * (1 - t), np.size(fp)) + _summed(right, g * t, np.size(fp))


def within(g: Any, x: Any, xp: Any, left: Any, right: Any, period: float | None = None) -> Any:
    """``g`` where ``np.interp`` takes a value of its own from ``fp``, and not ``left`` or ``right``; else zero.

    >>> within(np.ones(3), np.array([-1.0, 0.5, 2.0]), [0.0, 1.0], 7.0, None)
    array([0., 1., 1.])
    """
    if period is not None:
        return g
    if left is not None:
        g = np.where(np.less(x, xp[0]), 0, g)
    return g if right is None else np.where(np.greater(x, xp[-1]), 0, g)


def _summed(places: Any, values: Any, size: int) -> Any:
    """The sums of ``values`` by their places."""
    places, values = np.ravel(places), np.ravel(np.broadcast_to(values, np.shape(places)))
    if np.iscomplexobj(values):
        return _summed(places, values.real, size) + 1j * _summed(places, values.imag, size)
    return np.bincount(places, values, size)


def _segments(x: Any, xp: Any, period: float | None) -> tuple[Any, Any, Any, Any, Any]:
    """The knots on both sides of each ``x``, the distance between them, where in it ``x`` is (0 to 1), and whether
    it is not outside of all knots.

    Raises:
        UndefinedDerivativeError: for knots that do not increase, among which NumPy finds some in a way of its own.
    """
    x, xp = np.asarray(np.real(x)), np.asarray(np.real(xp))
    order = None
    if period is not None:
        # As NumPy has it: one knot more on each side, a period away.
        period = abs(period)
        x, xp = x % period, xp % period
        order = np.argsort(xp)
        xp = xp[order]
        xp = np.concatenate((xp[-1:] - period, xp, xp[:1] + period))
        order = np.concatenate((order[-1:], order, order[:1]))
    if xp.size == 1:
        zero = np.zeros(x.shape, int)
        return zero, zero, 1.0, np.zeros(x.shape), np.zeros(x.shape, bool)
    if np.any(xp[1:] < xp[:-1]):
        raise UndefinedDerivativeError(
            "the points xp of np.interp do not increase, so that what it gives is no interpolation",
            "Sort them, and fp with them.",
        )
    i = np.searchsorted(xp[1:-1], x, side="right")
    start = xp[i]
    width = xp[i + 1] - start
    t = np.minimum(np.maximum((x - start) / width, 0.0), 1.0)
    left, right = (i, i + 1) if order is None else (order[i], order[i + 1])
    return left, right, width, t, (x >= xp[0]) & (x <= xp[-1])
