"""What is said where functions and objects that a function makes stay as they are."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2sad import S2SADError, grad
from s2sad.errors import UnsupportedError
from s2sad.transform import calls, clashes, reasons
from tests.sources import names_of


class Box:
    def __init__(self, w: Any) -> None:
        self.w = w

    def area(self) -> Any:
        return self.w * 2.0


class Crate(Box):
    pass


def kept_in_a_list(x: Any) -> Any:
    first = Box(x[0])
    boxes = []
    for i in range(int(x[1] * 10)):
        box = Box(x[0] * i) if i * x[0] < 0.4 else [x[0]]  # here
        boxes.append(box)
    return first.area() + sum(box.area() for box in boxes)


class Counted(Box):
    count = 0

    def __init__(self, w: Any) -> None:
        super().__init__(w)
        Counted.count += 1


def counted(x: Any) -> Any:
    box = Counted(x[0])
    for _ in range(int(x[1] * 10)):  # here
        box = Crate(box.area())
    return box.area()


def replaced_in_a_loop(x: Any) -> Any:
    box = Box(x[0])
    for _ in range(int(x[1] * 10)):  # here
        box = Crate(box.area())
    return box.area()


def with_another_cause(x: Any) -> Any:
    box = Box(x[0])
    for _ in range(int(x[1] * 10)):  # here
        box = Crate(box.area())
    return box.area() + np.frombuffer(x).sum()


def not_of_functions(x: Any) -> Any:
    scaled = lambda v: v * x[0]  # noqa: E731
    return scaled(np.frombuffer(x).sum())


@pytest.mark.parametrize("f", [replaced_in_a_loop, with_another_cause])
def test_what_follows_from_it_is_not_said(f: Callable[..., Any]) -> None:
    """That objects are made, and that their methods are called, is no cause of its own."""
    with pytest.raises(S2SADError) as error:
        grad(f)(np.array([0.3, 0.2]))
    said = [v.message for v in error.value.violations]  # type: ignore[attr-defined]
    assert any("stay as they are" in message for message in said)
    assert not any("object" in message and "stay as they are" not in message for message in said)
    assert any("frombuffer" in message for message in said) == (f is with_another_cause)


@pytest.mark.parametrize("f", [kept_in_a_list, replaced_in_a_loop, counted])
def test_the_first_cause_is_said_at_its_place(f: Callable[..., Any]) -> None:
    with pytest.raises(S2SADError) as error:
        grad(f)(np.array([0.3, 0.2]))
    said = [str(v) for v in error.value.violations if "stay as they are" in v.message]  # type: ignore[attr-defined]
    assert len(said) == 1
    assert " here" in said[0]


def with_a_star(x: Any, *scales: Any) -> Any:
    box = Box(x[0])
    for scale in range(int(x[1] * 10)):
        box = Crate(box.area() * scale)  # here
    return box.area() + sum(scales)


def called_with_a_star(x: Any) -> Any:
    return with_a_star(x * 2.0)


def test_the_cause_inside_of_a_call_is_said_and_not_that_it_has_stars() -> None:
    with pytest.raises(S2SADError) as error:
        grad(called_with_a_star)(np.array([0.3, 0.2]))
    said = str(error.value)
    assert "stay as they are" in said
    assert "for scale in range" in said
    assert "called_with_a_star" in said
    assert "has a parameter with" not in said


class Noted(Box):
    made = 0

    def __init__(self, w: Any) -> None:
        super().__init__(w)
        Noted.made += 1


class Shown(ValueError):
    def __str__(self) -> str:
        return f"{self.args[0]}!"


def told(x: Any) -> Any:
    box = Noted(x[0])
    try:
        if box.w > 1.0:
            raise Shown("large")
    except Shown as error:
        print(error)
    return box.area()


class Kept(Box):
    made = 0

    def __init__(self, w: Any) -> None:
        super().__init__(w)
        count()


def count() -> None:
    Kept.made += 1


def kept(x: Any) -> Any:
    box = Kept(x[0])
    try:
        if box.w > 1.0:
            raise Shown("large")
    except Shown as error:
        print(error)
    return box.area()


def test_what_is_set_on_classes_is_said_with_a_remedy_that_works() -> None:
    with pytest.raises(S2SADError, match=r"sets an attribute of a class or module") as error:
        grad(told)(np.array([0.3, 0.2]))
    assert "in a function of its own" in str(error.value)
    before = Kept.made
    np.testing.assert_allclose(grad(kept)(np.array([0.3, 0.2])), [2.0, 0.0])
    assert Kept.made == before + 1


def test_it_is_not_said_of_anything_else() -> None:
    with pytest.raises(S2SADError) as error:
        grad(not_of_functions)(np.array([0.3, 0.2]))
    assert "stay as they are" not in str(error.value)


def walked(box: Box, x: Any) -> Any:
    t = x * box.w
    while np.sum(t) < 5.0:
        t = t * 2.0 + box.w
    return np.sum(t)


def test_what_is_written_out_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clashes, "MOST", 1)
    monkeypatch.setattr(calls, "SMALL", -1)
    monkeypatch.setattr(calls, "MOST_OF_LARGE", 0)
    with pytest.raises(S2SADError, match=r"what it calls is too long, with its loops .*\n.*walked"):
        grad(lambda x: walked(Box(x), x))(np.array([0.3, 0.2]))


#: What programs say themselves.
_OF_PYTHON = frozenset("__dict__ __init__ __iter__ argument asdict astuple chain starmap vectorize return".split())


def test_every_reason_is_said_in_words() -> None:
    """The words by which passes name their reasons are none that a user knows."""
    passes = Path(reasons.__file__).parent.glob("*.py")
    words = {w for f in passes for w in re.findall(r'NotSpecialisedError\(\s*"([^"{]+)"', f.read_text())}
    unknown = {w for w in words - reasons._WHY.keys() - _OF_PYTHON if w.isidentifier() and w[0].islower()}
    assert unknown == set()


def test_values_of_the_specialiser_are_not_named() -> None:
    def f(x: Any) -> Any:
        items, total = iter([x[0], x[1]]), 0.0
        try:
            while True:
                total = total * 2.0 + next(items)
        except StopIteration:
            total = total * x[0]
        return total

    with pytest.raises(S2SADError, match=r"what the program makes, or changes, is used here in a way that is not"):
        grad(f)(np.array([0.3, 0.2]))


def grouped(x: Any, times: Any) -> Any:
    boxes = dict(zip(("a", "b"), np.exp(x), strict=True))
    rows = [(t, Box(boxes["a"])) for t in times] + [(t, Box(boxes["b"])) for t in times]
    total = 0.0
    for _, group in itertools.groupby(rows, key=lambda row: row[0]):  # the cause
        total = total + sum(box.area() for _, box in group)
    return total


def test_what_is_said_is_the_cause_on_the_way_that_comes_furthest() -> None:
    with pytest.raises(S2SADError, match=r"by which keys the items are grouped.*\n.*the cause"):
        grad(grouped)(np.array([0.3, 0.2]), [1.0, 2.0])


ITERATED = {
    "next": "it = doubled(x); t = next(it); x[1] = t; s = next(it)",
    "next or": "it = doubled(x); t = next(it, 0.0); s = next(it, t)",
    "first items": "it = doubled(x); t = sum(itertools.islice(it, 1)); s = sum(it)",
    "while": "it = doubled(x); t = sum(itertools.takewhile(lambda v: v > 0.0, it)); s = sum(it)",
    "mapped": "it = map(lambda v: v * x[0], x); t = next(it); x[1] = t; s = next(it)",
    "filtered": "boxes = [Box(v) for v in x]; s = list(filter(lambda b: b.area() > x[0], boxes))[0]; t = s is boxes[0]",
    "greatest": "boxes = [Box(v) for v in x]; s = max(boxes, key=lambda b: helper(b)); t = id(s)",
}


@pytest.mark.parametrize("asked", ITERATED)
def test_a_place_is_one_in_the_functions_of_the_user(asked: str) -> None:
    lines = "\n    ".join(ITERATED[asked].split("; "))
    module = names_of(
        f"""
import itertools

class Box:
    def __init__(self, w):
        self.w = w
    def area(self):
        return self.w * 2.0

def helper(box):
    return eval("box.w")

def doubled(x):
    for i in range(len(x)):
        yield x[i] * 2.0

def f(x):
    {lines}
    return t * s
"""
    )
    with pytest.raises(UnsupportedError) as caught:
        grad(module["f"])(np.array([0.3, 0.2]))
    assert {v.place.file for v in caught.value.violations} == {module["f"].__code__.co_filename}
