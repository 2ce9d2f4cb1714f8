"""Names that clash are told apart: the text does what the code does."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import importlib.util
import random
import sys
import textwrap
import types
from collections.abc import Callable, Mapping
from typing import Any

import gast
import pytest

from s2sad.backend.python.fold import function
from s2sad.frontend.lower_statements import lower_function
from s2sad.ir.code import Code, Definition, Exit, Operation, Parameter, Region, Value, Variable, codes, inner
from s2sad.ir.interpret import interpreted
from s2sad.ir.verify import verify
from s2sad.transform import clashes, rename
from s2sad.transform.rename import NameClashError, Webs, renamed
from s2sad.transform.replace import replaced_in_code
from s2sad.transform.text_scopes import TextScopes, spelled
from tests.backend.test_identity import HERE, MODULES, run_tests, source_of
from tests.rewriting import functions, through_text


def lowered(source: str) -> Code:
    return verify(lower_function(gast.parse(textwrap.dedent(source)).body[0]))


def text(code: Code) -> str:
    return ast.unparse(function(verify(code)))


def named(code: Code, names: Mapping[str, str]) -> Code:
    """A code in which values with some names have others, as a pass may leave them."""
    scopes = TextScopes(code)
    by: dict[Any, Any] = {
        v: dataclasses.replace(v, name=names[v.name]) for v in scopes.of if v.name in names and v not in scopes.fixed
    }
    return replaced_in_code(code, by)


def scrambled(code: Code, choose: random.Random) -> Code:
    """A code whose values have few names, at random."""
    read = {o.data for made in codes(code) for o in inner(made.body) if o.kind == "global"}
    if read & {"locals", "vars", "eval", "exec", "dir"}:
        # The program sees its names.
        return code
    scopes = TextScopes(code)
    names = choose.sample(sorted({n for n in spelled(code) if n.isidentifier() and not n.startswith("__")}), 1)
    kept = {o.results[0] for made in codes(code) for o in inner(made.body) if o.kind in ("function", "class")}
    kept |= {v for v in scopes.of if not v.name or v.name == "__class__"} | scopes.fixed
    # What is read before it is bound raises an error that has its name.
    kept |= {v for v in scopes.of if isinstance(v, Variable) and v not in scopes.written}
    webs, by = Webs(scopes, code), dict[Any, Any]()
    for value in scopes.of:
        if value not in kept and value not in by:
            name = choose.choice([*names, "x", "y"])
            # What may have no value yet keeps one name.
            by.update({v: dataclasses.replace(v, name=name) for v in webs.of(value, by_name=False) if v not in kept})
    return replaced_in_code(code, by)


def scrambling(seed: int) -> Callable[[Code], Code]:
    choose = random.Random(seed)
    return lambda code: renamed(scrambled(code, choose))


CASES = {
    "a value that another one hides": (
        "def f(x):\n a = x + 1\n b = x * 2\n return a * b",
        {"b": "a"},
        "def f(x):\n a_2 = x + 1\n a = x * 2\n return a_2 * a",
    ),
    "a parameter keeps its name": (
        "def f(x):\n a = x + 1\n return a * x",
        {"a": "x"},
        "def f(x):\n x_2 = x + 1\n return x_2 * x",
    ),
    "a loop's variables are told apart together": (
        "def f(x, s):\n for i in x:\n  t = s\n  for j in x:\n   t += j\n  s += t * i\n return s",
        {"t": "s", "j": "i"},
        "def f(x, s):\n s_2 = s\n for i_2 in x:\n  s = s_2\n  for i in x:\n   s += i\n  s_2 += s * i_2\n return s_2",
    ),
    "what a comprehension reads is hidden by its variable": (
        "def f(x, n):\n a = n + 1\n return [a * v for v in x]",
        {"v": "a"},
        "def f(x, n):\n a_2 = n + 1\n return [a_2 * a for a in x]",
    ),
    "what an inner function reads": (
        "def f(x):\n a = x + 1\n g = lambda v: v * a\n b = g(2)\n return g(b)",
        {"b": "a"},
        "def f(x):\n a_2 = x + 1\n g = lambda v: v * a_2\n a = g(2)\n return g(a)",
    ),
    "a global name": (
        "def f(x):\n a = x + 1\n return [a, abs(x)]",
        {"a": "abs"},
        "def f(x):\n abs_2 = x + 1\n return [abs_2, abs(x)]",
    ),
    "variables of an inner function": (
        "def f(x):\n a = x + 1\n def g(v):\n  b = v * a\n  return b + a\n return g",
        {"b": "a"},
        "def f(x):\n a_2 = x + 1\n\n def g(v):\n  a = v * a_2\n  return a + a_2\n return g",
    ),
    "memory": (
        "def f(x):\n n = 0\n def g():\n  nonlocal n\n  n += 1\n m = x\n g()\n return m + n",
        {"m": "n"},
        "def f(x):\n n = 0\n\n def g():\n  nonlocal n\n  n += 1\n n_2 = x\n g()\n return n_2 + n",
    ),
    "two memories": (
        "def f(x):\n n = m = 0\n def g():\n  nonlocal n, m\n  n += 1\n  m += x\n g()\n return m + n",
        {"m": "n"},
        "def f(x):\n n_2 = n = 0\n\n def g():\n  nonlocal n, n_2\n  n_2 += 1\n  n += x\n g()\n return n + n_2",
    ),
    "the right side of an operation in place": (
        "def f(x, y):\n a = x\n b = y\n b += a * 2\n b += a\n return b",
        {"a": "b"},
        "def f(x, y):\n b_2 = x\n b = y\n b += b_2 * 2\n b += b_2\n return b",
    ),
    "values that swap their names": (
        "def f(x, y):\n for i in x:\n  x, y = y, x + i\n return x, y",
        {},
        "def f(x, y):\n for i in x:\n  x, y = (y, x + i)\n return (x, y)",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_names(name: str) -> None:
    source, names, expected = CASES[name]
    found = text(renamed(named(lowered(source), names)))
    assert found == ast.unparse(ast.parse(expected.replace("    ", " ")))


def test_loops_in_loops_are_gone_through_a_few_times_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each more takes as long as those around it, not twice as long."""
    depth, rounds = 12, 0
    loops = "".join(f"{'    ' * (i + 1)}for i{i} in x:\n{'    ' * (i + 2)}s = s + i{i}\n" for i in range(depth))
    code = lowered(f"def f(x):\n    s = 0\n{loops}    return s")
    run = clashes._Flow.region

    def counted(self: Any, region: Region, ends: Any) -> None:
        nonlocal rounds
        rounds += 1
        run(self, region, ends)

    monkeypatch.setattr(clashes._Flow, "region", counted)
    assert renamed(code) is code
    assert rounds < depth**2 * 3


