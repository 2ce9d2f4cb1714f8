"""Which functions are of a library that is followed as a whole or not at all."""

from __future__ import annotations

import s2sad.api
from s2sad.frontend.unfollowed import inside_library
from s2sad.transform import definitions


def test_functions_of_this_package_stand_for_the_users() -> None:
    assert inside_library(s2sad.api.__file__) == ""
    assert inside_library(definitions.__file__) == "s2sad/transform/definitions.py"
