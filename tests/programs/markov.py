"""A hidden Markov model whose tables are built by comprehensions."""

from __future__ import annotations

import itertools

import numpy as np

STATES = ["dry", "damp", "wet"]
SEEN = [0, 2, 1, 1, 0, 2]


def softmax(v):
    e = [np.exp(x - max(v)) for x in v]
    total = sum(e)
    return [x / total for x in e]


def transition_table(stay, drift):
    n = len(STATES)
    scores = [[stay if i == j else -drift * abs(i - j) for j in range(n)] for i in range(n)]
    return np.array([softmax(row) for row in scores])


def emission_table(centres, width):
    return {
        state: [np.exp(-((symbol - c) ** 2) / (2 * width**2)) for symbol in range(3)]
        for state, c in zip(STATES, centres)
    }


def forward(transitions, emissions, seen):
    alpha = np.array([emissions[s][seen[0]] / len(STATES) for s in STATES])
    log_likelihood = 0.0
    for symbol in seen[1:]:
        scale = np.sum(alpha)
        log_likelihood += np.log(scale)
        likelihood = np.array([emissions[s][symbol] for s in STATES])
        alpha = likelihood * ((alpha / scale) @ transitions)
    return log_likelihood + np.log(np.sum(alpha))


def brute_force(transitions, emissions, seen):
    total = 0.0
    for path in itertools.product(range(len(STATES)), repeat=len(seen)):
        p = 1.0 / len(STATES)
        for k, (state, symbol) in enumerate(zip(path, seen)):
            p = p * emissions[STATES[state]][symbol]
            if k > 0:
                p = p * transitions[path[k - 1], state]
        total += p
    return np.log(total)


def loss(p, centres):
    transitions = transition_table(p[0], p[1])
    emissions = emission_table(centres, p[2])
    entropy = -sum(q * np.log(q) for row in transitions for q in row)
    short = brute_force(transitions, emissions, SEEN[:3])
    return -forward(transitions, emissions, SEEN) + 0.1 * entropy + 0.01 * short


ARGUMENTS = (np.array([0.8, 0.5, 0.7]), np.array([0.1, 1.2, 1.9]))
