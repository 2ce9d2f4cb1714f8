"""Adjoints that are zero by selection: what has no finite derivative where an element was not taken gives no NaN.

Every function is smooth at its arguments: which elements are taken is a constant, or decided far from the edge.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, hvp, jvp
from tests.oracle import numeric_gradient, richardson_jvp

TAKEN = np.array([0, 1, 2, 0])
X = np.array([0.0, 0.7, 1.9, -1.3])
W = np.array([0.0, 0.4, -1.1, 0.0])
#: What overflows, has a pole or is not defined at an element of X that is not taken.
INNER = {
    "log": "np.log(x)",
    "root": "np.sqrt(x) * w",
    "power": "x ** -1.5",
    "reciprocal": "1 / x",
    "quotient": "w / x",
    "entropy": "x * np.log(x)",
    "sinc": "np.sin(x) / x",
    "overflow": "np.exp(800 * (0.5 - x)) + x",
    "undefined": "np.arcsin(x / 2 + 3 * (x < 0)) + w",
    "chain": "-np.log(x) / (x - np.tanh(w / x)) + x",
    "shared": "(1 / x - w) * (1 / x + x)",
    "multiples": "x - 2 * x + w - 3 * w + x / x",
    "itself": "(w - w) / x + x - x",
    "of_a_sum": "np.log(x) * np.sum(w)",
}
#: What selects, of ``y`` and where it is ``taken``.
SELECTED = {
    "where": "    z = np.where(taken, y, 0.5)\n",
    "where_not": "    z = np.where(~taken, x, y)\n",
    "select": "    z = np.select([taken, w > 0.3, x > 5], [y, w, x], 0.5)\n",
    "select_by_default": "    chosen = [~taken, x > 1.0]\n    z = np.select(chosen, [x * w, 2 * y], default=y)\n",
    "both": "    z = np.where(taken, y * x, x * w)\n",
    "twice": "    z = np.where(taken, np.where(x > 1, y, 2 * y), w)\n",
    "mask": "    y[~taken] = 0.5\n    z = y\n",
    "masks": "    y[~taken & (x > -1)] = w[0]\n    y[~taken & (x < -1)] = 2.0\n    z = y * 2\n",
    "copied": "    y = y.copy()\n    y[~taken] = x[~taken]\n    z = y - 1.0\n",
    "absolute": "    z = np.where(taken, np.abs(-y), w)\n",
    "gathered": "    z = y[taken]\n",
    "gathered_twice": "    z = y[taken] * x[taken] / (2 + y[taken] ** 2)\n",
    "gathered_negative": "    y = -2 * (y - x)\n    z = y[taken]\n",
    "finite": "    y = np.where(taken, y, np.nan)\n    z = np.nan_to_num(y)\n",
    "nan_sum": "    y = np.where(taken, y, np.nan)\n    z = np.nansum(y) * np.nanmean(y * 2) + np.nanvar(y)\n",
    "where_sum": "    z = np.sum(y, where=taken) * np.mean(y, where=taken)\n",
    "where_stored_into": "    z = np.where(taken, y, w)\n    z[1] = z[2] * x[1]\n",
    "mask_found": "    y[np.isnan(y)] = 0.0\n    y[~taken] = x[~taken]\n    z = y\n",
}
HEAD = "def f(x, w, number):\n    taken = number > 0\n"


def made(body: str) -> Callable[..., Any]:
    """The function of a text, which `inspect` finds."""
    name = f"<selection {abs(hash(body))}>"
    linecache.cache[name] = (len(body), None, body.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"np": np, "__name__": __name__}
    exec(compile(body, name, "exec"), namespace)
    function: Callable[..., Any] = namespace["f"]
    return function


def beside_differences(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Compare the gradients by the first two arguments with differences."""
    for argnum, gradient in enumerate(grad(f, argnums=(0, 1))(*args)):
        np.testing.assert_allclose(gradient, numeric_gradient(f, args, argnum), rtol=1e-6, atol=1e-7)


def program(inner: str, selected: str) -> Callable[..., Any]:
    return made(f"{HEAD}    y = {INNER[inner]}\n{SELECTED[selected]}    return np.sum(z * np.cos(z))\n")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("inner", "selected"), list(itertools.product(INNER, SELECTED))[::5])
