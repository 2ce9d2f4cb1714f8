"""The whole table of operations, those of SciPy among them: for tests that run over all of it."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import TypeVar

from s2sad import ops
from s2sad.ops.scipy import DECLARED
from s2sad.ops.spec import OpSpec

for module in DECLARED:
    importlib.import_module(module)
ops.load_all()
ops.load_imported()

Entry = TypeVar("Entry", bound=OpSpec)


def some_of_distributions(entries: Sequence[Entry], step: int) -> Iterator[Entry]:
    """The operations; of the methods of each distribution, which are made by templates, every ``step``-th in turn."""
    laws: dict[str, int] = {}
    for number, entry in enumerate(entries):
        law, _, _ = entry.name.rpartition(".")
        is_method = law.startswith("scipy.stats.")
        if not is_method or (number + laws.setdefault(law, len(laws))) % step == 0:
            yield entry
