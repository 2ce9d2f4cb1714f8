"""The functions of functions: they call what they are given, with what they are given."""

from __future__ import annotations

import builtins
import functools

import numpy as np

from s2sad.ops.spec import constant, operation

# Iterators are used up.
operation(
    builtins.map,
    builtins.filter,
    signature=lambda function, *iterables: None,
    calls=("function",),
    defers="items",
    ordered=True,
)
operation(
    functools.reduce,
    signature=lambda function, iterable, initial=None: None,
    calls=("function",),
    consumes=("iterable",),
    ordered=True,
)
operation(np.vectorize, signature=lambda pyfunc: None, calls=("pyfunc",), defers="call")
operation(
    np.frompyfunc,
    signature=lambda func, nin, nout: None,
    calls=("func",),
    defers="call",
    remedy="use np.vectorize(f), which gives arrays of numbers",
)
operation(
    np.apply_along_axis,
    signature=lambda func1d, axis, arr: None,
    calls=("func1d",),
    remedy="loop over the slices and join the results with np.stack",
)
operation(
    np.apply_over_axes,
    signature=lambda func, a, axes: None,
    calls=("func",),
    remedy="call the function with axis=(...)",
)
operation(
    np.fromfunction,
    signature=lambda function, shape: None,
    calls=("function",),
    remedy="call the function on np.indices(shape) yourself",
)
operation(np.piecewise, signature=lambda x, condlist, funclist: None, calls=("funclist",), remedy="use np.where")
constant(np.mask_indices, signature=lambda n, mask_func, k=0: None, calls=("mask_func",), gives=(tuple,))
