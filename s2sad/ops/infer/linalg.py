"""Linear algebra: systems, determinants, norms and factorisations."""

from __future__ import annotations

from dataclasses import replace

from s2sad.ir.types import SCALAR, Fact, made_of, scalar
from s2sad.ops.infer.common import SOME_ARRAY, Bound, Look, all_real, array_of, literal, ndim_of, operands
from s2sad.ops.infer.dtypes import precision_of_array


def solved(b: Bound, fact: Look) -> Fact | None:
    a, right = fact(b["a"]), fact(b["b"])
    if a.ndim == 2 and right.kind == "array" and right.ndim in (1, 2):
        return replace(right, real=all_real(a, right))
    if right.kind == "array" and a.ndim is not None and a.ndim > 1 and right.ndim:
        # Only one axis makes a vector of the right-hand side.
        return array_of(None, a.ndim - 1 if right.ndim == 1 else max(a.ndim, right.ndim), all_real(a, right))
    return None


def of_matrices(b: Bound, fact: Look) -> Fact | None:
    """A real number for each matrix, or where the axes are kept an array."""
    x, keepdims = fact(b["x"]), literal(b["keepdims"])
    if x.ndim is None or x.ndim < 2 or not isinstance(keepdims, bool):
        return None
    return scalar(True) if x.ndim == 2 and not keepdims else array_of(None, x.ndim - (0 if keepdims else 2), True)


def determinant(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["a"])
    if a.ndim == 2:
        return scalar(a.real)
    return made_of(a.dims[:-2], a.real) if a.dims and len(a.dims) > 2 else None


def sign_and_logarithm(b: Bound, fact: Look) -> Fact | None:
    sign, a = determinant(b, fact), fact(b["a"])
    if sign is None:
        return None
    sign = replace(sign, precision=a.precision if a.precision in ("single", "double") else "")
    return Fact("record", items=(("sign", sign), ("logabsdet", replace(sign, real=True))))


def eigenvalues(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["a"])
    if a.ndim is None:
        return _of_unknown_axes(True)
    return made_of(a.dims[:-1], True) if a.dims and len(a.dims) > 1 else array_of(None, (a.ndim or 1) - 1, True)


def _of_unknown_axes(real: bool) -> Fact:
    """What is surely an array with axes, since the operand has two or more."""
    return Fact("array", real=real, extended=True)


def eigensystem(b: Bound, fact: Look) -> Fact | None:
    values, a = eigenvalues(b, fact), fact(b["a"])
    vectors = a if a.kind == "array" and a.ndim is not None else _of_unknown_axes(a.real)
    return values and _factors(a, eigenvalues=values, eigenvectors=vectors)


def _factors(a: Fact, **parts: Fact) -> Fact:
    """A named tuple of arrays that are computed in the precision of an operand."""
    precision = precision_of_array(a)
    return Fact("record", items=tuple((name, replace(part, precision=precision)) for name, part in parts.items()))


def qr(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["a"])
    whole = _of_unknown_axes(a.real) if a.ndim is None else Fact("array", None, a.ndim, a.real)
    return None if a.ndim in (0, 1) else _factors(a, Q=whole, R=whole)


def svd(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["a"])
    if a.ndim in (0, 1):
        return None
    whole, values = Fact("array", None, a.ndim, a.real), Fact("array", None, (a.ndim or 1) - 1, True)
    if a.ndim is None:
        whole, values = _of_unknown_axes(a.real), _of_unknown_axes(True)
    if literal(b["compute_uv"]) is False:
        return values
    return _factors(a, U=whole, S=values, Vh=whole) if literal(b["compute_uv"]) is True else None


def singular_values(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["x"])
    if a.ndim is None:
        return _of_unknown_axes(True)
    return None if a.ndim < 2 else Fact("array", None, a.ndim - 1, True)


def general_eigenvalues(b: Bound, fact: Look) -> Fact:
    """Complex ones, or real ones where all of a real matrix are so."""
    ndim = ndim_of(fact(b["a"]))
    return Fact("array", None, ndim - 1, real=False) if ndim and ndim > 1 else Fact("array", real=False)


def general_eigensystem(b: Bound, fact: Look) -> Fact:
    values = general_eigenvalues(b, fact)
    vectors = replace(values, ndim=None if values.ndim is None else values.ndim + 1)
    return _factors(fact(b["a"]), eigenvalues=values, eigenvectors=vectors)


def condition(b: Bound, fact: Look) -> Fact:
    x = fact(b["x"])
    if ndim_of(x) == 2:
        return scalar(True)
    return made_of(x.dims[:-2], True) if x.dims and len(x.dims) > 2 else Fact("numeric", real=True)


def least_squares(b: Bound, fact: Look) -> Fact:
    """The solution, the sums of squares that are left, the rank and the singular values."""
    right = fact(b["b"])
    real = all_real(*operands({"a": b["a"], "b": b["b"]}, fact))
    precision = precision_of_array(fact(b["a"]), right)
    solution = replace(array_of(None, ndim_of(right), real) or SOME_ARRAY, real=real, precision=precision)
    one = Fact("array", None, 1, True, precision=precision)
    return Fact("tuple", items=((0, solution), (1, one), (2, replace(SCALAR, precision="")), (3, one)))


def tensor_solution(b: Bound, fact: Look) -> Fact | None:
    a, right = fact(b["a"]), fact(b["b"])
    ndims = [ndim_of(a), ndim_of(right)]
    ndim = None if None in ndims else sum(n for n in ndims if n is not None) - 2 * (ndims[1] or 0)
    return array_of(None, ndim, all_real(a, right))


def qr_parts(b: Bound, fact: Look) -> Fact | None:
    """Both factors, or that of triangles alone; nothing is known of what LAPACK leaves."""
    mode = literal(b["mode"])
    if mode == "r":
        a = fact(b["a"])
        return array_of(None, ndim_of(a), a.real) if (ndim_of(a) or 0) > 1 else None
    return qr(b, fact) if mode in ("reduced", "complete") else None
