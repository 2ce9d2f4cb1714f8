"""All cases of the speed benchmark, in the order of the table."""

from __future__ import annotations

from . import array_cases, network_cases, scalar_cases
from .case import Case

CASES: dict[str, Case] = {
    case.name: case
    for case in [*scalar_cases.CASES, *array_cases.CASES[:3], *network_cases.CASES, *array_cases.CASES[3:]]
}
