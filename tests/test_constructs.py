"""Each construct of the table is right, beside differences, or refused; the README lists them."""

from __future__ import annotations

import os
import pathlib

import numpy as np
import pytest

from s2sad import S2SADError, grad, jvp
from tests.constructs import ROWS, Row, X, listed
from tests.oracle import numeric_gradient

README = pathlib.Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- constructs -->\n", "<!-- end of constructs -->"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.program.__name__.strip("_"))
def test_construct(row: Row) -> None:
    f = row.program
    if not row.right:
        with pytest.raises(S2SADError):
            grad(f)(X.copy())
        return
    wanted = numeric_gradient(f, [X])
    assert np.any(wanted)
    np.testing.assert_allclose(grad(f)(X.copy()), wanted, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (X.copy(),), (np.ones(3),))[1], np.sum(wanted), rtol=1e-6, atol=1e-8)


def test_names_are_not_repeated() -> None:
    assert len({(row.heading, row.name) for row in ROWS}) == len(ROWS)


def test_the_readme_lists_the_table() -> None:
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    made = f"{before}{BEGIN}\n{listed()}\n{END}{after}"
    if os.environ.get("S2SAD_UPDATE_GOLDENS"):
        README.write_text(made, encoding="utf-8")
    assert README.read_text(encoding="utf-8") == made
