"""What programs that write into arrays keep for the reverse part, and that what is computed again is what it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from tests.language.support import Case, assert_close, case, check_gradient, from_file

V = np.array([0.3, -0.7, 1.1, 0.4, 0.9])
W = np.array([0.2, 0.5, -0.4, 0.8, 0.6])


def linear(x: Any, y: Any) -> Any:
    u, v = x.copy(), y.copy()
    for _ in range(3):
        v[1:-1] = 0.3 * (u[:-2] + u[1:-1] + u[2:])
        u[1:-1] = 0.3 * (v[:-2] + v[1:-1] + v[2:])
    return np.sum(u * v)


def nonlinear(x: Any, c: Any) -> Any:
    u = x.copy()
    for _ in range(4):
        u[1:-1] = u[1:-1] + 0.1 * c * u[1:-1] * (u[2:] - u[:-2]) * (1.0 - u[1:-1])
    return np.sum(np.sin(u))


def swapped(x: Any, c: Any) -> Any:
    u, v = x.copy(), np.zeros_like(x)
    for _ in range(4):
        v[1:-1] = u[1:-1] + c * u[1:-1] * (1.0 - u[1:-1]) * (u[2:] - u[:-2])
        v[0] = v[1]
        v[-1] = v[-2]
        u, v = v, u
    return np.sum(u * u)


def two_versions(x: Any, c: Any) -> Any:
    u = x.copy()
    for _ in range(3):
        a = u[1:] - u[:-1]
        u[1:] += c * a * a
        b = u[1:] - u[:-1]
        u[:-1] -= c * b * b * a
    return np.sum(u * W)


def written_through_a_view(x: Any, c: Any) -> Any:
    u = x.copy()
    inner = u[1:-1]
    for _ in range(3):
        t = u[1:-1] * c
        inner *= 0.5
        inner += t * t * (u[2:] - inner)
    return np.sum(u * W)


def written_by_a_callee(x: Any, c: Any) -> Any:
    u = x.copy()
    for _ in range(3):
        t = u[1:] * c
        _double(u)
        s = u[1:] * c
        u[1:] = np.sin(t * s * t)
    return np.sum(u * W)


def _double(a: Any) -> None:
    a *= 1.5


def _react(u: Any, v: Any, c: Any) -> None:
    du = u[2:] - 2.0 * u[1:-1] + u[:-2]
    s = 1.0 - u[1:-1]
    r = v[1:-1] * s * du
    u[1:-1] += c * r * s


def step_in_a_function(x: Any, c: Any) -> Any:
    u, v = x.copy(), np.cos(x)
    for _ in range(3):
        _react(u, v, c)
    return np.sum(u * W)


def _react_twice(u: Any, v: Any, c: Any) -> None:
    for k in range(2):
        _react(u, v, c * (1.0 + k))
        _react(v, u, c)


def step_in_a_function_of_a_function(x: Any, c: Any) -> Any:
    u, v = x.copy(), np.cos(x)
    _react_twice(u, v, c)
    _react(u, v, c)
    return np.sum(u * W)


def _weigh(u: Any, c: Any) -> Any:
    t = u[1:] * c
    u[1:] *= t - c
    return t * (t + c) * u[:-1] / (2.0 + t * t)


def value_of_a_function(x: Any, c: Any) -> Any:
    u, total = x.copy(), 0.0
    for _ in range(3):
        t = _weigh(u, c)
        u[0] = np.sin(t[0]) * t[1]
        total = total + np.sum(t)
    return total + np.sum(u)


COUNTED = [0.0]


def _counted(u: Any, c: Any) -> None:
    _react(u, u.copy(), c)
    t = u[1:] * c
    u[1:] *= t - c
    COUNTED[0] += 1.0


def counted_in_the_module(x: Any, c: Any) -> Any:
    u = x.copy()
    for _ in range(3):
        _counted(u, c)
    return np.sum(u)


def view_taken_early(x: Any, c: Any) -> Any:
    u = x.copy()
    for k in range(3):
        row = u[1:]
        if k == 1:
            u[0] = c * u[1]
        t = 0.5 * row * row - u[:-1]
        u[1:] = 0.3 * t * t * row
    return np.sum(u)


def made_in_the_loop(x: Any, c: Any) -> Any:
    s = 0.0
    for k in range(3):
        u = x * (k + 1.0)
        u[1:] = u[1:] * u[:-1] * c
        t = u[1:] - u[:-1]
        u[:-1] = t * t * t
        s += np.sum(u * u)
    return s


def in_a_branch(x: Any, c: Any) -> Any:
    u = x.copy()
    for k in range(4):
        if k % 2:
            u[1:-1] = u[1:-1] * (u[2:] - u[:-2]) * (c + u[1:-1])
        else:
            u[1:] = (u[1:] - u[:-1]) * u[1:] * (u[1:] + 1.0)
    return np.sum(u * W)


def broken_off(x: Any, c: Any) -> Any:
    u = x.copy()
    for k in range(5):
        d = u[1:] - u[:-1]
        u[1:] = u[1:] - c * d * d * (1.0 - d)
        if k == 2:
            break
        u[0] = u[1] * u[2]
    return np.sum(u * W)


def prefix(x: Any, c: Any) -> Any:
    """Each element is written once, from those before it: nothing is kept."""
    y = np.zeros_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = np.sin(y[i - 1]) + x[i]
    return np.sum(c * y * W)


def prefix_written_twice(x: Any, c: Any) -> Any:
    y = np.zeros_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = y[i - 1] * x[i] * c
        y[i - 1] = y[i] * y[i - 1]
    return np.sum(y * W)


def triangle(x: Any, c: Any) -> Any:
    A = np.outer(x, x) + c * np.eye(len(x))
    for k in range(len(x) - 1):
        for i in range(k + 1, len(x)):
            A[i, k] = A[i, k] / A[k, k]
            A[i, k + 1 :] -= A[i, k] * A[k, k + 1 :]
    return np.sum(np.sin(A))


def copied_first(x: Any, c: Any) -> Any:
    u = x.copy()
    for _ in range(3):
        un = u.copy()
        u[1:-1] = un[1:-1] - c * un[1:-1] * (un[2:] - un[:-2])
    return np.sum(u**2)


def copied_between(x: Any, c: Any) -> Any:
    """The copy is of another state than that which the product is made of."""
    u = x.copy()
    for _ in range(3):
        u[0] = u[1] * c
        un = u.copy()
        u[1:-1] = un[1:-1] * (u[2:] - un[:-2])
        u[2:] = u[1:-1] * un[2:] * u[:-2]
    return np.sum(u**2)


def copied_and_written(x: Any, c: Any) -> Any:
    u = x.copy()
    for _ in range(3):
        un = u.copy()
        u[1:-1] = un[1:-1] * (un[2:] - un[:-2]) * c
        un[0] = u[1] * c
        u[2:] = un[2:] * un[:-2]
    return np.sum(u**2)


CASES: list[Case] = [
    case(linear, V, W),
    *[case(f, V, 0.7) for f in (nonlinear, swapped, two_versions, written_through_a_view, written_by_a_callee)],
    *[case(f, V, 0.7) for f in (view_taken_early, made_in_the_loop, in_a_branch, broken_off, prefix)],
    *[case(f, V, 0.7) for f in (step_in_a_function, step_in_a_function_of_a_function, value_of_a_function)],
    *[case(f, V[:4], 0.7) for f in (copied_between, copied_and_written)],
    *[case(f, V, 0.7) for f in (copied_first, prefix_written_twice)],
    case(triangle, V, 3.0),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def saves(f: Any, *args: Any) -> list[str]:
    """What the emitted text of a gradient puts on its tapes."""
    text = grad(f, tuple(range(len(args)))).source_for(*args)
    return [line.partition("#")[0].strip() for line in text.splitlines() if ".append(" in line]


@pytest.mark.parametrize(("f", "args"), [(linear, (V, W)), (prefix, (V, 0.7)), (triangle, (V, 3.0))])
def test_nothing_is_kept(f: Any, args: Any) -> None:
    """What is linear, and what stays in an array that is written once, is not saved."""
    assert saves(f, *args) == []


@pytest.mark.parametrize("f", [nonlinear, swapped])
def test_one_array_a_step_is_kept(f: Any) -> None:
    """What is overwritten is saved once, and what was computed from it is computed again."""
    (line,) = saves(f, V, 0.7)
    names = [name.strip() for name in line[line.index("(") :].strip("()").split(",")]
    assert len([name for name in names if "_bar" not in name]) == 1, line


def test_a_copy_that_the_program_makes_is_the_one_that_is_kept() -> None:
    (line,) = saves(copied_first, V, 0.7)
    assert "append(un)" in line
    assert "u_2" not in grad(copied_first).source_for(V, 0.7)


def test_what_a_function_saves_in_a_loop_is_one_array_a_step() -> None:
    text = grad(step_in_a_function, (0, 1)).source_for(V, 0.7)
    forward = text[text.index("def _react_forward") : text.index("def _react_reverse")]
    assert forward.rstrip().splitlines()[-4].strip() == "return u_2"
    assert "u_2 = u.copy()" in forward


def test_a_function_that_computes_again_still_writes_elsewhere() -> None:
    COUNTED[0] = 0.0
    grad(counted_in_the_module, (0, 1))(V, 0.7)
    assert COUNTED[0] == 3.0


def test_a_linear_stencil_runs_no_forward_sweep() -> None:
    text = grad(linear, (0, 1)).source_for(V, W)
    forward = text[: text.index("--- reverse ---")]
    # The loss is of the last values, so the sweep itself runs, and nothing is kept in it.
    assert forward.count("for _ in range(3)") == 1
    assert "copy" not in forward.split("for _ in range(3)")[1]


def columns(p: Any, q: Any, w: Any) -> Any:
    for _ in range(2):
        for j in range(1, 4):
            p[:, j] = p[:, j] * q[:, j - 1] + w[:, j]
            q[:, j] = p[:, j - 1] * q[:, j] + p[:, j]
    return np.sum(np.sin(p * q))


def test_what_is_kept_for_its_shape_is_no_copy() -> None:
    """The text for arguments of which nothing is known keeps views for their shapes, and copies for their elements."""
    args = tuple(np.sin(np.arange(12.0) * k).reshape(3, 4) for k in (0.7, 1.3, 2.9))
    check_gradient(case(columns, *args))
    general = from_file(grad(columns, (0, 1, 2)).source)(*args)
    assert_close(general, grad(columns, (0, 1, 2))(*args), 1e-12)


def heat(x: Any, c: Any) -> Any:
    u = x.copy()
    for _ in range(3):
        lap = np.zeros_like(u)
        lap[1:-1] = u[2:] - 2.0 * u[1:-1] + u[:-2]
        u += 0.1 * c * lap
    return np.sum(u * u * W)


def heat_with_the_one_before(x: Any, c: Any) -> Any:
    """What an iteration made is read by the next, after that has made its own."""
    u, total = x.copy(), 0.0
    old = np.ones_like(x)
    for _ in range(3):
        lap = np.zeros_like(u)
        lap[1:-1] = u[2:] * old[1:-1] - u[:-2]
        lap *= c
        u += lap
        total = total + np.sum(old * lap)
        old = lap
    return total + np.sum(u * u * W)


def read_before_it_is_made(x: Any, c: Any) -> Any:
    total = 0.0
    for k in range(3):
        if k > 0:
            total = total + np.sum(a * a)  # type: ignore[has-type]  # noqa: F821
        a = np.zeros(len(x))
        a += x * c
        a[k] *= x[0]
    return total + np.sum(a)


def kept_in_a_list(x: Any, c: Any) -> Any:
    held = []
    for k in range(3):
        a = np.zeros(len(x))
        a[1:] = x[:-1] * c
        held.append(a)
        a[k] = x[k] ** 2
        a *= 0.5 + np.sum(held[0])
    held[0][1] = 3.0
    return np.sum(held[0] * held[1]) + np.sum(held[2] ** 2)


def shadowed_twice(x: Any, c: Any) -> Any:
    u = x.copy()
    for _ in range(2):
        for k in range(2):
            t = np.zeros(len(x) - 1)
            t[k:] = u[: len(x) - 1 - k] * c
            row = t[1:]
            row *= u[0]
            u[1:] += t * t
    return np.sum(u * W)


def augmented_in_branches(x: Any, c: Any) -> Any:
    u = x * 1.0
    v = u
    for k in range(4):
        if k % 2:
            u += c * v[::-1]
        elif k > 1:
            u *= x
    return np.sum(u * v)


def view_of_what_is_made(x: Any, c: Any) -> Any:
    s = 0.0
    for k in range(3):
        u = x * (k + 1.0)
        row = u[1:]
        row *= u[0] * c
        t = u[1:] - u[:-1]
        u[:-1] = t * t * t
        s = s + np.sum(row * row) * np.sum(u)
    return s


def made_in_nested_loops(x: Any, c: Any) -> Any:
    s = 0.0
    for k in range(2):
        u = x * (k + 1.0)
        for j in range(2):
            v = u * c
            u[j] = v[j + 1] * u[j + 1]
            v[0] *= u[j]
            s = s + np.sum(v * v * u)
        s = s + np.sum(u**3)
    return s


def made_in_a_while_loop(x: Any, c: Any) -> Any:
    s, k = 0.0, 0
    while k < 3:
        u = np.zeros(len(x))
        u[k:] = x[k:] * c
        if k == 1:
            u *= x
        u[:-1] += u[1:] * x[:-1]
        s = s + np.sum(np.sin(u) * u)
        k += 1
        if k == 3:
            break
        s = s * u[0]
    return s + np.sum(u)


def _fill(a: Any, x: Any, c: Any) -> Any:
    a[1:] = x[:-1] * c
    b = a[::2]
    b *= a[1]
    return b


def made_and_filled_by_a_function(x: Any, c: Any) -> Any:
    s = 0.0
    for k in range(3):
        u = np.zeros(len(x))
        b = _fill(u, x * (k + 1.0), c)
        s = s + np.sum(u * u) * np.sum(b)
        u *= x
        s = s + np.sum(b * b)
    return s


MADE = [
    view_of_what_is_made,
    made_in_nested_loops,
    made_in_a_while_loop,
    made_and_filled_by_a_function,
    heat,
    heat_with_the_one_before,
    read_before_it_is_made,
    kept_in_a_list,
    shadowed_twice,
    augmented_in_branches,
]


@pytest.mark.parametrize("f", MADE, ids=lambda f: f.__name__)
def test_what_an_iteration_makes(f: Any) -> None:
    check_gradient(case(f, V, 0.7))


def test_one_array_augmented_has_one_shadow() -> None:
    text = grad(heat, (0, 1)).source_for(V, 0.7)
    assert "u_bar_2" not in text


def copied_by_places(x: Any, c: Any) -> Any:
    y = x * c
    y[0] = 0.1
    v = y[[0, 1, 2, 3]]
    v *= v
    return np.sum(v[1:]) + np.mean(v)


def copied_by_a_mask(x: Any, c: Any) -> Any:
    y = x * c
    y[0] = 0.1
    v = y[x > 0.35]
    v *= np.sin(v)
    for a in v:
        c = c * a
    return c


def copied_in_each_turn(x: Any, c: Any) -> Any:
    y = x * c
    s = 0.0
    for k in range(3):
        v = y[[k, k + 1]]
        v /= v[0] + 2.0
        s = s + np.sum(v[::-1] * v)
        y[k] = s
    return s


@pytest.mark.parametrize("f", [copied_by_places, copied_by_a_mask, copied_in_each_turn], ids=lambda f: f.__name__)
def test_a_copy_of_a_part_is_written_itself(f: Any) -> None:
    check_gradient(case(f, V, 0.7))


def pushed(L: Any) -> Any:
    L.append(0)


def sum_of_squares(x: Any, c: Any) -> Any:
    s = 0.0
    for i in range(c[0]):
        s = s + x[i] ** 2
    return s


def bumped(p: Any) -> Any:
    p[0] += 1


def range_to_an_item_written_later(x: Any) -> Any:
    count = np.array([len(x)])
    s = 0.0
    for i in range(count[0]):
        s = s + x[i] ** 2
    count[0] = 0
    return s


def range_to_an_item_written_inside(x: Any) -> Any:
    count = np.array([len(x)])
    s = 0.0
    for i in range(count[0]):
        s = s + x[i] ** 2
        count[0] -= 1
    return s


def range_to_the_length_of_a_list(x: Any) -> Any:
    L = [1, 2, 3]
    s = 0.0
    for i in range(len(L)):
        s = s + x[i] ** 2
        L.pop()
    return s


def range_to_a_length_that_a_function_changes(x: Any) -> Any:
    L = [1, 2, 3]
    s = 0.0
    for i in range(len(L)):
        s = s + x[i] ** 2
        pushed(L)
    return s


def range_of_three_numbers_read(x: Any) -> Any:
    p = np.array([1, 2])
    s = 0.0
    for i in range(p[0], p.sum(), p[0]):
        s = s + x[i] ** 2
    p[:] = 0
    return s


def range_in_a_function(x: Any) -> Any:
    c = np.array([3])
    s = sum_of_squares(x, c)
    c[0] = 0
    return s * sum_of_squares(x, c + 1)


def range_of_an_inner_loop(x: Any) -> Any:
    p = np.array([1])
    s = 0.0
    for i in range(3):
        for j in range(p[0]):
            s = s + x[j] ** 2 * x[i]
        p[0] += 1
    return s


def range_to_a_rounded_item(x: Any) -> Any:
    y = x * 1.0
    s = 0.0
    for i in range(int(y[0] * 3) + 1):
        s = s + x[i] ** 2
        y[0] = 0.0
    return s * y[1]


def stored_and_written_by_a_view(x: Any) -> Any:
    n = len(x)
    y = np.zeros((n, n))
    s = 0.0
    for i in range(n):
        t = x * x[i]
        y[i] = t
        w = t[::-1]
        w *= 2.0
        s = s + (t * t).sum()
    return s + (y * y).sum()


def stored_as_an_integer(x: Any) -> Any:
    n = len(x)
    cell = np.zeros(n, dtype=int)
    s = 0.0
    for i in range(n):
        p = i / 1.7 + 0.6
        cell[i] = p
        s = s + (p - cell[i]) * x[i] ** 2
    return s


def stored_in_single_precision(x: Any) -> Any:
    n = len(x)
    y = np.zeros(n, dtype=np.float32)
    s = 0.0
    for i in range(n):
        t = x[i] * 1.1
        y[i] = t
        s += t * t
    return s + y[0] * 0.0


def stored_and_summed(x: Any) -> Any:
    n = len(x)
    y = np.zeros(n)
    s = 0.0
    for i in range(n):
        t = x[i] * x[i]
        y[i] = t
        s = s + t * t
    return s + y.sum()


def size_written_later(x: Any) -> Any:
    p = np.array([len(x)])
    y = np.zeros(p[0])
    y[:] = x * x
    p[0] = 1
    y *= y
    return y.sum()


def size_of_a_list_that_grows(x: Any) -> Any:
    L = [1] * len(x)
    y = np.zeros(len(L))
    y[:] = x * x
    pushed(L)
    return (y * y).sum()


def places_that_differ(x: Any) -> Any:
    A = np.outer(np.arange(1.0, 5.0), x)
    p = np.zeros(1, dtype=int)
    a = p[0]
    p[0] += 1
    b = p[0]
    v = A[b - a]
    s = np.sin(v).sum()
    A[1] = 2.0
    return s


def places_that_a_function_changes(x: Any) -> Any:
    A = np.outer(np.arange(1.0, 5.0), x)
    p = np.zeros(1, dtype=int)
    a = p[0]
    bumped(p)
    b = p[0]
    v = A[b - a]
    s = np.sin(v).sum()
    A[1] = 2.0
    return s


def places_in_a_loop(x: Any) -> Any:
    y = x * 1.0
    s = 0.0
    p = np.zeros(1, dtype=int)
    for i in range(3):
        a = p[0]
        p[0] += 1
        b = p[0]
        v = y[i + b - a]
        s += v**2
        y[i + 1] = 2.0
    return s


def stored_and_written(x: Any) -> Any:
    n = len(x)
    y = np.zeros((n, n))
    s = 0.0
    for i in range(n):
        t = x * x[i]
        y[i] = t
        t[1:] *= t[:1]
        s = s + (t * t).sum()
    return s + (y * y).sum()


def stored_rows_of_which_one_is_read(x: Any) -> Any:
    n = len(x)
    y = np.zeros((n, n))
    s = 0.0
    for i in range(n):
        t = x * x[i]
        y[i] = t
        s = s + (t * t).sum()
    return s + y[0, 0]


READ_AGAIN = [
    range_to_an_item_written_later,
    range_to_an_item_written_inside,
    range_to_the_length_of_a_list,
    range_to_a_length_that_a_function_changes,
    range_of_three_numbers_read,
    range_in_a_function,
    range_of_an_inner_loop,
    range_to_a_rounded_item,
    stored_and_written_by_a_view,
    stored_as_an_integer,
    stored_in_single_precision,
    stored_and_summed,
    size_written_later,
    size_of_a_list_that_grows,
    places_that_differ,
    places_that_a_function_changes,
    places_in_a_loop,
    stored_and_written,
    stored_rows_of_which_one_is_read,
]


@pytest.mark.parametrize("f", READ_AGAIN, ids=lambda f: f.__name__)
def test_what_is_read_again_is_what_it_was(f: Any) -> None:
    check_gradient(case(f, V))


def row_of_the_turn_before(x: Any) -> Any:
    a = np.outer(x, x)
    s = 0.0
    for i in range(4):
        if i > 0:
            t = row.copy()  # noqa: F821
            s = s + np.sum(x * t * (t + 1.0) * (t - 2.0))
        row = a[i]
        row[0] = 2.0 * x[i]
    return s


def row_of_the_turn_before_of_constants(x: Any) -> Any:
    a = np.outer(W, W)
    s = 0.0
    for i in range(4):
        if i > 0:
            t = row.copy()  # noqa: F821
            s = s + np.sum(x * t * (t + 1.0) * (t - 2.0))
        row = a[i]
        row *= 2.0
    return s


def row_of_a_while_loop(x: Any) -> Any:
    a = np.outer(x, W)
    s, i = 0.0, 0
    while i < 4:
        if i > 1:
            t = row.copy()  # noqa: F821
            s = s + np.sum(t * (t + 1.0) * (t - 2.0))
        row = a[i]
        row[1:] = row[:-1] * row[1:]
        i += 1
    return s


def rows_in_a_function(x: Any) -> Any:
    return _of_rows(np.outer(x, W), x) + np.sum(x)


def _of_rows(a: Any, x: Any) -> Any:
    s = 0.0
    for i in range(4):
        if i > 0:
            t = row.copy()  # noqa: F821
            s = s + np.sum(x * t * (t + 1.0) * (t - 2.0))
        row = a[i]
        row[...] = row * x[i]
    return s


ROWS = [row_of_the_turn_before, row_of_the_turn_before_of_constants, row_of_a_while_loop, rows_in_a_function]


@pytest.mark.parametrize("f", ROWS, ids=lambda f: f.__name__)
def test_rows_of_the_turn_before_are_saved(f: Any) -> None:
    check_gradient(case(f, V))
    assert grad(f).source
