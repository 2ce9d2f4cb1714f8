"""What functions give for objects of subclasses of arrays, as far as they do no more than make one object.

``plain`` says that the result is as if arrays of NumPy's own class were given.  ``like`` says that it is another object
of the class of the first argument that has such a class, which ``__array_finalize__`` gets, and ``first`` that this
holds only if the first argument has one, and for results with axes.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

Outcome = Literal["plain", "like", "first"]

_PLAIN = (
    np.array, np.asarray, np.ascontiguousarray, np.copy, np.linalg.norm, np.linalg.det, np.cross, np.outer,
    np.concatenate, np.hstack, np.einsum, np.tensordot, np.interp, np.fft.fft, np.fft.ifft, np.fft.rfft, np.convolve,
    np.array_equal, np.shape, np.ndim, np.size, np.triu, np.tril, np.where, np.count_nonzero, np.searchsorted,
    np.linalg.eigvalsh, np.linalg.matrix_rank, np.iscomplexobj, np.isrealobj, np.pad, np.cov, np.diag, np.isin,
    np.broadcast_to,
    builtins.len, builtins.float, builtins.int, builtins.bool, np.ndarray.tolist, np.ndarray.item,
    math.sqrt, math.sin, math.cos, math.exp, math.log, math.atan2,
)  # fmt: skip
_LIKE = (
    np.sum, np.mean, np.max, np.min, np.prod, np.any, np.all, np.cumsum, np.cumprod, np.reshape, np.ravel, np.transpose,
    np.clip, np.take, np.repeat, np.swapaxes, np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.linalg.inv,
    np.linalg.cholesky, np.diagonal, np.round, np.squeeze, np.expand_dims, np.flip, np.fliplr, np.flipud, np.moveaxis,
    np.sort, np.argsort, builtins.abs, np.ndarray.diagonal, np.ndarray.round, np.ndarray.squeeze, np.ndarray.argsort,
    np.ndarray.sum, np.ndarray.mean, np.ndarray.max, np.ndarray.min, np.ndarray.prod, np.ndarray.any, np.ndarray.all,
    np.ndarray.cumsum, np.ndarray.cumprod, np.ndarray.reshape, np.ndarray.ravel, np.ndarray.transpose, np.ndarray.clip,
    np.ndarray.take, np.ndarray.repeat, np.ndarray.swapaxes, np.ndarray.copy,
    np.ndarray.flatten,
)  # fmt: skip
#: Those that make other objects of the class on the way, which nobody sees but ``__array_finalize__``.
_PLAIN_UNSEEN = (
    np.trace, np.inner, np.vdot, np.argmax, np.argmin, np.vstack, np.column_stack, np.stack, np.dstack, np.append,
    np.allclose, np.ndarray.trace, np.ndarray.argmax, np.ndarray.argmin,
)  # fmt: skip
_LIKE_UNSEEN = (
    np.std, np.var, np.median, np.diff, np.isclose, np.roll, np.trapezoid, np.nansum, np.nanmean, np.ptp,
    np.ndarray.std, np.ndarray.var,
)  # fmt: skip
UNSEEN = frozenset((*_PLAIN_UNSEEN, *_LIKE_UNSEEN, np.unique))
#: Those whose results have as many axes as the first argument.
KEEPING = frozenset({
    np.ndarray.copy, np.clip, np.ndarray.clip, np.zeros_like, np.ones_like, np.full_like, np.empty_like, np.linalg.inv,
    np.linalg.cholesky, np.round, np.ndarray.round, np.flip, np.fliplr, np.flipud, np.diff, np.roll,
})  # fmt: skip
_FIRST = (np.dot, np.ndarray.dot)
#: Those that hand their result to ``__array_wrap__`` of a class that defines it, as universal functions do, without
#: saying which function it was.
REDUCTIONS = frozenset({
    np.sum, np.max, np.min, np.prod, np.any, np.all, np.cumsum, np.cumprod, np.ndarray.sum, np.ndarray.max,
    np.ndarray.min, np.ndarray.prod, np.ndarray.any, np.ndarray.all, np.ndarray.cumsum, np.ndarray.cumprod,
})  # fmt: skip
#: Those that call it otherwise, or more than once; nothing else that is known here does.
WRAPPING_OTHERWISE = frozenset({
    np.mean, np.clip, np.round, np.linalg.inv, np.linalg.cholesky, np.trace, np.allclose, np.std, np.var, np.median,
    np.diff, np.isclose, np.trapezoid, np.nansum, np.nanmean, np.ptp, np.ndarray.mean, np.ndarray.clip,
    np.squeeze, np.ndarray.squeeze, np.ndarray.round, np.ndarray.trace, np.ndarray.std, np.ndarray.var,
})  # fmt: skip
OUTCOMES: dict[Any, Outcome] = {
    **dict.fromkeys((*_PLAIN, *_PLAIN_UNSEEN), "plain"),
    **dict.fromkeys((*_LIKE, *_LIKE_UNSEEN), "like"),
    **dict.fromkeys(_FIRST, "first"),
}
#: Those that give several arrays, and which of these they hand to ``__array_wrap__``, without any other argument.
PARTS: dict[Any, tuple[bool, ...]] = {
    np.linalg.svd: (True, False, True), np.linalg.eigh: (False, True), np.linalg.eig: (False, True),
}  # fmt: skip
#: Functions of Python that run through what they are given.
RUNNING = (
    builtins.sum, builtins.list, builtins.tuple, builtins.any, builtins.all, builtins.min, builtins.max,
    builtins.sorted, builtins.enumerate, builtins.zip, builtins.map, builtins.iter, builtins.filter, builtins.reversed,
)  # fmt: skip
#: Named arguments that change nothing of that.
_NAMED = frozenset({"axis", "keepdims", "ord"})

#: The methods that operators and functions of Python ask.
OPERATOR_METHODS: dict[Any, str] = {
    "+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__", "//": "__floordiv__", "%": "__mod__",
    "**": "__pow__", "@": "__matmul__", builtins.len: "__len__", builtins.abs: "__abs__", builtins.float: "__float__",
    builtins.int: "__int__", builtins.complex: "__complex__", builtins.bool: "__bool__",
    **dict.fromkeys((math.sqrt, math.sin, math.cos, math.exp, math.log, math.atan2), "__float__"),
}  # fmt: skip


def outcome_of(function: Any, named: Sequence[str] = ()) -> Outcome | None:
    """What a function gives for objects of subclasses; None where that is not known.

    Example:
        >>> outcome_of(np.sin), outcome_of(np.linalg.norm), outcome_of(np.linalg.svd)
        ('like', 'plain', None)
    """
    if isinstance(function, np.ufunc):
        return "like" if function.nout == 1 and not named else None
    try:
        found = OUTCOMES.get(function)
    except TypeError:
        return None
    if function is np.unique:
        found = "plain" if "axis" in named else None
    allowed = _NAMED | {"dtype", "mode", "tol", "rtol", "hermitian"} if found == "plain" else _NAMED
    return found if allowed.issuperset(named) else None
