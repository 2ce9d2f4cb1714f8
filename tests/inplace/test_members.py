"""Methods, attributes and operators of the user's classes that have the names of built-in ones.

Each program is right, or refused: the measure is Python itself for the value, differences for the gradient.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from s2sad.errors import S2SADError, UndefinedDerivativeError, UnsupportedError
from s2sad.runtime import plain
from s2sad.runtime.classes import BUILT_IN_NAMES, own_class, own_members
from tests.oracle import numeric_gradient

X = np.array([0.5, 1.2, -0.7])
K = np.array([0.8, -0.4, 1.5])
NAMES = sorted(n for n in BUILT_IN_NAMES if n[0] != "_" and n not in ("T", "mT", "real", "imag", "shape", "size"))


def put(self: Any, a: Any, *rest: Any) -> float:
    a[0] = 5.0
    return 1.0


def give(self: Any, a: Any, *rest: Any) -> Any:
    return a


# One program for each way to an object whose method has a built-in name; METHOD stands for the name.
WAYS = {
    "argument": "o.METHOD(b)",
    "local name": "p = o; p.METHOD(b)",
    "item": "[o][0].METHOD(b)",
    "loop": "\n    for p in [o, o]: p.METHOD(b)",
    "of the module": "O.METHOD(b)",
    "attribute of the module": "H.o.METHOD(b)",
    "mapped": "list(map(o.METHOD, [b]))",
    "as a value": "m = o.METHOD; m(b)",
    "in a function": "run(o, b)",
    "of the class": "Own.METHOD(o, b)",
    "in a condition": "\n    if o.METHOD(b) is None: x = 2.0 * x",
    "result written": "w = o.METHOD(b); w2 = w if isinstance(w, np.ndarray) else np.zeros(3); w2[1] = 3.0",
}
PROGRAM = """
def f(x, k, o):
    a = {active}
    y = np.sin(a) * x
    b = a
    {way}
    return np.sum(y * x) + np.sum(a * x * x)
def run(o, b):
    return o.METHOD(b)
