"""Rules of the univariate distributions of ``scipy.stats``: densities, distribution functions, quantiles.

With ``u = (x - loc) / scale`` a density is ``f(u) / scale`` and a distribution function is ``F(u)``, so for each
distribution it is enough to say the *score* ``d log f / du``, the derivatives of ``log f`` by the shape parameters,
and those of ``F``; where these are missing a distribution function is refused by that parameter.  The rules
are made of templates.  Where a density is zero its logarithm is constant, and so it has derivative zero.
"""

from __future__ import annotations

import linecache
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import special, stats

from s2sad.ops.sampling import spread
from s2sad.ops.scipy.distributions import CONTINUOUS, Continuous
from s2sad.ops.scipy.points import both
from s2sad.ops.scipy.rarer_distributions import RARER
from s2sad.ops.spec import RuleOptions, Sample, elementwise, literal, sample
from s2sad.runtime.scipy.incomplete import betainc_da, betainc_db, gammainc_da
from s2sad.runtime.scipy.noncentral import (
    bessel_k_slope,
    bessel_quotient,
    ncf_ratio,
    nct_rate,
    nct_ratio,
    pearson3_dskew,
)
from s2sad.runtime.scipy_special import log_excess, mills
from s2sad.runtime.scipy_stats import (
    exp_difference,
    f_ddfd,
    f_ddfn,
    f_rate_d,
    f_rate_n,
    genextreme_power,
    t_ddf,
    t_rate,
    truncation_rate,
    vonmises_rate,
)

# --- the texts of rules ---


def _text(name: str, method: str, d: Continuous) -> str:
    """The rule of one method of a distribution, as Python."""
    log = method.startswith("log")
    quantile = method in ("ppf", "isf")
    x, shapes = "q" if quantile else "x", [*shapes_of(name)]
    given = "".join(f"{s}, " for s in shapes)
    head = f"def {method}({'' if method == 'logpdf' and d.inside is None else 'z, '}{x}, {given}loc=0, scale=1):"
    if method in ("logpdf", "pdf"):
        return "\n".join([head, *(_log_density(d, shapes) if log else _density(d, shapes))]) + "\n"
    call = f"({'z' if quantile else x}, {given}loc, scale)"
    density = f"exp_difference(stats.{name}.logpdf{call}, z)" if log else f"stats.{name}.pdf{call}"
    value = f"({'z' if quantile else 'x'} - loc) / scale"
    lines = [f"rate = {density}"]
    rates = [d.rates[s] for s in shapes if s in d.rates]
    if d.rates:
        lines += [f"u = {value}"]
        if d.inside is not None:
            p = "q" if quantile else "z"
            inside = "~np.isneginf(z) & (z < 0)" if log else f"({p} > 0) & ({p} < 1)"
            lines[-1:] = [f"inside = {inside}", f"u = np.where(inside, {value}, {d.inside})"]
        rates = [_rate(text, method, d) for text in rates]
    u = "u" if d.rates else f"({value})"
    if quantile:
        sign = "" if method == "ppf" else "-"
        results = [f"{sign}1 / rate", *rates, "1.0", value]
    elif method in ("cdf", "logcdf"):
        results = ["rate", *rates, "-rate", f"-rate * {u}"]
    else:
        results = ["-rate", *rates, "rate", f"rate * {u}"]
    if any("density" in text for text in rates):
        lines.append("density = rate * scale")
    return "\n".join([head, *(f"    {line}" for line in lines), f"    return {', '.join(results)}"]) + "\n"


def shapes_of(name: str) -> Sequence[str]:
    """The names of the shape parameters of a distribution."""
    shapes = getattr(stats, name).shapes
    return shapes.split(", ") if shapes else ()


def _rate(text: str, method: str, d: Continuous) -> str:
    """The derivative of a probability or quantile by a shape parameter, from that of the distribution function."""
    p, q = {
        "cdf": ("z", "(1 - z)"),
        "sf": ("(1 - z)", "z"),
        "logcdf": ("1", "np.expm1(-z)"),
        "logsf": ("np.expm1(-z)", "1"),
        "ppf": ("q", "(1 - q)"),
        "isf": ("(1 - q)", "q"),
    }[method]
    # Relative to the probability itself.
    text = text.replace("unit * ", "np.exp(-z) * " if method.startswith("log") else "")
    text = re.sub(r"\babove\b", q, re.sub(r"\bbelow\b", p, text))
    if method in ("ppf", "isf"):
        text = f"-({text}) / rate"
    if method in ("sf", "logsf"):
        text = f"-({text})"
    return text if d.inside is None else f"np.where(inside, {text}, 0)"


