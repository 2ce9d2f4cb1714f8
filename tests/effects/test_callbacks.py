"""Operations without code that may call functions among their arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from s2sad.effects import points_to
from s2sad.effects.mod_ref import show_summary
from s2sad.effects.objects import Objects
from tests.effects.programs import executed, program

WRITER = """
import zlib

def keep(a):
    KEPT.append(a)
    return a

def write(a):
    for b in KEPT:
        b[0] = 1.0

KEPT = []

def f(x, y):
    return zlib.compress([{functions}], x)
"""


@pytest.mark.parametrize("order", ["keep, write", "write, keep", "write, keep, keep"])
def test_what_one_function_keeps_another_writes(order: str) -> None:
    analysis = program(WRITER.replace("{functions}", order))
    analysis.trusted = lambda value, is_used: True
    context = analysis.analysed(executed(WRITER.replace("{functions}", order))["f"], (np.ones(3), np.ones(3)), True)
    lines = dict(line.strip().split(": ", 1) for line in show_summary(context).splitlines()[1:])
    assert {"KEPT[]", "foreign[]"} <= set(lines["mod"].split(", "))
    assert "x" in lines["escapes"].split(", ")


def test_many_functions_are_not_called_in_all_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    class Counting(points_to.Activation):
        def call(self, *args: Any, **kwargs: Any) -> Objects:
            nonlocal calls
            calls += 1
            return super().call(*args, **kwargs)

    monkeypatch.setattr("s2sad.effects.mod_ref.Activation", Counting)
    functions = "b.hexlify, b.unhexlify, b.crc32, b.crc_hqx, b.b2a_base64, b.a2b_base64, zlib.crc32, zlib.adler32"
    source = f"import binascii as b, zlib\n\ndef f(x):\n    return zlib.compress([{functions}], x)\n"
    analysis = program(source)
    analysis.trusted = lambda value, is_used: True
    analysis.analysed(executed(source)["f"], (np.ones(3),))
    assert 0 < calls < 80
