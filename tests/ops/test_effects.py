"""What the table claims that calls write, store and call, and whether what they give is new, against what they do.

Every operation with such a claim has a call here. Claims must hold, and be no wider than what is seen.
"""

from __future__ import annotations

import bisect
import contextlib
import copy
import dataclasses
import datetime
import functools
import heapq
import math
import operator
import random
import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tests.operations  # noqa: F401
from s2sad import ops
from s2sad.errors import UndefinedDerivativeError
from s2sad.ops import spec
from s2sad.ops.binding import places
from s2sad.ops.spec import OpSpec
from s2sad.runtime import protocols
from s2sad.runtime.dicts import at_keys, by_key, keys_of, largest_key, smallest_key, sorted_keys, values_of
from s2sad.runtime.moves import moved
from s2sad.runtime.objects import array_of, still
from s2sad.runtime.sharing import apart, in_one_place, sole, unshared
from s2sad.runtime.trees import in_slice


def array() -> np.ndarray:
    return np.array([2.5, 0.5, 1.5])


class Thing:
    """An object with an attribute."""

    def __init__(self) -> None:
        self.v = array()


class Key:
    """Something called, that counts its calls."""

    count = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.count += 1
        return np.sum(args[0]) if args else 0.0


class Mask(Key):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        super().__call__()
        return np.ones((2, 2), bool)


class Stream:
    """An iterator that counts what is taken of it."""

    def __init__(self, items: Any) -> None:
        self.items, self.count = iter(items), 0

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Any:
        self.count += 1
        return next(self.items)


