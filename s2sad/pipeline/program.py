"""What is known of the functions of one compilation."""

from __future__ import annotations

from dataclasses import dataclass

from s2sad.pipeline.call_effects import EffectsOfCalls
from s2sad.pipeline.results import Results
from s2sad.pipeline.sources import Guards, Sources
from s2sad.pipeline.typed import Calls, Types


class Program:
    """The guards, sources, types, results and effects of the functions of a compilation, each found once.

    With ``exact`` arrays of modules have the sizes that they have now.
    """

    def __init__(self, exact: bool = False) -> None:
        self.exact = exact
        self.guards = Guards()
        self.sources = Sources(self.guards)
        self.types = Types(self.sources, self.guards, exact)
        self.results = Results(self.sources, self.guards, self.types)
        self.effects = EffectsOfCalls(self.results)
        # The types of a function depend on the results and effects of what it calls, and these on its types.
        self.types.calls = Calls(
            self.results.user_fact,
            self.effects.contents,
            self.effects.held,
            self.results.computes,
            self.effects.summary,
        )


@dataclass
class Attempts:
    """The attempts to compile one function for arguments of the same types.

    What is known of the functions of the ``program`` is the same to one that takes things for numbers as it was to the
    first, which took them for arrays: only what is required of them differs.
    """

    program: Program | None = None

    def known(self, exact: bool) -> Program | None:
        """What another attempt may go on with, for arrays of modules of the sizes that they have, or of any."""
        return self.program if self.program is not None and self.program.exact == exact else None
