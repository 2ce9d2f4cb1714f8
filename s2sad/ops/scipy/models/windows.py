"""Windows of ``scipy.signal.windows`` whose shapes carry derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import windows

from s2sad.ops.models import model


def places(M: Any, sym: Any) -> Any:
    """The places of the points of a window beside its middle; one that is not symmetric is cut off."""
    return np.arange(M) - (M - 1) / 2 if sym else np.arange(M) - M / 2


@model(windows.gaussian)
def gaussian(M: Any, std: Any, sym: Any = True) -> Any:
    return np.exp(-(places(M, sym) ** 2) / (2 * std * std))


@model(windows.general_gaussian)
def general_gaussian(M: Any, p: Any, sig: Any, sym: Any = True) -> Any:
    n = places(M, sym)
    # A power of no distance has no derivative by the exponent that is a number.
    return np.where(n == 0, 1.0, np.exp(-0.5 * np.abs(np.where(n == 0, 1.0, n) / sig) ** (2 * p)))


@model(windows.exponential)
def exponential(M: Any, center: Any = None, tau: Any = 1.0, sym: Any = True) -> Any:
    n = places(M, sym) if center is None else np.arange(M) - center
    return np.exp(-np.abs(n) / tau)


@model(windows.kaiser)
def kaiser(M: Any, beta: Any, sym: Any = True) -> Any:
    return np.kaiser(M, beta) if sym else np.kaiser(M + 1, beta)[:-1]


@model(windows.general_hamming)
def general_hamming(M: Any, alpha: Any, sym: Any = True) -> Any:
    return alpha + (1.0 - alpha) * np.cos(2 * np.pi / (M - 1 if sym else M) * places(M, sym))