def test_elements_not_taken_give_no_nan(inner: str, selected: str) -> None:
    f = program(inner, selected)
    args = (X, W, TAKEN)
    beside_differences(f, args)
    if selected not in ("where", "mask", "gathered", "nan_sum"):
        return
    dots = (np.array([0.3, -0.5, 0.8, 0.2]), np.array([0.1, 0.9, -0.4, 0.6]), None)
    _, along = jvp(f, args, dots)
    known = sum(np.sum(grad(f, argnums=i)(*args) * dots[i]) for i in (0, 1))
    np.testing.assert_allclose(along, known, rtol=1e-9, atol=1e-12)
    ways = (dots[0], None, None)
    slopes = richardson_jvp(lambda x: grad(f)(x, W, TAKEN), (X,), (dots[0],))
    np.testing.assert_allclose(hvp(f, args, ways), slopes, rtol=1e-5, atol=1e-5)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("inner", [name for name in INNER if name != "of_a_sum"])
@pytest.mark.parametrize("selected", ["where", "where_not", "both"])
def test_elements_of_a_callee_not_taken_give_no_nan(inner: str, selected: str) -> None:
    body = f"def inner(x, w):\n    return {INNER[inner]}\n\n\n"
    f = made(f"{body}{HEAD}    y = inner(x, w)\n{SELECTED[selected]}    return np.sum(z * np.cos(z))\n")
    beside_differences(f, (X, W, TAKEN))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "inner", ["log", "power", "reciprocal", "quotient", "entropy", "sinc", "shared", "chain", "of_a_sum"]
)
@pytest.mark.parametrize(
    "stores",
    [
        "    y[0] = w[1]\n    y[-1] = 0.5\n    z = y\n",
        "    y[:1] = 0.0\n    y[3:] = x[1:2]\n    z = 2 * y - w\n",
        "    y = (y * w - x).copy()\n    y[0] = 0.0\n    taken[3] = True\n    y[3] = 1.0\n    z = y\n",
        "    y[0] = 0.5\n    y[number < 1] = 0.0\n    y[3] = x[1]\n    z = y\n",
    ],
    ids=["items", "slices", "copied", "with_a_mask"],
)
def test_elements_replaced_at_places_give_no_nan(inner: str, stores: str) -> None:
    f = made(f"{HEAD}    y = {INNER[inner]}\n{stores}    return np.sum(z * np.cos(z))\n")
    beside_differences(f, (X, W, TAKEN))


def share(x: Any) -> Any:
    return x / np.sum(x)


def mixed(x: Any, w: Any, number: Any) -> Any:
    taken = number > 0
    return np.sum(np.where(taken, share(x), w) ** 2)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "value",
    [
        "np.minimum(1 / x**2, 100.0)",
        "np.maximum(w, 1 / (-(x**2)))",
        "np.maximum(-10.0, 3 * np.log(x**2))",
        "np.minimum(np.exp(800 * (0.5 - x)), w + 50.0)",
        "np.clip(1 / x**2, 0.1, 30.0)",
        "np.fmin(np.exp(800 * (0.5 - x)) / x**2, 40.0)",
        "np.maximum(np.minimum(1 / x**2, 100.0) * x, -50.0)",
        "np.where(x > 0.5, np.maximum(np.log(x), x), w)",
    ],
)
def test_the_larger_of_two_gives_no_nan(value: str) -> None:
    f = made(f"def f(x, w):\n    z = {value}\n    return np.sum(z * z)\n")
    beside_differences(f, (X, W + 0.3))


def written_twice(x: Any, w: Any, number: Any) -> Any:
    taken = number > 0
    y = 1 / x
    total = np.sum(y[:2] * w[1:3])
    y[~taken] = w[~taken]
    return np.sum(y * y) + total


def gathered_and_read(x: Any, w: Any, number: Any) -> Any:
    taken = number > 0
    y = x * np.exp(w)
    return np.sum(y[taken] ** 2) + np.sum(y * x)


