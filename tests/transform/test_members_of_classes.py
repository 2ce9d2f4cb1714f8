"""What objects get from their classes in other ways than by methods: by `__getattr__`, `partialmethod` and the like."""

from __future__ import annotations

import copy
import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient
from tests.sources import function_of

HEAD = """
class Inner:
    def __init__(self, k):
        self.k = k
    def square(self, v):
        return self.k * v ** 2

class Outer:
    label = 2.0
    row = np.ones(2)
    def __init__(self, inner, **more):
        self._inner, self._more, self.count = inner, more, 0
    def __getattr__(self, name):
        self.count += 1
        if name in self._more:
            return self._more[name] * self.count
        if name[:2] == "no":
            raise AttributeError(name)
        return getattr(self._inner, name)
    @property
    def gain(self):
        return self._inner.k * 3.0
    @gain.setter
    def gain(self, value):
        self._inner.k = value

class Checked(Outer):
    @property
    def bad(self):
        if self._inner.k > 0.0:
            raise AttributeError("bad")
        return self._inner.k
    @property
    def worse(self):
        return self.nothing
    @functools.cached_property
    def late(self):
        return self.bad
    @property
    def called(self):
        return no_attribute(self._inner)

def no_attribute(inner):
    raise AttributeError(inner)

class Twice(Outer):
    def __getattr__(self, name):
        return 2.0 * super().__getattr__(name)

class Model:
    power = 2
    def predict(self, v, a=1.0, *, b=0.0, power=1):
        return (a * v + b) ** power
    square = functools.partialmethod(predict, power=2)
    from_two = functools.partialmethod(predict, 2.0)
    def loss(self, v, **more):
        return self.square(v, **more)

class Other(Model):
    def predict(self, v, a=1.0, *, b=0.0, power=1):
        return v * a
    cubic = functools.partialmethod(predict, b=1.0)

class Registered:
    known = {}
    def __init_subclass__(cls, key=None, **more):
        super().__init_subclass__(**more)
        Registered.known[key or cls.__name__] = cls
    def __init__(self, k):
        self.k = k

class Half(Registered, key="half"):
    def value(self):
        return self.k / 2.0

class Area:
    @functools.singledispatchmethod
    def of(self, shape):
        raise NotImplementedError(type(shape))
    @of.register(list)
    def _(self, shape):
        return shape[0] * shape[1]
    @of.register(Inner)
    def _(self, shape):
        return shape.k ** 2

@dataclasses.dataclass
class Settings:
    rate: float
    size: int = 3
    weights: list = dataclasses.field(default_factory=list)

"""
#: Each with what Python gives: the gradient is compared with differences.
RIGHT = [
    "return Outer(Inner(x)).square(3.0)",
    "o = Outer(Inner(x), w=x)\n    return o.k * o.w * o.w + o.count * x",
    "o = Outer(Inner(x))\n    o.gain = x * 2.0\n    return o.gain * o.k * o.label",
    "o = Outer(Inner(x), label=5.0)\n    o.extra = x\n    return o.label * o.extra * o.k + o.count",
    "return Twice(Inner(x), w=3.0).w * x + Twice(Inner(x)).k",
    "return Model().square(3.0, a=x) + Model().from_two(x)",
    "return Model().square(3.0, x, power=3) * Model().loss(x, b=x)",
    "return Other().cubic(x, 2.0) + Other().square(x, a=x)",
    "return Registered.known['half'](x).value() * Half(x).k",
    "return Area().of([x, 2.0 * x]) + Area().of(Inner(x))",
    "s = Settings(x)\n    return sum(getattr(s, f.name) for f in dataclasses.fields(s) if f.name != 'weights') * x",
    "return sum([x for f in dataclasses.fields(Settings) if f.name[0] == 'r'])",
]
#: Where Python asks the class otherwise: right, or refused.
ODD = [
    "o = Outer(Inner(x))\n    try:\n        return o.nothing\n    except AttributeError:\n        return o.k * x",
    "o = Outer(Inner(x))\n    o.k = x ** 2\n    del o.k\n    return o.k * 3.0",
    "o = Outer(Inner(x))\n    o.row = x * o.row\n    y = o.row\n    del o.row\n    return (y * o.row).sum()",
    "o = Outer(Inner(x))\n    return o.k * (2.0 if hasattr(o, 'nope') else 3.0)",
    "return getattr(Outer(Inner(x)), 'nope', x * 3.0)",
    "return getattr(Outer(Inner(x)), 'k', 3.0) * x",
    "try:\n        x = object.__getattribute__(Outer(x), 'k')\n    except AttributeError:\n        pass\n    return x",
    "return copy.copy(Outer(Inner(x))).k",
    "class Local(Registered, key='local'):\n        def f(self):\n            return self.k\n    return Local(x).f()",
    "return Outer(Inner(x)).missing",
    *[f"return Checked(Inner(x), {n}=3.0).{n} * x" for n in ("bad", "worse", "late", "called")],
    "try:\n        v = Checked(Inner(x), bad=3.0).bad\n    except AttributeError:\n        v = 1.0\n    return v * x",
]
NAMES = {"functools": functools, "dataclasses": dataclasses, "copy": copy}


