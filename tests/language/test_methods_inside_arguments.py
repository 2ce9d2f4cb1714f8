"""Methods and operators of objects to which arguments lead: in lists, tuples and dicts, and in other objects."""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.5, -1.2])
#: The fields of two objects in one vector.
FIELDS = np.array([2.0, 1.3, 1.5, -0.2, 0.7, 0.4, -0.6, 0.9])
DOT = np.array([1.0, 0.5, -0.3, 0.2, 0.1, -0.4, 0.6, 0.25])


class Methods:
    """What all of the classes do."""

    __slots__ = ()
    a: Any
    b: Any
    SCALE = 2.0

    def energy(self, x: Any) -> Any:
        return np.sum(self.b * x) * self.a * self.SCALE

    def __call__(self, x: Any) -> Any:
        return np.tanh(self.b * x) * self.a

    @property
    def square(self) -> Any:
        return self.a**2 * self.b[1]

    @classmethod
    def doubled(cls, p: Any) -> Any:
        return cls(p.a * 2, p.b)  # type: ignore[call-arg]

    @staticmethod
    def bounded(v: Any) -> Any:
        return np.maximum(v, 0.1)

    def step(self, x: Any) -> None:
        self.a = self.a * x[0]


class Operators(Methods):
    """Objects that are added, scaled, run through and so on."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return type(self)(self.a + other.a, self.b * other.b)  # type: ignore[call-arg]

    def __mul__(self, s: Any) -> Any:
        return type(self)(self.a * s, self.b * s)  # type: ignore[call-arg]

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return type(self)(-self.a, -self.b)  # type: ignore[call-arg]

    def __matmul__(self, x: Any) -> Any:
        return self.b @ x * self.a

    def __iter__(self) -> Iterator[Any]:
        return iter([self.a, self.b[0], self.b[1]])


@dataclass
class Data(Methods):
    a: Any
    b: Any
    kind: str = "data"

    @functools.cached_property
    def norm(self) -> Any:
        return np.sqrt(np.sum(self.b**2)) * self.a


@dataclass(frozen=True, slots=True)
class Frozen(Methods):
    a: Any
    b: Any
    function: Callable[..., Any] = np.tanh


@dataclass(slots=True)
class Added(Operators):
    a: Any
    b: Any


@dataclass
class Inherited(Data):
    c: Any = field(init=False, default=0.0)
    names: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.c = 0.5

    def energy(self, x: Any) -> Any:
        return super().energy(x) * 3.0 + self.c + len(self.names)


class Named(NamedTuple):
    a: Any
    b: Any

    def energy(self, x: Any) -> Any:
        return np.sum(self.b * x) * self.a

    def __call__(self, x: Any) -> Any:
        return np.tanh(self.b * x) * self.a

    @property
    def square(self) -> Any:
        return self.a**2 * self.b[1]

    @classmethod
    def doubled(cls, p: Any) -> Named:
        return cls(p.a * 2, p.b)

    @staticmethod
    def bounded(v: Any) -> Any:
        return np.maximum(v, 0.1)


@dataclass
class Holder:
    p: Any
    w: Any
    tag: str = "h"

    def total(self, x: Any) -> Any:
        return sum(m.energy(x) for m in self.p) * np.sum(self.w)


def in_a_list(p: Any, x: Any) -> Any:
    t = 0.0
    for m in p:
        t = np.sin(t) + m.energy(x)
    return t


def in_a_tuple(p: Any, x: Any) -> Any:
    for layer in p:
        x = layer(x)
    return np.sum(x * p[1].b)


def by_index(p: Any, x: Any) -> Any:
    return sum(p[i].energy(x) * (i + 1.0) for i in range(len(p))) * p[-1].square


def in_a_dict(p: Any, x: Any) -> Any:
    t = p["m"].energy(x)
    for key, m in p.items():
        t = t * m.square if key == "m" else t + m.a
    return t + sum(m.energy(x) for m in p.values())


def in_another(p: Any, x: Any) -> Any:
    return p.total(x) * p.p[0].square if p.tag == "h" else 0.0


def taken_apart(p: Any, x: Any) -> Any:
    m, n = p
    return m.energy(x) * type(m).doubled(n).energy(x) + np.sum(n.bounded(n.b) * x)


def to_a_function(p: Any, x: Any) -> Any:
    return sum(_energies(m, x) for m in p) * np.prod(np.array([m.square for m in p]))


def _energies(m: Any, x: Any) -> Any:
    t = 0.0
    for n in range(3):
        t = t + m.energy(x * n) * np.sin(m.a)
    return t


def beside_one_another(p: Any, x: Any) -> Any:
    t = 0.0
    for i, (m, n) in enumerate(zip(p, reversed(p), strict=True)):
        t = t + m.energy(x) * n.square * (i + 1)
    return t


def the_one_or_the_other(p: Any, x: Any) -> Any:
    m = p[0] if x[0] > 0 else p[1]
    for n in p:
        if n.a > m.a:
            m = n
    return m.energy(x) * (2.0 if isinstance(m, tuple) else 3.0)


PLACES: dict[Callable[..., Any], Callable[..., Any]] = {
    in_a_list: lambda m, n: [m, n],
    in_a_tuple: lambda m, n: (m, n),
    by_index: lambda m, n: [m, n],
    in_a_dict: lambda m, n: {"m": m, "n": n},
    in_another: lambda m, n: Holder([m, n], n.b),
    taken_apart: lambda m, n: (m, n),
    to_a_function: lambda m, n: [m, n],
    beside_one_another: lambda m, n: [m, n],
    the_one_or_the_other: lambda m, n: [m, n],
}


def replaced(p: Any, x: Any) -> Any:
    return sum(replace(m, a=m.a * x[0]).energy(x) for m in p) * p[0].norm * p[0].norm


def operators(p: Any, x: Any) -> Any:
    t = p[0] + p[1]
    for m in p:
        t = t * 2.0 + -m
    return (x[0] * t).energy(x) * (p[1] @ x) + sum(v * x[0] for v in p[0])


CASES = [*zip(PLACES, itertools.cycle([Data, Frozen, Added, Inherited, Named])), *((f, Named) for f in PLACES)]


def leaves(g: Any) -> list[float]:
    """The numbers in the gradient of an argument, in the order of the fields."""
    if isinstance(g, Holder):
        return leaves(g.p)
    if isinstance(g, dict):
        g = list(g.values())
    return [v for m in g for v in (m.a, *m.b)]


@pytest.mark.parametrize(
    ("f", "cls"), [*CASES, (replaced, Data), (operators, Added)], ids=lambda v: getattr(v, "__name__", "")
)
def test_derivatives(f: Callable[..., Any], cls: Any) -> None:
    place = PLACES.get(f, lambda m, n: [m, n])
    of_holder = f is in_another

    def made(v: Any) -> Any:
        p = place(cls(float(v[0]), np.array(v[1:4])), cls(float(v[4]), np.array(v[5:])))
        return replace(p, w=np.array(X)) if of_holder else p

    expected = numeric_gradient(lambda v: f(made(v), X), (FIELDS,))
    np.testing.assert_allclose(leaves(grad(f)(made(FIELDS), X)), expected, rtol=1e-7, atol=1e-9)
    direction = made(DOT)
    direction = replace(direction, w=np.zeros(3)) if of_holder else direction
    if cls is Inherited:
        direction = _without_others(direction)
    value, dot = jvp(f, (made(FIELDS), X), (direction, None))
    np.testing.assert_allclose([value, dot], [f(made(FIELDS), X), expected @ DOT], rtol=1e-7)
    of_x = numeric_gradient(lambda x: f(made(FIELDS), x), (X,))
    np.testing.assert_allclose(grad(f, 1)(made(FIELDS), X), of_x, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (made(FIELDS), X), (None, X))[1], of_x @ X, rtol=1e-7)


def _without_others(direction: Any) -> Any:
    """A direction in which fields that are not given stay as they are."""
    held = direction.p if isinstance(direction, Holder) else direction
    for m in held.values() if isinstance(held, dict) else held:
        m.c = 0.0
    return direction


class Plain:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def energy(self, x: Any) -> Any:
        return np.sum(self.b * x) * self.a

    def step(self, x: Any) -> None:
        self.a = self.a * x[0]


OTHER = Plain(-3.0, np.array([1.0, 2.0, 4.0]))


def equal(p: Any, x: Any) -> Any:
    return p[0].energy(x) * (2.0 if p[1] == p[0] else 1.0) * (3.0 if p[0] is p[1] else 1.0)


def copied_together(p: Any, x: Any) -> Any:
    q = copy.deepcopy((p[0], p[1]))
    q[0].step(x)
    return q[1].energy(x)


def copied_alone(p: Any, x: Any) -> Any:
    q = copy.copy(p[0])
    q.step(x)
    return q.energy(x) + p[1].energy(x)


def as_keys(p: Any, x: Any) -> Any:
    return p[0].energy(x) * len({p[0], p[1]}) * (p.index(p[1]) + 1.0)


def set_under_another_name(p: Any, x: Any) -> Any:
    p[0].step(x)
    return p[1].energy(x)


def replaced_in_the_list(p: Any, x: Any) -> Any:
    t = p[0].energy(x)
    p[0] = OTHER
    return t + sum(m.energy(x) for m in p)


def replaced_by_a_function(p: Any, x: Any) -> Any:
    _put(p)
    return sum(m.energy(x) for m in p)


def _put(q: Any) -> None:
    q[1] = OTHER


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(
    "f",
    [
        *(equal, copied_together, copied_alone, as_keys, set_under_another_name, replaced_in_the_list),
        replaced_by_a_function,
    ],
    ids=lambda f: f.__name__,
)
def test_which_object_it_is(f: Callable[..., Any], count: int) -> None:
    """An object that a list holds twice, and lists that hold others later: as Python does it, or refused."""

    def made() -> list[Plain]:
        m = Plain(2.0, np.array([1.3, 1.5, -0.2]))
        return [m, m] if count == 1 else [m, Plain(0.7, X)]

    try:
        found = grad(f, 1)(made(), X)
    except S2SADError:
        assert f not in (equal, copied_alone, as_keys)
        return
    np.testing.assert_allclose(found, numeric_gradient(lambda x: f(made(), x), (X,)), rtol=1e-7, atol=1e-9)


def test_what_is_said_of_a_method_that_sets_an_attribute() -> None:
    with pytest.raises(S2SADError, match="sets an attribute of an object to which an argument leads") as caught:
        grad(set_under_another_name)([Data(2.0, X), Data(3.0, X)], X)
    lines = str(caught.value).splitlines()
    assert lines[1].strip() == "self.a = self.a * x[0]"
    assert any(line.startswith("called from") and line.endswith("p[0].step(x)") for line in lines)


def test_what_an_object_does_may_change() -> None:
    def energy(m: Any) -> Any:
        return grad(lambda x, p: p[0].energy(x), 0)(X, [m])

    class Changing(Plain):
        pass

    m = Changing(2.0, np.array([1.3, 1.5, -0.2]))
    np.testing.assert_allclose(energy(m), m.a * m.b)
    Changing.energy = lambda self, x: np.sum(x) * self.a  # type: ignore[method-assign, misc]
    np.testing.assert_allclose(energy(m), np.full(3, m.a))
    m.energy = lambda x: np.sum(x) * 5.0  # type: ignore[method-assign]
    np.testing.assert_allclose(energy(m), np.full(3, 5.0))
    data, again = Data(2.0, np.ones(3)), Data(3.0, np.ones(3))
    first = grad(lambda p: p[0].norm)([again])[0]
    assert first.a == pytest.approx(np.sqrt(3.0))
    assert data.norm > 0
    with pytest.raises(S2SADError, match=r"Data\.norm"):
        grad(lambda p: p[0].norm)([data])  # what has been computed is constant


@dataclass
class Dense:
    w: Any
    b: Any
    function: Callable[[Any], Any] = np.tanh

    def __call__(self, x: Any) -> Any:
        return self.function(self.w @ x + self.b)


@dataclass
class Scale:
    s: Any

    def __call__(self, x: Any) -> Any:
        return x * self.s


def network(layers: Any, x: Any) -> Any:
    for layer in layers:
        x = layer(x)
    return np.sum(x**2)


def test_layers_of_different_classes() -> None:
    def made(v: Any) -> Any:
        squared = Dense(np.outer(v[:3], X), np.array(v[3:6]), lambda z: z * z)
        return squared, Scale(float(v[6])), Dense(np.eye(3) * v[7], np.ones(3))

    g = grad(network)(made(FIELDS), X)
    assert g[0].function is None
    found = [*(g[0].w @ X), *g[0].b, g[1].s, np.trace(g[2].w)]
    np.testing.assert_allclose(found, numeric_gradient(lambda v: network(made(v), X), (FIELDS,)), rtol=1e-7)
    of_x = numeric_gradient(lambda x: network(made(FIELDS), x), (X,))
    np.testing.assert_allclose(grad(network, 1)(made(FIELDS), X), of_x, rtol=1e-7)


def test_long_lists_and_lists_in_lists() -> None:
    many = [Added(i * 0.1, np.array(X)) for i in range(70)]
    f = in_a_list
    g = grad(f)(many, X)
    at = numeric_gradient(lambda a: f([*many[:66], Added(a, X), *many[67:]], X), (many[66].a,))
    assert g[66].a == pytest.approx(at, rel=1e-7)
    rows = [many[60:63], many[63:64]]
    found = grad(lambda p, x: sum(m.energy(x) for row in p for m in row))(rows, X)
    np.testing.assert_allclose([m.a for row in found for m in row], np.full(4, 2.0 * X @ X))
