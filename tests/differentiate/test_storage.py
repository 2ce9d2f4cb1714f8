"""Source in, storage of adjoints out: which variables have shadows, which containers of adjoints, which values."""

from __future__ import annotations

import linecache
import textwrap
from typing import Any

import numpy as np
import pytest

from s2sad.analysis.evaluate import Evaluator
from s2sad.analysis.sections import sections
from s2sad.analysis.summaries import Context
from s2sad.differentiate.known import Known
from s2sad.differentiate.storage import Storage, storage_of
from s2sad.ir.sizes import Sizes
from s2sad.ir.traverse import base
from s2sad.ir.types import describe
from s2sad.pipeline.analysed import Asked, analysed
from s2sad.pipeline.program import Program

PLACES = {"x": np.ones(4), "w": 2.0, "n": 3, "c": np.ones(4) + 1j}

CASES = {
    "a new array is written, its source is not": (
        """
        def f(x, w):
            a = x * w
            a[0] = w
            return np.sum(a)
        """,
        "shadows: a",
    ),
    "nothing is written": (
        """
        def f(x, w):
            a = x * w
            return np.sum(a[1:])
        """,
        "",
    ),
    "names and views of what is written have shadows": (
        """
        def f(x, w):
            a = x * w
            row = a[1:]
            b = a
            row[0] = w
            return np.sum(b)
        """,
        "shadows: a b row",
    ),
    "a view of a constant has none": (
        """
        def f(x, w):
            a = x * w
            k = np.arange(4.0)
            k[0] = 1.0
            a[0] = w
            return np.sum(a * k)
        """,
        "shadows: a",
    ),
    "augmented assignment that nobody else sees makes values": (
        """
        def f(x, w):
            a = x * w
            a += w
            return np.sum(a)
        """,
        "",
    ),
    "one array that a loop hands on has one shadow": (
        """
        def f(x, w, n):
            a = x * w
            row = a[1:]
            for i in range(n):
                a *= w
            return np.sum(row)
        """,
        "shadows: a row\none: a",
    ),
    "an item that is read at once is a value": (
        """
        def f(x, w):
            a = x * w
            a[0] = a[1] * w
            return np.sum(a)
        """,
        "shadows: a",
    ),
    "a list that grows has a list of adjoints": (
        """
        def f(x, w):
            h = []
            h.append(w * w)
            h.append(np.sum(x))
            return h[0] * h[1]
        """,
        "containers: h",
    ),
    "the imaginary part is turned, and so are its views": (
        """
        def f(c, w):
            z = c * w
            y = z.imag
            part = y[1:]
            part[0] = w
            return np.sum(z.real)
        """,
        "shadows: part y z\nturned: part y",
    ),
    "a value that stays in an array is read there": (
        """
        def f(x, w):
            a = np.zeros(4)
            for i in range(4):
                t = np.sin(x[i]) * w
                a[i] = t
            return np.sum(a * a)
        """,
        "shadows: a\nstored: t",
    ),
}


def named(names: Any) -> str:
    """Variables, in alphabetical order; temporaries and copies of ours have none."""
    return " ".join(sorted({base(name) for name in names if not name.startswith("~")}))


def shown(found: Storage) -> str:
    """A storage as text."""
    parts = {
        "shadows": found.buffers,
        "turned": found.turned,
        "containers": found.changed,
        "one": found.same,
        "stored": found.stored,
    }
    return "\n".join(f"{what}: {text}" for what, names in parts.items() if (text := named(names)))


def stored(text: str, key: str) -> Storage:
    """The storage of the adjoints of a function, with respect to its first parameter and `w`."""
    text, filename = textwrap.dedent(text).lstrip(), f"<storage {key}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space: dict[str, Any] = {"np": np, "__name__": __name__}
    exec(compile(text, filename, "exec"), space)
    params = space["f"].__code__.co_varnames[: space["f"].__code__.co_argcount]
    facts = {name: describe(PLACES[name], name, Sizes()) for name in params}
    a = analysed(Program(), Asked(space["f"], (params[0], "w"), facts))
    parts = sections(a.function, a.facts, a.effects)
    place = a.lowered.source.place
    callees: Any = None
    known = Known(a.function, a.facts, a.effects, a.activity, parts, a.lowered.unbound, place, callees, Context())
    return storage_of(known, Evaluator(a.facts.of, a.facts.globals))


@pytest.mark.parametrize("key", CASES)
def test_how_adjoints_are_kept(key: str) -> None:
    text, expected = CASES[key]
    assert shown(stored(text, key)) == expected
