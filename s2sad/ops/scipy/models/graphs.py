"""Functions of graphs of ``scipy.sparse.csgraph`` whose weights are given as an array."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csgraph

from s2sad.ops.models import model
from s2sad.runtime.undefined import require_rule


@model(csgraph.laplacian)
def laplacian(
    csgraph: Any,
    normed: Any = False,
    return_diag: Any = False,
    use_out_degree: Any = False,
    *,
    copy: Any = True,
    form: Any = "array",
    symmetrized: Any = False,
) -> Any:
    require_rule(copy and form == "array", "laplacian with form or without copy has no rule", "Leave both out.")
    weights = np.array(csgraph)
    if symmetrized:
        weights = weights + np.conj(np.transpose(weights))
    apart = np.eye(np.shape(weights)[0], dtype=bool)
    weights = np.where(apart, 0, weights)
    degrees = np.sum(weights, axis=1 if use_out_degree else 0)
    if not normed:
        made = np.where(apart, degrees, -weights)
        return (made, degrees) if return_diag else made
    alone = degrees == 0
    roots = np.where(alone, 1, np.sqrt(np.where(alone, 1, degrees)))
    made = np.where(apart, 1 - alone, -weights / roots / np.expand_dims(roots, 1))
    return (made, roots) if return_diag else made
