"""Tables of modules and classes, whose rows have texts beside numbers: the numbers that are read of them are numbers.

Only if that is known, a function that sets items of arrays, and takes numbers as well, is decided.
"""

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient
from tests.sources import names_of

ROWS = '{"a": {"name": "first", "v": 3.0, "c": [1.0, 2.0]}, "b": {"name": "second", "v": 4.0, "c": [0.5]}}'
HOLDERS = {
    "a variable": ("T = {rows}", "T"),
    "a class": ("class C:\n    T = {rows}", "C.T"),
    "a base class": ("class B:\n    T = {rows}\nclass C(B):\n    pass", "C.T"),
    "an object": ("class C:\n    def __init__(self):\n        self.T = {rows}\nM = C()", "M.T"),
    "another dict": ('T = {{"all": {rows}}}', 'T["all"]'),
}
READS = {"by text": '{table}["b"]["v"]', "by parameter": "{table}[k]['v']", "of a list": '{table}["b"]["c"][0]'}
TEXT = """
{holder}

def cleared(x):
    try:
        x[abs(x) < 1e-3] = 0.0
    except TypeError:
        if abs(x) < 1e-3:
            x = 0.0
    return x * x

def f(p, k="b"):
    return np.sum(cleared(p[0] * {read}) + p[1])
"""


def module_of(holder, read):
    text, table = HOLDERS[holder]
    text = text.format(rows=ROWS)
    return names_of(TEXT.format(holder=text, read=READS[read].format(table=table))), table


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("holder", HOLDERS)
def test_numbers_of_tables_are_numbers(holder, read):
    module, table = module_of(holder, read)
    f, p = module["f"], np.array([0.7, -1.2])
    derivative = grad(f)
    np.testing.assert_allclose(derivative(p), numeric_gradient(f, (p,)), rtol=1e-7)
    # Another table has another text, in which the numbers may be arrays.
    row = eval(table, module)["b"]
    row["v"], row["c"] = np.array([2.0, 5.0]), [np.array([3.0, 1.0])]
    try:
        found = derivative(p)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(f, (p,)), rtol=1e-7)


@pytest.mark.parametrize("holder", HOLDERS)
def test_tables_that_the_function_writes_are_not_relied_on(holder):
    module, table = module_of(holder, "by text")
    text = f"def g(p):\n    {table}['b']['v'] = p * 2.0\n    return np.sum(f(p))"
    g, p = names_of(text, module)["g"], np.array([0.7, -1.2])
    try:
        found = grad(g)(p)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(g, (p,)), rtol=1e-7)
