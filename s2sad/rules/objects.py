"""Rules of what has a method only: ``x.item()``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from s2sad.rules.registry import Sample, linear, sample
from s2sad.runtime.objects import item as item_
from s2sad.runtime.trees import own as own_


def _numbers() -> Sequence[Sample]:
    return [sample(1.5), sample(np.array([2.5, -1.0])), sample(np.array([1.0 + 2.0j]))]


@linear(own_, wrt=["x"], samples=_numbers, shape="same")
def own(z_bar: Any, x: Any) -> Any:
    return z_bar


def _items() -> Sequence[Sample]:
    return [sample(np.array(1.5)), sample(np.array([2.5])), sample(np.float64(0.5))]


@linear(item_, wrt=["a"], samples=_items)
def item(z_bar: Any, a: Any) -> Any:
    return np.full_like(a, z_bar)
