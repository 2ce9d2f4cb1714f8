"""What functions are, with their derivatives: one module per family.

`load_all` imports them all; the functions that look something up do so when they are first
asked, so that importing the package stays quick.  The operations of SciPy are imported when SciPy has been, by the
program: see :mod:`s2sad.ops.scipy`.

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
import sys
import threading

from s2sad.ops import spec
from s2sad.ops.classification import remedy
from s2sad.ops.scipy import DECLARED
from s2sad.ops.spec import OpSpec, Rule, has_methods, owner_name

__all__ = [
    "OpSpec",
    "Rule",
    "find",
    "has_methods",
    "is_constant",
    "load_all",
    "load_imported",
    "owner_name",
    "remedy",
    "spec_of",
]

_loading = threading.RLock()
#: The modules of SciPy whose operations are not imported.
_pending = dict(DECLARED)


@functools.cache
def load_all() -> None:
    """Import every module of this package; after the first time this does nothing."""
    # Two threads must not see each other's half-filled registry.
    with _loading:
        for module in pkgutil.iter_modules(__path__):
            importlib.import_module(f"{__name__}.{module.name}")


def load_imported() -> bool:
    """Import the operations of the modules of SciPy that the program has imported; whether there were any new ones."""
    found = [name for name in _pending if name in sys.modules]
    if found:
        with _loading:
            for name in found:
                for module in _pending.get(name, ()):
                    importlib.import_module(f"{__name__}.scipy.{module}")
                _pending.pop(name, None)
    return bool(found)


def spec_of(function: object) -> OpSpec | None:
    """Return what is known of ``function``, found by identity, or None."""
    load_all()
    found = spec.spec_of(function)
    return spec.spec_of(function) if found is None and _pending and load_imported() else found


def find(function: object) -> Rule | None:
    """Return the rule of ``function``, found by identity, or None."""
    found = spec_of(function)
    return found if isinstance(found, Rule) else None


def is_constant(function: object) -> bool:
    """Return whether the result of ``function`` has no derivative, whatever its arguments."""
    found = spec_of(function)
    return found is not None and found.constant
