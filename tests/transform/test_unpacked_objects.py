"""Objects with ``__iter__`` or ``__getitem__`` that are unpacked, and whose items go into displays and calls."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad
from tests.sources import function_of
from tests.transform.remaining import check_every_way, check_right_or_refused

KINDS = {
    "a generator": "    def __iter__(self):\n        yield from (self.x, self.y)\n        yield self.z\n",
    "an iterator": "    def __iter__(self):\n        return iter((self.x, self.y, self.z))\n",
    "an iterator of a list": "    def __iter__(self):\n        return iter([self.x, self.y, self.z])\n",
    "items": "    def __getitem__(self, i):\n        return (self.x, self.y, self.z)[i]\n",
    "an attribute": "    def __iter__(self):\n        return iter(self.all)\n",
}
MAKERS = {"made": "V(x[0], x[1], x[2] * x[0])", "with stars": "V(*x)", "of the module": "M"}
PROGRAMS = {
    "unpacked": "    a, b, c = v\n    return a * b * c * x[0]\n",
    "in a method": "    return v.norm() * x[1]\n",
    "with a star": "    a, *r = v\n    return a * r[0] * r[1] * x[0]\n",
    "nested": "    (a, b, c), k = v, x[0]\n    return a * b * c * k\n",
    "a list": "    return np.sum(np.array([*v]) ** 2) * x[0]\n",
    "a tuple": "    t = (x[0], *v, 2.0)\n    return t[0] * t[1] * t[3] * len(t)\n",
    "twice": "    return np.dot([*v, *v], np.arange(6.0)) * x[0]\n",
    "a call": "    return g(*v) * x[0]\n",
    "a loop": "    s = 0.0\n    for p, q in (v, w):\n        s = s + p * q\n    return s * x[0]\n",
}
TEXT = """
class P:
    def __init__(self, a, b):
        self.a, self.b = a, b
    def __iter__(self):
        yield self.a
        yield self.b
class V:
    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z
        self.all = [x, y, z]
{kind}
    def norm(self):
        x, y, z = self
        return np.sqrt(x * x + y * y + z * z)
M = V(0.4, 1.5, 0.2)
def g(a, b, c):
    return a * b + c
def f(x):
    v = {made}
{program}
"""
X, WAY = np.array([1.2, 0.7, 0.4]), np.array([0.3, -0.8, 1.1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("made", MAKERS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_right(name: str, made: str, kind: str) -> None:
    program = PROGRAMS[name]
    if name == "a loop":
        program = f"    v, w = P(x[0], x[1]), P(x[2], 2.0)\n{program}"
    # Where items end is known to the run alone, if that is an IndexError of a tuple; what runs between the items of a
    # generator, where a function that is called as it stands runs through it, is not known.
    as_it_stands = made == "of the module" and kind == "a generator" and name in ("in a method", "a call")
    if kind == "items" or as_it_stands:
        check_right_or_refused(function_of(TEXT.format(kind=KINDS[kind], made=MAKERS[made], program=program)), X, WAY)
        return
    check_every_way(function_of(TEXT.format(kind=KINDS[kind], made=MAKERS[made], program=program)), X)


@pytest.mark.parametrize("program", ["    a, b = v\n    return a * b\n", "    a, b, c, d = v\n    return a * b\n"])
def test_of_another_number(program: str) -> None:
    f = function_of(TEXT.format(kind=KINDS["a generator"], made=MAKERS["made"], program=program))
    with pytest.raises(ValueError, match="values to unpack") as wanted:
        f(X)
    with pytest.raises(ValueError, match="values to unpack") as found:
        grad(f)(X)
    assert str(found.value) == str(wanted.value)


ARRAYS = """
class V(np.ndarray):
    def __new__(cls, items):
        return np.asarray(items).view(cls)
{own}
def f(x):
    v = V(x * 2.0)
    t, u = [x[0], *v], (*v, 1.0)
    a, b, c = v
    return t[1] * t[2] + u[2] * a * b * c
"""


@pytest.mark.parametrize(
    "own", ["", "    def __iter__(self):\n        return iter([self[2], self[1], self[0] * 3.0])\n"]
)
def test_arrays_of_own_classes(own: str) -> None:
    check_right_or_refused(function_of(ARRAYS.format(own=own)), X, WAY)
    if not own:
        check_every_way(function_of(ARRAYS.format(own=own)), X)
