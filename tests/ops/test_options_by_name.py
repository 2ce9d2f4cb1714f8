"""Options of which it is known only at run time whether they are None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import check_grads
from tests.transform.remaining import check_both_modes

X = np.array([0.7, 1.3, -0.4])
WAY = np.array([0.3, -1.1, 0.8])


def transposed(x: Any) -> Any:
    axes = None if x[0] > 0 else (0, 1)
    return np.sum(np.transpose(np.outer(x, x * x), axes=axes)[0] ** 2)


def transposed_by_its_method(x: Any) -> Any:
    axes = None if x[0] > 0 else (0, 1)
    return np.sum(np.outer(x, x * x).transpose(axes)[0] ** 2)


@pytest.mark.parametrize("f", [transposed, transposed_by_its_method], ids=lambda f: f.__name__)
@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["none", "given"])
def test_axes_or_none(f: Callable[..., Any], sign: float) -> None:
    check_both_modes(f, sign * X, WAY)
    check_grads(f, (sign * X,), order=2)
