"""What holds for every test: the compiler's verifier is on, and nothing depends on the machine's speed or screen."""

from __future__ import annotations

import gc
import os

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


@pytest.fixture(scope="module", autouse=True)
def only_new_garbage() -> None:
    """Collections of garbage look through what the tests of one file have made, not all that others left."""
    gc.freeze()
