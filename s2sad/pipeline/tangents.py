"""Functions with tangents: what goes over the border between a caller and the tangent of a callee, or a user.

y, y_dot = f_jvp(u, v, u_dot=u_dot)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from s2sad.differentiate.known import TangentCall, Tangential
from s2sad.errors import UnsupportedError, Violation
from s2sad.ir.nodes import Assign, Build, Call, Const, Expr, Function, Op, Param, Var
from s2sad.ir.traverse import base, names_in
from s2sad.pipeline.analysed import Analysed
from s2sad.pipeline.compiled import tangent_names
from s2sad.pipeline.pairs import display
from s2sad.runtime.tangents import as_tangent
from s2sad.runtime.zero_tangents import zero_tangent
from s2sad.syntax import globals_read

#: The tangent of a ``call`` returns results, then tangents, one ``alone`` tangents only; that of a ``user`` takes
#: tangents as a user gives them, and returns a value and the tangent of it.
Form = Literal["call", "alone", "user"]
# It raises for what it does not accept, so it is not pure.
_AS_TANGENT = Op("runtime", "as_tangent", as_tangent, pure=False)
_ZERO_TANGENT = Op("runtime", "zero_tangent", zero_tangent)


@dataclass(frozen=True)
class TangentBorder:
    """What goes over the border: ``given`` are the tangents of parameters by name, ``items`` the results."""

    call: TangentCall
    given: Mapping[str, str]
    items: tuple[Expr, ...]


def tangent_border(a: Analysed, wrt: tuple[str, ...], op: Op) -> TangentBorder:
    """The border of the tangent ``op`` of a function with respect to ``wrt``."""
    own = [p for p in a.function.params if p.public in wrt]
    read = globals_read(a.function)
    named = tangent_names([p.public for p in a.function.params], [p.public for p in own], read)
    result = a.function.result
    items = result.items if isinstance(result, Build) else () if result == Const(None) else (result,)
    active = [i for i, item in enumerate(items) if not a.activity.active.isdisjoint(names_in(item))]
    count = len(items) if isinstance(result, Build) or result == Const(None) else None
    params = tuple(zip([p.public for p in own], named, strict=True))
    given = {p.name: f"{dot}.0" for p, dot in zip(own, named, strict=True)}
    return TangentBorder(TangentCall(op, params, count, tuple(active)), given, items)


def assembled_tangent(
    a: Analysed, edge: TangentBorder, made: Tangential, title: tuple[str, ...], has_aux: bool, form: Form
) -> Function:
    """The tangent of a function as one function; with ``has_aux`` the second of two results has no tangent.

    Raises:
        UnsupportedError: if a user's function does not return the value and what it returns beside it as a display.
    """
    result = a.function.result
    dots = dict(zip(edge.call.active, made.dots, strict=True))
    params = [Param(dot, base(dot), keyword_only=True) for dot in edge.given.values()]
    whole = replace(
        a.function,
        name=edge.call.function.name,
        params=(*a.function.params, *params),
        body=made.body,
        result=display((*edge.items, *made.dots)),
        title=title,
    )
    if form == "alone":
        parts = tuple([dots.get(i) or Call(_ZERO_TANGENT, (item,)) for i, item in enumerate(edge.items)])
        whole = replace(whole, result=parts[0] if isinstance(result, Var) else Build("tuple", parts))
    elif form == "user":
        if has_aux and not (isinstance(result, Build) and len(edge.items) == 2):
            what = "the value and aux are not put together where they are returned"
            raise UnsupportedError([Violation(a.lowered.source.place(0), what, "Return value, aux.")])
        whole = _for_user(whole, result, dots, edge.given, has_aux)
    return whole


def _for_user(
    function: Function, result: Expr, dots: Mapping[int, Expr], given: Mapping[str, str], has_aux: bool
) -> Function:
    """The tangent of a function that takes tangents as a user gives them, and returns the value and the tangent of it.

    Args:
        function: The tangent, in terms of the names of the function itself.
        result: The result of that.
        dots: The tangents of the items of the result that have one.
        given: The tangents of the parameters by their names.
        has_aux: The second of two results has no tangent.
    """
    single = not isinstance(result, Build)
    items = result.items if isinstance(result, Build) else (result,)
    tangents = [dots.get(i) or Call(_ZERO_TANGENT, (item,)) for i, item in enumerate(items)]
    if has_aux:
        whole = Build("tuple", (items[0], tangents[0], items[1]))
    else:
        whole = Build("tuple", (result, tangents[0] if single else Build("tuple", tuple(tangents))))
    checks = [Assign(dot, Call(_AS_TANGENT, (Var(f"{base(dot)}.given"), Var(name)))) for name, dot in given.items()]
    names = {dot: f"{base(dot)}.given" for dot in given.values()}
    params = tuple([replace(p, name=names.get(p.name, p.name)) for p in function.params])
    return replace(function, params=params, body=(*checks, *function.body), result=whole)
