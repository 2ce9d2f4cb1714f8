"""A function of NumPy or SciPy that is no operation is followed into its source as a whole, or refused by one error."""

from __future__ import annotations

import importlib
import linecache
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, ops
from s2sad.errors import ArgumentError, UnsupportedError
from s2sad.pipeline import refused
from tests.oracle import numeric_gradient

X = np.linspace(0.3, 1.2, 9).reshape(3, 3)
#: Of some modules the functions that are soon read.
NAMES = {
    "scipy.fft": "set_backend",
    "scipy.interpolate": "approximate_taylor_polynomial pchip_interpolate",
    "scipy.linalg": "invhilbert invpascal",
    "scipy.ndimage": "distance_transform_bf extrema",
    "scipy.optimize": "anderson",
    "scipy.sparse": "triu",
    "scipy.sparse.linalg": "aslinearoperator norm spbandwidth",
    "scipy.spatial.distance": "dice is_valid_dm russellrao yule",
    "scipy.special": "mathieu_odd_coef roots_legendre",
    "scipy.stats": "quantile_test",
}
CASES = [(module, name) for module, names in NAMES.items() for name in names.split()]


def loss(module: str, name: str) -> Any:
    text = f"def loss(x):\n    return np.sum(module.{name}(x))\n"
    file = f"<loss by {module}.{name}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    space: dict[str, Any] = {"np": np, "module": importlib.import_module(module)}
    exec(compile(text, file, "exec"), space)
    return space["loss"]


def wrong(module: str, name: str) -> str:
    """What is wrong with what is said of a function; nothing if it has a derivative, or takes no such argument."""
    f = loss(module, name)
    try:
        found = grad(f)(X)
    except UnsupportedError as error:
        if len(error.violations) != 1:
            return f"{len(error.violations)} errors"
        (violation,) = error.violations
        if violation.place is None or violation.place.file != f.__code__.co_filename:
            return f"it is said of {violation.place}"
        return "" if f"module.{name} " in violation.message and violation.remedy else violation.message
    except ArgumentError as error:
        return "" if "but grad needs a float" in str(error) else repr(error)
    except (TypeError, ValueError, IndexError) as error:
        return repr(error) if isinstance(error, S2SADError) else ""
    return "" if np.allclose(found, numeric_gradient(f, (X,)), rtol=1e-6, atol=1e-8) else "a wrong gradient"


@pytest.mark.parametrize(("module", "name"), CASES)
def test_functions_are_followed_as_a_whole_or_refused_by_one_error(module: str, name: str) -> None:
    assert ops.spec_of(getattr(importlib.import_module(module), name)) is None
    assert not wrong(module, name)


def test_errors_about_what_is_inside_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refused, "is_foreign", lambda function, file: False)
    found = [wrong("scipy.linalg", name) for name in ("invpascal", "invhilbert")]
    assert all(found)
