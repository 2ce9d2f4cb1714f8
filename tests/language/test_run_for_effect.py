"""Statements that are run for what a function does which they call: by name, as a key, in a condition, in a loop.

Programs are generated: {how it is called x what is called x what it writes x where the statement stands}. Each is right
or refused; the measure is Python itself for the value and for what the module holds afterwards, and differences for
the gradient.
"""

from __future__ import annotations

import dataclasses
import functools
import heapq
import importlib.util
import itertools
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from s2sad import grad, value_and_grad
from s2sad.errors import S2SADError
from tests.language.support import Case, case, check_gradient, check_primal
from tests.oracle import numeric_gradient

X = np.array([0.71, 1.32, 0.57])
K = np.array([0.4, 0.8, 1.6])
G = np.array([0.9, 1.2, 0.7])

PRELUDE = """
import functools, heapq, itertools, math
import numpy as np

G = np.array([0.9, 1.2, 0.7])
LOG = []

def halve(v):
    v[0] = v[0] * 0.5
    return float(v[1])

def put_zero(v):
    v[0] = 0.35
    return 0

def put_list(v):
    v[0] = 0.35
    return [0.0, 1.0]

def tell(v):
    LOG.append(1.0)
    return 0.0

def over(v, axis):
    v[0] = 0.35
    return v

def two(a, v):
    v[0] = 0.35
    return 0.0

class Caller:
    def __call__(self, v):
        v[0] = 0.35
        return 0.0
    def method(self, v):
        v[0] = 0.45
        return 0.0

caller = Caller()
part = functools.partial(halve)
bound = caller.method
lam = lambda v: v.__setitem__(0, 0.35) or 0.0
"""

