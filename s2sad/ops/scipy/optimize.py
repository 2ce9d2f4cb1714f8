"""Solvers of ``scipy.optimize`` for roots: refused where something active goes in, with what to do instead."""

from __future__ import annotations

from scipy import optimize

from s2sad.ops.spec import operation

_NEWTON = (
    "find the root for constant parameters, x = float(brentq(f, a, b, args=(stop_gradient(p),))), and take one step of "
    "Newton's method, x - f(x, p) / df_dx(x, p): its derivative is that of the root"
)

for _name in ("brentq", "brenth", "bisect", "ridder", "toms748", "newton", "root_scalar", "fsolve", "root"):
    _solver = getattr(optimize, _name)
    operation(_solver, signature=lambda f: None, calls=("f",), remedy=_NEWTON)
