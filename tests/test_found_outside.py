"""Defects found by users: layouts of memory, classes of arguments, and the tools around gradients."""

from __future__ import annotations

import collections
import copy
import operator
import pathlib
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, check_grads, grad, value_and_grad, vjp
from s2sad.errors import ArgumentError, UnsupportedError
from tests.oracle import numeric_gradient

V = np.array([0.7, 1.3, 0.4, 0.9])
M = np.arange(6.0).reshape(2, 3) * 0.3 + 0.1


# --- the order of memory ---


def laplacian(u: Any) -> Any:
    p = np.pad(u, 1, mode="edge")
    return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u


def of_the_transpose(im: Any) -> Any:
    return np.sum(laplacian(im.T) ** 2)


def padded(x: Any) -> Any:
    return np.sum(np.pad(x, 1, "reflect") ** 2)


def taken(x: Any) -> Any:
    return np.sum(np.take(x, np.array([[0, 3], [3, 5]])).T * np.arange(4.0).reshape(2, 2))


def taken_flat(x: Any) -> Any:
    return np.sum(np.take_along_axis(x, np.array([0, 3, 3]), None) * np.arange(3.0))


def raveled_by_columns(x: Any) -> Any:
    a = x * 1.0
    b = a.ravel("F")
    b[0] = 0.0
    return np.sum(b * np.arange(6.0)) + np.sum(a)


def raveled_by_columns_of_a_function(x: Any) -> Any:
    a = x * 1.0
    b = np.ravel(a, "F")
    a[0, 1] = 5.0
    return np.sum(b * np.arange(6.0)) + np.sum(a * a)


