"""The methods of random generators: what they draw depends on what was drawn before."""

from __future__ import annotations

import random

import numpy as np

from s2sad.ops.forms import MEMBER
from s2sad.ops.spec import operation
from s2sad.runtime.classes import DRAWING_METHODS

#: The classes of generators; of a name that several have, the first has the most parameters.
_CLASSES = (np.random.Generator, np.random.RandomState, random.Random)

for _cls in _CLASSES:
    for _name in sorted(DRAWING_METHODS & vars(_cls).keys()):
        operation(getattr(_cls, _name), ordered=True, result="fresh", forms=MEMBER)
    for _name in ("choice", "permutation", "permuted"):
        if hasattr(_cls, _name):
            operation(getattr(_cls, _name), ordered=True, forms=MEMBER)
    operation(_cls.shuffle, signature=lambda self, x, axis=0: None, writes=("self", "x"), ordered=True, forms=MEMBER)
operation(random.Random.random, ordered=True, result="fresh", forms=MEMBER)