#: The static tests of a location and scale that are left out, what ``u`` is then, and the scale.
_FORMS = (
    ("literal(loc) and literal(scale) and loc == 0 and scale == 1", "x", ""),
    ("literal(loc) and loc == 0", "x / scale", " / scale"),
    ("", "(x - loc) / scale", " / scale"),
)


def _log_density(d: Continuous, shapes: Sequence[str]) -> list[str]:
    """The body of the rule of ``logpdf``: a static branch for each form."""

    def masked(text: str) -> str:
        return text if d.inside is None else f"np.where(inside, {text}, 0)"

    partials = [masked(d.density[s]) for s in shapes if s in d.density]
    lines = [] if d.inside is None else ["inside = ~np.isneginf(z)"]
    for test, value, over in _FORMS:
        inner = [f"u = {value}" if d.inside is None else f"u = np.where(inside, {value}, {d.inside})"]
        inner.append(f"rate = {masked(f'({d.score}){over}')}")
        by_scale = f"{masked(f'-1{over}')} - u * rate" if over else "0.0"
        inner.append(f"return {', '.join(['rate', *partials])}, {'-rate' if over else '0.0'}, {by_scale}")
        lines += [f"if {test}:", *(f"    {line}" for line in inner)] if test else inner
    return [f"    {line}" for line in lines]


def _density(d: Continuous, shapes: Sequence[str]) -> list[str]:
    """The body of the rule of ``pdf``, likewise."""
    partials = [f"z * ({d.density[s]})" for s in shapes if s in d.density]
    lines: list[str] = []
    for test, value, over in _FORMS:
        inner = [f"u = {value}" if d.inside is None else f"u = np.where(z > 0, {value}, {d.inside})"]
        inner.append(f"rate = z * ({d.score}){over}")
        by_scale = f"-z{over} - u * rate" if over else "0.0"
        inner.append(f"return {', '.join(['rate', *partials])}, {'-rate' if over else '0.0'}, {by_scale}")
        lines += [f"if {test}:", *(f"    {line}" for line in inner)] if test else inner
    return [f"    {line}" for line in lines]


#: What the texts of rules call.
_NAMES: dict[str, Any] = {
    "np": np,
    "math": math,
    "special": special,
    "stats": stats,
    "literal": literal,
    "log_excess": log_excess,
    "exp_difference": exp_difference,
    "f_ddfd": f_ddfd,
    "f_ddfn": f_ddfn,
    "f_rate_d": f_rate_d,
    "f_rate_n": f_rate_n,
    "betainc_da": betainc_da,
    "betainc_db": betainc_db,
    "gammainc_da": gammainc_da,
    "genextreme_power": genextreme_power,
    "mills": mills,
    "bessel_k_slope": bessel_k_slope,
    "bessel_quotient": bessel_quotient,
    "ncf_ratio": ncf_ratio,
    "nct_rate": nct_rate,
    "nct_ratio": nct_ratio,
    "pearson3_dskew": pearson3_dskew,
    "t_ddf": t_ddf,
    "t_rate": t_rate,
    "truncation_rate": truncation_rate,
    "vonmises_rate": vonmises_rate,
}


def rule_of(name: str, method: str, text: str, **more: Any) -> Callable[..., Any]:
    """The function that a text defines; `inspect.getsource` finds the text, as that of a rule written here."""
    filename = f"<s2sad rule of scipy.stats.{name}.{method}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    found: dict[str, Any] = {}
    exec(compile(text, filename, "exec"), {**_NAMES, **more} if more else _NAMES, found)
    body: Callable[..., Any] = found[method]
    return body


# --- samples and declarations ---


