"""Adjoints that are written as a person would: of new axes, transposes, items of tuples, rows of labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from tests.oracle import numeric_gradient

RNG = np.random.default_rng(5)
X, Y, V = RNG.standard_normal((4, 3)), RNG.standard_normal((4, 3)), RNG.standard_normal(3)
LABELS = np.array([0, 2, 1, 2])


def new_axes(x, v):
    a = x[:, None, :] - v[None, None]
    return np.sum(a**3) + np.sum(x[..., None] * v) + np.sum(v[None]) + np.sum(np.sin(v)[:, None] * v)


def new_axis_of_what_is_written(x, v):
    a = x * 1.0
    b = a[:, None]
    a[1] = v
    b[0, 0, 2] = v[0]
    return np.sum(b**2) + np.sum(a[None] ** 3)


def spread_sums(x, v):
    m, s = x.mean(axis=1), x.std(axis=0)
    total = np.sum(x, axis=(0, 1)) * np.sum(x.var(axis=(0, 1), ddof=1))
    return np.sum(m[:, None] * x * v) + np.sum(s / (1.0 + v**2)) + total + np.sum(np.mean(x, axis=-2) ** 2)


def products(x, v):
    a, t = x @ x.T, x.T
    b = (t @ x).T @ t
    c = np.outer(v, x[0]).T + np.outer(x, v)[:3]
    return np.sum(np.sin(a)) + np.sum(b * x.T) + np.sum(c**3) + np.sum(t.T @ v)


def picked(x, v):
    p = x - np.log(np.sum(np.exp(x), axis=1))[:, None]
    rows = np.arange(len(LABELS))
    square = np.sum(p[np.arange(2), LABELS[1::2, None]] ** 2)
    return np.sum(p[rows, LABELS] * 0.5) + p[rows, LABELS] @ rows + square + np.sum(v[LABELS] ** 2)


def masked(x, v):
    """Masks name each element once, the numbers that are made of them do not."""
    inside = np.sum(x[(x > -0.5) & ~(x > 0.7)] ** 3) + np.sum(x[np.isfinite(x) ^ (x < 0.0)] ** 2)
    return inside + np.sum(x[(v > 0.0) * 1] ** 2) + np.sum(x[:3][x[:3] != v]) + np.sum(v[(x > 9.0)[0]])


def parts(x, v):
    a = x.T @ x
    found = np.linalg.eigh(a)
    w, q = found
    return np.sum(w**2) + found[0][1] * found.eigenvalues[0] + np.sum(q[:, 0] ** 2 * v) + np.linalg.slogdet(a)[1]


def unpacked(x, v):
    row = np.exp(v)
    a, b, c = row
    d, _, e = row
    return a * b * np.sum(x) + c * d + e**2 + row[0]


def joined(x, v):
    a, b = np.concatenate([x, x[:, :2]], axis=-1), v**2
    c = np.concatenate((v, b, x[0])) * np.arange(9.0)
    d = np.vstack([x, v, b[None]]) + np.column_stack([np.cos(v)[[0, 1, 2, 0, 1, 2]], np.ones((6, 2))])
    e = np.hstack([v, b, c[:3]]) @ np.hstack([b, v, c[3:6]]) + np.sum(np.stack([x, x**2], axis=1)[:, 1] ** 2)
    return np.sum(a**2) + np.sum(c**2) + np.sum(d**3) + e


def turns(x, v):
    """What loops compute again and again, what only the inner one does, and turns that there are none of."""
    total = 0.1 * np.sum(v)
    for i in range(3):
        w = v * (i + 1.0)
        for j in range(i):
            a, scale = x.T @ x, v * 2.0
            if j > 0:
                b = a * v
                total = total + 0.1 * np.sum(np.sin(b) * w)
            c = w * 2.0
            total = total + 0.1 * np.sum(c * scale * np.cos(total))
        if total > 1e6:
            late = v**3
            total = total * np.sum(late)
            break
    return total


def turns_of_callees(x, v):
    return turns(x, v) * turns(x * v, v[::-1])


def written_meanwhile(x, v):
    u, out = x.copy(), np.zeros((3, 3))
    for i in range(3):
        t = u[0] * 2.0
        u[i + 1] = np.sin(t) * u[i + 1]
        out += t[:, None] * v
        u[0] += out[i] * 0.1
        out += u[:3] * v[i]
        if i == 1:
            v = v * 1.5
    return np.sum(out**2) + np.sum(u**3)


WEIGHTS = np.array([0.3, -0.2, 0.5])


def rows_beside_constants(x, v):
    """A matrix of numbers, with rows that are constant lists, tuples or arrays."""
    c, s = np.cos(v[0]), np.sin(v[1])
    turn = np.array([[c, -s, 0], [s, c, v[2]], [0, 0, 1]])
    row = [0, 0.5, 2]
    scale = np.array((WEIGHTS, (x[0, 0], 2, s * c), row, list(WEIGHTS)))
    return np.sum((turn @ x.T) ** 2) + np.sum(scale * x)


def halved(a, w):
    a[:-1] = np.sin(a[1:] * w)
    return a[:2]


def shadows_of_copies(x, v):
    """Copies that a callee writes in every turn: their shadows begin with the same zeros, but do not last."""
    total = 0.0
    for i in range(3):
        total = total + np.sum(halved(x.T.reshape(4, 3), v[i]) ** 2)
        v = v * 1.5
    return total


def items_in_branches(x, v):
    """Items of tuples whose adjoint may be the number 0.0, where the branch that reads them is not taken."""
    pair = (x * 2.0, np.sin(v))
    total = np.sum(pair[0] ** 2)
    if total > 0.0:
        a, b = pair
        wide = b[:, None]
    if total > 1e9:
        total = total + np.sum(a**3) * np.sum(wide)
    return total + pair[1] @ pair[0][0]


CASES = [
    new_axes,
    new_axis_of_what_is_written,
    spread_sums,
    products,
    picked,
    masked,
    parts,
    unpacked,
    joined,
    turns,
    turns_of_callees,
    written_meanwhile,
    rows_beside_constants,
]
#: Second derivatives of these are refused.
ONCE = [shadows_of_copies, items_in_branches]


@pytest.mark.parametrize("f", CASES + ONCE, ids=lambda f: f.__name__)
def test_gradients(f: Callable[..., Any]) -> None:
    found = grad(f, (0, 1))(X, V)
    for position in (0, 1):
        expected = numeric_gradient(f, (X, V), position)
        np.testing.assert_allclose(found[position], expected, rtol=1e-7, atol=1e-8)
    assert not np.shares_memory(*found)
    for one in found:
        assert one.flags.writeable
        assert not any(np.shares_memory(one, a) for a in (X, V))


@pytest.mark.parametrize("f", CASES, ids=lambda f: f.__name__)
def test_second_derivatives(f: Callable[..., Any]) -> None:
    def along(x, v):
        return np.sum(grad(f)(x, v) * Y)

    expected = numeric_gradient(along, (X, V))
    np.testing.assert_allclose(grad(along)(X, V), expected, rtol=1e-6, atol=1e-6)
    _, moved = jvp(along, (X, V), (X, 0 * V))
    np.testing.assert_allclose(moved, np.sum(expected * X), rtol=1e-6)


def test_numbers_of_a_matrix_are_read_in_their_places() -> None:
    """Nothing is made in the form of the display, which has constant rows."""
    text = grad(rows_beside_constants, (0, 1)).source_for(X, V)
    assert " like(" not in text
    assert "c_bar + turn_bar[1, 1]" in text


def test_parts_of_a_tuple_are_arrays_of_their_own() -> None:
    def f(p):
        a, b = p
        return np.sum(a + b)

    a_bar, b_bar = grad(f)((V, V))
    assert not np.shares_memory(a_bar, b_bar)
    np.testing.assert_array_equal(a_bar, b_bar)


@pytest.mark.parametrize("labels", [np.array([0, 2, 2]), np.array([2])], ids=["repeated", "one"])
def test_labels_of_one_row(labels: Any) -> None:
    """One row has an element for each label, which may be the same."""

    def f(p):
        return np.sum(p[np.arange(len(p)), labels] ** 2)

    def of_counted_labels(p, found):
        return np.sum(p[np.arange(len(found)), found] ** 2)

    np.testing.assert_allclose(grad(f)(V[None]), numeric_gradient(f, (V[None],)), rtol=1e-9)
    args = (np.ones((len(labels), 3)) * V, labels)
    expected = numeric_gradient(of_counted_labels, args)
    np.testing.assert_allclose(grad(of_counted_labels)(*args), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value", "ignore:Degrees of freedom")
@pytest.mark.parametrize("reduce", [np.mean, np.var, lambda a: np.sum(a.mean(axis=0))], ids=["mean", "var", "axis"])
@pytest.mark.parametrize("part", [np.s_[:0], np.s_[9:]], ids=["none", "behind"])
def test_means_of_nothing(reduce: Callable[[Any], Any], part: Any) -> None:
    np.testing.assert_array_equal(grad(lambda x: reduce(x[part]) + np.sum(x))(V), np.ones(3))
    np.testing.assert_array_equal(grad(lambda x: reduce(x[x > 99.0]) + np.sum(x))(V), np.ones(3))
    assert grad(reduce)(V[:0]).shape == (0,)


def test_masks_are_added_to_in_place() -> None:
    def f(x):
        kept = x > 0.0
        return np.sum(x[kept] ** 2)

    text = grad(f).source_for(V)
    assert "x_bar[kept] = " in text or "x_bar[kept] += " in text


def scaled(x, eps=1e-5):
    centred = x - np.mean(x)
    return centred / np.sqrt(np.mean(centred**2) + eps)


def test_numbers_by_default_are_known() -> None:
    """A root of what is not zero needs no check in a callee, unless a call gives it another number to add."""

    def by_default(x):
        return np.sum(scaled(x) * V)

    def given(x):
        return np.sum(scaled(x, 0.0) * V)

    for f in (by_default, given):
        np.testing.assert_allclose(grad(f)(V), numeric_gradient(f, (V,)), rtol=1e-7, atol=1e-9)
        assert ("else 0.0" in grad(f).source_for(V)) == (f is given)
    assert np.all(np.isfinite(grad(by_default)(np.ones(3))))


def test_zeros_in_loops_are_like_what_lives_as_long_as_the_function() -> None:
    def recurrent(params, xs):
        w, u, b = params
        h, n = np.zeros(u.shape[1]), u.shape[1]
        for x in xs:
            z = w @ x + u @ h + b
            h = np.tanh(z[:n]) * np.sin(z[n : 2 * n]) + z[2 * n :]
        return np.sum(h**2)

    shapes = ((9, 2), (9, 3), (9,))
    params = tuple([RNG.standard_normal(shape) * 0.4 for shape in shapes])
    xs = RNG.standard_normal((4, 2))
    found, expected = grad(recurrent)(params, xs), numeric_gradient(recurrent, (params, xs))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-8)
    text = grad(recurrent).source_for(params, xs)
    assert "z_bar = np.zeros_like(b)" in text
    short = tuple([p.astype(np.float32) for p in params])
    for one, other in zip(grad(recurrent)(short, xs), expected, strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def columns(a):
    """Each column without its part along those before it, which nothing writes again."""
    for j in range(a.shape[1]):
        a[:, j] -= 0.3 * a[:, :j] @ (a[:, :j].T @ a[:, j])
    return a


def through_a_transpose(a, b):
    t = a[:2].T
    return b @ np.sin(t @ a[:2, 0])


def test_views_of_what_stays_are_not_saved_and_transposes_are_written_into_straight() -> None:
    def f(x, v):
        a = columns(x * 1.0)
        return np.sum(a**2) + through_a_transpose(a, v)

    for position, found in enumerate(grad(f, (0, 1))(X, V)):
        np.testing.assert_allclose(found, numeric_gradient(f, (X, V), position), rtol=1e-8, atol=1e-9)
    text = grad(f, (0, 1)).source_for(X, V)
    forward = text[text.index("def columns_forward") : text.index("def columns_reverse")]
    assert forward.count(".copy()") == 1
    assert ".T[...]" not in text
    assert ".T.T" not in text


def added(a):
    c = np.zeros((len(a), 2))
    for i in range(len(a)):
        c[i] += a[i, :2] * 2.0
    return c


def of_its_shape(a):
    c = np.zeros((len(a), 2))
    for i in range(len(a)):
        c[i] += a[i, :2] ** 2
    return c * 2.0


def test_what_broadcasts_is_the_adjoint_of_a_result_that_is_only_added_up() -> None:
    """Nothing of the forward half is read then, not even the shape of its result."""

    def summed(x):
        result = added(x)
        return 3.0 * np.sum(result)

    def weighed(x):
        return np.sum(added(x) * V[:2]) + np.sum(added(x)[1:])

    def of_shape(x):
        return np.mean(of_its_shape(x))

    for f in (summed, weighed, of_shape):
        np.testing.assert_allclose(grad(f)(X), numeric_gradient(f, (X,)), rtol=1e-8, atol=1e-9)
    text = grad(summed).source_for(X)
    assert "added_reverse(x)" in text
    assert "added_forward" not in text
