"""Whether a result shares memory with an operand, where that depends on the arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from s2sad.ir.nodes import Call, Const
from s2sad.ir.types import Fact
from s2sad.ops.infer.common import Look, items_of

Answer = Literal["fresh", "view", "unknown"] | None


def of_list(call: Call, fact: Look | None) -> Answer:
    """Of a list a new array is made."""
    return (
        "fresh" if fact is not None and len(call.args) == 1 and fact(call.args[0]).kind in ("list", "tuple") else None
    )


def of_cast(call: Call, fact: Look | None) -> Answer:
    """A copy, unless it is said that none need be made."""
    plain = len(call.args) <= 2 and all(name != "copy" or value == Const(True) for name, value in call.kwargs)
    return "fresh" if plain else None


def of_copy(call: Call, fact: Look | None) -> Answer:
    """An array, list or number is copied; NumPy makes a view of ``a.flat``, which what nothing is known of may be."""
    operand = call.args[0] if call.args else None
    if isinstance(operand, Call) and operand.op.kind == "attribute" and operand.op.name == "flat":
        return "unknown"
    return "unknown" if fact is not None and operand is not None and fact(operand).kind == "open" else None


def of_diagonal(call: Call, fact: Look | None) -> Answer:
    """The diagonal of a matrix is a view; the matrix with a diagonal is new."""
    ndim = fact(call.args[0]).ndim if fact is not None and call.args else None
    return "fresh" if ndim == 1 else "view" if ndim == 2 else None


def of_einsum(call: Call, fact: Look | None) -> Answer:
    """A single operand is transposed, or its diagonal taken, unless something is summed."""
    text = call.args[0].value if call.args and isinstance(call.args[0], Const) else None
    if not isinstance(text, str):
        return None
    return "fresh" if len(call.args) > 2 or sums_indices(text) else None


def sums_indices(subscripts: str) -> bool:
    """Whether ``np.einsum`` of one operand surely adds elements up."""
    taken, arrow, given = subscripts.replace(" ", "").replace(".", "").partition("->")
    return bool(set(taken) - set(given)) if arrow else len(set(taken)) < len(taken)


def of_differences(call: Call, fact: Look | None) -> Answer:
    """Unless none are taken, they are new."""
    given = [*call.args[1:2], *(v for k, v in call.kwargs if k == "n")]
    return "fresh" if not given or (isinstance(given[0], Const) and given[0].value != 0) else None


def of_sum(call: Call, fact: Look | None) -> Answer:
    """Without items a sum is its start."""
    return "fresh" if len(call.args) + len(call.kwargs) == 1 else None


def of_reversed(call: Call, fact: Look | None) -> Answer:
    """Of an array without axes it is a number."""
    return "fresh" if fact is not None and call.args and fact(call.args[0]).ndim == 0 else None


def of_pieces(call: Call, fact: Look | None) -> Answer:
    """Pieces like arrays are views; the rows of one array are stacked anew."""
    items = _sequence(call, fact)
    return "view" if items and all(item.has_axes for item in items) else "unknown"


def of_layers(call: Call, fact: Look | None) -> Answer:
    """As of pieces, but where each layer is a number they are new."""
    items = _sequence(call, fact)
    return "fresh" if items and all(item.kind == "scalar" for item in items) else of_pieces(call, fact)


def _sequence(call: Call, fact: Look | None) -> list[Fact]:
    """The items of the list or tuple that is the second operand, where they are known."""
    whole = fact(call.args[1]) if fact is not None and len(call.args) > 1 else None
    return list(items_of(whole) or ()) if whole is not None and whole.kind in ("list", "tuple") else []


def of_layers_of_one(call: Call, fact: Look | None) -> Answer:
    """The layers of an array with one axis are numbers."""
    return "fresh" if fact is not None and call.args and fact(call.args[0]).ndim == 1 else None


def of_grids(call: Call, fact: Look | None) -> Answer:
    """New arrays, unless views are asked for."""
    return "fresh" if all(name != "copy" for name, _ in call.kwargs) else None


def of_numbers(*positions: int) -> Callable[[Call, Look | None], Answer]:
    """What is made in the form of lists or tuples of numbers, which stand at these positions, is new."""

    def answer(call: Call, fact: Look | None) -> Answer:
        known = fact is not None and len(call.args) > max(positions)
        return "fresh" if known and all(_holds_numbers(fact(call.args[n])) for n in positions) else None  # type: ignore[misc]

    return answer


def _holds_numbers(whole: Fact) -> bool:
    held = [whole.each] if whole.items is None else [item for _, item in whole.items]
    return whole.kind in ("list", "tuple") and all(
        f is not None and (f.kind == "scalar" or _holds_numbers(f)) for f in held
    )
