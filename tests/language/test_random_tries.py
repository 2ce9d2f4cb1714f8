"""Random programs of ``try``, ``with``, loops, jumps, stores and calls that raise, against Python and differences."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2sad import jvp, value_and_grad
from s2sad.errors import UndefinedDerivativeError, UnsupportedError

NAMES = ["y", "z", "w"]
CLASSES = ["ValueError", "IndexError", "(KeyError, OverflowError)", "Exception"]
POINTS = (0.6, 1.37, 2.3, -0.8)
#: Managers that note what becomes of them, with a number that is another inside of some.
MANAGERS = """
import contextlib
NOTES, SCALE = [], [1.0]
class Watch:
    def __enter__(self):
        NOTES.append("in")
        SCALE[0] *= 2.0
        return self
    def __exit__(self, kind, error, trace):
        SCALE[0] /= 2.0
        NOTES.append("" if kind is None else kind.__name__)
class Swallow(Watch):
    def __exit__(self, kind, error, trace):
        super().__exit__(kind, error, trace)
        return kind is ValueError
@contextlib.contextmanager
def section(name):
    NOTES.append(name)
    try:
        yield 2.0
    finally:
        NOTES.append("out")
WATCH = Watch()
"""
WITHS = [
    "with WATCH:",
    "with Watch():",
    "with section('a') as scale:",
    "with Watch(), section('b'):",
    "with contextlib.suppress(ValueError):",
    "with Swallow():",
]


class Source(random.Random):
    """Where the choices come from, and whether there are managers."""

    withs = False


def expression(r: Source, depth: int = 0) -> str:
    kind = r.random()
    if depth > 1 or kind < 0.25:
        return r.choice([*NAMES, "x"])
    inner = expression(r, depth + 1)
    if kind < 0.5:
        return f"math.{'log' if kind < 0.4 else 'sqrt'}({inner})"
    if kind < 0.55:
        return f"a[{r.choice([0, 1, 2, 5])}]"
    if kind < 0.7:
        return f"({inner} * {expression(r, depth + 1)})"
    return f"({inner} - {r.choice(['0.7', '1.3', '2.1'])})" if kind < 0.85 else f"math.sin({inner})"


def block(r: Source, margin: str, depth: int, in_loop: bool) -> list[str]:
    out: list[str] = []
    inside = margin + "    "
    for _ in range(r.randint(1, 3)):
        kind, name = r.random(), r.choice(NAMES)
        test = f"{margin}if {name} > {r.choice(['0.5', '1.5'])}:"
        if kind < 0.45:
            # What is added counts, so that nobody may leave the expression out.
            out += [f"{margin}{name} = {expression(r)}", f"{margin}h.append({name})"]
        elif kind < 0.54:
            place = r.choice(["a[0]", "a[1]", "a[2]", "a[5]", "a", "a[1:]"])
            sign = r.choice(["=", "*=", "-="]) if place != "a" else "*="
            out.append(f"{margin}{place} {sign} {expression(r)}")
        elif kind < 0.58 and in_loop:
            out.append(f"{test} {r.choice(['continue', 'break'])}")
        elif kind < 0.62:
            out.append(f"{test} return {name} * 2.0")
        elif kind < 0.68:
            out.append(f"{test} raise {r.choice(['ValueError', 'KeyError'])}('q')")
        elif kind < 0.74 and depth < 2:
            out += [test, *block(r, inside, depth + 1, in_loop)]
        elif kind < 0.8 and depth < 2:
            out += [f"{margin}for _ in range({r.randint(2, 3)}):", *block(r, inside, depth + 1, True)]
        elif depth < 3 and r.withs and r.random() < 0.6:
            body = [f"{inside}h.append(SCALE[0] * {name})", *block(r, inside, depth + 1, in_loop)]
            out += [f"{margin}{r.choice(WITHS)}", *body]
        elif depth < 3:
            out += attempt(r, margin, depth + 1, in_loop)
        else:
            out.append(f"{margin}h.append(z)")
    return out


def attempt(r: Source, margin: str, depth: int, in_loop: bool) -> list[str]:
    inside = margin + "    "
    out = [f"{margin}try:", *block(r, inside, depth + 1, in_loop)]
    classes = sorted(r.sample(CLASSES, r.randint(1, 2)), key=CLASSES.index)
    for name in classes:
        out.append(f"{margin}except {name}:")
        raising = [f"{inside}{r.choice(['raise', 'pass', 'raise KeyError(1)'])}"]
        out += raising if r.random() < 0.2 else block(r, inside, depth + 1, in_loop)
    if r.random() < 0.3:
        out += [f"{margin}else:", *block(r, inside, depth + 1, in_loop)]
    if r.random() < 0.2:
        out += [f"{margin}finally:", f"{inside}{r.choice(['w = w * 1.1', 'y = y + 0.1'])}"]
    return out


def program(seed: int, withs: bool) -> str:
    r = Source(seed)
    r.withs = withs
    lines = ["import math", "import numpy as np", *(MANAGERS.splitlines() if withs else ())]
    lines += ["def f(x):", "    y, z, w = x, 2.0 * x, 0.5"]
    lines += ["    a = np.array([x, 1.2, 0.3])", "    h = [x]", *attempt(r, "    ", 0, False)]
    return "\n".join([*lines, "    return y + z * w + np.sum(a * a) + sum(h)", ""])


def outcome(f: Callable[..., Any], x: float) -> tuple[Any, ...]:
    try:
        return ("value", f(x))
    except (ArithmeticError, ValueError, LookupError, RuntimeError) as error:
        return (type(error).__name__,)


@pytest.mark.parametrize("withs", [False, True], ids=["tries", "withs"])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("seed", range(8))
def test_random_program(seed: int, mode: str, withs: bool, tmp_path: Path) -> None:
    path = tmp_path / f"tries_{seed}.py"
    path.write_text(program(seed, withs), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    f = module.f
    df = value_and_grad(f) if mode == "reverse" else lambda x: jvp(f, (x,), (1.0,))
    notes: list[str] = getattr(module, "NOTES", [])
    for x in POINTS:
        notes.clear()
        kind, *value = outcome(f, x)
        seen = list(notes)
        notes.clear()
        try:
            found = outcome(df, x)
        except UnsupportedError as error:
            assert all(v.place is not None for v in error.violations)  # noqa: PT017
            return
        except UndefinedDerivativeError as error:
            said = str(error)
            assert (withs and "keeps an exception back" in said) or "assigned or written already" in said  # noqa: PT017
            continue
        assert notes == seen
        assert found[0] == kind
        if kind != "value":
            continue
        got, gradient = found[1]
        assert got == value[0]
        h = 1e-6
        around = [outcome(f, x + k * h) for k in (1, -1, 2, -2)]
        if all(o[0] == "value" for o in around):
            near, far = ((around[i][1] - around[i + 1][1]) / ((2 + i) * h) for i in (0, 2))
            # On both sides of a branch there is no derivative.
            if np.isfinite(near) and abs(near - far) < 1e-3 * max(1.0, abs(near)):
                np.testing.assert_allclose(gradient, near, rtol=1e-4, atol=1e-4)
