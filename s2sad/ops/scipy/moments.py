"""Rules of the distributions of ``scipy.stats``: what they draw, and their means, spreads and entropies.

What is drawn is ``loc + scale * u``, where ``u`` is drawn of the standard distribution.  By its shape parameters it is
a matter of the algorithm, and often jumps: by these it has no derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from s2sad.ops.scipy.distributions import CONTINUOUS
from s2sad.ops.scipy.rarer_distributions import RARER
from s2sad.ops.scipy.stats import rule_of, shapes_of
from s2sad.ops.spec import Sample, elementwise, operation, rule, sample, spec_of
from s2sad.runtime.arrays import unbroadcast

Array = Any
Draw = Callable[..., Any]

# --- what is drawn


def _draws(shapes: Sequence[float]) -> Callable[[], Sequence[Sample]]:
    def points() -> Sequence[Sample]:
        scales = np.array([0.5, 1.5, 2.5])
        return [
            sample(*shapes, 0.5, 2.0, random_state=3),
            sample(*shapes, 0.5, 2.0, 4, random_state=3),
            sample(*shapes, np.array([0.3, -1.2, 2.0]), 2.5, 3, random_state=3),
            sample(*shapes, loc=np.array([[0.3], [1.2]]), scale=scales, size=(2, 3), random_state=3),
        ]

    return points


def _drawn_jvp(loc_dot: Array, scale_dot: Array, z: Array, loc: Array = 0, scale: Array = 1) -> Array:
    # Some distributions draw without the first axes of the parameters, where these have length 1.
    return unbroadcast(loc_dot + (z - loc) / scale * scale_dot, np.shape(z))


def _declare_draws(name: str, shapes: Sequence[float]) -> None:
    given = "".join(f"{s}, " for s in shapes_of(name))
    text = (
        f"def rvs(z, z_bar, {given}loc=0, scale=1, size=1, *, random_state=None):\n"
        "    return unbroadcast(z_bar, np.shape(loc)), unbroadcast(z_bar * (z - loc) / scale, np.shape(scale))\n"
    )
    rule(
        getattr(stats, name).rvs,
        wrt=["loc", "scale"],
        jvp=_drawn_jvp,
        samples=_draws(shapes),
        ordered=True,
        dtype="unknown",
    )(rule_of(name, "rvs", text, unbroadcast=unbroadcast))


# --- moments

#: The derivatives of the mean, the variance and the entropy by the shape parameters, for location 0 and scale 1.
MOMENTS: dict[str, dict[str, dict[str, str]]] = {
    **{name: {} for name in ("norm", "expon", "uniform", "laplace", "logistic", "gumbel_r", "gumbel_l", "halfnorm")},
    "rayleigh": {},
    "gamma": {
        "mean": {"a": "1.0"},
        "var": {"a": "1.0"},
        "entropy": {"a": "1 + (1 - a) * special.polygamma(1, a)"},
    },
    "chi2": {
        "mean": {"df": "1.0"},
        "var": {"df": "2.0"},
        "entropy": {"df": "0.5 + 0.5 * (1 - 0.5 * df) * special.polygamma(1, 0.5 * df)"},
    },
    "beta": {
        "mean": {"a": "b / (a + b) ** 2", "b": "-a / (a + b) ** 2"},
        "var": {
            "a": "a * b / (a + b) ** 2 / (a + b + 1) * (1 / a - 2 / (a + b) - 1 / (a + b + 1))",
            "b": "a * b / (a + b) ** 2 / (a + b + 1) * (1 / b - 2 / (a + b) - 1 / (a + b + 1))",
        },
        "entropy": {
            "a": "(1 - a) * special.polygamma(1, a) + (a + b - 2) * special.polygamma(1, a + b)",
            "b": "(1 - b) * special.polygamma(1, b) + (a + b - 2) * special.polygamma(1, a + b)",
        },
    },
    "lognorm": {
        "mean": {"s": "s * np.exp(0.5 * s**2)"},
        "var": {"s": "2 * s * np.exp(s**2) * (2 * np.exp(s**2) - 1)"},
        "entropy": {"s": "1 / s"},
    },
}


def _parameters(shapes: Sequence[float]) -> Callable[[], Sequence[Sample]]:
    def points() -> Sequence[Sample]:
        scales = np.array([0.5, 1.5, 2.5])
        columns = [np.array([[s], [s + 0.3]]) for s in shapes]
        return [
            sample(*shapes, 0.5, 2.0),
            sample(*columns, np.array([0.3, -1.2, 2.0]), scales),
            sample(*shapes, loc=0.7, scale=scales),
        ]

    return points


def _moment(name: str, method: str, by_shape: Mapping[str, str]) -> str:
    """The rule of a moment, as Python."""
    given = "".join(f"{s}, " for s in shapes_of(name))
    factor = {"mean": "scale * ({})", "var": "scale**2 * ({})", "std": "scale**2 * ({}) / (2 * z)", "entropy": "{}"}
    by_loc = ["1.0"] if method == "mean" else []
    by_scale = {"mean": "(z - loc) / scale", "var": "2 * z / scale", "std": "z / scale", "entropy": "1 / scale"}
    parts = [factor[method].format(text) for text in by_shape.values()]
    if method == "mean" and name in _SYMMETRIC:
        return "def mean(loc=0, scale=1):\n    return 1.0\n"
    head = f"def {method}({'' if method == 'entropy' else 'z, '}{given}loc=0, scale=1):"
    return f"{head}\n    return {', '.join([*parts, *by_loc, by_scale[method]])}\n"


def _declare_moments(name: str, shapes: Sequence[float], known: Mapping[str, Mapping[str, str]]) -> None:
    for method in ("mean", "var", "std", "entropy"):
        by_shape = known.get("var" if method == "std" else method, {})
        moving = ["loc"] if method == "mean" else []
        # The mean of a symmetric distribution is its location.
        moving += [] if method == "mean" and name in _SYMMETRIC else ["scale"]
        elementwise(
            getattr(getattr(stats, name), method),
            wrt=[*by_shape, *moving],
            samples=_parameters(shapes),
            steps={"loc", "scale"} - {*moving},
            dtype="double",
            real_only=True,
        )(rule_of(name, method, _moment(name, method, by_shape)))


_SYMMETRIC = ("norm", "laplace", "logistic")
_MIDDLE = {"gamma": (1.7,), "chi2": (3.2,), "beta": (1.7, 2.4), "lognorm": (0.6,)}
_FORMULA = "write its formula out, as in SciPy's documentation of the distribution"
_WHOLE = "its result is a whole number, and jumps; wrap the argument in stop_gradient(...) if no derivative should pass"
_STANDARD = "draw standard numbers, and write what is drawn as a function of them: loc + scale * norm.rvs(size=n)"

for _name, _distribution in (CONTINUOUS | RARER).items():
    if not hasattr(stats, _name):
        continue
    _object = getattr(stats, _name)
    _given = [low + 0.4 * (high - low) for low, high in _distribution.shapes]
    if _name in MOMENTS:
        _declare_draws(_name, _MIDDLE.get(_name, _given))
        _declare_moments(_name, _MIDDLE.get(_name, _given), MOMENTS[_name])
        _rest: tuple[str, ...] = ("median", "moment", "stats", "interval", "expect", "nnlf")
    else:
        _rest = ("mean", "var", "std", "entropy", "median", "moment", "stats", "interval", "expect", "nnlf")
        operation(_object.rvs, ordered=True, remedy=_STANDARD)
    for _method in _rest:
        _known = {"nnlf": f"use -np.sum(stats.{_name}.logpdf(x, ...))", "median": f"use stats.{_name}.ppf(0.5, ...)"}
        operation(getattr(_object, _method), remedy=_known.get(_method, _FORMULA))

# --- moments of discrete distributions

#: The derivatives of the mean and the variance by the shape parameters.
_COUNTED: dict[str, tuple[tuple[Any, ...], dict[str, str], dict[str, str]]] = {
    "poisson": ((1.7,), {"mu": "1.0"}, {"mu": "1.0"}),
    "bernoulli": ((0.3,), {"p": "1.0"}, {"p": "1 - 2 * p"}),
    "binom": ((5, 0.3), {"p": "n"}, {"p": "n * (1 - 2 * p)"}),
    "geom": ((0.3,), {"p": "-1 / p**2"}, {"p": "(p - 2) / p**3"}),
    "nbinom": (
        (2.5, 0.4),
        {"n": "(1 - p) / p", "p": "-n / p**2"},
        {"n": "(1 - p) / p**2", "p": "n * (p - 2) / p**3"},
    ),
}


def _counts(shapes: Sequence[Any]) -> Callable[[], Sequence[Sample]]:
    def points() -> Sequence[Sample]:
        columns = [np.array([[s], [1.1 * s]]) if isinstance(s, float) else s for s in shapes]
        return [sample(*shapes), sample(*columns, np.array([0.3, -1.2, 2.0])), sample(*shapes, loc=0.7)]

    return points


def _declare_counted(name: str, shapes: Sequence[Any], by_mean: dict[str, str], by_var: dict[str, str]) -> None:
    given = "".join(f"{s}, " for s in shapes_of(name))
    for method, slopes in (("mean", by_mean), ("var", by_var), ("std", by_var)):
        parts = [f"({text}) / (2 * z)" if method == "std" else text for text in slopes.values()]
        moving = ["loc"] if method == "mean" else []
        text = f"def {method}({'' if method != 'std' else 'z, '}{given}loc=0):\n    return "
        elementwise(
            getattr(getattr(stats, name), method),
            wrt=[*slopes, *moving],
            samples=_counts(shapes),
            steps={"loc"} - {*moving},
            dtype="double",
            real_only=True,
        )(rule_of(name, method, f"{text}{', '.join([*parts, *('1.0' for _ in moving)])}\n"))


for _name, _counted in _COUNTED.items():
    _declare_counted(_name, *_counted)
    _object = getattr(stats, _name)
    operation(_object.rvs, ordered=True, remedy=_WHOLE)
    for _method in ("ppf", "isf", "median", "interval"):
        operation(getattr(_object, _method), remedy=_WHOLE)
    for _method in ("entropy", "moment", "stats", "expect"):
        operation(getattr(_object, _method), remedy=_FORMULA)

# --- distributions without any rule

_VALUES = ("logpdf", "pdf", "logpmf", "pmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
_OTHERS = ("mean", "var", "std", "entropy", "median", "moment", "stats", "interval", "expect", "nnlf", "fit")
for _object in vars(stats).values():
    if isinstance(_object, (stats.rv_continuous, stats.rv_discrete)):
        for _method in (*_VALUES, *_OTHERS, "rvs"):
            _function = getattr(_object, _method, None)
            if _function is not None and spec_of(_function) is None:
                _drawn = _STANDARD if isinstance(_object, stats.rv_continuous) else _WHOLE
                _text = _drawn if _method == "rvs" else _FORMULA
                operation(_function, ordered=_method == "rvs", remedy=_text)

# --- the multivariate normal distribution


def _vectors() -> Sequence[Sample]:
    cov = np.array([[2.0, 0.3], [0.3, 1.0]])
    return [
        sample(np.array([0.3, -1.2]), cov, random_state=3),
        sample(np.array([0.3, -1.2]), cov, 4, 3),
        sample(np.array([0.3]), 2, 3, random_state=3),
    ]


def _vectors_jvp(mean_dot: Array, z: Array) -> Array:
    return np.broadcast_to(mean_dot, np.shape(z))


@rule(
    stats.multivariate_normal.rvs,
    wrt=["mean"],
    jvp=_vectors_jvp,
    samples=_vectors,
    ordered=True,
    dtype="unknown",
    remedy="draw standard numbers, and multiply: mean + rng.normal(size=(n, d)) @ np.linalg.cholesky(cov).T",
)
def rvs(z_bar: Array, mean: Array = None, cov: Array = 1, size: Any = 1, random_state: Any = None) -> Array:
    return unbroadcast(z_bar, np.shape(mean))
