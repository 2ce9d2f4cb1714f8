"""What functions and methods keep outside of the function: in variables of the module, closures, classes, objects."""

from __future__ import annotations

import functools
import logging
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, stop_gradient
from s2sad.errors import S2SADError, UnsupportedError
from tests.language.support import PLACE, Case, case, check_gradient, check_primal
from tests.oracle import numeric_gradient
from tests.random_objects import load

X = np.array([0.71, 1.32, 0.57, 1.81, 1.13])
LOGGER = logging.getLogger(__name__)
LAST: Any = np.ones(5)


@pytest.fixture(autouse=True)
def _as_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test see what another one has kept."""
    monkeypatch.setattr(sys.modules[__name__], "LAST", np.ones(5))


COUNT = 0


def remember(a: Any) -> None:
    global LAST
    LAST = a


def remember_in_a_loop(a: Any) -> None:
    global LAST
    for LAST in [a]:
        pass


def remember_among_others(a: Any) -> None:
    global LAST, COUNT
    LAST, COUNT = a, 1


def remember_in_a_condition(a: Any) -> None:
    global LAST
    if (LAST := a) is None:
        pass


def remember_further_inside(a: Any) -> None:
    remember(a)


def remember_twice_of_it(a: Any) -> None:
    global LAST
    LAST = a * 2


def add_its_sum(a: Any) -> None:
    global COUNT
    COUNT = COUNT + np.sum(a)


def tell_of_its_sum(a: Any) -> None:
    MODEL.keep(np.sum(a))


def tell_of_its_sine(a: Any) -> Any:
    tell_of_its_sum(np.sin(a))
    return 1.0


def add_to_the_last(a: Any) -> None:
    global LAST
    LAST += a


def remembered(a: Any) -> Any:
    remember(a)
    return 1.0


def count() -> Any:
    global COUNT
    COUNT = COUNT + 1
    return 2.0


def closure() -> tuple[Callable[[Any], None], Callable[[], Any]]:
    held = np.ones(5)

    def put(a: Any) -> None:
        nonlocal held
        held = a

    def get() -> Any:
        return held

    return put, get


PUT, GET = closure()


@functools.lru_cache
def remembered_once(a: Any) -> Any:
    remember(a)
    return 1.0


EACH_REMEMBERED = np.vectorize(remembered)


class Model:
    """Keeps what its methods are given, or counts their calls."""

    shared: Any = np.ones(5)

    def __init__(self) -> None:
        self.calls = 0
        self.a: Any = np.ones(5)

    def tell(self, a: Any) -> None:
        self.calls += 1

    def keep(self, a: Any) -> None:
        self.a = a

    def check(self, a: Any) -> bool:
        return True

    def put(self, a: Any) -> None:
        type(self).shared = a

    @classmethod
    def share(cls, a: Any) -> None:
        cls.shared = a

    @staticmethod
    def put_there(a: Any) -> None:
        Model.shared = a


MODEL = Model()


def in_a_variable(x: Any) -> Any:
    y = x * x
    remember(y)
    return np.sum(LAST * x)


def in_a_variable_by_a_loop(x: Any) -> Any:
    y = x * x
    remember_in_a_loop(y)
    return np.sum(LAST * x)


def in_a_variable_among_others(x: Any) -> Any:
    y = x * x
    remember_among_others(y)
    return np.sum(LAST * x)


def in_a_variable_by_a_condition(x: Any) -> Any:
    y = x * x
    remember_in_a_condition(y)
    return np.sum(LAST * x)


def in_a_variable_further_inside(x: Any) -> Any:
    y = x * x
    remember_further_inside(y)
    return np.sum(LAST * x)


def in_a_condition(x: Any) -> Any:
    y = x * x
    if remember(y) is None:  # type: ignore[func-returns-value]
        y = y * 2
    return np.sum(LAST * x * y)


def in_an_assertion(x: Any) -> Any:
    y = x * x
    assert remembered(y)
    return np.sum(LAST * x)


def in_a_text(x: Any) -> Any:
    y = x * x
    f"{remembered(y)}"  # noqa: B021
    return np.sum(LAST * x)


def number_of_a_loop(x: Any) -> Any:
    y = x * x
    for v in y:
        remembered(v)
    return np.sum(LAST * x)


def along_an_axis(x: Any) -> Any:
    y = x * x
    np.apply_along_axis(remembered, 0, y)
    return np.sum(LAST * x)


def in_a_map(x: Any) -> Any:
    y = x * x
    s = list(map(remembered, y))
    return np.sum(LAST * x * s[0])


def twice_of_it_in_a_variable(x: Any) -> Any:
    y = x * x
    remember_twice_of_it(y)
    return np.sum(LAST * x)


def number_added_to_a_variable(x: Any) -> Any:
    add_its_sum(x * x)
    return np.sum(COUNT * x)


def number_in_an_object_by_a_function(x: Any) -> Any:
    y = x * x
    tell_of_its_sum(y)
    return np.sum(MODEL.a * x)


def number_in_an_object_further_inside_an_assertion(x: Any) -> Any:
    y = x * x
    assert tell_of_its_sine(y)
    return np.sum(MODEL.a * x)


def number_by_a_cached_function(x: Any) -> Any:
    remembered_once(np.sum(x * x))
    return np.sum(LAST * x)


def number_by_a_cached_function_that_is_mapped(x: Any) -> Any:
    list(map(remembered_once, [np.sum(x * x)]))
    return np.sum(LAST * x)


def number_by_a_vectorized_function(x: Any) -> Any:
    EACH_REMEMBERED(x * x)
    return np.sum(LAST * x)


def number_by_a_vectorized_function_in_a_condition(x: Any) -> Any:
    y = x * x
    if EACH_REMEMBERED(y)[0] > 0.5:
        y = y * 2
    return np.sum(LAST * y)


def array_written_later(x: Any) -> Any:
    a = np.ones(5)
    remember(a)
    a[0] = x[0]
    return np.sum(LAST * x)


def added_to_a_variable(x: Any) -> Any:
    add_to_the_last(x)
    return np.sum(LAST * x)


def in_a_closure(x: Any) -> Any:
    y = x * x
    PUT(y)
    return np.sum(GET() * x)


def in_a_closure_written_later(x: Any) -> Any:
    a = np.ones(5)
    PUT(a)
    a[0] = x[0]
    return np.sum(GET() * x)


def in_an_object(x: Any) -> Any:
    y = x * x
    MODEL.keep(y)
    return np.sum(MODEL.a * x)


def number_in_an_object(x: Any) -> Any:
    MODEL.keep(np.sum(x * x))
    return np.sum(MODEL.a * x)


def number_in_a_local_object(x: Any) -> Any:
    model = Model()
    model.keep(np.sum(x * x))
    return np.sum(model.a * x)


def number_in_an_object_in_a_condition(x: Any) -> Any:
    y = x * x
    if MODEL.keep(np.sum(y)) is None:  # type: ignore[func-returns-value]
        y = y * 2
    return np.sum(MODEL.a * x * y)


def in_an_object_by_a_result_that_is_not_used(x: Any) -> Any:
    y = x * x
    _ = MODEL.keep(y)  # type: ignore[func-returns-value]
    return np.sum(MODEL.a * x)


def in_a_class_by_the_name_of_a_method_of_arrays(x: Any) -> Any:
    y = x * x
    MODEL.put(y)
    return np.sum(Model.shared * x)


def in_a_local_object_by_the_name_of_a_method_of_arrays(x: Any) -> Any:
    y = x * x
    model = Model()
    model.put(y)
    return np.sum(Model.shared * x)


def by_a_class_method(x: Any) -> Any:
    y = x * x
    Model.share(y)
    return np.sum(Model.shared * x)


def by_a_static_method(x: Any) -> Any:
    y = x * x
    Model.put_there(y)
    return np.sum(Model.shared * x)


def by_a_callable_that_holds_it(x: Any) -> Any:
    operator.methodcaller("fill", np.sin(x[1]))(LAST)
    return np.sum(LAST * x)


def by_a_callable_that_holds_it_under_a_name(x: Any) -> Any:
    fill = operator.methodcaller("fill", np.sin(x[1]))
    fill(LAST)
    return np.sum(LAST * x)


def by_a_partial_call_that_holds_it(x: Any) -> Any:
    functools.partial(remember, x * x)()
    return np.sum(LAST * x)


def by_a_partial_call_of_numpy_that_holds_it(x: Any) -> Any:
    functools.partial(np.copyto, LAST)(x * x)
    return np.sum(LAST * x)


@pytest.mark.parametrize(
    "f",
    [
        in_a_variable,
        in_a_variable_by_a_loop,
        in_a_variable_among_others,
        in_a_variable_by_a_condition,
        in_a_variable_further_inside,
        in_a_condition,
        in_an_assertion,
        in_a_text,
        number_of_a_loop,
        twice_of_it_in_a_variable,
        number_added_to_a_variable,
        number_in_an_object_by_a_function,
        number_in_an_object_further_inside_an_assertion,
        array_written_later,
        added_to_a_variable,
        by_a_partial_call_that_holds_it,
        in_a_local_object_by_the_name_of_a_method_of_arrays,
        by_a_static_method,
        by_a_class_method,
    ],
)
def test_what_is_kept_in_a_variable_is_read_there(f: Any) -> None:
    def begin(run: Any, x: Any) -> Any:
        global LAST, COUNT
        LAST, COUNT, Model.shared, MODEL.a = np.ones(5), 0, np.ones(5), np.ones(5)
        return run(x)

    found, left = begin(grad(f), X), (LAST, COUNT, Model.shared, MODEL.a)
    np.testing.assert_allclose(found, numeric_gradient(lambda x: begin(f, x), (X,)), rtol=1e-7)
    begin(f, X)
    assert all(np.array_equal(a, b) for a, b in zip((LAST, COUNT, Model.shared, MODEL.a), left, strict=True))


@pytest.mark.parametrize(
    "f",
    [
        along_an_axis,
        in_a_map,
        number_by_a_cached_function,
        number_by_a_cached_function_that_is_mapped,
        number_by_a_vectorized_function,
        number_by_a_vectorized_function_in_a_condition,
        in_a_closure,
        in_a_closure_written_later,
        in_a_class_by_the_name_of_a_method_of_arrays,
        by_a_callable_that_holds_it,
        by_a_callable_that_holds_it_under_a_name,
        by_a_partial_call_of_numpy_that_holds_it,
    ],
)
def test_what_is_differentiated_is_not_kept(f: Any) -> None:
    with pytest.raises(UnsupportedError) as refusal:
        grad(f)(X)
    assert PLACE.search(str(refusal.value))


def constant_in_a_variable(x: Any) -> Any:
    a = np.ones(5)
    remember(a)
    y = LAST * x
    a[0] = 4.0
    return np.sum(y * y)


def other_constant_in_the_variable(x: Any) -> Any:
    remember(np.ones(5))
    y = LAST * x
    remember(np.zeros(5))
    return np.sum(y * y)


def constant_in_the_variable_written(x: Any) -> Any:
    remember(np.ones(5))
    y = LAST * x
    add_to_the_last(2.0)
    return np.sum(y * y)


def constant_in_a_closure(x: Any) -> Any:
    a = np.ones(5)
    PUT(a)
    y = GET() * x
    a[0] = 3.0
    return np.sum(y * y)


def constant_in_a_class(x: Any) -> Any:
    a = np.ones(5)
    Model.share(a)
    y = Model.shared * x
    a[0] = 4.0
    return np.sum(y * y)


def counted(x: Any) -> Any:
    y = x * count()
    return np.sum(y * y * count())


def checked(x: Any) -> Any:
    y = x * x
    assert MODEL.check(y)
    return np.sum(y)


class Failure(Exception):
    """Keeps what was wrong."""

    def __init__(self, what: str, a: Any) -> None:
        super().__init__(what)
        self.a = a


def not_raised(x: Any) -> Any:
    y = x * x
    assert not isinstance(y, Model)
    if y[0] > 100.0:
        raise Failure("too large", y)
    return np.sum(y * y)


def logged(x: Any) -> Any:
    y = x * x
    LOGGER.debug("%s %s", y, np.sum(y))
    return np.sum(y * x)


CASES = [
    case(f, X)
    for f in (
        constant_in_a_variable,
        other_constant_in_the_variable,
        constant_in_the_variable_written,
        constant_in_a_closure,
        constant_in_a_class,
        counted,
        checked,
        not_raised,
        logged,
        number_in_a_local_object,
        in_an_object,
        number_in_an_object,
        number_in_an_object_in_a_condition,
        in_an_object_by_a_result_that_is_not_used,
    )
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def stopped(x: Any) -> Any:
    y = x * x
    MODEL.tell(stop_gradient(np.copy(y)))
    MODEL.tell(stop_gradient(np.sum(y)))
    y[0] = 3 * x[0]
    return np.sum(y)


def test_what_is_stopped_may_be_kept() -> None:
    np.testing.assert_allclose(grad(stopped)(X), [3.0, *(2 * X[1:])], rtol=1e-14)


def lacking(x: Any) -> Any:
    y = x * x
    np.put(y, [0])  # type: ignore[call-arg]
    return np.sum(y)


def test_a_call_that_lacks_an_argument() -> None:
    with pytest.raises(UnsupportedError, match=r"np\.put\(\.\.\.\) lacks its argument 'v'"):
        grad(lacking)(X)


SHELF: list[Any] = []


def shelve(a: Any) -> None:
    SHELF.append(a)


def overwrite_the_last() -> None:
    SHELF[-1][0] = 0.35


def kept_and_overwritten_in_a_loop(x: Any, s: Any) -> Any:
    a, total = s[0], 0.0
    for _ in range(2):
        total = total + np.sum(a * a * x)
        b, _ = a, 1.0
        shelve(b)
        overwrite_the_last()
    return total + np.sum(np.sin(a) * x)


def test_an_argument_that_one_function_keeps_and_another_writes_stays_as_it_was() -> None:
    s = (np.arange(1.0, 6.0), 2.0)
    try:
        found = grad(kept_and_overwritten_in_a_loop)(X, s)
    except S2SADError:
        return
    np.testing.assert_array_equal(s[0], np.arange(1.0, 6.0))
    expected = numeric_gradient(lambda x: kept_and_overwritten_in_a_loop(x, (np.arange(1.0, 6.0), 2.0)), (X,))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


#: A program that keeps an argument in a container of the module, which holds something at first, and writes it later.
KEEPING = """import numpy as np
cache = {begin}
def helper(q):
    {keep}
