"""What to do instead of differentiating functions of SciPy that have no rule and cannot be followed, by their names."""

from __future__ import annotations

from s2sad.runtime.classes import module_of

_LINEAR = "use np.linalg.solve of the constraints that hold at the solution"
TEST = "write its statistic with np.mean, np.std and np.sum; a p-value is a distribution function of scipy.stats"

REMEDIES: dict[str, str] = {
    "scipy.optimize.linprog": _LINEAR,
    **dict.fromkeys(
        ["scipy.interpolate.Rbf"],
        "use RBFInterpolator",
    ),
    "scipy.interpolate.interp1d": "use np.interp, which has derivatives by the points and the values",
    "scipy.stats.describe": "use np.mean, np.var with ddof=1, np.min and np.max, and skew and kurtosis of scipy.stats",
    "scipy.stats.chisquare": "use np.sum((f_obs - f_exp) ** 2 / f_exp), and scipy.stats.chi2.sf of it",
    "scipy.stats.kendalltau": "ranks have no derivative; use scipy.stats.pearsonr",
    "scipy.optimize.approx_fprime": "use s2sad.grad",
    "scipy.optimize.rosen_der": "use s2sad.grad(scipy.optimize.rosen)",
    **dict.fromkeys([f"scipy.stats.{name}" for name in ("bartlett", "levene", "kstest")], TEST),
    "scipy.spatial.ConvexHull": "find the vertices under stop_gradient(...) and compute with x[vertices]",
    "scipy.spatial.cKDTree": "find the neighbours under stop_gradient(...) and compute the distances with x[indices]",
    "scipy.spatial.KDTree": "find the neighbours under stop_gradient(...) and compute the distances with x[indices]",
}


def remedy_of(function: object) -> str | None:
    """The remedy for a function or class of SciPy, by the name under which it is public."""
    module = module_of(function)
    if not module.startswith("scipy."):
        return None
    return REMEDIES.get(f"{module.partition('._')[0]}.{getattr(function, '__name__', '')}")


#: The parameters of functions of ``scipy.special`` that count something.
_COUNTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("bdtr", "bdtrc"), ("k", "n")),
    **dict.fromkeys(("bdtri", "nbdtr", "nbdtrc", "nbdtri"), ("k", "n")),
    "pdtri": ("k",),
    "perm": ("k",),
    "polygamma": ("n",),
    "expn": ("order",),
    "lpmv": ("m",),
    "sph_harm_y": ("n", "m"),
    **dict.fromkeys(("jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp"), ("n",)),
}


def lacking(name: str, parameter: str) -> tuple[str, str] | None:
    """Why a function of ``scipy.special`` or of a distribution has no derivative by a parameter, and what to do.

    None of other functions.

    Example:
        >>> lacking("scipy.special.polygamma", "n")[0]
        'it counts, and is a whole number'
    """
    module, _, function = name.rpartition(".")
    if module != "scipy.special" and not module.startswith("scipy.stats."):
        return None
    constant = "Wrap it in stop_gradient(...) if it is meant as a constant"
    if parameter in _COUNTS.get(function, ()):
        return "it counts, and is a whole number", f"{constant}."
    why = "there is no closed form of it, and SciPy has no function for it"
    return why, f"{constant}. By it there are differences of values only: (f(v + h, x) - f(v - h, x)) / (2 * h)."
