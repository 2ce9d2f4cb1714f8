"""Programs with lists, dicts and other containers whose structure is known when they are compiled.

Each is a function of an array of three numbers; `TAKEN` are all of them.
"""

# ruff: noqa: B007, C408, E731, PERF102, PERF401, RUF005, RUF059

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np


def with_append_funcs(x: Any) -> Any:
    fs = []
    for i in range(3):
        fs.append(lambda v, i=i: v * x[i])
    fs.insert(0, np.sin)
    fs.extend([np.cos, lambda v: v * 2])
    y = x[0]
    for f in fs:
        y = f(y)
    return y


def with_pop(x: Any) -> Any:
    fs = [np.sin, lambda v: v * x[1], np.cos]
    f = fs.pop()
    g = fs.pop(0)
    return f(x[0]) * g(x[2]) + fs[0](x[0])


def with_dict_get(x: Any) -> Any:
    d = {"a": lambda v: v * x[0], "b": np.sin}
    f = d.get("a")
    g = d.get("c", np.cos)
    return f(x[1]) * g(x[2])


def with_dict_update(x: Any) -> Any:
    d = {"a": lambda v: v * x[0]}
    d["b"] = np.sin
    d.update(c=np.cos)
    d.update({"a": np.tanh})
    return sum(f(x[i]) for i, (k, f) in enumerate(d.items()))


def with_setdefault(x: Any) -> Any:
    d = {}
    f = d.setdefault("k", lambda v: v * x[0])
    g = d.setdefault("k", np.sin)
    return f(x[1]) * g(x[2])


def with_slices(x: Any) -> Any:
    fs = [np.sin, np.cos, np.tanh, lambda v: v * x[0]]
    y = x[1]
    for f in fs[1:]:
        y = f(y)
    for f in fs[::-1]:
        y = f(y)
    return y


def with_setitem(x: Any) -> Any:
    fs = [np.sin, np.cos]
    fs[0] = lambda v: v * x[0]
    del fs[1]
    return fs[0](x[1]) * len(fs)


def with_alias(x: Any) -> Any:
    fs = [np.sin]
    gs = fs
    gs.append(lambda v: v * x[0])
    return fs[1](x[1]) * len(fs)


def add_to(fs, f):
    fs.append(f)
    return len(fs)


def with_callee_appends(x: Any) -> Any:
    fs = []
    n = add_to(fs, lambda v: v * x[0])
    add_to(fs, np.sin)
    return n * fs[0](fs[1](x[1]))


class P(NamedTuple):
    a: float
    b: float

    def norm(self):
        return self.a * self.b

    @property
    def s(self):
        return self.a + self.b


Q = namedtuple("Q", "u v")


def with_namedtuple(x: Any) -> Any:
    p = P(x[0], x[1] * x[2])
    q = p._replace(a=p.b)
    return q.norm() + p.s


def with_namedtuple2(x: Any) -> Any:
    q = Q(u=x[0], v=lambda t: t * x[1])
    u, v = q
    return q.v(q.u) + v(u) + q[0]


def with_asdict(x: Any) -> Any:
    q = Q(x[0], x[1])
    d = q._asdict()
    return d["u"] * d["v"]


@dataclass
class D:
    a: float
    b: float = 2.0
    hist: list = field(default_factory=list)

    def area(self):
        return self.a * self.b


@dataclass(frozen=True)
class F:
    a: float
    b: float = 2.0

    def step(self, h):
        return replace(self, a=self.a + h * self.b)


def with_dc_replace(x: Any) -> Any:
    f = F(x[0], x[1])
    g = f.step(x[2]).step(0.5)
    return g.a * g.b


def with_dc_replace2(x: Any) -> Any:
    d = D(x[0])
    d.hist.append(d.a)
    e = replace(d, b=x[1])
    e.hist.append(e.area())
    return d.hist[1] * d.hist[0] + e.b


def with_defaultdict(x: Any) -> Any:
    d = defaultdict(list)
    d["a"].append(x[0])
    d["b"].append(lambda v: v * x[1])
    d["a"].append(x[2])
    return d["b"][0](d["a"][0]) + sum(d["a"])


def with_ordered(x: Any) -> Any:
    d = OrderedDict()
    d["a"] = np.sin
    d["b"] = lambda v: v * x[0]
    y = x[1]
    for k, f in d.items():
        y = f(y)
    return y


def with_deque(x: Any) -> Any:
    d = deque([np.sin])
    d.appendleft(lambda v: v * x[0])
    d.append(np.cos)
    f = d.popleft()
    return f(x[1]) + d[0](x[2])


def with_ns(x: Any) -> Any:
    n = SimpleNamespace(a=x[0], f=lambda v: v * x[1])
    n.a = n.f(n.a)
    return n.a * x[2]


def with_nested(x: Any) -> Any:
    m = {"layers": [{"w": x[0], "act": np.tanh}, {"w": x[1], "act": lambda v: v * v}]}
    y = x[2]
    for layer in m["layers"]:
        y = layer["act"](layer["w"] * y)
    return y


def with_dict_of_lists(x: Any) -> Any:
    groups = {}
    for i in range(3):
        groups.setdefault(i % 2, []).append(x[i])
    return sum(groups[0]) * sum(groups[1])


def with_counter(x: Any) -> Any:
    c = Counter()
    c["a"] += x[0]
    c["b"] += x[1]
    return c["a"] * c["b"]