@pytest.mark.parametrize("body", RIGHT)
def test_objects_have_what_their_classes_give_them(body: str) -> None:
    f = function_of(f"{HEAD}def f(x):\n    {body}\n", NAMES)
    assert grad(f)(1.3) == pytest.approx(numeric_gradient(f, (1.3,)), rel=1e-7)
    assert jvp(f, (1.3,), (1.0,))[1] == pytest.approx(numeric_gradient(f, (1.3,)), rel=1e-7)


@pytest.mark.parametrize("body", ODD)
def test_what_python_asks_otherwise_is_right_or_refused(body: str) -> None:
    f: Any = function_of(f"{HEAD}def f(x):\n    {body}\n", NAMES)
    known = dict(f.__globals__["Registered"].known)
    try:
        found = grad(f)(1.3)
    except S2SADError:
        pass
    except (AttributeError, RecursionError):
        with pytest.raises((AttributeError, RecursionError)):
            f(1.3)
        return
    else:
        np.testing.assert_allclose(found, numeric_gradient(f, (1.3,)), rtol=1e-7)
    if "Local" in body:
        assert f.__globals__["Registered"].known == known


OF_CLASSES = """
class State:
    def __init__(self, a, b):
        self.__a, self.__b = a, b
    @property
    def a(self):
        return self.__a
    @property
    def b(self):
        return self.__b

class Law:
    __root = 2.0
    def __init__(self, scale):
        self.scale = scale
    @classmethod
    def weight(cls, z, s):
        return s.a * np.log(z) / cls.__root + cls.share(s)
    @classmethod
    def share(cls, s):
        return s.b
    @classmethod
    def of(cls, x):
        return cls(x * x)
    def state(self, x):
        return State(x * self.scale, x)

class Other(Law):
    @classmethod
    def share(cls, s):
        return s.b * s.a

LAW, OTHER = Law(3.0), Other(4.0)
"""


@pytest.mark.parametrize(
    "body",
    [
        "s = LAW.state(x)\n    return LAW.weight(x, s)",
        "s = OTHER.state(x)\n    return OTHER.weight(2.0, s) * LAW.share(s)",
        "weigh = OTHER.weight\n    return weigh(x, OTHER.state(x * x))",
        "return OTHER.of(x).state(x).a",
    ],
)
def test_class_methods_of_objects_that_exist(body: str) -> None:
    f = function_of(f"{OF_CLASSES}def f(x):\n    {body}\n")
    assert grad(f)(1.3) == pytest.approx(numeric_gradient(f, (1.3,)), rel=1e-7)
    assert jvp(f, (1.3,), (1.0,))[1] == pytest.approx(numeric_gradient(f, (1.3,)), rel=1e-7)