#: What stands around a call C that gives a number.
NUMBERS = (
    "w = C",
    "C",
    "w = [C]",
    "w = (C, 1.0)",
    'w = {"a": C}',
    'w = f"{C}"',
    "assert C < 1e9",
    "w = np.zeros(3)[int(C) * 0]",
    "w = np.arange(3.0)[int(C) * 0:]",
    'd = {"a": 1.0}\nw = d.get("a", C)',
    "d = {}\nd.setdefault('a', C)",
    "w = max(C, 1.0)",
    "w = float(C)",
    "w = dict(a=C)",
    "w = np.full(2, fill_value=C)",
    "w = 0.0 if C > 1e9 else 1.0",
    "w = C and 1.0",
    "w = 1.0 < C < 2.0",
    "w = -C",
    "w = 1.0\nw += C",
    "w, u = C, 1.0",
    "u, *w = 1.0, C",
    "if C > 1e9:\n    pass",
    "while C > 1e9:\n    pass",
    "for w in [C]:\n    pass",
    "for w in range(int(C) * 0):\n    pass",
    "for w in enumerate([C]):\n    pass",
    "for a, b in zip([C], [1.0]):\n    pass",
    "w = [C for _ in range(2)]",
    "w = [i for i in range(2) if C]",
    "w = any(C > 1e9 for _ in range(2))",
    "w = sum(C for _ in range(2))",
    "w = x * C",
    "w = x[int(C) * 0]",
    "d = [0.0, 0.0]\nd[int(C) * 0] = 1.0",
    "d = np.zeros(3)\nd[int(C) * 0] += 1.0",
    "w = np.zeros(3).sum(axis=int(C) * 0)",
    "w = (u := C)",
    "for w in range(1 if C > 1e9 else 2):\n    pass",
)
#: What stands around a call L that gives a list.
LISTS = (
    "for w in L:\n    pass",
    "for i, w in enumerate(L):\n    pass",
    "for u, w in zip(L, [1.0]):\n    pass",
    "for w in reversed(L):\n    pass",
    "w, u = L",
    "u, *w = L",
    "*w, = L",
    "w = [*L]",
    "w = [v for v in L]",
    "w = max(L)",
    "w = L[0]",
    "w = [1.0]\nw += L",
    "w = 1.0 in L",
    "for w in L:\n    break",
)
#: How a function F comes to be called with T.
FUNCTIONS = (
    "w = sorted([T], key=F)",
    "l = [T, T]\nl.sort(key=F)",
    "w = max([T], key=F)",
    "w = min((T, T), key=F)",
    "w = max([T], default=T, key=F)",
    "w = list(map(F, [T]))",
    "w = sum(map(F, [T]))",
    "for w in map(F, [T]):\n    pass",
    "w = list(filter(F, [T]))",
    "for w in filter(F, [T]):\n    pass",
    "w = functools.reduce(lambda a, b: F(b), [T], 0.0)",
    "w = functools.reduce(two, [T], 0.0)",
    "w = any(F(v) for v in [T])",
    "w = [F(v) for v in [T]]",
    "w = np.apply_along_axis(F, 0, T)",
    "w = np.apply_over_axes(over, T, 0)",
    "w = np.vectorize(lambda i: F(T), otypes=[float])(1.0)",
    "w = np.fromiter(map(F, [T]), float)",
    "w = np.fromfunction(lambda i: F(T) + i, (1,))",
    "w = np.mask_indices(2, lambda m, n: m * F(T))",
    "w = np.piecewise(np.ones(2), [np.array([True, True])], [lambda v: F(T)])",
    "w = np.frompyfunc(lambda i: F(T), 1, 1)(1.0)",
    "for w in iter(functools.partial(put_zero, T), 0):\n    pass",
    "w = list(itertools.starmap(F, [(T,)]))",
    "w = heapq.nlargest(1, [T], key=F)",
    "w = functools.partial(F, T)()",
    "w = F.__call__(T)",
    "w = (lambda v: F(v))(T)",
    "w = sorted([1.0, 2.0], key=lambda i: F(T))",
    "for w in sorted([T], key=F):\n    pass",
    "w = len(sorted([T], key=F))",
    "g = F\nw = sorted([T], key=g)",
    "g = [F]\nw = sorted([T], key=g[0])",
    "o = {'key': F}\nw = sorted([T], **o)",
    "w = sorted([T], key=F if x[0] > 0 else len)",
    "w = math.fsum(map(F, [T]))",
    "w = 0.5 in map(F, [T])",
    "*w, = map(F, [T])",
    "w = dict.fromkeys(map(F, [T]))",
)
WRITING = ("halve", "part", "caller", "bound", "caller.method", "lam", "put_zero")
#: What is written: the statement that makes it, its name, and what reads it.
TARGETS = {
    "parameter": ("", "k", "np.sum(x * k)"),
    "local": ("c = np.array([0.9, 1.2, 0.7])", "c", "np.sum(x * c)"),
    "row": ("c = np.ones((2, 3))\nr = c[1]", "r", "np.sum(x * c)"),
    "active": ("y = x * x", "y", "np.sum(x * y)"),
    "view": ("y = np.stack([x, x * x])\nz = y[1]", "z", "np.sum(y[0] * y[1])"),
    "module": ("", "G", "np.sum(x * G)"),
}
PLACES = {
    "plain": "{make}\n{statement}\nreturn {read}",
    "loop": "{make}\nfor q in range(2):\n    {inner}\nreturn {read}",
    "between": "{make}\nfirst = {read}\n{statement}\nreturn 2.0 * first + {read}",
}
STATEMENTS = [
    *(("C", "{f}({t})", s) for s in NUMBERS),
    *(("L", "put_list({t})", s) for s in LISTS),
    *(("F", "{f}", s) for s in FUNCTIONS),
]


def put_in(text: str, name: str, what: str) -> str:
    """``text`` with ``what`` for a name that stands alone."""
    return re.sub(rf"(?<![\w.]){name}(?!\w)", lambda _: what, text)


def programs(statement: tuple[str, str, str], number: int) -> dict[str, str]:
    """The programs with one statement: each by what is written and where it stands; the functions take turns."""
    what, called, text = statement
    found = {}
    for i, ((target, (make, name, read)), (place, form)) in enumerate(
        itertools.product(TARGETS.items(), PLACES.items())
    ):
        f = WRITING[(number + i) % len(WRITING)]
        filled = put_in(put_in(text, "T", name), what, called.format(f=f, t=name))
        body = form.format(make=make, statement=filled, inner=textwrap.indent(filled, " " * 4).strip(), read=read)
        found[f"{target}_{place}"] = textwrap.indent(body.strip(), " " * 4)
    return found


