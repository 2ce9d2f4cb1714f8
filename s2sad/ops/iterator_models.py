"""``iter(x)`` of an array, list or tuple: an object that knows how far it has come."""

from __future__ import annotations

from typing import Any, Self

from s2sad.ops.models import model
from s2sad.runtime.items import require_sequence


@model(iter)
class SequenceIterator:
    def __init__(self, items: Any) -> None:
        require_sequence(items)
        self.items, self.place = items, 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if self.place >= len(self.items):
            raise StopIteration
        self.place += 1
        return self.items[self.place - 1]
