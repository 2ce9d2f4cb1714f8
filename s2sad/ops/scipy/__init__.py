"""What functions of SciPy are, with their derivatives: modules named after those of SciPy.

They are imported by :func:`s2sad.ops.spec_of`, once SciPy's own module is imported by the program, and may import it.
`ROOTS` says by what name the rules, and the texts in which they stand, call modules: ``special.digamma(x)``.
"""

from __future__ import annotations

#: Modules by the names that rules have for them.
ROOTS = {
    "np": "numpy",
    "cmath": "cmath",
    "math": "math",
    "integrate": "scipy.integrate",
    "interpolate": "scipy.interpolate",
    "linalg": "scipy.linalg",
    "ndimage": "scipy.ndimage",
    "signal": "scipy.signal",
    "distance": "scipy.spatial.distance",
    "fft": "scipy.fft",
    "fftpack": "scipy.fftpack",
    "solvers": "scipy.sparse.linalg",
    "special": "scipy.special",
    "stats": "scipy.stats",
}

#: SciPy's modules, and those here that declare their functions.
DECLARED: dict[str, tuple[str, ...]] = {
    "scipy._lib._array_api": ("namespaces", "models.namespaces"),
    "scipy.cluster": ("clusters",),
    "scipy.fft": ("transforms", "cosines"),
    "scipy.fftpack": ("fftpack",),
    "scipy.integrate": ("integrate", "integrals", "odes", "callbacks", "models.integrate", "models.quadrature"),
    "scipy.interpolate": (
        "interpolate",
        "interpolate_models",
        "bsplines",
        "spline_slopes",
        "scattered",
        "smoothing",
        "derived_splines",
        "surfaces",
        "kernels",
        "models.interpolate",
        "models.kernels",
    ),
    "scipy.linalg": (
        "linalg",
        "linalg_factors",
        "linalg_functions",
        "linalg_equations",
        "eigenproblems",
        "models.linalg",
    ),
    "scipy.ndimage": (
        "ndimage",
        "selections",
        "measurements",
        "warps",
        "warps_twice",
        "image_transposes",
        "models.ndimage",
    ),
    "scipy.optimize": ("optimize", "minima", "minima_twice", "fits", "bounded", "callbacks", "models.optimize"),
    "scipy.signal": (
        "signal",
        "convolutions",
        "spectra",
        "short_time",
        "resampling",
        "models.windows",
        "models.filters",
    ),
    "scipy.sparse": (
        "sparse",
        "sparse_methods",
        "sparse_models",
        "sparse_data",
        "sparse_spectra",
        "sparse_least",
        "sparse_exponentials",
        "callbacks",
        "matrix_free",
        "models.operators",
        "models.sparse",
        "models.sparse_systems",
    ),
    "scipy.spatial": ("neighbours",),
    "scipy.spatial.distance": ("distances", "models.divergences", "models.metrics"),
    "scipy.spatial.transform": ("rotations", "models.rotations"),
    "scipy.special": (
        "special",
        "special_incomplete",
        "special_tails",
        "special_bessel",
        "special_orders",
        "special_orthogonal",
        "special_elliptic",
    ),
    "scipy.stats": (
        "stats",
        "stats_multivariate",
        "summaries",
        "trimmed",
        "comparisons",
        "groups",
        "moments",
        "densities",
        "models.circular",
        "models.intervals",
        "models.densities",
        "refusals",
    ),
}
