"""Where refusals are: at the innermost line of the user's code, with the calls that led there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import grad, jvp
from s2sad.errors import UnsupportedError
from tests.test_messages import line_of

X = np.array([0.5, 1.0, 2.0])


def put(q: Any, v: Any) -> Any:
    q[0] = v


def perhaps(q: Any) -> Any:
    if q[0] > 1e9:
        return [q[1]]
    return q


def of_an_unknown_result(x: Any) -> Any:
    b = perhaps(x * x)
    b[0] = x[1]
    return np.sum(b * x)


def of_an_unknown_attribute(x: Any) -> Any:
    b = getattr(x * x, "real")  # noqa: B009
    put(b, x[0])
    return np.sum(b * x)


def paired(x: Any) -> Any:
    pair = (np.sum(x * x), x)
    return pair if x[0] > 0.0 else (x[0], x)


def of_a_pair(x: Any) -> Any:
    return jvp(paired, (x,), (x,), has_aux=True)[1]


def refused(differentiate: Callable[[], Any]) -> list[Any]:
    with pytest.raises(UnsupportedError) as caught:
        differentiate()
    assert all(v.place for v in caught.value.violations), str(caught.value)
    return list(caught.value.violations)


def test_a_result_that_may_be_no_array() -> None:
    first, *_ = refused(lambda: grad(of_an_unknown_result)(X))
    assert first.place.line == line_of(perhaps, "if q[0]")
    assert [call.line for call in first.calls] == [line_of(of_an_unknown_result, "b = perhaps")]


def test_what_follows_in_a_callee_from_what_is_refused_of_its_caller_is_not_said() -> None:
    (found,) = refused(lambda: grad(of_an_unknown_attribute)(X))
    assert found.place.line == line_of(of_an_unknown_attribute, "getattr")


def test_a_value_and_aux_that_are_put_together_elsewhere() -> None:
    found = refused(lambda: jvp(of_a_pair, (X,), (X,)))
    assert found[0].place.line == line_of(paired, "def paired")
