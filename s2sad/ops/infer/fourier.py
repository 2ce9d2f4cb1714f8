"""Discrete Fourier transforms: complex numbers, or real ones of a half transform turned back."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from s2sad.ir.nodes import Build, Call, Const
from s2sad.ir.sizes import Dims, computed
from s2sad.ir.sums import Dim, literal_size
from s2sad.ir.types import Fact
from s2sad.ops.infer.common import (
    SOME_ARRAY,
    Bound,
    Infer,
    Look,
    all_real,
    array_of,
    axis_of,
    dims_of_shape,
    literal,
    ndim_of,
    shaped,
)


def whole(b: Bound, fact: Look) -> Fact:
    """As many complex numbers along an axis as there were, or as asked for."""
    a = fact(b["a"])
    return _made(_changed(a.dims, b, _length(b, a.dims)), b, fact, real=False)


def half(b: Bound, fact: Look) -> Fact:
    """Of real numbers the bins that are not conjugates of others."""
    a = fact(b["a"])
    length = _length(b, a.dims)
    if length is not None:
        length = computed("+", computed("//", length, literal_size(2)), 1)
    return _made(_changed(a.dims, b, length), b, fact, real=False)


def turned_back(b: Bound, fact: Look) -> Fact:
    """Real numbers, of which `half` made the bins."""
    a = fact(b["a"])
    length = _length(b, a.dims)
    if literal(b["n"]) is None and length is not None:
        length = computed("-", computed("*", literal_size(2), length), literal_size(2))
    return _made(_changed(a.dims, b, length), b, fact, real=True)


def along_all(b: Bound, fact: Look) -> Fact:
    """Along several axes, or none, as many complex numbers as there were, or as asked for."""
    if not ndim_of(fact(b["a"])):
        return Fact("numeric", real=False)
    return _made(fact(b["a"]).dims if literal(b["s"]) is None else None, b, fact, real=False)


def with_half(real: bool) -> Infer:
    """As `along_all`, but along one of the axes as `half` or `turned_back`."""
    return lambda b, fact: _made(None, b, fact, real)


def adjoint(real: bool) -> Infer:
    """The adjoint of an operand of the shape that the second argument says."""
    return lambda b, fact: shaped(Fact("array", real=real), b["shape"], fact)


def frequencies(whole: bool) -> Infer:
    """Those of the bins of a transform of ``n`` numbers that are ``d`` apart, the ``whole`` of it or `half`."""

    def infer(b: Bound, fact: Look) -> Fact:
        d = fact(b["d"])
        if d.kind != "scalar":
            return replace(SOME_ARRAY, real=all_real(d))
        dims = dims_of_shape(fact(b["n"]), b["n"]) if whole else None
        return array_of(dims, 1, d.real) or SOME_ARRAY

    return infer


def _made(dims: Dims | None, b: Bound, fact: Look, real: bool) -> Fact:
    """An array of sizes that are known, or not."""
    return array_of(dims, ndim_of(fact(b["a"])), real) or replace(SOME_ARRAY, real=real)


def _length(b: Bound, dims: Dims | None) -> Dim | None:
    """How many elements along its axis a transform takes."""
    axis, n = axis_of(b["axis"], len(dims or ())), literal(b["n"])
    if n is None:
        return None if dims is None or axis is None else dims[axis]
    return None if type(n) is not int or n < 1 else literal_size(n)


def _changed(dims: Dims | None, b: Bound, length: Dim | None) -> Dims | None:
    """The sizes with another one along the axis."""
    axis = axis_of(b["axis"], len(dims or ()))
    return None if dims is None or axis is None or length is None else (*dims[:axis], length, *dims[axis + 1 :])


def memory(call: Call, fact: Look | None) -> Literal["fresh"] | None:
    """A transform along no axes at all is its operand."""
    given = [*call.args[2:3], *(v for k, v in call.kwargs if k == "axes")]
    if given and given[0] != Const(None):
        return "fresh" if isinstance(given[0], Build) and given[0].items else None
    some = fact is not None and bool(call.args) and bool(ndim_of(fact(call.args[0])))
    return "fresh" if some or call.op.function in (np.fft.fft2, np.fft.ifft2) else None
