"""Second derivatives of operations at some samples (`tests.ops.orders`), and that what judges them can fail."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from s2sad.ops import spec
from s2sad.ops.names import key_of
from tests.ops.forms import FAILURES, Form, program
from tests.ops.orders import cases, judge, verdicts

CASES = cases("", every=False)
#: Operations whose second derivatives were wrong, failed or were refused, and which of their cases is looked at.
FOUND = [
    ("numpy.nanvar", -1),
    ("numpy.nanstd", -1),
    ("numpy.einsum", -1),
    ("numpy.split", -1),
    ("numpy.gradient", 1),
    ("numpy.pad", -1),
    ("numpy.linalg.pinv", -1),
    ("numpy.polynomial.chebyshev.chebvander", 0),
    ("numpy.polynomial.legendre.legfit", 0),
    ("numpy.interp", 0),
    ("numpy.interp", -1),
    ("numpy.trim_zeros", 0),
    ("numpy.histogram2d", 0),
    ("numpy.linalg.lstsq", -1),
    ("scipy.linalg.cholesky", 0),
    ("scipy.linalg.svd", 0),
    ("scipy.linalg.expm", 0),
    ("scipy.linalg.norm", 1),
    ("scipy.linalg.lu_factor", 0),
    ("scipy.integrate.simpson", 0),
    ("scipy.ndimage.spline_filter", 0),
    ("scipy.stats.yeojohnson", 1),
    ("numpy.polynomial.polynomial.polymul", 2),
    ("numpy.vander", 0),
    ("scipy.special.spherical_jn", 0),
]


def test_second_derivatives() -> None:
    found = [one for case in CASES[::880] for one in verdicts(case)]
    assert not [one for one in found if one[3] in FAILURES]
    assert sum(one[3] == "right" for one in found) > len(found) / 2


@pytest.mark.parametrize(("name", "which"), FOUND[::2])
def test_second_derivatives_of_some(name: str, which: int) -> None:
    found = verdicts([case for case in CASES if case[0] == name][which], ("reverse",))
    assert [one[3] for one in found] == ["right"]


def _wrong_flip(z_bar: Any, m: Any, axis: Any = None) -> Any:
    return 1.01 * np.flip(z_bar, axis)


def test_wrong_second_derivatives_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient of ``np.cumsum`` is right whatever the rule of ``np.flip``, which it calls, its derivative not."""
    rule, flip = spec.find(np.cumsum), spec.find(np.flip)
    assert rule is not None
    assert flip is not None

    def verdict(numbers: int) -> str:
        made = program(Form(rule, (np.cos(np.arange(float(numbers))),)), square=True)
        assert made is not None
        return judge(made, ("reverse",))["reverse"][0]

    assert verdict(6) == "right"
    monkeypatch.setitem(spec._specs, key_of(np.flip), dataclasses.replace(flip, vjp=_wrong_flip))
    assert verdict(5) == "wrong"
