"""Shadows of memory: views, overlap, owners, stores that are undone, and what the log holds."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import numpy as np
import pytest

from tests.shadows.gradient import forward, value_and_grad
from tests.shadows.memory import Memory
from tests.shadows.refs import NotSupported
from tests.shadows.run import Codes, Run
from tests.shadows.slots import AllSlots

HEADER = "import numpy as np\nfrom s2sad import stop_gradient\n"


def gradient(source: str, *args: Any, argnums: tuple[int, ...] = (0,), runs: list[Run] | None = None) -> Any:
    """The value and the gradients of ``f`` in a source."""
    names: dict[str, Any] = {"__name__": "shadows_program"}
    filename = "<shadows>"
    exec(compile(HEADER + source, filename, "exec"), names)
    value, found = value_and_grad(names["f"], argnums, Codes(HEADER + source, filename), runs)(*args)
    return value, found


VIEWS = [
    lambda a: a[1:], lambda a: a.T, lambda a: a[::-2], lambda a: np.diagonal(a), lambda a: a.reshape(-1)[::-1],
    lambda a: a[..., None], lambda a: np.broadcast_to(a[0], (3, 4)), lambda a: a[:0], lambda a: a[1, 2:3],
    lambda a: np.lib.stride_tricks.sliding_window_view(a, 2, 0), lambda a: np.squeeze(a[:1])[None],
]  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", [float, np.float32, complex])
def test_the_shadow_of_a_view_is_the_same_view(view: Any, dtype: Any) -> None:
    memory = Memory()
    a = np.arange(12).reshape(3, 4).astype(dtype)
    part = view(a)
    g = np.arange(1, part.size + 1).reshape(part.shape).astype(dtype) * (1 + 1j if dtype is complex else 1)
    memory.token(part).add(g)
    expected = np.zeros(12, dtype)
    places = view(np.arange(12).reshape(3, 4))
    np.add.at(expected, places.ravel(), g.ravel())
    assert np.array_equal(memory.token(a).read(), expected.reshape(3, 4))
    assert np.array_equal(memory.token(part).take(), expected[places])
    assert not np.any(memory.token(part).read())


def test_memory_without_an_array_that_owns_it() -> None:
    memory = Memory()
    held = bytearray(32)
    a, b = np.frombuffer(held), np.frombuffer(memoryview(held)[8:])
    memory.token(a).add(np.array([1.0, 2.0, 3.0, 4.0]))
    assert np.array_equal(memory.token(b).read(), [2.0, 3.0, 4.0])
    owner = np.zeros(4)
    token = memory.token(owner)
    token.add(1.0)
    assert memory.token(np.asarray(memoryview(owner)[1:])).extent is token.extent
    other = Memory()
    other.token(np.frombuffer(memoryview(held)[:16]))
    with pytest.raises(NotSupported, match="overlap in part"):
        other.token(np.frombuffer(memoryview(held)[8:]))


def test_an_identity_that_is_used_again_is_another_extent() -> None:
    memory = Memory()
    seen = set()
    for _ in range(50):
        a = np.zeros(7)
        token = memory.token(a)
        assert token.is_zero
        token.add(1.0)
        seen.add(token.extent.serial)
        del a, token
    assert len(seen) == 50
    assert len(memory.owners) <= 1


def test_another_precision_of_active_memory_is_an_error() -> None:
    memory = Memory()
    a = np.ones(4)
    memory.token(a).extent.is_active = True
    assert memory.token(a.view(complex)).dtype == complex
    for dtype in (np.float32, np.int64):
        with pytest.raises(NotSupported, match="active memory"):
            memory.token(a.view(dtype))


def test_slots_move_and_come_back() -> None:
    log: list[Any] = []
    slots = AllSlots(log.append)
    held = [1.0, 2.0, 3.0]
    slots.of(held)
    slots.rename(held, {0: 2, 2: 0})
    slots.of(held).bars.update({0: 5.0, 1: 7.0, 2: 9.0})
    log.pop()()
    assert slots.of(held).bars == {2: 5.0, 0: 9.0}


def test_memory_that_outlives_the_call_is_as_the_program_left_it() -> None:
    source = """
G = np.array([1.0, 2.0, 3.0])
def f(x):
    for i in range(3):
        G[i] = G[i - 1] * x[i]
    r = np.sum(G * G)
    G[:] = G[::-1] * r
    return r
