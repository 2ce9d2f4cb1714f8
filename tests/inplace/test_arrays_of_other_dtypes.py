"""What is differentiated is written into arrays whose elements carry no derivative: what is said names their kind."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.sources import function_of

MADE = {
    "np.arange(2)": True,
    "np.array([True, False])": True,
    "np.array([None, None], dtype=object)": False,
}
WRITES = ["y[0] = x[1]", "y[:] = x", "y.fill(x[0])"]


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("write", WRITES)
def test_only_integers_truncate_what_is_written(made: str, write: str) -> None:
    f = function_of(
        f"""
        def f(x):
            y = {made}
            {write}
            return x[0] * x[1] * np.sum(y)
        """
    )
    x = np.array([0.3, 0.7])
    for derivative in (lambda: grad(f)(x), lambda: jvp(f, (x,), (x,))):
        with pytest.raises(S2SADError) as caught:
            derivative()
        assert ("truncates" in str(caught.value)) == MADE[made]
