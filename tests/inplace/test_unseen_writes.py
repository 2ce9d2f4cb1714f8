"""Writes that a caller does not see: by methods, objects, partial functions, recursions; into arrays of the module."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UndefinedDerivativeError, UnsupportedError
from tests.language.support import Case, case, check_gradient, check_primal, check_with_state
from tests.oracle import numeric_gradient

X = np.array([0.71, 1.32, 0.57, 1.81, 1.13])


def doubled(a: Any) -> Any:
    a[0] *= 2.0
    return a[0]


def added(a: Any, b: Any) -> Any:
    a += b
    return a


def top(a: Any, n: Any) -> Any:
    if n <= 0:
        return a[0]
    middle(a, n - 1)
    return low(a)


def middle(a: Any, n: Any) -> Any:
    if n <= 0:
        return a[1]
    return top(a, n - 1)


def low(a: Any) -> Any:
    a[0] *= 2.0
    return a[0]


def alias_inside(a: Any) -> Any:
    if (b := a) is not None:
        b += 1.0
    return a[0]


def alias_annotated(a: Any) -> Any:
    b: np.ndarray = a
    b *= 2.0
    return a[0]


def alias_repeated(a: Any) -> Any:
    (b,) = [a] * 1
    b *= 2.0
    return a[0]


class Model:
    def step(self, a: Any) -> Any:
        a[0] *= 2.0

    @classmethod
    def cstep(cls, a: Any) -> Any:
        a[0] *= 2.0

    @staticmethod
    def sstep(a: Any) -> Any:
        a[0] *= 2.0

    def __call__(self, a: Any) -> Any:
        a[0] *= 2.0
        return a[0]


class Doubling:
    def __init__(self, a: Any) -> Any:
        a[0] *= 2.0


def starred(*u: Any) -> Any:
    u[0][0] *= 2.0


def starred_keywords(**u: Any) -> Any:
    u["u"][0] *= 2.0


def generator(a: Any) -> Any:
    a[0] *= 2.0
    yield 1


def identity(u: Any) -> Any:
    return u


def handed_on(a: Any) -> Any:
    return doubled([a, 1][0])


MODEL = Model()
STEP = MODEL.step
PARTIAL = functools.partial(doubled)
MODULE = np.zeros(3)


def set_first(a: Any, v: Any) -> Any:
    a[0] = v
    return a[0]


def set_default(v: Any, out: Any = MODULE) -> Any:
    out[0] = v
    return out


def set_module(v: Any) -> Any:
    MODULE[0] = v


def written_by_one_that_calls_itself(x: Any) -> Any:
    a = x.copy()
    y = top(a, 2)
    a[0] += middle(a, 2)
    return np.sum(a * a) * y


def written_under_a_name_assigned_inside(x: Any) -> Any:
    a = x.copy()
    a[1] += alias_inside(a)
    return np.sum(a * a)


def written_under_an_annotated_name(x: Any) -> Any:
    a = x.copy()
    a[1] += alias_annotated(a)
    return np.sum(a * a)


def written_as_an_item_of_a_repeated_list(x: Any) -> Any:
    a = x.copy()
    a[1] += alias_repeated(a)
    return np.sum(a * a)


def by_a_method(x: Any) -> Any:
    a = x.copy()
    MODEL.step(a)
    return np.sum(a * a)


def by_a_method_of_a_local_object(x: Any) -> Any:
    a = x.copy()
    m = Model()
    m.step(a)
    return np.sum(a * a)


def by_a_method_of_an_argument(x: Any, m: Any = MODEL) -> Any:
    a = x.copy()
    m.step(a)
    return np.sum(a * a)


def by_a_method_of_the_class(x: Any) -> Any:
    a = x.copy()
    Model.cstep(a)
    return np.sum(a * a)


def by_a_static_method(x: Any) -> Any:
    a = x.copy()
    Model.sstep(a)
    return np.sum(a * a)


def by_a_bound_method(x: Any) -> Any:
    a = x.copy()
    STEP(a)
    return np.sum(a * a)


def by_a_method_that_is_looked_up(x: Any) -> Any:
    a = x.copy()
    getattr(MODEL, "step")(a)
    return np.sum(a * a)


def by_an_object_that_is_called(x: Any) -> Any:
    a = x.copy()
    MODEL(a)
    return np.sum(a * a)


def by_a_constructor(x: Any) -> Any:
    a = x.copy()
    Doubling(a)
    return np.sum(a * a)


def by_an_object_in_a_condition(x: Any) -> Any:
    a = x.copy()
    if MODEL(a) > 5:
        a *= 2
    return np.sum(a * a)


def by_starred_parameters(x: Any) -> Any:
    a = x.copy()
    starred(a)
    return np.sum(a * a)


def by_starred_keywords(x: Any) -> Any:
    a = x.copy()
    starred_keywords(u=a)
    return np.sum(a * a)


def by_one_of_two_functions(x: Any) -> Any:
    a = x.copy()
    (doubled if x[0] > 0 else np.sum)(a)
    return np.sum(a * a)


def by_a_mapped_function_in_a_condition(x: Any) -> Any:
    a = x.copy()
    if sum(map(doubled, [a])) > 50:
        return 0.0
    return np.sum(a * a)


def by_a_mapped_function(x: Any) -> Any:
    a = x.copy()
    list(map(doubled, [a]))
    return np.sum(a * a)


def by_a_partial_function(x: Any) -> Any:
    a = x.copy()
    PARTIAL(a)
    return np.sum(a * a)


def by_a_partial_function_made_here(x: Any) -> Any:
    a = x.copy()
    functools.partial(added, a)(x[0])
    return np.sum(a * a)


def by_a_reduction(x: Any) -> Any:
    a = x.copy()
    functools.reduce(added, [x[0], x[1]], a)
    return np.sum(a * a)


def by_a_function_along_an_axis(x: Any) -> Any:
    a = x.copy()
    np.apply_along_axis(doubled, 0, a)
    return np.sum(a * a)


def by_a_generator_expression(x: Any) -> Any:
    a = x.copy()
    next((doubled(u) for u in [a]))
    return np.sum(a * a)


def by_a_method_of_the_array_that_is_looked_up(x: Any) -> Any:
    a = x.copy()
    getattr(a, "fill")(a[1])
    return np.sum(a * a)


def by_a_lambda(x: Any) -> Any:
    a = x.copy()
    if (lambda u: doubled(u))(a) > 5:
        return 0.0
    return np.sum(a * a)


def by_a_generator(x: Any) -> Any:
    a = x.copy()
    for _ in generator(a):
        pass
    return np.sum(a * a)


def by_the_next_of_a_generator(x: Any) -> Any:
    a = x.copy()
    if next(generator(a)) > 5:
        return 0.0
    return np.sum(a * a)


def item_of_a_display(x: Any) -> Any:
    a = x.copy()
    b = x.copy()
    if doubled([a, b][0]) > 50:
        return 0.0
    return np.sum(a * a)


def item_of_a_tuple(x: Any) -> Any:
    a = x.copy()
    if doubled((a, 1)[0]) > 50:
        return 0.0
    return np.sum(a * a)


def item_of_a_split(x: Any) -> Any:
    a = x.copy()
    if doubled(np.split(a, [2])[0]) > 50:
        return 0.0
    return np.sum(a * a)


def what_a_function_gives_back(x: Any) -> Any:
    a = x.copy()
    if doubled(identity(u=a)) > 50:
        return 0.0
    return np.sum(a * a)


def item_of_a_dict(x: Any) -> Any:
    a = x.copy()
    if doubled(dict(k=a)["k"]) > 50:
        return 0.0
    return np.sum(a * a)


def item_of_a_sum_of_lists(x: Any) -> Any:
    a = x.copy()
    if doubled(([a] + [1])[0]) > 50:
        return 0.0
    return np.sum(a * a)


def greatest_of_a_list(x: Any) -> Any:
    a = x.copy()
    if doubled(max([a], key=len)) > 50:
        return 0.0
    return np.sum(a * a)


def item_of_a_comprehension(x: Any) -> Any:
    a = x.copy()
    if doubled([u for u in (a,)][0]) > 50:
        return 0.0
    return np.sum(a * a)


def by_a_function_that_hands_on(x: Any) -> Any:
    a = x.copy()
    while handed_on(a) < 10:
        pass
    return np.sum(a * a)


def view_in_a_condition(x: Any) -> Any:
    a = x.copy()
    if doubled(a.reshape(-1)) > 50:
        return 0.0
    return np.sum(a * a)


def greatest_of_two_constants(x: Any) -> Any:
    c = np.ones(5)
    d = np.ones(5)
    u = max([c, d], key=len)
    u[0] = x[0]
    return np.sum(c * x)


def least_of_two_constants(x: Any) -> Any:
    c = np.ones(5)
    d = np.ones(5)
    u = min((c, d), key=np.sum)
    u += x
    return np.sum(c * c)


@functools.singledispatch
def written_by_class(a: Any) -> Any:
    a[0] = 0.35


def by_one_for_each_class(x: Any) -> Any:
    k = np.ones(5)
    y = k * x
    written_by_class(k)
    return np.sum(k * x * y)


def table(k: Any, n: int) -> Any:
    rows = []
    for i in range(n):
        row = []
        for j in range(n):
            row.append(k[j] * i)
        rows.append(row)
    return np.array(rows)


WEIGHTS = np.linspace(0.2, 0.9, 5)


def by_a_table_of_lists(x: Any) -> Any:
    y = x * x
    y[0] = 2.0 * y[1]
    return np.sum(table(WEIGHTS, 5) @ y)


def union_of_dicts(x: Any) -> Any:
    c = np.ones(5)
    u = {"k": c} | {"n": 1}
    u["k"][0] = x[0]
    return np.sum(c * x)


def index_assigned_inside(x: Any) -> Any:
    a = x.copy()
    k = 0
    a[(k := (k + 1))] *= a[k - 1]
    a[(i := 3)] += 1
    return np.sum(a * a) * i


class Held:
    array = np.ones(5)
    arrays = (np.ones(5),)


def array_of_a_class(x: Any) -> Any:
    Held.array[:] = x * 2
    return np.sum(Held.array * x)


def item_of_an_array_of_a_class(x: Any) -> Any:
    Held.array[0] += x[0] * 2
    return np.sum(Held.array * x)


def array_of_several_of_a_class(x: Any) -> Any:
    Held.arrays[0][:] = x * 2
    return np.sum(Held.arrays[0] * x)


def module_array(x: Any) -> Any:
    MODULE[0] = x[0]
    return np.sum(MODULE * MODULE)


def module_array_given_to_a_function(x: Any) -> Any:
    set_first(MODULE, x[0])
    return np.sum(MODULE * MODULE)


def module_array_under_another_name(x: Any) -> Any:
    g = MODULE
    g[0] = x[0]
    return np.sum(MODULE * MODULE)


def default_array(x: Any) -> Any:
    set_default(x[0])
    return np.sum(MODULE * x[0])


def default_array_twice(x: Any) -> Any:
    u = set_default(x[0])
    v = set_default(x[1])
    return u[0] * v[0]


def module_array_augmented(x: Any) -> Any:
    g = MODULE
    g += x[:3]
    return np.sum(MODULE * MODULE)


def module_array_as_out(x: Any) -> Any:
    np.add(MODULE, x[:3], out=MODULE)
    return np.sum(MODULE * MODULE)


def module_array_in_a_loop(x: Any) -> Any:
    for r in (MODULE, MODULE):
        r[0] = x[1]
    return np.sum(MODULE * MODULE)


def module_array_of_a_function(x: Any) -> Any:
    set_module(x[0])
    return np.sum(MODULE * x[1])


CASES = [
    case(f, X)
    for f in (
        greatest_of_two_constants,
        least_of_two_constants,
        written_by_one_that_calls_itself,
        written_under_a_name_assigned_inside,
        written_under_an_annotated_name,
        written_as_an_item_of_a_repeated_list,
        by_a_static_method,
        item_of_a_display,
        item_of_a_tuple,
        item_of_a_split,
        what_a_function_gives_back,
        item_of_a_dict,
        by_a_function_that_hands_on,
        view_in_a_condition,
        index_assigned_inside,
        by_a_method,
        by_a_method_of_a_local_object,
        by_a_method_that_is_looked_up,
        by_an_object_that_is_called,
        by_an_object_in_a_condition,
        by_a_constructor,
        by_a_lambda,
        by_a_generator,
        by_a_partial_function_made_here,
        by_a_mapped_function_in_a_condition,
        by_a_mapped_function,
        by_a_reduction,
        by_starred_parameters,
        by_starred_keywords,
        greatest_of_a_list,
        by_a_method_of_the_class,
        item_of_a_comprehension,
        union_of_dicts,
        by_one_for_each_class,
        by_a_table_of_lists,
        by_one_of_two_functions,
    )
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


class Grows:
    """An iterator that adds to an array that it has not made."""

    def __init__(self, k: Any) -> None:
        self.k, self.i = k, 0

    def __iter__(self) -> Grows:
        return self

    def __next__(self) -> int:
        self.i += 1
        if self.i > 2:
            raise StopIteration
        self.k += 1.0
        return self.i


def by_the_next_of_an_object(x: Any) -> Any:
    k = np.ones(len(x))
    y = x * k
    counts = Grows(k)
    for i in counts:
        y = y * k * i
    return np.sum(y)


WRITTEN = [
    by_the_next_of_an_object,
    by_a_method_of_an_argument,
    array_of_a_class,
    array_of_several_of_a_class,
    item_of_an_array_of_a_class,
    module_array,
    module_array_given_to_a_function,
    module_array_under_another_name,
    module_array_augmented,
    module_array_as_out,
    module_array_in_a_loop,
    module_array_of_a_function,
]

REFUSED = [
    by_a_bound_method,
    by_a_partial_function,
    by_a_method_of_the_array_that_is_looked_up,
    by_the_next_of_a_generator,
    default_array,
    default_array_twice,
]


@pytest.mark.parametrize("f", WRITTEN, ids=lambda f: f.__name__)
def test_arrays_of_modules_and_classes_that_are_written(f: Any) -> None:
    check_with_state(f, X, [MODULE, Held.array, *Held.arrays])


@pytest.mark.parametrize("f", REFUSED, ids=lambda f: f.__name__)
def test_what_is_not_known_to_leave_it_alone_is_refused(f: Any) -> None:
    with pytest.raises((UnsupportedError, UndefinedDerivativeError)):
        grad(f)(X)


@pytest.mark.parametrize(
    "f",
    [by_a_function_along_an_axis, by_a_generator_expression, item_of_a_sum_of_lists],
    ids=lambda f: f.__name__,
)
def test_what_is_followed_is_right(f: Any) -> None:
    x = np.array([0.7, -0.3, 1.2])
    expected = numeric_gradient(f, (x,))
    np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (x,), (np.ones(3),))[1], np.sum(expected), rtol=1e-7)
