"""Specialisation: functions and objects that a program makes and uses itself become plain functions and values.

The program is run once at compile time over abstract values (:mod:`s2sad.transform.known`), and what cannot be done
then is written down as a new program (online partial evaluation; Jones, Gomard and Sestoft 1993, chapters 4 and 10).
Calls of functions that the program makes are inlined, or become calls of functions of their own that get what they
capture as further arguments; so do functions that get a function as an argument.  Attributes of objects that the
program makes become values.

What the specialiser does not know stays as it is.  Where that is not possible, since what would have to exist at run
time has been taken apart, the function stays as a whole as it is.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from s2sad.errors import Place, SourceError, Violation
from s2sad.frontend.resolve import Guard, Resolver
from s2sad.frontend.source import Source
from s2sad.frontend.state_reads import Path
from s2sad.frontend.touched import Calls, State
from s2sad.ir.code import UNSET, Code, Value, Variable, inner
from s2sad.ir.types import Fact
from s2sad.transform import (
    calls,
    foreign,
    given_functions,
    sizes,
    typed,
    variables,
)
from s2sad.transform.arrays import returned
from s2sad.transform.cells import Returned
from s2sad.transform.composites import may_change
from s2sad.transform.entered import with_state
from s2sad.transform.existing import is_existing
from s2sad.transform.found import Key
from s2sad.transform.functions import same_function
from s2sad.transform.handlers import HANDLERS
from s2sad.transform.held_whole import is_held
from s2sad.transform.instances import Instance, part
from s2sad.transform.known import Cell, Container, Home, Known, NotSpecialisedError
from s2sad.transform.making import Making
from s2sad.transform.reasons import place_in, reason
from s2sad.transform.regions import (
    changes_items,
    fills_containers,
    makes_containers,
    names_taken,
    pruned,
    settled,
    shared_variables,
)
from s2sad.transform.relied import Recorded
from s2sad.transform.specialiser import Frame, Specialiser
from s2sad.transform.state import begin
from s2sad.transform.steady import Steady
from s2sad.transform.taken import place_of, take
from s2sad.transform.unknown_calls import calls_unknown
from s2sad.transform.ways import Ways
from s2sad.transform.worth import is_worth_it


@dataclass
class Obstacles:
    """Why functions, or calls in them, stay as they are, and whether the sizes of their arguments may help."""

    reasons: list[Violation] = field(default_factory=list)
    of_sizes: bool = False
    #: Whether it may help to know that arguments are not None.
    of_kinds: bool = False
    #: Whether it may help to write loops out, so that the items of lists and dicts stay known.
    of_rounds: bool = False
    #: Whether the functions make lists or dicts, and change what may be such: writing out helps if a program does both.
    makes_items: bool = False
    changes_items: bool = False
    #: Whether it may help to let conditions raise where they lead to what is not followed.
    of_arms: bool = False


@dataclass(frozen=True)
class Specialised:
    """A function that has been specialised: its source, those of the functions that it calls, and guards.

    The arguments for the parameters ``parted`` are objects that have been taken apart, each with the names of the
    attributes of which a copy was made.  Containers that attributes of existing objects lead to are ``recorded`` in.
    The arrays of its ``state`` exist, and are written.  It ``makes_others`` if it hands out dicts or lists of other
    classes than the built-in ones, which stay known where it is inlined.
    """

    source: Source
    sources: dict[types.FunctionType, Source]
    guards: tuple[Guard, ...]
    parted: dict[str, tuple[str, ...]]
    recorded: tuple[Recorded, ...] = ()
    state: tuple[Recorded, ...] = ()
    #: The calls of functions that are inlined, by the file and line of what they led to, the innermost first.
    led: Mapping[tuple[str, int], tuple[Place, ...]] = field(default_factory=dict)
    makes_others: bool = False


def specialised(
    source: Source,
    read: Callable[[types.FunctionType], Source],
    obstacles: Obstacles | None = None,
    package: str = "",
    instances: Mapping[str, Instance] | None = None,
    program: Calls | None = None,
    records: bool = False,
    facts: Mapping[str, Fact] | None = None,
    writes_out: bool = False,
    inlines: frozenset[types.FunctionType] = frozenset(),
    given_objects: foreign.Given = foreign.NOTHING,
    may_raise: bool = False,
    holds: bool = False,
) -> Specialised | None:
    """A function without the functions and objects that it makes and uses itself; None if it stays as it is.

    Args:
        source: The function.
        read: What reads the source of a function that it calls.
        obstacles: Is given the reason why the function stays as it is, if there is one.
        package: The package of the program: what those of other installed packages do with constants is not followed.
        instances: The arguments that are objects of the user's whose attributes the function may set, by parameter.
        program: The calls of the whole program, if they are known.
        records: Whether it may record in containers of existing objects.
        facts: The types of its arguments with their sizes as numbers, if what it makes may depend on these.
        writes_out: Whether loops are written out so that the items of lists and dicts stay known.
        inlines: The functions that are inlined since they change lists and dicts of their callers.
        given_objects: What is known of arguments for whose objects models stand.
        may_raise: Whether the arms of conditions that are not followed raise when the program comes there.
        holds: Whether lists and dicts that exist are copied at the start if they change at unknown places.
    """
    changing: frozenset[str] = frozenset()
    wanted: dict[int, Known] = {}
    why, with_state_why, of_calls = list[Violation](), list[Violation](), list[Violation]()
    taking = constants = lists = follows = True
    ways = Ways()
    state = State() if not records or program is None else program.held if holds else program.state
    existing = program.kept if records and program is not None else frozenset()
    existing = frozenset(o for o in existing if id(o.value) not in state.arrays)
    keeping = program.touching(existing) if program is not None else frozenset()
    keeps, follows_objects = bool(keeping), False
    kinds = program.kinds if program is not None and program.function is source.function else {}
    numbers = frozenset(name for name, kind in kinds.items() if kind == "scalar")
    while True:
        s, found = Specialiser(read, HANDLERS, calls.call_function, package), list[Violation]()
        s.relied.changing, s.relied.constants, s.relied.lists = changing, constants, lists
        s.relied.items, s.relied.replaces = ways.now
        s.relied.follows_makers, s.relied.writes_out, s.relied.inlines = follows, writes_out, inlines
        s.relied.may_raise = may_raise
        own = replace(source, snapshots=s.snapshots)
        home = s.homes[source.function] = Home(own, Resolver(source.function, frozenset()))
        s.relied.home, s.relied.keeper = home if records else None, home if keeps else None
        s.relied.keeping = keeping if keeps else frozenset()
        s.relied.kept = frozenset(id(o.value) for o in existing) if keeps else frozenset()
        s.relied.given_numbers = numbers
        whole = _specialised(s, home, found, wanted.values(), instances or {}, state, facts or {}, given_objects)
        if obstacles is not None:
            obstacles.of_sizes |= s.relied.asks_sizes
            obstacles.of_kinds |= s.relied.asks_kinds
            obstacles.of_rounds |= s.relied.recurs or s.stand_ins.has_tables
            obstacles.of_rounds |= any(map(fills_containers, s.lowered.values()))
            obstacles.makes_items |= any(map(makes_containers, s.lowered.values()))
            obstacles.changes_items |= any(map(changes_items, s.lowered.values()))
            obstacles.of_arms |= s.relied.has_arms
        # Functions need not be followed for lists and dicts that stay whole.
        needless = keeps and not follows_objects and not s.relied.recorded
        needless = needless and all(map(is_existing, (*wanted.values(), *s.relied.wanted.values())))
        if whole is None and needless:
            keeps = False
            continue
        of_calls = of_calls or [v for error in s.relied.unfollowed[:1] for v in reason(source, error, s.relied.led)]
        if lists and not s.relied.lists:
            lists = False
            continue
        if whole is None and ways.is_another(s.relied.mixed, s.relied.replaced, s.stand_ins.has_tables):
            continue
        if whole is None and s.relied.followed_makers:
            follows, ways = False, Ways()
            continue
        more = {n: known for n, known in s.relied.wanted.items() if n not in wanted and (keeps or is_existing(known))}
        if taking and more and whole is None and state.variables:
            # What is set beside a variable is followed with it.
            wanted.update(more)
            continue
        if state and (whole is None or not s.relied.meets_state):
            # Without it, that something is set is in the way, which is no cause.
            with_state_why, state = (found or of_calls) if state.variables else [], State()
            continue
        composites = given_objects.composites
        if composites and (whole is None or may_change(whole, composites, given_objects.shapes)):
            given_objects, ways, why = replace(given_objects, composites={}), Ways(), found
            continue
        if whole is None and instances:
            instances, why = None, found
            continue
        if taking and more:
            wanted.update(more)
            continue
        # What was found holds if what remains to run as it stands does not change it, nor read what is remembered.
        seen = frozenset(k for k, named in s.relied.variables.items() if named.is_attribute)
        recording = {n: _way(r.root, r.path) for r, n in s.relied.recorded.items()}
        held = {n: reached for n, reached in s.relied.reached.items() if is_held(reached)}
        arrays = {n: named for n, named in state.arrays.items() if not isinstance(named[1], (list, dict))}
        paths = {n: _way(way.root, way.path) for n, reached in held.items() for way in reached.ways.values()}
        entered = replace(
            state, arrays=arrays, read=seen, containers={**_taken_containers(s), **paths}, recorded=recording
        )
        steady = None if whole is None else _steady(source.function, whole, s.sources, program, entered)
        changed = frozenset(steady.changed(s.relied.attributes)) if steady is not None else frozenset()
        recorded = list(s.relied.recorded)
        if recorded and (steady is None or _are_read(s, steady, recorded)):
            records = False
            continue
        shown = not s.relied.containers.isdisjoint(s.relied.taken)
        if s.relied.containers and (steady is None or shown or steady.may_change(s.relied.containers)):
            constants = False
            continue
        is_read = bool(held) and steady is not None and _may_be_read(s, steady)
        if s.relied.meets_state and (steady is None or steady.reads_state() or is_read):
            with_state_why, state = of_calls if state.variables else [], State()
            continue
        is_seen = bool(wanted) and (steady is None or bool(changed) or _may_be_read(s, steady))
        if is_seen and not follows_objects and records and program is not None and program.changed:
            # What reads or sets their attributes is followed as well.
            existing |= program.changed
            keeping, keeps, follows_objects = program.touching(existing), True, True
            continue
        if is_seen:
            # Without lists and dicts it may be known what objects hold.
            wanted = {n: known for n, known in wanted.items() if keeps and is_existing(known)}
            keeps, taking, why = False, keeps, found
        elif whole is None:
            if obstacles is not None:
                obstacles.reasons += with_state_why or found or why or of_calls
            return None
        elif steady is not None and not changed and needless:
            keeps = False
        elif steady is not None and not changed:
            break
        else:
            changing |= changed
    if obstacles is not None:
        obstacles.reasons += of_calls
    guards = [*s.guards.values(), *steady.guards, *(g for h in s.homes.values() for g in h.resolver.guards.values())]
    file = whole.file
    led = {(file, line): tuple([place_in(file, at) for at in calls]) for line, calls in s.relied.led.items()}
    apart = [
        Recorded(known.read[1], known.read[2]) for known in wanted.values() if known.read and not is_existing(known)
    ]
    apart += [Recorded(way.root, way.path) for reached in held.values() for way in reached.ways.values()]
    return Specialised(
        whole,
        s.sources,
        tuple(guards),
        s.relied.parted,
        (*recorded, *apart),
        tuple(s.relied.entered),
        led,
        s.relied.makes_others,
    )


def _are_read(s: Specialiser, steady: Steady, recorded: Collection[Recorded]) -> bool:
    """Whether something may read the attributes by which containers are recorded in, or set them."""
    names = {next(step for step in reversed(r.path) if isinstance(step, str)) for r in recorded}
    if steady.touched is not None and steady.touched.kept:
        return True
    own = s.relied.looked_up | s.relied.read | s.relied.remembered
    return steady.reads(names) or bool(steady.changed(names)) or not names.isdisjoint(own)


def _steady(
    function: types.FunctionType,
    whole: Source,
    sources: Mapping[types.FunctionType, Source],
    program: Calls | None,
    state: State,
) -> Steady:
    """What a function that has been specialised may run as it stands."""
    unknown = any(map(calls_unknown, (whole, *sources.values())))
    known = functools.partial(program.touched, function, whole, sources, state) if program is not None else None
    direct = known or (lambda: None)
    return Steady((whole.function, *sources), unknown, direct)


def _taken_containers(s: Specialiser) -> dict[int, Path]:
    """The lists and dicts that exist and are taken apart, by identity, with the ways along which they are read."""
    known = {n: record.origin for n, record in s.relied.taken.items() if record.cls is Container}
    return {n: _way(origin.read[1], origin.read[2]) for n, origin in known.items() if origin and origin.read}


def _way(root: str, path: tuple[str | Key, ...]) -> Path:
    """A variable, and the attributes and items that lead on from there."""
    return root, tuple([(True, step.key) if isinstance(step, Key) else (False, step) for step in path])


def _may_be_read(s: Specialiser, steady: Steady) -> bool:
    """Whether something that a new program runs as it stands may read what it sets on objects that exist."""
    names = s.relied.remembered
    held = [reached for reached in s.relied.reached.values() if is_held(reached)]
    ways = [_way(way.root, way.path) for reached in held for way in reached.ways.values()]
    containers = [*_taken_containers(s).values(), *ways]
    # Under their names they may be read of objects, modules and classes that are not known.
    titles = {[root, *(step for is_item, step in path if not is_item)][-1] for root, path in containers}
    if containers and (steady.reads_kept() or not titles.isdisjoint(s.relied.read)):
        return True
    return bool(names) and (steady.reads(names) or not names.isdisjoint(s.relied.read))


def _specialised(
    s: Specialiser,
    home: Home,
    reasons: list[Violation],
    wanted: Collection[Known],
    instances: Mapping[str, Instance],
    state: State,
    facts: Mapping[str, Fact],
    given_objects: foreign.Given,
) -> Source | None:
    """A function as a specialiser writes it, with some objects that exist taken apart; None if it stays as it is."""
    try:
        code = s.code(home.source.function)
        known = given_objects.held or given_objects.functions or given_objects.composites
        helps = instances or state or known or s.relied.keeping or is_worth_it(s, code, home)
        made = _whole(s, code, home, wanted, instances, state, facts, given_objects) if helps else None
        return None if made is None else same_function(made, home, s.making.cells, s.reads)
    except NotSpecialisedError as error:
        reasons.extend(reason(home.source, error, s.relied.led))
    except (SourceError, RecursionError):
        pass
    return None


def _memory(s: Specialiser, code: Code) -> tuple[Variable, ...]:
    """The variables of the new function that are memory: those that it had, and others."""
    own = [v for v in code.variables if v in s.making.memory]
    return (*own, *sorted(s.making.memory - set(own), key=lambda v: v.name))


def _whole(
    s: Specialiser,
    code: Code,
    home: Home,
    wanted: Collection[Known],
    instances: Mapping[str, Instance],
    state: State,
    facts: Mapping[str, Fact],
    given_objects: foreign.Given,
) -> Code | None:
    """A function specialised; None if there is nothing to do."""
    function = home.source.function
    returns: list[Returned] = []
    frame = Frame({}, home, None, None, returns)
    shared = shared_variables(code, lambda name: s.lookup(frame, name)[1], s.relied.writes_out)
    s.making = Making(home, names_taken(function, code), frozenset(code.variables) - shared)
    for variable in shared:
        cell = frame.env[variable] = Cell(variable.name)
        s.state[cell] = UNSET
    params = []
    for param in code.params:
        value = Value(param.name)
        if isinstance(param.target, Variable) and param.target in shared:
            s.state[frame.env[param.target]] = value  # type: ignore[index]
            params.append(replace(param, target=value))
        elif isinstance(param.target, Value):
            frame.env[param.target] = value
            params.append(replace(param, target=value))
        else:
            params.append(param)
    s.active.append(code)
    s.sized = bool(facts)
    s.numbers.update(p.target for p in params if p.name in s.relied.given_numbers and isinstance(p.target, Value))
    for param in params:
        if param.name in facts and isinstance(param.target, Value):
            sizes.note(s, param.target, facts[param.name])
    foreign.begin(s, code, params, given_objects)
    functions = given_objects.functions
    held = {
        p.target: (p.name, functions[p.name]) for p in params if p.name in functions and isinstance(p.target, Value)
    }
    given_functions.begin(s, frame, home, held)
    begin(s, state)
    variables.begin(s, state)
    take(s, wanted, frame)
    s.used = s.used or bool(wanted)
    given = {p.name: p.target for p in params if p.name in instances and isinstance(p.target, Value)}
    if given.keys() != instances.keys():
        raise NotSpecialisedError("captured")
    start, composites = place_of(home.source.node.body), given_objects.composites
    for name, (record, copied) in part(s, function, instances, given, start, composites).items():
        if copied is not None:
            s.relied.parted[name] = copied
        frame.env.update({target: record for target, value in frame.env.items() if value is given[name]})
    for param in params:
        if param.name in given_objects.composites and isinstance(param.target, Value):
            made_of = given_objects.composites[param.name]
            targets = [target for target, value in frame.env.items() if value is param.target]
            frame.env.update(dict.fromkeys(targets, typed.seen(s, param.target, made_of)))
    region = s.region_of(code.body, frame)
    if not (s.used or s.relied.writes_out):
        return None
    region = with_state(s, region, place_of(home.source.node.body))
    at = place_of(home.source.node.body)
    body = settled(region, {r.token: s.settle(r, lambda r: (s.dynamic(returned(s, r.value, at)),)) for r in returns})
    made = replace(code, params=tuple(params), body=body, variables=_memory(s, code))
    made = pruned(made, s.needless)
    defines, defined = [any(o.kind in ("function", "class") for o in inner(c.body)) for c in (made, code)]
    if defines and not defined:
        raise NotSpecialisedError("function")
    return made