def calls() -> dict[Callable[..., Any], list[tuple[Any, ...]]]:
    """Arguments for operations; the last may be a dict of those by name."""
    a, b, c, d = array(), array(), array(), array()
    indices, mask = np.array([0, 2]), np.array([True, False, True])
    numbers = [3.0, 1.0, 2.0]
    found: dict[Callable[..., Any], list[tuple[Any, ...]]] = {
        np.copyto: [(a, 0.0)], np.put: [(a, indices, 0.0)], np.place: [(a, mask, [0.0])], np.putmask: [(a, mask, 0.0)],
        np.put_along_axis: [(a, indices, 0.0, 0)], np.fill_diagonal: [(np.ones((2, 2)), 0.0)],
        np.ndarray.fill: [(a, 0.0)], np.ndarray.sort: [(a,)], np.ndarray.partition: [(a, 1)],
        np.ndarray.resize: [(array(), 2, {"refcheck": False})], np.ndarray.setflags: [(array(), {"write": False})],
        np.ndarray.setfield: [(a, 0.0, float)], np.ndarray.__setitem__: [(a, 0, 0.0)],
        list.append: [([a], b), ([a], [b])], list.extend: [([a], [b])], list.insert: [([a], 0, b)],
        list.pop: [([a, b],)], list.remove: [([1.5, 2.5], 2.5)], list.clear: [([a],)], list.reverse: [([a, b],)],
        list.sort: [(numbers[:], {"key": Key()})], list.__setitem__: [([a], 0, b)], list.__delitem__: [([a], 0)],
        dict.pop: [({"k": a}, "k")], dict.clear: [({"k": a},)], dict.popitem: [({"k": a},)],
        dict.update: [({"k": a}, {"l": b}), ({"k": a}, [("l", b)])],
        dict.setdefault: [({}, "k", b)], dict.__setitem__: [({}, "k", b)],
        dict.__delitem__: [({"k": a}, "k")], set.pop: [({1.5},)], set.clear: [({1.5},)], set.remove: [({1.5}, 1.5)],
        set.discard: [({1.5}, 1.5)], set.add: [(set(), "t")], set.update: [(set(), {"t"})],
        set.difference_update: [({"t"}, {"t"})], set.intersection_update: [({"t"}, {"u"})],
        set.symmetric_difference_update: [(set(), {"t"})],
        object.__setattr__: [(Thing(), "v", b)], setattr: [(Thing(), "v", b)], delattr: [(Thing(), "v")],
        operator.setitem: [([a], 0, b)], operator.delitem: [([a], 0)], operator.iconcat: [([a], [b])],
        heapq.heappush: [([1.5], 2.5)], heapq.heappop: [([1.5, 2.5],)], heapq.heapify: [(numbers[:],)],
        heapq.heapreplace: [([1.5], 2.5)], heapq.heappushpop: [([1.5], 2.5)], moved: [([c, d], ([0, 1], [1, 0]))],
        bisect.insort: [([1.5], 2.5, {"key": Key()})], bisect.insort_left: [([1.5], 2.5, {"key": Key()})],
        next: [(iter([c, d]),)], np.ufunc.at: [(np.add, a, indices, 1.0)],
        sorted: [([c, d], {"key": Key()})], max: [(c, d, {"key": Key()}), ([1.5, 2.5],)],
        min: [(c, d, {"key": Key()}), ([1.5, 2.5],)],
        values_of: [({"a": a, "b": b},)], by_key: [({"a": a}, [b])], keys_of: [({"a": a},)],
        at_keys: [({"a": a, "b": b}, ("a", "b"))],
        sorted_keys: [({0.5: a, 1.5: b}, {"key": Key()})], largest_key: [({0.5: a, 1.5: b}, {"key": Key()})],
        smallest_key: [({0.5: a, 1.5: b}, {"key": Key()})],
        map: [(Key(), [c])], filter: [(Key(), [c])], functools.reduce: [(Key(), [c, d])],
        np.apply_along_axis: [(Key(), 0, c)], np.apply_over_axes: [(lambda x, i: x, c, [0])],
        np.fromfunction: [(Key(), (2, 2))], np.piecewise: [(c, [c > 1], [Key()])], np.mask_indices: [(2, Mask())],
        copy.copy: [([c],)], copy.deepcopy: [([c],)], isinstance: [(c, Key)], issubclass: [(Key, Key)],
        callable: [(Key(),)], type: [(Key(),)], len: [([Key()],)], str: [(Key(),)], repr: [(Key(),)],
        hash: [(Key(),)], id: [(Key(),)], list: [([c],)], tuple: [([c],)], dict: [([("k", c)],)], set: [([1.5],)],
        frozenset: [([1.5],)], any: [([0.0, 0.0],)], all: [([1.0, 1.0],)], sum: [([1.5, 2.5],)],
        str.join: [(" ", ["s", "t"])], np.fromiter: [([1.5, 2.5], float)], zip: [([c], [d])], enumerate: [([c],)],
        datetime.date: [(2020, 3, 4)], datetime.datetime: [(2020, 3, 4, 5)], datetime.time: [(5, 6)],
        datetime.timedelta: [(1.5,)], datetime.timezone: [(datetime.timedelta(hours=1),)],
        **{key: [("2020-03-04",)] for key in (datetime.date.fromisoformat, datetime.datetime.fromisoformat)},
        **{key: [(2020, 3, 4)] for key in (datetime.date.fromisocalendar, datetime.datetime.fromisocalendar)},
        **{key: [(737000,)] for key in (datetime.date.fromordinal, datetime.datetime.fromordinal)},
        **{key: [(1.5,)] for key in (datetime.date.fromtimestamp, datetime.datetime.fromtimestamp)},
        datetime.datetime.combine: [(datetime.date(2020, 3, 4), datetime.time(5))],
        datetime.datetime.strptime: [("2020", "%Y")], datetime.time.fromisoformat: [("05:06",)],
        hasattr: [(c, "v")], ord: [("s",)], chr: [(65,)], bytes: [([65],)], bool: [(1.5,)], complex: [(1.5,)],
        int: [(1.5,), (np.array(1.5),)], abs: [(1.5,)], round: [(1.5,)],
        math.floor: [(1.5,)], math.ceil: [(1.5,)], math.trunc: [(1.5,)], float: [(1.5,), (np.array(1.5),), (3,)],
        in_slice: [([1.5, 2.5], slice(1), [0.5])],
        np.vectorize: [(Key(),)], np.frompyfunc: [(Key(), 1, 1)], struct.pack_into: [("d", a, 8, 7.25)],
    }  # fmt: skip
    for name in "add sub mul truediv floordiv mod pow".split():
        found[getattr(operator, f"i{name}")] = [(array(), 1.5)]
        found[getattr(np.ndarray, f"__i{name}__")] = [(array(), 1.5)]
    for name in "lshift rshift xor".split():
        found[getattr(operator, f"i{name}")] = [(np.array([5, 3]), 1)]
        found[getattr(np.ndarray, f"__i{name}__")] = [(np.array([5, 3]), 1)]
    for name in ("and", "or"):
        found[getattr(operator, f"i{name}")] = [(np.array([5, 3]), 8)]
        found[getattr(np.ndarray, f"__i{name}__")] = [(np.array([5, 3]), 8)]
    found[operator.imatmul] = [(np.ones((2, 2)), np.ones((2, 2)))]
    found[np.ndarray.__imatmul__] = [(np.ones((2, 2)), np.ones((2, 2)))]
    found[list.__iadd__], found[list.__imul__] = [([a], [b])], [([a], 2)]
    found[dict.__ior__], found[set.__ior__] = [({}, {"k": b})], [(set(), {"t"})]
    found[set.__iand__], found[set.__isub__], found[set.__ixor__] = [({"t"}, set())], [({"t"}, {"t"})], [(set(), {"t"})]
    for cls, made in ((np.random.Generator, np.random.default_rng(1)), (random.Random, random.Random(1))):
        found[cls.shuffle] = [(made, list(range(9)))]
    found[np.random.RandomState.shuffle] = [(np.random.RandomState(1), list(range(9)))]
    return found


