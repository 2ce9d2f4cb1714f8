"""Assignments, components and orders of graphs: whole numbers, which have no derivative."""

from __future__ import annotations

from scipy.sparse import csgraph

from s2sad.ops.spec import constant

constant(
    csgraph.connected_components,
    signature=lambda csgraph, directed=True, connection="weak", return_labels=True: None,
    gives=(int, tuple),
)
constant(csgraph.maximum_bipartite_matching, signature=lambda graph, perm_type="row": None)
constant(csgraph.min_weight_full_bipartite_matching, signature=lambda biadjacency, maximize=False: None, gives=(tuple,))
