"""The check of programs that write into arrays: exact, or, as long as the switch allows it, refused with a place."""

# What is refused has to say why: the assertion is on the exception that may or may not come.
# ruff: noqa: PT017

from __future__ import annotations

import re

from tests.language.support import Case, check_gradient

# The one switch: once every in-place program is supported, a refusal is a failure.
REFUSALS_ALLOWED = True

PLACE = re.compile(r"^.+:\d+:\d+: error: .+\n.*\S.*\n\s*\^", re.MULTILINE)


def check_inplace(c: Case) -> None:
    """As `check_gradient`; a refusal must have a place."""
    from s2sad.errors import UnsupportedError

    try:
        check_gradient(c)
    except UnsupportedError as error:
        assert REFUSALS_ALLOWED, f"refused: {error}"
        assert PLACE.search(str(error)), f"refused without a place: {error}"
