"""Ways around the compiler: a value leaves the arrays and comes back, and its derivative must come back with it.

Each function sends its argument through text, bytes, iterators, objects or calls that know nothing of derivatives.
Its gradient is that of the central differences, or it is refused; never anything else, and above all not zero.
"""

# The ways are written as people write them, not as a linter would.
# ruff: noqa: B905, C406, E731, PIE800, PIE804, PT017, RUF005, RUF015, UP031, UP032

from __future__ import annotations

import array
import ast
import bisect
import collections
import copy
import dataclasses
import fractions
import functools
import io
import itertools
import json
import math
import operator
import pickle
import statistics
import struct
import warnings
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import S2SADError, UnsupportedError
from tests.oracle import numeric_gradient

V = np.array([0.3, -1.2, 2.5])
M = np.array([[0.3, -1.2], [2.5, 0.7]])
FORMAT = "%.17g"
table = {"sin": np.sin, "key": 2.0}
functions = [np.sin, np.cos]
partial_sin = functools.partial(np.sin)
vectorized = np.vectorize(math.sin)
from_python = np.frompyfunc(math.sin, 1, 1)
getter = operator.itemgetter(0)


class Pair(NamedTuple):
    """A pair of numbers."""

    a: Any
    b: Any

    def total(self) -> Any:
        return self.a * self.b

    def sum(self) -> Any:
        return self.a * self.a * self.b


@dataclasses.dataclass
class Box:
    """A value, and methods called as those of arrays."""

    value: Any
    other: float = 2.0

    def sum(self) -> Any:
        return self.value * self.value * self.other

    def round(self) -> Any:
        return self.value * self.value

    def count(self) -> Any:
        return self.value * 3.0

    @property
    def T(self) -> Any:
        return self.value * 5.0

    def __len__(self) -> int:
        return 4


@dataclasses.dataclass
class Sized:
    """Fields that are called as attributes of arrays."""

    size: float
    shape: float = 2.0


def through_captured(x: Any) -> Any:
    f = lambda y: y * x
    return f(2.0)


def through_captured_later(x: Any) -> Any:
    y = 1.0
    f = lambda: y * 2.0
    y = x * x
    return f()


def through_alias(x: Any) -> Any:
    g = np.sin
    return g(x) * x


def through_alias_of_two(x: Any) -> Any:
    g = np.sin
    if x > 0.0:
        g = np.cos
    return g(x) * x


def through_text(x: Any) -> Any:
    label = f"{x:.17g}"
    text = "%.17g" % x
    return float(label) * float(text)


def through_format(x: Any) -> Any:
    form = "%.17g"
    return float(form % x) * x


def printed(x: Any) -> Any:
    label = f"{x:.17g}"
    print(label, end="")
    assert label, str(x)
    return x * x


def through_list_of_text(x: Any) -> Any:
    total = 0.0
    for part in f"{x:.3f} {x:.3f}".split():
        total = total + float(part)
    return total


def through_dict_of_text(x: Any) -> Any:
    d = {"a": str(x)}
    return float(d["a"]) * x


def text_of(x: Any) -> Any:
    return str(x)


def through_call(x: Any) -> Any:
    return float(text_of(x)) * x


def default_of(x: Any, scale: Any = 3.0) -> Any:
    return x * scale


def through_default(x: Any) -> Any:
    return default_of(scale=x, x=2.0) * default_of(x)


class Callable_:
    """An object to call."""

    def __call__(self, x: Any) -> Any:
        return x * x


callable_object = Callable_()


