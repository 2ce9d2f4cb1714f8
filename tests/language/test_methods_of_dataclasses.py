"""Methods of arguments that are dataclasses, whose fields carry derivatives and may be set."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UndefinedDerivativeError
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.5, -1.2])
#: The fields of the argument in one vector.
FIELDS = np.array([2.0, 1.3, 1.5, -0.2])
DOT = np.array([1.0, 0.5, -0.3, 0.2])


@dataclass
class Model:
    a: float
    b: Any

    def energy(self, x: Any) -> Any:
        return np.sum(self.b * x) * self.a

    def step(self, x: Any) -> None:
        self.a = self.a * x[0]
        self.b[0] *= 2

    def put(self, q: Any, v: Any) -> None:
        q[1] = v * self.a

    @property
    def square(self) -> Any:
        return self.a**2 * self.b[1]

    @staticmethod
    def bounded(v: Any) -> Any:
        return np.maximum(v, 0.1)

    @classmethod
    def doubled(cls, a: Any, b: Any) -> Model:
        return cls(a * 2, b)

    def scaled(self, k: Any) -> Model:
        return replace(self, a=self.a * k)

    def itself(self) -> Model:
        return self


OTHER = Model(1.5, np.array([0.3, 0.2, 0.1]))


def called(p: Any, x: Any) -> Any:
    return p.energy(x) * p.square


def of_the_class(p: Any, x: Any) -> Any:
    return np.sum(p.bounded(p.b) * x) * p.a + Model.doubled(p.a, x).square


def replaced(p: Any, x: Any) -> Any:
    return p.scaled(x[0]).energy(x)


def set_under_two_names(p: Any, x: Any) -> Any:
    p.step(x)
    q = p
    q.step(x)
    return p.energy(x)


def set_through_a_result(p: Any, x: Any) -> Any:
    p.itself().a = 3.0 * x[0]
    return p.energy(x)


def set_in_loops(p: Any, x: Any) -> Any:
    for _ in range(3):
        p.step(x)
    while p.a < 20:
        p.a += 5.0
        p.b = p.b + p.a * x
    return p.square + p.energy(x)


def set_in_a_branch(p: Any, x: Any) -> Any:
    if p.a > 1:
        p.step(x)
    return p.energy(x)


def set_where_it_is_tried(p: Any, x: Any) -> Any:
    try:
        p.step(x)
        if x[0] > 0:
            raise ValueError
    except ValueError:
        return p.energy(x) * 2
    return p.energy(x)


def copied(p: Any, x: Any) -> Any:
    q, r = copy.deepcopy(p), copy.copy(p)
    q.step(x)
    r.a = p.a * 3.0
    return p.energy(x) * q.energy(x) * r.energy(x)


def captured(p: Any, x: Any) -> Any:
    def now() -> Any:
        return p.a

    p.step(x)
    return now() * p.energy(x)


def held(p: Any, x: Any) -> Any:
    d, ps = {"q": p}, [p, p.scaled(2.0)]
    d["q"].step(x)
    return sum(q.energy(x) for q in ps)


def recursive(p: Any, x: Any, n: int = 3) -> Any:
    if n == 0:
        return p.energy(x)
    p.step(x)
    return recursive(p, x, n - 1)


def generated(p: Any, x: Any) -> Any:
    def values() -> Iterator[Any]:
        for i in range(3):
            p.a = p.a + x[i]
            yield p.a

    return sum(values()) * p.energy(x)


def asked(p: Any, x: Any) -> Any:
    d = dataclasses.asdict(p)
    return (p.energy(x) if isinstance(p, Model) and p == p else 0.0) * d["a"] * np.sum(d["b"])


def written_elsewhere(p: Any, x: Any) -> Any:
    a = x * p.b
    p.put(a, x[0])
    return np.sum(a * x)


def beside_one_of_the_module(p: Any, x: Any) -> Any:
    return p.energy(x) * OTHER.energy(x)


FUNCTIONS = [
    *(called, of_the_class, replaced, set_under_two_names, set_through_a_result, set_in_loops, set_in_a_branch),
    *(set_where_it_is_tried, copied, captured, held, recursive, generated, asked, written_elsewhere),
    beside_one_of_the_module,
]


def model(v: Any) -> Model:
    return Model(float(v[0]), np.array(v[1:]))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives(f: Callable[..., Any]) -> None:
    expected = numeric_gradient(lambda v: f(model(v), X), (FIELDS,))
    given = model(FIELDS)
    found = grad(f)(given, X)
    np.testing.assert_allclose([found.a, *found.b], expected, rtol=1e-7)
    np.testing.assert_array_equal([given.a, *given.b], FIELDS)  # it is changed in the function alone
    value, dot = jvp(f, (given, X), (model(DOT), np.zeros(3)))
    np.testing.assert_allclose([value, dot], [f(model(FIELDS), X), expected @ DOT], rtol=1e-7)
    of_x = numeric_gradient(lambda x: f(model(FIELDS), x), (X,))
    np.testing.assert_allclose(grad(f, 1)(given, X), of_x, rtol=1e-7, atol=1e-9)


def two(p: Any, q: Any, x: Any) -> Any:
    return p.energy(x) * q.energy(x)


def the_same(p: Any, q: Any, x: Any) -> Any:
    return p.energy(x) * (3.0 if p is q else q.energy(x))


def first_set(p: Any, q: Any, x: Any) -> Any:
    p.step(x)
    return p.energy(x) * q.energy(x)


@pytest.mark.parametrize("f", [two, the_same, first_set])
def test_two_arguments_that_may_be_one_object(f: Callable[..., Any]) -> None:
    found = grad(f)(model(FIELDS), model(DOT), X)
    expected = numeric_gradient(lambda v: f(model(v), model(DOT), X), (FIELDS,))
    np.testing.assert_allclose([found.a, *found.b], expected, rtol=1e-7)
    p = model(FIELDS)
    if f is two:
        assert grad(f, 2)(p, p, X) == pytest.approx(numeric_gradient(f, (p, p, X), 2), rel=1e-7)
    else:
        with pytest.raises(UndefinedDerivativeError, match="arguments p and q share an object of type Model"):
            grad(f)(p, p, X)


def test_an_array_that_another_argument_has_too() -> None:
    p = model(FIELDS)
    with pytest.raises(UndefinedDerivativeError, match=r"arguments p.b and x share memory"):
        grad(set_in_a_branch)(p, p.b)


class Plain:
    """An object without attributes, the methods of which write what they are given."""

    @staticmethod
    def put(q: Any, v: Any) -> None:
        q[1] = v

    def sort(self, q: Any, v: Any) -> None:
        q[2] += v * q[0]


def by_methods(x: Any, o: Any) -> Any:
    a = x * 2
    b = a
    o.put(b, x[0])
    o.sort(a, v=x[1])
    return np.sum(a * x)


def test_objects_without_attributes() -> None:
    np.testing.assert_allclose(grad(by_methods)(X, Plain()), numeric_gradient(by_methods, (X, Plain()), 0), rtol=1e-7)
