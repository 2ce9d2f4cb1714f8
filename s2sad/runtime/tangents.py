"""The helpers of forward mode: tangents in the form of values, and tangents that users give."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2sad.errors import ArgumentError
from s2sad.runtime.copies import apart_like
from s2sad.runtime.trees import dataclass_fields, own, sequence_like, with_fields
from s2sad.runtime.zero_tangents import zero_tangent


def along(x_dot: Any, x: Any) -> Any:
    """What a loop over the tangent of ``x`` runs over: for a dict, zeros for its keys.

    Example:
        >>> along({"a": 1.0}, {"a": 2.0})
        [None]
    """
    return [zero_tangent(key) for key in x] if isinstance(x, dict) else x_dot


def items_tangent(x_dot: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """The tangents of the pairs of keys and values of a dict.

    Example:
        >>> items_tangent({2: 1.0})
        [(0.0, 1.0)]
    """
    return [(zero_tangent(key), value) for key, value in x_dot.items()]


def broadcast_like(x_dot: Any, x: Any) -> Any:
    """A tangent in the shape of ``x``: a number, or an array of fewer axes, is broadcast; containers stay as they are.

    Example:
        >>> broadcast_like(2.0, np.zeros(3))
        array([2., 2., 2.])
    """
    if isinstance(x, (list, tuple, dict)):
        return x_dot
    shape = np.shape(x)
    return x_dot if np.shape(x_dot) == shape else np.broadcast_to(x_dot, shape)


def assigned(old: Any, x_dot: Any) -> Any:
    """The tangent after an augmented assignment: what Python changes in place is, anything else is replaced.

    A list is changed in place where it stays a list.
    """
    if isinstance(old, np.ndarray):
        old[...] = x_dot
        return old
    if isinstance(old, list) and isinstance(x_dot, list):
        old[:] = x_dot
        return old
    if isinstance(old, dict):
        old.update(x_dot)
        return old
    return x_dot


def placed_tangent(whole_dot: Any, x_dot: Any) -> Any:
    """The tangent that is stored into that of a whole: an array takes numbers, of a copy where they may overlap.

    Anything else takes the object, which may have other names.
    """
    return own(x_dot) if isinstance(whole_dot, np.ndarray) else x_dot


def fitting(x_dot: Any, x: Any, name: str, label: str) -> Any:
    """The tangent that a user gives for the argument ``x``, checked to have its structure and shape.

    A tangent of None, or of an argument that holds no floats, is zero.

    Raises:
        ArgumentError: with the name of the argument.
    """
    if x_dot is None:
        return zero_tangent(x)
    if isinstance(x, np.ndarray):
        if np.shape(x_dot) != x.shape:
            raise _unfit(label, name, f"has the shape {np.shape(x_dot)}", f"not {x.shape}")
        if x.dtype.kind not in "fc":
            return np.zeros(x.shape)
        given = np.asarray(x_dot)
        if given.dtype.kind not in "fciub" or (given.dtype.kind == "c" and x.dtype.kind == "f"):
            raise _unfit(label, name, f"is an array of {given.dtype}", f"and the argument of {x.dtype}")
        if given.dtype == x.dtype and given.strides == x.strides:
            return given
        # In the layout of the argument, so that a view of one is the same view of the other.
        # Elements that are one in memory may have different tangents, as they have gradients each.
        made = apart_like(x)
        made[...] = given
        return made
    if isinstance(x, (float, complex, np.inexact)):
        if np.shape(x_dot) != () or not isinstance(x_dot, (int, float, complex, np.number, np.ndarray)):
            raise _unfit(label, name, f"is {type(x_dot).__name__} of shape {np.shape(x_dot)}", "not a number")
        if np.iscomplexobj(x_dot) and not np.iscomplexobj(x):
            raise _unfit(label, name, "is complex", "and the argument is real")
        if isinstance(x, np.inexact):
            return np.asarray(x_dot).astype(x.dtype)[()]
        return complex(x_dot) if isinstance(x, complex) else float(np.real(x_dot))
    if isinstance(x, (list, tuple)):
        if not isinstance(x_dot, (list, tuple)) or len(x_dot) != len(x):
            raise _unfit(label, name, f"is {type(x_dot).__name__}", f"not a {type(x).__name__} of {len(x)} items")
        parts = [fitting(d, item, f"{name}[{i}]", label) for i, (d, item) in enumerate(zip(x_dot, x, strict=True))]
        return sequence_like(x, parts)
    if isinstance(x, dict):
        if not isinstance(x_dot, dict) or x_dot.keys() != x.keys():
            raise _unfit(label, name, "has other keys", f"not {list(x)}")
        return {key: fitting(x_dot[key], item, f"{name}[{key!r}]", label) for key, item in dict.items(x)}
    fields = dataclass_fields(x)
    if fields is not None:
        if type(x_dot) is not type(x):
            raise _unfit(label, name, f"is {type(x_dot).__name__}", f"not {type(x).__name__}")
        return with_fields(x, {f: fitting(getattr(x_dot, f), getattr(x, f), f"{name}.{f}", label) for f in fields})
    return zero_tangent(x)


def as_tangent(x_dot: Any, x: Any) -> Any:
    """The tangent that a program gives for ``x``, checked as `fitting` does.

    Example:
        >>> as_tangent(1, 2.5)
        1.0
    """
    return fitting(x_dot, x, "an argument", "jvp")


def real_array(x: Any) -> Any:
    """``x``, if it is a real number or array, of which Jacobians inside a differentiated function are made.

    Raises:
        ArgumentError: for anything else.
    """
    if isinstance(x, (float, int, np.ndarray, np.number)) and not np.iscomplexobj(x):
        return x
    what = "complex" if np.iscomplexobj(x) else f"an object of type {type(x).__name__}"
    raise ArgumentError(
        f"a result is differentiated inside a differentiated function, and is {what}\nReturn one real number or array."
    )


def same_value(again: Any, value: Any, value_bar: Any) -> None:
    """Check that the adjoint of the value of a function fits, and that the function gives that value again.

    A pullback that a differentiated function calls is the gradient of the product of the value and the adjoint.

    Args:
        again: The value of a function, computed again.
        value: The value of that function, computed before.
        value_bar: The adjoint.

    Raises:
        ArgumentError: for an adjoint of another shape, or another value.
    """
    if np.shape(real_array(again)) != np.shape(real_array(value_bar)):
        what = f"the value has shape {np.shape(again)}, its adjoint was given with shape {np.shape(value_bar)}"
        raise ArgumentError(f"vjp: {what}")
    if not np.array_equal(again, value, equal_nan=True):
        what = "a function whose pullback is called inside a differentiated function gave two values for one argument"
        raise ArgumentError(f"{what}\nDraw random numbers before, and pass them as arguments.")


def _unfit(label: str, name: str, what: str, wanted: str) -> ArgumentError:
    return ArgumentError(f"{label}: the tangent of {name} {what}, {wanted}")
