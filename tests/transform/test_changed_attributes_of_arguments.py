"""Arguments that are objects with a list or dict whose items the function sets: ``net.params["W"] = w``.

Derivatives pass through the items; the caller's object stays as it is.
"""

from __future__ import annotations

import copy
import textwrap
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient
from tests.sources import names_of
from tests.transform.container_changes import ANY, HEAD, NEW, OF_DICTS, body_of

X = np.array([0.8, 0.5])
#: Functions that read the container by the name of a variable, and those that write into its arrays, which are refused.
ELSEWHERE = ("callee reads", "callee writes", "callee with a loop", "recursion", "callee", "write into it")
CASES = [(new, name) for new in ("dict", "empty dict") for name in (*ANY, *OF_DICTS) if name not in ELSEWHERE]
OF_ARRAYS = ("set", "set an array", "loop", "swap", "read before", "another name", "branch")
CASES += [("arrays", name) for name in OF_ARRAYS]
START = {**NEW, "dict": ("dict(a=1.5, b=np.array([0.2, 0.7]))", '"a"', '"b"')}
START["arrays"] = ("[np.array([1.0, 2.0]), np.array([0.2, 0.7])]", "0", "1")


def module_of(new: str, name: str) -> tuple[dict[str, Any], Any]:
    """A module whose function takes the object as well, and such an object."""
    start, a, b = START[new]
    text = HEAD.format(holder="", c="net.d", a=a, body=body_of(name, "net.d", a, b))
    module = names_of(text.replace("def f(x):", "def f(x, net):"))
    return module, module["Net"](eval(start, {"np": np}))


def of_copies(module: dict[str, Any], net: Any) -> Any:
    return lambda x: module["f"](x, copy.deepcopy(net))


@pytest.mark.parametrize(("new", "name"), CASES)
def test_items_are_set(new: str, name: str) -> None:
    module, net = module_of(new, name)
    f, before = grad(module["f"]), repr(net.d)
    np.testing.assert_allclose(f(X, net), numeric_gradient(of_copies(module, net), (X,)), rtol=1e-6)
    assert repr(net.d) == before
    if new != "arrays":
        # With another key it is another text.
        net.d["more"] = np.ones(2)
        np.testing.assert_allclose(f(X, net), numeric_gradient(of_copies(module, net), (X,)), rtol=1e-6)


SHARED = {
    "item": 'net.d["a"] = x[0]\nreturn net.e["a"] * x[1]',
    "array": 'net.w[0] = x[1] * 3\nnet.d["a"] = x[0]\nreturn np.sum(net.d["b"] * net.w) * net.d["a"]',
    "array of it": 'net.d["b"][0] = x[1] * 3\nnet.d["a"] = x[0]\nreturn np.sum(net.d["b"] * net.w)',
    "another dict": 'd = net.d\nnet.d = dict(a=x[1])\nd["a"] = x[0] ** 2\nreturn net.d["a"] * d["a"]',
    "kept": 'net.e = net.d\nnet.d["a"] = x[0]\nreturn net.e["a"] * x[1]',
    "bound": 'u = net.d.update\nu(a=x[0])\nreturn net.d["a"] * x[1]',
    "callee": 'net.d["a"] = x[0] ** 2\nchange(net.d, x)\nreturn read(net) * x[1]',
    "out": 'np.multiply(x, 2.0, out=net.d["b"])\nnet.d["a"] = x[0]\nreturn np.sum(net.d["b"]) * net.d["a"]',
}
CLASS = """
class Net:
    def __init__(self):
        self.d = dict(a=1.5, b=np.array([0.2, 0.7]))
        self.e, self.w = {others}
def change(d, x):
    d["a"] = d["a"] * x[0]
def read(net):
    return net.d["a"] + np.sum(net.d["b"])
def f(x, net):
    {body}
"""


@pytest.mark.parametrize(
    "others", ["dict(a=2.0), np.array([1.0, 2.0])", 'self.d, self.d["b"]'], ids=["apart", "shared"]
)
@pytest.mark.parametrize("name", SHARED)
def test_shared_right_or_refused(name: str, others: str) -> None:
    module = names_of(CLASS.format(others=others, body=SHARED[name].replace("\n", "\n    ")))
    net = module["Net"]()
    try:
        found = grad(module["f"])(X, net)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(of_copies(module, net), (X,)), rtol=1e-6)


#: How the module leads to the dict of an argument, and reads it.
OF_MODULE = {
    "variable": ("D = net.d", 'D["a"]'),
    "object": ("other = Net(net.d)", 'other.d["a"]'),
    "method": ("other = Net(net.d)\nNet.get = lambda self: self.d['a']", "other.get()"),
    "function": ("def get(d=net.d):\n    return d['a']", "get()"),
    "closure": ("get = (lambda d: lambda: d['a'])(net.d)", "get()"),
    "list": ("L = [1.0, net.d]", 'L[1]["a"]'),
    "the object": ("", 'net.d["a"]'),
    "nothing": ("D = dict(net.d)", 'D["a"]'),
}
CHANGES = {"set": 'p.d["a"] = t', "update": "p.d.update(a=t)", "callee": "put(p, t)"}
CHANGES["branch"] = 'if t > 0.0:\n    p.d["a"] = t'


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", OF_MODULE)
def test_the_module_reads_what_an_argument_has_right_or_refused(name: str, change: str) -> None:
    leads, read = OF_MODULE[name]
    body = f"t = x[0] * x[1]\n{CHANGES[change]}\nreturn {read} * x[1] + p.d['a']"
    text = "class Net:\n    def __init__(self, d):\n        self.d = d\n        self.v = 2.0\n"
    text += f"net = Net(dict(a=1.5))\n{leads}\ndef put(p, t):\n    p.d['a'] = t\ndef f(x, p):\n"
    text += textwrap.indent(body, "    ")

    def f(x: Any) -> Any:
        module = names_of(text)
        return module["f"](x, module["net"])

    module, expected = names_of(text), numeric_gradient(f, (X,))
    for derivative in (lambda: grad(module["f"])(X, module["net"]), lambda: in_all_ways(module["f"], module["net"])):
        try:
            np.testing.assert_allclose(derivative(), expected, rtol=1e-6)
        except S2SADError:
            assert name != "nothing"


def in_all_ways(f: Any, net: Any) -> list[Any]:
    return [jvp(f, (X, net), (way, None))[1] for way in np.eye(2)]
