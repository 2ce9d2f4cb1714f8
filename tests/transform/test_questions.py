"""What programs ask of objects that they make, and of functions: names, attributes, equality, truth, copies."""

from __future__ import annotations

import copy
import functools
import math
from collections import namedtuple
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient

X = np.array([0.3, 1.5])


class Named:
    def __init__(self, **options: Any) -> None:
        self.name = options.get("name", self.__class__.__name__)
        self.scale = options.get("scale", 2.0)


class Curve(Named):
    def at(self, t: Any) -> Any:
        return self.scale * t**2 if self.name == "Curve" else t


def name_of_the_class(x: Any) -> Any:
    return Curve(scale=x[0]).at(x[1]) * (2.0 if type(Curve(scale=1.0)).__qualname__ == "Curve" else 0.0)


class Atoms:
    def __init__(self, positions: Any, calculator: Any = None) -> None:
        self.positions = positions
        self.calculator = calculator

    @property
    def calculator(self) -> Any:
        return self._calculator

    @calculator.setter
    def calculator(self, calculator: Any) -> None:
        self._calculator = calculator
        if hasattr(calculator, "set_atoms"):
            calculator.set_atoms(self)


def attribute_of_none(x: Any) -> Any:
    return np.sum(Atoms(x).positions ** 2)


def newton(f: Any, start: Any, derivative: Any) -> Any:
    both = True if derivative == True else False  # noqa: E712, SIM210
    for _ in range(20):
        value, slope = f(start) if both else (f(start), derivative(start))
        start = start - value / slope
    return start


def function_equal_to_a_constant(x: Any) -> Any:
    return newton(lambda v: v**2 - x[1], 1.0, lambda v: 2.0 * v) * x[0]


class Phase:
    def __init__(self, slope: Any) -> None:
        self.slope = slope


def conductivity(density: Any, phase: Any = None) -> Any:
    found = density * 0.5
    if density and phase:
        found = found + phase.slope
    if not density or phase is None:
        found = found * 2.0
    return found if density and phase else density


def truth_of_an_object(x: Any) -> Any:
    return conductivity(x[0], Phase(x[1] ** 2)) + conductivity(x[1])


class Filter:
    def __init__(self) -> None:
        self.state = np.zeros(2)
        self.last: Any = None

    def update(self, z: Any) -> None:
        self.state = self.state + 0.5 * (np.array(z) - self.state)
        self.last = copy.deepcopy(z)


def copy_of_a_list(x: Any) -> Any:
    found = Filter()
    for i in range(3):
        found.state = found.state * x[0]
        found.update([i + 0.1, i - x[1]])
    return found.state @ found.state + found.last[1]


class Rating:
    def __init__(self, mean: Any) -> None:
        self.mean = mean

    def __deepcopy__(self, memo: Any) -> Rating:
        return Rating(self.mean * 1.0)


def copies_by_a_method(x: Any) -> Any:
    teams = [[Rating(x[0])], [Rating(x[1])]]
    others = copy.deepcopy(teams)
    others[0][0].mean = others[0][0].mean * x[1]
    return others[0][0].mean * others[1][0].mean + teams[0][0].mean


class Scheduler:
    def __init__(self, rate: Any) -> None:
        self.rate = rate

    def __str__(self) -> str:
        return f"Scheduler({self.rate})"

    def __repr__(self) -> str:
        return "a scheduler"


class Layer:
    def __init__(self, scheduler: Any = None) -> None:
        if scheduler is None:
            self.scheduler = Scheduler(0.01)
        elif isinstance(scheduler, Scheduler):
            self.scheduler = scheduler
        self.options = {"id": "layer", "scheduler": str(self.scheduler), "shown": repr(self.scheduler)}
        self.inputs: list[Any] = []

    def forward(self, x: Any) -> Any:
        self.inputs.append(x)
        return np.tanh(x) * self.scheduler.rate


def text_of_an_object(x: Any) -> Any:
    layer = Layer(Scheduler(x[0]))
    return np.sum(layer.forward(x)) + len(layer.options["shown"]) * np.sum(Layer().forward(x))


T = TypeVar("T")