CALLED = [known for known in map(spec.spec_of, calls()) if known is not None]


def picture(value: Any) -> Any:
    """What a value holds: changed contents and other items show."""
    if isinstance(value, np.ndarray):
        return (value.tobytes(), value.shape, value.flags.writeable)
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return str(
            (getattr(value, "bit_generator", None) or value).state
            if hasattr(value, "bit_generator")
            else (
                value.get_state()  # type: ignore[union-attr]
            )
        )
    if isinstance(value, random.Random):
        return value.getstate()
    if isinstance(value, dict):
        return [(k, id(v)) for k, v in value.items()]
    if isinstance(value, (list, set)):
        return [id(v) for v in value]
    if isinstance(value, Thing):
        return [(k, id(v)) for k, v in vars(value).items()]
    return value.__reduce__() if hasattr(value, "__length_hint__") else None


def held(value: Any) -> Iterator[Any]:
    """The items of a container or an object."""
    if isinstance(value, (dict, Thing)):
        yield from (value if isinstance(value, dict) else vars(value)).values()
    elif isinstance(value, (list, set, tuple)):
        yield from value


def reached(operand: Any) -> list[np.ndarray | list[Any]]:
    """An operand and the arrays in it, or that it runs through."""
    items = copy.copy(operand) if hasattr(operand, "__length_hint__") else held(operand)
    return [v for v in (operand, *items) if isinstance(v, (np.ndarray, list, dict, set))]


def shares(result: Any, parts: list[Any]) -> bool:
    """Whether a result is one of some objects, views one or holds one."""
    arrays = [p for p in parts if isinstance(p, np.ndarray)]
    found = [result, *held(result)]
    views = any(isinstance(r, np.ndarray) and np.shares_memory(r, p) for r in found for p in arrays)
    return views or any(r is p for r in found for p in parts)


def names(known: OpSpec, count: int) -> list[str]:
    """The names of arguments that stand by position."""
    found = list(places(known))
    rest = [known.variadic or "?"] * count
    return [*found, *rest][:count]


