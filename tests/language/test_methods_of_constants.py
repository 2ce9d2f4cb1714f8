"""Methods of constants, which take what is differentiated: of variables of the module, of results, of fields."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.oracle import numeric_gradient

W = np.array([[2.0, 1.0], [0.5, -1.0]])
TABLE = types.SimpleNamespace(w=W)


class Counting:
    """What counts how often it is multiplied."""

    def __init__(self) -> None:
        self.n = 0

    def dot(self, x: Any) -> Any:
        self.n += 1
        return 3.0 * self.n * x


class Tripled(np.ndarray):
    """An array whose ``dot`` is another."""

    def dot(self, x: Any, out: Any = None) -> Any:
        return 3.0 * np.asarray(x)


def made(calls: list[int]) -> Any:
    calls.append(1)
    return W + len(calls)


CALLS: list[int] = []

PROGRAMS: dict[str, Any] = {
    "a variable": lambda x: np.sum(W.dot(x) ** 2),
    "a view": lambda x: np.sum(W.T.dot(x) ** 2),
    "an attribute": lambda x: np.sum(TABLE.w.dot(x) ** 2),
    "a result": lambda x: np.sum(np.linalg.inv(W).dot(x) * np.dot(W, W).dot(x)),
    "a product": lambda x: np.sum((W @ W).dot(x) ** 2),
    "a sum": lambda x: W.sum(axis=0).dot(x) ** 2,
    "bounds": lambda x: np.sum(W.clip(x[0], x[1]) ** 2),
    "a choice": lambda x: np.sum((W > 0).choose([x[0], x[1] ** 2])),
    "a first value": lambda x: W.sum(initial=x[0]) * x[1],
    "a copy": lambda x: np.sum(W.copy().dot(x) ** 2),
    "a list": lambda x: [1.0, 2.0].index(2.0) * x[0] ** 2,
    "a dict": lambda x: {1: 2.0}.get(3, x[0]) * x[1],
    "a class of one's own": lambda x: np.sum(Counting().dot(x) ** 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_methods_of_constants(name: str) -> None:
    f, x = PROGRAMS[name], np.array([0.3, 1.4])
    wanted = numeric_gradient(f, [x])
    np.testing.assert_allclose(grad(f)(x), wanted, rtol=1e-7)
    np.testing.assert_allclose(jvp(f, (x,), (np.array([1.0, 2.0]),))[1], wanted @ [1.0, 2.0], rtol=1e-7)


def test_the_object_is_made_once() -> None:
    calls: list[int] = []

    def f(x: Any) -> Any:
        return np.sum(made(calls).dot(x))

    np.testing.assert_allclose(grad(f)(np.ones(2)), np.sum(W + 1.0, axis=0))
    assert calls == [1]


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.asmatrix(W).clip(x[0], 3.0) ** 2),
        lambda x: np.sum(np.asmatrix(W).dot(np.diag(x)) ** 2),
        lambda x: np.sum(np.ma.masked_array(W, mask=W > 1).dot(x)),
    ],
    ids=["clip of a matrix", "dot of a matrix", "dot of a masked array"],
)
def test_classes_that_make_something_else_of_a_method_are_not_taken_for_arrays(f: Any) -> None:
    with pytest.raises(S2SADError, match="of class"):
        grad(f)(np.array([0.3, 1.4]))


def test_a_method_that_a_class_of_arrays_has_of_its_own() -> None:
    def f(x: Any) -> Any:
        return np.sum((W.view(Tripled) * 2.0).dot(x))

    x = np.array([0.3, 1.4])
    np.testing.assert_allclose(grad(f)(x), numeric_gradient(f, [x]), rtol=1e-7)
