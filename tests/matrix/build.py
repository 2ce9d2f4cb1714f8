"""`program(index)`: one program of the matrix, the same text for the same index."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.matrix.axes import (
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
from tests.matrix.classes import DEFINITIONS, METHODS, OPERATORS, indented
from tests.matrix.support import module
from tests.matrix.wholes import WHOLES, Form
from tests.matrix.writers import ALIAS, ARRAY, CALLS, NONE, NUMBER, OTHER, PLAIN, STATEMENT, Writer


@dataclass(frozen=True)
class Program:
    """A module with `f` and with `arguments`, which makes new ones; and where it stands on each axis."""

    index: int
    family: str
    axes: tuple[tuple[str, str], ...]
    source: str
    argnums: tuple[int, ...]

    @property
    def filename(self) -> str:
        return f"<matrix {self.index}>"


_USES = {
    STATEMENT: ("statement",),
    NONE: ("unused", "bound", "condition"),
    OTHER: ("unused", "bound", "condition"),
    NUMBER: ("unused", "bound", "used", "inline", "condition"),
    ARRAY: ("unused", "bound", "used", "inline"),
    ALIAS: ("unused", "bound", "used", "inline", "written"),
}
_CLOSED_USES = ("statement", "unused", "bound", "written")
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
    "dead": "{setup}\nr = np.sum(x * x)\n{write}\nreturn r",
    "callee": "{setup}\nr = np.sum(x)\nr = r + work(a, x, k{more})\nreturn r + {last}",
}
_CALLEE = "def work(a, x, k{more}):\n    r = {first}\n{inner}\n    return r + {last}\n\n"


class Builder:
    """Puts one program together from its values on the axes."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.random = random.Random(index)
        self.axes: list[tuple[str, str]] = []

    def pick(self, axis: str, values: Sequence[Any]) -> Any:
        chosen = self.random.choice(values)
        self.axes.append((axis, getattr(chosen, "name", None) or (chosen if isinstance(chosen, str) else chosen[0])))
        return chosen

    def composed(self, family: str, writer: Writer, origins: Sequence[Origin], routes: Sequence[Route]) -> Program:
        """A writer among the values of the other axes, those drawn again that do not fit together."""
        while True:
            self.axes = [("writer", writer.name)]
            origin = self.pick("origin", origins)
            route = self.pick("route", routes)
            _, activity, stores_active = self.pick("activity", ACTIVITIES)
            order = self.pick("order", list(ORDERS))
            use = self.pick("use", _USES[writer.kind])
            # What is stored into a stopped array is none of the differences' business.
            overwritten = activity == STOPPED and order == "then overwritten"
            if _fits(writer, origin, route, activity, use) and not overwritten:
                break
        value = self.random.choice(VALUES[stores_active])
        return self.written(family or f"sharing: {origin.group}", writer, origin, route, activity, order, use, value)

    def written(
        self, family: str, writer: Writer, origin: Origin, route: Route, activity: str, order: str, use: str, value: str
    ) -> Program:
        made = self.random.choice(FRESH[activity])
        write = _around(route, _used(writer, use, route.target, value))
        reads = (*origin.reads, *(name for name in ("G", "S.v", "helper.cache") if f"{name}[" in writer.top))
        others = "".join(
            f" + {weight} * np.sum({read} * x[0])" for read, weight in zip(reads, (0.5, 0.25, 0.125), strict=False)
        )
        parts = {
            "setup": "\n".join(filter(None, (origin.lines.replace("{E}", made), writer.before))) or "pass",
            "write": write,
            "inner": indented(write),
            "first": _FIRST,
            "last": _LAST + others,
            "others": others,
            "more": ", o" if "o." in write or "o = O" in writer.before or writer.parameters else "",
        }
        if "o" not in [name for name, _ in writer.parameters] and not writer.before:
            parts["more"] = ""
        body = ORDERS[order].format(**parts)
        top = writer.top + "\n\n" if writer.top else ""
        if order == "callee":
            top += _CALLEE.format(**{**parts, "last": _LAST})
        parameters = (*origin.parameters, *writer.parameters)
        return self.program(family, top, parameters, body, origin)

    def program(
        self, family: str, top: str, parameters: Sequence[tuple[str, str]], body: str, origin: Origin | None = None
    ) -> Program:
        names = ["x", "k", *(name for name, _ in parameters)]
        signature = ", ".join(names)
        if origin is not None and origin.default:
            signature += f", a={origin.default}"
        function = f"def f({signature}):\n" + indented(body.replace("pass\n", "", 1) if body[:4] == "pass" else body)
        if origin is not None and origin.top:
            cell = "[np.array([0.3, 0.9, -1.1])]" if origin.top == "cells" else "np.array([0.3, 0.9, -1.1])"
            function = f"def make():\n    cell = {cell}\n\n{indented(function)}\n    return f\n\nf = make()"
        made = "".join(f"    {name} = {value}\n" for name, value in parameters)
        arguments = (
            "def arguments():\n    x = np.array([0.5, 1.2, -0.7])\n    k = np.array([0.8, -0.4, 1.5])\n"
            f"{made}    return {', '.join(names)}"
        )
        source = module(f"{top}{function}\n\n{arguments}")
        argnums = (0, 2) if origin is not None and origin.differentiated else (0,)
        return Program(self.index, family, tuple(self.axes), source, argnums)

    def whole(self, form: Form) -> Program:
        self.axes = [("writer", form.name)]
        activities = [a for a in ACTIVITIES if a[1] in form.activities]
        _, activity, stores_active = self.pick("activity", activities)
        made = self.random.choice(FRESH[activity])
        value = self.random.choice(VALUES[stores_active])
        body = form.body.replace("{E}", made).replace("{v}", value)
        top = form.top + "\n\n" if form.top else ""
        return self.program(form.family, top, form.parameters, body)


