"""Random programs that make objects in loops, as many as the sizes of their arguments say.

``python -m tests.random_sizes --count 500`` compares their gradients with central differences, at several sizes.
"""

from __future__ import annotations

import argparse
import copy
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from s2sad import grad
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient
from tests.random_objects import load

TOP = """
import numpy as np

class P:
    def __init__(self, v, w=1.0, k=0):
        self.v, self.w, self.k, self.log = v, w, k, []

    def e(self):
        return self.w * np.sum(self.v * self.v)

    def scale(self, c):
        self.v = self.v * c
        self.log.append(c)
        return self

    def inplace(self, c):
        if np.ndim(self.v):
            self.v *= c
        return self.e()

class Q(P):
    def e(self):
        return np.sum(np.sin(self.v)) * self.w

def energy(ps):
    return sum(p.e() for p in ps)

def make(x, n=2):
    return [P(x[i % len(x)], 1.0 + i) for i in range(n)]

"""
ARRAYS = ("x", "y", "(x * 2.0)", "x[::-1]", "np.exp(y)", "y[1:]", "rows")
MAKERS = (
    "[P(v) for v in {a}]",
    "[P({a}[i], 1.0 + i) for i in range(len({a}))]",
    "[Q(v, k) for v, k in zip({a}, m)]",
    "[P(v, 1.0 + i, i) for i, v in enumerate({a})]",
    "[P(v) for v in list({a})]",
    "make({a}, n)",
    "[P({a}[i % len({a})]) for i in range(n)]",
    "[(Q if i % 2 else P)(v) for i, v in enumerate({a})]",
    "[P(v * w) for v, w in zip({a}[1:], {a}[:-1])]",
    "[P(v) for v in reversed({a})]",
    "[P(v) for i, v in enumerate({a}) if i != 1]",
    "list(map(P, {a}))",
)
LOOPS = (
    "for v in {a}:\n        ps.append(P(v))",
    "for i in range(len({a})):\n        ps.append(P({a}[i], m[i % len(m)]))",
    "for i in range(n):\n        ps.append(Q({a}[i % len({a})], 0.5 * i))",
    "i = 0\n    while i < len({a}):\n        ps.append(P({a}[i]))\n        i += 1",
    "for i, (v, w) in enumerate(zip({a}, {a})):\n        ps.insert(0, P(v * w, 1.0 + i))",
    "for k in names:\n        ps.append(P({a}[0], len(k)))",
)
STEPS = (
    "for p in ps:\n        r = r + p.e()",
    "for p in ps:\n        p.scale(0.5)",
    "for _ in range(2):\n        for p in ps:\n            p.v = p.v + 0.1 * {b}",
    "r = r + energy(ps) * {b}",
    "r = r + sum(p.e() * q.w for p in ps for q in ps if p is not q)",
    "ps = [P(p.v * 2.0, p.w) for p in ps]",
    "r = r + len(ps)",
    "for p, q in zip(ps, ps[1:]):\n        q.v = q.v + np.sum(p.v)",
    "ps.reverse()",
    "d = {i: p for i, p in enumerate(ps)}\n    r = r + d[0].e()",
    "y = y * 1.5",
    "y[0] = y[0] * 2.0",
    "y += 0.1",
    "if x[0] > 0:\n        ps[0].scale(2.0)",
    "for p in ps:\n        r = r + p.inplace(1.5)",
    "ps[0] = P({b})",
    "ps = ps[:2] + ps[:1]",
    "m.append(3.0)",
    "m = m + [1.0]",
    "table = [[P(v) for v in y] for _ in range(2)]\n    r = r + table[1][0].e()",
    "if len(ps) > 2:\n        r = r * 2.0",
)


def generate(seed: int) -> str:
    """The text of a program."""
    rng = random.Random(seed)
    a = rng.choice(ARRAYS)
    body = ["y = x * 1.0", "r = 0.0", "rows = np.outer(x, x)"]
    if rng.random() < 0.6:
        body.append("ps = " + rng.choice(MAKERS).replace("{a}", a))
    else:
        body += ["ps = []", rng.choice(LOOPS).replace("{a}", a)]
    for _ in range(rng.randint(1, 5)):
        body.append(rng.choice(STEPS).replace("{b}", rng.choice(("x[1]", "np.mean(y)", "0.7"))))
    inner = "    " + "\n    ".join([*body, "return r + energy(ps) + np.sum(y * x)"])
    if rng.random() < 0.3:
        return f"{TOP}def g(x, n, m, names):\n{inner}\n\ndef f(x, n, m, names):\n    return g(x, n, m, names) * 2.0\n"
    return f"{TOP}def f(x, n, m, names):\n{inner}\n"


def verdicts(seed: int) -> Iterator[str]:
    """What is found of one gradient of a program at several sizes: right, refused, raised or what is wrong."""
    f = load(f"sizes_{seed}", generate(seed))["f"]
    gradient = grad(f)
    for size, n in ((3, 2), (4, 3), (3, 3), (2, 2)):
        x = np.random.default_rng(seed + size).normal(size=size) + 0.2
        args: tuple[Any, ...] = (x, n, [0.5, 1.5, 2.0], ["a", "bcd"])
        try:
            f(*copy.deepcopy(args))
        except Exception:
            yield "raised"
            continue
        given = copy.deepcopy(args)
        try:
            found = gradient(*given)
        except S2SADError:
            yield "refused"
            continue
        expected = numeric_gradient(lambda z, args=args: f(z, *copy.deepcopy(args[1:])), (x,))
        if repr(given) != repr(args):
            yield f"changed arguments at {args}"
        elif not np.allclose(found, expected, rtol=1e-5, atol=1e-7):
            yield f"{found} and not {expected} at {args}"
        else:
            yield "right"


def main() -> None:
    """Compare the gradients of many programs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.count):
        for verdict in verdicts(seed):
            counts[verdict if verdict in ("right", "refused", "raised") else "wrong"] += 1
            if counts["wrong"] and verdict not in ("right", "refused", "raised"):
                print(f"{generate(seed)}\n# seed {seed}: {verdict}")
    print(dict(counts))


if __name__ == "__main__":
    main()