def _points(name: str, method: str, d: Continuous) -> Callable[[], Sequence[Sample]]:
    """Arguments with location and scale left out, by position and by name, broadcast, and outside of the support."""

    def points() -> Sequence[Sample]:
        low, high = (0.15, 0.85) if method in ("ppf", "isf") else d.at
        middle = [a + 0.4 * (b - a) for a, b in d.shapes]
        shapes = [spread((2, 1), *interval, seed=1) for interval in d.shapes]
        x, scale = spread((3,), low, high), np.array([1.1, 0.9, 1.2])
        moved = x if method in ("ppf", "isf") else x * scale + 0.1
        found = [
            sample(x, *middle),
            sample(moved, *middle, 0.1, scale),
            sample(moved, *shapes, loc=np.array([[0.1]]), scale=scale),
            Sample((float(x[1]),), dict(zip(shapes_of(name), middle, strict=True))),
            sample(np.float64(moved[0]), *middle, 0.1, 1.1),
            sample(x, *shapes),
            sample(np.ones((0,)), *middle, scale=1.5),
        ]
        # Logarithms of zero have no differences.
        if method in ("pdf", "cdf", "sf") and d.outside:
            found.append(sample(np.array([*d.outside, x[0]]), *middle, 0.0, 1.1))
        return found

    return points


METHODS = ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")


def _declare(name: str, d: Continuous) -> None:
    shapes = shapes_of(name)
    for method in METHODS:
        body = rule_of(name, method, _text(name, method, d))
        # By the others nothing is known: they are refused.
        known = [s for s in shapes if s in (d.density if method in ("logpdf", "pdf") else d.rates)]
        first = "q" if method in ("ppf", "isf") else "x"
        elementwise(
            getattr(getattr(stats, name), method),
            wrt=[first, *known, "loc", "scale"],
            samples=_points(name, method, d),
            dtype="double",
            real_only=True,
            subtracted=("x", "loc") if first == "x" else (),
            wide_only=tuple(shapes),
        )(body)


for _name, _distribution in (CONTINUOUS | RARER).items():
    if hasattr(stats, _name):  # some are not in older versions of SciPy
        _declare(_name, _distribution)


# --- discrete distributions, by their parameters ---


def _counts(*shapes: Any) -> Callable[[], Sequence[Sample]]:
    def points() -> Sequence[Sample]:
        k = np.array([1, 3, 2])
        columns = [np.array([[s], [s + 0.07]]) if isinstance(s, float) else s for s in shapes]
        return [sample(k, *shapes), sample(k, *columns), sample(2, *shapes), sample(k, *shapes, loc=0)]

    return points


def _declare_discrete(
    name: str, wrt: Mapping[str, str], rates: Mapping[str, str], samples: Callable[[], Sequence[Sample]]
) -> None:
    """``wrt`` has the derivatives of the logarithm of the probability by the parameters, where it is not zero.

    ``rates`` has those of the distribution function, with ``mass`` for the probability of ``k``; where there are none,
    distribution functions are no operations.
    """
    shapes, function = ", ".join(shapes_of(name)), getattr(stats, name)
    said = RuleOptions(dtype="double", real_only=True, subtracted=("x", "loc"))
    for method in ("logpmf", "pmf"):
        inside = "~np.isneginf(z)" if method == "logpmf" else "z > 0"
        form = "np.where(inside, {}, 0)" if method == "logpmf" else "z * ({})"
        results = ", ".join(form.format(text) for text in wrt.values())
        text = (
            f"def {method}(z, x, {shapes}, loc=0):\n    inside = {inside}\n"
            f"    k = np.where(inside, x - loc, 1)\n    return {results}\n"
        )
        body = rule_of(name, method, text)
        elementwise(getattr(function, method), wrt=list(wrt), samples=samples, **said)(body)
    for method in ("cdf", "sf", "logcdf", "logsf") if rates else ():
        log, sign = method.startswith("log"), "-" if method.endswith("sf") else ""
        points = samples if log else both(samples, _between(samples))
        parts = [f"np.exp(-z) * ({r})" if log and "mass" not in r else r for r in rates.values()]
        inside = " & ~np.isneginf(z)" if log else ""
        mass = f"exp_difference(stats.{name}.logpmf(k, {shapes}), z)" if log else f"stats.{name}.pmf(k, {shapes})"
        text = (
            f"def {method}(z, x, {shapes}, loc=0):\n    inside = (x >= loc){inside}\n"
            f"    k = np.where(inside, np.floor(x - loc), 0)\n    mass = {mass}\n"
            f"    return {', '.join(f'np.where(inside, {sign}({part}), 0)' for part in parts)}\n"
        )
        elementwise(
            getattr(function, method),
            wrt=list(rates),
            samples=_below_last if log and name == "bernoulli" else points,
            **(said | RuleOptions(steps=("x", "loc"))),
        )(rule_of(name, method, text))


