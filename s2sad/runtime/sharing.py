"""Checks, where arguments come in, of what the compiler has assumed: that none shares what is changed with another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from s2sad.errors import UndefinedDerivativeError
from s2sad.runtime.contents import attributes_of
from s2sad.runtime.copies import MEMORY, Reach, is_followed, is_mutable, require_apart
from s2sad.runtime.overlaps import as_array, overlap
from s2sad.runtime.parts import ATOMS, Beyond, labelled_parts, led_to
from s2sad.runtime.reading import Reading

_REMEDY = "Pass a copy of one of them."


class SharedArgumentsError(UndefinedDerivativeError):
    """Two arguments share what the function may change; ``shared`` is that object, as each of them has it.

    ``reader`` is the function that reads it otherwise than by an argument.
    """

    def __init__(self, message: str, remedy: str = _REMEDY, shared: tuple[Any, ...] = (), reader: str = "") -> None:
        """Take what is wrong, what to do about it, the objects, and who reads them."""
        super().__init__(message, remedy)
        self.shared, self.reader = shared, reader


def apart(written: Any, *others: Any) -> None:
    """Refuse arguments that share memory with one that the function writes into (or with one of a tuple of these).

    Arrays of the module, and functions that may read some, are among the ``others``.  Lists and dicts are copied one by
    one, so that none may be found twice.

    Raises:
        SharedArgumentsError: if an array in ``written`` may overlap another, or one in ``others``, or if a list or dict
            is there twice.
        UndefinedDerivativeError: if one in ``written`` overlaps itself.
    """
    own: Sequence[Any] = written if type(written) is tuple else (written,)
    rest: Sequence[Any] = others
    if not (all(map(_is_of_numbers, own)) and all(map(_is_of_numbers, rest))):
        own = _memory_in(written)
        _check_read({}, own, (written, *others))
        known = set(map(id, own))
        rest = [b for b in _memory_in(written, led_to) if id(b) not in known]
        rest += [b for x in others for b in _memory_in(x, led_to)]
        _check_lists(written, others)
    for i, a in enumerate(own):
        require_apart(as_array(a))
        for b in (*own[:i], *rest):
            if overlap(a, b):
                raise SharedArgumentsError(
                    "an argument that the function writes into and another, or an array of the module, share memory",
                    shared=(a, b),
                )


def unshared(changed: tuple[Any, ...], *others: Any, together: bool = False) -> None:
    """Refuse arguments that reach an object, or memory, that one of those reaches which the function may change.

    What the module holds may be among the ``others``.  With ``together`` those ``changed`` may share with each other.

    Raises:
        SharedArgumentsError: if two reach the same list, dict, set, instance or memory.
    """
    reached = [_changeable(x) for x in changed]
    objects = {i: y for more, _ in reached for i, y in more.items()}
    _check_read(objects, [a for _, arrays in reached for a in arrays], (*changed, *others))
    of_classes = list(_of_classes(changed))
    for x in (*others, *(read for _, read in Reading(others))) if of_classes else ():
        of_class = next((a for a in of_classes if isinstance(x, MEMORY) and overlap(a, x)), None)
        if of_class is not None:
            raise SharedArgumentsError(
                "an argument has an array of its class, which the function may change and reads otherwise, too",
                "Give the object an array of its own (s.v = s.v.copy()).",
                (of_class, of_class),
            )
    # What is not copied shows the originals.
    wide = [_changeable(x, led_to) for x in (*changed, *others)]
    for i, (objects, arrays) in enumerate(reached):
        for other, more in wide[len(changed) :] if together else (*wide[:i], *wide[i + 1 :]):
            common = next((x for key, x in objects.items() if key in other), None)
            shared = (common, common) if common is not None else _overlapping(arrays, more)
            if shared:
                raise SharedArgumentsError(
                    f"two arguments, or an argument and the module, share {described(shared[0])} that the function "
                    "may change",
                    shared=shared,
                )


def alone(x: Any, *others: Any) -> None:
    """Refuse an object whose attributes a function sets if ``others``, or what it holds itself, lead to it.

    Raises:
        SharedArgumentsError: if one does.

    Example:
        >>> import types
        >>> alone(types.SimpleNamespace(v=[1.0]), [2.0])
    """
    _check_read({id(x): x}, [], (x, *others))
    if id(x) in Reach([*attributes_of(x).values(), *others], led_to).objects:
        raise SharedArgumentsError(
            f"{described(x)} whose attributes the function sets is found in another argument, or in itself, too",
            shared=(x, x),
        )


def sole(changed: tuple[Any, ...], *arguments: Any) -> None:
    """Refuse to change a list or dict that is found twice among the arguments.

    Raises:
        SharedArgumentsError: if an object in ``changed`` is there more than once.
    """
    reached = [Reach([x], led_to) for x in arguments]
    _check_read({id(x): x for x in changed}, [], arguments)
    for x in changed:
        count = sum(a is x for a in arguments)
        count += sum(part is x for reach in reached for parts in reach.parts.values() for part in parts)
        if count > 1:
            raise SharedArgumentsError(
                "two arguments are or hold the same list or dict, and the function changes it", shared=(x, x)
            )


def in_one_place(written: tuple[Any, ...], *roots: Any, copied: bool = False) -> None:
    """Refuse to write what exists if ``roots``, or what their functions read, lead to it in another way, too.

    Args:
        written: Arrays that the function writes, and containers in which it records, as often as it reads them.
        roots: What leads there, and what else the function reads.
        copied: Whether each of them is copied by itself, so that none may be another.

    Raises:
        SharedArgumentsError: if one of them is found more often, or is an array that shares memory with another.
        UndefinedDerivativeError: if one is an array that overlaps itself.

    Example:
        >>> losses = [1.0]
        >>> in_one_place((losses,), {"losses": losses}, 2.0)
    """
    own = Counter(map(id, roots))
    read = {id(x): x for _, x in Reading(roots) if id(x) not in own}
    reach = Reach([*roots, *read.values()], led_to)
    held = own + Counter(read.keys()) + Counter(id(part) for parts in reach.parts.values() for part in parts)
    ways = Counter({id(x) for x in written} if copied else map(id, written))
    arrays = [x for x in reach.objects.values() if isinstance(x, MEMORY)]
    for x in written:
        if isinstance(x, np.ndarray):
            require_apart(x)
            other = next((y for y in arrays if y is not x and overlap(x, y)), x)
            if held[id(x)] > ways[id(x)] or other is not x:
                raise SharedArgumentsError(
                    "an array that exists and that the function writes is found in two places, or shares memory with "
                    "another array that it may read",
                    "Let one variable or attribute have it, and pass a copy of it (a.copy()) elsewhere.",
                    (x, other),
                )
        elif held[id(x)] > ways[id(x)]:
            raise SharedArgumentsError(
                f"{described(x)} that exists and that the function changes is found in two places, and what is read "
                "in the other one would be a constant",
                "Let one variable or attribute have it, or let the function change a copy.",
                (x, x),
            )


def shares(value: Any, *others: Any) -> bool:
    """Whether a value is, holds or views something of ``others`` that can change."""
    objects, arrays = _changeable(value)
    reached = [_changeable(x) for x in others]
    return any(objects.keys() & more.keys() or _overlapping(arrays, memory) for more, memory in reached)


def described(x: Any) -> str:
    """An object by its class."""
    if isinstance(x, MEMORY):
        return "memory"
    name = type(x).__name__
    return f"a {name}" if type(x) in (list, dict, set) else f"an object of type {name}"


def _changeable(x: Any, beyond: Beyond | None = None) -> tuple[dict[int, Any], list[Any]]:
    """The objects that an argument reaches and that can change, and the arrays and buffers among them."""
    if type(x) is np.ndarray and not x.dtype.hasobject:
        return {}, [x]
    if type(x) in ATOMS:
        return {}, []
    found = {i: y for i, y in Reach([x], beyond).objects.items() if is_mutable(y)}
    arrays = [y for y in found.values() if isinstance(y, MEMORY)]
    return {i: y for i, y in found.items() if not isinstance(y, np.ndarray)}, arrays


def _of_classes(objects: tuple[Any, ...]) -> Iterator[np.ndarray[Any, Any]]:
    """The arrays that some objects, or those that they reach, have as attributes of their classes."""
    for x in objects:
        classes = {type(y): attributes_of(y) for y in Reach([x]).objects.values()}
        for cls, own in classes.items():
            held = [(n, v) for base in cls.__mro__ for n, v in vars(base).items() if isinstance(v, np.ndarray)]
            yield from (v for name, v in held if name not in own)


def _check_read(objects: Mapping[int, Any], memory: Sequence[Any], roots: Iterable[Any]) -> None:
    """Refuse to change objects and memory that functions read which the ``roots`` lead to: they see no copy.

    Raises:
        SharedArgumentsError: if one does.
    """
    roots = [x for x in roots if type(x) not in ATOMS and (type(x) is not np.ndarray or x.dtype.hasobject)]
    for reader, value in Reading(roots) if roots else ():
        more, arrays = _changeable(value, led_to)
        common = next((x for key, x in objects.items() if key in more), None)
        shared = (common, common) if common is not None else _overlapping(memory, arrays)
        if shared:
            raise SharedArgumentsError(
                f"{reader} reads {described(shared[0])} that the function may change, and sees no copy of it",
                "Pass a copy of it, or give the values to the function as arguments.",
                shared,
                reader,
            )


def _check_lists(written: Any, others: Sequence[Any]) -> None:
    """Refuse a list or dict that ``written`` holds twice, or that one of the ``others`` reaches as well.

    Raises:
        SharedArgumentsError: if there is one.
    """
    reach = Reach([written])
    # What an array of numbers has besides its elements, as one of a subclass, is no place of the user's.
    holders = [n for n, x in reach.objects.items() if not (isinstance(x, np.ndarray) and not x.dtype.hasobject)]
    held = Counter(id(part) for n in holders for part in reach.parts.get(n, ()))
    beyond = {key for x in others for key in Reach([x], led_to).objects}
    for key, x in reach.objects.items():
        if isinstance(x, (list, dict)) and (held[key] > 1 or key in beyond):
            what = described(x)
            raise SharedArgumentsError(f"{what} that the function may change is found twice", shared=(x, x))


def _is_of_numbers(x: Any) -> bool:
    """Whether a value is an array that leads to nothing else."""
    return type(x) is np.ndarray and not x.dtype.hasobject


def _overlapping(first: Sequence[Any], second: Sequence[Any]) -> tuple[Any, ...]:
    return next(((a, b) for a in first for b in second if overlap(a, b)), ())


def arrays_in(x: Any) -> list[np.ndarray[Any, Any]]:
    """The arrays that a value reaches, one as often as it is held."""
    return [a for a in _memory_in(x) if isinstance(a, np.ndarray)]


def _memory_in(x: Any, beyond: Beyond | None = None) -> list[Any]:
    """The arrays and buffers that a value reaches, one as often as it is held."""
    if type(x) in ATOMS:
        return []
    if issubclass(type(x), MEMORY) and not (isinstance(x, np.ndarray) and x.dtype.hasobject):
        return [x]
    held = [part for parts in Reach([x], beyond).parts.values() for part in parts]
    counts = Counter(map(id, held))
    # What is held twice holds its arrays twice.
    again = {id(y): y for y in held if counts[id(y)] > 1 and not issubclass(type(y), MEMORY)}
    held += [part for y in again.values() for parts in Reach([y], beyond).parts.values() for part in parts]
    return [a for a in held if issubclass(type(a), MEMORY)]


def named(error: SharedArgumentsError, arguments: Mapping[str, Any]) -> UndefinedDerivativeError:
    """The error with the names of the arguments."""
    found = places(arguments, error.shared)
    what = described(error.shared[0]) if error.shared else ""
    if len(found) == 2 and not error.reader:
        message = f"arguments {found[0]} and {found[1]} share {what} that the function may change"
    elif found:
        other = f"what {error.reader} reads" if error.reader else "the module"
        message = f"argument {found[0]} and {other} share {what} that the function may change"
    else:
        message = error.args[0]
    return UndefinedDerivativeError(message, error.args[1])


def groups(arguments: Mapping[str, Any]) -> list[frozenset[str]]:
    """The names of arguments that share what can change, those together that do so directly or by others."""
    reached = {name: _changeable(x) for name, x in arguments.items()}
    found: list[frozenset[str]] = []
    for name, (objects, arrays) in reached.items():
        near = {name}
        for other in reached:
            if other != name and (objects.keys() & reached[other][0].keys() or _overlapping(arrays, reached[other][1])):
                near.add(other)
        touched = [group for group in found if group & near]
        found = [group for group in found if not group & near] + [frozenset(near).union(*touched)]
    return [group for group in found if len(group) > 1]


def places(arguments: Mapping[str, Any], shared: tuple[Any, ...]) -> list[str]:
    """How to write two places among arguments where the objects ``shared`` are found; fewer where they are not."""
    found: list[str] = []
    for wanted in shared:
        for name, x in arguments.items():
            path = next((p for p in _paths(name, x, wanted) if p not in found), None)
            if path is not None:
                found.append(path)
                break
    return found


def _paths(name: str, root: Any, wanted: Any) -> Iterable[str]:
    pending, seen = [(name, root)], set()
    while pending:
        path, x = pending.pop(0)
        if x is wanted:
            yield path
        if id(x) in seen or type(x) in ATOMS:
            continue
        seen.add(id(x))
        if is_followed(x):
            pending += [(path + label, part) for label, part in labelled_parts(x)]
        else:
            pending += [(path, part) for part in led_to(x) or ()]
