"""What holds for every test: the compiler's verifier is on, and nothing depends on the machine's speed or screen."""

from __future__ import annotations

import gc
import os
import zlib
from collections import Counter

import pytest
from hypothesis import settings

os.environ["S2SAD_CHECK"] = "1"
os.environ["MPLBACKEND"] = "Agg"
# The test processes share the cores; the threads of each one's BLAS would compete for them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile("s2sad", deadline=None, print_blob=True, derandomize="CI" in os.environ)
settings.load_profile("s2sad")

# What the tests compile stays in memory; to look through all of it as often as Python would takes a tenth of the time.
gc.set_threshold(1_000_000, 20, 100)


#: A cross of so many cases is a large one; those of kernels, the matrix and the layout of the project are quick.
LARGE = 4
WHOLE = ("tests/kernels/", "tests/matrix/", "tests/test_project.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--every N``: of a large cross every N-th case, for continuous integration, which has ten minutes."""
    parser.addoption("--every", type=int, default=1, help="run every N-th case of the large crosses")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what ``--every`` says; which cases these are depends on their names alone."""
    every = config.getoption("--every")
    cases = Counter(item.nodeid.partition("[")[0] for item in items)
    left_out = [
        item
        for item in items
        if cases[item.nodeid.partition("[")[0]] >= LARGE
        and not item.nodeid.startswith(WHOLE)
        and zlib.crc32(item.nodeid.encode()) % every
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        skipped = set(left_out)
        items[:] = [item for item in items if item not in skipped]


@pytest.fixture(scope="module", autouse=True)
def only_new_garbage() -> None:
    """Collections of garbage look through what the tests of one file have made, not all that others left."""
    gc.freeze()
