"""Arrays of the module reached through lists, dicts and objects that were built up: to write them is refused.

Programs are generated: {how the container comes to hold the array x how the array is written x where}. Each is right or
refused; the measure is Python itself for the value and the array of the module, and differences for the gradient.
"""

from __future__ import annotations

import importlib.util
import itertools
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2sad import value_and_grad
from s2sad.errors import S2SADError
from tests.language.support import Case, case, check_gradient, check_primal
from tests.oracle import numeric_gradient

X = np.array([0.71, 1.32, 0.57])
K = np.array([1.4, 0.8, 1.6])
G = np.array([0.9, 1.2, 0.7])
H = np.array([1.9, 0.2, 1.7])
ROWS = [G, H]
CONFIG = {"a": [1, 2], "b": "x"}

PRELUDE = """
import numpy as np

G = np.array([0.9, 1.2, 0.7])
HOLDER = [G]

def halve(v):
    v[0] = v[0] * 0.5
    return float(v[1])

def appended(b):
    b.append(G)

def made():
    b = []
    b.append(G)
    return b

def keyed(d):
    d["g"] = G

def seen(x):
    return np.sum(x * G)
"""

#: How the container comes to hold the array, and what is the array then.
BUILT = {
    "b = []; b.append(G)": "b[0]",
    "b = []; b.append((G, 1.0))": "b[0][0]",
    "b = []; b.append(G[1:])": "b[0]",
    "b = []; b.extend([G])": "b[0]",
    "b = []; b.insert(0, G)": "b[0]",
    "b = []; b += [G]": "b[0]",
    "b = []; b = b + [G]": "b[0]",
    "b = [None]; b[0] = G": "b[0]",
    "b = [G] * 2": "b[1]",
    "b = [G for _ in range(2)]": "b[1]",
    "b = () + (G,)": "b[0]",
    "b = [[]]; b[0].append(G)": "b[0][0]",
    "c = []; c.append([G]); b = c[0]": "b[0]",
    "b = []; c = b; c.append(G)": "b[0]",
    "b = []; list.append(b, G)": "b[0]",
    "b = []; [b.append(v) for v in [G]]": "b[0]",
    "b = []; b.append(G); b = tuple(b)": "b[0]",
    "b = []; b.append(G); b = [v for v in b]": "b[0]",
    "b = []; b.append(G); b = b + b": "b[1]",
    "b = []; b.append(HOLDER)": "b[0][0]",
    "d = {}; d['g'] = G": "d['g']",
    "d = {}; d.update(g=G)": "d['g']",
    "d = {}; d.update({'g': G})": "d['g']",
    "d = {}; d |= {'g': G}": "d['g']",
    "d = {}; d.setdefault('g', G)": "d['g']",
    "d = {'a': []}; d['a'].append(G)": "d['a'][0]",
    "d = {'a': {}}; d['a']['g'] = G": "d['a']['g']",
    "b = []; appended(b)": "b[0]",
    "b = made()": "b[0]",
    "b = [made()]": "b[0][0]",
    "(b,) = made()": "b",
    "b = list(made())": "b[0]",
    "d = {}; keyed(d)": "d['g']",
}
#: How the array A is written.
WRITTEN = (
    "A[:] = 0.35",
    "A[0] = x[0]",
    "A[0] *= 2.0",
    "u = A; u *= 2.0",
    "halve(A)",
    "np.add(A, 1.0, out=A)",
    "A.fill(0.35)",
    "A.sort()",
    "for u in [A]: u[0] = 0.35",
)
#: Where that stands.
PLACES = {
    "plain": "{build}\n{write}\nreturn np.sum(x * G)",
    "between": "{build}\nfirst = np.sum(x * G)\n{write}\nreturn first * np.sum(x * G)",
    "loop": "{build}\nfirst = np.sum(x * G)\nfor _ in range(2):\n    {write_inside}\nreturn first * seen(x)",
    "branch": "first = np.sum(x * G)\nif x[0] > 0:\n    {build_inside}\n    {write_inside}\nreturn first * seen(x)",
}


