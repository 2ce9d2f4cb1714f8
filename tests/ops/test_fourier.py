"""Gradients through Fourier transforms in functions that people write, against differences and closed forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.fft import irfft, rfft

from s2sad import check_grads, grad, ops
from s2sad.errors import UnsupportedError
from s2sad.runtime.fourier import rfft_adjoint
from tests.oracle import numeric_gradient

X = np.random.default_rng(0).normal(size=8)
Y = np.random.default_rng(1).normal(size=7)
K = np.random.default_rng(2).normal(size=8)
A = np.random.default_rng(3).normal(size=(4, 6))
C = X + 1j * K


def log_spectrum(x, target):
    p = np.abs(np.fft.rfft(x)) ** 2 / len(x)
    return np.sum((np.log1p(p) - target) ** 2)


def circular_convolution(x, k, y):
    return np.sum((irfft(rfft(x) * rfft(k), len(x)) - y) ** 2)


def full_convolution(x, k):
    n = len(x) + len(k) - 1
    return np.sum(np.fft.irfft(np.fft.rfft(x, n) * np.fft.rfft(k, n=n), n) ** 3)


def poisson(f):
    n = len(f)
    k = 2 * np.pi * np.fft.fftfreq(n, 1 / n)
    k[0] = 1.0
    u_hat = np.fft.fft(f) / -(k**2)
    u_hat[0] = 0
    return np.sum(np.fft.ifft(u_hat).real ** 2)


def burgers(u, viscosity):
    n = len(u)
    k = 2j * np.pi * np.fft.rfftfreq(n, 1.0 / n)
    for _ in range(3):
        u_hat = np.fft.rfft(u)
        u = u + 1e-3 * (viscosity * np.fft.irfft(k**2 * u_hat, n) - u * np.fft.irfft(k * u_hat, n))
    return np.sum(u**2)


def blurred(a):
    ky, kx = np.fft.fftfreq(a.shape[0])[:, None], np.fft.rfftfreq(a.shape[1])
    return np.sum(np.fft.irfft2(np.fft.rfft2(a) * np.exp(-3 * (kx**2 + ky**2)), a.shape) ** 3)


def planes(a):
    return np.sum(np.abs(np.fft.fftshift(np.fft.fftn(a, s=(3, 8), axes=(0, 1)))) ** 3)


def unitary(a):
    return np.sum(np.abs(np.fft.fft2(a, norm="ortho")) ** 4)


def imaginary_part_of_real(x):
    return np.sum(np.imag(np.fft.ifft(x)) ** 2 * np.arange(len(x)))


def real_bins(x):
    return np.sum(np.abs(np.fft.irfft(x) * (1 + 2j)) ** 2 * np.arange(14.0))


def hermitian(x, c):
    return np.sum(np.fft.hfft(c * x, 9) ** 2) + np.sum(np.abs(np.fft.ihfft(x**2)) ** 2 * np.arange(5))


def of_a_list(a, b):
    return np.sum(np.abs(np.fft.fft([a, b, a * b])) ** 2 * np.array([1.0, 2, 3]))


def of_several_lengths(x):
    loss = 0.0
    for n in range(3, 12):
        loss = loss + np.sum(np.abs(np.fft.fft(x, n)) ** 3)
    return loss


def centroid(d, x):
    return np.sum(np.fft.rfftfreq(len(x), d) ** 2 * np.abs(rfft(x)) ** 2)


def into_a_buffer(x):
    buffer = np.empty(len(x), complex)
    np.fft.fft(x, out=buffer)
    buffer *= 2
    other = np.empty_like(buffer)
    np.fft.ifft(buffer, None, -1, None, other)
    return np.sum(np.abs(other) ** 4)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (log_spectrum, (X, np.ones(5))),
        (log_spectrum, (Y, np.ones(4))),
        (circular_convolution, (X, K, K + 1)),
        (circular_convolution, (Y, Y + 1, Y)),
        (full_convolution, (X, Y)),
        (poisson, (X,)),
        (burgers, (X, 0.1)),
        (burgers, (Y, 0.1)),
        (blurred, (A,)),
        (blurred, (A[:, 1:],)),
        (planes, (A,)),
        (unitary, (A,)),
        (unitary, (A + 1j,)),
        (imaginary_part_of_real, (X,)),
        (real_bins, (X,)),
        (hermitian, (X, C)),
        (of_a_list, (0.3, 0.7)),
        (of_several_lengths, (X,)),
        (of_several_lengths, (C,)),
        (centroid, (0.3, X)),
        (into_a_buffer, (X,)),
    ],
)
def test_functions_that_people_write(f: Callable[..., Any], args: Any) -> None:
    assert check_grads(f, args)


def energy(x):
    return np.sum(np.abs(np.fft.fft(x)) ** 2)


def half_energy(x):
    return np.sum(np.abs(np.fft.rfft(x)) ** 2)


@pytest.mark.parametrize("x", [X, Y, C])
def test_energy_is_that_of_the_signal(x: Any) -> None:
    """Parseval's theorem: the energy is ``n`` times that of the signal, so the gradient is ``2 n`` times it."""
    np.testing.assert_allclose(grad(energy)(x), 2 * len(x) * np.conj(x), rtol=1e-12)


