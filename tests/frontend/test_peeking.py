"""Calls that see the variables of a function, or the exception that is handled, are refused where that counts."""

from __future__ import annotations

import inspect
import sys
import traceback
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, value_and_grad
from tests.sources import function_of

NAMES = {"sys": sys, "traceback": traceback, "inspect": inspect}
CAUGHT = """
def f(x):
    y = x * x
    try:
        raise ValueError(y)
    except ValueError as e:
        {handled}
    return y
"""


@pytest.mark.parametrize(
    "handled",
    [
        "y = sys.exc_info()[1].args[0] * 2",
        "kind, error, trace = sys.exc_info()",
        "y = float(traceback.format_exc().split()[-1])",
        "y = sys._getframe().f_locals['y'] * 2",
        "y = inspect.currentframe().f_locals['y'] * 2",
        "y = eval('y * 2')",
        "y = vars()['y'] * 2",
    ],
)
def test_what_is_seen_unseen_is_refused(handled: str) -> None:
    with pytest.raises(S2SADError, match="unseen"):
        value_and_grad(function_of(CAUGHT.format(handled=handled), NAMES))(0.7)


@pytest.mark.parametrize(
    "handled",
    [
        "print(traceback.format_exc())",
        "traceback.print_exc()",
        "print(sys.exc_info()[1])",
        "print(e)",
        "y = y * 2",
    ],
)
def test_what_is_printed_is_not(handled: str, capsys: pytest.CaptureFixture[str]) -> None:
    f: Any = function_of(CAUGHT.format(handled=handled), NAMES)
    value, gradient = value_and_grad(f)(0.7)
    factor = 2.0 if "y * 2" in handled else 1.0
    np.testing.assert_allclose([value, gradient], [factor * 0.49, factor * 1.4], rtol=1e-15)
    printed = capsys.readouterr()
    f(0.7)
    again = capsys.readouterr()
    assert printed.out.splitlines()[-1:] == again.out.splitlines()[-1:]
