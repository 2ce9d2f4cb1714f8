"""What type the result of an operation has: one module of functions for each family.

An inference function gets the arguments of a call by the names of the operation's parameters, and a function that finds
the type of an expression. It returns the type of the result, or None where the arguments do not settle it. What it says
must hold of every call; to say less is always right.
"""

from s2sad.ops.infer import (
    adjoints,
    axes,
    bounds,
    common,
    creation,
    fourier,
    joining,
    linalg,
    memory,
    moments,
    positions,
    products,
    python,
    scipy,
    several,
    shaping,
)

__all__ = [
    "adjoints",
    "axes",
    "bounds",
    "common",
    "creation",
    "fourier",
    "joining",
    "linalg",
    "memory",
    "moments",
    "positions",
    "products",
    "python",
    "scipy",
    "several",
    "shaping",
]
