"""What to do instead of differentiating functions of SciPy that have no rule and cannot be followed, by their names."""

from __future__ import annotations

from s2sad.runtime.classes import module_of

_LINEAR = "use np.linalg.solve of the constraints that hold at the solution"
_POLYNOMIAL = "use np.polyval(np.linalg.solve(np.vander(x), y), p)"
_TEST = "write its statistic with np.mean, np.std and np.sum; a p-value is a distribution function of scipy.stats"

REMEDIES: dict[str, str] = {
    "scipy.optimize.linprog": _LINEAR,
    **dict.fromkeys(
        ["scipy.interpolate.Rbf"],
        "use RBFInterpolator, or solve for the weights of a kernel, w = np.linalg.solve(k(cdist(x, x)), y), and sum k(cdist(p, x)) @ w",
    ),
    **dict.fromkeys(
        [f"scipy.interpolate.{name}" for name in ("BarycentricInterpolator", "KroghInterpolator")],
        _POLYNOMIAL,
    ),
    "scipy.stats.gaussian_kde": (
        "sum the kernels: np.mean(np.exp(-0.5 * ((p[:, np.newaxis] - x) / h) ** 2), axis=1) / (h * np.sqrt(2 * np.pi)) "
        "with h = np.std(x, ddof=1) * len(x) ** -0.2"
    ),
    "scipy.interpolate.interp1d": "use np.interp, which has derivatives by the points and the values",
    **dict.fromkeys(
        [f"scipy.interpolate.{name}" for name in ("barycentric_interpolate", "krogh_interpolate")], _POLYNOMIAL
    ),
    "scipy.stats.describe": "use np.mean, np.var with ddof=1, np.min and np.max, and skew and kurtosis of scipy.stats",
    "scipy.stats.chisquare": "use np.sum((f_obs - f_exp) ** 2 / f_exp), and scipy.stats.chi2.sf of it",
    "scipy.stats.kendalltau": "ranks have no derivative; use scipy.stats.pearsonr",
    "scipy.stats.circmean": "use np.angle(np.mean(np.exp(1j * x))) % (2 * np.pi)",
    "scipy.stats.boxcox_llf": (
        "use (lmb - 1) * np.sum(np.log(x)) - len(x) / 2 * np.log(np.var(scipy.stats.boxcox(x, lmb)))"
    ),
    "scipy.signal.windows.gaussian": "use np.exp(-0.5 * (n / std) ** 2) with n = np.arange(M) - (M - 1) / 2",
    "scipy.optimize.approx_fprime": "use s2sad.grad",
    "scipy.optimize.rosen_der": "use s2sad.grad(scipy.optimize.rosen)",
    **dict.fromkeys([f"scipy.stats.{name}" for name in ("bartlett", "levene", "kstest")], _TEST),
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
