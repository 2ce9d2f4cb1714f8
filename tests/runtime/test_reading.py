"""What functions read is looked for only until somebody has seen enough."""

from __future__ import annotations

from typing import Any

import pytest

from s2sad.runtime import reading

ITEMS = [1.0]


def reads() -> Any:
    return ITEMS[0] + calls()


def calls() -> float:
    return 1.0


def test_a_function_that_is_not_needed_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    mentioned = reading.mentioned

    def counted(code: Any) -> reading.Mentioned:
        seen.append(code.co_name)
        return mentioned(code)

    monkeypatch.setattr(reading, "mentioned", counted)
    assert [x for _, x in reading.Reading([reads])] == [ITEMS]
    assert "calls" in seen
    seen.clear()
    assert reading.can_change(reads)
    assert not reading.can_change(calls)
    assert set(seen) == {"reads", "calls"}
    seen.clear()
    assert reading.can_change(reads)
    assert "calls" not in seen
