"""A library of layers with fixed parameters, whose input is attacked."""

from __future__ import annotations

import numpy as np


class Module:
    training = False

    def forward(self, x):
        raise NotImplementedError

    def __call__(self, x):
        return self.forward(x)


class Linear(Module):
    def __init__(self, n_in, n_out, seed):
        rng = np.random.default_rng(seed)
        self.weight = rng.normal(size=(n_in, n_out)) / np.sqrt(n_in)
        self.bias = np.zeros(n_out)

    def forward(self, x):
        return x @ self.weight + self.bias


class ReLU(Module):
    def forward(self, x):
        return np.maximum(x, 0.0)


class Tanh(Module):
    def forward(self, x):
        return np.tanh(x)


class Dropout(Module):
    def __init__(self, p):
        self.p = p

    def forward(self, x):
        if not self.training:
            return x
        mask = np.random.rand(*x.shape) > self.p  # noqa: NPY002
        return x * mask / (1 - self.p)


class LayerNorm(Module):
    def __init__(self, eps=1e-5):
        self.eps = eps

    def forward(self, x):
        mean = x.mean(axis=-1, keepdims=True)
        var = x.var(axis=-1, keepdims=True)
        return (x - mean) / np.sqrt(var + self.eps)


class Residual(Module):
    def __init__(self, inner):
        self.inner = inner

    def forward(self, x):
        return x + self.inner(x)


class Sequential(Module):
    def __init__(self, *modules):
        self.modules = modules

    def forward(self, x):
        for module in self.modules:
            x = module(x)
        return x


NET = Sequential(
    Linear(3, 5, 0), LayerNorm(), Tanh(), Residual(Sequential(Linear(5, 5, 1), Tanh(), Dropout(0.5))), Linear(5, 2, 2)
)


def cross_entropy(logits, label):
    shifted = logits - np.max(logits)
    return np.log(np.sum(np.exp(shifted))) - shifted[label]


def loss(x):
    return cross_entropy(NET(x), 1) + 0.1 * np.sum(ReLU()(x))


ARGUMENTS = (np.array([0.3, -0.7, 1.2]),)
