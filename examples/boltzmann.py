"""A restricted Boltzmann machine on handwritten digits, trained by contrastive divergence.

The gradient of the log likelihood is a difference of two mean gradients of the free energy: over the data, and over
samples of the model. Contrastive divergence takes the samples from one step of a Gibbs chain that starts at the data.
The chain depends on the parameters, draws random numbers and rounds, but its samples count as given: they stand under
`stop_gradient`, and nothing in the chain needs a derivative rule. The gradient is then Hinton's CD-1 update (Training
products of experts by minimizing contrastive divergence, Neural Computation 14, 2002).

    python examples/boltzmann.py [--reduced] [--out boltzmann.png]
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from s2sad import grad, stop_gradient


def logistic(x):
    return 0.5 * (1.0 + np.tanh(0.5 * x))


def free_energy(weights, visible_bias, hidden_bias, v):
    """Free energy of each row of v, the hidden units summed out."""
    return -(v @ visible_bias) - np.sum(np.logaddexp(0.0, v @ weights + hidden_bias), axis=1)


def gibbs(weights, visible_bias, hidden_bias, v, rng):
    """One step of the chain: hidden units given v, then visible ones given these."""
    p = logistic(v @ weights + hidden_bias)
    h = (rng.random(p.shape) < p).astype(float)
    p = logistic(h @ weights.T + visible_bias)
    return (rng.random(p.shape) < p).astype(float)


def loss(weights, visible_bias, hidden_bias, v, rng):
    """Free energy of the data minus that of samples of the model."""
    sample = stop_gradient(gibbs(weights, visible_bias, hidden_bias, v, rng), name="Gibbs chain")
    data_energy = free_energy(weights, visible_bias, hidden_bias, v)
    return np.mean(data_energy - free_energy(weights, visible_bias, hidden_bias, sample))


gradient = grad(loss, argnums=(0, 1, 2))


def textbook(weights, visible_bias, hidden_bias, v, rng):
    """The CD-1 gradient from its formula: statistics of the samples minus statistics of the data."""
    sample = gibbs(weights, visible_bias, hidden_bias, v, rng)
    h, sample_h = logistic(v @ weights + hidden_bias), logistic(sample @ weights + hidden_bias)
    n = len(v)
    return (sample.T @ sample_h - v.T @ h) / n, np.mean(sample - v, axis=0), np.mean(sample_h - h, axis=0)


def reconstruct(weights, visible_bias, hidden_bias, v):
    """Expected visible units, given the expected hidden units of each row."""
    return logistic(logistic(v @ weights + hidden_bias) @ weights.T + visible_bias)


def run(reduced=False, seed=0):
    """Train; the first update of every epoch is compared with the textbook's, for the same random numbers."""
    rng = np.random.default_rng(seed)
    images = (load_digits().data > 7).astype(float)
    images, held_out = images[:-200], images[-200:]
    frequency = np.clip(np.mean(images, axis=0), 0.01, 0.99)
    parameters = 0.01 * rng.standard_normal((64, 96)), np.log(frequency / (1 - frequency)), np.zeros(96)
    errors, differences = [np.mean((held_out - reconstruct(*parameters, held_out)) ** 2)], []
    for _ in range(6 if reduced else 60):
        order = rng.permutation(len(images))
        for start in range(0, len(images) - 49, 50):
            batch, chain_seed = images[order[start : start + 50]], int(rng.integers(2**31))
            bars = gradient(*parameters, batch, np.random.default_rng(chain_seed))
            if start == 0:
                expected = textbook(*parameters, batch, np.random.default_rng(chain_seed))
                differences.append(max(np.max(np.abs(a - b)) for a, b in zip(bars, expected, strict=True)))
            parameters = [p - 0.3 * bar for p, bar in zip(parameters, bars, strict=True)]
        errors.append(np.mean((held_out - reconstruct(*parameters, held_out)) ** 2))
    return {
        "images": held_out,
        "reconstructions": reconstruct(*parameters, held_out),
        "weights": parameters[0],
        "error": np.array(errors),
        "difference": np.array(differences),
    }


def draw(results, path):
    """Held-out digits over their reconstructions, what some hidden units look for, and the error of each epoch."""
    plt.switch_backend("Agg")
    fig = plt.figure(figsize=(12, 3.6), layout="constrained")
    left, middle, right = fig.subfigures(1, 3, width_ratios=[2.2, 1.3, 1.4])
    pairs = np.stack([results["images"][:20].reshape(2, 10, 64), results["reconstructions"][:20].reshape(2, 10, 64)], 1)
    for image, ax in zip(pairs.reshape(40, 64), left.subplots(4, 10).flat, strict=True):
        ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
    left.suptitle("Held-out digits and, below each, its reconstruction")
    for unit, ax in enumerate(middle.subplots(4, 6).flat):
        ax.imshow(results["weights"][:, unit].reshape(8, 8), cmap="RdBu", vmin=-4, vmax=4)
        ax.set(xticks=[], yticks=[])
    middle.suptitle("Weights of hidden units")
    ax = right.subplots()
    ax.plot(results["error"])
    ax.set(xlabel="epoch", ylabel="squared error a pixel", ylim=(0, None), title="Held-out reconstruction")
    fig.savefig(path, dpi=120)


def main(argv=None):
    parser = argparse.ArgumentParser(description="A restricted Boltzmann machine on handwritten digits")
    parser.add_argument("--reduced", action="store_true", help="take fewer epochs")
    parser.add_argument("--out", default="boltzmann.png", help="where the figure goes")
    options = parser.parse_args(argv)
    results = run(options.reduced)
    draw(results, options.out)
    print(f"held-out reconstruction error {results['error'][0]:.3f} before, {results['error'][-1]:.3f} after training")
    print(f"largest difference from the textbook's CD-1: {np.max(results['difference']):.0e}; figure: {options.out}")


if __name__ == "__main__":
    main()
