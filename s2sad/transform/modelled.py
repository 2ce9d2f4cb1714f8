"""Where models stand for classes and functions of libraries: by what these are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from s2sad.ops.models import stands_where_given
from s2sad.transform.existing import is_constant
from s2sad.transform.known import Abstract, Row
from s2sad.transform.passing import is_passable
from s2sad.transform.simple import is_structure
from s2sad.transform.specialiser import Frame, Specialiser

Args = Sequence[tuple[str, Abstract]]


def stands(s: Specialiser, made: Any, args: Args, frame: Frame) -> bool:
    """Whether a model stands for its original in a call with these arguments, which is none in the model itself."""
    if frame.home.source.function is made:
        return False
    given = stands_where_given(made)
    if given == "structured":
        return any(is_structure(v) or v in s.rows for _, v in args)
    if given == "functions":
        return any(is_passable(v) for _, v in args)
    return given == "anything" or not all(is_constant(s, v) for _, v in args)


def parts(s: Specialiser, made: Any, args: Args) -> Args:
    """What a model is given for the arguments of its original: tuples by their items where it asks for these."""
    if stands_where_given(made) not in ("structured", "varied parts"):
        return args
    return [(kind, Row(s.rows[v]) if v in s.rows else v) for kind, v in args]
