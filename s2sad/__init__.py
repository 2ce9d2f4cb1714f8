"""s2sad: gradients of plain NumPy functions, as Python source that a person can read.

Example:
    >>> import numpy as np
    >>> from s2sad import grad
    >>> @grad
    ... def loss(x):
    ...     return np.sum(x ** 3)
    >>> loss(np.array([1.0, 2.0]))
    array([ 3., 12.])
"""

import importlib
from typing import TYPE_CHECKING

from s2sad.errors import S2SADError
from s2sad.runtime import stop_gradient

__version__ = "0.1.0"

__all__ = [
    "S2SADError",
    "check_grads",
    "elementwise_grad",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]

if TYPE_CHECKING:
    from s2sad.api import grad, value_and_grad, vjp
    from s2sad.checking import check_grads
    from s2sad.jacobians import elementwise_grad, hessian, hvp, jacfwd, jacobian, jacrev
    from s2sad.pushforwards import jvp
else:
    # Programs that only mark values, and emitted code that is saved to a file, need no compiler:
    # it is imported when one of these names is first looked up.
    _HOMES = {
        "check_grads": "s2sad.checking",
        "elementwise_grad": "s2sad.jacobians",
        "grad": "s2sad.api",
        "hessian": "s2sad.jacobians",
        "hvp": "s2sad.jacobians",
        "jacfwd": "s2sad.jacobians",
        "jacobian": "s2sad.jacobians",
        "jacrev": "s2sad.jacobians",
        "jvp": "s2sad.pushforwards",
        "value_and_grad": "s2sad.api",
        "vjp": "s2sad.api",
    }

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value  # the next look-up finds it at once
        return value

    def __dir__():
        return sorted({*globals(), *__all__})
