"""Texts of gradients that are run and saved: one text serves all calls, and no module is overwritten."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import ArgumentError

V = np.array([0.7, 1.3, 0.4, 0.9])


def optional(x: Any, n: int = 3, w: Any = None, parts: Any = (1, 2)) -> Any:
    if w is None:
        w = np.ones_like(x)
    return np.sum(w * x**n) * parts[0]


def network(params: Any, x: Any) -> Any:
    for p in params[:-1]:
        x = np.tanh(x @ p["W"] + p["b"])
    last = params[-1]
    return np.sum(x @ last["W"] + last["b"])


def logarithm(L: Any) -> Any:
    return np.linalg.slogdet(L)[1]


def _run(text: str, name: str) -> Callable[..., Any]:
    space: dict[str, Any] = {}
    exec(text, space)
    found: Callable[..., Any] = space[name]
    return found


def test_saved_text_is_of_all_calls() -> None:
    f = _run(grad(optional).source, "optional_grad_x")
    np.testing.assert_allclose(f(V), 3.0 * V**2)
    np.testing.assert_allclose(f(V, 2, 2.0 * V), 4.0 * V * V)

    layers = [{"W": np.ones((2, 2)) * 0.3, "b": np.zeros(2)}, {"W": np.ones((2, 1)), "b": np.ones(1)}]
    x = np.array([[0.2, -0.4]])
    got, expected = _run(grad(network).source, "network_grad_params")(layers, x), grad(network)(layers, x)
    np.testing.assert_allclose(got[0]["W"], expected[0]["W"])
    assert _run(grad(logarithm).source, "logarithm_grad_L")(np.eye(2) * 2.0).dtype == float


def product(x: Any, y: Any) -> Any:
    return np.sum(x * y)


def test_no_module_that_is_loaded_is_overwritten(tmp_path: pathlib.Path) -> None:
    before = pathlib.Path(__file__).read_text(encoding="utf-8")
    with pytest.raises(ArgumentError, match=r"is the file of the module .*, which is loaded"):
        grad(product).save(__file__)
    assert pathlib.Path(__file__).read_text(encoding="utf-8") == before
    grad(product).save(tmp_path / "product.py")
    assert "def product_grad_x" in (tmp_path / "product.py").read_text(encoding="utf-8")