def memoize(f: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator as people write it."""
    known: dict[Any, Any] = {}

    @functools.wraps(f)
    def inner(x: Any) -> Any:
        if x not in known:
            known[x] = f(x) * 3.0
        return known[x]

    return inner


@memoize
def memoized(x: Any) -> Any:
    return x * x


@functools.lru_cache
def cached(x: Any) -> Any:
    return x * x


SCALAR: list[Callable[..., Any]] = [
    *(through_captured, through_captured_later, through_alias, through_alias_of_two, through_text, through_format),
    *(printed, through_list_of_text, through_dict_of_text, through_call, through_default),
    lambda x: float(str(x)) * 2.0,
    lambda x: float(repr(x)) * x,
    lambda x: float(format(x, ".17g")),
    lambda x: float(f"{x:.17g}") * x,
    lambda x: float("%.17g" % x) * x,
    lambda x: float(FORMAT % x) * x,
    lambda x: float(f"{x:.17g}") * x,
    lambda x: float(str(x)[:]) * x,
    lambda x: float("{:.17g}".format(x)) * x,
    lambda x: {"a": x, **{"b": 1.0}}["a"] * x,
    lambda x: dict([("a", x)])["a"] * x,
    lambda x: dict(**{"a": x})["a"] * x,
    lambda x: float("".join([str(x)])) * x,
    lambda x: np.float64(str(x)) * x,
    lambda x: np.array(str(x)).astype(float) * x,
    lambda x: np.array([str(x)], dtype=float)[0] * x,
    lambda x: np.sum(np.fromstring(str(x), sep=" ")) * x,
    lambda x: eval(str(x)) * x,
    lambda x: eval("x * x"),
    lambda x: eval("x", {"x": x}) * x,
    lambda x: ast.literal_eval(str(x)) * x,
    lambda x: json.loads(json.dumps(x)) * x,
    lambda x: struct.unpack("d", struct.pack("d", x))[0] * x,
    lambda x: pickle.loads(pickle.dumps(x)) * x,
    lambda x: float.fromhex(x.hex()) * x,
    lambda x: x.as_integer_ratio()[0] / x.as_integer_ratio()[1] * x,
    lambda x: float(fractions.Fraction(x)) * x,
    lambda x: float(Decimal(x)) * x,
    lambda x: copy.copy(x) * x,
    lambda x: copy.deepcopy(x) * x,
    lambda x: array.array("d", [x])[0] * x,
    lambda x: math.fsum([x, x]) * x,
    lambda x: math.frexp(x)[0] * x,
    lambda x: math.modf(x)[0] * x,
    lambda x: math.nextafter(x, 2.0) * x,
    lambda x: statistics.fmean([x, 2.0 * x]) * x,
    lambda x: operator.mul(x, x),
    lambda x: operator.add(x, x) * x,
    lambda x: operator.neg(x) * x,
    lambda x: getter((x, 1.0)) * x,
    lambda x: functools.reduce(operator.mul, [x, x, 2.0]),
    lambda x: functools.partial(np.power, x)(2.0),
    lambda x: partial_sin(x) * x,
    lambda x: table["sin"](x) * x,
    lambda x: functions[1](x) * x,
    lambda x: vectorized(x) * x,
    lambda x: from_python(x) * x,
    lambda x: callable_object(x) * x,
    lambda x: memoized(x) * x,
    lambda x: cached(x) * x,
    lambda x: getattr(x, "real") * x,
    lambda x: getattr(np, "sin")(x) * x,
    lambda x: x.__mul__(x),
    lambda x: x.__abs__() * x,
    lambda x: type(x)(x) * x,
    lambda x: type(x)(str(x)) * x,
    lambda x: dict(a=x)["a"] * x,
    lambda x: dict([("a", x)])["a"] * x,
    lambda x: {"a": x}.get("a") * x,
    lambda x: {"a": x, "b": 1.0}["a"] * x,
    lambda x: {"a": x}.pop("a") * x,
    lambda x: list({"a": x}.values())[0] * x,
    lambda x: list({x: 1.0})[0] * x,
    lambda x: sorted({x})[0] * x,
    lambda x: next(iter([x])) * x,
    lambda x: max([x, 0.1]) * x,
    lambda x: max(x, 0.1, key=abs) * x,
    lambda x: min((x, 5.0)) * x,
    lambda x: max([], default=x) * x,
    lambda x: sum([x, x], start=x) * x,
    lambda x: sum((x, x), x) * x,
    lambda x: divmod(x, 0.4)[1] * x,
    lambda x: pow(x, 2) * x,
    lambda x: pow(x, 2.5) * x,
    lambda x: abs(complex(x, x)) * x,
    lambda x: complex(x, x).real * x,
    lambda x: complex(x).conjugate().real * x,
    lambda x: (lambda y: y * y)(x),
    lambda x: [y * y for y in [x]][0],
    lambda x: sum(y * y for y in [x, x]),
    lambda x: list(map(lambda y: y * y, [x]))[0],
    lambda x: list(map(np.sin, [x]))[0] * x,
    lambda x: list(filter(None, [x]))[0] * x,
    lambda x: list(zip([x], [1.0]))[0][0] * x,
    lambda x: list(itertools.accumulate([x, x], operator.mul))[-1],
    lambda x: list(itertools.chain([x], [1.0]))[0] * x,
    lambda x: collections.deque([x])[0] * x,
    lambda x: collections.OrderedDict(a=x)["a"] * x,
    lambda x: Pair(x, 2.0).a * x,
    lambda x: Pair(x, 2.0).total() * x,
    lambda x: Box(x).value * x,
    lambda x: (x if x else 1.0) * x,
    lambda x: (x and x * 2.0) * x,
    lambda x: (None or x) * x,
    lambda x: (y := x * x) * y,
    lambda x: np.float64(x) * x,
    lambda x: np.double(x) * x,
    lambda x: np.float64(x).item() * x,
    lambda x: np.array(x).tolist() * x,
    lambda x: np.array(x)[()] * x,
    lambda x: np.array(x, dtype=object) * x,
    lambda x: np.array([x], dtype=object)[0] * x,
    lambda x: int(x) * x,
    lambda x: float(int(x)) + x,
    lambda x: round(x, 2) * x,
    lambda x: x // 0.25 * x,
    lambda x: x % 0.25 * x,
    lambda x: float(x > 0.5) * x,
    lambda x: (x > 0.5) * x,
    lambda x: bool(x) * x,
    lambda x: float(len([x, x])) * x,
    lambda x: [2.0, 3.0][int(x)] * x,
    lambda x: {True: 2.0, False: 3.0}[x > 0.5] * x,
    lambda x: x.real * x + x.imag,
    lambda x: x.conjugate() * x,
    lambda x: np.real(x) * x,
    lambda x: sum([x] * 3) * x,
    lambda x: ([x] + [2.0 * x])[1] * x,
    lambda x: [x, 2.0][0:1][0] * x,
    lambda x: (x, *[2.0 * x])[1] * x,
    lambda x: [*[x, x]][0] * x,
    lambda x: np.polyval([x, 1.0], x),
    lambda x: np.interp(x, [0.0, 1.0], [0.0, 3.0]) * x,
    lambda x: np.frexp(x)[0] * x,
    lambda x: np.modf(x)[0] * x,
    lambda x: np.nextafter(x, 2.0) * x,
    lambda x: np.divmod(x, 0.4)[1] * x,
    lambda x: np.nan_to_num(x) * x,
    lambda x: np.linspace(0.0, x, 3)[1] * x,
    lambda x: np.arange(0.0, x, 0.3)[1] * x,
    lambda x: np.arange(3.0)[1] * x,
    lambda x: np.full(3, x)[1] * x,
    lambda x: np.clip(x, 0.0, 1.0) * x,
    lambda x: np.add.reduce([x, x]) * x,
    lambda x: math.sin(*[x]) * x,
    lambda x: np.sin(x=x) if False else x * x,
    lambda x: print(end="") or x * x,
    lambda x: warnings.warn_explicit.__name__ and x * x,
    lambda x: bisect.bisect([0.0, 1.0], x) * x,
    lambda x: io.StringIO(str(x)).read() and x * x,
    lambda x: hash(x) % 2 * 0.0 + x * x,
    lambda x: np.datetime64(int(x), "s").astype(float) + x,
    lambda x: locals()["x"] * x,
    lambda x: (lambda y: y * x)(2.0),
    lambda x: max([1.0, 2.0], key=lambda y: y * x) * x,
    lambda x: np.zeros(3, dtype=complex)[0].real + x * x,
    lambda x: abs(np.array([x], dtype=complex)[0] * 1j) * x,
    lambda x: np.abs(np.array([x]).astype(complex) * 1j)[0] * x,
    lambda x: vars()["x"] * x,
]

VECTOR: list[Callable[..., Any]] = [
    lambda v: np.sum(np.asarray(v.tolist()) * v),
    lambda v: np.sum(np.array(v.tolist())),
    lambda v: v.tolist()[0] * v[1],
    lambda v: sum(v.tolist()),
    lambda v: np.sum(np.frombuffer(v.tobytes()) * v),
    lambda v: np.sum(np.frombuffer(v) * v),
    lambda v: np.sum(np.frombuffer(memoryview(v)) * v),
    lambda v: memoryview(v)[0] * v[0],
    lambda v: np.sum(np.fromiter(v, dtype=float) * v),
    lambda v: np.sum(np.fromiter((item * item for item in v), dtype=float)),
    lambda v: np.sum(np.fromstring(np.array2string(v)[1:-1], sep=" ") * v),
    lambda v: np.sum(copy.copy(v) * v),
    lambda v: np.sum(copy.deepcopy(v) * v),
    lambda v: np.sum(v.copy() * v),
    lambda v: np.sum(np.copy(v) * v),
    lambda v: list(v)[0] * v[1],
    lambda v: tuple(v)[0] * v[1],
    lambda v: sorted(v)[0] * v[1],
    lambda v: sorted(v, reverse=True)[0] * v[1],
    lambda v: sorted(v, key=abs)[0] * v[1],
    lambda v: list(reversed(v))[0] * v[1],
    lambda v: [*v][0] * v[1],
    lambda v: dict(enumerate(v))[1] * v[0],
    lambda v: next(iter(v)) * v[1],
    lambda v: max(v) * v[0],
    lambda v: min(v) * v[0],
    lambda v: sum(v) * v[0],
    lambda v: max(v, key=abs) * v[0],
    lambda v: functools.reduce(operator.mul, v),
    lambda v: functools.reduce(lambda a, b: a * b, v),
    lambda v: math.fsum(v) * v[0],
    lambda v: math.prod(v) * v[0],
    lambda v: math.hypot(*v),
    lambda v: math.dist(v, [0.0, 0.0, 0.0]),
    lambda v: statistics.mean(v) * v[0],
    lambda v: np.sum(vectorized(v)),
    lambda v: np.sum(from_python(v)),
    lambda v: np.sum(np.vectorize(lambda y: y * y)(v)),
    lambda v: np.sum(np.frompyfunc(lambda y: y * y, 1, 1)(v)),
    lambda v: np.sum(np.apply_along_axis(np.sum, 0, v)) * v[0],
    lambda v: np.sum(np.piecewise(v, [v > 0.0], [lambda y: y * y, 0.0])),
    lambda v: np.sum(np.fromfunction(lambda i: v[i.astype(int)] * 2.0, (3,))),
    lambda v: np.add.reduce(v) * v[0],
    lambda v: np.multiply.reduce(v),
    lambda v: np.sum(np.multiply.outer(v, v)),
    lambda v: np.sum(np.add.accumulate(v) * v),
    lambda v: np.sum(np.add.reduceat(v, [0, 1]) ** 2),
    lambda v: np.maximum.reduce(v) * v[0],
    lambda v: np.logaddexp.reduce(v) * v[0],
    lambda v: np.sum(v.view() * v),
    lambda v: np.sum(v.view(np.int64).view(np.float64) * v),
    lambda v: np.sum(v.view(np.complex128).real) if False else np.sum(v * v),
    lambda v: np.sum(v.astype(int) * v),
    lambda v: np.sum(v.astype(int).astype(float) + v),
    lambda v: np.sum(v.astype(float) * v),
    lambda v: np.sum(v.astype(complex).real * v),
    lambda v: np.sum(v.astype(str).astype(float) * v),
    lambda v: np.sum(v.astype(object) * v),
    lambda v: np.sum(np.asarray(v, dtype=object) * v),
    lambda v: np.sum(np.asarray(v, dtype=int) * v),
    lambda v: np.sum(np.array(v, dtype=str).astype(float) * v),
    lambda v: np.sum(np.array(v, dtype="f8") * v),
    lambda v: np.sum(np.asarray(v, dtype=complex).real * v),
    lambda v: np.sum(np.int64(v) * v),
    lambda v: np.sum(np.float64(v) * v),
    lambda v: np.sum(np.bool_(v) * v),
    lambda v: np.sum((v > 0.0).astype(float) * v),
    lambda v: np.sum(np.where(v > 0.0, v, 0.0) * v),
    lambda v: np.sum(v.flat[0:2] * v[0:2]),
    lambda v: v.flat[1] * v[0],
    lambda v: v.item(1) * v[0],
    lambda v: v.__getitem__(1) * v[0],
    lambda v: np.sum(v.__mul__(v)),
    lambda v: operator.getitem(v, 1) * v[0],
    lambda v: getter(v) * v[1],
    lambda v: getattr(v, "T")[0] * v[1],
    lambda v: np.sum(getattr(v, "copy")() * v),
    lambda v: np.sum(v.data[0] * v),
    lambda v: np.sum(v.base or v * v) if v.base is not None else np.sum(v * v),
    lambda v: np.sum(v.take([0, 0]) * v[1]),
    lambda v: np.sum(v.compress([True, False, True]) ** 2),
    lambda v: np.sum(v.repeat(2) ** 2),
    lambda v: np.sum(v.choose([v, v])) if False else np.sum(v * v),
    lambda v: np.sum(v.ravel() * v.flatten()),
    lambda v: v.ptp() if hasattr(v, "ptp") else np.ptp(v) * v[0],
    lambda v: np.sum(np.sort(v) * np.array([1.0, 2.0, 3.0])),
    lambda v: np.median(v) * v[0],
    lambda v: np.quantile(v, 0.3) * v[0],
    lambda v: np.percentile(v, 30.0) * v[0],
    lambda v: np.sum(np.unique(v) * [1.0, 2.0, 3.0]),
    lambda v: np.histogram(v, weights=v, bins=2)[0][0] * v[0],
    lambda v: np.bincount([0, 1, 1], weights=v)[1] * v[0],
    lambda v: np.sum(np.convolve(v, v)),
    lambda v: np.sum(np.interp([0.5, 1.5], [0.0, 1.0, 2.0], v)) * v[0],
    lambda v: np.sum(np.fft.fft(v).real * v),
    lambda v: np.polyfit([0.0, 1.0, 2.0], v, 1)[0] * v[0],
    lambda v: np.sum(np.lib.stride_tricks.sliding_window_view(v, 2) ** 2),
    lambda v: np.sum(np.lib.stride_tricks.as_strided(v, (2,), (8,)) ** 2),
    lambda v: np.sum(np.ma.array(v) * v),
    lambda v: np.ma.masked_where(v < 0.0, v).sum() * v[0],
    lambda v: np.sum(np.matrix(v)) * v[0],
    lambda v: np.sum(np.select([v > 0.0], [v * v], 0.0)),
    lambda v: np.sum(np.rec.fromarrays([v], names="a")["a"] * v),
    lambda v: next(np.nditer(v)) * v[0],
    lambda v: sum(y * 2.0 for y in np.nditer(v)),
    lambda v: sum(y * i for (i,), y in np.ndenumerate(v)),
    lambda v: len(v) * v[0],
    lambda v: v.size * v[0] + v.shape[0] * v[1],
    lambda v: np.sum(np.einsum("i,j->ij", v, v)),
    lambda v: np.sum(np.broadcast_arrays(v, np.ones((2, 3)))[0]) * v[0],
    lambda v: np.sum(np.meshgrid(v, v)[0] * 2.0) * v[0],
    lambda v: np.sum(np.r_[v, v] ** 2),
    lambda v: np.sum(np.c_[v, v] ** 2),
    lambda v: np.sum(v[np.newaxis] * v),
    lambda v: v[np.argmax(v)] * v[0],
    lambda v: v[int(v[2])] * v[0],
    lambda v: np.sum(v[v > 0.0] ** 2),
    lambda v: {"a": v}["a"][0] * v[1],
    lambda v: [v, 2.0 * v][1][0] * v[1],
    lambda v: np.sum(np.array([v, v]) ** 2),
    lambda v: np.sum(np.array([[v[0], v[1]], [v[2], 1.0]]) ** 2),
    lambda v: np.sum(np.block([v, v]) ** 2),
    lambda v: np.sum(np.append(v, v[0]) ** 2),
    lambda v: np.sum(np.insert(v, 0, v[1]) ** 2),
    lambda v: np.sum(np.delete(v, 0) ** 2),
    lambda v: np.sum(np.nan_to_num(v) * v),
    lambda v: np.sum(np.ascontiguousarray(v) * v),
    lambda v: np.sum(np.asanyarray(v) * v),
    lambda v: np.sum(np.require(v) * v),
    lambda v: np.sum(np.from_dlpack(v) * v),
    lambda v: np.sum(np.concatenate([v[:1], v[1:]]) * v),
    lambda v: np.sum(np.resize(v, 4) ** 2),
    lambda v: np.sum(np.trim_zeros(v) ** 2),
    lambda v: np.trapezoid(v * v) if hasattr(np, "trapezoid") else np.sum(v * v),
    lambda v: np.sum(np.random.default_rng(0).permutation(v) * v),
    lambda v: np.sum(np.random.default_rng(0).normal(v) * v),
    lambda v: np.random.default_rng(0).choice(v) * v[0],
    lambda v: v.dot(v) * v[0],
    lambda v: v.__array__()[0] * v[1],
    lambda v: np.array(v, copy=True)[0] * v[1],
    lambda v: np.sum(np.sin(v, out=np.zeros(3))),
    lambda v: np.sum(np.sin(v, where=v > 0.0, out=np.zeros(3))),
    lambda v: np.sum(np.sin(v, dtype=float) * v),
    lambda v: np.sum(v, dtype=int) * v[0],
    lambda v: np.sum(v, initial=2.0) * v[0],
    lambda v: np.max(v, initial=0.0) * v[0],
    lambda v: np.sum(v, axis=0, dtype=np.float64) * v[0],
    lambda v: np.mean(v, dtype=np.float64) * v[0],
    lambda v: np.cumsum(v, dtype=int)[-1] * v[0],
    lambda v: np.prod(v, dtype=np.float64) * v[0],
]

RECORDS: list[tuple[Callable[..., Any], Any]] = [
    (lambda p: p.total() * p.a, Pair(0.7, 1.3)),
    (lambda p: p.sum() * p.a, Pair(0.7, 1.3)),
    (lambda p: sum(p) * p.a, Pair(0.7, 1.3)),
    (lambda p: p[0] * p.b, Pair(0.7, 1.3)),
    (lambda p: p._replace(a=p.b).a * p.a, Pair(0.7, 1.3)),
    (lambda p: p._asdict()["a"] * p.b, Pair(0.7, 1.3)),
    (lambda p: p.value * p.other, Box(0.7)),
    (lambda p: p.sum() * p.other, Box(0.7)),
    (lambda p: p.round() * p.other, Box(0.7)),
    (lambda p: p.count() * p.other, Box(0.7)),
    (lambda p: p.T * p.other, Box(0.7)),
    (lambda p: dataclasses.replace(p, other=3.0).value * p.value, Box(0.7)),
    (lambda p: dataclasses.asdict(p)["value"] * p.value, Box(0.7)),
    (lambda p: vars(p)["value"] * p.value, Box(0.7)),
    (lambda p: p.__dict__["value"] * p.value, Box(0.7)),
    (lambda p: getattr(p, "value") * p.value, Box(0.7)),
    (lambda p: len(p) * p.value, Box(0.7)),
    (lambda p: p.size * 3.0, Sized(0.7)),
    (lambda p: p.shape * p.size, Sized(0.7)),
    (lambda p: p["a"] * p["b"], {"a": 0.7, "b": 1.3}),
    (lambda p: p.get("a") * p["b"], {"a": 0.7, "b": 1.3}),
    (lambda p: p.get("c", p["a"]) * p["b"], {"a": 0.7, "b": 1.3}),
    (lambda p: sum(p.values()) * p["b"], {"a": 0.7, "b": 1.3}),
    (lambda p: list(p.items())[0][1] * p["b"], {"a": 0.7, "b": 1.3}),
    (lambda p: {**p}["a"] * p["b"], {"a": 0.7, "b": 1.3}),
    (lambda p: dict(p)["a"] * p["b"], {"a": 0.7, "b": 1.3}),
    (lambda p: p.copy()["a"] * p["b"], {"a": 0.7, "b": 1.3}),
    (lambda p: (p | {"c": 1.0})["a"] * p["b"], {"a": 0.7, "b": 1.3}),
    (lambda p: p[0] * p[1], [0.7, 1.3]),
    (lambda p: p[-1] * p[::-1][1], [0.7, 1.3]),
    (lambda p: p.copy()[0] * p[1], [0.7, 1.3]),
    (lambda p: (p * 2)[2] * p[1], [0.7, 1.3]),
    (lambda p: (p + p)[3] * p[0], [0.7, 1.3]),
    (lambda p: sum(p) * p[1], [0.7, 1.3]),
    (lambda p: np.sum(p) * p[1], [0.7, 1.3]),
    (lambda p: np.sum(np.array(p) * 2.0) * p[1], [0.7, 1.3]),
    (lambda p: np.dot(p, p), [0.7, 1.3]),
    (lambda p: np.max(p) * p[0], [0.7, 1.3]),
    (lambda p: np.sum(np.sin(p)), [0.7, 1.3]),
    (lambda p: np.sum(np.stack(p)) * p[0], [0.7, 1.3]),
    (lambda p: np.sum(np.ones(2) * p), [0.7, 1.3]),
    (lambda p: sorted(p)[0] * p[1], [0.7, 1.3]),
    (lambda p: max(p) * p[0], [0.7, 1.3]),
]


def agree(gradient: Any, expected: Any) -> None:
    """Compare trees of gradients."""
    if isinstance(expected, dict):
        for key in expected:
            agree(gradient[key], expected[key])
    elif isinstance(expected, (list, tuple)):
        for a, b in zip(gradient, expected, strict=True):
            agree(a, b)
    else:
        np.testing.assert_allclose(gradient, expected, rtol=2e-6, atol=2e-6)


def expected_gradient(f: Callable[..., Any], x: Any) -> Any:
    if not dataclasses.is_dataclass(x):
        return numeric_gradient(f, (x,))
    names = [field.name for field in dataclasses.fields(x)]
    gradient = numeric_gradient(lambda values: f(type(x)(*values)), ([getattr(x, name) for name in names],))
    return dict(zip(names, gradient, strict=True))


def never_silent(f: Callable[..., Any], x: Any) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gradient = grad(f)(copy.deepcopy(x))
    except UnsupportedError as error:
        assert error.violations
        for violation in error.violations:
            assert violation.place is not None
            assert violation.remedy
        return
    except S2SADError as error:
        assert str(error)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = expected_gradient(f, x)
    agree(vars(gradient) if dataclasses.is_dataclass(gradient) else gradient, expected)


def by_line(value: Any) -> str:
    return f"line{value.__code__.co_firstlineno}" if hasattr(value, "__code__") else ""


@pytest.mark.parametrize("f", SCALAR, ids=by_line)
def test_of_a_number(f: Callable[..., Any]) -> None:
    never_silent(f, 0.7)


@pytest.mark.parametrize("f", VECTOR, ids=by_line)
def test_of_an_array(f: Callable[..., Any]) -> None:
    never_silent(f, V)


@pytest.mark.parametrize(("f", "x"), RECORDS, ids=by_line)
def test_of_containers_and_records(f: Callable[..., Any], x: Any) -> None:
    never_silent(f, x)
