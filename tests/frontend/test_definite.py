"""Variables that may have no value where they are read: what is found, and that Python's own error is raised."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import gast
import numpy as np
import pytest

from s2sad import grad, hvp, jvp, value_and_grad, vjp
from s2sad.frontend.definite import read_without_value
from tests.oracle import numeric_gradient

CASES = {
    "if x > 0: z = x\nreturn z": {"z"},
    "if x > 0: z = x\nelse: z = 1\nreturn z": set(),
    "if x > 0: z = x\nelse: raise ValueError\nreturn z": set(),
    "if x > 0: return x\nelif x < 0: z = 1\nreturn z": {"z"},
    "for k in range(3): z = k\nreturn z + k": {"z", "k"},
    "for k in x:\n    if k: z = k; break\nelse: z = 1\nreturn z": set(),
    "for k in x:\n    if k: break\n    z = k\nelse: z = 1\nreturn z": {"z"},
    "for k in x:\n    if k: continue\n    z = k\n    y = z\nreturn x": set(),
    "while True:\n    z = x\n    if z > 0: break\nreturn z": set(),
    "while x > 0: z = x\nreturn z": {"z"},
    "try: z = x()\nexcept ValueError as e: z = e\nreturn z": set(),
    "try: z = x()\nexcept ValueError: pass\nreturn z": {"z"},
    "try: z = x()\nfinally: y = z\nreturn z": {"z"},
    "with x as z: y = z\nreturn y": set(),
    "match x:\n    case [z]: pass\n    case _: z = 1\nreturn z": {"z"},
    "z = 1\ndel z\nreturn z": {"z"},
    "del x\nreturn x": {"x"},
    "z += 1\nreturn z": {"z"},
    "def g(): return z\nz = 1\nreturn g": set(),
    "import numpy as np\nreturn np": set(),
    "return [z for z in x]": set(),
    "return [a for a in z]\nz = 1": {"z"},
    "if x > 0 and (z := x): return z\nreturn x": set(),
    "if x > 0 or (z := x): return z\nreturn x": {"z"},
    "if not (x > 0 or (z := x)): return z\nreturn x": set(),
    "y = x < 1 < (z := x)\nreturn z": {"z"},
    "y = 1 < (z := x)\nreturn z": set(),
    "y = (z := 1) if x else 2\nreturn z": {"z"},
    "y = (z := 1) if x else (z := 2)\nreturn z": set(),
    "z = 1\nfor k in x:\n    y = z\n    del z\nreturn y": {"y", "z"},
    "try: x()\nexcept ValueError as z: pass\nreturn z": {"z"},
    "z = 1\ntry: del z\nexcept ValueError: return z\nreturn x": {"z"},
}


@pytest.mark.parametrize("body", CASES)
def test_what_is_found(body: str) -> None:
    text = f"def f(x):\n{textwrap.indent(body, '    ')}"
    assert read_without_value(gast.parse(text).body[0]) == CASES[body]


def by_kind(x: Any, kind: str) -> Any:
    if kind == "double":
        z = 2.0 * x
    elif kind == "half":
        z = 0.5 * x
    return np.sum(z)


def in_a_loop(x: Any, count: int) -> Any:
    for _ in range(count):
        z = 3.0 * x
    return np.sum(z) + np.sum(x)


def in_every_turn(x: Any, count: int) -> Any:
    total = 0.0
    for i in range(count):
        if i > 0:
            z = 3.0 * x
        total = total + np.sum(z)
    return total


def in_a_callee(x: Any, kind: str) -> Any:
    return np.sum(x * x) + by_kind(x, kind)


def found(x: Any, limit: float) -> Any:
    for value in x:
        if value > limit:
            z = value
            break
    else:
        z = limit * x[0]
    return 2.0 * z


PROGRAMS: list[tuple[Callable[..., Any], Any, Any]] = [
    (by_kind, "half", "none"),
    (in_a_loop, 2, 0),
    (in_every_turn, 0, 2),
    (in_a_callee, "double", "none"),
]
X = np.array([0.5, 1.5, 2.5])


@pytest.mark.parametrize(("f", "good", "bad"), PROGRAMS, ids=lambda f: getattr(f, "__name__", ""))
def test_the_error_is_raised(f: Callable[..., Any], good: Any, bad: Any) -> None:
    """Also by derivatives for which the value of the variable is not needed."""
    np.testing.assert_allclose(grad(f)(X, good), numeric_gradient(lambda x: f(x, good), (X,)), rtol=1e-9)
    with pytest.raises(UnboundLocalError, match="'z'"):
        f(X, bad)
    np.testing.assert_array_equal(hvp(f, (X, good), (X, None)), 2.0 * X if f is in_a_callee else np.zeros(3))
    along = (lambda x, how: vjp(lambda x: f(x, how), x), lambda x, how: hvp(f, (x, how), (X, None)))
    for derive in (grad(f), value_and_grad(f), *along):
        with pytest.raises(UnboundLocalError, match="'z'"):
            derive(X, bad)


#: What gives ``z`` a value on some way only, and what reads it without need of the value.
BINDING = {
    "if": "if x[0] < 0:\n    z = V",
    "loop": "for _ in range(n):\n    z = V",
    "counter": "for z in range(n):\n    pass",
    "while": "while n > 0:\n    n -= 1\n    z = V",
    "try": "try:\n    q = [1.0][7]\n    z = V\nexcept IndexError:\n    q = 1",
    "handler": "try:\n    q = [1.0][7]\nexcept IndexError as z:\n    q = 1",
    "del": "z = V\ndel z",
    "del_under_if": "z = V\nif x[0] > 0:\n    del z",
    "del_in_loop": "z = V\nfor i in range(2):\n    if i == 1:\n        del z",
    "walrus": "q = x[0] < 0 and (z := V) is not None",
    "match": "match n:\n    case 1:\n        z = V\n    case 2:\n        z = V",
    "never": "if False:\n    z = V",
    "break": "for i in range(3):\n    if x[i % 2] > 0:\n        break\n    z = V",
}
READING = [
    "z", "w = z", "w = (z, 1)", "del z", "w = z is None", "if z is None:\n    s = s * 2", "s = s + 0.0 * np.sum(z)",
    "z += 1", "w = [z]", "w = {'a': z}", "w = f'{z}'", "w = len([z])", "s = s + stop_gradient(np.sum(z))",
    "w = z if x[0] > 0 else x", "w = x[0] if x[0] < 0 else z",
    "for i in range(2):\n    z", "s = s * 2 if z is not None else s",
    "w = [*[z]]", "w = isinstance(z, int)", "s = s + first(x, z)",
]  # fmt: skip
VALUES = ["x * 2", "x[0] * 2", "np.ones(2)", "[x[0], 1.0]"]
HEAD = """import numpy as np
from s2sad import stop_gradient


