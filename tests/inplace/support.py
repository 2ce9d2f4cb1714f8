"""The check of programs that write into arrays: exact, or, as long as the switch allows it, refused with a place."""

from __future__ import annotations

import dataclasses

from tests.language.support import Case, check_gradient

# The one switch: once every in-place program is supported, a refusal is a failure.
REFUSALS_ALLOWED = True


def check_inplace(c: Case) -> None:
    """As `check_gradient`; a refusal must have a place."""
    check_gradient(dataclasses.replace(c, optional=REFUSALS_ALLOWED))
