"""Products in every form that people write, against differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import check_grads, grad

RANDOM = np.random.default_rng(0)
A, B, S, T = (RANDOM.normal(size=shape) for shape in ((3, 4), (4, 2), (3, 3), (2, 3, 4)))
U, V = RANDOM.normal(size=(2, 3))
C = S + 1j * RANDOM.normal(size=(3, 3))


def kronecker(a, c):
    return np.sum(np.kron([c, 2 * c, c**2], a) ** 3) + np.sum(np.kron(c, a) ** 2) + np.sum(np.kron(a, a[:2]) ** 3)


def crosses(a, b):
    along = np.sum(np.cross(a, b, axisa=0) ** 3) + np.sum(np.cross(a, a.T**2, axis=0) ** 3)
    return np.sum(np.cross(a, b) ** 3) + along + np.sum(np.cross(a, b, 0, -1, 1) ** 3)


def np_cross(a, b, axis=-1):
    return np.sum(np.cross(a, b, axis=axis) ** 3)


def cross_of_lists(a, b):
    return np.sum(np.cross([a, b, 1.0], [b, 2.0, a]) ** 3)


def paths(a, b, s):
    path = np.einsum_path("ij,jk,li->lk", a, b, s, optimize="greedy")[0]
    best = np.einsum("ij,jk->", a, b, optimize="optimal") ** 2
    return np.sum(np.einsum("ij,jk,li->lk", a, b, s, optimize=path) ** 3) + best + np.einsum("ii", s) ** 2


def lists_of_axes(a, b, t):
    implicit = np.sum(np.einsum(a, [3, 1], b, [1, 0]) ** 3 * np.arange(6.0).reshape(2, 3))
    batched = np.sum(np.einsum(t, [..., 1, 2], b, [2, 3], [..., 3, 1]) ** 3)
    return implicit + batched + np.sum(np.einsum(t, (30, 1, 2), [2, 30], optimize=True) ** 3)


def einsum_options(a, b):
    out = np.empty((4, 3))
    np.einsum("ij->ji", a, out=out)
    layouts = np.sum(np.einsum("ij,jk->ik", a, b, order="F", casting="safe") ** 3)
    return np.sum(out**3 * np.arange(3.0)) + layouts + np.sum(np.einsum("ij,jk", a, b, dtype=complex).imag + a @ b)


def contractions(a, b, t):
    pairs = np.sum(np.tensordot(a, b, axes=([1], [0])) ** 3) + np.sum(np.tensordot(a, b, axes=(1, 0)) ** 3)
    stacked = np.sum(np.tensordot(t, a) ** 2) + np.sum(np.linalg.tensordot(t, a, axes=([-1], [1])) ** 3)
    return np.sum(np.tensordot(a, b, 1) ** 3) + pairs + stacked + np.sum(np.tensordot(a, b, axes=0) ** 2)


def inners(a, b):
    return np.sum(np.inner(a, b) ** 3) + np.inner(b, b) + np.sum(np.inner(a, a) ** 2) + np.sum(np.inner(a, 2.0) ** 3)


def conjugated(a, b):
    return np.abs(np.vdot(a, b)) ** 2 + np.vdot(a, a).real + np.sum(np.abs(np.vecdot(a, b)) ** 2)


def of_stacks(a, b):
    vectors = np.sum(np.vecdot(a, b) ** 3) + np.sum(np.vecdot(a, b, axis=0) ** 3)
    matrices = np.sum(np.matvec(a, b) ** 3) + np.sum(np.vecmat(b, a) ** 3)
    return vectors + np.sum(np.linalg.vecdot(a, b, axis=0) ** 3) + matrices


def into_buffers(a, b, s):
    outer, product, chain = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 2))
    np.outer(s[0], s[1], out=outer)
    np.matmul(s, s, out=product)
    np.linalg.multi_dot([s, a, b], out=chain)
    return np.sum(outer**3) + np.sum(product**3) + np.sum(chain**3)


def chains(a, b, s):
    arrays = [s, s, a]
    for _ in range(2):
        arrays.append(a.T @ s[0][:, None] if len(arrays) > 3 else b @ b.T)
    return np.sum(np.linalg.multi_dot(arrays[:4]) ** 3) + np.sum(np.linalg.multi_dot((s, a, b, b.T)) ** 2)


def traces(a):
    places = np.sum(np.trace(a, axis1=1, axis2=2) ** 3) + np.sum(np.trace(a, 1, 0, 2) ** 3)
    typed = np.sum(np.trace(a, offset=-1, axis1=-2, axis2=-1, dtype=float) ** 2)
    return places + typed + np.sum(a.trace(0, 1, 2) ** 2) + np.sum(np.linalg.trace(a, offset=1, dtype=float) ** 3)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (kronecker, (V, 0.7)),
        (crosses, (S, V)),
        (cross_of_lists, (0.3, 0.4)),
        (paths, (A, B, S)),
        (lists_of_axes, (A, B, T)),
        (einsum_options, (A, B)),
        (contractions, (A, B, T)),
        (inners, (S, V)),
        (conjugated, (C, C.T)),
        (of_stacks, (S, V)),
        (into_buffers, (A, B, S)),
        (chains, (A, B, S)),
        (traces, (T,)),
    ],
)
def test_forms_that_people_write(f: Callable[..., Any], args: Any) -> None:
    assert check_grads(f, args)


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors:DeprecationWarning")
@pytest.mark.parametrize(("a", "b"), [(B, B[::-1] ** 2), (B, U), (S, B[:3]), (B, V[:2]), (U[:2], V[:2])])
def test_vectors_in_a_plane(a: Any, b: Any) -> None:
    assert check_grads(np_cross, (a, b))


def test_lists_of_axes_are_written_as_letters() -> None:
    assert "np.einsum('db,ba', a, " in grad(lists_of_axes).source