def first(x, z):
    return x[0]


"""


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[..., Any]]:
    """A function for each pair of a binding and a reading, with one of the values."""
    text, names = HEAD, [f"f_{b}_{r}" for b in BINDING for r in range(len(READING))]
    for at, name in enumerate(names):
        binding, reading = name[2:].rsplit("_", 1)
        bind = BINDING[binding].replace("V", VALUES[at % len(VALUES)])
        body = f"s = np.sum(x * x)\n{bind}\n{READING[int(reading)]}\nreturn s * 1.5"
        text += f"def {name}(x, n=0):\n{textwrap.indent(body, '    ')}\n\n\n"
    path = tmp_path_factory.mktemp("unset") / "readers.py"
    path.write_text(text)
    made: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), made)
    return {name: made[name] for name in names}


@pytest.mark.parametrize("reading", range(len(READING)), ids=str)
@pytest.mark.parametrize("binding", BINDING)
def test_every_read_raises(readers: dict[str, Callable[..., Any]], binding: str, reading: int) -> None:
    """Whether or not the derivative needs the value, whatever else is read."""
    f, x = readers[f"f_{binding}_{reading}"], np.array([0.7, 1.3])
    with pytest.raises(UnboundLocalError, match="'z'"):
        f(x)
    derivatives = [grad(f), lambda x: jvp(f, (x,), (np.ones(2),))]
    with pytest.raises(UnboundLocalError, match="'z"):
        derivatives[reading % 2](x)


def under_conditions(x: Any, n: int) -> Any:
    if n > 0:
        z = np.ones(2)
    s = np.sum(x * x) + (np.sum(z) if n > 0 else 0.0) + sum([np.sum(z) for _ in range(n)])
    if n > 0 and z is not None:
        s = s * 2.0
    return s + (n > 1 and z[0]) + (x[0] if n <= 0 or z[0] > 0 else x[1])


@pytest.mark.parametrize("n", [0, 1, 2])
def test_what_is_not_evaluated_reads_nothing(n: int) -> None:
    x = np.array([0.7, 1.3])
    expected = numeric_gradient(lambda x: under_conditions(x, n), (x,))
    np.testing.assert_allclose(grad(under_conditions)(x, n), expected, rtol=1e-9)
    value, tangent = jvp(under_conditions, (x, n), (np.array([1.0, 0.5]), None))
    assert value == under_conditions(x, n)
    np.testing.assert_allclose(tangent, expected @ [1.0, 0.5], rtol=1e-9)


@pytest.mark.parametrize("limit", [1.0, 5.0])
def test_no_line_for_what_surely_has_a_value(limit: float) -> None:
    gradient = grad(found)
    np.testing.assert_allclose(gradient(X, limit), numeric_gradient(lambda x: found(x, limit), (X,)), rtol=1e-9)
    assert "require_value" not in gradient.source_for(X, limit)
