"""Functions and objects that a program makes and uses: what remains does the same, and its gradients are right."""

from __future__ import annotations

import ast
import dataclasses
import functools
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np
import pytest

from s2sad import grad
from s2sad.frontend.source import read_source
from s2sad.transform.specialise import specialised
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7, -0.4])
LOG: list[Any] = []


def noted(value: Any) -> Any:
    LOG.append(value)
    return value


def rk4(f: Any, t: Any, y: Any, h: Any) -> Any:
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h / 2 * k1)
    k3 = f(t + h / 2, y + h / 2 * k2)
    k4 = f(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def newton(g: Any, slope: Any, x0: Any, steps: int = 5) -> Any:
    x = x0
    for _ in range(steps):
        x = x - g(x) / slope(x)
    return x


# --- closures


def lambdas_on_a_line(x: Any) -> Any:
    f, g = (lambda v: v * v), (lambda v, k=2.0: k * v)
    return np.sum(f(x) * g(x) + g(x, 3.0))


def captured_read_late(x: Any) -> Any:
    a = x[0]

    def f(t: Any) -> Any:
        return a * t

    first = f(2.0)
    a = x[1] * x[1]
    return first + f(3.0)


def default_read_early(x: Any) -> Any:
    a = x[0]
    f = lambda t, a=a: a * t  # noqa: E731
    a = x[1]
    return f(2.0) * a


def shared_count(x: Any) -> Any:
    total = 0.0

    def add(v: Any) -> None:
        nonlocal total
        total = total + v * v

    for i in range(3):
        add(x[i] * i)
        if i == 1:
            add(x[0])
    return total


def two_of_one_maker(x: Any) -> Any:
    def make(k: Any) -> Any:
        return lambda t: k * t

    return np.sum(make(x[0])(x) + make(2.0)(x))


def made_by_another(x: Any) -> Any:
    return np.sum(scaled_by(x[0])(x))


def scaled_by(k: Any) -> Any:
    bias = k * k

    def scaled(t: Any) -> Any:
        return k * t + bias

    return scaled


def composed(x: Any) -> Any:
    compose = lambda f, g: lambda v: f(g(v))  # noqa: E731
    h = compose(np.sin, lambda v: v * v)
    return np.sum(compose(h, np.exp)(x))


def recursive(x: Any) -> Any:
    def power(v: Any, n: int) -> Any:
        if n == 0:
            return 1.0
        return v * x[1] * power(v, n - 1)

    return power(x[0], 3)


def mutually(x: Any) -> Any:
    def even(v: Any, n: int) -> Any:
        return v if n == 0 else odd(v * x[0], n - 1)

    def odd(v: Any, n: int) -> Any:
        return v + 1.0 if n == 0 else even(v * x[1], n - 1)

    return even(x[2], 4)


def with_early_returns(x: Any) -> Any:
    def clipped(v: Any) -> Any:
        if v > 0.5:
            return 0.5 * v
        if v < -0.2:
            w = v * v
            return -w
        return v * x[0]

    return clipped(x[0]) + clipped(x[1]) + clipped(x[2])


def in_a_loop_that_breaks(x: Any) -> Any:
    y = 1.0
    for i in range(6):
        step = lambda v: v * x[1] + i  # noqa: E731, B023
        y = step(y)
        if y > 3.0:
            break
    else:
        y = 0.0
    return y * y


def long_inner(x: Any, k: float = 1.3) -> Any:
    def rhs(t: Any, y: Any) -> Any:
        if t > 1.0:
            return y * k
        a = np.sin(t) * y
        b = np.cos(t) * x[0]
        c = a * b + k
        d = c * y + a
        e = d * d + b
        return e * 0.1 + a - b

    y = x
    for i in range(3):
        y = rk4(rhs, i * 0.5, y, 0.1)
    return np.sum(y)


def by_newton(x: Any) -> Any:
    return newton(lambda v: v * v - x[1], lambda v: 2.0 * v, 1.0, steps=6)


def evaluated_in_order(x: Any) -> Any:
    def f(a: Any, b: Any) -> Any:
        noted("f")
        return a * noted(b)

    return f(noted(x[0]), noted(x[1]) * f(x[2], 2.0))


def chosen(x: Any, kind: str = "b") -> Any:
    if kind == "a":
        f = np.sin
    elif x[0] > 0:
        f = lambda v: v * x[1]  # noqa: E731
    else:
        f = np.cos
    return np.sum(f(x))


def from_a_dict(x: Any, name: str = "square") -> Any:
    table = {"square": lambda v: v * v, "scaled": lambda v: x[0] * v}
    return np.sum(table["square"](x) + table["scaled"](x)) + sum(f(1.0) for f in (np.sin, np.cos))


def in_a_list(x: Any) -> Any:
    stages = [lambda v: v * x[0]]
    stages.append(np.tanh)
    stages += [lambda v: v + x[1]]
    for number, stage in enumerate(stages):
        x = stage(x) * (number + 1)
    return np.sum(x)


def optional(x: Any) -> Any:
    def run(v: Any, callback: Any = None) -> Any:
        if callback is not None:
            v = callback(v)
        return v * v

    return np.sum(run(x) + run(x, lambda v: x[0] * v))


def with_stars(x: Any) -> Any:
    def weighted(*terms: Any, scale: Any = 1.0, **named: Any) -> Any:
        total = 0.0
        for term in terms:
            total = total + term
        return scale * total * named["bias"]

    args = (x[0], x[1] * x[2])
    return weighted(*args, 2.0, scale=x[1], bias=x[0])


def partial(x: Any) -> Any:
    f = functools.partial(power_of, exponent=3)
    g = functools.partial(f, scale=x[0])
    return np.sum(f(x) + g(x))


def power_of(v: Any, exponent: int = 2, scale: Any = 1.0) -> Any:
    return scale * v**exponent


def while_it_holds(x: Any) -> Any:
    far = lambda v: np.sum(v * v) > 0.1  # noqa: E731
    halve = lambda v: v * 0.5  # noqa: E731
    y, n = x * x[1], 0
    while far(y) and n < 20:
        y = halve(y)
        n += 1
    return np.sum(y) * n


def short_circuits(x: Any) -> Any:
    def positive(v: Any) -> Any:
        noted(1)
        return v > 0

    a = x[0] if positive(x[0]) or positive(x[1]) else x[1]
    b = positive(x[2]) and positive(x[0]) and x[1]
    return a * x[2] + (b or x[1])


def written_into(x: Any) -> Any:
    y = x * 1.0

    def clear(i: int) -> None:
        y[i] = x[0] * y[i]

    clear(0)
    z = y[0] * y[1]
    clear(1)
    return z + np.sum(y)


# --- objects


class Dense:
    def __init__(self, w: Any, b: Any = 0.1) -> None:
        self.w = w
        self.b = b
        self.calls = 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        return np.tanh(self.w * x + self.b)

    @property
    def size(self) -> Any:
        return self.w * self.w

    @property
    def bias(self) -> Any:
        return self.b

    @bias.setter
    def bias(self, b: Any) -> None:
        self.b = 2.0 * b


class Scaled(Dense):
    factor = 2.0

    def __init__(self, w: Any) -> None:
        super().__init__(w, b=0.2)
        self.w = self.w * self.factor

    def __call__(self, x: Any) -> Any:
        return super().__call__(x) * self.factor


class Net:
    def __init__(self, *layers: Any) -> None:
        self.layers = list(layers)

    def add(self, layer: Any) -> Any:
        self.layers.append(layer)
        return self

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


class Dual:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Dual):
            return Dual(self.a + other.a, self.b + other.b)
        return Dual(self.a + other, self.b)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Dual):
            return Dual(self.a * other.a, self.a * other.b + self.b * other.a)
        return Dual(self.a * other, self.b * other)

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return Dual(-self.a, -self.b)


