"""Classes chosen by name, whose attributes say which parameters they have; properties beside ``__getattr__``."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad
from tests.oracle import numeric_gradient
from tests.transform.remaining import check_every_way

X = np.array([0.3, 0.7, 0.4])


class Model:
    names: tuple[str, ...] = ("omega", "alpha", "beta")

    def __init__(self, theta: Any) -> None:
        self.parameters = dict(zip(self.names, theta, strict=False))

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["parameters"][name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def persistence(self) -> Any:
        return self.alpha + np.sin(self.beta)

    def start(self) -> Any:
        return self.omega / (1 + self.persistence) if self.persistence < 3 else self.omega


class Leveraged(Model):
    names = ("omega", "alpha", "gamma")

    @property
    def beta(self) -> Any:
        return 0.5 * self.gamma

    @property
    def persistence(self) -> Any:
        return super().persistence + 0.5 * self.gamma


MODELS: dict[str, Any] = {"plain": Model, "leveraged": Leveraged}


def property_of_the_base(x: Any) -> Any:
    return Leveraged(x).start() * Model(x).start()


def chosen(x: Any, name: str = "leveraged") -> Any:
    return MODELS[name](x).start()


class Kinetic:
    names: tuple[str, ...] = ("p", "q", "r")

    def __init__(self, **parameters: Any) -> None:
        missing = set(self.names) - set(parameters)
        if missing:
            raise KeyError(f"missing {sorted(missing)}")
        for name, value in parameters.items():
            setattr(self, name, value)

    def rate(self) -> Any:
        return self.p * self.q


class Fewer(Kinetic):
    names = ("p", "q")


KINETICS: dict[str, Any] = {"all": Kinetic, "fewer": Fewer}


def made_of_names(x: Any, name: str = "fewer") -> Any:
    cls = KINETICS[name]
    return cls(**dict(zip(cls.names, np.exp(x), strict=False))).rate()


def made_of_ordered_names(x: Any, name: str = "all") -> Any:
    cls = KINETICS[name]
    parameters = OrderedDict(zip(cls.names, np.exp(x), strict=False))
    return cls(**parameters).rate() + cls(**{k: 2.0 * v for k, v in zip(cls.names, x, strict=False)}).rate()


STORES: list[dict[str, Any]] = [{"type": "fast", "k": "k", "share": 0.6}, {"type": "slow", "k": 3.0, "share": 0.4}]


class Store:
    def __init__(self, k: Any, share: Any = 1.0) -> None:
        self.level, self.k, self.share = 2.0, k, share

    def __iadd__(self, amount: Any) -> Store:
        self.level += amount
        return self

    def step(self, inflow: Any) -> Any:
        self += self.share * inflow
        q = self.level / self.k
        self.level -= q
        return q


class Slow(Store):
    def step(self, inflow: Any) -> Any:
        return 0.5 * super().step(inflow)


TYPES: dict[str, Any] = {"fast": Store, "slow": Slow}


def create(row: dict[str, Any], parameters: dict[str, Any]) -> Any:
    row = dict(row)
    cls = TYPES[row.pop("type")]
    return cls(**{k: parameters[v] if isinstance(v, str) else v for k, v in row.items()})


def made_of_a_table(x: Any) -> Any:
    stores = [create(row, {"k": 2.0 + x[0]}) for row in STORES]
    return np.sum(np.array([sum(s.step(inflow) for s in stores) for inflow in (x[1], x[2], 0.3)]) ** 2)


PROGRAMS = [property_of_the_base, chosen, made_of_names, made_of_ordered_names, made_of_a_table]


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f: Callable[..., Any]) -> None:
    check_every_way(f, X)


@pytest.mark.parametrize("name", ["plain", "leveraged"])
def test_each_name(name: str) -> None:
    wanted = numeric_gradient(lambda x: chosen(x, name), [X])
    np.testing.assert_allclose(grad(chosen)(X, name), wanted, rtol=1e-6, atol=1e-9)


def test_names_of_a_class_that_change() -> None:
    df = grad(made_of_names)
    before = df(X, "all")
    Kinetic.names = ("q", "p", "r")
    try:
        np.testing.assert_allclose(df(X, "all"), before, rtol=1e-12)
        Kinetic.names = ("r", "p", "q")
        np.testing.assert_allclose(df(X, "all"), numeric_gradient(lambda x: made_of_names(x, "all"), [X]), rtol=1e-6)
    finally:
        Kinetic.names = ("p", "q", "r")


class Odd(Model):
    @property
    def persistence(self) -> Any:
        return getattr(self.alpha, "missing", None) or np.asarray(self.alpha).nothing  # type: ignore[attr-defined]


def test_a_property_that_may_ask_the_class_is_refused() -> None:
    """Python asks `__getattr__` where a property raises an AttributeError."""

    def f(x: Any) -> Any:
        return Odd(x).persistence

    with pytest.raises((S2SADError, AttributeError)):
        grad(f)(X)