def wrong(known: OpSpec) -> Iterator[str]:
    """In what the claims of an operation are not what its calls do."""
    for given in calls()[known.function]:
        kwargs = given[-1] if isinstance(given[-1], dict) and given[-1].keys() & {"key", "write", "refcheck"} else {}
        args = given[:-1] if kwargs else given
        named = dict(zip(names(known, len(args)), args, strict=True)) | kwargs
        before = {name: picture(value) for name, value in named.items()}
        parts = [part for value in args for part in reached(value)]
        result = known.function(*args, **kwargs)
        if known.defers == "items":
            result = list(result)
        written = {name for name, value in named.items() if picture(value) != before[name]}
        if isinstance(result, np.ndarray) and known.function is np.ndarray.__imatmul__:
            written.add("self")
        if written != set(known.writes):
            yield f"writes {sorted(written)}, not {sorted(known.writes)}"
        if known.makes is not None and type(result) is not known.makes:
            yield f"makes a {type(result).__name__}, not a {known.makes.__name__}"
        if known.result == "fresh" and shares(result, parts):
            yield "the result is not fresh"
        into = [v for name in known.writes for v in held(named.get(name))]
        stored = {name for name, v in named.items() if name not in known.writes and any(
            v is i or any(w is i for w in held(v)) for i in into)}  # fmt: skip
        if known.function not in (list.remove, set.remove, set.discard) and not stored <= set(known.stores):
            yield f"stores {sorted(stored)}, not {sorted(known.stores)}"
        called = {name for name, v in named.items() for k in (v if isinstance(v, list) else [v])
                  if isinstance(k, Key) and k.count}  # fmt: skip
        if known.calls is not None and not called <= set(known.calls):
            yield f"calls {sorted(called)}, not {sorted(known.calls)}"
        later = known.defers == "call"
        if not later and any(isinstance(named.get(name), Key) and name not in called for name in known.calls or ()):
            yield f"does not call {sorted(set(known.calls or ()) - called)}"


@pytest.mark.parametrize("known", CALLED, ids=lambda known: known.name)
def test_what_is_claimed_of_effects_is_true(known: OpSpec) -> None:
    assert not list(wrong(known))


def test_every_operation_that_writes_stores_or_calls_is_called_here() -> None:
    claimed = [s for s in spec.specs() if s.writes or s.stores or s.calls is not None]
    # What SciPy's functions call is refused with them, or passed by helpers of their rules.
    claimed = [s for s in claimed if not s.name.startswith(("scipy.", "s2sad.runtime.scipy."))]
    # Products call nothing but what a linear operator is made of, which SciPy's functions do as well.
    claimed = [s for s in claimed if not s.name.startswith("s2sad.runtime.contractions.")]
    # The checks of sharing have a test of their own.
    claimed = [s for s in claimed if not s.name.startswith("s2sad.runtime.sharing.")]
    # What makes objects of a program's classes runs nothing of these: tests/transform has programs with both.
    claimed = [s for s in claimed if not s.name.startswith("s2sad.runtime.objects.object_")]
    left = {s.name for s in claimed if s.function not in calls()}
    assert not left


def test_all_that_draw_are_ordered_and_give_something_new() -> None:
    made = np.random.default_rng(1)
    for name in ("normal", "random", "integers", "choice", "permutation"):
        known = ops.method(name)
        assert known is not None
        assert known.ordered
        before = picture(made)
        getattr(made, name)(5)
        assert picture(made) != before
    # What is drawn by a rule is a function of its parameters.
    others = (copy.deepcopy,)
    rules = [s for s in spec.specs() if s.ordered and isinstance(s, ops.Rule) and s.function not in others]
    drawing = [s for s in rules if s.name.startswith("scipy.stats.") and s.name.endswith(".rvs")]
    assert all(s.function.__module__ == "s2sad.runtime.drawing" for s in rules if s not in drawing)
    assert drawing


def test_one_name_means_the_same_for_all_classes() -> None:
    """What a method does is known by its name where the class of its object is not known."""
    for known in spec.specs():
        if known.own:
            same = ops.method(known.function.__name__)
            assert same is not None
            assert (known.writes, known.stores, known.ordered, known.constant) == (
                same.writes, same.stores, same.ordered, same.constant)  # fmt: skip