@pytest.mark.parametrize(
    "f",
    [of_the_transpose, padded, taken, taken_flat, raveled_by_columns, raveled_by_columns_of_a_function],
    ids=lambda f: f.__name__,
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_order_of_memory(f: Callable[[Any], Any], order: Any) -> None:
    x = np.array(M, order=order)
    value, gradient = value_and_grad(f)(x)
    assert value == f(x.copy(order="K"))
    np.testing.assert_allclose(gradient, numeric_gradient(f, (x,), 0), rtol=1e-8, atol=1e-10)


# --- what is no copy ---


def conjugate_written(x: Any) -> Any:
    y = x * 1.0
    c = y.conj()
    c[0] = 0.0
    return np.sum(y * y)


def own_conjugate_written(x: Any) -> Any:
    x = x.conjugate()
    x[0] = 2.0
    return np.sum(x * x)


def conjugate_of_what_is_written(x: Any) -> Any:
    n = x.conj()
    x[0] = 2.0
    return np.sum(n * x)


def array_if_needed(x: Any) -> Any:
    y = x * 1.0
    c = np.array(y, copy=None)
    c[0] = 0.0
    return np.sum(y * y)


def test_an_array_that_is_copied_only_if_needed() -> None:
    np.testing.assert_allclose(
        value_and_grad(array_if_needed)(V)[1], numeric_gradient(array_if_needed, (V,)), atol=1e-9
    )


@pytest.mark.parametrize("f", [conjugate_written, own_conjugate_written, conjugate_of_what_is_written])
def test_a_real_array_is_its_own_conjugate(f: Callable[[Any], Any]) -> None:
    before = V.copy()
    with pytest.raises(UnsupportedError, match="Take a copy"):
        value_and_grad(f)(before)
    np.testing.assert_array_equal(before, V)


def test_the_function_conj_makes_a_copy() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        c = np.conj(y)
        c[0] = 0.0
        return np.sum(y * y)

    np.testing.assert_allclose(grad(f)(V), 2.0 * V)


# --- classes of arguments ---


@dataclass
class Fit:
    scale: Any
    shift: Any

    def __post_init__(self) -> None:
        self.scale = np.abs(self.scale)


@dataclass
class Area:
    width: float
    area: float = field(init=False)

    def __post_init__(self) -> None:
        self.area = self.width * 2.0


class Point(collections.namedtuple("Point", "x y")):
    def __new__(cls, x: float, y: float) -> Point:
        return super().__new__(cls, abs(x), abs(y))


def test_what_a_class_does_when_made_is_not_done_to_gradients() -> None:
    def loss(p: Any, x: Any) -> Any:
        return np.sum((p.scale * x + p.shift) ** 2)

    p, x = Fit(np.array([1.0, 2.0]), np.array([-1.0, -5.0])), np.array([1.0, 2.0])
    np.testing.assert_allclose(grad(loss)(p, x).scale, 2.0 * (p.scale * x + p.shift) * x)
    assert check_grads(loss, (p, x)).ok
    assert grad(lambda p: p.width * p.area)(Area(3.0)).area == pytest.approx(3.0)
    assert grad(lambda p: -2.0 * p.x + p.y)(Point(1.0, 2.0))[0] == pytest.approx(-2.0)


class Unit(np.ndarray):
    def __mul__(self, other: Any) -> Any:
        return np.asarray(self) * 2.0 * np.asarray(other)


class Odd:
    def __mul__(self, other: Any) -> Any:
        return 3.0 + other * other


@dataclass
class Indexed:
    x: float

    def __getitem__(self, i: int) -> float:
        return self.x


def product(x: Any, y: Any) -> Any:
    return np.sum(x * y)


MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]]).view(np.matrix)
MASKED = np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0])


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((MATRIX, np.ones((2, 2))), "x is of class matrix.*\nPass an array: np.asarray"),
        ((np.ones((2, 2)), MATRIX), "y is of class matrix"),
        ((MASKED, 1.0), r"x is of class MaskedArray.*\nPass an array: x.filled"),
        ((np.ones(3), MASKED), "y is of class MaskedArray"),
        ((V.view(Unit), 2.0), "x is of class Unit"),
        ((Indexed(1.0), 2.0), "has __getitem__ of its own"),
        (({"a": MASKED}, 2.0), r"x\['a'\] is of class MaskedArray"),
    ],
    ids=lambda v: "",
)
def test_operators_of_their_own(args: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        grad(product)(*args)


def test_an_object_with_operators_of_its_own_beside_a_variable() -> None:
    def f(x: Any, a: Any) -> Any:
        return np.sum(a * x)

    with pytest.raises(UnsupportedError, match=r":\d+:\d+: error: no derivative can pass through Odd\.__r?mul__"):
        grad(f)(V, Odd())
    assert grad(f)(2.0, Fraction(1, 4)) == pytest.approx(0.25)


def test_a_float_beside_an_array_without_axes() -> None:
    def f(x: Any, y: Any) -> Any:
        x = x * 1.1
        return x * y

    first, second = grad(f, (0, 1))(0.5, np.array(0.6))
    assert (first, second) == (pytest.approx(0.66), pytest.approx(0.55))
    assert isinstance(second, np.ndarray)


# --- tools around gradients ---


def relax(u: Any, steps: int) -> Any:
    for _ in range(steps):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
    return u


def chosen(x: Any, how: str) -> Any:
    return x**2 if how == "square" else x**3


def test_arguments_that_are_not_compared_stay_as_they_are() -> None:
    assert check_grads(relax, (V.copy(), 2)).ok
    assert check_grads(chosen, (V.copy(), "square")).ok
    assert check_grads(lambda n: n * n, (3,)).ok


def test_pullback_of_some_arguments() -> None:
    value, pullback = vjp(relax, V.copy(), 2, argnums=0)
    np.testing.assert_array_equal(value, relax(V.copy(), 2))
    (u_bar,) = pullback(np.ones(4))
    np.testing.assert_allclose(u_bar, numeric_gradient(lambda u: np.sum(relax(u.copy(), 2)), (V,), 0), rtol=1e-8)
    with pytest.raises(ArgumentError, match="argnums=3 does not fit 2 arguments"):
        vjp(relax, V.copy(), 2, argnums=3)


def optional(x: Any, n: int = 3, w: Any = None, parts: Any = (1, 2)) -> Any:
    if w is None:
        w = np.ones_like(x)
    return np.sum(w * x**n) * parts[0]


def network(params: Any, x: Any) -> Any:
    for p in params[:-1]:
        x = np.tanh(x @ p["W"] + p["b"])
    last = params[-1]
    return np.sum(x @ last["W"] + last["b"])


def logarithm(L: Any) -> Any:
    return np.linalg.slogdet(L)[1]


def _run(text: str, name: str) -> Callable[..., Any]:
    space: dict[str, Any] = {}
    exec(text, space)
    found: Callable[..., Any] = space[name]
    return found


def test_saved_text_is_of_all_calls() -> None:
    f = _run(grad(optional).source, "optional_grad_x")
    np.testing.assert_allclose(f(V), 3.0 * V**2)
    np.testing.assert_allclose(f(V, 2, 2.0 * V), 4.0 * V * V)

    layers = [{"W": np.ones((2, 2)) * 0.3, "b": np.zeros(2)}, {"W": np.ones((2, 1)), "b": np.ones(1)}]
    x = np.array([[0.2, -0.4]])
    got, expected = _run(grad(network).source, "network_grad_params")(layers, x), grad(network)(layers, x)
    np.testing.assert_allclose(got[0]["W"], expected[0]["W"])
    assert _run(grad(logarithm).source, "logarithm_grad_L")(np.eye(2) * 2.0).dtype == float


def test_no_module_that_is_loaded_is_overwritten(tmp_path: pathlib.Path) -> None:
    before = pathlib.Path(__file__).read_text(encoding="utf-8")
    with pytest.raises(ArgumentError, match=r"is the file of the module .*, which is loaded"):
        grad(product).save(__file__)
    assert pathlib.Path(__file__).read_text(encoding="utf-8") == before
    grad(product).save(tmp_path / "product.py")
    assert "def product_grad_x" in (tmp_path / "product.py").read_text(encoding="utf-8")


TABLE = np.array([0.2, 0.5, 0.8])
NUMBERS = (0.2, 0.5)
NUMBERS_AND_ARRAYS = [0.2, np.array([0.5, 0.1]), 0.3]


def counted_over_a_table(x: Any) -> Any:
    s = 0.0
    for k, w in enumerate(TABLE):
        s += w * np.sin(k * x)
    for w, v in zip(TABLE, range(3), strict=True):
        s += w * x * v
    for w in reversed(TABLE):
        s *= w
    return s


def summed_over_numbers(x: Any) -> Any:
    s = 0.0
    for w in NUMBERS:
        s += w * x
    return s


def summed_over_what_may_be_arrays(x: Any) -> Any:
    s = 0.0
    for w in NUMBERS_AND_ARRAYS:
        before = s
        s += w * x
    return np.sum(s + before)


@pytest.mark.parametrize("f", [counted_over_a_table, summed_over_numbers])
def test_items_of_tables_of_the_module_are_numbers(f: Any) -> None:
    assert grad(f)(0.7) == pytest.approx(numeric_gradient(f, (0.7,), 0), rel=1e-8)


def test_one_error_where_it_is_written() -> None:
    with pytest.raises(UnsupportedError, match="s may be written in place") as refusal:
        grad(summed_over_what_may_be_arrays)(0.7)
    assert str(refusal.value).count("error:") == 1
    assert "s += w * x" in str(refusal.value)
    assert "write x = x + y" in str(refusal.value)


# --- what is known of calls ---


class Changing:
    """An object that a deep copy changes."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def __deepcopy__(self, memo: Any) -> Any:
        self.v[0] = 7.0
        return Changing(self.v.copy())


class Around:
    def __init__(self) -> None:
        self.inner = [Changing(np.ones(3))]


def copied(x: Any, s: Any) -> Any:
    t = copy.deepcopy(s)
    return np.sum(x * s.inner[0].v) + 0.0 * len(t.inner)


def test_a_deep_copy_does_what_classes_say() -> None:
    np.testing.assert_array_equal(grad(copied)(np.ones(3), Around()), [7.0, 1.0, 1.0])


def summed_into(x: Any, k: Any, out: Any) -> Any:
    np.ndarray.sum(k, 0, None, out)
    return np.sum(x * out)


def test_the_place_of_out_in_a_method_that_is_taken_from_its_class() -> None:
    out = np.zeros(3)
    np.testing.assert_array_equal(grad(summed_into)(np.ones(3), np.ones((2, 3)), out), [2.0, 2.0, 2.0])
    assert not out.any()


def with_state(x: Any) -> Any:
    before = np.seterr(over="raise")  # noqa: F841
    return np.sum(x * x)


def test_what_sets_a_state_happens_whether_its_result_is_used_or_not() -> None:
    with np.errstate():
        np.seterr(over="warn")
        grad(with_state)(np.ones(3))
        assert np.geterr()["over"] == "raise"


SHARED = np.ones(3)


def in_a_deque(x: Any) -> Any:
    d = collections.deque()
    d.appendleft(SHARED)
    d[0][:] = 0.35
    return np.sum(x * SHARED)


def test_an_array_of_the_module_that_is_put_where_nobody_knows() -> None:
    with pytest.raises(UnsupportedError, match="SHARED is the module's"):
        grad(in_a_deque)(np.ones(3))


def test_what_has_no_source_and_writes_leaves_no_trace() -> None:
    """It is refused once it has written, and what it has written is undone; so it is if it raises."""

    def filled(x: Any) -> Any:
        a = np.split(x[...], 1)[0]
        operator.methodcaller("fill", 0.5)(a)
        return np.sum(x * x)

    def put_and_raised(x: Any) -> Any:
        a = np.split(x[...], 1)[0]
        operator.methodcaller("put", [0, 9], 0.5)(a)
        return np.sum(x * x)

    for f, error in ((filled, S2SADError), (put_and_raised, IndexError)):
        x = V.copy()
        with pytest.raises(error):
            grad(f)(x)
        np.testing.assert_array_equal(x, V)
