"""What functions are, with their derivatives: one module per family.

`load_all` imports them all; the functions that look something up do so when they are first
asked, so that importing the package stays quick.

Example:
    >>> import numpy as np
    >>> find(np.matmul).kind
    'bilinear'
    >>> is_constant(np.argmax)
    True
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import threading

from s2sad.ops import spec
from s2sad.ops.classification import remedy
from s2sad.ops.spec import OpSpec, Rule

__all__ = ["OpSpec", "Rule", "find", "is_constant", "load_all", "remedy", "spec_of"]

_loading = threading.RLock()


@functools.cache
def load_all() -> None:
    """Import every module of this package; after the first time this does nothing."""
    # Two threads must not see each other's half-filled registry.
    with _loading:
        for module in pkgutil.iter_modules(__path__):
            importlib.import_module(f"{__name__}.{module.name}")


def spec_of(function: object) -> OpSpec | None:
    """Return what is known of ``function``, found by identity, or None."""
    load_all()
    return spec.spec_of(function)


def find(function: object) -> Rule | None:
    """Return the rule of ``function``, found by identity, or None."""
    load_all()
    return spec.find(function)


def is_constant(function: object) -> bool:
    """Return whether the result of ``function`` has no derivative, whatever its arguments."""
    load_all()
    return spec.is_constant(function)
