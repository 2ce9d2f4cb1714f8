"""Guards on what one object of the module leads to are tested in one walk."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad
from s2sad.entries import checker
from s2sad.frontend.resolve import Guard
from s2sad.transform.found import ArrayHeld, ClassHeld, Held, InClass, Key


class Spring:
    rest = 1.0

    def __init__(self, k):
        self.k, self.parts = k, {"a": [np.ones(2), 2.0]}


PATHS = {
    ("k",): 3.0,
    ("parts", Key("a"), Key(1)): 2.0,
    ("rest",): 1.0,
}


@pytest.mark.parametrize("changed", ["nothing", "number", "array", "class", "item", "own", "name"])
def test_each_question_is_asked(changed):
    spring = Spring(3.0)
    space = {"spring": spring}
    guards = [Guard(space, "spring", Held(path)(spring), Held(path)) for path in PATHS]
    for make, path in ((ArrayHeld, ("parts", Key("a"), Key(0))), (ClassHeld, ("parts",)), (InClass, ("rest",))):
        guards.append(Guard(space, "spring", make(path)(spring), make(path)))
    holds = checker(guards)
    assert holds()
    match changed:
        case "number":
            spring.k = 4.0
        case "array":
            spring.parts["a"][0] = np.ones((2, 2))
        case "class":
            spring.parts = tuple(spring.parts)
        case "item":
            spring.parts["a"][1] = 5.0
        case "own":
            spring.rest = 1.0
        case "name":
            del space["spring"]
    assert holds() == (changed == "nothing")


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


PAIR = Pair(2.0, Pair(np.array([1.0, 3.0]), "sum"))


def energy(x):
    return PAIR.a * (np.sum(PAIR.b.a * x) if PAIR.b.b == "sum" else x[0])


def test_a_changed_object_is_compiled_for_again():
    derivative = grad(energy)
    x = np.array([0.5, -1.0])
    np.testing.assert_allclose(derivative(x), [2.0, 6.0])
    PAIR.a, PAIR.b.a = 3.0, np.array([2.0, 1.0])
    np.testing.assert_allclose(derivative(x), [6.0, 3.0])
    PAIR.b.b = "first"
    np.testing.assert_allclose(derivative(x), [3.0, 0.0])
    PAIR.b = Pair(5.0, "sum")
    np.testing.assert_allclose(derivative(x), [15.0, 15.0])
    PAIR.a, PAIR.b = 2.0, Pair(np.array([1.0, 3.0]), "sum")
    np.testing.assert_allclose(derivative(x), [2.0, 6.0])
