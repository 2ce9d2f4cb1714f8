"""Objects that the program makes as keys of dicts and members of sets."""

from __future__ import annotations

import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient
from tests.sources import function_of

VALUES = """
class Value:
    def __init__(self, data, children=()):
        self.data, self.grad = data, 0.0
        self.children = set(children)
        self.backward = lambda: None

    def __add__(self, other):
        out = Value(self.data + other.data, (self, other))
        def backward():
            self.grad += out.grad
            other.grad += out.grad
        out.backward = backward
        return out

    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other))
        def backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out.backward = backward
        return out

    def run_backward(self):
        order, seen = [], set()
        def visit(v):
            if v not in seen:
                seen.add(v)
                for child in v.children:
                    visit(child)
                order.append(v)
        visit(self)
        self.grad = 1.0
        for v in reversed(order):
            v.backward()
"""
NODES = """
class Node:
    def __init__(self, name, load):
        self.name, self.load = name, load

class Equal(Node):
    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)
"""
PROGRAMS = {
    "set that is not read": VALUES
    + """
def f(x):
    a, b = Value(x), Value(2.0)
    return (a * b + a * a).data
""",
    "derivative that the program finds": VALUES
    + """
def f(x):
    a, b = Value(x), Value(3.0)
    c = a * b + a * a * b
    c.run_backward()
    return a.grad * b.grad
""",
    "keys of a dict": NODES
    + """
def f(x):
    nodes = [Node("a", x), Node("b", 2 * x), Node("c", 1.0)]
    flow = {node: node.load * (k + 1) for k, node in enumerate(nodes)}
    flow[nodes[1]] = flow[nodes[0]] * flow[nodes[1]]
    return sum(flow[node] * node.load for node in nodes) + len(flow)
""",
    "pairs as keys": NODES
    + """
def spread(edges):
    return sum(value * edge[0].load for edge, value in edges.items())

def f(x):
    a, b = Node("a", x), Node("b", 2.0)
    edges = {(a, b): x, (b, a): x * x}
    edges[a, b] = edges[a, b] * edges[b, a]
    return spread(edges)
""",
    "in another function": NODES
    + """
class Net:
    def __init__(self):
        self.messages = {}

    def send(self, node, value):
        old = self.messages.get(node, 0.0)
        self.messages[node] = old + value * node.load
        for k in range(3):
            self.messages[node] = self.messages[node] * 1.1 + k
        return self.messages[node] - old

def f(x):
    net, a, b = Net(), Node("a", x), Node("b", 2.0)
    total = net.send(a, 1.0) + net.send(b, x) + net.send(a, x)
    return total + net.messages[a] * net.messages[b]
""",
    "deep copies": NODES
    + """
import copy

def f(x):
    a, b = Node("a", x), Node("b", 2 * x)
    table = {(a, 1): x * x, (b, 2): a.load}
    other, c = copy.deepcopy((table, a))
    for node, k in other:
        node.load = node.load * (k + 2)
    total = a.load + c.load * 10 + sum(n.load * k * v for (n, k), v in other.items())
    return total + ((c, 1) in other) - ((a, 1) in other)
""",
    "shallow copies": NODES
    + """
import copy

def f(x):
    a, b = Node("a", x), Node("b", 2 * x)
    table = {a: x * x, b: 1.0}
    other = copy.copy(table)
    other[a] = 3.0
    for node in other:
        node.load = node.load * 2
    return table[a] * a.load + other[a] * b.load
""",
    "by conditions": NODES
    + """
def f(x):
    a, b = Node("a", x), Node("b", 2 * x)
    table = {a: x, b: x * x}
    for k in range(3):
        if x > k:
            table[a] = table[a] * x
        else:
            table[b] = table[b] + x
    picked = a if x > 1 else b
    best = max(table, key=table.get)
    return table[picked] * picked.load + best.load * table[best]
""",
    "taken out": NODES
    + """
def f(x):
    a, b = Node("a", x), Node("b", 2.0)
    some = {a, b}
    some.discard(a)
    some.add(a)
    some.remove(b)
    return sum(node.load ** 2 for node in some) + (b in some) + 2 * (a in some)
""",
}
EQUAL = (
    NODES
    + """
def f(x):
    table = {Equal("a", x): x, Equal("b", x): 2.0}
    table[Equal("a", 3.0)] = x * x
    return sum(value * key.load for key, value in table.items())
"""
)


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_objects_that_are_equal_to_themselves_alone(text: str) -> None:
    f = function_of(text)
    expected = numeric_gradient(f, (1.5,))
    assert grad(f)(1.5) == pytest.approx(expected)
    assert jvp(f, (1.5,), (1.0,))[1] == pytest.approx(expected)


def test_objects_with_an_equality_of_their_own_are_right_or_refused() -> None:
    f = function_of(EQUAL)
    try:
        found = grad(f)(1.5)
    except S2SADError:
        return
    assert found == pytest.approx(numeric_gradient(f, (1.5,)))
