"""Branches that are switched off by a truth value of the module, and call what no derivative could pass through."""

from __future__ import annotations

import sys
from typing import Any

import gast
import pytest

from s2sad import grad
from s2sad.errors import UnsupportedError

SHOW = False
QUIET = True
CHANGED = False


def drawn(x: float) -> Any:
    xs = [x]
    for _ in range(2):
        xs.append(xs[-1] * x)
        if SHOW:
            gast.dump(xs)
    return xs[-1]


def drawn_unless_quiet(x: float) -> Any:
    y = x**3
    if not QUIET:
        for _ in range(2):
            gast.dump(y)
    elif x > 0:
        y = y * 1.0
    return y


def rebinding() -> None:
    global CHANGED
    CHANGED = True


def drawn_by_what_changes(x: float) -> Any:
    y = x**3
    if CHANGED:
        gast.dump(y)
    return y


@pytest.mark.parametrize(("program", "name"), [(drawn, "SHOW"), (drawn_unless_quiet, "QUIET")])
def test_switched_off(program: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules[__name__]
    df = grad(program)
    assert df(2.0) == 12.0
    monkeypatch.setattr(module, name, not getattr(module, name))
    with pytest.raises((UnsupportedError, TypeError)):  # what the function itself raises
        df(2.0)
    monkeypatch.undo()
    assert df(2.0) == 12.0


def test_what_a_function_rebinds_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    df = grad(drawn_by_what_changes)
    assert df(2.0) == 12.0
    monkeypatch.setattr(sys.modules[__name__], "CHANGED", True)
    with pytest.raises(TypeError):  # what the function itself raises
        df(2.0)
