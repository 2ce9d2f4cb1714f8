"""What functions of SciPy return."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from s2sad.ir.nodes import Const
from s2sad.ir.types import OPEN, SCALAR, Fact, scalar
from s2sad.ops.infer.common import Bound, Infer, Look, all_real, items_of, literal, ndim_of, operands_real
from s2sad.ops.infer.linalg import general_eigenvalues


def of_right_hand_side(matrix: str) -> Infer:
    """The solution of a linear system: of the shape of ``b`` where there is one matrix."""

    def infer(b: Bound, fact: Look) -> Fact | None:
        a, right = fact(b[matrix]), fact(b["b"])
        one = a.ndim == 2 and right.kind == "array" and right.ndim
        return replace(right, real=all_real(a, right), boolean=False, size=None) if one else None

    return infer


def solved_by_factors(b: Bound, fact: Look) -> Fact | None:
    """The solution of a system whose matrix was factored: of the shape of ``b`` where there is one matrix."""
    factors, right = items_of(fact(b[next(iter(b))])), fact(b["b"])
    if not factors or ndim_of(factors[0]) != 2 or right.kind != "array" or right.ndim not in (1, 2):
        return None
    return replace(right, real=all_real(factors[0], right), boolean=False, size=None)


def arrays(count: int, of_stacks: Literal["tuple", "list"] = "list") -> Infer:
    """A tuple of this many matrices; SciPy gives a list of most stacks."""
    return lambda b, fact: _arrays(b, fact, count, of_stacks)


def statistics(*names: str) -> Infer:
    """A tuple with names for its items, of statistics of samples: of numbers where each sample is one row."""

    def infer(b: Bound, fact: Look) -> Fact:
        samples = [fact(b[name]) for name in b if name in ("x", "y", "a", "b", "popmean")]
        real, kept = all_real(*samples), literal(b.get("keepdims", Const(False)))
        one = kept is False and all(ndim_of(s) in (0, 1) for s in samples)
        number = replace(SCALAR, precision="", real=real) if one else Fact("numeric", real=real)
        return Fact("record", items=tuple([(name, number) for name in names]))

    return infer


def pair_of_statistics(b: Bound, fact: Look) -> Fact:
    """A statistic of several samples and its p-value, with names."""
    items = items_of(fact(b["samples"]))
    one = items is not None and all(ndim_of(item) == 1 for item in items)
    number = replace(SCALAR, precision="") if one else Fact("numeric", real=True)
    return Fact("record", items=(("statistic", number), ("pvalue", number)))


def _container(ndim: int, of_stacks: Literal["tuple", "list"] = "list") -> Literal["tuple", "list"]:
    return "tuple" if ndim == 2 else of_stacks


def _arrays(b: Bound, fact: Look, count: int, of_stacks: Literal["tuple", "list"] = "list") -> Fact | None:
    a = fact(b["a"])
    if a.ndim is None or a.ndim < 2:
        return None
    whole = Fact("array", None, a.ndim, a.real)
    return Fact(_container(a.ndim, of_stacks), items=tuple((i, whole) for i in range(count)))


def svd(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["a"])
    if a.ndim is None or a.ndim < 2:
        return None
    whole, values = Fact("array", None, a.ndim, a.real), Fact("array", None, a.ndim - 1, True)
    if literal(b["compute_uv"]) is False:
        return values
    return (
        Fact(_container(a.ndim), items=((0, whole), (1, values), (2, whole)))
        if literal(b["compute_uv"]) is True
        else None
    )


def eigensystem(b: Bound, fact: Look) -> Fact | None:
    """Eigenvalues and vectors of a matrix of any kind, or of each of a stack."""
    values, a = general_eigenvalues(b, fact), fact(b["a"])
    if a.ndim is None or a.ndim < 2:
        return None
    return Fact(_container(a.ndim), items=((0, values), (1, replace(values, ndim=a.ndim))))


def singular_values(b: Bound, fact: Look) -> Fact | None:
    a = fact(b["a"])
    return None if a.ndim is None or a.ndim < 2 else Fact("array", None, a.ndim - 1, True)


def qr(b: Bound, fact: Look) -> Fact | None:
    mode = literal(b["mode"])
    if mode == "r":  # of a stack it is no tuple
        return _arrays(b, fact, 1) if ndim_of(fact(b["a"])) == 2 else None
    return _arrays(b, fact, 2) if mode in ("full", "economic") else None


def factor_and_order(b: Bound, fact: Look) -> Fact | None:
    """A factor, and in what order or where in it: a truth value, or whole numbers."""
    a = fact(b["a"])
    return None if a.ndim != 2 else Fact("tuple", items=((0, Fact("array", None, 2, a.real)), (1, OPEN)))


def generalised_eigenvalues(b: Bound, fact: Look) -> Fact | None:
    axes = [ndim_of(x) for x in (fact(b["a"]), fact(b["b"])) if x.kind != "none"]
    known = [n for n in axes if n is not None and n > 1]
    return Fact("array", None, max(known) - 1, True) if len(known) == len(axes) else None


def generalised_eigensystem(b: Bound, fact: Look) -> Fact | None:
    a, values = fact(b["a"]), generalised_eigenvalues(b, fact)
    if values is None or values.ndim is None or fact(b["b"]).kind not in ("none", "array"):
        return None
    if literal(b["eigvals_only"]) is not False:
        return values if literal(b["eigvals_only"]) is True else None
    real = a.real and (fact(b["b"]).kind == "none" or fact(b["b"]).real)
    return Fact(_container(values.ndim + 1), items=((0, values), (1, Fact("array", None, values.ndim + 1, real))))


def matrix(b: Bound, fact: Look) -> Fact | None:
    """Of the shape of the first operand, which is a matrix or a stack of them."""
    a = fact(next(iter(b.values())))
    return replace(a, boolean=False, size=None) if a.kind == "array" and (a.ndim or 0) > 1 else None


def of_matrix(name: str, *others: str) -> Infer:
    """The solution of an equation for matrices: of the shape of the argument called ``name``."""

    def infer(b: Bound, fact: Look) -> Fact | None:
        q = fact(b[name])
        real = all_real(q, *(fact(b[other]) for other in others))
        flat = q.kind == "array" and all(ndim_of(fact(b[each])) == 2 for each in (name, *others))
        return replace(q, real=real, boolean=False, size=None) if flat else None

    return infer


def derivative(b: Bound, fact: Look) -> Fact | None:
    a, e = fact(b["A"]), fact(b["E"])
    alone = literal(b["compute_expm"]) is False and a.ndim == e.ndim == 2
    return Fact("array", None, 2, all_real(a, e)) if alone else None


def complex_or_real(b: Bound, fact: Look) -> Fact | None:
    """As many axes as those of the matrix, which may be real while this is complex."""
    a = fact(b["A"])
    return Fact("array", None, a.ndim, real=False) if (a.ndim or 0) > 1 else OPEN


def from_vectors(*names: str) -> Infer:
    """A matrix made of vectors."""

    def infer(b: Bound, fact: Look) -> Fact | None:
        facts = [fact(b[name]) for name in names if literal(b[name]) is not None]
        return Fact("array", None, 2, all_real(*facts)) if all(ndim_of(f) == 1 for f in facts) else None

    return infer


def from_matrices(*names: str) -> Infer:
    """A matrix made of matrices."""

    def infer(b: Bound, fact: Look) -> Fact | None:
        facts = [fact(b[name]) for name in names]
        return Fact("array", None, 2, all_real(*facts)) if all(ndim_of(f) == 2 for f in facts) else None

    return infer


def values_of_chain(b: Bound, fact: Look) -> Fact | None:
    """The eigenvalues of one symmetric tridiagonal matrix, given by its diagonals."""
    return Fact("array", None, 1, True) if ndim_of(fact(b["d"])) == ndim_of(fact(b["e"])) == 1 else None


def rotation(b: Bound, fact: Look) -> Fact | None:
    """A matrix, and a number."""
    if not ndim_of(fact(b["A"])) == ndim_of(fact(b["B"])) == 2:
        return None
    real = operands_real(b, fact)
    return Fact("tuple", items=((0, Fact("array", None, 2, real)), (1, replace(SCALAR, precision=""))))


def of_least_squares(b: Bound, fact: Look) -> Fact:
    """A solution, and a number."""
    return Fact("tuple", items=((0, Fact("array", None, 1, True)), (1, replace(SCALAR, precision=""))))


def of_least_squares_with_report(b: Bound, fact: Look) -> Fact:
    """A solution, a number, and how they were found."""
    real = all_real(fact(b["a"]), fact(b["b"]))
    number = replace(SCALAR, precision="", real=real)
    return Fact("tuple", items=((0, Fact("array", None, 1, real)), (1, number), (2, OPEN)))


def of_chain(b: Bound, fact: Look) -> Fact | None:
    """Eigenvalues, and the matrix of vectors if these are asked for."""
    values = values_of_chain(b, fact)
    if values is None or literal(b["eigvals_only"]) is True:
        return values
    both = Fact("tuple", items=((0, values), (1, Fact("array", None, 2, True))))
    return both if literal(b["eigvals_only"]) is False else None


def blocks(b: Bound, fact: Look) -> Fact | None:
    items = items_of(fact(b["arrs"]))
    flat = items is not None and all(ndim_of(item) in (0, 1, 2) for item in items)
    return Fact("array", None, 2, all_real(*items)) if items and flat else None


# --- signals


def convolved(b: Bound, fact: Look) -> Fact | None:
    """Of as many axes as both operands; without axes it may be a number."""
    x, y = fact(b["in1"]), fact(b["in2"])
    return Fact("array", None, x.ndim, all_real(x, y)) if x.ndim and x.ndim == y.ndim else None


def filtered(b: Bound, fact: Look) -> Fact | None:
    """The signal, in its shape; with a state, that is returned as well."""
    x = fact(b["x"])
    alone = literal(b.get("zi", Const(None))) is None and x.kind == "array" and x.ndim
    parts = [fact(b[name]) for name in ("b", "a", "sos") if name in b]
    return replace(x, real=all_real(x, *parts), boolean=False, size=None) if alone else None


def same_shape(b: Bound, fact: Look) -> Fact | None:
    """Of the shape of the first operand, an array with axes."""
    x = fact(next(iter(b.values())))
    real = x.real and ("weights" not in b or fact(b["weights"]).real)
    return replace(x, real=real, boolean=False, size=None) if x.kind == "array" and x.ndim else None


def same_axes(b: Bound, fact: Look) -> Fact | None:
    """Of as many axes as the first operand."""
    x = fact(next(iter(b.values())))
    return Fact("array", None, x.ndim, x.real) if x.kind == "array" and x.ndim else None


def at_points(b: Bound, fact: Look) -> Fact | None:
    """The values of an image at points, whose coordinates are in the first axis."""
    points = fact(b["coordinates"])
    known = points.kind == "array" and (points.ndim or 0) > 1
    return Fact("array", None, (points.ndim or 0) - 1, fact(b["input"]).real) if known else None


def transformed_image(b: Bound, fact: Look) -> Fact | None:
    """Of the shape of the image, if no other is asked for."""
    return same_shape(b, fact) if literal(b["output_shape"]) is None else None


def complex_numbers(b: Bound, fact: Look) -> Fact:
    """Numbers that may be complex where those before are real."""
    return Fact("open", real=False)


def response(b: Bound, fact: Look) -> Fact:
    """Frequencies, and complex numbers for them."""
    real = all_real(fact(b["b"]), fact(b["a"]))
    return Fact("tuple", items=((0, Fact("array", None, 1, real)), (1, Fact("array", None, 1, False))))


def signal_of_spectra(b: Bound, fact: Look) -> Fact:
    """Times and a signal."""
    return Fact("tuple", items=((0, Fact("array", None, 1, True)), (1, Fact("array", None, None, False))))


def spectrum(b: Bound, fact: Look) -> Fact | None:
    """Frequencies, and as many axes as the signals have."""
    facts = [fact(b[name]) for name in ("x", "y") if name in b]
    if any(f.kind != "array" or not f.ndim for f in facts):
        return None
    ndim = max(f.ndim or 0 for f in facts)
    real = all_real(*facts) and ("y" not in b or "scaling" not in b)
    # Of a signal without elements there are as many axes of frequencies as it has.
    return Fact("tuple", items=((0, Fact("array", None, None, True)), (1, Fact("array", None, ndim, real))))


def spectra(b: Bound, fact: Look) -> Fact | None:
    """Frequencies, times, and one axis more than the signal has, if that has elements."""
    return _spectra(fact(b["x"]), real=fact(b["x"]).real)


def complex_spectra(b: Bound, fact: Look) -> Fact | None:
    """The same, of complex numbers."""
    return _spectra(fact(b["x"]), real=False)


def _spectra(x: Fact, real: bool) -> Fact | None:
    if x.kind != "array" or not x.ndim:
        return None
    row = Fact("array", None, None, True)
    return Fact("tuple", items=((0, row), (1, row), (2, Fact("array", None, None, real))))


def analytic(b: Bound, fact: Look) -> Fact | None:
    x = fact(b["x"])
    return Fact("array", None, x.ndim if x.kind == "array" else None, real=False)


def integrated(*names: str) -> Infer:
    """One axis less than the samples; of one axis a number.  It is real if the arguments called ``names`` are."""

    def infer(b: Bound, fact: Look) -> Fact:
        y, x, real = fact(b["y"]), fact(b["x"]), operands_real({name: b[name] for name in names}, fact)
        if y.kind == "array" and y.ndim and (x.kind == "none" or (x.ndim or 9) <= y.ndim):
            return Fact("array", None, y.ndim - 1, real) if y.ndim > 1 else scalar(real)
        return Fact("open", real=real)

    return infer


def cumulated(b: Bound, fact: Look) -> Fact | None:
    """As many axes as the samples."""
    y, x = fact(b["y"]), fact(b["x"])
    known = y.kind == "array" and y.ndim and (x.kind == "none" or (x.ndim or 9) <= y.ndim)
    return Fact("array", None, y.ndim, operands_real(b, fact)) if known else None


def pairs(b: Bound, fact: Look) -> Fact:
    """A matrix of distances."""
    return Fact("array", None, 2, True)


def whole(b: Bound, fact: Look) -> Fact:
    """A matrix of some values."""
    return Fact("array", None, 2, fact(b["values"]).real)


def condensed(b: Bound, fact: Look) -> Fact:
    """A row of distances."""
    return Fact("array", None, 1, True)


def square_form(b: Bound, fact: Look) -> Fact:
    """A matrix of distances for a row of them, or the row for the matrix."""
    given = fact(b["X"])
    return Fact("array", None, 3 - given.ndim if given.ndim in (1, 2) else None, given.real)


def iterated_solution(b: Bound, fact: Look) -> Fact:
    """The solution, a vector, and a number that says whether it was found."""
    return Fact("tuple", items=((0, Fact("array", None, 1, real=False)), (1, replace(SCALAR, precision=""))))


def sparse_solution(b: Bound, fact: Look) -> Fact | None:
    """The solution for one right-hand side: of its shape."""
    return Fact("array", None, 1, real=False) if fact(b["b"]).kind == "array" and fact(b["b"]).ndim == 1 else OPEN


def of_vector(b: Bound, fact: Look) -> Fact | None:
    """The solution of a system, or the product with a matrix: of as many axes as the array that is given."""
    right = fact(b["b"] if "b" in b else b["x"])
    return Fact("array", None, right.ndim, real=False) if right.kind == "array" and right.ndim else OPEN


def resampled(b: Bound, fact: Look) -> Fact | None:
    """Of as many axes as the operand; with times, these are returned as well."""
    return transformed(b, fact) if literal(b["t"]) is None else None


def filtered_by(name: str) -> Infer:
    """Of as many axes as the signal, and real if the filter called ``name`` is as well."""

    def infer(b: Bound, fact: Look) -> Fact | None:
        x = fact(b["x"])
        real = all_real(x, fact(b[name]))
        return Fact("array", None, x.ndim, real) if x.kind == "array" and x.ndim else None

    return infer


def transformed(b: Bound, fact: Look) -> Fact | None:
    """Of as many axes as the operand."""
    x = fact(b["x"] if "x" in b else b["volume"])
    return Fact("array", None, x.ndim, x.real) if x.kind == "array" and x.ndim else None


# --- functions as arguments


def integral(b: Bound, fact: Look) -> Fact | None:
    """An integral with an estimate of its error."""
    plain = not literal(b.get("full_output", Const(0))) and literal(b.get("complex_func", Const(False))) is False
    return Fact("tuple", items=((0, scalar(True)), (1, scalar(True)))) if plain else None


def of_integrand(b: Bound, fact: Look) -> Fact | None:
    """What an integrand gives: a number; where a norm says that it is of several, anything."""
    return scalar(True) if literal(b.get("norm", Const(None))) is None else None


def solution_with(count: int) -> Infer:
    """A solution, and so many reports on it."""
    reports = tuple([(1 + i, OPEN) for i in range(count)])
    return lambda b, fact: Fact("tuple", items=((0, OPEN), *reports))


def _reported(found: Fact, count: int, b: Bound) -> Fact | None:
    """What is found, alone or with so many reports, as ``full_output`` says."""
    full = literal(b["full_output"])
    if full in (0, False):
        return found
    return Fact("tuple", items=((0, found), *[(1 + i, OPEN) for i in range(count)])) if full in (1, True) else None


def root(b: Bound, fact: Look) -> Fact | None:
    """A root of a function of one variable."""
    return _reported(scalar(True), 1, b)


def any_root(b: Bound, fact: Look) -> Fact | None:
    """A root of a function from a start, one for each element of that."""
    return _reported(OPEN, 1, b) if fact(b["x0"]).kind == "scalar" else None


def solution(b: Bound, fact: Look) -> Fact | None:
    """A solution of equations in several variables, which are a vector."""
    start = fact(b["x0"])
    vector = start.kind in ("list", "tuple", "scalar") or (start.kind == "array" and start.ndim in (0, 1))
    return _reported(Fact("array", None, 1, True), 3, b) if vector else None


def path(b: Bound, fact: Look) -> Fact:
    """The states of a differential equation, one row for each time; with a report of how they were found."""
    states = Fact("array", None, 2, True)
    return _reported(states, 1, b) or OPEN


def trajectory(b: Bound, fact: Look) -> Fact:
    """Times and states of a differential equation, one column for each time, and more."""
    asked = fact(b["t_eval"])
    times = Fact("array", None, 1, asked.real or asked.kind == "none")
    return Fact("tuple", items=((0, times), (1, Fact("array", None, 2, fact(b["y0"]).real)), (2, OPEN)))


def states_between(b: Bound, fact: Look) -> Fact:
    """The states of a differential equation at some times, one column for each, or at one time."""
    t = fact(b["t"])
    axes = 1 if t.kind == "scalar" else t.ndim + 1 if t.kind == "array" and t.ndim is not None else None
    return Fact("array", None, axes, fact(b["y0"]).real and t.real)


def root_and_more(b: Bound, fact: Look) -> Fact:
    """A root of a function of one variable, and how it was found."""
    return Fact("tuple", items=((0, scalar(False)), (1, OPEN)))


def solution_and_more(b: Bound, fact: Look) -> Fact:
    """A solution of equations in several variables, and how it was found."""
    return Fact("tuple", items=((0, Fact("array", real=True)), (1, OPEN)))


def of_arguments(b: Bound, fact: Look) -> Fact:
    """The adjoints of further arguments, which are one or in a tuple."""
    return _adjoint_of(fact(b["args"]))


def of_path(b: Bound, fact: Look) -> Fact:
    """The adjoints of times, span, state at the start and further arguments of a differential equation."""
    adjoints = [_adjoint_of(fact(b[name])) for name in ("times", "span", "y0", "args")]
    return Fact("tuple", items=tuple(enumerate(adjoints)))


def of_path_tangent(b: Bound, fact: Look) -> Fact | None:
    """The tangent of what solves a differential equation."""
    if fact(b["span"]).kind == "none":
        return Fact("array", None, 2, True)
    if fact(b["found"]).kind != "none":
        states = Fact("array", None, 2, True)
        return Fact("tuple", items=((0, Fact("array", None, 1, True)), (1, states), (2, SCALAR)))
    return None


def _adjoint_of(x: Fact) -> Fact:
    """The adjoint of a value: of real numbers it is like these, of rows it is a list."""
    items = items_of(x)
    if x.kind in ("tuple", "list") and items is not None:
        return Fact("list", items=tuple(enumerate(map(_adjoint_of, items))))
    if x.kind == "none":
        return SCALAR
    if x.kind == "array" and not x.ndim:
        return Fact("numeric", real=x.real)
    known = x.real and x.kind in ("scalar", "array")
    return replace(x, boolean=False, precision="", size=None) if known else OPEN


def of_solution(b: Bound, fact: Look) -> Fact:
    """The tangent of a solution."""
    return _adjoint_of(fact(b["x"]))