def gathered_in_turns(x: Any, w: Any, number: Any) -> Any:
    taken = number > 0
    y = x * np.exp(w)
    total = 0.0
    for k in range(3):
        total = total + np.sum(y[taken] ** 2)
        if k == 1:
            total = total + np.sum(y[~taken])
    return total


def gathered_in_place(x: Any, w: Any, number: Any) -> Any:
    taken = number > 0
    y = x * np.exp(w)
    y[0] = w[1] * y[2]
    z = y[taken]
    y[1:] *= 2.0
    return np.sum(z**2) + np.sum(y * x)


def read_before_the_edge(x: Any, w: Any, number: Any) -> Any:
    y = np.exp(w) / (x + 0.1)
    total = y[0] * y[3]
    y[0] = 0.0
    y[3] = w[2]
    return np.sum(y * y) + total


def replaced_in_a_try(x: Any, w: Any, number: Any) -> Any:
    y = w * 1.0
    try:
        y = np.exp(w) / (x + 0.1)
        z = [0.5, 0.6][number[2]]
        y[0] = z
    except IndexError:
        y = y * x
    return np.sum(y * y)


def read_then_chosen(x: Any, w: Any, number: Any) -> Any:
    taken = number > 0
    y = x * np.exp(w)
    first = y[0] * 3.0
    z = np.where(taken, y, w)
    return np.sum(z * z) + first


def replaced_by_others(x: Any, w: Any, number: Any) -> Any:
    taken = number > 0
    y = x * np.exp(w)
    y[~taken] = y[::3]
    return np.sum(y * y)


def at_places(x: Any, w: Any, number: Any) -> Any:
    places = number + 1
    y = x * np.exp(w)
    z = y[places]
    y = y * w
    y[places] = 0.3 * x[places]
    return np.sum(z * x) + np.sum(y * y)


def written_in_place(x: Any, w: Any, number: Any) -> Any:
    taken = number > 0
    x = x * np.cos(w)
    y = x * w
    z = np.where(taken, y, 0.0)
    x[1] = z[2] * w[0]
    return np.sum(z * x) + np.sum(x * w)


def left_before(x: Any, w: Any, number: Any) -> Any:
    taken = number > 0
    y = w * np.sin(x)
    for k in range(2):
        if w[k] > 0.1:
            break
        y = x * np.exp(w)
        if x[k] > 1.0:
            break
        y[~taken] = 0.3
    return np.sum(y * y)


def shared(x: Any, w: Any, number: Any) -> Any:
    taken = number > 0
    y = x * np.exp(w)
    kept = [y[::2]]
    y[~taken] = 0.4
    return np.sum(y * y) + np.sum(kept[0])


def of_rows(x: Any, w: Any, number: Any) -> Any:
    taken = number > 0
    y = np.outer(x, np.exp(w))
    y[~taken] = w
    return np.sum(y * y)


def broadcast(x: Any, w: Any, number: Any) -> Any:
    taken = number > 0
    y = x[:, None] * np.exp(w)
    return np.sum(np.where(taken, y, x) ** 2) + np.sum(np.where(taken[:, None], np.exp(w), y))


def added_in_place(x: Any, w: Any, number: Any) -> Any:
    taken = number > 0
    y = x * w
    z = np.where(taken, np.sin(y), y)
    z[1:3] += y[1:3] * y[:2]
    return np.sum(z * z) + y[2]


@pytest.mark.parametrize(
    "f",
    [
        mixed,
        gathered_and_read,
        gathered_in_turns,
        gathered_in_place,
        written_twice,
        written_in_place,
        left_before,
        shared,
        of_rows,
        broadcast,
        added_in_place,
        at_places,
        read_before_the_edge,
        replaced_in_a_try,
        read_then_chosen,
        replaced_by_others,
    ],
    ids=lambda f: f.__name__,
)
def test_elements_that_were_read_keep_their_adjoints(f: Callable[..., Any]) -> None:
    args = (X + 0.2, W, TAKEN)
    beside_differences(f, args)


SHAPES: list[tuple[int, ...]] = [(), (3,), (2, 1), (2, 3), (1, 1, 3)]
CHOICES = ["np.where(c > 0, y, w)", "np.where(c > 0, 0.5, y)", "np.maximum(y, w)", "np.select([c > 0], [y], w)"]


