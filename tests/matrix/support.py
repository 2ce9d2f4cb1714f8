"""Definitions that programs share: each program carries those that its text names, and what these name in turn."""

from __future__ import annotations

import re

_TEXTS = """
def put(q, v=0.35):
    q[0] = v

def halve(q):
    q *= 0.5
    return float(q[0])

def touch(q, v=0.35):
    q[1] = v
    return q

def put_zero(q, v=0.35):
    q[0] = v
    return 0

def put_num(q, v=0.35):
    q[0] = v
    return 0.5

def put_true(q, v=0.35):
    q[0] = v
    return True

def put_str(q, v=0.35):
    q[0] = v
    return ""

def put_list(q, v=0.35):
    q[0] = v
    return [1.0]

def put_dict(q, v=0.35):
    q[0] = v
    return {"q": 1.0}

def put_type(q, v=0.35):
    q[0] = v
    return float

def put_all(q, *rest, v=0.35, **more):
    q[:] = v
    for p in rest:
        p[:] = v

def put_deep(q, v=0.35):
    put(q, v)
    return same(q)

def put_down(q, n, v=0.35):
    if n > 0:
        put_down(q, n - 1, v)
    else:
        q[0] = v

def same(q):
    return q

def part(q):
    return q[:]

def either(p, q):
    if p[0] > 0.0:
        return p
    return q

def pair(p, q):
    return p, q

def nested(p, q):
    return (p, 1.0), [q, (p[::-1], 0.5)]

def fold(p, q):
    q[0] = 0.35
    return p

def apply(function, *args):
    return function(*args)

def keep(l, q):
    l.append(q)

def keep_as(d, q):
    d["q"] = q

def keep_in(o, q):
    o.v = q

class Keeper:
    def __init__(self):
        self.all = []

    def keep(self, q):
        self.v = q

    def push(self, q):
        self.all.append(q)

KEPT = []

def weighed(q):
    return np.sum(np.sin(q) * np.arange(1.0, 4.0))

def bump(q):
    return 2.0 * q

class Box:
    def __init__(self, v):
        self.v = v

class Giver:
    def __init__(self, v):
        self.v = v

    def give(self):
        return self.v

    def slice(self):
        return self.v[:]

@dataclass
class Data:
    v: object
    w: float = 1.0

class Pair(NamedTuple):
    v: object
    w: float = 1.0

class Holder:
    v = np.array([0.9, 0.3, -0.6])

class Sub(np.ndarray):
    pass

class Plain:
    pass

G = np.array([0.7, -0.3, 1.1])

H = np.array([0.2, 0.8, -0.5])

L = [np.array([0.4, 1.3, -0.2])]

D = {"q": np.array([0.6, -0.8, 0.9])}

T = (np.array([1.2, 0.1, 0.5]), 2.0)

S = Box(np.array([-0.4, 0.7, 1.4]))
"""

IMPORTS = {
    "np": "import numpy as np",
    "functools": "import functools",
    "itertools": "import itertools",
    "operator": "import operator",
    "contextlib": "import contextlib",
    "collections": "import collections",
    "copy": "import copy",
    "heapq": "import heapq",
    "math": "import math",
    "types": "import types",
    "dataclass": "from dataclasses import dataclass",
    "field": "from dataclasses import field",
    "NamedTuple": "from typing import NamedTuple",
    "stop_gradient": "from s2sad import stop_gradient",
}

_WORD = re.compile(r"(?<![.\w])[A-Za-z_]\w*")


def _defined(text: str) -> str:
    """The name that a definition binds, below its decorators."""
    found = re.search(r"^(?:def |class )?(\w+)", text, re.MULTILINE)
    assert found is not None
    return found.group(1)


SUPPORT = {_defined(text): text for text in re.split(r"\n\n(?=\S)", _TEXTS.strip())}
_NAMES = {name: frozenset(_WORD.findall(text)) - {name} for name, text in SUPPORT.items()}


def module(text: str) -> str:
    """The text of a module: the imports and definitions that `text` needs, then the text."""
    words = set(_WORD.findall(text))
    own = set(re.findall(r"^(?:def|class) (\w+)", text, re.MULTILINE))
    needed: set[str] = set()
    while new := (words - own) & SUPPORT.keys() - needed:
        needed |= new
        words = words.union(*(_NAMES[name] for name in new))
    imports = [line for name, line in IMPORTS.items() if name in words or name == "np"]
    definitions = [SUPPORT[name] for name in SUPPORT if name in needed]
    return "\n".join(imports) + "\n\n" + "\n\n".join([*definitions, text]) + "\n"