"""
    names: dict[str, Any] = {}
    exec(compile(HEADER + source, "<shadows>", "exec"), names)
    x = np.array([0.5, 1.2, -0.7])
    expected = names["f"](x)
    after = names["G"].copy()
    names["G"][:] = [1.0, 2.0, 3.0]
    value, _ = value_and_grad(names["f"], (0,), Codes(HEADER + source, "<shadows>"))(x)
    assert value == expected
    assert np.array_equal(names["G"], after)


def test_stores_are_replayed_where_the_reverse_part_fails() -> None:
    source = "def f(x):\n    x[0] = 2.0\n    x[1] *= x[0]\n    return np.sum(x * x)"
    runs: list[Run] = []
    codes = Codes(HEADER + source, "<shadows>")
    names: dict[str, Any] = {}
    exec(compile(HEADER + source, "<shadows>", "exec"), names)
    seen = []

    def found(*args: Any) -> Any:
        run = runs[-1]
        run.tape.insert(0, lambda: seen.append([u.target.copy() for u in run.undos]) or 1 / 0)  # type: ignore[func-returns-value]

    original = Run.reverse

    def reverse(self: Run, read: Any) -> None:
        found()
        original(self, read)

    Run.reverse = reverse  # type: ignore[method-assign]
    try:
        with pytest.raises(ZeroDivisionError):
            value_and_grad(names["f"], (0,), codes, runs)(np.array([0.5, 1.0]))
    finally:
        Run.reverse = original  # type: ignore[method-assign]
    assert [float(u) for u in seen[0][0].ravel()] == [0.5]
    assert next(float(u.target.ravel()[0]) for u in runs[-1].undos) == 2.0


def test_the_log_of_a_linear_loop_holds_no_arrays() -> None:
    """A linear stencil keeps tokens of what it reads, not the arrays."""
    source = """
def f(x):
    u = x
    for _ in range(60):
        u = np.add(np.negative(u), np.roll(u, 1))
    return np.sum(u)
"""
    x = np.ones(20_000)
    gc.collect()
    tracemalloc.start()
    runs: list[Run] = []
    _, (g,) = gradient(source, x, runs=runs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.allclose(g, 0.0)
    assert peak < 25 * x.nbytes, peak / x.nbytes


def test_the_structure_of_the_gradient_is_that_at_entry() -> None:
    source = """
def f(d):
    d["new"] = d.pop("a") * d["l"].pop()
    d["l"].insert(0, d["new"])
    return d["new"] * d["l"][0] + d["l"][1]
"""
    _, (g,) = gradient(source, {"a": 2.0, "l": [3.0, 5.0]})
    assert g == {"a": 100.0, "l": [1.0, 40.0]}


def test_what_is_written_after_a_stop_is_active() -> None:
    source = """
def f(x):
    s = stop_gradient(x * 1.0)
    s[0] = x[1] ** 2
    t = s[::-1]
    t.sort()
    return np.sum(s * np.array([1.0, 10.0, 100.0]))
"""
    x = np.array([5.0, 3.0, 4.0])  # s is [9, 3, 4], then sorted [3, 4, 9] backwards
    _, (g,) = gradient(source, x)
    assert np.array_equal(g, [0.0, 6.0, 0.0])


def test_native_code_that_runs_the_program_is_noticed() -> None:
    source = """
import functools
@functools.lru_cache
def g(n):
    G[0] = 2.0
    return n
G = np.array([1.0])
def f(x):
    y = x * G
    g(1)
    return np.sum(y * y)
"""
    with pytest.raises(NotSupported):
        gradient(source, np.array([3.0]))


class Foreign:
    """An object that shows memory which is not its own, and does not say whose it is."""

    def __init__(self, array: Any) -> None:
        self.__array_interface__ = {**array.__array_interface__, "strides": array.strides}


def test_memory_of_an_owner_that_is_not_told() -> None:
    memory = Memory()
    owner = np.zeros(5)
    token = memory.token(owner)
    part = np.asarray(Foreign(owner[1:4]))
    memory.token(part).add(np.array([1.0, 2.0, 3.0]))
    assert memory.token(part).extent is token.extent
    assert np.array_equal(token.read(), [0.0, 1.0, 2.0, 3.0, 0.0])


def test_shadows_are_given_back_as_the_reverse_part_goes() -> None:
    source = """
def f(x):
    u = x
    for _ in range(60):
        u = np.sin(np.tanh(u))
    return np.sum(u)
"""
    x = np.ones(20_000)
    gc.collect()
    tracemalloc.start()
    gradient(source, x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 90 * x.nbytes, peak / x.nbytes


def test_the_reverse_part_runs_twice() -> None:
    source = """
G = np.array([1.0, 2.0, 3.0])
class Box:
    pass
def f(x, s):
    b = Box()
    b.v = s
    l = [x[0], b.v]
    for i in range(3):
        G[i] *= x[i] * l[-1]
        l.insert(0, G[i])
        b.v = b.v * l[1]
        x[i - 1] = b.v
    x.shape = (3, 1)
    return np.sum(G * x) + sum(l)
"""
    names: dict[str, Any] = {"__name__": "shadows_program"}
    exec(compile(HEADER + source, "<shadows>", "exec"), names)
    run = Run(Codes(HEADER + source, "<shadows>"))
    _, pullback = forward(run, names["f"], (0, 1), (np.array([0.5, 1.2, -0.7]), 0.3))
    after = names["G"].copy()
    first, second, third = pullback(1.0), pullback(2.0), pullback(1.0)
    assert np.array_equal(names["G"], after)
    assert np.array_equal(2.0 * first[0], second[0])
    assert 2.0 * first[1] == second[1]
    assert np.array_equal(first[0], third[0])
    assert first[1] == third[1]
    assert np.all(first[0][:2] != 0.0)