#: SciPy says that these may write into their operands, and does not.
HALVES = {f"scipy.fft.{name}" for name in "rfft irfft ihfft hfft rfft2 irfft2 rfftn irfftn".split()}
OVERWRITING = [known for known in spec.specs() if known.overwrites is not None and known.name not in HALVES]


def of_complex_numbers(known: OpSpec) -> bool:
    """Whether an operation is a Fourier transform of complex numbers."""
    return known.name.startswith(("scipy.fft.fft", "scipy.fft.ifft", "scipy.fftpack.fft", "scipy.fftpack.ifft"))


@pytest.mark.parametrize("known", OVERWRITING, ids=lambda known: known.name)
def test_options_by_which_operands_are_working_space(known: OpSpec) -> None:
    assert known.overwrites is not None
    option, harmless = known.overwrites
    for value in (harmless, not harmless):
        a = np.array([2.5, np.nan, 1.5, 0.5] if known.function is np.nan_to_num else [2.5, 0.5, 3.5, 1.5, 0.25])
        a = np.array([[2.5 + 1j, 0.5], [3.5, 1.5]]) if of_complex_numbers(known) else a
        before = picture(a)
        more = (0.5,) if "quantile" in known.name or "percentile" in known.name else ()
        known.function(a, *more, **{option: value})
        assert (picture(a) != before) is (value is not harmless)


@pytest.mark.parametrize("known", OVERWRITING, ids=lambda known: known.name)
def test_a_wrong_option_fails(known: OpSpec) -> None:
    assert known.overwrites is not None
    option, harmless = known.overwrites
    with pytest.raises(AssertionError):
        test_options_by_which_operands_are_working_space(dataclasses.replace(known, overwrites=(option, not harmless)))


IN_TURN = [known for known in CALLED if known.consumes or known.defers or known.calls]


def used(result: Any) -> None:
    """Take all items of a result, or call it."""
    if isinstance(result, np.vectorize | np.ufunc):
        result(np.array([1.5]))
    elif hasattr(result, "__next__"):
        list(result)


def out_of_turn(known: OpSpec) -> Iterator[str]:
    """What is called or run through at another time than is claimed: before a call returns, or when it is used."""
    for given in calls()[known.function]:
        kwargs = given[-1] if isinstance(given[-1], dict) and given[-1].keys() & {"key"} else {}
        args = list(given[:-1] if kwargs else given)
        named = names(known, len(args))
        for i, name in enumerate(named):
            if isinstance(args[i], (list, set)) and (name in known.consumes or known.defers):
                args[i] = Stream(args[i])
        counted = [v for v in (*args, *kwargs.values()) if isinstance(v, (Key, Stream))]
        result = known.function(*args, **kwargs)
        before = [v.count for v in counted]
        used(result)
        for value, at_once in zip(counted, before, strict=True):
            what = type(value).__name__
            if known.defers and (at_once or not value.count):
                yield f"{what} is used {at_once} times at once, {value.count} times in all"
            if not known.defers and (not at_once or value.count > at_once) and known.calls != ():
                yield f"{what} is used {value.count - at_once} times later, {at_once} times at once"


@pytest.mark.parametrize("known", IN_TURN, ids=lambda known: known.name)
def test_when_operations_call_and_run_through_what_they_are_given(known: OpSpec) -> None:
    assert not list(out_of_turn(known))


def test_every_operation_that_makes_something_is_called_here() -> None:
    assert {s.name for s in spec.specs() if s.makes is not None} <= {known.name for known in CALLED}


def test_every_operation_that_runs_through_something_is_called_here() -> None:
    claimed = {s.name for s in spec.specs() if s.consumes or s.defers} - {known.name for known in IN_TURN}
    assert not claimed


