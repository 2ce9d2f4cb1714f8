"""Arrays that a call puts into an object of the module, or that come from a function which cannot be read."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UnsupportedError
from tests.language.support import PLACE, Case, case, check_gradient, check_primal, check_with_state

X = np.array([0.71, 1.32, 0.57, 1.81, 1.13])
G = np.arange(1.0, 6.0)
H = np.ones(5)
MADE: list[Any] = []
HELD = [H]
BY_NAME: dict[str, Any] = {"g": G}
COUNTS: list[float] = []
LATEST: Any = None


class Box:
    """Holds an array."""

    def __init__(self) -> None:
        self.a: Any = None

    def set(self, a: Any) -> None:
        self.a = a

    def give(self, n: Any) -> Any:
        self.a = np.zeros(n)
        return self.a


class Surface:
    """Has methods with the names of those of random generators."""

    def __init__(self, a: Any) -> None:
        self.a = a

    def normal(self, b: Any) -> Any:
        return b

    def gamma(self) -> Any:
        return self.a


BOX = Box()


def tried(n: Any) -> Any:
    class Unread(Any): ...

    try:
        return G
    except IndexError:
        return None


def tried_of_another(n: Any) -> Any:
    return tried(n)


def tried_pair(n: Any) -> Any:
    class Unread(Any): ...

    try:
        return G, H
    except ValueError:
        return H, G


def tried_argument(a: Any) -> Any:
    class Unread(Any): ...

    try:
        return a
    except ValueError:
        return G


def tried_and_written(n: Any) -> Any:
    a = tried(n)
    a[0] = n
    return 0.5


def within(n: Any) -> Any:
    class Unread(Any): ...

    with np.errstate(all="ignore"):
        return G


def generated(n: Any) -> Any:
    yield G


def latest(n: Any) -> Any:
    global LATEST
    LATEST = np.zeros(n)
    return LATEST


def register(a: Any) -> None:
    MADE.append(a)


def keep(a: Any) -> None:
    BOX.a = a


def put(held: Any, a: Any) -> None:
    held.append(a)


def tried_put(held: Any, a: Any) -> None:
    class Unread(Any): ...

    try:
        held.append(a)
    except ValueError:
        pass


def first_of(*arrays: Any) -> Any:
    return arrays[0]


def named_a(**arrays: Any) -> Any:
    return arrays["a"]


def overwrite(a: Any) -> None:
    a[0] = 7.0


def listed_among_arrays(n: Any) -> Any:
    a = np.zeros(n)
    HELD.append(a)
    return a


def named(n: Any) -> Any:
    a = np.zeros(n)
    BY_NAME.update(last=a)
    return a


def listed_in_a_condition(n: Any) -> Any:
    a = np.zeros(n)
    if MADE.append(a) is None:  # type: ignore[func-returns-value]
        n += 1
    return a


def registered(n: Any) -> Any:
    a = np.zeros(n)
    register(a)
    return a


def registered_by_another(n: Any) -> Any:
    a = np.zeros(n)
    put(MADE, a)
    return a


def kept(n: Any) -> Any:
    a = np.zeros(n)
    keep(a)
    return a


def default_of_a_dict(n: Any) -> Any:
    return BY_NAME.setdefault("h", np.zeros(n))


def counted(n: Any) -> Any:
    a = np.ones(n)
    COUNTS.append(float(np.sum(a)))
    return a


def even(n: Any) -> Any:
    return G if n == 0 else odd(n - 1)


def odd(n: Any) -> Any:
    return G[:3] if n == 0 else even(n - 1)


def by_a_function_that_tries(x: Any) -> Any:
    a = tried(3)
    a[0] = x[0]
    return np.sum(G * x)


def by_one_that_calls_it(x: Any) -> Any:
    a = tried_of_another(3)
    a[0] = x[0]
    return np.sum(G * x)


def one_of_a_pair(x: Any) -> Any:
    a, _ = tried_pair(3)
    a[0] = x[0]
    return np.sum(G * x)


def item_of_a_pair(x: Any) -> Any:
    t = tried_pair(3)
    t[0][0] = x[0]
    return np.sum(G * x)


def in_a_dict(x: Any) -> Any:
    d = {"a": tried(3)}
    d["a"][0] = x[0]
    return np.sum(G * x)


def augmented(x: Any) -> Any:
    a = tried(3)
    a *= x
    return np.sum(G * x)


def as_out(x: Any) -> Any:
    a = tried(3)
    np.add(a, x, out=a)
    return np.sum(G * x)


def handed_through(x: Any) -> Any:
    b = np.zeros(5)
    a = tried_argument(b)
    a[0] = x[0]
    return np.sum(b * x)


def by_one_with_a_context(x: Any) -> Any:
    a = within(3)
    a[0] = x[0]
    return np.sum(G * x)


def by_a_generator(x: Any) -> Any:
    for a in generated(3):
        a[0] = x[0]
    return np.sum(G * x)


def by_turns(x: Any) -> Any:
    a = even(5)
    a[0] = x[0]
    return np.sum(G * x)


def rebound(x: Any) -> Any:
    a = latest(5)
    a[0] = x[0]
    return np.sum(LATEST * x)


def in_a_list_of_arrays(x: Any) -> Any:
    a = listed_among_arrays(5)
    a[0] = x[0]
    return np.sum(HELD[-1] * x)


def by_its_name(x: Any) -> Any:
    a = named(5)
    a[0] = x[0]
    return np.sum(BY_NAME["last"] * x)


def as_a_default(x: Any) -> Any:
    a = default_of_a_dict(5)
    a[0] = x[0]
    return np.sum(BY_NAME["h"] * x)


def listed_where_it_is_tested(x: Any) -> Any:
    a = listed_in_a_condition(5)
    a[0] = x[0]
    return np.sum(MADE[-1] * x)


def registered_inside(x: Any) -> Any:
    a = registered(5)
    a[0] = x[0]
    return np.sum(MADE[-1] * x)


def registered_further_inside(x: Any) -> Any:
    a = registered_by_another(5)
    a[0] = x[0]
    return np.sum(MADE[-1] * x)


def registered_here(x: Any) -> Any:
    a = np.zeros(5)
    register(a)
    a[0] = x[0]
    return np.sum(MADE[-1] * x)


def kept_inside(x: Any) -> Any:
    a = kept(5)
    a[0] = x[0]
    return np.sum(BOX.a * x)


def kept_here(x: Any) -> Any:
    a = np.zeros(5)
    keep(a)
    a[0] = x[0]
    return np.sum(BOX.a * x)


def given_to_a_method(x: Any) -> Any:
    a = np.zeros(5)
    BOX.set(a)
    a[0] = x[0]
    return np.sum(BOX.a * x)


def given_to_a_method_in_a_condition(x: Any) -> Any:
    a = np.zeros(5)
    if BOX.set(a) is None:  # type: ignore[func-returns-value]
        a[0] = x[0]
    return np.sum(BOX.a * x)


def given_by_a_method(x: Any) -> Any:
    a = BOX.give(5)
    a[0] = x[0]
    return np.sum(BOX.a * x)


def given_back_by_a_method(x: Any) -> Any:
    surface = Surface(1.0)
    a = surface.normal(G)
    a[0] = x[0]
    return np.sum(G * x)


REFUSED = [
    by_a_function_that_tries,
    by_one_that_calls_it,
    one_of_a_pair,
    item_of_a_pair,
    in_a_dict,
    augmented,
    as_out,
    by_one_with_a_context,
    in_a_list_of_arrays,
    listed_where_it_is_tested,
    registered_inside,
    registered_further_inside,
    registered_here,
]


#: Where what is made is kept by an object of the module as well, or by none.
RIGHT = [
    given_back_by_a_method,
    by_a_generator,
    by_turns,
    rebound,
    by_its_name,
    kept_inside,
    kept_here,
    given_by_a_method,
]


@pytest.mark.parametrize("f", RIGHT)
def test_what_is_written_has_derivatives(f: Any) -> None:
    check_with_state(f, X, [G])


def test_what_is_the_default_of_a_dict_is_right_or_refused() -> None:
    BY_NAME.pop("h", None)
    with contextlib.suppress(UnsupportedError):
        np.testing.assert_allclose(grad(as_a_default)(X), np.eye(5)[0] * 2.0 * X[0])
    BY_NAME.pop("h", None)


@pytest.mark.parametrize("f", REFUSED)
def test_what_is_differentiated_is_not_written_into_it(f: Any) -> None:
    with pytest.raises(UnsupportedError, match="what is differentiated is written into it") as refusal:
        grad(f)(X)
    assert PLACE.search(str(refusal.value))


def constant_after_what_was_read(x: Any) -> Any:
    y = G * x
    a = tried(3)
    a[0] = 5.0
    z = np.sum(y * y)
    a[0] = 1.0
    return z


def constant_by_a_function(x: Any) -> Any:
    y = G * x
    a = tried(3)
    overwrite(a)
    z = np.sum(y * y)
    a[0] = 1.0
    return z


def constant_inside_a_function(x: Any) -> Any:
    y = G * x
    s = tried_and_written(1)
    return np.sum(y * y) * s


def constant_after_it_is_registered(x: Any) -> Any:
    a = np.ones(5)
    register(a)
    y = MADE[-1] * x
    a[0] = 5.0
    return np.sum(y * y)


def constant_after_it_is_registered_in_a_loop(x: Any) -> Any:
    a = np.ones(5)
    register(a)
    y = x
    for k in range(3):
        y = MADE[-1] * y
        a[0] = 5.0 + k
    return np.sum(y * y)


def constant_in_a_list_by_a_function(x: Any) -> Any:
    held = [None]
    a = np.ones(5)
    tried_put(held, a)
    y = held[1] * x
    a[0] = 5.0
    return np.sum(y * y)


def constant_in_an_object(x: Any) -> Any:
    box = Box()
    a = np.ones(5)
    box.set(a)
    y = box.a * x
    a[0] = 5.0
    return np.sum(y * y)


def constant_among_starred_parameters(x: Any) -> Any:
    a = np.ones(5)
    y = first_of(a, 1) * x
    a[0] = 5.0
    return np.sum(y * y)


def constant_among_starred_keywords(x: Any) -> Any:
    a = np.ones(5)
    y = named_a(a=a) * x
    a[0] = 5.0
    return np.sum(y * y)


def constant_given_back_by_a_method(x: Any) -> Any:
    surface = Surface(1.0)
    a = np.ones(5)
    y = surface.normal(a) * x
    a[0] = 5.0
    return np.sum(y * y)


def constant_of_an_object(x: Any) -> Any:
    a = np.ones(5)
    surface = Surface(a)
    y = surface.gamma() * x
    a[0] = 5.0
    return np.sum(y * y)


def what_was_counted(x: Any) -> Any:
    a = counted(5)
    a[0] = x[0]
    return np.sum(a * x)


CASES = [
    case(f, X)
    for f in (
        constant_after_what_was_read,
        constant_by_a_function,
        constant_inside_a_function,
        constant_after_it_is_registered,
        constant_after_it_is_registered_in_a_loop,
        constant_in_a_list_by_a_function,
        constant_in_an_object,
        constant_among_starred_parameters,
        constant_among_starred_keywords,
        constant_given_back_by_a_method,
        constant_of_an_object,
        what_was_counted,
    )
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def test_what_is_handed_through_is_not_known() -> None:
    with pytest.raises(UnsupportedError, match="a class defined inside"):
        grad(handed_through)(X)