"""


@dataclasses.dataclass
class Data:
    n: int = 0


class Named(NamedTuple):
    n: int = 0


KINDS: dict[str, type] = {"plain": object, "list": list, "dict": dict, "dataclass": Data, "named tuple": Named}


def programs() -> Iterator[Any]:
    """A program for each name, or two, with every way, kind of class and effect in turn."""
    ways, kinds = list(WAYS), list(KINDS)
    for i, name in enumerate(NAMES):
        for j in range(1 + (i % 3 == 0)):
            way, kind = ways[(i + 5 * j) % len(ways)], kinds[(i + 3 * j) % len(kinds)]
            method, active = (put, give)[(i // 2 + j) % 2], ("x * x", "k", "k.copy()")[(i + j) % 3]
            yield pytest.param(name, way, kind, method, active, id=f"{name}-{way}-{kind}-{method.__name__}-{active}")


def made(tmp_path: Any, name: str, way: str, kind: str, method: Callable[..., Any], active: str) -> dict[str, Any]:
    cls = types.new_class("Own", (KINDS[kind],), exec_body=lambda ns: ns.update({name: method, "__module__": __name__}))
    text = PROGRAM.format(active=active, way=WAYS[way]).replace("METHOD", name)
    file = tmp_path / "program.py"
    file.write_text(text)
    space: dict[str, Any] = {"np": np, "Own": cls, "O": cls(), "H": types.SimpleNamespace(o=cls())}
    exec(compile(text, str(file), "exec"), space)
    return space


@pytest.mark.parametrize(("name", "way", "kind", "method", "active"), list(programs()))
def test_a_method_with_a_built_in_name(
    tmp_path: Any, name: str, way: str, kind: str, method: Callable[..., Any], active: str
) -> None:
    space = made(tmp_path, name, way, kind, method, active)
    f, own = space["f"], space["Own"]
    k, o = K.copy(), own()
    try:
        value, gradient = value_and_grad(f)(X.copy(), k, o)
    except S2SADError:
        return
    assert np.array_equal(k, K)
    assert value == f(X.copy(), K.copy(), own())
    expected = numeric_gradient(lambda x: f(x.copy(), K.copy(), own()), [X])
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)


# --- operators


class GivesBack:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __add__(self, other: Any) -> Any:
        return self.a

    def __getitem__(self, index: Any) -> Any:
        return self.a


class Writes:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __mul__(self, other: Any) -> Any:
        self.a[0] = 9.0
        return other


def through_what_an_operator_gives(x: Any, k: Any) -> Any:
    w = GivesBack(k) + 1
    w[0] = 5.0
    return np.sum(k * x)


def test_what_an_operator_gives_back_is_shared() -> None:
    k = K.copy()
    np.testing.assert_allclose(grad(through_what_an_operator_gives)(X, k), [5.0, *K[1:]])
    assert np.array_equal(k, K)


def with_an_operator_that_writes(x: Any, o: Any) -> Any:
    y = np.sum(x * o.a)
    w = o * 2.0
    return np.sum(x * o.a) + w + y


def test_an_operator_that_writes_happens_in_its_place() -> None:
    o = Writes(K.copy())
    value, gradient = value_and_grad(with_an_operator_that_writes)(X, o)
    assert np.array_equal(o.a, K)
    assert value == with_an_operator_that_writes(X, Writes(K.copy()))
    np.testing.assert_allclose(gradient, K + [9.0, *K[1:]])


class Hashed:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __hash__(self) -> int:
        self.a[0] = 9.0
        return 1


def with_a_key_that_writes(x: Any, k: Any) -> Any:
    o = Hashed(k)
    y = np.sum(x * k)
    w = {o: 1.0}
    return y + np.sum(x * k) + len(w)


def test_a_key_that_writes_when_it_is_hashed() -> None:
    k = K.copy()
    value, gradient = value_and_grad(with_a_key_that_writes)(X, k)
    assert np.array_equal(k, K)
    assert value == with_a_key_that_writes(X, K.copy())
    np.testing.assert_allclose(gradient, K + [9.0, *K[1:]])


class Truth:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __bool__(self) -> bool:
        self.a[0] = 9.0
        return True


def test_a_condition_that_writes() -> None:
    def f(x: Any, o: Any) -> Any:
        if o:
            x = 2.0 * x
        return np.sum(x * o.a)

    truth = Truth(K.copy())
    np.testing.assert_allclose(grad(f)(X, truth), 2.0 * np.array([9.0, *K[1:]]))
    assert np.array_equal(truth.a, K)


def test_the_operator_of_an_attribute_is_refused_when_it_runs() -> None:
    def f(x: Any, s: Any) -> Any:
        return np.sum(s.o + x)

    with pytest.raises(UndefinedDerivativeError, match="class GivesBack, which has __add__ of its own"):
        grad(f)(X, types.SimpleNamespace(o=GivesBack(K)))
    np.testing.assert_allclose(grad(f)(X, types.SimpleNamespace(o=K)), np.ones(3))


# --- built-in classes stay what they are


def of_what_nobody_knows(x: Any, s: Any) -> Any:
    return s.w.sum() * np.sum(x * s.w) + s.names.index("b")


def test_methods_of_unknown_objects_of_built_in_classes_are_right() -> None:
    s = types.SimpleNamespace(w=K, names=["a", "b"])
    value, gradient = value_and_grad(of_what_nobody_knows)(X, s)
    assert value == of_what_nobody_knows(X, s)
    np.testing.assert_allclose(gradient, K.sum() * K)


class Gas:
    """Its attributes have the names of those of arrays."""

    def __init__(self) -> None:
        self.T, self.size, self.shape = np.array([1.0, 2.0, 3.0]), 3.0, (2,)


def with_attributes_named_as_those_of_arrays(x: Any, s: Any) -> Any:
    t = s.gas.T
    y = np.sum(x * t) * s.gas.size
    t[0] = 5.0
    return y + np.sum(x * s.gas.T) + s.w.shape[0]


def test_attributes_of_ones_own_that_are_named_as_those_of_arrays() -> None:
    def made() -> Any:
        return types.SimpleNamespace(gas=Gas(), w=K)

    s = made()
    value, gradient = value_and_grad(with_attributes_named_as_those_of_arrays)(X, s)
    assert value == with_attributes_named_as_those_of_arrays(X, made())
    np.testing.assert_allclose(gradient, [8.0, 8.0, 12.0])
    np.testing.assert_array_equal(s.gas.T, [1.0, 2.0, 3.0])


def of_a_field(x: Any, s: Any) -> Any:
    return np.sum(np.exp(s.n) * x)


def test_reading_a_field_of_an_object_is_no_call() -> None:
    np.testing.assert_allclose(grad(of_a_field)(X, types.SimpleNamespace(n=X)), np.exp(X))
    assert "copy" not in grad(of_a_field).source_for(X, types.SimpleNamespace(n=X)).replace(".copy()", "")


class Settings:
    """Its methods have built-in names and write nothing."""

    def __init__(self) -> None:
        self.values = {"rate": 3.0}

    def get(self, name: str) -> float:
        return self.values[name]

    def index(self, a: Any) -> int:
        return int(a[0] > 0.0)


def with_settings(x: Any, k: Any, settings: Any) -> Any:
    return np.sum(x * k) * settings.get("rate") + settings.index(k)


def test_methods_of_ones_own_that_write_nothing_are_accepted() -> None:
    np.testing.assert_allclose(grad(with_settings)(X, K, Settings()), 3.0 * K)


class Statics:
    @staticmethod
    def count(a: Any, v: float) -> None:
        a[0] = v


def through_another_name_of_a_class(x: Any, k: Any) -> Any:
    s = Statics
    a = k.copy()
    s.count(a, v=2.0)
    return np.sum(a * x * x)


def test_a_method_of_a_class_under_another_name() -> None:
    np.testing.assert_allclose(grad(through_another_name_of_a_class)(X, K), 2 * X * [2.0, *K[1:]])


class Items(dict[str, Any]):
    def items(self, *given: Any) -> Any:
        raise AssertionError("nobody calls this")

    values = items


def of_items(x: Any, s: Any) -> Any:
    s["a"][0] = 2.0
    return np.sum(s["a"] * x * x)


def test_methods_of_subclasses_of_dict_are_not_run_by_the_compiler() -> None:
    s = Items(a=K.copy())
    np.testing.assert_allclose(grad(of_items)(X, s), 2 * X * [2.0, *K[1:]])
    np.testing.assert_array_equal(dict.__getitem__(s, "a"), K)


def rounds(a: Any, x: Any, o: Any) -> Any:
    y = np.sum(a * x)
    o.round(a)
    w = abs(o.inner)
    return y + np.sum(a * x) + np.sum(w)


def in_a_function(x: Any, k: Any, o: Any) -> Any:
    return rounds(k, x, o) + np.sum(k * x)


class Gives:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __abs__(self) -> Any:
        self.v[1] = 7.0
        return self.v


def gives(x: Any, o: Any) -> Any:
    w = abs(o)
    w[0] = 3.0
    return np.sum(x * x)


def gives_in_a_function(x: Any, o: Any) -> Any:
    return gives(x, o) * np.sum(o.v)


class Copied:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __copy__(self) -> Any:
        self.v[0] = 0.35
        return 1.0

    def __divmod__(self, other: Any) -> Any:
        return self.v


def copies(x: Any, o: Any) -> Any:
    copy.copy(o)
    return np.sum(o.v * x * x)


def divides(x: Any, o: Any) -> Any:
    w = divmod(o, 1)
    w[1] = 2.5
    return np.sum(x * x)


def divides_in_a_function(x: Any, o: Any) -> Any:
    return divides(x, o) * np.sum(o.v)


@pytest.mark.parametrize(
    ("f", "others"),
    [
        (copies, lambda: (Copied(K.copy()),)),
        (divides_in_a_function, lambda: (Copied(K.copy()),)),
        (in_a_function, lambda: (K.copy(), types.SimpleNamespace(round=lambda a: put(None, a), inner=K))),
        (gives_in_a_function, lambda: (Gives(K.copy()),)),
    ],
)
def test_what_a_callee_runs_of_an_object_is_seen_by_the_caller(f: Any, others: Any) -> None:
    """It is right or refused, and what is given stays as it was."""
    given, same = others(), others()
    try:
        value, gradient = value_and_grad(f)(X, *given)
    except S2SADError:
        pass
    else:
        assert value == f(X, *others())
        np.testing.assert_allclose(gradient, numeric_gradient(lambda x: f(x, *others()), (X,)), rtol=1e-8)
    arrays = [vars(o).get("v", o) if hasattr(o, "__dict__") else o for o in (*given, *same)]
    half = len(arrays) // 2
    for a, b in zip(arrays[:half], arrays[half:], strict=True):
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b)


FILL = operator.methodcaller("fill", 0.25)


def filled(x: Any) -> Any:
    y = np.sin(x)
    z = np.sum(y * y)
    FILL(y)
    return z + np.sum(y * x)


def filled_constant(x: Any, k: Any) -> Any:
    a = k.copy()
    z = np.sum(a * x)
    FILL(a)
    return z + np.sum(a * x)


def test_a_method_called_by_an_object_of_operator() -> None:
    with pytest.raises(UnsupportedError, match="FILL"):
        grad(filled)(X)
    np.testing.assert_allclose(grad(filled_constant)(X, K), K + 0.25)


def test_a_parameter_called_np_is_no_module_of_numpy() -> None:
    class Other:
        def sum(self, a: Any) -> float:
            a[0] = 5.0
            return 0.0

    def f(x: Any, k: Any, np: Any) -> Any:
        y = x * k
        np.sum(k)
        return (y * k).sum()

    np.testing.assert_allclose(grad(f)(X, K, Other()), K * [5.0, *K[1:]])


# --- classes


def test_the_members_of_a_class() -> None:
    assert set(own_members(GivesBack)) == {"__add__", "__getitem__"}
    assert own_class(GivesBack(1.0)) is GivesBack
    assert not own_members(Data)
    assert all(own_class(v) is None for v in (K, [K], {"a": 1}, 1.0, "a", np.random.default_rng(0), np.float64(1.0)))


def test_plain_is_the_identity_on_built_in_classes() -> None:
    for value in (K, [K], {"a": 1}, 1.0, "a", None, np.float32(1.0), Settings.__init__, range(3)):
        assert plain(value) is value
    with pytest.raises(UndefinedDerivativeError, match="class Settings, which has get of its own"):
        plain(Settings())


MIXED = [np.array([1.0, 2.0, 3.0]), Writes(K)]


def item_with_objects_beside(x: Any) -> Any:
    return np.sum(MIXED[0] * x)


def test_an_item_of_a_list_with_objects_of_the_users_classes_is_refused_at_the_operator() -> None:
    with pytest.raises(UnsupportedError, match=r"no derivative can pass through Writes.__mul__"):
        grad(item_with_objects_beside)(X)


class Bag:
    """An object whose method has a built-in name, and writes into its array."""

    def __init__(self, a: Any) -> None:
        self.a = a

    def count(self, v: float) -> int:
        self.a[0] = v
        return 1


def counted(b: Any) -> Any:
    return b.count(3.0)


COUNTED = functools.partial(counted)


def counts(b: Any) -> Any:
    return COUNTED(b)


def counted_by_a_partial(x: Any, k: Any) -> Any:
    a = x * k
    b = Bag(a)
    y = np.sum(a * a * x)
    counts(b)
    return y + np.sum(a * x)


def test_method_that_a_partial_of_the_module_calls() -> None:
    with contextlib.suppress(UnsupportedError):
        found = grad(counted_by_a_partial)(X, K)
        np.testing.assert_allclose(found, numeric_gradient(counted_by_a_partial, (X, K)), atol=1e-6)
