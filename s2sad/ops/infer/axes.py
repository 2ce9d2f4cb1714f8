"""Operations along an axis, and those of whose results only the number of axes is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from s2sad.ir.nodes import Build, Const, Expr
from s2sad.ir.sizes import Dims, as_size, computed, is_certain, sliced
from s2sad.ir.sums import literal_size
from s2sad.ir.types import OPEN, SCALAR, Fact, made_of, scalar, sized
from s2sad.ops.infer.common import (
    Bound,
    Look,
    Types,
    all_real,
    array_of,
    axis_of,
    elementwise,
    is_flat,
    length_of,
    literal,
    ndim_of,
    numbers_of_shape,
    operands,
)
from s2sad.ops.infer.shaping import in_one_row

Rank = Callable[[Bound, Look], int | None]


# --- how many axes


def with_axes(rank: Rank) -> Callable[[Bound, Look], Fact]:
    """An array of as many axes as ``rank`` says; if that is None, of one or more; if it is 0, a number."""

    def infer(b: Bound, fact: Look) -> Fact:
        facts = operands(b, fact)
        real = all(f.kind != "open" for f in facts) and all_real(*facts)
        ndim = rank(b, fact)
        return scalar(real) if ndim == 0 else Fact("array", None, ndim, real, extended=ndim is None)

    return infer


def with_known_axes(rank: Rank) -> Callable[[Bound, Look], Fact | None]:
    """As `with_axes`, but nothing is known where ``rank`` is not."""
    made = with_axes(rank)
    return lambda b, fact: None if rank(b, fact) is None else made(b, fact)


def always(ndim: int) -> Rank:
    """This many."""
    return lambda b, fact: ndim


def same(name: str, least: int = 1) -> Rank:
    """As many as the argument called ``name``, and ``least`` of them."""

    def rank(b: Bound, fact: Look) -> int | None:
        ndim = ndim_of(fact(b[name]))
        return None if ndim is None else max(least, ndim)

    return rank


def along(name: str) -> Rank:
    """As many as the argument called ``name``, or one where it is flattened for want of an axis."""

    def rank(b: Bound, fact: Look) -> int | None:
        ndim, flattened = same(name)(b, fact), is_flat(b["axis"], fact)
        return 1 if flattened or ndim == 1 else ndim if flattened is not None else None

    return rank


def with_axes_of(name: str) -> Callable[[Bound, Look], Fact]:
    """An array of the kind of the argument called ``name``, with as many axes, or one where it is flattened."""
    made = with_axes(along(name))
    return lambda b, fact: replace(made(b, fact), real=all_real(fact(b[name])))


def most(*names: str, least: int = 0) -> Rank:
    """As many as that of the arguments which has most, all of which are known, and ``least`` of them."""

    def rank(b: Bound, fact: Look) -> int | None:
        found = [ndim_of(fact(b[name])) for name in names]
        return None if None in found else max(least, *(n for n in found if n is not None))

    return rank


def outer(b: Bound, fact: Look) -> Fact | None:
    """Of as many axes as two operands have together."""
    first, second = ndim_of(fact(b["A"])), ndim_of(fact(b["B"]))
    if first is None or second is None or not first + second:
        return Fact("numeric", real=all_real(*operands(b, fact)))
    return Fact("array", None, first + second, all_real(*operands(b, fact)))


def tiled(b: Bound, fact: Look) -> int | None:
    ndim, length = ndim_of(fact(b["A"])), length_of(fact(b["reps"]))
    return None if ndim is None or length is None else max(ndim, length) or None


def resized(b: Bound, fact: Look) -> int | None:
    return length_of(fact(b["new_shape"])) or None


def taken(b: Bound, fact: Look) -> int | None:
    ndim, places = ndim_of(fact(b["a"])), ndim_of(fact(b["indices"]))
    flat = is_flat(b["axis"], fact)
    if ndim is None or places is None or flat is None:
        return None
    return places if flat else max(ndim, 1) - 1 + places


def fewer(name: str, count: int) -> Rank:
    """As many as the argument called ``name``, which has two or more, without ``count`` of them."""

    def rank(b: Bound, fact: Look) -> int | None:
        ndim = ndim_of(fact(b[name]))
        return None if ndim is None or ndim < 2 else ndim - count

    return rank


def values_at(name: str) -> Callable[[Bound, Look], Fact | None]:
    """Of the shape of the argument called ``name``, complex if any is."""

    def infer(b: Bound, fact: Look) -> Fact | None:
        x, real = fact(b[name]), all_real(*operands(b, fact))
        sure = x.has_axes
        return replace(x, kind="array" if sure else "numeric", real=real, size=None) if x.numeric else None

    return infer


def polynomial(b: Bound, fact: Look) -> Fact | None:
    """Of the shape of the points, where there is one polynomial."""
    return values_at("x")(b, fact) if ndim_of(fact(b["p"])) == 1 else None


def series(b: Bound, fact: Look) -> Fact | None:
    """Of the shape of the points, where there is one series."""
    return values_at("x")(b, fact) if ndim_of(fact(b["c"])) == 1 else None


def divided(b: Bound, fact: Look) -> Fact:
    """The quotient of two polynomials, and what is left of the first; both real if all operands are."""
    row = Fact("array", None, 1, all_real(*operands(b, fact)))
    return Fact("tuple", items=((0, row), (1, replace(with_axes(same("u"))(b, fact), real=row.real))))


def fitted(b: Bound, fact: Look) -> Fact:
    """The coefficients of polynomials, and where that is asked for their covariances, or what is left."""
    coefficients, full, cov = with_axes(same("y"))(b, fact), literal(b["full"]), literal(b["cov"])
    if full is False and cov is False:
        return coefficients
    if full is False and cov in (True, "unscaled"):
        ndim = ndim_of(fact(b["y"]))
        covariances = Fact("array", None, None if ndim is None else ndim + 1, all_real(*operands(b, fact)))
        return Fact("tuple", items=((0, coefficients), (1, covariances)))
    if full is True:
        row, number = Fact("array", None, 1, True), replace(SCALAR, precision="")
        return Fact("tuple", items=((0, coefficients), (1, row), (2, number), (3, row), (4, number)))
    return OPEN


def complex_row(b: Bound, fact: Look) -> Fact:
    """A row of numbers that may be complex."""
    return Fact("array", None, 1, False)


def complex_numbers(b: Bound, fact: Look) -> Fact:
    """Something that may be complex."""
    return Fact("numeric", real=False)


def row_if_taken(b: Bound, fact: Look) -> Fact | None:
    """A row, where the number of derivatives or integrals is known and not zero."""
    m = literal(b["m"])
    return with_axes(always(1))(b, fact) if type(m) is int and m > 0 else None


def stored_row(b: Bound, fact: Look) -> Fact | None:
    """One number as it is, several in a row."""
    known = fact(b["values"])
    if known.kind == "scalar":
        return known
    several = known.has_axes or known.kind in ("list", "tuple")
    return Fact("array", None, 1, all_real(known)) if several else None


# --- reductions


def reduced(b: Bound, types: Types) -> Fact:
    """The first operand without the axes over which a function such as ``np.sum`` goes."""
    whole = types(b[next(iter(b))])
    if "weights" in b and types(b["weights"]).kind != "none":
        whole = replace(whole, real=whole.real and types(b["weights"]).real)
    return _reduced(whole, b, types)


def reduced_in_pairs(b: Bound, types: Types) -> Fact:
    """As `reduced`, of numbers and weights that are broadcast to one shape, or are each a row without an axis."""
    if types(b["weights"]).kind == "none":
        return reduced(b, types)
    whole = elementwise([types(b["a"]), types(b["weights"])])
    if literal(b["axis"]) is None and literal(b["keepdims"]) is not False:
        return Fact("numeric", real=whole.real)
    return _reduced(whole, b, types)


def _reduced(whole: Fact, b: Bound, types: Types) -> Fact:
    axis, keepdims = b.get("axis", Const(None)), b.get("keepdims", Const(False))
    dims = _reduced_dims(whole.dims, axis, keepdims)
    if dims is not None:
        return made_of(dims, whole.real)
    if not isinstance(keepdims, Const):
        return Fact("numeric", real=whole.real)
    if not keepdims.value:
        if isinstance(axis, Const) and axis.value is None:
            return scalar(whole.real)
        if not whole.ndim or not isinstance(axis, Const) or not isinstance(axis.value, int):
            return Fact("numeric", real=whole.real)
        if whole.ndim == 1:
            return scalar(whole.real)
        return Fact("array", None, whole.ndim - 1, whole.real)
    if whole.ndim == 0:
        return Fact("numeric", real=whole.real)
    if isinstance(axis, Const) and whole.shape:
        text = ",".join(sorted(a.name for a in whole.shape))
        kept = types.atom(f"keep({text};{axis.value})", whole.shape)
        return Fact("array" if whole.kind == "array" else "numeric", frozenset({kept}), whole.ndim, whole.real)
    return Fact("array" if whole.kind == "array" else "numeric", None, whole.ndim, whole.real)


def quantiles(b: Bound, types: Types) -> Fact:
    """As `reduced` where one quantile is asked for; of a number it may be an array."""
    a, one = types(b["a"]), "q" not in b or types(b["q"]).kind == "scalar"
    if one and (b["keepdims"] == Const(False) or (a.kind == "array" and a.ndim)):
        return reduced({**b, "weights": Const(None)}, types)
    several = ndim_of(types(b["q"])) if "q" in b else None
    if several and a.kind == "array" and b["keepdims"] == Const(False):
        rest = reduced({"a": b["a"], "axis": b["axis"]}, types)
        if rest.kind in ("scalar", "array") and rest.ndim is not None:
            return array_of(None, several + rest.ndim, a.real) or OPEN
    return Fact("numeric", real=a.real)


def trapezoids(b: Bound, types: Types) -> Fact:
    found = reduced(b, types)
    return replace(found, real=found.real and all_real(*operands(b, types)))


def _reduced_dims(dims: Dims | None, axis: Expr, keepdims: Expr) -> Dims | None:
    """The sizes that a reduction leaves."""
    if dims is None or not isinstance(keepdims, Const):
        return None
    if isinstance(axis, Build) and all(isinstance(i, Const) for i in axis.items):
        axes = [i.value for i in axis.items if isinstance(i, Const)]
    elif isinstance(axis, Const) and isinstance(axis.value, int):
        axes = [axis.value]
    elif axis == Const(None):
        axes = list(range(len(dims)))
    else:
        return None
    if not all(isinstance(a, int) and -len(dims) <= a < len(dims) for a in axes):
        return None
    gone = {a % len(dims) for a in axes}
    if keepdims.value:
        return tuple([1 if i in gone else d for i, d in enumerate(dims)])
    return tuple([d for i, d in enumerate(dims) if i not in gone])


# --- one axis


def scan(b: Bound, fact: Look) -> Fact | None:
    """Of the shape of the argument, or flat where no axis is given."""
    a, flattened = fact(b["a"]), is_flat(b.get("axis"), fact)
    if flattened:
        return in_one_row(b, fact)
    return a if a.kind == "array" and a.ndim != 0 and (flattened is not None or a.ndim == 1) else None


def averaged(b: Bound, fact: Types) -> Fact | None:
    """One result, or with ``returned`` two."""
    one = reduced(b, fact)
    if literal(b["returned"]) is False:
        return one
    return Fact("tuple", items=((0, one), (1, one))) if literal(b["returned"]) is True and one is not None else None


def unique(b: Bound, fact: Look) -> Fact | None:
    """The values, and as many arrays of integers as are asked for."""
    flat = is_flat(b["axis"], fact)
    values = with_axes(always(1) if flat else same("ar"))({"ar": b["ar"]}, fact)
    asked = [literal(b[f"return_{name}"]) for name in ("index", "inverse", "counts")]
    if not any(asked):
        return values if all(known is False for known in asked) else None
    if not all(isinstance(known, bool) for known in asked):
        return None
    integers = Fact("array", real=True, precision="")
    places = (fact(b["ar"]).ndim or None) if asked[1] and flat else None
    others = [replace(integers, ndim=places if i == 1 else 1) for i, known in enumerate(asked) if known]
    values = replace(values, boolean=fact(b["ar"]).boolean)
    return Fact("tuple", items=tuple(enumerate([values, *others])))


def named_values(names: Sequence[str]) -> Callable[[Bound, Look], Fact]:
    """A named tuple of the values, and of arrays of integers."""

    def infer(b: Bound, fact: Look) -> Fact:
        values = replace(with_axes(always(1))(b, fact), boolean=fact(b["x"]).boolean)
        return Fact("record", items=((names[0], values), *[(name, Fact("array", real=True)) for name in names[1:]]))

    return infer


def trimmed(b: Bound, fact: Look) -> Fact | None:
    """A part of an array."""
    a = fact(b["filt"])
    return array_of(None, a.ndim, a.real) if a.kind == "array" else None


def order(b: Bound, fact: Look) -> Fact | None:
    """The positions of sorted elements."""
    found = scan({"axis": Const(-1), **b}, fact) if "a" in b else None
    return found and replace(found, real=True)


def position(b: Bound, fact: Look) -> Fact | None:
    """The position of one element."""
    if "a" not in b:
        return None
    return SCALAR if literal(b.get("axis", Const(None))) is None or fact(b["a"]).ndim == 1 else None


def repeated(b: Bound, fact: Look) -> Fact | None:
    """Along an axis, or flat where none is given."""
    a, flattened = fact(b["a"]), is_flat(b["axis"], fact)
    times = numbers_of_shape(fact(b["repeats"]), b["repeats"])
    if a.dims is not None and len(a.dims) == 1 and times is not None and len(times) == 1:
        size = computed("*", as_size(times[0]), a.dims[0])
        return array_of(None if size is None else (size,), 1, a.real)
    return array_of(None, 1 if flattened or a.ndim == 1 else a.ndim if flattened is not None else None, a.real)


def tiled_in_a_row(b: Bound, fact: Look) -> Fact | None:
    """A row, several times."""
    a, times = fact(b["A"]), numbers_of_shape(fact(b["reps"]), b["reps"])
    if a.dims is None or len(a.dims) != 1 or times is None or len(times) != 1:
        return with_known_axes(tiled)(b, fact)
    size = computed("*", as_size(times[0]), a.dims[0])
    return array_of(None if size is None else (size,), 1, a.real)


def differences(b: Bound, fact: Look) -> Fact | None:
    a, n = fact(b["a"]), literal(b["n"])
    axis = axis_of(b["axis"], a.ndim or 0) if a.ndim else None
    if a.kind != "array" or axis is None or type(n) is not int or n < 1:
        return None
    real = all_real(*operands(b, fact))
    alone = b.get("prepend", Const(None)) == b.get("append", Const(None)) == Const(None)
    left = sliced(a.dims[axis], n, None) if a.dims is not None and alone else None
    if a.dims is None or left is None:
        return array_of(None, a.ndim, real)
    return sized((*a.dims[:axis], left, *a.dims[axis + 1 :]), real)


def gradients(b: Bound, fact: Look) -> Fact | None:
    """Along one axis, of the shape of the first argument; along several, as many such."""
    f, axis = fact(b["f"]), literal(b["axis"])
    if f.kind != "array" or not f.ndim or not (axis is None or isinstance(axis, (int, tuple))):
        return None
    whole = replace(f, boolean=False, size=None)
    count = f.ndim if axis is None else len(axis) if isinstance(axis, tuple) else 1
    return whole if count == 1 else Fact("tuple", items=tuple((i, whole) for i in range(count)))


def padded(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["array"])
    widths = _widths(b["pad_width"], a.ndim or 0, fact)
    if a.dims is None or len(widths) != len(a.dims):
        return array_of(None, a.ndim, a.real)
    ends = [computed("+", pair[0], pair[-1]) for pair in widths]
    dims = [computed("+", dim, end) for dim, end in zip(a.dims, ends, strict=True)]
    return array_of(None if None in dims else tuple([d for d in dims if d is not None]), a.ndim, a.real)


def _widths(given: Expr, ndim: int, fact: Look) -> list[Dims]:
    """How much is put before and after each axis; nothing where that is not known."""
    rows = given.items if isinstance(given, Build) and all(isinstance(row, Build) for row in given.items) else (given,)
    known = [numbers_of_shape(fact(row), row) for row in rows]
    pairs = [pair for pair in known if pair is not None and len(pair) <= 2]
    return [] if len(pairs) < len(rows) else pairs * ndim if len(pairs) == 1 else pairs


def covariances(b: Bound, fact: Look) -> Fact | None:
    """A matrix where there are surely several variables."""
    first, second = (fact(v) for name, v in b.items() if name in ("m", "x", "y"))
    given = [f for f in (first, second) if f.kind != "none"]
    if len(given) == 2 and first.ndim == second.ndim == 1:
        return sized((literal_size(2), literal_size(2)), all_real(*given))
    count = first.dims[0] if first.dims and len(first.dims) == 2 and literal(b["rowvar"]) is True else None
    if len(given) == 1 and count is not None and is_certain(count) and count != 1:
        return sized((count, count), first.real)
    return Fact("numeric", real=all_real(*given))
