"""Every public function of NumPy has a rule, is constant, or is refused with a remedy: none is forgotten."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from s2sad import ops
from s2sad.ops import spec
from s2sad.ops.classification import REFUSED, remedy


def public(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """The callables of ``module`` that are neither types nor private, by their full names."""
    found = {}
    for name in dir(module):
        value = getattr(module, name)
        if not name.startswith("_") and callable(value) and not isinstance(value, type):
            found[f"{module.__name__}.{name}"] = value
    return found


def series() -> dict[str, Callable[..., Any]]:
    """The functions of series in `numpy.polynomial`."""
    found = {}
    for kind in ("polynomial", "chebyshev", "legendre", "hermite", "hermite_e", "laguerre"):
        module = getattr(np.polynomial, kind)
        names = {f"{module.__name__}.{name}" for name in module.__all__}
        found.update(
            {name: f for name, f in public(module).items() if name in names and f.__module__ == module.__name__}
        )
    return found


FUNCTIONS = {
    **public(np),
    **public(np.linalg),
    **public(np.fft),
    **public(np.lib.scimath),
    **public(np.lib.stride_tricks),
    **series(),
}


def classes(name: str, function: Callable[..., Any]) -> list[str]:
    found = []
    if ops.find(function) is not None:
        found.append("rule")
    if ops.is_constant(function):
        found.append("constant")
    entry = ops.spec_of(function)
    if entry is not None and entry.remedy is not None:
        found.append("refused")
    if entry is not None and entry.writes:
        found.append("writing")
    return found


def test_every_function_is_in_exactly_one_class() -> None:
    wrong = {name: classes(name, f) for name, f in FUNCTIONS.items() if len(classes(name, f)) != 1}
    assert not wrong


def test_there_is_something_to_class() -> None:
    assert len(FUNCTIONS) > 400


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("numpy.sin", "rule"),
        ("numpy.matmul", "rule"),
        ("numpy.concat", "rule"),
        ("numpy.permute_dims", "rule"),
        ("numpy.linalg.trace", "rule"),
        ("numpy.linalg.solve", "rule"),
        ("numpy.floor", "constant"),
        ("numpy.argmax", "constant"),
        ("numpy.zeros_like", "constant"),
        ("numpy.linalg.test", "refused"),
        ("numpy.setdiff1d", "refused"),
        ("numpy.histogram2d", "rule"),
        ("numpy.put", "writing"),
        ("numpy.polynomial.chebyshev.chebval", "rule"),
        ("numpy.polynomial.chebyshev.chebfit", "rule"),
        ("numpy.polynomial.chebyshev.chebdiv", "refused"),
    ],
)
def test_some_functions_are_where_they_belong(name: str, expected: str) -> None:
    assert classes(name, FUNCTIONS[name]) == [expected]


def test_a_refused_function_has_a_remedy() -> None:
    assert all(text and not text.endswith(".") for text in REFUSED.values())
    assert "np.linspace" in (remedy(np.histogram_bin_edges) or "")
    assert remedy(np.sin) is None
    assert remedy(len) is None


def test_refused_names_are_names_of_numpy() -> None:
    gone = {name for name in REFUSED if name not in FUNCTIONS}
    # Present in some of the supported versions only.
    assert gone <= {f"numpy.{name}" for name in ("in1d", "row_stack", "trapz", "cumulative_prod", "cumulative_sum")}


def test_constant_functions_do_not_change_under_small_changes() -> None:
    x = np.array([0.31, -1.27, 2.43])
    for f in (np.argsort, np.argmax, np.shape, np.zeros_like, np.isreal, np.spacing, np.floor, np.count_nonzero):
        assert spec.is_constant(f)
        np.testing.assert_array_equal(f(x), f(x + 1e-9))


def test_an_unknown_function_is_in_no_class() -> None:
    assert ops.find(print) is None
    assert not ops.is_constant(print)
    assert not ops.is_constant(np.random.default_rng)
