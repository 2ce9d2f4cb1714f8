"""Functions of NumPy that are given what may be an object with operators of its own: as Python does, or an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad
from tests.oracle import numeric_gradient


class Covariance:
    """Covariances are added; what they are computed of are arrays in attributes."""

    def __init__(self) -> None:
        self.distances = np.arange(8.0).reshape(2, 2, 2) / 5
        self.jitter = np.eye(2)

    def __add__(self, other: Any) -> Any:
        raise NotImplementedError

    def of_a_method(self, t: Any) -> Any:
        return np.exp((self.distances * t).sum(axis=2)) + self.jitter

    def of_a_view(self, t: Any) -> Any:
        return np.tanh((self.distances / t).T.reshape(4, 2)[1:])

    def of_an_item(self, t: Any) -> Any:
        return np.sin((self.distances * t)[0]) @ self.jitter

    def by_keyword(self, t: Any) -> Any:
        return np.sum(a=np.cumsum((self.distances * t).max(axis=1), axis=0))


class Model:
    def __init__(self, kernel: Covariance) -> None:
        self.kernel = kernel


MODEL = Model(Covariance())


def of_a_method(t: Any) -> Any:
    return MODEL.kernel.of_a_method(t).sum()


def of_a_view(t: Any) -> Any:
    return MODEL.kernel.of_a_view(t).sum()


def of_an_item(t: Any) -> Any:
    return MODEL.kernel.of_an_item(t).sum()


def by_keyword(t: Any) -> Any:
    return MODEL.kernel.by_keyword(t)


@pytest.mark.parametrize("f", [of_a_method, of_a_view, of_an_item, by_keyword])
def test_of_an_object_that_is_an_attribute(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(grad(f)(0.7), numeric_gradient(f, (0.7,)), rtol=1e-7)


class Scaled:
    """NumPy's functions of it are three times those of its number."""

    def __init__(self, v: float) -> None:
        self.v = v

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return 3.0 * ufunc(*[getattr(x, "v", x) for x in inputs])


HELD = [Scaled(0.5), 2.0]


class Holder:
    held = (Scaled(0.5), 2.0)


def item_beside(t: Any, k: int) -> Any:
    pair = [t, Holder.held[k]]
    return np.exp(pair[1 if t > 0 else 0]) * t


def in_a_dict(t: Any, k: int) -> Any:
    values = {"t": t, "u": Holder.held[k]}
    return np.multiply(values["u"], values["t"])


def on_one_way(t: Any, k: int) -> Any:
    z = HELD[k]
    if t < 0:
        z = t
    return np.exp(z) * t


def put_in_a_list(t: Any, k: int) -> Any:
    values = [t]
    values.append(HELD[k])
    return np.exp(values[-1]) * t


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("f", [item_beside, in_a_dict, on_one_way, put_in_a_list])
def test_what_may_be_such_an_object(f: Callable[..., Any], k: int) -> None:
    """It is asked when the program runs; a number is differentiated, and an object with operators of its own is not."""
    try:
        gradient = grad(f)(0.7, k)
    except S2SADError:
        assert k == 0
    else:
        np.testing.assert_allclose(gradient, numeric_gradient(lambda t: f(t, k), (0.7,)), rtol=1e-7)