def module_of(bodies: dict[str, str], path: Path) -> Any:
    """A module with a function for each body."""
    path.write_text(PRELUDE + "".join(f"\ndef {name}(x, k):\n{body}\n" for name, body in bodies.items()))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def programs(build: str) -> dict[str, str]:
    """Every fourth of the programs that build a container in one way."""
    found = {}
    first = list(BUILT).index(build) % 4
    for (i, write), (place, form) in list(itertools.product(enumerate(WRITTEN), PLACES.items()))[first::4]:
        parts = {"build": build.split("; "), "write": re.sub(r"\bA\b", lambda _: BUILT[build], write).split("; ")}
        plain = {name: "\n".join(lines) for name, lines in parts.items()}
        inside = {f"{name}_inside": "\n    ".join(lines) for name, lines in parts.items()}
        found[f"{place}_{i}"] = textwrap.indent(form.format(**plain, **inside), " " * 4)
    return found


def outcome(module: Any, f: Any) -> str:
    """What becomes of a program: right or refused, and how; nothing else passes."""

    def run(function: Any, x: Any) -> Any:
        module.G[:] = G
        return function(x.copy(), K.copy())

    value, after = run(f, X), module.G.copy()
    try:
        found, gradient = run(value_and_grad(f), X)
    except S2SADError as error:
        return str(error)
    np.testing.assert_array_equal(found, value)
    np.testing.assert_array_equal(module.G, after)
    np.testing.assert_allclose(gradient, numeric_gradient(lambda x: run(f, x), (X,)), rtol=1e-6, atol=1e-7)
    return "right"


@pytest.mark.parametrize("build", BUILT)
def test_an_array_of_the_module_in_a_container_is_the_modules(build: str, tmp_path: Path) -> None:
    bodies = programs(build)
    module = module_of(bodies, tmp_path / f"built_{list(BUILT).index(build)}.py")
    for name, body in bodies.items():
        try:
            outcome(module, getattr(module, name))
        except AssertionError as error:
            raise AssertionError(f"{body}\n{error}") from error


@pytest.mark.parametrize("build", ["b = []; b.append(G)", "d = {}; d.update(g=G)", "b = []; appended(b)", "b = made()"])
def test_an_array_of_the_module_that_is_reached_in_one_way(build: str, tmp_path: Path) -> None:
    bodies = {
        "f": textwrap.indent(
            "\n".join([*build.split("; "), f"{BUILT[build]}[:] = 0.35", "return np.sum(x * G)"]), "    "
        )
    }
    module = module_of(bodies, tmp_path / "named.py")
    assert outcome(module, module.f) == "right"


def filled(b: list[Any]) -> None:
    b.append(G)
    b.append(H)


def rows_in_a_loop(x: Any, k: Any) -> Any:
    rows = []
    for _ in range(3):
        rows.append(G)
    return np.sum(np.stack(rows) * x)


def lists_and_dicts(x: Any, k: Any) -> Any:
    rows = []
    rows.append(G)
    rows.append(H)
    d = {}
    d["g"] = rows[0]
    d.update(h=H)
    d.setdefault("k", k)
    return np.sum(d["g"] * x * d["h"]) * len(rows)


def rows_moved(x: Any, k: Any) -> Any:
    rows = [G]
    rows.extend([H, k])
    rows.insert(0, k)
    rows.pop()
    rows.reverse()
    return np.sum(rows[0] * rows[1] * x)


def settings(x: Any, k: Any) -> Any:
    b: list[Any] = []
    b.append(CONFIG)
    b.append(1.0)
    return np.sum(x) * len(b) * b[0]["a"][1]


def list_in_a_list(x: Any, k: Any) -> Any:
    b = []
    b.append(ROWS)
    b.append(ROWS)
    return np.sum(x * b[0][1])


def filled_by_a_function(x: Any, k: Any) -> Any:
    b: list[Any] = []
    filled(b)
    return np.sum(x * b[0] * b[1])


def copies_written(x: Any, k: Any) -> Any:
    b = []
    for v in ROWS:
        b.append(v * 2.0)
    b[0][:] = 1.0
    return np.sum(x * b[0] * b[1])


def numbers_of_arrays(x: Any, k: Any) -> Any:
    h = []
    h.append(H[0])
    h.append(float(G[1]))
    h[0] = 2.0
    return np.sum(x) * h[0] * h[1]


CASES = [
    case(f, X, K, wrt=0)
    for f in (
        rows_in_a_loop,
        lists_and_dicts,
        rows_moved,
        settings,
        list_in_a_list,
        filled_by_a_function,
        copies_written,
        numbers_of_arrays,
    )
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)
