"""The plain functions of the golden sources; a function is added at the end, so that the lines of the others stay."""

# ruff: noqa: B007, B905, RUF059 (written as people write)

import numpy as np

from s2sad import stop_gradient


def stable_softmax(x, target):
    m = stop_gradient(np.max(x, axis=1, keepdims=True), "row maximum")
    e = np.exp(x - m)
    p = e / np.sum(e, axis=1, keepdims=True)
    return -np.mean(np.sum(target * np.log(p), axis=1))


def logsumexp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def logistic_regression(w, b, x, y, penalty=0.1):
    """Mean cross-entropy of a linear classifier, with labels of 0 and 1."""
    z = x @ w + b
    cross_entropy = np.mean(np.logaddexp(0.0, z) - y * z)
    return cross_entropy + 0.5 * penalty * (w @ w)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def mlp(params, x, y):
    """Mean squared error of a network with one hidden layer."""
    w1, b1, w2, b2 = params
    hidden = np.tanh(x @ w1 + b1)
    out = hidden @ w2 + b2
    return np.mean((out - y) ** 2)


def deep_network(layers, x):
    *hidden, (w_out, b_out) = layers
    for w, b in hidden:
        x = np.maximum(x @ w + b, 0.0)
    return np.sum((x @ w_out + b_out) ** 2)


def rnn(w, u, b, inputs):
    h = np.zeros(w.shape[0])
    total = 0.0
    for x in inputs:
        h = np.tanh(w @ h + u @ x + b)
        total += h @ h
    return total


def sine_chain(x, n):
    y = x
    for i in range(n):
        y = np.sin(y) * x
    return y


def euler(y, a, dt, steps):
    # A damped pendulum.
    v = 0.0
    for _ in range(steps):
        acceleration = -np.sin(y) - a * v
        y = y + dt * v
        v = v + dt * acceleration
    return y * y + v * v


def newton_sqrt(a):
    x = a
    while True:
        step = 0.5 * (x - a / x)
        if abs(step) < 1e-12:
            break
        x = x - step
    return x


def huber(r, delta):
    if abs(r) <= delta:
        return 0.5 * r * r
    if r > 0:
        return delta * (r - 0.5 * delta)
    return -delta * (r + 0.5 * delta)


def skipping(x, mask):
    total = 0.0
    for value, keep in zip(x, mask):
        if not keep:
            continue
        total = total + value**3
    return total


def first_large(x, limit):
    for i, value in enumerate(x):
        if value > limit:
            found = value * i
            break
    else:
        found = np.sum(x) * limit
    return found


def pairwise(x):
    energy = 0.0
    for i in range(len(x)):
        for j in range(i):
            energy += 1.0 / (1.0 + (x[i] - x[j]) ** 2)
    return energy


def reflected(x, wall, steps):
    for _ in range(steps):
        x = x * 1.5
        if x > wall:
            x = 2.0 * wall - x
        elif x < 0.0:
            x = -x
    return x


def _gaussian(x, mean, scale=1.0):
    z = (x - mean) / scale
    return -0.5 * z * z - np.log(scale)


def mixture(means, scales, x):
    a = _gaussian(x, means[0], scale=scales[0])
    b = _gaussian(x, means[1], scale=scales[1])
    return -np.sum(np.logaddexp(a, b))


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half * x if n % 2 else half * half


def affine(params, x):
    scale = params["scale"]
    (shift, weights), power = params["rest"], 2
    return np.sum((scale * x @ weights + shift) ** power)


def attention(q, k, v):
    scores = np.einsum("id,jd->ij", q, k) / np.sqrt(q.shape[-1])
    e = np.exp(scores - stop_gradient(scores.max(axis=-1, keepdims=True)))
    return np.einsum("ij,jd->", e / e.sum(axis=-1, keepdims=True), v**2)


def gaussian_log_likelihood(cov, mean, x):
    r = x - mean
    sign, logdet = np.linalg.slogdet(cov)
    return -0.5 * (r @ np.linalg.solve(cov, r) + logdet + len(x) * np.log(2 * np.pi))


def broadcast(a, b, c):
    d = a * b + c
    return np.sum(d * d / b)


def power_spectrum(z, w):
    y = w * np.conj(z) + z * 1j
    return np.sum(np.abs(y) ** 2) + np.real(y[0])


def lasso(w, x, y, penalty):
    residual = x @ w - y
    data = np.mean(residual**2)
    sparsity = np.sum(np.abs(w))
    return data + penalty * sparsity, {"data": data, "sparsity": sparsity}


def linear_discriminant(x, means, bias):
    """The mean loss of rows that belong to the first of some classes, after they have been standardised."""
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    gram = z.T @ z / len(x)
    scores = -np.sum((z[:, None, :] - means[None]) ** 2, axis=2) + bias
    shifted = scores - scores.max(axis=1)[:, None]
    losses = np.log(np.sum(np.exp(shifted), axis=1)) - shifted[:, 0]
    return np.mean(losses) + 0.1 * np.linalg.slogdet(gram)[1]


def weighted_path(points, weights):
    total = 0.0
    previous = points[0]
    for i, (point, weight) in enumerate(zip(points, weights)):
        step = point - previous
        total = total + weight * np.sqrt(step @ step + 1.0) / (i + 1)
        previous = point
    return total


np_ = np


def clashing(x, y):
    """Names of the person's own that the compiler would like to use."""
    np = y
    x_bar = np * x
    saved = x_bar * x_bar
    for y_bar in range(2):
        saved = saved * x + y_bar
    return np_.sum(saved)


def softmax_loss(w, x, y):
    z = x @ w
    z = z - np.max(z, axis=1, keepdims=True)
    logp = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(np.sum(y * logp, axis=1))


def two_layers(w1, b1, w2, x, y):
    h = np.tanh(x @ w1 + b1)
    r = h @ w2 - y
    return np.mean(r**2)
