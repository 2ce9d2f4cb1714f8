"""Lists and dicts that loops over arrays fill with objects, tuples and dicts."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient
from tests.sources import function_of, names_of

X = np.array([0.7, 1.3, 0.4])


def check(f: Callable[..., Any], x: np.ndarray[Any, Any] = X) -> None:
    """Both modes against differences."""
    wanted = numeric_gradient(f, (x,))
    assert np.allclose(grad(f)(x), wanted, rtol=1e-6, atol=1e-8)
    direction = np.cos(np.arange(x.size)).reshape(x.shape)
    assert np.isclose(jvp(f, (x,), (direction,))[1], np.sum(direction * wanted), rtol=1e-6, atol=1e-8)


#: What is made of two numbers, and how its parts are read and the second one is set; None where it cannot be.
RECORDS = {
    "object": ("Section({}, {})", "{}.r", "{}.c", "{}.c = {}"),
    "dataclass": ("Data({}, c={})", "{}.r", "{}.c", "{}.c = {}"),
    "named tuple": ("Named({}, {})", "{}.r", "{}.c", None),
    "tuple": ("({}, {})", "{}[0]", "{}[1]", None),
    "dict": ("{{'r': {}, 'c': {}}}", "{}['r']", "{}['c']", "{}['c'] = {}"),
}
CLASSES = """
from collections import namedtuple
from dataclasses import dataclass, field
class Section:
    def __init__(self, r, c):
        self.r, self.c = r, c
@dataclass
class Data:
    r: float
    c: float
    log: list = field(default_factory=lambda: [0.5])
Named = namedtuple("Named", "r c")
"""
MAKERS = {
    "comprehension": "    rows = [{make} for r, c in zip(np.linspace(0.2, 1.0 * len(x), len(x)), x)]",
    "append": "    rows = []\n    for r, c in enumerate(x):\n        rows.append({make})",
    "nested loops": (
        "    rows = []\n    for i in range(2):\n        for j in range(2):\n            "
        "r, c = 0.5 * i, x[i] * x[j + 1]\n"
        "            rows.append({make})"
    ),
}
USES = {
    "loop": "    total = 0.0\n    for s in rows:\n        total += {c} ** 2 * {r}\n    return total",
    "sum": "    return sum({c} * (1 + {r}) for s in rows) ** 2",
    "list": "    return np.trapezoid([{c} ** 2 for s in rows], [{r} for s in rows])",
    "extreme": "    s = max(rows, key=lambda s: {c})\n    return {c} ** 2 * (1 + {r}) + len(rows)",
    "set": "    for k in range(3):\n        for s in rows:\n            {set}\n    return sum({c} for s in rows)",
}
CASES = [
    (record, maker, use)
    for number, (record, maker, use) in enumerate(itertools.product(RECORDS, MAKERS, USES))
    if number % 3 == 0 and not (use == "set" and RECORDS[record][3] is None)
]


@pytest.mark.parametrize(("record", "maker", "use"), CASES)
def test_each_way_to_use_each_record(record: str, maker: str, use: str) -> None:
    make, r, c, put = RECORDS[record]
    r, c = r.format("s"), c.format("s")
    put = "" if put is None else put.format("s", f"{c} * (0.9 + 0.1 * {r})")
    body = MAKERS[maker].format(make=make.format("r", "c")) + "\n" + USES[use].format(r=r, c=c, set=put)
    check(function_of(f"{CLASSES}\ndef f(x):\n{body}\n"))


@dataclass
class Material:
    """Fields of all sorts: an attribute of the class, a parameter alone, made by functions and classes, not given."""

    unit: ClassVar[float] = 0.5
    stiffness: Any
    scale: InitVar[float] = 2.0
    velocity: Any = field(default_factory=lambda: np.zeros(2))
    history: list[Any] = field(default_factory=list, init=False)
    weight: Any = field(init=False)
    damping: Any = field(default=0.25, init=False)
    ends: Any = (1.0, 3.0)

    def __post_init__(self, scale: float) -> None:
        self.weight = self.stiffness * scale * self.unit
        self.velocity += self.stiffness
        self.history.append(self.weight**2)


def of_fields(x: Any) -> Any:
    materials = [Material(v) for v in x] + [Material(x[0], 3.0, ends=(x[1], 4.0))]
    materials[0].velocity *= x[1]
    materials[1].history.append(x[2])
    return sum(
        m.weight * m.damping * m.ends[0] + np.sum(m.velocity) * m.history[-1] + len(m.history) for m in materials
    )


def test_fields_of_dataclasses_that_calls_do_not_give() -> None:
    check(of_fields)


SECTIONS = """
class Section:
    def __init__(self, r, c):
        self.r, self.c = r, c
    def loads(self, v):
        a = 0.1
        for k in range(30):
            new = 0.5 * (a + 1 / (1 + self.c * v * a))
            if abs(new - a) < 1e-13:
                break
            a = new
        self.last = a
        return a * self.c, a * self.r
