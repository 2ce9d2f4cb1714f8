"""Objects of classes of dicts whose attributes are their items."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UnsupportedError
from tests.oracle import numeric_gradient
from tests.sources import function_of

X = np.array([0.7, 1.3, 0.4])
CLASSES = {
    "functions": """
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error
    def __setattr__(self, name, value):
        self[name] = value""",
    "of dicts": """
    '''A dict with attributes.'''
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__""",
    "or None": """
    __getattr__ = dict.get
    __setattr__ = dict.__setitem__
    def norm(self):
        return self.a ** 2 + (0.5 if self.missing is None else 1.0)""",
    "one dict": """
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self""",
    "named class": """
    def __init__(self, **given):
        super(Bunch, self).__init__(**given)
        self.__dict__ = self""",
}
USES = {
    "attributes": "b.c = x[2] ** 2\n    b.a *= 2.0\n    return b.a * b.b + b.c",
    "items": "b['c'] = x[2]\n    b['a'] = b['a'] * b.b\n    return b.a * b['c'] + len(b) + ('a' in b) + ('z' in b)",
    "views": "for k, v in b.items():\n        b[k] = v * v\n    return sum(b.values()) + sum(b[k] for k in sorted(b))",
    "stars": "return combined(**b) + combined(**dict(b, a=x[2]))",
    "copies": "c = b.copy()\n    c['a'] = 2.0\n    b.update(b=x[2])\n    return b.a * c['a'] * b.b + b.get('q', x[0])",
    "passed": "raise_to(b, 3)\n    return b.a + b.get('b') + isinstance(b, dict) + isinstance(b, Bunch)",
    "loop": "for i in range(3):\n        b.a = b.a * x[i]\n        b['b'] = b.b + b.a\n    return b.a * b.b",
}
REST = """
def combined(a, b):
    return a * b ** 2
def raise_to(bunch, n):
    bunch.a = bunch.a ** n
"""


@pytest.mark.parametrize(("cls", "use"), list(itertools.product(CLASSES, USES))[::2])
def test_attributes_are_items(cls: str, use: str) -> None:
    text = f"class Bunch(dict):{CLASSES[cls]}\n{REST}\ndef f(x):\n    b = Bunch(a=x[0], b=x[1])\n    {USES[use]}\n"
    f = function_of(text)
    wanted = numeric_gradient(f, (X,))
    assert np.allclose(grad(f)(X), wanted)
    assert np.isclose(jvp(f, (X,), (np.cos(X),))[1], np.sum(np.cos(X) * wanted))


def test_what_is_missing_is_none() -> None:
    f = function_of(f"class Bunch(dict):{CLASSES['or None']}\ndef f(x):\n    return Bunch(a=x[0]).norm() * x[1]\n")
    assert np.allclose(grad(f)(X), numeric_gradient(f, (X,)))


#: Classes whose attributes are something else, and uses in which an item is no attribute.
OTHER = (
    ("    def __getattr__(self, k):\n        return self[k] * 2", "return b.a"),
    ("    __getattr__ = dict.__getitem__", "b.c = x[2]\n    return b.c * b.a + len(b)"),
    ("    __getattr__ = dict.__getitem__\n    def __getitem__(self, k):\n        return 3.0", "return b.a + b['a']"),
    (CLASSES["of dicts"], "b['items'] = x[2]\n    return len(b.items()) * b.a"),
    (CLASSES["of dicts"], "b.values = x[2]\n    return sum(b.values()) if callable(b.values) else b.values"),
    (CLASSES["of dicts"], "b.a = x[2] * b.pop('b')\n    return b.a + len(b)"),
    (CLASSES["one dict"], "b[0] = x[2]\n    return b.a + b[0]"),
    (CLASSES["of dicts"], "del b['a']\n    b.a = x[2]\n    return b.a * list(b.values())[0]"),
)


@pytest.mark.parametrize(("cls", "use"), OTHER)
def test_other_classes_and_uses_are_right_or_refused(cls: str, use: str) -> None:
    f = function_of(f"class Bunch(dict):\n{cls}\ndef f(x):\n    b = Bunch(a=x[0], b=x[1])\n    {use}\n")
    try:
        found = grad(f)(X)
    except UnsupportedError:
        return
    assert np.allclose(found, numeric_gradient(f, (X,)))