TURNS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (map, {"defers": None}),
    (filter, {"defers": None}),
    (zip, {"defers": None, "consumes": ("iterables",)}),
    (enumerate, {"defers": None, "consumes": ("iterable",)}),
    (np.vectorize, {"defers": None}),
    (sorted, {"defers": "items"}),
    (sum, {"defers": "items"}),
    (functools.reduce, {"defers": "call"}),
    (list.append, {"consumes": ("object",)}),
    (copy.copy, {"consumes": ("x",)}),
]


@pytest.mark.parametrize(("function", "change"), TURNS, ids=[f"{f.__name__} {next(iter(c))}" for f, c in TURNS])
def test_another_turn_fails(function: Callable[..., Any], change: dict[str, Any]) -> None:
    known = spec.spec_of(function)
    assert known is not None
    assert list(out_of_turn(dataclasses.replace(known, **change)))


#: What special methods return, where that is not a number.
ANSWERS: dict[str, Any] = {
    **dict.fromkeys(("__repr__", "__str__", "__format__"), "text"), "__bool__": True, "__iter__": iter(()),
    **dict.fromkeys(("__instancecheck__", "__subclasscheck__", "__contains__", "__eq__"), True),
    **dict.fromkeys(("__len__", "__hash__", "__index__", "__length_hint__"), 1), "__array_ufunc__": NotImplemented,
}  # fmt: skip
SPECIAL = [known for known in CALLED if known.special is not None]


def recorder(run: list[str]) -> type:
    """A class that has all special methods, and notes in ``run`` those that run."""

    def recording(name: str) -> Callable[..., Any]:
        def method(self: Any, *args: Any) -> Any:
            run.append(name)
            return ANSWERS.get(name, 1.5)

        return method

    some = (protocols.OPERATORS, protocols.COMPARING, protocols.ITERATING, protocols.TESTING, protocols.INDEXING)
    every = frozenset().union(*some, protocols.HASHING, protocols.PRINTING, protocols.CHECKING, protocols.OTHERS)
    members = {name: recording(name) for name in every if name not in ("__getattr__", "__class_getitem__")}
    members |= {name: recording(name) for name in ("__float__", "__int__", "__complex__")}
    members |= {name: recording(name) for name in ("__round__", "__floor__", "__ceil__", "__trunc__")}
    meta = type("Meta", (type,), members)
    made: type = meta("Recorder", (), members)
    return made


def special_methods_run(known: OpSpec) -> set[str]:
    """The special methods that a call runs of its arguments, one of them at a time of a class that has them all."""
    run: list[str] = []
    cls = recorder(run)
    for given in calls()[known.function]:
        for i, name in enumerate(names(known, len(given))):
            if name not in known.writes:
                args = list(given)
                args[i] = cls if isinstance(args[i], type) else cls()
                known.function(*args)
    return set(run)


@pytest.mark.parametrize("known", SPECIAL, ids=lambda known: known.name)
def test_no_other_special_methods_run(known: OpSpec) -> None:
    run = special_methods_run(known)
    assert known.special is not None
    # The check of an abstract class for an instance asks for the subclass.
    assert run <= known.special
    assert bool(run) == bool(known.special)


def test_every_operation_of_which_special_methods_are_known_is_called_here() -> None:
    known_ones = {s.name for s in spec.specs() if s.special is not None and not s.name.startswith("s2sad.")}
    assert {known.name for known in SPECIAL} == known_ones


def test_checks_of_the_runtime_run_no_special_methods() -> None:
    run: list[str] = []
    x = recorder(run)()
    for check in (lambda: still([x], [x]), lambda: still(x, [x]), lambda: array_of(x, 1, "d")):
        with contextlib.suppress(UndefinedDerivativeError):
            check()
    assert not run


@pytest.mark.parametrize("function", [len, isinstance, hash, abs])
def test_wrong_special_methods_fail(function: Callable[..., Any]) -> None:
    known = spec.spec_of(function)
    assert known is not None
    with pytest.raises(AssertionError):
        test_no_other_special_methods_run(dataclasses.replace(known, special=protocols.PRINTING | {"__eq__"}))


MASKED = [known for known in spec.specs() if known.mask is not None]


