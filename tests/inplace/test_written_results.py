"""Results of NumPy's functions, each written through items, slices and as a whole afterwards."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2sad import value_and_grad
from tests.language.support import assert_close
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.8, -0.4, 1.2, 0.55])
MADE = [
    "np.bincount(np.array([0, 1, 1, 2, 0]), weights=x)",
    "np.compress([True, False, True, True, True], x)",
    "np.cross([1.0, 2.0, 3.0], x[1:4])",
    "np.cross(np.ones((4, 3)), x[:3])",
    "np.linalg.cross(x[:3], x[1:4])",
    "np.delete(x, 1)",
    "np.delete(B, 1, axis=0)",
    "np.diagflat(x)",
    "np.extract(x > 0, x)",
    "np.kron(x, x)",
    "np.kron(B, x)",
    "np.linalg.pinv(B)",
    "np.linalg.svdvals(B)",
    "np.linalg.svd(B, compute_uv=False)",
    "np.linalg.svd(B)[1]",
    "np.linalg.qr(B)[1]",
    "np.linalg.qr(B).R",
    "np.linalg.outer(x, x)",
    "np.linalg.multi_dot([B, B, x])",
    "np.linalg.multi_dot([B, B])",
    "np.linalg.vecdot(B, B)",
    "np.linspace(x, x * 2, 5)",
    "np.vecdot(B, B)",
    "np.nancumsum(x)",
    "np.resize(x, (2, 5))",
    "np.rollaxis(B, 1).copy()",
    "np.take(B, 1, axis=0)",
    "np.take(x, [1, 2])",
    "np.take(B, [[0, 1], [1, 2]], axis=1)",
    "np.take_along_axis(B, np.argsort(B, axis=0), axis=0)",
    "np.tensordot(B, x, axes=([1], [0]))",
    "np.trace(np.stack([B, B]), axis1=1, axis2=2)",
    "np.meshgrid(x, x)[0]",
    'np.meshgrid(x, x[:2], indexing="ij")[1]',
    "np.interp([0.1, 0.2], np.arange(5.0), x)",
    "np.column_stack([x, x])",
    "np.column_stack([B, x])",
    "np.dstack([x, x])",
    "np.dstack([B, B])",
    "np.block([[B, B], [B, B]])",
    "np.append(x, 3.0)",
    "np.array(x, copy=True)",
    "np.atleast_2d(x).copy()",
    "np.tile(x, 2)",
    "np.tile(x, (2, 1))",
    "np.rot90(B).copy()",
    "np.searchsorted([0, 1], x) * x",
    "x.take([0, 1])",
    "np.eye(5, 5) @ x",
    "np.vsplit(B, 5)[0].copy()",
    "np.isclose(x, 0) * x",
    "sum([x, x * x])",
]
TEXT = """
import numpy as np

def f(x):
    B = np.outer(x, x ** 2) + np.diag(np.arange(1.0, 6.0)) + 0.1 * np.outer(x, x)
    y = {}
    y[0] = x[1] ** 2
    y += 1.5
    y[-1:] *= y[0] * x[2]
    return np.sum(y ** 2)
"""


def program(made: str, folder: Path) -> Any:
    """The program that writes into what is made, from a file of its own."""
    path = folder / "made.py"
    path.write_text(TEXT.format(made))
    spec = importlib.util.spec_from_file_location("made", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


@pytest.mark.parametrize("made", MADE)
def test_what_a_function_makes_may_be_written(made: str, tmp_path: Path) -> None:
    f = program(made, tmp_path)
    value, gradient = value_and_grad(f)(X)
    assert value == f(X)
    assert_close((gradient,), (numeric_gradient(f, (X,)),), 1e-5)
