"""What is known of the continuous distributions of ``scipy.stats``: scores, and derivatives by shape parameters.

All formulas are of ``u = (x - loc) / scale``, in the parametrisation of SciPy's documentation.  Those of the
distribution functions are derivatives of closed forms, or of incomplete gamma and beta functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

Interval = tuple[float, float]


@dataclass(frozen=True)
class Continuous:
    """What rules need of a distribution; the texts are expressions of ``u`` and the shape parameters.

    ``density`` has the derivatives of the logarithm of the density by the shape parameters, ``rates`` those of the
    distribution function, each term with a factor: ``density`` for the density at ``u``, ``below`` or ``above`` for
    the probabilities on both sides, or ``unit``; in derivatives of logarithms these are divided by the probability.
    ``inside`` is a point where all formulas have values; None if they have them everywhere.
    """

    score: str
    density: Mapping[str, str] = field(default_factory=dict)
    rates: Mapping[str, str] = field(default_factory=dict)
    inside: float | None = 0.5
    at: Interval = (0.3, 2.5)
    shapes: tuple[Interval, ...] = ()
    outside: tuple[float, ...] = ()


CONTINUOUS = {
    "norm": Continuous("-u", inside=None, at=(-2.0, 2.2)),
    "expon": Continuous("-1.0", outside=(-0.7,)),
    "laplace": Continuous("-np.sign(u)", inside=None, at=(-2.0, 2.2)),
    "logistic": Continuous("-np.tanh(0.5 * u)", inside=None, at=(-2.0, 2.2)),
    "cauchy": Continuous("-2 * u / (1 + u**2)", inside=None, at=(-2.0, 2.2)),
    "uniform": Continuous("0.0", at=(0.1, 0.9), outside=(-0.7, 1.7)),
    "gumbel_r": Continuous("np.exp(-u) - 1", inside=None, at=(-1.5, 2.2)),
    "gumbel_l": Continuous("1 - np.exp(u)", inside=None, at=(-2.2, 1.5)),
    "rayleigh": Continuous("1 / u - u", outside=(-0.7,)),
    "halfnorm": Continuous("-u", outside=(-0.7,)),
    "gamma": Continuous(
        "(a - 1) / u - 1",
        density={"a": "np.log(u) - special.digamma(a)"},
        rates={"a": "unit * gammainc_da(a, u)"},
        shapes=((0.7, 3.2),),
        outside=(-0.7,),
    ),
    "chi2": Continuous(
        "(0.5 * df - 1) / u - 0.5",
        density={"df": "0.5 * (np.log(0.5 * u) - special.digamma(0.5 * df))"},
        rates={"df": "0.5 * unit * gammainc_da(0.5 * df, 0.5 * u)"},
        shapes=((1.4, 5.2),),
        outside=(-0.7,),
    ),
    "invgamma": Continuous(
        "1 / u**2 - (a + 1) / u",
        density={"a": "-np.log(u) - special.digamma(a)"},
        rates={"a": "-unit * gammainc_da(a, 1 / u)"},
        shapes=((0.7, 3.2),),
        outside=(-0.7,),
    ),
    "beta": Continuous(
        "(a - 1) / u - (b - 1) / (1 - u)",
        density={
            "a": "np.log(u) - special.digamma(a) + special.digamma(a + b)",
            "b": "np.log1p(-u) - special.digamma(b) + special.digamma(a + b)",
        },
        rates={"a": "unit * betainc_da(a, b, u)", "b": "unit * betainc_db(a, b, u)"},
        at=(0.15, 0.85),
        shapes=((0.7, 3.2), (0.8, 2.9)),
        outside=(-0.7, 1.7),
    ),
    "t": Continuous(
        "-(df + 1) * u / (df + u**2)",
        density={"df": "t_ddf(u, df)"},
        rates={"df": "unit * t_rate(u, df)"},
        inside=None,
        at=(-2.0, 2.2),
        shapes=((1.3, 6.2),),
    ),
    "f": Continuous(
        "(0.5 * dfn - 1) / u - 0.5 * (dfn + dfd) * dfn / (dfd + dfn * u)",
        density={"dfn": "f_ddfn(u, dfn, dfd)", "dfd": "f_ddfd(u, dfn, dfd)"},
        rates={"dfn": "unit * f_rate_n(u, dfn, dfd)", "dfd": "unit * f_rate_d(u, dfn, dfd)"},
        shapes=((1.4, 5.2), (2.3, 6.2)),
        outside=(-0.7,),
    ),
    "lognorm": Continuous(
        "-(1 + np.log(u) / s**2) / u",
        density={"s": "(np.log(u) / s) ** 2 / s - 1 / s"},
        rates={"s": "-density * u * np.log(u) / s"},
        shapes=((0.5, 1.4),),
        outside=(-0.7,),
    ),
    "weibull_min": Continuous(
        "(c - 1) / u - c * u ** (c - 1)",
        density={"c": "1 / c + (1 - u**c) * np.log(u)"},
        rates={"c": "density * u * np.log(u) / c"},
        shapes=((0.7, 2.4),),
        outside=(-0.7,),
    ),
    "pareto": Continuous(
        "-(b + 1) / u",
        density={"b": "1 / b - np.log(u)"},
        rates={"b": "density * u * np.log(u) / b"},
        at=(1.2, 3.5),
        shapes=((0.7, 2.4),),
        outside=(0.6,),
    ),
    "genextreme": Continuous(
        "(genextreme_power(u, c) - 1 + c) / (1 - c * u)",
        density={"c": "(1 - genextreme_power(u, c)) * u**2 * log_excess(-c * u) + u / (1 - c * u)"},
        rates={"c": "-density * (1 - c * u) * u**2 * log_excess(-c * u)"},
        inside=0.0,
        at=(-0.9, 0.9),
        shapes=((-0.6, 0.7),),
        outside=(9.0,),
    ),
    "truncnorm": Continuous(
        "-u",
        density={"a": "truncation_rate(a, a, b)", "b": "-truncation_rate(b, a, b)"},
        rates={"a": "-above * truncation_rate(a, a, b)", "b": "-below * truncation_rate(b, a, b)"},
        at=(-0.4, 0.9),
        shapes=((-1.5, -0.5), (1.0, 2.2)),
        outside=(-2.7, 3.7),
    ),
    "skewnorm": Continuous(
        "a * mills(a * u) - u",
        density={"a": "u * mills(a * u)"},
        rates={"a": "-unit * np.exp(-0.5 * u**2 * (1 + a**2)) / (math.pi * (1 + a**2))"},
        inside=None,
        at=(-1.5, 1.8),
        shapes=((-1.4, 2.2),),
    ),
    "vonmises": Continuous(
        "-kappa * np.sin(u)",
        density={"kappa": "np.cos(u) - special.i1e(kappa) / special.i0e(kappa)"},
        rates={"kappa": "unit * vonmises_rate(u, kappa)"},
        inside=None,
        at=(-2.0, 2.2),
        shapes=((0.5, 3.2),),
    ),
    "triang": Continuous(
        "np.where(u < c, 1 / u, -1 / (1 - u))",
        density={"c": "np.where(u < c, -1 / c, 1 / (1 - c))"},
        rates={"c": "unit * np.where(u < c, -((u / c) ** 2), -(((1 - u) / (1 - c)) ** 2))"},
        at=(0.5, 0.9),
        shapes=((0.2, 0.45),),
        outside=(-0.7, 1.7),
    ),
    "maxwell": Continuous("2 / u - u", outside=(-0.7,)),
    "levy": Continuous("0.5 / u**2 - 1.5 / u", outside=(-0.7,)),
    "levy_l": Continuous("-0.5 / u**2 - 1.5 / u", inside=-0.5, at=(-2.5, -0.3), outside=(0.7,)),
    "moyal": Continuous("0.5 * np.expm1(-u)", inside=None, at=(-1.5, 2.2)),
    "hypsecant": Continuous("-np.tanh(u)", inside=None, at=(-2.0, 2.2)),
    "halfcauchy": Continuous("-2 * u / (1 + u**2)", outside=(-0.7,)),
    "halflogistic": Continuous("-np.tanh(0.5 * u)", outside=(-0.7,)),
    "gibrat": Continuous("-(1 + np.log(u)) / u", outside=(-0.7,)),
    "wald": Continuous("0.5 / u**2 - 1.5 / u - 0.5", outside=(-0.7,)),
    "arcsine": Continuous("0.5 / (1 - u) - 0.5 / u", at=(0.15, 0.85), outside=(-0.7, 1.7)),
    "semicircular": Continuous("-u / (1 - u**2)", at=(-0.8, 0.8), outside=(-1.7, 1.7)),
    "cosine": Continuous("-np.tan(0.5 * u)", at=(-2.0, 2.2), outside=(-3.7, 3.7)),
    "anglit": Continuous("-2 * np.tan(2 * u)", at=(-0.6, 0.5), outside=(-1.7, 1.7)),
    "erlang": Continuous(
        "(a - 1) / u - 1",
        density={"a": "np.log(u) - special.digamma(a)"},
        rates={"a": "unit * gammainc_da(a, u)"},
        shapes=((2.0, 2.0),),
        outside=(-0.7,),
    ),
    "chi": Continuous(
        "(df - 1) / u - u",
        density={"df": "np.log(u) - 0.5 * (math.log(2) + special.digamma(0.5 * df))"},
        rates={"df": "0.5 * unit * gammainc_da(0.5 * df, 0.5 * u**2)"},
        shapes=((1.4, 5.2),),
        outside=(-0.7,),
    ),
    "nakagami": Continuous(
        "(2 * nu - 1) / u - 2 * nu * u",
        density={"nu": "np.log(nu) + 1 - special.digamma(nu) + 2 * np.log(u) - u**2"},
        rates={"nu": "unit * gammainc_da(nu, nu * u**2) + density * u / (2 * nu)"},
        shapes=((0.7, 3.2),),
        outside=(-0.7,),
    ),
    "gengamma": Continuous(
        "(c * a - 1 - c * u**c) / u",
        density={
            "a": "c * np.log(u) - special.digamma(a)",
            "c": "1 / c + (a - u**c) * np.log(u)",
        },
        rates={"a": "unit * np.sign(c) * gammainc_da(a, u**c)", "c": "density * u * np.log(u) / c"},
        shapes=((0.7, 3.2), (0.8, 1.9)),
        outside=(-0.7,),
    ),
    "loggamma": Continuous(
        "c - np.exp(u)",
        density={"c": "u - special.digamma(c)"},
        rates={"c": "unit * gammainc_da(c, np.exp(u))"},
        inside=None,
        at=(-1.5, 1.2),
        shapes=((0.7, 3.2),),
    ),
    "dgamma": Continuous(
        "(a - 1) / u - np.sign(u)",
        density={"a": "np.log(np.abs(u)) - special.digamma(a)"},
        rates={"a": "0.5 * unit * np.sign(u) * gammainc_da(a, np.abs(u))"},
        inside=None,
        at=(0.3, 2.2),
        shapes=((0.7, 3.2),),
    ),
    "gennorm": Continuous(
        "-beta * np.abs(u) ** (beta - 1) * np.sign(u)",
        density={
            "beta": "1 / beta + special.digamma(1 / beta) / beta**2 - special.xlogy(np.abs(u) ** beta, np.abs(u))"
        },
        rates={
            "beta": "density * special.xlogy(u, np.abs(u)) / beta"
            " - 0.5 * unit * np.sign(u) * gammainc_da(1 / beta, np.abs(u) ** beta) / beta**2"
        },
        inside=None,
        at=(0.3, 2.2),
        shapes=((1.2, 3.2),),
    ),
    "halfgennorm": Continuous(
        "-beta * u ** (beta - 1)",
        density={"beta": "1 / beta + special.digamma(1 / beta) / beta**2 - u**beta * np.log(u)"},
        rates={"beta": "density * u * np.log(u) / beta - unit * gammainc_da(1 / beta, u**beta) / beta**2"},
        shapes=((0.7, 3.2),),
        outside=(-0.7,),
    ),
    "betaprime": Continuous(
        "(a - 1) / u - (a + b) / (1 + u)",
        density={
            "a": "np.log(u / (1 + u)) - special.digamma(a) + special.digamma(a + b)",
            "b": "-np.log1p(u) - special.digamma(b) + special.digamma(a + b)",
        },
        rates={"a": "unit * betainc_da(a, b, u / (1 + u))", "b": "unit * betainc_db(a, b, u / (1 + u))"},
        shapes=((0.7, 3.2), (0.8, 2.9)),
        outside=(-0.7,),
    ),
    "invgauss": Continuous(
        "0.5 / u**2 - 1.5 / u - 0.5 / mu**2",
        density={"mu": "(u / mu - 1) / mu**2"},
        rates={"mu": "-2 * unit * np.exp(2 / mu + special.log_ndtr(-(u / mu + 1) / np.sqrt(u))) / mu**2"},
        shapes=((0.6, 1.9),),
        outside=(-0.7,),
    ),
    "fatiguelife": Continuous(
        "1 / (u + 1) - 1.5 / u - (1 - 1 / u**2) / (2 * c**2)",
        density={"c": "(u - 1) ** 2 / (u * c**3) - 1 / c"},
        rates={"c": "-2 * density * u * (u - 1) / ((u + 1) * c)"},
        shapes=((0.6, 1.9),),
        outside=(-0.7,),
    ),
    "genpareto": Continuous(
        "-(1 + c) / (1 + c * u)",
        density={"c": "-(u**2) * log_excess(c * u) - u / (1 + c * u)"},
        rates={"c": "above * u**2 * log_excess(c * u)"},
        at=(0.3, 1.4),
        shapes=((-0.5, 0.7),),
        outside=(-0.7,),
    ),
    "lomax": Continuous(
        "-(c + 1) / (1 + u)",
        density={"c": "1 / c - np.log1p(u)"},
        rates={"c": "above * np.log1p(u)"},
        shapes=((0.7, 2.4),),
        outside=(-0.7,),
    ),
    "gompertz": Continuous(
        "1 - c * np.exp(u)",
        density={"c": "1 / c - np.expm1(u)"},
        rates={"c": "above * np.expm1(u)"},
        at=(0.2, 1.3),
        shapes=((0.5, 1.4),),
        outside=(-0.7,),
    ),
    "fisk": Continuous(
        "(2 * c / (1 + u**c) - c - 1) / u",
        density={"c": "1 / c + (2 / (1 + u**c) - 1) * np.log(u)"},
        rates={"c": "density * u * np.log(u) / c"},
        shapes=((0.7, 2.4),),
        outside=(-0.7,),
    ),
    "burr": Continuous(
        "((d + 1) * c / (1 + u**c) - c - 1) / u",
        density={
            "c": "1 / c + ((d + 1) / (1 + u**c) - 1) * np.log(u)",
            "d": "1 / d - np.log1p(u**-c)",
        },
        rates={"c": "density * u * np.log(u) / c", "d": "-below * np.log1p(u**-c)"},
        shapes=((0.7, 2.4), (0.8, 1.9)),
        outside=(-0.7,),
    ),
    "burr12": Continuous(
        "(c - 1 - (d + 1) * c / (1 + u**-c)) / u",
        density={
            "c": "1 / c + (1 - (d + 1) / (1 + u**-c)) * np.log(u)",
            "d": "1 / d - np.log1p(u**c)",
        },
        rates={"c": "density * u * np.log(u) / c", "d": "above * np.log1p(u**c)"},
        shapes=((0.7, 2.4), (0.8, 1.9)),
        outside=(-0.7,),
    ),
    "invweibull": Continuous(
        "(c * u**-c - c - 1) / u",
        density={"c": "1 / c + (u**-c - 1) * np.log(u)"},
        rates={"c": "density * u * np.log(u) / c"},
        shapes=((0.7, 2.4),),
        outside=(-0.7,),
    ),
    "weibull_max": Continuous(
        "(c - 1 - c * (-u) ** c) / u",
        density={"c": "1 / c + (1 - (-u) ** c) * np.log(-u)"},
        rates={"c": "density * u * np.log(-u) / c"},
        inside=-0.5,
        at=(-2.2, -0.3),
        shapes=((0.7, 2.4),),
        outside=(0.7,),
    ),
    "dweibull": Continuous(
        "(c - 1 - c * np.abs(u) ** c) / u",
        density={"c": "1 / c + (1 - np.abs(u) ** c) * np.log(np.abs(u))"},
        rates={"c": "density * u * np.log(np.abs(u)) / c"},
        inside=None,
        at=(0.3, 2.2),
        shapes=((0.7, 2.4),),
    ),
    "exponweib": Continuous(
        "(c - 1 + c * u**c * ((a - 1) / np.expm1(u**c) - 1)) / u",
        density={
            "a": "1 / a + np.log(-np.expm1(-(u**c)))",
            "c": "1 / c + (1 + u**c * ((a - 1) / np.expm1(u**c) - 1)) * np.log(u)",
        },
        rates={"a": "below * np.log(-np.expm1(-(u**c)))", "c": "density * u * np.log(u) / c"},
        shapes=((0.7, 2.4), (0.8, 1.9)),
        outside=(-0.7,),
    ),
    "powerlaw": Continuous(
        "(a - 1) / u",
        density={"a": "1 / a + np.log(u)"},
        rates={"a": "density * u * np.log(u) / a"},
        at=(0.15, 0.85),
        shapes=((0.7, 2.4),),
        outside=(-0.7, 1.7),
    ),
    "loglaplace": Continuous(
        "(np.where(u < 1, c, -c) - 1) / u",
        density={"c": "1 / c - np.abs(np.log(u))"},
        rates={"c": "density * u * np.log(u) / c"},
        shapes=((0.7, 2.4),),
        outside=(-0.7,),
    ),
    "laplace_asymmetric": Continuous(
        "np.where(u < 0, 1 / kappa, -kappa)",
        density={"kappa": "(1 - kappa**2) / (kappa * (1 + kappa**2)) - np.where(u < 0, u / kappa**2, u)"},
        rates={
            "kappa": "np.where(u < 0, below * (2 / (kappa * (1 + kappa**2)) - u / kappa**2),"
            " above * (2 * kappa / (1 + kappa**2) + u))"
        },
        inside=None,
        at=(0.3, 2.2),
        shapes=((0.7, 1.6),),
    ),
    "exponnorm": Continuous(
        "mills(u - 1 / K) - 1 / K",
        density={"K": "(u - 1 / K + mills(u - 1 / K)) / K**2 - 1 / K"},
        rates={"K": "-density * (u - 1 / K + mills(u - 1 / K)) / K"},
        inside=None,
        at=(-1.5, 2.2),
        shapes=((0.6, 1.9),),
    ),
    "genlogistic": Continuous(
        "(c + 1) * special.expit(-u) - 1",
        density={"c": "1 / c - np.logaddexp(0, -u)"},
        rates={"c": "-below * np.logaddexp(0, -u)"},
        inside=None,
        at=(-1.5, 2.2),
        shapes=((0.7, 2.4),),
    ),
    "powernorm": Continuous(
        "-u - (c - 1) * mills(-u)",
        density={"c": "1 / c + special.log_ndtr(-u)"},
        rates={"c": "-above * special.log_ndtr(-u)"},
        inside=None,
        at=(-1.5, 1.8),
        shapes=((0.7, 2.4),),
    ),
    "foldnorm": Continuous(
        "c * np.tanh(c * u) - u",
        density={"c": "u * np.tanh(c * u) - c"},
        rates={"c": "-density * np.tanh(c * u)"},
        shapes=((0.7, 1.9),),
        outside=(-0.7,),
    ),
    "rice": Continuous(
        "1 / u - u + b * special.i1e(b * u) / special.i0e(b * u)",
        density={"b": "u * special.i1e(b * u) / special.i0e(b * u) - b"},
        rates={"b": "-density * special.i1e(b * u) / special.i0e(b * u)"},
        shapes=((0.7, 1.9),),
        outside=(-0.7,),
    ),
    "johnsonsu": Continuous(
        "-u / (1 + u**2) - (a + b * np.arcsinh(u)) * b / np.sqrt(1 + u**2)",
        density={
            "a": "-(a + b * np.arcsinh(u))",
            "b": "1 / b - (a + b * np.arcsinh(u)) * np.arcsinh(u)",
        },
        rates={
            "a": "density * np.sqrt(1 + u**2) / b",
            "b": "density * np.sqrt(1 + u**2) * np.arcsinh(u) / b",
        },
        inside=None,
        at=(-1.5, 1.8),
        shapes=((-0.4, 0.7), (0.8, 1.9)),
    ),
    "johnsonsb": Continuous(
        "(2 * u - 1 - (a + b * special.logit(u)) * b) / (u * (1 - u))",
        density={
            "a": "-(a + b * special.logit(u))",
            "b": "1 / b - (a + b * special.logit(u)) * special.logit(u)",
        },
        rates={
            "a": "density * u * (1 - u) / b",
            "b": "density * u * (1 - u) * special.logit(u) / b",
        },
        at=(0.15, 0.85),
        shapes=((-0.4, 0.7), (0.8, 1.9)),
        outside=(-0.7, 1.7),
    ),
    "loguniform": Continuous(
        "-1 / u",
        density={"a": "1 / (a * np.log(b / a))", "b": "-1 / (b * np.log(b / a))"},
        rates={"a": "-above / (a * np.log(b / a))", "b": "-below / (b * np.log(b / a))"},
        inside=1.0,
        at=(0.7, 1.8),
        shapes=((0.2, 0.6), (2.0, 3.2)),
        outside=(-0.7, 4.7),
    ),
    "truncexpon": Continuous(
        "-1.0",
        density={"b": "-1 / np.expm1(b)"},
        rates={"b": "-below / np.expm1(b)"},
        at=(0.2, 1.1),
        shapes=((1.3, 2.4),),
        outside=(-0.7, 4.7),
    ),
    "bradford": Continuous(
        "-c / (1 + c * u)",
        density={"c": "1 / c - 1 / ((1 + c) * np.log1p(c)) - u / (1 + c * u)"},
        rates={"c": "(unit * u / (1 + c * u) - below / (1 + c)) / np.log1p(c)"},
        at=(0.15, 0.85),
        shapes=((0.7, 2.4),),
        outside=(-0.7, 1.7),
    ),
}
CONTINUOUS["reciprocal"] = CONTINUOUS["loguniform"]
CONTINUOUS["vonmises_line"] = replace(CONTINUOUS["vonmises"], inside=0.5, outside=(-3.7, 3.7))
