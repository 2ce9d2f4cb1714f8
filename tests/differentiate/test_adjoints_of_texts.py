"""Texts of what is differentiated from which numbers are read: refused, whatever their type is said to be."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from s2sad import S2SADError, grad, jvp
from s2sad.analysis.evaluate import Evaluator
from s2sad.ir.nodes import Opaque
from s2sad.ir.types import TEXT
from tests.sources import function_of

BODIES = [
    's = f"{x:.17g}"; return float(s) * x',
    's = f"{x}"; t = s + "0"; return float(t) * x',
    'parts = [f"{v}" for v in [x, 2 * x]]; return float(parts[0]) * x',
    's = f"{x}" if x > 0 else "1.0"; return float(s) * x',
    's = ""\n    for k in range(2): s = f"{x}"\n    return float(s) * x',
    'pair = (f"{x}", x); return float(pair[0]) * pair[1]',
    "s = f\"{f'{x}'}\"; return float(s) * x",
    'return read(f"{x}") * x',
    'o = Holder(); o.s = f"{x}"; return float(o.s) * x',
]
HEAD = "class Holder:\n    pass\n\ndef read(s):\n    return float(s)\n\ndef f(x):\n    "


@pytest.mark.parametrize("body", BODIES)
def test_numbers_in_texts_are_refused(body: str) -> None:
    f = function_of(HEAD + body)
    for ask in (lambda: grad(f)(1.3), lambda: jvp(f, (1.3,), (1.0,))):
        with pytest.raises(S2SADError, match="text"):
            ask()


@pytest.mark.parametrize("body", BODIES)
def test_a_type_does_not_hide_what_is_refused(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The adjoint of a text is refused where it is asked for, and not left out since a text has none."""
    find = Evaluator.find

    def as_text(self: Evaluator, expr: Any) -> Any:
        is_text = isinstance(expr, Opaque) and isinstance(expr.node, ast.JoinedStr)
        return TEXT if is_text else find(self, expr)

    monkeypatch.setattr(Evaluator, "find", as_text)
    f = function_of(HEAD + body)
    with pytest.raises(S2SADError, match="text"):
        grad(f)(1.3)
