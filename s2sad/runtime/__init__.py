"""The few functions that emitted code calls; they need NumPy only."""

from s2sad.runtime.arrays import unbroadcast, unreduce
from s2sad.runtime.marks import stop_gradient
from s2sad.runtime.trees import (
    add,
    add_at,
    add_field,
    apart,
    as_pair,
    conform,
    constant_loss,
    fresh,
    joined,
    own,
    packed,
    scalar_seed,
    shadow,
    starred,
    take_out,
    zeros,
)

__all__ = [
    "add",
    "add_at",
    "add_field",
    "apart",
    "as_pair",
    "conform",
    "constant_loss",
    "fresh",
    "joined",
    "own",
    "packed",
    "scalar_seed",
    "shadow",
    "starred",
    "stop_gradient",
    "take_out",
    "unbroadcast",
    "unreduce",
    "zeros",
]
