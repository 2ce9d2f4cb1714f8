"""Rules of what models of ``eigsh`` and ``svds`` of ``scipy.sparse.linalg`` compute with, by the entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from s2sad.ops.points import numbers
from s2sad.ops.spec import Sample, operation, rule, sample
from s2sad.runtime.scipy import entries
from s2sad.runtime.scipy.entries import of_constant, of_whole, outer_entries, system_entries
from s2sad.runtime.scipy.sparse_spectra import (
    eigenpairs,
    eigenpairs_tangent,
    eigenvalues,
    eigenvectors_sides,
    in_order,
    singular_bar,
    singular_triplets,
    singular_values,
    triplets,
    with_singular,
)

Array = Any
Pattern = Any

_START = np.linspace(0.5, 1.5, 6)


def _symmetric() -> Any:
    a = np.diag([1.0, 2.5, 3.0, 4.5, 6.0, 7.5]) + np.diag([0.4, -0.3, 0.5, 0.2, 0.6], 1)
    return a + a.T


def _spectra() -> Sequence[Sample]:
    # The entries change in pairs, since SciPy takes a matrix for symmetric.
    matrix = sparse.csr_array(_symmetric())
    rows, columns = np.nonzero(np.triu(_symmetric()))
    values = _symmetric()[rows, columns]
    pattern = entries.Pattern(
        np.append(rows, columns),
        np.append(columns, rows),
        matrix.shape,
        np.tile(np.arange(len(rows)), 2),
        len(rows),
        lambda v: sparse.csr_array((np.tile(v, 2), (np.append(rows, columns), np.append(columns, rows)))),
    )
    common = {"v0": _START, "M": None}
    return [
        sample(values, pattern, {**common, "k": 2, "which": "LA"}),
        sample(values, pattern, {**common, "k": 3, "which": "SA"}),
        sample(values, pattern, {**common, "k": 2, "sigma": 3.1}),
        sample(values, pattern, {**common, "k": 2, "M": sparse.diags_array(_START), "which": "LM"}),
    ]


def _eigenvalues_jvp(values_dot: Array, z: Array, values: Array, pattern: Pattern, options: Any) -> Array:
    vectors = in_order(values, pattern, options, z)
    return np.sum(np.conj(vectors) * (pattern.make(values_dot) @ vectors), axis=0)


@rule(eigenvalues, wrt=["values"], jvp=_eigenvalues_jvp, samples=_spectra, dtype="unknown", calls=(), real_only=True)
def eigenvalues_rule(z_bar: Array, z: Array, values: Array, pattern: Pattern, options: Any) -> Array:
    vectors = in_order(values, pattern, options, z)
    return outer_entries(vectors * z_bar, vectors, pattern, values)


def _ordered() -> Sequence[Sample]:
    return [sample(*s.args, eigenvalues(*s.args)) for s in _spectra()]


def _in_order_jvp(values_dot: Array, z: Array, values: Array, pattern: Pattern, options: Any, found: Array) -> Array:
    return eigenpairs_tangent(values_dot, (found, z), values, pattern, options)[1]


@rule(
    in_order,
    wrt=["values"],
    steps={"found"},
    jvp=_in_order_jvp,
    samples=_ordered,
    dtype="unknown",
    calls=(),
    real_only=True,
)
def in_order_rule(z_bar: Array, z: Array, values: Array, pattern: Pattern, options: Any, found: Array) -> Array:
    sides = eigenvectors_sides((0.0, z_bar), (found, z), values, pattern, options)
    return outer_entries(sides, z, pattern, values)


def _eigenpairs_jvp(values_dot: Array, z: Any, values: Array, pattern: Pattern, options: Any) -> Any:
    return eigenpairs_tangent(values_dot, z, values, pattern, options)


@rule(
    eigenpairs,
    wrt=["values"],
    jvp=_eigenpairs_jvp,
    samples=_spectra,
    dtype="unknown",
    calls=(),
    real_only=True,
    gives=(tuple,),
)
def eigenpairs_rule(z_bar: Any, z: Any, values: Array, pattern: Pattern, options: Any) -> Array:
    return outer_entries(eigenvectors_sides(z_bar, z, values, pattern, options), z[1], pattern, values)


def _singular() -> Sequence[Sample]:
    whole = numbers(7, 5)
    given = sparse.csr_array(np.where(whole > -0.7, whole, 0))
    return [
        sample(np.ravel(whole), of_whole(np.asarray, whole), {"k": 2, "v0": _START[:5]}),
        sample(np.ravel(whole.T), of_whole(np.asarray, whole.T), {"k": 2, "which": "SM", "v0": _START[:5]}),
        sample(system_entries(given), of_constant(given), {"k": 3, "v0": _START[:5]}),
    ]


def _singular_values_jvp(values_dot: Array, values: Array, pattern: Pattern, options: Any) -> Array:
    u, v = triplets(values, pattern, options)
    return np.sum(u * (pattern.make(values_dot) @ v), axis=0)


@rule(
    singular_values,
    wrt=["values"],
    jvp=_singular_values_jvp,
    samples=_singular,
    dtype="unknown",
    calls=(),
    real_only=True,
)
def singular_values_rule(z_bar: Array, values: Array, pattern: Pattern, options: Any) -> Array:
    u, v = triplets(values, pattern, options)
    return outer_entries(u * z_bar, v, pattern, values)


def _triplets_jvp(values_dot: Array, z: Any, pattern: Pattern) -> Any:
    return with_singular(np.sum(z[0] * (pattern.make(values_dot) @ z[2].T), axis=0))


@rule(
    singular_triplets,
    wrt=["values"],
    jvp=_triplets_jvp,
    samples=_singular,
    dtype="unknown",
    calls=(),
    real_only=True,
    gives=(tuple,),
    without=(0, 2),
)
def singular_triplets_rule(
    z_bar: Any, z: Any, values: Array, pattern: Pattern, options: Any, kept: Any = True
) -> Array:
    return outer_entries(z[0] * singular_bar(z_bar), np.transpose(z[2]), pattern, values)


_AGAIN = (
    "eigenvalues alone have second derivatives (return_eigenvectors=False); for others use np.linalg.eigh or "
    "np.linalg.svd of the whole matrix"
)
operation(eigenvectors_sides, eigenpairs_tangent, triplets, singular_bar, remedy=_AGAIN)