def _fits(writer: Writer, origin: Origin, route: Route, activity: str, use: str) -> bool:
    if activity not in origin.activities:
        return False
    if route.opening.startswith("def act") and use not in _CLOSED_USES:
        return False
    if writer.rebinds and (route.name in ("closure", "stored closure", "tuple display", "named tuple")):
        return False
    # A lambda's parameter of the same name, or a class body, does not see what a closure sees; names are kept apart.
    taken = {name for name, _ in writer.parameters} & {name for name, _ in origin.parameters}
    return not taken and not (origin.default and (writer.parameters or origin.parameters))


def _used(writer: Writer, use: str, target: str, value: str) -> str:
    text = writer.text.format(b=target, v=value)
    return {
        "statement": text,
        "unused": text,
        "bound": f"w = {text}",
        "used": f"w = {text}\nr = r + np.sum(w)",
        "inline": f"r = r + np.sum(a * x) * np.sum({text})",
        "written": f"w = {text}\nw[2] = 0.15",
        "condition": f"if ({text}) is not None:\n    r = r + 1.0",
    }[use]


def _around(route: Route, write: str) -> str:
    if route.opening:
        write = f"{route.opening}\n{indented(write)}"
    return "\n".join(filter(None, (route.lines, write, route.closing)))


#: Families of writers, and how many in a thousand programs they get; those with None are labelled by their origin.
SHARES: tuple[tuple[str | None, int, tuple[Any, ...]], ...] = (
    (None, 380, PLAIN),
    ("methods", 220, METHODS),
    ("operators", 70, OPERATORS),
    ("calls", 140, CALLS),
    ("definitions", 70, DEFINITIONS),
    ("crossed", 80, (*PLAIN, *METHODS, *OPERATORS, *CALLS, *DEFINITIONS)),
    ("wholes", 40, WHOLES),
)
_TURNS = [number for number, (_, share, _) in enumerate(SHARES) for _ in range(share)]
random.Random(0).shuffle(_TURNS)
_COUNTS = [[_TURNS[:i].count(number) for number in range(len(SHARES))] for i in range(len(_TURNS))]
_ORDER: dict[int, list[int]] = {}


def _writer(number: int, turn: int) -> Any:
    """The writers of a family one after the other, in a shuffled order, so that all come."""
    writers = SHARES[number][2]
    if number not in _ORDER:
        _ORDER[number] = random.Random(number).sample(range(len(writers)), len(writers))
    return writers[_ORDER[number][turn % len(writers)]]


def program(index: int) -> Program:
    """The program of an index."""
    number = _TURNS[index % len(_TURNS)]
    turn = index // len(_TURNS) * SHARES[number][1] + _COUNTS[index % len(_TURNS)][number]
    kind = SHARES[number][0]
    writer = _writer(number, turn)
    builder = Builder(index)
    if isinstance(writer, Form):
        return builder.whole(writer)
    if kind is None:
        return builder.composed("", writer, ORIGINS, ROUTES)
    if kind == "crossed":
        return builder.composed("crossed", writer, ORIGINS, ROUTES)
    return builder.composed(writer.family, writer, SIMPLE_ORIGINS, SIMPLE_ROUTES)
