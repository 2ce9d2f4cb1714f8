"""Functions that were written are one only if all that their texts call is the same, whatever it is called."""

from __future__ import annotations

from s2sad.pipeline.writer import Writer, _Part


def up() -> float:
    return 2.0


def down() -> float:
    return 0.5


def test_texts_that_call_other_functions_of_one_name() -> None:
    writer = Writer()
    writer.parts = {
        "f_jvp": _Part("def f_jvp(x):\n    return gain() * x\n", needs={"gain": up}),
        "f_jvp_2": _Part("def f_jvp_2(x):\n    return gain() * x\n", needs={"gain": up}),
        "f_jvp_3": _Part("def f_jvp_3(x):\n    return gain() * x\n", needs={"gain": down}),
    }
    assert writer.is_same("f_jvp_2", "f_jvp")
    assert not writer.is_same("f_jvp_3", "f_jvp")
