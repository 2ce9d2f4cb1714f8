"""Rows of the table of constructs whose objects are the module's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.constructs import right


class Layer:
    def __init__(self, w: Any) -> None:
        self.w = w
        self.inputs: Any = None

    def forward(self, x: Any) -> Any:
        self.inputs = x
        return x * self.w


LAYER = Layer(3.0)


@right("objects", "methods of objects of the module")
def _existing(x: Any) -> Any:
    return np.sum(LAYER.forward(x) ** 2)


@right("objects", "objects of the module that remember what they are given, and are asked for it")
def _remembering(x: Any) -> Any:
    y = LAYER.forward(x)
    return np.sum(y) + np.sum(LAYER.inputs**2)


class Model:
    def __init__(self) -> None:
        self.w, self.calls, self.history = np.array([0.5, 1.5, -1.0]), 0, [0.0]
        self.scratch = np.zeros(3)

    def loss(self, x: Any, verbose: bool = False) -> Any:
        if verbose:
            print("not differentiated", x)
        self.calls += 1
        np.multiply(self.w, x, out=self.scratch)
        self.z = self.scratch * 1.0
        self.history.append(np.sum(self.z**2))
        return self.history[-1] + np.sum(self.z)


right(
    "objects",
    "attributes that are set, arrays in attributes that are written, lists that grow, of objects that are arguments",
)(Model().loss)


@dataclass
class Spring:
    k: float = 2.0
    rest: Any = 0.1

    def relax(self, x: Any) -> None:
        self.rest = 0.5 * x[0]

    def energy(self, x: Any) -> Any:
        self.relax(x)
        return np.sum(self.k * (x - self.rest) ** 2)


right("objects", "methods of dataclasses that are arguments, which set fields")(Spring().energy)


HISTORY: dict[str, list[Any]] = {"loss": []}


CACHE: dict[str, Any] = {}


@right("objects", "lists and dicts of the module and of its objects whose items are set and read again")
def _kept(x: Any) -> Any:
    CACHE["h"] = np.tanh(x)
    CACHE["h"] = CACHE["h"] * x
    return np.sum(CACHE["h"] ** 2)


@right("objects", "values that are recorded in lists and dicts of the module, which the function does not read")
def _recorded(x: Any) -> Any:
    loss = np.sum(x**2)
    HISTORY["loss"].append(float(loss))
    return loss


class Net:
    def __init__(self) -> None:
        self.layers = [Layer(2.0), Layer(0.5)]
        self.losses: list[float] = []

    def __iter__(self) -> Any:
        yield from self.layers

    def loss(self, x: Any) -> Any:
        loss = np.sum(x**2)
        self.losses.append(float(loss))
        return loss


NET = Net()


@right("objects", "objects of the module that are run through, and record in their lists, dicts and sets")
def _run_through(x: Any) -> Any:
    for layer in NET:
        x = np.sin(x) * layer.w
    return NET.loss(x)


LAYERS = [Layer(2.0), Layer(3.0)]


@right("objects", "attributes that are set, of one of a few objects of the module")
def _one_of_several(x: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 1):
        LAYERS[i].inputs = x
        total = total + np.sum(LAYERS[i].inputs ** 2)
    return total
