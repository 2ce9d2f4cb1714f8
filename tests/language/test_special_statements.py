"""Statements that run special methods of an object whose class is known: those that write, and those that do not.

What writes is as in Python or refused; what does not is as in Python.
"""

from __future__ import annotations

import linecache
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, value_and_grad
from tests.oracle import numeric_gradient

X = np.array([0.5, 1.2, -0.7])
#: Each statement with ``@`` for the object.
BODIES = [
    "w = @[0]",
    "y = y * @[0]",
    "w = len(@)",
    "if @:\n        y = 2.0 * y",
    "w = 1 if @ else 2",
    "w = not @",
    "for i in @:\n        y = y * i",
    "a, b = @",
    "w = @()",
    "@()",
    "w = 1 in @",
    "w = @ == 1",
    "with @:\n        pass",
    "w = @.p",
    "w = @.m()",
    "w = {@: 1}",
    "w = list(@)",
    "w = [i for i in @]",
    "w = sum(@)",
    "w = list(map(abs, @))",
    "t = @\n    w = t.p",
    "t = @\n    w = t[0]",
    "t = @\n    w = [t[0]]",
    "w = np.sum(@)",
    "w = 1.0 if @[0] > 0 else 2.0",
    "while @[0] > 2: pass",
    "assert @",
    "w = [*@]",
    "w = max(*@)",
    "w = @ in (1, 2)",
    "w = {1: 2.0}.get(@)",
    "w = @[1:]",
    "w = [@, 2].count(@)",
    "w = set()\n    w.add(@)",
    "w = [1.0, 2.0]\n    w.remove(@)",
    "w = {1: 2.0}.pop(@)",
    "w = {}\n    w[@] = 1",
    "w = sorted([@, @])",
    "w = max(@, @)",
    "w = frozenset([@])",
    "w = @ in {1: 2}",
    "w = str(@)",
    "w = '%s' % @",
    "w = '{}'.format(@)",
    "w = []\n    w.extend(@)",
    "w = []\n    w += @",
    "w = {}\n    w.update(@)",
    "w = list(zip(@))",
    "w = list(enumerate(@))",
    "w = any(@)",
    "w = np.array(@)",
    "w = bool(@)",
    "w = x if @ else 2.0 * x\n    y = y + np.sum(w)",
    "w = @ and 1.0",
    "match @:\n        case [a, b]: pass",
    "w = 1.0\n    w += @[0]",
    "w = [1.0, 2.0]\n    w[0:1] = @",
    "w = [1, 2, 3][len(@) - 1]",
    "return y * 1.0 if @ else np.sum(TABLE * x)",
    "w = [*map(len, [@])]",
    "w = [[@[0]]]",
    "w = (lambda: @[0])()",
    "g = lambda q: len(q)\n    w = g(@)",
    "w = list(reversed(@))",
    "w = f'{@}'",
]
#: What is refused of an object that writes nothing, too.
REFUSED = {
    "w = [1.0, 2.0]\n    w[0:1] = @",
    "with @:\n        pass",
    "w = []\n    w += @",
    "w = x if @ else 2.0 * x\n    y = y + np.sum(w)",
    "return y * 1.0 if @ else np.sum(TABLE * x)",
}
METHODS = {
    "__getitem__(self, i)": "1.0", "__len__(self)": "3", "__bool__(self)": "True", "__iter__(self)": "iter([1.0, 2.0])",
    "__call__(self)": "1.0", "__contains__(self, i)": "True", "__eq__(self, i)": "True", "__hash__(self)": "1",
    "__format__(self, i)": "'a'", "__str__(self)": "'a'", "__lt__(self, i)": "True", "keys(self)": "[]",
    "__reversed__(self)": "iter([1.0])", "__enter__(self)": "self", "__exit__(self, *error)": "None", "m(self)": "1.0",
}  # fmt: skip


def program(body: str, written: bool, of_module: bool) -> str:
    """A module with a class and a function ``f`` with the statement."""
    lines = ["import numpy as np", "TABLE = np.array([0.7, -0.3, 1.1])", "class Box:"]
    write = "TABLE[0] = 0.35" if written else "pass"
    for method, value in METHODS.items():
        lines += [f"    def {method}:", f"        {write}", f"        return {value}"]
    lines += ["    @property", "    def p(self):", f"        {write}", "        return 1.0", "BOX = Box()"]
    lines += ["def f(x, o):", "    y = np.sum(TABLE * x * x)", f"    {body.replace('@', 'BOX' if of_module else 'o')}"]
    return "\n".join([*lines, "    return y + np.sum(TABLE * x)", ""])


@pytest.fixture
def made(request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    names = []

    def make(text: str) -> Any:
        name = f"special_statement_{abs(hash(text))}"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        sys.modules[name] = module = types.ModuleType(name)
        exec(compile(text, name, "exec"), module.__dict__)
        names.append(name)
        return module

    yield make
    for name in names:
        del sys.modules[name], linecache.cache[name]


def check(module: Any) -> None:
    def anew(f: Callable[..., Any], x: Any) -> Any:
        module.TABLE[0] = 0.7
        return f(x, module.Box())

    value = anew(module.f, X)
    table = module.TABLE.copy()
    found, gradient = anew(value_and_grad(module.f), X)
    assert found == value
    np.testing.assert_array_equal(module.TABLE, table)
    expected = numeric_gradient(lambda x: anew(module.f, x), (X,), 0)
    np.testing.assert_allclose(gradient, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("of_module", [False, True], ids=["argument", "module"])
@pytest.mark.parametrize("body", BODIES)
def test_of_what_writes(body: str, of_module: bool, made: Callable[..., Any]) -> None:
    module = made(program(body, written=True, of_module=of_module))
    try:
        check(module)
    except S2SADError as error:
        assert str(error)  # noqa: PT017


@pytest.mark.parametrize("of_module", [False, True], ids=["argument", "module"])
@pytest.mark.parametrize("body", BODIES)
def test_of_what_does_not(body: str, of_module: bool, made: Callable[..., Any]) -> None:
    module = made(program(body, written=False, of_module=of_module))
    if body not in REFUSED:
        check(module)
