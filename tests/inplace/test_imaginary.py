"""Real and imaginary parts of complex arrays as views: written through, written under them, and assigned."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UnsupportedError
from tests.language.support import Case, case, check_gradient, check_primal
from tests.oracle import numeric_gradient

V = np.array([0.3, 0.8, 0.5])
W = np.array([0.9, -0.4, 0.6])


def stored_through(x: Any) -> Any:
    z = np.zeros(3, complex)
    z.imag[:] = x * x
    z.real[:] = x
    return np.sum(np.abs(z) ** 2 * x)


def assigned(x: Any) -> Any:
    z = np.zeros(3, complex)
    z.real, z.imag = x, x * x
    return np.sum((z * z).real * x)


def assigned_augmented(x: Any) -> Any:
    z = np.zeros(3, complex)
    z[:] = x
    z.imag += x * x
    z *= 1 + 2j
    z.imag -= x
    z.real *= x
    return np.sum(z.imag * x + z.real)


def assigned_in_rows(x: Any) -> Any:
    z = np.zeros((2, 3), complex)
    z[0].imag = x
    z[1].real = x * x
    z.T[0].imag += 2 * x[:2]
    return np.sum((z * z * (1 + 1j)).real * x)


def named_and_written(x: Any) -> Any:
    z = np.zeros(3, complex)
    y = z.imag
    y[:] = x * x
    return np.sum(z.imag * x)


def named_and_read_after_the_whole_is_written(x: Any) -> Any:
    z = np.zeros(3, complex)
    y = z.imag
    z[:] = x * x * (1 + 2j)
    return np.sum(y * x) + y[0] * x[1]


def copied_before(x: Any) -> Any:
    z = x * (1 + 2j)
    y = z.imag.copy()
    z[:] = x * x * (1 + 2j)
    return np.sum(y * x + z.imag * x)


def parts_of_parts(x: Any) -> Any:
    z = np.zeros(3, complex)
    z[:] = x * x * (1 + 2j)
    y = z.imag.reshape(3, 1)
    y[:, 0] -= x
    w = z.imag[::-1]
    w[0] = x[1] ** 3
    z.imag.T[1] *= x[0]
    return np.sum(z.imag[0] * x + z.imag[::-1] * x) + np.sum(np.abs(z))


def both_in_a_loop(x: Any) -> Any:
    z = x.astype(complex)
    u, v = z.real, z.imag
    for _ in range(3):
        v += 0.1 * u
        u -= 0.1 * v * x
    return np.sum(np.abs(z) * x)


def elements_in_a_loop(x: Any) -> Any:
    z = np.zeros(3, complex)
    for i in range(3):
        z.imag[i] = x[i] ** 2
        z.real[i] += z.imag[i - 1]
    return np.sum(np.abs(z) ** 2 * x)


def every_store(x: Any) -> Any:
    z = x * (1 + 2j)
    np.add(z.imag, x, out=z.imag)
    np.add.at(z.imag, [0, 0], x[:2])
    np.subtract.at(z.imag, [1, 1], x[:2])
    z.imag[[0, 1]] *= x[:2]
    z.imag[np.array([True, False, True])] = x[1:]
    z.imag[[0, 0]] += x[1:]
    z.imag[np.array([True, True, False])] -= x[1:]
    np.copyto(z.imag, 2 * z.imag)
    z.imag[...] **= 2
    a = z.imag.T
    a -= x
    a /= 1 + x
    np.put(z.imag, [0, 2], x[:2])
    return np.sum(np.abs(z) ** 2)


def filled(x: Any) -> Any:
    z = x * (1 + 2j)
    z.imag.fill(x[0])
    a = z.imag
    a -= x
    return np.sum(np.abs(z) ** 2)


def sorted_and_diagonal(x: Any) -> Any:
    z = np.outer(x, x + 1) * (1 + 2j)
    a, b, c = z.imag
    a *= x
    b += x * a
    np.fill_diagonal(z.imag, x)
    d = np.diagonal(z.imag)
    z.imag.sort()
    return np.sum(np.abs(z) ** 2) + np.sum(d * x) + np.sum(c)


def rows(x: Any) -> Any:
    z = np.zeros((3, 3), complex)
    z += x[:, None] * (1 + 3j) * x
    s = 0.0
    for row in z.imag:
        row *= x
        s = s + np.sum(row * row)
    return s + np.sum(np.abs(z) ** 2)


def halves(x: Any) -> Any:
    z = np.concatenate([x, 2 * x]) * (1 + 2j)
    a, b = np.split(z.imag, 2)
    a *= x
    b += x * a
    return np.sum(np.abs(z) ** 2)


def rebound(x: Any) -> Any:
    z = np.outer(x, x) * (1 + 2j)
    y = z.imag
    t = 0.0
    for _ in range(3):
        y[1:] = y[:-1] * y[1:] + x
        t = t + np.sum(y)
        z = z * 1.5
        y = z.imag
    return t + np.sum(np.abs(z) ** 2)


def functions_of_numpy(x: Any) -> Any:
    z = np.zeros(3, complex)
    w = np.imag(z)
    w[:] = x * x
    u = np.real(z)
    u[:] = 3 * x
    r = z[::-1]
    r *= 1j * x
    return np.sum(w * x) + np.sum(u)


def of_a_real_array(x: Any) -> Any:
    z = x.copy()
    v = z.imag
    z *= x
    w = z.imag
    return np.sum(z) + np.sum(v * x) + np.sum(w[::-1] * x)


def add_to(v: Any, x: Any) -> None:
    v += x


def mixed(u: Any, v: Any, x: Any) -> Any:
    for i in range(2):
        v[i] += u[i] * x[i]
        u[i] = v[i - 1] ** 2
    add_to(v, u * x)
    w = v[::-1]
    w *= 2
    return np.sum(u * w)


def passed(x: Any) -> Any:
    z = x * (1 + 2j)
    s = mixed(z.real, z.imag, x)
    s = s + mixed(z.imag, z.real, x)
    s = s + mixed(z.imag, x.copy(), x)
    return s + np.sum(np.abs(z) ** 2)


def passed_in_a_loop(x: Any) -> Any:
    z = x * (1 + 2j)
    y = z.imag
    for i in range(3):
        add_to(y, x)
        add_to(z.real, y)
        y[i % 2] *= x[0]
    return np.sum(np.abs(z) ** 2)


def descend(v: Any, x: Any, n: int) -> Any:
    if n == 0:
        return np.sum(v * x)
    v *= x
    return descend(v, x + 1, n - 1) + v[0]


def passed_down(x: Any) -> Any:
    z = x * (1 + 2j)
    return descend(z.imag, x, 3) + np.sum(np.abs(z) ** 2)


def rotate(z: Any, x: Any) -> Any:
    z.imag[:] = x**2
    z.real = x
    return np.sum(np.abs(z) ** 2 * z.imag)


def written_by_a_callee(x: Any) -> Any:
    z = np.zeros(3, complex)
    return rotate(z, x)


def spread(t: Any) -> Any:
    return np.broadcast_to(t, (2, 3)) * 1.0, 0.8


def refilled(t: Any) -> Any:
    a = np.zeros(t.shape)
    a[0] = t[0] * t[1]
    a[1:] = t[1:] * 0.5
    return a, 0.8


def imaginary_part_of_real_results(x: Any) -> Any:
    w, _ = spread(np.zeros(3))
    w[:, 1] -= x[0]
    s, k = spread(w)
    return np.mean(np.imag(s)) + np.sum(s * x) * k


def imaginary_part_of_what_a_function_fills(x: Any) -> Any:
    w, _ = spread(x)
    s, k = refilled(w)
    s[0] *= s[1]
    return np.mean(s.imag) + np.sum(s * x) * k


def made_complex_and_real_again(x: Any) -> Any:
    w, _ = spread(x)
    s, k = refilled(w * 1.0)
    y = s * (1.0 + 2.0j)
    return np.sum(y.imag * x) + np.sum(np.angle(s + 0.1)) * k


def imaginary_part_inside(t: Any) -> Any:
    return np.imag(t) * 2.0 + np.real(t) ** 2, 0.8


def imaginary_part_in_a_function(x: Any) -> Any:
    w, _ = spread(np.zeros(3))
    w[0] += x * x
    s, k = imaginary_part_inside(w)
    return np.sum(s * x) * k


def last_item(t: Any) -> Any:
    for _ in range(2):
        a = np.imag(t + 0.4j)
        t = (np.full((3, 3), 0.4) * np.sum(t) - a.mean())[1]
    return np.mean(t)


def imaginary_part_of_an_item(x: Any) -> Any:
    s = x * 1.0
    n = last_item(x)
    s[::2] = x[::2] * n
    return np.sum(s) + n


CASES = [
    case(f, x, name=f"{f.__name__}_{name}")
    for name, x in {"positive": V, "mixed": W}.items()
    for f in (
        imaginary_part_of_real_results,
        imaginary_part_of_what_a_function_fills,
        made_complex_and_real_again,
        imaginary_part_in_a_function,
        imaginary_part_of_an_item,
        stored_through,
        assigned,
        assigned_augmented,
        assigned_in_rows,
        named_and_written,
        named_and_read_after_the_whole_is_written,
        copied_before,
        parts_of_parts,
        both_in_a_loop,
        elements_in_a_loop,
        every_store,
        filled,
        sorted_and_diagonal,
        rows,
        halves,
        rebound,
        functions_of_numpy,
        of_a_real_array,
        passed,
        passed_in_a_loop,
        passed_down,
        written_by_a_callee,
    )
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def complex_argument(z: Any) -> Any:
    y = z.imag
    y *= 2
    z.real = y * z.real
    return np.sum(z.real * y)


def test_a_complex_argument() -> None:
    z = np.array([0.3 + 0.2j, -0.5 + 0.7j])
    before = z.copy()
    g = grad(complex_argument)(z)
    np.testing.assert_array_equal(z, before)
    # With z = u + iv the loss is 4 u v^2, and the gradient d/du - i d/dv.
    np.testing.assert_allclose(g, 4 * z.imag**2 - 1j * 8 * z.real * z.imag, rtol=1e-14)


def either(x: Any) -> Any:
    z = x * (1 + 2j)
    w = x.copy()
    v = z.imag if x[0] > 0 else w
    v *= x
    return np.sum(np.abs(z)) + np.sum(w)


def in_a_list(x: Any) -> Any:
    z = x * (1 + 2j)
    h = [z.imag, z.real]
    h[0] *= x
    return np.sum(np.abs(z))


def imaginary(z: Any) -> Any:
    return z.imag


def returned(x: Any) -> Any:
    z = np.zeros(3, complex)
    y = imaginary(z)
    y[:] = x * x
    return np.sum(np.abs(z) * x)


def test_imaginary_part_in_a_list() -> None:
    check_gradient(case(in_a_list, V))


@pytest.mark.parametrize("f", [either, returned])
def test_what_holds_an_imaginary_part_or_another_array_is_refused(f: Any) -> None:
    with pytest.raises(UnsupportedError, match="written in place"):
        grad(f)(V)


@dataclasses.dataclass
class Parts:
    """Parts that are no parts of an array."""

    real: float
    imag: float


def parts_of_no_array(x: Any) -> Any:
    p = Parts(1.0, 2.0)
    p.imag = 3.0
    return np.sum(x) * p.imag


def test_a_part_of_what_is_no_array() -> None:
    np.testing.assert_array_equal(grad(parts_of_no_array)(V), np.full(V.shape, 3.0))


# --- parts of one array stored into another, copies that stay copies


def real_into_imaginary(x: Any) -> Any:
    z = np.outer(x, x) * (1 + 2j)
    z.imag[0] = z.real[1]
    return np.sum(z.imag * z.real**2)


def parts_exchanged(x: Any) -> Any:
    z = x * (1 + 2j)
    z.real, z.imag = z.imag, z.real
    y = x * 2.0
    y[0] = x[1]
    z.imag[:] = y
    return np.sum(np.abs(z) ** 2 * z.imag)


PAIRS = (np.array([0.7, 1.3]), np.array([0.5, -0.2]))


@pytest.mark.parametrize("x", PAIRS, ids=str)
@pytest.mark.parametrize("f", [real_into_imaginary, parts_exchanged], ids=lambda f: f.__name__)
def test_parts_of_one_array_stored_into_another(f: Any, x: Any) -> None:
    check_primal(case(f, x))
    check_gradient(case(f, x))


# --- parts of one array that functions are given and return


def pair(a: Any, b: Any) -> Any:
    return a, b


def imaginary_beside_real(x: Any) -> Any:
    z = x + 2j * x
    y, v = pair(z.imag, z.real)
    z.imag[1] += 1.0
    return np.sum(np.tanh(v) * y)


def accumulated(a: Any, n: float) -> Any:
    a[0] *= a[1] * n
    for i in range(2):
        a[i] += a[i + 1]
    return a


def returned_as_it_is(x: Any) -> Any:
    z = x + 1j * np.sin(x)
    y = accumulated(z.imag, x[2])
    y[1] = 3 * y[0]
    v = accumulated(z.real, x[1])
    v[0] *= y[1]
    return np.sum(np.abs(z)) + np.sum(y * v)


def exchanged(a: Any, b: Any) -> Any:
    for i in range(2):
        a[i] = b[i + 1]
    return b, a


def returned_in_another_order(x: Any) -> Any:
    z = x + 1j * np.sin(x)
    a, b = exchanged(z.imag, z.real)
    b[1] *= 2.0
    c, d = exchanged(a, b)
    c[1] = a[2]
    return np.sum(c * d * np.abs(z)) + np.sum(a * b)


def product_and_part(a: Any, b: Any) -> Any:
    for i in range(2):
        a[i] = b[i + 1]
    return b * a, a


def returned_beside_a_product(x: Any) -> Any:
    z = x + 1j * np.sin(x)
    a, b = product_and_part(z.imag, z.real)
    b[1] *= 2.0
    c, d = product_and_part(z.real, z.imag)
    return np.sum(np.tanh(a) * x) + np.sum(c * d * np.abs(z))


GIVEN = [imaginary_beside_real, returned_as_it_is, returned_in_another_order, returned_beside_a_product]


@pytest.mark.parametrize("x", [V, W], ids=str)
@pytest.mark.parametrize("f", GIVEN, ids=lambda f: f.__name__)
def test_parts_that_functions_return(f: Any, x: Any) -> None:
    """Which result has a shadow of the other sign is known of each result by itself."""
    check_primal(case(f, x))
    check_gradient(case(f, x))


C = np.array([0.3 + 0.2j, 1.0 - 0.7j, 0.1j])
PICKLED = pickle.dumps(C)


def sums_of_pairs(x: Any, c: Any) -> Any:
    z = np.add.outer(x, c)
    x[...] = np.sin(x)
    return np.sum(np.real(z * c)) + np.sum(x * x)


def least_squares(x: Any, c: Any) -> Any:
    z = np.linalg.lstsq(np.outer(x, x) + np.eye(3), c)[0]
    m = x[:2]
    m *= x[2]
    return np.sum(z.imag) + np.sum(x * x)


def of_what_nobody_knows(x: Any, c: Any) -> Any:
    b = pickle.loads(PICKLED)
    z = np.multiply.outer(x, b)
    x[...] = np.sin(x)
    return np.sum(np.real(z * b)) + np.sum(x * x)


@pytest.mark.parametrize("f", [sums_of_pairs, least_squares, of_what_nobody_knows], ids=lambda f: f.__name__)
def test_real_arrays_that_are_written_beside_complex_ones(f: Any) -> None:
    """Their shadows have no room for complex adjoints, of whatever kind these are known to be."""
    slope = grad(f)(V, C)
    np.testing.assert_allclose(slope, numeric_gradient(lambda x: f(x.copy(), C), [V]), rtol=1e-8)
