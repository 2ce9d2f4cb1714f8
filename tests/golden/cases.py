"""What is differentiated, and where: a function, its sample arguments, and the options of the derivative."""

from __future__ import annotations

import copy
import pathlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from s2sad import grad, value_and_grad
from s2sad.pushforwards import pushforward
from tests.golden import functions as f
from tests.kernels.catalogue import KERNELS

FOLDER = pathlib.Path(__file__).resolve().parent


@dataclass(frozen=True)
class Case:
    """One golden source; ``general`` is the text for arguments of which nothing is known."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    argnums: int | tuple[int, ...] = 0
    with_value: bool = False
    has_aux: bool = False
    general: bool = False

    @property
    def path(self) -> pathlib.Path:
        """The file of the golden source."""
        return FOLDER / f"{self.name}.txt"

    @property
    def wrt(self) -> tuple[int, ...]:
        """The positions of the arguments to differentiate with respect to."""
        return (self.argnums,) if isinstance(self.argnums, int) else self.argnums

    def loss(self, *args: Any) -> Any:
        """The scalar that is differentiated; a function may write into its arguments."""
        value = self.function(*copy.deepcopy(args))
        return value[0] if self.has_aux else value

    def gradients(self, result: Any) -> tuple[Any, ...]:
        """The gradients in what the derivative returns."""
        gradient = result[1] if self.with_value else result[0] if self.has_aux else result
        return (gradient,) if isinstance(self.argnums, int) else tuple(gradient)

    def derivative(self) -> Any:
        """The object that a person holds."""
        make = value_and_grad if self.with_value else grad
        return make(self.function, self.argnums, has_aux=self.has_aux)

    def text(self) -> str:
        """The source that comes out now."""
        df = self.derivative()
        return str(df.source if self.general else df.source_for(*self.args))


def _draw(*shape: int) -> np.ndarray:
    """Numbers in (-1, 1) with no pattern, the same in every run."""
    count = int(np.prod(shape))
    return np.sin(1.7 * np.arange(1.0, count + 1) ** 2).reshape(shape)


_one_hot = np.eye(3)[[0, 2, 1, 1]]
_labels = np.array([0.0, 1.0, 1.0, 0.0, 1.0])
_layers = [(_draw(2, 3), _draw(3)), (_draw(3, 3) + 0.3, _draw(3)), (_draw(3, 1), _draw(1))]
_network = (_draw(2, 3), _draw(3), _draw(3, 1), _draw(1))
_covariance = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.0]])
_complex = _draw(4) + 1j * _draw(4)[::-1]


def _kernel(name: str) -> Case:
    """A kernel that writes in place, called by the loss that weighs its outputs."""
    kernel = KERNELS[name]
    return Case(f"kernel_{name}", kernel.loss, kernel.make_args(*kernel.small), kernel.argnums)


CASES = [
    Case("stable_softmax", f.stable_softmax, (_draw(4, 3), _one_hot)),
    Case("stable_softmax_general", f.stable_softmax, (_draw(4, 3), _one_hot), general=True),
    Case("logsumexp", f.logsumexp, (_draw(6),)),
    Case("logistic_regression", f.logistic_regression, (_draw(3), 0.2, _draw(5, 3), _labels), (0, 1), with_value=True),
    Case("rosenbrock", f.rosenbrock, (_draw(6),)),
    Case("rosenbrock_general", f.rosenbrock, (_draw(6),), general=True),
    Case("mlp", f.mlp, (_network, _draw(5, 2), _draw(5, 1))),
    Case("deep_network", f.deep_network, (_layers, _draw(4, 2))),
    Case("rnn", f.rnn, (_draw(3, 3), _draw(3, 2), _draw(3), _draw(4, 2)), (0, 1, 2)),
    Case("sine_chain", f.sine_chain, (1.2, 3)),
    Case("euler", f.euler, (0.7, 0.1, 0.05, 20), (0, 1)),
    Case("newton_sqrt", f.newton_sqrt, (2.0,)),
    Case("huber", f.huber, (-3.0, 1.5), (0, 1)),
    Case("skipping", f.skipping, (_draw(4), [True, False, True, True])),
    Case("first_large", f.first_large, (_draw(5), 0.9)),
    Case("pairwise", f.pairwise, (_draw(4),)),
    Case("reflected", f.reflected, (0.7, 1.0, 4), (0, 1)),
    Case("mixture", f.mixture, (np.array([-1.0, 1.0]), np.array([0.5, 2.0]), _draw(5)), (0, 1)),
    Case("power", f.power, (1.3, 6)),
    Case("affine", f.affine, ({"scale": 1.5, "rest": (_draw(3), _draw(2, 3))}, _draw(4, 2))),
    Case("affine_general", f.affine, ({"scale": 1.5, "rest": (_draw(3), _draw(2, 3))}, _draw(4, 2)), general=True),
    Case("attention", f.attention, (_draw(4, 3), _draw(5, 3) + 0.2, _draw(5, 2)), (0, 1, 2)),
    Case(
        "gaussian_log_likelihood",
        f.gaussian_log_likelihood,
        (_covariance, _draw(3), np.array([0.5, -1.0, 2.0])),
        (0, 1),
    ),
    Case("broadcast", f.broadcast, (_draw(3, 4), _draw(4) + 3.0, 0.5), (0, 1, 2)),
    Case("broadcast_general", f.broadcast, (_draw(3, 4), _draw(4) + 3.0, 0.5), (0, 1, 2), general=True),
    Case("power_spectrum", f.power_spectrum, (_complex, _draw(4))),
    Case("lasso", f.lasso, (_draw(3) + 0.05, _draw(5, 3), _draw(5), 0.1), with_value=True, has_aux=True),
    Case("linear_discriminant", f.linear_discriminant, (_draw(5, 3), _draw(2, 3), _draw(2)), (0, 1, 2)),
    Case("weighted_path", f.weighted_path, (_draw(4, 2), _draw(4)), (0, 1)),
    Case("clashing", f.clashing, (_draw(3), _draw(3) + 2.0), (0, 1)),
    *[_kernel(name) for name in ("jacobi_2d", "gauss_seidel", "cholesky", "cavity_flow")],
]


@dataclass(frozen=True)
class Product:
    """The golden source of the product of a Hessian and a vector, which has a part for each of the first arguments."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    count: int = 1

    @property
    def path(self) -> pathlib.Path:
        """The file of the golden source."""
        return FOLDER / f"{self.name}.txt"

    @property
    def vector(self) -> tuple[Any, ...]:
        """The vector."""
        rng = np.random.default_rng(1)
        return tuple([rng.normal(size=np.shape(x)) for x in self.args[: self.count]])

    @property
    def gradient(self) -> Any:
        """The gradient whose tangent the product is."""
        return grad(self.function, 0 if self.count == 1 else tuple(range(self.count)))

    def text(self) -> str:
        """The source that comes out now."""
        made = pushforward(self.gradient, len(self.args), alone=True)
        return made.compiled(self.args, range(self.count)).compiled.text


def _numbers(*shape: int) -> Any:
    return np.random.default_rng(0).normal(size=shape)


PRODUCTS = [
    Product("product_rosenbrock", f.rosenbrock, (np.linspace(-1.0, 1.5, 6),)),
    Product("product_softmax", f.softmax_loss, (_numbers(3, 4), _numbers(5, 3), np.eye(4)[[0, 1, 2, 3, 0]])),
    Product(
        "product_network",
        f.two_layers,
        (_numbers(3, 6), _numbers(6), _numbers(6), _numbers(5, 3), _numbers(5)),
        count=3,
    ),
]