def test_code_without_clashes_is_the_same_object() -> None:
    files = [*HERE.glob("kernels/*.py"), *HERE.glob("language/*.py")]
    sources = [source_of(name) for name in MODULES[:12]] + [path.read_text(encoding="utf-8") for path in files]
    for source in sources:
        for node in functions(gast.parse(source), gast):
            code = lower_function(node)
            assert renamed(code) is code


def test_it_is_the_same_text_where_only_unseen_values_share_a_name() -> None:
    code = named(lowered("def f(x):\n a = x + 1\n b = a * 2\n return b"), {"b": "a"})
    assert renamed(code) is code
    assert text(code) == "def f(x):\n    a = x + 1\n    a = a * 2\n    return a"


def test_parameters_of_two_functions_have_one_name() -> None:
    """An inner function sees a parameter, and has one of the same name."""
    outer, param = Value("x"), Value("x")
    product, made, result = Value(), Value("g"), Value()
    body = Region((), (Operation("binary", (param, outer), (product,), "*"),), Exit("return", (product,)))
    code = Code("g", "function", (Parameter("x", "positional", param),), body, seen=(outer,))
    operations = (
        Operation("function", (), (made,), Definition(code)),
        Operation("call", (made, outer), (result,), ("",)),
    )
    whole = Code(
        "f", "function", (Parameter("x", "positional", outer),), Region((), operations, Exit("return", (result,)))
    )
    found = renamed(whole)
    names: dict[str, Any] = {}
    exec(text(found), names)
    assert names["f"](3) == interpreted(whole, {})(3) == 9
    assert text(found).splitlines()[:2] == ["def f(x):", "    x_2 = x"]