@dataclasses.dataclass
class Tableau:
    a: Any
    b: Any = 0.5
    count: int = 2


@dataclasses.dataclass(frozen=True)
class Point:
    x: Any
    y: Any

    def norm(self) -> Any:
        return np.sqrt(self.x * self.x + self.y * self.y)

    def moved(self, dx: Any) -> Any:
        return Point(self.x + dx, self.y)


class Body:
    def __init__(self, position: Any, velocity: Any) -> None:
        self.position, self.velocity = position, velocity
        self.trail = 0.0

    def step(self, force: Any, dt: float) -> None:
        self.velocity = self.velocity + dt * force(self)
        self.position = self.position + dt * self.velocity
        if self.position > 0.5:
            self.trail = self.trail + self.position
        return

    def energy(self) -> Any:
        return 0.5 * self.velocity * self.velocity + self.trail


def layers(x: Any) -> Any:
    net = Net(Dense(x[0]), Dense(x[1], x[2])).add(Scaled(x[2]))
    y = net.forward(x)
    return np.sum(y) + net.layers[0].calls + net.layers[2].size


def set_by_property(x: Any) -> Any:
    layer = Dense(x[0])
    layer.bias = x[1]
    other = layer
    other.w = x[2]
    return np.sum(layer(x)) + layer.bias