class Environment(Generic[T]):
    def reset(self) -> None:
        self.time = 0.0


class Pendulum(Environment[float]):
    def __init__(self, state: Any) -> None:
        self.state = state
        self.reset()

    def step(self) -> Any:
        angle, speed = self.state
        speed = speed - 0.1 * np.sin(angle)
        self.time += 0.1
        self.state = np.array([angle + 0.1 * speed, speed])
        return -(angle**2) * self.time


def generic_base(x: Any) -> Any:
    pendulum = Pendulum(x)
    return sum(pendulum.step() for _ in range(3))


class Line:
    def __init__(self, geodesic: Any, slope: Any) -> None:
        self.geodesic, self.slope = geodesic, slope

    def position(self, s: Any) -> Any:
        return self.slope * s + self.geodesic.offset


class Geodesic:
    EARTH: Any = None

    def __init__(self, offset: float) -> None:
        self.offset = offset

    def line(self, slope: Any) -> Line:
        return Line(self, slope)


Geodesic.EARTH = Geodesic(2.0)


def object_of_a_class(x: Any) -> Any:
    return Geodesic.EARTH.line(x[0]).position(x[1])


def set_of_classes(x: Any) -> Any:
    ratings = [Rating(x[0]), Rating(x[1])]
    if len(set(map(type, ratings))) != 1 or len({type(r) for r in ratings}) > 1:
        raise TypeError("all ratings should be of one type")
    return ratings[0].mean * ratings[1].mean


def wavelet(t: Any, frequency: Any) -> Any:
    phase = (np.pi * frequency * t) ** 2
    made = namedtuple("made", ["amplitude", "time"])
    return made((1.0 - 2.0 * phase) * np.exp(-phase), t)


def named_tuple_made_inside(x: Any) -> Any:
    found = wavelet(np.linspace(-0.1, 0.1, 5), x[0])
    amplitude, _ = found
    return np.sum(amplitude**2) * x[1] + found.time[0] * found.amplitude[1]


class System:
    def __init__(self) -> None:
        self.elements: dict[int, Any] = {}
        self.vertices: dict[Any, int] = {}
        self.count = 0

    def add(self, rate: Any, location: Any, **options: Any) -> None:
        self.count += 1
        if location in self.vertices:
            node = self.vertices[location]
        else:
            node = self.count
            self.vertices[location] = node
        self.elements[self.count] = Scheduler(rate * node)


def objects_under_counted_numbers(x: Any) -> Any:
    system = System()
    system.add(x[0], (0.0, 1.0))
    system.add(x[1], (0.0, 2.0), kind="beam")
    system.add(x[0], (0.0, 2.0))
    return sum(e.rate**2 for e in system.elements.values())


GASES = {"ig.N2": Geodesic(3.0)}


def by_name(name: str) -> Any:
    return GASES[name]


def object_that_a_function_finds(x: Any) -> Any:
    gas = by_name("ig.N2")
    return gas.line(x[0]).position(x[1])


PROGRAMS = [
    name_of_the_class, attribute_of_none, function_equal_to_a_constant, truth_of_an_object, copy_of_a_list,
    copies_by_a_method, text_of_an_object, generic_base, object_of_a_class, set_of_classes, named_tuple_made_inside,
    objects_under_counted_numbers, object_that_a_function_finds,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (X,), (np.array([0.5, 2.0]),))[1], expected @ [0.5, 2.0], rtol=1e-7)


def test_a_class_gets_another_name() -> None:
    gradient = grad(name_of_the_class)
    before = gradient(X)
    Curve.__name__ = "Other"
    try:
        np.testing.assert_allclose(gradient(X), numeric_gradient(name_of_the_class, (X,)), atol=1e-9)
    finally:
        Curve.__name__ = "Curve"
    np.testing.assert_array_equal(gradient(X), before)


class Remembering:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __deepcopy__(self, memo: Any) -> Any:
        made = Remembering(copy.deepcopy(self.value, memo))
        memo[id(self)] = made
        return made


def copies_with_memory(x: Any) -> Any:
    one = Remembering(x * 2.0)
    a, b = copy.deepcopy([one, one])
    a.value[0] = 0.0
    return np.sum(b.value**2)


