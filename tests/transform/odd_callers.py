"""Functions of another module that call what they are given; `np` is something else here."""

import math as np
from typing import Any


def called_often(f: Any, x: Any) -> Any:
    if x > 100 * np.pi:
        return x
    a = f(x)
    b = f(a) + x
    c = a * b
    d = c + a
    e = d * b + f(d)
    if e > 500:
        return e
    return e + a * b