def operators(x: Any) -> Any:
    u = Dual(x[0], 1.0)
    v = Dual(x[1], 0.0)
    w = u * v + -(u * u) * 3.0 + 2.0
    w = 0.5 * w
    return w.a + w.b


def dataclasses_made(x: Any) -> Any:
    t = Tableau(x[0] * 2, count=3)
    t.a = t.a + t.b
    p = Point(x[1], y=x[2]).moved(t.a)
    return p.norm() * t.count


def stepped(x: Any) -> Any:
    body = Body(x[0], x[1])
    for _ in range(8):
        body.step(lambda b: -x[2] * b.position, 0.3)
    return body.energy()


def bodies(x: Any) -> Any:
    system = [Body(x[i], x[i] * 0.5) for i in range(3)] if False else [Body(x[0], 1.0), Body(x[1], x[2])]
    for k in range(4):
        for body in system:
            body.step(lambda b: -b.position * (k + 1), 0.1)  # noqa: B023
    return sum([body.energy() for body in system]) if False else system[0].energy() + system[1].energy()


def moved_by_a_function(x: Any) -> Any:
    body = Body(x[0], x[1])
    for _ in range(3):
        push(body, x[2])
    return body.energy() + body.position


def push(body: Any, force: Any) -> None:
    velocity = body.velocity + 0.1 * force
    if velocity > 0.75:
        velocity = 0.75 * force
    body.velocity = velocity
    body.position = body.position + 0.2 * body.velocity
    body.trail = body.trail + np.sin(body.position) * np.cos(body.velocity) + body.trail * 0.1


def bound_method(x: Any) -> Any:
    step = Dense(x[0]).__call__
    return np.sum(rk4(lambda t, y: step(y) * t, 0.1, x, 0.1))


def in_one_branch(x: Any) -> Any:
    body = Body(x[0], x[1])
    if x[2] < 0:
        body.velocity = x[2]
    else:
        body.position = x[2]
    return body.energy() * body.position


def written_out(x: Any) -> Any:
    stages = [lambda v: v * x[0], np.tanh, lambda v: v + x[1]]
    values = [stage(x) for stage in stages if stage is not None]
    named = {name: stage(x[2]) for name, stage in zip(("a", "b", "c"), stages, strict=True)}
    total = sum(np.sum(stage(x)) * k for k, stage in enumerate(stages))
    return total + np.sum(values[0] * values[2]) + named["b"]


def several_fors(x: Any) -> Any:
    scales = [lambda v: v * x[0], lambda v: v * v]
    bodies = [Body(x[0], x[1]), Body(x[1], x[2])]
    noted("here")
    return sum(noted(scale(body.energy())) for body in bodies for scale in scales)


def default_object(x: Any) -> Any:
    def run(v: Any, start: Any = LOG, table: Any = TABLE, f: Any = np.sin) -> Any:
        return f(v) * table["k"] + len(start)

    return np.sum(run(x)) + np.sum(squared_by(lambda v: v * x[0], x))


TABLE = {"k": 2.5}


def squared_by(f: Any, v: Any, table: Any = TABLE) -> Any:
    return f(v) ** 2 * table["k"]


def wrapped(x: Any) -> Any:
    def doubled(f: Any) -> Any:
        @functools.wraps(f)
        def inner(v: Any) -> Any:
            return 2.0 * f(v)

        return inner

    return np.sum(doubled(lambda v: v * x[0])(x))


@dataclasses.dataclass
class History:
    states: list[Any] = dataclasses.field(default_factory=list)
    best: Any = None

    def record(self, y: Any) -> None:
        self.states.append(y)
        if self.best is None or y[0] > self.best[0]:
            self.best = y


def recorded(x: Any) -> Any:
    history = History()
    step = lambda v: v * x[1] + 0.1  # noqa: E731
    y = x
    for _ in range(3):
        history.record(y)
        y = step(y)
    history.states.append(step(y))
    return np.sum(history.states[0] * history.states[-1]) + np.sum(history.best)


def appended_in_a_call(x: Any) -> Any:
    def long(v: Any) -> Any:
        if v > 0.5:
            return v * x[0]
        return np.sin(v)

    found: list[Any] = []
    for i in range(3):
        found.append(long(x[i]))  # noqa: PERF401
    return found[0] * found[1] + found[2]


