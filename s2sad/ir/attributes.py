"""What is known of the attributes of an argument that is an object of the user's."""

from __future__ import annotations

from typing import Any, NamedTuple


class AttributeType(NamedTuple):
    """The type of an attribute: its class; of an array of numbers its dtype and number of axes too.

    Of a dict of numbers, texts and arrays, and of a list of arrays, the ``parts`` are the keys or places with the types
    of the items.
    """

    cls: type
    dtype: str = ""
    axes: int = 0
    parts: tuple[tuple[Any, AttributeType], ...] | None = None
