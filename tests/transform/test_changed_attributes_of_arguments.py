"""Arguments that are objects with a list or dict whose items the function sets: ``net.params["W"] = w``.

Derivatives pass through the items; the caller's object stays as it is.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from s2sad import grad
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
