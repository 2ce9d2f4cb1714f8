"""Programs over lists and dicts of the module's objects: their derivative is a text that runs where it is imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient


class Reaction:
    def __init__(self, reactants: dict[str, int], products: dict[str, int], factor: float) -> None:
        self.reactants, self.products, self.factor = reactants, products, factor

    def rate(self, amounts: Any, heat: Any) -> Any:
        k = self.factor * np.exp(-1.0 / heat)
        for name, count in self.reactants.items():
            k *= amounts[name] ** count
        return k


class Mechanism:
    def __init__(self, species: list[str], reactions: list[Reaction]) -> None:
        self.species, self.reactions = species, reactions

    def slopes(self, c: Any, heat: Any, scale: Any) -> Any:
        amounts = dict(zip(self.species, c, strict=True))
        out = {s: 0.0 for s in self.species}  # noqa: C420
        for reaction, factor in zip(self.reactions, scale, strict=True):
            q = factor * reaction.rate(amounts, heat)
            for s, count in reaction.reactants.items():
                out[s] -= count * q
            for s in reaction.products:
                out[s] += reaction.products[s] * q
        return np.array([out[s] for s in self.species])


MECHANISM = Mechanism(
    ["A", "B", "C"],
    [
        Reaction({"A": 1}, {"B": 1}, 3.0),
        Reaction({"B": 2}, {"C": 1, "A": 1}, 1.5),
        Reaction({"B": 1, "C": 1}, {"A": 2}, 0.7),
    ],
)
SCALE, C = np.array([1.0, 1.2, 0.9]), np.array([1.0, 0.2, 0.1])


def kinetics(scale: Any, heat: Any, c: Any) -> Any:
    for _ in range(3):
        c = c + 0.1 * MECHANISM.slopes(c, heat, scale)
    return c[2] + c[1] ** 2


def of_items(scale: Any, heat: Any, c: Any) -> Any:
    total = heat * 0.0
    for name, count in MECHANISM.reactions[1].products.items():
        total = total + count * c[MECHANISM.species.index(name)] * scale[0]
    return total * heat


ARGUMENTS = SCALE, 1.3, C


@pytest.mark.parametrize("f", [kinetics, of_items])
def test_right_in_both_modes(f: Callable[..., Any]) -> None:
    found = grad(f, (0, 1, 2))(*ARGUMENTS)
    for position in range(3):
        expected = numeric_gradient(f, ARGUMENTS, position)
        np.testing.assert_allclose(found[position], expected, rtol=1e-7, atol=1e-9)
    slope = jvp(f, ARGUMENTS, (np.ones(3), 0.5, -C))[1]
    np.testing.assert_allclose(slope, np.sum(found[0]) + 0.5 * found[1] - found[2] @ C, rtol=1e-10)


@pytest.mark.parametrize("f", [kinetics, of_items])
def test_the_text_runs_by_itself(f: Callable[..., Any]) -> None:
    derivative = grad(f, (0, 1, 2))
    text = derivative.source_for(*ARGUMENTS)
    assert "To be defined here" not in text
    alone = run(text, f)
    for mine, expected in zip(alone(*ARGUMENTS), derivative(*ARGUMENTS), strict=True):
        np.testing.assert_array_equal(mine, expected)


def run(text: str, f: Callable[..., Any]) -> Callable[..., Any]:
    space: dict[str, Any] = {}
    exec(compile(text, "<saved>", "exec"), space)
    found: Callable[..., Any] = space[f"{f.__name__}_grad_scale_heat_c"]
    return found


class Filter:
    def __init__(self, names: list[str], weights: list[float], options: dict[str, Any]) -> None:
        self.names, self.weights, self.options = names, weights, options

    def __call__(self, x: Any) -> Any:
        total = 0.0
        for name, weight in zip(self.names, self.weights, strict=True):
            total = total + (np.sin(x) if name == "sine" else x * x) * (0.0 if np.isnan(weight) else weight)
        for key, option in self.options.items():
            if key == "scale":
                total = total * option
        return np.sum(total)


#: The names are no literals, and one weight is no number.
FILTERS = [
    Filter([name.lower() for name in ("SINE", "SQUARE")], [2.0, np.nan], {"scale": 2, "note": "A NOTE".lower()}),
    Filter(["square"], [np.inf], {}),
]


def filtered(x: Any) -> Any:
    total = 0.0
    for each in FILTERS[:1]:
        total = total + each(x)
    for one, factor in zip(FILTERS[:1], (2.0,), strict=True):
        total = total + one(factor * x)
    return total + FILTERS[0](2.0 * x)


def test_texts_are_compared_and_numbers_need_not_be_literals() -> None:
    x = np.array([0.3, 0.8])
    np.testing.assert_allclose(grad(filtered)(x), numeric_gradient(filtered, (x,)), rtol=1e-7)
    space: dict[str, Any] = {}
    exec(compile(grad(filtered).source_for(x), "<saved>", "exec"), space)
    np.testing.assert_array_equal(space["filtered_grad_x"](x), grad(filtered)(x))


def test_of_a_list_with_other_items_the_text_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = run(grad(kinetics, (0, 1, 2)).source_for(*ARGUMENTS), kinetics)
    monkeypatch.setattr(MECHANISM, "reactions", MECHANISM.reactions[::-1])
    with pytest.raises(UndefinedDerivativeError, match="was changed"):
        alone(*ARGUMENTS)
    expected = numeric_gradient(kinetics, ARGUMENTS)
    np.testing.assert_allclose(grad(kinetics)(*ARGUMENTS), expected, rtol=1e-7)


def test_a_dict_with_other_keys_is_met_by_another_text(monkeypatch: pytest.MonkeyPatch) -> None:
    grad(kinetics)(*ARGUMENTS)
    monkeypatch.setattr(MECHANISM.reactions[0], "products", {"C": 2})
    np.testing.assert_allclose(grad(kinetics)(*ARGUMENTS), numeric_gradient(kinetics, ARGUMENTS), rtol=1e-7)
    monkeypatch.setitem(MECHANISM.reactions[0].products, "C", 3)
    np.testing.assert_allclose(grad(kinetics)(*ARGUMENTS), numeric_gradient(kinetics, ARGUMENTS), rtol=1e-7)
    monkeypatch.setitem(MECHANISM.reactions[0].products, "B", 1)
    np.testing.assert_allclose(grad(kinetics)(*ARGUMENTS), numeric_gradient(kinetics, ARGUMENTS), rtol=1e-7)
