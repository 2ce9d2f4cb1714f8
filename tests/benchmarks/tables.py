"""How figures are shown."""

from __future__ import annotations

import math
import sys
from typing import Any


def table(rows: list[list[str]]) -> str:
    """Columns aligned, the first to the left and the rest to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        cells[0] = row[0].ljust(widths[0])
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 10.0 else f"{value:.1f}" if value < 100.0 else f"{value:.0f}"


def geometric_mean(values: list[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def summary(ratios: dict[str, float]) -> dict[str, Any]:
    worst = max(ratios, key=ratios.__getitem__)
    return {"geometric_mean": geometric_mean(list(ratios.values())), "worst": ratios[worst], "worst_case": worst}


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"  {text:<60}", end="\r", file=sys.stderr, flush=True)