@pytest.mark.parametrize("chosen", SHAPES)
@pytest.mark.parametrize("other", SHAPES)
@pytest.mark.parametrize("value", ["x * w", "w - 1 / x"])
def test_what_is_selected_from_is_broadcast(chosen: tuple[int, ...], other: tuple[int, ...], value: str) -> None:
    rng = np.random.default_rng(0)
    for shape, choice in list(itertools.product([(3,), (2, 1), (2, 3)], CHOICES))[len(chosen + other) % 2 :: 2]:
        # No two values are closer to each other than the steps of the differences.
        x, w = rng.choice([0.6, 0.9, 1.3, 1.7], chosen), rng.choice([0.7, 1.0, 1.5, 1.9], other)
        args = np.array(x), np.array(w), rng.normal(size=shape)
        f = made(f"def f(x, w, c):\n    y = {value}\n    z = {choice}\n    return np.sum(z) + np.sum(z * z)\n")
        for argnum, gradient in enumerate(grad(f, argnums=(0, 1))(*args)):
            np.testing.assert_allclose(gradient, numeric_gradient(f, args, argnum), rtol=1e-6, atol=1e-8)


def inverse_in_one_arm(x: Any) -> Any:
    total = 0.0
    for i in range(3):
        r = x[i] * 2
        inv = 1 / r
        total = total + inv**3 + r if r > 0.1 else total + r
    return total


def returned_in_one_arm(x: Any) -> Any:
    r = x[0] * 2
    part = np.log(r) * x[1]
    if r > 0.1:
        return part + r
    return r * r


def direction(x: Any) -> Any:
    r = np.sqrt(x[0] ** 2 + x[3] ** 2)
    c, s = x[0] / r, x[3] / r
    if r < 1e-8:
        return x[2] ** 2
    return c * x[2] - s


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", [inverse_in_one_arm, returned_in_one_arm, direction], ids=lambda f: f.__name__)
def test_numbers_that_one_arm_uses_give_no_nan(f: Callable[..., Any]) -> None:
    for x in (np.array([0.0, 0.7, 1.9, 0.0]), np.array([0.4, 0.7, 1.9, -1.2])):
        expected = numeric_gradient(f, (x,), 0, 1e-9 if f is direction and x[0] == 0 else 2e-3)
        np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6, atol=1e-6)


def squares_of(x: Any, index: Any) -> Any:
    y = x * np.exp(x)
    return np.sum(y[index] ** 2) * x[0]


def of_one_of_two(x: Any, n: Any) -> Any:
    index = [np.array([0, 2, 2, 1]), np.array([True, False, True, False])][n]
    return np.sum(grad(squares_of)(x, index) ** 2)


def of_an_argument(x: Any, index: Any) -> Any:
    return np.sum(grad(squares_of)(x, np.minimum(index, 3)) ** 2)


@pytest.mark.parametrize(
    ("f", "argument"),
    [
        (of_one_of_two, 0),
        (of_one_of_two, 1),
        (of_an_argument, np.array([1, 1, 3, 0])),
        (of_an_argument, np.arange(4) % 3 == 0),
    ],
)
def test_places_that_may_be_a_mask_are_none(f: Callable[..., Any], argument: Any) -> None:
    """An argument of a derivative within a function has the type that its caller knows: it may be of truth values."""
    x = np.array([-0.4, 0.5, 0.7, 1.3])
    np.testing.assert_allclose(grad(f)(x, argument), numeric_gradient(f, (x, argument), 0), rtol=1e-6)


def misfit(p: Any, data: Any, sigma: Any, numbers: Any) -> Any:
    r = (data - p[0] * np.exp(-p[1] * np.arange(4.0))) / sigma
    return np.sum(r[numbers > 0] ** 2)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_missing_data_are_left_out() -> None:
    p, data, sigma = np.array([1.0, 0.5]), np.array([1.0, 0.3, 0.4, 0.2]), np.array([0.1, 0.2, 0.3, 0.2])
    numbers = np.array([1, 0, 0, 1])
    expected = numeric_gradient(misfit, (p, data, sigma, numbers), 0)
    data[1], sigma[2] = np.nan, 0.0
    np.testing.assert_allclose(grad(misfit)(p, data, sigma, numbers), expected, rtol=1e-6)


