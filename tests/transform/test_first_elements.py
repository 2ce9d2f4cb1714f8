"""The derivative of what ``next`` takes from a generator expression or an iterator that is made for it."""

from __future__ import annotations

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient
from tests.sources import function_of

_X, _D = np.array([0.7, -0.4, 0.9]), np.array([0.3, 1.0, -0.5])
_BODIES = {
    "found": "return next(v for v in [2 * w for w in x] if v > 1.5) ** 2",
    "default": "return next((v * i for i, v in enumerate(x) if v > 50), x[1]) ** 2",
    "iterator": "return next(iter([np.sin(w) for w in x])) ** 3",
    "handled": """
try:
    k = next(v for v in x if v > 50)
except StopIteration:
    k = x[0]
return k * x[1]
""",
    "in a loop": """
s = 0.0
for a in x:
    s += next((b * a for b in x if b > a), 0.0) ** 2
return s
""",
    "pairs": "a, b = next((v, w) for v, w in zip(x, x[1:]) if w > v)\nreturn a * b",
    "filter": "return next(filter(lambda v: v > 0.75, x)) ** 2 + next(map(np.exp, x))",
    "keys": """
d = {}
for n, s in enumerate(x):
    d[float(n)] = s * 2
k = next(q for q in d if q > 0.5)
return d[k] ** 2 * next(v for q, v in d.items() if q > 1.5)
""",
}


@pytest.mark.parametrize("name", _BODIES)
def test_derivatives(name: str) -> None:
    f = function_of("def f(x):\n" + "".join(f"    {line}\n" for line in _BODIES[name].strip().splitlines()))
    expected = numeric_gradient(f, (_X,))
    np.testing.assert_allclose(grad(f)(_X), expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(jvp(f, (_X,), (_D,))[1], expected @ _D, rtol=1e-6, atol=1e-9)
