"""Source to `Code` to text: it reads as the source and does what the source does."""

from __future__ import annotations

import ast
import gc
import importlib
import importlib.util
import pathlib
import signal
import sys
import types
import unittest
from typing import Any

import numpy as np
import pytest

from tests.matrix.build import Program, program
from tests.rewriting import by_interpreter, pairs, through_text
from tests.trees import bits, leaves

HERE = pathlib.Path(__file__).parent.parent
#: Modules of Python's library and of SciPy, in the styles of many people.
MODULES = [
    "heapq", "bisect", "statistics", "fractions", "textwrap", "random", "difflib", "contextlib", "functools",
    "argparse", "dataclasses", "collections", "json.decoder", "json.encoder", "copy", "calendar", "graphlib", "ast",
    "scipy.optimize._optimize", "scipy.optimize._numdiff", "scipy.integrate._quadrature",
    "scipy.stats._distn_infrastructure", "scipy.interpolate._bsplines", "scipy.linalg._matfuncs",
]  # fmt: skip
#: Python's own tests of modules and of the language, where Python comes with them.
TESTED = ["fractions", "textwrap", "copy"]
LANGUAGE = [
    "scope", "patma", "with", "named_expressions", "unpack_ex", "augassign", "listcomps", "genexps", "dictcomps",
    "keywordonlyarg", "raise", "except_star", "generators", "yield_from", "decorators", "super", "extcall", "iter",
]  # fmt: skip


def source_of(name: str) -> str:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return pathlib.Path(spec.origin).read_text(encoding="utf-8")


def same(source: str) -> tuple[int, list[str]]:
    """How many functions there are, and those whose text is another."""
    count, others = 0, []
    for bare, made in pairs(source):
        count += 1
        if ast.unparse(bare) != ast.unparse(made):
            others.append(ast.unparse(made))
    return count, others


def test_the_programs_of_the_tests_read_as_they_did() -> None:
    total, differing = 0, []
    files = [*HERE.glob("kernels/*.py"), *HERE.glob("golden/*.py"), *(HERE.parent / "examples").glob("*.py")]
    for path in (*files, *HERE.glob("inplace/*.py"), *HERE.glob("language/*.py")):
        count, others = same(path.read_text(encoding="utf-8"))
        total, differing = total + count, [*differing, *others]
    assert total > 2000
    assert len(differing) < total / 100


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_others_reads_as_it_did(name: str) -> None:
    """Differences are of one kind: what stands on one line may stand on two, and ``pass`` is left out."""
    total, differing = same(source_of(name))
    assert len(differing) <= max(2, total * 0.05), differing[0]


def loaded(name: str) -> types.ModuleType:
    """A module with the bodies that come out of `Code`."""
    original = importlib.import_module(name)
    made = types.ModuleType(name, original.__doc__)
    made.__file__, made.__package__, made.__spec__ = original.__file__, original.__package__, original.__spec__
    exec(compile(through_text(source_of(name)), f"<{name}>", "exec", dont_inherit=True), vars(made))
    return made


@pytest.mark.parametrize("name", TESTED)
def test_a_module_does_what_its_own_tests_ask(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec(f"test.test_{name}") is None:
        pytest.skip("Python has come without its tests")
    monkeypatch.setitem(sys.modules, name, loaded(name))
    monkeypatch.delitem(sys.modules, f"test.test_{name}", raising=False)
    run_tests(importlib.import_module(f"test.test_{name}"))


@pytest.mark.parametrize("name", LANGUAGE)
def test_the_language_does_what_its_own_tests_ask(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    full = f"test.test_{name}"
    if importlib.util.find_spec(full) is None:
        pytest.skip("Python has come without its tests")
    made = loaded(full)
    monkeypatch.setitem(sys.modules, full, made)
    run_tests(made)


def run_tests(module: types.ModuleType) -> None:
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TestResult()
    # These tests collect garbage many times over; what was there before them needs no looking at.
    gc.freeze()
    # They interrupt themselves, and what is begun in the background may ignore that.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        suite.run(result)
    finally:
        signal.signal(signal.SIGINT, handler)
        gc.unfreeze()
    assert result.testsRun
    assert not result.errors + result.failures, (result.errors + result.failures)[0][1]


# --- programs of the matrix


def outcome(source: str, interpret: bool) -> tuple[Any, Any]:
    """The value of a program or what it raises, and what became of the arrays of its arguments and module."""
    module = types.ModuleType("matrix_program")
    sys.modules["matrix_program"] = module
    names = vars(module)
    exec(compile(source, "<program>", "exec"), names)
    if interpret:
        assert by_interpreter(names, source)
    args = names["arguments"]()
    try:
        value = bits(names["f"](*args))
    except Exception as error:
        value = type(error)
    return value, [state(leaf) for _, leaf in leaves((args, arrays_of(names))) if isinstance(leaf, np.ndarray)]


def state(leaf: Any) -> Any:
    """What identifies an array bit for bit; objects in it are known by their class and attributes."""
    if isinstance(leaf, np.ndarray) and leaf.dtype == object:
        return [
            (type(x).__name__, [state(part) for _, part in leaves(getattr(x, "__dict__", x))]) for x in leaf.ravel()
        ]
    return bits(leaf)


def arrays_of(names: dict[str, Any]) -> list[Any]:
    return [value for value in names.values() if isinstance(value, (list, dict, np.ndarray))]


def chosen() -> list[Program]:
    return [program(index) for index in range(0, 12000, 40)]


@pytest.mark.parametrize("way", ["text", "interpreter"])
def test_programs_about_sharing_and_writing(way: str) -> None:
    for made in chosen():
        source = through_text(made.source) if way == "text" else made.source
        expected, found = outcome(made.source, False), outcome(source, way == "interpreter")
        assert found[0] == expected[0], source
        assert found[1] == expected[1], source
