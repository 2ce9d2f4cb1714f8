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
import inspect
import pkgutil
import sys
import threading
import types
from typing import Any

import numpy as np

from s2sad.ir.nodes import Op
from s2sad.ops import spec
from s2sad.ops.classification import remedy
from s2sad.ops.forms import Form
from s2sad.ops.models import ObjectModel, beyond_model
from s2sad.ops.models import maker_model_of as _maker_model_of
from s2sad.ops.models import model_of as _model_of
from s2sad.ops.models import object_model_of as _object_model_of
from s2sad.ops.names import owner_name
from s2sad.ops.scipy import DECLARED
from s2sad.ops.spec import Function, OpSpec, Rule, has_methods

__all__ = [
    "OpSpec",
    "Rule",
    "attribute",
    "beyond_model",
    "callee",
    "find",
    "form_of",
    "function_of",
    "has_methods",
    "is_assigned",
    "is_constant",
    "is_constant_attribute",
    "is_ordered",
    "is_pure",
    "load_all",
    "load_imported",
    "maker_model_of",
    "measures",
    "method",
    "model_of",
    "names_of_arrays",
    "object_model_of",
    "owner_name",
    "remedy",
    "spec_of",
    "takes_operands",
]

_loading = threading.RLock()
#: The modules whose operations are found once the program has imported them, those of SciPy among them.
_pending: dict[str, tuple[str, ...]] = {
    **{name: tuple([f"scipy.{module}" for module in modules]) for name, modules in DECLARED.items()},
    **dict.fromkeys(("numpy.random", "random"), ("drawing",)),
    "numpy.polynomial": ("series", "series_grids", "series_models"),
    "statistics": ("statistics_models",),
    "datetime": ("moments",),
}
#: Those of them that stand in this package itself.
_LATER = frozenset({name for names in _pending.values() for name in names if "." not in name})


@functools.cache
def load_all() -> None:
    """Import every module of this package; after the first time this does nothing."""
    # Two threads must not see each other's half-filled registry.
    with _loading:
        for module in pkgutil.iter_modules(__path__):
            if module.name not in (
                "drawing",
                "series",
                "series_grids",
                "series_models",
                "statistics_models",
                "moments",
            ):
                importlib.import_module(f"{__name__}.{module.name}")


def load_imported() -> bool:
    """Import the operations of the modules that the program has imported; whether there were any new ones."""
    found = [name for name in _pending if name in sys.modules]
    if found:
        with _loading:
            for name in found:
                for module in _pending.get(name, ()):
                    importlib.import_module(f"{__name__}.{module}")
                _pending.pop(name, None)
    return bool(found)


def spec_of(function: object) -> OpSpec | None:
    """Return what is known of ``function``, found by identity, or None."""
    load_all()
    found = spec.spec_of(function)
    return spec.spec_of(function) if found is None and _pending and load_imported() else found


def model_of(function: object) -> Any:
    """Return what stands for a class or function of a library, see :mod:`s2sad.ops.models`, or None."""
    spec_of(function)
    return _model_of(function)


def object_model_of(cls: type) -> ObjectModel | None:
    """Return what stands for objects of a class of a library, see :mod:`s2sad.ops.models`, or None."""
    spec_of(cls)
    return _object_model_of(cls)


def maker_model_of(function: object) -> ObjectModel | None:
    """Return what stands for the objects that a function of a library makes, or None."""
    spec_of(function)
    return _maker_model_of(function)


def form_of(kind: str, name: str) -> Form | None:
    """Return what is particular to a method or attribute, or None for what is none of a known class."""
    load_all()
    found = spec.form_of(kind, name)
    return None if found is None else found[1]


def method(name: str) -> OpSpec | None:
    """Return what is known of the method of a built-in class called ``name``, or None."""
    load_all()
    found = spec.form_of("method", name)
    if found is None and _pending and load_imported():
        found = spec.form_of("method", name)
    return None if found is None else found[0]


def attribute(name: str) -> OpSpec | None:
    """Return what is known of the attribute of arrays called ``name``, or None."""
    load_all()
    found = spec.form_of("attribute", name)
    return None if found is None else found[0]


def function_of(kind: str, name: str) -> Function | None:
    """Return the function that a method or attribute of arrays applies; None for one that writes, or is a number.

    Example:
        >>> function_of("method", "conj"), function_of("attribute", "shape")
        (<ufunc 'conjugate'>, None)
    """
    known = method(name) if kind == "method" else attribute(name)
    number = known is None or (kind == "attribute" and known.constant)
    return None if known is None or number or known.own or known.writes else known.function


@functools.cache
def takes_operands(name: str) -> bool:
    """Return whether a method of arrays has to be given something, so that its name is no likely one of an attribute.

    Example:
        >>> takes_operands("dot"), takes_operands("mean"), takes_operands("power")
        (True, False, False)
    """
    function = function_of("method", name)
    if function is None or not hasattr(np.ndarray, name):
        return False
    params = inspect.signature(function).parameters.values()
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in params) > 1


def find(function: object) -> Rule | None:
    """Return the rule of ``function``, found by identity, or None."""
    found = spec_of(function)
    return found if isinstance(found, Rule) else None


def callee(function: object) -> OpSpec | None:
    """Return what is known of ``function``, or of the method of a built-in class that is bound in it, or None."""
    return spec_of(function) or spec.callee(function)


def is_constant_attribute(name: str) -> bool:
    """Return whether the attribute of arrays called ``name`` has no derivative, such as ``shape``."""
    known = attribute(name)
    return known is not None and known.constant


def measures(op: Op) -> bool:
    """Return whether what an operation gives is a matter of shapes: ``len(x)``, ``x.shape``."""
    known = attribute(op.name) if op.kind == "attribute" else spec_of(op.function)
    return known is not None and known.measures


def is_assigned(name: str) -> bool:
    """Return whether what is assigned to the attribute of arrays called ``name`` is written into the array."""
    form = form_of("attribute", name)
    return form is not None and form.assigned


@functools.cache
def names_of_arrays() -> frozenset[str]:
    """Return the names that are taken for those of attributes and methods of arrays, if they write nothing."""
    load_all()
    found = [(name, known) for name, known in spec.named() if not known.writes and not known.ordered]
    return frozenset(name for name, known in found if known.constant or not known.own)


def is_ordered(function: object) -> bool:
    """Return whether ``function`` is known to need its place: it draws, prints or the like."""
    known = spec_of(function)
    return known is not None and known.ordered


def is_pure(function: object) -> bool:
    """Return whether ``function`` is known to have no effect, other than those of what it calls."""
    known = spec_of(function)
    return known is not None and known.pure


def is_check(function: object) -> bool:
    """Return whether ``function`` is one of ours that emitted text calls for the errors that it may raise."""
    known = spec_of(function)
    ours = isinstance(function, types.FunctionType) and str(function.__module__).startswith("s2sad.runtime.")
    return ours and known is not None and known.constant and known.ordered


def is_constant(function: object) -> bool:
    """Return whether the result of ``function`` has no derivative, whatever its arguments."""
    found = spec_of(function)
    return found is not None and found.constant
