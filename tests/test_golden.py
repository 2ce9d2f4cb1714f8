"""Emitted sources as people read them: the text is what it was, and what the stored text computes is the gradient.

``S2SAD_UPDATE_GOLDENS=1 pytest tests/test_golden.py``, or ``python -m tests.golden``, writes the texts anew.
"""

from __future__ import annotations

import ast
import copy
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from tests.golden.cases import CASES, FOLDER, PRODUCTS, Case, Product
from tests.oracle import leaves, numeric_gradient, richardson_jvp

ROOT = pathlib.Path(__file__).resolve().parent.parent
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def close(got: Any, want: Any) -> None:
    """Assert that two trees of numbers agree to the accuracy of the differences, in structure and shape too."""
    for a, b in zip(leaves(got), leaves(want), strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


def stored(case: Case | Product) -> Any:
    """The function that the stored text defines, on its own."""
    text = case.path.read_text(encoding="utf-8")
    namespace: dict[str, Any] = {"__name__": case.name}
    exec(compile(text, case.path.name, "exec"), namespace)
    (*_, last) = (node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    return namespace[last]


@every_case
def test_the_text_is_what_it_was(case: Case) -> None:
    text = case.text()
    if os.environ.get("S2SAD_UPDATE_GOLDENS"):
        case.path.write_text(text, encoding="utf-8")
    assert text == case.path.read_text(encoding="utf-8")


@every_case
def test_the_stored_text_computes_the_gradient(case: Case) -> None:
    gradients = case.gradients(stored(case)(*copy.deepcopy(case.args)))
    for position, gradient in zip(case.wrt, gradients, strict=True):
        close(gradient, numeric_gradient(case.loss, case.args, position))


@every_case
def test_the_derivative_computes_the_gradient(case: Case) -> None:
    args = copy.deepcopy(case.args)
    result = case.derivative()(*args)
    for before, after in zip(leaves(case.args), leaves(args), strict=True):
        np.testing.assert_array_equal(before, after)
    if case.with_value:
        for got, want in zip(leaves(result[0]), leaves(case.function(*case.args)), strict=True):
            assert got == want
    for position, gradient in zip(case.wrt, case.gradients(result), strict=True):
        close(gradient, numeric_gradient(case.loss, case.args, position))


def test_closed_forms() -> None:
    by_name = {case.name: case for case in CASES}

    case = by_name["logsumexp"]
    (x,) = case.args
    np.testing.assert_allclose(stored(case)(x), np.exp(x) / np.sum(np.exp(x)), rtol=1e-13)

    case = by_name["stable_softmax"]
    x, target = case.args
    p = np.exp(x) / np.sum(np.exp(x), axis=1, keepdims=True)
    np.testing.assert_allclose(stored(case)(x, target), (p - target) / len(x), rtol=1e-13)

    case = by_name["logistic_regression"]
    w, b, x, y = case.args
    _, (w_bar, b_bar) = stored(case)(w, b, x, y)
    residual = 1.0 / (1.0 + np.exp(-(x @ w + b))) - y
    np.testing.assert_allclose(w_bar, x.T @ residual / len(y) + 0.1 * w, rtol=1e-13)
    np.testing.assert_allclose(b_bar, np.mean(residual), rtol=1e-13)

    assert stored(by_name["newton_sqrt"])(2.0) == pytest.approx(0.5 / np.sqrt(2.0), rel=1e-13)
    assert stored(by_name["power"])(1.3, 6) == pytest.approx(6 * 1.3**5, rel=1e-13)


def test_every_text_has_a_case() -> None:
    assert {path.name for path in FOLDER.glob("*.txt")} == {case.path.name for case in (*CASES, *PRODUCTS)}
    assert len({case.name for case in CASES}) == len(CASES)


def test_the_text_does_not_depend_on_the_process() -> None:
    program = "from tests.golden.cases import CASES\nfor case in CASES: print(case.text())"
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT, env=environment
    )
    assert done.stdout == "".join(f"{case.text()}\n" for case in CASES)


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.name)
def test_products_with_hessians(product: Product) -> None:
    text = product.text()
    if os.environ.get("S2SAD_UPDATE_GOLDENS"):
        product.path.write_text(text, encoding="utf-8")
    assert text == product.path.read_text(encoding="utf-8")
    own, rest = product.args[: product.count], product.args[product.count :]
    wanted = richardson_jvp(lambda *x: product.gradient(*x, *rest), own, product.vector)
    names = product.function.__code__.co_varnames
    dots = {f"{name}_dot": dot for name, dot in zip(names, product.vector, strict=False)}
    close(stored(product)(*product.args, **dots), wanted)
