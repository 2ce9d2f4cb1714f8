"""Source in, names of what depends on ``x`` out."""

from __future__ import annotations

import textwrap

import gast
import pytest

from s2sad.frontend.lower_statements import lower_function
from s2sad.ir.code import Operation
from s2sad.transform.varied import varied

CASES = {
    "operations": ("y = x * n; z = n + 1; w = -y", "w x y"),
    "shapes and lengths": ("a = x.shape; b = len(x); c = x.ndim; d = x > n; e = x is None; g = x.T", "g x"),
    "a branch": ("if n: y = x\nelse: y = 1\nz = y", "x y z"),
    "a loop": ("s = 0; t = 0\nfor v in x:\n    s += v\n    t += n", "s v x"),
    "what is carried from round to round": ("a = b = 0\nfor i in n:\n    a = b\n    b = x", "a b x"),
    "while": ("a = n\nwhile a < 3:\n    a = a + x", "a x"),
    "a list that gets something": ("t = []; u = t; t.append(x); w = u[0]; z = [n]", "t u w x"),
    "an item": ("t = [0, 0]; u = (t, n); t[n] = x; w = u[0]", "n t u w x"),
    "an attribute": ("n.a = x; b = n.a", "b n x"),
    "an operation in place": ("a = n; b = a; a += x", "a b n x"),
    "what an array gets by a function": ("a = g(n); h(a, x); b = a + 1", "a b x"),
    "what a builtin only reads": ("a = [n]; b = max(a, key=x); c = a[0]", "b x"),
    "out": ("a = g(n); np.add(n, x, out=a)", "a x"),
    "displays and their parts": ("t = (n, x); a, b = t; d = {1: n}", "a b t x"),
    "a comprehension": ("t = [v * a for a in n for v in x]; u = [a for a in n]; w = {k: x for k in n}", "t v w x"),
    "a generator expression": ("t = sum(a * x for a in n); u = sum(a for a in n)", "t x"),
    "conditional expressions": ("a = x if n else 0; b = n or x; c = 1 if x > 0 else 2", "a b x"),
    "memory": ("m = 0\ndef g():\n    nonlocal m\n    m = x\ng()\ny = m", "g m x y"),
    "an inner function": ("g = lambda v: v * x; h = lambda v: v; a = g(1); b = h(1); c = h(x)", "a c g v x"),
    "stop_gradient": ("a = stop(x); b = a * 2; c = a * x", "c x"),
    "strings": ("a = f'{x}'; b = str(x); print(x)", "x"),
    "zip and enumerate": ("for i, (a, b) in enumerate(zip(x, n)): c = a", "a b c i x"),
    "ranges": ("for i in range(x): a = i", "x"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_depends(name: str) -> None:
    body, expected = CASES[name]
    source = f"def f(x, n, g, h):\n{textwrap.indent(body, '    ')}\n    return 0"
    code = lower_function(gast.parse(source).body[0])
    made = {r: op for op in code.body.operations for r in op.results}

    def is_stop(call: Operation) -> bool:
        return made[call.operands[0]].data == "stop" if call.operands[0] in made else False

    found = varied(code, ["x"], is_stop)
    assert sorted({value.name for value in found if value.name}) == expected.split()
    assert not varied(code, [])