def test_what_has_been_copied_is_asked_for() -> None:
    with pytest.raises(UnsupportedError):
        grad(copies_with_memory)(X)


def inner(a: float, k: float = 2.0) -> float:
    import math as mathematics

    return mathematics.sqrt(a) * k


def added_to(matrix: Any, part: Any, load: Any = None) -> Any:
    import numpy as numeric

    matrix[numeric.ix_([0, 1], [0, 1])] += part
    return matrix if load is None else (matrix, load)


def import_in_a_callee(x: Any) -> Any:
    matrix = np.zeros((2, 2))
    added_to(matrix, x[0] * np.ones((2, 2)))
    return inner(x[0]) + inner(x[1], k=3.0) + math.sqrt(x[1]) + np.sum(matrix**2)


class Scaled:
    def __init__(self, factor: Any) -> None:
        self.factor = factor

    def of(self, value: Any, again: Any = True, kind: str = "full", other: Any = None) -> Any:
        found = value
        for i in range(3):
            found = found * self.factor + 1.0 if other is None else other
            if i > 1 and again and kind == "full":
                found = found * self.factor**2 - np.sin(found) * np.cos(found) + np.exp(-found)
        return found + np.sqrt(np.abs(found) + 1.0) * np.tanh(found)


def default_values_of_a_method(x: Any) -> Any:
    return Scaled(x[0]).of(x[1]) + Scaled(x[1]).of(x[0])


def test_functions_that_are_made_of_one_with_default_values() -> None:
    f = default_values_of_a_method
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7)


def test_default_values_of_functions_that_import() -> None:
    np.testing.assert_allclose(grad(import_in_a_callee)(X), numeric_gradient(import_in_a_callee, (X,)), rtol=1e-7)


class Missing:
    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return type(None)
        raise ModuleNotFoundError(name)


missing = Missing()


def cached(function: Callable[[Any], Any]) -> Any:
    @functools.wraps(function)
    def get(self: Any) -> Any:
        if "value" not in self.cache:
            self.cache["value"] = function(self)
        return self.cache["value"]

    return property(get)


class Mesh:
    def __init__(self) -> None:
        self.cache: dict[str, Any] = {}

    @cached
    def faces(self) -> Any:
        return self.order()

    def order(self, engine: Any = None) -> Any:
        return missing.order(self) if engine == "missing" else [0, 1]


BOX = Mesh()


def object_that_raises_when_it_is_looked_at(x: Any) -> Any:
    return np.sum(x[BOX.faces] ** 2)


def test_objects_that_raise_when_they_are_looked_at() -> None:
    np.testing.assert_allclose(grad(object_that_raises_when_it_is_looked_at)(X), 2.0 * X)


class Slots:
    __slots__ = ("factor", "time")

    def at(self, time: Any) -> Any:
        self.time = time
        return self.factor * self.time**2


SLOTS = Slots()
SLOTS.factor = 3.0


def test_attributes_in_slots_of_an_object_of_the_module() -> None:
    with pytest.raises(UnsupportedError):
        grad(lambda x: SLOTS.at(x))(2.0)


def test_a_class_gets_another_object() -> None:
    gradient, before = grad(object_of_a_class), Geodesic.EARTH
    np.testing.assert_allclose(gradient(X), [X[1], X[0]])

    class Steep(Geodesic):
        def line(self, slope: Any) -> Line:
            return Line(self, 3.0 * slope)

    Geodesic.EARTH = Steep(1.0)
    try:
        np.testing.assert_allclose(gradient(X), [3.0 * X[1], 3.0 * X[0]])
    finally:
        Geodesic.EARTH = before


class Calculator:
    _unset = object()

    def __init__(self, restart: Any = _unset, label: Any = None) -> None:
        self.restart = 1.0 if restart is self._unset else restart
        self.label = 2.0 if label is self._unset else 3.0


def compared_with_an_object_that_marks(x: Any) -> Any:
    return Calculator().restart * x[0] + Calculator(restart=x[1]).restart * x[0] * Calculator().label


def test_an_object_that_marks_what_is_not_given() -> None:
    f = compared_with_an_object_that_marks
    np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-7)
