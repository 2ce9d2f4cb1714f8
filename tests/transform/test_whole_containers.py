"""Lists and dicts that exist, and that the function reads and changes at places which only the run knows.

    STACK.append(x[0])
    CACHE[n] = y
    return STACK.pop() * CACHE[int(x[1])]

Derivatives pass through them, and they hold afterwards what they hold after the function itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, hvp, jvp, value_and_grad
from tests.oracle import numeric_gradient
from tests.sources import names_of

X, WAY = np.array([0.8, 0.5, 1.3]), np.array([0.6, -1.1, 0.7])
HEAD = """
import numpy as np

class Net:
    def __init__(self, made):
        self.made = made
        self.count = 0

    def note(self, v):
        self.count += 1
        {method}

WHERE

def put(v):
    PLACE.append(v)

def take():
    return PLACE.pop()

def last():
    return PLACE[-1]

def cached(n, x):
    if n in PLACE:
        return PLACE[n]
    y = x[n] if n < 2 else cached(n - 1, x) * 0.5 + cached(n - 2, x) * x[2]
    PLACE[n] = y
    return y
"""
#: Where the list or dict is, and how it is read.
PLACES = {
    "variable": ("S = MADE", "S"),
    "attribute": ("net = Net(MADE)", "net.made"),
    "item": ("E = dict(k=MADE)", 'E["k"]'),
    "class": ("class C:\n    made = MADE", "C.made"),
}
LISTS = {
    "appended and read": """
PLACE.append(np.sum(x ** 2))
PLACE.append(x[0] * x[1])
return PLACE[-1] * PLACE[-2] + len(PLACE)
""",
    "stack": """
put(x[0])
put(np.sin(x[1]))
put(take() * take())
put(x[2])
return take() * take() ** 2
""",
    "loop": """
v = x
for i in range(3):
    v = np.tanh(v) + 0.1
    PLACE.append(np.sum(v) * x[i])
return PLACE[-1] * PLACE[-3] + last()
""",
    "loop of unknown length": """
PLACE.append(x[0])
while PLACE[-1] < 5.0:
    PLACE.append(PLACE[-1] * 1.5 + x[1])
return PLACE[-1] * x[2]
""",
    "branch": """
if x[0] > 0.5:
    PLACE.append(x[0] ** 2)
else:
    PLACE.append(x[1])
return last() * x[2]
""",
    "run through": """
PLACE.append(x[0])
PLACE.append(x[1] ** 2)
total = 0.0
for v in PLACE:
    total = total + v * x[2]
return total + sum(PLACE)
""",
    "inserted and removed": """
PLACE.insert(0, x[0])
PLACE.append(x[1])
del PLACE[0]
PLACE[-1] = PLACE[-1] * x[2]
return PLACE[-1] + PLACE[0] * x[0]
""",
    "a method": """
net.note(x[0] ** 2)
net.note(x[1] * x[2])
return PLACE[-1] * PLACE[-2] * net.count
""",
    "a comprehension": """
PLACE.append(x[0])
PLACE.append(x[1])
return sum([v * v for v in PLACE]) + np.sum(np.array(PLACE) * x[2])
""",
    "arrays": """
PLACE.append(x * 2.0)
PLACE.append(x ** 2)
return np.sum(PLACE[-1] * PLACE[-2])
""",
    "extended": """
PLACE.extend([x[0], x[1] ** 2])
return PLACE[-1] * PLACE[-2]
""",
}
DICTS = {
    "memo": "return cached(5, x) * cached(4, x)\n",
    "counted keys": """
for i in range(3):
    PLACE[int(x[i] > 0.6)] = x[i] ** 2
return PLACE[0] * PLACE[1]
""",
    "default": """
n = int(x[2])
PLACE[n] = PLACE.get(n, 0.0) + x[0]
PLACE[n] = PLACE.get(n, 0.0) * x[1]
return PLACE[n] + sum(PLACE.values())
""",
    "deleted": """
