"""Models of what SciPy's functions of arrays of several libraries begin with: for NumPy's arrays these are NumPy's.

xp = array_namespace(a, b)      is      xp = np
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy._lib import _array_api

from s2sad.ops.models import model
from s2sad.runtime.scipy.namespaces import promoted


def of_numpy(*arrays: Any) -> Any:
    return np


def yes(xp: Any) -> Any:
    return True


def no(x: Any) -> Any:
    return False


def xp_size(x: Any) -> Any:
    return np.size(x)


def atleast_nd(x: Any, *, ndim: Any, xp: Any = None) -> Any:
    if ndim == 1:
        return np.atleast_1d(x)
    return np.atleast_2d(x) if ndim == 2 else np.array(x, ndmin=ndim)


def xp_copy(x: Any, *, xp: Any = None) -> Any:
    return np.array(x)


def xp_promote(*args: Any, broadcast: Any = False, force_floating: Any = False, xp: Any = None) -> Any:
    made: list[Any] = [None if arg is None else promoted(arg, args, force_floating) for arg in args]
    if broadcast:
        made = list(np.broadcast_arrays(*made))
    return made[0] if len(made) == 1 else tuple(made)


def asarray(
    array: Any,
    dtype: Any = None,
    order: Any = None,
    copy: Any = None,
    *,
    xp: Any = None,
    check_finite: Any = False,
    subok: Any = False,
) -> Any:
    made = np.array(array, dtype) if copy else np.asarray(array, dtype)
    return np.asarray_chkfinite(made) if check_finite else made


_MODELS = {
    "array_namespace": of_numpy,
    "is_numpy": yes,
    **dict.fromkeys(("is_jax", "is_torch", "is_cupy", "is_dask", "is_lazy_array"), no),
    "xp_size": xp_size,
    "xp_copy": xp_copy,
    "xp_promote": xp_promote,
    "_asarray": asarray,
}
for _name, _made in _MODELS.items():
    if hasattr(_array_api, _name):  # some are not in older versions of SciPy
        model(getattr(_array_api, _name), given="anything")(_made)
if hasattr(_array_api, "xpx"):
    model(_array_api.xpx.atleast_nd, given="anything")(atleast_nd)
