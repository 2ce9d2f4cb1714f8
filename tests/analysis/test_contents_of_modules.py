"""What lists and dicts of the module hold: what goes into containers of the program is not written into, and the types
of items are known as long as nothing that runs changes them."""

from __future__ import annotations

import copy
from collections import OrderedDict, defaultdict, deque

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from s2sad.frontend.summaries import writes_of
from tests.oracle import numeric_gradient

X = np.array([0.3, 0.7])
SERIES = {"a": np.array([1.0, 2.0, 3.0]), "b": np.array([0.5, -1.0, 2.0])}
PRICES = OrderedDict(a=[10.0, 10.4, 10.1], b=[20.0, 19.7, 20.3])
EDGES = [("a", "b", 2), ("b", "c", 1)]
QUEUE = deque([1.0, 2.0])
ROWS = {"a": np.array([1.0, 2.0])}


def in_lists_under_keys(x):
    held = {}
    for n, p in SERIES.items():
        held[n] = []
        for t in range(3):
            held[n].append(p[t] * x[0])
    return sum(sum(v) for v in held.values())


def constants_in_lists(x):
    held = {n: [] for n in SERIES}
    for t in range(3):
        for n, p in SERIES.items():
            held[n].append(p[t])
    return sum(held["a"]) * x[0] + held["b"][-1] * x[1]


def last_two(x):
    held = {n: [] for n in PRICES}
    cash = x[0]
    for t in range(3):
        for n, p in PRICES.items():
            held[n].append(p[t])
            if len(held[n]) > 1:
                cash = cash * (1 + x[1] * (held[n][-1] - held[n][-2]))
    return cash


def by_key(x):
    first = x[0]
    total = dict.fromkeys(PRICES, first)
    for n in PRICES:
        total[n] = total[n] * PRICES[n][1] + PRICES[n][0] * x[1]
    return total["a"] * total["b"]


def keys_as_they_come(x):
    degree = {}
    for u, v, w in EDGES:
        degree[u] = x[0] * w
        degree[v] = x[1] + w
    names = ""
    total = 0.0
    for key in degree:
        names = names + key
        total = total + degree[key] ** 2
    return total * len(names)


def in_a_default_dict(x):
    found = defaultdict(list)
    for n, p in SERIES.items():
        found[n].append(p)
    return found["a"][0] @ found["b"][0] * x[0] ** 2


def from_a_queue(x):
    seen = [0.0]
    for q in QUEUE:
        seen.append(q + seen[-1])
    return seen[0] * x[0] + seen[1] ** x[1]


def by_names(x):
    key = x[0] * x[1]
    total = dict.fromkeys(PRICES, key)
    for n, v in dict(zip(PRICES, x)).items():  # noqa: B905
        total[n] = total[n] * v
    return total["a"] + total["b"]


def pairs_as_keys(x):
    y = x * 1.0
    d = {}
    d[0, 1] = y
    d[1, 2] = 2 * y
    total = 0.0
    for i, j in d:
        total = total + d[i, j][0] * j
    for k in d:
        d[k][0] = x[1]
    return total + y[0] * x[0]


@pytest.mark.parametrize(
    "f",
    [
        in_lists_under_keys,
        constants_in_lists,
        last_two,
        by_key,
        keys_as_they_come,
        in_a_default_dict,
        from_a_queue,
        by_names,
        pairs_as_keys,
    ],
)
def test_what_is_put_into_containers_is_not_written(f):
    expected = numeric_gradient(f, (X,))
    np.testing.assert_allclose(grad(f)(X), expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (X,), (np.array([0.4, -1.3]),))[1], expected @ [0.4, -1.3], rtol=1e-6)


def writes_through_a_list(x):
    held = {n: [] for n in ROWS}
    for n, p in ROWS.items():
        held[n].append(p)
    held["a"][0][0] = x[0]
    return ROWS["a"][0] * x[1]


