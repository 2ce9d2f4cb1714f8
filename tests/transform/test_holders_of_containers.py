"""A list or dict that the function changes is read through what holds it: copies, views, loops, functions of libraries.

A derivative goes through that, or the program is refused; so it is with the order of keys that branches set.
"""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient
from tests.sources import names_of

X, WAY = np.array([0.8, 0.5]), np.array([1.0, -0.4])
HEAD = """
import collections, functools, operator, types, copy, itertools, json, pickle
from dataclasses import dataclass, field, asdict, replace
D = dict(a=1.5, b=2.0)
class O:
    def __init__(self, d): self.d = d
    def get(self): return self.d
net = O(D)
@dataclass
class DC:
    d: dict
    k: float = 1.0
dc = DC(dict(a=1.5, b=2.0))
L = [dict(a=1.5, b=2.0), 3.0]
E = dict(k=dict(a=1.5, b=2.0), z=1.0)
NT = collections.namedtuple('NT', 'd')
nt = NT(dict(a=1.5, b=2.0))
arr = np.empty(1, object); arr[0] = dict(a=1.5)
box = O(O(dict(a=1.5, b=2.0)))

def put(x, c):
    if c:
        D["p"] = x[0]; D["q"] = x[1]
    else:
        D["q"] = x[1]; D["p"] = x[0]
"""
#: The containers, and how their item ``"a"`` is read.
READ = {
    "net.d": [
        'copy.copy(net).d["a"]',
        'copy.deepcopy(net).d["a"]',
        'vars(net)["d"]["a"]',
        'net.__dict__["d"]["a"]',
        'getattr(net, "d")["a"]',
        'operator.attrgetter("d")(net)["a"]',
        'net.get()["a"]',
        '(lambda n: n.d)(net)["a"]',
        '[net][0].d["a"]',
        'dict(n=net)["n"].d["a"]',
        'next(iter([net])).d["a"]',
        'max([net], key=id).d["a"]',
        'list(map(lambda n: n.d["a"], [net]))[0]',
        'list(map(operator.attrgetter("d"), [net]))[0]["a"]',
        'copy.copy(net.d)["a"]',
        'copy.deepcopy([net.d])[0]["a"]',
        'pickle.loads(pickle.dumps(net.d))["a"]',
        'json.loads(json.dumps(dict(a=float(net.d["a"]))))["a"]',
        'functools.reduce(lambda s, n: s + n.d["a"], [net], 0.0)',
        'np.array([net], object)[0].d["a"]',
        "sum(net.d.values())",
        "list(net.d.values())[0]",
        'dict(net.d)["a"]',
        '{**net.d}["a"]',
        '(net.d | {})["a"]',
        "sorted(net.d.items())[0][1]",
        "min(net.d.items())[1]",
        'collections.OrderedDict(net.d)["a"]',
        'collections.ChainMap(net.d)["a"]',
        "types.SimpleNamespace(**net.d).a",
        'operator.itemgetter("a")(net.d)',
        'net.d.__getitem__("a")',
        "np.sum([v for v in net.d.values()])",
        "np.fromiter(net.d.values(), float)[0]",
        "np.array(list(net.d.values()))[0]",
        'functools.partial(operator.getitem, net.d)("a")',
    ],
    "dc.d": [
        'asdict(dc)["d"]["a"]',
        'replace(dc, k=2.0).d["a"]',
        'copy.copy(dc).d["a"]',
        'copy.deepcopy(dc).d["a"]',
        'vars(dc)["d"]["a"]',
    ],
    "L[0]": [
        'copy.copy(L)[0]["a"]',
        'copy.deepcopy(L)[0]["a"]',
        'list(L)[0]["a"]',
        'L[:1][0]["a"]',
        '(L + [])[0]["a"]',
        'next(iter(L))["a"]',
        '[d for d in L][0]["a"]',
        'tuple(L)[0]["a"]',
        'np.array(L, object)[0]["a"]',
        '(L * 2)[2]["a"]',
        'operator.itemgetter(0)(L)["a"]',
        'L.copy()[0]["a"]',
        'list(zip(L))[0][0]["a"]',
        'list(reversed(L))[-1]["a"]',
        'L[-2]["a"]',
        'L[len(L) - 2]["a"]',
        'L[int(x[0] > 100)]["a"]',
        'next(d for d in L if isinstance(d, dict))["a"]',
        'list(itertools.chain(L))[0]["a"]',
        'list(filter(None, L))[0]["a"]',
        '[*L][0]["a"]',
    ],
    'E["k"]': [
        'dict(E)["k"]["a"]',
        'E.copy()["k"]["a"]',
        '{**E}["k"]["a"]',
        'list(E.values())[0]["a"]',
        'E.get("k")["a"]',
        'copy.deepcopy(E)["k"]["a"]',
        'operator.itemgetter("k")(E)["a"]',
        'E["K".lower()]["a"]',
        'E[sorted(E)[0]]["a"]',
        '[E[k] for k in E][0]["a"]',
        '{k: v for k, v in E.items()}["k"]["a"]',
        '(E | {})["k"]["a"]',
        'E.setdefault("k", {})["a"]',
        'E[str(np.array("k"))]["a"]',
    ],
    "nt.d": [
        'nt._asdict()["d"]["a"]',
        'nt._replace().d["a"]',
        'nt[0]["a"]',
        'list(nt)[0]["a"]',
        'copy.deepcopy(nt).d["a"]',
        'getattr(nt, "d")["a"]',
        'operator.attrgetter("d")(nt)["a"]',
    ],
    "arr[0]": [
        'arr.copy()[0]["a"]',
        'arr.item()["a"]',
        'arr.tolist()[0]["a"]',
        'next(iter(arr))["a"]',
        'arr[::-1][0]["a"]',
    ],
    "box.d.d": [
        'copy.copy(box).d.d["a"]',
        'vars(box)["d"].d["a"]',
        'box.get().get()["a"]',
        'copy.deepcopy(box).d.d["a"]',
        'operator.attrgetter("d.d")(box)["a"]',
        'vars(vars(box)["d"])["d"]["a"]',
    ],
}
PQ, QP = 'D["p"] = x[0]; D["q"] = x[1]', 'D["q"] = x[1]; D["p"] = x[0]'
WEIGHED = "v = list({}.values()); return v[-1] ** 2 + 3 * v[-2]"
#: What depends on the order of keys.
ORDERED = {
    "branches": f"if x[0] > 100:\n    {PQ}\nelse:\n    {QP}\n{WEIGHED.format('D')}",
    "enumerated": f"if x[0] > 100:\n    {PQ}\nelse:\n    {QP}\nreturn sum(i * v for i, v in enumerate(D.values()))",
    "removed and set again": 'D["p"] = x[0]; del D["a"]; D["a"] = x[1]\nreturn list(D.values())[-1] ** 2',
    "tried": f'try:\n    {QP}; D["zz"] += 1.0\nexcept KeyError:\n    pass\n{WEIGHED.format("D")}',
    "in a loop": f'for k in ("q", "p"):\n    D[k] = x[0] * len(D)\n{WEIGHED.format("D")}',
    "in a callee": f"put(x, x[0] > 100)\n{WEIGHED.format('D')}",
    "updated": "if x[0] > 100:\n    D.update(p=x[0], q=x[1])\nelse:\n    D.update(q=x[1], p=x[0])\n"
    + WEIGHED.format("D"),
    "one way returns": f"if x[0] > 100:\n    {PQ}\n    return x[0]\n{QP}\n{WEIGHED.format('D')}",
    "attributes": "o = O(1.0)\nif x[0] > 100:\n    o.p = x[0]; o.q = x[1]\nelse:\n    o.q = x[1]; o.p = x[0]\n"
    + WEIGHED.format("vars(o)"),
    "of its own": f"D = {{}}\nif x[0] > 100:\n    {PQ}\nelse:\n    {QP}\n{WEIGHED.format('D')}",
}


def check(text: str) -> None:
    expected = numeric_gradient(lambda x: names_of(text)["f"](x), (X,)) @ WAY
    for found in (lambda f: grad(f)(X) @ WAY, lambda f: jvp(f, (X,), (WAY,))[1]):
        try:
            np.testing.assert_allclose(found(names_of(text)["f"]), expected, rtol=1e-6)
        except S2SADError:
            continue


@pytest.mark.parametrize("is_read_again", [False, True], ids=["once", "again"])
@pytest.mark.parametrize(("container", "read"), [(c, read) for c, reads in READ.items() for read in reads])
def test_right_or_refused(container: str, read: str, is_read_again: bool) -> None:
    again = f" + {container}['a']" if is_read_again else ""
    check(f"{HEAD}def f(x):\n    {container}['a'] = x[0] ** 2\n    return {read} * x[1]{again}\n")


@pytest.mark.parametrize("name", ORDERED)
def test_orders_of_keys(name: str) -> None:
    body = ORDERED[name].replace("\n", "\n    ")
    check(f"{HEAD}def f(x):\n    {body}\n")
