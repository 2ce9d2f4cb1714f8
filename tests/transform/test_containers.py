"""Lists, dicts and other containers of known structure: what remains does the same, and its gradients are right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.transform import containers, iterations
from tests.transform.remaining import check_gradient, check_same

TAKEN = [*containers.TAKEN, *iterations.TAKEN]


@pytest.mark.parametrize("f", TAKEN, ids=lambda f: f.__name__)
def test_what_remains_does_the_same(f: Callable[..., Any]) -> None:
    check_same(f, False)


@pytest.mark.parametrize("f", TAKEN, ids=lambda f: f.__name__)
def test_gradient(f: Callable[..., Any]) -> None:
    check_gradient(f, True)
