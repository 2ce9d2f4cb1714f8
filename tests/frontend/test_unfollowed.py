"""Which functions are of a library that is followed as a whole or not at all."""

from __future__ import annotations

import s2sad.api
from s2sad.errors import Violation
from s2sad.frontend.unfollowed import inside_library, is_of_made
from s2sad.transform import definitions


def test_functions_of_this_package_stand_for_the_users() -> None:
    assert inside_library(s2sad.api.__file__) == ""
    assert inside_library(definitions.__file__) == "s2sad/transform/definitions.py"


def test_that_something_may_be_of_the_module_follows_from_objects_that_stay() -> None:
    said = "this may be an array of the module, and what is differentiated is written into it"
    assert is_of_made(Violation(None, said, ""), perhaps=False)
    assert not is_of_made(Violation(None, "np.linalg.matrix_rank has no derivative", ""), perhaps=False)
