"""The array helpers that emitted derivatives call.

Each is a short NumPy program without side effects.  It dispatches on its array
arguments (``__array_function__``) and does the least that the case asks for;
scalar code calls some of them too, so Python floats take the first exit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError

Shape = tuple[int, ...]
Axis = int | tuple[int, ...] | None


def unbroadcast(g: Any, shape: Shape) -> Any:
    """Return the adjoint of an operand of shape ``shape`` from ``g``, the adjoint of what it was broadcast to.

    Sums ``g`` over the axes along which the operand was repeated.  ``g`` itself
    comes back, uncopied, where the shapes agree.  A ``g`` that is constant along
    some axes may leave these out or give them length 1, if the operand has them
    in full; it is then broadcast up (a read-only view).

    >>> unbroadcast(np.ones((2, 3)), (3,))
    array([2., 2., 2.])
    """
    have: Shape = getattr(g, "shape", ())
    if have == shape:
        return g
    if not shape:
        return np.sum(g)
    extra = len(have) - len(shape)
    axes = tuple(i for i, n in enumerate(have) if n != 1 and (i < extra or shape[i - extra] == 1))
    if axes:
        g = np.sum(g, axis=axes, keepdims=True)
    if extra > 0:
        g = np.reshape(g, np.shape(g)[extra:])
    return g if np.shape(g) == shape else np.broadcast_to(g, shape)


def widened(x: Any) -> Any:
    """``x`` in double precision, where it is of NumPy's integers, booleans, or shorter floating-point numbers.

    A number of Python's gives way to these, so that the adjoint would be computed as they are.  A list is an array.
    """
    if isinstance(x, (list, tuple)):
        x = np.asarray(x)
    dtype = getattr(x, "dtype", None)
    if dtype is None or dtype.kind not in "biufc" or not hasattr(x, "astype"):
        return x  # a linear operator, say
    wide = np.result_type(dtype, np.float64)
    return x if dtype == wide else x.astype(wide)


def as_subtracted(x: Any, y: Any) -> Any:
    """``x`` in double precision, moved so that its difference to ``y`` is the one that integers of their dtypes give.

    >>> as_subtracted(np.uint8(1), np.uint8(3)) - 3.0
    np.float64(254.0)
    """
    x, y = np.asarray(x), np.asarray(y)
    if x.dtype.kind in "iu" and y.dtype.kind in "iu":
        return np.subtract(x, y) + y.astype(float)
    return np.broadcast_to(widened(x), np.broadcast_shapes(x.shape, y.shape))[()]


def in_full(x: Any) -> Any:
    """``x`` in double precision, where it is of NumPy's integers or shorter floating-point numbers.

    Raises:
        UndefinedDerivativeError: if it is of integers of few bits or without sign.
    """
    dtype = getattr(x, "dtype", None)
    if dtype is not None and (dtype.kind == "u" or (dtype.kind == "i" and dtype.itemsize < 8)):
        raise UndefinedDerivativeError(
            f"the function may compute with a parameter in {dtype}, in which results wrap around",
            "Give the parameter in floating-point numbers: p.astype(float).",
        )
    return widened(x)


def signed(x: Any) -> Any:
    """``x`` as integers of 64 bits with a sign, where it is of NumPy's shorter ones, of those without, or booleans.

    >>> signed(np.uint8(0)) - 1
    np.int64(-1)
    """
    dtype = getattr(x, "dtype", None)
    short = dtype is not None and (dtype.kind in "bu" or (dtype.kind == "i" and dtype.itemsize < 8))
    return x.astype(np.int64) if short else x


def in_dtype(g: Any, x: Any) -> Any:
    """A copy of the adjoint ``g`` of ``x`` in the dtype of ``x``, if that is one of floating-point numbers."""
    return np.array(g, x.dtype if x.dtype.kind in "fc" else None)


def unreduce(g: Any, shape: Shape, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return ``g``, the adjoint of a reduction along ``axis``, repeated to ``shape`` (a read-only view).

    >>> unreduce(np.array([1.0, 2.0]), (2, 3), axis=-1)
    array([[1., 1., 1.],
           [2., 2., 2.]])
    """
    if not shape:  # NumPy reduces a number along axis 0 or -1 as well
        return g
    return np.broadcast_to(g if keepdims else with_axes(g, len(shape), axis), shape)


