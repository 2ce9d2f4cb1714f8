"""The hand-written gradients are right: otherwise the benchmark would compare with a wrong thing."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from s2sad import grad

from .called import CALLED
from .case import Case
from .cases import CASES
from .inplace import assert_slope, run_kernel
from .kernels import KERNELS, SMALL
from .operations import OPERATIONS
from .orders import AIMS, HAND, run_case
from .timing import WrongGradientError

ALL = {**CASES, **CALLED, **{f"small_{name}": case for name, case in SMALL.items() if case.hand is not None}}


# a step that hardly ever takes one of 6,000 rectified units across its kink
STEP = {"mlp3_softmax": 1e-5, "logistic_map": 1e-4}


def directional_difference(case: Case, args: tuple[Any, ...], direction: dict[int, Any], h: float) -> float:
    """Central difference of the primal along `direction`, extrapolated twice (Richardson): error O(h^6)."""

    def central(step: float) -> float:
        values = []
        for sign in (1.0, -1.0):
            moved = list(copy.deepcopy(args))
            for argnum, d in direction.items():
                moved[argnum] = moved[argnum] + sign * step * d
            values.append(case.primal(*moved))
        return float(values[0] - values[1]) / (2.0 * step)

    d1, d2, d4 = central(h), central(h / 2), central(h / 4)
    r1, r2 = (4 * d2 - d1) / 3, (4 * d4 - d2) / 3
    return (16 * r2 - r1) / 15


def assert_gradient(case: Case, gradient: Any, args: tuple[Any, ...]) -> None:
    """Along single coordinates and along random directions of every argument."""
    argnums = (case.argnums,) if isinstance(case.argnums, int) else case.argnums
    gradients = (gradient,) if isinstance(case.argnums, int) else gradient
    assert len(gradients) == len(argnums)
    rng = np.random.default_rng(7)
    h = STEP.get(case.name, 1e-3)
    for argnum, g in zip(argnums, gradients, strict=True):
        shape = np.shape(args[argnum])
        assert np.shape(g) == shape
        size = int(np.prod(shape))
        directions = [rng.standard_normal(shape) / np.sqrt(size) for _ in range(3)]
        for index in rng.choice(size, min(size, 12), replace=False):
            unit = np.zeros(size)
            unit[index] = 1.0
            directions.append(unit.reshape(shape))
        scale = float(np.max(np.abs(g)))
        for d in directions:
            expected = directional_difference(case, args, {argnum: d}, h)
            # a difference is known no better than its values, which are rounded once for every term of their sums
            noise = 1e-8 * scale + 1e-13 * size + 1e-14 / h
            np.testing.assert_allclose(np.sum(g * d), expected, rtol=1e-7, atol=noise)


@pytest.mark.parametrize("name", [name for name in ALL if not name.endswith("1e6")])
def test_hand_gradient(name: str) -> None:
    case = ALL[name]
    assert case.hand is not None
    args = case.make_args()
    before = copy.deepcopy(args)
    gradient = case.hand(*args)
    for now, then in zip(args, before, strict=True):
        np.testing.assert_array_equal(now, then)  # a gradient leaves its arguments as they were
    assert_gradient(case, gradient, args)
    if case.expert is not None:
        assert_gradient(case, case.expert(*args), args)


@pytest.mark.parametrize("name", ["scalar_chain_20", "rosenbrock_100", "small_cholesky"])
def test_wrong_gradient_is_noticed(name: str) -> None:
    case = ALL[name]
    assert case.hand is not None
    args = case.make_args()
    gradient = case.hand(*args)
    wrong = tuple(1.01 * g for g in gradient) if isinstance(gradient, tuple) else 1.01 * gradient
    with pytest.raises(AssertionError):
        assert_gradient(case, wrong, args)


def calls_code(x):
    exec("x[0] = 1.0")  # what nobody can differentiate
    return np.sum(x)


def test_kernel_that_is_refused_is_a_row() -> None:
    right = run_kernel(SMALL["jacobi_1d"], rounds=1, build_repeats=0)
    assert right["failed"] is False
    assert right["to_hand"].keys() == {"primal", "hand", "s2sad", "control"}
    assert right["peak_bytes"].keys() == {"primal", "hand", "s2sad"}
    refused = run_kernel(Case("calls_code", calls_code, None, lambda: (np.ones(3),)), rounds=1, build_repeats=0)
    assert refused["failed"] == "refused"
    assert refused["to_primal"].keys() == {"primal"}


def test_wrong_slope_is_noticed() -> None:
    case = SMALL["heat_3d"]
    args = case.make_args()
    assert case.hand is not None
    a_bar, b_bar = case.hand(*args)
    assert_slope(case, args, (a_bar, b_bar))
    with pytest.raises(WrongGradientError):
        assert_slope(case, args, (a_bar, 1.01 * b_bar))


@pytest.mark.parametrize("name", [case.name for case in CASES.values() if case.primal in HAND])
def test_hand_tangent(name: str) -> None:
    """`run_case` compares tangents, by hand and not, with the gradient, and products with Hessians with differences."""
    if not name.endswith("1e6"):
        assert run_case(CASES[name], rounds=1).keys() == AIMS.keys()


def test_small_kernels_are_the_benchmarked_ones() -> None:
    assert SMALL.keys() == KERNELS.keys()
    for name, case in KERNELS.items():
        assert (case.primal, case.hand) == (SMALL[name].primal, SMALL[name].hand)


@pytest.mark.parametrize("name", OPERATIONS)
def test_single_operations(name: str) -> None:
    function, args = OPERATIONS[name]
    direction = np.random.default_rng(3).normal(size=np.shape(args[0]))
    if name in ("linalg.cholesky", "linalg.eigh", "linalg.eigvalsh"):
        direction = direction + direction.T
    value, gradient = function(*args), grad(function)(*args)
    found = float(np.sum(gradient * direction))
    expected = directional_difference(
        Case(name, function, None, lambda: args), args, {0: direction}, 1e-8 if name == "sort" else 1e-5
    )
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-6 * abs(value))