def later():
    {write}
def f(x, k):
    r = k * x
    helper(k)
    {done}
    s = np.sum(r * r)
    return s + np.sum(np.sin(k) * x)
"""
CONTAINERS = {
    "cache['q']": ("cache['q'] = q", ["{}", "{'n': 1.0}", "{'z': np.ones(3)}"]),
    "cache[-1]": ("cache.append(q)", ["[]", "[1.0]", "[np.ones(3)]"]),
    "cache['l'][-1]": ("cache['l'].append(q)", ["{'l': []}"]),
    "cache['w'][0]": ("cache.setdefault('w', []).append(q)", ["{}"]),
}


@pytest.mark.parametrize("write", ["{}[0] = 0.35", "{}[:] *= 2.0", "v = {}[1:]; v += 1.0"])
@pytest.mark.parametrize(("item", "begin"), [(item, b) for item, (_, begins) in CONTAINERS.items() for b in begins])
def test_what_containers_of_numbers_or_of_nothing_hold_now_may_be_an_array_later(
    item: str, begin: str, write: str
) -> None:
    write = write.format(item)
    x, k, refused = np.array([0.5, 1.2, -0.7]), np.array([0.8, -0.4, 1.5]), 0
    for done in ("later()", write):
        text = KEEPING.format(begin=begin, keep=CONTAINERS[item][0], write=write, done=done)
        slopes = []
        for way in np.eye(3):
            up, down = (load("kept", text)["f"](x + h * way, k.copy()) for h in (1e-5, -1e-5))
            slopes.append((up - down) / 2e-5)
        try:
            np.testing.assert_allclose(grad(load("kept", text)["f"])(x, k), slopes, rtol=1e-6)
        except UnsupportedError:
            refused += 1
        np.testing.assert_array_equal(k, [0.8, -0.4, 1.5])
    assert refused < 2 or item.startswith("cache['l']") or "np.ones" in begin
