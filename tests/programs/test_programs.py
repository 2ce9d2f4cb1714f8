"""The programs of this folder: gradients beside differences, values bit for bit."""

from __future__ import annotations

import importlib
import pathlib
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from tests.oracle import STEP, numeric_gradient

HERE = pathlib.Path(__file__).parent
NAMES = sorted(path.stem for path in HERE.glob("*.py") if path.stem != "__init__" and not path.stem.startswith("test_"))


@pytest.mark.parametrize("name", NAMES)
def test_program(name: str) -> None:
    program: Any = importlib.import_module(f"tests.programs.{name}")
    args = program.ARGUMENTS
    step = getattr(program, "STEP", STEP)
    for i in range(len(args)):
        value, gradient = value_and_grad(program.loss, argnums=i)(*args)
        assert np.array_equal(value, program.loss(*args))
        np.testing.assert_allclose(gradient, numeric_gradient(program.loss, list(args), i, step), rtol=1e-6, atol=1e-7)
    gradients = grad(program.loss, argnums=tuple(range(len(args))))(*args)
    assert len(gradients) == len(args)
