"""Why a function may write into what outlives its call: the places, in it and in what it calls."""

from __future__ import annotations

from typing import Any

from s2sad.analysis.activity import Outside, activity, written_outside
from s2sad.analysis.effects import effects
from s2sad.analysis.infer import Facts
from s2sad.analysis.summaries import Context, constant_calls
from s2sad.errors import UnsupportedError, Violation
from s2sad.frontend.called import OWN_ARRAY
from s2sad.frontend.lower import Lowered
from s2sad.pipeline.call_effects import EffectsOfCalls
from s2sad.pipeline.refused import of_callee

#: Why callees may write into what outlives the call, by function and types; None for those that led here.
Causes = dict[Any, list[Violation] | None]


def causes_of(
    calls: EffectsOfCalls, outside: Outside, facts: Facts, lowered: Lowered, above: Causes
) -> list[Violation]:
    """Why a statement of a function may write into what outlives the call: where that is, if it is in a callee.

    ``above`` has what has been found of callees.
    """
    place, found, again = lowered.source.place, list[Violation](), False
    known = calls.found
    for call in outside.calls:
        key, _, _ = calls.results.key_of(call, facts)
        if known.inferred.get(key) is not None:
            said = _within(calls, key, above)
            again |= said is None
            found += of_callee(call, UnsupportedError(said), place(call.node)) if said else []
        elif key in known.unread and not any(c is call for c in constant_calls(outside.stmt)):
            found += of_callee(call, known.unread[key], place(call.node))
    if found or again:
        return found
    where = outside.calls[0].node if outside.calls else outside.stmt.origin.line
    return [Violation(place(where), outside.what, OWN_ARRAY)]


def _within(calls: EffectsOfCalls, key: Any, above: Causes) -> list[Violation] | None:
    """Why a callee may write into what outlives the call, found once however many calls lead there."""
    if key not in above:
        above[key] = None
        inferred = calls.found.inferred[key]
        assert inferred is not None
        lowered, facts = inferred
        # What calls itself with other facts each time is met again.
        calls.found.summarising.append(calls.results.sources.whole(key[0]))
        shared = effects(lowered.function, facts, calls.call_effects, Context())
        varied = activity(lowered.function, [p.name for p in lowered.function.params], shared, facts).varied
        items = list(written_outside(lowered.function, facts, shared, varied, lowered))
        said = [v for item in items for v in causes_of(calls, item, facts, lowered, above)]
        calls.found.summarising.pop()
        above[key] = list(UnsupportedError(said).violations)
    return above[key]


def is_unread(calls: EffectsOfCalls, outside: Outside, facts: Facts) -> bool:
    """Whether a statement may write into what outlives the call only as far as a callee cannot be read."""
    keys = [calls.results.key_of(call, facts)[0] for call in outside.calls]
    return bool(keys) and all(key in calls.found.unread and calls.found.inferred.get(key) is None for key in keys)
