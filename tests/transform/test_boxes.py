"""Long lists of objects that are changed: each object is a list in the new program."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.oracle import numeric_gradient
from tests.sources import function_of

X = np.linspace(0.5, 1.2, 70)
CLASSES = """
from dataclasses import dataclass
class Cell:
    def __init__(self, u):
        self.u = u
        self.flux = 0.0
    def update(self, dt):
        self.u = self.u + dt * self.flux
        return self.u
    @property
    def double(self):
        return 2 * self.u
    @double.setter
    def double(self, value):
        self.u = value / 2
@dataclass
class Data:
    u: float
    flux: float = 0.0
    law: object = np.sin
    def update(self, dt):
        self.u += dt * self.law(self.flux)
        return self.u
    @property
    def double(self):
        return 2 * self.u
    @double.setter
    def double(self, value):
        self.u = value / 2
def spread(cells):
    for k in range(1, len(cells) - 1):
        cells[k].flux = cells[k - 1].u - 2 * cells[k].u + cells[k + 1].u
"""
RECORDS = ("Cell", "Data")
MAKERS = {
    "comprehension": "    cells = [{}(u) for u in x]",
    "append": "    cells = []\n    for u in x:\n        cells.append({}(u))",
    "later": "    cells = []\n    for u in x:\n        c = {}(u)\n        cells.append(c)\n        c.flux = c.u * 0.5",
    "while": "    cells, k = [], 0\n    while k < len(x):\n        cells.append({}(x[k] * x[k]))\n        k += 1",
}
USES = {
    "loop": "for c in cells:\n        c.u = c.u * 0.9 + 0.1 * c.flux",
    "method": "for k in range(3):\n        for c in cells:\n            c.flux += 0.1 * c.u\n            c.update(0.1)",
    "neighbours": "for t in range(3):\n        spread(cells)\n        for c in cells:\n            c.update(0.1)",
    "items": "cells[0].u = 5.0 * cells[1].u\n    cells[-1].flux = cells[0].u\n    cells[3].update(0.5)",
    "pairs": "for a, b in zip(cells[:-1], cells[1:]):\n        a.flux += 0.1 * (b.u - a.u)\n        b.u = b.u + a.flux",
    "some": "for k, c in enumerate(cells):\n        if k % 3 == 0:\n            c.u, c.flux = c.flux, c.u * k",
    "alias": "c = cells[2]\n    d = cells[2]\n    c.u = 3.0 * d.u\n    d.flux = c.u\n    c.update(0.1)",
    "property": "for c in cells:\n        c.double = c.double * c.double",
}
END = "    return sum([c.u ** 2 for c in cells]) + sum(c.flux * k for k, c in enumerate(cells))"
CASES = list(itertools.product(RECORDS, MAKERS, USES))


@pytest.mark.parametrize(("record", "maker", "use"), CASES[::3])
def test_objects_that_are_changed(record: str, maker: str, use: str) -> None:
    f = function_of(f"{CLASSES}\ndef f(x):\n{MAKERS[maker].format(record)}\n    {USES[use]}\n{END}\n")
    wanted = numeric_gradient(f, (X,))
    assert np.allclose(grad(f)(X), wanted, rtol=1e-6, atol=1e-8)
    assert np.isclose(jvp(f, (X,), (np.cos(X),))[1], np.sum(np.cos(X) * wanted), rtol=1e-6, atol=1e-8)


#: What is refused, or right.
OTHER = (
    "last = None\n    for c in cells:\n        last = c\n    last.u = 7.0",
    "n = 0\n    for c in cells:\n        if c is cells[0]:\n            n += 1\n    cells[1].u = n * x[0]",
    "cells[0].new = x[3]\n    cells[0].u = cells[0].new",
    "cells[0].u = x[:2]\n    cells[0].u = np.sum(cells[0].u)",
    "cells.append(cells[0])\n    cells[0].u = 3.0 * x[5]",
    "other = [cells[0], cells[1]]\n    other[0].u = x[2]\n    cells[1].u = other[0].u",
    "pairs = [(a, b) for a, b in zip(cells, cells[1:])]\n    for a, b in pairs:\n        a.u += 0.1 * b.u",
    "c = max(cells, key=lambda c: c.u)\n    c.u = 2.0 * c.u",
    "cells = sorted(cells, key=lambda c: -c.u)\n    cells[0].u = x[0]",
    "cells[0].__dict__['u'] = x[4]\n    cells[1].u = x[2]",
    "cells[0], cells[1] = cells[1], cells[0]\n    cells[0].u = x[7]",
    "cells[2] = cells[3]\n    cells[2].u = x[1]",
    "c = cells.pop()\n    c.u = 4.0\n    cells[0].u = c.u * x[0]",
)


@pytest.mark.parametrize("use", OTHER)
def test_what_else_is_done_is_right_or_refused(use: str) -> None:
    f = function_of(f"{CLASSES}\ndef f(x):\n{MAKERS['comprehension'].format('Cell')}\n    {use}\n{END}\n")
    wanted = numeric_gradient(f, (X,))
    for derivative in (lambda: grad(f)(X), lambda: jvp(f, (X,), (np.cos(X),))[1]):
        try:
            found = derivative()
        except (UnsupportedError, UndefinedDerivativeError):
            continue
        assert np.allclose(found, wanted if np.ndim(found) else np.sum(np.cos(X) * wanted))
