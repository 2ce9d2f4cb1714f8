"""Copies of what is read of tables of the module in a ``try``: to write into them is not to write into the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad import grad

NAMED = {"plain": {"name": "plain"}, "other": {"name": "other", "wide": 1.0}}


def described(name: Any) -> Any:
    try:
        found = NAMED[name]
    except (KeyError, TypeError):
        found = {"name": name}
    found = dict(found)
    del found["name"]
    found["white"] = np.ones(3)
    return found


def in_a_copy(name: Any, x: Any) -> Any:
    return np.sum(x * x * described(name)["white"])


@pytest.mark.parametrize("name", ["plain", "other", "none"])
def test_a_copy_of_what_a_try_reads_of_a_table_is_no_part_of_it(name):
    x = np.array([0.3, 1.2, -0.5])
    found = grad(in_a_copy, argnums=1)(name, x)
    np.testing.assert_allclose(found, 2 * x)
    assert NAMED["plain"] == {"name": "plain"}
