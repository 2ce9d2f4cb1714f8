"""The stages of a compilation; `compile.py` has them in order."""

from s2sad.pipeline.compile import compile_gradient
from s2sad.pipeline.compiled import Compiled, Doings, Goal, Sizes
from s2sad.pipeline.entry import Together
from s2sad.pipeline.program import Attempts

__all__ = ["Attempts", "Compiled", "Doings", "Goal", "Sizes", "Together", "compile_gradient"]
