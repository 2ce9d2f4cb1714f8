"""Names of private members, which Python spells out in the bodies of classes."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np
import pytest

from s2sad import grad
from s2sad.frontend.source import read_source
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7])


class _Box:
    __shared = 2.0

    def __init__(self) -> None:
        self.__k = 3.0
        self.__dunder__ = 5.0

    def outer(self, x: Any, __p: Any = 1.5) -> Any:
        y = self.__k * x + self.__dunder__
        inner = lambda __v: __v * self.__shared  # noqa: E731
        return np.sum(inner(y) * __p)

    def __hidden(self, x: Any) -> Any:
        return self.__k * x * x

    def shown(self, x: Any) -> Any:
        return np.sum(self.__hidden(x))


BOX = _Box()


def outer(x: Any) -> Any:
    return _Box.outer(BOX, x)


def named(x: Any) -> Any:
    return _Box.outer(BOX, x, _Box__p=2.5)


def shown(x: Any) -> Any:
    return BOX.shown(x)


@pytest.mark.parametrize("f", [outer, named, shown], ids=lambda f: f.__name__)
def test_gradient(f: Any) -> None:
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, [X]), rtol=1e-6)


def test_the_text() -> None:
    text = gast.unparse(read_source(_Box.outer).node)
    assert "self._Box__k * x + self.__dunder__" in text
    assert "lambda _Box__v: _Box__v * self._Box__shared" in text