n = int(x[2])
PLACE[n] = x[0] * x[1]
y = PLACE[n]
del PLACE[n]
PLACE[n + 1] = y ** 2
return PLACE[n + 1] * x[2]
""",
}
CASES = [(place, "list", name) for place in PLACES for name in LISTS if name != "a method" or place == "attribute"]
CASES += [(place, "dict", name) for place in PLACES for name in DICTS]
MADE = {"list": "[2.0, 0.5]", "dict": "{7: 2.0}"}


def program(place: str, kind: str, name: str) -> tuple[str, str]:
    """The text of a module with a function ``f``, and how its list or dict is read."""
    where, read = PLACES[place]
    body = (LISTS if kind == "list" else DICTS)[name]
    method = "self.made.append(v)" if kind == "list" else "pass"
    text = HEAD.replace("{method}", method).replace("WHERE", where) + "\ndef f(x):" + body.replace("\n", "\n    ")
    text = text if body.startswith("\n") else text.replace("def f(x):", "def f(x):\n    ")
    return text.replace("PLACE", read).replace("MADE", MADE[kind]), read


def state(module: dict[str, Any], read: str) -> str:
    return repr(eval(read, module))


@pytest.mark.parametrize(("place", "kind", "name"), CASES)
def test_derivatives_and_what_is_left(place: str, kind: str, name: str) -> None:
    text, read = program(place, kind, name)
    plain, reverse, forward = (names_of(text) for _ in range(3))
    both, tangent = value_and_grad(reverse["f"]), forward["f"]
    # The second call finds what the first one has left.
    for n in range(2):
        expected = numeric_gradient(lambda x, n=n: _after(text, n)(x), (X,))
        result = plain["f"](X)
        value, gradient = both(X)
        np.testing.assert_allclose(value, result)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6)
        np.testing.assert_allclose(jvp(tangent, (X,), (WAY,))[1], expected @ WAY, rtol=1e-6)
        assert state(reverse, read) == state(forward, read) == state(plain, read)


def _after(text: str, calls: int) -> Any:
    """The function, in a module in which it has been called so many times."""
    f = names_of(text)["f"]
    for _ in range(calls):
        f(X)
    return f


@pytest.mark.parametrize("name", ["appended and read", "stack", "loop", "arrays"])
def test_second_order(name: str) -> None:
    text, _ = program("variable", "list", name)
    f, step = names_of(text)["f"], 1e-4
    ahead, behind = (numeric_gradient(lambda x: names_of(text)["f"](x), (X + h * WAY,)) for h in (step, -step))
    try:
        found = hvp(f, (X,), (WAY,))
    except S2SADError:
        return
    np.testing.assert_allclose(found, (ahead - behind) / (2 * step), rtol=1e-4, atol=1e-5)


LONG = """S = [1.5]
def work(s, v, n):
    OWN
    total = 0.0
    for i in range(n):
        if v > 0.1:
            s.append(v * (i + 1))
            total = total + s[-1] * 0.5
        elif v > -1.0:
            s.append(v)
            total = total - s[-1]
        else:
            total = total * 2.0
        v = v * 0.9
        if len(s) > 50:
            s.pop(0)
            total = total + 0.1
    for w in s:
        total = total + w * 0.25
    return total + s[-1]
