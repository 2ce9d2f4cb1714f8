"""The sources of functions, as they are written and without what does not run, and the guards that these rest on."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import gast

from s2sad.analysis.evaluate import evaluate
from s2sad.errors import Place, S2SADError
from s2sad.frontend.call_statements import with_statements_of_calls
from s2sad.frontend.emitted import with_own_tapes
from s2sad.frontend.flattened import with_items_of_flat
from s2sad.frontend.handed_back import Handing
from s2sad.frontend.imported import with_imports
from s2sad.frontend.matching import without_match
from s2sad.frontend.method_names import with_methods_called
from s2sad.frontend.paired import with_pairs_in_loops
from s2sad.frontend.resolve import Guard, Resolver
from s2sad.frontend.respelled import with_respelled_calls
from s2sad.frontend.source import ORIGINAL, Source, read_source
from s2sad.frontend.switches import with_switches
from s2sad.frontend.touched import Calls
from s2sad.frontend.trees import nodes_of
from s2sad.ir.nodes import Const
from s2sad.ir.types import Fact, describe
from s2sad.pipeline.untaken import decisions, tested, without_untaken
from s2sad.transform.foreign import NOTHING, Given
from s2sad.transform.instances import Instance
from s2sad.transform.relied import Recorded
from s2sad.transform.specialise import Obstacles, specialised

#: Parameters of functions for lists and dicts of their callers that they change.
_Params = Mapping[types.FunctionType, frozenset[str]]


class Guards:
    """What a compilation rests on, each guard once."""

    def __init__(self) -> None:
        self.found: dict[tuple[Any, ...], Guard] = {}

    def add(self, guard: Guard) -> None:
        """Note a guard."""
        self.found.setdefault(guard.key, guard)

    def add_definition(self, function: types.FunctionType) -> None:
        """Note that what is made rests on the code and the default values of a function."""
        if isinstance(original := function.__dict__.get(ORIGINAL), types.FunctionType):
            self.add_definition(original)
        self.add(Guard(function, "__code__", function.__code__))
        for name in ("__defaults__", "__kwdefaults__"):
            if getattr(function, name) is not None:
                self.add(Guard(function, name, getattr(function, name)))

    def add_resolved(self, resolver: Resolver) -> None:
        """Note what names were resolved to."""
        for guard in resolver.guards.values():
            self.add(guard)


class Sources:
    """Reads functions, each once; who listens is told the code of those that are compiled."""

    def __init__(self, guards: Guards) -> None:
        self.guards = guards
        #: The code of functions that are compiled, and who is told of it.
        self.codes: dict[types.CodeType, None] = {}
        self.told: Callable[[types.CodeType], object] = self.codes.setdefault
        #: The package of the function that is differentiated.
        self.package = ""
        #: The sources of functions as they are written, and without what they make and use themselves.
        self.texts: dict[tuple[types.FunctionType, bool], Source] = {}
        self.sources: dict[types.FunctionType, Source] = {}
        #: The parameters that the tests of a function read.
        self.tested: dict[types.FunctionType, frozenset[str]] = {}
        #: Functions without the branches that do not run, by the types that decide these, by the outcomes of the tests,
        #: and what each was made of.
        self.prunings: dict[Any, types.FunctionType] = {}
        self.decided: dict[Any, types.FunctionType] = {}
        self.unpruned: dict[types.FunctionType, types.FunctionType] = {}
        #: Of texts of derivatives for arguments of some types, the derivatives.
        self.derived: dict[types.FunctionType, types.FunctionType] = {}
        #: By function: arguments that are objects whose attributes it may set, and those that were taken apart.
        self.instances: dict[types.FunctionType, dict[str, Instance]] = {}
        self.parted: dict[types.FunctionType, dict[str, tuple[str, ...]]] = {}
        #: By function: what is known of arguments for whose objects models stand.
        self.foreign: dict[types.FunctionType, Given] = {}
        #: Whether methods of objects are followed to which arguments lead.
        self.follows_arguments = True
        #: The function that is differentiated, if it may record what is differentiated in containers of the module.
        self.recording: types.FunctionType | None = None
        #: Those to which attributes of objects of the module lead.
        self.recorded: tuple[Recorded, ...] = ()
        #: The arrays that exist and that the function which is differentiated writes.
        self.state: tuple[Recorded, ...] = ()
        #: By function: the types of its arguments with their sizes as numbers, if objects are made by these.
        self.literal: dict[types.FunctionType, Mapping[str, Fact]] = {}
        #: Whether objects are made by the sizes of arguments, which are not known.
        self.asks_sizes = False
        #: Whether it may help a function that is refused to know that arguments are not None.
        self.asks_kinds = False
        #: Whether loops are written out for the sake of lists and dicts, and what says whether that may help.
        self.writes_out = False
        self._of_rounds = self._makes_items = self._changes_items = False
        #: Whether conditions raise that lead to what is not followed, and whether that may help.
        self.may_raise = self.has_arms = False
        #: Whether lists and dicts that exist are copied at the start if they change at unknown places.
        self.holds = False
        #: The functions that change lists and dicts of their callers, or hand out such of other classes, and those that
        #: are inlined for it.
        self.changing: set[types.FunctionType] = set()
        self.inlines: frozenset[types.FunctionType] = frozenset()
        #: The parameters of functions for lists and dicts of their callers that they change; how these are handed back.
        self.changed: dict[types.FunctionType, frozenset[str]] = {}
        self.handing = Handing({}, self.read, self.first)
        #: The calls of functions that are inlined, by the file and line of what they led to.
        self.led: dict[tuple[str, int], tuple[Place, ...]] = {}
        #: The functions that are made while others are specialised, and of which whole function each is a version.
        self.made: dict[types.FunctionType, types.FunctionType | None] = {}
        #: What functions are called with while it runs, if its arguments are numbers and the like.
        self.calls: Calls | None = None

    def tell(self, told: Callable[[types.CodeType], object]) -> None:
        """Tell somebody else the code of functions that are compiled, and that of those that have been."""
        self.told = told
        for code in self.codes:
            told(code)

    @property
    def fills_containers(self) -> bool:
        """Whether it may help to write loops out for the sake of the lists and dicts that the program makes."""
        return self._of_rounds or (self._makes_items and self._changes_items)

    def source(self, function: types.FunctionType) -> Source:
        """The source of a function, without the functions and objects that it makes and uses itself."""
        if function.__code__ not in self.codes:
            self.codes[function.__code__] = None
            self.told(function.__code__)
        if function not in self.sources:
            source = self.read(function)
            obstacles = Obstacles()
            read, instances = functools.partial(self.read, generators=True), self.instances.get(function, {})
            facts, foreign = self.literal.get(function, {}), self.foreign.get(function, NOTHING)
            records = function is self.recording
            made = specialised(
                source,
                read,
                obstacles,
                self.package,
                instances,
                self.calls,
                records,
                facts,
                self.writes_out,
                self.inlines,
                foreign,
                self.may_raise,
                self.holds,
            )
            self.asks_sizes |= obstacles.of_sizes
            self.asks_kinds |= obstacles.of_kinds
            self._of_rounds |= obstacles.of_rounds
            self._makes_items |= obstacles.makes_items
            self._changes_items |= obstacles.changes_items
            self.has_arms |= obstacles.of_arms
            if made is not None:
                nodes = [n for part in made.sources.values() for n in nodes_of(part.node)]
                source = replace(made.source, mentioned=frozenset(n.id for n in nodes if isinstance(n, gast.Name)))
                for guard in made.guards:
                    self.guards.add(guard)
                if made.parted:
                    self.parted[function] = made.parted
                self.made.update({f: part.origin for f, part in made.sources.items()})
                self.led.update(made.led)
                if made.makes_others:
                    self.note_changing(function)
                self.recorded += made.recorded
                self.state += made.state
            if obstacles.reasons:
                source = replace(source, obstacle=obstacles.reasons[0])
            if self.calls is not None:
                source = replace(source, read=self.calls.read)
            source, more = self.handing.rewritten(source, self.whole(function))
            for guard in more:
                self.guards.add(guard)
            self.sources[function] = source
        return self.sources[function]

    def note_changing(self, function: types.FunctionType, params: Collection[str] = ()) -> None:
        """Note that a function changes lists or dicts of its callers, or hands out such of other classes.

        Those of the callers are its arguments for ``params``.
        """
        function = self.unpruned.get(function, function)
        whole = self.made.get(function, function)
        if whole is not None:
            self.changing.add(whole)
            first = self.first(function)
            if params and first not in self.handing.origins:
                self.changed[first] = self.changed.get(first, frozenset()) | frozenset(params)

    def hand_back(self, changed: _Params) -> None:
        """Let functions hand back the lists and dicts of their callers that they change."""
        self.handing = Handing(changed, self.read, self.first)

    @property
    def to_be_handed(self) -> _Params:
        """The functions that hand lists and dicts back, and those of which it is known by now that they have to.

        Who gives such a function a list of its own caller has to as well.
        """
        found, more = dict(self.handing.changed), [*self.changed.items(), *self.handing.wanted.items()]
        while more:
            before = dict(found)
            for function, params in more:
                found[function] = found.get(function, frozenset()) | params
            more = self._also_handing(found) if found != before else []
        return found

    def _also_handing(self, changed: _Params) -> list[tuple[types.FunctionType, frozenset[str]]]:
        """The functions that have to hand something back if others hand back what they have ``changed``."""
        handing = Handing(changed, self.read, self.first)
        for function, source in list(self.sources.items()):
            handing.rewritten(source, self.whole(function))
        return list(handing.wanted.items())

    def read(self, function: types.FunctionType, generators: bool = False) -> Source:
        """The source of a function as it is written, but for imports, ``match`` and branches that are switched off."""
        key = function, generators
        if key not in self.texts:
            source, guards = with_imports(without_match(with_own_tapes(read_source(function, generators))))
            source = with_methods_called(source)
            source, more = with_switches(source)
            source, others = with_respelled_calls(source, function.__code__)
            source, flat = with_items_of_flat(source)
            source, paired = with_pairs_in_loops(source)
            source, stated = with_statements_of_calls(source)
            for guard in (*guards, *more, *others, *flat, *paired, *stated):
                self.guards.add(guard)
            self.texts[key] = source
        return self.texts[key]

    def written(self, function: types.FunctionType) -> Source:
        """The source of a function as its author has it, all branches included."""
        return self.read(self.unpruned.get(function, function))

    def whole(self, function: types.FunctionType) -> types.FunctionType:
        """The function of which one is a version for arguments of some types; itself if it is none."""
        function = self.unpruned.get(function, function)
        return self.derived.get(function, function)

    def first(self, function: types.FunctionType) -> types.FunctionType:
        """The function of which one is a version, however often it was specialised anew."""
        while True:
            found = self.whole(function)
            found = self.made.get(found) or found
            if found is function:
                return found
            function = found

    def pruned(self, function: types.FunctionType, facts: Mapping[str, Fact]) -> types.FunctionType:
        """A function without the branches that the types of its arguments rule out; itself if there is none."""
        names = self.tested.get(function)
        if names is None:
            try:
                names = self.tested[function] = tested(self.read(function))
            except S2SADError:
                return function
        facts = {**_default_values(function), **facts} if names else {}
        key = function, tuple([(name, facts[name]) for name in sorted(facts.keys() & names)])
        if key not in self.prunings:
            self.prunings[key] = self.without_branches(function, facts) if key[1] else function
        return self.prunings[key]

    def without_branches(self, function: types.FunctionType, facts: Mapping[str, Fact]) -> types.FunctionType:
        """The same, made anew unless the same branches were ruled out before."""
        source = self.read(function)
        code = source.function.__code__
        resolver = Resolver(source.function, frozenset((*code.co_varnames, *code.co_cellvars)))
        decided = decisions(source, facts, lambda text: classes_of(resolver, text))
        self.guards.add_resolved(resolver)
        key = function, decided
        if decided and key not in self.decided:
            made = without_untaken(source, decided)
            self.decided[key] = made or function
            if made is not None:
                self.unpruned[made] = function
                self.guards.add_definition(function)
        return self.decided[key] if decided else function


def classes_of(resolver: Resolver, text: str) -> tuple[type, ...]:
    """The class that a global name or attribute has, or the classes of a tuple of them, guarded; else none."""
    return resolver.fact(gast.parse(text, mode="eval").body, _as_classes) or ()


def _as_classes(value: Any) -> tuple[type, ...]:
    """A class, or a tuple of classes, as a tuple."""
    values = value if type(value) is tuple else (value,)
    return values if all(isinstance(v, type) for v in values) else ()


def _default_values(function: types.FunctionType) -> dict[str, Fact]:
    """The types of default values that are literals."""
    values = {name: p.default for name, p in inspect.signature(function, follow_wrapped=False).parameters.items()}
    return {n: default_fact(n, v) for n, v in values.items() if v is None or type(v) in (int, bool, str)}


def default_fact(name: str, value: Any) -> Fact:
    """The type of a default value, in terms that no caller has for something else."""
    return evaluate(Const(value), {}, {}) if type(value) in (int, bool, str) else describe(value, f"{name}=")