def with_dictmerge(x: Any) -> Any:
    a = {"p": x[0], "f": np.sin}
    b = {"p": x[1], "g": lambda v: v * x[2]}
    c = {**a, **b}
    e = a | b
    return c["f"](c["p"]) * e["g"](e["p"])


def kw(w=1.0, f=np.sin, **more):
    return f(w) * more["z"]


def with_kwargs(x: Any) -> Any:
    opts = {"w": x[0], "f": lambda v: v * x[1], "z": x[2]}
    return kw(**opts)


def with_enumerate_dict(x: Any) -> Any:
    d = dict(a=x[0], b=lambda v: v * x[1])
    return d["b"](d["a"])


def with_dict_in(x: Any) -> Any:
    d = {"a": lambda v: v * x[0]}
    if "b" not in d:
        d["b"] = np.sin
    y = x[1]
    for k in sorted(d):
        y = d[k](y)
    for k in list(d.keys()):
        y = d[k](y)
    return y


def with_index(x: Any) -> Any:
    names = ["a", "b", "c"]
    return x[names.index("b")] * x[names.index("c")] * (names.count("a"))


def with_copy(x: Any) -> Any:
    fs = [np.sin]
    gs = fs.copy()
    hs = fs[:]
    ks = list(fs)
    gs.append(lambda v: v * x[0])
    return len(fs) * gs[1](x[1]) + len(hs) + len(ks)


class Model:
    def __init__(self, x):
        self.params = {"w": x[0], "b": x[1]}
        self.layers = [lambda v: v * self.params["w"], np.tanh]
        self.hist = []

    def forward(self, v):
        for layer in self.layers:
            v = layer(v)
            self.hist.append(v)
        return v + self.params["b"]


def with_model(x: Any) -> Any:
    m = Model(x)
    y = m.forward(x[2])
    return y * m.hist[0] + len(m.hist)


class Stack:
    def __init__(self):
        self.items = []

    def push(self, v):
        self.items.append(v)

    def pop(self):
        return self.items.pop()

    def __len__(self):
        return len(self.items)


def with_stack(x: Any) -> Any:
    s = Stack()
    s.push(x[0])
    s.push(x[1] * 2)
    a = s.pop()
    b = s.pop()
    return a * b + len(s)


class Value:
    def __init__(self, data, children=()):
        self.data = data
        self.children = list(children)

    def __add__(self, o):
        return Value(self.data + o.data, (self, o))

    def __mul__(self, o):
        return Value(self.data * o.data, (self, o))

    def total(self):
        return self.data + sum(c.total() for c in self.children)


def with_tree(x: Any) -> Any:
    a, b = Value(x[0]), Value(x[1])
    c = a * b + a
    return c.total()


def with_tuple_cat(x: Any) -> Any:
    t = (x[0], np.sin) + (lambda v: v * x[1],)
    return t[1](t[0]) * t[2](x[2])


def with_reversed_list(x: Any) -> Any:
    fs = [np.sin, lambda v: v * x[0]]
    fs.reverse()
    return fs[0](fs[1](x[1]))


def with_remove_clear(x: Any) -> Any:
    f = lambda v: v * x[0]
    fs = [np.sin, f, np.cos]
    fs.remove(np.sin)
    d = {"a": f}
    d.clear()
    return fs[0](x[1]) + len(d)


def with_dict_pop(x: Any) -> Any:
    d = {"a": lambda v: v * x[0], "b": x[1], "c": 2}
    f = d.pop("a")
    z = d.pop("zz", 3.0)
    k, v = d.popitem()
    return f(d["b"]) * z * v


def with_dictcomp_funcs(x: Any) -> Any:
    d = {k: (lambda v, k=k: v * x[k]) for k in range(3)}
    return d[0](d[1](d[2](1.0)))


def with_set_const(x: Any) -> Any:
    done = set()
    y = 0.0
    for n in ["a", "b", "a"]:
        if n in done:
            continue
        done.add(n)
        y = y + x[len(done)]
    return y


def with_str_keys(x: Any) -> Any:
    d = {}
    for i in range(3):
        d[f"k{i}"] = lambda v, i=i: v * x[i]
    return d["k0"](d["k1"](1.0))


def with_tuple_keys(x: Any) -> Any:
    d = {}
    for i in range(2):
        for j in range(2):
            d[i, j] = x[i] * x[j]
    d[0, 1] = d[0, 1] * 2
    return d[0, 1] + d[(1, 1)] + d[0, 0]


def with_assign_slices(x: Any) -> Any:
    fs = [np.sin, np.cos, np.tanh]
    fs[1:] = [lambda v: v * x[0]]
    return fs[1](fs[0](x[1]))


def with_mutual(x: Any) -> Any:
    state = {"n": 0, "y": x[0]}

    def step(v):
        state["n"] += 1
        state["y"] = state["y"] * v
        return state["y"]

    a = step(x[1])
    b = step(x[2])
    return a + b * state["n"]


def with_records(x: Any) -> Any:
    ps = [D(x[0]), D(x[1], x[2])]
    return sum(p.area() for p in ps) * max(p.b for p in ps)


def with_vars(x: Any) -> Any:
    class_ = SimpleNamespace(a=x[0], b=x[1])
    return class_.a * class_.b


TAKEN: list[Callable[[Any], Any]] = [f for name, f in list(globals().items()) if name[:5] == "with_"]
