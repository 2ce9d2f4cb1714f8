"""What the table of operations claims, against NumPy itself, over layouts and dtypes; and that wrong claims fail."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from scipy.sparse import csgraph

from s2sad import ops
from s2sad.analysis import evaluate as types_of_results
from s2sad.errors import UndefinedDerivativeError
from s2sad.frontend import operators
from s2sad.ir.types import Fact
from s2sad.ops import spec
from s2sad.ops.infer import bounds
from s2sad.ops.infer.common import LowerBound
from s2sad.ops.spec import OpSpec, sample
from tests.operations import some_of_distributions
from tests.ops.claims import (
    INDEX,
    LAYOUTS,
    Form,
    Point,
    attribute_form,
    function_form,
    layouts,
    method_form,
    wrong_bounds,
    wrong_claims,
)
from tests.oracle import tree_map
from tests.trees import leaves

SPECS = list(spec.specs())
SOME = ("as given", "0-d", "number", "size 1", "subclass", "float32", "complex")
SAME_SHAPE = ("as given", "fortran", "negative strides", "read-only", "strided", "float32", "complex", "integers")
X, Y, M = np.array([0.5, -1.5, 2.5]), np.array([1.5, 0.25, -0.75]), np.arange(1.0, 7).reshape(2, 3)
#: Arguments for the operations that have no samples: of each, those that it takes are tried.
ANY = [
    *(sample(a) for a in (X, M, M[0, 0], 1.5, 3, (2, 3), [X, Y], X > 0, X.astype(int))),
    *(sample(*two) for two in ((X, Y), (X, 1), (M, 0), (3, 2), (X > 0, Y > 0), ((1, 2), (2, 3)), (X, X > 0))),
    sample(float, int),
    sample(X, float),
]


def found_at(form: Form, points: Iterable[Point]) -> list[str]:
    """The wrong claims at any of some calls, with the first call at which each shows."""
    found: dict[str, str] = {}
    for point in points:
        for literals in (True, False) if point.layout == "as given" else (True,):
            for wrong in wrong_claims(form, point, literals):
                found.setdefault(wrong, f"{wrong}: {form.name} of {point}")
    return list(found.values())


#: Where functions are integrated, or solved for, which takes long.
SLOW = ("scipy.integrate.", "scipy.optimize.", "s2sad.runtime.scipy.integrals.", "s2sad.runtime.scipy.paths.")
#: Layouts of operands at which SciPy ends the process, or others' memory is read.
FATAL = {"scipy.optimize.nnls": ("size 0",), "numpy.lib.stride_tricks.as_strided": tuple(LAYOUTS)}


def points_of(entry: OpSpec) -> Iterator[Point]:
    """The samples in all layouts; of a helper, which gets operands that fit together, in those of the same shape."""
    own = entry.name.startswith("s2sad.")
    samples = entry.samples()
    # Of what is refused nothing is claimed, unless it is a universal function.
    silent = own or samples or not (entry.constant or isinstance(entry.function, np.ufunc))
    for s in [] if silent else [s for s in ANY if len(s.args) <= inputs(entry.function)]:
        yield from layouts(s.args, s.kwargs)
    for i, s in enumerate(samples):
        some = SOME[:1] if i and entry.name.startswith(SLOW) else SAME_SHAPE if own else SOME if i else None
        fatal = FATAL.get(entry.name, ())
        yield from (p for p in layouts(s.args, s.kwargs, some) if p.layout.removeprefix("first ") not in fatal)


def inputs(function: Callable[..., Any]) -> int:
    """How many arguments a function may be given by position that are not ``out``."""
    if isinstance(function, np.ufunc):
        return function.nin
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return 99
    return names.index("out") if "out" in names else 99


def identity(entry: OpSpec) -> str:
    return entry.name


@pytest.mark.parametrize("entry", list(some_of_distributions(SPECS, 12)), ids=identity)
def test_what_is_claimed_of_a_result_is_true(entry: OpSpec) -> None:
    assert not found_at(function_form(entry.function), points_of(entry))


METHODS = [(name, f) for name, _ in spec.named() if (f := ops.function_of("method", name)) is not None]


@pytest.mark.parametrize(("name", "function"), METHODS, ids=[name for name, _ in METHODS])
def test_what_is_claimed_of_a_method_is_true(name: str, function: Callable[..., Any]) -> None:
    entry = spec.spec_of(function)
    assert entry is not None
    points = (p for p in points_of(entry) if p.args and isinstance(p.args[0], (np.ndarray, np.generic)))
    assert not found_at(method_form(name, function), points)


@pytest.mark.parametrize(
    ("name", "args"), [("reshape", (3, 2)), ("reshape", (-1,)), ("reshape", ()), ("transpose", (1, 0))]
)
def test_what_is_claimed_of_gathered_arguments_is_true(name: str, args: tuple[int, ...]) -> None:
    assert not found_at(method_form(name, ops.function_of("method", name)), layouts((M, *args), {}))


ATTRIBUTES = ["T", "mT", "real", "imag", "shape"]


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_what_is_claimed_of_an_attribute_is_true(name: str) -> None:
    form = attribute_form(name, ops.function_of("attribute", name))
    for x in (X, M, M + 1j, np.array(1.5), np.ones((2, 1, 3))):
        assert not found_at(form, layouts((x,), {}))


OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow,
    "@": operator.matmul, "%": operator.mod, "//": operator.floordiv, "&": operator.and_, "|": operator.or_,
}  # fmt: skip
PAIRS = [
    *((X, Y), (M, X), (M, M.T.copy()), (X, 2.0), (2, X), (np.array(0.5), np.array(1.5)), (0.5, 2)),
    *(([X], [Y]), ((1,), (2,))),
]


@pytest.mark.parametrize("symbol", OPERATORS)
def test_what_is_claimed_of_an_operator_is_true(symbol: str) -> None:
    function = next(f for s, f in operators.BINARY.values() if s == symbol)
    form = Form("operator", symbol, function, OPERATORS[symbol])
    for pair in PAIRS:
        assert not found_at(form, layouts(pair, {}))


INDICES: list[Any] = [
    0, -1, np.int64(1), slice(None), slice(1, None), slice(None, -1), slice(None, None, -1), slice(None, None, 2),
    None, Ellipsis, (0, 1), (slice(None), 0), (0, slice(1, None)), (None, slice(None)), (Ellipsis, 0), [0, 1],
    np.array([1, 0]), np.array([[0, 1], [1, 0]]), (np.array([0, 1]), np.array([1, 0])), (0, Ellipsis),
    (slice(None), np.array([0, 1])), (np.array([0, 1]), 1), np.array([True, False]), True, np.True_,
    (0, 0, Ellipsis), np.array(1),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_what_is_claimed_of_an_item_is_true(index: Any) -> None:
    for x in (np.array([0.5, 1.5]), M, np.ones((2, 2, 3))):
        points = (p for p in layouts((x, index), {}) if not p.layout.startswith("others"))
        assert not found_at(INDEX, points)


def test_an_item_of_a_display_has_the_type_of_what_stands_there() -> None:
    for whole in ([X, M], (X, 1.5), [[0.5], [True]]):
        for index in (0, 1, -1):
            assert not found_at(INDEX, layouts((whole, index), {}))


# --- values ---


def wrong_bounds_of(entry: OpSpec) -> list[str]:
    """The lower bounds that do not hold at any sample, nor where both operands are one."""
    found: list[str] = []
    for point in points_of(entry):
        points = [point]
        if len(point.args) == 2 and not point.kwargs:
            points += [Point((operand, operand)) for operand in point.args]
        for each in points:
            for literals in (True, False):
                found += wrong_bounds(function_form(entry.function), each, literals)
    return found


def not_zeros(entry: OpSpec) -> list[Any]:
    """What an operation gives at its samples that is not zero."""
    results = []
    for s in entry.samples():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.append(entry.function(*s.args, **s.kwargs))
    return [part for result in results for _, part in leaves(result) if np.any(part)]


@pytest.mark.parametrize("entry", [s for s in SPECS if s.lower_bound is not None], ids=identity)
def test_results_are_never_below_their_bound(entry: OpSpec) -> None:
    assert not wrong_bounds_of(entry)


@pytest.mark.parametrize("entry", [s for s in SPECS if s.zeros], ids=identity)
def test_what_is_said_to_be_zeros_is(entry: OpSpec) -> None:
    assert entry.samples()
    assert not not_zeros(entry)


def of_contents(entry: OpSpec) -> list[Point]:
    """The calls whose result is another one where the operands have other contents in the same shapes."""

    def changed(x: Any) -> Any:
        return np.flip(x) - 1.5 if isinstance(x, np.ndarray) and x.dtype.kind in "fc" else x

    found = []
    for point in points_of(entry):
        other = tree_map(changed, point.args)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                before, after = entry.function(*point.args, **point.kwargs), entry.function(*other, **point.kwargs)
            except (TypeError, ValueError):
                continue
        if not np.array_equal(before, after):
            found.append(point)
    return found


@pytest.mark.parametrize("entry", [s for s in SPECS if s.measures], ids=identity)
def test_what_measures_knows_nothing_of_contents(entry: OpSpec) -> None:
    assert not of_contents(entry)


@pytest.mark.parametrize("function", [np.max, np.sum, np.argmax, np.count_nonzero, np.transpose])
def test_what_knows_contents_fails(function: Callable[..., Any]) -> None:
    entry = spec.spec_of(function)
    assert entry is not None
    assert of_contents(entry)


# --- what gives several results ---

#: Calls with several results, and with one, where no sample is such a call.
_MATRIX = np.array([[2.0, 1.0], [1.0, 3.0]])
_FURTHER: dict[Callable[..., Any], list[Callable[[], Any]]] = {
    np.where: [lambda: np.where([True, False])],
    np.unravel_index: [lambda: np.unravel_index(3, (2, 2))],
    np.indices: [lambda: np.indices((2,)), lambda: np.indices((2,), sparse=True)],
    np.tril_indices: [lambda: np.tril_indices(2)],
    np.triu_indices: [lambda: np.triu_indices(2)],
    np.tril_indices_from: [lambda: np.tril_indices_from(_MATRIX)],
    np.triu_indices_from: [lambda: np.triu_indices_from(_MATRIX)],
    np.diag_indices: [lambda: np.diag_indices(2)],
    np.diag_indices_from: [lambda: np.diag_indices_from(_MATRIX)],
    np.mask_indices: [lambda: np.mask_indices(2, np.triu)],
    np.nonzero: [lambda: np.nonzero(_MATRIX)],
    np.einsum_path: [lambda: np.einsum_path("i,i", [1.0], [1.0])],
    np.average: [lambda: np.average([1.0, 2.0], returned=True)],
    np.polyfit: [lambda: np.polyfit([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], 1, full=True)],
    np.unique: [lambda: np.unique([1.0, 1.0], return_counts=True)],
    np.atleast_1d: [lambda: np.atleast_1d(1.0, 2.0)],
    np.atleast_2d: [lambda: np.atleast_2d(1.0, 2.0)],
    np.atleast_3d: [lambda: np.atleast_3d(1.0, 2.0)],
    csgraph.min_weight_full_bipartite_matching: [
        lambda: csgraph.min_weight_full_bipartite_matching(scipy.sparse.csr_array(_MATRIX))
    ],
    scipy.linalg.eigh: [lambda: scipy.linalg.eigh(_MATRIX, eigvals_only=True)],
    scipy.linalg.eig: [lambda: scipy.linalg.eig(_MATRIX, right=False)],
}


def given(entry: OpSpec) -> set[type]:
    """The classes of the containers in which a function gives several results; that of arrays for one result."""
    calls: list[Callable[[], Any]] = list(_FURTHER.get(entry.function, ()))
    calls += [functools.partial(entry.function, *point.args, **point.kwargs) for point in entry.samples()]
    found = set()
    for call in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = call()
            except (TypeError, ValueError):
                continue
        found.add(next((cls for cls in (tuple, list) if isinstance(result, cls)), np.ndarray))
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("known", [s for s in SPECS if s.only_arrays], ids=lambda s: s.name)
def test_what_makes_only_arrays_does_of_masked_ones(known: ops.OpSpec) -> None:
    """Matrices have two axes, so that few of the samples can be of them."""
    for point in known.samples():
        masked = tree_map(lambda x: np.ma.masked_array(x) if type(x) is np.ndarray else x, (point.args, point.kwargs))
        try:
            result = known.function(*masked[0], **masked[1])
        except UndefinedDerivativeError:
            continue  # it takes none
        for part in result if isinstance(result, tuple) else (result,):
            assert type(part) is np.ndarray or isinstance(part, (np.generic, int, float, complex))


PUBLIC = [s for s in SPECS if not s.name.startswith("s2sad.") and s.makes is None]


def gives_what_is_said(entry: OpSpec) -> bool:
    found = given(entry)
    return found == set(entry.gives) if entry.gives else found <= {np.ndarray}


def test_several_results_are_in_what_is_said() -> None:
    assert not [entry.name for entry in PUBLIC if not gives_what_is_said(entry)]


# --- the test itself can fail ---


def changed(monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], **what: Any) -> OpSpec:
    """The operation with something else said of it."""
    right = spec.spec_of(function)
    assert right is not None
    wrong = dataclasses.replace(right, **what)
    monkeypatch.setitem(spec._specs, id(function), wrong)
    return wrong


def judged(entry: OpSpec) -> list[str]:
    return found_at(function_form(entry.function), points_of(entry))


def wrongly(how: Callable[[Fact], Fact], right: Any) -> Any:
    """An inference function that says something else where it knows something."""

    def infer(b: Any, types: Any) -> Fact | None:
        known = right(b, types)
        return None if known is None else how(known)

    return infer


def one_axis_more(known: Fact) -> Fact:
    return dataclasses.replace(known, ndim=(known.ndim or 0) + 1, dims=None)


def other_sizes(known: Fact) -> Fact:
    return known if not known.dims else dataclasses.replace(known, dims=("k77", *known.dims[1:]))


def a_number(known: Fact) -> Fact:
    return dataclasses.replace(known, kind="scalar")


def real(known: Fact) -> Fact:
    return dataclasses.replace(known, real=True)


WRONG_TYPES = [
    *((f, one_axis_more) for f in (np.reshape, np.cumsum, np.transpose, np.concatenate, np.zeros, np.take, np.eye)),
    *((f, other_sizes) for f in (np.transpose, np.stack, np.linalg.solve, np.zeros_like, np.eye, np.einsum, np.dot)),
    *((f, a_number) for f in (np.sum, np.array, np.where, np.matmul, np.full, np.diag, np.roll)),
    *((f, real) for f in (np.sum, np.reshape, np.matmul, np.concatenate, np.linalg.inv, np.full, np.kron)),
]


@pytest.mark.parametrize(("function", "how"), WRONG_TYPES, ids=lambda f: f.__name__)
def test_a_wrong_type_fails(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], how: Callable[[Fact], Fact]
) -> None:
    entry = spec.spec_of(function)
    assert entry is not None
    assert judged(changed(monkeypatch, function, infer=wrongly(how, entry.infer)))


@pytest.mark.parametrize(
    ("function", "dtype"),
    [(np.sum, "double"), (np.linspace, "double"), (np.zeros_like, "double"), (float, "operands"), (np.argmax, "float")],
)
def test_a_wrong_precision_fails(monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], dtype: str) -> None:
    assert judged(changed(monkeypatch, function, dtype=dtype))


def test_what_gives_booleans_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged(changed(monkeypatch, bool, dtype="inferred"))


@pytest.mark.parametrize(
    "function",
    [np.reshape, np.ravel, np.transpose, np.split, np.diagonal, np.broadcast_to, np.asarray, np.flip, np.squeeze],
    ids=lambda f: f.__name__,
)
def test_a_result_that_is_called_fresh_and_shares_memory_fails(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any]
) -> None:
    entry = changed(monkeypatch, function, result="fresh", closer=None)
    assert any("not fresh" in wrong for wrong in judged(entry))


@pytest.mark.parametrize("function", [np.cumsum, np.copy, np.ravel, np.concatenate, np.zeros_like, np.dot])
def test_a_result_that_is_called_a_view_and_is_none_fails(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any]
) -> None:
    entry = changed(monkeypatch, function, result="view", closer=None)
    assert any("view" in wrong for wrong in judged(entry))


@pytest.mark.parametrize(
    ("function", "bound"),
    [
        (np.sin, bounds.not_negative), (np.floor, bounds.not_negative), (np.negative, bounds.root),
        (np.minimum, bounds.larger), (np.subtract, bounds.added), (np.multiply, bounds.added),
        (np.add, bounds.multiplied), (np.divide, bounds.multiplied), (np.matmul, bounds.added),
        (np.sum, bounds.not_negative), (np.mean, bounds.not_negative), (np.std, bounds.root),
        (np.outer, bounds.added), (np.cross, bounds.multiplied), (np.logaddexp, bounds.multiplied),
        (np.arctan2, bounds.raised), (np.log, bounds.total), (np.subtract, bounds.multiplied),
    ],
)  # fmt: skip
def test_a_wrong_bound_fails(monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], bound: LowerBound) -> None:
    assert wrong_bounds_of(changed(monkeypatch, function, lower_bound=bound))


@pytest.mark.parametrize("function", [np.add, np.sqrt, np.conjugate, np.sign])
def test_what_is_called_real_and_is_not_fails(monkeypatch: pytest.MonkeyPatch, function: np.ufunc) -> None:
    entry = spec.spec_of(function)
    assert entry is not None
    assert not judged(entry)
    monkeypatch.setattr(types_of_results, "_reality", lambda function: True)
    assert judged(entry)


@pytest.mark.parametrize("function", [np.ones, np.ones_like, np.eye])
def test_what_is_no_zeros_fails(monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any]) -> None:
    assert not_zeros(changed(monkeypatch, function, zeros=True))


@pytest.mark.parametrize("function", [np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask])
def test_a_function_that_writes_says_so(monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any]) -> None:
    entry = spec.spec_of(function)
    assert entry is not None
    assert entry.writes == entry.parameters[:1]
    assert judged(changed(monkeypatch, function, writes=()))[0].startswith("an operand was written")


def test_a_write_that_is_not_declared_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def negated(a: Any) -> Any:
        return np.negative(a, out=a)

    right = dataclasses.replace(
        SPECS[0], function=negated, parameters=("a",), result="unknown", infer=None, writes=("a",), closer=None,
        samples=lambda: [sample(X.copy())],
    )  # fmt: skip
    monkeypatch.setitem(spec._specs, id(negated), right)
    assert not judged(right)
    wrong = changed(monkeypatch, negated, writes=())
    assert judged(wrong)[0].startswith("an operand was written")


@pytest.mark.parametrize("gives", [(), (tuple,), (list, np.ndarray), (tuple, list, np.ndarray)])
def test_wrong_containers_of_results_fail(monkeypatch: pytest.MonkeyPatch, gives: tuple[type, ...]) -> None:
    entry = changed(monkeypatch, np.linalg.qr, gives=gives)
    assert given(entry) == {tuple, np.ndarray}
    assert not gives_what_is_said(entry)


def test_rules_that_make_complex_adjoints_say_so() -> None:
    rules = [(entry, ops.find(entry.function)) for entry in SPECS]
    bodies = [(entry, rule.vjp.__code__) for entry, rule in rules if rule is not None and rule.vjp is not None]
    made = [entry for entry, code in bodies if any(type(c) is complex for c in code.co_consts)]
    assert {entry.function for entry in made} >= {np.imag, np.linalg.slogdet}
    assert [entry.function for entry in made if not entry.complex_adjoints] == []
