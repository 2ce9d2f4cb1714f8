"""The programs of examples/: at reduced size, what each of them claims, against formulas and libraries of others."""

from __future__ import annotations

import functools
import importlib.util
import pathlib
import subprocess
import sys
import types
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.special

import s2sad

pytest.importorskip("sklearn")
pyplot = pytest.importorskip("matplotlib.pyplot")

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
NAMES = ["adversarial", "boltzmann", "mixture", "softmax"]


@functools.cache
def load(name: str) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(f"s2sad_example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


@functools.cache
def run(name: str, reduced: bool) -> dict[str, Any]:
    results: dict[str, Any] = load(name).run(reduced)
    return results


@pytest.fixture
def example(request: pytest.FixtureRequest) -> types.ModuleType:
    """The module that the test's class is about."""
    return load(request.cls.NAME)


@pytest.fixture
def results(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What that module's run returned."""
    return run(request.cls.NAME, getattr(request.cls, "REDUCED", True))


def code(source: str) -> str:
    """An emitted source without its comments."""
    return "\n".join(line.split("#")[0] for line in source.splitlines())


def test_the_examples_are_these() -> None:
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_short(name: str) -> None:
    assert len((EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()) <= 120


@pytest.mark.parametrize("name", NAMES)
def test_an_example_saves_its_figure(name: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "figure.png"
    load(name).main(["--reduced", "--out", str(path)])
    image = pyplot.imread(path)
    assert min(image.shape[:2]) > 300
    assert np.std(image) > 0.1
    assert str(path) in capsys.readouterr().out


def test_the_softmax_script_shows_its_gradient(tmp_path: pathlib.Path) -> None:
    command = [sys.executable, EXAMPLES / "softmax.py", "--show", "--reduced", "--out", tmp_path / "figure.png"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    for line in ["def loss(weights, bias, images, targets)", "weights_bar", "held-out accuracy"]:
        assert line in done.stdout


class TestSoftmax:
    NAME = "softmax"
    REDUCED = False

    def test_learns(self, results: dict[str, Any]) -> None:
        assert results["accuracy"] >= 0.95
        assert np.all(np.diff(results["losses"]) < 0)

    def test_is_right_where_the_naive_softmax_overflows(self, results: dict[str, Any]) -> None:
        assert results["largest_score"][-1] > 1000
        assert np.isnan(results["naive_error"][-1])
        assert np.max(results["error"]) < 1e-13

    def test_both_are_right_at_small_scores(self, results: dict[str, Any]) -> None:
        assert results["naive_error"][0] < 1e-13

    def test_is_right_where_the_maximum_is_not_unique(self, results: dict[str, Any]) -> None:
        assert results["tied_error"] < 1e-13

    @pytest.mark.parametrize("ties", [1, 2, 10])
    def test_gradient_is_the_closed_form(self, example: types.ModuleType, ties: int) -> None:
        rng = np.random.default_rng(ties)
        images, targets = rng.random((7, 64)), np.eye(10)[rng.integers(10, size=7)]
        weights, bias = rng.standard_normal((64, 10)), rng.standard_normal(10)
        weights[:, :ties], bias[:ties] = weights[:, :1], bias[:1] + 100.0
        residual = (scipy.special.softmax(images @ weights + bias, axis=1) - targets) / 7
        _, (weights_bar, bias_bar) = example.value_and_gradient(weights, bias, images, targets)
        np.testing.assert_allclose(weights_bar, images.T @ residual, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(bias_bar, np.sum(residual, axis=0), rtol=1e-12, atol=1e-14)


class TestMixture:
    NAME = "mixture"

    def test_gradient_steps_are_the_closed_form_steps(self, results: dict[str, Any]) -> None:
        assert np.max(results["difference"]) < 1e-11

    def test_log_likelihood_never_falls(self, results: dict[str, Any]) -> None:
        assert np.min(np.diff(results["log_likelihood"])) > -1e-12
        assert results["log_likelihood"][-1] > results["log_likelihood"][0] + 4

    def test_finds_the_species(self, example: types.ModuleType) -> None:
        assert example.run()["purity"] > 0.95

    def test_gradient_step_is_that_of_another_library(self, example: types.ModuleType) -> None:
        from sklearn.datasets import load_iris
        from sklearn.mixture import GaussianMixture

        x, _ = load_iris(return_X_y=True)
        mixing, means, covariances = np.array([0.2, 0.3, 0.5]), x[[0, 60, 120]], np.stack([np.eye(4), np.cov(x.T)] * 2)
        other = GaussianMixture(
            3,
            max_iter=1,
            reg_covar=0.0,
            weights_init=mixing,
            means_init=means,
            precisions_init=np.linalg.inv(covariances[:3]),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one iteration does not converge
            other.fit(x)
        log_mixing, new_means, new_covariances = example.gradient_step(np.log(mixing), means, covariances[:3], x)
        np.testing.assert_allclose(np.exp(log_mixing), other.weights_, rtol=1e-10)
        np.testing.assert_allclose(new_means, other.means_, rtol=1e-10)
        np.testing.assert_allclose(new_covariances, other.covariances_, rtol=1e-9, atol=1e-12)

    def test_gradient_has_no_adjoint_of_the_e_step(self, example: types.ModuleType) -> None:
        assert code(example.gradient.source).count("responsibilities(") == 1


class TestBoltzmann:
    NAME = "boltzmann"

    def test_gradient_is_the_textbook_update(self, results: dict[str, Any]) -> None:
        assert np.max(results["difference"]) < 1e-13

    def test_reconstructs(self, results: dict[str, Any]) -> None:
        assert results["error"][-1] < 0.7 * results["error"][0]
        right = np.mean((results["reconstructions"] > 0.5) == (results["images"] > 0.5))
        assert right > 0.85

    def test_gradient_is_that_of_the_free_energies(self, example: types.ModuleType) -> None:
        rng = np.random.default_rng(3)
        weights, a, b = rng.standard_normal((6, 4)), rng.standard_normal(6), rng.standard_normal(4)
        v = (rng.random((5, 6)) < 0.5).astype(float)
        sample = example.gibbs(weights, a, b, v, np.random.default_rng(9))
        h, sample_h = scipy.special.expit(v @ weights + b), scipy.special.expit(sample @ weights + b)
        weights_bar, a_bar, b_bar = example.gradient(weights, a, b, v, np.random.default_rng(9))
        np.testing.assert_allclose(weights_bar, (sample.T @ sample_h - v.T @ h) / 5, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(a_bar, np.mean(sample - v, axis=0), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(b_bar, np.mean(sample_h - h, axis=0), rtol=1e-12, atol=1e-14)

    def test_gradient_runs_the_chain_once_and_has_no_adjoint_of_it(self, example: types.ModuleType) -> None:
        assert code(example.gradient.source).count("gibbs(") == 1
        rng, once = np.random.default_rng(4), np.random.default_rng(4)
        parameters, v = (np.zeros((6, 4)), np.zeros(6), np.zeros(4)), np.ones((5, 6))
        example.gradient(*parameters, v, rng)
        example.loss(*parameters, v, once)
        assert rng.random() == once.random()


class TestAdversarial:
    NAME = "adversarial"

    def test_adversarial_training_is_robust(self, results: dict[str, Any]) -> None:
        plain, adversarial = results["plain"], results["adversarial"]
        assert plain["accuracy"] > 0.9
        assert adversarial["accuracy"] > 0.8
        assert adversarial["robust_accuracy"] > plain["robust_accuracy"] + 0.15

    @pytest.mark.parametrize("name", ["plain", "adversarial"])
    def test_attack_stays_near_the_image(self, example: types.ModuleType, results: dict[str, Any], name: str) -> None:
        attacked = results[name]["attacked"]
        assert np.max(np.abs(attacked - results["images"])) <= example.RADIUS + 1e-12
        assert np.min(attacked) >= 0.0
        assert np.max(attacked) <= 1.0

    def test_gradient_is_backpropagation_at_the_attacked_images(self, example: types.ModuleType) -> None:
        rng = np.random.default_rng(5)
        layers = [(rng.standard_normal((64, 8)), rng.standard_normal(8)), (rng.standard_normal((8, 10)), np.zeros(10))]
        images, targets = rng.random((6, 64)), np.eye(10)[rng.integers(10, size=6)]
        attacked = example.attack(layers, images, targets, 3)
        (first, bias), (second, _) = layers
        active = attacked @ first + bias > 0
        hidden = np.where(active, attacked @ first + bias, 0.0)
        z_bar = (scipy.special.softmax(hidden @ second, axis=1) - targets) / 6
        hidden_bar = z_bar @ second.T * active
        expected = [attacked.T @ hidden_bar, hidden_bar.sum(axis=0), hidden.T @ z_bar, z_bar.sum(axis=0)]

        bars = s2sad.grad(example.adversarial_loss)(layers, images, targets)
        assert isinstance(bars, list)
        assert [type(pair) for pair in bars] == [tuple, tuple]
        for bar, right in zip([bar for pair in bars for bar in pair], expected, strict=True):
            np.testing.assert_allclose(bar, right, rtol=1e-11, atol=1e-13)
