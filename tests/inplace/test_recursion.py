"""Functions that call themselves, and write into what they are given, make or get back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UnsupportedError
from tests.language.support import PLACE, Case, case, check_gradient, check_primal

RNG = np.random.default_rng(5)
V = np.array([0.3, 0.4, 0.8])


def smooth(u: Any, f: Any, h: float, times: int) -> None:
    for _ in range(times):
        u[1:-1] += 0.4 * (u[2:] - 2.0 * u[1:-1] + u[:-2] - h * h * f[1:-1])


def v_cycle(u: Any, f: Any, h: float) -> Any:
    """Briggs, Henson and McCormick, A Multigrid Tutorial, chapter 3."""
    if len(u) <= 3:
        u[1] = 0.5 * (u[0] + u[2] - h * h * f[1])
        return u
    smooth(u, f, h, 2)
    r = np.zeros_like(u)
    r[1:-1] = f[1:-1] - (u[2:] - 2.0 * u[1:-1] + u[:-2]) / (h * h)
    coarse = r[::2].copy()
    coarse[1:-1] = 0.25 * r[1:-3:2] + 0.5 * r[2:-2:2] + 0.25 * r[3:-1:2]
    e = v_cycle(np.zeros_like(coarse), coarse, 2.0 * h)
    fine = np.zeros_like(u)
    fine[::2] = e
    fine[1::2] = 0.5 * (e[:-1] + e[1:])
    u += fine
    smooth(u, f, h, 2)
    return u


def multigrid(f: Any) -> Any:
    u = np.zeros(17)
    for _ in range(2):
        u = v_cycle(u, f, 1.0 / 16.0)
    return np.sum(u**2)


def multigrid_written_between(f: Any) -> Any:
    u = v_cycle(np.zeros(9), f, 1.0 / 8.0)
    u *= 2.0
    e = v_cycle(u, f, 1.0 / 8.0)
    e[3] = f[2] * e[1]
    return np.sum(e**2)


def fft(x: Any) -> Any:
    n = len(x)
    if n == 1:
        return x.astype(complex)
    even, odd = fft(x[::2]), fft(x[1::2])
    odd *= np.exp(-2j * np.pi * np.arange(n // 2) / n)
    out = np.empty(n, complex)
    out[: n // 2] = even + odd
    out[n // 2 :] = even - odd
    return out


def spectrum(x: Any) -> Any:
    return np.sum(np.abs(fft(x)[:3]) ** 2)


def merge_sort(x: Any) -> Any:
    if len(x) < 2:
        return x
    a, b = merge_sort(x[: len(x) // 2]), merge_sort(x[len(x) // 2 :])
    out = np.empty_like(x)
    i = j = 0
    for k in range(len(x)):
        if j >= len(b) or (i < len(a) and a[i] <= b[j]):
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
    return out


def weighted_order(x: Any) -> Any:
    y = merge_sort(x)
    y[1:] *= y[:-1]
    return np.sum(y * np.arange(len(x)))


def fill(a: Any, low: int, high: int, s: Any) -> Any:
    if high - low == 1:
        a[low] = np.sin(s)
        return a
    middle = (low + high) // 2
    fill(a, low, middle, s * 1.1)
    a = fill(a, middle, high, s * 0.9)
    a[low] *= s
    return a


def filled_by_halves(v: Any) -> Any:
    return np.sum(fill(np.zeros(8), 0, 8, v[0]) * v[1])


def even(a: Any, n: int) -> Any:
    if n == 0:
        return a
    b = odd(a, n - 1)
    b[0] *= 1.5
    return b


def odd(a: Any, n: int) -> Any:
    if n == 0:
        return a * 2.0
    b = even(a * a, n - 1)
    b[1] += b[0]
    return b


def by_turns(v: Any) -> Any:
    c = even(v * 1.0, 5)
    c[2] *= c[0]
    return np.sum(c)


def by_turns_to_the_argument(v: Any) -> Any:
    """With an even depth it is the argument itself that comes back, and is written."""
    a = v * 1.0
    c = even(a, 0)
    c[2] *= c[0]
    return np.sum(a)


def averaged(a: Any, n: int) -> Any:
    if n <= 0:
        return a[:]
    b = averaged(np.array([np.mean(a), a[1], a[2]]), n - 1)
    return np.arctan(b) + 0.5 * a


def average_written(v: Any) -> Any:
    y = averaged(v, 5)
    y[1] *= y[0]
    return np.sum(y)


def view_of_the_argument(a: Any, n: int) -> Any:
    return a[1:] if n == 0 else view_of_the_argument(a, n - 1)


def written_through_what_comes_back(v: Any) -> Any:
    a = v * 1.0
    b = view_of_the_argument(a, 6)
    b[0] = v[2] ** 2
    return np.sum(a * a)


def powers(t: Any, n: int) -> Any:
    if n == 0:
        return [t]
    found = powers(t * t, n - 1)
    return [*found, t]


def all_powers(v: Any) -> Any:
    return sum(powers(v, 5))[0]


def number_or_array(v: Any, n: int) -> Any:
    if n == 0:
        return 2.0
    return number_or_array(v, n - 1) * v[0] if n % 2 else number_or_array(v, n - 1) * v


def became_an_array(v: Any) -> Any:
    return np.sum(number_or_array(v, 5))


def pair(a: Any, n: int) -> Any:
    if n == 0:
        return a[0], a
    s, b = pair(a * 0.5, n - 1)
    return s * b[1], b + s


def pair_of_results(v: Any) -> Any:
    s, b = pair(v, 5)
    return s * np.sum(b)


def one_of_seven(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, n: int) -> Any:
    return a if n == 0 else one_of_seven(b, c, d, e, f, g, a, n - 1)


def write_one_of_seven(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, n: int, s: Any) -> None:
    if n == 0:
        a[0] = s
    else:
        write_one_of_seven(b, c, d, e, f, g, a, n - 1, s)


def any_argument_comes_back(v: Any) -> Any:
    """That it may be the last follows from what is known of the one before, and that from the one before that."""
    a, b, c, d, e, f, g = (v * 1.0, v * 2.0, v * 3.0, v * 4.0, v * 5.0, v * 6.0, v * 7.0)
    h = one_of_seven(a, b, c, d, e, f, g, 13)
    h[0] = v[1] ** 2
    return np.sum(a) + np.sum(f * f) + np.sum(g * g * g)


def any_argument_is_written(v: Any) -> Any:
    a, b, c, d, e, f, g = (v * 1.0, v * 2.0, v * 3.0, v * 4.0, v * 5.0, v * 6.0, v * 7.0)
    write_one_of_seven(a, b, c, d, e, f, g, 13, v[1] ** 2)
    return np.sum(a) + np.sum(f * f) + np.sum(g * g * g)


CASES = [
    case(multigrid, RNG.normal(size=17)),
    case(multigrid_written_between, RNG.normal(size=9)),
    case(spectrum, RNG.normal(size=8)),
    case(weighted_order, RNG.normal(size=7)),
    *[
        case(f, V)
        for f in (
            filled_by_halves,
            by_turns,
            by_turns_to_the_argument,
            average_written,
            written_through_what_comes_back,
            all_powers,
            became_an_array,
            pair_of_results,
            any_argument_comes_back,
            any_argument_is_written,
        )
    ],
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def rotated(x: Any, n: int) -> Any:
    if n == 0:
        return 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, x
    a, b, c, d, e, f, g = rotated(x, n - 1)
    return g, a, b, c, d, e, f


def any_result_is_the_array(v: Any) -> Any:
    x = v * 1.0
    _, _, _, _, _, f, _ = rotated(x, 6)
    f *= v[0]
    return np.sum(x)


def test_what_may_be_a_number_or_an_array_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="not known here whether it is an array") as refusal:
        grad(any_result_is_the_array)(V)
    assert PLACE.search(str(refusal.value))
