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

from s2sad.api import grad, value_and_grad, vjp
from s2sad.checking import check_grads
from s2sad.errors import S2SADError
from s2sad.runtime import stop_gradient

__version__ = "0.1.0"

__all__ = ["S2SADError", "check_grads", "grad", "stop_gradient", "value_and_grad", "vjp"]
