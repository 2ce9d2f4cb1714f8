"""Functions of ``scipy.linalg`` in terms of others: structured matrices, and the inverse of what is symmetric."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from s2sad.ops.models import model

_PRECISION = 2.220446049250313e-16


@model(linalg.pinvh)
def pinvh(a: Any, *, rtol: Any = None, lower: Any = True) -> Any:
    half = np.tril(a, -1) if lower else np.triu(a, 1)
    whole = half + np.conj(np.transpose(half)) + np.diag(np.real(np.diag(a)))
    return np.linalg.pinv(whole, np.shape(a)[0] * _PRECISION if rtol is None else rtol)


@model(linalg.matmul_toeplitz, given="varied parts")
def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: Any = False, workers: Any = None) -> Any:
    if isinstance(c_or_cr, tuple):
        return linalg.toeplitz(c_or_cr[0], c_or_cr[1]) @ x
    return linalg.toeplitz(c_or_cr) @ x
