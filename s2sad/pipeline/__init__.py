"""The stages of a compilation, in order.

source text            frontend.source      read_source
-> IR in SSA form      frontend.lower       lower
-> facts               analysis.infer       infer
-> sharing, writes     analysis.effects     effects
-> active names        analysis.activity    activity
-> adjoint             differentiate.reverse
-> joins, dead code    optimise
-> tapes               differentiate.recording
-> temporaries folded  optimise.fold
-> text                emit
-> function            load
"""

from s2sad.pipeline.compilation import compile_gradient
from s2sad.pipeline.compiled import Compiled, Doings, Goal
from s2sad.pipeline.entry import Together

__all__ = ["Compiled", "Doings", "Goal", "Together", "compile_gradient"]
