import copy
import os
import pickle

import pytest

from s2sad.errors import (
    ArgumentError,
    GradientMismatch,
    NonScalarError,
    Place,
    S2SADError,
    SourceError,
    UndefinedDerivativeError,
    UnsupportedError,
    Violation,
    located,
)

LINE = "    w, v = np.linalg.eig(A)"
EIG = Place("model.py", 7, 11, 27, LINE)


def test_message_reads_like_a_compilers():
    assert located(EIG, "np.linalg.eig has no derivative rule", "Declare a rule.").splitlines() == [
        "model.py:7:12: error: np.linalg.eig has no derivative rule",
        "    w, v = np.linalg.eig(A)",
        "           ^~~~~~~~~~~~~~~~",
        "Declare a rule.",
    ]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("    µ = f(größe) + eig(größe)", "eig(größe)"),
        ("y = '日本' + eig(x)", "eig(x)"),
        ("\tif a:\ty = eig(x)", "eig(x)"),
        ("eig", "eig"),
    ],
)
def test_caret_stands_below_the_characters_that_byte_columns_mean(text, part):
    start = len(text[: text.index(part)].encode())
    place = Place("f.py", 1, start, start + len(part.encode()), text)
    head, shown, caret = located(place, "no", "").splitlines()
    assert head.startswith(f"f.py:1:{text.index(part) + 1}: ")
    assert shown[caret.index("^") :][: len(part)] == part
    assert caret.strip() == "^" + "~" * (len(part) - 1)
    assert [c == "\t" for c in caret[: caret.index("^")]] == [c == "\t" for c in shown[: caret.index("^")]]


def test_a_construct_of_several_lines_is_underlined_to_the_end_of_its_first():
    place = Place("f.py", 1, 4, None, "y = eig(   ")
    assert located(place, "no", "").splitlines()[2] == "        ^~~~"


def test_a_place_without_text_and_no_place():
    assert located(Place("f.py", 3, 0, None, ""), "no", "Do.") == "f.py:3:1: error: no\nDo."
    assert located(None, "no", "Do.") == "error: no\nDo."


def test_file_below_the_working_directory_is_shown_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(Place(str(tmp_path / "a" / "f.py"), 1, 0, None, "x")) == os.path.join("a", "f.py") + ":1:1"
    assert str(Place("/elsewhere/f.py", 1, 0, None, "x")) == "/elsewhere/f.py:1:1"
    assert str(Place("<ipython-input-3>", 1, 0, None, "x")) == "<ipython-input-3>:1:1"


def test_violations_are_sorted_by_place_and_said_once():
    later = Violation(Place("model.py", 12, 0, 3, "foo"), "b", "")
    first = Violation(EIG, "a", "r")
    anywhere = Violation(None, "c", "")
    error = UnsupportedError([anywhere, later, first, later, first])
    assert error.violations == (first, later, anywhere)
    assert [block.splitlines()[0] for block in str(error).split("\n\n")] == [
        "model.py:7:12: error: a",
        "model.py:12:1: error: b",
        "error: c",
    ]


def test_the_calls_that_led_there_stand_above_the_remedy():
    calls = (Place("model.py", 12, 8, 20, "    y = decompose(x)"), Place("a.py", 3, 0, None, "z = " + 50 * "f(" + "x"))
    assert str(Violation(EIG, "no rule", "Do.", calls)).splitlines() == [
        "model.py:7:12: error: no rule",
        "    w, v = np.linalg.eig(A)",
        "           ^~~~~~~~~~~~~~~~",
        "called from model.py:12:9: y = decompose(x)",
        "called from a.py:3:1: z = " + 36 * "f(" + "f...",
        "Do.",
    ]


def test_a_violation_is_said_once_whatever_calls_lead_there():
    first, second = Place("a.py", 3, 0, 5, "f(x)"), Place("a.py", 9, 0, 5, "f(y)")
    error = UnsupportedError([Violation(EIG, "a", "r", (second,)), Violation(EIG, "a", "r", (first,))])
    assert error.violations == (Violation(EIG, "a", "r", (first,)),)


def test_a_place_within_another():
    inner, outer = Place("a.py", 3, 6, 9, "y = f(g(x))"), Place("a.py", 3, 4, None, "y = f(g(x))")
    assert inner.is_within(outer)
    assert not outer.is_within(inner)
    assert not inner.is_within(inner)
    assert not inner.is_within(Place("a.py", 4, 4, None, "y = f(g(x))"))


@pytest.mark.parametrize(
    ("kind", "base"),
    [
        (ArgumentError, TypeError),
        (NonScalarError, ArgumentError),
        (GradientMismatch, AssertionError),
        (SourceError, Exception),
        (UndefinedDerivativeError, Exception),
    ],
)
def test_every_error_is_an_s2sad_error_and_the_builtin_that_callers_expect(kind, base):
    error = kind("message")
    assert isinstance(error, S2SADError)
    assert isinstance(error, base)
    assert str(pickle.loads(pickle.dumps(error))) == "message"


def test_unsupported_error_pickles_and_copies():
    error = UnsupportedError([Violation(EIG, "a", "r")])
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert isinstance(other, UnsupportedError)
        assert other.violations == error.violations
        assert str(other) == str(error)