class Rotor:
    def __init__(self, radius, chords):
        rs = np.linspace(0.2 * radius, -(-radius), len(chords))
        self.sections = [Section(r, c) for r, c in zip(rs, chords)]
    def power(self, v):
        T, Q = zip(*[s.loads(v) for s in self.sections])
        return np.trapezoid(Q, [s.r for s in self.sections]) * sum(T) + self.sections[1].last
def f(x):
    return Rotor(2.0, x).power(1.5)
"""


def test_tuples_that_functions_return_have_their_items() -> None:
    check(function_of(SECTIONS))


#: Dicts whose keys are computed in a loop, and what asks for them.
KEYS = ("float(n)", "n * 0.5", "-n / 3", "(n, n + 1)", "f'w{n}'", "round(1.7 * n)", "abs(n - 4.5)", "2.0 ** n")
ASKS = (
    "np.interp(0.7, np.array(sorted(range(len(d)))), np.array(list(d.values())))",
    "d[max(d, key=d.get)] ** 2",
    "sum((k + 1) * v ** 2 for k, (_, v) in enumerate(sorted(d.items())))",
    "d[list(d)[1]] * d[list(d.keys())[2]]",
    "d[min(d, key=lambda q: str(q))] + d[next(iter(d))]",
    "d[list(d)[[q == list(d)[1] for q in d].index(True)]] ** 2",
)


FILL = """
def f(x):
    d = {{}}
    for n, v in enumerate(x):
        d[{key}] = v * (n + 1)
    return {ask}
"""
PAIRS = [pair for n, pair in enumerate(itertools.product(KEYS, ASKS)) if n % 3 == 0]


@pytest.mark.parametrize(("key", "ask"), PAIRS)
def test_keys_that_are_computed_in_a_loop(key: str, ask: str) -> None:
    check(function_of(FILL.format(key=key, ask=ask)))


CURVE = """
from collections import OrderedDict
class Curve:
    def __init__(self):
        self.values = OrderedDict()
        self.values[0.0] = 1.0
    def at(self, t):
        ts = list(self.values.keys())
        if t in self.values:
            return self.values[t]
        i = [tt > t for tt in ts].index(True)
        w = (t - ts[i - 1]) / (ts[i] - ts[i - 1])
        return (1 - w) * self.values[ts[i - 1]] + w * self.values[ts[i]]
def f(x):
    curve = Curve()
    for n, s in enumerate(x, start=1):
        curve.values[float(n)] = curve.values[float(n - 1)] / (1 + s)
    return curve.at(1.5) * curve.at(2.0)
"""


def test_keys_in_attributes_are_constants() -> None:
    check(names_of(CURVE)["f"])


RANKS = """
def f(x):
    nodes = ["a", "b", "c"]
    links = {"a": ["b", "c"], "b": ["c"], "c": ["a"]}
    rank = dict.fromkeys(nodes, 1.0)
    for k in range(4):
        new = dict.fromkeys(nodes, (1 - x[0]) / len(nodes))
        for u, outs in links.items():
            for v in outs:
                new[v] += x[0] * rank[u] * x[1] / len(outs)
        rank = new
    return rank["a"] * rank["b"] + rank["c"] * x[2] + len(dict.fromkeys("abca"))
"""


def test_dicts_of_given_keys() -> None:
    check(function_of(RANKS))
