"""Objects of several classes in lists of the new program, or in turn in a variable: numbers that say which one it is.

    hits = [(o.hit(ray), o) for o in scene]          hits = []
    hits = [(t, o) for t, o in hits if t < 9.0]      if t_sphere < 9.0:
                                                         hits.append((t_sphere, 0))
                                                     if t_plane < 9.0:
                                                         hits.append((t_plane, 1))
    for t, o in hits:                                for t, o in hits:
        total += o.shade(t)                              if o == 0: total += ...

The objects are known one by one, and stay what they are: what is read of an item is one of them by conditions
(`Choice`).  Which of them a list may refer to is a part of the state (`State.members`), so that an object that was not
there when a round of a loop began is noticed where the round ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from s2sad.ir.code import NONE, Constant, Operand, Value
from s2sad.runtime.classes import static_member
from s2sad.transform.cells import State
from s2sad.transform.known import Abstract, Choice, Closure, NotSpecialisedError, Record, Referred, Row
from s2sad.transform.shapes import Again, Shape, Shapes

if TYPE_CHECKING:
    from s2sad.transform.specialiser import Specialiser

#: To how many objects a list may refer: what is done to an item is written for each.
MOST_MEMBERS = 16

#: What a list may refer to: objects, functions and None.
Member = Record | Closure | Constant


@dataclass(eq=False)
class References:
    """The numbers of the objects to which a variable, or the items of a list and of copies of it, refer.

    ``wholes`` are the lists into which the first item was put, ``tests`` the conditions that asked last for an object,
    ``answers`` the numbers of which one was asked for, by the condition.
    """

    numbers: dict[Member, int] = field(default_factory=dict)
    wholes: set[Value] = field(default_factory=set)
    tests: dict[tuple[Operand, int], Value] = field(default_factory=dict)
    answers: dict[Operand, tuple[Operand, frozenset[int]]] = field(default_factory=dict)


def refers(value: Abstract) -> bool:
    """Whether a value is an object or function that the program makes, or one of several by conditions."""
    return isinstance(value, (Record, Closure, Referred)) or (
        isinstance(value, Choice) and refers(value.then) and refers(value.orelse)
    )


def may_refer(value: Abstract) -> bool:
    """Whether a value is such an object, None, or one of them by conditions."""
    if isinstance(value, Choice):
        return may_refer(value.then) and may_refer(value.orelse)
    return refers(value) or value == NONE


def are_there(state: State, value: Abstract) -> bool:
    """Whether a value is an object that there is in a state, None, or one of them by conditions."""
    if isinstance(value, Choice):
        return are_there(state, value.then) and are_there(state, value.orelse)
    is_there = isinstance(value, (Record, Closure)) and value.identity in state
    return is_there or value == NONE or isinstance(value, Referred)


def references_of(s: Specialiser, value: Abstract) -> References | None:
    """The numbers by which a value, or an item of a tuple, is an object already."""
    if isinstance(value, Row):
        return next((found for item in value.items if (found := references_of(s, item)) is not None), None)
    referred = s.stand_ins.chosen.get(value) if isinstance(value, Choice) else value
    return referred.references if isinstance(referred, Referred) else None


def numbered(s: Specialiser, references: References, value: Abstract) -> Abstract:
    """The number for an object, which is written where it is used.

    Raises:
        NotSpecialisedError: for what is no such object.
    """
    referred = s.stand_ins.chosen.get(value) if isinstance(value, Choice) else value
    if isinstance(referred, Referred):
        if referred.references is references:
            return referred.number
        value = chosen(s, referred)
    if isinstance(value, Choice):
        then, orelse = [numbered(s, references, side) for side in (value.then, value.orelse)]
        return Choice(value.test, then, orelse)
    if s.expression or not (isinstance(value, (Record, Closure)) or value == NONE):
        raise NotSpecialisedError("shape")
    known = s.state.members.get(references, {})
    if value not in known:
        s.state.refer({references: {value: references.numbers.setdefault(value, len(references.numbers))}})
    return Constant(s.state.members[references][value])


def number_of(s: Specialiser, references: References, value: Abstract) -> Operand:
    """The number for an object as an operand."""
    number = s.dynamic(numbered(s, references, value))
    if isinstance(number, Value):
        s.numbers.add(number)
    return number


def chosen(s: Specialiser, referred: Referred) -> Abstract:
    """The object of a number, by conditions.

    Raises:
        NotSpecialisedError: where the objects are not known.
    """
    *others, last = _members(s, referred)
    found: Abstract = last[0]
    for member, number in reversed(others):
        found = Choice(_test(s, referred, number), member, found)
    if isinstance(found, Choice):
        s.stand_ins.chosen[found] = referred
    return found


def _members(s: Specialiser, referred: Referred) -> list[tuple[Member, int]]:
    """The objects of which one is referred to, which are not all that there are where conditions have been asked."""
    references, of = referred.references, referred.number
    members = list(s.state.members.get(references, {}).items())
    if isinstance(of, Constant):
        members = [pair for pair in members if pair[1] == of.value]
    for test, holds in s.relied.answers.items():
        asked, numbers = references.answers.get(test, (None, ()))
        if asked is of:
            members = [pair for pair in members if (pair[1] in numbers) == holds]
    if not members or len(members) > MOST_MEMBERS or not all(_exists(s.state, member) for member, _ in members):
        raise NotSpecialisedError("shape")
    return sorted(members, key=lambda pair: pair[1])


def _exists(state: State, member: Member) -> bool:
    return isinstance(member, Constant) or member.identity in state


def asked(s: Specialiser, referred: Referred, question: Callable[[Abstract], bool | Value | None]) -> Operand:
    """The answer to a question about an object, of which each answers it.

    Raises:
        NotSpecialisedError: where one does not.
    """
    references = referred.references
    answers = {number: question(member) for member, number in _members(s, referred)}
    if not all(isinstance(answer, bool) for answer in answers.values()):
        raise NotSpecialisedError("truth")
    found = [number for number, answer in answers.items() if answer]
    if not found or len(found) == len(answers):
        return Constant(bool(found))
    if len(found) == 1:
        return _test(s, referred, found[0])
    numbers = s.emit("tuple", tuple(map(Constant, found)), (False,) * len(found))
    made = s.emit("compare", (referred.number, numbers), "in")
    references.answers[made] = referred.number, frozenset(found)
    return made


def is_itself(value: Abstract) -> bool:
    """Whether a value is an object that is equal to itself alone."""
    return isinstance(value, Record) and static_member(value.cls, "__eq__") is object.__eq__


def are_themselves(s: Specialiser, references: References, value: Abstract) -> bool:
    """Whether a value, and all to which a list may refer, are objects of which each is equal to itself alone."""
    if isinstance(value, Choice):
        return are_themselves(s, references, value.then) and are_themselves(s, references, value.orelse)
    objects = [value, *s.state.members.get(references, ())]
    return all(map(is_itself, objects))


def is_same(s: Specialiser, a: Abstract, b: Abstract, holds: bool) -> Value | None:
    """Whether it ``holds`` or not that two objects are one, by their numbers; None where they have none."""
    one, other = [s.stand_ins.chosen.get(value) if isinstance(value, Choice) else None for value in (a, b)]
    if one is None or other is None or one.references is not other.references:
        return None
    return s.emit("compare", (one.number, other.number), "==" if holds else "!=")


def _test(s: Specialiser, referred: Referred, at: int) -> Value:
    """Whether a number is that of an object, under the name by which branches around have asked."""
    references: References = referred.references
    number = referred.number
    known = references.tests.get((number, at))
    if known is not None and known in s.relied.answers:
        return known
    test = s.emit("compare", (number, Constant(at)), "==")
    references.tests[number, at] = test
    references.answers[test] = number, frozenset({at})
    s.needless.add(test)
    s.reads.add(test)
    return test


def grown(before: State, after: State, unseen: set[Value]) -> Mapping[References, Mapping[Member, int]]:
    """To what lists that there were before a round of a loop refer after it, if that is more than before.

    Args:
        before: The state where the round begins.
        after: The state where it ends.
        unseen: The lists to which nothing had been done then.

    Raises:
        NotSpecialisedError: if an object is made in the round: each round has another one.
    """
    found = {}
    for references, members in after.members.items():
        if references in before.members or not references.wholes.isdisjoint(unseen):
            if new := members.keys() - before.members.get(references, {}).keys():
                found[references] = members
                if not all(_exists(before, member) for member in new):
                    raise NotSpecialisedError("shape")
    return found


# --- functions of the new program

#: An object to which a list that a function is given may refer: by what, its number, and its shape.
Handed = tuple[References, int, Shape]


def handed(s: Specialiser, shapes: Shapes) -> list[Handed]:
    """The objects to which refers what a function of the new program is given: it is given these as well."""
    found: list[Handed] = []
    for references in list(shapes.references):
        members = s.state.members.get(references, {})
        if all(_exists(s.state, member) for member in members):
            found += [(references, number, shapes.of(member)) for member, number in members.items()]
    return found


def met(objects: Sequence[Handed], again: Again) -> Mapping[References, Mapping[Member, int]]:
    """The objects with their numbers, as they are made again in the function."""
    members: dict[References, dict[Member, int]] = defaultdict(dict)
    for references, number, (_, rebuild) in objects:
        members[references][rebuild(again)] = number
    return members


def check(before: State, after: State) -> None:
    """Check that a function puts no other objects into the lists that it is given.

    Raises:
        NotSpecialisedError: if it does.
    """
    if any(after.members[references] != members for references, members in before.members.items()):
        raise NotSpecialisedError("shape")
