"""Functions that check what they are given and raise: they write nothing, and some of them never return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp, value_and_grad
from s2sad.frontend.summaries import Writes, writes_of
from tests.language.support import case, check_gradient, quietly

X = np.array([0.7, 1.3, 0.4])


def checked(value: Any, shape: Any) -> Any:
    try:
        len(value.shape)
    except (AttributeError, TypeError):
        raise ValueError(f"an array of {shape} is needed, not a {value.__class__.__name__}") from None
    if len(value.shape) != len(shape) or any(a != b for a, b in zip(value.shape, shape, strict=True) if b != -1):
        raise ValueError(f"of {value.shape}, not of {shape}")
    return len(value)


def checked_any(value: Any, *shapes: Any) -> Any:
    for shape in shapes:
        try:
            return checked(value, shape)
        except ValueError:
            pass
    raise ValueError(f"none of {shapes}")


def plural(noun: str, number: int) -> str:
    return noun if number == 1 else f"{noun}s"


def complain(*values: Any) -> Any:
    messages = [f"{value.ndim} {plural('axis', value.ndim)}" for value in values]
    if len(messages) == 1:
        message = messages[0]
    elif len(messages) == 2:
        message = f"{messages[0]} and {messages[1]}"
    else:
        message = "those"
    raise ValueError(f"nothing to do with {message}")


def projected(v: Any, w: Any) -> Any:
    if v.ndim == 1:
        return np.dot(v, w) * w
    elif v.shape[0] == 3:  # noqa: RET505
        return np.sum(v @ w) * w
    else:
        complain(v, w)


def in_a_try(x: Any) -> Any:
    try:
        k = checked(x, (4,))
    except ValueError as error:
        print(error)
        k = 2
    return np.sum(x * x) * k


def one_of_several(x: Any) -> Any:
    y = x * 2
    return np.sum(y * x) * checked_any(y, (-1, 4), (-1,))


def of_a_number(x: Any) -> Any:
    try:
        checked(x[0] if x.ndim > 3 else 2.0, (4,))
    except ValueError as error:
        print(error)
    return np.sum(x * x)


def none_of_several(x: Any) -> Any:
    return np.sum(x) * checked_any(x, (4,), (2, 2))


def never_comes_there(x: Any) -> Any:
    return np.sum(projected(x, x * 2))


def comes_there(x: Any) -> Any:
    return np.sum(projected(np.outer(x[:2], x), x))


def comes_there_and_goes_on(x: Any) -> Any:
    m = np.outer(x[:2], x)
    try:
        y = np.sum(projected(m, x))
    except ValueError as error:
        print(error)
        y = np.sum(x * x)
    return y


def by_what_is_known_later(x: Any) -> Any:
    return x[0] * 2.0 if x[0] < 1 else complain(x, x[0], x)


FUNCTIONS: list[Callable[..., Any]] = [
    in_a_try, one_of_several, of_a_number, none_of_several, never_comes_there, comes_there, comes_there_and_goes_on,
    by_what_is_known_later,
]  # fmt: skip


@pytest.mark.parametrize("x", [X, X * 2.0], ids=str)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_as_python_does(f: Callable[..., Any], x: Any) -> None:
    said = ""
    try:
        quietly(f, x)
    except ValueError as error:
        said = str(error)
    if said:
        for run in (grad(f), value_and_grad(f), lambda t: jvp(f, (t,), (t,))):
            with pytest.raises(ValueError, match="nothing|none") as raised:
                quietly(run, x)
            assert not isinstance(raised.value, S2SADError)
            assert str(raised.value) == said
    else:
        check_gradient(case(f, x))
        dx = np.array([0.3, -0.7, 0.2])
        (_, tangent), _ = quietly(jvp, f, (x,), (dx,))
        assert np.isclose(tangent, quietly(grad(f), x)[0] @ dx, rtol=1e-12)


def name_of_the_class(value: Any) -> Any:
    return f"{value.__class__.__name__} of {type(value).__module__} ({type(value).__qualname__})"


def attribute_of_the_class(value: Any) -> Any:
    return value.__class__.limits[0]


def test_the_name_of_a_class_is_a_text() -> None:
    assert writes_of(name_of_the_class) == Writes(makes=True)
    assert writes_of(attribute_of_the_class).outside
    assert not writes_of(checked)
