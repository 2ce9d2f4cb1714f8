"""Classes that are made by classes of the user's, which do no more than make them."""

from __future__ import annotations

import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient
from tests.sources import function_of

MAKING = """
import abc

REGISTRY = {}

class Registered(type):
    def __new__(mcs, name, bases, space):
        cls = type.__new__(mcs, name, bases, space)
        REGISTRY[name] = cls
        return cls

    def names(cls):
        return sorted(REGISTRY)

class Concrete(abc.ABCMeta):
    def __init__(cls, *args, **kwargs):
        super().__init__(*args, **kwargs)

class Both(Concrete, Registered):
    pass

class Base(metaclass=abc.ABCMeta):
    @abc.abstractmethod
    def update(self, t):
        ...

class Updater(Base, metaclass=Both):
    def __init__(self, p):
        self.p, self.b = p, 0.0

    def begin(self, b):
        self.b = b

    def update(self, t):
        self.b = self.b * self.p + t

def f(x):
    updater = Updater(0.5)
    updater.begin(x)
    for t in range(4):
        updater.update(t * x)
    return updater.b * x if isinstance(updater, Base) else 0.0
"""
CALLED = """
class Single(type):
    made = {}

    def __call__(cls, *args):
        if cls not in cls.made:
            cls.made[cls] = super().__call__(*args)
        return cls.made[cls]

class Model(metaclass=Single):
    def __init__(self, p):
        self.p = p

def f(x):
    Single.made.clear()
    return Model(x).p * Model(3 * x).p
"""


def test_objects_of_classes_that_others_make() -> None:
    f = function_of(MAKING)
    expected = numeric_gradient(f, (2.0,))
    assert grad(f)(2.0) == pytest.approx(expected)
    assert jvp(f, (2.0,), (1.0,))[1] == pytest.approx(expected)


def test_a_class_of_classes_that_says_what_a_call_gives_is_right_or_refused() -> None:
    f = function_of(CALLED)
    try:
        found = grad(f)(2.0)
    except S2SADError:
        return
    assert found == pytest.approx(numeric_gradient(f, (2.0,)))