def _between(samples: Callable[[], Sequence[Sample]]) -> Callable[[], Sequence[Sample]]:
    """The same parameters, at points between counts and outside of the support."""
    return lambda: [sample(np.array([-0.4, 0.5, 1.2, 9.7]), *samples()[0].args[1:])]


def _below_last() -> Sequence[Sample]:
    return [sample(np.array([0, 0]), 0.3), sample(0.5, 0.3)]


_declare_discrete("poisson", {"mu": "k / mu - 1"}, {"mu": "-mass"}, _counts(1.7))
_declare_discrete(
    "bernoulli",
    {"p": "k / p - (1 - k) / (1 - p)"},
    {"p": "-(1 - k) * mass / (1 - p)"},
    lambda: [sample(np.array([0, 1, 1]), 0.3)],
)
_declare_discrete("geom", {"p": "1 / p - (k - 1) / (1 - p)"}, {"p": "k * mass / p"}, _counts(0.3))
_declare_discrete("binom", {"p": "k / p - (n - k) / (1 - p)"}, {"p": "-(n - k) * mass / (1 - p)"}, _counts(5, 0.3))
_declare_discrete(
    "nbinom",
    {"n": "special.digamma(k + n) - special.digamma(n) + np.log(p)", "p": "n / p - k / (1 - p)"},
    {"n": "betainc_da(n, k + 1, p)", "p": "(k + n) * mass / p"},
    _counts(2.5, 0.3),
)
_declare_discrete(
    "betabinom",
    {
        "a": "special.digamma(k + a) - special.digamma(n + a + b) - special.digamma(a) + special.digamma(a + b)",
        "b": "special.digamma(n - k + b) - special.digamma(n + a + b) - special.digamma(b) + special.digamma(a + b)",
    },
    {},
    _counts(5, 2.3, 1.4),
)
_declare_discrete("logser", {"p": "k / p + 1 / ((1 - p) * np.log1p(-p))"}, {}, _counts(0.3))
_declare_discrete(
    "skellam",
    {
        "mu1": "0.5 * (k + np.abs(k)) / mu1 - 1 + 2 * mu2 * bessel_quotient(np.abs(k), 2 * np.sqrt(mu1 * mu2))",
        "mu2": "0.5 * (np.abs(k) - k) / mu2 - 1 + 2 * mu1 * bessel_quotient(np.abs(k), 2 * np.sqrt(mu1 * mu2))",
    },
    {},
    lambda: [*_counts(1.7, 0.9)(), sample(np.array([0, -2]), 1.7, 0.9)],
)
_declare_discrete(
    "yulesimon",
    {"alpha": "1 / alpha + special.digamma(alpha + 1) - special.digamma(k + alpha + 1)"},
    {},
    _counts(1.7),
)
_declare_discrete(
    "planck", {"lambda_": "1 / np.expm1(lambda_) - k"}, {"lambda_": "(k + 1) * mass / np.expm1(lambda_)"}, _counts(0.7)
)
_declare_discrete("dlaplace", {"a": "1 / np.sinh(a) - np.abs(k)"}, {}, _counts(0.7))
_declare_discrete(
    "boltzmann", {"lambda_": "1 / np.expm1(lambda_) - k - N / np.expm1(lambda_ * N)"}, {}, _counts(0.7, 5)
)
if hasattr(stats, "betanbinom"):  # SciPy 1.12
    _both = "special.digamma(a + b) - special.digamma(n + k + a + b)"
    _declare_discrete(
        "betanbinom",
        {
            "a": f"{_both} + special.digamma(a + n) - special.digamma(a)",
            "b": f"{_both} + special.digamma(k + b) - special.digamma(b)",
        },
        {},
        _counts(5, 2.3, 1.4),
    )