def writes_by_a_callee(x):
    _set_first(list(ROWS.values()), x[0])
    return ROWS["a"][0] * x[1]


def _set_first(rows, v):
    for row in rows:
        row[0] = v


@pytest.mark.parametrize("f", [writes_through_a_list, writes_by_a_callee])
def test_arrays_of_the_module_are_not_written_through_containers(f):
    before = ROWS["a"].copy()
    with pytest.raises(S2SADError, match=r"ROWS|array of the module"):
        grad(f)(X)
    np.testing.assert_array_equal(ROWS["a"], before)


LIST, TABLE = [np.array([1.0, 2.0])], {"a": np.array([1.0, 2.0])}


def by_a_copy(v):
    LIST.copy()[0][0] = v


def by_a_shallow_copy(v):
    copy.copy(LIST)[0][0] = v


def by_a_display(v):
    {**TABLE}["a"][0] = v


def by_another_dict(v):
    dict(TABLE)["a"][0] = v


def by_an_update(v):
    w = {}
    w.update(TABLE)
    w["a"][0] = v


@pytest.mark.parametrize("f", [by_a_copy, by_a_shallow_copy, by_a_display, by_another_dict, by_an_update])
def test_a_copy_of_a_container_holds_what_the_container_holds(f):
    assert writes_of(f).outside

    def loss(x):
        f(x[0])
        return LIST[0][0] * TABLE["a"][0] * x[1]

    try:
        found = grad(loss)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(loss, (X,)), rtol=1e-6)


CHANGED = {"a": [1.0, 2.0]}


def reads_what_it_changes(x):
    _make_arrays()
    return np.sum(next(p[0] * x for p in CHANGED.values()) ** 2)


def _make_arrays():
    CHANGED["a"] = [np.array([1.0, 3.0])]


def test_types_of_what_the_program_changes_are_not_relied_on():
    def expected(x):
        return np.sum((np.array([1.0, 3.0]) * x) ** 2)

    try:
        found = grad(reads_what_it_changes)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(expected, (X,)), rtol=1e-6)


def test_other_contents_are_another_variant():
    table = {"w": [1.0, 2.0]}

    def f(x):
        kept = [v * x for row in table.values() for v in row]
        return np.sum(kept[0] * kept[-1])

    derivative = grad(f)
    np.testing.assert_allclose(derivative(X), numeric_gradient(f, (X,)), rtol=1e-6)
    table["w"].append(3.0)
    np.testing.assert_allclose(derivative(X), numeric_gradient(f, (X,)), rtol=1e-6)
    table["v"] = [np.array([2.0, -1.0])]
    np.testing.assert_allclose(derivative(X), numeric_gradient(f, (X,)), rtol=1e-6)


class Node:
    def __init__(self, v):
        self.v = v


def written_through_keys(x):
    y = x * 1.0
    d = {}
    d[Node(y)] = 1.0
    for n in d.keys():  # noqa: SIM118
        n.v[0] = x[1]
    return np.sum(y * x)


def written_through_keys_of_a_callee(x):
    y = x * 1.0
    d = {}
    _keep(d, Node(y))
    for n in d:
        n.v[0] = x[1]
    return np.sum(y * x)


def _keep(d, key):
    d[key] = 1.0


@pytest.mark.parametrize("f", [written_through_keys, written_through_keys_of_a_callee])
def test_a_dict_holds_its_keys(f):
    try:
        found = grad(f)(X)
    except S2SADError:
        return
    np.testing.assert_allclose(found, numeric_gradient(f, (X,)), rtol=1e-6)


MASKED = [np.ma.array([1.0, 2.0], mask=[False, True])]


def test_what_a_container_holds_of_another_class_is_named_where_it_is_used():
    with pytest.raises(S2SADError, match=r"sum\(x \* MASKED\[0\]\)(.|\n)*MaskedArray|MaskedArray(.|\n)*MASKED"):
        grad(lambda x: np.sum(x * MASKED[0]))(X)
