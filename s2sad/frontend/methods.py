"""What array methods, attributes and operators mean, as NumPy functions."""

from __future__ import annotations

import bisect
import heapq
import operator
from typing import Any

import gast
import numpy as np

from s2sad.runtime.objects import item

BINARY: dict[type, tuple[str, Any]] = {
    gast.Add: ("+", np.add),
    gast.Sub: ("-", np.subtract),
    gast.Mult: ("*", np.multiply),
    gast.Div: ("/", np.divide),
    gast.Pow: ("**", np.power),
    gast.MatMult: ("@", np.matmul),
    gast.Mod: ("%", np.remainder),
    gast.FloorDiv: ("//", np.floor_divide),
    gast.LShift: ("<<", np.left_shift),
    gast.RShift: (">>", np.right_shift),
    gast.BitOr: ("|", np.bitwise_or),
    gast.BitXor: ("^", np.bitwise_xor),
    gast.BitAnd: ("&", np.bitwise_and),
}

UNARY: dict[type, tuple[str, Any]] = {
    gast.USub: ("-", np.negative),
    gast.UAdd: ("+", np.positive),
    gast.Invert: ("~", np.invert),
}

COMPARE: dict[type, str] = {
    gast.Eq: "==",
    gast.NotEq: "!=",
    gast.Lt: "<",
    gast.LtE: "<=",
    gast.Gt: ">",
    gast.GtE: ">=",
    gast.Is: "is",
    gast.IsNot: "is not",
    gast.In: "in",
    gast.NotIn: "not in",
}

#: Methods whose canonical form is a NumPy function with the array first.
METHODS: dict[str, Any] = {
    name: getattr(np, name)
    for name in (
        "sum prod mean var std max min cumsum cumprod dot trace diagonal repeat swapaxes squeeze take "
        "ravel reshape transpose clip copy round argmax argmin argsort all any nonzero searchsorted"
    ).split()
} | {"conj": np.conjugate, "conjugate": np.conjugate, "flatten": np.ravel, "astype": np.astype, "item": item}

#: Methods that take a shape or axes as separate arguments: the parameter that gathers them.
VARIADIC = {"reshape", "transpose"}

#: Methods and attributes whose value has no derivative.
CONSTANT_METHODS = frozenset(
    "argmax argmin argsort all any nonzero searchsorted round tolist_shape keys __len__ index count".split()
)
CONSTANT_ATTRIBUTES = frozenset("shape ndim size dtype itemsize nbytes strides flags".split())

ATTRIBUTES: dict[str, Any] = {"T": np.transpose, "mT": np.matrix_transpose, "real": np.real, "imag": np.imag}
#: The attributes of arrays that can be assigned: what is assigned is written into the array.
PARTS = ("real", "imag")

_IN_PLACE = "add sub mul truediv floordiv mod pow matmul lshift rshift and or xor".split()

#: Methods that change the object that they are called on.
MUTATING_METHODS = frozenset(
    "sort fill put partition resize itemset setfield setflags append extend insert pop remove clear reverse "
    "update setdefault popitem add discard byteswap shuffle __setitem__ __delitem__ __setattr__".split()
    + [f"__i{name}__" for name in _IN_PLACE]
)

#: Methods of random generators, which make new numbers.
DRAWING_METHODS = frozenset(
    "random rand randn randint integers uniform normal standard_normal gauss exponential standard_exponential gamma "
    "standard_gamma beta poisson binomial multinomial lognormal multivariate_normal laplace logistic triangular "
    "geometric dirichlet chisquare standard_t vonmises".split()
)
#: Methods of Python's and NumPy's own classes: a result holds what the object holds or what is given, and no more.
OWN_METHODS = frozenset(n for t in (str, tuple, list, dict, set, float, complex, np.ndarray) for n in dir(t))

_QUANTILES = ("median", "percentile", "quantile")

#: Functions that write into an argument: the positions that they write.
MUTATING_FUNCTIONS: dict[int, tuple[int, ...]] = {
    id(f): (0,)
    for f in (
        *(np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis),
        *(getattr(t, m) for t in (np.ndarray, list, dict, set) for m in sorted(MUTATING_METHODS) if hasattr(t, m)),
        *(getattr(operator, f"i{name}", None) or getattr(operator, f"i{name}_") for name in _IN_PLACE),
        *(operator.setitem, operator.delitem, operator.iconcat, setattr, delattr),
        *(heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop),
        *(bisect.insort, bisect.insort_left),
    )
}

#: Functions that use their first argument as working space if they are asked to: the option, and what does not ask.
OVERWRITING_OPTIONS: dict[int, tuple[str, bool]] = {
    id(np.nan_to_num): ("copy", True),
    **{id(getattr(np, nan + name)): ("overwrite_input", False) for nan in ("", "nan") for name in _QUANTILES},
}

#: The functions, ufuncs aside, that read all of their operands before they write into ``out`` or the first of them, so
#: that it does not matter whether these share memory.
READING_FIRST = frozenset(
    id(getattr(np, name))
    for name in (
        "sum prod max min mean var std cumsum cumprod dot clip take outer round trace compress einsum "
        "nansum nanprod nancumsum nancumprod nanmean nanvar nanstd nanmax nanmin copyto put putmask"
    ).split()
)
