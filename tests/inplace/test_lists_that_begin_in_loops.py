"""Lists and dicts that get their first value in a branch of a loop: right in both modes, whichever branches run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import S2SADError
from tests.oracle import numeric_gradient

# ruff: noqa: F821, F841

X = np.array([0.7, 1.5, 0.6, 0.9])
#: How often the loop runs, and in which rounds a list begins.
ROUNDS = [(4, 3, 0), (0, 3, 0), (3, 7, 5), (4, 2, 1)]


def appended(x: Any, n: int, m: int, k: int) -> Any:
    total = 0.0
    for i in range(n):
        if i % m == k:
            run = [x[i], x[0]]
        elif i > k:
            run.append(x[i] * run[-1])
            total = total + np.sum(np.array(run) ** 2)
    return total


def keyed(x: Any, n: int, m: int, k: int) -> Any:
    total = x[0]
    for i in range(n):
        if i % m == k:
            d = {"a": x[i], "b": x}
        elif i > k:
            d["a"] = d["a"] * x[i]
            d["c"] = x[i]
            total = total + np.sum(d["b"] * d["a"])
    return total


def in_an_inner_loop(x: Any, n: int, m: int, k: int) -> Any:
    total = x[0]
    for i in range(n):
        for j in range(i):
            if j % m == k:
                run = [x[j]]
            elif j > k:
                run.append(total)
                total = total + run[0] * x[j]
    return total


def while_it_lasts(x: Any, n: int, m: int, k: int) -> Any:
    total, i = x[0], 0
    while i < n:
        if i % m == k:
            items, w = [x[i]], 2.0
        elif i > k:
            items[0] = items[0] * x[i] * w
            w = w + x[i]
            total = total + items[0]
            if total > 9.0:
                break
        i += 1
    return total


def read_afterwards(x: Any, n: int, m: int, k: int) -> Any:
    begun = False
    for i in range(n):
        if i % m == k:
            begun, rows = True, [x * x[i]]
            continue
        if begun:
            rows.append(rows[-1] * x[i])
            rows[0] = np.sin(rows[-1])
    return np.sum(rows[0]) + np.sum(np.array(rows) ** 2) if begun else x[1]


def popped(x: Any, n: int, m: int, k: int) -> Any:
    total = 0.0
    for i in range(n):
        if i % m == k:
            waiting = [x[i], x[i] * x[0]]
        elif i > k and waiting:
            total = total * x[i] + waiting.pop()
            if i % 2:
                waiting.append(total)
    return total


def arrays_and_numbers(x: Any, n: int, m: int, k: int) -> Any:
    total = 0.0
    for i in range(n):
        if i % m == k:
            a, w = np.zeros(3) + x[1], x[i]
        elif i > k:
            a[i % 3] = x[i] * a[0]
            w = w * x[i]
            total = total + np.sum(a**2) * w
    return total


def changed_before_it_begins(x: Any, n: int, m: int, k: int) -> Any:
    total = 0.0
    for i in range(n):
        if i > k:
            for j in range(2):
                if j:
                    run.append(x[j] * run[-1])
                else:
                    run[0] = run[0] * x[i]
            total = total + sum(run)
        run = [x[i], x[0]]
    return total if n > k else x[0]


def never_begun(x: Any, n: int, m: int, k: int) -> Any:
    total = x[0]
    for i in range(n):
        if i > 5:
            w = w + x[i]
            total = total + w
        total = total + x[i] ** 2
    return total


def of_a_callee(x: Any, n: int, m: int, k: int) -> Any:
    return appended(x * 2.0, n, m, k) * x[0] + sum([popped(x * z, n, m, k) for z in x])


PROGRAMS: list[Callable[..., Any]] = [
    appended, keyed, in_an_inner_loop, while_it_lasts, read_afterwards, popped, arrays_and_numbers, of_a_callee,
    changed_before_it_begins, never_begun,
]  # fmt: skip


def outcomes(f: Callable[..., Any]) -> list[Any]:
    """The gradients of both modes; None where a mode refuses."""
    found = []
    for derivative in (lambda: grad(f)(X), lambda: [jvp(f, (X,), (unit,))[1] for unit in np.eye(4)]):
        try:
            found.append(derivative())
        except S2SADError:
            found.append(None)
    return found


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients_of_what_begins_in_a_branch(f: Callable[..., Any]) -> None:
    for rounds in ROUNDS[:1] if f is of_a_callee else ROUNDS:
        run = functools.partial(f, **dict(zip("nmk", rounds, strict=True)))
        expected = numeric_gradient(run, [X])
        for found in outcomes(run):
            assert found is not None
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("f", [appended, keyed, popped, while_it_lasts], ids=lambda f: f.__name__)
def test_what_has_not_begun_raises_what_python_raises(f: Callable[..., Any]) -> None:
    run = functools.partial(f, n=3, m=7, k=-1)
    with pytest.raises(UnboundLocalError):
        run(X)
    for derivative in (lambda: grad(run)(X), lambda: jvp(run, (X,), (X,))):
        with pytest.raises(UnboundLocalError):
            derivative()


def kept_in_a_list(x: Any, n: int, m: int, k: int) -> Any:
    runs: list[Any] = []
    for i in range(n):
        if i % m == k:
            run = [x[i]]
            runs.append(run)
        elif i > k:
            run.append(x[i] * run[0])
    return sum([sum(run) * run[0] for run in runs])


def under_another_name(x: Any, n: int, m: int, k: int) -> Any:
    total, last = 0.0, [x[0]]
    for i in range(n):
        if i % m == k:
            run = [x[i], x[1]]
        elif i > k:
            last = run
            run.append(x[i])
            total = total + sum(last) * x[i]
    return total + sum(last)


def begun_from_another(x: Any, n: int, m: int, k: int) -> Any:
    given, total = [x[0], x[1]], 0.0
    for i in range(n):
        if i % m == k:
            run = given
        elif i > k:
            run[0] = run[0] * x[i]
            total = total + given[0]
    return total + given[0]


def rows_written(x: Any, n: int, m: int, k: int) -> Any:
    a, total = np.zeros(4) + x, 0.0
    for i in range(n):
        if i % m == k:
            rows = [a, a[1:]]
        elif i > k:
            rows[1][0] = x[i] * a[0]
            rows[0] = rows[1] * 2.0
            total = total + np.sum(a) + np.sum(rows[0])
    return total


SHARED = [kept_in_a_list, under_another_name, begun_from_another, rows_written]


@pytest.mark.parametrize("f", SHARED, ids=lambda f: f.__name__)
def test_what_others_hold_is_right_or_refused(f: Callable[..., Any]) -> None:
    for rounds in ROUNDS:
        run = functools.partial(f, **dict(zip("nmk", rounds, strict=True)))
        expected = numeric_gradient(run, [X])
        for found in outcomes(run):
            if found is not None:
                np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


def list_or_number(x: Any, n: int, m: int, k: int) -> Any:
    total = 0.0
    for i in range(n):
        if i % m == k:
            v = x[i]
        elif i % m > k:
            found = [x[j] for j in range(i)]
            found.append(x[0] * x[i])
            v = found
        if total < 100.0 and i >= k:
            total = total + x[1] * (v if isinstance(v, float) else 3.0)
    return total


def dict_or_number(x: Any, n: int, m: int, k: int) -> Any:
    total = 0.0
    for i in range(n):
        if i % m == k:
            v = x[i]
        elif i % m > k:
            found = {j: x[j] for j in range(i)}
            v = found
        if total < 100.0 and i >= k:
            total = total + x[1] * (v if isinstance(v, float) else 3.0)
    return total


def dict_that_is_read_or_number(x: Any, n: int, m: int, k: int) -> Any:
    total = 0.0
    for i in range(n):
        if i % m == k:
            v = x[i]
        elif i % m > k:
            v = {"a": x[i]}
            v["b"] = v["a"] * x[0]
        if total < 100.0 and i >= k:
            total = total + x[1] * (v if isinstance(v, float) else v["b"])
    return total


@pytest.mark.parametrize("f", [list_or_number, dict_or_number, dict_that_is_read_or_number], ids=lambda f: f.__name__)
def test_what_is_a_number_in_other_rounds(f: Callable[..., Any]) -> None:
    for rounds in [(4, 3, 0), (4, 2, 0), (4, 4, 1)]:
        of_x = functools.partial(f, n=rounds[0], m=rounds[1], k=rounds[2])
        expected = numeric_gradient(of_x, (X,))
        np.testing.assert_allclose(grad(f)(X, *rounds), expected, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(jvp(of_x, (X,), (np.cos(X),))[1], expected @ np.cos(X), rtol=1e-7, atol=1e-9)
