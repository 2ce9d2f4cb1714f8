"""Arrays that are written and come from calls without a derivative: made there, or the module's."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.language.support import Case, case, check_gradient, check_primal, check_with_state

X = np.array([0.71, 1.32, 0.57, 1.81, 1.13])
G = np.arange(1.0, 6.0)
SAME = G
ARRAYS = [G, np.ones(5)]
BY_NAME = {"g": G}
COUNTS = [0]
STATE = {"n": 0}


def made(n: Any) -> Any:
    return np.zeros(n)


def profile(n: Any) -> Any:
    t = np.arange(n) / n
    t[0] = 0.5
    return t.reshape(-1)


def two(n: Any) -> Any:
    return np.zeros(n), np.ones(n)


def one_twice(n: Any) -> Any:
    z = np.zeros(n)
    return z, z


def one_twice_like(x: Any) -> Any:
    z = np.zeros(x.shape)
    return z.reshape(-1), z.reshape(-1)


def a_view(n: Any) -> Any:
    z = np.zeros(n)
    return z, z[1:]


def of_the_module() -> Any:
    return G


def item_of_the_module(k: Any) -> Any:
    return ARRAYS[k]


def view_of_the_module(k: Any) -> Any:
    return G[k:]


def by_name(k: Any) -> Any:
    return BY_NAME[k]


def pair_of_the_module() -> Any:
    return np.ones(5), G


def itself(a: Any) -> Any:
    return a


def first_set(v: Any) -> Any:
    w = of_the_module()
    w[0] = v


def with_default(v: Any, out: Any = G) -> Any:
    return out


def default_set(v: Any, out: Any = G) -> Any:
    out[0] = v


def scaled_item() -> None:
    BY_NAME["g"] *= 2.0


def counting(x: Any) -> Any:
    COUNTS[0] += 1
    return x * x


class Owner:
    w = G

    def __init__(self) -> None:
        self.own = G

    def buffer(self) -> Any:
        return self.own


OWNER = Owner()


def array_of_a_function(x: Any) -> Any:
    w = made(5)
    w[1:] = x[1:] * 2
    w[0] += x[0]
    return np.sum(w * x)


def array_of_a_function_by_length(x: Any) -> Any:
    w = made(len(x))
    w[1:] = x[1:] * 2
    w[0] += x[0]
    return np.sum(w * x)


def array_of_a_function_with_values(x: Any) -> Any:
    w = profile(x.shape[0])
    w[1:] *= x[1:]
    w[2] = x[0]
    return np.sum(w * w * x)


def array_of_a_function_in_a_loop(x: Any) -> Any:
    s = 0.0
    w = profile(5)
    for k in range(3):
        w[k] *= x[k]
        if k == 1:
            w = profile(5)
        s = s + np.sum(w * w * x)
    return s


def arrays_of_a_function(x: Any) -> Any:
    w, v = two(5)
    w[1:] = x[1:]
    v *= x
    v[0] = x[0] * w[1]
    return np.sum(w * v * x)


def arrays_of_a_function_in_a_loop(x: Any) -> Any:
    w, v = two(5)
    for _ in range(2):
        w[1:] += x[1:]
        v[0] = x[0] * w[1]
        u, v = two(5)
        u[:] = x
        w = u * w + v
    return np.sum(w * v * x)


def views_of_what_a_function_makes(x: Any) -> Any:
    w = profile(5)
    u = w[1:]
    u *= x[1:]
    v = w
    v[0] = x[0]
    return np.sum(w * x)


def counted(x: Any) -> Any:
    STATE["n"] += 1
    COUNTS.append(0)
    COUNTS.pop()
    return np.sum(counting(x) * G)


def arrays_of_a_function_in_turns(x: Any) -> Any:
    a, b = two(5)
    for i in range(4):
        a[i] = x[i] + b[i - 1] * x[0]
        a, b = b, a
    return np.sum(a * x + b * b)


def one_of_two_arrays_of_a_function(x: Any) -> Any:
    a, b = two(5)
    c = a if x[0] > 0 else b
    c[0] = x[0] * x[1]
    return np.sum(a * x + b)


def grid_of_numpy(x: Any) -> Any:
    g = np.mgrid[0.0:2, 0:5]
    g[0] *= 0.5
    g[1, 1] = x
    return np.sum(g * g * x)


def row_of_numpy(x: Any) -> Any:
    r = np.r_[0.5, 1.0:5.0]
    y = x * r
    r *= 2.0
    return np.sum(y * y * r)


def deep_copy_of_arrays(x: Any) -> Any:
    w = copy.deepcopy(BY_NAME)
    y = x * w["g"]
    w["g"][:] = 0.5
    return np.sum(y * y * BY_NAME["g"])


def copy_of_an_array(x: Any) -> Any:
    a = np.arange(5.0)
    b = copy.copy(a)
    y = x * b
    a *= 2.0
    return np.sum(y * y * a)


CASES = [
    case(f, X)
    for f in (
        array_of_a_function,
        array_of_a_function_by_length,
        array_of_a_function_with_values,
        array_of_a_function_in_a_loop,
        arrays_of_a_function,
        arrays_of_a_function_in_a_loop,
        views_of_what_a_function_makes,
        arrays_of_a_function_in_turns,
        one_of_two_arrays_of_a_function,
        grid_of_numpy,
        row_of_numpy,
        deep_copy_of_arrays,
        copy_of_an_array,
        counted,
    )
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def result_of_a_function(x: Any) -> Any:
    w = of_the_module()
    w[0] = x[0]
    return np.sum(G * x)


def result_of_a_function_with_an_argument(x: Any) -> Any:
    w = item_of_the_module(0)
    w[0] = x[0]
    return np.sum(ARRAYS[0] * x)


def view_that_a_function_gives(x: Any) -> Any:
    w = view_of_the_module(1)
    w += x[1:]
    return np.sum(G * x)


def item_of_a_dict_of_the_module(x: Any) -> Any:
    w = by_name("g")
    w[0] = x[0]
    return np.sum(BY_NAME["g"] * x)


def one_of_two_results(x: Any) -> Any:
    a, b = pair_of_the_module()
    b[0] = x[0]
    return np.sum(G * a * x)


def what_is_handed_through(x: Any) -> Any:
    w = itself(G)
    w[0] = x[0]
    return np.sum(G * x)


def in_a_function_that_gets_it_from_another(x: Any) -> Any:
    first_set(x[0])
    return np.sum(G * x)


def as_out(x: Any) -> Any:
    w = of_the_module()
    np.multiply(x, 2.0, out=w)
    return np.sum(w * x)


def default_that_is_returned(x: Any) -> Any:
    w = with_default(1)
    w[0] = x[0]
    return np.sum(with_default(2) * x)


def result_of_a_method(x: Any) -> Any:
    w = OWNER.buffer()
    w[0] = x[0]
    return np.sum(OWNER.own * x)


def by_a_lambda(x: Any) -> Any:
    f = lambda: G  # noqa: E731
    w = f()
    w[0] = x[0]
    return np.sum(G * x)


def by_getattr(x: Any) -> Any:
    w = getattr(OWNER, "own")  # noqa: B009
    w[0] = x[0]
    return np.sum(OWNER.own * x)


def by_globals(x: Any) -> Any:
    w = globals()["G"]
    w[0] = x[0]
    return np.sum(G * x)


def by_an_iterator(x: Any) -> Any:
    w = next(iter(ARRAYS))
    w[0] = x[0]
    return np.sum(G * x)


def by_a_shallow_copy(x: Any) -> Any:
    w = copy.copy(ARRAYS)
    w[0][0] = x[0]
    return np.sum(G * x)


def by_a_display(x: Any) -> Any:
    w = [*ARRAYS]
    w[0][0] = x[0]
    return np.sum(G * x)


def constant_and_another_name(x: Any) -> Any:
    G[0] = 2.0
    y = x * SAME
    G[0] = 3.0
    return np.sum(y * y)


def constant_and_an_item(x: Any) -> Any:
    ARRAYS[0][0] = 2.0
    y = x * G
    ARRAYS[0][0] = 3.0
    return np.sum(y * y)


def constant_by_a_function(x: Any) -> Any:
    default_set(2.0)
    y = x * G
    default_set(3.0)
    return np.sum(y * y)


def constant_and_a_function_that_reads(x: Any) -> Any:
    G[0] = 2.0
    y = of_the_module() * x
    G[0] = 3.0
    return np.sum(y * y)


def constant_and_an_argument(x: Any) -> Any:
    y = x * x
    G[0] = 7.0
    return np.sum(y * x)


def constant_into_an_item(x: Any) -> Any:
    y = x * G
    ARRAYS[0] += 1.0
    return np.sum(y * y)


def constant_into_an_item_by_a_function(x: Any) -> Any:
    y = x * G
    scaled_item()
    return np.sum(y * y)


def constant_as_out(x: Any) -> Any:
    y = x * G
    np.add(G, 1.0, out=G)
    return np.sum(y * y)


def constant_by_a_method(x: Any) -> Any:
    y = x * G
    G.fill(2.0)
    return np.sum(y * y)


def constant_copied(x: Any) -> Any:
    y = x * G
    np.copyto(G, 2.0)
    return np.sum(y * y)


def constant_shuffled(x: Any) -> Any:
    y = x * G
    np.random.default_rng(0).shuffle(G)
    return np.sum(y * y)


def constant_in_a_loop(x: Any) -> Any:
    y = x * SAME
    for G[0] in (2.0, 3.0):
        pass
    return np.sum(y * y)


def one_result_twice(x: Any) -> Any:
    w, v = one_twice(5)
    w[0] = x[0]
    return np.sum(v * x)


def one_result_twice_by_an_argument(x: Any) -> Any:
    w, v = one_twice_like(x)
    w[0] = x[0]
    return np.sum(v * x)


MADE: list[Any] = []


class Last:
    """What was made last."""

    made: Any = None


def made_and_listed(n: Any) -> Any:
    a = np.zeros(n)
    MADE.append(a)
    return a


def made_and_set(n: Any) -> Any:
    a = np.zeros(n)
    setattr(Last, "made", a)  # noqa: B010
    return a


def what_a_function_lists(x: Any) -> Any:
    a = made_and_listed(5)
    a[0] = x[0]
    return np.sum(MADE[-1] * x)


def what_a_function_sets(x: Any) -> Any:
    a = made_and_set(5)
    a[0] = x[0]
    return np.sum(Last.made * x)


def one_result_twice_in_turns(x: Any) -> Any:
    w, v = one_twice(5)
    for _ in range(2):
        w[0] = x[0] * v[1]
        w, v = v, w
    return np.sum(v * x)


def result_and_its_view(x: Any) -> Any:
    w, v = a_view(5)
    w[1:] = x[1:]
    v *= 2
    return np.sum(w * x)


WRITTEN = [
    result_of_a_function,
    view_that_a_function_gives,
    one_of_two_results,
    what_is_handed_through,
    in_a_function_that_gets_it_from_another,
    as_out,
    by_a_lambda,
    by_a_display,
    constant_and_another_name,
    constant_and_an_item,
    constant_and_a_function_that_reads,
    constant_and_an_argument,
    constant_as_out,
    constant_by_a_method,
    constant_copied,
    constant_shuffled,
    constant_in_a_loop,
    result_of_a_function_with_an_argument,
    item_of_a_dict_of_the_module,
    by_an_iterator,
]

REFUSED = [
    default_that_is_returned,
    result_of_a_method,
    by_getattr,
    by_globals,
    by_a_shallow_copy,
    constant_by_a_function,
    one_result_twice,
    one_result_twice_by_an_argument,
    one_result_twice_in_turns,
    what_a_function_lists,
    what_a_function_sets,
    result_and_its_view,
]


@pytest.mark.parametrize(
    "f", [*WRITTEN, constant_into_an_item, constant_into_an_item_by_a_function], ids=lambda f: f.__name__
)
def test_arrays_of_the_module_that_are_written(f: Any) -> None:
    check_with_state(f, X, [G])


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_what_others_may_refer_to_is_refused(f: Any) -> None:
    with pytest.raises((UnsupportedError, UndefinedDerivativeError)):
        grad(f)(X)


def test_the_variable_is_named() -> None:
    with pytest.raises(UnsupportedError, match="ARRAYS is the module's, and what is differentiated is written into it"):
        grad(by_a_shallow_copy)(X)


def argument_written(x: Any, w: Any) -> Any:
    w[0] = x[0]
    return np.sum(G * w * x)


def test_an_argument_that_is_an_array_of_the_module() -> None:
    """By name it is read as it was, had the function worked on a copy of the argument."""
    with pytest.raises(UndefinedDerivativeError, match="share memory"):
        grad(argument_written)(X, G)
    with pytest.raises(UndefinedDerivativeError, match="share memory"):
        grad(argument_written)(X, G[::-1])
    check_gradient(case(argument_written, X, G.copy()))
