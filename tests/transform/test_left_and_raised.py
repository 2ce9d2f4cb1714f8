"""What is left out of a ``try`` or ``with``, where that raises, or what is raised is swallowed: right or refused."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import S2SADError, value_and_grad
from tests.oracle import numeric_gradient
from tests.sources import names_of

X = np.array([0.8, 0.5, 1.3])
HEAD = """
import contextlib, numpy as np
D={"w":2.0}
class M: pass
m=M(); m.g=1.5
@contextlib.contextmanager
def opt(v):
    o=D["w"]; D["w"]=v
    try: yield v
    finally: D["w"]=o
@contextlib.contextmanager
def quiet(v):
    o=D["w"]; D["w"]=v
    try: yield v
    except ValueError: D["w"]=v*2
@contextlib.contextmanager
def angry(v):
    o=D["w"]; D["w"]=v
    yield v
    D["w"]=o
    if o > 1.0: raise ValueError
class Quiet:
    def __init__(self, v): self.v=v
    def __enter__(self): self.o=m.g; m.g=self.v; return self
    def __exit__(self, *a):
        m.g=self.o
        return True
class Angry:
    def __init__(self, v): self.v=v
    def __enter__(self): self.o=m.g; m.g=self.v; return self
    def __exit__(self, *a):
        m.g=self.o
        if m.g > 1.0: raise ValueError
def f(x):
"""
#: Bodies, in which LIMIT says whether something is raised.
BODIES = {
    "swallow": """
with quiet(x[2]):
    if x[0]>LIMIT: raise ValueError
    return x[0]*2*D["w"]
return x[1]*3*D["w"]
""",
    "swallow 2": """
with quiet(x[2]):
    if x[0]>LIMIT: raise ValueError
    if x[1]>.1:
        return x[0]*2*D["w"]
    y=x[0]
return x[1]*3*D["w"]
""",
    "swallow class": """
with Quiet(x[2]):
    if x[0]>LIMIT: raise ValueError
    return x[0]*2*m.g
return x[1]*3*m.g
""",
    "swallow class 2": """
with Quiet(x[2]):
    if x[0]>LIMIT: raise ValueError
    if x[1]>.1:
        return x[0]*2*m.g
return x[1]*3*m.g
""",
    "angry": """
with opt(x[2]):
    try:
        with angry(x[1]):
            return x[0]*D["w"]
    except ValueError:
        y=x[1]*2
    return y*D["w"]*x[0]
""",
    "angry class": """
with opt(x[2]):
    try:
        with Angry(x[1]):
            return x[0]*D["w"]*m.g
    except ValueError:
        y=x[1]*2
    return y*D["w"]*x[0]
""",
    "angry finally": """
o=D["w"]
D["w"]=x[0]
try:
    with Angry(x[1]):
        return x[0]*D["w"]*m.g
except ValueError:
    y=x[1]*2
finally:
    D["w"]=o
return y*D["w"]*x[0]
""",
    "angry finally 2": """
o=D["w"]
D["w"]=x[0]
try:
    try:
        return x[0]*D["w"]
    finally:
        if D["w"]>LIMIT: raise ValueError
except ValueError:
    y=x[1]*2
finally:
    D["w"]=o
return y*D["w"]*x[0]
""",
    "finally leaves": """
with opt(x[2]):
    try:
        if x[0]>LIMIT: raise ValueError
        y=x[1]
    finally:
        return x[0]*D["w"]
return x[2]
""",
    "loop angry": """
y=x[0]
with opt(x[2]):
    for i in range(3):
        try:
            with Angry(x[1]):
                if i==1: return y*m.g
                y=y*x[i]
        except ValueError:
            y=y+D["w"]
    y=y*2
return y*D["w"]
""",
    "loop continue": """
y=x[0]
for i in range(3):
    with opt(x[2]):
        try:
            with Angry(x[1]):
                if i==1: continue
                y=y*x[i]
        except ValueError:
            y=y+D["w"]
        y=y*1.5
    y=y*2
return y*D["w"]
""",
    "quiet and angry": """
with opt(x[2]):
    with Quiet(x[1]):
        with Angry(x[1]):
            return x[0]*D["w"]*m.g
    y=x[1]*2
return y*D["w"]*x[0]
""",
    "quiet generator and angry": """
with opt(x[2]):
    with quiet(x[1]):
        with Angry(x[1]):
            return x[0]*D["w"]*m.g
    y=x[1]*2
return y*D["w"]*x[0]
""",
    "quiet and finally": """
with opt(x[2]):
    with Quiet(x[1]):
        try:
            return x[0]*D["w"]*m.g
        finally:
            if x[0]>LIMIT: raise ValueError
    y=x[1]*2
return y*D["w"]*x[0]
""",
    "made where it raises": """
try:
    if x[0] > LIMIT:
        D["t"] = x[1]
        raise ValueError
    y = x[0] * D["w"]
except ValueError:
    y = D["t"] * 3 if "t" in D else x[2]
finally:
    if "t" in D:
        del D["t"]
return y
""",
    "set back where it raises": """
old = D["w"]
D["w"] = x[2]
try:
    y = x[0] * D["w"]
    if x[0] > LIMIT:
        D["t"] = 1.0
        raise ValueError
except ValueError:
    y = x[1]
finally:
    D["w"] = len(D) * 1.0
    D.pop("t", None)
return y * D["w"]
""",
    "made in either order": """
if x[0] > LIMIT:
    D["a"] = x[0]
    D["b"] = x[1]
else:
    D["b"] = x[1]
    D["a"] = x[0]
old = D["w"]
try:
    D["a"] = D["a"] * x[2]
    y = list(D.values())[-1] * D["w"]
    D["w"] = y
finally:
    D["b"] = D["b"] * 2.0
    D["w"] = old
return y * D["b"] * list(D)[-1].count("a")
""",
}
#: Those that are differentiated.
RIGHT = (
    "made where it raises",
    "set back where it raises",
    "swallow",
    "swallow 2",
    "swallow class",
    "swallow class 2",
    "angry finally",
    "angry finally 2",
    "loop angry",
    "loop continue",
)


@pytest.mark.parametrize("limit", ["5.0", "0.1"])
@pytest.mark.parametrize("name", BODIES)
def test_right_or_refused(name: str, limit: str) -> None:
    body = BODIES[name].replace("LIMIT", limit).replace("\n", "\n    ")
    text = HEAD.rstrip() + body + "\n"
    plain, module = names_of(text), names_of(text)
    result, expected = plain["f"](X), numeric_gradient(lambda x: names_of(text)["f"](x), (X,))
    try:
        value, gradient = value_and_grad(module["f"])(X)
    except S2SADError:
        assert name not in RIGHT
        return
    np.testing.assert_allclose(value, result)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6)
    assert (module["D"], module["m"].g) == (plain["D"], plain["m"].g)
