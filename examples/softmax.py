"""Multinomial logistic regression on handwritten digits, with a softmax that cannot overflow.

A softmax does not change when all the scores of a row are shifted, so its largest score is subtracted before `exp`. The
shift cancels in the value and therefore in the derivative. `stop_gradient` says so: the emitted gradient neither
contains the derivative of the maximum nor asks who should get it where two scores tie.

    python examples/softmax.py [--show] [--reduced] [--out softmax.png]
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from s2sad import grad, stop_gradient, value_and_grad


def loss(weights, bias, images, targets):
    """Mean cross-entropy of softmax(images @ weights + bias) against one-hot targets."""
    z = images @ weights + bias
    z = z - stop_gradient(np.max(z, axis=1, keepdims=True))
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(np.sum(targets * log_p, axis=1))


def naive_loss(weights, bias, images, targets):
    """The same cross-entropy as the formula has it; `exp` overflows for scores above 709."""
    e = np.exp(images @ weights + bias)
    return -np.mean(np.sum(targets * np.log(e / np.sum(e, axis=1, keepdims=True)), axis=1))


value_and_gradient = value_and_grad(loss, argnums=(0, 1))
gradient = grad(loss)
naive_gradient = grad(naive_loss)


def closed_form(weights, bias, images, targets):
    """The textbook's gradient in the weights: images^T (p - targets) / n."""
    z = images @ weights + bias
    p = np.exp(z - z.max(axis=1, keepdims=True))
    return images.T @ (p / p.sum(axis=1, keepdims=True) - targets) / len(images)


def train(images, targets, steps, rate=2.0):
    """Gradient descent from zero; returns weights, bias and the loss before each step."""
    weights, bias, losses = np.zeros((64, 10)), np.zeros(10), []
    for _ in range(steps):
        value, (weights_bar, bias_bar) = value_and_gradient(weights, bias, images, targets)
        weights, bias = weights - rate * weights_bar, bias - rate * bias_bar
        losses.append(value)
    return weights, bias, losses


def error(derivative, *arguments):
    """Largest error of a gradient in the weights, relative to the largest entry of the closed form."""
    right = closed_form(*arguments)
    with np.errstate(all="ignore"):
        return np.max(np.abs(derivative(*arguments) - right)) / np.max(np.abs(right))


def run(reduced=False):
    """Train, and compare both gradients with the closed form at scores from small to far above `exp`'s range."""
    images, digits = load_digits(return_X_y=True)
    x, test_x, y, test_y = train_test_split(images / 16, digits, test_size=0.25, random_state=0, stratify=digits)
    targets = np.eye(10)[y]
    weights, bias, losses = train(x, targets, steps=100 if reduced else 500)
    scales = np.logspace(0, 3, 13)
    return {
        "losses": losses,
        "weights": weights,
        "accuracy": np.mean(np.argmax(test_x @ weights + bias, axis=1) == test_y),
        "largest_score": scales * np.max(np.abs(x @ weights + bias)),
        "error": [error(gradient, s * weights, s * bias, x, targets) for s in scales],
        "naive_error": [error(naive_gradient, s * weights, s * bias, x, targets) for s in scales],
        # At zero weights the ten scores of every row are equal, and so each of them is its row's maximum.
        "tied_error": error(gradient, np.zeros((64, 10)), np.zeros(10), x, targets),
    }


def draw(results, path):
    """The descent, the error of either gradient as the scores grow, and the weights learnt."""
    plt.switch_backend("Agg")
    fig = plt.figure(figsize=(13, 3.6), layout="constrained")
    left, middle, right = fig.subfigures(1, 3, width_ratios=[1, 1, 1.5])
    ax = left.subplots()
    ax.semilogy(results["losses"])
    ax.set(xlabel="step", ylabel="cross-entropy", title=f"Held-out accuracy {results['accuracy']:.1%}")
    ax = middle.subplots()
    ax.loglog(results["largest_score"], results["error"], "o-", label="stable softmax")
    ax.loglog(results["largest_score"], results["naive_error"], "s:", label="naive softmax")
    ax.axvline(np.log(np.finfo(float).max), color="grey", lw=1, label="exp overflows")
    ax.set(xlabel="largest score", ylabel="relative error", ylim=(1e-17, 1e-8), title="Gradient against closed form")
    ax.legend(fontsize="small", loc="upper right")
    scale = np.max(np.abs(results["weights"]))
    for digit, ax in enumerate(right.subplots(2, 5).flat):
        ax.imshow(results["weights"][:, digit].reshape(8, 8), cmap="RdBu", vmin=-scale, vmax=scale)
        ax.set(xticks=[], yticks=[], xlabel=digit)
    right.suptitle("Weights of each digit")
    fig.savefig(path, dpi=120)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Multinomial logistic regression on handwritten digits")
    parser.add_argument("--show", action="store_true", help="print the emitted gradient beside the loss")
    parser.add_argument("--reduced", action="store_true", help="take fewer steps")
    parser.add_argument("--out", default="softmax.png", help="where the figure goes")
    options = parser.parse_args(argv)
    if options.show:
        value_and_gradient.show(np.zeros((64, 10)), np.zeros(10), np.zeros((5, 64)), np.zeros((5, 10)))
    results = run(options.reduced)
    draw(results, options.out)
    print(f"held-out accuracy {results['accuracy']:.1%}; figure: {options.out}")
    print(f"error of the gradient where all scores tie: {results['tied_error']:.0e}; and at the largest scores:")
    print(f"{results['error'][-1]:.0e} with stop_gradient(max), {results['naive_error'][-1]} with the naive softmax")


if __name__ == "__main__":
    main()
