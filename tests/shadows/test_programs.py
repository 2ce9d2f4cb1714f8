"""Gradients by the interpreter with shadows, against differences."""

from __future__ import annotations

import pytest

from tests.shadows.cases import cases
from tests.shadows.judge import of_matrix, of_module, of_random

CASES = cases()
#: Programs in which the compiler may refuse: shared memory, methods that Python calls, stores to the module.
MATRIX = range(4_000_000, 4_000_060)
RANDOM = range(500, 514)


@pytest.mark.parametrize("name", CASES)
def test_small_programs(name: str) -> None:
    found = of_module(CASES[name])
    assert found.kind == ("unsupported" if name.endswith(", refused") else "right"), found.message


def test_programs_of_the_matrix() -> None:
    found = {index: of_matrix(index) for index in MATRIX}
    bad = {index: v.message for index, v in found.items() if v.kind in ("wrong", "crash")}
    assert not bad
    assert sum(v.kind == "right" for v in found.values()) > 0.9 * len(found)


@pytest.mark.parametrize("level", [1, 2])
def test_random_programs(level: int) -> None:
    found = {seed: of_random(seed, level, 2 + seed % 13) for seed in RANDOM}
    bad = {seed: v.message for seed, v in found.items() if v.kind in ("wrong", "crash")}
    assert not bad
    assert sum(v.kind == "right" for v in found.values()) > 0.8 * len(found)


#: Programs of the matrix that were wrong once.
@pytest.mark.parametrize(
    "index",
    [
        4507060,  # __set_name__, which Python calls as a class is made
        5169529,  # __hash__, which a display of a dict calls
        1784851,  # an argument that is the module's array, which is written
        9077018,  # np.median with overwrite_input, which reads before it writes
        5000306,  # __getattribute__, which isinstance asks
        5000355,  # np.fromiter over a generator that writes
        5260299,  # np.concatenate into an array that is read as it is written
        407746,  # a closure made with the module, which rebinds its cell
        8208517,  # max with a key that writes
    ],
)
def test_found(index: int) -> None:
    found = of_matrix(index)
    assert found.kind in ("right", "unsupported"), found.message


@pytest.mark.parametrize(("seed", "size"), [(5074321, 7), (7860631, 14)])
def test_found_random(seed: int, size: int) -> None:
    """A store through a stopped name; a masked store of nothing."""
    found = of_random(seed, 2, size)
    assert found.kind == "right", found.message