def with_axes(z: Any, ndim: int, axis: Axis) -> Any:
    """Return ``z``, a reduction along ``axis`` of an array of ``ndim`` axes, with length 1 along these: a view.

    ``np.expand_dims`` does the same in twice the time.

    >>> with_axes(np.array([1.0, 2.0]), 2, -1)
    array([[1.],
           [2.]])
    """
    if axis is None or not ndim:
        return z
    axes = [k % ndim for k in (axis if isinstance(axis, tuple) else (axis,))]
    lengths = iter(np.shape(z))
    return np.reshape(z, [1 if k in axes else next(lengths) for k in range(ndim)])


def count(shape: Shape, axis: Axis = None) -> int:
    """Return how many elements of an array of ``shape`` each result of a reduction along ``axis`` stands for.

    At least 1, so that the adjoint of an empty array can be divided by it.

    >>> count((2, 3), -1)
    3
    """
    if axis is None:
        return max(math.prod(shape), 1)
    if not shape:
        return 1
    axes = axis if isinstance(axis, tuple) else (axis,)
    return max(math.prod([shape[i] for i in axes]), 1)


def count_numbers(a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return how many elements along ``axis`` are not NaN, in the real floating type of ``a``.

    >>> count_numbers(np.array([1.0, np.nan, 3.0]))
    np.float64(2.0)
    """
    return np.sum(~np.isnan(a), axis=axis, keepdims=keepdims, dtype=np.result_type(np.real(a)))


def count_here(where: Any, a: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return how many elements of ``a`` along ``axis`` are not masked out, in the real floating type of ``a``.

    At least 1, so that the adjoint of what is masked out can be divided by it.

    >>> count_here(np.array([True, False]), np.ones((3, 2)), 0)
    array([3., 1.])
    """
    hits = np.broadcast_to(where, np.shape(a))
    return np.maximum(np.sum(hits, axis=axis, keepdims=keepdims, dtype=np.result_type(np.real(a))), 1)


def deviation(a: Any, mean: Any) -> Any:
    """Return ``a - mean``, given a mean to ``np.var``, which squares these without conjugation where ``a`` is real.

    >>> deviation(np.array([1.0, 2.0]), 0.5)
    array([0.5, 1.5])
    """
    if np.iscomplexobj(mean) and not np.iscomplexobj(a):
        message = "the variance of real numbers about a complex mean has no derivative rule"
        raise UndefinedDerivativeError(message, "Write it out: np.mean((a - mean) ** 2).")
    return a - mean


def count_ties(
    a: Any, z: Any, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Any:
    """Return how many elements of ``a`` along ``axis`` (and ``initial``) equal the extreme ``z``, at least 1.

    >>> count_ties(np.array([3.0, 1.0, 3.0]), 3.0, initial=3.0)
    np.float64(3.0)
    """
    hit = np.equal(a, with_axes(z, np.ndim(a), None if keepdims else axis)) & where
    number = np.sum(hit, axis=axis, keepdims=keepdims, dtype=np.result_type(z))
    return np.maximum(number if initial is None else number + (z == initial), 1)


def power_dx(x: Any, y: Any) -> Any:
    """Return the derivative of ``x ** y`` by ``x``: ``y * x ** (y - 1)``, and 0 where ``y`` is 0.

    >>> power_dx(0.0, 0.0), power_dx(3.0, 2.0)
    (0.0, 6.0)
    """
    if isinstance(y, (int, float)):
        return y * x ** (y - 1 if y else y)
    # The inner choice keeps 0 ** -1 from being computed at all.
    return np.where(y == 0, 0, y * x ** np.where(y == 0, 1, y - 1))


def power_dy(x: Any, y: Any, p: Any) -> Any:
    """Return the derivative of ``p = x ** y`` by ``y``: ``p * log(x)``, with 0 for the logarithm of 0.

    Where ``x`` is negative the power has no real derivative by ``y`` and the
    result is NaN; ``0 ** 0`` counts as constant.

    >>> power_dy(np.array([0.0, 1.0]), 2.0, np.array([0.0, 1.0]))
    array([0., 0.])
    """
    if np.iscomplexobj(y):
        x = x + 0j  # a negative number has a complex logarithm
    elif isinstance(x, (int, float)):
        return p * (math.log(x + (x == 0)) if x >= 0 else math.nan)
    return p * np.log(x + (x == 0))


def power_derivative(x: Any, y: Any, n: int, m: int) -> Any:
    """Return the derivative of ``x ** y``, ``n`` times by ``x`` and ``m`` times by ``y``.

    Where it vanishes because ``y`` is a whole number below ``n`` it is 0 for every ``x``, 0 included.  The logarithm
    of 0 counts as 0, as in `power_dy`.

    >>> power_derivative(0.0, 2.0, 2, 0), power_derivative(0.0, 1.0, 2, 0)
    (2.0, 0.0)
    """
    if n < 1:
        # Python raises for negative powers of the number 0.
        power = math.inf if isinstance(x, float) and x == 0 and isinstance(y, (int, float)) and y < 0 else x**y
        for _ in range(m):
            power = power_dy(x, y, power)
        return power
    # By x once: y * x ** (y - 1).  Where y is 0 any finite power serves.
    nonzero = y or n if isinstance(y, (int, float)) else np.where(y == 0, n, y)
    derivative = y * power_derivative(x, nonzero - 1, n - 1, m)
    return derivative + m * power_derivative(x, y - 1, n - 1, m - 1) if m else derivative


def share_ties(g: Any, a: Any, z: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return the adjoint of ``a``, given ``g``, that of its maximum or minimum ``z`` along ``axis``.

    Elements that are equal to ``z`` share equally; all others get zero, whatever
    ``g`` is.

    >>> share_ties(1.0, np.array([3.0, 1.0, 3.0]), 3.0)
    array([0.5, 0. , 0.5])
    """
    if axis is None and not keepdims:
        hit = np.equal(a, z)
        a_bar = np.zeros(np.shape(a), getattr(g, "dtype", float))
        a_bar[hit] = g / max(np.count_nonzero(hit), 1)
        return a_bar
    gone = None if keepdims else axis
    hit = np.equal(a, with_axes(z, np.ndim(a), gone))
    if np.count_nonzero(hit) != np.size(z):
        g = g / np.sum(hit, axis=axis, keepdims=keepdims, dtype=np.result_type(z))
    elif np.shape(g) != np.shape(z):
        g = np.broadcast_to(g, np.shape(z))
    a_bar = np.zeros_like(a, np.result_type(g), "C", subok=False)
    np.copyto(a_bar, with_axes(g, np.ndim(a), gone), where=hit)
    return a_bar


def mean_ties(t: Any, a: Any, z: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return the mean of ``t`` over the elements of ``a`` that equal ``z``, 0 of none; the transpose of `share_ties`.

    >>> mean_ties(np.array([1.0, 5.0, 2.0]), np.array([3.0, 1.0, 3.0]), 3.0)
    np.float64(1.5)
    """
    hit = np.equal(a, with_axes(z, np.ndim(a), None if keepdims else axis))
    number = np.maximum(np.sum(hit, axis=axis, keepdims=keepdims, dtype=np.result_type(z)), 1)
    return np.sum(np.where(hit, t, 0), axis=axis, keepdims=keepdims) / number


def finite_part(g: Any, x: Any) -> Any:
    """Return ``g`` where ``x`` is finite, else 0; the two parts of complex numbers each for itself.

    >>> finite_part(np.ones(3), np.array([1.0, np.nan, np.inf]))
    array([1., 0., 0.])
    """
    if np.iscomplexobj(x):
        return np.where(np.isfinite(np.real(x)), np.real(g), 0) + 1j * np.where(np.isfinite(np.imag(x)), np.imag(g), 0)
    return np.where(np.isfinite(x), g, 0)


def undiff(g: Any, shape: Shape, n: int = 1, axis: int = -1) -> Any:
    """Return the adjoint of ``a``, of ``shape``, given ``g``, that of ``np.diff(a, n, axis)``.

    >>> undiff(np.array([1.0, 2.0]), (3,))
    array([-1., -1.,  2.])
    """
    if n >= shape[axis]:
        return np.full(shape, np.sum(g))  # zeros: nothing is left to differ
    for _ in range(n):
        length = np.shape(g)[axis] + 1
        wider = np.empty_like(g, shape=[length if i == axis % len(shape) else m for i, m in enumerate(np.shape(g))])
        into, of = np.moveaxis(wider, axis, 0), np.moveaxis(g, axis, 0)
        np.negative(of[:1], out=into[:1])
        np.subtract(of[:-1], of[1:], out=into[1:-1])
        into[-1:] = of[-1:]
        g = wider
    return g if n else np.array(g)


#: From how many elements on other ways than the plain ones are the faster ones.
_MANY = 8192


def chosen_part(g: Any, is_chosen: Any, is_tie: Any) -> Any:
    """Return ``g`` where one of two is chosen, half of it where both are equal, and 0 elsewhere, whatever ``g`` is.

    >>> chosen_part(1.0, np.array([True, False, False]), np.array([False, True, False]))
    array([1. , 0.5, 0. ])
    """
    if np.size(is_chosen) < _MANY:
        part = np.where(is_chosen, g, 0.0)
    else:
        with np.errstate(invalid="ignore"):
            # A product, which takes a third of the time of a choice, unless it makes NaN of what is not chosen.
            part = np.multiply(g, is_chosen)
            part += 0.0  # no zeros with a sign
            if np.isnan(np.sum(part)):
                part = np.where(is_chosen, g, 0.0)
    return np.where(is_tie, g / 2, part) if np.count_nonzero(is_tie) else part


def clip_share(g: Any, a: Any, low: Any, high: Any) -> Any:
    """Return ``g`` where ``np.clip(a, low, high)`` follows ``a``, half of it at a bound, and 0 beyond.

    This is the adjoint (or tangent) of ``a`` in ``minimum(maximum(a, low), high)``
    with ties shared, so that ``a`` gets a quarter where it equals both bounds.

    >>> clip_share(1.0, np.array([0.0, 1.0, 3.0]), 0.0, 2.0)
    array([0.5, 1. , 0. ])
    """
    if low is not None:
        g = chosen_part(g, np.greater(a, low), a == low)
        a = np.maximum(a, low)
    if high is not None:
        g = chosen_part(g, np.less(a, high), a == high)
    return g


def low_share(g: Any, a: Any, low: Any, high: Any) -> Any:
    """Return ``g`` where ``np.clip(a, low, high)`` follows ``low``, shared at ties as in `clip_share`.

    >>> low_share(1.0, np.array([-1.0, 0.0, 1.0]), 0.0, 2.0)
    array([1. , 0.5, 0. ])
    """
    return 0.0 if low is None else clip_share(g, low, a, high)


def high_share(g: Any, a: Any, low: Any, high: Any) -> Any:
    """Return ``g`` where ``np.clip(a, low, high)`` follows ``high``, shared at ties as in `clip_share`.

    >>> high_share(1.0, np.array([1.0, 2.0, 3.0]), 0.0, 2.0)
    array([0. , 0.5, 1. ])
    """
    if high is None:
        return 0.0
    t = a if low is None else np.maximum(a, low)
    return chosen_part(g, np.greater(t, high), t == high)


def align_weights(weights: Any, shape: Shape, axis: Axis = None) -> Any:
    """Return the weights of ``np.average``, given for the axes of the reduction alone, in ``shape`` (a view).

    >>> align_weights(np.array([1.0, 2.0]), (2, 3), 0)
    array([[1., 1., 1.],
           [2., 2., 2.]])
    """
    if np.shape(weights) == shape or axis is None:
        return np.broadcast_to(weights, shape)
    axes = [i % len(shape) for i in (axis if isinstance(axis, tuple) else (axis,))]
    ordered = np.transpose(weights, np.argsort(axes))
    return np.broadcast_to(np.reshape(ordered, [n if i in axes else 1 for i, n in enumerate(shape)]), shape)


def unalign_weights(g: Any, shape: Shape, axis: Axis = None) -> Any:
    """Return the adjoint of weights of ``shape``, given ``g``, that of `align_weights` of them.

    >>> unalign_weights(np.ones((2, 3)), (2,), 0)
    array([3., 3.])
    """
    if np.shape(g) == shape or axis is None:
        return unbroadcast(g, shape)
    axes = [i % np.ndim(g) for i in (axis if isinstance(axis, tuple) else (axis,))]
    total = np.sum(g, axis=tuple(i for i in range(np.ndim(g)) if i not in axes))
    return np.transpose(total, np.argsort(np.argsort(axes)))


def average_adjoints(
    g: Any, z: Any, a: Any, axis: Axis = None, weights: Any = None, keepdims: bool = False, returned: bool = True
) -> tuple[Any, Any]:
    """Return the adjoints of ``a`` and ``weights``, given ``g``, those of an average and of the sum of the weights.

    Without the latter where it is not ``returned``.

    >>> average_adjoints((1.0, 10.0), (2.0, 4.0), np.array([1.0, 3.0]), None, np.array([2.0, 2.0]))
    (array([0.5, 0.5]), array([ 9.75, 10.25]))
    """
    shape = np.shape(a)
    if not returned:
        g, z = (g, 0.0), (z, None)
    if weights is None:
        return unreduce(g[0] / count(shape, axis), shape, axis, keepdims), 0.0
    w = align_weights(weights, shape, axis)
    total = z[1] if returned else np.sum(np.broadcast_to(w, shape), axis=axis, keepdims=keepdims)
    share = unreduce(g[0] / total, shape, axis, keepdims)
    w_bar = share * (a - unreduce(z[0], shape, axis, keepdims))
    if returned:
        w_bar = w_bar + unreduce(g[1], shape, axis, keepdims)
    return share * w, unalign_weights(w_bar, np.shape(weights), axis)


def average_tangent(
    a_dot: Any,
    weights_dot: Any,
    z: Any,
    a: Any,
    axis: Axis = None,
    weights: Any = None,
    keepdims: bool = False,
    returned: bool = True,
) -> Any:
    """Return the tangents of an average and of the sum of the weights; the transpose of `average_adjoints`.

    >>> average_tangent(np.ones(2), np.zeros(2), (2.0, 4.0), np.array([1.0, 3.0]), None, np.array([2.0, 2.0]))
    (np.float64(1.0), np.float64(0.0))
    """
    if weights is None:
        mean = np.mean(a_dot, axis=axis, keepdims=keepdims)
        return (mean, np.zeros_like(mean)) if returned else mean
    shape = np.shape(a)
    w, w_dot = align_weights(weights, shape, axis), align_weights(weights_dot, shape, axis)
    mean, total = z if returned else (z, np.sum(np.broadcast_to(w, shape), axis=axis, keepdims=keepdims))
    shifted = a_dot * w + (a - unreduce(mean, shape, axis, keepdims)) * w_dot
    mean_dot = np.sum(shifted, axis=axis, keepdims=keepdims) / total
    return (mean_dot, np.sum(np.broadcast_to(w_dot, shape), axis=axis, keepdims=keepdims)) if returned else mean_dot


def in_memory(x: Any) -> Any:
    """Where ``x.ravel("K")``, if that is a copy, has the elements of ``x``.

    The order is that of memory, but for steps back: that of an array which is made like ``x``.

    >>> in_memory(np.ones((2, 3)).T[::-1])
    array([[0, 3],
           [1, 4],
           [2, 5]])
    """
    places = np.empty_like(x, int)
    places.ravel("K")[...] = np.arange(places.size)
    return places