def masked_wrongly(known: OpSpec) -> bool:
    """Whether a call leaves other elements than its mask says, or writes there what is not the value at that place."""
    (into,), mask = known.writes, np.array([False, True, False, True])
    old, values = np.array([2.5, 0.5, 1.5, 3.5]), np.array([5.0, 6.0, 7.0, 8.0])
    (source,) = set(known.parameters) - {into, known.mask}
    written = old.copy()
    named = {into: written, source: values, str(known.mask): mask}
    known.function(*[named.pop(name) for name in known.parameters], **named)
    return not np.array_equal(written, np.where(mask, values, old))


@pytest.mark.parametrize("known", MASKED, ids=lambda known: known.name)
def test_a_mask_chooses_element_by_element(known: OpSpec) -> None:
    assert not masked_wrongly(known)


def test_a_wrong_mask_fails() -> None:
    placing = spec.spec_of(np.place)
    assert placing is not None
    assert masked_wrongly(dataclasses.replace(placing, mask="mask"))


READING_FIRST = [known for known in spec.specs() if known.reads_first and "out" in places(known)]


def overlapping(known: OpSpec) -> Iterator[bool]:
    """Whether calls that write the result over their first operand give what they give otherwise."""
    for s in known.samples():
        a = s.args[0] if s.args else None
        if not isinstance(a, np.ndarray) or a.dtype.kind not in "fc":
            continue
        right = known.function(*s.args, **s.kwargs)
        if isinstance(right, np.ndarray) and right.shape == a.shape and right.dtype == a.dtype:
            into = a.copy()
            known.function(into, *s.args[1:], **s.kwargs, out=into)
            yield bool(np.array_equal(into, right, equal_nan=True))


@pytest.mark.parametrize("known", READING_FIRST, ids=lambda known: known.name)
def test_what_reads_first_may_write_over_its_operand(known: OpSpec) -> None:
    assert all(overlapping(known))


MUTATIONS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (list.append, {"writes": ()}),
    (list.append, {"stores": ()}),
    (list.insert, {"stores": ("index",)}),
    (dict.setdefault, {"writes": ("self", "default")}),
    (dict.update, {"stores": ()}),
    (np.ndarray.fill, {"writes": ()}),
    (np.ufunc.at, {"writes": ("indices",)}),
    (heapq.heappop, {"writes": ()}),
    (heapq.heappush, {"stores": ()}),
    (bisect.insort, {"calls": ()}),
    (sorted, {"calls": ()}),
    (sorted, {"calls": ("iterable",)}),
    (map, {"calls": ()}),
    (np.apply_along_axis, {"calls": ("arr",)}),
    (copy.copy, {"result": "fresh"}),
    (next, {"writes": ()}),
    (next, {"result": "fresh"}),
    (list.pop, {"result": "fresh"}),
    (setattr, {"stores": ()}),
    (operator.iadd, {"writes": ()}),
    (operator.iadd, {"result": "fresh"}),
    (np.random.Generator.shuffle, {"writes": ("self",)}),
    (max, {"makes": list}),
    (tuple, {"makes": list}),
    (frozenset, {"makes": set}),
    (len, {"makes": float}),
    (chr, {"makes": bytes}),
    (hasattr, {"makes": int}),
]


@pytest.mark.parametrize(("function", "change"), MUTATIONS, ids=[f"{f.__name__} {next(iter(c))}" for f, c in MUTATIONS])
def test_a_wrong_claim_fails(function: Callable[..., Any], change: dict[str, Any]) -> None:
    known = spec.spec_of(function)
    assert known is not None
    assert not list(wrong(known))
    assert list(wrong(dataclasses.replace(known, **change)))


@pytest.mark.parametrize("check", [apart, unshared, sole, in_one_place], ids=lambda check: check.__name__)
def test_checks_of_sharing_call_nothing(check: Callable[..., Any]) -> None:
    called: list[Any] = []
    assert ops.spec_of(check).calls == ()  # type: ignore[union-attr]
    check((np.ones(2),), np.zeros(2), called.append)
    assert not called
