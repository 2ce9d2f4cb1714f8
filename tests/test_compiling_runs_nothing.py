"""Special methods of the user's classes run when the program runs them, and never while it is compiled."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.sources import names_of

TEXT = """
import abc

SEEN, RUNNING = [], [False]

def note(name):
    if not RUNNING[0]:
        SEEN.append(name)

class Box:
    def __hash__(self):
        note("__hash__")
        return 1
    def __eq__(self, other):
        note("__eq__")
        return self is other
    def __bool__(self):
        note("__bool__")
        return True
    def __len__(self):
        note("__len__")
        return 3
    def __getattr__(self, name):
        note(f"__getattr__ of {name}")
        raise AttributeError(name)
    def __call__(self, v=1.0):
        return v * 2.0
    def method(self, v):
        return v * 3.0

class Hooked(abc.ABC):
    @classmethod
    def __subclasshook__(cls, other):
        note("__subclasshook__")
        return NotImplemented

class Checking(type):
    def __subclasscheck__(cls, other):
        note("__subclasscheck__")
        return True

class Checked(metaclass=Checking):
    pass

class Held:
    def __init__(self, v):
        self.v = v

BOX = Box()
# Names of functions for which other expressions are written.
fromkeys = array = cast = get = isinstance_ = BOX
TABLE, ROW = {"k": BOX}, [BOX, BOX]

def f(x):
    RUNNING[0] = True
    held = Held(x[0])
    BODY
    RUNNING[0] = False
    return held.v * y
"""
BODIES = [
    "y = BOX(x[1])",
    "y = fromkeys(x[1])",
    "y = array(x[1])",
    "y = cast(x[1])",
    "y = get(x[1])",
    "y = BOX.method(x[1])",
    "BOX(x[1]); y = x[1]",
    "y = TABLE['k'](x[1])",
    "y = ROW[0](x[1])",
    "y = BOX(*[x[1]])",
    "y = list(map(BOX, [x[1]]))[0]",
    "y = sorted([x[1], x[2]], key=BOX)[0]",
    "y = max([x[1], x[2]], key=BOX)",
    "y = x[1] if BOX == 3 else x[2]",
    "y = x[1] if BOX is None else x[2]",
    "y = x[1] if BOX else x[2]",
    "y = (BOX or None)(x[1])",
    "y = x[1] if isinstance(BOX, (list, tuple)) else x[2]",
    "y = x[1] if isinstance(BOX, list | tuple) else x[2]",
    "y = x[1] if isinstance(x, Hooked) else x[2]",
    "y = x[1] if isinstance(held, Hooked) else x[2]",
    "y = x[1] if isinstance(x, (list, Checked)) else x[2]",
    "y = x[1] if isinstance(held, Checked) else x[2]",
    "y = x[1] if callable(BOX) else x[2]",
    "y = x[1] if hasattr(BOX, 'method') else x[2]",
    "y = x[1] if str(BOX) else x[2]",
    "y = x[1] * len(BOX)",
    "d = {BOX: x[1]}; y = d[BOX]",
    "g = lambda v: BOX(v); y = g(x[1])",
    "b = BOX; y = b(x[1])",
    "y = np.vectorize(BOX)(x[1:])[0]",
    "y = np.apply_along_axis(BOX, 0, x)[1]",
]


@pytest.mark.parametrize("forward", [False, True], ids=["reverse", "forward"])
@pytest.mark.parametrize("body", BODIES)
def test_nothing_of_an_object_runs(body: str, forward: bool) -> None:
    module = names_of(TEXT.replace("BODY", body))
    x = np.array([0.3, 0.4, 0.5])
    try:
        if forward:
            jvp(module["f"], (x,), (x,))
        else:
            grad(module["f"])(x)
    except S2SADError:
        pass
    assert not module["SEEN"]


def test_arrays_that_are_called_are_not_compared() -> None:
    """An array is not a function, whatever it is equal to."""
    values = np.ones(3)

    def call(x):
        return np.sum(values(x))  # type: ignore[operator]

    def loop(x):
        return sum(y for y in values(x))  # type: ignore[operator]

    for f in (call, loop):
        with pytest.raises((S2SADError, TypeError)):
            grad(f)(np.ones(3))
