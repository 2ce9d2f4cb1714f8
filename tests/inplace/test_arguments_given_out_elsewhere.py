"""Arrays that the function writes and that something which is not copied gives out as well.

That is an iterator, generator, weak reference or buffer, or an object of a class with ``__new__`` or ``__del__``.
"""

from __future__ import annotations

import collections
import contextvars
import enum
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from s2sad.errors import S2SADError, UndefinedDerivativeError, UnsupportedError
from s2sad.runtime import unshared
from s2sad.runtime.copies import copy_reachable
from tests.oracle import numeric_gradient
from tests.sources import names_of

GIVEN = np.array([0.31, 0.72, -0.45])
REFERENCE = weakref.ref(GIVEN)
PROXY = weakref.proxy(GIVEN)
BUFFER = memoryview(GIVEN)  # type: ignore[arg-type]


def firsts(a: Any) -> Iterator[Any]:
    while True:
        yield a[0]


def firsts_of_module() -> Iterator[Any]:
    while True:
        yield GIVEN[0]


def next_item(x: Any, it: Any) -> Any:
    x *= 2.0
    return np.sum(x * x) * np.sum(next(it))


def item_of_buffer(x: Any, it: Any) -> Any:
    x *= 2.0
    return np.sum(x * x) * it[0]


def item_of_reference(x: Any, it: Any) -> Any:
    x *= 2.0
    return np.sum(x * x) * it()[0]


ARGUMENTS: list[tuple[Callable[..., Any], Callable[[Any], Any]]] = [
    (next_item, iter),
    (next_item, firsts),
    (next_item, lambda a: (v for v in a)),
    (next_item, lambda a: map(float, a)),
    (next_item, lambda a: zip(a, range(3), strict=True)),
    (item_of_buffer, memoryview),
    (item_of_buffer, lambda a: memoryview(a[:1])),
    (item_of_reference, weakref.ref),
]


@pytest.mark.parametrize(("f", "made"), ARGUMENTS)
def test_argument_that_leads_to_another(f: Any, made: Any) -> None:
    x, other = GIVEN.copy(), np.array([0.5, 0.1, 0.2])
    with pytest.raises(UndefinedDerivativeError):
        value_and_grad(f)(x, made(x))
    with pytest.raises(UndefinedDerivativeError):
        jvp(f, (x, made(x)), (np.ones(3), None))
    np.testing.assert_array_equal(x, GIVEN)
    value, slopes = value_and_grad(f)(x, made(other))
    assert value == f(x.copy(), made(other))
    np.testing.assert_allclose(slopes, numeric_gradient(lambda x: f(x.copy(), made(other)), [x]))
    assert jvp(f, (x, made(other)), (np.ones(3), None))[0] == value


class Made:
    def __new__(cls, *_: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, v: Any) -> None:
        self.v = v


class Deleted:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __del__(self) -> None:
        pass

    def first(self) -> Any:
        return self.v[0]


class Level(enum.Enum):
    LOW = 1


def local(v: Any) -> Any:
    made = threading.local()
    made.v = v
    return made


def member(v: Any) -> Any:
    Level.LOW.v = v  # type: ignore[attr-defined]
    return Level.LOW


def variable(v: Any) -> Any:
    made: contextvars.ContextVar[Any] = contextvars.ContextVar("made")
    made.set(v)
    return made


#: What gives out an array that it is made of, and the text that reads an item of that.
OTHERS: list[tuple[Callable[[Any], Any], str]] = [
    (Made, "o.v[0]"),
    (Deleted, "o.v[0]"),
    (lambda a: Deleted(a).first, "o()"),
    (lambda a: [Made((a,))], "o[0].v[0][0]"),
    (local, "o.v[0]"),
    (member, "o.v[0]"),
    (ValueError, "o.args[0][0]"),
    (lambda a: {"a": a}.values(), "list(o)[0][0]"),
    (variable, "o.get()[0]"),
    (np.ctypeslib.as_ctypes, "o[0]"),
    (lambda a: (lambda: a).__closure__[0], "o.cell_contents[0]"),  # type: ignore[index]
    (lambda a: collections.defaultdict(lambda: a), "o['k'][0]"),
]
TEXT = """
import numpy as np

def f(x, o):
    x *= 2.0
    return np.sum(x * x) * {read}

def g(x):
    x *= 2.0
    return np.sum(x * x) * {read}
"""


