"""Densities of kernels whose data carry derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from s2sad.ops.models import model
from s2sad.runtime.scipy.densities import kde_factor, kde_points


@model(stats.gaussian_kde, given="anything")
class gaussian_kde:
    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        self.dataset = np.atleast_2d(np.asarray(dataset))
        self.d = np.shape(self.dataset)[0]
        self.n = np.shape(self.dataset)[1]
        if weights is None:
            self.weights = np.ones(self.n) / self.n
        else:
            self.weights = np.asarray(weights) / np.sum(weights)
        self.neff = 1 / np.sum(self.weights**2)
        self.factor = kde_factor(bw_method, self.neff, self.d)
        centred = self.dataset - np.expand_dims(self.dataset @ self.weights, 1)
        spread = (self.weights * centred) @ np.transpose(centred) / (1 - np.sum(self.weights**2))
        self.covariance = spread * self.factor**2
        self.cho_cov = np.linalg.cholesky(self.covariance)

    def energies(self, points: Any) -> Any:
        """Half the squares of the distances between data and points, and the logarithm of what is divided by."""
        data = np.linalg.solve(self.cho_cov, self.dataset)
        at = np.linalg.solve(self.cho_cov, kde_points(points, self.d))
        energy = 0.5 * np.sum((np.expand_dims(data, 2) - np.expand_dims(at, 1)) ** 2, axis=0)
        return energy, np.sum(np.log(np.diag(self.cho_cov))) + 0.5 * self.d * np.log(2 * np.pi)

    def evaluate(self, points: Any) -> Any:
        energy, scale = self.energies(points)
        return np.sum(np.expand_dims(self.weights, 1) * np.exp(-energy - scale), axis=0)

    def __call__(self, points: Any) -> Any:
        return self.evaluate(points)

    def pdf(self, x: Any) -> Any:
        return self.evaluate(x)

    def logpdf(self, x: Any) -> Any:
        energy, scale = self.energies(x)
        return special.logsumexp(-energy, axis=0, b=np.expand_dims(self.weights, 1)) - scale
