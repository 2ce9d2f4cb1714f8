"""What is known of the functions of one compilation."""

from __future__ import annotations

import types
from collections.abc import Callable

from s2sad.pipeline.call_effects import EffectsOfCalls
from s2sad.pipeline.results import Results
from s2sad.pipeline.sources import Guards, Sources
from s2sad.pipeline.typed import Calls, Types


def _unseen(code: types.CodeType) -> None:
    """Nothing is done about the code of a function that is compiled."""


class Program:
    """The guards, sources, types, results and effects of the functions of a compilation, each found once.

    With ``exact`` arrays of modules have the sizes that they have now; ``seen`` is told the code of what is compiled.
    """

    def __init__(self, exact: bool = False, seen: Callable[[types.CodeType], None] = _unseen) -> None:
        self.guards = Guards()
        self.sources = Sources(self.guards, seen)
        self.types = Types(self.sources, self.guards, exact)
        self.results = Results(self.sources, self.guards, self.types)
        self.effects = EffectsOfCalls(self.results)
        # The types of a function depend on the results and effects of what it calls, and these on its types.
        self.types.calls = Calls(
            self.results.user_fact, self.effects.contents, self.effects.held, self.results.computes
        )