def quiet(x: Any, k: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.where(x != 0, np.sin(x) / x, 1.0)
        z = np.log(x)
        z[x == 0] = 0.0
    return np.sum(y * z) * k


def quiet_in_loops(x: Any, k: Any) -> Any:
    total = 0.0
    for i in range(1, 4):
        with np.errstate(all="ignore"):
            if i > k:
                with np.errstate(divide="ignore"):
                    y = 1 / x**i
                    y[x == 0] = 2.0
                total = total + np.sum(y)
            else:
                total = total + np.nansum(x * np.log(x))
    return total


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("f", [quiet, quiet_in_loops], ids=lambda f: f.__name__)
def test_errors_are_treated_as_in_the_function(f: Callable[..., Any]) -> None:
    x = np.array([0.0, 0.7, 1.9])
    # At 0 it is not smooth, so that the elements beside are what is compared.
    expected = numeric_gradient(lambda u: f(np.concatenate(([0.0], u)), 1), (x[1:],), 0)
    np.testing.assert_allclose(grad(f)(x, 1)[1:], expected, rtol=1e-6)
    assert np.all(np.isfinite(grad(f)(x, 1)))
    assert np.all(np.isfinite(hvp(f, (x, 1), (np.ones(3), None))))


def raising(x: Any) -> Any:
    with np.errstate(all="raise"):
        y = np.exp(x) * 1e-200
    return np.sum(y * 1e-200)


def test_errors_that_raise_are_those_of_the_function() -> None:
    derivative = grad(raising)
    np.testing.assert_allclose(derivative(np.array([0.5, 1.0])), 0.0, atol=1e-300)
    assert derivative.source.count("errstate") == 1


def leaky(x: Any) -> Any:
    y = np.where(x > 0, x, 0.1 * x)
    return np.sum(y**2)


def softplus(x: Any) -> Any:
    return np.sum(np.where(x > 30, x, np.log1p(np.exp(x))))


def entropy(p: Any) -> Any:
    return -np.sum(np.where(p > 0, p * np.log(p), 0.0))


@pytest.mark.parametrize(
    ("f", "lines"),
    [
        (leaky, ["y_bar = 2 * y", "x_bar = np.where(t, y_bar, 0.1 * y_bar)"]),
        (softplus, ["x_bar = np.where(t_2, 1.0, t / (1 + t))"]),
        (entropy, ["p_bar = np.where(t, -t_2 - p / p, 0)"]),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_a_selection_is_written_once(f: Callable[..., Any], lines: list[str]) -> None:
    text = grad(f).source
    assert [line for line in lines if line not in text] == []


#: What a maximum is taken of, at points where the other operand is the same number.
TIED = [
    "k * x - m * x",
    "-0.4 + (k * x - m * x)",
    "-(k * x)",
    "-(-(k * x) / m)",
    "(m - x) * (x - k)",
    "np.sin(k - x) - x",
    "(x - np.exp(-x)) / (k - x * m)",
    "np.where(k > 2, x - m * x, -x)",
    "np.maximum(k, x) - m * x",
]


@pytest.mark.parametrize("outer", ["np.maximum({0}, t)", "np.clip({0}, t, 9)", "-np.minimum(-({0}), -t)"])
@pytest.mark.parametrize("inner", TIED)
def test_a_tie_is_halved_once(inner: str, outer: str) -> None:
    """Where both operands of a maximum are equal, each has half of the adjoint, whatever is done with it then."""
    begin = "    k, m = np.full((1, 4), 3.0), np.full((1, 4), 0.5)\n"
    whole = made(f"def f(x, t):\n{begin}    return np.sum(np.sin({outer.format(inner)}))\n")
    value = made(f"def f(x):\n{begin}    return {inner}\n")
    x = np.array([0.7, 1.1, -0.3, 0.2])
    weights = np.cos(value(x))
    half = numeric_gradient(lambda z: np.sum(weights * value(z)), (x,)) / 2
    np.testing.assert_allclose(grad(whole)(x, value(x)), half, rtol=1e-7)
