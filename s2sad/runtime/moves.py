"""How items of a list change places: where sorting, or a heap, puts them, and the change itself.

Moves are two rows of places: what stands after them at each of the first stood before at that of the second.  The moves
of a heap are those of `heapq`, by the same comparisons in the same order, as a path of few places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from s2sad.runtime.selecting import key_order

Moves = tuple[Sequence[int], Sequence[int]]


def moved(items: list[Any], moves: Moves) -> None:
    """Let items of a list change places.

    >>> a = [1, 2, 3]
    >>> moved(a, ([0, 2], [2, 0]))
    >>> a
    [3, 2, 1]
    """
    places, sources = moves
    for place, item in zip(places, [items[source] for source in sources], strict=True):
        items[place] = item


def moved_back(moves: Moves) -> Moves:
    """Return the moves that undo ``moves``."""
    places, sources = moves
    return sources, places


def _along(path: list[int]) -> Moves:
    """The moves by which each place of a path takes over from the next one, and the last from the first."""
    return path, [*path[1:], *path[:1]]


def heap_pushed(heap: Sequence[Any]) -> Moves:
    """Return where the items of a heap go after one was put behind the last.

    >>> heap_pushed([2, 4, 1])
    ([2, 0], [0, 2])
    """
    path = [len(heap) - 1]
    while path[-1] > 0 and heap[path[0]] < heap[(path[-1] - 1) // 2]:
        path.append((path[-1] - 1) // 2)
    return _along(path)


def in_order(items: Sequence[Any], reverse: bool = False) -> Moves:
    """Return where the items of a list go where it is sorted.

    >>> in_order([3, 1, 2])
    ([0, 1, 2], [1, 2, 0])
    """
    return list(range(len(items))), key_order(items, reverse)


def turned_round(items: Sequence[Any]) -> Moves:
    """Return where the items of a list go where it is reversed."""
    places = list(range(len(items)))
    return places, places[::-1]


def put_last(items: Sequence[Any], item: Any) -> Moves:
    """Return where the items of a list go where the first that is equal to one goes behind all others.

    >>> put_last([4, 5, 6, 7], 5)
    ([1, 2, 3], [2, 3, 1])
    """
    for place, other in enumerate(items):
        if other is item or other == item:
            return _along(list(range(place, len(items))))
    raise ValueError("list.remove(x): x not in list")


def put_at(items: Sequence[Any], place: int) -> Moves:
    """Return where the items of a list go where the last one goes to a place, which counts from the end if negative.

    >>> put_at([1, 2, 3, 4], 1)
    ([3, 2, 1], [2, 1, 3])
    """
    return _along(list(range(len(items) - 1, range(len(items))[place] - 1, -1)))


def _sifted(heap: Sequence[Any], start: int, end: int, new: Any) -> list[int]:
    """The places that an item which comes to ``start`` shifts, in a heap of the items before ``end``."""
    path = [start]
    while (child := 2 * path[-1] + 1) < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child += 1
        path.append(child)
    while len(path) > 1 and new < heap[path[-1]]:
        path.pop()
    return path


def heap_popped(heap: Sequence[Any]) -> Moves:
    """Return where the items of a heap go where the least one is put behind all others.

    >>> heap_popped([1, 3, 2])
    ([0, 2], [2, 0])
    """
    end = len(heap) - 1
    if end < 0:
        raise IndexError("index out of range")
    return _along([*(_sifted(heap, 0, end, heap[end]) if end else ()), end])


def heap_replaced(heap: Sequence[Any]) -> Moves:
    """Return where the items of a heap go where the last one takes the place of the least."""
    if len(heap) == 1:
        raise IndexError("index out of range")
    return heap_popped(heap)


def heap_pushpopped(heap: Sequence[Any]) -> Moves:
    """Return where the items of a heap go where the least one is put behind all others, the last among them."""
    return heap_popped(heap) if len(heap) > 1 and heap[0] < heap[-1] else ([], [])


def heap_made(items: Sequence[Any]) -> Moves:
    """Return where the items of a list go in a heap of them.

    >>> heap_made([3, 2, 1])
    ([0, 1, 2], [2, 1, 0])
    """
    order, heap = list(range(len(items))), list(items)
    for start in reversed(range(len(heap) // 2)):
        places, sources = _along(_sifted(heap, start, len(heap), heap[start]))
        for row in (order, heap):
            moved(row, (places, sources))
    return list(range(len(order))), order
