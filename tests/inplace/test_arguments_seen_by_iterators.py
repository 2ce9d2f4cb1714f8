"""Arrays that the function writes and that an iterator, generator, weak reference or buffer gives out as well."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.copies import copy_reachable
from tests.oracle import numeric_gradient

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


def by_its_name(x: Any) -> Any:
    x *= 2.0
    return np.sum(x * x) * globals()["GIVEN"][0]


@pytest.mark.parametrize("f", [reference_of_module, proxy_of_module, buffer_of_module, by_its_name])
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
