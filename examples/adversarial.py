"""Adversarial training on handwritten digits: the gradient of a loss at examples that a gradient of that loss made.

The attack moves each image along the sign of the loss's gradient in the image, itself made by `grad`. Training on such
images makes a network robust. They depend on the parameters but count as given, so the attack stands under
`stop_gradient`, and no second derivative is asked for (Madry et al., Towards deep learning models resistant to
adversarial attacks, 2018).

    python examples/adversarial.py [--reduced] [--out adversarial.png]
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from s2sad import grad, stop_gradient

RADIUS = 0.15  # largest change of a pixel; pixels lie between 0 and 1


def scores(layers, images):
    """A perceptron with one hidden layer; layers is a list of two pairs (weights, bias)."""
    (hidden_weights, hidden_bias), (weights, bias) = layers
    return np.maximum(images @ hidden_weights + hidden_bias, 0.0) @ weights + bias


def cross_entropy(layers, images, targets):
    z = scores(layers, images)
    z = z - stop_gradient(np.max(z, axis=1, keepdims=True))
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(np.sum(targets * log_p, axis=1))


image_gradient = grad(cross_entropy, argnums=1)


def attack(layers, images, targets, steps):
    """Images within RADIUS of the given ones that the network gets wrong, by signed gradient ascent."""
    moved = images
    for _ in range(steps):
        moved = moved + 2.5 * RADIUS / (steps + 1.5) * np.sign(image_gradient(layers, moved, targets))
        moved = np.clip(moved, np.maximum(images - RADIUS, 0.0), np.minimum(images + RADIUS, 1.0))
    return moved


def adversarial_loss(layers, images, targets):
    """Cross-entropy at attacked images, which are constants to the derivative."""
    return cross_entropy(layers, stop_gradient(attack(layers, images, targets, 3), name="attack"), targets)


def train(derivative, images, targets, epochs, seed=0, rate=0.3):
    """Stochastic gradient descent on the loss that derivative is the gradient of."""
    rng = np.random.default_rng(seed)
    layers = [(rng.standard_normal((64, n)) / np.sqrt(32), np.zeros(n)) for n in (64, 10)]
    for _ in range(epochs):
        for rows in np.array_split(rng.permutation(len(images)), len(images) // 64):
            bars = derivative(layers, images[rows], targets[rows])
            layers = [(w - rate * w_bar, b - rate * b_bar) for (w, b), (w_bar, b_bar) in zip(layers, bars, strict=True)]
    return layers


def run(reduced=False):
    """Train plainly and on attacks; measure both on clean and on attacked held-out images."""
    images, digits = load_digits(return_X_y=True)
    x, test_x, y, test_y = train_test_split(images / 16, digits, test_size=0.25, random_state=0, stratify=digits)
    results = {"images": test_x, "digits": test_y}
    for name, function in [("plain", cross_entropy), ("adversarial", adversarial_loss)]:
        layers = train(grad(function), x, np.eye(10)[y], epochs=6 if reduced else 80)
        attacked = attack(layers, test_x, np.eye(10)[test_y], 20)
        read_as = np.argmax(scores(layers, attacked), axis=1)
        results[name] = {
            "attacked": attacked,
            "read_as": read_as,
            "accuracy": np.mean(np.argmax(scores(layers, test_x), axis=1) == test_y),
            "robust_accuracy": np.mean(read_as == test_y),
        }
    return results


def draw(results, path):
    """Accuracy of both networks, and held-out images attacked for each of them, with what it reads."""
    plt.switch_backend("Agg")
    fig = plt.figure(figsize=(11, 3.8), layout="constrained")
    left, right = fig.subfigures(1, 2, width_ratios=[1, 2])
    ax = left.subplots()
    digits = results["digits"]
    rows = [("clean", results["images"], digits)]
    for k, name in enumerate(["plain", "adversarial"]):
        heights = [results[name]["accuracy"], results[name]["robust_accuracy"]]
        ax.bar_label(ax.bar(np.arange(2) + 0.4 * k, heights, 0.38, label=name), fmt="{:.0%}")
        rows.append((name, results[name]["attacked"], results[name]["read_as"]))
    ax.set(xticks=[0.2, 1.2], xticklabels=["clean", "attacked"], ylim=(0, 1.25), yticks=[], title="Held-out accuracy")
    ax.legend(title="training", ncols=2, loc="upper center")
    for (name, images, labels), row in zip(rows, right.subplots(3, 8), strict=True):
        for k, ax in enumerate(row):
            ax.imshow(images[k].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
            ax.set(xticks=[], yticks=[])
            ax.set_xlabel(labels[k], color="tab:red" if labels[k] != digits[k] else "black")
        row[0].set_ylabel(name)
    right.suptitle("The clean image, and the attack on either network with the digit that it reads")
    fig.savefig(path, dpi=120)


def main(argv=None):
    parser = argparse.ArgumentParser(description="Adversarial training on handwritten digits")
    parser.add_argument("--reduced", action="store_true", help="train for fewer epochs")
    parser.add_argument("--out", default="adversarial.png", help="where the figure goes")
    options = parser.parse_args(argv)
    results = run(options.reduced)
    draw(results, options.out)
    for name in ["plain", "adversarial"]:
        print(f"{name} training: {results[name]['accuracy']:.1%}; attacked {results[name]['robust_accuracy']:.1%}")
    print(f"figure: {options.out}")


if __name__ == "__main__":
    main()