def one_of_two_objects(x: Any) -> Any:
    near, far = Body(x[0], 1.0), Body(x[1], x[2])
    total = 0.0
    for i in range(3):
        body = near if i != 1 else far
        body.step(lambda b: b.position * x[2], 0.2)
        total = total + body.energy()
    return total + near.position * far.position


class Series:
    """Coefficients of a power series."""

    def __init__(self, *terms: Any) -> None:
        self.terms = terms

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Scaled):
            return NotImplemented
        if not isinstance(other, Series):
            other = Series(other, 0.0)
        return Series(self.terms[0] + other.terms[0], self.terms[1] + other.terms[1])

    __radd__ = __add__

    def __rmul__(self, k: Any) -> Any:
        return Series(k * self.terms[0], k * self.terms[1])

    def __truediv__(self, k: Any) -> Any:
        return self.__rmul__(1.0 / k)

    def __call__(self, t: Any) -> Any:
        return self.terms[0] + t * self.terms[1]

    def __eq__(self, other: object) -> Any:
        return isinstance(other, Series) and bool(self.terms[0] == other.terms[0])

    def __getitem__(self, i: int) -> Any:
        return self.terms[i]


class Odd(Series):
    def __radd__(self, other: Any) -> Any:
        return Odd(0.0, other.terms[1] - self.terms[1])


def series(x: Any) -> Any:
    scale = np.exp(x[2])
    u, v = Series(x[0], 1.0), Odd(0.0, x[1])
    w = scale * u + v + 2.0
    w += 1.5
    z = (3.0 + w) / x[2]
    same = u == Series(x[0], 2.0)
    return w(0.3) * z(x[1]) + u[0] * (2.0 if same else 1.0)


class Squares:
    @staticmethod
    def of(a: Any, y: Any) -> Any:
        return np.sum((a - y) ** 2)


class Fitted:
    def __init__(self, w: Any, cost: Any = Squares) -> None:
        self.w = w
        self.cost = cost

    def total(self, data: Any) -> Any:
        cost = 0.0
        for v, y in data:
            cost += self.cost.of(self.w * v, y)
        cost += np.sum(self.w * self.w) + np.sin(cost) * 2 + np.cos(cost) + cost * cost * 0.1 - cost / 2
        return cost


PAIRS = [(np.ones(3), np.zeros(3)), (np.full(3, 0.3), np.ones(3))]


def class_as_default(x: Any) -> Any:
    return Fitted(x).total(PAIRS)


PROGRAMS = [
    lambdas_on_a_line, captured_read_late, default_read_early, shared_count, two_of_one_maker, made_by_another,
    composed, recursive, mutually, with_early_returns, in_a_loop_that_breaks, long_inner, by_newton, evaluated_in_order,
    chosen, from_a_dict, in_a_list, optional, with_stars, partial, while_it_holds, short_circuits, written_into, layers,
    set_by_property, operators, dataclasses_made, stepped, bodies, moved_by_a_function, bound_method, in_one_branch,
    written_out, several_fors, default_object, wrapped, recorded, appended_in_a_call, one_of_two_objects,
    series, class_as_default,
]  # fmt: skip


def remains(f: Callable[..., Any]) -> tuple[str, types.FunctionType]:
    """The text of what remains of a function, and that as a function."""
    made = specialised(read_source(f), read_source)
    assert made is not None, "nothing was specialised"
    texts = [gast.unparse(source.node).strip() for source in [*made.sources.values(), made.source]]
    return "\n\n".join(texts), made.source.function


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_what_remains_does_the_same(f: Callable[..., Any]) -> None:
    text, made = remains(f)
    assert not any(isinstance(node, (ast.Lambda, ast.ClassDef)) for node in ast.walk(ast.parse(text)))
    for x in (X, -X, np.array([1.2, 0.1, 0.6])):
        LOG.clear()
        wanted = f(x.copy())
        log = list(LOG)
        LOG.clear()
        assert np.array_equal(made(x.copy()), wanted), text
        assert log == LOG


@pytest.mark.parametrize(
    "f", [f for f in PROGRAMS if f not in (evaluated_in_order, several_fors)], ids=lambda f: f.__name__
)
def test_gradient(f: Callable[..., Any]) -> None:
    for x in (X, -X, np.array([1.2, 0.1, 0.6])):
        np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, [x]), rtol=1e-6, atol=1e-7)