@pytest.mark.parametrize(("made", "read"), OTHERS)
def test_objects_that_are_not_copied(made: Any, read: str) -> None:
    x, other = GIVEN.copy(), np.array([0.5, 0.1, 0.2])
    names = names_of(TEXT.format(read=read))
    f, g = names["f"], names["g"]
    with pytest.raises(S2SADError):
        value_and_grad(f)(x, made(x))
    with pytest.raises(S2SADError):
        jvp(f, (x, made(x)), (np.ones(3), None))
    names["o"] = made(x)
    with pytest.raises(S2SADError):
        value_and_grad(g)(x)
    np.testing.assert_array_equal(x, GIVEN)
    names["o"] = made(other)
    for call in (lambda: value_and_grad(g)(x), lambda: value_and_grad(f)(x, names["o"])):
        try:
            value, slopes = call()
        except UnsupportedError:
            continue
        assert value == g(x.copy())
        np.testing.assert_allclose(slopes, numeric_gradient(lambda x: g(x.copy()), [x]))


def test_arguments_may_share_what_is_not_copied() -> None:
    row = [1.0, Made([2.0])]
    unshared((row,), [row[1]])
    with pytest.raises(UndefinedDerivativeError):
        unshared((row,), Made(row))
    with pytest.raises(UndefinedDerivativeError):
        unshared((row, [Made(row)]))


def test_generator_that_reads_the_module() -> None:
    with pytest.raises(UndefinedDerivativeError, match="firsts_of_module"):
        value_and_grad(next_item)(GIVEN, firsts_of_module())
    assert value_and_grad(next_item)(GIVEN.copy(), firsts_of_module())[0] == next_item(GIVEN.copy(), firsts_of_module())


def reference_of_module(x: Any) -> Any:
    x *= 2.0
    return np.sum(x * x) * REFERENCE()[0]  # type: ignore[index]


def proxy_of_module(x: Any) -> Any:
    x *= 2.0
    return np.sum(x * x) * PROXY[0]


def buffer_of_module(x: Any) -> Any:
    x *= 2.0
    return np.sum(x * x) * BUFFER[0]


@pytest.mark.parametrize("f", [reference_of_module, proxy_of_module, buffer_of_module])
def test_module_that_leads_to_the_argument(f: Any) -> None:
    for x in (GIVEN, GIVEN[:2], GIVEN[::-1]):
        with pytest.raises(UndefinedDerivativeError):
            value_and_grad(f)(x)
        with pytest.raises(UndefinedDerivativeError):
            jvp(f, (x,), (x.copy(),))
    x = GIVEN.copy()
    value, slopes = value_and_grad(f)(x)
    assert value == f(x.copy())
    np.testing.assert_allclose(slopes, numeric_gradient(lambda x: f(x.copy()), [x]))


def test_variable_that_is_read_by_its_name() -> None:
    names = names_of(TEXT.format(read="globals()['o'][0]"))
    names["o"] = GIVEN.copy()
    with pytest.raises(UndefinedDerivativeError):
        value_and_grad(names["g"])(names["o"][1:])
    assert value_and_grad(names["g"])(GIVEN.copy())[0] == names["g"](GIVEN.copy())


class Giving(type):
    held: Any = None

    @property
    def first(cls) -> Any:
        return Giving.held[0]


class Given(metaclass=Giving):
    pass


def of_metaclass(x: Any) -> Any:
    x *= 2.0
    return np.sum(x * x) * Given.first


def test_property_of_a_metaclass() -> None:
    Giving.held = x = GIVEN.copy()
    with pytest.raises(UndefinedDerivativeError):
        value_and_grad(of_metaclass)(x)
    assert value_and_grad(of_metaclass)(GIVEN.copy())[0] == of_metaclass(GIVEN.copy())


def test_generator_of_the_module() -> None:
    names = names_of("import numpy as np\n\ndef f(x):\n    x *= 2.0\n    return np.sum(x * x) * next(o)\n")
    x = GIVEN.copy()
    names["o"] = firsts(x)
    with pytest.raises(S2SADError):
        value_and_grad(names["f"])(x)
    names["o"] = firsts(np.array([0.5]))
    try:
        assert value_and_grad(names["f"])(x)[0] == names["f"](x.copy())
    except UnsupportedError:
        pass


class Node:
    def __init__(self, v: Any, above: Node | None = None) -> None:
        self.v = v
        self.above = None if above is None else weakref.ref(above)


def test_what_is_weakly_referred_to_is_copied_with_what_it_shares() -> None:
    root = Node(np.array([1.0, 2.0]))
    for held in (Node(root.v, root), (root.v, (weakref.ref(root),)), [root, weakref.ref(root)]):
        copy = copy_reachable(held)
        if isinstance(held, Node):
            first, above = copy.v, copy.above()
        elif isinstance(held, tuple):
            first, above = copy[0], copy[1][0]()
        else:
            first, above = copy[0].v, copy[1]()
        assert above is not root
        assert above.v is first
        assert first is not root.v
