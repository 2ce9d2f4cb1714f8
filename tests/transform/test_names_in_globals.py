"""``"name" in globals()``, as of a warning that is given once: it is known, or a part of what the program sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.5, 1.5, 0.7])
SCALE = 2.0


def clipped(x: Any, most: float) -> Any:
    y = x * x
    for i in range(len(y)):
        if y[i] > most:
            y[i] = most + 0.1 * x[i]
            if "warned" not in globals():
                global warned
                warned = True
                print("clipped, which is said once")
    return np.sum(y * x)


def quiet(x: Any) -> Any:
    before = np.seterr(divide="ignore")
    y = clipped(x, 1.0) / x[0]
    np.seterr(**before)
    return y


def counted(x: Any) -> Any:
    global times
    times = times + 1.0 if "times" in globals() else 1.0
    return np.sum(x**2) * times


def with_what_is_there(x: Any) -> Any:
    if "SCALE" in globals() and "NOTHING_OF_THIS_NAME" not in globals():
        return np.sum(x**2) * SCALE
    return np.sum(x)


def of_the_function_that_asks(x: Any) -> Any:
    names = globals()
    return np.sum(x**2) if "clipped" in names else np.sum(x)


@pytest.fixture(autouse=True)
def _begins_anew() -> None:
    globals().pop("warned", None)
    globals().pop("times", None)


@pytest.mark.parametrize("f", [quiet, with_what_is_there, of_the_function_that_asks])
def test_derivatives(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, (X,))
    for known in (True, False):
        if not known:
            globals().pop("warned", None)
        np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6)
        np.testing.assert_allclose(jvp(f, (X,), (np.cos(X),))[1], expected @ np.cos(X), rtol=1e-6)


def test_what_is_said_once_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    grad(quiet)(X)
    assert globals()["warned"] is True
    grad(quiet)(X)
    assert capsys.readouterr().out.count("said once") == 1
    globals().pop("warned")
    grad(quiet)(X)
    assert capsys.readouterr().out.count("said once") == 1


def test_a_variable_that_the_program_makes() -> None:
    for n in (1.0, 2.0, 3.0):
        np.testing.assert_allclose(grad(counted)(X), 2.0 * n * X)
        assert globals()["times"] == n


def test_a_variable_that_comes_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    np.testing.assert_allclose(grad(with_what_is_there)(X), 4.0 * X)
    monkeypatch.setitem(globals(), "NOTHING_OF_THIS_NAME", 1.0)
    np.testing.assert_allclose(grad(with_what_is_there)(X), np.ones(3))


def test_numpys_error_state_is_what_it_was() -> None:
    before = np.geterr()
    grad(quiet)(X)
    assert np.geterr() == before
    assert "np.seterr(" in grad(quiet).source_for(X)
