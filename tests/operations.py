"""The whole table of operations, those of SciPy among them: for tests that run over all of it."""

from __future__ import annotations

import importlib

from s2sad import ops
from s2sad.ops.scipy import DECLARED

for module in DECLARED:
    importlib.import_module(module)
ops.load_all()
ops.load_imported()
