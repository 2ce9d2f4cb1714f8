"""What is refused is compiled once more with other types: what is known of its functions is found once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from s2sad import grad
from s2sad.errors import UnsupportedError
from s2sad.frontend.source import Source
from s2sad.pipeline import compile, sources
from s2sad.pipeline.analysed import Asked
from s2sad.pipeline.typed import Types
from tests.oracle import numeric_gradient

X = np.array([0.8, 1.3, 0.6, 1.7, 0.4])


class Reaction:
    """One whose place is a number of NumPy's, so that what it reads there is not known to be a number."""

    def __init__(self, place: np.int64) -> None:
        self.place = place

    def rate(self, rates: Any) -> Any:
        r = rates[self.place]
        r *= rates[0]
        return r


REACTION = Reaction(np.int64(2))


def rates(x: Any) -> Any:
    return REACTION.rate(x) * np.sum(x)


def rates_and_bytes(x: Any) -> Any:
    return rates(x) + np.sum(np.frombuffer(x))


class Seen:
    """The functions that are specialised and typed meanwhile, and for each attempt whether it is for numbers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.specialised: Counter[str] = Counter()
        self.typed: Counter[str] = Counter()
        self.attempts: list[bool] = []
        specialised, typed, run = sources.specialised, Types.typed, compile._Compilation.run

        def specialised_(source: Source, *given: Any) -> Any:
            self.specialised[source.name] += 1
            return specialised(source, *given)

        def typed_(types: Types, function: Any, *given: Any) -> Any:
            self.typed[function.__name__] += 1
            return typed(types, function, *given)

        def run_(made: compile._Compilation, asked: Asked, *given: Any) -> Any:
            self.attempts.append(made.numbers)
            return run(made, asked, *given)

        monkeypatch.setattr(sources, "specialised", specialised_)
        monkeypatch.setattr(Types, "typed", typed_)
        monkeypatch.setattr(compile._Compilation, "run", run_)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Seen]:
    return Seen(monkeypatch)


def test_numbers_are_tried_with_what_is_known_of_the_functions(seen: Seen) -> None:
    np.testing.assert_allclose(grad(rates)(X), numeric_gradient(rates, (X,)), rtol=1e-6)
    assert seen.attempts == [False, True]
    assert set(seen.specialised.values()) == {1}
    assert seen.typed["rates"] == 1


def test_what_is_refused_of_both(seen: Seen) -> None:
    with pytest.raises(UnsupportedError, match="frombuffer"):
        grad(rates_and_bytes)(X)
    assert seen.attempts == [False, True]
    assert set(seen.specialised.values()) == {1}
    assert seen.typed["rates_and_bytes"] == 1
