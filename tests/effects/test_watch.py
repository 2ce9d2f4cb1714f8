"""The watching interpreter over programs of the matrix, random ones and those of `effects.txt`.

Breaks of the analysis on purpose, one for each of its rules, must each be noticed in a program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from s2sad.effects import built_in, calls, items, library, methods, mod_ref, operators, points_to
from s2sad.effects.heap import Heap
from s2sad.effects.mod_ref import Program
from s2sad.effects.objects import ARRAY, ITEMS, NOTHING, UNKNOWN, Object, Objects
from s2sad.effects.points_to import Activation
from tests.effects.test_points_to import cases
from tests.watch import outcome

Patch = pytest.MonkeyPatch


def fails(kind: str, index: int | str) -> str:
    """What is wrong with a program."""
    found = outcome(kind, index)
    return "" if found.kind == "right" else found.message


def test_programs_about_sharing_and_writing() -> None:
    assert not [message for i in range(0, 24000, 120) if (message := fails("matrix", i))]


def test_programs_of_the_texts() -> None:
    assert not [message for name in cases() if (message := fails("text", name))]


@pytest.mark.parametrize("level", [1, 2])
def test_random_programs(level: int) -> None:
    assert not [message for i in range(25) if (message := fails(f"random{level}", i))]


def test_programs_with_unknown_arguments() -> None:
    assert all(outcome("matrix", i, "nothing").kind == "right" for i in range(7, 12000, 300))


def test_programs_with_arguments_of_built_in_classes() -> None:
    found = [outcome("matrix", i, "plain").kind for i in range(9, 24000, 600)]
    assert set(found) == {"right", "skipped"}
    assert found.count("right") > len(found) / 3


# --- breaks on purpose


def only(a: Activation, *args: Any) -> Objects:
    return NOTHING


def new(a: Activation, op: Any, *args: Any) -> Objects:
    return a.site(op, ARRAY)


def _views_are_new(patch: Patch) -> None:
    patch.setitem(points_to._SIMPLE, "item", lambda a, op: new(a, op) if _is_array(a, op) else items.item(a, op))


def _is_array(a: Activation, op: Any) -> bool:
    return any(o.cls is ARRAY for o in a.of(op.operands[0]))


def _transposes_are_new(patch: Patch) -> None:
    old = operators.attribute_of
    patch.setattr(operators, "attribute_of", lambda a, op, o, name: new(a, op) if name == "T" else old(a, op, o, name))


def _results_of_the_table_are_new(patch: Patch) -> None:
    patch.setattr(library, "_result", new)


def _copies_are_copies(patch: Patch) -> None:
    patch.setattr(library._Bound, "is_given", lambda self, name, harmless=None: False)


def _stores_write_nothing(patch: Patch) -> None:
    patch.setitem(points_to._SIMPLE, "set_item", only)


def _operators_in_place_write_nothing(patch: Patch) -> None:
    patch.setitem(points_to._SIMPLE, "inplace", operators.binary)


def _the_table_writes_nothing(patch: Patch) -> None:
    patch.setattr(library._Bound, "of", lambda self, name: NOTHING)


def _attributes_are_not_stored(patch: Patch) -> None:
    patch.setattr(operators, "set_attribute_of", lambda *args: None)


def _lists_keep_nothing(patch: Patch) -> None:
    def append(a: Activation, op: Any, o: Object, args: Any) -> Objects:
        a.mod(op, [o], ITEMS)
        return NOTHING

    patch.setitem(methods._METHODS, (list, "append"), append)


def _lists_stay_as_they_are(patch: Patch) -> None:
    patch.setattr(methods, "_changed", lambda a, op, o: None)


def _displays_hold_nothing(patch: Patch) -> None:
    old = items.display
    patch.setitem(points_to._SIMPLE, "list", lambda a, op: a.site(op, list) if op.operands else old(a, op))


def _dicts_hold_nothing(patch: Patch) -> None:
    patch.setitem(points_to._SIMPLE, "dict", lambda a, op: a.site(op, dict))


def _loops_give_new_items(patch: Patch) -> None:
    patch.setattr(items, "iterated", new)


def _rows_are_new(patch: Patch) -> None:
    def unpacked(a: Activation, op: Any) -> None:
        for result in op.results:
            a.give(result, a.site(op, ARRAY))

    patch.setitem(points_to._HANDLERS, "unpack", unpacked)


def _loops_carry_nothing(patch: Patch) -> None:
    patch.setattr(Activation, "hand", lambda self, targets, operands: None)


def _one_round_is_enough(patch: Patch) -> None:
    old = Activation.region

    def run(self: Activation) -> None:
        self.heap.start()
        old(self, self.code.body)

    patch.setattr(Activation, "run", run)


def _branches_hand_on_the_last(patch: Patch) -> None:
    def give(self: Activation, value: Any, objects: Any) -> None:
        self.values[value] = frozenset(objects)

    patch.setattr(Activation, "give", give)


def _functions_see_nothing(patch: Patch) -> None:
    patch.setattr(Activation, "captured", lambda self, made, code: self.program.define(code, self.function))


def _variables_hold_nothing(patch: Patch) -> None:
    patch.setattr(Activation, "_bind", lambda self, op, target, held: None)


def _callees_write_nothing(patch: Patch) -> None:
    _without(patch, mod=frozenset())


def _callees_store_nothing(patch: Patch) -> None:
    _without(patch, stores=frozenset())


def _callees_give_nothing_back(patch: Patch) -> None:
    _without(patch, result=NOTHING)


def _callees_run_nothing_unknown(patch: Patch) -> None:
    _without(patch, is_open=False)


def _generators_give_nothing(patch: Patch) -> None:
    _without(patch, yields=NOTHING)


def _without(patch: Patch, **parts: Any) -> None:
    from dataclasses import replace

    old = mod_ref._instantiated
    patch.setattr(mod_ref, "_instantiated", lambda a, op, s, given: old(a, op, replace(s, **parts), given))


def _arguments_by_name_are_lost(patch: Patch) -> None:
    old = calls._bound

    def bound(a: Activation, op: Any, function: Any, closure: Any, args: Any) -> Any:
        return old(a, op, function, closure, library.Arguments(args.positional, {}, args.spread))

    patch.setattr(calls, "_bound", bound)


def _defaults_are_lost(patch: Patch) -> None:
    old = Program.function

    def function(self: Program, value: Any) -> Any:
        from dataclasses import replace

        found = old(self, value)
        return found if found is None else replace(found, defaults={})

    patch.setattr(Program, "function", function)


def _unknown_code_keeps_nothing(patch: Patch) -> None:
    def unknown(self: Activation, op: Any, *given: Any) -> Objects:
        self.heap.open()
        self.effect(op).mod.add((UNKNOWN, "*"))
        self.effect(op).ordered.add("unknown")
        return frozenset((UNKNOWN,))

    patch.setattr(Activation, "unknown", unknown)


def _unknown_code_writes_nothing(patch: Patch) -> None:
    old = Activation.unknown

    def unknown(self: Activation, op: Any, *given: Any) -> Objects:
        found = old(self, op, *given)
        self.effect(op).mod.discard((UNKNOWN, "*"))
        return found

    patch.setattr(Activation, "unknown", unknown)


def _unknown_classes_run_nothing(patch: Patch) -> None:
    patch.setattr(operators, "special", lambda a, op, o, names, given: NOTHING)


def _properties_run_nothing(patch: Patch) -> None:
    old = operators._of_instance
    patch.setattr(
        operators,
        "_of_instance",
        lambda a, op, o, cls, name: a.heap.load(o, name) if hasattr(cls, name) else old(a, op, o, cls, name),
    )


def _nothing_is_made_by_init(patch: Patch) -> None:
    patch.setattr(calls, "_made_instance", lambda a, op, cls, args: a.site(op, cls))


def _what_is_stored_does_not_escape(patch: Patch) -> None:
    patch.setattr(Heap, "escape", lambda self, objects: None)


def _arguments_are_apart(patch: Patch) -> None:
    old = Heap.__init__

    def begin(self: Heap, known: Any, apart: bool = False) -> None:
        old(self, known, True)

    patch.setattr(Heap, "__init__", begin)


def _sorted_lists_are_new(patch: Patch) -> None:
    patch.setitem(built_in.FUNCTIONS, id(sorted), lambda a, op, args: a.site(op, list))


def _keys_are_not_called(patch: Patch) -> None:
    patch.setattr(built_in, "ordered_by", lambda a, op, held, args: NOTHING)


def _types_are_immutable(patch: Patch) -> None:
    patch.setattr(operators, "class_of", lambda a, op, objects: NOTHING)


def _exceptions_hold_nothing(patch: Patch) -> None:
    patch.setattr(points_to, "inner", lambda region: ())


def _classes_hold_what_they_held(patch: Patch) -> None:
    patch.setattr(Heap, "is_stored", lambda self, value, name: False)


#: Each break, and a program that shows it.
BREAKS: dict[Callable[[Patch], None], tuple[str, int | str]] = {
    _views_are_new: ("text", "views"),
    _transposes_are_new: ("text", "views"),
    _results_of_the_table_are_new: ("text", "views"),
    _copies_are_copies: ("text", "copies that are none"),
    _stores_write_nothing: ("text", "copy"),
    _operators_in_place_write_nothing: ("text", "operators of lists"),
    _the_table_writes_nothing: ("text", "written by functions"),
    _attributes_are_not_stored: ("text", "attributes"),
    _lists_keep_nothing: ("text", "methods of lists and dicts"),
    _lists_stay_as_they_are: ("text", "methods of lists and dicts"),
    _displays_hold_nothing: ("text", "operators of lists"),
    _dicts_hold_nothing: ("text", "items of dicts"),
    _loops_give_new_items: ("text", "operators of lists"),
    _rows_are_new: ("text", "while"),
    _loops_carry_nothing: ("text", "for"),
    _one_round_is_enough: ("text", "for"),
    _branches_hand_on_the_last: ("text", "comparisons"),
    _functions_see_nothing: ("text", "closures"),
    _variables_hold_nothing: ("text", "try"),
    _callees_write_nothing: ("text", "methods"),
    _callees_store_nothing: ("text", "methods"),
    _callees_give_nothing_back: ("text", "methods"),
    _callees_run_nothing_unknown: ("text", "unknown code changes what has escaped"),
    _generators_give_nothing: ("text", "generator expressions"),
    _arguments_by_name_are_lost: ("text", "defaults"),
    _defaults_are_lost: ("text", "defaults"),
    _unknown_code_keeps_nothing: ("text", "object arrays"),
    _unknown_code_writes_nothing: ("text", "object arrays"),
    _unknown_classes_run_nothing: ("text", "operators of classes"),
    _properties_run_nothing: ("text", "methods"),
    _nothing_is_made_by_init: ("text", "methods"),
    _what_is_stored_does_not_escape: ("text", "objects of the module"),
    _arguments_are_apart: ("text", "stars"),
    _sorted_lists_are_new: ("text", "iterators"),
    _keys_are_not_called: ("text", "iterators"),
    _types_are_immutable: ("text", "types of what has been called"),
    _exceptions_hold_nothing: ("text", "errors that hold objects"),
    _classes_hold_what_they_held: ("text", "attributes of classes"),
}


@pytest.mark.parametrize("change", BREAKS, ids=lambda change: change.__name__.strip("_"))
def test_a_break_is_noticed(change: Callable[[Patch], None], monkeypatch: Patch) -> None:
    kind, index = BREAKS[change]
    assert not fails(kind, index)
    change(monkeypatch)
    assert fails(kind, index)
