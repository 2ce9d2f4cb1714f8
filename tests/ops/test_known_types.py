"""The types of results that people use are known, and not only not wrong: texts without them ask as they run.

That what is claimed is true is the matter of ``test_claims.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial import distance

from s2sad.analysis.evaluate import evaluate
from s2sad.ir.nodes import Var
from s2sad.ir.types import Fact, sized
from s2sad.runtime import drawing
from tests.ops.claims import Operands, function_form

V, M = np.array([0.3, 0.5, 0.9]), np.arange(1.0, 13).reshape(4, 3)
Q = np.diag([1.0, 2.0, 4.0])
ROW, ROWS = [0.5, 1.5], [[1.0, 0.5], [0.5, 2.0]]

CALLS: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    # Python's own functions run through the rows of an array.
    (sum, (V,), {}), (sum, (M,), {}), (max, (V,), {}), (min, (V,), {}),
    # Lists that NumPy takes for arrays.
    (np.diag, (ROW,), {}), (np.diag, (tuple(ROW),), {}), (np.linalg.inv, (ROWS,), {}), (np.linalg.det, (ROWS,), {}),
    (np.linalg.solve, (ROWS, V[:2]), {}), (np.cos, (ROW,), {}), (np.add, (ROW, 1.0), {}), (np.outer, (ROW, V), {}),
    (np.trace, (ROWS,), {}), (np.cumsum, (ROW,), {}), (np.sort, (ROW,), {}), (np.concatenate, ([V, ROW],), {}),
    (np.stack, ([ROW, V[:2]],), {}), (np.array, ([V[0], 1.0],), {"ndmin": 2}), (np.array, (V,), {"ndmin": 2}),
    # Sizes decide on the number of axes.
    (np.expand_dims, (V, (0, 2)), {}),
    (np.moveaxis, (M, (0, 1), (1, 0)), {}), (np.linalg.matrix_norm, (Q,), {}),
    (np.linalg.matrix_norm, (Q,), {"keepdims": True}),
    # What is constant decides on the types of what is computed with it.
    (np.round, (V, 2), {}), (np.around, (M,), {}), (np.tri, (3,), {}), (np.eye, (3,), {"dtype": np.float32}),
    (np.interp, (0.4, V, V), {}), (np.angle, (V + 1j,), {}), (distance.cdist, (M, M), {}), (distance.pdist, (M,), {}),
    (drawing.normal, (np.random.default_rng(0),), {"size": 3}),
    (drawing.uniform, (np.random.default_rng(0), 0.0, V[:2]), {"size": (3, 2)}),
]  # fmt: skip


def known_of(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Fact:
    operands = Operands()
    call = function_form(function).call(
        tuple([operands(a) for a in args]), tuple([(k, operands(v)) for k, v in kwargs.items()])
    )
    return evaluate(call, operands.of, {})


@pytest.mark.parametrize(("function", "args", "kwargs"), CALLS, ids=lambda x: getattr(x, "__name__", ""))
def test_the_type_of_a_result_is_known(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    found, value = known_of(function, args, kwargs), function(*args, **kwargs)
    kind = "array" if isinstance(value, np.ndarray) else "scalar"
    assert (found.kind, found.ndim, found.real) == (kind, np.ndim(value), not np.iscomplexobj(value))
    assert found.precision != ""


@pytest.mark.parametrize(("args", "axes"), [((V, M), 2), ((M, 0.5), 0), ((V, ROW), 1)])
def test_positions_have_the_shape_of_what_is_placed(args: tuple[Any, Any], axes: int) -> None:
    for function, given in ((np.searchsorted, (V, args[1])), (np.digitize, (args[1], V))):
        found = known_of(function, given, {})
        assert (found.ndim, found.real) == (axes, True)


AT = np.array([1, 2, 0])
PLACES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (np.setdiff1d, (AT, AT[:1])), (np.union1d, (AT, V)), (np.setxor1d, (AT, AT)), (np.intersect1d, (AT, AT)),
    (np.isin, (AT, AT[:1])), (np.flatnonzero, (V > 0.4,)), (np.argwhere, (M > 2,)), (np.argpartition, (V, 1)),
    (np.lexsort, ((V, AT),)), (np.count_nonzero, (V > 0.4,)), (np.linalg.matrix_rank, (Q,)), (np.indices, ((2, 3),)),
    (np.hanning, (5,)), (np.argsort, (M,)), (np.argmax, (V,)), (np.searchsorted, (V, 0.4)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args"), PLACES, ids=lambda x: getattr(x, "__name__", ""))
def test_the_axes_of_positions_and_sets_are_known(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    found, value = known_of(function, args, {}), function(*args)
    kind = "array" if isinstance(value, np.ndarray) else "scalar"
    assert (found.kind, found.ndim, found.real) == (kind, np.ndim(value), True)


@pytest.mark.parametrize(
    ("function", "args"), [(np.unravel_index, (AT, (2, 3))), (np.diag_indices, (3,)), (np.ix_, (AT, AT))]
)
def test_the_axes_of_several_positions_are_known(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    found, values = known_of(function, args, {}), function(*args)
    assert [(f.kind, f.ndim) for _, f in found.items or ()] == [("array", v.ndim) for v in values]


@pytest.mark.parametrize(("size", "axes"), [("n0f3", 1), ("k3", 1), ("n0f2", None), ("n0", None)])
def test_crossed_vectors_of_three_numbers_are_vectors(size: str, axes: int | None) -> None:
    """Of two, there is one number."""
    call = function_form(np.cross).call((Var("a.1"), Var("b.1")), ())
    assert evaluate(call, dict.fromkeys(("a.1", "b.1"), sized((size,), True)), {}).ndim == axes


@pytest.mark.parametrize("widths", [1, (1, 2), (2,), ((1, 1), (0, 2)), ((1, 2),)])
def test_padded_arrays_have_known_sizes(widths: Any) -> None:
    assert len(known_of(np.pad, (M, widths), {}).dims or ()) == 2


@pytest.mark.parametrize("whole", [V[:0], M[:0]])
def test_sums_of_no_rows_are_the_number_0(whole: Any) -> None:
    assert sum(whole) == 0
    assert known_of(sum, (whole,), {}).kind == "open"
