"""The project around the compiler: its layout, what it imports, what it ships, and the examples in its docstrings."""

from __future__ import annotations

import ast
import doctest
import fnmatch
import importlib
import importlib.metadata
import os
import pathlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from typing import Any

import pytest

import s2sad

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "s2sad"
MODULES = sorted(PACKAGE.rglob("*.py"))
TOP_LEVEL = {"pyproject.toml", "README.md", "LICENSE", "Makefile", "s2sad", "tests", "examples"}
RUN_TIME = {"numpy", "gast", "astunparse"}


def dotted(path: pathlib.Path) -> str:
    """The module name of a file of the package."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def ignored(name: str) -> bool:
    """Whether .gitignore names a file or folder of the top level."""
    patterns = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    return any(fnmatch.fnmatch(name, pattern.rstrip("/")) for pattern in patterns)


def test_the_top_level_holds_nothing_else() -> None:
    names = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert {name for name in names if not ignored(name)} == TOP_LEVEL


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_a_module_has_at_most_500_lines(path: pathlib.Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_a_module_says_what_it_is(path: pathlib.Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", [p for p in MODULES if ">>>" in p.read_text(encoding="utf-8")], ids=dotted)
def test_the_examples_in_docstrings_run(path: pathlib.Path) -> None:
    module = importlib.import_module(dotted(path))
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder().find(module):
        if test.examples:  # for each run doctest looks at every file of which Python keeps the lines
            runner.run(test)
    assert runner.failures == 0
    assert runner.tries


def test_every_module_is_imported() -> None:
    """The examples of some are run, and no other test need import the rest."""
    for path in MODULES:
        if path.name != "__main__.py":
            importlib.import_module(dotted(path))


def test_every_test_folder_is_that_of_a_package_or_of_programs() -> None:
    packages = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}
    assert folders - packages <= {
        "__pycache__",
        "benchmarks",
        "golden",
        "inplace",
        "kernels",
        "language",
        "matrix",
        "programs",
        "shadows",
    }


def test_the_versions_agree() -> None:
    assert s2sad.__version__ == project()["project"]["version"] == importlib.metadata.version("s2sad")


def test_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()


def test_the_dependencies_are_three() -> None:
    names = {re.match(r"[\w-]+", dependency)[0] for dependency in project()["project"]["dependencies"]}  # type: ignore[index]
    assert names == RUN_TIME


def loaded_by(statements: str, tmp_path: pathlib.Path) -> set[str]:
    """The top-level packages outside the standard library that a program loads, in a process of its own."""
    program = tmp_path / "program.py"
    program.write_text(
        f"""\
import sys
before = set(sys.modules)
{statements}
print(*sorted({{name.partition(".")[0] for name in set(sys.modules) - before}}))
""",
        encoding="utf-8",
    )
    # Isolated from the directory it runs in.
    command = [sys.executable, "-W", "error", "-P", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=os.sep)
    return set(done.stdout.split()) - sys.stdlib_module_names - {"_sitebuiltins"}


def test_an_import_loads_numpy_alone(tmp_path: pathlib.Path) -> None:
    assert loaded_by("import numpy\nimport s2sad\ns2sad.stop_gradient(1.0)", tmp_path) == {"numpy", "s2sad"}


@pytest.mark.parametrize(
    "statements",
    [
        "import s2sad\ns2sad.grad",
        "import s2sad\nf = s2sad.grad(lambda x: x * x)\nf(3.0)\nf.source",
        "import s2sad\ns2sad.check_grads(lambda x: x * x, (3.0,))",
        "import s2sad.cli",
    ],
    ids=["grad", "a gradient", "check_grads", "cli"],
)
def test_the_compiler_loads_its_three_dependencies_alone(statements: str, tmp_path: pathlib.Path) -> None:
    # six is what astunparse itself needs; the command line need not load the compiler before it has a function.
    loaded = loaded_by(statements, tmp_path) - {"six"}
    assert loaded <= RUN_TIME | {"s2sad"}
    assert "cli" in statements or loaded == RUN_TIME | {"s2sad"}


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    pattern = re.compile(r"/(?:root|work|home/\w+|Users/\w+)/")
    for path in [*MODULES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "examples").glob("*.py"), ROOT / "README.md"]:
        if path != pathlib.Path(__file__).resolve():
            assert not pattern.search(path.read_text(encoding="utf-8")), path


def test_no_module_hides_what_its_package_exports() -> None:
    """Importing ``runtime.zeros`` would set the attribute ``zeros`` of the package, whatever was there before."""
    for name in ("s2sad", "s2sad.runtime"):
        package = importlib.import_module(name)
        modules = {m.name for m in pkgutil.iter_modules(package.__path__)}
        assert modules.isdisjoint(package.__all__)