def module_of(bodies: dict[str, str], path: Path) -> Any:
    """A module with a function for each body."""
    text = PRELUDE + "".join(f"\ndef {name}(x, k):\n{body}\n" for name, body in bodies.items())
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def run(module: Any, f: Any, x: Any) -> tuple[Any, Any]:
    """The result of ``f``, and the state of the module after it."""
    module.G[:] = G
    module.LOG.clear()
    result = f(x.copy(), K.copy())
    return result, (module.G.copy(), len(module.LOG))


def outcome(module: Any, f: Any) -> str:
    """ "right", or "refused"; anything else does not pass."""
    value, state = run(module, f, X)
    try:
        (found, gradient), after = run(module, lambda x, k: value_and_grad(f)(x, k), X)
    except S2SADError:
        return "refused"
    expected = numeric_gradient(lambda x: run(module, f, x)[0], (X,))
    np.testing.assert_array_equal(found, value)
    np.testing.assert_array_equal(after[0], state[0])
    assert after[1] == state[1]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)
    return "right"


@pytest.mark.parametrize("number", range(0, len(STATEMENTS), 4), ids=lambda n: STATEMENTS[n][2].replace("\n", "; "))
def test_what_is_run_for_its_effect_is_run(number: int, tmp_path: Path) -> None:
    bodies = dict(list(programs(STATEMENTS[number], number).items())[number // 4 % 2 :: 2])
    module = module_of(bodies, tmp_path / f"run_for_effect_{number}.py")
    for name, body in bodies.items():
        try:
            outcome(module, getattr(module, name))
        except AssertionError as error:
            raise AssertionError(f"{body}\n{error}") from error


#: What runs only when it is asked for the next item, by what is not known to ask at once; and a key that is a choice.
LATER = ("for w in map", "for w in filter", "math.fsum(map", "in map", "*w, = map", "dict.fromkeys(map", "len)")


@pytest.mark.parametrize("f", ["halve", "tell"])
def test_what_is_refused_runs_later(f: str, tmp_path: Path) -> None:
    make, name, read = TARGETS["local"]
    bodies = {}
    for number, (what, called, text) in enumerate(STATEMENTS):
        filled = put_in(put_in(text, "T", name), what, called.format(f=f, t=name))
        bodies[f"f{number}"] = textwrap.indent(f"{make}\n{filled}\nreturn {read}", " " * 4)
    module = module_of(bodies, tmp_path / f"run_later_{f}.py")
    refused = [
        text
        for b, (_, _, text) in zip(bodies, STATEMENTS, strict=True)
        if outcome(module, getattr(module, b)) == "refused"
    ]
    assert [text for text in refused if not any(part in text for part in LATER)] == []


SCORES = {"a": 2.0, "b": 3.0}


@dataclasses.dataclass
class Weights:
    w: Any
    n: int = 2


class Scale:
    def __init__(self, by: float) -> None:
        self.by = by


def first(v: Any) -> float:
    return float(v[0])


def zeroed(v: Any) -> float:
    v[2] = 0.0
    return 0.0


def counted(k: Any, counts: dict[str, int]) -> float:
    counts["calls"] = counts.get("calls", 0) + 1
    return float(k[0])


def key_of_python(x: Any, k: Any) -> Any:
    rows = sorted([k[:2], k], key=len)
    return np.sum(x * rows[1])


def key_that_is_a_lambda(x: Any, k: Any) -> Any:
    rows = sorted([k, k[1:]], key=lambda v: -v[0])
    return np.sum(x[:2] * rows[0])


def key_that_is_a_function(x: Any, k: Any) -> Any:
    return np.sum(x * max([0.5 * k, k], key=first))


def key_that_is_a_method(x: Any, k: Any) -> Any:
    best = max(["a", "b"], key=SCORES.get)
    return np.sum(x * SCORES[best])


def key_of_a_local_dict(x: Any, k: Any) -> Any:
    scores = {"a": 2.0, "b": 3.0}
    return np.sum(x * scores[min(scores, key=scores.get)])


def key_that_is_given(x: Any, key: Any) -> Any:
    return np.sum(x * max([K, 0.5 * K], key=key))


def key_that_is_given_and_writes(x: Any, key: Any) -> Any:
    c = np.array([0.9, 1.2, 0.7])
    before = np.sum(x * c)
    sorted([c, 2.0 * c], key=key)
    return before * np.sum(x * c)


def along_an_axis(x: Any, k: Any) -> Any:
    return np.sum(x * np.apply_along_axis(np.sum, 0, k))


def along_an_axis_by_a_function(x: Any, k: Any) -> Any:
    return np.sum(x * np.apply_along_axis(first, 0, k))


def piece_by_piece(x: Any, k: Any) -> Any:
    return np.sum(x * np.piecewise(k, [k > 0.5], [lambda v: v * v, 1.0]))


def from_a_function(x: Any, k: Any) -> Any:
    return np.sum(x * np.fromfunction(lambda i: i + 1.0, (3,)))


def mapped(x: Any, k: Any) -> Any:
    return np.sum(x) * sum(map(first, [k, 2.0 * k])) * functools.reduce(lambda a, b: a + first(b), [k, k], 0.0)


def dataclass_of_constants(x: Any, k: Any) -> Any:
    weights = Weights(k)
    return np.sum(x * weights.w * weights.n)


def object_of_constants(x: Any, k: Any) -> Any:
    return np.sum(x * Scale(2.0).by)


def counter_in_a_dict(x: Any, k: Any) -> Any:
    counts: dict[str, int] = {}
    scale = counted(k, counts) + counted(k, counts)
    return np.sum(x * scale * counts["calls"])


def largest(x: Any, k: Any) -> Any:
    return np.sum(x * heapq.nlargest(1, [k, 2.0 * k], key=first)[0]) * next(itertools.starmap(first, [(k,)]))


def unpacked_with_a_star(x: Any, k: Any) -> Any:
    y = np.stack([x, x * x])
    first_row = y[1]
    u, *rest = halved(first_row)
    return np.sum(y[0] * y[1]) * rest[0]


def halved(v: Any) -> list[float]:
    v[0] = 0.5
    return [0.0, 1.5, 2.5]


CASES = [
    *(
        case(f, X, K, wrt=0)
        for f in (
            key_of_python,
            key_that_is_a_lambda,
            key_that_is_a_function,
            key_that_is_a_method,
            key_of_a_local_dict,
            along_an_axis,
            along_an_axis_by_a_function,
            piece_by_piece,
            from_a_function,
            mapped,
            dataclass_of_constants,
            object_of_constants,
            counter_in_a_dict,
            largest,
            unpacked_with_a_star,
        )
    ),
    case(key_that_is_given, X, first, wrt=0),
    case(key_that_is_given_and_writes, X, zeroed, wrt=0),
]


@pytest.mark.parametrize("c", CASES, ids=str)
def test_primal(c: Case) -> None:
    check_primal(c)


@pytest.mark.parametrize("c", CASES, ids=str)
def test_gradient(c: Case) -> None:
    check_gradient(c)


def called_at_once(x: np.ndarray, k: np.ndarray) -> Any:
    s = 2.0
    m = np.apply_along_axis(lambda v: v * s, 0, k)
    s = 3.0
    n = np.fromfunction(lambda i: i * s, (3,))
    s = 5.0
    return np.sum(m * n * x) * s


def called_later(x: np.ndarray, k: np.ndarray) -> Any:
    s = 2.0
    scaled = np.vectorize(lambda v: v * s)
    s = 3.0
    return np.sum(x * scaled(k)) * s


def test_what_is_called_at_once_sees_variables_as_of_then() -> None:
    x, k = np.array([0.5, 1.0, 2.0]), np.array([1.5, 2.5, 3.5])
    np.testing.assert_allclose(grad(called_at_once)(x, k), 2.0 * k * 3.0 * np.arange(3) * 5.0)


def test_what_is_called_later_sees_variables_as_of_then() -> None:
    k = np.array([1.5, 2.5])
    np.testing.assert_allclose(grad(called_later)(np.ones(2), k), 9.0 * k)
