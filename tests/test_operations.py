"""The table of all public functions: none is forgotten, and the documentation has what is so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from s2sad import operations
from s2sad.cli import main
from s2sad.operations import MODULES, document, rows

DOCUMENT = Path(operations.__file__).with_name("OPERATIONS.md")


@pytest.mark.parametrize("module", MODULES)
def test_nothing_is_forgotten(module: str) -> None:
    table = list(rows(module))
    assert not [row.name for row in table if row.kind == "none"]
    assert all(row.text for row in table if row.kind in ("rule", "refused", "writes"))


def test_the_table_of_the_installed_numpy_is_in_the_documentation() -> None:
    written = DOCUMENT.read_text()
    if written.partition("\n")[0] != document().partition("\n")[0]:
        pytest.skip("the documentation is of other versions of NumPy and SciPy")
    assert written == document(), "run python -m s2sad.operations > s2sad/OPERATIONS.md"


@pytest.mark.parametrize(
    ("module", "name", "kind"),
    [
        ("numpy", "sin", "rule"),
        ("numpy", "r_", "rule"),
        ("numpy", "vectorize", "taken apart"),
        ("numpy", "argsort", "constant"),
        ("numpy", "put", "writes"),
        ("numpy", "nditer", "refused"),
        ("numpy.ndarray", "T", "rule"),
        ("numpy.ndarray", "sort", "writes"),
        ("numpy.ndarray", "flat", "refused"),
        ("math", "lgamma", "rule"),
        ("scipy.special", "gammaln", "rule"),
    ],
)
def test_some_are_where_they_belong(module: str, name: str, kind: str) -> None:
    (row,) = [row for row in rows(module) if row.name == f"{module}.{name}"]
    assert row.kind == kind


def test_a_command_prints_it(capsys: Any) -> None:
    assert main(["operations", "numpy.fft", "math"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("## numpy.fft")
    assert "`irfft2` (a; s, axes, norm) c" in printed.replace("\n", " ")
    assert "`hypot` (" in printed
    assert main(["operations", "no.such.module"]) == 2
