"""Objects, tuples and functions that loops and branches replace by others of the same shape, beside differences.

None of the copies may be changed where something else may have the object too: then the derivative is right, for the
loop is written out or the object is found in no other way, or there is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from s2sad import S2SADError, grad
from tests.oracle import numeric_gradient


class Vec:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def __add__(self, other: Vec) -> Vec:
        return Vec(self.x + other.x, self.y + other.y)

    def __mul__(self, factor: Any) -> Vec:
        return Vec(self.x * factor, self.y * factor)

    def norm2(self) -> Any:
        return self.x * self.x + self.y * self.y


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclass(frozen=True)
class State:
    u: Any
    v: Any
    k: float = 2.0


class Body:
    def __init__(self, p: Vec, v: Vec) -> None:
        self.p, self.v = p, v

    def step(self, dt: float) -> None:
        self.p = self.p + self.v * dt
        self.v = self.v * 0.9


def vec(x: Any, n: int) -> Any:
    p = Vec(x[0], x[1])
    v = Vec(x[1], 1.0)
    for _ in range(n):
        p = p + v * 0.1
    return p.norm2()


def vec_while(x: Any, n: int) -> Any:
    p = Vec(x[0], x[1])
    v = Vec(x[1], 1.0)
    i = 0
    while i < n:
        p = p + v * p.x
        i += 1
    return p.norm2()


def tup(x: Any, n: int) -> Any:
    s = (x[0], x[1])
    for _ in range(n):
        s = (s[0] * 0.5 + s[1], s[0])
    return s[0] * s[1]


def named(x: Any, n: int) -> Any:
    s = Pair(x[0], x[1])
    for _ in range(n):
        s = Pair(s.b * s.a, s.a + 0.1)
    return s.a * s.b


def named_replace(x: Any, n: int) -> Any:
    s = Pair(x[0], x[1])
    for _ in range(n):
        s = s._replace(a=s.a * s.b)
    return s.a * s.b


def frozen(x: Any, n: int) -> Any:
    s = State(x[0], x[1])
    for _ in range(n):
        s = State(s.u + s.v * s.k, s.u * 0.3)
    return s.u * s.v


def body(x: Any, n: int) -> Any:
    b = Body(Vec(x[0], x[1]), Vec(x[1], 0.5))
    for _ in range(n):
        b.step(0.1)
    return b.p.norm2() + b.v.x


def swap(x: Any, n: int) -> Any:
    p, q = Vec(x[0], 1.0), Vec(x[1], 2.0)
    for _ in range(n):
        p, q = q, p + q
    return p.x * q.y + q.x * 3


def alias_before(x: Any, n: int) -> Any:
    p = Vec(x[0], x[1])
    q = p
    for _ in range(n):
        q.x = q.x + 1.0
        p = p + q
    return p.norm2() + q.x


def alias_after(x: Any, n: int) -> Any:
    p = Vec(x[0], x[1])
    q = p
    for _ in range(n):
        p = p + Vec(1.0, x[0])
    q.x = 7.0
    return p.norm2()


def changed_after(x: Any, n: int) -> Any:
    p = Vec(x[0], x[1])
    for _ in range(n):
        p = p + Vec(1.0, x[0])
    p.x = p.x * 2.0
    return p.norm2()


def changed_in_round(x: Any, n: int) -> Any:
    p = Vec(x[0], x[1])
    for _ in range(n):
        q = Vec(p.y, p.x)
        q.x += x[0]
        p = q
    return p.x * 2 + p.y


def changed_next_round(x: Any, n: int) -> Any:
    p = Vec(x[0], x[1])
    for _ in range(n):
        p.x += 1.0
        p = Vec(p.y * p.x, p.x)
    return p.x * 2 + p.y


def kept_alias(x: Any, n: int) -> Any:
    p = Vec(x[0], x[1])
    last = p
    for _ in range(n):
        last = p
        p = p + Vec(x[1], 1.0)
    return last.norm2() + p.x


def identity(x: Any, n: int) -> Any:
    p = Vec(x[0], x[1])
    q = p
    for _ in range(n):
        p = p + Vec(x[1], 1.0)
    return p.x if p is q else p.x * p.y


def same_shape_const(x: Any, n: int) -> Any:
    p = Vec(x[0], 3.0)
    for _ in range(n):
        p = Vec(p.x * p.y, p.y)
    return p.x + p.y


def break_(x: Any, n: int) -> Any:
    p = Vec(x[0], x[1])
    for _ in range(n):
        if p.x > 1.9:
            break
        p = p + Vec(0.7, x[0])
    return p.norm2()


def cont(x: Any, n: int) -> Any:
    p = Vec(x[0], x[1])
    for i in range(n):
        if i % 2:
            continue
        p = p + Vec(0.7, x[0])
    return p.norm2()


def nested(x: Any, n: int) -> Any:
    p = Vec(x[0], x[1])
    for _ in range(n):
        for _ in range(n):
            p = p + Vec(0.1, p.x)
        p = p * 0.5
    return p.norm2()


def moved(p: Vec, n: int) -> Vec:
    for _ in range(n):
        p = p + Vec(p.y, 0.5)
    return p


def callee(x: Any, n: int) -> Any:
    a = Vec(x[0], x[1])
    r = moved(a, n)
    return r.norm2() + a.x


def callee_changed(x: Any, n: int) -> Any:
    a = Vec(x[0], x[1])
    r = moved(a, n)
    a.x = 5.0
    return r.norm2() + a.x


def callee_changed2(x: Any, n: int) -> Any:
    a = Vec(x[0], x[1])
    r = moved(a, n)
    r.x = 5.0
    return r.norm2() + a.x * a.x


def arr(x: Any, n: int) -> Any:
    p = Vec(x, x * 2)
    for _ in range(n):
        p = p + Vec(np.sin(p.x), p.y * 0.1)
    return np.sum(p.norm2())


def in_list(x: Any, n: int) -> Any:
    ps = [Vec(x[0], 1.0), Vec(x[1], 2.0)]
    for _ in range(n):
        ps = [q + Vec(q.y, 0.1) for q in ps]
    return ps[0].x * ps[1].x


def in_list2(x: Any, n: int) -> Any:
    ps = [Vec(x[0], 1.0), Vec(x[1], 2.0)]
    for _ in range(n):
        for k in range(2):
            ps[k] = ps[k] + Vec(ps[1 - k].y, 0.1)
    return ps[0].x * ps[1].x


def cond_replace(x: Any, n: int) -> Any:
    p = Vec(x[0], x[1])
    for i in range(n):
        if x[i % 2] < 0.5:
            p = p + Vec(x[1], 0.2)
    return p.norm2()


def numbers_to_arrays(x: Any, n: int) -> Any:
    p = Vec(1.0, 2.0)
    for _ in range(n):
        p = p * x[0] + Vec(x, 1.0)
    return np.sum(p.x * p.y)


def shared_world(x: Any, n: int) -> Any:
    w = Vec(x[0], 1.0)
    b = Body(w, Vec(x[1], 1.0))
    for _ in range(n):
        b = Body(w, b.v + w)
        w.x = w.x * 1.1
    return b.p.x + b.v.x


def tuple_of_objects(x: Any, n: int) -> Any:
    s = (Vec(x[0], 1.0), Vec(x[1], 2.0))
    for _ in range(n):
        a, b = s
        s = (b, a + b)
    return s[0].x * s[1].y + s[1].x


def early_return(x: Any, n: int) -> Any:
    p = Vec(x[0], x[1])
    q = p
    r = found(p, q, n)
    r.x = r.x * 3.0
    return r.norm2() + q.x * p.y


def found(p: Vec, q: Vec, n: int) -> Vec:
    for _ in range(n):
        if p.x > 0.9:
            return q
        p = p + Vec(0.2, p.x)
    return p


def after_a_branch(x: Any, n: int) -> Any:
    if x[0] > 0.0:
        p = Vec(x[0], x[1])
        q = p
        for _ in range(n):
            p = p + Vec(x[1], 1.0)
        r = q
    else:
        p, r = Vec(x[0], 1.0), Vec(x[1], 2.0)
    p.x = p.x * 5.0
    return r.x * p.y + p.x


def of_a_branch(x: Any, n: int) -> Any:
    p, q = Vec(x[0], x[1]), Vec(x[1], 2.0)
    r = p if x[0] > x[1] * n * 1.1 else q
    p.x = p.x * 3.0
    return r.norm2() + q.x


def _function(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = globals()[name]
    return found


RIGHT = [
    "vec", "vec_while", "tup", "named", "named_replace", "frozen", "body", "swap", "changed_in_round", "kept_alias",
    "same_shape_const", "break_", "cont", "nested", "callee", "arr", "in_list", "in_list2", "cond_replace",
    "numbers_to_arrays", "shared_world", "tuple_of_objects",
]  # fmt: skip
#: In these an object is changed, or compared, that others may have.
CHANGED = [
    "alias_before", "alias_after", "changed_after", "changed_next_round", "identity", "callee_changed",
    "callee_changed2", "early_return", "after_a_branch", "of_a_branch",
]  # fmt: skip


def _near(f: Callable[..., Any], x: Any, n: int) -> Any:
    return numeric_gradient(f, (x, n))


@pytest.mark.parametrize("n", [0, 1, 2, 5, 70])
@pytest.mark.parametrize("name", RIGHT)
def test_what_is_replaced(name: str, n: int) -> None:
    f, x = _function(name), np.array([0.6, 0.3]) if n < 70 else np.array([0.011, 0.021])
    np.testing.assert_allclose(grad(f)(x, n), _near(f, x, n), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("n", [0, 1, 2, 5, 70])
@pytest.mark.parametrize("name", CHANGED)
def test_what_is_changed_later(name: str, n: int) -> None:
    f, x = _function(name), np.array([0.6, 0.3]) if n < 70 else np.array([0.011, 0.021])
    try:
        found = grad(f)(x, n)
    except S2SADError:
        return
    np.testing.assert_allclose(found, _near(f, x, n), rtol=1e-5, atol=1e-9)


def test_loops_stay_loops() -> None:
    """Forty rounds are not written out."""

    def loss(x: Any) -> Any:
        p = Vec(x[0], x[1])
        for _ in range(40):
            p = p + Vec(p.y, 0.1)
        return p.norm2()

    text = grad(loss).source_for(np.array([0.5, 0.2]))
    assert "for _ in range(40)" in text
    assert len(text.splitlines()) < 40
