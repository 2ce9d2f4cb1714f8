"""Regular expressions and numbers of texts that are known: reactions and settings that are written as texts."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.transform.remaining import check_every_way

X = np.array([0.3, 0.7, 0.4])
ARROW = re.compile(r"\s*(<=>|->)\s*")
TERM = r"\s*(\d*)\s*([A-Z]\w*)\s*"


def side(text: str) -> Counter[str]:
    species: Counter[str] = Counter()
    if text.strip() in ("", "0"):
        return species
    for term in text.split("+"):
        m = re.fullmatch(TERM, term)
        if m is None:
            raise ValueError(f"not a term: {term}")
        species[m.group(2)] += int(m.group(1) or 1)
    return species


class Reaction:
    def __init__(self, text: str, k: Any, back: Any = None) -> None:
        left, arrow, right = ARROW.split(text)
        self.reactants, self.products = side(left), side(right)
        self.k, self.back = k, back
        if arrow == "<=>" and back is None:
            raise ValueError(f"two rates are needed: {text}")

    def rate(self, c: dict[str, Any]) -> Any:
        r = self.k
        for name, n in self.reactants.items():
            r = r * c[name] ** n
        if self.back is not None:
            for name, n in self.products.items():
                r = r - self.back * n * c[name]
        return r

    def net(self) -> dict[str, int]:
        d = Counter(self.products)
        d.subtract(self.reactants)
        return {name: n for name, n in d.items() if n}


class Network:
    def __init__(self, reactions: list[Reaction]) -> None:
        self.reactions = reactions
        names: set[str] = set()
        for r in reactions:
            names |= set(r.reactants) | set(r.products)
        self.species = sorted(names)
        self.index = {name: i for i, name in enumerate(self.species)}

    def derivative(self, y: Any) -> Any:
        c = dict(zip(self.species, y, strict=True))
        dy = np.zeros_like(y)
        for r in self.reactions:
            v = r.rate(c)
            for name, n in r.net().items():
                dy[self.index[name]] += n * v
        return dy


def network(x: Any) -> Any:
    net = Network([Reaction("A + B -> C", x[0]), Reaction("2 C <=> D", x[1] * 2.0, 0.1), Reaction("D -> 0", x[2])])
    return np.sum(net.derivative(np.linspace(0.2, 1.0, len(net.species))) ** 2)


def one_rate(x: Any) -> Any:
    return Reaction("2 A + B -> C", 1.5).rate({"A": x[0], "B": x[1], "C": x[2]})


def counted(x: Any) -> Any:
    d = Counter(side("A + B"))
    d.subtract(side("2 A"))
    d.update(side("C"))
    return sum(n * v for n, v in zip(d.values(), x, strict=False)) + len([k for k, n in d.items() if n]) * x[0]


def settings(x: Any) -> Any:
    m = re.match(r"(\w+)=(\d+\.\d+)", "k=2.5")
    missing = re.search("z", "k=2.5")
    if m is None or missing:
        return x[0]
    p = {m.group(1): float(m.group(2)) * x[1], re.sub("a", "b", "a"): x[2]}
    return p["k"] * p["b"] * len(m.groups())


def of_texts_that_are_not_known(x: Any, text: str = "u=2") -> Any:
    parts = re.split("=", text.upper())
    return x[0] * int(parts[1]) if parts[0] == "U" else x[1]


PROGRAMS = [network, one_rate, counted, settings, of_texts_that_are_not_known]


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f: Callable[..., Any]) -> None:
    check_every_way(f, X)


def test_other_texts() -> None:
    df = grad(of_texts_that_are_not_known)
    np.testing.assert_allclose(df(X, "u=3"), [3.0, 0.0, 0.0])
    np.testing.assert_allclose(df(X, "v=3"), [0.0, 1.0, 0.0])


def test_what_a_text_raises() -> None:
    def f(x: Any) -> Any:
        return Reaction("a -> B", 1.0).rate({"B": x[0]})

    with pytest.raises(ValueError, match="not a term"):
        grad(f)(X)


def test_an_expression_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x: Any) -> Any:
        return x[len(ARROW.split("A -> B = C -> D"))]

    df = grad(f)
    np.testing.assert_allclose(df(np.ones(8)), np.eye(8)[5])
    monkeypatch.setattr(sys.modules[__name__], "ARROW", re.compile("="))
    np.testing.assert_allclose(df(np.ones(8)), np.eye(8)[2])