@pytest.mark.parametrize("x", [X, Y])
def test_half_the_energy_has_half_the_gradient_but_for_the_ends(x: Any) -> None:
    expected = len(x) * x + np.sum(x)
    if len(x) % 2 == 0:
        signs = (-1) ** np.arange(len(x))
        expected = expected + np.sum(x * signs) * signs
    np.testing.assert_allclose(grad(half_energy)(x), expected, rtol=1e-12)


def test_imaginary_parts_of_the_ends_of_a_spectrum_do_not_count() -> None:
    bins = np.array([1.0 + 3j, 2.0 - 1j, -1.0 + 2j])
    np.testing.assert_array_equal(rfft_adjoint(bins, (4,)), rfft_adjoint(bins - [3j, 0, 2j], (4,)))


@pytest.mark.parametrize("f", [energy, half_energy, unitary])
def test_single_precision_stays(f: Callable[..., Any]) -> None:
    for x in (A.astype(np.float32), (A + 1j).astype(np.complex64)):
        if f is half_energy and np.iscomplexobj(x):
            continue
        g = grad(f)(x)
        assert g.dtype == x.dtype
        np.testing.assert_allclose(g, grad(f)(x.astype(complex) if np.iscomplexobj(x) else A), rtol=1e-4, atol=1e-4)


def test_the_transform_of_a_list_is_turned_back_once() -> None:
    lines = [line.partition("#")[0] for line in grad(of_a_list).source.splitlines()]
    assert sum(line.count("np.fft.fft(") for line in lines) == 2
    np.testing.assert_allclose(grad(of_a_list)(0.3, 0.7), numeric_gradient(of_a_list, (0.3, 0.7)), rtol=1e-8)


@pytest.mark.parametrize("name", [n for n in np.fft.__all__ if not n.endswith(("freq", "shift"))])
def test_transforms_that_leave_out_as_it_is_are_refused(name: str) -> None:
    function = getattr(np.fft, name)
    a = np.cos(np.arange(16.0)).reshape(4, 4) + (0 if name.startswith(("r", "ih")) else 1j)
    z = function(a)
    out = np.zeros_like(z)
    function(a, out=out)
    known = ops.find(function)
    assert known is not None
    assert np.array_equal(out, z) or known.ignores_out

    def f(x: Any) -> Any:
        into = np.zeros(z.shape, z.dtype)
        function(x, out=into)
        return np.sum(np.abs(into) ** 2)

    if known.ignores_out:
        with pytest.raises(UnsupportedError, match="leaves it as it is"):
            grad(f)(a)
    else:
        np.testing.assert_allclose(grad(f)(a), numeric_gradient(f, (a,)), rtol=1e-6, atol=1e-6)
