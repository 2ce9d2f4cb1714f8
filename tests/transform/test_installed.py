"""Classes of installed packages are taken apart as those of the program are, and their members mean what they do."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad
from tests.oracle import numeric_gradient

LIBRARY = """
import numpy as np
HOOKS = []
class Smoother:
    def __init__(self, g, x=0.0):
        self.g, self.x = g, x
    def update(self, z):
        residual = z - self.x
        self.x = self.x + self.g * residual
        return self.x
    def count(self, a):
        a[0] = 2.0
        return 1.0
    def scaled(self, x):
        return self.kernel(x) * self.g
    def kernel(self, x):
        return np.sin(x)
class Other(Smoother):
    def kernel(self, x):
        return x * x
def exchange():
    for hook in HOOKS:
        hook()
BUFFER, KEPT = np.zeros(3), []
def shared(n):
    BUFFER[:] = n
    return BUFFER
def keep(a):
    KEPT.append(a)
def change(n):
    KEPT[-1][0] = n
    return 1.0
SPACES = {None: np}
def chosen(space):
    return SPACES[space]
def window(n, space=None):
    space = chosen(space)
    w = space.ones(n)
    w[1:] *= 0.5
    return w
def cleared(mask):
    mask.view(np.int8).sort()
    return mask * 2.0
"""
PROGRAM = """
import numpy as np
import library
from library import Other, Smoother
FIXED = Smoother(0.3)
HOLDER = Smoother(0.5)
HOLDER.inner = Smoother(2.0)
def made(x):
    f = Smoother(x[0])
    for i in range(3):
        f.update(x[i])
    return f.x * f.g
def fixed(x):
    return np.sum(FIXED.scaled(x))
def held(x):
    return np.sum(HOLDER.inner.scaled(x) + Other(0.1).scaled(x))
def counted(x):
    y = x * 1.0
    n = FIXED.count(y)
    return np.sum(y * y) * n
def exchanged(x):
    library.exchange()
    return np.sum(HOLDER.inner.scaled(x))
A = np.ones(3)
library.keep(A)
def windowed(x):
    return np.sum(x * library.window(3) ** 2)
def compared(x):
    return np.sum(x * library.cleared(x > 0.0))
def refilled(x):
    a = library.shared(2.0)
    y = x * a
    b = library.shared(3.0)
    return np.sum(y * y) + np.sum(a * x)
def refilled_in_turn(x):
    total = 0.0
    for n in range(3):
        a = library.shared(n + 1.0)
        total = total + np.sum(a * x * x)
    return total
def kept(x):
    y = x * 2.0
    library.keep(y)
    library.change(5.0)
    return np.sum(y * y)
def kept_before(x):
    y = np.ones(3)
    library.keep(y)
    y[:] = x * x
    library.change(5.0)
    return np.sum(y * y)
def kept_at_first(x):
    y = A * x
    library.change(5.0)
    z = np.sum(y * y) + np.sum(A * x)
    library.change(1.0)
    return z
"""
X = np.array([0.3, 0.7, -0.4])


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "library.py").write_text(LIBRARY, encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.syspath_prepend(installed)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield importlib.import_module("program")
    for name in ("program", "library"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", ["made", "fixed", "held"])
def test_gradient(program: Any, name: str) -> None:
    f = getattr(program, name)
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, [X]), rtol=1e-6, atol=1e-7)


def test_a_function_that_is_given_constants_may_write_into_arrays_of_its_own(program: Any) -> None:
    np.testing.assert_array_equal(grad(program.windowed)(X), [1.0, 0.25, 0.25])


def test_what_is_compared_is_not_written_through_the_result(program: Any) -> None:
    np.testing.assert_array_equal(grad(program.compared)(X), [0.0, 2.0, 2.0])


@pytest.mark.parametrize("name", ["refilled", "refilled_in_turn", "kept", "kept_before", "kept_at_first"])
def test_arrays_that_a_package_keeps(program: Any, name: str) -> None:
    """They are what the package has written into them where they are read, or there is an error."""
    f = getattr(program, name)
    try:
        found = grad(f)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(f, [X]), rtol=1e-6, atol=1e-7)


def test_a_method_under_a_built_in_name_may_write(program: Any) -> None:
    """``count`` is not what it is of a list."""
    try:
        found = grad(program.counted)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(program.counted, [X]), rtol=1e-6, atol=1e-7)


def test_what_a_function_in_a_list_exchanges_is_not_relied_on(program: Any) -> None:
    before, after = program.HOLDER.inner, program.Other(1.5)
    program.library.HOOKS.append(lambda: setattr(program.HOLDER, "inner", after))
    program.HOLDER.inner = after
    wanted = numeric_gradient(program.exchanged, [X])
    program.HOLDER.inner = before
    try:
        found = grad(program.exchanged)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)
