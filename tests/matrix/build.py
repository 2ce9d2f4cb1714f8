"""`program(index)`: one program of the matrix, the same text for the same index."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.matrix.axes import (
    ACTIVE,
    ACTIVITIES,
    FRESH,
    ORIGINS,
    ROUTES,
    SIMPLE_ORIGINS,
    SIMPLE_ROUTES,
    STOPPED,
    VALUES,
    Origin,
    Route,
)
from tests.matrix.classes import DEFINITIONS, METHODS, indented
from tests.matrix.operators import OPERATORS, REACHED
from tests.matrix.support import module
from tests.matrix.wholes import WHOLES, Form
from tests.matrix.writers import ALIAS, ARRAY, CALLS, NONE, NUMBER, OTHER, PLAIN, STATEMENT, Writer

_USES = {
    STATEMENT: ("statement",),
    NONE: ("unused", "bound", "condition"),
    OTHER: ("unused", "bound", "condition"),
    NUMBER: ("unused", "bound", "used", "inline", "condition"),
    ARRAY: ("unused", "bound", "used", "inline"),
    ALIAS: ("unused", "bound", "used", "inline", "written"),
}
_CLOSED_USES = ("statement", "unused", "bound", "written")
_WEIGHTS = (0.5, 0.25, 0.125)
_FIRST = "np.sum(a * a * x)"
_LAST = "np.sum(np.sin(a) * x)"
#: Orders of reading and writing; `{write}` is the block that writes.
ORDERS = {
    "after": "{setup}\nr = np.sum(x)\n{write}\nreturn r + {last}",
    "before": "{setup}\nr = {first}\n{write}\nreturn r{others}",
    "both": "{setup}\nr = {first}\n{write}\nreturn r + {last}",
    "between": "{setup}\nr = a * x\n{write}\nr = np.sum(r * r)\nreturn r + {last}",
    "between nonlinear": "{setup}\nu = np.exp(a) * x\nr = 0.0\n{write}\nreturn np.sum(u * x) + r + {last}",
    "loop": "{setup}\nr = 0.0\nfor n in range(2):\n    r = r + {first}\n{inner}\nreturn r + {last}",
    "loop write first": "{setup}\nr = 0.0\nfor n in range(2):\n{inner}\n    r = r + {first}\nreturn r{others}",
    "while": "{setup}\nr = 0.0\nn = 0\nwhile n < 2:\n    r = r + {first}\n    n += 1\n{inner}\nreturn r + {last}",
    "branch": "{setup}\nr = {first}\nif x[0] > 0.0:\n{inner}\nelse:\n    r = 2.0 * r\nreturn r + {last}",
    "branch not taken": "{setup}\nr = {first}\nif x[0] < 0.0:\n{inner}\nreturn r + {last}",
    "branch of a constant": "{setup}\nr = {first}\nif k[1] > 0.0:\n    r = 2.0 * r\nelse:\n{inner}\nreturn r + {last}",
    "then overwritten": "{setup}\nr = {first}\n{write}\na[1] = x[2]\nreturn r + {last}",
    "factor": "{setup}\nu = np.cumsum(x)\nr = np.sum(x)\n{write}\nreturn r + np.dot(a, u){others}",
    "read by a callee": "{setup}\nr = np.sum(x)\n{write}\nreturn r + weighed(a){others}",
    "dead": "{setup}\nr = np.sum(x * x)\n{write}\nreturn r",
    "callee of tuples": (
        "{setup}\nr = np.sum(x)\nb1, (r1, [c1]) = work(a, x, k{more})\n"
        "return r + r1 + np.sum(np.sin(c1) * b1 * x) + {last}"
    ),
    "callee": "{setup}\nr = np.sum(x)\nr = r + work(a, x, k{more})\nreturn r + {last}",
}
_CALLEE = "def work(a, x, k{more}):\n    r = {first}\n{inner}\n    return {returned}\n\n"
#: What the callee returns, by order.
_RETURNED = {"callee": "r + " + _LAST, "callee of tuples": "a, (r, [a[::-1]])"}


@dataclass(frozen=True)
class Choice:
    """One value on each axis."""

    writer: Writer
    origin: Origin
    route: Route
    activity: str
    order: str
    use: str
    #: What is stored, and the new array that is the object.
    value: str
    made: str

    @property
    def label(self) -> str:
        """The activity of the object and of what it receives."""
        receives = self.value in VALUES[True]
        return next(name for name, kind, active in ACTIVITIES if (kind, active) == (self.activity, receives))

    def fits(self) -> bool:
        """Whether the values can stand in one program."""
        writer, origin, route = self.writer, self.origin, self.route
        if self.activity not in origin.activities or self.use not in _USES[writer.kind]:
            return False
        if route.opening.startswith("def act") and self.use not in _CLOSED_USES:
            return False
        fixed = ("closure", "stored closure", "tuple display", "named tuple")
        if writer.rebinds and (route.name in fixed or route.name.startswith("expression")):
            return False
        # Reading what an active value was stored into through a stopped name is not what differences can tell.
        if self.activity == STOPPED and self.order == "then overwritten":
            return False
        taken = {name for name, _ in writer.parameters} & {name for name, _ in origin.parameters}
        return not taken and not (origin.default and (writer.parameters or origin.parameters))

    def simpler(self) -> Iterator[Choice]:
        """Choices that have one value less, so to say."""
        for origin in ORIGINS[:3]:
            if self.origin not in ORIGINS[:3]:
                yield replace(self, origin=origin)
        if self.route.name != "none":
            yield replace(self, route=ROUTES[0])
        for order in ("after", "before", "both"):
            if list(ORDERS).index(self.order) > list(ORDERS).index(order):
                yield replace(self, order=order)
        for use in _USES[self.writer.kind][: _USES[self.writer.kind].index(self.use)]:
            yield replace(self, use=use)
        if self.activity == STOPPED:
            yield replace(self, activity=ACTIVE, made=FRESH[ACTIVE][0])
        if self.value != VALUES[False][0]:
            yield replace(self, value=VALUES[False][0])


@dataclass(frozen=True)
class Program:
    """A module with `f` and with `arguments`, which makes new ones; and where it stands on each axis."""

    index: int
    family: str
    axes: tuple[tuple[str, str], ...]
    source: str
    argnums: tuple[int, ...] = (0,)
    #: Whether other arguments hold `x` as well, and stay as they are where it is moved.
    apart: bool = False
    choice: Choice | None = None

    @property
    def filename(self) -> str:
        return f"<matrix {self.index}>"


def composed(index: int, family: str, choice: Choice) -> Program:
    """The program of a choice."""
    writer, origin, route = choice.writer, choice.origin, choice.route
    write = _around(route, _used(writer, choice.use, route.target, choice.value))
    reads = (*writer.reads, *origin.reads, *(name for name in ("G", "S.v", "helper.cache") if f"{name}[" in writer.top))
    others = "".join(f" + {weight} * np.sum({read} * x[0])" for read, weight in zip(reads, _WEIGHTS, strict=False))
    beside = [name for name, _ in writer.parameters if name != "_"] or (["o"] if writer.before else [])
    more = "".join(f", {name}" for name in beside if re.search(rf"\b{name}\b", write))
    parts = {
        "setup": "\n".join(filter(None, (origin.lines.replace("{E}", choice.made), writer.before))),
        "write": write,
        "inner": indented(write),
        "first": _FIRST,
        "last": _LAST + others,
        "others": others,
        "more": more,
    }
    body = ORDERS[choice.order].format(**parts).lstrip()
    top = writer.top + "\n\n" if writer.top else ""
    if choice.order in _RETURNED:
        top += _CALLEE.format(**parts, returned=_RETURNED[choice.order])
    axes = (("writer", writer.name), ("origin", origin.name), ("route", route.name), ("activity", choice.label))
    axes += (("stored", choice.value), ("order", choice.order), ("use", choice.use))
    axes += (("receiver", writer.receiver),) if writer.receiver else ()
    source = _source(top, (*origin.parameters, *writer.parameters), body, origin)
    return Program(index, family, axes, source, (0, 2) if origin.differentiated else (0,), choice=choice)


def _source(top: str, parameters: Sequence[tuple[str, str]], body: str, origin: Origin = ORIGINS[0]) -> str:
    """The text of the module around the body of `f`."""
    names = ["x", "k", *(name for name, _ in parameters if name != "_")]
    signature = ", ".join(names) + (f", a={origin.default}" if origin.default else "")
    function = f"def f({signature}):\n" + indented(body)
    if origin.cell:
        function = f"def make():\n    cell = {origin.cell}\n\n{indented(function)}\n    return f\n\nf = make()"
    made = "".join(f"    {name} = {value}\n" for name, value in parameters)
    arguments = (
        "def arguments():\n    x = np.array([0.5, 1.2, -0.7])\n    k = np.array([0.8, -0.4, 1.5])\n"
        f"{made}    return {', '.join(names)}"
    )
    return module(f"{top}{function}\n\n{arguments}")


def _drawn(random: Random, writer: Writer, origins: Sequence[Origin], routes: Sequence[Route]) -> Choice:
    """A writer among values of the other axes, which are drawn again until they fit together."""
    while True:
        _, activity, stores_active = random.choice(ACTIVITIES)
        choice = Choice(
            writer,
            random.choice(origins),
            random.choice(routes),
            activity,
            random.choice(list(ORDERS)),
            random.choice(_USES[writer.kind]),
            random.choice(VALUES[stores_active]),
            random.choice(FRESH[activity]),
        )
        if choice.fits():
            return choice


def _whole(index: int, random: Random, form: Form) -> Program:
    name, activity, stores_active = random.choice([a for a in ACTIVITIES if a[1] in form.activities])
    value = random.choice(VALUES[stores_active])
    body = form.body.replace("{E}", random.choice(FRESH[activity])).replace("{v}", value)
    top = form.top + "\n\n" if form.top else ""
    axes = (("writer", form.name), ("activity", name), ("stored", value))
    source = _source(top, form.parameters, body)
    return Program(index, form.family, axes, source, apart=form.family == "active argument held by another")


def _used(writer: Writer, use: str, target: str, value: str) -> str:
    text = writer.text.format(b=target, v=value)
    return {
        "statement": text,
        "unused": text,
        "bound": f"w = {text}",
        "used": f"w = {text}\nr = r + np.sum(w)",
        "inline": f"r = r + a[0] * np.sum(a * x) * np.sum({text})",
        "written": f"w = {text}\nw[2] = {value}",
        "condition": f"if ({text}) is not None:\n    r = r + 1.0",
    }[use]


def _around(route: Route, write: str) -> str:
    if route.opening:
        write = f"{route.opening}\n{indented(write)}"
    return "\n".join(filter(None, (route.lines, write, route.closing)))


#: Families of writers, and how many in a thousand programs they get; those with None are labelled by their origin.
SHARES: tuple[tuple[str | None, int, tuple[Any, ...]], ...] = (
    (None, 340, PLAIN),
    ("methods", 180, METHODS),
    ("operators", 80, OPERATORS),
    ("reached", 40, REACHED),
    ("calls", 140, CALLS),
    ("definitions", 70, DEFINITIONS),
    ("crossed", 80, (*PLAIN, *METHODS, *OPERATORS, *REACHED, *CALLS, *DEFINITIONS)),
    ("wholes", 70, WHOLES),
)
_TURNS = [number for number, (_, share, _) in enumerate(SHARES) for _ in range(share)]
Random(0).shuffle(_TURNS)
_COUNTS = [[_TURNS[:i].count(number) for number in range(len(SHARES))] for i in range(len(_TURNS))]
_ORDER: dict[int, list[int]] = {}


def _writer(number: int, turn: int) -> Any:
    """The writers of a family one after the other, in a shuffled order, so that all come."""
    writers = SHARES[number][2]
    if number not in _ORDER:
        _ORDER[number] = Random(number).sample(range(len(writers)), len(writers))
    return writers[_ORDER[number][turn % len(writers)]]


def program(index: int) -> Program:
    """The program of an index."""
    number = _TURNS[index % len(_TURNS)]
    turn = index // len(_TURNS) * SHARES[number][1] + _COUNTS[index % len(_TURNS)][number]
    kind = SHARES[number][0]
    writer = _writer(number, turn)
    random = Random(index)
    if isinstance(writer, Form):
        return _whole(index, random, writer)
    if kind is None:
        choice = _drawn(random, writer, ORIGINS, ROUTES)
        return composed(index, f"sharing: {choice.origin.group}", choice)
    if kind == "crossed":
        return composed(index, kind, _drawn(random, writer, ORIGINS, ROUTES))
    return composed(index, writer.family, _drawn(random, writer, SIMPLE_ORIGINS, SIMPLE_ROUTES))
