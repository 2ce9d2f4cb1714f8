"""Forms that are written out as text: definitions that write, and whole programs that no product of axes gives.

A file has families (`##### name`) of forms (`=== name`); a form is statements, then perhaps definitions of the module
(`--- module`) and parameters with their arguments (`--- arguments`). `(constant)` in a name says that the object is
never active.
"""

from __future__ import annotations

import pathlib
import re
from dataclasses import dataclass

from tests.matrix.axes import ACTIVE, CONSTANT, STOPPED


@dataclass(frozen=True)
class Form:
    """Statements, with `{b}` or a new array `{E}` for the object and `{v}` for what is stored."""

    name: str
    family: str
    body: str
    parameters: tuple[tuple[str, str], ...] = ()
    top: str = ""

    @property
    def activities(self) -> tuple[str, ...]:
        """What the object may be."""
        return (CONSTANT,) if self.name.endswith("(constant)") else (ACTIVE, CONSTANT, STOPPED)


def _form(family: str, text: str) -> Form:
    name, _, rest = text.partition("\n")
    body, *parts = re.split(r"^--- (module|arguments)\n", rest, flags=re.MULTILINE)
    named = dict(zip(parts[::2], parts[1::2], strict=True))
    given = [line.split(" = ", 1) for line in named.get("arguments", "").splitlines()]
    return Form(name, family, body.rstrip(), tuple((n, v) for n, v in given), named.get("module", "").strip("\n"))


def forms(file: str) -> tuple[Form, ...]:
    """The forms of a file beside this module."""
    text = pathlib.Path(__file__).with_name(file).read_text()
    found = []
    for section in re.split(r"^##### ", text, flags=re.MULTILINE)[1:]:
        family, _, rest = section.partition("\n")
        found += [_form(family, form) for form in re.split(r"^=== ", rest, flags=re.MULTILINE)[1:]]
    return tuple(found)


WHOLES = forms("wholes.txt")
