"""Texts and whole numbers of subclasses, which attributes and items are: a text cannot write them as literals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7])


class Template(str):
    """A text that fills itself in."""

    def __call__(self, n: int) -> str:
        return self.replace("_", str(n))


class Names:
    title = Template("a_b")

    def __init__(self) -> None:
        self.own = Template("a__b")


NAMES = Names()
TITLES = [Template("a_b"), "q"]
TABLE: dict[str, Any] = {"k": Template("a_b"), "n": True}


class Term:
    def __init__(self, value: Any, names: Names = NAMES) -> None:
        self.value, self.names = value, names

    def of_class(self) -> Any:
        return self.value * len(self.names.title(44))

    def of_object(self) -> Any:
        return self.value * len(self.names.own(44))

    def of_list(self) -> Any:
        return self.value * len(TITLES[0](333)) + sum(self.value * len(t) for t in TITLES)

    def of_dict(self) -> Any:
        return self.value * len(TABLE["k"](333))


@pytest.mark.parametrize("method", [Term.of_class, Term.of_object, Term.of_list, Term.of_dict])
def test_constants_of_subclasses(method: Callable[[Term], Any]) -> None:
    def function(x: Any) -> Any:
        if x[0] < -5:
            raise ValueError(NAMES.title(3), Names.title)
        return method(Term(x[0] * x[1]))

    np.testing.assert_allclose(grad(function)(X), numeric_gradient(function, [X]), rtol=1e-7)
