"""Lists of objects whose members depend on the run: objects are left out, taken away, added and replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from tests.oracle import numeric_gradient
from tests.transform.remaining import check_both_modes

X = np.array([0.8, 1.3, 0.6, 1.7, 0.4])
WAY = np.array([0.3, -0.7, 0.2, 0.5, -0.1])


class Particle:
    def __init__(self, x, v, m):
        self.x, self.v, self.m = x, v, m

    def step(self, dt):
        self.v = self.v - self.x * dt
        self.x = self.x + self.v * dt

    def energy(self):
        return 0.5 * self.m * self.v**2 + 0.5 * self.x**2


def left_out(x):
    ps = [Particle(x[i], 0.1 * i, x[4]) for i in range(4)]
    for _ in range(3):
        for p in ps:
            p.step(0.3)
        ps = [p for p in ps if p.x > 0.1]
    return sum(p.energy() for p in ps)


def left_out_of_a_sum(x):
    ps = [Particle(x[i], 0.1 * i, x[4]) for i in range(4)]
    return sum(p.energy() for p in ps if p.x > 0.7) + max(p.x for p in ps if p.v < 0.25)


def taken_away(x):
    ps = [Particle(x[i], 0.1 * i, x[4]) for i in range(4)]
    out = 0.0
    for _ in range(3):
        for p in ps:
            p.step(0.3)
        if ps[0].x < 0.5:
            q = ps.pop(0)
            out = out + q.energy()
    return out + sum(p.energy() for p in ps) + len(ps)


def added(x):
    ps = [Particle(x[i], 0.1 * i, x[4]) for i in range(2)]
    for _ in range(3):
        new = []
        for p in ps:
            p.step(0.3)
            if p.x > 0.9:
                new.append(Particle(p.x * 0.5, p.v, p.m * 0.5))
        ps.extend(new)
    return sum(p.energy() for p in ps)


def put_before_and_turned_round(x):
    ps = [Particle(x[i], 0.1 * i, x[4]) for i in range(2)]
    if x[2] > 0.5:
        ps.insert(0, Particle(x[2], x[3], 1.0))
        ps.reverse()
    total = 0.0
    for k, p in enumerate(ps):
        total = total + (k + 1) * p.energy()
    return total


def replaced(x):
    ps = [Particle(x[i], 0.1 * i, x[4]) for i in range(3)]
    for _ in range(2):
        i = int(np.argmin([p.x for p in ps]))
        ps[i] = Particle(ps[i].x + 0.5, ps[i].v * 0.5, ps[i].m)
    return sum(p.energy() for p in ps)


def chosen_by_place(x):
    ps = [Particle(x[i], 0.1 * i, x[4]) for i in range(4)]
    b = ps[int(np.argmax([p.energy() for p in ps]))]
    b.x = b.x * 2
    return b.energy() + sum(p.energy() for p in ps if p is not b)


def until_none_is_left(x):
    ps = [Particle(x[i], 0.1 * i, 1.0 + i) for i in range(3)]
    t = 0.0
    while ps and t < 10.0:
        del ps[int(x[3] > 1.0) - 1]
        t = t + sum(p.energy() for p in ps) + 0.1
    return t


def put_into_an_empty_list(x):
    ps = [Particle(x[i], 0.1 * i, x[4]) for i in range(4)]
    rows, others = [], []
    kept = [p for p in ps if p.x > 0.7]
    rows += kept
    rows += kept
    others = others + [p for p in ps if p.v < 0.15]
    return sum(p.energy() for p in rows) + sum(p.x for p in others)


@pytest.mark.parametrize(
    "f",
    [
        put_into_an_empty_list,
        left_out,
        left_out_of_a_sum,
        taken_away,
        added,
        put_before_and_turned_round,
        replaced,
        chosen_by_place,
        until_none_is_left,
    ],
)
def test_objects_that_come_and_go(f: Callable[..., Any]) -> None:
    check_both_modes(f, X, WAY)
    check_both_modes(f, X[::-1].copy() + 0.07, WAY)


def in_order(x):
    q = [Particle(x[i], 0.0, 1.0 + i) for i in range(4)]
    t = 0.0
    while q:
        q.sort(key=lambda p: p.x)
        p = q.pop(0)
        t = t + p.x * p.m * 0.5 ** len(q)
        for r in q:
            r.x = r.x + 0.1 * p.x
    return t


@dataclass
class Lot:
    price: float
    quantity: float


class Book:
    def __init__(self):
        self.lots, self.gain = [], 0.0

    def buy(self, price, quantity):
        self.lots.append(Lot(price, quantity))

    def sell(self, price, quantity):
        while quantity > 1e-12 and self.lots:
            lot = self.lots[0]
            n = min(lot.quantity, quantity)
            self.gain += n * (price - lot.price)
            lot.quantity -= n
            quantity -= n
            if lot.quantity <= 1e-12:
                self.lots.pop(0)


def first_in_first_out(x):
    b = Book()
    b.buy(x[0], 1.0)
    b.buy(x[1], 2.0 * x[4])
    b.sell(x[2], 1.3)
    b.buy(x[3], 0.5)
    b.sell(2.0, 0.7)
    return b.gain + sum(lot.quantity * lot.price for lot in b.lots)


class Agent:
    def __init__(self, e, place):
        self.e, self.place = e, place

    def act(self, food):
        self.e = self.e + food * np.exp(-(self.place**2)) - 0.4
        self.place = self.place * 0.9

    def child(self):
        self.e = self.e / 2
        return Agent(self.e, self.place + 0.1)


class World:
    def __init__(self, agents, food):
        self.agents, self.food, self.t, self.seen = agents, food, 0, []

    def tick(self):
        for a in self.agents:
            a.act(self.food)
        born = [a.child() for a in self.agents if a.e > 1.2]
        self.agents = [a for a in self.agents if a.e > 0.3] + born
        self.seen.append({"n": len(self.agents), "e": sum(a.e for a in self.agents)})
        self.t += 1


def births_and_deaths(x):
    w = World([Agent(x[i], 0.2 * i) for i in range(4)], x[4] + 0.3)
    while w.t < 3:
        w.tick()
    return sum(s["e"] / max(1, s["n"]) for s in w.seen)


class Cloud:
    def __init__(self, ps):
        self.ps, self.lost, self.t = ps, 0.0, 0.0

    def step(self, dt):
        for p in self.ps:
            p.step(dt)
        self.lost = self.lost + sum(p.energy() for p in self.ps if p.x < 0.3)
        self.ps = [p for p in self.ps if p.x >= 0.3]
        self.t += dt


def many_rounds(x):
    c = Cloud([Particle(x[i], 0.1 * i, x[4]) for i in range(4)])
    for _ in range(80):
        c.step(0.01)
    return c.lost + sum(p.energy() for p in c.ps)


def as_long_as_there_are_some(x):
    c = Cloud([Particle(x[i], 0.1 * i, x[4]) for i in range(4)])
    while c.ps and c.t < 2.0:
        c.step(0.1)
    return c.lost + sum(p.energy() for p in c.ps) + c.t


def _left(ps, e):
    total = 0.0
    while ps:
        ps = [p for p in ps if p.energy() > e]
        for p in ps:
            p.step(0.1)
            p.v = p.v * 0.7
        total = total + sum(p.x for p in ps)
    return total


def a_variable_that_is_replaced(x):
    return _left([Particle(x[i], 0.1 * i, x[4]) for i in range(4)], 0.2)


def _grown(ps, n):
    for _ in range(n):
        ps = ps + [Particle(p.x * 0.5, p.v, p.m) for p in ps if p.x > 0.7]
        for p in ps:
            p.step(0.2)
    return ps


def growing(x):
    ps = _grown([Particle(x[i], 0.1 * i, x[4]) for i in range(3)], 3)
    return sum(p.energy() for p in ps)


@pytest.mark.parametrize(
    "f",
    [
        in_order,
        first_in_first_out,
        births_and_deaths,
        many_rounds,
        as_long_as_there_are_some,
        a_variable_that_is_replaced,
        growing,
    ],
)
def test_objects_in_loops(f: Callable[..., Any]) -> None:
    check_both_modes(f, X, WAY)


@dataclass
class Stage:
    dry: float
    fuel: float
    thrust: float
    isp: float

    @property
    def mass(self):
        return self.dry + self.fuel


@dataclass
class Rocket:
    stages: list[Stage]
    v: float = 0.0
    h: float = 0.0
    log: list[Any] = field(default_factory=list)

    @property
    def mass(self):
        return 0.1 + sum(s.mass for s in self.stages)

    def step(self, dt):
        stage = self.stages[0]
        burn = min(stage.fuel, stage.thrust / (9.81 * stage.isp) * dt)
        f = stage.thrust if burn > 0 else 0.0
        a = f / self.mass - 0.1 * self.v * abs(self.v) * np.exp(-self.h)
        stage.fuel -= burn
        self.v += a * dt
        self.h += self.v * dt
        if stage.fuel <= 1e-9 and len(self.stages) > 1:
            self.log.append((self.h, self.v))
            self.stages.pop(0)


def rocket(x):
    r = Rocket([Stage(0.2, x[0], 9.81, 0.5 * x[1]), Stage(0.1, x[2], 5.0, x[3])])
    for _ in range(6):
        r.step(0.25)
    return r.h + sum(h * v for h, v in r.log)


def test_stages_that_are_dropped() -> None:
    x = np.array([0.7, 1.3, 0.6, 1.7])
    expected = numeric_gradient(rocket, [x])
    value, gradient = value_and_grad(rocket)(x)
    assert value == rocket(x)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jvp(rocket, (x,), (WAY[:4],))[1], expected @ WAY[:4], rtol=1e-7, atol=1e-8)
