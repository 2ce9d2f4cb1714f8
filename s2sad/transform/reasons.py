"""Messages that say why a function was not specialised: the cause and the place."""

from __future__ import annotations

import linecache
import types
from collections.abc import Iterator, Mapping

from s2sad.errors import Place, S2SADError, Violation
from s2sad.frontend.source import Source
from s2sad.ir import code
from s2sad.transform.containers import MOST_ITEMS
from s2sad.transform.known import NotSpecialisedError

_EXISTS = "it would have to exist at run time"
#: What is said of values that the specialiser alone knows, by the names of their classes.
_NOT_FOLLOWED = "what the program makes, or changes, is used here in a way that is not followed"
#: What the words mean that the passes give as reasons.
_WHY = {
    "class": "this class has other bases, decorators or attributes than those that are followed: methods and constants",
    "forgets": "which results a cache of limited size has forgotten is not known",
    "Known": f"a class or method that the program makes is used here as a whole: {_EXISTS}",
    "Record": f"an object that the program makes is used here as a whole: {_EXISTS}",
    "Closure": f"a function that the program makes is used here as a whole: {_EXISTS}",
    "function": f"a function that the program makes is used here as a whole: {_EXISTS}",
    "captured": f"a function that changes variables around it is used here as a whole: {_EXISTS}",
    "Partial": f"a partial function is used here as a whole: {_EXISTS}",
    "Method": f"a method is used here as a whole: {_EXISTS}",
    "stand-in": f"a deque or dict with default values is used here as a whole: {_EXISTS}",
    "Stream": "how many items this runs through is not known",
    "Lazy": "an iterator is used here as a whole, and runs later",
    "generator": "a generator is used here as a whole, and runs later",
    "Generator": "a generator is used here as a whole, and runs later",
    "iterator": "what this runs through changes meanwhile, or has been run through",
    "given": "this sets an attribute of an object to which an argument leads, and which may be there more than once",
    "carried": "which function or object a variable is changes from one round of this loop to the next",
    "loop": "which functions and objects this loop changes, and how often, is not known",
    "changed": "this changes functions or objects where it is not known whether it runs",
    "results": "this returns one function or object on one way, and another one on another way",
    "shape": "this gives one function or object on one way, and another one on another way",
    "shared": "this gives one function or object on one way, and another one on another way",
    "choice": "this gives one function or object on one way, and another one on another way",
    "unset": "this has a value on some ways only",
    "created": "this attribute is set on some ways only",
    "star": "how many arguments a star stands for is not known",
    "arguments": "the arguments do not fit the parameters",
    "recursion": "what a function that calls itself returns or changes is not found",
    "condition": "whether this holds is not known",
    "key": "the key is not known",
    "many items": f"this has more than {MOST_ITEMS} items, and they are not followed one by one",
    "size": "what it calls is too long, with its loops and branches written out",
    "nested": "with what it calls written out, more loops are in one another than Python compiles",
    "truth": "whether the object counts as true is not known",
    "operator": "what the operator does to the object is not known",
    "slots": "attributes are set on an object of the module that has these in slots",
    "frozen": "the object cannot be changed",
    "subclass": "what NumPy makes here of an object of a subclass of arrays is not known",
    "axes": "whether this is a number, or an object of the subclass of arrays, is not known",
    "super": "of which class the object is, is not known",
    "each": "what objects this makes one by one is not known, since what it runs through is not",
    "end": "what this runs always raises an exception",
    "try": "what is tried changes objects, or how many rounds a loop has, where it is not known how far it comes",
    "with": "a loop or the function is left inside of this with, or its manager may yield more than once",
    "expression": "this gives an object, or may raise, in a part of an expression where no statement can stand",
    "reflected": "what the operand on the left does to the object is not known",
    "held": "a list or dict that exists, and changes at places that only the run knows, is used here as a whole",
    "items": "a list or dict is run through that a finally changes",
    "length": "a list that exists gets more items, or loses some",
    "order": "a key of a dict that exists is removed, and set again",
    "elsewhere": "an object that exists is changed or read here, and under which name it may be reached is not known",
    "changes": "an object that exists is changed here by a method that is followed with what it returns",
    "member": "a special method of the object is no function of Python's",
    "free": "a function that is made here reads what is computed after it",
    "factory": "what makes the value of a field always raises an exception",
    "attributes": "which attributes the object has is not known",
    "dispatch": "which function is chosen by the class of the argument is not known",
    "state": "this sets an attribute of a class or module, and something that is not followed may read or set it",
    "groupby": "by which keys the items are grouped is known only at run time",
    "deepcopy": "a __deepcopy__ that asks which objects have been copied already is not followed",
    "model": "what stands for an object of a library always raises an exception",
}
_REMEDIES = {
    "given": "Pass the object as an argument of its own, or make another one: dataclasses.replace(...).",
    "class": "Move the class to the module.",
    "state": "Set it in a function of its own that gets nothing which is differentiated: it is called as it stands.",
    "forgets": "Let it keep all results: functools.cache, or functools.lru_cache(maxsize=None).",
}
_REMEDY = "Write this line otherwise, or keep the values in variables of their own."


def reason(
    source: Source, error: NotSpecialisedError, led: Mapping[int, tuple[code.Place, ...]]
) -> Iterator[Violation]:
    """Why functions and objects that a function makes stay as they are; ``led`` has the calls that led to a line."""
    if error.place is None:
        return
    place = place_in(error.file, error.place)
    what = f"functions and objects that {source.name} makes stay as they are: {_why(error)}"
    calls = tuple([place_in(source.file, at) for at in led.get(error.place.line, ())])
    yield Violation(place, what, _REMEDIES.get(str(error), _REMEDY), calls if error.file == source.file else ())


def _why(error: NotSpecialisedError) -> str:
    word = str(error)
    if word in _WHY or not word.isidentifier():
        return _WHY.get(word, word)
    return _NOT_FOLLOWED if word[0].isupper() else f"what {word!r} is here is not known"


def refusal(error: NotSpecialisedError) -> tuple[str, str]:
    """What is said, and what helps, where the program takes a way on which functions and objects are not followed."""
    where = "" if error.place is None else f"{error.file}:{error.place.line}: "
    what = f"{where}functions and objects are not followed here: {_why(error)}"
    return what, _REMEDIES.get(str(error), _REMEDY)


def unread(function: types.FunctionType, error: S2SADError) -> str:
    """Why the text of a function is not read, in one line."""
    first = str(error).splitlines()[0]
    return f"{function.__name__} is called here, and cannot be read: {first.partition('error: ')[2] or first}"


def place_in(file: str, place: code.Place) -> Place:
    """Where something stands in a file."""
    text = linecache.getline(file, place.line).rstrip("\r\n")
    end = place.end_column if place.end_line == place.line else None
    return Place(file, place.line, place.column, end, text)
