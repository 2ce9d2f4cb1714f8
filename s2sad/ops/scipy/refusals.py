"""Functions of SciPy that are refused as they stand: what they are wrapped in, or call, is long Python."""

from __future__ import annotations

import importlib
import types

from scipy import stats

from s2sad.ops.models import model_of
from s2sad.ops.scipy import DECLARED
from s2sad.ops.scipy.remedies import TEST, remedy_of
from s2sad.ops.spec import operation, spec_of

_BINNED = "use np.bincount(np.digitize(x, edges), weights=values)"
_NAMED = {
    **dict.fromkeys(("binned_statistic", "binned_statistic_2d", "binned_statistic_dd"), _BINNED),
    **dict.fromkeys(("chi2_contingency", "fisher_exact", "describe", "tukey_hsd", "dunnett", "wilcoxon"), TEST),
    "quantile": "use np.quantile",
    "wasserstein_distance_nd": "use wasserstein_distance of projections, or np.sort of both samples",
    **dict.fromkeys(("yeojohnson_llf", "yeojohnson_normmax"), "use scipy.stats.yeojohnson with a lambda of your own"),
    "boxcox_normmax": "find the exponent under stop_gradient(...), and use scipy.stats.boxcox with it",
}


def _is_wrapped(value: object) -> bool:
    """Whether a function first looks at the axis, and at NaN among what it is given, as all of ``scipy.stats`` do."""
    return isinstance(value, types.FunctionType) and value.__code__.co_name == "axis_nan_policy_wrapper"


for _module in DECLARED["scipy.stats"]:
    # What has a rule is not refused, whichever module is imported first.
    importlib.import_module(f"{__package__}.{_module}")

for _name, _function in list(vars(stats).items()):
    if _name in _NAMED or _is_wrapped(_function):
        if spec_of(_function) is None and model_of(_function) is None:
            operation(_function, remedy=remedy_of(_function) or _NAMED.get(_name, TEST))
