"""What is known of the rarer continuous distributions of ``scipy.stats``, as in `s2sad.ops.scipy.distributions`.

By orders of Bessel functions, and by degrees of freedom of noncentral distributions, there is no closed form: those
parameters are refused.
"""

from __future__ import annotations

from s2sad.ops.scipy.distributions import Continuous

#: Of the two halves of ``foldcauchy``.
_FOLDED = "(1 / (1 + (u - c) ** 2) + 1 / (1 + (u + c) ** 2))"
#: The probabilities under ``truncpareto`` and what is cut off, by the exponent.
_CUT = "(c**b - 1)"
#: The constants of ``crystalball``, and the logarithm of its tail.
_TAIL = "m / (beta * (m - 1)) * np.exp(-0.5 * beta**2)"
_WHOLE = f"({_TAIL} + math.sqrt(2 * math.pi) * special.ndtr(beta))"
_FAR = "(m / beta - beta - np.minimum(u, -beta))"
#: The derivative of the logarithm of what ``argus`` is divided by.
_ARGUS = "(2 * chi**2 * np.exp(-0.5 * chi**2) / (math.sqrt(2 * math.pi) * special.gammainc(1.5, 0.5 * chi**2)))"

RARER = {
    "alpha": Continuous(
        "-2 / u - (a - 1 / u) / u**2",
        density={"a": "-(a - 1 / u) - mills(a)"},
        rates={"a": "density * u**2 - below * mills(a)"},
        shapes=((0.7, 2.4),),
        outside=(-0.7,),
    ),
    "exponpow": Continuous(
        "(b - 1 - b * u**b * np.expm1(u**b)) / u",
        density={"b": "1 / b + np.log(u) * (1 - u**b * np.expm1(u**b))"},
        rates={"b": "density * u * np.log(u) / b"},
        at=(0.2, 1.3),
        shapes=((0.7, 2.4),),
        outside=(-0.7,),
    ),
    "foldcauchy": Continuous(
        f"-2 * ((u - c) / (1 + (u - c) ** 2) ** 2 + (u + c) / (1 + (u + c) ** 2) ** 2) / {_FOLDED}",
        density={"c": f"2 * ((u - c) / (1 + (u - c) ** 2) ** 2 - (u + c) / (1 + (u + c) ** 2) ** 2) / {_FOLDED}"},
        rates={"c": "unit * (1 / (1 + (u + c) ** 2) - 1 / (1 + (u - c) ** 2)) / math.pi"},
        shapes=((0.7, 1.9),),
        outside=(-0.7,),
    ),
    "mielke": Continuous(
        "(k - 1 - (s + k) / (1 + u**-s)) / u",
        density={
            "k": "1 / k + np.log(u) - np.log1p(u**s) / s",
            "s": "k * np.log1p(u**s) / s**2 - (1 + k / s) * np.log(u) / (1 + u**-s)",
        },
        rates={
            "k": "below * (np.log(u) - np.log1p(u**s) / s)",
            "s": "below * k / s * (np.log1p(u**s) / s - np.log(u) / (1 + u**-s))",
        },
        shapes=((0.7, 2.4), (0.8, 1.9)),
        outside=(-0.7,),
    ),
    "powerlognorm": Continuous(
        "-(1 + np.log(u) / s**2 + (c - 1) * mills(-np.log(u) / s) / s) / u",
        density={
            "c": "1 / c + special.log_ndtr(-np.log(u) / s)",
            "s": "(-1 + (np.log(u) / s) ** 2 + (c - 1) * mills(-np.log(u) / s) * np.log(u) / s) / s",
        },
        rates={"c": "-above * special.log_ndtr(-np.log(u) / s)", "s": "-density * u * np.log(u) / s"},
        shapes=((0.7, 2.4), (0.5, 1.4)),
        outside=(-0.7,),
    ),
    "skewcauchy": Continuous(
        "-2 * u / ((1 + a * np.sign(u)) ** 2 + u**2)",
        density={"a": "2 * u**2 * np.sign(u) / ((1 + a * np.sign(u)) * ((1 + a * np.sign(u)) ** 2 + u**2))"},
        rates={
            "a": "unit * (np.sign(u) * (np.arctan(u / (1 + a * np.sign(u)))"
            " - u * (1 + a * np.sign(u)) / ((1 + a * np.sign(u)) ** 2 + u**2)) / math.pi - 0.5)"
        },
        inside=None,
        at=(0.3, 2.2),
        shapes=((-0.6, 0.7),),
    ),
    "trapezoid": Continuous(
        "np.where(u < c, 1 / u, np.where(u > d, -1 / (1 - u), 0))",
        density={
            "c": "1 / (d - c + 1) - np.where(u < c, 1 / c, 0)",
            "d": "np.where(u > d, 1 / (1 - d), 0) - 1 / (d - c + 1)",
        },
        rates={
            "c": "np.where(u < c, below * (1 / (d - c + 1) - 1 / c), -above / (d - c + 1))",
            "d": "np.where(u > d, above * (1 / (d - c + 1) - 1 / (1 - d)), -below / (d - c + 1))",
        },
        at=(0.35, 0.6),
        shapes=((0.2, 0.3), (0.65, 0.9)),
        outside=(-0.7, 1.7),
    ),
    "truncpareto": Continuous(
        "-(b + 1) / u",
        density={"b": f"1 / b - np.log(u) - np.log(c) / {_CUT}", "c": f"-b / (c * {_CUT})"},
        rates={
            "b": f"unit * u**-b * np.log(u) / (1 - c**-b) - below * np.log(c) / {_CUT}",
            "c": f"-below * b / (c * {_CUT})",
        },
        inside=1.1,
        at=(1.1, 2.4),
        shapes=((0.7, 2.4), (2.8, 3.4)),
        outside=(0.6, 5.7),
    ),
    "wrapcauchy": Continuous(
        "-2 * c * np.sin(u) / (1 + c**2 - 2 * c * np.cos(u))",
        density={"c": "-2 * c / (1 - c**2) - 2 * (c - np.cos(u)) / (1 + c**2 - 2 * c * np.cos(u))"},
        rates={
            "c": "unit * np.sin(u)"
            " / (math.pi * ((1 - c) ** 2 * np.cos(0.5 * u) ** 2 + (1 + c) ** 2 * np.sin(0.5 * u) ** 2))"
        },
        at=(0.3, 2.8),
        shapes=((0.2, 0.7),),
        outside=(-0.7, 7.7),
    ),
    "crystalball": Continuous(
        f"np.where(u > -beta, -u, m / {_FAR})",
        density={
            "beta": f"({_TAIL} * (1 / beta + beta) - np.exp(-0.5 * beta**2)) / {_WHOLE}"
            f" - np.where(u > -beta, 0, m / beta + beta - m * (m / beta**2 + 1) / {_FAR})",
            "m": f"{_TAIL} * (1 / (m - 1) - 1 / m) / {_WHOLE}"
            f" + np.where(u > -beta, 0, np.log(m / beta) + 1 - np.log({_FAR}) - m / beta / {_FAR})",
        },
        inside=None,
        at=(-4.0, 1.4),
        shapes=((0.8, 1.9), (2.2, 3.4)),
    ),
    "argus": Continuous(
        "1 / u - u / (1 - u**2) + chi**2 * u",
        density={"chi": f"3 / chi - {_ARGUS} - chi * (1 - u**2)"},
        rates={
            "chi": f"above * {_ARGUS} - 2 * unit * chi**2 * (1 - u**2) ** 1.5 * np.exp(-0.5 * chi**2 * (1 - u**2))"
            " / (math.sqrt(2 * math.pi) * special.gammainc(1.5, 0.5 * chi**2))"
        },
        at=(0.15, 0.85),
        shapes=((0.7, 2.4),),
        outside=(-0.7, 1.7),
    ),
    "kappa3": Continuous(
        "-(a + 1) * u ** (a - 1) / (a + u**a)",
        density={"a": "1 / a + np.log(a + u**a) / a**2 - (1 + 1 / a) * (1 + u**a * np.log(u)) / (a + u**a)"},
        rates={"a": "below * (np.log(a + u**a) / a - (1 + u**a * np.log(u)) / (a + u**a)) / a"},
        shapes=((0.7, 2.4),),
        outside=(-0.7,),
    ),
    "rdist": Continuous(
        "(2 - c) * u / (1 - u**2)",
        density={"c": "0.5 * (np.log1p(-(u**2)) - special.digamma(0.5 * c) + special.digamma(0.5 * c + 0.5))"},
        rates={
            "c": "0.5 * unit * (betainc_da(0.5 * c, 0.5 * c, 0.5 + 0.5 * u)"
            " + betainc_db(0.5 * c, 0.5 * c, 0.5 + 0.5 * u))"
        },
        inside=0.0,
        at=(-0.8, 0.8),
        shapes=((1.4, 3.2),),
        outside=(-1.7, 1.7),
    ),
    "recipinvgauss": Continuous(
        "0.5 / (mu * u) ** 2 - 0.5 / u - 0.5",
        density={"mu": "1 / (mu**3 * u) - 1 / mu**2"},
        rates={"mu": "2 * unit * np.exp(2 / mu + special.log_ndtr(-(1 / mu + u) / np.sqrt(u))) / mu**2"},
        shapes=((0.6, 1.9),),
        outside=(-0.7,),
    ),
    "rel_breitwigner": Continuous(
        "-4 * u * (u**2 - rho**2) / ((u**2 - rho**2) ** 2 + rho**2)",
        density={
            "rho": "2 / rho + rho / (rho**2 + 1) - (2 * rho + (2 * rho**2 + 1) / np.sqrt(rho**2 + 1))"
            " / (2 * (rho**2 + rho * np.sqrt(rho**2 + 1)))"
            " - 2 * rho * (1 - 2 * (u**2 - rho**2)) / ((u**2 - rho**2) ** 2 + rho**2)"
        },
        shapes=((0.7, 2.4),),
        outside=(-0.7,),
    ),
    "jf_skew_t": Continuous(
        "((a + 0.5) / (np.sqrt(a + b + u**2) + u) - (b + 0.5) / (np.sqrt(a + b + u**2) - u))"
        " * (a + b) / (a + b + u**2)",
        density={
            "a": "np.log1p(u / np.sqrt(a + b + u**2)) - math.log(2) - special.digamma(a) + special.digamma(a + b)"
            " - 0.5 / (a + b) - 0.5 * u / (a + b + u**2)"
            " * ((a + 0.5) / (np.sqrt(a + b + u**2) + u) - (b + 0.5) / (np.sqrt(a + b + u**2) - u))",
            "b": "np.log1p(-u / np.sqrt(a + b + u**2)) - math.log(2) - special.digamma(b) + special.digamma(a + b)"
            " - 0.5 / (a + b) - 0.5 * u / (a + b + u**2)"
            " * ((a + 0.5) / (np.sqrt(a + b + u**2) + u) - (b + 0.5) / (np.sqrt(a + b + u**2) - u))",
        },
        rates={
            "a": "unit * betainc_da(a, b, 0.5 + 0.5 * u / np.sqrt(a + b + u**2)) - 0.5 * density * u / (a + b)",
            "b": "unit * betainc_db(a, b, 0.5 + 0.5 * u / np.sqrt(a + b + u**2)) - 0.5 * density * u / (a + b)",
        },
        inside=None,
        at=(-1.5, 1.8),
        shapes=((1.4, 3.2), (0.8, 2.9)),
    ),
    "pearson3": Continuous(
        "-(0.5 * skew + u) / (1 + 0.5 * skew * u)",
        density={"skew": "pearson3_dskew(u, skew)"},
        inside=0.0,
        at=(-1.2, 1.8),
        shapes=((0.3, 0.9),),
        outside=(-9.7,),
    ),
    "norminvgauss": Continuous(
        "b + a * u / np.sqrt(1 + u**2) * bessel_k_slope(1, a * np.sqrt(1 + u**2)) - u / (1 + u**2)",
        density={
            "a": "1 / a + np.sqrt(1 + u**2) * bessel_k_slope(1, a * np.sqrt(1 + u**2)) + a / np.sqrt(a**2 - b**2)",
            "b": "u - b / np.sqrt(a**2 - b**2)",
        },
        inside=None,
        at=(-1.5, 1.8),
        shapes=((1.4, 2.4), (-0.6, 0.7)),
    ),
    "geninvgauss": Continuous(
        "(p - 1) / u - 0.5 * b * (1 - 1 / u**2)",
        density={"b": "-0.5 * (u + 1 / u) - bessel_k_slope(p, b)"},
        shapes=((0.7, 2.4), (0.8, 1.9)),
        outside=(-0.7,),
    ),
    "genhyperbolic": Continuous(
        "b + a * u / np.sqrt(1 + u**2) * bessel_k_slope(p - 0.5, a * np.sqrt(1 + u**2)) + (p - 0.5) * u / (1 + u**2)",
        density={
            "a": "a / (a**2 - b**2) * (p - np.sqrt(a**2 - b**2) * bessel_k_slope(p, np.sqrt(a**2 - b**2)))"
            " - (p - 0.5) / a + np.sqrt(1 + u**2) * bessel_k_slope(p - 0.5, a * np.sqrt(1 + u**2))",
            "b": "u - b / (a**2 - b**2) * (p - np.sqrt(a**2 - b**2) * bessel_k_slope(p, np.sqrt(a**2 - b**2)))",
        },
        inside=None,
        at=(-1.5, 1.8),
        shapes=((0.7, 1.9), (1.4, 2.4), (-0.6, 0.7)),
    ),
    "ncx2": Continuous(
        "0.5 * nc * bessel_quotient(0.5 * df - 1, np.sqrt(nc * u)) - 0.5 + (0.5 * df - 1) / u",
        density={"nc": "0.5 * u * bessel_quotient(0.5 * df - 1, np.sqrt(nc * u)) - 0.5"},
        rates={"nc": "-density * u * bessel_quotient(0.5 * df - 1, np.sqrt(nc * u))"},
        at=(0.6, 6.5),
        shapes=((1.4, 5.2), (0.7, 2.4)),
        outside=(-0.7,),
    ),
    "nct": Continuous(
        "(nc * df * nct_ratio(u, df, nc) / np.sqrt(u**2 + df) - (df + 1) * u) / (u**2 + df)",
        density={"nc": "u * nct_ratio(u, df, nc) / np.sqrt(u**2 + df) - nc"},
        rates={"nc": "density * nct_rate(u, df, nc)"},
        inside=None,
        at=(-1.2, 2.2),
        shapes=((1.4, 5.2), (-0.6, 1.4)),
    ),
    "ncf": Continuous(
        "(0.5 * dfn - 1) / u - 0.5 * (dfn + dfd) * dfn / (dfd + dfn * u)"
        " + 0.5 * nc * dfn * dfd / (dfd + dfn * u) ** 2 * ncf_ratio(u, dfn, dfd, nc)",
        density={"nc": "0.5 * dfn * u / (dfd + dfn * u) * ncf_ratio(u, dfn, dfd, nc) - 0.5"},
        rates={
            "nc": "0.5 * unit * (stats.ncf.cdf(u * dfn / (dfn + 2), dfn + 2, dfd, nc) - stats.ncf.cdf(u, dfn, dfd, nc))"
        },
        shapes=((1.4, 5.2), (2.3, 6.2), (0.7, 2.4)),
        outside=(-0.7,),
    ),
}
