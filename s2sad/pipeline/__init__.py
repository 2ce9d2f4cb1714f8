"""The stages of a compilation; `compile.py` has them in order."""

from s2sad.pipeline.compile import compile_gradient
from s2sad.pipeline.compiled import Compiled, Doings, Goal, Sizes
from s2sad.pipeline.entry import Together

__all__ = ["Compiled", "Doings", "Goal", "Sizes", "Together", "compile_gradient"]
