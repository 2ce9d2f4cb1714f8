"""Forms of calls made at random of the samples (`tests.ops.forms`), and that what judges them can fail."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from s2sad.ops import spec
from s2sad.ops.names import key_of
from tests.ops.forms import FAILURES, Form, judge, verdict


@pytest.mark.parametrize("start", range(0, 900, 150))
def test_forms(start: int) -> None:
    found = [verdict(index) for index in range(start, start + 50)]
    assert not [one for one in found if one[1] in FAILURES]


def test_wrong_gradients_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = spec.find(np.cumsum)
    assert rule is not None
    form = Form(rule, (np.cos(np.arange(6.0)).reshape(2, 3),), {"axis": -1})
    assert judge(form)[0] == "right"
    wrong = dataclasses.replace(rule, vjp=lambda z_bar, a, axis=None, dtype=None: z_bar * 1.01)
    monkeypatch.setitem(spec._specs, key_of(np.cumsum), wrong)
    assert judge(Form(rule, (np.cos(np.arange(7.0)),)))[0] in FAILURES
