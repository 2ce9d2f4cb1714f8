"""What functions of SciPy are, with their derivatives: one module for each of SciPy's.

A module here is imported by :func:`s2sad.ops.spec_of`, once SciPy's own is imported by the program.  It may import
SciPy; nothing else may import it.  `ROOTS` says by what name the rules, and the texts in which they stand, call SciPy's
modules: ``special.digamma(x)``.
"""

from __future__ import annotations

#: SciPy's modules by the names that rules have for them.  Those of a module here that is not written yet are harmless.
ROOTS = {
    "special": "scipy.special",
    "stats": "scipy.stats",
}

#: Module of SciPy, and that which declares its functions here.
DECLARED = {
    "scipy.special": "s2sad.ops.scipy.special",
}
