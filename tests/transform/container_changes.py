"""Bodies of functions that change and read the items of a list or dict ``{c}`` with the keys ``{a}`` and ``{b}``."""

from __future__ import annotations

import textwrap

#: What it is at first, and two of its keys.
NEW = {
    "dict": ("dict(a=1.5, b=np.array([0.2, 0.7]), e=dict(z=3.0))", '"a"', '"b"'),
    "list": ("[1.5, np.array([0.2, 0.7])]", "0", "1"),
    "empty dict": ("dict()", '"a"', '"b"'),
}
ANY = {
    "set": "{c}[{a}] = np.sum(x ** 2)\nreturn {c}[{a}] * x[0]",
    "set an array": "{c}[{b}] = np.sin(x)\nreturn np.sum({c}[{b}] * x)",
    "set again": "{c}[{a}] = x[0]\n{c}[{a}] += x[1] ** 2\n{c}[{a}] *= {c}[{a}]\nreturn {c}[{a}]",
    "write into it": "{c}[{b}] = x * 2.0\n{c}[{b}] *= x\n{c}[{b}][0] = x[1]\nreturn np.sum({c}[{b}] ** 2)",
    "write elsewhere": "y = x * 1.0\n{c}[{b}] = y\ny[0] = 5.0 * x[1]\nreturn np.sum({c}[{b}] ** 2)",
    "branch": "{c}[{a}] = x[0]\nif x[0] > 0:\n    {c}[{a}] = x[0] ** 3\nreturn {c}[{a}] * x[1]",
    "branches": "if x[0] > 0:\n    {c}[{a}] = x[0] ** 3\nelse:\n    {c}[{a}] = x[1]\nreturn {c}[{a}] * x[1]",
    "returns early": "{c}[{a}] = x[0]\nif x[1] > 0:\n    return {c}[{a}] ** 2\n{c}[{a}] = x[1]\nreturn {c}[{a}]",
    "loop": "{c}[{a}] = 1.0\nfor t in x:\n    {c}[{a}] = {c}[{a}] * t + 1.0\nreturn {c}[{a}]",
    "while": "{c}[{a}] = x[0]\nwhile {c}[{a}] > 0.07:\n    {c}[{a}] = {c}[{a}] * x[1]\nreturn {c}[{a}]",
    "another name": "d = {c}\nd[{a}] = x[0]\nreturn {c}[{a}] * x[1]",
    "a name before": "d = {c}\n{c}[{a}] = x[0]\nreturn d[{a}] * x[1]",
    "callee": "put({c}, x)\nreturn {c}[{a}] * x[1]",
    "callee reads": "{c}[{a}] = x[0] ** 2\nreturn read() * x[1]",
    "callee writes": "own(x)\nreturn {c}[{a}] * x[1]",
    "callee with a loop": "{c}[{a}] = x[0] ** 2\nreturn longer(x) * x[1] + {c}[{a}]",
    "recursion": "{c}[{a}] = x[0]\nrecursive(3, x)\nreturn {c}[{a}] * x[1]",
    "lambda": "{c}[{a}] = x[0]\ng = lambda t: {c}[{a}] * t\n{c}[{a}] = x[1]\nreturn g(x[0])",
    "inner function": "def g(t):\n    {c}[{a}] = t\n    return {c}[{a}] * x[1]\nreturn g(x[0]) + {c}[{a}]",
    "generator": "{c}[{a}] = x[0]\ng = ({c}[{a}] * t for t in x)\n{c}[{a}] = x[1]\nreturn sum(g)",
    "comprehension": "{c}[{a}] = x[0]\nreturn sum([{c}[{a}] * t for t in x])",
    "read before": "{c}[{a}] = x[0]\ny = {c}[{a}]\n{c}[{a}] = x[1]\nreturn y * {c}[{a}]",
    "swap": """
        {c}[{a}], {c}[{b}] = x[0] * x, x[1]
        {c}[{a}], {c}[{b}] = {c}[{b}], {c}[{a}]
        return sum({c}[{b}]) * {c}[{a}]""",
    "length": "{c}[{a}] = x[0]\nreturn len({c}) * {c}[{a}] ** 2",
    "copy": "{c}[{a}] = x[0]\nd = {c}.copy()\n{c}[{a}] = x[1]\nreturn d[{a}] * {c}[{a}]",
    "a list in it": "{c}[{a}] = [x[0], x[1]]\n{c}[{a}].append(x[0] * x[1])\nreturn {c}[{a}][2] ** 2",
    "a tuple in it": "{c}[{a}] = (x[0], x * 2)\nreturn {c}[{a}][0] * np.sum({c}[{a}][1])",
    "all": "{c}[{a}] = x[0]\n{c}[{b}] = x[1]\nreturn np.prod([{c}[k] for k in ({a}, {b})])",
    "raises": """
        {c}[{a}] = x[0]
        try:
            v = {c}[99]
        except (KeyError, IndexError):
            v = {c}[{a}]
        return v * x[1]""",
}
OF_DICTS = {
    "update": '{c}.update(a=x[0] * x[1], b=x * 2)\nreturn {c}["a"] * np.sum({c}["b"])',
    "keys": """
        s = 0.0
        for k in ("a", "b"):
            {c}[k] = x * 2
        for k in {c}:
            s = s + len(k) * np.sum({c}["b"])
        return s""",
    "items": """
        {c}["a"] = x[0]
        for k, v in {c}.items():
            {c}[k] = v if isinstance(v, dict) else v * x[1]
        return {c}["a"]""",
    "get": '{c}["a"] = x[0]\nreturn {c}.get("a", 1.0) * x[1] + {c}.get("zz", 2.0) * x[0]',
    "in": '{c}["a"] = x[0] * (2 if "a" in {c} else 3)\nreturn {c}["a"] ** 2',
    "delete": '{c}["a"] = x[0]\ny = {c}["a"]\ndel {c}["a"]\nreturn y ** 2 + len({c})',
    "pop": '{c}["a"] = x[0]\ny = {c}.pop("a")\nreturn y ** 2',
    "setdefault": 'y = {c}.setdefault("a", x[0])\nreturn y * x[1] + x[0]',
    "merge": '{c}["a"] = x[0]\nd = {{**{c}, "q": x[1]}}\nreturn d["a"] * d["q"]',
    "bound": '{c}["a"] = x[0]\ng = {c}.get\nreturn g("a") * x[1]',
}
OF_LISTS = {
    "reverse": "{c}[0], {c}[1] = x[0], x[1] ** 2\n{c}.reverse()\nreturn {c}[0] ** 2 * {c}[1]",
    "sort": "{c}[0], {c}[1] = x[0], x[1]\n{c}.sort()\nreturn {c}[0] ** 2",
    "slice": "{c}[:] = [x[0], x[1]]\nreturn {c}[0] * {c}[1] ** 2",
    "enumerate": "for i, v in enumerate({c}):\n    {c}[i] = v * x[0]\nreturn {c}[0] * np.sum({c}[1])",
}
HEAD = """
class Net:
    def __init__(self, d):
        self.d = d
{holder}
def put(d, x):
    d[{a}] = x[0] ** 2
def read():
    return {c}[{a}] * 2.0
def own(x):
    {c}[{a}] = x[0] ** 2
def longer(x):
    s = 0.0
    for t in x:
        s = s + t * {c}[{a}]
        {c}[{a}] = s
        s = np.sin(s) + np.cos(s) * t - np.tanh(s) + np.exp(-s) * x[0] + np.log(1 + s * s) + s ** 3 - t ** 2 + s * t
    return s
def recursive(n, x):
    if n > 0:
        {c}[{a}] = {c}[{a}] * x[1]
        recursive(n - 1, x)
def f(x):
    {body}
"""


def body_of(name: str, container: str, a: str, b: str) -> str:
    """The body of a function of ``x`` by its name, as deep as it stands in the text of a module."""
    text = textwrap.dedent({**ANY, **OF_DICTS, **OF_LISTS}[name]).strip()
    return text.format(c=container, a=a, b=b).replace("\n", "\n    ")