"""
#: Where something else has the list, or more is done with it.
SHARED = {
    "two variables": ("S = [1.5]\nT = S", "S.append(x[0])\nreturn T[-1] * x[1]"),
    "two variables by a function": (
        "S = [1.5]\nT = S\ndef g():\n    return T[-1]",
        "S.append(x[0])\nreturn g() * x[1]",
    ),
    "an object has it": ("S = [1.5]\nnet = Net(S)", "S.append(x[0])\nreturn net.made[-1] * x[1]"),
    "another variable": ("S = [1.5]", "t = S\nt.append(x[0])\nreturn S[-1] * x[1]"),
    "one of two": (
        "S = [1.5]\nT = [2.0]",
        "t = S if x[0] > 0.1 else T\nt.append(x[0])\nS.append(x[2])\nreturn S[-2] * x[1]",
    ),
    "in a tuple": ("S = [1.5]", "t = (S, 1)\nS.append(x[0])\nreturn t[0][-1] * x[1]"),
    "a method of it": ("S = [1.5]", "put = S.append\nput(x[0])\nput(x[1])\nreturn S[-1] * S[-2]"),
    "in a closure": ("S = [1.5]", "def g(v):\n    S.append(v)\ng(x[0])\ng(x[1])\nreturn S[-1] * S[-2]"),
    "in a lambda": ("S = [1.5]", "S.append(x[0])\nreturn (lambda: S[-1] * x[1])()"),
    "by a library": ("S = [1.5]", "S.append(x[0])\nreturn np.sum(np.vectorize(lambda t: t * S[-1])(x))"),
    "by a heap": ("import heapq\nS = [1.5]", "heapq.heappush(S, x[0])\nheapq.heappush(S, x[1])\nreturn S[0] * x[2]"),
    "sorted": ("S = [1.5, 0.6]", "S.append(x[0])\nS.sort()\nreturn S[0] * S[1] * S[2] * x[1]"),
    "its name": ("S = [1.5]", "S.append(x[0])\nreturn globals()['S'][-1] * x[1]"),
    "rebound": ("S = [1.5]", "global S\nS.append(x[0])\nS = S + [x[1]]\nreturn S[-1] * S[-2]"),
    "added": ("S = [1.5]", "global S\nS += [x[0]]\nreturn S[-1] * x[1]"),
    "a part of it": ("S = [1.5]", "S.append(x[0])\nt = S[-1:]\nS.append(x[1])\nreturn t[0] * S[-1]"),
    "a view of a dict": ("S = {0: 1.5}", "v = S.values()\nS[int(x[2])] = x[0]\nreturn sum(v) * x[1]"),
    "an item that is an array": ("A = np.ones(3)\nS = [A]", "S.append(x)\nS[0][0] = x[1]\nreturn np.sum(A * S[-1])"),
    "an array that is put there": ("S = []", "a = x * 2.0\nS.append(a)\na[0] = x[1]\nreturn np.sum(S[-1] * x)"),
    "an item that is a list": ("S = [[1.5]]", "S[-1].append(x[0])\nS.append([x[1]])\nreturn S[-2][-1] * S[-1][0]"),
    "given": ("S = [1.5]\ndef g(s, v):\n    s.append(v)\n    return s[-1]", "g(S, x[0])\nreturn S[-1] * g(S, x[1])"),
    "raises": (
        "S = [1.5]",
        "try:\n    S.append(x[0])\n    S.append(x[7])\nexcept IndexError:\n    S.append(x[1])\nreturn S[-1] * S[-2]",
    ),
    "returned by a function": ("S = [1.5]\ndef g():\n    return S", "g().append(x[0])\nreturn S[-1] * x[1]"),
    "a generator": ("S = [1.5]\ndef g():\n    for v in S:\n        yield v", "S.append(x[0])\nreturn sum(g()) * x[1]"),
    "given to a long function": (
        LONG.replace("OWN", "pass"),
        "return work(S, x[0], 3) * work(S, x[1], 2) * S[-1]",
    ),
    "given to a long function that has it": (
        LONG.replace("OWN", "S.append(v)"),
        "return work(S, x[0], 3) * work(S, x[1], 2) * S[-1]",
    ),
    "another one given": (
        LONG.replace("OWN", "S.append(v)"),
        "t = [2.0]\nS.append(x[2])\nreturn work(t, x[0], 3) * work(S, x[1], 2) * S[-1]",
    ),
    "told apart": ("S = [1.5]\nT = S", "S.append(x[0])\nreturn S[-1] * x[1] if S is T else x[2]"),
    "set by slices of what runs": (
        "S = [1.5, 2.0, 0.3]",
        "S[1:] = (v * v for v in x)\nS.append(x[2])\nreturn S[1] * S[2] * S[-1]",
    ),
    "set by slices": ("S = [1.5, 2.0, 0.3]", "S[1:] = [x[0], x[1]]\nS.append(x[2])\nreturn S[1] * S[2] * S[-1]"),
}


@pytest.mark.parametrize("name", SHARED)
def test_shared_right_or_refused(name: str) -> None:
    start, body = SHARED[name]
    text = (
        HEAD.partition("WHERE")[0].replace("{method}", "pass")
        + start
        + "\ndef f(x):\n    "
        + body.replace("\n", "\n    ")
    )
    expected = numeric_gradient(lambda x: names_of(text + "\n")["f"](x), (X,))
    plain = names_of(text + "\n")
    plain["f"](X)
    for found in (lambda f: value_and_grad(f)(X)[1] @ WAY, lambda f: jvp(f, (X,), (WAY,))[1]):
        module = names_of(text + "\n")
        try:
            np.testing.assert_allclose(found(module["f"]), expected @ WAY, rtol=1e-6)
        except S2SADError:
            continue
        assert repr(module["S"]) == repr(plain["S"])


def test_a_list_that_is_passed_as_well_is_refused() -> None:
    module = names_of(
        "S = [1.5]\ndef f(x, s):\n    S.append(x[0])\n    S.append(S[-1] * x[1])\n    return S[-1] * s[-1]\n"
    )
    np.testing.assert_allclose(value_and_grad(module["f"])(X, [2.0])[1], [2.0 * X[1], 2.0 * X[0], 0.0])
    with pytest.raises(S2SADError, match="share a list"):
        value_and_grad(module["f"])(X, module["S"])


def test_a_list_that_is_replaced_is_noticed() -> None:
    module = names_of("S = [1.5]\ndef f(x):\n    S.append(x[0])\n    S.append(S[-1] * x[1])\n    return S[-1] * S[0]\n")
    f = value_and_grad(module["f"])
    for first in (1.5, 3.0):
        module["S"] = [first]
        np.testing.assert_allclose(f(X)[1], [first * X[1], first * X[0], 0.0])


@pytest.mark.parametrize("first", [[np.array([1.0, 2.0])], [np.float32(2)], [3], [True]], ids=repr)
def test_what_it_holds_may_be_of_other_types_later(first: list[Any]) -> None:
    text = "import numpy as np\nS = [1.5]\ndef f(x):\n    S.append(x[0])\n    return np.sum(S[0] * x[1]) + S[-1]\n"
    module, plain = names_of(text), names_of(text)
    f = value_and_grad(module["f"])
    f(X)

    def anew(x: Any) -> Any:
        plain["S"] = list(first)
        return plain["f"](x)

    module["S"] = list(first)
    np.testing.assert_allclose(f(X)[1], numeric_gradient(anew, (X,)), rtol=1e-6)
