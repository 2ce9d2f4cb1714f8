"""Assignments, components and orders of graphs: whole numbers, which have no derivative."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csgraph

from s2sad.ops.spec import constant, sample

_GRAPH = np.array([[0.0, 1.5, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0]])

constant(
    csgraph.connected_components,
    signature=lambda csgraph, directed=True, connection="weak", return_labels=True: None,
    samples=lambda: [sample(_GRAPH), sample(_GRAPH, return_labels=False), sample(_GRAPH, True, "strong")],
    gives=(tuple, np.ndarray),
)
constant(csgraph.maximum_bipartite_matching, signature=lambda graph, perm_type="row": None)
constant(csgraph.min_weight_full_bipartite_matching, signature=lambda biadjacency, maximize=False: None, gives=(tuple,))
