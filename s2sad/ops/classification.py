"""The NumPy functions that are refused where something active goes in, each with what to do instead.

`remedy` finds the text for a function object.  Every public function of NumPy is in one of four classes: it has a
rule, it is constant, it writes into its argument (the frontend lowers it to a store), or it has a remedy; a test sees
to that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.ops import infer
from s2sad.ops.points import numbers
from s2sad.ops.scipy.remedies import remedy_of
from s2sad.ops.spec import operation, sample, spec_of

_STOP = "wrap the argument in stop_gradient(...) if no derivative should pass"
_QUIET = "it has no numerical result; " + _STOP
_FILES = "it reads or writes data outside the program; " + _STOP
_SETS = "the number of results jumps; pick elements by index (x[index]) with an index found under stop_gradient(...)"
_HISTOGRAM = (
    "a count has no derivative by the data; for weights use np.bincount(places, weights) with the places from "
    "np.digitize, joined by np.ravel_multi_index"
)

#: Why and what instead, by the function's public name.
REFUSED: dict[str, str] = {
    # Another function does it.
    "numpy.asmatrix": "use an array and @",
    "numpy.bmat": "use np.block",
    "numpy.row_stack": "use np.vstack",
    "numpy.nested_iters": "loop over np.ndindex(a.shape), and read a[index]",
    # Histograms.
    "numpy.histogram_bin_edges": "use np.linspace(np.min(a), np.max(a), bins + 1)",
    # Sets.
    "numpy.in1d": _SETS,
    # Files and other sources.
    **dict.fromkeys(
        [
            f"numpy.{name}"
            for name in (
                "from_dlpack", "frombuffer", "fromfile", "fromregex", "fromstring", "genfromtxt", "load", "loadtxt",
                "save", "savetxt", "savez", "savez_compressed",
            )
        ],
        _FILES,
    ),
    # Text, from which a number could be read back.
    **dict.fromkeys(
        [
            f"numpy.{name}"
            for name in (
                "array2string", "array_repr", "array_str", "base_repr", "binary_repr", "format_float_positional",
                "format_float_scientific", "datetime_as_string", "datetime_data",
            )
        ],
        _QUIET,
    ),
    # NumPy's own state.
    **dict.fromkeys(
        [
            f"numpy.{name}"
            for name in (
                "get_include", "get_printoptions", "getbufsize", "geterr", "geterrcall", "info", "printoptions",
                "set_printoptions", "setbufsize", "seterr", "seterrcall", "show_config", "show_runtime", "test",
            )
        ]
        + ["numpy.linalg.test", "numpy.fft.test"],
        _QUIET,
    ),
}  # fmt: skip


#: What to do instead of the methods and attributes of arrays that have no rule.
MEMBERS_REFUSED: dict[str, str] = {
    "flat": "use x.ravel(), whose items stand in the same order",
    "base": "keep the array under a name of its own",
    "getfield": "use .real, .imag or an index",
    **dict.fromkeys(("ctypes", "data", "device", "to_device"), _QUIET),
    **dict.fromkeys(("dump", "dumps", "tobytes", "tofile"), _FILES),
    "byteswap": "convert the array where it is read: x.astype(float)",
}

#: What to do instead of the classes of NumPy that make other things than numbers.
CLASSES_REFUSED: dict[str, str] = {
    **dict.fromkeys(("numpy.matrix", "numpy.memmap", "numpy.recarray"), "use an array: np.asarray(x)"),
    **dict.fromkeys(("numpy.broadcast", "numpy.flatiter"), "use np.broadcast_arrays and np.ravel"),
    "numpy.nditer": "loop over np.ndindex(a.shape), and read a[index]",
    **dict.fromkeys(("numpy.busdaycalendar", "numpy.errstate", "numpy.finfo", "numpy.iinfo", "numpy.ufunc"), _QUIET),
    "numpy.ndarray": "use np.empty(shape)",
}


#: What to do instead of the class methods of NumPy's classes of series, which make objects.
SERIES_REFUSED: dict[str, str] = {
    "fit": "use np.polyfit(x, y, deg) and np.polyval, or chebfit and chebval and the like of np.polynomial",
    "fromroots": "use np.poly(roots) and np.polyval, or polyfromroots and polyval of np.polynomial.polynomial",
}


def _named(name: str) -> Any:
    """The function of NumPy that has a full name; None in versions that have none, where a program may have given the
    name to another function."""
    owner: Any = np
    *path, last = name.split(".")[1:]
    for part in path:
        owner = getattr(owner, part)
    function = getattr(owner, last) if last in dir(owner) else None
    return function if getattr(function, "__name__", last) == last else None


for _name, _text in REFUSED.items():
    if (_function := _named(_name)) is not None:
        operation(_function, remedy=_text, ordered=_text in (_FILES, _QUIET))

operation(
    np.setdiff1d, np.setxor1d, np.union1d, signature=lambda ar1, ar2: None, infer=infer.positions.joint_set,
    samples=lambda: [sample(numbers(3), numbers(3, seed=1)), sample([0.5, 1.5], numbers(2, 3))], result="fresh",
    dtype="unknown", remedy=_SETS,
)  # fmt: skip
operation(
    np.intersect1d, signature=lambda ar1, ar2, assume_unique=False, return_indices=False: None, result="unknown",
    samples=lambda: [sample(numbers(3), numbers(3)), sample(numbers(3), numbers(3), return_indices=True)],
    infer=infer.positions.common_set, dtype="unknown", gives=(tuple, np.ndarray), remedy=_SETS,
)  # fmt: skip


def remedy_of_member(name: str) -> str | None:
    """Return what to do instead of a method or attribute of arrays, or None if that is not known.

    Example:
        >>> remedy_of_member("flat")
        'Use x.ravel(), whose items stand in the same order.'
    """
    text = MEMBERS_REFUSED.get(name)
    return None if text is None else f"{text[0].upper()}{text[1:]}."


def _of_method(name: str, method: str) -> str:
    """What to do instead of a method of a universal function."""
    if method == "outer":
        return f"write np.{name}(np.expand_dims(a, tuple(range(-np.ndim(b), 0))), b)"
    return f"loop over the axis: z = x[0], then z = np.{name}(z, x[i])"


def remedy(function: object) -> str | None:
    """Return what to do instead of differentiating ``function``, or None if that is not known.

    Example:
        >>> remedy(np.piecewise)
        'Use np.where.'
    """
    entry = spec_of(function)
    text = remedy_of(function) if entry is None else entry.remedy
    if text is None and isinstance(function, type) and function.__module__ == "numpy":
        text = CLASSES_REFUSED.get(f"numpy.{function.__name__}")
    if text is None and isinstance(function, np.ufunc) and all(set(loop) <= set("O->") for loop in function.types):
        text = "make it with np.vectorize instead of np.frompyfunc"
    owner = getattr(function, "__self__", None)
    if text is None and isinstance(owner, type) and owner.__module__.startswith("numpy.polynomial"):
        text = SERIES_REFUSED.get(getattr(function, "__name__", ""))
    if text is None and isinstance(owner, np.ufunc):
        text = _of_method(owner.__name__, function.__name__)  # type: ignore[attr-defined]
    return None if text is None else f"{text[0].upper()}{text[1:]}."