def test_a_parameter_with_the_name_of_a_global_one_is_an_error() -> None:
    code = lowered("def f(x):\n return abs(x)")
    first, *rest = code.body.operations
    other = dataclasses.replace(first, data="x")
    wrong = dataclasses.replace(code, body=dataclasses.replace(code.body, operations=(other, *rest)))
    with pytest.raises(NameClashError, match="x is the name of a parameter"):
        renamed(wrong)


def run_scrambled(name: str, seed: int) -> types.ModuleType:
    """A module whose functions went through random names."""
    original = importlib.import_module(name)
    made = types.ModuleType(name, original.__doc__)
    made.__file__, made.__package__, made.__spec__ = original.__file__, original.__package__, original.__spec__
    source = through_text(source_of(name), scrambling(seed))
    exec(compile(source, f"<{name}>", "exec", dont_inherit=True), vars(made))
    return made


@pytest.mark.parametrize("name", ["textwrap", "copy"])
def test_modules_with_random_names_do_what_their_tests_ask(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec(f"test.test_{name}") is None:
        pytest.skip("Python has come without its tests")
    monkeypatch.setitem(sys.modules, name, run_scrambled(name, 1))
    monkeypatch.delitem(sys.modules, f"test.test_{name}", raising=False)
    run_tests(importlib.import_module(f"test.test_{name}"))


@pytest.mark.parametrize("name", ["scope", "named_expressions"])
def test_the_language_with_random_names(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    full = f"test.test_{name}"
    if importlib.util.find_spec(full) is None:
        pytest.skip("Python has come without its tests")
    made = run_scrambled(full, 1)
    monkeypatch.setitem(sys.modules, full, made)
    run_tests(made)


@pytest.mark.parametrize("backwards", [False, True])
def test_the_text_decides_which_of_two_values_gets_which_name(backwards: bool) -> None:
    """Two values that took the name of a parameter were told apart by their addresses, which another run has not."""
    code = lowered("""
        def f(t, flag):
            if flag:
                first = t * t
                a = first + 1.0
            else:
                second = t + t
                a = second - 1.0
            return a * t
    """)
    found = {v.name: v for v in TextScopes(code).of if v.name in ("first", "second")}
    new = sorted((Value("t"), Value("t")), key=id, reverse=backwards)
    by = {found["first"]: new[0], found["second"]: new[1]}
    made = text(renamed(replaced_in_code(code, by)))
    assert "t_2 = t * t" in made
    assert "t_3 = t + t" in made


def test_values_of_one_name_get_their_names_in_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step went through the whole code for one of them: a loop that is written out has one for each round."""
    count = 30
    lines = [f"v{i} = x * {i}" for i in range(count)]
    code = lowered("def f(x):\n    " + "\n    ".join([*lines, f"return {' + '.join(f'v{i}' for i in range(count))}"]))
    steps = []

    def counted(*given: Any) -> list[clashes.Clash]:
        steps.append(given)
        return clashes.clashes(*given)

    monkeypatch.setattr(rename, "clashes", counted)
    made = text(renamed(named(code, {f"v{i}": "v" for i in range(count)})))
    assert made.count("v_2 = x * 0") == 1
    assert f"v = x * {count - 1}" in made
    assert len(steps) == 2
