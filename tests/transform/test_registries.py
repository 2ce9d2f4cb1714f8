"""Objects of classes that a dict of the module has under names, made by a comprehension from a configuration."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sources import function_of
from tests.transform.remaining import check_every_way

TEXT = """
CLASSES = {{}}
def register(name):
    def put(cls):
        CLASSES[name] = cls
        return cls
    return put
class Layer:
    def __call__(self, x):
        return self.forward(x)
@register("dense")
class Dense(Layer):
    def __init__(self, rows, columns=2):
        self.w = np.ones((rows, columns)) * 0.3
    def forward(self, x):
        self.last = x
        return x @ self.w
@register("scale")
class Scale(Layer):
    def __init__(self, by):
        self.by, self.seen = by, []
    def forward(self, x):
        self.seen.append(x)
        return np.tanh(x * self.by)
PAIRS = [("dense", (3, 4)), ("scale", (0.5,)), ("dense", (4,))]
DICTS = [{{"type": "dense", "rows": 3}}, {{"type": "scale", "by": 2.0}}]
NAMED = {{"first": ("dense", 3), "second": ("scale", 1.5)}}
def f(x):
    layers = {made}
    y = x
    for layer in layers:
        y = layer(y)
    return np.sum(y**2) * np.sum(layers[0].last)
"""
MADE = [
    "[CLASSES[name](*args) for name, args in PAIRS]",
    "[CLASSES[name](*args) for name, args in (('dense', (3,)), ('scale', (x[0],)))]",
    "[CLASSES[c.pop('type')](**c) for c in (dict(c) for c in DICTS)]",
    "[CLASSES[c['type']](**{k: v for k, v in c.items() if k != 'type'}) for c in DICTS]",
    "[CLASSES[NAMED[key][0]](NAMED[key][1]) for key in NAMED]",
    "[CLASSES[name](3) for name in ('dense',)]",
    "[CLASSES[name](n) for name, n in zip(['dense', 'scale'], [3, x[1]])]",
    "list(CLASSES[name](*args) for name, args in PAIRS)",
    "tuple(CLASSES[c['type']](c.get('rows', 0.5)) for c in DICTS)",
]


@pytest.mark.parametrize("made", MADE)
def test_right(made: str) -> None:
    check_every_way(function_of(TEXT.format(made=made)), np.array([1.2, 0.7, 0.4]))
