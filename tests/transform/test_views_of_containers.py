"""What shows a dict of the module shows what the function puts there: views, proxies, bound methods, functions.

A derivative goes through that, or the program is refused; so it is with what a text that is read so decides.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient
from tests.sources import names_of
from tests.transform import dicts_of_module

X, WAY = np.array([0.8, 0.5]), np.array([1.0, -0.4])
HEAD = """
import collections, functools, operator, types
from dataclasses import dataclass
D = dict(a=1.5, b=2.0)
V = D.values(); K = D.keys(); I = D.items()
CH = collections.ChainMap(D); P = types.MappingProxyType(D); PP = {'p': P}; PL = [P]
G = D.get; GI = D.__getitem__; PG = functools.partial(D.get, "a"); PO = functools.partial(operator.getitem, D)
S = types.SimpleNamespace(d=D); NS = types.SimpleNamespace(p=P)
class W:
    def __init__(self, d): self.d = d
    def __getitem__(self, k): return self.d[k]
    def get(self, k): return self.d[k]
w = W(D); wp = W(P)
UD = collections.UserDict(); UD.data = D
def read(k): return D[k]
def readp(k): return P[k]
def make(d):
    def inner(k): return d[k]
    return inner
closure = make(D); closurep = make(P)
L = [D]; T = (D, P); DD = {'x': D}
default = lambda k, d=D: d[k]
defaultp = lambda k, d=P: d[k]
MODES = dict(m="a", n=1); SHOW = types.MappingProxyType(MODES); MG = MODES.get; wm = W(MODES); wsm = W(SHOW)
"""
#: How ``D["a"]`` is read, or more of D.
READ = {
    "values": "sum(V)",
    "list values": "list(V)[0]",
    "items": "sum(v for k, v in I)",
    "chain": 'CH["a"]',
    "proxy": 'P["a"]',
    "proxy get": 'P.get("a")',
    "proxy in dict": 'PP["p"]["a"]',
    "proxy in list": 'PL[0]["a"]',
    "get": 'G("a")',
    "getitem": 'GI("a")',
    "partial": "PG()",
    "partial op": 'PO("a")',
    "ns": 'S.d["a"]',
    "nsp": 'NS.p["a"]',
    "w": 'w["a"]',
    "wget": 'w.get("a")',
    "wp": 'wp["a"]',
    "user": 'UD["a"]',
    "read": 'read("a")',
    "readp": 'readp("a")',
    "closure": 'closure("a")',
    "closurep": 'closurep("a")',
    "L": 'L[0]["a"]',
    "T": 'T[0]["a"]',
    "Tp": 'T[1]["a"]',
    "DD": 'DD["x"]["a"]',
    "default": 'default("a")',
    "defaultp": 'defaultp("a")',
    "map": 'sum(map(read, ["a"]))',
    "mapget": 'sum(map(G, ["a"]))',
    "sorted": 'sorted([1.0, 2.0], key=lambda t: t * readp("a"))[0]',
    "vectorize": 'np.sum(np.vectorize(lambda t: t * P["a"])(x))',
    "max": "max(V)",
    "len": 'len(V) * D["a"]',
    "proxy values": "sum(P.values())",
    "proxy star": "(lambda a, b: a * b)(**P)",
    "proxy copy": 'dict(P)["a"]',
    "proxy items": "sum(v for k, v in P.items())",
}
#: What a text or number of MODES decides.
DECIDED = {
    "show": '(x[0] if SHOW["m"] == "b" else x[1])',
    "get": '(x[0] if MG("m") == "b" else x[1])',
    "w": '(x[0] if wm["m"] == "b" else x[1])',
    "wsm": '(x[0] if wsm["m"] == "b" else x[1])',
    "in": '(x[0] if "z" in SHOW else x[1])',
    "num": 'x[SHOW["n"]]',
    "len": "x[len(SHOW) - 2]",
}
WRITES = {
    "here": "def f(x):\n    D['a'] = x[0] ** 2\n    return {} * x[1]\n",
    "and read": "def f(x):\n    D['a'] = x[0] ** 2\n    return {} * x[1] + D['a']\n",
    "in a callee": "def put(x):\n    D['a'] = x[0] ** 2\ndef f(x):\n    put(x)\n    return {} * x[1]\n",
}
DECIDES = (
    "def f(x):\n    D['a'] = x[0]\n    MODES['m'] = 'b'; MODES['z'] = 1; MODES['n'] = 0\n    return {} ** 2 * D['a']\n"
)


def check(text: str) -> None:
    expected = numeric_gradient(lambda x: names_of(text)["f"](x), (X,)) @ WAY
    for found in (lambda f: grad(f)(X) @ WAY, lambda f: jvp(f, (X,), (WAY,))[1]):
        try:
            np.testing.assert_allclose(found(names_of(text)["f"]), expected, rtol=1e-6)
        except S2SADError:
            continue


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("read", READ)
def test_right_or_refused(read: str, write: str) -> None:
    check(HEAD + WRITES[write].format(READ[read]))


@pytest.mark.parametrize("name", DECIDED)
def test_what_is_decided(name: str) -> None:
    check(HEAD + DECIDES.format(DECIDED[name]))


def test_a_proxy_shows_what_is_put_there() -> None:
    text = HEAD + WRITES["and read"].format(READ["proxy"])
    expected = numeric_gradient(lambda x: names_of(text)["f"](x), (X,))
    np.testing.assert_allclose(grad(names_of(text)["f"])(X), expected, rtol=1e-6)


#: Functions of a module that read its dicts by the module, by classes, or by their names.
OF_MODULE = sorted(n for n, f in vars(dicts_of_module).items() if inspect.isfunction(f))


@pytest.mark.parametrize("name", OF_MODULE)
def test_by_the_module_and_by_classes(name: str) -> None:
    def fresh() -> Any:
        return getattr(importlib.reload(dicts_of_module), name)

    expected = numeric_gradient(lambda x: fresh()(x), (X,))
    with contextlib.suppress(S2SADError):
        np.testing.assert_allclose(grad(fresh())(X), expected, rtol=1e-6)
