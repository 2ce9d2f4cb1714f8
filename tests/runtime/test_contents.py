"""Nothing that a class of the user's defines runs before the program runs it."""

from __future__ import annotations

import collections
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad
from s2sad.pipeline import Compiled
from s2sad.runtime.contents import attributes_of, items_of
from s2sad.runtime.copies import Reach, is_followed

X = np.array([0.5, 1.2, -0.7])
BASES: list[type] = [
    object, dict, list, tuple, set, frozenset, collections.deque, float, int, str, collections.OrderedDict,
    collections.UserDict, types.SimpleNamespace, Exception,
]  # fmt: skip
NAMES = [
    "__iter__", "__len__", "__getitem__", "__contains__", "__eq__", "__hash__", "__bool__", "__repr__", "__str__",
    "__getattr__", "__float__", "__index__", "__array__", "__add__", "__call__", "__copy__", "__deepcopy__",
    "__reduce_ex__", "__dir__", "__lt__", "__reversed__", "__length_hint__", "__array_ufunc__", "__array_function__",
    "values", "items", "keys", "copy", "get", "__missing__", "__format__",
]  # fmt: skip
#: What the functions below read of the module.
THING: Any = None
THINGS: list[Any] = []


def argument(x: Any, o: Any) -> Any:
    return np.sum(x * x)


def attribute(x: Any, s: Any) -> Any:
    o = s.o  # noqa: F841
    return np.sum(x * x) * s.c


def item(x: Any, s: Any) -> Any:
    o = s[0]  # noqa: F841
    return np.sum(x * x)


def handed_on(x: Any, o: Any) -> Any:
    return argument(x, o)


def of_module(x: Any) -> Any:
    o = THING  # noqa: F841
    return np.sum(x * x)


def of_module_handed_on(x: Any) -> Any:
    return argument(x, THING)


def item_of_module(x: Any) -> Any:
    o = THINGS[0]  # noqa: F841
    return np.sum(x * x)


def compared_by_identity(x: Any, o: Any) -> Any:
    return x[0] if o is None else np.sum(x * x)


def beside_an_array(x: Any, o: Any) -> Any:
    y = np.zeros(3)
    y[:] = x * x
    t = (o, y)
    return np.sum(t[1])


def in_a_list(x: Any, o: Any) -> Any:
    held = []
    held.append(o)
    held.append(x * x)
    return np.sum(held[1])


def unpacked(x: Any, o: Any) -> Any:
    a, b = o, x  # noqa: F841
    return np.sum(b * b)


def captured(o: Any) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        q = o  # noqa: F841
        return np.sum(x * x)

    return f


#: How a program has an object, and the function and its other arguments then.
WAYS: list[Callable[[Any], tuple[Callable[..., Any], list[Any]]]] = [
    lambda o: (argument, [o]),
    lambda o: (attribute, [types.SimpleNamespace(o=o, c=1.0)]),
    lambda o: (item, [[o, 1.0]]),
    lambda o: (handed_on, [o]),
    lambda o: (of_module, []),
    lambda o: (of_module_handed_on, []),
    lambda o: (item_of_module, []),
    lambda o: (compared_by_identity, [o]),
    lambda o: (beside_an_array, [o]),
    lambda o: (in_a_list, [o]),
    lambda o: (unpacked, [o]),
    lambda o: (captured(o), []),
]


class RanError(Exception):
    """What methods raise that nobody calls."""


def made(base: type, name: str) -> Any:
    """An object of a subclass with a method that raises."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise RanError(name)

    # Without a dictionary, an object is asked for one by its ``__getattr__``.
    more = {"__eq__": {"__hash__": object.__hash__}, "__getattr__": {"__slots__": ()}}
    members = {name: method} | more.get(name, {})
    cls = type("Own", (base,), {**members, "__module__": __name__})
    return base.__new__(cls)


@pytest.mark.parametrize("base", BASES, ids=lambda base: base.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_methods_run_only_as_the_program_runs_them(base: type, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    o = made(base, name)
    monkeypatch.setitem(globals(), "THING", o)
    monkeypatch.setitem(globals(), "THINGS", [o, 1])
    position = NAMES.index(name) + BASES.index(base)
    for make in (WAYS[position % len(WAYS)], WAYS[(position + 5) % len(WAYS)])[: 1 + position % 2]:
        f, args = make(o)
        # As if it were defined here.
        fresh = types.FunctionType(f.__code__, globals(), f.__name__, f.__defaults__, f.__closure__)
        try:
            found = grad(fresh)(X, *args)
        except S2SADError:
            continue
        np.testing.assert_allclose(found, 2.0 * X)


class Loud(list):
    def __iter__(self) -> Any:
        raise RanError

    def __len__(self) -> int:
        raise RanError

    def __getattr__(self, name: str) -> Any:
        raise RanError


def test_contents() -> None:
    loud = Loud([1.0, 2.0])
    loud.a = 3.0
    assert items_of(loud) == [1.0, 2.0]
    assert attributes_of(loud) == {"a": 3.0}
    assert (items_of({"a": 1}), items_of((1,)), items_of({2}), items_of(collections.deque([3]))) == ([1], [1], [2], [3])
    assert (items_of("ab"), items_of(np.ones(2)), attributes_of(1.0)) == ([], [], {})
    assert attributes_of(Loud)["__len__"] is Loud.__len__


def test_a_proxy_of_what_is_gone_leads_nowhere() -> None:
    class Thing:
        pass

    gone = weakref.proxy(Thing())
    assert not is_followed(gone)
    assert len(Reach([[gone]]).outside) == 1


def summed(f: Any) -> Any:
    return lambda x: np.sum(f(x))


def test_what_is_compiled_is_no_part_of_a_derivative() -> None:
    """Else looking through an object grows with all that was ever compiled, of which the program has no part."""
    f = grad(lambda x: np.sum(x**3))
    for _ in range(3):
        f(X)
        objects = Reach([f]).objects.values()
        assert any(x is f.__wrapped__ for x in objects)
        assert not any(isinstance(x, Compiled) for x in objects)
        f = grad(summed(f))
