"""The few functions that emitted code calls; they need NumPy only."""

from s2sad.runtime.arrays import unbroadcast, unreduce
from s2sad.runtime.marks import stop_gradient
from s2sad.runtime.trees import add, add_at, add_field, conform, fresh, joined, own, packed, scalar_seed, starred, zeros

__all__ = [
    "add",
    "add_at",
    "add_field",
    "conform",
    "fresh",
    "joined",
    "own",
    "packed",
    "scalar_seed",
    "starred",
    "stop_gradient",
    "unbroadcast",
    "unreduce",
    "zeros",
]
