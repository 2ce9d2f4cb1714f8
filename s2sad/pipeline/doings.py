"""The effects of a function that a call whose callee is known only at run time relies on."""

from __future__ import annotations

from s2sad.analysis.effects import held_by_module
from s2sad.analysis.sharers import sharers
from s2sad.analysis.summaries import only_changes
from s2sad.ir.nodes import Const
from s2sad.ir.traverse import walk
from s2sad.pipeline.analysed import Analysed
from s2sad.pipeline.compiled import Doings


def doings_of(a: Analysed) -> Doings:
    """What an analysed function does beside computing its result."""
    found, params = a.effects, {p.name: p.public for p in a.function.params}
    can_change = {n: p for n, p in params.items() if a.facts.of[n].kind not in ("scalar", "none")}
    of_result = [n for n in sharers(a.function.result, a.facts, found.calls) if not n.startswith("<")]
    shared = {can_change[m] for n in of_result for m in found.group.get(n, (n,)) if m in can_change}
    return Doings(
        tuple([p for n, p in can_change.items() if n in found.modified or n in found.versions]),
        tuple([p for n, p in can_change.items() if n in found.kept]),
        tuple(sorted(shared)),
        bool(held_by_module(a.function.result, a.facts, found)),
        any(found.alters(s) and not only_changes(s, found.calls) for s in walk(a.function.body)),
        a.function.result == Const(None),
    )
