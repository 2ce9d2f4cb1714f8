"""The comments above an emitted function."""

from __future__ import annotations

from collections.abc import Mapping

from s2sad.frontend.emitted import EMITTED
from s2sad.frontend.source import Source
from s2sad.frontend.trees import names_of_tested_axes, names_tested
from s2sad.ir.types import Fact
from s2sad.transform.given_functions import known_functions


def title(
    source: Source,
    wrt: tuple[str, ...],
    goal: str,
    facts: Mapping[str, Fact] | None = None,
    whole: Source | None = None,
) -> tuple[str, ...]:
    """The comments above a function: of what it is the derivative, and for which arguments.

    Args:
        source: The function that was differentiated.
        wrt: With respect to which parameters.
        goal: What was made of it.
        facts: The types of the arguments.
        whole: The function with all its branches, of which the arguments may have decided some.
    """
    file = source.file.rpartition("/")[2]
    what = {
        "gradient": "gradient",
        "value_and_gradient": "value and gradient",
        "pair": "forward part",
        "reverse": "reverse part",
        "tangent": "value and tangent",
        "tangent_alone": "tangent",
    }[goal]
    names = ", ".join(wrt)
    place = "" if source.file.startswith(EMITTED) else f" ({file}:{source.node.lineno})"
    first = f"s2sad: {what} of {source.name}{place} with respect to {names}"
    real = [n for n, f in (facts or {}).items() if f.real and f.dims is None and f.kind in ("array", "numeric")]
    assumed = (f"for real {', '.join(real)} in double precision, of any shapes",) if real else ()
    tested = names_tested(whole.node) if whole is not None else frozenset()
    known = [(n, f) for n, f in (facts or {}).items() if n in tested]
    switched = [f"{n}={f.value!r}" for n, f in known if f.value is not None or f.kind == "none"]
    asked = names_of_tested_axes(whole.node) if whole is not None else frozenset()
    switched += [f"{n}.ndim={f.ndim}" for n, f in (facts or {}).items() if n in asked and f.kind == "array" and f.ndim]
    given = [(n, list(known_functions(f))) for n, f in (facts or {}).items()]
    switched += [f"{n} with {', '.join([g.__name__ for g in functions])}" for n, functions in given if functions]
    if switched:
        assumed = (*assumed, f"for {', '.join(switched)}")
    legend = "v_dot is the tangent of v" if goal.startswith("tangent") else "v_bar is the adjoint of v: d(result)/d(v)"
    return (first, *assumed, legend)
