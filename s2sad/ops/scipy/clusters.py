"""Functions of ``scipy.cluster`` that are refused as they stand: they are long Python."""

from __future__ import annotations

from scipy.cluster import hierarchy, vq

from s2sad.ops.spec import operation

_MEANS = "find the labels under stop_gradient(...), and take the means of x[labels == k]"
_HEIGHTS = "find the pairs under stop_gradient(...), and compute their distances from x"

for _name in ("kmeans", "kmeans2"):
    operation(getattr(vq, _name), remedy=_MEANS)
for _name in ("linkage", "average", "centroid", "complete", "median", "single", "ward", "weighted"):
    operation(getattr(hierarchy, _name), remedy=_HEIGHTS)
