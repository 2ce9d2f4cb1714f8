"""Expectation maximisation for a Gaussian mixture on the iris data, its M-step made from a gradient.

EM raises a lower bound of the log likelihood: the expected log density of data and components together, under
responsibilities that are held fixed while the parameters move. Held fixed is what `stop_gradient` says. At the
parameters that the responsibilities were computed from, the bound touches the likelihood and has its gradient (Fisher's
identity), and a step along it, scaled by the inverse Fisher information of each component, is the closed-form M-step
(Xu and Jordan, On convergence properties of the EM algorithm for Gaussian mixtures, Neural Computation 8, 1996).

    python examples/mixture.py [--reduced] [--out mixture.png]
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from s2sad import grad, stop_gradient


def log_joint(logits, means, covariances, x):
    """Log density of each row of x together with each component: an array (rows, components)."""
    log_mixing = logits - np.log(np.sum(np.exp(logits)))
    residuals = x[:, None, :] - means
    distance = np.einsum("nki,kij,nkj->nk", residuals, np.linalg.inv(covariances), residuals)
    _, log_volume = np.linalg.slogdet(covariances)
    return log_mixing - 0.5 * (distance + log_volume + x.shape[1] * np.log(2 * np.pi))


def log_likelihood(logits, means, covariances, x):
    """Mean log density of the rows of x."""
    return np.mean(np.logaddexp.reduce(log_joint(logits, means, covariances, x), axis=1))


def responsibilities(joint):
    """The E-step: the posterior probability of each component for each row. It needs no derivative rule."""
    return np.exp(joint - np.logaddexp.reduce(joint, axis=1, keepdims=True))


def loss(logits, means, covariances, x):
    """Minus EM's lower bound of the mean log likelihood, up to the entropy of the responsibilities."""
    joint = log_joint(logits, means, covariances, x)
    r = stop_gradient(responsibilities(joint), name="E-step")
    return -np.mean(np.sum(r * joint, axis=1))


gradient = grad(loss, argnums=(0, 1, 2))


def gradient_step(logits, means, covariances, x):
    """The M-step from the gradient alone; the logits come out as logarithms of the mixing weights."""
    logits_bar, means_bar, covariances_bar = gradient(logits, means, covariances, x)
    mixing = np.exp(logits - np.log(np.sum(np.exp(logits)))) - logits_bar
    shift = -np.einsum("kij,kj->ki", covariances, means_bar) / mixing[:, None]
    scatter = covariances - 2 * covariances @ covariances_bar @ covariances / mixing[:, None, None]
    scatter = (scatter + scatter.mT) / 2  # asymmetry from rounding would double with every step
    return np.log(mixing), means + shift, scatter - shift[:, :, None] * shift[:, None, :]


def closed_form_step(logits, means, covariances, x):
    """The textbook's M-step: weighted counts, means and covariances (Bishop 2006, section 9.2.2)."""
    r = responsibilities(log_joint(logits, means, covariances, x))
    counts = np.sum(r, axis=0)
    new_means = r.T @ x / counts[:, None]
    residuals = x[:, None, :] - new_means
    new_covariances = np.einsum("nk,nki,nkj->kij", r, residuals, residuals) / counts[:, None, None]
    return np.log(counts / len(x)), new_means, new_covariances


def run(reduced=False, seed=0):
    """Fit three components from three random rows; every step is compared with the closed form."""
    x, species = load_iris(return_X_y=True)
    rows = np.random.default_rng(seed).choice(len(x), size=3, replace=False)
    parameters = np.zeros(3), x[rows], np.stack([np.eye(4)] * 3)
    likelihoods, differences = [log_likelihood(*parameters, x)], []
    for _ in range(15 if reduced else 100):
        expected = closed_form_step(*parameters, x)
        parameters = gradient_step(*parameters, x)
        differences.append(max(np.max(np.abs(a - b)) for a, b in zip(parameters, expected, strict=True)))
        likelihoods.append(log_likelihood(*parameters, x))
    component = np.argmax(log_joint(*parameters, x), axis=1)
    table = np.array([[np.sum((species == s) & (component == k)) for k in range(3)] for s in range(3)])
    return {
        "fit": (x, component, parameters),
        "log_likelihood": np.array(likelihoods),
        "difference": np.array(differences),
        "purity": np.sum(np.max(table, axis=0)) / len(x),
    }


def draw(results, path):
    """The components over two of the four measurements, and the log likelihood of each iteration."""
    plt.switch_backend("Agg")
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    circle = np.stack([np.cos(np.linspace(0, 2 * np.pi, 100)), np.sin(np.linspace(0, 2 * np.pi, 100))])
    x, component, (_, means, covariances) = results["fit"]
    for k, colour in enumerate(["tab:blue", "tab:orange", "tab:green"]):
        left.scatter(*x[component == k, 2:].T, s=12, color=colour, alpha=0.7)
        for radius in (1, 2):
            ellipse = means[k, 2:, None] + radius * np.linalg.cholesky(covariances[k, 2:, 2:]) @ circle
            left.plot(*ellipse, color=colour, lw=1.5 / radius)
    left.set(xlabel="petal length, cm", ylabel="petal width, cm", title=f"{results['purity']:.1%} with their species")
    right.plot(results["log_likelihood"])
    right.set(xlabel="iteration", ylabel="mean log likelihood", title="The log likelihood never falls")
    fig.savefig(path, dpi=120)


def main(argv=None):
    parser = argparse.ArgumentParser(description="A Gaussian mixture on the iris data, by gradient")
    parser.add_argument("--reduced", action="store_true", help="take fewer iterations")
    parser.add_argument("--out", default="mixture.png", help="where the figure goes")
    options = parser.parse_args(argv)
    results = run(options.reduced)
    draw(results, options.out)
    print(f"mean log likelihood {results['log_likelihood'][-1]:.4f}, {results['purity']:.1%} with their species")
    print(f"largest difference from the closed-form M-step: {np.max(results['difference']):.0e}; figure: {options.out}")


if __name__ == "__main__":
    main()
